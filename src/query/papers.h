/*
 * Texts beside the conversations, as a search finds them: plans, memory, tasks, todos, typed history.
 */
#ifndef ARBOR_QUERY_PAPERS_H
#define ARBOR_QUERY_PAPERS_H

#include "claude/paper.h"
#include "store/paper.h"
#include "store/session.h"

/* One, and what it belongs to. Texts are in the arena given. */
struct paper_found {
	struct paper paper;
	struct session session; /* the conversation it belongs to; row 0 = none, or it is not here */
	struct str project;	/* folder it belongs to; empty = unknown */
	struct str title;	/* once its text was read */
};

/* By its row. Wants a read transaction, as the others do. */
enum status papers_find(struct store *s, int64_t row, struct arena *mem, struct paper_found *out,
			struct err *err) MUST_USE;

/* Of one whose kind, path, session and project are known, as far as it says them: what it belongs to. */
enum status papers_belong(struct store *s, struct paper_found *p, struct arena *mem, struct err *err) MUST_USE;

/* Appends its text, and sets its title. */
enum status papers_text(struct store *s, struct paper_found *p, struct arena *mem, struct buf *text,
			struct err *err) MUST_USE;

#endif
