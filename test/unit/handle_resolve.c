/*
 * Who resolves a handle, and what is said when nobody can. The hubs here are made up; what the program's own
 * handles stand for is tested with real conversations (test/cli/6041-handles.sh).
 */
#include "hub/handle_resolve.h"

#include "hub/activations.h"
#include "hub/handle_node.h"
#include "hub/hub_resolve.h"
#include "hub/schema.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

#define ID "6f1c0b7f-3c1e-4f5a-8f0c-9d530a1b2c3d"

/* ---- Activations that tell who was asked -------------------------------------------------- */

static const struct meta_field item_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the item" },
	{ .name = "index", .type = VALUE_INT, .help = "its number" },
	{ .name = "done", .type = VALUE_BOOL, .flags = META_OPTIONAL, .help = "whether" },
	{ 0 },
};

static const struct meta_field name_meta[] = {
	{ .name = "name", .type = VALUE_TEXT, .help = "of the thing" },
	{ 0 },
};

static const struct field fields[] = {
	{ .name = "asked", .type = VALUE_TEXT, .help = "who" },
	{ .name = "major", .type = VALUE_INT, .help = "of the handle" },
	{ 0 },
};

static enum status answer(struct resolving *r, const char *who)
{
	put_text(r->w, "asked", str_of(who));
	put_int(r->w, "major", (int64_t)r->major);
	put_text(r->w, "id", handle_meta(r->handle, 0));
	return STATUS_OK;
}

static enum status resolve_notes(struct resolving *r, struct err *err)
{
	struct str id = handle_meta(r->handle, 0);

	if (str_eq(id, STR("missing")))
		return err_fail(err, STATUS_NOT_FOUND, "not here");
	if (str_eq(id, STR("purged")))
		return err_fail(err, STATUS_GONE, "purged");
	if (str_eq(id, STR("broken")))
		return err_fail(err, STATUS_FORMAT, "broken");
	if (str_eq(id, STR("bytes")))
		r->kind = CONTENT_BINARY;
	return answer(r, "notes");
}

static enum status resolve_other(struct resolving *r, struct err *err)
{
	(void)err;
	return answer(r, "other");
}

static const struct handle_kind notes_kinds[] = {
	{ .method = "item",
	  .summary = "an item",
	  .kind = CONTENT_DOCUMENT,
	  .meta = item_meta,
	  .fields = fields,
	  .older = "item-",
	  .resolve = resolve_notes },
	{ .method = "thing",
	  .summary = "a thing",
	  .kind = CONTENT_OUTPUT,
	  .meta = name_meta,
	  .fields = fields,
	  .resolve = resolve_notes },
	{ 0 },
};

static const struct handle_kind other_kinds[] = {
	{ .method = "thing",
	  .summary = "a thing",
	  .kind = CONTENT_MESSAGE,
	  .meta = name_meta,
	  .fields = fields,
	  .resolve = resolve_other },
	{ 0 },
};

static const struct method *const none[] = { NULL };
static const struct method *const hub_methods[] = { &hub_resolve_method, &hub_resolve_many, NULL };
static const int older_majors[] = { 1, -1 };
static const struct activation notes = { .name = "notes",
					 .version = "2.1.0",
					 .summary = "For the test",
					 .methods = none,
					 .handles = notes_kinds,
					 .majors = older_majors };
static const struct activation other = { .name = "other",
					 .version = "1.0.0",
					 .summary = "For the test",
					 .methods = none,
					 .handles = other_kinds };
static const struct activation mute = {
	.name = "mute", .version = "1.0.0", .summary = "For the test", .methods = none
};
static const struct activation hub_only = {
	.name = "hub", .version = "1.0.0", .summary = "For the test", .methods = hub_methods
};
static const struct activation *const activations[] = { &mute, &notes, &other, &hub_only, NULL };
static const struct hub hub = { activations };

/* ---- Asking -------------------------------------------------------------------------------- */

struct asking {
	struct hub_caller who;
	struct call call;
	struct resolution answer;
	struct err err;
};

static void asking_release(struct asking *a)
{
	resolution_release(&a->answer);
	arena_release(&a->call.mem);
}

static void ask(struct asking *a, const char *text, const struct hub_elsewhere *elsewhere)
{
	asking_release(a);
	*a = (struct asking){ .who.elsewhere = elsewhere,
			      .call = { .hub = &hub, .who = &a->who, .method = &hub_resolve_method } };
	if (hub_resolve_handle(&a->call, str_of(text), &a->answer, &a->err) == STATUS_OK)
		a->err.status = STATUS_OK;
}

