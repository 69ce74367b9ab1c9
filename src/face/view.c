/*
 * Choosing a view, and how single values are shown.
 *
 * A terminal gets what a person reads: 12.3 MB, local times, as much of an id as
 * tells it from all others, ~ for the home folder. A pipe gets what a program can
 * use: whole numbers, RFC 3339, whole ids and paths; columns parted by tabs, one item
 * a line, which holds because control characters are made visible there too.
 */
#include "face/view.h"

#include "base/clock.h"
#include "face/text.h"
#include "hub/resolve.h"

#include <stdio.h>
#include <string.h>

/* ---- JSON and NUL ----------------------------------------------------------- */

/* The object as it is, with the version of its fields in front. */
static void print_json(struct view *v, struct str json)
{
	struct str rest = str_sub(json, 1, SIZE_MAX);

	out_printf(v->out, "{\"v\":%d%s", method_version(v->method), str_eq(rest, STR("}")) ? "" : ",");
	if (v->out->terminal)
		out_foreign(v->out, rest, TERM_LINE);
	else
		out_str(v->out, rest);
	out_text(v->out, "\n");
}

static void print_key(struct view *v, const struct json *j)
{
	const struct field *key = field_key(v->method->fields);
	uint32_t node = json_get(j, json_root(j), str_of(key->name));
	struct str text = json_raw(j, node);

	if (json_is(j, node, JSON_STRING))
		text = view_path(v, j, json_root(j), key->name);
	if (v->out->terminal) { /* nobody sees a NUL there */
		out_foreign(v->out, text, TERM_LINE);
		out_text(v->out, "\n");
		return;
	}
	out_raw(v->out, text);
	out_raw(v->out, str_from("", 1));
}

/* ---- Bytes ------------------------------------------------------------------ */

struct raw_state {
	struct term_stream terminal;
};

static void raw_bytes(struct view *v, struct str bytes)
{
	struct raw_state *s = v->state;
	struct buf safe CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);

	if (!v->out->terminal) {
		out_raw(v->out, bytes);
		return;
	}
	s->terminal.mode = TERM_TEXT;
	term_stream_add(&s->terminal, &safe, bytes);
	out_str(v->out, buf_as_str(&safe));
}

static void raw_end(struct view *v, enum status status)
{
	struct raw_state *s = v->state;
	struct buf safe CLEANUP(buf_release) = BUF_INIT(KIB);

	(void)status;
	term_stream_end(&s->terminal, &safe);
	out_str(v->out, buf_as_str(&safe));
}

static const struct view_kind view_raw = {
	.state = sizeof(struct raw_state),
	.bytes = raw_bytes,
	.end = raw_end,
};

/* ---- Choosing --------------------------------------------------------------- */

static const struct view_kind *const special[] = {
	&view_sync,   &view_check, &view_show,	    &view_log,	 &view_search,	 &view_around,	&view_tree,
	&view_todos,  &view_plan,  &view_files,	    &view_usage, &view_stats,	 &view_context, &view_resolve,
	&view_render, &view_notes, &view_approvals, &view_chat,	 &view_continue, &view_tail,	&view_poll,
	&view_branches, &view_compare, &view_resume, &view_merge
};

static bool is_given(const struct params *p, const char *name)
{
	const struct param *q = p ? params_find(p, str_of(name)) : NULL;

	return q && params_value(p, q)->given;
}

/* For a call with these parameters; NULL = none. */
static const struct view_kind *choose(const char *activation, const struct method *m, bool terminal,
				      const struct params *p)
{
	char name[128];

	if (m->kind == RESULT_RAW)
		return &view_raw;
	snprintf(name, sizeof name, "%s.%s", activation, m->name);
	for (size_t i = 0; i < COUNT(special); i++)
		if (strcmp(special[i]->method, name) == 0 && (terminal || !special[i]->terminal_only) &&
		    (!special[i]->given || is_given(p, special[i]->given)))
			return special[i];
	return m->kind == RESULT_ONE ? &view_record : &view_table;
}

bool view_has_columns(const struct verb *v)
{
	const struct view_kind *kind = v->activation ? choose(v->activation, v->method, false, NULL) : NULL;

	return !v->method->open && (kind == &view_table || kind == &view_files);
}

bool view_runs_client(const struct face *f, const char *activation, const struct method *m)
{
	return !f->json && choose(activation, m, f->out.terminal, NULL)->runs_client;
}

