/*
 * Gathering transcripts, from one to all that belong to it.
 *
 * What progress lines tell of a sub-agent becomes a source of its own, as if it were a
 * file: each message follows the one before. What the sub-agent's own file has too is left
 * out.
 *
 * Forks are files that begin alike. Who only wants to know what branches where has one of them loaded, and of the
 * others what is behind that: the forest is the same, but for lines that stand in several files and of which only one
 * copy is there then. Where that could make a difference, everything is loaded.
 */
#include "query/forest_load.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/numbers.h"
#include "claude/record.h"
#include "query/lines.h"
#include "query/turns.h"
#include "store/beginning.h"

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

static enum status want_kin(struct loading *l, int64_t row, struct err *err)
{
	int64_t *kin;
	size_t count;

	if (session_kin(l->store, row, &l->mem, &kin, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		want(l, kin[i]);
	return STATUS_OK;
}

static void add_source(struct loading *l, const struct session *session)
{
	struct forest_source *s = forest_add(l->f);

	s->session = *session;
	s->agent = s->session.agent;
	s->chain.is_agent = s->agent.n > 0;
}

/* All lines of a source. */
static enum status load_lines(struct loading *l, uint32_t source, struct err *err)
{
	struct forest_source *s = &l->f->sources[source];

	l->source = source;
	map_release(&l->told);
	chain_expect(&s->chain, s->session.read_to);
	return entry_lines(l->store, s->session.row, take_line, l, err)
		       ? err_failed(err->status)
		       : chain_bridge(l->store, &l->f->sources[source].chain, err);
}

static enum status load_one(struct loading *l, int64_t row, struct err *err)
{
	struct session session;

	if (session_get(l->store, row, &l->f->mem, &session, err))
		return err_failed(err->status);
	add_source(l, &session);
	return load_lines(l, l->f->source_count - 1, err) || want_kin(l, row, err) ? err_failed(err->status)
										    : STATUS_OK;
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

static uint32_t source_of(const struct forest *f, int64_t session)
{
	uint32_t s = 0;

	while (f->sources[s].embedded || f->sources[s].session.row != session)
		s++;
	return s;
}

/* ---- What begins alike -------------------------------------------------------------- */

/* Bases at most: a fork of a fork of a fork shares more with a later one. */
enum { MOST_BASES = 16, LONG_TAIL = 64 };

/* A source that has all its lines, and that others may begin as. */
struct base {
	uint32_t source;
	struct beginning *list;
	size_t count;
};

struct briefly {
	struct loading load;
	struct base bases[MOST_BASES];
	size_t base_count;
};

static void briefly_release(struct briefly *b)
{
	loading_release(&b->load);
}

/* Parents are found by their uuids wherever they stand, and what stands in for a missing one depends on all lines: so
 * a base has each uuid once, and everything hangs on what comes before it. */
static bool can_be_base(const struct chain *c)
{
	if (c->is_agent)
		return false;
	for (uint32_t i = 0; i < c->line_count; i++)
		if (c->lines[i].shadowed || c->lines[i].inferred ||
		    (c->lines[i].parent != CHAIN_NONE && c->lines[i].parent >= i))
			return false;
	return true;
}

static enum status load_whole(struct briefly *b, uint32_t source, struct err *err)
{
	struct base *base = &b->bases[b->base_count];
	struct chain *c;
	int64_t all;

	if (load_lines(&b->load, source, err))
		return err_failed(err->status);
	c = &b->load.f->sources[source].chain;
	chain_build(c);
	if (b->base_count == MOST_BASES || !can_be_base(c))
		return STATUS_OK;
	*base = (struct base){ .source = source };
	if (beginning_list(b->load.store, b->load.f->sources[source].session.row, &b->load.mem, &base->list,
			   &base->count, &all, err))
		return err_failed(err->status);
	b->base_count++;
	return STATUS_OK;
}

/* The longest beginning that is a base's, too; NULL = none is. What is equal is equal from the start. */
static const struct beginning *find_base(const struct briefly *b, const struct beginning *list, size_t count,
					 const struct base **out, const struct beginning **theirs)
{
	const struct beginning *best = NULL;

	for (size_t k = 0; k < b->base_count; k++) {
		size_t n = size_min(count, b->bases[k].count);

		while (n > 0 && list[n - 1].hash != b->bases[k].list[n - 1].hash)
			n--;
		if (n == 0 || list[n - 1].lines != b->bases[k].list[n - 1].lines ||
		    (best && best->lines >= list[n - 1].lines))
			continue;
		best = &list[n - 1];
		*out = &b->bases[k];
		*theirs = &b->bases[k].list[n - 1];
	}
	return best;
}

static enum status take_key(void *ctx, const struct entry_line *from, struct err *err)
{
	struct chain_line *l = ctx;

	(void)err;
	if (from->has_key) {
		l->parent_at = -1;
		l->parent_key = from->key;
	}
	return STATUS_OK;
}

/* What hangs on a line by its place in the file, and that is in the base, by its uuid instead. */
static enum status name_parents(struct briefly *b, struct forest_source *s, int64_t offset, struct err *err)
{
	for (uint32_t i = 0; i < s->chain.line_count; i++) {
		struct chain_line *l = &s->chain.lines[i];

		if (l->has_parent && l->parent_at >= 0 && l->parent_at < offset &&
		    entry_lines_in(b->load.store, s->session.row, l->parent_at, l->parent_at, take_key, l, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* Whether such a chain says all that the whole one would: every parent is here or in what is shared, no uuid is there
 * again, and something of the conversation itself is here. */
static bool is_whole_with(const struct chain *c, const struct chain *base, uint32_t shared)
{
	bool any = false;

	for (uint32_t i = 0; i < c->line_count; i++) {
		const struct chain_line *l = &c->lines[i];

		if (l->has_key && (l->shadowed || chain_find(base, &l->key) < shared))
			return false;
		if (l->has_parent && (l->parent == CHAIN_NONE || l->inferred) &&
		    (l->parent_at >= 0 || chain_find(base, &l->parent_key) >= shared))
			return false;
		any |= l->has_key && !(l->flags & (RECORD_SIDECHAIN | RECORD_EMBEDDED));
	}
	return any;
}

/* The lines behind what is shared; *done is false when that is not all there is to it. */
static enum status load_tail(struct briefly *b, uint32_t source, const struct base *base, const struct beginning *own,
			     const struct beginning *theirs, bool *done, struct err *err)
{
	struct loading *l = &b->load;
	int64_t row = l->f->sources[source].session.row;
	const struct chain *whole;
	struct forest_source *s;

	l->source = source;
	map_release(&l->told);
	if ((own->noted >= 0 && entry_lines_in(l->store, row, own->noted, own->noted, take_line, l, err)) ||
	    entry_lines_in(l->store, row, own->offset, INT64_MAX, take_line, l, err))
		return err_failed(err->status);
	s = &l->f->sources[source];
	whole = &l->f->sources[base->source].chain;
	if (chain_bridge(l->store, &s->chain, err) || name_parents(b, s, own->offset, err))
		return err_failed(err->status);
	chain_build(&s->chain);
	s->chain.shared = chain_line_at(whole, theirs->offset);
	*done = l->told.count == 0 && s->chain.shared != CHAIN_NONE && is_whole_with(&s->chain, whole, s->chain.shared);
	if (!*done) {
		bool is_agent = s->chain.is_agent;

		chain_release(&s->chain);
		s->chain.is_agent = is_agent;
		return STATUS_OK;
	}
	s->base = base->source;
	/* What says so is among the lines that are shared. */
	if (session_first_links(l->store, row, RECORD_ASSISTANT, RECORD_EMBEDDED, &s->is_fork, err))
		return err_failed(err->status);
	if (l->f->sources[base->source].lent < s->chain.shared)
		l->f->sources[base->source].lent = s->chain.shared;
	return STATUS_OK;
}

static enum status load_brief(struct briefly *b, uint32_t source, struct err *err)
{
	const struct forest_source *s = &b->load.f->sources[source];
	const struct beginning *own, *theirs = NULL;
	const struct base *base = NULL;
	struct beginning *list;
	bool done = false;
	size_t count;
	int64_t all;

	if (s->agent.n)
		return load_whole(b, source, err);
	if (beginning_list(b->load.store, s->session.row, &b->load.mem, &list, &count, &all, err))
		return err_failed(err->status);
	own = find_base(b, list, count, &base, &theirs);
	if (!own || (all - own->lines > LONG_TAIL && b->base_count < MOST_BASES))
		return load_whole(b, source, err);
	if (load_tail(b, source, base, own, theirs, &done, err))
		return err_failed(err->status);
	return done ? STATUS_OK : load_whole(b, source, err);
}

static int by_file(const void *a, const void *b)
{
	const struct session *x = a, *y = b;
	int order = str_cmp(x->root, y->root);

	return order ? order : str_cmp(x->path, y->path);
}

/* All transcripts that belong to it, in the order the forest has them, which is that of their files: what is a base
 * does not depend on which came first. */
static enum status add_sources(struct briefly *b, int64_t session, struct err *err)
{
	struct loading *l = &b->load;
	struct session *all;

	want(l, session);
	while (l->done < l->count)
		if (want_kin(l, l->rows[l->done++], err))
			return err_failed(err->status);
	all = arena_alloc(&l->mem, l->count * sizeof *all);
	for (size_t i = 0; i < l->count; i++)
		if (session_get(l->store, l->rows[i], &l->f->mem, &all[i], err))
			return err_failed(err->status);
	qsort(all, l->count, sizeof *all, by_file);
	for (size_t i = 0; i < l->count; i++)
		add_source(l, &all[i]);
	return STATUS_OK;
}

static enum status try_briefly(struct store *s, int64_t session, struct forest *out, uint32_t *source, struct err *err)
{
	struct briefly b CLEANUP(briefly_release) = { .load = { .store = s, .f = out } };
	uint32_t count;

	if (add_sources(&b, session, err))
		return err_failed(err->status);
	*source = source_of(out, session);
	count = out->source_count;
	if (load_whole(&b, *source, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < count; i++)
		if (i != *source && load_brief(&b, i, err))
			return err_failed(err->status);
	leave_out_known(&b.load);
	forest_build(out);
	*source = source_of(out, session);
	return STATUS_OK;
}

enum status forest_load_brief(struct store *s, int64_t session, struct forest *out, uint32_t *source, struct err *err)
{
	if (try_briefly(s, session, out, source, err))
		return err_failed(err->status);
	if (!out->has_variants && !out->has_joined)
		return STATUS_OK;
	/* Which of several contents, and of several copies, stands for all depends on every one of them. */
	forest_release(out);
	return forest_load(s, session, out, source, err);
}

/* ---- All of it ------------------------------------------------------------------------ */

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
	*source = source_of(out, session);
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

/* Whether a file would go on from where another has gone on already: a fork that nobody has used yet, or what
 * was forked at its end. */
static bool has_stopped(struct forest *f, uint32_t source)
{
	struct turns t = { .mem = &f->mem, .forest = f, .source = source };
	uint32_t conversations = 0;
	bool any = false;

	for (uint32_t i = 0; i < f->source_count; i++)
		conversations += !f->sources[i].agent.n;
	if (conversations < 2)
		return false;
	turns_find(&t);
	for (uint32_t i = 0; i < f->source_count; i++)
		any |= !f->sources[i].agent.n && t.leaves[i] != FOREST_NONE &&
		       f->messages[t.leaves[i]].branches > 0;
	return any;
}

/* Whether what is said begins more than once: somebody has gone back to before the first prompt. */
static bool begins_again(const struct forest *f)
{
	uint32_t beginnings = 0;

	for (uint32_t i = 0; i < f->order_count; i++) {
		const struct forest_message *m = &f->messages[f->order[i]];

		beginnings += m->live && !m->sidechain && m->origin == ORIGIN_HUMAN && m->prev == FOREST_NONE &&
			      forest_goes_on_from(f, f->order[i]) == FOREST_NONE;
	}
	return beginnings > 1;
}

static bool is_branched(struct forest *f, uint32_t source)
{
	for (uint32_t m = 0; m < f->message_count; m++)
		if (f->messages[m].branches > 1 && !f->messages[m].sidechain)
			return true;
	return begins_again(f) || has_stopped(f, source);
}

void branched_release(struct branched *b)
{
	map_release(&b->known);
	arena_release(&b->mem);
}

/* Of sub-agents it is told when they are asked for: the turns of theirs are others. */
static const bool *note_branched(struct branched *b, struct forest *f, uint32_t source)
{
	bool *is = arena_alloc(&b->mem, sizeof *is);

	*is = is_branched(f, source);
	for (uint32_t i = 0; i < f->source_count; i++) {
		int64_t row = f->sources[i].session.row;

		if (i == source || (!forest_is_agents(f, source) && !forest_is_agents(f, i)))
			map_put(&b->known, arena_str(&b->mem, str_from((const char *)&row, sizeof row)), is);
	}
	return is;
}

enum status branched_has(struct branched *b, struct store *s, int64_t session, bool *out, struct err *err)
{
	struct forest f CLEANUP(forest_release) = FOREST_INIT;
	const bool *known = map_get(&b->known, str_from((const char *)&session, sizeof session));
	uint32_t source;

	if (!known) {
		if (forest_load(s, session, &f, &source, err))
			return err_failed(err->status);
		known = note_branched(b, &f, source);
	}
	*out = *known;
	return STATUS_OK;
}
