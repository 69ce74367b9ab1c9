/*
 * UUIDs: the examples of RFC 9562, values computed with Python's uuid module,
 * and texts that are almost one.
 */
#include "base/uuid.h"
#include "t.h"

#include <string.h>

/* RFC 9562, table of name space ids. */
static const char ns_dns[] = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
static const char ns_url[] = "6ba7b811-9dad-11d1-80b4-00c04fd430c8";
static const char ns_oid[] = "6ba7b812-9dad-11d1-80b4-00c04fd430c8";

static bool text_is(const struct uuid *u, const char *want)
{
	char text[UUID_TEXT + 1];

	uuid_print(u, text);
	return strcmp(text, want) == 0;
}

TEST(text_and_bytes_agree)
{
	char text[UUID_TEXT + 1];
	struct uuid u;

	NEED(uuid_parse(STR("00112233-4455-6677-8899-AabBccDDeeFf"), &u));
	for (unsigned i = 0; i < UUID_BYTES; i++)
		EQ(u.b[i], i * 0x11);
	uuid_print(&u, text);
	EQS(str_of(text), STR("00112233-4455-6677-8899-aabbccddeeff"));
}

TEST(a_text_that_is_almost_a_uuid_is_refused)
{
	static const char good[] = "00112233-4455-6677-8899-aabbccddeeff";
	struct uuid before = { { 1, 2, 3 } }, u = before;
	char text[UUID_TEXT + 2] = { 0 };

	/* Any other byte at any place, also one that would be right elsewhere. */
	for (size_t i = 0; i < UUID_TEXT; i++) {
		for (int c = 0; c < 256; c++) {
			bool hex = strchr("0123456789abcdefABCDEF", c) && c;
			bool dash = good[i] == '-';

			memcpy(text, good, UUID_TEXT);
			text[i] = (char)c;
			u = before;
			EQ(uuid_parse(str_from(text, UUID_TEXT), &u), dash ? c == '-' : hex);
			if (!(dash ? c == '-' : hex))
				CHECK(uuid_eq(&u, &before));
		}
	}
	for (size_t n = 0; n < UUID_TEXT; n++)
		CHECK(!uuid_parse(str_from(good, n), &u));
	CHECK(!uuid_parse(str_from("00112233-4455-6677-8899-aabbccddeeff0", 37), &u));
	CHECK(!uuid_parse(str_from(good, UUID_TEXT + 1), &u)); /* with its NUL */
	CHECK(!uuid_parse(STR("{00112233-4455-6677-8899-aabbccddeef"), &u));
	CHECK(!uuid_parse(STR("00112233445566778899aabbccddeeff"), &u));
	CHECK(!uuid_parse((struct str){ 0 }, &u));
}

TEST(a_beginning_is_a_range)
{
	static const char *const none[] = { "", "abc", "a-b-c", "abcg", "abcd ", "abcdé",
					    "000102030405060708090a0b0c0d0e0f0" };
	struct uuid low, high;

	CHECK(uuid_range(STR("aBcD-e"), &low, &high));
	CHECK(text_is(&low, "abcde000-0000-0000-0000-000000000000"));
	CHECK(text_is(&high, "abcdefff-ffff-ffff-ffff-ffffffffffff"));
	CHECK(uuid_range(STR("00010203-0405-0607-0809-0a0b0c0d0e0f"), &low, &high));
	CHECK(uuid_eq(&low, &high));
	for (size_t i = 0; i < COUNT(none); i++)
		CHECK(!uuid_range(str_of(none[i]), &low, &high));
}

TEST(equal_means_every_byte)
{
	struct uuid a = { { 0 } }, b;

	for (size_t i = 0; i < UUID_BYTES; i++) {
		b = a;
		CHECK(uuid_eq(&a, &b));
		b.b[i] ^= 0x80;
		CHECK(!uuid_eq(&a, &b));
	}
}

