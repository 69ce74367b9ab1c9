/*
 * Two things are slow in a first sync: packing bytes, which keeps every core busy, and filling the
 * full-text index, which has to be done by one thread. One after the other they leave a core idle half of
 * the time. So a thread reads what is unread already while the sync brings in more; what is left then is
 * read as ever. Those that pack let it go first (thread_step_back()): they would be done sooner, and the one
 * core that fills the index then much later.
 *
 * It is another reader, like one in another process: everything that lets several programs read at once
 * holds for it, and nothing depends on how far it comes. What it cannot read stays unread, and whoever
 * reads the rest meets it again and tells of it. So its errors are nobody's business.
 *
 * It calls nobody back. Broken lines are noted, and told by the thread that ends it.
 */
#include "ingest/along.h"

#include "base/arena.h"
#include "base/thread.h"

#include <time.h>

enum {
	/* As long as a few transactions of the sync: by then there is something to read again. */
	REST_NS = 20 * 1000 * 1000,
	NS_PER_S = 1000 * 1000 * 1000,
};

struct broken {
	struct broken *next;
	struct str path;
	int64_t line, more;
};

struct along {
	struct store *store;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool end; /* under the lock */
	const atomic_bool *cancel;
	struct arena mem;
	struct broken *broken, **last;
	struct read_report report;
};

static void note_broken(void *ctx, struct str path, int64_t line, int64_t more)
{
	struct along *a = ctx;
	struct broken *b = arena_alloc(&a->mem, sizeof *b);

	*b = (struct broken){ .path = arena_str(&a->mem, path), .line = line, .more = more };
	*a->last = b;
	a->last = &b->next;
}

/* Until there may be something to read again; false when it is to end. */
static bool rest(struct along *a)
{
	struct timespec until;
	bool end;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += REST_NS;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	pthread_mutex_lock(&a->lock);
	if (!a->end)
		pthread_cond_timedwait(&a->changed, &a->lock, &until);
	end = a->end;
	pthread_mutex_unlock(&a->lock);
	return !end;
}

static void *read_along(void *ctx)
{
	struct along *a = ctx;
	struct read_options o = { .cancel = a->cancel, .broken = note_broken, .report = &a->report, .ctx = a };
	struct err err;

	while (rest(a) && read_some(a->store, &o, &err) == STATUS_OK)
		;
	return NULL;
}

static void along_free(struct along *a)
{
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	store_close(a->store);
	arena_release(&a->mem);
	mem_free(a);
}

struct along *along_begin(struct store *s, const atomic_bool *cancel)
{
	struct along *a = mem_alloc(sizeof *a);
	bool current = false;
	struct err err;

	*a = (struct along){ .mem = ARENA_INIT, .cancel = cancel };
	a->last = &a->broken;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (store_open_beside(s, &a->store, &err) == STATUS_OK &&
	    store_derived_current(a->store, &current, &err) == STATUS_OK && current &&
	    thread_start(&a->thread, read_along, a) == 0)
		return a;
	along_free(a);
	return NULL;
}

void along_end(struct along *a, const struct read_options *o)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->end = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	for (const struct broken *b = a->broken; b; b = b->next)
		o->broken(o->ctx, b->path, b->line, b->more);
	o->report->messages += a->report.messages;
	o->report->tools += a->report.tools;
	o->report->broken += a->report.broken;
	along_free(a);
}
