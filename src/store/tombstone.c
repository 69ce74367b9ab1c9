/*
 * Tombstones, and what a purge leaves behind.
 *
 * Tombstones are only ever added. A sync asks for the mark (purge_mark) and for nothing else as
 * long as nothing was ever purged; the lines it brings in are looked up one by one, by an
 * index, so that what it costs depends on them and not on how many were purged.
 *
 * A purge has four steps: it says what must not come back, overwrites the bytes, takes the words out of
 * the index, and sees to what SQLite has left in pages; of made nodes there are no bytes, only rows. The
 * setting purge_left says which of them are still to be done, and for which purge: one that was begun in
 * the meantime may have undone steps of its own.
 *
 * Ids of purged lines are in the table `line`, with the line's own uuid, of which the ids of its
 * message, turn, tree and blocks are made. How many blocks it had is not kept: as many are tried as
 * lines have.
 */
#include "store/tombstone.h"

#include "store/db.h"
#include "store/session.h"

#include <stdio.h>
#include <string.h>

enum {
	TOMB_MARK_CHANGE,
	TOMB_ANY_LINE,
	TOMB_OF_LINE,
	TOMB_SOURCES,
	TOMB_SESSIONS,
	TOMB_ADD_LINE,
	TOMB_ADD_SOURCE,
	TOMB_ADD,
	TOMB_KEEP_ID,
	TOMB_SUBJECT,
	TOMB_LINES,
	TOMB_STATEMENTS
};

static const char *const sql[TOMB_STATEMENTS] = {
	[TOMB_MARK_CHANGE] = "INSERT INTO store_setting(key, value, rev) VALUES ('purged', ?1, ?1)"
			     " ON CONFLICT(key) DO UPDATE SET value = excluded.value, rev = excluded.rev",
	[TOMB_ANY_LINE] = "SELECT 1 FROM tombstone WHERE kind = 'line' LIMIT 1",
	[TOMB_OF_LINE] = "SELECT 1 FROM tombstone WHERE kind = 'line' AND key_hash = ?1",
	[TOMB_SOURCES] = "SELECT t.path FROM root r JOIN host h ON h.id = r.host JOIN tombstone t"
			 " ON t.kind = 'source' AND t.host = h.label AND t.root = r.label WHERE r.id = ?1",
	[TOMB_SESSIONS] =
		"SELECT subject_id FROM tombstone WHERE kind = 'session' AND subject_id IS NOT NULL",
	[TOMB_ADD_LINE] = "INSERT OR IGNORE INTO tombstone(kind, key_hash, reason, at, rev)"
			  " VALUES ('line', ?1, 'purge', ?2, ?3)",
	[TOMB_ADD_SOURCE] = "INSERT OR IGNORE INTO tombstone(kind, host, root, path, reason, at, rev)"
			    " SELECT 'source', h.label, r.label, s.path, 'purge', ?2, ?3 FROM source s"
			    " JOIN root r ON r.id = s.root JOIN host h ON h.id = r.host WHERE s.id = ?1",
	[TOMB_ADD] = "INSERT OR IGNORE INTO tombstone(kind, subject_id, reason, at, rev)"
		     " VALUES (?1, ?2, 'purge', ?3, ?4)",
	[TOMB_KEEP_ID] = "INSERT OR IGNORE INTO line(generation, offset, line_id, uuid, rev) VALUES (?1, ?2, "
			 "?3, ?4, ?5)",
	[TOMB_SUBJECT] = "SELECT subject_id, kind = 'session', at FROM tombstone WHERE kind IN ('session', "
			 "'node', 'tree')"
			 " AND subject_id BETWEEN ?1 AND ?2 ORDER BY subject_id LIMIT 1",
	[TOMB_LINES] =
		"SELECT l.uuid, l.line_id, coalesce((SELECT g.at FROM gap g WHERE g.generation = l.generation"
		" AND g.offset <= l.offset ORDER BY g.offset DESC LIMIT 1), 0) FROM line l",
};

const struct db_set tombstone_statements = { DB_TOMBSTONE, sql, TOMB_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &tombstone_statements, index, st, err);
}

