/*
 * Reading the archive into sessions, lines, keys and words: what comes out does not
 * depend on how the bytes came in.
 *
 * Every test makes stores in different ways and compares their descriptions
 * (derived.h). Transcripts are made up: whatever has been trouble for a reader of
 * lines is in them often enough to meet every kind of cut.
 */
#include "derived.h"
#include "t.h"
#include "tree.h"

#include <pthread.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif

/* How much of something: in a slow build and in a sample few. */
static size_t amount(size_t few, size_t many)
{
	return SLOW || !t_is_full() ? few : many;
}

/* ---- Stores and trees -------------------------------------------------------- */

struct world {
	char dir[256];
	struct log log;
	int warnings;
	char last_warning[512];
};

static void on_log(void *ctx, enum log_level level, struct str text)
{
	struct world *w = ctx;

	(void)level;
	w->warnings++;
	snprintf(w->last_warning, sizeof w->last_warning, "%.*s", (int)size_min(text.n, 500), text.p);
}

static void world_init(struct world *w, const char *dir)
{
	*w = (struct world){ 0 };
	snprintf(w->dir, sizeof w->dir, "%s", dir);
	w->log = (struct log){ .level = LOG_WARN, .sink = on_log, .ctx = w };
}

static enum status open_store(struct world *w, const char *name, const atomic_bool *cancel, struct store **s,
			      struct err *err)
{
	return tree_store(w->dir, name, &w->log, cancel, s, err);
}

static bool put(const struct world *w, const char *tree, int file, struct str bytes)
{
	return tree_write(w->dir, tree, (uint32_t)file, bytes, O_TRUNC);
}

static bool append(const struct world *w, const char *tree, int file, struct str bytes)
{
	return tree_write(w->dir, tree, (uint32_t)file, bytes, O_APPEND);
}

static enum status sync_tree(const struct world *w, struct store *s, const char *tree,
			     const atomic_bool *cancel, struct err *err)
{
	return tree_sync(w->dir, tree, s, cancel, err);
}

/* ---- Comparing --------------------------------------------------------------- */

enum { DESCRIPTION_MAX = 1 << 30 };

static void show_line(struct t *t, const char *what, struct str text, size_t at)
{
	size_t from = at, to = at;

	while (from > 0 && text.p[from - 1] != '\n')
		from--;
	while (to < text.n && text.p[to] != '\n')
		to++;
	t_fail(t, __FILE__, __LINE__, "%s: %.*s", what, (int)size_min(to - from, 600),
	       text.p ? text.p + from : "");
}

/* Nothing in it that should not be there. */
static void check_sound(struct t *t, const char *what, struct str text)
{
	int shown = 0;

	for (size_t i = 0; i + 1 < text.n && shown < 5; i++)
		if (text.p[i] == '!' && (i == 0 || text.p[i - 1] == '\n')) {
			show_line(t, what, text, i);
			shown++;
		}
}

/* `want` NULL: only that the store is sound. */
static void check_described(struct t *t, const char *what, struct store *s, const struct buf *want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(DESCRIPTION_MAX);
	struct err err;
	size_t at = 0;

	OK(derived_describe(s, &got, &err));
	CHECK(!got.failed);
	check_sound(t, what, buf_as_str(&got));
	if (!want || str_eq(buf_as_str(&got), buf_as_str(want)))
		return;
	while (at < got.n && at < want->n && got.p[at] == want->p[at])
		at++;
	t_fail(t, __FILE__, __LINE__, "%s: differs at byte %zu of %zu, wanted %zu", what, at, got.n, want->n);
	show_line(t, "got", buf_as_str(&got), at);
	show_line(t, "wanted", buf_as_str(want), at);
}

/* What a store says that is made of the tree as it is now. */
static void describe_fresh(struct t *t, struct world *w, const char *tree, const char *name, struct buf *out)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	buf_init(out, DESCRIPTION_MAX);
	OK(open_store(w, name, NULL, &s, &err));
	OK(sync_tree(w, s, tree, NULL, &err));
	OK(derived_describe(s, out, &err));
	check_sound(t, name, buf_as_str(out));
}

static void check_rebuilt(struct t *t, struct store *s, const struct buf *want)
{
	struct err err;

	OK(rebuild_all(s, NULL, &err));
	check_described(t, "rebuilt", s, want);
}

/* Finds every node by its whole id and by its first eight digits. */
static enum status find_entry(void *ctx, const struct node *line, const struct node_name *name, int64_t doc,
			      int64_t docs, struct err *err)
{
	struct store *s = ctx;
	struct uuid id = node_id(name, PART_LINE);
	struct id_match found[64];
	char text[UUID_TEXT + 1];
	size_t count, i = 0;

	(void)doc;
	(void)docs;
	uuid_print(&id, text);
	if (id_search(s, str_from(text, UUID_TEXT), 0, found, COUNT(found), &count, err))
		return err_failed(err->status);
	if (count != 1 || !uuid_eq(&found[0].id, &id))
		return err_fail(err, STATUS_NOT_FOUND, "%s: %zu found by its id", text, count);
	if (id_search(s, str_from(text, 8), line->session, found, COUNT(found), &count, err))
		return err_failed(err->status);
	while (i < count && !uuid_eq(&found[i].id, &id))
		i++;
	return i < count ? STATUS_OK
			 : err_fail(err, STATUS_NOT_FOUND, "%.8s: not found by eight digits", text);
}

