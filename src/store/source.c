/*
 * Roots, sources and generations in SQL.
 *
 * Invariants
 *   (1) A source's `generation` is the one with its highest number.
 *   (2) (root, path) is unique: a path means one source at a time. A file found
 *       at a path that a source still has is that source, whatever its inode.
 *   (3) A key is given once and never changes; ids are made from it.
 *   (4) A generation's base belongs to the same source and has a lower number.
 *
 * Not here: bytes (archive.c), when to start a generation (ingest/follow.c).
 */
#include "store/source.h"

#include "store/db.h"

#include <stdio.h>
#include <string.h>

#define SOURCE \
	"SELECT id, path, coalesce(generation, 0), vanished_at IS NOT NULL, inode, size, mtime_ns," \
	" ctime_ns, head_length, head_hash, rev, coalesce(btime_ns, 0) FROM source "
#define GENERATION \
	"SELECT g.id, g.number, coalesce(g.base, 0), coalesce(b.number, 0), g.shared, g.length, g.started_at," \
	" coalesce(g.mtime_ns, 0)" \
	" FROM generation g LEFT JOIN generation b ON b.id = g.base "

enum {
	HOST_ADD,
	HOST_GET,
	ROOT_BY_DIR,
	ROOT_BY_LABEL,
	ROOT_ADD,
	ROOT_MOVE,
	ROOT_SYNCED,
	ROOT_DIR,
	SOURCE_LOAD,
	SOURCE_LOAD_PATH,
	SOURCE_LOAD_INODE,
	SOURCE_KEY_TAKEN,
	SOURCE_NAMES,
	SOURCE_ADD,
	SOURCE_PATH,
	SOURCE_FORMER,
	SOURCE_RENAME,
	SOURCE_VANISH,
	SOURCE_SAW,
	SOURCE_NEWEST,
	SOURCE_HEAD,
	SOURCE_HEAD_AGAIN,
	GENERATION_DATE,
	GENERATION_NEXT,
	GENERATION_ADD,
	GENERATION_GET,
	GENERATION_OF_SOURCE,
	LINES_GET,
	LINES_PUT,
	LINES_DROP,
	SOURCE_STATEMENTS
};

