/*
 * Files beneath a root: what may be opened and what never is, by openat2() and
 * step by step alike; reading and replacing whole files; making folders.
 */
#include "base/file.h"
#include "t.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

typedef enum status opener(int root_fd, struct str path, int flags, int *fd_out, struct err *err);

/* Both ways must give the same answers. */
static opener *const openers[] = { file_open_beneath, file_open_stepwise };

static void path_in(char out[LIMIT_PATH], const char *dir, const char *name)
{
	snprintf(out, LIMIT_PATH, "%.2000s/%.2000s", dir, name);
}

static bool put_file(const char *dir, const char *name, struct str bytes)
{
	char path[LIMIT_PATH];
	bool written;
	FILE *f;

	path_in(path, dir, name);
	f = fopen(path, "wb");
	if (!f)
		return false;
	written = fwrite(bytes.p, 1, bytes.n, f) == bytes.n;
	return fclose(f) == 0 && written;
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

static int count_entries(const char *dir)
{
	char command[LIMIT_PATH + 64];
	int n = -1;
	FILE *f;

	snprintf(command, sizeof command, "ls -A '%s' | wc -l", dir);
	f = popen(command, "r");
	if (!f || fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		pclose(f);
	return n;
}

/* ---- Paths ----------------------------------------------------------------- */

TEST(only_plain_relative_paths_are_clean)
{
	static const struct {
		struct str path;
		bool clean;
	} rows[] = {
		{ { "a", 1 }, true },
		{ { "a/b", 3 }, true },
		{ { "a/b/c.jsonl", 11 }, true },
		{ { ".a", 2 }, true },
		{ { "..a", 3 }, true },
		{ { "a..", 3 }, true },
		{ { "...", 3 }, true },
		{ { "a/.b/..c", 8 }, true },
		{ { " ", 1 }, true },
		{ { "a\nb", 3 }, true },
		{ { "\xff\xfe", 2 }, true },
		{ { "\\..\\", 4 }, true },
		{ { "", 0 }, false },
		{ { NULL, 0 }, false },
		{ { "/", 1 }, false },
		{ { "/a", 2 }, false },
		{ { "a/", 2 }, false },
		{ { "a//b", 4 }, false },
		{ { "//a", 3 }, false },
		{ { ".", 1 }, false },
		{ { "..", 2 }, false },
		{ { "./a", 3 }, false },
		{ { "a/.", 3 }, false },
		{ { "a/./b", 5 }, false },
		{ { "../a", 4 }, false },
		{ { "a/..", 4 }, false },
		{ { "a/../b", 6 }, false },
		{ { "a/b/../../..", 12 }, false },
		{ { "a\0b", 3 }, false },
		{ { "\0", 1 }, false },
		{ { "a\0", 2 }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (path_is_clean(rows[i].path) != rows[i].clean)
			t_fail(t, __FILE__, __LINE__, "row %zu '%.*s': wanted %d", i, STR_ARG(rows[i].path),
			       rows[i].clean);
}

TEST(a_path_may_be_as_long_as_the_system_takes_it)
{
	char long_path[LIMIT_PATH + 1];

	memset(long_path, 'a', sizeof long_path);
	CHECK(path_is_clean(str_from(long_path, LIMIT_PATH - 1)));
	CHECK(!path_is_clean(str_from(long_path, LIMIT_PATH)));
	CHECK(!path_is_clean(str_from(long_path, LIMIT_PATH + 1)));
}

/* ---- Opening --------------------------------------------------------------- */

TEST(a_plain_file_is_opened_and_read)
{
	const char *dir = t_tmpdir(t);
	int root CLEANUP(file_close) = -1;
	struct err err;

	NEED(make_dir(dir, "a") && make_dir(dir, "a/b") && put_file(dir, "a/b/c", STR("hello")) &&
	     put_file(dir, "top", STR("top")));
	root = open(dir, O_RDONLY | O_DIRECTORY);
	NEED(root >= 0);
	for (size_t i = 0; i < COUNT(openers); i++) {
		int fd CLEANUP(file_close) = -1;
		int top CLEANUP(file_close) = -1;
		char bytes[16];
		size_t got;

		OK(openers[i](root, STR("a/b/c"), O_RDONLY, &fd, &err));
		OK(file_read_at(fd, 0, bytes, sizeof bytes, &got, &err));
		EQS(str_from(bytes, got), STR("hello"));
		CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		OK(openers[i](root, STR("top"), O_RDONLY, &top, &err));
		OK(file_read_at(top, 0, bytes, sizeof bytes, &got, &err));
		EQS(str_from(bytes, got), STR("top"));
	}
}

TEST(an_empty_path_opens_the_root_again)
{
	const char *dir = t_tmpdir(t);
	int root CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	int fd CLEANUP(file_close) = -1;
	struct stat a, b;
	struct err err;

	NEED(root >= 0);
	OK(file_open_beneath(root, STR(""), O_RDONLY | O_DIRECTORY, &fd, &err));
	NEED(fd != root && fstat(root, &a) == 0 && fstat(fd, &b) == 0);
	CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
}

TEST(what_is_missing_is_not_found)
{
	const char *dir = t_tmpdir(t);
	int root CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	struct err err;

	NEED(root >= 0 && put_file(dir, "file", STR("x")));
	for (size_t i = 0; i < COUNT(openers); i++) {
		int fd = -7;

		EQ(openers[i](root, STR("no"), O_RDONLY, &fd, &err), STATUS_NOT_FOUND);
		EQ(openers[i](root, STR("no/such/file"), O_RDONLY, &fd, &err), STATUS_NOT_FOUND);
		EQ(openers[i](root, STR("file/below"), O_RDONLY, &fd, &err), STATUS_NOT_FOUND);
		CHECK(strstr(err.text, "file/below"));
		EQ(fd, -7);
	}
}

TEST(nothing_outside_the_root_can_be_opened)
{
	static const struct str paths[] = {
		{ "../secret", 9 },        { "..", 2 },          { "a/../../secret", 14 }, { "a/../b", 6 },
		{ "/etc/passwd", 11 },     { "/", 1 },           { "a//b", 4 },            { "./b", 3 },
		{ "out/secret", 10 },      { "up", 2 },          { "up/secret", 9 },       { "a/inside", 8 },
		{ "in/b", 4 },             { "last", 4 },        { "absolute", 8 },        { "dangling", 8 },
		{ "chain", 5 },            { "self", 4 },        { "b\0c", 3 },
	};
	const char *dir = t_tmpdir(t);
	int root CLEANUP(file_close) = -1;
	char inner[LIMIT_PATH];
	struct err err;

	path_in(inner, dir, "root");
	NEED(make_dir(dir, "root") && put_file(dir, "secret", STR("secret")) && make_dir(inner, "a") &&
	     put_file(inner, "b", STR("b")) && make_link("..", inner, "up") && make_link("../../root", inner, "in") &&
	     make_link("..", inner, "out") && make_link("b", inner, "last") && make_link("../b", inner, "a/inside") &&
	     make_link("/etc/passwd", inner, "absolute") && make_link("nowhere", inner, "dangling") &&
	     make_link("last", inner, "chain") && make_link("self", inner, "self"));
	root = open(inner, O_RDONLY | O_DIRECTORY);
	NEED(root >= 0);
	for (size_t i = 0; i < COUNT(openers); i++)
		for (size_t k = 0; k < COUNT(paths); k++) {
			int fd = -7;

			if (openers[i](root, paths[k], O_RDONLY, &fd, &err) == STATUS_OK || fd != -7)
				t_fail(t, __FILE__, __LINE__, "way %zu opened '%.*s'", i, STR_ARG(paths[k]));
		}
}

TEST(a_link_as_the_last_part_is_denied_even_to_create_through_it)
{
	const char *dir = t_tmpdir(t);
	int root CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	char outside[LIMIT_PATH];
	struct err err;

	path_in(outside, dir, "made");
	NEED(root >= 0 && make_link("made", dir, "link"));
	for (size_t i = 0; i < COUNT(openers); i++) {
		int fd = -7;

		EQ(openers[i](root, STR("link"), O_RDONLY, &fd, &err), STATUS_DENIED);
		EQ(openers[i](root, STR("link"), O_WRONLY | O_CREAT, &fd, &err), STATUS_DENIED);
		EQ(fd, -7);
	}
	CHECK(access(outside, F_OK) != 0);
}

TEST(a_folder_replaced_by_a_link_is_refused_the_next_time)
{
	const char *dir = t_tmpdir(t);
	char a[LIMIT_PATH], moved[LIMIT_PATH];
	int root CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	struct err err;

	path_in(a, dir, "a");
	path_in(moved, dir, "moved");
	NEED(root >= 0 && make_dir(dir, "a") && put_file(dir, "a/f", STR("f")));
	for (size_t i = 0; i < COUNT(openers); i++) {
		int before CLEANUP(file_close) = -1;
		int after = -7;

		OK(openers[i](root, STR("a/f"), O_RDONLY, &before, &err));
		NEED(rename(a, moved) == 0 && make_link("moved", dir, "a"));
		CHECK(openers[i](root, STR("a/f"), O_RDONLY, &after, &err) != STATUS_OK);
		EQ(after, -7);
		NEED(unlink(a) == 0 && rename(moved, a) == 0);
	}
}

TEST(a_fifo_does_not_hang)
{
	const char *dir = t_tmpdir(t);
	int root CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, dir, "fifo");
	NEED(root >= 0 && mkfifo(path, 0600) == 0);
	alarm(20); /* the test dies instead of waiting for ever */
	for (size_t i = 0; i < COUNT(openers); i++) {
		int fd CLEANUP(file_close) = -1;
		struct stat st;

		OK(openers[i](root, STR("fifo"), O_RDONLY, &fd, &err));
		CHECK(fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode));
	}
	alarm(0);
}

TEST(a_new_file_is_private)
{
	static const struct str names[] = { { "new0", 4 }, { "new1", 4 } };
	const char *dir = t_tmpdir(t);
	int root CLEANUP(file_close) = open(dir, O_RDONLY | O_DIRECTORY);
	mode_t before = umask(0);
	struct err err;

	for (size_t i = 0; i < COUNT(openers); i++) {
		int fd CLEANUP(file_close) = -1;
		struct stat st;

		OK(openers[i](root, names[i], O_WRONLY | O_CREAT | O_EXCL, &fd, &err));
		NEED(fstat(fd, &st) == 0);
		EQ(st.st_mode & 07777, 0600);
	}
	umask(before);
}

/* ---- Describing ------------------------------------------------------------ */

TEST(any_difference_in_what_a_file_looks_like_counts)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];
	struct file_stat a, b;
	struct stat st;
	struct err err;
	int folder CLEANUP(file_close) = -1;

	snprintf(path, sizeof path, "%s/f", dir);
	OK(file_write_atomic(path, STR("123456789"), 0600, &err));
	folder = open(dir, O_RDONLY | O_DIRECTORY);
	NEED(stat(path, &st) == 0);
	EQ(file_stat_at(folder, "f", &a), 0);
	EQ(a.inode, st.st_ino);
	EQ(a.size, 9);
	EQ(a.mtime_ns, st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	EQ(a.ctime_ns, st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec);
	CHECK(a.is_regular && a.btime_ns <= a.ctime_ns);
	EQ(file_stat_at(folder, "", &b), 0); /* the folder itself */
	CHECK(!b.is_regular);
	EQ(file_stat_at(folder, "nothing", &b), ENOENT);
	b = a;
	CHECK(file_stat_eq(&a, &b));
	b.inode++;
	CHECK(!file_stat_eq(&a, &b));
	b = a;
	b.size++;
	CHECK(!file_stat_eq(&a, &b));
	b = a;
	b.mtime_ns++;
	CHECK(!file_stat_eq(&a, &b));
	b = a;
	b.ctime_ns++;
	CHECK(!file_stat_eq(&a, &b));
}

/* ---- Reading --------------------------------------------------------------- */

TEST(a_read_is_short_only_at_the_end)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH], bytes[32];
	int fd CLEANUP(file_close) = -1;
	size_t got = 99;
	struct err err;

	path_in(path, dir, "f");
	NEED(put_file(dir, "f", STR("0123456789")));
	fd = open(path, O_RDONLY);
	NEED(fd >= 0);
	OK(file_read_at(fd, 0, bytes, 10, &got, &err));
	EQS(str_from(bytes, got), STR("0123456789"));
	OK(file_read_at(fd, 3, bytes, 4, &got, &err));
	EQS(str_from(bytes, got), STR("3456"));
	OK(file_read_at(fd, 7, bytes, 32, &got, &err));
	EQS(str_from(bytes, got), STR("789"));
	OK(file_read_at(fd, 10, bytes, 5, &got, &err));
	EQ(got, 0);
	OK(file_read_at(fd, 1000, bytes, 5, &got, &err));
	EQ(got, 0);
	OK(file_read_at(fd, 2, bytes, 0, &got, &err));
	EQ(got, 0);
	got = 99;
	CHECK(file_read_at(-1, 0, bytes, 5, &got, &err) != STATUS_OK);
	EQ(got, 99);
}

