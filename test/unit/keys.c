/*
 * Keys of nodes: all of them are entered, and none that leads nowhere, also when a
 * session is read anew, or everything is, while they are on their way.
 */
#include "store/keys.h"

#include "store/mirror.h"
#include "store/session.h"
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

/* ---- Kin --------------------------------------------------------------------------- */

#define LINE_A "aaaaaaaa-0000-4000-8000-000000000000"

/* A session of a source with so many lines, each with the uuid or, when it is "-", hanging on LINE_A. */
static enum status add_kin_session(struct store *s, int64_t source, const char *uuid, int lines, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct uuid above = line_key(STR(LINE_A));
	bool hangs = uuid[0] == '-';
	static struct mirror_line l[200];
	static char names[200][24];
	struct mirror_part p = {
		.source = source,
		.generation = source,
		.to = lines * 10,
		.anew = true,
		.lines = l,
		.line_count = (size_t)lines,
	};

	for (int i = 0; i < lines; i++) {
		snprintf(names[i], sizeof names[i], "%" PRId64 "-%d", source, i);
		l[i] = (struct mirror_line){ .offset = i * 10,
					     .length = 9,
					     .type = 2,
					     .uuid = str_of(hangs ? names[i] : uuid),
					     .parent = hangs ? &above : NULL,
					     .parent_at = -1,
					     .first = i * 10 };
	}
	if (txn_begin(s, &txn, err) || mirror_add(s, &p, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status forget_session(struct store *s, int64_t source, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || mirror_forget(s, source, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* How many sessions the one of source 1 is connected with, itself included. */
static int64_t family(struct store *s)
{
	return tree_ask(s, "WITH RECURSIVE f(id) AS (SELECT id FROM mirror_session WHERE source = 1 UNION"
			   " SELECT k.other FROM kin k JOIN f ON k.session = f.id) SELECT count(*) FROM f");
}

/* All at once, or one after the other. */
static void enter_sessions(struct t *t, struct store *s, const char *const *uuids, int count, int lines, bool at_once)
{
	struct err err;

	for (int i = 0; i < count; i++) {
		OK(add_kin_session(s, i + 1, uuids[i], lines, &err));
		if (!at_once)
			OK(keys_complete(s, &err));
	}
	OK(keys_complete(s, &err));
}

TEST(those_with_a_line_in_common_stay_kin_when_another_is_forgotten)
{
	static const char *const uuids[] = { LINE_A, LINE_A, LINE_A, LINE_A };

	for (int way = 0; way < 8; way++) {
		struct store *s CLEANUP(store_closep) = NULL;
		int64_t gone = 2 + way % 3;
		char name[16];
		struct err err;

		snprintf(name, sizeof name, "s%d", way);
		OK(tree_store(t_tmpdir(t), name, NULL, NULL, &s, &err));
		enter_sessions(t, s, uuids, 4, 1, way < 4);
		EQ(family(s), 4);
		OK(forget_session(s, gone, &err));
		OK(keys_complete(s, &err));
		EQ(family(s), 3);
		EQ(tree_ask(s, "SELECT count(*) FROM mirror_session WHERE keyed_to < read_to"), 0);
	}
}

TEST(who_hangs_on_a_line_is_kin_of_who_has_it_in_any_order)
{
	static const char *const orders[][4] = { { LINE_A, "-", "-", "-" },
						 { "-", LINE_A, "-", "-" },
						 { "-", "-", "-", LINE_A },
						 { "-", "-", LINE_A, LINE_A } };

	for (size_t way = 0; way < 2 * COUNT(orders); way++) {
		struct store *s CLEANUP(store_closep) = NULL;
		char name[16];
		struct err err;

		snprintf(name, sizeof name, "s%zu", way);
		OK(tree_store(t_tmpdir(t), name, NULL, NULL, &s, &err));
		enter_sessions(t, s, orders[way / 2], 4, 100, way % 2 == 0);
		EQ(family(s), 4);
	}
}

TEST(those_that_hang_on_what_nobody_has_are_no_kin)
{
	static const char *const uuids[] = { "-", "-", "b" };
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	enter_sessions(t, s, uuids, 3, 2, true);
	EQ(tree_ask(s, "SELECT count(*) FROM kin"), 0);
	OK(add_kin_session(s, 4, LINE_A, 1, &err));
	OK(keys_complete(s, &err));
	EQ(family(s), 3);
	OK(forget_session(s, 4, &err));
	OK(keys_complete(s, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM kin"), 0);
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

/* Does something on another connection, right after a commit of the one that enters keys. */
struct intruder {
	struct store *other;
	int64_t source;	  /* whose session it replaces */
	int at;		  /* after which commit */
	bool enters_keys; /* too, or leaves them to the first */
	int commits;
	enum status status;
	struct err err;
};

static enum status replace_session(struct store *s, int64_t source, bool enters_keys, struct err *err)
{
	if (forget_session(s, source, err) || add_kin_session(s, source, LINE_A, 2, err))
		return err_failed(err->status);
	return enters_keys ? keys_complete(s, err) : STATUS_OK;
}

static int intrude(void *ctx, sqlite3 *db, const char *name, int pages)
{
	struct intruder *i = ctx;

	(void)db;
	(void)name;
	(void)pages;
	if (++i->commits == i->at)
		i->status = replace_session(i->other, i->source, i->enters_keys, &i->err);
	return SQLITE_OK;
}

/* Two sessions have a line in common. One is known, the other is being entered. */
static void check_intruder(struct t *t, struct intruder *i)
{
	const char *dir = t_tmpdir(t);
	struct store *s CLEANUP(store_closep) = NULL;
	struct store *other CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	OK(tree_store(dir, "s", NULL, NULL, &other, &err));
	OK(add_kin_session(s, 1, LINE_A, 2, &err));
	OK(keys_complete(s, &err));
	OK(add_kin_session(s, 2, LINE_A, 2, &err));
	i->other = other;
	sqlite3_wal_hook(s->db, intrude, i);
	OK(keys_complete(s, &err));
	EQ(i->status, STATUS_OK);
	OK(keys_complete(other, &err)); /* should the last commit have been the one */
	EQ(family(other), 2);
	EQ(tree_ask(other, "SELECT count(*) FROM mirror_session WHERE keyed_to < read_to"), 0);
}

/* The last session gets its number again, so that only the rows tell what went. */
TEST(those_with_a_line_in_common_stay_kin_when_one_is_replaced_at_any_moment)
{
	enum { COMMITS = 2 }; /* keys are entered, and noted as entered */

	for (int way = 0; way < 4; way++)
		for (int at = 1; at <= COMMITS; at++) {
			struct intruder i = { .source = 1 + way % 2, .at = at, .enters_keys = way / 2 };

			check_intruder(t, &i);
			CHECK(i.commits >= at);
		}
}

TESTS(CASE(keys_are_the_first_eight_bytes_with_their_sign), CASE(all_nodes_are_entered_once),
      CASE(more_nodes_than_fit_are_entered_in_turns),
      CASE(those_with_a_line_in_common_stay_kin_when_another_is_forgotten),
      CASE(who_hangs_on_a_line_is_kin_of_who_has_it_in_any_order), CASE(those_that_hang_on_what_nobody_has_are_no_kin),
      CASE(no_key_of_a_session_that_is_read_anew_is_left),
      CASE(no_key_is_missing_when_all_is_made_anew),
      CASE(those_with_a_line_in_common_stay_kin_when_one_is_replaced_at_any_moment))
