/*
 * Lines into a chain, without recursion and in linear time whatever they say: parents
 * may be missing, later in the file, or each other's children.
 */
#include "query/chain.h"

#include "base/hash.h"
#include "base/numbers.h"
#include "claude/record.h"

#include <stdlib.h>
#include <string.h>

enum { GAP_MS = 5000 }; /* how much older a line may be that stands in for a missing parent */

/* While a chain is built. */
struct build {
	struct chain *c;
	struct arena mem;
	uint32_t *by_time; /* lines that can be hung on by their time; made when it is needed */
	uint32_t time_count;
};

static void build_release(struct build *b)
{
	arena_release(&b->mem);
}

void chain_release(struct chain *c)
{
	mem_free(c->lines);
	mem_free(c->answers);
	arena_release(&c->mem);
	*c = (struct chain)CHAIN_INIT;
}

static void *grow(void *list, uint32_t *cap, uint32_t count, size_t size)
{
	if (count < *cap)
		return list;
	*cap = *cap ? *cap * 2 : 256;
	return mem_resize(list, *cap * size);
}

void chain_expect(struct chain *c, int64_t bytes)
{
	enum { LINE_BYTES = 1500, MOST = 1 << 16 };
	int64_t count = bytes / LINE_BYTES;

	if (c->lines || count <= 0)
		return;
	c->line_cap = count < MOST ? (uint32_t)count : MOST;
	c->lines = mem_resize(NULL, c->line_cap * sizeof *c->lines);
}

struct chain_line *chain_room(struct chain *c)
{
	c->lines = grow(c->lines, &c->line_cap, c->line_count, sizeof *c->lines);
	return &c->lines[c->line_count++];
}

struct chain_line *chain_add(struct chain *c)
{
	struct chain_line *l = chain_room(c);

	*l = (struct chain_line){
		.parent_at = -1, .parent = CHAIN_NONE, .answer = CHAIN_NONE, .next = CHAIN_NONE
	};
	return l;
}

/* ---- Lines by key ---------------------------------------------------------------- */

static size_t table_size(size_t count)
{
	size_t n = 16;

	while (n < 2 * count)
		n *= 2;
	return n;
}

static size_t key_slot(const struct chain *c, const struct uuid *key)
{
	size_t i = (size_t)hash64(key->b, UUID_BYTES) & c->keys_mask;

	while (c->keys[i] != CHAIN_NONE && !uuid_eq(&c->lines[c->keys[i]].key, key))
		i = (i + 1) & c->keys_mask;
	return i;
}

uint32_t chain_find(const struct chain *c, const struct uuid *key)
{
	return c->keys ? c->keys[key_slot(c, key)] : CHAIN_NONE;
}

static void enter_keys(struct chain *c)
{
	size_t n = table_size(c->line_count);

	c->keys_mask = n - 1;
	c->keys = memset(arena_alloc(&c->mem, n * sizeof *c->keys), 0xff, n * sizeof *c->keys);
	for (uint32_t i = 0; i < c->line_count; i++) {
		size_t slot;

		if (!c->lines[i].has_key)
			continue;
		slot = key_slot(c, &c->lines[i].key);
		if (c->keys[slot] != CHAIN_NONE)
			c->lines[c->keys[slot]].shadowed = true;
		c->keys[slot] = i;
	}
}

/* ---- Parents ------------------------------------------------------------------- */

