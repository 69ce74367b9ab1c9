/*
 * Inside the store: the connection, statements, binding, columns.
 *
 * Only files of src/store and src/query include this. Each module declares its
 * statements once, as an enum-indexed table; they are prepared on first use and
 * kept in the connection. Every value is bound; SQL text is never put together
 * from data.
 *
 * Some tables have rows that are another's (store/borrowed.h). Who reads asks them by their name and gets all
 * rows; who writes, or wants those alone that are stored, says `entry@own`. Where nothing is borrowed that is the
 * same table. It counts for the write transaction in which the statement is used.
 */
#ifndef ARBOR_STORE_DB_H
#define ARBOR_STORE_DB_H

#include "base/bell.h"
#include "store/pack.h"
#include "store/store.h"

#include <sqlite3.h>
#include <sys/stat.h>

/* One per module that has statements. */
enum db_slot {
	DB_STORE,
	DB_SOURCE,
	DB_FIND,
	DB_ARCHIVE,
	DB_LIKE,
	DB_FIRSTS,
	DB_CHECK,
	DB_FULLTEXT,
	DB_POSTINGS,
	DB_MIRROR,
	DB_QUEUED,
	DB_COPIED,
	DB_BORROWED,
	DB_SESSION,
	DB_KEYS,
	DB_SUMMARY,
	DB_LINK,
	DB_BRANCH,
	DB_BEGINNING,
	DB_SHARING,
	DB_VARIANT,
	DB_TEMPLATE,
	DB_ANNOTATION,
	DB_TAG,
	DB_MADE,
	DB_MADE_TEXT,
	DB_ALIAS,
	DB_TREE,
	DB_TREE_NODE,
	DB_TREE_WALK,
	DB_LIFECYCLE,
	DB_TREE_MEMBER,
	DB_TREE_GONE,
	DB_TREE_GRAFT,
	DB_GC,
	DB_CHECK_TREES,
	DB_PAPER,
	DB_TOMBSTONE,
	DB_GAP,
	DB_WIPE,
	DB_LINE_PARENT,
	DB_NAMED,
	DB_RUN,
	DB_STREAM,
	DB_EVENT,
	DB_CURSOR,
	DB_INBOX,
	DB_APPROVAL,
	DB_RULE,
	DB_RANK,
	DB_USAGE,
	DB_SQL,
	DB_STATS,
	DB_RELATED,
	DB_ALIKE,
	DB_ISSUE,
	DB_RECAP,
	DB_HIDDEN,
	DB_SLOTS
};

struct db_set {
	enum db_slot slot;
	const char *const *sql;
	size_t count;
};

/* Those of src/store, for the test that prepares every statement. */
extern const struct db_set *const db_sets[DB_SLOTS];
extern const struct db_set store_statements, source_statements, find_statements, archive_statements,
	like_statements, firsts_statements,
	check_statements, fulltext_statements, postings_statements, mirror_statements, session_statements,
	keys_statements, summary_statements, link_statements, branch_statements, beginning_statements,
	sharing_statements, variant_statements,
	template_statements, annotation_statements, tag_statements, made_statements, made_text_statements,
	alias_statements, tree_statements, tree_node_statements, tree_walk_statements, lifecycle_statements,
	tree_member_statements, tree_gone_statements, tree_graft_statements, gc_statements,
	check_trees_statements, paper_statements, queued_statements, tombstone_statements, gap_statements,
	wipe_statements, line_parent_statements, copied_statements, borrowed_statements;
extern const struct db_set named_statements, run_statements, stream_statements, event_statements,
	cursor_statements, inbox_statements, approval_statements, rule_statements; /* live agents */
extern const struct db_set rank_statements, usage_statements, sql_statements, stats_statements,
	related_statements, alike_statements, issue_statements, recap_statements,
	hidden_statements; /* src/query */

