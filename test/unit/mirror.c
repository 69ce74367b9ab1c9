/*
 * Writing parts of sessions: what is refused, and what a part leaves behind.
 */
#include "store/mirror.h"

#include "store/keys.h"
#include "t.h"
#include "tree.h"

static enum status add(struct store *s, const struct mirror_part *p, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	enum status status = txn_begin(s, &txn, err);

	if (status == STATUS_OK)
		status = mirror_add(s, p, err);
	/* What was refused must have changed nothing, so it may be committed. */
	if (status == STATUS_OK || status == STATUS_CONFLICT) {
		struct err ignored;

		if (txn_commit(&txn, &ignored))
			return ignored.status;
	}
	return status;
}

static struct mirror_line line_at(int64_t offset, const char *uuid)
{
	return (struct mirror_line){
		.offset = offset, .length = 9, .type = 1, .uuid = str_of(uuid), .first = offset, .blocks = 2
	};
}

/* One line of ten bytes in generation `generation` of source 1. */
static struct mirror_part part_of(const struct mirror_line *l, int64_t generation)
{
	return (struct mirror_part){ .source = 1,
				     .generation = generation,
				     .from = l->offset,
				     .to = l->offset + 10,
				     .anew = l->offset == 0,
				     .lines = l,
				     .line_count = 1 };
}

static void check_state(struct t *t, struct store *s, int64_t generation, int64_t read_to, int64_t entries)
{
	EQ(tree_ask(s, "SELECT generation FROM mirror_session"), generation);
	EQ(tree_ask(s, "SELECT read_to FROM mirror_session"), read_to);
	EQ(tree_ask(s, "SELECT count(*) FROM entry"), entries);
}

TEST(a_part_goes_on_where_the_last_one_ended)
{
	struct mirror_line a = line_at(0, "a"), b = line_at(10, "b"), c = line_at(20, "c");
	struct mirror_part p = part_of(&a, 7), q = part_of(&b, 7), r = part_of(&c, 7);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	EQ(add(s, &q, &err), STATUS_CONFLICT); /* there is no session yet */
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session"), 0);
	OK(add(s, &p, &err));
	EQ(add(s, &p, &err), STATUS_CONFLICT);
	EQ(add(s, &r, &err), STATUS_CONFLICT);
	check_state(t, s, 7, 10, 1);
	OK(add(s, &q, &err));
	EQ(add(s, &q, &err), STATUS_CONFLICT);
	OK(add(s, &r, &err));
	check_state(t, s, 7, 30, 3);
	EQ(tree_ask(s, "SELECT messages FROM mirror_session"), 3);
}

TEST(who_has_seen_an_older_state_is_refused)
{
	struct mirror_line a = line_at(0, "a"), b = line_at(10, "b");
	struct mirror_part first = part_of(&a, 1), third = part_of(&a, 3), late = part_of(&a, 2),
			   rest = part_of(&b, 1);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, &first, &err));
	third.known_generation = late.known_generation = 1;
	third.known_to = late.known_to = 10;
	OK(add(s, &third, &err));
	EQ(add(s, &late, &err), STATUS_CONFLICT);
	EQ(add(s, &rest, &err), STATUS_CONFLICT);
	EQ(add(s, &first, &err), STATUS_CONFLICT);
	check_state(t, s, 3, 10, 1);
}

TEST(reading_anew_leaves_nothing_of_before)
{
	struct mirror_line a = line_at(0, "a"), b = line_at(10, "b"), c = line_at(0, "c");
	struct mirror_part p = part_of(&a, 1), q = part_of(&b, 1), anew = part_of(&c, 1);
	struct store *s CLEANUP(store_closep) = NULL;
	int64_t reading;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	p.title = STR("old");
	p.title_rank = 3;
	p.cwd = p.branch = STR("/old");
	p.started_at = 5;
	p.updated_at = 9;
	p.prompts = p.tools = 4;
	OK(add(s, &p, &err));
	OK(add(s, &q, &err));
	OK(keys_complete(s, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM node_key"), 12);
	reading = tree_ask(s, "SELECT reading FROM mirror_session");
	anew.known_generation = 1;
	anew.known_to = 20;
	OK(add(s, &anew, &err));
	check_state(t, s, 1, 10, 1);
	EQ(tree_ask(s, "SELECT count(*) FROM node_key"), 0);
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session WHERE title = '' AND title_rank = 0 AND project "
		       "IS NULL AND"
		       " branch IS NULL AND started_at IS NULL AND updated_at IS NULL AND prompts = 0 AND "
		       "tools = 0 AND"
		       " messages = 1 AND keyed_to = 0"),
	   1);
	CHECK(tree_ask(s, "SELECT reading FROM mirror_session") != reading);
	OK(keys_complete(s, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM node_key"), 6);
}

TEST(a_session_can_be_forgotten)
{
	struct mirror_line a = line_at(0, "a");
	struct mirror_part p = part_of(&a, 1);
	struct store *s CLEANUP(store_closep) = NULL;
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, &p, &err));
	OK(keys_complete(s, &err));
	OK(txn_begin(s, &txn, &err));
	OK(mirror_forget(s, 1, &err));
	OK(mirror_forget(s, 1, &err)); /* nothing to forget */
	OK(txn_commit(&txn, &err));
	EQ(tree_ask(s, "SELECT (SELECT count(*) FROM mirror_session) + (SELECT count(*) FROM entry) +"
		       " (SELECT count(*) FROM node_key)"),
	   0);
}

