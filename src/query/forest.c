/*
 * Building the forest: sources are put in the order of their keys, so that nothing here
 * depends on the order they came in; then nodes, messages, what follows what, copies.
 * (forest_join.c joins copies with fresh ids, forest_shape.c finds turns and branches.)
 *
 * Linear time whatever the lines say, and no recursion. A message's place comes from its
 * first line alone: later lines of it may hang on results of the message itself, and
 * asking them would go in circles. What is left of circles is cut.
 */
#include "query/forest_build.h"

#include "base/hash.h"
#include "claude/fork.h"
#include "claude/record.h"

#include <stdlib.h>
#include <string.h>

void forest_release(struct forest *f)
{
	for (uint32_t i = 0; i < f->source_count; i++)
		chain_release(&f->sources[i].chain);
	mem_free(f->sources);
	arena_release(&f->mem);
	*f = (struct forest)FOREST_INIT;
}

struct forest_source *forest_add(struct forest *f)
{
	if (f->source_count == f->source_cap) {
		f->source_cap = f->source_cap ? f->source_cap * 2 : 8;
		f->sources = mem_resize(f->sources, f->source_cap * sizeof *f->sources);
	}
	f->sources[f->source_count] = (struct forest_source){
		.base = FOREST_NONE, .borrower = FOREST_NONE, .next_borrower = FOREST_NONE
	};
	return &f->sources[f->source_count++];
}

const struct chain_line *forest_line(const struct forest *f, uint32_t node)
{
	const struct forest_copy *c = &f->nodes[node].canon;

	return &f->sources[c->source].chain.lines[c->line];
}

/* ---- Sources --------------------------------------------------------------------- */

/* By root and path, which is what a source's key is made of; what is told of sub-agents in
 * progress lines comes behind the files. */
static int by_key(const void *a, const void *b)
{
	const struct forest_source *x = a, *y = b;
	int order = (int)x->embedded - (int)y->embedded;

	order = order ? order : str_cmp(x->session.root, y->session.root);
	order = order ? order : str_cmp(x->session.path, y->session.path);
	return order ? order : str_cmp(x->agent, y->agent);
}

static uint64_t record_key(const struct chain_line *l)
{
	return l->has_key ? hash64(l->key.b, UUID_BYTES) : l->same;
}

/* Where its first message says so: the client that forks says it of every line it copies. */
static bool says_forked(const struct chain *c)
{
	for (uint32_t i = 0; i < c->line_count; i++) {
		const struct chain_line *l = &c->lines[i];

		if (l->has_key && (l->type == RECORD_USER || l->type == RECORD_ASSISTANT))
			return l->has_link;
	}
	return false;
}

/* A sub-agent's file stays what it was. What is here in part is known from where all of it is. */
static bool is_fork(const struct forest_source *s)
{
	if (s->agent.n)
		return false;
	return s->is_fork || fork_is_marked(&s->session.id) || (s->base == FOREST_NONE && says_forked(&s->chain));
}

/* Which records stand in one source only, and the first time of any of them. Of one source
 * alone nobody asks. */
static void find_first_own(struct build *b)
{
	struct forest *f = b->f;
	struct numbers owners;

	if (f->source_count < 2)
		return;
	owners = numbers_new(&b->mem, b->line_count);
	for (uint32_t s = 0; s < f->source_count; s++)
		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++) {
			uint64_t key = record_key(&f->sources[s].chain.lines[i]);
			uint32_t known = numbers_get(&owners, key);

			numbers_put(&owners, key,
				    (known == NUMBERS_NONE || known == s) && i >= f->sources[s].lent
					    ? s
					    : f->source_count);
		}
	for (uint32_t s = 0; s < f->source_count; s++) {
		struct forest_source *x = &f->sources[s];

		x->is_fork = is_fork(x);
		x->first_own = INT64_MAX;
		for (uint32_t i = 0; i < x->chain.line_count; i++) {
			const struct chain_line *l = &x->chain.lines[i];

			if (l->at && l->at < x->first_own && numbers_get(&owners, record_key(l)) == s)
				x->first_own = l->at;
		}
	}
}

/* ---- Canonical copies ------------------------------------------------------------- */

static int compare_times(int64_t a, int64_t b)
{
	/* None at all comes last. */
	a = a ? a : INT64_MAX;
	b = b ? b : INT64_MAX;
	return a < b ? -1 : a > b;
}

/* A copy as it is where everything is loaded: a line of a base stands in its borrowers, too. */
struct standing {
	const struct chain_line *line;
	uint32_t source, place;
};

static struct standing standing_in(const struct forest *f, const struct forest_copy *c, uint32_t source)
{
	const struct forest_source *s = &f->sources[c->source];
	bool behind = c->source == source && s->base != FOREST_NONE;

