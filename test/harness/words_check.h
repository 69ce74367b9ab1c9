/*
 * What has to hold for the words of any text; for the unit test, which makes
 * texts up, and for the fuzzer.
 */
#ifndef ARBOR_TEST_WORDS_CHECK_H
#define ARBOR_TEST_WORDS_CHECK_H

#include "base/utf8.h"
#include "base/words.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { WORDS_CHECK_MAX = 1 << 28 };

struct words_seen {
	struct str text;
	struct buf packed; /* the words, packed by hand */
	size_t count;
	size_t start; /* of the last word that was not colocated */
	const char *broken;
};

static inline bool words_is_ascii(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static inline bool words_is_plain(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!words_is_ascii(word.p[i]) || (word.p[i] >= 'A' && word.p[i] <= 'Z'))
			return false;
	return true;
}

static inline void words_see(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct words_seen *seen = ctx;

	if (word.n == 0 || word.n > WORD_MAX)
		seen->broken = "a word has 1 to WORD_MAX bytes";
	if (!utf8_valid(word))
		seen->broken = "a word is valid UTF-8";
	if (start >= end || end > seen->text.n)
		seen->broken = "a word comes from somewhere in the text";
	if (start < seen->start && !(flags & WORD_COLOCATED))
		seen->broken = "words come in the order of the text";
	if (flags & WORD_COLOCATED && seen->count == 0)
		seen->broken = "the first word has nothing to be colocated with";
	if (!(flags & WORD_COLOCATED))
		seen->start = start;
	buf_byte(&seen->packed, (char)(word.n | (flags & WORD_COLOCATED ? 0x80 : 0)));
	buf_str(&seen->packed, word);
	seen->count++;
}

/* The packed words; the caller releases them. */
static inline struct buf words_packed(struct str text)
{
	struct buf out = BUF_INIT(WORDS_CHECK_MAX);

	words_pack(&out, text);
	return out;
}

static inline bool words_same(struct str a, struct str packed)
{
	struct buf b = words_packed(a);
	bool same = !b.failed && str_eq(buf_as_str(&b), packed);

	buf_release(&b);
	return same;
}

static inline bool words_has_escape(struct str text)
{
	return text.n && memchr(text.p, 0x1B, text.n);
}

/* As a normal form, or as it is when it is not UTF-8. A form may change what is behind an ESC: the Kelvin sign is
 * a K. */
static inline bool words_same_in_form(struct str text, utf8proc_option_t form, struct str packed)
{
	utf8proc_uint8_t *to;
	utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)text.p, (utf8proc_ssize_t)text.n, &to,
					  UTF8PROC_STABLE | form);
	bool same;

	if (n < 0)
		return true;
	same = words_has_escape(text) || words_same(str_from((const char *)to, (size_t)n), packed);
	free(to);
	return same;
}

/* Whether what stands in front of `at` may be the beginning of what colours; then *begins is where. */
static inline bool words_may_colour(struct str text, size_t at, size_t *begins)
{
	while (at && text.p[at - 1] >= '0' && text.p[at - 1] <= ';') /* ':' stands between them */
		at--;
	*begins = at - (at > 0) - (at > 1 && text.p[at - 1] == '[');
	return at && (text.p[at - 1] == 0x1B || (at > 1 && text.p[at - 1] == '[' && text.p[at - 2] == 0x1B));
}

/* An ignored character behind every ASCII one takes runs off the quick road. */
static inline bool words_same_on_the_slow_road(struct str text, struct str packed)
{
	struct buf slow = BUF_INIT(WORDS_CHECK_MAX);
	size_t begins;
	bool same;

	for (size_t i = 0; i < text.n; i++) {
		buf_byte(&slow, text.p[i]);
		if (words_is_ascii(text.p[i]) && !words_may_colour(text, i, &begins))
			buf_text(&slow, "\xEF\xB8\x8F");
	}
	same = words_same(buf_as_str(&slow), packed);
	buf_release(&slow);
	return same;
}

/* a, then a separator, then b: the words of a, then those of b. */
static inline bool words_concatenate(struct str text, size_t at)
{
	struct str a = str_sub(text, 0, at), b = str_sub(text, at, SIZE_MAX);
	struct buf both = BUF_INIT(WORDS_CHECK_MAX), packed = BUF_INIT(WORDS_CHECK_MAX);
	bool same;

	words_pack(&packed, a);
	words_pack(&packed, b);
	buf_str(&both, a);
	buf_byte(&both, '\n');
	buf_str(&both, b);
	same = words_same(buf_as_str(&both), buf_as_str(&packed));
	buf_release(&both);
	buf_release(&packed);
	return same;
}

static inline bool words_of_plain_words_are_themselves(struct str packed)
{
	struct str word;
	unsigned flags;
	bool same = true;

	while (same && words_next(&packed, &word, &flags))
		if (words_is_plain(word)) {
			char want[1 + WORD_MAX];

			want[0] = (char)word.n;
			memcpy(want + 1, word.p, word.n);
			same = words_same(word, str_from(want, 1 + word.n));
		}
	return same;
}

/* The sentence that does not hold, or NULL. */
static inline const char *words_check(struct str text)
{
	struct words_seen seen = { .text = text, .packed = BUF_INIT(WORDS_CHECK_MAX) };
	size_t middle = text.n / 2, begins;
	struct str packed;

	if (words_may_colour(text, middle, &begins))
		middle = begins;

	words_split(text, words_see, &seen);
	packed = buf_as_str(&seen.packed);
	if (!words_same(text, packed))
		seen.broken = "packing gives the words of splitting";
	else if (!words_same_in_form(text, UTF8PROC_COMPOSE, packed))
		seen.broken = "the composed spelling gives the same words";
	else if (!words_same_in_form(text, UTF8PROC_DECOMPOSE, packed))
		seen.broken = "the decomposed spelling gives the same words";
	else if (!words_same_on_the_slow_road(text, packed))
		seen.broken = "both roads give the same words";
	else if (!words_concatenate(text, middle))
		seen.broken = "texts with a separator between them give the words of both";
	else if (!words_of_plain_words_are_themselves(packed))
		seen.broken = "a plain word is its own word";
	buf_release(&seen.packed);
	return seen.broken;
}

#endif
