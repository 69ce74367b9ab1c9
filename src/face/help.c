/*
 * Help, printed from the table: examples first, because that is what people look
 * for, then usage, text and options.
 *
 * Wrapped to the terminal, at most 100 columns; into a pipe, 80.
 */
#include "face/face.h"

#include "base/json.h"
#include "base/near.h"
#include "face/text.h"
#include "face/view.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NARROW = 80, WIDE = 100, OPTION_INDENT = 28 };

/* ---- Topics ------------------------------------------------------------------ */

const struct topic topics[] = {
	{ .name = "verbs", .summary = "What each verb does", .text = "" }, /* from the table */
	{ .name = "output",
	  .heading = "OUTPUT",
	  .summary = "What is printed where, and how programs read it",
	  .text = "Data goes to standard output, everything else to standard error.\n\n"
		  "On a terminal there are tables, colours, short ids and local times, and a pager for what "
		  "is "
		  "longer than the screen. In a pipe every item is a line, its columns parted by a tab, with "
		  "whole values, times as RFC 3339 and no colours; control characters are made visible in "
		  "both. "
		  "--json prints every field, one object a line, each beginning with \"v\", the version of "
		  "its "
		  "fields. -0 prints only what names each item, ended by a NUL, for 'xargs -0'.\n" },
	{ .name = "environment",
	  .heading = "ENVIRONMENT",
	  .summary = "Variables that change what arbor does",
	  .text = "",
	  .entries =
		  (const struct example[]){
			  { "ARBOR_HOME", "folder of the store arbor.db" },
			  { "XDG_DATA_HOME",
			    "where arbor/arbor.db is without ARBOR_HOME; ~/.local/share when unset" },
			  { "CLAUDE_CONFIG_DIR", "folder to mirror instead of ~/.claude" },
			  { "ARBOR_CLAUDE", "like the setting claude: the client that is started for agents" },
			  { "ARBOR_SYNC_EXCLUDE", "like the setting sync.exclude" },
			  { "ARBOR_SYNC_MAX_SIZE", "like the setting sync.max_size" },
			  { "ARBOR_COLOR", "like the setting color" },
			  { "ARBOR_PAGE", "like the setting page" },
			  { "ARBOR_SEARCH_LIMIT", "like the setting search.limit" },
			  { "ARBOR_SEARCH_WEIGHTS", "like the setting search.weights" },
			  { "ARBOR_LIST_LIMIT", "like the setting list.limit" },
			  { "ARBOR_SHOW_FULL", "like the setting show.full" },
			  { "ARBOR_USAGE_PRICES", "like the setting usage.prices" },
			  { "ARBOR_AGENT_SILENCE", "like the setting agent.silence" },
			  { "ARBOR_APPROVALS_EXPIRE", "like the setting approvals.expire" },
			  { "ARBOR_STREAMS_DELTA_DAYS", "like the setting streams.delta_days" },
			  { "ARBOR_LIFECYCLE_SCHEDULED_DAYS", "like the setting lifecycle.scheduled_days" },
			  { "ARBOR_LIFECYCLE_ARCHIVED_DAYS", "like the setting lifecycle.archived_days" },
			  { "ARBOR_AUTHOR, USER", "who writes notes" },
			  { "TZ", "the local time zone, when it is not the system's" },
			  { "ARBOR_PAGER, PAGER", "the pager; 'less' when unset, none when empty or 'cat'" },
			  { "LESS", "set to FRX for the pager when unset; otherwise less gets -R for colours" },
			  { "NO_COLOR", "when not empty: no colours" },
			  { "CLICOLOR_FORCE, FORCE_COLOR", "colours also into a pipe" },
			  { "COLORTERM, TERM", "whether there are 256 colours, or the terminal's own eight" },
			  { "COLUMNS", "width, where the terminal does not say it" },
			  { 0 } } },
	{ .name = "places",
	  .heading = "FILES",
	  .summary = "Where things are kept",
	  .text = "",
	  .entries = (const struct example[]){ { "~/.local/share/arbor/arbor.db",
						 "the store, where none of these variables is set; it and "
						 "its companions (-wal, -shm, -bell) "
						 "are readable by their owner only; one that is read-only is read as it is" },
					       { "~/.config/arbor/settings.json",
						 "your settings, JSON with comments: store, source, claude, author, "
						 "sync.exclude, sync.max_size, color, pager, page, search.limit, "
						 "search.weights, list.limit, show.full, usage.prices, agent.silence, "
						 "approvals.expire, streams.delta_days, lifecycle.scheduled_days, "
						 "lifecycle.archived_days, hubs" },
					       { ".arbor/settings.json",
						 "of a project; may set color, page, search.limit, search.weights, "
						 "list.limit, show.full, usage.prices and agent.silence" },
					       { 0 } } },
	{ .name = "exit-codes",
	  .heading = "EXIT STATUS",
	  .summary = "What an exit code means",
	  .text = "An id that could be one and is not here is nothing found; what cannot be an id, or is shorter than "
		  "four digits, is a call that is not right. Ids that several things begin with are listed.\n\n"
		  "Who is stopped by Ctrl-C or SIGTERM, a watch included, keeps what it has and ends by that "
		  "signal, which a shell calls 130 and 143.\n" }, /* from the status table */
	{ 0 },
};

