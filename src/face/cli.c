/*
 * One command line: finds the verb, reads its arguments, runs its method, and turns
 * the outcome into an exit code. Exit codes are those of the status table
 * (base/err.c) and are listed by `arbor help exit-codes`.
 *
 * Nothing here knows what any method does. Help and version cost no more than
 * starting the program: the store is opened when a method is about to run.
 */
#include "face/cli.h"

#include "face/chat.h"
#include "live/become.h"
#include "live/client.h"
#include "face/face.h"
#include "face/quick.h"
#include "face/view.h"
#include "hub/far_method.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The only things a signal handler can reach. */
static atomic_bool cancelled;
static atomic_int cancelled_by;

/* A pager gets the same Ctrl-C and stays: then so do we, for as long as it does. */
static void on_interrupt_paging(int signal_number)
{
	atomic_store(&cancelled_by, signal_number);
	atomic_store(&cancelled, true);
}

static void on_interrupt(int signal_number)
{
	/* A second one ends the program at once. */
	signal(signal_number, SIG_DFL);
	on_interrupt_paging(signal_number);
}

/* Whoever was ended by a signal ends by it: a shell stops its loop then, and whoever runs
 * services takes it for no failure. */
static void end_by_signal(void)
{
	int number = atomic_load(&cancelled_by);

	if (!number)
		return;
	signal(number, SIG_DFL);
	raise(number);
}

/* For the pager, too. */
void face_take_interrupts(void)
{
	signal(SIGINT, on_interrupt_paging);
}

void face_forget_interrupt(void)
{
	atomic_store(&cancelled, false);
}

bool face_is_to_end(void)
{
	return atomic_load(&cancelled_by) == SIGTERM;
}

static void log_to_stderr(void *ctx, enum log_level level, struct str text)
{
	struct face *f = ctx;
	char front[32];

	logfile_add(f, log_level_name(level), text);
	if (level > f->heard)
		return;
	snprintf(front, sizeof front, "arbor: %s: ", log_level_name(level));
	say_foreign(&f->out, front, text);
}

/* ---- Running a method -------------------------------------------------------- */

static bool only_reads(const struct method *m)
{
	return m->scope == SCOPE_READ || m->scope == SCOPE_LOCAL;
}

/* Nothing that agents are told or say, nor what they are made with: that may be anything, and is in the
 * store. */
static bool is_logged(const struct method *m)
{
	return m->scope == SCOPE_WRITE;
}

static enum status take_item(void *ctx, struct str json, struct err *err)
{
	struct view *v = ctx;

	if (atomic_load(v->face->cancel))
		return err_fail(err, STATUS_CANCELLED, "cancelled");
	if (is_logged(v->method))
		logfile_add(v->face, "result", json);
	if (v->face->silent) {
		v->items++;
		return STATUS_OK;
	}
	return view_item(v, json, err);
}

static enum status take_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct view *v = ctx;

	if (atomic_load(v->face->cancel))
		return err_fail(err, STATUS_CANCELLED, "cancelled");
	return view_bytes(v, bytes, err);
}

static void take_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	struct view *v = ctx;

	progress_report(v->out, what, done, total);
}

static void take_flush(void *ctx)
{
	struct view *v = ctx;

	out_flush(v->out);
}

static void take_note(void *ctx, struct str text)
{
	struct view *v = ctx;

	view_note(v, text);
}

/* A command that reads is over in milliseconds, of which asking the system for memory
 * bit by bit, and giving it back, would be a twentieth. */
static void take_memory_at_once(const struct method *m)
{
#ifdef __GLIBC__
	if (!only_reads(m) || m->need == NEED_NOTHING)
		return;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, 64 * MIB);
	mem_begin_large();
#ifndef __SANITIZE_ADDRESS__ /* which is to see all that SQLite takes and gives back */
	quick_memory();
#endif
#else
	(void)m;
#endif
}

/* Views ask it how much of an id has to be shown. */
static enum status open_store(void *ctx, bool make, struct store **out, struct err *err)
{
	struct face *f = ctx;

	if (face_open_store(f, make, out, err))
		return err_failed(err->status);
	if (!f->open) /* a method that another one calls has its own, and for less long */
		f->open = *out;
	return STATUS_OK;
}

static void close_store(void *ctx, struct store *s)
{
	struct face *f = ctx;

	if (f->open == s)
		f->open = NULL;
	store_close(s);
}

