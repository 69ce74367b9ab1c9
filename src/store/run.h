/*
 * Runs: each start of an agent, who holds it, and what it was asked.
 *
 * A run is submitted together with its stream, by somebody who may die the next moment; a driver takes it
 * over; it ends with its stream (stream_write()). All the time somebody holds it, and the lease says who, so
 * that anybody can find out whether they are still alive.
 */
#ifndef ARBOR_STORE_RUN_H
#define ARBOR_STORE_RUN_H

#include "store/stream.h"

/* A process that cannot be taken for another: not after its number was used again, nor on another machine. */
struct lease {
	struct str host; /* label of the machine in this store */
	struct str boot; /* of this start of the machine, and of who can see the process */
	int64_t pid;
	int64_t start; /* of the process, in the machine's own time */
	int64_t at;    /* last renewed, ms; set when written */
};

struct run {
	int64_t row;
	struct uuid id;
	int64_t session; /* row */
	struct stream_writer writer;
	struct uuid stream;
	struct str client_id; /* p NULL = none */
	struct str prompt;    /* JSON as submitted */
	bool ephemeral;
	struct lease lease;
	int64_t started_at, ended_at; /* 0 = it goes on */
};

struct run_new {
	int64_t session;	      /* row */
	struct str client_id;	      /* p NULL = none; else it is run at most once for the session */
	struct str prompt;	      /* JSON */
	bool ephemeral;		      /* the session's head does not move */
	const struct uuid *continues; /* the stream it goes on from; NULL = none */
	const struct uuid *root;      /* node of the prompt; NULL = not known */
	struct lease lease;	      /* who holds it until a driver does */
	struct event_new first;	      /* its first event */
};

/*
 * On the disk when it returns. When the client id was submitted before, *out is the run of that time,
 * whatever became of it, and *again is set. STATUS_BUSY when the session has a run that goes on, or another
 * name of the same conversation has: only one does.
 */
enum status run_submit(struct store *s, const struct run_new *what, struct arena *mem, struct run *out,
		       bool *again, struct err *err) MUST_USE;

/* By its stream. Texts are in the arena. */
enum status run_of_stream(struct store *s, const struct uuid *stream, struct arena *mem, struct run *out,
			  struct err *err) MUST_USE;

/* The one of a session (its row) that goes on. */
enum status run_of_session(struct store *s, int64_t session, struct arena *mem, struct run *out, bool *found,
			   struct err *err) MUST_USE;

/* Who may write to the stream of a run (its row) just now. STATUS_NOT_FOUND. */
enum status run_writer(struct store *s, int64_t run, struct stream_writer *out, struct err *err) MUST_USE;

/* Takes it from whoever holds it, if they still do as *run says: the stream's writer is then the taker.
 * STATUS_CONFLICT when somebody else was faster. */
enum status run_take(struct store *s, struct run *run, const struct lease *lease, struct err *err) MUST_USE;

/* Says that the holder is alive. STATUS_CONFLICT when it holds the run no longer. */
enum status run_renew(struct store *s, const struct run *run, struct err *err) MUST_USE;

/* What is known about it once the child runs: JSON; p NULL = as it was. */
enum status run_note(struct store *s, const struct run *run, struct str argv, struct str init,
		     struct err *err) MUST_USE;

/* Which source (its row) has all that the child printed. Wants a write transaction. */
enum status run_note_output(struct store *s, const struct run *run, int64_t source, struct err *err) MUST_USE;

/* Runs that go on. Texts are valid during the call. */
typedef enum status run_fn(void *ctx, const struct run *run, struct err *err);
enum status run_each_open(struct store *s, run_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
