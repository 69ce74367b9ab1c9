/*
 * Writing what was read.
 *
 * All of a part is written or nothing, in the order of the file.
 *
 * A source whose bytes were replaced is read anew from its beginning: all rows of
 * its session go first. What a session is called and how many messages it has
 * depends on all its lines, so there is nothing to be kept of it.
 *
 * Its older generations follow when the newest has been read, and are compared with
 * that. Several programs may read the same source, each with another newest one, or
 * with another part of it. Whoever begins with the older ones therefore puts its
 * number into the session (old_for), which must be as far as it has read itself:
 *
 *     0 ──(first old part)──► -number ──(all are read)──► its generation
 *     ▲                          │                            │
 *     └──────────(the session is read from its beginning)─────┘
 *
 * A part whose number is not there any more is refused. Who is killed leaves a source
 * that is unread and a number that nobody has: it is read from its beginning.
 */
#include "store/mirror.h"

#include "store/beginning.h"
#include "store/borrowed.h"
#include "store/copied.h"
#include "store/db.h"
#include "store/firsts.h"
#include "store/fulltext.h"
#include "store/keys.h"
#include "store/queued.h"
#include "store/summary.h"
#include "store/tombstone.h"

#include <stdio.h>
#include <string.h>

/* Whether a source has a tombstone is asked only where there are any. */
#define UNREAD_LIST(purged) \
	"SELECT s.id, s.source_id, s.path, coalesce(g.id, 0), coalesce(g.length, 0)," \
	" coalesce(e.generation, 0), coalesce(e.read_to, 0), c.generation IS NOT NULL," \
	" coalesce(g.number, 0), coalesce(e.old_for, 0), coalesce(y.generation, 0), coalesce(y.read_to, 0)," \
	" coalesce(y.kind, 0), " purged ", coalesce(e.agent, '')" \
	" FROM unread u JOIN source s ON s.id = u.source LEFT JOIN generation g ON g.id = s.generation" \
	" LEFT JOIN mirror_session e ON e.source = s.id AND e.old = 0" \
	" LEFT JOIN paper y ON y.source = s.id" \
	" LEFT JOIN line_count c ON c.generation = g.id" \
	" ORDER BY coalesce(g.length, 0) - coalesce(e.read_to, y.read_to, 0) DESC, s.id"

enum {
	MIRROR_UNREAD_ADD,
	MIRROR_UNREAD_ALL,
	MIRROR_UNREAD_ANY,
	MIRROR_UNREAD_LIST,
	MIRROR_UNREAD_LIST_PURGED,
	MIRROR_UNREAD_DONE,
	MIRROR_UNREAD_COUNTED,
	MIRROR_STATE,
	MIRROR_OLD,
	MIRROR_OLD_ONE,
	MIRROR_OLD_BEGIN,
	MIRROR_OLD_DONE,
	MIRROR_SESSION_ADD,
	MIRROR_SESSION_READ,
	MIRROR_SESSION_RESET,
	MIRROR_SESSION_NOTE,
	MIRROR_VALUE_ADD,
	MIRROR_SESSION_DROP,
	MIRROR_PROJECT_ADD,
	MIRROR_PROJECT,
	MIRROR_NTH,
	MIRROR_FIRST,
	MIRROR_IS_THERE,
	MIRROR_ENTRY_ADD,
	MIRROR_DOCS,
	MIRROR_FORGET,
	MIRROR_FORGET_USAGE,
	MIRROR_FORGET_VALUES,
	MIRROR_MODEL_ADD,
	MIRROR_USAGE_ADD,
	MIRROR_USAGE_TOLD,
	MIRROR_USAGE_RAISE,
	MIRROR_TIDY_PROJECTS,
	MIRROR_TIDY_MODELS,
	MIRROR_STATEMENTS
};

