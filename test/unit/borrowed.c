/*
 * Rows that a fork has of its original: random histories of sessions that begin alike, go on, are written anew and
 * forgotten, with keys entered now and then. Whatever happened, whoever asks the tables gets for every line the row it
 * was written with, its keys and what it cost; nothing twice, and nothing that belongs to no line.
 */
#include "store/borrowed.h"

#include "derived.h"
#include "store/keys.h"
#include "store/mirror.h"
#include "t.h"
#include "tree.h"

enum { SESSIONS = 6, UUIDS = 40, MOST_LINES = 60 };

/* A line of a file. Which message it belongs to follows from its uuid: three after each other are one. */
struct said {
	int uuid;  /* -1 = it has none */
	bool other; /* it says something else than the others with this uuid */
	bool mute;  /* nothing of what it cost */
	bool bare;  /* it has no text */
	int64_t offset, length, parent, first, tokens;
};

struct model {
	struct t *t;
	struct store *s;
	uint64_t random;
	struct said lines[SESSIONS][MOST_LINES];
	int count[SESSIONS];
};

static int pick(struct model *m, int below)
{
	m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (int)(m->random >> 33) % below;
}

static struct uuid uuid_of(int n)
{
	struct uuid u = { { 0 } };

	u.b[0] = (uint8_t)(n + 1);
	return u;
}

static int64_t end_of(const struct model *m, int session, int count)
{
	const struct said *l = count ? &m->lines[session][count - 1] : NULL;

	return l ? l->offset + l->length + 1 : 0;
}

/* Of what comes before it in its file: where its message begins. */
static void place(struct model *m, int session, int n)
{
	struct said *l = &m->lines[session][n];

	l->offset = end_of(m, session, n);
	l->length = 20 + (l->uuid + 1) * 7 % 13;
	l->parent = l->first = -1;
	l->tokens = l->uuid < 0 || l->mute ? 0 : 10 + l->uuid % 3;
	if (l->uuid < 0)
		return;
	l->first = l->offset;
	for (int i = 0; i < n; i++) {
		const struct said *before = &m->lines[session][i];

		if (before->uuid < 0)
			continue;
		l->parent = before->offset;
		if (before->uuid / 3 == l->uuid / 3 && l->first == l->offset)
			l->first = before->first;
	}
}

static void write_part(struct model *m, int session, int from, int to, int64_t known)
{
	struct mirror_line lines[MOST_LINES];
	struct mirror_doc docs[MOST_LINES];
	struct mirror_usage usage[MOST_LINES];
	struct uuid parents[MOST_LINES];
	uint64_t tools[MOST_LINES];
	uint8_t digest[SHA256_BYTES] = { 7, (uint8_t)session };
	char text[MOST_LINES][UUID_TEXT + 1];
	static char packed[] = "\2ua\2wa";
	struct mirror_part p = { .source = session + 1,
				 .generation = session + 1,
				 .from = end_of(m, session, from),
				 .to = end_of(m, session, to),
				 .anew = from == 0,
				 .known_generation = known ? session + 1 : 0,
				 .known_to = known,
				 .lines = lines,
				 .line_count = (size_t)(to - from),
				 .docs = docs,
				 .packed = { packed, sizeof packed - 1 } };
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct t *t = m->t;
	struct err err;

	p.session_id.b[0] = p.source_id.b[0] = (uint8_t)(session + 1);
	for (int i = 0; i < to - from; i++) {
		const struct said *l = &m->lines[session][from + i];
		bool has = l->uuid >= 0;

		parents[i] = uuid_of(l->uuid);
		uuid_print(&parents[i], text[i]);
		tools[i] = 1000 + (uint64_t)l->uuid;
		usage[i] = (struct mirror_usage){ .model = STR("a model"),
						  .told = { .message = (uint64_t)l->uuid / 3, .output = l->tokens } };
		lines[i] = (struct mirror_line){ .offset = l->offset,
						 .length = l->length,
						 .type = 1,
						 .uuid = has ? str_of(text[i]) : (struct str){ 0 },
						 .key = parents[i],
						 .is_uuid = has,
						 .digest = digest,
						 .content = has ? (uint64_t)(2 * l->uuid + l->other + 1) : 0,
						 .parent = l->parent >= 0 ? &parents[i] : NULL,
						 .parent_at = l->parent,
						 .tools = &tools[i],
						 .tool_count = has && l->uuid % 4 == 0,
						 .has_message = has,
						 .message = (uint64_t)(l->uuid / 3 + 1),
						 .usage = has && !l->mute ? &usage[i] : NULL,
						 .first = has ? l->first : MIRROR_NO_MESSAGE,
						 .blocks = has ? (uint32_t)l->uuid % 3 : 0,
						 .docs = has && !l->bare };
		docs[i] = (struct mirror_doc){ .words = 2, .packed_n = sizeof packed - 1 };
	}
	OK(txn_begin(m->s, &txn, &err));
	OK(mirror_add(m->s, &p, &err));
	OK(txn_commit(&txn, &err));
}

