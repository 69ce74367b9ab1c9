/*
 * What was said around a line of a conversation.
 */
#ifndef ARBOR_QUERY_AROUND_H
#define ARBOR_QUERY_AROUND_H

#include "query/chain.h"
#include "query/transcript.h"

struct around_line {
	struct uuid id; /* of its message */
	enum record_place place;
	int64_t at;	 /* ms; 0 = unknown */
	struct str text; /* its beginning, on one line */
};

/* In the order they were said. */
struct around {
	struct around_line *before, *after;
	size_t before_count, after_count;
};

/* What is kept from one to the next: the lines of the last transcript. */
struct around_reader {
	int64_t row; /* 0 = of none yet */
	struct chain chain;
};

#define AROUND_READER_INIT { 0 }
void around_reader_release(struct around_reader *r);

/* Up to `most` prompts and answers on either side of a line, on its branch of the conversation. Texts are in
 * the arena. Wants a read transaction. */
enum status around_get(struct around_reader *r, struct transcript *t, struct store *s, const struct session *session,
		       int64_t offset, size_t most, struct arena *mem, struct around *out, struct err *err) MUST_USE;

#endif