TEST(a_whole_file_is_read_up_to_the_limit_and_not_beyond)
{
	static const size_t sizes[] = { 0, 1, 10, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 200000 };
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, dir, "f");
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct buf want = BUF_INIT(MIB), got = BUF_INIT(MIB);

		for (size_t k = 0; k < sizes[i]; k++)
			buf_byte(&want, (char)(k * 7 + k / 251));
		NEED(put_file(dir, "f", str_from(want.p ? want.p : "", want.n)));
		OK(file_read_all(path, &got, &err));
		CHECK(str_eq(buf_as_str(&got), buf_as_str(&want)));
		buf_release(&got);

		buf_init(&got, sizes[i]); /* exactly its size is not too large */
		OK(file_read_all(path, &got, &err));
		CHECK(str_eq(buf_as_str(&got), buf_as_str(&want)));
		buf_release(&got);

		if (sizes[i]) {
			buf_init(&got, sizes[i] - 1);
			EQ(file_read_all(path, &got, &err), STATUS_LIMIT);
			buf_release(&got);
		}
		buf_release(&want);
	}
}

TEST(a_file_that_cannot_be_read_is_named)
{
	const char *dir = t_tmpdir(t);
	struct buf b = BUF_INIT(10);
	char path[LIMIT_PATH];
	struct err err;

	path_in(path, dir, "missing-one");
	EQ(file_read_all(path, &b, &err), STATUS_NOT_FOUND);
	CHECK(strstr(err.text, "missing-one"));
	CHECK(file_read_all(dir, &b, &err) != STATUS_OK);
	buf_release(&b);
}

