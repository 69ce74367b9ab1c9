/*
 * Watching: a watch in a thread of its own, changes made here, and the store asked
 * until it has them. Nothing is timed; what does not come within a minute has failed.
 */
#include "base/clock.h"
#include "ingest/watch.h"
#include "t.h"
#include "tree.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

enum { PATIENCE_S = 60 };

struct world {
	const char *dir; /* private */
	char tree[LIMIT_PATH];
	struct store *s; /* ours, to look */
	atomic_bool cancel;
	pthread_t thread;
	bool runs;
	int64_t poll_ms;
	/* What the watch says. */
	atomic_int synced, failed;
	enum status status, answer;
	struct err err;
};

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	struct world *w = ctx;

	(void)path;
	(void)why;
	if (what == SYNC_FAILED)
		atomic_fetch_add(&w->failed, 1);
}

static enum status on_synced(void *ctx, const struct sync_report *r, bool first, struct err *err)
{
	struct world *w = ctx;

	(void)r;
	atomic_fetch_add(&w->synced, 1);
	if (!first && w->answer != STATUS_OK)
		return err_set(err, w->answer, "enough");
	return STATUS_OK;
}

static void *watch(void *ctx)
{
	struct world *w = ctx;
	struct store *s CLEANUP(store_closep) = NULL;
	struct watch_options o = {
		.sync = { .dir = w->tree, .cancel = &w->cancel, .event = on_event, .ctx = w },
		.poll_ms = w->poll_ms,
		.synced = on_synced,
	};

	w->status = tree_store(w->dir, "a", NULL, &w->cancel, &s, &w->err);
	if (w->status == STATUS_OK)
		w->status = watch_run(s, &o, &w->err);
	return NULL;
}

static void stop(struct world *w)
{
	if (!w->runs)
		return;
	atomic_store(&w->cancel, true);
	pthread_join(w->thread, NULL);
	w->runs = false;
}

static void world_release(struct world *w)
{
	stop(w);
	store_close(w->s);
}

#define WORLD struct world w CLEANUP(world_release) = { 0 }

static bool waited(struct world *w, bool (*is_so)(struct world *w, const char *what), const char *what)
{
	int64_t end = clock_monotonic_ns() + (int64_t)PATIENCE_S * 1000000000;

	while (!is_so(w, what)) {
		if (clock_monotonic_ns() > end)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	}
	return true;
}

static bool has_synced(struct world *w, const char *what)
{
	(void)what;
	return atomic_load(&w->synced) > 0;
}

static bool is_there(struct world *w, const char *sql)
{
	return tree_ask(w->s, sql) == 1;
}

/* Every read of the newest bytes: "p/a.jsonl 12" = so many bytes at this path. */
static bool has_bytes(struct world *w, const char *what)
{
	char sql[LIMIT_PATH];
	struct str rest, path = str_cut(str_of(what), ' ', &rest);

	snprintf(sql, sizeof sql,
		 "SELECT count(*) FROM source s JOIN generation g ON g.id = s.generation"
		 " WHERE s.path = 'projects/%.*s' AND g.length = %.*s AND s.vanished_at IS NULL",
		 STR_ARG(path), STR_ARG(rest));
	return is_there(w, sql);
}

static bool start(struct world *w, struct t *t, int64_t poll_ms)
{
	char path[LIMIT_PATH];
	struct err err;

	w->dir = t_tmpdir(t);
	snprintf(w->tree, sizeof w->tree, "%.2000s/claude", w->dir);
	snprintf(path, sizeof path, "%.2000s/projects/p", w->tree);
	w->poll_ms = poll_ms;
	if (file_make_dirs(path, &err) || tree_store(w->dir, "a", NULL, NULL, &w->s, &err) ||
	    pthread_create(&w->thread, NULL, watch, w))
		return false;
	w->runs = true;
	return waited(w, has_synced, "");
}

static void name(const struct world *w, const char *below, char out[LIMIT_PATH])
{
	snprintf(out, LIMIT_PATH, "%.2000s/projects/%.1000s", w->tree, below);
}

static bool append(struct world *w, const char *below, const char *text)
{
	char path[LIMIT_PATH];
	struct err err;
	int fd;
	bool good;

	name(w, below, path);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	good = fd >= 0 && file_write_all(fd, str_of(text), &err) == STATUS_OK;
	file_close(&fd);
	return good;
}

static bool make_dir(struct world *w, const char *below)
{
	char path[LIMIT_PATH];

	name(w, below, path);
	return mkdir(path, 0700) == 0;
}

static bool move(struct world *w, const char *from, const char *to)
{
	char a[LIMIT_PATH], b[LIMIT_PATH];

	name(w, from, a);
	name(w, to, b);
	return rename(a, b) == 0;
}

static bool erase(struct world *w, const char *below)
{
	char path[LIMIT_PATH];

	name(w, below, path);
	return remove(path) == 0;
}

