/*
 * What the derived tables say, as text that can be compared: for the unit test,
 * which makes transcripts up, and for the crash test's tool.
 *
 * Left out is what may differ between two stores with the same content: rows,
 * numbers of documents and of generations. Everything else is in it, and so is
 * whatever must not be there: keys, documents and words that belong to nothing,
 * or are missing. A store that is sound has no line that begins with '!'.
 */
#ifndef ARBOR_TEST_DERIVED_H
#define ARBOR_TEST_DERIVED_H

#include "base/hash.h"
#include "store/db.h"
#include "store/fulltext.h"
#include "store/keys.h"
#include "store/session.h"

#include <stdlib.h>
#include <string.h>

/* Words of one document: their number, and a sum that does not depend on the order
 * in which they are told. */
struct derived_words {
	uint64_t count, sum;
	bool owned; /* by an entry */
};

struct derived {
	struct store *s;
	struct buf *out;
	struct derived_words *docs; /* by number */
	int64_t doc_count;
	uint64_t keys, key_sum; /* that should be there */
	struct doc_reader reader;
};

static inline sqlite3_stmt *derived_ask(struct derived *d, const char *sql)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(d->s->db, sql, -1, &st, NULL) != SQLITE_OK)
		buf_printf(d->out, "! %s: %s\n", sql, sqlite3_errmsg(d->s->db));
	return st;
}

static inline int64_t derived_number(struct derived *d, const char *sql)
{
	sqlite3_stmt *st = derived_ask(d, sql);
	int64_t v = sqlite3_step(st) == SQLITE_ROW ? sqlite3_column_int64(st, 0) : -1;

	sqlite3_finalize(st);
	return v;
}

/* All columns of the row from `from` on. */
static inline void derived_row(struct derived *d, sqlite3_stmt *st, int from)
{
	char hex[64];

	for (int i = from; i < sqlite3_column_count(st); i++) {
		if (strcmp(sqlite3_column_name(st, i), "parent") == 0)
			continue; /* by offset or uuid, as it was at hand */
		size_t n = (size_t)sqlite3_column_bytes(st, i);

		buf_printf(d->out, " %s=", sqlite3_column_name(st, i));
		if (sqlite3_column_type(st, i) == SQLITE_BLOB && n <= 16) {
			hex_encode(sqlite3_column_blob(st, i), n, hex);
			buf_text(d->out, hex);
		} else if (sqlite3_column_type(st, i) == SQLITE_NULL) {
			buf_byte(d->out, '-');
		} else if (n > 1000) {
			buf_printf(d->out, "#%016" PRIx64 "/%zu", hash64(sqlite3_column_text(st, i), n), n);
		} else {
			buf_add(d->out, sqlite3_column_text(st, i), n);
		}
	}
	buf_byte(d->out, '\n');
}

/* ---- Words ----------------------------------------------------------------- */

static inline enum status derived_word(void *ctx, struct str word, int64_t doc, int64_t position,
				       struct err *err)
{
	struct derived *d = ctx;
	uint64_t parts[2] = { hash64(word.p, word.n), (uint64_t)position };

	(void)err;
	doc = doc_sequence(doc);
	if (doc <= 0 || doc >= d->doc_count) {
		buf_printf(d->out, "! a word of document %" PRId64 ", which does not exist\n", doc);
		return STATUS_OK;
	}
	d->docs[doc].count += (unsigned char)word.p[0] >= ' '; /* marks are no words of the text */
	d->docs[doc].sum += hash64(parts, sizeof parts);
	return STATUS_OK;
}