/* ---- Writing --------------------------------------------------------------- */

TEST(a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];
	struct buf got = BUF_INIT(MIB);
	mode_t before = umask(077); /* the mode is the one asked for, whatever this is */
	struct stat st;
	struct err err;

	path_in(path, dir, "f");
	OK(file_write_atomic(path, STR("first"), 0600, &err));
	NEED(stat(path, &st) == 0);
	EQ(st.st_mode & 07777, 0600);
	OK(file_write_atomic(path, STR("2"), 0644, &err));
	umask(before);
	NEED(stat(path, &st) == 0);
	EQ(st.st_mode & 07777, 0644);
	OK(file_read_all(path, &got, &err));
	EQS(buf_as_str(&got), STR("2"));
	OK(file_write_atomic(path, STR(""), 0600, &err));
	NEED(stat(path, &st) == 0);
	EQ(st.st_size, 0);
	EQ(count_entries(dir), 1);
	buf_release(&got);
}

TEST(a_reader_of_a_replaced_file_keeps_the_old_bytes)
{
	const char *dir = t_tmpdir(t);
	int fd CLEANUP(file_close) = -1;
	char path[LIMIT_PATH], bytes[16];
	struct err err;
	size_t got;

	path_in(path, dir, "f");
	OK(file_write_atomic(path, STR("old bytes"), 0600, &err));
	fd = open(path, O_RDONLY);
	NEED(fd >= 0);
	OK(file_write_atomic(path, STR("new"), 0600, &err));
	OK(file_read_at(fd, 0, bytes, sizeof bytes, &got, &err));
	EQS(str_from(bytes, got), STR("old bytes"));
}

