/*
 * What an id stands for that is not what a call wanted.
 *
 * Trees, nodes and conversations are found in different places, and who looks in one of them only
 * knows that it is not there. "There is no node X" is false when X is a tree, or a part of a conversation: a
 * person then looks for a mistake in the id. So before such an error leaves, the other places are asked.
 */
#include "hub/arbor_absent.h"

#include "hub/arbor_find.h"
#include "hub/resolve.h"
#include "store/tree_graft.h"

static bool wants_tree(enum absent wanted)
{
	return wanted == ABSENT_TREE || wanted == ABSENT_TREE_MADE;
}

/* A made tree where a node was wanted. */
static bool is_made_tree(struct call *c, struct str text, enum absent wanted, struct err *err)
{
	char tree[UUID_TEXT + 1], root[UUID_TEXT + 1];
	struct uuid id;
	struct tree t;
	struct err ignored;

	if (wants_tree(wanted) || tree_find(c->store, text, &id, &ignored) ||
	    tree_get(c->store, &id, &c->mem, &t, &ignored) || tree_is_graft(&t))
		return false;
	uuid_print(&t.id, tree);
	uuid_print(&t.root_id, root);
	err_set(err, STATUS_NOT_FOUND, "%s is a tree and no node; its first node is %s", tree, root);
	return true;
}

/* A made node where a tree was wanted, or one of another tree. */
static bool is_made_node(struct call *c, struct str text, enum absent wanted, struct err *err)
{
	char node[UUID_TEXT + 1], tree[UUID_TEXT + 1];
	struct tree_node n;
	struct uuid id;
	struct tree t;
	struct err ignored;

	if ((!wants_tree(wanted) && wanted != ABSENT_NODE_IN_MIRRORED) ||
	    tree_node_find(c->store, text, &id, &ignored) ||
	    tree_node_get(c->store, &id, NODE_SKELETON, &c->mem, &n, &ignored) || !n.row ||
	    tree_at(c->store, n.tree, &c->mem, &t, &ignored) || tree_is_graft(&t))
		return false;
	uuid_print(&n.id, node);
	uuid_print(&t.id, tree);
	if (wants_tree(wanted))
		err_set(err, STATUS_NOT_FOUND, "%s is a node and no tree; it is in the tree %s", node, tree);
	else
		err_set(err, STATUS_USAGE, "node %s is in a tree of its own, %s, and not in this conversation", node,
			tree);
	return true;
}

/* A conversation, or a part of one, where only something made will do. */
static bool is_mirrored(struct call *c, struct str text, enum absent wanted, struct err *err)
{
	char session[UUID_TEXT + 1];
	struct resolved what;
	struct err ignored;

	if (wanted == ABSENT_TREE || wanted == ABSENT_NODE || wanted == ABSENT_NODE_IN_MIRRORED ||
	    resolve_id(c->store, text, &c->mem, &what, &ignored))
		return false;
	uuid_print(&what.session.id, session);
	text = str_sub(text, 0, 60);
	if (wanted == ABSENT_TREE_MADE && (what.is_session || what.is_tree))
		err_set(err, STATUS_USAGE,
			"%.*s is a conversation, which stays as it was mirrored; 'arbor.note_set' and 'arbor.tag_set' "
			"say something about it",
			STR_ARG(text));
	else if (wanted == ABSENT_TREE_MADE)
		err_set(err, STATUS_NOT_FOUND, "%.*s is a part of the conversation %s and no tree", STR_ARG(text),
			session);
	else if (wanted == ABSENT_NODE_BESIDE)
		err_set(err, STATUS_NOT_FOUND, "%.*s is in the conversation %s, and not in this tree",
			STR_ARG(text), session);
	else
		err_set(err, STATUS_USAGE,
			"%.*s is in the conversation %s, which stays as it was mirrored; 'arbor.node_create_text %s "
			"--parent %.*s' makes a node of your own below it",
			STR_ARG(text), session, session, STR_ARG(text));
	return true;
}

enum status absent_explain(struct call *c, struct str text, enum absent wanted, struct err *err)
{
	struct str name;

	if (err->status != STATUS_NOT_FOUND)
		return err_failed(err->status);
	name = made_name(c, text);
	(void)(is_made_tree(c, name, wanted, err) || is_made_node(c, name, wanted, err) ||
	       is_mirrored(c, text, wanted, err));
	return err_failed(err->status);
}
