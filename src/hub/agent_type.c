/*
 * From a sub-agent to the call that asked for it: each of its progress lines names the call, and the call's input the
 * type. Two lines are read for it, however long the conversation is.
 */
#include "hub/agent_type.h"

#include "query/transcript.h"

/* What is looked for in a line, and what was found. */
struct asking {
	struct arena *mem;
	struct str call, type;
};

static enum status take_call(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct json *j = &line->reader->json;
	struct asking *y = ctx;

	(void)err;
	*go_on = false;
	y->call = json_string_in(j, json_get(j, json_root(j), STR("parentToolUseID")), y->mem);
	y->call = arena_str(y->mem, y->call);
	return STATUS_OK;
}

static enum status take_type(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct json *j = &line->reader->json;
	struct block_cursor at = { 0 };
	struct asking *y = ctx;
	struct record_block b;

	(void)err;
	*go_on = false;
	while (!y->type.n && record_block(line->reader, line->record, &at, &b))
		if (b.kind == BLOCK_TOOL_USE && str_eq(b.tool, y->call))
			y->type = arena_str(y->mem, json_string_in(j, json_get(j, json_get(j, b.node, STR("input")),
									       STR("subagent_type")), y->mem));
	return STATUS_OK;
}

enum status agent_type_told(struct store *s, int64_t conversation, struct str agent, struct arena *mem, struct str *out,
			    struct err *err)
{
	enum { MOST = 8 }; /* lines with one call: copies of it, and its result */
	struct transcript t CLEANUP(transcript_release);
	struct asking y = { .mem = mem };
	struct id_match found[MOST];
	struct session session;
	int64_t offset, length;
	size_t count;

	*out = (struct str){ 0 };
	transcript_init(&t);
	if (session_get(s, conversation, mem, &session, err) ||
	    entry_telling(s, conversation, agent, &offset, &length, err))
		return err_failed(err->status);
	if (!length)
		return STATUS_OK;
	if (transcript_each(&t, s, &session, offset, offset + length, take_call, &y, err) ||
	    call_search(s, y.call, conversation, found, MOST, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count && !y.type.n; i++) {
		const struct node *n = &found[i].node;

		if (transcript_each(&t, s, &session, n->offset, n->offset + n->length, take_type, &y, err))
			return err_failed(err->status);
	}
	*out = y.type;
	return STATUS_OK;
}
