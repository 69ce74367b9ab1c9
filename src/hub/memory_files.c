/*
 * memory.files: which files a conversation has changed; every change of one of them; and
 * what stood in it at a message.
 *
 * What is told is what the conversation shows on the way to one message. A branch sees its
 * own changes, not those of the others.
 */
#include "hub/memory_find.h"

#include "base/hash.h"
#include "base/term.h"
#include "base/utf8.h"
#include "hub/file_diff.h"
#include "hub/grown.h"
#include "hub/handle_node.h"
#include "hub/headed.h"
#include "hub/memory_place.h"
#include "hub/memory_session.h"
#include "query/files.h"
#include "query/forest_load.h"

static const char *const kinds[] = { "file", "change", "content", "diff", NULL };
static const char *const changes[] = { "create", "update", "edit", NULL };

static const struct param files_params[] = {
	{ .name = "conversation",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .initial = PARAM_LAST_SESSION,
	  .shown = "SESSION",
	  .names = "memory.sessions",
	  .help = "a session, or a message of one: the way to it" },
	{ .name = "path",
	  .type = VALUE_PATH,
	  .flags = PARAM_WORD,
	  .shown = "PATH",
	  .help = "one file, absolute, below the session's folder, or the end of its path" },
	{ .name = "at",
	  .type = VALUE_TEXT,
	  .shown = "NODE",
	  .help = "up to this message; with PATH: what stood in the file then. A session is where it is "
		  "now" },
	{ .name = "before",
	  .type = VALUE_TEXT,
	  .shown = "NODE",
	  .help = "with PATH: what stood in the file before this message changed it" },
	{ .name = "diff",
	  .type = VALUE_BOOL,
	  .letter = 'd',
	  .help = "what became different in all, or with --at by that message" },
	{ 0 },
};

