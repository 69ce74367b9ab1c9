/*
 * A lease names a process by the machine's label, the machine's boot with the namespace in which processes
 * have their numbers, the number and the start. Where all of the first are ours, the process can be asked,
 * and its answer is the truth: one that was stopped for an hour is not dead. Another boot of this machine is:
 * nothing survives that. Everything else is judged by when it was last renewed.
 *
 * Closing is taking over (run_take()), so of several who find a holder dead one closes, and a holder that was
 * alive after all finds out with the next thing it writes, before it is seen by anybody.
 */
#include "live/lease.h"

#include "base/file.h"
#include "base/proc.h"

#include <unistd.h>

static enum status read_line(const char *path, struct buf *out, struct err *err)
{
	if (file_read_all(path, out, err))
		return err_failed(err->status);
	while (out->n && out->p[out->n - 1] == '\n')
		out->n--;
	return STATUS_OK;
}

/* "BOOT NAMESPACE" */
static enum status read_boot(struct arena *mem, struct str *out, struct err *err)
{
	struct buf boot CLEANUP(buf_release) = BUF_INIT(KIB);
	char space[64];
	ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space);

	if (read_line("/proc/sys/kernel/random/boot_id", &boot, err))
		return err_failed(err->status);
	*out = arena_printf(mem, "%.*s %.*s", STR_ARG(buf_as_str(&boot)), (int)(n > 0 ? n : 0), space);
	return STATUS_OK;
}

enum status lease_own(struct store *s, struct arena *mem, struct lease *out, struct err *err)
{
	struct buf host CLEANUP(buf_release) = BUF_INIT(KIB);

	*out = (struct lease){ .pid = getpid(), .at = store_now(s) };
	if (store_setting_get(s, "host_label", &host, err) || read_boot(mem, &out->boot, err))
		return err_failed(err->status);
	out->host = arena_str(mem, buf_as_str(&host));
	if (!proc_start(out->pid, &out->start))
		return err_fail(err, STATUS_IO, "/proc does not tell when this process began");
	return STATUS_OK;
}

static bool is_same_boot(const struct lease *a, const struct lease *b)
{
	struct str ignored;

	return str_eq(str_cut(a->boot, ' ', &ignored), str_cut(b->boot, ' ', &ignored));
}

bool lease_is_dead(const struct lease *l, const struct lease *own, int64_t now)
{
	int64_t start;

	if (str_eq(l->host, own->host) && str_eq(l->boot, own->boot))
		return !proc_start(l->pid, &start) || start != l->start;
	if (str_eq(l->host, own->host) && !is_same_boot(l, own))
		return true;
	return now - l->at > LEASE_LOST_MS;
}

/* ---- Closing ---------------------------------------------------------------- */

#define GONE "the process that ran it is gone"

static enum status close_stream(struct store *s, struct run *run, const struct lease *own, struct err *err)
{
	struct event_new last = { .type = STR("interrupted"),
				  .data = STR("{\"message\":\"" GONE "\"}"),
				  .at = store_now(s) };
	struct stream_end end = { .error = STR(GONE), .cost_micro = -1 };
	struct stream_change change = { &last, 1, STREAM_INTERRUPTED, &end, true };

	return run_take(s, run, own, err) ? err_failed(err->status)
					  : stream_write(s, &run->writer, &change, err);
}

/* Somebody else may have done it, or may have to. */
static enum status close_if_dead(struct store *s, struct run *run, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	enum status status;
	struct lease own;

	if (lease_own(s, &mem, &own, err))
		return err_failed(err->status);
	if (run->ended_at || !lease_is_dead(&run->lease, &own, store_now(s)))
		return STATUS_OK;
	status = close_stream(s, run, &own, err);
	return status == STATUS_CONFLICT || status == STATUS_DENIED ? STATUS_OK : status;
}

enum status lease_look_after(struct store *s, const struct stream *stream, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct run run;

	if (stream_is_over(stream->state))
		return STATUS_OK;
	if (run_of_stream(s, &stream->id, &mem, &run, err))
		return err_failed(err->status);
	return close_if_dead(s, &run, err);
}

/* Streams of runs that go on. */
struct open_runs {
	struct arena mem;
	struct uuid *streams;
	size_t count, room;
};

static enum status note_open(void *ctx, const struct run *run, struct err *err)
{
	struct open_runs *o = ctx;

	(void)err;
	if (o->count == o->room) {
		struct uuid *more = arena_alloc(&o->mem, (2 * o->room + 16) * sizeof *more);

		for (size_t i = 0; i < o->count; i++)
			more[i] = o->streams[i];
		o->streams = more;
		o->room = 2 * o->room + 16;
	}
	o->streams[o->count++] = run->stream;
	return STATUS_OK;
}

static void open_runs_release(struct open_runs *o)
{
	arena_release(&o->mem);
}

enum status lease_look_after_all(struct store *s, struct err *err)
{
	struct open_runs o CLEANUP(open_runs_release) = { .mem = ARENA_INIT };
	struct run run;

	if (run_each_open(s, note_open, &o, err))
		return err_failed(err->status);
	for (size_t i = 0; i < o.count; i++)
		if (run_of_stream(s, &o.streams[i], &o.mem, &run, err) || close_if_dead(s, &run, err))
			return err_failed(err->status);
	return STATUS_OK;
}
