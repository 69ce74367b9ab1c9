/*
 * memory.*: what is remembered of the conversations.
 */
#include "hub/activations.h"

#include "hub/call.h"
#include "hub/memory_find.h"
#include "hub/memory_project.h"
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
	  .setting = "source",
	  .shown = "DIR",
	  .help = "the folder to mirror; by default $CLAUDE_CONFIG_DIR, else ~/.claude" },
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
	{ .name = "new_sessions",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: conversations among the new files" },
	{ .name = "updated_sessions",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: conversations that went on" },
	{ .name = "new_bytes",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: bytes brought in" },
	{ .name = "store_bytes",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: size of the store" },
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
	int64_t size;

	put_text(w, "event", str_of(events[SYNC_EVENTS]));
	put_text(w, "root", str_of(r->root));
	put_int(w, "files", r->files);
	put_int(w, "unchanged", r->unchanged);
	put_int(w, "new_sessions", r->new_sessions);
	put_int(w, "updated_sessions", r->updated_sessions);
	put_int(w, "new_bytes", r->new_bytes);
	if (store_size(c->store, &size, err) == STATUS_OK)
		put_int(w, "store_bytes", size);
	return call_emit(c, err);
}

/* A store is made only when there is something to put into it. */
static enum status prepare_sync(struct call *c, enum need *need, struct err *err)
{
	bool has_files;

	if (sync_inspect(arena_cstr(&c->mem, call_text(c, "source")), &has_files, err))
		return err_failed(err->status);
	if (!has_files && !call_text(c, "label").p)
		*need = NEED_STORE;
	return STATUS_OK;
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

	/* Who stops a sync hears what became of it, not that nobody listens any more. */
	if (s.status != STATUS_OK && status != STATUS_CANCELLED) {
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
	.verb = "sync",
	.group = "keep",
	.first = 1,
	.summary = "Mirror Claude Code's files into the store",
	.text = "Reads what is new, byte for byte, and keeps it: transcripts, sub-agents, tool results, memory, "
		"tasks, todos, plans, file history, typed history. Files that were rewritten or deleted stay in "
		"the store as they were. Credentials, settings, plugins and caches are never opened. A second run "
		"does nothing; one that was interrupted is completed by the next; several may run at once.\n\n"
		"Each folder has a label: 'claude' for the first, 'claude-2' for the next, or the one given with "
		"--label. A folder that has moved keeps its history when it is synced with its old label; a label "
		"whose folder still exists cannot be given to another.\n\n"
		"A file whose size and times are as they were is not read again; --force compares every byte, "
		"also those of the store, and mends what is damaged there from the files. Without it, of a file "
		"over 16 MiB that has only grown, as far as one can see, just the beginning and the end of what "
		"is archived are compared.\n",
	.params = sync_params,
	.kind = RESULT_STREAM,
	.fields = sync_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE_MADE,
	.examples = (const struct example[]){ { "sync", "mirror ~/.claude" },
					      { "sync --source /mnt/old/.claude --label old-laptop",
						"mirror a backup" },
					      { "sync --json", "for programs" },
					      { 0 } },
	.prepare = prepare_sync,
	.run = run_sync,
};

static const struct method *const methods[] = {
	&memory_sessions, &memory_show,	   &memory_log,	    &memory_tree,  &memory_search,
	&memory_agents,	  &memory_projects, &memory_usage, &sync,	  NULL,
};

const struct activation activation_memory = {
	.name = "memory",
	.version = "1.0.0",
	.summary = "What is remembered of the conversations",
	.methods = methods,
	.resolver = &memory_show,
};
