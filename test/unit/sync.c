/*
 * Whole syncs in this process: every way a file can change, against what is
 * then in the store. All trees and stores are in a private folder.
 */
#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "store/archive.h"
#include "store/check.h"
#include "store/db.h"
#include "store/find.h"
#include "t.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534 };

/* A tree, a store, and what the last sync said. */
struct world {
	char dir[LIMIT_PATH];    /* the private folder */
	char tree[LIMIT_PATH];   /* the folder that is synced */
	char store[LIMIT_PATH];
	struct store *s;
	struct arena mem;
	struct sync_report report;
	enum status status;
	struct buf events;       /* "event path\n" */
	atomic_bool cancel;
	int cancel_after;        /* events; 0 = never */
	void (*at_first)(struct world *w); /* done when the first event is told */
	bool force;
	const char *only;        /* paths, a line each; NULL = everything */
};

static void world_release(struct world *w)
{
	store_close(w->s);
	arena_release(&w->mem);
	buf_release(&w->events);
}

#define WORLD struct world CLEANUP(world_release)

static void path_in(char out[LIMIT_PATH], const char *dir, const char *name)
{
	snprintf(out, LIMIT_PATH, "%.2000s/%.2000s", dir, name);
}

static enum status open_store(const char *path, struct store **s, struct err *err)
{
	struct store_options o = { .path = path, .create = true };
	bool done;

	return store_open(&o, s, err) ? err_failed(err->status) : rebuild_if_stale(*s, NULL, &done, err);
}

static enum status world_init(struct world *w, const char *dir, struct err *err)
{
	char folder[LIMIT_PATH];

	snprintf(w->dir, sizeof w->dir, "%s", dir);
	path_in(w->tree, dir, "claude");
	path_in(w->store, dir, "store/a.db");
	path_in(folder, w->tree, "projects/p");
	buf_init(&w->events, MIB);
	if (file_make_dirs(folder, err))
		return err_failed(err->status);
	path_in(folder, w->tree, "tasks/s");
	return file_make_dirs(folder, err) ? err_failed(err->status) : open_store(w->store, &w->s, err);
}

/* Changes a file in place: its inode stays. */
static bool write_file(struct world *w, const char *name, struct str bytes, int flags)
{
	char path[LIMIT_PATH];
	struct err err;
	bool written;
	int fd;

	path_in(path, w->tree, name);
	fd = open(path, O_WRONLY | O_CREAT | flags, 0644);
	if (fd < 0)
		return false;
	written = file_write_all(fd, bytes, &err) == STATUS_OK;
	return close(fd) == 0 && written;
}

static bool put(struct world *w, const char *name, struct str bytes)
{
	return write_file(w, name, bytes, O_TRUNC);
}

static bool add(struct world *w, const char *name, struct str bytes)
{
	return write_file(w, name, bytes, O_APPEND);
}

/* As editors and the client's JSON files do it: a new inode under the old name. */
static bool replace(struct world *w, const char *name, struct str bytes)
{
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, w->tree, name);
	return file_write_atomic(path, bytes, 0644, &err) == STATUS_OK;
}

static bool move(struct world *w, const char *from, const char *to)
{
	char a[LIMIT_PATH], b[LIMIT_PATH];

	path_in(a, w->tree, from);
	path_in(b, w->tree, to);
	return rename(a, b) == 0;
}

static bool erase(struct world *w, const char *name)
{
	char path[LIMIT_PATH];

	path_in(path, w->tree, name);
	return unlink(path) == 0;
}

static bool make_dir(struct world *w, const char *name)
{
	char path[LIMIT_PATH];

	path_in(path, w->tree, name);
	return mkdir(path, 0755) == 0;
}

static const char *const event_names[SYNC_EVENTS] = {
	[SYNC_ADDED] = "added", [SYNC_GREW] = "grew", [SYNC_REWRITTEN] = "rewritten", [SYNC_RENAMED] = "renamed",
	[SYNC_VANISHED] = "vanished", [SYNC_SKIPPED] = "skipped", [SYNC_HIDDEN] = "hidden",
	[SYNC_REPAIRED] = "repaired", [SYNC_FAILED] = "failed",
};

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	struct world *w = ctx;

	(void)why;
	if (w->at_first) {
		void (*now)(struct world *w) = w->at_first;

		w->at_first = NULL;
		now(w);
	}
	buf_printf(&w->events, "%s %.*s\n", event_names[what], STR_ARG(path));
	if (w->cancel_after && --w->cancel_after == 0)
		atomic_store(&w->cancel, true);
}

static void sync_world(struct world *w, struct err *err)
{
	struct str paths[16], left = str_of(w->only);
	struct sync_options o = {
		.dir = w->tree, .event = on_event, .ctx = w, .cancel = &w->cancel, .force = w->force
	};

	if (w->only)
		o.paths = paths;
	while (left.n && o.path_count < COUNT(paths))
		paths[o.path_count++] = str_cut(left, '\n', &left);
	buf_clear(&w->events);
	w->status = sync_run(w->s, &o, &w->report, err);
}

/* Syncs and says what must have happened, events in any order. */
static void check_sync(struct t *t, struct world *w, enum status status, const char *events)
{
	struct str left = str_of(events), line;
	size_t lines = 0, got = 0;
	struct err err = { 0 };

	sync_world(w, &err);
	if (w->status != status)
		t_fail(t, __FILE__, __LINE__, "sync gave %d: %s", w->status, err.text);
	for (size_t i = 0; i < w->events.n; i++)
		got += w->events.p[i] == '\n';
	while (left.n) {
		char text[LIMIT_PATH];

		line = str_cut(left, '\n', &left);
		snprintf(text, sizeof text, "%.*s\n", (int)size_min(line.n, 1000), line.p);
		if (!w->events.p || !strstr(w->events.p, text))
			t_fail(t, __FILE__, __LINE__, "missing '%.*s' in:\n%s", STR_ARG(line),
			       w->events.p ? w->events.p : "");
		lines++;
	}
	if (lines != got)
		t_fail(t, __FILE__, __LINE__, "wanted %zu events, got:\n%s", lines, w->events.p ? w->events.p : "");
}

static enum status gather(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

/* The newest bytes of a file, how many generations it has, and its lines. */
static void check_content(struct t *t, struct world *w, const char *name, struct str want, int generations)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct line_count lines = { 0 };
	struct source_info info;
	struct err err;

	OK(source_find(w->s, str_of(name), &w->mem, &info, &err));
	OK(archive_read(w->s, info.generation, 0, info.bytes, gather, &got, &err));
	if (!str_eq(buf_as_str(&got), want))
		t_fail(t, __FILE__, __LINE__, "%s has %zu bytes, wanted %zu, or others", name, got.n, want.n);
	if (generations)
		EQ(info.generations, generations);
	line_count_add(&lines, want);
	CHECK(line_count_eq(&lines, &info.lines));
}

