/*
 * A session's lines, read back from the archive.
 */
#ifndef ARBOR_QUERY_TRANSCRIPT_H
#define ARBOR_QUERY_TRANSCRIPT_H

#include "claude/record.h"
#include "store/session.h"

/* One line or a part of it, ready to be looked at: the record is read by `reader`,
 * both valid during the call. */
struct transcript_line {
	const struct record *record;
	struct record_reader *reader;
	int64_t offset;
};

typedef enum status transcript_fn(void *ctx, const struct transcript_line *line, bool *go_on,
				  struct err *err);

/* What is kept from one call to the next. */
struct transcript {
	struct record_reader reader;
	struct buf bytes; /* of a block */
	bool peek;	  /* for a glance: bytes are not checked against their hash */
};

void transcript_init(struct transcript *t);
void transcript_release(struct transcript *t);

/* The records of the lines in [from, to) of a session, in order; `from` is the
 * offset of one. Wants a read transaction. */
enum status transcript_each(struct transcript *t, struct store *s, const struct session *session,
			    int64_t from, int64_t to, transcript_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
