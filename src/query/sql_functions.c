/*
 * Functions of SQL: those that people call (content, thinking, line, snippet), and those of which
 * the tables are made, whose names begin with arbor_.
 *
 * What is asked for and does not exist is NULL. A failure (a damaged block, say) stops the query and
 * keeps its own status.
 */
#include "query/sql_inside.h"

#include "base/hash.h"
#include "query/alike.h"
#include "query/snippet.h"
#include "store/event.h"
#include "store/keys.h"
#include "store/sharing.h"
#include "store/tokens.h"

#include <stdio.h>
#include <string.h>

/* ---- Values -------------------------------------------------------------------- */

void sql_give(sqlite3_context *result, struct str text)
{
	if (text.p)
		sqlite3_result_text64(result, text.p, text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sqlite3_result_null(result);
}

int sql_failed(struct sql *q, const struct err *err)
{
	if (err->status == STATUS_CANCELLED) /* the time is over, or somebody's patience */
		return SQLITE_INTERRUPT;
	if (!q->err.status)
		q->err = *err;
	return SQLITE_ABORT;
}

/* Marks our own work for the authorizer, and gives what it failed with. */
static struct sql *enter(sqlite3_context *result)
{
	struct sql *q = sqlite3_user_data(result);

	q->inside++;
	return q;
}

static void leave(struct sql *q, sqlite3_context *result, enum status status, const struct err *err)
{
	q->inside--;
	if (status)
		sqlite3_result_error_code(result, sql_failed(q, err));
}

static void give_uuid(sqlite3_context *result, const struct uuid *u)
{
	char text[UUID_TEXT + 1];

	uuid_print(u, text);
	sql_give(result, str_from(text, UUID_TEXT));
}

static bool is_blob_uuid(sqlite3_value *v, struct uuid *out)
{
	if (sqlite3_value_type(v) != SQLITE_BLOB || sqlite3_value_bytes(v) != UUID_BYTES)
		return false;
	memcpy(out->b, sqlite3_value_blob(v), UUID_BYTES);
	return true;
}

/* As text or as 16 bytes. */
static bool is_uuid(sqlite3_value *v, struct uuid *out)
{
	return is_blob_uuid(v, out) ||
	       (sqlite3_value_type(v) == SQLITE_TEXT && uuid_parse(row_bytes(&v, 0), out));
}

/* ---- For tables ----------------------------------------------------------------- */

/* arbor_uuid(ID): as text; what is none stays as it is. */
static void print_uuid(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct uuid u;

	(void)count;
	if (is_blob_uuid(row[0], &u))
		give_uuid(result, &u);
	else
		sqlite3_result_value(result, row[0]);
}

/* arbor_blob(TEXT): as 16 bytes. */
static void parse_uuid(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct uuid u;

	(void)count;
	if (is_uuid(row[0], &u))
		sqlite3_result_blob(result, u.b, UUID_BYTES, SQLITE_TRANSIENT);
}

/* arbor_time(MS). */
static void print_time(sqlite3_context *result, int count, sqlite3_value **row)
{
	char text[TIME_TEXT + 1];

	(void)count;
	if (sqlite3_value_type(row[0]) == SQLITE_NULL)
		return;
	time_print(sqlite3_value_int64(row[0]), text);
	sql_give(result, str_from(text, TIME_TEXT));
}

/* arbor_tokens(TOLD, WHICH): 1 of input, 2 of output, 3 written into the cache and read from it. */
static void give_tokens(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct tokens told;

	(void)count;
	if (!tokens_unpack(row_bytes(row, 0), &told))
		return;
	switch (sqlite3_value_int(row[1])) {
	case 1:
		sqlite3_result_int64(result, told.input);
		break;
	case 2:
		sqlite3_result_int64(result, told.output);
		break;
	default:
		sqlite3_result_int64(result, (int64_t)((uint64_t)told.written + (uint64_t)told.read));
	}
}

/* arbor_event(STREAM, NUMBER): the id of an event. */
static void print_event_id(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct uuid u;

	(void)count;
	if (!is_blob_uuid(row[0], &u))
		return;
	u = event_id(&u, sqlite3_value_int64(row[1]));
	give_uuid(result, &u);
}

/* arbor_role(TYPE, FLAGS): as a search has it. */
static void name_role(sqlite3_context *result, int count, sqlite3_value **row)
{
	unsigned flags = (unsigned)sqlite3_value_int64(row[1]);

	(void)count;
	sql_give(result, record_is_typed(flags)						? STR("user")
			 : flags & RECORD_RESULT					? STR("tool")
			 : sqlite3_value_int64(row[0]) == RECORD_ASSISTANT		? STR("assistant")
											: STR("system"));
}

/* arbor_node(UUID, LINE_ID, PART): the id of a node. */
static void name_node(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct node_name name = { 0 };
	struct uuid uuid, id;

	(void)count;
	if (sqlite3_value_type(row[0]) == SQLITE_NULL && !is_blob_uuid(row[1], &name.line_id))
		return;
	if (is_blob_uuid(row[0], &uuid)) {
		uuid_print(&uuid, name.room);
		name.uuid = (struct str){ name.room, UUID_TEXT };
	} else if (sqlite3_value_type(row[0]) != SQLITE_NULL) {
		name.uuid = row_bytes(row, 0);
	}
	id = node_id(&name, sqlite3_value_int(row[2]));
	give_uuid(result, &id);
}

/* arbor_key(ID): what node_key has of it. */
static void key_of_id(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct uuid id;

	(void)count;
	if (is_uuid(row[0], &id))
		sqlite3_result_int64(result, key_of(&id));
}

/* arbor_line_key(UUID): the same for a line's own uuid. */
static void give_key_of_line(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct uuid id;

	(void)count;
	if (sqlite3_value_type(row[0]) != SQLITE_TEXT)
		return;
	id = node_id(&(struct node_name){ .uuid = row_bytes(row, 0) }, PART_LINE);
	sqlite3_result_int64(result, key_of(&id));
}

/* arbor_call_key(ID): and for a call of a tool. */
static void key_of_call(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct str call = row_bytes(row, 0);

	(void)count;
	sqlite3_result_int64(result, (int64_t)hash64(call.p, call.n));
}

/* arbor_weight(KIND, TIMES, COMMON, ALL): what a link says. */
static void weigh(sqlite3_context *result, int count, sqlite3_value **row)
{
	(void)count;
	sqlite3_result_double(result, alike_weight(sqlite3_value_int(row[0]), sqlite3_value_int64(row[1]),
						     sqlite3_value_int64(row[2]), sqlite3_value_int64(row[3])));
}

/* arbor_name(PATH): its last part. */
static void name_of_path(sqlite3_context *result, int count, sqlite3_value **row)
{
	(void)count;
	if (sqlite3_value_type(row[0]) != SQLITE_NULL)
		sql_give(result, str_basename(row_bytes(row, 0)));
}

/* arbor_text(SESSION, OFFSET, WHAT). */
static void text_at(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct sql *q = enter(result);
	int64_t session = sqlite3_value_int64(row[0]), offset = sqlite3_value_int64(row[1]);
	int64_t what = sqlite3_value_int64(row[2]);
	struct str text = { 0 };
	enum status status;
	struct err err;
	bool found;

	(void)count;
	if (what == TEXT_MESSAGE) {
		status = sql_message_text(q, session, offset, &text, &err);
	} else {
		status = sql_line(q, session, offset, &found, &err);
		if (status == STATUS_OK && found && !sql_text(q, what, &text))
			text = (struct str){ 0 };
	}
	sql_give(result, text);
	leave(q, result, status, &err);
}

/* arbor_tree(SESSION, OFFSET). */
static void tree_at(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct sql *q = enter(result);
	char text[UUID_TEXT + 1];
	struct uuid id;
	struct err err;
	bool found = false;
	enum status status = sql_tree(q, sqlite3_value_int64(row[0]), sqlite3_value_int64(row[1]), &id, &found, &err);

	(void)count;
	if (status == STATUS_OK && found) {
		uuid_print(&id, text);
		sql_give(result, str_of(text));
	}
	leave(q, result, status, &err);
}

/* arbor_sharing(SESSION): those that share lines with it, as an array. */
static void sharing_of(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct sql *q = enter(result);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	int64_t *rows;
	size_t rows_count = 0;
	struct err err;
	enum status status = sharing_list(q->store, sqlite3_value_int64(row[0]), &mem, &rows, &rows_count, &err);

	(void)count;
	for (size_t i = 0; i < rows_count; i++)
		buf_printf(&text, "%c%" PRId64, i ? ',' : '[', rows[i]);
	buf_text(&text, rows_count ? "]" : "[]");
	sql_give(result, buf_as_str(&text));
	leave(q, result, status, &err);
}

/* arbor_member(SESSION, OFFSET, NAME): a text that the line has by this name. */
static void member_at(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct sql *q = enter(result);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct err err;
	bool found;
	enum status status = sql_line(q, sqlite3_value_int64(row[0]), sqlite3_value_int64(row[1]), &found,
				      &err);

	(void)count;
	if (status == STATUS_OK && found) {
		const struct json *j = &q->from->reader.json;

		sql_give(result, json_string_in(j, json_get(j, json_root(j), row_bytes(row, 2)), &mem));
	}
	leave(q, result, status, &err);
}

/* arbor_result(SESSION, OFFSET, CALL, WHETHER): the result of a call in this line: its text, or whether it is an
 * error. */
static void result_of(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct sql *q = enter(result);
	const struct record_block *b = NULL;
	enum status status = STATUS_OK;
	struct err err = { 0 };

	(void)count;
	if (sqlite3_value_type(row[2]) == SQLITE_TEXT)
		status = sql_call(q, sqlite3_value_int64(row[0]), row_bytes(row, 2), BLOCK_TOOL_RESULT,
				  sqlite3_value_int64(row[1]), &b, &err);
	if (status == STATUS_OK && b && sqlite3_value_int(row[3])) {
		sqlite3_result_int(result, b->is_error);
	} else if (status == STATUS_OK && b) {
		buf_clear(&q->text);
		block_text(&q->from->reader, b, &q->text);
		sql_give(result, q->text.n ? buf_as_str(&q->text) : STR(""));
	}
	leave(q, result, status, &err);
}

/* ---- For people ------------------------------------------------------------------- */

/* The node of an id; of a line's own uuid, the line. */
static enum status find_node(struct sql *q, sqlite3_value *v, struct node *out, bool *found, struct err *err)
{
	char text[UUID_TEXT + 1];
	struct uuid id;

	*found = false;
	for (int way = 0; way < 2 && !*found; way++) {
		struct id_match match[2];
		size_t count = 0;

		if (way == 1 && sqlite3_value_type(v) == SQLITE_TEXT)
			id = node_id(&(struct node_name){ .uuid = row_bytes(&v, 0) }, PART_LINE);
		else if (!is_uuid(v, &id))
			continue;
		uuid_print(&id, text);
		if (id_search(q->store, str_from(text, UUID_TEXT), 0, match, COUNT(match), &count, err))
			return err_failed(err->status);
		for (size_t i = 0; i < count && !*found; i++) {
			*found = !match[i].is_session;
			*out = match[i].node;
		}
	}
	return STATUS_OK;
}

static enum status text_of_node(struct sql *q, const struct node *n, bool thinking, struct str *out,
				struct err *err)
{
	int64_t what = thinking ? TEXT_THINKING : n->part == PART_LINE ? TEXT_SAID : n->part;
	bool found;

	*out = (struct str){ 0 };
	if (n->part == PART_MESSAGE && !thinking)
		return sql_message_text(q, n->session, n->offset, out, err);
	if (sql_line(q, n->session, n->offset, &found, err))
		return err_failed(err->status);
	if (found && !sql_text(q, what, out))
		*out = (struct str){ 0 };
	return STATUS_OK;
}

static void give_node(sqlite3_context *result, sqlite3_value **row, bool thinking)
{
	struct sql *q = enter(result);
	struct str text = { 0 };
	struct node node;
	struct err err;
	bool found;
	enum status status = find_node(q, row[0], &node, &found, &err);

	if (status == STATUS_OK && found)
		status = text_of_node(q, &node, thinking, &text, &err);
	sql_give(result, text);
	leave(q, result, status, &err);
}

/* content(ID). */
static void content_of(sqlite3_context *result, int count, sqlite3_value **row)
{
	(void)count;
	give_node(result, row, false);
}

/* thinking(ID). */
static void thinking_of(sqlite3_context *result, int count, sqlite3_value **row)
{
	(void)count;
	give_node(result, row, true);
}

/* line(ID): the JSON it stands in. */
static void line_of(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct sql *q = enter(result);
	struct node node;
	struct err err;
	bool found;
	enum status status = find_node(q, row[0], &node, &found, &err);

	(void)count;
	if (status == STATUS_OK && found)
		status = sql_line(q, node.session, node.offset, &found, &err);
	if (status == STATUS_OK && found)
		sql_give(result, q->record.bytes);
	leave(q, result, status, &err);
}

/* ---- Snippets ------------------------------------------------------------------------ */

/* A hit as a value: where it is, and what was looked for. */
struct hit_head {
	int64_t session, offset;
};

/* arbor_hit_value(SESSION, OFFSET, QUERY): what the hidden column of `messages` holds. */
static void make_hit(sqlite3_context *result, int count, sqlite3_value **row)
{
	struct hit_head head = { sqlite3_value_int64(row[0]), sqlite3_value_int64(row[1]) };
	struct str query = row_bytes(row, 2);
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

	(void)count;
	if (sqlite3_value_type(row[2]) == SQLITE_NULL)
		return;
	buf_add(&out, &head, sizeof head);
	buf_str(&out, query);
	sqlite3_result_blob64(result, out.p, out.n, SQLITE_TRANSIENT);
}

static void put_marked(struct buf *out, const struct snippet *s, struct str open, struct str close)
{
	struct str text = buf_as_str(&s->text);
	size_t at = 0;

	for (size_t i = 0; i < s->mark_count; i++) {
		buf_str(out, str_sub(text, at, s->marks[i].start - at));
		buf_str(out, open);
		buf_str(out, str_sub(text, s->marks[i].start, s->marks[i].length));
		buf_str(out, close);
		at = s->marks[i].start + s->marks[i].length;
	}
	buf_str(out, str_sub(text, at, SIZE_MAX));
}

static void swap_snippets(struct snippet *a, struct snippet *b)
{
	struct snippet kept = *a;

	*a = *b;
	*b = kept;
}

/* The part of the line that shows why it was found: of what is said, or else of what is thought. */
static enum status cut_snippet(struct sql *q, struct str hit, int column, size_t width, struct snippet *out,
			       struct err *err)
{
	enum { SAID = 2, THOUGHT = 3 }; /* columns of `messages` */
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct expr expr CLEANUP(expr_release) = { 0 };
	struct snippet thought CLEANUP(snippet_release) = { 0 };
	struct hit_head head;
	struct str text;
	bool found;

	memcpy(&head, hit.p, sizeof head);
	if (expr_read(&expr, str_sub(hit, sizeof head, SIZE_MAX), false, &mem, err) ||
	    sql_line(q, head.session, head.offset, &found, err))
		return err_failed(err->status);
	if (found && column != THOUGHT && sql_text(q, TEXT_SAID, &text))
		snippet_make(out, text, &expr, width);
	if (found && column != SAID && (!out->mark_count || out->loose) && sql_text(q, TEXT_THINKING, &text))
		snippet_make(&thought, text, &expr, width);
	if (thought.mark_count && (!out->mark_count || !thought.loose))
		swap_snippets(out, &thought);
	return STATUS_OK;
}

/* snippet(messages, COLUMN, OPEN, CLOSE, ELLIPSIS, WORDS), as FTS5 has it; COLUMN -1 = where it is. */
static void snippet_of(sqlite3_context *result, int count, sqlite3_value **row)
{
	enum { MOST_WORDS = 1000, WORDS = 30, WORD_BYTES = 7 };
	struct sql *q = enter(result);
	struct snippet snippet CLEANUP(snippet_release) = { 0 };
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	int words = count > 5 ? sqlite3_value_int(row[5]) : WORDS;
	struct str hit = row_bytes(row, 0);
	enum status status = STATUS_OK;
	struct err err = { 0 };

	words = words < 1 ? 1 : words > MOST_WORDS ? MOST_WORDS : words;
	if (sqlite3_value_type(row[0]) == SQLITE_BLOB && hit.n > sizeof(struct hit_head))
		status = cut_snippet(q, hit, count > 1 ? sqlite3_value_int(row[1]) : -1,
				     (size_t)words * WORD_BYTES, &snippet, &err);
	if (status == STATUS_OK && snippet.text.n) {
		put_marked(&out, &snippet, count > 2 ? row_bytes(row, 2) : STR("["),
			   count > 3 ? row_bytes(row, 3) : STR("]"));
		sql_give(result, buf_as_str(&out));
	}
	leave(q, result, status, &err);
}

/* ---- All of them ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	int arguments; /* -1 = any number */
	void (*run)(sqlite3_context *result, int count, sqlite3_value **row);
} functions[] = {
	{ "arbor_uuid", 1, print_uuid },      { "arbor_blob", 1, parse_uuid },
	{ "arbor_event", 2, print_event_id },
	{ "arbor_time", 1, print_time },      { "arbor_role", 2, name_role },
	{ "arbor_node", 3, name_node },	      { "arbor_key", 1, key_of_id },
	{ "arbor_line_key", 1, give_key_of_line }, { "arbor_call_key", 1, key_of_call },
	{ "arbor_name", 1, name_of_path },    { "arbor_text", 3, text_at },
	{ "arbor_tree", 2, tree_at },	      { "arbor_tokens", 2, give_tokens },
	{ "arbor_weight", 4, weigh },	      { "arbor_sharing", 1, sharing_of },
	{ "arbor_member", 3, member_at },     { "arbor_result", 4, result_of },
	{ "arbor_hit_value", 3, make_hit },   { "content", 1, content_of },
	{ "thinking", 1, thinking_of },	      { "line", 1, line_of },
	{ "snippet", 1, snippet_of },	      { "snippet", 2, snippet_of },
	{ "snippet", 4, snippet_of },	      { "snippet", 6, snippet_of },
};

