/*
 * Rows of texts beside the conversations: what is refused, and what a part leaves behind.
 */
#include "store/paper.h"

#include "base/words.h"
#include "store/fulltext.h"
#include "t.h"
#include "tree.h"

enum { KIND = 7 };

static enum status add(struct store *s, const struct paper_part *p, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	enum status status = txn_begin(s, &txn, err);

	if (status == STATUS_OK)
		status = paper_add(s, p, err);
	/* What was refused must have changed nothing, so it may be committed. */
	if (status == STATUS_OK || status == STATUS_CONFLICT) {
		struct err ignored;

		if (txn_commit(&txn, &ignored))
			return ignored.status;
	}
	return status;
}

/* A text of one document with these words. */
struct made {
	struct buf packed;
	struct mirror_doc doc;
	struct paper_new text;
};

static struct paper_part part_of(struct made *m, const char *words, int64_t from, int64_t to)
{
	buf_init(&m->packed, MIB);
	m->doc = (struct mirror_doc){ .words = (uint32_t)words_pack(&m->packed, str_of(words)), .place = 5 };
	m->doc.packed_n = m->packed.n;
	m->text = (struct paper_new){ .offset = from, .length = to - from, .docs = 1 };
	return (struct paper_part){ .source = 1,
				    .generation = 3,
				    .kind = KIND,
				    .from = from,
				    .to = to,
				    .anew = from == 0,
				    .texts = &m->text,
				    .count = 1,
				    .docs = &m->doc,
				    .packed = buf_as_str(&m->packed) };
}

static void check_state(struct t *t, struct store *s, int64_t generation, int64_t read_to, int64_t texts,
			int64_t docs)
{
	EQ(tree_ask(s, "SELECT coalesce(max(generation), 0) FROM paper"), generation);
	EQ(tree_ask(s, "SELECT coalesce(max(read_to), 0) FROM paper"), read_to);
	EQ(tree_ask(s, "SELECT count(*) FROM paper_text"), texts);
	EQ(tree_ask(s, "SELECT count(*) FROM search_docsize"), docs);
}

TEST(a_part_goes_on_where_the_last_one_ended)
{
	struct made a, b;
	struct paper_part p = part_of(&a, "one", 0, 10), q = part_of(&b, "two", 10, 20);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	EQ(add(s, &q, &err), STATUS_CONFLICT);
	check_state(t, s, 0, 0, 0, 0);
	OK(add(s, &p, &err));
	check_state(t, s, 3, 10, 1, 1);
	EQ(add(s, &p, &err), STATUS_CONFLICT); /* somebody has read it already */
	OK(add(s, &q, &err));
	EQ(add(s, &q, &err), STATUS_CONFLICT);
	check_state(t, s, 3, 20, 2, 2);
	buf_release(&a.packed);
	buf_release(&b.packed);
}

TEST(what_is_read_anew_replaces_what_was_there)
{
	struct made a, b;
	struct paper_part p = part_of(&a, "one", 0, 10), q = part_of(&b, "two", 0, 12);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, &p, &err));
	q.generation = 4;
	EQ(add(s, &q, &err), STATUS_CONFLICT); /* it was planned for a source of which nothing was read */
	q.known_generation = 3;
	q.known_to = 9;
	EQ(add(s, &q, &err), STATUS_CONFLICT);
	q.known_to = 10;
	OK(add(s, &q, &err));
	check_state(t, s, 4, 12, 1, 1);
	EQ(tree_ask(s, "SELECT count(*) FROM search WHERE search MATCH 'one'"), 0);
	EQ(tree_ask(s, "SELECT count(*) FROM search WHERE search MATCH 'two'"), 1);
	buf_release(&a.packed);
	buf_release(&b.packed);
}

TEST(what_is_forgotten_leaves_nothing)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct made a;
	struct paper_part p = part_of(&a, "one", 0, 10);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, &p, &err));
	OK(txn_begin(s, &txn, &err));
	OK(paper_forget(s, 1, &err));
	OK(paper_forget(s, 1, &err));
	OK(paper_forget(s, 2, &err));
	OK(txn_commit(&txn, &err));
	check_state(t, s, 0, 0, 0, 0);
	buf_release(&a.packed);
}

