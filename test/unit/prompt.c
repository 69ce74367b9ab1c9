/*
 * What is submitted, written and read again.
 */
#include "live/prompt.h"

#include "t.h"

#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

static bool read_again(const struct prompt *p, struct arena *mem, struct prompt *out)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

	prompt_write(&text, p);
	return prompt_read(buf_as_str(&text), mem, out);
}

TEST(a_prompt_is_read_as_it_was_written)
{
	struct prompt out, p = { .content = STR("[{\"type\":\"text\",\"text\":\"a\\nb\"}]"),
				 .max_turns = 5,
				 .allowed_tools = STR("[\"Bash(make *)\"]") };
	ARENA;

	p.uuid.b[3] = 7;
	CHECK(read_again(&p, &mem, &out));
	EQS(out.content, p.content);
	CHECK(uuid_eq(&out.uuid, &p.uuid));
	EQ(out.max_turns, 5);
	EQS(out.allowed_tools, p.allowed_tools);
}

TEST(what_holds_for_no_prompt_alone_is_left_out)
{
	struct prompt out = { .max_turns = 9 };
	ARENA;

	CHECK(read_again(&(struct prompt){ .content = STR("\"hi\"") }, &mem, &out));
	EQ(out.max_turns, 0);
	CHECK(!out.allowed_tools.p);
	CHECK(prompt_read(STR("{\"uuid\":\"11111111-1111-4111-8111-111111111111\",\"content\":\"hi\"}"), &mem, &out));
	EQS(out.content, STR("\"hi\""));
}

TEST(what_is_no_prompt_is_not_taken_for_one)
{
	static const char *const texts[] = { "", "{}", "[]", "{\"content\":\"x\"}",
					     "{\"uuid\":\"x\",\"content\":\"x\"}",
					     "{\"uuid\":\"11111111-1111-4111-8111-111111111111\"}" };
	struct prompt out;
	ARENA;

	for (size_t i = 0; i < COUNT(texts); i++)
		CHECK(!prompt_read(str_of(texts[i]), &mem, &out));
}

TESTS(CASE(a_prompt_is_read_as_it_was_written), CASE(what_holds_for_no_prompt_alone_is_left_out),
      CASE(what_is_no_prompt_is_not_taken_for_one))