/* ---- Paragraphs ---------------------------------------------------------------- */

static int help_width(const struct face *f)
{
	if (!f->out.terminal)
		return NARROW;
	return f->out.columns < WIDE ? f->out.columns : WIDE;
}

/* One paragraph, wrapped; its first line stands where the cursor is. */
static void print_wrapped(struct face *f, struct str text, int indent)
{
	int columns = help_width(f) - indent;
	bool first = true;

	if (columns < 24)
		columns = 24;
	for (struct str line; text_wrap(&text, columns, &line); first = false) {
		if (!first)
			out_pad(&f->out, indent);
		out_str(&f->out, line);
		out_text(&f->out, "\n");
	}
}

/* Paragraphs are parted by empty lines; other line ends are blanks. */
static void print_text(struct face *f, const char *text)
{
	struct buf paragraph CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	for (const char *c = text; *c; c++) {
		bool end = c[0] == '\n' && (c[1] == '\n' || c[1] == '\0');

		if (!end) {
			buf_byte(&paragraph, *c == '\n' ? ' ' : *c);
			continue;
		}
		print_wrapped(f, buf_as_str(&paragraph), 0);
		out_text(&f->out, "\n");
		buf_clear(&paragraph);
		c += c[1] == '\n';
	}
}

/* Left and right, the right one wrapped below itself. */
static void print_pair(struct face *f, const char *left, const char *right, int indent)
{
	int width = 2 + text_width(str_of(left));

	out_printf(&f->out, "  %s", left);
	if (!*right) {
		out_text(&f->out, "\n");
		return;
	}
	if (width + 2 > indent) {
		out_text(&f->out, "\n");
		width = 0;
	}
	out_pad(&f->out, indent - width);
	print_wrapped(f, str_of(right), indent);
}

/* ---- One verb ------------------------------------------------------------------- */

static void add_option(struct buf *out, const struct param *q)
{
	char typed[PARAM_TYPED], shown[PARAM_TYPED];

	buf_text(out, param_typed(q, typed));
	if (q->flags & PARAM_BARE)
		buf_printf(out, "[=%s]", param_shown(q, shown));
	else if (q->type != VALUE_BOOL)
		buf_printf(out, " %s", param_shown(q, shown));
}

void help_usage(struct buf *out, const struct verb *v)
{
	char shown[PARAM_TYPED];

	buf_text(out, v->method->verb);
	for (const struct param *q = v->method->params; q && q->name; q++) {
		bool required = (q->flags & PARAM_REQUIRED) && !q->setting;

		if (!(q->flags & PARAM_WORD) && !required)
			continue;
		buf_text(out, required ? " " : " [");
		if (q->flags & PARAM_WORD)
			buf_text(out, param_shown(q, shown));
		else
			add_option(out, q);
		buf_printf(out, "%s%s", q->flags & (PARAM_REST | PARAM_JOIN) ? "..." : "", required ? "" : "]");
	}
	buf_text(out, " [OPTION]...");
}

