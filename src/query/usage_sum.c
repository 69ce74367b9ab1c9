/*
 * Adding answers up.
 *
 * Calendars are those of base/clock.c, over what clocks of the zone show. The price of an
 * answer is that of its own time: a list that is changed later does not change the past.
 */
#include "query/usage_sum.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { MS_HOUR = 3600 * 1000, MS_DAY = 24 * MS_HOUR };

/* ---- Sums ------------------------------------------------------------------------- */

int64_t usage_tokens(const struct usage_sum *s)
{
	return s->input + s->output + s->written + s->read;
}

static const struct price *price_at(struct usage_prices *p, struct str model, int64_t at)
{
	size_t slot = (size_t)(uintptr_t)model.p / 16 % COUNT(p->seen);

	if (!model.n)
		return NULL;
	if (at < p->from || at >= p->until) {
		memset(p->seen, 0, sizeof p->seen);
		price_era(at, &p->from, &p->until);
	}
	/* Names of models are kept once: the same name is at the same place. */
	if (p->seen[slot].model != model.p) {
		p->seen[slot].model = model.p;
		p->seen[slot].price = price_find(&p->prices, model, at);
	}
	return p->seen[slot].price;
}

static void widen(struct usage_sum *to, int64_t first, int64_t last)
{
	if (first && (!to->first || first < to->first))
		to->first = first;
	if (last > to->last)
		to->last = last;
}

/* For the functions of prices: an array. */
#define TOKENS_OF(u) \
	{ \
		[TOKENS_INPUT] = (u)->input, [TOKENS_OUTPUT] = (u)->output, \
		[TOKENS_WRITE] = (u)->written - (u)->written_1h, [TOKENS_WRITE_1H] = (u)->written_1h, \
		[TOKENS_READ] = (u)->read, \
	}

unsigned usage_price_lacks(const struct usage *u, struct usage_prices *prices)
{
	const int64_t tokens[TOKEN_KINDS] = TOKENS_OF(u);
	const struct price *price = price_at(prices, u->model, u->at);

	return price ? price_lacks(price, tokens, u->fast) : 0;
}

bool usage_sum_add(struct usage_sum *to, const struct usage *u, struct usage_prices *prices)
{
	const int64_t tokens[TOKEN_KINDS] = TOKENS_OF(u);
	const struct price *price = price_at(prices, u->model, u->at);
	int64_t nano;
	bool known = price && price_of(price, tokens, u->fast, &nano);

	to->answers++;
	to->input += u->input;
	to->output += u->output;
	to->written += u->written;
	to->written_1h += u->written_1h;
	to->read += u->read;
	to->provisional += !u->final;
	if (known)
		to->nano = money_add(to->nano, nano);
	else
		to->unpriced += u->input + u->output + u->written + u->read;
	widen(to, u->at, u->at);
	return known;
}

void usage_sum_join(struct usage_sum *to, const struct usage_sum *from)
{
	to->answers += from->answers;
	to->input += from->input;
	to->output += from->output;
	to->written += from->written;
	to->written_1h += from->written_1h;
	to->read += from->read;
	to->provisional += from->provisional;
	to->nano = money_add(to->nano, from->nano);
	to->unpriced += from->unpriced;
	widen(to, from->first, from->last);
}

void usage_sums_release(struct usage_sums *s)
{
	map_release(&s->by_name);
}

struct usage_sum *usage_sums_get(struct usage_sums *s, struct str key, struct str model, bool *is_new)
{
	struct usage_sum *sum = s->last;
	struct str name;

	*is_new = false;
	if (sum && str_eq(sum->key, key) && str_eq(sum->model, model))
		return sum;
	name = model.n ? arena_printf(s->mem, "%.*s\n%.*s", STR_ARG(key), STR_ARG(model)) : key;
	s->last = sum = map_get(&s->by_name, name);
	*is_new = !sum;
	if (sum)
		return sum;
	if (s->count == s->cap) {
		struct usage_sum **bigger = arena_alloc(s->mem, (s->cap = s->cap ? 2 * s->cap : 64) *
									sizeof(*bigger));

		if (s->count)
			memcpy(bigger, s->list, s->count * sizeof(*bigger));
		s->list = bigger;
	}
	s->last = sum = s->list[s->count++] = arena_alloc(s->mem, sizeof *sum);
	*sum = (struct usage_sum){ .key = arena_str(s->mem, key), .model = model };
	map_put(&s->by_name, model.n ? name : sum->key, sum);
	return sum;
}

/* ---- When --------------------------------------------------------------------------- */

/* The week of its Thursday's year. */
static void name_week(int64_t clock_ms, char out[PERIOD_TEXT])
{
	int64_t days = clock_ms / MS_DAY - (clock_ms % MS_DAY < 0);
	int64_t thursday = days - (days % 7 + 7 + 3) % 7 + 3; /* 1970-01-01 was one */
	int year = date_of_days(thursday).year;
	int week = (int)((thursday - days_of_date((struct date){ year, 1, 1 })) / 7 + 1);

	snprintf(out, PERIOD_TEXT, "%04d-W%02d", year, week);
}

static void name_hour(const struct zone *zone, int64_t at, const char *clock, char out[PERIOD_TEXT])
{
	int32_t offset = zone_offset(zone, at);
	int minutes = (offset < 0 ? -offset : offset) / 60;

	snprintf(out, PERIOD_TEXT, "%.10s %.2s:00", clock, clock + 11);
	if (zone_offset(zone, at - MS_HOUR) != offset || zone_offset(zone, at + MS_HOUR) != offset)
		snprintf(out + strlen(out), PERIOD_TEXT - strlen(out), " %c%02d:%02d", offset < 0 ? '-' : '+',
			 minutes / 60 % 100, minutes % 60);
}

struct str usage_period_name(enum usage_period period, const struct zone *zone, int64_t at,
			     char out[PERIOD_TEXT])
{
	char clock[TIME_TEXT + 1];

	if (!at) {
		snprintf(out, PERIOD_TEXT, "unknown");
		return str_of(out);
	}
	time_print(zone_to_clock(zone, at), clock);
	switch (period) {
	case USAGE_HOUR:
		name_hour(zone, at, clock, out);
		break;
	case USAGE_DAY:
		snprintf(out, PERIOD_TEXT, "%.10s", clock);
		break;
	case USAGE_WEEK:
		name_week(zone_to_clock(zone, at), out);
		break;
	case USAGE_MONTH:
		snprintf(out, PERIOD_TEXT, "%.7s", clock);
		break;
	}
	return str_of(out);
}

int64_t usage_block(struct usage_blocks *b, int64_t at)
{
	if (!b->any || at - b->begin > USAGE_BLOCK_MS || at - b->last > USAGE_BLOCK_MS)
		b->begin = at - (at % MS_HOUR + MS_HOUR) % MS_HOUR;
	b->any = true;
	b->last = at;
	return b->begin;
}
