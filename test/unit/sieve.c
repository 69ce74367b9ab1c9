/*
 * What passes the sieve, against the same done with the whole file in memory: any part of a file,
 * lines of any length, with and without a line feed at the end.
 */
#include "base/file.h"
#include "ingest/sieve.h"
#include "t.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#define STORE struct store CLEANUP(store_closep)

struct world {
	struct store *s;
	uint64_t random;
	struct buf raw, kept; /* the file; what may be kept of it */
	struct sieve sieve;
	int fd;
};

static void world_release(struct world *w)
{
	sieve_release(&w->sieve);
	store_close(w->s);
	buf_release(&w->raw);
	buf_release(&w->kept);
	file_close(&w->fd);
}

static size_t below(struct world *w, size_t limit)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(w->random >> 33) % limit;
}

static size_t length(struct world *w)
{
	switch (below(w, 12)) {
	case 0:
		return 60000 + below(w, 20000); /* about as long as what is read at a time */
	case 1:
		return 150000;
	case 2:
		return 0;
	default:
		return below(w, 200);
	}
}

static enum status make_file(struct world *w, const char *dir, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct line_salt salt;
	uint8_t hash[SHA256_BYTES];
	char path[300];
	int64_t mark;

	buf_init(&w->raw, 4 * MIB);
	buf_init(&w->kept, 4 * MIB);
	if (tree_store(dir, "s", NULL, NULL, &w->s, err) || tombstone_salt(w->s, &salt, err) ||
	    txn_begin(w->s, &txn, err))
		return err_failed(err->status);
	for (int i = 0; i < 25; i++) {
		size_t from = w->raw.n, n = length(w);

		for (size_t k = 0; k < n; k++)
			buf_byte(&w->raw, (char)('a' + below(w, 26)));
		buf_add(&w->kept, w->raw.p ? w->raw.p + from : "", n);
		if (n && below(w, 3) == 0) {
			memset(w->kept.p + from, ' ', n);
			line_hash(&salt, str_from(w->raw.p + from, n), hash);
			if (tombstone_add_line(w->s, hash, 1, err))
				return err_failed(err->status);
		}
		if (i == 24 && below(w, 2))
			break;
		buf_byte(&w->raw, '\n');
		buf_byte(&w->kept, '\n');
	}
	if (purge_mark_change(w->s, err) || txn_commit(&txn, err) || purge_mark(w->s, &mark, err) ||
	    sieve_init(&w->sieve, w->s, mark, err))
		return err_failed(err->status);
	snprintf(path, sizeof path, "%.200s/file", dir);
	if (file_write_atomic(path, buf_as_str(&w->raw), 0600, err))
		return err_failed(err->status);
	w->fd = open(path, O_RDONLY | O_CLOEXEC);
	sieve_begin(&w->sieve, w->fd, (int64_t)w->raw.n);
	return STATUS_OK;
}

/* Spans told must be what is blank, no more and no less. */
static void note_span(void *ctx, const struct span *span)
{
	int64_t *sum = ctx;

	*sum += span->to - span->from;
}

static void check_part(struct t *t, struct world *w, size_t from, size_t n)
{
	char *bytes = malloc(n + 1);
	int64_t blanks = 0, told = 0;
	struct err err;

	memcpy(bytes, w->raw.p + from, n);
	if (sieve_bytes(&w->sieve, (int64_t)from, bytes, n, note_span, &told, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	for (size_t i = 0; i < n; i++)
		blanks += w->kept.p[from + i] == ' ';
	if (memcmp(bytes, w->kept.p + from, n) || blanks != told)
		t_fail(t, __FILE__, __LINE__, "%zu bytes from %zu: not what may be kept", n, from);
	free(bytes);
}

TEST(any_part_of_a_file_is_what_may_be_kept_of_it)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct world w CLEANUP(world_release) = { .random = seed, .fd = -1 };
		char dir[200];
		struct err err;

		snprintf(dir, sizeof dir, "%.150s/%d", t_tmpdir(t), (int)seed);
		OK(file_make_dirs(dir, &err));
		OK(make_file(&w, dir, &err));
		for (int i = 0; i < 300 && w.raw.n; i++) {
			size_t from = below(&w, w.raw.n), n = 1 + below(&w, w.raw.n - from);

			check_part(t, &w, from, n > 3000 && i % 4 ? 3000 : n);
		}
		/* One piece after the other, as a file is read. */
		for (size_t at = 0, n; at < w.raw.n; at += n) {
			n = size_min(1 + below(&w, 100000), w.raw.n - at);
			check_part(t, &w, at, n);
		}
	}
}

TEST(without_tombstones_everything_passes_and_nothing_is_read)
{
	struct sieve v CLEANUP(sieve_release) = { 0 };
	STORE *s = NULL;
	char bytes[] = "a\nb\n";
	struct span line;
	struct err err;
	bool goes;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(sieve_init(&v, s, 0, &err));
	sieve_begin(&v, 12345, 4); /* no such file */
	OK(sieve_bytes(&v, 0, bytes, 4, NULL, NULL, &err));
	EQS(str_of(bytes), STR("a\nb\n"));
	OK(sieve_line(&v, 2, &line, &goes, &err));
	CHECK(!goes);
}

TESTS(CASE(any_part_of_a_file_is_what_may_be_kept_of_it),
      CASE(without_tombstones_everything_passes_and_nothing_is_read))
