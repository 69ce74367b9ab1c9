/*
 * The settings: their table, their values, and reading them from a text.
 *
 * A file is JSON as people edit it (base/jsonc.h). {"search": {"limit": 5}} and
 * {"search.limit": 5} are the same: names of members are joined by dots on the
 * way down, and only into objects that are the front of some key, so the depth of
 * the walk is that of the table, whatever the file nests.
 *
 * Nothing is passed over in silence. What cannot be meant (a wrong type, a value
 * out of bounds) is an error at its line and column. What may be meant for another
 * version of Arbor, or may not be set here, is a warning and changes nothing.
 * Where the files are is not here but in settings_load.c.
 *
 * Invariants: sources are read from the weakest to the strongest, so that setting
 * a value is overwriting it; a value that is set has passed the checks of its
 * parameter (hub/params.h). Places in a file are computed for what is reported
 * and, at the end, for each key once: a hostile file cannot make this slow.
 */
#include "hub/settings.h"

#include "base/jsonc.h"
#include "base/near.h"
#include "base/place.h"
#include "claude/price.h"
#include "hub/children.h"
#include "hub/params.h"
#include "query/weights.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct setting {
	struct value value;
	enum setting_source from;
	size_t at;	   /* in a file: the byte at which its key stands */
	struct str origin; /* as settings_origin() gives it */
};

/* ---- The table -------------------------------------------------------------- */

static const char why_path[] = "a project may not choose which files are read or written";
static const char why_keep[] = "a project may not choose what is kept";
static const char why_author[] = "a project may not say who you are";
static const char why_command[] = "a project may not choose commands";
static const char why_answers[] = "a project may not say how its agents are answered";
static const char why_hubs[] = "a project may not choose which programs are asked";

static const char *const colors[] = { "auto", "always", "never", NULL };
static const char *const pages[] = { "auto", "never", NULL };

static enum status check_prices(struct str text, struct arena *mem, struct err *err)
{
	struct prices ignored;

	return prices_read(text, mem, &ignored, err);
}

static enum status check_weights(struct str text, struct arena *mem, struct err *err)
{
	double ignored[SEARCH_PLACES];

	return weights_read(text, mem, ignored, err);
}

static enum status check_hubs(struct str text, struct arena *mem, struct err *err)
{
	struct child_setting *ignored;
	size_t count;

	return children_read(text, mem, &ignored, &count, err);
}

/* In the order of docs/SETTINGS.md. A path, a command, a hub and anything about
 * scrubbing secrets is SETTING_USER_ONLY. */
