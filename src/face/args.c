/*
 * Reading a command line against a method's parameters: options anywhere, "--"
 * ends them, --name=value or --name value, letters together, --no-x for a switch.
 * The last one wins when a switch, a number or an option of every verb is given twice, as everywhere: an
 * alias may have given the first. Of anything else somebody could mean both, and is told that only one can be.
 *
 * What is nobody else's business (PARAM_PRIVATE) is wiped out of the command line once it is read: whoever
 * lists processes sees it only for a moment. What nobody is ever to see goes through standard input.
 *
 * The options of every verb are parameters of a method too (verb.c), so that the
 * same code reads, checks and explains both.
 */
#include "face/face.h"

#include "base/near.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- Finding ---------------------------------------------------------------- */

/* What is usually a word may also be given by its name. */
static const struct param *find_name(const struct method *m, struct str name)
{
	return params_find(&(struct params){ .method = m }, name);
}

const struct param *args_option(const struct method *m, struct str name)
{
	const struct param *q = find_name(m, name);

	return q ? q : find_name(&common_options, name);
}

static const struct param *find_letter(const struct method *m, char letter)
{
	for (const struct param *q = m->params; q && q->name; q++)
		if (q->letter == letter)
			return q;
	return NULL;
}

const struct param *args_letter(const struct method *m, char letter)
{
	const struct param *q = find_letter(m, letter);

	return q ? q : find_letter(&common_options, letter);
}

bool args_takes_word(const struct param *q)
{
	return q->type != VALUE_BOOL && !(q->flags & PARAM_BARE);
}

const struct param *args_word(const struct method *m, size_t number)
{
	const struct param *rest = NULL;

	for (const struct param *q = m->params; q && q->name; q++) {
		if (!(q->flags & PARAM_WORD))
			continue;
		if (q->flags & PARAM_REST)
			rest = q;
		else if (number-- == 0)
			return q;
	}
	return rest;
}

int args_first_word(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const struct param *q = NULL;

		if (argv[i][0] != '-')
			return i;
		if (strncmp(argv[i], "--", 2) == 0)
			q = find_name(&common_options, str_of(argv[i] + 2)); /* "x=y" is no name */
		if (q && args_takes_word(q))
			i++;
	}
	return -1;
}

bool args_are_options(const struct method *m, int argc, char **argv)
{
	int i = 0;

	while (i < argc) {
		bool is_long = strncmp(argv[i], "--", 2) == 0;
		struct str value, name = str_cut(str_of(argv[i] + (is_long ? 2 : 0)), '=', &value);
		const struct param *q;

		if (argv[i][0] != '-' || name.n < 2)
			return false;
		q = is_long ? args_option(m, name) : args_letter(m, argv[i][1]);
		if (!q)
			return false;
		i += args_takes_word(q) && (is_long ? !value.p : !argv[i][2]) ? 2 : 1;
	}
	return i == argc;
}

bool args_have(int argc, char **argv, const char *option)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], option) == 0)
			return true;
	return false;
}

bool args_want_help(int argc, char **argv)
{
	return args_have(argc, argv, "--help") || args_have(argc, argv, "-h");
}

/* ---- Reading ---------------------------------------------------------------- */

struct reader {
	struct face *face;
	struct args *args;
	const struct method *method;
	char **argv;
	int argc, at;
};

static bool belongs(const struct method *m, const struct param *wanted)
{
	for (const struct param *q = m->params; q && q->name; q++)
		if (q == wanted)
			return true;
	return false;
}

static enum status read_input(struct reader *r, struct str *out, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);
	enum { PIECE = 64 * 1024 };
	ssize_t got = 0;
	char *to;

	while ((to = buf_reserve(&text, PIECE))) {
		do {
			got = read(STDIN_FILENO, to, PIECE);
		} while (got < 0 && errno == EINTR && !atomic_load(r->face->cancel));
		if (got <= 0)
			break;
		buf_grew(&text, (size_t)got);
	}
	if (!to)
		return err_fail(err, STATUS_LIMIT, "standard input is longer than %zu MiB", LIMIT_SMALL_FILE / MIB);
	if (got < 0)
		return err_fail_errno(err, errno, "standard input");
	*out = arena_str(&r->face->mem, buf_as_str(&text));
	return STATUS_OK;
}

/* The end of the argument that is being read, where `value` is; its copy was taken. */
static void wipe(struct reader *r, struct str value)
{
	char *arg = r->argv[r->at];
	size_t n = strlen(arg);

	memset(arg + n - value.n, 0, value.n);
}

/* Words that are joined have all of them in their last value. */
static bool may_repeat(const struct reader *r, const struct param *q)
{
	return q->type == VALUE_BOOL || q->type == VALUE_INT || q->type == VALUE_BYTES || (q->flags & PARAM_JOIN) ||
	       !belongs(r->method, q);
}

static enum status set(struct reader *r, const struct param *q, struct str value, struct err *err)
{
	struct params *p = belongs(r->method, q) ? &r->args->own : &r->args->common;
	struct str typed = value;