/* Copies have the words of their originals, which are copies of nothing. Of lines that say the same, one is no copy. */
static inline void derived_copied(struct derived *d)
{
	static const char of_copy[] = "SELECT a.doc FROM copied a JOIN copied b ON a.original < b.doc + b.docs"
				      " AND b.doc < a.original + a.docs WHERE a.original > 0";
	static const char counting[] =
		"SELECT count(*), total(c.doc IS NULL) FROM node_key k JOIN mirror_session m ON m.id = k.session"
		" AND m.old = 0 JOIN entry e ON e.session = k.session AND e.offset = k.offset AND e.doc IS NOT NULL"
		" LEFT JOIN copied c ON c.doc <= e.doc AND e.doc < c.doc + c.docs WHERE k.part = -1"
		" AND e.content IS NOT NULL GROUP BY k.key, e.content HAVING total(c.doc IS NULL) < 1"
		" OR (total(c.doc IS NULL) > 1 AND total(c.doc IS NULL AND NOT EXISTS (SELECT 1 FROM copied o WHERE"
		" o.original > 0 AND o.original <= e.doc AND e.doc < o.original + o.docs)) > 0)";
	sqlite3_stmt *st = derived_ask(d, "SELECT doc, docs, original FROM copied WHERE original > 0");

	while (sqlite3_step(st) == SQLITE_ROW) {
		int64_t doc = sqlite3_column_int64(st, 0), docs = sqlite3_column_int64(st, 1),
			original = sqlite3_column_int64(st, 2);

		for (int64_t i = 0; i < docs; i++) {
			if (doc + i >= d->doc_count || original + i >= d->doc_count || !d->docs[original + i].sum ||
			    d->docs[doc + i].sum) {
				buf_printf(d->out, "! document %" PRId64 " is no copy of %" PRId64 "\n", doc + i,
					   original + i);
				continue;
			}
			d->docs[doc + i] = d->docs[original + i];
		}
	}
	sqlite3_finalize(st);
	if (derived_number(d, of_copy) != -1)
		buf_printf(d->out, "! a copy of a copy: document %" PRId64 "\n", derived_number(d, of_copy));
	st = derived_ask(d, counting);
	if (sqlite3_step(st) == SQLITE_ROW)
		buf_printf(d->out, "! of %lld lines that say the same %lld are no copies\n",
			   (long long)sqlite3_column_int64(st, 0), (long long)sqlite3_column_int64(st, 1));
	sqlite3_finalize(st);
}

/* `dated`: it says itself when it was written. */
static inline void derived_doc(struct derived *d, int64_t id, int64_t session, int64_t offset, bool dated)
{
	struct doc_rank rank;
	struct doc doc;
	struct err err;
	int64_t number = 0;
	double words;

	if (doc_get(&d->reader, id, &doc, &number, &err) || id >= d->doc_count) {
		buf_printf(d->out, "! a document is missing: %s\n", err.text);
		return;
	}
	if (d->docs[id].owned || doc.session != session || doc.offset != offset)
		buf_printf(d->out, "! document %" PRId64 " is of another line\n", id);
	rank = doc_rank(number);
	words = (double)d->docs[id].count;
	if (words < 32768 && (words < rank.words / 1.5 || words > rank.words / 1.5 * 2))
		buf_printf(d->out,
			   "! document %" PRId64 " has %" PRIu64 " words in the index, and says about %f\n",
			   id, d->docs[id].count, rank.words);
	d->docs[id].owned = true;
	buf_printf(d->out, "  doc block=%u place=%u at=%" PRId64 " words=%" PRIu64 "/%016" PRIx64 "\n",
		   doc.block, rank.place, dated ? doc.at : 0, d->docs[id].count, d->docs[id].sum);
}

static inline void derived_unowned(struct derived *d)
{
	struct doc doc;
	struct err err;
	int64_t number;

	for (int64_t id = 1; id < d->doc_count; id++)
		if (!d->docs[id].owned &&
		    (d->docs[id].count || doc_get(&d->reader, id, &doc, &number, &err) == STATUS_OK))
			buf_printf(d->out, "! document %" PRId64 " belongs to nothing\n", id);
}

/* ---- Keys ------------------------------------------------------------------ */

static inline uint64_t derived_key_hash(int64_t key, int64_t session, int64_t offset, int64_t part)
{
	int64_t parts[4] = { key, session, offset, part };

	return hash64(parts, sizeof parts);
}

static inline struct uuid derived_key(struct derived *d, const struct node_name *name, int64_t session,
				      int64_t offset, int part)
{
	struct uuid id = node_id(name, part);

	d->keys++;
	d->key_sum += derived_key_hash(key_of(&id), session, offset, part);
	return id;
}