static void append(struct model *m, int session, int uuid)
{
	int n = m->count[session]++;

	m->lines[session][n] = (struct said){ .uuid = uuid, .other = uuid >= 0 && pick(m, 40) == 0,
					      .mute = uuid % 3 < 2 && uuid % 5 < 2 };
	place(m, session, n);
}

/* The lines of another up to somewhere, some of them left out, and a line without a uuid here and there. */
static void begin_as(struct model *m, int session, int from)
{
	struct said old[MOST_LINES];
	int count = m->count[from], cut = 1 + pick(m, count ? count : 1);

	memcpy(old, m->lines[from], sizeof old);
	m->count[session] = 0;
	for (int i = 0; i < count && i < cut && m->count[session] < MOST_LINES - 10; i++) {
		if (pick(m, 24) == 0)
			append(m, session, -1);
		if (pick(m, 24) == 0 || old[i].uuid < 0)
			continue;
		append(m, session, old[i].uuid);
		m->lines[session][m->count[session] - 1].other = old[i].other;
	}
}

static void grow(struct model *m, int session)
{
	for (int more = 1 + pick(m, 8); more-- && m->count[session] < MOST_LINES;)
		append(m, session, pick(m, 3) ? m->count[session] % UUIDS : pick(m, UUIDS));
}

static void forget(struct model *m, int session)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct t *t = m->t;
	struct err err;

	OK(txn_begin(m->s, &txn, &err));
	OK(mirror_forget(m->s, session + 1, &err));
	OK(txn_commit(&txn, &err));
	m->count[session] = 0;
}

static void step(struct model *m)
{
	int session = pick(m, SESSIONS), before = m->count[session];
	int64_t known = end_of(m, session, before);
	struct t *t = m->t;
	struct err err;

	switch (pick(m, 8)) {
	case 0:
	case 1:
	case 2:
		begin_as(m, session, pick(m, SESSIONS));
		grow(m, session);
		write_part(m, session, 0, m->count[session], known);
		break;
	case 3:
	case 4:
		if (!before || before == MOST_LINES)
			break;
		grow(m, session);
		write_part(m, session, before, m->count[session], 0);
		break;
	case 5:
		forget(m, session);
		break;
	default:
		OK(keys_complete(m->s, &err));
	}
}

/* ---- What must be there ------------------------------------------------------------ */

static int64_t ask_line(struct model *m, const char *what, int session, const struct said *l)
{
	char sql[400];

	snprintf(sql, sizeof sql,
		 "SELECT %s FROM entry e JOIN mirror_session s ON s.id = e.session WHERE s.source = %d AND s.old = 0"
		 " AND e.offset = %" PRId64, what, session + 1, l->offset);
	return tree_ask(m->s, sql);
}

static void check_line(struct model *m, int session, int n)
{
	const struct said *l = &m->lines[session][n];
	struct t *t = m->t;
	int64_t most = 0;

	EQ(ask_line(m, "count(*)", session, l), 1);
	EQ(ask_line(m, "e.length", session, l), l->length);
	EQ(ask_line(m, "coalesce(e.parent, -1)", session, l), l->parent);
	EQ(ask_line(m, "coalesce(e.first, -1)", session, l), l->first);
	EQ(ask_line(m, "coalesce(e.content, 0)", session, l), l->uuid < 0 ? 0 : 2 * l->uuid + l->other + 1);
	EQ(ask_line(m, "coalesce(e.tools, 0)", session, l), l->uuid >= 0 && l->uuid % 4 == 0 ? 1000 + l->uuid : 0);
	for (int i = 0; l->uuid >= 0 && i < m->count[session]; i++)
		if (m->lines[session][i].first == l->offset && m->lines[session][i].tokens > most)
			most = m->lines[session][i].tokens;
	EQ(ask_line(m, "(SELECT count(*) FROM usage u WHERE u.session = e.session AND u.first = e.offset)", session,
		    l),
	   most > 0);
	if (most) {
		struct tokens told = { 0 };
		STMT st = { .store = m->s };

		EQ(sqlite3_prepare_v2(m->s->db,
				      "SELECT told FROM usage u JOIN mirror_session s ON s.id = u.session"
				      " WHERE s.source = ?1 AND s.old = 0 AND u.first = ?2",
				      -1, &st.st, NULL),
		   SQLITE_OK);
		sqlite3_bind_int64(st.st, 1, session + 1);
		sqlite3_bind_int64(st.st, 2, l->offset);
		EQ(sqlite3_step(st.st), SQLITE_ROW);
		CHECK(tokens_unpack(col_bytes(&st, 0), &told));
		EQ(told.output, most);
		sqlite3_finalize(st.st);
		st.st = NULL;
	}
}