static const struct field files_fields[] = {
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .flags = FIELD_HIDDEN,
	  .choices = kinds,
	  .help = "what the item is" },
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "change: the message that tells of it" },
	HANDLE_FIELD("change: of that, "),
	{ .name = "at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "change: when; file: of the last" },
	{ .name = "change",
	  .type = VALUE_ENUM,
	  .flags = FIELD_OPTIONAL,
	  .choices = changes,
	  .help = "change: whether the file was made, written anew, or edited" },
	{ .name = "tool",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "change: which; file: of the last" },
	{ .name = "agent", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "change: by this sub-agent" },
	{ .name = "changes", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "file: how many" },
	{ .name = "added",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .title = "+",
	  .help = "lines, by all changes" },
	{ .name = "removed",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .title = "-",
	  .help = "lines, by all changes" },
	{ .name = "created",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .usual = "no",
	  .help = "file: it was not there before" },
	{ .name = "exact",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .usual = "yes",
	  .help = "what stood in it then is known" },
	{ .name = "outside",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "change, file: somebody else had changed it meanwhile" },
	{ .name = "bytes",
	  .type = VALUE_BYTES,
	  .flags = FIELD_OPTIONAL,
	  .title = "size",
	  .help = "file: if it is known" },
	{ .name = "first",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "file: message that changed it first" },
	{ .name = "first_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "file: when" },
	{ .name = "last",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "file: message that changed it last" },
	{ .name = "text",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "content: what stood there; diff: unified" },
	{ .name = "text_hex",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the same where it is not UTF-8" },
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_KEY | FIELD_STRETCH, .help = "the file" },
	{ 0 },
};

struct listing {
	struct call *call;
	struct forest forest;
	struct session session;
	struct files files;
	struct place at;
};

static void listing_release(struct listing *l)
{
	files_release(&l->files);
	forest_release(&l->forest);
}

/* ---- Items ------------------------------------------------------------------------------ */

static struct json_writer *begin(struct listing *l, const char *kind, const struct file *f)
{
	struct json_writer *w = call_begin(l->call);

	put_text(w, "kind", str_of(kind));
	put_path(w, "path", f->path);
	return w;
}

static enum status emit_file(struct listing *l, struct file *f, struct err *err)
{
	const struct file_change *first = &f->changes[0], *last = &f->changes[f->count - 1];
	struct json_writer *w = begin(l, "file", f);
	int64_t added = 0, removed = 0;
	bool outside = f->is_surprised;

	for (size_t i = 0; i < f->count; i++) {
		added += f->changes[i].added;
		removed += f->changes[i].removed;
		outside |= f->changes[i].is_surprised;
	}
	if (last->at)
		put_time(w, "at", last->at);
	put_text(w, "tool", str_of(last->tool));
	put_int(w, "changes", (int64_t)f->count);
	put_int(w, "added", added);
	put_int(w, "removed", removed);
	put_bool(w, "created", first->kind == CHANGE_CREATE);
	put_bool(w, "exact", f->now.state != FILE_UNKNOWN);
	if (outside)
		put_bool(w, "outside", true);
	if (f->now.state == FILE_KNOWN && !f->now.copy.n)
		put_int(w, "bytes", (int64_t)f->now.bytes.n);
	put_uuid(w, "first", &first->message);
	if (first->at)
		put_time(w, "first_at", first->at);
	put_uuid(w, "last", &last->message);
	return call_emit(l->call, err);
}

static enum status emit_change(struct listing *l, const struct file *f, const struct file_change *c,
			       struct err *err)
{
	struct json_writer *w = begin(l, "change", f);

	put_uuid(w, "id", &c->message);
	if (c->in_message) {
		struct node_handle handle = handle_of_message(&c->message, &(struct record){ .type = RECORD_USER });

		put_handle(w, &handle);
	}
	if (c->at)
		put_time(w, "at", c->at);
	put_text(w, "change", str_of(changes[c->kind]));
	put_text(w, "tool", str_of(c->tool));
	if (c->agent.n)
		put_text(w, "agent", c->agent);
	put_int(w, "added", c->added);
	put_int(w, "removed", c->removed);
	put_bool(w, "exact", c->is_exact);
	if (c->is_surprised)
		put_bool(w, "outside", true);
	return call_emit(l->call, err);
}

/* JSON has no bytes: beside a text that is not UTF-8 stand its digits. */
static enum status emit_text(struct listing *l, const char *kind, const struct file *f, struct str text,
			     struct err *err)
{
	struct json_writer *w = begin(l, kind, f);

	put_text(w, "text", text);
	if (!utf8_valid(text)) {
		char *hex = mem_alloc(2 * text.n + 1);

		hex_encode((const uint8_t *)text.p, text.n, hex);
		put_text(w, "text_hex", str_from(hex, 2 * text.n));
		mem_free(hex);
	}
	return call_emit(l->call, err);
}

/* ---- Which file --------------------------------------------------------------------------- */

/* How well a name fits a path: 0 = not at all. */
static int fit(const struct listing *l, struct str path, struct str name)
{
	struct str folder = l->session.project;

	if (str_eq(path, name))
		return 3;
	if (!name.n || path.n <= name.n || !str_has_suffix(path, name) ||
	    (path.p[path.n - name.n - 1] != '/' && path.p[path.n - name.n - 1] != '\\'))
		return 0;
	return path.n == folder.n + 1 + name.n && str_has_prefix(path, folder) ? 2 : 1;
}

static enum status refuse_name(struct listing *l, struct str name, int best, const struct files *files,
			       struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	enum { LISTED = 5 };
	int listed = 0;

	term_filter(&text, name, TERM_LINE);
	if (best == 0)
		return err_fail(err, STATUS_NOT_FOUND, "%.*s: nothing tells of this file up to there",
				STR_ARG(buf_as_str(&text)));
	buf_text(&text, ": several files end so:");
	for (const struct file *f = files->all; f && listed < LISTED; f = f->next)
		if (fit(l, f->path, name) == best) {
			buf_text(&text, "\n  ");
			term_filter(&text, f->path, TERM_LINE);
			listed++;
		}
	return err_fail(err, STATUS_AMBIGUOUS, "%.*s", STR_ARG(buf_as_str(&text)));
}

/* The file somebody means, changed or at least told of. */
static enum status find_file(struct listing *l, const struct files *files, struct file **out, struct err *err)
{
	struct str name = call_text(l->call, "path");
	int best = 0, count = 0;

	while (str_has_prefix(name, STR("./")))
		name = str_sub(name, 2, SIZE_MAX);
	/* What was changed is meant before what was only read. */
	for (int changed = 1; changed >= 0 && !best; changed--)
		for (struct file *f = files->all; f; f = f->next) {
			int fits = (f->count > 0) == changed ? fit(l, f->path, name) : 0;

			if (fits > best) {
				best = fits;
				count = 0;
			}
			if (fits && fits == best) {
				*out = f;
				count++;
			}
		}
	return count == 1 ? STATUS_OK : refuse_name(l, name, best, files, err);
}

/* ---- As it was ---------------------------------------------------------------------------- */

static enum status say_unknown(const struct file *f, const char *when, struct err *err)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(KIB);

	term_filter(&path, str_sub(f->path, 0, KIB / 4), TERM_LINE);
	return err_fail(
		err, STATUS_NOT_FOUND,
		"%.*s: what stood in it %s is not known; the conversation shows only parts of it, or something else "
		"has changed it. 'arbor files SESSION PATH' lists its changes, and which are known exactly",
		STR_ARG(buf_as_str(&path)), when);
}

static enum status say_absent(const struct file *f, struct err *err)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(KIB);

	term_filter(&path, str_sub(f->path, 0, KIB / 4), TERM_LINE);
	return err_fail(err, STATUS_NOT_FOUND, "%.*s: it did not exist then", STR_ARG(buf_as_str(&path)));
}

