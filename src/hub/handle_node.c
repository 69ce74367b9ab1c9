/*
 * Making handles. Which meta a kind has is in the table of its activation (act_claudecode.c,
 * act_storage.c); here is the other side of it.
 *
 * Names and ids in them come from files and may be of any length. One that is longer than
 * any real one is left out where that is allowed, and else the block is named by its number.
 */
#include "hub/handle_node.h"

#include "hub/activations.h"
#include "hub/meant.h"
#include "query/transcript.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 512 };

static struct node_handle begin(const struct activation *a, const char *method, const struct uuid *id)
{
	struct node_handle h = { .activation = a, .method = method };

	if (id)
		uuid_print(id, h.id);
	return h;
}

static struct node_handle of_claude(const char *method, const struct uuid *id)
{
	return begin(&activation_claudecode, method, id);
}

static struct str if_short(struct str text)
{
	return text.n <= LONGEST ? text : (struct str){ 0 };
}

static void set_number(struct node_handle *h, int64_t number)
{
	snprintf(h->second, sizeof h->second, "%" PRId64, number);
}

struct node_handle handle_of_message(const struct uuid *id, const struct record *first)
{
	struct node_handle h = of_claude("message", id);

	if (!record_is_message(first))
		return handle_of_event(id);
	h.meta[1] = first->type == RECORD_USER ? STR("user") : STR("assistant");
	h.meta[2] = if_short(first->message_id);
	return h;
}

struct node_handle handle_of_block(const struct uuid *id, const struct record_block *b)
{
	bool is_call = b->kind == BLOCK_TOOL_USE || b->kind == BLOCK_TOOL_RESULT;
	struct node_handle h = of_claude(b->kind == BLOCK_THINKING ? "thinking" : "content", id);

	if (!is_call || !if_short(b->tool).n) {
		set_number(&h, b->index);
		return h;
	}
	h.method = b->kind == BLOCK_TOOL_USE ? "tool_use" : "tool_result";
	h.meta[1] = b->tool;
	if (b->kind == BLOCK_TOOL_USE)
		h.meta[2] = if_short(b->name);
	else
		h.meta[2] = b->is_error ? STR("true") : STR("false");
	return h;
}

struct node_handle handle_of_event(const struct uuid *id)
{
	return of_claude("event", id);
}

struct node_handle handle_of_line(const struct uuid *id)
{
	return of_claude("line", id);
}

struct node_handle handle_of_turn(const struct uuid *id, int64_t number)
{
	struct node_handle h = of_claude("turn", id);

	if (number)
		set_number(&h, number);
	return h;
}

struct node_handle handle_of_tree(const struct uuid *id)
{
	return begin(&activation_arbor, "tree", id);
}

struct node_handle handle_of_made_node(const struct uuid *id)
{
	return begin(&activation_arbor, "node", id);
}

struct node_handle handle_of_note(const struct uuid *id)
{
	return begin(&activation_arbor, "note", id);
}

struct node_handle handle_of_agent(struct str agent, const struct uuid *session)
{
	struct node_handle h = of_claude("agent", NULL);

	h.meta[0] = agent;
	uuid_print(session, h.second);
	return h;
}

struct node_handle handle_of_stream(const struct uuid *id)
{
	return of_claude("stream", id);
}

struct node_handle handle_of_chat_event(const struct uuid *id, struct str type)
{
	struct node_handle h = of_claude("chat_event", id);

	h.meta[1] = type;
	return h;
}

struct node_handle handle_of_approval(const struct uuid *id, struct str tool)
{
	struct node_handle h = begin(&activation_loopback, "approval", id);

	h.meta[1] = if_short(tool);
	return h;
}

struct node_handle handle_of_file(const struct uuid *source, int64_t version)
{
	struct node_handle h = begin(&activation_storage, "file", source);

	if (version)
		set_number(&h, version);
	return h;
}

struct node_handle handle_of_typed(const struct uuid *id)
{
	return begin(&activation_storage, "typed", id);
}

struct node_handle handle_of_session_id(const struct uuid *id)
{
	return of_claude("session", id);
}

enum status handle_of_session(struct store *s, const struct session *session, struct node_handle *out,
			      struct err *err)
{
	struct node_handle h = handle_of_session_id(&session->id);
	bool twins;

	if (session_has_twins(s, session, &twins, err))
		return err_failed(err->status);
	if (twins)
		uuid_print(&session->source_id, h.second);
	*out = h;
	return STATUS_OK;
}

/* ---- Giving ---------------------------------------------------------------------- */

/* Its parts; meta points into `h`. */
static struct handle spread(const struct node_handle *h, struct str meta[NODE_HANDLE_META])
{
	struct handle out = { .plugin = str_of(h->activation->name),
			      .version = str_of(h->activation->version),
			      .method = str_of(h->method),
			      .meta = meta,
			      .meta_count = NODE_HANDLE_META };

	memcpy(meta, h->meta, sizeof h->meta);
	if (h->id[0])
		meta[0] = str_of(h->id);
	if (h->second[0])
		meta[1] = str_of(h->second);
	while (out.meta_count && !meta[out.meta_count - 1].n)
		out.meta_count--;
	return out;
}

void put_handle_as(struct json_writer *w, const char *key, const struct node_handle *h)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_HANDLE_TEXT);
	struct str meta[NODE_HANDLE_META];
	struct handle parts = spread(h, meta);

	handle_print(&parts, &text);
	put_text(w, key, buf_as_str(&text));
}

