/*
 * Walks the table of the program: every method is described completely, and what
 * it really gives is what its schema says.
 */
#include "approvals.h"
#include "base/file.h"
#include "hub/activations.h"
#include "hub/children.h"
#include "hub/settings.h"
#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "live/lease.h"
#include "t.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every activation `a` and method `m` of the program. */
#define EACH_METHOD \
	for (const struct activation *const *a = arbor_hub.activations; *a; a++) \
		for (const struct method *const *m = (*a)->methods; *m; m++)

static bool is_name(const char *s)
{
	return s && s[0] >= 'a' && s[0] <= 'z' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(s);
}

static bool is_line(const char *s)
{
	return s && s[0] && !strchr(s, '\n') && s[strlen(s) - 1] != '.';
}

static void check_fields(struct t *t, const char *where, const struct field *fields)
{
	int keys = 0, stretched = 0;

	for (const struct field *f = fields; f && f->name; f++) {
		if (!is_name(f->name) || !is_line(f->help) || (f->type == VALUE_ENUM && !f->choices))
			t_fail(t, __FILE__, __LINE__, "%s: field %s is not described", where, f->name);
		keys += (f->flags & FIELD_KEY) != 0;
		stretched += (f->flags & FIELD_STRETCH) != 0;
	}
	if (keys > 1 || stretched > 1)
		t_fail(t, __FILE__, __LINE__, "%s: one field names an item, one stretches", where);
}

static void check_param(struct t *t, const char *where, const struct param *p)
{
	const struct activation *a = NULL;
	const struct method *names = NULL;
	struct err err;

	if (!is_name(p->name) || !is_line(p->help) || (p->type == VALUE_ENUM && !p->choices))
		t_fail(t, __FILE__, __LINE__, "%s: parameter %s is not described", where, p->name);
	if ((p->flags & PARAM_BARE) && p->type != VALUE_ENUM)
		t_fail(t, __FILE__, __LINE__, "%s: %s has no first choice", where, p->name);
	if (p->names && (hub_find(&arbor_hub, str_of(p->names), &a, &names, &err) || !field_key(names->fields)))
		t_fail(t, __FILE__, __LINE__, "%s: %s: nothing in %s has a name", where, p->name, p->names);
}

TEST(every_method_has_a_name_a_summary_help_and_an_example)
{
	EACH_METHOD
	{
		CHECK(is_name((*a)->name) && is_name((*m)->name));
		if (!is_line((*m)->summary) || !(*m)->text || !(*m)->text[0] || !(*m)->run)
			t_fail(t, __FILE__, __LINE__, "%s.%s is not described", (*a)->name, (*m)->name);
		if (!(*m)->examples || !is_line((*m)->examples[0].line) || !is_line((*m)->examples[0].what))
			t_fail(t, __FILE__, __LINE__, "%s.%s has no example", (*a)->name, (*m)->name);
		if ((*m)->verb && !(*m)->group)
			t_fail(t, __FILE__, __LINE__, "%s.%s has a verb that help does not list", (*a)->name,
			       (*m)->name);
		for (const struct param *p = (*m)->params; p && p->name; p++)
			check_param(t, (*m)->name, p);
		CHECK(((*m)->kind == RESULT_RAW) == ((*m)->fields == NULL));
		check_fields(t, (*m)->name, (*m)->fields);
	}
}

/* Whether a word stands in a list of words. */
static bool has_word(const char *list, struct str word)
{
	struct str rest = list ? str_of(list) : (struct str){ 0 };

	while (rest.n)
		if (str_eq(str_cut(rest, ' ', &rest), word))
			return true;
	return false;
}

