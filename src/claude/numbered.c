/*
 * Lines without their numbers.
 *
 * A tool that reads a file prints "    12→" in front of each of its lines. These numbers are nobody's words: they part
 * phrases that go on in the next line, a search for 12 would find every file that has as many lines, and they are a
 * tenth of all words in transcripts.
 */
#include "claude/numbered.h"

#include <string.h>

#define ARROW "\xe2\x86\x92"
enum { ARROW_BYTES = sizeof ARROW - 1 };

/* How many bytes at the beginning of a line are its number; 0 = it has none. */
static size_t number_length(const char *line, size_t n)
{
	size_t at = 0, digits;

	while (at < n && line[at] == ' ')
		at++;
	for (digits = at; at < n && line[at] >= '0' && line[at] <= '9';)
		at++;
	if (at == digits || n - at < ARROW_BYTES || memcmp(line + at, ARROW, ARROW_BYTES) != 0)
		return 0;
	return at + ARROW_BYTES;
}

void numbered_strip(struct buf *text, size_t from)
{
	size_t to = from, at = from;

	if (text->n == from || !memmem(text->p + from, text->n - from, ARROW, ARROW_BYTES))
		return;
	while (at < text->n) {
		const char *end;
		size_t n;

		at += number_length(text->p + at, text->n - at);
		end = memchr(text->p + at, '\n', text->n - at);
		n = end ? (size_t)(end - (text->p + at)) + 1 : text->n - at;
		memmove(text->p + to, text->p + at, n);
		to += n;
		at += n;
	}
	text->n = to;
}
