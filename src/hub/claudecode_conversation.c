/*
 * claudecode.get_conversation and get_block: what was said, for programs. A conversation a page at a time,
 * and one part of a message.
 *
 * A conversation is what 'arbor log' follows, from its first message to the one that is named; but it goes
 * over compactions, so that a page has the same messages whatever was compacted since.
 */
#include "hub/claudecode_methods.h"

#include "hub/claudecode_resolve.h"
#include "hub/headed.h"
#include "hub/hub_resolve.h"
#include "hub/memory_log.h"

static const struct param conversation_params[] = {
	HEADED_PARAM("a session, named or not: to where it is now; or a node: to that"),
	{ .name = "from",
	  .type = VALUE_INT,
	  .initial = "0",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "from this message on, counted from 0: one more than the last 'index'" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "100",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "at most so many; 0 for all" },
	{ .name = "all", .type = VALUE_BOOL, .letter = 'a', .help = "also what the client noted on the way" },
	{ 0 },
};

static enum status run_conversation(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct log_part part = { call_int(c, "from"), call_int(c, "limit"), call_flag(c, "all") };
	struct resolved what;

	if (read_begin(c->store, &snapshot, err) || headed_find(c, call_text(c, "id"), &what, err))
		return err_failed(err->status);
	return log_page(c, &what, &part, err);
}

const struct method claudecode_get_conversation = {
	.name = "get_conversation",
	.summary = "Give a conversation message by message, a page at a time",
	.text = "The session comes first, with 'total', the number of messages on the way to what was named; "
		"then these, "
		"each with its 'index', its turn and its blocks. A page that ends before 'total' is followed "
		"by the one "
		"from the last 'index' plus one. 'arbor log' prints the same for people.\n",
	.params = conversation_params,
	.kind = RESULT_STREAM,
	.fields = log_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.get_conversation @ --limit 2 --json",
						"the first two messages of the last one" },
					      { 0 } },
	.run = run_conversation,
};

/* ---- A block ---------------------------------------------------------------------------- */

static const struct param block_params[] = {
	{ .name = "id",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "BLOCK",
	  .help = "of the block, or its handle; of a call of a tool, the call's id will do" },
	WINDOW_PARAMS,
	{ 0 },
};

static enum status run_block(struct call *c, struct err *err)
{
	struct resolution r CLEANUP(resolution_release) = RESOLUTION_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct json_writer *w;

	if (resolve_window(c, call_text(c, "id"), &r, err) || json_read(&j, r.data, 0, err))
		return err_failed(err->status);
	if (json_get(&j, 0, STR("message_handle")) == JSON_NONE)
		return err_fail(err, STATUS_USAGE, "that is a %.*s and no block; 'arbor resolve' shows it",
				STR_ARG(r.method));
	w = call_begin(c);
	put_members(w, &j, 0, STR(""));
	return call_emit(c, err);
}

const struct method claudecode_get_block = {
	.name = "get_block",
	.summary = "Give one part of a message: a text, what was thought, a call of a tool, its result",
	.text = "By the id that 'blocks' of a message have. Of a long text, or of bytes, a part at a time. "
		"'arbor resolve' "
		"does the same for anything that has a handle.\n",
	.params = block_params,
	.kind = RESULT_ONE,
	.fields = claudecode_block_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.get_block db0f0db2 --json",
						"one by its id" },
					      { 0 } },
	.run = run_block,
};
