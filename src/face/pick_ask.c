/*
 * What the picker asks the hub: the sessions last touched, or a search; and for the preview of a
 * row what was found with all around it, or what was asked last in a session.
 *
 * Whoever types waits for none of it: each result that comes is a moment to ask whether the
 * question is stale, and then the call ends. An answer is put together apart and replaces the one
 * before only when it is complete.
 */
#include "face/pick.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "face/text.h"

#include <string.h>

enum {
	AROUND = 16 * 1024, /* bytes of a text before and behind what was found */
	FIRST_ROOM = 64,    /* rows */
	COMPARED = 200,     /* rows whose folders are told apart */
	LITTLE = 256,
	PROMPT_BYTES = 600, /* of a prompt in the preview */
	WHOLE_WORD = 3,	    /* letters: what is shorter is not taken for the beginning of a word */
	BLOCK_BYTES = 4 * 1024 * 1024,
};

void pick_answer_release(struct pick_answer *a)
{
	arena_release(&a->mem);
	mem_free(a->rows);
	*a = (struct pick_answer){ 0 };
}

void pick_preview_release(struct pick_preview *p)
{
	arena_release(&p->mem);
	p->of = (struct str){ 0 };
	p->head = p->count = 0;
}

/* ---- Calling ---------------------------------------------------------------------- */

/* A call whose items go to `take`, read. */
struct asking {
	const struct pick_question *question;
	void (*take)(struct asking *a, const struct json *j);
	struct arena *mem;
	void *ctx;
};

static enum status take_item(void *ctx, struct str text, struct err *err)
{
	struct asking *a = ctx;
	struct json j CLEANUP(json_release) = JSON_INIT;

	if (a->question->is_stale && a->question->is_stale(a->question->ctx))
		return err_fail(err, STATUS_CANCELLED, "no longer wanted");
	if (json_read(&j, text, 0, err))
		return err_failed(err->status);
	a->take(a, &j);
	return STATUS_OK;
}

static enum status take_no_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)ctx;
	(void)bytes;
	return err_fail(err, STATUS_INTERNAL, "bytes where items were expected");
}

static enum status ask(struct face *f, struct asking *a, const char *method, struct str params,
		       struct err *err)
{
	struct hub_caller who = {
		.sink = { .item = take_item, .bytes = take_no_bytes, .ctx = a },
		.log = &f->log,
		.settings = f->settings,
		.cancel = f->cancel,
		.scopes = 1u << SCOPE_READ,
		.open_store = face_open_store,
		.ctx = f,
	};

	return hub_call(f->hub, str_of(method), params, &who, err);
}

/* ---- Values ----------------------------------------------------------------------- */

static struct str text_of(struct asking *a, const struct json *j, const char *name)
{
	struct str s = json_string_in(j, json_get(j, json_root(j), str_of(name)), a->mem);

	return arena_str(a->mem, s); /* what stands in the item goes with it */
}

static struct str filtered(struct arena *mem, struct str raw)
{
	return marked_filter(mem, raw, NULL, TERM_LINE).text;
}

static int64_t time_of(const struct json *j, const char *name)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	int64_t ms = 0;

	if (!time_parse(json_string_in(j, json_get(j, json_root(j), str_of(name)), &mem), &ms))
		return 0;
	return ms;
}

/* ---- Rows ------------------------------------------------------------------------- */

static struct pick_row *add_row(struct asking *a, const struct json *j, const char *id, const char *at)
{
	struct pick_answer *answer = a->ctx;
	struct pick_row *row;

	if (answer->count == answer->room) {
		answer->room = answer->room ? 2 * answer->room : FIRST_ROOM;
		answer->rows = mem_resize(answer->rows, answer->room * sizeof *answer->rows);
	}
	row = &answer->rows[answer->count++];
	*row = (struct pick_row){ 0 };
	row->session = text_of(a, j, id);
	row->project = text_of(a, j, "project");
	row->title = filtered(a->mem, text_of(a, j, "title"));
	row->at = time_of(j, at);
	return row;
}

/* Counts an item. One more than is wanted only says that there are more. */
static bool is_full(struct asking *a)
{
	struct pick_answer *answer = a->ctx;

	answer->is_cut = answer->items++ >= a->question->most;
	return answer->is_cut;
}

static void take_session(struct asking *a, const struct json *j)
{
	struct pick_row *row;

	if (is_full(a))
		return;
	row = add_row(a, j, "id", "updated");
	row->branch = filtered(a->mem, text_of(a, j, "branch"));
	json_to_i64(j, json_get(j, json_root(j), STR("messages")), &row->messages);
}

