/*
 * Unit tests in C: a test is a function whose name is a sentence.
 *
 *     TEST(a_slice_knows_its_end) { CHECK(str_eq(a, b)); }
 *     TESTS(CASE(a_slice_knows_its_end))
 *
 * CHECK records a failure and goes on; NEED also leaves the test. Output is
 * TAP, read by test/run.
 */
#ifndef ARBOR_TEST_T_H
#define ARBOR_TEST_T_H

#include "base/base.h"
#include "base/buf.h"
#include "base/err.h"

struct t {
	const char *name;
	int failures;
	const char *skipped; /* why, when the test could not run */
};

struct t_case {
	const char *name;
	void (*run)(struct t *t);
};

int  t_main(const struct t_case *cases, size_t count);
void t_fail(struct t *t, const char *file, int line, const char *format, ...) ATTR_PRINTF(4, 5);

/* Compare and explain. Each returns whether it held. */
bool t_eq_int(struct t *t, const char *file, int line, int64_t got, int64_t want, const char *what);
bool t_eq_str(struct t *t, const char *file, int line, struct str got, struct str want, const char *what);

/* A fresh private directory, removed at exit. */
const char *t_tmpdir(struct t *t);

/* Whether to do all of what is random or large, as 'make test-long' does, and not a sample; and which sample,
 * another one each time. test/run says both: SCALE and SEED. */
bool t_is_full(void);
unsigned t_seed(void);

/* Reads a file below the project's folder whole; fails the test otherwise.
 * The caller frees with buf_release(). */
bool t_read_file(struct t *t, const char *path, struct buf *out);

#define TEST(name) static void name(struct t *t)
#define CASE(name) { #name, name }
#define TESTS(...) \
	int main(void) \
	{ \
		static const struct t_case cases[] = { __VA_ARGS__ }; \
		return t_main(cases, COUNT(cases)); \
	}

#define SKIP(why)       do { t->skipped = (why); return; } while (0)
#define CHECK(cond)     do { if (!(cond)) t_fail(t, __FILE__, __LINE__, "%s", #cond); } while (0)
#define NEED(cond)      do { if (!(cond)) { t_fail(t, __FILE__, __LINE__, "%s", #cond); return; } } while (0)
#define EQ(got, want)   t_eq_int(t, __FILE__, __LINE__, (int64_t)(got), (int64_t)(want), #got)
#define EQS(got, want)  t_eq_str(t, __FILE__, __LINE__, (got), (want), #got)
#define OK(call)        do { if ((call) != STATUS_OK) { \
	t_fail(t, __FILE__, __LINE__, "%s: %s", #call, err.text); return; } } while (0)

#endif