enum status view_refuse(const struct face *f, const struct method *m, struct err *err)
{
	if (f->json && m->kind == RESULT_RAW)
		return err_fail(err, STATUS_USAGE, "--json: this gives bytes as they are, not JSON; leave it out");
	if (f->print0 && f->json)
		return err_fail(err, STATUS_USAGE, "--print0 and --json: one of them");
	if (f->print0 && !field_key(m->fields))
		return err_fail(err, STATUS_USAGE, "--print0: there is nothing here with a name");
	return STATUS_OK;
}

void view_begin(struct view *v, struct face *f, const char *activation, const struct method *m,
		const struct params *p)
{
	*v = (struct view){ .face = f, .out = &f->out, .activation = activation, .method = m, .params = p };
	v->kind = choose(activation, m, v->out->terminal, p);
	if (v->kind->state)
		v->state = arena_alloc(&f->mem, v->kind->state);
	if (v->kind->begin)
		v->kind->begin(v);
}

static void say_note(struct view *v)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	if (!v->note.n || v->out->quiet || v->out->closed)
		return;
	term_filter(&safe, v->note, TERM_LINE);
	if (v->out->pager.pid) {
		out_text(v->out, "\n");
		out_styled(v->out, STYLE_DIM, buf_as_str(&safe));
		out_text(v->out, "\n");
		return;
	}
	out_flush(v->out);
	say_dim(v->out, buf_as_str(&safe));
}

void view_end(struct view *v, enum status status)
{
	bool viewed = v->kind->bytes || !(v->face->json || v->face->print0);

	if (v->kind->end && viewed)
		v->kind->end(v, status);
	say_note(v);
	arena_release(&v->mem);
}

void view_note(struct view *v, struct str text)
{
	v->note = arena_str(&v->face->mem, text);
}

void view_commands(struct view *v, const char *what, const struct buf *const *commands, size_t count)
{
	out_text(v->out, "\n");
	out_styled(v->out, STYLE_DIM, str_of(what));
	out_text(v->out, "\n");
	for (size_t i = 0; i < count; i++) {
		struct buf safe CLEANUP(buf_release) = BUF_INIT(MIB);

		/* Not dim: they are to be typed. */
		term_filter(&safe, buf_as_str(commands[i]), TERM_LINE);
		out_printf(v->out, "  %.*s\n", STR_ARG(buf_as_str(&safe)));
	}
}

/* Whoever adds up a column of lines must not find the sum in it. */
static bool is_sum(struct view *v, const struct json *j)
{
	return v->method->sums && (v->face->print0 || !v->out->terminal) &&
	       str_eq(view_text(v, j, 0, "kind"), str_of(v->method->sums));
}

enum status view_item(void *view, struct str json, struct err *err)
{
	struct view *v = view;
	struct json j CLEANUP(json_release) = JSON_INIT;

	v->items++;
	if (v->face->json)
		print_json(v, json);
	if (v->face->json && !v->kind->unseen)
		return out_check(v->out, err);
	if (json_read(&j, json, 0, err))
		return err_failed(err->status);
	if (v->face->json)
		v->kind->unseen(v, &j);
	else if (is_sum(v, &j))
		;
	else if (v->face->print0)
		print_key(v, &j);
	else
		v->kind->item(v, &j);
	arena_release(&v->mem);
	return out_check(v->out, err);
}

enum status view_bytes(void *view, struct str bytes, struct err *err)
{
	struct view *v = view;

	v->kind->bytes(v, bytes);
	return out_check(v->out, err);
}

/* ---- Values ----------------------------------------------------------------- */

struct str view_text(struct view *v, const struct json *j, uint32_t object, const char *name)
{
	return json_string_in(j, json_get(j, object, str_of(name)), &v->mem);
}

