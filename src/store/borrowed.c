/*
 * Borrowing rows, and giving that up.
 *
 * Lines are looked at in their order: is there another session, one with a smaller number, that has this line and is
 * stored with it? If so, and if the lines after it follow in the other in the same way, all of them become a run, and
 * their rows go. That is when they are written, and for those whose lender had no keys by then, when the keys of a
 * session have been entered.
 *
 * Invariants
 *   (1) A lender's rows are stored: nobody borrows what is borrowed, and who lends does not begin to borrow.
 *   (2) Who lends has a smaller number than who borrows. So of all sessions that have a key, the smallest has it
 *       stored.
 *   (3) The rows of a run, moved, are those that it stands for; and so are their keys, which follow from the rows.
 *   (4) Only newest versions of files lend and borrow.
 *
 * Whoever changes or removes a row first has it written out (borrowed_end()), where it is borrowed and wherever it is
 * lent: once, for the smallest who borrows it, and the others borrow it of that one then. Lines that come behind change
 * nothing: they have rows of their own.
 *
 * What was gathered of a session while its rows were stored does not hold any more when they are not, and the
 * other way round. Its `reading` is another one then, as when it is read anew (store/keys.c).
 */
#include "store/borrowed_inner.h"

#include "store/db.h"
#include "store/keys.h"

#include <string.h>

enum {
	BORROWED_HAS_KIN,
	BORROWED_LENDS,
	BORROWED_KEYED,
	BORROWED_MINE,
	BORROWED_THEIRS,
	BORROWED_HOLDER,
	BORROWED_COST,
	BORROWED_BETWEEN,
	BORROWED_ADD,
	BORROWED_DROP,
	BORROWED_GIVE_UP,
	BORROWED_GIVE_UP_COST,
	BORROWED_CHANGED,
	BORROWED_ANY,
	BORROWED_OVER,
	BORROWED_FROM,
	BORROWED_ALL_OF,
	BORROWED_ALL_FROM,
	BORROWED_PARENT,
	BORROWED_HAND_OVER,
	BORROWED_ROWS,
	BORROWED_COSTS,
	BORROWED_WRITE,
	BORROWED_WRITE_COST,
	BORROWED_STATEMENTS
};

#define LINES_FROM "SELECT * FROM entry@own WHERE session = ?1 AND offset >= ?2 AND offset < ?3 ORDER BY offset"

