/*
 * memory.log: one way through a conversation, from its beginning to a message; or what
 * the model is sent there.
 *
 * `show` prints a file as it is; here lines that belong together are one message, calls
 * that ran side by side are in order, and of several branches only one is followed.
 */
#include "hub/memory_find.h"

#include "hub/attached.h"
#include "hub/call.h"
#include "hub/grown.h"
#include "hub/handle_node.h"
#include "hub/headed.h"
#include "hub/memory_log.h"
#include "hub/memory_made.h"
#include "hub/memory_message.h"
#include "hub/memory_place.h"
#include "hub/memory_session.h"
#include "query/context.h"
#include "query/fork.h"
#include "query/variant.h"
#include "query/ways.h"

static const char *const kinds[] = { "session", "message", "event", "sent", "tree", "node", NULL };
static const char *const origins[] = { "human", "notification", "compaction", NULL };

static const struct param log_params[] = {
	{ .name = "id",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .initial = PARAM_LAST_SESSION,
	  .shown = "ID|A..B",
	  .names = "memory.sessions",
	  .help = "a session, or a message or turn of one: the way to it; a node of your own, or a tree. A..B is "
		  "what B has and A has not" },
	{ .name = "as_sent", .type = VALUE_BOOL, .help = "what the model is sent, as the client mends it" },
	{ .name = "all",
	  .type = VALUE_BOOL,
	  .letter = 'a',
	  .help = "also what the client noted on the way: progress, snapshots, settings" },
	{ .name = "through",
	  .type = VALUE_BOOL,
	  .help = "with --as-sent: also the answer itself, and not only what led to it" },
	{ .name = "full",
	  .type = VALUE_BOOL,
	  .letter = 'f',
	  .setting = "show.full",
	  .help = "show what tools printed to its end" },
	{ 0 },
};

const struct field log_fields[] = {
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = kinds,
	  .help = "what the item is; 'session', or 'tree', comes first" },
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY | FIELD_OPTIONAL,
	  .help = "of the session, message, tree or node" },
	HANDLE_FIELD(""),
	{ .name = "index",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: its place on the way, where that is given a page at a time" },
	{ .name = "total",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "session: messages on the way, so too" },
	{ .name = "prev", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "message: the one before" },
	{ .name = "turn", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "message: number of its turn" },
	{ .name = "origin",
	  .type = VALUE_ENUM,
	  .choices = origins,
	  .flags = FIELD_OPTIONAL,
	  .help = "message that begins a turn: why" },
	{ .name = "branches",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: how many ways lead on, when it is more than one" },
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "message, event, tree, node: when" },
	SAID_FIELDS,
	{ .name = "content",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL,
	  .help = "sent: its blocks as the API takes them; \"client\": true where the client words it" },
	EVENT_FIELDS,
	QUEUED_FIELD(0),
	TREE_ID_FIELD("session: "),
	SESSION_AGENT_FIELD,
	SESSION_PART_FIELDS,
	MADE_FIELDS,
	ATTACHED_FIELDS(""),
	{ 0 },
};

struct logging {
	struct call *call;
	struct ground ground;
	struct forest forest; /* the ground's */
	const struct log_part *part; /* NULL = all of it */
	uint32_t total;		     /* messages on the way, when it is a part */
	uint32_t source; /* the conversation's own */
	/* Lines of its that are no part of a message, with --all; without, prompts that waited: lists in the order of
	 * the file, of those behind each message and, one more, of those before all. */
	uint32_t *noted, *next_noted;
	struct lines_set lines;
	struct buf text;
	struct attached attached; /* notes and the like; not where it is told what the model is sent */
};

#define LOGGING(c) \
	{ \
		.call = (c), .lines = { .store = (c)->store }, .text = BUF_INIT(2 * LIMIT_LINE_PARSED) \
	}

