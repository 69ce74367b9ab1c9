/*
 * What answers cost, each once.
 */
#ifndef ARBOR_QUERY_USAGE_H
#define ARBOR_QUERY_USAGE_H

#include "base/arena.h"
#include "store/store.h"

/* An answer of a model. The same one may stand in several files, and its lines may know
 * different parts of what it cost: of each number the largest counts, of its times the
 * first, that of a copy which says it is one only where nobody else has it. */
struct usage {
	uint64_t message; /* hash of its id */
	int64_t at;	 /* ms; 0 = unknown */
	int64_t session; /* row of the transcript it was told in first */
	int64_t input, output, written, written_1h, read;
	struct str model; /* in the arena, each name once; empty = unknown */
	struct str agent; /* with USAGE_AGENTS: the sub-agent it is of; empty = none, or */
	bool aside;	  /* one that has no name */
	bool copied;	  /* whoever told it says where that was forked from */
	bool fast;	  /* asked for in a hurry */
	bool final;	  /* false: no line says that it ended, and the numbers are a lower bound */
};

enum usage_want {
	USAGE_AGENTS = 1,   /* whose they are: takes a look-up for each */
	USAGE_SESSIONS = 2, /* `session` does not depend on which file was read first */
	USAGE_ORDERED = 4,  /* by their times, those of one moment by their messages; else in any order */
};

/* All of them. Wants a read transaction. */
enum status usage_all(struct store *s, unsigned want, struct arena *mem, struct usage **out, size_t *count,
		      struct err *err) MUST_USE;

#endif
