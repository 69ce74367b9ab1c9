/*
 * The client that is started: which program, with which words and variables.
 *
 * What is said to a model never stands among the words: these are in the list of processes, for everybody.
 */
#ifndef ARBOR_LIVE_CLIENT_H
#define ARBOR_LIVE_CLIENT_H

#include "live/command.h"
#include "live/guard.h"
#include "live/prompt.h"
#include "store/named.h"

struct client_ask {
	const struct environment *env;
	struct str program; /* a path, or a name to be looked for in PATH; p NULL = wherever it is */
	const struct named *session;
	const char *mcp_file; /* its settings of MCP servers; NULL = none */
	const char *system_file; /* its system prompt; so too */
	struct prompt prompt; /* what holds for this one alone */
	bool ephemeral;	      /* nothing of it is kept by the client */
	bool begins;	      /* it has not begun its conversation yet (live/resume.h) */
};

/* All of it in the arena. STATUS_NOT_FOUND says where it was looked for. */
enum status client_prepare(const struct client_ask *ask, struct arena *mem, struct guard_start *out,
			   struct err *err) MUST_USE;

/* Where it is; `program` as above. */
enum status client_find(const struct environment *env, struct str program, struct arena *mem, const char **out,
			struct err *err) MUST_USE;

/* The words for a person who goes on with a session, the program first; in the arena, ended by NULL. */
const char *const *client_words_for_person(const struct named *session, bool begins, struct arena *mem);

/* ---- What it is told, each a line; *out is appended to ---- */

/* A prompt: `content` is JSON, a string or blocks. Its line in the transcript gets this uuid. */
void client_put_prompt(struct buf *out, struct str content, const struct uuid *uuid);

/* A request of ours: "interrupt", say, with more members as raw JSON, or none (p NULL). */
void client_put_request(struct buf *out, const char *id, const char *subtype, const char *key,
			struct str value);

/* The answer, JSON, to a request of the client's, whose id is raw JSON. */
void client_put_answer(struct buf *out, struct str id, struct str answer);

/* That a request of the client's, whose id is raw JSON, is not answered, and why. */
void client_put_refusal(struct buf *out, struct str id, const char *why);

#endif
