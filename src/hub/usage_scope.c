/*
 * Which answers are meant, and what they cost.
 *
 * Dates are of the zone that was asked for. Transcripts are loaded only when a question
 * needs them: adding up days does not.
 */
#include "hub/usage_scope.h"

#include "base/utf8.h"
#include "hub/memory_project.h"
#include "hub/settings.h"

#include <stdio.h>
#include <string.h>

/* ---- What is meant ---------------------------------------------------------------- */

enum status usage_scope_read(struct call *c, struct usage_scope *out, struct err *err)
{
	struct str prices = settings_text(c->settings, "usage.prices");

	*out = (struct usage_scope){ .call = c };
	if (zone_find(call_text(c, "timezone"), &c->mem, &out->zone, err))
		return err_pass(err, "timezone");
	if (prices.p && prices_read(prices, &c->mem, &out->prices.prices, err))
		return err_pass(err, "usage.prices");
	out->period = period_read(c, &out->zone);
	return project_of(c, &out->project, err);
}

static enum status take_session(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct usage_scope *s = ctx;
	struct arena *mem = &s->call->mem;
	struct session *kept;

	(void)go_on;
	(void)err;
	if (s->count == s->cap) {
		struct session *bigger = arena_alloc(mem,
						     (s->cap = s->cap ? 2 * s->cap : 128) * sizeof *bigger);

		if (s->count)
			memcpy(bigger, s->sessions, s->count * sizeof *bigger);
		s->sessions = bigger;
	}
	kept = &s->sessions[s->count++];
	*kept = *session;
	kept->root = arena_str(mem, session->root);
	kept->path = arena_str(mem, session->path);
	kept->project = arena_str(mem, session->project);
	kept->branch = (struct str){ 0 };
	kept->title = arena_str(mem, session->title);
	kept->agent = arena_str(mem, session->agent);
	return STATUS_OK;
}

enum status usage_scope_load(struct usage_scope *s, struct err *err)
{
	if (session_each(s->call->store, s->project, take_session, s, err))
		return err_failed(err->status);
	s->rows = numbers_new(&s->call->mem, s->count);
	for (size_t i = 0; i < s->count; i++)
		numbers_put(&s->rows, (uint64_t)s->sessions[i].row, (uint32_t)i);
	s->loaded = true;
	return STATUS_OK;
}

const struct session *usage_scope_session(const struct usage_scope *s, int64_t row)
{
	uint32_t at = numbers_get(&s->rows, (uint64_t)row);

	return at == NUMBERS_NONE ? NULL : &s->sessions[at];
}

bool usage_scope_has(const struct usage_scope *s, int64_t at, int64_t row)
{
	return period_has(&s->period, at) && (!s->loaded || usage_scope_session(s, row));
}

/* ---- What it costs ------------------------------------------------------------------ */

/* The first by their names: which these are does not depend on the order in which answers come. */
static void note_unknown(struct usage_scope *s, struct str model, unsigned lacks)
{
	size_t at = s->unknown_count, most = COUNT(s->unknown);

	while (at && str_cmp(model, s->unknown[at - 1].model) < 0)
		at--;
	if (at && str_eq(s->unknown[at - 1].model, model)) {
		s->unknown[at - 1].lacks |= lacks;
		return;
	}
	if (at == most)
		return;
	s->unknown_count += s->unknown_count < most;
	memmove(&s->unknown[at + 1], &s->unknown[at], (s->unknown_count - 1 - at) * sizeof *s->unknown);
	s->unknown[at].model = model;
	s->unknown[at].lacks = lacks;
}

void usage_scope_add(struct usage_scope *s, struct usage_sum *to, const struct usage *u)
{
	if (!usage_sum_add(to, u, &s->prices))
		note_unknown(s, u->model.n ? u->model : STR("unknown"), usage_price_lacks(u, &s->prices));
}

static bool is_unknown(const struct usage_sum *sum)
{
	return sum->unpriced && !sum->nano;
}

/* Dollars and cents. What is more than nothing does not look like it. */
static const char *cost_text(const struct usage_sum *sum, char out[40])
{
	int64_t cents = sum->nano / 10000000 + (sum->nano % 10000000 >= 5000000);
	const char *front = sum->unpriced ? "≥" : "";

	if (is_unknown(sum))
		snprintf(out, 40, "unknown");
	else if (sum->nano && !cents)
		snprintf(out, 40, "%s", sum->unpriced ? "≥$0.00" : "<$0.01");
	else
		snprintf(out, 40, "%s$%" PRId64 ".%02d", front, cents / 100, (int)(cents % 100));
	return out;
}

/* All digits that matter, two at least. */
static struct str dollars_text(int64_t nano, char out[40])
{
	size_t n = (size_t)snprintf(out, 40, "%" PRId64 ".%09d", nano / 1000000000, (int)(nano % 1000000000));

	for (int i = 0; i < 7 && out[n - 1] == '0'; i++)
		n--;
	return str_from(out, n);
}

void usage_put_cost(struct json_writer *w, const struct usage_sum *sum)
{
	char text[40];

	put_text(w, "cost", str_of(cost_text(sum, text)));
	if (!is_unknown(sum))
		put_int(w, "nanodollars", sum->nano);
	put_int(w, "unpriced_tokens", sum->unpriced);
	if (sum->unpriced && !sum->nano)
		return;
	json_write_key(w, STR("dollars"));
	json_write_raw(w, dollars_text(sum->nano, text));
}

static void put_parts(struct buf *out, unsigned lacks)
{
	const char *before = " lacks ";

	for (int part = 0; part < PRICE_PARTS; part++)
		if (lacks & 1u << part) {
			buf_printf(out, "%s%s", before, price_part(part));
			before = " and ";
		}
}

void usage_note_unknown(const struct usage_scope *s, const struct usage_sum *total)
{
	struct buf names CLEANUP(buf_release) = BUF_INIT(2 * KIB);

	if (!s->unknown_count)
		return;
	for (size_t i = 0; i < s->unknown_count; i++) {
		struct str name = str_sub(s->unknown[i].model, 0, 60);

		buf_printf(&names, "%s%.*s", i ? ", " : "", (int)utf8_valid_prefix(name), name.p);
		put_parts(&names, s->unknown[i].lacks);
	}
	call_note(s->call,
		  "no price is known for %" PRId64 " tokens (%s%s); the setting usage.prices can name one",
		  total->unpriced, names.p ? names.p : "",
		  s->unknown_count == COUNT(s->unknown) ? ", ..." : "");
}