TEST(what_other_tools_call_a_verb_leads_to_one_verb)
{
	EACH_METHOD
	{
		struct str word, rest = (*m)->also ? str_of((*m)->also) : (struct str){ 0 };

		while (rest.n) {
			int meant = 0;

			word = str_cut(rest, ' ', &rest);
			for (const struct activation *const *b = arbor_hub.activations; *b; b++)
				for (const struct method *const *n = (*b)->methods; *n; n++)
					meant += has_word((*n)->also, word) +
						 ((*n)->verb && str_eq(word, str_of((*n)->verb)));
			if (meant != 1 || !(*m)->verb)
				t_fail(t, __FILE__, __LINE__, "'%.*s' means %d verbs", STR_ARG(word), meant);
		}
	}
}

/* ---- Results against schemas ------------------------------------------------ */

struct judge {
	struct t *t;
	const struct method *method;
	const char *store;
	int results;
	size_t bytes;
};

static bool has_type(const struct json *j, uint32_t node, enum value_type type)
{
	switch (type) {
	case VALUE_INT:
	case VALUE_BYTES:
		return json_is(j, node, JSON_NUMBER);
	case VALUE_BOOL:
		return json_is(j, node, JSON_TRUE) || json_is(j, node, JSON_FALSE);
	case VALUE_OBJECT:
		return json_is(j, node, JSON_OBJECT);
	case VALUE_JSON:
		return true;
	case VALUE_TEXT:
	case VALUE_ENUM:
	case VALUE_TIME:
	case VALUE_ID:
	case VALUE_PATH:
	case VALUE_HANDLE:
	case VALUE_TYPES:
		break;
	}
	return json_is(j, node, JSON_STRING);
}

static void judge_field(struct judge *g, const struct json *j, uint32_t object, const struct field *f)
{
	uint32_t value = json_get(j, object, str_of(f->name));
	bool good;

	if (value == JSON_NONE) {
		if (!(f->flags & FIELD_OPTIONAL))
			t_fail(g->t, __FILE__, __LINE__, "%s: no '%s'", g->method->name, f->name);
		return;
	}
	good = f->flags & FIELD_LIST ? json_is(j, value, JSON_ARRAY) : has_type(j, value, f->type);
	for (uint32_t i = json_first(j, value); (f->flags & FIELD_LIST) && good && i != json_end(j, value);
	     i = json_next(j, i))
		good = has_type(j, i, f->type);
	if (!good)
		t_fail(g->t, __FILE__, __LINE__, "%s: '%s' has the wrong type", g->method->name, f->name);
}

static bool is_declared(const struct method *m, struct str key)
{
	for (const struct field *f = m->fields; f && f->name; f++) {
		struct str name = str_of(f->name);

		if (str_eq(key, name) ||
		    (f->type == VALUE_PATH && key.n == name.n + 4 && str_has_prefix(key, name)))
			return true;
	}
	return false;
}

static enum status judge_item(void *ctx, struct str text, struct err *err)
{
	struct judge *g = ctx;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str key;

	g->results++;
	if (json_read(&j, text, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	for (const struct field *f = g->method->fields; f && f->name; f++)
		judge_field(g, &j, json_root(&j), f);
	for (uint32_t k = json_first(&j, 0); k != json_end(&j, 0); k = json_next(&j, k + 1))
		if (!g->method->open && (!json_text(&j, k, &key) || !is_declared(g->method, key)))
			t_fail(g->t, __FILE__, __LINE__, "%s: '%.*s' is not in the schema", g->method->name,
			       STR_ARG(key));
	return STATUS_OK;
}

static enum status judge_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct judge *g = ctx;

	(void)err;
	g->results++;
	g->bytes += bytes.n;
	return STATUS_OK;
}

static enum status open_store(void *ctx, bool make, struct store **out, struct err *err)
{
	struct judge *g = ctx;