/* The rows of a session in order, forwards and back, whole and in part: as each by itself. */
static void check_ranges(struct model *m, int session)
{
	static const char *const orders[] = { "", " DESC" };
	struct t *t = m->t;
	char sql[300];

	for (size_t o = 0; o < COUNT(orders); o++) {
		int from = pick(m, m->count[session] + 1), to = from + pick(m, m->count[session] + 1 - from), n = 0;
		int64_t low = end_of(m, session, from), high = end_of(m, session, to);
		sqlite3_stmt *st = NULL;

		snprintf(sql, sizeof sql,
			 "SELECT offset FROM entry WHERE session = (SELECT id FROM mirror_session WHERE source = %d"
			 " AND old = 0) AND offset >= %" PRId64 " AND offset < %" PRId64 " ORDER BY offset%s",
			 session + 1, low, high, orders[o]);
		EQ(sqlite3_prepare_v2(m->s->db, sql, -1, &st, NULL), SQLITE_OK);
		for (; sqlite3_step(st) == SQLITE_ROW; n++)
			EQ(sqlite3_column_int64(st, 0), m->lines[session][o ? to - 1 - n : from + n].offset);
		EQ(n, to - from);
		sqlite3_finalize(st);
	}
}

/* Keys follow from the rows; all of them are there, asked for in one way or the other. */
static void check_keys(struct model *m)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(4 * MIB);
	struct derived d = { .s = m->s, .out = &out, .reader = { .store = m->s } };
	struct t *t = m->t;

	d.doc_count = derived_number(&d, "SELECT coalesce(max(id * 128 + used), 0) FROM doc_chunk");
	d.docs = calloc((size_t)(d.doc_count > 0 ? d.doc_count : 0) + 1, sizeof *d.docs);
	for (int64_t id = 0; id < d.doc_count; id++)
		d.docs[id].count = 2; /* their words are looked at elsewhere */
	for (int i = 0; i < SESSIONS; i++) {
		char sql[100];
		int64_t row;

		snprintf(sql, sizeof sql,
			 "SELECT coalesce(max(id), 0) FROM mirror_session WHERE source = %d AND old = 0",
			 i + 1);
		row = tree_ask(m->s, sql);
		if (row)
			derived_entries(&d, row);
	}
	buf_clear(&out);
	derived_keys(&d);
	if (out.n)
		t_fail(t, __FILE__, __LINE__, "%.*s", (int)out.n, out.p);
	EQ(tree_ask(m->s, "SELECT count(*) FROM node_key k WHERE NOT EXISTS (SELECT 1 FROM node_key o WHERE"
			  " o.key = k.key AND o.session = k.session AND o.part = k.part AND o.offset = k.offset)"),
	   0);
	EQ(tree_ask(m->s, "SELECT count(*) FROM node_key k WHERE NOT EXISTS (SELECT 1 FROM entry e WHERE"
			  " e.session = k.session AND e.offset = k.offset)"),
	   0);
	doc_reader_release(&d.reader);
	free(d.docs);
}

static bool lends(struct model *m)
{
	return tree_ask(m->s, "SELECT count(*) FROM sqlite_schema WHERE name = 'borrowed'") == 1;
}

static void check_runs(struct model *m)
{
	struct t *t = m->t;

	if (!lends(m))
		return;
	/* Who lends has the rows, a smaller number, and is a newest version. */
	EQ(tree_ask(m->s, "SELECT count(*) FROM borrowed b WHERE lender >= session OR NOT EXISTS (SELECT 1 FROM"
			  " entry_own e WHERE e.session = b.lender AND e.offset = b.at)"),
	   0);
	EQ(tree_ask(m->s, "SELECT count(*) FROM borrowed b JOIN entry_own e ON e.session = b.session"
			  " AND e.offset >= b.offset AND e.offset < b.until"),
	   0);
	EQ(tree_ask(m->s, "SELECT count(*) FROM borrowed b JOIN node_key_own k ON k.session = b.session"
			  " AND k.offset >= b.offset AND k.offset < b.until"),
	   0);
	EQ(tree_ask(m->s, "SELECT count(*) FROM borrowed a JOIN borrowed b ON b.session = a.session"
			  " AND b.offset > a.offset AND b.offset < a.until"),
	   0);
}

