/*
 * Lines out of pieces, against a splitter that sees the whole text at once: every
 * cut of short texts, random cuts of long ones, every limit.
 */
#include "base/split.h"
#include "t.h"

#include <string.h>

/* What came out: one line of text for each line, its bytes or its digest. */
struct seen {
	struct buf log;
	size_t lines, stop_after; /* 0 = never */
	const char *low, *high;	  /* of the text, for telling borrowed lines; may be NULL */
	size_t borrowed;
};

static void seen_release(struct seen *s)
{
	buf_release(&s->log);
}

static void log_line(struct buf *log, int64_t offset, int64_t length, struct str text, const uint8_t *digest)
{
	char hex[2 * SHA256_BYTES + 1] = "";

	if (digest)
		hex_encode(digest, SHA256_BYTES, hex);
	buf_printf(log, "%" PRId64 "+%" PRId64 "%s%s ", offset, length, digest ? " sha256 " : "", hex);
	buf_str(log, text);
	buf_byte(log, '\n');
}

static bool see(void *ctx, const struct split_line *line)
{
	struct seen *s = ctx;

	if ((line->text.p == NULL) == (line->digest == NULL))
		buf_text(&s->log, "neither or both: ");
	log_line(&s->log, line->offset, line->length, line->text, line->digest);
	s->borrowed += s->low && line->text.p >= s->low && line->text.p < s->high;
	return ++s->lines != s->stop_after;
}

/* The same from the whole text. */
static void split_plainly(struct buf *log, struct str text, size_t most, int64_t at, bool end)
{
	while (text.n) {
		struct str line = str_sub(text, 0, str_find(text, '\n'));
		uint8_t digest[SHA256_BYTES];
		bool whole = line.n < text.n, kept = line.n <= most;

		if (!whole && !end)
			return;
		sha256(line, digest);
		log_line(log, at, (int64_t)line.n, kept ? line : (struct str){ 0 }, kept ? NULL : digest);
		at += (int64_t)(line.n + whole);
		text = str_sub(text, line.n + whole, SIZE_MAX);
	}
}

static void check_same(struct t *t, const struct seen *got, struct str text, size_t most, int64_t at)
{
	struct buf want CLEANUP(buf_release) = BUF_INIT(64 * MIB);

	split_plainly(&want, text, most, at, true);
	if (!str_eq(buf_as_str(&got->log), buf_as_str(&want)))
		t_fail(t, __FILE__, __LINE__, "at most %zu: got\n%.*swanted\n%.*s", most,
		       STR_ARG(buf_as_str(&got->log)), STR_ARG(buf_as_str(&want)));
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static const char *const texts[] = {
	"",
	"\n",
	"\n\n\n",
	"a",
	"a\n",
	"\na",
	"a\nb",
	"a\n\nb\n",
	"\n\nabc\n\n",
	"abc\r\ndef\r\n",
	"abcdefgh",
	"abcd\nabcde\nabc\n",
	"aaaaa\n\naaaaa",
};

TEST(every_cut_of_a_text_gives_the_same_lines_at_every_limit)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		for (size_t most = 0; most < 8; most++) {
			struct str text = str_of(texts[i]);

			for (unsigned cuts = 0; cuts < 1u << (text.n ? text.n - 1 : 0); cuts++) {
				struct seen got CLEANUP(seen_release) = { .log = BUF_INIT(MIB) };
				struct split s CLEANUP(split_release);
				size_t from = 0;

				split_begin(&s, most, 1000, see, &got);
				for (size_t k = 1; k <= text.n; k++)
					if (k == text.n || cuts >> (k - 1) & 1) {
						CHECK(split_add(&s, str_sub(text, from, k - from)));
						from = k;
					}
				EQ(s.at, 1000 + (int64_t)text.n);
				CHECK(split_end(&s));
				check_same(t, &got, text, most, 1000);
			}
		}
}

TEST(random_cuts_of_long_texts_give_the_same_lines)
{
	uint64_t state = 3;

	for (int round = 0; round < 60; round++) {
		static char bytes[30000];
		size_t n = next_random(&state) % sizeof bytes, most = next_random(&state) % 400;
		uint64_t rarity = 1 + next_random(&state) % 300;
		struct seen got CLEANUP(seen_release) = { .log = BUF_INIT(16 * MIB) };
		struct split s CLEANUP(split_release);

		for (size_t i = 0; i < n; i++)
			bytes[i] = next_random(&state) % rarity ? (char)(next_random(&state) % 200) : '\n';
		split_begin(&s, most, 0, see, &got);
		for (size_t at = 0; at < n;) {
			size_t piece = size_min(n - at, next_random(&state) % 700);

			/* A piece is gone when it has been added. */
			struct buf copy CLEANUP(buf_release) = BUF_INIT(KIB);

			buf_add(&copy, bytes + at, piece);
			CHECK(split_add(&s, buf_as_str(&copy)));
			at += piece;
		}
		CHECK(split_end(&s));
		check_same(t, &got, str_from(bytes, n), most, 0);
	}
}

TEST(a_line_of_exactly_the_limit_is_kept_and_one_byte_more_is_not)
{
	for (int pieces = 1; pieces <= 2; pieces++) {
		struct seen got CLEANUP(seen_release) = { .log = BUF_INIT(KIB) };
		struct split s CLEANUP(split_release);
		struct str text = STR("abcd\nabcde\n");

		split_begin(&s, 4, 0, see, &got);
		for (size_t at = 0, step = text.n / (size_t)pieces + 1; at < text.n; at += step)
			CHECK(split_add(&s, str_sub(text, at, step)));
		EQS(buf_as_str(&got.log),
		    STR("0+4 abcd\n"
			"5+5 sha256 36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c \n"));
	}
}

