/*
 * What matters of a text, in a sentence: how an answer ended something, what was decided, why a
 * tool failed, whether a prompt says anything. Found by cues, without a model; what is doubtful
 * is left out. Pure: texts in, texts out.
 */
#ifndef ARBOR_CLAUDE_GIST_H
#define ARBOR_CLAUDE_GIST_H

#include "base/buf.h"

/* The sentences of a Markdown text; headings, code and tables have none. */
struct gist {
	struct str rest, line;
	bool in_code;
};

/* The next one, on one line, replaces what is in `out`. */
bool gist_sentence(struct gist *g, struct buf *out);

/* Appends the first sentences of an answer, about so many bytes. */
void gist_outcome(struct str answer, size_t most, struct buf *out);

/* Sentences that decide something. `typed`: by a person, who says so in other words. */
typedef void gist_fn(void *ctx, struct str sentence);
void gist_decisions(struct str text, bool typed, gist_fn *fn, void *ctx);

/* What failed, as a tool has told it; all in its text. */
struct gist_failure {
	struct str line; /* that says what failed; empty when it tells nothing of the work: a refusal, an end
			  * that is no failure */
	bool slip;	 /* of the model with its tools: a file that is not there, a text that does not match */
};
void gist_failure(struct str text, struct gist_failure *out);

/* What is the same whenever the same thing fails: its line without paths and numbers. Appended. */
void gist_failure_kind(const struct gist_failure *f, struct buf *out);

/* Whether a prompt is none of a person's, but of the client, which does not say so. */
bool gist_is_noise(struct str prompt);

/* Whether a prompt says what somebody wants, and not only yes. */
bool gist_says_something(struct str prompt);

#endif