static enum status say_unchanged(const struct file *f, struct err *err)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(KIB);

	term_filter(&path, str_sub(f->path, 0, KIB / 4), TERM_LINE);
	return err_fail(err, STATUS_NOT_FOUND,
			"%.*s: it was looked at and not changed; --at SESSION shows what stood in it",
			STR_ARG(buf_as_str(&path)));
}

/* What comes later says what was before: the file as it was before its next change. */
static enum status emit_from_later(struct listing *l, struct err *err)
{
	struct files later CLEANUP(files_release) = FILES_INIT;
	struct resolved session = { .is_session = true, .session = l->session };
	struct file *f = NULL;
	struct place head;

	if (place_find(&l->forest, &session, &head, err) ||
	    files_load(l->call->store, &l->forest, head.message, l->at.message, l->call->cancel, &later,
		       err) ||
	    find_file(l, &later, &f, err))
		return err_failed(err->status);
	if (!f->is_counted)
		return say_unknown(f, "then", err);
	if (file_fetch(l->call->store, &f->before, err))
		return err_failed(err->status);
	if (f->before.state == FILE_ABSENT)
		return say_absent(f, err);
	if (f->before.state != FILE_KNOWN)
		return say_unknown(f, "then", err);
	call_note(l->call, "as it was before its next change; nothing tells of it earlier");
	return emit_text(l, "content", f, buf_as_str(&f->before.bytes), err);
}

static enum status emit_content(struct listing *l, struct err *err)
{
	struct file *f = NULL;
	enum status status = find_file(l, &l->files, &f, err);

	if (status == STATUS_NOT_FOUND)
		return emit_from_later(l, err);
	if (status || !f || file_fetch(l->call->store, &f->now, err))
		return err_failed(err->status);
	if (f->now.state == FILE_ABSENT)
		return say_absent(f, err);
	if (f->now.state != FILE_KNOWN)
		return say_unknown(f, "then", err);
	return emit_text(l, "content", f, buf_as_str(&f->now.bytes), err);
}

/* Before what a message did; where it left the file alone, that is what stood in it then. */
static enum status emit_before(struct listing *l, struct err *err)
{
	struct file *f = NULL;
	enum status status = find_file(l, &l->files, &f, err);

	if (status == STATUS_NOT_FOUND || (status == STATUS_OK && f && !f->is_counted))
		return emit_content(l, err);
	if (status || !f || file_fetch(l->call->store, &f->before, err))
		return err_failed(err->status);
	if (f->before.state == FILE_ABSENT)
		return say_absent(f, err);
	if (f->before.state != FILE_KNOWN)
		return say_unknown(f, "before", err);
	return emit_text(l, "content", f, buf_as_str(&f->before.bytes), err);
}

/* ---- Differences ---------------------------------------------------------------------------- */

static enum status emit_diff(struct listing *l, struct file *f, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_FILE_REBUILT);

	if (file_fetch(l->call->store, &f->before, err) || file_fetch(l->call->store, &f->now, err))
		return err_failed(err->status);
	if (f->before.state == FILE_UNKNOWN)
		return say_unknown(f, "before", err);
	if (f->now.state == FILE_UNKNOWN)
		return say_unknown(f, "then", err);
	if (file_diff(l->session.project, f->path, &f->before, &f->now, &text, err))
		return err_failed(err->status);
	return text.n ? emit_text(l, "diff", f, buf_as_str(&text), err) : STATUS_OK;
}

/* One file that is not known does not hide the others. */
static enum status emit_diffs(struct listing *l, struct err *err)
{
	size_t unknown = 0;

	for (size_t i = 0; i < l->files.count; i++) {
		struct err why;
		enum status status = l->files.list[i]->is_counted ? emit_diff(l, l->files.list[i], &why)
								  : STATUS_OK;

		if (status == STATUS_NOT_FOUND) {
			log_warn(l->call->log, "%s", why.text);
			unknown++;
		} else if (status) {
			*err = why;
			return err_failed(status);
		}
	}
	if (!unknown)
		return STATUS_OK;
	return err_fail(err, STATUS_PARTIAL, "%zu file%s left out", unknown, unknown == 1 ? " is" : "s are");
}

/* ---- All of it ------------------------------------------------------------------------------ */

