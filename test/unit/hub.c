/*
 * The hub, with an activation made up for the test: what is declared in a table
 * is what can be called, checked and described.
 */
#include "hub/hub.h"
#include "hub/params.h"
#include "hub/schema.h"
#include "t.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- An activation --------------------------------------------------------- */

static const char *const moods[] = { "glad", "sad", NULL };

static const struct param greet_params[] = {
	{ .name = "name", .type = VALUE_TEXT, .flags = PARAM_REQUIRED | PARAM_WORD, .help = "whom" },
	{ .name = "times", .type = VALUE_INT, .initial = "1", .least = 1, .most = 5, .help = "how often" },
	{ .name = "mood", .type = VALUE_ENUM, .initial = "glad", .choices = moods, .help = "in which mood" },
	{ .name = "loud_voice", .type = VALUE_BOOL, .help = "in capitals" },
	{ .name = "when", .type = VALUE_TIME, .help = "at what time" },
	{ .name = "also", .type = VALUE_TEXT, .flags = PARAM_WORD | PARAM_REST, .help = "others" },
	{ .name = "extra", .type = VALUE_JSON, .help = "anything" },
	{ .name = "id", .type = VALUE_ID, .help = "an id" },
	{ 0 },
};

static const struct field greet_fields[] = {
	{ .name = "text", .type = VALUE_TEXT, .help = "the greeting" },
	{ .name = "number", .type = VALUE_INT, .help = "which one" },
	{ .name = "file", .type = VALUE_PATH, .flags = FIELD_OPTIONAL, .help = "a file" },
	{ 0 },
};

