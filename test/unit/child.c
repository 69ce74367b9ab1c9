/*
 * Child processes: what they say and are told, how they ended, and that nothing of
 * them is left, whatever they did and however we went.
 */
#include "live/child.h"
#include "live/command.h"
#include "procs.h"
#include "t.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Something on a command line that no other process has. */
static const char *marker(void)
{
	static char text[64];
	static int count;

	snprintf(text, sizeof text, "arbor-test-%d-%d", (int)getpid(), count++);
	return text;
}

struct run {
	struct t *t;
	struct loop *loop;
	struct child *child;
	struct buf output, errors;
	struct child_end end;
	bool ended;
	int writes;
	bool free_at_once;
	size_t pause_at;
};

static void on_output(void *ctx, struct str bytes)
{
	struct run *r = ctx;

	buf_str(&r->output, bytes);
	if (r->free_at_once) {
		child_free(r->child);
		r->child = NULL;
		loop_stop(r->loop);
	} else if (r->pause_at && r->output.n >= r->pause_at) {
		child_pause(r->child, true);
	}
}

static void on_errors(void *ctx, struct str bytes)
{
	struct run *r = ctx;

	buf_str(&r->errors, bytes);
}

static void on_written(void *ctx)
{
	struct run *r = ctx;

	r->writes++;
}

static void on_end(void *ctx, const struct child_end *end)
{
	struct run *r = ctx;

	if (r->ended)
		t_fail(r->t, __FILE__, __LINE__, "the end is told twice");
	r->ended = true;
	r->end = *end;
	loop_stop(r->loop);
}

static void run_release(struct run *r)
{
	child_free(r->child);
	loop_free(r->loop);
	buf_release(&r->output);
	buf_release(&r->errors);
}

static const char *const bare[] = { "A=b", NULL };

static bool run_program(struct t *t, struct run *r, const char *path, const char *const *arguments)
{
	struct guard_start what = {
		.path = path, .arguments = arguments, .environment = bare, .folder = "/tmp"
	};
	struct child_hooks hooks = {
		.output = on_output, .errors = on_errors, .written = on_written, .ended = on_end, .ctx = r
	};
	struct err err;

	*r = (struct run){ .t = t, .output = BUF_INIT(64 * MIB), .errors = BUF_INIT(64 * MIB) };
	if (loop_new(NULL, &r->loop, &err) || child_start(r->loop, &what, &hooks, &r->child, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return false;
	}
	return true;
}

static bool run_shell(struct t *t, struct run *r, const char *script)
{
	const char *const arguments[] = { "sh", "-c", script, NULL };

	return run_program(t, r, "/bin/sh", arguments);
}

#define RUN struct run r CLEANUP(run_release) = { 0 }

/* ---- What it says and how it ends --------------------------------------------- */

TEST(its_output_its_errors_and_its_code_arrive)
{
	RUN;

	NEED(run_shell(t, &r, "echo out; echo first >&2; echo '  last words ' >&2; echo >&2; exit 7"));
	loop_run(r.loop);
	EQS(buf_as_str(&r.output), STR("out\n"));
	EQS(buf_as_str(&r.errors), STR("first\n  last words \n\n"));
	EQS(child_last_words(r.child), STR("last words"));
	EQ(r.end.code, 7);
	EQ(r.end.signal, 0);
	EQ(r.end.error, 0);
	CHECK(child_pid(r.child) > 0);
}

TEST(a_signal_is_told_as_a_signal)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	RUN;

	NEED(run_shell(t, &r, "kill -9 $$"));
	loop_run(r.loop);
	EQ(r.end.code, -1);
	EQ(r.end.signal, SIGKILL);
	child_end_text(&r.end, &text);
	EQS(buf_as_str(&text), STR("was killed by signal 9"));
}

TEST(what_cannot_be_run_is_told_with_its_reason)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	const char *const arguments[] = { "x", NULL };
	RUN;

	NEED(run_program(t, &r, "/nowhere/x", arguments));
	loop_run(r.loop);
	child_end_text(&r.end, &text);
	EQS(buf_as_str(&text),
	    STR("cannot be run: No such file or directory; its first line, '#!...', names a program that "
		"is not there"));
}

