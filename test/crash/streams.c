/*
 * streams DIR ROUNDS SEED: streams under kill -9.
 *
 * In each round a writer appends batches of events and says of each how far it got; a reader follows from the
 * beginning; another reads by a named cursor. Writer and second reader are killed at random moments, and
 * others go on in their place, until the stream is closed as interrupted. Then:
 *
 *   - all that a writer was told is written is there;
 *   - the first reader has seen 1 .. last, each once and in order, with the data it was written with, and the
 * end;
 *   - what the second has advanced over follows each other without gap or overlap, from the first to the
 * last.
 *
 * Prints how many kills found work going on, and fails when something of this does not hold.
 */
#include "base/clock.h"
#include "store/cursor.h"
#include "crash.h"
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The processes ------------------------------------------------------------- */

/* Until it is killed. `told` gets the number of the last event that is surely written. */
static NORETURN void write_on(const char *path, const struct stream_writer *w, int64_t from, int told)
{
	struct store *s = must_open(path);
	struct err err;

	for (int64_t seq = from;;) {
		int count = (int)(1 + draw(40));

		if (test_write(s, w, seq, count, &err))
			die("writing", err.text);
		seq += count;
		if (write(told, &(int64_t){ seq - 1 }, sizeof(int64_t)) != sizeof(int64_t))
			die("telling", "the pipe is full");
		if (draw(3) == 0)
			nap_us(draw(3000));
	}
}

/* Every event says its own number but for those that begin and end a stream. */
static void check_event(const struct event *e, int64_t want)
{
	char data[32];

	snprintf(data, sizeof data, "{\"n\":%lld}", (long long)e->seq);
	if (e->seq != want || e->seq_last != want)
		die("reading", "an event is missing, or came twice");
	if (str_eq(e->type, STR("content_delta")) && !str_eq(e->data, str_of(data)))
		die("reading", "an event has changed");
}

static void read_page(struct store *s, struct stream *stream, struct stream_place after, struct arena *mem,
		      struct event_page *p)
{
	struct event_ask ask = { .after = after,
				 .limit = (int64_t)(1 + draw(100)),
				 .bytes = LIMIT_POLL_BYTES };
	struct err err;

	if (event_page(s, stream, &ask, mem, p, &err))
		die("reading", err.text);
	if (p->reset)
		die("reading", "a place was lost");
	for (size_t i = 0; i < p->count; i++)
		check_event(&p->events[i], after.seq + 1 + (int64_t)i);
}

/* The first reader: from 1 to the end; now and then with a new connection. */
static NORETURN void follow(const char *path, const struct uuid *id)
{
	struct store *s = must_open(path);
	struct stream_place at = { 0 };
	struct stream stream = { .id = *id };
	struct err err;
	bool changed;

	for (;;) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct event_page p;

		read_page(s, &stream, at, &mem, &p);
		at = p.next;
		if (!p.more && stream_is_over(stream.state)) {
			store_close(s);
			_exit(at.seq == stream.last_seq ? 0 : 1);
		}
		if (draw(50) == 0) {
			store_close(s);
			s = must_open(path);
		}
		if (!p.more && store_wait(s, 250, &changed, &err))
			die("waiting", err.text);
	}
}

/* The second: what it has advanced over is said as (from, to). */
static NORETURN void read_by_cursor(const char *path, const struct uuid *id, int told)
{
	struct store *s = must_open(path);
	struct stream stream = { .id = *id };
	struct err err;
	bool changed;

	for (;;) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct event_page p;
		struct cursor c;

		if (stream_get(s, id, &mem, &stream, &err) ||
		    cursor_get(s, &stream, STR("second"), &mem, &c, &err))
			die("cursor", err.text);
		read_page(s, &stream, c.place, &mem, &p);
		if (p.count && cursor_advance(s, &stream, STR("second"), &p.next, &err))
			die("advance", err.text);
		if (p.count && write(told, (int64_t[]){ c.place.seq, p.next.seq }, 2 * sizeof(int64_t)) < 0)
			die("telling", "the pipe is full");
		if (!p.more && stream_is_over(stream.state)) {
			store_close(s);
			_exit(0);
		}
		if (!p.more && store_wait(s, 250, &changed, &err))
			die("waiting", err.text);
	}
}

/* ---- A round ----------------------------------------------------------------------- */

struct round {
	const char *path;
	struct store *store;
	struct arena mem;
	struct run run;
	int acks[2], moves[2]; /* pipes of what is told */
	int64_t acked;
	int64_t moved; /* how far the second reader has said it is */
	int kills, hits;
};

static pid_t must_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork", strerrordesc_np(errno));
	draw_state ^= (uint64_t)(pid ? 1 : getpid()) << 32; /* each draws its own numbers */
	return pid;
}

/* 0 = it ended well, or by our kill. */
static int reap(pid_t pid)
{
	int how;

	if (waitpid(pid, &how, 0) != pid)
		return 1;
	return WIFSIGNALED(how) ? WTERMSIG(how) != SIGKILL : WEXITSTATUS(how);
}

