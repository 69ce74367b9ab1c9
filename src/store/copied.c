/*
 * Copies, noted when keys are entered: that is when it shows that a line is there already. Those of lines that have
 * their keys by then are known when they are written, and their words never are.
 *
 * Whoever copies a conversation copies the lines from its beginning, so their documents mostly follow each other,
 * and what is kept are runs of them: a search loads a few rows. Keys come in no order, so runs grow at either end.
 *
 * Of lines that say the same the one that came first counts. Nobody sees which that was: of a hit it is said
 * in which sessions it stands, and which of them is shown is decided by what they say (query/search.c).
 *
 * Invariants, of lines that say the same and have their keys
 *   (1) one of them is in no run: it counts. Several do only where each has copies with the same words, which are not
 *       those of the others;
 *   (2) a document in a run has words of its own, or an original with the very same;
 *   (3) an original is in no run.
 *
 * So when one that counts goes, one of its copies takes its place: the documents stay with their words, and stand for
 * lines of the copy from then on. Where all have other words, one of these counts from then on.
 *
 * Lines that are no part of a conversation say the same only when they have the same words.
 */
#include "store/copied.h"

#include "store/borrowed.h"
#include "store/db.h"
#include "store/keys.h"
#include "store/session.h"

/* Of a run, unless a line has more, which has one by itself then. So whoever looks for those that the first document of
 * a line is in need not go back further. */
enum { MOST_DOCS = 64 };

enum {
	COPIED_LINE,
	COPIED_OTHERS,
	COPIED_KNOWN,
	COPIED_BELOW,
	COPIED_ADD,
	COPIED_GROW,
	COPIED_AT,
	COPIED_DROP,
	COPIED_FORGET,
	COPIED_OF,
	COPIED_WITH,
	COPIED_MOVED,
	COPIED_ANY,
	COPIED_RENAMED,
	COPIED_OWN,
	COPIED_LIST,
	COPIED_RUNS,
	COPIED_BEFORE,
	COPIED_COUNTING,
	COPIED_STATEMENTS
};

static const char *const sql[COPIED_STATEMENTS] = {
	[COPIED_LINE] = ("SELECT e.doc, e.docs, e.content IS NOT NULL FROM entry e JOIN mirror_session m"
			 " ON m.id = e.session AND m.old = 0 WHERE e.session = ?1 AND e.offset = ?2 AND e.doc > 0"),
	[COPIED_OTHERS] =
		("SELECT e.doc, e.docs, k.session FROM entry mine JOIN node_key k ON k.key = ?1 AND k.part = -1"
		 " AND (k.session, k.offset) <> (?2, ?3) JOIN mirror_session m ON m.id = k.session AND m.old = 0"
		 " JOIN entry e ON e.session = k.session AND e.offset = k.offset AND e.content IS mine.content"
		 " AND e.doc IS NOT NULL WHERE mine.session = ?2 AND mine.offset = ?3 ORDER BY k.session, k.offset"),
	[COPIED_KNOWN] =
		("SELECT e.doc FROM node_key k JOIN mirror_session m ON m.id = k.session AND m.old = 0"
		 " JOIN entry e ON e.session = k.session AND e.offset = k.offset AND e.content IS ?2 AND e.docs = ?3"
		 " WHERE k.key = ?1 AND k.part = -1 LIMIT 1"),
	[COPIED_BELOW] = "SELECT doc, docs, session, original FROM copied WHERE doc <= ?1 ORDER BY doc DESC LIMIT 1",
	[COPIED_ADD] = "INSERT INTO copied(doc, docs, session, original) VALUES (?1, ?2, ?3, ?4)",
	[COPIED_GROW] = "UPDATE copied SET docs = docs + ?2 WHERE doc = ?1",
	[COPIED_AT] = "SELECT docs FROM copied WHERE doc = ?1 AND session = ?2 AND original = ?3",
	[COPIED_DROP] = "DELETE FROM copied WHERE doc = ?1",
	[COPIED_FORGET] = "DELETE FROM copied WHERE session = ?1",
	/* Runs with originals from ?1 to ?2; with this one. */
	[COPIED_OF] = ("SELECT doc, docs, session, original FROM copied WHERE original > max(?1 - ?3, 0)"
		       " AND original < ?2 AND original + docs > ?1 ORDER BY original, doc LIMIT 1"),
	[COPIED_WITH] = ("SELECT 1 FROM copied WHERE original > max(?1 - ?2, 0) AND original <= ?1"
			 " AND original + docs > ?1 AND session <> ?3 ORDER BY original DESC LIMIT 1"),
	[COPIED_MOVED] = "UPDATE entry@own SET doc = ?3 WHERE session = ?1 AND offset = ?2",
	[COPIED_ANY] = "SELECT 1 FROM copied LIMIT 1",
	[COPIED_RENAMED] = ("SELECT 1 FROM kin WHERE session < other AND session NOT IN (SELECT session FROM copied)"
			    " AND other NOT IN (SELECT session FROM copied) LIMIT 1"),
	[COPIED_OWN] = "SELECT doc, docs FROM copied WHERE original = 0 ORDER BY doc",
	[COPIED_LIST] = "SELECT doc, docs FROM copied ORDER BY doc",
	[COPIED_RUNS] = "SELECT doc, docs, original FROM copied WHERE original > 0 ORDER BY original",
	[COPIED_BEFORE] =
		("SELECT k.session, k.offset, e.at FROM entry mine JOIN node_key k ON k.key = ?1 AND k.part = -1"
		 " AND (k.session, k.offset) < (?2, ?3) JOIN mirror_session m ON m.id = k.session AND m.old = 0"
		 " JOIN entry e ON e.session = k.session AND e.offset = k.offset AND e.content IS mine.content"
		 " WHERE mine.session = ?2 AND mine.offset = ?3"),
	[COPIED_COUNTING] =
		("SELECT k.session, k.offset, e.at FROM entry mine JOIN node_key k ON k.key = ?1 AND k.part = -1"
		 " AND (k.session, k.offset) > (?2, ?3) JOIN mirror_session m ON m.id = k.session AND m.old = 0"
		 " JOIN entry e ON e.session = k.session AND e.offset = k.offset AND e.content IS mine.content"
		 " WHERE mine.session = ?2 AND mine.offset = ?3 AND e.doc >= coalesce((SELECT c.doc + c.docs"
		 " FROM copied c WHERE c.doc <= e.doc ORDER BY c.doc DESC LIMIT 1), 0) LIMIT 1"),
};