static const char *const sql[SOURCE_STATEMENTS] = {
	[HOST_ADD] = "INSERT INTO host(label, rev) SELECT value, ?1 FROM store_setting WHERE key = 'host_label'"
		     " ON CONFLICT DO NOTHING",
	[HOST_GET] = "SELECT h.id FROM host h JOIN store_setting t ON t.key = 'host_label' AND t.value = h.label",
	[ROOT_BY_DIR] = "SELECT id, label FROM root WHERE host = ?1 AND dir = ?2 ORDER BY id DESC LIMIT 1",
	[ROOT_BY_LABEL] = "SELECT id, label FROM root WHERE host = ?1 AND label = ?2",
	[ROOT_ADD] = "INSERT INTO root(host, label, format, dir, added_at, rev)"
		     " VALUES (?1, ?2, ?6, ?3, ?4, ?5) RETURNING id",
	[ROOT_MOVE] = "UPDATE root SET dir = ?4, rev = ?5 WHERE host = ?1 AND label = ?2 AND dir = ?3",
	[ROOT_DIR] = "SELECT r.dir FROM root r JOIN host h ON h.id = r.host JOIN store_setting t"
		     " ON t.key = 'host_label' AND t.value = h.label WHERE r.label = ?1",
	[ROOT_SYNCED] = "UPDATE root SET synced_at = ?2, rev = ?3 WHERE id = ?1",
	[SOURCE_LOAD] = SOURCE "WHERE root = ?1",
	[SOURCE_LOAD_PATH] = SOURCE "WHERE root = ?1 AND path = ?2",
	[SOURCE_LOAD_INODE] = SOURCE "WHERE root = ?1 AND inode = ?2",
	[SOURCE_KEY_TAKEN] = "SELECT 1 FROM source WHERE root = ?1 AND key = ?2",
	[SOURCE_NAMES] = "SELECT h.label, r.label FROM root r JOIN host h ON h.id = r.host WHERE r.id = ?1",
	[SOURCE_ADD] = "INSERT INTO source(source_id, root, key, path, first_at, rev)"
		       " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING RETURNING id",
	[SOURCE_PATH] = "SELECT path FROM source WHERE id = ?1",
	[SOURCE_FORMER] = "INSERT INTO source_path(source, path, until_at, rev) SELECT id, path, ?2, ?3 FROM source"
			  " WHERE id = ?1 ON CONFLICT DO UPDATE SET until_at = excluded.until_at, rev = excluded.rev",
	[SOURCE_RENAME] = "UPDATE OR IGNORE source SET path = ?2, rev = ?3 WHERE id = ?1 AND path = ?4",
	[SOURCE_VANISH] = "UPDATE source SET vanished_at = ?2, rev = ?3"
			  " WHERE id = ?1 AND rev = ?4 AND vanished_at IS NULL",
	[SOURCE_SAW] = "UPDATE source SET vanished_at = NULL, inode = ?3, size = ?4, mtime_ns = ?5,"
		       " ctime_ns = ?6, head_length = ?7, head_hash = ?8, btime_ns = ?9, rev = ?10"
		       " WHERE id = ?1 AND generation = ?2"
		       " AND EXISTS (SELECT 1 FROM generation g WHERE g.id = ?2 AND g.length = ?11)",
	[SOURCE_NEWEST] = "UPDATE source SET generation = ?2, size = NULL, ctime_ns = NULL, vanished_at = NULL,"
			  " rev = ?4 WHERE id = ?1 AND generation IS ?3",
	/* While a file is read that changes, its beginning may be of more bytes than are archived. */
	[SOURCE_HEAD] = ("SELECT coalesce(s.generation, 0), iif(s.head_length <= g.length, s.head_length, 0)"
			 " FROM source s LEFT JOIN generation g ON g.id = s.generation WHERE s.id = ?1"),
	[SOURCE_HEAD_AGAIN] = "UPDATE source SET head_hash = ?2, rev = ?3 WHERE id = ?1",
	[GENERATION_DATE] = "UPDATE generation SET mtime_ns = ?2, rev = ?3 WHERE id = ?1",
	[GENERATION_NEXT] = "SELECT coalesce(max(number), 0) + 1 FROM generation WHERE source = ?1",
	[GENERATION_ADD] = "INSERT INTO generation(source, number, base, shared, length, started_at, rev)"
			   " VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6) RETURNING id",
	[GENERATION_GET] = GENERATION "WHERE g.id = ?1",
	[GENERATION_OF_SOURCE] = GENERATION "WHERE g.source = ?1 ORDER BY g.number",
	[LINES_GET] = "SELECT lines, tail, longest FROM line_count WHERE generation = ?1",
	[LINES_DROP] = "DELETE FROM line_count WHERE generation = ?1",
	[LINES_PUT] = "INSERT INTO line_count(generation, lines, tail, longest) VALUES (?1, ?2, ?3, ?4)"
		      " ON CONFLICT DO UPDATE SET lines = excluded.lines, tail = excluded.tail,"
		      " longest = excluded.longest",
};

const struct db_set source_statements = { DB_SOURCE, sql, SOURCE_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &source_statements, index, st, err);
}

/* ---- Roots ----------------------------------------------------------------- */

/* This host; 0 when it has no roots yet. */
static enum status get_host(struct store *s, int64_t *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, HOST_GET, &st, err))
		return err_failed(err->status);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW ? col_int(&st, 0) : 0;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status add_host(struct store *s, int64_t rev, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, HOST_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, rev);
	return stmt_run(&st, err) ? err_failed(err->status) : get_host(s, out, err);
}

/* By folder (ROOT_BY_DIR) or label (ROOT_BY_LABEL); STATUS_NOT_FOUND is not an error. */
static enum status find_root(struct store *s, int which, int64_t host, struct str name, struct root *out,
			     struct err *err)
{
	STMT st = { 0 };

	if (use(s, which, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, host);
	stmt_text(&st, 2, name);
	switch (stmt_step(&st, err)) {
	case STEP_ROW:
		out->row = col_int(&st, 0);
		snprintf(out->label, sizeof out->label, "%.*s", STR_ARG(col_bytes(&st, 1)));
		return STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_NOT_FOUND, "no such root");
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

static enum status add_root(struct store *s, int64_t host, const char *format, const char *dir, int64_t rev,
			    struct root *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, ROOT_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, host);
	stmt_text(&st, 2, str_of(out->label));
	stmt_text(&st, 3, str_of(dir));
	stmt_int(&st, 4, store_now(s));
	stmt_int(&st, 5, rev);
	stmt_text(&st, 6, str_of(format));
	if (stmt_row(&st, "the new root", err))
		return err_failed(err->status);
	out->row = col_int(&st, 0);
	return STATUS_OK;
}

/* The first of claude, claude-2, ... that no root has. */
static enum status free_label(struct store *s, int64_t host, struct root *out, struct err *err)
{
	enum status status;
	struct root taken;