int sql_register_functions(struct sql *q)
{
	int code = SQLITE_OK;

	for (size_t i = 0; i < COUNT(functions) && code == SQLITE_OK; i++)
		code = sqlite3_create_function_v2(q->store->db, functions[i].name, functions[i].arguments,
						  SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, q,
						  functions[i].run, NULL, NULL, NULL);
	return code;
}

/* What SQLite brings along and is of no danger, a blank around each. Not among them: load_extension, and
 * what looks into the library or its modules. */
static const char built_in[] =
	" -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce"
	" concat concat_ws cos cosh count cume_dist current_date current_time"
	" current_timestamp date datetime degrees dense_rank exp first_value floor format"
	" glob group_concat hex if ifnull iif instr json json_array json_array_insert"
	" json_array_length json_error_position json_extract json_group_array"
	" json_group_object json_insert json_object json_patch json_pretty json_quote"
	" json_remove json_replace json_set json_type json_valid jsonb jsonb_array"
	" jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object"
	" jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead"
	" length like likelihood likely ln log log10 log2 lower ltrim match max median min"
	" mod nth_value ntile nullif octet_length percent_rank percentile pi pow power printf"
	" quote radians random randomblob rank replace round row_number rtrim sign sin sinh"
	" sqlite_version sqrt strftime string_agg substr substring sum tan tanh time timediff"
	" total trim trunc typeof unhex unicode unistr unixepoch unlikely upper zeroblob ";

bool sql_function_allowed(const char *name)
{
	char word[64];

	for (size_t i = 0; i < COUNT(functions); i++)
		if (sqlite3_stricmp(functions[i].name, name) == 0)
			return strncmp(functions[i].name, "arbor_", 6) != 0;
	return snprintf(word, sizeof word, " %s ", name) < (int)sizeof word && strcasestr(built_in, word);
}
