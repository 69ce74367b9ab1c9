/*
 * Calls of tools, found by the index: where they stand, and the lines they stand in.
 */
#ifndef ARBOR_QUERY_CALLED_H
#define ARBOR_QUERY_CALLED_H

#include "query/transcript.h"

struct called {
	int64_t row;	 /* of its transcript */
	int64_t offset;	 /* of its line */
	int64_t at;	 /* ms; 0 = unknown */
	uint32_t block;	 /* in its line */
};

/* Every call of these tools (NULL at their end), in the arena, by transcripts and in the order of lines. Older versions
 * of files have theirs, too. Wants a read transaction, as the other does. */
enum status called_find(struct store *s, const char *const *tools, struct arena *mem, struct called **out,
			size_t *count, struct err *err) MUST_USE;

/* The same for calls that have any of these marks, as a query (mark.h). */
enum status called_match(struct store *s, struct str match, struct arena *mem, struct called **out, size_t *count,
			 struct err *err) MUST_USE;

/* The call in its line, and the id of its node. All of it is valid during the call only. */
typedef enum status called_fn(void *ctx, const struct transcript_line *line, const struct record_block *call,
			      const struct uuid *id, struct err *err);
enum status called_read(struct transcript *t, struct store *s, const struct session *session, const struct called *c,
			struct arena *mem, called_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