static struct pick_row *row_of_session(struct asking *a, const struct json *j)
{
	struct pick_answer *answer = a->ctx;
	uint32_t session = json_get(j, json_root(j), STR("session"));

	for (size_t i = 0; i < answer->count; i++)
		if (json_string_eq(j, session, answer->rows[i].session))
			return &answer->rows[i];
	return NULL;
}

/* Sessions are chosen here: what was found in none has a row only where every hit has. */
static void take_hit(struct asking *a, const struct json *j)
{
	struct pick_row *row = a->question->every_hit ? NULL : row_of_session(a, j);

	if ((!a->question->every_hit && !text_of(a, j, "session").n) || is_full(a))
		return;
	if (row) {
		row->more++;
		return;
	}
	row = add_row(a, j, "session", "at");
	row->hit = text_of(a, j, "id");
	row->in = filtered(a->mem, text_of(a, j, "in"));
	row->snippet = text_of(a, j, "snippet");
	marks_read(j, json_get(j, json_root(j), STR("marks")), row->snippet, &row->marks);
	row->line = marked_filter(a->mem, row->snippet, &row->marks, TERM_LINE);
}

/* As much of each folder as tells it from those of the others: of the first rows, which are mostly all. */
static void name_folders(struct pick_answer *answer)
{
	struct str all[COMPARED];
	size_t count = size_min(answer->count, COMPARED);

	for (size_t i = 0; i < count; i++)
		all[i] = answer->rows[i].project;
	for (size_t i = 0; i < answer->count; i++) {
		struct pick_row *row = &answer->rows[i];

		row->folder = filtered(&answer->mem, text_distinct_folders(row->project, all, count));
	}
}

/* ---- Questions -------------------------------------------------------------------- */

static bool is_letter(char c)
{
	return is_ascii_alnum(c) || (unsigned char)c >= 0x80;
}

/* Where the last word begins; its end when there is none that could go on. */
static size_t last_word(struct str typed)
{
	size_t from = typed.n, quotes = 0;

	for (size_t i = 0; i < typed.n; i++)
		quotes += typed.p[i] == '"';
	while (quotes % 2 == 0 && from > 0 && is_letter(typed.p[from - 1]))
		from--;
	/* The value of a filter, an operator: these are whole. */
	if (from > 0 && typed.p[from - 1] == ':')
		return typed.n;
	return from;
}

void pick_words(struct str typed, struct buf *out)
{
	struct str word = str_sub(typed, last_word(typed), SIZE_MAX);

	buf_str(out, typed);
	if (word.n >= WHOLE_WORD && !str_eq(word, STR("AND")) && !str_eq(word, STR("NOT")) &&
	    !str_eq(word, STR("NEAR")))
		buf_byte(out, '*');
}

static void write_words(struct json_writer *w, const struct pick_question *q)
{
	struct buf words CLEANUP(buf_release) = BUF_INIT(MIB);

	if (q->is_typed)
		pick_words(q->words, &words);
	else
		buf_str(&words, q->words);
	json_write_key(w, STR("words"));
	json_write_array_begin(w);
	json_write_string(w, buf_as_str(&words));
	json_write_array_end(w);
}

/* `each`: at most so many hits of a session; 0 = all. */
static enum status write_params(const struct pick_question *q, int64_t each, struct buf *out, struct err *err)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	if (q->words.n)
		write_words(&w, q);
	if (q->project.p)
		put_text(&w, "project", q->project);
	put_int(&w, "limit", (int64_t)q->most + 1);
	if (each)
		put_int(&w, "each", each);
	json_write_object_end(&w);
	return json_write_done(&w, err);
}

/* What the hits so far have left out: the best of each session, those that have a row passed over. */
static void take_other(struct asking *a, const struct json *j)
{
	struct pick_answer *answer = a->ctx;

	if (row_of_session(a, j))
		return;
	answer->items = answer->count;
	take_hit(a, j);
}

static enum status ask_for_others(struct face *f, const struct pick_question *q, struct pick_answer *out,
				  struct err *err)
{
	struct asking a = { .question = q, .take = take_other, .mem = &out->mem, .ctx = out };
	struct buf params CLEANUP(buf_release) = BUF_INIT(MIB);

	out->is_cut = false;
	return write_params(q, 1, &params, err) || ask(f, &a, "memory.search", buf_as_str(&params), err)
		       ? err_failed(err->status)
		       : STATUS_OK;
}