static inline void derived_keys(struct derived *d)
{
	sqlite3_stmt *st = derived_ask(d, "SELECT key, session, offset, part FROM node_key");
	uint64_t count = 0, sum = 0;

	while (sqlite3_step(st) == SQLITE_ROW) {
		count++;
		sum += derived_key_hash(sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
					sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3));
	}
	sqlite3_finalize(st);
	if (count != d->keys || sum != d->key_sum)
		buf_printf(d->out, "! %" PRIu64 " keys, and there should be %" PRIu64 " or others\n", count,
			   d->keys);
}

/* ---- Sessions and lines ------------------------------------------------------ */

/* The nth call of the line in the row. */
static inline int64_t derived_call(const struct stmt *st, size_t nth)
{
	int64_t call = col_int(st, 19);

	if (sqlite3_column_type(st->st, 19) == SQLITE_BLOB)
		memcpy(&call, col_bytes(st, 19).p + sizeof call * nth, sizeof call);
	return call;
}

/* Keys of calls; one that stands twice in a line has one. */
static inline void derived_calls(struct derived *d, const struct stmt *st, int64_t session, int64_t offset)
{
	size_t count = sqlite3_column_type(st->st, 19) == SQLITE_BLOB ? col_bytes(st, 19).n / sizeof(int64_t)
								       : !col_null(st, 19);

	for (size_t i = 0; i < count; i++) {
		bool again = false;

		for (size_t k = 0; k < i && i < 1000; k++)
			again |= derived_call(st, k) == derived_call(st, i);
		if (again)
			continue;
		d->keys++;
		d->key_sum += derived_key_hash(derived_call(st, i), session, offset, PART_CALL);
	}
}

static inline bool derived_same(sqlite3_stmt *row, int a, int b)
{
	int n = sqlite3_column_bytes(row, a);

	return sqlite3_column_type(row, a) == SQLITE_BLOB && n == sqlite3_column_bytes(row, b) &&
	       memcmp(sqlite3_column_blob(row, a), sqlite3_column_blob(row, b), (size_t)n) == 0;
}

/* A line with a uuid that names another beside its parent. */
static inline bool derived_names_another(sqlite3_stmt *row)
{
	return sqlite3_column_type(row, 4) != SQLITE_NULL && sqlite3_column_type(row, 17) == SQLITE_BLOB &&
	       !derived_same(row, 4, 17) && !derived_same(row, 22, 17);
}

static inline void derived_entry(struct derived *d, sqlite3_stmt *row)
{
	const struct stmt st = { .store = d->s, .st = row };
	int64_t session = col_int(&st, 0), offset = col_int(&st, 1), doc = col_int(&st, 2),
		docs = col_int(&st, 3);
	bool begins = (!col_null(&st, 6) && col_int(&st, 6) == offset) || (col_int(&st, 16) & ENTRY_MESSAGE);
	bool is_top = sqlite3_column_type(row, 22) != SQLITE_INTEGER;
	uint64_t blocks = 0;
	char text[UUID_TEXT + 1];
	struct node_name name;
	struct uuid id;

	node_name_of(&st, 4, 5, &name);
	id = derived_key(d, &name, session, offset, PART_LINE);
	uuid_print(&id, text);
	buf_printf(d->out, " entry %s", text);
	if (!col_null(&st, 6) && col_int(&st, 6) == offset && !col_null(&st, 15)) {
		d->keys++;
		d->key_sum += derived_key_hash(col_int(&st, 15), session, offset, PART_API);
	}
	derived_calls(d, &st, session, offset);
	if (sqlite3_column_type(row, 22) == SQLITE_BLOB) {
		struct node_name parent;
		struct uuid above;

		node_name_of(&st, 22, 5, &parent);
		above = node_id(&parent, PART_LINE);
		d->keys++;
		d->key_sum += derived_key_hash(key_of(&above), session, offset, PART_PARENT);
	}
	if (derived_names_another(row)) {
		struct node_name other;
		struct uuid named;

		node_name_of(&st, 17, 5, &other);
		named = node_id(&other, PART_LINE);
		d->keys++;
		d->key_sum += derived_key_hash(key_of(&named), session, offset, PART_PARENT);
	}
	if (name.uuid.p && begins) {
		id = derived_key(d, &name, session, offset, PART_MESSAGE);
		uuid_print(&id, text);
		buf_printf(d->out, " message %s", text);
	}
	if (name.uuid.p && ((col_int(&st, 16) & ENTRY_TURN) || is_top))
		derived_key(d, &name, session, offset, PART_TURN);
	if (name.uuid.p && is_top)
		derived_key(d, &name, session, offset, PART_TREE);
	for (int i = 0; name.uuid.p && i < col_int(&st, 7); i++) {
		id = derived_key(d, &name, session, offset, i);
		blocks += hash64(id.b, UUID_BYTES);
	}
	buf_printf(d->out, " blocks %016" PRIx64, blocks);
	derived_row(d, row, 1 + 3); /* the number of the first document may differ */
	for (int64_t i = 0; i < docs; i++)
		derived_doc(d, doc + i, session, offset, true);
}

