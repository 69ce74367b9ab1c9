/*
 * As the client does it, found by comparing with what it really sent (test/oracle):
 *
 *   chain       from the line upwards. The last compaction on the way cuts it; what that
 *               preserved is put back behind its summary.
 *   repair      an answer's parts and results that are not on the chain, because calls ran
 *               side by side, come behind its last line that is.
 *   left out    failed requests, blank answers, what the client noted for itself.
 *   joined      the lines of one answer, also across its results; neighbouring user
 *               messages, results first.
 *   paired      a call without result is left out, and a result without call; of several
 *               results the first counts.
 *   thinking    alone is left out.
 *
 * First lines are put in order, which needs no bytes; then each is fetched and written.
 */
#include "query/context.h"

#include "base/hash.h"
#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>

/* What the client asks when an answer was cut off; it is in no file. */
static const char cut_off[] = "Output token limit hit. Resume directly — no apology, no recap of what you "
			      "were doing. Pick up mid-thought if "
			      "that is where the cut happened. Break remaining work into smaller pieces.";

struct list {
	uint32_t *at;
	uint32_t count, cap;
};

/* A message to be sent: its lines are those in `order` whose message this is. */
struct sent {
	bool is_user;
	uint32_t first;	 /* line */
	uint32_t lines;	 /* first of its list of steps */
	uint32_t last;	 /* step */
	bool has_prompt; /* a user's, and not results alone: answers before and behind it are two */
	bool cut_off;	 /* the client's own question */
};

/* A line's turn to be written, in the list of its message. */
struct step {
	uint32_t line, next;
};

struct context {
	struct lines *lines;
	const struct chain *c;
	struct arena mem;
	struct list order;	 /* lines as they are sent */
	uint32_t boundary;	 /* line of the compaction that cuts; CHAIN_NONE = none does */
	struct numbers on;	 /* lines in it */
	struct numbers used;	 /* calls */
	struct numbers answered; /* calls -> line with the first result */
	uint32_t *results;	 /* by answer: first of its results' list */
	uint32_t *next_result;	 /* by line */
	struct sent *sent;
	uint32_t sent_count;
	uint32_t *sent_of; /* by answer: the last message with lines of it, counted from 1; 0 = none */
	uint32_t prompted; /* the last message with a prompt, likewise */
	struct step *steps;
	uint32_t step_count;
	struct buf first_part, second_part; /* of the message being written: results, and the rest */
	struct json_writer writer;
};

static void context_release(struct context *x)
{
	mem_free(x->order.at);
	arena_release(&x->mem);
	buf_release(&x->first_part);
	buf_release(&x->second_part);
}

static void push(struct list *l, uint32_t line)
{
	if (l->count == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 256;
		l->at = mem_resize(l->at, l->cap * sizeof *l->at);
	}
	l->at[l->count++] = line;
}

/* ---- Chain ---------------------------------------------------------------------- */

/* From the top down to a line; a circle ends where it would begin again. */
static void add_chain(struct context *x, uint32_t line, struct list *out)
{
	struct numbers seen = numbers_new(&x->mem, x->c->line_count);
	uint32_t start = out->count;

	while (line != CHAIN_NONE && numbers_get(&seen, line) == NUMBERS_NONE) {
		numbers_put(&seen, line, 0);
		push(out, line);
		line = x->c->lines[line].parent;
	}
	for (uint32_t a = start, b = out->count; a + 1 < b; a++) {
		uint32_t kept = out->at[a];

		out->at[a] = out->at[--b];
		out->at[b] = kept;
	}
}

static uint32_t find_named(struct context *x, const struct json *j, uint32_t node)
{
	struct str text = json_string_in(j, node, &x->mem);
	struct uuid key;

	if (!text.n)
		return CHAIN_NONE;
	key = line_key(text);
	return chain_find(x->c, &key);
}

/* However often a line is named, it is sent once. */
static void push_once(struct numbers *seen, struct list *out, uint32_t line)
{
	if (line == CHAIN_NONE || numbers_get(seen, line) != NUMBERS_NONE)
		return;
	numbers_put(seen, line, 0);
	push(out, line);
}

/* The lines a compaction has kept, in their order. */
static void add_preserved(struct context *x, const struct json *j, uint32_t metadata, struct numbers *seen,
			  struct list *out)
{
	uint32_t uuids = json_get(j, json_get(j, metadata, STR("preservedMessages")), STR("uuids"));
	uint32_t segment = json_get(j, metadata, STR("preservedSegment")), head, at;

