/*
 * Folding of single code points, on utf8proc's tables.
 *
 * A code point goes through two steps:
 *
 *   1. canonical decomposition. What it gives decides what the character is:
 *      a mark, a letter and its case, a digit, a picture, or a break. Accents
 *      (the blocks in `accents`) end here.
 *   2. compatibility decomposition and full case folding of each result, again
 *      without accents. This may give letters, digits and marks, also of
 *      another kind (half-width kana), and breaks (the stroke in one half).
 *
 * Accents go before case is folded, because folding turns one of them, the iota
 * subscript, into a letter, whose place then would depend on the order of the
 * marks. Kinds come from the decomposed form, so that composed and decomposed
 * spellings agree; case is that of the original (folded text has none).
 *
 * Hangul syllables stay whole: they are the unit in which Korean is indexed.
 * The letters of a decomposed spelling are put together by fold_hangul().
 */
#include "base/fold.h"

#include "base/utf8.h"

#include <utf8proc.h>

/* Combining marks that make no difference: diacritics for Latin, Greek and
 * Cyrillic, those for symbols, half marks; and the variation selectors, which
 * choose a glyph. Vowel signs and the like of other scripts are not here. */
static const struct utf8_range accents[] = {
	{ 0x0300, 0x036F }, { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x20D0, 0x20FF },
	{ 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }, { 0xE0100, 0xE01EF },
};

/* Thai, Lao, Myanmar, Hangul letters, Khmer, ideographic iteration marks and
 * numerals, kana, Han, Hangul syllables. Their digits are left out: they are
 * written with blanks or punctuation around them, as everywhere. Holes that
 * hold only punctuation or nothing are bridged. */
static const struct utf8_range paired[] = {
	{ 0x0E01, 0x0E4E },   { 0x0E81, 0x0ECE },   { 0x0EDC, 0x0EDF }, { 0x1000, 0x103F },
	{ 0x1050, 0x108F },   { 0x109A, 0x109D },   { 0x1100, 0x11FF }, { 0x1780, 0x17DD },
	{ 0x3005, 0x303C },   { 0x3041, 0x30FF },   { 0x31F0, 0x31FF }, { 0x3400, 0x4DBF },
	{ 0x4E00, 0x9FFF },   { 0xA960, 0xA97F },   { 0xA9E0, 0xA9EF }, { 0xA9FA, 0xA9FE },
	{ 0xAA60, 0xAA7F },   { 0xAC00, 0xD7FF },   { 0xF900, 0xFAFF }, { 0x1AFF0, 0x1AFFF },
	{ 0x1B000, 0x1B16F }, { 0x20000, 0x3FFFD },
};

bool fold_is_paired(uint32_t c)
{
	return c >= paired[0].first && utf8_in(paired, COUNT(paired), c);
}

static const utf8proc_property_t *property(uint32_t c)
{
	return utf8proc_get_property((utf8proc_int32_t)c);
}

static bool is_mark(const utf8proc_property_t *p)
{
	return p->category >= UTF8PROC_CATEGORY_MN && p->category <= UTF8PROC_CATEGORY_ME;
}

bool fold_is_mark(uint32_t c)
{
	return is_mark(property(c));
}

/* The first test is for speed: all accents are marks. */
static bool is_accent(uint32_t c, const utf8proc_property_t *p)
{
	return is_mark(p) && utf8_in(accents, COUNT(accents), c);
}

/* What a code point without canonical decomposition is, before it is folded. */
static enum fold_kind kind_of(uint32_t c, const utf8proc_property_t *p)
{
	enum { FIRST_PICTURE = 0x2600 };

	if (p->category == UTF8PROC_CATEGORY_CN || p->category > UTF8PROC_CATEGORY_NO)
		return p->category == UTF8PROC_CATEGORY_SO && c >= FIRST_PICTURE ? FOLD_PICTURE : FOLD_BREAK;
	if (is_mark(p))
		return FOLD_MARK;
	if (fold_is_paired(c))
		return FOLD_PAIRED;
	if (p->category == UTF8PROC_CATEGORY_LU || p->category == UTF8PROC_CATEGORY_LT)
		return FOLD_UPPER;
	if (p->category == UTF8PROC_CATEGORY_LL)
		return FOLD_LOWER;
	return p->category >= UTF8PROC_CATEGORY_ND ? FOLD_DIGIT : FOLD_LETTER;
}

static bool is_plain(const utf8proc_property_t *p)
{
	return p->decomp_seqindex == UINT16_MAX && p->casefold_seqindex == UINT16_MAX;
}

static size_t decompose(uint32_t c, utf8proc_option_t options, utf8proc_int32_t out[FOLD_MAX])
{
	utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)c, out, FOLD_MAX, options, NULL);

	return n < 0 || n > FOLD_MAX ? 0 : (size_t)n;
}

/* The second step for one code point of the given kind. */
static size_t fold_decomposed(uint32_t c, enum fold_kind kind, struct folded *out, size_t room)
{
	utf8proc_int32_t parts[FOLD_MAX];
	size_t count = decompose(c, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD, parts), n = 0;

	for (size_t i = 0; i < count && n < room; i++) {
		uint32_t part = (uint32_t)parts[i];
		const utf8proc_property_t *p = property(part);
		enum fold_kind now;

		if (is_accent(part, p))
			continue;
		now = kind_of(part, p);
		if (now >= FOLD_UPPER && kind >= FOLD_UPPER)
			now = kind;
		out[n] = (struct folded){ part, now, (uint8_t)p->combining_class, false };
		out[n].joined = n > 0 && now >= FOLD_UPPER && out[n - 1].kind == now;
		n++;
	}
	return n;
}