/* An older generation. */
static void check_older(struct t *t, struct world *w, const char *name, size_t number, struct str want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct generation *list;
	struct source_info info;
	struct err err;
	size_t n;

	OK(source_find(w->s, str_of(name), &w->mem, &info, &err));
	OK(generation_list(w->s, info.row, &w->mem, &list, &n, &err));
	NEED(number >= 1 && number <= n);
	OK(archive_read(w->s, list[number - 1].row, 0, list[number - 1].length, gather, &got, &err));
	EQS(buf_as_str(&got), want);
}

static void print_problem(void *ctx, struct str text)
{
	(void)ctx;
	printf("# %.*s\n", STR_ARG(text));
}

static void check_healthy(struct t *t, struct store *s)
{
	struct check_report r = { .problem = print_problem };
	struct err err;

	OK(check_run(s, &r, &err));
	EQ(r.problems, 0);
}

static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static int64_t revision(struct store *s)
{
	return ask(s, "SELECT value FROM store_setting WHERE key = 'rev'");
}

static bool is_vanished(struct t *t, struct world *w, const char *name)
{
	struct source_info info = { 0 };
	struct err err;

	if (source_find(w->s, str_of(name), &w->mem, &info, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	return info.vanished_at != 0;
}

static void pause_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Lines of random lengths up to `longest`. */
static void fill_lines(struct buf *b, size_t n, size_t longest, uint64_t *state)
{
	while (b->n < n) {
		size_t length = (size_t)(next_random(state) % longest);

		for (size_t i = 0; i < length; i++)
			buf_byte(b, (char)('a' + (i * 7 + length) % 26));
		buf_byte(b, '\n');
	}
}

/* ---- One file at a time ---------------------------------------------------- */

TEST(new_files_are_brought_in_byte_by_byte)
{
	static const struct {
		const char *name;
		struct str bytes;
	} files[] = {
		{ "projects/p/a.jsonl", { "{\"a\":1}\n{\"b\":2}\n", 16 } },
		{ "projects/p/empty.jsonl", { "", 0 } },
		{ "projects/p/one.jsonl", { "x", 1 } },
		{ "projects/p/newline.jsonl", { "\n", 1 } },
		{ "projects/p/crlf.jsonl", { "{}\r\n{}\r\n", 8 } },
		{ "projects/p/bom.jsonl", { "\xef\xbb\xbf{}\n", 6 } },
		{ "projects/p/torn.jsonl", { "{}\n{\"half", 9 } },
		{ "projects/p/nul.jsonl", { "a\0b\n\0", 5 } },
		{ "projects/p/bytes.bin", { "\xff\xfe\x80\n", 4 } },
		{ "projects/p/odd \xff\x1b[31m\nname.txt", { "odd\n", 4 } },
		{ "tasks/s/1.json", { "{}", 2 } },
		{ "history.jsonl", { "{}\n", 3 } },
	};
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	for (size_t i = 0; i < COUNT(files); i++)
		NEED(put(&w, files[i].name, files[i].bytes));
	NEED(put(&w, ".credentials.json", STR("secret")) && put(&w, "projects/p/x.lock", STR("1")));
	sync_world(&w, &err);
	EQ(w.status, STATUS_OK);
	EQ(w.report.count[SYNC_ADDED], COUNT(files));
	EQ(w.report.files, COUNT(files));
	EQ(w.report.unchanged, 0);
	EQ(w.report.new_bytes, 16 + 0 + 1 + 1 + 8 + 6 + 9 + 5 + 4 + 4 + 2 + 3);
	EQS(str_of(w.report.root), STR("claude"));
	EQ(ask(w.s, "SELECT count(*) FROM source"), COUNT(files));
	for (size_t i = 0; i < COUNT(files); i++)
		check_content(t, &w, files[i].name, files[i].bytes, 1);
	check_healthy(t, w.s);
}

TEST(a_transcript_that_grows_stays_one_generation)
{
	WORLD w = { 0 };
	struct buf want CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl");
	for (int i = 0; i < 10; i++) {
		/* lines come in halves: the tail grows too */
		struct str more = i % 2 ? STR("second half\"}\r\n") : STR("{\"first half");

		buf_str(&want, more);
		NEED(add(&w, "projects/p/a.jsonl", more));
		check_sync(t, &w, STATUS_OK, "grew projects/p/a.jsonl");
		EQ(w.report.new_bytes, more.n);
		check_content(t, &w, "projects/p/a.jsonl", buf_as_str(&want), 1);
	}
	/* Replaced under its name, with more at the end: still the same text. */
	buf_text(&want, "more\n");
	NEED(replace(&w, "projects/p/a.jsonl", buf_as_str(&want)));
	check_sync(t, &w, STATUS_OK, "grew projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", buf_as_str(&want), 1);
	EQ(ask(w.s, "SELECT count(*) FROM block"), 1);
	check_healthy(t, w.s);
}

TEST(other_files_get_a_generation_for_every_version)
{
	static const struct str versions[] = { { "{}", 2 },	   { "{}\n", 3 }, { "{}\n{}", 5 },
					       { "{\"a\":1}", 7 }, { "", 0 },	  { "{}", 2 } };
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	for (size_t i = 0; i < COUNT(versions); i++) {
		NEED(i % 2 ? put(&w, "tasks/s/1.json", versions[i]) : replace(&w, "tasks/s/1.json", versions[i]));
		check_sync(t, &w, STATUS_OK, i ? "rewritten tasks/s/1.json" : "added tasks/s/1.json");
		check_content(t, &w, "tasks/s/1.json", versions[i], (int)i + 1);
	}
	for (size_t i = 0; i < COUNT(versions); i++)
		check_older(t, &w, "tasks/s/1.json", i + 1, versions[i]);
	/* What was only added to is stored once. */
	EQ(ask(w.s, "SELECT sum(length) FROM block WHERE generation <= 3"), 5);
	check_healthy(t, w.s);
}

TEST(a_rewritten_transcript_shares_its_beginning)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("one\ntwo\nthree\n")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl");
	NEED(put(&w, "projects/p/a.jsonl", STR("one\ntwo\nTHREE\nfour\n")));
	check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", STR("one\ntwo\nTHREE\nfour\n"), 2);
	EQ(ask(w.s, "SELECT shared FROM generation WHERE number = 2"), 8);
	NEED(put(&w, "projects/p/a.jsonl", STR("one\ntwo\nthree\nfive\n"))); /* the first version again, and more */
	check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
	EQ(ask(w.s, "SELECT base FROM generation WHERE number = 3"),
	   ask(w.s, "SELECT id FROM generation WHERE number = 1"));
	NEED(add(&w, "projects/p/a.jsonl", STR("six\n")));
	check_sync(t, &w, STATUS_OK, "grew projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", STR("one\ntwo\nthree\nfive\nsix\n"), 3);
	check_older(t, &w, "projects/p/a.jsonl", 1, STR("one\ntwo\nthree\n"));
	check_older(t, &w, "projects/p/a.jsonl", 2, STR("one\ntwo\nTHREE\nfour\n"));
	check_healthy(t, w.s);
}

TEST(a_truncated_file_is_another_generation_and_can_grow_again)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("one\ntwo\nthree\n")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl");
	NEED(put(&w, "projects/p/a.jsonl", STR("one\nt")));
	check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", STR("one\nt"), 2);
	NEED(add(&w, "projects/p/a.jsonl", STR("en\n")));
	check_sync(t, &w, STATUS_OK, "grew projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", STR("one\nten\n"), 2);
	NEED(put(&w, "projects/p/a.jsonl", STR("")));
	check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", STR(""), 3);
	NEED(add(&w, "projects/p/a.jsonl", STR("new\n")));
	check_sync(t, &w, STATUS_OK, "grew projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", STR("new\n"), 3);
	check_older(t, &w, "projects/p/a.jsonl", 1, STR("one\ntwo\nthree\n"));
	check_older(t, &w, "projects/p/a.jsonl", 2, STR("one\nten\n"));
	check_healthy(t, w.s);
}