static void check(struct model *m)
{
	struct t *t = m->t;
	int64_t all = 0;
	struct err err;

	OK(keys_complete(m->s, &err));
	for (int i = 0; i < SESSIONS; i++) {
		for (int n = 0; n < m->count[i] && !t->failures; n++)
			check_line(m, i, n);
		check_ranges(m, i);
		all += m->count[i];
	}
	EQ(tree_ask(m->s, "SELECT count(*) FROM entry"), all);
	check_keys(m);
	check_runs(m);
}

TEST(rows_are_what_was_written)
{
	enum { HISTORIES = 40, STEPS = 60 };
	int64_t borrowed = 0;

	for (int history = 0; history < HISTORIES && !t->failures; history++) {
		struct store *s CLEANUP(store_closep) = NULL;
		struct model m = { .t = t, .random = (uint64_t)history * 7919 + 1 };
		struct err err;
		char name[32];

		snprintf(name, sizeof name, "s%d", history);
		OK(tree_store(t_tmpdir(t), name, NULL, NULL, &s, &err));
		m.s = s;
		for (int i = 0; i < STEPS && !t->failures; i++) {
			step(&m);
			if (i % 12 != 11)
				continue;
			check(&m);
			if (lends(&m))
				borrowed += tree_ask(s, "SELECT count(*) FROM borrowed");
		}
		if (t->failures)
			t_fail(t, __FILE__, __LINE__, "history %d", history);
	}
	CHECK(borrowed > HISTORIES / 2);
}

TEST(a_fork_has_hardly_any_rows)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct model m = { .t = t };
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	m.s = s;
	for (int i = 0; i < SESSIONS; i++) {
		for (int n = 0; n < UUIDS; n++) {
			m.lines[i][n] = (struct said){ .uuid = n };
			m.count[i] = n + 1;
			place(&m, i, n);
		}
		write_part(&m, i, 0, UUIDS, 0);
		if (i == 0 || i == 2)
			OK(keys_complete(s, &err));
	}
	check(&m);
	EQ(tree_ask(s, "SELECT count(*) FROM entry_own"), UUIDS);
	EQ(tree_ask(s, "SELECT count(*) FROM usage_own"), (UUIDS + 2) / 3);
	EQ(tree_ask(s, "SELECT count(DISTINCT session) FROM node_key_own"), 1);
	EQ(tree_ask(s, "SELECT count(*) FROM borrowed"), SESSIONS - 1);
	/* The lender goes, and the next one after it: what the others have stays, and stays borrowed, but for who gets
	 * the words and with them other documents. */
	for (int i = 0; i < SESSIONS; i++) {
		int left = SESSIONS - i - 1, own = left < 2 ? left : 2;

		forget(&m, i);
		EQ(tree_ask(s, "SELECT count(*) FROM entry_own"), own * UUIDS);
		EQ(tree_ask(s, "SELECT count(*) FROM borrowed"), left - own);
		check(&m);
		CHECK(tree_ask(s, "SELECT count(*) FROM entry_own") <= own * UUIDS);
	}
	EQ(tree_ask(s, "SELECT count(*) FROM borrowed"), 0);
	EQ(tree_ask(s, "SELECT count(*) FROM node_key_own"), 0);
}

/* Its first lines say nothing of what an answer cost, and a later one does, in the one and in the other. */
TEST(a_cost_that_comes_late_is_of_its_file)
{
	for (int first = 0; first < 2; first++) {
		struct store *s CLEANUP(store_closep) = NULL;
		struct model m = { .t = t };
		struct err err;

		OK(tree_store(t_tmpdir(t), first ? "a" : "b", NULL, NULL, &s, &err));
		m.s = s;
		for (int i = 0; i < 2; i++) {
			for (int n = 0; n < 11; n++) {
				m.lines[i][n] = (struct said){ .uuid = n, .mute = n == 9 || n == 10 };
				m.count[i] = n + 1;
				place(&m, i, n);
			}
			write_part(&m, i, 0, 11, 0);
			OK(keys_complete(s, &err));
		}
		check(&m);
		CHECK(lends(&m));
		for (int i = 0; i < 2; i++) {
			int session = first ? i : 1 - i;

			m.lines[session][11] = (struct said){ .uuid = 11 };
			m.count[session] = 12;
			place(&m, session, 11);
			m.lines[session][11].tokens = 20 + 10 * session;
			write_part(&m, session, 11, 12, 0);
			check(&m);
		}
		forget(&m, 0);
		check(&m);
	}
}

