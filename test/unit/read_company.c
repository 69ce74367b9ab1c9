/*
 * Reading while another program comes in between.
 *
 * A file that was rewritten twice is read by one program, the visited one. After one of its
 * commits another does something, as if the first had been stopped there for long; either
 * may be killed. Every commit has its turn, in a sample another few each time. In the end everything must be
 * as if it had been read at once, which is what a rebuild does.
 */
#include "derived.h"
#include "ingest/read.h"
#include "store/mirror.h"
#include "t.h"
#include "tree.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 3 }; /* some of them */
#else
enum { STEP = 1 };
#endif

enum { VERSIONS = 3, VERSION_LINES = 2060 }; /* a part and a bit of another */

struct visit;
typedef enum status visit_fn(struct visit *v, struct err *err);

struct visit {
	const char *dir;
	struct buf *want; /* what a rebuild gives; empty = nobody knows yet */
	struct store *other;
	visit_fn *what;
	int after;	 /* which commit of the visited one */
	int commits;	 /* so far */
	int others_last; /* commit of the other's, after which it is killed; 0 = it is not */
	int others;	 /* commits */
	bool ends;	 /* the visited one is killed, too */
	atomic_bool ended, other_ended;
	enum status status;
	struct err err;
};

/* ---- What the other does ------------------------------------------------------------- */

/* The versions begin with the same lines and go on with their own. */
static bool put_version(const char *dir, int version)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(MIB);

	for (int i = 0; i < VERSION_LINES; i++)
		buf_printf(&file,
			   "{\"type\":\"user\",\"uuid\":\"%08x-0000-4000-8000-%012x\",\"message\":"
			   "{\"role\":\"user\",\"content\":\"line %d\"}}\n",
			   i, i < 50 ? 0 : version, i);
	return tree_write(dir, "tree", 1, buf_as_str(&file), O_TRUNC);
}

static int count_commit(void *ctx, sqlite3 *db, const char *name, int pages)
{
	struct visit *v = ctx;

	(void)db;
	(void)name;
	(void)pages;
	if (++v->others == v->others_last)
		atomic_store(&v->other_ended, true);
	return SQLITE_OK;
}

static void act(struct visit *v)
{
	v->status = v->what(v, &v->err);
	if (v->status == STATUS_CANCELLED && v->others_last)
		v->status = STATUS_OK;
}

static int come_in(void *ctx, sqlite3 *db, const char *name, int pages)
{
	struct visit *v = ctx;

	(void)db;
	(void)name;
	(void)pages;
	if (++v->commits == v->after) {
		act(v);
		atomic_store(&v->ended, v->ends);
	}
	return SQLITE_OK;
}

static enum status visit_and_do_nothing(struct visit *v, struct err *err)
{
	(void)v;
	(void)err;
	return STATUS_OK;
}

static enum status visit_and_read(struct visit *v, struct err *err)
{
	return read_unread(v->other, NULL, err);
}

static enum status visit_and_rebuild(struct visit *v, struct err *err)
{
	return rebuild_all(v->other, NULL, err);
}

static enum status visit_and_rewrite(struct visit *v, struct err *err)
{
	if (!put_version(v->dir, VERSIONS + 1))
		return err_fail(err, STATUS_IO, "writing a version");
	return tree_sync(v->dir, "tree", v->other, &v->other_ended, err);
}

static enum status visit_and_rename(struct visit *v, struct err *err)
{
	char from[LIMIT_PATH], to[LIMIT_PATH];

	if (rename(tree_path(v->dir, "tree", 1, from), tree_path(v->dir, "tree", 2, to)))
		return err_fail(err, STATUS_IO, "renaming");
	return tree_sync(v->dir, "tree", v->other, &v->other_ended, err);
}

/* ---- One of them --------------------------------------------------------------------- */

/* A store with all versions, of which nothing is read. */
static void make_versions(struct t *t, const char *dir)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct err err;

	OK(tree_store(dir, "unread", NULL, NULL, &s, &err));
	for (int i = 1; i <= VERSIONS; i++) {
		NEED(put_version(dir, i));
		OK(tree_sync(dir, "tree", s, NULL, &err));
	}
	EQ(tree_ask(s, "SELECT count(*) FROM generation"), VERSIONS);
	OK(txn_begin(s, &txn, &err));
	OK(store_derived_reset(s, &err));
	OK(unread_add_all(s, &err));
	OK(store_derived_made(s, &err));
	OK(txn_commit(&txn, &err));
}

static enum status copy_store(const char *dir, const char *name, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;
	char sql[LIMIT_PATH];

	snprintf(sql, sizeof sql, "VACUUM INTO '%s/%s.db'", dir, name);
	return tree_store(dir, "unread", NULL, NULL, &s, err) ? err_failed(err->status)
							      : db_exec(s, sql, err);
}

