/*
 * Mustache. Cases are data: test/table/mustache.test and, where it is present, the
 * specification's own. What is here are limits and what holds for any template.
 */
#include "t.h"

#include "base/mustache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUF	 struct buf CLEANUP(buf_release)
#define JSON	 struct json CLEANUP(json_release)
#define TEMPLATE struct mustache CLEANUP(mustache_release)

enum { PARTIALS = 8 };

/* ---- Rendering one case ---- */

struct partial {
	struct str name, text;
	struct mustache m;
	bool compiled;
};

struct setup {
	struct partial list[PARTIALS];
	size_t count;
};

static void setup_release(struct setup *s)
{
	for (size_t i = 0; i < s->count; i++)
		mustache_release(&s->list[i].m);
}

static enum status find_partial(void *ctx, const struct mustache *from, struct str name,
				const struct mustache **out, struct err *err)
{
	struct setup *s = ctx;

	(void)from;
	for (size_t i = 0; i < s->count; i++) {
		struct partial *p = &s->list[i];

		if (!str_eq(p->name, name))
			continue;
		if (!p->compiled && mustache_compile(&p->m, p->text, err))
			return err_failed(err->status);
		p->compiled = true;
		*out = &p->m;
	}
	return STATUS_OK;
}

static enum status render(struct str template, const struct json *data, struct setup *partials,
			  struct buf *out, struct err *err)
{
	struct mustache_partials p = { find_partial, partials };
	TEMPLATE m = MUSTACHE_INIT;

	if (mustache_compile(&m, template, err))
		return err_failed(err->status);
	return mustache_render(&m, data, json_root(data), partials ? &p : NULL, out, err);
}

/* The same with data as text and no partials. */
static enum status render_text(struct str template, struct str data, size_t most, struct buf *out,
			       struct err *err)
{
	JSON j = JSON_INIT;

	buf_init(out, most);
	if (json_read(&j, data, 0, err))
		return err_failed(err->status);
	return render(template, &j, NULL, out, err);
}

/* ---- The table ---- */

struct table_case {
	struct buf template, want;
	struct buf names[PARTIALS], texts[PARTIALS];
	size_t partials;
	struct str data;
	bool error, complete;
};

static void case_release(struct table_case *c)
{
	buf_release(&c->template);
	buf_release(&c->want);
	for (size_t i = 0; i < c->partials; i++) {
		buf_release(&c->names[i]);
		buf_release(&c->texts[i]);
	}
	*c = (struct table_case){ 0 };
}

static void put_unescaped(struct buf *out, struct str s)
{
	buf_init(out, MIB);
	for (size_t i = 0; i < s.n; i++) {
		bool escape = s.p[i] == '\\' && i + 1 < s.n && memchr("nrt\\", s.p[i + 1], 4);
		char c = escape ? s.p[++i] : s.p[i];

		buf_byte(out, !escape ? c : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : '\\');
	}
}

static void take_line(struct t *t, struct table_case *c, struct str line)
{
	struct str rest = str_sub(line, 2, SIZE_MAX), name;

	switch (line.p[0]) {
	case 't':
		put_unescaped(&c->template, rest);
		break;
	case 'p':
		name = str_cut(rest, ' ', &rest);
		NEED(c->partials < PARTIALS);
		put_unescaped(&c->names[c->partials], name);
		put_unescaped(&c->texts[c->partials++], rest);
		break;
	case 'd':
		c->data = rest;
		break;
	case '=':
	case '!':
		put_unescaped(&c->want, rest);
		c->error = line.p[0] == '!';
		c->complete = true;
		break;
	default:
		t_fail(t, __FILE__, __LINE__, "what is '%.*s'?", STR_ARG(line));
	}
}

static void check_case(struct t *t, const struct table_case *c)
{
	struct setup partials CLEANUP(setup_release) = { .count = c->partials };
	BUF out = BUF_INIT(MIB);
	JSON j = JSON_INIT;
	struct err err = { 0 };
	struct str got;
	enum status status;

	for (size_t i = 0; i < c->partials; i++) {
		partials.list[i].name = buf_as_str(&c->names[i]);
		partials.list[i].text = buf_as_str(&c->texts[i]);
	}
	OK(json_read(&j, c->data.p ? c->data : STR("{}"), 0, &err));
	status = render(buf_as_str(&c->template), &j, &partials, &out, &err);
	got = status ? str_of(err.text) : buf_as_str(&out);
	if ((status != STATUS_OK) != c->error ||
	    !(c->error ? str_has_prefix(got, buf_as_str(&c->want)) : str_eq(got, buf_as_str(&c->want))))
		t_fail(t, __FILE__, __LINE__, "'%.*s'\n# gives  '%.*s'\n# wanted '%.*s'",
		       STR_ARG(buf_as_str(&c->template)), STR_ARG(got), STR_ARG(buf_as_str(&c->want)));
}

