/*
 * Rules: standing answers to questions about tools. What they mean is said elsewhere (claude/permission.h);
 * here are their rows.
 */
#ifndef ARBOR_STORE_RULE_H
#define ARBOR_STORE_RULE_H

#include "base/arena.h"
#include "store/store.h"

enum rule_decision { RULE_ALLOW, RULE_DENY, RULE_ASK, RULE_DECISIONS };

extern const char *const rule_decision_names[RULE_DECISIONS + 1]; /* ended by NULL */

struct rule {
	int64_t row;
	struct uuid id;
	int64_t session;	 /* row; 0 = it is of every session */
	struct str session_name; /* p NULL = none */
	bool has_claude_session; /* it is of one of the client's alone */
	struct uuid claude_session;
	struct str tool;
	struct str pattern; /* p NULL = whatever the input */
	enum rule_decision decision;
	struct str message;		/* for the model, with deny; p NULL = none */
	struct str created_by;		/* p NULL = not said */
	int64_t created_at, expires_at; /* 0 = never */
};

/* `row`, `id` and `created_at` are set. Part of an open transaction, or one of its own, which is on the
 * disk when it returns. */
enum status rule_add(struct store *s, struct rule *rule, struct err *err) MUST_USE;

/* By an id, or by the beginning of one that no other has; also one that was removed. */
enum status rule_find(struct store *s, struct str text, struct arena *mem, struct rule *out,
		      struct err *err) MUST_USE;

/* It answers nothing from then on. STATUS_CONFLICT when it was removed before. */
enum status rule_remove(struct store *s, const struct rule *rule, struct err *err) MUST_USE;

/* Texts are valid during the call. */
typedef enum status rule_fn(void *ctx, const struct rule *rule, struct err *err);

/* Those in use, the oldest first. */
enum status rule_each(struct store *s, rule_fn *fn, void *ctx, struct err *err) MUST_USE;

/* The same that a question of this session is answered by: the row, 0 = it has none; the client's, NULL = not
 * known. */
enum status rule_each_for(struct store *s, int64_t session, const struct uuid *claude_session, rule_fn *fn,
			  void *ctx, struct err *err) MUST_USE;

#endif
