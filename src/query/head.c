/*
 * A head is a message and the last line of it that counts: a client that was killed leaves a message of which
 * only some lines are there. What the client noted behind it does not count: nothing goes on from that.
 *
 * Copies of a line in other files may stand for it, so ids come from the whole grove; which line it is, from
 * the file alone (chain_leaf()), as the client would find it.
 */
#include "query/head.h"

#include "query/grove.h"

static enum status take_ids(const struct grove *g, uint32_t message, uint32_t source, uint32_t line,
			    struct named_head *out, struct err *err)
{
	struct grove_ref ref = { .kind = GROVE_MESSAGE, .at = message };
	uint32_t tree = grove_tree(g, ref);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct node_name name;

	if (grove_id(g, ref, &out->head, err) ||
	    forest_name(g->store, &g->forest, g->forest.sources[source].nodes[line], &mem, &name, err))
		return err_failed(err->status);
	out->has_head = out->has_line = true;
	out->line = node_id(&name, PART_LINE);
	if (tree != FOREST_NONE) {
		out->has_tree = true;
		out->tree = g->trees[tree].id;
	}
	return STATUS_OK;
}

static enum status take_line(const struct grove *g, uint32_t source, uint32_t line, struct named_head *out,
			     struct err *err)
{
	uint32_t message = forest_message_above(&g->forest, source, &line);

	return message == FOREST_NONE ? STATUS_OK : take_ids(g, message, source, line, out, err);
}

static enum status find_head(struct store *s, int64_t row, struct named_head *out, struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;

	if (grove_load(s, row, &g, err))
		return err_failed(err->status);
	return take_line(&g, g.source, chain_leaf(&g.forest.sources[g.source].chain), out, err);
}

enum status head_of_session(struct store *s, const struct uuid *session, struct named_head *out,
			    struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct read_txn txn CLEANUP(read_end) = { 0 };
	int64_t *rows;
	size_t count;

	*out = (struct named_head){ 0 };
	if (read_join(s, &txn, err) || session_rows(s, session, STR(""), &mem, &rows, &count, err))
		return err_failed(err->status);
	if (!count)
		return STATUS_OK;
	out->has_session = true;
	out->session = *session;
	return find_head(s, rows[0], out, err);
}

enum status head_of_line(struct store *s, int64_t session, int64_t offset, struct named_head *out, struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	uint32_t source, line;

	*out = (struct named_head){ 0 };
	if (grove_load(s, session, &g, err))
		return err_failed(err->status);
	if (!forest_find_line(&g.forest, session, offset, &source, &line))
		return STATUS_OK;
	return take_line(&g, source, chain_said(&g.forest.sources[source].chain, line), out, err);
}
