/*
 * SHA-256 and SHA-1 (FIPS 180-4), and XXH3 through its header.
 *
 * Both SHAs eat blocks of 64 bytes and differ only in what they do with one,
 * so feeding and padding are written once over a function that takes whole
 * blocks. `length` says how full `block` is: length % 64 bytes wait in it.
 *
 * Both have a second form for x86 processors with SHA instructions, about
 * six times as fast. It is chosen at every call from what the compiler's
 * start-up code found out, so there is no state here. Compilers that cannot
 * ask for this feature use the portable form; HASH_PORTABLE asks for it.
 *
 * Not here: constant-time promises, keyed hashes. Nothing that is hashed is a
 * secret.
 */
#include "base/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined __x86_64__ && defined __GNUC__ && __GNUC__ >= 11 && !defined __clang__ && !defined HASH_PORTABLE
#define HASH_X86_SHA 1
#include <immintrin.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#else
#define HASH_X86_SHA 0
#endif

enum { BLOCK = 64 };

typedef void eat_blocks(uint32_t h[8], const uint8_t *p, size_t blocks);

static uint32_t rotate_left(uint32_t v, unsigned by)
{
	return v << by | v >> (32 - by);
}

static uint32_t rotate_right(uint32_t v, unsigned by)
{
	return v >> by | v << (32 - by);
}

static uint32_t load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

/* ---- Feeding, for both ---- */

static void feed(struct sha *s, const uint8_t *p, size_t n, eat_blocks *eat)
{
	size_t waiting = s->length % BLOCK;

	if (n == 0)
		return;
	s->length += n;
	if (waiting) {
		size_t take = size_min(n, BLOCK - waiting);

		memcpy(s->block + waiting, p, take);
		if (waiting + take < BLOCK)
			return;
		eat(s->h, s->block, 1);
		p += take;
		n -= take;
	}
	eat(s->h, p, n / BLOCK);
	memcpy(s->block, p + n - n % BLOCK, n % BLOCK);
}

/* Pads with a one bit, zeros, and the length in bits; writes `words` words. */
static void finish(struct sha *s, uint8_t *out, size_t words, eat_blocks *eat)
{
	uint64_t bits = s->length * 8;
	size_t waiting = s->length % BLOCK;

	s->block[waiting++] = 0x80;
	if (waiting > BLOCK - 8) {
		memset(s->block + waiting, 0, BLOCK - waiting);
		eat(s->h, s->block, 1);
		waiting = 0;
	}
	memset(s->block + waiting, 0, BLOCK - 8 - waiting);
	store_be32(s->block + BLOCK - 8, (uint32_t)(bits >> 32));
	store_be32(s->block + BLOCK - 4, (uint32_t)bits);
	eat(s->h, s->block, 1);
	for (size_t i = 0; i < words; i++)
		store_be32(out + 4 * i, s->h[i]);
}