	return (struct standing){ &s->chain.lines[c->line], source, c->line + (behind ? s->chain.shared : 0) };
}

/* In the source in which it is most likely the original. */
static struct standing standing_of(const struct forest *f, const struct forest_copy *c)
{
	const struct forest_source *s = &f->sources[c->source];

	return standing_in(f, c, s->standing ? s->standing[c->line] : c->source);
}

/* Nothing that was said is a fork's first: who was forked at its end has no record of its own, and stays what it was,
 * a sub-agent above all. */
static int compare_sources(const struct forest *f, uint32_t a, uint32_t b)
{
	int order = f->sources[a].is_fork - f->sources[b].is_fork;

	order = order ? order : compare_times(f->sources[a].first_own, f->sources[b].first_own);
	return order ? order : (a > b) - (a < b);
}

/* Which of two copies is the original, by all that is known of them: an old client's copy
 * has no requestId, and its time is that of the copying. */
static int compare_standing(const struct forest *f, const struct standing *a, const struct standing *b)
{
	int order = !(a->line->flags & RECORD_REQUEST) - !(b->line->flags & RECORD_REQUEST);

	order = order ? order : compare_times(a->line->at, b->line->at);
	order = order ? order : compare_sources(f, a->source, b->source);
	return order ? order : (a->place < b->place) - (a->place > b->place);
}

int forest_compare(const struct forest *f, const struct forest_copy *a, const struct forest_copy *b)
{
	struct standing x = standing_of(f, a), y = standing_of(f, b);

	return compare_standing(f, &x, &y);
}

static bool comes_first(const struct forest *f, uint32_t source, uint32_t before)
{
	return source != FOREST_NONE && (before == FOREST_NONE || compare_sources(f, source, before) < 0);
}

/* Of the lines of bases, in which source each is the original: a borrower has those before `shared`. */
static void find_standing(struct build *b)
{
	struct forest *f = b->f;

	for (uint32_t s = 0; s < f->source_count; s++) {
		struct forest_source *x = &f->sources[s], *base;
		uint32_t *last;

		if (x->base == FOREST_NONE)
			continue;
		base = &f->sources[x->base];
		x->next_borrower = base->borrower;
		base->borrower = s;
		if (!base->standing) {
			base->standing = arena_alloc(&f->mem, (base->chain.line_count + 1) * sizeof *last);
			memset(base->standing, 0xff, (base->chain.line_count + 1) * sizeof *last);
		}
		last = &base->standing[x->chain.shared - 1];
		if (comes_first(f, s, *last))
			*last = s;
	}
	for (uint32_t s = 0; s < f->source_count; s++) {
		struct forest_source *x = &f->sources[s];
		uint32_t best = s;

		for (uint32_t i = x->standing ? x->chain.line_count : 0; i-- > 0;) {
			if (comes_first(f, x->standing[i], best))
				best = x->standing[i];
			x->standing[i] = best;
		}
	}
}

/* ---- Nodes ------------------------------------------------------------------------ */

static bool has_uuid(const struct forest *f, uint32_t node, const struct uuid *key)
{
	return node != FOREST_NONE && uuid_eq(&forest_line(f, node)->key, key);
}

uint32_t forest_find(const struct forest *f, const struct uuid *key)
{
	uint32_t n = numbers_get(&f->by_key, hash64(key->b, UUID_BYTES));

	return has_uuid(f, n, key) ? n : FOREST_NONE;
}

static uint64_t variant_key(const struct chain_line *l)
{
	uint64_t both[2] = { l->content, hash64(l->key.b, UUID_BYTES) };

	return hash64(both, sizeof both);
}

/* The node with a line's uuid and content among those with its uuid, of which `last` came last; else the
 * next node is noted as that. Hardly any uuid has two: nobody is noted before. */
static uint32_t variant_of(struct build *b, const struct chain_line *l, uint32_t last)
{
	struct forest *f = b->f;

	if (forest_line(f, last)->content == l->content)
		return last;
	if (!b->variants.slots)
		b->variants = numbers_new(&b->mem, 2 * (size_t)b->line_count);
	numbers_add(&b->variants, variant_key(forest_line(f, last)), last);
	return numbers_add(&b->variants, variant_key(l), f->node_count);
}

static uint32_t node_of(struct build *b, const struct chain_line *l, const struct forest_copy *copy)
{
	struct forest *f = b->f;
	uint64_t key = hash64(l->key.b, UUID_BYTES);
	uint32_t n = f->node_count, before = numbers_add(&f->by_key, key, n);
	bool known = before != n && has_uuid(f, before, &l->key);

	if (known && (n = variant_of(b, l, before)) < f->node_count)
		return n;
	if (before != n)
		numbers_put(&f->by_key, key, n);
	f->nodes[n] = (struct forest_node){
		.copies = FOREST_NONE,
		.canon = *copy,
		.next_variant = known ? before : FOREST_NONE,
		.message = FOREST_NONE,
		.replaced = FOREST_NONE,
		.next = FOREST_NONE,
	};
	f->node_count++;
	return n;
}

