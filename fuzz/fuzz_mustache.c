/*
 * Mustache over any template and any data.
 *
 * The input is a template, a NUL, data, a NUL, and a partial that both can call "p". What has
 * to hold: what is refused has a place inside the text; sections nest; rendering ends and
 * stays within its bounds, twice the same; a partial inside of a line prints what it prints
 * alone; and one that is indented prints what it would had each of its lines been
 * indented before.
 */
#include "base/mustache.h"

#include <stdio.h>
#include <stdlib.h>

#define BUF	 struct buf CLEANUP(buf_release)
#define TEMPLATE struct mustache CLEANUP(mustache_release)

enum { MOST = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* A line that exists, and a column in it. */
static void check_place(struct str text, const char *message)
{
	size_t line = 0, column = 0;
	struct str rest = text, this_line = { 0 };

	must(sscanf(message, "%zu:%zu: ", &line, &column) == 2 && line >= 1 && column >= 1);
	for (size_t i = 0; i < line; i++) {
		must(i == 0 || rest.p);
		this_line = str_cut(rest, '\n', &rest);
	}
	must(column <= this_line.n + 1);
}

static void check_nesting(const struct mustache *m)
{
	uint32_t open[LIMIT_TEMPLATE_DEPTH], depth = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		const struct mustache_op *op = &m->ops[i];

		must(op->at <= m->text.n);
		must(op->kind == MUSTACHE_TEXT ? op->length <= m->text.n - op->at
					       : op->name + op->length <= m->text.n);
		if (op->kind == MUSTACHE_SECTION || op->kind == MUSTACHE_INVERTED) {
			must(depth < LIMIT_TEMPLATE_DEPTH);
			open[depth++] = i;
		} else if (op->kind == MUSTACHE_END) {
			must(depth && open[--depth] == op->other && m->ops[op->other].other == i);
		}
	}
	must(depth == 0);
}

static bool compile(struct mustache *m, struct str text)
{
	struct err err;

	if (mustache_compile(m, text, &err) == STATUS_OK) {
		check_nesting(m);
		return true;
	}
	if (text.n <= LIMIT_TEMPLATE)
		check_place(text, err.text);
	return false;
}

static enum status find(void *ctx, const struct mustache *from, struct str name, const struct mustache **out,
			struct err *err)
{
	(void)from;
	(void)err;
	if (str_eq(name, STR("p")))
		*out = ctx;
	return STATUS_OK;
}

static enum status render(const struct mustache *m, const struct json *j, struct mustache *partial,
			  struct buf *out)
{
	struct mustache_partials p = { find, partial };
	struct err err;
	enum status status;

	buf_init(out, MOST);
	status = mustache_render(m, j, json_root(j), partial ? &p : NULL, out, &err);
	must(status == STATUS_OK || status == STATUS_LIMIT);
	must(out->n <= MOST);
	return status;
}

static void check_twice(const struct mustache *m, const struct json *j, struct mustache *partial)
{
	BUF first = { 0 }, second = { 0 };

	must(render(m, j, partial, &first) == render(m, j, partial, &second));
	must(str_eq(buf_as_str(&first), buf_as_str(&second)));
}

static void indent(struct buf *out, struct str text)
{
	buf_init(out, 2 * LIMIT_TEMPLATE);
	while (text.n) {
		struct str line = str_cut(text, '\n', &text);

		if (line.n && !(text.p && str_eq(line, STR("\r"))))
			buf_text(out, "  ");
		buf_str(out, line);
		if (text.p)
			buf_byte(out, '\n');
	}
}

/* `calling` prints what `text` does. */
static void check_same(struct str calling, struct str text, const struct json *j, struct mustache *partial)
{
	TEMPLATE a = MUSTACHE_INIT, b = MUSTACHE_INIT;
	BUF first = { 0 }, second = { 0 };

	if (text.n > LIMIT_TEMPLATE)
		return;
	must(compile(&a, calling) && compile(&b, text));
	/* Frames and steps differ. */
	if (render(&a, j, partial, &first) == STATUS_OK && render(&b, j, partial, &second) == STATUS_OK)
		must(str_eq(buf_as_str(&first), buf_as_str(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str rest = str_from((const char *)bytes, size);
	struct str template = str_cut(rest, '\0', &rest), data = str_cut(rest, '\0', &rest);
	struct json j CLEANUP(json_release) = JSON_INIT;
	TEMPLATE m = MUSTACHE_INIT, partial = MUSTACHE_INIT;
	BUF indented = { 0 };
	struct err err;
	bool good = compile(&m, template);

	if (json_read(&j, data, LIMIT_JSON_DEPTH, &err))
		return 0;
	if (!compile(&partial, rest))
		return 0;
	if (good)
		check_twice(&m, &j, &partial);
	check_same(STR("{{>p}}{{! in a line }}"), rest, &j, &partial);
	indent(&indented, rest);
	check_same(STR("  {{>p}}"), buf_as_str(&indented), &j, &partial);
	return 0;
}
