/*
 * Reading files beside the conversations: what comes out does not depend on how the bytes came in.
 *
 * As in read.c, stores that were made in different ways are described (derived.h) and compared.
 */
#include "derived.h"
#include "t.h"
#include "tree.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define SESSION "0ea33764-9f05-462f-a1d4-51fb8fdac471"
#define PLAN	"plans/a.md"
#define HISTORY "history.jsonl"
#define MEMORY	"projects/-home-x/memory/a.md"
#define TODOS	"todos/" SESSION "-agent-" SESSION ".json"

static bool write_at(const char *dir, const char *path, struct str bytes, int flags)
{
	char whole[LIMIT_PATH], folder[LIMIT_PATH];
	struct err err;
	bool written;
	int fd;

	snprintf(whole, sizeof whole, "%s/tree/%s", dir, path);
	snprintf(folder, sizeof folder, "%s", whole);
	*strrchr(folder, '/') = '\0';
	if (file_make_dirs(folder, &err))
		return false;
	fd = open(whole, O_WRONLY | O_CREAT | flags, 0600);
	if (fd < 0)
		return false;
	written = file_write_all(fd, bytes, &err) == STATUS_OK;
	return close(fd) == 0 && written;
}

static bool put(const char *dir, const char *path, const char *text)
{
	return write_at(dir, path, str_of(text), O_TRUNC);
}

static void describe(struct t *t, struct store *s, struct buf *out)
{
	struct err err;

	OK(derived_describe(s, out, &err));
	for (struct str rest = buf_as_str(out), line; rest.n;)
		if ((line = str_cut(rest, '\n', &rest)).n && line.p[0] == '!')
			t_fail(t, __FILE__, __LINE__, "%.*s", STR_ARG(line));
}

/* The store says what one says that is made of the tree as it is now, also when it was made anew. */
static void check_as_fresh(struct t *t, const char *dir, struct store *s)
{
	static int number;
	struct buf got CLEANUP(buf_release) = BUF_INIT(GIB), want CLEANUP(buf_release) = BUF_INIT(GIB);
	struct store *fresh CLEANUP(store_closep) = NULL;
	char name[32];
	struct err err;

	snprintf(name, sizeof name, "fresh-%d", number++);
	OK(tree_store(dir, name, NULL, NULL, &fresh, &err));
	OK(tree_sync(dir, "tree", fresh, NULL, &err));
	describe(t, fresh, &want);
	describe(t, s, &got);
	EQS(buf_as_str(&got), buf_as_str(&want));
	OK(rebuild_all(s, NULL, &err));
	buf_clear(&got);
	describe(t, s, &got);
	EQS(buf_as_str(&got), buf_as_str(&want));
}

static int64_t texts(struct store *s)
{
	return tree_ask(s, "SELECT count(*) FROM paper_text");
}

/* How many documents have a word. */
static int64_t having(struct store *s, const char *word)
{
	char sql[200];

	snprintf(sql, sizeof sql, "SELECT count(*) FROM search WHERE search MATCH '%s'", word);
	return tree_ask(s, sql);
}

static const char history[] = "{\"display\":\"first\",\"timestamp\":17}\n"
			      "{\"display\":\"\"}\nno\n"
			      "{\"display\":\"zw\\u00f6lf\"}\n"
			      "{\"display\":\"last\"}";

TEST(no_place_to_cut_a_history_is_special)
{
	const char *dir = t_tmpdir(t);
	struct err err;

	for (size_t cut = 0; cut <= strlen(history); cut++) {
		struct store *s CLEANUP(store_closep) = NULL;
		char name[32];

		snprintf(name, sizeof name, "cut-%zu", cut);
		OK(tree_store(dir, name, NULL, NULL, &s, &err));
		NEED(write_at(dir, HISTORY, str_from(history, cut), O_TRUNC));
		OK(tree_sync(dir, "tree", s, NULL, &err));
		NEED(write_at(dir, HISTORY, str_sub(str_of(history), cut, SIZE_MAX), O_APPEND));
		OK(tree_sync(dir, "tree", s, NULL, &err));
		EQ(texts(s), 3);
		EQ(having(s, "last"), 1);
		if (cut % 7 == 0)
			check_as_fresh(t, dir, s);
	}
}

