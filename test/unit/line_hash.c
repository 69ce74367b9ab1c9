/*
 * Hashes of lines, however the bytes are cut, and as docs/DATA.md describes them.
 */
#include "base/line_hash.h"
#include "t.h"

#include <string.h>

struct seen {
	struct buf log;
	size_t whole; /* lines that were handed over in one piece */
};

static void seen_release(struct seen *s)
{
	buf_release(&s->log);
}

static enum status see(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct seen *s = ctx;
	char hex[2 * SHA256_BYTES + 1];

	(void)err;
	hex_encode(line->hash, SHA256_BYTES, hex);
	buf_printf(&s->log, "%" PRId64 "+%" PRId64 " %s\n", line->offset, line->length, hex);
	s->whole += line->text.p != NULL;
	return STATUS_OK;
}

static const struct str key = { "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 64 };

/* The same from the whole text, by the formula. */
static void hash_plainly(struct buf *log, struct str text, int64_t at)
{
	while (text.n) {
		struct str line = str_sub(text, 0, str_find(text, '\n'));
		struct buf both CLEANUP(buf_release) = BUF_INIT(MIB);
		char hex[2 * SHA256_BYTES + 1];
		uint8_t hash[SHA256_BYTES];

		buf_str(&both, key);
		buf_str(&both, line);
		sha256(buf_as_str(&both), hash);
		hex_encode(hash, sizeof hash, hex);
		if (str_trim(line).n)
			buf_printf(log, "%" PRId64 "+%zu %s\n", at, line.n, hex);
		at += (int64_t)line.n + 1;
		text = str_sub(text, line.n + 1, SIZE_MAX);
	}
}

TEST(every_cut_gives_the_same_hashes)
{
	static const char *const texts[] = { "",     "a",	   "a\n",	    "a\nbb\n",
					     "\n\n", "one\n\ntwo", " \n\t\r\nx \n", "x\r\ny" };
	struct line_salt salt = line_salt_of(key);
	struct err err;

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct str text = str_of(texts[i]);
		struct buf want CLEANUP(buf_release) = BUF_INIT(MIB);

		hash_plainly(&want, text, 100);
		for (size_t a = 0; a <= text.n; a++)
			for (size_t b = a; b <= text.n; b++) {
				struct seen s CLEANUP(seen_release) = { .log = BUF_INIT(MIB) };
				struct line_hasher h;

				line_hasher_begin(&h, &salt, 100, see, &s);
				OK(line_hasher_add(&h, str_sub(text, 0, a), &err));
				OK(line_hasher_add(&h, str_sub(text, a, b - a), &err));
				OK(line_hasher_add(&h, str_sub(text, b, SIZE_MAX), &err));
				OK(line_hasher_end(&h, &err));
				EQS(buf_as_str(&s.log), buf_as_str(&want));
			}
	}
}

TEST(a_line_of_many_pieces_is_hashed_as_one)
{
	struct line_salt salt = line_salt_of(key);
	struct seen s CLEANUP(seen_release) = { .log = BUF_INIT(MIB) };
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB), want CLEANUP(buf_release) = BUF_INIT(MIB);
	struct line_hasher h;
	struct err err;

	for (int i = 0; i < 5000; i++)
		buf_printf(&text, "%d,", i);
	buf_text(&text, "\nshort\n");
	hash_plainly(&want, buf_as_str(&text), 0);
	line_hasher_begin(&h, &salt, 0, see, &s);
	for (size_t at = 0; at < text.n; at += 777)
		OK(line_hasher_add(&h, str_sub(buf_as_str(&text), at, 777), &err));
	OK(line_hasher_end(&h, &err));
	EQS(buf_as_str(&s.log), buf_as_str(&want));
	EQ(s.whole, 1);
}

TEST(only_lines_of_wanted_lengths_are_looked_at)
{
	struct line_salt salt = line_salt_of(key);
	struct seen s CLEANUP(seen_release) = { .log = BUF_INIT(MIB) };
	uint64_t lengths[LINE_LENGTHS / 64] = { 0 };
	struct line_hasher h;
	struct err err;

	lengths[line_length_bit(3) / 64] |= UINT64_C(1) << line_length_bit(3) % 64;
	line_hasher_begin(&h, &salt, 0, see, &s);
	h.lengths = lengths;
	OK(line_hasher_add(&h, STR("a\nbbb\ncccc\nd"), &err));
	OK(line_hasher_add(&h, STR("dd\nee"), &err));
	OK(line_hasher_end(&h, &err));
	CHECK(str_has_prefix(buf_as_str(&s.log), STR("2+3 ")));
	EQ(s.log.n, 2 * (4 + 2 * SHA256_BYTES + 1) + 1); /* the second is at 11 */
}

TEST(white_space_is_no_line_and_a_nul_is_one)
{
	struct line_salt salt = line_salt_of(key);
	uint8_t hash[SHA256_BYTES];

	CHECK(!line_hash(&salt, STR(""), hash));
	CHECK(!line_hash(&salt, STR(" \t\r"), hash));
	CHECK(line_hash(&salt, str_from("\0", 1), hash));
}

TESTS(CASE(every_cut_gives_the_same_hashes), CASE(a_line_of_many_pieces_is_hashed_as_one),
      CASE(only_lines_of_wanted_lengths_are_looked_at), CASE(white_space_is_no_line_and_a_nul_is_one))
