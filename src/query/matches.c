/*
 * Of what expr_match.c writes this takes phrases, any of which have to be there, and several such groups, all of which
 * have to be: words, identifiers in both spellings, "phrases", beginnings, AND, OR, and marks of calls and errors. What
 * is negative, near or nested deeper is left to FTS5.
 *
 * All lists are read before the first document is given. They are in the order of numbers, so a document that all
 * groups have is found by going through them side by side, leaping where one is far behind.
 */
#include "query/matches.h"

#include "query/rank.h"

#include <string.h>

/* ---- What is asked for ------------------------------------------------------- */

struct parsing {
	struct str text; /* what is left of it */
	struct matches *m;
};

static bool skip(struct parsing *p, const char *what)
{
	if (!str_has_prefix(p->text, str_of(what)))
		return false;
	p->text = str_sub(p->text, strlen(what), SIZE_MAX);
	return true;
}

static bool parse_word(struct parsing *p, struct posting_word *out)
{
	size_t n;

	if (!skip(p, "\""))
		return false;
	n = str_find(p->text, '"');
	if (n == SIZE_MAX || !n)
		return false;
	out->word = str_sub(p->text, 0, n);
	p->text = str_sub(p->text, n + 1, SIZE_MAX);
	out->prefix = skip(p, " *");
	return true;
}

static bool parse_phrase(struct parsing *p, size_t group)
{
	struct posting_word words[LIMIT_POSTING_WORDS];
	struct match_phrase *phrase = &p->m->phrases[p->m->phrase_count];
	size_t count = 0;

	do
		if (count == LIMIT_POSTING_WORDS || p->m->phrase_count == RANK_PHRASES ||
		    !parse_word(p, &words[count++]))
			return false;
	while (!words[count - 1].prefix && skip(p, " + "));
	*phrase = (struct match_phrase){ .count = count, .group = group };
	phrase->words = arena_alloc(&p->m->mem, count * sizeof *words);
	memcpy(phrase->words, words, count * sizeof *words);
	p->m->phrase_count++;
	return true;
}

/* Phrases between OR, however many brackets there are around some of them. */
static bool parse_any(struct parsing *p, size_t group, int depth)
{
	enum { DEEPEST = 8 };

	do {
		bool inside = skip(p, "(");

		if (depth == DEEPEST || !(inside ? parse_any(p, group, depth + 1) : parse_phrase(p, group)) ||
		    (inside && !skip(p, ")")))
			return false;
	} while (skip(p, " OR "));
	return true;
}

static bool parse(struct matches *m, struct str match)
{
	struct parsing p = { match, m };

	m->phrases = arena_alloc(&m->mem, RANK_PHRASES * sizeof *m->phrases);
	do
		if (!parse_any(&p, m->group_count++, 0))
			return false;
	while (skip(&p, " AND "));
	return !p.text.n;
}

enum status matches_find(struct matches *out, struct store *s, struct str match, bool *able, struct err *err)
{
	struct postings_reader r;
	enum status status;

	*out = (struct matches){ 0 };
	*able = false;
	if (!parse(out, match)) {
		matches_release(out);
		return STATUS_OK;
	}
	status = postings_begin(&r, s, able, err);
	for (size_t i = 0; status == STATUS_OK && *able && i < out->phrase_count; i++) {
		struct match_phrase *p = &out->phrases[i];

		status = postings_read(&r, p->words, p->count, &p->found, able, err);
	}
	out->rows = r.rows;
	out->words = r.words;
	postings_end(&r);
	if (status || !*able)
		matches_release(out);
	return status;
}

void matches_release(struct matches *m)
{
	for (size_t i = 0; i < m->phrase_count; i++)
		postings_release(&m->phrases[i].found);
	arena_release(&m->mem);
	*m = (struct matches){ 0 };
}

/* ---- Side by side ------------------------------------------------------------ */

/* To the first document that is not before this one: in steps that double, and then back between the last two. */
static void leap(struct match_phrase *p, uint64_t least)
{
	const uint64_t *list = p->found.list;
	size_t low = p->at, step = 1, high;

	if (low >= p->found.count || list[low] >= least)
		return;
	if (low + 1 < p->found.count && list[low + 1] >= least) {
		p->at++;
		return;
	}
	for (high = low + 1; high < p->found.count && list[high] < least; high += step) {
		low = high;
		step *= 2;
	}
	high = size_min(high, p->found.count);
	while (low + 1 < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid] < least)
			low = mid;
		else
			high = mid;
	}
	p->at = high;
}

/* The first document from this one on that a phrase of the group has; UINT64_MAX = none has. */
static uint64_t first_of_group(struct matches *m, size_t *phrase, uint64_t least)
{
	uint64_t first = UINT64_MAX;
	size_t group = m->phrases[*phrase].group;

	for (; *phrase < m->phrase_count && m->phrases[*phrase].group == group; ++*phrase) {
		struct match_phrase *p = &m->phrases[*phrase];

		leap(p, least);
		if (p->at < p->found.count && p->found.list[p->at] < first)
			first = p->found.list[p->at];
	}
	return first == UINT64_MAX ? first : first >> POSTING_BITS << POSTING_BITS;
}

bool matches_next(struct matches *m, int64_t *id)
{
	uint64_t least = (uint64_t)(*id + 1) << POSTING_BITS, first;

	if (m->phrase_count == 1) {
		leap(m->phrases, least);
		*id = m->phrases->at < m->phrases->found.count ? posting_id(m->phrases->found.list[m->phrases->at]) : 0;
		return *id > 0;
	}
	for (size_t phrase = 0; phrase < m->phrase_count;) {
		bool is_first = phrase == 0;

		first = first_of_group(m, &phrase, least);
		if (first == UINT64_MAX)
			return false;
		/* What other groups had is passed: they are asked anew. */
		if (first > least && !is_first)
			phrase = 0;
		least = first;
	}
	*id = (int64_t)(least >> POSTING_BITS);
	return m->phrase_count > 0;
}
