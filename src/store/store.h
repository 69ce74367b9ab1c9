/*
 * The store: one SQLite database with its bell, opened by any number of
 * processes at once.
 *
 * A struct store belongs to one thread. A program that works with several
 * threads opens one for each; store_open_again() is the way.
 */
#ifndef ARBOR_STORE_STORE_H
#define ARBOR_STORE_STORE_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/uuid.h"

struct store;

/* Where SQLite's memory comes from, for all stores of the program: to be said before the first is opened.
 * Without that it comes from malloc(). Numbers are as SQLite has them; none is negative. */
struct store_memory {
	void *(*take)(int bytes); /* NULL = there is none */
	void (*give_back)(void *p);
	void *(*resize)(void *p, int bytes);
	int (*size_of)(void *p);
	int (*room_for)(int bytes); /* what taking so many gives */
};

void store_use_memory(const struct store_memory *m);

struct store_options {
	const char *path;   /* of the database file */
	bool create;        /* make it, and missing folders, when there is none */
	bool own_folder;    /* its folder is for Arbor alone: keep it 0700 */
	bool given;         /* somebody named it in the call, and has to do so again to make or mean it */
	struct clock clock; /* what "now" is; zero = the system's */
	const struct log *log;
	const atomic_bool *cancel; /* ends waiting for locks; may be NULL */
};

/*
 * Opens, and brings the facts' schema up to date. Expect STATUS_NOT_FOUND (no
 * store and no `create`), STATUS_TOO_NEW, STATUS_NOT_A_STORE, STATUS_BUSY.
 * Files are made with mode 0600 and folders with 0700; a store with wider
 * permissions is narrowed. One that cannot be written is opened for reading; whoever begins
 * to write to it gets STATUS_DENIED.
 */
enum status store_open(const struct store_options *o, struct store **out, struct err *err) MUST_USE;

/* What a store can hold, by the number of the sql/facts-NNNN file that makes its tables. Every store
 * has the first; the others are made by who first puts something there. */
enum store_part { STORE_ARCHIVE = 1, STORE_TREES, STORE_LIVE, STORE_PURGED, STORE_BASES };
enum status store_reach(struct store *s, enum store_part part, struct err *err) MUST_USE;

/* Whether its tables have been made: who only reads asks first. */
enum status store_has(struct store *s, enum store_part part, bool *out, struct err *err) MUST_USE;

/* A second connection for another thread: only reads, small cache. */
enum status store_open_again(const struct store *from, struct store **out, struct err *err) MUST_USE;

/* The same for one that writes, too. */
enum status store_open_beside(const struct store *from, struct store **out, struct err *err) MUST_USE;
void store_close(struct store *s); /* NULL is fine */

/* For CLEANUP. */
void store_closep(struct store **s);

/* What is added to its path to name the files of a store; NULL ends them. */
extern const char *const store_file_suffixes[];
enum { STORE_FILES = 5 };

const char *store_path(const struct store *s);
bool store_is_given(const struct store *s); /* as its options' `given` says */
int64_t store_now(const struct store *s);
const struct log *store_log(const struct store *s);
bool store_is_cancelled(const struct store *s); /* as its options' `cancel` says */

/* For a connection that is used for one thing after the other. */
void store_set_cancel(struct store *s, const atomic_bool *cancel);

/* Whether the connection shows the store no more: its file was removed or replaced, or was taken not
 * to change, and has. */
bool store_is_outdated(const struct store *s);

/*
 * Whether the derived tables are what this program would build. If not, the
 * caller refills them (ingest/rebuild.h) before it uses them. If they are, and another
 * version makes them its own, transactions fail with STATUS_TOO_NEW.
 */
enum status store_derived_current(struct store *s, bool *out, struct err *err) MUST_USE;

/* Raise when the code that fills the derived tables changes its mind while
 * sql/derived.sql stays the same. */
enum { STORE_DERIVED_RULES = 23 };

/* Inside a transaction: drop and make the derived tables, empty; and say that they
 * are this program's. Both together, or the next program starts over. */
enum status store_derived_reset(struct store *s, struct err *err) MUST_USE;
enum status store_derived_made(struct store *s, struct err *err) MUST_USE;

/*
 * A write transaction. It takes the write lock at once (waiting its turn) and
 * rolls back when the scope ends without txn_commit():
 *
 *     struct txn txn CLEANUP(txn_end) = { 0 };
 *     if (txn_begin(s, &txn, err)) ...
 *     if (txn_commit(&txn, err)) ...
 *
 * Nested transactions join the outer one; if an inner one is not committed,
 * the outer one cannot be.
 */
struct txn {
	struct store *store; /* NULL when not open */
};

enum status txn_begin(struct store *s, struct txn *t, struct err *err) MUST_USE;
enum status txn_commit(struct txn *t, struct err *err) MUST_USE;
void txn_end(struct txn *t);

/* Between transactions that follow each other: leaves the lock to others for a moment, once
 * it was taken for long and somebody waits for it. */
void txn_pause(struct store *s);

/* Whether the open transaction has taken this long, which depends on whether another program
 * waits for its end. */
bool txn_is_long(const struct store *s, int64_t alone_ns, int64_t wanted_ns);

/*
 * Part of an open write transaction that can be undone alone: rolls back to its
 * beginning when the scope ends without save_keep().
 */
struct save {
	struct store *store;
	int64_t rev; /* the transaction's before it */
};

enum status save_begin(struct store *s, struct save *v, struct err *err) MUST_USE;
enum status save_keep(struct save *v, struct err *err) MUST_USE;
void save_end(struct save *v);

/* Makes the next commit wait until it is on the disk, not only in the log of
 * the system: for the last commit before success is reported. */
enum status store_sync_next_commit(struct store *s, struct err *err) MUST_USE;

/* A snapshot for several reads. Ends with read_end() or its scope. Inside of another transaction it is
 * that one. */
struct read_txn {
	struct store *store;
};

enum status read_begin(struct store *s, struct read_txn *t, struct err *err) MUST_USE;
void read_end(struct read_txn *t);

/* The same where somebody above may have begun one, or a write transaction: then nothing begins or ends here. */
enum status read_join(struct store *s, struct read_txn *t, struct err *err) MUST_USE;

/*
 * Waits until another connection has committed something since the last call
 * (or since opening), at most `timeout_ms`. *changed says which it was.
 */
enum status store_wait(struct store *s, int timeout_ms, bool *changed, struct err *err) MUST_USE;

/* Settings of the store (table store_setting). Missing text is STATUS_NOT_FOUND. */
enum status store_setting_get(struct store *s, const char *key, struct buf *out, struct err *err) MUST_USE;
enum status store_setting_put(struct store *s, const char *key, struct str value, struct err *err) MUST_USE;

/* The commit counter: another one after every transaction that wrote facts. */
enum status store_rev(struct store *s, int64_t *out, struct err *err) MUST_USE;

/* Bytes of the database, without its log. */
enum status store_size(struct store *s, int64_t *out, struct err *err) MUST_USE;

#endif
