/*
 * memory.sync: one sync, or staying in step.
 *
 * A sync gives an item for each file that something happened to, and a summary. A
 * watch goes on with one item for each batch of changes, which holds what happened
 * to its files: programs read a line and have all of it.
 */
#include "hub/memory_sync.h"

#include "hub/excluded.h"
#include "hub/hub.h"
#include "hub/memory_project.h"
#include "hub/settings.h"
#include "ingest/watch.h"

#include <string.h>

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
	[SYNC_BROKEN] = "broken",
	[SYNC_FAILED] = "failed",
	[SUMMARY] = "summary",
	[BATCH] = "batch",
	NULL,
};

/* Of what failed. */
enum { FILE_NOT_FOUND, PERMISSION_DENIED, PARSE_ERROR, DATABASE_ERROR, READ_ERROR };

static const char *const kinds[] = {
	[FILE_NOT_FOUND] = "FILE_NOT_FOUND", [PERMISSION_DENIED] = "PERMISSION_DENIED",
	[PARSE_ERROR] = "PARSE_ERROR",	     [DATABASE_ERROR] = "DATABASE_ERROR",
	[READ_ERROR] = "READ_ERROR",	     NULL,
};

static const char *kind_of(enum status status)
{
	switch ((int)status) {
	case STATUS_NOT_FOUND:
		return kinds[FILE_NOT_FOUND];
	case STATUS_DENIED:
		return kinds[PERMISSION_DENIED];
	case STATUS_FORMAT:
	case STATUS_LIMIT:
		return kinds[PARSE_ERROR];
	case STATUS_CORRUPT:
	case STATUS_BUSY:
	case STATUS_FULL:
	case STATUS_CONFLICT:
		return kinds[DATABASE_ERROR];
	default:
		return kinds[READ_ERROR];
	}
}

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
	{ .name = "exclude",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REST,
	  .shown = "PATTERN",
	  .help = "leave out what matches: a path below the folder; with / or ~/ in front a folder people "
		  "worked in" },
	{ .name = "max_size",
	  .type = VALUE_BYTES,
	  .least = 0,
	  .most = 1099511627776,
	  .setting = "sync.max_size",
	  .shown = "SIZE",
	  .help = "leave out larger files, and say so: 500K, 10M, 1G, or bytes; 0: none" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .shown = "DIR",
	  .help = "only what belongs to the project in this folder, or of this name" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .shown = "ID",
	  .names = "memory.sessions",
	  .help = "only what belongs to this session; the beginning of its id is enough" },
	{ .name = "dry_run",
	  .type = VALUE_BOOL,
	  .letter = 'n',
	  .help = "say what would be done, and write nothing" },
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
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = kinds,
	  .flags = FIELD_OPTIONAL,
	  .help = "failed: what kind of error it is" },
	{ .name = "message",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "why, where something went wrong" },
	{ 0 },
};

static const struct field error_fields[] = {
	{ .name = "kind", .type = VALUE_ENUM, .choices = kinds, .help = "what kind of error it is" },
	{ .name = "path", .type = VALUE_PATH, .help = "the file, below the folder" },
	{ .name = "message", .type = VALUE_TEXT, .help = "what is wrong" },
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
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = kinds,
	  .flags = FIELD_OPTIONAL,
	  .help = "failed: what kind of error it is" },
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
	{ .name = "new_lines",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary, batch: lines brought in" },
	{ .name = "messages",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: messages read, of conversations and sub-agents" },
	{ .name = "tools", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "summary: calls of tools among them" },
	{ .name = "broken_lines",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: lines that are kept and could not be understood" },
	{ .name = "unused_excludes",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_LIST | FIELD_HIDDEN,
	  .help = "summary: patterns of --exclude that left nothing out" },
	{ .name = "skipped",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "summary: files and folders that were not read, by rule or because somebody wants it so" },
	{ .name = "errors",
	  .type = VALUE_OBJECT,
	  .fields = error_fields,
	  .flags = FIELD_OPTIONAL | FIELD_LIST | FIELD_HIDDEN,
	  .help = "summary: what failed, the first thousand" },
	{ .name = "store_bytes",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL,
	  .help = "summary: size of the store" },
	{ 0 },
};

/* ---- Telling ---------------------------------------------------------------- */

/* Of a batch; or what failed. */
struct change {
	struct change *next;
	enum sync_event what;
	struct str path;
	struct str message; /* p NULL = none */
	enum status status; /* of what failed */
};

/* The sync does not stop for a listener that fails; the first failure is kept. */
struct syncing {
	struct call *call;
	const struct filter_rules *filter;
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
	if (why) {
		c->message = arena_str(&s->mem, str_of(why->text));
		c->status = why->status;
	}
	*s->last = c;
	s->last = &c->next;
}

static void put_change(struct json_writer *w, const struct change *c)
{
	put_text(w, "event", str_of(events[c->what]));
	put_path(w, "path", c->path);
	if (c->what == SYNC_FAILED || c->what == SYNC_BROKEN)
		put_text(w, "kind", str_of(kind_of(c->status)));
	if (c->message.p)
		put_text(w, "message", c->message);
}

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	struct syncing *s = ctx;

	struct change now = { .what = what, .path = path };

	if (s->in_batches || what == SYNC_FAILED || what == SYNC_BROKEN)
		note_change(s, what, path, why);
	if (s->in_batches)
		return;
	if (why) {
		now.message = str_of(why->text);
		now.status = why->status;
	}
	put_change(call_begin(s->call), &now);
	if (s->status == STATUS_OK)
		s->status = call_emit(s->call, &s->err);
}

static void on_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	struct syncing *s = ctx;

	if (s->call->sink.progress)
		s->call->sink.progress(s->call->sink.ctx, what, done, total);
}

