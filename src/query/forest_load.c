/*
 * Gathering transcripts, from one to all that belong to it.
 *
 * What progress lines tell of a sub-agent becomes a source of its own, as if it were a
 * file: each message follows the one before. What the sub-agent's own file has too is left
 * out.
 */
#include "query/forest_load.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/numbers.h"
#include "claude/record.h"
#include "query/lines.h"

#include <stdlib.h>
#include <string.h>

struct loading {
	struct store *store;
	struct forest *f;
	struct arena mem;
	int64_t *rows; /* of transcripts, those done first */
	size_t count, done, cap;
	struct map wanted; /* rows */
	uint32_t source;   /* being filled */
	struct map told;   /* of this transcript: agent -> its source's number, from 1 */
};

static void loading_release(struct loading *l)
{
	mem_free(l->rows);
	map_release(&l->wanted);
	map_release(&l->told);
	arena_release(&l->mem);
}

static void want(struct loading *l, int64_t row)
{
	struct str key = str_from((const char *)&row, sizeof row);

	if (map_get(&l->wanted, key))
		return;
	map_put(&l->wanted, arena_str(&l->mem, key), l);
	if (l->count == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 16;
		l->rows = mem_resize(l->rows, l->cap * sizeof *l->rows);
	}
	l->rows[l->count++] = row;
}

/* ---- Lines ------------------------------------------------------------------------ */

/* The source for what the transcript in hand tells of a sub-agent. */
static struct forest_source *told_of(struct loading *l, struct str agent)
{
	struct forest *f = l->f;
	uint32_t *known = map_get(&l->told, agent);
	struct session session;
	struct forest_source *s;

	if (known)
		return &f->sources[*known];
	session = f->sources[l->source].session;
	s = forest_add(f);
	s->session = session;
	s->embedded = true;
	s->agent = arena_str(&f->mem, agent);
	s->chain.is_agent = true;
	known = arena_alloc(&f->mem, sizeof *known);
	*known = f->source_count - 1;
	map_put(&l->told, s->agent, known);
	return s;
}

static void take_told(struct loading *l, const struct entry_line *from)
{
	if (from->has_key)
		chain_take(&told_of(l, from->agent)->chain, from)->flags &= ~(uint32_t)RECORD_EMBEDDED;
}

static enum status take_line(void *ctx, const struct entry_line *from, struct err *err)
{
	struct loading *l = ctx;

	(void)err;
	if (from->flags & RECORD_EMBEDDED)
		take_told(l, from);
	else
		chain_take(&l->f->sources[l->source].chain, from);
	return STATUS_OK;
}

static enum status load_one(struct loading *l, int64_t row, struct err *err)
{
	struct session session;
	int64_t *kin;
	size_t count;
	struct forest_source *s;

	if (session_get(l->store, row, &l->f->mem, &session, err))
		return err_failed(err->status);
	s = forest_add(l->f);
	l->source = l->f->source_count - 1;
	map_release(&l->told);
	s->session = session;
	s->agent = s->session.agent;
	s->chain.is_agent = s->agent.n > 0;
	chain_expect(&s->chain, session.read_to);
	if (entry_lines(l->store, row, take_line, l, err) ||
	    chain_bridge(l->store, &l->f->sources[l->source].chain, err) ||
	    session_kin(l->store, row, &l->mem, &kin, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		want(l, kin[i]);
	return STATUS_OK;
}

/* ---- What is told twice ------------------------------------------------------------- */

static uint64_t hash_with(struct str agent, const void *bytes, size_t n)
{
	uint64_t both[2] = { hash64(agent.p, agent.n), hash64(bytes, n) };

	return hash64(both, sizeof both);
}

static uint64_t by_uuid(struct str agent, const struct chain_line *l)
{
	return hash_with(agent, l->key.b, UUID_BYTES);
}

static uint64_t by_content(struct str agent, const struct chain_line *l)
{
	uint64_t both[2] = { l->api, l->content };

	return hash_with(agent, both, sizeof both);
}

static bool is_known(const struct numbers *known, struct str agent, const struct chain_line *l)
{
	return numbers_get(known, by_uuid(agent, l)) != NUMBERS_NONE ||
	       (l->has_api && numbers_get(known, by_content(agent, l)) != NUMBERS_NONE);
}

/* Leaves out of a told source what is known, and what it tells again; what is left
 * follows one another. */
static void leave_out(struct loading *l, struct forest_source *s, const struct numbers *known)
{
	struct chain *c = &s->chain;
	struct numbers told = numbers_new(&l->mem, c->line_count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < c->line_count; i++) {
		uint64_t key = by_uuid(s->agent, &c->lines[i]);

		if (is_known(known, s->agent, &c->lines[i]) || numbers_get(&told, key) != NUMBERS_NONE)
			continue;
		numbers_put(&told, key, i);
		chain_follow(c, count++, &c->lines[i]);
	}
	c->line_count = count;
}

static void leave_out_known(struct loading *l)
{
	struct forest *f = l->f;
	struct numbers known;
	size_t lines = 0;

	for (uint32_t s = 0; s < f->source_count; s++)
		lines += f->sources[s].agent.n && !f->sources[s].embedded ? f->sources[s].chain.line_count
									  : 0;
	known = numbers_new(&l->mem, 2 * lines);
	for (uint32_t s = 0; s < f->source_count; s++)
		for (uint32_t i = 0;
		     f->sources[s].agent.n && !f->sources[s].embedded && i < f->sources[s].chain.line_count;
		     i++) {
			const struct chain_line *line = &f->sources[s].chain.lines[i];

			if (!line->has_key)
				continue;
			numbers_put(&known, by_uuid(f->sources[s].agent, line), s);
			if (line->has_api)
				numbers_put(&known, by_content(f->sources[s].agent, line), s);
		}
	for (uint32_t s = 0; s < f->source_count; s++)
		if (f->sources[s].embedded)
			leave_out(l, &f->sources[s], &known);
}

enum status forest_load(struct store *s, int64_t session, struct forest *out, uint32_t *source,
			struct err *err)
{
	struct loading l CLEANUP(loading_release) = { .store = s, .f = out };

	want(&l, session);
	while (l.done < l.count)
		if (load_one(&l, l.rows[l.done++], err))
			return err_failed(err->status);
	leave_out_known(&l);
	forest_build(out);
	for (*source = 0; out->sources[*source].embedded || out->sources[*source].session.row != session;)
		++*source;
	return STATUS_OK;
}

enum status forest_name(struct store *s, const struct forest *f, uint32_t node, struct arena *mem,
			struct node_name *out, struct err *err)
{
	const struct chain_line *l = forest_line(f, node);
	char text[UUID_TEXT + 1];
	struct node line;

	*out = (struct node_name){ 0 };
	if (l->is_text)
		return entry_get(s, f->sources[f->nodes[node].canon.source].session.row, l->offset, mem, &line, out,
				 err);
	uuid_print(&l->key, text);
	out->uuid = arena_str(mem, str_of(text));
	return STATUS_OK;
}

enum status forest_is_branched(struct store *s, int64_t session, bool *out, struct err *err)
{
	struct forest f CLEANUP(forest_release) = FOREST_INIT;
	uint32_t source;

	*out = false;
	if (forest_load(s, session, &f, &source, err))
		return err_failed(err->status);
	for (uint32_t m = 0; m < f.message_count; m++)
		*out |= f.messages[m].branches > 1 && !f.messages[m].sidechain;
	return STATUS_OK;
}