static void put(struct model *m, int session, int uuid)
{
	int n = m->count[session]++;

	m->lines[session][n] = (struct said){ .uuid = uuid, .bare = uuid >= 6 && uuid < 12 };
	place(m, session, n);
}

/* Lines in between that a lender borrows itself are no part of what it lends. */
TEST(a_run_has_no_hole)
{
	enum { HOLE = 6, END = 12, ALL = 18 };
	struct store *s CLEANUP(store_closep) = NULL;
	struct model m = { .t = t };
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	m.s = s;
	for (int uuid = HOLE - 1; uuid < END; uuid++)
		put(&m, 0, uuid);
	write_part(&m, 0, 0, m.count[0], 0);
	OK(keys_complete(s, &err));
	for (int uuid = 0; uuid < ALL; uuid++)
		put(&m, 1, uuid);
	m.lines[1][END].parent = m.lines[1][HOLE - 1].offset;
	write_part(&m, 1, 0, ALL, 0);
	OK(keys_complete(s, &err));
	CHECK(lends(&m) && tree_ask(s, "SELECT count(*) FROM borrowed") == 1);
	/* The same lines in the same places, but for those; where they were are empty lines. */
	for (int uuid = 0; uuid < ALL; uuid++)
		if (uuid < HOLE || uuid >= END)
			m.lines[2][m.count[2]++] = m.lines[1][uuid];
	write_part(&m, 2, 0, m.count[2], 0);
	check(&m);
	forget(&m, 0);
	check(&m);
}

/* Whatever else is said of a line that has equals, it is asked. */
TEST(equal_lines_are_told_apart)
{
	enum { ALL = 8 };
	struct store *s CLEANUP(store_closep) = NULL;
	struct model m = { .t = t };
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	m.s = s;
	for (int session = 0; session < 2; session++) {
		for (int uuid = 0; uuid < ALL; uuid++)
			put(&m, session, uuid);
		put(&m, session, -1);
		put(&m, session, -1);
		write_part(&m, session, 0, m.count[session], 0);
		OK(keys_complete(s, &err));
	}
	CHECK(lends(&m));
	EQ(tree_ask(s, "SELECT count(*) FROM entry a JOIN entry b ON b.session = a.session AND b.same = a.same"
		       " WHERE a.session = 2"),
	   4);
	EQ(tree_ask(s, "SELECT count(*) FROM entry a JOIN entry b ON b.session = a.session AND b.same = a.same"
		       " AND b.offset = a.offset WHERE a.session = 2"),
	   2);
	EQ(tree_ask(s, "SELECT count(*) FROM entry a JOIN entry b ON b.session = a.session AND b.same = a.same"
		       " AND b.offset > a.offset WHERE a.session = 2"),
	   1);
}

/* What others prepared before the first row was borrowed goes on, and writes where it should. */
TEST(programs_that_are_open_notice)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct store *other CLEANUP(store_closep) = NULL;
	struct model m = { .t = t };
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	m.s = s;
	for (int i = 0; i < 3; i++)
		for (int n = 0; n < UUIDS; n++) {
			m.lines[i][n] = (struct said){ .uuid = n };
			m.count[i] = n + 1;
			place(&m, i, n);
		}
	write_part(&m, 0, 0, UUIDS, 0);
	OK(keys_complete(s, &err));
	OK(store_open_beside(s, &other, &err));
	m.s = other;
	write_part(&m, 1, 0, UUIDS, 0);
	OK(keys_complete(other, &err)); /* here it begins */
	CHECK(lends(&m));
	m.s = s;
	write_part(&m, 2, 0, UUIDS, 0);
	check(&m);
	forget(&m, 0);
	m.s = other;
	check(&m);
}

/* Taken back, the tables are those of before. */
TEST(a_transaction_that_fails_changes_nothing)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct model m = { .t = t };
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	m.s = s;
	{
		struct txn txn CLEANUP(txn_end) = { 0 };

		OK(txn_begin(s, &txn, &err));
		OK(db_begin_lending(s, &err));
	}
	CHECK(!lends(&m));
	for (int n = 0; n < UUIDS; n++) {
		m.lines[0][n] = (struct said){ .uuid = n };
		m.count[0] = n + 1;
		place(&m, 0, n);
	}
	write_part(&m, 0, 0, UUIDS, 0);
	check(&m);
}

TESTS(CASE(a_cost_that_comes_late_is_of_its_file), CASE(a_fork_has_hardly_any_rows), CASE(a_run_has_no_hole),
      CASE(equal_lines_are_told_apart),
      CASE(a_transaction_that_fails_changes_nothing),
      CASE(programs_that_are_open_notice), CASE(rows_are_what_was_written))