	for (int i = 1;; i++) {
		if (i == 1)
			snprintf(out->label, sizeof out->label, "claude");
		else
			snprintf(out->label, sizeof out->label, "claude-%d", i);
		status = find_root(s, ROOT_BY_LABEL, host, str_of(out->label), &taken, err);
		if (status == STATUS_NOT_FOUND)
			return STATUS_OK;
		if (status != STATUS_OK)
			return status;
	}
}

static bool label_is_good(struct str label)
{
	for (size_t i = 0; i < label.n; i++) {
		char c = label.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
		      c == '_' || (c == '.' && i > 0)))
			return false;
	}
	return label.n > 0 && label.n <= LIMIT_LABEL;
}

static enum status check_label(struct str label, struct err *err)
{
	if (!label.p || label_is_good(label))
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE, "label '%.*s': letters, digits, '-', '_' and '.' only, at most %d",
			(int)size_min(label.n, 80), label.p, LIMIT_LABEL);
}

/* A folder belongs to one root. It is looked for without a transaction, so that a
 * sync with nothing new writes nothing. */
enum status root_find(struct store *s, const char *dir, struct str label, struct root *out, struct err *err)
{
	struct root found;
	enum status status;
	int64_t host;

	if (check_label(label, err) || get_host(s, &host, err))
		return err_failed(err->status);
	status = find_root(s, ROOT_BY_DIR, host, str_of(dir), &found, err);
	if (status != STATUS_OK)
		return status;
	if (label.p && !str_eq(label, str_of(found.label)))
		return err_fail(err, STATUS_USAGE, "%s is already mirrored as '%s'; leave --label out", dir,
				found.label);
	*out = found;
	return STATUS_OK;
}

/* The label given, if nobody has it, else a free one. */
static enum status choose_label(struct store *s, int64_t host, struct str label, struct root *out, struct err *err)
{
	struct root taken;
	enum status status;