#define ASKING struct asking a CLEANUP(asking_release) = { 0 }

/* What was refused, and the words it was refused with. */
static void check_refused(struct t *t, const char *text, enum status status, const char *words)
{
	ASKING;

	ask(&a, text, NULL);
	if (a.err.status != status || !strstr(a.err.text, words))
		t_fail(t, __FILE__, __LINE__, "%s: %s, '%s'", text, status_info(a.err.status)->name,
		       a.err.text);
}

TEST(a_handle_goes_to_the_plugin_that_owns_it_by_name_and_by_id)
{
	struct uuid id = plugin_id_of(STR("notes"), STR("2"));
	char text[128], printed[UUID_TEXT + 1];
	ASKING;

	ask(&a, "notes@2.1.0::thing:x", NULL);
	EQ(a.err.status, STATUS_OK);
	EQS(a.answer.data, STR("{\"asked\":\"notes\",\"major\":2,\"id\":\"x\"}"));
	EQS(a.answer.plugin, STR("notes"));
	EQS(a.answer.version, STR("2.1.0"));
	EQS(a.answer.method, STR("thing"));
	EQ(a.answer.kind, CONTENT_OUTPUT);
	EQS(a.answer.by, STR(""));
	CHECK(uuid_eq(&a.answer.plugin_id, &id));

	uuid_print(&id, printed);
	snprintf(text, sizeof text, "%s@2.0.0::thing:x", printed);
	ask(&a, text, NULL);
	EQS(a.answer.data, STR("{\"asked\":\"notes\",\"major\":2,\"id\":\"x\"}"));
	EQS(a.answer.handle, STR("notes@2.0.0::thing:x"));
}

TEST(a_handle_of_an_older_major_keeps_its_owner)
{
	struct uuid id = plugin_id_of(STR("notes"), STR("1"));
	char text[128], printed[UUID_TEXT + 1];
	ASKING;

	ask(&a, "notes@1.4.2::thing:x", NULL);
	EQS(a.answer.data, STR("{\"asked\":\"notes\",\"major\":1,\"id\":\"x\"}"));
	EQS(a.answer.handle, STR("notes@1.4.2::thing:x"));
	EQS(a.answer.version, STR("2.1.0"));
	CHECK(uuid_eq(&a.answer.plugin_id, &id));
	uuid_print(&id, printed);
	snprintf(text, sizeof text,
		 "{\"plugin_id\":\"%s\",\"version\":\"1.0.0\",\"method\":\"thing\",\"meta\":[\"x\"]}",
		 printed);
	ask(&a, text, NULL);
	EQS(a.answer.data, STR("{\"asked\":\"notes\",\"major\":1,\"id\":\"x\"}"));
	EQS(a.answer.handle, STR("notes@1.0.0::thing:x"));
}

TEST(a_version_that_nobody_here_knows_is_told_apart_from_an_unknown_plugin)
{
	struct uuid id = plugin_id_of(STR("notes"), STR("2"));
	char text[128], printed[UUID_TEXT + 1];

	check_refused(t, "notes@3.0.0::thing:x", STATUS_UNSUPPORTED,
		      "it is of notes 3.0.0, and 2.1.0 is what is here");
	check_refused(t, "nobody@1.0.0::thing:x", STATUS_UNSUPPORTED,
		      "no plugin 'nobody' here; those are: notes, other");
	check_refused(t, "mute@1.0.0::thing:x", STATUS_UNSUPPORTED, "no plugin 'mute' here");
	check_refused(t, "notes@x::thing:x", STATUS_UNSUPPORTED, "it is of notes x");
	uuid_print(&id, printed);
	snprintf(text, sizeof text, "%s@1.0.0::thing:x", printed);
	check_refused(t, text, STATUS_FORMAT, "of another major than its version 1.0.0 says");
}

