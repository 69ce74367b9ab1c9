/*
 * Schema versions.
 *
 * Facts: sql/facts-NNNN-*.sql, embedded in order. PRAGMA user_version is how
 * many of them a store has had. Each runs in one transaction together with the
 * new number, so a store is always at one version or the next. Several
 * processes may find an old store at once: each asks again for the number once
 * it has the write lock.
 *
 * Opening a store applies those that the mirror needs. The others make the tables of parts
 * that many stores never use, and come when something is first put there (store_reach):
 * SQLite reads the whole schema at every start, and for a search that costs as much as
 * finding. So a file after the first STORE_ARCHIVE ones only adds tables and indexes. Until
 * they are made, who reads sees empty ones of the same name (db_see).
 *
 * There are stores in which an early version made the tables of a part for which it had no use yet, and as
 * they were designed then. What a file makes is therefore compared with what is there, and made anew by who
 * first puts something there. As nobody has before, there is nothing to lose; it is looked, though.
 *
 * Derived: sql/derived.sql. The store remembers the hash of what its derived
 * tables were built from; another hash means they are rebuilt, not migrated. A program
 * that runs on while another version does that stops at its next transaction: it would
 * fill them by other rules.
 * derived_object remembers what to drop, so a program can remove derived tables
 * of a version it knows nothing about.
 */
#include "store/db.h"

#include "base/embed.h"
#include "base/hash.h"
#include "base/words.h"

#include <stdio.h>
#include <string.h>

extern const struct embedded sql_files[];

static bool is_facts(const struct embedded *f)
{
	return str_has_prefix(str_of(f->name), STR("facts-"));
}

static const struct embedded *facts_file(int number)
{
	for (const struct embedded *f = sql_files; f->name; f++)
		if (is_facts(f) && --number == 0)
			return f;
	return NULL;
}

/* The text of one that there is. */
static const char *facts_sql(int number)
{
	const struct embedded *file = facts_file(number);

	if (!file)
		bug("a part of the store has no tables");
	return file->bytes;
}

int db_newest_version(void)
{
	int n = 0;

	for (const struct embedded *f = sql_files; f->name; f++)
		n += is_facts(f);
	return n;
}

static enum status read_pragma(struct store *s, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL);

	*out = 0;
	if (code == SQLITE_OK)
		code = sqlite3_step(st);
	if (code == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return code == SQLITE_ROW ? STATUS_OK : db_fail(s, code, sql, err);
}

/* Whether this is ours, nobody's yet (empty), or something else. */
static enum status read_version(struct store *s, int64_t *version, struct err *err)
{
	int64_t application, objects = 0;

	if (read_pragma(s, "PRAGMA application_id", &application, err) ||
	    read_pragma(s, "PRAGMA user_version", version, err))
		return err_failed(err->status);
	if (application == 0 && *version == 0) {
		if (read_pragma(s, "SELECT count(*) FROM sqlite_schema", &objects, err))
			return err_failed(err->status);
		if (objects == 0)
			return STATUS_OK;
	}
	if (application != DB_APPLICATION_ID)
		return err_fail(err, STATUS_NOT_A_STORE,
				"%s: a database of another program; name another file with --store", s->path);
	if (*version > db_newest_version())
		return err_fail(err, STATUS_TOO_NEW,
				"%s: written by a newer arbor (store version %" PRId64
				", this program knows %d); update arbor",
				s->path, *version, db_newest_version());
	return STATUS_OK;
}

/* The same from one snapshot: another program may be making the store just now. */
static enum status look_at_version(struct store *s, int64_t *version, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	return read_begin(s, &snapshot, err) ? err_failed(err->status) : read_version(s, version, err);
}

enum status db_recognise(struct store *s, bool *ready, struct err *err)
{
	int64_t version;

	if (look_at_version(s, &version, err))
		return err_failed(err->status);
	*ready = version >= STORE_ARCHIVE;
	return STATUS_OK;
}

static enum status set_numbers(struct store *s, int64_t version, struct err *err)
{
	char sql[96];

	snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%" PRId64, DB_APPLICATION_ID, version);
	return db_exec(s, sql, err);
}

static enum status first_settings(struct store *s, struct err *err)
{
	char text[UUID_TEXT + 1], now[24], key[4 * UUID_BYTES + 1];
	struct uuid id, more[2];