static enum status greet(struct call *c, struct err *err)
{
	for (int64_t i = 1; i <= call_int(c, "times"); i++) {
		struct json_writer *w = call_begin(c);

		put_text(w, "text", call_text(c, "name"));
		put_int(w, "number", i);
		if (call_flag(c, "loud_voice"))
			put_path(w, "file", STR("a\xff"));
		if (call_emit(c, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static const struct method method_greet = {
	.name = "greet",
	.verb = "greet",
	.summary = "Greet somebody",
	.text = "",
	.params = greet_params,
	.kind = RESULT_STREAM,
	.fields = greet_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "greet you", "says hello" }, { 0 } },
	.run = greet,
};

/* Waits for the store to change, twice. */
static enum status patient(struct call *c, struct err *err)
{
	int *count = c->state ? c->state : arena_alloc(&c->mem, sizeof *count);

	c->state = count;
	if ((*count)++ < 2)
		return call_wait(c, 20);
	call_begin(c);
	put_int(&c->writer, "number", *count);
	put_text(&c->writer, "text", STR("done"));
	return call_emit(c, err);
}

static const struct method method_patient = {
	.name = "patient",
	.summary = "Wait",
	.text = "",
	.kind = RESULT_ONE,
	.fields = greet_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE_MADE,
	.run = patient,
};

/* Refuses before anything is made for it, or does without. */
static enum status prepare_modest(struct call *c, enum need *need, struct err *err)
{
	if (str_eq(call_text(c, "name"), STR("nobody")))
		return err_fail(err, STATUS_NOT_FOUND, "nobody is there");
	*need = NEED_NOTHING;
	return STATUS_OK;
}

static const struct method method_modest = {
	.name = "modest",
	.summary = "Need less",
	.text = "",
	.params = greet_params,
	.kind = RESULT_STREAM,
	.fields = greet_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE_MADE,
	.prepare = prepare_modest,
	.run = greet,
};

static const struct method *const methods[] = { &method_greet, &method_patient, &method_modest, NULL };
static const struct activation polite = {
	.name = "polite", .version = "1.0.0", .summary = "For the test", .methods = methods
};
static const struct activation *const activations[] = { &polite, NULL };
static const struct hub hub = { activations };

/* ---- A caller -------------------------------------------------------------- */

struct heard {
	struct buf text;
	const char *dir;
};

static enum status hear(void *ctx, struct str json, struct err *err)
{
	struct heard *h = ctx;

	(void)err;
	buf_str(&h->text, json);
	buf_byte(&h->text, '\n');
	return STATUS_OK;
}

static enum status open_store(void *ctx, bool make, struct store **out, struct err *err)
{
	struct heard *h = ctx;
	char path[256];

	snprintf(path, sizeof path, "%s/store.db", h->dir);
	return store_open(&(struct store_options){ .path = path, .create = make }, out, err);
}

static enum status call_it(struct heard *h, const char *name, const char *json, unsigned scopes,
			   struct err *err)
{
	struct hub_caller who = {
		.sink = { .item = hear, .ctx = h }, .scopes = scopes, .open_store = open_store, .ctx = h
	};

	buf_clear(&h->text);
	return hub_call(&hub, str_of(name), str_of(json), &who, err);
}

static void heard_release(struct heard *h)
{
	buf_release(&h->text);
}

#define HEARD struct heard h CLEANUP(heard_release) = { .text = BUF_INIT(MIB) }

/* ---- Calling --------------------------------------------------------------- */

TEST(a_method_is_called_by_name_and_streams_its_results)
{
	struct err err;
	HEARD;

	OK(call_it(&h, "polite.greet", "{\"name\":\"you\",\"times\":2}", 1u << SCOPE_READ, &err));
	EQS(buf_as_str(&h.text), STR("{\"text\":\"you\",\"number\":1}\n{\"text\":\"you\",\"number\":2}\n"));
}

TEST(a_path_that_is_not_utf8_is_given_in_hex_too)
{
	struct err err;
	HEARD;

	OK(call_it(&h, "polite.greet", "{\"name\":\"x\",\"loud-voice\":true}", 1u << SCOPE_READ, &err));
	CHECK(strstr(h.text.p, "\"file_hex\":\"61ff\""));
}

TEST(an_unknown_method_is_refused_with_the_nearest)
{
	struct err err;
	HEARD;

	EQ(call_it(&h, "polite.gret", "", 1u << SCOPE_READ, &err), STATUS_NOT_FOUND);
	CHECK(strstr(err.text, "did you mean 'polite.greet'"));
	EQ(call_it(&h, "nothing", "", 1u << SCOPE_READ, &err), STATUS_NOT_FOUND);
	EQ(call_it(&h, "", "", 1u << SCOPE_READ, &err), STATUS_NOT_FOUND);
}

TEST(a_caller_without_the_scope_is_refused_and_nothing_runs)
{
	struct err err;
	HEARD;

	EQ(call_it(&h, "polite.greet", "{\"name\":\"x\"}", 1u << SCOPE_WRITE | 1u << SCOPE_APPROVE, &err),
	   STATUS_DENIED);
	CHECK(strstr(err.text, "'read'"));
	EQ(h.text.n, 0);
}

TEST(a_method_that_waits_is_called_again_with_its_state)
{
	struct err err;
	HEARD;

	h.dir = t_tmpdir(t);
	OK(call_it(&h, "polite.patient", "", 1u << SCOPE_DRIVE, &err));
	EQS(buf_as_str(&h.text), STR("{\"number\":3,\"text\":\"done\"}\n"));
}

TEST(a_method_can_refuse_or_need_less_before_a_store_is_made)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err;
	HEARD;

	h.dir = t_tmpdir(t);
	buf_printf(&path, "%s/store.db", h.dir);
	EQ(call_it(&h, "polite.modest", "{\"name\":\"nobody\"}", 1u << SCOPE_READ, &err), STATUS_NOT_FOUND);
	OK(call_it(&h, "polite.modest", "{\"name\":\"you\"}", 1u << SCOPE_READ, &err));
	EQS(buf_as_str(&h.text), STR("{\"text\":\"you\",\"number\":1}\n"));
	CHECK(access(path.p, F_OK) != 0);
}

TEST(a_call_that_is_cancelled_does_not_go_on_waiting)
{
	atomic_bool stop = true;
	struct err err;
	HEARD;
	struct hub_caller who = { .sink = { .item = hear, .ctx = &h },
				  .scopes = 1u << SCOPE_DRIVE,
				  .open_store = open_store,
				  .ctx = &h,
				  .cancel = &stop };

	h.dir = t_tmpdir(t);
	EQ(hub_call(&hub, STR("polite.patient"), STR(""), &who, &err), STATUS_CANCELLED);
	EQ(h.text.n, 0);
}

/* ---- Parameters ------------------------------------------------------------ */

TEST(wrong_parameters_are_refused_with_the_name_and_what_would_be_right)
{
	static const struct {
		const char *json, *says;
	} cases[] = {
		{ "", "name: missing; whom" },
		{ "{}", "name: missing" },
		{ "{\"name\":\"\"}", "name: may not be empty" },
		{ "{\"name\":3}", "name: wants text, not 3" },
		{ "{\"name\":\"x\",\"times\":\"2\"}", "times: wants number" },
		{ "{\"name\":\"x\",\"times\":9}", "times: 9 is not between 1 and 5" },
		{ "{\"name\":\"x\",\"times\":1.5}", "times: '1.5' is not a whole number" },
		{ "{\"name\":\"x\",\"mood\":\"angry\"}", "mood: 'angry' is none of glad, sad" },
		{ "{\"name\":\"x\",\"loud_voice\":\"yes\"}", "loud_voice: wants switch" },
		{ "{\"name\":\"x\",\"when\":\"noon\"}", "when: 'noon' is not a time" },
		{ "{\"name\":\"x\",\"id\":\"zz\"}", "id: 'zz' is not an id" },
		{ "{\"name\":\"x\",\"also\":\"y\"}", "also: wants a list" },
		{ "{\"name\":\"x\",\"also\":[1]}", "also: wants text" },
		{ "{\"name\":\"x\",\"name\":\"y\"}", "name: given twice" },
		{ "{\"name\":\"x\",\"moood\":\"sad\"}", "no parameter 'moood'; did you mean 'mood'?" },
		{ "{\"name\":\"x\",\"zzzzzz\":1}", "no parameter 'zzzzzz'" },
		{ "[]", "wants a JSON object" },
		{ "{", "parameters: JSON" },
	};
	struct err err;
	HEARD;

	for (size_t i = 0; i < COUNT(cases); i++) {
		enum status s = call_it(&h, "polite.greet", cases[i].json, 1u << SCOPE_READ, &err);

		if (s == STATUS_OK || !strstr(err.text, cases[i].says) ||
		    strncmp(err.text, "polite.greet: ", 14) != 0)
			t_fail(t, __FILE__, __LINE__, "%s gave '%s', wanted '%s'", cases[i].json,
			       s ? err.text : "ok", cases[i].says);
	}
}

TEST(parameters_left_out_have_their_initial_values)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct params p;
	struct err err;