static void make_nodes(struct build *b)
{
	struct forest *f = b->f;

	f->nodes = arena_alloc(&f->mem, (b->line_count + 1) * sizeof *f->nodes);
	f->copies = arena_alloc(&f->mem, (b->line_count + 1) * sizeof *f->copies);
	f->by_key = numbers_new(&f->mem, b->line_count);
	for (uint32_t s = 0; s < f->source_count; s++) {
		struct forest_source *x = &f->sources[s];

		x->nodes = arena_alloc(&f->mem, (x->chain.line_count + 1) * sizeof *x->nodes);
		for (uint32_t i = 0; i < x->chain.line_count; i++) {
			struct forest_copy copy = { s, i, FOREST_NONE };
			const struct chain_line *l = &x->chain.lines[i];
			uint32_t n;

			x->nodes[i] = FOREST_NONE;
			if (!l->has_key)
				continue;
			x->nodes[i] = n = node_of(b, l, &copy);
			copy.next = f->nodes[n].copies;
			f->nodes[n].copies = f->copy_count;
			f->copies[f->copy_count++] = copy;
			if (copy.next != FOREST_NONE && forest_compare(f, &copy, &f->nodes[n].canon) < 0)
				f->nodes[n].canon = copy;
		}
	}
}

static int by_canon(const void *a, const void *b, void *forest)
{
	const struct forest *f = forest;

	return forest_compare(f, &f->nodes[*(const uint32_t *)a].canon,
			      &f->nodes[*(const uint32_t *)b].canon);
}

uint32_t *forest_room(struct build *b, uint32_t count)
{
	if (count > b->room_cap) {
		b->room_cap = 2 * count;
		b->room = arena_alloc(&b->mem, b->room_cap * sizeof *b->room);
	}
	return b->room;
}

/* The variants of a uuid in canonical order; they are found by the first. */
static void order_variants(struct build *b, uint32_t head)
{
	struct forest *f = b->f;
	uint32_t count = 0, *list;

	for (uint32_t n = head; n != FOREST_NONE; n = f->nodes[n].next_variant)
		count++;
	list = forest_room(b, count);
	count = 0;
	for (uint32_t n = head; n != FOREST_NONE; n = f->nodes[n].next_variant)
		list[count++] = n;
	qsort_r(list, count, sizeof *list, by_canon, f);
	for (uint32_t i = 0; i < count; i++) {
		f->nodes[list[i]].variant = i;
		f->nodes[list[i]].next_variant = i + 1 < count ? list[i + 1] : FOREST_NONE;
	}
	numbers_put(&f->by_key, hash64(forest_line(f, list[0])->key.b, UUID_BYTES), list[0]);
}

static void order_all_variants(struct build *b)
{
	struct forest *f = b->f;

	for (uint32_t n = 0; n < f->node_count; n++)
		if (f->nodes[n].next_variant != FOREST_NONE && f->nodes[n].variant == 0 &&
		    forest_find(b->f, &forest_line(f, n)->key) == n)
			order_variants(b, n);
}

/* ---- Parents ---------------------------------------------------------------------- */

/* In its own source first; then anywhere; then what the client would take instead. Who names itself hangs on nothing,
 * also where another line has its uuid. */
uint32_t forest_parent(const struct forest *f, uint32_t node)
{
	const struct forest_source *s = &f->sources[f->nodes[node].canon.source];
	const struct chain_line *l = forest_line(f, node);
	uint32_t anywhere;

	if (!l->has_parent)
		return FOREST_NONE;
	if (l->parent != CHAIN_NONE && !l->inferred)
		return s->nodes[l->parent];
	anywhere = forest_find(f, &l->parent_key);
	if (l->parent_at < 0 && anywhere != FOREST_NONE && anywhere != node && !uuid_eq(&l->parent_key, &l->key))
		return anywhere;
	return l->parent == CHAIN_NONE ? FOREST_NONE : s->nodes[l->parent];
}

/* ---- Messages ---------------------------------------------------------------------- */

static uint32_t new_message(struct build *b, enum forest_role role)
{
	struct forest *f = b->f;

	f->messages[f->message_count] = (struct forest_message){
		.role = role,
		.first = FOREST_NONE,
		.owner = FOREST_NONE,
		.results = FOREST_NONE,
		.prev = FOREST_NONE,
		.boundary = FOREST_NONE,
		.canonical = f->message_count,
		.next_copy = FOREST_NONE,
		.turn = FOREST_NONE,
	};
	return f->message_count++;
}