static const char *const sql[BORROWED_STATEMENTS] = {
	[BORROWED_HAS_KIN] = "SELECT 1 FROM kin WHERE session = ?1 AND other < ?1 LIMIT 1",
	[BORROWED_LENDS] = "SELECT 1 FROM borrowed WHERE lender = ?1 LIMIT 1",
	[BORROWED_KEYED] = "SELECT keyed_to FROM mirror_session WHERE id = ?1 AND old = 0",
	[BORROWED_MINE] = (LINES_FROM " LIMIT ?4"),
	[BORROWED_THEIRS] = LINES_FROM,
	[BORROWED_HOLDER] = ("SELECT k.session, k.offset, m.keyed_to FROM node_key@own k JOIN mirror_session m"
			     " ON m.id = k.session AND m.old = 0 WHERE k.key = ?1 AND k.session < ?2 AND k.part = -1"
			     " ORDER BY k.session LIMIT 1"),
	[BORROWED_COST] = "SELECT model, told FROM usage@own WHERE session = ?1 AND first = ?2",
	[BORROWED_BETWEEN] = "SELECT 1 FROM borrowed WHERE session = ?1 AND offset > ?2 AND offset < ?3 LIMIT 1",
	[BORROWED_ADD] = ("INSERT INTO borrowed(session, offset, until, lender, at, docs, parent)"
			  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
	[BORROWED_DROP] = "DELETE FROM borrowed WHERE session = ?1 AND offset = ?2",
	[BORROWED_GIVE_UP] = "DELETE FROM entry@own WHERE session = ?1 AND offset >= ?2 AND offset < ?3",
	[BORROWED_GIVE_UP_COST] = "DELETE FROM usage@own WHERE session = ?1 AND first >= ?2 AND first < ?3",
	[BORROWED_CHANGED] = "UPDATE mirror_session SET reading = random() WHERE id = ?1",
	[BORROWED_ANY] = ("SELECT EXISTS (SELECT 1 FROM borrowed WHERE session = ?1)"
			  " OR EXISTS (SELECT 1 FROM borrowed WHERE lender = ?1)"),
	[BORROWED_OVER] = (INNER_RUNS " WHERE session = ?1 AND offset <= ?2 ORDER BY offset DESC LIMIT 1"),
	[BORROWED_FROM] = (INNER_RUNS " WHERE lender = ?1 AND at > ?2 - ?3 AND at <= ?2 AND at + until - offset > ?2"
			   " ORDER BY session, offset LIMIT 1"),
	[BORROWED_ALL_OF] = (INNER_RUNS " WHERE session = ?1 LIMIT 1"),
	[BORROWED_ALL_FROM] = (INNER_RUNS " WHERE lender = ?1 ORDER BY session, offset LIMIT 1"),
	[BORROWED_PARENT] = "SELECT parent FROM entry@own WHERE session = ?1 AND offset = ?2",
	/* ?1 what a run was lent by, ?2 its borrower, ?3 and ?4 from where to where in the lender, ?5 and ?6 how far it
	 * was moved, its documents too; ?7 what its first line follows in the lender, where in the borrower it follows
	 * another. */
	[BORROWED_HAND_OVER] =
		("UPDATE borrowed SET lender = ?2, at = at + ?5, docs = docs - ?6,"
		 " parent = CASE WHEN at = ?3 AND parent IS NULL THEN ?7 + offset - at ELSE parent END"
		 " WHERE lender = ?1 AND at >= ?3 AND at + until - offset <= ?4 AND session > ?2"),
	[BORROWED_ROWS] = LINES_FROM,
	[BORROWED_COSTS] = ("SELECT first, model, told FROM usage@own WHERE session = ?1 AND first >= ?2 AND first < ?3"
			    " ORDER BY first"),
	[BORROWED_WRITE] = ("INSERT INTO entry@own VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
			    " ?14, ?15, ?16, ?17, ?18, ?19, ?20)"),
	[BORROWED_WRITE_COST] = "INSERT INTO usage@own(session, first, model, told) VALUES (?1, ?2, ?3, ?4)",
};

const struct db_set borrowed_statements = { DB_BORROWED, sql, BORROWED_STATEMENTS };

enum {
	/* Lines of a run, at least: shorter ones take less room as rows, nearly, and less time. */
	FEW_LINES = 4,
	/* Looked at in one transaction. */
	MOST_LINES = 256,
};

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &borrowed_statements, index, st, err);
}

/* A statement with up to three numbers. */
static enum status use_with(struct store *s, int index, int64_t a, int64_t b, int64_t c, struct stmt *st,
			    struct err *err)
{
	int64_t numbers[] = { a, b, c };

	if (use(s, index, st, err))
		return err_failed(err->status);
	for (int i = 0; i < 3 && i < sqlite3_bind_parameter_count(st->st); i++)
		stmt_int(st, i + 1, numbers[i]);
	return STATUS_OK;
}

static enum status run_with(struct store *s, int index, int64_t a, int64_t b, int64_t c, struct err *err)
{
	STMT st = { 0 };

	return use_with(s, index, a, b, c, &st, err) ? err_failed(err->status) : stmt_run(&st, err);
}

static enum status is_there(struct store *s, int index, int64_t session, bool *out, struct err *err)
{
	STMT st = { 0 };

	return use_with(s, index, session, 0, 0, &st, err) ? err_failed(err->status) : stmt_found(&st, out, err);
}

