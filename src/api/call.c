/*
 * Calls: a method of the hub, run for a program in the thread that asks for it.
 */
#include "api/api.h"

#include "base/clock.h"
#include "hub/activations.h"
#include "hub/params.h"

#include <string.h>

struct running {
	struct arbor *arbor;
	struct arbor_call_options o;
	arbor_result *on_result;
	void *ctx;
	struct deadline deadline;
	const atomic_bool *cancel; /* may be NULL */
	bool stopped;		   /* by the caller's function */
};

/* ---- What the hub asks of a caller --------------------------------------------- */

static enum status take_result(void *ctx, struct str data, struct err *err)
{
	struct running *r = ctx;

	if (r->cancel && atomic_load(r->cancel))
		return err_fail(err, STATUS_CANCELLED, "cancelled");
	if (!r->on_result || r->on_result(r->ctx, data.p ? data.p : "", data.n) == 0)
		return STATUS_OK;
	r->stopped = true;
	return err_fail(err, STATUS_CANCELLED, "stopped by who takes the results");
}

static void take_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	struct running *r = ctx;

	if (r->o.progress)
		r->o.progress(r->o.ctx, what, done, total);
}

static void take_note(void *ctx, struct str text)
{
	struct running *r = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;

	if (r->o.note)
		r->o.note(r->o.ctx, arena_cstr(&mem, text));
}

static void on_rebuild(void *ctx, int64_t done, int64_t total)
{
	take_progress(ctx, "updating the index", done, total);
}

static enum status open_store(void *ctx, bool make, struct store **out, struct err *err)
{
	struct running *r = ctx;
	struct where_opening o = {
		.make = make, .log = &r->arbor->log, .cancel = r->cancel, .progress = on_rebuild, .ctx = r
	};

	return api_open_store(r->arbor, &o, out, err);
}

static void close_store(void *ctx, struct store *s)
{
	struct running *r = ctx;

	api_leave_store(r->arbor, s);
}

/* ---- Running ------------------------------------------------------------------- */

static int64_t deadline_of(int64_t timeout_ms)
{
	int64_t now = clock_monotonic_ns();

	if (timeout_ms == 0 || timeout_ms > (INT64_MAX - now) / 1000000)
		return 0;
	return now + timeout_ms * 1000000;
}

static void running_end(struct running *r)
{
	deadline_end(&r->deadline);
}

/* Takes the caller's arguments; running_end() follows only when that worked. */
static enum status running_begin(struct running *r, struct arbor *a, const char *method,
				 const struct arbor_call_options *o, struct err *err)
{
	if (!a || !method || !method[0])
		return err_fail(err, STATUS_USAGE, "%s",
				a ? "method: may not be empty" : "arbor: may not be NULL");
	if (api_take_options(&r->o, sizeof r->o, o, err))
		return err_failed(err->status);
	if (r->o.timeout_ms < 0 || r->o.reserved)
		return err_fail(err, STATUS_USAGE, "options: %s",
				r->o.reserved ? "reserved: has to be 0" : "timeout_ms: may not be negative");
	r->arbor = a;
	r->cancel = deadline_begin(&r->deadline, &a->deadlines, deadline_of(r->o.timeout_ms),
				   r->o.cancel ? &r->o.cancel->on : NULL);
	return STATUS_OK;
}

static struct hub_caller caller_of(struct running *r)
{
	return (struct hub_caller){
		.sink = { .item = take_result,
			  .bytes = take_result,
			  .progress = take_progress,
			  .note = take_note,
			  .ctx = r },
		.log = &r->arbor->log,
		.settings = r->arbor->settings,
		.cancel = r->cancel,
		.deadline_ns = r->deadline.at_ns,
		.scopes = r->arbor->scopes & (r->o.scopes ? r->o.scopes : ~UINT32_C(0)),
		.open_store = open_store,
		.close_store = close_store,
		.ctx = r,
		.elsewhere = children_elsewhere(r->arbor->children),
		.children = r->arbor->children,
	};
}

/* Some methods take the wish to end for the end: but then not all results were handed over. */
static int running_result(struct running *r, enum status status, struct err *err, struct arbor_error *e)
{
	bool cancelled = r->o.cancel && atomic_load(&r->o.cancel->on);

	if (status == STATUS_OK && r->stopped)
		status = err_set(err, STATUS_CANCELLED, "stopped by who takes the results");
	if (status == STATUS_CANCELLED && !r->stopped && !cancelled && deadline_is_over(&r->deadline))
		return api_end_timed_out(e);
	return api_end(status, err, e);
}

int arbor_call(struct arbor *a, const char *method, const char *params, size_t length,
	       arbor_result *on_result, void *ctx, const struct arbor_call_options *o, struct arbor_error *e)
{
	struct running r = { .on_result = on_result, .ctx = ctx };
	struct hub_caller who;
	struct err err;
	enum status status;
	int result;

	if (running_begin(&r, a, method, o, &err))
		return api_end(err.status, &err, e);
	who = caller_of(&r);
	status = hub_call(&arbor_hub, str_of(method), str_from(params, params ? length : 0), &who, &err);
	result = running_result(&r, status, &err, e);
	running_end(&r);
	return result;
}

/* ---- Parameters as texts -------------------------------------------------------- */

static enum status set_params(struct params *p, const char *const *given, struct err *err)
{
	for (; given && given[0]; given += 2) {
		const struct param *q = params_find(p, str_of(given[0]));

		if (!q)
			return params_unknown(p, str_of(given[0]), err);
		if (!given[1])
			return err_fail(err, STATUS_USAGE, "%s: its value is missing", given[0]);
		if (params_set_text(p, q, str_of(given[1]), err))
			return err_failed(err->status);
	}
	return params_end(p, err);
}

static enum status call_with_texts(struct running *r, const char *method, const char *const *given,
				   struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct hub_caller who = caller_of(r);
	const struct activation *activation = NULL;
	const struct method *m = NULL;
	struct params p;

	if (hub_find(&arbor_hub, str_of(method), &activation, &m, err))
		return err_failed(err->status);
	params_begin(&p, m, &mem);
	p.settings = who.settings;
	if (set_params(&p, given, err))
		return err_pass(err, "%s.%s", activation->name, m->name);
	return hub_run(&arbor_hub, m, p.values, &who, err);
}

int arbor_call_text(struct arbor *a, const char *method, const char *const *params, arbor_result *on_result,
		    void *ctx, const struct arbor_call_options *o, struct arbor_error *e)
{
	struct running r = { .on_result = on_result, .ctx = ctx };
	struct err err;
	int result;

	if (running_begin(&r, a, method, o, &err))
		return api_end(err.status, &err, e);
	result = running_result(&r, call_with_texts(&r, method, params, &err), &err, e);
	running_end(&r);
	return result;
}

/* ---- Cancelling ----------------------------------------------------------------- */

struct arbor_cancel *arbor_cancel_new(void)
{
	return mem_alloc(sizeof(struct arbor_cancel));
}

void arbor_cancel_pull(struct arbor_cancel *c)
{
	if (c)
		atomic_store(&c->on, true);
}

void arbor_cancel_reset(struct arbor_cancel *c)
{
	if (c)
		atomic_store(&c->on, false);
}

void arbor_cancel_free(struct arbor_cancel *c)
{
	mem_free(c);
}