static void add_node(struct build *b, uint32_t message, uint32_t node)
{
	struct forest *f = b->f;
	struct forest_message *m = &f->messages[message];

	f->nodes[node].message = message;
	f->nodes[node].next = m->first;
	m->first = node;
	m->count++;
}

static uint32_t part_of(uint32_t *up, uint32_t n)
{
	while (up[n] != n)
		n = up[n] = up[up[n]];
	return n;
}

/* Answers that a base has the beginning of. */
static void join_begun(struct build *b, uint32_t *up)
{
	struct forest *f = b->f;
	struct numbers *begun = arena_alloc(&b->mem, (f->source_count + 1) * sizeof *begun);

	for (uint32_t s = 0; s < f->source_count; s++) {
		const struct forest_source *x = &f->sources[s];
		const struct forest_source *base = x->base == FOREST_NONE ? NULL : &f->sources[x->base];

		if (base && !begun[x->base].slots) {
			begun[x->base] = numbers_new(&b->mem, base->chain.answer_count);
			for (uint32_t a = 0; a < base->chain.answer_count; a++)
				if (base->chain.lines[base->chain.answers[a].first].has_api)
					numbers_put(&begun[x->base],
						    base->chain.lines[base->chain.answers[a].first].api, a);
		}
		for (uint32_t a = 0; base && a < x->chain.answer_count; a++) {
			uint32_t first = x->chain.answers[a].first, of = NUMBERS_NONE;

			if (x->chain.lines[first].has_api)
				of = numbers_get(&begun[x->base], x->chain.lines[first].api);
			if (of != NUMBERS_NONE && base->chain.answers[of].first < x->chain.shared)
				up[part_of(up, x->nodes[first])] =
					part_of(up, base->nodes[base->chain.answers[of].first]);
		}
	}
}

/* Answers by their API message in each source. A copy may hold fewer parts; a part that is in
 * several sources makes one of what they hold. */
static void group_answers(struct build *b)
{
	struct forest *f = b->f;
	uint32_t *up = arena_alloc(&b->mem, (f->node_count + 1) * sizeof *up);

	for (uint32_t n = 0; n < f->node_count; n++)
		up[n] = n;
	for (uint32_t s = 0; s < f->source_count; s++) {
		const struct forest_source *x = &f->sources[s];

		for (uint32_t a = 0; a < x->chain.answer_count; a++) {
			uint32_t first = x->chain.answers[a].first;

			for (uint32_t i = first; i != CHAIN_NONE; i = x->chain.lines[i].next)
				up[part_of(up, x->nodes[i])] = part_of(up, x->nodes[first]);
		}
	}
	join_begun(b, up);
	for (uint32_t s = 0; s < f->source_count; s++)
		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++) {
			uint32_t n = f->sources[s].nodes[i], top;

			if (f->sources[s].chain.lines[i].answer == CHAIN_NONE || f->nodes[n].message != FOREST_NONE)
				continue;
			top = part_of(up, n);
			if (f->nodes[top].message == FOREST_NONE)
				add_node(b, new_message(b, FOREST_ASSISTANT), top);
			if (top != n)
				add_node(b, f->nodes[top].message, n);
		}
}

static uint64_t call_in(uint32_t source, uint64_t call)
{
	uint64_t both[2] = { source, call };

	return hash64(both, sizeof both);
}

/* Calls by source, and by the first source that has them. */
static void list_calls(struct build *b)
{
	struct forest *f = b->f;

	b->calls = numbers_new(&b->mem, 2 * b->call_count);
	for (uint32_t s = 0; s < f->source_count; s++) {
		const struct forest_source *x = &f->sources[s];

		for (uint32_t i = 0; i < x->chain.line_count; i++) {
			const struct chain_line *l = &x->chain.lines[i];
			uint32_t n = x->nodes[i];

			if (l->type != RECORD_ASSISTANT || n == FOREST_NONE ||
			    f->nodes[n].message == FOREST_NONE)
				continue;
			for (uint32_t t = 0; t < l->tool_count; t++) {
				numbers_put(&b->calls, call_in(s, l->tools[t]), f->nodes[n].message);
				numbers_add(&b->calls, l->tools[t], f->nodes[n].message);
			}
		}
	}
}

/* The answer whose calls these are results of. */
static uint32_t asker(const struct build *b, uint32_t node)
{
	const struct chain_line *l = forest_line(b->f, node);
	uint32_t m = FOREST_NONE;

	for (uint32_t t = 0; m == FOREST_NONE && t < l->tool_count; t++) {
		uint32_t source = b->f->nodes[node].canon.source, base = b->f->sources[source].base;

		m = numbers_get(&b->calls, call_in(source, l->tools[t]));
		if (m == FOREST_NONE && base != FOREST_NONE)
			m = numbers_get(&b->calls, call_in(base, l->tools[t]));
		if (m == FOREST_NONE)
			m = numbers_get(&b->calls, l->tools[t]);
	}
	return m;
}