/* ---- Older versions ---------------------------------------------------------------- */

/* A line that only generation `generation` had, in the eyes of whoever has read ten bytes of
 * generation `newest`. */
static struct mirror_part old_of(const struct mirror_line *l, int64_t generation, int64_t newest, int64_t reader)
{
	struct mirror_part p = part_of(l, generation);

	p.old = true;
	p.newest = newest;
	p.newest_to = 10;
	p.reader = reader;
	return p;
}

static struct mirror_part first_old_of(const struct mirror_line *l, int64_t generation, int64_t newest, int64_t reader)
{
	struct mirror_part p = old_of(l, generation, newest, reader);

	p.first_old = true;
	return p;
}

/* One that takes the place of what has been read of `known`. */
static struct mirror_part anew_of(const struct mirror_line *l, int64_t generation, int64_t known, int64_t old_for)
{
	struct mirror_part p = part_of(l, generation);

	p.known_generation = known;
	p.known_to = 10;
	p.known_old_for = old_for;
	return p;
}

static enum status all_old_read(struct store *s, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || mirror_old_done(s, 1, false, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static int64_t old_lines(struct store *s, const char *uuid)
{
	char sql[160];

	snprintf(sql, sizeof sql,
		 "SELECT count(*) FROM entry e JOIN mirror_session m ON m.id = e.session WHERE m.old AND e.uuid = '%s'",
		 uuid);
	return tree_ask(s, sql);
}

static int64_t old_for(struct store *s)
{
	return tree_ask(s, "SELECT old_for FROM mirror_session WHERE old = 0");
}

TEST(older_versions_of_what_is_not_the_newest_any_more_are_refused)
{
	struct mirror_line one = line_at(0, "one"), two = line_at(0, "two"), three = line_at(0, "three");
	struct mirror_part a_newest = part_of(&two, 2), a_old = first_old_of(&one, 1, 2, 71),
			   b_newest = anew_of(&three, 3, 2, 0), b_old = first_old_of(&one, 1, 3, 72),
			   b_more = old_of(&two, 2, 3, 72);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, &a_newest, &err));
	OK(add(s, &b_newest, &err));
	EQ(add(s, &a_old, &err), STATUS_CONFLICT); /* 3 is being read */
	EQ(old_for(s), 0);
	OK(add(s, &b_old, &err));
	EQ(add(s, &a_old, &err), STATUS_CONFLICT); /* its older ones are */
	OK(add(s, &b_more, &err));
	OK(all_old_read(s, &err));
	EQ(add(s, &a_old, &err), STATUS_CONFLICT); /* they were */
	EQ(old_lines(s, "one"), 1);
	EQ(old_lines(s, "two"), 1);
	EQ(old_for(s), 3);
}

TEST(only_one_reads_older_versions_and_another_starts_over_when_it_is_killed)
{
	struct mirror_line one = line_at(0, "one"), two = line_at(0, "two"), three = line_at(0, "three");
	struct mirror_part newest = part_of(&three, 3), again = anew_of(&three, 3, 3, -71),
			  late = anew_of(&three, 3, 3, 0),
			   a_one = first_old_of(&one, 1, 3, 71), a_two = old_of(&two, 2, 3, 71),
			   b_one = first_old_of(&one, 1, 3, 72), b_two = old_of(&two, 2, 3, 72);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, &newest, &err));
	OK(add(s, &a_one, &err));
	EQ(add(s, &b_one, &err), STATUS_CONFLICT);
	EQ(add(s, &b_two, &err), STATUS_CONFLICT);
	EQ(add(s, &late, &err), STATUS_CONFLICT); /* it was listed when nobody read them */
	OK(add(s, &again, &err));
	EQ(add(s, &a_two, &err), STATUS_CONFLICT); /* so it was not killed */
	OK(add(s, &b_one, &err));
	EQ(add(s, &a_two, &err), STATUS_CONFLICT);
	OK(add(s, &b_two, &err));
	OK(all_old_read(s, &err));
	EQ(old_lines(s, "one"), 1);
	EQ(old_lines(s, "two"), 1);
	/* What is complete is left alone by whoever was to complete it: nobody would after a kill. */
	EQ(add(s, &late, &err), STATUS_CONFLICT);
	EQ(add(s, &again, &err), STATUS_CONFLICT);
	EQ(old_for(s), 3);
}