	if (!label.p)
		return free_label(s, host, out, err);
	snprintf(out->label, sizeof out->label, "%.*s", STR_ARG(label));
	status = find_root(s, ROOT_BY_LABEL, host, label, &taken, err);
	if (status == STATUS_OK)
		return err_fail(err, STATUS_CONFLICT, "'%s' is the label of another folder", taken.label);
	return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status root_foresee(struct store *s, const char *dir, struct str label, struct root *out, struct err *err)
{
	enum status status;
	int64_t host;

	*out = (struct root){ 0 };
	if (check_label(label, err))
		return err_failed(err->status);
	snprintf(out->label, sizeof out->label, "%.*s", STR_ARG(label.p ? label : STR("claude")));
	if (!s)
		return STATUS_OK;
	status = root_find(s, dir, label, out, err);
	if (status != STATUS_NOT_FOUND)
		return status;
	if (get_host(s, &host, err))
		return err_failed(err->status);
	if (!label.p)
		return free_label(s, host, out, err);
	status = find_root(s, ROOT_BY_LABEL, host, label, out, err);
	return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status root_use(struct store *s, const char *dir, struct str label, struct root *out, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct root added = { 0 };
	enum status status;
	int64_t host, rev;

	if (txn_begin(s, &txn, err))
		return err_failed(err->status);
	status = root_find(s, dir, label, out, err);
	if (status != STATUS_NOT_FOUND)
		return status == STATUS_OK ? txn_commit(&txn, err) : status;
	if (db_rev(s, &rev, err) || add_host(s, rev, &host, err) || choose_label(s, host, label, &added, err) ||
	    add_root(s, host, "claude", dir, rev, &added, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	*out = added;
	return STATUS_OK;
}

enum status root_of_output(struct store *s, struct root *out, struct err *err)
{
	struct root added = { .label = ROOT_OUTPUT };
	enum status status;
	int64_t host, rev;

	if (db_rev(s, &rev, err) || add_host(s, rev, &host, err))
		return err_failed(err->status);
	status = find_root(s, ROOT_BY_LABEL, host, str_of(added.label), out, err);
	if (status != STATUS_NOT_FOUND)
		return status;
	if (add_root(s, host, "claude-stream", "", rev, &added, err))
		return err_failed(err->status);
	*out = added;
	return STATUS_OK;
}

enum status root_move(struct store *s, struct str label, struct str from, const char *dir, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct root taken;
	STMT st = { 0 };
	int64_t host, rev;
	enum status status;

	if (txn_begin(s, &txn, err))
		return err_failed(err->status);
	status = root_find(s, dir, (struct str){ 0 }, &taken, err);
	if (status == STATUS_OK)
		return err_fail(err, STATUS_CONFLICT, "%s: mirrored as '%s' by another program", dir, taken.label);
	if (status != STATUS_NOT_FOUND || get_host(s, &host, err) || db_rev(s, &rev, err) ||
	    use(s, ROOT_MOVE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, host);
	stmt_text(&st, 2, label);
	stmt_text(&st, 3, from);
	stmt_text(&st, 4, str_of(dir));
	stmt_int(&st, 5, rev);
	return stmt_run_one(&st, "moving a label", err) ? err_failed(err->status) : txn_commit(&txn, err);
}

enum status root_dir(struct store *s, struct str label, struct buf *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, ROOT_DIR, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, label);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (step == STEP_ROW)
		buf_str(out, col_bytes(&st, 0));
	return STATUS_OK;
}

enum status root_synced(struct store *s, int64_t root, struct err *err)
{
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, ROOT_SYNCED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, root);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	return stmt_run(&st, err);
}

/* ---- Sources --------------------------------------------------------------- */

static void read_source(const struct stmt *st, struct arena *mem, struct source *out)
{
	*out = (struct source){
		.row = col_int(st, 0),
		.path = arena_str(mem, col_bytes(st, 1)),
		.generation = col_int(st, 2),
		.vanished = col_int(st, 3) != 0,
		.complete = !col_null(st, 5),
		.settled = !col_null(st, 7),
		.st = {
			.inode = col_int(st, 4),
			.size = col_int(st, 5),
			.mtime_ns = col_int(st, 6),
			.ctime_ns = col_int(st, 7),
		},
		.head_length = col_int(st, 8),
		.head_hash = (uint64_t)col_int(st, 9),
		.rev = col_int(st, 10),
	};
	out->st.btime_ns = col_int(st, 11);
	out->st.is_regular = true;
}

enum status source_load(struct store *s, int64_t root, struct arena *mem, struct source **out, size_t *count,
			struct err *err)
{
	struct source *list = NULL;
	size_t n = 0, cap = 0;
	enum step step;
	STMT st = { 0 };

	if (use(s, SOURCE_LOAD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, root);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (n == cap) {
			cap = cap ? cap * 2 : 256;
			list = mem_resize(list, cap * sizeof *list);
		}
		read_source(&st, mem, &list[n++]);
	}
	if (step == STEP_DONE) {
		*out = arena_alloc(mem, n * sizeof **out);
		if (n)
			memcpy(*out, list, n * sizeof *list);
		*count = n;
	}
	mem_free(list);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* Of a statement with its parameters: every row to `take`. */
static enum status take_sources(struct stmt *st, struct arena *mem, void (*take)(void *ctx, const struct source *s),
				void *ctx, struct err *err)
{
	struct source found;
	enum step step;

	while ((step = stmt_step(st, err)) == STEP_ROW) {
		read_source(st, mem, &found);
		take(ctx, &found);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status source_load_path(struct store *s, int64_t root, struct str path, struct arena *mem,
			     void (*take)(void *ctx, const struct source *s), void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SOURCE_LOAD_PATH, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, root);
	stmt_text(&st, 2, path);
	return take_sources(&st, mem, take, ctx, err);
}

enum status source_load_inode(struct store *s, int64_t root, int64_t inode, struct arena *mem,
			      void (*take)(void *ctx, const struct source *s), void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SOURCE_LOAD_INODE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, root);
	stmt_int(&st, 2, inode);
	return take_sources(&st, mem, take, ctx, err);
}

/* A key for a source first seen at `path`: the path, or "path//2" and on when
 * a source that was renamed since has it. No real path contains "//". */
static enum status choose_key(struct store *s, int64_t root, struct str path, struct buf *key, struct err *err)
{
	for (int i = 1;; i++) {
		STMT st = { 0 };
		enum step step;

		buf_clear(key);
		buf_str(key, path);
		if (i > 1)
			buf_printf(key, "//%d", i);
		if (use(s, SOURCE_KEY_TAKEN, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, root);
		stmt_text(&st, 2, buf_as_str(key));
		step = stmt_step(&st, err);
		if (step == STEP_FAILED)
			return err_failed(err->status);
		if (step == STEP_DONE)
			return STATUS_OK;
	}
}

static enum status public_id(struct store *s, int64_t root, struct str key, struct uuid *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SOURCE_NAMES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, root);
	if (stmt_row(&st, "the root of a source", err))
		return err_failed(err->status);
	*out = uuid_of_parts((struct str[]){ STR("source"), col_bytes(&st, 0), col_bytes(&st, 1), key }, 4);
	return STATUS_OK;
}

enum status source_add(struct store *s, int64_t root, struct str path, int64_t *row, struct err *err)
{
	struct buf key CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH + 16);
	struct uuid id;
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || choose_key(s, root, path, &key, err) ||
	    public_id(s, root, buf_as_str(&key), &id, err) || use(s, SOURCE_ADD, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &id);
	stmt_int(&st, 2, root);
	stmt_text(&st, 3, buf_as_str(&key));
	stmt_text(&st, 4, path);
	stmt_int(&st, 5, store_now(s));
	stmt_int(&st, 6, rev);
	switch (stmt_step(&st, err)) {
	case STEP_ROW:
		*row = col_int(&st, 0);
		return STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_CONFLICT, "%.*s: added by another program", STR_ARG(path));
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

enum status source_rename(struct store *s, int64_t row, struct str old_path, struct str new_path, struct err *err)
{
	STMT former = { 0 };
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, SOURCE_FORMER, &former, err))
		return err_failed(err->status);
	stmt_int(&former, 1, row);
	stmt_int(&former, 2, store_now(s));
	stmt_int(&former, 3, rev);
	if (stmt_run(&former, err) || use(s, SOURCE_RENAME, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_text(&st, 2, new_path);
	stmt_int(&st, 3, rev);
	stmt_text(&st, 4, old_path);
	return stmt_run_one(&st, "renaming a source", err);
}

enum status source_expect(struct store *s, int64_t row, struct str path, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, SOURCE_PATH, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (step == STEP_DONE || !str_eq(col_bytes(&st, 0), path))
		return err_fail(err, STATUS_CONFLICT, "%.*s: renamed by another program", STR_ARG(path));
	return STATUS_OK;
}

enum status source_vanish(struct store *s, const struct source *source, bool *done, struct err *err)
{
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, SOURCE_VANISH, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, source->row);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	stmt_int(&st, 4, source->rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	*done = sqlite3_changes64(s->db) == 1;
	return STATUS_OK;
}

enum status source_saw(struct store *s, int64_t row, int64_t generation, int64_t length,
		       const struct source_seen *seen, struct err *err)
{
	STMT st = { 0 };
	STMT date = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, SOURCE_SAW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_int(&st, 2, generation);
	stmt_int(&st, 3, seen->st.inode);
	stmt_int(&st, 4, seen->st.size);
	stmt_int(&st, 5, seen->st.mtime_ns);
	stmt_int_or_null(&st, 6, seen->st.ctime_ns, !seen->settled);
	stmt_int(&st, 7, seen->head_length);
	stmt_int(&st, 8, (int64_t)seen->head_hash);
	stmt_int_or_null(&st, 9, seen->st.btime_ns, seen->st.btime_ns == 0);
	stmt_int(&st, 10, rev);
	stmt_int(&st, 11, length);
	if (stmt_run_one(&st, "noting a file's state", err) || use(s, GENERATION_DATE, &date, err))
		return err_failed(err->status);
	stmt_int(&date, 1, generation);
	stmt_int(&date, 2, seen->st.mtime_ns);
	stmt_int(&date, 3, rev);
	return stmt_run(&date, err);
}

enum status source_head(struct store *s, int64_t row, int64_t *generation, int64_t *length, struct err *err)
{
	STMT st = { 0 };

	if (use(s, SOURCE_HEAD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	if (stmt_row(&st, "a source", err))
		return err_failed(err->status);
	*generation = col_int(&st, 0);
	*length = col_int(&st, 1);
	return STATUS_OK;
}

enum status source_head_again(struct store *s, int64_t row, uint64_t hash, struct err *err)
{
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, SOURCE_HEAD_AGAIN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_int(&st, 2, (int64_t)hash);
	stmt_int(&st, 3, rev);
	return stmt_run_one(&st, "a source", err);
}

/* ---- Generations ----------------------------------------------------------- */

static enum status next_number(struct store *s, int64_t source, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, GENERATION_NEXT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, source);
	if (stmt_row(&st, "a generation", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

static enum status insert_generation(struct store *s, int64_t source, int64_t base, int64_t shared, int64_t rev,
				     int64_t *row, struct err *err)
{
	int64_t number;
	STMT st = { 0 };

	if (next_number(s, source, &number, err) || use(s, GENERATION_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, source);
	stmt_int(&st, 2, number);
	stmt_int_or_null(&st, 3, base, base == 0);
	stmt_int(&st, 4, shared);
	stmt_int(&st, 5, store_now(s));
	stmt_int(&st, 6, rev);
	if (stmt_row(&st, "a generation", err))
		return err_failed(err->status);
	*row = col_int(&st, 0);
	return STATUS_OK;
}

enum status generation_add(struct store *s, int64_t source, int64_t expected, int64_t base, int64_t shared,
			   int64_t *row, struct err *err)
{
	int64_t rev, added;
	STMT st = { 0 };

	if (db_rev(s, &rev, err) || insert_generation(s, source, base, shared, rev, &added, err) ||
	    use(s, SOURCE_NEWEST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, source);
	stmt_int(&st, 2, added);
	stmt_int_or_null(&st, 3, expected, expected == 0);
	stmt_int(&st, 4, rev);
	if (stmt_run_one(&st, "starting a generation", err))
		return err_failed(err->status);
	*row = added;
	return STATUS_OK;
}

static void read_generation(const struct stmt *st, struct generation *out)
{
	*out = (struct generation){
		.row = col_int(st, 0),
		.number = col_int(st, 1),
		.base = col_int(st, 2),
		.base_number = col_int(st, 3),
		.shared = col_int(st, 4),
		.length = col_int(st, 5),
		.started_at = col_int(st, 6),
		.mtime_ms = col_int(st, 7) / 1000000,
	};
}

enum status generation_get(struct store *s, int64_t row, struct generation *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, GENERATION_GET, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	switch (stmt_step(&st, err)) {
	case STEP_ROW:
		read_generation(&st, out);
		return STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_CORRUPT, "generation %" PRId64 " is missing", row);
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

enum status generation_list(struct store *s, int64_t source, struct arena *mem, struct generation **out,
			    size_t *count, struct err *err)
{
	struct generation *list = NULL;
	size_t n = 0, cap = 0;
	enum step step;
	STMT st = { 0 };

	if (use(s, GENERATION_OF_SOURCE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, source);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (n == cap) {
			struct generation *bigger;

			cap = cap ? cap * 2 : 8;
			bigger = arena_alloc(mem, cap * sizeof *list);
			if (n)
				memcpy(bigger, list, n * sizeof *list);
			list = bigger;
		}
		read_generation(&st, &list[n++]);
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	*out = list;
	*count = n;
	return STATUS_OK;
}

enum status generation_pick(struct store *s, int64_t source, uint64_t number, struct generation *out,
			    struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct generation *list;
	size_t count;

	if (generation_list(s, source, &mem, &list, &count, err))
		return err_failed(err->status);
	for (size_t i = count; i-- > 0;)
		if (!number || (uint64_t)list[i].number == number) {
			*out = list[i];
			return STATUS_OK;
		}
	if (count == 0)
		return err_fail(err, STATUS_NOT_FOUND, "nothing of it has been read yet");
	return err_fail(err, STATUS_NOT_FOUND, "it has generations 1 to %zu, not %" PRIu64, count, number);
}

enum status generation_lines(struct store *s, int64_t row, struct line_count *out, bool *known, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, LINES_GET, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	*known = step == STEP_ROW;
	*out = (struct line_count){ 0 };
	if (*known)
		*out = (struct line_count){ col_int(&st, 0), col_int(&st, 1), col_int(&st, 2) };
	return STATUS_OK;
}

static enum status drop_lines(struct store *s, int64_t row, struct err *err)
{
	STMT st = { 0 };

	if (use(s, LINES_DROP, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	return stmt_run(&st, err);
}

enum status generation_set_lines(struct store *s, int64_t row, int64_t replaced, const struct line_count *c,
				 struct err *err)
{
	STMT st = { 0 };

	if ((replaced && drop_lines(s, replaced, err)) || use(s, LINES_PUT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_int(&st, 2, c->lines);
	stmt_int(&st, 3, c->tail);
	stmt_int(&st, 4, c->longest);
	return stmt_run(&st, err);
}
