/*
 * Notes, bookmarks and tags as facts: what is written once, what is unique, and that their words
 * are in the index exactly as long as they are.
 */
#include "store/annotation.h"

#include "query/expr.h"
#include "query/noted.h"
#include "query/search.h"
#include "store/made.h"
#include "store/tag.h"
#include "t.h"
#include "tree.h"

#include <string.h>
#include <sys/wait.h>

#define STORE struct store CLEANUP(store_closep)

static struct annotation_subject session_of(uint8_t number)
{
	struct annotation_subject on = { .kind = STR("session"), .id = { { number } }, .in_session = true };

	on.session = on.id;
	return on;
}

static enum status add(struct store *s, enum annotation_kind kind, uint8_t number, const char *what,
		       bool move, enum annotation_done *done, struct annotation *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct annotation a = { .kind = kind, .on = session_of(number), .author = STR("kim") };
	enum status status;

	if (kind == ANNOTATION_NOTE)
		a.text = str_of(what);
	else
		a.name = str_of(what);
	status = annotation_add(s, &a, move, &mem, done, err);
	if (out)
		*out = a;
	return status;
}

/* How many documents have a word. */
static int64_t found(struct store *s, const char *word)
{
	struct buf match CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err;
	int64_t count;

	buf_printf(&match, "\"%s\"", word);
	return rank_count(s, buf_as_str(&match), 1000, &count, &err) ? -1 : count;
}

/* ---- Names ------------------------------------------------------------------------- */

TEST(names_are_what_cannot_be_taken_for_something_else)
{
	static const char *const good[] = { "a",    "Prices",  "area:db", "work/auth", "v1.2",	  "größe",
					    "日本", "x_y-z+1", "🐛",	  "a~",	       "0123abcd" };
	static const char *const bad[] = { "",
					   "@",
					   "a@b",
					   "a b",
					   "a\tb",
					   "a\nb",
					   "a\x01",
					   "a,b",
					   "a*",
					   "\"a",
					   "it's",
					   "a..b",
					   ".a",
					   "a.",
					   "/a",
					   "a/",
					   ":a",
					   "a:",
					   "-a",
					   "~1",
					   "\xff",
					   "a\xe2\x80\xae",
					   "a\xe2\x80\x8b",
					   "\xc2\xa0x",
					   "\xc2\x9b" };
	struct buf longest CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err;

	for (size_t i = 0; i < COUNT(good); i++)
		if (annotation_check_name(str_of(good[i]), &err))
			t_fail(t, __FILE__, __LINE__, "'%s': %s", good[i], err.text);
	for (size_t i = 0; i < COUNT(bad); i++)
		if (annotation_check_name(str_of(bad[i]), &err) != STATUS_USAGE)
			t_fail(t, __FILE__, __LINE__, "'%s' is taken for a name", bad[i]);
	while (longest.n < LIMIT_ANNOTATION_NAME)
		buf_byte(&longest, 'x');
	OK(annotation_check_name(buf_as_str(&longest), &err));
	buf_byte(&longest, 'x');
	EQ(annotation_check_name(buf_as_str(&longest), &err), STATUS_USAGE);
	EQ(annotation_check_name(str_from("a\0b", 3), &err), STATUS_USAGE);
}

TEST(a_note_is_a_text_of_some_length)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	OK(annotation_check_text(STR("\x1b[31m is fine, \t too\n"), &err));
	EQ(annotation_check_text(STR(" \n\t"), &err), STATUS_USAGE);
	EQ(annotation_check_text(str_from("a\0b", 3), &err), STATUS_USAGE);
	EQ(annotation_check_text(STR("\xff"), &err), STATUS_USAGE);
	while (text.n < LIMIT_NOTE)
		buf_byte(&text, 'x');
	OK(annotation_check_text(buf_as_str(&text), &err));
	buf_byte(&text, 'x');
	EQ(annotation_check_text(buf_as_str(&text), &err), STATUS_LIMIT);
}

/* ---- Without the tables --------------------------------------------------------------- */

static enum status count_one(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	(void)a;
	(void)go_on;
	(void)err;
	++*(int *)ctx;
	return STATUS_OK;
}

static enum status count_tag(void *ctx, const struct tag_use *tag, struct err *err)
{
	(void)err;
	*(int64_t *)ctx += tag->count;
	return STATUS_OK;
}

