/*
 * storage.*: the files of Claude Code as they are kept.
 */
#include "hub/activations.h"

#include "claude/layout.h"
#include "hub/call.h"
#include "store/archive.h"
#include "store/find.h"

/* ---- storage.sources -------------------------------------------------------- */

static const struct field source_fields[] = {
	{ .name = "id", .type = VALUE_ID, .help = "the source's id" },
	{ .name = "host", .type = VALUE_TEXT, .help = "label of the machine" },
	{ .name = "root", .type = VALUE_TEXT, .help = "label of the mirrored folder" },
	{ .name = "path", .type = VALUE_PATH, .help = "where it is, or was last, below the folder" },
	{ .name = "kind", .type = VALUE_TEXT, .help = "what it is: transcript, subagent, plan and so on" },
	{ .name = "bytes", .type = VALUE_BYTES, .help = "size of its newest generation" },
	{ .name = "lines", .type = VALUE_INT, .help = "lines in it, an unfinished last one included" },
	{ .name = "generations", .type = VALUE_INT, .help = "how many versions of it are kept" },
	{ .name = "complete", .type = VALUE_BOOL, .help = "whether the newest was read to its end" },
	{ .name = "first_at", .type = VALUE_TIME, .help = "when a sync first saw it" },
	{ .name = "vanished_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .help = "when it was gone outside the store" },
	{ 0 },
};

static enum status emit_source(void *ctx, const struct source_info *i, struct err *err)
{
	struct call *c = ctx;
	struct json_writer *w = call_begin(c);

	put_uuid(w, "id", &i->id);
	put_text(w, "host", i->host);
	put_text(w, "root", i->root);
	put_path(w, "path", i->path);
	put_text(w, "kind", str_of(claude_kind_name(claude_kind_of(i->path))));
	put_int(w, "bytes", i->bytes);
	put_int(w, "lines", i->lines.lines + (i->lines.tail > 0));
	put_int(w, "generations", i->generations);
	put_bool(w, "complete", i->complete);
	put_time(w, "first_at", i->first_at);
	if (i->vanished_at)
		put_time(w, "vanished_at", i->vanished_at);
	return call_emit(c, err);
}

static enum status run_sources(struct call *c, struct err *err)
{
	return source_each(c->store, emit_source, c, err);
}

static const struct method sources = {
	.name = "sources",
	.summary = "List the files that are kept",
	.text = "Every file that was ever mirrored, with its newest version.\n",
	.kind = RESULT_STREAM,
	.fields = source_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call storage.sources", "every file as a line of JSON" },
					      { 0 } },
	.run = run_sources,
};

/* ---- storage.generations ---------------------------------------------------- */

static const struct param file_param[] = {
	{ .name = "file",
	  .type = VALUE_PATH,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .help = "a path, an id or the beginning of one, or a session id" },
	{ 0 },
};

static const struct field generation_fields[] = {
	{ .name = "number", .type = VALUE_INT, .help = "1, 2, 3, ... in the order seen" },
	{ .name = "bytes", .type = VALUE_BYTES, .help = "its size" },
	{ .name = "first_at", .type = VALUE_TIME, .help = "when a sync first saw it" },
	{ .name = "modified_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .help = "the file's own date then" },
	{ .name = "base",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "number of the generation it begins like" },
	{ .name = "shared",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL,
	  .help = "how many bytes they share" },
	{ 0 },
};

static enum status emit_generation(struct call *c, const struct generation *g, struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_int(w, "number", g->number);
	put_int(w, "bytes", g->length);
	put_time(w, "first_at", g->started_at);
	if (g->mtime_ms)
		put_time(w, "modified_at", g->mtime_ms);
	if (g->base) {
		put_int(w, "base", g->base_number);
		put_int(w, "shared", g->shared);
	}
	return call_emit(c, err);
}

static enum status run_generations(struct call *c, struct err *err)
{
	struct source_info info;
	struct generation *list;
	size_t count;

	if (source_find(c->store, call_text(c, "file"), &c->mem, &info, err) ||
	    generation_list(c->store, info.row, &c->mem, &list, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (emit_generation(c, &list[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

static const struct method generations = {
	.name = "generations",
	.summary = "List the versions of one file",
	.text = "A generation is a version of a file that only grew; a rewrite starts another.\n",
	.params = file_param,
	.kind = RESULT_STREAM,
	.fields = generation_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call storage.generations '{\"file\":\"history.jsonl\"}'",
						"the versions of one file" },
					      { 0 } },
	.run = run_generations,
};

/* ---- storage.export --------------------------------------------------------- */

static const struct param export_params[] = {
	{ .name = "file",
	  .type = VALUE_PATH,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .help = "a path, an id or the beginning of one, or a session id" },
	{ .name = "generation",
	  .type = VALUE_INT,
	  .least = 1,
	  .most = INT64_MAX,
	  .help = "an older version" },
	{ 0 },
};

static enum status pour(void *ctx, struct str bytes, struct err *err)
{
	return call_bytes(ctx, bytes, err);
}

static enum status run_export(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct source_info info;
	struct generation g;

	if (read_begin(c->store, &snapshot, err) ||
	    source_find(c->store, call_text(c, "file"), &c->mem, &info, err) ||
	    generation_pick(c->store, info.row, (uint64_t)call_int(c, "generation"), &g, err))
		return err_failed(err->status);
	return archive_read(c->store, g.row, 0, g.length, pour, c, err);
}

static const struct method export = {
	.name = "export",
	.summary = "Give back a file exactly as it was",
	.text = "Its newest version or an older one, also long after the file itself is gone.\n",
	.params = export_params,
	.kind = RESULT_RAW,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call storage.export '{\"file\":\"history.jsonl\"}'",
						"its bytes" },
					      { 0 } },
	.run = run_export,
};

static const struct method *const methods[] = { &sources, &generations, &export, NULL };

const struct activation activation_storage = { "storage", "1.0.0",
					       "The files of Claude Code, as they are kept", methods };
