/*
 * waits STORE COUNT PAUSE_MS: how long a program that wants to write has to wait.
 *
 * Writes a setting into the store COUNT times, each in a transaction of its own, with a pause
 * after each, and prints the microseconds until it had the lock, a line for each.
 */
#include "base/clock.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void NORETURN die(const char *what, const char *why)
{
	fprintf(stderr, "waits: %s: %s\n", what, why);
	exit(1);
}

static int64_t write_once(struct store *s, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t start = clock_monotonic_ns(), waited;

	if (txn_begin(s, &txn, err))
		die("waiting", err->text);
	waited = clock_monotonic_ns() - start;
	if (store_setting_put(s, "bench", STR("x"), err) || txn_commit(&txn, err))
		die("writing", err->text);
	return waited;
}

int main(int argc, char **argv)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct timespec pause = { 0 };
	struct err err;
	long count;

	if (argc != 4) {
		fprintf(stderr, "usage: waits STORE COUNT PAUSE_MS\n");
		return 2;
	}
	if (store_open(&(struct store_options){ .path = argv[1] }, &s, &err))
		die(argv[1], err.text);
	count = strtol(argv[2], NULL, 10);
	pause.tv_nsec = strtol(argv[3], NULL, 10) * 1000000;
	for (long i = 0; i < count; i++) {
		printf("%" PRId64 "\n", write_once(s, &err) / 1000);
		nanosleep(&pause, NULL);
	}
	return 0;
}