TEST(a_renamed_file_keeps_its_source_and_its_former_name)
{
	WORLD w = { 0 };
	struct source_info before, after;
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("one\n")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl");
	OK(source_find(w.s, STR("projects/p/a.jsonl"), &w.mem, &before, &err));
	NEED(move(&w, "projects/p/a.jsonl", "projects/p/b.jsonl"));
	check_sync(t, &w, STATUS_OK, "renamed projects/p/b.jsonl");
	OK(source_find(w.s, STR("projects/p/b.jsonl"), &w.mem, &after, &err));
	CHECK(uuid_eq(&before.id, &after.id));
	OK(source_find(w.s, STR("projects/p/a.jsonl"), &w.mem, &after, &err));
	CHECK(uuid_eq(&before.id, &after.id));

	/* Renamed and grown at once, and a new file at its first name. */
	NEED(move(&w, "projects/p/b.jsonl", "projects/p/c.jsonl") && add(&w, "projects/p/c.jsonl", STR("two\n")) &&
	     put(&w, "projects/p/a.jsonl", STR("another\n")));
	check_sync(t, &w, STATUS_OK, "renamed projects/p/c.jsonl\ngrew projects/p/c.jsonl\nadded projects/p/a.jsonl");
	check_content(t, &w, "projects/p/c.jsonl", STR("one\ntwo\n"), 1);
	check_content(t, &w, "projects/p/a.jsonl", STR("another\n"), 1);
	OK(source_find(w.s, STR("projects/p/a.jsonl"), &w.mem, &after, &err));
	EQS(after.key, STR("projects/p/a.jsonl//2"));
	EQ(ask(w.s, "SELECT count(*) FROM source"), 2);
	check_healthy(t, w.s);
}

TEST(a_copy_under_another_name_is_a_source_of_its_own)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("one\n")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl");
	NEED(put(&w, "projects/p/b.jsonl", STR("one\n")) && erase(&w, "projects/p/a.jsonl"));
	check_sync(t, &w, STATUS_OK, "added projects/p/b.jsonl\nvanished projects/p/a.jsonl");
	EQ(ask(w.s, "SELECT count(*) FROM source"), 2);
}

TEST(two_files_that_change_places_are_two_rewritten_ones)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "tasks/s/a", STR("A")) && put(&w, "tasks/s/b", STR("BB")));
	check_sync(t, &w, STATUS_OK, "added tasks/s/a\nadded tasks/s/b");
	NEED(move(&w, "tasks/s/a", "tasks/s/c") && move(&w, "tasks/s/b", "tasks/s/a") &&
	     move(&w, "tasks/s/c", "tasks/s/b"));
	check_sync(t, &w, STATUS_OK, "rewritten tasks/s/a\nrewritten tasks/s/b");
	check_content(t, &w, "tasks/s/a", STR("BB"), 2);
	check_content(t, &w, "tasks/s/b", STR("A"), 2);
}

TEST(a_vanished_file_is_kept_and_may_come_back)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("one\n")) && put(&w, "tasks/s/1.json", STR("{}")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl\nadded tasks/s/1.json");
	NEED(erase(&w, "projects/p/a.jsonl") && erase(&w, "tasks/s/1.json"));
	check_sync(t, &w, STATUS_OK, "vanished projects/p/a.jsonl\nvanished tasks/s/1.json");
	CHECK(is_vanished(t, &w, "projects/p/a.jsonl") && is_vanished(t, &w, "tasks/s/1.json"));
	check_content(t, &w, "projects/p/a.jsonl", STR("one\n"), 1);
	check_sync(t, &w, STATUS_OK, ""); /* told once */
	NEED(put(&w, "projects/p/a.jsonl", STR("one\ntwo\n")) && put(&w, "tasks/s/1.json", STR("{}")));
	check_sync(t, &w, STATUS_OK, "grew projects/p/a.jsonl");
	CHECK(!is_vanished(t, &w, "projects/p/a.jsonl") && !is_vanished(t, &w, "tasks/s/1.json"));
	check_content(t, &w, "projects/p/a.jsonl", STR("one\ntwo\n"), 1);
	check_content(t, &w, "tasks/s/1.json", STR("{}"), 1);
	NEED(erase(&w, "projects/p/a.jsonl"));
	check_sync(t, &w, STATUS_OK, "vanished projects/p/a.jsonl");
	NEED(put(&w, "projects/p/a.jsonl", STR("zwei\n")));
	check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", STR("zwei\n"), 2);
	check_older(t, &w, "projects/p/a.jsonl", 1, STR("one\ntwo\n"));
	check_healthy(t, w.s);
}

TEST(edits_of_the_same_size_in_the_same_second_are_noticed)
{
	WORLD w = { 0 };
	char text[] = "version 0\n";
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", str_of(text)));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl");
	EQ(ask(w.s, "SELECT count(*) FROM source WHERE ctime_ns IS NULL"), 1); /* its times are not trusted yet */
	for (int i = 1; i < 8; i++) {
		text[8] = (char)('0' + i);
		NEED(write_file(&w, "projects/p/a.jsonl", str_of(text), 0));
		check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
		check_content(t, &w, "projects/p/a.jsonl", str_of(text), i + 1);
	}
}