int64_t view_int(const struct json *j, uint32_t object, const char *name)
{
	int64_t n = 0;

	json_to_i64(j, json_get(j, object, str_of(name)), &n);
	return n;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct str view_path(struct view *v, const struct json *j, uint32_t object, const char *name)
{
	struct str hex = view_text(v, j, object, arena_printf(&v->mem, "%s_hex", name).p);
	char *bytes;

	if (hex.n == 0 || hex.n % 2)
		return view_text(v, j, object, name);
	bytes = arena_alloc(&v->mem, hex.n / 2);
	for (size_t i = 0; i < hex.n / 2; i++) {
		int high = hex_digit(hex.p[2 * i]), low = hex_digit(hex.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return view_text(v, j, object, name);
		bytes[i] = (char)(high << 4 | low);
	}
	return str_from(bytes, hex.n / 2);
}

static void add_time(const struct view *v, struct buf *out, struct str text, unsigned flags)
{
	char local[LOCAL_TEXT];
	struct clock clock = clock_system();
	int64_t ms;

	if (v->out->terminal && time_parse(text, &ms))
		buf_text(out, flags & FIELD_SHORT ? short_time_text(ms, clock_now(&clock), local)
						  : local_time_text(ms, local));
	else
		term_filter(out, text, TERM_LINE);
}

static void add_bytes(const struct view *v, struct buf *out, struct str raw)
{
	char size[SIZE_TEXT];
	int64_t n;

	if (v->out->terminal && str_to_i64(raw, &n))
		buf_text(out, size_text(n, size));
	else
		term_filter(out, raw, TERM_LINE);
}

static void add_path(const struct view *v, struct buf *out, struct str path, unsigned flags)
{
	const struct settings *s = v->face->settings;
	struct str home = s && s->home ? str_of(s->home) : (struct str){ 0 };

	if (v->out->terminal && (flags & FIELD_SHORT))
		path = text_last_folders(path);
	else if (v->out->terminal && home.n > 1 && str_has_prefix(path, home) &&
	    (path.n == home.n || path.p[home.n] == '/')) {
		buf_byte(out, '~');
		path = str_sub(path, home.n, SIZE_MAX);
	}
	term_filter(out, path, TERM_LINE);
}

/* What is shown of an id can be typed again. */
static size_t shown_digits(const struct view *v, struct str id)
{
	return v->face->open ? resolve_digits(v->face->open, id) : RESOLVE_SHOWN;
}

/* One value that is there and is no list. */
static void add_value(struct view *v, struct buf *out, const struct json *j, uint32_t node,
		      enum value_type type, unsigned flags)
{
	struct str text = json_string_in(j, node, &v->mem);

	if (!json_is(j, node, JSON_STRING)) {
		text = json_raw(j, node);
		if (type == VALUE_BYTES)
			add_bytes(v, out, text);
		else if (type == VALUE_BOOL && v->out->terminal)
			buf_text(out, json_bool(j, node) ? "yes" : "no");
		else
			term_filter(out, text, TERM_LINE);
	} else if (type == VALUE_TIME) {
		add_time(v, out, text, flags);
	} else if (type == VALUE_ID && v->out->terminal) {
		term_filter(out, str_sub(text, 0, shown_digits(v, text)), TERM_LINE);
	} else {
		term_filter(out, text, TERM_LINE);
	}
}

void view_value(struct view *v, struct buf *out, const struct json *j, uint32_t object, const struct field *f)
{
	uint32_t node = json_get(j, object, str_of(f->name));

	if (node == JSON_NONE || json_is(j, node, JSON_NULL))
		return;
	if (json_is(j, node, JSON_ARRAY) && (f->flags & FIELD_LIST)) {
		for (uint32_t i = json_first(j, node); i != json_end(j, node); i = json_next(j, i)) {
			if (i != json_first(j, node))
				buf_text(out, ", ");
			add_value(v, out, j, i, f->type, f->flags);
		}
	} else if (f->type == VALUE_PATH && json_is(j, node, JSON_STRING)) {
		add_path(v, out, view_path(v, j, object, f->name), f->flags);
	} else {
		add_value(v, out, j, node, f->type, f->flags);
	}
}

enum style view_style(const struct field *f)
{
	/* What takes the rest of the line names its item, but is there to be read. */
	if (f->type == VALUE_ID || ((f->flags & FIELD_KEY) && !(f->flags & FIELD_STRETCH)))
		return STYLE_ID;
	return f->type == VALUE_TIME ? STYLE_DIM : STYLE_PLAIN;
}

bool view_switch(const struct view *v, const char *name)
{
	const struct param *q = params_find(v->params, str_of(name));

	return q && params_value(v->params, q)->number != 0;
}

struct str view_param(const struct view *v, const char *name)
{
	const struct param *q = params_find(v->params, str_of(name));

	return q ? params_value(v->params, q)->text : (struct str){ 0 };
}

/* ---- For views of conversations --------------------------------------------------- */

void view_field(struct view *v, const struct json *j, const char *name, enum value_type type, enum style style)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	view_short(v, &text, j, name, type);
	if (!text.n)
		return;
	out_text(v->out, "  ");
	out_styled(v->out, style, buf_as_str(&text));
}

void view_short(struct view *v, struct buf *out, const struct json *j, const char *name, enum value_type type)
{
	struct field f = { .name = name, .type = type, .flags = FIELD_SHORT };

	view_value(v, out, j, json_root(j), &f);
}
