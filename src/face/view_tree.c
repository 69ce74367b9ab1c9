/*
 * memory.tree: turns drawn as a tree.
 *
 *     ● 1  57f3d945  fix the parser                  12 messages, 4 tools
 *     ├─● 2  7b86b870  no, the other one              3 messages
 *     │ ● 3  a90dff51  and now its tests              8 messages      ← 5abf9052
 *     │ ├─○ a16dbb5b Explore  find the tests          5 messages, 3 tools
 *     ● 2  51474354  use the lexer instead            5 messages      ⇐ 7c0de512
 *
 * A turn's id is what 'arbor fork' and 'arbor resume' take; programs have it from --json.
 *
 * The method gives turns in this order and says how far aside each is. What follows
 * something stays in its column, so a long conversation needs no more room than a short
 * one.
 */
#include "face/view.h"

#include "face/offer.h"
#include "face/text.h"

#include <limits.h>

enum { LEAST_TEXT = 20, LEAST_BEGINNING = 12, COLUMNS_LEFT = 2, AGENT_SHOWN = 8 };

/* Which columns nothing more follows in, and whether the turn in hand is left out. */
enum { RAILS = 40 };
struct rails {
	bool ended[RAILS];
	bool hidden;
	int64_t depth; /* of the turn in hand */
	struct buf project; /* folder of the conversation */
	struct buf at;	    /* id of the last turn on its way, as it is shown; empty = there is none */
	bool goes_on;	    /* others were drawn behind that */
};

/* ---- A turn ------------------------------------------------------------------- */

/* On a terminal they take at most a third of the line: of those further out only how many there are is told. */
static int64_t rails_left_out(const struct view *v, int64_t depth, struct buf *out)
{
	int64_t room = v->out->columns / 6, left = v->out->terminal && depth > room ? depth - room : 0;

	if (left)
		buf_printf(out, "%" PRId64 "… ", left);
	return left;
}

/* In front of what is in a turn. */
static void add_rails_beside(struct view *v, struct buf *out)
{
	const struct rails *r = v->state;

	for (int64_t i = rails_left_out(v, r->depth, out); i < r->depth && i < RAILS; i++)
		buf_text(out, r->ended[i] ? "  " : "│ ");
}

static void add_rails(struct view *v, const struct json *j, struct buf *out)
{
	struct rails *r = v->state;
	int64_t depth = view_int(j, 0, "depth");
	int64_t from = rails_left_out(v, depth, out);
	bool aside = json_bool(j, json_get(j, 0, STR("aside"))), last = json_bool(j, json_get(j, 0, STR("last")));

	r->depth = depth;
	for (int64_t i = 0; i < depth && i < RAILS; i++) {
		if (i < from) {
			r->ended[i] |= aside && i + 1 == depth && last;
		} else if (aside && i + 1 == depth) {
			r->ended[i] = last;
			buf_text(out, last ? "└─" : "├─");
		} else {
			buf_text(out, r->ended[i] ? "  " : "│ ");
		}
	}
}

static void add_count(struct buf *out, int64_t n, const char *what)
{
	if (n)
		buf_printf(out, "%s%" PRId64 " %s%s", out->n ? ", " : "", n, what, n == 1 ? "" : "s");
}

static int width_of(const struct buf *b)
{
	return text_width(buf_as_str(b));
}

/* One of those that would go on from here: a name, or an id, of which its beginning will do. */
static void add_head(struct view *v, const struct json *j, uint32_t one, int room, struct buf *out)
{
	enum { ID_SHOWN = 8 };
	struct buf safe CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str name = view_text(v, j, one, "name"), id = view_text(v, j, one, "session");

	term_filter(&safe, name.n ? name : v->out->terminal ? str_sub(id, 0, ID_SHOWN) : id, TERM_LINE);
	text_cut(out, buf_as_str(&safe), room, false);
}

/* Who would go on from here. */
struct heads {
	struct buf asked;  /* the session that was asked for */
	struct buf others; /* and how many more */
};

static void heads_release(struct heads *h)
{
	buf_release(&h->asked);
	buf_release(&h->others);
}

#define HEADS_INIT \
	{ \
		BUF_INIT(MIB), BUF_INIT(MIB) \
	}

static int width_of_heads(const struct heads *h)
{
	return width_of(&h->asked) + (h->asked.n && h->others.n ? 1 : 0) + width_of(&h->others);
}

/* As many as there is room for, and one at least: the one that was asked for comes first. On a terminal in
 * one of so many parts of a line. */
