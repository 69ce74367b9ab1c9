/*
 * What led to something in a sub-agent: its first prompt is no person's, and before that is nothing. So who
 * goes back goes back in the conversation, to the call that started it; of one that a sub-agent started, to
 * that one's.
 */
#include "hub/forkable.h"

#include "hub/subagents.h"
#include "query/forest_load.h"
#include "store/find.h"

static enum status is_aside(struct call *c, const struct forkable *what, bool *out, struct err *err)
{
	unsigned flags = 0;

	*out = what->session.agent.n > 0;
	if (*out || !what->is_node)
		return STATUS_OK;
	if (entry_flags(c->store, what->line.session, what->line.offset, &flags, err))
		return err_failed(err->status);
	*out = flags & (RECORD_SIDECHAIN | RECORD_EMBEDDED);
	return STATUS_OK;
}

/* The sub-agent that a place is in; NULL = none that is known. */
static const struct subagent *find_agent(const struct subagents *all, const struct forest *f,
					 const struct forkable *what)
{
	uint32_t source, line, message = FOREST_NONE;

	if (what->is_node && forest_find_line(f, what->line.session, what->line.offset, &source, &line))
		message = forest_message_above(f, source, &line);
	if (message != FOREST_NONE && all->of[message] != FOREST_NONE)
		return &all->list[all->of[message]];
	for (uint32_t i = 0; i < all->count; i++)
		if (what->session.agent.n && str_eq(all->list[i].name, what->session.agent))
			return &all->list[i];
	return NULL;
}

/* The message with the call, of a conversation; FOREST_NONE = not known. */
static uint32_t find_asker(const struct subagents *all, const struct forest *f, const struct subagent *a,
			   struct arena *mem)
{
	uint32_t *askers = subagents_askers(all, f, mem), asker = askers[a->root];

	for (uint32_t i = 0; i < all->count && asker != FOREST_NONE && all->of[asker] != FOREST_NONE; i++)
		asker = askers[all->list[all->of[asker]].root];
	return asker != FOREST_NONE && all->of[asker] == FOREST_NONE ? asker : FOREST_NONE;
}

static enum status take_message(struct call *c, const struct forest *f, uint32_t message,
				struct forkable *what, struct err *err)
{
	const struct forest_copy *at = &f->nodes[f->messages[message].first].canon;

	what->line.session = f->sources[at->source].session.row;
	what->line.offset = f->sources[at->source].chain.lines[at->line].offset;
	what->is_node = what->left_agent = true;
	return session_get(c->store, what->line.session, &c->mem, &what->session, err);
}

enum status forkable_leave_agent(struct call *c, struct forkable *what, struct err *err)
{
	struct forest forest CLEANUP(forest_release) = FOREST_INIT;
	const struct subagent *agent;
	struct subagents all;
	uint32_t source, asker = FOREST_NONE;

	if (!what->session.row)
		return STATUS_OK;
	if (is_aside(c, what, &what->in_agent, err))
		return err_failed(err->status);
	if (!what->in_agent || !what->before)
		return STATUS_OK;
	if (forest_load(c->store, what->line.session, &forest, &source, err) ||
	    subagents_find(c, &forest, &all, err))
		return err_failed(err->status);
	agent = all.count ? find_agent(&all, &forest, what) : NULL;
	if (agent)
		asker = find_asker(&all, &forest, agent, &c->mem);
	return asker != FOREST_NONE ? take_message(c, &forest, asker, what, err) : STATUS_OK;
}
