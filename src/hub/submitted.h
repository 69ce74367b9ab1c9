/*
 * Prompts on their way to an agent: what they say, submitted, and the driver that is started for them.
 */
#ifndef ARBOR_HUB_SUBMITTED_H
#define ARBOR_HUB_SUBMITTED_H

#include "hub/call.h"
#include "hub/streamed.h"
#include "live/detach.h"
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

/* What was submitted: waited for until a driver has it, then followed. Across waits. */
struct submitted {
	struct run run;
	bool again;		/* it was submitted before: no driver was started */
	bool taken;		/* a driver has it, or had */
	struct detached driver; /* until then */
	int64_t until_ns;	/* so long it may take */
	struct tailing tail;	/* from then on */
};

/* Submits, and starts a driver unless it was submitted before. When none can be started, the stream says so.
 * *out is the call's `state`. */
enum status submit_and_start(struct call *c, const struct submitting *what, struct submitted **out,
			     struct err *err) MUST_USE;

/* Until a driver has it: STATUS_WAIT, call again. When none comes to take it, the stream has failed, and says
 * why as this does. */
enum status submit_wait(struct call *c, struct submitted *m, struct err *err) MUST_USE;

/* That, and its events to the end. */
enum status submit_follow(struct call *c, struct submitted *m, struct err *err) MUST_USE;

#endif