/* The one test that waits until the times of its files can be trusted. */
TEST(a_sync_with_nothing_new_writes_nothing)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	char path[LIMIT_PATH];
	WORLD w = { 0 };
	struct stat st;
	int64_t rev, changes;
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	path_in(path, w.tree, "projects/p/a.jsonl");
	NEED(put(&w, "projects/p/a.jsonl", STR("one\n")) && put(&w, "projects/p/b.jsonl", STR("")) &&
	     put(&w, "tasks/s/1.json", STR("{}")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl\nadded projects/p/b.jsonl\nadded tasks/s/1.json");
	pause_ms(2150);
	EQ(ask(w.s, "SELECT count(*) FROM source WHERE ctime_ns IS NULL"), 3);
	check_sync(t, &w, STATUS_OK, ""); /* notes that they are settled */
	EQ(ask(w.s, "SELECT count(*) FROM source WHERE ctime_ns IS NULL"), 0);
	rev = revision(w.s);
	changes = sqlite3_total_changes64(w.s->db);
	for (int i = 0; i < 3; i++) {
		check_sync(t, &w, STATUS_OK, "");
		EQ(w.report.unchanged, 3);
		EQ(w.report.new_bytes, 0);
	}
	EQ(revision(w.s), rev);
	EQ(sqlite3_total_changes64(w.s->db), changes);
	/* Same size and, by hand, the same time: the change time gives it away. */
	NEED(stat(path, &st) == 0);
	times[1] = st.st_mtim;
	NEED(write_file(&w, "projects/p/a.jsonl", STR("ONE\n"), 0) && utimensat(AT_FDCWD, path, times, 0) == 0);
	check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", STR("ONE\n"), 2);
	/* Touched without a change: read again, nothing new. */
	NEED(utimensat(AT_FDCWD, path, NULL, 0) == 0);
	check_sync(t, &w, STATUS_OK, "");
	check_content(t, &w, "projects/p/a.jsonl", STR("ONE\n"), 2);
}

/* ---- What cannot be read --------------------------------------------------- */

TEST(links_are_skipped_and_told)
{
	char path[LIMIT_PATH];
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "outside.jsonl", STR("secret\n")) && put(&w, "projects/p/a.jsonl", STR("one\n")));
	path_in(path, w.tree, "projects/p/link.jsonl");
	NEED(symlink("../../outside.jsonl", path) == 0);
	path_in(path, w.tree, "projects/q");
	NEED(symlink("p", path) == 0);
	path_in(path, w.tree, "plugins");
	NEED(symlink("p", path) == 0); /* nobody asked for it */
	path_in(path, w.tree, "projects/p/fifo");
	NEED(mkfifo(path, 0600) == 0);
	check_sync(t, &w, STATUS_OK,
		   "added projects/p/a.jsonl\nskipped projects/p/link.jsonl\nhidden projects/q\nskipped "
		   "projects/p/fifo");
	EQ(ask(w.s, "SELECT count(*) FROM source"), 1);
}

TEST(a_folder_that_became_a_link_does_not_make_its_sources_vanish)
{
	char path[LIMIT_PATH];
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("one\n")) && put(&w, "projects/pp.txt", STR("x")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl\nadded projects/pp.txt");
	NEED(move(&w, "projects/p", "elsewhere") && erase(&w, "projects/pp.txt"));
	path_in(path, w.tree, "projects/p");
	NEED(symlink("../elsewhere", path) == 0);
	/* A neighbour whose name begins the same is not below it. */
	check_sync(t, &w, STATUS_OK, "hidden projects/p\nvanished projects/pp.txt");
	CHECK(!is_vanished(t, &w, "projects/p/a.jsonl"));
}

static void sync_unreadable(struct t *t, const char *dir)
{
	char folder[LIMIT_PATH], file[LIMIT_PATH];
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, dir, &err));
	path_in(folder, w.tree, "projects/p");
	path_in(file, w.tree, "tasks/s/1.json");
	NEED(put(&w, "projects/p/a.jsonl", STR("one\n")) && put(&w, "tasks/s/1.json", STR("{}")) &&
	     put(&w, "tasks/s/2.json", STR("{}")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl\nadded tasks/s/1.json\nadded tasks/s/2.json");
	NEED(put(&w, "tasks/s/1.json", STR("[1]")) && put(&w, "tasks/s/2.json", STR("[2]")) && chmod(folder, 0) == 0 &&
	     chmod(file, 0) == 0);
	check_sync(t, &w, STATUS_PARTIAL, "failed projects/p\nfailed tasks/s/1.json\nrewritten tasks/s/2.json");
	CHECK(!is_vanished(t, &w, "projects/p/a.jsonl") && !is_vanished(t, &w, "tasks/s/1.json"));
	check_content(t, &w, "tasks/s/1.json", STR("{}"), 1);
	NEED(chmod(folder, 0755) == 0 && chmod(file, 0644) == 0);
	check_sync(t, &w, STATUS_OK, "rewritten tasks/s/1.json");
	check_content(t, &w, "tasks/s/1.json", STR("[1]"), 2);
	NEED(erase(&w, "projects/p/a.jsonl"));
	check_sync(t, &w, STATUS_OK, "vanished projects/p/a.jsonl");
}

TEST(what_cannot_be_read_fails_alone_and_has_not_vanished)
{
	const char *dir = t_tmpdir(t);
	bool is_root = geteuid() == 0;

	if (is_root && (chown(dir, NOBODY, (gid_t)-1) || seteuid(NOBODY)))
		SKIP("cannot become another user");
	sync_unreadable(t, dir);
	if (is_root)
		NEED(seteuid(0) == 0);
}

TEST(a_folder_that_is_not_there_is_said_so)
{
	WORLD w = { 0 };
	struct sync_options o = { 0 };
	char path[LIMIT_PATH];
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	path_in(path, w.dir, "missing");
	o.dir = path;
	EQ(sync_run(w.s, &o, &w.report, &err), STATUS_NOT_FOUND);
	CHECK(strstr(err.text, "missing"));
	NEED(put(&w, "history.jsonl", STR("")));
	path_in(path, w.tree, "history.jsonl");
	CHECK(sync_run(w.s, &o, &w.report, &err) != STATUS_OK);
	EQ(ask(w.s, "SELECT count(*) FROM root"), 0);
}

TEST(a_link_to_the_root_is_the_root)
{
	WORLD w = { 0 };
	struct sync_options o = { 0 };
	char path[LIMIT_PATH];
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "history.jsonl", STR("x\n")));
	path_in(path, w.dir, "link");
	NEED(symlink("claude", path) == 0);
	check_sync(t, &w, STATUS_OK, "added history.jsonl");
	o.dir = path;
	OK(sync_run(w.s, &o, &w.report, &err));
	EQ(w.report.count[SYNC_ADDED], 0);
	EQ(ask(w.s, "SELECT count(*) FROM root"), 1);
}

/* ---- Stopping -------------------------------------------------------------- */

TEST(a_cancelled_sync_keeps_what_it_has_and_can_be_completed)
{
	enum { FILES = 300 };
	WORLD w = { 0 };
	int64_t first;
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	for (int i = 0; i < FILES; i++) {
		char name[64];

		snprintf(name, sizeof name, "tasks/s/%d.json", i);
		NEED(put(&w, name, str_of(name)));
	}
	w.cancel_after = 1;
	sync_world(&w, &err);
	EQ(w.status, STATUS_CANCELLED);
	first = w.report.count[SYNC_ADDED];
	CHECK(first >= 1);
	EQ(ask(w.s, "SELECT count(*) FROM source WHERE generation IS NOT NULL"), first);
	EQ(w.report.count[SYNC_VANISHED], 0);
	sync_world(&w, &err); /* the flag is still up */
	EQ(w.status, STATUS_CANCELLED);
	EQ(w.report.count[SYNC_ADDED] + w.report.count[SYNC_VANISHED], 0);
	atomic_store(&w.cancel, false);
	sync_world(&w, &err);
	EQ(w.status, STATUS_OK);
	EQ(w.report.count[SYNC_ADDED], FILES - first);
	EQ(ask(w.s, "SELECT count(*) FROM source WHERE vanished_at IS NULL"), FILES);
	check_healthy(t, w.s);
}

