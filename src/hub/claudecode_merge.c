/*
 * claudecode.merge_note: what a branch came to, brought into another.
 *
 * Nothing is merged that a model said into what a model is sent: a branch's last answer, or somebody's own
 * words in its place, becomes a note on the other branch, with where it is from; or the text of a prompt,
 * which is given and sent by whoever wants that. No model is asked.
 */
#include "hub/claudecode_methods.h"

#include "base/utf8.h"
#include "hub/annotated.h"
#include "hub/call.h"
#include "hub/headed.h"
#include "hub/memory_place.h"
#include "hub/memory_session.h"
#include "query/lines.h"
#include "query/ways.h"

static const char *const forms[] = { "note", "prompt", NULL };

static const struct param merge_params[] = {
	{ .name = "from",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "FROM",
	  .names = "memory.sessions",
	  .help = "the branch that came to something: a session, named or not, a message, or a turn, by its id "
		  "or its prompt" },
	{ .name = "into",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "INTO",
	  .names = "memory.sessions",
	  .help = "the branch it is brought into: a session, named or not, or a node" },
	{ .name = "text",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD | PARAM_INPUT | PARAM_JOIN,
	  .shown = "TEXT",
	  .help = "what it came to, in your words; left out: its last answer. - reads standard input" },
	{ .name = "as",
	  .type = VALUE_ENUM,
	  .choices = forms,
	  .initial = "note",
	  .help = "a note on INTO; or a prompt to begin with there, which is given and not sent" },
	ANNOTATION_AUTHOR_PARAM("who writes the note"),
	{ 0 },
};