	if ((q->flags & PARAM_INPUT) && str_eq(value, STR("-")) && read_input(r, &value, err))
		return err_failed(err->status);
	if (may_repeat(r, q) && !(q->flags & PARAM_REST))
		params_unset(p, q);
	if (params_set_text(p, q, value, err))
		return err_failed(err->status);
	if (q->flags & PARAM_PRIVATE)
		wipe(r, typed);
	return STATUS_OK;
}

/* The only one that begins so, else the one that is written nearly so; NULL = none. */
static const char *nearest_option(const struct reader *r, struct str name)
{
	const struct method *both[] = { r->method, &common_options };
	struct near near = near_begin(name);
	const char *longer = NULL;
	char typed[PARAM_TYPED];
	int count = 0;

	for (size_t i = 0; i < COUNT(both); i++)
		for (const struct param *q = both[i]->params; q && q->name; q++) {
			const char *option;

			if (q->flags & PARAM_WORD)
				continue;
			option = arena_cstr(&r->face->mem, str_of(param_typed(q, typed) + 2));
			near_try(&near, option);
			if (name.n && str_has_prefix(str_of(option), name) && ++count == 1)
				longer = option;
		}
	return count == 1 ? longer : near.best;
}

/* A verb of the same group that has the option, since they do much alike; NULL = none. */
static const char *other_with(const struct reader *r, struct str name)
{
	const char *group = r->method->group;
	char typed[PARAM_TYPED];
	struct verb v;

	for (size_t i = 0; group && verb_at(r->face->hub, i, &v); i++)
		for (const struct param *q = v.method->params; q && q->name; q++)
			if (v.method->group && strcmp(v.method->group, group) == 0 &&
			    !(q->flags & PARAM_WORD) && str_eq(str_of(param_typed(q, typed) + 2), name))
				return v.method->verb;
	return NULL;
}

static enum status unknown_option(const struct reader *r, struct str name, struct err *err)
{
	const char *near = nearest_option(r, name), *other = near ? NULL : other_with(r, name);

