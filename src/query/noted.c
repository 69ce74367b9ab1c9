/*
 * From annotations to documents.
 *
 * Annotations are few and name what they are on by id; documents are many and say where they stand, by
 * transcript, offset and block. So what is asked for is turned into places once, in as many look-ups as
 * there are such annotations, and each document that matches is compared with those: a search among a
 * handful of numbers, however large the store.
 *
 * Notes on what is meant are meant with it, and so are those on parts of a conversation that is.
 *
 * A conversation means itself, its sub-agents and what older versions of its file had; a turn its lines up to
 * the next; a message its lines; copies of a line in other files are meant with it. A tree that was made means its
 * nodes, a file all its texts.
 */
#include "query/noted.h"

#include "query/variant.h"
#include "store/made_text.h"
#include "store/paper.h"
#include "store/tag.h"

#include <stdlib.h>
#include <string.h>

void noted_release(struct noted *n)
{
	mem_free(n->ranges);
	mem_free(n->notes);
	map_release(&n->subjects);
	arena_release(&n->mem);
	*n = (struct noted)NOTED_INIT;
}

static void add_range(struct noted *n, int64_t session, int64_t from, int64_t to, int block)
{
	if (n->count == n->cap) {
		n->cap = n->cap ? n->cap * 2 : 16;
		n->ranges = mem_resize(n->ranges, n->cap * sizeof *n->ranges);
	}
	n->ranges[n->count++] = (struct noted_range){ session, from, to, block };
}

/* ---- Places of a subject ---------------------------------------------------------- */

struct placing {
	struct store *store;
	struct noted *noted;
	int64_t session; /* of the message or turn in hand */
	int64_t end;	 /* of the turn */
};

static enum status add_line(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	struct placing *p = ctx;

	(void)length;
	(void)err;
	add_range(p->noted, p->session, offset, offset + 1, NOTED_ALL);
	return STATUS_OK;
}

static enum status end_turn(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	struct placing *p = ctx;

	(void)length;
	(void)err;
	p->end = offset;
	return STATUS_OK;
}

static enum status add_turn(struct placing *p, const struct node *node, struct err *err)
{
	p->end = INT64_MAX;
	if (entry_near(p->store, node->session, node->offset, false, ENTRY_TURN, 1, end_turn, p, err))
		return err_failed(err->status);
	add_range(p->noted, node->session, node->offset, p->end, NOTED_ALL);
	return STATUS_OK;
}

static enum status add_node(void *ctx, const struct node *node, struct err *err)
{
	struct placing *p = ctx;

	p->session = node->session;
	if (node->part == PART_TURN)
		return add_turn(p, node, err);
	if (node->part == PART_MESSAGE)
		return message_lines(p->store, node, add_line, p, err);
	add_range(p->noted, node->session, node->offset, node->offset + 1,
		  node->part >= 0 ? node->part : NOTED_ALL);
	return STATUS_OK;
}