static enum status find_session_nodes(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	(void)go_on;
	return entry_each(ctx, session->row, find_entry, ctx, err);
}

static void check_findable(struct t *t, struct store *s)
{
	struct err err;

	OK(session_each(s, (struct str){ 0 }, find_session_nodes, s, &err));
}

/* ---- Transcripts ------------------------------------------------------------- */

struct making {
	uint64_t random;
	struct buf *out;
	int messages; /* API messages so far */
	int uuids;
};

static uint64_t rnd(struct making *m, uint64_t below)
{
	uint64_t z = m->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

static void add_words(struct making *m)
{
	static const char *const list[] = {
		"file ",
		"parse_line() ",
		"error ",
		"\\n",
		"\\\"x\\\" ",
		"\xc3\xa9t\xc3\xa9 ",
		"\xe6\xbc\xa2\xe5\xad\x97",
		"\xf0\x9f\x8c\xb3 ",
		"\\ud83c\\udf33",
		"\\ud83c ",
		"camelCaseName ",
		"}{ ",
		"{\\\"a\\\":1} ",
		"42 ",
		"\\u00e9",
	};

	for (uint64_t n = rnd(m, 12); n > 0; n--)
		buf_text(m->out, list[rnd(m, COUNT(list))]);
}

/* Now and then one that was there before, in capitals, or no UUID at all. */
static void add_uuid(struct making *m)
{
	int n = rnd(m, 12) == 0 && m->uuids ? (int)rnd(m, (uint64_t)m->uuids) : m->uuids++;

	if (n % 17 == 5)
		buf_printf(m->out, "\"uuid\":\"not a uuid %d\"", n);
	else
		buf_printf(m->out,
			   n % 13 == 4 ? "\"uuid\":\"%08X-ABCD-4000-8000-%012X\""
				       : "\"uuid\":\"%08x-abcd-4000-8000-%012x\"",
			   (unsigned)n * 2654435761U, (unsigned)n);
}

static void add_common(struct making *m, const char *type)
{
	buf_printf(m->out, "{\"type\":\"%s\",", type);
	if (rnd(m, 15))
		add_uuid(m);
	else
		buf_text(m->out, "\"note\":1");
	if (rnd(m, 4))
		buf_printf(m->out, ",\"timestamp\":\"2026-0%d-1%dT10:%02d:00.000Z\"", 1 + (int)rnd(m, 9),
			   (int)rnd(m, 10), (int)rnd(m, 60));
	if (rnd(m, 5) == 0)
		buf_printf(m->out, ",\"cwd\":\"/work/p%d\"", (int)rnd(m, 3));
	if (rnd(m, 5) == 0)
		buf_printf(m->out, ",\"gitBranch\":\"b%d\"", (int)rnd(m, 3));
}

static void add_prompt(struct making *m)
{
	add_common(m, "user");
	buf_text(m->out, ",\"message\":{\"role\":\"user\",\"content\":\"");
	add_words(m);
	buf_text(m->out, "\"}}");
}

static void add_block(struct making *m)
{
	switch (rnd(m, 5)) {
	case 0:
		buf_text(m->out, "{\"type\":\"thinking\",\"thinking\":\"");
		add_words(m);
		buf_text(m->out, "\"}");
		break;
	case 1:
		buf_text(m->out, "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"Bash\",\"input\":{"
				 "\"command\":\"");
		add_words(m);
		buf_text(m->out, "\",\"n\":[1,\"two\"]}}");
		break;
	case 2:
		buf_text(m->out, "{\"type\":\"image\",\"source\":{\"data\":\"AAAA\"}}");
		break;
	default:
		buf_text(m->out, "{\"type\":\"text\",\"text\":\"");
		add_words(m);
		buf_text(m->out, "\"}");
	}
}

/* A line of a new message, or of one that began up to six messages before. */
static void add_assistant(struct making *m)
{
	int back = (int)rnd(m, 6), id = rnd(m, 2) && m->messages > back ? m->messages - back : ++m->messages;

	add_common(m, "assistant");
	buf_text(m->out, ",\"message\":{\"role\":\"assistant\",");
	if (rnd(m, 10))
		buf_printf(m->out, "\"id\":\"msg_%d\",", id);
	buf_text(m->out, "\"content\":[");
	for (uint64_t n = rnd(m, 4), i = 0; i < n; i++) {
		if (i)
			buf_byte(m->out, ',');
		add_block(m);
	}
	buf_text(m->out, "]}}");
}

static void add_result(struct making *m)
{
	add_common(m, "user");
	buf_text(m->out, ",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_"
			 "id\":\"toolu_1\","
			 "\"content\":[{\"type\":\"text\",\"text\":\"");
	add_words(m);
	buf_text(m->out, "\"}]}]}}");
}

static void add_other(struct making *m)
{
	static const char *const lines[] = {
		"{\"type\":\"file-history-snapshot\",\"n\":1}",
		"{\"type\":\"file-history-snapshot\",\"n\":2}",
		"{\"type\":\"summary\",\"summary\":\"what it was about\"}",
		"{\"type\":\"ai-title\",\"aiTitle\":\"first title\"}",
		"{\"type\":\"ai-title\",\"aiTitle\":\"second title\"}",
		"{\"type\":\"custom-title\",\"customTitle\":\"a person's\"}",
		"{\"type\":\"custom-title\",\"customTitle\":\"\"}",
		"{\"type\":\"tag\",\"tag\":\"draft\"}",
		"{\"type\":\"tag\",\"tag\":\"\"}",
		"{\"type\":\"mode\",\"mode\":\"plan\"}",
		"{\"type\":\"pr-link\",\"prNumber\":1,\"prUrl\":\"https://x.example/1\"}",
		"{\"type\":\"pr-link\",\"prNumber\":2}",
		"{\"type\":\"system\",\"content\":\"compacted\",\"timestamp\":\"2026-01-01T00:00:00Z\"}",
		"{}",
	};

	if (rnd(m, 4) == 0) {
		unsigned n = (unsigned)rnd(m, (uint64_t)m->uuids + 20);

		buf_printf(m->out, "{\"type\":\"summary\",\"summary\":\"title %d\",", (int)rnd(m, 5));
		buf_printf(m->out, "\"leafUuid\":\"%08x-abcd-4000-8000-%012x\"}", n * 2654435761U, n);
		return;
	}
	buf_text(m->out, lines[rnd(m, COUNT(lines))]);
}

static void add_broken(struct making *m)
{
	static const char *const lines[] = {
		"{\"type\":\"user\",\"uuid\":\"x\"",
		"garbage",
		"[1,2]",
		"\"{}\"",
		"17",
		"{\"a\":1}garbage",
		"{\"a\":1}garbage{}",
		"{\"a\":1} {\"b\":2}",
		"{\"a\":1}  ",
		"  {\"a\":1}",
		"{}{}{}",
		"{}}",
		"{}{",
		" ",
		"",
		"\t",
		"\xff\xfe{}",
		"{\"\xff\":1}",
	};

	buf_text(m->out, lines[rnd(m, COUNT(lines))]);
}

static void add_line(struct making *m)
{
	switch (rnd(m, 10)) {
	case 0:
	case 1:
		add_prompt(m);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		add_assistant(m);
		break;
	case 6:
		add_result(m);
		break;
	case 7:
	case 8:
		add_other(m);
		break;
	default:
		add_broken(m);
	}
	if (rnd(m, 12))
		buf_text(m->out, rnd(m, 12) ? "\n" : "\r\n"); /* else it is glued to the next */
}

/* About so many lines; the last one often has no end. */
static void make_transcript(uint64_t seed, int lines, struct buf *out)
{
	struct making m = { .random = seed, .out = out };

	buf_init(out, 64 * MIB);
	while (lines-- > 0)
		add_line(&m);
	if (rnd(&m, 3) == 0)
		out->n -= rnd(&m, size_min(out->n, 40) + 1);
}

static void release_list(struct buf *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_release(&list[i]);
}

/* ---- However the bytes come ---------------------------------------------------- */

enum { FILES = 120, ROUNDS = 8 };

/* Where a file is cut next: anywhere, or where it hurts. */
static size_t next_cut(struct making *m, const struct buf *b, size_t at)
{
	size_t cut = at + rnd(m, (b->n - at) / 2 + 2);

	if (rnd(m, 2))
		while (cut < b->n && b->p[cut - (cut > 0)] != '}')
			cut++;
	return size_min(cut, b->n);
}

TEST(a_file_that_comes_in_pieces_is_read_as_at_once)
{
	struct buf files[FILES], want CLEANUP(buf_release) = BUF_INIT(1);
	size_t at[FILES] = { 0 };
	struct store *s CLEANUP(store_closep) = NULL;
	struct making m = { .random = 7 };
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "pieces", NULL, &s, &err));
	for (int i = 0; i < FILES; i++)
		make_transcript((uint64_t)i + 1, 3 + i / 2, &files[i]);
	for (int round = 0; round <= ROUNDS; round++) {
		for (int i = 0; i < FILES; i++) {
			size_t to = round == ROUNDS ? files[i].n : next_cut(&m, &files[i], at[i]);

			if (round == 0)
				NEED(put(&w, "tree", i, (struct str){ 0 }));
			NEED(append(&w, "tree", i, str_sub(buf_as_str(&files[i]), at[i], to - at[i])));
			at[i] = to;
		}
		OK(sync_tree(&w, s, "tree", NULL, &err));
	}
	EQ(w.warnings, 0);
	describe_fresh(t, &w, "tree", "fresh", &want);
	check_described(t, "in pieces", s, &want);
	check_findable(t, s);
	check_rebuilt(t, s, &want);
	release_list(files, FILES);
}