TEST(only_the_end_of_much_on_standard_error_is_kept)
{
	RUN;

	NEED(run_shell(t, &r, "i=0; while [ $i -lt 3000 ]; do echo line $i of many >&2; i=$((i + 1)); done"));
	loop_run(r.loop);
	EQS(child_last_words(r.child), STR("line 2999 of many"));
}

TEST(it_gets_its_environment_its_folder_and_no_descriptor_of_ours)
{
	int leak = open("/dev/null", O_RDONLY); /* not closed on exec */
	RUN;

	NEED(leak >= 0);
	NEED(run_shell(t, &r, "/usr/bin/env; pwd; ls /proc/self/fd | tr '\\n' ' '"));
	loop_run(r.loop);
	/* The shell adds PWD; 3 is what ls itself opens. */
	EQS(buf_as_str(&r.output), STR("A=b\nPWD=/tmp\n/tmp\n0 1 2 3 "));
	close(leak);
}

TEST(signals_are_as_usual_for_it)
{
	RUN;

	signal(SIGPIPE, SIG_IGN);
	NEED(run_shell(t, &r, "kill -PIPE $$; echo no"));
	signal(SIGPIPE, SIG_DFL);
	loop_run(r.loop);
	EQ(r.end.signal, SIGPIPE);
}

/* ---- What it is told ----------------------------------------------------------- */

TEST(it_reads_what_it_is_told_to_the_last_byte)
{
	struct buf much CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	RUN;

	NEED(run_shell(t, &r, "cat"));
	for (int i = 0; i < 400000; i++)
		buf_printf(&much, "%d\n", i);
	child_write(r.child, buf_as_str(&much));
	CHECK(child_unread(r.child) > 0);
	child_close_input(r.child);
	loop_run(r.loop);
	EQ(r.end.code, 0);
	EQ(r.writes, 1);
	CHECK(str_eq(buf_as_str(&r.output), buf_as_str(&much)));
}

static void stop(void *ctx)
{
	loop_stop(ctx);
}

TEST(one_that_does_not_read_stops_nobody)
{
	char zeros[256] = { 0 };
	RUN;

	NEED(run_shell(t, &r, "sleep 1000"));
	for (int i = 0; i < 1000; i++)
		child_write(r.child, str_from(zeros, sizeof zeros));
	CHECK(child_unread(r.child) >= 100000);
	child_close_input(r.child);
	child_kill(r.child);
	loop_run(r.loop);
	EQ(r.end.signal, SIGKILL);
}

TEST(writing_to_one_that_is_gone_is_no_signal)
{
	struct loop_timer *later;
	RUN;

	signal(SIGPIPE, SIG_DFL);
	NEED(run_shell(t, &r, "exec <&-; sleep 1000"));
	later = loop_timer_new(r.loop, stop, r.loop);
	for (int i = 0; i < 50; i++) { /* until it has closed its input, and then once more */
		child_write(r.child, STR("x"));
		loop_timer_set(later, 5);
		loop_run(r.loop);
	}
	EQ(child_unread(r.child), 0);
}

TEST(output_that_is_paused_waits_in_the_pipe_and_comes_before_the_end)
{
	RUN;

	NEED(run_shell(t, &r, "head -c 300000 /dev/zero; sleep 0.2; exec head -c 50000 /dev/zero"));
	r.pause_at = 1;
	loop_timer_set(loop_timer_new(r.loop, stop, r.loop), 300);
	loop_run(r.loop);
	CHECK(r.output.n >= 1 && r.output.n <= 64 * KIB && !r.ended);
	r.pause_at = 0;
	child_pause(r.child, false);
	loop_run(r.loop);
	EQ(r.output.n, 350000);
	CHECK(r.ended);
}

TEST(it_may_be_freed_by_its_own_output)
{
	const char *mark = marker();
	char script[256];
	RUN;

	snprintf(script, sizeof script, "echo x; exec sleep 1000 %s", mark);
	NEED(run_shell(t, &r, script));
	r.free_at_once = true;
	loop_run(r.loop);
	CHECK(!r.child && !r.ended);
	CHECK(procs_become(mark, 0));
}