static bool is_result(const struct chain_line *l)
{
	return l->type == RECORD_USER && (l->flags & RECORD_RESULT);
}

static bool role_of(const struct chain_line *l, enum forest_role *role)
{
	*role = FOREST_CLIENT;
	if (is_result(l))
		*role = FOREST_RESULTS;
	else if ((l->type == RECORD_USER && !(l->flags & RECORD_META)) ||
		 (l->type == RECORD_ATTACHMENT && (l->flags & RECORD_QUEUED)))
		*role = FOREST_USER;
	return l->type == RECORD_USER || l->type == RECORD_ATTACHMENT ||
	       (l->type == RECORD_SYSTEM && (l->flags & RECORD_SENT));
}

static void place_alone(struct build *b, uint32_t node)
{
	struct forest *f = b->f;
	uint32_t owner = FOREST_NONE, m = FOREST_NONE;
	enum forest_role role;

	if (!role_of(forest_line(f, node), &role) || f->nodes[node].message != FOREST_NONE)
		return;
	if (role == FOREST_RESULTS)
		owner = asker(b, node);
	if (owner != FOREST_NONE)
		m = f->messages[owner].results;
	if (m == FOREST_NONE)
		m = new_message(b, role);
	if (owner != FOREST_NONE) {
		f->messages[owner].results = m;
		f->messages[m].owner = owner;
	}
	add_node(b, m, node);
}

static void make_messages(struct build *b)
{
	struct forest *f = b->f;

	f->messages = arena_alloc(&f->mem, (f->node_count + 1) * sizeof *f->messages);
	group_answers(b);
	list_calls(b);
	for (uint32_t s = 0; s < f->source_count; s++)
		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++)
			if (f->sources[s].nodes[i] != FOREST_NONE)
				place_alone(b, f->sources[s].nodes[i]);
}

/* ---- Their lines in order ------------------------------------------------------------ */

struct ordering {
	const struct forest *f;
	uint32_t source;
};

/* Where a node stands in a source first: a file that repeats lines repeats them in order. */
static uint32_t place_in(const struct forest *f, uint32_t source, uint32_t node)
{
	const struct forest_source *s = &f->sources[source];
	uint32_t place = FOREST_NONE;

	for (uint32_t c = f->nodes[node].copies; c != FOREST_NONE; c = f->copies[c].next) {
		const struct forest_copy *copy = &f->copies[c];

		if (copy->source == source || (copy->source == s->base && copy->line < s->chain.shared)) {
			uint32_t at = standing_in(f, copy, source).place;

			place = at < place ? at : place;
		}
	}
	return place;
}

static int by_place(const void *a, const void *b, void *ordering)
{
	const struct ordering *o = ordering;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t px = place_in(o->f, o->source, x), py = place_in(o->f, o->source, y);

	if (px != py)
		return px < py ? -1 : 1;
	return forest_compare(o->f, &o->f->nodes[x].canon, &o->f->nodes[y].canon);
}

/* The sources that have a copy: its own first, then those that borrow it, unless one of them is as good as all. */
static uint32_t next_holder(const struct forest *f, const struct forest_copy *c, uint32_t at, bool all)
{
	if (!all)
		return FOREST_NONE;
	at = at == c->source ? f->sources[at].borrower : f->sources[at].next_borrower;
	while (at != FOREST_NONE && f->sources[at].chain.shared <= c->line)
		at = f->sources[at].next_borrower;
	return at;
}

static uint32_t count_held(struct build *b, uint32_t source, uint32_t node)
{
	const struct forest *f = b->f;
	struct holding *h = &b->holdings[source];

	if (h->last == FOREST_NONE || f->nodes[h->last].message != f->nodes[node].message)
		h->count = 0;
	h->count += h->count == 0 || h->last != node;
	h->last = node;
	return h->count;
}

/* The source that has most lines of a message; of several the one with the original. Who borrows a line
 * matters where it has others of the message, too. */
static uint32_t fullest_source(struct build *b, const struct forest_message *m)
{
	const struct forest *f = b->f;
	struct standing best = { 0 };
	bool all = m->count > 1;
	uint32_t most = 0;

	if (f->source_count == 1)
		return 0;
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
		for (uint32_t c = f->nodes[n].copies; c != FOREST_NONE; c = f->copies[c].next)
			for (uint32_t s = f->copies[c].source; s != FOREST_NONE;
			     s = next_holder(f, &f->copies[c], s, all)) {
				uint32_t held = count_held(b, s, n);

				most = held > most ? held : most;
			}
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
		for (uint32_t c = f->nodes[n].copies; c != FOREST_NONE; c = f->copies[c].next)
			for (uint32_t s = f->copies[c].source; s != FOREST_NONE;
			     s = next_holder(f, &f->copies[c], s, all)) {
				struct standing one = standing_in(f, &f->copies[c], s);

				if (b->holdings[s].count == most &&
				    (!best.line || compare_standing(f, &one, &best) < 0))
					best = one;
			}
	return best.source;
}