uint32_t chain_line_at(const struct chain *c, int64_t offset)
{
	uint32_t low = 0, high = c->line_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (c->lines[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->line_count && c->lines[low].offset == offset ? low : CHAIN_NONE;
}

/* Mostly the line before, whose number is given as a guess. */
static uint32_t line_at(const struct chain *c, int64_t offset, uint32_t guess)
{
	return guess < c->line_count && c->lines[guess].offset == offset ? guess : chain_line_at(c, offset);
}

/* Parts of the conversation itself: what can be hung on. */
static bool is_tree_line(const struct chain_line *l)
{
	return l->has_key && !l->shadowed && !(l->flags & RECORD_EMBEDDED);
}

static int by_time(const void *a, const void *b)
{
	const struct chain_line *x = *(const struct chain_line *const *)a,
				*y = *(const struct chain_line *const *)b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort_by_time(struct build *b)
{
	struct chain *c = b->c;
	const struct chain_line **order = arena_alloc(&b->mem, (c->line_count + 1) * sizeof *order);

	for (uint32_t i = 0; i < c->line_count; i++)
		if (is_tree_line(&c->lines[i]))
			order[b->time_count++] = &c->lines[i];
	qsort(order, b->time_count, sizeof *order, by_time);
	b->by_time = arena_alloc(&b->mem, (b->time_count + 1) * sizeof *b->by_time);
	for (uint32_t i = 0; i < b->time_count; i++)
		b->by_time[i] = (uint32_t)(order[i] - c->lines);
}

/* How many lines in that order are not younger. */
static uint32_t count_until(const struct build *b, int64_t at)
{
	uint32_t low = 0, high = b->time_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (b->c->lines[b->by_time[mid]].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* As the client does it: the youngest line that is not younger and at most a little older,
 * wherever it stands. */
static uint32_t stand_in(struct build *b, uint32_t line)
{
	const struct chain_line *lines = b->c->lines;
	int64_t at = lines[line].at;
	uint32_t i;

	if (!at)
		return CHAIN_NONE;
	if (!b->by_time)
		sort_by_time(b);
	i = count_until(b, at);
	if (i > 0 && b->by_time[i - 1] == line)
		i--;
	return i > 0 && lines[b->by_time[i - 1]].at >= at - GAP_MS ? b->by_time[i - 1] : CHAIN_NONE;
}

static void find_parents(struct build *b)
{
	struct chain *c = b->c;

	for (uint32_t i = 0; i < c->line_count; i++) {
		struct chain_line *l = &c->lines[i];
		uint32_t at = l->parent_at >= 0 ? line_at(c, l->parent_at, i - 1) : CHAIN_NONE;

		if (!l->has_parent || (l->flags & RECORD_EMBEDDED))
			continue;
		if (at != CHAIN_NONE && c->lines[at].has_key && !c->lines[at].shadowed)
			l->parent = at;
		else
			l->parent = chain_find(c, at != CHAIN_NONE ? &c->lines[at].key : &l->parent_key);
		if (l->parent == i)
			l->parent = CHAIN_NONE;
		else if (l->parent == CHAIN_NONE) {
			l->parent = stand_in(b, i);
			l->inferred = l->parent != CHAIN_NONE;
		}
	}
}

/* ---- Answers -------------------------------------------------------------------- */

static void new_answer(struct chain *c, uint32_t line)
{
	c->answers = grow(c->answers, &c->answer_cap, c->answer_count, sizeof *c->answers);
	c->answers[c->answer_count++] = (struct chain_answer){ line, line };
}

static void group_answers(struct build *b)
{
	struct chain *c = b->c;
	struct numbers known = numbers_new(&b->mem, c->line_count); /* API message -> answer */

	for (uint32_t i = 0; i < c->line_count; i++) {
		struct chain_line *l = &c->lines[i];

		if (l->type != RECORD_ASSISTANT || !is_tree_line(l))
			continue;
		l->answer = l->has_api ? numbers_add(&known, l->api, c->answer_count) : c->answer_count;
		if (l->answer == c->answer_count) {
			new_answer(c, i);
			continue;
		}
		c->lines[c->answers[l->answer].last].next = i;
		c->answers[l->answer].last = i;
	}
}

void chain_build(struct chain *c)
{
	struct build b CLEANUP(build_release) = { .c = c };

	if (c->is_built)
		return;
	c->is_built = true;
	enter_keys(c);
	find_parents(&b);
	group_answers(&b);
}

/* ---- Asking -------------------------------------------------------------------- */

/* Lines counted through a chain and its base. */
static const struct chain_line *line_of(const struct chain *c, uint32_t line)
{
	return line < c->shared ? &c->base->lines[line] : &c->lines[line - c->shared];
}

static uint32_t find_in_both(const struct chain *c, const struct uuid *key)
{
	uint32_t own = chain_find(c, key), shared;

	if (own != CHAIN_NONE)
		return own + c->shared;
	shared = c->base ? chain_find(c->base, key) : CHAIN_NONE;
	return shared < c->shared ? shared : CHAIN_NONE;
}

static uint32_t parent_of(const struct chain *c, uint32_t line)
{
	const struct chain_line *l = line_of(c, line);

	if (line < c->shared)
		return l->parent;
	if (c->base && l->has_parent && (l->parent == CHAIN_NONE || l->inferred))
		return find_in_both(c, &l->parent_key);
	return l->parent == CHAIN_NONE ? CHAIN_NONE : l->parent + c->shared;
}

/* Whether a line hangs on another, however far up. */
static bool descends(const struct chain *c, uint32_t line, uint32_t from)
{
	for (uint32_t steps = 0; line != CHAIN_NONE && steps <= c->shared + c->line_count; steps++) {
		if (line == from)
			return true;
		line = parent_of(c, line);
	}
	return false;
}

static bool is_said(const struct chain_line *l)
{
	return l->type == RECORD_USER || l->type == RECORD_ASSISTANT;
}

uint32_t chain_said(const struct chain *c, uint32_t line)
{
	for (uint32_t steps = 0; line != CHAIN_NONE && steps <= c->shared + c->line_count; steps++) {
		if (is_said(line_of(c, line)))
			return line;
		line = parent_of(c, line);
	}
	return CHAIN_NONE;
}

uint32_t chain_before(const struct chain *c, uint32_t boundary)
{
	const struct chain_line *b = line_of(c, boundary);
	uint32_t line = b->has_link ? find_in_both(c, &b->link) : CHAIN_NONE;

	for (uint32_t i = boundary; line == CHAIN_NONE && i-- > 0;) {
		const struct chain_line *l = line_of(c, i);

		if (is_tree_line(l) && !l->shadowed && !((l->flags ^ b->flags) & RECORD_SIDECHAIN))
			line = i;
	}
	return line == CHAIN_NONE ? CHAIN_NONE : chain_said(c, line);
}

/* Where something was said, or before the compactions behind which nothing was. */
static uint32_t said_or_before(const struct chain *c, uint32_t line)
{
	uint32_t said = chain_said(c, line);

	for (uint32_t steps = 0;
	     said == CHAIN_NONE && line != CHAIN_NONE && steps <= c->shared + c->line_count; steps++) {
		if (line_of(c, line)->flags & RECORD_BOUNDARY)
			return chain_before(c, line);
		line = parent_of(c, line);
	}
	return said;
}

uint32_t chain_leaf(const struct chain *c)
{
	uint32_t last = CHAIN_NONE, noted = CHAIN_NONE, leaf;

	for (uint32_t i = 0; i < c->line_count; i++) {
		const struct chain_line *l = &c->lines[i];

		if (is_tree_line(l) && (c->is_agent || !(l->flags & RECORD_SIDECHAIN)))
			last = i + c->shared;
		if (l->type == RECORD_LAST_PROMPT && (l->has_link || (l->flags & RECORD_EXPLICIT)))
			noted = i + c->shared;
	}
	if (noted == CHAIN_NONE)
		leaf = last;
	else if (!line_of(c, noted)->has_link)
		leaf = last != CHAIN_NONE && last > noted ? last : CHAIN_NONE;
	else {
		leaf = find_in_both(c, &line_of(c, noted)->link);
		if (leaf == CHAIN_NONE)
			leaf = last;
		else if (!((line_of(c, noted)->flags & RECORD_EXPLICIT) && last < noted) &&
			 descends(c, last, leaf))
			leaf = last;
	}
	return said_or_before(c, leaf);
}
