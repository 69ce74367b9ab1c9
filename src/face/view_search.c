/*
 * memory.search on a terminal: hits below the session they are in, what was found
 * standing out.
 *
 * Hits come best first and sessions alternate. They are held back and printed by
 * session, that of the best hit first, in their order below it. Of very many, HELD at
 * a time: nobody waits for the last hit to read the first. With --group none they stay in
 * their order, and a heading stands where the session changes.
 *
 * What was found in no conversation stands below a heading of its file, with what kind of file that is in the place of
 * an id; the texts of one have the same, by which it is shown.
 *
 * A snippet comes with the byte ranges that matched. Filtering changes lengths, so
 * the text is filtered piece by piece between their edges and the ranges are kept
 * for what came out.
 */
#include "face/view.h"

#include "face/group.h"
#include "face/offer.h"
#include "face/text.h"

#include <string.h>

enum { MARKS = 64, LINES = 3, WHERE = 9, READABLE = 100, HELD = 200 };

/* A hit that is held back. What is shown of ids is known while the search runs. */
struct hit {
	struct str json;
	struct str id, session; /* as they are shown */
	struct str whole;	/* the session's id, or the file's path */
	struct str project;	/* as it is; empty = none */
	bool printed;
};

struct searching {
	struct arena mem; /* of the hits */
	struct hit hits[HELD];
	size_t count;
	bool begun; /* something stands above */
	struct buf offered; /* the session it is said of: that of the best hit with which one can go on */
	struct buf resume;  /* how to go on with it */
	struct buf back;    /* and to before the first hit in it that was said */
};

struct snippet {
	struct buf text;
	struct {
		size_t start, end;
	} marks[MARKS];
	size_t count;
};

static void snippet_release(struct snippet *s)
{
	buf_release(&s->text);
}

/* ---- Reading ----------------------------------------------------------------- */

/* Runs of white space become one blank: a snippet is a taste, not a layout. */
static void add_piece(struct snippet *s, struct str raw)
{
	size_t from = 0;

	for (size_t i = 0; i <= raw.n; i++) {
		bool blank = i < raw.n &&
			     (raw.p[i] == '\n' || raw.p[i] == '\t' || raw.p[i] == ' ' || raw.p[i] == '\r');

		if (i < raw.n && !blank)
			continue;
		term_filter(&s->text, str_sub(raw, from, i - from), TERM_LINE);
		from = i + 1;
		if (blank && s->text.n && s->text.p[s->text.n - 1] != ' ')
			buf_byte(&s->text, ' ');
	}
}

static void read_snippet(struct view *v, const struct json *j, struct snippet *s)
{
	struct str raw = view_text(v, j, 0, "snippet");
	uint32_t marks = json_get(j, 0, STR("marks"));
	size_t done = 0;

	for (uint32_t i = json_first(j, marks); i != json_end(j, marks) && s->count < MARKS;
	     i = json_next(j, i)) {
		int64_t start = view_int(j, i, "start"), length = view_int(j, i, "length");

		if (start < (int64_t)done || length <= 0 || start > (int64_t)raw.n ||
		    length > (int64_t)raw.n - start)
			continue; /* nothing that a search gives */
		add_piece(s, str_sub(raw, done, (size_t)start - done));
		s->marks[s->count].start = s->text.n;
		add_piece(s, str_sub(raw, (size_t)start, (size_t)length));
		s->marks[s->count++].end = s->text.n;
		done = (size_t)(start + length);
	}
	add_piece(s, str_sub(raw, done, SIZE_MAX));
}

/* ---- Printing ---------------------------------------------------------------- */

/* The bytes from..end of the snippet, with what of the marks lies in them. */
static void print_range(struct view *v, const struct snippet *s, size_t from, size_t end)
{
	struct str all = buf_as_str(&s->text);

	for (size_t i = 0; i < s->count && from < end; i++) {
		size_t start = s->marks[i].start < from ? from : s->marks[i].start;
		size_t stop = s->marks[i].end > end ? end : s->marks[i].end;

		if (start >= stop)
			continue;
		out_str(v->out, str_sub(all, from, start - from));
		out_styled(v->out, STYLE_MARK, str_sub(all, start, stop - start));
		from = stop;
	}
	if (from < end)
		out_str(v->out, str_sub(all, from, end - from));
}

/* Its first line stands where the cursor is: behind so many columns. */
static void print_snippet(struct view *v, const struct snippet *s, int indent)
{
	int columns = v->out->columns - indent;
	struct str line, rest = buf_as_str(&s->text);

	if (columns > READABLE)
		columns = READABLE;
	if (columns < 20)
		columns = 20;
	for (int i = 0; i < LINES && text_wrap(&rest, columns - (i + 1 == LINES), &line); i++) {
		size_t from = (size_t)(line.p - s->text.p);

		if (i)
			out_pad(v->out, indent);
		print_range(v, s, from, from + line.n);
		if (i + 1 == LINES && rest.n)
			out_text(v->out, "…");
		out_text(v->out, "\n");
	}
	if (!s->text.n)
		out_text(v->out, "\n");
}