static enum status take_run(struct stmt *st, struct borrowed_run *out, bool *found, struct err *err)
{
	if (stmt_found(st, found, err))
		return err_failed(err->status);
	if (*found)
		*out = inner_run(st->st);
	return STATUS_OK;
}

static enum status find_run(struct store *s, int index, int64_t session, int64_t offset, struct borrowed_run *out,
			    bool *found, struct err *err)
{
	STMT st = { 0 };

	return use_with(s, index, session, offset, BORROWED_BYTES, &st, err) ? err_failed(err->status)
									     : take_run(&st, out, found, err);
}

/* ---- Comparing rows -------------------------------------------------------------- */

static bool is_number(const struct stmt *st, int column)
{
	return sqlite3_column_type(st->st, column) == SQLITE_INTEGER;
}

static bool is_equal(const struct stmt *a, const struct stmt *b, int column)
{
	if (sqlite3_column_type(a->st, column) != sqlite3_column_type(b->st, column))
		return false;
	return is_number(a, column) ? col_int(a, column) == col_int(b, column)
				    : str_eq(col_bytes(a, column), col_bytes(b, column));
}

/* Equal, or numbers that are so far apart. */
static bool is_moved(const struct stmt *mine, const struct stmt *theirs, int column, int64_t by)
{
	return is_number(mine, column) && is_number(theirs, column)
		       ? col_int(mine, column) == col_int(theirs, column) + by
		       : is_equal(mine, theirs, column);
}

/* What answers cost is stored apart from the lines. */
static enum status is_same_cost(struct store *s, const struct borrowed_run *r, int64_t offset, bool *out,
				struct err *err)
{
	struct buf told CLEANUP(buf_release) = BUF_INIT(KIB);
	bool has_mine, has_theirs;
	int64_t model = 0;
	STMT mine = { 0 };
	STMT theirs = { 0 };

	if (use_with(s, BORROWED_COST, r->session, offset, 0, &mine, err) || stmt_found(&mine, &has_mine, err))
		return err_failed(err->status);
	if (has_mine) {
		model = col_null(&mine, 0) ? -1 : col_int(&mine, 0);
		buf_str(&told, col_bytes(&mine, 1));
	}
	stmt_done(&mine);
	if (use_with(s, BORROWED_COST, r->lender, offset - borrowed_shift(r), 0, &theirs, err) ||
	    stmt_found(&theirs, &has_theirs, err))
		return err_failed(err->status);
	*out = has_mine == has_theirs &&
	       (!has_mine || (model == (col_null(&theirs, 0) ? -1 : col_int(&theirs, 0)) &&
			      str_eq(buf_as_str(&told), col_bytes(&theirs, 1))));
	return STATUS_OK;
}

/* ---- Looking for runs -------------------------------------------------------------- */

/* Runs of a session that are being found. */
struct finding {
	struct store *s;
	int64_t session;
	bool keyed; /* its lines have their keys */
	struct stmt theirs; /* behind the last line of the run in hand */
	int64_t keyed_to;   /* of the lender */
	struct borrowed_run run;
	int lines;	/* of it; 0 = there is none in hand */
	bool has_docs; /* it is known how far apart their documents are */
	struct borrowed_run found[MOST_LINES / FEW_LINES + 1];
	size_t found_count;
};

static void finding_release(struct finding *f)
{
	stmt_done(&f->theirs);
}

static void end_run(struct finding *f)
{
	if (f->lines >= FEW_LINES)
		f->found[f->found_count++] = f->run;
	f->lines = 0;
	stmt_done(&f->theirs);
}

/* The sequences of documents are as far apart as in the lines before. */
static bool docs_follow(struct finding *f, const struct stmt *mine)
{
	int64_t docs;

	if (!is_number(mine, ENTRY_DOC) || !is_number(&f->theirs, ENTRY_DOC))
		return is_equal(mine, &f->theirs, ENTRY_DOC);
	docs = col_int(mine, ENTRY_DOC) - col_int(&f->theirs, ENTRY_DOC);
	if (!f->has_docs)
		f->run.docs = docs;
	f->has_docs = true;
	return docs == f->run.docs;
}

