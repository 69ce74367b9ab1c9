/*
 * arbor.tree_render: a tree as text, a line a node. (Mirrored ones are drawn in mirrored_tree.c.)
 *
 *     7ee0a000 user {"topic":"release"}
 *     ├─ a0de0100 user: What is left to do?
 *     │  └─ a0de0200 assistant: Two things ...
 *     └─ a0de0300 → notes@1.0.0::note:17
 *
 * A line is no wider than asked for and shows the last levels only, with the number of those that are left out in
 * front, so its length does not grow with the depth and a tree takes as long as it has nodes. What is drawn in
 * front of a node follows from whether the nodes above it have siblings to come, which the walk looks up: a page
 * begins anywhere without what is before it.
 */
#include "hub/arbor_methods.h"

#include "base/utf8.h"
#include "hub/arbor_find.h"
#include "hub/arbor_handle.h"
#include "hub/arbor_render.h"
#include "hub/mirrored_methods.h"
#include "hub/resolve.h"

/* Columns: of a level, and of the number of those that are left out. */
enum { LEVELS = 20, INDENT = 3, LEFT_OUT = 11, NARROWEST = 40, WIDEST = 1000 };

static const struct param render_params[] = {
	TREE_PARAM,
	{ .name = "node",
	  .type = VALUE_TEXT,
	  .shown = "NODE",
	  .help = "only this node and what is below it" },
	{ .name = "width",
	  .type = VALUE_INT,
	  .letter = 'w',
	  .initial = "100",
	  .least = NARROWEST,
	  .most = WIDEST,
	  .help = "columns of a line, of which the tree itself takes at most half" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "500",
	  .least = 1,
	  .most = 100000,
	  .help = "at most so many nodes" },
	{ .name = "after", .type = VALUE_TEXT, .shown = "NODE", .help = "go on behind this node" },
	{ 0 },
};

struct drawing {
	struct call *call;
	struct tree tree;
	struct tree_walk walk;
	int64_t top_depth;
	int width;
	struct buf line;
	struct buf words; /* what a line says, as long as it is */
};

static void drawing_release(struct drawing *d)
{
	walk_release(&d->walk);
	buf_release(&d->line);
	buf_release(&d->words);
}

/* ---- A line --------------------------------------------------------------------- */

static int levels_shown(int width, int64_t level)
{
	int most = width / 2 / INDENT;

	most = most < LEVELS ? most : LEVELS;
	if (level <= most)
		return (int)level;
	most = (width / 2 - LEFT_OUT) / INDENT;
	return most < LEVELS ? most : LEVELS;
}

enum status draw_front(struct buf *line, int width, int64_t level, draw_next_fn *fn, void *ctx, int *used,
			 struct err *err)
{
	int shown = levels_shown(width, level);
	size_t before = line->n;
	bool next;

	if (level > shown)
		buf_printf(line, "(+%" PRId64 ") ", level - shown);
	*used = (int)(line->n - before) + INDENT * shown;
	for (int above = shown - 1; above >= 0; above--) {
		if (fn(ctx, above, &next, err))
			return err_failed(err->status);
		if (above)
			buf_text(line, next ? "│  " : "   ");
		else
			buf_text(line, next ? "├─ " : "└─ ");
	}
	return STATUS_OK;
}

void draw_node(struct buf *line, const struct uuid *id, struct str words, int columns)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	buf_printf(line, "%.*s ", RESOLVE_SHOWN, text);
	utf8_line(line, words, columns - RESOLVE_SHOWN - 1);
}

enum status draw_end(struct call *c, struct buf *line, struct err *err)
{
	enum status status;

	if (line->n && line->p[line->n - 1] == ' ') /* it says nothing */
		line->n--;
	buf_byte(line, '\n');
	status = call_bytes(c, buf_as_str(line), err);
	buf_clear(line);
	return status;
}

enum status draw_more(struct call *c, const struct uuid *last, struct buf *line, struct err *err)
{
	char id[UUID_TEXT + 1];

	uuid_print(last, id);
	buf_printf(line, "… goes on after %s", id);
	return draw_end(c, line, err);
}

static enum status has_next(void *ctx, int64_t above, bool *next, struct err *err)
{
	struct drawing *d = ctx;

	return walk_has_next(&d->walk, (size_t)above, next, err);
}

/* No more of a text than could be shown: wide enough even if half of it were blanks. */
static struct str beginning(struct str text)
{
	return str_sub(text, 0, 16 * WIDEST);
}

