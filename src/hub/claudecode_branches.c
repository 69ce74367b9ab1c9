/*
 * claudecode.list_branches: the ways that lead on from a message, or those that leave a conversation's own.
 *
 * A way is called by the message it ends with, which stands for it in 'log', 'diff' and 'merge', and told by
 * what it leaves, how it begins, all that lies on it, and the sessions that would go on from there. Of a
 * conversation every way in its tree is told but its own, which comes first and as one: at each branch it
 * would be told again. So each ends somewhere else: where ways part one goes on, and the others begin. A
 * session that stopped where another went on is told with the way it is on.
 */
#include "hub/claudecode_methods.h"

#include "hub/beginning.h"
#include "hub/call.h"
#include "hub/grown.h"
#include "hub/handle_node.h"
#include "hub/headed.h"
#include "hub/memory_message.h"
#include "hub/memory_place.h"
#include "hub/memory_session.h"
#include "query/ways.h"

#include <stdlib.h>
#include <string.h>

static const struct param branch_params[] = {
	HEADED_PARAM("a session: all that branches off it; a message: the ways that lead on from it"),
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "0",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "at most so many; 0 for all" },
	{ 0 },
};

static const struct field here_fields[] = {
	HEADED_HERE_FIELDS,
	{ .name = "at",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "the message it stopped at, where others went on" },
	{ 0 },
};

