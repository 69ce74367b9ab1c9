/*
 * What a character becomes when texts are compared without regard to case,
 * accents and typographic forms, and what kind of character it then is.
 */
#ifndef ARBOR_BASE_FOLD_H
#define ARBOR_BASE_FOLD_H

#include "base/base.h"

enum fold_kind {
	FOLD_BREAK,   /* no part of a word */
	FOLD_PICTURE, /* a word by itself: emoji and the like */
	FOLD_MARK,    /* belongs to the character before it */
	FOLD_PAIRED,  /* of a script without blanks between words */
	FOLD_UPPER,   /* a capital before it was folded */
	FOLD_LOWER,
	FOLD_DIGIT,
	FOLD_LETTER, /* without case */
};

struct folded {
	uint32_t c;
	enum fold_kind kind;
	uint8_t order; /* canonical combining class; 0 for all but some marks */
	bool joined;   /* belongs to the letter before it: the second s of a sharp s */
};

/* Most that one code point may become; Unicode's longest (U+FDFA) has 18. */
enum { FOLD_MAX = 24 };

/*
 * Folds one code point and returns how many it becomes: none for accents and
 * variation selectors, which leave the character before them as it is. A
 * negative `c` (UTF8_BAD) is a break.
 *
 * Spellings that Unicode calls canonically equivalent give the same code
 * points, but for two things left to the caller who sees the neighbours: marks
 * have to be sorted by `order`, and Hangul has to be put together with
 * fold_hangul().
 */
size_t fold_point(int32_t c, struct folded out[FOLD_MAX]);

/* The syllable made of a syllable's beginning and the letter behind it; 0 when
 * they make none. */
uint32_t fold_hangul(uint32_t before, uint32_t c);

/* Most letters that differ in nothing but their case. */
enum { FOLD_CASES = 12 };

/*
 * Case alone, accents and all: the letter in one case, whatever case it is in, and all letters of which that
 * gives the same as of this one. A letter outside of ASCII is never the same as one inside, as the Kelvin
 * sign and k would be: who compares bytes of ASCII misses nothing.
 */
uint32_t fold_case(uint32_t c);
size_t fold_cases(uint32_t c, uint32_t out[FOLD_CASES]);
bool fold_is_capital(uint32_t c);

/* Whether an already folded code point is of the kind. */
bool fold_is_paired(uint32_t c);
bool fold_is_mark(uint32_t c);

/* The version of Unicode all this is from. */
const char *fold_unicode(void);

#endif
