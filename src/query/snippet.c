/*
 * Choosing a snippet: of where the text has what is looked for (occur.c), the stretch of
 * the wanted width wins that has the most different words, the earliest among equals. It begins
 * a little before its first word and both ends are moved to where words end, but never
 * beyond the width: a word may be a megabyte of base64.
 *
 * Whatever the text is, the snippet is valid UTF-8 on one line. So a mark is measured
 * where it is written and not where it was found. A phrase is one mark, with what stands
 * between its words; so is what overlaps or touches (pairs of characters, an identifier
 * and its parts): marks are in order and apart.
 */
#include "query/snippet.h"

#include "base/utf8.h"
#include "base/words.h"
#include "query/occur.h"

enum { NEAR = 16 }; /* bytes an end is moved for the sake of a word */

struct finding {
	struct occurrences found;
	struct str text;
};

/* How many words what stands from the nth on within the width has, each different one once. */
static size_t different(const struct occurrences *f, size_t n, size_t width)
{
	uint64_t seen[2] = { 0 };
	size_t count = 0;

	for (size_t i = n; i < f->count && f->list[i].end - f->list[n].start <= width; i++) {
		uint64_t bit = (uint64_t)1 << f->list[i].which % 64, *word = &seen[f->list[i].which / 64 % 2];

		if (!(*word & bit))
			count += f->list[i].last - f->list[i].first + 1;
		*word |= bit;
	}
	return count;
}

static size_t best_start(const struct occurrences *f, size_t width)
{
	size_t best = 0, most = 0;

	for (size_t i = 0; i < f->count; i++) {
		size_t n = different(f, i, width);

		if (n > most) {
			most = n;
			best = i;
		}
		if (most >= f->most)
			break;
	}
	return best;
}

static bool is_inside(struct str text, size_t at)
{
	return at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n';
}

/* Forward to where a character begins, and behind a blank if one is near. */
static size_t tidy_start(struct str text, size_t at)
{
	while (is_inside(text, at))
		at++;
	for (size_t i = at; i > 0 && i < text.n && i < at + NEAR; i++)
		if (is_space(text.p[i - 1]))
			return i;
	return at;
}

static size_t tidy_end(struct str text, size_t at, size_t least)
{
	if (at >= text.n)
		return text.n;
	for (size_t i = at; i > least && i + NEAR > at; i--)
		if (is_space(text.p[i - 1]))
			return i - 1;
	while (at > least && is_inside(text, at))
		at--;
	return at;
}

/* The bytes of the text that are shown: around the word `first`, if there is one. */
struct window {
	size_t from, to;
	const struct occurrence *first;
};

static struct window choose(const struct finding *f, size_t width)
{
	struct window w = { .to = size_min(width, f->text.n) };
	size_t before = width / 4, least = 0;

	if (f->found.count) {
		w.first = &f->found.list[best_start(&f->found, width - before)];
		w.from = w.first->start - size_min(w.first->start, before);
		/* At the end of the text there is more room in front. */
		if (f->text.n - w.from < width)
			w.from = f->text.n - size_min(f->text.n, width);
		w.from = size_min(tidy_start(f->text, w.from), w.first->start);
		w.to = w.from + size_min(width, f->text.n - w.from);
		least = w.first->end <= w.to ? w.first->end : w.first->start;
	}
	w.to = tidy_end(f->text, w.to, size_max(least, w.from));
	return w;
}

/* Marks the text from `from` on, as a part of the last mark if it goes on. False when
 * there is no room for another. */
static bool mark(struct snippet *s, size_t from, bool goes_on)
{
	struct snippet_mark *last;

	if (!goes_on && s->mark_count == SNIPPET_MARKS)
		return false;
	if (!goes_on)
		s->marks[s->mark_count++].start = from;
	last = &s->marks[s->mark_count - 1];
	last->length = s->text.n - last->start;
	return true;
}

/* Copies what is in the window, blanks of any kind as one space, and colours as such. */
static void copy(struct snippet *s, const struct finding *f, const struct window *w)
{
	struct str text = str_sub(f->text, 0, w->to);
	const struct occurrence *next = f->found.list, *end = next + f->found.count;
	size_t marked_to = 0;
	bool blank = false, marking = false;

	for (size_t i = w->from, at = i; i < w->to; i = at) {
		int32_t c = utf8_next(text, &at);
		bool goes_on = marking && (!blank || i < marked_to);
		size_t before;

		for (; next < end && next->start <= i; next++)
			if (next->start == i && (next->end <= w->to || next == w->first))
				marked_to = size_max(marked_to, next->end);
		if (utf8_is_blank(c)) {
			blank = true;
			at = size_max(at, i + words_colour(text, i));
			continue;
		}
		if (blank && s->text.n)
			buf_byte(&s->text, ' ');
		before = s->text.n;
		if (c == UTF8_BAD)
			buf_text(&s->text, "\xEF\xBF\xBD");
		else
			buf_str(&s->text, str_sub(text, i, at - i));
		marking = i < marked_to && mark(s, before, goes_on);
		blank = false;
	}
}

static void make(struct snippet *s, const struct finding *f, size_t width)
{
	struct window w = choose(f, width);

	/* A broken byte takes three, an ellipsis as many. */
	*s = (struct snippet){ .text = BUF_INIT(3 * size_min(width, f->text.n) + 6) };
	if (w.from > 0)
		buf_text(&s->text, "…");
	copy(s, f, &w);
	if (w.to < f->text.n)
		buf_text(&s->text, "…");
	s->loose = f->found.loose;
}

void snippet_make(struct snippet *s, struct str text, const struct expr *e, size_t width)
{
	struct finding f = { .text = text };

	occurrences_find(&f.found, text, e);
	make(s, &f, width);
	occurrences_release(&f.found);
}

void snippet_make_at(struct snippet *s, struct str text, const struct snippet_range *found, size_t count, size_t width)
{
	struct finding f = { .text = text, .found = { .count = count, .most = 1 } };

	f.found.list = mem_alloc((count + 1) * sizeof *f.found.list);
	for (size_t i = 0; i < count; i++)
		f.found.list[i] = (struct occurrence){ .start = found[i].start, .end = found[i].end };
	make(s, &f, width);
	occurrences_release(&f.found);
}

void snippet_release(struct snippet *s)
{
	buf_release(&s->text);
}
