/*
 * Streams: what a run says, as a sequence of events that anybody can read from any place, as often as
 * they like, while it goes on and for ever after.
 *
 * Sequence numbers are dense from 1. One process at a time may write: whoever holds the stream's
 * incarnation, which rises when another takes over. What is written is there as a whole or not at all,
 * events together with the state they lead to.
 */
#ifndef ARBOR_STORE_STREAM_H
#define ARBOR_STORE_STREAM_H

#include "base/arena.h"
#include "store/named.h"

/* docs/DATA.md, States. */
enum stream_state {
	STREAM_RUNNING,
	STREAM_AWAITING, /* the answer to a question about a tool */
	STREAM_COMPLETE,
	STREAM_FAILED,
	STREAM_CANCELLED,
	STREAM_INTERRUPTED, /* whoever wrote it is gone */
	STREAM_STATES
};

extern const char *const stream_state_names[STREAM_STATES + 1]; /* ended by NULL */

/* One that is over never changes again. */
bool stream_is_over(enum stream_state state);
bool stream_may_become(enum stream_state from, enum stream_state to);

struct stream {
	int64_t row;
	struct uuid id;
	int64_t session, run; /* rows */
	struct uuid session_id, run_id;
	struct str session_name;
	enum stream_state state;
	bool has_continues, has_root, has_head;
	struct uuid continues; /* the interrupted stream it goes on from */
	struct uuid root;      /* node of the prompt */
	struct uuid head;      /* the new head, when complete */
	int64_t incarnation, last_seq;
	bool has_output;
	struct uuid output; /* source of what the child printed, where that is archived */
	struct str error;
	int64_t started_at, ended_at, compacted_at; /* 0 = not yet */
};

/* By its id. Texts are in the arena. STATUS_NOT_FOUND. */
enum status stream_get(struct store *s, const struct uuid *id, struct arena *mem, struct stream *out,
		       struct err *err) MUST_USE;

/* By an id, or by the beginning of one that no other has. STATUS_AMBIGUOUS. */
enum status stream_find(struct store *s, struct str text, struct arena *mem, struct stream *out,
			struct err *err) MUST_USE;

/* The newest first; of a session (its row), or of all with 0. Texts are valid during the call. */
typedef enum status stream_fn(void *ctx, const struct stream *stream, bool *go_on, struct err *err);
enum status stream_each(struct store *s, int64_t session, stream_fn *fn, void *ctx, struct err *err) MUST_USE;

/* ---- Writing ------------------------------------------------------------------ */

/* The right to write to a stream. */
struct stream_writer {
	int64_t stream; /* row */
	int64_t incarnation;
};

struct event_new {
	struct str type;
	bool has_node;
	struct uuid node; /* what it is about; may not exist yet */
	struct str data;  /* a JSON object */
	int64_t at;
};

/* How a stream ends, and the run with it. */
struct stream_end {
	bool has_head;
	struct uuid head;
	struct str error; /* p NULL = none */
	bool has_code;
	int code, signal;		  /* of the child; signal 0 = by none */
	struct str usage;		  /* JSON as reported; p NULL = none */
	int64_t cost_micro;		  /* reported; negative = unknown */
	const struct named_head *session; /* where its session goes on from now on; NULL = as before */
};

struct stream_change {
	const struct event_new *events;
	size_t count;
	enum stream_state state;      /* afterwards; mostly as it was */
	const struct stream_end *end; /* when that is the end */
	bool synced;		      /* on the disk before this returns */
};

/*
 * One transaction. STATUS_CONFLICT when the writer is one no longer: the stream is over, or somebody has
 * taken it over; then nothing was written, and never will be.
 */
enum status stream_write(struct store *s, const struct stream_writer *w, const struct stream_change *what,
			 struct err *err) MUST_USE;

/* Takes the writing from whoever has it, if that still is the one who is known here. Part of an open
 * transaction, or one of its own. STATUS_CONFLICT. */
enum status stream_take(struct store *s, struct stream_writer *w, struct err *err) MUST_USE;

/* A new one, for store/run.c. Wants a write transaction. */
struct stream_new {
	int64_t session, run;
	const struct uuid *continues; /* NULL = none */
	const struct uuid *root;      /* NULL = not known */
};
enum status stream_insert(struct store *s, const struct stream_new *what, struct uuid *id,
			  struct stream_writer *w, struct err *err) MUST_USE;

#endif