TEST(every_case_of_the_table_prints_what_it_says)
{
	BUF file = { 0 };
	struct table_case c = { 0 };
	int cases = 0;

	NEED(t_read_file(t, "test/table/mustache.test", &file));
	for (struct str rest = buf_as_str(&file); rest.p;) {
		struct str line = str_cut(rest, '\n', &rest);

		if (line.n && line.p[0] != '#')
			take_line(t, &c, line);
		else if (!line.n && c.complete) {
			check_case(t, &c);
			case_release(&c);
			cases++;
		}
	}
	CHECK(!c.complete);
	CHECK(cases >= 90);
	case_release(&c);
}

/* ---- The specification's own cases ---- */

static struct str text_of(const struct json *j, uint32_t object, const char *name, struct arena *mem)
{
	return json_string_in(j, json_get(j, object, str_of(name)), mem);
}

static void check_spec_case(struct t *t, const char *file, const struct json *j, uint32_t test)
{
	struct setup partials CLEANUP(setup_release) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	uint32_t object = json_get(j, test, STR("partials"));
	struct mustache_partials p = { find_partial, &partials };
	TEMPLATE m = MUSTACHE_INIT;
	BUF out = BUF_INIT(MIB);
	struct err err;
	struct str want = text_of(j, test, "expected", &mem), name = text_of(j, test, "name", &mem);

	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1)) {
		NEED(partials.count < PARTIALS);
		partials.list[partials.count].name = json_string_in(j, k, &mem);
		partials.list[partials.count++].text = json_string_in(j, k + 1, &mem);
	}
	OK(mustache_compile(&m, text_of(j, test, "template", &mem), &err));
	OK(mustache_render(&m, j, json_get(j, test, STR("data")), &p, &out, &err));
	if (!str_eq(buf_as_str(&out), want))
		t_fail(t, __FILE__, __LINE__, "%s: %.*s\n# gives  '%.*s'\n# wanted '%.*s'", file,
		       STR_ARG(name), STR_ARG(buf_as_str(&out)), STR_ARG(want));
}

TEST(the_specifications_core_cases_hold)
{
	static const struct {
		const char *name;
		int cases;
	} files[] = { { "comments", 12 }, { "delimiters", 14 }, { "interpolation", 42 },
		      { "inverted", 22 }, { "partials", 12 },	{ "sections", 34 } };
	const char *shared = getenv("ARBOR_SHARED");
	char path[4096];

	snprintf(path, sizeof path, "%s/fixtures/mustache-spec", shared ? shared : "../shared");
	if (access(path, R_OK))
		SKIP("no specification: set ARBOR_SHARED to the folder that has fixtures/mustache-spec");
	for (size_t i = 0; i < COUNT(files); i++) {
		JSON j = JSON_INIT;
		BUF text = { 0 };
		struct err err;
		uint32_t tests;
		int cases = 0;

		snprintf(path, sizeof path, "%s/fixtures/mustache-spec/%s.json",
			 shared ? shared : "../shared", files[i].name);
		NEED(t_read_file(t, path, &text));
		OK(json_read(&j, buf_as_str(&text), 0, &err));
		tests = json_get(&j, json_root(&j), STR("tests"));
		for (uint32_t k = json_first(&j, tests); k != json_end(&j, tests);
		     k = json_next(&j, k), cases++)
			check_spec_case(t, files[i].name, &j, k);
		EQ(cases, files[i].cases);
	}
}

/* ---- Compiling ---- */

TEST(what_was_compiled_is_rendered_again_and_again)
{
	TEMPLATE m = MUSTACHE_INIT;
	struct err err;

	OK(mustache_compile(&m, STR("{{#l}}{{.}},{{/l}}"), &err));
	for (int i = 0; i < 3; i++) {
		BUF out = BUF_INIT(KIB);
		JSON j = JSON_INIT;

		OK(json_read(&j, i ? STR("{\"l\":[1,2]}") : STR("{\"l\":[]}"), 0, &err));
		OK(mustache_render(&m, &j, json_root(&j), NULL, &out, &err));
		EQS(buf_as_str(&out), i ? STR("1,2,") : STR(""));
	}
	OK(mustache_compile(&m, STR("{{x}}"), &err));
	EQ(m.count, 2);
}