const struct setting_key setting_keys[] = {
	{ .param = { .name = "store", .type = VALUE_PATH, .help = "the store file" },
	  .flags = SETTING_USER_ONLY,
	  .why = why_path },
	{ .param = { .name = "source",
		     .type = VALUE_PATH,
		     .initial = "~/.claude",
		     .help = "the folder of Claude Code that is mirrored" },
	  .env = "CLAUDE_CONFIG_DIR",
	  .flags = SETTING_USER_ONLY,
	  .why = why_path },
	{ .param = { .name = "claude",
		     .type = VALUE_TEXT,
		     .help = "the client that is started for agents: its path, or its name in PATH" },
	  .env = "ARBOR_CLAUDE",
	  .flags = SETTING_USER_ONLY,
	  .why = why_command },
	{ .param = { .name = "agent.silence",
		     .type = VALUE_INT,
		     .least = 0,
		     .most = 1000000,
		     .initial = "7200",
		     .help = "seconds: an agent that says nothing for so long, and waits for no answer, is "
			     "ended; 0: never" },
	  .env = "ARBOR_AGENT_SILENCE" },
	{ .param = { .name = "streams.delta_days",
		     .type = VALUE_INT,
		     .least = 0,
		     .most = 36500,
		     .initial = "30",
		     .help = "how many days what an agent said is kept word by word, before the words of each "
			     "block are put together; 0: for ever" },
	  .env = "ARBOR_STREAMS_DELTA_DAYS",
	  .flags = SETTING_USER_ONLY,
	  .why = why_keep },
	{ .param = { .name = "sync.exclude",
		     .type = VALUE_TEXT,
		     .help = "what is not mirrored: patterns as of --exclude, ':' between them" },
	  .env = "ARBOR_SYNC_EXCLUDE",
	  .flags = SETTING_USER_ONLY,
	  .why = why_keep },
	{ .param = { .name = "sync.max_size",
		     .type = VALUE_BYTES,
		     .least = 0,
		     .most = 1099511627776,
		     .initial = "0",
		     .help = "larger files are not mirrored; 0: all are" },
	  .env = "ARBOR_SYNC_MAX_SIZE",
	  .flags = SETTING_USER_ONLY,
	  .why = why_keep },
	{ .param = { .name = "color",
		     .type = VALUE_ENUM,
		     .choices = colors,
		     .initial = "auto",
		     .help = "whether output has colors; auto: on a terminal" },
	  .env = "ARBOR_COLOR" },
	{ .param = { .name = "pager",
		     .type = VALUE_TEXT,
		     .initial = "less",
		     .help = "the command that shows long output, with its arguments; no shell" },
	  .env = "ARBOR_PAGER",
	  .general_env = "PAGER",
	  .flags = SETTING_USER_ONLY,
	  .why = why_command },
	{ .param = { .name = "page",
		     .type = VALUE_ENUM,
		     .choices = pages,
		     .initial = "auto",
		     .help = "whether long output goes through the pager; auto: on a terminal" },
	  .env = "ARBOR_PAGE" },
	{ .param = { .name = "search.limit",
		     .type = VALUE_INT,
		     .least = 1,
		     .most = 10000,
		     .initial = "10",
		     .help = "how many results a search shows" },
	  .env = "ARBOR_SEARCH_LIMIT" },
	{ .param = { .name = "search.weights",
		     .type = VALUE_JSON,
		     .shown = "an object such as " WEIGHTS_EXAMPLE,
		     .help = "how much a hit counts by where it stands" },
	  .env = "ARBOR_SEARCH_WEIGHTS",
	  .check = check_weights },
	{ .param = { .name = "list.limit",
		     .type = VALUE_INT,
		     .least = 0,
		     .most = 10000,
		     .initial = "50",
		     .help = "how many entries a list shows; 0: all" },
	  .env = "ARBOR_LIST_LIMIT" },
	{ .param = { .name = "show.full",
		     .type = VALUE_BOOL,
		     .initial = "false",
		     .help = "whether long tool output is shown whole" },
	  .env = "ARBOR_SHOW_FULL" },
	{ .param = { .name = "author",
		     .type = VALUE_TEXT,
		     .initial = "me",
		     .help = "who writes notes, and sets bookmarks and tags" },
	  .env = "ARBOR_AUTHOR",
	  .general_env = "USER",
	  .flags = SETTING_USER_ONLY,
	  .why = why_author },
	{ .param = { .name = "lifecycle.scheduled_days",
		     .type = VALUE_INT,
		     .least = 0,
		     .most = 36500,
		     .initial = "7",
		     .help = "how many days a tree or node that nobody keeps is scheduled, before it is archived" },
	  .env = "ARBOR_LIFECYCLE_SCHEDULED_DAYS",
	  .flags = SETTING_USER_ONLY,
	  .why = why_keep },
	{ .param = { .name = "lifecycle.archived_days",
		     .type = VALUE_INT,
		     .least = 0,
		     .most = 36500,
		     .initial = "30",
		     .help = "how many days it is archived, before it is purged" },
	  .env = "ARBOR_LIFECYCLE_ARCHIVED_DAYS",
	  .flags = SETTING_USER_ONLY,
	  .why = why_keep },
	{ .param = { .name = "approvals.expire",
		     .type = VALUE_INT,
		     .least = 0,
		     .most = 86400 * 7,
		     .initial = "0",
		     .help = "after how many seconds a question about a tool that nobody answered is denied; 0: "
			     "never" },
	  .env = "ARBOR_APPROVALS_EXPIRE",
	  .flags = SETTING_USER_ONLY,
	  .why = why_answers },
	{ .param = { .name = "usage.prices",
		     .type = VALUE_JSON,
		     .shown = "an object such as " PRICES_EXAMPLE,
		     .help = "what models cost, in dollars per million tokens, before the prices that are built in" },
	  .env = "ARBOR_USAGE_PRICES",
	  .check = check_prices },
	{ .param = { .name = "hubs",
		     .type = VALUE_JSON,
		     .shown = "an object such as " CHILDREN_EXAMPLE,
		     .help = "other hubs: programs that are asked by JSON-RPC, each by its name" },
	  .flags = SETTING_USER_ONLY,
	  .why = why_hubs,
	  .check = check_hubs },
	{ .param = { .name = NULL } },
};

