/*
 * Pieces: their memory, and the queue that holds them (ingest/queue.h). A piece may
 * hold a file of no bytes or half a megabyte.
 */
#include "ingest/piece.h"

struct piece *piece_new(struct job *job, struct fresh *fresh)
{
	struct piece *p = mem_alloc(sizeof *p);

	p->job = job;
	p->fresh = fresh;
	buf_init(&p->packed, LIMIT_SYNC_QUEUE);
	return p;
}

void piece_free(struct piece *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++)
		fresh_drop(p->fresh, p->copies[i]);
	buf_release(&p->packed);
	mem_free(p->repairs);
	mem_free(p->gaps);
	mem_free(p);
}

void piece_give_copies(struct piece *p, int64_t generation)
{
	for (size_t i = 0; i < p->count; i++) {
		fresh_give(p->fresh, p->copies[i], generation);
		p->copies[i] = NULL;
	}
}

void piece_seal(struct piece *p)
{
	size_t at = 0;

	for (size_t i = 0; i < p->count; i++) {
		p->blocks[i].packed.p = p->packed.p + at;
		at += p->blocks[i].packed.n;
	}
	for (size_t i = 0; i < p->repair_count; i++) {
		p->repairs[i].packed.p = p->packed.p + at;
		at += p->repairs[i].packed.n;
	}
}

void piece_queue_init(struct piece_queue *q, int writers, struct queue_meet *meet)
{
	queue_init(&q->queue, writers, LIMIT_SYNC_QUEUE, meet);
}

static void free_item(struct queue_item *item)
{
	piece_free((struct piece *)item);
}

void piece_queue_release(struct piece_queue *q)
{
	queue_release(&q->queue, free_item);
}

bool piece_queue_put(struct piece_queue *q, struct piece *p)
{
	p->item.weight = sizeof *p + p->packed.cap;
	if (queue_put(&q->queue, &p->item))
		return true;
	piece_free(p);
	return false;
}

void piece_queue_leave(struct piece_queue *q)
{
	queue_leave(&q->queue);
}

struct piece *piece_queue_take(struct piece_queue *q, bool wait)
{
	return (struct piece *)queue_take(&q->queue, wait);
}

void piece_queue_close(struct piece_queue *q)
{
	queue_close(&q->queue);
}
