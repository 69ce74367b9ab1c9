/*
 * Arbor's command line over a table that is not Arbor's: the proof that a method
 * shows up everywhere without a line of the face knowing it, and a way to put any
 * text into any field of any view.
 *
 * fixture.*  methods of every kind and type
 * memory.*, arbor.*, storage.*  the names that have views of their own, giving the lines of a file
 * hub.*      as in the program
 */
#include "base/file.h"
#include "face/cli.h"
#include "hub/activations.h"
#include "hub/handle_resolve.h"
#include "hub/call.h"

#include <time.h>

/* ---- fixture.items: one field of every type, any text in it -------------------- */

static const char *const moods[] = { "glad", "sad", NULL };

static const struct param items_params[] = {
	{ .name = "text",
	  .type = VALUE_PATH,
	  .flags = PARAM_WORD,
	  .initial = "hello",
	  .names = "fixture.items",
	  .help = "what stands in every field; @FILE = its content" },
	{ .name = "also", .type = VALUE_TEXT, .flags = PARAM_WORD | PARAM_REST, .help = "more of them" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "3",
	  .least = 0,
	  .most = 5000,
	  .help = "how many" },
	{ .name = "mood", .type = VALUE_ENUM, .choices = moods, .initial = "glad", .help = "how it feels" },
	{ .name = "dry_run", .type = VALUE_BOOL, .help = "give nothing" },
	{ .name = "since", .type = VALUE_TIME, .help = "not before" },
	{ 0 },
};

static const struct field items_fields[] = {
	{ .name = "id", .type = VALUE_TEXT, .flags = FIELD_KEY, .help = "its name" },
	{ .name = "uuid", .type = VALUE_ID, .help = "an id" },
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "a text" },
	{ .name = "file", .type = VALUE_PATH, .help = "a path" },
	{ .name = "size", .type = VALUE_BYTES, .help = "a size" },
	{ .name = "at", .type = VALUE_TIME, .help = "a time" },
	{ .name = "mood", .type = VALUE_ENUM, .choices = moods, .help = "a choice" },
	{ .name = "good", .type = VALUE_BOOL, .help = "a switch" },
	{ .name = "more", .type = VALUE_TEXT, .flags = FIELD_LIST | FIELD_OPTIONAL, .help = "a list" },
	{ .name = "any", .type = VALUE_JSON, .flags = FIELD_OPTIONAL, .help = "any JSON" },
	{ .name = "secret", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "in JSON only" },
	{ 0 },
};

static enum status read_text(struct call *c, struct buf *out, struct err *err)
{
	struct str text = call_text(c, "text");

	if (!str_has_prefix(text, STR("@"))) {
		buf_str(out, text);
		return STATUS_OK;
	}
	return file_read_all(arena_cstr(&c->mem, str_sub(text, 1, SIZE_MAX)), out, err);
}

static void put_fields(struct call *c, struct json_writer *w, struct str text, int64_t i)
{
	put_text(w, "id", arena_printf(&c->mem, "item-%" PRId64 "%.*s", i, STR_ARG(text)));
	put_text(w, "uuid", str_sub(text, 0, 36));
	put_text(w, "title", text);
	put_path(w, "file", text);
	put_int(w, "size", 12345678 * i);
	put_time(w, "at", 1794768679537);
	put_text(w, "mood", call_text(c, "mood"));
	put_bool(w, "good", i % 2);
	json_write_key(w, STR("more"));
	json_write_array_begin(w);
	json_write_string(w, text);
	json_write_string(w, text);
	json_write_array_end(w);
	json_write_key(w, STR("any"));
	json_write_string(w, text);
	put_text(w, "secret", text);
}