TEST(a_template_that_is_refused_has_nothing_in_it)
{
	TEMPLATE m = MUSTACHE_INIT;
	struct err err;

	EQ(mustache_compile(&m, STR("text {{a}} {{#b}}"), &err), STATUS_FORMAT);
	EQ(m.count, 0);
}

TEST(sections_know_their_ends_and_ends_their_sections)
{
	TEMPLATE m = MUSTACHE_INIT;
	struct err err;
	int sections = 0;

	OK(mustache_compile(&m, STR("{{#a}}\n {{^b}}x{{#c}}{{/c}}{{/b}}\n{{/a}}\n{{#d}}{{/d}}"), &err));
	for (uint32_t i = 0; i < m.count; i++) {
		const struct mustache_op *op = &m.ops[i];

		if (op->kind != MUSTACHE_SECTION && op->kind != MUSTACHE_INVERTED)
			continue;
		sections++;
		NEED(op->other > i && op->other < m.count);
		EQ(m.ops[op->other].kind, MUSTACHE_END);
		EQ(m.ops[op->other].other, i);
		EQS(mustache_name(&m, &m.ops[op->other]), mustache_name(&m, op));
	}
	EQ(sections, 4);
}

/* ---- Limits ---- */

static void repeat(struct buf *out, const char *text, size_t times)
{
	buf_init(out, 64 * MIB);
	for (size_t i = 0; i < times; i++)
		buf_text(out, text);
}

TEST(templates_have_a_greatest_length_and_depth)
{
	TEMPLATE m = MUSTACHE_INIT;
	BUF text = { 0 };
	struct err err;

	repeat(&text, "x", LIMIT_TEMPLATE);
	OK(mustache_compile(&m, buf_as_str(&text), &err));
	buf_byte(&text, 'x');
	EQ(mustache_compile(&m, buf_as_str(&text), &err), STATUS_LIMIT);
	buf_release(&text);
	repeat(&text, "{{#a}}", LIMIT_TEMPLATE_DEPTH);
	EQ(mustache_compile(&m, buf_as_str(&text), &err), STATUS_FORMAT);
	buf_text(&text, "{{#a}}");
	EQ(mustache_compile(&m, buf_as_str(&text), &err), STATUS_LIMIT);
	CHECK(str_has_prefix(str_of(err.text), STR("1:1537: ")));
}

TEST(sections_as_deep_as_allowed_are_rendered)
{
	BUF text = { 0 }, out = { 0 };
	struct err err;

	repeat(&text, "{{#a}}", LIMIT_TEMPLATE_DEPTH);
	buf_text(&text, "x");
	for (int i = 0; i < LIMIT_TEMPLATE_DEPTH; i++)
		buf_text(&text, "{{/a}}");
	OK(render_text(buf_as_str(&text), STR("{\"a\":{}}"), KIB, &out, &err));
	EQS(buf_as_str(&out), STR("x"));
}

TEST(output_is_bounded_and_what_fitted_stays)
{
	static const char *const templates[] = { "{{#l}}{{x}}{{/l}}", "{{#l}}{{{x}}}{{/l}}",
						 "{{#l}}abcdefgh{{/l}}" };
	struct err err;

	for (size_t i = 0; i < COUNT(templates); i++) {
		BUF out = { 0 };

		EQ(render_text(str_of(templates[i]), STR("{\"x\":\"\\u0061<cdefg\",\"l\":[1,2,3]}"), 20, &out,
			       &err),
		   STATUS_LIMIT);
		CHECK(out.n > 0 && out.n <= 20);
	}
}

TEST(a_value_longer_than_the_output_is_refused)
{
	BUF out = { 0 };
	struct err err;

	EQ(render_text(STR("{{{x}}}"), STR("{\"x\":\"\\u0061bcdefghijklmnop\"}"), 8, &out, &err),
	   STATUS_LIMIT);
}