/* Both steps, for what has a decomposition or a case. */
static size_t fold_composed(uint32_t c, struct folded out[FOLD_MAX])
{
	utf8proc_int32_t parts[FOLD_MAX];
	size_t count = decompose(c, UTF8PROC_DECOMPOSE, parts), n = 0;

	for (size_t i = 0; i < count && n < FOLD_MAX; i++) {
		uint32_t part = (uint32_t)parts[i];
		const utf8proc_property_t *p = property(part);
		enum fold_kind kind;

		if (is_accent(part, p))
			continue;
		kind = kind_of(part, p);
		if (kind == FOLD_BREAK || is_plain(p))
			out[n++] = (struct folded){ part, kind, (uint8_t)p->combining_class, false };
		else
			n += fold_decomposed(part, kind, out + n, FOLD_MAX - n);
	}
	return n;
}

/* Unicode §3.12 */
enum {
	HANGUL_FIRST = 0xAC00,
	HANGUL_LEADS = 0x1100,
	HANGUL_VOWELS = 0x1161,
	HANGUL_TAILS = 0x11A7, /* one before the first: 0 means none */
	LEADS = 19,
	VOWELS = 21,
	TAILS = 28,
	HANGUL_COUNT = LEADS * VOWELS * TAILS,
};

uint32_t fold_hangul(uint32_t before, uint32_t c)
{
	uint32_t lead = before - HANGUL_LEADS, vowel = c - HANGUL_VOWELS;
	uint32_t syllable = before - HANGUL_FIRST, tail = c - HANGUL_TAILS;

	if (lead < LEADS && vowel < VOWELS)
		return HANGUL_FIRST + (lead * VOWELS + vowel) * TAILS;
	if (syllable < HANGUL_COUNT && syllable % TAILS == 0 && tail > 0 && tail < TAILS)
		return before + tail;
	return 0;
}

static enum fold_kind ascii_kind(uint32_t c)
{
	if (c - '0' < 10)
		return FOLD_DIGIT;
	if (c - 'A' < 26)
		return FOLD_UPPER;
	return c - 'a' < 26 ? FOLD_LOWER : FOLD_BREAK;
}

/* The letters of U+00C0..U+017F without their accents, for speed; a dot where
 * there is more to it. A row has 16. */
static const char latin[] = "AAAAAA.CEEEEIIII" /* U+00C0 */
			    ".NOOOOO..UUUUY.."
			    "aaaaaa.ceeeeiiii"
			    ".nooooo..uuuuy.y"
			    "AaAaAaCcCcCcCcDd" /* U+0100 */
			    "..EeEeEeEeEeGgGg"
			    "GgGgHh..IiIiIiIi"
			    "I...JjKk.LlLlLl."
			    "...NnNnNn...OoOo"
			    "Oo..RrRrRrSsSsSs"
			    "SsTtTt..UuUuUuUu"
			    "UuUuWwYyYZzZzZz.";

/* What needs no table of Unicode's; false for the rest. */
static bool fold_quickly(uint32_t c, struct folded *out)
{
	enum { LATIN = 0xC0, HAN = 0x4E00, HAN_COUNT = 0x5200 };

	if (c - LATIN < sizeof latin - 1 && latin[c - LATIN] != '.')
		c = (uint32_t)latin[c - LATIN];
	*out = (struct folded){ c, FOLD_PAIRED, 0, false };
	if (c < 0x80) {
		out->kind = ascii_kind(c);
		if (out->kind == FOLD_UPPER)
			out->c |= 0x20;
		return true;
	}
	return c - HANGUL_FIRST < HANGUL_COUNT || c - HAN < HAN_COUNT;
}

size_t fold_point(int32_t point, struct folded out[FOLD_MAX])
{
	uint32_t c = (uint32_t)point;
	const utf8proc_property_t *p;

	if (point < 0) {
		out[0] = (struct folded){ .kind = FOLD_BREAK };
		return 1;
	}
	if (fold_quickly(c, out))
		return 1;
	p = property(c);
	if (!is_plain(p))
		return fold_composed(c, out);
	if (is_accent(c, p))
		return 0;
	out[0] = (struct folded){ c, kind_of(c, p), (uint8_t)p->combining_class, false };
	return 1;
}

uint32_t fold_case(uint32_t c)
{
	uint32_t small;

	if (c < 0x80)
		return c - 'A' < 26 ? c | 0x20 : c;
	small = (uint32_t)utf8proc_tolower(utf8proc_toupper((utf8proc_int32_t)c));
	return small < 0x80 ? c : small;
}

size_t fold_cases(uint32_t c, uint32_t out[FOLD_CASES])
{
	utf8proc_int32_t small = (utf8proc_int32_t)fold_case(c);
	/* To the last ones no other letter leads: the micro sign, a sigma at the end, Greek as symbols, the
	 * Angstrom. */
	const uint32_t all[FOLD_CASES] = { c,
					   (uint32_t)small,
					   (uint32_t)utf8proc_toupper(small),
					   (uint32_t)utf8proc_totitle(small),
					   0xB5,
					   0x3C2,
					   0x3D0,
					   0x3D1,
					   0x3D5,
					   0x3F0,
					   0x3F1,
					   0x212B };
	size_t n = 0;

	for (size_t i = 0; i < FOLD_CASES; i++) {
		bool known = fold_case(all[i]) != (uint32_t)small;

		for (size_t k = 0; k < n; k++)
			known |= out[k] == all[i];
		if (!known)
			out[n++] = all[i];
	}
	return n;
}

bool fold_is_capital(uint32_t c)
{
	const utf8proc_property_t *p = property(c);

	return p->category == UTF8PROC_CATEGORY_LU || p->category == UTF8PROC_CATEGORY_LT;
}

const char *fold_unicode(void)
{
	return utf8proc_unicode_version();
}
