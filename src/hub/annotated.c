/*
 * Subjects of annotations.
 *
 * An annotation names what it is on by id and kind. Where that is here, a list says what it is: the title of
 * the session, the beginning of the text. Where it is not, because it was purged, or belongs to a
 * conversation that this store does not mirror, the annotation is still there and says so.
 */
#include "hub/annotated.h"

#include "base/utf8.h"
#include "hub/meant.h"
#include "hub/memory_project.h"
#include "hub/narrow.h"
#include "query/papers.h"
#include "query/transcript.h"
#include "query/variant.h"
#include "store/made.h"
#include "store/tag.h"

#include <stdlib.h>

enum { SHOWN = 200 }; /* bytes of a text in a list */

const char *const subject_kinds[] = { "session", "agent", "turn", "message", "line",
				      "block",	 "node",  "tree", "file",    "typed", NULL };
const char *const annotation_deeds[] = { "there", "added", "changed", "deleted", NULL };

/* ---- Its text -------------------------------------------------------------------- */

struct reading {
	struct call *call;
	int part;
	struct str text;
};

/* The block itself; of a line, message or turn the first that says something. */
static enum status read_text(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB * 16);
	struct reading *r = ctx;
	struct block_cursor at = { 0 };
	struct record_block b;

	(void)err;
	*go_on = false;
	while (!text.n && record_block(line->reader, line->record, &at, &b))
		if (r->part < 0 || (int)b.index == r->part)
			block_text(line->reader, &b, &text);
	if (!text.n)
		record_text(line->reader, line->record, &text);
	record_short(buf_as_str(&text), SHOWN, &shown);
	r->text = arena_str(&r->call->mem, buf_as_str(&shown));
	return STATUS_OK;
}

static enum status node_text(struct call *c, const struct session *session, const struct node *node,
			     struct str *out, struct err *err)
{
	struct transcript t CLEANUP(transcript_release);
	struct reading r = { .call = c, .part = node->part };

	transcript_init(&t);
	t.peek = true;
	if (transcript_each(&t, c->store, session, node->offset, node->offset + node->length, read_text, &r,
			    err))
		return err_failed(err->status);
	*out = r.text;
	return STATUS_OK;
}

/* What is known without looking into it. */
static enum status subject_begin(struct call *c, const struct annotation_subject *on, struct subject *out,
				 struct err *err)
{
	*out = (struct subject){ .on = *on };
	out->on.kind = arena_str(&c->mem, on->kind);
	out->on.agent = arena_str(&c->mem, on->agent);
	return subject_session(c->store, on, &c->mem, &out->session, err);
}

/* ---- By what was typed ------------------------------------------------------------ */

static struct str kind_of_part(int part)
{
	return part == PART_TURN      ? STR("turn")
	       : part == PART_MESSAGE ? STR("message")
	       : part == PART_LINE    ? STR("line")
				      : STR("block");
}

static struct annotation_subject of_resolved(const struct resolved *what)
{
	return (struct annotation_subject){
		.kind = !what->is_session	? kind_of_part(what->node.part)
			: what->session.agent.n ? STR("agent")
						: STR("session"),
		.id = what->is_session ? what->session.id : what->node.id,
		.agent = what->is_session ? what->session.agent : (struct str){ 0 },
		.in_session = true,
		.session = what->session.id,
	};
}

/* A bookmark means what it is on, also where that is gone. */
static bool of_bookmark(struct call *c, struct str typed, struct annotation_subject *out)
{
	struct annotation b;
	struct err ignored;

	if (!str_has_prefix(typed, STR("@")) || str_has_byte(str_sub(typed, 1, SIZE_MAX), '@') ||
	    annotation_bookmark(c->store, str_sub(typed, 1, SIZE_MAX), &c->mem, &b, &ignored))
		return false;
	*out = b.on;
	return true;
}

static enum status read_typed(struct call *c, struct str typed, struct annotation_subject *out,
			      struct err *err)
{
	struct meant what;

	if (of_bookmark(c, typed, out))
		return STATUS_OK;
	if (meant_find(c->store, typed, MEANT_ALL & ~MEANT_NOTE, &c->mem, &what, err))
		return err_failed(err->status);
	if (what.kind == MEANT_MIRRORED)
		*out = of_resolved(&what.mirrored);
	else
		*out = (struct annotation_subject){ .kind = what.kind == MEANT_TREE   ? STR("tree")
							    : what.kind == MEANT_NODE ? STR("node")
							    : what.kind == MEANT_FILE ? STR("file")
										      : STR("typed"),
						    .id = what.id };
	return STATUS_OK;
}

enum status subject_resolve(struct call *c, struct str typed, struct subject *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct annotation_subject on;

	if (read_begin(c->store, &snapshot, err) || read_typed(c, typed, &on, err))
		return err_failed(err->status);
	return subject_begin(c, &on, out, err);
}

/* ---- By an annotation ------------------------------------------------------------- */

static enum status find_node(struct call *c, struct subject *out, struct err *err)
{
	struct node node;
	bool found;