/* Each place a file can be cut at, in a file of its own. */
TEST(no_place_to_cut_a_file_is_special)
{
	static const char text[] = "{\"type\":\"assistant\",\"uuid\":\"u1\",\"message\":{\"id\":\"m\","
				   "\"content\":[{\"type\":\"text\",\"text\":\"\xc3\xa9\"}]}}\n"
				   "{\"n\":1}\r\n{\"n\":1}\n\n{\"n\":1}{\"n\":2} {\"n\":3}  "
				   "\n{\"n\":1}oops{\"n\":4}\n{\"n\":1}\n"
				   "{\"type\":\"assistant\",\"uuid\":\"u2\",\"message\":{\"id\":\"m\","
				   "\"content\":\"x\"}}\n{\"n\":5}{\"n\":6}";
	struct buf want CLEANUP(buf_release) = BUF_INIT(1);
	struct store *s CLEANUP(store_closep) = NULL;
	struct world w;
	struct err err;
	int n = (int)sizeof text - 1;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "cut", NULL, &s, &err));
	for (int i = 0; i < n; i++)
		NEED(put(&w, "tree", i, str_from(text, (size_t)i)));
	OK(sync_tree(&w, s, "tree", NULL, &err));
	for (int i = 0; i < n; i++)
		NEED(append(&w, "tree", i, str_from(text + i, (size_t)(n - i))));
	OK(sync_tree(&w, s, "tree", NULL, &err));
	describe_fresh(t, &w, "tree", "fresh", &want);
	check_described(t, "cut in two", s, &want);
	check_rebuilt(t, s, &want);
}

