/*
 * Who may say yes to what: every caller, every way to let a tool run, for every session; told by the methods,
 * and held against what is in the store afterwards.
 */
#include "approvals.h"
#include "hub/activations.h"
#include "hub/hub.h"
#include "live/inside.h"
#include "live/lease.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

#define OWN_CLIENT   "11110000-0000-4000-8000-000000000001"
#define OTHER_CLIENT "22220000-0000-4000-8000-000000000002"

enum caller {
	PERSON,
	PROGRAM,
	STARTER,  /* a program that may only start agents */
	BELOW,	  /* a process below the agent of "own" that says it is a person */
	VARIABLE, /* one that has the agent's variables */
	CALLERS
};

enum whose { OWN, OTHER, NOBODYS, WHOSES };

/* What it is done to is a question, a rule that denies, or a session. */
static const struct deed {
	const char *method, *to, *more;
	bool never; /* a rule denies it, whoever does it */
} deeds[] = {
	{ "loopback.respond", "approval", ",\"decision\":\"allow\"", false },
	{ "loopback.respond", "approval", ",\"decision\":\"allow\",\"input\":{\"command\":\"ls\"}", false },
	{ "loopback.respond", "approval", ",\"decision\":\"allow\",\"input\":{\"command\":\"rm x\"}", true },
	{ "loopback.respond", "approval", ",\"decision\":\"allow\",\"always\":\"session\"", false },
	{ "loopback.rule_add", "session", ",\"rule\":\"Bash\",\"decision\":\"allow\"", false },
	{ "loopback.rule_delete", "rule", "", false },
	{ "loopback.rule_add", "rule", ",\"delete\":true", false },
	{ "claudecode.set_mode", "session", ",\"mode\":\"acceptEdits\"", false },
};

struct world {
	char path[LIMIT_PATH];
	int64_t sessions[WHOSES];
	struct uuid asked[WHOSES], denying[WHOSES];
};

static enum status open_it(void *ctx, bool make, struct store **out, struct err *err)
{
	struct world *w = ctx;

	return store_open(&(struct store_options){ .path = w->path, .create = make }, out, err);
}

static enum status ignore(void *ctx, struct str json, struct err *err)
{
	(void)ctx;
	(void)json;
	(void)err;
	return STATUS_OK;
}

/* ---- A store with a question and a rule that denies for each ------------------------------ */

static enum status ask_in(struct world *w, struct store *s, enum whose whose, struct err *err)
{
	struct approval_new q = test_question();
	struct rule deny = { .tool = STR("Bash"), .pattern = STR("rm *"), .decision = RULE_DENY };
	struct uuid client;
	struct approval a;
	ARENA;

	uuid_parse(whose == OWN ? STR(OWN_CLIENT) : STR(OTHER_CLIENT), &client);
	q.session = deny.session = w->sessions[whose];
	q.claude_session = &client;
	if (lease_own(s, &mem, &q.asker, err) || approval_ask(s, &q, &mem, &a, err) ||
	    rule_add(s, &deny, err))
		return err_failed(err->status);
	w->asked[whose] = a.id;
	w->denying[whose] = deny.id;
	return STATUS_OK;
}

static enum status make_world(struct world *w, struct store *s, struct err *err)
{
	struct named_head head = { .has_session = true };
	struct lease own;
	struct run run;
	ARENA;