TEST(what_is_wrong_with_a_handle_is_said_before_anybody_is_asked)
{
	check_refused(t, "notes@2::tings:x", STATUS_UNSUPPORTED,
		      "notes has no 'tings'; did you mean 'thing'?");
	check_refused(t, "notes@2::zzz:x", STATUS_UNSUPPORTED, "notes has no 'zzz'; it has item, thing");
	check_refused(t, "notes@2::item", STATUS_FORMAT,
		      "meta[0] 'id' is missing; this kind is notes@2.1.0::item:id:index[:done]");
	check_refused(t, "notes@2::item:", STATUS_FORMAT, "meta[0] 'id' is missing");
	check_refused(t, "notes@2::item:" ID, STATUS_FORMAT, "meta[1] 'index' is missing");
	check_refused(t, "notes@2::item:" ID "::true", STATUS_FORMAT, "meta[1] 'index' is missing");
	check_refused(t, "notes@2::item:6f1c:1", STATUS_FORMAT,
		      "meta[0] 'id' is '6f1c' and has to be a UUID");
	check_refused(t, "notes@2::item:" ID ":-1", STATUS_FORMAT,
		      "meta[1] 'index' is '-1' and has to be a number");
	check_refused(t, "notes@2::item:" ID ":1:yes", STATUS_FORMAT,
		      "meta[2] 'done' is 'yes' and has to be true or false");
	check_refused(t, "notes@2:item::1", STATUS_FORMAT, "expected '::'");
}

TEST(optional_meta_may_be_missing_and_more_of_it_is_a_newer_minors)
{
	ASKING;

	ask(&a, "notes@2::item:" ID ":1", NULL);
	EQ(a.err.status, STATUS_OK);
	ask(&a, "notes@2::item:" ID ":1:", NULL);
	EQ(a.err.status, STATUS_OK);
	ask(&a, "notes@2.9::item:" ID ":1:true:what:ever", NULL);
	EQ(a.err.status, STATUS_OK);
}

TEST(the_older_form_is_resolved_by_what_its_identifier_begins_with)
{
	const char *text = "{\"source\":\"notes\",\"source_version\":\"1.0.0\",\"identifier\":\"item-" ID
			   ":user:me\"}";
	ASKING;

	ask(&a, text, NULL);
	EQS(a.answer.data, STR("{\"asked\":\"notes\",\"major\":1,\"id\":\"" ID "\"}"));
	EQS(a.answer.handle, str_of(text));
	EQS(a.answer.method, STR("item"));
	check_refused(t, "{\"source\":\"notes\",\"source_version\":\"1.0.0\",\"identifier\":\"item-1\"}",
		      STATUS_FORMAT, "meta[0] 'id' is '1'");
	check_refused(t, "{\"source\":\"notes\",\"source_version\":\"1.0.0\",\"identifier\":\"msg-1\"}",
		      STATUS_UNSUPPORTED, "knows no identifiers like 'msg-1'");
	check_refused(t, "{\"source\":\"cone\",\"source_version\":\"1.0.0\",\"identifier\":\"msg-1\"}",
		      STATUS_UNSUPPORTED, "no plugin 'cone'");
}

TEST(a_resolver_may_say_that_it_is_something_else_than_mostly)
{
	ASKING;

	ask(&a, "notes@2::thing:bytes", NULL);
	EQ(a.answer.kind, CONTENT_BINARY);
}

/* The seventh invariant: only the owner is ever asked, whatever a handle holds. */
TEST(of_many_handles_each_reaches_its_owner_and_no_other)
{
	static const char *const plugins[] = { "notes", "other", "mute", "note", "notes ", "Other", "hub" };
	uint64_t state = 7;

	for (int i = 0; i < 100000; i++) {
		struct str meta = STR("x%:\n🌳");
		struct handle h = {
			.version = STR("1.0.0"), .method = STR("thing"), .meta = &meta, .meta_count = 1
		};
		struct resolve_ask what = { &h, 0, 100 };
		struct hub_caller who = { 0 };
		struct call c = { .hub = &hub, .who = &who, .method = &hub_resolve_method };
		struct resolution r = RESOLUTION_INIT;
		struct err err;
		bool known;

		state = state * UINT64_C(6364136223846793005) + 1;
		h.plugin = str_of(plugins[(state >> 33) % COUNT(plugins)]);
		known = str_eq(h.plugin, STR("notes")) || str_eq(h.plugin, STR("other"));
		EQ(hub_resolve(&c, &what, &r, &err), known ? STATUS_OK : STATUS_UNSUPPORTED);
		if (known) {
			EQS(r.plugin, h.plugin);
			EQS(str_sub(r.data, 10, h.plugin.n), h.plugin);
		}
		resolution_release(&r);
	}
}