static const struct field branch_fields[] = {
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY,
	  .help = "of its last message, which stands for it in 'log', 'diff', 'merge' and 'fork'; where it "
		  "branches again, of the last touched" },
	HANDLE_FIELD(""),
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "when something was last said on it" },
	{ .name = "current",
	  .type = VALUE_BOOL,
	  .usual = "no",
	  .help = "the session that was asked for is on it" },
	{ .name = "turn", .type = VALUE_INT, .help = "number of the turn it begins in" },
	{ .name = "messages",
	  .type = VALUE_INT,
	  .help = "on it, as 'list' counts them; of the ways that lead on from a message also on what "
		  "branches "
		  "off them in turn" },
	{ .name = "turns", .type = VALUE_INT, .flags = FIELD_HIDDEN, .help = "that begin there" },
	{ .name = "started",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when it begins" },
	{ .name = "first",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the message it begins with" },
	{ .name = "from",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "message it leads on from; absent: it begins a conversation" },
	{ .name = "head",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the last message on it that a session is at" },
	{ .name = "sessions",
	  .type = VALUE_ID,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "that would go on from somewhere on it" },
	{ .name = "names",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL,
	  .help = "named sessions that are on it" },
	{ .name = "here",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .fields = here_fields,
	  .help = "both, each session once: the one that was asked for first, those that stopped before its "
		  "end last" },
	{ .name = "tree_id",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of the tree it is in" },
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "how it begins" },
	{ 0 },
};

/* A way that is told. */
struct branch {
	uint32_t message; /* that it begins with */
	uint32_t from;	  /* what it leads on from */
	uint32_t end;	  /* its last message */
	struct way sum;	  /* of all that is told with it */
	uint32_t standing, standing_count; /* those that are on it */
	bool own; /* of a session: its own way, all of it */
};

enum stands { STANDS_ASKED, STANDS_AT_END, STANDS_BEFORE };

/* A named session, or else the file of one, and where it is. */
struct standing {
	uint32_t branch;
	enum stands stands;
	struct str name; /* p NULL = a file */
	uint32_t source; /* the file; FOREST_NONE = the named one has none here */
	uint32_t message;
	bool told;	/* a file of which a name on the same way tells */
	uint32_t place; /* in the order they came up */
};

struct branching {
	struct call *call;
	struct ground ground;
	struct headed headed;
	struct lines_set lines;
	struct str name; /* by which the session was asked for; p NULL = by its file, or a message was */
	struct branch *list;
	uint32_t count;
	struct standing *standing;
	uint32_t standing_count;
	/* By message: */
	uint32_t *place;   /* among all in the order of ways */
	uint32_t *on;	   /* which of those behind it goes on with its way; FOREST_NONE = that ends */
	uint32_t *behind;  /* the last before it that is not looked through; FOREST_NONE = it begins */
	uint32_t *branch;  /* which it is told with; FOREST_NONE = none */
	bool *leads;	   /* something comes of it that is told */
	bool *goes_on;	   /* with the way of what is behind it */
	uint32_t own_head; /* of a session: where its own way ends; FOREST_NONE = a message was asked for */
};

static void branching_release(struct branching *b)
{
	lines_set_release(&b->lines);
	ground_release(&b->ground);
}

/* ---- What is told of a way ----------------------------------------------------------- */

/* What was asked for on it says more than the answer it may begin with. */
static uint32_t telling(const struct branching *b, const struct branch *x)
{
	const struct forest *f = &b->ground.grove.forest;

	for (uint32_t m = x->message; m != FOREST_NONE; m = b->on[m])
		if (f->messages[m].role == FOREST_USER && !f->messages[m].through)
			return m;
	return x->message;
}

static enum status put_place(struct branching *b, const char *name, uint32_t message, struct err *err)
{
	struct grove_ref at = { .kind = GROVE_MESSAGE, .at = message };
	struct uuid id;

	if (message == FOREST_NONE)
		return STATUS_OK;
	if (grove_id(&b->ground.grove, at, &id, err))
		return err_failed(err->status);
	put_uuid(&b->call->writer, name, &id);
	return STATUS_OK;
}

/* Files of sessions, and of these the last place. */
static enum status put_sessions(struct branching *b, const struct branch *x, struct err *err)
{
	struct json_writer *w = &b->call->writer;
	const struct forest *f = &b->ground.grove.forest;
	const struct way *ways = b->ground.ways.list;
	uint32_t head = FOREST_NONE;
	char text[UUID_TEXT + 1];

	json_write_key(w, STR("sessions"));
	json_write_array_begin(w);
	for (uint32_t i = 0; i < x->standing_count; i++) {
		const struct standing *s = &b->standing[x->standing + i];

		if (s->name.p)
			continue;
		uuid_print(&f->sources[s->source].session.id, text);
		json_write_string(w, str_of(text));
		if (head == FOREST_NONE || ways[s->message].said > ways[head].said)
			head = s->message;
	}
	json_write_array_end(w);
	return put_place(b, "head", head, err);
}

static void put_names(struct branching *b, const struct branch *x)
{
	struct json_writer *w = &b->call->writer;
	bool any = false;

	for (uint32_t i = 0; i < x->standing_count; i++) {
		const struct standing *s = &b->standing[x->standing + i];

		if (!s->name.p)
			continue;
		if (!any) {
			json_write_key(w, STR("names"));
			json_write_array_begin(w);
		}
		any = true;
		json_write_string(w, s->name);
	}
	if (any)
		json_write_array_end(w);
}

static enum status put_here(struct branching *b, const struct branch *x, struct err *err)
{
	struct json_writer *w = &b->call->writer;

	json_write_key(w, STR("here"));
	json_write_array_begin(w);
	for (uint32_t i = 0; i < x->standing_count; i++) {
		const struct standing *s = &b->standing[x->standing + i];

		if (s->told)
			continue;
		json_write_object_begin(w);
		headed_put_here(w, &b->ground.grove.forest, s->name, s->source, s->stands == STANDS_ASKED);
		if (s->stands == STANDS_BEFORE && put_place(b, "at", s->message, err))
			return err_failed(err->status);
		json_write_object_end(w);
	}
	json_write_array_end(w);
	return STATUS_OK;
}

static enum status emit_branch(struct branching *b, const struct branch *x, struct err *err)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
	const struct forest *f = &b->ground.grove.forest;
	int64_t at = forest_line(f, f->messages[x->message].first)->at;
	struct json_writer *w;

	if (call_is_cancelled(b->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	w = call_begin(b->call);
	if (put_message_name(b->call, &b->lines, &b->ground.grove, x->end, err) ||
	    beginning_of(&b->lines, f, telling(b, x), &title, err))
		return err_failed(err->status);
	if (x->sum.updated)
		put_time(w, "updated", x->sum.updated);
	put_bool(w, "current", x->sum.wanted);
	put_int(w, "turn", b->ground.turns.list[b->ground.turns.of[x->message]].number);
	put_int(w, "messages", x->sum.messages);
	put_int(w, "turns", x->sum.turns);
	if (at)
		put_time(w, "started", at);
	if (put_place(b, "first", x->message, err) || put_place(b, "from", x->from, err) ||
	    put_sessions(b, x, err))
		return err_failed(err->status);
	put_names(b, x);
	if (put_here(b, x, err))
		return err_failed(err->status);
	put_tree_id(w, &b->ground.grove, b->ground.grove.spots[x->message].tree);
	put_text(w, "title", buf_as_str(&title));
	return call_emit(b->call, err);
}

/* ---- Where ways go on ------------------------------------------------------------------- */

static uint32_t *alloc_list(struct branching *b)
{
	size_t room = (b->ground.grove.forest.message_count + 1) * sizeof(uint32_t);

	return memset(arena_alloc(&b->call->mem, room), 0xff, room);
}

static bool is_through(const struct branching *b, uint32_t message)
{
	return b->ground.grove.forest.messages[message].through;
}

/* What comes of nothing that is told is left out, and so is what comes of it while it is only looked through.
 */
static void find_leading(struct branching *b)
{
	const struct ways *w = &b->ground.ways;
	const struct forest *f = &b->ground.grove.forest;
	bool *left_out = arena_alloc(&b->call->mem, f->message_count + 1);

	for (uint32_t i = 0; i < w->count; i++) {
		uint32_t m = w->order[i], from = w->list[m].from;

		b->place[m] = i;
		left_out[m] = (!f->messages[m].live && !w->list[m].turns) ||
			      (from != FOREST_NONE && is_through(b, from) && left_out[from]);
		if (from != FOREST_NONE)
			b->behind[m] = is_through(b, from) ? b->behind[from] : from;
	}
	for (uint32_t i = w->count; i-- > 0;) {
		uint32_t m = w->order[i], from = w->list[m].from;

		b->leads[m] = !left_out[m] && (b->leads[m] || !is_through(b, m));
		if (from != FOREST_NONE && b->leads[m])
			b->leads[from] = true;
	}
}

/* Where the session is that was asked for, or else where something was said last. */
static uint32_t find_on(const struct branching *b, uint32_t message)
{
	const struct way *list = b->ground.ways.list;
	uint32_t best = FOREST_NONE;

	for (uint32_t c = list[message].child; message != b->own_head && c != FOREST_NONE; c = list[c].next) {
		if (list[c].wanted)
			return c;
		if (b->leads[c] && (best == FOREST_NONE || list[c].updated >= list[best].updated))
			best = c;
	}
	return best;
}

/* Each message goes on with one way, so that each way ends somewhere else. */
static void find_ways_on(struct branching *b)
{
	const struct ways *w = &b->ground.ways;

	b->place = alloc_list(b);
	b->on = alloc_list(b);
	b->behind = alloc_list(b);
	b->branch = alloc_list(b);
	b->leads = arena_alloc(&b->call->mem, b->ground.grove.forest.message_count + 1);
	b->goes_on = arena_alloc(&b->call->mem, b->ground.grove.forest.message_count + 1);
	find_leading(b);
	for (uint32_t i = 0; i < w->count; i++) {
		uint32_t m = w->order[i], from = w->list[m].from;

		b->on[m] = find_on(b, m);
		if (from == FOREST_NONE)
			b->goes_on[m] = b->own_head != FOREST_NONE && w->list[m].wanted;
		else
			b->goes_on[m] = b->on[from] == m && (!is_through(b, from) || b->goes_on[from]);
	}
}

/* ---- Which are told ------------------------------------------------------------------- */

/* A session's own way: to its head, which may be another than that of its file. */
static void want_own(struct branching *b, uint32_t head)
{
	struct ways *w = &b->ground.ways;

	b->own_head = head;
	for (uint32_t i = 0; i < w->count; i++)
		w->list[w->order[i]].wanted = false;
	for (uint32_t m = head; m != FOREST_NONE; m = w->list[m].from)
		w->list[m].wanted = true;
}

/* Whether a way that is told begins with it: from a message each that leads on, of a session what does not go
 * on with another. */
static bool begins(const struct branching *b, uint32_t message, uint32_t at)
{
	if (is_through(b, message) || !b->leads[message])
		return false;
	return b->own_head == FOREST_NONE ? b->behind[message] == at : !b->goes_on[message];
}

/* To where it ends; what branches off is told by itself, but of ways that lead on from a message. */
static void sum_up(struct branching *b, struct branch *x)
{
	const struct ways *w = &b->ground.ways;
	const struct forest *f = &b->ground.grove.forest;
	uint32_t m = x->message;

	x->end = m;
	x->sum = b->own_head == FOREST_NONE ? w->list[m] : (struct way){ .wanted = x->own };
	for (; m != FOREST_NONE; m = b->on[m]) {
		if (!is_through(b, m) || m == b->own_head)
			x->end = m;
		if (b->own_head == FOREST_NONE)
			continue;
		x->sum.messages += turns_messages_in(f, &f->messages[m]);
		x->sum.turns += f->messages[m].origin != ORIGIN_NONE;
		x->sum.updated = w->list[m].said > x->sum.updated ? w->list[m].said : x->sum.updated;
	}
}

/* All of them, and which of them each message is told with; of a session its own first. */
static void find_branches(struct branching *b, uint32_t at)
{
	const struct ways *w = &b->ground.ways;

	b->list = arena_alloc(&b->call->mem, ((size_t)w->count + 1) * sizeof *b->list);
	for (uint32_t m = b->own_head; m != FOREST_NONE; m = w->list[m].from) {
		b->list[0] = (struct branch){ .message = m, .from = FOREST_NONE, .own = true };
		b->count = 1;
		b->branch[m] = 0;
	}
	for (uint32_t i = 0; i < w->count; i++) {
		uint32_t m = w->order[i], from = w->list[m].from;

		if (b->branch[m] != FOREST_NONE)
			continue;
		if (begins(b, m, at)) {
			b->branch[m] = b->count;
			b->list[b->count++] = (struct branch){ .message = m, .from = b->behind[m] };
		} else if (from != FOREST_NONE) {
			b->branch[m] = b->branch[from];
		}
	}
	for (uint32_t i = 0; i < b->count; i++)
		sum_up(b, &b->list[i]);
}

static int last_first(const void *x, const void *y, void *branching)
{
	const struct branching *b = branching;
	const struct branch *m = x, *n = y;
	uint32_t pm = b->place[m->message], pn = b->place[n->message];

	if (m->own != n->own)
		return m->own ? -1 : 1;
	if (m->sum.updated != n->sum.updated)
		return m->sum.updated > n->sum.updated ? -1 : 1;
	return pm < pn ? -1 : pm > pn;
}

/* ---- Who is on them --------------------------------------------------------------------- */

static void add_standing(struct branching *b, struct standing s)
{
	const struct branch *x;

	if (s.message == FOREST_NONE || b->branch[s.message] == FOREST_NONE)
		return;
	s.branch = b->branch[s.message];
	s.place = b->standing_count;
	x = &b->list[s.branch];
	if (s.stands != STANDS_ASKED)
		s.stands = s.message == x->end || (is_through(b, s.message) && b->behind[s.message] == x->end)
				   ? STANDS_AT_END
				   : STANDS_BEFORE;
	b->standing[b->standing_count++] = s;
}

static int by_branch(const void *x, const void *y)
{
	const struct standing *m = x, *n = y;

	if (m->branch != n->branch)
		return m->branch < n->branch ? -1 : 1;
	if (m->stands != n->stands)
		return m->stands < n->stands ? -1 : 1;
	return m->place < n->place ? -1 : m->place > n->place;
}

/* A session that has a name is told by that, on the way that both are on. */
static void find_standing(struct branching *b)
{
	const struct forest *f = &b->ground.grove.forest;
	const struct turns *t = &b->ground.turns;
	bool by_file = b->own_head != FOREST_NONE && !b->name.p;
	/* By source: the way on which a name tells of it. */
	uint32_t *told = memset(arena_alloc(&b->call->mem, (f->source_count + 1) * sizeof *told), 0xff,
				(f->source_count + 1) * sizeof *told);

	b->standing = arena_alloc(&b->call->mem,
				  ((size_t)b->headed.count + f->source_count + 1) * sizeof *b->standing);
	for (uint32_t i = 0; i < b->headed.count; i++) {
		const struct headed_one *one = &b->headed.list[i];
		bool asked = b->name.p ? str_eq(b->name, one->name)
				       : by_file && one->source == t->source && one->message == b->own_head;

		if (one->source != FOREST_NONE)
			told[one->source] = b->branch[one->message];
		add_standing(b, (struct standing){ .stands = asked ? STANDS_ASKED : STANDS_AT_END,
						   .name = one->name,
						   .source = one->source,
						   .message = one->message });
	}
	for (uint32_t s = 0; s < f->source_count; s++)
		if (!f->sources[s].agent.n && t->leaves[s] != FOREST_NONE)
			add_standing(b,
				     (struct standing){ .stands = by_file && s == t->source ? STANDS_ASKED
											    : STANDS_AT_END,
							.source = s,
							.message = t->leaves[s],
							.told = told[s] == b->branch[t->leaves[s]] });
	qsort(b->standing, b->standing_count, sizeof *b->standing, by_branch);
	for (uint32_t i = b->standing_count; i-- > 0;) {
		struct branch *x = &b->list[b->standing[i].branch];

		x->standing = i;
		x->standing_count++;
	}
}

/* ---- All of it -------------------------------------------------------------------------- */

static enum status load(struct branching *b, const struct resolved *what, struct err *err)
{
	struct call *c = b->call;

	if (note_state(c, &what->session, err) ||
	    ground_load_brief(c->store, what->session.row, &b->ground, err))
		return err_failed(err->status);
	warn_unread(c);
	if (!warn_grown(c, &b->ground.grove.forest))
		warn_grown_here(c);
	return headed_load(c, &b->ground.turns, &b->headed, err);
}

static enum status run_branches(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct branching b CLEANUP(
		branching_release) = { .call = c, .lines = { .store = c->store }, .own_head = FOREST_NONE };
	uint32_t most = call_int(c, "limit") ? (uint32_t)call_int(c, "limit") : UINT32_MAX;
	struct meant what;
	bool whole;
	struct place at;

	if (read_begin(c->store, &snapshot, err) ||
	    headed_meant_by(c, call_text(c, "id"), MEANT_MIRRORED, &what, &b.name, err) ||
	    load(&b, &what.mirrored, err) || place_find_end(&b.ground, &what.mirrored, &at, err))
		return err_failed(err->status);
	whole = b.name.p || what.mirrored.is_session;
	if (whole)
		want_own(&b, at.message);
	find_ways_on(&b);
	find_branches(&b, at.message);
	find_standing(&b);
	qsort_r(b.list, b.count, sizeof *b.list, last_first, &b);
	for (uint32_t i = 0; i < b.count && i < most; i++)
		if (emit_branch(&b, &b.list[i], err))
			return err_failed(err->status);
	if (b.count > most)
		call_note(c, "%u of %u branches; -n 0 lists all", most, b.count);
	else if (whole && b.count < 2)
		call_note(c, "it has no branches");
	return STATUS_OK;
}

const struct method claudecode_list_branches = {
	.name = "list_branches",
	.verb = "branches",
	.also = "branch forks",
	.group = "go back",
	.summary = "List the branches of a conversation, or the ways that lead on from a message or a turn",
	.text = "A conversation branches where it was rewound, forked or continued twice. Each branch is "
		"told by the "
		"id of its last message, how it begins, how many messages lie on it, when something was last "
		"said "
		"there, and which "
		"sessions would go on from somewhere on it. Each ends somewhere else: where ways part, the "
		"one that was last "
		"touched goes on and the others begin. Of a session its own way comes first, then all others "
		"of its "
		"tree, the "
		"last touched first; with --json 'first' is the message each begins with, and 'from' where "
		"it "
		"leaves.\n\n"
		"'arbor tree' draws them, 'arbor log ID' reads one, 'arbor diff ID ID' compares two, 'arbor "
		"fork ID' goes on with one.\n",
	.params = branch_params,
	.kind = RESULT_STREAM,
	.fields = branch_fields,
	.empty = "nothing follows this message",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "branches 24bf71fb", "of a conversation" },
					      { "branches @ -n 5 --json", "the last five, for programs" },
					      { 0 } },
	.run = run_branches,
};
