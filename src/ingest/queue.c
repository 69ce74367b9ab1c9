/*
 * One lock, one condition: two or three threads meet here a few thousand times a
 * second.
 */
#include "ingest/queue.h"

void queue_init(struct queue *q, int writers, size_t most)
{
	*q = (struct queue){ .writers = writers, .most = most };
	q->tail = &q->head;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
}

void queue_release(struct queue *q, void (*free_item)(struct queue_item *item))
{
	while (q->head) {
		struct queue_item *next = q->head->next;

		free_item(q->head);
		q->head = next;
	}
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
}

bool queue_put(struct queue *q, struct queue_item *item)
{
	bool accepted;

	pthread_mutex_lock(&q->lock);
	while (!q->closed && q->head && q->bytes + item->weight > q->most)
		pthread_cond_wait(&q->changed, &q->lock);
	accepted = !q->closed;
	if (accepted) {
		item->next = NULL;
		*q->tail = item;
		q->tail = &item->next;
		q->bytes += item->weight;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return accepted;
}

void queue_leave(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->writers--;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

struct queue_item *queue_take(struct queue *q, bool wait)
{
	struct queue_item *item;

	pthread_mutex_lock(&q->lock);
	while (wait && !q->head && q->writers > 0)
		pthread_cond_wait(&q->changed, &q->lock);
	item = q->head;
	if (item) {
		q->head = item->next;
		if (!q->head)
			q->tail = &q->head;
		item->next = NULL;
		q->bytes -= item->weight;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return item;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}
