/*
 * Listing sources, and finding the one somebody means.
 *
 * A name is tried in several ways, most exact first; the first way that finds
 * anything decides, and if it finds several, they are listed and the choice is
 * left to the caller. So a path that exists can never be hidden by an id that
 * happens to begin like it.
 */
#include "store/find.h"

#include "base/term.h"
#include "store/db.h"

#include <string.h>

#define IS_PURGED \
	"EXISTS (SELECT 1 FROM tombstone t WHERE t.kind = 'source' AND t.host = h.label AND t.root = " \
	"r.label" \
	" AND t.path = s.path)"
#define INFO \
	"SELECT s.id, s.source_id, h.label, r.label, s.key, s.path, coalesce(s.generation, 0)," \
	" coalesce(g.number, 0), coalesce(g.length, 0), coalesce(c.lines, 0), coalesce(c.tail, 0)," \
	" coalesce(c.longest, 0), s.first_at, coalesce(s.vanished_at, 0), s.size IS NOT NULL," \
	" " IS_PURGED " FROM source s JOIN root r ON r.id = s.root JOIN host h ON h.id = r.host" \
	" LEFT JOIN generation g ON g.id = s.generation LEFT JOIN line_count c ON c.generation = g.id "

enum {
	FIND_ALL,
	FIND_BELOW,
	FIND_ROOTS,
	FIND_BY_ID,
	FIND_BY_PATH,
	FIND_BY_ROOT_PATH,
	FIND_BY_ABSOLUTE,
	FIND_BY_SESSION,
	FIND_BY_GLOB,
	FIND_BY_FORMER,
	FIND_OTHER,
	FIND_STATEMENTS
};

static const char *const sql[FIND_STATEMENTS] = {
	[FIND_ALL] = INFO "ORDER BY h.label, r.label, s.key",
	/* Roots are named so that the index over (root, path) is used. */
	[FIND_BELOW] = INFO "WHERE s.root IN (SELECT id FROM root) AND s.path >= ?1 AND s.path < ?2"
			    " AND NOT " IS_PURGED " ORDER BY s.path, h.label, r.label",
	[FIND_ROOTS] = "SELECT r.label, r.dir FROM root r JOIN host h ON h.id = r.host JOIN store_setting t"
		       " ON t.key = 'host_label' AND t.value = h.label ORDER BY r.id",
	[FIND_BY_ID] = INFO "WHERE s.source_id BETWEEN ?1 AND ?2 ORDER BY s.source_id",
	[FIND_BY_PATH] = INFO "WHERE s.root IN (SELECT id FROM root) AND s.path = ?1",
	[FIND_BY_ROOT_PATH] = INFO "WHERE r.label = ?1 AND s.path = ?2",
	[FIND_BY_ABSOLUTE] = INFO "WHERE r.dir || '/' || s.path = ?1",
	/* '*' matches '/' too: only what lies directly in a project's folder. */
	[FIND_BY_SESSION] = INFO "WHERE s.path GLOB ?1 AND s.path NOT GLOB 'projects/*/*/*'",
	[FIND_BY_GLOB] = INFO "WHERE s.path GLOB ?1",
	[FIND_OTHER] = "SELECT EXISTS (SELECT 1 FROM source WHERE source_id BETWEEN ?1 AND ?2 AND source_id <> ?3)",
	[FIND_BY_FORMER] = INFO "JOIN source_path f ON f.source = s.id WHERE f.path = ?1",
};

const struct db_set find_statements = { DB_FIND, sql, FIND_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &find_statements, index, st, err);
}

static void read_info(const struct stmt *st, struct source_info *out)
{
	struct str id = col_bytes(st, 1);

	*out = (struct source_info){
		.row = col_int(st, 0),
		.host = col_bytes(st, 2),
		.root = col_bytes(st, 3),
		.key = col_bytes(st, 4),
		.path = col_bytes(st, 5),
		.generation = col_int(st, 6),
		.generations = col_int(st, 7),
		.bytes = col_int(st, 8),
		.lines = { col_int(st, 9), col_int(st, 10), col_int(st, 11) },
		.first_at = col_int(st, 12),
		.vanished_at = col_int(st, 13),
		.complete = col_int(st, 14) != 0,
		.purged = col_int(st, 15) != 0,
	};
	if (id.n == UUID_BYTES)
		memcpy(out->id.b, id.p, UUID_BYTES);
}

static enum status each(struct stmt *st, source_fn *fn, void *ctx, struct err *err)
{
	struct source_info info;
	enum step step;

