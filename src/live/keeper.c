/*
 * The thread sleeps until files are named, waits a moment for others, and syncs them (ingest/sync.h), all
 * with a connection of its own: a sync also reads what somebody else has left unread, which may be a
 * gigabyte, and whoever listens to a client must not wait for that.
 *
 * Nothing here is remembered that could be lost: whatever a file has and the store has not comes with the
 * next sync, whoever runs it. So failures are logged and no more.
 *
 * Invariants
 *   (1) What is shared is below `lock`; the connection is the thread's alone from its start to its end.
 *   (2) Once `end` is set no path is added, and what stands before `thread` does not change. The thread sees
 * it, does what is left, and sets `done`.
 */
#include "live/keeper.h"

#include "base/thread.h"
#include "base/walk.h"
#include "claude/layout.h"
#include "ingest/sync.h"
#include "query/head.h"
#include "query/spent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	GATHER_MS = 20, /* a client writes several files at once */
	MS_NS = 1000000,
	S_NS = 1000000000,
};

struct keeper {
	struct store *store; /* of who listens; the thread has its own */
	struct keeper_ask ask;
	char folder[LIMIT_PATH];     /* the client's; empty = not known yet */
	char transcript[LIMIT_PATH]; /* of the conversation, below it; so too */
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct paths {
		struct arena mem;
		struct str *list;
		size_t count, cap;
	} touched;
	bool end, done;
	atomic_bool cancel;
	struct uuid session;
	struct kept kept;
};

struct keeper *keeper_new(struct store *s, const struct keeper_ask *ask)
{
	struct keeper *k = mem_alloc(sizeof *k);
	pthread_condattr_t monotonic;

	k->store = s;
	k->ask = *ask;
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&k->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return k;
}

/* ---- Paths ------------------------------------------------------------------- */

static void paths_release(struct paths *p)
{
	mem_free(p->list);
	arena_release(&p->mem);
	*p = (struct paths){ 0 };
}

static void paths_add(struct paths *p, struct str path)
{
	for (size_t i = 0; i < p->count; i++)
		if (str_eq(p->list[i], path))
			return;
	if (p->count == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 16;
		p->list = mem_resize(p->list, p->cap * sizeof *p->list);
	}
	p->list[p->count++] = arena_str(&p->mem, path);
}

/* ---- Paths of a client --------------------------------------------------------- */

/* Facts about a sub-agent stand beside its transcript. */
static void add_with_facts(struct paths *p, struct str path)
{
	struct buf facts CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);

	paths_add(p, path);
	if (claude_kind_of(path) != CLAUDE_SUBAGENT)
		return;
	buf_str(&facts, str_sub(path, 0, path.n - STR(".jsonl").n));
	buf_text(&facts, ".meta.json");
	if (!facts.failed)
		paths_add(p, buf_as_str(&facts));
}

/* Where "projects/" begins in a whole path; SIZE_MAX = nowhere. Names of projects have no slash, so it is the
 * last one. */
static size_t find_projects(struct str path)
{
	static const char name[] = "/projects/";
	size_t n = sizeof name - 1;

	for (size_t i = path.n; i-- > 0;)
		if (i + n <= path.n && memcmp(path.p + i, name, n) == 0)
			return i + 1;
	return SIZE_MAX;
}

/* The part of a path below the client's folder, which the first of them tells; p NULL = it lies elsewhere. */
static struct str path_below(struct keeper *k, struct str path)
{
	size_t at = find_projects(path), n = strlen(k->folder);
	struct str below;

	if (at == SIZE_MAX || path.p[0] != '/' || at >= sizeof k->folder)
		return (struct str){ 0 };
	below = str_sub(path, at, SIZE_MAX);
	if (claude_kind_of(below) != CLAUDE_TRANSCRIPT && claude_kind_of(below) != CLAUDE_SUBAGENT)
		return (struct str){ 0 };
	if (!n) {
		memcpy(k->folder, path.p, at - 1);
		n = at - 1;
	}
	return n == at - 1 && memcmp(k->folder, path.p, n) == 0 ? below : (struct str){ 0 };
}

/* ---- Beside a transcript --------------------------------------------------------- */

/* On the way to what is kept for the session, or that. */
static bool is_wanted(void *ctx, struct str path, bool is_folder)
{
	const struct keeper *k = ctx;
	struct str project = claude_project_of(path);
	struct uuid session;

	if (!is_folder)
		return claude_session_of(path, &session) && uuid_eq(&session, &k->session);
	if (!claude_wants_folder(path) ||
	    (project.p && !str_eq(project, claude_project_of(str_of(k->transcript)))))
		return false;
	return !uuid_parse(str_basename(path), &session) || uuid_eq(&session, &k->session);
}

static void found_beside(void *ctx, struct str path, const struct file_stat *st)
{
	struct keeper *k = ctx;

	(void)st;
	paths_add(&k->touched, path);
}

static void not_found(void *ctx, struct str path, enum walk_problem problem, const struct err *why)
{
	const struct keeper *k = ctx;

	(void)path;
	(void)problem;
	log_debug(store_log(k->store), "%s", why->text);
}

