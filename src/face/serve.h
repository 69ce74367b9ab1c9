/*
 * A server of calls on standard input and output, and what differs between those who speak to it.
 */
#ifndef ARBOR_FACE_SERVE_H
#define ARBOR_FACE_SERVE_H

#include "face/face.h"
#include "hub/route.h"
#include "live/rpc.h"

/* A call that a request asks for. */
struct asked_call {
	struct str method, params; /* of the hub; p NULL = none, the request is answered already */
	struct route_told told;
	int code; /* of the error, where it is refused and this is not what its status says; 0 = it is */
};

struct dialect {
	void *ctx;
	int linger_ms; /* for calls under way when there will be no more */
	bool tells;    /* items, progress and notes are told as notices */
	/* What a request means: a call, whose texts are in `mem`, or an answer that is put into *line. */
	enum status (*request)(void *ctx, const struct json *j, const struct rpc_message *m,
			       struct arena *mem, struct asked_call *out, struct buf *line, struct err *err);
	/* The id of the call that a notice cancels, as JSON text; empty = it does not. */
	struct str (*cancelled)(const struct json *j, const struct rpc_message *m);
	/* Append a whole line: the end of a call. */
	void (*result)(struct buf *line, struct str id, struct str json);
	void (*failed)(struct buf *line, struct str id, int code, const struct err *why);
};

/* Until there is no more input, or no reader, or somebody wants us to end. */
enum status serve(struct face *f, const struct dialect *d, unsigned scopes, struct err *err) MUST_USE;

#endif
