/*
 * Choosing a snippet: the words that are looked for are found again in the text by
 * the same splitting, and the stretch of the wanted width wins that has the most
 * different ones, the earliest among equals. It begins a little before its first
 * word and both ends are moved to where words end.
 */
#include "query/snippet.h"

#include "base/utf8.h"
#include "base/words.h"

#include <string.h>

enum { MOST_FOUND = 4096 };

struct found {
	size_t start, end, which;
};

struct finding {
	const struct expr *e;
	struct found *list;
	size_t count, cap;
};

static void find_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct finding *f = ctx;
	size_t which;

	(void)flags;
	if (f->count == MOST_FOUND || !expr_has(f->e, word, &which))
		return;
	if (f->count == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 64;
		f->list = mem_resize(f->list, f->cap * sizeof *f->list);
	}
	f->list[f->count++] = (struct found){ start, end, which };
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

/* Forward to where a character begins, and behind a blank if one is near. */
static size_t tidy_start(struct str text, size_t at)
{
	enum { NEAR = 16 };

	while (at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80)
		at++;
	for (size_t i = at; at > 0 && i < text.n && i < at + NEAR; i++)
		if (text.p[i] == ' ' || text.p[i] == '\n')
			return i + 1;
	return at;
}

static size_t tidy_end(struct str text, size_t at, size_t least)
{
	enum { NEAR = 16 };

	if (at >= text.n)
		return text.n;
	for (size_t i = at; i > least && i + NEAR > at; i--)
		if (text.p[i - 1] == ' ' || text.p[i - 1] == '\n')
			return i - 1;
	while (at > least && ((unsigned char)text.p[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* Copies, blanks of any kind as one space, and moves the marks along. */
static void copy(struct snippet *s, struct str text, size_t from, size_t to, const struct finding *f)
{
	size_t next = 0;
	bool blank = false;

	while (next < f->count && f->list[next].start < from)
		next++;
	for (size_t i = from; i < to; i++) {
		char c = text.p[i];

		if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
			blank = true;
			continue;
		}
		if (blank && s->text.n)
			buf_byte(&s->text, ' ');
		blank = false;
		for (; next < f->count && f->list[next].start <= i; next++)
			if (f->list[next].start == i && f->list[next].end <= to && s->mark_count < SNIPPET_MARKS)
				s->marks[s->mark_count++] =
					(struct snippet_mark){ s->text.n, f->list[next].end - i };
		buf_byte(&s->text, c);
	}
}

void snippet_make(struct snippet *s, struct str text, const struct expr *e, size_t width)
{
	struct finding f = { .e = e };
	size_t from = 0, to, least = 0;

	*s = (struct snippet){ .text = BUF_INIT(64 * KIB) };
	words_split(text, find_word, &f);
	if (f.count) {
		size_t first = best_start(&f, width), before = width / 4;

		from = f.list[first].start > before ? tidy_start(text, f.list[first].start - before) : 0;
		from = size_min(from, f.list[first].start);
		least = f.list[first].end;
	}
	to = tidy_end(text, size_max(size_min(from + width, text.n), least), size_max(least, from));
	if (from > 0)
		buf_text(&s->text, "…");
	copy(s, text, from, to, &f);
	if (to < text.n)
		buf_text(&s->text, "…");
	mem_free(f.list);
}

void snippet_release(struct snippet *s)
{
	buf_release(&s->text);
}
