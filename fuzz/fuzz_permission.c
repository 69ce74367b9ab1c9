/*
 * Fuzzes rules about tools. The first line is a rule, the second a tool, the third its folder, the fourth
 * where the file really is; the rest is its input. Whatever they are: what is meant strictly is meant widely,
 * and the exact rule of a question means it.
 */
#include "claude/permission.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void check(struct str rule, const struct permission_question *q)
{
	struct arena mem = ARENA_INIT;
	struct permission p;
	struct err err;

	if (permission_read(rule, &p, &err) == STATUS_OK) {
		must(permission_check(&p, &err) == STATUS_OK);
		must(!permission_means(&p, q, true) || permission_means(&p, q, false));
	} else {
		must(err.status == STATUS_USAGE);
	}
	if (permission_exact(q, &mem, &p, &err) == STATUS_OK)
		must(permission_means(&p, q, false) && (q->real_path.n || permission_means(&p, q, true)));
	else
		must(err.status == STATUS_USAGE);
	(void)permission_path(q, &mem);
	arena_release(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = str_from((const char *)data, size), rule = str_cut(rest, '\n', &rest);
	struct permission_question q = { .home = STR("/home/u"), .real_cwd = STR("/real") };
	struct json j = JSON_INIT;
	struct err err;

	q.tool = str_cut(rest, '\n', &rest);
	q.cwd = str_cut(rest, '\n', &rest);
	q.real_path = str_cut(rest, '\n', &rest);
	if (rest.p && json_read(&j, rest, LIMIT_JSON_DEPTH, &err) == STATUS_OK) {
		q.input = &j;
		check(rule, &q);
	}
	json_release(&j);
	return 0;
}