TEST(reading_finds_nothing_in_a_store_without_the_tables_and_makes_none)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct noted noted CLEANUP(noted_release) = NOTED_INIT;
	STORE *s = NULL;
	struct annotation a;
	struct made made;
	int64_t tags = 0;
	size_t count;
	struct err err;
	bool any = true;
	int n = 0;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(annotation_any(s, &any, &err));
	CHECK(!any);
	EQ(annotation_get(s, 1, &mem, &a, &err), STATUS_NOT_FOUND);
	EQ(annotation_bookmark(s, STR("x"), &mem, &a, &err), STATUS_NOT_FOUND);
	OK(annotation_search(s, ANNOTATION_NOTE, STR("abcd"), &mem, &a, 1, &count, &err));
	EQ(count, 0);
	OK(annotation_each(s, ANNOTATION_NOTE, count_one, &n, &err));
	OK(annotation_each_by_id(s, count_one, &n, &err));
	OK(annotation_of(s, &(struct uuid){ 0 }, STR(""), count_one, &n, &err));
	OK(annotation_in(s, &(struct uuid){ 0 }, count_one, &n, &err));
	OK(annotation_tagged(s, STR("x*"), count_one, &n, &err));
	EQ(n, 0);
	OK(tag_each(s, count_tag, &tags, &err));
	EQ(tags, 0);
	OK(noted_by_tag(s, STR("x"), &noted, &err));
	EQ(noted.count, 0);
	OK(made_search(s, STR("abcd"), &mem, &made, 1, &count, &err));
	EQ(count, 0);
	OK(rebuild_all(s, &(struct read_options){ 0 }, &err));
	EQ(tree_ask(s, "PRAGMA user_version"), STORE_ARCHIVE);
}

/* ---- Once --------------------------------------------------------------------------------- */

TEST(the_same_again_is_left_as_it_is)
{
	enum annotation_done done;
	struct annotation first, again;
	STORE *s = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	for (int kind = 0; kind < ANNOTATION_KINDS; kind++) {
		OK(add(s, (enum annotation_kind)kind, 1, "walrus", false, &done, &first, &err));
		EQ(done, ANNOTATION_ADDED);
		int64_t rev = tree_ask(s, "SELECT value FROM store_setting WHERE key = 'rev'");
		OK(add(s, (enum annotation_kind)kind, 1, "walrus", false, &done, &again, &err));
		EQ(done, ANNOTATION_THERE);
		CHECK(uuid_eq(&first.id, &again.id));
		EQ(tree_ask(s, "SELECT value FROM store_setting WHERE key = 'rev'"), rev);
	}
	EQ(tree_ask(s, "SELECT count(*) FROM annotation"), 3);
	EQ(found(s, "walrus"), 2); /* the note and the bookmark */
	/* A name is the same in either case, a note is not. */
	OK(add(s, ANNOTATION_TAG, 1, "WALRUS", false, &done, NULL, &err));
	EQ(done, ANNOTATION_THERE);
	OK(add(s, ANNOTATION_NOTE, 1, "WALRUS", false, &done, NULL, &err));
	EQ(done, ANNOTATION_ADDED);
	/* Of another thing they are others; a tag may be on many. */
	OK(add(s, ANNOTATION_TAG, 2, "walrus", false, &done, NULL, &err));
	EQ(done, ANNOTATION_ADDED);
	EQ(tree_ask(s, "SELECT count(*) FROM annotation WHERE kind = 'tag'"), 2);
	EQ(tree_ask(s, "SELECT count(*) FROM annotation WHERE rev <= 0"), 0);
}

TEST(a_bookmark_is_one_thing_until_it_is_moved)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	enum annotation_done done;
	struct annotation a, b;
	STORE *s = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, ANNOTATION_BOOKMARK, 1, "walrus", false, &done, &a, &err));
	EQ(add(s, ANNOTATION_BOOKMARK, 2, "Walrus", false, &done, NULL, &err), STATUS_CONFLICT);
	CHECK(strstr(err.text, "--force"));
	OK(annotation_bookmark(s, STR("WALRUS"), &mem, &b, &err));
	EQ(b.on.id.b[0], 1);
	OK(add(s, ANNOTATION_BOOKMARK, 2, "Walrus", true, &done, &b, &err));
	EQ(done, ANNOTATION_CHANGED);
	CHECK(uuid_eq(&a.id, &b.id));
	OK(annotation_bookmark(s, STR("walrus"), &mem, &b, &err));
	EQ(b.on.id.b[0], 2);
	EQ(b.on.session.b[0], 2);
	EQS(b.name, STR("Walrus"));
	EQ(found(s, "walrus"), 1);
	EQ(tree_ask(s, "SELECT count(*) FROM annotation"), 1);
}

/* ---- The index ------------------------------------------------------------------------------ */

