/*
 * memory.*: what is remembered of the conversations.
 */
#include "hub/activations.h"

#include "hub/call.h"
#include "hub/memory_find.h"
#include "ingest/sync.h"

static const char *const events[] = {
	[SYNC_ADDED] = "added",
	[SYNC_GREW] = "grew",
	[SYNC_REWRITTEN] = "rewritten",
	[SYNC_RENAMED] = "renamed",
	[SYNC_REPAIRED] = "repaired",
	[SYNC_VANISHED] = "vanished",
	[SYNC_SKIPPED] = "skipped",
	[SYNC_HIDDEN] = "hidden",
	[SYNC_FAILED] = "failed",
	[SYNC_EVENTS] = "summary",
	NULL,
};

static const struct param sync_params[] = {
	{ .name = "source",
	  .type = VALUE_PATH,
	  .flags = PARAM_REQUIRED,
	  .shown = "DIR",
	  .help = "the folder to mirror" },
	{ .name = "label",
	  .type = VALUE_TEXT,
	  .shown = "NAME",
	  .help = "its name in the store; kept when it has moved" },
	{ .name = "force", .type = VALUE_BOOL, .help = "compare every byte, whatever sizes and times say" },
	{ 0 },
};

static const struct field sync_fields[] = {
	{ .name = "event",
	  .type = VALUE_ENUM,
	  .choices = events,
	  .help = "what happened to a file; 'summary' comes last" },
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_OPTIONAL, .help = "the file, below the folder" },
	{ .name = "message",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "why, where something went wrong" },
	{ .name = "root",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: the folder's label" },
	{ .name = "files",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: files below the folder" },
	{ .name = "unchanged",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: of them as they were" },
	{ .name = "new_bytes",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: bytes brought in" },
	{ 0 },
};

/* The sync does not stop for a listener that fails; the first failure is kept. */
struct syncing {
	struct call *call;
	enum status status;
	struct err err;
};

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	struct syncing *s = ctx;
	struct json_writer *w = call_begin(s->call);

	put_text(w, "event", str_of(events[what]));
	put_path(w, "path", path);
	if (why)
		put_text(w, "message", str_of(why->text));
	if (s->status == STATUS_OK)
		s->status = call_emit(s->call, &s->err);
}

static void on_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	struct syncing *s = ctx;

	if (s->call->sink.progress)
		s->call->sink.progress(s->call->sink.ctx, what, done, total);
}

static enum status emit_summary(struct call *c, const struct sync_report *r, struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_text(w, "event", str_of(events[SYNC_EVENTS]));
	put_text(w, "root", str_of(r->root));
	put_int(w, "files", r->files);
	put_int(w, "unchanged", r->unchanged);
	put_int(w, "new_bytes", r->new_bytes);
	return call_emit(c, err);
}

static enum status run_sync(struct call *c, struct err *err)
{
	struct syncing s = { .call = c };
	struct sync_options o = {
		.dir = arena_cstr(&c->mem, call_text(c, "source")),
		.label = call_text(c, "label"),
		.force = call_flag(c, "force"),
		.cancel = c->cancel,
		.event = on_event,
		.progress = on_progress,
		.ctx = &s,
	};
	struct sync_report report;
	struct err outcome = { .status = STATUS_OK };
	enum status status = sync_run(c->store, &o, &report, &outcome);

	if (s.status != STATUS_OK) {
		*err = s.err;
		return s.status;
	}
	if ((status == STATUS_OK || status == STATUS_PARTIAL) && emit_summary(c, &report, err))
		return err_failed(err->status);
	*err = outcome;
	return status;
}

static const struct method sync = {
	.name = "sync",
	.summary = "Mirror Claude Code's files into the store",
	.text = "Reads what is new, byte for byte, and keeps it. A second run does nothing; one that was\n"
		"interrupted is completed by the next.\n",
	.params = sync_params,
	.kind = RESULT_STREAM,
	.fields = sync_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE_MADE,
	.examples = (const struct example[]){ { "call memory.sync '{\"source\":\"demo\"}'",
						"what happened to each file, then a summary" },
					      { 0 } },
	.run = run_sync,
};

static const struct method *const methods[] = { &sync, &memory_sessions, &memory_show, &memory_search, NULL };

const struct activation activation_memory = { "memory", "1.0.0", "What is remembered of the conversations",
					      methods };
