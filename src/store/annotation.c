/*
 * Annotations, and their words in the index.
 *
 * The index is derived and its documents are immutable, so a note that changes leaves it and enters it
 * again, in the transaction that changes the fact. Nothing remembers which document is whose: each has a
 * mark with the id of its annotation (base/mark.h), and is found by that word. A rebuild enters all of
 * them anew (annotation_index_all), before any conversation.
 *
 * A document says where it stands by session and offset. Notes stand in none: their session is DOC_NOTES
 * and their offset the row here, so that nothing has to follow when a file is read anew.
 *
 * Tags are not in the index: the few that are called so are found by name (query/noted.c).
 */
#include "store/annotation.h"

#include "base/hash.h"
#include "base/mark.h"
#include "store/db.h"
#include "store/fulltext.h"

#define COLUMNS \
	"SELECT id, annotation_id, kind, subject_id, subject, agent, session_id, name, text, author," \
	" created_at, updated_at FROM annotation "

enum {
	NOTE_ANY,
	NOTE_GET,
	NOTE_BOOKMARK,
	NOTE_PREFIX,
	NOTE_EACH,
	NOTE_BY_ID,
	NOTE_OF,
	NOTE_IN,
	NOTE_COUNT,
	NOTE_TAGGED,
	NOTE_SAME,
	NOTE_ADD,
	NOTE_REWORD,
	NOTE_MOVE,
	NOTE_REMOVE,
	NOTE_GONE,
	NOTE_INDEXED,
	NOTE_STATEMENTS
};

/* SQLite takes a kind for something that few have: a + keeps it from looking for that first. */
static const char *const sql[NOTE_STATEMENTS] = {
	[NOTE_ANY] = "SELECT 1 FROM annotation LIMIT 1",
	[NOTE_GET] = COLUMNS "WHERE id = ?1",
	[NOTE_BOOKMARK] = COLUMNS "WHERE kind = 'bookmark' AND name = ?1 COLLATE NOCASE",
	[NOTE_PREFIX] = COLUMNS "WHERE annotation_id BETWEEN ?1 AND ?2 AND +kind = ?3"
				" ORDER BY annotation_id LIMIT ?4",
	[NOTE_EACH] = COLUMNS "WHERE kind = ?1 ORDER BY updated_at DESC, id DESC",
	[NOTE_BY_ID] = COLUMNS "ORDER BY annotation_id",
	[NOTE_OF] = COLUMNS "WHERE subject_id = ?1 AND agent = ?2 ORDER BY kind, created_at, id",
	[NOTE_IN] = COLUMNS "WHERE session_id = ?1 ORDER BY kind, created_at, id",
	[NOTE_COUNT] = "SELECT count(*) FROM annotation WHERE session_id = ?1 AND kind = ?2",
	[NOTE_TAGGED] = COLUMNS "INDEXED BY annotation_tag WHERE kind = 'tag'"
				" AND name COLLATE NOCASE BETWEEN ?1 AND ?2 ORDER BY name COLLATE NOCASE, id",
	[NOTE_SAME] = COLUMNS "WHERE subject_id = ?1 AND agent = ?2 AND +kind = ?3"
			      " AND name = ?4 COLLATE NOCASE AND text = ?5 AND (kind <> 'note' OR author = ?6)",
	[NOTE_ADD] = "INSERT INTO annotation(annotation_id, kind, subject_id, subject, agent, session_id,"
		     " name, text, author, created_at, updated_at, rev)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11)",
	[NOTE_REWORD] = "UPDATE annotation SET text = ?2, updated_at = ?3, rev = ?4"
			" WHERE id = ?1 AND kind = 'note'",
	[NOTE_MOVE] = "UPDATE annotation SET subject_id = ?2, subject = ?3, agent = ?4, session_id = ?5,"
		      " name = ?6, author = ?7, updated_at = ?8, rev = ?9 WHERE id = ?1",
	[NOTE_REMOVE] = "DELETE FROM annotation WHERE id = ?1 AND annotation_id = ?2",
	[NOTE_GONE] = "INSERT INTO deleted_row(table_name, key, at, rev) VALUES ('annotation', ?1, ?2, ?3)",
	[NOTE_INDEXED] = COLUMNS "WHERE kind IN ('note', 'bookmark') ORDER BY id",
};

