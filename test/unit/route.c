/*
 * Routes: they take away and never give, and methods of other hubs made of their
 * schemas.
 */
#include "base/clock.h"
#include "hub/activations.h"
#include "hub/far_method.h"
#include "hub/params.h"
#include "hub/route.h"
#include "hub/schema.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

static enum status read_route(const char *text, struct arena *mem, struct route_told *out, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;

	if (json_read(&j, str_of(text), 0, err))
		return err_failed(err->status);
	return route_read(&j, 0, mem, out, err);
}

TEST(a_route_is_read_and_what_is_not_said_takes_nothing_away)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct route_told told;
	struct err err;

	OK(read_route("{}", &mem, &told, &err));
	EQ(told.scopes, ~0u);
	EQ(told.timeout_ms, 0);
	EQ(told.route.count, 0);
	CHECK(!told.route.shallow);
	OK(read_route("{\"via\":[\"a\",\"b\"],\"timeout_ms\":7,\"scopes\":[\"read\",\"fly\"],\"shallow\":"
		      "true,\"x\":1}",
		      &mem, &told, &err));
	EQ(told.scopes, 1u << SCOPE_READ);
	EQ(told.timeout_ms, 7);
	CHECK(told.route.shallow && route_has(&told.route, STR("b")) && !route_has(&told.route, STR("c")));
}

TEST(a_route_gives_nobody_what_is_the_owners_alone)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct route_told told;
	struct err err;
	unsigned scopes = 0;

	OK(read_route("{\"scopes\":[\"local\"]}", &mem, &told, &err));
	EQ(told.scopes, 0);
	CHECK(!scope_parse(STR("local"), &scopes) && scopes == 0);
	CHECK(scope_parse(STR("approve"), &scopes) && scopes == 1u << SCOPE_APPROVE);
}

TEST(what_is_wrong_with_a_route_is_said)
{
	static const char *const wrong[] = {
		"{\"via\":1}",
		"{\"via\":[1]}",
		"{\"via\":[\"\"]}",
		"{\"timeout_ms\":0}",
		"{\"timeout_ms\":\"1\"}",
		"{\"scopes\":\"read\"}",
		"{\"timeout_ms\":-5}",
		"{\"via\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]}",
	};
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct route_told told;
	struct err err;

	for (size_t i = 0; i < COUNT(wrong); i++)
		if (read_route(wrong[i], &mem, &told, &err) == STATUS_OK)
			t_fail(t, __FILE__, __LINE__, "%s is taken", wrong[i]);
}

TEST(each_hop_has_less_time_and_no_more_rights)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct route_told told = { .scopes = ~0u };
	struct hub_caller who = { .scopes = 1u << SCOPE_READ | 1u << SCOPE_LOCAL };
	int64_t before = 10000;
	struct err err;
	char id[24];

	for (int hop = 0; hop < LIMIT_HUB_HOPS; hop++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(4 * KIB);

		CHECK(!route_is_full(&told.route));
		who.route = &told.route;
		snprintf(id, sizeof id, "hub-%d", hop);
		route_write(&text, &who, str_of(id), clock_monotonic_ns() + before * 1000000, false);
		OK(read_route(text.p, &mem, &told, &err));
		CHECK(told.timeout_ms < before && told.timeout_ms > 0);
		before = told.timeout_ms;
		EQ(told.scopes, 1u << SCOPE_READ);
		EQ(told.route.count, hop + 1);
		CHECK(route_has(&told.route, STR("hub-0")));
	}
	CHECK(route_is_full(&told.route));
}

TEST(time_that_is_up_is_one_millisecond)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	struct hub_caller who = { 0 };
	struct route_told told;
	struct err err;

	route_write(&text, &who, (struct str){ 0 }, clock_monotonic_ns() - 1000000000, true);
	OK(read_route(text.p, &mem, &told, &err));
	EQ(told.timeout_ms, 1);
	CHECK(told.route.shallow);
}

/* ---- Methods of other hubs -------------------------------------------------------------- */

/* All of our own, described and read back: a command line would take the same. */
TEST(a_method_made_of_its_schema_takes_what_the_method_takes)
{
	for (const struct activation *const *a = arbor_hub.activations; *a; a++)
		for (const struct method *const *m = (*a)->methods; *m; m++) {
			struct arena mem CLEANUP(arena_release) = ARENA_INIT;
			struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
			struct json_writer w;
			struct method far;
			struct err err;
			size_t n = 0;

			buf_text(&text, "{\"name\":\"x\",\"schema\":");
			json_write_init(&w, &text, 0);
			schema_method(&w, *a, *m);
			buf_text(&text, "}");
			OK(far_method_read(buf_as_str(&text), STR("far.x"), &mem, &far, &err));
			EQ(far.kind, (*m)->kind);
			EQ(method_version(&far), method_version(*m));
			for (const struct param *p = (*m)->params; p && p->name; p++, n++) {
				const struct param *q = &far.params[n];
				bool text_like = p->type == VALUE_TIME || p->type == VALUE_PATH;

				EQS(str_of(q->name), str_of(p->name));
				EQS(str_of(q->help), str_of(p->help));
				EQ(q->type, text_like ? VALUE_TEXT : p->type);
				EQ(q->flags, p->flags & (PARAM_REQUIRED | PARAM_WORD | PARAM_REST));
				EQ(q->least, p->type == VALUE_INT || p->type == VALUE_BYTES ? p->least : 0);
			}
			CHECK(!far.params || !far.params[n].name);
		}
}

