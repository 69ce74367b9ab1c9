/*
 * Lines that stand in several sessions and have their words in the index once: random histories of sessions that are
 * written, go on, are written anew and forgotten, with keys entered now and then. Whatever happened, each line has its
 * words, and of those that say the same one counts.
 */
#include "store/copied.h"

#include "derived.h"
#include "store/keys.h"
#include "store/mirror.h"
#include "t.h"
#include "tree.h"

enum { SESSIONS = 5, UUIDS = 6, WORDS = 3, MOST_LINES = 12, LINE_BYTES = 10 };

/* A line: which uuid, and which of the words that it may have. The last of these are another content, too. */
struct said {
	int uuid, words;
};

struct model {
	struct t *t;
	struct store *s;
	uint64_t random;
	struct said lines[SESSIONS][MOST_LINES];
	int count[SESSIONS]; /* 0 = there is no such session */
};

static int pick(struct model *m, int below)
{
	m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (int)(m->random >> 33) % below;
}

static uint64_t content_of(const struct said *l)
{
	return (uint64_t)l->uuid * 2 + (l->words == WORDS - 1) + 1;
}

/* Two words, packed as the index takes them (base/words.h). */
static void pack(const struct said *l, char out[6])
{
	memcpy(out, "\2ua\2wa", 6);
	out[2] = (char)('a' + l->uuid);
	out[5] = (char)('a' + l->words);
}

static struct uuid uuid_of(int n)
{
	struct uuid u = { { 0 } };

	u.b[0] = (uint8_t)(n + 1);
	return u;
}

static void write_part(struct model *m, int session, int from, int to, int known)
{
	struct mirror_line lines[MOST_LINES];
	struct mirror_doc docs[MOST_LINES];
	char text[MOST_LINES][UUID_TEXT + 1], packed[MOST_LINES * 6];
	struct mirror_part p = { .source = session + 1,
				 .generation = session + 1,
				 .from = from * LINE_BYTES,
				 .to = to * LINE_BYTES,
				 .anew = from == 0,
				 .known_generation = known ? session + 1 : 0,
				 .known_to = known * LINE_BYTES,
				 .lines = lines,
				 .line_count = (size_t)(to - from),
				 .docs = docs,
				 .packed = { packed, (size_t)(to - from) * 6 } };
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct t *t = m->t;
	struct err err;

	p.session_id.b[0] = (uint8_t)(session + 1);
	for (int i = 0; i < to - from; i++) {
		const struct said *l = &m->lines[session][from + i];
		struct uuid uuid = uuid_of(l->uuid);

		uuid_print(&uuid, text[i]);
		pack(l, packed + i * 6);
		lines[i] = (struct mirror_line){ .offset = (from + i) * LINE_BYTES,
						 .length = LINE_BYTES - 1,
						 .type = 1,
						 .uuid = str_of(text[i]),
						 .key = uuid,
						 .is_uuid = true,
						 .content = content_of(l),
						 .first = (from + i) * LINE_BYTES,
						 .blocks = 1,
						 .docs = 1 };
		docs[i] = (struct mirror_doc){ .words = 2, .packed_at = (size_t)i * 6, .packed_n = 6 };
	}
	OK(txn_begin(m->s, &txn, &err));
	OK(mirror_add(m->s, &p, &err));
	OK(txn_commit(&txn, &err));
}

static void add_lines(struct model *m, int session, int from, int to)
{
	for (int i = from; i < to; i++)
		m->lines[session][i] = (struct said){ pick(m, UUIDS), pick(m, 4) ? 0 : pick(m, WORDS) };
	m->count[session] = to;
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
	int session = pick(m, SESSIONS), known = m->count[session], more = 1 + pick(m, 4);
	struct t *t = m->t;
	struct err err;

	switch (pick(m, 6)) {
	case 0:
	case 1:
		add_lines(m, session, 0, more);
		write_part(m, session, 0, more, known);
		break;
	case 2:
	case 3:
		if (!known || known + more > MOST_LINES)
			break;
		add_lines(m, session, known, known + more);
		write_part(m, session, known, known + more, 0);
		break;
	case 4:
		forget(m, session);
		break;
	default:
		OK(keys_complete(m->s, &err));
	}
}