static void print_options(struct face *f, const struct param *list)
{
	for (const struct param *q = list; q && q->name; q++) {
		struct buf left CLEANUP(buf_release) = BUF_INIT(KIB);
		struct buf help CLEANUP(buf_release) = BUF_INIT(KIB);
		char typed[PARAM_TYPED];

		if (q->letter)
			buf_printf(&left, "-%c, ", q->letter);
		else if (!(q->flags & PARAM_WORD))
			buf_text(&left, "    ");
		if (q->flags & PARAM_WORD)
			buf_text(&left, param_typed(q, typed));
		else
			add_option(&left, q);
		buf_text(&help, q->help);
		if (q->initial && str_eq(str_of(q->initial), STR(PARAM_LAST_SESSION)))
			buf_text(&help, " (unless given the last of the folder you are in, or else of all)");
		else if (q->initial && q->type != VALUE_BOOL)
			buf_printf(&help, " (%s unless given)", q->initial);
		print_pair(f, left.p, help.p, OPTION_INDENT);
	}
}

/* What each does stands behind it, or above it when there is no room for one. */
static void print_examples(struct face *f, const struct example *list)
{
	int line = 0, what = 0;

	for (const struct example *e = list; e && e->line; e++) {
		int n = text_width(str_of(e->line)), m = text_width(str_of(e->what));

		line = n > line ? n : line;
		what = m > what ? m : what;
	}
	for (const struct example *e = list; e && e->line; e++) {
		if ((int)strlen("  arbor   # ") + line + what <= help_width(f))
			out_printf(&f->out, "  arbor %-*s  # %s\n", line, e->line, e->what);
		else
			out_printf(&f->out, "  # %s\n  arbor %s\n", e->what, e->line);
	}
}

void help_columns(const struct verb *v, struct buf *out)
{
	const struct method *m = v->method;
	const struct field *last = NULL;

	if (!view_has_columns(v))
		return;
	for (const struct field *q = m->fields; q && q->name; q++) {
		if (q->flags & FIELD_STRETCH)
			last = q;
		else if (!(q->flags & FIELD_HIDDEN))
			buf_printf(out, "%s%s", out->n ? ", " : "In a pipe its columns are ", q->name);
	}
	if (last)
		buf_printf(out, "%s%s", out->n ? ", " : "In a pipe its columns are ", last->name);
	if (out->n)
		buf_text(out, "; --json has more.\n");
}

static void print_columns(struct face *f, const struct verb *v)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * KIB);

	help_columns(v, &text);
	if (text.n)
		print_text(f, text.p);
}

static void print_method(struct face *f, const struct verb *v, bool has_columns)
{
	const struct method *m = v->method;
	struct buf usage CLEANUP(buf_release) = BUF_INIT(KIB);

	help_usage(&usage, v);
	out_printf(&f->out, "arbor %s: %s\n", m->verb, m->summary);
	if (m->examples) {
		out_text(&f->out, "\nExamples:\n");
		print_examples(f, m->examples);
	}
	out_printf(&f->out, "\nUsage: arbor %s\n\n", usage.p);
	print_text(f, m->text);
	if (has_columns)
		print_columns(f, v);
	if (m->params) {
		out_text(&f->out, "Options:\n");
		print_options(f, m->params);
		out_text(&f->out, "\n");
	}
	out_text(&f->out, "Always:\n");
	print_options(f, common_options.params);
}

void help_verb(struct face *f, const struct verb *v)
{
	print_method(f, v, true);
}

/* ---- Methods without a verb ------------------------------------------------------- */

/* What another program calls things and says of them. */
static const char *safe(struct face *f, const char *text)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

	term_filter(&out, str_of(text), TERM_LINE);
	return arena_cstr(&f->mem, buf_as_str(&out));
}

static const char *const *safe_list(struct face *f, const char *const *list)
{
	const char **out;
	size_t n = 0;

	while (list && list[n])
		n++;
	if (!n)
		return NULL;
	out = arena_alloc(&f->mem, (n + 1) * sizeof *out);
	for (size_t i = 0; i < n; i++)
		out[i] = safe(f, list[i]);
	return out;
}

