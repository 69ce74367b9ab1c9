/*
 * storage.*: the files of Claude Code as they are kept.
 */
#include "hub/activations.h"

#include "hub/kept.h"
#include "hub/storage_files.h"
#include "hub/storage_handles.h"
#include "store/gap.h"

/* What somebody called a file, ready for source_find(): an absolute path may lead
 * through links that the store does not know, so its folder is resolved as far
 * as it still exists. */
static struct str resolved(struct call *c, struct str name)
{
	return str_has_prefix(name, STR("/")) ? call_real_front(c, name, str_rfind(name, '/')) : name;
}

/* By its name, or by a handle, which may say which version; 0 = it does not. */
static enum status find_file(struct call *c, struct source_info *out, int64_t *version, struct err *err)
{
	struct str name = call_text(c, "file");

	*version = 0;
	if (handle_is_like(name))
		return storage_handle_file(c, name, out, version, err);
	return source_find(c->store, resolved(c, name), &c->mem, out, err);
}

/* The parameter that names a kept file. */
#define FILE_PARAM \
	{ \
		.name = "file", .type = VALUE_PATH, .flags = PARAM_REQUIRED | PARAM_WORD, \
		.names = "storage.sources", .help = "a path, an id or the beginning of one, or a session id" \
	}

/* How help and manual say what it may be. */
#define FILE_TEXT \
	"FILE is a path as 'arbor sources' shows it, LABEL:PATH, or absolute; a source's id or the unique " \
	"beginning of one (at least four characters); a session id or its beginning; or a file's name " \
	"without " \
	"its folders.\n"

/* ---- storage.sources -------------------------------------------------------- */

static const char *const states[] = { "here", "gone", "unread", "purged", NULL };

static const struct field source_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "the source's id" },
	HANDLE_FIELD(""),
	{ .name = "host", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "label of the machine" },
	{ .name = "root", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "label of the mirrored folder" },
	{ .name = "path",
	  .type = VALUE_PATH,
	  .flags = FIELD_HIDDEN,
	  .help = "where it is, or was last, below the folder" },
	{ .name = "kind", .type = VALUE_TEXT, .help = "what it is: transcript, subagent, plan and so on" },
	{ .name = "bytes", .type = VALUE_BYTES, .title = "size", .help = "size of its newest generation" },
	{ .name = "lines",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "lines in it, an unfinished last one included" },
	{ .name = "generations",
	  .type = VALUE_INT,
	  .title = "gens",
	  .usual = "1",
	  .help = "how many versions of it are kept" },
	{ .name = "state",
	  .type = VALUE_ENUM,
	  .choices = states,
	  .usual = "here",
	  .help = "whether it is still outside the store; 'unread': not read to its end yet; 'purged': as a "
		  "whole, and not "
		  "read any more" },
	{ .name = "name",
	  .type = VALUE_PATH,
	  .flags = FIELD_STRETCH,
	  .title = "path",
	  .help = "what it is called: its path, with its folder's label in front unless that is 'claude'" },
	{ .name = "complete",
	  .type = VALUE_BOOL,
	  .flags = FIELD_HIDDEN,
	  .help = "whether the newest was read to its end" },
	{ .name = "first_at", .type = VALUE_TIME, .flags = FIELD_HIDDEN, .help = "when a sync first saw it" },
	{ .name = "vanished_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when it was gone outside the store" },
	{ .name = "purged_bytes",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "how much of its newest generation was purged" },
	{ 0 },
};

static enum status emit_source(void *ctx, const struct source_info *i, struct err *err)
{
	struct call *c = ctx;
	struct json_writer *w = call_begin(c);
	struct node_handle handle = handle_of_file(&i->id, 0);
	int64_t purged = 0;

