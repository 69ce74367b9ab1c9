/*
 * Choosing a snippet: the words that are looked for are found again in the text by
 * the same splitting, and the stretch of the wanted width wins that has the most
 * different ones, the earliest among equals. It begins a little before its first
 * word and both ends are moved to where words end, but never beyond the width: a
 * word may be a megabyte of base64.
 *
 * Whatever the text is, the snippet is valid UTF-8 on one line. So a mark is measured
 * where it is written and not where it was found. Words that overlap or touch (pairs of
 * characters, an identifier and its parts) are one mark: marks are in order and apart.
 */
#include "query/snippet.h"

#include "base/utf8.h"
#include "base/words.h"

#include <string.h>

enum {
	MOST_FOUND = 4096,
	NEAR = 16, /* bytes an end is moved for the sake of a word */
};

struct found {
	size_t start, end, which;
};

struct finding {
	const struct expr *e;
	struct str text;
	struct found *list; /* by start */
	size_t count, cap;
};

/* Where a word ends that was found by its beginning: a single character of a script
 * in pairs means only itself. */
static size_t end_of(const struct finding *f, size_t which, size_t start, size_t end)
{
	const struct expr_word *w = &f->e->words[which];

	if (w->prefix && words_is_single_cjk(w->word)) {
		utf8_next(f->text, &start);
		return size_min(start, end);
	}
	return end;
}

static void find_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct finding *f = ctx;
	size_t which, at;

	(void)flags;
	if (f->count == MOST_FOUND || !expr_has(f->e, word, &which))
		return;
	if (f->count == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 64;
		f->list = mem_resize(f->list, f->cap * sizeof *f->list);
	}
	/* An identifier comes behind its parts, of which there are few. */
	for (at = f->count++; at && f->list[at - 1].start > start; at--)
		f->list[at] = f->list[at - 1];
	f->list[at] = (struct found){ start, end_of(f, which, start, end), which };
}

/* How many different words stand from the nth on within the width. */
static size_t different(const struct finding *f, size_t n, size_t width)
{
	uint64_t seen[2] = { 0 };
	size_t count = 0;

	for (size_t i = n; i < f->count && f->list[i].end - f->list[n].start <= width; i++) {
		uint64_t bit = (uint64_t)1 << f->list[i].which % 64, *word = &seen[f->list[i].which / 64 % 2];

		count += !(*word & bit);
		*word |= bit;
	}
	return count;
}

static size_t best_start(const struct finding *f, size_t width)
{
	size_t best = 0, most = 0;

	for (size_t i = 0; i < f->count; i++) {
		size_t n = different(f, i, width);

		if (n > most) {
			most = n;
			best = i;
		}
		if (most == f->e->count)
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
	const struct found *first;
};

static struct window choose(const struct finding *f, size_t width)
{
	struct window w = { .to = size_min(width, f->text.n) };
	size_t before = width / 4, least = 0;

	if (f->count) {
		w.first = &f->list[best_start(f, width - before)];
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

/* Copies what is in the window, blanks of any kind as one space. */
static void copy(struct snippet *s, const struct finding *f, const struct window *w)
{
	struct str text = str_sub(f->text, 0, w->to);
	size_t next = 0, marked_to = 0;
	bool blank = false, marking = false;

	for (size_t i = w->from, at = i; i < w->to; i = at) {
		int32_t c = utf8_next(text, &at);
		size_t before;

		for (; next < f->count && f->list[next].start <= i; next++)
			if (f->list[next].start == i &&
			    (f->list[next].end <= w->to || &f->list[next] == w->first))
				marked_to = size_max(marked_to, f->list[next].end);
		if (utf8_is_blank(c)) {
			blank = true;
			continue;
		}
		if (blank && s->text.n)
			buf_byte(&s->text, ' ');
		before = s->text.n;
		if (c == UTF8_BAD)
			buf_text(&s->text, "\xEF\xBF\xBD");
		else
			buf_str(&s->text, str_sub(text, i, at - i));
		marking = i < marked_to && mark(s, before, marking && !blank);
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
	mem_free(f->list);
}

void snippet_make(struct snippet *s, struct str text, const struct expr *e, size_t width)
{
	struct finding f = { .e = e, .text = text };

	words_split(text, find_word, &f);
	make(s, &f, width);
}

void snippet_make_at(struct snippet *s, struct str text, const struct snippet_range *found, size_t count, size_t width)
{
	struct finding f = { .e = &(struct expr){ .count = 1 }, .text = text, .count = count };

	f.list = mem_alloc((count + 1) * sizeof *f.list);
	for (size_t i = 0; i < count; i++)
		f.list[i] = (struct found){ found[i].start, found[i].end, 0 };
	make(s, &f, width);
}

void snippet_release(struct snippet *s)
{
	buf_release(&s->text);
}
