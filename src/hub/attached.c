/*
 * Finding what is attached to the lines of a conversation.
 *
 * Annotations remember the conversation they were made in, so those of a conversation are found at once, and
 * each is looked up by its id: that gives every line that is a copy of the one it is on. What it costs
 * depends on how many annotations the conversation has, not on how many lines; and nothing where there are
 * none.
 */
#include "hub/attached.h"

#include "query/variant.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

const struct field attached_notes[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the note" },
	{ .name = "on", .type = VALUE_TEXT, .help = "what kind of thing it is on" },
	{ .name = "subject", .type = VALUE_ID, .help = "id of that" },
	{ .name = "author", .type = VALUE_TEXT, .help = "who wrote it" },
	{ .name = "updated", .type = VALUE_TIME, .help = "when it was last written" },
	{ .name = "text", .type = VALUE_TEXT, .help = "what it says" },
	{ 0 },
};

/* ---- Loading ----------------------------------------------------------------------- */

static void *grow(struct arena *mem, void *list, size_t count, size_t *cap, size_t size)
{
	void *more;

	if (count < *cap)
		return list;
	*cap = *cap ? 2 * *cap : 8;
	more = arena_alloc(mem, *cap * size);
	return count ? memcpy(more, list, count * size) : more;
}

enum status attached_begin(struct attached *a, struct call *c, struct err *err)
{
	*a = (struct attached){ .call = c };
	return annotation_any(c->store, &a->any, err);
}

/* The annotation in hand, and where it goes. */
struct placing {
	struct attached *attached;
	const struct annotation *annotation;
};

static enum status add_place(void *ctx, const struct node *node, struct err *err)
{
	struct placing *p = ctx;
	struct attached *a = p->attached;

	(void)err;
	a->list = grow(&a->call->mem, a->list, a->count, &a->cap, sizeof *a->list);
	a->list[a->count++] = (struct attached_place){ .session = node->session,
						       .offset = node->offset,
						       .part = node->part,
						       .annotation = p->annotation };
	return STATUS_OK;
}

static enum status add_annotation(void *ctx, const struct annotation *from, bool *go_on, struct err *err)
{
	struct attached *a = ctx;
	struct annotation *kept;

	(void)go_on;
	if (subject_is_transcript(&from->on))
		return STATUS_OK;
	kept = arena_alloc(&a->call->mem, sizeof *kept);
	annotation_keep(kept, from, &a->call->mem);
	return node_places(a->call->store, &from->on.id, add_place, &(struct placing){ a, kept }, err);
}

enum status attached_add(struct attached *a, const struct uuid *session, struct err *err)
{
	for (size_t i = 0; i < a->session_count; i++)
		if (uuid_eq(&a->sessions[i], session))
			return STATUS_OK;
	if (!a->any)
		return STATUS_OK;
	a->sessions = grow(&a->call->mem, a->sessions, a->session_count, &a->session_cap,
			   sizeof *a->sessions);
	a->sessions[a->session_count++] = *session;
	return annotation_in(a->call->store, session, add_annotation, a, err);
}

static int by_place(const void *x, const void *y)
{
	const struct attached_place *a = x, *b = y;

	if (a->session != b->session)
		return a->session < b->session ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->annotation->row < b->annotation->row ? -1 : a->annotation->row > b->annotation->row;
}

void attached_end(struct attached *a)
{
	if (a->count)
		qsort(a->list, a->count, sizeof *a->list, by_place);
}

enum status attached_load(struct attached *a, struct call *c, const struct session *session, struct err *err)
{
	struct session other;
	int64_t *kin;
	size_t count = 0;

	if (attached_begin(a, c, err) || attached_add(a, &session->id, err) ||
	    (a->any && session_kin(c->store, session->row, &c->mem, &kin, &count, err)))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (session_get(c->store, kin[i], &c->mem, &other, err) || attached_add(a, &other.id, err))
			return err_failed(err->status);
	attached_end(a);
	return STATUS_OK;
}

/* ---- Messages ----------------------------------------------------------------------- */

/* What begins behind a compaction is known by the line of that, too. */
static uint32_t message_at(const struct forest *f, const struct attached_place *p)
{
	uint32_t source, line, m;

	if (!forest_find_line(f, p->session, p->offset, &source, &line))
		return NONE;
	m = forest_message_of(f, source, line);
	for (uint32_t i = 0; m == FOREST_NONE && i < f->order_count; i++)
		if (f->messages[f->order[i]].boundary == f->sources[source].nodes[line])
			m = f->order[i];
	return m == FOREST_NONE ? NONE : m;
}