	params_begin(&p, &method_greet, &mem);
	OK(params_set_json(&p,
			   STR("{\"name\":\"a\\u00e9\",\"mood\":null,\"extra\":{\"k\":[1, "
			       "2]},\"also\":[\"b\",\"c\",\"d\"]}"),
			   &err));
	OK(params_end(&p, &err));
	EQS(p.values[0].text, STR("a\xc3\xa9"));
	EQ(p.values[1].number, 1);
	CHECK(!p.values[1].given);
	EQS(p.values[2].text, STR("glad"));
	EQ(p.values[3].number, 0);
	EQ(p.values[5].count, 3);
	EQS(p.values[5].list[2], STR("d"));
	EQS(p.values[6].text, STR("{\"k\":[1, 2]}"));
}

TEST(text_and_json_give_the_same_values)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct params a, b;
	struct err err;

	params_begin(&a, &method_greet, &mem);
	OK(params_set_text(&a, params_find(&a, STR("name")), STR("you"), &err));
	OK(params_set_text(&a, params_find(&a, STR("times")), STR("3"), &err));
	OK(params_set_text(&a, params_find(&a, STR("loud-voice")), (struct str){ 0 }, &err));
	OK(params_set_text(&a, params_find(&a, STR("when")), STR("2026-11-15T18:00:00Z"), &err));
	OK(params_set_text(&a, params_find(&a, STR("also")), STR("x"), &err));
	OK(params_set_text(&a, params_find(&a, STR("also")), STR("y"), &err));
	OK(params_end(&a, &err));
	params_begin(&b, &method_greet, &mem);
	OK(params_set_json(
		&b,
		STR("{\"name\":\"you\",\"times\":3,\"loud_voice\":true,\"when\":\"2026-11-15T18:00:00Z\","
		    "\"also\":[\"x\",\"y\"]}"),
		&err));
	OK(params_end(&b, &err));
	for (size_t i = 0; greet_params[i].name; i++) {
		EQ(a.values[i].given, b.values[i].given);
		EQ(a.values[i].number, b.values[i].number);
		EQ(a.values[i].count, b.values[i].count);
		EQS(a.values[i].text, b.values[i].text);
	}
}

