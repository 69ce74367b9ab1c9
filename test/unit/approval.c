/*
 * Approvals in the store: every way in which a question can go, and no other.
 */
#include "approvals.h"
#include "base/clock.h"
#include "store/db.h"
#include "store/rule.h"
#include "t.h"

#include <pthread.h>
#include <string.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

enum { MORNING = 1000, EVENING = 9000, NIGHT = 20000 }; /* what expires does in the evening */

static int64_t test_now(void *ctx)
{
	return *(int64_t *)ctx;
}

static enum status open_store(struct t *t, const char *name, int64_t *now, struct store **out,
			      struct err *err)
{
	struct store_options o = { .create = true };
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/%s", t_tmpdir(t), name);
	o.path = path;
	if (now)
		o.clock = (struct clock){ test_now, now };
	return store_open(&o, out, err);
}

static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

/* ---- The machine ---------------------------------------------------------------- */

/* Written down a second time, for comparison: what follows each state by each deed, in the order of the
 * deeds. p, d, D and v are the states, - is refused. */
static const char *const wanted[APPROVAL_STATES] = {
	[APPROVAL_PENDING] = "dddd-vv",
	[APPROVAL_DECIDED] = "----Dvv",
	[APPROVAL_DELIVERED] = "-------",
	[APPROVAL_VOID] = "-------",
};

struct move {
	enum approval_deed deed;
	enum approval_decision decision; /* of those who decide */
};

enum { LONGEST = 4, MOVES = 2 * APPROVAL_ANSWERERS + 3, PLACES = 64 };

/* A kind of row that can come about, and one way to it. */
struct place {
	enum approval_state state;
	bool is_decided;
	enum approval_decision decision;
	enum approval_deed by;
	struct move way[LONGEST];
	int length;
};

struct walk {
	struct store *store;
	int64_t *now;
	int64_t session, rule; /* rows */
	struct arena mem;
	struct place places[PLACES];
	int count, moves, refused;
};

static struct move move_of(int n)
{
	if (n < 2 * APPROVAL_ANSWERERS)
		return (struct move){ (enum approval_deed)(n / 2), (enum approval_decision)(n % 2) };
	return (struct move){ (enum approval_deed)(n - APPROVAL_ANSWERERS), APPROVAL_ALLOW };
}

static enum status do_move(struct walk *w, struct approval *a, const struct move *m, struct err *err)
{
	struct approval_answer answer = test_answer(m->deed, m->decision);
	enum approval_state before = a->state;
	enum status status;

	if (m->deed == APPROVAL_BY_EXPIRY && m->decision == APPROVAL_DENY) {
		*w->now = NIGHT;
		status = approval_expire(w->store, err);
		*w->now = MORNING;
		if (status == STATUS_OK)
			status = approval_get(w->store, &a->id, &w->mem, a, err);
		return status == STATUS_OK && a->state == before ? STATUS_CONFLICT : status;
	}
	answer.rule = m->deed == APPROVAL_BY_RULE ? w->rule : 0;
	return m->deed < APPROVAL_ANSWERERS ? approval_decide(w->store, a, &answer, &w->mem, err)
					    : approval_do(w->store, a, m->deed, &w->mem, err);
}

static enum status go(struct walk *w, const struct place *p, struct approval *a, struct err *err)
{
	struct approval_new question = test_question();

