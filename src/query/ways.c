/*
 * Finding ways.
 *
 * What a message goes on from is what it follows; of one that follows nothing, what its turn hangs on, which
 * the turns know, and have no circles any more. So all of them can be walked from those that begin, and what
 * follows each is summed up from the last to the first.
 */
#include "query/ways.h"

#include <stdlib.h>

/* What goes on from something that is not shown begins. */
static uint32_t from_of(const struct turns *t, uint32_t message)
{
	uint32_t prev = t->forest->messages[message].prev;

	if (prev == FOREST_NONE)
		return t->list[message].hangs_on;
	return turns_show(t, prev) ? prev : FOREST_NONE;
}

static int latest_first(const void *a, const void *b, void *ways)
{
	const struct forest *f = ((const struct ways *)ways)->turns->forest;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t tx = forest_line(f, f->messages[x].first)->at, ty = forest_line(f, f->messages[y].first)->at;

	if (tx != ty)
		return tx > ty ? -1 : 1;
	return x > y ? -1 : x < y;
}

/* The latest first, each before those that are there already. */
static void link_all(struct ways *w)
{
	const struct forest *f = w->turns->forest;
	uint32_t *sorted = arena_alloc(w->mem, (f->message_count + 1) * sizeof *sorted), count = 0;

	w->roots = FOREST_NONE;
	for (uint32_t m = 0; m < f->message_count; m++)
		w->list[m].child = w->list[m].next = w->list[m].from = FOREST_NONE;
	for (uint32_t i = 0; i < f->order_count; i++)
		if (turns_show(w->turns, f->order[i]))
			sorted[count++] = f->order[i];
	qsort_r(sorted, count, sizeof *sorted, latest_first, w);
	for (uint32_t i = 0; i < count; i++) {
		struct way *x = &w->list[sorted[i]];
		uint32_t *at;

		x->from = from_of(w->turns, sorted[i]);
		at = x->from == FOREST_NONE ? &w->roots : &w->list[x->from].child;
		x->next = *at;
		*at = sorted[i];
	}
}

/* Each behind what it goes on from. */
static void order_all(struct ways *w)
{
	uint32_t *stack = arena_alloc(w->mem, (w->turns->forest->message_count + 1) * sizeof *stack),
		 depth = 0;

	for (uint32_t m = w->roots; m != FOREST_NONE; m = w->list[m].next)
		stack[depth++] = m;
	while (depth) {
		uint32_t m = stack[--depth];

		w->order[w->count++] = m;
		for (uint32_t c = w->list[m].child; c != FOREST_NONE; c = w->list[c].next)
			stack[depth++] = c;
	}
}

static void count_one(struct ways *w, uint32_t message)
{
	const struct forest *f = w->turns->forest;
	const struct forest_message *m = &f->messages[message];
	struct way *x = &w->list[message];

	x->messages += turns_messages_in(f, m);
	x->turns += m->origin != ORIGIN_NONE;
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
		if (forest_line(f, n)->at > x->said)
			x->said = forest_line(f, n)->at;
	x->updated = x->said > x->updated ? x->said : x->updated;
}

static void sum_up(struct ways *w)
{
	const struct turns *t = w->turns;

	for (uint32_t s = 0; s < t->forest->source_count; s++)
		if (t->leaves[s] != FOREST_NONE && turns_show(t, t->leaves[s]) &&
		    !t->forest->sources[s].agent.n)
			w->list[t->leaves[s]].heads++;
	for (uint32_t i = w->count; i-- > 0;) {
		const struct way *x = &w->list[w->order[i]];
		struct way *to = x->from == FOREST_NONE ? NULL : &w->list[x->from];

		count_one(w, w->order[i]);
		if (!to)
			continue;
		to->messages += x->messages;
		to->turns += x->turns;
		to->heads += x->heads;
		to->updated = x->updated > to->updated ? x->updated : to->updated;
	}
}

void ways_find(struct ways *w)
{
	uint32_t count = w->turns->forest->message_count, head = w->turns->leaves[w->turns->source];

	w->list = arena_alloc(w->mem, (count + 1) * sizeof *w->list);
	w->order = arena_alloc(w->mem, (count + 1) * sizeof *w->order);
	link_all(w);
	order_all(w);
	sum_up(w);
	if (head != FOREST_NONE && !turns_show(w->turns, head))
		head = FOREST_NONE;
	for (; head != FOREST_NONE; head = w->list[head].from)
		w->list[head].wanted = true;
}

