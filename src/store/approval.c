/*
 * The table of approvals, and the machine behind it.
 *
 * All that can happen to a question is a deed, and `deeds` says in which states it can be done, where it
 * leads and what it may decide. change() does them all: it has the write lock when it reads the state, and
 * writes only over the state it has read. So of any number who answer at once one is first, and the others
 * find the question answered.
 *
 * Invariants
 *   (1) What is decided has somebody who decided it; "allow" has a person, a program or a rule.
 *   (2) A decision never changes, nor do those who made it and what they changed of the input.
 *   (3) Delivered and void are ends.
 *   (4) A run that has ended has no open question (store/stream.c).
 * The table's checks demand (1) again, whatever the code does.
 *
 * Expiry needs nobody who watches the clock: an answer that comes too late finds out, and makes it true.
 */
#include "store/approval.h"

#include "store/live_row.h"
#include "store/tree_row.h"

const char *const approval_state_names[] = {
	[APPROVAL_PENDING] = "pending", [APPROVAL_DECIDED] = "decided", [APPROVAL_DELIVERED] = "delivered",
	[APPROVAL_VOID] = "void",	[APPROVAL_STATES] = NULL,
};

const char *const approval_decision_names[] = {
	[APPROVAL_ALLOW] = "allow",
	[APPROVAL_DENY] = "deny",
	[APPROVAL_DECISIONS] = NULL,
};

const char *const approval_by_names[] = {
	[APPROVAL_BY_PERSON] = "person", [APPROVAL_BY_PROGRAM] = "program", [APPROVAL_BY_RULE] = "rule",
	[APPROVAL_BY_EXPIRY] = "expiry", [APPROVAL_ANSWERERS] = NULL,
};

#define BIT(n) (1u << (n))
#define OPEN   (BIT(APPROVAL_PENDING) | BIT(APPROVAL_DECIDED))
#define EITHER (BIT(APPROVAL_ALLOW) | BIT(APPROVAL_DENY))

static const struct deed {
	unsigned from; /* states */
	enum approval_state to;
	unsigned decisions;
	const char *void_reason;
} deeds[APPROVAL_DEEDS] = {
	[APPROVAL_BY_PERSON] = { BIT(APPROVAL_PENDING), APPROVAL_DECIDED, EITHER, NULL },
	[APPROVAL_BY_PROGRAM] = { BIT(APPROVAL_PENDING), APPROVAL_DECIDED, EITHER, NULL },
	[APPROVAL_BY_RULE] = { BIT(APPROVAL_PENDING), APPROVAL_DECIDED, EITHER, NULL },
	[APPROVAL_BY_EXPIRY] = { BIT(APPROVAL_PENDING), APPROVAL_DECIDED, BIT(APPROVAL_DENY), NULL },
	[APPROVAL_DELIVER] = { BIT(APPROVAL_DECIDED), APPROVAL_DELIVERED, 0, NULL },
	[APPROVAL_WITHDRAW] = { OPEN, APPROVAL_VOID, 0, "withdrawn" },
	[APPROVAL_LOSE] = { OPEN, APPROVAL_VOID, 0, "lost" },
};

bool approval_may(enum approval_state from, enum approval_deed deed)
{
	return deeds[deed].from & BIT(from);
}

bool approval_may_decide(enum approval_deed deed, enum approval_decision decision)
{
	return deeds[deed].decisions & BIT(decision);
}

enum {
	APPROVAL_GET,
	APPROVAL_PREFIX,
	APPROVAL_EACH,
	APPROVAL_EACH_OF,
	APPROVAL_EACH_PENDING,
	APPROVAL_EACH_OPEN,
	APPROVAL_INSERT,
	APPROVAL_RENEW,
	APPROVAL_DECIDE,
	APPROVAL_SET_DELIVERED,
	APPROVAL_SET_VOID,
	APPROVAL_DUE,
	APPROVAL_AWAITED,
	APPROVAL_END_STREAM,
	APPROVAL_STATEMENTS
};