static inline void derived_entries(struct derived *d, int64_t session)
{
	sqlite3_stmt *st = derived_ask(
		d, "SELECT session, offset, doc, docs, uuid, line_id, first, blocks, offset, docs,"
		   " length, type, at, same, nth, message, flags, link, content, tools, agent,"
		   " parent IS NOT NULL AS hangs, parent FROM entry WHERE session = ?1 ORDER BY offset");

	sqlite3_bind_int64(st, 1, session);
	while (sqlite3_step(st) == SQLITE_ROW)
		derived_entry(d, st);
	sqlite3_finalize(st);
}

/* What tables say of a session, a line a row. */
static inline void derived_rows(struct derived *d, int64_t session, const char *what, const char *sql)
{
	sqlite3_stmt *st = derived_ask(d, sql);

	sqlite3_bind_int64(st, 1, session);
	while (sqlite3_step(st) == SQLITE_ROW) {
		buf_text(d->out, what);
		derived_row(d, st, 0);
	}
	sqlite3_finalize(st);
}

static inline void derived_facts(struct derived *d, int64_t session)
{
	derived_rows(d, session, " usage",
		     "SELECT first, m.name AS model, hex(told) AS told"
		     " FROM usage u LEFT JOIN model m ON m.id = u.model WHERE session = ?1 ORDER BY first");
	derived_rows(d, session, " value",
		     "SELECT kind, value, offset FROM session_value WHERE session = ?1 ORDER BY kind, value");
	derived_rows(d, session, " branch", "SELECT offset, branch FROM branch_run WHERE session = ?1 ORDER BY offset");
	derived_rows(d, session, " summary", "SELECT about, title FROM summary WHERE session = ?1 ORDER BY about");
	derived_rows(d, session, " link",
		     "SELECT kind, name, key, offset, times FROM link WHERE session = ?1 ORDER BY kind, name");
	derived_rows(d, session, " summarised",
		     "SELECT offset, about FROM summarised WHERE session = ?1 ORDER BY offset");
}

static inline void derived_sessions(struct derived *d)
{
	sqlite3_stmt *st = derived_ask(
		d, "SELECT e.id, e.session_id, s.source_id, r.label, s.path, e.read_to, e.keyed_to, p.path "
		   "AS project, e.branch,"
		   " e.title, e.title_rank, e.started_at, e.updated_at, e.prompts, e.messages, e.tools,"
		   " e.generation = s.generation AS newest, e.old, e.permission, e.mode, e.tag"
		   " FROM mirror_session e JOIN source s ON s.id = e.source JOIN root r ON r.id = s.root"
		   " LEFT JOIN project p ON p.id = e.project ORDER BY s.source_id");

	while (sqlite3_step(st) == SQLITE_ROW) {
		struct buf aside, *out = d->out;

		/* Which older versions a store has seen depends on when it looked: they must be sound,
		 * and are not compared. */
		buf_init(&aside, 1 << 30);
		if (sqlite3_column_int(st, 17))
			d->out = &aside;
		buf_text(d->out, "session");
		derived_row(d, st, 1);
		derived_entries(d, sqlite3_column_int64(st, 0));
		derived_facts(d, sqlite3_column_int64(st, 0));
		d->out = out;
		for (struct str rest = buf_as_str(&aside), line; rest.n;)
			if ((line = str_cut(rest, '\n', &rest)).n && line.p[0] == '!')
				buf_printf(d->out, "%.*s\n", STR_ARG(line));
		buf_release(&aside);
	}
	sqlite3_finalize(st);
}

