/*
 * The driver: one process that runs one agent, from its start to its end.
 *
 * It takes the run that somebody has submitted, starts the client, tells it the prompt, writes all that it
 * does into the run's stream, does what others command through the store, and says in the end what became of
 * it.
 */
#ifndef ARBOR_LIVE_DRIVER_H
#define ARBOR_LIVE_DRIVER_H

#include "claude/price.h"
#include "ingest/filter.h"
#include "live/command.h"
#include "store/run.h"

struct drive_ask {
	const struct environment *env;
	struct str program;	   /* the client; p NULL = wherever it is */
	const struct prices *prices;	   /* of models; NULL = those that are built in */
	const struct filter_rules *filter; /* what of its files may be mirrored; NULL = all */
	int64_t silence_s; /* it is ended when it says nothing for so long, and waits for nobody; 0 = never */
	const atomic_bool *cancel; /* ends the agent; may be NULL */
	int64_t compact_before;	   /* streams that ended before then have their deltas put together */
	int64_t expire_ms;	   /* after which a question that nobody answered is denied; 0 = never */
	bool beside; /* somebody has the file of its session open: it goes on in another */
	bool alone; /* this process does nothing else: whatever becomes a child of it is the agent's */
};

/*
 * Until the agent has ended, however it did: that is in the stream. Fails when the run cannot be driven from
 * here: STATUS_CONFLICT when somebody else does or it is over.
 */
enum status drive(struct store *s, const struct uuid *stream, const struct drive_ask *ask,
		  struct err *err) MUST_USE;

#endif