TEST(a_file_half_read_is_continued_and_not_another_version)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	uint64_t state = 5;
	int64_t part;
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	while (bytes.n < 40 * MIB) { /* noise: more pieces than the queue or a transaction takes */
		uint64_t r = next_random(&state);

		buf_add(&bytes, &r, sizeof r);
		if (bytes.n % 1000 == 0)
			buf_byte(&bytes, '\n');
	}
	NEED(put(&w, "tasks/s/big.bin", buf_as_str(&bytes)));
	w.cancel_after = 1; /* told with its first piece */
	sync_world(&w, &err);
	EQ(w.status, STATUS_CANCELLED);
	part = ask(w.s, "SELECT length FROM generation");
	CHECK(part > 0 && part < (int64_t)bytes.n);
	check_healthy(t, w.s); /* line counts of the part included */
	w.cancel_after = 0;
	atomic_store(&w.cancel, false);
	sync_world(&w, &err);
	EQ(w.status, STATUS_OK);
	EQ(w.report.new_bytes, (int64_t)bytes.n - part);
	check_content(t, &w, "tasks/s/big.bin", buf_as_str(&bytes), 1);
	check_healthy(t, w.s);
}

/* ---- Large files ----------------------------------------------------------- */

TEST(a_large_file_is_looked_at_quickly_and_by_force_in_full)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	uint64_t state = 6;
	WORLD w = { 0 };
	struct err err;
	int number = 1;

	OK(world_init(&w, t_tmpdir(t), &err));
	fill_lines(&bytes, LIMIT_VERIFY_WHOLE + 2 * MIB, 3000, &state);
	NEED(put(&w, "projects/p/a.jsonl", buf_as_str(&bytes)));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl");
	/* Grown: only the new bytes are read. */
	buf_text(&bytes, "more\n");
	NEED(add(&w, "projects/p/a.jsonl", STR("more\n")));
	check_sync(t, &w, STATUS_OK, "grew projects/p/a.jsonl");
	EQ(w.report.new_bytes, 5);
	check_content(t, &w, "projects/p/a.jsonl", buf_as_str(&bytes), number);
	/* Edited near its beginning or its end, and grown: seen. */
	for (int i = 0; i < 2; i++) {
		size_t at = i ? bytes.n - 1000 : 100;

		bytes.p[at] = 'X';
		buf_text(&bytes, "more\n");
		NEED(write_file(&w, "projects/p/a.jsonl", buf_as_str(&bytes), 0));
		check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
		check_content(t, &w, "projects/p/a.jsonl", buf_as_str(&bytes), ++number);
	}
	/* Edited in the middle: seen by force, and whenever it did not grow. */
	bytes.p[bytes.n / 2] = 'X';
	buf_text(&bytes, "more\n");
	NEED(write_file(&w, "projects/p/a.jsonl", buf_as_str(&bytes), 0));
	w.force = true;
	check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", buf_as_str(&bytes), ++number);
	w.force = false;
	bytes.p[bytes.n / 2] = 'Y';
	NEED(write_file(&w, "projects/p/a.jsonl", buf_as_str(&bytes), 0));
	check_sync(t, &w, STATUS_OK, "rewritten projects/p/a.jsonl");
	check_content(t, &w, "projects/p/a.jsonl", buf_as_str(&bytes), ++number);
	check_healthy(t, w.s);
}

static void list_blocks(struct store *s, struct buf *out)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(s->db, "SELECT offset, length, hash FROM block ORDER BY generation, offset",
			       -1, &st, NULL))
		abort();
	while (sqlite3_step(st) == SQLITE_ROW)
		buf_printf(out, "%lld %lld %lld\n", (long long)sqlite3_column_int64(st, 0),
			   (long long)sqlite3_column_int64(st, 1), (long long)sqlite3_column_int64(st, 2));
	sqlite3_finalize(st);
}

TEST(blocks_do_not_depend_on_how_often_a_growing_file_was_synced)
{
	static const size_t longest[] = { 60000, 20000, 900000, 1300000 };
	uint64_t state = 7;
	struct err err;

	for (size_t i = 0; i < COUNT(longest); i++) {
		struct buf bytes CLEANUP(buf_release) = BUF_INIT(64 * MIB);
		struct buf once CLEANUP(buf_release) = BUF_INIT(MIB);
		struct buf often CLEANUP(buf_release) = BUF_INIT(MIB);
		struct str left, line;
		WORLD w = { 0 };
		struct store *s CLEANUP(store_closep) = NULL;
		struct sync_options o = { .dir = w.tree };
		char path[LIMIT_PATH];

		OK(world_init(&w, t_tmpdir(t), &err));
		fill_lines(&bytes, MIB + 2 * longest[i], longest[i], &state);
		buf_text(&bytes, "torn");
		for (left = buf_as_str(&bytes); left.n;) {
			size_t end = str_find(left, '\n');

			line = str_sub(left, 0, end == SIZE_MAX ? left.n : end + 1);
			/* now and then a line comes in two parts */
			if (next_random(&state) % 4 == 0)
				line = str_sub(line, 0, line.n / 2 + 1);
			left = str_sub(left, line.n, SIZE_MAX);
			NEED(add(&w, "projects/p/a.jsonl", line));
			sync_world(&w, &err);
			EQ(w.status, STATUS_OK);
		}
		check_content(t, &w, "projects/p/a.jsonl", buf_as_str(&bytes), 1);
		path_in(path, w.dir, "once.db");
		OK(open_store(path, &s, &err));
		OK(sync_run(s, &o, &w.report, &err));
		list_blocks(w.s, &often);
		list_blocks(s, &once);
		CHECK(once.n > 0);
		EQS(buf_as_str(&often), buf_as_str(&once));
		check_healthy(t, w.s);
	}
}

/* ---- Many changes ---------------------------------------------------------- */

/* Every text that a file had when a sync ran. */
struct history {
	struct buf texts[600];
	size_t count;
};

static void history_release(struct history *h)
{
	for (size_t i = 0; i < h->count; i++)
		buf_release(&h->texts[i]);
}

static void remember(struct history *h, struct str text)
{
	if (h->count == COUNT(h->texts))
		return;
	buf_init(&h->texts[h->count], MIB);
	buf_str(&h->texts[h->count++], text);
}

/* Whether some generation begins with each text (a whole file: is it). */
static void check_nothing_lost(struct t *t, struct world *w, const struct history *h)
{
	static struct buf all[2000];
	size_t n = (size_t)ask(w->s, "SELECT max(id) FROM generation"), lost = 0;
	struct err err;

	NEED(n < COUNT(all));
	for (size_t i = 1; i <= n; i++) {
		struct generation g;

		buf_init(&all[i], MIB);
		OK(generation_get(w->s, (int64_t)i, &g, &err));
		OK(archive_read(w->s, (int64_t)i, 0, g.length, gather, &all[i], &err));
	}
	for (size_t i = 0; i < h->count; i++) {
		bool found = false;

		for (size_t k = 1; k <= n && !found; k++)
			found = str_has_prefix(buf_as_str(&all[k]), buf_as_str(&h->texts[i]));
		lost += !found;
	}
	EQ(lost, 0);
	for (size_t i = 1; i <= n; i++)
		buf_release(&all[i]);
}

