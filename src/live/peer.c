/*
 * Questions of several threads, answered by one that talks to all children.
 *
 *     peer_ask() ──waiting──► ┌────────────┐ ──request──► child
 *                             │ our thread │
 *     peer_ask() ◄──queue──── └────────────┘ ◄──lines───  child
 *
 * A question lives on the stack of who asks. It waits until the child is ready and has
 * read what it was told before, is sent, and collects answers in a queue. A child whose
 * answers are not taken is not read from, so that it waits, and with it everybody who
 * asked it: memory stays bounded whatever it sends.
 *
 * A child that says nothing at all for a whole timeout while somebody waits hangs: it is
 * killed, and started again for the next question. One that talks nonsense is killed at
 * once. A question that was sent is never sent again: nobody knows what came of it.
 *
 * The lock guards the questions and what of a peer stands below `lock` in its struct. It is
 * never held while the supervisor is called, which calls back.
 *
 * Invariant: a question is in one list of its peer from when it is asked until its end is
 * set or its asker leaves; only its asker takes from its queue.
 */
#include "live/peer.h"

#include "base/thread.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/split.h"
#include "live/rpc.h"
#include "live/supervisor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { HELLO_ID = 0, LOOK_MS = 100, CANCELS_MOST = 16 * 1024 };

enum answer_kind { ANSWER_ITEM, ANSWER_BYTES, ANSWER_PROGRESS, ANSWER_NOTE, ANSWER_RESULT };

struct answer {
	struct answer *next;
	enum answer_kind kind;
	int64_t done, total; /* of progress */
	size_t n;
	char text[];
};

struct question {
	struct question *next;
	struct peer *peer;
	int64_t id;
	struct buf request;
	pthread_cond_t changed;
	struct answer *first, **last;
	size_t queued;	  /* bytes in the queue */
	int64_t since_ns; /* when something last happened to it */
	bool sent, over;
	struct err end; /* once it is over */
};

struct peer {
	struct peers *all;
	const struct peer_setup *setup;
	struct supervisor *supervisor; /* our thread's, as what follows */
	struct split lines;
	struct json json;
	bool paused;
	/* ---- below `lock` ---- */
	struct arena mem; /* of `start` */
	struct guard_start start;
	bool prepared;
	struct question *waiting, *sent;
	struct buf cancels;   /* notices that are to be sent */
	struct buf broken;    /* why somebody found that it hangs; empty = nobody did */
	struct buf info, why; /* what it said of itself; why it was lost last */
	enum supervisor_state state;
	bool held;		/* what it says is left in the pipe for now */
	int64_t heard_ns;	/* when it last said anything */
	int64_t rests_until_ns; /* it will not be started before; 0 = it may */
};

struct peers {
	struct loop *loop;
	pthread_t thread;
	struct peer *list;
	size_t count;
	size_t stopped; /* our thread's */
	/* ---- below `lock` ---- */
	pthread_mutex_t lock;
	bool running, stopping;
	int64_t last_id;
};

/* ---- Questions, with the lock ------------------------------------------------------ */

static void append(struct question **list, struct question *q)
{
	while (*list)
		list = &(*list)->next;
	q->next = NULL;
	*list = q;
}

static void unlink_from(struct question **list, const struct question *q)
{
	while (*list && *list != q)
		list = &(*list)->next;
	if (*list)
		*list = q->next;
}

static void touch(struct question *q)
{
	q->since_ns = clock_monotonic_ns();
	pthread_cond_signal(&q->changed);
}

static void end_question(struct question *q, const struct err *end)
{
	q->over = true;
	q->end = *end;
	touch(q);
}

static void fail_all(struct question **list, const struct err *end)
{
	while (*list) {
		struct question *q = *list;

		*list = q->next;
		end_question(q, end);
	}
}

static struct question *find_sent(struct peer *p, struct str id)
{
	int64_t number;

	if (!str_to_i64(id, &number))
		return NULL;
	for (struct question *q = p->sent; q; q = q->next)
		if (q->id == number)
			return q;
	return NULL;
}

