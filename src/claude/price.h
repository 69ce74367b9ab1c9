/*
 * What tokens cost: the list prices of Anthropic's API as data, and those that somebody
 * sets. A model without a price has none: its cost is unknown, never zero.
 *
 * Money is in whole numbers: prices in pico-dollars a token ($1 per million tokens is
 * 1,000,000 of them), sums in nano-dollars.
 */
#ifndef ARBOR_CLAUDE_PRICE_H
#define ARBOR_CLAUDE_PRICE_H

#include "base/arena.h"
#include "base/err.h"

/* Kinds of tokens, each with a price of its own. */
enum token_kind { TOKENS_INPUT, TOKENS_OUTPUT, TOKENS_WRITE, TOKENS_WRITE_1H, TOKENS_READ, TOKEN_KINDS };

enum { PRICE_UNKNOWN = -1 };

struct price {
	const char *model; /* its name without date and vendor; '*' stands for anything */
	int64_t since;	   /* ms: holds from then on; 0 = always */
	int64_t tokens[TOKEN_KINDS];
	int64_t long_over;		  /* of a prompt longer than this other prices hold; 0 = of none */
	int64_t long_tokens[TOKEN_KINDS]; /* for all of its tokens */
	int fast; /* so many times as much when the answer was asked for in a hurry; 0 = unknown */
};

/* Those that are built in, ended by one without a name, and what they are of. */
extern const struct price price_list[];
#define PRICE_LIST_OF "Anthropic's list prices of 2026-10-27"

/* Prices that come before those of the list. */
struct prices {
	const struct price *own; /* ended by one without a name; NULL = none */
};

/*
 * From JSON: {"MODEL": {"input": 3, "output": 15, "cache_write": 3.75, "cache_write_1h": 6,
 * "cache_read": 0.30, "fast": 2}}, in dollars per million tokens. What is left out is unknown.
 * STATUS_FORMAT says what is wrong.
 */
#define PRICE_EXAMPLE \
	"{\"input\": 3, \"output\": 15, \"cache_write\": 3.75, \"cache_write_1h\": 6, \"cache_read\": 0.30}"
#define PRICES_EXAMPLE "{\"my-model\": " PRICE_EXAMPLE "}"
enum status prices_read(struct str json, struct arena *mem, struct prices *out, struct err *err) MUST_USE;

/* The price of a model at a moment; NULL = nobody knows. A pattern with more letters wins. */
const struct price *price_find(const struct prices *p, struct str model, int64_t at);

/* The time around a moment in which no price of the list changes: *from is the first of it, *until is behind it. */
void price_era(int64_t at, int64_t *from, int64_t *until);

/* What an answer with so many tokens cost, in nano-dollars. False when that is not known. */
bool price_of(const struct price *p, const int64_t tokens[TOKEN_KINDS], bool fast, int64_t *nano);

/* Why that is not known: what the price lacks, as bits of kinds, and behind them one for what is asked for in a hurry.
 * And what the nth of these is called. */
unsigned price_lacks(const struct price *p, const int64_t tokens[TOKEN_KINDS], bool fast);
const char *price_part(int part);
enum { PRICE_PARTS = TOKEN_KINDS + 1 };

/* What a run of the client cost by these prices, from what it reports of each model (`modelUsage` of a
 * result, JSON) and of its last turn (`usage`), in nano-dollars. False when a model has no price, or nothing
 * is said. */
bool price_of_run(const struct prices *p, struct str model_usage, struct str usage, int64_t at,
		  int64_t *nano);

/* Their sum, or the most that can be told. Neither is negative. */
int64_t money_add(int64_t a, int64_t b);

#endif
