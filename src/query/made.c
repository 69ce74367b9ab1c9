/*
 * What a made node belongs to: its tree, and the conversation it hangs on if it does.
 */
#include "query/made.h"

#include "query/variant.h"
#include "store/tree_graft.h"

/* The conversation that has a node, or whose tree is called so; 0 = it is not here. */
static enum status find_row(struct store *s, const struct uuid *id, int64_t *row, struct err *err)
{
	char text[UUID_TEXT + 1];
	struct id_match match;
	struct node node;
	size_t count = 0;
	bool found;

	*row = 0;
	if (node_place(s, id, 0, &node, &found, err))
		return err_failed(err->status);
	uuid_print(id, text);
	if (!found && name_search(s, str_from(text, UUID_TEXT), 0, &match, 1, &count, err))
		return err_failed(err->status);
	if (found || count)
		*row = found ? node.session : match.session;
	return STATUS_OK;
}

static enum status find_session(struct store *s, struct made_found *m, struct arena *mem, struct err *err)
{
	struct tree_node *steps;
	size_t count;
	int64_t row;

	if (!tree_is_graft(&m->tree))
		return STATUS_OK;
	if (tree_path(s, 0, m->node.row, mem, &steps, &count, err) || find_row(s, &steps[0].id, &row, err))
		return err_failed(err->status);
	return row ? session_get(s, row, mem, &m->session, err) : STATUS_OK;
}

enum status made_found(struct store *s, int64_t row, enum tree_node_part part, struct arena *mem,
		       struct made_found *out, struct err *err)
{
	*out = (struct made_found){ 0 };
	if (tree_node_at(s, row, part, mem, &out->node, err))
		return err->status == STATUS_NOT_FOUND ? err_fail(err, STATUS_CORRUPT,
								  "%s: the index has words of a node that is "
								  "not there; 'arbor rebuild' makes it anew",
								  store_path(s))
						       : err_failed(err->status);
	return tree_at(s, out->node.tree, mem, &out->tree, err) ? err_failed(err->status)
								: find_session(s, out, mem, err);
}