TEST(version_5_gives_the_known_values)
{
	static const struct {
		const char *space, *name, *want;
	} rows[] = {
		{ ns_dns, "www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2" }, /* RFC 9562, A.4 */
		{ ns_dns, "python.org", "886313e1-3b8a-5372-9b90-0c9aee199e5d" },
		{ ns_dns, "", "4ebd0208-8328-5d69-8c44-ec50939c0967" },
		{ ns_oid, "1.3.6.1", "1447fa61-5277-5fef-a9b3-fbc6e44f4af3" },
		{ ns_url, "http://www.widgets.com/", "b25d1f15-33fc-544b-870e-dc86571013e3" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct uuid space, u;

		NEED(uuid_parse(str_of(rows[i].space), &space));
		u = uuid_v5(&space, str_of(rows[i].name));
		CHECK(text_is(&u, rows[i].want));
	}
	CHECK(text_is(&uuid_ns_oid, ns_oid));
}

TEST(random_ids_have_version_4_and_differ)
{
	enum { MANY = 1000 };
	struct uuid u[MANY], ones = { { 0 } }, zeros = { { 0 } };
	struct err err;

	for (size_t i = 0; i < MANY; i++) {
		OK(uuid_random(&u[i], &err));
		EQ(u[i].b[6] >> 4, 4);
		EQ(u[i].b[8] >> 6, 2);
		for (size_t k = 0; k < i; k++)
			NEED(!uuid_eq(&u[i], &u[k]));
		for (size_t k = 0; k < UUID_BYTES; k++) {
			ones.b[k] |= u[i].b[k];
			zeros.b[k] |= (uint8_t)~u[i].b[k];
		}
	}
	/* Every other bit was seen as 1 and as 0. */
	CHECK(text_is(&ones, "ffffffff-ffff-4fff-bfff-ffffffffffff"));
	CHECK(text_is(&zeros, "ffffffff-ffff-bfff-7fff-ffffffffffff"));
}

TEST(an_id_of_parts_is_version_5_below_arbors_namespace)
{
	struct uuid arbor = uuid_v5(&uuid_ns_oid, STR("arbor"));
	struct str parts[] = { STR("a"), STR("b"), STR("") };
	struct str joined[] = { STR(""), STR("a"), STR("a\0b"), STR("a\0b\0") };
	struct uuid u, want;

	CHECK(text_is(&arbor, "1e9ff67a-50ce-5d6f-aa29-8f27325a2a50"));
	for (size_t n = 0; n <= COUNT(parts); n++) {
		u = uuid_of_parts(parts, n);
		want = uuid_v5(&arbor, joined[n]);
		CHECK(uuid_eq(&u, &want));
	}
	u = uuid_of_parts(parts, 2);
	CHECK(text_is(&u, "fbdc081a-16a3-507e-8dfa-2a72caa296a6"));
}

TEST(parts_are_kept_apart)
{
	struct str ab_c[] = { STR("ab"), STR("c") }, a_bc[] = { STR("a"), STR("bc") };
	struct str abc[] = { STR("abc") }, abc_[] = { STR("abc"), STR("") };
	struct uuid u[] = {
		uuid_of_parts(ab_c, 2), uuid_of_parts(a_bc, 2), uuid_of_parts(abc, 1), uuid_of_parts(abc_, 2),
	};

	for (size_t i = 0; i < COUNT(u); i++)
		for (size_t k = 0; k < i; k++)
			CHECK(!uuid_eq(&u[i], &u[k]));
}

TESTS(CASE(text_and_bytes_agree),
      CASE(a_text_that_is_almost_a_uuid_is_refused),
      CASE(a_beginning_is_a_range),
      CASE(equal_means_every_byte),
      CASE(version_5_gives_the_known_values),
      CASE(random_ids_have_version_4_and_differ),
      CASE(an_id_of_parts_is_version_5_below_arbors_namespace),
      CASE(parts_are_kept_apart))