static void logging_release(struct logging *y)
{
	lines_set_release(&y->lines);
	ground_release(&y->ground);
	buf_release(&y->text);
}

static enum status emit_heading(struct logging *y, struct err *err)
{
	struct json_writer *w = call_begin(y->call);
	const struct session *session = &y->forest.sources[y->source].session;

	put_text(w, "kind", STR("session"));
	if (put_session(y->call, w, session, err) ||
	    (y->attached.any && put_attached_session(y->call, session, err)))
		return err_failed(err->status);
	put_tree_id(w, &y->ground.grove, grove_tree_of_source(&y->ground.grove, y->source));
	if (y->part)
		put_int(w, "total", y->total);
	return call_emit(y->call, err);
}

static struct lines *lines_in(struct logging *y, uint32_t source)
{
	return lines_set_of(&y->lines, &y->forest.sources[source].session);
}

/* ---- The path ------------------------------------------------------------------ */

/* What is no block of a message is given as one, so that nothing is missing. */
static void put_aside(struct logging *y, const struct record_reader *r, const struct record *rec,
		      const struct node_name *name)
{
	struct json_writer *w = &y->call->writer;
	struct uuid id = node_id(name, PART_LINE);
	struct node_handle handle = handle_of_event(&id);
	bool says;

	buf_clear(&y->text);
	says = message_aside(r, rec, &y->call->mem, &y->text);
	json_write_object_begin(w);
	put_uuid(w, "id", &id);
	put_handle(w, &handle);
	put_text(w, "kind", says ? STR("text") : STR("other"));
	put_text(w, "text", buf_as_str(&y->text));
	json_write_object_end(w);
}

static enum status put_blocks(struct logging *y, const struct forest_message *m, struct err *err)
{
	const struct forest *f = &y->forest;
	struct json_writer *w = &y->call->writer;

	json_write_key(w, STR("blocks"));
	json_write_array_begin(w);
	for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next) {
		struct lines *lines = lines_in(y, f->nodes[n].canon.source);
		struct node_name name = { 0 };
		struct block_cursor at = { 0 };
		struct block_manner how = { .name = &name, .text = &y->text };
		struct record_block b;
		struct uuid variant;
		struct record rec;

		if (lines_get(lines, forest_line(f, n), &rec, err))
			return err_failed(err->status);
		name.uuid = rec.uuid;
		if (forest_has_variants(f, n)) {
			variant = variant_id(&lines->reader, &rec);
			how.variant = &variant;
		}
		if (rec.type == RECORD_ATTACHMENT || rec.type == RECORD_SYSTEM)
			put_aside(y, &lines->reader, &rec, &name);
		while (record_block(&lines->reader, &rec, &at, &b))
			put_message_block(w, &lines->reader, &b, &how);
	}
	json_write_array_end(w);
	return STATUS_OK;
}

static void put_shape(struct json_writer *w, const struct forest_message *m, int64_t turn)
{
	put_int(w, "turn", turn);
	if (m->origin != ORIGIN_NONE)
		put_text(w, "origin", str_of(origins[m->origin - 1]));
	if (m->branches > 1)
		put_int(w, "branches", m->branches);
}

/* Where on a path a message stands. */
struct step {
	uint32_t message, index;
	int64_t turn;
	const struct uuid *prev; /* NULL = none that was given */
};

static enum status emit_message(struct logging *y, const struct step *step, struct uuid *id, struct err *err)
{
	uint32_t message = step->message;
	const struct forest *f = &y->forest;
	const struct forest_message *m = &f->messages[message];
	const struct chain_line *first = forest_line(f, m->first);
	struct lines *lines = lines_in(y, f->nodes[m->first].canon.source);
	struct attached_set attached = { 0 };
	struct node_name name = { 0 };
	struct json_writer *w;
	struct uuid variant;
	struct record rec;

