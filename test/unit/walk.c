/*
 * Walking: everything wanted is found once, what is not wanted is never
 * touched, and what cannot be looked at is told.
 */
#include "base/walk.h"
#include "t.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NOBODY = 65534, MOST = 2000 };

/* What a walk told us, as sorted lines "F path size", "R path", "E path". */
struct heard {
	char *lines[MOST];
	size_t count;
	const char *unwanted; /* a component that is refused */
	bool folders_only;
	size_t asked;
	atomic_bool *cancel_at_first;
};

static void hear(struct heard *h, char kind, struct str path, long long size)
{
	char *line = NULL;
	int n = size >= 0 ? asprintf(&line, "%c %.*s %lld", kind, STR_ARG(path), size)
			  : asprintf(&line, "%c %.*s", kind, STR_ARG(path));

	if (n < 0 || h->count == MOST)
		abort();
	h->lines[h->count++] = line;
}

static bool wants(void *ctx, struct str path, bool is_folder)
{
	struct heard *h = ctx;

	h->asked++;
	if (h->folders_only && !is_folder)
		return false;
	return !h->unwanted || !str_eq(str_basename(path), str_of(h->unwanted));
}

static void found(void *ctx, struct str path, const struct file_stat *st)
{
	struct heard *h = ctx;

	if (h->cancel_at_first)
		atomic_store(h->cancel_at_first, true);
	hear(h, 'F', path, (long long)st->size);
}

static void failed(void *ctx, struct str path, enum walk_problem problem, const struct err *why)
{
	hear(ctx, problem == WALK_ERROR ? 'E' : problem == WALK_REFUSED ? 'R' : 'L', path, -1);
	if (why->status == STATUS_OK || !why->text[0])
		hear(ctx, '!', path, -1);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void heard_release(struct heard *h)
{
	for (size_t i = 0; i < h->count; i++)
		free(h->lines[i]);
}

#define HEARD struct heard CLEANUP(heard_release)

static enum status walk(struct heard *h, const char *dir, const atomic_bool *cancel, struct err *err)
{
	struct walk w = { .wants = wants, .found = found, .failed = failed, .ctx = h, .cancel = cancel };
	int fd CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	enum status status = walk_run(&w, fd, err);

	qsort(h->lines, h->count, sizeof *h->lines, by_text);
	return status;
}

static bool has(const struct heard *h, const char *line)
{
	for (size_t i = 0; i < h->count; i++)
		if (strcmp(h->lines[i], line) == 0)
			return true;
	return false;
}

static void path_in(char out[LIMIT_PATH], const char *dir, const char *name)
{
	snprintf(out, LIMIT_PATH, "%.2000s/%.2000s", dir, name);
}

static bool put_file(const char *dir, const char *name, size_t size)
{
	char path[LIMIT_PATH];
	int fd;

	path_in(path, dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		return false;
	return close(fd) == 0;
}

static bool make_dir(const char *dir, const char *name)
{
	char path[LIMIT_PATH];

	path_in(path, dir, name);
	return mkdir(path, 0755) == 0;
}

static bool make_link(const char *to, const char *dir, const char *name)
{
	char path[LIMIT_PATH];

	path_in(path, dir, name);
	return symlink(to, path) == 0;
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A random tree; what should be heard goes into `want`. */
static bool make_tree(const char *dir, uint64_t seed, struct heard *want)
{
	char folders[64][200] = { "" };
	size_t count = 1;

	for (int i = 0; i < 300; i++) {
		char *in = folders[next_random(&seed) % count], name[256];
		uint64_t what = next_random(&seed) % 10;
		size_t size = (size_t)(next_random(&seed) % 5000);

		snprintf(name, sizeof name, "%s%sn%d", in, in[0] ? "/" : "", i);
		if (what == 0 && count < COUNT(folders) && strlen(name) < 190) {
			if (!make_dir(dir, name))
				return false;
			memcpy(folders[count++], name, strlen(name) + 1);
		} else if (what == 1) {
			if (!make_link("nowhere", dir, name))
				return false;
			hear(want, 'R', str_of(name), -1);
		} else {
			if (!put_file(dir, name, size))
				return false;
			hear(want, 'F', str_of(name), (long long)size);
		}
	}
	qsort(want->lines, want->count, sizeof *want->lines, by_text);
	return true;
}

TEST(every_file_of_a_random_tree_is_found_once)
{
	struct err err;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		const char *dir = t_tmpdir(t);
		HEARD got = { 0 };
		HEARD want = { 0 };

		NEED(make_tree(dir, seed, &want));
		OK(walk(&got, dir, NULL, &err));
		EQ(got.count, want.count);
		for (size_t i = 0; i < got.count && i < want.count; i++)
			EQS(str_of(got.lines[i]), str_of(want.lines[i]));
	}
}

TEST(an_empty_folder_holds_nothing)
{
	HEARD h = { 0 };
	struct err err;

	OK(walk(&h, t_tmpdir(t), NULL, &err));
	EQ(h.count, 0);
	EQ(h.asked, 0);
}

TEST(a_root_that_is_no_folder_fails)
{
	HEARD h = { 0 };
	struct err err;

	CHECK(walk(&h, "/dev/null", NULL, &err) != STATUS_OK);
	EQ(h.count, 0);
}

TEST(the_walk_says_what_decides_whether_a_file_changed)
{
	const char *dir = t_tmpdir(t);
	HEARD h = { 0 };
	struct err err;

	NEED(put_file(dir, "f", 123));
	OK(walk(&h, dir, NULL, &err));
	EQ(h.count, 1);
	CHECK(has(&h, "F f 123"));
}

/* A folder's time of access changes when it is read (and mounted so), and its
 * entries are asked about: either would tell on us. */
TEST(what_is_not_wanted_is_not_opened)
{
	const char *dir = t_tmpdir(t);
	HEARD h = { .unwanted = "no" };
	bool is_root = geteuid() == 0;
	enum status status;
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, dir, "no");
	NEED(make_dir(dir, "no") && put_file(dir, "no/inside", 1) && make_dir(dir, "yes") &&
	     put_file(dir, "yes/f", 2) && put_file(dir, "yes/no", 3) && chmod(path, 0) == 0 && chmod(dir, 0755) == 0);
	/* As somebody who cannot open it: an attempt would be told as a failure. */
	if (is_root && seteuid(NOBODY))
		is_root = false;
	status = walk(&h, dir, NULL, &err);
	if (is_root)
		NEED(seteuid(0) == 0);
	NEED(chmod(path, 0755) == 0);
	EQ(status, STATUS_OK);
	EQ(h.count, 1);
	CHECK(has(&h, "F yes/f 2"));
	EQ(h.asked, 4); /* no, yes, yes/f, yes/no: never no/inside */
}

TEST(an_unreadable_folder_is_told_and_the_rest_goes_on)
{
	const char *dir = t_tmpdir(t);
	bool is_root = geteuid() == 0;
	HEARD h = { 0 };
	enum status status;
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, dir, "closed");
	NEED(make_dir(dir, "closed") && put_file(dir, "closed/f", 1) && put_file(dir, "f", 2) && chmod(path, 0) == 0 &&
	     chmod(dir, 0755) == 0);
	if (is_root && seteuid(NOBODY)) {
		chmod(path, 0755);
		SKIP("cannot become another user");
	}
	status = walk(&h, dir, NULL, &err);
	if (is_root)
		NEED(seteuid(0) == 0);
	NEED(chmod(path, 0755) == 0);
	EQ(status, STATUS_OK);
	EQ(h.count, 2);
	CHECK(has(&h, "E closed"));
	CHECK(has(&h, "F f 2"));
}