	question.session = w->session;
	question.expires_at = EVENING;
	if (approval_ask(w->store, &question, &w->mem, a, err))
		return err_failed(err->status);
	for (int i = 0; i < p->length; i++)
		if (do_move(w, a, &p->way[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* Who has said yes on the way, and only these may have. */
static bool somebody_allowed(const struct place *p)
{
	for (int i = 0; i < p->length; i++)
		if (p->way[i].deed <= APPROVAL_BY_RULE && p->way[i].decision == APPROVAL_ALLOW)
			return true;
	return false;
}

static void note_place(struct t *t, struct walk *w, const struct place *from, const struct move *m,
		       const struct approval *a)
{
	struct place p = *from;

	for (int i = 0; i < w->count; i++)
		if (w->places[i].state == a->state && w->places[i].is_decided == a->is_decided &&
		    (!a->is_decided || (w->places[i].decision == a->decision && w->places[i].by == a->by)))
			return;
	NEED(w->count < PLACES && p.length < LONGEST);
	p.state = a->state;
	p.is_decided = a->is_decided;
	p.decision = a->decision;
	p.by = a->by;
	p.way[p.length++] = *m;
	if (a->is_decided && a->decision == APPROVAL_ALLOW)
		CHECK(somebody_allowed(&p));
	w->places[w->count++] = p;
}

static void try_move(struct t *t, struct walk *w, const struct place *from, const struct move *m)
{
	char next = wanted[from->state][m->deed];
	struct approval a, before;
	enum status status;
	struct err err;

	OK(go(w, from, &a, &err));
	EQ(a.state, from->state);
	before = a;
	status = do_move(w, &a, m, &err);
	if (m->deed == APPROVAL_BY_EXPIRY && m->decision == APPROVAL_ALLOW)
		next = '-'; /* nobody can say so */
	EQ(status == STATUS_OK, next != '-');
	OK(approval_get(w->store, &a.id, &w->mem, &a, &err));
	EQ(a.state, next == '-' ? (int)before.state : (int)(strchr("pdDv", next) - "pdDv"));
	if (before.is_decided)
		CHECK(a.is_decided && a.decision == before.decision && a.by == before.by &&
		      a.decided_at == before.decided_at);
	if (status != STATUS_OK)
		w->refused++;
	w->moves++;
	note_place(t, w, from, m, &a);
}

static enum status walk_begin(struct walk *w, struct err *err)
{
	struct rule rule = { .tool = STR("Bash"), .decision = RULE_ALLOW };

	if (test_session(w->store, "one", &w->session, err) || rule_add(w->store, &rule, err))
		return err_failed(err->status);
	w->rule = rule.row;
	w->count = 1; /* just asked */
	return STATUS_OK;
}

TEST(no_way_leads_to_an_approval_that_nobody_gave)
{
	int64_t now = MORNING;
	STORE *s = NULL;
	struct walk w = { .now = &now, .mem = ARENA_INIT };
	struct err err;

	OK(open_store(t, "a.db", &now, &s, &err));
	w.store = s;
	OK(walk_begin(&w, &err));
	for (int i = 0; i < w.count; i++)
		for (int n = 0; n < MOVES; n++) {
			struct place from = w.places[i];
			struct move m = move_of(n);

			try_move(t, &w, &from, &m);
		}
	/* pending; seven decisions, as many delivered; void with each of them and without */
	EQ(w.count, 1 + 7 + 7 + 8);
	EQ(w.moves, w.count * MOVES);
	CHECK(w.refused > 0);
	EQ(ask(s, "SELECT count(*) FROM approval WHERE decision = 'allow' AND"
		  " answered_by NOT IN ('person', 'program', 'rule')"),
	   0);
	EQ(ask(s, "SELECT count(*) FROM approval WHERE (decision IS NULL) <> (answered_by IS NULL)"), 0);
	arena_release(&w.mem);
}

TEST(the_table_says_the_same_as_the_list_in_this_test)
{
	for (enum approval_state from = 0; from < APPROVAL_STATES; from++)
		for (enum approval_deed deed = 0; deed < APPROVAL_DEEDS; deed++)
			EQ(approval_may(from, deed), wanted[from][deed] != '-');
	for (enum approval_deed deed = 0; deed < APPROVAL_DEEDS; deed++) {
		EQ(approval_may_decide(deed, APPROVAL_ALLOW), deed <= APPROVAL_BY_RULE);
		EQ(approval_may_decide(deed, APPROVAL_DENY), deed <= APPROVAL_BY_EXPIRY);
	}
}

TEST(the_database_refuses_an_approval_that_nobody_gave_whatever_the_code_does)
{
	static const char *const wrong[] = {
		"state = 'decided'",
		"state = 'delivered', delivered_at = 1",
		"state = 'decided', decision = 'allow'",
		"state = 'decided', decision = 'allow', decided_at = 1",
		"state = 'decided', decision = 'allow', decided_at = 1, answered_by = 'expiry'",
		"state = 'decided', decision = 'allow', decided_at = 1, answered_by = 'rule'",
		"state = 'decided', decision = 'allow', decided_at = 1, answered_by = 'program'",
		"state = 'decided', decision = 'allow', decided_at = 1, answered_by = 'nobody'",
		"state = 'decided', decision = 'maybe', decided_at = 1, answered_by = 'person'",
		"state = 'pending', decision = 'allow', decided_at = 1, answered_by = 'person'",
		("decision = 'deny', state = 'decided', decided_at = 1, answered_by = 'person', edited_input "
		 "= ''"),
		"state = 'delivered', decision = 'allow', decided_at = 1, answered_by = 'person'",
		"state = 'void'",
		"state = 'done'",
	};
	STORE *s = NULL;
	struct approval_new question = test_question();
	struct approval a;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", NULL, &s, &err));
	OK(approval_ask(s, &question, &mem, &a, &err));
	for (size_t i = 0; i < COUNT(wrong); i++) {
		char sql[256];

		snprintf(sql, sizeof sql, "UPDATE approval SET %s", wrong[i]);
		if ((sqlite3_exec(s->db, sql, NULL, NULL, NULL) & 0xff) != SQLITE_CONSTRAINT)
			t_fail(t, __FILE__, __LINE__, "taken: %s", wrong[i]);
	}
	EQ(sqlite3_exec(s->db,
			"UPDATE approval SET state = 'decided', decision = 'allow', decided_at = 1, "
			"answered_by = 'person'",
			NULL, NULL, NULL),
	   SQLITE_OK);
}

/* ---- The record ------------------------------------------------------------------- */

TEST(a_question_is_kept_as_it_was_asked_and_as_it_was_answered)
{
	int64_t now = MORNING;
	STORE *s = NULL;
	struct approval_answer answer = test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW);
	struct approval_new question = test_question();
	struct uuid claude;
	struct approval a, b;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &now, &s, &err));
	OK(uuid_random(&claude, &err));
	question.claude_session = &claude;
	question.tool_use_id = STR("toolu_1");
	question.agent_id = STR("a1");
	question.suggestions = STR("[1]");
	OK(approval_ask(s, &question, &mem, &a, &err));
	CHECK(a.state == APPROVAL_PENDING && !a.is_decided && a.has_claude_session);
	EQS(a.input, question.input);
	EQS(a.suggestions, STR("[1]"));
	EQS(approval_input(&a), question.input);
	now++;
	answer.by_name = STR("Ada");
	answer.edited_input = STR("{\"command\":\"touch b\"}");
	OK(approval_decide(s, &a, &answer, &mem, &err));
	now++;
	OK(approval_do(s, &a, APPROVAL_DELIVER, &mem, &err));
	OK(approval_get(s, &a.id, &mem, &b, &err));
	CHECK(b.state == APPROVAL_DELIVERED && b.is_decided && b.decision == APPROVAL_ALLOW &&
	      b.by == APPROVAL_BY_PERSON);
	EQS(b.by_name, STR("Ada"));
	EQS(b.input, question.input);
	EQS(approval_input(&b), answer.edited_input);
	EQS(b.tool_use_id, STR("toolu_1"));
	EQS(b.agent_id, STR("a1"));
	CHECK(uuid_eq(&b.claude_session, &claude) && !b.session && !b.run && !b.session_name.p);
	EQ(b.asked_at, MORNING);
	EQ(b.decided_at, MORNING + 1);
	EQ(b.delivered_at, MORNING + 2);
}

TEST(who_comes_second_is_told_who_was_first)
{
	STORE *s = NULL;
	struct approval_answer yes = test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW);
	struct approval_answer no = test_answer(APPROVAL_BY_PERSON, APPROVAL_DENY);
	struct approval_new question = test_question();
	struct approval a, stale;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", NULL, &s, &err));
	OK(approval_ask(s, &question, &mem, &a, &err));
	stale = a;
	yes.by_name = STR("Ada");
	OK(approval_decide(s, &a, &yes, &mem, &err));
	EQ(approval_decide(s, &stale, &no, &mem, &err), STATUS_CONFLICT);
	CHECK(strstr(err.text, "allow, by person Ada"));
	CHECK(stale.is_decided && stale.decision == APPROVAL_ALLOW);
	OK(approval_do(s, &a, APPROVAL_WITHDRAW, &mem, &err));
	EQ(approval_do(s, &a, APPROVAL_DELIVER, &mem, &err), STATUS_CONFLICT);
	CHECK(strstr(err.text, "void"));
}

