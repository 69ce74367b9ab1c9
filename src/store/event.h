/*
 * Events of streams, read: pages of them strictly behind a place, and single ones by their ids.
 */
#ifndef ARBOR_STORE_EVENT_H
#define ARBOR_STORE_EVENT_H

#include "store/stream.h"

/*
 * A place in a stream: behind an event that was read. As text "2.417" is the 417th event, written by
 * incarnation 2; "417" is the same whoever wrote it, and "0" is the beginning.
 *
 * The power may fail behind somebody who has read, and with it go the last events, which are not waited for
 * to be on the disk. Another incarnation goes on with the same numbers. Whoever read the lost ones is told by
 * the incarnation that theirs is no place any more.
 */
struct stream_place {
	int64_t incarnation; /* 0 = any */
	int64_t seq;	     /* 0 = the beginning */
};

enum { STREAM_PLACE_TEXT = 48 };
void stream_place_print(const struct stream_place *p, char out[STREAM_PLACE_TEXT]);
bool stream_place_parse(struct str text, struct stream_place *out);

struct event {
	int64_t seq, seq_last; /* the same, unless deltas were put together */
	int64_t incarnation;
	struct str type;
	bool has_node;
	struct uuid node;
	struct str data; /* JSON */
	int64_t at;
};

/* An event's own id is made of its stream's and its number. */
struct uuid event_id(const struct uuid *stream, int64_t seq);

struct event_page {
	struct event *events; /* in the arena, with their texts */
	size_t count;
	struct stream_place next; /* behind the last of them */
	bool reset;		  /* the place is none of this stream's: start over */
	bool more;		  /* there are others behind them already */
};

/* At most `limit` events and, but for the first, `bytes` of data. */
struct event_ask {
	struct stream_place after;
	int64_t limit;
	size_t bytes;
};

/* Of a stream, which is brought up to date, in one snapshot: when it is over and there are no more, there
 * never will be. A place inside of deltas that were put together gives all of these. */
enum status event_page(struct store *s, struct stream *stream, const struct event_ask *ask, struct arena *mem,
		       struct event_page *out, struct err *err) MUST_USE;

/* Whether somebody could have read up to there. */
enum status event_is_place(struct store *s, const struct stream *stream, const struct stream_place *p,
			   bool *out, struct err *err) MUST_USE;

/* The event with this id and its stream; of deltas that were put together any of their ids. STATUS_NOT_FOUND.
 */
enum status event_get(struct store *s, const struct uuid *id, struct arena *mem, struct stream *stream,
		      struct event *out, struct err *err) MUST_USE;

/* ---- Compaction ----------------------------------------------------------------- */

/* Puts deltas together. Only who wrote them knows how. */
struct event_merge {
	/* Whether it is a delta at all, with which something may begin. */
	bool (*begin)(void *ctx, const struct event *first);
	bool (*add)(void *ctx, const struct event *next); /* false = it goes on no longer */
	struct str (*end)(void *ctx);			  /* the data of all of them, valid until begin() */
	void *ctx;
};

/* Of a stream that is over, a transaction for each block; killed in between, the rest is done the next time.
 * `*gone` rows fewer. */
enum status event_compact(struct store *s, const struct stream *stream, const struct event_merge *how,
			  int64_t *gone, struct err *err) MUST_USE;

/* A stream that ended before that moment and is whole; *found = false when there is none. */
enum status stream_uncompacted(struct store *s, int64_t before, struct arena *mem, struct stream *out,
			       bool *found, struct err *err) MUST_USE;
enum status stream_uncompacted_count(struct store *s, int64_t before, int64_t *out, struct err *err) MUST_USE;

#endif
