/*
 * The program: finds the command, reads its arguments, runs it, and turns the
 * outcome into an exit code. Exit codes are those of the status table
 * (base/err.c) and are listed by `arbor help`.
 */
#include "face/face.h"

#include "base/near.h"
#include "ingest/rebuild.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct command *const commands[] = {
	&command_sync, &command_sources, &command_export, &command_dump, &command_check, &command_call,
};

static const struct arg_option common_options[] = {
	{ "store", 0, "FILE", "use this store instead of the default one" },
	{ "quiet", 'q', NULL, "say only what went wrong" },
	{ "verbose", 'v', NULL, "say what is done to each file" },
	{ "help", 'h', NULL, "show this help" },
	{ 0 },
};

/* The one thing a signal handler can reach. */
static atomic_bool cancelled;

static void on_interrupt(int signal_number)
{
	/* A second one ends the program at once. */
	signal(signal_number, SIG_DFL);
	atomic_store(&cancelled, true);
}

/* ---- Where things are ------------------------------------------------------ */

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] ? v : NULL;
}

static const char *home(void)
{
	const char *h = env("HOME");
	const struct passwd *user;

	if (h)
		return h;
	user = getpwuid(getuid());
	return user ? user->pw_dir : "/";
}

static enum status join(char out[LIMIT_PATH], const char *a, const char *b, struct err *err)
{
	if (snprintf(out, LIMIT_PATH, "%s%s", a, b) >= LIMIT_PATH)
		return err_fail(err, STATUS_LIMIT, "%.100s...: path too long", a);
	return STATUS_OK;
}

static enum status find_store(struct face *f, struct err *err)
{
	struct str given = args_value(&f->args, "store");

	if (given.p && given.n == 0)
		return err_fail(err, STATUS_USAGE, "--store needs a file name");
	if (given.p)
		return join(f->store_path, given.p, "", err);
	if (env("ARBOR_HOME"))
		return join(f->store_path, env("ARBOR_HOME"), "/arbor.db", err);
	if (env("XDG_DATA_HOME"))
		return join(f->store_path, env("XDG_DATA_HOME"), "/arbor/arbor.db", err);
	return join(f->store_path, home(), "/.local/share/arbor/arbor.db", err);
}

enum status face_source_dir(struct face *f, char out[LIMIT_PATH], struct err *err)
{
	struct str given = args_value(&f->args, "source");

	if (given.p && given.n == 0)
		return err_fail(err, STATUS_USAGE, "--source needs a folder");
	if (given.p)
		return join(out, given.p, "", err);
	if (env("CLAUDE_CONFIG_DIR"))
		return join(out, env("CLAUDE_CONFIG_DIR"), "", err);
	return join(out, home(), "/.claude", err);
}

struct str face_file_name(struct str name, struct arena *mem)
{
	char *copy;

	if (name.n == 0 || name.p[0] != '/')
		return name;
	copy = arena_alloc(mem, name.n + 1);
	for (size_t cut = name.n; cut > 0;) {
		char *real;

		memcpy(copy, name.p, cut);
		copy[cut] = '\0';
		cut = (size_t)(strrchr(copy, '/') - copy);
		copy[cut] = '\0';
		real = realpath(cut ? copy : "/", NULL);
		if (real) {
			struct str rest = str_sub(name, cut, SIZE_MAX);
			struct str out = arena_printf(mem, "%s%.*s", real[1] ? real : "", STR_ARG(rest));

			free(real);
			return out;
		}
	}
	return name;
}

