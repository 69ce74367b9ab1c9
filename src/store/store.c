/*
 * Opening and closing a store; waiting for what others commit; its settings.
 *
 * The database is in WAL mode with synchronous=NORMAL: a commit survives the
 * death of any process at once, and a power cut at the latest from the next
 * checkpoint on; a caller that reports success asks for a synced commit first.
 * Locks are waited for with a handler of our own that sleeps 1 ms at most,
 * because SQLite's own backs off to 100 ms and starves the impatient.
 *
 * A file descriptor of our own on the database would be a trap: closing it
 * drops this process's POSIX locks on the file, SQLite's included. Permissions
 * are therefore looked at and set by name, and only a file that did not exist
 * before is ever opened by us.
 *
 * A store that cannot be written (a file or folder without that permission, a
 * medium that has none) can be read. SQLite wants to make two files beside it even
 * for that. Where it cannot, and no log is left there, the file alone is the whole store,
 * and SQLite is told that it does not change. Nothing else is touched then either.
 */
#include "store/ahead.h"
#include "store/borrowed.h"
#include "store/db.h"
#include "store/firsts.h"
#include "store/fulltext.h"
#include "store/like.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	STORE_DATA_VERSION,
	STORE_SETTING_GET,
	STORE_SETTING_PUT,
	STORE_NEXT_REV,
	STORE_PAGES,
	STORE_VERSION,
	STORE_STATEMENTS
};

static const char *const sql[STORE_STATEMENTS] = {
	[STORE_DATA_VERSION] = "PRAGMA data_version",
	[STORE_SETTING_GET] = "SELECT value FROM store_setting WHERE key = ?1",
	[STORE_SETTING_PUT] = "INSERT INTO store_setting(key, value, rev) VALUES (?1, ?2, ?3)"
			      " ON CONFLICT(key) DO UPDATE SET value = excluded.value, rev = excluded.rev",
	[STORE_NEXT_REV] = "INSERT INTO store_setting(key, value, rev) VALUES ('rev', 1, 1)"
			   " ON CONFLICT(key) DO UPDATE SET value = value + 1, rev = value + 1 RETURNING value",
	[STORE_VERSION] = "PRAGMA user_version",
	[STORE_PAGES] = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
};

const struct db_set store_statements = { DB_STORE, sql, STORE_STATEMENTS };

const char *const store_file_suffixes[STORE_FILES + 1] = { "", "-wal", "-shm", "-journal", "-bell", NULL };

enum { MS = 1000 * 1000 }; /* in nanoseconds */

static void sleep_ns(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

bool txn_is_long(const struct store *s, int64_t alone_ns, int64_t wanted_ns)
{
	int64_t age = clock_monotonic_ns() - s->locked_ns;

	return age >= alone_ns || (age >= wanted_ns && bell_has_queue(&s->bell));
}

void txn_pause(struct store *s)
{
	if (s->held_ns < LIMIT_TXN_NS || !bell_has_queue(&s->bell))
		return;
	sleep_ns(LIMIT_TXN_PAUSE_NS);
	s->held_ns = 0;
}

/* Called by SQLite while somebody else holds the lock it wants. At first it looks so often
 * that it meets the pause of another who has much to write. */
static int wait_for_lock(void *ctx, int attempt)
{
	enum { OFTEN = 400 };
	struct store *s = ctx;

	bell_queue_up(&s->bell);
	if (attempt >= OFTEN + LIMIT_BUSY_MS || (s->cancel && atomic_load(s->cancel)))
		return 0;
	sleep_ns(attempt < OFTEN ? LIMIT_TXN_PAUSE_NS / 3 : MS);
	return 1;
}

static enum status parent_of(const char *path, char out[LIMIT_PATH], struct err *err)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (strlen(path) + 16 >= LIMIT_PATH)
		return err_fail(err, STATUS_LIMIT, "%.200s...: path too long", path);
	memcpy(out, path, n);
	memcpy(out + n, n ? "" : slash ? "/" : ".", n ? 1 : 2);
	return STATUS_OK;
}

