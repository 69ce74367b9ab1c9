/*
 * Events on their way into a stream: gathered for a moment, written together.
 */
#ifndef ARBOR_LIVE_FEED_H
#define ARBOR_LIVE_FEED_H

#include "claude/chat.h"
#include "store/stream.h"

/* How long an event may wait for others. With the time to write them it is seen within 50 ms. */
enum { FEED_WAIT_MS = 20 };

struct feed;

/* The stream is the writer's; its state is that of the last feed_write(), running at first. */
struct feed *feed_new(struct store *s, const struct stream_writer *w);
void feed_free(struct feed *f); /* what is not written is gone; NULL is fine */

/* Takes a copy. `uuid` and `part` say which node it is about, as in chat events; p NULL = none. */
void feed_add(struct feed *f, enum chat_type type, struct str uuid, int part, struct str data);

/* For chat_new(): the feed is its ctx. Never fails. */
enum status feed_chat(void *ctx, const struct chat_event *e, struct err *err);

size_t feed_waiting(const struct feed *f); /* events */

/* So much waits that no more should be taken before it is written: whoever makes events has to wait. */
bool feed_is_full(const struct feed *f);

/* Whether something waits that somebody may be waiting for: it should be written now, and be on the disk. */
bool feed_is_urgent(const struct feed *f);

/*
 * Writes all that waits, and the state. On failure everything still waits: after STATUS_BUSY or STATUS_FULL
 * it can be tried again, after STATUS_CONFLICT somebody else has taken the stream. `end` when the state is
 * one that is over.
 */
enum status feed_write(struct feed *f, enum stream_state state, const struct stream_end *end,
		       struct err *err) MUST_USE;

enum stream_state feed_state(const struct feed *f);

/* That somebody else has written the stream's state: it is written so from now on. */
void feed_set_state(struct feed *f, enum stream_state state);

#endif