static enum status has_row(struct stmt *st, bool *out, struct err *err)
{
	enum step step = stmt_step(st, err);

	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* ---- The mark --------------------------------------------------------------- */

enum status purge_mark(struct store *s, int64_t *out, struct err *err)
{
	return db_number(s, "purged", out, err);
}

enum status purge_mark_change(struct store *s, struct err *err)
{
	int64_t rev;

	return db_rev(s, &rev, err) ? err_failed(err->status)
				    : stmt_run_with(s, &tombstone_statements, TOMB_MARK_CHANGE, rev, err);
}

/* ---- Lines ------------------------------------------------------------------ */

enum status tombstone_salt(struct store *s, struct line_salt *out, struct err *err)
{
	struct buf key CLEANUP(buf_release) = BUF_INIT(KIB);

	if (store_setting_get(s, "tombstone_key", &key, err))
		return err_failed(err->status);
	*out = line_salt_of(buf_as_str(&key));
	return STATUS_OK;
}

enum status tombstone_any_line(struct store *s, bool *out, struct err *err)
{
	STMT st = { 0 };

	return use(s, TOMB_ANY_LINE, &st, err) ? err_failed(err->status) : has_row(&st, out, err);
}

enum status tombstone_of_line(struct store *s, const uint8_t hash[SHA256_BYTES], bool *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TOMB_OF_LINE, &st, err))
		return err_failed(err->status);
	stmt_blob(&st, 1, hash, SHA256_BYTES);
	return has_row(&st, out, err);
}

/* ---- Files and sessions ----------------------------------------------------- */

/* Every first column into a map; what it leads to does not matter. */
static enum status fill(struct stmt *st, struct arena *mem, struct map *out, struct err *err)
{
	enum step step;

	while ((step = stmt_step(st, err)) == STEP_ROW)
		map_put(out, arena_str(mem, col_bytes(st, 0)), out);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status tombstones_load(struct store *s, int64_t root, struct arena *mem, struct tombstones *out,
			    struct err *err)
{
	STMT sources = { 0 };
	STMT sessions = { 0 };

	if (use(s, TOMB_SOURCES, &sources, err))
		return err_failed(err->status);
	stmt_int(&sources, 1, root);
	if (fill(&sources, mem, &out->paths, err) || use(s, TOMB_SESSIONS, &sessions, err))
		return err_failed(err->status);
	return fill(&sessions, mem, &out->sessions, err);
}

void tombstones_release(struct tombstones *t)
{
	map_release(&t->paths);
	map_release(&t->sessions);
}

/* ---- Writing ---------------------------------------------------------------- */

enum status tombstone_add_line(struct store *s, const uint8_t hash[SHA256_BYTES], int64_t at, struct err *err)
{
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, TOMB_ADD_LINE, &st, err))
		return err_failed(err->status);
	stmt_blob(&st, 1, hash, SHA256_BYTES);
	stmt_int(&st, 2, at);
	stmt_int(&st, 3, rev);
	return stmt_run(&st, err);
}

enum status tombstone_add_source(struct store *s, int64_t source, int64_t at, struct err *err)
{
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, TOMB_ADD_SOURCE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, source);
	stmt_int(&st, 2, at);
	stmt_int(&st, 3, rev);
	return stmt_run(&st, err);
}

enum status tombstone_add(struct store *s, enum tombstone_kind kind, const struct uuid *subject, int64_t at,
			  struct err *err)
{
	static const char *const names[TOMBSTONE_KINDS] = { "session", "node", "tree" };
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, TOMB_ADD, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, str_of(names[kind]));
	stmt_uuid(&st, 2, subject);
	stmt_int(&st, 3, at);
	stmt_int(&st, 4, rev);
	return stmt_run(&st, err);
}

enum status line_id_keep(struct store *s, int64_t generation, int64_t offset, const struct uuid *id,
			 struct str uuid, struct err *err)
{
	struct uuid parsed;
	STMT st = { 0 };
	int64_t rev;

