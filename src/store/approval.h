/*
 * Approvals: questions of agents whether a tool may run, and what became of them.
 *
 *     pending ──► decided ──► delivered        answered, and handed to who asked
 *        └───────────┴──────► void             nobody can hear the answer any more
 *
 * A question is answered once, by a person, a program, a rule, or by nobody in time, which is never a yes.
 * Whoever is too late is told who was first. The record stays.
 */
#ifndef ARBOR_STORE_APPROVAL_H
#define ARBOR_STORE_APPROVAL_H

#include "store/run.h"

enum approval_state {
	APPROVAL_PENDING,
	APPROVAL_DECIDED,
	APPROVAL_DELIVERED,
	APPROVAL_VOID,
	APPROVAL_STATES
};

enum approval_decision { APPROVAL_ALLOW, APPROVAL_DENY, APPROVAL_DECISIONS };

/* All that can happen to one. The first decide it, in their own name. */
enum approval_deed {
	APPROVAL_BY_PERSON,
	APPROVAL_BY_PROGRAM, /* only of a session that has a name here */
	APPROVAL_BY_RULE,
	APPROVAL_BY_EXPIRY, /* nobody in time: a no */
	APPROVAL_DELIVER,
	APPROVAL_WITHDRAW, /* by who asked */
	APPROVAL_LOSE,	   /* who asked is gone */
	APPROVAL_DEEDS,
	APPROVAL_ANSWERERS = APPROVAL_DELIVER
};

extern const char *const approval_state_names[APPROVAL_STATES + 1]; /* ended by NULL */
extern const char *const approval_decision_names[APPROVAL_DECISIONS + 1];
extern const char *const approval_by_names[APPROVAL_ANSWERERS + 1];

/* Whether it can be done to one in this state. */
bool approval_may(enum approval_state from, enum approval_deed deed);

/* And whether it may decide so. Of one that decides nothing: never. */
bool approval_may_decide(enum approval_deed deed, enum approval_decision decision);

struct approval {
	int64_t row;
	struct uuid id;
	int64_t session, run;	 /* rows; 0 = none */
	struct str session_name; /* p NULL = none, as with all texts */
	bool has_claude_session;
	struct uuid claude_session;
	struct str cwd, request_id, tool_use_id, tool_name;
	struct str input; /* JSON as asked */
	struct str agent_id;
	struct str suggestions; /* JSON: rules that the client offers */
	enum approval_state state;
	bool is_decided; /* then the next are set; one that is void may be, too */
	enum approval_decision decision;
	enum approval_deed by;
	struct str by_name;
	struct str edited_input; /* JSON */
	struct str message;	 /* for the model */
	bool interrupt;
	bool has_rule;
	struct uuid rule;
	struct str void_reason; /* "withdrawn", "lost" */
	struct lease asker;
	int64_t asked_at, expires_at, decided_at, delivered_at, voided_at; /* 0 = not, or never */
};

/* What runs when it is allowed. */
static inline struct str approval_input(const struct approval *a)
{
	return a->edited_input.p ? a->edited_input : a->input;
}

/* ---- Reading ------------------------------------------------------------------ */

/* Texts are in the arena. STATUS_NOT_FOUND. */
enum status approval_get(struct store *s, const struct uuid *id, struct arena *mem, struct approval *out,
			 struct err *err) MUST_USE;

/* By an id, or by the beginning of one that no other has. STATUS_AMBIGUOUS. */
enum status approval_find(struct store *s, struct str text, struct arena *mem, struct approval *out,
			  struct err *err) MUST_USE;

/* Texts are valid during the call. */
typedef enum status approval_fn(void *ctx, const struct approval *a, bool *go_on, struct err *err);

/* Those that wait for an answer, the oldest first; of a session (its row), or of all with 0. */
enum status approval_each_pending(struct store *s, int64_t session, approval_fn *fn, void *ctx,
				  struct err *err) MUST_USE;

/* Those whose asker may still be waiting, answered or not. */
enum status approval_each_open(struct store *s, approval_fn *fn, void *ctx, struct err *err) MUST_USE;

/* All of them, the newest first. */
enum status approval_each(struct store *s, int64_t session, approval_fn *fn, void *ctx,
			  struct err *err) MUST_USE;

/* ---- Asking ------------------------------------------------------------------- */

struct approval_new {
	int64_t session, run;		   /* rows; 0 = none */
	const struct uuid *claude_session; /* NULL = not known */
	struct str cwd, request_id, tool_use_id, tool_name, input, agent_id, suggestions;
	struct lease asker;
	int64_t expires_at; /* 0 = never */
};

/* Pending. On the disk when it returns. STATUS_CONFLICT when the run has asked it before. */
enum status approval_ask(struct store *s, const struct approval_new *what, struct arena *mem,
			 struct approval *out, struct err *err) MUST_USE;

/* Says that the asker still waits. */
enum status approval_renew(struct store *s, const struct approval *a, struct err *err) MUST_USE;

/* ---- What happens to one -------------------------------------------------------- */

struct approval_answer {
	enum approval_deed by; /* a person, a program or a rule */
	enum approval_decision decision;
	struct str by_name;	 /* p NULL = not said */
	struct str edited_input; /* JSON, with allow; p NULL = as asked */
	struct str message;	 /* for the model, with deny; p NULL = none */
	bool interrupt;		 /* with deny: the turn ends, too */
	int64_t rule;		 /* row, with APPROVAL_BY_RULE */
};

/*
 * Answers it, and is on the disk when it returns. STATUS_CONFLICT when it is too late; the error says who was
 * first, and nothing has changed, but that what has expired is denied now. *a becomes what it is.
 */
enum status approval_decide(struct store *s, struct approval *a, const struct approval_answer *answer,
			    struct arena *mem, struct err *err) MUST_USE;

/* APPROVAL_DELIVER before the answer is handed over: from then on it may be obeyed. APPROVAL_WITHDRAW,
 * APPROVAL_LOSE. STATUS_CONFLICT as above. */
enum status approval_do(struct store *s, struct approval *a, enum approval_deed deed, struct arena *mem,
			struct err *err) MUST_USE;

/* Denies what nobody has answered in time. */
enum status approval_expire(struct store *s, struct err *err) MUST_USE;

/* Whether a run has asked something whose answer it does not have. */
enum status approval_is_awaited(struct store *s, int64_t run, bool *out, struct err *err) MUST_USE;

/* Of a stream (its row) that is over: all that its run has asked and will not hear of. Wants a write
 * transaction. */
enum status approval_end_stream(struct store *s, int64_t stream, struct err *err) MUST_USE;

#endif