	while ((step = stmt_step(st, err)) == STEP_ROW) {
		read_info(st, &info);
		if (fn(ctx, &info, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status source_each(struct store *s, source_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(s, FIND_ALL, &st, err))
		return err_failed(err->status);
	return each(&st, fn, ctx, err);
}

enum status source_each_below(struct store *s, struct str prefix, source_fn *fn, void *ctx, struct err *err)
{
	struct buf end CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH + 1);
	STMT st = { 0 };

	/* The first text behind all that begin so: its last byte is one higher. */
	buf_str(&end, prefix);
	if (end.n)
		end.p[end.n - 1]++;
	if (use(s, FIND_BELOW, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, prefix);
	stmt_text(&st, 2, buf_as_str(&end));
	return each(&st, fn, ctx, err);
}

enum status root_each(struct store *s, root_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, FIND_ROOTS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		if (fn(ctx, col_bytes(&st, 0), col_bytes(&st, 1), err))
			return err_failed(err->status);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* Collects what a look-up found: the first one, and the names of all. */
struct found {
	struct arena *mem;
	struct source_info first;
	int count;
	struct buf names;
};

static void found_release(struct found *f)
{
	buf_release(&f->names);
}

static enum status collect(void *ctx, const struct source_info *info, struct err *err)
{
	enum { LISTED = 5 };
	struct found *f = ctx;
	char id[UUID_TEXT + 1];

	(void)err;
	if (f->count == 0) {
		f->first = *info;
		f->first.host = arena_str(f->mem, info->host);
		f->first.root = arena_str(f->mem, info->root);
		f->first.key = arena_str(f->mem, info->key);
		f->first.path = arena_str(f->mem, info->path);
	}
	if (f->count++ < LISTED) {
		uuid_print(&info->id, id);
		buf_printf(&f->names, "\n  %s  %.*s:", id, STR_ARG(info->root));
		term_filter(&f->names, info->path, TERM_LINE);
	}
	return STATUS_OK;
}

static enum status find_by(struct store *s, int which, struct str a, struct str b, struct found *f, struct err *err)
{
	STMT st = { 0 };

	if (use(s, which, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, a);
	if (b.p)
		stmt_text(&st, 2, b);
	return each(&st, collect, f, err);
}

enum status source_search(struct store *s, struct str prefix, source_fn *fn, void *ctx, struct err *err)
{
	struct uuid low, high;
	STMT st = { 0 };

	if (!uuid_range(prefix, &low, &high))
		return STATUS_OK;
	if (use(s, FIND_BY_ID, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &low);
	stmt_uuid(&st, 2, &high);
	return each(&st, fn, ctx, err);
}

static enum status find_by_id(struct store *s, struct str name, struct found *f, struct err *err)
{
	return source_search(s, name, collect, f, err);
}

enum status source_get(struct store *s, const struct uuid *id, struct arena *mem, struct source_info *out,
		       struct err *err)
{
	struct found f CLEANUP(found_release) = { .mem = mem, .names = BUF_INIT(LIMIT_ERR_TEXT) };
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	if (find_by_id(s, str_of(text), &f, err))
		return err_failed(err->status);
	if (!f.count)
		return err_fail(err, STATUS_NOT_FOUND, "no source has the id %s", text);
	*out = f.first;
	return STATUS_OK;
}

/* A session id or its beginning; files have it in lower case, however it was typed. */
static enum status find_by_session(struct store *s, struct str name, struct found *f, struct err *err)
{
	struct uuid low, high;
	char lower[UUID_TEXT + 1] = { 0 };

	if (name.n > UUID_TEXT || !uuid_range(name, &low, &high))
		return STATUS_OK;
	for (size_t i = 0; i < name.n; i++)
		lower[i] = name.p[i] >= 'A' && name.p[i] <= 'F' ? (char)(name.p[i] + 32) : name.p[i];
	return find_by(s, FIND_BY_SESSION, arena_printf(f->mem, "projects/*/%s*.jsonl", lower),
		       (struct str){ 0 }, f, err);
}

/* A file's name without its folders. */
static enum status find_by_name(struct store *s, struct str name, struct found *f, struct err *err)
{
	for (const char *special = "*?[/"; *special; special++)
		if (str_has_byte(name, *special))
			return STATUS_OK;
	return find_by(s, FIND_BY_GLOB, arena_printf(f->mem, "*/%.*s", STR_ARG(name)), (struct str){ 0 }, f, err);
}

/* The ways a name can be meant, most exact first; the first that finds anything
 * decides. */
static enum status try_all(struct store *s, struct str name, struct found *f, struct err *err)
{
	struct str none = { 0 }, path;
	struct str label = str_cut(name, ':', &path);

	if (name.n && name.p[0] == '/') {
		if (find_by(s, FIND_BY_ABSOLUTE, name, none, f, err))
			return err_failed(err->status);
		return STATUS_OK;
	}
	if (find_by(s, FIND_BY_PATH, name, none, f, err))
		return err_failed(err->status);
	if (!f->count && path.p && find_by(s, FIND_BY_ROOT_PATH, label, path, f, err))
		return err_failed(err->status);
	/* Nobody can tell the beginning of one kind of id from that of the other. */
	if (!f->count && (find_by_id(s, name, f, err) || find_by_session(s, name, f, err)))
		return err_failed(err->status);
	if (!f->count) {
		if (find_by(s, FIND_BY_FORMER, name, none, f, err))
			return err_failed(err->status);
		f->first.former = f->count > 0;
	}
	if (!f->count && find_by_name(s, name, f, err))
		return err_failed(err->status);
	return STATUS_OK;
}

enum status source_find(struct store *s, struct str name, struct arena *mem, struct source_info *out, struct err *err)
{
	struct found f CLEANUP(found_release) = { .mem = mem, .names = BUF_INIT(LIMIT_ERR_TEXT) };
	enum status status = try_all(s, name, &f, err);

	if (status != STATUS_OK)
		return status;
	if (f.count == 0)
		return err_fail(err, STATUS_NOT_FOUND, "nothing is archived as '%.*s'; 'arbor sources' lists what is",
				(int)size_min(name.n, 200), name.p);
	if (f.count > 1)
		return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be %d files; use an id or ROOT:PATH:%s",
				(int)size_min(name.n, 100), name.p, f.count, f.names.p);
	*out = f.first;
	return STATUS_OK;
}

enum status source_begins(struct store *s, struct str prefix, const struct uuid *but, bool *out, struct err *err)
{
	struct uuid low, high;
	STMT st = { 0 };

	*out = false;
	if (!uuid_range(prefix, &low, &high))
		return STATUS_OK;
	if (use(s, FIND_OTHER, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &low);
	stmt_uuid(&st, 2, &high);
	stmt_uuid(&st, 3, but);
	if (stmt_row(&st, "whether an id is taken", err))
		return err_failed(err->status);
	*out = col_int(&st, 0) != 0;
	return STATUS_OK;
}
