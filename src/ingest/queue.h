/*
 * A bounded queue between threads that prepare and the one that writes. Bounded by
 * the memory its items take, not by their count.
 */
#ifndef ARBOR_INGEST_QUEUE_H
#define ARBOR_INGEST_QUEUE_H

#include "base/base.h"

#include <pthread.h>

/* First member of whatever is queued. */
struct queue_item {
	struct queue_item *next;
	size_t weight; /* bytes it takes */
};

/* Where those who put and take meet; one who takes from several queues has one for all of them. */
struct queue_meet {
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

void queue_meet_init(struct queue_meet *m);
void queue_meet_release(struct queue_meet *m);

struct queue {
	struct queue_meet *meet, own;
	struct queue_item *head, **tail;
	size_t bytes; /* of what waits */
	size_t most;  /* bytes that may wait */
	int writers;  /* threads that may still put */
	bool closed;  /* the taker has given up */
};

/* `meet` may be NULL: the queue has its own. It must stay where it is. */
void queue_init(struct queue *q, int writers, size_t most, struct queue_meet *meet);

/* Frees what was not taken. */
void queue_release(struct queue *q, void (*free_item)(struct queue_item *item));

/* Waits for room; an item larger than all of it goes alone. False when the queue
 * was closed: the item is still the caller's. */
bool queue_put(struct queue *q, struct queue_item *item);

/* A putting thread ends. */
void queue_leave(struct queue *q);

/* The next item; NULL when all putters have left and nothing waits, or, without
 * `wait`, when nothing is there now. */
struct queue_item *queue_take(struct queue *q, bool wait);

/* Waits until there is something in one of two queues that meet in one place, or nothing will come into
 * the first any more. False in that case. */
bool queue_wait(struct queue *q, struct queue *other);

/* Nothing waits, and nobody will put. */
bool queue_is_over(struct queue *q);

/* No more will be taken: wakes and refuses everybody. */
void queue_close(struct queue *q);

#endif