TEST(a_row_is_the_number_of_its_first_document)
{
	enum { COUNT_OF = 1500 }; /* over the end of a chunk */
	static struct paper_new texts[COUNT_OF];
	static struct mirror_doc docs[COUNT_OF + COUNT_OF / 2];
	struct made a;
	struct paper_part p = part_of(&a, "one", 0, 10);
	struct store *s CLEANUP(store_closep) = NULL;
	struct doc_reader reader CLEANUP(doc_reader_release) = { 0 };
	struct err err;

	for (size_t i = 0; i < COUNT(docs); i++)
		docs[i] = a.doc;
	for (size_t i = 0; i < COUNT_OF; i++)
		texts[i] = (struct paper_new){ .offset = (int64_t)i, .docs = 1 + i % 2 };
	p.texts = texts;
	p.count = COUNT_OF;
	p.docs = docs;
	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, &p, &err));
	check_state(t, s, 3, 10, COUNT_OF, (int64_t)COUNT(docs));
	reader.store = s;
	for (int64_t sequence = 1; sequence <= (int64_t)COUNT(docs); sequence++) {
		struct doc doc;
		int64_t id;

		OK(doc_get(&reader, sequence, &doc, &id, &err));
		NEED(doc.session == DOC_PAPERS && (doc.offset == sequence || doc.offset == sequence - 1));
	}
	EQ(tree_ask(s, "SELECT count(*) FROM paper_text t WHERE EXISTS (SELECT 1 FROM paper_text u"
		       " WHERE u.doc = t.doc + t.docs)"),
	   COUNT_OF - 1);
	buf_release(&a.packed);
}

TEST(what_was_typed_is_told_where_its_session_is_here)
{
	enum { LINES = 6 };
	static const char here[] = "11111111-0000-4000-8000-000000000000",
			  agent[] = "22222222-0000-4000-8000-000000000000",
			  gone[] = "33333333-0000-4000-8000-000000000000";
	/* Whose each line is; the fourth is nobody's, the last belongs to the session and was not typed
	 * there. */
	static const char *const sessions[LINES] = { here, here, gone, NULL, agent, here };
	struct paper_new texts[LINES];
	struct mirror_doc docs[LINES + 1];
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct made a;
	struct paper_part p = part_of(&a, "one", 0, 10);
	struct store *s CLEANUP(store_closep) = NULL;
	struct doc_range *told;
	size_t count;
	struct err err;

	for (size_t i = 0; i < COUNT(docs); i++)
		docs[i] = a.doc;
	for (size_t i = 0; i < LINES; i++) {
		texts[i] = (struct paper_new){ .offset = (int64_t)i,
					       .docs = 1 + (i == 1),
					       .typed = i < LINES - 1 };
		texts[i].has_session = sessions[i] && uuid_parse(str_of(sessions[i]), &texts[i].session);
		texts[i].typed &= texts[i].has_session;
	}
	p.texts = texts;
	p.count = LINES;
	p.docs = docs;
	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	OK(add(s, &p, &err));
	OK(paper_told(s, &mem, &told, &count, &err));
	EQ(count, 0);
	OK(db_exec(
		s,
		"INSERT INTO mirror_session(session_id, source, generation, read_to, reading, agent) VALUES"
		" (x'11111111000040008000000000000000', 7, 7, 0, 0, NULL),"
		" (x'22222222000040008000000000000000', 8, 8, 0, 0, 'a')",
		&err));
	OK(paper_told(s, &mem, &told, &count, &err));
	EQ(count, 1);
	NEED(count == 1);
	EQ(told[0].first, 1);
	EQ(told[0].count, 3);
	buf_release(&a.packed);
}

TEST(a_text_that_is_not_there_is_told)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct store *s CLEANUP(store_closep) = NULL;
	struct paper p;
	struct err err;

	OK(tree_store(t_tmpdir(t), "s", NULL, NULL, &s, &err));
	EQ(paper_get(s, 1, &mem, &p, &err), STATUS_NOT_FOUND);
}

TESTS(CASE(a_part_goes_on_where_the_last_one_ended), CASE(what_is_read_anew_replaces_what_was_there),
      CASE(what_is_forgotten_leaves_nothing), CASE(a_row_is_the_number_of_its_first_document),
      CASE(what_was_typed_is_told_where_its_session_is_here), CASE(a_text_that_is_not_there_is_told))