static void make_pipe(int ends[2])
{
	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0)
		die("pipe", strerrordesc_np(errno));
}

static void hear(struct round *r)
{
	int64_t n[2];

	while (read(r->acks[0], n, sizeof n[0]) == (ssize_t)sizeof n[0])
		r->acked = n[0];
	while (read(r->moves[0], n, sizeof n) == (ssize_t)sizeof n) {
		/* What the one before was killed behind, it could not say; but nobody may go back. */
		if (n[0] < r->moved || n[1] <= n[0])
			die("cursor", "something came twice");
		r->moved = n[1];
	}
}

/* What a writer left, taken over; *from is the number that comes next. */
static void take_over(struct round *r, int64_t *from)
{
	struct stream stream;
	struct err err;

	if (run_of_stream(r->store, &r->run.stream, &r->mem, &r->run, &err) ||
	    run_take(r->store, &r->run,
		     &(struct lease){ .host = STR("local"), .boot = STR("b"), .pid = getpid() }, &err) ||
	    stream_get(r->store, &r->run.stream, &r->mem, &stream, &err))
		die("taking over", err.text);
	hear(r);
	if (stream.last_seq < r->acked)
		die("taking over", "what was written is gone");
	*from = stream.last_seq + 1;
}

/* Most are to be killed in the middle of work, however long they need to begin on a busy machine. */
static void wait_until_it_writes(struct round *r, int64_t before)
{
	enum { MOST = 100000 };

	for (int i = 0; i < MOST && r->acked == before; i++) {
		nap_us(200);
		hear(r);
	}
}

static void kill_writer(struct round *r, int64_t from)
{
	int64_t before = r->acked;
	pid_t pid = must_fork();

	if (pid == 0)
		write_on(r->path, &r->run.writer, from, r->acks[1]);
	if (draw(4))
		wait_until_it_writes(r, before);
	nap_us(draw(20000));
	kill(pid, SIGKILL);
	if (reap(pid))
		die("writer", "ended by itself");
	hear(r);
	r->kills++;
	r->hits += r->acked > before;
}

static void close_stream(struct round *r, pid_t first, pid_t second)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct stream stream;
	struct cursor c;
	struct err err;

	if (test_finish(r->store, &r->run.writer, STREAM_INTERRUPTED, &err))
		die("closing", err.text);
	if (reap(first) || reap(second))
		die("a reader", "ended badly");
	hear(r);
	if (stream_get(r->store, &r->run.stream, &mem, &stream, &err) ||
	    cursor_get(r->store, &stream, STR("second"), &mem, &c, &err))
		die("cursor", err.text);
	if (stream.state != STREAM_INTERRUPTED || c.place.seq != stream.last_seq)
		die("cursor", "it is not at the end");
}

static void run_round(struct round *r, int number)
{
	struct stream stream;
	char name[32];
	pid_t first, second;
	struct err err;
	int64_t from = 2;

	snprintf(name, sizeof name, "round-%d", number);
	make_pipe(r->acks);
	make_pipe(r->moves);
	r->acked = r->moved = 0;
	if (test_run(r->store, name, &r->mem, &r->run, &err) ||
	    stream_get(r->store, &r->run.stream, &r->mem, &stream, &err) ||
	    cursor_create(r->store, &stream, STR("second"), &(struct stream_place){ 0 }, &err))
		die("beginning", err.text);
	if ((first = must_fork()) == 0)
		follow(r->path, &r->run.stream);
	if ((second = must_fork()) == 0)
		read_by_cursor(r->path, &r->run.stream, r->moves[1]);
	for (uint64_t i = 0, writers = 1 + draw(4); i < writers; i++) {
		kill_writer(r, from);
		if (draw(2)) {
			kill(second, SIGKILL);
			if (reap(second))
				die("a reader", "ended badly");
			hear(r);
			if ((second = must_fork()) == 0)
				read_by_cursor(r->path, &r->run.stream, r->moves[1]);
		}
		take_over(r, &from);
	}
	close_stream(r, first, second);
	close(r->acks[0]);
	close(r->acks[1]);
	close(r->moves[0]);
	close(r->moves[1]);
}

int main(int argc, char **argv)
{
	struct round r = { .mem = ARENA_INIT };
	uint64_t rounds = 10, seed = 1;
	char path[LIMIT_PATH];

	if (argc > 3 && (!str_to_u64(str_of(argv[2]), &rounds) || !str_to_u64(str_of(argv[3]), &seed)))
		die("arguments", "streams DIR ROUNDS SEED");
	draw_state = seed;
	snprintf(path, sizeof path, "%.2000s/streams.db", argc > 1 ? argv[1] : ".");
	r.path = path;
	r.store = must_open(path);
	for (uint64_t i = 0; i < rounds; i++)
		run_round(&r, (int)i);
	printf("%d kills, %d of them in the middle of work\n", r.kills, r.hits);
	store_close(r.store);
	arena_release(&r.mem);
	return r.hits * 2 < r.kills;
}
