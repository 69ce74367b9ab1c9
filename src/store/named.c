/*
 * The table of named sessions.
 *
 * One that is deleted keeps its row, without which its streams could not be told whose they are; its name can
 * be given again at once.
 */
#include "store/named.h"

#include "store/annotation.h"
#include "store/live_row.h"

#include <string.h>

enum {
	NAMED_EXACT,
	NAMED_PREFIX,
	NAMED_ID,
	NAMED_ROW,
	NAMED_OF_CLIENT,
	NAMED_SHARED,
	NAMED_EACH,
	NAMED_INSERT,
	NAMED_RENAME,
	NAMED_DELETE,
	NAMED_HEAD,
	NAMED_SET,
	NAMED_STATEMENTS
};

#define COLUMNS \
	"SELECT id, session_id, name, agent, tree_id, head_id, head_line_id, claude_session_id, " \
	"forked_from_id," \
	" working_dir, model, system_prompt, mcp_config, allowed_tools, disallowed_tools, permission_mode, " \
	"loopback," \
	" metadata, created_at, updated_at FROM session WHERE "
#define THERE "deleted_at IS NULL "

static const char *const sql[NAMED_STATEMENTS] = {
	[NAMED_EXACT] = COLUMNS THERE "AND name = ?1",
	[NAMED_PREFIX] = COLUMNS THERE "AND name BETWEEN ?1 AND ?2 ORDER BY name LIMIT 9",
	[NAMED_ID] = COLUMNS THERE "AND session_id BETWEEN ?1 AND ?2 ORDER BY session_id LIMIT 9",
	[NAMED_ROW] = COLUMNS "id = ?1",
	[NAMED_OF_CLIENT] = COLUMNS THERE
	"AND claude_session_id = ?1 ORDER BY updated_at DESC, id DESC LIMIT 1",
	[NAMED_SHARED] = "SELECT 1 FROM session WHERE " THERE "AND claude_session_id = ?1 AND id != ?2 LIMIT 1",
	[NAMED_EACH] = COLUMNS THERE "ORDER BY name",
	[NAMED_INSERT] = "INSERT INTO session(session_id, name, agent, tree_id, head_id, head_line_id,"
			 " claude_session_id, forked_from_id, working_dir, model, system_prompt, mcp_config,"
			 " allowed_tools, disallowed_tools, permission_mode, loopback, metadata, created_at, "
			 "updated_at,"
			 " rev) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, "
			 "?16, ?17, ?18,"
			 " ?18, ?19)",
	[NAMED_RENAME] = "UPDATE session SET name = ?2, updated_at = ?3, rev = ?4 WHERE id = ?1 AND "
			 "deleted_at IS NULL",
	[NAMED_DELETE] = "UPDATE session SET deleted_at = ?2, updated_at = ?2, rev = ?3 WHERE id = ?1"
			 " AND deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM run WHERE session = ?1 AND "
			 "ended_at IS NULL)",
	[NAMED_HEAD] =
		"UPDATE session SET tree_id = ?2, head_id = ?3, head_line_id = ?4, claude_session_id = ?5,"
		" updated_at = ?6, rev = ?7 WHERE id = ?1",
	[NAMED_SET] =
		"UPDATE session SET model = coalesce(?2, model),"
		" permission_mode = coalesce(?3, permission_mode), updated_at = ?4, rev = ?5 WHERE id = ?1",
};

const struct db_set named_statements = { DB_NAMED, sql, NAMED_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &named_statements, index, st, err);
}

/* ---- Reading ---------------------------------------------------------------- */

static struct named_head head_of(const struct stmt *st)
{
	return (struct named_head){
		.has_tree = !col_null(st, 4),
		.tree = col_uuid(st, 4),
		.has_head = !col_null(st, 5),
		.head = col_uuid(st, 5),
		.has_line = !col_null(st, 6),
		.line = col_uuid(st, 6),
		.has_session = !col_null(st, 7),
		.session = col_uuid(st, 7),
	};
}

/* Borrows from the row. */
static struct named named_of(const struct stmt *st)
{
	return (struct named){
		.row = col_int(st, 0),
		.id = col_uuid(st, 1),
		.name = col_text(st, 2),
		.agent = col_text(st, 3),
		.head = head_of(st),
		.has_origin = !col_null(st, 8),
		.origin = col_uuid(st, 8),
		.settings = { .working_dir = col_text(st, 9),
			      .model = col_text(st, 10),
			      .system_prompt = col_text(st, 11),
			      .mcp_config = col_text(st, 12),
			      .allowed_tools = col_text(st, 13),
			      .disallowed_tools = col_text(st, 14),
			      .permission_mode = col_text(st, 15),
			      .loopback = col_int(st, 16) != 0,
			      .metadata = col_text(st, 17) },
		.created_at = col_int(st, 18),
		.updated_at = col_int(st, 19),
	};
}