	if (json_is(j, uuids, JSON_ARRAY)) {
		for (uint32_t u = json_first(j, uuids); u != json_end(j, uuids); u = json_next(j, u))
			push_once(seen, out, find_named(x, j, u));
		return;
	}
	head = find_named(x, j, json_get(j, segment, STR("headUuid")));
	at = find_named(x, j, json_get(j, segment, STR("tailUuid")));
	if (head != CHAIN_NONE && at != CHAIN_NONE) {
		struct list chain = { 0 };
		uint32_t i = 0;

		add_chain(x, at, &chain);
		while (i < chain.count && chain.at[i] != head)
			i++;
		for (; i < chain.count; i++)
			push_once(seen, out, chain.at[i]);
		mem_free(chain.at);
	}
}

static enum status compact(struct context *x, struct list *chain, struct err *err)
{
	const struct json *j = &x->lines->reader.json;
	struct list kept = { 0 };
	struct numbers seen;
	struct record boundary;
	uint32_t at = chain->count, metadata, anchor;

	while (at > 0 && !(x->c->lines[chain->at[at - 1]].flags & RECORD_BOUNDARY))
		at--;
	if (at == 0)
		return STATUS_OK;
	x->boundary = chain->at[at - 1];
	if (lines_get(x->lines, &x->c->lines[x->boundary], &boundary, err))
		return err_failed(err->status);
	metadata = json_get(j, json_root(j), STR("compactMetadata"));
	anchor = find_named(x, j,
			    json_get(j, json_get(j, metadata, STR("preservedMessages")), STR("anchorUuid")));
	if (anchor == CHAIN_NONE)
		anchor = find_named(
			x, j, json_get(j, json_get(j, metadata, STR("preservedSegment")), STR("anchorUuid")));
	seen = numbers_new(&x->mem, x->c->line_count);
	for (uint32_t i = at; i < chain->count; i++) {
		push_once(&seen, &kept, chain->at[i]);
		if (chain->at[i] == anchor)
			add_preserved(x, j, metadata, &seen, &kept);
	}
	mem_free(chain->at);
	*chain = kept;
	return STATUS_OK;
}

/* ---- Repair --------------------------------------------------------------------- */

/* Instead of a line. */
#define UNKNOWN (CHAIN_NONE - 1)
#define ON_THE_WAY (CHAIN_NONE - 2)

/* The line that one hangs on, with its notes looked through; those on the way remember it. */
static uint32_t above_notes(const struct chain *c, uint32_t line, uint32_t *above)
{
	uint32_t up = c->lines[line].parent, at, found;

	for (at = up; at != CHAIN_NONE && c->lines[at].type == RECORD_PROGRESS && above[at] == UNKNOWN;
	     at = c->lines[at].parent)
		above[at] = ON_THE_WAY;
	if (at == CHAIN_NONE || c->lines[at].type != RECORD_PROGRESS)
		found = at;
	else
		found = above[at] == ON_THE_WAY ? CHAIN_NONE : above[at]; /* a circle, or known */
	for (at = up; at != CHAIN_NONE && c->lines[at].type == RECORD_PROGRESS && above[at] == ON_THE_WAY;
	     at = c->lines[at].parent)
		above[at] = found;
	return found;
}

/* Results by the answer whose lines they hang on, however many notes stand in between. */
static void list_results(struct context *x)
{
	const struct chain *c = x->c;
	uint32_t *above = arena_alloc(&x->mem, (c->line_count + 1) * sizeof *above);

	x->results = memset(arena_alloc(&x->mem, (c->answer_count + 1) * sizeof *x->results), 0xff,
			    (c->answer_count + 1) * sizeof *x->results);
	x->next_result = memset(arena_alloc(&x->mem, (c->line_count + 1) * sizeof *x->next_result), 0xff,
				(c->line_count + 1) * sizeof *x->next_result);
	for (uint32_t i = 0; i < c->line_count; i++)
		above[i] = UNKNOWN;
	for (uint32_t i = c->line_count; i-- > 0;) {
		const struct chain_line *l = &c->lines[i];
		uint32_t up;

		if (l->type != RECORD_USER || !(l->flags & RECORD_RESULT) || l->shadowed)
			continue;
		up = above_notes(c, i, above);
		if (up == CHAIN_NONE || c->lines[up].type != RECORD_ASSISTANT ||
		    c->lines[up].answer == CHAIN_NONE)
			continue;
		x->next_result[i] = x->results[c->lines[up].answer];
		x->results[c->lines[up].answer] = i;
	}
}