static void add_answer(struct question *q, struct answer *a)
{
	*q->last = a;
	q->last = &a->next;
	q->queued += a->n;
	touch(q);
}

static struct answer *answer_of(enum answer_kind kind, struct str text)
{
	struct answer *a = mem_alloc(sizeof *a + text.n + 1);

	a->kind = kind;
	a->n = text.n;
	if (text.n)
		memcpy(a->text, text.p, text.n);
	return a;
}

/* ---- In our thread: what a child says ------------------------------------------------ */

/* A name in front of what is told of a peer. */
static void unreachable(const struct peer *p, struct str why, struct err *out)
{
	err_set(out, STATUS_UNREACHABLE, "%s: %.*s", p->setup->name, (int)size_min(why.n, LIMIT_ERR_TEXT / 2),
		why.p ? why.p : "");
}

static void nonsense(struct peer *p, struct str line, const char *what)
{
	struct buf why CLEANUP(buf_release) = BUF_INIT(4 * KIB);

	buf_printf(&why, "wrote something that is %s: '%.*s'", what, (int)size_min(line.n, 80),
		   line.p ? line.p : "");
	supervisor_break(p->supervisor, buf_as_str(&why));
}

static void pump(struct peer *p);

/* The first answer of all. Who has no `hub.info` is a hub as well. */
static bool take_hello(struct peer *p, const struct rpc_message *m)
{
	struct buf why CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	struct err err = { 0 };

	if (m->kind == RPC_ERROR)
		rpc_error(&p->json, m, &err);
	if (m->kind == RPC_ERROR && err.status != STATUS_NOT_FOUND) {
		buf_printf(&why, "does not say who it is: %s", err.text);
		supervisor_break(p->supervisor, buf_as_str(&why));
		return false;
	}
	pthread_mutex_lock(&p->all->lock);
	buf_clear(&p->info);
	buf_str(&p->info,
		json_is(&p->json, m->result, JSON_OBJECT) ? json_raw(&p->json, m->result) : STR("{}"));
	pthread_mutex_unlock(&p->all->lock);
	supervisor_greeted(p->supervisor);
	pump(p);
	return true;
}

/* The end of a question. A single result is an item before it. */
static void take_end(struct peer *p, const struct rpc_message *m)
{
	struct question *q;
	struct err end = { .status = STATUS_OK };

	if (m->kind == RPC_ERROR)
		rpc_error(&p->json, m, &end);
	pthread_mutex_lock(&p->all->lock);
	q = find_sent(p, m->id);
	if (q) {
		unlink_from(&p->sent, q);
		if (m->kind == RPC_RESULT)
			add_answer(q, answer_of(ANSWER_RESULT, json_raw(&p->json, m->result)));
		end_question(q, &end);
	}
	pthread_mutex_unlock(&p->all->lock);
	supervisor_praise(p->supervisor);
}

/* What is in a notice; NULL when it is none that we know, or not right. */
static struct answer *answer_in(const struct json *j, const struct rpc_message *m, struct arena *mem)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_RPC_LINE);
	uint32_t item = json_get(j, m->params, STR("item"));
	struct answer *a = NULL;

	if (str_eq(m->method, STR(RPC_ITEM)) && json_is(j, item, JSON_OBJECT))
		return answer_of(ANSWER_ITEM, json_raw(j, item));
	if (str_eq(m->method, STR(RPC_BYTES)) &&
	    base64_decode(&bytes, json_string_in(j, json_get(j, m->params, STR("base64")), mem)))
		return answer_of(ANSWER_BYTES, buf_as_str(&bytes));
	if (str_eq(m->method, STR(RPC_NOTE)))
		return answer_of(ANSWER_NOTE, json_string_in(j, json_get(j, m->params, STR("text")), mem));
	if (str_eq(m->method, STR(RPC_PROGRESS))) {
		a = answer_of(ANSWER_PROGRESS, json_string_in(j, json_get(j, m->params, STR("what")), mem));
		json_to_i64(j, json_get(j, m->params, STR("done")), &a->done);
		json_to_i64(j, json_get(j, m->params, STR("total")), &a->total);
	}
	return a;
}