/* What can be done with the files of a store. */
enum db_access {
	DB_WRITE,
	DB_READ,   /* beside those who can write, or what they left in the log */
	DB_FROZEN, /* the same where there is no log: the file alone is read, and taken not to change */
};

struct store {
	sqlite3 *db;
	enum db_access access;
	struct stat frozen; /* DB_FROZEN: what the file was then */
	sqlite3_stmt **prepared[DB_SLOTS];
	size_t prepared_count[DB_SLOTS];
	fts5_api *fts5;	       /* once it was asked for */
	void *ranker;	       /* query/rank.c's; FTS5 frees it with the connection */
	struct packer *packer; /* for unpacking, made when first needed */
	struct ahead *ahead;   /* the same in another thread, once somebody has announced something */
	bool no_ahead;	       /* it is of no use here */
	struct like_cache *like; /* once a block was read that refers to others */
	struct firsts *firsts;	 /* once a transcript was read on that has no keys */
	struct bell bell;
	struct clock clock;
	const struct log *log;
	const atomic_bool *cancel;
	char path[LIMIT_PATH];
	bool given; /* whoever wants it again has to name it */
	bool opened;
	bool uses_derived;    /* the derived tables were this program's when it last looked */
	int64_t seen_version; /* PRAGMA data_version at the last look */
	int64_t rev;          /* of the open transaction; 0 = none taken yet */
	int depth;            /* of nested write transactions */
	int64_t locked_ns;    /* when the outermost began; monotonic */
	int64_t held_ns;      /* how long it and those before had the lock since the last pause */
	bool doomed;          /* an inner one was not committed */
	bool wrote;           /* since the last commit */
	bool full_sync;       /* for the next commit */
	bool may_write;	      /* the connection is set up for it */
	unsigned parts;       /* a bit for each enum store_part whose tables are known to be there */
	unsigned stand_ins;   /* and for those of which empty ones are seen instead */
	bool lends;	      /* some rows may be borrowed: `@own` names a table. Of the open transaction */
	int64_t schema;	      /* PRAGMA schema_version when that was looked at */
	struct row_taker *taker; /* who gets the rows of the statement that runs; db.c */
};

/* What a connection needs from its first write on. Some of it cannot be set inside of a
 * transaction, so that is begun later. */
enum status db_set_up_writing(struct store *s, struct err *err) MUST_USE;

/* So many pages in the log are carried over into the file after a commit (but see store/backfill.h). */
enum { DB_LOG_FRAMES = 2000 };

/* A statement in use. Reset, with its bindings cleared, when the scope ends. */
struct stmt {
	struct store *store;
	sqlite3_stmt *st;
	int bind_error; /* first one, reported by the step */
};

#define STMT struct stmt CLEANUP(stmt_done)

enum status stmt_use(struct store *s, const struct db_set *set, int index, struct stmt *out, struct err *err) MUST_USE;
void stmt_done(struct stmt *st);

/* Parameters count from 1. Bytes must stay valid until the statement is done. */
void stmt_int(struct stmt *st, int at, int64_t v);
void stmt_int_or_null(struct stmt *st, int at, int64_t v, bool is_null);
void stmt_text(struct stmt *st, int at, struct str v);
void stmt_blob(struct stmt *st, int at, const void *p, size_t n);
void stmt_uuid(struct stmt *st, int at, const struct uuid *u);

/* Two: the first and the last text that is meant by one as it is, or with a * at its end by its beginning. What
 * `room` gets must stay valid, too. */
void stmt_text_range(struct stmt *st, int at, struct str pattern, struct buf *room);

enum step { STEP_ROW, STEP_DONE, STEP_FAILED };
enum step stmt_step(struct stmt *st, struct err *err) MUST_USE;

/* For statements that must have a row; the first one. */
enum status stmt_row(struct stmt *st, const char *what, struct err *err) MUST_USE;

/* For statements that have one row or none. */
enum status stmt_found(struct stmt *st, bool *out, struct err *err) MUST_USE;