static int by_time(const void *a, const void *b, void *lines)
{
	const struct chain_line *l = lines;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (l[x].at != l[y].at)
		return l[x].at < l[y].at ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort_from(struct context *x, uint32_t start)
{
	if (x->order.count > start)
		qsort_r(x->order.at + start, x->order.count - start, sizeof *x->order.at, by_time,
			x->c->lines);
}

static void add_off_chain(struct context *x, uint32_t answer)
{
	const struct chain *c = x->c;
	uint32_t start = x->order.count;

	for (uint32_t i = c->answers[answer].first; i != CHAIN_NONE; i = c->lines[i].next)
		if (numbers_get(&x->on, i) == NUMBERS_NONE)
			push(&x->order, i);
	sort_from(x, start);
	start = x->order.count;
	for (uint32_t i = x->results[answer]; i != CHAIN_NONE; i = x->next_result[i])
		if (numbers_get(&x->on, i) == NUMBERS_NONE)
			push(&x->order, i);
	sort_from(x, start);
}

static void repair(struct context *x, const struct list *chain)
{
	const struct chain *c = x->c;
	struct numbers last = numbers_new(&x->mem, c->answer_count);

	x->on = numbers_new(&x->mem, c->line_count);
	for (uint32_t i = 0; i < chain->count; i++) {
		const struct chain_line *l = &c->lines[chain->at[i]];

		numbers_put(&x->on, chain->at[i], 0);
		if (l->type == RECORD_ASSISTANT && l->has_api && l->answer != CHAIN_NONE)
			numbers_put(&last, l->answer, i);
	}
	list_results(x);
	for (uint32_t i = 0; i < chain->count; i++) {
		uint32_t answer = c->lines[chain->at[i]].answer;

		push(&x->order, chain->at[i]);
		if (answer != CHAIN_NONE && numbers_get(&last, answer) == i)
			add_off_chain(x, answer);
	}
}

/* ---- Messages ------------------------------------------------------------------- */

static bool is_sent(const struct chain_line *l, bool *is_user)
{
	*is_user = l->type != RECORD_ASSISTANT;
	return l->type == RECORD_USER || l->type == RECORD_ATTACHMENT ||
	       (l->type == RECORD_ASSISTANT && !(l->flags & RECORD_ERROR)) ||
	       (l->type == RECORD_SYSTEM && (l->flags & RECORD_SENT));
}

static bool is_prompt(const struct chain_line *l)
{
	return (l->type == RECORD_USER && !(l->flags & RECORD_RESULT)) || l->type == RECORD_SYSTEM ||
	       (l->type == RECORD_ATTACHMENT && (l->flags & RECORD_QUEUED));
}

static void add_step(struct context *x, struct sent *m, uint32_t line)
{
	x->steps[x->step_count] = (struct step){ line, CHAIN_NONE };
	if (m->lines == CHAIN_NONE)
		m->lines = x->step_count;
	else
		x->steps[m->last].next = x->step_count;
	m->last = x->step_count++;
	m->has_prompt |= is_prompt(&x->c->lines[line]);
	if (m->is_user && m->has_prompt)
		x->prompted = (uint32_t)(m - x->sent) + 1;
	else if (!m->is_user && x->c->lines[line].answer != CHAIN_NONE)
		x->sent_of[x->c->lines[line].answer] = (uint32_t)(m - x->sent) + 1;
}

static struct sent *new_sent(struct context *x, bool is_user, uint32_t line)
{
	struct sent *m = &x->sent[x->sent_count++];

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): from an arena, which never gives NULL */
	*m = (struct sent){ .is_user = is_user, .first = line, .lines = CHAIN_NONE };
	return m;
}

/* The message so far that a line is a part of. An answer goes on across results and what
 * the client put in, not across a prompt. */
static struct sent *part_of(struct context *x, const struct chain_line *l, bool is_user)
{
	struct sent *last = x->sent_count ? &x->sent[x->sent_count - 1] : NULL;
	uint32_t known;

	if (is_user)
		return last && last->is_user ? last : NULL;
	known = l->has_api && l->answer != CHAIN_NONE ? x->sent_of[l->answer] : 0;
	return known > x->prompted ? &x->sent[known - 1] : NULL;
}