TEST(a_person_is_told_what_was_typed)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct params p;
	struct err err;

	params_begin(&p, &method_greet, &mem);
	p.typed = true;
	EQ(params_set_text(&p, params_find(&p, STR("times")), STR("x"), &err), STATUS_USAGE);
	EQS(str_of(err.text), STR("--times: 'x' is not a whole number"));
	EQ(params_set_text(&p, params_find(&p, STR("mood")), STR("sat"), &err), STATUS_USAGE);
	EQS(str_of(err.text), STR("--mood: 'sat' is none of glad, sad; did you mean 'sad'?"));
	EQ(params_end(&p, &err), STATUS_USAGE);
	EQS(str_of(err.text), STR("NAME: missing; whom"));
}

/* ---- Describing ------------------------------------------------------------ */

TEST(a_schema_says_what_the_table_says)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct json_writer w;
	uint32_t params, result;
	struct err err;

	json_write_init(&w, &text, 0);
	schema_method(&w, &polite, &method_greet);
	OK(json_write_done(&w, &err));
	OK(json_read(&j, buf_as_str(&text), 64, &err));
	CHECK(json_string_eq(&j, json_get(&j, 0, STR("name")), STR("polite.greet")));
	CHECK(json_string_eq(&j, json_get(&j, 0, STR("scope")), STR("read")));
	CHECK(json_bool(&j, json_get(&j, 0, STR("streaming"))));
	params = json_get(&j, 0, STR("params"));
	EQ(json_count(&j, json_get(&j, params, STR("properties"))), 8);
	EQS(json_raw(&j, json_get(&j, params, STR("required"))), STR("[\"name\"]"));
	EQS(json_raw(&j, json_get(&j, json_get(&j, params, STR("properties")), STR("mood"))),
	    STR("{\"type\":\"string\",\"enum\":[\"glad\",\"sad\"],\"default\":\"glad\",\"description\":\"in "
		"which mood\"}"));
	EQS(json_raw(&j, json_get(&j, json_get(&j, params, STR("properties")), STR("also"))),
	    STR("{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"others\"}"));
	result = json_get(&j, 0, STR("result"));
	EQS(json_raw(&j, json_get(&j, result, STR("required"))), STR("[\"text\",\"number\"]"));
	EQ(json_count(&j, json_get(&j, result, STR("properties"))), 4); /* file_hex is one */
}

TEST(the_hash_is_the_same_each_time_and_another_for_another_table)
{
	static const struct method *const fewer[] = { &method_greet, NULL };
	static const struct activation less = {
		.name = "polite", .version = "1.0.0", .summary = "For the test", .methods = fewer
	};
	static const struct activation *const other[] = { &less, NULL };
	char a[HUB_HASH_TEXT + 1], b[HUB_HASH_TEXT + 1], c[HUB_HASH_TEXT + 1];
	struct err err;

	OK(hub_hash(&hub, a, &err));
	OK(hub_hash(&hub, b, &err));
	OK(hub_hash(&(struct hub){ other }, c, &err));
	CHECK(strcmp(a, b) == 0 && strcmp(a, c) != 0);
}

TESTS(CASE(a_method_is_called_by_name_and_streams_its_results),
      CASE(a_path_that_is_not_utf8_is_given_in_hex_too), CASE(an_unknown_method_is_refused_with_the_nearest),
      CASE(a_caller_without_the_scope_is_refused_and_nothing_runs),
      CASE(a_method_that_waits_is_called_again_with_its_state),
      CASE(a_method_can_refuse_or_need_less_before_a_store_is_made),
      CASE(a_call_that_is_cancelled_does_not_go_on_waiting),
      CASE(wrong_parameters_are_refused_with_the_name_and_what_would_be_right),
      CASE(parameters_left_out_have_their_initial_values), CASE(text_and_json_give_the_same_values),
      CASE(a_person_is_told_what_was_typed),
      CASE(a_schema_says_what_the_table_says),
      CASE(the_hash_is_the_same_each_time_and_another_for_another_table))
