/*
 * /proc/PID/stat: "12 (any thing) S 11 ...".
 */
#include "base/proc.h"

#include "base/buf.h"
#include "base/file.h"

#include <stdio.h>

enum { FIELD_STATE = 3, FIELD_PARENT = 4, FIELD_START = 22 };

/* A field of the line, from the third on: the second is the program's name in brackets,
 * and that may contain anything. */
static struct str stat_field(struct str stat, int number)
{
	size_t bracket = str_rfind(stat, ')');
	struct str field, rest;

	if (bracket == SIZE_MAX)
		return (struct str){ 0 };
	rest = str_trim(str_sub(stat, bracket + 1, SIZE_MAX));
	for (int i = FIELD_STATE; field = str_cut(rest, ' ', &rest), i < number; i++)
		;
	return field;
}

bool proc_stat_is(struct str stat, struct str start)
{
	struct str state = stat_field(stat, FIELD_STATE);

	if (!state.n || str_eq(state, STR("Z")) || str_eq(state, STR("X")))
		return false;
	return !start.p || str_eq(start, stat_field(stat, FIELD_START));
}

static bool read_number(int64_t pid, int field, int64_t *out)
{
	struct buf stat CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct err ignored;
	char path[64];

	snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
	return file_read_all(path, &stat, &ignored) == STATUS_OK &&
	       proc_stat_is(buf_as_str(&stat), (struct str){ 0 }) &&
	       str_to_i64(stat_field(buf_as_str(&stat), field), out);
}

bool proc_start(int64_t pid, int64_t *out)
{
	return read_number(pid, FIELD_START, out);
}

bool proc_parent(int64_t pid, int64_t *out)
{
	return read_number(pid, FIELD_PARENT, out);
}