static void join(struct context *x)
{
	x->sent = arena_alloc(&x->mem, (x->order.count + 2) * sizeof *x->sent);
	x->steps = arena_alloc(&x->mem, (x->order.count + 1) * sizeof *x->steps);
	x->sent_of = arena_alloc(&x->mem, (x->c->answer_count + 1) * sizeof *x->sent_of);
	for (uint32_t i = 0; i < x->order.count; i++) {
		uint32_t line = x->order.at[i];
		const struct chain_line *l = &x->c->lines[line];
		struct sent *m;
		bool is_user;

		if (!is_sent(l, &is_user))
			continue;
		m = part_of(x, l, is_user);
		add_step(x, m ? m : new_sent(x, is_user, line), line);
	}
}

static size_t count_calls(const struct context *x)
{
	size_t n = 0;

	for (uint32_t i = 0; i < x->order.count; i++)
		n += x->c->lines[x->order.at[i]].tool_count;
	return n;
}

static void pair(struct context *x)
{
	x->used = numbers_new(&x->mem, count_calls(x));
	x->answered = numbers_new(&x->mem, count_calls(x));
	for (uint32_t i = 0; i < x->order.count; i++) {
		const struct chain_line *l = &x->c->lines[x->order.at[i]];
		bool is_user;

		/* What is left out neither calls nor answers. */
		for (uint32_t t = 0; is_sent(l, &is_user) && t < l->tool_count; t++)
			if (l->type == RECORD_ASSISTANT)
				numbers_put(&x->used, l->tools[t], x->order.at[i]);
			else if (l->type == RECORD_USER && numbers_get(&x->answered, l->tools[t]) == NUMBERS_NONE)
				numbers_put(&x->answered, l->tools[t], x->order.at[i]);
	}
}

/* ---- Writing -------------------------------------------------------------------- */

static bool is_kept(const struct context *x, const struct record_block *b, uint32_t line)
{
	uint64_t call = hash64(b->tool.p, b->tool.n);

	if (b->kind == BLOCK_TOOL_USE)
		return x->c->lines[line].type == RECORD_ASSISTANT && numbers_get(&x->answered, call) != NUMBERS_NONE;
	if (b->kind == BLOCK_TOOL_RESULT)
		return numbers_get(&x->used, call) != NUMBERS_NONE && numbers_get(&x->answered, call) == line;
	return true;
}

static void begin_block(struct buf *out, struct json_writer *w)
{
	if (out->n)
		buf_byte(out, ',');
	json_write_init(w, out, 0);
}

static void put_text(struct buf *out, struct str text, bool by_client)
{
	struct json_writer w;

	begin_block(out, &w);
	json_write_object_begin(&w);
	json_write_key(&w, STR("type"));
	json_write_string(&w, STR("text"));
	json_write_key(&w, STR("text"));
	json_write_string(&w, text);
	if (by_client) {
		json_write_key(&w, STR("client"));
		json_write_bool(&w, true);
	}
	json_write_object_end(&w);
}

/* Of this tool's input the client sends only what is not in the plan's own file. */
static bool is_plan(const struct record_block *b)
{
	return b->kind == BLOCK_TOOL_USE && str_eq(b->name, STR("ExitPlanMode"));
}

static void put_plan_input(struct json_writer *w, const struct json *j, uint32_t input)
{
	json_write_object_begin(w);
	for (uint32_t k = json_first(j, input); json_is(j, input, JSON_OBJECT) && k != json_end(j, input);
	     k = json_next(j, k + 1)) {
		struct str key = json_raw(j, k);

		if (str_eq(key, STR("\"plan\"")) || str_eq(key, STR("\"planFilePath\"")))
			continue;
		json_write_key(w, str_sub(key, 1, key.n - 2));
		json_copy_valid(w, j, k + 1);
	}
	json_write_object_end(w);
}

static void put_plan(struct buf *out, const struct json *j, uint32_t node)
{
	struct json_writer w;

	begin_block(out, &w);
	json_write_object_begin(&w);
	for (uint32_t k = json_first(j, node); k != json_end(j, node); k = json_next(j, k + 1)) {
		struct str key = json_raw(j, k);

		json_write_key(&w, str_sub(key, 1, key.n - 2));
		if (str_eq(key, STR("\"input\"")))
			put_plan_input(&w, j, k + 1);
		else
			json_copy_valid(&w, j, k + 1);
	}
	json_write_object_end(&w);
}