/* A search advises to use its options, which the picker has not got: what is said of one is left out. */
static void drop_options(struct err *err)
{
	struct buf kept CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	struct str rest = str_of(err->text);

	while (rest.n) {
		const char *end = memmem(rest.p + 1, rest.n - 1, "; ", 2);
		struct str part = end ? str_sub(rest, 0, (size_t)(end - rest.p)) : rest;

		if (!kept.n || !memmem(part.p, part.n, " --", 3))
			buf_str(&kept, part);
		rest = str_sub(rest, part.n, SIZE_MAX);
	}
	err_set(err, err->status, "%.*s", STR_ARG(buf_as_str(&kept)));
}

static enum status ask_once(struct face *f, const struct pick_question *q, struct pick_answer *out,
			    struct err *err)
{
	struct pick_answer fresh CLEANUP(pick_answer_release) = { 0 };
	struct asking a = {
		.question = q, .take = q->words.n ? take_hit : take_session, .mem = &fresh.mem, .ctx = &fresh
	};
	struct buf params CLEANUP(buf_release) = BUF_INIT(MIB);

	if (write_params(q, 0, &params, err) ||
	    ask(f, &a, q->words.n ? "memory.search" : "memory.sessions", buf_as_str(&params), err)) {
		drop_options(err);
		return err_failed(err->status);
	}
	if (fresh.is_cut && q->is_whole && q->words.n && !q->every_hit && ask_for_others(f, q, &fresh, err))
		return err_failed(err->status);
	name_folders(&fresh);
	if (fresh.count == 0)
		return err_fail(err, STATUS_NOT_FOUND, "no sessions");
	pick_answer_release(out);
	*out = fresh;
	fresh = (struct pick_answer){ 0 };
	return STATUS_OK;
}

enum status pick_ask(struct face *f, const struct pick_question *q, struct pick_answer *out, struct err *err)
{
	enum status status = ask_once(f, q, out, err);
	struct pick_question whole = *q;

	/* What nothing begins with is told about as it was typed. */
	if (status != STATUS_NOT_FOUND || !q->is_typed || !q->words.n)
		return status;
	whole.is_typed = false;
	return ask_once(f, &whole, out, err);
}

/* ---- Preview ---------------------------------------------------------------------- */

static void add_paragraph(struct pick_preview *p, enum style style, struct marked text)
{
	if (p->count < PREVIEW_PARAGRAPHS)
		p->list[p->count++] = (struct pick_paragraph){ .style = style, .text = text };
}

static void add_line(struct pick_preview *p, enum style style, struct str safe)
{
	add_paragraph(p, style, (struct marked){ .text = safe });
}

/* Title, where and when, the id; an empty line. */
static void add_head(struct pick_preview *p, const struct pick_row *row)
{
	struct buf facts CLEANUP(buf_release) = BUF_INIT(MIB);
	char at[LOCAL_TEXT];

	term_filter(&facts, row->project, TERM_LINE);
	if (row->branch.n)
		buf_printf(&facts, "  %.*s", STR_ARG(row->branch));
	add_line(p, STYLE_HEADING, arena_str(&p->mem, row->title));
	add_line(p, STYLE_NAME, arena_str(&p->mem, buf_as_str(&facts)));
	buf_clear(&facts);
	buf_printf(&facts, "%.*s  %s", STR_ARG(row->session), row->at ? local_time_text(row->at, at) : "");
	if (row->messages)
		buf_printf(&facts, "  %" PRId64 " messages", row->messages);
	if (row->in.n)
		buf_printf(&facts, "  %.*s", STR_ARG(row->in));
	if (row->more)
		buf_printf(&facts, "  and %d more here", row->more);
	add_line(p, STYLE_DIM, arena_str(&p->mem, buf_as_str(&facts)));
	add_line(p, STYLE_PLAIN, STR(" "));
	p->head = p->count;
}

/* All texts in a block, also those inside what was given to a tool. */
static void add_strings(const struct json *j, uint32_t node, struct buf *out)
{
	for (uint32_t i = node; i != JSON_NONE && i < json_end(j, node); i++) {
		if (!json_is(j, i, JSON_STRING) || json_is_key(j, i))
			continue;
		if (out->n)
			buf_byte(out, '\n');
		json_string(j, i, out);
	}
}

static bool is_told_elsewhere(const struct json *j, uint32_t key)
{
	return json_string_eq(j, key, STR("id")) || json_string_eq(j, key, STR("kind")) ||
	       json_string_eq(j, key, STR("tool_id")) || json_string_eq(j, key, STR("handle"));
}

