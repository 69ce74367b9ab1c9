/*
 * What agents meant to do, as their transcripts tell: the lists that calls of tools have made.
 */
#ifndef ARBOR_QUERY_TODO_H
#define ARBOR_QUERY_TODO_H

#include "claude/record.h"
#include "claude/task.h"
#include "store/session.h"

struct todo_task {
	struct task task;
	struct uuid node;	  /* the call that put it there, and its block: */
	struct record_block call; /* its node is not to be used */
};

/* The list of a session, or of one of its sub-agents, as it was last. */
struct todo_list {
	struct session session; /* the transcript; its agent is whose list it is */
	int64_t at;		/* of the last call; 0 = unknown */
	struct todo_task *tasks;
	size_t count, cap;
};

/* Whether those of a transcript are asked for. */
typedef bool todo_wanted_fn(void *ctx, const struct session *session);

/* All in the arena, those of a session once in however many folders it is. Wants a read transaction. */
enum status todo_lists(struct store *s, todo_wanted_fn *wanted, void *ctx, struct arena *mem, struct todo_list **out,
		       size_t *count, struct err *err) MUST_USE;

#endif
