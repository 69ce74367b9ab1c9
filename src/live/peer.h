/*
 * Child hubs: programs of other people, or other Arbors, that are asked by JSON-RPC on their
 * standard streams (live/rpc.h). Each is started when somebody asks it for the first time,
 * and kept running (live/supervisor.h).
 *
 * Any thread may ask, several at once. All reading, writing and starting is done by one
 * thread of our own, which exists from the first question on.
 */
#ifndef ARBOR_LIVE_PEER_H
#define ARBOR_LIVE_PEER_H

#include "base/arena.h"
#include "live/guard.h"

struct peers;

/* The language that is spoken, by number: what a child says in `hub.info`. */
enum { PEER_PROTOCOL = 1 };

struct peer_setup {
	const char *name;
	int64_t timeout_ms; /* silence for so long, while somebody waits, means that it hangs */
	/* Which program, with what; asked by who asks the child, when it is not known yet. */
	enum status (*what)(void *ctx, struct arena *mem, struct guard_start *out, struct err *err);
	void *ctx;
};

/* The list and its names must outlive it. */
struct peers *peers_new(const struct peer_setup *list, size_t count);

/* Stops all that run, politely at first. Nobody may be asking. NULL is fine. */
void peers_free(struct peers *all);

/* Where answers go, in the thread that asks. Anything but
 * STATUS_OK withdraws the question. Nobody may ask the same child from inside of one of these:
 * it may be waiting for this very answer to be taken. */
struct peer_sink {
	enum status (*item)(void *ctx, struct str json, struct err *err);
	enum status (*one)(void *ctx, struct str json, struct err *err); /* a single result; NULL = item */
	enum status (*bytes)(void *ctx, struct str bytes, struct err *err);
	void (*progress)(void *ctx, struct str what, int64_t done, int64_t total); /* may be NULL */
	void (*note)(void *ctx, struct str text);				   /* may be NULL */
	void *ctx;
};

struct peer_question {
	size_t peer; /* its place in the list */
	struct str method, params, route;
	int64_t deadline_ns;	   /* monotonic; 0 = none */
	const atomic_bool *cancel; /* may be NULL */
};

/*
 * Asks and waits. STATUS_UNREACHABLE when the child cannot be started, died, is silent for too long
 * or talks nonsense: the text begins with its name and ends with what it said on
 * standard error. Other errors are its own.
 */
enum status peer_ask(struct peers *all, const struct peer_question *q, const struct peer_sink *sink,
		     struct err *err) MUST_USE;

/* What it said of itself when it was started ("hub.info"), as JSON in `mem`: "{}" when it knows no
 * such method. Starts it. */
enum status peer_info(struct peers *all, size_t peer, int64_t deadline_ns, const atomic_bool *cancel,
		      struct arena *mem, struct str *out, struct err *err) MUST_USE;

/*
 * A round: several are asked, one after the other, what they are, and the first that takes longer than a moment
 * lets all others be started, so that the silence of many lasts as long as that of one. Whoever is quick
 * keeps the others from being started for nothing. For one thread.
 */
struct peer_round;
struct peer_round *peer_round_new(struct peers *all);
void peer_round_free(struct peer_round *r); /* NULL is fine */

/* It will not be asked in this round, and is not started by it. */
void peer_round_skip(struct peer_round *r, size_t peer);

/* As peer_info(). *took_ns is how long this one had: of a failure, what it cost. The same when asked again. */
enum status peer_round_info(struct peer_round *r, size_t peer, int64_t deadline_ns, const atomic_bool *cancel,
			    struct arena *mem, struct str *out, int64_t *took_ns, struct err *err) MUST_USE;

#endif