TEST(words_are_found_as_long_as_the_fact_is_there)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	enum annotation_done done;
	struct annotation a, b;
	STORE *s = NULL;
	int64_t doc;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, ANNOTATION_NOTE, 1, "the walrus sleeps", false, &done, &a, &err));
	OK(add(s, ANNOTATION_NOTE, 1, "…", false, &done, &b, &err)); /* without a word */
	OK(annotation_doc(s, &b.id, &doc, &err));
	EQ(doc, 0);
	EQ(found(s, "walrus"), 1);
	OK(annotation_reword(s, &a, STR("the seal wakes"), &err));
	EQ(found(s, "walrus"), 0);
	EQ(found(s, "seal"), 1);
	OK(annotation_reword(s, &b, STR("a seal, too"), &err));
	EQ(found(s, "seal"), 2);
	OK(rebuild_all(s, &(struct read_options){ 0 }, &err));
	EQ(found(s, "walrus"), 0);
	EQ(found(s, "seal"), 2);
	OK(annotation_get(s, a.row, &mem, &b, &err));
	EQS(b.text, STR("the seal wakes"));
	CHECK(b.updated_at >= b.created_at);
	OK(annotation_remove(s, &a, &err));
	EQ(found(s, "seal"), 1);
	EQ(annotation_remove(s, &a, &err), STATUS_NOT_FOUND);
	EQ(annotation_reword(s, &a, STR("again"), &err), STATUS_NOT_FOUND);
	EQ(found(s, "again"), 0);
	EQ(tree_ask(s, "SELECT count(*) FROM deleted_row WHERE table_name = 'annotation' AND rev > 0"), 1);
	OK(rebuild_all(s, &(struct read_options){ 0 }, &err));
	EQ(found(s, "seal"), 1);
	/* What was removed is not mistaken for what comes later. */
	OK(add(s, ANNOTATION_NOTE, 1, "the walrus sleeps", false, &done, &b, &err));
	CHECK(!uuid_eq(&a.id, &b.id));
	EQ(found(s, "walrus"), 1);
}

TEST(tags_are_counted_whoever_gave_them)
{
	static const char text[] = "{\"type\":\"user\",\"uuid\":\"u\",\"message\":{\"content\":\"x\"}}\n"
				   "{\"type\":\"tag\",\"tag\":\"Mine\"}\n";
	enum annotation_done done;
	const char *dir = t_tmpdir(t);
	int64_t uses = 0;
	STORE *s = NULL;
	struct err err;

	CHECK(tree_write(dir, "tree", 0x12340001, str_of(text), O_TRUNC));
	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	OK(tag_each(s, count_tag, &uses, &err));
	EQ(uses, 1);
	OK(add(s, ANNOTATION_TAG, 7, "mine", false, &done, NULL, &err));
	OK(add(s, ANNOTATION_TAG, 7, "a", false, &done, NULL, &err));
	OK(add(s, ANNOTATION_TAG, 7, "z", false, &done, NULL, &err));
	uses = 0;
	OK(tag_each(s, count_tag, &uses, &err));
	EQ(uses, 4);
}

/* ---- Several at once ------------------------------------------------------------------------- */

enum { WRITERS = 4, EACH = 25 };

/* Notes of its own; a tag and a bookmark that all of them want. */
static int write_some(const char *dir, int writer)
{
	STORE *s = NULL;
	enum annotation_done done;
	struct err err;
	int wins = 0;

	if (tree_store(dir, "s", NULL, NULL, &s, &err))
		return 255;
	for (int i = 0; i < EACH; i++) {
		char text[32];
		enum status status;

		snprintf(text, sizeof text, "note %d of %d", i, writer);
		if (add(s, ANNOTATION_NOTE, 1, text, false, &done, NULL, &err))
			return 255;
		snprintf(text, sizeof text, "name-%d", i);
		if (add(s, ANNOTATION_TAG, 1, text, false, &done, NULL, &err))
			return 255;
		status = add(s, ANNOTATION_BOOKMARK, (uint8_t)(10 + writer), text, false, &done, NULL, &err);
		if (status != STATUS_OK && status != STATUS_CONFLICT)
			return 255;
		wins += status == STATUS_OK;
	}
	return wins;
}

TEST(several_programs_write_at_once_and_nothing_is_lost)
{
	const char *dir = t_tmpdir(t);
	STORE *s = NULL;
	pid_t pids[WRITERS];
	struct err err;
	int wins = 0;

	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(write_some(dir, i));
	}
	for (int i = 0; i < WRITERS; i++) {
		int status = 0;

		waitpid(pids[i], &status, 0);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= EACH);
		wins += WEXITSTATUS(status);
	}
	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	EQ(wins, EACH);
	EQ(tree_ask(s, "SELECT count(*) FROM annotation WHERE kind = 'note'"), WRITERS * EACH);
	EQ(tree_ask(s, "SELECT count(*) FROM annotation WHERE kind = 'tag'"), EACH);
	EQ(tree_ask(s, "SELECT count(*) FROM annotation WHERE kind = 'bookmark'"), EACH);
	EQ(found(s, "note"), WRITERS * EACH);
	EQ(found(s, "name"), EACH);
}

