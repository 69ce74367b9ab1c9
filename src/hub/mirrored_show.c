/*
 * Mirrored nodes as results have them: what they are and what they say, read back from the archive.
 */
#include "hub/mirrored.h"

#include "claude/event.h"
#include "hub/handle_node.h"
#include "hub/memory_message.h"

/* ---- What they say ------------------------------------------------------------- */

static enum status read_line(struct mirrored *m, uint32_t source, uint32_t line, struct lines **lines,
			     struct record *rec, struct err *err)
{
	const struct forest_source *s = &m->grove.forest.sources[source];

	*lines = lines_set_of(&m->lines, &s->session);
	return lines_get(*lines, &s->chain.lines[line], rec, err);
}

static enum status read_node(struct mirrored *m, uint32_t node, struct lines **lines, struct record *rec,
			     struct err *err)
{
	const struct forest_copy *at = &m->grove.forest.nodes[node].canon;

	return read_line(m, at->source, at->line, lines, rec, err);
}

/* The texts of a message, one below the other. */
static enum status say_message(struct mirrored *m, uint32_t message, struct err *err)
{
	const struct forest *f = &m->grove.forest;

	for (uint32_t n = f->messages[message].first; n != FOREST_NONE; n = f->nodes[n].next) {
		struct block_cursor at = { 0 };
		struct record_block b;
		struct lines *lines;
		struct record rec;

		if (read_node(m, n, &lines, &rec, err))
			return err_failed(err->status);
		if (rec.type == RECORD_ATTACHMENT || rec.type == RECORD_SYSTEM)
			message_aside(&lines->reader, &rec, &m->call->mem, &m->text);
		while (record_block(&lines->reader, &rec, &at, &b))
			if (b.kind == BLOCK_TEXT) {
				if (m->text.n)
					buf_byte(&m->text, '\n');
				block_text(&lines->reader, &b, &m->text);
			}
	}
	return STATUS_OK;
}

static const char *kind_of_block(enum block_kind kind)
{
	return kind == BLOCK_THINKING	   ? "thinking"
	       : kind == BLOCK_TOOL_USE	   ? "tool_use"
	       : kind == BLOCK_TOOL_RESULT ? "tool_result"
					   : "content";
}

/* A block, read back. */
struct block_read {
	struct lines *lines;
	struct record rec;
	struct record_block b;
	bool is_block; /* not what a line says outside of blocks */
};

static enum status read_block(struct mirrored *m, struct grove_ref r, struct block_read *x, struct err *err)
{
	struct block_cursor at = { 0 };

	if (read_node(m, r.at, &x->lines, &x->rec, err))
		return err_failed(err->status);
	x->is_block = r.part != PART_LINE;
	while (x->is_block && record_block(&x->lines->reader, &x->rec, &at, &x->b))
		if ((int)x->b.index == r.part)
			return STATUS_OK;
	return x->is_block ? err_fail(err, STATUS_CORRUPT, "a block is not in its line") : STATUS_OK;
}

/* What it says, into the room for texts. */
static struct str say_block(struct mirrored *m, const struct block_read *x)
{
	buf_clear(&m->text);
	if (x->is_block)
		block_text(&x->lines->reader, &x->b, &m->text);
	else
		message_aside(&x->lines->reader, &x->rec, &m->call->mem, &m->text);
	return buf_as_str(&m->text);
}

static enum status put_block(struct mirrored *m, struct grove_ref r, enum tree_node_part part,
			     struct err *err)
{
	struct json_writer *w = &m->call->writer;
	struct block_read x;
	uint32_t input;

	if (read_block(m, r, &x, err))
		return err_failed(err->status);
	put_text(w, "kind", str_of(x.is_block ? kind_of_block(x.b.kind) : "content"));
	if (x.is_block && x.b.name.n)
		put_text(w, "name", x.b.name);
	if (x.is_block && x.b.tool.n)
		put_text(w, "tool_id", x.b.tool);
	if (x.is_block && x.b.is_error)
		put_bool(w, "error", true);
	if (part == NODE_SKELETON)
		return STATUS_OK;
	if (!x.is_block || x.b.kind != BLOCK_TOOL_USE) {
		put_text(w, "content", say_block(m, &x));
		return STATUS_OK;
	}
	input = json_get(&x.lines->reader.json, x.b.node, STR("input"));
	if (input != JSON_NONE) {
		json_write_key(w, STR("input"));
		json_copy_valid(w, &x.lines->reader.json, input);
	}
	return STATUS_OK;
}

static enum status put_event_parts(struct mirrored *m, const struct grove_event *e, enum tree_node_part part,
				   struct err *err)
{
	struct buf brief CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct json_writer *w = &m->call->writer;
	struct lines *lines;
	struct record rec;

