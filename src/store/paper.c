/*
 * Rows of texts beside the conversations.
 *
 * A document says where it stands by session and offset. These stand in no session: theirs is DOC_PAPERS, and
 * the offset is the row here, which is the sequence of the text's first document. So there is one number for
 * both, and a row knows which documents go with it.
 *
 * What was typed into a conversation that is here is told there, and a search passes it over. Of a long
 * history that is nearly all: whoever asks gets ranges of documents, a few for each conversation, and looks
 * at no text.
 *
 * A file that was rewritten is read anew: its rows and documents go before the new ones come, in one
 * transaction. A history only grows, and is gone on with.
 */
#include "store/paper.h"

#include "store/db.h"

#include <string.h>

enum {
	PAPER_STATE,
	PAPER_NEW,
	PAPER_SET,
	PAPER_DROP,
	PAPER_TEXT_ADD,
	PAPER_DOCS,
	PAPER_TEXTS_DROP,
	PAPER_GET,
	PAPER_EACH,
	PAPER_TYPED_ADD,
	PAPER_TYPED_DROP,
	PAPER_TOLD,
	PAPER_FOLDERS,
	PAPER_ROWS,
	PAPER_SOURCE,
	PAPER_PREFIX,
	PAPER_STATEMENTS
};

#define PAPER \
	"SELECT t.doc, t.docs, y.kind, t.source, y.generation, s.source_id, s.path, t.offset, t.length, " \
	"t.part," \
	" coalesce(t.at, 0), coalesce(g.mtime_ns, 0) / 1000000, t.session, t.project, t.text_id FROM paper_text t" \
	" JOIN paper y ON y.source = t.source JOIN source s ON s.id = t.source" \
	" JOIN generation g ON g.id = y.generation "

static const char *const sql[PAPER_STATEMENTS] = {
	[PAPER_STATE] = "SELECT generation, read_to FROM paper WHERE source = ?1",
	[PAPER_NEW] = "INSERT INTO paper(source, kind, generation, read_to) VALUES (?1, ?2, ?3, ?4)",
	[PAPER_SET] = "UPDATE paper SET kind = ?2, generation = ?3, read_to = ?4 WHERE source = ?1",
	[PAPER_DROP] = "DELETE FROM paper WHERE source = ?1",
	[PAPER_TEXT_ADD] =
		"INSERT INTO paper_text(doc, docs, source, offset, length, part, at, session, project, text_id)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[PAPER_DOCS] = "SELECT doc, docs FROM paper_text WHERE source = ?1 ORDER BY doc",
	[PAPER_TEXTS_DROP] = "DELETE FROM paper_text WHERE source = ?1",
	[PAPER_GET] = PAPER "WHERE t.doc = ?1",
	[PAPER_EACH] = PAPER "ORDER BY s.source_id, t.offset, t.part",
	[PAPER_TYPED_ADD] = "INSERT INTO paper_typed(doc, docs, source, session) VALUES (?1, ?2, ?3, ?4)",
	[PAPER_TYPED_DROP] = "DELETE FROM paper_typed WHERE source = ?1",
	[PAPER_TOLD] = "SELECT doc, docs FROM paper_typed t WHERE EXISTS (SELECT 1 FROM mirror_session m"
		       " WHERE m.session_id = t.session AND m.agent IS NULL) ORDER BY doc",
	[PAPER_FOLDERS] = "SELECT path FROM project ORDER BY path",
	[PAPER_SOURCE] = "SELECT source_id FROM source WHERE id = ?1",
	[PAPER_PREFIX] = "SELECT min(doc) FROM paper_text WHERE text_id BETWEEN ?1 AND ?2 GROUP BY text_id"
			 " ORDER BY text_id LIMIT ?3",
	[PAPER_ROWS] = "SELECT t.doc FROM source s JOIN paper_text t ON t.source = s.id WHERE s.source_id = ?1"
		       " UNION SELECT doc FROM paper_text WHERE text_id = ?1 ORDER BY 1",
};

const struct db_set paper_statements = { DB_PAPER, sql, PAPER_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &paper_statements, index, st, err);
}

static enum status use_for(struct store *s, int index, int64_t source, struct stmt *st, struct err *err)
{
	if (use(s, index, st, err))
		return err_failed(err->status);
	stmt_int(st, 1, source);
	return STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------------ */

static enum status forget_texts(struct store *s, int64_t source, struct err *err)
{
	STMT st = { 0 };

