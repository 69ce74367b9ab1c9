/*
 * How fast JSON lines are read: loads the files given, reads every line PASSES
 * times, prints the best pass.
 *
 *     json_read <MB/s> <bytes> <lines>
 *
 * Real transcripts have a few broken lines. Over one in a thousand is an error:
 * what is refused early would look fast.
 */
#include "base/json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PASSES = 7 };

static bool load(struct buf *all, const char *path)
{
	FILE *f = fopen(path, "rb");
	char chunk[65536];
	size_t n;

	if (!f) {
		perror(path);
		return false;
	}
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(all, chunk, n);
	fclose(f);
	if (all->n && all->p[all->n - 1] != '\n')
		buf_byte(all, '\n'); /* a last line that is still being written */
	return !all->failed;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Lines read, or -1 when too many could not be. */
static long read_lines(struct json *j, struct str text)
{
	const char *end = text.p + text.n;
	long lines = 0, refused = 0;

	for (const char *p = text.p; p < end; lines++) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		struct err err;

		if (stop > p && json_read(j, str_from(p, (size_t)(stop - p)), 0, &err) != STATUS_OK)
			refused++;
		p = stop + 1;
	}
	return refused > lines / 1000 ? -1 : lines;
}

int main(int argc, char **argv)
{
	struct buf all = BUF_INIT((size_t)2 << 30);
	struct json j = JSON_INIT;
	double best = 1e9;
	long lines = 0;

	for (int i = 1; i < argc; i++)
		if (!load(&all, argv[i]))
			return 1;
	for (int pass = 0; pass < PASSES; pass++) {
		double start = now(), took;

		lines = read_lines(&j, buf_as_str(&all));
		if (lines < 0) {
			fprintf(stderr, "too many lines are not JSON\n");
			return 1;
		}
		took = now() - start;
		if (took < best)
			best = took;
	}
	printf("json_read %.0f %zu %ld\n", (double)all.n / 1e6 / best, all.n, lines);
	json_release(&j);
	buf_release(&all);
	return 0;
}
