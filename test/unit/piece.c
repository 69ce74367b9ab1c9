/*
 * Pieces and the queue between reading threads and the writing one.
 */
#include "ingest/piece.h"
#include "t.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* A piece with `bytes` packed bytes; number and putter travel in its fields. */
static struct piece *make_piece(int64_t putter, int64_t number, size_t bytes)
{
	struct piece *p = piece_new(NULL, NULL);
	char *to = buf_reserve(&p->packed, bytes);

	memset(to, (int)number, bytes);
	buf_grew(&p->packed, bytes);
	p->generation = putter;
	p->length = number;
	return p;
}

TEST(sealing_points_each_block_at_its_bytes)
{
	struct piece *p = piece_new(NULL, NULL);

	for (size_t i = 0; i < PIECE_BLOCKS; i++) {
		p->blocks[p->count++].packed.n = i;
		for (size_t k = 0; k < i; k++)
			buf_byte(&p->packed, (char)i);
	}
	piece_seal(p);
	for (size_t i = 0; i < PIECE_BLOCKS; i++) {
		EQ(p->blocks[i].packed.n, i);
		for (size_t k = 0; k < i; k++)
			CHECK(p->blocks[i].packed.p[k] == (char)i);
	}
	piece_free(p);
	piece_free(NULL);
}

TEST(pieces_come_out_in_the_order_they_went_in)
{
	struct piece_queue q;
	struct piece *p;

	piece_queue_init(&q, 1, NULL);
	CHECK(piece_queue_take(&q, false) == NULL);
	for (int i = 0; i < 100; i++)
		CHECK(piece_queue_put(&q, make_piece(1, i, 10)));
	CHECK(q.queue.bytes >= 1000 + sizeof(struct piece));
	for (int i = 0; i < 50; i++) {
		p = piece_queue_take(&q, i % 2);
		NEED(p);
		EQ(p->length, i);
		CHECK(p->item.next == NULL);
		piece_free(p);
	}
	CHECK(piece_queue_put(&q, make_piece(1, 100, 10)));
	for (int i = 50; i < 101; i++) {
		p = piece_queue_take(&q, true);
		NEED(p);
		EQ(p->length, i);
		piece_free(p);
	}
	EQ(q.queue.bytes, 0);
	CHECK(piece_queue_take(&q, false) == NULL);
	piece_queue_leave(&q);
	CHECK(piece_queue_take(&q, true) == NULL);
	piece_queue_release(&q);
}

TEST(what_was_not_taken_is_freed)
{
	struct piece_queue q;

	piece_queue_init(&q, 1, NULL);
	for (int i = 0; i < 10; i++)
		CHECK(piece_queue_put(&q, make_piece(1, i, 1000)));
	CHECK(q.queue.bytes >= 10000 + sizeof(struct piece));
	piece_queue_release(&q); /* ASan finds what is left */
}

TEST(a_closed_queue_takes_nothing_more)
{
	struct piece_queue q;

	piece_queue_init(&q, 1, NULL);
	CHECK(piece_queue_put(&q, make_piece(1, 1, 1)));
	piece_queue_close(&q);
	CHECK(!piece_queue_put(&q, make_piece(1, 2, 1)));
	CHECK(q.queue.bytes >= 1 + sizeof(struct piece));
	piece_queue_release(&q);
}

/* ---- With threads ---------------------------------------------------------- */

struct putter {
	struct piece_queue *q;
	int64_t id;
	int count;
	size_t bytes;
	atomic_int *done;
	int accepted;
	pthread_t thread;
};

static void *put_all(void *ctx)
{
	struct putter *p = ctx;

	for (int i = 0; i < p->count; i++) {
		if (!piece_queue_put(p->q, make_piece(p->id, i, p->bytes)))
			break;
		p->accepted++;
		if (p->done)
			atomic_fetch_add(p->done, 1);
	}
	piece_queue_leave(p->q);
	return NULL;
}

static void pause_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Waits until the number no longer changes, or reaches `limit`. */
static int settled(atomic_int *n, int limit)
{
	int before = -1, now;

	while ((now = atomic_load(n)) != before && now < limit) {
		before = now;
		pause_ms(60);
	}
	return now;
}

TEST(every_putter_keeps_its_order_and_nothing_is_lost)
{
	enum { PUTTERS = 4, EACH = 400 };
	struct putter putters[PUTTERS];
	int64_t next[PUTTERS] = { 0 };
	struct piece_queue q;
	struct piece *p;
	int total = 0;

	piece_queue_init(&q, PUTTERS, NULL);
	for (int i = 0; i < PUTTERS; i++) {
		putters[i] = (struct putter){ .q = &q, .id = i, .count = EACH, .bytes = 100000 };
		NEED(pthread_create(&putters[i].thread, NULL, put_all, &putters[i]) == 0);
	}
	while ((p = piece_queue_take(&q, true))) {
		EQ(p->length, next[p->generation]);
		next[p->generation]++;
		total++;
		piece_free(p);
	}
	EQ(total, PUTTERS * EACH);
	for (int i = 0; i < PUTTERS; i++) {
		pthread_join(putters[i].thread, NULL);
		EQ(putters[i].accepted, EACH);
	}
	EQ(q.queue.bytes, 0);
	piece_queue_release(&q);
}