	if (uuid_random(&id, err) || uuid_random(&more[0], err) || uuid_random(&more[1], err))
		return err_failed(err->status);
	uuid_print(&id, text);
	hex_encode((const uint8_t *)more, sizeof more, key);
	snprintf(now, sizeof now, "%" PRId64, store_now(s));
	if (store_setting_put(s, "store_id", str_of(text), err) ||
	    store_setting_put(s, "created_at", str_of(now), err) ||
	    store_setting_put(s, "tombstone_key", str_of(key), err) ||
	    store_setting_put(s, "host_label", STR("local"), err))
		return err_failed(err->status);
	return STATUS_OK;
}

/* One step, if it is still needed once we have the write lock. */
static enum status migrate_step(struct store *s, int up_to, bool *done, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	const struct embedded *file;
	int64_t version;

	if (txn_begin(s, &txn, err) || read_version(s, &version, err))
		return err_failed(err->status);
	file = facts_file((int)version + 1);
	*done = version >= up_to || !file;
	if (*done)
		return STATUS_OK;
	if (db_exec(s, file->bytes, err) || set_numbers(s, version + 1, err))
		return err_pass(err, "upgrading the store to version %" PRId64, version + 1);
	s->wrote = true;
	if (version == 0 && first_settings(s, err))
		return err_failed(err->status);
	return txn_commit(&txn, err);
}

enum status db_migrate(struct store *s, int up_to, struct err *err)
{
	int64_t version;
	bool done;

