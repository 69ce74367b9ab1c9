/*
 * What was made, shown as conversations are.
 *
 * Who has an id does not want to know which command reads the thing: what 'arbor show', 'log' and 'tree' do
 * for a conversation they do for a tree of one's own, too. The methods of arbor.* (arbor_tree.c,
 * arbor_node.c) give all that is known of one.
 */
#include "hub/memory_made.h"

#include "claude/record.h"
#include "hub/arbor_find.h"
#include "hub/arbor_handle.h"
#include "hub/arbor_render.h"
#include "hub/attached.h"
#include "hub/handle_node.h"
#include "store/tree_graft.h"

enum { DRAWN = 300 }; /* bytes of a text in a drawing */

const char *const shown_roles[] = { "user", "assistant", "system", "note", NULL };

/* ---- Items ----------------------------------------------------------------------- */

static void put_state_if_any(struct json_writer *w, const struct life *l)
{
	if (l->state != LIFE_ACTIVE)
		put_text(w, "state", str_of(life_state_names[l->state]));
}

static void put_metadata(struct json_writer *w, struct str json)
{
	if (!json.p)
		return;
	json_write_key(w, STR("metadata"));
	json_write_raw(w, json);
}

static enum status give_tree(struct call *c, const struct tree *t, struct err *err)
{
	struct node_handle handle = handle_of_tree(&t->id);
	struct json_writer *w;
	int64_t nodes;

	if (life_alive(&(struct subject){ SUBJECT_TREE, t->id }, &t->life, err) ||
	    tree_count(c->store, t->row, &nodes, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_text(w, "kind", STR("tree"));
	put_uuid(w, "id", &t->id);
	put_handle(w, &handle);
	put_time(w, "at", t->created_at);
	put_text(w, "owner", t->owner);
	put_state_if_any(w, &t->life);
	put_int(w, "nodes", nodes);
	put_metadata(w, t->metadata);
	return put_attached_to(c, &t->id, STR(""), err) ? err_failed(err->status) : call_emit(c, err);
}

/* What a handle stands for, in a line. */
static enum status put_named(struct call *c, struct str handle, struct err *err)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(LIMIT_RENDERED);
	bool found = false;

	if (tree_handle_line(c, handle, &line, &found, err))
		return err_failed(err->status);
	put_text(&c->writer, "names", handle);
	if (found)
		put_text(&c->writer, "text", buf_as_str(&line));
	return STATUS_OK;
}

/* What a node says of itself, into an item that is open. */
static enum status put_made(struct call *c, const struct made_node *m, struct err *err)
{
	const struct tree_node *n = &m->node;
	struct node_handle handle = handle_of_made_node(&n->id);
	struct json_writer *w = &c->writer;

	put_text(w, "kind", STR("node"));
	put_uuid(w, "id", &n->id);
	put_handle(w, &handle);
	put_time(w, "at", n->created_at);
	if (n->kind == TREE_NODE_TEXT)
		put_text(w, "role", str_of(tree_node_roles[n->role]));
	put_state_if_any(w, &m->life);
	put_metadata(w, n->metadata);
	return put_attached_to(c, &n->id, STR(""), err);
}

static enum status give_node(struct call *c, const struct made_node *m, struct err *err)
{
	struct json_writer *w = call_begin(c);

	if (put_made(c, m, err) || (m->node.handle.p && put_named(c, m->node.handle, err)))
		return err_failed(err->status);
	if (m->node.content.p)
		put_text(w, "text", m->node.content);
	return call_emit(c, err);
}

/* ---- Finding --------------------------------------------------------------------- */

static enum status get_node(struct call *c, const struct uuid *id, struct made_node *out, struct err *err)
{
	*out = (struct made_node){ 0 };
	if (tree_node_get(c->store, id, NODE_WHOLE, &c->mem, &out->node, err) ||
	    (out->node.row && tree_at(c->store, out->node.tree, &c->mem, &out->tree, err)))
		return err_failed(err->status);
	out->life = out->node.row ? life_within(&out->node.life, &out->tree.life) : out->node.life;
	return life_alive(&(struct subject){ SUBJECT_NODE, out->node.id }, &out->life, err);
}

static enum status get_tree(struct call *c, const struct uuid *id, struct tree *out, struct err *err)
{
	if (tree_get(c->store, id, &c->mem, out, err))
		return err_failed(err->status);
	return life_alive(&(struct subject){ SUBJECT_TREE, out->id }, &out->life, err);
}

/* ---- memory.show ----------------------------------------------------------------- */

enum status show_made_tree(struct call *c, const struct uuid *id, struct err *err)
{
	struct tree t;

	return get_tree(c, id, &t, err) ? err_failed(err->status) : give_tree(c, &t, err);
}

static void walk_end(struct tree_walk *walk)
{
	walk_release(walk);
}

/* Through the nodes of a tree, its root included. */
typedef enum status visit_fn(struct call *c, const struct made_node *m, struct tree_walk *walk,
			     struct err *err);

static enum status walk_nodes(struct call *c, const struct tree *t, visit_fn *fn, struct err *err)
{
	struct tree_walk walk CLEANUP(walk_end) = { 0 };
	struct tree_node root;
	int64_t row;