/* False when it is not right. Notices that nobody knows are ignored, as are late ones. */
static bool take_notice(struct peer *p, const struct rpc_message *m)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct answer *a = answer_in(&p->json, m, &mem);
	struct question *q;

	if (!a)
		return !str_eq(m->method, STR(RPC_ITEM)) && !str_eq(m->method, STR(RPC_BYTES));
	pthread_mutex_lock(&p->all->lock);
	q = find_sent(p, rpc_subject(&p->json, m));
	if (q)
		add_answer(q, a);
	pthread_mutex_unlock(&p->all->lock);
	if (!q)
		mem_free(a);
	return true;
}

/* False ends the reading of a child that is of no use. */
static bool on_line(void *ctx, const struct split_line *line)
{
	struct peer *p = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct rpc_message m;
	struct err err;
	int64_t id;

	if (line->text.p && !str_trim(line->text).n)
		return true;
	if (!line->text.p) { /* too long, and all in one piece */
		nonsense(p, line->text, "too long for a message");
		return false;
	}
	if (rpc_read(&p->json, line->text, &mem, &m, &err)) {
		nonsense(p, line->text,
			 err.status == STATUS_USAGE ? "no message of JSON-RPC 2.0" : "not JSON");
		return false;
	}
	if (m.kind == RPC_NOTICE) {
		if (take_notice(p, &m))
			return true;
		nonsense(p, line->text, "no item");
		return false;
	}
	if (m.kind == RPC_REQUEST) /* it may not ask us anything */
		return true;
	if (supervisor_state(p->supervisor) == SUPERVISOR_STARTING && str_to_i64(m.id, &id) && id == HELLO_ID)
		return take_hello(p, &m);
	take_end(p, &m);
	return true;
}

/* ---- In our thread: flow ------------------------------------------------------------- */

/* Whether somebody has more answers than he takes: from `most` on. */
static bool is_full(struct peer *p, size_t most)
{
	bool full = false;

	pthread_mutex_lock(&p->all->lock);
	for (const struct question *q = p->sent; q; q = q->next)
		full = full || q->queued > most;
	pthread_mutex_unlock(&p->all->lock);
	return full;
}

/* Nobody is called silent for what he said and we did not read. */
static void hold_clocks(struct peer *p, bool held)
{
	pthread_mutex_lock(&p->all->lock);
	p->held = held;
	for (struct question *q = p->sent; q; q = q->next)
		q->since_ns = clock_monotonic_ns();
	pthread_mutex_unlock(&p->all->lock);
}

static void regulate(struct peer *p)
{
	struct child *c = supervisor_child(p->supervisor);
	bool paused = is_full(p, p->paused ? LIMIT_PEER_QUEUE / 2 : LIMIT_PEER_QUEUE);

	if (!c || paused == p->paused)
		return;
	p->paused = paused;
	hold_clocks(p, paused);
	child_pause(c, paused);
}

static void note_state(struct peer *p)
{
	int64_t rest = supervisor_rest_ms(p->supervisor);

	pthread_mutex_lock(&p->all->lock);
	p->state = supervisor_state(p->supervisor);
	p->rests_until_ns = rest ? clock_monotonic_ns() + rest * 1000000 : 0;
	pthread_mutex_unlock(&p->all->lock);
}

/* Sends what waits, as far as the child has read what was sent. */
static void send_waiting(struct peer *p, struct child *c)
{
	pthread_mutex_lock(&p->all->lock);
	child_write(c, buf_as_str(&p->cancels));
	buf_clear(&p->cancels);
	while (p->waiting && child_unread(c) <= LIMIT_PEER_UNREAD) {
		struct question *q = p->waiting;

		p->waiting = q->next;
		if (!q->request.n) { /* who only wants to know that it is ready */
			end_question(q, &(struct err){ .status = STATUS_OK });
			continue;
		}
		append(&p->sent, q);
		q->sent = true;
		touch(q);
		child_write(c, buf_as_str(&q->request));
	}
	pthread_mutex_unlock(&p->all->lock);
}

