/*
 * Base64: the examples of the RFC, everything back and forth, and what is none.
 */
#include "base/base64.h"
#include "t.h"

TEST(the_examples_of_the_rfc_hold)
{
	static const char *const cases[][2] = { { "", "" },
						{ "f", "Zg==" },
						{ "fo", "Zm8=" },
						{ "foo", "Zm9v" },
						{ "foob", "Zm9vYg==" },
						{ "fooba", "Zm9vYmE=" },
						{ "foobar", "Zm9vYmFy" } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf b CLEANUP(buf_release) = BUF_INIT(KIB);

		base64_encode(&b, str_of(cases[i][0]));
		EQS(buf_as_str(&b), str_of(cases[i][1]));
		buf_clear(&b);
		CHECK(base64_decode(&b, str_of(cases[i][1])));
		EQS(buf_as_str(&b), str_of(cases[i][0]));
	}
}

TEST(all_bytes_come_back)
{
	char all[257];

	for (size_t i = 0; i < sizeof all; i++)
		all[i] = (char)(i * 7);
	for (size_t n = 0; n <= sizeof all; n++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
		struct buf back CLEANUP(buf_release) = BUF_INIT(KIB);

		base64_encode(&text, str_from(all, n));
		CHECK(base64_decode(&back, buf_as_str(&text)));
		EQS(buf_as_str(&back), str_from(all, n));
	}
}

TEST(what_is_no_base64_changes_nothing)
{
	static const char *const wrong[] = { "Z",	"Zg",	   "Zg=",  "Zg=a",   "Zh==",
					     "Zm9=",	"Z===",	   "====", "Zm9v\n", "Zg==Zg==",
					     "Zm9v Zg", "Zm9\xff", "Zm-v", "=m9v" };
	struct buf b CLEANUP(buf_release) = BUF_INIT(KIB);

	for (size_t i = 0; i < COUNT(wrong); i++)
		if (base64_decode(&b, str_of(wrong[i])) || b.n)
			t_fail(t, __FILE__, __LINE__, "'%s' is taken", wrong[i]);
}

TESTS(CASE(the_examples_of_the_rfc_hold), CASE(all_bytes_come_back), CASE(what_is_no_base64_changes_nothing))
