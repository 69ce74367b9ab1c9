/*
 * plant STORE: puts a session, a stream, a question and a rule into a store, for examples that name them.
 * plant STORE NAME COUNT MS: a session of that name, and a stream that this process writes: COUNT events,
 * each after so many ms, and its end. Killed, it leaves the stream as a dead driver does.
 */
#include "approvals.h"
#include "live/lease.h"

#include <time.h>

static int64_t number(const char *text)
{
	int64_t n = 0;

	str_to_i64(str_of(text), &n);
	return n;
}

static enum status write_slowly(struct store *s, char **argv, struct err *err)
{
	int64_t count = number(argv[3]), ms = number(argv[4]);
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct lease own;
	struct run run;

	if (lease_own(s, &mem, &own, err) || test_run(s, argv[2], &mem, &run, err) ||
	    run_take(s, &run, &own, err))
		return err_failed(err->status);
	for (int64_t i = 0; i < count; i++) {
		nanosleep(&pause, NULL);
		if (test_write(s, &run.writer, i + 2, 1, err))
			return err_failed(err->status);
	}
	return test_finish(s, &run.writer, STREAM_COMPLETE, err);
}

int main(int argc, char **argv)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err = { .text = "plant STORE [NAME COUNT MS]" };

	if ((argc != 2 && argc != 5) ||
	    store_open(&(struct store_options){ .path = argv[1], .create = true }, &s, &err) ||
	    (argc == 2 ? test_plant(s, &err) || test_plant_approvals(s, &err) : write_slowly(s, argv, &err))) {
		fprintf(stderr, "plant: %s\n", err.text);
		return 1;
	}
	return 0;
}