/* ---- Nothing is left ------------------------------------------------------------ */

/* Three that try to stay: one in the background, one in a session of its own, one forked
 * twice in a session of its own. Then says that all are there. */
static const char *stayers(const char *mark, const char *then)
{
	static char script[1024];

	snprintf(script, sizeof script,
		 "sh -c 'while :; do sleep 1; done' %s & "
		 "setsid sh -c 'while :; do sleep 1; done' %s & "
		 "setsid sh -c '(setsid sh -c \"while :; do sleep 1; done\" %s </dev/null >/dev/null 2>&1 "
		 "&)' & "
		 "while [ $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o '[d]one %s' | wc "
		 "-l) -lt 3 ]; do "
		 "sleep 0.01; done; echo up; %s",
		 mark, mark, mark, mark, then);
	return script;
}

TEST(those_it_started_end_with_it_even_in_sessions_of_their_own)
{
	const char *mark = marker();
	RUN;

	NEED(run_shell(t, &r, stayers(mark, "exit 3")));
	loop_run(r.loop);
	EQS(buf_as_str(&r.output), STR("up\n"));
	EQ(r.end.code, 3);
	EQ(procs_with(mark), 0); /* the end is told when nobody is left */
	child_free(r.child);
	r.child = NULL;
	EQ(procs_zombies(), 0);
}

static void kill_child(void *ctx, struct str bytes)
{
	struct run *r = ctx;

	(void)bytes;
	child_kill(r->child);
}

TEST(those_it_started_are_killed_with_it)
{
	const char *mark = marker();
	const char *const arguments[] = { "sh", "-c", stayers(mark, "sleep 1000"), NULL };
	struct guard_start what = {
		.path = "/bin/sh", .arguments = arguments, .environment = bare, .folder = "/"
	};
	struct child_hooks hooks = { .output = kill_child, .ended = on_end };
	struct err err;
	RUN;

	r.t = t;
	hooks.ctx = &r;
	OK(loop_new(NULL, &r.loop, &err));
	OK(child_start(r.loop, &what, &hooks, &r.child, &err));
	loop_run(r.loop);
	EQ(r.end.signal, SIGKILL);
	EQ(procs_with(mark), 0);
}

TEST(what_is_left_of_a_guard_that_is_killed_is_killed_by_who_has_no_other_children)
{
	const char *mark = marker();
	const char *const arguments[] = { "sh", "-c", stayers(mark, "kill -9 $PPID; sleep 1000"), NULL };
	struct guard_start what = {
		.path = "/bin/sh", .arguments = arguments, .environment = bare, .folder = "/", .alone = true
	};
	struct child_hooks hooks = { .output = on_output, .ended = on_end };
	struct err err;
	RUN;

	r = (struct run){ .t = t, .output = BUF_INIT(KIB) };
	hooks.ctx = &r;
	OK(loop_new(NULL, &r.loop, &err));
	OK(child_start(r.loop, &what, &hooks, &r.child, &err));
	loop_run(r.loop);
	prctl(PR_SET_CHILD_SUBREAPER, 0UL);
	EQS(buf_as_str(&r.output), STR("up\n"));
	CHECK(r.ended && r.end.code < 0);
	EQ(procs_with(mark), 0);
	EQ(procs_zombies(), 0);
}

/* It has our pipe, which so never ends. */
TEST(the_end_is_told_when_a_guard_is_killed_and_somebody_is_left)
{
	char script[200];
	const char *mark = marker();
	RUN;

	snprintf(script, sizeof script, "setsid sh -c 'sleep 2; true' %s & echo up; kill -9 $PPID; sleep 1000", mark);
	NEED(run_shell(t, &r, script));
	loop_run(r.loop);
	EQS(buf_as_str(&r.output), STR("up\n"));
	CHECK(r.ended && r.end.code < 0);
	CHECK(procs_with(mark) >= 1);
	CHECK(procs_become(mark, 0));
}

