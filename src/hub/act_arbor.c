/*
 * arbor.*: trees and nodes, and the store itself.
 */
#include "hub/activations.h"

#include "hub/arbor_derived.h"
#include "hub/arbor_handle.h"
#include "hub/arbor_methods.h"
#include "hub/arbor_notes.h"
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
	.also = "fsck verify doctor",
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

static const struct method *const methods[] = {
	&arbor_tree_create,
	&arbor_tree_get,
	&arbor_tree_get_skeleton,
	&arbor_tree_list,
	&arbor_tree_query_by_metadata,
	&arbor_tree_update_metadata,
	&arbor_tree_render,
	&arbor_tree_claim,
	&arbor_tree_release,
	&arbor_tree_refs,
	&arbor_tree_schedule,
	&arbor_tree_list_scheduled,
	&arbor_tree_rescue,
	&arbor_tree_archive,
	&arbor_tree_list_archived,
	&arbor_tree_get_archived,
	&arbor_tree_purge,
	&arbor_node_create_text,
	&arbor_node_create_text_ephemeral,
	&arbor_node_create_external,
	&arbor_node_create_external_ephemeral,
	&arbor_node_get,
	&arbor_node_get_children,
	&arbor_node_get_parent,
	&arbor_node_get_path,
	&arbor_node_get_path_between,
	&arbor_node_get_common_ancestor,
	&arbor_node_update,
	&arbor_node_claim,
	&arbor_node_release,
	&arbor_node_refs,
	&arbor_node_keep,
	&arbor_node_delete,
	&arbor_node_list_scheduled,
	&arbor_node_rescue,
	&arbor_node_archive,
	&arbor_node_list_archived,
	&arbor_node_get_archived,
	&arbor_node_purge,
	&arbor_context_list_leaves,
	&arbor_context_get_path,
	&arbor_context_get_handles,
	&arbor_alias_create,
	&arbor_alias_list,
	&arbor_alias_delete,
	&arbor_gc,
	&arbor_note_set,
	&arbor_note_list,
	&arbor_note_delete,
	&arbor_bookmark_set,
	&arbor_bookmark_list,
	&arbor_bookmark_delete,
	&arbor_tag_set,
	&arbor_tag_list,
	&arbor_tag_delete,
	&check,
	&arbor_rebuild,
	&arbor_dump,
	NULL,
};

const struct activation activation_arbor = {
	.name = "arbor",
	.version = "1.0.0",
	.summary = "Trees and nodes, and the store itself",
	.methods = methods,
	.handles = arbor_handle_kinds,
};