	return store_open(&(struct store_options){ .path = g->store, .create = make }, out, err);
}

/* A session that this process is at work in. */
static enum status plant_work(struct store *s, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct lease own;
	struct run run;

	if (lease_own(s, &mem, &own, err) || test_run(s, "at-work", &mem, &run, err))
		return err_failed(err->status);
	return run_take(s, &run, &own, err);
}

static enum status fill(const char *path, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct sync_report report;
	bool done;

	if (store_open(&(struct store_options){ .path = path, .create = true }, &s, err) ||
	    rebuild_if_stale(s, NULL, &done, err))
		return err_failed(err->status);
	if (sync_run(s, &(struct sync_options){ .dir = "demo" }, &report, err))
		return err_failed(err->status);
	if (test_plant(s, err) || test_plant_approvals(s, err))
		return err_failed(err->status);
	return plant_work(s, err);
}

/* What examples name: each line a method and its parameters (test/table/trees.calls). */
static enum status plant(struct t *t, struct hub_caller *who, struct err *err)
{
	struct buf calls CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str rest, line;

	if (!t_read_file(t, "test/table/trees.calls", &calls))
		return err_fail(err, STATUS_NOT_FOUND, "no trees");
	for (rest = buf_as_str(&calls); rest.n;) {
		struct str json, name = str_cut(line = str_cut(rest, '\n', &rest), ' ', &json);

		if (hub_call(&arbor_hub, name, json, who, err))
			return err_pass(err, "%.*s", STR_ARG(line));
	}
	return STATUS_OK;
}

static enum status ignore_item(void *ctx, struct str text, struct err *err)
{
	(void)ctx;
	(void)text;
	(void)err;
	return STATUS_OK;
}

/* A copy of a store that nobody has open. */
static bool copy_store(struct t *t, const char *from, const char *to)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct err err;

	return t_read_file(t, from, &bytes) && file_write_atomic(to, buf_as_str(&bytes), 0600, &err) == STATUS_OK;
}