	if (db_rev(s, &rev, err) || use(s, TOMB_KEEP_ID, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, generation);
	stmt_int(&st, 2, offset);
	stmt_uuid(&st, 3, id);
	if (uuid.p && uuid_parse(uuid, &parsed))
		stmt_uuid(&st, 4, &parsed);
	else if (uuid.p)
		stmt_text(&st, 4, uuid);
	stmt_int(&st, 5, rev);
	return stmt_run(&st, err);
}

/* ---- Asking for what is gone -------------------------------------------------- */

static bool is_between(const struct uuid *id, const struct uuid *low, const struct uuid *high)
{
	return memcmp(id->b, low->b, UUID_BYTES) >= 0 && memcmp(id->b, high->b, UUID_BYTES) <= 0;
}

/* The id of the line in the row, or of a part of it, that is meant. */
static bool find_part(const struct stmt *st, const struct uuid *low, const struct uuid *high,
		      struct uuid *out)
{
	enum { BLOCKS = 32 }; /* nine of ten lines have one, and hardly any has more */
	static const int begins[] = { PART_MESSAGE, PART_TURN, PART_TREE };
	struct node_name name;

	node_name_of(st, 0, 1, &name);
	*out = name.line_id;
	if (is_between(out, low, high) ||
	    (name.uuid.p && uuid_parse(name.uuid, out) && is_between(out, low, high)))
		return true;
	for (int part = PART_LINE; name.uuid.p && part < BLOCKS; part++) {
		*out = node_id(&name, part);
		if (is_between(out, low, high))
			return true;
	}
	for (size_t i = 0; name.uuid.p && i < COUNT(begins); i++) {
		*out = node_id(&name, begins[i]);
		if (is_between(out, low, high))
			return true;
	}
	return false;
}

static enum status find_line(struct store *s, const struct uuid *low, const struct uuid *high, bool *found,
			     struct purged *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, TOMB_LINES, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW && !*found) {
		*found = find_part(&st, low, high, &out->id);
		out->at = col_int(&st, 2);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status purged_find(struct store *s, const struct uuid *low, const struct uuid *high, bool *found,
			struct purged *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, TOMB_SUBJECT, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, low);
	stmt_uuid(&st, 2, high);
	*out = (struct purged){ 0 };
	if (has_row(&st, found, err))
		return err_failed(err->status);
	if (!*found)
		return find_line(s, low, high, found, out, err);
	memcpy(out->id.b, col_bytes(&st, 0).p, UUID_BYTES);
	out->is_session = col_int(&st, 1) != 0;
	out->at = col_int(&st, 2);
	return STATUS_OK;
}

/* ---- Being interrupted -------------------------------------------------------- */

static const char *const left_names[] = { "nothing", "pages", "words", "bytes" };

enum status purge_state_get(struct store *s, struct purge_state *out, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	enum status status = store_setting_get(s, "purge_left", &text, err);
	struct str number, name = str_cut(buf_as_str(&text), ' ', &number);

	*out = (struct purge_state){ PURGE_NOTHING, 0 };
	if (status == STATUS_NOT_FOUND)
		return STATUS_OK;
	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < COUNT(left_names); i++)
		if (str_eq(name, str_of(left_names[i])))
			out->left = (enum purge_left)i;
	str_to_i64(number, &out->number);
	return STATUS_OK;
}

static enum status put_state(struct store *s, enum purge_left left, int64_t number, struct err *err)
{
	char text[40];

	snprintf(text, sizeof text, "%s %" PRId64, left_names[left], number);
	return store_setting_put(s, "purge_left", str_of(text), err);
}

enum status purge_state_begin(struct store *s, struct err *err)
{
	int64_t rev;

	return db_rev(s, &rev, err) ? err_failed(err->status) : put_state(s, PURGE_BYTES, rev, err);
}

/* One that has bytes to overwrite comes to the words after that, and keeps its number. */
enum status purge_state_words(struct store *s, struct err *err)
{
	struct purge_state now;
	int64_t rev;

	if (purge_state_get(s, &now, err))
		return err_failed(err->status);
	if (now.left == PURGE_BYTES)
		return STATUS_OK;
	return db_rev(s, &rev, err) ? err_failed(err->status) : put_state(s, PURGE_WORDS, rev, err);
}

enum status purge_state_done(struct store *s, const struct purge_state *before, enum purge_left left,
			     struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct purge_state now;

	if (txn_begin(s, &txn, err) || purge_state_get(s, &now, err))
		return err_failed(err->status);
	if (now.number == before->number && now.left > left && put_state(s, left, now.number, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}