TEST(a_file_may_come_byte_by_byte)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(1), want CLEANUP(buf_release) = BUF_INIT(1);
	struct store *s CLEANUP(store_closep) = NULL;
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "bytes", NULL, &s, &err));
	make_transcript(4711, t_is_full() ? 12 : 4, &file);
	NEED(put(&w, "tree", 1, (struct str){ 0 }));
	for (size_t i = 0; i < file.n; i++) {
		NEED(append(&w, "tree", 1, str_sub(buf_as_str(&file), i, 1)));
		OK(sync_tree(&w, s, "tree", NULL, &err));
	}
	describe_fresh(t, &w, "tree", "fresh", &want);
	check_described(t, "byte by byte", s, &want);
}

/* ---- Interruption and company --------------------------------------------------- */

struct stopping {
	atomic_bool cancel;
	long us;
};

static void *stop_later(void *ctx)
{
	struct stopping *stop = ctx;
	struct timespec pause = { .tv_nsec = stop->us * 1000 };

	nanosleep(&pause, NULL);
	atomic_store(&stop->cancel, true);
	return NULL;
}

static void make_files(struct t *t, struct world *w, const char *tree, int files, int lines, uint64_t seed)
{
	for (int i = 0; i < files; i++) {
		struct buf file CLEANUP(buf_release) = BUF_INIT(1);

		make_transcript(seed + (uint64_t)i, lines, &file);
		NEED(put(w, tree, i, buf_as_str(&file)));
	}
}

TEST(a_sync_that_is_stopped_is_completed_by_the_next)
{
	struct buf want CLEANUP(buf_release) = BUF_INIT(1);
	struct making m = { .random = 3 };
	struct world w;
	int stopped = 0;

	world_init(&w, t_tmpdir(t));
	make_files(t, &w, "tree", 20, 400, 900);
	describe_fresh(t, &w, "tree", "fresh", &want);
	for (int i = 0; i < (int)amount(5, 12); i++) {
		struct store *s CLEANUP(store_closep) = NULL;
		char name[32];
		struct err err;

		snprintf(name, sizeof name, "stop%d", i);
		for (int k = 0; k < 3; k++) {
			struct stopping stop = { .us = 1000 + (long)rnd(&m, SLOW ? 900000 : 60000) };
			pthread_t thread;

			if (!s)
				OK(open_store(&w, name, &stop.cancel, &s, &err));
			NEED(pthread_create(&thread, NULL, stop_later, &stop) == 0);
			stopped += sync_tree(&w, s, "tree", &stop.cancel, &err) == STATUS_CANCELLED;
			pthread_join(thread, NULL);
			store_close(s);
			s = NULL;
		}
		OK(open_store(&w, name, NULL, &s, &err));
		OK(sync_tree(&w, s, "tree", NULL, &err));
		check_described(t, name, s, &want);
	}
	printf("# %d were stopped\n", stopped);
	CHECK(stopped > 0);
}

/* One of several programs that sync the same tree into the same store. */
struct company {
	struct world *w;
	pthread_t thread;
	atomic_bool *enough;
	bool rebuilds;
	int syncs;
	enum status status;
	struct err err;
};

static void *keep_syncing(void *ctx)
{
	struct company *c = ctx;
	struct store *s CLEANUP(store_closep) = NULL;
	bool last;

	c->status = open_store(c->w, "shared", NULL, &s, &c->err);
	do {
		last = atomic_load(c->enough);
		if (c->status == STATUS_OK)
			c->status = sync_tree(c->w, s, "tree", NULL, &c->err);
		if (c->status == STATUS_OK && c->rebuilds && c->syncs % 4 == 3)
			c->status = rebuild_all(s, NULL, &c->err);
		c->syncs++;
	} while (!last && c->status == STATUS_OK);
	return NULL;
}