static const struct setting_key *find_key(struct str name)
{
	for (const struct setting_key *k = setting_keys; k->param.name; k++)
		if (str_eq(name, str_of(k->param.name)))
			return k;
	return NULL;
}

/* Whether it is the front of a key: "search" of "search.limit". */
static bool is_group(struct str name)
{
	for (const struct setting_key *k = setting_keys; k->param.name; k++) {
		struct str key = str_of(k->param.name);

		if (name.n < key.n && key.p[name.n] == '.' && str_has_prefix(key, name))
			return true;
	}
	return false;
}

void setting_wants(const struct setting_key *key, struct buf *out)
{
	const struct param *p = &key->param;

	switch (p->type) {
	case VALUE_INT:
		buf_text(out, "a whole number");
		if (p->least < p->most)
			buf_printf(out, " from %" PRId64 " to %" PRId64, p->least, p->most);
		break;
	case VALUE_BOOL:
		buf_text(out, "true or false");
		break;
	case VALUE_ENUM:
		for (const char *const *c = p->choices; *c; c++)
			buf_printf(out, "%s%s", c == p->choices ? "one of " : ", ", *c);
		break;
	case VALUE_PATH:
		buf_text(out, "a path that begins with / or ~/");
		break;
	case VALUE_TEXT:
		buf_text(out, "a text that is not empty");
		break;
	case VALUE_BYTES:
		buf_text(out, BYTES_EXAMPLES);
		if (p->least < p->most)
			buf_printf(out, ", at most %" PRId64, p->most);
		break;
	case VALUE_TIME:
	case VALUE_ID:
	case VALUE_HANDLE:
	case VALUE_JSON:
	case VALUE_OBJECT:
	case VALUE_TYPES:
		if (p->shown)
			buf_text(out, p->shown);
		else
			buf_printf(out, "a value of type %s", value_type_name(p->type));
		break;
	}
}

/* ---- Values ----------------------------------------------------------------- */

static struct setting *setting_of(const struct settings *s, const struct setting_key *k)
{
	return &s->list[k - setting_keys];
}

/* A path as a file may give it: absolute, or below home. Relative to what, a
 * reader could only guess. */
static bool resolve_path(const struct settings *s, struct str *path)
{
	struct str rest = str_sub(*path, 1, SIZE_MAX);

	if (str_has_prefix(*path, STR("/")))
		return true;
	if (!s->home || !str_has_prefix(*path, STR("~")) || (rest.n && rest.p[0] != '/'))
		return false;
	*path = arena_printf(s->mem, "%s%.*s", s->home, STR_ARG(rest));
	return true;
}

/* What a parameter's checks leave to us: texts become names of files and commands,
 * which can be neither empty nor hold a NUL. */
static bool is_usable(const struct setting_key *k, const struct value *v)
{
	if (k->param.type != VALUE_TEXT && k->param.type != VALUE_PATH)
		return true;
	return v->text.n && !str_has_byte(v->text, '\0');
}

static enum status refuse(enum status status, struct str name, const char *wants, struct str shown,
			  struct err *err)
{
	enum { MOST_SHOWN = 60 };

	return err_fail(err, status, "%.*s: wants %s, not %.*s%s", STR_ARG(name), wants,
			(int)size_min(shown.n, MOST_SHOWN), shown.p ? shown.p : "",
			shown.n > MOST_SHOWN ? "..." : "");
}

static enum status refuse_value(enum status status, const struct setting_key *k, struct str shown,
				struct err *err)
{
	struct buf wants CLEANUP(buf_release) = BUF_INIT(KIB);

	setting_wants(k, &wants);
	return refuse(status, str_of(k->param.name), wants.p ? wants.p : "", shown, err);
}

