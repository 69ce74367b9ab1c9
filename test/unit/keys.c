/*
 * Keys of nodes: all of them are entered, and none that leads nowhere, also when a
 * session is read anew, or everything is, while they are on their way.
 */
#include "store/keys.h"

#include "store/mirror.h"
#include "t.h"
#include "tree.h"

#include <pthread.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MANY = 20000, MORE_THAN_FIT = 0 };
#else
enum { MANY = 200000, MORE_THAN_FIT = 1200000 };
#endif

/* A session of source 1 with `lines` lines of so many blocks. */
static enum status add_lines(struct store *s, int lines, uint32_t blocks, int64_t generation, int64_t known,
			     struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct mirror_line l[4];
	struct mirror_part p = {
		.source = 1,
		.generation = generation,
		.to = lines * 10,
		.anew = true,
		.known_generation = known,
		.known_to = known ? lines * 10 : 0,
		.lines = l,
		.line_count = (size_t)lines,
	};
	static const char *const uuids[] = { "a", "b", "c", "d" };

	for (int i = 0; i < lines; i++)
		l[i] = (struct mirror_line){ .offset = i * 10,
					     .length = 9,
					     .type = 2,
					     .uuid = str_of(uuids[i]),
					     .first = i * 10,
					     .blocks = blocks };
	if (txn_begin(s, &txn, err) || mirror_add(s, &p, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

TEST(keys_are_the_first_eight_bytes_with_their_sign)
{
	struct uuid id = { { 0x80, 0, 0, 0, 0, 0, 0, 0, 1 } };

	EQ(key_of(&id), INT64_MIN);
	id.b[0] = 0x7f;
	EQ(key_of(&id), INT64_C(0x7f00000000000000));
	for (int i = 0; i < 8; i++)
		id.b[i] = 0xff;
	EQ(key_of(&id), -1);
}

TEST(all_nodes_are_entered_once)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(keys_complete(s, &err));
	OK(add_lines(s, 3, 5, 1, 0, &err));
	OK(keys_complete(s, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM node_key"), 3 * 7);
	EQ(tree_ask(s, "SELECT keyed_to FROM mirror_session"), 30);
	OK(keys_complete(s, &err));
	OK(db_exec(s, "UPDATE mirror_session SET keyed_to = 10", &err)); /* as after a kill */
	OK(keys_complete(s, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM node_key"), 3 * 7);
	EQ(tree_ask(s, "SELECT keyed_to FROM mirror_session"), 30);
}

TEST(more_nodes_than_fit_are_entered_in_turns)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	if (!MORE_THAN_FIT)
		SKIP("too slow under a sanitizer");
	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add_lines(s, 4, MORE_THAN_FIT / 4, 1, 0, &err));
	OK(keys_complete(s, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM node_key"), MORE_THAN_FIT + 8);
	EQ(tree_ask(s, "SELECT keyed_to FROM mirror_session"), 40);
}

/* ---- Somebody else writes meanwhile ----------------------------------------------- */

struct entering {
	struct store *s;
	enum status status;
	struct err err;
};

static void *enter(void *ctx)
{
	struct entering *e = ctx;

	e->status = keys_complete(e->s, &e->err);
	return NULL;
}

typedef enum status meanwhile_fn(struct store *s, struct err *err);

/* Lets one connection enter many keys, and does something else in the middle of it. */
static void check_meanwhile(struct t *t, meanwhile_fn *fn, int64_t want)
{
	const char *dir = t_tmpdir(t);
	struct store *s CLEANUP(store_closep) = NULL;
	struct store *other CLEANUP(store_closep) = NULL;
	struct entering e;
	pthread_t thread;
	struct err err;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	OK(tree_store(dir, "s", NULL, NULL, &other, &err));
	OK(add_lines(s, 2, MANY, 1, 0, &err));
	e = (struct entering){ .s = other };
	NEED(pthread_create(&thread, NULL, enter, &e) == 0);
	while (tree_ask(s, "SELECT EXISTS (SELECT 1 FROM node_key)") == 0)
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	CHECK(fn(s, &err) == STATUS_OK);
	pthread_join(thread, NULL);
	EQ(e.status, STATUS_OK);
	OK(keys_complete(s, &err)); /* should it have been done before */
	EQ(tree_ask(s, "SELECT count(*) FROM node_key"), want);
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session WHERE keyed_to = read_to"), 1);
}

static enum status read_anew(struct store *s, struct err *err)
{
	return add_lines(s, 2, 3, 2, 1, err);
}

/* The same bytes, to which nothing but their reading tells the difference. */
static enum status read_again(struct store *s, struct err *err)
{
	return add_lines(s, 2, 3, 1, 1, err);
}

static enum status make_anew(struct store *s, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || store_derived_reset(s, err) || store_derived_made(s, err) ||
	    txn_commit(&txn, err))
		return err_failed(err->status);
	return add_lines(s, 2, MANY, 1, 0, err);
}

TEST(no_key_of_a_session_that_is_read_anew_is_left)
{
	check_meanwhile(t, read_anew, 2 * 5);
	check_meanwhile(t, read_again, 2 * 5);
}

TEST(no_key_is_missing_when_all_is_made_anew)
{
	check_meanwhile(t, make_anew, 2 * (MANY + 2));
}

TESTS(CASE(keys_are_the_first_eight_bytes_with_their_sign), CASE(all_nodes_are_entered_once),
      CASE(more_nodes_than_fit_are_entered_in_turns), CASE(no_key_of_a_session_that_is_read_anew_is_left),
      CASE(no_key_is_missing_when_all_is_made_anew))