TEST(random_changes_end_with_the_right_bytes_and_lose_nothing)
{
	enum { FILES = 8, ROUNDS = 60 };
	static const char *const names[FILES] = {
		"projects/p/a.jsonl", "projects/p/b.jsonl", "projects/p/c.jsonl", "projects/q/d.jsonl",
		"tasks/s/1.json", "tasks/s/2.json", "plans/x.md", "history.jsonl",
	};
	struct history h CLEANUP(history_release) = { 0 };
	struct buf text[FILES];
	bool there[FILES] = { 0 };
	uint64_t state = 8;
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(make_dir(&w, "projects/q") && make_dir(&w, "plans"));
	for (int i = 0; i < FILES; i++)
		buf_init(&text[i], MIB);
	for (int round = 0; round < ROUNDS; round++) {
		for (int change = 0; change < 4; change++) {
			size_t i = (size_t)(next_random(&state) % FILES), k = (size_t)(next_random(&state) % FILES);
			uint64_t what = next_random(&state) % 10;

			if (what < 5 || !there[i]) { /* append */
				struct buf more CLEANUP(buf_release) = BUF_INIT(MIB);

				fill_lines(&more, 1 + (size_t)(next_random(&state) % 300), 60, &state);
				if (next_random(&state) % 3 == 0)
					more.n -= 1;
				if (!there[i])
					buf_clear(&text[i]);
				buf_str(&text[i], buf_as_str(&more));
				NEED(add(&w, names[i], buf_as_str(&more)));
				there[i] = true;
			} else if (what == 5) { /* truncate */
				text[i].n = (size_t)(next_random(&state) % (text[i].n + 1));
				NEED(put(&w, names[i], str_from(text[i].p, text[i].n)));
			} else if (what == 6 && text[i].n) { /* edit in place */
				text[i].p[next_random(&state) % text[i].n] = 'E';
				NEED(write_file(&w, names[i], buf_as_str(&text[i]), 0));
			} else if (what == 7) { /* replace */
				buf_clear(&text[i]);
				fill_lines(&text[i], 100, 40, &state);
				NEED(replace(&w, names[i], buf_as_str(&text[i])));
			} else if (what == 8) {
				NEED(erase(&w, names[i]));
				there[i] = false;
			} else if (!there[k]) { /* rename */
				NEED(move(&w, names[i], names[k]));
				buf_clear(&text[k]);
				buf_str(&text[k], buf_as_str(&text[i]));
				there[k] = true;
				there[i] = false;
			}
		}
		sync_world(&w, &err);
		EQ(w.status, STATUS_OK);
		for (size_t i = 0; i < FILES; i++) {
			if (!there[i])
				continue;
			check_content(t, &w, names[i], str_from(text[i].p ? text[i].p : "", text[i].n), 0);
			CHECK(!is_vanished(t, &w, names[i]));
			remember(&h, buf_as_str(&text[i]));
		}
	}
	check_nothing_lost(t, &w, &h);
	check_healthy(t, w.s);
	for (int i = 0; i < FILES; i++)
		buf_release(&text[i]);
}

/* ---- Several at once ------------------------------------------------------- */

enum { RACE_FILES = 6, RACE_ROUNDS = 25 };

/* Changes files for a while, in small steps. */
static void change_for_a_while(struct world *w, uint64_t seed)
{
	for (int i = 0; i < RACE_ROUNDS * RACE_FILES; i++) {
		char name[64], line[64];
		uint64_t r = next_random(&seed);

		snprintf(name, sizeof name, "projects/p/%d.jsonl", (int)(r % RACE_FILES));
		snprintf(line, sizeof line, "{\"line\":%d,\"r\":%llu}\n", i, (unsigned long long)r);
		if (r >> 8 & 15)
			add(w, name, str_of(line));
		else
			put(w, name, str_of(line));
		snprintf(name, sizeof name, "tasks/s/%d.json", (int)(r % RACE_FILES));
		if ((r >> 16) % 5 == 0)
			replace(w, name, str_of(line));
		if ((r >> 24) % 40 == 0)
			erase(w, name);
		pause_ms(1);
	}
}

static void check_race_result(struct t *t, struct world *w)
{
	struct err err;

	sync_world(w, &err);
	EQ(w->status, STATUS_OK);
	for (int i = 0; i < RACE_FILES; i++)
		for (int form = 0; form < 2; form++) {
			struct buf want CLEANUP(buf_release) = BUF_INIT(MIB);
			char name[64], path[LIMIT_PATH];

			snprintf(name, sizeof name, "%s/%d.json%s", form ? "tasks/s" : "projects/p", i,
				 form ? "" : "l");
			path_in(path, w->tree, name);
			if (access(path, F_OK))
				continue;
			OK(file_read_all(path, &want, &err));
			check_content(t, w, name, buf_as_str(&want), 0);
		}
	EQ(ask(w->s, "SELECT count(*) - count(DISTINCT path) FROM source"), 0);
	check_healthy(t, w->s);
}

/* A program that syncs until it is told to stop; ends with 0 when all was well.
 * To be overtaken by others again and again is well: the next sync goes on. */
static void sync_as_child(const char *store, const char *tree, int stop)
{
	struct sync_options o = { .dir = tree };
	struct sync_report r;
	struct store *s = NULL;
	struct err err;
	char c;

	if (fcntl(stop, F_SETFL, O_NONBLOCK) || open_store(store, &s, &err))
		_exit(2);
	while (read(stop, &c, 1) != 0)
		if (sync_run(s, &o, &r, &err) && err.status != STATUS_CONFLICT) {
			fprintf(stderr, "# child: %s\n", err.text);
			_exit(3);
		}
	store_close(s);
	_exit(0);
}

TEST(processes_that_sync_a_changing_tree_together_end_with_the_right_bytes)
{
	enum { CHILDREN = 2 };
	pid_t pids[CHILDREN];
	int stop[2], code;
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(pipe(stop) == 0);
	for (int i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			close(stop[1]);
			sync_as_child(w.store, w.tree, stop[0]);
		}
		NEED(pids[i] > 0);
	}
	close(stop[0]);
	change_for_a_while(&w, 9);
	close(stop[1]);
	for (int i = 0; i < CHILDREN; i++) {
		NEED(waitpid(pids[i], &code, 0) == pids[i]);
		CHECK(WIFEXITED(code) && WEXITSTATUS(code) == 0);
	}
	check_race_result(t, &w);
}

/* ---- Two first syncs ----------------------------------------------------------- */

/* Another program's sync, before one of this one's statements. */
struct other_sync {
	struct store *mine, *s;
	char tree[LIMIT_PATH];
	int at, statements;
	enum status status;
	struct err err;
};

static enum status sync_labelled(struct store *s, const char *tree, struct err *err)
{
	struct sync_options o = { .dir = tree, .label = STR("mine") };
	struct sync_report r;

	return sync_run(s, &o, &r, err);
}

