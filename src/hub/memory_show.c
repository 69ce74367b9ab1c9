/*
 * memory.show: a conversation, or a part of one, read back from the archive.
 *
 * Lines are shown in the order of the file. Neighbouring lines of one API message
 * become one item; where the client wrote something between them, the message goes
 * on in a second item with the same id.
 */
#include "hub/memory_find.h"

#include "base/map.h"
#include "hub/attached.h"
#include "hub/call.h"
#include "hub/grown.h"
#include "hub/handle_node.h"
#include "hub/meant.h"
#include "hub/memory_made.h"
#include "hub/memory_message.h"
#include "hub/memory_paper.h"
#include "hub/memory_place.h"
#include "hub/memory_project.h"
#include "hub/memory_session.h"
#include "hub/memory_show.h"
#include "query/forest_load.h"
#include "query/grove.h"
#include "query/transcript.h"
#include "query/variant.h"
#include "store/variant.h"

static const char *const kinds[] = { "session", "message", "event",    "file", "tree",
				     "node",	"note",	   "bookmark", NULL };

static const struct param show_params[] = {
	{ .name = "id",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD | PARAM_REST,
	  .initial = PARAM_LAST_SESSION,
	  .shown = "ID",
	  .names = "memory.sessions",
	  .help = "a session, or a turn, message, block or line of one; @ for the last session, @. for the last of the "
		  "folder you are in; a tree or node of "
		  "your own, a plan, or another file that a search has found, a note" },
	{ .name = "full",
	  .type = VALUE_BOOL,
	  .letter = 'f',
	  .setting = "show.full",
	  .help = "show what tools printed to its end" },
	{ .name = "all",
	  .type = VALUE_BOOL,
	  .letter = 'a',
	  .help = "also what the client noted: progress, snapshots, settings" },
	{ 0 },
};

/* Of an item of any kind; session_fields' names mean the same here. */
static const struct field show_fields[] = {
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = kinds,
	  .help = "what the item is; 'session' comes before its parts. 'file' is a text of one beside the "
		  "conversations, with type, title, path, session, project and text; 'tree' comes before its nodes, "
		  "a note before what it is on" },
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY,
	  .help = "of the session, message, line, file, tree, node or note" },
	HANDLE_FIELD(""),
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "all but session: when" },
	SAID_FIELDS,
	{ .name = "part",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "session: only the part that was asked for follows" },
	EVENT_FIELDS,
	QUEUED_FIELD(0),
	SESSION_AGENT_FIELD,
	SESSION_PART_FIELDS,
	MADE_FIELDS,
	NOTE_ITEM_FIELDS,
	{ .name = "session",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "file: the conversation it belongs to" },
	ATTACHED_FIELDS(""),
	{ .name = "alive", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, .help = "session: open just now" },
	{ .name = "pid", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "session: of its client" },
	{ 0 },
};

struct showing {
	struct call *call;
	const struct session *session;
	struct session heading; /* that session, where it is a sub-agent in the file of its conversation */
	struct show_manner how;
	size_t parts;	    /* within its window, so far */
	size_t blocks;	    /* that were given */
	struct str asked;   /* id of the call that was the last of them; empty = it was none */
	bool variants;	    /* there are lines with one uuid and different contents */
	int64_t line;	    /* offset of the only line wanted; -1 = all */
	bool several;	    /* lines are wanted one after the other: none alone */
	struct str first;   /* uuid of the first line of the only message shown; p NULL = by order */
	bool told;	    /* what is in hand stands in a progress line: nobody typed it */
	bool open;	    /* a message is being written */
	struct str open_id; /* its API id; empty = it has none */
	struct map firsts;  /* API id -> uuid of its first line, as struct str */
	struct arena mem;
	struct buf text;
	struct transcript transcript;
	struct attached attached;     /* notes and the like */
	struct attached_set attached_here; /* to the message that is being written */
};

