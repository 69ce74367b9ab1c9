/*
 * From what was typed to the thing, whatever it is.
 *
 * Each kind of thing is looked up by those who have it; here is decided between them. Parts of conversations
 * come last in that, because of them nobody knows how many begin alike.
 */
#include "hub/meant.h"

#include "base/term.h"
#include "base/utf8.h"
#include "claude/paper.h"
#include "hub/activations.h"
#include "hub/kept.h"
#include "store/made.h"
#include "store/paper.h"

enum { LISTED = 8, MOST = LISTED + 1 };

/* What could be meant. */
struct gathering {
	struct store *store;
	struct arena *mem;
	struct str text;
	unsigned kinds;
	struct meant list[MOST];
	size_t count;
};

/* One more of a kind, if that is wanted and there is room. */
static struct meant *add(struct gathering *g, enum meant_kind kind)
{
	struct meant *m = &g->list[g->count];

	if (!(g->kinds & kind) || g->count == MOST)
		return NULL;
	g->count++;
	*m = (struct meant){ .kind = kind };
	return m;
}

/* ---- By kind ----------------------------------------------------------------------- */

static enum status gather_made(struct gathering *g, struct err *err)
{
	struct made made[MOST];
	size_t count;

	if (made_search(g->store, g->text, g->mem, made, MOST, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		struct meant *m = add(g, made[i].is_tree ? MEANT_TREE : MEANT_NODE);

		if (m) {
			m->id = made[i].id;
			m->text = made[i].text;
		}
	}
	return STATUS_OK;
}

static bool is_paper(const struct source_info *file)
{
	return file->generation && paper_is(claude_kind_of(file->path));
}

static enum status gather_file(void *ctx, const struct source_info *file, struct err *err)
{
	struct gathering *g = ctx;
	struct meant *m = is_paper(file) ? add(g, MEANT_FILE) : NULL;

	(void)err;
	if (!m)
		return STATUS_OK;
	m->id = file->id;
	m->file = *file;
	m->file.host = arena_str(g->mem, file->host);
	m->file.root = arena_str(g->mem, file->root);
	m->file.key = arena_str(g->mem, file->key);
	m->file.path = arena_str(g->mem, file->path);
	return STATUS_OK;
}

static enum status gather_notes(struct gathering *g, enum annotation_kind kind, struct err *err)
{
	struct annotation notes[MOST];
	size_t count;

	if (annotation_search(g->store, kind, g->text, g->mem, notes, MOST, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		struct meant *m = add(g, MEANT_NOTE);

		if (m) {
			m->id = notes[i].id;
			m->note = notes[i];
		}
	}
	return STATUS_OK;
}

static enum status gather_typed(struct gathering *g, struct err *err)
{
	int64_t rows[MOST];
	struct paper typed;
	size_t count;

	if (paper_search(g->store, g->text, rows, MOST, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		struct meant *m = add(g, MEANT_TYPED);

		if (paper_get(g->store, rows[i], g->mem, &typed, err))
			return err_failed(err->status);
		if (m) {
			m->id = typed.id;
			m->typed = rows[i];
			m->text = typed.project;
		}
	}
	return STATUS_OK;
}

/* ---- Deciding ---------------------------------------------------------------------- */

/* There are few of them. */
static bool is_whole(const struct meant *m)
{
	return m->kind == MEANT_TREE || (m->kind == MEANT_MIRRORED && m->mirrored.is_session);
}

static void keep_whole(struct gathering *g)
{
	size_t whole = 0, kept = 0;

	for (size_t i = 0; i < g->count; i++)
		whole += is_whole(&g->list[i]);
	for (size_t i = 0; whole && i < g->count; i++)
		if (is_whole(&g->list[i]))
			g->list[kept++] = g->list[i];
	g->count = whole ? kept : g->count;
}

static void describe(const struct meant *m, struct buf *out)
{
	enum { SHOWN = 40 };
	char id[UUID_TEXT + 1];
	struct str text;

	if (m->kind == MEANT_MIRRORED) {
		resolve_describe(&m->mirrored, out);
		return;
	}
	uuid_print(&m->id, id);
	text = str_sub(m->kind == MEANT_FILE   ? m->file.path
		       : m->kind != MEANT_NOTE ? m->text
		       : m->note.text.n	       ? m->note.text
					       : m->note.name,
		       0, SHOWN);
	text.n = utf8_valid_prefix(text);
	buf_printf(out, "\n  %s  %s  ", id,
		   m->kind == MEANT_TREE    ? "tree"
		   : m->kind == MEANT_NODE  ? "node"
		   : m->kind == MEANT_TYPED ? "typed in"
		   : m->kind == MEANT_FILE  ? kept_kind(&m->file)
					    : annotation_kind_name(m->note.kind));
	term_filter(out, text, TERM_LINE);
}

/* Behind those that have been told already, if any have. */
static enum status ambiguous(const struct gathering *g, struct str told, struct err *err)
{
	struct buf lines CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);

	for (size_t i = 0; i < g->count && i < LISTED; i++)
		describe(&g->list[i], &lines);
	if (told.n) {
		buf_str(&lines, told);
		return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be%.*s", STR_ARG(g->text),
				STR_ARG(buf_as_str(&lines)));
	}
	return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be%.*s%s", STR_ARG(g->text),
			STR_ARG(buf_as_str(&lines)),
			g->count > LISTED ? "\n  and others; give more of the id" : "");
}

/* Of several parts of conversations, or of conversations, that begin so. */
static enum status among_several(struct gathering *g, struct err *err)
{
	struct err several = *err;
	struct id_match match[MOST];
	size_t count, sessions = 0;

