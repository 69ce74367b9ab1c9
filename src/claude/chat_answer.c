/*
 * An answer while it is given.
 *
 *     message_start                       the answer begins
 *     content_block_start, delta, ...     a block: start, delta, ...
 *     assistant (a line, one block)       now its node is known, and what a tool's input is
 *     content_block_stop                  its end
 *     message_delta, message_stop         why it stopped, what it cost; the end of the answer
 *
 * A block is ended when it has stopped and its line is there, whichever comes first. Whatever else happens,
 * it is ended when the answer is: because its end came, because another answer begins (a broken stream is
 * asked for anew, under another id), or because the turn or the client ended. What had not stopped then is
 * `partial`, and so is what has no line, which is how some clients leave a block that broke off: what there
 * is of it was told in deltas, and stands nowhere else.
 *
 * Lines without pieces, of a sub-agent or of an answer that was not streamed, are blocks that begin and end
 * at once; such an answer ends when something else is said.
 *
 * Invariant: of each block one start, one end, and no delta outside.
 */
#include "claude/chat_inside.h"

static const enum chat_type starts[CHAT_BLOCK_KINDS] = { CHAT_CONTENT_START, CHAT_THINKING_START,
							 CHAT_TOOL_USE_START };
static const enum chat_type deltas[CHAT_BLOCK_KINDS] = { CHAT_CONTENT_DELTA, CHAT_THINKING_DELTA,
							 CHAT_TOOL_USE_DELTA };
static const enum chat_type ends[CHAT_BLOCK_KINDS] = { CHAT_CONTENT_END, CHAT_THINKING_END,
						       CHAT_TOOL_USE_END };

static uint32_t get(const struct chat_reader *r, uint32_t object, const char *key)
{
	return json_get(&r->j, object, str_of(key));
}

/* ---- Blocks ------------------------------------------------------------------ */

/* False: it is of a kind that is handed on as it is. */
static bool kind_of(const struct chat_reader *r, uint32_t block, enum chat_block_kind *out)
{
	char room[64];
	struct str type = json_front(&r->j, get(r, block, "type"), room, sizeof room);

	if (str_eq(type, STR("text")))
		*out = CHAT_TEXT;
	else if (str_eq(type, STR("thinking")))
		*out = CHAT_THINKING;
	else if (str_has_suffix(type, STR("tool_use")))
		*out = CHAT_TOOL;
	else
		return false;
	return true;
}

static struct chat_block *find_block(const struct chat_answer *a, int64_t index)
{
	struct chat_block *b = a->blocks;

	while (b && b->index != index)
		b = b->next;
	return b;
}

/* The oldest of a kind whose line has not come. */
static struct chat_block *find_waiting(const struct chat_answer *a, enum chat_block_kind kind)
{
	struct chat_block *b = a->blocks;

	while (b && (b->kind != kind || b->uuid.p))
		b = b->next;
	return b;
}

static struct chat_block *add_block(struct chat_answer *a, int64_t index, enum chat_block_kind kind)
{
	struct chat_block **at = &a->blocks, *b = arena_alloc(&a->mem, sizeof *b);

	while (*at)
		at = &(*at)->next;
	*b = (struct chat_block){ .index = index, .kind = kind, .gathered = BUF_INIT(LIMIT_LINE_PARSED) };
	*at = b;
	a->count++;
	if (index >= a->next)
		a->next = index + 1;
	return b;
}

static void drop_block(struct chat_answer *a, struct chat_block *b)
{
	struct chat_block **at = &a->blocks;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	buf_release(&b->gathered);
}

static enum status say_start(struct chat_reader *r, const struct chat_speaker *who,
			     const struct chat_block *b, uint32_t block, struct err *err)
{
	chat_begin(r, who);
	chat_put_int(r, "block", b->index);
	if (who->answer.id.n) {
		json_write_key(&r->w, STR("message"));
		json_write_string(&r->w, who->answer.id);
	}
	if (b->kind == CHAT_TOOL) {
		chat_copy(r, "tool_use_id", get(r, block, "id"));
		chat_copy(r, "tool_name", get(r, block, "name"));
	}
	return chat_say(r, starts[b->kind], (struct str){ 0 }, 0, err);
}

static enum status say_delta(struct chat_reader *r, const struct chat_speaker *who,
			     const struct chat_block *b, uint32_t text, struct err *err)
{
	chat_begin(r, who);
	chat_put_int(r, "block", b->index);
	chat_copy(r, b->kind == CHAT_TOOL ? "partial_json" : "text", text);
	return chat_say(r, deltas[b->kind], (struct str){ 0 }, 0, err);
}

