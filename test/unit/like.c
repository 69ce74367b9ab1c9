/*
 * Copies of conversations in the archive: they take next to no room, and what they say depends on nothing
 * that happens to what they are copies of.
 */
#include "store/like.h"

#include "base/hash.h"
#include "files.h"
#include "store/db.h"
#include "store/gap.h"

#include <string.h>

#define FIRST  "11111111-1111-4111-8111-111111111111"
#define SECOND "22222222-2222-4222-8222-222222222222"
#define THIRD  "33333333-3333-4333-8333-333333333333"

enum { LINES = 800 };

/* A conversation of some 300 kB whose texts do not repeat, as one session's. */
static void make_lines(struct buf *out, const char *session, int from, int to)
{
	for (int i = from; i < to; i++) {
		uint64_t seed = (uint64_t)i;

		buf_printf(out, "{\"parentUuid\":");
		if (i)
			buf_printf(out, "\"00000000-0000-4000-8000-%012d\"", i - 1);
		else
			buf_text(out, "null");
		buf_printf(out,
			   ",\"sessionId\":\"%s\",\"type\":\"user\",\"message\":{\"role\":\"user\","
			   "\"content\":\"",
			   session);
		for (int word = 0; word < 30; word++) {
			seed = hash64(&seed, sizeof seed);
			buf_printf(out, "%016" PRIx64 " ", seed);
		}
		buf_printf(out,
			   "\"},\"uuid\":\"00000000-0000-4000-8000-%012d\",\"timestamp\":\"2026-11-01T00:00:"
			   "00.000Z\"}\n",
			   i);
	}
}

static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static int64_t likes(struct store *s)
{
	return ask(s, "SELECT count(*) FROM block_data WHERE codec = 2");
}

static int64_t packed_bytes(struct store *s)
{
	return ask(s, "SELECT sum(length(bytes)) FROM block_data");
}

static int64_t generation_of(struct files *f, const char *session)
{
	char sql[200];

	snprintf(sql, sizeof sql, "SELECT generation FROM source WHERE path = 'projects/p/%s.jsonl'",
		 session);
	return ask(f->s, sql);
}

static enum status collect(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

/* Whether the archive has exactly these bytes of a conversation. */
static enum status read_back(struct files *f, const char *session, struct str want, bool *same,
			     struct err *err)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	enum status status = archive_read(f->s, generation_of(f, session), 0, (int64_t)want.n, collect, &got,
					  err);

	*same = status == STATUS_OK && str_eq(buf_as_str(&got), want);
	return status;
}

#define SAME(session, bytes) \
	do { \
		bool same_; \
		OK(read_back(&f, session, buf_as_str(&(bytes)), &same_, &err)); \
		CHECK(same_); \
	} while (0)

struct pair {
	struct buf first, second;
};

static void pair_release(struct pair *p)
{
	buf_release(&p->first);
	buf_release(&p->second);
}

#define PAIR struct pair CLEANUP(pair_release) p = { BUF_INIT(16 * MIB), BUF_INIT(16 * MIB) }

/* A conversation, and one that was forked from it. */
static enum status sync_pair(struct t *t, struct files *f, struct pair *p, struct err *err)
{
	make_lines(&p->first, FIRST, 0, LINES);
	make_lines(&p->second, SECOND, 0, LINES);
	if (files_init(t, f, err) || files_put(f, FIRST, buf_as_str(&p->first), err) || files_sync(f, err) ||
	    files_put(f, SECOND, buf_as_str(&p->second), err))
		return err_failed(err->status);
	return files_sync(f, err);
}

TEST(a_copy_takes_next_to_no_room)
{
	FILES f;
	PAIR;
	int64_t before;
	struct err err;

	make_lines(&p.first, FIRST, 0, LINES);
	make_lines(&p.second, SECOND, 0, LINES);
	OK(files_init(t, &f, &err));
	OK(files_put(&f, FIRST, buf_as_str(&p.first), &err));
	OK(files_sync(&f, &err));
	EQ(likes(f.s), 0);
	before = packed_bytes(f.s);
	OK(files_put(&f, SECOND, buf_as_str(&p.second), &err));
	OK(files_sync(&f, &err));
	CHECK(likes(f.s) >= 3);
	/* All but the last block, which is packed by itself since that of the first may yet grow. */
	CHECK(packed_bytes(f.s) - before < before / 3);
	SAME(FIRST, p.first);
	SAME(SECOND, p.second);
}