static void keep_text(struct str *text, struct arena *mem)
{
	if (text->p)
		*text = arena_str(mem, *text);
}

static void keep(struct named *n, struct arena *mem)
{
	struct str *texts[] = { &n->name,
				&n->agent,
				&n->settings.working_dir,
				&n->settings.model,
				&n->settings.system_prompt,
				&n->settings.mcp_config,
				&n->settings.allowed_tools,
				&n->settings.disallowed_tools,
				&n->settings.permission_mode,
				&n->settings.metadata };

	for (size_t i = 0; i < COUNT(texts); i++)
		keep_text(texts[i], mem);
}

/* What a statement gives: how many, the last of them, and their names. */
struct found {
	int count;
	struct buf names;
};

static void found_release(struct found *f)
{
	buf_release(&f->names);
}

static enum status take_found(struct stmt *st, struct arena *mem, struct named *out, struct found *f,
			      struct err *err)
{
	enum { LISTED = 8 };
	enum step step;

	while ((step = stmt_step(st, err)) == STEP_ROW) {
		char id[UUID_TEXT + 1];

		*out = named_of(st);
		keep(out, mem);
		uuid_print(&out->id, id);
		if (f->count++ < LISTED)
			buf_printf(&f->names, "\n  %.*s  %s", (int)size_min(out->name.n, 60), out->name.p,
				   id);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status find_by_name(struct store *s, int index, struct str text, struct arena *mem,
				struct named *out, struct found *f, struct err *err)
{
	struct buf room CLEANUP(buf_release) = BUF_INIT(LIMIT_ANNOTATION_NAME + 8);
	struct str pattern = arena_printf(mem, "%.*s*", STR_ARG(text));
	STMT st = { 0 };

	if (use(s, index, &st, err))
		return err_failed(err->status);
	if (index == NAMED_EXACT)
		stmt_text(&st, 1, text);
	else
		stmt_text_range(&st, 1, pattern, &room);
	return take_found(&st, mem, out, f, err);
}

static enum status find_by_id(struct store *s, struct str text, struct arena *mem, struct named *out,
			      struct found *f, struct err *err)
{
	struct uuid low, high;
	STMT st = { 0 };

	if (!uuid_range(text, &low, &high))
		return STATUS_OK;
	if (use(s, NAMED_ID, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &low);
	stmt_uuid(&st, 2, &high);
	return take_found(&st, mem, out, f, err);
}

enum status named_find(struct store *s, struct str text, struct arena *mem, struct named *out,
		       struct err *err)
{
	struct found f CLEANUP(found_release) = { .names = BUF_INIT(LIMIT_ERR_TEXT) };

	if (text.n && text.n <= LIMIT_ANNOTATION_NAME) {
		if (find_by_name(s, NAMED_EXACT, text, mem, out, &f, err))
			return err_failed(err->status);
		if (!f.count && (find_by_id(s, text, mem, out, &f, err) ||
				 find_by_name(s, NAMED_PREFIX, text, mem, out, &f, err)))
			return err_failed(err->status);
	}
	if (f.count == 1)
		return STATUS_OK;
	if (f.count > 1)
		return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be%s", STR_ARG(text), f.names.p);
	return err_fail(err, STATUS_NOT_FOUND, "no session is called '%.*s'", (int)size_min(text.n, 60),
			text.p ? text.p : "");
}

enum status named_get(struct store *s, int64_t row, struct arena *mem, struct named *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NAMED_ROW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (stmt_row(&st, "a session", err))
		return err_failed(err->status);
	*out = named_of(&st);
	keep(out, mem);
	return STATUS_OK;
}

enum status named_of_client(struct store *s, const struct uuid *claude_session, struct arena *mem, struct named *out,
			    bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NAMED_OF_CLIENT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, claude_session);
	if (stmt_found(&st, found, err))
		return err_failed(err->status);
	if (*found) {
		*out = named_of(&st);
		keep(out, mem);
	}
	return STATUS_OK;
}

enum status named_is_shared(struct store *s, const struct named *named, bool *out, struct err *err)
{
	STMT st = { 0 };

	*out = false;
	if (!named->head.has_session)
		return STATUS_OK;
	if (use(s, NAMED_SHARED, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &named->head.session);
	stmt_int(&st, 2, named->row);
	return stmt_found(&st, out, err);
}

enum status named_each(struct store *s, named_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, NAMED_EACH, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct named named = named_of(&st);

		if (fn(ctx, &named, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* ---- Writing ---------------------------------------------------------------- */

bool named_is_like_id(struct str name)
{
	size_t digits = 0;

	for (size_t i = 0; i < name.n; i++) {
		bool is_digit = name.p[i] && strchr("0123456789abcdefABCDEF", name.p[i]);

		if (!is_digit && name.p[i] != '-')
			return false;
		digits += is_digit;
	}
	return digits >= LIMIT_ID_PREFIX;
}

static enum status check_name(struct str name, struct err *err)
{
	if (annotation_check_name(name, err))
		return err_failed(err->status);
	return named_is_like_id(name)
		       ? err_fail(err, STATUS_USAGE,
				  "'%.*s' cannot be a name: it could be the beginning of an id, and would be taken "
				  "for one",
				  STR_ARG(name))
		       : STATUS_OK;
}

static enum status name_taken(struct str name, struct err *err)
{
	return err->status == STATUS_CONFLICT
		       ? err_fail(err, STATUS_CONFLICT,
				  "a session is called '%.*s' already; choose another name", STR_ARG(name))
		       : err_failed(err->status);
}

static void bind_head(struct stmt *st, int at, const struct named_head *h)
{
	stmt_uuid_or_null(st, at, h->has_tree ? &h->tree : NULL);
	stmt_uuid_or_null(st, at + 1, h->has_head ? &h->head : NULL);
	stmt_uuid_or_null(st, at + 2, h->has_line ? &h->line : NULL);
	stmt_uuid_or_null(st, at + 3, h->has_session ? &h->session : NULL);
}

static void bind_settings(struct stmt *st, int at, const struct named_settings *n)
{
	stmt_text(st, at, n->working_dir);
	stmt_text_or_null(st, at + 1, n->model);
	stmt_text_or_null(st, at + 2, n->system_prompt);
	stmt_text_or_null(st, at + 3, n->mcp_config);
	stmt_text_or_null(st, at + 4, n->allowed_tools);
	stmt_text_or_null(st, at + 5, n->disallowed_tools);
	stmt_text_or_null(st, at + 6, n->permission_mode);
	stmt_int(st, at + 7, n->loopback);
	stmt_text_or_null(st, at + 8, n->metadata);
}

enum status named_create(struct store *s, const struct named_new *what, struct uuid *id, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (check_name(what->name, err) || live_begin(s, &txn, err) || uuid_random(id, err) ||
	    db_rev(s, &rev, err) || use(s, NAMED_INSERT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_text(&st, 2, what->name);
	stmt_text(&st, 3, what->agent);
	bind_head(&st, 4, &what->head);
	stmt_uuid_or_null(&st, 8, what->origin);
	bind_settings(&st, 9, &what->settings);
	stmt_int(&st, 18, store_now(s));
	stmt_int(&st, 19, rev);
	if (stmt_run(&st, err))
		return name_taken(what->name, err);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

enum status named_rename(struct store *s, const struct named *named, struct str name, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (check_name(name, err) || live_begin(s, &txn, err) || db_rev(s, &rev, err) ||
	    use(s, NAMED_RENAME, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, named->row);
	stmt_text(&st, 2, name);
	stmt_int(&st, 3, store_now(s));
	stmt_int(&st, 4, rev);
	if (stmt_run_one(&st, "a session", err))
		return name_taken(name, err);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

enum status named_delete(struct store *s, const struct named *named, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, NAMED_DELETE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, named->row);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	if (sqlite3_changes64(s->db) != 1)
		return err_fail(err, STATUS_BUSY, "'%.*s' is at work, or deleted already",
				STR_ARG(named->name));
	stmt_done(&st);
	return txn_commit(&txn, err);
}

enum status named_set(struct store *s, int64_t row, const struct named_settings *what, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, NAMED_SET, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_text_or_null(&st, 2, what->model);
	stmt_text_or_null(&st, 3, what->permission_mode);
	stmt_int(&st, 4, store_now(s));
	stmt_int(&st, 5, rev);
	if (stmt_run_one(&st, "a session", err))
		return err_failed(err->status);
	stmt_done(&st);
	return txn_commit(&txn, err);
}

enum status named_set_head(struct store *s, int64_t row, const struct named_head *head, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;
	STMT st = { 0 };

	if (live_begin(s, &txn, err) || db_rev(s, &rev, err) || use(s, NAMED_HEAD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	bind_head(&st, 2, head);
	stmt_int(&st, 6, store_now(s));
	stmt_int(&st, 7, rev);
	if (stmt_run_one(&st, "a session", err))
		return err_failed(err->status);
	stmt_done(&st);
	return txn_commit(&txn, err);
}