/* What a tool was given: as the line has it; else what was gathered, as JSON or, if it is none, as text. */
static void put_input(struct chat_reader *r, const struct chat_block *b)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err ignored;

	if (b->input.p) {
		chat_put_raw(r, "input", b->input);
	} else if (!json_read(&j, buf_as_str(&b->gathered), LIMIT_JSON_DEPTH / 2, &ignored)) {
		json_write_key(&r->w, STR("input"));
		json_copy_valid(&r->w, &j, json_root(&j));
	} else if (b->gathered.n) {
		json_write_key(&r->w, STR("input_text"));
		json_write_string(&r->w, buf_as_str(&b->gathered));
	}
}

static void put_signature(struct chat_reader *r, const struct chat_block *b)
{
	if (b->signature.p) {
		chat_put_raw(r, "signature", b->signature);
	} else if (b->gathered.n) {
		json_write_key(&r->w, STR("signature"));
		json_write_string(&r->w, buf_as_str(&b->gathered));
	}
}

static void put_partial(struct chat_reader *r, bool partial)
{
	if (!partial)
		return;
	json_write_key(&r->w, STR("partial"));
	json_write_bool(&r->w, true);
}

static enum status end_block(struct chat_reader *r, struct chat_speaker *who, struct chat_block *b,
			     struct err *err)
{
	enum chat_type type = ends[b->kind];
	struct str uuid = b->uuid;
	int part = b->part;

	chat_begin(r, who);
	chat_put_int(r, "block", b->index);
	if (b->kind == CHAT_TOOL)
		put_input(r, b);
	if (b->kind == CHAT_THINKING)
		put_signature(r, b);
	put_partial(r, !b->stopped || !b->uuid.p);
	drop_block(&who->answer, b);
	return chat_say(r, type, uuid, part, err);
}

/* ---- The answer -------------------------------------------------------------- */

void chat_answer_release(struct chat_answer *a)
{
	while (a->blocks)
		drop_block(a, a->blocks);
	arena_release(&a->mem);
	*a = (struct chat_answer){ 0 };
}

static enum status say_answer(struct chat_reader *r, const struct chat_speaker *who, bool partial,
			      struct err *err)
{
	const struct chat_answer *a = &who->answer;

	chat_begin(r, who);
	if (a->id.n) {
		json_write_key(&r->w, STR("message"));
		json_write_string(&r->w, a->id);
	}
	chat_put_raw(r, "model", a->model);
	chat_put_raw(r, "stop_reason", a->stop_reason);
	chat_put_raw(r, "usage", a->usage);
	chat_put_raw(r, "error", a->error);
	chat_put_int(r, "blocks", a->count);
	put_partial(r, partial);
	/* Some clients tell only calls of a sub-agent's answer, which may have begun with a thought. */
	return chat_say(r, CHAT_ASSISTANT_MESSAGE, a->first, who->call.p ? CHAT_PART_LINE : CHAT_PART_MESSAGE,
			err);
}

/* An answer of which nothing was said but that it begins has left nothing to tell. */
enum status chat_answer_end(struct chat_reader *r, struct chat_speaker *who, struct err *err)
{
	struct chat_answer *a = &who->answer;
	bool partial = a->open && a->pieces && (!a->stopped || !a->first.p);
	enum status status = STATUS_OK;

	if (!a->open)
		return STATUS_OK;
	while (a->blocks && !status)
		status = end_block(r, who, a->blocks, err);
	if (!status && (a->count || a->first.p))
		status = say_answer(r, who, partial, err);
	chat_answer_release(a);
	return status;
}

static struct str text_in(const struct chat_reader *r, uint32_t node, struct arena *mem)
{
	struct str text = json_string_in(&r->j, node, mem);

	return text.p ? arena_str(mem, text) : text;
}

/* What is said of it as a whole; the last word counts. */
static void note(const struct chat_reader *r, struct str *what, uint32_t node, struct arena *mem)
{
	struct str raw = chat_raw_in(r, node, mem);

	if (raw.p)
		*what = raw;
}

/* The one with this id, which begins now unless it has begun. */
static enum status begin_answer(struct chat_reader *r, struct chat_speaker *who, uint32_t message,
				struct err *err)
{
	struct chat_answer *a = &who->answer;

