/*
 * Pieces and their queue. The queue is bounded by the memory its pieces take, not
 * by their count: one may hold a file of no bytes or half a megabyte. One lock, one condition: two or three
 * threads meet here a few thousand times a second.
 */
#include "ingest/piece.h"

static size_t weight(const struct piece *p)
{
	return sizeof *p + p->packed.cap;
}

struct piece *piece_new(struct job *job)
{
	struct piece *p = mem_alloc(sizeof *p);

	p->job = job;
	buf_init(&p->packed, LIMIT_SYNC_QUEUE);
	return p;
}

void piece_free(struct piece *p)
{
	if (!p)
		return;
	buf_release(&p->packed);
	mem_free(p->repairs);
	mem_free(p);
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

void piece_queue_init(struct piece_queue *q, int writers)
{
	*q = (struct piece_queue){ .writers = writers };
	q->tail = &q->head;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
}

void piece_queue_release(struct piece_queue *q)
{
	while (q->head) {
		struct piece *next = q->head->next;

		piece_free(q->head);
		q->head = next;
	}
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
}

bool piece_queue_put(struct piece_queue *q, struct piece *p)
{
	bool accepted;

	pthread_mutex_lock(&q->lock);
	while (!q->closed && q->head && q->bytes + weight(p) > LIMIT_SYNC_QUEUE)
		pthread_cond_wait(&q->changed, &q->lock);
	accepted = !q->closed;
	if (accepted) {
		*q->tail = p;
		q->tail = &p->next;
		q->bytes += weight(p);
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	if (!accepted)
		piece_free(p);
	return accepted;
}

void piece_queue_leave(struct piece_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->writers--;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

struct piece *piece_queue_take(struct piece_queue *q, bool wait)
{
	struct piece *p;

	pthread_mutex_lock(&q->lock);
	while (wait && !q->head && q->writers > 0)
		pthread_cond_wait(&q->changed, &q->lock);
	p = q->head;
	if (p) {
		q->head = p->next;
		if (!q->head)
			q->tail = &q->head;
		p->next = NULL;
		q->bytes -= weight(p);
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return p;
}

void piece_queue_close(struct piece_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}