static void join(struct attached *a, const struct forest *f)
{
	a->by_message = arena_alloc(&a->call->mem, (f->message_count + 1) * sizeof *a->by_message);
	memset(a->by_message, 0xff, (f->message_count + 1) * sizeof *a->by_message);
	for (size_t i = a->count; i-- > 0;) {
		uint32_t m = message_at(f, &a->list[i]);

		if (m == NONE)
			continue;
		a->list[i].next = a->by_message[m];
		a->by_message[m] = (uint32_t)i;
	}
}

enum status attached_load_forest(struct attached *a, struct call *c, const struct forest *f, struct err *err)
{
	if (attached_begin(a, c, err))
		return err_failed(err->status);
	for (uint32_t s = 0; a->any && s < f->source_count; s++)
		if (attached_add(a, &f->sources[s].session.id, err))
			return err_failed(err->status);
	attached_end(a);
	if (a->count)
		join(a, f);
	return STATUS_OK;
}

/* ---- Taking ------------------------------------------------------------------------- */

static void add_to(const struct attached *a, struct attached_set *set, const struct annotation *one)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->list[i]->row == one->row)
			return;
	set->list = grow(&a->call->mem, set->list, set->count, &set->cap, sizeof *set->list);
	set->list[set->count++] = one;
}

static size_t first_at(const struct attached *a, int64_t session, int64_t offset)
{
	size_t low = 0, high = a->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct attached_place *p = &a->list[mid];

		if (p->session < session || (p->session == session && p->offset < offset))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void attached_take(const struct attached *a, struct attached_set *set, int64_t session, int64_t offset,
		   int block)
{
	for (size_t i = first_at(a, session, offset);
	     i < a->count && a->list[i].session == session && a->list[i].offset == offset; i++)
		if (block < 0 || a->list[i].part < 0 || a->list[i].part == block)
			add_to(a, set, a->list[i].annotation);
}

void attached_take_message(const struct attached *a, struct attached_set *set, uint32_t message,
			   enum attached_turns turns)
{
	for (uint32_t i = a->by_message ? a->by_message[message] : NONE; i != NONE; i = a->list[i].next)
		if (turns == ATTACHED_ALL || (turns == ATTACHED_TURNS) == (a->list[i].part == PART_TURN))
			add_to(a, set, a->list[i].annotation);
}

/* ---- Writing ------------------------------------------------------------------------ */

static void put_note(struct json_writer *w, const struct annotation *a)
{
	json_write_object_begin(w);
	put_uuid(w, "id", &a->id);
	put_text(w, "on", a->on.kind);
	put_uuid(w, "subject", &a->on.id);
	put_text(w, "author", a->author);
	put_time(w, "updated", a->updated_at);
	put_text(w, "text", a->text);
	json_write_object_end(w);
}

/* Those of a kind as a list, which is left out when there are none. */
static void put_kind(struct json_writer *w, const struct attached_set *set, enum annotation_kind kind,
		     const char *key)
{
	bool open = false;

	for (size_t i = 0; i < set->count; i++) {
		const struct annotation *a = set->list[i];

		if (a->kind != kind)
			continue;
		if (!open) {
			json_write_key(w, str_of(key));
			json_write_array_begin(w);
			open = true;
		}
		if (kind == ANNOTATION_NOTE)
			put_note(w, a);
		else
			json_write_string(w, a->name);
	}
	if (open)
		json_write_array_end(w);
}

void put_attached(struct json_writer *w, struct attached_set *set)
{
	put_kind(w, set, ANNOTATION_TAG, "tags");
	put_kind(w, set, ANNOTATION_BOOKMARK, "bookmarks");
	put_kind(w, set, ANNOTATION_NOTE, "notes");
	set->count = 0;
}

struct on_one {
	struct attached attached; /* only its memory is used */
	struct attached_set set;
};

static enum status take_on_one(void *ctx, const struct annotation *from, bool *go_on, struct err *err)
{
	struct on_one *y = ctx;
	struct annotation *kept;

	(void)go_on;
	(void)err;
	kept = arena_alloc(&y->attached.call->mem, sizeof *kept);
	annotation_keep(kept, from, &y->attached.call->mem);
	add_to(&y->attached, &y->set, kept);
	return STATUS_OK;
}

enum status put_attached_to(struct call *c, const struct uuid *id, struct str agent, struct err *err)
{
	struct on_one y = { .attached = { .call = c } };

	if (annotation_of(c->store, id, agent, take_on_one, &y, err))
		return err_failed(err->status);
	put_attached(&c->writer, &y.set);
	return STATUS_OK;
}

enum status put_attached_session(struct call *c, const struct session *session, struct err *err)
{
	return put_attached_to(c, &session->id, session->agent, err);
}