TEST(a_copy_of_a_copy_refers_to_the_first)
{
	struct buf third CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	FILES f;
	PAIR;
	struct err err;

	OK(sync_pair(t, &f, &p, &err));
	make_lines(&third, THIRD, 0, LINES / 2);
	OK(files_put(&f, THIRD, buf_as_str(&third), &err));
	OK(files_sync(&f, &err));
	SAME(THIRD, third);
	EQ(ask(f.s,
	       "SELECT count(*) FROM block_base l JOIN block_data d ON d.id = l.base WHERE d.codec <> 1"),
	   0);
	CHECK(ask(f.s, "SELECT count(*) FROM block_base l JOIN block b ON b.data = l.data JOIN source s"
		       " ON s.generation = b.generation WHERE s.path LIKE '%" THIRD "%'") > 0);
}

TEST(a_copy_grows_like_any_other_file)
{
	FILES f;
	PAIR;
	struct err err;

	OK(sync_pair(t, &f, &p, &err));
	for (int i = 0; i < 3; i++) {
		make_lines(&p.second, SECOND, LINES + 100 * i, LINES + 100 * (i + 1));
		OK(files_put(&f, SECOND, buf_as_str(&p.second), &err));
		OK(files_sync(&f, &err));
		SAME(SECOND, p.second);
	}
	make_lines(&p.first, FIRST, LINES, LINES + 300);
	OK(files_put(&f, FIRST, buf_as_str(&p.first), &err));
	OK(files_sync(&f, &err));
	SAME(FIRST, p.first);
	SAME(SECOND, p.second);
}

/* The first line of a conversation is purged, here and in what it should be. */
static enum status overwrite(struct files *f, const char *session, struct buf *bytes, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct span line = { 0, (int64_t)str_find(buf_as_str(bytes), '\n') };

	if (txn_begin(f->s, &txn, err) || gap_make(f->s, generation_of(f, session), &line, 1, 1, err))
		return err_failed(err->status);
	gap_fill(bytes->p, (size_t)line.to);
	return txn_commit(&txn, err);
}

TEST(overwriting_the_first_leaves_its_copies_as_they_are)
{
	FILES f;
	PAIR;
	struct err err;

	OK(sync_pair(t, &f, &p, &err));
	OK(overwrite(&f, FIRST, &p.first, &err));
	SAME(FIRST, p.first);
	SAME(SECOND, p.second);
	CHECK(likes(f.s) > 0); /* the blocks behind it still are */
	EQ(ask(f.s, "SELECT count(*) FROM block_base WHERE base ="
		    " (SELECT data FROM block WHERE generation = 1 AND offset = 0)"),
	   0);
}

TEST(overwriting_a_copy_leaves_the_first_as_it_is)
{
	FILES f;
	PAIR;
	struct err err;

	OK(sync_pair(t, &f, &p, &err));
	OK(overwrite(&f, SECOND, &p.second, &err));
	SAME(FIRST, p.first);
	SAME(SECOND, p.second);
	EQ(ask(f.s, "SELECT count(*) FROM block_base l JOIN block_data d ON d.id = l.data WHERE d.codec <> 2"), 0);
}

TEST(what_has_changed_meanwhile_is_a_conflict)
{
	struct archive_new b = { .length = 4, .packed = STR("none"), .base_count = 1 };
	FILES f;
	PAIR;
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t length = 0;
	struct err err;

	OK(sync_pair(t, &f, &p, &err));
	b.bases[0] = (struct archive_base){
		ask(f.s, "SELECT data FROM block WHERE generation = 1 AND offset = 0"), 12345
	};
	b.offset = length = (int64_t)p.second.n;
	OK(txn_begin(f.s, &txn, &err));
	EQ(archive_append(f.s, generation_of(&f, SECOND), length, &b, 1, &err), STATUS_CONFLICT);
}