TEST(a_name_without_a_folder_is_replaced_too)
{
	char here[LIMIT_PATH];
	struct stat st;
	struct err err;
	const char *dir = t_tmpdir(t);

	NEED(getcwd(here, sizeof here) && chdir(dir) == 0);
	CHECK(file_write_atomic("plain", STR("x"), 0600, &err) == STATUS_OK);
	CHECK(stat("plain", &st) == 0 && st.st_size == 1);
	NEED(chdir(here) == 0);
}

TEST(a_write_that_fails_leaves_the_old_content_and_no_rest)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];
	struct err err;

	NEED(make_dir(dir, "d") && make_dir(dir, "d/full"));
	path_in(path, dir, "d");
	EQ(file_write_atomic(path, STR("x"), 0600, &err) == STATUS_OK, 0);
	CHECK(strstr(err.text, path));
	EQ(count_entries(dir), 1);
	path_in(path, dir, "no/such");
	EQ(file_write_atomic(path, STR("x"), 0600, &err), STATUS_NOT_FOUND);
	EQ(count_entries(dir), 1);
}

TEST(a_folder_we_may_not_write_is_denied)
{
	const char *dir = t_tmpdir(t);
	struct buf got = BUF_INIT(100);
	bool is_root = geteuid() == 0;
	enum status write_status, dirs_status;
	char path[LIMIT_PATH], sub[LIMIT_PATH];
	struct err err, err2;

	path_in(path, dir, "f");
	path_in(sub, dir, "x/y");
	OK(file_write_atomic(path, STR("old"), 0644, &err));
	NEED(chmod(dir, 0555) == 0);
	if (is_root && seteuid(NOBODY))
		SKIP("cannot become another user");
	write_status = file_write_atomic(path, STR("new"), 0600, &err);
	dirs_status = file_make_dirs(sub, &err2);
	if (is_root)
		NEED(seteuid(0) == 0);
	NEED(chmod(dir, 0755) == 0);
	EQ(write_status, STATUS_DENIED);
	EQ(dirs_status, STATUS_DENIED);
	OK(file_read_all(path, &got, &err));
	EQS(buf_as_str(&got), STR("old"));
	EQ(count_entries(dir), 1);
	buf_release(&got);
}