TEST(answers_that_make_no_sense_are_refused_and_change_nothing)
{
	STORE *s = NULL;
	struct approval_answer wrong[] = {
		{ .by = APPROVAL_BY_PROGRAM, .decision = APPROVAL_ALLOW }, /* its session has no name */
		{ .by = APPROVAL_BY_EXPIRY, .decision = APPROVAL_DENY },   /* the clock says that */
		{ .by = APPROVAL_BY_RULE, .decision = APPROVAL_ALLOW },	   /* which? */
		{ .by = APPROVAL_BY_PERSON, .decision = APPROVAL_ALLOW, .rule = 1 },
		{ .by = APPROVAL_DELIVER, .decision = APPROVAL_ALLOW },
		{ .by = APPROVAL_BY_PERSON, .decision = APPROVAL_DENY, .edited_input = STR("{}") },
		{ .by = APPROVAL_BY_PERSON, .decision = APPROVAL_ALLOW, .interrupt = true },
	};
	struct approval_new question = test_question();
	struct approval a;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", NULL, &s, &err));
	OK(approval_ask(s, &question, &mem, &a, &err));
	for (size_t i = 0; i < COUNT(wrong); i++)
		CHECK(approval_decide(s, &a, &wrong[i], &mem, &err) != STATUS_OK);
	EQ(approval_do(s, &a, APPROVAL_BY_PERSON, &mem, &err), STATUS_INTERNAL);
	EQ(ask(s, "SELECT count(*) FROM approval WHERE state = 'pending'"), 1);
}

