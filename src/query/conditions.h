/*
 * Which documents a search may give, besides what they say: the conditions of a query,
 * understood.
 */
#ifndef ARBOR_QUERY_CONDITIONS_H
#define ARBOR_QUERY_CONDITIONS_H

#include "query/expr.h"
#include "query/forest_load.h"
#include "query/hidden.h"
#include "store/session.h"

/* Whether files beside the conversations are meant: with all else, not, or they alone. */
enum beside { BESIDE_TOO, BESIDE_NOT, BESIDE_ONLY };

struct conditions {
	unsigned places;	 /* a bit for each enum record_place; 0 = all */
	enum beside beside;	 /* what PLACE_OTHER means, which is also what nobody said */
	int64_t after, before;	 /* ms; 0 = open */
	struct conditions_day {
		int64_t from, to;
	} days[EXPR_CONDITIONS]; /* in one of these, where there are several */
	size_t day_count;
	struct str project;	 /* p NULL = all; else a folder and those below it */
	int64_t session;	 /* row, or a tree as conditions_tree() has it; 0 = all */
	const struct hidden *hidden; /* none of these, unless one is asked for; may be NULL */
	struct branched *branched; /* asked for what has branches; NULL where nobody asks for that */
	const struct expr *expr; /* its conditions on sessions hold, too; may be NULL */
};

/* Where a session can be asked for by its row, a tree that was made can be, too. */
static inline int64_t conditions_tree(int64_t row)
{
	return -row;
}

/* Adds the conditions of f->expr to what is there: both have to hold. STATUS_USAGE when one
 * has a value that it cannot have. */
enum status conditions_read(struct conditions *f, int64_t now, struct err *err) MUST_USE;

/* Whether a time is one of those asked for; 0 = unknown. */
bool conditions_hold_time(const struct conditions *f, int64_t at);

/* Whether anything is asked of sessions. */
bool conditions_ask_session(const struct conditions *f);

/* Whether a session is one of those asked for: of one that is asked as a whole all has to hold, of the others what is
 * not asked of each line. */
enum status conditions_hold(const struct conditions *f, struct store *s, const struct session *session,
			    bool *out, struct err *err) MUST_USE;
enum status conditions_may_hold(const struct conditions *f, struct store *s, const struct session *session,
				bool *out, struct err *err) MUST_USE;

/* Whether branches of git are asked for, and whether a line on this one is; empty = on none. */
bool conditions_ask_branch(const struct conditions *f);
bool conditions_hold_branch(const struct conditions *f, struct str branch);

/* Whether something beside the conversations is, of which only this is known: the folder it belongs to (empty =
 * none) and the conversation or tree (row; 0 = none). Nothing else that is asked of sessions holds for it. */
enum status conditions_hold_beside(const struct conditions *f, struct str project, int64_t session, bool *out,
				   struct err *err) MUST_USE;

#endif