TEST(a_history_may_come_byte_by_byte)
{
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	struct err err;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	for (size_t i = 0; i < strlen(history); i++) {
		NEED(write_at(dir, HISTORY, str_from(history + i, 1), O_APPEND));
		OK(tree_sync(dir, "tree", s, NULL, &err));
	}
	check_as_fresh(t, dir, s);
}

TEST(a_line_that_went_on_after_all_is_another_line)
{
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	struct err err;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	NEED(put(dir, HISTORY, "{\"display\":\"whole\"}"));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(having(s, "whole"), 1);
	NEED(write_at(dir, HISTORY, STR(" garbage\n"), O_APPEND));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(having(s, "whole"), 0);
	check_as_fresh(t, dir, s);
}

TEST(what_is_read_of_a_history_is_not_read_again)
{
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	struct err err;
	int64_t first;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	NEED(put(dir, HISTORY, "{\"display\":\"a\"}\n"));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	first = tree_ask(s, "SELECT doc FROM paper_text");
	NEED(write_at(dir, HISTORY, STR("{\"display\":\"b\"}\n"), O_APPEND));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(tree_ask(s, "SELECT min(doc) FROM paper_text"), first);
	EQ(texts(s), 2);
}

TEST(a_rewritten_file_is_found_by_its_new_words_alone)
{
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	struct err err;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	NEED(put(dir, PLAN, "# old words") && put(dir, MEMORY, "old memory") && put(dir, HISTORY, history));
	NEED(put(dir, TODOS, "[{\"content\":\"old task\"},{\"content\":\"other task\"}]"));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(having(s, "old"), 3);
	NEED(put(dir, PLAN, "# new words") && put(dir, MEMORY, "") &&
	     put(dir, HISTORY, "{\"display\":\"new\"}\n"));
	NEED(put(dir, TODOS, "[{\"content\":\"new task\"}]"));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(having(s, "old"), 0);
	EQ(having(s, "new"), 3);
	EQ(having(s, "first"), 0);
	EQ(texts(s), 3);
	check_as_fresh(t, dir, s);
	/* Appended to, which is a new version of a file that is not written by lines. */
	NEED(write_at(dir, PLAN, STR(" and more"), O_APPEND));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(having(s, "more"), 1);
	EQ(having(s, "new"), 3);
	check_as_fresh(t, dir, s);
}

TEST(a_file_that_is_gone_is_still_found)
{
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	char path[LIMIT_PATH];
	struct err err;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	NEED(put(dir, PLAN, "kept"));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	snprintf(path, sizeof path, "%s/tree/" PLAN, dir);
	NEED(unlink(path) == 0);
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(having(s, "kept"), 1);
	OK(rebuild_all(s, NULL, &err));
	EQ(having(s, "kept"), 1);
}

TEST(a_renamed_file_belongs_to_whom_its_new_name_says)
{
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t), *other = "todos/11111111-9f05-462f-a1d4-51fb8fdac471-agent-x.json";
	char from[LIMIT_PATH], to[LIMIT_PATH];
	struct err err;

	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	NEED(put(dir, TODOS, "[{\"content\":\"mine\"}]"));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	snprintf(from, sizeof from, "%s/tree/" TODOS, dir);
	snprintf(to, sizeof to, "%s/tree/%s", dir, other);
	NEED(rename(from, to) == 0);
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM source"), 1);
	EQ(tree_ask(s, "SELECT count(*) FROM paper_text WHERE hex(session) LIKE '11111111%'"), 1);
	EQ(texts(s), 1);
	/* And as something that has no texts it is found no more. */
	snprintf(from, sizeof from, "%s/tree/file-history/" SESSION, dir);
	OK(file_make_dirs(from, &err));
	snprintf(from, sizeof from, "%s/tree/file-history/" SESSION "/x@v1", dir);
	NEED(rename(to, from) == 0);
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM source"), 1);
	EQ(texts(s), 0);
	EQ(having(s, "mine"), 0);
}

