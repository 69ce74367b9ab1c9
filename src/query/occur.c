/*
 * Finding what a query asks for again in a text, by the splitting that the index was made with.
 *
 * What is found are phrases: a word is one of a single word, an identifier one of its parts. A phrase is followed
 * while words come by: bit i of `now` says that the words up to i stand here, the last of them at the position in
 * hand. So a text is read once, in memory of a fixed size, and a word of a phrase that stands alone is nothing.
 * Words at one position (an identifier and its parts) are any of them.
 *
 * Phrases of a NEAR count where all of the group are within its distance. Where a text has none of all that, as one
 * that was not found by words may, each word counts by itself.
 */
#include "query/occur.h"

#include "base/utf8.h"
#include "base/words.h"

enum { MOST_FOUND = 4096 };

/* A word of a phrase. */
struct sought {
	struct str word;
	bool prefix;
	uint8_t at, of; /* in which of the phrases */
};

/* How much of a phrase stands at a position. */
struct followed {
	uint64_t now, before; /* at it, and at the one in front of it */
	size_t position;
	size_t *starts; /* where it began, by position, as many as it has words */
};

struct occurring {
	struct occurrences *out;
	const struct expr *e;
	struct str text;
	const struct sought *sought;
	size_t sought_count;
	struct followed *followed; /* by phrase */
	size_t position;	   /* of the word in hand, from 1 */
};

/* Where a word ends that was found by its beginning: a single character of a script in pairs means only itself. */
static size_t end_of(struct str text, const struct sought *w, size_t start, size_t end)
{
	if (w->prefix && words_is_single_cjk(w->word)) {
		utf8_next(text, &start);
		return size_min(start, end);
	}
	return end;
}

/* In its place: an identifier comes behind its parts, and a phrase behind what is in it, of which there are few. */
static void add(struct occurrences *o, const struct occurrence *new)
{
	size_t at;

	if (o->count == MOST_FOUND)
		return;
	if (o->count == o->cap) {
		o->cap = o->cap ? o->cap * 2 : 64;
		o->list = mem_resize(o->list, o->cap * sizeof *o->list);
	}
	for (at = o->count++; at && o->list[at - 1].start > new->start; at--)
		o->list[at] = o->list[at - 1];
	o->list[at] = *new;
}

/* A word of a phrase of several stands at the position; whether the phrase ends with it, and where it *start-ed. */
static bool follow(struct followed *f, const struct sought *w, size_t words, size_t position, size_t *start)
{
	if (f->position != position) {
		f->before = f->position + 1 == position ? f->now : 0;
		f->now = 0;
		f->position = position;
	}
	if (w->at > 0 && !(f->before >> (w->at - 1) & 1))
		return false;
	if (w->at == 0)
		f->starts[position % words] = f->now & 1 ? size_min(f->starts[position % words], *start) : *start;
	f->now |= (uint64_t)1 << w->at;
	*start = f->starts[(position - w->at) % words];
	return w->at + 1u == words;
}

static void see_sought(struct occurring *y, const struct sought *w, size_t start, size_t end)
{
	const struct expr_phrase *p = &y->e->phrases[w->of];
	struct occurrence new = { .start = start,
				  .end = end_of(y->text, w, start, end),
				  .last = y->position,
				  .which = p->item,
				  .group = p->group };

	if (p->count > 1 && !follow(&y->followed[w->of], w, p->count, y->position, &new.start))
		return;
	new.first = new.last + 1 - p->count;
	add(y->out, &new);
}

static void see_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct occurring *y = ctx;

	y->position += !(flags & WORD_COLOCATED);
	for (size_t i = 0; i < y->sought_count; i++) {
		const struct sought *w = &y->sought[i];

		if (w->prefix ? str_has_prefix(word, w->word) : str_eq(word, w->word))
			see_sought(y, w, start, end);
	}
}

/* The words of all phrases, one behind the other; returns how many. */
static size_t list_words(const struct expr *e, struct sought *out)
{
	size_t n = 0;

	for (size_t i = 0; i < e->wanted_count; i++)
		for (size_t k = 0; k < e->phrases[i].count; k++)
			out[n++] = (struct sought){ e->phrases[i].words[k].word,
						    e->phrases[i].words[k].prefix && k + 1 == e->phrases[i].count,
						    (uint8_t)k, (uint8_t)i };
	return n;
}