static void grow_in_company(struct t *t, bool rewrite, bool rebuild)
{
	enum { PROGRAMS = 2, GROWING = 8, STEPS = 40 };
	struct buf files[GROWING], want CLEANUP(buf_release) = BUF_INIT(1);
	struct store *s CLEANUP(store_closep) = NULL;
	struct company c[PROGRAMS];
	struct making m = { .random = 5 };
	atomic_bool enough = false;
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "shared", NULL, &s, &err));
	for (int i = 0; i < GROWING; i++) {
		make_transcript((uint64_t)i + 500, 60, &files[i]);
		NEED(put(&w, "tree", i, (struct str){ 0 }));
	}
	for (int i = 0; i < PROGRAMS; i++) {
		c[i] = (struct company){ .w = &w, .enough = &enough, .rebuilds = rebuild && i == 0 };
		NEED(pthread_create(&c[i].thread, NULL, keep_syncing, &c[i]) == 0);
	}
	for (int step = 0; step < STEPS; step++)
		for (int i = 0; i < GROWING; i++) {
			struct str all = buf_as_str(&files[i]);
			size_t from = all.n * (size_t)step / STEPS, to = all.n * (size_t)(step + 1) / STEPS;

			if (rewrite && rnd(&m, 10) == 0)
				CHECK(put(&w, "tree", i, str_sub(all, rnd(&m, 50), to)));
			else
				CHECK(append(&w, "tree", i, str_sub(all, from, to - from)));
			nanosleep(&(struct timespec){ .tv_nsec = 300000 }, NULL);
		}
	atomic_store(&enough, true);
	for (int i = 0; i < PROGRAMS; i++) {
		pthread_join(c[i].thread, NULL);
		if (c[i].status != STATUS_OK)
			t_fail(t, __FILE__, __LINE__, "program %d: %s", i, c[i].err.text);
	}
	printf("# %d and %d syncs\n", c[0].syncs, c[1].syncs);
	/* Each has synced once more since the last byte came: nothing is left to do. */
	EQ(w.warnings, 0);
	describe_fresh(t, &w, "tree", "fresh", &want);
	check_described(t, "in company", s, &want);
	check_findable(t, s);
	release_list(files, GROWING);
}

TEST(two_programs_may_read_at_once)
{
	grow_in_company(t, false, false);
}

TEST(two_programs_may_read_what_is_being_rewritten)
{
	grow_in_company(t, true, false);
}

TEST(one_program_may_rebuild_while_another_reads)
{
	grow_in_company(t, false, true);
}

/* ---- Files that do not only grow ------------------------------------------------ */

static void rewrite_one(struct t *t, struct making *m, const struct world *w, int file, struct buf *b)
{
	size_t at = b->n ? (size_t)rnd(m, b->n) : 0;

	switch (rnd(m, 4)) {
	case 0: /* cut off */
		b->n = at;
		break;
	case 1: /* edited */
		for (size_t i = at; i < b->n && i < at + 9; i++)
			b->p[i] = "ab}{\"\n c1"[rnd(m, 9)];
		break;
	case 2: /* another */
		buf_release(b);
		make_transcript(rnd(m, 1 << 30), 20, b);
		break;
	default: /* shorter, then longer */
		b->n = at;
		m->out = b;
		for (int i = 0; i < 10; i++)
			add_line(m);
	}
	CHECK(put(w, "tree", file, buf_as_str(b)));
}

TEST(of_a_rewritten_file_only_what_is_withdrawn_remains)
{
	enum { REWRITTEN = 40 };
	struct buf files[REWRITTEN], want CLEANUP(buf_release) = BUF_INIT(1);
	struct store *s CLEANUP(store_closep) = NULL;
	struct making m = { .random = 11 };
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "rewritten", NULL, &s, &err));
	for (int i = 0; i < REWRITTEN; i++) {
		make_transcript((uint64_t)i + 1000, 30, &files[i]);
		NEED(put(&w, "tree", i, buf_as_str(&files[i])));
	}
	for (int round = 0; round < 5; round++) {
		OK(sync_tree(&w, s, "tree", NULL, &err));
		for (int i = 0; i < REWRITTEN; i++)
			if (rnd(&m, 2))
				rewrite_one(t, &m, &w, i, &files[i]);
	}
	OK(sync_tree(&w, s, "tree", NULL, &err));
	CHECK(tree_ask(s, "SELECT max(number) FROM generation") > 3);
	describe_fresh(t, &w, "tree", "fresh", &want);
	check_described(t, "rewritten", s, &want);
	check_findable(t, s);
	check_rebuilt(t, s, &want);
	release_list(files, REWRITTEN);
}

TEST(a_file_that_vanishes_stays_and_may_come_back)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(1),
			before CLEANUP(buf_release) = BUF_INIT(DESCRIPTION_MAX);
	struct store *s CLEANUP(store_closep) = NULL;
	char path[LIMIT_PATH];
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "vanished", NULL, &s, &err));
	make_transcript(77, 30, &file);
	NEED(put(&w, "tree", 1, buf_as_str(&file)) && put(&w, "tree", 2, STR("{}\n")));
	OK(sync_tree(&w, s, "tree", NULL, &err));
	OK(derived_describe(s, &before, &err));
	NEED(unlink(tree_path(w.dir, "tree", 1, path)) == 0);
	OK(sync_tree(&w, s, "tree", NULL, &err));
	check_described(t, "vanished", s, &before);
	check_rebuilt(t, s, &before);
	NEED(put(&w, "tree", 1, buf_as_str(&file)));
	OK(sync_tree(&w, s, "tree", NULL, &err));
	check_described(t, "back", s, &before);
}

/* Beside conversations, where only its lines say whose a sub-agent is: the first that does counts, also when others
 * come later, and when it is rewritten. */
