/*
 * Manual pages in mdoc, printed from the table: arbor(1), and arbor-VERB(1) for
 * every verb. The build writes them below build/man.
 */
#include "face/face.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The pages change with the program, so their date is that of its version. */
#define PAGE_DATE "November 15, 2026"

/* ---- Text --------------------------------------------------------------------- */

/* Text in which nothing is a request: backslashes are named, and a dot or quote
 * that begins a line is kept from being a macro. */
static void add_escaped(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if ((c == '.' || c == '\'') && (out->n == 0 || out->p[out->n - 1] == '\n'))
			buf_text(out, "\\&");
		if (c == '\\')
			buf_text(out, "\\e");
		else if (c == '-')
			buf_text(out, "\\-");
		else if (c == '~') /* else an accent, which nobody can type again */
			buf_text(out, "\\(ti");
		else
			buf_byte(out, c);
	}
}

static bool ends_sentence(const char *c)
{
	return (*c == '.' || *c == ';') && c[1] == ' ' && c[2] != '\0';
}

/* Paragraphs, a sentence a line. */
static void add_text(struct buf *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (c[0] == '\n' && c[1] == '\n') {
			buf_text(out, "\n.Pp\n");
			c++;
		} else if (ends_sentence(c)) {
			add_escaped(out, str_from(c, 1));
			buf_byte(out, '\n');
			c++;
		} else {
			add_escaped(out, *c == '\n' ? STR(" ") : str_from(c, 1));
		}
	}
	while (out->n && out->p[out->n - 1] == ' ')
		out->n--;
	buf_byte(out, '\n');
}

static void add_sentence(struct buf *out, const char *text)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(16 * KIB);

	buf_byte(&line, (char)toupper((unsigned char)text[0]));
	buf_text(&line, text + 1);
	buf_text(&line, ".\n");
	add_text(out, line.p);
}

/* ---- Options -------------------------------------------------------------------- */

/* ".Fl -limit Ar N", behind a macro such as .It or .Op. */
static void add_option(struct buf *out, const struct param *q)
{
	char typed[PARAM_TYPED], shown[PARAM_TYPED];

	if (q->flags & PARAM_WORD) {
		buf_text(out, "Ar ");
		add_escaped(out, str_of(param_shown(q, shown)));
		return;
	}
	if (q->letter)
		buf_printf(out, "Fl %c , ", q->letter);
	buf_text(out, "Fl ");
	add_escaped(out, str_of(param_typed(q, typed) + 1));
	if (q->type == VALUE_BOOL)
		return;
	buf_text(out, q->flags & PARAM_BARE ? " Ns Op = Ns Ar " : " Ar ");
	add_escaped(out, str_of(param_shown(q, shown)));
}

static void add_options(struct buf *out, const struct param *list)
{
	if (!list || !list->name)
		return;
	buf_text(out, ".Bl -tag -width Ds\n");
	for (const struct param *q = list; q->name; q++) {
		buf_text(out, ".It ");
		add_option(out, q);
		buf_byte(out, '\n');
		add_sentence(out, q->help);
		if (q->initial && q->type != VALUE_BOOL) {
			buf_text(out, "Unless given:\n.Ql ");
			add_escaped(out, str_of(q->initial));
			buf_text(out, " .\n");
		}
	}
	buf_text(out, ".El\n");
}

static void add_synopsis(struct buf *out, const struct method *m)
{
	buf_printf(out, ".Nm arbor\n.Cm %s\n", m->verb);
	for (const struct param *q = m->params; q && q->name; q++) {
		bool required = (q->flags & PARAM_REQUIRED) && !q->setting;

		buf_text(out, required ? "." : ".Op ");
		add_option(out, q);
		buf_text(out, q->flags & PARAM_REST ? " ...\n" : "\n");
	}
}

static void add_examples(struct buf *out, const struct example *list)
{
	for (const struct example *e = list; e && e->line; e++) {
		struct buf line CLEANUP(buf_release) = BUF_INIT(16 * KIB);

		if (e != list)
			buf_text(out, ".Pp\n");
		buf_byte(&line, (char)toupper((unsigned char)e->what[0]));
		buf_printf(&line, "%s:\n", e->what + 1);
		add_text(out, line.p);
		buf_text(out, ".Dl arbor ");
		add_escaped(out, str_of(e->line));
		buf_byte(out, '\n');
	}
}

/* ---- Pages ---------------------------------------------------------------------- */

static void add_code(void *ctx, int code, struct str meaning)
{
	struct buf *out = ctx;
	struct buf line CLEANUP(buf_release) = BUF_INIT(KIB);

	buf_str(&line, meaning);
	buf_printf(out, ".It %d\n", code);
	add_sentence(out, line.p);
}

