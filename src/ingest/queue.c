/*
 * One lock, one condition: two or three threads meet here a few thousand times a
 * second.
 */
#include "ingest/queue.h"

void queue_meet_init(struct queue_meet *m)
{
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
}

void queue_meet_release(struct queue_meet *m)
{
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
}

void queue_init(struct queue *q, int writers, size_t most, struct queue_meet *meet)
{
	*q = (struct queue){ .writers = writers, .most = most, .meet = meet };
	q->tail = &q->head;
	if (!meet) {
		q->meet = &q->own;
		queue_meet_init(&q->own);
	}
}

void queue_release(struct queue *q, void (*free_item)(struct queue_item *item))
{
	while (q->head) {
		struct queue_item *next = q->head->next;

		free_item(q->head);
		q->head = next;
	}
	if (q->meet == &q->own)
		queue_meet_release(&q->own);
}

bool queue_put(struct queue *q, struct queue_item *item)
{
	bool accepted;

	pthread_mutex_lock(&q->meet->lock);
	while (!q->closed && q->head && q->bytes + item->weight > q->most)
		pthread_cond_wait(&q->meet->changed, &q->meet->lock);
	accepted = !q->closed;
	if (accepted) {
		item->next = NULL;
		*q->tail = item;
		q->tail = &item->next;
		q->bytes += item->weight;
		pthread_cond_broadcast(&q->meet->changed);
	}
	pthread_mutex_unlock(&q->meet->lock);
	return accepted;
}

void queue_leave(struct queue *q)
{
	pthread_mutex_lock(&q->meet->lock);
	q->writers--;
	pthread_cond_broadcast(&q->meet->changed);
	pthread_mutex_unlock(&q->meet->lock);
}

struct queue_item *queue_take(struct queue *q, bool wait)
{
	struct queue_item *item;

	pthread_mutex_lock(&q->meet->lock);
	while (wait && !q->head && q->writers > 0)
		pthread_cond_wait(&q->meet->changed, &q->meet->lock);
	item = q->head;
	if (item) {
		q->head = item->next;
		if (!q->head)
			q->tail = &q->head;
		item->next = NULL;
		q->bytes -= item->weight;
		pthread_cond_broadcast(&q->meet->changed);
	}
	pthread_mutex_unlock(&q->meet->lock);
	return item;
}

static bool is_over(const struct queue *q)
{
	return !q->head && q->writers == 0;
}

bool queue_wait(struct queue *q, struct queue *other)
{
	bool is_there;

	pthread_mutex_lock(&q->meet->lock);
	while (!q->head && !other->head && !is_over(q))
		pthread_cond_wait(&q->meet->changed, &q->meet->lock);
	is_there = !is_over(q);
	pthread_mutex_unlock(&q->meet->lock);
	return is_there;
}

bool queue_is_over(struct queue *q)
{
	bool over;

	pthread_mutex_lock(&q->meet->lock);
	over = is_over(q);
	pthread_mutex_unlock(&q->meet->lock);
	return over;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->meet->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->meet->changed);
	pthread_mutex_unlock(&q->meet->lock);
}
