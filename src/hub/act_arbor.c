/*
 * arbor.*: the store itself.
 */
#include "hub/activations.h"

#include "hub/call.h"
#include "store/check.h"

static const struct field check_fields[] = {
	{ .name = "ok", .type = VALUE_BOOL, .help = "whether every byte is there and is what it was" },
	{ .name = "sources", .type = VALUE_INT, .help = "files" },
	{ .name = "generations", .type = VALUE_INT, .help = "versions of them" },
	{ .name = "blocks", .type = VALUE_INT, .help = "packed blocks" },
	{ .name = "raw_bytes", .type = VALUE_BYTES, .help = "bytes read and verified" },
	{ .name = "packed_bytes", .type = VALUE_BYTES, .help = "what they take in the store" },
	{ .name = "problems",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST,
	  .help = "what is damaged, a sentence each" },
	{ 0 },
};

/* Problems are written into the result as they are found. */
static void on_problem(void *ctx, struct str text)
{
	json_write_string(ctx, text);
}

static enum status run_check(struct call *c, struct err *err)
{
	struct json_writer *w = call_begin(c);
	struct check_report r = { .problem = on_problem, .ctx = w };

	json_write_key(w, STR("problems"));
	json_write_array_begin(w);
	if (check_run(c->store, &r, err))
		return err_failed(err->status);
	json_write_array_end(w);
	put_bool(w, "ok", r.problems == 0);
	put_int(w, "sources", r.sources);
	put_int(w, "generations", r.generations);
	put_int(w, "blocks", r.blocks);
	put_int(w, "raw_bytes", r.raw_bytes);
	put_int(w, "packed_bytes", r.packed_bytes);
	return call_emit(c, err);
}

static const struct method check = {
	.name = "check",
	.summary = "Verify the store: the database and every archived byte",
	.text = "Reads everything and repairs nothing.\n",
	.kind = RESULT_ONE,
	.fields = check_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.check", "what is damaged, if anything" }, { 0 } },
	.run = run_check,
};

static const struct method *const methods[] = { &check, NULL };

const struct activation activation_arbor = { "arbor", "1.0.0", "The store itself", methods };