/* From what is typed: a variable or a flag. */
static enum status set_text(struct settings *s, const struct setting_key *k, struct str text,
			    enum setting_source from, struct str origin, struct err *err)
{
	struct value v = { .given = true };

	if (param_from_text(&k->param, text, s->mem, &v, err) || !is_usable(k, &v))
		return refuse_value(STATUS_USAGE, k, arena_printf(s->mem, "'%.*s'", STR_ARG(text)), err);
	if (k->check && k->check(v.text, s->mem, err)) {
		err->status = STATUS_USAGE;
		return err_pass(err, "%s", k->param.name);
	}
	*setting_of(s, k) = (struct setting){ .value = v, .from = from, .origin = origin };
	return STATUS_OK;
}

static struct value initial_value(const struct setting_key *k)
{
	struct arena none CLEANUP(arena_release) = ARENA_INIT;
	struct str text = str_of(k->param.initial);
	struct value v = { 0 };
	struct err err;

	if (!text.p)
		return v;
	if (param_from_text(&k->param, text, &none, &v, &err))
		bug("a setting has a default that it does not take");
	if (k->param.type != VALUE_ENUM)
		v.text = text; /* the constant, not the copy in `none` */
	return v;
}

static size_t count_keys(void)
{
	size_t count = 0;

	while (setting_keys[count].param.name)
		count++;
	return count;
}

void settings_begin(struct settings *s, const char *home, struct arena *mem)
{
	*s = (struct settings){ .mem = mem,
				.home = home,
				.list = arena_alloc(mem, count_keys() * sizeof *s->list) };
	for (const struct setting_key *k = setting_keys; k->param.name; k++) {
		struct setting *x = setting_of(s, k);

		*x = (struct setting){ .value = initial_value(k), .origin = STR("default") };
		if (k->param.type == VALUE_PATH && !resolve_path(s, &x->value.text))
			x->value.text = (struct str){ 0 };
	}
}

enum status settings_read_env(struct settings *s, enum setting_source from,
			      const struct settings_where *where, struct err *err)
{
	for (const struct setting_key *k = setting_keys; k->param.name; k++) {
		const char *name = from == SETTING_GENERAL ? k->general_env : k->env;
		const char *text = name && where->env ? where->env(where->ctx, name) : NULL;
		struct str origin;

		if (!text || !text[0]) /* set to nothing is how a shell says "not set" */
			continue;
		origin = arena_printf(s->mem, "environment %s", name);
		if (set_text(s, k, str_of(text), from, origin, err))
			return err_pass(err, "%s", origin.p);
	}
	return STATUS_OK;
}

enum status settings_set_flag(struct settings *s, const char *key, struct str text, struct err *err)
{
	const struct setting_key *k = find_key(str_of(key));

	if (!k)
		bug("a flag sets a setting that does not exist");
	return set_text(s, k, text, SETTING_FLAG, STR("flag"), err);
}

/* ---- Reading a file --------------------------------------------------------- */

struct reading {
	struct settings *s;
	enum setting_source from;
	const char *file;
	struct str text; /* as it is in the file */
	struct json json;
	const struct log *log;
	size_t warnings;
};

static void reading_release(struct reading *r)
{
	json_release(&r->json);
}

/* Whether the next warning is still told and not only counted. */
static bool is_heard(const struct reading *r)
{
	return r->warnings < LIMIT_SETTINGS_WARNINGS;
}

static ATTR_PRINTF(3, 4) void tell(struct reading *r, size_t at, const char *format, ...)
{
	struct place place;
	char text[1024];
	va_list args;

	r->warnings++;
	if (r->warnings > LIMIT_SETTINGS_WARNINGS)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	place = place_of(r->text, at);
	log_warn(r->log, "%s:%zu:%zu: %s", r->file, place.line, place.column, text);
}

/* Puts file, line and column in front of the error. */
static enum status fail_at(const struct reading *r, size_t at, struct err *err)
{
	struct place place = place_of(r->text, at);

	return err_pass(err, "%s:%zu:%zu", r->file, place.line, place.column);
}

static size_t start_of(const struct reading *r, uint32_t node)
{
	return r->json.tape[node].start;
}