	if (other)
		return err_fail(err, STATUS_USAGE, "unknown option '--%.*s'; 'arbor %s' has it",
				(int)size_min(name.n, 60), name.p, other);
	return err_fail(err, STATUS_USAGE, "unknown option '--%.*s'%s%s%s", (int)size_min(name.n, 60), name.p,
			near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

static enum status needs_value(const struct reader *r, const struct param *q, struct err *err)
{
	char shown[PARAM_TYPED];

	return err_fail(err, STATUS_USAGE, "option '%.60s' needs a value: %s", r->argv[r->at],
			param_shown(q, shown));
}

/* "--no-x" for the switch x; NULL when it is none. */
static const struct param *negated(const struct method *m, struct str name)
{
	const struct param *q;

	if (!str_has_prefix(name, STR("no-")))
		return NULL;
	q = args_option(m, str_sub(name, 3, SIZE_MAX));
	return q && q->type == VALUE_BOOL ? q : NULL;
}

static enum status long_option(struct reader *r, struct err *err)
{
	struct str value, name = str_cut(str_of(r->argv[r->at] + 2), '=', &value);
	const struct param *q = args_option(r->method, name);

	if (!q && !value.p && (q = negated(r->method, name)))
		return set(r, q, STR("false"), err);
	if (!q)
		return unknown_option(r, name, err);
	if (q->type == VALUE_BOOL && value.p)
		return err_fail(err, STATUS_USAGE, "option '--%.*s' takes no value", STR_ARG(name));
	if (args_takes_word(q) && !value.p) {
		if (r->at + 1 >= r->argc)
			return needs_value(r, q, err);
		value = str_of(r->argv[++r->at]);
	}
	return set(r, q, value, err);
}

/* Of any number of words one may begin with '-'; ids, files and the like never do. */
static const char *word_hint(const struct method *m)
{
	for (const struct param *q = m->params; q && q->name; q++)
		if ((q->flags & PARAM_WORD) && (q->flags & (PARAM_REST | PARAM_JOIN)) &&
		    q->type == VALUE_TEXT && !q->names)
			return "; in quotes with the words before it, or behind --, it is none";
	return "";
}

/* "-x", "-x value", "-xvalue", "-xyz". */
static enum status short_options(struct reader *r, struct err *err)
{
	const char *arg = r->argv[r->at];
	uint64_t number;

	for (const char *c = arg + 1; *c; c++) {
		const struct param *q = args_letter(r->method, *c);

		if (!q)
			return err_fail(err, STATUS_USAGE, "unknown option '%.40s'%s", arg, word_hint(r->method));
		if (args_takes_word(q)) {
			if (!c[1] && r->at + 1 >= r->argc)
				return needs_value(r, q, err);
			/* A number is what the option wants, not a word to be left out. */
			if (c[1] && !str_to_u64(str_of(c + 1), &number) && word_hint(r->method)[0])
				r->args->glued = arg;
			return set(r, q, str_of(c[1] ? c + 1 : r->argv[++r->at]), err);
		}
		if (set(r, q, (struct str){ 0 }, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status usage(const struct reader *r, const char *what, struct err *err)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(KIB);
	struct verb v;

	if (!r->method->verb || !verb_find(r->face->hub, str_of(r->method->verb), &v))
		return err_fail(err, STATUS_USAGE, "%s", what);
	help_usage(&line, &v);
	return err_fail(err, STATUS_USAGE, "%s; usage: arbor %s", what, line.p);
}

/* What the next word fills: the first word that is missing, else what takes the rest. */
static const struct param *next_word(const struct reader *r)
{
	const struct param *q;

	for (size_t i = 0; (q = args_word(r->method, i)); i++)
		if ((q->flags & (PARAM_REST | PARAM_JOIN)) || !params_value(&r->args->own, q)->given)
			return q;
	return NULL;
}

/* A file or folder that nobody takes as a word belongs to the option that wants one. */
static enum status too_many(const struct reader *r, struct err *err)
{
	const struct param *q = r->method->params;
	char typed[PARAM_TYPED];

	while (q && q->name && !(q->flags & PARAM_WORD && str_eq(str_of(q->name), STR("name"))))
		q++;
	if (q && q->name)
		return err_fail(err, STATUS_USAGE, "too many arguments; a name is one word");
	q = r->method->params;
	if (q && q->names && !strcmp(q->names, "memory.sessions") && access(r->argv[r->at], F_OK))
		return err_fail(err, STATUS_USAGE,
				"too many arguments; an id or a name is one word, and 'arbor search' finds by words");
	while (q && q->name && (q->type != VALUE_PATH || (q->flags & PARAM_WORD)))
		q++;
	if (!q || !q->name)
		return usage(r, "too many arguments", err);
	return err_fail(err, STATUS_USAGE, "too many arguments; did you mean '%s %.60s'?",
			param_typed(q, typed), r->argv[r->at]);
}

/* What is no JSON was typed wrong, like any other word. */
static enum status set_object(struct params *p, struct str json, struct err *err)
{
	enum status status = params_set_json(p, json, err);

	if (status != STATUS_FORMAT)
		return status;
	err->status = STATUS_USAGE;
	return err_failed(err->status);
}

static enum status word(struct reader *r, struct err *err)
{
	struct str text = str_of(r->argv[r->at]);
	const struct param *q;

	if (r->args->takes_raw && str_has_prefix(text, STR("{")) && !r->args->raw.p) {
		r->args->raw = arena_str(&r->face->mem, text);
		wipe(r, text);
		return STATUS_OK;
	}
	if (r->args->takes_json && str_has_prefix(text, STR("{"))) {
		r->args->own.typed = false;
		if (set_object(&r->args->own, text, err))
			return err_failed(err->status);
		wipe(r, text);
		return STATUS_OK;
	}
	q = next_word(r);
	if (q && (q->flags & PARAM_JOIN) && params_value(&r->args->own, q)->given)
		text = arena_printf(&r->face->mem, "%.*s %s", STR_ARG(params_value(&r->args->own, q)->text),
				    r->argv[r->at]);
	return q ? set(r, q, text, err) : too_many(r, err);
}

/* Words that are missing are told with the usage. */
static enum status complete(struct reader *r, struct err *err)
{
	struct params *p = &r->args->own;

	for (const struct param *q = r->method->params; q && q->name; q++) {
		char what[PARAM_TYPED + 16], shown[PARAM_TYPED];

		if (params_value(p, q)->given && r->args->raw.p)
			return err_fail(err, STATUS_USAGE, "parameters as JSON or as options, not both");
		if (params_value(p, q)->given || r->args->raw.p)
			continue;
		if (!(q->flags & PARAM_WORD) || !(q->flags & PARAM_REQUIRED) || r->args->takes_json)
			continue;
		snprintf(what, sizeof what, "%s is missing", param_shown(q, shown));
		return usage(r, what, err);
	}
	return r->args->raw.p ? STATUS_OK : params_end(p, err);
}

enum status args_read(struct face *f, struct args *a, const struct method *m, int argc, char **argv,
		      struct err *err)
{
	struct reader r = { .face = f, .args = a, .method = m, .argv = argv, .argc = argc };
	bool options_end = false;

	params_begin(&a->own, m, &f->mem);
	params_begin(&a->common, &common_options, &f->mem);
	a->own.typed = a->common.typed = true;
	a->own.settings = a->common.settings = f->settings;
	for (; r.at < argc; r.at++) {
		const char *arg = argv[r.at];
		enum status status;

		if (!options_end && strcmp(arg, "--") == 0) {
			options_end = true;
			continue;
		}
		if (!options_end && strncmp(arg, "--", 2) == 0)
			status = long_option(&r, err);
		else if (!options_end && arg[0] == '-' && arg[1])
			status = short_options(&r, err);
		else
			status = word(&r, err);
		if (status != STATUS_OK)
			return status;
	}
	return complete(&r, err);
}