/* Whatever can be done for a peer now. */
static void pump(struct peer *p)
{
	struct buf broken CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	bool wanted;

	pthread_mutex_lock(&p->all->lock);
	buf_str(&broken, buf_as_str(&p->broken));
	buf_clear(&p->broken);
	wanted = p->waiting != NULL;
	pthread_mutex_unlock(&p->all->lock);
	if (broken.n)
		supervisor_break(p->supervisor, buf_as_str(&broken));
	if (wanted)
		supervisor_want(p->supervisor);
	if (supervisor_state(p->supervisor) == SUPERVISOR_READY)
		send_waiting(p, supervisor_child(p->supervisor));
	regulate(p);
	note_state(p);
}

/* ---- In our thread: the supervisor calls ---------------------------------------------- */

static enum status on_what(void *ctx, struct guard_start *out, struct err *err)
{
	struct peer *p = ctx;

	(void)err;
	*out = p->start; /* which does not change any more once it is known */
	return STATUS_OK;
}

static void on_started(void *ctx)
{
	struct buf hello CLEANUP(buf_release) = BUF_INIT(KIB);
	struct peer *p = ctx;

	split_release(&p->lines);
	split_begin(&p->lines, LIMIT_RPC_LINE, 0, on_line, p);
	p->paused = false;
	hold_clocks(p, false);
	rpc_put_request(&hello, STR("0"), STR("hub.info"), (struct str){ 0 }, (struct str){ 0 });
	child_write(supervisor_child(p->supervisor), buf_as_str(&hello));
	note_state(p);
}

static void on_output(void *ctx, struct str bytes)
{
	struct peer *p = ctx;

	pthread_mutex_lock(&p->all->lock);
	p->heard_ns = clock_monotonic_ns();
	pthread_mutex_unlock(&p->all->lock);
	(void)!split_add(&p->lines, bytes);
	if (p->lines.too_long) /* there is no need to wait for its end */
		nonsense(p, (struct str){ 0 }, "too long for a message");
	regulate(p);
}

static void on_written(void *ctx)
{
	pump(ctx);
}

/* Who waits for a start is told, too: it has just failed. Who waits for his turn gets it after the
 * next one. */
static void on_lost(void *ctx, struct str why)
{
	struct peer *p = ctx;
	struct err end;

	unreachable(p, why, &end);
	pthread_mutex_lock(&p->all->lock);
	buf_clear(&p->why);
	buf_str(&p->why, why);
	buf_clear(&p->cancels);
	fail_all(&p->sent, &end);
	if (p->state != SUPERVISOR_READY)
		fail_all(&p->waiting, &end);
	pthread_mutex_unlock(&p->all->lock);
	note_state(p);
}

static void on_rested(void *ctx)
{
	pump(ctx);
}

static void on_stopped(void *ctx)
{
	struct peer *p = ctx;

	if (++p->all->stopped == p->all->count)
		loop_stop(p->all->loop);
}

static void on_wake(void *ctx)
{
	struct peers *all = ctx;
	bool stopping;

	pthread_mutex_lock(&all->lock);
	stopping = all->stopping;
	pthread_mutex_unlock(&all->lock);
	for (size_t i = 0; i < all->count; i++) {
		if (stopping)
			supervisor_stop(all->list[i].supervisor);
		else
			pump(&all->list[i]);
	}
}

static void *run(void *ctx)
{
	struct peers *all = ctx;

	loop_run(all->loop);
	return NULL;
}

/* ---- Beginning and ending ------------------------------------------------------------- */

struct peers *peers_new(const struct peer_setup *list, size_t count)
{
	struct peers *all = mem_alloc(sizeof *all);

	all->list = mem_alloc((count + 1) * sizeof *all->list);
	all->count = count;
	all->last_id = HELLO_ID;
	pthread_mutex_init(&all->lock, NULL);
	for (size_t i = 0; i < count; i++) {
		struct peer *p = &all->list[i];

		p->all = all;
		p->setup = &list[i];
		buf_init(&p->cancels, CANCELS_MOST);
		buf_init(&p->broken, 4 * KIB);
		buf_init(&p->info, LIMIT_RPC_LINE);
		buf_init(&p->why, 2 * LIMIT_ERR_TEXT);
	}
	return all;
}