/* `far`: parameters for a method of another hub, as JSON; NULL = it is our own. */
static enum status run_method(struct face *f, const char *activation, const struct method *m, struct params *p,
			      const struct str *far, struct err *err)
{
	struct view v;
	struct hub_caller who = {
		.sink = { .item = take_item,
			  .bytes = take_bytes,
			  .progress = take_progress,
			  .flush = take_flush,
			  .note = take_note,
			  .ctx = &v },
		.log = &f->log,
		.cancel = f->cancel,
		.scopes = ~0u, /* whoever can run the program owns the store */
		.person = !getenv("CLAUDECODE"), /* it is not an agent that types */
		.settings = f->settings,
		.open_store = open_store,
		.close_store = close_store,
		.ctx = f,
		.elsewhere = children_elsewhere(f->children),
		.children = f->children,
		.program = "/proc/self/exe",
	};
	enum status status;

	take_memory_at_once(m);
	view_begin(&v, f, activation, m, p);
	who.shown = !f->json;
	status = far ? hub_call(f->hub, str_of(m->name), *far, &who, err) : hub_run(f->hub, m, p->values, &who, err);
	view_end(&v, status);
	if (f->out.closed)
		return STATUS_OK; /* the pager was left: enough was seen */
	if (status == STATUS_OK && m->kind == RESULT_STREAM && v.items == 0)
		return err_fail(err, STATUS_NOT_FOUND, "%s", m->empty ? m->empty : "nothing found");
	return status;
}

enum status face_run(struct face *f, const char *activation, const struct method *m, struct params *p,
		     struct err *err)
{
	return run_method(f, activation, m, p, NULL, err);
}

static enum status face_run_far(struct face *f, const struct method *m, struct args *a, struct err *err)
{
	struct buf json CLEANUP(buf_release) = BUF_INIT(LIMIT_RPC_LINE);
	struct str far = a->raw;

	if (!far.p && params_to_json(&a->own, &json, err))
		return err_failed(err->status);
	if (!far.p)
		far = buf_as_str(&json);
	return run_method(f, "", m, &a->own, &far, err);
}

/* ---- Options of every verb ---------------------------------------------------- */

static bool common_switch(const struct args *a, const char *name)
{
	return params_value(&a->common, params_find(&a->common, str_of(name)))->number != 0;
}

static struct str common_text(const struct args *a, const char *name)
{
	return params_value(&a->common, params_find(&a->common, str_of(name)))->text;
}

static enum colour colour_of(struct str text)
{
	return str_eq(text, STR("always"))  ? COLOUR_ALWAYS
	       : str_eq(text, STR("never")) ? COLOUR_NEVER
					    : COLOUR_AUTO;
}

static enum colour colour_for(const struct face *f, const struct args *a)
{
	struct str typed = common_text(a, "color");

	return colour_of(typed.p ? typed : settings_text(f->settings, "color"));
}

static bool wants_pages(const struct face *f)
{
	return !str_eq(settings_text(f->settings, "page"), STR("never"));
}

/* As the settings say; an empty variable means no pager and is none of theirs. */
static const char *pager_command(struct face *f)
{
	const char *own = getenv("ARBOR_PAGER"), *general = getenv("PAGER");

	if (own ? !*own : general && !*general && str_eq(settings_origin(f->settings, "pager"), STR("default")))
		return "";
	return arena_cstr(&f->mem, settings_text(f->settings, "pager"));
}

static enum status apply(struct face *f, const struct args *a, struct err *err)
{
	struct str log = common_text(a, "log");
	bool quiet = common_switch(a, "quiet");

	f->store = common_text(a, "store");
	f->json = common_switch(a, "json");
	f->print0 = common_switch(a, "print0");
	f->verbose = common_switch(a, "verbose");
	f->heard = f->verbose ? LOG_DEBUG : quiet ? LOG_ERROR : LOG_WARN;
	f->log.level = log.p ? LOG_DEBUG : f->heard;
	out_init(&f->out, colour_for(f, a),
		 !common_switch(a, "no_pager") && !f->print0 && wants_pages(f), quiet);
	f->out.pager.command = pager_command(f);
	f->out.on_pager = face_take_interrupts;
	return log.p ? logfile_open(f, log, err) : STATUS_OK;
}

static enum status load_hubs(struct face *f, struct err *err)
{
	if (face_load_settings(f, err))
		return err_failed(err->status);
	f->children = where_find_hubs(f->settings);
	return STATUS_OK;
}

static enum status find_client(struct face *f, const char **path, struct err *err)
{
	struct environment env;

	where_environment(f->settings, &env);
	return client_find(&env, settings_text(f->settings, "claude"), &f->mem, path, err);
}

/* Nothing is written for a client that is not there. */
static enum status check_client(struct face *f, const struct verb *v, struct err *err)
{
	const char *path;

	if (!v->activation || !view_runs_client(f, v->activation, v->method) || find_client(f, &path, err) == STATUS_OK)
		return STATUS_OK;
	return err_fail(err, err->status, "%s; 'arbor fork' writes the file without the client",
			arena_cstr(&f->mem, str_of(err->text)));
}