const struct db_set copied_statements = { DB_COPIED, sql, COPIED_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &copied_statements, index, st, err);
}

/* ---- Runs -------------------------------------------------------------------- */

struct run {
	int64_t doc, docs, session, original;
};

static int64_t end_of(const struct run *r)
{
	return r->doc + r->docs;
}

static enum status change(struct store *s, int index, const struct run *r, struct err *err)
{
	STMT st = { 0 };

	if (use(s, index, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, r->doc);
	if (index != COPIED_DROP)
		stmt_int(&st, 2, r->docs);
	if (index == COPIED_ADD) {
		stmt_int(&st, 3, r->session);
		stmt_int(&st, 4, r->original);
	}
	return stmt_run(&st, err);
}

/* A row with four numbers; docs 0 = there is none. */
static enum status take_run(struct stmt *st, struct run *out, struct err *err)
{
	enum step step = stmt_step(st, err);

	*out = (struct run){ 0 };
	if (step == STEP_ROW)
		*out = (struct run){ col_int(st, 0), col_int(st, 1), col_int(st, 2), col_int(st, 3) };
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* The last that does not begin behind a document; docs 0 = there is none. */
static enum status run_below(struct store *s, int64_t doc, struct run *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, COPIED_BELOW, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, doc);
	return take_run(&st, out, err);
}

/* The one that a document is in. */
static enum status run_with(struct store *s, int64_t doc, struct run *out, struct err *err)
{
	if (run_below(s, doc, out, err))
		return err_failed(err->status);
	if (doc >= end_of(out))
		*out = (struct run){ 0 };
	return STATUS_OK;
}

/* The first of those that have originals among some documents; docs 0 = there is none. */
static enum status run_of(struct store *s, int64_t first, int64_t end, struct run *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, COPIED_OF, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, first);
	stmt_int(&st, 2, end);
	stmt_int(&st, 3, MOST_DOCS);
	return take_run(&st, out, err);
}

/* Whether a document has the words of others, leaving out those of a session; 0 = of none. */
static enum status is_original(struct store *s, int64_t doc, int64_t without, bool *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, COPIED_WITH, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, doc);
	stmt_int(&st, 2, MOST_DOCS);
	stmt_int(&st, 3, without);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* Where the words of a document behind a run would be, if it were in it. */
static int64_t original_behind(const struct run *r)
{
	return r->original ? r->original + r->docs : 0;
}

