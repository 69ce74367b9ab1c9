/*
 * Templates in the store.
 */
#include "store/db.h"
#include "store/template.h"
#include "t.h"

#include <stdio.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

static struct store *make_store(struct t *t)
{
	struct store *s = NULL;
	char path[LIMIT_PATH];
	struct err err;

	snprintf(path, sizeof path, "%.2000s/arbor.db", t_tmpdir(t));
	if (store_open(&(struct store_options){ .path = path, .create = true }, &s, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	return s;
}

static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static struct template_key key_of(const char *plugin, const char *method, const char *name)
{
	return (struct template_key){ uuid_v5(&uuid_ns_oid, str_of(plugin)), str_of(method), str_of(name) };
}

static enum status count_row(void *ctx, const struct template_row *row, struct err *err)
{
	(void)row;
	(void)err;
	++*(int *)ctx;
	return STATUS_OK;
}

static int count_rows(struct t *t, struct store *s)
{
	struct err err;
	int n = 0;

	if (template_each(s, count_row, &n, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	return n;
}

TEST(a_store_without_trees_has_no_templates_and_stays_as_it_is)
{
	STORE *s = make_store(t);
	struct template_key key = key_of("a@1", "m", "default");
	struct template_row row;
	struct err err;
	ARENA;

	NEED(s);
	EQ(template_get(s, &key, &mem, &row, &err), STATUS_NOT_FOUND);
	EQ(template_delete(s, &key, &err), STATUS_NOT_FOUND);
	EQ(count_rows(t, s), 0);
	EQ(ask(s, "PRAGMA user_version"), STORE_ARCHIVE);
}

TEST(a_template_is_kept_as_it_was_given)
{
	static const char body[] = "{{#a}}\n\tü \"x\" {{{b}}}\r\n{{/a}}";
	STORE *s = make_store(t);
	struct template_key key = key_of("a@1", "m", "default");
	struct template_row row = { 0 };
	struct err err;
	ARENA;

	NEED(s);
	OK(template_put(s, &key, str_of(body), &err));
	OK(template_get(s, &key, &mem, &row, &err));
	EQS(row.body, str_of(body));
	EQS(row.key.method, STR("m"));
	EQS(row.key.name, STR("default"));
	CHECK(uuid_eq(&row.key.plugin, &key.plugin));
	CHECK(row.updated_at > 0);
}

TEST(templates_differ_by_plugin_method_and_name)
{
	STORE *s = make_store(t);
	struct template_key keys[] = { key_of("a@1", "m", "x"), key_of("a@2", "m", "x"),
				       key_of("a@1", "n", "x"), key_of("a@1", "m", "y") };
	struct err err;

	NEED(s);
	for (size_t i = 0; i < COUNT(keys); i++)
		OK(template_put(s, &keys[i], keys[i].name, &err));
	EQ(count_rows(t, s), (int)COUNT(keys));
	OK(template_delete(s, &keys[0], &err));
	EQ(count_rows(t, s), (int)COUNT(keys) - 1);
}

TEST(setting_one_again_replaces_it_and_is_a_newer_revision)
{
	STORE *s = make_store(t);
	struct template_key key = key_of("a@1", "m", "x");
	struct template_row row = { 0 };
	struct err err;
	int64_t rev;
	ARENA;

	NEED(s);
	OK(template_put(s, &key, STR("one"), &err));
	rev = ask(s, "SELECT rev FROM template");
	OK(template_put(s, &key, STR("two"), &err));
	CHECK(ask(s, "SELECT rev FROM template") > rev);
	OK(template_get(s, &key, &mem, &row, &err));
	EQS(row.body, STR("two"));
	EQ(count_rows(t, s), 1);
}

TEST(one_that_was_deleted_is_remembered_until_it_is_set_again)
{
	STORE *s = make_store(t);
	struct template_key key = key_of("a@1", "m", "x");
	struct template_row row;
	struct err err;
	ARENA;

	NEED(s);
	OK(template_put(s, &key, STR("one"), &err));
	OK(template_delete(s, &key, &err));
	EQ(template_get(s, &key, &mem, &row, &err), STATUS_NOT_FOUND);
	EQ(ask(s, "SELECT count(*) FROM deleted_row WHERE table_name = 'template'"), 1);
	EQ(ask(s, "SELECT rev FROM deleted_row"),
	   ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"));
	EQ(template_delete(s, &key, &err), STATUS_NOT_FOUND);
	OK(template_put(s, &key, STR("two"), &err));
	EQ(ask(s, "SELECT count(*) FROM deleted_row"), 0);
}

TESTS(CASE(a_store_without_trees_has_no_templates_and_stays_as_it_is),
      CASE(a_template_is_kept_as_it_was_given), CASE(templates_differ_by_plugin_method_and_name),
      CASE(setting_one_again_replaces_it_and_is_a_newer_revision),
      CASE(one_that_was_deleted_is_remembered_until_it_is_set_again))