/* What was to be left out of a search may have been taken for an option. */
static enum status fail_verb(const struct verb *v, const struct args *a, struct err *err)
{
	if (a->glued && err->status != STATUS_CANCELLED)
		return err_pass(err,
				"%s: '%.40s' is read as -%c with '%.40s', a word to be left out stands in "
				"quotes with "
				"the others, or behind --",
				v->method->verb, a->glued, a->glued[1], a->glued + 2);
	return err_pass(err, "%s", v->method->verb);
}

static enum status run_verb(struct face *f, const struct verb *v, int argc, char **argv, struct err *err)
{
	struct args a = { 0 };

	/* Help is for those who have a broken file, too. */
	if (load_hubs(f, err) && (v->activation || v->run == run_call || v->run == run_pick || v->run == run_rpc ||
				  v->run == run_mcp))
		return err_failed(err->status);
	if (v->reads_args)
		return v->run(f, argc, argv, NULL, err);
	if (args_read(f, &a, v->method, argc, argv, err))
		return fail_verb(v, &a, err);
	if (common_switch(&a, "help")) { /* "-qh" */
		help_verb(f, v);
		return STATUS_OK;
	}
	if (apply(f, &a, err) || view_refuse(f, v->method, err) || check_client(f, v, err))
		return fail_verb(v, &a, err);
	if (v->run				       ? v->run(f, argc, argv, &a.own, err)
	    : ask_is_due(f, v->method, &a.own)	       ? ask_and_run(f, v->activation, v->method, &a.own, err)
	    : chat_is_due(f, v->activation, v->method) ? chat_run(f, v->activation, v->method, &a.own, err)
						       : face_run(f, v->activation, v->method, &a.own, err))
		return fail_verb(v, &a, err);
	return STATUS_OK;
}

/* ---- arbor call, arbor version ------------------------------------------------- */

enum status face_find_method(struct face *f, struct str name, const struct activation **a,
			     const struct method **m, struct err *err)
{
	struct method *far;
	struct str item = { 0 }, rest;
	size_t which;
	struct hub_caller who = { .scopes = ~0u, .cancel = f->cancel, .settings = f->settings };
	enum status status;

	if (!children_find(f->children, name, &which, &rest))
		return hub_find(f->hub, name, a, m, err);
	far = arena_alloc(&f->mem, sizeof *far);
	*m = far;
	status = children_schema(f->children, which, rest, &who, &f->mem, &item, err);
	if (status == STATUS_OK)
		return far_method_read(item, name, &f->mem, far, err);
	far_method_unknown(name, &f->mem, far);
	return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* What nobody described may be there all the same, but what it takes is not known. */
static enum status read_call(struct face *f, struct args *a, const struct method *m, int argc, char **argv,
			     struct err *err)
{
	if (args_read(f, a, m, argc, argv, err) == STATUS_OK)
		return STATUS_OK;
	if (a->takes_raw && !m->params)
		return err_fail(err, STATUS_USAGE, "it is not described; give its parameters as one JSON object");
	return err_failed(err->status);
}

static const char *called(const struct activation *a, const struct method *m, struct face *f)
{
	return a ? arena_printf(&f->mem, "%s.%s", a->name, m->name).p : m->name;
}

enum status run_call(struct face *f, int argc, char **argv, const struct params *p, struct err *err)
{
	int at = args_first_word(argc, argv);
	const struct activation *activation = NULL;
	const struct method *m = NULL;
	struct args a = { .takes_json = true };

	(void)p;
	if (at < 0)
		return err_fail(err, STATUS_USAGE,
				"call: METHOD is missing; usage: arbor call METHOD [JSON]; 'arbor call hub.methods' "
				"lists them");
	if (face_find_method(f, str_of(argv[at]), &activation, &m, err))
		return err_pass(err, "call");
	memmove(argv + 1, argv, (size_t)at * sizeof *argv);
	a.takes_raw = !activation;
	if (read_call(f, &a, m, argc - 1, argv + 1, err) || apply(f, &a, err) ||
	    (f->print0 && view_refuse(f, m, err)))
		return err_pass(err, "call: %s", called(activation, m, f));
	f->json = !f->print0;
	if (activation ? face_run(f, activation->name, m, &a.own, err) : face_run_far(f, m, &a, err))
		return err_pass(err, "call: %s", called(activation, m, f));
	return STATUS_OK;
}

enum status run_version(struct face *f, int argc, char **argv, const struct params *p, struct err *err)
{
	(void)argc;
	(void)argv;
	(void)p;
	(void)err;
	out_printf(&f->out, "arbor %s\n", ARBOR_VERSION);
	return STATUS_OK;
}

/* ---- The whole line ------------------------------------------------------------ */

/* Behind 'call' help is wanted for the method that is named there. */
static enum status help_asked(struct face *f, const struct verb *v, int argc, char **argv, struct err *err)
{
	int at = args_first_word(argc, argv);

	if (v->run == run_call && at >= 0) {
		struct err broken; /* own methods can be explained all the same */

		(void)!load_hubs(f, &broken);
		return help_method(f, str_of(argv[at]), err) ? err_pass(err, "call") : STATUS_OK;
	}
	help_verb(f, v);
	return STATUS_OK;
}

/* "approvals answer": the word behind the one at `at` is the verb; *v becomes it. Where it stands, 0 = it is none. */
static int find_under(struct face *f, struct verb *v, int at, int argc, char **argv)
{
	int next = at + 1 < argc ? args_first_word(argc - at - 1, argv + at + 1) : -1;
	struct verb below;

	if (next < 0 || !verb_find(f->hub, str_of(argv[at + 1 + next]), &below) || !below.method->under ||
	    strcmp(below.method->under, v->method->verb) != 0)
		return 0;
	*v = below;
	return at + 1 + next;
}

/* Where words before the verb are values of its options, as in "-n 2 list"; -1 = there is no such verb. */
static int find_behind(struct face *f, int at, int argc, char **argv, struct verb *out)
{
	for (int i = at + 1; at > 0 && i < argc; i++)
		if (argv[i][0] != '-' && verb_find(f->hub, str_of(argv[i]), out) &&
		    args_are_options(out->method, i, argv))
			return i;
	return -1;
}

static enum status dispatch(struct face *f, int argc, char **argv, struct err *err)
{
	int at = args_first_word(argc, argv);
	struct verb v;
	char *word;
	int under;

	/* Whoever asks for help has no options read. */
	if (args_have(argc, argv, "--no-pager"))
		f->out.may_page = false;
	if (argc == 0 || (at < 0 && args_want_help(argc, argv)))
		return run_help(f, 0, NULL, NULL, err);
	if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0)
		return run_version(f, 0, NULL, NULL, err);
	if (at < 0)
		return err_fail(err, STATUS_USAGE, "which command? See 'arbor help'");
	word = argv[at];
	if (!verb_find(f->hub, str_of(word), &v)) {
		int behind = find_behind(f, at, argc, argv, &v);

		if (behind < 0)
			return at ? err_fail(err, STATUS_USAGE,
					     "unknown command '%.60s'; options of a command stand behind it: "
					     "arbor COMMAND %.60s %.60s",
					     word, argv[at - 1], word)
				  : verb_unknown(f->hub, str_of(word), err);
		at = behind;
	}
	under = find_under(f, &v, at, argc, argv);
	/* What stood before the verb counts as if it stood behind it. */
	memmove(argv + 1, argv, (size_t)at * sizeof *argv);
	if (under) {
		argv++;
		argc--;
		memmove(argv + 1, argv, (size_t)(under - 1) * sizeof *argv);
	}
	if (v.method->group && args_want_help(argc - 1, argv + 1))
		return help_asked(f, &v, argc - 1, argv + 1, err);
	return run_verb(f, &v, argc - 1, argv + 1, err);
}

