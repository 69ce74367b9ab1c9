/*
 * Copies with fresh ids: clients up to 1.0.80, forks through the SDK, files made by hand.
 *
 * Joined are: what says it was forked from; answers with one API message of which one
 * holds all the other says; results of joined answers; and between joined messages, or
 * between one and the beginning or end of both, runs of prompts and attachments that are
 * equal one by one. Only messages that have no file in common are copies of one another,
 * and a sub-agent's only of a sub-agent's.
 *
 * Comparing takes linear time but for runs: files could be made so that the same lines are
 * walked again and again. Those have so many steps in all, and are left as they are then.
 */
#include "query/forest_build.h"

#include "claude/record.h"

#include <stdlib.h>
#include <string.h>

enum {
	RUN_STEPS = 256,  /* for each line; real conversations take less than ten */
	ALL_PAIRS = 8,	  /* of so many copies each is compared with each; of more with its neighbour */
	MOST_ROUNDS = 64, /* of finding runs between what was joined in the round before */
};

struct joining {
	struct build *b;
	uint32_t *up;	  /* by message: another that it is joined to; itself = none */
	uint32_t *stamps; /* by source */
	uint32_t stamp;
	uint32_t *said;	 /* by node: the first that says the same */
	uint32_t *marks; /* by node */
	uint32_t mark;
	uint64_t steps; /* that are left for runs */
	uint32_t *heads, *nexts; /* lists of messages */
};

static uint32_t class_of(struct joining *j, uint32_t m)
{
	while (j->up[m] != m)
		m = j->up[m] = j->up[j->up[m]];
	return m;
}

static bool join(struct joining *j, uint32_t a, uint32_t b)
{
	a = class_of(j, a);
	b = class_of(j, b);
	if (j->b->f->messages[a].sidechain != j->b->f->messages[b].sidechain)
		return false;
	j->up[a > b ? a : b] = a < b ? a : b;
	return a != b;
}

static bool is_joined(struct joining *j, uint32_t a, uint32_t b)
{
	return a != FOREST_NONE && b != FOREST_NONE && class_of(j, a) == class_of(j, b);
}

static void count_step(struct joining *j)
{
	j->steps -= j->steps > 0;
}

/* Whether no file holds lines of both. */
static bool are_apart(struct joining *j, uint32_t a, uint32_t b)
{
	const struct forest *f = j->b->f;

	j->stamp++;
	for (uint32_t n = f->messages[a].first; n != FOREST_NONE; n = f->nodes[n].next)
		for (uint32_t c = f->nodes[n].copies; c != FOREST_NONE; c = f->copies[c].next) {
			count_step(j);
			j->stamps[f->copies[c].source] = j->stamp;
		}
	for (uint32_t n = f->messages[b].first; n != FOREST_NONE; n = f->nodes[n].next)
		for (uint32_t c = f->nodes[n].copies; c != FOREST_NONE; c = f->copies[c].next) {
			count_step(j);
			if (j->stamps[f->copies[c].source] == j->stamp)
				return false;
		}
	return true;
}

/* For each node the first with its content. */
static void find_said(struct joining *j)
{
	const struct forest *f = j->b->f;
	struct numbers firsts = numbers_new(&j->b->mem, f->node_count);

	for (uint32_t n = 0; n < f->node_count; n++)
		j->said[n] = numbers_add(&firsts, forest_line(f, n)->content, n);
}

/* Whether all that b says is in a. */
static bool holds(struct joining *j, uint32_t a, uint32_t b)
{
	const struct forest *f = j->b->f;

	j->mark++;
	for (uint32_t n = f->messages[a].first; n != FOREST_NONE; n = f->nodes[n].next)
		j->marks[j->said[n]] = j->mark;
	for (uint32_t n = f->messages[b].first; n != FOREST_NONE; n = f->nodes[n].next)
		if (j->marks[j->said[n]] != j->mark)
			return false;
	return true;
}

/* ---- Pairs ------------------------------------------------------------------------- */

typedef bool pair_fn(struct joining *j, uint32_t a, uint32_t b);

/* The pairs of a list, latest entry first; whether any changed something. */
static bool each_pair(struct joining *j, uint32_t head, pair_fn *fn)
{
	uint32_t count = 0;
	bool changed = false;

	for (uint32_t m = head; m != FOREST_NONE && count <= ALL_PAIRS; m = j->nexts[m])
		count++;
	for (uint32_t a = head; a != FOREST_NONE; a = j->nexts[a])
		for (uint32_t b = j->nexts[a]; b != FOREST_NONE;
		     b = count > ALL_PAIRS ? FOREST_NONE : j->nexts[b])
			changed |= fn(j, a, b);
	return changed;
}