#define COLUMNS \
	"SELECT a.id, a.approval_id, a.session, a.run, s.name, a.claude_session_id, a.cwd, a.request_id, " \
	"a.tool_use_id," \
	" a.tool_name, a.input, a.agent_id, a.suggestions, a.state, a.decision, a.answered_by, " \
	"a.answered_name," \
	" a.edited_input, a.message, a.interrupt, r.rule_id, a.void_reason, a.lease_host, a.lease_boot, " \
	"a.lease_pid," \
	" a.lease_start, a.lease_at, a.asked_at, a.expires_at, a.decided_at, a.delivered_at, a.voided_at" \
	" FROM approval a LEFT JOIN session s ON s.id = a.session LEFT JOIN approval_rule r ON r.id = " \
	"a.rule "
#define IS_OPEN "state IN ('pending', 'decided')"

static const char *const sql[APPROVAL_STATEMENTS] = {
	[APPROVAL_GET] = COLUMNS "WHERE a.approval_id = ?1",
	[APPROVAL_PREFIX] = "SELECT approval_id FROM approval WHERE approval_id BETWEEN ?1 AND ?2 LIMIT ?3",
	[APPROVAL_EACH] = COLUMNS "ORDER BY a.id DESC",
	[APPROVAL_EACH_OF] = COLUMNS "WHERE a.session = ?1 ORDER BY a.id DESC",
	[APPROVAL_EACH_PENDING] = COLUMNS
	"WHERE a.state = 'pending' AND (?1 = 0 OR a.session = ?1) ORDER BY a.id",
	[APPROVAL_EACH_OPEN] = COLUMNS "WHERE a." IS_OPEN " ORDER BY a.id",
	[APPROVAL_INSERT] =
		"INSERT INTO approval(approval_id, session, run, claude_session_id, cwd, request_id,"
		" tool_use_id, tool_name, input, agent_id, suggestions, state, lease_host, lease_boot,"
		" lease_pid, lease_start, lease_at, asked_at, expires_at, rev) VALUES (?1, ?2, ?3, ?4, ?5,"
		" ?6, ?7, ?8, ?9, ?10, ?11, 'pending', ?12, ?13, ?14, ?15, ?16, ?16, ?17, ?18)",
	[APPROVAL_RENEW] = "UPDATE approval SET lease_at = ?2, rev = ?3 WHERE id = ?1 AND " IS_OPEN,
	[APPROVAL_DECIDE] =
		"UPDATE approval SET state = 'decided', decided_at = ?3, rev = ?4, decision = ?5,"
		" answered_by = ?6, answered_name = ?7, edited_input = ?8, message = ?9, interrupt = ?10,"
		" rule = ?11 WHERE id = ?1 AND state = ?2",
	[APPROVAL_SET_DELIVERED] = "UPDATE approval SET state = 'delivered', delivered_at = ?3, rev = ?4"
				   " WHERE id = ?1 AND state = ?2",
	[APPROVAL_SET_VOID] = "UPDATE approval SET state = 'void', voided_at = ?3, rev = ?4, void_reason = ?5"
			      " WHERE id = ?1 AND state = ?2",
	[APPROVAL_DUE] =
		"SELECT approval_id FROM approval WHERE state = 'pending' AND expires_at <= ?1 LIMIT 1",
	[APPROVAL_AWAITED] = "SELECT 1 FROM approval WHERE run = ?1 AND " IS_OPEN " LIMIT 1",
	[APPROVAL_END_STREAM] =
		"UPDATE approval SET state = 'void', voided_at = ?2, rev = ?3, void_reason = 'lost'"
		" WHERE run = (SELECT run FROM stream WHERE id = ?1) AND " IS_OPEN,
};

const struct db_set approval_statements = { DB_APPROVAL, sql, APPROVAL_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &approval_statements, index, st, err);
}

/* ---- Reading ---------------------------------------------------------------- */

/* The table has checks. */
static int index_of(const char *const *names, struct str name)
{
	int i = 0;

	while (names[i + 1] && !str_eq(name, str_of(names[i])))
		i++;
	return i;
}

