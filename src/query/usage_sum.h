/*
 * Adding answers up: by parts of the calendar of some zone, by billing blocks, by whatever
 * has a name.
 */
#ifndef ARBOR_QUERY_USAGE_SUM_H
#define ARBOR_QUERY_USAGE_SUM_H

#include "base/map.h"
#include "base/zone.h"
#include "claude/price.h"
#include "query/usage.h"

/* What answers cost together. */
struct usage_sum {
	struct str key, model; /* in the arena; model empty = of all */
	int64_t answers, input, output, written, written_1h, read;
	int64_t provisional; /* answers of which no line says that they ended */
	int64_t nano;	     /* dollars / 10^9, of answers whose price is known */
	int64_t unpriced;    /* tokens of the others */
	int64_t first, last; /* ms; 0 = no answer has a time */
	int64_t place;	     /* the caller's: where it stands among others, */
	const void *about;   /* and what it is about */
};

int64_t usage_tokens(const struct usage_sum *s);

/* What models cost, looked up once for each as long as no price changes. */
struct usage_prices {
	struct prices prices;
	int64_t from, until; /* that long what was seen holds */
	struct {
		const char *model;
		const struct price *price;
	} seen[16];
};

/* Adds an answer; false when it has no price. */
bool usage_sum_add(struct usage_sum *to, const struct usage *u, struct usage_prices *prices);

/* What the price of such an answer lacks: price_lacks(); 0 = there is none at all. */
unsigned usage_price_lacks(const struct usage *u, struct usage_prices *prices);

/* Adds what another has. */
void usage_sum_join(struct usage_sum *to, const struct usage_sum *from);

/* Sums by key and model, in the order in which they were asked for first. */
struct usage_sums {
	struct arena *mem;
	struct map by_name;
	struct usage_sum **list;
	size_t count, cap;
	struct usage_sum *last; /* asked for: mostly the next, too */
};

void usage_sums_release(struct usage_sums *s);

/* The one of these names; *is_new when there was none. */
struct usage_sum *usage_sums_get(struct usage_sums *s, struct str key, struct str model, bool *is_new);

/* ---- When ------------------------------------------------------------------------ */

enum usage_period { USAGE_HOUR, USAGE_DAY, USAGE_WEEK, USAGE_MONTH };

enum { PERIOD_TEXT = 40 };

/*
 * "2026-11-15 18:00", "2026-11-15", "2026-W46" (weeks begin on Monday, as in ISO 8601),
 * "2026-11"; "unknown" when there is no time. Where clocks are put back, the two hours of
 * one name have their distance from UTC behind them.
 */
struct str usage_period_name(enum usage_period period, const struct zone *zone, int64_t at,
			     char out[PERIOD_TEXT]);

/*
 * Billing blocks: one begins with the first answer, at the full hour before it, and lasts
 * five hours; it is also over when nothing happened for as long. Answers come in the order
 * of their times. Gives the block's beginning.
 */
struct usage_blocks {
	int64_t begin, last; /* ms */
	bool any;
};

enum { USAGE_BLOCK_MS = 5 * 3600 * 1000 };
int64_t usage_block(struct usage_blocks *b, int64_t at);

#endif