static const char *const sql[MIRROR_STATEMENTS] = {
	[MIRROR_UNREAD_ADD] = "INSERT OR IGNORE INTO unread(source) VALUES (?1)",
	[MIRROR_UNREAD_ALL] = "INSERT OR IGNORE INTO unread(source) SELECT id FROM source",
	[MIRROR_UNREAD_ANY] = "SELECT 1 FROM unread LIMIT 1",
	[MIRROR_UNREAD_LIST] = UNREAD_LIST("0"),
	[MIRROR_UNREAD_LIST_PURGED] =
		UNREAD_LIST("EXISTS (SELECT 1 FROM root r JOIN host h ON h.id = r.host JOIN tombstone t"
			    " ON t.kind = 'source' AND t.host = h.label AND t.root = r.label AND t.path = s.path"
			    " WHERE r.id = s.root)"),
	[MIRROR_UNREAD_DONE] = "DELETE FROM unread WHERE source = ?1 AND NOT EXISTS (SELECT 1 FROM source s"
			       " JOIN generation g ON g.id = s.generation WHERE s.id = ?1 AND (g.id <> ?2 OR "
			       "g.length <> ?3))"
			       " AND (?2 = 0 OR EXISTS (SELECT 1 FROM line_count c WHERE c.generation = ?2))"
			       " AND (?4 <= 1 OR NOT EXISTS (SELECT 1 FROM mirror_session e WHERE e.source = ?1"
			       " AND e.old = 0 AND e.old_for <> e.generation))",
	/* Whoever adds bytes counts their lines, so a count that is there is as good or newer. */
	[MIRROR_UNREAD_COUNTED] =
		"INSERT OR IGNORE INTO line_count(generation, lines, tail, longest)"
		" SELECT g.id, ?4, ?5, ?6 FROM source s JOIN generation g ON g.id = s.generation"
		" WHERE s.id = ?1 AND g.id = ?2 AND g.length = ?3",
	[MIRROR_STATE] =
		"SELECT id, generation, read_to, old_for, reading FROM mirror_session WHERE source = ?1 AND old = 0",
	[MIRROR_OLD] = "SELECT id FROM mirror_session WHERE source = ?1 AND old = 1",
	[MIRROR_OLD_ONE] = "SELECT id, read_to FROM mirror_session WHERE source = ?1 AND old = 1 AND generation = ?2",
	[MIRROR_OLD_BEGIN] = "UPDATE mirror_session SET old_for = -?2 WHERE id = ?1",
	[MIRROR_OLD_DONE] = "UPDATE mirror_session SET old_for = generation WHERE source = ?1 AND old = 0",
	[MIRROR_SESSION_ADD] = "INSERT INTO mirror_session(session_id, source, generation, read_to, reading, agent,"
			       " old) VALUES (?1, ?2, ?3, 0, random(), ?4, ?5)",
	[MIRROR_SESSION_READ] =
		"UPDATE mirror_session SET read_to = ?2, messages = messages + ?3 WHERE id = ?1",
	[MIRROR_SESSION_RESET] =
		"UPDATE mirror_session SET generation = ?2, read_to = 0, reading = random(), keyed_to = 0,"
		" begun = 0, begun_hash = 0, noted = -1,"
		" old_for = 0, project = NULL, branch = NULL, permission = NULL, mode = NULL, tag = NULL, title = '',"
		" title_rank = 0, started_at = NULL, updated_at = NULL, prompts = 0, messages = 0, tools = 0,"
		" session_id = zeroblob(16), agent = ?3 WHERE id = ?1",
	[MIRROR_SESSION_NOTE] =
		"UPDATE mirror_session SET"
		" session_id = CASE WHEN ?10 <> zeroblob(16) THEN ?10 WHEN session_id = zeroblob(16) THEN ?11"
		" ELSE session_id END,"
		" project = coalesce(project, ?2), branch = coalesce(?3, branch),"
		" permission = coalesce(?12, permission), mode = coalesce(?13, mode), tag = coalesce(?14, tag),"
		" title = CASE WHEN ?5 > title_rank OR (?5 = title_rank AND (?5 > 1 OR title = ''))"
		" THEN coalesce(?4, '') ELSE title END,"
		" title_rank = max(title_rank, ?5),"
		" started_at = coalesce(min(started_at, ?6), started_at, ?6),"
		" updated_at = coalesce(max(updated_at, ?7), updated_at, ?7),"
		" prompts = prompts + ?8, tools = tools + ?9 WHERE id = ?1",
	[MIRROR_VALUE_ADD] = ("INSERT OR IGNORE INTO session_value(session, kind, value, offset)"
			      " VALUES (?1, ?2, ?3, ?4)"),
	[MIRROR_SESSION_DROP] = "DELETE FROM mirror_session WHERE id = ?1",
	[MIRROR_PROJECT_ADD] = "INSERT OR IGNORE INTO project(path) VALUES (?1)",
	[MIRROR_PROJECT] = "SELECT id FROM project WHERE path = ?1",
	[MIRROR_NTH] = "SELECT coalesce(max(nth) + 1, 0) FROM entry WHERE session = ?1 AND same = ?2",
	/* By its key: what has none yet is asked of store/firsts.h. */
	[MIRROR_FIRST] = "SELECT min(offset) FROM node_key WHERE key = ?1 AND session = ?2 AND part = -3",
	[MIRROR_IS_THERE] = "SELECT count(*) FROM entry WHERE session = ?1 AND offset = ?2",
	[MIRROR_ENTRY_ADD] = "INSERT INTO entry@own(session, offset, length, type, at, uuid, line_id, same, nth, "
			     "message, first, doc, docs,"
			     " blocks, flags, parent, link, content, tools, agent) VALUES (?1, ?2, ?3, ?4, ?5, ?6,"
			     " ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
	[MIRROR_DOCS] = "SELECT doc, docs FROM entry WHERE session = ?1 AND doc IS NOT NULL",
	[MIRROR_FORGET] = "DELETE FROM entry@own WHERE session = ?1",
	[MIRROR_FORGET_USAGE] = "DELETE FROM usage@own WHERE session = ?1",
	[MIRROR_FORGET_VALUES] = "DELETE FROM session_value WHERE session = ?1",
	[MIRROR_MODEL_ADD] = "INSERT OR IGNORE INTO model(name) VALUES (?1)",
	[MIRROR_USAGE_ADD] =
		"INSERT INTO usage@own(session, first, model, told)"
		" VALUES (?1, ?2, (SELECT id FROM model WHERE name = ?3), ?4)",
	[MIRROR_USAGE_TOLD] = "SELECT told FROM usage WHERE session = ?1 AND first = ?2",
	[MIRROR_USAGE_RAISE] =
		"UPDATE usage@own SET model = coalesce(model, (SELECT id FROM model WHERE name = ?3)), told = ?4"
		" WHERE session = ?1 AND first = ?2",
	[MIRROR_TIDY_PROJECTS] = "DELETE FROM project WHERE NOT EXISTS (SELECT 1 FROM mirror_session m"
				 " WHERE m.project = project.id)",
	[MIRROR_TIDY_MODELS] =
		"DELETE FROM model WHERE id NOT IN (SELECT model FROM usage WHERE model IS NOT NULL)",
};