int face_columns(const struct face *f)
{
	struct winsize size;

	if (!f->out_is_terminal)
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

enum status face_open_store(struct face *f, bool create, struct store **out, struct err *err)
{
	struct store_options o = {
		.path = f->store_path,
		.create = create,
		.own_folder = !args_value(&f->args, "store").p && !env("ARBOR_HOME"),
		.log = &f->log,
		.cancel = f->cancel,
	};
	struct store *s CLEANUP(store_closep) = NULL;
	bool rebuilt;

	if (store_open(&o, &s, err) || rebuild_if_stale(s, NULL, &rebuilt, err))
		return err_failed(err->status);
	*out = s;
	s = NULL;
	return STATUS_OK;
}

/* ---- Help ------------------------------------------------------------------ */

static void print_options(const struct arg_option *list)
{
	for (; list && list->name; list++) {
		char left[48];
		bool optional = list->value && list->value[0] == '[';

		snprintf(left, sizeof left, "%s%c%s --%s%s%s", list->letter ? "-" : " ",
			 list->letter ? list->letter : ' ', list->letter ? "," : " ", list->name,
			 list->value && !optional ? " " : "", list->value ? list->value : "");
		out_printf("  %-26s %s\n", left, list->help);
	}
}

static void print_command_help(const struct command *c)
{
	out_printf("arbor %s: %s\n\nExamples:\n%s\nUsage: arbor %s %s\n\n%s\n", c->name, c->summary, c->examples,
		   c->name, c->usage, c->text);
	if (c->options) {
		out_printf("Options:\n");
		print_options(c->options);
		out_printf("\n");
	}
	out_printf("Always:\n");
	print_options(common_options);
}

/* One line a code, in order; several statuses may share one. */
static void print_exit_codes(void)
{
	for (int code = 0; code < 256; code++) {
		const char *between = NULL;

		for (int s = 0; s < STATUS_COUNT; s++) {
			const struct status_info *info = status_info((enum status)s);

			if (info->exit_code != code)
				continue;
			if (!between)
				out_printf("  %3d  ", code);
			out_printf("%s%s", between ? between : "", info->sentence);
			between = ", or ";
		}
		if (between)
			out_printf("\n");
	}
}

static void print_help(void)
{
	out_printf("Arbor keeps the conversations you have with coding agents.\n\n"
		   "Usage: arbor COMMAND [OPTIONS] ...\n\nCommands:\n");
	for (size_t i = 0; i < COUNT(commands); i++)
		out_printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	out_printf("\nTry:\n"
		   "  arbor sync               # mirror ~/.claude\n"
		   "  arbor sources            # what is kept\n"
		   "  arbor help sync          # more about a command\n\n"
		   "The store is $ARBOR_HOME/arbor.db, else $XDG_DATA_HOME/arbor/arbor.db\n"
		   "(usually ~/.local/share/arbor/arbor.db), or --store FILE.\n\n"
		   "Exit codes:\n");
	print_exit_codes();
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static enum status unknown_command(const char *name, struct err *err)
{
	struct near near = near_begin(str_of(name));

	for (size_t i = 0; i < COUNT(commands); i++)
		near_try(&near, commands[i]->name);
	return err_fail(err, STATUS_USAGE, "unknown command '%.60s'%s%s%s", name, near.best ? "; did you mean '" : "",
			near.best ? near.best : ", see 'arbor help'", near.best ? "'?" : "");
}

static enum status help(int argc, char **argv, struct err *err)
{
	const struct command *c = argc > 0 ? find_command(argv[0]) : NULL;

	if (argc > 0 && !c)
		return unknown_command(argv[0], err);
	if (argc > 1)
		return err_fail(err, STATUS_USAGE, "help: one command at a time");
	if (c)
		print_command_help(c);
	else
		print_help();
	return out_flush(err);
}

/* ---- Running --------------------------------------------------------------- */

static void log_to_stderr(void *ctx, enum log_level level, struct str text)
{
	char front[32];

	snprintf(front, sizeof front, "arbor: %s: ", log_level_name(level));
	say_foreign(ctx, front, text);
}

static enum status check_words(const struct command *c, const struct args *a, struct err *err)
{
	if (a->word_count >= c->least_words && a->word_count <= c->most_words)
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE, "%s: usage: arbor %s %s",
			a->word_count < c->least_words ? "something is missing" : "too many arguments", c->name,
			c->usage);
}

/* Where the command stands: options that every command takes may come before. */
static int find_word(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (argv[i][0] != '-')
			return i;
		if (strcmp(argv[i], "--store") == 0)
			i++;
	}
	return -1;
}

static enum status read_command_line(struct face *f, int argc, char **argv, struct err *err)
{
	int at = find_word(argc, argv);
	char *word;

	if (at < 0)
		return err_fail(err, STATUS_USAGE, "which command? See 'arbor help'");
	word = argv[at];
	f->command = find_command(word);
	if (!f->command)
		return unknown_command(word, err);
	memmove(argv + 1, argv, (size_t)at * sizeof *argv);
	if (args_read(&f->args, argc - 1, argv + 1, f->command->options, common_options, err))
		return err_pass(err, "%s", f->command->name);
	return STATUS_OK;
}

static enum status run_command(struct face *f, int argc, char **argv, struct err *err)
{
	struct err flush;
	enum status status;

	if (read_command_line(f, argc, argv, err))
		return err_failed(err->status);
	if (args_has(&f->args, "help")) {
		print_command_help(f->command);
		return out_flush(err);
	}
	if (check_words(f->command, &f->args, err) || find_store(f, err))
		return err_failed(err->status);
	f->quiet = args_has(&f->args, "quiet");
	f->log.level = args_has(&f->args, "verbose") ? LOG_DEBUG : f->quiet ? LOG_ERROR : LOG_WARN;
	status = f->command->run(f, err);
	if ((status == STATUS_OK || status == STATUS_PARTIAL) && out_flush(&flush)) {
		*err = flush;
		return err_failed(flush.status);
	}
	return status;
}

static enum status dispatch(struct face *f, int argc, char **argv, struct err *err)
{
	if (argc < 2)
		return help(0, NULL, err);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
		out_printf("arbor %s\n", ARBOR_VERSION);
		return out_flush(err);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
		return help(argc - 2, argv + 2, err);
	return run_command(f, argc - 1, argv + 1, err);
}

int main(int argc, char **argv)
{
	struct face f = {
		.log = { .level = LOG_WARN, .sink = log_to_stderr },
		.cancel = &cancelled,
		.out_is_terminal = isatty(STDOUT_FILENO) == 1,
		.err_is_terminal = isatty(STDERR_FILENO) == 1,
	};
	struct err err;
	enum status status;

	umask(077);
	f.log.ctx = &f;
	signal(SIGINT, on_interrupt);
	signal(SIGTERM, on_interrupt);
	signal(SIGXFSZ, SIG_IGN); /* the write fails instead, like that to a full disk */
	status = dispatch(&f, argc, argv, &err);
	if (status != STATUS_OK)
		say_error(&f, &err);
	return status_info(status)->exit_code;
}