/* What was said around a hit, a line each. */
static void print_around(struct view *v, const struct json *j, const char *key, int indent)
{
	uint32_t list = json_get(j, 0, str_of(key));

	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i)) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
		struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
		struct str in = view_text(v, j, i, "in");

		term_filter(&text, view_text(v, j, i, "text"), TERM_LINE);
		text_cut(&cut, buf_as_str(&text), v->out->columns - indent, false);
		out_pad(v->out, indent - WHERE);
		out_styled(v->out, STYLE_DIM, text_start(in, WHERE));
		out_pad(v->out, WHERE - text_width(text_start(in, WHERE)));
		out_styled(v->out, STYLE_DIM, buf_as_str(&cut));
		out_text(v->out, "\n");
	}
}

/* Sessions that have it, too. */
static void print_others(struct view *v, int64_t count, int indent)
{
	if (count <= 0)
		return;
	out_pad(v->out, indent);
	out_style(v->out, STYLE_DIM);
	out_printf(v->out, "also in %" PRId64 " other session%s", count, count == 1 ? "" : "s");
	out_plain(v->out);
	out_text(v->out, "\n");
}

static bool is_withdrawn(const struct json *j)
{
	return json_bool(j, json_get(j, 0, STR("withdrawn")));
}

static void print_withdrawn(struct view *v, int indent)
{
	out_pad(v->out, indent);
	out_styled(v->out, STYLE_DIM, STR("withdrawn: gone from the newest version of its file"));
	out_text(v->out, "\n");
}

/* Whether it was found in a file beside the conversations. */
static bool is_file(struct view *v, const struct json *j)
{
	struct str kind = view_text(v, j, 0, "kind");

	return kind.n > 0 && !str_eq(kind, STR("node"));
}

/* What it stands below: its conversation, or else the tree that somebody made. */
static const char *home_of(struct view *v, const struct json *j)
{
	return view_text(v, j, 0, "session").n ? "session" : "tree";
}

/* As much of its folder as tells it from those of the others. */
static struct str project_of(struct view *v, const struct hit *hit)
{
	const struct searching *s = v->state;
	struct str all[HELD];

	for (size_t i = 0; i < s->count; i++)
		all[i] = s->hits[i].project;
	return text_distinct_folders(hit->project, all, s->count);
}

/* Whose prompt and answer it is, where not the conversation's own; how many columns that took. */
static int print_agent(struct view *v, const struct json *j)
{
	static const char mark[] = "sub-agent  ";

	if (!view_text(v, j, 0, "agent").n)
		return 0;
	out_styled(v->out, STYLE_DIM, str_of(mark));
	return (int)sizeof mark - 1;
}

static void print_hit(struct view *v, const struct hit *hit, bool with_heading)
{
	struct snippet found CLEANUP(snippet_release) = { .text = BUF_INIT(64 * MIB) };
	struct searching *s = v->state;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct buf in CLEANUP(buf_release) = BUF_INIT(KIB);
	int indent = 2 + text_width(hit->id) + 2 + WHERE;
	struct err ignored;

	if (json_read(&j, hit->json, 0, &ignored))
		return; /* it has been read before */
	if (with_heading) {
		struct str title = is_file(v, &j) ? view_path(v, &j, 0, "path") : view_text(v, &j, 0, "title");

		/* When something was noted is not when the conversation was. */
		group_heading(v, hit->session, title, project_of(v, hit), &j,
			      view_text(v, &j, 0, "note").n ? "updated" : "at", s->begun);
		s->begun = true;
	}
	print_around(v, &j, "before", indent);
	view_short(v, &in, &j, "in", VALUE_TEXT);
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_ID, hit->id);
	out_text(v->out, "  ");
	out_styled(v->out, STYLE_DIM, text_start(buf_as_str(&in), WHERE));
	out_pad(v->out, WHERE - text_width(text_start(buf_as_str(&in), WHERE)));
	read_snippet(v, &j, &found);
	print_snippet(v, &found, indent + print_agent(v, &j));
	print_others(v, view_int(&j, 0, "also_in"), indent);
	if (is_withdrawn(&j))
		print_withdrawn(v, indent);
	print_around(v, &j, "after", indent);
}

static void print_in_order(struct view *v)
{
	struct searching *s = v->state;

	for (size_t i = 0; i < s->count; i++)
		print_hit(v, &s->hits[i], !i || !str_eq(s->hits[i].whole, s->hits[i - 1].whole));
}

static void print_by_session(struct view *v)
{
	struct searching *s = v->state;

	for (size_t i = 0; i < s->count; i++)
		for (size_t k = i; k < s->count && (k > i || !s->hits[i].printed); k++) {
			struct hit *hit = &s->hits[k];

			if (hit->printed || !str_eq(hit->whole, s->hits[i].whole))
				continue;
			print_hit(v, hit, k == i);
			hit->printed = true;
		}
}