/* Replaces a folder by a link to another when its neighbour is found. */
struct replacing {
	struct heard heard;
	char from[LIMIT_PATH], to[LIMIT_PATH];
};

static void replace_folder(void *ctx, struct str path, const struct file_stat *st)
{
	struct replacing *r = ctx;

	found(&r->heard, path, st);
	if (str_eq(path, STR("trigger")) && rename(r->from, r->to) == 0 && symlink("moved", r->from))
		abort();
}

static bool wants_all(void *ctx, struct str path, bool is_folder)
{
	(void)ctx;
	return is_folder ? !str_eq(path, STR("moved")) : true;
}

TEST(a_folder_replaced_by_a_link_during_the_walk_is_not_followed)
{
	const char *dir = t_tmpdir(t);
	struct replacing r = { 0 };
	struct walk w = { .wants = wants_all, .found = replace_folder, .failed = failed, .ctx = &r };
	int fd CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	struct err err;

	path_in(r.from, dir, "a");
	path_in(r.to, dir, "moved");
	NEED(make_dir(dir, "a") && put_file(dir, "a/secret", 1) && put_file(dir, "trigger", 1));
	OK(walk_run(&w, fd, &err));
	CHECK(has(&r.heard, "F trigger 1"));
	CHECK(!has(&r.heard, "F a/secret 1"));
	EQ(r.heard.count, 2);
	heard_release(&r.heard);
}