	if (a->open && json_string_eq(&r->j, get(r, message, "id"), a->id))
		return STATUS_OK;
	if (chat_answer_end(r, who, err))
		return err_failed(err->status);
	a->open = true;
	a->id = text_in(r, get(r, message, "id"), &a->mem);
	note(r, &a->model, get(r, message, "model"), &a->mem);
	note(r, &a->usage, get(r, message, "usage"), &a->mem);
	return STATUS_OK;
}

/* ---- Pieces ------------------------------------------------------------------ */

static enum status pass_piece(struct chat_reader *r, const struct chat_speaker *who, uint32_t event,
			      struct err *err)
{
	return chat_pass(r, who, "stream_event", get(r, event, "type"), event, (struct str){ 0 }, 0, err);
}

static enum status piece_start(struct chat_reader *r, struct chat_speaker *who, uint32_t event, int64_t index,
			       struct err *err)
{
	uint32_t block = get(r, event, "content_block");
	enum chat_block_kind kind;

	if (!kind_of(r, block, &kind) || find_block(&who->answer, index) ||
	    who->answer.count >= LIMIT_LINE_BLOCKS)
		return pass_piece(r, who, event, err);
	who->answer.open = who->answer.pieces = true; /* also when its beginning was not heard */
	return say_start(r, who, add_block(&who->answer, index, kind), block, err);
}

/* The member of a delta that a block of this kind grows by; NULL = it does not fit. */
static const char *delta_text(const struct chat_reader *r, uint32_t delta, enum chat_block_kind kind)
{
	static const struct {
		const char *type, *member;
	} known[CHAT_BLOCK_KINDS] = {
		[CHAT_TEXT] = { "text_delta", "text" },
		[CHAT_THINKING] = { "thinking_delta", "thinking" },
		[CHAT_TOOL] = { "input_json_delta", "partial_json" },
	};

	return json_string_eq(&r->j, get(r, delta, "type"), str_of(known[kind].type)) &&
			       json_is(&r->j, get(r, delta, known[kind].member), JSON_STRING)
		       ? known[kind].member
		       : NULL;
}

static enum status piece_delta(struct chat_reader *r, struct chat_speaker *who, uint32_t event, int64_t index,
			       struct err *err)
{
	uint32_t delta = get(r, event, "delta"), signature = get(r, delta, "signature");
	struct chat_block *b = find_block(&who->answer, index);
	const char *text = b && !b->stopped ? delta_text(r, delta, b->kind) : NULL;

	if (text && b->kind == CHAT_TOOL)
		json_string(&r->j, get(r, delta, text), &b->gathered);
	if (text)
		return say_delta(r, who, b, get(r, delta, text), err);
	if (b && b->kind == CHAT_THINKING && json_string(&r->j, signature, &b->gathered))
		return STATUS_OK; /* told at the end */
	return pass_piece(r, who, event, err);
}

static enum status piece_stop(struct chat_reader *r, struct chat_speaker *who, uint32_t event, int64_t index,
			      struct err *err)
{
	struct chat_block *b = find_block(&who->answer, index);

	if (!b)
		return pass_piece(r, who, event, err);
	b->stopped = true;
	return b->uuid.p ? end_block(r, who, b, err) : STATUS_OK;
}

static enum status message_stop(struct chat_reader *r, struct chat_speaker *who, struct err *err)
{
	who->answer.stopped = true;
	/* Lines that have not come yet still can. */
	return who->answer.blocks ? STATUS_OK : chat_answer_end(r, who, err);
}

static void message_delta(const struct chat_reader *r, struct chat_speaker *who, uint32_t event)
{
	struct chat_answer *a = &who->answer;

	note(r, &a->stop_reason, get(r, get(r, event, "delta"), "stop_reason"), &a->mem);
	note(r, &a->usage, get(r, event, "usage"), &a->mem);
}

enum status chat_piece(struct chat_reader *r, struct chat_speaker *who, uint32_t event, struct err *err)
{
	uint32_t type = get(r, event, "type");
	int64_t index = -1;
	bool placed = json_to_i64(&r->j, get(r, event, "index"), &index) && index >= 0 &&
		      index < LIMIT_LINE_BLOCKS;