static void take_answer(const struct stmt *st, struct approval *a)
{
	a->is_decided = !col_null(st, 14);
	if (!a->is_decided)
		return;
	a->decision = (enum approval_decision)index_of(approval_decision_names, col_text(st, 14));
	a->by = (enum approval_deed)index_of(approval_by_names, col_text(st, 15));
	a->by_name = col_text(st, 16);
	a->edited_input = col_text(st, 17);
	a->message = col_text(st, 18);
	a->interrupt = col_int(st, 19) != 0;
	a->has_rule = !col_null(st, 20);
	a->rule = col_uuid(st, 20);
}

/* Borrows from the row. */
static struct approval approval_of(const struct stmt *st)
{
	struct approval a = {
		.row = col_int(st, 0),
		.id = col_uuid(st, 1),
		.session = col_int(st, 2),
		.run = col_int(st, 3),
		.session_name = col_text(st, 4),
		.has_claude_session = !col_null(st, 5),
		.claude_session = col_uuid(st, 5),
		.cwd = col_text(st, 6),
		.request_id = col_text(st, 7),
		.tool_use_id = col_text(st, 8),
		.tool_name = col_text(st, 9),
		.input = col_text(st, 10),
		.agent_id = col_text(st, 11),
		.suggestions = col_text(st, 12),
		.state = (enum approval_state)index_of(approval_state_names, col_text(st, 13)),
		.void_reason = col_text(st, 21),
		.asker = { col_text(st, 22), col_text(st, 23), col_int(st, 24), col_int(st, 25),
			   col_int(st, 26) },
		.asked_at = col_int(st, 27),
		.expires_at = col_int(st, 28),
		.decided_at = col_int(st, 29),
		.delivered_at = col_int(st, 30),
		.voided_at = col_int(st, 31),
	};

	take_answer(st, &a);
	return a;
}

static void keep(struct approval *a, struct arena *mem)
{
	struct str *texts[] = { &a->session_name, &a->cwd,	    &a->request_id, &a->tool_use_id,
				&a->tool_name,	  &a->input,	    &a->agent_id,   &a->suggestions,
				&a->by_name,	  &a->edited_input, &a->message,    &a->void_reason,
				&a->asker.host,	  &a->asker.boot };

	for (size_t i = 0; i < COUNT(texts); i++)
		if (texts[i]->p)
			*texts[i] = arena_str(mem, *texts[i]);
}

enum status approval_get(struct store *s, const struct uuid *id, struct arena *mem, struct approval *out,
			 struct err *err)
{
	char text[UUID_TEXT + 1];
	bool found;
	STMT st = { 0 };

