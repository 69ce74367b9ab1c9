/*
 * Keys of nodes, entered in their own order.
 *
 * Ids are hashes: the keys of one file are spread over the whole table. Entered
 * together with their lines they would change most of its pages in every
 * transaction, all of which go through the log. So they come later, many at a time
 * and sorted: each page is then changed once.
 *
 * A session remembers up to which byte its nodes are entered (keyed_to). Who is
 * killed in between enters some of them again, which changes nothing. Until then a
 * node is found by search and by its session, only not by its id.
 *
 * Between gathering and entering another program may read a session anew, or make all
 * tables anew. Its `reading` is another one then, and what was gathered of it is
 * dropped: every key leads to an entry, and no session is noted whose keys are not in.
 */
#include "store/keys.h"

#include "base/clock.h"
#include "base/thread.h"
#include "store/borrowed.h"
#include "store/copied.h"
#include "store/db.h"
#include "store/session.h"
#include "store/summary.h"
#include "store/variant.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEYS_UNKEYED,
	KEYS_ENTRIES,
	KEYS_BETWEEN,
	KEYS_READING,
	KEYS_VERSION,
	KEYS_ADD,
	KEYS_ADD_MANY,
	KEYS_FORGET,
	KEYS_HOLDER,
	KEYS_HANGING,
	KEYS_KIN_ADD,
	KEYS_KIN_AGAIN,
	KEYS_KIN_FORGET,
	KEYS_KIN_FORGET_BACK,
	KEYS_ANY,
	KEYS_DONE,
	KEYS_STATEMENTS
};

#define FOUR_ROWS "(?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)"

#define ENTRIES "SELECT offset, uuid, line_id, first, blocks, message, parent, tools, link, flags FROM entry"

/* Rows of KEYS_ADD_MANY: a statement costs as much as entering a row. */
enum { MANY = 16 };

static const char *const sql[KEYS_STATEMENTS] = {
	[KEYS_UNKEYED] =
		("SELECT id, reading, keyed_to, read_to, old FROM mirror_session WHERE keyed_to < read_to ORDER BY id"),
	[KEYS_ENTRIES] = (ENTRIES " WHERE session = ?1 AND offset >= ?2 ORDER BY offset"),
	[KEYS_BETWEEN] = (ENTRIES " WHERE session = ?1 AND offset >= ?2 AND offset < ?3"),
	[KEYS_READING] = "SELECT reading FROM mirror_session WHERE id = ?1",
	[KEYS_VERSION] = "PRAGMA data_version",
	[KEYS_ADD] = "INSERT OR IGNORE INTO node_key@own(key, session, offset, part) VALUES (?1, ?2, ?3, ?4)",
	[KEYS_ADD_MANY] = "INSERT OR IGNORE INTO node_key@own(key, session, offset, part) VALUES " FOUR_ROWS
			  ", " FOUR_ROWS ", " FOUR_ROWS ", " FOUR_ROWS,
	[KEYS_FORGET] = "DELETE FROM node_key@own WHERE key = ?1 AND session = ?2 AND offset = ?3 AND part = ?4",
	[KEYS_HOLDER] = ("SELECT k.session FROM node_key@own k JOIN mirror_session m ON m.id = k.session AND m.old = 0"
			 " WHERE k.key = ?1 AND k.part = ?2 ORDER BY k.session LIMIT 1"),
	[KEYS_HANGING] = ("SELECT DISTINCT k.session FROM node_key k JOIN mirror_session m ON m.id = k.session"
			  " AND m.old = 0 WHERE k.key = ?1 AND k.part = -4"),
	[KEYS_KIN_ADD] = "INSERT OR IGNORE INTO kin(session, other) VALUES (?1, ?2), (?2, ?1)",
	[KEYS_KIN_AGAIN] = ("UPDATE mirror_session SET keyed_to = 0, reading = random()"
			    " WHERE id IN (SELECT other FROM kin WHERE session = ?1)"),
	[KEYS_KIN_FORGET] = "DELETE FROM kin WHERE session = ?1",
	[KEYS_KIN_FORGET_BACK] = ("DELETE FROM kin WHERE (session, other) IN"
				  " (SELECT other, session FROM kin WHERE session = ?1)"),
	[KEYS_ANY] = "SELECT 1 FROM node_key LIMIT 1",
	[KEYS_DONE] =
		"UPDATE mirror_session SET keyed_to = ?4 WHERE id = ?1 AND reading = ?2 AND keyed_to = ?3",
};

