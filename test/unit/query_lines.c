/*
 * Lines by their place: whatever is asked for, in any order, is what the file says; and what
 * the store keeps of a line arrives in the chain.
 */
#include "query/lines.h"
#include "base/hash.h"
#include "files.h"
#include "t.h"

#include <string.h>

#define ONE "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"

static void chain_done(struct chain *c)
{
	chain_release(c);
}

#define CHAIN struct chain CLEANUP(chain_done)

static enum status load(struct files *f, struct str text, struct session *session, struct arena *mem,
			struct chain *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	int64_t row;

	*out = (struct chain)CHAIN_INIT;
	if (files_put(f, ONE, text, err) || files_sync(f, err) || files_find(f, ONE, &row, err) ||
	    read_begin(f->s, &snapshot, err) || session_get(f->s, row, mem, session, err))
		return err_failed(err->status);
	return chain_load(f->s, session, out, err);
}

/* Lines of all lengths: many in a block, some over several. */
static void put_lines(struct buf *out, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t length = i % 97 == 96 ? 700000 : i % 13 * 100;

		buf_printf(out,
			   "{\"type\":\"user\",\"uuid\":\"n%u\",\"parentUuid\":\"n%u\",\"message\":{"
			   "\"content\":\"",
			   i, i ? i - 1 : 0);
		for (uint32_t k = 0; k < length; k++)
			buf_byte(out, (char)('a' + (i + k * 7) % 26));
		buf_text(out, "\"}}\n");
	}
}

static uint32_t place(uint32_t i, uint32_t count, int way)
{
	return way == 0 ? i : way == 1 ? count - 1 - i : (uint32_t)(hash64(&i, sizeof i) % count);
}

TEST(lines_are_what_the_file_says_in_any_order)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	struct arena mem = ARENA_INIT;
	struct session session;
	struct err err;
	FILES f;
	CHAIN c;

	put_lines(&text, 300);
	OK(files_init(t, &f, &err));
	OK(load(&f, buf_as_str(&text), &session, &mem, &c, &err));
	EQ(c.line_count, 300);
	for (int way = 0; way < 3; way++) {
		struct read_txn snapshot CLEANUP(read_end) = { 0 };
		struct lines lines CLEANUP(lines_release) = { 0 };

		OK(read_begin(f.s, &snapshot, &err));
		lines_init(&lines, f.s, &session);
		for (uint32_t i = 0; i < c.line_count; i++) {
			const struct chain_line *l = &c.lines[place(i, c.line_count, way)];
			struct record rec;

			OK(lines_get(&lines, l, &rec, &err));
			EQS(rec.bytes, str_sub(buf_as_str(&text), (size_t)l->offset, (size_t)l->length));
		}
	}
	arena_release(&mem);
}

TEST(a_chain_has_what_the_store_keeps_of_lines)
{
	static const char text[] =
		"{\"type\":\"user\",\"uuid\":\"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4eaa\",\"parentUuid\":null,"
		"\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{\"content\":\"hi\"}}\n"
		"{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":\"0b7f3c1e-8f5a-4f0c-9d53-"
		"0a1b2c3d4eaa\","
		"\"message\":{\"id\":\"m1\",\"content\":[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"n\"}]"
		"}}\n"
		"{\"type\":\"assistant\",\"uuid\":\"c\",\"parentUuid\":\"elsewhere\",\"message\":{\"id\":"
		"\"m1\","
		"\"content\":[{\"type\":\"tool_use\",\"id\":\"y\",\"name\":\"n\"},"
		"{\"type\":\"tool_use\",\"id\":\"z\",\"name\":\"n\"}]}}\n"
		"{\"type\":\"progress\",\"uuid\":\"p\",\"parentUuid\":\"c\",\"data\":{\"type\":\"agent_"
		"progress\","
		"\"agentId\":\"g\",\"message\":{\"type\":\"user\",\"uuid\":\"told\",\"message\":{\"content\":"
		"\"go\"}}}}\n"
		"{\"type\":\"last-prompt\",\"leafUuid\":\"b\",\"explicit\":true}\n"
		"not JSON\n";
	struct arena mem = ARENA_INIT;
	struct session session;
	struct err err;
	FILES f;
	CHAIN c;

	OK(files_init(t, &f, &err));
	OK(load(&f, str_of(text), &session, &mem, &c, &err));
	/* Without what is told of the sub-agent. */
	EQ(c.line_count, 6);
	CHECK(c.lines[0].has_key && !c.lines[0].has_parent && c.lines[0].at == 1767225601000);
	CHECK(c.lines[0].flags & RECORD_PROMPT);
	EQ(c.lines[1].parent, 0);
	CHECK(c.lines[1].has_api && c.lines[1].api == hash64("m1", 2) &&
	      c.lines[1].answer == c.lines[2].answer);
	CHECK(c.lines[1].tool_count == 1 && c.lines[1].tools[0] == hash64("x", 1));
	CHECK(c.lines[2].tool_count == 2 && c.lines[2].tools[0] == hash64("y", 1) &&
	      c.lines[2].tools[1] == hash64("z", 1));
	CHECK(c.lines[2].has_parent && c.lines[2].parent == CHAIN_NONE);
	CHECK(c.lines[0].content && c.lines[0].content != c.lines[1].content);
	EQ(c.lines[3].type, RECORD_PROGRESS);
	CHECK(c.lines[4].has_link && (c.lines[4].flags & RECORD_EXPLICIT) && !c.lines[4].has_key);
	EQ(c.lines[5].type, RECORD_BROKEN);
	EQ(chain_leaf(&c), 1);
	arena_release(&mem);
}

TESTS(CASE(lines_are_what_the_file_says_in_any_order), CASE(a_chain_has_what_the_store_keeps_of_lines))