static void live(struct t *t, struct world *w)
{
	NEED(append(w, "p/a.jsonl", "{}\n"));
	CHECK(waited(w, has_bytes, "p/a.jsonl 3"));
	NEED(append(w, "p/a.jsonl", "{}\n"));
	CHECK(waited(w, has_bytes, "p/a.jsonl 6"));
	/* A folder with something in it already when it is heard of. */
	NEED(make_dir(w, "q") && make_dir(w, "q/s") && make_dir(w, "q/s/subagents") &&
	     append(w, "q/s/subagents/agent-1.jsonl", "{}\n"));
	CHECK(waited(w, has_bytes, "q/s/subagents/agent-1.jsonl 3"));
	NEED(append(w, "q/s/subagents/agent-1.jsonl", "{}\n"));
	CHECK(waited(w, has_bytes, "q/s/subagents/agent-1.jsonl 6"));
	/* Renamed, as a file and with its folder. */
	NEED(move(w, "p/a.jsonl", "q/b.jsonl"));
	CHECK(waited(w, has_bytes, "q/b.jsonl 6"));
	NEED(move(w, "q", "r"));
	CHECK(waited(w, has_bytes, "r/b.jsonl 6"));
	CHECK(waited(w, has_bytes, "r/s/subagents/agent-1.jsonl 6"));
	NEED(append(w, "r/s/subagents/agent-1.jsonl", "{}\n"));
	CHECK(waited(w, has_bytes, "r/s/subagents/agent-1.jsonl 9"));
	EQ(tree_ask(w->s, "SELECT count(*) FROM source"), 2);
	/* Gone, and back. */
	NEED(erase(w, "r/b.jsonl"));
	CHECK(waited(
		w, is_there,
		"SELECT count(*) FROM source WHERE path = 'projects/r/b.jsonl' AND vanished_at IS NOT NULL"));
	NEED(append(w, "r/b.jsonl", "{\"back\":1}\n"));
	CHECK(waited(w, has_bytes, "r/b.jsonl 11"));
	NEED(erase(w, "r/s/subagents/agent-1.jsonl") && erase(w, "r/s/subagents"));
	CHECK(waited(w, is_there, "SELECT count(*) FROM source WHERE vanished_at IS NOT NULL"));
	stop(w);
	EQ(w->status, STATUS_CANCELLED);
	EQ(atomic_load(&w->failed), 0);
}

TEST(a_watch_follows_files_and_folders_through_their_lives)
{
	WORLD;

	NEED(start(&w, t, 0));
	live(t, &w);
}

TEST(so_does_one_that_only_polls)
{
	WORLD;

	NEED(start(&w, t, 20));
	live(t, &w);
}

/* The next sync need not read it again. */
TEST(a_file_that_is_quiet_is_trusted_a_little_later)
{
	WORLD;

	NEED(start(&w, t, 0));
	NEED(append(&w, "p/a.jsonl", "{}\n"));
	CHECK(waited(
		&w, is_there,
		"SELECT count(*) FROM source WHERE path = 'projects/p/a.jsonl' AND ctime_ns IS NOT NULL"));
}

TEST(a_burst_of_more_files_than_are_synced_one_by_one_comes_in_whole)
{
	WORLD;
	char below[64];

	NEED(start(&w, t, 0));
	for (int i = 0; i < 1200; i++) {
		snprintf(below, sizeof below, "p/%04d.jsonl", i);
		NEED(append(&w, below, "{}\n"));
	}
	CHECK(waited(&w, is_there, "SELECT count(*) = 1200 FROM source WHERE generation IS NOT NULL"));
}

TEST(whoever_listens_can_end_it)
{
	WORLD;

	w.answer = STATUS_FULL;
	NEED(start(&w, t, 0));
	NEED(append(&w, "p/a.jsonl", "{}\n"));
	pthread_join(w.thread, NULL);
	w.runs = false;
	EQ(w.status, STATUS_FULL);
	EQS(str_of(w.err.text), STR("enough"));
}

TEST(a_root_that_goes_and_comes_back_is_followed_again)
{
	WORLD;
	char away[LIMIT_PATH];

	NEED(start(&w, t, 0));
	NEED(append(&w, "p/a.jsonl", "{}\n"));
	CHECK(waited(&w, has_bytes, "p/a.jsonl 3"));
	snprintf(away, sizeof away, "%.2000s-away", w.tree);
	NEED(rename(w.tree, away) == 0);
	nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	NEED(rename(away, w.tree) == 0);
	NEED(append(&w, "p/a.jsonl", "{}\n"));
	CHECK(waited(&w, has_bytes, "p/a.jsonl 6"));
	NEED(append(&w, "p/a.jsonl", "{}\n"));
	CHECK(waited(&w, has_bytes, "p/a.jsonl 9"));
}

TEST(a_folder_that_is_not_there_at_first_is_said_so)
{
	WORLD;
	struct watch_options o = { .sync = { .dir = "/no/such/folder" } };
	struct err err;

	OK(tree_store(t_tmpdir(t), "a", NULL, NULL, &w.s, &err));
	EQ(watch_run(w.s, &o, &err), STATUS_NOT_FOUND);
}

TESTS(CASE(a_watch_follows_files_and_folders_through_their_lives), CASE(so_does_one_that_only_polls),
      CASE(a_file_that_is_quiet_is_trusted_a_little_later),
      CASE(a_burst_of_more_files_than_are_synced_one_by_one_comes_in_whole), CASE(whoever_listens_can_end_it),
      CASE(a_root_that_goes_and_comes_back_is_followed_again),
      CASE(a_folder_that_is_not_there_at_first_is_said_so))