TEST(a_sub_agent_belongs_to_who_is_named_first)
{
	static const char *const texts[] = {
		"{\"type\":\"mode\"}\n",
		"{\"type\":\"user\",\"uuid\":\"a\",\"sessionId\":\"11111111-0000-4000-8000-000000000000\"}\n",
		"{\"type\":\"user\",\"uuid\":\"b\",\"sessionId\":\"22222222-0000-4000-8000-000000000000\"}\n",
	};
	struct store *s CLEANUP(store_closep) = NULL;
	static const char ask[] =
		"SELECT substr(hex(session_id), 1, 8) FROM mirror_session WHERE agent IS NOT NULL";
	char path[LIMIT_PATH];
	struct world w;
	struct err err;
	FILE *f;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "owner", NULL, &s, &err));
	NEED(put(&w, "tree", 1, STR("{}\n")));
	snprintf(path, sizeof path, "%s/tree/projects/p/agent-12345678.jsonl", w.dir);
	for (size_t i = 0; i < COUNT(texts); i++) {
		f = fopen(path, "a");
		NEED(f && fputs(texts[i], f) >= 0 && fclose(f) == 0);
		OK(sync_tree(&w, s, "tree", NULL, &err));
		EQ(tree_ask(s, ask), i ? 11111111 : 0);
	}
	f = fopen(path, "w");
	NEED(f && fputs(texts[2], f) >= 0 && fclose(f) == 0);
	OK(sync_tree(&w, s, "tree", NULL, &err));
	EQ(tree_ask(s, ask), 22222222);
}

static bool move(const struct world *w, const char *tree, int from, const char *to)
{
	char a[LIMIT_PATH], b[LIMIT_PATH];

	snprintf(b, sizeof b, "%s/%s/projects/%s", w->dir, tree, to);
	return rename(tree_path(w->dir, tree, (uint32_t)from, a), b) == 0;
}

/* The session of a renamed file is called as the file is, and a file that is no
 * transcript any more has none. */
TEST(a_renamed_file_gives_its_session_its_name)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(1),
			want CLEANUP(buf_release) = BUF_INIT(DESCRIPTION_MAX);
	struct store *s CLEANUP(store_closep) = NULL;
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "renamed", NULL, &s, &err));
	for (int i = 1; i <= 4; i++) {
		buf_release(&file);
		make_transcript((uint64_t)i + 40, 30, &file);
		NEED(put(&w, "tree", i, buf_as_str(&file)));
	}
	NEED(move(&w, "tree", 4, "p/notes.jsonl")); /* no session yet */
	OK(sync_tree(&w, s, "tree", NULL, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session"), 3);
	NEED(move(&w, "tree", 1, "p/11111111-0000-4000-8000-000000000000.jsonl"));
	NEED(move(&w, "tree", 2, "p/was.jsonl"));
	{
		char a[LIMIT_PATH], b[LIMIT_PATH];

		snprintf(a, sizeof a, "%s/tree/projects/p/notes.jsonl", w.dir);
		NEED(rename(a, tree_path(w.dir, "tree", 9, b)) == 0);
	}
	OK(sync_tree(&w, s, "tree", NULL, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM source"), 4);
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session WHERE session_id = "
		       "x'11111111000040008000000000000000'"),
	   1);
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session WHERE session_id = "
		       "x'00000001000040008000000000000000'"),
	   0);
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session"), 3);
	OK(derived_describe(s, &want, &err));
	check_described(t, "renamed", s, NULL);
	check_rebuilt(t, s, &want);
}

/* What a sub-agent says is marked, counted and found otherwise than what is said in a conversation. */
TEST(a_file_that_becomes_a_sub_agents_is_read_as_one)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(MIB), want CLEANUP(buf_release) = BUF_INIT(DESCRIPTION_MAX);
	static const char agent[] = "p/00000002-0000-4000-8000-000000000000/subagents/agent-a17.jsonl";
	struct store *s CLEANUP(store_closep) = NULL;
	char folder[LIMIT_PATH];
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "renamed", NULL, &s, &err));
	for (int i = 1; i <= 2; i++) {
		buf_release(&file);
		make_transcript((uint64_t)i + 50, 30, &file);
		NEED(put(&w, "tree", i, buf_as_str(&file)));
	}
	OK(sync_tree(&w, s, "tree", NULL, &err));
	snprintf(folder, sizeof folder, "%s/tree/projects/p/00000002-0000-4000-8000-000000000000/subagents", w.dir);
	OK(file_make_dirs(folder, &err));
	NEED(move(&w, "tree", 1, agent));
	OK(sync_tree(&w, s, "tree", NULL, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session WHERE agent = 'a17'"), 1);
	OK(derived_describe(s, &want, &err));
	check_rebuilt(t, s, &want);
	{
		char a[LIMIT_PATH], b[LIMIT_PATH];

		snprintf(a, sizeof a, "%s/tree/projects/%s", w.dir, agent);
		NEED(rename(a, tree_path(w.dir, "tree", 1, b)) == 0);
	}
	OK(sync_tree(&w, s, "tree", NULL, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session WHERE agent IS NOT NULL"), 0);
	buf_clear(&want);
	OK(derived_describe(s, &want, &err));
	check_rebuilt(t, s, &want);
}

TEST(two_roots_may_have_the_same_session)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(1),
			want CLEANUP(buf_release) = BUF_INIT(DESCRIPTION_MAX);
	struct store *s CLEANUP(store_closep) = NULL;
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "roots", NULL, &s, &err));
	make_transcript(99, 60, &file);
	NEED(put(&w, "one", 1, buf_as_str(&file)) && put(&w, "two", 1, buf_as_str(&file)));
	OK(sync_tree(&w, s, "one", NULL, &err));
	OK(sync_tree(&w, s, "two", NULL, &err));
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session"), 2);
	EQ(tree_ask(s, "SELECT count(DISTINCT session_id) FROM mirror_session"), 1);
	check_findable(t, s); /* each node is found once */
	OK(derived_describe(s, &want, &err));
	check_described(t, "two roots", s, NULL);
	check_rebuilt(t, s, &want);
}