	if (use(s, APPROVAL_GET, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	uuid_print(id, text);
	if (!found)
		return err_fail(err, STATUS_NOT_FOUND, "there is no approval %s", text);
	*out = approval_of(&st);
	keep(out, mem);
	return STATUS_OK;
}

enum status approval_find(struct store *s, struct str text, struct arena *mem, struct approval *out,
			  struct err *err)
{
	struct uuid id;

	if (tree_find_prefix(s, &approval_statements, APPROVAL_PREFIX, "approval", text, &id, err))
		return err_failed(err->status);
	return approval_get(s, &id, mem, out, err);
}

static enum status each(struct stmt *st, approval_fn *fn, void *ctx, struct err *err)
{
	enum step step = STEP_DONE;
	bool go_on = true;

	while (go_on && (step = stmt_step(st, err)) == STEP_ROW) {
		struct approval a = approval_of(st);

		if (fn(ctx, &a, &go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status approval_each_pending(struct store *s, int64_t session, approval_fn *fn, void *ctx,
				  struct err *err)
{
	STMT st = { 0 };

	if (use(s, APPROVAL_EACH_PENDING, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	return each(&st, fn, ctx, err);
}

enum status approval_each_open(struct store *s, approval_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	return use(s, APPROVAL_EACH_OPEN, &st, err) ? err_failed(err->status) : each(&st, fn, ctx, err);
}

enum status approval_each(struct store *s, int64_t session, approval_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, session ? APPROVAL_EACH_OF : APPROVAL_EACH, &st, err))
		return err_failed(err->status);
	if (session)
		stmt_int(&st, 1, session);
	return each(&st, fn, ctx, err);
}

/* ---- Asking ----------------------------------------------------------------- */

static void bind_lease(struct stmt *st, int at, const struct lease *l)
{
	stmt_text(st, at, l->host);
	stmt_text(st, at + 1, l->boot);
	stmt_int(st, at + 2, l->pid);
	stmt_int(st, at + 3, l->start);
}

static enum status insert(struct store *s, const struct approval_new *what, struct uuid *id, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (uuid_random(id, err) || db_rev(s, &rev, err) || use(s, APPROVAL_INSERT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_int_or_null(&st, 2, what->session, !what->session);
	stmt_int_or_null(&st, 3, what->run, !what->run);
	stmt_uuid_or_null(&st, 4, what->claude_session);
	stmt_text_or_null(&st, 5, what->cwd);
	stmt_text(&st, 6, what->request_id);
	stmt_text_or_null(&st, 7, what->tool_use_id);
	stmt_text(&st, 8, what->tool_name);
	stmt_text(&st, 9, what->input);
	stmt_text_or_null(&st, 10, what->agent_id);
	stmt_text_or_null(&st, 11, what->suggestions);
	bind_lease(&st, 12, &what->asker);
	stmt_int(&st, 16, store_now(s));
	stmt_int_or_null(&st, 17, what->expires_at, !what->expires_at);
	stmt_int(&st, 18, rev);
	return stmt_run(&st, err);
}

enum status approval_ask(struct store *s, const struct approval_new *what, struct arena *mem,
			 struct approval *out, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct uuid id;

	if (live_begin_synced(s, &txn, true, err))
		return err_failed(err->status);
	if (insert(s, what, &id, err))
		return err->status == STATUS_CONFLICT
			       ? err_fail(err, STATUS_CONFLICT, "this run has asked this question already")
			       : err_failed(err->status);
	if (approval_get(s, &id, mem, out, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status approval_renew(struct store *s, const struct approval *a, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, APPROVAL_RENEW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, a->row);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

/* ---- The machine ------------------------------------------------------------ */

/* Why a deed comes too late. */
static enum status too_late(const struct approval *a, struct err *err)
{
	char id[UUID_TEXT + 1];

	uuid_print(&a->id, id);
	if (a->state == APPROVAL_VOID)
		return err_fail(err, STATUS_CONFLICT, "approval %s is void: %s", id,
				str_eq(a->void_reason, STR("withdrawn"))
					? "who asked does not want to know any more"
					: "who asked is gone");
	if (!a->is_decided)
		return err_fail(err, STATUS_CONFLICT, "approval %s has not been answered", id);
	return err_fail(err, STATUS_CONFLICT, "approval %s has been answered: %s, by %s%s%.*s", id,
			approval_decision_names[a->decision], approval_by_names[a->by],
			a->by_name.n ? " " : "", (int)size_min(a->by_name.n, LIMIT_OWNER),
			a->by_name.p ? a->by_name.p : "");
}

static void bind_answer(struct stmt *st, const struct approval_answer *answer)
{
	stmt_text(st, 5, str_of(approval_decision_names[answer->decision]));
	stmt_text(st, 6, str_of(approval_by_names[answer->by]));
	stmt_text_or_null(st, 7, answer->by_name);
	stmt_text_or_null(st, 8, answer->edited_input);
	stmt_text_or_null(st, 9, answer->message);
	stmt_int(st, 10, answer->interrupt);
	stmt_int_or_null(st, 11, answer->rule, !answer->rule);
}

/* Over the state that was read under the lock. */
static enum status write_state(struct store *s, const struct approval *a, enum approval_deed deed,
			       const struct approval_answer *answer, struct err *err)
{
	static const int statements[APPROVAL_STATES] = { [APPROVAL_DECIDED] = APPROVAL_DECIDE,
							 [APPROVAL_DELIVERED] = APPROVAL_SET_DELIVERED,
							 [APPROVAL_VOID] = APPROVAL_SET_VOID };
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, statements[deeds[deed].to], &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, a->row);
	stmt_text(&st, 2, str_of(approval_state_names[a->state]));
	stmt_int(&st, 3, store_now(s));
	stmt_int(&st, 4, rev);
	if (answer)
		bind_answer(&st, answer);
	if (deeds[deed].void_reason)
		stmt_text(&st, 5, str_of(deeds[deed].void_reason));
	return stmt_run_one(&st, "an approval", err);
}

static bool is_due(const struct store *s, const struct approval *a)
{
	return a->state == APPROVAL_PENDING && a->expires_at && a->expires_at <= store_now(s);
}

/* The only way in which one changes. `answer` is for those who decide; expiry has its own. */
static enum status change(struct store *s, struct approval *a, enum approval_deed deed,
			  const struct approval_answer *answer, struct arena *mem, struct err *err)
{
	const struct approval_answer nobody = { .by = APPROVAL_BY_EXPIRY,
						.decision = APPROVAL_DENY,
						.message = STR("nobody answered in time") };
	struct txn txn CLEANUP(txn_end) = { 0 };
	enum approval_deed done = deed;
	bool can;

	if (live_begin_synced(s, &txn, true, err) || approval_get(s, &a->id, mem, a, err))
		return err_failed(err->status);
	if (deeds[deed].decisions && is_due(s, a)) {
		done = APPROVAL_BY_EXPIRY;
		answer = &nobody;
	}
	can = approval_may(a->state, done) && (answer || !deeds[done].decisions);
	if (can && (write_state(s, a, done, answer, err) || approval_get(s, &a->id, mem, a, err)))
		return err_failed(err->status);
	if (txn_commit(&txn, err))
		return err_failed(err->status);
	return can && done == deed ? STATUS_OK : too_late(a, err);
}

static enum status check_answer(const struct approval *a, const struct approval_answer *w, struct err *err)
{
	bool person = w->by == APPROVAL_BY_PERSON || w->by == APPROVAL_BY_PROGRAM;

	if (w->by == APPROVAL_BY_EXPIRY || !approval_may_decide(w->by, w->decision) ||
	    (w->rule != 0) != (w->by == APPROVAL_BY_RULE))
		return err_fail(err, STATUS_INTERNAL, "nobody may answer so");
	if (w->by == APPROVAL_BY_PROGRAM && !a->session)
		return err_fail(err, STATUS_DENIED,
				"a program may answer only for a session that has a name here");
	if (w->edited_input.p && (w->decision != APPROVAL_ALLOW || !person))
		return err_fail(err, STATUS_USAGE, "only who allows a tool to run can change its input");
	if (w->interrupt && w->decision != APPROVAL_DENY)
		return err_fail(err, STATUS_USAGE, "only who denies can end the turn with it");
	return STATUS_OK;
}

enum status approval_decide(struct store *s, struct approval *a, const struct approval_answer *answer,
			    struct arena *mem, struct err *err)
{
	if (check_answer(a, answer, err))
		return err_failed(err->status);
	return change(s, a, answer->by, answer, mem, err);
}

enum status approval_do(struct store *s, struct approval *a, enum approval_deed deed, struct arena *mem,
			struct err *err)
{
	if (deeds[deed].decisions)
		return err_fail(err, STATUS_INTERNAL, "a decision needs somebody who makes it");
	return change(s, a, deed, NULL, mem, err);
}

static enum status find_due(struct store *s, struct uuid *id, bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, APPROVAL_DUE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, store_now(s));
	if (stmt_found(&st, found, err))
		return err_failed(err->status);
	if (*found)
		*id = col_uuid(&st, 0);
	return STATUS_OK;
}

enum status approval_expire(struct store *s, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval a;
	bool found;

	for (;;) {
		if (find_due(s, &a.id, &found, err))
			return err_failed(err->status);
		if (!found)
			return STATUS_OK;
		/* Somebody else may be doing the same. */
		if (change(s, &a, APPROVAL_BY_EXPIRY, NULL, &mem, err) && err->status != STATUS_CONFLICT)
			return err_failed(err->status);
	}
}

enum status approval_is_awaited(struct store *s, int64_t run, bool *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, APPROVAL_AWAITED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, run);
	return stmt_found(&st, out, err);
}

enum status approval_end_stream(struct store *s, int64_t stream, struct err *err)
{
	int64_t rev;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || use(s, APPROVAL_END_STREAM, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, stream);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	return stmt_run(&st, err);
}
