/*
 * Sources to be read: each is taken once, and again only when it is there and has grown.
 */
#include "ingest/jobs.h"
#include "t.h"
#include "tree.h"

#include <pthread.h>

static enum status add_source(struct store *s, const char *path, int64_t *row, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct root root;

	if (root_use(s, "/nowhere", str_of("test"), &root, err) || txn_begin(s, &txn, err) ||
	    source_add(s, root.row, str_of(path), row, err) || unread_add(s, *row, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

TEST(what_is_listed_is_taken_once)
{
	struct store *s CLEANUP(store_closep) = NULL;
	int64_t a = 0, b = 0;
	struct jobs jobs;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add_source(s, "projects/p/a.jsonl", &a, &err));
	OK(add_source(s, "projects/p/b.jsonl", &b, &err));
	jobs_init(&jobs, false);
	OK(jobs_list(&jobs, s, &err));
	EQ(jobs.count, 2u);
	OK(jobs_list(&jobs, s, &err)); /* they are in hand */
	EQ(jobs.count, 2u);
	CHECK(jobs_take(&jobs, s) != NULL);
	CHECK(jobs_take(&jobs, s) != NULL);
	CHECK(jobs_take(&jobs, s) == NULL);
	jobs_release(&jobs);
}

TEST(who_takes_while_more_may_come_asks_the_store)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct read_job *job;
	int64_t a = 0, b = 0;
	struct jobs jobs;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	jobs_init(&jobs, true);
	OK(add_source(s, "projects/p/a.jsonl", &a, &err));
	job = jobs_take(&jobs, s);
	NEED(job);
	EQ(job->unread.source, a);
	OK(add_source(s, "projects/p/b.jsonl", &b, &err));
	job = jobs_take(&jobs, s);
	NEED(job);
	EQ(job->unread.source, b); /* and not the first, which is unread and in hand */
	jobs_release(&jobs);
}

struct taker {
	struct jobs *jobs;
	struct store *store;
	struct read_job *got;
};

static void *take_one(void *ctx)
{
	struct taker *taker = ctx;

	taker->got = jobs_take(taker->jobs, taker->store);
	return NULL;
}

/* One has a source in hand, another waits; `end` is what becomes of the first. */
static void wait_until(struct t *t, void (*end)(struct jobs *jobs, struct read_job *job))
{
	struct store *s CLEANUP(store_closep) = NULL, *other CLEANUP(store_closep) = NULL;
	struct taker taker = { 0 };
	struct read_job *job;
	int64_t a = 0;
	struct jobs jobs;
	pthread_t thread;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(store_open_again(s, &other, &err));
	OK(add_source(s, "projects/p/a.jsonl", &a, &err));
	jobs_init(&jobs, true);
	job = jobs_take(&jobs, s);
	NEED(job);
	taker = (struct taker){ &jobs, other, NULL };
	NEED(pthread_create(&thread, NULL, take_one, &taker) == 0);
	end(&jobs, job);
	pthread_join(thread, NULL);
	CHECK(taker.got == NULL);
	jobs_release(&jobs);
}

static void leave_it(struct jobs *jobs, struct read_job *job)
{
	jobs_close(jobs);
	atomic_store(&job->dead, true);
	jobs_changed(jobs);
}

static void stop_reading(struct jobs *jobs, struct read_job *job)
{
	(void)job;
	jobs_end(jobs);
}

TEST(who_waits_for_what_is_in_hand_ends_when_nothing_comes_of_it)
{
	wait_until(t, leave_it);
	wait_until(t, stop_reading);
}

TEST(what_died_is_not_taken_again)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct read_job *job;
	int64_t a = 0;
	struct jobs jobs;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add_source(s, "projects/p/a.jsonl", &a, &err));
	jobs_init(&jobs, true);
	job = jobs_take(&jobs, s);
	NEED(job);
	atomic_store(&job->dead, true);
	jobs_close(&jobs);
	CHECK(jobs_take(&jobs, s) == NULL);
	jobs_release(&jobs);
}

TEST(listing_what_is_in_hand_again_and_again_takes_no_memory)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct arena before;
	struct jobs jobs;
	int64_t a = 0;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add_source(s, "projects/p/a.jsonl", &a, &err));
	jobs_init(&jobs, true);
	NEED(jobs_take(&jobs, s));
	before = jobs.mem;
	for (int i = 0; i < 100; i++)
		OK(jobs_list(&jobs, s, &err));
	CHECK(jobs.mem.last == before.last);
	EQ(jobs.mem.used, before.used);
	jobs_release(&jobs);
}

TEST(nobody_takes_anything_after_the_end)
{
	struct store *s CLEANUP(store_closep) = NULL;
	int64_t a = 0;
	struct jobs jobs;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add_source(s, "projects/p/a.jsonl", &a, &err));
	jobs_init(&jobs, true);
	jobs_end(&jobs);
	CHECK(jobs_take(&jobs, s) == NULL);
	jobs_release(&jobs);
}

TESTS(CASE(what_is_listed_is_taken_once), CASE(who_takes_while_more_may_come_asks_the_store),
      CASE(who_waits_for_what_is_in_hand_ends_when_nothing_comes_of_it), CASE(what_died_is_not_taken_again),
      CASE(listing_what_is_in_hand_again_and_again_takes_no_memory),
      CASE(nobody_takes_anything_after_the_end))