const struct db_set mirror_statements = { DB_MIRROR, sql, MIRROR_STATEMENTS };

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &mirror_statements, index, st, err);
}

/* A statement without rows and with at most one number. */
static enum status run_with(struct store *s, int index, int64_t number, struct err *err)
{
	STMT st = { 0 };

	if (use(s, index, &st, err))
		return err_failed(err->status);
	if (sqlite3_bind_parameter_count(st.st))
		stmt_int(&st, 1, number);
	return stmt_run(&st, err);
}

/* ---- What there is to read -------------------------------------------------- */

enum status unread_add(struct store *s, int64_t source, struct err *err)
{
	return run_with(s, MIRROR_UNREAD_ADD, source, err);
}

enum status unread_add_all(struct store *s, struct err *err)
{
	return run_with(s, MIRROR_UNREAD_ALL, 0, err);
}

enum status unread_any(struct store *s, bool *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, MIRROR_UNREAD_ANY, &st, err))
		return err_failed(err->status);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static void read_unread(const struct stmt *st, struct arena *mem, struct unread *out)
{
	struct str id = col_bytes(st, 1);

	*out = (struct unread){
		.source = col_int(st, 0),
		.path = arena_str(mem, col_bytes(st, 2)),
		.generation = col_int(st, 3),
		.length = col_int(st, 4),
		.read_generation = col_int(st, 5),
		.read_to = col_int(st, 6),
		.counted = col_int(st, 7) != 0,
		.generations = col_int(st, 8),
		.old_for = col_int(st, 9),
		.paper_generation = col_int(st, 10),
		.paper_to = col_int(st, 11),
		.paper_kind = (int)col_int(st, 12),
		.purged = col_int(st, 13) != 0,
		.read_agent = arena_str(mem, col_bytes(st, 14)),
	};
	if (id.n == UUID_BYTES)
		memcpy(out->source_id.b, id.p, UUID_BYTES);
}

enum status unread_list(struct store *s, struct arena *mem, struct unread **out, size_t *count,
			struct err *err)
{
	size_t cap = 0;
	enum step step;
	int64_t mark;
	STMT st = { 0 };