/* Makes the file with our permissions before SQLite would with its own. */
static enum status make_file(const char *path, struct err *err)
{
	char folder[LIMIT_PATH];
	int fd;

	if (parent_of(path, folder, err) || file_make_dirs(folder, err))
		return err_pass(err, "making the store");
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST)
		return err_fail_errno(err, errno, "making the store: %s", path);
	if (fd >= 0)
		close(fd);
	return file_sync_folder(folder, err);
}

static enum status check_file(const struct store_options *o, struct err *err)
{
	struct stat st;

	if (stat(o->path, &st)) {
		if (errno != ENOENT)
			return err_fail_errno(err, errno, "%s", o->path);
		if (!o->create)
			return err_fail(err, STATUS_NOT_FOUND, "%s: no store here yet; 'arbor sync%s%s' makes one",
					o->path, o->given ? " --store " : "", o->given ? o->path : "");
		return make_file(o->path, err);
	}
	if (!S_ISREG(st.st_mode))
		return err_fail(err, STATUS_NOT_A_STORE, "%s: not a file", o->path);
	return STATUS_OK;
}

/* Whether there is something in the log. */
static bool has_log(const struct store *s)
{
	char name[LIMIT_PATH + 16];
	struct stat log;

	snprintf(name, sizeof name, "%s-wal", s->path);
	return stat(name, &log) == 0 && log.st_size > 0;
}

/* Somebody who may has written to a file that we took not to change. */
static bool has_thawed(const struct store *s)
{
	struct stat now;

	return stat(s->path, &now) || now.st_size != s->frozen.st_size || has_log(s) ||
	       now.st_mtim.tv_sec != s->frozen.st_mtim.tv_sec || now.st_mtim.tv_nsec != s->frozen.st_mtim.tv_nsec;
}

/* The folder counts, too: the log is made in it. */
static enum status find_access(struct store *s, struct err *err)
{
	char name[LIMIT_PATH + 16];

	if (parent_of(s->path, name, err))
		return err_failed(err->status);
	if (faccessat(AT_FDCWD, s->path, W_OK, AT_EACCESS) == 0 && faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) == 0)
		return STATUS_OK;
	s->access = has_log(s) ? DB_READ : DB_FROZEN;
	if (s->access == DB_FROZEN && stat(s->path, &s->frozen))
		return err_fail_errno(err, errno, "%s", s->path);
	return STATUS_OK;
}

static enum status narrow_folder(const struct store_options *o, struct err *err)
{
	char folder[LIMIT_PATH];
	struct stat st;

	if (!o->own_folder)
		return STATUS_OK;
	if (parent_of(o->path, folder, err))
		return err_failed(err->status);
	if (stat(folder, &st) == 0 && (st.st_mode & 077) && st.st_uid == geteuid() && chmod(folder, 0700))
		return err_fail_errno(err, errno, "%s: narrowing its permissions", folder);
	return STATUS_OK;
}

static enum status narrow_permissions(const char *path, struct err *err)
{
	char name[LIMIT_PATH + 16];
	struct stat st;

	for (const char *const *suffix = store_file_suffixes; *suffix; suffix++) {
		snprintf(name, sizeof name, "%s%s", path, *suffix);
		if (stat(name, &st) == 0 && (st.st_mode & 077) && st.st_uid == geteuid() && chmod(name, 0600) &&
		    errno != ENOENT)
			return err_fail_errno(err, errno, "%s: narrowing its permissions", name);
	}
	return STATUS_OK;
}

/* Packed blocks are some 20 KB and rows come by the thousand: in pages of twice SQLite's usual size a first sync
 * takes a tenth less, for a fiftieth more room in a large store. Of a file that has pages already this changes
 * nothing. */
static enum status choose_page_size(struct store *s, struct err *err)
{
	return db_exec(s, "PRAGMA page_size=8192", err);
}

/* Switching an empty database to WAL needs it alone for a moment; SQLite does
 * not ask the busy handler there. */
static enum status enter_wal(struct store *s, struct err *err)
{
	int code = SQLITE_BUSY;