static void put_block(struct buf *out, const struct json *j, const struct record_block *b)
{
	struct json_writer w;

	if (is_plan(b)) {
		put_plan(out, j, b->node);
		return;
	}
	begin_block(out, &w);
	if (json_is(j, b->node, JSON_OBJECT)) {
		json_copy_valid(&w, j, b->node);
		return;
	}
	json_write_object_begin(&w);
	json_write_key(&w, STR("type"));
	json_write_string(&w, STR("text"));
	json_write_key(&w, STR("text"));
	json_copy_valid(&w, j, b->node);
	json_write_object_end(&w);
}

static bool is_blank(const struct record_reader *r, const struct record_block *b)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);

	if (b->kind != BLOCK_TEXT)
		return false;
	block_text(r, b, &text);
	return str_trim(buf_as_str(&text)).n == 0;
}

static bool is_all_blank(const struct record_reader *r, const struct record *rec)
{
	struct block_cursor at = { 0 };
	struct record_block b;

	while (record_block(r, rec, &at, &b))
		if (!is_blank(r, &b))
			return false;
	return true;
}

/* What the client words itself: by the name of its kind, a prompt by what was typed. */
static void put_attachment(struct context *x, const struct chain_line *l)
{
	const struct json *j = &x->lines->reader.json;
	uint32_t attachment = json_get(j, json_root(j), STR("attachment"));
	uint32_t prompt = json_get(j, attachment, STR("prompt"));
	struct str type = json_string_in(j, json_get(j, attachment, STR("type")), &x->mem);

	if ((l->flags & RECORD_QUEUED) && json_is(j, prompt, JSON_STRING))
		put_text(&x->second_part, json_string_in(j, prompt, &x->mem), true);
	else
		put_text(&x->second_part, arena_printf(&x->mem, "[%.*s]", STR_ARG(str_sub(type, 0, 200))),
			 true);
}

static void put_record(struct context *x, const struct record *rec, uint32_t line)
{
	const struct record_reader *r = &x->lines->reader;
	struct block_cursor at = { 0 };
	struct record_block b;

	if (rec->type == RECORD_ASSISTANT && is_all_blank(r, rec))
		return;
	while (record_block(r, rec, &at, &b))
		if (is_kept(x, &b, line))
			put_block(b.kind == BLOCK_TOOL_RESULT ? &x->first_part : &x->second_part, &r->json,
				  &b);
}

static enum status put_line(struct context *x, uint32_t line, struct err *err)
{
	const struct chain_line *l = &x->c->lines[line];
	const struct json *j = &x->lines->reader.json;
	struct record rec;

	if (lines_get(x->lines, l, &rec, err))
		return err_failed(err->status);
	if (l->type == RECORD_ATTACHMENT)
		put_attachment(x, l);
	else if (l->type == RECORD_SYSTEM)
		put_text(&x->second_part,
			 json_string_in(j, json_get(j, json_root(j), STR("content")), &x->mem), false);
	else
		put_record(x, &rec, line);
	return STATUS_OK;
}

/* Whether nothing but thinking is left of an answer. */
static bool is_thought(const struct context *x, const struct sent *m)
{
	const struct chain *c = x->c;

	for (uint32_t s = m->lines; s != CHAIN_NONE; s = x->steps[s].next) {
		const struct chain_line *l = &c->lines[x->steps[s].line];
		bool calls = false;

		if (l->flags & RECORD_MUTE)
			continue;
		for (uint32_t t = 0; t < l->tool_count; t++)
			calls |= numbers_get(&x->answered, l->tools[t]) != NUMBERS_NONE;
		if (calls || l->tool_count == 0)
			return false;
	}
	return true;
}

static enum status write_message(struct context *x, const struct sent *m, context_fn *fn, void *ctx,
				 struct err *err)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(GIB);
	struct context_message out = { .role = m->is_user ? STR("user") : STR("assistant"),
				       .first = m->first };

	buf_clear(&x->first_part);
	buf_clear(&x->second_part);
	if (!m->is_user && is_thought(x, m))
		return STATUS_OK;
	for (uint32_t s = m->lines; s != CHAIN_NONE; s = x->steps[s].next)
		if (put_line(x, x->steps[s].line, err))
			return err_failed(err->status);
	if (m->cut_off)
		put_text(&x->second_part, str_of(cut_off), false);
	if (!x->first_part.n && !x->second_part.n) {
		if (!m->is_user)
			return STATUS_OK;
		put_text(&x->second_part, STR("(no content)"), false);
	}
	buf_byte(&all, '[');
	buf_str(&all, buf_as_str(&x->first_part));
	if (x->first_part.n && x->second_part.n)
		buf_byte(&all, ',');
	buf_str(&all, buf_as_str(&x->second_part));
	buf_byte(&all, ']');
	if (all.failed || x->first_part.failed || x->second_part.failed)
		return err_fail(err, STATUS_LIMIT, "a message is too large");
	out.content = buf_as_str(&all);
	return fn(ctx, &out, err);
}