	/* Of copies the one in the conversation where it was set. */
	if (node_place(c->store, &out->on.id, out->session.row, &node, &found, err))
		return err_failed(err->status);
	out->gone = !found;
	if (out->gone)
		return STATUS_OK;
	if (out->session.row != node.session &&
	    session_get(c->store, node.session, &c->mem, &out->session, err))
		return err_failed(err->status);
	return node_text(c, &out->session, &node, &out->what, err);
}

static enum status find_made(struct call *c, struct subject *out, struct err *err)
{
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB * 16);
	char text[UUID_TEXT + 1];
	struct made made = { 0 };
	size_t count;

	uuid_print(&out->on.id, text);
	if (made_search(c->store, str_from(text, UUID_TEXT), &c->mem, &made, 1, &count, err))
		return err_failed(err->status);
	out->gone = !count;
	record_short(made.text, SHOWN, &shown);
	out->what = arena_str(&c->mem, buf_as_str(&shown));
	return STATUS_OK;
}

static enum status find_typed(struct call *c, struct subject *out, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB * 16);
	char id[UUID_TEXT + 1];
	struct paper_found p;
	int64_t row;
	size_t count;

	uuid_print(&out->on.id, id);
	if (paper_search(c->store, str_of(id), &row, 1, &count, err))
		return err_failed(err->status);
	out->gone = !count;
	if (out->gone)
		return STATUS_OK;
	if (papers_find(c->store, row, &c->mem, &p, err) || papers_text(c->store, &p, &c->mem, &text, err))
		return err_failed(err->status);
	record_short(buf_as_str(&text), SHOWN, &shown);
	out->what = arena_str(&c->mem, buf_as_str(&shown));
	return STATUS_OK;
}

/* Its path says enough. */
static enum status find_file(struct call *c, struct subject *out, struct err *err)
{
	struct source_info file;
	enum status status = source_get(c->store, &out->on.id, &c->mem, &file, err);

	out->gone = status == STATUS_NOT_FOUND;
	if (status == STATUS_OK)
		out->what = file.path;
	return out->gone ? STATUS_OK : status;
}

static enum status subject_complete(struct call *c, struct subject *out, struct err *err)
{
	if (subject_is_made(&out->on))
		return find_made(c, out, err);
	if (subject_is_file(&out->on))
		return str_eq(out->on.kind, STR("file")) ? find_file(c, out, err) : find_typed(c, out, err);
	if (!subject_is_transcript(&out->on))
		return find_node(c, out, err);
	out->gone = !out->session.row;
	out->what = out->session.title;
	return STATUS_OK;
}

/* ---- Results --------------------------------------------------------------------- */

static void put_subject(struct json_writer *w, const struct subject *s)
{
	put_text(w, "on", s->on.kind);
	put_uuid(w, "subject", &s->on.id);
	if (s->on.agent.n)
		put_text(w, "agent", s->on.agent);
	if (s->on.in_session)
		put_uuid(w, "session", &s->on.session);
	if (s->session.row) {
		put_text(w, "title", s->session.title);
		put_path(w, "project", s->session.project);
	}
	if (s->gone)
		put_bool(w, "gone", true);
	else
		put_text(w, "what", s->what);
}

static void put_annotation(struct json_writer *w, const struct annotation *a)
{
	put_text(w, "author", a->author);
	put_time(w, "created", a->created_at);
	put_time(w, "updated", a->updated_at);
}

static enum status emit_with(struct call *c, const struct annotation *a, const struct subject *on,
			     const char *done, annotation_put *put, struct err *err)
{
	struct json_writer *w = call_begin(c);

	if (done)
		put_text(w, "done", str_of(done));
	put(w, a);
	put_annotation(w, a);
	put_subject(w, on);
	return call_emit(c, err);
}

enum status annotation_emit(struct call *c, const char *done, const struct annotation *a, annotation_put *put,
			    struct err *err)
{
	struct subject on;

	if (subject_begin(c, &a->on, &on, err) || subject_complete(c, &on, err))
		return err_failed(err->status);
	return emit_with(c, a, &on, done, put, err);
}

enum status annotation_attach(struct call *c, struct annotation *a, const struct subject *on, bool move,
			      annotation_put *put, struct err *err)
{
	enum annotation_done done;
	struct subject named;

	if (!on && subject_resolve(c, call_text(c, "on"), &named, err))
		return err_failed(err->status);
	a->on = on ? on->on : named.on;
	if (annotation_add(c->store, a, move, &c->mem, &done, err))
		return err_failed(err->status);
	return annotation_emit(c, annotation_deeds[done], a, put, err);
}

enum status annotation_detach(struct call *c, const struct annotation *a, annotation_put *put, struct err *err)
{
	if (annotation_remove(c->store, a, err))
		return err_failed(err->status);
	return annotation_emit(c, "deleted", a, put, err);
}

/* ---- Listing --------------------------------------------------------------------- */

struct listing {
	struct call *call;
	enum annotation_kind kind;
	struct narrow narrow;
	annotation_put *put;
	int64_t left; /* as many are given; 0 = all */
	int64_t given;
	bool more; /* than these */
};