/* What tools have put aside, tasks, files as they were before an edit. */
static void add_beside(struct keeper *k)
{
	struct walk walk = { .wants = is_wanted, .found = found_beside, .failed = not_found, .ctx = k };
	int fd CLEANUP(file_close) = open(k->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err;

	if (fd >= 0 && walk_run(&walk, fd, &err))
		log_debug(store_log(k->store), "%s", err.text);
}

/* ---- The thread -------------------------------------------------------------------- */

static void sync_paths(struct keeper *k, struct store *s, const struct paths *p)
{
	struct sync_options o = { .dir = k->folder,
				  .paths = p->list,
				  .path_count = p->count,
				  .filter = k->ask.filter,
				  .cancel = &k->cancel };
	struct sync_report report = { 0 };
	enum status status;
	struct err err;

	status = p->count ? sync_run(s, &o, &report, &err) : STATUS_OK;
	if (status && status != STATUS_CANCELLED)
		log_warn(store_log(s), "what the agent wrote is not mirrored yet: %s", err.text);
}

static struct timespec in_ns(int64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += t.tv_nsec;
	t.tv_sec += ns / S_NS;
	t.tv_nsec = ns % S_NS;
	return t;
}

/* Until there is something to keep, and a moment longer. */
static struct paths take_touched(struct keeper *k, bool *end)
{
	struct timespec until;
	struct paths all;

	pthread_mutex_lock(&k->lock);
	while (!k->touched.count && !k->end)
		pthread_cond_wait(&k->changed, &k->lock);
	until = in_ns((int64_t)GATHER_MS * MS_NS);
	while (!k->end && pthread_cond_timedwait(&k->changed, &k->lock, &until) != ETIMEDOUT)
		;
	*end = k->end;
	all = k->touched;
	k->touched = (struct paths){ 0 };
	pthread_mutex_unlock(&k->lock);
	return all;
}

static void say_done(struct keeper *k)
{
	pthread_mutex_lock(&k->lock);
	k->done = true;
	pthread_cond_broadcast(&k->changed);
	pthread_mutex_unlock(&k->lock);
}

static void find_end(struct keeper *k, struct store *s)
{
	static const struct prices built_in = { 0 };
	const struct prices *prices = k->ask.prices ? k->ask.prices : &built_in;
	struct err err;

	if (atomic_load(&k->cancel))
		return;
	if (head_of_session(s, &k->session, &k->kept.head, &err) ||
	    spent_since(s, &k->session, k->ask.since, prices, &k->kept.spent, &err))
		log_warn(store_log(s), "%s", err.text);
	else
		k->kept.has_spent = k->kept.head.has_session;
}

static void *keep(void *ctx)
{
	struct keeper *k = ctx;
	struct store *s CLEANUP(store_closep) = NULL;
	bool end = false;
	struct err err;

	if (store_open_beside(k->store, &s, &err)) {
		log_warn(store_log(k->store), "what the agent writes is not mirrored: %s", err.text);
		say_done(k);
		return NULL;
	}
	while (!end) {
		struct paths p CLEANUP(paths_release) = take_touched(k, &end);

		sync_paths(k, s, &p);
	}
	find_end(k, s);
	say_done(k);
	return NULL;
}

/* ---- From outside ------------------------------------------------------------------ */

bool keeper_touch(struct keeper *k, struct str path, struct uuid *session)
{
	struct str below = path_below(k, path);
	bool is_conversation = claude_kind_of(below) == CLAUDE_TRANSCRIPT &&
			       claude_session_of(below, session);

	if (!below.p)
		return false;
	if (is_conversation)
		snprintf(k->transcript, sizeof k->transcript, "%.*s", STR_ARG(below));
	pthread_mutex_lock(&k->lock);
	add_with_facts(&k->touched, below);
	pthread_cond_broadcast(&k->changed);
	pthread_mutex_unlock(&k->lock);
	if (!k->runs)
		k->runs = thread_start(&k->thread, keep, k) == 0;
	return is_conversation;
}

/* Whether it was done in time. */
static void wait_for_end(struct keeper *k)
{
	struct timespec until = in_ns((int64_t)LIMIT_KEEPER_S * S_NS);

	while (!k->done && pthread_cond_timedwait(&k->changed, &k->lock, &until) != ETIMEDOUT)
		;
	if (!k->done)
		log_info(store_log(k->store), "others have much to read; the next sync mirrors the rest");
}

void keeper_end(struct keeper *k, const struct uuid *session, struct kept *out)
{
	*out = (struct kept){ 0 };
	if (!k->runs)
		return;
	pthread_mutex_lock(&k->lock);
	k->session = *session;
	if (k->transcript[0]) {
		paths_add(&k->touched, str_of(k->transcript));
		add_beside(k);
	}
	k->end = true;
	pthread_cond_broadcast(&k->changed);
	wait_for_end(k);
	pthread_mutex_unlock(&k->lock);
	atomic_store(&k->cancel, true);
	pthread_join(k->thread, NULL);
	k->runs = false;
	*out = k->kept;
}

void keeper_free(struct keeper *k)
{
	struct kept ignored;

	if (!k)
		return;
	atomic_store(&k->cancel, true);
	keeper_end(k, &(struct uuid){ 0 }, &ignored);
	paths_release(&k->touched);
	pthread_cond_destroy(&k->changed);
	pthread_mutex_destroy(&k->lock);
	mem_free(k);
}