/* The run that begins where this one ends is taken up by it. */
static enum status join_next(struct store *s, struct run *r, struct err *err)
{
	struct run next = { .doc = end_of(r), .session = r->session, .original = original_behind(r) };
	enum step step;
	STMT st = { 0 };

	if (use(s, COPIED_AT, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, next.doc);
	stmt_int(&st, 2, next.session);
	stmt_int(&st, 3, next.original);
	step = stmt_step(&st, err);
	if (step != STEP_ROW)
		return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
	next.docs = col_int(&st, 0);
	stmt_done(&st);
	if (r->docs + next.docs > MOST_DOCS)
		return STATUS_OK;
	r->docs += next.docs;
	return change(s, COPIED_DROP, &next, err);
}

/* Of documents that are in none. */
static enum status add_run(struct store *s, struct run r, struct err *err)
{
	struct run below;

	if (run_below(s, r.doc, &below, err) || join_next(s, &r, err))
		return err_failed(err->status);
	if (below.docs && below.session == r.session && r.doc == end_of(&below) &&
	    r.original == original_behind(&below) && below.docs + r.docs <= MOST_DOCS)
		return change(s, COPIED_GROW, &(struct run){ .doc = below.doc, .docs = r.docs }, err);
	return change(s, COPIED_ADD, &r, err);
}

/* Without the documents whose originals are [from, to). */
static enum status cut_run(struct store *s, const struct run *r, int64_t from, int64_t to, struct err *err)
{
	struct run front = *r, rest = *r;

