/*
 * memory.purge: what somebody wants to be gone for good.
 */
#include "hub/memory_purge.h"

#include "hub/resolve.h"
#include "store/source.h"

#include <unistd.h>

static const struct param purge_params[] = {
	{ .name = "id",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD | PARAM_REST,
	  .shown = "ID",
	  .names = "memory.sessions",
	  .help = "a session, or a turn, message, block or line of one; a sub-agent" },
	{ .name = "tree",
	  .type = VALUE_BOOL,
	  .help = "the whole tree it is in: all sessions that have something in common with it, and their "
		  "sub-agents" },
	ASKING_PARAMS,
	{ 0 },
};

static const struct field purge_fields[] = {
	{ .name = "lines", .type = VALUE_INT, .help = "lines that go, in all versions of the file" },
	{ .name = "bytes", .type = VALUE_BYTES, .title = "size", .help = "bytes of these" },
	{ .name = "whole", .type = VALUE_BOOL, .title = "all", .help = "nothing of the file is kept" },
	{ .name = "root", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "label of the mirrored folder" },
	{ .name = "path",
	  .type = VALUE_PATH,
	  .flags = FIELD_KEY | FIELD_STRETCH,
	  .help = "where it is, or was last, below the folder" },
	{ 0 },
};

/* A purge on its way, and transcripts of the client's that are still where it has them. */
struct purging {
	struct call *call;
	enum status (*file)(void *ctx, const struct purge_file *f, struct err *err);
	struct str first; /* p NULL = there are none */
	int64_t others;
};

static void look_for(struct purging *s, const struct purge_file *f)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_PATH);
	struct call *c = s->call;
	struct err ignored;

	if (!f->whole || !str_has_suffix(f->path, STR(".jsonl")) ||
	    root_dir(c->store, f->root, &path, &ignored) || !path.n)
		return;
	buf_printf(&path, "/%.*s", STR_ARG(f->path));
	if (access(arena_cstr(&c->mem, buf_as_str(&path)), F_OK) != 0)
		return;
	if (s->first.p)
		s->others++;
	else
		s->first = arena_str(&c->mem, buf_as_str(&path));
}

static enum status emit_file(void *ctx, const struct purge_file *f, struct err *err)
{
	struct call *c = ctx;
	struct json_writer *w = call_begin(c);

	put_int(w, "lines", f->lines);
	put_int(w, "bytes", f->bytes);
	put_bool(w, "whole", f->whole);
	put_text(w, "root", f->root);
	put_path(w, "path", f->path);
	return call_emit(c, err);
}

static enum status on_file(void *ctx, const struct purge_file *f, struct err *err)
{
	struct purging *p = ctx;

	look_for(p, f);
	return p->file ? p->file(p->call, f, err) : STATUS_OK;
}

static void on_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
	const struct call *c = ((const struct purging *)ctx)->call;

	if (c->sink.progress)
		c->sink.progress(c->sink.ctx, what, done, total);
}

/* All are known before the first goes: a mistyped id must not leave half of it done. */
static enum status find_subjects(struct call *c, struct purge_subject *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	const struct value *ids = call_value(c, "id");

	if (read_begin(c->store, &snapshot, err))
		return err_failed(err->status);
	for (size_t i = 0; i < ids->count; i++) {
		struct resolved r;

		if (resolve_id(c->store, ids->list[i], &c->mem, &r, err))
			return err_failed(err->status);
		if (r.agent.n)
			return err_fail(err, STATUS_USAGE,
					"sub-agent '%.*s' stands in the file of its conversation and cannot go alone:"
					" name its messages, which 'arbor show' lists, or the conversation",
					(int)size_min(r.agent.n, 60), r.agent.p);
		out[i] = (struct purge_subject){
			.id = r.is_session ? r.session.id : r.node.id,
			.transcript = r.is_session && r.session.agent.n ? r.session.row : 0,
			.tree = call_flag(c, "tree"),
		};
	}
	return STATUS_OK;
}

