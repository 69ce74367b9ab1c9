/*
 * From what the store knows of an id, a file and an offset, to a place among the messages.
 */
#include "hub/memory_place.h"

#include "claude/record.h"

static uint32_t line_at(const struct chain *c, int64_t offset)
{
	uint32_t i = 0;

	while (i < c->line_count && c->lines[i].offset != offset)
		i++;
	return i < c->line_count ? i : CHAIN_NONE;
}

/* What a progress line carries is in a source of its own. */
static bool find_line(const struct forest *f, const struct resolved *what, struct place *out)
{
	for (uint32_t s = 0; s < f->source_count; s++) {
		const struct forest_source *x = &f->sources[s];

		if (x->session.row != what->session.row || (what->is_session && x->embedded))
			continue;
		out->source = s;
		out->line = what->is_session ? chain_leaf(&x->chain) : line_at(&x->chain, what->node.offset);
		if (out->line != CHAIN_NONE)
			return true;
	}
	return false;
}

uint32_t *place_agent(const struct forest *f, uint32_t first, struct arena *mem, uint32_t *count)
{
	bool *follows = arena_alloc(mem, (f->message_count + 1) * sizeof *follows);
	uint32_t *out = arena_alloc(mem, (f->order_count + 1) * sizeof *out);

	*count = 0;
	for (uint32_t i = 0; i < f->order_count; i++) {
		uint32_t m = f->order[i], prev = f->messages[m].prev;

		follows[m] = m == first || (prev != FOREST_NONE && follows[prev]);
		if (follows[m])
			out[(*count)++] = m;
	}
	return out;
}

/* Where a sub-agent ended, from the place where it began. */
static void go_to_end(const struct forest *f, struct place *at)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	uint32_t count, *messages = place_agent(f, at->message, &mem, &count), node;

	if (!count)
		return;
	at->message = messages[count - 1];
	node = f->messages[at->message].first;
	while (f->nodes[node].next != FOREST_NONE)
		node = f->nodes[node].next;
	at->source = f->nodes[node].canon.source;
	at->line = f->nodes[node].canon.line;
}

/* A compaction is no message; what it begins with is. */
static uint32_t message_below(const struct forest *f, uint32_t source, uint32_t *line)
{
	const struct chain *c = &f->sources[source].chain;

	for (uint32_t i = 0; i < c->line_count; i++) {
		uint32_t message = c->lines[i].parent == *line ? forest_message_of(f, source, i) : FOREST_NONE;

		if (message != FOREST_NONE) {
			*line = i;
			return message;
		}
	}
	return FOREST_NONE;
}

enum status place_find(const struct forest *f, const struct resolved *what, struct place *out,
		       struct err *err)
{
	uint32_t line;

	if (!find_line(f, what, out))
		return err_fail(err, STATUS_NOT_FOUND,
				what->is_session
					? "nothing was said in this conversation yet"
					: "that line is told elsewhere, or was lost; 'arbor show' prints it");
	line = out->line;
	out->message = forest_message_above(f, out->source, &out->line);
	if (out->message == FOREST_NONE && (f->sources[out->source].chain.lines[line].flags & RECORD_BOUNDARY)) {
		out->line = line;
		out->message = message_below(f, out->source, &out->line);
	}
	if (out->message == FOREST_NONE)
		return err_fail(err, STATUS_NOT_FOUND,
				"that line is no part of what was said; 'arbor show' prints it");
	if (what->agent.n)
		go_to_end(f, out);
	return STATUS_OK;
}

enum status place_find_end(const struct ground *g, const struct resolved *what, struct place *out, struct err *err)
{
	if (place_find(&g->grove.forest, what, out, err))
		return err_failed(err->status);
	if (!what->is_session && what->node.part == PART_TURN && turns_show(&g->turns, out->message))
		out->message = ways_end(&g->ways, out->message, true);
	return STATUS_OK;
}

uint32_t *place_path(const struct ground *g, uint32_t message, struct arena *mem, uint32_t *count)
{
	return turns_show(&g->turns, message) ? ways_path(&g->ways, message, mem, count)
					      : forest_path(&g->grove.forest, message, mem, count);
}