TEST(older_versions_wait_until_all_of_the_newest_is_read)
{
	struct mirror_line one = line_at(0, "one"), two = line_at(0, "two"), more = line_at(10, "more");
	struct mirror_part newest = part_of(&two, 2), rest = part_of(&more, 2), old = first_old_of(&one, 1, 2, 71);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	EQ(add(s, &old, &err), STATUS_CONFLICT); /* all was made anew */
	OK(add(s, &newest, &err));
	old.newest_to = 20;
	EQ(add(s, &old, &err), STATUS_CONFLICT); /* another has begun again */
	OK(add(s, &rest, &err));
	OK(add(s, &old, &err));
	EQ(old_lines(s, "one"), 1);
}

/* ---- What a session is called ------------------------------------------------------- */

TEST(titles_follow_their_rank)
{
	static const struct {
		int rank;
		const char *title, *then;
	} steps[] = {
		{ 0, "", "" },
		{ 0, "181", "181" },
		{ 0, "182", "181" },
		{ 0, "", "181" },
		{ 1, "prompt", "prompt" },
		{ 1, "second prompt", "prompt" },
		{ 2, "client", "client" },
		{ 1, "third prompt", "client" },
		{ 2, "client again", "client again" },
		{ 3, "person", "person" },
		{ 2, "client late", "person" },
		{ 3, "person again", "person again" },
		{ 0, "", "person again" },
	};
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct mirror_line l = line_at((int64_t)i * 10, "same");
		struct mirror_part p = part_of(&l, 1);
		char sql[128];

		p.title = str_of(steps[i].title);
		p.title_rank = steps[i].rank;
		OK(add(s, &p, &err));
		snprintf(sql, sizeof sql, "SELECT title = '%s' FROM mirror_session", steps[i].then);
		EQ(tree_ask(s, sql), 1);
	}
}

/* ---- What is unread ------------------------------------------------------------------- */

/* A source with bytes, as a sync leaves it. */
static struct unread listed(struct t *t, struct store *s, struct arena *mem)
{
	struct unread *list = NULL;
	struct err err;
	size_t count = 0;

	if (unread_list(s, mem, &list, &count, &err) || count != 1)
		t_fail(t, __FILE__, __LINE__, "%zu sources are unread", count);
	return count ? list[0] : (struct unread){ 0 };
}

static enum status all_unread(struct store *s, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(s, &txn, err) || unread_add_all(s, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

TEST(a_count_of_lines_that_is_newer_stays)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	struct unread u;
	struct err err;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	NEED(tree_write(dir, "tree", 1, STR("{}\n{}\n"), O_TRUNC));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	OK(all_unread(s, &err));
	u = listed(t, s, &mem);
	EQ(u.length, 6);
	OK(unread_counted(s, &u, &(struct line_count){ .lines = 99 }, &err));
	EQ(tree_ask(s, "SELECT lines FROM line_count"), 2);
	OK(db_exec(s, "DELETE FROM line_count", &err));
	u.length = 3; /* it has grown since it was listed */
	OK(unread_counted(s, &u, &(struct line_count){ .lines = 1 }, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM line_count"), 0);
	u.length = 6;
	OK(unread_counted(s, &u, &(struct line_count){ .lines = 2 }, &err));
	EQ(tree_ask(s, "SELECT lines FROM line_count"), 2);
}

TEST(what_has_grown_since_it_was_listed_stays_unread)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	struct unread u;
	struct err err;
	bool done = true;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	NEED(tree_write(dir, "tree", 1, STR("{}\n"), O_TRUNC));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM unread"), 0);
	OK(all_unread(s, &err));
	u = listed(t, s, &mem);
	EQ(u.read_to, 3);
	CHECK(u.counted);
	/* A rebuild has dropped the counts since: somebody has to count again. */
	OK(db_exec(s, "CREATE TEMP TABLE kept AS SELECT * FROM line_count; DELETE FROM line_count", &err));
	OK(unread_done(s, &u, &done, &err));
	CHECK(!done);
	OK(db_exec(s, "INSERT INTO line_count SELECT * FROM kept", &err));
	u.length = 2;
	OK(unread_done(s, &u, &done, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM unread"), 1);
	u.length = 3;
	u.generation++;
	OK(unread_done(s, &u, &done, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM unread"), 1);
	CHECK(!done);
	u.generation--;
	u.generations = 2; /* the older one is not read */
	OK(unread_done(s, &u, &done, &err));
	CHECK(!done);
	OK(all_old_read(s, &err));
	OK(unread_done(s, &u, &done, &err));
	CHECK(done);
	EQ(tree_ask(s, "SELECT count(*) FROM unread"), 0);
}

TESTS(CASE(a_part_goes_on_where_the_last_one_ended), CASE(who_has_seen_an_older_state_is_refused),
      CASE(reading_anew_leaves_nothing_of_before), CASE(a_session_can_be_forgotten),
      CASE(older_versions_of_what_is_not_the_newest_any_more_are_refused),
      CASE(only_one_reads_older_versions_and_another_starts_over_when_it_is_killed),
      CASE(older_versions_wait_until_all_of_the_newest_is_read), CASE(titles_follow_their_rank),
      CASE(a_count_of_lines_that_is_newer_stays), CASE(what_has_grown_since_it_was_listed_stays_unread))