TEST(what_is_too_late_is_denied_even_if_nobody_watched_the_clock)
{
	int64_t now = MORNING;
	STORE *s = NULL;
	struct approval_answer yes = test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW);
	struct approval_new question = test_question();
	struct approval a, never;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", &now, &s, &err));
	OK(approval_ask(s, &question, &mem, &never, &err));
	question.expires_at = EVENING;
	OK(approval_ask(s, &question, &mem, &a, &err));
	now = EVENING;
	EQ(approval_decide(s, &a, &yes, &mem, &err), STATUS_CONFLICT);
	CHECK(strstr(err.text, "deny, by expiry"));
	CHECK(a.state == APPROVAL_DECIDED && a.decision == APPROVAL_DENY && a.by == APPROVAL_BY_EXPIRY);
	EQS(a.message, STR("nobody answered in time"));
	now = INT64_MAX;
	OK(approval_expire(s, &err));
	OK(approval_decide(s, &never, &yes, &mem, &err));
}

TEST(a_run_asks_a_question_once_and_its_end_makes_all_open_ones_void)
{
	STORE *s = NULL;
	struct approval_answer yes = test_answer(APPROVAL_BY_PROGRAM, APPROVAL_ALLOW);
	struct approval_new question = test_question();
	struct approval a, b, c;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", NULL, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	question.session = run.session;
	question.run = run.row;
	OK(approval_ask(s, &question, &mem, &a, &err));
	EQS(a.session_name, STR("one"));
	EQ(approval_ask(s, &question, &mem, &b, &err), STATUS_CONFLICT);
	question.request_id = STR("second");
	OK(approval_ask(s, &question, &mem, &b, &err));
	question.request_id = STR("third");
	OK(approval_ask(s, &question, &mem, &c, &err));
	OK(approval_decide(s, &b, &yes, &mem, &err));
	OK(approval_decide(s, &c, &yes, &mem, &err));
	OK(approval_do(s, &c, APPROVAL_DELIVER, &mem, &err));
	OK(test_finish(s, &run.writer, STREAM_INTERRUPTED, &err));
	OK(approval_get(s, &a.id, &mem, &a, &err));
	OK(approval_get(s, &b.id, &mem, &b, &err));
	OK(approval_get(s, &c.id, &mem, &c, &err));
	CHECK(a.state == APPROVAL_VOID && !a.is_decided && b.state == APPROVAL_VOID && b.is_decided);
	EQS(b.void_reason, STR("lost"));
	EQ(c.state, APPROVAL_DELIVERED);
}

static enum status count_one(void *ctx, const struct approval *a, bool *go_on, struct err *err)
{
	(void)a;
	(void)go_on;
	(void)err;
	++*(int *)ctx;
	return STATUS_OK;
}

TEST(lists_have_what_waits_of_a_session_or_of_all)
{
	STORE *s = NULL;
	struct approval_answer yes = test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW);
	struct approval_new question = test_question();
	int pending = 0, own = 0, open = 0, all = 0;
	struct approval a;
	struct err err;
	ARENA;

	OK(open_store(t, "a.db", NULL, &s, &err));
	OK(approval_each_pending(s, 0, count_one, &pending, &err)); /* a store that never had one */
	EQ(ask(s, "PRAGMA user_version"), STORE_ARCHIVE);
	OK(approval_ask(s, &question, &mem, &a, &err));
	OK(approval_ask(s, &question, &mem, &a, &err));
	OK(approval_decide(s, &a, &yes, &mem, &err));
	OK(test_session(s, "one", &question.session, &err));
	OK(approval_ask(s, &question, &mem, &a, &err));
	OK(approval_each_pending(s, 0, count_one, &pending, &err));
	OK(approval_each_pending(s, question.session, count_one, &own, &err));
	OK(approval_each_open(s, count_one, &open, &err));
	OK(approval_each(s, 0, count_one, &all, &err));
	EQ(pending, 2);
	EQ(own, 1);
	EQ(open, 3);
	EQ(all, 3);
	EQ(approval_find(s, STR("00000000-0000-4000-8000-000000000000"), &mem, &a, &err), STATUS_NOT_FOUND);
}

