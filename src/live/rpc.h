/*
 * Messages of JSON-RPC 2.0, one a line, as Arbor speaks them on a pipe with a hub at either
 * end. docs/EXTENDING.md describes them for people who write such a hub.
 *
 *     -> {"jsonrpc":"2.0","id":1,"method":"memory.search","params":{...}}
 *     <- {"jsonrpc":"2.0","method":"$/item","params":{"id":1,"item":{...}}}    any number
 *     <- {"jsonrpc":"2.0","id":1,"result":2}                                   how many came
 *
 * A method with a single result has it as `result`, which is then an object. Bytes come as
 * `$/bytes`. A request may have a member `route`: who asks, for how long, on which way
 * (hub/route.h); only a hub that has children of its own is sent one.
 */
#ifndef ARBOR_LIVE_RPC_H
#define ARBOR_LIVE_RPC_H

#include "base/json.h"

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTICE, /* a request without id: nobody waits for an answer */
	RPC_RESULT,
	RPC_ERROR,
};

/* Names of notices. */
#define RPC_ITEM     "$/item"
#define RPC_BYTES    "$/bytes"
#define RPC_PROGRESS "$/progress"
#define RPC_NOTE     "$/note"
#define RPC_CANCEL   "$/cancel"

struct rpc_message {
	enum rpc_kind kind;
	struct str id;	   /* its JSON text: a whole number or a string; empty = none */
	struct str method; /* of a request or notice */
	/* Nodes of the tape it was read into; JSON_NONE = left out. */
	uint32_t params, route, result, error;
};

/*
 * One line. STATUS_FORMAT when it is not JSON, STATUS_USAGE when it is no message; then the id
 * is set all the same, if it has a good one. Texts are in the line or in `mem`.
 */
enum status rpc_read(struct json *j, struct str line, struct arena *mem, struct rpc_message *out,
		     struct err *err) MUST_USE;

/* The id that the parameters of a notice name, as JSON text; empty = none. */
struct str rpc_subject(const struct json *j, const struct rpc_message *m);

/* What an RPC_ERROR says: status and text. */
void rpc_error(const struct json *j, const struct rpc_message *m, struct err *out);

/* The code of a status, as JSON-RPC has it. */
enum {
	RPC_NOT_JSON = -32700,
	RPC_NO_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
};
int rpc_code(enum status status);

/* ---- Writing: each appends a whole line --------------------------------------- */

/* `params` and `route` are JSON; an empty route is left out. */
void rpc_put_request(struct buf *out, struct str id, struct str method, struct str params, struct str route);

/* `result` is JSON. */
void rpc_put_result(struct buf *out, struct str id, struct str result);
void rpc_put_error(struct buf *out, struct str id, int code, const struct err *why);

void rpc_put_item(struct buf *out, struct str id, struct str item);
void rpc_put_bytes(struct buf *out, struct str id, struct str bytes);
void rpc_put_progress(struct buf *out, struct str id, struct str what, int64_t done, int64_t total);
void rpc_put_note(struct buf *out, struct str id, struct str text);
void rpc_put_cancel(struct buf *out, struct str id);

#endif