	if (tree_node_get(c->store, &t->root_id, NODE_SKELETON, &c->mem, &root, err) ||
	    walk_begin(&walk, c->store, root.row, 0, false, err) || walk_next(&walk, &row, err))
		return err_failed(err->status);
	while (row) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct made_node m;

		if (call_is_cancelled(c))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (load_node(c, t, row, NODE_WHOLE, &mem, &m, err) ||
		    (m.node.kind != TREE_NODE_ROOT && fn(c, &m, &walk, err)) || walk_next(&walk, &row, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status visit_shown(struct call *c, const struct made_node *m, struct tree_walk *walk,
			       struct err *err)
{
	(void)walk;
	return give_node(c, m, err);
}

enum status show_made(struct call *c, const struct meant *what, struct err *err)
{
	struct made_node m;
	struct tree t;

	if (what->kind == MEANT_TREE)
		return get_tree(c, &what->id, &t, err) || give_tree(c, &t, err) ||
				       walk_nodes(c, &t, visit_shown, err)
			       ? err_failed(err->status)
			       : STATUS_OK;
	if (get_node(c, &what->id, &m, err))
		return err_failed(err->status);
	return m.node.kind == TREE_NODE_ROOT ? give_tree(c, &m.tree, err) : give_node(c, &m, err);
}

enum status show_note(struct call *c, const struct annotation *note, bool gone, struct err *err)
{
	struct node_handle handle = handle_of_note(&note->id);
	struct json_writer *w = call_begin(c);

	put_text(w, "kind", str_of(annotation_kind_name(note->kind)));
	put_uuid(w, "id", &note->id);
	put_handle(w, &handle);
	put_time(w, "at", note->updated_at);
	put_text(w, "author", note->author);
	put_text(w, "on", note->on.kind);
	put_uuid(w, "subject", &note->on.id);
	if (gone)
		put_bool(w, "gone", true);
	if (note->kind == ANNOTATION_NOTE)
		put_text(w, "text", note->text);
	else
		put_text(w, "name", note->name);
	return call_emit(c, err);
}

/* ---- memory.log ------------------------------------------------------------------ */

enum status made_path_find(struct call *c, const struct meant *what, struct made_path *out, struct err *err)
{
	char id[UUID_TEXT + 1];
	struct made_node m;
	struct tree t;
	int64_t row;

	*out = (struct made_path){ .call = c };
	if (what->kind == MEANT_TREE) {
		if (get_tree(c, &what->id, &t, err) || tree_newest(c->store, t.row, &row, err))
			return err_failed(err->status);
	} else {
		if (get_node(c, &what->id, &m, err))
			return err_failed(err->status);
		t = m.tree;
		row = m.node.row;
	}
	if (tree_path(c->store, 0, row, &c->mem, &out->steps, &out->count, err))
		return err_failed(err->status);
	if (tree_is_graft(&t)) {
		uuid_print(&out->steps[0].id, id);
		out->on = arena_str(&c->mem, str_of(id));
	}
	return STATUS_OK;
}

enum status made_path_show(const struct made_path *p, struct err *err)
{
	struct tree t;

	if (tree_at(p->call->store, p->steps[0].tree, &p->call->mem, &t, err) ||
	    (!p->on.p && give_tree(p->call, &t, err)))
		return err_failed(err->status);
	for (size_t i = 1; i < p->count; i++) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct made_node m;

		if (load_node(p->call, &t, p->steps[i].row, NODE_WHOLE, &mem, &m, err) ||
		    give_node(p->call, &m, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- memory.tree ----------------------------------------------------------------- */

static enum status visit_drawn(struct call *c, const struct made_node *m, struct tree_walk *walk,
			       struct err *err)
{
	struct buf words CLEANUP(buf_release) = BUF_INIT(LIMIT_NODE_TEXT + KIB);
	struct buf line CLEANUP(buf_release) = BUF_INIT(LIMIT_NODE_TEXT + KIB);
	struct json_writer *w = call_begin(c);
	bool next;

	if (walk_has_next(walk, 0, &next, err) || put_made(c, m, err) ||
	    (m->node.handle.p && render_words(c, m, &words, err)))
		return err_failed(err->status);
	if (m->node.content.p)
		buf_str(&words, m->node.content);
	put_int(w, "depth", m->node.depth);
	put_bool(w, "aside", true);
	if (!next)
		put_bool(w, "last", true);
	record_short(buf_as_str(&words), DRAWN, &line);
	put_text(w, "text", buf_as_str(&line));
	return call_emit(c, err);
}

enum status draw_made(struct call *c, const struct meant *what, struct err *err)
{
	struct made_node m;

	if (what->kind == MEANT_TREE ? get_tree(c, &what->id, &m.tree, err) : get_node(c, &what->id, &m, err))
		return err_failed(err->status);
	return give_tree(c, &m.tree, err) ? err_failed(err->status) : walk_nodes(c, &m.tree, visit_drawn, err);
}