	if (use_for(s, PAPER_DOCS, source, &st, err) || doc_remove_each(&st, doc_remove, err))
		return err_failed(err->status);
	if (stmt_run_with(s, &paper_statements, PAPER_TYPED_DROP, source, err))
		return err_failed(err->status);
	return stmt_run_with(s, &paper_statements, PAPER_TEXTS_DROP, source, err);
}

enum status paper_forget(struct store *s, int64_t source, struct err *err)
{
	if (forget_texts(s, source, err))
		return err_failed(err->status);
	return stmt_run_with(s, &paper_statements, PAPER_DROP, source, err);
}

static enum status write_docs(struct doc_writer *w, const struct paper_part *p, const struct paper_new *t,
			      const struct mirror_doc *docs, struct err *err)
{
	struct doc d = { .session = DOC_PAPERS,
			 .offset = doc_writer_next(w),
			 .at = t->at ? t->at : p->dated,
			 .block = t->part };
	int64_t ignored;

	for (uint32_t i = 0; i < t->docs; i++)
		if (doc_writer_add(w, &d, docs[i].place, docs[i].words,
				   str_sub(p->packed, docs[i].packed_at, docs[i].packed_n), &ignored, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* As a line without a uuid has it, the first of equal ones. */
static enum status id_of_line(struct store *s, int64_t source, const struct paper_new *t, struct uuid *out,
			      struct err *err)
{
	char text[UUID_TEXT + 1], digest[2 * SHA256_BYTES + 1];
	struct uuid id;
	STMT st = { 0 };

	if (use_for(s, PAPER_SOURCE, source, &st, err) || stmt_row(&st, "a source", err))
		return err_failed(err->status);
	id = col_uuid(&st, 0);
	uuid_print(&id, text);
	hex_encode(t->digest, SHA256_BYTES, digest);
	*out = uuid_of_parts((struct str[]){ str_of(text), str_of(digest), STR("0") }, 3);
	return STATUS_OK;
}

static enum status write_text(struct store *s, const struct paper_part *p, const struct paper_new *t,
			      int64_t row, struct err *err)
{
	struct uuid id;
	STMT st = { 0 };

	if (t->has_digest && id_of_line(s, p->source, t, &id, err))
		return err_failed(err->status);
	if (use(s, PAPER_TEXT_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_int(&st, 2, t->docs);
	stmt_int(&st, 3, p->source);
	stmt_int(&st, 4, t->offset);
	stmt_int(&st, 5, t->length);
	stmt_int(&st, 6, t->part);
	stmt_int_or_null(&st, 7, t->at, t->at == 0);
	if (t->has_session)
		stmt_uuid(&st, 8, &t->session);
	if (t->project.p)
		stmt_text(&st, 9, t->project);
	if (t->has_digest)
		stmt_uuid(&st, 10, &id);
	return stmt_run(&st, err);
}

/* Documents in a row that were typed into one session. */
struct typed_run {
	struct doc_range docs;
	struct uuid session;
};

static enum status end_run(struct store *s, int64_t source, struct typed_run *run, struct err *err)
{
	STMT st = { 0 };

	if (!run->docs.count)
		return STATUS_OK;
	if (use(s, PAPER_TYPED_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, run->docs.first);
	stmt_int(&st, 2, run->docs.count);
	stmt_int(&st, 3, source);
	stmt_uuid(&st, 4, &run->session);
	run->docs.count = 0;
	return stmt_run(&st, err);
}

static enum status note_typed(struct store *s, const struct paper_part *p, const struct paper_new *t,
			      int64_t row, struct typed_run *run, struct err *err)
{
	bool goes_on = t->typed && run->docs.count && uuid_eq(&run->session, &t->session);

	if (!goes_on && end_run(s, p->source, run, err))
		return err_failed(err->status);
	if (!goes_on)
		*run = (struct typed_run){ { row, 0 }, t->session };
	run->docs.count += t->typed ? t->docs : 0;
	return STATUS_OK;
}

static enum status write_texts(struct store *s, const struct paper_part *p, struct err *err)
{
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	const struct mirror_doc *docs = p->docs;
	struct typed_run run = { 0 };

	if (!p->count)
		return STATUS_OK;
	if (doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (size_t i = 0; i < p->count; i++) {
		int64_t row = doc_writer_next(&w);

		if (write_docs(&w, p, &p->texts[i], docs, err) || write_text(s, p, &p->texts[i], row, err) ||
		    note_typed(s, p, &p->texts[i], row, &run, err))
			return err_failed(err->status);
		docs += p->texts[i].docs;
	}
	return end_run(s, p->source, &run, err) ? err_failed(err->status) : doc_writer_finish(&w, err);
}

/* How far a source has been read; generation 0 = not at all. */
struct state {
	int64_t generation, read_to;
};

static enum status get_state(struct store *s, int64_t source, struct state *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	*out = (struct state){ 0 };
	if (use_for(s, PAPER_STATE, source, &st, err))
		return err_failed(err->status);
	step = stmt_step(&st, err);
	if (step == STEP_ROW)
		*out = (struct state){ col_int(&st, 0), col_int(&st, 1) };
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* Anything else than what was known, also an older state, is the work of another program. */
static bool is_as_known(const struct state *now, const struct paper_part *p)
{
	if (p->anew)
		return now->generation == p->known_generation && now->read_to == p->known_to;
	return now->generation == p->generation && now->read_to == p->from;
}

static enum status set_state(struct store *s, const struct paper_part *p, bool is_new, struct err *err)
{
	STMT st = { 0 };

	/* Not one statement that does either: that opens a savepoint, for which FTS5 writes a segment. */
	if (use_for(s, is_new ? PAPER_NEW : PAPER_SET, p->source, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 2, p->kind);
	stmt_int(&st, 3, p->generation);
	stmt_int(&st, 4, p->to);
	return stmt_run_one(&st, "a file's texts", err);
}

enum status paper_add(struct store *s, const struct paper_part *p, struct err *err)
{
	struct state now;

	if (get_state(s, p->source, &now, err))
		return err_failed(err->status);
	if (!is_as_known(&now, p))
		return err_fail(err, STATUS_CONFLICT, "a file's texts: read by another program");
	if (p->anew && now.generation && forget_texts(s, p->source, err))
		return err_failed(err->status);
	if (write_texts(s, p, err))
		return err_failed(err->status);
	return set_state(s, p, !now.generation, err);
}

/* ---- Reading ------------------------------------------------------------------ */

static void read_row(const struct stmt *st, struct paper *out)
{
	*out = (struct paper){
		.row = col_int(st, 0),
		.docs = col_int(st, 1),
		.kind = (int)col_int(st, 2),
		.source = col_int(st, 3),
		.generation = col_int(st, 4),
		.source_id = col_uuid(st, 5),
		.path = col_bytes(st, 6),
		.offset = col_int(st, 7),
		.length = col_int(st, 8),
		.part = (uint16_t)col_int(st, 9),
		.at = col_int(st, 10),
		.dated = col_int(st, 11),
		.has_session = !col_null(st, 12),
		.session = col_uuid(st, 12),
		.project = col_bytes(st, 13),
		.has_id = !col_null(st, 14),
		.id = col_uuid(st, 14),
	};
}

enum status paper_get(struct store *s, int64_t row, struct arena *mem, struct paper *out, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use_for(s, PAPER_GET, row, &st, err))
		return err_failed(err->status);
	step = stmt_step(&st, err);
	if (step != STEP_ROW)
		return step == STEP_FAILED
			       ? err_failed(err->status)
			       : err_fail(err, STATUS_NOT_FOUND,
					  "%s: the index has words of a text that is not there; 'arbor "
					  "rebuild' makes it anew",
					  s->path);
	read_row(&st, out);
	out->path = arena_str(mem, out->path);
	out->project = arena_str(mem, out->project);
	return STATUS_OK;
}

enum status paper_search(struct store *s, struct str prefix, int64_t *rows, size_t most, size_t *count,
			 struct err *err)
{
	struct uuid low, high;
	enum step step;
	STMT st = { 0 };

	*count = 0;
	if (!uuid_range(prefix, &low, &high))
		return STATUS_OK;
	if (use(s, PAPER_PREFIX, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &low);
	stmt_uuid(&st, 2, &high);
	stmt_int(&st, 3, (int64_t)most);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		rows[(*count)++] = col_int(&st, 0);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status paper_each(struct store *s, paper_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, PAPER_EACH, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct paper p;

		read_row(&st, &p);
		if (fn(ctx, &p, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status paper_rows(struct store *s, const struct uuid *source, paper_row_fn *fn, void *ctx, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, PAPER_ROWS, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, source);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		if (fn(ctx, col_int(&st, 0), err))
			return err_failed(err->status);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status paper_told(struct store *s, struct arena *mem, struct doc_range **out, size_t *count,
		       struct err *err)
{
	STMT st = { 0 };

	return use(s, PAPER_TOLD, &st, err) ? err_failed(err->status) : doc_ranges(&st, mem, out, count, err);
}

enum status folder_each(struct store *s, folder_fn *fn, void *ctx, struct err *err)
{
	enum step step = STEP_DONE;
	bool go_on = true;
	STMT st = { 0 };

	if (use(s, PAPER_FOLDERS, &st, err))
		return err_failed(err->status);
	while (go_on && (step = stmt_step(&st, err)) == STEP_ROW)
		if (fn(ctx, col_bytes(&st, 0), &go_on, err))
			return err_failed(err->status);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}
