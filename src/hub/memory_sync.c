/*
 * memory.sync: one sync, or staying in step.
 *
 * A sync gives an item for each file that something happened to, and a summary. A
 * watch goes on with one item for each batch of changes, which holds what happened
 * to its files: programs read a line and have all of it.
 */
#include "hub/memory_sync.h"

#include "hub/call.h"
#include "ingest/watch.h"

/* What an item may tell beside what happened to a file. */
enum { SUMMARY = SYNC_EVENTS, BATCH };

/* Changes told of in one batch; beyond, they are only counted. */
enum { MOST_CHANGES = 1000 };

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
	[SUMMARY] = "summary",
	[BATCH] = "batch",
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
	{ .name = "watch",
	  .type = VALUE_BOOL,
	  .letter = 'w',
	  .help = "stay, and bring in what changes as it changes" },
	{ .name = "poll",
	  .type = VALUE_INT,
	  .least = 1,
	  .most = 86400,
	  .shown = "SECONDS",
	  .help = "with --watch: do not wait to hear of changes, look at everything this often" },
	{ 0 },
};

static const struct field change_fields[] = {
	{ .name = "event", .type = VALUE_ENUM, .choices = events, .help = "what happened to a file" },
	{ .name = "path", .type = VALUE_PATH, .help = "the file, below the folder" },
	{ .name = "message",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "why, where something went wrong" },
	{ 0 },
};