/* Whether it is to be given. *go_on: whether there may be others. */
static bool is_wanted(struct listing *l, const struct subject *on, bool *go_on)
{
	if (l->narrow.project.p && !(on->session.row && narrow_has_project(&l->narrow, on->session.project)))
		return false;
	l->more = l->left && l->given == l->left;
	*go_on = !l->more;
	l->given += !l->more;
	return !l->more;
}

static enum status emit(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	struct listing *l = ctx;
	struct subject on;

	if (call_is_cancelled(l->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	if (a->kind != l->kind)
		return STATUS_OK;
	if (subject_begin(l->call, &a->on, &on, err))
		return err_failed(err->status);
	if (!is_wanted(l, &on, go_on))
		return STATUS_OK;
	return subject_complete(l->call, &on, err) ? err_failed(err->status)
						   : emit_with(l->call, a, &on, NULL, l->put, err);
}

static enum status emit_client_tag(void *ctx, int64_t row, const struct uuid *id, struct str tag,
				   struct err *err)
{
	struct listing *l = ctx;
	struct subject on = { .on = { .kind = STR("session"), .in_session = true } };
	struct json_writer *w;
	bool ignored;

	if (session_get(l->call->store, row, &l->call->mem, &on.session, err))
		return err_failed(err->status);
	on.on.id = on.on.session = *id;
	on.what = on.session.title;
	if (!is_wanted(l, &on, &ignored))
		return STATUS_OK;
	w = call_begin(l->call);
	put_text(w, "tag", tag);
	put_subject(w, &on);
	return call_emit(l->call, err);
}

static enum status begin_listing(struct call *c, struct listing *l, struct read_txn *snapshot,
				 struct err *err)
{
	l->call = c;
	l->left = call_int(c, "limit");
	return read_begin(c->store, snapshot, err) ? err_failed(err->status)
						   : project_of(c, &l->narrow.project, err);
}

static void end_listing(const struct listing *l)
{
	if (l->more)
		call_note(l->call, "%" PRId64 " %s%s, and there are more; -n 0 lists all", l->given,
			  annotation_kind_name(l->kind), l->given == 1 ? "" : "s");
}

/* Those of one thing, which come in the order in which they were made. */
struct kept {
	struct arena *mem;
	struct annotation *list;
	size_t count, cap;
};

static enum status keep(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	struct kept *k = ctx;
	struct annotation *more;

	(void)go_on;
	(void)err;
	if (k->count == k->cap) {
		k->cap = k->cap ? 2 * k->cap : 16;
		more = arena_alloc(k->mem, k->cap * sizeof *more);
		for (size_t i = 0; i < k->count; i++)
			more[i] = k->list[i];
		k->list = more;
	}
	annotation_keep(&k->list[k->count++], a, k->mem);
	return STATUS_OK;
}

static int last_first(const void *a, const void *b)
{
	const struct annotation *x = a, *y = b;

	if (x->updated_at != y->updated_at)
		return x->updated_at > y->updated_at ? -1 : 1;
	return x->row > y->row ? -1 : x->row < y->row;
}

/* A conversation means all that is in it. */
static enum status list_on(struct listing *l, struct str typed, struct err *err)
{
	struct kept k = { .mem = &l->call->mem };
	struct annotation_subject on;
	bool go_on = true;

	if (read_typed(l->call, typed, &on, err))
		return err_failed(err->status);
	if (str_eq(on.kind, STR("session")) ? annotation_in(l->call->store, &on.id, keep, &k, err)
					    : annotation_of(l->call->store, &on.id, on.agent, keep, &k, err))
		return err_failed(err->status);
	if (k.count)
		qsort(k.list, k.count, sizeof *k.list, last_first);
	for (size_t i = 0; i < k.count && go_on; i++)
		if (emit(l, &k.list[i], &go_on, err))
			return err_failed(err->status);
	return STATUS_OK;
}

enum status annotation_list(struct call *c, enum annotation_kind kind, struct str on, annotation_put *put,
			    struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l = { .kind = kind, .put = put };

	if (begin_listing(c, &l, &snapshot, err))
		return err_failed(err->status);
	if (on.p ? list_on(&l, on, err) : annotation_each(c->store, kind, emit, &l, err))
		return err_failed(err->status);
	end_listing(&l);
	return STATUS_OK;
}

static enum status no_such_tag(struct str tag, struct err *err)
{
	struct str shown = str_sub(tag, 0, LIMIT_ANNOTATION_NAME);

	shown.n = utf8_valid_prefix(shown);
	return err_fail(err, STATUS_NOT_FOUND,
			"nothing has the tag '%.*s'; 'arbor tags' lists those there are, 'arbor tags --on ID' those of "
			"one thing",
			STR_ARG(shown));
}

enum status annotation_list_tagged(struct call *c, struct str tag, annotation_put *put, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l = { .kind = ANNOTATION_TAG, .put = put };

	if (begin_listing(c, &l, &snapshot, err) || annotation_tagged(c->store, tag, emit, &l, err) ||
	    tag_sessions(c->store, tag, emit_client_tag, &l, err))
		return err_failed(err->status);
	end_listing(&l);
	return l.given ? STATUS_OK : no_such_tag(tag, err);
}