TEST(words_stand_in_the_order_in_which_they_are_named)
{
	static const char text[] =
		"{\"schema\":{\"words\":[\"url\",\"title\",\"url\",\"nothing\",7],\"params\":"
		"{\"properties\":{\"a\":{},\"title\":{},\"tags\":{},\"url\":{}},\"required\":[\"url\"]}}}";
	static const char *const names[] = { "a", "url", "tags", "title" };
	static const unsigned flags[] = { 0, PARAM_WORD | PARAM_REQUIRED, 0, PARAM_WORD };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct method far;
	struct err err;

	OK(far_method_read(str_of(text), STR("far.x"), &mem, &far, &err));
	for (size_t i = 0; i < COUNT(names); i++) {
		EQS(str_of(far.params[i].name), str_of(names[i]));
		EQ(far.params[i].flags, flags[i]);
	}
	CHECK(!far.params[COUNT(names)].name);
}

TEST(one_bound_is_a_bound)
{
	static const char text[] =
		"{\"schema\":{\"params\":{\"properties\":{\"low\":{\"type\":\"integer\",\"minimum\":1},"
		"\"high\":{\"type\":\"integer\",\"maximum\":-1},\"any\":{\"type\":\"integer\"}}}}}";
	static const struct {
		const char *json, *error; /* NULL = it is taken */
	} cases[] = {
		{ "{\"low\":1,\"high\":-1,\"any\":-9223372036854775807}", NULL },
		{ "{\"low\":9223372036854775807,\"high\":-9223372036854775807}", NULL },
		{ "{\"low\":0}", "low: 0 is less than 1" },
		{ "{\"high\":0}", "high: 0 is more than -1" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct method far;
		struct params p;
		struct err err;

		OK(far_method_read(str_of(text), STR("far.x"), &mem, &far, &err));
		params_begin(&p, &far, &mem);
		if (!cases[i].error) {
			OK(params_set_json(&p, str_of(cases[i].json), &err));
			continue;
		}
		EQ(params_set_json(&p, str_of(cases[i].json), &err), STATUS_USAGE);
		EQS(str_of(err.text), str_of(cases[i].error));
	}
}

TEST(a_schema_that_says_little_or_nonsense_is_taken_as_any_json)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"7",
		"{\"schema\":7}",
		"{\"schema\":{\"params\":[],\"version\":\"x\",\"streaming\":\"yes\"}}",
		"{\"schema\":{\"params\":{\"properties\":{\"a\":7,\"b\":{\"type\":\"x\"}},\"required\":7}}}",
		"{\"schema\":{\"params\":{\"properties\":{\"c\":{\"type\":\"string\",\"enum\":[1]}}}}}",
		"{\"schema\":{\"params\":{\"properties\":{\"d\":{\"type\":\"array\"}}}}}",
		"{\"schema\":{\"params\":{\"properties\":{\"e\":{\"type\":\"integer\",\"minimum\":\"x\"}}}}}",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct method far;
		struct err err;

		OK(far_method_read(str_of(texts[i]), STR("far.x"), &mem, &far, &err));
		EQ(far.kind, RESULT_ONE);
		EQ(method_version(&far), 1);
	}
}

TEST(parameters_go_out_as_they_came_in)
{
	static const struct param list[] = {
		{ .name = "text", .type = VALUE_TEXT, .help = "" },
		{ .name = "number", .type = VALUE_INT, .help = "" },
		{ .name = "size", .type = VALUE_BYTES, .help = "" },
		{ .name = "on", .type = VALUE_BOOL, .help = "" },
		{ .name = "any", .type = VALUE_JSON, .help = "" },
		{ .name = "many", .type = VALUE_TEXT, .flags = PARAM_REST, .help = "" },
		{ .name = "left_out", .type = VALUE_TEXT, .initial = "x", .help = "" },
		{ 0 },
	};
	static const struct method m = { .name = "m", .params = list };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	const char *json = "{\"text\":\"a\\\"\\n\",\"number\":-5,\"size\":2048,\"on\":true,\"any\":[1.50,{}],"
			   "\"many\":[\"x\",\"\"]}";
	struct params p;
	struct err err;

	params_begin(&p, &m, &mem);
	OK(params_set_json(&p, str_of(json), &err));
	OK(params_end(&p, &err));
	OK(params_to_json(&p, &text, &err));
	EQS(buf_as_str(&text), str_of(json));
}

TESTS(CASE(a_route_is_read_and_what_is_not_said_takes_nothing_away),
      CASE(a_route_gives_nobody_what_is_the_owners_alone), CASE(what_is_wrong_with_a_route_is_said),
      CASE(each_hop_has_less_time_and_no_more_rights), CASE(time_that_is_up_is_one_millisecond),
      CASE(a_method_made_of_its_schema_takes_what_the_method_takes),
      CASE(words_stand_in_the_order_in_which_they_are_named), CASE(one_bound_is_a_bound),
      CASE(a_schema_that_says_little_or_nonsense_is_taken_as_any_json),
      CASE(parameters_go_out_as_they_came_in))
