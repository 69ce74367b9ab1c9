/*
 * Mirrored nodes: found, with where they are in their lifecycle and what hangs on them.
 *
 * A tree is computed from the lines of all files that belong to it, which takes milliseconds; so a call loads
 * it once and answers everything from that.
 */
#include "hub/mirrored.h"

#include "hub/arbor_absent.h"
#include "hub/resolve.h"
#include "store/tree_graft.h"

void mirrored_release(struct mirrored *m)
{
	lines_set_release(&m->lines);
	buf_release(&m->text);
	grove_release(&m->grove);
	read_end(&m->snapshot);
}

void mirrored_end_reading(struct mirrored *m)
{
	read_end(&m->snapshot);
}

/* ---- Finding ----------------------------------------------------------------- */

static enum status find_ref(struct mirrored *m, const struct resolved *what, struct err *err)
{
	bool is_there = false;

	if (!what->is_session && what->session.old)
		return err_fail(err, STATUS_NOT_FOUND,
				"only an older version of its file has this line, so it is in no tree; "
				"'arbor show' prints it");
	if ((!what->is_session || what->is_tree) &&
	    grove_find(&m->grove, &what->node, &m->ref, &is_there, err))
		return err_failed(err->status);
	/* A file that had the line that named its tree once is in that tree still. */
	if (!is_there && what->is_session) {
		m->ref = (struct grove_ref){ GROVE_TREE, grove_tree_of_source(&m->grove, m->grove.source),
					     0 };
		is_there = m->ref.at != FOREST_NONE;
	}
	if (!is_there)
		return err_fail(err, STATUS_NOT_FOUND, "this is in no tree; 'arbor show' prints it");
	return STATUS_OK;
}

enum status mirrored_subject(struct mirrored *m, uint32_t tree, struct uuid *out, struct err *err)
{
	const struct grove *g = &m->grove;
	struct store *s = m->call->store;
	bool has, found = false;

	*out = g->trees[tree].id;
	if (store_has(s, STORE_TREES, &has, err) || (has && claim_is_written(s, out, &found, err)))
		return err_failed(err->status);
	for (uint32_t i = 0; has && !found && i < g->trees[tree].names.count; i++) {
		uint32_t n = g->named[g->trees[tree].names.start + i];
		struct node_name name;
		struct uuid id;

		if (forest_name(s, &g->forest, n, &m->call->mem, &name, err))
			return err_failed(err->status);
		id = node_id(&name, PART_TREE);
		if (claim_is_written(s, &id, &found, err))
			return err_failed(err->status);
		if (found)
			*out = id;
	}
	return STATUS_OK;
}

enum status mirrored_life(struct mirrored *m, struct grove_ref r, struct life *out, struct err *err)
{
	uint32_t tree = grove_tree(&m->grove, r);
	struct uuid subject;

	if (tree != m->life_of) {
		m->life_of = FOREST_NONE;
		m->life = (struct life){ 0 };
		if (tree != FOREST_NONE && (mirrored_subject(m, tree, &subject, err) ||
					    life_get(m->call->store, &subject, &m->life, err)))
			return err_failed(err->status);
		m->life_of = tree;
	}
	*out = m->life;
	return STATUS_OK;
}

static enum status check_gate(struct mirrored *m, enum gate gate, struct err *err)
{
	struct subject what = { .kind = SUBJECT_TREE };
	uint32_t tree = grove_tree(&m->grove, m->ref);
	struct life life;

	if (tree == FOREST_NONE)
		return STATUS_OK;
	what.id = m->grove.trees[tree].id;
	return mirrored_life(m, m->ref, &life, err) ? err_failed(err->status)
						    : pass_gate(gate, &what, &life, err);
}

/* A tree that is named beside a node is where that must be. */
static enum status check_tree(struct mirrored *m, struct err *err)
{
	struct str text = call_if_has(m->call, "tree");
	struct grove_ref tree;