/* Of the first line of a run it is noted what it follows. */
static bool parents_follow(struct finding *f, const struct stmt *mine)
{
	bool moved = is_moved(mine, &f->theirs, ENTRY_PARENT, borrowed_shift(&f->run));

	if (moved || f->lines || !is_number(mine, ENTRY_PARENT) || !is_number(&f->theirs, ENTRY_PARENT))
		return moved;
	f->run.has_parent = true;
	f->run.parent = col_int(mine, ENTRY_PARENT);
	return true;
}

/* Whether the line in hand is that of the lender, moved as those before it. */
static enum status follows(struct finding *f, const struct stmt *mine, bool *out, struct err *err)
{
	static const int equal[] = { ENTRY_LENGTH,  ENTRY_TYPE,	   ENTRY_FLAGS, ENTRY_AT,
				     ENTRY_UUID,    ENTRY_LINK,	   ENTRY_CONTENT, ENTRY_TOOLS,
				     ENTRY_AGENT,   ENTRY_MESSAGE_ID, ENTRY_DOCS,  ENTRY_BLOCKS };
	int64_t shift = borrowed_shift(&f->run), offset = col_int(mine, ENTRY_OFFSET);
	int64_t theirs = col_int(&f->theirs, ENTRY_OFFSET);

	*out = offset == theirs + shift && theirs < f->keyed_to && offset - f->run.offset < BORROWED_BYTES &&
	       col_null(mine, ENTRY_SAME) && col_null(&f->theirs, ENTRY_SAME) &&
	       is_moved(mine, &f->theirs, ENTRY_FIRST, shift);
	for (size_t i = 0; *out && i < COUNT(equal); i++)
		*out = is_equal(mine, &f->theirs, equal[i]);
	*out = *out && docs_follow(f, mine) && parents_follow(f, mine);
	if (*out && is_number(mine, ENTRY_FIRST) && col_int(mine, ENTRY_FIRST) == offset)
		return is_same_cost(f->s, &f->run, offset, out, err);
	return STATUS_OK;
}

/* Takes the line in hand into the run. The lender's next one is looked at with the next. */
static void grow(struct finding *f, const struct stmt *mine)
{
	/* Not the end of the line: what is inside of it has rows, too. */
	f->run.until = col_int(mine, ENTRY_OFFSET) + 1;
	f->lines++;
}

static enum status goes_on(struct finding *f, const struct stmt *mine, bool *out, struct err *err)
{
	enum step step = stmt_step(&f->theirs, err);

	*out = step == STEP_ROW;
	if (step == STEP_FAILED)
		return err_failed(err->status);
	return *out ? follows(f, mine, out, err) : STATUS_OK;
}

/* Who has the line in hand, and is stored with it. */
static enum status find_lender(struct finding *f, const struct stmt *mine, bool *found, struct err *err)
{
	struct str uuid = col_bytes(mine, ENTRY_UUID);
	struct uuid id;
	STMT st = { 0 };

	*found = sqlite3_column_type(mine->st, ENTRY_UUID) == SQLITE_BLOB && uuid.n == UUID_BYTES;
	if (!*found)
		return STATUS_OK;
	memcpy(id.b, uuid.p, UUID_BYTES);
	if (use_with(f->s, BORROWED_HOLDER, key_of_line(&id), f->session, 0, &st, err) || stmt_found(&st, found, err))
		return err_failed(err->status);
	if (!*found)
		return STATUS_OK;
	f->run = (struct borrowed_run){ .session = f->session,
					.offset = col_int(mine, ENTRY_OFFSET),
					.lender = col_int(&st, 0),
					.at = col_int(&st, 1) };
	f->keyed_to = col_int(&st, 2);
	f->has_docs = false;
	return STATUS_OK;
}

static enum status begin_run(struct finding *f, const struct stmt *mine, struct err *err)
{
	bool good;

