/*
 * Asking a child and waiting for its answers, in whichever thread somebody wants to know.
 *
 * Whoever waits looks after his own time: his deadline, whether he is cancelled, how long the
 * child has been silent. A child that says nothing to anybody for a whole timeout hangs, and the thread
 * that talks to it is told so.
 */
#include "live/peer_inside.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

enum { LOOK_MS = 100 }; /* how often a cancelled question is noticed */

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

	question_unlink(&p->waiting, q);
	question_unlink(&p->sent, q);
	if (!q->sent || p->cancels.n + CANCEL_MOST > PEER_CANCELS_MOST)
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
	q->queued -= answer_size(a);
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
	return peer_unreachable(q->peer, STR("gave no answer in time"), err);
}

/* With the lock: it will not even be started before there is no time left. */
static enum status too_tired(struct question *q, int64_t now, struct err *err)
{
	struct buf why CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_ERR_TEXT);
	int64_t seconds = (q->peer->rests_until_ns - now) / 1000000000 + 1;

	buf_printf(&why, "%.*s; it is not started again for %" PRId64 " s",
		   STR_ARG(buf_as_str(&q->peer->why)), seconds);
	return peer_unreachable(q->peer, buf_as_str(&why), err);
}

/* With the lock: nothing came for as long as anybody waits. Who says nothing to others either hangs. */
static enum status too_silent(struct question *q, struct err *err)
{
	struct buf why CLEANUP(buf_release) = BUF_INIT(KIB);
	struct peer *p = q->peer;

	buf_printf(&why, "gave no answer for %" PRId64 " ms", p->setup->timeout_ms);
	if (p->heard_ns <= q->since_ns && !p->broken.n)
		buf_str(&p->broken, buf_as_str(&why));
	return peer_unreachable(p, buf_as_str(&why), err);
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
static void wait_until(struct question *q, int64_t until)
{
	struct timespec at = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };

	pthread_cond_timedwait(&q->changed, &q->peer->all->lock, &at);
}

static void wait_a_while(struct question *q, const struct peer_question *what, int64_t now)
{
	int64_t until = now + (int64_t)LOOK_MS * 1000000;

	if (what->deadline_ns && what->deadline_ns < until)
		until = what->deadline_ns;
	if (patience_ns(q) < until)
		until = patience_ns(q);
	wait_until(q, until);
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
		status = peers_run(all, err);
	q->id = ++all->last_id;
	snprintf(id, sizeof id, "%" PRId64, q->id);
	if (what->method.n)
		rpc_put_request(&q->request, str_of(id), what->method, what->params, what->route);
	if (status == STATUS_OK && q->request.failed)
		status = err_set(err, STATUS_LIMIT, "%s: the parameters are too large", p->setup->name);
	q->over = status != STATUS_OK;
	q->since_ns = clock_monotonic_ns();
	if (status == STATUS_OK)
		question_append(&p->waiting, q);
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
	struct str shown = str_sub(result, 0, 40);

	if (str_has_prefix(result, STR("{")) && !came) {
		return (t->sink->one ? t->sink->one : t->sink->item)(t->sink->ctx, result, err);
	}
	if (str_to_i64(result, &said) ? said == came : str_eq(result, STR("null")))
		return STATUS_OK;
	if (came)
		return err_fail(err, STATUS_FORMAT,
				"%s: the result '%.*s' is not how many %s it gave, %" PRId64 ", nor null", t->name,
				STR_ARG(shown), t->bytes ? "bytes" : "items", came);
	return err_fail(err, STATUS_FORMAT,
			"%s: the result '%.*s' is no object, and nothing came before it; several results "
			"come as '$/item' each",
			t->name, STR_ARG(shown));
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

static enum status ignore(void *ctx, struct str json, struct err *err)
{
	(void)ctx;
	(void)json;
	(void)err;
	return STATUS_OK;
}

static struct str info_of(struct peers *all, size_t peer, struct arena *mem)
{
	struct str info;

	pthread_mutex_lock(&all->lock);
	info = arena_str(mem, buf_as_str(&all->list[peer].info));
	pthread_mutex_unlock(&all->lock);
	return info;
}

enum status peer_info(struct peers *all, size_t peer, int64_t deadline_ns, const atomic_bool *cancel,
		      struct arena *mem, struct str *out, struct err *err)
{
	struct peer_question what = { .peer = peer, .deadline_ns = deadline_ns, .cancel = cancel };
	struct peer_sink nothing = { .item = ignore };

	/* A question without a method is over when the child is ready. */
	if (peer_ask(all, &what, &nothing, err))
		return err_failed(err->status);
	*out = info_of(all, peer, mem);
	return STATUS_OK;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

struct greeting {
	struct question question;
	bool begun, skipped;
	int64_t began_ns;
};

struct peer_round {
	struct peers *all;
	struct greeting list[];
};

struct peer_round *peer_round_new(struct peers *all)
{
	struct peer_round *r = mem_alloc(sizeof *r + all->count * sizeof r->list[0]);

	r->all = all;
	return r;
}

void peer_round_free(struct peer_round *r)
{
	for (size_t i = 0; r && i < r->all->count; i++)
		if (r->list[i].begun)
			leave(&r->list[i].question);
	mem_free(r);
}

void peer_round_skip(struct peer_round *r, size_t peer)
{
	r->list[peer].skipped = true;
}

/* What goes wrong already now is the question's end as well. */
static void greet(struct peer_round *r, size_t peer)
{
	struct peer_question what = { .peer = peer };
	struct greeting *g = &r->list[peer];
	struct err err;

	if (g->begun)
		return;
	g->begun = true;
	g->began_ns = clock_monotonic_ns();
	if (begin(r->all, &what, &g->question, &err))
		g->question.end = err; /* it is in no list: nobody else sees it */
}

static bool is_over_in_a_moment(struct question *q)
{
	enum { MOMENT_MS = 200 }; /* a program that is well has answered by then */
	int64_t now = clock_monotonic_ns(), until = now + (int64_t)MOMENT_MS * 1000000;
	bool over;

	pthread_mutex_lock(&q->peer->all->lock);
	for (; !q->over && now < until; now = clock_monotonic_ns())
		wait_until(q, until);
	over = q->over;
	pthread_mutex_unlock(&q->peer->all->lock);
	return over;
}

/* Now, of one that was given up. */
static int64_t ended_ns(struct question *q)
{
	int64_t ns;

	pthread_mutex_lock(&q->peer->all->lock);
	ns = q->over ? q->since_ns : clock_monotonic_ns();
	pthread_mutex_unlock(&q->peer->all->lock);
	return ns;
}

enum status peer_round_info(struct peer_round *r, size_t peer, int64_t deadline_ns, const atomic_bool *cancel,
			    struct arena *mem, struct str *out, int64_t *took_ns, struct err *err)
{
	struct peer_question what = { .peer = peer, .deadline_ns = deadline_ns, .cancel = cancel };
	struct greeting *g = &r->list[peer];
	struct answer *none;
	enum status status;

	greet(r, peer);
	if (!is_over_in_a_moment(&g->question))
		for (size_t i = 0; i < r->all->count; i++)
			if (!r->list[i].skipped)
				greet(r, i);
	status = next_answer(&g->question, &what, &none, err);
	*took_ns = ended_ns(&g->question) - g->began_ns;
	if (status == STATUS_OK)
		*out = info_of(r->all, peer, mem);
	return status;
}
