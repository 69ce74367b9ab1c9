/*
 * The words of a text, as search knows them: folded, identifiers taken apart,
 * scripts without blanks in pairs of characters. words.c has the rules.
 *
 * The index and the query call the same code, so a word of a text is found by
 * typing it, whatever the rules make of it.
 */
#ifndef ARBOR_BASE_WORDS_H
#define ARBOR_BASE_WORDS_H

#include "base/buf.h"

/* Bytes; a longer word is cut behind a code point, in texts and queries alike. */
enum { WORD_MAX = 64 };

/* What a word is besides its bytes. */
enum word_flag {
	WORD_COLOCATED = 1, /* at the same position as the word before it */
};

/*
 * Every word of the text in order, folded; the bytes [start, end) of the text
 * are where it comes from. `word` has 1..WORD_MAX bytes of UTF-8, valid during
 * the call only. Text need not be valid UTF-8.
 */
typedef void words_fn(void *ctx, struct str word, size_t start, size_t end, unsigned flags);
void words_split(struct str text, words_fn *fn, void *ctx);

/*
 * The same words without their places, appended to `out` one behind the other,
 * to be read with words_next(). Returns how many. When out's maximum does not
 * allow for some 100 bytes more than they take, out fails and holds the words
 * that fitted.
 */
size_t words_pack(struct buf *out, struct str text);

/*
 * Takes the first word off `packed`; false at its end. A packed word is one
 * byte, its length with 0x80 for WORD_COLOCATED, and its bytes.
 */
static inline bool words_next(struct str *packed, struct str *word, unsigned *flags)
{
	unsigned char head;

	if (packed->n == 0)
		return false;
	head = (unsigned char)packed->p[0];
	*word = (struct str){ packed->p + 1, size_min(head & 0x7F, packed->n - 1) };
	*flags = head & 0x80 ? WORD_COLOCATED : 0;
	*packed = (struct str){ word->p + word->n, packed->n - 1 - word->n };
	return true;
}

/* How many bytes at `at` only colour output or clear a line of it; 0 = there is text. */
size_t words_colour(struct str text, size_t at);

/*
 * Names the rules, and the version of Unicode they work with. An index made by
 * other rules has to be made anew.
 */
enum { WORDS_RULES = 3 };
const char *words_unicode(void);

/*
 * Whether an emitted word is one character of a script that is indexed in
 * pairs. Only the last character of a run stands alone in the index; so asking
 * for such a word means asking for all that begin with it.
 */
bool words_is_single_cjk(struct str word);

#endif