/* ---- Other hubs ------------------------------------------------------------------------------ */

struct others {
	int asked;
	struct str hub; /* of the handle they were asked for */
	enum status status;
	enum status heard; /* from this hub */
};

static enum status resolve_elsewhere(void *ctx, struct call *c, const struct resolve_ask *asked,
				     struct resolution *out, struct err *err)
{
	struct others *o = ctx;

	o->asked++;
	o->heard = err->status;
	o->hub = arena_str(&c->mem, asked->handle->hub);
	if (o->status)
		return err_fail(err, o->status, "they say so");
	out->by = STR("team");
	out->data = STR("{}");
	return STATUS_OK;
}

static enum status ask_others(struct asking *a, const char *text, enum status status, struct others *o)
{
	struct hub_elsewhere elsewhere = { .resolve = resolve_elsewhere, .ctx = o };

	*o = (struct others){ .status = status };
	ask(a, text, &elsewhere);
	return a->err.status;
}

TEST(other_hubs_are_asked_for_what_is_not_here_and_for_nothing_else)
{
	static const struct {
		const char *text;
		int asked;
	} cases[] = { { "notes@2::thing:x", 0 },      { "notes@2::thing:missing", 1 },
		      { "notes@2::thing:purged", 1 }, { "notes@2::thing:broken", 0 },
		      { "notes@2::item:x", 0 },	      { "nobody@2::thing:x", 1 },
		      { "notes@9::thing:x", 1 },      { "notes@2::nothing:x", 1 } };
	struct others o;
	ASKING;

	for (size_t i = 0; i < COUNT(cases); i++) {
		ask_others(&a, cases[i].text, STATUS_OK, &o);
		if (o.asked != cases[i].asked)
			t_fail(t, __FILE__, __LINE__, "%s: others were asked %d times", cases[i].text,
			       o.asked);
		if (o.asked)
			EQS(a.answer.by, STR("team"));
	}
}

TEST(a_path_in_front_asks_that_hub_alone)
{
	struct others o;
	ASKING;

	EQ(ask_others(&a, "team.ann.notes@2::thing:x", STATUS_OK, &o), STATUS_OK);
	EQ(o.asked, 1);
	EQS(o.hub, STR("team.ann"));
	EQ(ask_others(&a, "team.notes@2::thing:x", STATUS_NOT_FOUND, &o), STATUS_NOT_FOUND);
	check_refused(t, "team.notes@2::thing:x", STATUS_NOT_FOUND, "there is no hub 'team' here");
}

TEST(others_are_told_what_this_hub_had_to_say)
{
	struct others o;
	ASKING;

	EQ(ask_others(&a, "notes@2::thing:purged", STATUS_UNREACHABLE, &o), STATUS_UNREACHABLE);
	EQ(o.heard, STATUS_GONE);
	EQ(ask_others(&a, "notes@2::thing:missing", STATUS_UNREACHABLE, &o), STATUS_UNREACHABLE);
	EQ(o.heard, STATUS_NOT_FOUND);
	EQ(ask_others(&a, "nobody@2::thing:x", STATUS_UNREACHABLE, &o), STATUS_UNREACHABLE);
	EQ(o.heard, STATUS_UNSUPPORTED);
}

/* ---- The methods ------------------------------------------------------------------------------ */

static enum status hear(void *ctx, struct str json, struct err *err)
{
	(void)err;
	buf_str(ctx, json);
	buf_byte(ctx, '\n');
	return STATUS_OK;
}

static enum status call_it(const char *name, const char *json, struct buf *out, struct err *err)
{
	struct hub_caller who = { .sink = { .item = hear, .ctx = out }, .scopes = 1u << SCOPE_READ };

	return hub_call(&hub, str_of(name), str_of(json), &who, err);
}

