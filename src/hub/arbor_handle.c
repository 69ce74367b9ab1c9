/*
 * Handles in trees are checked when they are put there, and looked up only where somebody asks for what they
 * stand for.
 *
 * arbor::tree and arbor::node are what was made through arbor.*, as arbor.tree_get and arbor.node_get give
 * it; of a node that names something elsewhere the handle is given and not followed. Ids of what was mirrored
 * are taken, too: the answer says which handle of claudecode that is. arbor::note is what somebody wrote about
 * anything.
 */
#include "hub/arbor_handle.h"

#include "hub/arbor_find.h"
#include "hub/handle_node.h"
#include "hub/handle_resolve.h"
#include "hub/render.h"
#include "hub/window.h"
#include "query/grove.h"
#include "store/annotation.h"
#include "store/tree_graft.h"

/* ---- In trees ----------------------------------------------------------------------------- */

enum status tree_handle_check(struct str handle, struct uuid *plugin, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct handle h;

	if (handle_parse(handle, &mem, &h, err))
		return err_failed(err->status);
	*plugin = handle_plugin_id(&h);
	return STATUS_OK;
}

enum status tree_handle_line(struct call *c, struct str handle, struct buf *out, bool *found, struct err *err)
{
	enum { ENOUGH = 1024 }; /* bytes, of which a line shows the first */
	struct renderer r CLEANUP(renderer_release) = RENDERER_INIT(c);

	return render_handle(&r, handle, ENOUGH, out, found, err);
}

/* ---- Of trees ----------------------------------------------------------------------------- */

static enum status not_here(const struct resolving *r, struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND, "handle: this %.*s is not in this store",
			STR_ARG(r->handle->method));
}

static struct uuid id_of(const struct resolving *r)
{
	struct uuid id = { 0 };

	uuid_parse(handle_meta(r->handle, 0), &id);
	return id;
}

/* The one that the id of a conversation's first line names. */
static enum status put_mirrored_tree(struct resolving *r, struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	struct node_handle session;
	struct resolved what;
	struct grove_ref tree;
	bool is_there = false;

	if (resolve_id(r->call->store, handle_meta(r->handle, 0), r->mem, &what, err))
		return err->status == STATUS_NOT_FOUND ? not_here(r, err) : err_failed(err->status);
	if (what.is_tree && (grove_load(r->call->store, what.session.row, &g, err) ||
			     grove_find(&g, &what.node, &tree, &is_there, err)))
		return err_failed(err->status);
	if (!is_there || tree.kind != GROVE_TREE)
		return err_fail(err, STATUS_FORMAT, "handle: what has this id is no tree");
	if (handle_of_session(r->call->store, &what.session, &session, err))
		return err_failed(err->status);
	put_uuid(r->w, "id", &g.trees[tree.at].id);
	put_text(r->w, "owner", STR("mirror"));
	put_text(r->w, "title", what.session.title);
	put_path(r->w, "project", what.session.project);
	put_handle_as(r->w, "of", &session);
	put_int(r->w, "turns", g.trees[tree.at].turn_count);
	put_int(r->w, "messages", g.trees[tree.at].message_count);
	put_int(r->w, "events", g.trees[tree.at].event_count);
	return STATUS_OK;
}

static enum status resolve_tree(struct resolving *r, struct err *err)
{
	struct uuid id = id_of(r);
	enum status status;
	struct tree t;
	int64_t nodes;

	status = tree_get(r->call->store, &id, r->mem, &t, err);
	if (status)
		return status == STATUS_NOT_FOUND ? put_mirrored_tree(r, err) : status;
	if (tree_is_graft(&t))
		return put_mirrored_tree(r, err);
	if (life_alive(&(struct subject){ SUBJECT_TREE, t.id }, &t.life, err) ||
	    tree_count(r->call->store, t.row, &nodes, err))
		return err_failed(err->status);
	put_tree(r->w, &t);
	put_int(r->w, "nodes", nodes);
	return STATUS_OK;
}