static struct str still_there(const struct purging *p)
{
	const char *more = p->others == 1 ? " and another" : p->others ? " and others" : "";

	if (!p->first.p)
		return STR("");
	return arena_printf(&p->call->mem, "; the client's own file%s still there, and left alone: %.*s%s",
			    p->others ? "s are" : " is", (int)size_min(p->first.n, 400), p->first.p, more);
}

static void note_result(const struct purging *p, const struct purge_report *r, bool dry_run)
{
	struct str still = dry_run ? STR("") : still_there(p);
	struct call *c = p->call;
	const char *files = r->files == 1 ? "file" : "files", *lines = r->lines == 1 ? "line" : "lines";

	if (!r->files)
		return;
	if (r->shared)
		call_note(c,
			  "%s %" PRId64 " %s in %" PRId64 " %s; %" PRId64
			  " %s other sessions have, too, and stay with them:"
			  " --tree takes these as well%.*s",
			  dry_run ? "would go:" : "gone:", r->lines, lines, r->files, files, r->shared,
			  r->shared == 1 ? "line" : "lines", STR_ARG(still));
	else
		call_note(c, "%s %" PRId64 " %s in %" PRId64 " %s%s%.*s",
			  dry_run ? "would go:" : "gone:", r->lines, lines, r->files, files,
			  dry_run ? "" : "; no sync brings them back", STR_ARG(still));
}

enum status memory_purge_run(struct call *c, const struct purge_subject *list, size_t count,
			     const struct purge_options *o, struct purge_report *report, struct err *err)
{
	struct purging p = { .call = c, .file = o->file };
	struct purge_options own = { o->dry_run, on_file, on_progress, &p };

	if (purge_subjects(c->store, list, count, &own, report, err))
		return err_failed(err->status);
	note_result(&p, report, o->dry_run);
	return STATUS_OK;
}

static enum status run_purge(struct call *c, struct err *err)
{
	size_t count = call_value(c, "id")->count;
	struct purge_subject *subjects = arena_alloc(&c->mem, count * sizeof *subjects);
	struct purge_options o = { .dry_run = call_flag(c, "dry_run"), .file = emit_file };
	struct purge_report report;

	if (find_subjects(c, subjects, err))
		return err_failed(err->status);
	return memory_purge_run(c, subjects, count, &o, &report, err);
}

const struct method memory_purge = {
	.name = "purge",
	.verb = "purge",
	.group = "store",
	.summary = "Remove something from the store for good",
	.text = "What is purged is overwritten in every version of every file that is kept, taken out of the "
		"search index, and does not come back: no sync, with --force or not, no rebuild brings it in "
		"again, although the file it came from may still be there. Files outside the store are not "
		"touched.\n\n"
		"The unit is the line. Of a message all lines go, of a block the line it stands in, in every "
		"copy there is; of a prompt also what the "
		"client noted of it in its queue and in the typed history. Of a session go its "
		"transcript, those of its sub-agents, and what Claude Code keeps by its id: what tools "
		"printed, file history, tasks, todos, its lines in the typed history; nothing of it is "
		"mirrored any more. Lines that other sessions have as well stay with them; with --tree all of "
		"these sessions go.\n\n"
		"Ids stay: 'arbor show' says when something was purged. What follows a purged message follows "
		"what was before it. 'arbor export' refuses a file with gaps unless --with-gaps is given. "
		"Names of files, and what people noted or made themselves, are kept; claims do not stop a "
		"purge. The space is used again, and what was in it is wiped; copies and backups of the store "
		"are not.\n",
	.params = purge_params,
	.kind = RESULT_STREAM,
	.fields = purge_fields,
	.empty = "nothing of it is left to be purged",
	.asks = "Purge this for good?",
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "purge @ --dry-run", "what would go with the last session" },
					      { "purge @~1 --tree --dry-run", "with a whole tree" },
					      { 0 } },
	.run = run_purge,
};