TEST(one_bad_handle_of_many_says_why_and_stops_no_other)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	EQ(call_it("hub.resolve_many",
		   "{\"handles\":[\"notes@2::thing:a\",\"notes@2::thing:purged\",\"p@1::\\u001b\","
		   "{\"plugin_id\":\"other\",\"version\":\"1\",\"method\":\"thing\",\"meta\":[\"b\"]}]}",
		   &out, &err),
	   STATUS_PARTIAL);
	CHECK(strstr(err.text, "2 of 4 could not be resolved"));
	CHECK(strstr(out.p, "{\"asked\":\"notes@2::thing:a\",\"handle\":\"notes@2::thing:a\""));
	CHECK(strstr(
		out.p,
		"\"asked\":\"notes@2::thing:purged\",\"error\":{\"status\":\"gone\",\"text\":\"purged\"}}"));
	CHECK(strstr(out.p, "\"error\":{\"status\":\"format\""));
	CHECK(strstr(
		out.p,
		"\"kind\":\"message\",\"by\":\"\",\"data\":{\"asked\":\"other\",\"major\":1,\"id\":\"b\"}}"));
	buf_clear(&out);
	OK(call_it("hub.resolve_many", "{\"handles\":[\"notes@2::thing:a\"]}", &out, &err));
}

TEST(there_is_a_most_for_handles_in_one_call)
{
	struct buf json CLEANUP(buf_release) = BUF_INIT(MIB), out CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	struct err err;

	buf_text(&json, "{\"handles\":[\"other@1::thing:a\"");
	for (int i = 1; i <= LIMIT_RESOLVE_MANY; i++)
		buf_text(&json, ",\"other@1::thing:a\"");
	buf_text(&json, "]}");
	EQ(call_it("hub.resolve_many", json.p, &out, &err), STATUS_LIMIT);
	EQ(out.n, 0);
}

TEST(a_handle_may_be_given_as_an_object_or_as_text)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct err err;

	OK(call_it("hub.resolve",
		   "{\"handle\":{\"plugin_id\":\"notes\",\"version\":\"2\",\"method\":\"thing\",\"meta\":["
		   "\"x\"]}}",
		   &out, &err));
	CHECK(strstr(out.p, "\"handle\":\"notes@2::thing:x\""));
	EQ(call_it("hub.resolve", "{\"handle\":7}", &out, &err), STATUS_USAGE);
}

/* ---- Descriptions ------------------------------------------------------------------------------ */

TEST(the_schema_of_a_kind_has_its_meta_its_majors_and_its_data)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json_writer w;
	struct err err;

	json_write_init(&w, &out, 0);
	schema_handle(&w, &notes, &notes_kinds[0]);
	OK(json_write_done(&w, &err));
	CHECK(strstr(
		out.p,
		"{\"name\":\"notes::item\",\"summary\":\"an item\",\"version\":\"2.1.0\",\"majors\":[2,1],"
		"\"kind\":\"document\",\"meta\":[{\"name\":\"id\",\"type\":\"string\",\"format\":\"uuid\","
		"\"required\":true,"));
	CHECK(strstr(
		out.p,
		"{\"name\":\"done\",\"type\":\"string\",\"enum\":[\"true\",\"false\"],\"required\":false,"));
	CHECK(strstr(out.p, "\"data\":{\"type\":\"object\",\"properties\":{\"asked\":"));
}

TEST(the_hash_of_a_hub_covers_its_kinds_of_handles)
{
	struct handle_kind kinds[2] = { notes_kinds[0] };
	struct activation changed = notes;
	const struct activation *const list[] = { &mute, &changed, &other, &hub_only, NULL };
	const struct hub similar = { list };
	char before[HUB_HASH_TEXT + 1], after[HUB_HASH_TEXT + 1];
	struct err err;

	OK(hub_hash(&hub, before, &err));
	OK(hub_hash(&similar, after, &err));
	EQS(str_of(after), str_of(before));
	changed.handles = kinds;
	OK(hub_hash(&similar, after, &err));
	CHECK(strcmp(before, after) != 0);
	changed.handles = notes_kinds;
	changed.majors = NULL;
	OK(hub_hash(&similar, after, &err));
	CHECK(strcmp(before, after) != 0);
}

TEST(every_kind_of_the_program_is_described_and_its_first_meta_is_an_id)
{
	for (const struct activation *const *a = arbor_hub.activations; *a; a++)
		for (const struct handle_kind *k = (*a)->handles; k && k->method; k++) {
			bool optional = false;

			CHECK(k->summary && k->resolve && k->fields && k->kind < CONTENT_KINDS);
			NEED(k->meta);
			CHECK(k->meta[0].name && !(k->meta[0].flags & META_OPTIONAL));
			for (const struct meta_field *f = k->meta; f->name; f++) {
				CHECK(f->help && f->help[0]);
				CHECK(f->type == VALUE_TEXT || f->type == VALUE_INT ||
				      f->type == VALUE_BOOL || f->type == VALUE_ID);
				CHECK(!optional || (f->flags & META_OPTIONAL));
				optional |= (f->flags & META_OPTIONAL) != 0;
			}
			for (const struct field *f = k->fields; f->name; f++)
				CHECK(f->help && f->help[0] && (f->type != VALUE_ENUM || f->choices));
		}
}