	for (int i = 0; code == SQLITE_BUSY && i < LIMIT_BUSY_MS; i++) {
		code = sqlite3_exec(s->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) & 0xff;
		if (code == SQLITE_BUSY)
			sleep_ns(MS);
	}
	return code == SQLITE_OK ? STATUS_OK : db_fail(s, code, "opening", err);
}

/* The name of a file that does not change, as a URI. */
static const char *frozen_name(const struct store *s, struct buf *out)
{
	buf_text(out, "file:");
	for (const char *c = s->path; *c; c++) {
		if (strchr("%?#", *c))
			buf_printf(out, "%%%02X", (unsigned char)*c);
		else
			buf_byte(out, *c);
	}
	buf_text(out, "?immutable=1");
	return out->p;
}

static int open_db(struct store *s)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_PATH);
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

	if (s->access == DB_FROZEN)
		return sqlite3_open_v2(frozen_name(s, &name), &s->db, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
				       NULL);
	return sqlite3_open_v2(s->path, &s->db,
			       flags | (s->access == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE), NULL);
}

static int ready_at_once(void *ctx)
{
	(void)ctx;
	return SQLITE_OK;
}

static void nothing_left(void *ctx)
{
	(void)ctx;
}

void store_use_memory(const struct store_memory *m)
{
	const sqlite3_mem_methods methods = { m->take,	   m->give_back,  m->resize,	m->size_of,
					      m->room_for, ready_at_once, nothing_left, NULL };

	/* Where SQLite is in use already it keeps what it has. */
	sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

static enum status connect_db(struct store *s, const char *pragmas, struct err *err)
{
	int code;

	if (sqlite3_libversion_number() < 3051003)
		return err_fail(err, STATUS_INTERNAL,
				"SQLite %s can corrupt a store that two programs write; 3.51.3 or newer is needed",
				sqlite3_libversion());
	sqlite3_initialize();
	code = open_db(s);
	if (code != SQLITE_OK)
		return db_fail(s, code, "opening", err);
	sqlite3_busy_handler(s->db, wait_for_lock, s);
	if (db_exec(s, pragmas, err) || db_register_rows(s, err) || borrowed_register(s, err))
		return err_failed(err->status);
	return fulltext_register(s, err);
}

static struct store *store_new(const struct store_options *o)
{
	struct store *s = mem_alloc(sizeof *s);

	s->bell = (struct bell)BELL_INIT;
	s->clock = o->clock.now_ms ? o->clock : clock_system();
	s->log = o->log;
	s->cancel = o->cancel;
	s->given = o->given;
	s->seen_version = -1;
	snprintf(s->path, sizeof s->path, "%s", o->path);
	return s;
}

static enum status open_bell(struct store *s, struct err *err)
{
	char path[LIMIT_PATH + 8];

	snprintf(path, sizeof path, "%s-bell", s->path);
	return bell_open(&s->bell, path, err);
}

static enum status look(struct store *s, int64_t *version, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &store_statements, STORE_DATA_VERSION, &st, err) || stmt_row(&st, "data version", err))
		return err_failed(err->status);
	*version = col_int(&st, 0);
	return STATUS_OK;
}

/* SQLite keeps its other files beside the real file, wherever a link to it lies;
 * so do we, and every name of a store means the same files. */
static enum status resolve_path(struct store *s, struct err *err)
{
	char *real = realpath(s->path, NULL);
	size_t n = real ? strlen(real) : 0;

	if (!real)
		return err_fail_errno(err, errno, "%s", s->path);
	if (n < sizeof s->path)
		memcpy(s->path, real, n + 1);
	free(real);
	return n < sizeof s->path ? STATUS_OK : err_fail(err, STATUS_LIMIT, "%s: path too long", s->path);
}

/* A command that reads looks at most pages once. With a small cache SQLite puts them where others
 * were, which costs less than the system does for new memory. Who writes gets more (db.c). */
static const char reading_pragmas[] = "PRAGMA cache_size=-256; PRAGMA temp_store=MEMORY;"
				      "PRAGMA trusted_schema=OFF; PRAGMA synchronous=NORMAL";

