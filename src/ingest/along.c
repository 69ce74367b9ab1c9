/*
 * Two things are slow in a first sync: packing bytes, which keeps every core busy, and filling the
 * full-text index, which has to be done by one thread. One after the other they leave a core idle half of
 * the time. So what is archived is read while the sync brings in more. Those that pack let who reads and
 * writes go first (thread_step_back()): they would be done sooner, and the one core that fills the index then
 * much later.
 *
 * One thread writes both, in turn. Two would wait for each other's transactions, cut them short, and
 * read again what the other has changed.
 *
 * Nothing depends on how far it comes. What cannot be read stays unread, and whoever
 * reads the rest meets it again and tells of it. So its errors are nobody's business: it ends with the first.
 */
#include "ingest/along.h"

#include "ingest/fresh.h"
#include "ingest/reading.h"

struct along {
	struct reading y;
	bool failed;
};

struct along *along_begin(struct store *s, struct queue_meet *meet, const struct read_options *o)
{
	struct along *a = mem_alloc(sizeof *a);
	bool current = false;
	struct err err;

	if (reading_init(&a->y, s, o, true, &err) == STATUS_OK &&
	    store_derived_current(s, &current, &err) == STATUS_OK && current &&
	    reading_start(&a->y, meet, &err) == STATUS_OK)
		return a;
	reading_release(&a->y);
	mem_free(a);
	return NULL;
}

struct queue *along_queue(struct along *a)
{
	return &a->y.queue;
}

static void give_up(struct along *a)
{
	a->failed = true;
	jobs_end(&a->y.jobs);
	queue_close(&a->y.queue);
	fresh_end(a->y.o.fresh);
}

void along_write(struct along *a)
{
	struct part *p = (struct part *)queue_take(&a->y.queue, false);
	struct err ignored;

	if (p && a->failed)
		part_free(p);
	else if (p && reading_write(&a->y, p, &ignored))
		give_up(a);
}

void along_more(struct along *a)
{
	jobs_changed(&a->y.jobs);
}

void along_end(struct along *a)
{
	struct err ignored;

	if (!a)
		return;
	jobs_close(&a->y.jobs);
	if (!a->failed && reading_write_all(&a->y, &ignored))
		give_up(a);
	reading_release(&a->y);
	mem_free(a);
}