const struct db_set annotation_statements = { DB_ANNOTATION, sql, NOTE_STATEMENTS };

static const char *const kinds[ANNOTATION_KINDS] = { "note", "bookmark", "tag" };

const char *annotation_kind_name(enum annotation_kind kind)
{
	return kinds[kind];
}

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &annotation_statements, index, st, err);
}

/* ---- Rows ----------------------------------------------------------------------- */

static enum annotation_kind kind_of(struct str name)
{
	int kind = 0;

	while (kind < ANNOTATION_KINDS - 1 && !str_eq(name, str_of(kinds[kind])))
		kind++;
	return (enum annotation_kind)kind;
}

static void read_row(const struct stmt *st, struct annotation *out)
{
	*out = (struct annotation){
		.row = col_int(st, 0),
		.id = col_uuid(st, 1),
		.kind = kind_of(col_bytes(st, 2)),
		.on = { .kind = col_bytes(st, 4),
			.id = col_uuid(st, 3),
			.agent = col_bytes(st, 5),
			.in_session = !col_null(st, 6),
			.session = col_uuid(st, 6) },
		.name = col_bytes(st, 7),
		.text = col_bytes(st, 8),
		.author = col_bytes(st, 9),
		.created_at = col_int(st, 10),
		.updated_at = col_int(st, 11),
	};
}

void annotation_keep(struct annotation *to, const struct annotation *from, struct arena *mem)
{
	struct str *const texts[] = { &to->on.kind, &to->on.agent, &to->name, &to->text, &to->author };

	*to = *from;
	for (size_t i = 0; i < COUNT(texts); i++)
		*texts[i] = arena_str(mem, *texts[i]);
}

/* The row of a statement, if it has one. */
static enum status take_one(struct stmt *st, struct arena *mem, struct annotation *out, bool *found,
			    struct err *err)
{
	enum step step = stmt_step(st, err);

	*found = step == STEP_ROW;
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (*found) {
		struct annotation a;

		read_row(st, &a);
		annotation_keep(out, &a, mem);
	}
	return STATUS_OK;
}

static enum status take_each(struct stmt *st, annotation_fn *fn, void *ctx, struct err *err)
{
	enum step step = STEP_DONE;
	bool go_on = true;

	while (go_on && (step = stmt_step(st, err)) == STEP_ROW) {
		struct annotation a;

		read_row(st, &a);
		if (fn(ctx, &a, &go_on, err))
			return err_failed(err->status);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* ---- The index -------------------------------------------------------------------- */

enum status annotation_doc(struct store *s, const struct uuid *id, int64_t *sequence, struct err *err)
{
	char hex[2 * UUID_BYTES + 1], word[WORD_MAX];

	hex_encode(id->b, UUID_BYTES, hex);
	return doc_with_word(s, mark_word(MARK_NOTE, str_of(hex), word), sequence, err);
}

static enum status index_one(const struct annotation *a, struct doc_writer *w, struct err *err)
{
	struct buf packed CLEANUP(buf_release) = BUF_INIT(8 * LIMIT_NOTE + KIB);
	struct doc doc = { .session = DOC_NOTES, .offset = a->row, .at = a->updated_at, .block = DOC_LINE };
	char hex[2 * UUID_BYTES + 1];
	int64_t ignored;
	size_t words;

	hex_encode(a->id.b, UUID_BYTES, hex);
	mark_pack(&packed, MARK_NOTE, str_of(hex));
	words = words_pack(&packed, a->kind == ANNOTATION_NOTE ? a->text : a->name);
	return words ? doc_writer_add(w, &doc, ANNOTATION_PLACE, words, buf_as_str(&packed), &ignored, err)
		     : STATUS_OK;
}

static enum status enter(struct store *s, const struct annotation *a, struct err *err)
{
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };

	if (a->kind == ANNOTATION_TAG)
		return STATUS_OK;
	if (doc_writer_begin(&w, s, err) || index_one(a, &w, err))
		return err_failed(err->status);
	return doc_writer_finish(&w, err);
}

static enum status leave(struct store *s, const struct annotation *a, struct err *err)
{
	int64_t sequence;