/* ---- Damage ---------------------------------------------------------------------- */

TEST(a_damaged_block_stops_only_its_own_file)
{
	struct buf want CLEANUP(buf_release) = BUF_INIT(1);
	struct store *s CLEANUP(store_closep) = NULL;
	struct sync_report report;
	char dir[LIMIT_PATH];
	struct sync_options o = { .dir = dir, .force = true };
	struct world w;
	struct err err;

	world_init(&w, t_tmpdir(t));
	OK(open_store(&w, "damaged", NULL, &s, &err));
	make_files(t, &w, "tree", 2, 30, 1);
	{
		struct buf file CLEANUP(buf_release) = BUF_INIT(1);

		make_transcript(8, t_is_full() ? 20000 : 10000, &file); /* several blocks */
		NEED(put(&w, "tree", 2, buf_as_str(&file)));
	}
	describe_fresh(t, &w, "tree", "fresh", &want);
	OK(sync_tree(&w, s, "tree", NULL, &err));
	NEED(tree_ask(s, "SELECT count(*) FROM block") > 5);
	OK(db_exec(s,
		   "UPDATE block_data SET bytes = zeroblob(length(bytes)) WHERE id ="
		   " (SELECT data FROM block WHERE offset > 0"
		   " ORDER BY offset DESC LIMIT 1 OFFSET 1)",
		   &err));
	EQ(w.warnings, 0);
	OK(rebuild_all(s, NULL, &err));
	EQ(w.warnings, 1);
	CHECK(strstr(w.last_warning, "00000002-0000"));
	EQ(tree_ask(s, "SELECT count(*) FROM unread"), 1);
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session"), 3); /* what could be read is there */
	EQ(tree_ask(s, "SELECT count(*) FROM mirror_session e JOIN generation g ON g.id = e.generation"
		       " WHERE e.read_to < g.length - 50000"),
	   1);
	check_described(t, "damaged", s, NULL);
	EQ(sync_tree(&w, s, "tree", NULL, &err), STATUS_PARTIAL);
	EQ(w.warnings, 2);
	snprintf(dir, sizeof dir, "%s/tree", w.dir);
	OK(sync_run(s, &o, &report, &err));
	EQ(report.count[SYNC_REPAIRED], 1);
	EQ(w.warnings, 2);
	check_described(t, "mended", s, &want);
}

/* ---- Size ------------------------------------------------------------------------ */

static void repeat(struct buf *out, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_text(out, text);
}

/* Reads one file, adds a line, reads that, and compares with both at once. */
static void check_large(struct t *t, const struct buf *file, struct store **out)
{
	struct buf want CLEANUP(buf_release) = BUF_INIT(1);
	struct world w;
	struct err err;

	CHECK(!file->failed);
	world_init(&w, t_tmpdir(t));
	NEED(put(&w, "tree", 1, buf_as_str(file)));
	OK(open_store(&w, "large", NULL, out, &err));
	OK(sync_tree(&w, *out, "tree", NULL, &err));
	NEED(append(&w, "tree", 1,
		    STR("{\"type\":\"assistant\",\"uuid\":\"last\","
			"\"message\":{\"id\":\"m0\",\"content\":\"end\"}}\n")));
	OK(sync_tree(&w, *out, "tree", NULL, &err));
	EQ(tree_ask(*out, "SELECT count(*) FROM unread"), 0);
	describe_fresh(t, &w, "tree", "fresh", &want);
	check_described(t, "large", *out, &want);
	EQ(w.warnings, 0);
}

TEST(a_line_too_long_to_be_read_is_a_line)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(80 * MIB);
	struct store *s CLEANUP(store_closep) = NULL;

	buf_text(&file, "{\"n\":1}\n{\"type\":\"user\",\"uuid\":\"long\",\"message\":{\"content\":\"");
	repeat(&file, "0123456789abcde ", 70 * MIB / 16);
	buf_text(&file, "\"}}\n{\"n\":1}\n");
	check_large(t, &file, &s);
	EQ(tree_ask(s, "SELECT count(*) FROM entry"), 4);
	EQ(tree_ask(s, "SELECT type FROM entry WHERE length > 70000000"), 0);
	EQ(tree_ask(s, "SELECT line_id IS NOT NULL AND docs IS NULL AND uuid IS NULL FROM entry WHERE length "
		       "> 70000000"),
	   1);
	EQ(tree_ask(s, "SELECT nth FROM entry WHERE offset > 70000000 AND uuid IS NULL"), 1);
}

TEST(a_line_may_have_a_hundred_thousand_blocks)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(80 * MIB);
	struct store *s CLEANUP(store_closep) = NULL;

	buf_text(&file, "{\"type\":\"assistant\",\"uuid\":\"many\",\"message\":{\"id\":\"m0\",\"content\":[");
	for (int i = 0; i < 60000; i++)
		buf_printf(&file, "%s{\"type\":\"text\",\"text\":\"word%d\"}", i ? "," : "", i);
	buf_text(&file, "]}}\n");
	check_large(t, &file, &s);
	EQ(tree_ask(s, "SELECT max(blocks) FROM entry"), 60000);
	/* Blocks; lines, messages, turns, trees; m0. */
	EQ(tree_ask(s, "SELECT count(*) FROM node_key"), 60000 + 2 + 2 + 2 + 2 + 1);
	EQ(tree_ask(s, "SELECT messages FROM mirror_session"), 1);
}

