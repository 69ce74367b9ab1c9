/*
 * Files that are there whole or not at all.
 */
#include "base/newfile.h"
#include "base/file.h"
#include "t.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEWFILE struct newfile CLEANUP(newfile_release)

static int count_files(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	if (d)
		closedir(d);
	return n;
}

TEST(a_file_has_its_name_when_it_is_complete)
{
	const char *dir = t_tmpdir(t);
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(MIB);
	NEWFILE f = NEWFILE_INIT;
	char path[LIMIT_PATH];
	struct stat st;
	struct err err;

	OK(newfile_begin(&f, dir, "a.jsonl", &err));
	OK(newfile_add(&f, STR("one\n"), &err));
	EQ(count_files(dir), f.temp[0] ? 1 : 0);
	OK(newfile_add(&f, STR("two\n"), &err));
	OK(newfile_finish(&f, &err));
	EQ(count_files(dir), 1);
	EQ(f.size, 8);
	snprintf(path, sizeof path, "%s/a.jsonl", dir);
	OK(file_read_all(path, &bytes, &err));
	EQS(buf_as_str(&bytes), STR("one\ntwo\n"));
	EQ(stat(path, &st), 0);
	EQ(st.st_mode & 0777, 0600);
}

TEST(what_is_there_is_never_replaced)
{
	const char *dir = t_tmpdir(t);
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(MIB);
	NEWFILE f = NEWFILE_INIT;
	char path[LIMIT_PATH];
	struct err err;

	snprintf(path, sizeof path, "%s/a", dir);
	OK(newfile_begin(&f, dir, "a", &err));
	OK(newfile_add(&f, STR("new"), &err));
	OK(file_write_atomic(path, STR("old"), 0600, &err));
	EQ(newfile_finish(&f, &err), STATUS_CONFLICT);
	OK(file_read_all(path, &bytes, &err));
	EQS(buf_as_str(&bytes), STR("old"));
	newfile_release(&f);
	EQ(count_files(dir), 1);
}

TEST(what_is_not_finished_is_gone)
{
	const char *dir = t_tmpdir(t);
	struct err err;

	{
		NEWFILE f = NEWFILE_INIT;

		OK(newfile_begin(&f, dir, "a", &err));
		OK(newfile_add(&f, STR("half"), &err));
	}
	EQ(count_files(dir), 0);
}

TEST(large_pieces_and_small_ones_stay_in_order)
{
	enum { LARGE = 600 * 1024 };
	const char *dir = t_tmpdir(t);
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(64 * MIB),
			 large CLEANUP(buf_release) = BUF_INIT(MIB);
	NEWFILE f = NEWFILE_INIT;
	char path[LIMIT_PATH];
	struct err err;

	memset(buf_reserve(&large, LARGE), 'x', LARGE);
	buf_grew(&large, LARGE);
	OK(newfile_begin(&f, dir, "a", &err));
	OK(newfile_add(&f, STR("begin"), &err));
	OK(newfile_add(&f, buf_as_str(&large), &err));
	OK(newfile_add(&f, STR("end"), &err));
	OK(newfile_finish(&f, &err));
	snprintf(path, sizeof path, "%s/a", dir);
	OK(file_read_all(path, &bytes, &err));
	EQ(bytes.n, LARGE + 8);
	CHECK(str_has_prefix(buf_as_str(&bytes), STR("beginx")) &&
	      str_has_suffix(buf_as_str(&bytes), STR("xend")));
}

TESTS(CASE(a_file_has_its_name_when_it_is_complete), CASE(what_is_there_is_never_replaced),
      CASE(what_is_not_finished_is_gone), CASE(large_pieces_and_small_ones_stay_in_order))
