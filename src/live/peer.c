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
 * Here is the thread; peer_ask.c has those who ask.
 */
#include "live/peer_inside.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/thread.h"

#include <string.h>

enum { HELLO_ID = 0 };

/* ---- Questions, with the lock ------------------------------------------------------ */

void question_append(struct question **list, struct question *q)
{
	while (*list)
		list = &(*list)->next;
	q->next = NULL;
	*list = q;
}

void question_unlink(struct question **list, const struct question *q)
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
	q->queued += answer_size(a);
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

enum status peer_unreachable(const struct peer *p, struct str why, struct err *out)
{
	return err_set(out, STATUS_UNREACHABLE, "%s: %.*s", p->setup->name,
		       (int)size_min(why.n, LIMIT_ERR_TEXT / 2), why.p ? why.p : "");
}

static void nonsense(struct peer *p, struct str line, const char *what)
{
	struct buf why CLEANUP(buf_release) = BUF_INIT(4 * KIB);

	buf_printf(&why, "wrote something that is %s", what);
	if (line.p && line.n)
		buf_printf(&why, ": '%.*s'", (int)size_min(line.n, 80), line.p);
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
		question_unlink(&p->sent, q);
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

static bool is_part(const struct rpc_message *m)
{
	return str_eq(m->method, STR(RPC_ITEM)) || str_eq(m->method, STR(RPC_BYTES));
}

/* False when it is not right. Notices that nobody knows are ignored, as are late ones. */
static bool take_notice(struct peer *p, const struct rpc_message *m)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct answer *a = answer_in(&p->json, m, &mem);
	struct question *q;

	if (!a)
		return !is_part(m);
	pthread_mutex_lock(&p->all->lock);
	q = find_sent(p, rpc_subject(&p->json, m));
	if (q)
		add_answer(q, a);
	pthread_mutex_unlock(&p->all->lock);
	if (!q)
		mem_free(a);
	return true;
}

/* Ids are handed out as whole numbers: 7 that comes back as "7" answers nothing, and whoever asked would wait
 * for ever. One that nobody knows any more is only late. */
static bool has_foreign_id(const struct peer *p, const struct rpc_message *m)
{
	if (m->kind == RPC_NOTICE)
		return is_part(m) && str_has_prefix(rpc_subject(&p->json, m), STR("\""));
	return str_has_prefix(m->id, STR("\""));
}

static const char *no_message(const struct err *err, struct arena *mem)
{
	struct str why;

	if (err->status != STATUS_USAGE)
		return "not JSON";
	(void)str_cut(str_of(err->text), ':', &why);
	return arena_printf(mem, "no message of JSON-RPC 2.0 (%.*s)", STR_ARG(str_trim(why))).p;
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
		nonsense(p, line->text, no_message(&err, &mem));
		return false;
	}
	if (m.kind == RPC_REQUEST) /* it may not ask us anything */
		return true;
	if (has_foreign_id(p, &m)) {
		nonsense(p, line->text, "an answer whose id is a text and was a number");
		return false;
	}
	if (m.kind == RPC_NOTICE) {
		if (take_notice(p, &m))
			return true;
		nonsense(p, line->text,
			 str_eq(m.method, STR(RPC_ITEM)) ? "an item that is no object"
							 : "no bytes as base64");
		return false;
	}
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
		question_append(&p->sent, q);
		q->sent = true;
		touch(q);
		child_write(c, buf_as_str(&q->request));
	}
	pthread_mutex_unlock(&p->all->lock);
}

/* Kills one that somebody found to hang. */
static void break_hanging(struct peer *p)
{
	struct buf broken CLEANUP(buf_release) = BUF_INIT(4 * KIB);

	pthread_mutex_lock(&p->all->lock);
	buf_str(&broken, buf_as_str(&p->broken));
	buf_clear(&p->broken);
	pthread_mutex_unlock(&p->all->lock);
	if (broken.n)
		supervisor_break(p->supervisor, buf_as_str(&broken));
}

/* Whatever can be done for a peer now. */
static void pump(struct peer *p)
{
	bool wanted;

	break_hanging(p);
	pthread_mutex_lock(&p->all->lock);
	wanted = p->waiting != NULL;
	pthread_mutex_unlock(&p->all->lock);
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

	peer_unreachable(p, why, &end);
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
		if (!stopping) {
			pump(&all->list[i]);
			continue;
		}
		break_hanging(&all->list[i]); /* who hangs would not hear that he is to end */
		supervisor_stop(all->list[i].supervisor);
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
		buf_init(&p->cancels, PEER_CANCELS_MOST);
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
enum status peers_run(struct peers *all, struct err *err)
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