	if (lines_get(lines, first, &rec, err))
		return err_failed(err->status);
	name.uuid = rec.uuid;
	*id = node_id(&name, PART_MESSAGE);
	w = call_begin(y->call);
	put_text(w, "kind", STR("message"));
	put_uuid(w, "id", id);
	if (y->part)
		put_int(w, "index", step->index);
	if (step->prev)
		put_uuid(w, "prev", step->prev);
	put_shape(w, m, step->turn);
	put_bool(w, "prompt", record_is_typed(first->flags));
	variant = *id;
	if (forest_has_variants(f, m->first)) {
		variant = variant_id(&lines->reader, &rec);
		put_uuid(w, "variant", &variant);
	}
	if (!record_is_message(&rec))
		variant = node_id(&name, PART_LINE);
	put_message(w, &variant, &rec);
	put_queued(w, first->flags);
	if (put_blocks(y, m, err))
		return err_failed(err->status);
	attached_take_message(&y->attached, &attached, message, ATTACHED_ALL);
	put_attached(w, &attached);
	return call_emit(y->call, err);
}

/* ---- What the client noted on the way --------------------------------------------- */

/* Such a line belongs behind the message it hangs on; if it hangs on nothing, behind that of
 * the line before it. */
static void find_noted(struct logging *y)
{
	const struct chain *c = &y->forest.sources[y->source].chain;
	uint32_t *behind = arena_alloc(&y->call->mem, (c->line_count + 1) * sizeof *behind);
	uint32_t none = y->forest.message_count, last = none;
	bool all = y->part ? y->part->all : call_flag(y->call, "all");

	y->next_noted = arena_alloc(&y->call->mem, (c->line_count + 1) * sizeof *y->next_noted);
	y->noted = arena_alloc(&y->call->mem, (none + 1) * sizeof *y->noted);
	for (uint32_t m = 0; m <= none; m++)
		y->noted[m] = CHAIN_NONE;
	for (uint32_t i = 0; i < c->line_count; last = behind[i++]) {
		behind[i] = forest_message_of(&y->forest, y->source, i);
		if (behind[i] == FOREST_NONE)
			behind[i] = c->lines[i].parent < i ? behind[c->lines[i].parent] : last;
	}
	for (uint32_t i = c->line_count; i-- > 0;) {
		if (forest_message_of(&y->forest, y->source, i) != FOREST_NONE ||
		    (!all && !(c->lines[i].flags & RECORD_QUEUED)))
			continue;
		y->next_noted[i] = y->noted[behind[i]];
		y->noted[behind[i]] = i;
	}
}

static enum status emit_event(struct logging *y, uint32_t line, struct err *err)
{
	const struct forest_source *s = &y->forest.sources[y->source];
	struct lines *lines = lines_in(y, y->source);
	struct node_name name;
	struct node node;
	struct record rec;

	if (entry_get(y->call->store, s->session.row, s->chain.lines[line].offset, &y->call->mem, &node, &name, err) ||
	    lines_get(lines, &s->chain.lines[line], &rec, err))
		return err_failed(err->status);
	buf_clear(&y->text);
	record_text(&lines->reader, &rec, &y->text);
	put_event(call_begin(y->call), &lines->reader, &rec, &name, buf_as_str(&y->text), NULL);
	put_queued(&y->call->writer, s->chain.lines[line].flags);
	return call_emit(y->call, err);
}

