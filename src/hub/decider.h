/*
 * Who decides: whether a person does, and what an agent may not. For all that answers questions about tools,
 * or lets tools run without one.
 */
#ifndef ARBOR_HUB_DECIDER_H
#define ARBOR_HUB_DECIDER_H

#include "hub/call.h"
#include "live/inside.h"

struct decider {
	bool person;
	struct inside inside; /* agents it belongs to, of those at work here */
	bool has_client;      /* the conversation that its agent has */
	struct uuid client;
	int64_t session; /* row of what goes on with that; 0 = nothing */
};

enum status decider_find(struct call *c, struct decider *out, struct err *err) MUST_USE;

/* STATUS_DENIED when it is an agent, and this is its own session: a row, 0 = none; the client's, NULL = not
 * known. */
enum status decider_check(const struct decider *d, int64_t session, const struct uuid *client,
			  struct err *err) MUST_USE;

/* The same for a call that lets tools run unasked in a session, 0 = a new one: it needs the scope of answers,
 * too. */
enum status decider_may_loosen(struct call *c, int64_t session, const struct uuid *client,
			       struct err *err) MUST_USE;

#endif