TEST(a_million_equal_lines_have_a_million_ids)
{
	size_t lines = amount(50000, 1000000);
	struct buf file CLEANUP(buf_release) = BUF_INIT(80 * MIB);
	struct store *s CLEANUP(store_closep) = NULL;

	repeat(&file, "{\"type\":\"x\"}\n", lines);
	check_large(t, &file, &s);
	EQ(tree_ask(s, "SELECT max(nth) FROM entry"), lines - 1);
	EQ(tree_ask(s, "SELECT count(DISTINCT line_id) FROM entry"), lines);
}

TEST(a_session_may_have_fifty_thousand_lines)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(1);
	struct store *s CLEANUP(store_closep) = NULL;

	make_transcript(6, (int)amount(5000, 50000), &file);
	buf_byte(&file, '\n');
	check_large(t, &file, &s);
}

/* The first so many are read, and the rest is one that cannot be. */
TEST(a_line_may_be_glued_of_very_many_objects)
{
	size_t objects = amount(20000, 200000);
	struct buf file CLEANUP(buf_release) = BUF_INIT(80 * MIB);
	struct store *s CLEANUP(store_closep) = NULL;

	repeat(&file, "{}", objects);
	buf_byte(&file, '\n');
	check_large(t, &file, &s);
	EQ(tree_ask(s, "SELECT count(*) FROM entry"), LIMIT_LINE_RECORDS + 2);
}

/* Values that would cost far more than the bytes they are made of. */
TEST(what_is_beyond_a_limit_is_left_out_and_no_more)
{
	struct buf file CLEANUP(buf_release) = BUF_INIT(80 * MIB);
	struct store *s CLEANUP(store_closep) = NULL;
	size_t words = amount(300000, 2000000);

	buf_text(&file, "{\"n\":1,\"uuid\":\"");
	repeat(&file, "x", LIMIT_LINE_UUID + 1);
	buf_text(&file,
		 "\"}\n{\"n\":2,\"uuid\":\"a\\u0000\"}\n{\"type\":\"custom-title\",\"customTitle\":\"");
	repeat(&file, "\xc3\xa9", 100000);
	buf_text(
		&file,
		"\",\"uuid\":\"title\"}\n{\"type\":\"user\",\"uuid\":\"blocks\",\"message\":{\"content\":[1");
	repeat(&file, ",1", 300000);
	buf_text(&file, "]}}\n{\"type\":\"user\",\"uuid\":\"values\",\"message\":{\"content\":[1");
	repeat(&file, ",1", LIMIT_JSON_VALUES);
	buf_text(&file, "]}}\n{\"type\":\"user\",\"uuid\":\"text\",\"message\":{\"content\":\"");
	for (size_t i = 0; i < words; i++)
		buf_printf(&file, "%zx ", i);
	buf_text(&file, "\"}}\n");
	check_large(t, &file, &s);
	EQ(tree_ask(s, "SELECT count(*) FROM entry"), 7);
	EQ(tree_ask(s, "SELECT count(*) FROM entry WHERE uuid IS NULL"), 3);
	EQ(tree_ask(s, "SELECT length(title) FROM mirror_session"), 500);
	EQ(tree_ask(s, "SELECT blocks FROM entry WHERE uuid = 'blocks'"), LIMIT_LINE_BLOCKS);
	EQ(tree_ask(s, "SELECT count(*) FROM entry WHERE type = 0 AND length > 8000000"), 1);
	/* All words of a long text are found, in one of its documents each. */
	CHECK(tree_ask(s, "SELECT docs FROM entry WHERE uuid = 'text'") > 1);
	EQ(tree_ask(s, "SELECT count(*) FROM search('1ffff')"), 1);
	EQ(tree_ask(s, words == 300000 ? "SELECT count(*) FROM search('493df')"
				       : "SELECT count(*) FROM search('1e847f')"),
	   1);
}

TESTS(CASE(a_file_that_comes_in_pieces_is_read_as_at_once), CASE(no_place_to_cut_a_file_is_special),
      CASE(a_file_may_come_byte_by_byte), CASE(a_sync_that_is_stopped_is_completed_by_the_next),
      CASE(two_programs_may_read_at_once), CASE(two_programs_may_read_what_is_being_rewritten),
      CASE(one_program_may_rebuild_while_another_reads), CASE(of_a_rewritten_file_only_what_is_withdrawn_remains),
      CASE(a_file_that_vanishes_stays_and_may_come_back), CASE(a_renamed_file_gives_its_session_its_name),
      CASE(a_file_that_becomes_a_sub_agents_is_read_as_one),
      CASE(a_sub_agent_belongs_to_who_is_named_first),
      CASE(two_roots_may_have_the_same_session), CASE(a_damaged_block_stops_only_its_own_file),
      CASE(a_line_too_long_to_be_read_is_a_line), CASE(a_line_may_have_a_hundred_thousand_blocks),
      CASE(a_million_equal_lines_have_a_million_ids), CASE(a_session_may_have_fifty_thousand_lines),
      CASE(a_line_may_be_glued_of_very_many_objects), CASE(what_is_beyond_a_limit_is_left_out_and_no_more))
