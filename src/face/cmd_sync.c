/*
 * arbor sync: bring Claude Code's files into the store.
 */
#include "face/face.h"

#include "base/clock.h"
#include "ingest/sync.h"

static enum status run(struct face *f, struct err *err);

static const struct arg_option options[] = {
	{ "source", 0, "DIR", "instead of $CLAUDE_CONFIG_DIR or ~/.claude" },
	{ "label", 0, "NAME", "its name in the store; kept when it has moved" },
	{ "force", 0, NULL, "compare every byte, whatever sizes and times say" },
	{ 0 },
};

const struct command command_sync = {
	.name = "sync",
	.summary = "Mirror Claude Code's files into the store",
	.usage = "[--source DIR] [--label NAME] [--force]",
	.text = "Reads what is new, byte for byte, and keeps it: transcripts, sub-agents, tool\n"
		"results, memory, tasks, todos, plans, file history, typed history. Files that\n"
		"were rewritten or deleted stay in the store as they were. Credentials, settings,\n"
		"plugins and caches are never opened. A second run does nothing; one that was\n"
		"interrupted is completed by the next.\n",
	.examples = "  arbor sync                       # mirror ~/.claude\n"
		    "  arbor sync --source /mnt/old/.claude --label old-laptop\n",
	.options = options,
	.run = run,
};

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	static const char *const front[SYNC_EVENTS] = {
		[SYNC_ADDED] = "new        ",
		[SYNC_GREW] = "grew       ",
		[SYNC_REWRITTEN] = "rewritten  ",
		[SYNC_RENAMED] = "renamed    ",
		[SYNC_REPAIRED] = "repaired   ",
		[SYNC_VANISHED] = "vanished   ",
		[SYNC_SKIPPED] = "arbor: skipped ",
		[SYNC_HIDDEN] = "arbor: skipped ",
		[SYNC_FAILED] = "arbor: failed: ",
	};
	struct face *f = ctx;

	if (why && (what != SYNC_SKIPPED || !f->quiet))
		say_foreign(f, front[what], str_of(why->text));
	else if (!why && f->log.level == LOG_DEBUG)
		say_foreign(f, front[what], path);
}

static void on_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	char size[SIZE_TEXT];

	say_progress(ctx, "%s: %" PRId64 "%%, %s", what, total ? done * 100 / total : 100, size_text(done, size));
}

static void add_count(struct buf *text, int64_t n, const char *what)
{
	if (n)
		buf_printf(text, ", %" PRId64 " %s", n, what);
}

static void print_summary(struct face *f, struct store *s, const struct sync_report *r, double seconds)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	char fresh[SIZE_TEXT], stored[SIZE_TEXT];
	struct err ignored;
	int64_t size;

	buf_printf(&text, "%s: %" PRId64 " file%s", r->root, r->files, r->files == 1 ? "" : "s");
	add_count(&text, r->count[SYNC_ADDED], "new");
	add_count(&text, r->count[SYNC_GREW], "grown");
	add_count(&text, r->count[SYNC_REWRITTEN], "rewritten");
	add_count(&text, r->count[SYNC_RENAMED], "renamed");
	add_count(&text, r->count[SYNC_VANISHED], "vanished");
	add_count(&text, r->count[SYNC_REPAIRED], "repaired");
	add_count(&text, r->unchanged, "unchanged");
	add_count(&text, r->count[SYNC_SKIPPED] + r->count[SYNC_HIDDEN], "skipped");
	add_count(&text, r->count[SYNC_FAILED], "failed");
	if (r->new_bytes)
		buf_printf(&text, "; %s in %.1f s", size_text(r->new_bytes, fresh), seconds);
	if (store_size(s, &size, &ignored) == STATUS_OK)
		buf_printf(&text, "; store %s", size_text(size, stored));
	say(f, "%s", text.p);
}

static enum status run(struct face *f, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct sync_options o = {
		.label = args_value(&f->args, "label"),
		.force = args_has(&f->args, "force"),
		.cancel = f->cancel,
		.event = on_event,
		.progress = on_progress,
		.ctx = f,
	};
	int64_t start = clock_monotonic_ns();
	struct sync_report report;
	char dir[LIMIT_PATH];
	enum status status;
	bool has_files;

	/* A store is made only when there is something to put into it. */
	if (face_source_dir(f, dir, err) || sync_inspect(dir, &has_files, err) ||
	    face_open_store(f, has_files || o.label.p, &s, err))
		return err_pass(err, "sync");
	o.dir = dir;
	status = sync_run(s, &o, &report, err);
	if ((status == STATUS_OK || status == STATUS_PARTIAL) && !f->quiet)
		print_summary(f, s, &report, (double)(clock_monotonic_ns() - start) / 1e9);
	return status == STATUS_OK ? STATUS_OK : err_pass(err, "sync");
}
