/*
 * Integrity of the database, of the references in it, and of every archived
 * byte: each block is unpacked and its hash compared, each generation must be
 * covered without holes, line counts must agree with the bytes, gaps must hold nothing, and no
 * line may stand anywhere that was purged. One snapshot
 * for all of it, so a sync that runs meanwhile is not mistaken for damage. Trees that
 * were made are check_trees.c's.
 *
 * Not here: repairing. What is damaged is named; where the original file still has
 * the bytes, a sync with --force puts them back.
 */
#include "store/check.h"

#include "store/check_trees.h"
#include "store/db.h"
#include "store/gap.h"
#include "store/tombstone.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	CHECK_INTEGRITY,
	CHECK_FOREIGN_KEYS,
	CHECK_GENERATIONS,
	CHECK_ORPHANS,
	CHECK_NEWEST,
	CHECK_COUNTS,
	CHECK_STATEMENTS
};

static const char *const sql[CHECK_STATEMENTS] = {
	[CHECK_INTEGRITY] = "PRAGMA integrity_check(100)",
	[CHECK_FOREIGN_KEYS] = "PRAGMA foreign_key_check",
	[CHECK_GENERATIONS] = "SELECT g.id, g.number, g.shared, g.length, coalesce(b.length, 0),"
			      " b.id IS NULL OR (b.source = g.source AND b.number < g.number),"
			      " g.id = s.generation, s.path,"
			      " (SELECT coalesce(min(k.offset), g.length) FROM block k WHERE k.generation = g.id),"
			      " (SELECT coalesce(max(k.offset + k.length), g.length) FROM block k"
			      "  WHERE k.generation = g.id)"
			      " FROM generation g JOIN source s ON s.id = g.source"
			      " LEFT JOIN generation b ON b.id = g.base"
			      " ORDER BY g.id",
	[CHECK_ORPHANS] = "SELECT d.id FROM block_data d WHERE NOT EXISTS"
			  " (SELECT 1 FROM block b WHERE b.data = d.id) LIMIT 20",
	[CHECK_NEWEST] = "SELECT s.path FROM source s WHERE s.generation IS NOT"
			 " (SELECT g.id FROM generation g WHERE g.source = s.id ORDER BY g.number DESC LIMIT 1)"
			 " LIMIT 20",
	[CHECK_COUNTS] = "SELECT (SELECT count(*) FROM source), (SELECT count(*) FROM generation),"
			 " (SELECT count(*) FROM block), (SELECT coalesce(sum(length(bytes)), 0) FROM block_data)",
};

const struct db_set check_statements = { DB_CHECK, sql, CHECK_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &check_statements, index, st, err);
}

static void ATTR_PRINTF(2, 3) problem(struct check_report *r, const char *format, ...)
{
	char text[LIMIT_ERR_TEXT + LIMIT_PATH];
	va_list args;

	r->problems++;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (r->problem)
		r->problem(r->ctx, str_of(text));
}

/* FTS5 checks what it remembers of its index, which another program may have merged since: so all of it by
 * a connection that remembers nothing. */
