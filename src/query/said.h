/*
 * Who said something: conversations whose prompts and answers have a word, counted.
 */
#ifndef ARBOR_QUERY_SAID_H
#define ARBOR_QUERY_SAID_H

#include "base/arena.h"
#include "store/store.h"

struct said {
	struct uuid session;
	int64_t times; /* prompts and answers that have it, those of its sub-agents too */
	int64_t at;    /* the last of them, ms; 0 = unknown */
};

/* The word, name or words in a row, in the arena, who said it most first. What tools printed and read does not
 * count, nor older versions of files. Wants a read transaction. */
enum status said_by(struct store *s, struct str what, struct arena *mem, struct said **out, size_t *count,
		    struct err *err) MUST_USE;

#endif
