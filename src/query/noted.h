/*
 * What something is attached to: the documents that tag:, is:noted and is:bookmarked mean.
 */
#ifndef ARBOR_QUERY_NOTED_H
#define ARBOR_QUERY_NOTED_H

#include "base/map.h"
#include "query/expr.h"
#include "store/annotation.h"
#include "store/fulltext.h"

/* Lines of a transcript, or a block of one. */
struct noted_range {
	int64_t session;
	int64_t from, to; /* offsets */
	int32_t block;	  /* only this one; NOTED_ALL = all of them */
};

enum { NOTED_ALL = -1 };

struct noted {
	struct noted_range *ranges; /* by session and offset; those without a block do not overlap */
	size_t count, cap;
	int64_t *notes; /* annotations on these things, and in these conversations: rows, in order */
	size_t note_count, note_cap;
	struct map subjects; /* by id and sub-agent */
	struct arena mem;
};

#define NOTED_INIT { 0 }
void noted_release(struct noted *n);

/* Everything that has such a tag, of the client's too; or a note, or a bookmark. Wants a read transaction. */
enum status noted_by_tag(struct store *s, struct str tag, struct noted *out, struct err *err) MUST_USE;
enum status noted_by_kind(struct store *s, enum annotation_kind kind, struct noted *out,
			  struct err *err) MUST_USE;

/* Whether a document is part of it, or is a note on something that is; whether anything of a transcript is. */
bool noted_has(const struct noted *n, const struct doc *doc);
bool noted_has_session(const struct noted *n, int64_t session);

/* The conditions of a query that ask for such things. */
struct noted_conditions {
	const struct expr *expr;
	struct noted *sets; /* by condition */
	bool any;	    /* whether there are any */
};

#define NOTED_CONDITIONS_INIT { 0 }
void noted_conditions_release(struct noted_conditions *c);
enum status noted_conditions_read(struct noted_conditions *c, struct store *s, const struct expr *e,
				  struct err *err) MUST_USE;

bool noted_conditions_hold(const struct noted_conditions *c, const struct doc *doc);

#endif