/* ---- Texts beside the conversations ------------------------------------------- */

static inline void derived_papers(struct derived *d)
{
	sqlite3_stmt *st = derived_ask(
		d, "SELECT t.doc, t.docs, s.source_id, s.path, y.kind, y.read_to, t.offset, t.length, t.part, t.at,"
		   " t.session, t.project, y.generation = s.generation AS newest"
		   " FROM paper_text t JOIN paper y ON y.source = t.source JOIN source s ON s.id = y.source"
		   " ORDER BY s.source_id, t.offset, t.part");

	while (sqlite3_step(st) == SQLITE_ROW) {
		int64_t doc = sqlite3_column_int64(st, 0), docs = sqlite3_column_int64(st, 1);

		buf_text(d->out, "paper");
		derived_row(d, st, 2);
		for (int64_t i = 0; i < docs; i++)
			derived_doc(d, doc + i, DOC_PAPERS, doc, sqlite3_column_type(st, 9) != SQLITE_NULL);
	}
	sqlite3_finalize(st);
}

static inline void derived_must_not(struct derived *d, const char *what, const char *sql)
{
	if (derived_number(d, sql))
		buf_printf(d->out, "! %s\n", what);
}

#define DERIVED_VARIANTS \
	"SELECT k.key FROM node_key k JOIN mirror_session m ON m.id = k.session AND m.old = 0 JOIN entry e" \
	" ON e.session = k.session AND e.offset = k.offset AND e.agent IS NULL AND e.uuid IS NOT NULL" \
	" WHERE k.part = -1 GROUP BY k.key HAVING count(DISTINCT coalesce(e.content, 0)) > 1"