	if (look_at_version(s, &version, err))
		return err_failed(err->status);
	for (done = version >= up_to; !done;)
		if (migrate_step(s, up_to, &done, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Parts ----------------------------------------------------------------- */

/* The next table that a file makes, from *at on: how it is called, and its statement. */
static bool next_table(const char **at, struct str *name, struct str *statement)
{
	static const char make[] = "CREATE TABLE ";
	const char *found = strstr(*at, make);
	struct str rest;

	if (!found)
		return false;
	*name = str_cut(str_of(found + strlen(make)), ' ', &rest);
	*statement = str_of(found);
	*at = found + strlen(make);
	return true;
}

/* Whether a table is there (*found) and was made by this statement, with which the text begins. */
static enum status compare_table(struct store *s, struct str name, struct str text, bool *found, bool *same,
				 struct err *err)
{
	sqlite3_stmt *st = NULL;
	int code = sqlite3_prepare_v2(s->db, "SELECT sql FROM main.sqlite_schema WHERE name = ?1", -1, &st, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_bind_text(st, 1, name.p, (int)name.n, SQLITE_STATIC);
	if (code == SQLITE_OK)
		code = sqlite3_step(st);
	*found = code == SQLITE_ROW;
	*same = false;
	if (*found) {
		struct str made = str_from(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0));

		*same = str_has_prefix(text, made) && text.p[made.n] == ';';
	}
	sqlite3_finalize(st);
	return code == SQLITE_ROW || code == SQLITE_DONE ? STATUS_OK : db_fail(s, code, "reading the schema", err);
}

/* Whether the store has the tables of a file as that makes them. */
static enum status has_file(struct store *s, int number, bool *out, struct err *err)
{
	const char *at = facts_sql(number);
	struct str name, statement;
	int64_t version;
	bool found;

	*out = false;
	if (read_version(s, &version, err))
		return err_failed(err->status);
	if (version < number)
		return STATUS_OK;
	for (*out = true; *out && next_table(&at, &name, &statement);)
		if (compare_table(s, name, statement, &found, out, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* Tables that are to be replaced must be empty, and by all that is known they are. */
static enum status drop_old(struct store *s, int number, struct err *err)
{
	const char *at = facts_sql(number);
	struct str name, statement;
	bool found, same;

	while (next_table(&at, &name, &statement)) {
		char sql[160];
		int64_t rows;

		if (compare_table(s, name, statement, &found, &same, err))
			return err_failed(err->status);
		if (!found)
			continue;
		snprintf(sql, sizeof sql, "SELECT EXISTS (SELECT 1 FROM main.%.*s)", STR_ARG(name));
		if (read_pragma(s, sql, &rows, err))
			return err_failed(err->status);
		if (rows)
			return err_fail(err, STATUS_CORRUPT,
					"%s: its table '%.*s' is one of an unfinished version, and not empty", s->path,
					STR_ARG(name));
		snprintf(sql, sizeof sql, "DROP TABLE main.%.*s", STR_ARG(name));
		if (db_exec(s, sql, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status remake(struct store *s, int number, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	bool has;

	if (txn_begin(s, &txn, err) || has_file(s, number, &has, err))
		return err_failed(err->status);
	if (has)
		return txn_commit(&txn, err);
	if (drop_old(s, number, err) || db_exec(s, facts_sql(number), err))
		return err_pass(err, "making the tables of version %d anew", number);
	s->wrote = true;
	return txn_commit(&txn, err);
}

/* Tables that only this connection has: made, or dropped. */
static enum status change_temporary(struct store *s, const char *sql, struct err *err)
{
	int64_t only_reads;

	if (read_pragma(s, "PRAGMA query_only", &only_reads, err) || db_exec(s, "PRAGMA query_only=0", err) ||
	    db_exec(s, sql, err))
		return err_failed(err->status);
	return only_reads ? db_exec(s, "PRAGMA query_only=1", err) : STATUS_OK;
}

static enum status stand_in(struct store *s, enum store_part part, struct err *err)
{
	static const char make[] = "CREATE TABLE ";
	struct buf sql CLEANUP(buf_release) = BUF_INIT(MIB);
	const char *from = facts_sql((int)part), *found;

	/* An index goes where its table is. */
	for (; (found = strstr(from, make)); from = found + strlen(make)) {
		buf_add(&sql, from, (size_t)(found - from));
		buf_text(&sql, "CREATE TEMP TABLE ");
	}
	buf_text(&sql, from);
	if (change_temporary(s, sql.p, err))
		return err_failed(err->status);
	s->stand_ins |= 1u << part;
	return STATUS_OK;
}

static enum status end_stand_in(struct store *s, enum store_part part, struct err *err)
{
	struct buf sql CLEANUP(buf_release) = BUF_INIT(MIB);
	const char *at = facts_sql((int)part);
	struct str name, statement;

	while (next_table(&at, &name, &statement))
		buf_printf(&sql, "DROP TABLE IF EXISTS temp.%.*s;", STR_ARG(name));
	if (change_temporary(s, sql.p, err))
		return err_failed(err->status);
	s->stand_ins &= ~(1u << part);
	return STATUS_OK;
}

enum status db_see(struct store *s, enum store_part part, struct err *err)
{
	unsigned bit = 1u << part;
	bool has;

	if (s->parts & bit)
		return STATUS_OK;
	if (has_file(s, (int)part, &has, err))
		return err_failed(err->status);
	if (!has)
		return s->stand_ins & bit ? STATUS_OK : stand_in(s, part, err);
	if ((s->stand_ins & bit) && end_stand_in(s, part, err))
		return err_failed(err->status);
	if (s->depth == 0) /* else they may be taken back yet */
		s->parts |= bit;
	return STATUS_OK;
}

enum status store_has(struct store *s, enum store_part part, bool *out, struct err *err)
{
	*out = s->parts & 1u << part;
	return *out ? STATUS_OK : has_file(s, (int)part, out, err);
}

enum status store_reach(struct store *s, enum store_part part, struct err *err)
{
	bool has;

	if (s->parts & 1u << part)
		return STATUS_OK;
	/* An index would be made on a table that stands in. */
	for (int n = STORE_ARCHIVE + 1; n <= (int)part; n++)
		if ((s->stand_ins & 1u << n) && end_stand_in(s, (enum store_part)n, err))
			return err_failed(err->status);
	if (db_migrate(s, (int)part, err))
		return err_failed(err->status);
	for (int n = STORE_ARCHIVE + 1; n <= (int)part; n++)
		if (has_file(s, n, &has, err) || (!has && remake(s, n, err)))
			return err_failed(err->status);
	return db_see(s, part, err);
}

/* ---- Derived --------------------------------------------------------------- */

enum { DERIVED_HASH_TEXT = 96 };

static const struct embedded *file_called(const char *name)
{
	const struct embedded *f = sql_files;

	while (strcmp(f->name, name))
		f++;
	return f;
}

static const struct embedded *derived_file(void)
{
	return file_called("derived.sql");
}

static const struct embedded *borrowed_file(void)
{
	return file_called("borrowed.sql");
}

/* Asked at every start, so it must cost nothing: the SQL goes in by its hash. */
static void derived_hash(char text[DERIVED_HASH_TEXT])
{
	const struct embedded *f = derived_file(), *more = borrowed_file();

	snprintf(text, DERIVED_HASH_TEXT, "sql %016" PRIx64 ", rules %d, words %d, unicode %s",
		 hash64(f->bytes, f->size) ^ hash64(more->bytes, more->size), STORE_DERIVED_RULES, WORDS_RULES,
		 words_unicode());
}

/* Whose the derived tables are: this program's, another version's, or, if neither, nobody's:
 * they are to be made anew by whoever comes next. */
static enum status whose_derived(struct store *s, bool *ours, bool *foreign, struct err *err)
{
	struct buf built CLEANUP(buf_release) = BUF_INIT(KIB);
	char want[DERIVED_HASH_TEXT];
	enum status status = store_setting_get(s, "derived_hash", &built, err);

	if (status != STATUS_OK && status != STATUS_NOT_FOUND)
		return status;
	derived_hash(want);
	*ours = str_eq(buf_as_str(&built), str_of(want));
	*foreign = built.n && !*ours;
	return STATUS_OK;
}

enum status store_derived_current(struct store *s, bool *out, struct err *err)
{
	bool foreign;

	if (whose_derived(s, out, &foreign, err))
		return err_failed(err->status);
	s->uses_derived = *out;
	return STATUS_OK;
}

enum status db_check_derived(struct store *s, struct err *err)
{
	bool ours, foreign = false;

	if (s->uses_derived && whose_derived(s, &ours, &foreign, err))
		return err_failed(err->status);
	if (foreign)
		return err_fail(err, STATUS_TOO_NEW,
				"%s: another version of arbor has made its index anew meanwhile; start again", s->path);
	return STATUS_OK;
}

static const char *drop_word(const char *type)
{
	return strcmp(type, "view") == 0 ? "VIEW" : strcmp(type, "index") == 0 ? "INDEX" : "TABLE";
}

/* Drops one object that derived_object lists; *more says whether there was one.
 * Virtual tables go before the tables they keep their data in. */
static enum status drop_one(struct store *s, bool *more, struct err *err)
{
	static const char select[] =
		"SELECT type, name FROM derived_object ORDER BY type = 'table', type = 'index',"
		" (SELECT s.sql FROM sqlite_schema s WHERE s.name = derived_object.name)"
		" NOT LIKE 'CREATE VIRTUAL%' LIMIT 1";
	sqlite3_stmt *st = NULL;
	char *drop = NULL;
	int code = sqlite3_prepare_v2(s->db, select, -1, &st, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(st);
	*more = code == SQLITE_ROW;
	if (*more) /* DDL takes no parameters: the name is quoted by SQLite itself. */
		drop = sqlite3_mprintf("DROP %s IF EXISTS \"%w\"; DELETE FROM derived_object WHERE name = %Q",
				       drop_word((const char *)sqlite3_column_text(st, 0)), sqlite3_column_text(st, 1),
				       sqlite3_column_text(st, 1));
	sqlite3_finalize(st);
	if (*more)
		code = drop ? sqlite3_exec(s->db, drop, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(drop);
	if (code != SQLITE_OK && code != SQLITE_DONE)
		return db_fail(s, code, "dropping derived tables", err);
	return STATUS_OK;
}

/* What a file makes is noted: that is what is dropped one day. */
static enum status make_derived(struct store *s, const struct embedded *file, struct err *err)
{
	if (db_exec(s, "CREATE TEMP TABLE before_derived AS SELECT name FROM sqlite_schema", err) ||
	    db_exec(s, file->bytes, err) ||
	    db_exec(s, "INSERT INTO derived_object SELECT name, type FROM sqlite_schema"
		       " WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
		       " AND name NOT IN (SELECT name FROM before_derived);"
		       "DROP TABLE before_derived", err))
		return err_pass(err, "making the derived tables");
	s->wrote = true;
	return STATUS_OK;
}

enum status store_derived_reset(struct store *s, struct err *err)
{
	bool more = true;

	while (more)
		if (drop_one(s, &more, err))
			return err_failed(err->status);
	s->wrote = true;
	s->lends = false;
	s->schema = -1;
	if (make_derived(s, derived_file(), err))
		return err_failed(err->status);
	return store_setting_put(s, "derived_hash", STR(""), err);
}

enum status store_derived_made(struct store *s, struct err *err)
{
	char hash[DERIVED_HASH_TEXT];

	derived_hash(hash);
	s->uses_derived = true;
	return store_setting_put(s, "derived_hash", str_of(hash), err);
}

/* ---- Borrowed rows ----------------------------------------------------------- */

enum status db_see_lending(struct store *s, struct err *err)
{
	int64_t schema, tables;

	if (read_pragma(s, "PRAGMA schema_version", &schema, err))
		return err_failed(err->status);
	if (schema == s->schema)
		return STATUS_OK;
	if (read_pragma(s, "SELECT count(*) FROM main.sqlite_schema WHERE name = 'borrowed'", &tables, err))
		return err_failed(err->status);
	s->schema = schema;
	s->lends = tables > 0;
	return STATUS_OK;
}

enum status db_begin_lending(struct store *s, struct err *err)
{
	if (s->lends)
		return STATUS_OK;
	if (make_derived(s, borrowed_file(), err))
		return err_failed(err->status);
	s->lends = true;
	s->schema = -1; /* it may be taken back */
	return STATUS_OK;
}