TEST(one_that_is_asked_to_end_may_say_goodbye)
{
	RUN;

	NEED(run_shell(t, &r, "trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.02; done"));
	r.pause_at = 1;
	loop_timer_set(loop_timer_new(r.loop, stop, r.loop), 200);
	loop_run(r.loop);
	child_pause(r.child, false);
	r.pause_at = 0;
	child_ask_to_end(r.child);
	loop_run(r.loop);
	EQS(buf_as_str(&r.output), STR("up\nbye\n"));
	EQ(r.end.code, 4);
}

/* A process that starts a child and waits for ever; told through `up` when it stands. */
static pid_t start_owner(const char *script, int up[2])
{
	const char *const arguments[] = { "sh", "-c", script, NULL };
	struct guard_start what = {
		.path = "/bin/sh", .arguments = arguments, .environment = bare, .folder = "/"
	};
	pid_t pid = fork();
	struct guard g;
	struct err err;
	char c;

	if (pid)
		return pid;
	if (guard_start(&what, &g, &err) == STATUS_OK) {
		while (read(g.out, &c, 1) != 1)
			usleep(1000);
		if (write(up[1], &c, 1) == 1)
			pause();
	}
	_exit(1);
}

TEST(nothing_is_left_when_we_are_killed)
{
	const char *mark = marker();
	int up[2];
	pid_t owner;
	char c;

	NEED(pipe(up) == 0);
	owner = start_owner(stayers(mark, "sleep 1000"), up);
	NEED(read(up[0], &c, 1) == 1);
	CHECK(procs_with(mark) >= 3);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	CHECK(procs_become(mark, 0));
	close(up[0]);
	close(up[1]);
}

/* The owner forks, and the fork, which runs no program, still has all descriptors. */
TEST(nothing_is_left_either_when_somebody_else_holds_our_pipes)
{
	const char *mark = marker();
	const char *script = stayers(mark, "sleep 1000");
	const char *const arguments[] = { "sh", "-c", script, NULL };
	struct guard_start what = {
		.path = "/bin/sh", .arguments = arguments, .environment = bare, .folder = "/"
	};
	int up[2];
	pid_t owner, holder = 0;

	NEED(pipe(up) == 0);
	owner = fork();
	if (owner == 0) {
		struct guard g;
		struct err err;
		char c;

		if (guard_start(&what, &g, &err))
			_exit(1);
		while (read(g.out, &c, 1) != 1)
			usleep(1000);
		holder = fork();
		if (holder == 0)
			for (;;)
				pause();
		if (write(up[1], &holder, sizeof holder) == sizeof holder)
			pause();
		_exit(1);
	}
	NEED(read(up[0], &holder, sizeof holder) == sizeof holder);
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	CHECK(procs_become(mark, 0));
	kill(holder, SIGKILL);
	close(up[0]);
	close(up[1]);
}

TEST(nothing_is_left_whenever_we_are_killed)
{
	const char *mark = marker();
	int up[2];

	NEED(pipe(up) == 0);
	for (int i = 0; i < 60; i++) {
		pid_t owner = start_owner(stayers(mark, "sleep 1000"), up);

		usleep((useconds_t)(i * i * 20)); /* up to 70 ms; it stands after some 30 */
		kill(owner, SIGKILL);
		waitpid(owner, NULL, 0);
	}
	CHECK(procs_become(mark, 0));
	close(up[0]);
	close(up[1]);
}

/* ---- Commands and environments --------------------------------------------------- */

static const char *made_up(void *ctx, const char *name)
{
	return strcmp(name, "HOME") == 0	    ? "/home/me"
	       : strcmp(name, "PATH") == 0	    ? ctx
	       : strcmp(name, "SSH_AUTH_SOCK") == 0 ? "/run/agent"
	       : strcmp(name, "SECRET_TOKEN") == 0  ? "hunter2"
						    : NULL;
}

static bool has_variable(const char *const *list, const char *pair)
{
	for (; *list; list++)
		if (strcmp(*list, pair) == 0)
			return true;
	return false;
}