TEST(a_damaged_block_is_told_of_and_mended_from_either_file)
{
	FILES f;
	PAIR;
	bool same;
	struct err err;

	OK(sync_pair(t, &f, &p, &err));
	OK(db_exec(f.s,
		   "UPDATE block_data SET bytes = zeroblob(length(bytes)) WHERE id ="
		   " (SELECT data FROM block WHERE generation = 1 AND offset = 0)",
		   &err));
	EQ(read_back(&f, FIRST, buf_as_str(&p.first), &same, &err), STATUS_CORRUPT);
	EQ(read_back(&f, SECOND, buf_as_str(&p.second), &same, &err), STATUS_CORRUPT);
	OK(files_sync(&f, &err)); /* looks at every byte */
	SAME(FIRST, p.first);
	SAME(SECOND, p.second);
}

/* What refers in circles, or to more than it can, is refused. */
TEST(a_block_that_refers_to_one_that_refers_is_corrupt)
{
	FILES f;
	PAIR;
	bool same;
	struct err err;

	OK(sync_pair(t, &f, &p, &err));
	OK(db_exec(f.s, "UPDATE block_base SET base = data", &err));
	EQ(read_back(&f, SECOND, buf_as_str(&p.second), &same, &err), STATUS_CORRUPT);
	OK(db_exec(f.s, "DELETE FROM block_base", &err));
	EQ(read_back(&f, SECOND, buf_as_str(&p.second), &same, &err), STATUS_CORRUPT);
	SAME(FIRST, p.first);
}

/* Uuids that are said, not had; lines of other conversations; nothing at all. */
TEST(what_is_no_copy_is_packed_by_itself)
{
	static const char *const heads[] = {
		"",
		"\n\n",
		"\"uuid\":\"",
		"\"uuid\":\"00000000-0000-4000-8000-00000000",
		"\"uuid\":\"no uuid at all, but long enough to be one\"",
		"{\"uuid\":\"99999999-0000-4000-8000-000000000000\"}\n",
	};
	struct likeness like CLEANUP(likeness_release) = LIKENESS_INIT;
	FILES f;
	PAIR;
	struct err err;
	bool known;

	OK(sync_pair(t, &f, &p, &err));
	for (size_t i = 0; i < COUNT(heads); i++) {
		OK(like_is_known(f.s, str_of(heads[i]), &known, &err));
		CHECK(!known);
		OK(like_find(f.s, str_of(heads[i]), &like, &err));
		EQ(like.count, 0);
	}
	OK(like_is_known(f.s, buf_as_str(&p.first), &known, &err));
	CHECK(known);
}

/* ---- Whatever happens -------------------------------------------------------------- */

enum { MOST_FILES = 12, STEPS = 60 };

/* Files as they should be, whose lines are numbered through. */
struct model {
	struct files f;
	struct buf bytes[MOST_FILES];
	size_t count;
	int lines;
	uint64_t random;
};

static void model_release(struct model *m)
{
	files_release(&m->f);
	for (size_t i = 0; i < m->count; i++)
		buf_release(&m->bytes[i]);
}

static uint64_t below(struct model *m, uint64_t n)
{
	m->random = hash64(&m->random, sizeof m->random);
	/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): of one or more, always: there is a file, and it has lines */
	return m->random % n;
}

static void session_name(size_t i, char out[UUID_TEXT + 1])
{
	snprintf(out, UUID_TEXT + 1, "%08u-1111-4111-8111-111111111111", (unsigned)i % MOST_FILES);
}

/* The end of a line somewhere in a file. */
static size_t some_end(struct model *m, struct str bytes)
{
	size_t at = (size_t)below(m, bytes.n), end = str_find(str_sub(bytes, at, SIZE_MAX), '\n');

	return end == SIZE_MAX ? bytes.n : at + end + 1;
}

static void grow_file(struct model *m, size_t i)
{
	char name[UUID_TEXT + 1];
	int more = (int)below(m, 120);

	session_name(i, name);
	make_lines(&m->bytes[i], name, m->lines, m->lines + more);
	m->lines += more;
}