static void showing_release(struct showing *y)
{
	map_release(&y->firsts);
	arena_release(&y->mem);
	buf_release(&y->text);
	transcript_release(&y->transcript);
}

static enum status close_message(struct showing *y, struct err *err)
{
	if (!y->open)
		return STATUS_OK;
	y->open = false;
	json_write_array_end(&y->call->writer);
	put_attached(&y->call->writer, &y->attached_here);
	return call_emit(y->call, err);
}

/* ---- Parts -------------------------------------------------------------------- */

static void put_blocks(struct showing *y, const struct transcript_line *line, const struct node_name *name,
		       const struct uuid *variant)
{
	struct block_manner how = { .name = name, .variant = variant, .text = &y->text, .window = y->how.window };
	struct block_cursor at = { 0 };
	struct record_block b;

	while (record_block(line->reader, line->record, &at, &b)) {
		if ((y->how.block >= 0 && (int)b.index != y->how.block) ||
		    (y->how.tool.n && !str_eq(b.tool, y->how.tool)))
			continue;
		if (how.window && y->parts++ >= LIMIT_RESOLVED_PARTS) {
			how.window->cut = true;
			break;
		}
		y->blocks++;
		y->asked = b.kind == BLOCK_TOOL_USE ? arena_str(&y->mem, b.tool) : (struct str){ 0 };
		put_message_block(&y->call->writer, line->reader, &b, &how);
	}
}

/* The id of a message is made of the uuid of its first line. */
static struct uuid message_id(struct showing *y, const struct record *r, const struct node_name *name)
{
	struct node_name first_name = { 0 };
	const struct str *first;
	struct str *mine;

	if (y->first.p) {
		first_name.uuid = y->first;
		return node_id(&first_name, PART_MESSAGE);
	}
	if (!r->message_id.n || !name->uuid.p)
		return node_id(name, PART_MESSAGE);
	first = map_get(&y->firsts, r->message_id);
	if (!first) {
		mine = arena_alloc(&y->mem, sizeof *mine);
		*mine = arena_str(&y->mem, name->uuid);
		map_put(&y->firsts, arena_str(&y->mem, r->message_id), mine);
		first = mine;
	}
	first_name.uuid = *first;
	return node_id(&first_name, PART_MESSAGE);
}

static enum status show_message(struct showing *y, const struct transcript_line *line,
				const struct node_name *name, struct err *err)
{
	const struct record *r = line->record;
	struct uuid id = message_id(y, r, name), variant;
	struct json_writer *w;
	bool is_variant = false;

	if (y->variants && variant_id_of(y->call->store, line->reader, r, name, &is_variant, &variant, err))
		return err_failed(err->status);
	if (y->open && (!is_variant || y->how.bare) && r->message_id.n && str_eq(y->open_id, r->message_id)) {
		put_blocks(y, line, name, is_variant ? &variant : NULL);
		return STATUS_OK;
	}
	if (close_message(y, err))
		return err_failed(err->status);
	w = call_begin(y->call);
	put_text(w, "kind", STR("message"));
	put_uuid(w, "id", &id);
	put_message(w, is_variant ? &variant : &id, r);
	put_bool(w, "prompt", record_is_typed(r->flags) && !y->told);
	if (is_variant)
		put_uuid(w, "variant", &variant);
	json_write_key(w, STR("blocks"));
	json_write_array_begin(w);
	y->open = true;
	y->open_id = arena_str(&y->mem, r->message_id);
	put_blocks(y, line, name, is_variant ? &variant : NULL);
	return STATUS_OK;
}