static inline void derived_sources(struct derived *d)
{
	sqlite3_stmt *st = derived_ask(
		d, "SELECT s.source_id, s.path, u.source IS NOT NULL AS unread, c.lines, c.tail,"
		   " c.longest"
		   " FROM source s LEFT JOIN unread u ON u.source = s.id"
		   " LEFT JOIN line_count c ON c.generation = s.generation ORDER BY s.source_id");

	while (sqlite3_step(st) == SQLITE_ROW) {
		buf_text(d->out, "source");
		derived_row(d, st, 0);
	}
	sqlite3_finalize(st);
	if (derived_number(d,
			   "SELECT count(*) FROM entry WHERE session NOT IN (SELECT id FROM mirror_session)"))
		buf_text(d->out, "! lines of no session\n");
	if (derived_number(d, "SELECT count(*) FROM usage WHERE session NOT IN (SELECT id FROM mirror_session)"))
		buf_text(d->out, "! usage of no session\n");
	derived_must_not(d, "texts of no file",
			 "SELECT count(*) FROM paper_text WHERE source NOT IN (SELECT source FROM paper)");
	derived_must_not(d, "texts of a file that is not there",
			 "SELECT count(*) FROM paper WHERE source NOT IN (SELECT id FROM source)");
	derived_must_not(d, "a file that is a session and has texts",
			 "SELECT count(*) FROM paper WHERE source IN (SELECT source FROM mirror_session)");
	derived_must_not(d, "what was typed into sessions is not all noted, or something else is",
			 "SELECT (SELECT coalesce(sum(docs), 0) FROM paper_typed) <> (SELECT coalesce(sum(docs), 0)"
			 " FROM paper_text t JOIN source s ON s.id = t.source WHERE s.path = 'history.jsonl'"
			 " AND t.session IS NOT NULL)");
	derived_must_not(d, "texts typed into another session than is noted",
			 "SELECT count(*) FROM paper_typed y JOIN paper_text t ON t.doc BETWEEN y.doc AND"
			 " y.doc + y.docs - 1 WHERE t.session IS NOT y.session OR t.source <> y.source");
	derived_must_not(d, "values of no session",
			 "SELECT count(*) FROM session_value WHERE session NOT IN"
			 " (SELECT id FROM mirror_session WHERE old = 0)");
	derived_must_not(d, "branches of no session",
			 "SELECT count(*) FROM branch_run WHERE session NOT IN (SELECT id FROM mirror_session)");
	derived_must_not(d, "links of no session",
			 "SELECT count(*) FROM link WHERE session NOT IN"
			 " (SELECT id FROM mirror_session WHERE old = 0)");
	derived_must_not(d, "summaries of no session",
			 "SELECT count(*) FROM (SELECT session FROM summary UNION ALL SELECT session FROM summarised)"
			 " WHERE session NOT IN (SELECT id FROM mirror_session WHERE old = 0)");
	derived_must_not(d, "lines that a summary names are not known",
			 "SELECT count(*) FROM (SELECT k.session, k.offset, y.about FROM summary y JOIN node_key k"
			 " ON k.key = y.about AND k.part = -1 JOIN mirror_session m ON m.id = k.session"
			 " AND m.old = 0 EXCEPT SELECT session, offset, about FROM summarised)");
	derived_must_not(d, "lines that no summary names",
			 "SELECT count(*) FROM summarised WHERE about NOT IN (SELECT about FROM summary)");
	derived_must_not(d, "contents of one uuid that are not told apart",
			 "SELECT count(*) FROM (" DERIVED_VARIANTS " EXCEPT SELECT key FROM variant)");
	derived_must_not(d, "one content that is told apart",
			 "SELECT count(*) FROM (SELECT key FROM variant EXCEPT " DERIVED_VARIANTS ")");
	if (derived_number(d, "SELECT count(*) FROM kin WHERE session NOT IN (SELECT id FROM mirror_session)"
			      " OR other NOT IN (SELECT id FROM mirror_session) OR session = other"))
		buf_text(d->out, "! kin of no session\n");
	if (derived_number(d, "SELECT count(*) FROM kin k WHERE NOT EXISTS (SELECT 1 FROM kin b"
			      " WHERE b.session = k.other AND b.other = k.session)"))
		buf_text(d->out, "! kin of one side only\n");
	if (derived_number(d,
			   "SELECT count(*) FROM mirror_session WHERE source NOT IN (SELECT id FROM source)"))
		buf_text(d->out, "! sessions of no source\n");
	if (derived_number(d, "SELECT count(*) FROM line_count WHERE generation NOT IN"
			      " (SELECT generation FROM source WHERE generation IS NOT NULL)"))
		buf_text(d->out, "! counts of no source\n");
}

/* Appends the description. */
static inline enum status derived_describe(struct store *s, struct buf *out, struct err *err)
{
	struct derived d = { .s = s, .out = out, .reader = { .store = s } };
	enum status status;

	if (!s)
		return err_fail(err, STATUS_INTERNAL, "there is no store");
	d.doc_count = derived_number(&d, "SELECT coalesce(max(id * 128 + used), 0) FROM doc_chunk");
	if (d.doc_count < 0)
		d.doc_count = 0;
	d.docs = calloc((size_t)d.doc_count + 1, sizeof *d.docs);
	status = db_exec(s, "INSERT INTO search(search) VALUES ('integrity-check')", err);
	if (status == STATUS_OK)
		status = fulltext_each(s, derived_word, &d, err);
	if (status == STATUS_OK) {
		derived_copied(&d);
		derived_sources(&d);
		derived_sessions(&d);
		derived_papers(&d);
		derived_keys(&d);
		derived_unowned(&d);
	}
	doc_reader_release(&d.reader);
	free(d.docs);
	return status;
}

#endif