TEST(a_child_gets_what_is_on_the_list_and_what_was_set_for_it)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	char usual[] = "/usr/bin";
	struct environment e = { .get = made_up, .ctx = usual };
	struct variable own[] = { { STR("PATH"), STR("/own") },
				  { STR("SSH_AUTH_SOCK"), { 0 } },
				  { STR("NOT_SET"), { 0 } },
				  { STR("EMPTY"), STR("") } };
	const char *const *list = environment_for_child(&e, own, COUNT(own), &mem);
	size_t n = 0;

	while (list[n])
		n++;
	EQ(n, 4);
	CHECK(has_variable(list, "HOME=/home/me"));
	CHECK(has_variable(list, "PATH=/own"));
	CHECK(has_variable(list, "SSH_AUTH_SOCK=/run/agent"));
	CHECK(has_variable(list, "EMPTY="));
	CHECK(variable_is_name(STR("A_1")) && !variable_is_name(STR("1A")) && !variable_is_name(STR("")) &&
	      !variable_is_name(STR("A=B")));
}

static void make_program(const char *path, int mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	if (fd >= 0)
		close(fd);
}

TEST(a_program_is_found_in_path_by_absolute_folders_only)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	const char *dir = t_tmpdir(t), *path = NULL;
	char list[4 * LIMIT_PATH];
	struct environment e = { .get = made_up, .ctx = list };
	struct err err;

	snprintf(list, sizeof list, "relative:%s/none::%s:%s/b", dir, dir, dir);
	NEED(mkdir(arena_printf(&mem, "%s/b", dir).p, 0700) == 0);
	make_program(arena_printf(&mem, "%s/tool", dir).p, 0600);
	make_program(arena_printf(&mem, "%s/b/tool", dir).p, 0700);
	OK(command_find(&e, STR("tool"), &mem, &path, &err));
	EQS(str_of(path), arena_printf(&mem, "%s/b/tool", dir));
	OK(command_find(&e, arena_printf(&mem, "%s/b/tool", dir), &mem, &path, &err));
	EQ(command_find(&e, arena_printf(&mem, "%s/tool", dir), &mem, &path, &err), STATUS_DENIED);
	EQ(command_find(&e, arena_printf(&mem, "%s", dir), &mem, &path, &err), STATUS_DENIED);
	EQ(command_find(&e, STR("nothing-like-it"), &mem, &path, &err), STATUS_NOT_FOUND);
	CHECK(strstr(err.text, "nothing-like-it"));
	EQ(command_find(&e, STR("b/tool"), &mem, &path, &err), STATUS_USAGE);
	EQ(command_find(&e, STR(""), &mem, &path, &err), STATUS_USAGE);
	EQ(command_find(&e, STR("~/tool"), &mem, &path, &err), STATUS_NOT_FOUND);
}

TESTS(CASE(its_output_its_errors_and_its_code_arrive), CASE(a_signal_is_told_as_a_signal),
      CASE(what_cannot_be_run_is_told_with_its_reason), CASE(only_the_end_of_much_on_standard_error_is_kept),
      CASE(it_gets_its_environment_its_folder_and_no_descriptor_of_ours), CASE(signals_are_as_usual_for_it),
      CASE(it_reads_what_it_is_told_to_the_last_byte), CASE(one_that_does_not_read_stops_nobody),
      CASE(writing_to_one_that_is_gone_is_no_signal),
      CASE(output_that_is_paused_waits_in_the_pipe_and_comes_before_the_end),
      CASE(it_may_be_freed_by_its_own_output),
      CASE(those_it_started_end_with_it_even_in_sessions_of_their_own),
      CASE(those_it_started_are_killed_with_it),
      CASE(what_is_left_of_a_guard_that_is_killed_is_killed_by_who_has_no_other_children),
      CASE(the_end_is_told_when_a_guard_is_killed_and_somebody_is_left), CASE(one_that_is_asked_to_end_may_say_goodbye),
      CASE(nothing_is_left_when_we_are_killed),
      CASE(nothing_is_left_either_when_somebody_else_holds_our_pipes),
      CASE(nothing_is_left_whenever_we_are_killed),
      CASE(a_child_gets_what_is_on_the_list_and_what_was_set_for_it),
      CASE(a_program_is_found_in_path_by_absolute_folders_only))
