/*
 * Looking conversations up.
 *
 * Ids of nodes are not stored: they follow from the uuid of their line. What is
 * stored is the beginning of each (node_key), so a look-up reads a range of keys,
 * makes the whole id of each candidate from its line, and compares. A key that no
 * longer leads to a line with that id leads nowhere.
 *
 * Copies of a line in other files have the same ids. For a look-up they are one
 * node; the smallest (session, offset) stands for all. Copies of a session are all
 * given: they may have gone on differently.
 */
#include "store/session.h"

#include "store/db.h"
#include "base/hash.h"
#include "store/keys.h"
#include "store/summary.h"

#include <stdio.h>
#include <string.h>

/* CROSS: each of them is looked up by its id, and SQLite need not find that out. */
#define SESSION_COLUMNS_BUT(title) \
	"SELECT e.id, e.session_id, e.source, e.generation, e.read_to, s.path, coalesce(p.path, '')," \
	" coalesce(e.branch, '')," \
	" " title ", coalesce(e.started_at, 0)," \
	" coalesce(e.updated_at, 0), e.prompts," \
	" e.messages, e.tools, s.source_id, r.label, coalesce(e.agent, ''), e.old, coalesce(e.permission, '')," \
	" coalesce(e.mode, ''), coalesce(e.tag, ''), e.title_rank FROM mirror_session e" \
	" CROSS JOIN source s ON s.id = e.source CROSS JOIN root r ON r.id = s.root" \
	" LEFT JOIN project p ON p.id = e.project"
#define SESSION_COLUMNS SESSION_COLUMNS_BUT(SUMMARY_TITLE("e"))

#define FIRST_OF(a) \
	"(SELECT id FROM mirror_session WHERE session_id = " a ".session_id AND old = 0 ORDER BY id LIMIT 1)"

enum {
	SESSION_ALL,
	SESSION_OLD,
	SESSION_PROJECTS,
	SESSION_BELOW,
	SESSION_ONE,
	SESSION_TWIN,
	SESSION_OF_SOURCE,
	SESSION_ROWS,
	SESSION_PREFIX,
	SESSION_KEYS,
	SESSION_CALLS,
	SESSION_UUIDS,
	SESSION_AGENTS,
	SESSION_TOLD,
	SESSION_ENTRY,
	SESSION_BLOCKS,
	SESSION_TOOLS,
	SESSION_FLAGS,
	SESSION_CONTENT,
	SESSION_AGENT,
	SESSION_TELLING,
	SESSION_ANY_KIN,
	SESSION_FIRST_LINK,
	SESSION_NAMED,
	SESSION_HELD,
	SESSION_ENTRIES,
	SESSION_VARIANTS,
	SESSION_MODEL,
	SESSION_MODELS,
	SESSION_SAID,
	SESSION_BY_PLAN,
	SESSION_LINES,
	SESSION_LINES_IN,
	SESSION_KIN,
	SESSION_MESSAGE,
	SESSION_COPIED,
	SESSION_FULLEST,
	SESSION_BEFORE,
	SESSION_BEHIND,
	SESSION_HOLDERS,
	SESSION_SOURCES,
	SESSION_STATEMENTS
};

/* A fork was last touched when its original was, until something is said in it: the one that has more of the
 * conversation comes first, since a fork leaves out what is not said. Never by which was here first. */
#define LATEST_FIRST "e.updated_at DESC, e.messages DESC, e.read_to DESC, e.session_id, s.source_id"