static void add_heads(struct view *v, const struct json *j, int part, struct heads *h)
{
	enum { ARROW = 2 };
	int room = v->out->terminal ? v->out->columns / part : INT_MAX;
	uint32_t list = json_get(j, json_root(j), STR("here")), at = 0;

	for (uint32_t i = json_first(j, list); list != JSON_NONE && i != json_end(j, list); i = json_next(j, i), at++) {
		struct buf one CLEANUP(buf_release) = BUF_INIT(MIB);
		bool asked = json_bool(j, json_get(j, i, STR("asked")));
		struct buf *out = asked ? &h->asked : &h->others;

		add_head(v, j, i, room - ARROW, &one);
		if (at && width_of_heads(h) + 1 + (out->n ? 0 : ARROW) + width_of(&one) > room)
			break;
		buf_text(out, out->n ? " " : asked ? "⇐ " : "← ");
		buf_str(out, buf_as_str(&one));
	}
	if (json_count(j, list) > at)
		buf_printf(&h->others, "%s+%" PRIu32, h->others.n ? " " : "", json_count(j, list) - at);
}

static void print_heads(struct view *v, const struct heads *h)
{
	if (width_of_heads(h))
		out_text(v->out, "  ");
	if (h->asked.n)
		out_styled(v->out, STYLE_HEADING, buf_as_str(&h->asked));
	if (h->asked.n && h->others.n)
		out_text(v->out, " ");
	if (h->others.n)
		out_styled(v->out, STYLE_ID, buf_as_str(&h->others));
}

/* What a turn is called by: its number and, for people, its id; the first of a sub-agent by that's id and type. */
struct label {
	struct buf number, id, type;
};

static void label_release(struct label *l)
{
	buf_release(&l->number);
	buf_release(&l->id);
	buf_release(&l->type);
}

static void add_label(struct view *v, const struct json *j, struct label *l)
{
	struct str agent = view_text(v, j, 0, "agent"), type = view_text(v, j, 0, "agent_type");

	if (!agent.n || view_int(j, 0, "number") > 1) {
		buf_printf(&l->number, "%" PRId64 "  ", view_int(j, 0, "number"));
		view_short(v, &l->id, j, "id", VALUE_ID);
	} else {
		term_filter(&l->id, v->out->terminal ? str_sub(agent, 0, AGENT_SHOWN) : agent, TERM_LINE);
		buf_text(&l->type, type.n ? " " : "");
		term_filter(&l->type, type, TERM_LINE);
	}
	buf_text(&l->type, "  ");
}

static void add_text(struct view *v, const struct json *j, struct buf *out)
{
	if (str_eq(view_text(v, j, 0, "origin"), STR("compaction")))
		buf_text(out, "(compacted) ");
	term_filter(out, view_text(v, j, 0, "text"), TERM_LINE);
}

/* What stands behind the text of a turn. */
struct behind {
	struct buf counts, at, attached;
	struct heads heads;
};

static void behind_release(struct behind *b)
{
	buf_release(&b->counts);
	buf_release(&b->at);
	buf_release(&b->attached);
	heads_release(&b->heads);
}

static int room_left(const struct view *v, int front, const struct behind *b)
{
	int heads = width_of_heads(&b->heads);
	int used = front + width_of(&b->counts) + width_of(&b->at) + width_of(&b->attached) + heads;

	return v->out->columns - used - COLUMNS_LEFT * ((b->counts.n > 0) + (b->at.n > 0) + (heads > 0));
}

/* Whose file it is in from here on, where that of another ends above. */
static void add_owner(struct view *v, const struct json *j, struct buf *out)
{
	struct buf id CLEANUP(buf_release) = BUF_INIT(KIB);

	view_short(v, &id, j, "in", VALUE_ID);
	if (id.n)
		buf_printf(out, "%sin %.*s", out->n ? ", " : "", STR_ARG(buf_as_str(&id)));
}