/* Lists by a number; the heads in the table, or by class in `heads`. */
static void add_to_list(struct joining *j, struct numbers *heads, uint64_t key, uint32_t message)
{
	j->nexts[message] = numbers_put(heads, key, message);
}

/* ---- What is joined ------------------------------------------------------------------ */

static void join_forked(struct joining *j)
{
	const struct forest *f = j->b->f;

	for (uint32_t n = 0; n < f->node_count; n++) {
		const struct chain_line *l = forest_line(f, n);
		uint32_t other;

		if (!l->has_link || (l->flags & RECORD_BOUNDARY) || f->nodes[n].message == FOREST_NONE)
			continue;
		other = forest_find(j->b->f, &l->link);
		if (other != FOREST_NONE && other != n && f->nodes[other].message != FOREST_NONE &&
		    !uuid_eq(&forest_line(f, other)->key, &l->key))
			join(j, f->nodes[n].message, f->nodes[other].message);
	}
}

static bool join_answers(struct joining *j, uint32_t a, uint32_t b)
{
	return are_apart(j, a, b) && (holds(j, a, b) || holds(j, b, a)) && join(j, a, b);
}

static void join_all_answers(struct joining *j)
{
	const struct forest *f = j->b->f;
	struct numbers heads = numbers_new(&j->b->mem, f->message_count);

	for (uint32_t m = 0; m < f->message_count; m++)
		if (f->messages[m].role == FOREST_ASSISTANT && forest_line(f, f->messages[m].first)->has_api)
			add_to_list(j, &heads, forest_line(f, f->messages[m].first)->api, m);
	for (uint32_t m = 0; m < f->message_count; m++)
		if (f->messages[m].role == FOREST_ASSISTANT &&
		    forest_line(f, f->messages[m].first)->has_api && j->nexts[m] != FOREST_NONE &&
		    numbers_get(&heads, forest_line(f, f->messages[m].first)->api) == m)
			each_pair(j, m, join_answers);
}

static void join_results(struct joining *j)
{
	const struct forest *f = j->b->f;
	struct numbers firsts = numbers_new(&j->b->mem, f->message_count);

	for (uint32_t m = 0; m < f->message_count; m++) {
		uint32_t known;

		if (f->messages[m].owner == FOREST_NONE)
			continue;
		known = numbers_add(&firsts, class_of(j, f->messages[m].owner), m);
		if (known != m)
			join(j, m, known);
	}
}

/* ---- Runs ------------------------------------------------------------------------------ */

static bool is_plain(const struct forest_message *m)
{
	return m->role != FOREST_ASSISTANT && m->owner == FOREST_NONE;
}

static bool are_equal(struct joining *j, uint32_t a, uint32_t b)
{
	const struct forest *f = j->b->f;

	return is_plain(&f->messages[a]) && is_plain(&f->messages[b]) && f->messages[a].role == f->messages[b].role &&
	       j->said[f->messages[a].first] == j->said[f->messages[b].first] &&
	       are_apart(j, a, b);
}

/* Upwards from two messages as long as they are equal; whether there is something to join
 * when the run ends at joined ones, or (with `to_root`) at the beginning of both. */
static bool join_run(struct joining *j, uint32_t a, uint32_t b, bool to_root)
{
	const struct forest *f = j->b->f;
	uint32_t x = a, y = b;
	bool changed = false;

	while (x != FOREST_NONE && y != FOREST_NONE && !is_joined(j, x, y) && j->steps && are_equal(j, x, y)) {
		x = f->messages[x].prev;
		y = f->messages[y].prev;
	}
	if (!is_joined(j, x, y) && !(to_root && x == FOREST_NONE && y == FOREST_NONE))
		return false;
	for (; a != x && a != FOREST_NONE; a = f->messages[a].prev, b = f->messages[b].prev)
		changed |= join(j, a, b);
	return changed;
}

static bool join_above(struct joining *j, uint32_t a, uint32_t b)
{
	const struct forest *f = j->b->f;

	return join_run(j, f->messages[a].prev, f->messages[b].prev, true);
}

static void list_classes(struct joining *j)
{
	const struct forest *f = j->b->f;

	memset(j->heads, 0xff, (f->message_count + 1) * sizeof *j->heads);
	for (uint32_t m = 0; m < f->message_count; m++) {
		uint32_t class = class_of(j, m);

		j->nexts[m] = j->heads[class];
		j->heads[class] = m;
	}
}