static const char *const sql[SESSION_STATEMENTS] = {
	[SESSION_ALL] = SESSION_COLUMNS " WHERE e.old = 0 ORDER BY " LATEST_FIRST,
	[SESSION_OLD] = SESSION_COLUMNS " WHERE e.old = 1 ORDER BY s.source_id, e.generation",
	/* Of several copies of a session the longest counts. */
	[SESSION_PROJECTS] = "SELECT p.path, coalesce(max(e.updated_at), 0), coalesce(min(e.started_at), 0),"
			     " sum(e.agent IS NULL), sum(iif(e.agent IS NULL, e.prompts, 0)),"
			     " sum(iif(e.agent IS NULL, e.messages, 0)) FROM (SELECT project, agent,"
			     " max(updated_at) AS updated_at, min(started_at) AS started_at,"
			     " max(prompts) AS prompts, max(messages) AS messages FROM mirror_session"
			     " WHERE old = 0 GROUP BY project, session_id, agent) e"
			     " JOIN project p ON p.id = e.project WHERE p.path <> '' GROUP BY p.id"
			     " ORDER BY 2 DESC, 1",
	/* The folder itself, and what is below it. */
	[SESSION_BELOW] = SESSION_COLUMNS
	" WHERE e.old = 0 AND (p.path = ?1 OR substr(p.path, 1, length(rtrim(?1, '/')) + 1) = rtrim(?1, '/') || '/')"
	" ORDER BY " LATEST_FIRST,
	[SESSION_ONE] = SESSION_COLUMNS_BUT("e.title") " WHERE e.id = ?1",
	[SESSION_TWIN] = "SELECT 1 FROM mirror_session WHERE session_id = ?1 AND agent IS NULL AND old = 0"
			 " AND id <> ?2 LIMIT 1",
	[SESSION_OF_SOURCE] = "SELECT id FROM mirror_session WHERE source = ?1 AND old = 0",
	[SESSION_ROWS] = "SELECT id FROM mirror_session WHERE session_id = ?1"
			 " AND (?2 IS NULL OR coalesce(agent, '') = ?2)"
			 " ORDER BY old, agent IS NOT NULL, updated_at DESC, id",
	[SESSION_PREFIX] = "SELECT id, session_id FROM mirror_session WHERE session_id BETWEEN ?1 AND ?2"
			   " AND agent IS NULL AND old = 0"
			   " ORDER BY session_id, updated_at DESC, id",
	[SESSION_KEYS] = "SELECT k.session, k.offset, k.part, e.length, e.type, coalesce(e.first, -1), "
			 "e.uuid, e.line_id,"
			 " coalesce(e.at, 0)"
			 " FROM node_key k JOIN entry e ON e.session = k.session AND e.offset = k.offset"
			 " JOIN mirror_session m ON m.id = k.session"
			 " WHERE k.key BETWEEN ?1 AND ?2 AND (k.part > -3 OR k.part <= -6)"
			 " AND (?3 = 0 OR k.session = ?3)"
			 " ORDER BY k.key, m.old, k.session, k.offset, k.part",
	[SESSION_CALLS] = "SELECT k.session, k.offset, -1, e.length, e.type, coalesce(e.first, -1), e.uuid, e.line_id,"
			  " coalesce(e.at, 0) FROM node_key k JOIN entry e ON e.session = k.session"
			  " AND e.offset = k.offset JOIN mirror_session m ON m.id = k.session WHERE k.key = ?1"
			  " AND k.part = -5 AND (?2 = 0 OR k.session = ?2) ORDER BY m.old, k.session, k.offset",
	[SESSION_UUIDS] = "SELECT e.session, e.offset, -1, e.length, e.type, coalesce(e.first, -1), e.uuid, e.line_id,"
			  " coalesce(e.at, 0) FROM mirror_session m CROSS JOIN entry e ON e.session = m.id"
			  " WHERE e.uuid BETWEEN ?1 AND ?2 AND m.id BETWEEN ?3 AND ?4"
			  " ORDER BY e.uuid, m.old, e.session, e.offset",
	[SESSION_AGENTS] = "SELECT id, session_id FROM mirror_session WHERE agent IS NOT NULL AND old = 0"
			   " AND substr(agent, 1, length(?1)) = ?1 AND (?2 = 0 OR session_id ="
			   " (SELECT session_id FROM mirror_session WHERE id = ?2))"
			   " ORDER BY agent, updated_at DESC, id",
	/* The other columns are of the line with the least offset. */
	[SESSION_TOLD] = "SELECT e.session, min(e.offset), -1, e.length, e.type, coalesce(e.first, -1), e.uuid,"
			 " e.line_id, coalesce(e.at, 0) FROM mirror_session m CROSS JOIN entry e ON e.session = m.id"
			 " WHERE m.old = 0 AND e.agent IS NOT NULL AND substr(e.agent, 1, length(?1)) = ?1"
			 " AND e.uuid IS NOT NULL AND m.id BETWEEN ?2 AND ?3"
			 " GROUP BY e.session, e.agent ORDER BY e.agent, e.session",
	[SESSION_ENTRY] = "SELECT session, offset, -1, length, type, coalesce(first, -1), uuid, line_id,"
			  " coalesce(at, 0) FROM entry"
			  " WHERE session = ?1 AND offset = ?2",
	[SESSION_FIRST_LINK] = ("SELECT link FROM entry WHERE session = ?1 AND uuid IS NOT NULL AND type <= ?2"
				" AND flags & ?3 = 0 ORDER BY offset LIMIT 1"),
	[SESSION_ANY_KIN] = "SELECT 1 FROM kin WHERE session BETWEEN ?1 AND ?2 LIMIT 1",
	[SESSION_TELLING] =
		"SELECT offset, length FROM entry WHERE session = ?1 AND offset <"
		" (SELECT min(offset) FROM entry WHERE session = ?1 AND agent = ?2) ORDER BY offset DESC LIMIT 1",
	[SESSION_AGENT] = "SELECT coalesce(agent, '') FROM entry WHERE session = ?1 AND offset = ?2",
	[SESSION_FLAGS] = "SELECT flags FROM entry WHERE session = ?1 AND offset = ?2",
	[SESSION_CONTENT] = "SELECT ifnull(content, 0) FROM entry WHERE session = ?1 AND offset = ?2",
	[SESSION_BLOCKS] = "SELECT blocks FROM entry WHERE session = ?1 AND offset = ?2",
	[SESSION_TOOLS] = "SELECT tools FROM entry WHERE session = ?1 AND offset = ?2",
	[SESSION_NAMED] = "SELECT e.session, e.offset, -1, e.length, e.type, coalesce(e.first, -1), e.uuid, e.line_id,"
			  " coalesce(e.at, 0) FROM mirror_session m CROSS JOIN entry e ON e.session = m.id"
			  " WHERE m.old = 0 AND e.uuid IS NOT NULL AND m.id BETWEEN ?1 AND ?2"
			  " ORDER BY e.session, e.offset",
	[SESSION_HELD] = "SELECT 1 FROM node_key k JOIN mirror_session m ON m.id = k.session AND m.old = 0"
			 " WHERE k.key = ?1 AND k.part = -1 LIMIT 1",
	[SESSION_ENTRIES] = "SELECT session, offset, -1, length, type, coalesce(first, -1), uuid, line_id,"
			    " coalesce(at, 0), coalesce(doc, 0), coalesce(docs, 0) FROM entry WHERE session "
			    "= ?1 ORDER BY offset",
	[SESSION_VARIANTS] = "SELECT k.session, k.offset, -1, e.length, e.type, coalesce(e.first, -1), e.uuid,"
			     " e.line_id, coalesce(e.at, 0) FROM variant v JOIN node_key k ON k.key = v.key"
			     " AND k.part = -1 JOIN mirror_session m ON m.id = k.session AND m.old = 0 JOIN entry e"
			     " ON e.session = k.session AND e.offset = k.offset"
			     " WHERE ?1 = 0 OR k.session = ?1 ORDER BY k.key, k.session, k.offset",
	[SESSION_BEFORE] = "SELECT offset, length FROM entry WHERE session = ?1 AND offset < ?2 AND flags & ?3"
			   " ORDER BY offset DESC LIMIT ?4",
	[SESSION_BEHIND] = "SELECT offset, length FROM entry WHERE session = ?1 AND offset > ?2 AND flags & ?3"
			   " ORDER BY offset LIMIT ?4",
	[SESSION_MODEL] = "SELECT 1 FROM usage u JOIN model m ON m.id = u.model WHERE u.session = ?1"
			  " AND instr(m.name, ?2) LIMIT 1",
	[SESSION_MODELS] = "SELECT name FROM model WHERE instr(lower(name), lower(?1)) ORDER BY name LIMIT ?2",
	[SESSION_BY_PLAN] = "SELECT m.id FROM session_value v CROSS JOIN mirror_session a ON a.id = v.session"
			    " CROSS JOIN mirror_session m ON m.session_id = a.session_id AND m.agent IS NULL"
			    " WHERE v.kind = 4 AND v.value = ?1 ORDER BY m.old, m.updated_at DESC, m.id LIMIT 1",
	[SESSION_SAID] = "SELECT kind, value FROM session_value WHERE session = ?1 ORDER BY kind, offset, value",
	[SESSION_LINES] = "SELECT 1 FROM entry WHERE session = ?1 AND arbor_row(message, offset, length, type, flags,"
			  " at, uuid, parent, link, content, tools, agent, same) ORDER BY offset",
	[SESSION_LINES_IN] = "SELECT 1 FROM entry WHERE session = ?1 AND offset BETWEEN ?2 AND ?3"
			     " AND arbor_row(message, offset, length, type, flags, at, uuid, parent, link, content,"
			     " tools, agent, same) ORDER BY offset",
	/* Of a conversation and its sub-agents the first knows all, the others the first. */
	[SESSION_KIN] = "SELECT other FROM kin WHERE session = ?1"
			" UNION SELECT b.id FROM mirror_session a JOIN mirror_session b ON b.id = " FIRST_OF("a")
			" WHERE a.id = ?1 AND b.id <> ?1"
			" UNION SELECT b.id FROM mirror_session a JOIN mirror_session b ON b.session_id = a.session_id"
			" AND b.old = 0 WHERE a.id = ?1 AND a.id = " FIRST_OF("a") " AND b.id <> ?1",
	[SESSION_MESSAGE] =
		"SELECT e.offset, e.length FROM entry e WHERE e.session = ?1 AND (e.offset = ?2 OR"
		" e.first = ?2) AND e.offset >= ?2 ORDER BY e.offset",
	[SESSION_COPIED] = "SELECT count(*) > 1 FROM node_key WHERE key = ?1 AND part = -2",
	[SESSION_FULLEST] = "SELECT k.session, k.offset, -2, e.length, e.type, coalesce(e.first, -1), e.uuid,"
			    " e.line_id, coalesce(e.at, 0) FROM node_key k JOIN entry e ON e.session = k.session"
			    " AND e.offset = k.offset JOIN mirror_session m ON m.id = k.session"
			    " JOIN source s ON s.id = m.source WHERE k.key = ?1 AND k.part = -2"
			    " ORDER BY m.old, (SELECT count(*) FROM entry x WHERE x.session = k.session"
			    " AND x.first = k.offset) DESC, s.source_id, k.offset",
	[SESSION_HOLDERS] =
		"SELECT DISTINCT m.source FROM node_key k JOIN mirror_session m ON m.id = k.session"
		" WHERE k.key = ?1 AND k.part = -1",
	[SESSION_SOURCES] = "SELECT DISTINCT source FROM mirror_session WHERE session_id = ?1",
};