TEST(links_and_devices_are_refused_and_told)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int listener CLEANUP(file_close) = socket(AF_UNIX, SOCK_STREAM, 0);
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];
	HEARD h = { 0 };
	struct err err;

	path_in(path, dir, "fifo");
	snprintf(name.sun_path, sizeof name.sun_path, "%.90s/sock", dir);
	NEED(put_file(dir, "real", 1) && make_dir(dir, "folder") && put_file(dir, "folder/x", 1) &&
	     make_link("real", dir, "to-file") && make_link("folder", dir, "to-folder") &&
	     make_link("/", dir, "to-all") && make_link("nowhere", dir, "to-nothing") && make_link(".", dir, "loop") &&
	     mkfifo(path, 0600) == 0 && listener >= 0 && bind(listener, (struct sockaddr *)&name, sizeof name) == 0);
	OK(walk(&h, dir, NULL, &err));
	EQ(h.count, 9);
	CHECK(has(&h, "F real 1") && has(&h, "F folder/x 1"));
	CHECK(has(&h, "R to-file") && has(&h, "L to-folder") && has(&h, "L to-all") && has(&h, "R to-nothing"));
	CHECK(has(&h, "L loop") && has(&h, "R fifo") && has(&h, "R sock"));
}

TEST(a_link_nobody_wants_is_not_told)
{
	const char *dir = t_tmpdir(t);
	HEARD h = { .unwanted = "no" };
	struct err err;

	NEED(make_link("nowhere", dir, "no"));
	OK(walk(&h, dir, NULL, &err));
	EQ(h.count, 0);
}

TEST(a_link_is_told_when_a_folder_of_its_name_would_be_wanted)
{
	const char *dir = t_tmpdir(t);
	HEARD h = { .folders_only = true };
	struct err err;

	NEED(make_link("nowhere", dir, "maybe") && put_file(dir, "file", 1));
	OK(walk(&h, dir, NULL, &err));
	EQ(h.count, 1);
	CHECK(has(&h, "R maybe"));
}

TEST(folders_are_followed_to_the_limit_and_then_refused)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH] = "", name[LIMIT_PATH];
	HEARD h = { 0 };
	int files = 0, refused = 0;
	struct err err;

	for (int depth = 1; depth <= LIMIT_WALK_DEPTH + 5; depth++) {
		size_t n = strlen(path);

		snprintf(path + n, sizeof path - n, "%sd", n ? "/" : "");
		NEED(make_dir(dir, path));
		snprintf(name, sizeof name, "%.3000s/f", path);
		NEED(put_file(dir, name, 1));
	}
	OK(walk(&h, dir, NULL, &err));
	for (size_t i = 0; i < h.count; i++) {
		files += h.lines[i][0] == 'F';
		refused += h.lines[i][0] == 'R';
	}
	EQ(files, LIMIT_WALK_DEPTH);
	EQ(refused, 1);
}

/* Goes down and up again with the folder itself, because no path reaches it. */
static bool make_deep(int at, int levels, const char *name)
{
	int fd = -1;
	bool good;

	if (levels == 0) {
		fd = openat(at, "file", O_WRONLY | O_CREAT, 0600);
		return fd >= 0 && close(fd) == 0;
	}
	good = mkdirat(at, name, 0755) == 0 && (fd = openat(at, name, O_RDONLY | O_DIRECTORY)) >= 0 &&
	       make_deep(fd, levels - 1, name);
	if (fd >= 0)
		close(fd);
	return good;
}

static void remove_deep(int at, int levels, const char *name)
{
	int fd = levels ? openat(at, name, O_RDONLY | O_DIRECTORY) : -1;

	if (levels == 0)
		unlinkat(at, "file", 0);
	if (fd < 0)
		return;
	remove_deep(fd, levels - 1, name);
	close(fd);
	unlinkat(at, name, AT_REMOVEDIR);
}

TEST(a_path_that_is_too_long_is_refused_and_a_long_one_is_found)
{
	enum { LEVELS = 18, NAME = 240 };
	const char *dir = t_tmpdir(t);
	int fd CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	struct walk w = { .wants = wants, .found = found, .failed = failed };
	struct heard h = { 0 };
	char name[NAME + 1];
	struct err err;
	bool made;

	memset(name, 'n', NAME);
	name[NAME] = '\0';
	w.ctx = &h;
	NEED(fd >= 0);
	made = make_deep(fd, LEVELS, name);
	err.status = STATUS_OK;
	if (made)
		CHECK(walk_run(&w, fd, &err) == STATUS_OK);
	EQ(h.count, 1); /* 17 levels and "/n..." are over 4095 */
	CHECK(h.count && h.lines[0][0] == 'R' && strlen(h.lines[0]) > 3800);
	heard_release(&h);
	remove_deep(fd, LEVELS, name);
	NEED(made);

	h = (struct heard){ 0 };
	made = make_deep(fd, 16, name);
	if (made)
		CHECK(walk_run(&w, fd, &err) == STATUS_OK);
	EQ(h.count, 1);
	CHECK(h.count && h.lines[0][0] == 'F');
	heard_release(&h);
	remove_deep(fd, 16, name);
}