static void put_errors(struct json_writer *w, const struct change *failed)
{
	json_write_key(w, STR("errors"));
	json_write_array_begin(w);
	for (const struct change *c = failed; c; c = c->next) {
		json_write_object_begin(w);
		put_text(w, "kind", str_of(kind_of(c->status)));
		put_path(w, "path", c->path);
		put_text(w, "message", c->message);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

/* Patterns of the command line that left nothing out: who excludes something wants to know
 * when it is not. Only a look at everything can tell. */
static void put_unused(struct syncing *s, struct json_writer *w)
{
	const struct value *given = call_value(s->call, "exclude");

	if (call_text(s->call, "project").p || call_text(s->call, "session").p)
		return;
	json_write_key(w, STR("unused_excludes"));
	json_write_array_begin(w);
	for (size_t i = 0; i < given->count; i++) {
		if (filter_was_used(s->filter, i))
			continue;
		json_write_string(w, given->list[i]);
		log_warn(s->call->log, "--exclude '%.*s' leaves nothing out%s", STR_ARG(given->list[i]),
			 strchr("/~", given->list[i].p[0]) ? "" : "; folders people worked in begin with / or ~/");
	}
	json_write_array_end(w);
}

static enum status emit_summary(struct syncing *s, const struct sync_report *r, struct err *err)
{
	struct call *c = s->call;
	struct json_writer *w = call_begin(c);
	int64_t size;

	put_text(w, "event", str_of(events[SUMMARY]));
	put_text(w, "root", str_of(r->root));
	put_int(w, "files", r->files);
	put_int(w, "unchanged", r->unchanged);
	put_int(w, "new_sessions", r->new_sessions);
	put_int(w, "updated_sessions", r->updated_sessions);
	put_int(w, "new_bytes", r->new_bytes);
	if (c->store && store_size(c->store, &size, err) == STATUS_OK)
		put_int(w, "store_bytes", size);
	if (!call_flag(c, "dry_run")) {
		put_int(w, "new_lines", r->new_lines);
		put_int(w, "messages", r->messages);
		put_int(w, "tools", r->tools);
		put_int(w, "broken_lines", r->broken);
	}
	put_int(w, "skipped", r->count[SYNC_SKIPPED] + r->count[SYNC_HIDDEN]);
	put_unused(s, w);
	put_errors(w, s->changes);
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
		put_change(w, c);
		json_write_object_end(w);
	}
	json_write_array_end(w);
	put_int(w, "new_bytes", r->new_bytes);
	put_int(w, "new_lines", r->new_lines);
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
		status = first ? emit_summary(s, r, err) : emit_batch(s, r, err);
	call_flush(s->call);
	begin_batch(s);
	return status;
}

/* ---- Doing ------------------------------------------------------------------ */

/* What is no folder may be the name of a project that is here already. */
static enum status name_project(struct call *c, struct str given, struct str *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	enum status status = STATUS_NOT_FOUND;

	if (c->store)
		status = read_begin(c->store, &snapshot, err) ? err_failed(err->status)
							      : project_named(c, given, out, err);
	if (status != STATUS_NOT_FOUND)
		return status;
	return err_fail(err, STATUS_NOT_FOUND,
			"'%.*s': no such folder and no project that is here; one that is gone needs its whole path",
			STR_ARG(given));
}

/* As the client has it: absolute, links resolved. It may be long gone. */
static enum status take_project(struct call *c, struct filter *f, struct err *err)
{
	struct str given = call_text(c, "project"), real;

	if (!given.p)
		return STATUS_OK;
	given = call_from_home(c, given);
	real = call_real_path(c, given);
	f->project = real.p ? real : given;
	return str_has_prefix(f->project, STR("/")) ? STATUS_OK : name_project(c, given, &f->project, err);
}

static enum status make_filter(struct call *c, const struct filter_rules **out, struct err *err)
{
	struct filter *f = arena_alloc(&c->mem, sizeof *f);

	f->max_size = call_int(c, "max_size");
	f->session = call_text(c, "session");
	excluded_take(c, call_value(c, "exclude"), f);
	return take_project(c, f, err) ? err_failed(err->status) : filter_make(f, &c->mem, out, err);
}

/* A store is made only when there is something to put into it. */
static enum status prepare_sync(struct call *c, enum need *need, struct err *err)
{
	bool has_files;

	if (call_value(c, "poll")->given && !call_flag(c, "watch"))
		return err_fail(err, STATUS_USAGE, "--poll is a way to watch: give --watch, too");
	if (call_flag(c, "dry_run") && call_flag(c, "watch"))
		return err_fail(err, STATUS_USAGE, "--dry-run and --watch: one of them");
	if (sync_inspect(arena_cstr(&c->mem, call_text(c, "source")), &has_files, err))
		return err_failed(err->status);
	if (call_flag(c, "dry_run") || (!has_files && !call_text(c, "label").p))
		*need = NEED_NOTHING; /* one is used when it is there */
	return STATUS_OK;
}

static enum status open_if_there(struct call *c, struct err *err)
{
	enum status status;

	if (!c->who->open_store)
		return STATUS_OK;
	status = c->who->open_store(c->who->ctx, false, &c->store, err);
	return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* A folder with nothing in it may be one that was mirrored before. */
static enum status open_for_nothing(struct call *c, struct err *err)
{
	if (open_if_there(c, err))
		return err_failed(err->status);
	return c->store ? STATUS_OK
			: err_fail(err, STATUS_NOT_FOUND,
				   "%.*s: nothing of Claude Code in it (no projects/, no history.jsonl); name the "
				   "folder to mirror with --source",
				   STR_ARG(call_text(c, "source")));
}

static enum status run_once(struct syncing *s, const struct sync_options *o, struct err *err)
{
	struct sync_report report;
	struct err outcome = { .status = STATUS_OK };
	enum status status;

	if (call_flag(s->call, "dry_run") && open_if_there(s->call, err))
		return err_failed(err->status);
	status = call_flag(s->call, "dry_run") ? sync_preview(s->call->store, o, &report, &outcome)
					       : sync_run(s->call->store, o, &report, &outcome);

	/* Who stops a sync hears what became of it, not that nobody listens any more. */
	if (s->status != STATUS_OK && status != STATUS_CANCELLED) {
		*err = s->err;
		return s->status;
	}
	if ((status == STATUS_OK || status == STATUS_PARTIAL) && emit_summary(s, &report, err))
		return err_failed(err->status);
	if (status == STATUS_OK && report.files == 0 &&
	    (call_text(s->call, "project").p || call_text(s->call, "session").p))
		return err_fail(err, STATUS_NOT_FOUND, "nothing below the folder belongs to it");
	*err = outcome;
	return status;
}

static enum status run_sync(struct call *c, struct err *err)
{
	struct syncing s CLEANUP(syncing_release) = { .call = c };
	const struct filter_rules *filter CLEANUP(filter_release) = NULL;
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

	s.last = &s.changes;
	if ((!c->store && !call_flag(c, "dry_run") && open_for_nothing(c, err)) || make_filter(c, &filter, err))
		return err_failed(err->status);
	o.sync.filter = s.filter = filter;
	return call_flag(c, "watch") ? watch_run(c->store, &o, err) : run_once(&s, &o.sync, err);
}

const struct method memory_sync = {
	.name = "sync",
	.verb = "sync",
	.also = "import pull fetch update ingest index mirror init scan watch",
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
		"All of that is mirrored unless you want less. A PATTERN of --exclude is a glob in which '*' "
		"also stands for '/', and a folder stands for all that is in it: 'projects/*/tool-results', "
		"'file-history', '*.txt' are compared with the paths below the folder. With '/' or '~/' in front "
		"it is a folder that people worked in: '/home/me/private' leaves out every conversation that "
		"began there or in a folder below it, whatever its file is called, and what belongs to "
		"it: sub-agents, tool results, memory, tasks, todos, file history. For that a transcript is "
		"looked at up to the first line that names its folder, and nothing of it is kept. Two things "
		"do not say whose they are: what was typed is in one file for all, and plans have only names; "
		"exclude history.jsonl and plans, too, to have nothing of it. What is archived already stays, "
		"and nothing is added to it. Patterns of the setting sync.exclude count as well; one of "
		"--exclude that leaves nothing out is told.\n\n"
		"--project and --session bring in nothing else and leave everything else as it is.\n\n"
		"With --watch it stays after that, until Ctrl-C or SIGTERM (see 'arbor help exit-codes'), and "
		"brings in what changes as it "
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
					      { "sync --exclude file-history --dry-run",
						"see what would come in without these" },
					      { "sync --json", "for programs" },
					      { 0 } },
	.prepare = prepare_sync,
	.run = run_sync,
};
