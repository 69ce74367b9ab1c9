/*
 * Hashes against the published vectors, and feeding in pieces against feeding
 * at once. hash_portable.c runs the same tests over the code for processors
 * without SHA instructions.
 */
#include "base/hash.h"
#include "t.h"

#include <stdio.h>
#include <string.h>

static bool hex_is(const uint8_t *digest, size_t n, const char *want)
{
	char got[2 * SHA256_BYTES + 1];

	hex_encode(digest, n, got);
	if (strcmp(got, want) == 0)
		return true;
	printf("# digest is %s\n# wanted    %s\n", got, want);
	return false;
}

/* FIPS 180-4 examples, and the empty message. */
static const struct {
	const char *message, *sha256, *sha1;
} vectors[] = {
	{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	  "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
	{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	  "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
	  "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
	  "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
	  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
	  "a49b2446a02c645bf419f995b67091253a04a259" },
};

TEST(sha256_gives_the_published_digests)
{
	for (size_t i = 0; i < COUNT(vectors); i++) {
		uint8_t digest[SHA256_BYTES];

		sha256(str_of(vectors[i].message), digest);
		CHECK(hex_is(digest, sizeof digest, vectors[i].sha256));
	}
}

TEST(sha1_gives_the_published_digests)
{
	for (size_t i = 0; i < COUNT(vectors); i++) {
		uint8_t digest[SHA1_BYTES];
		struct sha s;

		sha1_init(&s);
		sha1_add(&s, vectors[i].message, strlen(vectors[i].message));
		sha1_end(&s, digest);
		CHECK(hex_is(digest, sizeof digest, vectors[i].sha1));
	}
}

TEST(a_million_times_a_is_as_published)
{
	char thousand[1000];
	uint8_t digest[SHA256_BYTES];
	struct sha s256, s1;

	memset(thousand, 'a', sizeof thousand);
	sha256_init(&s256);
	sha1_init(&s1);
	for (int i = 0; i < 1000; i++) {
		sha256_add(&s256, thousand, sizeof thousand);
		sha1_add(&s1, thousand, sizeof thousand);
	}
	sha256_end(&s256, digest);
	CHECK(hex_is(digest, SHA256_BYTES,
	             "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
	sha1_end(&s1, digest);
	CHECK(hex_is(digest, SHA1_BYTES, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"));
}

enum { INPUT = 300 };

static void fill_input(uint8_t input[INPUT])
{
	for (size_t i = 0; i < INPUT; i++)
		input[i] = (uint8_t)(i * 7 + i / 13);
}

/* The padding changes its form at 55, 56, 63 and 64 bytes. The digest of all
 * digests was computed with Python's hashlib. */
TEST(every_length_around_the_padding_is_right)
{
	uint8_t input[INPUT], digest[SHA256_BYTES];
	struct sha all256, all1, s;

	fill_input(input);
	sha256_init(&all256);
	sha1_init(&all1);
	for (size_t n = 0; n <= INPUT; n++) {
		sha256(str_from((const char *)input, n), digest);
		sha256_add(&all256, digest, SHA256_BYTES);
		sha1_init(&s);
		sha1_add(&s, input, n);
		sha1_end(&s, digest);
		sha1_add(&all1, digest, SHA1_BYTES);
	}
	sha256_end(&all256, digest);
	CHECK(hex_is(digest, SHA256_BYTES,
	             "0d81ab5fdffe00599684719bcc6fbf9e23329d1feb28d346ae0432cb7dd165b0"));
	sha1_end(&all1, digest);
	CHECK(hex_is(digest, SHA1_BYTES, "59ad25b6d5094e4370924a5b10e493702a747ce5"));
}

TEST(every_split_in_three_gives_the_same_digest)
{
	uint8_t input[INPUT], whole256[SHA256_BYTES], whole1[SHA1_BYTES], digest[SHA256_BYTES];
	struct sha s;

	fill_input(input);
	sha256(str_from((const char *)input, INPUT), whole256);
	sha1_init(&s);
	sha1_add(&s, input, INPUT);
	sha1_end(&s, whole1);
	for (size_t a = 0; a <= INPUT; a++) {
		for (size_t b = a; b <= INPUT; b++) {
			sha256_init(&s);
			sha256_add(&s, input, a);
			sha256_add(&s, input + a, b - a);
			sha256_add(&s, input + b, INPUT - b);
			sha256_end(&s, digest);
			NEED(memcmp(digest, whole256, SHA256_BYTES) == 0);
			sha1_init(&s);
			sha1_add(&s, input, a);
			sha1_add(&s, input + a, b - a);
			sha1_add(&s, input + b, INPUT - b);
			sha1_end(&s, digest);
			NEED(memcmp(digest, whole1, SHA1_BYTES) == 0);
		}
	}
}

TEST(every_constant_chunk_size_gives_the_same_digest)
{
	uint8_t input[INPUT], whole[SHA256_BYTES], digest[SHA256_BYTES];

	fill_input(input);
	sha256(str_from((const char *)input, INPUT), whole);
	for (size_t chunk = 1; chunk <= INPUT; chunk++) {
		struct sha s;

		sha256_init(&s);
		for (size_t at = 0; at < INPUT; at += chunk)
			sha256_add(&s, input + at, size_min(chunk, INPUT - at));
		EQ(s.length, INPUT);
		sha256_end(&s, digest);
		CHECK(memcmp(digest, whole, SHA256_BYTES) == 0);
	}
}

TEST(adding_nothing_from_null_changes_nothing)
{
	uint8_t digest[SHA256_BYTES];
	struct sha s;

	sha256_init(&s);
	sha256_add(&s, NULL, 0);
	sha256_add(&s, "abc", 3);
	sha256_add(&s, NULL, 0);
	sha256_end(&s, digest);
	CHECK(hex_is(digest, sizeof digest, vectors[1].sha256));
	sha256((struct str){ 0 }, digest);
	CHECK(hex_is(digest, sizeof digest, vectors[0].sha256));
}

/* Written in the store, so they may never change. */
TEST(hash64_is_xxh3_with_seed_0)
{
	CHECK(hash64("", 0) == UINT64_C(0x2d06800538d394c2));
	CHECK(hash64("abc", 3) == UINT64_C(0x78af5f94892f3950));
	CHECK(hash64("The quick brown fox jumps over the lazy dog", 43) == UINT64_C(0xce7d19a5418fb365));
}

TEST(hash64_sees_every_bit_of_a_block)
{
	uint8_t input[INPUT];
	uint64_t before;

	fill_input(input);
	before = hash64(input, INPUT);
	for (size_t bit = 0; bit < INPUT * 8; bit++) {
		input[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CHECK(hash64(input, INPUT) != before);
		input[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	CHECK(hash64(input, INPUT) == before);
}

TEST(hex_is_lower_case_and_terminated)
{
	static const uint8_t bytes[] = { 0x00, 0x0f, 0xf0, 0xff, 0xAB };
	char out[11];

	memset(out, 'x', sizeof out);
	hex_encode(bytes, sizeof bytes, out);
	EQS(str_from(out, sizeof out), STR("000ff0ffab\0"));
	hex_encode(bytes, 0, out);
	EQ(out[0], 0);
}

TESTS(CASE(sha256_gives_the_published_digests),
      CASE(sha1_gives_the_published_digests),
      CASE(a_million_times_a_is_as_published),
      CASE(every_length_around_the_padding_is_right),
      CASE(every_split_in_three_gives_the_same_digest),
      CASE(every_constant_chunk_size_gives_the_same_digest),
      CASE(adding_nothing_from_null_changes_nothing),
      CASE(hash64_is_xxh3_with_seed_0),
      CASE(hash64_sees_every_bit_of_a_block),
      CASE(hex_is_lower_case_and_terminated))
