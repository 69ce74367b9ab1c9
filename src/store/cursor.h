/*
 * Named places in streams: where a reader is, kept for it. They move when the reader says so, and never by
 * reading.
 */
#ifndef ARBOR_STORE_CURSOR_H
#define ARBOR_STORE_CURSOR_H

#include "store/event.h"

struct cursor {
	struct str name;
	struct stream_place place;
	int64_t created_at, updated_at;
};

/* At a place of the stream. STATUS_CONFLICT when it has one of this name, STATUS_USAGE when it is no place,
 * or no name. */
enum status cursor_create(struct store *s, const struct stream *stream, struct str name,
			  const struct stream_place *at, struct err *err) MUST_USE;

/* STATUS_NOT_FOUND. The name is in the arena. */
enum status cursor_get(struct store *s, const struct stream *stream, struct str name, struct arena *mem,
		       struct cursor *out, struct err *err) MUST_USE;

/*
 * Forwards; to where it is already is fine, so that who does not know whether it was heard can say it
 * again. STATUS_CONFLICT when it is further, STATUS_USAGE when nobody can have read up to there.
 */
enum status cursor_advance(struct store *s, const struct stream *stream, struct str name,
			   const struct stream_place *to, struct err *err) MUST_USE;

/* STATUS_NOT_FOUND. */
enum status cursor_delete(struct store *s, const struct stream *stream, struct str name,
			  struct err *err) MUST_USE;

/* By name. Valid during the call. */
typedef enum status cursor_fn(void *ctx, const struct cursor *cursor, struct err *err);
enum status cursor_each(struct store *s, const struct stream *stream, cursor_fn *fn, void *ctx,
			struct err *err) MUST_USE;

#endif