TEST(what_is_no_text_or_too_long_is_kept_and_not_found)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct buf large CLEANUP(buf_release) = BUF_INIT(32 * MIB);
	const char *dir = t_tmpdir(t);
	struct err err;

	for (size_t i = 0; large.n <= LIMIT_SMALL_FILE; i++)
		buf_text(&large, "large words of a plan that nobody reads\n");
	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	NEED(write_at(dir, PLAN, buf_as_str(&large), O_TRUNC));
	NEED(write_at(dir, MEMORY, str_from("bin\0ary", 7), O_TRUNC));
	NEED(put(dir, TODOS, "[{\"content\":\"half"));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	EQ(texts(s), 0);
	EQ(tree_ask(s, "SELECT count(*) FROM unread"), 0);
	check_as_fresh(t, dir, s);
}

TEST(a_history_of_many_parts_is_read_as_at_once)
{
	enum { LINES = 9000 };
	struct buf all CLEANUP(buf_release) = BUF_INIT(32 * MIB);
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	struct err err;

	for (int i = 0; i < LINES; i++)
		buf_printf(&all, "{\"display\":\"line number%d of a history\",\"timestamp\":%d}\n", i,
			   1000000 + i);
	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	for (int i = 0; i < 3; i++) {
		struct str rest = str_sub(buf_as_str(&all), (size_t)i * (all.n / 3), SIZE_MAX);

		NEED(write_at(dir, HISTORY, i < 2 ? str_sub(rest, 0, all.n / 3) : rest, O_APPEND));
		OK(tree_sync(dir, "tree", s, NULL, &err));
	}
	EQ(texts(s), LINES);
	check_as_fresh(t, dir, s);
}

/* ---- Two programs ------------------------------------------------------------------ */

struct company {
	const char *dir;
	pthread_t thread;
	atomic_bool *enough;
	bool rebuilds;
	enum status status;
	struct err err;
};

static void *keep_syncing(void *ctx)
{
	struct company *c = ctx;
	struct store *s CLEANUP(store_closep) = NULL;
	bool last;

	c->status = tree_store(c->dir, "shared", NULL, NULL, &s, &c->err);
	do {
		last = atomic_load(c->enough);
		if (c->status == STATUS_OK)
			c->status = tree_sync(c->dir, "tree", s, NULL, &c->err);
		if (c->status == STATUS_OK && c->rebuilds)
			c->status = rebuild_all(s, NULL, &c->err);
	} while (!last && c->status == STATUS_OK);
	return NULL;
}

TEST(two_programs_may_read_what_is_being_rewritten)
{
	enum { STEPS = 60 };
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	atomic_bool enough = false;
	struct company c[2];
	struct err err;

	OK(tree_store(dir, "shared", NULL, NULL, &s, &err));
	NEED(put(dir, PLAN, "begin"));
	for (int i = 0; i < 2; i++) {
		c[i] = (struct company){ .dir = dir, .enough = &enough, .rebuilds = i == 0 };
		NEED(pthread_create(&c[i].thread, NULL, keep_syncing, &c[i]) == 0);
	}
	for (int i = 0; i < STEPS; i++) {
		char text[200];

		snprintf(text, sizeof text, "[{\"content\":\"task number%d\"},{\"content\":\"another%d\"}]",
			 i, i);
		CHECK(put(dir, TODOS, text) && put(dir, PLAN, text));
		snprintf(text, sizeof text, "{\"display\":\"typed number%d\"}\n", i);
		CHECK(write_at(dir, HISTORY, str_of(text), i == STEPS / 2 ? O_TRUNC : O_APPEND));
	}
	atomic_store(&enough, true);
	for (int i = 0; i < 2; i++) {
		pthread_join(c[i].thread, NULL);
		if (c[i].status != STATUS_OK)
			t_fail(t, __FILE__, __LINE__, "program %d: %s", i, c[i].err.text);
	}
	EQ(tree_ask(s, "SELECT count(*) FROM unread"), 0);
	check_as_fresh(t, dir, s);
}

TESTS(CASE(no_place_to_cut_a_history_is_special), CASE(a_history_may_come_byte_by_byte),
      CASE(a_line_that_went_on_after_all_is_another_line), CASE(what_is_read_of_a_history_is_not_read_again),
      CASE(a_rewritten_file_is_found_by_its_new_words_alone), CASE(a_file_that_is_gone_is_still_found),
      CASE(a_renamed_file_belongs_to_whom_its_new_name_says),
      CASE(what_is_no_text_or_too_long_is_kept_and_not_found),
      CASE(a_history_of_many_parts_is_read_as_at_once), CASE(two_programs_may_read_what_is_being_rewritten))