/* ---- Many at once ------------------------------------------------------------------- */

enum { QUESTIONS = 1000 };

struct answerer {
	struct store *store;
	const struct uuid *ids;
	struct approval_answer answer;
	bool won[QUESTIONS];
	int wins, losses, failures;
};

static void *answer_all(void *ctx)
{
	struct answerer *w = ctx;

	for (int i = 0; i < QUESTIONS; i++) {
		struct approval a = { .id = w->ids[i] };
		struct err err;
		enum status status;
		ARENA;

		status = approval_decide(w->store, &a, &w->answer, &mem, &err);
		w->won[i] = status == STATUS_OK;
		w->wins += status == STATUS_OK;
		w->losses += status == STATUS_CONFLICT && a.is_decided && a.decision != w->answer.decision;
		w->failures += status != STATUS_OK && status != STATUS_CONFLICT;
	}
	return NULL;
}

static enum status ask_many(struct store *s, struct uuid *ids, struct err *err)
{
	struct approval_new question = test_question();
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct approval a;
	ARENA;

	if (store_reach(s, STORE_LIVE, err) || txn_begin(s, &txn, err))
		return err_failed(err->status);
	for (int i = 0; i < QUESTIONS; i++) {
		if (approval_ask(s, &question, &mem, &a, err))
			return err_failed(err->status);
		ids[i] = a.id;
	}
	return txn_commit(&txn, err);
}

TEST(of_a_thousand_double_answers_one_each_wins_and_the_other_is_told)
{
	static struct uuid ids[QUESTIONS];
	static struct answerer yes, no;
	STORE *s = NULL, *one = NULL, *two = NULL;
	pthread_t first, second;
	struct err err;

	OK(open_store(t, "a.db", NULL, &s, &err));
	OK(ask_many(s, ids, &err));
	OK(store_open_beside(s, &one, &err));
	OK(store_open_beside(s, &two, &err));
	yes = (struct answerer){ .store = one,
				 .ids = ids,
				 .answer = test_answer(APPROVAL_BY_PERSON, APPROVAL_ALLOW) };
	no = (struct answerer){ .store = two,
				.ids = ids,
				.answer = test_answer(APPROVAL_BY_PERSON, APPROVAL_DENY) };
	NEED(pthread_create(&first, NULL, answer_all, &yes) == 0);
	NEED(pthread_create(&second, NULL, answer_all, &no) == 0);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	EQ(yes.failures + no.failures, 0);
	EQ(yes.wins + no.wins, QUESTIONS);
	EQ(yes.losses + no.losses, QUESTIONS);
	EQ(ask(s, "SELECT count(*) FROM approval WHERE decision = 'allow'"), yes.wins);
	for (int i = 0; i < QUESTIONS; i++) {
		struct approval a;
		ARENA;

		CHECK(yes.won[i] != no.won[i]);
		OK(approval_get(s, &ids[i], &mem, &a, &err));
		EQ(a.decision, yes.won[i] ? APPROVAL_ALLOW : APPROVAL_DENY);
	}
}

TESTS(CASE(no_way_leads_to_an_approval_that_nobody_gave),
      CASE(the_table_says_the_same_as_the_list_in_this_test),
      CASE(the_database_refuses_an_approval_that_nobody_gave_whatever_the_code_does),
      CASE(a_question_is_kept_as_it_was_asked_and_as_it_was_answered),
      CASE(who_comes_second_is_told_who_was_first),
      CASE(answers_that_make_no_sense_are_refused_and_change_nothing),
      CASE(what_is_too_late_is_denied_even_if_nobody_watched_the_clock),
      CASE(a_run_asks_a_question_once_and_its_end_makes_all_open_ones_void),
      CASE(lists_have_what_waits_of_a_session_or_of_all),
      CASE(of_a_thousand_double_answers_one_each_wins_and_the_other_is_told))
