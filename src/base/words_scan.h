/*
 * The two loops in which splitting text spends its time, each in two variants
 * with one contract: 16 bytes at a time with SSE2, and 8 at a time in plain C
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

/* A block is what is looked at: a bit for each of its bytes. Copying reads and
 * writes in steps, so a block needs room behind it that is readable. */
enum {
	SCAN_BLOCK = 64,
	SCAN_STEP = 16,
	SCAN_ROOM = SCAN_BLOCK + SCAN_STEP,
};

/* A bit for each byte of a block. The first three are disjoint; a byte in none
 * of the four separates. */
struct scan {
	uint64_t upper, lower, digit; /* ASCII only */
	uint64_t high;                /* outside ASCII */
};

#define SCAN_EVERY(byte) (UINT64_C(0x0101010101010101) * (uint64_t)(byte))

/* Eight bytes, the first in the lowest bits. Its own inverse. */
static inline uint64_t scan_order(uint64_t w)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(w);
#else
	return w;
#endif
}

static inline uint64_t scan_eight(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof w);
	return scan_order(w);
}

/* The high bit of each byte that is first <= byte < first + count, all below
 * 0x80: sums of seven bits never reach the byte above. */
static inline uint64_t scan_eight_between(uint64_t w, unsigned first, unsigned count)
{
	uint64_t low = w & SCAN_EVERY(0x7F);
	uint64_t from = low + SCAN_EVERY(0x80 - first), behind = low + SCAN_EVERY(0x80 - first - count);

	return from & ~behind & ~w & SCAN_EVERY(0x80);
}

/* The high bits of eight bytes, gathered: the product moves that of byte i
 * to bit 56 + i, and no two bits to one place. */
static inline uint64_t scan_eight_bits(uint64_t w, unsigned shift)
{
	return ((w & SCAN_EVERY(0x80)) * UINT64_C(0x0002040810204081)) >> 56 << shift;
}

static inline void scan_block_plain(const char *p, struct scan *s)
{
	*s = (struct scan){ 0 };
	for (unsigned i = 0; i < SCAN_BLOCK; i += 8) {
		uint64_t w = scan_eight(p + i);

		s->upper |= scan_eight_bits(scan_eight_between(w, 'A', 26), i);
		s->lower |= scan_eight_bits(scan_eight_between(w, 'a', 26), i);
		s->digit |= scan_eight_bits(scan_eight_between(w, '0', 10), i);
		s->high |= scan_eight_bits(w, i);
	}
}

/* Copies n bytes, ASCII in lower case. Reads and writes up to the next multiple
 * of SCAN_STEP. */
static inline void scan_copy_plain(char *to, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t w = scan_eight(p + i);

		w = scan_order(w | scan_eight_between(w, 'A', 26) >> 2);
		memcpy(to + i, &w, sizeof w);
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