	put_text(w, "kind", STR("event"));
	if (part == NODE_SKELETON)
		return STATUS_OK;
	if (read_line(m, e->source, e->line, &lines, &rec, err))
		return err_failed(err->status);
	put_text(w, "type", rec.type_name.n ? rec.type_name : str_of(record_type_name(rec.type)));
	event_brief(&lines->reader, &rec, &brief);
	if (brief.n)
		put_text(w, "brief", buf_as_str(&brief));
	buf_clear(&m->text);
	record_text(&lines->reader, &rec, &m->text);
	if (m->text.n)
		put_text(w, "content", buf_as_str(&m->text));
	return STATUS_OK;
}

static struct str role_of(const struct mirrored *m, uint32_t message)
{
	return m->grove.forest.messages[message].role == FOREST_ASSISTANT ? STR("assistant") : STR("user");
}

/* What it is, and what it says. */
static enum status put_kind(struct mirrored *m, struct grove_ref r, enum tree_node_part part, struct err *err)
{
	struct json_writer *w = &m->call->writer;

	switch (r.kind) {
	case GROVE_TREE:
		put_text(w, "kind", STR("root"));
		break;
	case GROVE_TURN:
		put_text(w, "kind", STR("turn"));
		put_int(w, "number", m->grove.turns.list[r.at].number);
		break;
	case GROVE_MESSAGE:
		put_text(w, "kind", STR("message"));
		put_text(w, "role", role_of(m, r.at));
		buf_clear(&m->text);
		if (part == NODE_WHOLE && say_message(m, r.at, err))
			return err_failed(err->status);
		if (m->text.n)
			put_text(w, "content", buf_as_str(&m->text));
		break;
	case GROVE_BLOCK:
		put_text(w, "role", role_of(m, grove_message(&m->grove, r)));
		return put_block(m, r, part, err);
	case GROVE_EVENT:
		return put_event_parts(m, &m->grove.events[r.at], part, err);
	}
	return STATUS_OK;
}

/* ---- Showing ------------------------------------------------------------------- */

static enum status put_ref(struct mirrored *m, const char *name, struct grove_ref r, struct err *err)
{
	struct uuid id;

	if (grove_id(&m->grove, r, &id, err))
		return err_failed(err->status);
	put_uuid(&m->call->writer, name, &id);
	return STATUS_OK;
}

/* What the client told the model has no message of its own for others: its line names it. */
static enum status put_message_handle(struct mirrored *m, struct grove_ref r, struct err *err)
{
	const struct forest *f = &m->grove.forest;
	uint32_t first = f->messages[r.at].first;
	struct node_handle handle;
	struct node_name name;
	struct lines *lines;
	struct record rec;
	struct uuid id;

	if (read_node(m, first, &lines, &rec, err) ||
	    forest_name(m->call->store, f, first, &m->call->mem, &name, err))
		return err_failed(err->status);
	id = node_id(&name, record_is_message(&rec) ? PART_MESSAGE : PART_LINE);
	handle = handle_of_message(&id, &rec);
	put_handle(&m->call->writer, &handle);
	return STATUS_OK;
}

static enum status put_block_handle(struct mirrored *m, struct grove_ref r, const struct uuid *id,
				    struct err *err)
{
	struct node_handle handle;
	struct block_read x;

	if (read_block(m, r, &x, err))
		return err_failed(err->status);
	handle = x.is_block ? handle_of_block(id, &x.b) : handle_of_event(id);
	put_handle(&m->call->writer, &handle);
	return STATUS_OK;
}

enum status mirrored_put_handle(struct mirrored *m, struct grove_ref r, struct err *err)
{
	struct node_handle handle;
	struct uuid id;

	if (grove_id(&m->grove, r, &id, err))
		return err_failed(err->status);
	switch (r.kind) {
	case GROVE_MESSAGE:
		return put_message_handle(m, r, err);
	case GROVE_BLOCK:
		return put_block_handle(m, r, &id, err);
	case GROVE_TREE:
		handle = handle_of_tree(&id);
		break;
	case GROVE_TURN:
		handle = handle_of_turn(&id, m->grove.turns.list[r.at].number);
		break;
	case GROVE_EVENT:
		handle = handle_of_event(&id);
		break;
	}
	put_handle(&m->call->writer, &handle);
	return STATUS_OK;
}

/* What is above it, and what it follows. */
static enum status put_above(struct mirrored *m, struct grove_ref r, struct err *err)
{
	uint32_t tree = grove_tree(&m->grove, r), prev = FOREST_NONE;
	struct grove_ref parent;

	if (tree != FOREST_NONE)
		put_uuid(&m->call->writer, "tree", &m->grove.trees[tree].id);
	if (grove_parent(&m->grove, r, &parent) && put_ref(m, "parent", parent, err))
		return err_failed(err->status);
	if (r.kind == GROVE_MESSAGE)
		prev = m->grove.forest.messages[r.at].prev;
	if (prev != FOREST_NONE)
		return put_ref(m, "prev", (struct grove_ref){ GROVE_MESSAGE, prev, 0 }, err);
	return STATUS_OK;
}

static enum status put_position(struct mirrored *m, struct grove_ref r, int64_t place, struct err *err)
{
	uint32_t found;