TEST(a_full_disk_is_reported_as_full)
{
	int fd CLEANUP(file_close) = open("/dev/full", O_WRONLY);
	struct err err;

	if (fd < 0)
		SKIP("no /dev/full here");
	EQ(file_write_all(fd, STR("x"), &err), STATUS_FULL);
}

/* ---- Folders --------------------------------------------------------------- */

TEST(folders_are_made_private_with_their_parents)
{
	static const char *const parts[] = { "a", "a/b", "a/b/c" };
	const char *dir = t_tmpdir(t);
	mode_t before = umask(0);
	char path[LIMIT_PATH];
	struct stat st;
	struct err err;

	path_in(path, dir, "a//b/c/");
	OK(file_make_dirs(path, &err));
	OK(file_make_dirs(path, &err));
	umask(before);
	for (size_t i = 0; i < COUNT(parts); i++) {
		path_in(path, dir, parts[i]);
		NEED(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
		EQ(st.st_mode & 07777, 0700);
	}
}

TEST(a_folder_that_exists_keeps_its_mode)
{
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];
	struct stat st;
	struct err err;

	NEED(make_dir(dir, "open"));
	path_in(path, dir, "open");
	NEED(chmod(path, 0755) == 0);
	path_in(path, dir, "open/x");
	OK(file_make_dirs(path, &err));
	path_in(path, dir, "open");
	NEED(stat(path, &st) == 0);
	EQ(st.st_mode & 07777, 0755);
}

TEST(a_file_in_the_way_of_a_folder_is_an_error)
{
	char path[LIMIT_PATH], long_path[LIMIT_PATH + 10];
	const char *dir = t_tmpdir(t);
	struct err err;

	NEED(put_file(dir, "file", STR("x")));
	path_in(path, dir, "file/below");
	CHECK(file_make_dirs(path, &err) != STATUS_OK);
	path_in(path, dir, "file");
	CHECK(file_make_dirs(path, &err) != STATUS_OK);
	CHECK(file_make_dirs("", &err) != STATUS_OK);
	memset(long_path, 'a', sizeof long_path);
	long_path[sizeof long_path - 1] = '\0';
	EQ(file_make_dirs(long_path, &err), STATUS_LIMIT);
}

TEST(closing_twice_is_harmless)
{
	int fd = open("/dev/null", O_RDONLY), none = -1;

	NEED(fd >= 0);
	file_close(&fd);
	EQ(fd, -1);
	file_close(&fd);
	file_close(&none);
	EQ(none, -1);
}

TESTS(CASE(only_plain_relative_paths_are_clean),
      CASE(a_path_may_be_as_long_as_the_system_takes_it),
      CASE(a_plain_file_is_opened_and_read),
      CASE(an_empty_path_opens_the_root_again),
      CASE(what_is_missing_is_not_found),
      CASE(nothing_outside_the_root_can_be_opened),
      CASE(a_link_as_the_last_part_is_denied_even_to_create_through_it),
      CASE(a_folder_replaced_by_a_link_is_refused_the_next_time),
      CASE(a_fifo_does_not_hang),
      CASE(a_new_file_is_private),
      CASE(any_difference_in_what_a_file_looks_like_counts),
      CASE(a_read_is_short_only_at_the_end),
      CASE(a_whole_file_is_read_up_to_the_limit_and_not_beyond),
      CASE(a_file_that_cannot_be_read_is_named),
      CASE(a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it),
      CASE(a_reader_of_a_replaced_file_keeps_the_old_bytes),
      CASE(a_name_without_a_folder_is_replaced_too),
      CASE(a_write_that_fails_leaves_the_old_content_and_no_rest),
      CASE(a_folder_we_may_not_write_is_denied),
      CASE(a_full_disk_is_reported_as_full),
      CASE(folders_are_made_private_with_their_parents),
      CASE(a_folder_that_exists_keeps_its_mode),
      CASE(a_file_in_the_way_of_a_folder_is_an_error),
      CASE(closing_twice_is_harmless))