static int on_statement(unsigned what, void *ctx, void *statement, void *text)
{
	struct other_sync *o = ctx;

	(void)what;
	(void)statement;
	(void)text;
	/* Inside of a transaction the other would wait for its end. */
	if (sqlite3_get_autocommit(o->mine->db) && ++o->statements == o->at)
		o->status = sync_labelled(o->s, o->tree, &o->err);
	return 0;
}

/* Two syncs with the same label. Gives what became of each. */
static void sync_both(struct t *t, struct world *w, struct other_sync *o, enum status *mine)
{
	struct store *s CLEANUP(store_closep) = NULL;
	char store[LIMIT_PATH], name[32];
	struct err err;

	snprintf(name, sizeof name, "both-%d.db", o->at);
	path_in(store, w->dir, name);
	OK(open_store(store, &s, &err));
	OK(open_store(store, &o->s, &err));
	o->mine = s;
	sqlite3_trace_v2(s->db, SQLITE_TRACE_STMT, on_statement, o);
	*mine = sync_labelled(s, w->tree, &err);
	sqlite3_trace_v2(s->db, 0, NULL, NULL);
	CHECK(o->statements >= o->at);
	EQ(ask(s, "SELECT count(*) FROM root WHERE label = 'mine'"), 1);
	EQ(ask(s, "SELECT count(*) FROM source"), 1);
	if (*mine != STATUS_OK && !strstr(err.text, "still exists"))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
}

enum { FIRST_STATEMENTS = 10 }; /* by then there is a root */

TEST(two_first_syncs_of_a_folder_give_it_its_label_together)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("1\n")));
	for (int at = 1; at <= FIRST_STATEMENTS; at++) {
		struct other_sync o = { .at = at };
		enum status mine = STATUS_OK;

		snprintf(o.tree, sizeof o.tree, "%s", w.tree);
		sync_both(t, &w, &o, &mine);
		EQ(mine, STATUS_OK);
		EQ(o.status, STATUS_OK);
		store_close(o.s);
	}
}

TEST(of_two_folders_that_want_the_same_label_one_gets_it)
{
	WORLD w = { 0 };
	char folder[LIMIT_PATH], file[LIMIT_PATH];
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	path_in(folder, w.dir, "elsewhere/projects/p");
	path_in(file, folder, "b.jsonl");
	OK(file_make_dirs(folder, &err));
	OK(file_write_atomic(file, STR("2\n"), 0644, &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("1\n")));
	for (int at = 1; at <= FIRST_STATEMENTS; at++) {
		struct other_sync o = { .at = at };
		enum status mine = STATUS_OK;

		path_in(o.tree, w.dir, "elsewhere");
		sync_both(t, &w, &o, &mine);
		CHECK((mine == STATUS_OK && o.status == STATUS_USAGE) ||
		      (mine == STATUS_USAGE && o.status == STATUS_OK));
		EQ(ask(o.s, mine == STATUS_OK ? "SELECT count(*) FROM root WHERE dir LIKE '%/claude'"
					      : "SELECT count(*) FROM root WHERE dir LIKE '%/elsewhere'"),
		   1);
		store_close(o.s);
	}
}

/* ---- Overtaken ----------------------------------------------------------------- */

enum { MANY = 500 };

/* Another program syncs everything, and then all files grow. */
static void overtake(struct world *w)
{
	struct sync_options o = { .dir = w->tree };
	struct store *other = NULL;
	struct sync_report r;
	struct err err;

	if (open_store(w->store, &other, &err) || sync_run(other, &o, &r, &err))
		abort();
	store_close(other);
	for (int i = 0; i < MANY; i++) {
		char name[64];

		snprintf(name, sizeof name, "projects/p/%d.jsonl", i);
		if (!add(w, name, STR("more\n")))
			abort();
	}
}

TEST(a_sync_that_was_overtaken_looks_again)
{
	WORLD w = { .at_first = overtake };
	int overtaken = 0;
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	for (int i = 0; i < MANY; i++) {
		char name[64];

		snprintf(name, sizeof name, "projects/p/%d.jsonl", i);
		NEED(put(&w, name, STR("one\n")));
	}
	sync_world(&w, &err);
	EQ(w.status, STATUS_OK);
	for (int i = 0; i < MANY; i++) {
		char name[64], line[64];

		snprintf(name, sizeof name, "projects/p/%d.jsonl", i);
		snprintf(line, sizeof line, "added projects/p/%d.jsonl\n", i);
		if (strstr(w.events.p, line))
			continue; /* was ours, before it grew */
		check_content(t, &w, name, STR("one\nmore\n"), 1);
		overtaken++;
	}
	if (overtaken == 0)
		SKIP("this machine was too fast to be overtaken");
	sync_world(&w, &err);
	EQ(w.status, STATUS_OK);
	EQ(ask(w.s, "SELECT count(*) FROM generation WHERE length <> 9"), 0);
	EQ(ask(w.s, "SELECT count(*) FROM generation"), MANY);
	check_healthy(t, w.s);
}

/* A file is renamed, another program syncs, and its place is taken. */
static void take_place(struct world *w)
{
	struct sync_options o = { .dir = w->tree };
	struct store *other = NULL;
	struct sync_report r;
	struct err err;

	if (!move(w, "plans/a.md", "plans/b.md") || open_store(w->store, &other, &err) ||
	    sync_run(other, &o, &r, &err) || !put(w, "plans/a.md", STR("another\n")))
		abort();
	store_close(other);
}

TEST(a_file_in_the_place_of_one_that_was_renamed_meanwhile_is_another)
{
	enum { LARGE = 4, LARGE_BYTES = 8 * 1024 * 1024 }; /* more than waits to be written */
	struct buf noise CLEANUP(buf_release) = BUF_INIT(LARGE_BYTES);
	uint64_t random = 3;
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(make_dir(&w, "plans") && put(&w, "plans/a.md", STR("one\n")));
	check_sync(t, &w, STATUS_OK, "added plans/a.md");
	while (noise.n < LARGE_BYTES) {
		uint64_t some = next_random(&random);

		buf_add(&noise, &some, sizeof some);
	}
	for (int i = 0; i < LARGE; i++) {
		char name[64];

		snprintf(name, sizeof name, "plans/large-%d.md", i);
		NEED(put(&w, name, buf_as_str(&noise)));
	}
	/* The small file comes last, and is opened by its name. */
	w.at_first = take_place;
	sync_world(&w, &err);
	EQ(w.status, STATUS_OK);
	check_content(t, &w, "plans/b.md", STR("one\n"), 1);
	check_content(t, &w, "plans/a.md", STR("another\n"), 1);
}

struct syncer {
	const char *store, *tree;
	atomic_bool *stop;
	enum status status;
	struct err err;
	pthread_t thread;
};

static void *sync_in_thread(void *ctx)
{
	struct syncer *y = ctx;
	struct sync_options o = { .dir = y->tree };
	struct sync_report r;
	struct store *s = NULL;

	y->status = open_store(y->store, &s, &y->err);
	while (y->status == STATUS_OK && !atomic_load(y->stop)) {
		y->status = sync_run(s, &o, &r, &y->err);
		if (y->status == STATUS_CONFLICT)
			y->status = STATUS_OK;
	}
	store_close(s);
	return NULL;
}