	if (find_lender(f, mine, &good, err))
		return err_failed(err->status);
	if (!good)
		return STATUS_OK;
	if (use_with(f->s, BORROWED_THEIRS, f->run.lender, f->run.at, INT64_MAX, &f->theirs, err) ||
	    goes_on(f, mine, &good, err))
		return err_failed(err->status);
	if (good)
		grow(f, mine);
	else
		stmt_done(&f->theirs);
	return STATUS_OK;
}

static enum status look_at(struct finding *f, const struct stmt *mine, struct err *err)
{
	bool good = false;

	if (f->lines && goes_on(f, mine, &good, err))
		return err_failed(err->status);
	if (good) {
		grow(f, mine);
		return STATUS_OK;
	}
	end_run(f);
	return begin_run(f, mine, err);
}

/* From *from on, a part of the session; it says then where the next begins, or that there is none (-1). */
static enum status find_runs(struct finding *f, int64_t *from, struct err *err)
{
	STMT keyed = { 0 };
	STMT mine = { 0 };
	enum step step;
	bool is_there;
	int count = 0;

	f->found_count = 0;
	if (use_with(f->s, BORROWED_KEYED, f->session, 0, 0, &keyed, err) || stmt_found(&keyed, &is_there, err) ||
	    use_with(f->s, BORROWED_MINE, f->session, *from,
		     !is_there  ? 0
		     : f->keyed ? col_int(&keyed, 0)
				: INT64_MAX,
		     &mine, err))
		return err_failed(err->status);
	stmt_int(&mine, 4, MOST_LINES);
	*from = -1;
	while ((step = stmt_step(&mine, err)) == STEP_ROW) {
		if (++count == MOST_LINES)
			*from = col_int(&mine, ENTRY_OFFSET) + 1;
		if (look_at(f, &mine, err))
			return err_failed(err->status);
	}
	end_run(f);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* ---- Borrowing ------------------------------------------------------------------------ */

static enum status note_change(struct store *s, int64_t session, struct err *err)
{
	return run_with(s, BORROWED_CHANGED, session, 0, 0, err);
}

/* What lies between lines that are stored may be borrowed. */
static enum status any_between(struct store *s, int64_t session, int64_t from, int64_t until, bool *out,
			       struct err *err)
{
	STMT st = { 0 };

	return use_with(s, BORROWED_BETWEEN, session, from, until, &st, err) ? err_failed(err->status)
									     : stmt_found(&st, out, err);
}

/* Whether all lines of a run are stored, on both sides: else they do not follow each other. */
static enum status is_stored(struct store *s, const struct borrowed_run *r, bool *out, struct err *err)
{
	bool mine, theirs;

	if (any_between(s, r->session, r->offset, r->until, &mine, err) ||
	    any_between(s, r->lender, r->at, r->until - borrowed_shift(r), &theirs, err))
		return err_failed(err->status);
	*out = !mine && !theirs;
	return STATUS_OK;
}

static enum status borrow(struct finding *f, const struct borrowed_run *r, struct err *err)
{
	struct store *s = f->s;
	bool stored;
	STMT st = { 0 };

	if (is_stored(s, r, &stored, err))
		return err_failed(err->status);
	if (!stored)
		return STATUS_OK;
	if ((f->keyed && keys_drop_between(s, r->session, r->offset, r->until, err)) ||
	    run_with(s, BORROWED_GIVE_UP, r->session, r->offset, r->until, err) ||
	    run_with(s, BORROWED_GIVE_UP_COST, r->session, r->offset, r->until, err) ||
	    use(s, BORROWED_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, r->session);
	stmt_int(&st, 2, r->offset);
	stmt_int(&st, 3, r->until);
	stmt_int(&st, 4, r->lender);
	stmt_int(&st, 5, r->at);
	stmt_int(&st, 6, r->docs);
	stmt_int_or_null(&st, 7, r->parent, !r->has_parent);
	return stmt_run(&st, err);
}

/* A part of the session, from *from on. */
static enum status borrow_part(struct finding *f, int64_t *from, struct err *err)
{
	bool lends = false;