/* A value for an error: itself when it is short by nature. */
static struct str shown_value(const struct reading *r, uint32_t node)
{
	if (json_is(&r->json, node, JSON_OBJECT))
		return STR("an object");
	if (json_is(&r->json, node, JSON_ARRAY))
		return STR("a list");
	return json_raw(&r->json, node);
}

static void tell_unknown(struct reading *r, uint32_t key, struct str name)
{
	struct near near = near_begin(name);

	for (const struct setting_key *k = setting_keys; k->param.name && is_heard(r); k++) {
		struct str full = str_of(k->param.name);
		size_t dot = str_rfind(full, '.');

		near_try(&near, k->param.name);
		if (dot != SIZE_MAX) /* the group may be what is misspelt */
			near_try(&near, arena_cstr(r->s->mem, str_sub(full, 0, dot)));
	}
	tell(r, start_of(r, key), "no setting '%.*s'; %s%s%s", (int)size_min(name.n, 60), name.p ? name.p : "",
	     near.best ? "did you mean '" : "it is ignored", near.best ? near.best : "", near.best ? "'?" : "");
}

static void tell_refused(struct reading *r, uint32_t key, const struct setting_key *k)
{
	tell(r, start_of(r, key), "'%s' is ignored here: %s; set it in %s", k->param.name, k->why,
	     r->s->user_file ? r->s->user_file : "your own settings file");
}

static void tell_repeated(struct reading *r, uint32_t key, const struct setting_key *k)
{
	struct place first = { 0 };

	if (is_heard(r))
		first = place_of(r->text, setting_of(r->s, k)->at);
	tell(r, start_of(r, key), "'%s' is set twice, before at %zu:%zu; this one counts", k->param.name,
	     first.line, first.column);
}

static enum status take(struct reading *r, uint32_t key, const struct setting_key *k, struct err *err)
{
	struct setting *x = setting_of(r->s, k);
	struct value v = { .given = true };
	uint32_t node = key + 1;

	if (r->from == SETTING_PROJECT && (k->flags & SETTING_USER_ONLY)) {
		tell_refused(r, key, k);
		return STATUS_OK;
	}
	if (param_from_json(&k->param, &r->json, node, r->s->mem, &v, err) || !is_usable(k, &v) ||
	    (k->param.type == VALUE_PATH && !resolve_path(r->s, &v.text))) {
		refuse_value(STATUS_FORMAT, k, shown_value(r, node), err);
		return fail_at(r, start_of(r, node), err);
	}
	if (k->check && k->check(v.text, r->s->mem, err)) {
		err->status = STATUS_FORMAT;
		err_pass(err, "%s", k->param.name);
		return fail_at(r, start_of(r, node), err);
	}
	if (x->from == r->from)
		tell_repeated(r, key, k);
	*x = (struct setting){ .value = v, .from = r->from, .at = start_of(r, key) };
	return STATUS_OK;
}

/* "search" and "limit": by bytes, since a name in a file may hold a NUL. */
static struct str join_names(struct arena *mem, struct str front, struct str own)
{
	char *out;

	if (!front.n)
		return own;
	out = arena_alloc(mem, front.n + 1 + own.n);
	memcpy(out, front.p, front.n);
	out[front.n] = '.';
	if (own.n)
		memcpy(out + front.n + 1, own.p, own.n);
	return str_from(out, front.n + 1 + own.n);
}

static enum status read_members(struct reading *r, uint32_t object, struct str front, struct err *err)
{
	const struct json *j = &r->json;

	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		struct str name = join_names(r->s->mem, front, json_string_in(j, k, r->s->mem));
		const struct setting_key *key = find_key(name);
		enum status status = STATUS_OK;

		if (key) {
			status = take(r, k, key, err);
		} else if (!is_group(name)) {
			tell_unknown(r, k, name);
		} else if (json_is(j, k + 1, JSON_OBJECT)) {
			status = read_members(r, k + 1, name, err);
		} else {
			refuse(STATUS_FORMAT, name, "an object with settings", shown_value(r, k + 1), err);
			status = fail_at(r, start_of(r, k + 1), err);
		}
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* Elsewhere half characters are kept; in the name of a file or a command they would
 * be turned into something else. */
static enum status check_characters(const struct reading *r, struct err *err)
{
	enum { BROKEN = JSON_BAD_UTF8 | JSON_LONE_SURROGATE };