static const struct param *safe_params(struct face *f, const struct param *params)
{
	struct param *out;
	size_t n = 0;

	while (params && params[n].name)
		n++;
	if (!n)
		return NULL;
	out = arena_alloc(&f->mem, (n + 1) * sizeof *out);
	for (size_t i = 0; i < n; i++) {
		out[i] = params[i];
		out[i].name = safe(f, params[i].name);
		out[i].help = safe(f, params[i].help);
		out[i].choices = safe_list(f, params[i].choices);
	}
	return out;
}

struct hub_listing {
	struct face *face;
	const char *hub;
	struct str under; /* only what is called so and has a '.' behind it; empty = all */
	bool begun;
};

static void begin_listing(struct hub_listing *l)
{
	struct out *o = &l->face->out;

	if (l->begun)
		return;
	l->begun = true;
	if (l->under.n)
		out_printf(o, "%s.%s: a part of the hub '%s'\n\n", l->hub,
			   safe(l->face, arena_cstr(&l->face->mem, l->under)), l->hub);
	else
		out_printf(o, "%s: another hub, named by the setting 'hubs'\n\n", l->hub);
	out_printf(o, "Usage: arbor call METHOD [JSON] [OPTION]...\n\n"
		      "Methods, each explained by 'arbor help METHOD':\n");
}

static bool is_under(struct str name, struct str above)
{
	return !above.n || (name.n > above.n && name.p[above.n] == '.' && str_has_prefix(name, above));
}

static enum status print_hub_method(void *ctx, struct str item, struct err *err)
{
	struct hub_listing *l = ctx;
	struct face *f = l->face;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str name, summary;