static enum status run_items(struct call *c, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	int64_t n = call_flag(c, "dry_run") ? 0 : call_int(c, "limit");

	if (read_text(c, &text, err))
		return err_failed(err->status);
	for (int64_t i = 1; i <= n; i++) {
		put_fields(c, call_begin(c), buf_as_str(&text), i);
		if (call_emit(c, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static const struct method items = {
	.name = "items",
	.verb = "items",
	.group = "fixture",
	.summary = "Give items with a field of every type",
	.text = "One paragraph,\nover two lines.\n\nAnother one. With a sentence; and \\backslash.\n",
	.params = items_params,
	.kind = RESULT_STREAM,
	.fields = items_fields,
	.version = 7,
	.empty = "no items today",
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "items -n 2", "two of them" }, { 0 } },
	.run = run_items,
};

static enum status run_one(struct call *c, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	if (read_text(c, &text, err))
		return err_failed(err->status);
	put_fields(c, call_begin(c), buf_as_str(&text), 1);
	return call_emit(c, err);
}

static const struct method one = {
	.name = "one",
	.verb = "one",
	.group = "fixture",
	.summary = "Give a single result",
	.text = "One.\n",
	.params = items_params,
	.kind = RESULT_ONE,
	.fields = items_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "one", "it" }, { 0 } },
	.run = run_one,
};

static enum status run_bytes(struct call *c, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	if (read_text(c, &text, err))
		return err_failed(err->status);
	for (size_t i = 0; i < text.n; i++) /* one at a time: characters are cut */
		if (call_bytes(c, str_sub(buf_as_str(&text), i, 1), err))
			return err_failed(err->status);
	return STATUS_OK;
}

static const struct method bytes = {
	.name = "bytes",
	.verb = "bytes",
	.group = "fixture",
	.summary = "Give bytes",
	.text = "Bytes.\n",
	.params = items_params,
	.kind = RESULT_RAW,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "bytes", "them" }, { 0 } },
	.run = run_bytes,
};

static enum status run_refuse(struct call *c, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	if (read_text(c, &text, err))
		return err_failed(err->status);
	log_warn(c->log, "beware of %.*s", STR_ARG(buf_as_str(&text)));
	return err_fail(err, call_int(c, "limit") ? STATUS_AMBIGUOUS : STATUS_FORMAT, "not %.*s",
			STR_ARG(buf_as_str(&text)));
}

static const struct method refuse = {
	.name = "refuse",
	.verb = "refuse",
	.group = "fixture",
	.summary = "Fail, and warn",
	.text = "Fails.\n",
	.params = items_params,
	.kind = RESULT_STREAM,
	.fields = items_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "refuse", "fails" }, { 0 } },
	.run = run_refuse,
};

/* Says how far it is for as long as `limit` tenths of a second. */
static enum status run_slow(struct call *c, struct err *err)
{
	int64_t n = call_int(c, "limit");

	for (int64_t i = 0; i < n && !call_is_cancelled(c); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		if (c->sink.progress)
			c->sink.progress(c->sink.ctx, "slowly", (i + 1) * 5000000, n * 5000000);
	}
	if (call_is_cancelled(c))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	put_fields(c, call_begin(c), STR("done"), 1);
	return call_emit(c, err);
}

static const struct method slow = {
	.name = "slow",
	.verb = "slow",
	.group = "fixture",
	.summary = "Take its time",
	.text = "Slow.\n",
	.params = items_params,
	.kind = RESULT_ONE,
	.fields = items_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "slow", "takes a while" }, { 0 } },
	.run = run_slow,
};

static const struct method *const fixture_methods[] = { &items, &one, &bytes, &refuse, &slow, NULL };

/* ---- A handle of a file with an object in it, which is its data ----------------------------- */

static const struct meta_field data_meta[] = {
	{ .name = "file", .type = VALUE_TEXT, .help = "an object as JSON" },
	{ 0 },
};

static const struct field data_fields[] = {
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "and whatever else it has" },
	{ 0 },
};

