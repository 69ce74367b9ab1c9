/*
 * Calls of another program on standard input and output, in messages of JSON-RPC. What the messages mean is the
 * dialect's affair (serve.h).
 *
 *     standard input ──► this thread ──► waiting calls ──► up to LIMIT_RPC_RUNNING threads ──► turns ──►
 * standard output
 *
 * A call runs in a thread of its own, with a store of its own, from the first to the last
 * result. Each result is a line, written when its turn has come (turns.h): a reader that is slow
 * makes the methods wait, and nothing piles up. Calls begin in the order in which they came, and
 * take turns from then on. A sink that waits in its thread does what STATUS_WAIT is for, without
 * every method having to be able to go on where it was.
 *
 * Standard input at its end means that there are no more calls. Those under way may end as
 * long as somebody reads the answers, for at most the dialect's `linger_ms`; then they are cancelled, and
 * say so. When nobody reads any more they are cancelled at once.
 *
 * Standard output belongs to the protocol: nothing here prints.
 */
#include "face/serve.h"

#include "face/turns.h"

#include "base/thread.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/split.h"
#include "live/rpc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
	LOOK_MS = 1000,	   /* how often the flag is looked at that ends everything */
	PROGRESS_MS = 200, /* how often progress is told */
	PIECE = 64 * 1024,
};

struct job {
	struct job *next;
	struct server *server;
	struct arena mem; /* of all that is below */
	struct str id, method, params;
	struct route_told told;
	int64_t deadline_ns;
	atomic_bool cancel;
	const struct method *own; /* NULL = another hub's */
	struct buf line, one;
	bool is_one;
	int64_t items, bytes;
	int64_t progress_ns; /* when it was last told */
	bool answered; /* under the lock: its id may be used again */
};

struct server {
	struct face *face;
	const struct dialect *dialect;
	unsigned scopes;
	struct turns out;
	struct log log; /* ours, for several threads */
	struct split lines;
	struct json json;
	pthread_t threads[LIMIT_RPC_RUNNING];
	size_t thread_count;
	/* ---- below `lock` ---- */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_mutex_t logging;
	struct job *waiting, *running;
	size_t waiting_count, waiting_size, idle;
	bool ending; /* threads that have nothing to do leave */
};

/* ---- Results of one call ---------------------------------------------------------------- */

static enum status send_line(struct job *j, struct err *err)
{
	bool fits = !j->line.failed, sent = fits && turns_write(&j->server->out, buf_as_str(&j->line));

	buf_clear(&j->line);
	if (!fits)
		return err_fail(err, STATUS_LIMIT, "a result is larger than %zu MiB", LIMIT_RPC_LINE / MIB);
	if (!sent)
		return err_fail(err, STATUS_CANCELLED, "nobody reads the results");
	return STATUS_OK;
}

static enum status take_one(void *ctx, struct str json, struct err *err)
{
	struct job *j = ctx;

	(void)err;
	buf_clear(&j->one);
	buf_str(&j->one, json);
	j->is_one = true;
	return STATUS_OK;
}

static enum status take_item(void *ctx, struct str json, struct err *err)
{
	struct job *j = ctx;

	if (atomic_load(&j->cancel))
		return err_fail(err, STATUS_CANCELLED, "cancelled");
	if (j->own && j->own->kind == RESULT_ONE)
		return take_one(ctx, json, err);
	j->items++;
	rpc_put_item(&j->line, j->id, json);
	return send_line(j, err);
}