static void free_peer(struct peer *p)
{
	supervisor_free(p->supervisor);
	split_release(&p->lines);
	json_release(&p->json);
	buf_release(&p->cancels);
	buf_release(&p->broken);
	buf_release(&p->info);
	buf_release(&p->why);
	arena_release(&p->mem);
}

void peers_free(struct peers *all)
{
	if (!all)
		return;
	if (all->running) {
		pthread_mutex_lock(&all->lock);
		all->stopping = true;
		pthread_mutex_unlock(&all->lock);
		loop_wake(all->loop);
		pthread_join(all->thread, NULL);
	}
	for (size_t i = 0; i < all->count; i++)
		free_peer(&all->list[i]);
	loop_free(all->loop);
	pthread_mutex_destroy(&all->lock);
	mem_free(all->list);
	mem_free(all);
}

/* With the lock: our thread, with all signals blocked so that they reach who waits for them. */
static enum status start_thread(struct peers *all, struct err *err)
{
	struct supervisor_hooks hooks = {
		.what = on_what,
		.started = on_started,
		.output = on_output,
		.written = on_written,
		.lost = on_lost,
		.rested = on_rested,
		.stopped = on_stopped,
	};
	int number;

	if (all->running)
		return STATUS_OK;
	if (!all->loop && (loop_new(NULL, &all->loop, err) || loop_on_wake(all->loop, on_wake, all, err)))
		return err_failed(err->status);
	for (size_t i = 0; i < all->count; i++) {
		hooks.ctx = &all->list[i];
		if (!all->list[i].supervisor)
			all->list[i].supervisor = supervisor_new(all->loop, all->list[i].setup->timeout_ms,
								 &hooks);
	}
	number = thread_start(&all->thread, run, all);
	if (number)
		return err_fail_errno(err, number, "a thread for other hubs");
	all->running = true;
	return STATUS_OK;
}

/* ---- Asking ------------------------------------------------------------------------------ */

static void question_release(struct question *q)
{
	while (q->first) {
		struct answer *next = q->first->next;

		mem_free(q->first);
		q->first = next;
	}
	buf_release(&q->request);
	pthread_cond_destroy(&q->changed);
}

/* With the lock. A child that reads none of these has others to bother about. */
static void withdraw(struct question *q)
{
	enum { CANCEL_MOST = 128 };
	struct peer *p = q->peer;
	char id[24];

	unlink_from(&p->waiting, q);
	unlink_from(&p->sent, q);
	if (!q->sent || p->cancels.n + CANCEL_MOST > CANCELS_MOST)
		return;
	snprintf(id, sizeof id, "%" PRId64, q->id);
	rpc_put_cancel(&p->cancels, str_of(id));
}

/* For CLEANUP: whatever happened, nobody else knows it any more. */
static void leave(struct question *q)
{
	struct peers *all = q->peer->all;
	bool over;

	pthread_mutex_lock(&all->lock);
	over = q->over;
	if (!over)
		withdraw(q);
	pthread_mutex_unlock(&all->lock);
	if (!over)
		loop_wake(all->loop);
	question_release(q);
}

/* With the lock: the next answer; NULL = there is none yet. */
static struct answer *take_answer(struct question *q)
{
	struct answer *a = q->first;
	bool was_full = q->queued > LIMIT_PEER_QUEUE / 2;

	if (!a)
		return NULL;
	q->first = a->next;
	q->queued -= a->n;
	if (!q->first) {
		q->last = &q->first;
		q->since_ns = clock_monotonic_ns(); /* nobody was silent while we were busy */
	}
	if (was_full && q->queued <= LIMIT_PEER_QUEUE / 2)
		loop_wake(q->peer->all->loop);
	return a;
}

/* With the lock: when it is time to give up waiting for a child that says nothing. While its answers
 * are left in the pipe, nobody can say that. */