/* A value for what a method cannot do without: by its own name, by both, or by that of the parameter. */
static const char *value_for(const struct method *m, const char *param)
{
	const char *first = m->params[0].name;
	static const struct {
		const char *param, *json;
	} values[] = {
		{ "interrupt", "\"at-work\"" },
		{ "cancel", "\"at-work\"" },
		{ "queue.stream", "\"at-work\"" },
		{ "drive", "\"submitted\"" },
		{ "continue", "\"broken\"" },
		{ "stream", "\"fix-tests\"" },
		{ "adopt.working_dir", "\"/tmp\"" },
		{ "adopt.name", "\"adopted\"" },
		{ "adopt.conversation", "\"@\"" },
		{ "cwd", "\"/tmp\"" },
		{ "resume.session", "\"@\"" },
		{ "fork.session", "\"@\"" },
		{ "create_from_tree.node", "\"@\"" },
		{ "create_from_tree.name", "\"newest\"" },
		{ "set_head.session", "\"fix-tests\"" },
		{ "set_head.node", "\"@\"" },
		{ "set_model.session", "\"fix-tests\"" },
		{ "set_mode.session", "\"fix-tests\"" },
		{ "model", "\"opus\"" },
		{ "mode", "\"plan\"" },
		{ "prompt", "\"Why?\"" },
		{ "create.name", "\"new\"" },
		{ "rename.name", "\"other\"" },
		{ "get.session", "\"fix-tests\"" },
		{ "rename.session", "\"fix-tests\"" },
		{ "delete.session", "\"fix-tests\"" },
		{ "chat.session", "\"fix-tests\"" },
		{ "chat_async.session", "\"fix-tests\"" },
		{ "get_block.id", "\"db0f0db2\"" },
		{ "compare.a", "\"b899e3df\"" },
		{ "compare.b", "\"24bf71fb\"" },
		{ "merge_note.from", "\"b899e3df\"" },
		{ "merge_note.into", "\"24bf71fb\"" },
		{ "approval", "\"a5ced000\"" },
		{ "decision", "\"allow\"" },
		{ "permit.tool_name", "\"Bash\"" },
		{ "permit.input", "{\"command\":\"git status\"}" },
		{ "rule_add.rule", "\"Bash(git *)\"" },
		{ "rule_delete.rule", "\"4e1e0000\"" },
		{ "cursor_create.name", "\"screen\"" },
		{ "cursor_advance.name", "\"ui\"" },
		{ "cursor_delete.name", "\"ui\"" },
		{ "cursor_advance.to", "\"1.4\"" },
		{ "tree_get_archived", "\"7ee1\"" },
		{ "node_get_archived", "\"a0de09\"" },
		{ "tree_archive", "\"7ee2\"" },
		{ "tree_purge", "\"7ee1\"" },
		{ "node_purge", "\"a0de03\"" },
		{ "node_archive", "\"a0de03\"" },
		{ "context_get_handles", "\"a0de03\"" },
		{ "alias_create", "\"a11a5000-0000-4000-8000-000000000002\"" },
		{ "alias", "\"a11a5000-0000-4000-8000-000000000001\"" },
		{ "tree", "\"7ee0\"" },
		{ "node", "\"a0de02\"" },
		{ "from", "\"a0de02\"" },
		{ "to", "\"a0de03\"" },
		{ "content", "\"a text\"" },
		{ "metadata", "{\"a\":1}" },
		{ "filter", "{\"topic\":\"release\"}" },
		{ "source", "\"demo\"" },
		{ "file", "\"history.jsonl\"" },
		{ "logical", "\"mirror\"" },
		{ "call.method", "\"hub.hash\"" },
		{ "method", "\"session\"" },
		{ "plugin", "\"claudecode\"" },
		{ "template", "\"default\"" },
		{ "value", "{}" },
		{ "id", "[\"@\",\"@~1\"]" },
		{ "words", "[\"the\"]" },
		{ "session", "\"79f2f12c\"" },
		{ "conversation", "\"2396d03e\"" },
		{ "about", "\"2396d03e\"" },
		{ "project", "\"webshop\"" },
		{ "query", "\"SELECT * FROM sessions\"" },
		{ "handle", "\"claudecode@1.0.0::session:79f2f12c-0e62-4e25-8416-798d8549f7e1\"" },
		{ "handles", "[\"@\",\"@~1\"]" },
		{ "on", "\"@\"" },
		{ "text", "\"the plan that worked\"" },
		{ "note", "\"@\"" },
		{ "name", "\"here\"" },
		{ "tags", "[\"decision\",\"prices\"]" },
	};
	char of_method[128];

	snprintf(of_method, sizeof of_method, "%s.%s", m->name, param);
	for (size_t i = 0; i < COUNT(values); i++)
		if (strcmp(values[i].param, of_method) == 0 || strcmp(values[i].param, param) == 0 ||
		    (strcmp(values[i].param, m->name) == 0 && strcmp(param, first) == 0))
			return values[i].json;
	return "null";
}

/* A search wants words or conditions, a test a template or a handle, a note a text or to be deleted: either will
 * do, and neither alone is required. */
static bool is_one_of_two(const char *method, const char *param)
{
	return strcmp(param, "words") == 0 || strcmp(param, "template") == 0 ||
	       (strcmp(method, "node_update") == 0 && strcmp(param, "metadata") == 0) ||
	       (strncmp(method, "alias_", 6) == 0 && strcmp(param, "tree") == 0) ||
	       (strcmp(method, "rule_add") == 0 && strcmp(param, "decision") == 0) ||
	       (strcmp(method, "note_set") == 0 && strcmp(param, "text") == 0) ||
	       (strcmp(method, "bookmark_set") == 0 && strcmp(param, "name") == 0);
}