TEST(a_template_that_contains_itself_is_stopped)
{
	static const char *const texts[] = { "{{>p}}", "x{{>p}}", " {{>p}}\n", "{{#a}}{{>p}}{{/a}}",
					     "{{#l}}{{>p}}{{/l}}" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct setup partials CLEANUP(setup_release) = { .count = 1 };
		BUF out = BUF_INIT(MIB);
		JSON j = JSON_INIT;
		struct err err;

		partials.list[0] = (struct partial){ .name = STR("p"), .text = str_of(texts[i]) };
		OK(json_read(&j, STR("{\"a\":true,\"l\":[1,2]}"), 0, &err));
		EQ(render(STR("{{>p}}"), &j, &partials, &out, &err), STATUS_LIMIT);
	}
}

/* Prints nothing and is not deep, and would run for longer than there is time. */
TEST(time_is_bounded)
{
	BUF text = { 0 }, data = BUF_INIT(MIB), out = { 0 };
	struct err err;

	repeat(&text, "{{#l}}", 20);
	for (int i = 0; i < 20; i++)
		buf_text(&text, "{{/l}}");
	buf_text(&data, "{\"l\":[0");
	for (int i = 0; i < 100; i++)
		buf_text(&data, ",0");
	buf_text(&data, "]}");
	EQ(render_text(buf_as_str(&text), buf_as_str(&data), KIB, &out, &err), STATUS_LIMIT);
	CHECK(strstr(err.text, "too long") != NULL);
}

TEST(looking_for_a_name_in_large_objects_counts)
{
	BUF data = BUF_INIT(4 * MIB), out = { 0 };
	struct err err;

	buf_text(&data, "{\"a\":[{}");
	for (int i = 0; i < 2000; i++)
		buf_text(&data, ",{}");
	buf_text(&data, "]");
	for (int i = 0; i < 20000; i++)
		buf_printf(&data, ",\"k%d\":1", i);
	buf_text(&data, "}");
	EQ(render_text(STR("{{#a}}{{x}}{{/a}}"), buf_as_str(&data), KIB, &out, &err), STATUS_LIMIT);
	CHECK(strstr(err.text, "too long") != NULL);
}

/* ---- What holds for any template ---- */

static enum status refuse_partial(void *ctx, const struct mustache *from, struct str name,
				  const struct mustache **out, struct err *err)
{
	(void)ctx;
	(void)from;
	(void)out;
	return err_fail(err, STATUS_DENIED, "not %.*s", STR_ARG(name));
}

TEST(what_goes_wrong_with_a_partial_ends_the_rendering)
{
	struct mustache_partials p = { .find = refuse_partial };
	TEMPLATE m = MUSTACHE_INIT;
	BUF out = BUF_INIT(KIB);
	JSON j = JSON_INIT;
	struct err err;

	OK(json_read(&j, STR("{}"), 0, &err));
	OK(mustache_compile(&m, STR("a{{>x.y}}b"), &err));
	EQ(mustache_render(&m, &j, json_root(&j), &p, &out, &err), STATUS_DENIED);
	EQS(str_of(err.text), STR("not x.y"));
	EQS(buf_as_str(&out), STR("a"));
}

TEST(any_node_of_the_data_can_be_rendered_and_sees_nothing_outside)
{
	TEMPLATE m = MUSTACHE_INIT;
	BUF out = BUF_INIT(KIB);
	JSON j = JSON_INIT;
	struct err err;

	OK(json_read(&j, STR("{\"a\":{\"b\":1},\"c\":2}"), 0, &err));
	OK(mustache_compile(&m, STR("{{b}}{{c}}"), &err));
	OK(mustache_render(&m, &j, json_get(&j, 0, STR("a")), NULL, &out, &err));
	EQS(buf_as_str(&out), STR("1"));
}

TESTS(CASE(every_case_of_the_table_prints_what_it_says), CASE(the_specifications_core_cases_hold),
      CASE(what_was_compiled_is_rendered_again_and_again), CASE(a_template_that_is_refused_has_nothing_in_it),
      CASE(sections_know_their_ends_and_ends_their_sections),
      CASE(templates_have_a_greatest_length_and_depth), CASE(sections_as_deep_as_allowed_are_rendered),
      CASE(output_is_bounded_and_what_fitted_stays), CASE(a_value_longer_than_the_output_is_refused),
      CASE(a_template_that_contains_itself_is_stopped), CASE(time_is_bounded),
      CASE(looking_for_a_name_in_large_objects_counts),
      CASE(what_goes_wrong_with_a_partial_ends_the_rendering),
      CASE(any_node_of_the_data_can_be_rendered_and_sees_nothing_outside))