static void order_lines(struct build *b, uint32_t message)
{
	struct forest *f = b->f;
	struct forest_message *m = &f->messages[message];
	uint32_t count = 0;
	struct ordering o = { f, fullest_source(b, m) };

	forest_room(b, m->count);
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
		b->room[count++] = n;
	m->source = o.source;
	if (count > 1)
		qsort_r(b->room, count, sizeof *b->room, by_place, &o);
	for (uint32_t i = 0; i < count; i++)
		f->nodes[b->room[i]].next = i + 1 < count ? b->room[i + 1] : FOREST_NONE;
	m->first = b->room[0];
	m->sidechain = (forest_line(f, m->first)->flags & RECORD_SIDECHAIN) || f->sources[m->source].agent.n;
}

/* ---- What follows what ---------------------------------------------------------------- */

static bool is_boundary(const struct chain_line *l)
{
	return l->flags & RECORD_BOUNDARY;
}

static bool is_anchor(const struct forest *f, uint32_t node)
{
	return f->nodes[node].message != FOREST_NONE || is_boundary(forest_line(f, node));
}

/* The nearest node at or above one that is in a message or is a boundary; whoever was
 * passed on the way remembers it. */
static uint32_t anchor_of(struct build *b, uint32_t node)
{
	const uint32_t unknown = FOREST_NONE - 1, on_the_way = FOREST_NONE - 2;
	uint32_t at = node, found;

	while (at != FOREST_NONE && !is_anchor(b->f, at) && b->anchors[at] == unknown) {
		b->anchors[at] = on_the_way;
		at = forest_parent(b->f, at);
	}
	if (at == FOREST_NONE || (!is_anchor(b->f, at) && b->anchors[at] == on_the_way))
		found = FOREST_NONE; /* the top, or a circle */
	else
		found = is_anchor(b->f, at) ? at : b->anchors[at];
	for (at = node; at != FOREST_NONE && !is_anchor(b->f, at) && b->anchors[at] == on_the_way;
	     at = forest_parent(b->f, at))
		b->anchors[at] = found;
	return found;
}

/* From its first line upwards to another message. Lines of its own may stand in between
 * where a file is out of order. */
static uint32_t message_above(struct build *b, uint32_t message, uint32_t *boundary)
{
	const struct forest *f = b->f;
	uint32_t at = forest_parent(b->f, f->messages[message].first);

	for (uint32_t steps = 0; at != FOREST_NONE && steps <= f->messages[message].count; steps++) {
		at = anchor_of(b, at);
		if (at == FOREST_NONE)
			return FOREST_NONE;
		if (is_boundary(forest_line(f, at))) {
			*boundary = at;
			return FOREST_NONE;
		}
		if (f->nodes[at].message != message)
			return f->nodes[at].message;
		at = forest_parent(b->f, at);
	}
	return FOREST_NONE;
}

static void link_messages(struct build *b)
{
	struct forest *f = b->f;

	b->anchors = arena_alloc(&b->mem, (f->node_count + 1) * sizeof *b->anchors);
	for (uint32_t n = 0; n < f->node_count; n++)
		b->anchors[n] = FOREST_NONE - 1;
	for (uint32_t m = 0; m < f->message_count; m++) {
		struct forest_message *x = &f->messages[m];
		uint32_t above = x->owner;

		if (above == FOREST_NONE)
			above = message_above(b, m, &x->boundary);
		/* A sub-agent's conversation is its own. */
		if (above != FOREST_NONE && f->messages[above].sidechain == x->sidechain)
			x->prev = above;
	}
}

/* Which of two messages is the beginning when they follow each other: the earlier one, by
 * its first line. */
static bool begins_before(const struct forest *f, uint32_t a, uint32_t b)
{
	struct standing x = standing_of(f, &f->nodes[f->messages[a].first].canon);
	struct standing y = standing_of(f, &f->nodes[f->messages[b].first].canon);
	int order = compare_times(x.line->at, y.line->at);

	if (order || x.source != y.source)
		return order ? order < 0 : x.source < y.source;
	return x.place < y.place;
}

/* Cuts every circle before its earliest message, wherever the walk began. */
void forest_cut_circles(struct build *b)
{
	struct forest *f = b->f;
	uint32_t *seen = memset(arena_alloc(&b->mem, (f->message_count + 1) * sizeof *seen), 0xff,
				(f->message_count + 1) * sizeof *seen);

	for (uint32_t m = 0; m < f->message_count; m++) {
		uint32_t at = m, least;

		while (at != FOREST_NONE && seen[at] == FOREST_NONE) {
			seen[at] = m;
			at = f->messages[at].prev;
		}
		if (at == FOREST_NONE || seen[at] != m)
			continue;
		least = at;
		for (uint32_t x = f->messages[at].prev; x != at; x = f->messages[x].prev)
			least = begins_before(f, x, least) ? x : least;
		f->messages[least].prev = FOREST_NONE;
	}
}

