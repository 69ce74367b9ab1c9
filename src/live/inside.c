/*
 * The lease of a run names its driver. All that an agent starts stays below that: what leaves its parent
 * becomes a child of the guard (guard.c), and the guard is the driver's child. So the processes above this
 * one, up to the first of all, are compared with those that hold runs, by number and start.
 *
 * One that ends while we look has handed its children to another: then we begin anew, and who goes on like
 * that is not answered. One that is there and cannot be seen is another user's, and so is all above it.
 * Processes of another boot, machine or namespace cannot be seen from here, and are not ours.
 */
#include "live/inside.h"

#include "base/proc.h"
#include "live/lease.h"

#include <unistd.h>

/* Runs that are held by processes which can be seen from here. */
struct holders {
	struct arena *mem;
	struct lease own; /* where we are */
	struct holder {
		int64_t pid, start, session;
	} * list;
	size_t count, room;
};

static enum status note_holder(void *ctx, const struct run *run, struct err *err)
{
	struct holders *h = ctx;

	(void)err;
	if (!str_eq(run->lease.host, h->own.host) || !str_eq(run->lease.boot, h->own.boot))
		return STATUS_OK;
	if (h->count == h->room) {
		struct holder *more = arena_alloc(h->mem, (2 * h->room + 16) * sizeof *more);

		for (size_t i = 0; i < h->count; i++)
			more[i] = h->list[i];
		h->list = more;
		h->room = 2 * h->room + 16;
	}
	h->list[h->count++] = (struct holder){ run->lease.pid, run->lease.start, run->session };
	return STATUS_OK;
}

/* Each of them is met once at most. */
static void note_above(const struct holders *h, int64_t pid, int64_t start, struct inside *out)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->list[i].pid == pid && h->list[i].start == start &&
		    !inside_has(out, h->list[i].session))
			out->sessions[out->count++] = h->list[i].session;
}

/* False: somebody ended on the way. */
static bool climb(const struct holders *h, struct inside *out)
{
	int64_t pid = getpid(), above, still, start;

	while (proc_parent(pid, &above)) {
		if (above <= 0)
			return true;
		if (proc_start(above, &start)) {
			note_above(h, above, start, out);
			pid = above;
		} else if (proc_parent(pid, &still) && still == above) {
			return true;
		}
	}
	return false;
}

enum status inside_find(struct store *s, struct arena *mem, struct inside *out, struct err *err)
{
	enum { TRIES = 100 };
	struct holders h = { .mem = mem };

	*out = (struct inside){ 0 };
	if (lease_own(s, mem, &h.own, err) || run_each_open(s, note_holder, &h, err))
		return err_failed(err->status);
	if (!h.count)
		return STATUS_OK;
	out->sessions = arena_alloc(mem, h.count * sizeof *out->sessions);
	for (int i = 0; i < TRIES; i++)
		if (climb(&h, out))
			return STATUS_OK;
	return err_fail(err, STATUS_BUSY, "which processes have started this one cannot be seen; try again");
}

bool inside_has(const struct inside *in, int64_t session)
{
	for (size_t i = 0; i < in->count; i++)
		if (in->sessions[i] == session)
			return true;
	return false;
}