static int64_t patience_ns(const struct question *q)
{
	int64_t each = q->peer->setup->timeout_ms * 1000000;

	if (q->peer->held)
		return INT64_MAX;
	return q->since_ns + (q->sent ? each : 2 * each); /* it may have to be started first */
}

static enum status too_late(struct question *q, struct err *err)
{
	unreachable(q->peer, STR("gave no answer in time"), err);
	return STATUS_UNREACHABLE;
}

/* With the lock: it will not even be started before there is no time left. */
static enum status too_tired(struct question *q, int64_t now, struct err *err)
{
	struct buf why CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_ERR_TEXT);
	int64_t seconds = (q->peer->rests_until_ns - now) / 1000000000 + 1;

	buf_printf(&why, "%.*s; it is not started again for %" PRId64 " s",
		   STR_ARG(buf_as_str(&q->peer->why)), seconds);
	unreachable(q->peer, buf_as_str(&why), err);
	return STATUS_UNREACHABLE;
}

/* With the lock: nothing came for as long as anybody waits. Who says nothing to others either hangs. */
static enum status too_silent(struct question *q, struct err *err)
{
	struct buf why CLEANUP(buf_release) = BUF_INIT(KIB);
	struct peer *p = q->peer;

	buf_printf(&why, "gave no answer for %" PRId64 " ms", p->setup->timeout_ms);
	if (p->heard_ns <= q->since_ns && !p->broken.n)
		buf_str(&p->broken, buf_as_str(&why));
	unreachable(p, buf_as_str(&why), err);
	return STATUS_UNREACHABLE;
}

/* With the lock: whether it is of no use to wait any longer. */
static enum status give_up(struct question *q, const struct peer_question *what, int64_t now, struct err *err)
{
	int64_t rests_until = q->sent ? 0 : q->peer->rests_until_ns;

	if (what->cancel && atomic_load(what->cancel))
		return err_fail(err, STATUS_CANCELLED, "%s: cancelled", q->peer->setup->name);
	if (what->deadline_ns && now >= what->deadline_ns)
		return too_late(q, err);
	if (rests_until &&
	    (rests_until > patience_ns(q) || (what->deadline_ns && rests_until > what->deadline_ns)))
		return too_tired(q, now, err);
	return now >= patience_ns(q) ? too_silent(q, err) : STATUS_OK;
}