static enum status emit_list(struct listing *l, struct err *err)
{
	for (size_t i = 0; i < l->files.count; i++)
		if (emit_file(l, l->files.list[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status emit_changes(struct listing *l, struct err *err)
{
	struct file *f = NULL;

	if (find_file(l, &l->files, &f, err) || !f)
		return err_failed(err->status);
	if (!f->count)
		return say_unchanged(f, err);
	for (size_t i = 0; i < f->count; i++)
		if (emit_change(l, f, &f->changes[i], err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status emit_all(struct listing *l, struct err *err)
{
	bool one = call_text(l->call, "path").n > 0, diff = call_flag(l->call, "diff");
	struct file *f = NULL;

	if (call_text(l->call, "before").n)
		return emit_before(l, err);
	if (!one)
		return diff ? emit_diffs(l, err) : emit_list(l, err);
	if (!diff)
		return call_text(l->call, "at").n ? emit_content(l, err) : emit_changes(l, err);
	if (find_file(l, &l->files, &f, err))
		return err_failed(err->status);
	return f->is_counted ? emit_diff(l, f, err) : STATUS_OK;
}

/* --at names a message of the session; or, where that has none of this name, any one. */
static enum status resolve_at(struct call *c, struct str at, struct resolved *out, struct err *err)
{
	struct str session = call_text(c, "conversation");
	struct str both = arena_printf(&c->mem, "%.*s@%.*s", STR_ARG(session), STR_ARG(at));
	enum status status = STATUS_NOT_FOUND;

	if (!str_has_byte(at, '@') && (!str_has_byte(session, '@') || session.p[0] == '@'))
		status = resolve_id(c->store, both, &c->mem, out, err);
	if (status == STATUS_OK || status == STATUS_AMBIGUOUS)
		return status;
	return resolve_id(c->store, at, &c->mem, out, err);
}

/* An answer stands for all its calls: the place is behind their results. */
static enum status find_place(struct listing *l, const struct resolved *what, struct err *err)
{
	const struct forest_message *m;

	if (place_find(&l->forest, what, &l->at, err))
		return err_failed(err->status);
	m = &l->forest.messages[l->at.message];
	if (m->role == FOREST_ASSISTANT && m->results != FOREST_NONE)
		l->at.message = l->forest.messages[m->results].canonical;
	return STATUS_OK;
}

static enum status run_files(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l CLEANUP(listing_release) = { .call = c };
	struct str before = call_text(c, "before"), at = before.n ? before : call_text(c, "at");
	struct resolved what;
	uint32_t source, from;

	if (before.n && (!call_text(c, "path").n || call_text(c, "at").n || call_flag(c, "diff")))
		return err_fail(err, STATUS_USAGE, "--before wants PATH, and neither --at nor --diff");
	if (read_begin(c->store, &snapshot, err) ||
	    headed_find(c, call_text(c, "conversation"), &what, err) ||
	    forest_load(c->store, what.session.row, &l.forest, &source, err))
		return err_failed(err->status);
	warn_unread(c);
	if (!warn_grown(c, &l.forest))
		warn_grown_here(c);
	l.session = what.session;
	if ((at.n && resolve_at(c, at, &what, err)) || find_place(&l, &what, err))
		return err_failed(err->status);
	from = at.n && (before.n || call_flag(c, "diff")) && !what.is_session ? l.at.message : FOREST_NONE;
	if (files_load(c->store, &l.forest, l.at.message, from, c->cancel, &l.files, err))
		return err_failed(err->status);
	return emit_all(&l, err);
}

const struct method memory_files = {
	.name = "files",
	.verb = "files",
	.also = "changes changed blame status",
	.group = "about",
	.summary = "List the files a conversation changed, or show one as it was",
	.text = "The files that tools of the conversation and of its sub-agents have written or edited, on "
		"the way to a "
		"message: by default to where the conversation is now. With PATH every change of one "
		"file.\n\n"
		"With PATH and --at what stood in the file at that message, also long after the file has "
		"changed. "
		"An answer stands for all its calls: the file is as it was after them, and with --before instead of "
		"--at as it was before them. '--at @' is the last "
		"conversation's end. With --diff a unified diff from before the conversation, or with --at "
		"what that "
		"message changed; 'git apply' and 'patch -p1' take it.\n\n"
		"What is known is what the conversation shows: what was written, edited or read whole, and "
		"the copies "
		"that Claude Code makes of files before it changes them. What commands and people changed is "
		"seen when "
		"the file is told of again; 'outside' says so. Where that leaves a gap the file is not "
		"'exact', and its "
		"content is refused. Of what sub-agents do the client keeps less, so less is known of it. "
		"Line ends are as the client tells them: without carriage returns.\n",
	.params = files_params,
	.kind = RESULT_STREAM,
	.fields = files_fields,
	.empty = "no file was changed",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "files 2396d03e", "what a conversation changed" },
					      { "files 2396d03e money.ts", "every change of one file" },
					      { "files 2396d03e money.ts --at 2396d03e", "as it is now" },
					      { "files 2396d03e money.ts --before 203b7858",
						"as it was before one of them" },
					      { "files 2396d03e --diff", "everything as one diff" },
					      { 0 } },
	.run = run_files,
};