static bool join_between(struct joining *j)
{
	const struct forest *f = j->b->f;
	bool changed = false;

	list_classes(j);
	for (uint32_t m = 0; m < f->message_count; m++)
		if (j->heads[m] != FOREST_NONE && j->nexts[j->heads[m]] != FOREST_NONE)
			changed |= each_pair(j, j->heads[m], join_above);
	return changed;
}

static bool join_end(struct joining *j, uint32_t a, uint32_t b)
{
	return join_run(j, a, b, false);
}

static void join_ends(struct joining *j)
{
	const struct forest *f = j->b->f;
	struct numbers heads = numbers_new(&j->b->mem, f->message_count);
	bool *followed = arena_alloc(&j->b->mem, f->message_count + 1);

	for (uint32_t m = 0; m < f->message_count; m++)
		if (f->messages[m].prev != FOREST_NONE)
			followed[f->messages[m].prev] = true;
	for (uint32_t m = 0; m < f->message_count; m++)
		if (!followed[m] && is_plain(&f->messages[m]))
			add_to_list(j, &heads, forest_line(f, f->messages[m].first)->content, m);
	for (uint32_t m = 0; m < f->message_count; m++)
		if (!followed[m] && is_plain(&f->messages[m]) && j->nexts[m] != FOREST_NONE &&
		    numbers_get(&heads, forest_line(f, f->messages[m].first)->content) == m)
			each_pair(j, m, join_end);
}

/* ---- The canonical one of each ----------------------------------------------------------- */

static int by_canon(const void *a, const void *b, void *forest)
{
	const struct forest *f = forest;
	uint32_t x = f->messages[*(const uint32_t *)a].first, y = f->messages[*(const uint32_t *)b].first;

	return forest_compare(f, &f->nodes[x].canon, &f->nodes[y].canon);
}

/* The first of a list of joined messages to the one that stands for all. */
static void order_copies(struct joining *j, uint32_t head)
{
	struct forest *f = j->b->f;
	uint32_t count = 0, *list;

	for (uint32_t m = head; m != FOREST_NONE; m = j->nexts[m])
		count++;
	list = forest_room(j->b, count);
	count = 0;
	for (uint32_t m = head; m != FOREST_NONE; m = j->nexts[m])
		list[count++] = m;
	qsort_r(list, count, sizeof *list, by_canon, f);
	for (uint32_t i = 0; i < count; i++) {
		f->messages[list[i]].canonical = list[0];
		f->messages[list[i]].next_copy = i + 1 < count ? list[i + 1] : FOREST_NONE;
	}
}

static void choose_canonical(struct joining *j)
{
	struct forest *f = j->b->f;

	list_classes(j);
	for (uint32_t m = 0; m < f->message_count; m++)
		if (j->heads[m] != FOREST_NONE && j->nexts[j->heads[m]] != FOREST_NONE)
			order_copies(j, j->heads[m]);
	for (uint32_t m = 0; m < f->message_count; m++)
		if (f->messages[m].prev != FOREST_NONE)
			f->messages[m].prev = f->messages[f->messages[m].prev].canonical;
}

void forest_join(struct build *b)
{
	struct forest *f = b->f;
	struct joining j = { .b = b };

	if (f->source_count < 2)
		return;
	j.up = arena_alloc(&b->mem, (f->message_count + 1) * sizeof *j.up);
	j.heads = arena_alloc(&b->mem, (f->message_count + 1) * sizeof *j.heads);
	j.nexts = arena_alloc(&b->mem, (f->message_count + 1) * sizeof *j.nexts);
	j.stamps = arena_alloc(&b->mem, (f->source_count + 1) * sizeof *j.stamps);
	j.said = arena_alloc(&b->mem, (f->node_count + 1) * sizeof *j.said);
	j.marks = arena_alloc(&b->mem, (f->node_count + 1) * sizeof *j.marks);
	j.steps = RUN_STEPS * (uint64_t)b->line_count;
	for (uint32_t m = 0; m < f->message_count; m++)
		j.up[m] = m;
	find_said(&j);
	join_forked(&j);
	join_all_answers(&j);
	join_results(&j);
	for (int round = 0; round < MOST_ROUNDS && join_between(&j); round++)
		;
	join_ends(&j);
	choose_canonical(&j);
	/* Joining may close what was open. */
	forest_cut_circles(b);
}