TEST(threads_that_sync_a_changing_tree_together_end_with_the_right_bytes)
{
	struct syncer syncers[2];
	atomic_bool stop = false;
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	for (size_t i = 0; i < COUNT(syncers); i++) {
		syncers[i] = (struct syncer){ .store = w.store, .tree = w.tree, .stop = &stop };
		NEED(pthread_create(&syncers[i].thread, NULL, sync_in_thread, &syncers[i]) == 0);
	}
	change_for_a_while(&w, 10);
	atomic_store(&stop, true);
	for (size_t i = 0; i < COUNT(syncers); i++) {
		pthread_join(syncers[i].thread, NULL);
		if (syncers[i].status)
			t_fail(t, __FILE__, __LINE__, "%s", syncers[i].err.text);
	}
	check_race_result(t, &w);
}

/* Syncs only these paths. */
static void check_only(struct t *t, struct world *w, const char *only, const char *events)
{
	w->only = only;
	check_sync(t, w, STATUS_OK, events);
	w->only = NULL;
}

TEST(a_sync_of_some_paths_leaves_all_others_alone)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("1\n")) && put(&w, "projects/p/b.jsonl", STR("1\n")) &&
	     put(&w, "projects/p/c.jsonl", STR("1\n")));
	check_only(t, &w, "projects/p/a.jsonl", "added projects/p/a.jsonl");
	EQ(w.report.files, 1);
	check_sync(t, &w, STATUS_OK, "added projects/p/b.jsonl\nadded projects/p/c.jsonl");
	NEED(add(&w, "projects/p/a.jsonl", STR("2\n")) && add(&w, "projects/p/b.jsonl", STR("2\n")) &&
	     erase(&w, "projects/p/c.jsonl"));
	check_only(t, &w, "projects/p/b.jsonl", "grew projects/p/b.jsonl");
	check_content(t, &w, "projects/p/b.jsonl", STR("1\n2\n"), 1);
	check_content(t, &w, "projects/p/a.jsonl", STR("1\n"), 1);
	check_only(t, &w, "", "");
	check_sync(t, &w, STATUS_OK, "grew projects/p/a.jsonl\nvanished projects/p/c.jsonl");
}

TEST(a_sync_of_some_paths_sees_what_went_and_what_was_renamed)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("first\n")) && put(&w, "projects/p/b.jsonl", STR("second\n")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl\nadded projects/p/b.jsonl");
	NEED(move(&w, "projects/p/a.jsonl", "projects/p/x.jsonl"));
	/* Only the new name is told: the old one is found by the inode. */
	check_only(t, &w, "projects/p/x.jsonl", "renamed projects/p/x.jsonl");
	NEED(move(&w, "projects/p/x.jsonl", "projects/p/y.jsonl"));
	/* First it seems to be gone. */
	check_only(t, &w, "projects/p/x.jsonl", "vanished projects/p/x.jsonl");
	check_only(t, &w, "projects/p/y.jsonl", "renamed projects/p/y.jsonl");
	check_content(t, &w, "projects/p/y.jsonl", STR("first\n"), 1);
	NEED(erase(&w, "projects/p/b.jsonl"));
	check_only(t, &w, "projects/p/b.jsonl\nprojects/p/none.jsonl", "vanished projects/p/b.jsonl");
	NEED(replace(&w, "projects/p/y.jsonl", STR("other\n")));
	check_only(t, &w, "projects/p/y.jsonl", "rewritten projects/p/y.jsonl");
	check_sync(t, &w, STATUS_OK, "");
}

TEST(a_second_name_of_a_file_is_not_a_rename)
{
	WORLD w = { 0 };
	char a[LIMIT_PATH], b[LIMIT_PATH];
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("first\n")));
	check_sync(t, &w, STATUS_OK, "added projects/p/a.jsonl");
	path_in(a, w.tree, "projects/p/a.jsonl");
	path_in(b, w.tree, "projects/p/b.jsonl");
	NEED(link(a, b) == 0);
	check_only(t, &w, "projects/p/b.jsonl", "added projects/p/b.jsonl");
}

TEST(paths_that_no_walk_would_come_to_are_never_opened)
{
	WORLD w = { 0 };
	struct err err;

	OK(world_init(&w, t_tmpdir(t), &err));
	NEED(put(&w, "projects/p/a.jsonl", STR("1\n")) && put(&w, ".credentials.json", STR("secret\n")));
	NEED(make_dir(&w, "projects/p/x.lock") && put(&w, "projects/p/x.lock/b.jsonl", STR("1\n")));
	check_only(t, &w,
		   ".credentials.json\nprojects/p/x.lock/b.jsonl\nprojects/../.credentials.json\n/etc/passwd\n"
		   "projects/p",
		   "");
	check_only(t, &w, "projects/p/a.jsonl", "added projects/p/a.jsonl");
}

TESTS(CASE(a_sync_of_some_paths_leaves_all_others_alone),
      CASE(a_sync_of_some_paths_sees_what_went_and_what_was_renamed),
      CASE(a_second_name_of_a_file_is_not_a_rename),
      CASE(paths_that_no_walk_would_come_to_are_never_opened),
      CASE(new_files_are_brought_in_byte_by_byte),
      CASE(a_transcript_that_grows_stays_one_generation),
      CASE(other_files_get_a_generation_for_every_version),
      CASE(a_rewritten_transcript_shares_its_beginning),
      CASE(a_truncated_file_is_another_generation_and_can_grow_again),
      CASE(a_renamed_file_keeps_its_source_and_its_former_name),
      CASE(a_copy_under_another_name_is_a_source_of_its_own),
      CASE(two_files_that_change_places_are_two_rewritten_ones),
      CASE(a_vanished_file_is_kept_and_may_come_back),
      CASE(edits_of_the_same_size_in_the_same_second_are_noticed),
      CASE(a_sync_with_nothing_new_writes_nothing),
      CASE(links_are_skipped_and_told),
      CASE(a_folder_that_became_a_link_does_not_make_its_sources_vanish),
      CASE(what_cannot_be_read_fails_alone_and_has_not_vanished),
      CASE(a_folder_that_is_not_there_is_said_so),
      CASE(a_link_to_the_root_is_the_root),
      CASE(a_cancelled_sync_keeps_what_it_has_and_can_be_completed),
      CASE(a_file_half_read_is_continued_and_not_another_version),
      CASE(a_large_file_is_looked_at_quickly_and_by_force_in_full),
      CASE(blocks_do_not_depend_on_how_often_a_growing_file_was_synced),
      CASE(random_changes_end_with_the_right_bytes_and_lose_nothing),
      CASE(two_first_syncs_of_a_folder_give_it_its_label_together),
      CASE(of_two_folders_that_want_the_same_label_one_gets_it),
      CASE(a_sync_that_was_overtaken_looks_again),
      CASE(a_file_in_the_place_of_one_that_was_renamed_meanwhile_is_another),
      CASE(processes_that_sync_a_changing_tree_together_end_with_the_right_bytes),
      CASE(threads_that_sync_a_changing_tree_together_end_with_the_right_bytes))