static enum status check_database(const struct store *from, struct check_report *r, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;
	STMT integrity = { 0 };
	STMT keys = { 0 };
	enum step step;

	if (store_open_again(from, &s, err) || use(s, CHECK_INTEGRITY, &integrity, err))
		return err_failed(err->status);
	while ((step = stmt_step(&integrity, err)) == STEP_ROW)
		if (!str_eq(col_bytes(&integrity, 0), STR("ok")))
			problem(r, "database: %.*s", STR_ARG(col_bytes(&integrity, 0)));
	if (step == STEP_FAILED || use(s, CHECK_FOREIGN_KEYS, &keys, err))
		return err_failed(err->status);
	while ((step = stmt_step(&keys, err)) == STEP_ROW)
		problem(r, "database: a row of '%.*s' refers to a missing row of '%.*s'", STR_ARG(col_bytes(&keys, 0)),
			STR_ARG(col_bytes(&keys, 2)));
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* While a generation is read. */
struct counting {
	struct store *s;
	struct check_report *report;
	struct line_count lines;
	int64_t at;
	struct span *gaps;
	size_t gap_count, gap_cap, gap; /* the one in hand */
	bool gap_is_bad;
	const struct line_salt *salt; /* NULL = nothing was purged */
	struct line_hasher hasher;
	int64_t purged_at; /* a purged line that stands there; -1 = none */
};

static void counting_release(struct counting *c)
{
	mem_free(c->gaps);
}

static enum status take_gap(void *ctx, const struct gap *g, struct err *err)
{
	struct counting *c = ctx;

	(void)err;
	if (c->gap_count == c->gap_cap) {
		c->gap_cap = c->gap_cap ? c->gap_cap * 2 : 16;
		c->gaps = mem_resize(c->gaps, c->gap_cap * sizeof *c->gaps);
	}
	c->gaps[c->gap_count++] = g->span;
	return STATUS_OK;
}

static enum status take_hash(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct counting *c = ctx;
	bool purged;

	if (tombstone_of_line(c->s, line->hash, &purged, err))
		return err_failed(err->status);
	if (purged && c->purged_at < 0)
		c->purged_at = line->offset;
	return STATUS_OK;
}

/* Of the gaps, the part that is in these bytes. */
static void check_gaps(struct counting *c, struct str bytes)
{
	int64_t end = c->at + (int64_t)bytes.n;

	for (; c->gap < c->gap_count && c->gaps[c->gap].from < end; c->gap++) {
		const struct span *g = &c->gaps[c->gap];
		int64_t from = g->from > c->at ? g->from : c->at, to = g->to < end ? g->to : end;

		c->gap_is_bad |= !gap_is_filled(str_sub(bytes, (size_t)(from - c->at), (size_t)(to - from)));
		if (g->to > end)
			break;
	}
}

static enum status count_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct counting *c = ctx;

	line_count_add(&c->lines, bytes);
	check_gaps(c, bytes);
	c->at += (int64_t)bytes.n;
	c->report->raw_bytes += (int64_t)bytes.n;
	return c->salt ? line_hasher_add(&c->hasher, bytes, err) : STATUS_OK;
}

static enum status read_generation(struct counting *c, int64_t row, int64_t from, int64_t length,
				   struct err *err)
{
	c->at = from;
	if (gap_each(c->s, row, from, length - from, take_gap, c, err))
		return err_failed(err->status);
	if (c->salt)
		line_hasher_begin(&c->hasher, c->salt, from, take_hash, c);
	if (archive_read(c->s, row, from, length - from, count_bytes, c, err))
		return err_failed(err->status);
	return c->salt ? line_hasher_end(&c->hasher, err) : STATUS_OK;
}

/* Own blocks of every generation are read once. The shared part is read again
 * only for the newest one, whose line count is compared. */
static enum status check_generation(struct store *s, const struct stmt *g, const struct line_salt *salt,
				    struct check_report *r, struct err *err)
{
	int64_t row = col_int(g, 0), number = col_int(g, 1), shared = col_int(g, 2), length = col_int(g, 3);
	bool newest = col_int(g, 6) != 0, counted;
	struct counting c CLEANUP(counting_release) = { .s = s, .report = r, .salt = salt, .purged_at = -1 };
	struct line_count stored;
	int64_t from = newest ? 0 : shared;
	enum status status;

	if (!col_int(g, 5) || shared > col_int(g, 4))
		problem(r, "%.*s, generation %" PRId64 ": its base cannot be right", STR_ARG(col_bytes(g, 7)), number);
	if (col_int(g, 8) != shared || col_int(g, 9) != length)
		problem(r, "%.*s, generation %" PRId64 ": its blocks are not from byte %" PRId64 " to %" PRId64,
			STR_ARG(col_bytes(g, 7)), number, shared, length);
	status = read_generation(&c, row, from, length, err);
	if (status == STATUS_CORRUPT || status == STATUS_USAGE || status == STATUS_LIMIT) {
		problem(r, "%.*s, generation %" PRId64 ": %s", STR_ARG(col_bytes(g, 7)), number, err->text);
		return STATUS_OK;
	}
	if (c.gap_is_bad)
		problem(r, "%.*s, generation %" PRId64 ": something stands where it was purged",
			STR_ARG(col_bytes(g, 7)), number);
	if (c.purged_at >= 0)
		problem(r,
			"%.*s, generation %" PRId64 ": the line at byte %" PRId64 " was purged, and is there",
			STR_ARG(col_bytes(g, 7)), number, c.purged_at);
	if (status != STATUS_OK || generation_lines(s, row, &stored, &counted, err))
		return err_failed(err->status);
	if (newest && counted && !line_count_eq(&stored, &c.lines))
		problem(r, "%.*s: counted %" PRId64 " lines, the store says %" PRId64, STR_ARG(col_bytes(g, 7)),
			c.lines.lines, stored.lines);
	return STATUS_OK;
}