/* Everything that may change something; a store that was never used is made. */
static enum status settle_in(struct store *s, const struct store_options *o, bool ready, struct err *err)
{
	if (s->access != DB_WRITE)
		return ready ? STATUS_OK
			      : err_fail(err, STATUS_DENIED,
					 "%s: it has to be upgraded, and cannot be written; copy it to where it can",
					 s->path);
	if (narrow_folder(o, err) || narrow_permissions(s->path, err) || (!ready && choose_page_size(s, err)) ||
	    enter_wal(s, err))
		return err_failed(err->status);
	return !ready && db_migrate(s, STORE_ARCHIVE, err) ? err_failed(err->status) : open_bell(s, err);
}

/* What SQLite says of a log that it cannot read helps nobody. */
static enum status connect_first(struct store *s, bool *ready, struct err *err)
{
	enum status status = connect_db(s, reading_pragmas, err);

	if (status == STATUS_OK)
		status = db_recognise(s, ready, err);
	if (s->access == DB_READ && status == STATUS_DENIED)
		return err_fail(err, STATUS_DENIED,
				"%s: a program that wrote to it has left a log, %s-wal, which cannot be read here; "
				"copy both files to a folder that can be written",
				s->path, strrchr(s->path, '/') + 1);
	return status;
}

enum status store_open(const struct store_options *o, struct store **out, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;
	bool ready;

	if (check_file(o, err))
		return err_failed(err->status);
	s = store_new(o);
	/* Nothing is changed before we know that the file is ours. */
	if (resolve_path(s, err) || find_access(s, err) || connect_first(s, &ready, err) ||
	    settle_in(s, o, ready, err) || look(s, &s->seen_version, err))
		return err_failed(err->status);
	s->opened = true;
	*out = s;
	s = NULL;
	return STATUS_OK;
}

static struct store_options options_of(const struct store *s)
{
	return (struct store_options){ .path = s->path, .clock = s->clock, .log = s->log, .cancel = s->cancel };
}

enum status store_open_beside(const struct store *from, struct store **out, struct err *err)
{
	struct store_options o = options_of(from);

	return store_open(&o, out, err);
}

enum status store_open_again(const struct store *from, struct store **out, struct err *err)
{
	struct store_options o = options_of(from);
	struct store *s CLEANUP(store_closep) = store_new(&o);

	s->access = from->access;
	if (connect_db(s, "PRAGMA cache_size=-1024; PRAGMA query_only=ON", err))
		return err_failed(err->status);
	*out = s;
	s = NULL;
	return STATUS_OK;
}

/* Where somebody who wrote was killed there is something in it. The last to close carries that over, but would leave
 * its bytes for every reader to go through. */
static void leave_log(struct store *s)
{
	if (s->access == DB_WRITE && has_log(s))
		sqlite3_exec(s->db, "PRAGMA journal_size_limit=0", NULL, NULL, NULL);
	sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_PERSIST_WAL, &(int){ 1 });
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (int slot = 0; slot < DB_SLOTS; slot++) {
		for (size_t i = 0; i < s->prepared_count[slot]; i++)
			sqlite3_finalize(s->prepared[slot][i]);
		mem_free(s->prepared[slot]);
	}
	/* Who only reads leaves the log, empty, and what belongs to it for the next one: making and
	 * removing two files costs as much as looking a word up. */
	if (s->db && !s->may_write)
		leave_log(s);
	sqlite3_close(s->db);
	packer_free(s->packer);
	ahead_free(s->ahead);
	like_cache_free(s->like);
	firsts_free(s->firsts);
	bell_close(&s->bell);
	mem_free(s);
}

void store_closep(struct store **s)
{
	store_close(*s);
	*s = NULL;
}

const char *store_path(const struct store *s)
{
	return s->path;
}

bool store_is_given(const struct store *s)
{
	return s->given;
}

int64_t store_now(const struct store *s)
{
	return clock_now(&s->clock);
}

const struct log *store_log(const struct store *s)
{
	return s->log;
}

bool store_is_cancelled(const struct store *s)
{
	return s->cancel && atomic_load(s->cancel);
}