/* What it is when left out has nothing to tell in the demo. */
static bool is_better_given(const struct method *m, const struct param *p)
{
	static const char *const names[] = { "context.project", "agents.session", "files.conversation",
					     "adopt.working_dir", "chat.prompt",
					     "fork.cwd", "create_from_tree.cwd", "resume.cwd" };
	char name[128];

	snprintf(name, sizeof name, "%s.%s", m->name, p->name);
	for (size_t i = 0; i < COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static struct str params_for(const struct method *m, struct buf *json)
{
	buf_text(json, "{");
	for (const struct param *p = m->params; p && p->name; p++)
		if ((p->flags & PARAM_REQUIRED) || is_one_of_two(m->name, p->name) || is_better_given(m, p))
			buf_printf(json, "%s\"%s\":%s", json->n > 1 ? "," : "", p->name, value_for(m, p->name));
	if (m->asks)
		buf_printf(json, "%s\"dry_run\":true", json->n > 1 ? "," : "");
	buf_text(json, "}");
	return buf_as_str(json);
}

/* Another hub, with a method and nothing else, so that what is said of such is looked at, too. */
static const char other_hub[] =
	"{ \"hubs\": { \"other\": { \"command\": [\"sh\", \"-c\", \"while read -r l; do id=${l#*id\\\":}; id=${id%%,*};"
	" case $l in *hub.schema*) echo '{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"$/item\\\",\\\"params\\\":"
	"{\\\"id\\\":'$id',\\\"item\\\":{\\\"name\\\":\\\"do\\\",\\\"schema\\\":{}}}}';; esac;"
	" echo '{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":'$id',\\\"result\\\":null}'; done\"] } } }";

static const char *get_env(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

static void children_freep(struct children **c)
{
	children_free(*c);
}

TEST(every_method_gives_what_its_schema_says)
{
	const char *dir = t_tmpdir(t);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct children *children CLEANUP(children_freep) = NULL;
	struct environment e = { .get = get_env };
	struct settings settings;
	char path[256], full[256];
	struct judge none = { .t = t, .store = full };
	struct hub_caller planter = {
		.sink = { .item = ignore_item }, .scopes = ~0u, .open_store = open_store, .ctx = &none
	};
	struct err err;

	settings_begin(&settings, "/", &mem);
	OK(settings_read(&settings, SETTING_USER, "settings", str_of(other_hub), NULL, &err));
	children = children_new(&settings, &e);
	snprintf(full, sizeof full, "%s/full.db", dir);
	OK(fill(full, &err));
	OK(plant(t, &planter, &err));
	EACH_METHOD
	{
		struct judge g = { .t = t, .method = *m, .store = path };
		struct hub_caller who = { .sink = { .item = judge_item, .bytes = judge_bytes, .ctx = &g },
					  .scopes = ~0u,
					  .person = true,
					  .open_store = open_store,
					  .children = children,
					  .program = getenv("ARBOR"),
					  .ctx = &g };
		struct buf json CLEANUP(buf_release) = BUF_INIT(KIB);
		char name[128];

		snprintf(path, sizeof path, "%s/%s.db", dir, (*m)->name);
		NEED(copy_store(t, full, path));
		snprintf(name, sizeof name, "%s.%s", (*a)->name, (*m)->name);
		OK(hub_call(&arbor_hub, str_of(name), params_for(*m, &json), &who, &err));
		CHECK(g.results > 0);
		CHECK((*m)->kind != RESULT_ONE || g.results == 1);
		CHECK((*m)->kind != RESULT_RAW || g.bytes > 0);
	}
}

TEST(sql_is_for_those_on_this_machine_alone)
{
	struct judge g = { .t = t, .method = NULL, .store = "none" };
	struct hub_caller far = { .sink = { .item = judge_item, .ctx = &g },
				  .scopes = ~(1u << SCOPE_LOCAL),
				  .open_store = open_store,
				  .ctx = &g };
	struct err err;

	EQ(hub_call(&arbor_hub, STR("storage.sql"), STR("{\"query\":\"SELECT 1\"}"), &far, &err), STATUS_DENIED);
}

TESTS(CASE(every_method_has_a_name_a_summary_help_and_an_example),
      CASE(what_other_tools_call_a_verb_leads_to_one_verb),
      CASE(every_method_gives_what_its_schema_says), CASE(sql_is_for_those_on_this_machine_alone))