/* A compaction, or a line whose parent is nowhere. */
static bool is_new_root(const struct build *b, uint32_t node)
{
	const struct chain_line *l = forest_line(b->f, node);

	return is_boundary(l) || (l->has_parent && forest_parent(b->f, node) == FOREST_NONE);
}

static void add_continues(struct build *b, uint32_t node, uint32_t before)
{
	struct forest *f = b->f;
	const struct chain_line *l = forest_line(f, node);
	uint32_t named = is_boundary(l) && l->has_link ? forest_find(b->f, &l->link) : FOREST_NONE;
	bool inferred = named == FOREST_NONE || named == node;
	uint32_t to = inferred ? before : named;
	uint32_t above = to == FOREST_NONE ? FOREST_NONE : anchor_of(b, to);

	/* A line may stand twice in a file, one behind the other. */
	if (to != FOREST_NONE && to != node)
		f->continues[f->continues_count++] = (struct forest_continues){
			.from = node,
			.to = to,
			.message = above == FOREST_NONE ? FOREST_NONE : f->nodes[above].message,
			.inferred = inferred,
		};
}

/* The node before the lines of a source that has not its beginning; FOREST_NONE = it has, or begins with these. */
static uint32_t last_shared(const struct forest *f, const struct forest_source *s)
{
	uint32_t i = s->base == FOREST_NONE ? 0 : s->chain.shared;

	while (i > 0 && f->sources[s->base].nodes[i - 1] == FOREST_NONE)
		i--;
	return i > 0 ? f->sources[s->base].nodes[i - 1] : FOREST_NONE;
}

static void find_continues(struct build *b)
{
	struct forest *f = b->f;

	f->continues = arena_alloc(&f->mem, (b->line_count + 1) * sizeof *f->continues);
	for (uint32_t s = 0; s < f->source_count; s++) {
		uint32_t before = FOREST_NONE, last = last_shared(f, &f->sources[s]);

		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++) {
			uint32_t n = f->sources[s].nodes[i];

			if (n == FOREST_NONE)
				continue;
			/* A line that is repeated at once does not stand before itself. */
			before = n != last ? last : before;
			last = n;
			if (f->nodes[n].canon.source == s && f->nodes[n].canon.line == i && is_new_root(b, n))
				add_continues(b, n, before);
		}
	}
	f->continued = numbers_new(&f->mem, f->continues_count);
	for (uint32_t i = 0; i < f->continues_count; i++)
		numbers_put(&f->continued, f->continues[i].from, i);
}

/* A line of an answer that another with its uuid has taken the place of: it belongs where that
 * one is. */
static void find_replaced(struct forest *f)
{
	for (uint32_t head = 0; head < f->node_count; head++) {
		uint32_t m = FOREST_NONE;

		if (f->nodes[head].variant || f->nodes[head].next_variant == FOREST_NONE)
			continue;
		for (uint32_t n = head; n != FOREST_NONE && m == FOREST_NONE; n = f->nodes[n].next_variant)
			m = f->nodes[n].message;
		for (uint32_t n = head; n != FOREST_NONE; n = f->nodes[n].next_variant)
			if (f->nodes[n].message == FOREST_NONE && forest_line(f, n)->type == RECORD_ASSISTANT)
				f->nodes[n].replaced = m;
	}
}

/* ---- All of it -------------------------------------------------------------------------- */

static void build_release(struct build *b)
{
	arena_release(&b->mem);
}

void forest_build(struct forest *f)
{
	struct build b CLEANUP(build_release) = { .f = f };

	if (f->source_count)
		qsort(f->sources, f->source_count, sizeof *f->sources, by_key);
	for (uint32_t s = 0; s < f->source_count; s++) {
		if (f->sources[s].base != FOREST_NONE)
			f->sources[s].chain.base = &f->sources[f->sources[s].base].chain;
		chain_build(&f->sources[s].chain);
		b.line_count += f->sources[s].chain.line_count;
		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++)
			b.call_count += f->sources[s].chain.lines[i].tool_count;
	}
	find_first_own(&b);
	find_standing(&b);
	make_nodes(&b);
	order_all_variants(&b);
	make_messages(&b);
	b.holdings = arena_alloc(&b.mem, (f->source_count + 1) * sizeof *b.holdings);
	for (uint32_t s = 0; s < f->source_count; s++)
		b.holdings[s].last = FOREST_NONE;
	for (uint32_t m = 0; m < f->message_count; m++)
		order_lines(&b, m);
	link_messages(&b);
	forest_cut_circles(&b);
	find_continues(&b);
	forest_join(&b);
	forest_shape(&b);
	find_replaced(f);
	f->has_variants = b.variants.slots != NULL;
	for (uint32_t m = 0; m < f->message_count && !f->has_joined; m++)
		f->has_joined = f->messages[m].canonical != m;
}