/* Where the part begins that is shown: at a line, or in a very long one a little before. */
static size_t begin_around(struct str text, size_t found)
{
	size_t near = found > AROUND ? found - AROUND : 0, from = near;

	if (near == 0)
		return 0;
	while (from < found && text.p[from - 1] != '\n')
		from++;
	if (from < found)
		return from;
	for (from = found - LITTLE; from < found && (text.p[from] & 0xC0) == 0x80;)
		from++;
	return from;
}

/* A part of the text with what was found in it. */
static void add_around(struct pick_preview *p, struct str text, struct marks *marks)
{
	size_t found = marks->list[0].start, from = begin_around(text, found);

	text = str_sub(text, from, found - from + AROUND);
	for (size_t i = 0; i < marks->count; i++) {
		marks->list[i].start -= from;
		marks->list[i].end -= from;
		if (marks->list[i].end > text.n)
			marks->count = i;
	}
	add_paragraph(p, STYLE_PLAIN, marked_filter(&p->mem, text, marks, TERM_TEXT));
}

struct previewing {
	struct pick_preview *preview;
	const struct pick_row *row;
	bool found;
};

static void take_block(struct previewing *v, const struct json *j, uint32_t block)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(BLOCK_BYTES);
	struct marks marks;

	for (uint32_t k = json_first(j, block); k != json_end(j, block); k = json_next(j, k + 1))
		if (!is_told_elsewhere(j, k))
			add_strings(j, k + 1, &text);
	if (!text.n || !v->row->marks.count ||
	    !marks_find(buf_as_str(&text), v->row->snippet, &v->row->marks, &marks) || !marks.count)
		return;
	v->found = true;
	add_around(v->preview, buf_as_str(&text), &marks);
}

static void take_message(struct asking *a, const struct json *j)
{
	struct previewing *v = a->ctx;
	uint32_t blocks = json_get(j, json_root(j), STR("blocks"));

	for (uint32_t i = json_first(j, blocks); i != json_end(j, blocks) && !v->found; i = json_next(j, i))
		if (json_string_eq(j, json_get(j, i, STR("id")), v->row->hit))
			take_block(v, j, i);
}

/* Prompts come from the first to the last; the newest are kept. */
static void take_turn(struct asking *a, const struct json *j)
{
	struct previewing *v = a->ctx;
	struct pick_preview *p = v->preview;
	struct str text = text_of(a, j, "text");

	if (!json_string_eq(j, json_get(j, json_root(j), STR("origin")), STR("human")) || !text.n)
		return;
	if (p->count == PREVIEW_PARAGRAPHS) {
		p->count--;
		memmove(p->list + p->head, p->list + p->head + 1, (p->count - p->head) * sizeof *p->list);
	}
	text = str_sub(text, 0, PROMPT_BYTES);
	text.n = utf8_valid_prefix(text);
	add_line(p, STYLE_PLAIN, filtered(a->mem, text));
	p->list[p->count - 1].is_item = true;
}

/* The newest first: they say best where a session was left. */
static void turn_round(struct pick_preview *p)
{
	for (size_t i = p->head, k = p->count; i + 1 < k; i++) {
		struct pick_paragraph q = p->list[--k];

		p->list[k] = p->list[i];
		p->list[i] = q;
	}
}

/* A block is wanted whole, and by a method that takes several. */
static enum status write_id(struct str id, bool is_block, struct buf *out, struct err *err)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	if (is_block) {
		put_bool(&w, "full", true);
		json_write_key(&w, STR("id"));
		json_write_array_begin(&w);
		json_write_string(&w, id);
		json_write_array_end(&w);
	} else {
		put_text(&w, "id", id);
	}
	json_write_object_end(&w);
	return json_write_done(&w, err);
}

enum status pick_preview(struct face *f, const struct pick_row *row, const struct pick_question *q,
			 struct pick_preview *p, struct err *err)
{
	struct previewing v = { .preview = p, .row = row };
	struct asking a = {
		.question = q, .take = row->hit.n ? take_message : take_turn, .mem = &p->mem, .ctx = &v
	};
	struct str id = row->hit.n ? row->hit : row->session;
	struct buf params CLEANUP(buf_release) = BUF_INIT(MIB);
	enum status status;

	pick_preview_release(p);
	add_head(p, row);
	status = write_id(id, row->hit.n > 0, &params, err);
	if (status == STATUS_OK)
		status = ask(f, &a, row->hit.n ? "memory.show" : "memory.tree", buf_as_str(&params), err);
	if (status != STATUS_CANCELLED)
		p->of = arena_str(&p->mem, id);
	if (row->hit.n && !v.found)
		add_paragraph(p, STYLE_PLAIN, marked_filter(&p->mem, row->snippet, &row->marks, TERM_LINE));
	turn_round(p);
	return status;
}