	if (a->kind == ANNOTATION_TAG)
		return STATUS_OK;
	if (annotation_doc(s, &a->id, &sequence, err))
		return err_failed(err->status);
	return sequence ? doc_remove(s, sequence, 1, err) : STATUS_OK;
}

static enum status index_next(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	(void)go_on;
	return index_one(a, ctx, err);
}

enum status annotation_index_all(struct store *s, struct err *err)
{
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	STMT st = { 0 };
	bool has;

	if (store_has(s, STORE_TREES, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	if (doc_writer_begin(&w, s, err) || use(s, NOTE_INDEXED, &st, err) ||
	    take_each(&st, index_next, &w, err))
		return err_failed(err->status);
	return doc_writer_finish(&w, err);
}

/* ---- Writing ---------------------------------------------------------------------- */

/* The tables, the lock, and the next commit on the disk. */
static enum status begin(struct store *s, struct txn *txn, int64_t *rev, struct err *err)
{
	if (store_reach(s, STORE_TREES, err) || store_sync_next_commit(s, err) || txn_begin(s, txn, err))
		return err_failed(err->status);
	return db_rev(s, rev, err);
}

static void bind_subject(struct stmt *st, int at, const struct annotation_subject *on)
{
	stmt_uuid(st, at, &on->id);
	stmt_text(st, at + 1, on->kind);
	stmt_text(st, at + 2, on->agent);
	if (on->in_session)
		stmt_uuid(st, at + 3, &on->session);
}

static enum status find_same(struct store *s, const struct annotation *a, struct arena *mem,
			     struct annotation *out, bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NOTE_SAME, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &a->on.id);
	stmt_text(&st, 2, a->on.agent);
	stmt_text(&st, 3, str_of(kinds[a->kind]));
	stmt_text(&st, 4, a->name);
	stmt_text(&st, 5, a->text);
	stmt_text(&st, 6, a->author);
	return take_one(&st, mem, out, found, err);
}

static enum status find_bookmark(struct store *s, struct str name, struct arena *mem, struct annotation *out,
				 bool *found, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NOTE_BOOKMARK, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, name);
	return take_one(&st, mem, out, found, err);
}

static enum status insert(struct store *s, struct annotation *a, int64_t rev, struct err *err)
{
	STMT st = { 0 };

