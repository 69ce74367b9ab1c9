/*
 * Rendering: which template is taken, what templates call, and those that are shipped.
 */
#include "hub/activations.h"
#include "hub/handle_resolve.h"
#include "hub/template_check.h"
#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

#define BUF	 struct buf CLEANUP(buf_release)
#define JSON	 struct json CLEANUP(json_release)
#define RENDERER struct renderer CLEANUP(renderer_release)

/* A call of nothing in particular, with a store of its own or with none. */
struct setup {
	struct hub_caller who;
	struct call call;
};

static void setup_release(struct setup *s)
{
	store_close(s->call.store);
	arena_release(&s->call.mem);
}

#define SETUP(with_store) \
	struct setup s CLEANUP(setup_release) = { 0 }; \
	NEED(begin(t, &s, with_store))

static bool begin(struct t *t, struct setup *s, bool with_store)
{
	char path[LIMIT_PATH];
	struct err err;

	s->call = (struct call){ .hub = &arbor_hub, .who = &s->who };
	snprintf(path, sizeof path, "%.2000s/arbor.db", t_tmpdir(t));
	if (with_store &&
	    store_open(&(struct store_options){ .path = path, .create = true }, &s->call.store, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return false;
	}
	return true;
}

static struct template_of kind(const char *plugin, const char *method)
{
	struct template_of of = { .method = str_of(method) };
	struct err ignored;

	if (template_plugin(&arbor_hub, str_of(plugin), &of, &ignored))
		of.method = STR("there is no such plugin");
	return of;
}

static bool set(struct t *t, struct setup *s, const char *plugin, const char *method, const char *name,
		const char *text)
{
	struct template_of of = kind(plugin, method);
	struct err err;

	if (template_put(s->call.store, &(struct template_key){ of.plugin, of.method, str_of(name) },
			 str_of(text), &err) == STATUS_OK)
		return true;
	t_fail(t, __FILE__, __LINE__, "%s", err.text);
	return false;
}

/* What is printed, or "status: text". */
static struct str shown(struct setup *s, const char *plugin, const char *method, const char *name,
			const char *json, struct buf *out, struct rendered *how)
{
	RENDERER r = RENDERER_INIT(&s->call);
	struct template_of of = kind(plugin, method);
	JSON j = JSON_INIT;
	struct err err;

	*how = (struct rendered){ 0 };
	buf_release(out);
	buf_init(out, LIMIT_RENDERED);
	if (json_read(&j, str_of(json), 0, &err) ||
	    render_value(&r, &of, str_of(name), &j, json_root(&j), out, how, &err)) {
		buf_clear(out);
		buf_printf(out, "%s: %s", status_info(err.status)->name, err.text);
	}
	how->name = arena_str(&s->call.mem, how->name);
	return buf_as_str(out);
}

/* ---- Which one ------------------------------------------------------------------- */

TEST(one_that_was_set_comes_before_the_shipped_one_and_a_name_before_default)
{
	BUF out = { 0 };
	struct rendered how;
	SETUP(true);

	EQS(shown(&s, "claudecode", "session", "compact", "{\"title\":\"T\"}", &out, &how), STR("T"));
	EQ(how.origin, TEMPLATE_SHIPPED);
	EQS(how.name, STR("compact"));
	NEED(set(t, &s, "claudecode", "session", "default", "mine {{title}}"));
	EQS(shown(&s, "claudecode", "session", "compact", "{\"title\":\"T\"}", &out, &how), STR("T"));
	EQS(shown(&s, "claudecode", "session", "default", "{\"title\":\"T\"}", &out, &how), STR("mine T"));
	EQ(how.origin, TEMPLATE_CUSTOM);
	EQS(shown(&s, "claudecode", "session", "other", "{\"title\":\"T\"}", &out, &how), STR("mine T"));
	EQS(how.name, STR("default"));
	NEED(set(t, &s, "claudecode", "session", "other", "other {{title}}"));
	EQS(shown(&s, "claudecode", "session", "other", "{\"title\":\"T\"}", &out, &how), STR("other T"));
	NEED(set(t, &s, "claudecode", "session", "compact", "short {{title}}"));
	EQS(shown(&s, "claudecode", "session", "compact", "{\"title\":\"T\"}", &out, &how), STR("short T"));
}

TEST(what_has_no_template_is_printed_as_names_and_values)
{
	BUF out = { 0 };
	struct rendered how;
	SETUP(true);

	EQS(shown(&s, "notes@1", "note", "default", "{\"a\":{\"b\":1}}", &out, &how), STR("a:\n  b: 1\n"));
	EQ(how.origin, TEMPLATE_GENERIC);
	EQ(how.name.n, 0);
	EQS(shown(&s, "notes@1", "note", "compact", "{\"a\":{\"b\":1}}", &out, &how), STR("a: b: 1"));
	NEED(set(t, &s, "notes@1", "note", "default", "{{a.b}}!"));
	EQS(shown(&s, "notes@1", "note", "default", "{\"a\":{\"b\":1}}", &out, &how), STR("1!"));
	EQS(shown(&s, "notes@2", "note", "default", "{\"a\":2}", &out, &how), STR("a: 2\n"));
}

TEST(without_a_store_the_shipped_ones_are_there)
{
	BUF out = { 0 };
	struct rendered how;
	SETUP(false);

	EQS(shown(&s, "claudecode", "session", "compact", "{\"title\":\"T\"}", &out, &how), STR("T"));
	EQ(how.origin, TEMPLATE_SHIPPED);
}

TEST(a_plugin_is_meant_by_its_name_and_by_its_id)
{
	struct template_of name = kind("claudecode", "x"),
			   id = kind("51b330e5-ed88-5fe2-8b58-0c57f2b02ab3", "x");
	struct template_of of;
	struct err err;

	CHECK(uuid_eq(&name.plugin, &id.plugin));
	EQS(id.plugin_name, STR("claudecode"));
	EQ(template_plugin(&arbor_hub, STR("nobody"), &of, &err), STATUS_NOT_FOUND);
	EQ(template_plugin(&arbor_hub, STR("nobody@"), &of, &err), STATUS_NOT_FOUND);
	EQ(template_plugin(&arbor_hub, STR(""), &of, &err), STATUS_NOT_FOUND);
	name = kind("claudecode@1.7.3", "x");
	CHECK(uuid_eq(&name.plugin, &id.plugin));
	name = kind("claudecode@2", "x");
	CHECK(!uuid_eq(&name.plugin, &id.plugin));
}

TEST(what_compact_prints_is_one_line)
{
	BUF out = { 0 };
	struct rendered how;
	SETUP(true);

	NEED(set(t, &s, "notes@1", "note", "compact", "  {{{a}}}\n\n{{b}}  "));
	EQS(shown(&s, "notes@1", "note", "compact", "{\"a\":\"one\\n\\ttwo\",\"b\":3}", &out, &how),
	    STR("one two 3"));
}

TEST(a_line_is_cut_where_somebody_wants_that)
{
	struct resolution x = { .plugin = STR("notes"),
				.method = STR("note"),
				.data = STR("{\"a\":\"one two three\"}") };
	BUF out = BUF_INIT(KIB);
	struct err err;
	SETUP(false);
	RENDERER r = RENDERER_INIT(&s.call);

	OK(render_line(&r, &x, 6, &out, &err));
	EQS(buf_as_str(&out), STR("a: one…"));
	buf_clear(&out);
	OK(render_line(&r, &x, 100, &out, &err));
	EQS(buf_as_str(&out), STR("a: one two three"));
}

TEST(a_handle_is_shown_on_a_line_where_that_can_be)
{
	static const char *const none[] = {
		"no handle at all", "nobody@1::x:y", "claudecode@1.0.0::nothing:x",
		"claudecode@1.0.0::session:00000000-0000-0000-0000-000000000000",
		"elsewhere.claudecode@1.0.0::session:1ee16f35-b649-493c-8e1d-3fef3c9fe134"
	};
	static const char session[] = "claudecode@1.0.0::session:1ee16f35-b649-493c-8e1d-3fef3c9fe134";
	BUF out = BUF_INIT(KIB);
	struct sync_report report;
	struct err err;
	bool found;
	SETUP(true);
	RENDERER r = RENDERER_INIT(&s.call);

	OK(rebuild_if_stale(s.call.store, NULL, &found, &err));
	OK(sync_run(s.call.store, &(struct sync_options){ .dir = "demo" }, &report, &err));
	OK(render_handle(&r, str_of(session), 15, &out, &found, &err));
	CHECK(found);
	EQS(buf_as_str(&out), STR("In one sentence…"));
	for (size_t i = 0; i < COUNT(none); i++) {
		buf_clear(&out);
		OK(render_handle(&r, str_of(none[i]), 15, &out, &found, &err));
		if (found || out.n)
			t_fail(t, __FILE__, __LINE__, "'%s' was found", none[i]);
	}
}

/* ---- Templates that call others ---------------------------------------------------- */

TEST(a_template_calls_others_by_name_by_method_and_by_plugin)
{
	BUF out = { 0 };
	struct rendered how;
	SETUP(true);

	NEED(set(t, &s, "notes@1", "note", "default",
		 "[{{>part}}|{{>list.part}}|{{>claudecode.session.compact}}|{{>no}}]"));
	NEED(set(t, &s, "notes@1", "note", "part", "p{{a}}"));
	NEED(set(t, &s, "notes@1", "list", "part", "l{{>inner}}"));
	NEED(set(t, &s, "notes@1", "list", "inner", "i{{a}}"));
	NEED(set(t, &s, "notes@1", "note", "inner", "wrong"));
	EQS(shown(&s, "notes@1", "note", "default", "{\"a\":1,\"title\":\"T\"}", &out, &how),
	    STR("[p1|li1|T|]"));
}

TEST(nothing_stands_in_for_a_template_that_is_called_and_missing)
{
	BUF out = { 0 };
	struct rendered how;
	SETUP(true);

	NEED(set(t, &s, "notes@1", "note", "default",
		 "({{>a.b.c.d}}{{>nobody.x.y}}{{>claudecode.session.nothing}}{{>x}})"));
	EQS(shown(&s, "notes@1", "note", "default", "{}", &out, &how), STR("()"));
}

TEST(templates_that_call_each_other_forever_are_stopped)
{
	BUF out = { 0 };
	struct rendered how;
	SETUP(true);

	NEED(set(t, &s, "notes@1", "note", "default", "{{>other}}"));
	NEED(set(t, &s, "notes@1", "note", "other", "x{{>default}}"));
	CHECK(str_has_prefix(shown(&s, "notes@1", "note", "default", "{}", &out, &how),
			     STR("limit: rendering: nested")));
}

/* A newer program may have set it. */
TEST(one_in_the_store_that_is_no_template_is_named)
{
	BUF out = { 0 };
	struct rendered how;
	SETUP(true);

	NEED(set(t, &s, "claudecode", "session", "default", "\n{{#a}}"));
	EQS(shown(&s, "claudecode", "session", "default", "{}", &out, &how),
	    STR("format: template default of claudecode::session: 2:1: this section is not closed: 'a'"));
}

/* ---- Checking names ------------------------------------------------------------------ */

static void take_warning(void *ctx, struct str text)
{
	buf_str(ctx, text);
	buf_byte(ctx, '\n');
}

static struct str warnings(struct setup *s, const char *plugin, const char *method, const char *text,
			   struct buf *out)
{
	RENDERER r = RENDERER_INIT(&s->call);
	struct template_of of = kind(plugin, method);
	struct mustache m CLEANUP(mustache_release) = MUSTACHE_INIT;
	struct err err;

	buf_release(out);
	buf_init(out, MIB);
	if (mustache_compile(&m, str_of(text), &err) || template_check(&r, &of, &m, take_warning, out, &err))
		buf_text(out, err.text);
	return buf_as_str(out);
}

TEST(names_that_the_data_never_has_are_told)
{
	static const struct {
		const char *text, *warnings;
	} message[] = {
		{ "{{role}}{{#blocks}}{{text}}{{kind}}{{role}}{{.}}{{/blocks}}{{project_hex}}", "" },
		{ "{{titel}}", "1:1: the data never has 'titel'; did you mean 'title'?\n" },
		{ "\n {{{nothing_like_it}}}", "2:2: the data never has 'nothing_like_it'\n" },
		{ "{{text}}", "1:1: the data never has 'text'\n" },
		{ "{{#blocks}}{{txt}}{{/blocks}}", "1:12: the data never has 'txt'; did you mean 'text'?\n" },
		{ "{{#blocks}}{{input.command}}{{#input}}{{whatever}}{{/input}}{{/blocks}}", "" },
		{ "{{blocks.text}}",
		  "1:1: this looks into a list, which only a section does: 'blocks.text'\n" },
		{ "{{role.x}}", "1:1: the data never has 'role.x'; did you mean 'role'?\n" },
		{ "{{#role}}{{.}}{{role}}{{/role}}{{^model}}{{titl}}{{/model}}",
		  "1:42: the data never has 'titl'; did you mean 'title'?\n" },
		{ "{{#xyzzy}}{{.}}{{a}}{{b.c}}{{/xyzzy}}", "1:1: the data never has 'xyzzy'\n" },
		{ "{{>compact}}{{>tool_use.compact}}{{>claudecode.session.compact}}", "" },
		{ "{{>compakt}}", "1:1: there is no template 'compakt'\n" },
	};
	BUF out = { 0 };
	SETUP(false);

	for (size_t i = 0; i < COUNT(message); i++)
		if (!EQS(warnings(&s, "claudecode", "message", message[i].text, &out),
			 str_of(message[i].warnings)))
			t_fail(t, __FILE__, __LINE__, "in '%s'", message[i].text);
}

TEST(of_a_plugin_that_nobody_knows_here_any_name_may_be_right)
{
	BUF out = { 0 };
	SETUP(false);

	EQS(warnings(&s, "notes@1", "note", "{{a}}{{#b}}{{c.d}}{{/b}}", &out), STR(""));
	EQS(warnings(&s, "claudecode", "mesage", "{{a}}", &out),
	    STR("claudecode has no handles 'mesage'; did you mean 'message'?\n"));
}

/* ---- Shipped ones --------------------------------------------------------------------- */

static bool is_shipped(const char *plugin, const char *method, struct str name)
{
	struct template_shipped x;

	for (size_t i = 0; template_shipped(i, &x); i++)
		if (str_eq(x.plugin, str_of(plugin)) && str_eq(x.method, str_of(method)) &&
		    str_eq(x.name, name))
			return true;
	return false;
}

TEST(every_kind_of_handle_has_a_template_and_a_compact_one)
{
	for (const struct activation *const *a = arbor_hub.activations; *a; a++)
		for (const struct handle_kind *k = (*a)->handles; k && k->method; k++)
			if (!is_shipped((*a)->name, k->method, TEMPLATE_DEFAULT) ||
			    !is_shipped((*a)->name, k->method, TEMPLATE_COMPACT))
				t_fail(t, __FILE__, __LINE__, "templates/ lacks %s.%s.default or .compact",
				       (*a)->name, k->method);
}

TEST(shipped_templates_name_only_what_their_data_can_have)
{
	struct template_shipped x;
	BUF out = { 0 };
	SETUP(false);

	for (size_t i = 0; template_shipped(i, &x); i++)
		if (warnings(&s, arena_cstr(&s.call.mem, x.plugin), arena_cstr(&s.call.mem, x.method),
			     arena_cstr(&s.call.mem, x.text), &out)
			    .n)
			t_fail(t, __FILE__, __LINE__, "%.*s.%.*s.%.*s: %s", STR_ARG(x.plugin),
			       STR_ARG(x.method), STR_ARG(x.name), out.p);
}

/* What is printed is text and no HTML: an ampersand has to stay one. */
TEST(shipped_templates_print_values_as_they_are)
{
	struct template_shipped x;
	size_t n = 0;

	for (; template_shipped(n, &x); n++) {
		struct mustache m CLEANUP(mustache_release) = MUSTACHE_INIT;
		struct err err;

		OK(mustache_compile(&m, x.text, &err));
		for (uint32_t k = 0; k < m.count; k++)
			if (m.ops[k].kind == MUSTACHE_ESCAPED)
				t_fail(t, __FILE__, __LINE__, "%.*s.%.*s.%.*s escapes '%.*s'",
				       STR_ARG(x.plugin), STR_ARG(x.method), STR_ARG(x.name),
				       STR_ARG(mustache_name(&m, &m.ops[k])));
	}
	CHECK(n > 20);
}

TESTS(CASE(one_that_was_set_comes_before_the_shipped_one_and_a_name_before_default),
      CASE(what_has_no_template_is_printed_as_names_and_values),
      CASE(without_a_store_the_shipped_ones_are_there), CASE(a_plugin_is_meant_by_its_name_and_by_its_id),
      CASE(what_compact_prints_is_one_line), CASE(a_line_is_cut_where_somebody_wants_that),
      CASE(a_handle_is_shown_on_a_line_where_that_can_be),
      CASE(a_template_calls_others_by_name_by_method_and_by_plugin),
      CASE(nothing_stands_in_for_a_template_that_is_called_and_missing),
      CASE(templates_that_call_each_other_forever_are_stopped),
      CASE(one_in_the_store_that_is_no_template_is_named), CASE(names_that_the_data_never_has_are_told),
      CASE(of_a_plugin_that_nobody_knows_here_any_name_may_be_right),
      CASE(every_kind_of_handle_has_a_template_and_a_compact_one),
      CASE(shipped_templates_name_only_what_their_data_can_have),
      CASE(shipped_templates_print_values_as_they_are))
