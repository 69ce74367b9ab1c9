/*
 * What happened in conversations, counted: prompts, messages, calls of tools, each once in
 * however many files it stands.
 */
#ifndef ARBOR_QUERY_STATS_H
#define ARBOR_QUERY_STATS_H

#include "base/arena.h"
#include "store/store.h"

enum stats_kind { STATS_PROMPT, STATS_MESSAGE, STATS_CALL };

struct stats_event {
	enum stats_kind kind; /* a prompt is a message, too, and comes as both */
	int64_t session;      /* row of its transcript */
	int64_t at;	      /* ms; 0 = unknown */
	bool again;	      /* it has been counted, in another file */
	bool aside;	      /* a sub-agent's, in the conversation's own file */
	struct str agent;     /* whose, where the line says so; valid during the call */
	struct str task;      /* so too, of a line that begins one in no other way: its own uuid */
};

/* Whether it counts; what does not may still count in another file. */
typedef bool stats_fn(void *ctx, const struct stats_event *e);

/* Every line is looked at. Wants a read transaction. */
enum status stats_each(struct store *s, struct arena *mem, stats_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