	if (json_string_eq(&r->j, type, STR("message_start"))) {
		if (chat_answer_end(r, who, err) || begin_answer(r, who, get(r, event, "message"), err))
			return err_failed(err->status);
		who->answer.pieces = true;
		return STATUS_OK;
	}
	if (!who->answer.open && !json_string_eq(&r->j, type, STR("content_block_start")))
		return pass_piece(r, who, event, err);
	if (json_string_eq(&r->j, type, STR("message_delta"))) {
		message_delta(r, who, event);
		return STATUS_OK;
	}
	if (json_string_eq(&r->j, type, STR("message_stop")))
		return message_stop(r, who, err);
	if (placed && json_string_eq(&r->j, type, STR("content_block_start")))
		return piece_start(r, who, event, index, err);
	if (placed && json_string_eq(&r->j, type, STR("content_block_delta")))
		return piece_delta(r, who, event, index, err);
	if (placed && json_string_eq(&r->j, type, STR("content_block_stop")))
		return piece_stop(r, who, event, index, err);
	return pass_piece(r, who, event, err);
}

/* ---- Lines ------------------------------------------------------------------- */

/* Begins and ends a block that had no pieces. */
static enum status whole_block(struct chat_reader *r, struct chat_speaker *who, uint32_t block,
			       enum chat_block_kind kind, struct str uuid, int part, struct err *err)
{
	static const char *const texts[CHAT_BLOCK_KINDS] = { "text", "thinking", NULL };
	struct chat_block *b = add_block(&who->answer, who->answer.next, kind);
	uint32_t text = texts[kind] ? get(r, block, texts[kind]) : JSON_NONE;

	b->uuid = uuid;
	b->part = part;
	b->stopped = true;
	b->input = chat_raw_in(r, get(r, block, "input"), &who->answer.mem);
	b->signature = chat_raw_in(r, get(r, block, "signature"), &who->answer.mem);
	if (say_start(r, who, b, block, err) ||
	    (json_is(&r->j, text, JSON_STRING) && json_raw(&r->j, text).n > 2 &&
	     say_delta(r, who, b, text, err)))
		return err_failed(err->status);
	return end_block(r, who, b, err);
}

/* The line of a block whose pieces we have heard. */
static enum status known_block(struct chat_reader *r, struct chat_speaker *who, uint32_t block,
			       struct chat_block *b, struct str uuid, int part, struct err *err)
{
	b->uuid = uuid;
	b->part = part;
	b->input = chat_raw_in(r, get(r, block, "input"), &who->answer.mem);
	b->signature = chat_raw_in(r, get(r, block, "signature"), &who->answer.mem);
	return b->stopped ? end_block(r, who, b, err) : STATUS_OK;
}

static enum status line_block(struct chat_reader *r, struct chat_speaker *who, uint32_t block,
			      struct str uuid, int part, struct err *err)
{
	char room[64];
	struct str type = json_front(&r->j, get(r, block, "type"), room, sizeof room);
	struct chat_block *b;
	enum chat_block_kind kind;

	if (str_has_suffix(type, STR("tool_result")))
		return chat_tool_result(r, who, block, uuid, part, err);
	if (!kind_of(r, block, &kind) || who->answer.count >= LIMIT_LINE_BLOCKS)
		return chat_pass(r, who, "content", get(r, block, "type"), block, uuid, part, err);
	b = uuid.p ? find_waiting(&who->answer, kind) : NULL;
	return b ? known_block(r, who, block, b, uuid, part, err)
		 : whole_block(r, who, block, kind, uuid, part, err);
}

enum status chat_answer_line(struct chat_reader *r, struct chat_speaker *who, struct err *err)
{
	uint32_t root = json_root(&r->j), message = get(r, root, "message"),
		 content = get(r, message, "content");
	struct chat_answer *a = &who->answer;
	struct str uuid;
	int part = 0;

	if (!json_is(&r->j, content, JSON_ARRAY))
		return chat_pass(r, who, "assistant", JSON_NONE, root, (struct str){ 0 }, 0, err);
	if (begin_answer(r, who, message, err))
		return err_failed(err->status);
	uuid = text_in(r, get(r, root, "uuid"), &a->mem);
	if (!a->first.p)
		a->first = uuid;
	note(r, &a->stop_reason, get(r, message, "stop_reason"), &a->mem);
	note(r, &a->error, get(r, root, "error"), &a->mem);
	for (uint32_t i = json_first(&r->j, content); i != json_end(&r->j, content); i = json_next(&r->j, i))
		if (line_block(r, who, i, uuid, part++, err))
			return err_failed(err->status);
	return a->stopped && !a->blocks ? chat_answer_end(r, who, err) : STATUS_OK;
}
