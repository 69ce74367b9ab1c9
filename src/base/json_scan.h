/*
 * The two loops in which reading JSON spends its time, each in two variants
 * with one contract: 16 bytes at a time with SSE2, and 8 at a time in plain C
 * for every other machine (or with -DARBOR_NO_SIMD). Private to json*.c and
 * their test, which runs both against each other.
 *
 * No variant touches a byte at or behind `end`.
 */
#ifndef ARBOR_BASE_JSON_SCAN_H
#define ARBOR_BASE_JSON_SCAN_H

#include "base/base.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Length of the well-formed UTF-8 sequence at p, whose first byte is not ASCII;
 * 0 when there is none (overlong, a surrogate, over U+10FFFF, cut short). */
static inline size_t json_utf8_length(const char *at, const char *end)
{
	const unsigned char *p = (const unsigned char *)at;
	size_t left = (size_t)(end - at);
	unsigned c = p[0], n = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

	if (c < 0xC2 || c > 0xF4 || n > left || (p[1] & 0xC0) != 0x80)
		return 0;
	if (n == 2)
		return 2;
	if ((p[2] & 0xC0) != 0x80)
		return 0;
	if (n == 3)
		return (c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] > 0x9F) ? 0 : 3;
	if ((p[3] & 0xC0) != 0x80 || (c == 0xF0 && p[1] < 0x90) || (c == 0xF4 && p[1] > 0x8F))
		return 0;
	return 4;
}

/* What a string may not simply contain: its end, an escape, a control
 * character; and what has to be looked at: bytes outside ASCII. */
static inline bool json_is_special(char c)
{
	return c == '"' || c == '\\' || (signed char)c < 0x20;
}

static inline uint64_t json_word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w;
}

#define JSON_EVERY(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * The high bit of each special byte. A subtraction borrows into the byte above
 * a hit, so only the lowest bit is exact; nobody looks at more. Below 0x80 the
 * high bit of (b - n) says b < n; bytes from 0x80 on are hits by themselves.
 */
static inline uint64_t json_word_specials(uint64_t w)
{
	uint64_t quote = w ^ JSON_EVERY('"');
	uint64_t backslash = w ^ JSON_EVERY('\\');

	return ((w - JSON_EVERY(0x20)) | (quote - JSON_EVERY(1)) | (backslash - JSON_EVERY(1)) | w) &
	       JSON_EVERY(0x80);
}

/* The first special byte, or `end`. */
static inline const char *json_scan_words(const char *p, const char *end)
{
	for (; end - p >= 8; p += 8) {
		uint64_t hits = json_word_specials(json_word(p));

		if (hits)
			return p + (__builtin_ctzll(hits) >> 3);
	}
	while (p < end && !json_is_special(*p))
		p++;
	return p;
}

/* Copies up to the first backslash or `end`; returns where it stopped. `to`
 * has room for end - p bytes, all of which may be written. */
static inline const char *json_copy_words(char *to, const char *p, const char *end)
{
	for (; end - p >= 8; p += 8, to += 8) {
		uint64_t w = json_word(p);
		uint64_t other = w ^ JSON_EVERY('\\');
		uint64_t hits = (other - JSON_EVERY(1)) & ~other & JSON_EVERY(0x80);

		memcpy(to, p, 8);
		if (hits)
			return p + (__builtin_ctzll(hits) >> 3);
	}
	while (p < end && *p != '\\')
		*to++ = *p++;
	return p;
}

#if defined __SSE2__ && !defined ARBOR_NO_SIMD
#define JSON_SIMD 1

static inline __m128i json_load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* One bit a byte. The comparison is signed: bytes from 0x80 on are negative. */
static inline unsigned json_specials(__m128i v)
{
	__m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
	__m128i backslash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
	__m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), low));
}

static inline const char *json_scan(const char *p, const char *end)
{
	for (; end - p >= 16; p += 16) {
		unsigned hits = json_specials(json_load(p));

		if (hits)
			return p + __builtin_ctz(hits);
	}
	return json_scan_words(p, end);
}

static inline const char *json_copy_plain(char *to, const char *p, const char *end)
{
	for (; end - p >= 16; p += 16, to += 16) {
		__m128i v = json_load(p);
		unsigned hits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));

		_mm_storeu_si128((__m128i *)(void *)to, v);
		if (hits)
			return p + __builtin_ctz(hits);
	}
	return json_copy_words(to, p, end);
}

#else
#define JSON_SIMD 0

static inline const char *json_scan(const char *p, const char *end)
{
	return json_scan_words(p, end);
}

static inline const char *json_copy_plain(char *to, const char *p, const char *end)
{
	return json_copy_words(to, p, end);
}

#endif
#endif
