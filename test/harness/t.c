/*
 * The runner behind t.h. Prints TAP on stdout, one line a test, diagnostics
 * behind '#' before the verdict.
 */
#include "t.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char tmpdir[64];

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_tmpdir(void)
{
	if (tmpdir[0])
		nftw(tmpdir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	tmpdir[0] = '\0';
}

const char *t_tmpdir(struct t *t)
{
	remove_tmpdir();
	snprintf(tmpdir, sizeof tmpdir, "/tmp/arbor-unit-XXXXXX");
	if (!mkdtemp(tmpdir)) {
		t_fail(t, __FILE__, __LINE__, "mkdtemp");
		exit(1);
	}
	return tmpdir;
}

bool t_is_full(void)
{
	const char *scale = getenv("SCALE");

	return scale && strcmp(scale, "short") != 0;
}

unsigned t_seed(void)
{
	const char *seed = getenv("SEED");

	return seed ? (unsigned)strtoul(seed, NULL, 10) : 1;
}

void t_fail(struct t *t, const char *file, int line, const char *format, ...)
{
	va_list args;

	t->failures++;
	printf("# %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

bool t_eq_int(struct t *t, const char *file, int line, int64_t got, int64_t want, const char *what)
{
	if (got == want)
		return true;
	t_fail(t, file, line, "%s is %" PRId64 ", wanted %" PRId64, what, got, want);
	return false;
}

bool t_eq_str(struct t *t, const char *file, int line, struct str got, struct str want, const char *what)
{
	if (str_eq(got, want))
		return true;
	t_fail(t, file, line, "%s is '%.*s', wanted '%.*s'", what, STR_ARG(got), STR_ARG(want));
	return false;
}

bool t_read_file(struct t *t, const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	char chunk[65536];
	size_t n;

	buf_init(out, (size_t)1 << 30);
	if (!f) {
		t_fail(t, __FILE__, __LINE__, "cannot open %s", path);
		return false;
	}
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(out, chunk, n);
	fclose(f);
	return true;
}

int t_main(const struct t_case *cases, size_t count)
{
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < count; i++) {
		struct t t = { .name = cases[i].name };

		cases[i].run(&t);
		printf("%s %zu - %s%s%s\n", t.failures ? "not ok" : "ok", i + 1, t.name,
		       t.skipped ? " # SKIP " : "", t.skipped ? t.skipped : "");
		failed += t.failures != 0;
		remove_tmpdir();
	}
	printf("1..%zu\n", count);
	return failed != 0;
}