static enum status show_event(struct showing *y, const struct transcript_line *line,
			      const struct node_name *name, struct err *err)
{
	const struct record *r = line->record;
	unsigned flags = r->flags;
	struct str text;
	bool alone;

	buf_clear(&y->text);
	record_text(line->reader, r, &y->text);
	if ((r->flags & RECORD_ENQUEUED) &&
	    entry_flags(y->call->store, y->session->row, line->offset, &flags, err))
		return err_failed(err->status);
	/* What the client noted for itself is shown when everything is asked for, or it
	 * alone. */
	alone = y->line >= 0 && !y->several;
	if (!y->how.all && !alone && !(r->type == RECORD_SYSTEM && y->text.n) && !message_is_queued(flags))
		return STATUS_OK;
	if (close_message(y, err))
		return err_failed(err->status);
	text = buf_as_str(&y->text);
	if (!text.n && (r->type == RECORD_BROKEN || alone))
		text = str_sub(r->bytes, 0, alone ? MIB : KIB);
	put_event(call_begin(y->call), line->reader, r, name, text, y->how.window);
	put_queued(&y->call->writer, flags);
	attached_take(&y->attached, &y->attached_here, y->session->row, line->offset, -1);
	put_attached(&y->call->writer, &y->attached_here);
	return call_emit(y->call, err);
}

/* ---- Lines -------------------------------------------------------------------- */

/* As the store has it, which has made the ids that can be found. */
static enum status name_line(struct showing *y, const struct transcript_line *line, struct node_name *out,
			     struct err *err)
{
	struct node node;

	return entry_get(y->call->store, y->session->row, line->offset, &y->mem, &node, out, err);
}

