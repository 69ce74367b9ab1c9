/*
 * Dispatch. Nothing here knows what any method does.
 */
#include "hub/hub.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/near.h"
#include "hub/children.h"
#include "hub/params.h"
#include "hub/schema.h"

#include <stdio.h>
#include <string.h>

/* A single result. Larger things are streamed or raw. */
enum { LARGEST_ITEM = 256 * 1024 * 1024 };

static const struct activation *find_activation(const struct hub *h, struct str name)
{
	for (const struct activation *const *a = h->activations; *a; a++)
		if (str_eq(name, str_of((*a)->name)))
			return *a;
	return NULL;
}

static enum status no_such_method(const struct hub *h, struct str name, struct err *err)
{
	struct near near = near_begin(name);
	char best[128] = "";

	for (const struct activation *const *a = h->activations; *a; a++)
		for (const struct method *const *m = (*a)->methods; *m; m++) {
			char full[128];
			const char *before = near.best;

			snprintf(full, sizeof full, "%s.%s", (*a)->name, (*m)->name);
			near_try(&near, full);
			if (near.best != before) {
				memcpy(best, full, sizeof best);
				near.best = best;
			}
		}
	return err_fail(err, STATUS_NOT_FOUND, "no method '%.*s'%s%s%s", (int)size_min(name.n, 80),
			name.p ? name.p : "",
			best[0] ? "; did you mean '" : "; 'arbor call hub.methods' lists them", best,
			best[0] ? "'?" : "");
}

enum status hub_find(const struct hub *h, struct str name, const struct activation **a, const struct method **m,
		     struct err *err)
{
	struct str rest, first = str_cut(name, '.', &rest);
	const struct activation *found = find_activation(h, first);

	if (!found)
		return err_failed(no_such_method(h, name, err));
	for (const struct method *const *each = found->methods; *each; each++)
		if (str_eq(rest, str_of((*each)->name))) {
			*a = found;
			*m = *each;
			return STATUS_OK;
		}
	return err_failed(no_such_method(h, name, err));
}

/* ---- Running --------------------------------------------------------------- */

static void call_release(struct call *c)
{
	if (c->store && c->who->close_store)
		c->who->close_store(c->who->ctx, c->store);
	else
		store_close(c->store);
	buf_release(&c->item);
	arena_release(&c->mem);
}

static void waits_release(struct waits *w)
{
	arena_release(&w->mem);
}

/* For those who cannot be asked. */
static enum status is_meant(const struct call *c, struct err *err)
{
	if (!c->method->asks || call_flag(c, "yes") || call_flag(c, "dry_run"))
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE,
			"this cannot be undone: say --yes, or --dry-run to see what it would do");
}

static enum status meet_need(struct call *c, struct err *err)
{
	enum need need = c->method->need;

	if (c->method->prepare && c->method->prepare(c, &need, err))
		return err_failed(err->status);
	if (need == NEED_NOTHING)
		return STATUS_OK;
	if (!c->who->open_store)
		return err_fail(err, STATUS_INTERNAL, "%s needs a store and the caller has none",
				c->method->name);
	return c->who->open_store(c->who->ctx, need == NEED_STORE_MADE, &c->store, err);
}

/* Until the store has changed, the method's time is up, or the call is cancelled. */
static enum status wait_for_it(struct call *c, struct err *err)
{
	enum { LOOK_MS = 100 }; /* how often a cancelled call is noticed */
	bool changed = false;