	return m->ref.kind == GROVE_TREE || !text.p ? STATUS_OK
						    : mirrored_find_in(m, "tree", text, &tree, err);
}

static enum status resolve(struct mirrored *m, struct str text, struct resolved *out, struct err *err)
{
	enum status status = resolve_id(m->call->store, text, &m->call->mem, out, err);
	struct uuid low, high;

	if (status == STATUS_NOT_FOUND && uuid_range(text, &low, &high))
		return err_fail(err, STATUS_NOT_FOUND, "no tree or node %s '%.*s', made or mirrored",
				uuid_parse(text, &low) ? "is called" : "begins with", STR_ARG(text));
	return status;
}

static enum status load(struct mirrored *m, struct str text, struct err *err)
{
	struct resolved what;

	if (read_join(m->call->store, &m->snapshot, err) || resolve(m, text, &what, err) ||
	    grove_load(m->call->store, what.session.row, &m->grove, err) ||
	    tree_has_grafts(m->call->store, &m->grafts, err))
		return err_failed(err->status);
	return find_ref(m, &what, err);
}

enum status mirrored_find(struct call *c, struct str text, enum gate gate, struct mirrored *out,
			  struct err *err)
{
	*out = (struct mirrored){ .call = c,
				  .lines = { .store = c->store },
				  .text = BUF_INIT(2 * LIMIT_LINE_PARSED),
				  .life_of = FOREST_NONE };
	if (load(out, text, err) || check_tree(out, err))
		return err_failed(err->status);
	return check_gate(out, gate, err);
}

enum status mirrored_find_in(struct mirrored *m, const char *param, struct str text, struct grove_ref *out,
			     struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct resolved what;
	bool is_there = false;

	if (resolve_id(m->call->store, text, &mem, &what, err) &&
	    absent_explain(m->call, text, ABSENT_NODE_IN_MIRRORED, err))
		return err_pass(err, "%s", param);
	if ((!what.is_session || what.is_tree) && grove_find(&m->grove, &what.node, out, &is_there, err))
		return err_failed(err->status);
	for (uint32_t i = 0; !is_there && what.is_session && i < m->grove.forest.source_count; i++)
		if (m->grove.forest.sources[i].session.row == what.session.row &&
		    !m->grove.forest.sources[i].embedded) {
			*out = (struct grove_ref){ GROVE_TREE, grove_tree_of_source(&m->grove, i), 0 };
			is_there = out->at != FOREST_NONE;
		}
	if (is_there && grove_tree(&m->grove, *out) == grove_tree(&m->grove, m->ref))
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE, "%s: this is no node of the same tree", param);
}

/* ---- Made nodes that hang on it ------------------------------------------------ */

/* Every id that leads to a node, the one it has now among them. */
struct ids {
	struct mirrored *m;
	int64_t *rows;
	size_t count, cap;
};

static enum status try_id(struct ids *x, uint32_t node, int part, struct err *err)
{
	struct store *s = x->m->call->store;
	struct node_name name;
	struct uuid id;
	int64_t row;

	if (forest_name(s, &x->m->grove.forest, node, &x->m->call->mem, &name, err))
		return err_failed(err->status);
	id = node_id(&name, part);
	if (tree_graft_row(s, &id, &row, err))
		return err_failed(err->status);
	if (!row)
		return STATUS_OK;
	if (x->count == x->cap) {
		int64_t *more = arena_alloc(&x->m->call->mem, (x->cap ? 2 * x->cap : 4) * sizeof *more);

		for (size_t i = 0; i < x->count; i++)
			more[i] = x->rows[i];
		x->rows = more;
		x->cap = x->cap ? 2 * x->cap : 4;
	}
	x->rows[x->count++] = row;
	return STATUS_OK;
}

static enum status try_tree(struct ids *x, uint32_t tree, struct err *err)
{
	const struct grove *g = &x->m->grove;