const struct db_set keys_statements = { DB_KEYS, sql, KEYS_STATEMENTS };

enum {
	/* Entered at once: 32 MB. */
	MOST_KEYS = 1000000,
	/* From so many bytes of lines on, two threads gather. */
	MUCH = 16 * 1024 * 1024,
};

struct key {
	int64_t key, session, offset;
	int part;
	bool old; /* of an older version: nobody's kin */
};

struct keyed_session {
	int64_t row, reading, from, to;
	bool gone; /* read anew since */
	bool old;
	bool borrows; /* or lends: the keys of some lines may be the lender's */
};

struct key_list {
	struct key *keys;
	size_t count, cap;
	bool old; /* of the session being gathered */
};

struct keys {
	struct store *s;
	struct key_list all;
	struct keyed_session *sessions; /* by row */
	size_t session_count, session_cap;
	int64_t version; /* of the database when they were last looked at */
	bool seen_borrowed; /* and who borrows */
	bool any_gone, any_borrows;
	bool any_before;  /* there were keys when the batch began, or others have written since */
	/* What is known from here on holds for one transaction only: between two of them others
	 * may forget any session. The pair noted last: */
	int64_t kin[2];
	/* The run of equal keys in hand, those of a line before those that hang on it: */
	bool in_run, run_is_api;
	int64_t run, leader; /* its key; a session that has it, 0 = none */
	bool shared;	     /* one had it before the key in hand */
	struct named_lines named;
	struct doc_reader docs; /* of those that may be copies */
	bool dropped;		/* words have left the index */
	/* Not entered yet, which whoever asks the table has to see to: */
	const struct key *waiting[MANY];
	int waiting_count;
};

static void keys_release(struct keys *k)
{
	mem_free(k->all.keys);
	mem_free(k->sessions);
	named_lines_release(&k->named);
	doc_reader_release(&k->docs);
}

static enum status use(struct store *s, int index, struct stmt *st, struct err *err)
{
	return stmt_use(s, &keys_statements, index, st, err);
}

/* A number that changes when another connection has written. */
static enum status data_version(struct store *s, int64_t *out, struct err *err)
{
	STMT st = { 0 };

	if (use(s, KEYS_VERSION, &st, err) || stmt_row(&st, "the version of the data", err))
		return err_failed(err->status);
	*out = col_int(&st, 0);
	return STATUS_OK;
}

int64_t key_of(const struct uuid *id)
{
	uint64_t v = 0;

	for (size_t i = 0; i < 8; i++)
		v = v << 8 | id->b[i];
	return (int64_t)v;
}

int64_t key_of_line(const struct uuid *uuid)
{
	char text[UUID_TEXT + 1];
	struct uuid id;

	uuid_print(uuid, text);
	id = uuid_of_parts(&(struct str){ text, UUID_TEXT }, 1);
	return key_of(&id);
}

/* ---- Gathering ---------------------------------------------------------------- */

typedef enum status key_fn(void *ctx, const struct key *key, struct err *err);

static enum status give(const struct node_name *name, int64_t session, int64_t offset, int part, key_fn *fn,
			void *ctx, struct err *err)
{
	struct uuid id = node_id(name, part);

	return fn(ctx, &(struct key){ key_of(&id), session, offset, part, false }, err);
}

/* Another line it names, when that may be in another file: what it hangs on, what it goes
 * on from, what it was copied from. */