	if (json_read(&j, arena_str(&f->mem, item), LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (json_string_eq(&j, json_get(&j, 0, STR("type")), STR("handle")))
		return STATUS_OK;
	name = json_string_in(&j, json_get(&j, 0, STR("name")), &f->mem);
	if (!is_under(name, l->under))
		return STATUS_OK;
	begin_listing(l);
	summary = json_string_in(&j, json_get(&j, json_get(&j, 0, STR("schema")), STR("summary")), &f->mem);
	print_pair(f, safe(f, arena_printf(&f->mem, "%s.%.*s", l->hub, STR_ARG(name)).p),
		   summary.n ? safe(f, arena_cstr(&f->mem, summary)) : "", OPTION_INDENT);
	return STATUS_OK;
}

/* All of it, or what is behind it under a name: of a hub or of an activation. *found: there is something. */
static enum status help_hub(struct face *f, size_t which, struct str under, bool *found, struct err *err)
{
	struct hub_caller who = { .scopes = ~0u, .cancel = f->cancel, .settings = f->settings };
	struct hub_listing l = { .face = f, .hub = children_at(f->children, which)->name, .under = under };
	struct sink sink = { .item = print_hub_method, .ctx = &l };
	struct child_ask ask = { .which = which, .method = STR("hub.schema") };

	enum status status;

	if (!under.n)
		begin_listing(&l);
	status = children_ask(f->children, &ask, &who, &sink, err);
	*found = l.begun;
	return status;
}

/* One without a verb is typed behind 'call', which prints JSON. */
enum status help_method(struct face *f, struct str name, struct err *err)
{
	const struct activation *a = NULL;
	const struct method *found = NULL;
	struct str rest;
	struct method m;
	size_t which;
	char typed[128];
	bool listed = false, far = children_find(f->children, name, &which, &rest);

	if (far && !rest.n)
		return help_hub(f, which, rest, &listed, err);
	if (face_find_method(f, name, &a, &found, err))
		return err_failed(err->status);
	m = *found;
	if (far && !*m.summary && !m.params && (help_hub(f, which, rest, &listed, err) || listed))
		return listed ? STATUS_OK : err_failed(err->status);
	snprintf(typed, sizeof typed, "call %.*s", STR_ARG(str_sub(name, 0, 100)));
	m.verb = typed;
	if (!a) {
		m.summary = *m.summary ? safe(f, m.summary) : "not described; 'arbor call hub.methods' lists what is";
		m.params = safe_params(f, m.params);
		m.verb = safe(f, typed);
	}
	print_method(f, &(struct verb){ .activation = a ? a->name : NULL, .method = &m }, false);
	return STATUS_OK;
}

/* ---- Groups of verbs ------------------------------------------------------------------ */

static bool same_group(const struct verb *a, const struct verb *b)
{
	return a->method->group && b->method->group && strcmp(a->method->group, b->method->group) == 0;
}

/* Whether the i-th verb is the first of its group. */
static bool begins_group(const struct hub *h, size_t i, const struct verb *v)
{
	struct verb before;

	for (size_t j = 0; j < i && verb_at(h, j, &before); j++)
		if (same_group(v, &before))
			return false;
	return v->method->group != NULL;
}

/* What its verbs are about, and nothing that could be typed. */
static struct str group_label(const struct verb *v, struct arena *mem)
{
	return arena_printf(mem, "%c%s:", toupper((unsigned char)v->method->group[0]), v->method->group + 1);
}

/* ---- Topics and exit codes -------------------------------------------------------- */

/* Once a code, in order; several statuses may share one. */
void help_exit_codes(void (*fn)(void *ctx, int code, struct str meaning), void *ctx)
{
	for (int code = 0; code < 256; code++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

		for (int s = 0; s < STATUS_COUNT; s++) {
			const struct status_info *info = status_info((enum status)s);

			if (info->exit_code == code)
				buf_printf(&text, "%s%s", text.n ? ", or " : "", info->sentence);
		}
		if (text.n)
			fn(ctx, code, buf_as_str(&text));
	}
}

static void print_code(void *ctx, int code, struct str meaning)
{
	struct face *f = ctx;

	out_printf(&f->out, "  %3d  %.*s\n", code, STR_ARG(meaning));
}

/* The first ones, in a line. */
static void add_code(void *ctx, int code, struct str meaning)
{
	enum { USUAL = 2 };
	struct str rest, first = str_cut(meaning, ',', &rest);

	if (code <= USUAL)
		buf_printf(ctx, "%s%d %.*s", code ? "; " : "Exit codes: ", code, STR_ARG(first));
}

/* Each with what it does, in the order of the overview. */
static void print_every_verb(struct face *f)
{
	struct verb v, w;

	for (size_t i = 0; verb_at(f->hub, i, &v); i++) {
		if (!begins_group(f->hub, i, &v))
			continue;
		out_styled(&f->out, STYLE_DIM, group_label(&v, &f->mem));
		out_text(&f->out, "\n");
		for (size_t k = i; verb_at(f->hub, k, &w); k++)
			if (same_group(&v, &w))
				print_pair(f, w.method->verb, w.method->summary, 14);
	}
}

static void print_topic(struct face *f, const struct topic *t)
{
	out_printf(&f->out, "%s\n\n", t->summary);
	print_text(f, t->text);
	for (const struct example *e = t->entries; e && e->line; e++)
		print_pair(f, e->line, e->what, 34);
	if (strcmp(t->name, "exit-codes") == 0)
		help_exit_codes(print_code, f);
	if (strcmp(t->name, "verbs") == 0)
		print_every_verb(f);
}

/* ---- Everything --------------------------------------------------------------------- */

/* What somebody does first, as the table says; else one example of each of the first
 * groups. */
static void print_first_examples(struct face *f)
{
	enum { SHOWN = 4 };
	struct example list[SHOWN + 1] = { 0 };
	struct verb v;
	size_t n = 0;

	for (size_t i = 0; verb_at(f->hub, i, &v); i++)
		if (v.method->first >= 1 && v.method->first <= SHOWN)
			list[v.method->first - 1] = v.method->examples[0];
	while (n < SHOWN && list[n].line)
		n++;
	for (size_t i = 0; n < SHOWN && verb_at(f->hub, i, &v); i++)
		if (begins_group(f->hub, i, &v) && !v.method->first)
			list[n++] = v.method->examples[0];
	print_examples(f, list);
}

enum { GROUPS = 16, LABEL = 12, VERB_LINES = 13 }; /* the other lines of a screen are print_help()'s */

struct verb_group {
	size_t first; /* index of its first verb */
	size_t verbs;
	struct str names; /* of all its verbs */
	bool brief;	  /* only these, without what they do */
};

/* In the order in which the table first names them. */
static size_t list_groups(struct face *f, struct verb_group list[GROUPS])
{
	size_t count = 0;
	struct verb v, w;

	for (size_t i = 0; count < GROUPS && verb_at(f->hub, i, &v); i++) {
		struct buf names CLEANUP(buf_release) = BUF_INIT(4 * KIB);

		if (!begins_group(f->hub, i, &v))
			continue;
		list[count] = (struct verb_group){ .first = i };
		for (size_t j = i; verb_at(f->hub, j, &w); j++) {
			if (!same_group(&v, &w))
				continue;
			buf_printf(&names, "%s%s", names.n ? "  " : "", w.method->verb);
			list[count].verbs++;
		}
		list[count++].names = arena_str(&f->mem, buf_as_str(&names));
	}
	return count;
}

static size_t lines_of_names(const struct face *f, struct str names)
{
	size_t lines = 0;

	for (struct str line; text_wrap(&names, help_width(f) - LABEL, &line);)
		lines++;
	return lines;
}

/* What does not fit is brief: the last groups, which are for those who know already. */
static void fit_groups(const struct face *f, struct verb_group *list, size_t count)
{
	size_t lines = 0;

	for (size_t i = 0; i < count; i++)
		lines += list[i].verbs;
	for (size_t i = count; i-- > 0 && lines > VERB_LINES;) {
		list[i].brief = list[i].verbs > 1;
		lines -= list[i].verbs - lines_of_names(f, list[i].names);
	}
}

static void print_label(struct face *f, struct str name)
{
	out_styled(&f->out, STYLE_DIM, name);
	out_pad(&f->out, LABEL - text_width(name));
}

static void print_group(struct face *f, const struct verb_group *g)
{
	struct verb v, w;
	struct str name;

	if (!verb_at(f->hub, g->first, &v))
		return;
	name = group_label(&v, &f->mem);
	if (g->brief) {
		print_label(f, name);
		print_wrapped(f, g->names, LABEL);
		return;
	}
	for (size_t i = g->first; verb_at(f->hub, i, &w); i++) {
		if (!same_group(&v, &w))
			continue;
		print_label(f, name);
		out_printf(&f->out, "%-11s %s\n", w.method->verb, w.method->summary);
		name.n = 0;
	}
}

static void print_verbs(struct face *f)
{
	struct verb_group list[GROUPS];
	size_t count = list_groups(f, list);

	fit_groups(f, list, count);
	for (size_t i = 0; i < count; i++)
		print_group(f, &list[i]);
}

/* Fits a screen of 80x24. */
static void print_help(struct face *f)
{
	struct buf codes CLEANUP(buf_release) = BUF_INIT(KIB);

	out_text(&f->out, "Arbor keeps the conversations you have with coding agents.\n\n");
	print_first_examples(f);
	out_text(&f->out, "\nUsage: arbor VERB [OPTION]... [ARGUMENT]...\n");
	print_verbs(f);
	help_exit_codes(add_code, &codes);
	out_printf(&f->out, "\n%s.\n", codes.p);
	out_text(&f->out, "More: arbor help verbs, VERB, output, environment, places or exit-codes.\n");
}

static enum status unknown_topic(struct face *f, struct str name, struct err *err)
{
	struct near near = verb_near(f->hub, name);

	for (const struct topic *t = topics; t->name; t++)
		near_try(&near, t->name);
	return err_fail(err, STATUS_USAGE, "no such command or topic '%.*s'; %s%s%s",
			(int)size_min(name.n, 60), name.p, near.best ? "did you mean '" : "'arbor help' lists them",
			near.best ? near.best : "", near.best ? "'?" : "");
}

enum status run_help(struct face *f, int argc, char **argv, const struct params *p, struct err *err)
{
	struct str rest, name = p ? p->values[0].text : (struct str){ 0 };
	struct verb v;
	size_t which;

	(void)argc;
	(void)argv;
	if (p && p->values[1].number)
		return help_man(f, name, err);
	if (!name.p) {
		print_help(f);
		return STATUS_OK;
	}
	if (verb_find(f->hub, name, &v) && v.method->group) {
		help_verb(f, &v);
		return STATUS_OK;
	}
	for (const struct topic *t = topics; t->name; t++)
		if (str_eq(name, str_of(t->name))) {
			print_topic(f, t);
			return STATUS_OK;
		}
	return str_has_byte(name, '.') || children_find(f->children, name, &which, &rest) ? help_method(f, name, err)
											    : unknown_topic(f, name, err);
}
