/*
 * Of the blocks of a message the one that says most stands for it: a text, else a call or a result, else what
 * was thought.
 */
#include "hub/beginning.h"

#include "hub/handle_node.h"
#include "hub/memory_message.h"

struct beginning {
	struct buf text; /* of a block, whole */
	struct buf title;
	int worth; /* of what it was made of */
};

static void beginning_release(struct beginning *b)
{
	buf_release(&b->text);
	buf_release(&b->title);
}

/* A text says more than what a tool was given or gave, and that more than thinking. */
static int worth_of(enum block_kind kind)
{
	return kind == BLOCK_TEXT ? 3 : kind == BLOCK_TOOL_USE || kind == BLOCK_TOOL_RESULT ? 2 : 1;
}

static void try_block(struct beginning *b, const struct record_reader *r, const struct record_block *block)
{
	struct str text;

	if (worth_of(block->kind) <= b->worth)
		return;
	buf_clear(&b->text);
	block_text(r, block, &b->text);
	text = buf_as_str(&b->text);
	if (!str_trim(text).n)
		return;
	buf_clear(&b->title);
	record_prompt_title(text, &b->title);
	b->worth = worth_of(block->kind);
}

enum status beginning_of(struct lines_set *set, const struct forest *f, uint32_t message, struct buf *out,
			 struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct beginning b CLEANUP(beginning_release) = { .text = BUF_INIT(2 * LIMIT_LINE_PARSED),
							  .title = BUF_INIT(KIB) };

	for (uint32_t n = f->messages[message].first; n != FOREST_NONE && b.worth < worth_of(BLOCK_TEXT);
	     n = f->nodes[n].next) {
		struct lines *lines = lines_set_of(set, &f->sources[f->nodes[n].canon.source].session);
		struct block_cursor at = { 0 };
		struct record_block block;
		struct record rec;

		if (lines_get(lines, forest_line(f, n), &rec, err))
			return err_failed(err->status);
		while (record_block(&lines->reader, &rec, &at, &block))
			try_block(&b, &lines->reader, &block);
		if (rec.type == RECORD_ATTACHMENT || rec.type == RECORD_SYSTEM) {
			buf_clear(&b.text);
			message_aside(&lines->reader, &rec, &mem, &b.text);
			record_prompt_title(buf_as_str(&b.text), &b.title);
			break;
		}
	}
	buf_str(out, buf_as_str(&b.title));
	return STATUS_OK;
}

enum status put_message_name(struct call *c, struct lines_set *set, const struct grove *g, uint32_t message,
			     struct err *err)
{
	const struct forest *f = &g->forest;
	uint32_t node = f->messages[message].first;
	struct lines *lines = lines_set_of(set, &f->sources[f->nodes[node].canon.source].session);
	struct node_handle handle;
	struct record rec;
	struct uuid id;

	if (grove_id(g, (struct grove_ref){ .kind = GROVE_MESSAGE, .at = message }, &id, err) ||
	    lines_get(lines, forest_line(f, node), &rec, err))
		return err_failed(err->status);
	handle = handle_of_message(&id, &rec);
	put_uuid(&c->writer, "id", &id);
	put_handle(&c->writer, &handle);
	return STATUS_OK;
}