static enum status take_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct job *j = ctx;

	if (atomic_load(&j->cancel))
		return err_fail(err, STATUS_CANCELLED, "cancelled");
	for (; bytes.n; bytes = str_sub(bytes, PIECE, SIZE_MAX)) {
		struct str piece = str_sub(bytes, 0, PIECE);

		j->bytes += (int64_t)piece.n;
		rpc_put_bytes(&j->line, j->id, piece);
		if (send_line(j, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static void take_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	struct job *j = ctx;
	int64_t now = clock_monotonic_ns();
	struct err ignored;

	if (!j->server->dialect->tells || now - j->progress_ns < (int64_t)PROGRESS_MS * 1000000)
		return;
	j->progress_ns = now;
	rpc_put_progress(&j->line, j->id, str_of(what), done, total);
	(void)!send_line(j, &ignored);
}

static void take_note(void *ctx, struct str text)
{
	struct job *j = ctx;
	struct err ignored;

	if (!j->server->dialect->tells)
		return;
	rpc_put_note(&j->line, j->id, text);
	(void)!send_line(j, &ignored);
}

static void take_rebuild(void *ctx, int64_t done, int64_t total)
{
	take_progress(ctx, "updating the index", done, total);
}

/* ---- Running one call ---------------------------------------------------------------------- */

static enum status open_store(void *ctx, bool make, struct store **out, struct err *err)
{
	struct job *j = ctx;
	struct where_opening how = {
		.make = make, .cancel = &j->cancel, .log = &j->server->log, .progress = take_rebuild, .ctx = j
	};

	return face_open_store_for(j->server->face, &how, out, err);
}

/* Whoever has read the answer may use the id again at once. */
static void free_id(struct job *j)
{
	pthread_mutex_lock(&j->server->lock);
	j->answered = true;
	pthread_mutex_unlock(&j->server->lock);
}

static void answer(struct job *j, int code, enum status status, const struct err *why)
{
	const struct dialect *d = j->server->dialect;
	char count[24];
	struct err ignored;

	free_id(j);
	buf_clear(&j->line);
	snprintf(count, sizeof count, "%" PRId64, j->bytes ? j->bytes : j->items);
	if (status != STATUS_OK)
		d->failed(&j->line, j->id, code, why);
	else
		d->result(&j->line, j->id, j->is_one ? buf_as_str(&j->one) : str_of(count));
	if (send_line(j, &ignored) && ignored.status == STATUS_LIMIT) {
		rpc_put_error(&j->line, j->id, rpc_code(STATUS_LIMIT), &ignored);
		(void)!send_line(j, &ignored);
	}
}

static void run_job(struct job *j)
{
	struct face *f = j->server->face;
	struct hub_caller who = {
		.sink = { .item = take_item,
			  .one = take_one,
			  .bytes = take_bytes,
			  .progress = take_progress,
			  .note = take_note,
			  .ctx = j },
		.log = &j->server->log,
		.settings = f->settings,
		.cancel = &j->cancel,
		.deadline_ns = j->deadline_ns,
		.scopes = j->server->scopes & j->told.scopes,
		.open_store = open_store,
		.ctx = j,
		.elsewhere = children_elsewhere(f->children),
		.children = f->children,
		.route = &j->told.route,
		.program = "/proc/self/exe",
	};
	const struct activation *a = NULL;
	struct err err = { 0 };
	struct str rest;
	size_t which;
	enum status status;

	if (!children_find(f->children, j->method, &which, &rest) &&
	    hub_find(f->hub, j->method, &a, &j->own, &err)) {
		answer(j, RPC_NO_METHOD, err.status, &err);
		return;
	}
	if (atomic_load(&j->cancel))
		status = err_set(&err, STATUS_CANCELLED, "cancelled");
	else
		status = hub_call(f->hub, j->method, j->params, &who, &err);
	answer(j, rpc_code(status), status, &err);
}

/* ---- Calls and threads ------------------------------------------------------------------------ */

static void free_job(struct job *j)
{
	buf_release(&j->line);
	buf_release(&j->one);
	arena_release(&j->mem);
	mem_free(j);
}

/* With the lock. */
static struct job *take_first(struct server *s)
{
	struct job *j = s->waiting;

	s->waiting = j->next;
	s->waiting_count--;
	s->waiting_size -= j->params.n;
	return j;
}

/* With the lock. */
static void remove_running(struct server *s, const struct job *j)
{
	struct job **at = &s->running;

	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
	pthread_cond_broadcast(&s->changed);
}

static void *work(void *ctx)
{
	struct server *s = ctx;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		struct job *j;

		s->idle++;
		while (!s->waiting && !s->ending)
			pthread_cond_wait(&s->changed, &s->lock);
		s->idle--;
		if (!s->waiting)
			break;
		j = take_first(s);
		j->next = s->running;
		s->running = j;
		pthread_mutex_unlock(&s->lock);
		run_job(j);
		pthread_mutex_lock(&s->lock);
		remove_running(s, j);
		free_job(j);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* With the lock: one more for another call, unless somebody has nothing to do. Signals are for the main
 * thread. */
static void want_thread(struct server *s)
{
	if (s->idle > s->waiting_count || s->thread_count == COUNT(s->threads))
		return;
	if (thread_start(&s->threads[s->thread_count], work, s) == 0)
		s->thread_count++;
}

/* With the lock. */
static struct job *find_job(struct job *list, struct str id)
{
	while (list && (list->answered || !str_eq(list->id, id)))
		list = list->next;
	return list;
}

/* Puts it into the queue; false when it cannot be taken, with the reason. */
static bool enqueue(struct server *s, struct job *j, struct err *err)
{
	struct job **at = &s->waiting;
	bool twice, taken;

	pthread_mutex_lock(&s->lock);
	twice = find_job(s->waiting, j->id) || find_job(s->running, j->id);
	want_thread(s);
	taken = !twice && s->thread_count && s->waiting_count < LIMIT_RPC_WAITING &&
		s->waiting_size + j->params.n <= LIMIT_RPC_WAITING_SIZE;
	if (taken) {
		while (*at)
			at = &(*at)->next;
		*at = j;
		s->waiting_count++;
		s->waiting_size += j->params.n;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	if (twice)
		err_set(err, STATUS_USAGE, "a call with this id is under way");
	else if (!taken)
		err_set(err, STATUS_BUSY, "too many calls at once");
	return taken;
}

/* ---- Messages ------------------------------------------------------------------------------------ */

static void refuse(struct server *s, struct str id, int code, const struct err *why)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	rpc_put_error(&line, id, code, why);
	turns_write(&s->out, buf_as_str(&line));
}

static struct job *new_job(struct server *s, struct str id)
{
	struct job *j = mem_alloc(sizeof *j);

	buf_init(&j->line, LIMIT_RPC_LINE);
	buf_init(&j->one, LIMIT_RPC_LINE);
	j->server = s;
	j->id = arena_str(&j->mem, id);
	return j;
}

static void begin_call(struct server *s, const struct rpc_message *m)
{
	struct job *j = new_job(s, m->id);
	struct asked_call call = { .told.scopes = ~0u };
	struct err err;
	enum status status = s->dialect->request(s->dialect->ctx, &s->json, m, &j->mem, &call, &j->line, &err);

	j->method = call.method;
	j->params = call.params;
	j->told = call.told;
	if (j->told.timeout_ms)
		j->deadline_ns = clock_monotonic_ns() + j->told.timeout_ms * 1000000;
	if (status == STATUS_OK && call.method.p && enqueue(s, j, &err))
		return;
	if (status == STATUS_OK && !call.method.p)
		turns_write(&s->out, buf_as_str(&j->line));
	else
		refuse(s, j->id, call.code ? call.code : rpc_code(err.status), &err);
	free_job(j);
}

/* A call that waits still gets its turn, and ends at once. */
static void cancel_call(struct server *s, struct str id)
{
	struct job *j;

	if (!id.n)
		return;
	pthread_mutex_lock(&s->lock);
	j = find_job(s->running, id);
	if (!j)
		j = find_job(s->waiting, id);
	if (j)
		atomic_store(&j->cancel, true);
	pthread_mutex_unlock(&s->lock);
}

static bool on_line(void *ctx, const struct split_line *line)
{
	struct server *s = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct rpc_message m;
	struct err err;

	if (!line->text.p) {
		err_set(&err, STATUS_LIMIT, "the message is too long");
		refuse(s, (struct str){ 0 }, RPC_NO_REQUEST, &err);
		return true;
	}
	if (!str_trim(line->text).n)
		return true;
	if (rpc_read(&s->json, line->text, &mem, &m, &err))
		refuse(s, m.id, err.status == STATUS_USAGE ? RPC_NO_REQUEST : RPC_NOT_JSON, &err);
	else if (m.kind == RPC_REQUEST)
		begin_call(s, &m);
	else if (m.kind == RPC_NOTICE)
		cancel_call(s, s->dialect->cancelled(&s->json, &m));
	return true;
}

/* ---- The connection ---------------------------------------------------------------------------------- */

/* Until there is no more input, or no reader, or somebody wants us to end. */
static enum status read_input(struct server *s, struct err *err)
{
	struct pollfd f[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = STDOUT_FILENO } };
	char piece[PIECE];
	ssize_t n;

	while (!atomic_load(s->face->cancel) && turns_has_reader(&s->out)) {
		if (poll(f, COUNT(f), LOOK_MS) <= 0 || !f[0].revents)
			continue;
		n = read(STDIN_FILENO, piece, sizeof piece);
		if (n == 0) {
			(void)!split_end(&s->lines); /* the last line need not have its end */
			return STATUS_OK;
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return err_fail_errno(err, errno, "standard input");
		if (n > 0)
			split_add(&s->lines, str_from(piece, (size_t)n));
	}
	return STATUS_OK;
}

static bool is_busy(struct server *s)
{
	bool busy;

	pthread_mutex_lock(&s->lock);
	busy = s->waiting || s->running;
	pthread_mutex_unlock(&s->lock);
	return busy;
}

static void cancel_all(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	for (struct job *j = s->waiting; j; j = j->next)
		atomic_store(&j->cancel, true);
	for (struct job *j = s->running; j; j = j->next)
		atomic_store(&j->cancel, true);
	pthread_mutex_unlock(&s->lock);
}

/* Lets calls under way end, if anybody wants to know what came of them. */
static void linger(struct server *s)
{
	enum { STEP_MS = 20 };
	int64_t until = clock_monotonic_ns() + (int64_t)s->dialect->linger_ms * 1000000;

	while (is_busy(s) && clock_monotonic_ns() < until && turns_has_reader(&s->out) &&
	       !atomic_load(s->face->cancel))
		poll(NULL, 0, STEP_MS);
	cancel_all(s);
}

static void join_threads(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	s->ending = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	for (size_t i = 0; i < s->thread_count; i++)
		pthread_join(s->threads[i], NULL);
}

static void log_one_by_one(void *ctx, enum log_level level, struct str text)
{
	struct server *s = ctx;
	const struct log *to = &s->face->log;

	pthread_mutex_lock(&s->logging);
	if (to->sink)
		to->sink(to->ctx, level, text);
	pthread_mutex_unlock(&s->logging);
}

static void server_release(struct server *s)
{
	split_release(&s->lines);
	json_release(&s->json);
	turns_release(&s->out);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->logging);
}

enum status serve(struct face *f, const struct dialect *d, unsigned scopes, struct err *err)
{
	struct server s CLEANUP(server_release) = { .face = f, .dialect = d, .scopes = scopes };
	enum status status;

	turns_init(&s.out, STDOUT_FILENO);
	pthread_mutex_init(&s.lock, NULL);
	pthread_mutex_init(&s.logging, NULL);
	pthread_cond_init(&s.changed, NULL);
	split_begin(&s.lines, LIMIT_RPC_LINE, 0, on_line, &s);
	s.log = (struct log){ .level = f->log.level, .sink = log_one_by_one, .ctx = &s };
	status = read_input(&s, err);
	linger(&s);
	join_threads(&s);
	if (status == STATUS_OK && atomic_load(f->cancel))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	return status;
}