/* With the lock, which is free meanwhile. */
static void wait_a_while(struct question *q, const struct peer_question *what, int64_t now)
{
	int64_t until = now + (int64_t)LOOK_MS * 1000000;
	struct timespec at;

	if (what->deadline_ns && what->deadline_ns < until)
		until = what->deadline_ns;
	if (patience_ns(q) < until)
		until = patience_ns(q);
	at = (struct timespec){ .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	pthread_cond_timedwait(&q->changed, &q->peer->all->lock, &at);
}

/* The next answer, or NULL: then it is over, and the result says how. */
static enum status next_answer(struct question *q, const struct peer_question *what, struct answer **out,
			       struct err *err)
{
	enum status status = STATUS_OK;

	pthread_mutex_lock(&q->peer->all->lock);
	while (!(*out = take_answer(q)) && !q->over && status == STATUS_OK) {
		int64_t now = clock_monotonic_ns();

		status = give_up(q, what, now, err);
		if (status == STATUS_OK)
			wait_a_while(q, what, now);
	}
	if (!*out && q->over && q->end.status != STATUS_OK) {
		*err = q->end;
		status = q->end.status;
	}
	pthread_mutex_unlock(&q->peer->all->lock);
	return status;
}

/* With the lock: what to start, unless that is known. */
static enum status prepare(struct peer *p, struct err *err)
{
	if (p->prepared)
		return STATUS_OK;
	if (p->setup->what(p->setup->ctx, &p->mem, &p->start, err)) {
		err->status = STATUS_UNREACHABLE;
		return err_pass(err, "%s", p->setup->name);
	}
	p->prepared = true;
	return STATUS_OK;
}

/* From here on leave() has to be called, whatever happens. */
static enum status begin(struct peers *all, const struct peer_question *what, struct question *q,
			 struct err *err)
{
	pthread_condattr_t attributes;
	struct peer *p = &all->list[what->peer];
	char id[24];
	enum status status;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&q->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	q->peer = p;
	q->last = &q->first;
	buf_init(&q->request, LIMIT_RPC_LINE);
	pthread_mutex_lock(&all->lock);
	status = prepare(p, err);
	if (status == STATUS_OK)
		status = start_thread(all, err);
	q->id = ++all->last_id;
	snprintf(id, sizeof id, "%" PRId64, q->id);
	if (what->method.n)
		rpc_put_request(&q->request, str_of(id), what->method, what->params, what->route);
	if (status == STATUS_OK && q->request.failed)
		status = err_set(err, STATUS_LIMIT, "%s: the parameters are too large", p->setup->name);
	q->over = status != STATUS_OK;
	q->since_ns = clock_monotonic_ns();
	if (status == STATUS_OK)
		append(&p->waiting, q);
	pthread_mutex_unlock(&all->lock);
	if (status == STATUS_OK)
		loop_wake(all->loop);
	return status;
}

/* ---- Handing over -------------------------------------------------------------------------- */

struct taking {
	const struct peer_sink *sink;
	const char *name;
	int64_t items, bytes; /* so far */
};

/* A single result is an object; of a stream it is how much came, if the child says so. */
static enum status take_result(struct taking *t, struct str result, struct err *err)
{
	int64_t said = 0, came = t->bytes ? t->bytes : t->items;

	if (str_has_prefix(result, STR("{")) && !came) {
		return (t->sink->one ? t->sink->one : t->sink->item)(t->sink->ctx, result, err);
	}
	if (str_to_i64(result, &said) ? said != came : !str_eq(result, STR("null")))
		return err_fail(err, STATUS_FORMAT,
				"%s: the result '%.*s' is neither an object nor how much it gave", t->name,
				(int)size_min(result.n, 40), result.p);
	return STATUS_OK;
}

static enum status hand_over(struct taking *t, const struct answer *a, struct err *err)
{
	const struct peer_sink *s = t->sink;
	struct str text = str_from(a->text, a->n);

	switch (a->kind) {
	case ANSWER_ITEM:
		t->items++;
		return s->item(s->ctx, text, err);
	case ANSWER_BYTES:
		t->bytes += (int64_t)a->n;
		return s->bytes
			       ? s->bytes(s->ctx, text, err)
			       : err_fail(err, STATUS_FORMAT, "%s: gave bytes, which nobody wanted", t->name);
	case ANSWER_PROGRESS:
		if (s->progress)
			s->progress(s->ctx, text, a->done, a->total);
		return STATUS_OK;
	case ANSWER_NOTE:
		if (s->note)
			s->note(s->ctx, text);
		return STATUS_OK;
	case ANSWER_RESULT:
		break;
	}
	return take_result(t, text, err);
}

enum status peer_ask(struct peers *all, const struct peer_question *what, const struct peer_sink *sink,
		     struct err *err)
{
	struct question q CLEANUP(leave) = { 0 };
	struct taking taking = { .sink = sink, .name = all->list[what->peer].setup->name };
	struct answer *a = NULL;
	enum status status = begin(all, what, &q, err);

	while (status == STATUS_OK && (status = next_answer(&q, what, &a, err)) == STATUS_OK && a) {
		status = hand_over(&taking, a, err);
		mem_free(a);
	}
	return status;
}

enum status peer_info(struct peers *all, size_t peer, int64_t deadline_ns, const atomic_bool *cancel,
		      struct arena *mem, struct str *out, struct err *err)
{
	struct peer_question what = { .peer = peer, .deadline_ns = deadline_ns, .cancel = cancel };
	struct peer_sink nothing = { 0 };

	/* A question without a method is over when the child is ready. */
	if (peer_ask(all, &what, &nothing, err))
		return err_failed(err->status);
	pthread_mutex_lock(&all->lock);
	*out = arena_str(mem, buf_as_str(&all->list[peer].info));
	pthread_mutex_unlock(&all->lock);
	return STATUS_OK;
}