	if (i->generation && gap_bytes(c->store, i->generation, 0, i->bytes, &purged, err))
		return err_failed(err->status);
	put_uuid(w, "id", &i->id);
	put_handle(w, &handle);
	put_text(w, "host", i->host);
	put_text(w, "root", i->root);
	put_path(w, "path", i->path);
	put_text(w, "kind", str_of(kept_kind(i)));
	put_int(w, "bytes", i->bytes);
	put_int(w, "lines", i->lines.lines + (i->lines.tail > 0));
	put_int(w, "generations", i->generations);
	put_text(w, "state", str_of(states[i->purged ? 3 : i->vanished_at ? 1 : i->complete ? 0 : 2]));
	put_path(w, "name", kept_name(c, i));
	put_bool(w, "complete", i->complete);
	put_time(w, "first_at", i->first_at);
	if (i->vanished_at)
		put_time(w, "vanished_at", i->vanished_at);
	if (purged)
		put_int(w, "purged_bytes", purged);
	return call_emit(c, err);
}

static enum status run_sources(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	if (read_begin(c->store, &snapshot, err))
		return err_failed(err->status);
	return source_each(c->store, emit_source, c, err);
}

static const struct method sources = {
	.name = "sources",
	.verb = "sources",
	.also = "archive raw",
	.group = "files",
	.summary = "List the files that are kept",
	.text = "Every file that was ever mirrored, with the size of its newest version and how many "
		"versions "
		"(generations) of it there are. Its state is 'here', 'gone' when it no longer "
		"exists outside the store, 'unread' when it is not read to its end yet, or 'purged'.\n",
	.kind = RESULT_STREAM,
	.fields = source_fields,
	.empty = "the store is empty; 'arbor sync' fills it",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "sources", "everything" },
					      { "sources -0 | xargs -0 -n 1 arbor versions",
						"the versions of every file" },
					      { 0 } },
	.run = run_sources,
};

/* ---- storage.generations ---------------------------------------------------- */

static const struct param file_param[] = { FILE_PARAM, { 0 } };

static const struct field generation_fields[] = {
	{ .name = "number",
	  .type = VALUE_INT,
	  .flags = FIELD_KEY,
	  .title = "gen",
	  .help = "1, 2, 3, ... in the order seen" },
	HANDLE_FIELD(""),
	{ .name = "bytes", .type = VALUE_BYTES, .title = "size", .help = "its size" },
	{ .name = "first_at", .type = VALUE_TIME, .title = "first seen", .help = "when a sync first saw it" },
	{ .name = "modified_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .title = "date of the file",
	  .help = "the file's own date then" },
	{ .name = "base",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .title = "begins like",
	  .help = "number of the generation it begins like" },
	{ .name = "shared",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL,
	  .title = "for",
	  .help = "how many bytes they share" },
	{ 0 },
};

static enum status emit_generation(struct call *c, const struct source_info *file, const struct generation *g,
				   struct err *err)
{
	struct json_writer *w = call_begin(c);
	struct node_handle handle = handle_of_file(&file->id, g->number);

	put_int(w, "number", g->number);
	put_int(w, "bytes", g->length);
	put_time(w, "first_at", g->started_at);
	if (g->mtime_ms)
		put_time(w, "modified_at", g->mtime_ms);
	if (g->base) {
		put_int(w, "base", g->base_number);
		put_int(w, "shared", g->shared);
	}
	put_handle(w, &handle);
	return call_emit(c, err);
}

static enum status run_generations(struct call *c, struct err *err)
{
	struct source_info info;
	struct generation *list;
	int64_t version;
	size_t count;