/* An error of the output hides none of the call. */
static enum status end_output(struct face *f, enum status status, struct err *err)
{
	struct err flush;

	if (out_end(&f->out, &flush) == STATUS_OK || f->out.closed || status != STATUS_OK)
		return status;
	*err = flush;
	return flush.status;
}

/* The client that a verb has prepared, if one has. */
static enum status become_client(struct face *f, struct err *err)
{
	const char *path;

	if (!f->then.words)
		return STATUS_OK;
	if (find_client(f, &path, err))
		return err_failed(err->status);
	return become(path, f->then.folder, f->then.words, err);
}

int cli_main(const struct hub *hub, int argc, char **argv)
{
	struct face f = {
		.hub = hub,
		.log = { .level = LOG_WARN, .sink = log_to_stderr },
		.heard = LOG_WARN,
		.log_fd = -1,
		.cancel = &cancelled,
	};
	struct err err;
	enum status status;

	umask(077);
	f.log.ctx = &f;
	out_init(&f.out, COLOUR_AUTO, true, false);
	f.out.on_pager = face_take_interrupts;
	signal(SIGINT, on_interrupt);
	signal(SIGTERM, on_interrupt);
	signal(SIGXFSZ, SIG_IGN); /* the write fails instead, like that to a full disk */
	status = dispatch(&f, argc - 1, argv + 1, &err);
	status = end_output(&f, status, &err);
	if (status == STATUS_OK)
		status = become_client(&f, &err);
	if (status != STATUS_OK) {
		logfile_add(&f, status_info(status)->name, str_of(err.text));
		if (!f.left)
			say_error(&f.out, &err);
	}
	logfile_close(&f);
	children_free(f.children);
	arena_release(&f.mem);
	if (status == STATUS_CANCELLED)
		end_by_signal();
	return status_info(status)->exit_code;
}