/* Gathers it; where the line is too short for all of it and a few words, what says least goes. */
static int add_behind(struct view *v, const struct json *j, int front, struct behind *b)
{
	int64_t says = view_int(j, 0, "says");

	add_count(&b->counts, says, "message");
	add_count(&b->counts, view_int(j, 0, "calls"), "tool");
	add_owner(v, j, &b->counts);
	add_heads(v, j, 3, &b->heads);
	view_attached(v, &b->attached, j, "  ", true);
	/* When it was is wanted where a way ends, or begins. */
	if (v->out->terminal && (width_of_heads(&b->heads) || json_bool(j, json_get(j, 0, STR("aside")))))
		view_short(v, &b->at, j, "at", VALUE_TIME);
	if (!v->out->terminal)
		return INT_MAX;
	if (room_left(v, front, b) < LEAST_TEXT) {
		buf_clear(&b->counts);
		add_count(&b->counts, says, "message");
	}
	if (room_left(v, front, b) < LEAST_TEXT)
		buf_clear(&b->at);
	if (room_left(v, front, b) < LEAST_TEXT)
		buf_clear(&b->counts);
	return room_left(v, front, b);
}

static void print_turn(struct view *v, const struct json *j)
{
	struct buf rails CLEANUP(buf_release) = BUF_INIT(KIB);
	struct label l CLEANUP(
		label_release) = { .number = BUF_INIT(KIB), .id = BUF_INIT(MIB), .type = BUF_INIT(MIB) };
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	struct behind b CLEANUP(behind_release) = {
		.counts = BUF_INIT(KIB), .at = BUF_INIT(KIB), .attached = BUF_INIT(MIB), .heads = HEADS_INIT
	};
	int room;

	add_rails(v, j, &rails);
	buf_text(&rails, view_text(v, j, 0, "agent").n ? "○ " : "● ");
	add_label(v, j, &l);
	add_text(v, j, &text);
	room = add_behind(v, j, width_of(&rails) + width_of(&l.number) + width_of(&l.id) + width_of(&l.type), &b);
	text_cut(&cut, buf_as_str(&text), room < LEAST_TEXT ? LEAST_TEXT : room, false);
	out_styled(v->out, STYLE_DIM, buf_as_str(&rails));
	out_str(v->out, buf_as_str(&l.number));
	if (l.id.n)
		out_styled(v->out, STYLE_ID, buf_as_str(&l.id));
	out_str(v->out, buf_as_str(&l.type));
	out_str(v->out, buf_as_str(&cut));
	if (b.counts.n) {
		out_text(v->out, "  ");
		out_styled(v->out, STYLE_DIM, buf_as_str(&b.counts));
	}
	if (b.at.n) {
		out_text(v->out, "  ");
		out_styled(v->out, STYLE_DIM, buf_as_str(&b.at));
	}
	out_styled(v->out, STYLE_NAME, buf_as_str(&b.attached));
	print_heads(v, &b.heads);
	out_text(v->out, "\n");
}

/* ---- Everything else ------------------------------------------------------------ */

static void print_session(struct view *v, const struct json *j)
{
	view_title(v, j);
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "project", VALUE_PATH, STYLE_PLAIN);
	view_field(v, j, "updated", VALUE_TIME, STYLE_DIM);
	out_text(v->out, "\n");
	view_facts(v, j);
}

/* How it begins, in what is left of the line behind so many columns. */
static void print_beginning(struct view *v, const struct json *j, int used)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	int room = v->out->terminal ? v->out->columns - used : INT_MAX;

	term_filter(&text, view_text(v, j, 0, "text"), TERM_LINE);
	text_cut(&cut, buf_as_str(&text), room < LEAST_BEGINNING ? LEAST_BEGINNING : room, false);
	out_str(v->out, buf_as_str(&cut));
}

static void print_message(struct view *v, const struct json *j)
{
	enum { INDENT = 4, ROLE = 9, GAP = 2 };
	struct str role = view_text(v, j, 0, "role");
	struct buf rails CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf measured CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf ways CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf attached CLEANUP(buf_release) = BUF_INIT(MIB);
	struct heads heads CLEANUP(heads_release) = HEADS_INIT;

	add_rails_beside(v, &rails);
	if (v->out->terminal)
		add_heads(v, j, 6, &heads);
	view_attached(v, &attached, j, "  ", true);
	if (view_int(j, 0, "branches") > 1)
		buf_printf(&ways, "%" PRId64 " ways on  ", view_int(j, 0, "branches"));
	view_short(v, &measured, j, "id", VALUE_ID);
	view_short(v, &measured, j, "at", VALUE_TIME);
	out_styled(v->out, STYLE_DIM, buf_as_str(&rails));
	out_pad(v->out, INDENT);
	out_styled(v->out, STYLE_DIM, role);
	out_pad(v->out, ROLE - text_width(role));
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
	out_pad(v->out, GAP);
	out_str(v->out, buf_as_str(&ways));
	print_beginning(v, j,
			width_of(&rails) + INDENT + ROLE + 3 * GAP + width_of(&measured) + width_of(&ways) +
				width_of(&attached) +
				(width_of_heads(&heads) ? GAP + width_of_heads(&heads) : 0));
	out_styled(v->out, STYLE_NAME, buf_as_str(&attached));
	print_heads(v, &heads);
	out_text(v->out, "\n");
}