static void print_held(struct view *v)
{
	struct searching *s = v->state;

	if (str_eq(view_param(v, "group"), STR("none")))
		print_in_order(v);
	else
		print_by_session(v);
	s->count = 0;
	arena_release(&s->mem);
}

static struct str shown(struct view *v, const struct json *j, const char *name, enum value_type type)
{
	struct searching *s = v->state;
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	view_short(v, &text, j, name, type);
	return arena_str(&s->mem, buf_as_str(&text));
}

/* Whether a prompt of the conversation led to what was found, to before which it can go back. */
static bool has_prompt(struct view *v, const struct json *j)
{
	static const char *const said[] = { "prompt", "answer", "thinking", "input", "output" };
	struct str in = view_text(v, j, 0, "in"), handle = view_text(v, j, 0, "handle");
	/* What the client answers itself stands elsewhere than what the model does. */
	bool is_said = handle.n && memmem(handle.p, handle.n, "::content:", 10);

	for (size_t i = 0; i < COUNT(said); i++)
		is_said |= str_eq(in, str_of(said[i]));
	return is_said && view_text(v, j, 0, "message").n && !view_text(v, j, 0, "queued").n;
}

/* Both commands are about one conversation. */
static void offer(struct view *v, const struct json *j, const struct hit *hit)
{
	struct searching *s = v->state;

	if (!s->offered.n) {
		buf_str(&s->offered, hit->whole);
		offer_resume(v->face, &s->resume, arena_cstr(&v->mem, hit->session), hit->project);
	}
	if (!s->back.n && str_eq(hit->whole, buf_as_str(&s->offered)) && has_prompt(v, j))
		offer_resume(v->face, &s->back, arena_printf(&v->mem, "%.*s --before", STR_ARG(hit->id)).p,
			     hit->project);
}

static void search_item(struct view *v, const struct json *j)
{
	struct searching *s = v->state;
	bool file = is_file(v, j);

	s->hits[s->count++] = (struct hit){
		.json = arena_str(&s->mem, json_raw(j, json_root(j))),
		.id = shown(v, j, "id", VALUE_ID),
		.session = shown(v, j, file ? "kind" : home_of(v, j), file ? VALUE_TEXT : VALUE_ID),
		.whole = arena_str(&s->mem, file ? view_path(v, j, 0, "path") : view_text(v, j, 0, home_of(v, j))),
		.project = arena_str(&s->mem, view_path(v, j, 0, "project")),
	};
	if (!file && !is_withdrawn(j) && view_text(v, j, 0, "session").n)
		offer(v, j, &s->hits[s->count - 1]);
	if (s->count == HELD)
		print_held(v);
}

static void search_end(struct view *v, enum status status)
{
	struct searching *s = v->state;

	(void)status;
	print_held(v);
	if (s->back.n && !v->out->quiet)
		view_commands(v, "Go on with it, or go back to before what was found and try another way:",
			      (const struct buf *[]){ &s->resume, &s->back }, 2);
	else if (s->resume.n && !v->out->quiet)
		view_commands(v, "Go on with it:", (const struct buf *[]){ &s->resume }, 1);
	buf_release(&s->offered);
	buf_release(&s->resume);
	buf_release(&s->back);
}

static void search_begin(struct view *v)
{
	struct searching *s = v->state;

	buf_init(&s->offered, MIB);
	buf_init(&s->resume, MIB);
	buf_init(&s->back, MIB);
}

const struct view_kind view_search = {
	.method = "memory.search",
	.terminal_only = true,
	.state = sizeof(struct searching),
	.begin = search_begin,
	.item = search_item,
	.end = search_end,
};

/* ---- Into a pipe, with what was said around ------------------------------------ */

/* The hit, or what was said beside it, in the same columns. */
static void print_columns(struct view *v, const struct json *j, uint32_t beside)
{
	bool first = true;

	for (const struct field *f = v->method->fields; f->name; f++) {
		struct buf cell CLEANUP(buf_release) = BUF_INIT(64 * MIB);
		struct field shown = *f;
		uint32_t from = json_root(j);

		if (f->flags & FIELD_HIDDEN)
			continue;
		if (beside != JSON_NONE && str_eq(str_of(f->name), STR("snippet")))
			shown.name = "text";
		if (beside != JSON_NONE && json_get(j, beside, str_of(shown.name)) != JSON_NONE)
			from = beside;
		view_value(v, &cell, j, from, &shown);
		out_text(v->out, first ? "" : "\t");
		out_styled(v->out, view_style(f), buf_as_str(&cell));
		first = false;
	}
	out_text(v->out, "\n");
}

static void print_side(struct view *v, const struct json *j, const char *key)
{
	uint32_t list = json_get(j, 0, str_of(key));

	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i))
		print_columns(v, j, i);
}

static void around_item(struct view *v, const struct json *j)
{
	print_side(v, j, "before");
	print_columns(v, j, JSON_NONE);
	print_side(v, j, "after");
}

const struct view_kind view_around = { .method = "memory.search", .given = "context", .item = around_item };