TEST(a_full_queue_makes_putters_wait)
{
	/* A buffer of EACH bytes and a NUL has doubled once more. */
	enum { EACH = 1024 * 1024, WEIGHT = 2 * EACH + (int)sizeof(struct piece) };
	enum { FITS = (int)(LIMIT_SYNC_QUEUE / WEIGHT), COUNT_ALL = FITS + 5 };
	atomic_int done = 0;
	struct piece_queue q;
	struct putter putter = { .q = &q, .count = COUNT_ALL, .bytes = EACH, .done = &done };
	struct piece *p;

	piece_queue_init(&q, 1, NULL);
	NEED(pthread_create(&putter.thread, NULL, put_all, &putter) == 0);
	EQ(settled(&done, COUNT_ALL), FITS);
	for (int i = 1; i <= 2; i++) {
		p = piece_queue_take(&q, true);
		NEED(p);
		piece_free(p);
		EQ(settled(&done, COUNT_ALL), FITS + i);
	}
	for (int i = 2; i < COUNT_ALL; i++)
		piece_free(piece_queue_take(&q, true));
	CHECK(piece_queue_take(&q, true) == NULL);
	pthread_join(putter.thread, NULL);
	EQ(putter.accepted, COUNT_ALL);
	piece_queue_release(&q);
}

TEST(a_piece_as_large_as_the_queue_passes_when_it_is_empty)
{
	struct piece_queue q;

	piece_queue_init(&q, 1, NULL);
	CHECK(piece_queue_put(&q, make_piece(1, 1, LIMIT_SYNC_QUEUE)));
	piece_free(piece_queue_take(&q, true));
	CHECK(piece_queue_put(&q, make_piece(1, 2, LIMIT_SYNC_QUEUE)));
	piece_queue_release(&q);
}

TEST(closing_wakes_every_waiting_putter)
{
	enum { PUTTERS = 3 };
	atomic_int done = 0;
	struct putter putters[PUTTERS];
	struct piece_queue q;
	int accepted;

	piece_queue_init(&q, PUTTERS, NULL);
	for (int i = 0; i < PUTTERS; i++) {
		putters[i] = (struct putter){ .q = &q, .id = i, .count = 1000, .bytes = 1024 * 1024, .done = &done };
		NEED(pthread_create(&putters[i].thread, NULL, put_all, &putters[i]) == 0);
	}
	accepted = settled(&done, 1000);
	piece_queue_close(&q);
	for (int i = 0; i < PUTTERS; i++)
		pthread_join(putters[i].thread, NULL);
	EQ(atomic_load(&done), accepted);
	piece_queue_release(&q);
}

static void *leave_later(void *ctx)
{
	pause_ms(30);
	piece_queue_leave(ctx);
	return NULL;
}

TEST(the_last_putter_to_leave_ends_the_taking)
{
	struct piece_queue q;
	pthread_t a, b;

	piece_queue_init(&q, 2, NULL);
	NEED(pthread_create(&a, NULL, leave_later, &q) == 0 && pthread_create(&b, NULL, leave_later, &q) == 0);
	CHECK(piece_queue_take(&q, true) == NULL);
	EQ(q.queue.writers, 0);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	piece_queue_release(&q);
}

TEST(what_waits_is_taken_after_all_have_left)
{
	struct piece_queue q;

	piece_queue_init(&q, 1, NULL);
	CHECK(piece_queue_put(&q, make_piece(1, 7, 5)));
	piece_queue_leave(&q);
	for (int i = 0; i < 2; i++) {
		struct piece *p = piece_queue_take(&q, true);

		EQ(p != NULL, i == 0);
		piece_free(p);
	}
	piece_queue_release(&q);
}

TESTS(CASE(sealing_points_each_block_at_its_bytes),
      CASE(pieces_come_out_in_the_order_they_went_in),
      CASE(what_was_not_taken_is_freed),
      CASE(a_closed_queue_takes_nothing_more),
      CASE(every_putter_keeps_its_order_and_nothing_is_lost),
      CASE(a_full_queue_makes_putters_wait),
      CASE(a_piece_as_large_as_the_queue_passes_when_it_is_empty),
      CASE(closing_wakes_every_waiting_putter),
      CASE(the_last_putter_to_leave_ends_the_taking),
      CASE(what_waits_is_taken_after_all_have_left))