/* Another file that begins as one that there is, as another session's. */
static void copy_file(struct model *m, size_t i, size_t length)
{
	struct str from = buf_as_str(&m->bytes[i]);
	struct buf *to = &m->bytes[m->count];
	char was[UUID_TEXT + 1], is[UUID_TEXT + 1];

	session_name(i, was);
	session_name(m->count++, is);
	buf_init(to, 16 * MIB);
	buf_str(to, str_sub(from, 0, length));
	for (char *at = to->p; (at = memmem(at, to->n - (size_t)(at - to->p), was, UUID_TEXT));)
		memcpy(at, is, UUID_TEXT);
}

static enum status purge_line(struct model *m, size_t i, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct str all = buf_as_str(&m->bytes[i]);
	size_t to = some_end(m, all) - 1, feed = str_rfind(str_sub(all, 0, to), '\n');
	struct span line = { feed == SIZE_MAX ? 0 : (int64_t)feed + 1, (int64_t)to };
	char name[UUID_TEXT + 1];

	session_name(i, name);
	if (txn_begin(m->f.s, &txn, err) || gap_make(m->f.s, generation_of(&m->f, name), &line, 1, 1, err))
		return err_failed(err->status);
	gap_fill(m->bytes[i].p + line.from, (size_t)(line.to - line.from));
	return txn_commit(&txn, err);
}

/* The file is what is left of it, so that the next sync does not find it rewritten. */
static enum status step(struct model *m, struct err *err)
{
	size_t i = (size_t)below(m, m->count);
	char name[UUID_TEXT + 1];

	switch (below(m, 4)) {
	case 0:
		if (m->count < MOST_FILES) {
			copy_file(m, i, some_end(m, buf_as_str(&m->bytes[i])));
			i = m->count - 1;
			break;
		} /* else as the next */
		/* fall through */
	case 1:
		if (purge_line(m, i, err))
			return err_failed(err->status);
		break;
	default:
		grow_file(m, i);
	}
	session_name(i, name);
	return files_put(&m->f, name, buf_as_str(&m->bytes[i]), err) ? err_failed(err->status)
								     : files_sync(&m->f, err);
}

TEST(every_file_is_what_it_should_be_whatever_happens_to_the_others)
{
	struct model m CLEANUP(model_release) = { .count = 1, .random = t_seed() };
	char name[UUID_TEXT + 1];
	bool same;
	struct err err;

	OK(files_init(t, &m.f, &err));
	session_name(0, name);
	buf_init(&m.bytes[0], 16 * MIB);
	make_lines(&m.bytes[0], name, 0, LINES);
	m.lines = LINES;
	OK(files_put(&m.f, name, buf_as_str(&m.bytes[0]), &err));
	OK(files_sync(&m.f, &err));
	copy_file(&m, 0, m.bytes[0].n);
	session_name(1, name);
	OK(files_put(&m.f, name, buf_as_str(&m.bytes[1]), &err));
	OK(files_sync(&m.f, &err));
	CHECK(likes(m.f.s) > 0);
	for (int i = 0; i < STEPS; i++) {
		OK(step(&m, &err));
		for (size_t k = 0; k < m.count; k++) {
			session_name(k, name);
			OK(read_back(&m.f, name, buf_as_str(&m.bytes[k]), &same, &err));
			CHECK(same);
		}
	}
	CHECK(likes(m.f.s) > 0);
	EQ(ask(m.f.s,
	       "SELECT count(*) FROM block_base l JOIN block_data d ON d.id = l.data WHERE d.codec <> 2"),
	   0);
	EQ(ask(m.f.s,
	       "SELECT count(*) FROM block_base l JOIN block_data d ON d.id = l.base WHERE d.codec <> 1"),
	   0);
}

TESTS(CASE(a_copy_takes_next_to_no_room), CASE(a_copy_of_a_copy_refers_to_the_first),
      CASE(a_copy_grows_like_any_other_file), CASE(overwriting_the_first_leaves_its_copies_as_they_are),
      CASE(overwriting_a_copy_leaves_the_first_as_it_is), CASE(what_has_changed_meanwhile_is_a_conflict),
      CASE(a_damaged_block_is_told_of_and_mended_from_either_file),
      CASE(a_block_that_refers_to_one_that_refers_is_corrupt), CASE(what_is_no_copy_is_packed_by_itself),
      CASE(every_file_is_what_it_should_be_whatever_happens_to_the_others))