static enum status add_sessions(struct placing *p, const struct annotation_subject *on, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	int64_t *rows;
	size_t count;

	if (session_rows(p->store, &on->id, on->agent.n ? on->agent : (struct str){ 0 }, &mem, &rows, &count,
			 err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		add_range(p->noted, rows[i], 0, INT64_MAX, NOTED_ALL);
	return STATUS_OK;
}

static enum status add_paper(void *ctx, int64_t row, struct err *err)
{
	struct placing *p = ctx;

	(void)err;
	add_range(p->noted, DOC_PAPERS, row, row + 1, NOTED_ALL);
	return STATUS_OK;
}

static enum status add_made(void *ctx, int64_t first, int64_t behind, struct err *err)
{
	struct placing *p = ctx;

	(void)err;
	add_range(p->noted, DOC_NODES, first, behind, NOTED_ALL);
	return STATUS_OK;
}

static enum status add_made_node(struct placing *p, const struct uuid *id, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree_node n;
	enum status status = tree_node_get(p->store, id, NODE_SKELETON, &mem, &n, err);

	if (status)
		return status == STATUS_NOT_FOUND ? STATUS_OK : err_failed(status);
	return n.row ? add_made(p, n.row, n.row + 1, err) : STATUS_OK;
}

static enum status place(struct store *s, struct noted *n, const struct annotation_subject *on,
			 struct err *err)
{
	struct placing p = { .store = s, .noted = n };

	if (subject_is_transcript(on))
		return add_sessions(&p, on, err);
	if (subject_is_file(on))
		return paper_rows(s, &on->id, add_paper, &p, err);
	if (str_eq(on->kind, STR("tree")))
		return made_rows(s, &on->id, add_made, &p, err);
	if (str_eq(on->kind, STR("node")))
		return add_made_node(&p, &on->id, err);
	return node_places(s, &on->id, add_node, &p, err);
}

/* ---- In order --------------------------------------------------------------------- */

/* The widest first among those that begin alike. */
static int by_place(const void *a, const void *b)
{
	const struct noted_range *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if ((x->block < 0) != (y->block < 0))
		return x->block < 0 ? -1 : 1;
	return x->to > y->to ? -1 : x->to < y->to;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Leaves out what others cover: then a document can be in the last range that begins before it, or in those
 * that begin with it. */
static void settle(struct noted *n)
{
	struct noted_range *last = NULL; /* without a block */
	size_t kept = 0;

	if (n->note_count)
		qsort(n->notes, n->note_count, sizeof *n->notes, by_number);
	if (n->count)
		qsort(n->ranges, n->count, sizeof *n->ranges, by_place);
	for (size_t i = 0; i < n->count; i++) {
		struct noted_range r = n->ranges[i];

		if (last && last->session == r.session && r.from < last->to) {
			if (r.to > last->to)
				last->to = r.to;
			continue;
		}
		n->ranges[kept] = r;
		if (r.block < 0)
			last = &n->ranges[kept];
		kept++;
	}
	n->count = kept;
}

/* ---- Loading ---------------------------------------------------------------------- */

static struct str subject_key(struct arena *mem, const struct uuid *id, struct str agent)
{
	char *key = arena_alloc(mem, UUID_BYTES + agent.n);

	memcpy(key, id->b, UUID_BYTES);
	if (agent.n)
		memcpy(key + UUID_BYTES, agent.p, agent.n);
	return str_from(key, UUID_BYTES + agent.n);
}

struct gathering {
	struct store *store;
	struct noted *noted;
};

static enum status add_note(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	struct noted *n = ctx;

	(void)go_on;
	(void)err;
	if (a->kind == ANNOTATION_TAG)
		return STATUS_OK;
	if (n->note_count == n->note_cap) {
		n->note_cap = n->note_cap ? n->note_cap * 2 : 16;
		n->notes = mem_resize(n->notes, n->note_cap * sizeof *n->notes);
	}
	n->notes[n->note_count++] = a->row;
	return STATUS_OK;
}

static enum status gather(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	struct gathering *g = ctx;
	struct noted *n = g->noted;
	struct str key = subject_key(&n->mem, &a->on.id, a->on.agent);

	(void)go_on;
	if (map_get(&n->subjects, key))
		return STATUS_OK;
	map_put(&n->subjects, key, n);
	if (str_eq(a->on.kind, STR("session")) ? annotation_in(g->store, &a->on.id, add_note, n, err)
					       : annotation_of(g->store, &a->on.id, a->on.agent, add_note, n, err))
		return err_failed(err->status);
	return place(g->store, n, &a->on, err);
}

static enum status add_tagged_session(void *ctx, int64_t session, const struct uuid *id, struct str tag,
				      struct err *err)
{
	struct gathering *g = ctx;

	(void)tag;
	add_range(g->noted, session, 0, INT64_MAX, NOTED_ALL);
	return annotation_in(g->store, id, add_note, g->noted, err);
}

enum status noted_by_tag(struct store *s, struct str tag, struct noted *out, struct err *err)
{
	struct gathering g = { s, out };

	if (annotation_tagged(s, tag, gather, &g, err) || tag_sessions(s, tag, add_tagged_session, &g, err))
		return err_failed(err->status);
	settle(out);
	return STATUS_OK;
}

enum status noted_by_kind(struct store *s, enum annotation_kind kind, struct noted *out, struct err *err)
{
	struct gathering g = { s, out };

	if (annotation_each(s, kind, gather, &g, err))
		return err_failed(err->status);
	settle(out);
	return STATUS_OK;
}

/* ---- Asking ----------------------------------------------------------------------- */

/* How many begin at or before a place. */
static size_t count_before(const struct noted *n, int64_t session, int64_t offset)
{
	size_t low = 0, high = n->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct noted_range *r = &n->ranges[mid];

		if (r->session < session || (r->session == session && r->from <= offset))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool noted_has(const struct noted *n, const struct doc *doc)
{
	if (doc->session == DOC_NOTES)
		return n->note_count &&
		       bsearch(&doc->offset, n->notes, n->note_count, sizeof *n->notes, by_number);
	for (size_t i = count_before(n, doc->session, doc->offset); i-- > 0;) {
		const struct noted_range *r = &n->ranges[i];

		if (r->session != doc->session)
			return false;
		if (doc->offset < r->to && (r->block == NOTED_ALL || r->block == (int32_t)doc->block))
			return true;
		if (r->from < doc->offset)
			return false;
	}
	return false;
}

bool noted_has_session(const struct noted *n, int64_t session)
{
	size_t i = count_before(n, session, INT64_MAX);

	return i > 0 && n->ranges[i - 1].session == session;
}

/* ---- Conditions ------------------------------------------------------------------- */

static bool asks_kind(const struct expr_condition *c, enum annotation_kind *out)
{
	*out = str_eq(c->value, STR("noted")) ? ANNOTATION_NOTE : ANNOTATION_BOOKMARK;
	return c->field == EXPR_IS && (*out == ANNOTATION_NOTE || str_eq(c->value, STR("bookmarked")));
}

static bool is_asked(const struct expr_condition *c)
{
	enum annotation_kind ignored;

	return c->field == EXPR_TAG || asks_kind(c, &ignored);
}

void noted_conditions_release(struct noted_conditions *c)
{
	for (size_t i = 0; c->sets && i < c->expr->condition_count; i++)
		noted_release(&c->sets[i]);
	mem_free(c->sets);
	*c = (struct noted_conditions)NOTED_CONDITIONS_INIT;
}

enum status noted_conditions_read(struct noted_conditions *c, struct store *s, const struct expr *e,
				  struct err *err)
{
	*c = (struct noted_conditions){ .expr = e };
	for (size_t i = 0; i < e->condition_count; i++)
		c->any |= is_asked(&e->conditions[i]);
	if (!c->any)
		return STATUS_OK;
	c->sets = mem_alloc(e->condition_count * sizeof *c->sets);
	for (size_t i = 0; i < e->condition_count; i++) {
		const struct expr_condition *o = &e->conditions[i];
		enum annotation_kind kind;

		if (o->field == EXPR_TAG ? noted_by_tag(s, o->value, &c->sets[i], err)
					 : asks_kind(o, &kind) && noted_by_kind(s, kind, &c->sets[i], err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

bool noted_conditions_hold(const struct noted_conditions *c, const struct doc *doc)
{
	bool asked = false, tagged = false;

	for (size_t i = 0; c->any && i < c->expr->condition_count; i++) {
		const struct expr_condition *o = &c->expr->conditions[i];
		bool yes;

		if (!is_asked(o))
			continue;
		yes = noted_has(&c->sets[i], doc);
		if (o->field == EXPR_TAG && !o->excluded) {
			asked = true;
			tagged |= yes;
		} else if (yes == o->excluded) {
			return false;
		}
	}
	return !asked || tagged;
}