/* ---- Of somebody's own ----------------------------------------------------------- */

static void print_made_tree(struct view *v, const struct json *j)
{
	out_styled(v->out, STYLE_NAME, STR("tree"));
	view_field(v, j, "id", VALUE_ID, STYLE_ID);
	view_field(v, j, "owner", VALUE_TEXT, STYLE_PLAIN);
	view_field(v, j, "at", VALUE_TIME, STYLE_DIM);
	view_field(v, j, "metadata", VALUE_JSON, STYLE_PLAIN);
	out_text(v->out, "\n");
}

static void print_node(struct view *v, const struct json *j)
{
	struct buf rails CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf front CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf attached CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str role = view_text(v, j, 0, "role"), state = view_text(v, j, 0, "state");

	add_rails(v, j, &rails);
	view_attached(v, &attached, j, "  ", true);
	buf_byte(&front, ' ');
	if (state.n)
		buf_printf(&front, "(%.*s) ", STR_ARG(state));
	if (role.n && !str_eq(role, STR("note")))
		buf_printf(&front, "%.*s: ", STR_ARG(role));
	out_styled(v->out, STYLE_DIM, buf_as_str(&rails));
	buf_clear(&rails);
	view_short(v, &rails, j, "id", VALUE_ID);
	out_styled(v->out, STYLE_ID, buf_as_str(&rails));
	out_foreign(v->out, buf_as_str(&front), TERM_LINE);
	print_beginning(v, j, 2 * (int)view_int(j, 0, "depth") + width_of(&rails) + width_of(&front) +
				      width_of(&attached));
	out_styled(v->out, STYLE_NAME, buf_as_str(&attached));
	out_text(v->out, "\n");
}

/* Where the session that was asked for is. Ways aside come first; where others went on from there, these come
 * behind. */
static void take_turn(struct view *v, const struct json *j)
{
	struct rails *r = v->state;

	if (view_text(v, j, 0, "agent").n)
		return;
	r->goes_on = !json_bool(j, json_get(j, 0, STR("current")));
	if (r->goes_on)
		return;
	buf_clear(&r->at);
	view_short(v, &r->at, j, "id", VALUE_ID);
}

static void tree_item(struct view *v, const struct json *j)
{
	struct str kind = view_text(v, j, 0, "kind");
	struct rails *r = v->state;

	if (str_eq(kind, STR("turn")))
		r->hidden = json_bool(j, json_get(j, 0, STR("warmup")));
	if (str_eq(kind, STR("session")))
		buf_str(&r->project, view_path(v, j, 0, "project"));
	else if (str_eq(kind, STR("turn")) && v->out->terminal)
		take_turn(v, j);
	if (str_eq(kind, STR("session")))
		print_session(v, j);
	else if (r->hidden)
		return;
	else if (str_eq(kind, STR("turn")))
		print_turn(v, j);
	else if (str_eq(kind, STR("message")))
		print_message(v, j);
	else if (str_eq(kind, STR("tree")))
		print_made_tree(v, j);
	else if (str_eq(kind, STR("node")))
		print_node(v, j);
}

static void tree_begin(struct view *v)
{
	struct rails *r = v->state;

	buf_init(&r->project, LIMIT_PATH);
	buf_init(&r->at, KIB);
}

static void tree_end(struct view *v, enum status status)
{
	struct rails *r = v->state;
	struct buf back CLEANUP(buf_release) = BUF_INIT(MIB);

	(void)status;
	if (r->at.n && !v->out->quiet) {
		offer_resume(v->face, &back, r->at.p, buf_as_str(&r->project));
		view_commands(
			v,
			r->goes_on
				? "Go back to before a turn by its id, here the one at ⇐, and try another "
				  "way:"
				: "Go back to before a turn by its id, here the last, and try another way:",
			(const struct buf *[]){ &back }, 1);
	}
	buf_release(&r->project);
	buf_release(&r->at);
}

const struct view_kind view_tree = {
	.method = "memory.tree",
	.state = sizeof(struct rails),
	.begin = tree_begin,
	.item = tree_item,
	.end = tree_end,
};
