/*
 * arbor.*: the store itself.
 */
#include "hub/activations.h"

#include "hub/arbor_derived.h"
#include "hub/call.h"
#include "store/check.h"

static const struct field check_fields[] = {
	{ .name = "ok", .type = VALUE_BOOL, .help = "whether every byte is there and is what it was" },
	{ .name = "sources", .type = VALUE_INT, .help = "files" },
	{ .name = "generations", .type = VALUE_INT, .help = "versions of them" },
	{ .name = "blocks", .type = VALUE_INT, .help = "packed blocks" },
	{ .name = "raw_bytes", .type = VALUE_BYTES, .help = "bytes read and verified" },
	{ .name = "packed_bytes", .type = VALUE_BYTES, .help = "what they take in the store" },
	{ .name = "trees", .type = VALUE_INT, .help = "trees that were made" },
	{ .name = "nodes", .type = VALUE_INT, .help = "nodes in them" },
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
	put_int(w, "trees", r.trees);
	put_int(w, "nodes", r.nodes);
	if (call_emit(c, err))
		return err_failed(err->status);
	if (r.problems)
		return err_fail(err, STATUS_CORRUPT,
				"%" PRId64 " problem%s in %s; where the original files still exist,"
				" 'arbor sync --force' mends them",
				r.problems, r.problems == 1 ? "" : "s", store_path(c->store));
	return STATUS_OK;
}

static const struct method check = {
	.name = "check",
	.verb = "check",
	.group = "store",
	.summary = "Verify the store: the database and every archived byte",
	.text = "Reads everything and repairs nothing. Prints each problem with the file it concerns. Exit "
		"code "
		"0 means that every byte is there and is what it was; 4 means damage, which 'arbor sync "
		"--force' "
		"mends where the original files still exist.\n",
	.kind = RESULT_ONE,
	.fields = check_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "check", "what is damaged, if anything" }, { 0 } },
	.run = run_check,
};

static const struct method *const methods[] = { &check, &arbor_rebuild, &arbor_dump, NULL };

const struct activation activation_arbor = {
	.name = "arbor",
	.version = "1.0.0",
	.summary = "The store itself",
	.methods = methods,
};
