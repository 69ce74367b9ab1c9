/*
 * The two loops in which splitting text spends its time, each in two variants
 * with one contract: 16 bytes at a time with SSE2, and byte by byte in plain C
 * for every other machine (or with -DARBOR_NO_SIMD). Private to words.c and its
 * test, which runs both against each other.
 */
#ifndef ARBOR_BASE_WORDS_SCAN_H
#define ARBOR_BASE_WORDS_SCAN_H

#include "base/base.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
	SCAN_BLOCK = 64, /* bytes looked at: one bit each */
	SCAN_STEP = 16,  /* copying reads and writes in steps of this */
	SCAN_ROOM = SCAN_BLOCK + SCAN_STEP, /* so this much has to be readable */
};

/* A bit for each byte of a block. The first three are disjoint; a byte in none
 * of the four separates. */
struct scan {
	uint64_t upper, lower, digit; /* ASCII only */
	uint64_t high;                /* outside ASCII */
};

static inline void scan_block_plain(const char *p, struct scan *s)
{
	*s = (struct scan){ 0 };
	for (unsigned i = 0; i < SCAN_BLOCK; i++) {
		unsigned c = (unsigned char)p[i];

		s->upper |= (uint64_t)(c - 'A' < 26) << i;
		s->lower |= (uint64_t)(c - 'a' < 26) << i;
		s->digit |= (uint64_t)(c - '0' < 10) << i;
		s->high |= (uint64_t)(c >> 7) << i;
	}
}

/* Copies n ASCII bytes in lower case. Up to a multiple of SCAN_STEP bytes may
 * be read and written. */
static inline void scan_copy_plain(char *to, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned c = (unsigned char)p[i];

		to[i] = (char)(c | (c - 'A' < 26 ? 0x20 : 0));
	}
}

#if defined __SSE2__ && !defined ARBOR_NO_SIMD
#define SCAN_SIMD 1

/* 0xFF where first <= byte < first + count: the sum moves this range to the
 * lowest signed values. */
static inline __m128i scan_between(__m128i v, char first, char count)
{
	__m128i moved = _mm_add_epi8(v, _mm_set1_epi8((char)(-128 - first)));

	return _mm_cmplt_epi8(moved, _mm_set1_epi8((char)(-128 + count)));
}

static inline __m128i scan_load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline uint64_t scan_bits(__m128i v, unsigned shift)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(v) << shift;
}

static inline void scan_block(const char *p, struct scan *s)
{
	*s = (struct scan){ 0 };
	for (unsigned i = 0; i < SCAN_BLOCK; i += SCAN_STEP) {
		__m128i v = scan_load(p + i);

		s->upper |= scan_bits(scan_between(v, 'A', 26), i);
		s->lower |= scan_bits(scan_between(v, 'a', 26), i);
		s->digit |= scan_bits(scan_between(v, '0', 10), i);
		s->high |= scan_bits(v, i);
	}
}

static inline void scan_copy(char *to, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i += SCAN_STEP) {
		__m128i v = scan_load(p + i);
		__m128i bit = _mm_and_si128(scan_between(v, 'A', 26), _mm_set1_epi8(0x20));

		_mm_storeu_si128((__m128i *)(void *)(to + i), _mm_or_si128(v, bit));
	}
}

#else
#define SCAN_SIMD 0

static inline void scan_block(const char *p, struct scan *s)
{
	scan_block_plain(p, s);
}

static inline void scan_copy(char *to, const char *p, size_t n)
{
	scan_copy_plain(to, p, n);
}

#endif
#endif
