/*
 * Lines into messages, without recursion and in linear time whatever the lines say:
 * parents may be missing, later in the file, or each other's children.
 *
 * A message's place comes from its first line alone. Later lines of it may hang on
 * results of the message itself, so asking them would go in circles. Results are placed
 * by the call they answer and not by what they hang on. What is left of circles is cut
 * open at the message that stands first in the file.
 */
#include "query/chain.h"

#include "base/hash.h"
#include "base/numbers.h"
#include "claude/record.h"

#include <stdlib.h>
#include <string.h>

enum {
	GAP_MS = 5000,	  /* how much older a line may be that stands in for a missing parent */
	GAP_STEPS = 1000, /* how far it is looked for */
};

/* While a chain is built. */
struct build {
	struct chain *c;
	struct arena mem;
	struct numbers uses;   /* call -> line that has it */
	struct numbers groups; /* API message -> message */
	uint32_t *anchors;     /* by line: the nearest at or above it that is in a message, or a boundary */
	uint32_t *by_time;     /* lines by their time; made when it is needed */
};

static void build_release(struct build *b)
{
	arena_release(&b->mem);
}

void chain_release(struct chain *c)
{
	mem_free(c->lines);
	mem_free(c->messages);
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

struct chain_line *chain_add(struct chain *c)
{
	struct chain_line *l;

	c->lines = grow(c->lines, &c->line_cap, c->line_count, sizeof *c->lines);
	l = &c->lines[c->line_count++];
	*l = (struct chain_line){
		.parent_at = -1, .parent = CHAIN_NONE, .message = CHAIN_NONE, .next = CHAIN_NONE
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

static uint32_t line_at(const struct chain *c, int64_t offset)
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

/* Parts of the conversation itself: what can be hung on. */
static bool is_tree_line(const struct chain_line *l)
{
	return l->has_key && !l->shadowed && !(l->flags & RECORD_EMBEDDED);
}

static int by_time(const void *a, const void *b)
{
	const struct chain_line *x = *(const struct chain_line *const *)a, *y = *(const struct chain_line *const *)b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort_by_time(struct build *b)
{
	struct chain *c = b->c;
	const struct chain_line **order = arena_alloc(&b->mem, (c->line_count + 1) * sizeof *order);

	for (uint32_t i = 0; i < c->line_count; i++)
		order[i] = &c->lines[i];
	qsort(order, c->line_count, sizeof *order, by_time);
	b->by_time = arena_alloc(&b->mem, (c->line_count + 1) * sizeof *b->by_time);
	for (uint32_t i = 0; i < c->line_count; i++)
		b->by_time[i] = (uint32_t)(order[i] - c->lines);
}

/* How many lines in that order are not younger. */
static uint32_t count_until(const struct build *b, int64_t at)
{
	uint32_t low = 0, high = b->c->line_count;

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

	if (!at)
		return CHAIN_NONE;
	if (!b->by_time)
		sort_by_time(b);
	for (uint32_t i = count_until(b, at), steps = 0; i-- > 0 && steps < GAP_STEPS; steps++) {
		uint32_t other = b->by_time[i];

		if (lines[other].at < at - GAP_MS)
			break;
		if (other != line && is_tree_line(&lines[other]))
			return other;
	}
	return CHAIN_NONE;
}

static void find_parents(struct build *b)
{
	struct chain *c = b->c;

	for (uint32_t i = 0; i < c->line_count; i++) {
		struct chain_line *l = &c->lines[i];
		uint32_t at = l->parent_at >= 0 ? line_at(c, l->parent_at) : CHAIN_NONE;

		if (!l->has_parent || (l->flags & RECORD_EMBEDDED))
			continue;
		l->parent = chain_find(c, at != CHAIN_NONE ? &c->lines[at].key : &l->parent_key);
		if (l->parent == i)
			l->parent = CHAIN_NONE;
		else if (l->parent == CHAIN_NONE) {
			l->parent = stand_in(b, i);
			l->inferred = l->parent != CHAIN_NONE;
		}
	}
}

/* ---- Messages ------------------------------------------------------------------ */

static uint32_t new_message(struct chain *c, enum chain_role role, uint32_t line)
{
	c->messages = grow(c->messages, &c->message_cap, c->message_count, sizeof *c->messages);
	c->messages[c->message_count] = (struct chain_message){
		.role = role,
		.aside = (c->lines[line].flags & RECORD_SIDECHAIN) && !c->is_agent,
		.first = line,
		.last = line,
		.prev = CHAIN_NONE,
		.boundary = CHAIN_NONE,
		.results = CHAIN_NONE,
		.turn = CHAIN_NONE,
	};
	c->lines[line].message = c->message_count;
	return c->message_count++;
}

static void add_line(struct chain *c, uint32_t message, uint32_t line)
{
	c->lines[c->messages[message].last].next = line;
	c->messages[message].last = line;
	c->lines[line].message = message;
}

static bool is_result(const struct chain_line *l)
{
	return l->type == RECORD_USER && (l->flags & RECORD_RESULT);
}

/* Answers, by the message they are a part of; the calls in them. */
static void group_answers(struct build *b)
{
	struct chain *c = b->c;

	for (uint32_t i = 0; i < c->line_count; i++) {
		struct chain_line *l = &c->lines[i];
		uint32_t m;

		if (l->type != RECORD_ASSISTANT || l->shadowed || !l->has_key)
			continue;
		m = l->has_api ? numbers_get(&b->groups, l->api) : CHAIN_NONE;
		if (m == CHAIN_NONE)
			m = new_message(c, CHAIN_ASSISTANT, i);
		else
			add_line(c, m, i);
		if (l->has_api)
			numbers_put(&b->groups, l->api, m);
		for (uint32_t t = 0; t < l->tool_count; t++)
			numbers_put(&b->uses, l->tools[t], i);
	}
}

/* The answer whose calls these are results of. */
static uint32_t asker(const struct build *b, const struct chain_line *l)
{
	const struct chain *c = b->c;

	for (uint32_t t = 0; t < l->tool_count; t++) {
		uint32_t use = numbers_get(&b->uses, l->tools[t]);

		if (use != CHAIN_NONE)
			return c->lines[use].message;
	}
	if (l->parent != CHAIN_NONE && c->lines[l->parent].type == RECORD_ASSISTANT)
		return c->lines[l->parent].message;
	return CHAIN_NONE;
}

static void group_results(struct build *b)
{
	struct chain *c = b->c;

	for (uint32_t i = 0; i < c->line_count; i++) {
		struct chain_line *l = &c->lines[i];
		uint32_t answer, m;

		if (!is_result(l) || l->shadowed || !l->has_key)
			continue;
		answer = asker(b, l);
		m = answer == CHAIN_NONE ? CHAIN_NONE : c->messages[answer].results;
		if (m != CHAIN_NONE) {
			add_line(c, m, i);
			continue;
		}
		m = new_message(c, CHAIN_RESULTS, i);
		if (answer == CHAIN_NONE)
			continue;
		c->messages[answer].results = m;
		c->messages[m].prev = answer;
	}
}

static bool is_alone(const struct chain_line *l, enum chain_role *role)
{
	*role = CHAIN_CLIENT;
	if (!l->has_key || l->shadowed || l->message != CHAIN_NONE)
		return false;
	if (l->type == RECORD_USER && !(l->flags & RECORD_META))
		*role = CHAIN_USER;
	else if (l->type == RECORD_ATTACHMENT && (l->flags & RECORD_QUEUED))
		*role = CHAIN_USER;
	return l->type == RECORD_USER || l->type == RECORD_ATTACHMENT ||
	       (l->type == RECORD_SYSTEM && (l->flags & RECORD_SENT));
}

static int by_first(const void *a, const void *b)
{
	const struct chain_message *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Made one kind after the other; those who ask want them as they stand in the file. */
static void sort_messages(struct build *b)
{
	struct chain *c = b->c;
	uint32_t *now = arena_alloc(&b->mem, (c->message_count + 1) * sizeof *now);

	qsort(c->messages, c->message_count, sizeof *c->messages, by_first);
	for (uint32_t m = 0; m < c->message_count; m++)
		now[c->lines[c->messages[m].first].message] = m;
	for (uint32_t m = 0; m < c->message_count; m++) {
		struct chain_message *x = &c->messages[m];

		x->prev = x->prev == CHAIN_NONE ? CHAIN_NONE : now[x->prev];
		x->results = x->results == CHAIN_NONE ? CHAIN_NONE : now[x->results];
		for (uint32_t i = x->first; i != CHAIN_NONE; i = c->lines[i].next)
			c->lines[i].message = m;
	}
}

static void make_messages(struct build *b)
{
	struct chain *c = b->c;
	enum chain_role role;

	group_answers(b);
	group_results(b);
	for (uint32_t i = 0; i < c->line_count; i++)
		if (is_alone(&c->lines[i], &role))
			new_message(c, role, i);
	sort_messages(b);
}

/* ---- What follows what --------------------------------------------------------- */

static bool is_anchor(const struct chain_line *l)
{
	return l->message != CHAIN_NONE || (l->flags & RECORD_BOUNDARY);
}

/* The nearest anchor at or above a line; whoever was passed on the way remembers it. */
static uint32_t anchor_of(struct build *b, uint32_t line)
{
	enum { ON_THE_WAY = CHAIN_NONE - 1 };
	const struct chain_line *lines = b->c->lines;
	uint32_t at = line, found;

	while (at != CHAIN_NONE && b->anchors[at] == CHAIN_NONE - 2 && !is_anchor(&lines[at])) {
		b->anchors[at] = ON_THE_WAY;
		at = lines[at].parent;
	}
	if (at == CHAIN_NONE || b->anchors[at] == ON_THE_WAY)
		found = CHAIN_NONE; /* the top, or a circle */
	else
		found = is_anchor(&lines[at]) ? at : b->anchors[at];
	for (at = line; at != CHAIN_NONE && b->anchors[at] == ON_THE_WAY; at = lines[at].parent)
		b->anchors[at] = found;
	return found;
}

/* From its first line upwards to another message. Lines of its own may stand in between,
 * where a file is out of order; each is passed once. */
static void find_prev(struct build *b, uint32_t m)
{
	struct chain *c = b->c;
	uint32_t at = c->lines[c->messages[m].first].parent;

	for (uint32_t steps = 0; steps <= c->line_count; steps++) {
		at = at == CHAIN_NONE ? CHAIN_NONE : anchor_of(b, at);
		if (at == CHAIN_NONE)
			return;
		if (c->lines[at].message != m)
			break;
		at = c->lines[at].parent;
	}
	if (c->lines[at].message == CHAIN_NONE)
		c->messages[m].boundary = at;
	else if (c->lines[at].message != m)
		c->messages[m].prev = c->lines[at].message;
}

/* What a sub-agent said, as its progress was told: one after the other. */
static void follow_embedded(struct build *b)
{
	struct chain *c = b->c;
	struct numbers last = numbers_new(&b->mem, c->message_count);

	for (uint32_t m = 0; m < c->message_count; m++) {
		const struct chain_line *l = &c->lines[c->messages[m].first];

		if (!(l->flags & RECORD_EMBEDDED))
			continue;
		if (c->messages[m].prev == CHAIN_NONE)
			c->messages[m].prev = numbers_get(&last, l->agent);
		numbers_put(&last, l->agent, m);
	}
}

static void find_order(struct build *b)
{
	struct chain *c = b->c;

	b->anchors = arena_alloc(&b->mem, (c->line_count + 1) * sizeof *b->anchors);
	for (uint32_t i = 0; i < c->line_count; i++)
		b->anchors[i] = CHAIN_NONE - 2;
	for (uint32_t m = 0; m < c->message_count; m++)
		if (c->messages[m].prev == CHAIN_NONE && !(c->lines[c->messages[m].first].flags & RECORD_EMBEDDED))
			find_prev(b, m);
	follow_embedded(b);
}

/* Cuts every circle at the message that stands first in the file: messages are looked at
 * in that order, so it is the one the walk began with or will come to first. */
static void cut_circles(struct build *b)
{
	struct chain *c = b->c;
	uint32_t *seen = arena_alloc(&b->mem, (c->message_count + 1) * sizeof *seen);

	memset(seen, 0xff, (c->message_count + 1) * sizeof *seen);
	for (uint32_t m = 0; m < c->message_count; m++) {
		uint32_t at = m, least;

		while (at != CHAIN_NONE && seen[at] == CHAIN_NONE) {
			seen[at] = m;
			at = c->messages[at].prev;
		}
		if (at == CHAIN_NONE || seen[at] != m)
			continue;
		least = at;
		for (uint32_t x = c->messages[at].prev; x != at; x = c->messages[x].prev)
			least = x < least ? x : least;
		c->messages[least].prev = CHAIN_NONE;
	}
}

/* ---- Turns and branches --------------------------------------------------------- */

static enum chain_origin origin_of(const struct chain *c, uint32_t m)
{
	const struct chain_message *x = &c->messages[m];
	const struct chain_line *l = &c->lines[x->first];

	if (l->flags & RECORD_COMPACT)
		return ORIGIN_COMPACTION;
	if (l->type == RECORD_USER && (l->flags & RECORD_PROMPT))
		return ORIGIN_HUMAN;
	if (l->flags & RECORD_NOTICE)
		return ORIGIN_NOTICE;
	if ((x->aside || c->is_agent) && x->role == CHAIN_USER && x->prev == CHAIN_NONE)
		return ORIGIN_AGENT;
	return ORIGIN_NONE;
}

/* Messages in an order in which each comes behind its prev. */
static uint32_t *downwards(const struct chain *c, struct arena *mem)
{
	uint32_t *order = arena_alloc(mem, (c->message_count + 1) * sizeof *order);
	uint32_t *stack = arena_alloc(mem, (c->message_count + 1) * sizeof *stack);
	bool *done = arena_alloc(mem, c->message_count + 1);
	uint32_t n = 0;

	for (uint32_t m = 0; m < c->message_count; m++) {
		uint32_t depth = 0;

		for (uint32_t at = m; at != CHAIN_NONE && !done[at]; at = c->messages[at].prev) {
			done[at] = true;
			stack[depth++] = at;
		}
		while (depth)
			order[n++] = stack[--depth];
	}
	return order;
}

static void find_turns(struct build *b, const uint32_t *order)
{
	struct chain *c = b->c;

	for (uint32_t i = 0; i < c->message_count; i++) {
		struct chain_message *x = &c->messages[order[i]];

		x->origin = origin_of(c, order[i]);
		if (x->origin != ORIGIN_NONE)
			x->turn = order[i];
		else if (x->prev != CHAIN_NONE)
			x->turn = c->messages[x->prev].turn;
	}
}

/* What nobody said: the client's own, a failed request, an answer without a model. */
static bool is_hollow(const struct chain *c, const struct chain_message *x)
{
	return x->role == CHAIN_CLIENT || (c->lines[x->first].flags & (RECORD_ERROR | RECORD_SYNTHETIC));
}

/* A successor that goes nowhere and says nothing is no branch; what hangs on such a one
 * hangs on what it follows. */
static void find_branches(struct build *b, const uint32_t *order)
{
	struct chain *c = b->c;
	uint32_t *ways = arena_alloc(&b->mem, (c->message_count + 1) * sizeof *ways);

	/* Upwards: how many real ways lead on from each. */
	memset(ways, 0, (c->message_count + 1) * sizeof *ways);
	for (uint32_t i = c->message_count; i-- > 0;) {
		struct chain_message *x = &c->messages[order[i]];
		bool hollow = is_hollow(c, x);

		x->branches = hollow ? 0 : ways[order[i]];
		if (x->prev != CHAIN_NONE)
			ways[x->prev] += hollow ? ways[order[i]] : 1;
	}
}

static size_t count_calls(const struct chain *c)
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->line_count; i++)
		n += c->lines[i].tool_count;
	return n;
}

void chain_build(struct chain *c)
{
	struct build b CLEANUP(build_release) = { .c = c };
	const uint32_t *order;

	b.groups = numbers_new(&b.mem, c->line_count);
	b.uses = numbers_new(&b.mem, count_calls(c));
	enter_keys(c);
	find_parents(&b);
	make_messages(&b);
	find_order(&b);
	cut_circles(&b);
	order = downwards(c, &b.mem);
	find_turns(&b, order);
	find_branches(&b, order);
}

/* ---- Asking -------------------------------------------------------------------- */

uint32_t *chain_path(const struct chain *c, uint32_t message, struct arena *mem, uint32_t *count)
{
	uint32_t *path;
	uint32_t n = 0;

	for (uint32_t m = message; m != CHAIN_NONE; m = c->messages[m].prev)
		n++;
	path = arena_alloc(mem, (n + 1) * sizeof *path);
	*count = n;
	for (uint32_t m = message; m != CHAIN_NONE; m = c->messages[m].prev)
		path[--n] = m;
	return path;
}

/* Whether a line hangs on another, however far up. */
static bool descends(const struct chain *c, uint32_t line, uint32_t from)
{
	for (uint32_t steps = 0; line != CHAIN_NONE && steps <= c->line_count; steps++) {
		if (line == from)
			return true;
		line = c->lines[line].parent;
	}
	return false;
}

static bool is_said(const struct chain_line *l)
{
	return l->type == RECORD_USER || l->type == RECORD_ASSISTANT;
}

uint32_t chain_leaf(const struct chain *c)
{
	uint32_t last = CHAIN_NONE, noted = CHAIN_NONE, leaf;

	for (uint32_t i = 0; i < c->line_count; i++) {
		const struct chain_line *l = &c->lines[i];

		if (is_tree_line(l) && (c->is_agent || !(l->flags & RECORD_SIDECHAIN)))
			last = i;
		if (l->type == RECORD_LAST_PROMPT && (l->has_link || (l->flags & RECORD_EXPLICIT)))
			noted = i;
	}
	if (noted == CHAIN_NONE)
		leaf = last;
	else if (!c->lines[noted].has_link)
		leaf = last != CHAIN_NONE && last > noted ? last : CHAIN_NONE;
	else {
		leaf = chain_find(c, &c->lines[noted].link);
		if (leaf == CHAIN_NONE)
			leaf = last;
		else if (!((c->lines[noted].flags & RECORD_EXPLICIT) && last < noted) && descends(c, last, leaf))
			leaf = last;
	}
	for (uint32_t steps = 0; leaf != CHAIN_NONE && !is_said(&c->lines[leaf]) && steps <= c->line_count; steps++)
		leaf = c->lines[leaf].parent;
	return leaf == CHAIN_NONE || !is_said(&c->lines[leaf]) ? CHAIN_NONE : leaf;
}
