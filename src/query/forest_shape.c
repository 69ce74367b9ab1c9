/*
 * Turns and branches, of canonical messages.
 *
 * A branch is a message that two or more live ways lead on from. Looked through is what
 * the client put in and its "No response requested."; live is what says something, or is
 * followed by something that does. What a client left behind when it was stopped, a call
 * without result, thinking alone, a failed request, is not.
 */
#include "query/forest_build.h"

#include "claude/record.h"

static bool is_canonical(const struct forest *f, uint32_t m)
{
	return f->messages[m].canonical == m;
}

/* Each behind its prev. */
static void find_order(struct build *b)
{
	struct forest *f = b->f;
	uint32_t *stack = arena_alloc(&b->mem, (f->message_count + 1) * sizeof *stack);
	bool *done = arena_alloc(&b->mem, f->message_count + 1);

	f->order = arena_alloc(&f->mem, (f->message_count + 1) * sizeof *f->order);
	for (uint32_t m = 0; m < f->message_count; m++) {
		uint32_t depth = 0;

		for (uint32_t at = is_canonical(f, m) ? m : FOREST_NONE; at != FOREST_NONE && !done[at];
		     at = f->messages[at].prev) {
			done[at] = true;
			stack[depth++] = at;
		}
		while (depth)
			f->order[f->order_count++] = stack[--depth];
	}
}

static enum forest_origin origin_of(const struct forest_message *m, const struct chain_line *l)
{
	if (m->boundary != FOREST_NONE || (l->flags & RECORD_COMPACT))
		return ORIGIN_COMPACTION;
	if (l->type == RECORD_USER && (l->flags & RECORD_PROMPT))
		return ORIGIN_HUMAN;
	if (l->flags & RECORD_NOTICE)
		return ORIGIN_NOTICE;
	return l->flags & RECORD_TASK ? ORIGIN_HUMAN : ORIGIN_NONE;
}

static void find_turns(struct build *b)
{
	struct forest *f = b->f;

	for (uint32_t i = 0; i < f->order_count; i++) {
		struct forest_message *m = &f->messages[f->order[i]];

		m->origin = origin_of(m, forest_line(f, m->first));
		if (m->origin != ORIGIN_NONE)
			m->turn = f->order[i];
		else if (m->prev != FOREST_NONE)
			m->turn = f->messages[m->prev].turn;
	}
}

static bool is_looked_through(const struct forest *f, const struct forest_message *m)
{
	const struct chain_line *l = forest_line(f, m->first);

	return m->role == FOREST_CLIENT || ((l->flags & RECORD_SYNTHETIC) && !(l->flags & RECORD_ERROR));
}

static bool says_something(const struct forest *f, const struct forest_message *m)
{
	const struct chain_line *l = forest_line(f, m->first);

	if (is_looked_through(f, m) || (l->flags & RECORD_ERROR))
		return false;
	if (m->role != FOREST_ASSISTANT)
		return m->owner != FOREST_NONE || l->type == RECORD_ATTACHMENT || m->origin != ORIGIN_NONE;
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
		if (forest_line(f, n)->flags & RECORD_SPEAKS)
			return true;
	return false;
}

/* From the leaves upwards: how many live ways lead on from each. */
static void find_branches(struct build *b)
{
	struct forest *f = b->f;
	uint32_t *ways = arena_alloc(&b->mem, (f->message_count + 1) * sizeof *ways);

	for (uint32_t i = f->order_count; i-- > 0;) {
		struct forest_message *m = &f->messages[f->order[i]];
		uint32_t mine = ways[f->order[i]];

		m->live = mine > 0 || says_something(f, m);
		m->through = is_looked_through(f, m);
		m->branches = m->through ? 0 : mine;
		if (m->prev != FOREST_NONE && m->live)
			ways[m->prev] += m->through ? mine : 1;
	}
}

void forest_shape(struct build *b)
{
	find_order(b);
	find_turns(b);
	find_branches(b);
}