/* Why there is only the handle. That nobody here knows such handles is usual, and says nothing of this one. */
static const char *why_not(enum status status)
{
	return status == STATUS_GONE	      ? " (gone)"
	       : status == STATUS_NOT_FOUND   ? " (not found)"
	       : status == STATUS_UNREACHABLE ? " (no answer)"
	       : status == STATUS_UNSUPPORTED ? ""
					      : " (failed)";
}

/* What a handle stands for, or the handle. */
static enum status say_handle(struct call *c, struct str handle, struct buf *words, struct err *err)
{
	size_t before = words->n;
	bool found = false;

	if (tree_handle_line(c, handle, words, &found, err))
		return err_failed(err->status);
	if (!found) {
		words->n = before;
		buf_str(words, handle);
		buf_text(words, why_not(err->status));
	}
	return STATUS_OK;
}

enum status render_words(struct call *c, const struct made_node *m, struct buf *words, struct err *err)
{
	const struct tree_node *n = &m->node;

	if (m->life.state == LIFE_SCHEDULED)
		buf_text(words, "(scheduled) ");
	switch (n->kind) {
	case TREE_NODE_ROOT:
		buf_str(words, m->tree.owner);
		buf_byte(words, ' ');
		buf_str(words, beginning(m->tree.metadata));
		break;
	case TREE_NODE_TEXT:
		if (n->role != ROLE_NOTE)
			buf_printf(words, "%s: ", tree_node_roles[n->role]);
		buf_str(words, beginning(n->content));
		break;
	case TREE_NODE_EXTERNAL:
		buf_text(words, "→ ");
		return say_handle(c, n->handle, words, err);
	}
	return STATUS_OK;
}

static enum status draw_line(struct drawing *d, int64_t row, struct uuid *id, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct made_node m;
	int used;

	buf_clear(&d->words);
	if (load_node(d->call, &d->tree, row, NODE_WHOLE, &mem, &m, err) ||
	    draw_front(&d->line, d->width, m.node.depth - d->top_depth, has_next, d, &used, err) ||
	    render_words(d->call, &m, &d->words, err))
		return err_failed(err->status);
	*id = m.node.id;
	draw_node(&d->line, m.node.kind == TREE_NODE_ROOT ? &d->tree.id : &m.node.id, buf_as_str(&d->words),
		    d->width - used);
	return draw_end(d->call, &d->line, err);
}

/* ---- A page --------------------------------------------------------------------- */

static enum status draw_page(struct drawing *d, struct err *err)
{
	struct uuid last = { 0 };
	int64_t row;

	for (int64_t count = 0;; count++) {
		if (walk_next(&d->walk, &row, err))
			return err_failed(err->status);
		if (!row || is_full(d->call, count))
			break;
		if (draw_line(d, row, &last, err))
			return err_failed(err->status);
	}
	return row ? draw_more(d->call, &last, &d->line, err) : STATUS_OK;
}

static enum status draw_tree(struct call *c, const struct tree *t, struct err *err)
{
	struct drawing d CLEANUP(drawing_release) = { .call = c,
						      .tree = *t,
						      .width = (int)call_int(c, "width"),
						      .line = BUF_INIT(64 * KIB),
						      .words = BUF_INIT(LIMIT_NODE_TEXT + KIB) };
	struct made_node top = { 0 };

	if (call_text(c, "node").p && find_node(c, "node", t->row, false, &top, err))
		return err_failed(err->status);
	if (walk_tree(c, t, top.node.row, false, &d.walk, err))
		return err_failed(err->status);
	d.top_depth = top.node.depth;
	return draw_page(&d, err);
}

static enum status run_render(struct call *c, struct err *err)
{
	return with_tree(c, &(struct tree_ways){ .made = draw_tree, .mirrored = mirrored_tree_render }, err);
}

const struct method arbor_tree_render = {
	.name = "tree_render",
	.summary = "Draw a tree as text",
	.text = "A line a node: the beginning of its id, the role of a text, and how it begins; of a handle "
		"what it stands "
		"for, where that can be had, else the handle and why. Below many levels only the last ones "
		"are drawn, with the number "
		"of the others in "
		"front. When there is more, the last line says after which node it goes on.\n",
	.params = render_params,
	.kind = RESULT_RAW,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call arbor.tree_render 7ee0 --width 80",
						"for a narrow terminal" },
					      { 0 } },
	.run = run_render,
};