	front.docs = from - r->original;
	rest.docs = r->original + r->docs - to;
	rest.original = to;
	rest.doc = end_of(r) - rest.docs;
	if (change(s, COPIED_DROP, r, err) || (front.docs && change(s, COPIED_ADD, &front, err)))
		return err_failed(err->status);
	return rest.docs ? change(s, COPIED_ADD, &rest, err) : STATUS_OK;
}

/* ---- Lines ------------------------------------------------------------------- */

/* Documents of a line. */
struct line_docs {
	int64_t doc, docs; /* docs 0 = it has none */
	bool is_said;	   /* it is a part of a conversation */
};

static enum status docs_of(struct store *s, const struct copied_line *line, struct line_docs *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	*out = (struct line_docs){ 0 };
	if (use(s, COPIED_LINE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, line->session);
	stmt_int(&st, 2, line->offset);
	step = stmt_step(&st, err);
	if (step == STEP_ROW)
		*out = (struct line_docs){ col_int(&st, 0), col_int(&st, 1), col_int(&st, 2) };
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* Of a document that is not there, which no line should have, *there says so: it is a copy of nothing. */
static enum status mark_of(struct doc_reader *docs, int64_t sequence, struct doc_mark *out, bool *there,
			   struct err *err)
{
	struct doc doc = { 0 };
	int64_t id = 0;
	enum status status = doc_get(docs, sequence, &doc, &id, err);

	*there = status == STATUS_OK;
	*out = (struct doc_mark){ doc_code(id), doc.sum };
	return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status copied_is_same(struct doc_reader *docs, struct doc_mark mark, int64_t original, bool *out, struct err *err)
{
	struct doc_mark other;
	bool there;

	if (mark_of(docs, original, &other, &there, err))
		return err_failed(err->status);
	*out = there && other.sum == mark.sum && other.code == mark.code;
	return STATUS_OK;
}

/* Whether documents have the same words, and are ranked as the same. */
static enum status are_same(struct doc_reader *docs, const struct line_docs *a, int64_t b, bool *out, struct err *err)
{
	*out = true;
	for (int64_t i = 0; *out && i < a->docs; i++) {
		struct doc_mark mark;

		if (mark_of(docs, a->doc + i, &mark, out, err) ||
		    (*out && copied_is_same(docs, mark, b + i, out, err)))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* What a line may be a copy of. */
struct search_for_original {
	struct store *s;
	struct doc_reader *docs;
	struct line_docs mine;
	bool counts;	  /* there is one that counts */
	struct run other; /* the documents of one that does, and has other words; docs 0 = not met */
	int64_t original; /* first document of one that has the words; 0 = none has the same */
};

/* Where the words of a document are that counts, or of which one does; 0 = it has its own, and does not count. */
static enum status words_of(struct store *s, int64_t doc, int64_t *out, struct err *err)
{
	struct run run;

	if (run_with(s, doc, &run, err))
		return err_failed(err->status);
	*out = !run.docs ? doc : run.original ? run.original + (doc - run.doc) : 0;
	return STATUS_OK;
}

static enum status look_at(struct search_for_original *y, const struct line_docs *other, int64_t session,
			   struct err *err)
{
	int64_t original;
	bool same;

	if (words_of(y->s, other->doc, &original, err))
		return err_failed(err->status);
	if (!original || original == y->mine.doc) /* its own copy says nothing of others */
		return STATUS_OK;
	y->counts |= y->mine.is_said;
	if (original == other->doc)
		y->other = (struct run){ other->doc, other->docs, session, 0 };
	if (other->docs != y->mine.docs)
		return STATUS_OK;
	if (are_same(y->docs, &y->mine, original, &same, err))
		return err_failed(err->status);
	if (same)
		y->original = original;
	y->counts |= same;
	return STATUS_OK;
}

static enum status use_for(struct store *s, int index, const struct copied_line *line, struct stmt *st,
			   struct err *err)
{
	if (use(s, index, st, err))
		return err_failed(err->status);
	stmt_int(st, 1, line->key);
	stmt_int(st, 2, line->session);
	stmt_int(st, 3, line->offset);
	return STATUS_OK;
}

static enum status find_original(struct search_for_original *y, const struct copied_line *line, struct err *err)
{
	enum step step = STEP_DONE;
	STMT st = { 0 };

	if (use_for(y->s, COPIED_OTHERS, line, &st, err))
		return err_failed(err->status);
	while (!y->original && (step = stmt_step(&st, err)) == STEP_ROW) {
		struct line_docs other = { .doc = col_int(&st, 0), .docs = col_int(&st, 1) };

		if (look_at(y, &other, col_int(&st, 2), err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status drop_words(struct store *s, struct doc_reader *docs, const struct line_docs *line, struct err *err)
{
	for (int64_t i = 0; i < line->docs; i++) {
		struct doc doc;
		int64_t id;

		if (doc_get(docs, line->doc + i, &doc, &id, err) || doc_drop_words(s, id, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* What is known of a line so far; copies in one session may be left out. */
static enum status look_at_line(struct store *s, const struct copied_line *line, int64_t without,
				struct line_docs *out, bool *is_copy, bool *has_copies, struct err *err)
{
	struct run run;

	*is_copy = *has_copies = false;
	if (docs_of(s, line, out, err))
		return err_failed(err->status);
	if (!out->docs)
		return STATUS_OK;
	if (run_with(s, out->doc, &run, err) || is_original(s, out->doc, without, has_copies, err))
		return err_failed(err->status);
	*is_copy = run.docs != 0;
	return STATUS_OK;
}

/* Those that have their words of one line have them of another from now on. */
static enum status move_copies(struct store *s, const struct line_docs *line, int64_t to, struct err *err)
{
	for (;;) {
		int64_t from, end;
		struct run r, moved;

		if (run_of(s, line->doc, line->doc + line->docs, &r, err))
			return err_failed(err->status);
		if (!r.docs)
			return STATUS_OK;
		from = r.original > line->doc ? r.original : line->doc;
		end = original_behind(&r) < line->doc + line->docs ? original_behind(&r) : line->doc + line->docs;
		moved = (struct run){ r.doc + (from - r.original), end - from, r.session, to + (from - line->doc) };
		if (cut_run(s, &r, from, end, err) || add_run(s, moved, err))
			return err_failed(err->status);
	}
}

/* One that has copies and other words than one that counts, too: that one steps back, unless it has copies, too. */
static enum status step_back(const struct search_for_original *y, struct err *err)
{
	bool has_copies;

	if (!y->other.docs)
		return STATUS_OK;
	if (is_original(y->s, y->other.doc, 0, &has_copies, err))
		return err_failed(err->status);
	return has_copies ? STATUS_OK : add_run(y->s, y->other, err);
}

enum status copied_note(struct store *s, struct doc_reader *docs, const struct copied_line *line, bool *dropped,
			struct err *err)
{
	struct search_for_original y = { .s = s, .docs = docs };
	bool is_copy, has_copies;

	*dropped = false;
	if (look_at_line(s, line, 0, &y.mine, &is_copy, &has_copies, err))
		return err_failed(err->status);
	if (!y.mine.docs || is_copy)
		return STATUS_OK;
	if (find_original(&y, line, err))
		return err_failed(err->status);
	if (!y.counts)
		return STATUS_OK;
	if (has_copies && !y.original)
		return step_back(&y, err);
	*dropped = y.original != 0;
	if (*dropped && (move_copies(s, &y.mine, y.original, err) || drop_words(s, docs, &y.mine, err)))
		return err_failed(err->status);
	return add_run(s, (struct run){ y.mine.doc, y.mine.docs, line->session, y.original }, err);
}

enum status copied_find(struct store *s, int64_t key, uint64_t content, size_t docs, int64_t *out, struct err *err)
{
	int64_t doc;
	enum step step;
	STMT st = { 0 };

	*out = 0;
	if (use(s, COPIED_KNOWN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key);
	stmt_int_or_null(&st, 2, (int64_t)content, content == 0);
	stmt_int(&st, 3, (int64_t)docs);
	step = stmt_step(&st, err);
	if (step != STEP_ROW)
		return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
	doc = col_int(&st, 0);
	stmt_done(&st);
	return words_of(s, doc, out, err);
}

enum status copied_add(struct store *s, int64_t session, const struct doc_range *docs, int64_t original,
		       struct err *err)
{
	return add_run(s, (struct run){ docs->first, docs->count, session, original }, err);
}

/* Takes documents out of the runs they are in. */
static enum status free_docs(struct store *s, int64_t first, int64_t end, struct err *err)
{
	for (;;) {
		struct run r, front, rest;

		if (run_below(s, end - 1, &r, err))
			return err_failed(err->status);
		if (end_of(&r) <= first)
			return STATUS_OK;
		front = rest = r;
		front.docs = r.doc < first ? first - r.doc : 0;
		rest.docs = end_of(&r) > end ? end_of(&r) - end : 0;
		rest.doc = end;
		rest.original += r.original ? end - r.doc : 0;
		if (change(s, COPIED_DROP, &r, err) || (front.docs && change(s, COPIED_ADD, &front, err)) ||
		    (rest.docs && change(s, COPIED_ADD, &rest, err)))
			return err_failed(err->status);
	}
}

/* One of the others counts from now on, in another session: they have words of their own. None if one does already:
 * that of a line which has not got its key yet. */
static enum status choose_another(struct store *s, const struct copied_line *line, struct err *err)
{
	struct line_docs chosen = { 0 };
	enum step step;
	STMT st = { 0 };

	if (use_for(s, COPIED_OTHERS, line, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct line_docs other = { .doc = col_int(&st, 0), .docs = col_int(&st, 1) };
		int64_t counts;

		if (col_int(&st, 2) == line->session)
			continue;
		if (words_of(s, other.doc, &counts, err))
			return err_failed(err->status);
		if (counts)
			return STATUS_OK;
		if (!chosen.docs)
			chosen = other;
	}
	if (step == STEP_FAILED)
		return err_failed(err->status);
	return chosen.docs ? free_docs(s, chosen.doc, chosen.doc + chosen.docs, err) : STATUS_OK;
}

enum status copied_leave(struct store *s, const struct copied_line *line, struct err *err)
{
	struct line_docs mine;
	bool is_copy, has_copies;

	if (look_at_line(s, line, line->session, &mine, &is_copy, &has_copies, err))
		return err_failed(err->status);
	return mine.docs && mine.is_said && !is_copy && !has_copies ? choose_another(s, line, err) : STATUS_OK;
}

enum status copied_forget(struct store *s, int64_t session, struct err *err)
{
	return stmt_run_with(s, &copied_statements, COPIED_FORGET, session, err);
}

/* ---- Taking the place of one that goes ----------------------------------------- */

struct moving {
	struct store *s;
	int64_t session, offset; /* of the line in hand */
};

/* A line is told of the first of its documents. */
static enum status tell_line(void *ctx, int64_t sequence, const struct doc *doc, struct err *err)
{
	struct moving *m = ctx;
	STMT st = { 0 };

	if (m->session == doc->session && m->offset == doc->offset)
		return STATUS_OK;
	m->session = doc->session;
	m->offset = doc->offset;
	if (borrowed_end(m->s, doc->session, doc->offset, err) || use(m->s, COPIED_MOVED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, doc->session);
	stmt_int(&st, 2, doc->offset);
	stmt_int(&st, 3, sequence);
	return stmt_run_one(&st, "a line of a copy", err);
}

/* The documents [from, to) stand for those of the run. Other runs that have their words from them go on doing so. */
static enum status hand_over(struct store *s, const struct run *r, int64_t from, int64_t to, struct err *err)
{
	struct moving m = { .s = s };

	if (cut_run(s, r, from, to, err))
		return err_failed(err->status);
	return doc_move(s, r->doc + (from - r->original), from, to - from, tell_line, &m, err);
}

enum status copied_remove(struct store *s, int64_t first, int64_t count, struct err *err)
{
	int64_t end;

	/* Numbers from a damaged row, which doc_remove() tells of. */
	if (first < 0 || count <= 0 || count > INT64_MAX / 2 - first)
		return doc_remove(s, first, count, err);
	end = first + count;
	if (free_docs(s, first, end, err))
		return err_failed(err->status);
	while (first < end) {
		int64_t from, to;
		struct run r;

		if (run_of(s, first, end, &r, err))
			return err_failed(err->status);
		if (!r.docs)
			return doc_remove(s, first, end - first, err);
		from = r.original > first ? r.original : first;
		to = original_behind(&r) < end ? original_behind(&r) : end;
		if (doc_remove(s, first, from - first, err) || hand_over(s, &r, from, to, err))
			return err_failed(err->status);
		first = to;
	}
	return STATUS_OK;
}

/* ---- Asking ------------------------------------------------------------------ */

static enum status is_there(struct store *s, int index, bool *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, index, &st, err))
		return err_failed(err->status);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status copied_any(struct store *s, bool *out, struct err *err)
{
	return is_there(s, COPIED_ANY, out, err);
}

enum status copied_renamed(struct store *s, bool *out, struct err *err)
{
	return is_there(s, COPIED_RENAMED, out, err);
}

enum status copied_load(struct store *s, bool all, struct arena *mem, struct doc_range **out, size_t *count,
			struct err *err)
{
	STMT st = { 0 };

	return use(s, all ? COPIED_LIST : COPIED_OWN, &st, err) ? err_failed(err->status)
								: doc_ranges(&st, mem, out, count, err);
}

enum status copied_runs(struct store *s, struct arena *mem, struct copied_run **out, size_t *count, struct err *err)
{
	size_t cap = 0;
	enum step step;
	STMT st = { 0 };

	*out = NULL;
	*count = 0;
	if (use(s, COPIED_RUNS, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (*count == cap) {
			struct copied_run *more = arena_alloc(mem, (cap = cap ? 2 * cap : 64) * sizeof *more);

			for (size_t i = 0; i < *count; i++)
				more[i] = (*out)[i];
			*out = more;
		}
		(*out)[(*count)++] = (struct copied_run){ col_int(&st, 0), col_int(&st, 1), col_int(&st, 2) };
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static enum status give_each(struct stmt *st, uint16_t block, copied_fn *fn, void *ctx, bool *go_on, struct err *err)
{
	enum step step = STEP_DONE;

	while (*go_on && (step = stmt_step(st, err)) == STEP_ROW) {
		struct doc before = { .session = col_int(st, 0), .offset = col_int(st, 1), .at = col_int(st, 2),
				      .block = block };

		if (fn(ctx, &before, go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* The one that counts: known where it has the words, else looked for among those that do not stand before. */
static enum status give_counting(struct store *s, struct doc_reader *docs, int64_t sequence,
				 const struct copied_line *line, uint16_t block, copied_fn *fn, void *ctx, bool *go_on,
				 struct err *err)
{
	struct doc doc;
	struct run run;
	int64_t id;
	STMT st = { 0 };

	if (run_with(s, sequence, &run, err))
		return err_failed(err->status);
	if (!run.original)
		return use_for(s, COPIED_COUNTING, line, &st, err) ? err_failed(err->status)
								   : give_each(&st, block, fn, ctx, go_on, err);
	if (doc_get(docs, run.original + (sequence - run.doc), &doc, &id, err))
		return err_failed(err->status);
	return fn(ctx, &doc, go_on, err);
}

enum status copied_before(struct store *s, struct doc_reader *docs, int64_t sequence, const struct doc *doc,
			  copied_fn *fn, void *ctx, bool *to_the_end, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct copied_line line = { .session = doc->session, .offset = doc->offset };
	struct node_name name;
	struct node node;
	struct uuid id;
	STMT st = { 0 };

	*to_the_end = true;
	if (entry_get(s, doc->session, doc->offset, &mem, &node, &name, err))
		return err_failed(err->status);
	id = node_id(&name, PART_LINE);
	line.key = key_of(&id);
	if (give_counting(s, docs, sequence, &line, doc->block, fn, ctx, to_the_end, err) ||
	    use_for(s, COPIED_BEFORE, &line, &st, err))
		return err_failed(err->status);
	return give_each(&st, doc->block, fn, ctx, to_the_end, err);
}