static enum status show_line(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct showing *y = ctx;
	bool is_message = line->record->type == RECORD_USER || line->record->type == RECORD_ASSISTANT;
	struct node_name name;

	(void)go_on;
	if (call_is_cancelled(y->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	if (y->line >= 0 && line->offset != y->line)
		return STATUS_OK;
	if (name_line(y, line, &name, err))
		return err_failed(err->status);
	if (!is_message)
		return show_event(y, line, &name, err);
	if (show_message(y, line, &name, err))
		return err_failed(err->status);
	attached_take(&y->attached, &y->attached_here, y->session->row, line->offset, y->how.block);
	return STATUS_OK;
}

static enum status show_heading(struct showing *y, bool part, struct err *err)
{
	struct alive alive CLEANUP(alive_release) = { 0 };
	struct json_writer *w;

	if (y->how.bare)
		return STATUS_OK;
	if (alive_load(y->call->store, &alive, err))
		return err_failed(err->status);
	w = call_begin(y->call);
	put_text(w, "kind", STR("session"));
	if (put_session(y->call, w, y->session, err) || put_attached_session(y->call, y->session, err))
		return err_failed(err->status);
	put_alive(w, alive_find(&alive, &y->session->id));
	if (part)
		put_bool(w, "part", true);
	return call_emit(y->call, err);
}

static enum status show_session(struct showing *y, struct err *err)
{
	if (show_heading(y, false, err) || transcript_each(&y->transcript, y->call->store, y->session, 0,
							   y->session->read_to, show_line, y, err))
		return err_failed(err->status);
	return close_message(y, err);
}

/* The lines of a message may stand apart: each is fetched by itself. */
static enum status show_one(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	struct showing *y = ctx;

	y->line = offset;
	return transcript_each(&y->transcript, y->call->store, y->session, offset, offset + length, show_line,
			       y, err);
}

/* A part may be in a later line of its message than the first. */
static enum status find_first(struct showing *y, const struct node *node, struct err *err)
{
	struct node_name name;
	struct node first;

	if (node->first < 0)
		return STATUS_OK;
	if (entry_get(y->call->store, node->session, node->first, &y->mem, &first, &name, err))
		return err_failed(err->status);
	y->first = name.uuid;
	return STATUS_OK;
}

/* What a call that is shown by itself gave back: with it, since nobody asks for one without the other. */
static enum status show_result(struct showing *y, struct err *err)
{
	enum { MOST = 16 }; /* lines of one call; copies in one file are few */
	struct id_match list[MOST];
	size_t count;

	if (y->how.bare || y->blocks != 1 || !y->asked.n)
		return STATUS_OK;
	if (call_search(y->call->store, y->asked, y->session->row, list, MOST, &count, err))
		return err_failed(err->status);
	y->how.block = -1;
	y->how.tool = y->asked;
	y->first = (struct str){ 0 };
	for (size_t i = 0; i < count && i < MOST; i++)
		if (list[i].node.type == RECORD_USER)
			return show_one(y, list[i].node.offset, list[i].node.length, err) ? err_failed(err->status)
											   : close_message(y, err);
	return STATUS_OK;
}

static enum status show_node(struct showing *y, const struct node *node, struct err *err)
{
	unsigned flags;

	if (node->part >= 0)
		y->how.block = node->part;
	if (show_heading(y, true, err) || find_first(y, node, err) ||
	    entry_flags(y->call->store, node->session, node->offset, &flags, err))
		return err_failed(err->status);
	y->told = (flags & RECORD_EMBEDDED) != 0;
	if (node->part == PART_MESSAGE ? message_lines(y->call->store, node, show_one, y, err)
				       : show_one(y, node->offset, node->length, err))
		return err_failed(err->status);
	if (close_message(y, err))
		return err_failed(err->status);
	return node->part == PART_MESSAGE ? STATUS_OK : show_result(y, err);
}

/* ---- A turn --------------------------------------------------------------------- */

/* A line, wherever it stands. */
static enum status show_place(struct showing *y, const struct forest *f, uint32_t source, uint32_t line,
			      struct err *err)
{
	const struct chain_line *l = &f->sources[source].chain.lines[line];

	y->session = &f->sources[source].session;
	y->told = f->sources[source].embedded;
	return show_one(y, l->offset, l->length, err);
}

static enum status show_item(struct showing *y, const struct grove *g, struct grove_ref r, struct err *err)
{
	const struct forest *f = &g->forest;

	if (r.kind == GROVE_EVENT)
		return show_place(y, f, g->events[r.at].source, g->events[r.at].line, err);
	for (uint32_t n = f->messages[r.at].first; n != FOREST_NONE; n = f->nodes[n].next)
		if (show_place(y, f, f->nodes[n].canon.source, f->nodes[n].canon.line, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* All its messages, wherever they stand. */
static enum status show_turn(struct showing *y, const struct node *node, struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	struct grove_ref turn;

	if (show_heading(y, false, err) || grove_load(y->call->store, node->session, &g, err) ||
	    grove_find(&g, node, &turn, &y->several, err))
		return err_failed(err->status);
	y->several = y->several && turn.kind == GROVE_TURN;
	if (!y->several)
		return show_one(y, node->offset, node->length, err) ? err_failed(err->status) : close_message(y, err);
	for (uint32_t i = 0; i < g.spots[turn.at].items.count; i++)
		if (show_item(y, &g, g.items[g.spots[turn.at].items.start + i], err))
			return err_failed(err->status);
	return close_message(y, err);
}

/* ---- A sub-agent ------------------------------------------------------------------ */

/* What it was asked is its title, put into `text`. */
static enum status read_title(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct buf asked CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct showing *y = ctx;
	struct block_cursor at = { 0 };
	struct record_block b;

	(void)err;
	*go_on = false;
	if (record_block(line->reader, line->record, &at, &b))
		block_text(line->reader, &b, &asked);
	buf_clear(&y->text);
	record_prompt_title(buf_as_str(&asked), &y->text);
	return STATUS_OK;
}

/* What its heading says: the conversation's with what is its own. */
static enum status describe_agent(struct showing *y, const struct resolved *what, const struct forest *f,
				  const uint32_t *messages, uint32_t count, struct session *out, struct err *err)
{
	const struct node *first = &what->node;

	if (transcript_each(&y->transcript, y->call->store, &what->session, first->offset,
			    first->offset + first->length, read_title, y, err))
		return err_failed(err->status);
	*out = what->session;
	out->agent = what->agent;
	out->title = arena_str(&y->mem, buf_as_str(&y->text));
	out->started_at = first->at;
	out->prompts = out->tools = out->messages = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct forest_message *m = &f->messages[messages[i]];

		out->messages += m->role != FOREST_CLIENT;
		out->updated_at = forest_line(f, m->first)->at;
		for (uint32_t n = m->first; n != FOREST_NONE && m->role == FOREST_ASSISTANT; n = f->nodes[n].next)
			out->tools += forest_line(f, n)->tool_count;
	}
	return STATUS_OK;
}

/* All that one did whose messages stand in the file of its conversation. */
static enum status show_agent(struct showing *y, const struct resolved *what, struct err *err)
{
	struct forest f CLEANUP(forest_release) = FOREST_INIT;
	uint32_t source, line, count, *messages;

	if (forest_load(y->call->store, what->session.row, &f, &source, err))
		return err_failed(err->status);
	if (!forest_find_line(&f, what->node.session, what->node.offset, &source, &line) ||
	    forest_message_of(&f, source, line) == FOREST_NONE)
		return show_node(y, &what->node, err);
	messages = place_agent(&f, forest_message_of(&f, source, line), &y->mem, &count);
	if (describe_agent(y, what, &f, messages, count, &y->heading, err))
		return err_failed(err->status);
	y->session = &y->heading;
	if (show_heading(y, false, err))
		return err_failed(err->status);
	y->several = true;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t n = f.messages[messages[i]].first; n != FOREST_NONE; n = f.nodes[n].next)
			if (show_place(y, &f, f.nodes[n].canon.source, f.nodes[n].canon.line, err))
				return err_failed(err->status);
	return close_message(y, err);
}

enum status show_what(struct call *c, const struct resolved *what, const struct show_manner *how, struct err *err)
{
	struct showing y CLEANUP(showing_release) = {
		.call = c,
		.session = &what->session,
		.how = *how,
		.line = -1,
		.text = BUF_INIT(2 * LIMIT_LINE_PARSED),
	};

	transcript_init(&y.transcript);
	if (variant_any(c->store, &y.variants, err) || attached_load(&y.attached, c, &what->session, err))
		return err_failed(err->status);
	if (what->is_session)
		return show_session(&y, err);
	if (what->agent.n)
		return show_agent(&y, what, err);
	return what->node.part == PART_TURN ? show_turn(&y, &what->node, err) : show_node(&y, &what->node, err);
}

/* ---- Whatever it is --------------------------------------------------------------- */

static enum status show_meant(struct call *c, const struct meant *what, const struct show_manner *how,
			      struct err *err);

/* Of a conversation and of a tree only what it is. */
static enum status show_subject(struct call *c, const struct meant *what, const struct show_manner *how,
				struct err *err)
{
	struct showing y CLEANUP(showing_release) = { .call = c, .session = &what->mirrored.session, .how = *how };

	if (what->kind == MEANT_TREE)
		return show_made_tree(c, &what->id, err);
	if (what->kind != MEANT_MIRRORED || !what->mirrored.is_session)
		return show_meant(c, what, how, err);
	transcript_init(&y.transcript);
	return show_heading(&y, false, err);
}

static enum status show_noted(struct call *c, const struct annotation *note, const struct show_manner *how,
			      struct err *err)
{
	const char *of_agent = note->on.agent.n ? "@" : "";
	struct meant on;
	char id[UUID_TEXT + 1];
	enum status status;

	uuid_print(&note->on.id, id);
	status = meant_find(c->store, arena_printf(&c->mem, "%s%s%.*s", id, of_agent, STR_ARG(note->on.agent)),
			    MEANT_ALL & ~MEANT_NOTE, &c->mem, &on, err);
	if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_AMBIGUOUS)
		return err_failed(status);
	if (show_note(c, note, status == STATUS_NOT_FOUND, err))
		return err_failed(err->status);
	return status == STATUS_OK ? show_subject(c, &on, how, err) : STATUS_OK;
}

static enum status show_meant(struct call *c, const struct meant *what, const struct show_manner *how, struct err *err)
{
	switch (what->kind) {
	case MEANT_TREE:
	case MEANT_NODE:
		return show_made(c, what, err);
	case MEANT_FILE:
		return show_paper(c, &what->file, err);
	case MEANT_TYPED:
		return show_typed(c, what->typed, err);
	case MEANT_NOTE:
		return show_noted(c, &what->note, how, err);
	case MEANT_MIRRORED:
		break;
	}
	return note_state(c, &what->mirrored.session, err) ? err_failed(err->status)
							   : show_what(c, &what->mirrored, how, err);
}

/* Somebody may think of a project. */
static enum status find_shown(struct call *c, struct str text, struct meant *out, struct err *err)
{
	enum status status = meant_find(c->store, text, MEANT_ALL, &c->mem, out, err);
	struct str project;
	struct err why;

	if ((status != STATUS_NOT_FOUND && status != STATUS_USAGE) || handle_is_like(text) ||
	    project_named(c, text, &project, &why))
		return status;
	return err_fail(err, STATUS_USAGE, "'%.*s' is a project; 'arbor list --project %.*s' lists its sessions",
			(int)size_min(text.n, 60), text.p, (int)size_min(text.n, 60), text.p);
}

/* All are known before the first is shown: who mistypes the last of several ids wants
 * to hear of it, not to find it below everything else. */
static enum status run_show(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	const struct value *ids = call_value(c, "id");
	struct meant *meant = arena_alloc(&c->mem, ids->count * sizeof *meant);
	struct show_manner how = { .all = call_flag(c, "all"), .block = -1 };

	if (read_begin(c->store, &snapshot, err))
		return err_failed(err->status);
	for (size_t i = 0; i < ids->count; i++)
		if (find_shown(c, ids->list[i], &meant[i], err))
			return err_failed(err->status);
	warn_unread(c);
	warn_grown_here(c);
	for (size_t i = 0; i < ids->count; i++)
		if (show_meant(c, &meant[i], &how, err))
			return err_failed(err->status);
	return STATUS_OK;
}

const struct method memory_show = {
	.name = "show",
	.verb = "show",
	.also = "cat view open print less read",
	.group = "find",
	.first = 3,
	.summary = "Read conversations, or parts of them",
	.text = "ID is the id of a session, turn, message, block or line, or its first digits (four or\n"
		"more); a line's own uuid, where no id begins so, the id of a tool's call and the whole title\n"
		"of a session, of more than one word and no other's, will do, too.\n"
		"@ is the session last touched, @~1 the one before it, and so on, a fork behind what it was\n"
		"made of until something is said in it; @@ID is a message of the last, SESSION@ID\n"
		"one of another; @NAME is what a bookmark is on ('arbor help bookmark'). A sub-agent's id, as\n"
		"'arbor agents' lists it, is what that one did. Where a conversation was copied and went on,\n"
		"ROOT:ID is the one in the folder with that label. A handle (claudecode@1.0.0::…), as --json has\n"
		"it, means the same everywhere.\n\n"
		"A plan, memory, tasks and typed history are shown by the id that 'arbor search' gives, or by\n"
		"their path; a tree of your own with its nodes, and a node, by their ids; a note with what it is\n"
		"about. Where several things begin alike, they are listed.\n\n"
		"A search names parts of messages: a part is shown below the heading of its message, with both\n"
		"ids. Behind a call of a tool comes its result.\n\n"
		"Several are shown one after the other. Works long after the file itself is gone.\n",
	.params = show_params,
	.kind = RESULT_STREAM,
	.fields = show_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "show @", "the last conversation" },
					      { "show @~1", "the one before it" },
					      { "list -n 3 -0 | xargs -0 arbor show", "the last three" },
					      { "show @ --json", "the last one for programs" },
					      { 0 } },
	.run = run_show,
};