static enum status resolve_data(struct resolving *r, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct json j CLEANUP(json_release) = JSON_INIT;

	if (file_read_all(arena_cstr(r->mem, handle_meta(r->handle, 0)), &text, err) ||
	    json_read(&j, buf_as_str(&text), LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	for (uint32_t k = json_first(&j, 0); k != json_end(&j, 0); k = json_next(&j, k + 1)) {
		json_write_key(r->w, json_string_in(&j, k, r->mem));
		json_copy(r->w, &j, k + 1);
	}
	return STATUS_OK;
}

static const struct handle_kind fixture_kinds[] = {
	{ .method = "data",
	  .summary = "what stands in a file",
	  .kind = CONTENT_DOCUMENT,
	  .meta = data_meta,
	  .fields = data_fields,
	  .resolve = resolve_data },
	{ 0 },
};

static const struct activation fixture = {
	.name = "fixture",
	.version = "1.0.0",
	.summary = "For tests",
	.methods = fixture_methods,
	.handles = fixture_kinds,
};

/* ---- memory.*, arbor.*, storage.*: lines of a file as items ------------------------------ */

static const struct param replay_params[] = {
	{ .name = "file", .type = VALUE_PATH, .flags = PARAM_REQUIRED | PARAM_WORD, .help = "lines of JSON" },
	{ .name = "full", .type = VALUE_BOOL, .help = "cut nothing" },
	{ .name = "name", .type = VALUE_TEXT, .help = "one of them" },
	{ 0 },
};

static const struct field search_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "the block" },
	{ .name = "session", .type = VALUE_ID, .help = "where" },
	{ .name = "in", .type = VALUE_TEXT, .help = "in which part" },
	{ .name = "snippet", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what was found" },
	{ 0 },
};

static enum status run_replay(struct call *c, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct str rest, line;

	if (file_read_all(arena_cstr(&c->mem, call_text(c, "file")), &text, err))
		return err_failed(err->status);
	for (rest = buf_as_str(&text); rest.n;) {
		line = str_cut(rest, '\n', &rest);
		if (line.n && c->sink.item(c->sink.ctx, line, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

#define REPLAY(method_name) \
	{ \
		.name = (method_name), .verb = (method_name), .group = "memory", \
		.summary = "Show lines of JSON as " method_name " does", .text = "Shows.\n", \
		.params = replay_params, .kind = RESULT_STREAM, .fields = search_fields, \
		.scope = SCOPE_READ, .need = NEED_NOTHING, \
		.examples = (const struct example[]){ { method_name " FILE", "shows it" }, { 0 } }, \
		.run = run_replay \
	}

static const struct method show = REPLAY("show"), search = REPLAY("search"), sync = REPLAY("sync"),
			   check = REPLAY("check"), files = REPLAY("files"), context = REPLAY("context"),
			   notes = REPLAY("note_list");
static const struct method *const memory_methods[] = { &show, &search, &sync, &files, &context, NULL };
static const struct activation memory = { .name = "memory", .version = "1.0.0", .summary = "For tests",
					  .methods = memory_methods };

static const struct method *const arbor_methods[] = { &check, &notes, NULL };
static const struct activation arbor = { .name = "arbor", .version = "1.0.0", .summary = "For tests",
					 .methods = arbor_methods };

static const struct method todos = REPLAY("todos"), plans = REPLAY("plans");
static const struct method *const storage_methods[] = { &todos, &plans, NULL };
static const struct activation storage = { .name = "storage", .version = "1.0.0", .summary = "For tests",
					   .methods = storage_methods };

static const struct param pending_params[] = {
	{ .name = "file", .type = VALUE_PATH, .flags = PARAM_REQUIRED | PARAM_WORD, .help = "lines of JSON" },
	{ .name = "approval", .type = VALUE_TEXT, .help = "one of them" },
	{ 0 },
};
static const struct method pending = {
	.name = "pending",
	.verb = "approvals",
	.group = "memory",
	.summary = "Show lines of JSON as approvals does",
	.text = "Shows.\n",
	.params = pending_params,
	.kind = RESULT_STREAM,
	.fields = search_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "approvals FILE", "shows it" }, { 0 } },
	.run = run_replay,
};
static const struct method *const loopback_methods[] = { &pending, NULL };
static const struct activation loopback = { .name = "loopback", .version = "1.0.0", .summary = "For tests",
					    .methods = loopback_methods };

static const struct method branches = REPLAY("list_branches"), compare = REPLAY("compare");
static const struct method *const claudecode_methods[] = { &branches, &compare, NULL };
static const struct activation claudecode = { .name = "claudecode", .version = "1.0.0", .summary = "For tests",
					      .methods = claudecode_methods };

static const struct activation *const activations[] = { &fixture, &memory,     &loopback,	&arbor,
							&storage, &claudecode, &activation_hub, NULL };
static const struct hub hub = { activations };

int main(int argc, char **argv)
{
	return cli_main(&hub, argc, argv);
}