	if (!(r->json.flags & BROKEN))
		return STATUS_OK;
	for (uint32_t i = 0; i < r->json.count; i++)
		if (r->json.tape[i].flags & BROKEN) {
			err_set(err, STATUS_FORMAT, "this text is not UTF-8");
			return fail_at(r, start_of(r, i), err);
		}
	return STATUS_OK;
}

static enum status read_document(struct reading *r, struct err *err)
{
	uint32_t root;

	if (jsonc_read(&r->json, r->text, LIMIT_JSON_DEPTH, r->s->mem, err))
		return fail_at(r, r->json.error_at, err);
	root = json_root(&r->json);
	if (root == JSON_NONE)
		return STATUS_OK;
	if (!json_is(&r->json, root, JSON_OBJECT)) {
		err_set(err, STATUS_FORMAT, "expected an object, such as {\"search.limit\": 5}");
		return fail_at(r, start_of(r, root), err);
	}
	if (check_characters(r, err))
		return err_failed(err->status);
	return read_members(r, root, (struct str){ 0 }, err);
}

enum status settings_read(struct settings *s, enum setting_source from, const char *file, struct str text,
			  const struct log *log, struct err *err)
{
	struct settings before = *s;
	struct reading r CLEANUP(reading_release) = {
		.s = s,
		.from = from,
		.file = file,
		.text = text,
		.log = log,
	};

	s->list = arena_alloc(s->mem, count_keys() * sizeof *s->list);
	memcpy(s->list, before.list, count_keys() * sizeof *s->list);
	if (read_document(&r, err)) {
		*s = before;
		return err_failed(err->status);
	}
	for (const struct setting_key *k = setting_keys; k->param.name; k++) {
		struct setting *x = setting_of(s, k);
		struct place place;

		if (x->from != from)
			continue;
		place = place_of(text, x->at);
		x->origin = arena_printf(s->mem, "%s:%zu:%zu", file, place.line, place.column);
	}
	if (r.warnings > LIMIT_SETTINGS_WARNINGS)
		log_warn(log, "%s: %zu more like these", file, r.warnings - LIMIT_SETTINGS_WARNINGS);
	return STATUS_OK;
}

/* ---- Looking ---------------------------------------------------------------- */

static const struct setting_key *known_key(const char *name)
{
	const struct setting_key *k = find_key(str_of(name));

	if (!k)
		bug("a setting is asked for that does not exist");
	return k;
}

static struct value value_of(const struct settings *s, const struct setting_key *k)
{
	struct value none = { 0 };

	if (s)
		return setting_of(s, k)->value;
	if (k->param.type == VALUE_PATH)
		return none;
	return initial_value(k);
}

bool settings_value(const struct settings *s, const char *key, enum value_type type, struct value *out)
{
	const struct setting_key *k = known_key(key);
	struct value v = value_of(s, k);
	bool is_text = type == VALUE_TEXT || type == VALUE_PATH || type == VALUE_ENUM;

	if (k->param.type != type)
		bug("a parameter and its setting have different types");
	if (is_text && !v.text.p)
		return false;
	*out = v;
	out->given = false;
	return true;
}

struct str settings_text(const struct settings *s, const char *key)
{
	const struct setting_key *k = known_key(key);

	if (k->param.type == VALUE_INT || k->param.type == VALUE_BYTES || k->param.type == VALUE_BOOL)
		bug("a setting is asked for as text and is a number");
	return value_of(s, k).text;
}

int64_t settings_int(const struct settings *s, const char *key)
{
	const struct setting_key *k = known_key(key);

	if (k->param.type != VALUE_INT && k->param.type != VALUE_BYTES)
		bug("a setting is asked for as a number and is none");
	return value_of(s, k).number;
}

bool settings_flag(const struct settings *s, const char *key)
{
	const struct setting_key *k = known_key(key);

	if (k->param.type != VALUE_BOOL)
		bug("a setting is asked for as a switch and is none");
	return value_of(s, k).number != 0;
}

struct str settings_origin(const struct settings *s, const char *key)
{
	const struct setting_key *k = known_key(key);

	return s ? setting_of(s, k)->origin : STR("default");
}