TEST(names_may_be_any_bytes)
{
	static const char *const names[] = {
		"new\nline", "\xff\xfe\x80", "\x1b[31mred", " ", "-rf", "%s%n", "quote\"'`$(x)", "\x01", "caf\xc3\xa9",
		"...", "..hidden", "a\\b", "tab\t",
	};
	const char *dir = t_tmpdir(t);
	HEARD h = { 0 };
	struct err err;

	for (size_t i = 0; i < COUNT(names); i++)
		NEED(put_file(dir, names[i], i));
	OK(walk(&h, dir, NULL, &err));
	EQ(h.count, COUNT(names));
	for (size_t i = 0; i < COUNT(names); i++) {
		char line[64];

		snprintf(line, sizeof line, "F %.40s %zu", names[i], i);
		CHECK(has(&h, line));
	}
}

TEST(a_cancelled_walk_enters_no_more_folders)
{
	const char *dir = t_tmpdir(t);
	atomic_bool cancel = false;
	HEARD h = { .cancel_at_first = &cancel };
	HEARD before = { 0 };
	struct err err;

	NEED(put_file(dir, "top", 1));
	for (int i = 0; i < 20; i++) {
		char name[32];

		snprintf(name, sizeof name, "d%d", i);
		NEED(make_dir(dir, name));
		snprintf(name, sizeof name, "d%d/f", i);
		NEED(put_file(dir, name, 1));
	}
	OK(walk(&h, dir, &cancel, &err));
	EQ(h.count, 1);
	CHECK(has(&h, "F top 1"));
	atomic_store(&cancel, false);
	OK(walk(&before, dir, &cancel, &err));
	EQ(before.count, 21);
}

TEST(a_wide_folder_is_read_in_full)
{
	const char *dir = t_tmpdir(t);
	HEARD h = { 0 };
	struct err err;

	for (int i = 0; i < 1500; i++) {
		char name[32];

		snprintf(name, sizeof name, "file-%d", i);
		NEED(put_file(dir, name, 0));
	}
	OK(walk(&h, dir, NULL, &err));
	EQ(h.count, 1500);
}

TEST(one_path_is_looked_at_as_the_walk_would)
{
	const char *dir = t_tmpdir(t);
	int root CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	HEARD h = { .unwanted = "no" };
	struct walk w = { .wants = wants, .found = found, .failed = failed, .ctx = &h };

	NEED(root >= 0 && put_file(dir, "f", 1) && make_dir(dir, "a") && put_file(dir, "a/f", 2) &&
	     make_dir(dir, "no") && put_file(dir, "no/f", 3) && make_link("f", dir, "link") &&
	     make_link("a", dir, "to-folder"));
	walk_path(&w, root, STR("f"));
	walk_path(&w, root, STR("a/f"));
	EQ(h.count, 2);
	CHECK(has(&h, "F f 1") && has(&h, "F a/f 2"));
	/* Not there, a folder, not wanted, not clean. */
	walk_path(&w, root, STR("b"));
	walk_path(&w, root, STR("b/f"));
	walk_path(&w, root, STR("f/f"));
	walk_path(&w, root, STR("a"));
	walk_path(&w, root, STR("no/f"));
	walk_path(&w, root, STR("a/../f"));
	walk_path(&w, root, STR("/etc/passwd"));
	walk_path(&w, root, STR(""));
	EQ(h.count, 2);
	walk_path(&w, root, STR("link"));
	walk_path(&w, root, STR("to-folder"));
	walk_path(&w, root, STR("to-folder/f"));
	EQ(h.count, 5);
	CHECK(has(&h, "R link") && has(&h, "L to-folder") && has(&h, "E to-folder"));
}

TESTS(CASE(one_path_is_looked_at_as_the_walk_would),
      CASE(every_file_of_a_random_tree_is_found_once),
      CASE(an_empty_folder_holds_nothing),
      CASE(a_root_that_is_no_folder_fails),
      CASE(the_walk_says_what_decides_whether_a_file_changed),
      CASE(what_is_not_wanted_is_not_opened),
      CASE(an_unreadable_folder_is_told_and_the_rest_goes_on),
      CASE(a_folder_replaced_by_a_link_during_the_walk_is_not_followed),
      CASE(links_and_devices_are_refused_and_told),
      CASE(a_link_nobody_wants_is_not_told),
      CASE(a_link_is_told_when_a_folder_of_its_name_would_be_wanted),
      CASE(folders_are_followed_to_the_limit_and_then_refused),
      CASE(a_path_that_is_too_long_is_refused_and_a_long_one_is_found),
      CASE(names_may_be_any_bytes),
      CASE(a_cancelled_walk_enters_no_more_folders),
      CASE(a_wide_folder_is_read_in_full))
