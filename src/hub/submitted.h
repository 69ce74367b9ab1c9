/*
 * Prompts on their way to an agent: what they say, submitted, and the driver that is started for them.
 */
#ifndef ARBOR_HUB_SUBMITTED_H
#define ARBOR_HUB_SUBMITTED_H

#include "hub/call.h"
#include "store/run.h"

#define ATTACH_PARAM \
	{ \
		.name = "attach", .type = VALUE_PATH, .flags = PARAM_REST, .letter = 'f', .shown = "FILE", \
		.help = "a text, an image or a PDF that goes with it; may be given several times" \
	}

/* A prompt as the client takes it, JSON: a text, with files a list of blocks. Files are read now, in the
 * caller's folder. STATUS_USAGE says which cannot be sent. */
enum status prompt_content(struct call *c, struct str text, const struct value *files, struct buf *out,
			   struct err *err) MUST_USE;

struct submitting {
	struct named session;
	struct str content;	      /* prompt_content() */
	struct str client_id;	      /* p NULL = none */
	const struct uuid *continues; /* NULL = none */
	bool ephemeral;
	int64_t max_turns;	  /* 0 = as many as it takes */
	struct str allowed_tools; /* call_names(); for this prompt alone */
};

/* Submits, and starts a driver unless it was submitted before (*again). When none can be started, the stream
 * says so. */
enum status submit_and_start(struct call *c, const struct submitting *what, struct run *run, bool *again,
			     struct err *err) MUST_USE;

/* Says in the stream of a run that nobody will drive it, and why. */
enum status submit_close(struct call *c, struct run *run, const struct err *why, struct err *err) MUST_USE;

#endif