/* Whatever it is, its own handle says so. */
static enum status put_mirrored_node(struct resolving *r, struct err *err)
{
	struct handle handle;

	if (handle_of_mirrored(r->call->store, handle_meta(r->handle, 0), r->mem, &handle, err))
		return err->status == STATUS_NOT_FOUND ? not_here(r, err) : err_failed(err->status);
	put_text(r->w, "id", handle_meta(r->handle, 0));
	put_text(r->w, "kind", STR("mirrored"));
	put_text(r->w, "handle", handle_text(&handle, r->mem));
	return STATUS_OK;
}

static enum status resolve_node(struct resolving *r, struct err *err)
{
	struct window window = { .from = (size_t)r->from, .left = (size_t)r->most };
	struct made_node m = { 0 };
	struct uuid id = id_of(r);
	struct str content, part;
	enum status status;

	status = tree_node_get(r->call->store, &id, NODE_WHOLE, r->mem, &m.node, err);
	if (status)
		return status == STATUS_NOT_FOUND ? put_mirrored_node(r, err) : status;
	m.life = m.node.life;
	if (m.node.row && tree_at(r->call->store, m.node.tree, r->mem, &m.tree, err))
		return err_failed(err->status);
	if (m.node.row && m.node.kind == TREE_NODE_ROOT && tree_is_graft(&m.tree))
		return put_mirrored_node(r, err);
	if (m.node.row)
		m.life = life_within(&m.node.life, &m.tree.life);
	if (life_alive(&(struct subject){ SUBJECT_NODE, m.node.id }, &m.life, err))
		return err_failed(err->status);
	content = m.node.content;
	part = str_sub(content, window.from, window.left);
	m.node.content = window_trim(part, window.from > 0, window.from + part.n < content.n);
	put_node(r->w, &m);
	if (content.p)
		put_window_size(r->w, content.n, m.node.content.n, &window);
	if (m.node.kind == TREE_NODE_TEXT && m.node.role != ROLE_NOTE)
		r->kind = CONTENT_MESSAGE;
	return STATUS_OK;
}

/* ---- Of notes ----------------------------------------------------------------------------- */

static enum status resolve_note(struct resolving *r, struct err *err)
{
	static const enum annotation_kind tried[] = { ANNOTATION_NOTE, ANNOTATION_BOOKMARK, ANNOTATION_TAG };
	struct annotation a;
	size_t count = 0;

	for (size_t i = 0; i < COUNT(tried) && !count; i++)
		if (annotation_search(r->call->store, tried[i], handle_meta(r->handle, 0), r->mem, &a, 1, &count, err))
			return err_failed(err->status);
	if (!count)
		return not_here(r, err);
	put_uuid(r->w, "id", &a.id);
	put_text(r->w, "kind", str_of(annotation_kind_name(a.kind)));
	if (a.kind == ANNOTATION_NOTE)
		put_text(r->w, "text", a.text);
	else
		put_text(r->w, "name", a.name);
	put_text(r->w, "author", a.author);
	put_time(r->w, "created", a.created_at);
	put_time(r->w, "updated", a.updated_at);
	put_text(r->w, "on", a.on.kind);
	put_uuid(r->w, "subject", &a.on.id);
	if (a.on.agent.n)
		put_text(r->w, "agent", a.on.agent);
	if (a.on.in_session)
		put_uuid(r->w, "session", &a.on.session);
	return STATUS_OK;
}

/* ---- The table ---------------------------------------------------------------------------- */

static const struct meta_field tree_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the tree" },
	{ 0 },
};

static const struct meta_field node_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the node" },
	{ 0 },
};