	while (!changed && !call_is_cancelled(c)) {
		int64_t left = (c->wait_until_ns - clock_monotonic_ns()) / 1000000;

		if (left <= 0)
			return STATUS_OK;
		if (!c->store)
			return err_fail(err, STATUS_INTERNAL, "%s waits for a store it did not ask for",
					c->method->name);
		if (store_wait(c->store, left < LOOK_MS ? (int)left : LOOK_MS, &changed, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status hub_run(const struct hub *h, const struct method *m, struct value *values,
		    const struct hub_caller *who, struct err *err)
{
	struct waits waits CLEANUP(waits_release) = { .mem = ARENA_INIT };
	struct call c CLEANUP(call_release) = {
		.hub = h,
		.who = who,
		.waits = &waits,
		.method = m,
		.values = values,
		.sink = who->sink,
		.log = who->log,
		.settings = who->settings,
		.cancel = who->cancel,
		.deadline_ns = who->deadline_ns,
		.item = BUF_INIT(LARGEST_ITEM),
	};
	enum status status;

	if (!(who->scopes & 1u << m->scope))
		return err_fail(err, STATUS_DENIED, "%s needs the scope '%s'", m->name, scope_name(m->scope));
	if (is_meant(&c, err) || meet_need(&c, err))
		return err_failed(err->status);
	while ((status = m->run(&c, err)) == STATUS_WAIT) {
		status = wait_for_it(&c, err);
		if (status == STATUS_OK && !call_is_cancelled(&c))
			continue;
		if (c.leave)
			c.leave(&c);
		return status ? status : err_fail(err, STATUS_CANCELLED, "%s: cancelled", m->name);
	}
	return status;
}

/* Parameters become part of a message: they have to be what they are said to be. */
static enum status call_child(const struct hub *h, size_t which, struct str method, struct str json,
			      const struct hub_caller *who, struct err *err)
{
	struct call c CLEANUP(call_release) = { .hub = h, .who = who, .settings = who->settings };
	struct json j CLEANUP(json_release) = JSON_INIT;

	if (json.n && json_read(&j, json, LIMIT_JSON_DEPTH, err))
		return err_pass(err, "parameters");
	if (json.n && !json_is(&j, json_root(&j), JSON_OBJECT))
		return err_fail(err, STATUS_USAGE, "parameters: wants a JSON object");
	return children_call(&c, which, method, json, err);
}

enum status hub_call(const struct hub *h, struct str name, struct str json, const struct hub_caller *who,
		     struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	const struct activation *a = NULL;
	const struct method *m = NULL;
	struct params p;
	struct str rest;
	size_t which;

	if (children_find(who->children, name, &which, &rest))
		return call_child(h, which, rest, json, who, err);
	if (hub_find(h, name, &a, &m, err))
		return err_failed(err->status);
	params_begin(&p, m, &mem);
	p.settings = who->settings;
	if ((json.n && params_set_json(&p, json, err)) || params_end(&p, err))
		return err_pass(err, "%s.%s", a->name, m->name);
	return hub_run(h, m, p.values, who, err);
}

/* A line: of a method, or of a kind of handle. */
static enum status add_schema(struct sha *sha, struct buf *text, const struct activation *a, const struct method *m,
			      const struct handle_kind *k, struct err *err)
{
	struct json_writer w;

	buf_clear(text);
	json_write_init(&w, text, 0);
	if (m)
		schema_method(&w, a, m);
	else
		schema_handle(&w, a, k);
	if (json_write_done(&w, err))
		return err_pass(err, "schema of %s, %s", a->name, m ? m->name : k->method);
	sha256_add(sha, text->p, text->n);
	sha256_add(sha, "\n", 1);
	return STATUS_OK;
}

enum status hub_hash(const struct hub *h, char out[HUB_HASH_TEXT + 1], struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LARGEST_ITEM);
	uint8_t digest[SHA256_BYTES];
	struct sha sha;

	sha256_init(&sha);
	for (const struct activation *const *a = h->activations; *a; a++) {
		for (const struct method *const *m = (*a)->methods; *m; m++)
			if (add_schema(&sha, &text, *a, *m, NULL, err))
				return err_failed(err->status);
		for (const struct handle_kind *k = (*a)->handles; k && k->method; k++)
			if (add_schema(&sha, &text, *a, NULL, k, err))
				return err_failed(err->status);
	}
	sha256_end(&sha, digest);
	hex_encode(digest, sizeof digest, out);
	return STATUS_OK;
}
