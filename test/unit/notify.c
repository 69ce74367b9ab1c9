/*
 * Hearing of changes: files and folders that come, change and go, in folders that
 * are watched, and an overflow of the system's queue.
 */
#include "base/file.h"
#include "base/notify.h"
#include "t.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct world {
	char dir[LIMIT_PATH];
	int root;
	struct notify *n;
	struct buf heard; /* "file a/b\n" */
	int lost;
};

static void world_release(struct world *w)
{
	notify_free(w->n);
	file_close(&w->root);
	buf_release(&w->heard);
}

#define WORLD struct world w CLEANUP(world_release) = { .root = -1 }

static enum status world_init(struct world *w, struct t *t, struct err *err)
{
	snprintf(w->dir, sizeof w->dir, "%s", t_tmpdir(t));
	buf_init(&w->heard, MIB);
	w->root = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return notify_new(&w->n, err);
}

static void hear(void *ctx, enum notify_what what, struct str path)
{
	static const char *const names[] = { "file", "came", "went", "lost" };
	struct world *w = ctx;

	w->lost += what == NOTIFY_LOST;
	buf_printf(&w->heard, "%s %.*s\n", names[what], STR_ARG(path));
}

static struct str heard(struct world *w)
{
	buf_clear(&w->heard);
	notify_read(w->n, hear, w);
	return buf_as_str(&w->heard);
}

static bool write_file(const struct world *w, const char *name, const char *text)
{
	int fd = openat(w->root, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct err err;
	bool good = fd >= 0 && file_write_all(fd, str_of(text), &err) == STATUS_OK;

	file_close(&fd);
	return good;
}

TEST(what_happens_to_a_file_is_heard)
{
	WORLD;
	struct err err;

	OK(world_init(&w, t, &err));
	NEED(mkdirat(w.root, "a", 0700) == 0);
	OK(notify_add(w.n, w.root, STR(""), &err));
	OK(notify_add(w.n, w.root, STR("a"), &err));
	CHECK(heard(&w).n == 0);
	NEED(write_file(&w, "a/x", "1") && write_file(&w, "y", "1"));
	EQS(heard(&w), STR("file a/x\nfile a/x\nfile y\nfile y\n"));
	NEED(renameat(w.root, "a/x", w.root, "z") == 0);
	EQS(heard(&w), STR("file a/x\nfile z\n"));
	NEED(unlinkat(w.root, "z", 0) == 0);
	EQS(heard(&w), STR("file z\n"));
	NEED(fchmodat(w.root, "y", 0644, 0) == 0);
	CHECK(heard(&w).n == 0);
}

TEST(folders_come_and_go_and_are_heard_in_only_when_added)
{
	WORLD;
	struct err err;

	OK(world_init(&w, t, &err));
	OK(notify_add(w.n, w.root, STR(""), &err));
	NEED(mkdirat(w.root, "a", 0700) == 0 && write_file(&w, "a/x", "1"));
	EQS(heard(&w), STR("came a\n"));
	OK(notify_add(w.n, w.root, STR("a"), &err));
	OK(notify_add(w.n, w.root, STR("a"), &err)); /* again: no harm */
	NEED(write_file(&w, "a/x", "1"));
	EQS(heard(&w), STR("file a/x\n"));
	NEED(renameat(w.root, "a", w.root, "b") == 0);
	EQS(heard(&w), STR("went a\ncame b\n"));
	notify_drop(w.n, STR("a"));
	NEED(write_file(&w, "b/x", "1"));
	CHECK(heard(&w).n == 0);
	OK(notify_add(w.n, w.root, STR("b"), &err));
	NEED(write_file(&w, "b/x", "1"));
	EQS(heard(&w), STR("file b/x\n"));
	NEED(unlinkat(w.root, "b/x", 0) == 0 && unlinkat(w.root, "b", AT_REMOVEDIR) == 0);
	EQS(heard(&w), STR("file b/x\nwent b\n"));
}

TEST(a_folder_that_is_dropped_takes_those_below_it_along_and_no_others)
{
	WORLD;
	struct err err;

	OK(world_init(&w, t, &err));
	NEED(mkdirat(w.root, "a", 0700) == 0 && mkdirat(w.root, "a/b", 0700) == 0 &&
	     mkdirat(w.root, "ab", 0700) == 0);
	OK(notify_add(w.n, w.root, STR("a"), &err));
	OK(notify_add(w.n, w.root, STR("a/b"), &err));
	OK(notify_add(w.n, w.root, STR("ab"), &err));
	notify_drop(w.n, STR("a"));
	NEED(write_file(&w, "a/x", "1") && write_file(&w, "a/b/x", "1") && write_file(&w, "ab/x", "1"));
	EQS(heard(&w), STR("file ab/x\nfile ab/x\n"));
}

TEST(a_root_that_is_moved_away_is_heard)
{
	WORLD;
	char moved[LIMIT_PATH];
	struct err err;

	OK(world_init(&w, t, &err));
	snprintf(moved, sizeof moved, "%.2000s-moved", w.dir);
	OK(notify_add(w.n, w.root, STR(""), &err));
	NEED(rename(w.dir, moved) == 0);
	EQS(heard(&w), STR("went \n"));
	NEED(rename(moved, w.dir) == 0);
}

TEST(links_and_what_is_missing_are_not_watched)
{
	WORLD;
	struct err err;

	OK(world_init(&w, t, &err));
	NEED(mkdirat(w.root, "a", 0700) == 0 && symlinkat("a", w.root, "link") == 0 &&
	     write_file(&w, "f", "1"));
	EQ(notify_add(w.n, w.root, STR("link"), &err), STATUS_DENIED);
	EQ(notify_add(w.n, w.root, STR("none"), &err), STATUS_NOT_FOUND);
	CHECK(notify_add(w.n, w.root, STR("f"), &err) != STATUS_OK);
	CHECK(notify_add(w.n, w.root, STR("../x"), &err) != STATUS_OK);
}

/* How much the system keeps; 0 = it does not say. */
static long queue_limit(void)
{
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
	char text[32] = "";

	if (f && !fgets(text, sizeof text, f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return strtol(text, NULL, 10);
}

TEST(an_overflow_of_the_queue_is_told)
{
	WORLD;
	long limit = queue_limit();
	struct err err;

	if (limit <= 0 || limit > 100000)
		SKIP("the system's queue is too long to fill");
	OK(world_init(&w, t, &err));
	OK(notify_add(w.n, w.root, STR(""), &err));
	for (long i = 0; i <= limit / 2; i++) {
		NEED(mkdirat(w.root, "a", 0700) == 0);
		NEED(unlinkat(w.root, "a", AT_REMOVEDIR) == 0);
	}
	heard(&w);
	EQ(w.lost, 1);
	NEED(write_file(&w, "x", "1"));
	EQS(heard(&w), STR("file x\nfile x\n"));
}

TESTS(CASE(what_happens_to_a_file_is_heard), CASE(folders_come_and_go_and_are_heard_in_only_when_added),
      CASE(a_folder_that_is_dropped_takes_those_below_it_along_and_no_others),
      CASE(a_root_that_is_moved_away_is_heard), CASE(links_and_what_is_missing_are_not_watched),
      CASE(an_overflow_of_the_queue_is_told))