/* For statements without rows. */
enum status stmt_run(struct stmt *st, struct err *err) MUST_USE;

/* A statement of a module that takes one number. */
enum status stmt_run_with(struct store *s, const struct db_set *set, int index, int64_t number,
			  struct err *err) MUST_USE;

/* Like stmt_run(); STATUS_CONFLICT when not exactly one row was changed. */
enum status stmt_run_one(struct stmt *st, const char *what, struct err *err) MUST_USE;

/* Columns count from 0. Slices are valid until the next step. */
int64_t col_int(const struct stmt *st, int at);
bool col_null(const struct stmt *st, int at);
struct str col_bytes(const struct stmt *st, int at); /* text or blob */
struct str col_text(const struct stmt *st, int at);  /* the same, and p NULL for NULL alone */
struct uuid col_uuid(const struct stmt *st, int at); /* zero = it is none */

/*
 * Many rows, handed over from inside of SQLite, which takes half the time of stepping
 * through them. The statement says SELECT 1 FROM ... WHERE ... AND arbor_row(column, ...), and
 * each row is given to the function. Slices are valid until it returns; when it fails, so does
 * the statement.
 */
typedef enum status row_fn(void *ctx, sqlite3_value **row, struct err *err);
enum status stmt_each(struct stmt *st, row_fn *fn, void *ctx, struct err *err) MUST_USE;
enum status db_register_rows(struct store *s, struct err *err) MUST_USE; /* for connecting */

static inline struct str row_bytes(sqlite3_value **row, int at) /* text or blob */
{
	const void *p = sqlite3_value_blob(row[at]);

	return str_from(p, p ? (size_t)sqlite3_value_bytes(row[at]) : 0);
}

/* Runs SQL without parameters, one or several statements. */
enum status db_exec(struct store *s, const char *sql, struct err *err) MUST_USE;

/* Error from the connection: "what: reason". */
enum status db_fail(struct store *s, int code, const char *what, struct err *err);

/* The commit counter of the open transaction, for `rev` columns. Takes the
 * next one the first time it is asked in a transaction. */
enum status db_rev(struct store *s, int64_t *out, struct err *err) MUST_USE;

/* Whether the schema is still the one this program knows, and so are the derived tables. */
enum status db_check_version(struct store *s, struct err *err) MUST_USE;

/* A setting of the store that is a number; 0 when there is none. */
enum status db_number(struct store *s, const char *key, int64_t *out, struct err *err) MUST_USE;

/* Brings all of the log into the database and cuts it to nothing, when nobody reads from it; waits for
 * that up to so long. */
enum status db_empty_log(struct store *s, int wait_ms, bool *done, struct err *err) MUST_USE;

/* FTS5's own interface, for the tokenizer and the rank function. */
enum status fulltext_api(struct store *s, fts5_api **out, struct err *err) MUST_USE;

/* migrate.c */
enum { DB_APPLICATION_ID = 0x41726272 }; /* "Arbr" */
int db_newest_version(void);

/* Whether this is a store, or a database nobody has used yet; *ready: a store that
 * needs no migration to be opened. Changes nothing. */
enum status db_recognise(struct store *s, bool *ready, struct err *err) MUST_USE;
enum status db_migrate(struct store *s, int up_to, struct err *err) MUST_USE;

/* Lets this connection see the tables of a part and not of those before it: empty ones, as long as the store
 * has not got them. Statements of modules that say which part they ask (db.c, db_parts) need no other word. */
enum status db_see(struct store *s, enum store_part part, struct err *err) MUST_USE;

/* For a write transaction that begins: whether rows are borrowed (store.lends). And to have it so from here on. */
enum status db_see_lending(struct store *s, struct err *err) MUST_USE;
enum status db_begin_lending(struct store *s, struct err *err) MUST_USE;

/* Whether no other version has made the derived tables its own since they were ours. */
enum status db_check_derived(struct store *s, struct err *err) MUST_USE;

#endif
