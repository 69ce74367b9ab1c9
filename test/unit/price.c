/*
 * What tokens cost.
 */
#include "claude/price.h"
#include "t.h"

static const struct prices none = { 0 };

/* Nano-dollars of a million tokens of one kind; -1 = unknown. */
static int64_t million(const char *model, enum token_kind kind, int64_t at)
{
	const struct price *p = price_find(&none, str_of(model), at);
	int64_t tokens[TOKEN_KINDS] = { 0 }, nano = 0, sum = 0;

	if (!p)
		return -1;
	for (int i = 0; i < 100; i++) { /* of 10,000 each: no prompt is a long one */
		tokens[kind] = 10000;
		if (!price_of(p, tokens, false, &nano))
			return -1;
		sum += nano;
	}
	return sum;
}

#define DOLLARS(x) ((int64_t)((x)*1000) * 1000000)

TEST(each_kind_of_token_has_its_price)
{
	static const struct {
		const char *model;
		double input, output, write, write_1h, read;
	} cases[] = {
		{ "claude-3-haiku-20240307", 0.25, 1.25, 0.30, 0.50, 0.03 },
		{ "claude-3-5-haiku-20241022", 0.80, 4, 1, 1.60, 0.08 },
		{ "claude-opus-4-1-20250805", 15, 75, 18.75, 30, 1.50 },
		{ "claude-opus-4-5-20251101", 5, 25, 6.25, 10, 0.50 },
		{ "claude-sonnet-4-5-20250929", 3, 15, 3.75, 6, 0.30 },
		{ "claude-haiku-4-5-20251001", 1, 5, 1.25, 2, 0.10 },
		{ "claude-haiku-5-5", 0.10, 0.50, 0.125, 0.20, 0.01 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		EQ(million(cases[i].model, TOKENS_INPUT, 0), DOLLARS(cases[i].input));
		EQ(million(cases[i].model, TOKENS_OUTPUT, 0), DOLLARS(cases[i].output));
		EQ(million(cases[i].model, TOKENS_WRITE, 0), DOLLARS(cases[i].write));
		EQ(million(cases[i].model, TOKENS_WRITE_1H, 0), DOLLARS(cases[i].write_1h));
		EQ(million(cases[i].model, TOKENS_READ, 0), DOLLARS(cases[i].read));
	}
}

TEST(vendors_dates_and_windows_do_not_matter)
{
	static const char *const names[] = {
		"claude-sonnet-4-20250514",  "claude-sonnet-4-0",
		"claude-sonnet-4@20250514",  "claude-sonnet-4-20250514[1m]",
		"anthropic/claude-sonnet-4", "us.anthropic.claude-sonnet-4-20250514-v1:0",
		"claude-3-7-sonnet-latest",  "anthropic/claude-3.7-sonnet",
	};

	for (size_t i = 0; i < COUNT(names); i++)
		EQ(million(names[i], TOKENS_OUTPUT, 0), DOLLARS(15));
}

TEST(what_is_not_in_the_list_is_unknown)
{
	static const char *const names[] = { "",
					     "gpt-5",
					     "claude",
					     "claude-opus-4-9",
					     "claude-opus-4-9-20270101",
					     "claude-sonnet",
					     "my-claude-sonnet-4",
					     "claude-opus-40",
					     "claude-opus-5-fast" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (price_find(&none, str_of(names[i]), 0))
			t_fail(t, __FILE__, __LINE__, "'%s' has a price", names[i]);
}

TEST(a_price_may_change_on_a_day)
{
	EQ(million("claude-sonnet-5-5", TOKENS_READ, INT64_C(1791331199999)), DOLLARS(0.20));
	EQ(million("claude-sonnet-5-5", TOKENS_READ, INT64_C(1791331200000)), DOLLARS(0.10));
}

TEST(no_price_changes_within_an_era)
{
	int64_t from, until;

	price_era(0, &from, &until);
	EQ(from, INT64_MIN);
	EQ(until, INT64_C(1791331200000));
	price_era(until - 1, &from, &until);
	EQ(until, INT64_C(1791331200000));
	price_era(until, &from, &until);
	EQ(from, INT64_C(1791331200000));
	EQ(until, INT64_MAX);
}

TEST(a_long_prompt_costs_more_as_a_whole)
{
	const struct price *p = price_find(&none, STR("claude-sonnet-4-5"), 0);
	int64_t tokens[TOKEN_KINDS] = { 100, 1000, 0, 0, 199900 }, nano;

	NEED(p);
	CHECK(price_of(p, tokens, false, &nano));
	EQ(nano, 100 * 3000 + 1000 * 15000 + 199900 * INT64_C(300));
	tokens[TOKENS_INPUT]++;
	CHECK(price_of(p, tokens, false, &nano));
	EQ(nano, 101 * 6000 + 1000 * 22500 + 199900 * INT64_C(600));
}

TEST(a_hurry_costs_more_where_it_is_sold)
{
	int64_t tokens[TOKEN_KINDS] = { 1000, 0, 0, 0, 1000 }, nano;

	CHECK(price_of(price_find(&none, STR("claude-opus-4-6"), 0), tokens, true, &nano));
	EQ(nano, 6 * (1000 * 5000 + 1000 * 500));
	CHECK(price_of(price_find(&none, STR("claude-opus-4-8"), 0), tokens, true, &nano));
	EQ(nano, 2 * (1000 * 5000 + 1000 * 500));
	CHECK(!price_of(price_find(&none, STR("claude-haiku-4-5"), 0), tokens, true, &nano));
}

TEST(prices_of_ones_own_come_first)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	int64_t tokens[TOKEN_KINDS] = { 1000000, 0, 0, 0, 0 }, nano;
	struct prices own;
	struct err err;

	OK(prices_read(STR("{\"claude-opus-4-8\":{\"input\":4.5,\"output\":20,\"fast\":3},\"local-*\":{"
			   "\"input\":0,\"output\":0},"
			   "\"local-large-*\":{\"input\":0.000001}}"),
		       &mem, &own, &err));
	CHECK(price_of(price_find(&own, STR("claude-opus-4-8-20260528"), 0), tokens, false, &nano));
	EQ(nano, DOLLARS(4.5));
	CHECK(price_of(price_find(&own, STR("claude-opus-4-8"), 0), tokens, true, &nano));
	EQ(nano, DOLLARS(13.5));
	CHECK(price_of(price_find(&own, STR("local-small"), 0), tokens, false, &nano));
	EQ(nano, 0);
	CHECK(price_of(price_find(&own, STR("local-large-2"), 0), tokens, false, &nano));
	EQ(nano, 1000);
	/* What is not said is not free. */
	tokens[TOKENS_READ] = 1;
	CHECK(!price_of(price_find(&own, STR("local-small"), 0), tokens, false, &nano));
	CHECK(price_find(&own, STR("claude-haiku-4-5"), 0) != NULL);
}

TEST(a_price_that_cannot_be_meant_is_refused)
{
	static const char *const bad[] = { "[]",
					   "3",
					   "{\"m\":3}",
					   "{\"m\":{\"inputs\":3}}",
					   "{\"m\":{\"input\":-3}}",
					   "{\"m\":{\"input\":\"3\"}}",
					   "{\"m\":{\"input\":1e3}}",
					   "{\"m\":{\"input\":0.0000001}}",
					   "{\"m\":{\"input\":9999999}}",
					   "{\"m\":{\"fast\":0}}",
					   "{\"m\":{\"fast\":1.5}}",
					   "{" };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct prices own;
	struct err err;

	for (size_t i = 0; i < COUNT(bad); i++)
		EQ(prices_read(str_of(bad[i]), &mem, &own, &err), STATUS_FORMAT);
	OK(prices_read(STR("{}"), &mem, &own, &err));
}

TEST(absurd_numbers_do_not_overflow)
{
	int64_t tokens[TOKEN_KINDS] = { INT64_C(1) << 40, INT64_C(1) << 40, 0, 0, 0 }, nano;

	CHECK(price_of(price_find(&none, STR("claude-opus-4"), 0), tokens, false, &nano));
	CHECK(nano > 0);
	EQ(money_add(INT64_MAX - 1, 2), INT64_MAX);
}

TESTS(CASE(each_kind_of_token_has_its_price), CASE(vendors_dates_and_windows_do_not_matter),
      CASE(what_is_not_in_the_list_is_unknown), CASE(a_price_may_change_on_a_day),
      CASE(no_price_changes_within_an_era), CASE(a_long_prompt_costs_more_as_a_whole),
      CASE(a_hurry_costs_more_where_it_is_sold),
      CASE(prices_of_ones_own_come_first), CASE(a_price_that_cannot_be_meant_is_refused),
      CASE(absurd_numbers_do_not_overflow))