void store_set_cancel(struct store *s, const atomic_bool *cancel)
{
	s->cancel = cancel;
}

bool store_is_outdated(const struct store *s)
{
	int moved = 0;

	return (sqlite3_file_control(s->db, NULL, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved) ||
	       (s->access == DB_FROZEN && has_thawed(s));
}

enum status store_wait(struct store *s, int timeout_ms, bool *changed, struct err *err)
{
	enum { FALLBACK_MS = 250 };
	int64_t end = clock_monotonic_ns() / 1000000 + timeout_ms;
	int64_t version;

	bell_listen(&s->bell);
	for (;;) {
		int64_t left = end - clock_monotonic_ns() / 1000000;

		if (look(s, &version, err))
			return err_failed(err->status);
		*changed = version != s->seen_version;
		s->seen_version = version;
		if (*changed || left <= 0)
			return STATUS_OK;
		bell_wait(&s->bell, left < FALLBACK_MS ? (int)left : FALLBACK_MS);
	}
}

enum status store_setting_get(struct store *s, const char *key, struct buf *out, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &store_statements, STORE_SETTING_GET, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, str_of(key));
	switch (stmt_step(&st, err)) {
	case STEP_ROW:
		buf_str(out, col_bytes(&st, 0));
		return out->failed ? err_fail(err, STATUS_LIMIT, "setting '%s' is too long", key) : STATUS_OK;
	case STEP_DONE:
		return err_fail(err, STATUS_NOT_FOUND, "the store has no setting '%s'", key);
	case STEP_FAILED:
		break;
	}
	return err_failed(err->status);
}

enum status store_setting_put(struct store *s, const char *key, struct str value, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t rev;

	if (txn_begin(s, &txn, err) || db_rev(s, &rev, err))
		return err_failed(err->status);
	{
		STMT st = { 0 };

		if (stmt_use(s, &store_statements, STORE_SETTING_PUT, &st, err))
			return err_failed(err->status);
		stmt_text(&st, 1, str_of(key));
		stmt_text(&st, 2, value);
		stmt_int(&st, 3, rev);
		if (stmt_run(&st, err))
			return err_failed(err->status);
	}
	return txn_commit(&txn, err);
}

static enum status read_version(struct store *s, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &store_statements, STORE_VERSION, &st, err) || stmt_row(&st, "store version", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

enum status db_check_version(struct store *s, struct err *err)
{
	int64_t version;

	if (!s->opened)
		return STATUS_OK;
	if (read_version(s, &version, err))
		return err_failed(err->status);
	if (version > db_newest_version())
		return err_fail(err, STATUS_TOO_NEW, "%s: a newer arbor has upgraded it meanwhile; start again",
				s->path);
	return db_check_derived(s, err);
}

enum status db_empty_log(struct store *s, int wait_ms, bool *done, struct err *err)
{
	int code;

	sqlite3_busy_timeout(s->db, wait_ms);
	code = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_handler(s->db, wait_for_lock, s);
	*done = code == SQLITE_OK;
	return code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY ? STATUS_OK
								 : db_fail(s, code, "emptying the log", err);
}

enum status db_rev(struct store *s, int64_t *out, struct err *err)
{
	if (s->rev == 0) {
		STMT st = { 0 };

		if (stmt_use(s, &store_statements, STORE_NEXT_REV, &st, err) || stmt_row(&st, "revision", err))
			return err_failed(err->status);
		s->rev = col_int(&st, 0);
		s->wrote = true;
	}
	*out = s->rev;
	return STATUS_OK;
}

enum status db_number(struct store *s, const char *key, int64_t *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (stmt_use(s, &store_statements, STORE_SETTING_GET, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, str_of(key));
	step = stmt_step(&st, err);
	*out = step == STEP_ROW ? col_int(&st, 0) : 0;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status store_rev(struct store *s, int64_t *out, struct err *err)
{
	return db_number(s, "rev", out, err);
}

enum status store_size(struct store *s, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (stmt_use(s, &store_statements, STORE_PAGES, &st, err) || stmt_row(&st, "size", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}