	if (f->s->lends && is_there(f->s, BORROWED_LENDS, f->session, &lends, err))
		return err_failed(err->status);
	if (lends) {
		*from = -1;
		return STATUS_OK;
	}
	if (find_runs(f, from, err) || (f->found_count && db_begin_lending(f->s, err)))
		return err_failed(err->status);
	for (size_t i = 0; i < f->found_count; i++)
		if (borrow(f, &f->found[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status borrow_some(struct finding *f, int64_t *from, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	txn_pause(f->s);
	if (txn_begin(f->s, &txn, err) || borrow_part(f, from, err) ||
	    (f->found_count && note_change(f->s, f->session, err)))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status borrowed_find(struct store *s, int64_t session, int64_t from, struct err *err)
{
	struct finding f CLEANUP(finding_release) = { .s = s, .session = session, .keyed = true };
	bool has_kin;

	if (is_there(s, BORROWED_HAS_KIN, session, &has_kin, err))
		return err_failed(err->status);
	while (has_kin && from >= 0) {
		if (store_is_cancelled(s))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (borrow_some(&f, &from, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status borrowed_find_written(struct store *s, int64_t session, int64_t from, struct err *err)
{
	struct finding f CLEANUP(finding_release) = { .s = s, .session = session };

	while (from >= 0)
		if (borrow_part(&f, &from, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Giving it up ----------------------------------------------------------------------- */

static void write_moved(struct stmt *out, const struct stmt *row, const struct borrowed_run *r)
{
	int64_t shift = borrowed_shift(r);

	for (int i = 0; i < ENTRY_COLUMNS; i++)
		sqlite3_bind_value(out->st, i + 1, sqlite3_column_value(row->st, i));
	stmt_int(out, ENTRY_SESSION + 1, r->session);
	stmt_int(out, ENTRY_OFFSET + 1, col_int(row, ENTRY_OFFSET) + shift);
	if (is_number(row, ENTRY_FIRST))
		stmt_int(out, ENTRY_FIRST + 1, col_int(row, ENTRY_FIRST) + shift);
	if (is_number(row, ENTRY_DOC))
		stmt_int(out, ENTRY_DOC + 1, col_int(row, ENTRY_DOC) + r->docs);
	if (r->has_parent && col_int(row, ENTRY_OFFSET) == r->at)
		stmt_int(out, ENTRY_PARENT + 1, r->parent);
	else if (is_number(row, ENTRY_PARENT))
		stmt_int(out, ENTRY_PARENT + 1, col_int(row, ENTRY_PARENT) + shift);
}

static enum status write_rows(struct store *s, const struct borrowed_run *r, struct err *err)
{
	int64_t end = r->until - borrowed_shift(r);
	enum step step;
	STMT rows = { 0 };

	if (use_with(s, BORROWED_ROWS, r->lender, r->at, end, &rows, err))
		return err_failed(err->status);
	while ((step = stmt_step(&rows, err)) == STEP_ROW) {
		STMT out = { 0 };

		if (use(s, BORROWED_WRITE, &out, err))
			return err_failed(err->status);
		write_moved(&out, &rows, r);
		if (stmt_run(&out, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static enum status write_costs(struct store *s, const struct borrowed_run *r, struct err *err)
{
	int64_t end = r->until - borrowed_shift(r);
	enum step step;
	STMT rows = { 0 };

	if (use_with(s, BORROWED_COSTS, r->lender, r->at, end, &rows, err))
		return err_failed(err->status);
	while ((step = stmt_step(&rows, err)) == STEP_ROW) {
		STMT out = { 0 };

		if (use(s, BORROWED_WRITE_COST, &out, err))
			return err_failed(err->status);
		stmt_int(&out, 1, r->session);
		stmt_int(&out, 2, col_int(&rows, 0) + borrowed_shift(r));
		sqlite3_bind_value(out.st, 3, sqlite3_column_value(rows.st, 1));
		sqlite3_bind_value(out.st, 4, sqlite3_column_value(rows.st, 2));
		if (stmt_run(&out, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* The rows are the session's own from here on. */
static enum status write_out(struct store *s, const struct borrowed_run *r, struct err *err)
{
	if (run_with(s, BORROWED_DROP, r->session, r->offset, 0, err) || write_rows(s, r, err) ||
	    write_costs(s, r, err) || keys_put_between(s, r->session, r->offset, r->until, err))
		return err_failed(err->status);
	return note_change(s, r->session, err);
}

/* What others borrow of the lines of a run, of its lender, they have of its borrower from here on, whose rows these are
 * now: one copy is written however many there are. Those with smaller numbers cannot. */
static enum status hand_over(struct store *s, const struct borrowed_run *r, struct err *err)
{
	STMT parent = { 0 };
	STMT st = { 0 };

	if (use(s, BORROWED_HAND_OVER, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, r->lender);
	stmt_int(&st, 2, r->session);
	stmt_int(&st, 3, r->at);
	stmt_int(&st, 4, r->until - borrowed_shift(r));
	stmt_int(&st, 5, borrowed_shift(r));
	stmt_int(&st, 6, r->docs);
	if (r->has_parent) {
		if (use_with(s, BORROWED_PARENT, r->lender, r->at, 0, &parent, err) ||
		    stmt_row(&parent, "a line that is lent", err))
			return err_failed(err->status);
		stmt_int(&st, 7, col_int(&parent, 0));
	}
	return stmt_run(&st, err);
}

/* All runs that one of the statements finds: those of the session, or those that are lent by it, of the smallest
 * borrower first. */
static enum status write_out_each(struct store *s, int index, int64_t session, int64_t offset, struct err *err)
{
	struct borrowed_run run;

	for (;;) {
		bool found;

		if (find_run(s, index, session, offset, &run, &found, err))
			return err_failed(err->status);
		if (!found)
			return STATUS_OK;
		if (write_out(s, &run, err) || (run.session != session && hand_over(s, &run, err)))
			return err_failed(err->status);
	}
}

/* The run over a line, if there is one. */
static enum status run_over(struct store *s, int64_t session, int64_t offset, struct borrowed_run *out, bool *found,
			    struct err *err)
{
	if (find_run(s, BORROWED_OVER, session, offset, out, found, err))
		return err_failed(err->status);
	*found = *found && offset < out->until;
	return STATUS_OK;
}

enum status borrowed_end(struct store *s, int64_t session, int64_t offset, struct err *err)
{
	struct borrowed_run run;
	bool found;

	if (!s->lends)
		return STATUS_OK;
	if (run_over(s, session, offset, &run, &found, err) || (found && write_out(s, &run, err)))
		return err_failed(err->status);
	return write_out_each(s, BORROWED_FROM, session, offset, err);
}

enum status borrowed_end_all(struct store *s, int64_t session, struct err *err)
{
	if (!s->lends)
		return STATUS_OK;
	return write_out_each(s, BORROWED_ALL_FROM, session, 0, err)
		       ? err_failed(err->status)
		       : write_out_each(s, BORROWED_ALL_OF, session, 0, err);
}

/* ---- Asking ------------------------------------------------------------------------------- */

enum status borrowed_any(struct store *s, int64_t session, bool *out, struct err *err)
{
	STMT st = { 0 };

	*out = false;
	if (!s->lends)
		return STATUS_OK;
	if (use_with(s, BORROWED_ANY, session, 0, 0, &st, err) || stmt_row(&st, "what is borrowed", err))
		return err_failed(err->status);
	*out = col_int(&st, 0) != 0;
	return STATUS_OK;
}

enum status borrowed_is(struct store *s, int64_t session, int64_t offset, bool *out, struct err *err)
{
	struct borrowed_run run;

	*out = false;
	return s->lends ? run_over(s, session, offset, &run, out, err) : STATUS_OK;
}
