/*
 * Copies of a line, from the forest of its transcript (query/forest.h): which stands for all of them does not depend
 * on what came first.
 *
 * Parts of copies with fresh ids correspond by their order in the message: an answer that was copied before it was
 * complete has fewer.
 */
#include "query/copies.h"

#include "query/forest_load.h"

void copies_release(struct copies *c)
{
	forest_release(&c->forest);
}

/* The forest that a transcript is in. */
static enum status load(struct copies *c, struct store *s, int64_t session, struct err *err)
{
	uint32_t source;

	for (uint32_t i = 0; c->loaded && i < c->forest.source_count; i++)
		if (c->forest.sources[i].session.row == session)
			return STATUS_OK;
	forest_release(&c->forest);
	c->forest = (struct forest)FOREST_INIT;
	c->loaded = true;
	if (forest_load(s, session, &c->forest, &source, err))
		return err_failed(err->status);
	for (uint32_t m = 0; m < c->forest.message_count && !c->renamed; m++)
		c->renamed = c->forest.messages[m].next_copy != FOREST_NONE;
	return STATUS_OK;
}

/* The nth node of a message; FOREST_NONE = it has fewer. */
static uint32_t nth_node(const struct forest *f, uint32_t message, uint32_t nth)
{
	uint32_t n = f->messages[message].first;

	while (nth-- && n != FOREST_NONE)
		n = f->nodes[n].next;
	return n;
}

static uint32_t place_in(const struct forest *f, uint32_t message, uint32_t node)
{
	uint32_t place = 0;

	for (uint32_t n = f->messages[message].first; n != node && n != FOREST_NONE; n = f->nodes[n].next)
		place++;
	return place;
}

enum { MOST_OTHERS = 64 };

/* Conversations, each once. */
struct others {
	struct uuid list[MOST_OTHERS];
	size_t count;
};

static void add_other(struct others *o, const struct uuid *id)
{
	for (size_t i = 0; i < o->count; i++)
		if (uuid_eq(&o->list[i], id))
			return;
	if (o->count < MOST_OTHERS)
		o->list[o->count++] = *id;
}

static void add_node(const struct forest *f, uint32_t node, struct others *o)
{
	for (uint32_t c = f->nodes[node].copies; c != FOREST_NONE; c = f->copies[c].next)
		add_other(o, &f->sources[f->copies[c].source].session.id);
}

/* The canonical node, and who has it or a copy of it. */
static uint32_t follow(const struct forest *f, uint32_t node, struct others *o)
{
	uint32_t message = f->nodes[node].message, place, canon = FOREST_NONE;

	if (message == FOREST_NONE) {
		add_node(f, node, o);
		return node;
	}
	place = place_in(f, message, node);
	message = f->messages[message].canonical;
	canon = nth_node(f, message, place);
	for (uint32_t m = message; m != FOREST_NONE; m = f->messages[m].next_copy) {
		uint32_t n = nth_node(f, m, place);

		if (n != FOREST_NONE)
			add_node(f, n, o);
	}
	return canon == FOREST_NONE ? node : canon;
}

/* Of a line that is not in the forest, since it is what progress tells of a sub-agent that has a file: that file's own,
 * where it says the same. FOREST_NONE = there is none. */
static enum status find_own(const struct forest *f, struct store *s, int64_t session, int64_t offset, uint32_t *node,
			    struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct node_name name;
	struct node line;
	struct uuid key;
	uint64_t content;

	*node = FOREST_NONE;
	if (entry_get(s, session, offset, &mem, &line, &name, err) ||
	    entry_content(s, session, offset, &content, err))
		return err_failed(err->status);
	if (!name.uuid.p)
		return STATUS_OK;
	key = line_key(name.uuid);
	for (uint32_t n = forest_find(f, &key); n != FOREST_NONE && *node == FOREST_NONE; n = f->nodes[n].next_variant)
		if (forest_line(f, n)->content == content)
			*node = n;
	return STATUS_OK;
}

enum status copies_find(struct copies *c, struct store *s, int64_t session, int64_t offset, struct copy_found *out,
			struct err *err)
{
	const struct forest *f = &c->forest;
	const struct forest_copy *canon;
	struct others others = { .count = 0 };
	uint32_t source, line, node, first;
	bool is_kin;

	*out = (struct copy_found){ .session = session, .offset = offset };
	if (!c->looked && session_any_kin(s, 0, &c->any, err))
		return err_failed(err->status);
	c->looked = true;
	if (!c->any)
		return STATUS_OK;
	if (session_any_kin(s, session, &is_kin, err))
		return err_failed(err->status);
	if (!is_kin)
		return STATUS_OK;
	if (load(c, s, session, err))
		return err_failed(err->status);
	if (forest_find_line(f, session, offset, &source, &line))
		node = f->sources[source].nodes[line];
	else if (find_own(f, s, session, offset, &node, err))
		return err_failed(err->status);
	if (node == FOREST_NONE)
		return STATUS_OK;
	first = follow(f, node, &others);
	canon = &f->nodes[first].canon;
	out->session = f->sources[canon->source].session.row;
	out->offset = f->sources[canon->source].chain.lines[canon->line].offset;
	out->at = f->sources[canon->source].chain.lines[canon->line].at;
	out->renamed = first != node;
	out->others = others.count ? (int64_t)others.count - 1 : 0;
	return STATUS_OK;
}