/* ---- The sixth invariant: what makes handles and what reads them agree --------------------------- */

static void check_fits(struct t *t, const struct node_handle *made)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct handle h = node_handle_in(made, &mem), again;
	const struct handle_kind *kind = NULL;
	struct err err;

	OK(handle_check(&h, &err));
	OK(handle_parse(handle_text(&h, &mem), &mem, &again, &err));
	CHECK(handle_eq(&h, &again));
	OK(handle_fit(made->activation, &again, &mem, &kind, &h, &err));
	EQS(str_of(kind->method), str_of(made->method));
}

static struct str long_text(size_t n)
{
	static char text[10000];

	memset(text, 'x', sizeof text);
	return str_from(text, size_min(n, sizeof text));
}

TEST(every_handle_that_is_made_is_of_its_kind)
{
	struct str odd[] = { STR(""),	     STR("toolu_01AB"), STR("a:b%\n\x7f🌳"),
			     long_text(512), long_text(513),	long_text(10000) };
	struct uuid id = uuid_of_parts(odd, 1);

	for (int type = 0; type < RECORD_TYPES; type++)
		for (size_t i = 0; i < COUNT(odd); i++) {
			struct record rec = { .type = (enum record_type)type, .message_id = odd[i] };
			struct node_handle h = handle_of_message(&id, &rec);

			check_fits(t, &h);
		}
	for (int kind = 0; kind < BLOCK_KINDS; kind++)
		for (size_t i = 0; i < COUNT(odd) * COUNT(odd); i++) {
			struct record_block b = { .kind = (enum block_kind)kind,
						  .index = (uint32_t)i * 1999,
						  .tool = odd[i / COUNT(odd)],
						  .name = odd[i % COUNT(odd)],
						  .is_error = i % 2 };
			struct node_handle h = handle_of_block(&id, &b);

			check_fits(t, &h);
		}
}

TEST(handles_of_lines_turns_agents_and_files_are_of_their_kind)
{
	struct uuid id = uuid_of_parts((struct str[]){ STR("x") }, 1);
	struct node_handle made[] = { handle_of_event(&id),
				      handle_of_line(&id),
				      handle_of_turn(&id, 0),
				      handle_of_turn(&id, 7),
				      handle_of_agent(STR("a3ec"), &id),
				      handle_of_file(&id, 0),
				      handle_of_file(&id, 3) };

	for (size_t i = 0; i < COUNT(made); i++)
		check_fits(t, &made[i]);
}

TESTS(CASE(a_handle_goes_to_the_plugin_that_owns_it_by_name_and_by_id),
      CASE(a_handle_of_an_older_major_keeps_its_owner),
      CASE(a_version_that_nobody_here_knows_is_told_apart_from_an_unknown_plugin),
      CASE(what_is_wrong_with_a_handle_is_said_before_anybody_is_asked),
      CASE(optional_meta_may_be_missing_and_more_of_it_is_a_newer_minors),
      CASE(the_older_form_is_resolved_by_what_its_identifier_begins_with),
      CASE(a_resolver_may_say_that_it_is_something_else_than_mostly),
      CASE(of_many_handles_each_reaches_its_owner_and_no_other),
      CASE(other_hubs_are_asked_for_what_is_not_here_and_for_nothing_else),
      CASE(a_path_in_front_asks_that_hub_alone), CASE(others_are_told_what_this_hub_had_to_say),
      CASE(one_bad_handle_of_many_says_why_and_stops_no_other), CASE(there_is_a_most_for_handles_in_one_call),
      CASE(a_handle_may_be_given_as_an_object_or_as_text),
      CASE(the_schema_of_a_kind_has_its_meta_its_majors_and_its_data),
      CASE(the_hash_of_a_hub_covers_its_kinds_of_handles),
      CASE(every_kind_of_the_program_is_described_and_its_first_meta_is_an_id),
      CASE(every_handle_that_is_made_is_of_its_kind),
      CASE(handles_of_lines_turns_agents_and_files_are_of_their_kind))