	if (!g->count)
		return err_failed(err->status);
	if (id_search(g->store, g->text, 0, match, MOST, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		sessions += match[i].is_session;
	if (!sessions && is_whole(&g->list[0]))
		return STATUS_OK;
	if (sessions && !is_whole(&g->list[0])) {
		*err = several;
		return err_failed(err->status);
	}
	return ambiguous(g, str_sub(str_of(several.text), str_find(str_of(several.text), '\n'), SIZE_MAX),
			 err);
}

/* A file by its path or name, where nothing has such an id. */
static enum status by_name(struct gathering *g, struct err *err)
{
	struct err unknown = *err, other;
	struct source_info file;
	enum status status = source_find(g->store, g->text, g->mem, &file, &other);

	if (status == STATUS_OK && is_paper(&file))
		return gather_file(g, &file, err);
	*err = status == STATUS_OK || status == STATUS_NOT_FOUND || status == STATUS_AMBIGUOUS ||
			       status == STATUS_USAGE
		       ? unknown
		       : other;
	if (err->status == STATUS_USAGE && (str_has_byte(g->text, '/') || str_has_byte(g->text, '.')))
		return err_fail(err, STATUS_NOT_FOUND,
				"'%.*s': no file of this name can be shown; 'arbor sources' lists all",
				(int)size_min(g->text.n, 60), g->text.p);
	return err_failed(err->status);
}

static enum status nothing(const struct gathering *g, struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND, "nothing that is kept here has the id '%.*s'",
			(int)size_min(g->text.n, 60), g->text.p);
}

static enum status by_id(struct gathering *g, struct err *err)
{
	struct resolved what;
	struct meant *m;
	enum status status;

	if (gather_made(g, err) || source_search(g->store, g->text, gather_file, g, err) ||
	    gather_typed(g, err) || gather_notes(g, ANNOTATION_NOTE, err) ||
	    gather_notes(g, ANNOTATION_BOOKMARK, err))
		return err_failed(err->status);
	keep_whole(g);
	status = g->kinds & MEANT_MIRRORED ? resolve_id(g->store, g->text, g->mem, &what, err)
					   : nothing(g, err);
	if (status == STATUS_AMBIGUOUS)
		return among_several(g, err);
	if (status == STATUS_OK && (m = add(g, MEANT_MIRRORED)))
		m->mirrored = what;
	if (g->count)
		return STATUS_OK;
	return (status == STATUS_NOT_FOUND || status == STATUS_USAGE) && (g->kinds & MEANT_FILE)
		       ? by_name(g, err)
		       : status;
}

/* ---- Names that are no ids ----------------------------------------------------------- */

/* What has this whole id, of these kinds. */
static enum status take(struct gathering *g, const struct uuid *id, unsigned kinds, struct err *err)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	g->text = arena_str(g->mem, str_of(text));
	g->kinds &= kinds;
	return by_id(g, err);
}

/* What is kept here of what a handle names; of what was mirrored resolve_id() knows more. */
static enum status by_handle(struct gathering *g, bool *done, struct err *err)
{
	const struct activation *owner;
	struct str text = g->text;
	unsigned kinds = g->kinds;
	struct handle h;
	struct uuid id;

	*done = false;
	if (resolve_read_handle(text, g->mem, &owner, &h, err))
		return err_failed(err->status);
	if (owner == &activation_claudecode || !uuid_parse(handle_meta(&h, 0), &id))
		return STATUS_OK;
	*done = take(g, &id,
		     owner == &activation_storage ? MEANT_FILE | MEANT_TYPED
						  : MEANT_TREE | MEANT_NODE | MEANT_NOTE,
		     err) == STATUS_OK;
	if (*done)
		return STATUS_OK;
	g->text = text;
	g->kinds = kinds;
	return err->status == STATUS_NOT_FOUND ? STATUS_OK : err_failed(err->status);
}

/* What a bookmark is on, where that is no conversation nor part of one. */
static enum status by_bookmark(struct gathering *g, bool *done, struct err *err)
{
	struct str name = str_sub(g->text, 1, SIZE_MAX);
	struct annotation b;
	enum status status;

	*done = false;
	if (str_has_byte(name, '@') || !name.n)
		return STATUS_OK;
	status = annotation_bookmark(g->store, name, g->mem, &b, err);
	if (status)
		return status == STATUS_NOT_FOUND ? STATUS_OK : err_failed(status);
	*done = subject_is_made(&b.on) || subject_is_file(&b.on);
	if (!*done)
		return STATUS_OK;
	if (take(g, &b.on.id, MEANT_TREE | MEANT_NODE | MEANT_FILE | MEANT_TYPED, err) == STATUS_OK)
		return STATUS_OK;
	return err->status == STATUS_NOT_FOUND
		       ? err_fail(err, STATUS_NOT_FOUND,
				  "the bookmark '%.*s' is on %.*s %.*s, which is not in this store, or no "
				  "more",
				  STR_ARG(b.name), STR_ARG(b.on.kind), STR_ARG(g->text))
		       : err_failed(err->status);
}

enum status meant_find(struct store *s, struct str text, unsigned kinds, struct arena *mem, struct meant *out,
		       struct err *err)
{
	struct gathering g = { .store = s, .mem = mem, .text = text, .kinds = kinds };
	bool done = false;

	if (handle_is_like(text) ? by_handle(&g, &done, err)
				 : text.n && text.p[0] == '@' && by_bookmark(&g, &done, err))
		return err_failed(err->status);
	if (!done && by_id(&g, err))
		return err_failed(err->status);
	keep_whole(&g);
	if (g.count > 1)
		return ambiguous(&g, (struct str){ 0 }, err);
	*out = g.list[0];
	return STATUS_OK;
}