static enum status give_other(const struct stmt *st, int column, int64_t session, int64_t offset, key_fn *fn,
			      void *ctx, struct err *err)
{
	struct node_name other;
	struct uuid id;

	node_name_of(st, column, 2, &other);
	id = node_id(&other, PART_LINE);
	return fn(ctx, &(struct key){ key_of(&id), session, offset, PART_PARENT, false }, err);
}

/* The calls in it, or those it has results of. */
static enum status give_calls(const struct stmt *st, int64_t session, int64_t offset, key_fn *fn, void *ctx,
			      struct err *err)
{
	struct str many = col_bytes(st, 7);

	if (sqlite3_column_type(st->st, 7) != SQLITE_BLOB)
		return fn(ctx, &(struct key){ col_int(st, 7), session, offset, PART_CALL, false }, err);
	for (size_t i = 0; i + sizeof(int64_t) <= many.n; i += sizeof(int64_t)) {
		int64_t call;

		memcpy(&call, many.p + i, sizeof call);
		if (fn(ctx, &(struct key){ call, session, offset, PART_CALL, false }, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static bool is_blob(const struct stmt *st, int column)
{
	return sqlite3_column_type(st->st, column) == SQLITE_BLOB;
}

/* Whether a line with a uuid names another. Those without one, like summaries, name what
 * they are about. */
static bool has_link(const struct stmt *st)
{
	return !col_null(st, 1) && is_blob(st, 8) && !(is_blob(st, 6) && str_eq(col_bytes(st, 6), col_bytes(st, 8))) &&
	       !(is_blob(st, 1) && str_eq(col_bytes(st, 1), col_bytes(st, 8)));
}

/* What may begin with the line in the row: a tree and a turn where it hangs on nothing, or on what
 * was not at hand when it was read. */
static enum status each_beginning(const struct stmt *st, const struct node_name *name, int64_t session, bool begins,
				  key_fn *fn, void *ctx, struct err *err)
{
	int64_t offset = col_int(st, 0);
	bool is_top = col_null(st, 6) || is_blob(st, 6);

	if (begins && give(name, session, offset, PART_MESSAGE, fn, ctx, err))
		return err_failed(err->status);
	if ((is_top || (col_int(st, 9) & ENTRY_TURN)) &&
	    give(name, session, offset, PART_TURN, fn, ctx, err))
		return err_failed(err->status);
	if (is_top && give(name, session, offset, PART_TREE, fn, ctx, err))
		return err_failed(err->status);
	return STATUS_OK;
}

/* Every node of the line in the row: itself, what begins with it, its blocks.
 * Without a uuid only the line has an id. */
static enum status each_node(const struct stmt *st, int64_t session, key_fn *fn, void *ctx, struct err *err)
{
	int64_t offset = col_int(st, 0), blocks = col_int(st, 4);
	bool begins = (!col_null(st, 3) && col_int(st, 3) == offset) || (col_int(st, 9) & ENTRY_MESSAGE);
	struct node_name name;

	node_name_of(st, 1, 2, &name);
	if (give(&name, session, offset, PART_LINE, fn, ctx, err))
		return err_failed(err->status);
	if (begins && !col_null(st, 5) &&
	    fn(ctx, &(struct key){ col_int(st, 5), session, offset, PART_API, false }, err))
		return err_failed(err->status);
	if (is_blob(st, 6) && give_other(st, 6, session, offset, fn, ctx, err))
		return err_failed(err->status);
	if (has_link(st) && give_other(st, 8, session, offset, fn, ctx, err))
		return err_failed(err->status);
	if (!col_null(st, 7) && give_calls(st, session, offset, fn, ctx, err))
		return err_failed(err->status);
	if (!name.uuid.p)
		return STATUS_OK;
	if (each_beginning(st, &name, session, begins, fn, ctx, err))
		return err_failed(err->status);
	for (int i = 0; i < blocks; i++)
		if (give(&name, session, offset, i, fn, ctx, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status gather_key(void *ctx, const struct key *key, struct err *err)
{
	struct key_list *list = ctx;

	(void)err;
	if (list->count == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 4096;
		list->keys = mem_resize(list->keys, list->cap * sizeof *list->keys);
	}
	list->keys[list->count] = *key;
	list->keys[list->count++].old = list->old;
	return STATUS_OK;
}

/* Some of the sessions, and who gathers their keys. */
struct gathering {
	struct store *s;
	struct keyed_session *sessions;
	size_t session_count;
	size_t most;	       /* keys */
	size_t done;	       /* sessions; of the last perhaps only a part */
	struct key_list *list; /* where they go */
	enum status status;
	struct err err;
	pthread_t thread;
};

/* The nodes of a session, as many lines as there is room for; the session says then how far. */
static enum status gather_session(struct gathering *g, struct keyed_session *session, struct err *err)
{
	enum step step = STEP_DONE;
	STMT st = { 0 };

	if (use(g->s, KEYS_ENTRIES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session->row);
	stmt_int(&st, 2, session->from);
	g->list->old = session->old;
	while (g->list->count < g->most && (step = stmt_step(&st, err)) == STEP_ROW)
		if (each_node(&st, session->row, gather_key, g->list, err))
			return err_failed(err->status);
	if (step == STEP_FAILED)
		return err_failed(err->status);
	if (step == STEP_ROW) /* more than fits: behind the last line taken */
		session->to = col_int(&st, 0) + 1;
	return STATUS_OK;
}

static void *gather_some(void *ctx)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct gathering *g = ctx;

	g->status = read_begin(g->s, &snapshot, &g->err);
	while (g->status == STATUS_OK && g->done < g->session_count && g->list->count < g->most)
		g->status = gather_session(g, &g->sessions[g->done++], &g->err);
	return NULL;
}

/* Those that have nodes without keys. */
static enum status list_sessions(struct keys *k, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	k->session_count = 0;
	if (use(k->s, KEYS_UNKEYED, &st, err))
		return err_failed(err->status);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		if (k->session_count == k->session_cap) {
			k->session_cap = k->session_cap ? k->session_cap * 2 : 64;
			k->sessions = mem_resize(k->sessions, k->session_cap * sizeof *k->sessions);
		}
		k->sessions[k->session_count++] = (struct keyed_session){
			.row = col_int(&st, 0), .reading = col_int(&st, 1), .from = col_int(&st, 2),
			.to = col_int(&st, 3), .old = col_int(&st, 4) != 0,
		};
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* How many of the sessions have half of the lines; all of them when that is not much. */
static size_t first_half(const struct keys *k)
{
	int64_t all = 0, half = 0;
	size_t n = 0;

	for (size_t i = 0; i < k->session_count; i++)
		all += k->sessions[i].to - k->sessions[i].from;
	if (all < MUCH)
		return k->session_count;
	while (n < k->session_count && half < all / 2) {
		half += k->sessions[n].to - k->sessions[n].from;
		n++;
	}
	return n;
}

/* What another thread has gathered goes behind what this one has. */
static void put_together(struct keys *k, const struct gathering *first, const struct gathering *second)
{
	struct key_list *more = second->list;

	if (more->count) {
		k->all.cap = k->all.count + more->count;
		k->all.keys = mem_resize(k->all.keys, k->all.cap * sizeof *k->all.keys);
		memcpy(k->all.keys + k->all.count, more->keys, more->count * sizeof *more->keys);
		k->all.count += more->count;
	}
	memmove(k->sessions + first->done, second->sessions, second->done * sizeof *k->sessions);
	k->session_count = first->done + second->done;
}

/* The second half in a thread and with a connection of its own; where neither can be had, it is left for
 * the next time. */
static enum status gather_halves(struct keys *k, size_t half, struct err *err)
{
	struct store *other CLEANUP(store_closep) = NULL;
	struct key_list more = { 0 };
	struct gathering first = { .s = k->s, .sessions = k->sessions, .session_count = half, .most = MOST_KEYS / 2,
				   .list = &k->all };
	struct gathering second = { .sessions = k->sessions + half, .session_count = k->session_count - half,
				    .most = MOST_KEYS / 2, .list = &more };
	bool started = store_open_again(k->s, &other, err) == STATUS_OK;

	second.s = other;
	started = started && thread_start(&second.thread, gather_some, &second) == 0;
	gather_some(&first);
	if (started)
		pthread_join(second.thread, NULL);
	if (first.status == STATUS_OK && second.status == STATUS_OK)
		put_together(k, &first, &second);
	mem_free(more.keys);
	if (first.status != STATUS_OK || second.status != STATUS_OK)
		*err = first.status != STATUS_OK ? first.err : second.err;
	return first.status != STATUS_OK ? first.status : second.status;
}

static enum status gather(struct keys *k, struct err *err)
{
	struct gathering all = { .s = k->s, .most = MOST_KEYS, .list = &k->all };
	size_t half;

	k->all.count = 0;
	k->any_gone = k->seen_borrowed = false;
	/* Asked before a snapshot is taken: who comes in between is noticed. */
	if (data_version(k->s, &k->version, err) || list_sessions(k, err))
		return err_failed(err->status);
	half = first_half(k);
	if (half < k->session_count)
		return gather_halves(k, half, err);
	all.sessions = k->sessions;
	all.session_count = k->session_count;
	gather_some(&all);
	k->session_count = all.done;
	if (all.status != STATUS_OK)
		*err = all.err;
	return all.status;
}

/* ---- Entering ----------------------------------------------------------------- */

/* In the order kin is looked for: who has a line before whoever hangs on it. */
static int order_of(int part)
{
	return part == PART_LINE ? 0 : part == PART_PARENT ? 1 : part == PART_API ? 2 : 3;
}

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return order_of(x->part) - order_of(y->part);
}

static void sort_few(struct key *list, size_t count)
{
	enum { FEW = 32 };

	if (count > FEW) {
		qsort(list, count, sizeof *list, compare_keys);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct key key = list[i];
		size_t to = i;

		for (; to > 0 && compare_keys(&list[to - 1], &key) > 0; to--)
			list[to] = list[to - 1];
		list[to] = key;
	}
}

/* Keys are spread evenly, so one pass by their first bits leaves a few in each place. Where more
 * are, which only equal ones do, qsort goes on. */
static void sort_keys(struct keys *k)
{
	enum { BITS = 16, PLACES = 1 << BITS };
	size_t *ends = mem_alloc((PLACES + 1) * sizeof *ends), from = 0;
	struct key *sorted = mem_alloc(k->all.cap * sizeof *sorted);

#define PLACE(key) (((uint64_t)(key) ^ UINT64_C(1) << 63) >> (64 - BITS))
	for (size_t i = 0; i < k->all.count; i++)
		ends[PLACE(k->all.keys[i].key) + 1]++;
	for (size_t i = 0; i < PLACES; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < k->all.count; i++)
		sorted[ends[PLACE(k->all.keys[i].key)]++] = k->all.keys[i];
#undef PLACE
	for (size_t i = 0; i < PLACES; from = ends[i++])
		sort_few(sorted + from, ends[i] - from);
	mem_free(ends);
	mem_free(k->all.keys);
	k->all.keys = sorted;
}

static void bind_key(struct stmt *st, int from, const struct key *key)
{
	stmt_int(st, from, key->key);
	stmt_int(st, from + 1, key->session);
	stmt_int(st, from + 2, key->offset);
	stmt_int(st, from + 3, key->part);
}

static enum status change_key(struct store *s, int index, const struct key *key, struct err *err)
{
	STMT st = { 0 };

	if (use(s, index, &st, err))
		return err_failed(err->status);
	bind_key(&st, 1, key);
	return stmt_run(&st, err);
}

static enum status enter_waiting(struct keys *k, struct err *err)
{
	int count = k->waiting_count;
	STMT st = { 0 };

	k->waiting_count = 0;
	for (int i = 0; count < MANY && i < count; i++)
		if (change_key(k->s, KEYS_ADD, k->waiting[i], err))
			return err_failed(err->status);
	if (count < MANY)
		return STATUS_OK;
	if (use(k->s, KEYS_ADD_MANY, &st, err))
		return err_failed(err->status);
	for (int i = 0; i < count; i++)
		bind_key(&st, 4 * i + 1, k->waiting[i]);
	return stmt_run(&st, err);
}

/* Holds as long as nobody else writes: who changes it gives the session another `reading`. */
static enum status see_borrowed(struct keys *k, struct err *err)
{
	k->any_borrows = false;
	for (size_t i = 0; k->s->lends && i < k->session_count; i++) {
		if (borrowed_any(k->s, k->sessions[i].row, &k->sessions[i].borrows, err))
			return err_failed(err->status);
		k->any_borrows |= k->sessions[i].borrows;
	}
	return STATUS_OK;
}

/* Looks which sessions are still what was gathered, if others have written. Wants the
 * write transaction in which that counts. */
static enum status look_again(struct keys *k, struct err *err)
{
	int64_t version;

	if (data_version(k->s, &version, err))
		return err_failed(err->status);
	if ((version != k->version || !k->seen_borrowed) && see_borrowed(k, err))
		return err_failed(err->status);
	k->seen_borrowed = true;
	k->any_before |= version != k->version;
	if (version != k->version && named_lines_load(k->s, &k->named, err))
		return err_failed(err->status);
	for (size_t i = 0; version != k->version && i < k->session_count; i++) {
		struct keyed_session *session = &k->sessions[i];
		STMT st = { 0 };
		enum step step;

		if (use(k->s, KEYS_READING, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, session->row);
		step = stmt_step(&st, err);
		if (step == STEP_FAILED)
			return err_failed(err->status);
		session->gone |= step == STEP_DONE || col_int(&st, 0) != session->reading;
		k->any_gone |= session->gone;
	}
	k->version = version;
	return STATUS_OK;
}

static int compare_rows(const void *a, const void *b)
{
	const struct keyed_session *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

static const struct keyed_session *session_of(const struct keys *k, const struct key *key)
{
	const struct keyed_session wanted = { .row = key->session };

	return bsearch(&wanted, k->sessions, k->session_count, sizeof wanted, compare_rows);
}

static bool is_gone(const struct keys *k, const struct key *key)
{
	const struct keyed_session *found = k->any_gone ? session_of(k, key) : NULL;

	return found && found->gone;
}

static enum status is_borrowed(struct keys *k, const struct key *key, bool *out, struct err *err)
{
	const struct keyed_session *found = k->any_borrows ? session_of(k, key) : NULL;

	*out = false;
	return found && found->borrows ? borrowed_is(k->s, key->session, key->offset, out, err) : STATUS_OK;
}

/* ---- Kin ---------------------------------------------------------------------- */

static enum status add_kin(struct keys *k, int64_t session, int64_t other, struct err *err)
{
	STMT st = { 0 };

	if (k->kin[0] == session && k->kin[1] == other)
		return STATUS_OK;
	k->kin[0] = session;
	k->kin[1] = other;
	if (use(k->s, KEYS_KIN_ADD, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, other);
	return stmt_run(&st, err);
}

/* The smallest session that has a line or message by this key. */
static enum status find_holder(struct keys *k, const struct key *key, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (enter_waiting(k, err) || use(k->s, KEYS_HOLDER, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key->key);
	stmt_int(&st, 2, key->part == PART_PARENT ? PART_LINE : key->part);
	step = stmt_step(&st, err);
	k->leader = step == STEP_ROW ? col_int(&st, 0) : 0;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* All that hang on a line nobody had until now. */
static enum status find_hanging(struct keys *k, const struct key *key, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (enter_waiting(k, err) || use(k->s, KEYS_HANGING, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key->key);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		if (col_int(&st, 0) != key->session && add_kin(k, key->session, col_int(&st, 0), err))
			return err_failed(err->status);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/*
 * Who else has this line or message. Not all pairs are noted, but each session with one
 * that has the same: of those with equal keys, the first in the table or in the list. So
 * those that have a line are always connected through one another. When one of them is
 * forgotten, its kin look again (forget_kin()), all for the same first one.
 */
static enum status note_kin(struct keys *k, size_t at, struct err *err)
{
	const struct key *key = &k->all.keys[at];
	bool is_api = key->part == PART_API, goes_on = at > 0 && k->all.keys[at - 1].key == key->key;

	k->shared = false;
	if (key->old || (key->part != PART_LINE && key->part != PART_PARENT && !is_api))
		return STATUS_OK;
	if (!k->in_run || k->run != key->key || k->run_is_api != is_api) {
		k->in_run = true;
		k->run = key->key;
		k->run_is_api = is_api;
		k->leader = 0;
		/* What of the run was entered before, in another transaction, is in the table. */
		if ((k->any_before || goes_on) && find_holder(k, key, err))
			return err_failed(err->status);
	}
	k->shared = k->leader != 0;
	if (k->leader)
		return k->leader == key->session ? STATUS_OK : add_kin(k, key->session, k->leader, err);
	if (key->part == PART_PARENT)
		return STATUS_OK;
	k->leader = key->session;
	return key->part == PART_LINE && k->any_before ? find_hanging(k, key, err) : STATUS_OK;
}

static enum status note_copy(struct keys *k, const struct key *key, struct err *err)
{
	const struct copied_line line = { key->key, key->session, key->offset };
	bool dropped;

	if (copied_note(k->s, &k->docs, &line, &dropped, err))
		return err_failed(err->status);
	k->dropped |= dropped;
	return STATUS_OK;
}

static enum status enter_key(struct keys *k, size_t at, struct err *err)
{
	const struct key *key = &k->all.keys[at];
	bool borrowed;

	if (is_gone(k, key))
		return STATUS_OK;
	if (key->part == PART_LINE && !key->old && named_lines_has(&k->named, key->key) &&
	    summary_names(k->s, key->session, key->offset, key->key, err))
		return err_failed(err->status);
	if (note_kin(k, at, err) ||
	    (key->part == PART_LINE && k->shared &&
	     (enter_waiting(k, err) || variant_compare(k->s, key->key, key->session, key->offset, err))))
		return err_failed(err->status);
	if (is_borrowed(k, key, &borrowed, err))
		return err_failed(err->status);
	if (!borrowed)
		k->waiting[k->waiting_count++] = key;
	if (key->part == PART_LINE && k->shared)
		return enter_waiting(k, err) || note_copy(k, key, err) ? err_failed(err->status) : STATUS_OK;
	return k->waiting_count == MANY ? enter_waiting(k, err) : STATUS_OK;
}

enum status keys_any(struct store *s, bool *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(s, KEYS_ANY, &st, err))
		return err_failed(err->status);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* From *at on, for a few milliseconds. */
static enum status enter_some(struct keys *k, size_t *at, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	int64_t end;

	txn_pause(k->s);
	if (txn_begin(k->s, &txn, err) || look_again(k, err))
		return err_failed(err->status);
	/* Whoever led, and the pair noted last, may be gone. */
	k->in_run = false;
	k->kin[0] = k->kin[1] = 0;
	k->waiting_count = 0;
	doc_reader_release(&k->docs);
	k->docs.store = k->s;
	end = clock_monotonic_ns() + LIMIT_TXN_NS;
	for (; *at < k->all.count && (*at % 64 || clock_monotonic_ns() < end); ++*at)
		if (enter_key(k, *at, err))
			return err_failed(err->status);
	return enter_waiting(k, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

static enum status note_done(struct keys *k, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };

	if (txn_begin(k->s, &txn, err))
		return err_failed(err->status);
	for (size_t i = 0; i < k->session_count; i++) {
		const struct keyed_session *session = &k->sessions[i];
		STMT st = { 0 };

		if (use(k->s, KEYS_DONE, &st, err))
			return err_failed(err->status);
		stmt_int(&st, 1, session->row);
		stmt_int(&st, 2, session->reading);
		stmt_int(&st, 3, session->from);
		stmt_int(&st, 4, session->to);
		if (stmt_run(&st, err) || (!session->old && summary_find_lines(k->s, session->row, err)))
			return err_failed(err->status);
	}
	return txn_commit(&txn, err);
}

/* What others have, too. */
static enum status borrow_rows(struct keys *k, struct err *err)
{
	for (size_t i = 0; i < k->session_count; i++)
		if (!k->sessions[i].old && borrowed_find(k->s, k->sessions[i].row, k->sessions[i].from, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* The room of words that have left the index. */
static enum status give_back(struct store *s, struct err *err)
{
	for (bool more = true; more && !store_is_cancelled(s);) {
		txn_pause(s);
		if (fulltext_merge(s, &more, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status keys_complete(struct store *s, struct err *err)
{
	struct keys k CLEANUP(keys_release) = { .s = s };

	for (;;) {
		if (gather(&k, err) || keys_any(s, &k.any_before, err) || named_lines_load(s, &k.named, err))
			return err_failed(err->status);
		if (k.session_count == 0)
			return k.dropped ? give_back(s, err) : STATUS_OK;
		if (k.all.count)
			sort_keys(&k);
		for (size_t at = 0; at < k.all.count;) {
			if (store_is_cancelled(s))
				return err_fail(err, STATUS_CANCELLED, "stopped");
			if (enter_some(&k, &at, err))
				return err_failed(err->status);
		}
		if (note_done(&k, err) || borrow_rows(&k, err))
			return err_failed(err->status);
	}
}

/* ---- Forgetting --------------------------------------------------------------- */

static enum status forget_key(void *ctx, const struct key *key, struct err *err)
{
	const struct copied_line line = { key->key, key->session, key->offset };

	if (key->part == PART_LINE && copied_leave(ctx, &line, err))
		return err_failed(err->status);
	return change_key(ctx, KEYS_FORGET, key, err);
}

/* Its kin may have been each other's through it alone: they are keyed again. */
static enum status forget_kin(struct store *s, int64_t session, struct err *err)
{
	if (copied_forget(s, session, err) ||
	    stmt_run_with(s, &keys_statements, KEYS_KIN_AGAIN, session, err) ||
	    stmt_run_with(s, &keys_statements, KEYS_KIN_FORGET_BACK, session, err))
		return err_failed(err->status);
	return stmt_run_with(s, &keys_statements, KEYS_KIN_FORGET, session, err);
}

static enum status drop_key(void *ctx, const struct key *key, struct err *err)
{
	return change_key(ctx, KEYS_FORGET, key, err);
}

static enum status put_key(void *ctx, const struct key *key, struct err *err)
{
	return change_key(ctx, KEYS_ADD, key, err);
}

static enum status each_between(struct store *s, int64_t session, int64_t from, int64_t until, key_fn *fn,
				struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (use(s, KEYS_BETWEEN, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, from);
	stmt_int(&st, 3, until);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		if (each_node(&st, session, fn, s, err))
			return err_failed(err->status);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status keys_put_between(struct store *s, int64_t session, int64_t from, int64_t until, struct err *err)
{
	return each_between(s, session, from, until, put_key, err);
}

enum status keys_drop_between(struct store *s, int64_t session, int64_t from, int64_t until, struct err *err)
{
	return each_between(s, session, from, until, drop_key, err);
}

enum status keys_forget(struct store *s, int64_t session, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (variant_forget(s, session, err) || use(s, KEYS_ENTRIES, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session);
	stmt_int(&st, 2, 0);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		if (each_node(&st, session, forget_key, s, err))
			return err_failed(err->status);
	return step == STEP_DONE ? forget_kin(s, session, err) : err_failed(err->status);
}