const struct db_set session_statements = { DB_SESSION, sql, SESSION_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &session_statements, index, st, err);
}

static void copy_uuid(struct str bytes, struct uuid *out)
{
	*out = (struct uuid){ 0 };
	if (bytes.n == UUID_BYTES)
		memcpy(out->b, bytes.p, UUID_BYTES);
}

/* ---- Sessions --------------------------------------------------------------- */

static void read_session(const struct stmt *st, struct session *out)
{
	*out = (struct session){
		.row = col_int(st, 0),
		.source = col_int(st, 2),
		.generation = col_int(st, 3),
		.read_to = col_int(st, 4),
		.path = col_bytes(st, 5),
		.project = col_bytes(st, 6),
		.branch = col_bytes(st, 7),
		.title = col_bytes(st, 8),
		.started_at = col_int(st, 9),
		.updated_at = col_int(st, 10),
		.prompts = col_int(st, 11),
		.messages = col_int(st, 12),
		.tools = col_int(st, 13),
		.root = col_bytes(st, 15),
		.agent = col_bytes(st, 16),
		.old = col_int(st, 17) != 0,
		.permission = col_bytes(st, 18),
		.mode = col_bytes(st, 19),
		.tag = col_bytes(st, 20),
	};
	copy_uuid(col_bytes(st, 1), &out->id);
	copy_uuid(col_bytes(st, 14), &out->source_id);
}