/* What the newest versions have, and which lines of others were withdrawn. */
static enum status describe(struct store *s, struct buf *out, struct err *err)
{
	buf_init(out, 64 * MIB);
	if (derived_describe(s, out, err))
		return err_failed(err->status);
	buf_printf(out, "withdrawn: %" PRId64 "\n",
		   tree_ask(s, "SELECT sum((e.offset + 1) * m.generation) FROM entry e"
			       " JOIN mirror_session m ON m.id = e.session WHERE m.old"));
	return STATUS_OK;
}

/* The bytes are the same each time, so the first says what all have to be. */
static void check_as_rebuilt(struct t *t, struct store *s, struct buf *want, const char *name)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(1);
	struct err err;
	size_t at = 0;

	EQ(tree_ask(s, "SELECT count(*) FROM unread"), 0);
	OK(describe(s, &got, &err));
	if (!want->n) {
		OK(rebuild_all(s, NULL, &err));
		OK(describe(s, want, &err));
		CHECK(!strstr(want->p, "\n!"));
	}
	while (at < got.n && at < want->n && got.p[at] == want->p[at])
		at++;
	if (got.n != want->n || at < got.n)
		t_fail(t, __FILE__, __LINE__, "%s: has at byte %zu '%.200s', wanted '%.200s'", name, at,
		       got.p + at, want->p + at);
}

/* Calls `fn` after each commit. A connection's first transaction sets a hook of SQLite's own,
 * so there has to be one before. */
static enum status watch_commits(struct store *s, int (*fn)(void *, sqlite3 *, const char *, int),
				 struct visit *v, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	sqlite3_wal_hook(s->db, fn, v);
	return STATUS_OK;
}

static void run_visit(struct t *t, struct visit *v, const char *name)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct store *other CLEANUP(store_closep) = NULL;
	struct read_options o = { .cancel = &v->ended };
	enum status status;
	struct err err;

	OK(copy_store(v->dir, name, &err));
	OK(tree_store(v->dir, name, NULL, NULL, &s, &err));
	OK(tree_store(v->dir, name, NULL, &v->other_ended, &other, &err));
	v->other = other;
	OK(watch_commits(s, come_in, v, &err));
	OK(watch_commits(other, count_commit, v, &err));
	status = read_unread(s, &o, &err);
	sqlite3_wal_hook(s->db, NULL, NULL);
	if (v->commits < v->after)
		act(v);
	CHECK(status == STATUS_OK || (status == STATUS_CANCELLED && v->ends));
	if (v->status != STATUS_OK)
		t_fail(t, __FILE__, __LINE__, "%s: the other: %s", name, v->err.text);
	OK(tree_sync(v->dir, "tree", s, NULL, &err));
	check_as_rebuilt(t, s, v->want, name);
}

/* ---- All of them ---------------------------------------------------------------------- */

/* After each commit of the visited one. */
static void visit_each(struct t *t, struct visit like)
{
	struct visit v = like;
	char name[64], one[LIMIT_PATH], two[LIMIT_PATH];
	int step = t_is_full() ? STEP : 5; /* there are six or seven */
	int first = 1 + ((int)t_seed() + like.others_last + like.ends) % step;

	for (int after = first; v.commits >= v.after && !t->failures; after += step) {
		v = like;
		v.after = after;
		snprintf(name, sizeof name, "after-%d-%d-%d", after, v.others_last, v.ends);
		(void)rename(tree_path(v.dir, "tree", 2, two), tree_path(v.dir, "tree", 1, one));
		CHECK(put_version(v.dir, VERSIONS));
		run_visit(t, &v, name);
	}
	CHECK(v.commits >= VERSIONS);
}

static void check_visits(struct t *t, visit_fn *what, int others_last)
{
	struct buf want CLEANUP(buf_release) = BUF_INIT(1);
	struct visit like = { .dir = t_tmpdir(t), .want = &want, .what = what };

	make_versions(t, like.dir);
	for (; like.others_last <= others_last; like.others_last += like.others_last + 1)
		visit_each(t, like);
	like.others_last = 0;
	like.ends = true;
	visit_each(t, like);
}

TEST(whoever_is_killed_while_reading_is_completed_by_the_next)
{
	check_visits(t, visit_and_do_nothing, 0);
}

TEST(another_may_read_the_same_at_any_moment)
{
	check_visits(t, visit_and_read, 3);
}

TEST(another_may_bring_in_a_newer_version_at_any_moment)
{
	check_visits(t, visit_and_rewrite, 3);
}

TEST(another_may_make_all_anew_at_any_moment)
{
	check_visits(t, visit_and_rebuild, 3);
}

TEST(another_may_find_the_file_renamed_at_any_moment)
{
	check_visits(t, visit_and_rename, 3);
}

TESTS(CASE(whoever_is_killed_while_reading_is_completed_by_the_next),
      CASE(another_may_read_the_same_at_any_moment), CASE(another_may_bring_in_a_newer_version_at_any_moment),
      CASE(another_may_make_all_anew_at_any_moment), CASE(another_may_find_the_file_renamed_at_any_moment))