	if (find_file(c, &info, &version, err) || generation_list(c->store, info.row, &c->mem, &list, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (emit_generation(c, &info, &list[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

static const struct method generations = {
	.name = "generations",
	.verb = "versions",
	.also = "generations revisions",
	.group = "files",
	.summary = "List the versions of one file",
	.text = "A version (generation) is a file that only grew; a rewrite starts another. 'arbor export "
		"--generation' gives one back. " FILE_TEXT,
	.params = file_param,
	.kind = RESULT_STREAM,
	.fields = generation_fields,
	.empty = "nothing of this file is read yet",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "versions history.jsonl", "the versions of one file" },
					      { 0 } },
	.run = run_generations,
};

/* ---- storage.export --------------------------------------------------------- */

static const char *const formats[] = { "raw", NULL };

static const struct param export_params[] = {
	FILE_PARAM,
	{ .name = "format",
	  .type = VALUE_ENUM,
	  .choices = formats,
	  .initial = "raw",
	  .help = "how; so far there is only the bytes as they were" },
	{ .name = "generation",
	  .type = VALUE_INT,
	  .least = 1,
	  .most = INT64_MAX,
	  .help = "an older version; 'arbor versions FILE' lists them" },
	{ .name = "with_gaps",
	  .type = VALUE_BOOL,
	  .help = "also a file of which something was purged: with blanks where that stood" },
	{ 0 },
};

static enum status pour(void *ctx, struct str bytes, struct err *err)
{
	return call_bytes(ctx, bytes, err);
}

/* Names of gaps, as many as fit into a sentence. */
struct gaps {
	struct buf text;
	int64_t count, bytes;
};

static void gaps_release(struct gaps *g)
{
	buf_release(&g->text);
}

static enum status name_gap(void *ctx, const struct gap *g, struct err *err)
{
	enum { NAMED = 8 };
	struct gaps *all = ctx;

	(void)err;
	all->bytes += g->span.to - g->span.from;
	if (all->count++ < NAMED)
		buf_printf(&all->text, "%s%" PRId64 " at %" PRId64 " (%.*s)", all->text.n ? ", " : "",
			   g->span.to - g->span.from, g->span.from, STR_ARG(g->reason));
	else if (all->count == NAMED + 1)
		buf_text(&all->text, ", ...");
	return STATUS_OK;
}

/* A file with gaps is not what it was, and nobody should believe it is. */
static enum status refuse_gaps(struct call *c, const struct generation *g, struct err *err)
{
	struct gaps all CLEANUP(gaps_release) = { .text = BUF_INIT(KIB) };

	if (call_flag(c, "with_gaps"))
		return STATUS_OK;
	if (gap_each(c->store, g->row, 0, g->length, name_gap, &all, err))
		return err_failed(err->status);
	if (!all.count)
		return STATUS_OK;
	return err_fail(err, STATUS_NOT_FOUND,
			"%" PRId64
			" of its bytes are gone: %s; --with-gaps writes it with blanks in their place",
			all.bytes, all.text.p);
}

static enum status run_export(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct source_info info;
	struct generation g;
	int64_t version;

	if (read_begin(c->store, &snapshot, err) || find_file(c, &info, &version, err))
		return err_failed(err->status);
	if (call_value(c, "generation")->given)
		version = call_int(c, "generation");
	if (generation_pick(c->store, info.row, (uint64_t)version, &g, err) ||
	    refuse_gaps(c, &g, err))
		return err_pass(err, "%.*s", STR_ARG(info.path));
	if (info.former)
		log_warn(c->log, "it was renamed since; this is %.*s", STR_ARG(info.path));
	if (archive_read(c->store, g.row, 0, g.length, pour, c, err))
		return err_pass(err, "%.*s", STR_ARG(info.path));
	if (g.row == info.generation && !info.complete)
		return err_fail(err, STATUS_PARTIAL,
				"%.*s: not read to its end yet; 'arbor sync' completes it",
				STR_ARG(info.path));
	return STATUS_OK;
}

static const struct method export = {
	.name = "export",
	.verb = "export",
	.also = "restore save get",
	.group = "files",
	.summary = "Write a kept file to standard output, exactly as it was",
	.text = "Its newest version or an older one, also long after the file itself is gone. When standard "
		"output is a terminal, control characters are made visible; into a pipe or file goes every "
		"byte "
		"as it was. Of a file from which something was purged the bytes that are gone are named; "
		"--with-gaps "
		"writes the others, and blanks in their place.\n\n" FILE_TEXT,
	.params = export_params,
	.kind = RESULT_RAW,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "export history.jsonl > history.jsonl", "a file as it was" },
					      { "export history.jsonl --generation 1 | tail -n 1",
						"of its first version" },
					      { 0 } },
	.run = run_export,
};

static const struct method *const methods[] = { &sources, &generations, &export, &storage_history, &storage_plans,
						 &storage_todos, &storage_sql, NULL };

const struct activation activation_storage = {
	.name = "storage",
	.version = "1.0.0",
	.summary = "The files of Claude Code, as they are kept",
	.methods = methods,
	.handles = storage_handle_kinds,
};