#define LIFE_FIELDS \
	{ .name = "state", \
	  .type = VALUE_ENUM, \
	  .choices = life_state_names, \
	  .flags = FIELD_OPTIONAL, \
	  .help = "where it is in its lifecycle" }, \
		{ .name = "due", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when it moves on" }, \
		{ .name = "since", \
		  .type = VALUE_TIME, \
		  .flags = FIELD_OPTIONAL, \
		  .help = "when it came into this state" }, \
	{ \
		.name = "metadata", .type = VALUE_JSON, .flags = FIELD_OPTIONAL, .help = "as it was given" \
	}

/* Those of arbor.tree_get, or of what was mirrored. */
static const struct field tree_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the tree" },
	{ .name = "owner", .type = VALUE_TEXT, .help = "who made it; 'mirror' = it was mirrored" },
	{ .name = "root", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "its root node" },
	LIFE_FIELDS,
	{ .name = "created", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when" },
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL,
	  .help = "when its metadata was last set" },
	{ .name = "handle", .type = VALUE_HANDLE, .flags = FIELD_OPTIONAL, .help = "made: what names it everywhere" },
	{ .name = "nodes", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "how many it has" },
	{ .name = "of",
	  .type = VALUE_HANDLE,
	  .flags = FIELD_OPTIONAL,
	  .help = "mirrored: the session it begins in" },
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "mirrored: of that" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL,
	  .help = "mirrored: folder it worked in" },
	{ .name = "turns", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "mirrored: how many" },
	{ .name = "messages", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "mirrored: how many" },
	{ .name = "events", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "mirrored: how many" },
	{ 0 },
};

static const char *const node_kinds[] = { "root", "text", "external", "mirrored", NULL };

static const struct field node_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the node" },
	{ .name = "kind", .type = VALUE_ENUM, .choices = node_kinds, .help = "what it is" },
	{ .name = "handle",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "external: as it was given; mirrored: its own" },
	{ .name = "content", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "text: what it says" },
	WINDOW_FIELDS,
	{ .name = "role",
	  .type = VALUE_ENUM,
	  .choices = tree_node_roles,
	  .flags = FIELD_OPTIONAL,
	  .help = "text: how it counts in a model's context" },
	{ .name = "tree", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "it is in" },
	{ .name = "parent", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "what contains it" },
	{ .name = "prev", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "what it follows" },
	{ .name = "depth", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "steps from the root" },
	{ .name = "position",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "among its siblings, from 1 on" },
	LIFE_FIELDS,
	{ .name = "ephemeral", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, .help = "it was made to go" },
	{ .name = "created", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when it was made" },
	{ .name = "replaces",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "the node it is an update of" },
	{ 0 },
};

static const struct meta_field note_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the note" },
	{ 0 },
};

static const char *const note_kinds[] = { "note", "bookmark", "tag", NULL };

static const struct field note_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the note" },
	{ .name = "kind", .type = VALUE_ENUM, .choices = note_kinds, .help = "what it is" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "note: what it says" },
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "bookmark, tag: what it is called" },
	{ .name = "author", .type = VALUE_TEXT, .help = "who wrote it" },
	{ .name = "created", .type = VALUE_TIME, .help = "when" },
	{ .name = "updated", .type = VALUE_TIME, .help = "when it was last written" },
	{ .name = "on", .type = VALUE_TEXT, .help = "what kind of thing it is on" },
	{ .name = "subject", .type = VALUE_ID, .help = "id of that; of a sub-agent its conversation's" },
	{ .name = "agent", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "the sub-agent it is on" },
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "the conversation it is on, or in" },
	{ 0 },
};

const struct handle_kind arbor_handle_kinds[] = {
	{ .method = "tree",
	  .summary = "a tree, made or mirrored",
	  .kind = CONTENT_DOCUMENT,
	  .meta = tree_meta,
	  .fields = tree_data,
	  .need = NEED_STORE,
	  .resolve = resolve_tree },
	{ .method = "node",
	  .summary = "a node of one",
	  .kind = CONTENT_DOCUMENT,
	  .meta = node_meta,
	  .fields = node_data,
	  .need = NEED_STORE,
	  .resolve = resolve_node },
	{ .method = "note",
	  .summary = "what somebody noted; a bookmark or tag",
	  .kind = CONTENT_DOCUMENT,
	  .meta = note_meta,
	  .fields = note_data,
	  .need = NEED_STORE,
	  .resolve = resolve_note },
	{ 0 },
};