static void add_exit_codes(struct buf *out)
{
	buf_text(out, ".Bl -tag -width 130 -compact\n");
	help_exit_codes(add_code, out);
	buf_text(out, ".El\n");
}

static void add_head(struct buf *out, const char *name, const char *summary)
{
	char title[64];
	size_t n = 0;

	for (; name[n] && n + 1 < sizeof title; n++)
		title[n] = (char)toupper((unsigned char)name[n]);
	title[n] = '\0';
	buf_printf(out, ".Dd %s\n.Dt %s 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", PAGE_DATE, title, name);
	buf_byte(out, (char)tolower((unsigned char)summary[0]));
	add_escaped(out, str_of(summary + 1));
	buf_byte(out, '\n');
}

static void add_verb_page(struct buf *out, const struct verb *v)
{
	struct buf columns CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	const struct method *m = v->method;
	char name[64];

	snprintf(name, sizeof name, "arbor-%s", m->verb);
	add_head(out, name, m->summary);
	buf_text(out, ".Sh SYNOPSIS\n");
	add_synopsis(out, m);
	buf_text(out, ".Sh DESCRIPTION\n");
	add_text(out, m->text);
	help_columns(v, &columns);
	if (columns.n) {
		buf_text(out, ".Pp\n");
		add_text(out, columns.p);
	}
	add_options(out, m->params);
	buf_text(out, ".Pp\nOptions that every verb takes, the environment and the exit codes are in\n.Xr "
		      "arbor 1 .\n"
		      ".Sh EXAMPLES\n");
	add_examples(out, m->examples);
	buf_text(out, ".Sh SEE ALSO\n.Xr arbor 1\n");
}

static void add_topic(struct buf *out, const struct topic *t)
{
	buf_printf(out, ".Sh %s\n", t->heading);
	if (t->text[0])
		add_text(out, t->text);
	if (strcmp(t->name, "exit-codes") == 0)
		add_exit_codes(out);
	if (!t->entries)
		return;
	buf_text(out, ".Bl -tag -width Ds\n");
	for (const struct example *e = t->entries; e->line; e++) {
		buf_text(out, ".It ");
		add_escaped(out, str_of(e->line));
		buf_byte(out, '\n');
		add_sentence(out, e->what);
	}
	buf_text(out, ".El\n");
}

static void add_verbs(struct buf *out, const struct hub *h)
{
	struct verb v;

	buf_text(out, ".Bl -tag -width completion\n");
	for (size_t i = 0; verb_at(h, i, &v); i++) {
		if (!v.method->group)
			continue;
		buf_printf(out, ".It Cm %s\n", v.method->verb);
		add_sentence(out, v.method->summary);
		buf_printf(out, "See\n.Xr arbor-%s 1 .\n", v.method->verb);
	}
	buf_text(out, ".El\n");
}

/* Topics stand in the order in which mdoc wants their sections. */
static void add_main_page(struct buf *out, const struct hub *h)
{
	add_head(out, "arbor", "keep the conversations you have with coding agents");
	buf_text(out,
		 ".Sh SYNOPSIS\n.Nm\n.Ar verb\n.Op Ar option ...\n.Op Ar argument ...\n.Sh DESCRIPTION\n.Nm\n"
		 "mirrors the files of Claude Code, byte for byte, into one store, and keeps them after\n"
		 "Claude Code has rewritten or deleted them.\nIt uses no network.\n");
	add_verbs(out, h);
	buf_text(out, ".Pp\nOptions may stand anywhere;\n.Fl \\-\nends them.\nEvery verb takes:\n");
	add_options(out, common_options.params);
	for (const struct topic *t = topics; t->name; t++)
		if (t->heading)
			add_topic(out, t);
	buf_text(out, ".Sh EXAMPLES\nMirror, see what is kept, and get a version of a file back:\n"
		      ".Bd -literal -offset indent\narbor sync\narbor sources\n"
		      "arbor export history.jsonl \\-\\-generation 1 > old.jsonl\n.Ed\n"
		      ".Sh SEE ALSO\n.Xr sqlite3 1\n");
}

enum status help_man(struct face *f, struct str name, struct err *err)
{
	struct buf page CLEANUP(buf_release) = BUF_INIT(MIB);
	struct verb v;

	if (name.p && (!verb_find(f->hub, name, &v) || !v.method->group))
		return verb_unknown(f->hub, name, err);
	if (name.p)
		add_verb_page(&page, &v);
	else
		add_main_page(&page, f->hub);
	out_str(&f->out, buf_as_str(&page));
	return STATUS_OK;
}