/* What the index must have of a line, as derived_word() adds it up. */
static uint64_t sum_of(const struct said *l)
{
	char packed[6];
	uint64_t sum = 0;

	pack(l, packed);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t parts[2] = { hash64(packed + 3 * i + 1, 2), i };

		sum += hash64(parts, sizeof parts);
	}
	return sum;
}

static void check_line(struct model *m, const struct derived *d, int session, int n)
{
	char ask[256];
	int64_t doc;

	snprintf(ask, sizeof ask,
		 "SELECT e.doc FROM entry e JOIN mirror_session s ON s.id = e.session"
		 " WHERE s.source = %d AND e.offset = %d",
		 session + 1, n * LINE_BYTES);
	doc = tree_ask(m->s, ask);
	if (doc <= 0 || doc >= d->doc_count || d->docs[doc].sum != sum_of(&m->lines[session][n]))
		t_fail(m->t, __FILE__, __LINE__, "line %d of session %d has not got its words", n, session);
}

static void check(struct model *m)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct derived d = { .s = m->s, .out = &out, .reader = { .store = m->s } };
	struct t *t = m->t;
	struct err err;

	OK(keys_complete(m->s, &err));
	d.doc_count = derived_number(&d, "SELECT coalesce(max(id * 128 + used), 0) FROM doc_chunk");
	if (d.doc_count < 0)
		d.doc_count = 0;
	d.docs = calloc((size_t)d.doc_count + 1, sizeof *d.docs);
	OK(fulltext_each(m->s, derived_word, &d, &err));
	derived_copied(&d);
	for (int i = 0; i < SESSIONS; i++)
		for (int n = 0; n < m->count[i]; n++)
			check_line(m, &d, i, n);
	if (out.n)
		t_fail(t, __FILE__, __LINE__, "%.*s", (int)out.n, out.p);
	doc_reader_release(&d.reader);
	free(d.docs);
}

TEST(every_line_has_its_words_and_one_of_each_counts)
{
	enum { HISTORIES = 120, STEPS = 40 };

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
			if (i % 10 == 9)
				check(&m);
		}
		if (t->failures)
			t_fail(t, __FILE__, __LINE__, "history %d", history);
	}
}

TEST(words_are_in_the_index_once)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct model m = { .t = t };
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	m.s = s;
	for (int i = 0; i < SESSIONS; i++) {
		for (int n = 0; n < UUIDS; n++)
			m.lines[i][n] = (struct said){ n, 0 };
		m.count[i] = UUIDS;
		write_part(&m, i, 0, UUIDS, 0);
		if (i == 0 || i == 2)
			OK(keys_complete(s, &err));
	}
	check(&m);
	EQ(tree_ask(s, "SELECT count(*) FROM search_docsize"), UUIDS);
	EQ(tree_ask(s, "SELECT sum(docs) FROM copied WHERE original > 0"), (SESSIONS - 1) * UUIDS);
	for (int i = 0; i < SESSIONS; i++) {
		EQ(tree_ask(s, "SELECT count(*) FROM search_docsize"), UUIDS);
		forget(&m, i);
		check(&m);
	}
	EQ(tree_ask(s, "SELECT count(*) FROM search_docsize"), 0);
	EQ(tree_ask(s, "SELECT count(*) FROM copied"), 0);
}

TEST(documents_that_cannot_be_are_damage)
{
	static const struct doc_range ranges[] = { { 5, INT64_MAX }, { INT64_MAX - 2, 5 }, { -1, 1 }, { 5, -1 } };
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	for (size_t i = 0; i < COUNT(ranges); i++) {
		struct txn txn CLEANUP(txn_end) = { 0 };

		OK(txn_begin(s, &txn, &err));
		EQ(copied_remove(s, ranges[i].first, ranges[i].count, &err), STATUS_CORRUPT);
	}
}

TESTS(CASE(documents_that_cannot_be_are_damage), CASE(every_line_has_its_words_and_one_of_each_counts),
      CASE(words_are_in_the_index_once))