/* ---- SHA-256 ---- */

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k256[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void schedule256(uint32_t w[64], const uint8_t *p)
{
	for (size_t i = 0; i < 16; i++)
		w[i] = load_be32(p + 4 * i);
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		uint32_t s0 = rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3;
		uint32_t s1 = rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* One round. Instead of moving eight variables along, the caller names them in
 * turned order. `kw` is the round's constant and schedule word. */
/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names of variables */
#define ROUND256(a, b, c, d, e, f, g, h, kw) \
	do { \
		h += (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) + \
		     (g ^ (e & (f ^ g))) + (kw); \
		d += h; \
		h += (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) + \
		     ((a & b) | (c & (a | b))); \
	} while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

static void eat256_portable(uint32_t s[8], const uint8_t *p, size_t blocks)
{
	for (; blocks; blocks--, p += BLOCK) {
		uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
		uint32_t w[64];

		schedule256(w, p);
		for (size_t i = 0; i < 64; i += 8) {
			ROUND256(a, b, c, d, e, f, g, h, k256[i] + w[i]);
			ROUND256(h, a, b, c, d, e, f, g, k256[i + 1] + w[i + 1]);
			ROUND256(g, h, a, b, c, d, e, f, k256[i + 2] + w[i + 2]);
			ROUND256(f, g, h, a, b, c, d, e, k256[i + 3] + w[i + 3]);
			ROUND256(e, f, g, h, a, b, c, d, k256[i + 4] + w[i + 4]);
			ROUND256(d, e, f, g, h, a, b, c, k256[i + 5] + w[i + 5]);
			ROUND256(c, d, e, f, g, h, a, b, k256[i + 6] + w[i + 6]);
			ROUND256(b, c, d, e, f, g, h, a, k256[i + 7] + w[i + 7]);
		}
		s[0] += a;
		s[1] += b;
		s[2] += c;
		s[3] += d;
		s[4] += e;
		s[5] += f;
		s[6] += g;
		s[7] += h;
	}
}

#if HASH_X86_SHA

static __m128i load128(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* The instructions hold the state as two vectors, ABEF and CDGH, highest word
 * first, and do two rounds each; `m` is the last sixteen schedule words. */
__attribute__((target("sha,sse4.1"))) static void eat256_x86(uint32_t s[8], const uint8_t *p, size_t blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i cdab = _mm_shuffle_epi32(load128(s), 0xB1);
	__m128i efgh = _mm_shuffle_epi32(load128(s + 4), 0x1B);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
	__m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);

	for (; blocks; blocks--, p += BLOCK) {
		__m128i abef_before = abef, cdgh_before = cdgh, m[4];

#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			__m128i *now = &m[i % 4], kw;

			if (i < 4) {
				*now = _mm_shuffle_epi8(load128(p + 16 * i), swap);
			} else {
				__m128i last = m[(i + 3) % 4];
				__m128i w7 = _mm_alignr_epi8(last, m[(i + 2) % 4], 4);

				*now = _mm_add_epi32(_mm_sha256msg1_epu32(*now, m[(i + 1) % 4]), w7);
				*now = _mm_sha256msg2_epu32(*now, last);
			}
			kw = _mm_add_epi32(*now, load128(k256 + 4 * i));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, kw);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(kw, 0x0E));
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	cdab = _mm_shuffle_epi32(abef, 0x1B); /* now FEBA */
	efgh = _mm_shuffle_epi32(cdgh, 0xB1); /* now DCHG */
	_mm_storeu_si128((__m128i *)(void *)s, _mm_blend_epi16(cdab, efgh, 0xF0));
	_mm_storeu_si128((__m128i *)(void *)(s + 4), _mm_alignr_epi8(efgh, cdab, 8));
}

/* The C library has asked the processor already. The compiler's own way to know asks
 * again at every start of the program, which costs a virtual machine 0.1 ms. */
static bool has_sha_instructions(void)
{
#if __has_include(<sys/platform/x86.h>)
	return CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1);
#else
	return __builtin_cpu_supports("sha") && __builtin_cpu_supports("sse4.1");
#endif
}

static eat_blocks *eat256(void)
{
	if (has_sha_instructions())
		return eat256_x86;
	return eat256_portable;
}

#else

static eat_blocks *eat256(void)
{
	return eat256_portable;
}

#endif