TEST(empty_pieces_change_nothing)
{
	struct seen got CLEANUP(seen_release) = { .log = BUF_INIT(KIB) };
	struct split s CLEANUP(split_release);

	split_begin(&s, 10, 0, see, &got);
	CHECK(split_add(&s, (struct str){ 0 }));
	CHECK(split_add(&s, STR("a")));
	CHECK(split_add(&s, STR("")));
	CHECK(split_add(&s, (struct str){ 0 }));
	CHECK(split_add(&s, STR("\n")));
	CHECK(split_end(&s));
	CHECK(split_end(&s));
	EQS(buf_as_str(&got.log), STR("0+1 a\n"));
}

TEST(an_empty_line_has_a_text_that_is_empty_and_not_absent)
{
	struct seen got CLEANUP(seen_release) = { .log = BUF_INIT(KIB) };
	struct split s CLEANUP(split_release);

	split_begin(&s, 0, 7, see, &got);
	CHECK(split_add(&s, STR("\n")));
	CHECK(split_add(&s, STR("\n")));
	EQS(buf_as_str(&got.log), STR("7+0 \n8+0 \n"));
}

TEST(what_has_no_line_feed_yet_can_be_looked_at_until_it_is_too_long)
{
	struct seen got CLEANUP(seen_release) = { .log = BUF_INIT(KIB) };
	struct split s CLEANUP(split_release);

	split_begin(&s, 4, 0, see, &got);
	EQ(split_rest(&s).n, 0);
	CHECK(split_add(&s, STR("x\nab")));
	EQS(split_rest(&s), STR("ab"));
	CHECK(split_add(&s, STR("cd")));
	EQS(split_rest(&s), STR("abcd"));
	CHECK(split_add(&s, STR("e")));
	CHECK(!split_rest(&s).p && !split_rest(&s).n);
	CHECK(split_add(&s, STR("\n")));
	EQ(split_rest(&s).n, 0);
	EQ(got.lines, 2);
	CHECK(split_add(&s, STR("z")));
	EQS(split_rest(&s), STR("z"));
}

TEST(lines_within_one_piece_are_not_copied)
{
	static const char text[] = "one\ntwo\nthree\nfour";
	struct seen got CLEANUP(
		seen_release) = { .log = BUF_INIT(KIB), .low = text, .high = text + sizeof text };
	struct split s CLEANUP(split_release);

	split_begin(&s, 100, 0, see, &got);
	CHECK(split_add(&s, str_of(text)));
	EQ(got.borrowed, 3);
	EQ(s.carry.n, 4);
}

TEST(the_function_ends_the_splitting_wherever_it_says_so)
{
	struct str text = STR("a\n\nbbbbbb\nc\nd");

	for (size_t stop = 1; stop <= 5; stop++)
		for (size_t piece = 1; piece <= text.n; piece++) {
			struct seen got CLEANUP(seen_release) = { .log = BUF_INIT(KIB), .stop_after = stop };
			struct split s CLEANUP(split_release);
			bool more = true;

			split_begin(&s, 3, 0, see, &got);
			for (size_t at = 0; more && at < text.n; at += piece)
				more = split_add(&s, str_sub(text, at, piece));
			CHECK(more == (stop == 5));
			CHECK(split_end(&s) == (stop != 5));
			EQ(got.lines, stop);
		}
}

/* A reader notes how far it got: in the call, `at` is where the line ends. */
struct place {
	const struct split *s;
	struct t *t;
};

static bool check_place(void *ctx, const struct split_line *line)
{
	struct place *p = ctx;
	struct t *t = p->t;

	EQ(p->s->at, line->offset + line->length);
	return true;
}

TEST(during_the_call_the_place_is_the_end_of_the_line)
{
	for (size_t piece = 1; piece < 12; piece++) {
		struct split s CLEANUP(split_release);
		struct place place = { &s, t };
		struct str text = STR("ab\n\nabcdef\nx");

		split_begin(&s, 4, 50, check_place, &place);
		for (size_t at = 0; at < text.n; at += piece)
			CHECK(split_add(&s, str_sub(text, at, piece)));
		CHECK(split_end(&s));
	}
}

TEST(a_line_of_many_pieces_needs_no_more_memory_than_the_limit)
{
	struct seen got CLEANUP(seen_release) = { .log = BUF_INIT(KIB) };
	struct split s CLEANUP(split_release);
	char piece[1000];

	memset(piece, 'x', sizeof piece);
	split_begin(&s, 5000, 0, see, &got);
	for (int i = 0; i < 10000; i++) {
		CHECK(split_add(&s, str_from(piece, sizeof piece)));
		CHECK(s.carry.cap <= 5001);
	}
	CHECK(split_add(&s, STR("\n")));
	CHECK(str_has_prefix(buf_as_str(&got.log), STR("0+10000000 sha256 ")));
}

TESTS(CASE(every_cut_of_a_text_gives_the_same_lines_at_every_limit),
      CASE(random_cuts_of_long_texts_give_the_same_lines),
      CASE(a_line_of_exactly_the_limit_is_kept_and_one_byte_more_is_not), CASE(empty_pieces_change_nothing),
      CASE(an_empty_line_has_a_text_that_is_empty_and_not_absent),
      CASE(what_has_no_line_feed_yet_can_be_looked_at_until_it_is_too_long),
      CASE(lines_within_one_piece_are_not_copied), CASE(the_function_ends_the_splitting_wherever_it_says_so),
      CASE(during_the_call_the_place_is_the_end_of_the_line),
      CASE(a_line_of_many_pieces_needs_no_more_memory_than_the_limit))