/* The answer to a message that was cut off was asked for. */
static void ask_to_go_on(struct context *x, uint32_t line)
{
	const struct chain *c = x->c;
	uint32_t last = x->order.count ? x->order.at[x->order.count - 1] : CHAIN_NONE;

	if (last == CHAIN_NONE || !(c->lines[last].flags & RECORD_CUT) ||
	    c->lines[line].type != RECORD_ASSISTANT || c->lines[last].answer == c->lines[line].answer)
		return;
	new_sent(x, true, last)->cut_off = true;
}

/* Which lines, in their order. */
static enum status put_in_order(struct context *x, uint32_t line, struct err *err)
{
	struct list chain = { 0 };
	enum status status;

	x->boundary = CHAIN_NONE;
	add_chain(x, line, &chain);
	status = compact(x, &chain, err);
	if (status == STATUS_OK)
		repair(x, &chain);
	mem_free(chain.at);
	return status;
}

enum status context_each(struct lines *lines, const struct chain *c, uint32_t line, bool before,
			 context_fn *fn, void *ctx, struct err *err)
{
	struct context x CLEANUP(context_release) = {
		.lines = lines,
		.c = c,
		.first_part = BUF_INIT(GIB),
		.second_part = BUF_INIT(GIB),
	};

	if (before && c->lines[line].answer != CHAIN_NONE)
		line = c->answers[c->lines[line].answer].first;
	if (put_in_order(&x, before ? c->lines[line].parent : line, err))
		return err_failed(err->status);
	join(&x);
	pair(&x);
	if (before)
		ask_to_go_on(&x, line);
	for (uint32_t m = 0; m < x.sent_count; m++)
		if (write_message(&x, &x.sent[m], fn, ctx, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Lines alone ------------------------------------------------------------------ */

/* By line in the order: the message that it is a part of, or that the line before it is. */
static uint32_t *list_messages(const struct context *x, struct arena *mem)
{
	uint32_t *of = arena_alloc(mem, (x->order.count + 1) * sizeof *of), last = 0, step = 0;
	uint32_t *message = arena_alloc(mem, (x->order.count + 1) * sizeof *message);

	for (uint32_t m = 0; m < x->sent_count; m++)
		for (uint32_t s = x->sent[m].lines; s != CHAIN_NONE; s = x->steps[s].next)
			message[s] = m;
	for (uint32_t i = 0; i < x->order.count; i++) {
		bool is_user;

		if (is_sent(&x->c->lines[x->order.at[i]], &is_user))
			last = message[step++];
		of[i] = last;
	}
	return of;
}

/* Message after message, each with its lines in their order. */
static uint32_t *sort_by_message(const struct context *x, const uint32_t *of, struct arena *mem)
{
	uint32_t *out = arena_alloc(mem, (x->order.count + 2) * sizeof *out), n = 0;
	uint32_t *start = arena_alloc(mem, (x->sent_count + 2) * sizeof *start);

	for (uint32_t i = 0; i < x->order.count; i++)
		start[of[i] + 1]++;
	for (uint32_t m = 0; m < x->sent_count; m++)
		start[m + 1] += start[m];
	if (x->boundary != CHAIN_NONE)
		out[n++] = x->boundary;
	for (uint32_t i = 0; i < x->order.count; i++)
		out[n + start[of[i]]++] = x->order.at[i];
	return out;
}

enum status context_lines(struct lines *lines, const struct chain *c, uint32_t line, struct arena *mem, uint32_t **out,
			  uint32_t *count, struct err *err)
{
	struct context x CLEANUP(context_release) = { .lines = lines, .c = c };

	if (put_in_order(&x, line, err))
		return err_failed(err->status);
	join(&x);
	*out = sort_by_message(&x, list_messages(&x, mem), mem);
	*count = x.order.count + (x.boundary != CHAIN_NONE);
	return STATUS_OK;
}