	if (place < 0) {
		if (grove_place(&m->grove, r, &found, err))
			return err_failed(err->status);
		place = found;
	}
	put_int(&m->call->writer, "position", r.kind == GROVE_TREE ? 0 : place + 1);
	return STATUS_OK;
}

enum status mirrored_emit(struct mirrored *m, struct grove_ref r, int64_t place, enum tree_node_part part,
			  struct err *err)
{
	struct json_writer *w;
	uint32_t source, line;
	struct life life;
	int64_t at;

	if (call_is_cancelled(m->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	if (mirrored_life(m, r, &life, err))
		return err_failed(err->status);
	w = call_begin(m->call);
	if (put_ref(m, "id", r, err) || put_above(m, r, err))
		return err_failed(err->status);
	put_int(w, "depth", grove_depth(&m->grove, r));
	if (put_position(m, r, place, err))
		return err_failed(err->status);
	put_life(w, &life);
	grove_line(&m->grove, r, &source, &line);
	at = m->grove.forest.sources[source].chain.lines[line].at;
	if (at)
		put_time(w, "created", at);
	put_uuid(w, "session", &m->grove.forest.sources[source].session.id);
	if (put_kind(m, r, part, err) || (part == NODE_WHOLE && mirrored_put_handle(m, r, err)))
		return err_failed(err->status);
	return call_emit(m->call, err);
}

/* What is known of a tree from the file that its first line is in. */
static void put_session_metadata(struct json_writer *w, const struct forest_source *s)
{
	char id[UUID_TEXT + 1];

	uuid_print(&s->session.id, id);
	json_write_key(w, STR("metadata"));
	json_write_object_begin(w);
	put_text(w, "session", str_of(id));
	if (s->agent.n)
		put_text(w, "agent", s->agent);
	if (s->session.project.n)
		put_path(w, "project", s->session.project);
	put_text(w, "title", s->session.title);
	json_write_object_end(w);
}

enum status mirrored_emit_tree(struct mirrored *m, uint32_t tree, struct err *err)
{
	const struct grove_tree *t = &m->grove.trees[tree];
	struct node_handle handle = handle_of_tree(&t->id);
	struct grove_ref root = { GROVE_TREE, tree, 0 };
	const struct forest_source *s;
	struct json_writer *w;
	uint32_t source, line;
	struct life life;

	if (mirrored_life(m, root, &life, err))
		return err_failed(err->status);
	grove_line(&m->grove, root, &source, &line);
	s = &m->grove.forest.sources[source];
	w = call_begin(m->call);
	put_uuid(w, "id", &t->id);
	put_uuid(w, "root", &t->id);
	put_life(w, &life);
	put_text(w, "owner", STR(CLAIM_MIRROR));
	if (s->chain.lines[line].at)
		put_time(w, "created", s->chain.lines[line].at);
	if (s->session.updated_at)
		put_time(w, "updated", s->session.updated_at);
	put_handle(w, &handle);
	put_int(w, "turns", t->turn_count);
	put_int(w, "messages", t->message_count);
	put_int(w, "events", t->event_count);
	put_session_metadata(w, s);
	return call_emit(m->call, err);
}

static enum status brief_event(struct mirrored *m, const struct grove_event *e, struct buf *out,
			       struct err *err)
{
	struct lines *lines;
	struct record rec;

	if (read_line(m, e->source, e->line, &lines, &rec, err))
		return err_failed(err->status);
	buf_printf(out, "(%.*s) ",
		   STR_ARG(rec.type_name.n ? rec.type_name : str_of(record_type_name(rec.type))));
	event_brief(&lines->reader, &rec, &m->text);
	return STATUS_OK;
}

static enum status brief_block(struct mirrored *m, struct grove_ref r, struct buf *out, struct err *err)
{
	struct block_read x;

	if (read_block(m, r, &x, err))
		return err_failed(err->status);
	buf_printf(out, "%s: ", x.is_block ? kind_of_block(x.b.kind) : "content");
	say_block(m, &x);
	return STATUS_OK;
}

enum status mirrored_brief(struct mirrored *m, struct grove_ref r, size_t most, struct buf *out,
			   struct err *err)
{
	enum status status = STATUS_OK;
	uint32_t source, line;

	buf_clear(&m->text);
	switch (r.kind) {
	case GROVE_TREE:
		grove_line(&m->grove, r, &source, &line);
		buf_str(&m->text, m->grove.forest.sources[source].session.title);
		break;
	case GROVE_TURN:
		buf_printf(out, "turn %" PRId64, m->grove.turns.list[r.at].number);
		break;
	case GROVE_MESSAGE:
		buf_str(out, role_of(m, r.at)); /* its blocks say the rest */
		break;
	case GROVE_EVENT:
		status = brief_event(m, &m->grove.events[r.at], out, err);
		break;
	case GROVE_BLOCK:
		status = brief_block(m, r, out, err);
		break;
	}
	record_short(buf_as_str(&m->text), most, out);
	return status;
}