/* ---- Many -------------------------------------------------------------------------------------- */

static int count_steps(void *ctx)
{
	++*(int64_t *)ctx;
	return 0;
}

static enum status stop_soon(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	(void)a;
	(void)err;
	*go_on = ++*(int *)ctx < 10;
	return STATUS_OK;
}

static enum status take_hit(void *ctx, const struct search_hit *hit, struct err *err)
{
	(void)err;
	*(int *)ctx += hit->note != NULL;
	return STATUS_OK;
}

static enum status search_one(struct store *s, const char *text, int *hits, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct expr e CLEANUP(expr_release) = { 0 };
	struct search_query q = { .expr = &e, .limit = 10 };
	struct search_report report;

	if (expr_read(&e, str_of(text), true, &mem, err) || read_begin(s, &snapshot, err))
		return err_failed(err->status);
	return search_run(s, &q, take_hit, hits, &report, err);
}

/* What SQLite does for a page of notes, a bookmark, a tag, and a search that finds one, in its own steps. */
static int64_t cost(struct t *t, struct store *s)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct noted noted CLEANUP(noted_release) = NOTED_INIT;
	struct annotation a;
	int64_t steps = 0;
	int n = 0, hits = 0, on = 0;
	struct err err = { 0 };

	sqlite3_progress_handler(s->db, 1, count_steps, &steps);
	CHECK(!annotation_each(s, ANNOTATION_NOTE, stop_soon, &n, &err) && n == 10);
	CHECK(!annotation_bookmark(s, STR("rare"), &mem, &a, &err));
	CHECK(!noted_by_tag(s, STR("rare"), &noted, &err));
	CHECK(!annotation_of(s, &a.on.id, STR(""), count_one, &on, &err) && on == 3);
	CHECK(!search_one(s, "unmistakable", &hits, &err) && hits == 1);
	sqlite3_progress_handler(s->db, 0, NULL, NULL);
	return steps;
}

/* Straight into the tables, and then into the index as a rebuild does: one by one takes long under
 * sanitizers. */
static enum status add_many(struct store *s, int to, struct err *err)
{
	char sql[600];

	snprintf(sql, sizeof sql,
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO "
		 "annotation("
		 "annotation_id, kind, subject_id, subject, session_id, name, text, created_at, updated_at, "
		 "rev)"
		 " SELECT randomblob(16), iif(i %% 2, 'note', 'tag'), randomblob(16), 'message', "
		 "randomblob(16),"
		 " iif(i %% 2, '', 'common' || i %% 7), iif(i %% 2, 'many ordinary words' || i, ''), i, i, 1 "
		 "FROM n",
		 to);
	if (store_reach(s, STORE_TREES, err) || db_exec(s, sql, err))
		return err_failed(err->status);
	return rebuild_all(s, &(struct read_options){ 0 }, err);
}

TEST(what_few_have_costs_the_same_among_many)
{
	enum annotation_done done;
	int64_t costs[3];
	struct err err;

	for (int i = 0, many = 100; i < 3; i++, many *= 10) {
		STORE *s = NULL;

		OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
		OK(add_many(s, many, &err));
		OK(add(s, ANNOTATION_NOTE, 1, "unmistakable", false, &done, NULL, &err));
		OK(add(s, ANNOTATION_TAG, 1, "rare", false, &done, NULL, &err));
		OK(add(s, ANNOTATION_BOOKMARK, 1, "rare", false, &done, NULL, &err));
		costs[i] = cost(t, s);
		CHECK(costs[i] > 100);
	}
	/* Trees get a level deeper; nothing is gone through. */
	if (costs[2] > 2 * costs[0])
		t_fail(t, __FILE__, __LINE__, "%lld, %lld and %lld steps with 100, 1000 and 10000",
		       (long long)costs[0], (long long)costs[1], (long long)costs[2]);
}

TESTS(CASE(names_are_what_cannot_be_taken_for_something_else), CASE(a_note_is_a_text_of_some_length),
      CASE(reading_finds_nothing_in_a_store_without_the_tables_and_makes_none),
      CASE(the_same_again_is_left_as_it_is), CASE(a_bookmark_is_one_thing_until_it_is_moved),
      CASE(words_are_found_as_long_as_the_fact_is_there), CASE(tags_are_counted_whoever_gave_them),
      CASE(several_programs_write_at_once_and_nothing_is_lost), CASE(what_few_have_costs_the_same_among_many))