static const struct field merge_fields[] = {
	{ .name = "as", .type = VALUE_ENUM, .choices = forms, .help = "what was made of it" },
	{ .name = "note", .type = VALUE_ID, .flags = FIELD_OPTIONAL | FIELD_KEY, .help = "its id" },
	{ .name = "done",
	  .type = VALUE_ENUM,
	  .choices = annotation_deeds,
	  .flags = FIELD_OPTIONAL,
	  .help = "added; there: the same note was there already" },
	{ .name = "from", .type = VALUE_ID, .help = "the message it is from" },
	{ .name = "session", .type = VALUE_ID, .help = "that this is in" },
	{ .name = "into", .type = VALUE_ID, .help = "what it was brought into" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what it says" },
	{ 0 },
};

/* Where it is from, and what is said. */
struct conclusion {
	struct uuid message;
	struct session session;
	bool is_whole; /* the end of that is meant, and not a place in it */
	struct buf text;
};

static void conclusion_release(struct conclusion *c)
{
	buf_release(&c->text);
}

/* ---- What a branch came to --------------------------------------------------------------- */

static enum status add_text(struct lines_set *set, const struct forest *f, uint32_t message, struct buf *out,
			    struct err *err)
{
	for (uint32_t n = f->messages[message].first; n != FOREST_NONE; n = f->nodes[n].next) {
		struct lines *lines = lines_set_of(set, &f->sources[f->nodes[n].canon.source].session);
		struct block_cursor at = { 0 };
		struct record_block b;
		struct record rec;

		if (lines_get(lines, forest_line(f, n), &rec, err))
			return err_failed(err->status);
		while (record_block(&lines->reader, &rec, &at, &b)) {
			if (b.kind != BLOCK_TEXT)
				continue;
			buf_text(out, out->n ? "\n\n" : "");
			block_text(&lines->reader, &b, out);
		}
	}
	return STATUS_OK;
}

/* The last answer on the way that says something. */
static enum status find_answer(struct lines_set *set, const struct ground *g, uint32_t *message,
			       struct buf *out, struct err *err)
{
	const struct forest *f = &g->grove.forest;

	for (uint32_t m = *message; m != FOREST_NONE; m = g->ways.list[m].from) {
		if (f->messages[m].role != FOREST_ASSISTANT || f->messages[m].through ||
		    (forest_line(f, f->messages[m].first)->flags & RECORD_ERROR))
			continue;
		buf_clear(out);
		if (add_text(set, f, m, out, err))
			return err_failed(err->status);
		*message = m;
		if (str_trim(buf_as_str(out)).n)
			return STATUS_OK;
	}
	return err_fail(err, STATUS_NOT_FOUND, "no answer on that branch says anything; give TEXT");
}

/* What no note may have is told as what cannot be read. */
static void add_said(struct buf *out, struct str said)
{
	const struct str unreadable = STR("\xEF\xBF\xBD");
	struct str rest;

	for (; said.p; said = rest) {
		utf8_repair(out, str_cut(said, '\0', &rest));
		if (rest.p)
			buf_str(out, unreadable);
	}
}

static void write_text(struct conclusion *c, struct str said)
{
	enum { TITLE_SHOWN = 200 };
	struct str title = str_sub(c->session.title, 0, TITLE_SHOWN);
	char id[UUID_TEXT + 1];

	uuid_print(&c->message, id);
	buf_printf(&c->text, "From another branch");
	title.n = utf8_valid_prefix(title);
	if (title.n)
		buf_printf(&c->text, " of \"%.*s%s\"", STR_ARG(title),
			   title.n < c->session.title.n ? "…" : "");
	buf_printf(&c->text, " (%s):\n\n", id);
	add_said(&c->text, str_trim(said));
}

/* A prompt, and a turn, stand for what they came to. */
static enum status find_end(const struct ground *g, const struct resolved *what, struct place *at, struct err *err)
{
	if (place_find_end(g, what, at, err))
		return err_failed(err->status);
	if (!what->is_session && g->grove.forest.messages[at->message].origin != ORIGIN_NONE &&
	    turns_show(&g->turns, at->message))
		at->message = ways_end(&g->ways, at->message, true);
	return STATUS_OK;
}

static enum status conclude(struct call *call, struct conclusion *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct ground ground CLEANUP(ground_release) = GROUND_INIT;
	struct lines_set lines CLEANUP(lines_set_release) = { .store = call->store };
	struct buf said CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct str own = call_text(call, "text");
	struct resolved what;
	struct place at;

	if ((own.p && annotation_check_text(own, err)) || read_begin(call->store, &snapshot, err) ||
	    headed_find(call, call_text(call, "from"), &what, err) ||
	    ground_load(call->store, what.session.row, &ground, err) || find_end(&ground, &what, &at, err) ||
	    (!own.p && find_answer(&lines, &ground, &at.message, &said, err)) ||
	    grove_id(&ground.grove, (struct grove_ref){ .kind = GROVE_MESSAGE, .at = at.message },
		     &c->message, err))
		return err_failed(err->status);
	warn_unread(call);
	c->session = what.session;
	c->is_whole = what.is_session;
	write_text(c, own.p ? own : buf_as_str(&said));
	return STATUS_OK;
}

/* ---- Where it goes ------------------------------------------------------------------------ */

static enum status find_into(struct call *call, const struct conclusion *c, struct subject *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct resolved what;
	struct str id;
	char text[UUID_TEXT + 1];

	if (read_begin(call->store, &snapshot, err) || headed_find(call, call_text(call, "into"), &what, err))
		return err_failed(err->status);
	read_end(&snapshot);
	if (what.is_session && c->is_whole && what.session.row == c->session.row)
		return err_fail(err, STATUS_USAGE, "that is the branch itself; name another one to bring it into");
	uuid_print(what.is_session ? &what.session.id : &what.node.id, text);
	id = arena_str(&call->mem, str_of(text));
	return subject_resolve(call, id, out, err);
}

static enum status run_merge(struct call *call, struct err *err)
{
	struct conclusion c CLEANUP(conclusion_release) = { .text = BUF_INIT(4 * LIMIT_LINE_PARSED) };
	struct annotation note = { .kind = ANNOTATION_NOTE, .author = call_text(call, "author") };
	bool is_note = str_eq(call_text(call, "as"), STR("note"));
	enum annotation_done done = ANNOTATION_THERE;
	struct subject into;
	struct json_writer *w;

	if (conclude(call, &c, err) || find_into(call, &c, &into, err))
		return err_failed(err->status);
	note.text = buf_as_str(&c.text);
	note.on = into.on;
	if (is_note && (annotation_check_text(note.text, err) || annotation_check_author(note.author, err) ||
			annotation_add(call->store, &note, false, &call->mem, &done, err)))
		return err_failed(err->status);
	w = call_begin(call);
	put_text(w, "as", call_text(call, "as"));
	if (is_note) {
		put_uuid(w, "note", &note.id);
		put_text(w, "done", str_of(annotation_deeds[done]));
	}
	put_uuid(w, "from", &c.message);
	put_uuid(w, "session", &c.session.id);
	put_uuid(w, "into", &into.on.id);
	put_text(w, "text", buf_as_str(&c.text));
	if (!is_note)
		call_note(call,
			  "nothing was sent; 'arbor chat NAME TEXT' sends it to a session that has a name");
	return call_emit(call, err);
}

const struct method claudecode_merge_note = {
	.name = "merge_note",
	.verb = "merge",
	.also = "merge-note cherry-pick",
	.group = "go back",
	.summary = "Bring what a branch came to into another, as a note or as a prompt",
	.text = "FROM's last answer, or TEXT in its place, becomes a note on INTO, with the branch it is "
		"from: 'arbor show' "
		"and 'arbor search' have it from then on, and no model is sent it. With --as prompt the text "
		"is printed "
		"instead, to begin with on the other branch: 'arbor merge A B --as prompt | arbor chat B -'. "
		"Nothing is written or sent by that alone.\n\n"
		"Neither branch changes, no file does, and no model is asked.\n",
	.params = merge_params,
	.kind = RESULT_ONE,
	.fields = merge_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "merge b899e3df 24bf71fb",
						"the last answer of one as a note on the other" },
					      { "merge b899e3df 24bf71fb --as prompt",
						"as text for a prompt" },
					      { 0 } },
	.run = run_merge,
};
