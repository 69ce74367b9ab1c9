/*
 * storage.sql: questions in SQL. What can be asked is in query/sql.h and docs/SQL.md.
 */
#include "hub/storage_files.h"

#include "base/hash.h"
#include "base/map.h"
#include "hub/call.h"
#include "query/sql.h"

#include <string.h>

static const struct param sql_params[] = {
	{ .name = "query",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD | PARAM_INPUT,
	  .help = "a SELECT, or '-' to read it from standard input" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "0",
	  .least = 0,
	  .most = INT64_MAX,
	  .help = "how many rows at most; 0 for all" },
	{ .name = "timeout",
	  .type = VALUE_INT,
	  .initial = "60",
	  .least = 0,
	  .most = 1000000,
	  .shown = "SECONDS",
	  .help = "how long it may take; 0 for as long as it takes" },
	{ 0 },
};

/* The query says which there are. */
static const struct field sql_fields[] = { { 0 } };

struct asking {
	struct call *call;
	struct str *names; /* of the members; NULL = not made yet */
};

/* Columns may have the same name and members may not; "v" is the version of a result. */
static void name_members(struct asking *a, const struct sql_row *row)
{
	struct map taken CLEANUP(map_release) = MAP_INIT;

	a->names = arena_alloc(&a->call->mem, row->count * sizeof *a->names);
	map_put(&taken, STR("v"), a);
	for (size_t i = 0; i < row->count; i++) {
		struct str name = arena_str(&a->call->mem, row->names[i]);

		for (int n = 2; map_get(&taken, name); n++)
			name = arena_printf(&a->call->mem, "%.*s_%d", STR_ARG(row->names[i]), n);
		map_put(&taken, name, a);
		a->names[i] = name;
	}
}

/* Bytes as hex; sixteen of them are an id. */
static void put_blob(struct json_writer *w, struct str bytes, struct arena *mem)
{
	char text[UUID_TEXT + 1], *hex;
	struct uuid id;

	if (bytes.n == UUID_BYTES) {
		memcpy(id.b, bytes.p, UUID_BYTES);
		uuid_print(&id, text);
		json_write_string(w, str_of(text));
		return;
	}
	hex = arena_alloc(mem, 2 * bytes.n + 1);
	hex_encode((const uint8_t *)bytes.p, bytes.n, hex);
	json_write_string(w, str_from(hex, 2 * bytes.n));
}

static void put_value(struct json_writer *w, const struct sql_value *v, struct arena *mem)
{
	switch (v->type) {
	case SQL_NULL:
		json_write_null(w);
		break;
	case SQL_INT:
		json_write_i64(w, v->number);
		break;
	case SQL_REAL:
		json_write_real(w, v->real);
		break;
	case SQL_TEXT:
		json_write_string(w, v->bytes);
		break;
	case SQL_BLOB:
		put_blob(w, v->bytes, mem);
		break;
	}
}

static enum status emit_row(void *ctx, const struct sql_row *row, struct err *err)
{
	struct asking *a = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json_writer *w = call_begin(a->call);

	if (!a->names)
		name_members(a, row);
	for (size_t i = 0; i < row->count; i++) {
		json_write_key(w, a->names[i]);
		put_value(w, &row->values[i], &mem);
	}
	return call_emit(a->call, err);
}

static enum status prepare_sql(struct call *c, enum need *need, struct err *err)
{
	(void)c;
	(void)need;
	(void)err;
	sql_count_memory();
	return STATUS_OK;
}

static enum status run_sql(struct call *c, struct err *err)
{
	struct asking a = { .call = c };
	struct sql_query query = { .text = call_text(c, "query"),
				   .rows = call_int(c, "limit"),
				   .timeout_ms = call_int(c, "timeout") * 1000,
				   .cancel = c->cancel };
	struct sql_report report;

	if (sql_run(c->store, &query, emit_row, &a, &report, err))
		return err_failed(err->status);
	if (report.more)
		call_note(c, "there are more rows; --limit %" PRId64 " was given", query.rows);
	return STATUS_OK;
}

const struct method storage_sql = {
	.name = "sql",
	.verb = "sql",
	.also = "db sqlite",
	.group = "find",
	.summary = "Ask in SQL",
	.text = "The tables are sessions, messages, messages_meta, tool_uses, file_modifications, "
		"extraction_state, links, topics, nodes and trees; docs/SQL.md has their columns, and so has "
		"'arbor sql \"PRAGMA table_info(sessions)\"'. Words are found by messages MATCH 'words', as "
		"by "
		"'arbor search', best first with ORDER BY rank. content(ID), thinking(ID) and line(ID) give "
		"the "
		"text of a node, what was thought, and the line of JSON it stands in.\n\n"
		"Everything can be read and nothing written. A query that takes too long, or too much "
		"memory, is "
		"stopped.\n\n"
		"On a terminal rows are a table. Into a pipe each row is a line, with tabs between whole "
		"values and "
		"\\N for NULL. With --json each is an object with the columns' names; ids are text, other "
		"bytes are "
		"hex.\n",
	.params = sql_params,
	.kind = RESULT_STREAM,
	.fields = sql_fields,
	.open = true,
	.empty = "no rows",
	.scope = SCOPE_LOCAL,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "sql \"SELECT project_name, count(*) FROM sessions GROUP BY 1 ORDER BY 2 DESC\"",
			  "conversations by project" },
			{ "sql \"SELECT session_id, snippet(messages) FROM messages('cents') ORDER BY rank "
			  "LIMIT 5\"",
			  "what a search finds" },
			{ "sql \"SELECT tool_name, count(*), sum(is_error) FROM tool_uses GROUP BY 1\" "
			  "--json",
			  "which tools were called, and how often they failed" },
			{ 0 } },
	.prepare = prepare_sql,
	.run = run_sql,
};