	for (uint32_t i = 0; i < g->trees[tree].names.count; i++)
		if (try_id(x, g->named[g->trees[tree].names.start + i], PART_TREE, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* Of all copies of a message, with one line or another. */
static enum status try_copies(struct ids *x, uint32_t message, uint32_t equal, int part, struct err *err)
{
	const struct forest *f = &x->m->grove.forest;

	for (uint32_t c = message; c != FOREST_NONE; c = f->messages[c].next_copy) {
		if (equal == FOREST_NONE) {
			if (try_id(x, f->messages[c].first, part, err))
				return err_failed(err->status);
			continue;
		}
		for (uint32_t n = f->messages[c].first; n != FOREST_NONE; n = f->nodes[n].next)
			if (forest_line(f, n)->content == forest_line(f, equal)->content &&
			    try_id(x, n, part, err))
				return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status try_event(struct ids *x, const struct grove_event *e, struct err *err)
{
	struct grove_ref r = { GROVE_EVENT, (uint32_t)(e - x->m->grove.events), 0 };
	struct uuid id;
	int64_t row;

	if (grove_id(&x->m->grove, r, &id, err) || tree_graft_row(x->m->call->store, &id, &row, err))
		return err_failed(err->status);
	if (!row)
		return STATUS_OK;
	x->rows = arena_alloc(&x->m->call->mem, sizeof *x->rows);
	x->rows[x->count++] = row;
	return STATUS_OK;
}

enum status mirrored_grafts(struct mirrored *m, struct grove_ref r, int64_t **rows, size_t *count,
			    struct err *err)
{
	struct ids x = { .m = m };
	uint32_t line = r.kind == GROVE_TURN ? m->grove.turns.list[r.at].line : FOREST_NONE;
	enum status status = STATUS_OK;

	*rows = NULL;
	*count = 0;
	if (!m->grafts)
		return STATUS_OK;
	switch (r.kind) {
	case GROVE_TREE:
		status = try_tree(&x, r.at, err);
		break;
	case GROVE_TURN:
		if (line != m->grove.forest.messages[r.at].first)
			status = try_id(&x, line, PART_TURN, err);
		status = status ? status : try_copies(&x, r.at, FOREST_NONE, PART_TURN, err);
		break;
	case GROVE_MESSAGE:
		status = try_copies(&x, r.at, FOREST_NONE, PART_MESSAGE, err);
		break;
	case GROVE_BLOCK:
		status = try_copies(&x, grove_message(&m->grove, r), r.at, r.part, err);
		break;
	case GROVE_EVENT:
		status = try_event(&x, &m->grove.events[r.at], err);
		break;
	}
	*rows = x.rows;
	*count = x.count;
	return status;
}

enum status mirrored_below(struct call *c, const struct made_node *n, struct mirrored *out, struct err *err)
{
	struct tree_node *steps;
	char id[UUID_TEXT + 1];
	size_t count;

	*out = (struct mirrored){ 0 };
	if (tree_path(c->store, 0, n->node.row, &c->mem, &steps, &count, err))
		return err_failed(err->status);
	uuid_print(&steps[0].id, id);
	return mirrored_find(c, arena_str(&c->mem, str_of(id)), GATE_ANY, out, err);
}

enum status mirrored_place(struct mirrored *m, struct made_node *n, int64_t behind, struct err *err)
{
	uint32_t own = 0;

	n->tree.id = m->grove.trees[grove_tree(&m->grove, m->ref)].id;
	if (n->node.depth == 1) {
		if (grove_id(&m->grove, m->ref, &n->node.parent_id, err) ||
		    (behind < 0 && grove_count(&m->grove, m->ref, &own, err)))
			return err_failed(err->status);
		n->node.position = behind < 0 ? own + n->node.position : behind + 1;
	}
	n->node.depth += grove_depth(&m->grove, m->ref);
	return STATUS_OK;
}
