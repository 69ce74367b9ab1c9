/*
 * Decoding what a terminal sends, whole, byte by byte, and broken.
 */
#include "face/keys.c"
#include "t.h"

static void add(struct keys *k, const char *bytes, size_t n)
{
	size_t room;
	char *into = keys_reserve(k, &room);

	n = size_min(n, room);
	memcpy(into, bytes, n);
	keys_grew(k, n);
}

/* A letter for each key; characters as they are. */
static const char *decoded(const char *bytes, size_t n, bool one_by_one, char out[128])
{
	static const char letters[] = ".tTQud<>[]lr^$bxKWpPNRZ";
	struct keys k = { 0 };
	struct key key;
	size_t count = 0;

	for (size_t i = 0; i < n; i += one_by_one ? 1 : n) {
		add(&k, bytes + i, one_by_one ? 1 : n);
		while (keys_next(&k, false, &key))
			for (size_t c = 0; count < 120 && c < (key.kind == KEY_TEXT ? key.n : 1); c++)
				out[count++] = key.kind == KEY_TEXT ? key.text[c] : letters[key.kind];
	}
	while (keys_next(&k, true, &key))
		if (count < 120)
			out[count++] = letters[key.kind];
	out[count] = '\0';
	return keys_wait(&k) ? "something is left" : out;
}

TEST(keys_are_the_same_whole_and_byte_by_byte)
{
	static const struct {
		const char *bytes, *keys;
	} cases[] = {
		{ "", "" },
		{ "ab", "ab" },
		{ "\r", "T" },
		{ "\n\x0e", "dd" },
		{ "\x0b\x10", "uu" },
		{ "\033[A\033[B\033OA\033OB", "udud" },
		{ "\033[C\033[D", "rl" },
		{ "\033[5~\033[6~", "<>" },
		{ "\033[H\033[F\033[1~\033[4~\033OH\033OF", "[][][]" },
		{ "\x01\x05", "^$" },
		{ "\x7f\x08\033[3~\x04", "bbxx" },
		{ "\x15\x17\033\x7f", "KWW" },
		{ "\t", "p" },
		{ "\033[1;2A\033[1;2B", "PN" },
		{ "\x0c\x1a", "RZ" },
		{ "\x03\x07", "QQ" },
		{ "\033", "Q" },
		{ "\033\033", "QQ" },
		{ "\033x", "." },	   /* Alt */
		{ "a\033[99;3zb", "a.b" }, /* unknown: nothing of it is typed */
		{ "\033[", "." },	   /* cut */
		{ "\033[1;", "." },
		{ "\033O", "." },
		{ "\033[1\033[A", ".u" }, /* another begins inside */
		{ "\033[1\rx", ".Tx" },
		{ "\033[\x80"
		  "a",
		  "..a" },
		{ "\xc3\xa9\xe6\xb1\x89\xf0\x9f\x98\x80", "\xc3\xa9\xe6\xb1\x89\xf0\x9f\x98\x80" },
		{ "\xe6\xb1", "." }, /* cut */
		{ "\xff\x80"
		  "a",
		  "..a" },
		{ "\xc2\x9b"
		  "1m",
		  ".1m" }, /* C1 */
		{ "\033[200~a\rb\nc\td\033[201~\r", ".a b c d.T" },
		{ "\033[200~\003\032\033[Ax\033[201~", "....[Ax." },
		{ "\033[200~\033[20\033[201~x", "..[20.x" },
		{ "\033[200~\xc3\xa9\xff\033[201~", ".\xc3\xa9.." },
	};
	char out[128];

	for (size_t i = 0; i < COUNT(cases); i++)
		for (int way = 0; way < 2; way++)
			EQS(str_of(decoded(cases[i].bytes, strlen(cases[i].bytes), way, out)),
			    str_of(cases[i].keys));
}

TEST(esc_waits_for_what_may_follow_it)
{
	struct keys k = { 0 };
	struct key key;

	add(&k, "\033", 1);
	CHECK(!keys_next(&k, false, &key));
	CHECK(keys_wait(&k));
	add(&k, "[A", 2);
	CHECK(keys_next(&k, false, &key));
	EQ(key.kind, KEY_UP);
	CHECK(!keys_wait(&k));
}

TEST(an_endless_sequence_does_not_fill_the_memory)
{
	struct keys k = { 0 };
	struct key key;

	add(&k, "\033[", 2);
	for (int i = 0; i < 100000; i++) {
		add(&k, "1", 1);
		while (keys_next(&k, false, &key))
			;
		CHECK(k.n <= SEQUENCE + 2);
	}
}

/* All strings of up to five of these. */
TEST(every_byte_is_taken_whatever_comes)
{
	static const char bytes[] = "\033[O1~A\xc3\x80\r";
	enum { BYTES = sizeof bytes - 1, ALL = BYTES * BYTES * BYTES * BYTES * BYTES };
	char text[5], whole[128], single[128];

	for (int n = 0; n < ALL; n++) {
		for (int i = 0, rest = n; i < 5; i++, rest /= BYTES)
			text[i] = bytes[rest % BYTES];
		if (strcmp(decoded(text, 5, false, whole), decoded(text, 5, true, single)) != 0)
			t_fail(t, __FILE__, __LINE__, "number %d: '%s' and '%s'", n, whole, single);
	}
}

TESTS(CASE(keys_are_the_same_whole_and_byte_by_byte), CASE(esc_waits_for_what_may_follow_it),
      CASE(an_endless_sequence_does_not_fill_the_memory), CASE(every_byte_is_taken_whatever_comes))
