/*
 * lag STORE FILE LINES PAUSE_MS: how long until a new line can be found.
 *
 * Appends LINES lines to a transcript that somebody else watches (arbor sync --watch),
 * each with a word that was never there, and searches the store until it is found.
 * Prints microseconds from after write(2) until the search that found it was done, a
 * line for each. Between two lines it waits PAUSE_MS and up to as much again: real
 * ones do not come in step with anybody's timers.
 */
#include "base/clock.h"
#include "base/file.h"
#include "query/search.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void NORETURN die(const char *what, const char *why)
{
	fprintf(stderr, "lag: %s: %s\n", what, why);
	exit(1);
}

static void pause_ms(int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static enum status ignore_hit(void *ctx, const struct search_hit *hit, struct err *err)
{
	(void)ctx;
	(void)hit;
	(void)err;
	return STATUS_OK;
}

static bool is_found(struct store *s, const char *word)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct expr expr CLEANUP(expr_release) = { 0 };
	struct search_query q = { .expr = &expr, .limit = 1 };
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct search_report report = { 0 };
	struct err err;

	if (expr_read(&expr, str_of(word), false, &mem, &err) || read_begin(s, &snapshot, &err) ||
	    search_run(s, &q, ignore_hit, NULL, &report, &err))
		die(word, err.text);
	return report.total > 0;
}

/* A line such as the client writes, with a word that is hers alone. */
static void append(const char *file, const char *word, int number)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(KIB);
	int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
	struct err err;

	buf_printf(&line,
		   "{\"parentUuid\":null,\"type\":\"user\",\"uuid\":\"%08x-0000-4000-8000-00000000beef\","
		   "\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{\"role\":\"user\","
		   "\"content\":\"where does %s come from and what does it mean\"}}\n",
		   (unsigned)number, word);
	if (fd < 0 || file_write_all(fd, buf_as_str(&line), &err) || close(fd))
		die(file, "cannot be appended to");
}

int main(int argc, char **argv)
{
	enum { GIVE_UP_S = 30 };
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	if (argc != 5)
		die("usage", "lag STORE FILE LINES PAUSE_MS");
	if (store_open(&(struct store_options){ .path = argv[1] }, &s, &err))
		die(argv[1], err.text);
	for (int i = 0; i < (int)strtol(argv[3], NULL, 10); i++) {
		int64_t pause = strtol(argv[4], NULL, 10), start;
		bool changed;
		char word[64];

		snprintf(word, sizeof word, "lagword%dq%d", (int)getpid(), i);
		append(argv[2], word, i);
		start = clock_monotonic_ns();
		while (!is_found(s, word)) {
			if (clock_monotonic_ns() - start > (int64_t)GIVE_UP_S * 1000000000)
				die(word, "is not found; does somebody watch?");
			if (store_wait(s, 5, &changed, &err))
				die(argv[1], err.text);
		}
		printf("%" PRId64 "\n", (clock_monotonic_ns() - start) / 1000);
		fflush(stdout);
		pause_ms(pause + clock_monotonic_ns() / 1000 % (pause + 1));
	}
	return 0;
}