	*out = NULL;
	*count = 0;
	if (purge_mark(s, &mark, err) ||
	    use(s, mark ? MIRROR_UNREAD_LIST_PURGED : MIRROR_UNREAD_LIST, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (*count == cap) {
			struct unread *more = arena_alloc(mem, (cap ? cap * 2 : 64) * sizeof *more);

			if (cap)
				memcpy(more, *out, cap * sizeof *more);
			*out = more;
			cap = cap ? cap * 2 : 64;
		}
		read_unread(&st, mem, &(*out)[(*count)++]);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status unread_done(struct store *s, const struct unread *u, bool *done, struct err *err)
{
	STMT st = { 0 };

	if (use(s, MIRROR_UNREAD_DONE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, u->source);
	stmt_int(&st, 2, u->generation);
	stmt_int(&st, 3, u->length);
	stmt_int(&st, 4, u->generations);
	if (stmt_run(&st, err))
		return err_failed(err->status);
	*done = sqlite3_changes64(s->db) > 0;
	return STATUS_OK;
}

enum status unread_counted(struct store *s, const struct unread *u, const struct line_count *c,
			   struct err *err)
{
	STMT st = { 0 };

	if (use(s, MIRROR_UNREAD_COUNTED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, u->source);
	stmt_int(&st, 2, u->generation);
	stmt_int(&st, 3, u->length);
	stmt_int(&st, 4, c->lines);
	stmt_int(&st, 5, c->tail);
	stmt_int(&st, 6, c->longest);
	return stmt_run(&st, err);
}

/* ---- A part ----------------------------------------------------------------- */

/* While a part is written. */
struct writing {
	struct store *s;
	const struct mirror_part *p;
	int64_t session;
	int64_t reading; /* of what an earlier reading left */
	struct doc_writer docs;
	struct beginning_writer begun;
	struct buf model; /* name of the last one entered */
	int64_t messages; /* that begin in it */
	struct doc_reader known; /* documents that these may be copies of */
	int strange;		 /* lines that followed each other and are no copies */
	bool repeats;		/* some lines are copies */
	bool borrows;		/* or lends rows of lines */
	struct doc_range *told; /* documents of prompts that waited and have been said again */
	size_t told_count, told_cap;
};

static void writing_release(struct writing *w)
{
	doc_writer_release(&w->docs);
	doc_reader_release(&w->known);
	buf_release(&w->model);
	mem_free(w->told);
}

/* Of an older version only lines are written that the newest has not: the first of a message may be none of them, and
 * the line is one by itself then. */
static enum status find_old_first(struct writing *w, const struct mirror_line *l, int64_t *first, struct err *err)
{
	STMT st = { 0 };

	if (l->first == MIRROR_NO_MESSAGE || l->first == l->offset)
		return STATUS_OK;
	if (use(w->s, MIRROR_IS_THERE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, l->first);
	if (stmt_row(&st, "the message of a line", err))
		return err_failed(err->status);
	if (!col_int(&st, 0))
		*first = l->offset;
	return STATUS_OK;
}

/* The first line of its message, when an earlier reading may have it. */
static enum status find_first(struct writing *w, const struct mirror_line *l, int64_t *first, struct err *err)
{
	STMT st = { 0 };

	*first = l->first;
	if (l->first != MIRROR_ASK)
		return w->p->old ? find_old_first(w, l, first, err) : STATUS_OK;
	if (use(w->s, MIRROR_FIRST, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, (int64_t)l->message);
	stmt_int(&st, 2, w->session);
	if (stmt_row(&st, "the message of a line", err))
		return err_failed(err->status);
	*first = col_null(&st, 0) ? -1 : col_int(&st, 0);
	if (*first < 0 && firsts_find(w->s, &(struct firsts_of){ w->session, w->reading, w->p->began_at },
				      l->message, first, err))
		return err_failed(err->status);
	if (*first < 0)
		*first = l->first_here;
	return STATUS_OK;
}

/* A line without uuid is known by its bytes and by how many are equal before it. */
struct anonymous {
	int64_t same, nth;
	struct uuid id;
};

static enum status name_line(struct writing *w, const struct mirror_line *l, struct anonymous *out,
			     struct err *err)
{
	char source[UUID_TEXT + 1], digest[2 * SHA256_BYTES + 1], nth[24];
	STMT st = { 0 };

	memcpy(&out->same, l->digest, sizeof out->same);
	if (use(w->s, MIRROR_NTH, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, out->same);
	if (stmt_row(&st, "equal lines", err))
		return err_failed(err->status);
	out->nth = col_int(&st, 0);
	uuid_print(&w->p->source_id, source);
	hex_encode(l->digest, SHA256_BYTES, digest);
	snprintf(nth, sizeof nth, "%" PRId64, out->nth);
	out->id = uuid_of_parts((struct str[]){ str_of(source), str_of(digest), str_of(nth) }, 3);
	return STATUS_OK;
}

static struct str words_of(const struct writing *w, const struct mirror_doc *d)
{
	return str_sub(w->p->packed, d->packed_at, d->packed_n);
}

static struct doc_mark mark_of(const struct writing *w, const struct mirror_doc *d)
{
	return doc_mark(d->place, d->words, words_of(w, d));
}

/* The first of the documents that have the words of a line already; 0 = there are none. */
static enum status find_original(struct writing *w, const struct mirror_line *l, const struct mirror_doc *docs,
				 int64_t *out, struct err *err)
{
	bool same = true;

	if (copied_find(w->s, key_of_line(&l->key), l->content, l->docs, out, err))
		return err_failed(err->status);
	for (uint32_t i = 0; *out && same && i < l->docs; i++)
		if (copied_is_same(&w->known, mark_of(w, &docs[i]), *out + i, &same, err))
			return err_failed(err->status);
	if (!same)
		*out = 0;
	return STATUS_OK;
}

/* Files repeat others from their beginning on, if they do. The keys tell of the rest. */
static enum status look_for_original(struct writing *w, const struct mirror_line *l, const struct mirror_doc *docs,
				     int64_t *out, struct err *err)
{
	enum { STRANGE = 3 };

	*out = 0;
	if (w->p->old || !l->is_uuid || !l->docs || w->strange == STRANGE)
		return STATUS_OK;
	if (find_original(w, l, docs, out, err))
		return err_failed(err->status);
	w->strange = *out ? 0 : w->strange + 1;
	w->repeats |= *out != 0;
	return STATUS_OK;
}

static enum status write_docs(struct writing *w, const struct mirror_line *l, const struct mirror_doc *docs,
			      int64_t *first, struct err *err)
{
	int64_t original;

	if (look_for_original(w, l, docs, &original, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < l->docs; i++) {
		struct doc d = {
			.session = w->session,
			.offset = l->offset,
			.at = l->has_time ? l->at : 0,
			.block = docs[i].block,
		};
		int64_t sequence;

		if (original ? doc_writer_add_copy(&w->docs, &d, mark_of(w, &docs[i]), &sequence, err)
			     : doc_writer_add(&w->docs, &d, docs[i].place, docs[i].words, words_of(w, &docs[i]),
					      &sequence, err))
			return err_failed(err->status);
		if (i == 0)
			*first = sequence;
	}
	return original ? copied_add(w->s, w->session, &(struct doc_range){ *first, l->docs }, original, err)
			: STATUS_OK;
}

/* What it says of other lines. */
static void bind_relations(struct stmt *st, const struct mirror_line *l)
{
	stmt_int(st, 15, l->flags);
	if (l->parent && l->parent_at >= 0)
		stmt_int(st, 16, l->parent_at);
	else if (l->parent)
		stmt_uuid(st, 16, l->parent);
	if (l->link)
		stmt_uuid(st, 17, l->link);
	stmt_int_or_null(st, 18, (int64_t)l->content, l->content == 0);
	if (l->tool_count == 1)
		stmt_int(st, 19, (int64_t)l->tools[0]);
	else if (l->tool_count)
		stmt_blob(st, 19, l->tools, l->tool_count * sizeof *l->tools);
	if (l->agent.n)
		stmt_text(st, 20, l->agent);
}

static enum status insert_entry(struct writing *w, const struct mirror_line *l, const struct anonymous *name,
				int64_t first, int64_t doc, struct err *err)
{
	STMT st = { 0 };

	if (use(w->s, MIRROR_ENTRY_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, l->offset);
	stmt_int(&st, 3, l->length);
	stmt_int(&st, 4, l->type);
	stmt_int_or_null(&st, 5, l->at, !l->has_time);
	if (l->is_uuid) {
		stmt_uuid(&st, 6, &l->key);
	} else if (l->uuid.p) {
		stmt_text(&st, 6, l->uuid);
	} else {
		stmt_uuid(&st, 7, &name->id);
		stmt_int(&st, 8, name->same);
		stmt_int(&st, 9, name->nth);
	}
	stmt_int_or_null(&st, 10, (int64_t)l->message, !l->has_message);
	stmt_int_or_null(&st, 11, first, first == MIRROR_NO_MESSAGE);
	stmt_int_or_null(&st, 12, doc, l->docs == 0);
	stmt_int_or_null(&st, 13, l->docs, l->docs == 0);
	stmt_int(&st, 14, l->blocks);
	bind_relations(&st, l);
	return stmt_run(&st, err);
}

static enum status add_model(struct writing *w, struct str name, struct err *err)
{
	STMT st = { 0 };

	if (!name.n || str_eq(name, buf_as_str(&w->model)))
		return STATUS_OK;
	if (use(w->s, MIRROR_MODEL_ADD, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, name);
	buf_clear(&w->model);
	buf_str(&w->model, name);
	return stmt_run(&st, err);
}

static enum status put_usage(struct writing *w, struct str model, int64_t first, const struct tokens *told,
			     int statement, struct err *err)
{
	uint8_t packed[TOKENS_BYTES];
	STMT st = { 0 };

	if (use(w->s, statement, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, first);
	if (model.n)
		stmt_text(&st, 3, model);
	stmt_blob(&st, 4, packed, tokens_pack(told, packed));
	return stmt_run(&st, err);
}

/* What earlier lines of the message told; STATUS_NOT_FOUND when none did. */
static enum status find_told(struct writing *w, int64_t first, struct tokens *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(w->s, MIRROR_USAGE_TOLD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, first);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (step == STEP_DONE)
		return err_fail(err, STATUS_NOT_FOUND, "nothing is told of that message");
	return tokens_unpack(col_bytes(&st, 0), out) ? STATUS_OK : tokens_damaged(w->s, err);
}

/* Not one statement that does either: that opens a savepoint, for which FTS5 writes a
 * segment. */
static enum status write_usage(struct writing *w, const struct mirror_line *l, int64_t first, struct err *err)
{
	struct tokens told, before;
	enum status status = STATUS_NOT_FOUND;

	if (!l->usage || w->p->old)
		return STATUS_OK;
	if (add_model(w, l->usage->model, err))
		return err_failed(err->status);
	told = l->usage->told;
	told.at = l->has_time ? l->at : 0;
	if (first != l->offset && w->borrows && borrowed_end(w->s, w->session, first, err))
		return err_failed(err->status);
	if (first != l->offset)
		status = find_told(w, first, &before, err);
	if (status == STATUS_NOT_FOUND)
		return put_usage(w, l->usage->model, first, &told, MIRROR_USAGE_ADD, err);
	if (status)
		return status;
	tokens_raise(&before, &told);
	return put_usage(w, l->usage->model, first, &before, MIRROR_USAGE_RAISE, err);
}

/* Prompts that waited and that this line says. */
static enum status tell_queued(struct writing *w, const struct mirror_line *l, struct err *err)
{
	for (uint32_t i = 0; i < l->say_count; i++) {
		struct doc_range told;

		if (queued_tell(w->s, w->session, l->says[i], w->p->queued_flag, &told, err))
			return err_failed(err->status);
		if (!told.count)
			continue;
		if (w->told_count == w->told_cap) {
			w->told_cap = w->told_cap ? 2 * w->told_cap : 8;
			w->told = mem_resize(w->told, w->told_cap * sizeof *w->told);
		}
		w->told[w->told_count++] = told;
	}
	return STATUS_OK;
}

static enum status write_queue(struct writing *w, const struct mirror_line *l, struct err *err)
{
	switch (l->queue) {
	case MIRROR_QUEUE_NONE:
		break;
	case MIRROR_QUEUE_ADD:
		return queued_add(w->s, w->session, l->offset, l->said, err);
	case MIRROR_QUEUE_TAKE:
		return queued_take(w->s, w->session, err);
	case MIRROR_QUEUE_BACK:
		return queued_take_back(w->s, w->session, err);
	}
	return tell_queued(w, l, err);
}

static enum status write_line(struct writing *w, const struct mirror_line *l, const struct mirror_doc *docs,
			      struct err *err)
{
	struct anonymous name = { 0 };
	int64_t first, doc = 0;

	if (find_first(w, l, &first, err) || (!l->uuid.p && name_line(w, l, &name, err)) ||
	    write_docs(w, l, docs, &doc, err) || insert_entry(w, l, &name, first, doc, err) ||
	    write_usage(w, l, first, err) || write_queue(w, l, err))
		return err_failed(err->status);
	if (!w->p->old && beginning_take(&w->begun, l, err))
		return err_failed(err->status);
	if (l->summary.n && !w->p->old && summary_add(w->s, w->session, l->link, l->summary, err))
		return err_failed(err->status);
	w->messages += first == l->offset && !l->aside;
	return STATUS_OK;
}

static enum status write_lines(struct writing *w, struct err *err)
{
	const struct mirror_part *p = w->p;
	const struct mirror_doc *docs = p->docs;

	w->known.store = w->s;
	w->begun = (struct beginning_writer){ .s = w->s, .session = w->session, .source = &p->source_id };
	if (doc_writer_begin(&w->docs, w->s, err) || beginning_start(&w->begun, err))
		return err_failed(err->status);
	for (size_t i = 0; i < p->line_count; i++) {
		if (write_line(w, &p->lines[i], docs, err))
			return err_failed(err->status);
		docs += p->lines[i].docs;
	}
	if (doc_writer_finish(&w->docs, err) || (!p->old && beginning_end(&w->begun, err)))
		return err_failed(err->status);
	/* Not before: the writer has the last of them in hand. */
	for (size_t i = 0; i < w->told_count; i++)
		if (copied_remove(w->s, w->told[i].first, w->told[i].count, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- The session ------------------------------------------------------------ */

static enum status find_project(struct store *s, struct str path, int64_t *out, struct err *err)
{
	STMT add = { 0 };
	STMT st = { 0 };

	*out = 0;
	if (path.n == 0)
		return STATUS_OK;
	if (use(s, MIRROR_PROJECT_ADD, &add, err))
		return err_failed(err->status);
	stmt_text(&add, 1, path);
	if (stmt_run(&add, err) || use(s, MIRROR_PROJECT, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, path);
	if (stmt_row(&st, "a project", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

static enum status write_values(struct writing *w, struct err *err)
{
	const struct mirror_part *p = w->p;

	for (size_t i = 0; i < p->value_count; i++) {
		STMT st = { 0 };

		if (use(w->s, MIRROR_VALUE_ADD, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, w->session);
		stmt_int(&st, 2, p->values[i].kind);
		stmt_text(&st, 3, p->values[i].text);
		stmt_int(&st, 4, p->values[i].offset);
		if (stmt_run(&st, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status write_branches(struct writing *w, struct err *err)
{
	const struct mirror_part *p = w->p;

	for (size_t i = 0; i < p->branch_count; i++)
		if (branch_add(w->s, w->session, &p->branches[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status write_links(struct writing *w, struct err *err)
{
	const struct mirror_part *p = w->p;

	for (size_t i = 0; i < p->link_count; i++)
		if (link_add(w->s, w->session, &p->links[i], p->anew, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* NULL where there is none. */
static void bind_text(struct stmt *st, int at, struct str text, bool is_there)
{
	if (is_there)
		stmt_text(st, at, text);
}

static enum status note_session(struct writing *w, struct err *err)
{
	const struct mirror_part *p = w->p;
	int64_t project;
	STMT st = { 0 };

	if (find_project(w->s, p->cwd, &project, err) || use(w->s, MIRROR_SESSION_NOTE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int_or_null(&st, 2, project, project == 0);
	bind_text(&st, 3, p->branch, p->branch.n);
	stmt_text(&st, 4, p->title);
	stmt_int(&st, 5, p->title_rank);
	stmt_int_or_null(&st, 6, p->started_at, p->started_at == 0);
	stmt_int_or_null(&st, 7, p->updated_at, p->updated_at == 0);
	stmt_int(&st, 8, p->prompts);
	stmt_int(&st, 9, p->tools);
	/* Its file may have been renamed. */
	stmt_uuid(&st, 10, &p->session_id);
	stmt_uuid(&st, 11, &p->owner);
	bind_text(&st, 12, p->permission, p->permission.n);
	bind_text(&st, 13, p->mode, p->mode.n);
	bind_text(&st, 14, p->tag, p->tag.p);
	return stmt_run(&st, err);
}

static enum status read_so_far(struct writing *w, struct err *err)
{
	STMT st = { 0 };

	if (use(w->s, MIRROR_SESSION_READ, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, w->p->to);
	stmt_int(&st, 3, w->messages);
	return stmt_run_one(&st, "a session", err);
}

static enum status forget_docs(struct store *s, int64_t session, struct err *err)
{
	STMT st = { 0 };

	if (use(s, MIRROR_DOCS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	return doc_remove_each(&st, copied_remove, err);
}

static enum status forget_lines(struct store *s, int64_t session, struct err *err)
{
	if (borrowed_end_all(s, session, err) || keys_forget(s, session, err) || forget_docs(s, session, err))
		return err_failed(err->status);
	if (run_with(s, MIRROR_FORGET_USAGE, session, err) || run_with(s, MIRROR_FORGET_VALUES, session, err) ||
	    summary_forget(s, session, err) || link_forget(s, session, err) || queued_forget(s, session, err) ||
	    branch_forget(s, session, err) || beginning_forget(s, session, err))
		return err_failed(err->status);
	return run_with(s, MIRROR_FORGET, session, err);
}

static enum status start_anew(struct writing *w, struct err *err)
{
	STMT st = { 0 };

	if (forget_lines(w->s, w->session, err) || use(w->s, MIRROR_SESSION_RESET, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->session);
	stmt_int(&st, 2, w->p->generation);
	bind_text(&st, 3, w->p->agent, w->p->agent.n);
	return stmt_run(&st, err);
}

static enum status add_session(struct writing *w, struct err *err)
{
	STMT st = { 0 };

	if (use(w->s, MIRROR_SESSION_ADD, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &w->p->session_id);
	stmt_int(&st, 2, w->p->source);
	stmt_int(&st, 3, w->p->generation);
	bind_text(&st, 4, w->p->agent, w->p->agent.n);
	stmt_int(&st, 5, w->p->old);
	/* Not RETURNING: that opens a savepoint, for which FTS5 writes a segment. */
	if (stmt_run(&st, err))
		return err_failed(err->status);
	w->session = sqlite3_last_insert_rowid(w->s->db);
	return STATUS_OK;
}

/* How far a source's session has been read; id 0 = it has none. */
struct state {
	int64_t id, generation, read_to, old_for, reading;
};

static enum status get_state(struct store *s, int64_t source, struct state *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	*out = (struct state){ 0 };
	if (use(s, MIRROR_STATE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, source);
	step = stmt_step(&st, err);
	if (step == STEP_ROW)
		*out = (struct state){ col_int(&st, 0), col_int(&st, 1), col_int(&st, 2), col_int(&st, 3),
					col_int(&st, 4) };
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static bool is_as_known(const struct state *now, const struct mirror_part *p)
{
	if (p->anew)
		return now->generation == p->known_generation && now->read_to == p->known_to &&
		       now->old_for == p->known_old_for;
	return now->id && now->generation == p->generation && now->read_to == p->from;
}

/* Whether the session is where this part begins. Anything else, also an older state,
 * is the work of another program, which has seen more than we have. */
static enum status find_session(struct writing *w, struct err *err)
{
	struct state now;

	if (get_state(w->s, w->p->source, &now, err))
		return err_failed(err->status);
	if (!is_as_known(&now, w->p))
		return err_fail(err, STATUS_CONFLICT, "a session: read by another program");
	if (!now.id)
		return add_session(w, err);
	w->session = now.id;
	w->reading = now.reading;
	return w->p->anew ? start_anew(w, err) : STATUS_OK;
}

/* ---- Older versions --------------------------------------------------------- */

static enum status drop_session(struct store *s, int64_t session, struct err *err)
{
	return forget_lines(s, session, err) ? err_failed(err->status)
					     : run_with(s, MIRROR_SESSION_DROP, session, err);
}

/* What is known of a source's older versions. One after the other: forgetting changes the
 * table the list comes from. */
static enum status forget_old(struct store *s, int64_t source, struct err *err)
{
	for (;;) {
		int64_t session;
		STMT st = { 0 };
		enum step step;

		if (use(s, MIRROR_OLD, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, source);
		step = stmt_step(&st, err);
		if (step != STEP_ROW)
			return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
		session = col_int(&st, 0);
		stmt_done(&st);
		if (drop_session(s, session, err))
			return err_failed(err->status);
	}
}

/* Who begins with the older versions has read the newest and nobody has since; who goes on
 * has begun. Found before anything is written. */
static enum status begin_old(struct writing *w, struct err *err)
{
	const struct mirror_part *p = w->p;
	struct state now;
	STMT st = { 0 };

	if (get_state(w->s, p->source, &now, err))
		return err_failed(err->status);
	if (now.generation != p->newest || now.old_for != (p->first_old ? 0 : -p->reader) ||
	    (p->first_old && now.read_to != p->newest_to))
		return err_fail(err, STATUS_CONFLICT, "older versions: read by another program");
	if (!p->first_old)
		return STATUS_OK;
	if (use(w->s, MIRROR_OLD_BEGIN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, now.id);
	stmt_int(&st, 2, p->reader);
	return stmt_run_one(&st, "older versions", err) ? err_failed(err->status) : forget_old(w->s, p->source, err);
}

/* The session of an older version. */
static enum status find_old(struct writing *w, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (begin_old(w, err) || use(w->s, MIRROR_OLD_ONE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, w->p->source);
	stmt_int(&st, 2, w->p->generation);
	step = stmt_step(&st, err);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (step == STEP_DONE && w->p->anew)
		return add_session(w, err);
	if (step == STEP_DONE || w->p->anew || col_int(&st, 1) != w->p->from)
		return err_fail(err, STATUS_CONFLICT, "an older version: read by another program");
	w->session = col_int(&st, 0);
	return STATUS_OK;
}

enum status mirror_old_done(struct store *s, int64_t source, bool none, struct err *err)
{
	if (none && forget_old(s, source, err))
		return err_failed(err->status);
	return run_with(s, MIRROR_OLD_DONE, source, err);
}

enum status mirror_add(struct store *s, const struct mirror_part *p, struct err *err)
{
	struct writing w CLEANUP(writing_release) = { .s = s, .p = p, .model = BUF_INIT(MIB) };

	if (p->old ? find_old(&w, err) : find_session(&w, err))
		return err_failed(err->status);
	if (borrowed_any(s, w.session, &w.borrows, err) || write_lines(&w, err) || write_values(&w, err) ||
	    write_branches(&w, err) || write_links(&w, err) || note_session(&w, err) || read_so_far(&w, err))
		return err_failed(err->status);
	return w.repeats ? borrowed_find_written(s, w.session, p->from, err) : STATUS_OK;
}

enum status mirror_forget(struct store *s, int64_t source, struct err *err)
{
	struct state now;

	if (get_state(s, source, &now, err))
		return err_failed(err->status);
	if (!now.id)
		return STATUS_OK;
	return forget_old(s, source, err) ? err_failed(err->status) : drop_session(s, now.id, err);
}

enum status mirror_tidy(struct store *s, struct err *err)
{
	return run_with(s, MIRROR_TIDY_PROJECTS, 0, err) ? err_failed(err->status)
							 : run_with(s, MIRROR_TIDY_MODELS, 0, err);
}