static bool find_offset(const struct chain *c, int64_t offset, uint32_t *line)
{
	*line = chain_line_at(c, offset);
	return *line != CHAIN_NONE;
}

bool forest_find_line(const struct forest *f, int64_t row, int64_t offset, uint32_t *source, uint32_t *line)
{
	for (uint32_t s = 0; s < f->source_count; s++)
		if (f->sources[s].session.row == row && find_offset(&f->sources[s].chain, offset, line)) {
			*source = s;
			return true;
		}
	return false;
}

bool forest_has_variants(const struct forest *f, uint32_t node)
{
	return f->nodes[node].variant || f->nodes[node].next_variant != FOREST_NONE;
}

uint32_t forest_message_of(const struct forest *f, uint32_t source, uint32_t line)
{
	uint32_t n = f->sources[source].nodes[line], m = n == FOREST_NONE ? FOREST_NONE : f->nodes[n].message;

	if (n != FOREST_NONE && m == FOREST_NONE)
		m = f->nodes[n].replaced;
	return m == FOREST_NONE ? FOREST_NONE : f->messages[m].canonical;
}

uint32_t forest_message_above(const struct forest *f, uint32_t source, uint32_t *line)
{
	const struct chain *c = &f->sources[source].chain;

	for (uint32_t steps = 0; *line != CHAIN_NONE && steps <= c->line_count; steps++) {
		uint32_t message = forest_message_of(f, source, *line);

		if (message != FOREST_NONE)
			return message;
		*line = c->lines[*line].parent;
	}
	return FOREST_NONE;
}

bool forest_is_agents(const struct forest *f, uint32_t source)
{
	const struct chain *c = &f->sources[source].chain;
	uint32_t line = chain_leaf(c), top = FOREST_NONE;

	if (f->sources[source].agent.n)
		return true;
	for (uint32_t steps = 0; line != CHAIN_NONE && steps <= c->line_count; steps++) {
		uint32_t message = forest_message_of(f, source, line);

		top = message == FOREST_NONE ? top : message;
		line = c->lines[line].parent;
	}
	return top != FOREST_NONE && f->messages[top].sidechain;
}

/* The line a message hangs on in the end: itself, or a note of the client's above it. */
static uint32_t top_of(const struct forest *f, const struct forest_message *m)
{
	enum { MOST_NOTES = 4096 }; /* above one message; more were made to cost time */
	const struct forest_copy *c = &f->nodes[m->first].canon;
	const struct forest_source *s = &f->sources[c->source];
	uint32_t line = c->line;

	if (m->boundary != FOREST_NONE)
		return m->boundary;
	for (uint32_t steps = 0; s->chain.lines[line].parent != CHAIN_NONE && !s->chain.lines[line].inferred &&
				 steps < MOST_NOTES;
	     steps++)
		line = s->chain.lines[line].parent;
	return s->nodes[line];
}

uint32_t forest_goes_on_from(const struct forest *f, uint32_t message)
{
	uint32_t top = top_of(f, &f->messages[message]);
	uint32_t i = top == FOREST_NONE ? NUMBERS_NONE : numbers_get(&f->continued, top);
	uint32_t to = i == NUMBERS_NONE ? FOREST_NONE : f->continues[i].message;

	return to == FOREST_NONE || to == message ? FOREST_NONE : f->messages[to].canonical;
}

bool forest_leaf(const struct forest *f, uint32_t source, uint32_t *at, uint32_t *line)
{
	const struct forest_source *s = &f->sources[source];
	bool is_shared;

	*line = s->embedded ? CHAIN_NONE : chain_leaf(&s->chain);
	is_shared = s->base != FOREST_NONE && *line < s->chain.shared;
	*at = is_shared ? s->base : source;
	if (*line == CHAIN_NONE)
		return false;
	*line -= is_shared ? 0 : s->chain.shared;
	return true;
}

uint32_t *forest_path(const struct forest *f, uint32_t message, struct arena *mem, uint32_t *count)
{
	uint32_t *path;
	uint32_t n = 0;

	for (uint32_t m = message; m != FOREST_NONE; m = f->messages[m].prev)
		n++;
	path = arena_alloc(mem, (n + 1) * sizeof *path);
	*count = n;
	for (uint32_t m = message; m != FOREST_NONE; m = f->messages[m].prev)
		path[--n] = m;
	return path;
}