static enum status check_archive(struct store *s, struct check_report *r, struct err *err)
{
	STMT generations = { 0 };
	STMT orphans = { 0 };
	STMT newest = { 0 };
	struct purge_state state;
	struct line_salt salt;
	bool purged;
	enum step step;

	/* While a purge is being done, some of it is still to be done. */
	if (tombstone_any_line(s, &purged, err) || purge_state_get(s, &state, err) ||
	    tombstone_salt(s, &salt, err) || use(s, CHECK_GENERATIONS, &generations, err))
		return err_failed(err->status);
	purged &= state.left != PURGE_BYTES;
	while ((step = stmt_step(&generations, err)) == STEP_ROW)
		if (check_generation(s, &generations, purged ? &salt : NULL, r, err))
			return err_failed(err->status);
	if (step == STEP_FAILED || use(s, CHECK_ORPHANS, &orphans, err))
		return err_failed(err->status);
	while ((step = stmt_step(&orphans, err)) == STEP_ROW)
		problem(r, "block data %" PRId64 " belongs to no block", col_int(&orphans, 0));
	if (step == STEP_FAILED || use(s, CHECK_NEWEST, &newest, err))
		return err_failed(err->status);
	while ((step = stmt_step(&newest, err)) == STEP_ROW)
		problem(r, "%.*s: does not name its newest generation", STR_ARG(col_bytes(&newest, 0)));
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status count_rows(struct store *s, struct check_report *r, struct err *err)
{
	STMT st = { 0 };

	if (use(s, CHECK_COUNTS, &st, err))
		return err_failed(err->status);
	if (stmt_row(&st, "the counts", err))
		return err_failed(err->status);
	r->sources = col_int(&st, 0);
	r->generations = col_int(&st, 1);
	r->blocks = col_int(&st, 2);
	r->packed_bytes = col_int(&st, 3);
	return STATUS_OK;
}

/* In a folder that others may write to, they may put another store in its place. */
static void check_folder(struct store *s, struct check_report *r)
{
	const char *slash = strrchr(s->path, '/');
	char folder[LIMIT_PATH];
	struct stat st;

	snprintf(folder, sizeof folder, "%.*s/", slash ? (int)(slash - s->path) : 0, s->path);
	if (stat(folder, &st) == 0 && (st.st_mode & 022) && !(st.st_mode & S_ISVTX))
		problem(r, "%s: others may write to it (mode %03o); chmod 700 it", folder, (unsigned)st.st_mode & 0777);
}

static void check_permissions(struct store *s, struct check_report *r)
{
	char path[LIMIT_PATH + 16];
	struct stat st;

	for (const char *const *suffix = store_file_suffixes; *suffix; suffix++) {
		snprintf(path, sizeof path, "%s%s", s->path, *suffix);
		if (stat(path, &st) == 0 && (st.st_mode & 077))
			problem(r, "%s: others may read it (mode %03o); chmod 600 it", path,
				(unsigned)st.st_mode & 0777);
	}
}

/* SQLite asks this now and then during a long statement. */
static int is_cancelled(void *ctx)
{
	const struct store *s = ctx;

	return s->cancel && atomic_load(s->cancel);
}

enum status check_run(struct store *s, struct check_report *r, struct err *err)
{
	enum { STEPS = 100000 };
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	enum status status = STATUS_OK;

	check_folder(s, r);
	check_permissions(s, r);
	sqlite3_progress_handler(s->db, STEPS, is_cancelled, s);
	if (read_begin(s, &snapshot, err) || check_database(s, r, err) || count_rows(s, r, err) ||
	    check_archive(s, r, err) || check_trees(s, r, err))
		status = err_failed(err->status);
	sqlite3_progress_handler(s->db, 0, NULL, NULL);
	return status;
}