static void find_phrases(struct occurrences *out, struct str text, const struct expr *e)
{
	struct sought sought[2 * EXPR_WORDS];
	struct followed followed[2 * EXPR_WORDS];
	size_t starts[2 * EXPR_WORDS], used = 0;
	struct occurring y = { .out = out, .e = e, .text = text, .sought = sought, .followed = followed };

	y.sought_count = list_words(e, sought);
	for (size_t i = 0; i < e->wanted_count; i++) {
		followed[i] = (struct followed){ .starts = starts + used };
		used += e->phrases[i].count;
		/* Another spelling of the one before has fewer. */
		if (!i || e->phrases[i].item != e->phrases[i - 1].item)
			out->most += e->phrases[i].count;
	}
	words_split(text, see_word, &y);
}

/* ---- NEAR -------------------------------------------------------------------------- */

/* Whether from the nth on all of its group are near enough; to which one they are. */
static bool is_near(const struct occurrences *o, size_t n, const struct expr_phrase *group, size_t members, size_t *to)
{
	uint64_t seen[2] = { 0 };
	size_t count = 0;

	for (size_t i = n; i < o->count && o->list[i].first <= o->list[n].last + 1 + (size_t)group->distance; i++) {
		uint64_t bit = (uint64_t)1 << o->list[i].which % 64, *word = &seen[o->list[i].which / 64 % 2];

		if (o->list[i].group != group->group)
			continue;
		count += !(*word & bit);
		*word |= bit;
		*to = i;
	}
	return count == members;
}

/* Marks as kept what is near of one group. */
static bool keep_group(const struct occurrences *o, const struct expr_phrase *group, size_t members, bool *kept)
{
	size_t done = 0, to = 0;
	bool any = false;

	for (size_t i = 0; i < o->count; i++) {
		if (o->list[i].group != group->group || !is_near(o, i, group, members, &to))
			continue;
		any = true;
		for (done = size_max(done, i); done <= to; done++)
			kept[done] |= o->list[done].group == group->group;
	}
	return any;
}

/* Leaves out what belongs to a NEAR and is not near, unless nothing is left. */
static void keep_near(struct occurrences *o, const struct expr *e)
{
	bool *kept = mem_alloc(o->count + 1), any = false;
	size_t left = 0;

	for (size_t i = 0; i < o->count; i++)
		any |= kept[i] = !o->list[i].group;
	for (size_t i = 0, members; i < e->wanted_count; i += members) {
		const struct expr_phrase *p = &e->phrases[i];

		for (members = 1; p->group && i + members < e->wanted_count && p[members].group == p->group;)
			members++;
		if (p->group)
			any |= keep_group(o, p, members, kept);
	}
	for (size_t i = 0; any && i < o->count; i++)
		if (kept[i])
			o->list[left++] = o->list[i];
	o->count = any ? left : o->count;
	mem_free(kept);
}

/* ---- Words ------------------------------------------------------------------------- */

static void see_loose(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct occurring *y = ctx;
	size_t which;

	(void)flags;
	if (expr_has(y->e, word, &which)) {
		struct sought w = { y->e->words[which].word, y->e->words[which].prefix, 0, 0 };

		add(y->out, &(struct occurrence){ .start = start,
						  .end = end_of(y->text, &w, start, end),
						  .which = (uint8_t)which });
	}
}

static bool has_phrase(const struct expr *e)
{
	for (size_t i = 0; i < e->wanted_count; i++)
		if (e->phrases[i].count > 1)
			return true;
	return false;
}

static bool has_group(const struct expr *e)
{
	for (size_t i = 0; i < e->wanted_count; i++)
		if (e->phrases[i].group)
			return true;
	return false;
}

void occurrences_find(struct occurrences *out, struct str text, const struct expr *e)
{
	*out = (struct occurrences){ 0 };
	find_phrases(out, text, e);
	if (has_group(e))
		keep_near(out, e);
	if (out->count || !has_phrase(e))
		return;
	out->loose = true;
	out->most = e->count;
	words_split(text, see_loose, &(struct occurring){ .out = out, .e = e, .text = text });
}

void occurrences_release(struct occurrences *o)
{
	mem_free(o->list);
	*o = (struct occurrences){ 0 };
}