void sha256_init(struct sha *s)
{
	/* Fractional parts of the square roots of the first eight primes. */
	*s = (struct sha){ .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha *s, const void *bytes, size_t n)
{
	feed(s, bytes, n, eat256());
}

void sha256_end(struct sha *s, uint8_t out[SHA256_BYTES])
{
	finish(s, out, SHA256_BYTES / 4, eat256());
}

void sha256(struct str bytes, uint8_t out[SHA256_BYTES])
{
	struct sha s;

	sha256_init(&s);
	sha256_add(&s, bytes.p, bytes.n);
	sha256_end(&s, out);
}

/* ---- SHA-1 ---- */

/* Twenty rounds with one function of b, c, d and one constant. */
#define ROUNDS1(from, function, k) \
	for (size_t i = (from); i < (from) + 20; i++) { \
		uint32_t next = rotate_left(a, 5) + (function) + e + (k) + w[i]; \
		e = d; \
		d = c; \
		c = rotate_left(b, 30); \
		b = a; \
		a = next; \
	}

static void eat1_portable(uint32_t s[8], const uint8_t *p, size_t blocks)
{
	for (; blocks; blocks--, p += BLOCK) {
		uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4];
		uint32_t w[80];

		for (size_t i = 0; i < 16; i++)
			w[i] = load_be32(p + 4 * i);
		for (size_t i = 16; i < 80; i++)
			w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
		ROUNDS1(0, d ^ (b & (c ^ d)), 0x5a827999)
		ROUNDS1(20, b ^ c ^ d, 0x6ed9eba1)
		ROUNDS1(40, (b & c) | (d & (b | c)), 0x8f1bbcdc)
		ROUNDS1(60, b ^ c ^ d, 0xca62c1d6)
		s[0] += a;
		s[1] += b;
		s[2] += c;
		s[3] += d;
		s[4] += e;
	}
}

#if HASH_X86_SHA

/* Four rounds; which function and constant of the four they take has to be known when this is compiled. */
__attribute__((target("sha,sse4.1"), always_inline)) static inline __m128i four_rounds(__m128i abcd, __m128i ew,
											int which)
{
	switch (which) {
	case 0:
		return _mm_sha1rnds4_epu32(abcd, ew, 0);
	case 1:
		return _mm_sha1rnds4_epu32(abcd, ew, 1);
	case 2:
		return _mm_sha1rnds4_epu32(abcd, ew, 2);
	default:
		return _mm_sha1rnds4_epu32(abcd, ew, 3);
	}
}

/* The state is one vector, A highest, and E, which four rounds later is A turned: so each
 * four take the A of those before. */
__attribute__((target("sha,sse4.1"))) static void eat1_x86(uint32_t s[8], const uint8_t *p, size_t blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
	__m128i abcd = _mm_shuffle_epi32(load128(s), 0x1B);
	__m128i e = _mm_set_epi32((int)s[4], 0, 0, 0);

	for (; blocks; blocks--, p += BLOCK) {
		__m128i abcd_before = abcd, e_before = e, last = abcd, m[4];

#pragma GCC unroll 20
		for (int i = 0; i < 20; i++) {
			__m128i *now = &m[i % 4];

			if (i < 4) {
				*now = _mm_shuffle_epi8(load128(p + 16 * i), swap);
			} else {
				*now = _mm_xor_si128(_mm_sha1msg1_epu32(*now, m[(i + 1) % 4]), m[(i + 2) % 4]);
				*now = _mm_sha1msg2_epu32(*now, m[(i + 3) % 4]);
			}
			e = i == 0 ? _mm_add_epi32(e, *now) : _mm_sha1nexte_epu32(last, *now);
			last = abcd;
			abcd = four_rounds(abcd, e, i / 5);
		}
		e = _mm_sha1nexte_epu32(last, e_before);
		abcd = _mm_add_epi32(abcd, abcd_before);
	}
	_mm_storeu_si128((__m128i *)(void *)s, _mm_shuffle_epi32(abcd, 0x1B));
	s[4] = (uint32_t)_mm_extract_epi32(e, 3);
}

static eat_blocks *eat1(void)
{
	if (has_sha_instructions())
		return eat1_x86;
	return eat1_portable;
}

#else

static eat_blocks *eat1(void)
{
	return eat1_portable;
}

#endif

void sha1_init(struct sha *s)
{
	*s = (struct sha){ .h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 } };
}

void sha1_add(struct sha *s, const void *bytes, size_t n)
{
	feed(s, bytes, n, eat1());
}

void sha1_end(struct sha *s, uint8_t out[SHA1_BYTES])
{
	finish(s, out, SHA1_BYTES / 4, eat1());
}

/* ---- The rest ---- */

uint64_t hash64(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}

void hex_encode(const uint8_t *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 0x0F];
	}
	*out = '\0';
}