	if (uuid_random(&a->id, err) || use(s, NOTE_ADD, &st, err))
		return err_failed(err->status);
	a->created_at = a->updated_at = store_now(s);
	stmt_uuid(&st, 1, &a->id);
	stmt_text(&st, 2, str_of(kinds[a->kind]));
	bind_subject(&st, 3, &a->on);
	stmt_text(&st, 7, a->name);
	stmt_text(&st, 8, a->text);
	stmt_text(&st, 9, a->author);
	stmt_int(&st, 10, a->created_at);
	stmt_int(&st, 11, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	a->row = sqlite3_last_insert_rowid(s->db);
	return enter(s, a, err);
}

/* The bookmark `old` is on something else from now on. Its name may be written otherwise, too. */
static enum status move_bookmark(struct store *s, const struct annotation *old, struct annotation *a,
				 int64_t rev, struct err *err)
{
	STMT st = { 0 };

	a->row = old->row;
	a->id = old->id;
	a->created_at = old->created_at;
	a->updated_at = store_now(s);
	if (leave(s, old, err) || use(s, NOTE_MOVE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, a->row);
	bind_subject(&st, 2, &a->on);
	stmt_text(&st, 6, a->name);
	stmt_text(&st, 7, a->author);
	stmt_int(&st, 8, a->updated_at);
	stmt_int(&st, 9, rev);
	return stmt_run_one(&st, "a bookmark", err) ? err_failed(err->status) : enter(s, a, err);
}

static enum status taken(struct annotation *a, const struct annotation *old, struct err *err)
{
	char id[UUID_TEXT + 1];

	uuid_print(&old->on.id, id);
	*a = *old;
	return err_fail(err, STATUS_CONFLICT,
			"there is a bookmark '%.*s' already, on %.*s %.8s; --force moves it",
			STR_ARG(old->name), STR_ARG(old->on.kind), id);
}

enum status annotation_add(struct store *s, struct annotation *a, bool move, struct arena *mem,
			   enum annotation_done *done, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct annotation old;
	bool found = false;
	int64_t rev;

	if (begin(s, &txn, &rev, err) || find_same(s, a, mem, &old, &found, err))
		return err_failed(err->status);
	if (found) {
		*done = ANNOTATION_THERE;
		*a = old;
		return STATUS_OK; /* nothing was written */
	}
	if (a->kind == ANNOTATION_BOOKMARK && find_bookmark(s, a->name, mem, &old, &found, err))
		return err_failed(err->status);
	if (found && !move)
		return taken(a, &old, err);
	*done = found ? ANNOTATION_CHANGED : ANNOTATION_ADDED;
	if (found ? move_bookmark(s, &old, a, rev, err) : insert(s, a, rev, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status gone(struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND, "it is gone; somebody else has removed it");
}

static enum status set_text(struct store *s, const struct annotation *a, int64_t rev, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NOTE_REWORD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, a->row);
	stmt_text(&st, 2, a->text);
	stmt_int(&st, 3, a->updated_at);
	stmt_int(&st, 4, rev);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	return sqlite3_changes64(s->db) == 1 ? STATUS_OK : gone(err);
}

enum status annotation_reword(struct store *s, struct annotation *a, struct str text, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;

	if (begin(s, &txn, &rev, err))
		return err_failed(err->status);
	a->text = text;
	a->updated_at = store_now(s);
	if (set_text(s, a, rev, err) || leave(s, a, err) || enter(s, a, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

static enum status delete_row(struct store *s, const struct annotation *a, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NOTE_REMOVE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, a->row);
	stmt_uuid(&st, 2, &a->id);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	return sqlite3_changes64(s->db) == 1 ? STATUS_OK : gone(err);
}

static enum status note_deleted(struct store *s, const struct uuid *id, int64_t rev, struct err *err)
{
	STMT st = { 0 };

	if (use(s, NOTE_GONE, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	stmt_int(&st, 2, store_now(s));
	stmt_int(&st, 3, rev);
	return stmt_run(&st, err);
}

enum status annotation_remove(struct store *s, const struct annotation *a, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;

	if (begin(s, &txn, &rev, err) || delete_row(s, a, err) || note_deleted(s, &a->id, rev, err) ||
	    leave(s, a, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

/* ---- Reading ------------------------------------------------------------------------ */

/* A statement, if the tables are there. */
static enum status use_if_any(struct store *s, int index, struct stmt *st, bool *has, struct err *err)
{
	if (store_has(s, STORE_TREES, has, err))
		return err_failed(err->status);
	return *has ? use(s, index, st, err) : STATUS_OK;
}

enum status annotation_any(struct store *s, bool *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use_if_any(s, NOTE_ANY, &st, out, err))
		return err_failed(err->status);
	if (!*out)
		return STATUS_OK;
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status annotation_get(struct store *s, int64_t row, struct arena *mem, struct annotation *out,
			   struct err *err)
{
	STMT st = { 0 };
	bool found;

	if (use_if_any(s, NOTE_GET, &st, &found, err))
		return err_failed(err->status);
	if (found) {
		stmt_int(&st, 1, row);
		if (take_one(&st, mem, out, &found, err))
			return err_failed(err->status);
	}
	return found ? STATUS_OK : gone(err);
}

enum status annotation_bookmark(struct store *s, struct str name, struct arena *mem, struct annotation *out,
				struct err *err)
{
	bool found;

	if (store_has(s, STORE_TREES, &found, err) ||
	    (found && find_bookmark(s, name, mem, out, &found, err)))
		return err_failed(err->status);
	return found ? STATUS_OK
		     : err_fail(err, STATUS_NOT_FOUND,
				"there is no bookmark '%.*s'; 'arbor bookmarks' lists them",
				(int)size_min(name.n, 60), name.p ? name.p : "");
}

enum status annotation_search(struct store *s, enum annotation_kind kind, struct str prefix,
			      struct arena *mem, struct annotation *out, size_t most, size_t *count,
			      struct err *err)
{
	struct uuid low, high;
	STMT st = { 0 };
	bool more;

	*count = 0;
	if (!uuid_range(prefix, &low, &high))
		return STATUS_OK;
	if (use_if_any(s, NOTE_PREFIX, &st, &more, err))
		return err_failed(err->status);
	if (more) {
		stmt_uuid(&st, 1, &low);
		stmt_uuid(&st, 2, &high);
		stmt_text(&st, 3, str_of(kinds[kind]));
		stmt_int(&st, 4, (int64_t)most);
	}
	while (more && *count < most) {
		if (take_one(&st, mem, &out[*count], &more, err))
			return err_failed(err->status);
		*count += more;
	}
	return STATUS_OK;
}

enum status annotation_each(struct store *s, enum annotation_kind kind, annotation_fn *fn, void *ctx,
			    struct err *err)
{
	STMT st = { 0 };
	bool has;

	if (use_if_any(s, NOTE_EACH, &st, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	stmt_text(&st, 1, str_of(kinds[kind]));
	return take_each(&st, fn, ctx, err);
}

enum status annotation_each_by_id(struct store *s, annotation_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };
	bool has;

	if (use_if_any(s, NOTE_BY_ID, &st, &has, err))
		return err_failed(err->status);
	return has ? take_each(&st, fn, ctx, err) : STATUS_OK;
}

enum status annotation_of(struct store *s, const struct uuid *id, struct str agent, annotation_fn *fn,
			  void *ctx, struct err *err)
{
	STMT st = { 0 };
	bool has;

	if (use_if_any(s, NOTE_OF, &st, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	stmt_uuid(&st, 1, id);
	stmt_text(&st, 2, agent);
	return take_each(&st, fn, ctx, err);
}

enum status annotation_in(struct store *s, const struct uuid *session, annotation_fn *fn, void *ctx,
			  struct err *err)
{
	STMT st = { 0 };
	bool has;

	if (use_if_any(s, NOTE_IN, &st, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	stmt_uuid(&st, 1, session);
	return take_each(&st, fn, ctx, err);
}

enum status annotation_count(struct store *s, enum annotation_kind kind, const struct uuid *session, int64_t *out,
			     struct err *err)
{
	STMT st = { 0 };
	bool has;

	*out = 0;
	if (use_if_any(s, NOTE_COUNT, &st, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	stmt_uuid(&st, 1, session);
	stmt_text(&st, 2, str_of(kinds[kind]));
	if (stmt_row(&st, "a count", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

enum status subject_session(struct store *s, const struct annotation_subject *on, struct arena *mem,
			    struct session *out, struct err *err)
{
	int64_t *rows;
	size_t count = 0;

	*out = (struct session){ 0 };
	if (on->in_session && session_rows(s, &on->session, on->agent, mem, &rows, &count, err))
		return err_failed(err->status);
	return count ? session_get(s, rows[0], mem, out, err) : STATUS_OK;
}

/* ---- Tags --------------------------------------------------------------------------- */

enum status annotation_tagged(struct store *s, struct str name, annotation_fn *fn, void *ctx, struct err *err)
{
	struct buf to CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	STMT st = { 0 };
	bool has;

	if (use_if_any(s, NOTE_TAGGED, &st, &has, err))
		return err_failed(err->status);
	if (!has)
		return STATUS_OK;
	stmt_text_range(&st, 1, name, &to);
	return take_each(&st, fn, ctx, err);
}