void put_handle(struct json_writer *w, const struct node_handle *h)
{
	put_handle_as(w, "handle", h);
}

struct handle node_handle_in(const struct node_handle *h, struct arena *mem)
{
	struct str *kept = arena_alloc(mem, NODE_HANDLE_META * sizeof *kept);
	struct handle out = spread(h, kept);

	for (size_t i = 0; i < out.meta_count; i++)
		kept[i] = arena_str(mem, kept[i]);
	return out;
}

/* ---- By an id -------------------------------------------------------------------- */

struct naming {
	const struct resolved *what;
	const struct node_name *name; /* of its line */
	struct str tool;	      /* the call by whose id it was found, if it was */
	struct arena *mem;
	struct handle *out;
	bool done;
};

/* False when the line has no such block. */
static bool name_block(const struct naming *y, const struct transcript_line *line, struct node_handle *out)
{
	struct block_cursor at = { 0 };
	struct record_block b;
	struct uuid id;

	while (record_block(line->reader, line->record, &at, &b)) {
		if (y->tool.n ? !str_eq(b.tool, y->tool) : (int)b.index != y->what->node.part)
			continue;
		id = node_id(y->name, (int)b.index);
		*out = handle_of_block(&id, &b);
		return true;
	}
	return false;
}

static struct node_handle name_whole(const struct naming *y, const struct record *rec)
{
	const struct node *node = &y->what->node;
	struct uuid line = node_id(y->name, PART_LINE);

	if (!record_is_message(rec))
		return handle_of_event(node->part == PART_LINE ? &node->id : &line);
	return node->part == PART_LINE ? handle_of_line(&node->id) : handle_of_message(&node->id, rec);
}

static enum status name_line(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct naming *y = ctx;
	struct node_handle h;

	(void)err;
	if (line->offset != y->what->node.offset)
		return STATUS_OK;
	*go_on = false;
	if (!name_block(y, line, &h))
		h = name_whole(y, line->record);
	*y->out = node_handle_in(&h, y->mem);
	y->done = true;
	return STATUS_OK;
}

/* What it says of itself stands in its line. */
static enum status name_node(struct store *s, const struct resolved *what, struct str tool, struct arena *mem,
			     struct handle *out, struct err *err)
{
	struct transcript t CLEANUP(transcript_release);
	struct node_name name;
	struct naming y = { .what = what, .name = &name, .tool = tool, .mem = mem, .out = out };
	struct node_handle h = handle_of_turn(&what->node.id, 0);
	struct node line;

	transcript_init(&t);
	*out = node_handle_in(&h, mem);
	if (what->node.part == PART_TURN)
		return STATUS_OK;
	if (entry_get(s, what->node.session, what->node.offset, mem, &line, &name, err) ||
	    transcript_each(&t, s, &what->session, what->node.offset, what->node.offset + what->node.length,
			    name_line, &y, err))
		return err_failed(err->status);
	if (!y.done) { /* a line that is too long to be read */
		h = handle_of_line(&what->node.id);
		*out = node_handle_in(&h, mem);
	}
	return STATUS_OK;
}

static enum status name_resolved(struct store *s, const struct resolved *what, struct str text, struct arena *mem,
				 struct handle *out, struct err *err)
{
	/* Ids of calls have a '_', which others have not. */
	struct str last = str_sub(text, str_rfind(text, '@') + 1, SIZE_MAX);
	struct str tool = str_has_byte(last, '_') ? last : (struct str){ 0 };
	struct str agent = what->agent.n ? what->agent : what->session.agent;
	struct node_handle h;

	if (!what->is_session && !what->agent.n)
		return name_node(s, what, tool, mem, out, err);
	if (agent.n)
		h = handle_of_agent(agent, &what->session.id);
	else if (handle_of_session(s, &what->session, &h, err))
		return err_failed(err->status);
	*out = node_handle_in(&h, mem);
	return STATUS_OK;
}

enum status handle_of_mirrored(struct store *s, struct str text, struct arena *mem, struct handle *out, struct err *err)
{
	struct resolved what;

	if (resolve_id(s, text, mem, &what, err))
		return err_failed(err->status);
	return name_resolved(s, &what, text, mem, out, err);
}

/* Of what is no conversation. */
static struct node_handle handle_of_other(const struct meant *m)
{
	if (m->kind == MEANT_TREE)
		return handle_of_tree(&m->id);
	if (m->kind == MEANT_NODE)
		return handle_of_made_node(&m->id);
	if (m->kind == MEANT_TYPED)
		return handle_of_typed(&m->id);
	return m->kind == MEANT_NOTE ? handle_of_note(&m->id) : handle_of_file(&m->id, 0);
}

enum status handle_of_id(struct call *c, struct str text, struct arena *mem, struct handle *out,
			 struct err *err)
{
	struct node_handle h;
	struct meant what;

	if (call_need_store(c, err) || meant_find(c->store, text, MEANT_ALL, mem, &what, err))
		return err_failed(err->status);
	if (what.kind == MEANT_MIRRORED)
		return name_resolved(c->store, &what.mirrored, text, mem, out, err);
	h = handle_of_other(&what);
	*out = node_handle_in(&h, mem);
	return STATUS_OK;
}

enum status handle_from_text(struct call *c, struct str text, struct arena *mem, struct handle *out,
			     struct err *err)
{
	return handle_is_like(text) ? handle_parse(text, mem, out, err)
				    : handle_of_id(c, text, mem, out, err);
}
