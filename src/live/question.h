/*
 * Questions of agents about their tools, for whoever hears them: the driver of a run, or a client's
 * permission tool.
 *
 *     question_ask() ──► wait for the store ──► question_look() ──► question_deliver() ──► the answer to the
 * client └──► question_withdraw() when it wants to know no more
 *
 * A rule may answer at once. Readers of the run's stream, where there is one, hear of everything in the same
 * transaction: awaiting_approval, then approval_resolved.
 */
#ifndef ARBOR_LIVE_QUESTION_H
#define ARBOR_LIVE_QUESTION_H

#include "base/json_write.h"
#include "store/approval.h"

struct question_new {
	struct approval_new what;	    /* `asker` is this process */
	const struct stream_writer *writer; /* the driver's right to its stream; NULL = we write beside it */
	struct str home;		    /* what ~ means in rules; p NULL = nothing */
};

/* Asks, and lets rules answer. The input has to be JSON. */
enum status question_ask(struct store *s, const struct question_new *q, struct arena *mem,
			 struct approval *out, struct err *err) MUST_USE;

/* What it is by now: expired if nobody was in time. Says that we still wait. */
enum status question_look(struct store *s, struct approval *a, struct arena *mem, struct err *err) MUST_USE;

/* Of one that is decided, before the answer is handed over: a record that says it was, when the power fails
 * in between, is better than a tool that ran without one. STATUS_CONFLICT when it is void. */
enum status question_deliver(struct store *s, struct approval *a, const struct stream_writer *writer,
			     struct arena *mem, struct err *err) MUST_USE;

enum status question_withdraw(struct store *s, struct approval *a, const struct stream_writer *writer,
			      struct arena *mem, struct err *err) MUST_USE;

/*
 * Answers it as approval_decide() does, and adds the rule that it is to be from now on (NULL = none), or does
 * neither. What is to run instead is held against rules as what was asked is: STATUS_DENIED, with the rule
 * that does not want it, whoever answers.
 */
struct rule;
enum status question_answer(struct store *s, struct approval *a, const struct approval_answer *answer,
			    struct rule *rule, struct str home, struct arena *mem, struct err *err) MUST_USE;

/* What the client wants to hear of one that is decided, as it wants it. */
void question_write_answer(struct json_writer *w, const struct approval *a);

/* Closes what nobody waits for any more, and denies what nobody has answered in time. A store that cannot be
 * written stays as it is. */
enum status question_look_after(struct store *s, struct err *err) MUST_USE;

/* Lets rules answer what waits: after one was added. */
enum status question_apply_rules(struct store *s, struct str home, int64_t *answered,
				 struct err *err) MUST_USE;

/* The rule that would mean this question alone, for "always". In the arena. */
struct permission;
enum status question_rule(const struct approval *a, struct str home, struct arena *mem,
			  struct permission *out, struct err *err) MUST_USE;

#endif