static enum status each_session(struct stmt *st, session_fn *fn, void *ctx, struct err *err)
{
	enum step step = STEP_DONE;
	bool go_on = true;

	while (go_on && (step = stmt_step(st, err)) == STEP_ROW) {
		struct session session;

		read_session(st, &session);
		if (fn(ctx, &session, &go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status session_each(struct store *s, struct str project, session_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, project.p ? SESSION_BELOW : SESSION_ALL, &st, err))
		return err_failed(err->status);
	if (project.p)
		stmt_text(&st, 1, project);
	return each_session(&st, fn, ctx, err);
}

bool session_is_copy(const struct session *a, const struct session *b)
{
	return uuid_eq(&a->id, &b->id) && a->read_to == b->read_to && a->started_at == b->started_at &&
	       a->updated_at == b->updated_at && a->messages == b->messages && a->tools == b->tools;
}

enum status session_each_old(struct store *s, session_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	return use(s, SESSION_OLD, &st, err) ? err_failed(err->status) : each_session(&st, fn, ctx, err);
}

enum status project_each(struct store *s, project_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, SESSION_PROJECTS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct project project = { col_bytes(&st, 0), col_int(&st, 1), col_int(&st, 2),
					   col_int(&st, 3),   col_int(&st, 4), col_int(&st, 5) };

		if (fn(ctx, &project, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status session_of_plan(struct store *s, struct str name, int64_t *row, struct err *err)
{
	bool found;
	STMT st = { 0 };

	*row = 0;
	if (use(s, SESSION_BY_PLAN, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, name);
	if (stmt_found(&st, &found, err))
		return err_failed(err->status);
	if (found)
		*row = col_int(&st, 0);
	return STATUS_OK;
}

enum status session_values(struct store *s, int64_t row, session_value_fn *fn, void *ctx, struct err *err)
{
	int counts[SESSION_VALUES] = { 0 };
	enum step step;
	STMT st = { 0 };

	if (use(s, SESSION_SAID, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		int64_t kind = col_int(&st, 0);

		if (kind <= 0 || kind >= SESSION_VALUES || counts[kind]++ >= LIMIT_SESSION_VALUES)
			continue;
		if (fn(ctx, (enum session_value)kind, col_bytes(&st, 1), err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* Its texts into the arena. */
static void keep(struct session *s, struct arena *mem)
{
	struct str *const texts[] = { &s->path, &s->project, &s->branch, &s->title, &s->agent,
				      &s->root, &s->permission, &s->mode, &s->tag };

	for (size_t i = 0; i < COUNT(texts); i++)
		*texts[i] = arena_str(mem, *texts[i]);
}

enum status session_get(struct store *s, int64_t row, struct arena *mem, struct session *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_ONE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (stmt_row(&st, "a session", err))
		return err_failed(err->status);
	read_session(&st, out);
	keep(out, mem);
	return col_int(&st, 21) > 1 ? STATUS_OK : summary_title(s, row, mem, &out->title, err);
}

enum status session_has_twins(struct store *s, const struct session *session, bool *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, SESSION_TWIN, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &session->id);
	stmt_int(&st, 2, session->row);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status session_of_source(struct store *s, int64_t source, int64_t *row, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, SESSION_OF_SOURCE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, source);
	step = stmt_step(&st, err);
	*row = step == STEP_ROW ? col_int(&st, 0) : 0;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status model_names(struct store *s, struct str part, struct arena *mem, struct str **out, size_t *count,
			struct err *err)
{
	enum { MOST = 64 };
	enum step step;
	STMT st = { 0 };

	*count = 0;
	*out = arena_alloc(mem, MOST * sizeof **out);
	if (use(s, SESSION_MODELS, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, part);
	stmt_int(&st, 2, MOST);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		(*out)[(*count)++] = arena_str(mem, col_bytes(&st, 0));
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status session_has_model(struct store *s, int64_t row, struct str name, bool *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, SESSION_MODEL, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_text(&st, 2, name);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* ---- Names ------------------------------------------------------------------ */

struct uuid line_key(struct str uuid)
{
	struct uuid out;

	return uuid_parse(uuid, &out) ? out : uuid_of_parts((struct str[]){ STR("key"), uuid }, 2);
}

struct uuid node_id(const struct node_name *name, int part)
{
	char index[16];

	if (!name->uuid.p)
		return name->line_id;
	if (part == PART_LINE)
		return uuid_of_parts(&name->uuid, 1);
	if (part == PART_MESSAGE || part == PART_TURN || part == PART_TREE) {
		struct str what = part == PART_TREE ? STR("tree") : part == PART_TURN ? STR("t") : STR("m");

		return uuid_of_parts((struct str[]){ what, name->uuid }, 2);
	}
	snprintf(index, sizeof index, "%d", part);
	return uuid_of_parts((struct str[]){ name->uuid, str_of(index) }, 2);
}

void node_name_of(const struct stmt *st, int uuid_column, int line_id_column, struct node_name *out)
{
	struct uuid uuid;

	*out = (struct node_name){ 0 };
	copy_uuid(col_bytes(st, line_id_column), &out->line_id);
	if (col_null(st, uuid_column))
		return;
	out->uuid = col_bytes(st, uuid_column);
	if (sqlite3_column_type(st->st, uuid_column) != SQLITE_BLOB || out->uuid.n != UUID_BYTES)
		return;
	copy_uuid(out->uuid, &uuid);
	uuid_print(&uuid, out->room);
	out->uuid = (struct str){ out->room, UUID_TEXT };
}

static void read_node(const struct stmt *st, struct node *out, struct node_name *name)
{
	node_name_of(st, 6, 7, name);
	*out = (struct node){
		.session = col_int(st, 0),
		.offset = col_int(st, 1),
		.part = (int)col_int(st, 2),
		.length = col_int(st, 3),
		.type = (int)col_int(st, 4),
		.first = col_int(st, 5),
		.at = col_int(st, 8),
	};
	out->id = node_id(name, out->part);
}

enum status entry_get(struct store *s, int64_t session, int64_t offset, struct arena *mem, struct node *out,
		      struct node_name *name, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_ENTRY, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, offset);
	if (stmt_row(&st, "a line", err))
		return err_failed(err->status);
	read_node(&st, out, name);
	if (name->uuid.p)
		name->uuid = arena_str(mem, name->uuid);
	return STATUS_OK;
}

/* The row of a line, with what is asked of it. */
static enum status use_line(struct store *s, int index, int64_t session, int64_t offset, struct stmt *st,
			    struct err *err)
{
	if (use(s, index, st, err))
		return err_failed(err->status);
	stmt_int(st, 1, session);
	stmt_int(st, 2, offset);
	return stmt_row(st, "a line", err);
}

static enum status entry_number(struct store *s, int index, int64_t session, int64_t offset, int64_t *out,
				struct err *err)
{
	STMT st = { 0 };

	if (use_line(s, index, session, offset, &st, err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

enum status entry_flags(struct store *s, int64_t session, int64_t offset, unsigned *out, struct err *err)
{
	int64_t flags = 0;
	enum status status = entry_number(s, SESSION_FLAGS, session, offset, &flags, err);

	*out = (unsigned)flags;
	return status;
}

enum status entry_content(struct store *s, int64_t session, int64_t offset, uint64_t *out, struct err *err)
{
	int64_t content = 0;
	enum status status = entry_number(s, SESSION_CONTENT, session, offset, &content, err);

	*out = (uint64_t)content;
	return status;
}

enum status entry_blocks(struct store *s, int64_t session, int64_t offset, int64_t *out, struct err *err)
{
	return entry_number(s, SESSION_BLOCKS, session, offset, out, err);
}

enum status entry_tools(struct store *s, int64_t session, int64_t offset, struct arena *mem, uint64_t **out,
			size_t *count, struct err *err)
{
	STMT st = { 0 };
	struct str several;

	if (use_line(s, SESSION_TOOLS, session, offset, &st, err))
		return err_failed(err->status);
	several = sqlite3_column_type(st.st, 0) == SQLITE_BLOB ? col_bytes(&st, 0) : (struct str){ 0 };
	*count = several.n ? several.n / sizeof **out : !col_null(&st, 0);
	*out = arena_alloc(mem, (*count + 1) * sizeof **out);
	if (several.n)
		memcpy(*out, several.p, *count * sizeof **out);
	else if (*count)
		**out = (uint64_t)col_int(&st, 0);
	return STATUS_OK;
}

static enum status each_source(struct stmt *st, source_row_fn *fn, void *ctx, struct err *err)
{
	enum step step;

	while ((step = stmt_step(st, err)) == STEP_ROW)
		if (fn(ctx, col_int(st, 0), err))
			return err_failed(err->status);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status entry_sources(struct store *s, const struct uuid *id, source_row_fn *fn, void *ctx,
			  struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_HOLDERS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key_of(id));
	return each_source(&st, fn, ctx, err);
}

enum status session_sources(struct store *s, const struct uuid *session, source_row_fn *fn, void *ctx,
			    struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_SOURCES, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, session);
	return each_source(&st, fn, ctx, err);
}

enum status entry_agent(struct store *s, int64_t session, int64_t offset, struct arena *mem, struct str *out,
			struct err *err)
{
	STMT st = { 0 };

	if (use_line(s, SESSION_AGENT, session, offset, &st, err))
		return err_failed(err->status);
	*out = arena_str(mem, col_bytes(&st, 0));
	return STATUS_OK;
}

enum status entry_telling(struct store *s, int64_t session, struct str agent, int64_t *offset, int64_t *length,
			  struct err *err)
{
	enum step step;
	STMT st = { 0 };

	*offset = *length = 0;
	if (use(s, SESSION_TELLING, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_text(&st, 2, agent);
	step = stmt_step(&st, err);
	if (step == STEP_ROW) {
		*offset = col_int(&st, 0);
		*length = col_int(&st, 1);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status session_any_kin(struct store *s, int64_t session, bool *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_ANY_KIN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, session ? session : INT64_MAX);
	return stmt_found(&st, out, err);
}

enum status session_first_links(struct store *s, int64_t session, int type, unsigned without, bool *out,
				struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, SESSION_FIRST_LINK, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, type);
	stmt_int(&st, 3, without);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW && !col_null(&st, 0);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status entry_is_held(struct store *s, const struct uuid *id, bool *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, SESSION_HELD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key_of(id));
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status entry_each(struct store *s, int64_t session, entry_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, SESSION_ENTRIES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct node_name name;
		struct node node;

		read_node(&st, &node, &name);
		if (fn(ctx, &node, &name, col_int(&st, 9), col_int(&st, 10), err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status variant_each(struct store *s, int64_t within, variant_fn *fn, void *ctx, struct err *err)
{
	enum step step = STEP_DONE;
	bool go_on = true;
	STMT st = { 0 };

	if (use(s, SESSION_VARIANTS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, within);
	while (go_on && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct node_name name;
		struct node node;

		read_node(&st, &node, &name);
		if (fn(ctx, &node, &name, &go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* The first column of all rows, in the arena. */
static enum status take_numbers(struct stmt *st, struct arena *mem, int64_t **out, size_t *count, struct err *err)
{
	size_t cap = 0;
	enum step step;

	*out = NULL;
	*count = 0;
	while ((step = stmt_step(st, err)) == STEP_ROW) {
		if (*count == cap) {
			int64_t *more = arena_alloc(mem, (cap ? cap * 2 : 8) * sizeof *more);

			if (cap)
				memcpy(more, *out, cap * sizeof *more);
			*out = more;
			cap = cap ? cap * 2 : 8;
		}
		(*out)[(*count)++] = col_int(st, 0);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status session_kin(struct store *s, int64_t session, struct arena *mem, int64_t **out, size_t *count,
			struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_KIN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	return take_numbers(&st, mem, out, count, err);
}

enum status session_rows(struct store *s, const struct uuid *id, struct str agent, struct arena *mem, int64_t **out,
			 size_t *count, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_ROWS, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	if (agent.p)
		stmt_text(&st, 2, agent);
	return take_numbers(&st, mem, out, count, err);
}

struct line_taking {
	entry_line_fn *fn;
	void *ctx;
};

/* What SESSION_LINES hands over. The column that is last in the table comes first: SQLite then finds
 * all of them in one go. */
enum line_column {
	LINE_MESSAGE,
	LINE_OFFSET,
	LINE_LENGTH,
	LINE_TYPE,
	LINE_FLAGS,
	LINE_AT,
	LINE_UUID,
	LINE_PARENT,
	LINE_LINK,
	LINE_CONTENT,
	LINE_TOOLS,
	LINE_AGENT,
	LINE_SAME,
};

/* Each look at a column costs as much as the rest of a row: no more than it takes. */
static enum status take_row(void *ctx, sqlite3_value **row, struct err *err)
{
	const struct line_taking *to = ctx;
	int uuid = sqlite3_value_type(row[LINE_UUID]), parent = sqlite3_value_type(row[LINE_PARENT]);
	int tools = sqlite3_value_type(row[LINE_TOOLS]);
	struct entry_line line = {
		.offset = sqlite3_value_int64(row[LINE_OFFSET]),
		.length = sqlite3_value_int64(row[LINE_LENGTH]),
		.type = sqlite3_value_int(row[LINE_TYPE]),
		.flags = (uint32_t)sqlite3_value_int64(row[LINE_FLAGS]),
		.at = sqlite3_value_int64(row[LINE_AT]),
		.has_key = uuid != SQLITE_NULL,
		.is_text = uuid == SQLITE_TEXT,
		.has_parent = parent != SQLITE_NULL,
		.parent_at = parent == SQLITE_INTEGER ? sqlite3_value_int64(row[LINE_PARENT]) : -1,
		.has_link = sqlite3_value_type(row[LINE_LINK]) != SQLITE_NULL,
		.has_message = sqlite3_value_type(row[LINE_MESSAGE]) != SQLITE_NULL,
		.content = (uint64_t)sqlite3_value_int64(row[LINE_CONTENT]),
		.has_tool = tools == SQLITE_INTEGER,
	};

	if (uuid == SQLITE_BLOB)
		copy_uuid(row_bytes(row, LINE_UUID), &line.key);
	else if (line.has_key)
		line.key = line_key(row_bytes(row, LINE_UUID));
	else
		line.same = (uint64_t)sqlite3_value_int64(row[LINE_SAME]);
	if (parent == SQLITE_BLOB)
		copy_uuid(row_bytes(row, LINE_PARENT), &line.parent_key);
	if (line.has_link)
		copy_uuid(row_bytes(row, LINE_LINK), &line.link);
	if (line.has_message)
		line.message = (uint64_t)sqlite3_value_int64(row[LINE_MESSAGE]);
	if (tools == SQLITE_BLOB)
		line.tools = row_bytes(row, LINE_TOOLS);
	else if (line.has_tool)
		line.tool = sqlite3_value_int64(row[LINE_TOOLS]);
	if (sqlite3_value_type(row[LINE_AGENT]) != SQLITE_NULL)
		line.agent = row_bytes(row, LINE_AGENT);
	return to->fn(to->ctx, &line, err);
}

enum status entry_lines(struct store *s, int64_t session, entry_line_fn *fn, void *ctx, struct err *err)
{
	struct line_taking to = { fn, ctx };
	STMT st = { 0 };

	if (use(s, SESSION_LINES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	return stmt_each(&st, take_row, &to, err);
}

enum status entry_lines_in(struct store *s, int64_t session, int64_t from, int64_t to, entry_line_fn *fn, void *ctx,
			   struct err *err)
{
	struct line_taking taking = { fn, ctx };
	STMT st = { 0 };

	if (use(s, SESSION_LINES_IN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, from);
	stmt_int(&st, 3, to);
	return stmt_each(&st, take_row, &taking, err);
}

/* Rows with offset and length. */
static enum status each_line(struct stmt *st, message_fn *fn, void *ctx, struct err *err)
{
	enum step step;

	while ((step = stmt_step(st, err)) == STEP_ROW)
		if (fn(ctx, col_int(st, 0), col_int(st, 1), err))
			return err_failed(err->status);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status message_lines(struct store *s, const struct node *first, message_fn *fn, void *ctx,
			  struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_MESSAGE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, first->session);
	stmt_int(&st, 2, first->offset);
	return each_line(&st, fn, ctx, err);
}

enum status message_fullest(struct store *s, struct node *node, struct err *err)
{
	struct node_name name;
	struct node copy;
	enum step step;
	STMT copied = { 0 };
	STMT st = { 0 };

	if (use(s, SESSION_COPIED, &copied, err))
		return err_failed(err->status);
	stmt_int(&copied, 1, key_of(&node->id));
	if (stmt_row(&copied, "copies of a message", err))
		return err_failed(err->status);
	if (!col_int(&copied, 0))
		return STATUS_OK;
	if (use(s, SESSION_FULLEST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key_of(&node->id));
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		read_node(&st, &copy, &name);
		if (!uuid_eq(&copy.id, &node->id))
			continue;
		*node = copy;
		return STATUS_OK;
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status entry_near(struct store *s, int64_t session, int64_t offset, bool before, unsigned flags, int64_t most,
		       message_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, before ? SESSION_BEFORE : SESSION_BEHIND, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, offset);
	stmt_int(&st, 3, flags);
	stmt_int(&st, 4, most);
	return each_line(&st, fn, ctx, err);
}

enum status entry_message(struct store *s, const struct node *line, const struct node_name *name, struct arena *mem,
			  struct uuid *out, struct err *err)
{
	struct node_name first_name;
	struct node first;

	*out = node_id(name, line->first < 0 ? PART_LINE : PART_MESSAGE);
	if (line->first < 0 || line->first == line->offset)
		return STATUS_OK;
	if (entry_get(s, line->session, line->first, mem, &first, &first_name, err))
		return err_failed(err->status);
	*out = node_id(&first_name, PART_MESSAGE);
	return STATUS_OK;
}

/* ---- By the beginning of an id ---------------------------------------------- */

static bool in_range(const struct uuid *id, const struct uuid *low, const struct uuid *high)
{
	return memcmp(id->b, low->b, UUID_BYTES) >= 0 && memcmp(id->b, high->b, UUID_BYTES) <= 0;
}

static bool is_listed(const struct id_match *list, size_t count, const struct uuid *id)
{
	for (size_t i = 0; i < count; i++)
		if (uuid_eq(&list[i].id, id))
			return true;
	return false;
}

/* Rows with a transcript and its session's id. */
static enum status take_sessions(struct stmt *st, struct id_match *out, size_t most, size_t *count, struct err *err)
{
	enum step step = STEP_DONE;

	while (*count < most && (step = stmt_step(st, err)) == STEP_ROW) {
		struct id_match m = { .is_session = true, .session = col_int(st, 0) };

		copy_uuid(col_bytes(st, 1), &m.id);
		out[(*count)++] = m;
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status search_sessions(struct store *s, const struct uuid *low, const struct uuid *high,
				   struct id_match *out, size_t most, size_t *count, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SESSION_PREFIX, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, low);
	stmt_uuid(&st, 2, high);
	return take_sessions(&st, out, most, count, err);
}

enum status agent_search(struct store *s, struct str prefix, int64_t within, struct id_match *out, size_t most,
			 size_t *count, struct err *err)
{
	STMT st = { 0 };

	*count = 0;
	if (use(s, SESSION_AGENTS, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, prefix);
	stmt_int(&st, 2, within);
	return take_sessions(&st, out, most, count, err);
}

/* The nodes of a statement, each once; between `low` and `high`, if these are given. */
static enum status take_nodes(struct stmt *st, const struct uuid *low, const struct uuid *high, struct id_match *out,
			      size_t most, size_t *count, struct err *err)
{
	enum step step = STEP_DONE;

	while (*count < most && (step = stmt_step(st, err)) == STEP_ROW) {
		struct id_match m = { 0 };
		struct node_name name;

		read_node(st, &m.node, &name);
		m.id = m.node.id;
		m.session = m.node.session;
		if ((!low || in_range(&m.id, low, high)) && !is_listed(out, *count, &m.id))
			out[(*count)++] = m;
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status told_search(struct store *s, struct str prefix, int64_t within, struct id_match *out, size_t most,
			size_t *count, struct err *err)
{
	STMT st = { 0 };

	*count = 0;
	if (use(s, SESSION_TOLD, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, prefix);
	stmt_int(&st, 2, within);
	stmt_int(&st, 3, within ? within : INT64_MAX);
	return take_nodes(&st, NULL, NULL, out, most, count, err);
}

/* Keys are signed and ids are not: a range may wrap around the sign, but a beginning of four digits or more
 * never does. */
static enum status use_keys(struct store *s, const struct uuid *low, const struct uuid *high, int64_t within,
			    struct stmt *st, struct err *err)
{
	if (use(s, SESSION_KEYS, st, err))
		return err_failed(err->status);
	stmt_int(st, 1, key_of(low));
	stmt_int(st, 2, key_of(high));
	stmt_int(st, 3, within);
	return STATUS_OK;
}

static enum status search_nodes(struct store *s, const struct uuid *low, const struct uuid *high,
				int64_t within, struct id_match *out, size_t most, size_t *count,
				struct err *err)
{
	STMT st = { 0 };

	if (use_keys(s, low, high, within, &st, err))
		return err_failed(err->status);
	return take_nodes(&st, low, high, out, most, count, err);
}

enum status node_each(struct store *s, const struct uuid *id, node_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use_keys(s, id, id, 0, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct node_name name;
		struct node node;

		read_node(&st, &node, &name);
		if (uuid_eq(&node.id, id) && fn(ctx, &node, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status call_search(struct store *s, struct str call, int64_t within, struct id_match *out, size_t most,
			size_t *count, struct err *err)
{
	STMT st = { 0 };

	*count = 0;
	if (use(s, SESSION_CALLS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, (int64_t)hash64(call.p, call.n));
	stmt_int(&st, 2, within);
	return take_nodes(&st, NULL, NULL, out, most, count, err);
}

enum status line_search(struct store *s, struct str prefix, int64_t within, struct id_match *out, size_t most,
			size_t *count, struct err *err)
{
	struct uuid low, high;
	STMT st = { 0 };

	*count = 0;
	if (!uuid_range(prefix, &low, &high))
		return STATUS_OK;
	if (use(s, SESSION_UUIDS, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &low);
	stmt_uuid(&st, 2, &high);
	stmt_int(&st, 3, within);
	stmt_int(&st, 4, within ? within : INT64_MAX);
	return take_nodes(&st, NULL, NULL, out, most, count, err);
}

enum status name_search(struct store *s, struct str id, int64_t within, struct id_match *out, size_t most,
			size_t *count, struct err *err)
{
	static const int parts[] = { PART_MESSAGE, PART_TURN, PART_TREE };
	enum step step = STEP_DONE;
	struct uuid wanted;
	STMT st = { 0 };

	*count = 0;
	if (!uuid_parse(id, &wanted))
		return STATUS_OK;
	if (use(s, SESSION_NAMED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, within);
	stmt_int(&st, 2, within ? within : INT64_MAX);
	while (*count < most && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct id_match m = { 0 };
		struct node_name name;

		read_node(&st, &m.node, &name);
		m.session = m.node.session;
		m.id = wanted;
		for (size_t i = 0; i < COUNT(parts) && *count == 0; i++) {
			m.node.part = parts[i];
			m.node.id = node_id(&name, parts[i]);
			if (uuid_eq(&m.node.id, &wanted))
				out[(*count)++] = m;
		}
		if (*count)
			break;
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status id_search(struct store *s, struct str prefix, int64_t within, struct id_match *out, size_t most,
		      size_t *count, struct err *err)
{
	struct uuid low, high;

	*count = 0;
	if (!uuid_range(prefix, &low, &high))
		return STATUS_OK;
	if (!within && search_sessions(s, &low, &high, out, most, count, err))
		return err_failed(err->status);
	return search_nodes(s, &low, &high, within, out, most, count, err);
}
