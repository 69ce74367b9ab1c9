/*
 * What a decision is about when it does not say so itself: "let's go with A" means a line of the answer before it,
 * "yes, do that" its last question. Pure: texts in, texts out.
 */
#ifndef ARBOR_CLAUDE_CHOICE_H
#define ARBOR_CLAUDE_CHOICE_H

#include "base/buf.h"

/* Whether a sentence tells nothing to who does not know what came before it. */
bool choice_is_vague(struct str sentence);

/*
 * Appends what a sentence is about, by the answer before it: the item of its list that is chosen, with its mark
 * ("2: …"), or what was asked last ("asked: …?"). False when neither is there.
 */
bool choice_about(struct str sentence, struct str answer, struct buf *out);

/* Whether it is of some use though nothing says what it is about. */
bool choice_stands_alone(struct str sentence);

/* Questions of a tool and what a person chose, from its result: "question → choice" for each of them. */
typedef void choice_fn(void *ctx, struct str decision);
void choice_answers(struct str result, choice_fn *fn, void *ctx);

#endif