static const struct field sync_fields[] = {
	{ .name = "event",
	  .type = VALUE_ENUM,
	  .choices = events,
	  .help = "what happened to a file; 'summary' comes last; then, with --watch, 'batch' for each batch "
		  "of "
		  "changes" },
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_OPTIONAL, .help = "the file, below the folder" },
	{ .name = "message",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "why, where something went wrong" },
	{ .name = "root",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary, batch: the folder's label" },
	{ .name = "at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .help = "batch: when it was in the store" },
	{ .name = "changed",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "batch: how many changes there were" },
	{ .name = "changes",
	  .type = VALUE_OBJECT,
	  .fields = change_fields,
	  .flags = FIELD_OPTIONAL | FIELD_LIST | FIELD_HIDDEN,
	  .help = "batch: what happened to its files, the first thousand" },
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
	  .help = "summary, batch: bytes brought in" },
	{ .name = "store_bytes",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: size of the store" },
	{ 0 },
};

/* ---- Telling ---------------------------------------------------------------- */

/* Of a batch. */
struct change {
	struct change *next;
	enum sync_event what;
	struct str path;
	struct str message; /* p NULL = none */
};

/* The sync does not stop for a listener that fails; the first failure is kept. */
struct syncing {
	struct call *call;
	bool in_batches;
	struct arena mem; /* of the changes */
	struct change *changes, **last;
	int64_t changed;
	enum status status;
	struct err err;
};

static void syncing_release(struct syncing *s)
{
	arena_release(&s->mem);
}

static void begin_batch(struct syncing *s)
{
	arena_release(&s->mem);
	s->mem = (struct arena)ARENA_INIT;
	s->changes = NULL;
	s->last = &s->changes;
	s->changed = 0;
	s->in_batches = true;
}

static void note_change(struct syncing *s, enum sync_event what, struct str path, const struct err *why)
{
	struct change *c;

	if (s->changed++ >= MOST_CHANGES)
		return;
	c = arena_alloc(&s->mem, sizeof *c);
	c->what = what;
	c->path = arena_str(&s->mem, path);
	if (why)
		c->message = arena_str(&s->mem, str_of(why->text));
	*s->last = c;
	s->last = &c->next;
}

static void put_change(struct json_writer *w, enum sync_event what, struct str path, struct str message)
{
	put_text(w, "event", str_of(events[what]));
	put_path(w, "path", path);
	if (message.p)
		put_text(w, "message", message);
}

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	struct syncing *s = ctx;

	if (s->in_batches) {
		note_change(s, what, path, why);
		return;
	}
	put_change(call_begin(s->call), what, path, str_of(why ? why->text : NULL));
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

	put_text(w, "event", str_of(events[SUMMARY]));
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

static enum status emit_batch(struct syncing *s, const struct sync_report *r, struct err *err)
{
	struct json_writer *w = call_begin(s->call);

	put_text(w, "event", str_of(events[BATCH]));
	put_text(w, "root", str_of(r->root));
	put_time(w, "at", store_now(s->call->store));
	put_int(w, "changed", s->changed);
	json_write_key(w, STR("changes"));
	json_write_array_begin(w);
	for (const struct change *c = s->changes; c; c = c->next) {
		json_write_object_begin(w);
		put_change(w, c->what, c->path, c->message);
		json_write_object_end(w);
	}
	json_write_array_end(w);
	put_int(w, "new_bytes", r->new_bytes);
	return call_emit(s->call, err);
}

/* Of a watch, after each of its syncs. */
static enum status on_synced(void *ctx, const struct sync_report *r, bool first, struct err *err)
{
	struct syncing *s = ctx;
	enum status status = s->status;

	if (status != STATUS_OK)
		*err = s->err;
	else
		status = first ? emit_summary(s->call, r, err) : emit_batch(s, r, err);
	call_flush(s->call);
	begin_batch(s);
	return status;
}

/* ---- Doing ------------------------------------------------------------------ */

/* A store is made only when there is something to put into it. */
static enum status prepare_sync(struct call *c, enum need *need, struct err *err)
{
	bool has_files;

	if (call_value(c, "poll")->given && !call_flag(c, "watch"))
		return err_fail(err, STATUS_USAGE, "--poll is a way to watch: give --watch, too");
	if (sync_inspect(arena_cstr(&c->mem, call_text(c, "source")), &has_files, err))
		return err_failed(err->status);
	if (!has_files && !call_text(c, "label").p)
		*need = NEED_STORE;
	return STATUS_OK;
}

static enum status run_once(struct syncing *s, const struct sync_options *o, struct err *err)
{
	struct sync_report report;
	struct err outcome = { .status = STATUS_OK };
	enum status status = sync_run(s->call->store, o, &report, &outcome);

	/* Who stops a sync hears what became of it, not that nobody listens any more. */
	if (s->status != STATUS_OK && status != STATUS_CANCELLED) {
		*err = s->err;
		return s->status;
	}
	if ((status == STATUS_OK || status == STATUS_PARTIAL) && emit_summary(s->call, &report, err))
		return err_failed(err->status);
	*err = outcome;
	return status;
}

static enum status run_sync(struct call *c, struct err *err)
{
	struct syncing s CLEANUP(syncing_release) = { .call = c };
	struct watch_options o = {
		.sync = {
			.dir = arena_cstr(&c->mem, call_text(c, "source")),
			.label = call_text(c, "label"),
			.force = call_flag(c, "force"),
			.cancel = c->cancel,
			.event = on_event,
			.progress = on_progress,
			.ctx = &s,
		},
		.poll_ms = call_int(c, "poll") * 1000,
		.synced = on_synced,
	};

	return call_flag(c, "watch") ? watch_run(c->store, &o, err) : run_once(&s, &o.sync, err);
}

const struct method memory_sync = {
	.name = "sync",
	.verb = "sync",
	.group = "keep",
	.first = 1,
	.summary = "Mirror Claude Code's files into the store",
	.text = "Reads what is new, byte for byte, and keeps it: transcripts, sub-agents, tool results, "
		"memory, "
		"tasks, todos, plans, file history, typed history. Files that were rewritten or deleted stay "
		"in "
		"the store as they were. Credentials, settings, plugins and caches are never opened. A "
		"second run "
		"does nothing; one that was interrupted is completed by the next; several may run at "
		"once.\n\n"
		"Each folder has a label: 'claude' for the first, 'claude-2' for the next, or the one given "
		"with "
		"--label. A folder that has moved keeps its history when it is synced with its old label; a "
		"label "
		"whose folder still exists cannot be given to another.\n\n"
		"A file whose size and times are as they were is not read again; --force compares every "
		"byte, "
		"also those of the store, and mends what is damaged there from the files. Without it, of a "
		"file "
		"over 16 MiB that has only grown, as far as one can see, just the beginning and the end of "
		"what "
		"is archived are compared.\n\n"
		"With --watch it stays after that, until Ctrl-C or SIGTERM, and brings in what changes as it "
		"changes: a new line can be found a few hundredths of a second after it was written. Only "
		"what "
		"changed is looked at, and everything once in ten minutes. Where the system cannot tell of "
		"changes (too many folders for its limit fs.inotify.max_user_watches, a network file system) "
		"everything is looked at every few seconds; --poll asks for that. Several may watch at "
		"once.\n",
	.params = sync_params,
	.kind = RESULT_STREAM,
	.fields = sync_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE_MADE,
	.examples = (const struct example[]){ { "sync", "mirror ~/.claude" },
					      { "sync --source /mnt/old/.claude --label old-laptop",
						"mirror a backup" },
					      { "sync --watch", "stay in step with what is written" },
					      { "sync --json", "for programs" },
					      { 0 } },
	.prepare = prepare_sync,
	.run = run_sync,
};
