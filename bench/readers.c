/*
 * readers STORE READERS EVENTS_PER_SECOND SECONDS: one stream, followed by many.
 *
 * One process writes events the way a driver does, through live/feed.c, each with the moment it was made.
 * READERS others follow the stream as 'arbor attach' does: they read pages, wait for the bell, and now and then
 * lose their connection and go on from their place with another. Each checks that it gets 1, 2, 3 ... once and in
 * order to the end, and says how late events were.
 *
 * Prints the number of events, how many a second were written, then the lateness of the 50th, 99th and 100th
 * percentile of all events of all readers, in microseconds. Fails when a reader has missed something.
 */
#include "base/clock.h"
#include "live/feed.h"
#include "streams.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Lateness in steps of a quarter of a millisecond; the last takes all that are later. */
enum { STEP_US = 250, STEPS = 40000 };

struct tally {
	_Atomic uint64_t late[STEPS];
	_Atomic int failed;
};

static void NORETURN die(const char *what, const char *why)
{
	fprintf(stderr, "readers: %s: %s\n", what, why);
	exit(1);
}

static struct store *must_open(const char *path)
{
	struct store *s = NULL;
	struct err err;

	if (store_open(&(struct store_options){ .path = path }, &s, &err))
		die(path, err.text);
	return s;
}

static void note_lateness(struct tally *t, const struct event *e, int64_t now)
{
	const char *made = strstr(e->data.p, "\"made\":");
	int64_t late_us = made ? (now - strtoll(made + 7, NULL, 10)) / 1000 : -1;
	int64_t step = late_us / STEP_US;

	if (late_us >= 0)
		t->late[step < STEPS ? step : STEPS - 1]++;
}

/* One page; where it goes on. */
static struct stream_place take_page(struct store *s, struct stream *stream, struct stream_place at, struct tally *t,
				     bool *more)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct event_ask ask = { .after = at, .limit = 1000, .bytes = LIMIT_POLL_BYTES };
	struct event_page p;
	struct err err;
	int64_t now;

	if (event_page(s, stream, &ask, &mem, &p, &err))
		die("reading", err.text);
	now = clock_monotonic_ns();
	for (size_t i = 0; i < p.count; i++) {
		if (p.reset || p.events[i].seq != at.seq + 1 + (int64_t)i)
			die("reading", "an event is missing, or came twice");
		note_lateness(t, &p.events[i], now);
	}
	*more = p.more;
	return p.next;
}

static NORETURN void follow(const char *path, const struct uuid *id, struct tally *t, unsigned seed)
{
	struct store *s = must_open(path);
	struct stream_place at = { 0 };
	struct stream stream = { .id = *id };
	struct err err;
	bool changed, more;

	for (;;) {
		at = take_page(s, &stream, at, t, &more);
		if (!more && stream_is_over(stream.state))
			break;
		if (rand_r(&seed) % 300 == 0) {
			store_close(s);
			s = must_open(path);
		}
		if (!more && store_wait(s, 250, &changed, &err))
			die("waiting", err.text);
	}
	store_close(s);
	_exit(at.seq == stream.last_seq ? 0 : 1);
}

/* Events as they come, written when they have waited long enough. */
static int64_t write_all(struct store *s, const struct run *run, int64_t per_second, int64_t seconds)
{
	struct feed *f = feed_new(s, &run->writer);
	struct stream_end end = { .cost_micro = -1 };
	int64_t start = clock_monotonic_ns(), made = 0, written_at = start, total = per_second * seconds;
	struct err err;

	while (made < total) {
		int64_t now = clock_monotonic_ns(), due = (now - start) / 1000 * per_second / 1000000;

		for (; made < due && made < total && !feed_is_full(f); made++) {
			char data[96];

			snprintf(data, sizeof data, "{\"block\":0,\"text\":\"some words \",\"made\":%lld}",
				 (long long)now);
			feed_add(f, CHAT_CONTENT_DELTA, (struct str){ 0 }, 0, str_of(data));
		}
		if (feed_is_full(f) || now - written_at >= FEED_WAIT_MS * (int64_t)1000000) {
			if (feed_write(f, STREAM_RUNNING, NULL, &err) && err.status != STATUS_BUSY)
				die("writing", err.text);
			written_at = now;
		}
		usleep(2000);
	}
	if (feed_write(f, STREAM_COMPLETE, &end, &err))
		die("writing", err.text);
	feed_free(f);
	return clock_monotonic_ns() - start;
}

static int64_t percentile(const struct tally *t, double part)
{
	uint64_t all = 0, below = 0;

	for (int i = 0; i < STEPS; i++)
		all += t->late[i];
	for (int i = 0; i < STEPS; i++) {
		below += t->late[i];
		if (below && (double)below >= part * (double)all)
			return (int64_t)(i + 1) * STEP_US;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	int64_t per_second, seconds, took;
	struct tally *t;
	struct store *s;
	struct run run;
	struct err err;
	int readers, failed = 0, status;

	if (argc != 5)
		die("usage", "readers STORE READERS EVENTS_PER_SECOND SECONDS");
	readers = (int)strtol(argv[2], NULL, 10);
	per_second = strtol(argv[3], NULL, 10);
	seconds = strtol(argv[4], NULL, 10);
	t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED)
		die("memory", "there is none");
	s = must_open(argv[1]);
	if (test_run(s, "followed", &mem, &run, &err))
		die("a stream", err.text);
	store_close(s);
	for (int i = 0; i < readers; i++)
		if (fork() == 0)
			follow(argv[1], &run.stream, t, (unsigned)i + 1);
	s = must_open(argv[1]);
	took = write_all(s, &run, per_second, seconds);
	while (wait(&status) > 0)
		failed += status != 0;
	store_close(s);
	if (failed)
		die("readers", "some have not seen all of it");
	printf("%lld %lld %lld %lld %lld\n", (long long)per_second * seconds,
	       (long long)(per_second * seconds * 1000 / (took / 1000000 + 1)), (long long)percentile(t, 0.5),
	       (long long)percentile(t, 0.99), (long long)percentile(t, 1));
	return 0;
}