static enum status emit_noted(struct logging *y, uint32_t behind, struct err *err)
{
	for (uint32_t i = y->noted ? y->noted[behind] : CHAIN_NONE; i != CHAIN_NONE; i = y->next_noted[i])
		if (emit_event(y, i, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* The messages of a path from `start` on; those before it only count turns. */
static enum status emit_path(struct logging *y, const uint32_t *path, uint32_t start, uint32_t count, struct err *err)
{
	struct uuid id, before;
	int64_t turn = 0;

	find_noted(y);
	if (attached_load_forest(&y->attached, y->call, &y->forest, err))
		return err_failed(err->status);
	if (emit_heading(y, err) || (!start && emit_noted(y, y->forest.message_count, err)))
		return err_failed(err->status);
	for (uint32_t i = 0; i < count; i++) {
		if (call_is_cancelled(y->call))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		turn += y->forest.messages[path[i]].origin != ORIGIN_NONE;
		if (i < start)
			continue;
		if (emit_message(y, &(struct step){ path[i], i, turn, i > start ? &before : NULL }, &id, err) ||
		    emit_noted(y, path[i], err))
			return err_failed(err->status);
		before = id;
	}
	return STATUS_OK;
}


/* ---- The context ---------------------------------------------------------------- */

static enum status emit_sent(void *ctx, const struct context_message *m, struct err *err)
{
	struct logging *y = ctx;
	struct json_writer *w;

	if (call_is_cancelled(y->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	w = call_begin(y->call);
	put_text(w, "kind", STR("sent"));
	put_text(w, "role", m->role);
	json_write_key(w, STR("content"));
	json_write_raw(w, m->content);
	return call_emit(y->call, err);
}

static enum status emit_context(struct logging *y, uint32_t line, struct err *err)
{
	const struct chain *c = &y->forest.sources[y->source].chain;
	bool before = c->lines[line].type == RECORD_ASSISTANT && !call_flag(y->call, "through");
	struct fork_point behind = fork_point(c, line);

	if (emit_heading(y, err))
		return err_failed(err->status);
	/* A message may have more lines than the one by which it is called. */
	if (!before && behind.prompt == CHAIN_NONE)
		line = behind.line;
	return context_each(lines_in(y, y->source), c, line, before, emit_sent, y, err);
}

/* ---- All of it ------------------------------------------------------------------ */

static enum status load(struct logging *y, const struct resolved *what, struct place *at, struct err *err)
{
	struct call *c = y->call;

	if (ground_load(c->store, what->session.row, &y->ground, err))
		return err_failed(err->status);
	y->forest = y->ground.grove.forest;
	warn_unread(c);
	if (!warn_grown(c, &y->forest))
		warn_grown_here(c);
	if (note_state(c, &what->session, err) || place_find(&y->forest, what, at, err))
		return err_failed(err->status);
	y->source = at->source;
	return STATUS_OK;
}

static enum status log_mirrored(struct call *c, const struct resolved *what, struct err *err)
{
	struct logging y CLEANUP(logging_release) = LOGGING(c);
	uint32_t count, *path;
	struct place at;

	if (load(&y, what, &at, err))
		return err_failed(err->status);
	if (call_flag(c, "as_sent"))
		return emit_context(&y, at.line, err);
	if (place_find_end(&y.ground, what, &at, err))
		return err_failed(err->status);
	path = place_path(&y.ground, at.message, &c->mem, &count);
	return emit_path(&y, path, 0, count, err);
}

enum status log_page(struct call *c, const struct resolved *what, const struct log_part *part, struct err *err)
{
	struct logging y CLEANUP(logging_release) = LOGGING(c);
	uint32_t count, *path, start;
	struct place at;

	y.part = part;
	if (load(&y, what, &at, err))
		return err_failed(err->status);
	path = place_path(&y.ground, at.message, &c->mem, &count);
	y.total = count;
	start = part->from < count ? (uint32_t)part->from : count;
	if (part->most && count - start > part->most)
		count = start + (uint32_t)part->most;
	return emit_path(&y, path, start, count, err);
}

/* What the second has that the first has not. */
static enum status log_between(struct call *c, const struct resolved *a, const struct resolved *b, struct err *err)
{
	struct logging y CLEANUP(logging_release) = LOGGING(c);
	uint32_t count, known = 0, shared = 0, *path, *other = NULL;
	struct place at, before;

	if (call_flag(c, "as_sent"))
		return err_fail(err, STATUS_USAGE, "--as-sent is for one place, not for what lies between two;"
						   " 'claudecode.render_context' has 'since'");
	if (load(&y, b, &at, err) || place_find_end(&y.ground, b, &at, err))
		return err_failed(err->status);
	path = place_path(&y.ground, at.message, &c->mem, &count);
	/* What is in another forest has nothing in common with it. */
	if (place_find_end(&y.ground, a, &before, err) == STATUS_OK)
		other = place_path(&y.ground, before.message, &c->mem, &known);
	else if (err->status != STATUS_NOT_FOUND)
		return err_failed(err->status);
	if (other)
		shared = ways_shared(path, count, other, known);
	if (shared == count)
		return STATUS_OK; /* nothing is found */
	return emit_path(&y, path, shared, count, err);
}

/* What it hangs on first, where that is a part of a conversation. */
static enum status log_made(struct call *c, const struct meant *what, struct err *err)
{
	struct made_path path;
	struct resolved on;

	if (call_flag(c, "as_sent"))
		return err_fail(err, STATUS_USAGE, "--as-sent is for conversations; 'arbor call"
						   " arbor.context_get_path' gives what a node's path holds");
	if (made_path_find(c, what, &path, err) ||
	    (path.on.p && (resolve_id(c->store, path.on, &c->mem, &on, err) || log_mirrored(c, &on, err))))
		return err_failed(err->status);
	return made_path_show(&path, err);
}

static enum status run_log(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct resolved x, y;
	struct str a, b;
	unsigned dots = headed_range(call_text(c, "id"), &a, &b);
	struct meant what;

	if (read_begin(c->store, &snapshot, err))
		return err_failed(err->status);
	if (dots == 3)
		return err_fail(err, STATUS_USAGE, "A..B, with two dots, is what B has and A has not;"
						   " 'arbor diff A B' tells what each of them has");
	if (dots)
		return headed_find(c, a, &x, err) || headed_find(c, b, &y, err) ? err_failed(err->status)
										: log_between(c, &x, &y, err);
	if (headed_meant(c, call_text(c, "id"), MEANT_MIRRORED | MEANT_TREE | MEANT_NODE, &what, err))
		return err_failed(err->status);
	return what.kind == MEANT_MIRRORED ? log_mirrored(c, &what.mirrored, err) : log_made(c, &what, err);
}

const struct method memory_log = {
	.name = "log",
	.verb = "log",
	.also = "path",
	.group = "find",
	.summary = "Follow a conversation from its beginning to a message",
	.text = "Of a conversation that was rewound or continued twice, one way through it: to the message "
		"that is "
		"named, to the end of a turn, by the id that 'arbor tree' shows, or to where the client would go on. "
		"What was said before a compaction comes before it. The parts of an answer are one message, and so "
		"are "
		"the results of its calls. 'arbor show' prints the file as it is instead.\n\n"
		"Of a node that you made it is the path to it, of a tree that to its newest node.\n\n"
		"A..B is the part of the way to B that is not on the way to A: what a branch has said that another has "
		"not. Where either is left out, it is the last conversation.\n\n"
		"--as-sent prints what the model is sent there, with the client's mending: after a "
		"compaction only "
		"the summary and what was preserved, no call without its result, nothing of failed requests. "
		"For "
		"an answer that is what led to it, without the answer, and so for a conversation whose last word is "
		"an answer; --through adds that, and is what the model is sent when somebody types something more.\n",
	.params = log_params,
	.kind = RESULT_STREAM,
	.fields = log_fields,
	.empty = "nothing: all of it is in the other, too",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "log @", "the last conversation, as it is now" },
					      { "log b899e3df..24bf71fb",
						"what the second has that the first has not" },
					      { "log @ --as-sent", "what the model was sent for its last answer" },
					      { "log @ --as-sent --through --json",
						"what it would be sent next, with that answer" },
					      { 0 } },
	.run = run_log,
};