	uuid_parse(STR(OWN_CLIENT), &head.session);
	if (test_run(s, "own", &mem, &run, err) || lease_own(s, &mem, &own, err) ||
	    run_take(s, &run, &own, err) || test_session(s, "other", &w->sessions[OTHER], err) ||
	    named_set_head(s, run.session, &head, err))
		return err_failed(err->status);
	w->sessions[OWN] = run.session;
	for (enum whose i = OWN; i < WHOSES; i++)
		if (ask_in(w, s, i, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Doing it ------------------------------------------------------------------------------ */

static void print_params(char out[1000], const struct world *w, const struct deed *d, enum whose whose)
{
	static const char *const names[WHOSES] = { "own", "other", NULL };
	char id[UUID_TEXT + 1];

	uuid_print(strcmp(d->to, "rule") == 0 ? &w->denying[whose] : &w->asked[whose], id);
	snprintf(out, 1000, "{\"%s\":\"%s\"%s}", d->to, strcmp(d->to, "session") == 0 ? names[whose] : id,
		 d->more);
}

static enum status do_it(struct world *w, enum caller caller, const struct deed *d, enum whose whose,
			 struct err *err)
{
	atomic_bool cancel = true; /* nobody is here who takes commands: they are given, and not waited for */
	char params[1000];
	struct hub_caller who = {
		.sink = { .item = ignore },
		.scopes = caller == STARTER ? 1u << SCOPE_READ | 1u << SCOPE_WRITE | 1u << SCOPE_DRIVE : ~0u,
		.person = caller == PERSON || caller == BELOW,
		.open_store = open_it,
		.cancel = &cancel,
		.ctx = w,
	};

	print_params(params, w, d, whose);
	return hub_call(&arbor_hub, str_of(d->method), str_of(params), &who, err);
}

/* In a process of its own where the processes above count. */
static enum status do_as(struct t *t, struct world *w, enum caller caller, const struct deed *d,
			 enum whose whose)
{
	struct err err = { 0 };
	enum status status;
	int how;
	pid_t pid;

	if (caller != BELOW) {
		if (caller == VARIABLE)
			setenv("CLAUDE_CODE_SESSION_ID", OWN_CLIENT, 1);
		status = do_it(w, caller, d, whose, &err);
		unsetenv("CLAUDE_CODE_SESSION_ID");
		return status;
	}
	pid = fork();
	if (pid == 0)
		_exit((int)do_it(w, caller, d, whose, &err));
	if (waitpid(pid, &how, 0) != pid || !WIFEXITED(how))
		t_fail(t, __FILE__, __LINE__, "it crashed");
	return (enum status)WEXITSTATUS(how);
}

/* Said a second time, as docs/APPROVALS.md has it. */
static bool may(enum caller caller, const struct deed *d, enum whose whose)
{
	if (d->never || caller == STARTER)
		return false;
	if (caller == PERSON)
		return true;
	return whose == OTHER || (whose == OWN && caller == PROGRAM);
}

static enum status count_freed(struct world *w, int64_t *out, struct err *err)
{
	static const char sql[] = "SELECT (SELECT count(*) FROM approval WHERE decision = 'allow')"
				  " + (SELECT count(*) FROM approval_rule WHERE decision = 'allow')"
				  " + (SELECT count(*) FROM approval_rule WHERE deleted_at IS NOT NULL)"
				  " + (SELECT count(*) FROM session WHERE permission_mode IS NOT NULL)"
				  " + (SELECT count(*) FROM command)";
	STORE *s = NULL;
	sqlite3_stmt *st = NULL;

	if (open_it(w, false, &s, err))
		return err_failed(err->status);
	*out = -1;
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return STATUS_OK;
}

static void try_one(struct t *t, enum caller caller, size_t deed, enum whose whose)
{
	const struct deed *d = &deeds[deed];
	struct world w = { 0 };
	STORE *s = NULL;
	enum status status;
	int64_t freed;
	struct err err;

	snprintf(w.path, sizeof w.path, "%.2000s/%d-%zu-%d.db", t_tmpdir(t), (int)caller, deed, (int)whose);
	OK(open_it(&w, true, &s, &err));
	OK(make_world(&w, s, &err));
	store_closep(&s);
	s = NULL;
	status = do_as(t, &w, caller, d, whose);
	OK(count_freed(&w, &freed, &err));
	if ((freed > 0) != may(caller, d, whose) || freed < 0)
		t_fail(t, __FILE__, __LINE__, "caller %d, %s%s, session %d: status %d, %d freed", (int)caller,
		       d->method, d->more, (int)whose, (int)status, (int)freed);
	if (!may(caller, d, whose))
		EQ(status, STATUS_DENIED);
}

TEST(nobody_lets_a_tool_run_who_may_not_whichever_way_they_take)
{
	for (enum caller caller = PERSON; caller < CALLERS; caller++)
		for (size_t deed = 0; deed < COUNT(deeds); deed++)
			for (enum whose whose = OWN; whose < WHOSES; whose++)
				if (whose != NOBODYS || strcmp(deeds[deed].to, "session") != 0)
					try_one(t, caller, deed, whose);
}

/* ---- Processes ------------------------------------------------------------------------------ */

/* How many generations below the holder of a run; what left its parent is a child of somebody else. */
static int look_from_below(const char *path, int generations)
{
	STORE *s = NULL;
	struct inside in;
	struct err err;
	int how = -1;
	pid_t pid;
	ARENA;

	if (generations) {
		pid = fork();
		if (pid == 0)
			_exit(look_from_below(path, generations - 1));
		return waitpid(pid, &how, 0) == pid && WIFEXITED(how) ? WEXITSTATUS(how) : 99;
	}
	if (store_open(&(struct store_options){ .path = path }, &s, &err) || inside_find(s, &mem, &in, &err))
		return 98;
	return (int)in.count * 10 + (in.count && inside_has(&in, in.sessions[0]) && !inside_has(&in, 12345));
}

TEST(a_process_belongs_to_the_agents_above_it_however_far)
{
	struct world w = { 0 };
	STORE *s = NULL;
	struct lease own;
	struct run run;
	struct err err;
	ARENA;

	snprintf(w.path, sizeof w.path, "%.2000s/a.db", t_tmpdir(t));
	OK(open_it(&w, true, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err)); /* held by nobody who is here */
	EQ(look_from_below(w.path, 3), 0);
	OK(lease_own(s, &mem, &own, &err));
	OK(run_take(s, &run, &own, &err));
	EQ(look_from_below(w.path, 0), 0); /* who holds it is not below it */
	EQ(look_from_below(w.path, 1), 11);
	EQ(look_from_below(w.path, 300), 11);
	own.start++; /* another process of the same number, before */
	OK(run_take(s, &run, &own, &err));
	EQ(look_from_below(w.path, 1), 0);
}

TESTS(CASE(nobody_lets_a_tool_run_who_may_not_whichever_way_they_take),
      CASE(a_process_belongs_to_the_agents_above_it_however_far))