/* ---- Asking --------------------------------------------------------------------- */

static void reverse(uint32_t *list, uint32_t from, uint32_t to)
{
	while (from + 1 < to) {
		uint32_t kept = list[from];

		list[from++] = list[--to];
		list[to] = kept;
	}
}

uint32_t *ways_on(const struct ways *w, uint32_t message, struct arena *mem, uint32_t *count)
{
	const struct forest *f = w->turns->forest;
	uint32_t *out = arena_alloc(mem, (f->message_count + 1) * sizeof *out);
	uint32_t *stack = arena_alloc(mem, (f->message_count + 1) * sizeof *stack), depth = 0;

	*count = 0;
	for (uint32_t m = message == FOREST_NONE ? w->roots : w->list[message].child; m != FOREST_NONE;
	     m = w->list[m].next)
		stack[depth++] = m;
	reverse(stack, 0, depth);
	while (depth) {
		uint32_t m = stack[--depth], start = depth;

		if (!f->messages[m].live && w->list[m].turns == 0)
			continue;
		if (!f->messages[m].through) {
			out[(*count)++] = m;
			continue;
		}
		for (uint32_t c = w->list[m].child; c != FOREST_NONE; c = w->list[c].next)
			stack[depth++] = c;
		reverse(stack, start, depth);
	}
	return out;
}

uint32_t *ways_path(const struct ways *w, uint32_t message, struct arena *mem, uint32_t *count)
{
	uint32_t *out, n = 0;

	for (uint32_t m = message; m != FOREST_NONE; m = w->list[m].from)
		n++;
	out = arena_alloc(mem, (n + 1) * sizeof *out);
	*count = n;
	for (uint32_t m = message; m != FOREST_NONE; m = w->list[m].from)
		out[--n] = m;
	return out;
}

/* Where somebody is, or else where something was said last. What nobody goes on from leads nowhere. */
static uint32_t way_on(const struct ways *w, uint32_t message, uint32_t turn)
{
	const struct turns *t = w->turns;
	uint32_t best = FOREST_NONE;

	for (uint32_t c = w->list[message].child; c != FOREST_NONE; c = w->list[c].next) {
		const struct way *x = &w->list[c], *y = best == FOREST_NONE ? NULL : &w->list[best];

		if ((!t->forest->messages[c].live && x->turns == 0) || (turn != FOREST_NONE && t->of[c] != turn))
			continue;
		if (!y || (x->wanted == y->wanted ? x->updated >= y->updated : x->wanted))
			best = c;
	}
	return best;
}

uint32_t ways_end(const struct ways *w, uint32_t message, bool of_turn)
{
	const struct turns *t = w->turns;
	uint32_t end = message;

	for (uint32_t m = message; m != FOREST_NONE; m = way_on(w, m, of_turn ? t->of[message] : FOREST_NONE))
		if (!t->forest->messages[m].through)
			end = m;
	return end;
}

uint32_t ways_shared(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
	uint32_t n = 0;

	while (n < a_count && n < b_count && a[n] == b[n])
		n++;
	return n;
}

/* ---- All of it ------------------------------------------------------------------ */

void ground_release(struct ground *g)
{
	grove_release(&g->grove);
	arena_release(&g->mem);
}

static void find_ground(struct ground *out)
{
	out->turns =
		(struct turns){ .mem = &out->mem, .forest = &out->grove.forest, .source = out->grove.source };
	turns_find(&out->turns);
	out->ways = (struct ways){ .turns = &out->turns, .mem = &out->mem };
	ways_find(&out->ways);
}

enum status ground_load(struct store *s, int64_t session, struct ground *out, struct err *err)
{
	if (grove_load(s, session, &out->grove, err))
		return err_failed(err->status);
	find_ground(out);
	return STATUS_OK;
}

enum status ground_load_brief(struct store *s, int64_t session, struct ground *out, struct err *err)
{
	if (grove_load_brief(s, session, &out->grove, err))
		return err_failed(err->status);
	find_ground(out);
	return STATUS_OK;
}
