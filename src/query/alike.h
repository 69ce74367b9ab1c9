/*
 * Who names the same: what a session names, who else names it, and so which sessions are alike.
 */
#ifndef ARBOR_QUERY_ALIKE_H
#define ARBOR_QUERY_ALIKE_H

#include "base/arena.h"
#include "store/store.h"

/*
 * How much a link says, above 0 and at most 1: more when it was named more often, less when
 * many others name it too; a word that nobody else uses is hardly a topic. `kind`: enum mention_kind.
 * `common`: transcripts that name it, of `all`.
 */
double alike_weight(int kind, int64_t times, int64_t common, int64_t all);

/* How much it says of a session that it names something so many times. */
double alike_naming_weight(int64_t times);

/* A name as people recognise it among others. */
struct str alike_short_name(int kind, struct str name);

/* Where to look. Wants a read transaction for as long as it is used. */
struct alike_in {
	struct store *store;
	struct arena *mem; /* what is found is there */
	int64_t all;	   /* transcripts */
};

struct alike_name {
	int64_t key; /* of links */
	int kind;
	struct str name;
	double weight;
	int64_t common;
};

enum { ALIKE_NAMES = 400 }; /* of a session */

struct alike_names {
	struct alike_name list[ALIKE_NAMES];
	size_t count;
};

/* What a session names, or one of its sub-agents (agent.p NULL = all of it); best first. */
enum status alike_names(const struct alike_in *in, const struct uuid *session, struct str agent,
			struct alike_names *out, struct err *err) MUST_USE;

struct alike_session {
	struct uuid id;
	int64_t times;	   /* it names that */
	bool is_neighbour; /* worked in the same folder */
};

/* Which sessions name something, those that were touched last first; `beside` is whose folder counts. */
typedef void alike_session_fn(void *ctx, const struct alike_session *s);
enum status alike_each_namer(const struct alike_in *in, int64_t key, const struct uuid *beside,
			     alike_session_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Another session, with what both name. */
struct alike {
	struct uuid session;
	double weight;	/* 1 = it has all that the first one names */
	struct str via; /* the best of it, for people */
};

enum status alike_find(const struct alike_in *in, const struct uuid *session, const struct alike_names *names,
		       struct alike **out, size_t *count, struct err *err) MUST_USE;

#endif
