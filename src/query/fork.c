/*
 * The file of a fork has no branches: each line hangs on the one before, parts of an answer come before its
 * results, and nothing is left for the client to mend, of which it does less in large files.
 *
 * So the lines are those of the context (query/context.h), in its order. What the client noted of its
 * progress is left behind: it is looked through on the way to what it hangs on, and here nothing hangs on it.
 */
#include "query/fork.h"

#include "base/utf8.h"
#include "query/context.h"

/* ---- Where ------------------------------------------------------------------------- */

static bool is_prompt(const struct chain_line *l)
{
	return record_is_typed(l->flags) ||
	       (l->type == RECORD_USER && (l->flags & RECORD_TASK) && !(l->flags & RECORD_META));
}

/* Whether one of the calls of a line is of this answer. */
static bool is_call_of(const struct chain *c, const struct chain_line *l, uint32_t answer)
{
	for (uint32_t i = c->answers[answer].first; i != CHAIN_NONE; i = c->lines[i].next)
		for (uint32_t t = 0; t < c->lines[i].tool_count; t++)
			for (uint32_t u = 0; u < l->tool_count; u++)
				if (c->lines[i].tools[t] == l->tools[u])
					return true;
	return false;
}

/* The answer above a line, with nothing but what the client and the user said in between; CHAIN_NONE = none.
 */
static uint32_t answer_above(const struct chain *c, uint32_t line)
{
	for (uint32_t steps = 0; line != CHAIN_NONE && steps <= c->line_count; steps++) {
		if (c->lines[line].type == RECORD_ASSISTANT)
			return c->lines[line].answer;
		line = c->lines[line].parent;
	}
	return CHAIN_NONE;
}

static bool is_result(const struct chain_line *l)
{
	return l->type == RECORD_USER && (l->flags & RECORD_RESULT) && !l->shadowed;
}

/* The last result that was written of an answer's calls, else its own last line. The client hangs what
 * follows on that. */
static uint32_t last_of(const struct chain *c, uint32_t answer)
{
	uint32_t last = c->answers[answer].last;

	for (uint32_t i = c->line_count; i-- > 0;)
		if (is_result(&c->lines[i]) && is_call_of(c, &c->lines[i], answer) &&
		    answer_above(c, c->lines[i].parent) == answer)
			return i;
	return last;
}

bool fork_is_cut_off(const struct chain *c, uint32_t line)
{
	for (uint32_t i = line + 1; i < c->line_count; i++)
		if ((c->lines[i].flags & RECORD_BOUNDARY) && !c->lines[i].shadowed)
			return true;
	return false;
}

/* That a line is of, or may have results of; CHAIN_NONE = none. */
static uint32_t answer_of(const struct chain *c, const struct chain_line *l)
{
	return l->type == RECORD_ASSISTANT ? l->answer : is_result(l) ? answer_above(c, l->parent) : CHAIN_NONE;
}

struct fork_point fork_point(const struct chain *c, uint32_t line)
{
	const struct chain_line *l = &c->lines[line];
	uint32_t answer = answer_of(c, l);

	if (l->flags & RECORD_BOUNDARY)
		return (struct fork_point){ chain_before(c, line), CHAIN_NONE };
	if (answer != CHAIN_NONE && (!is_result(l) || is_call_of(c, l, answer)))
		return (struct fork_point){ last_of(c, answer), CHAIN_NONE };
	if (!is_result(l) && is_prompt(l))
		return (struct fork_point){ l->parent, line };
	return (struct fork_point){ line, CHAIN_NONE };
}

uint32_t fork_prompt_of(const struct chain *c, uint32_t line)
{
	for (uint32_t steps = 0; line != CHAIN_NONE && steps <= c->line_count; steps++) {
		const struct chain_line *l = &c->lines[line];

		if (!is_result(l) && is_prompt(l))
			return line;
		line = l->flags & RECORD_BOUNDARY ? chain_before(c, line) : l->parent;
	}
	return CHAIN_NONE;
}

uint32_t fork_before(const struct chain *c, uint32_t line)
{
	bool is_answer = c->lines[line].type == RECORD_ASSISTANT || is_result(&c->lines[line]);
	uint32_t said;

	if (is_answer)
		return fork_prompt_of(c, line);
	said = chain_said(c, c->lines[line].parent);
	return said != CHAIN_NONE && is_prompt(&c->lines[said]) ? CHAIN_NONE : said;
}

uint32_t fork_step_before(const struct chain *c, uint32_t line)
{
	uint32_t answer = answer_of(c, &c->lines[line]), said;

	if (answer == CHAIN_NONE)
		return CHAIN_NONE;
	said = chain_said(c, c->lines[c->answers[answer].first].parent);
	return said != CHAIN_NONE && is_result(&c->lines[said]) ? said : CHAIN_NONE;
}

/* ---- Which lines ------------------------------------------------------------------- */

static bool is_said(const struct chain_line *l)
{
	return l->type == RECORD_USER || l->type == RECORD_ASSISTANT;
}

enum status fork_find_lines(struct lines *lines, const struct chain *c, uint32_t line, struct arena *mem,
			    uint32_t **out, uint32_t *count, struct err *err)
{
	uint32_t *list, all, kept = 0;
	bool any = false;

	*count = 0;
	*out = NULL;
	if (line == CHAIN_NONE)
		return STATUS_OK;
	if (context_lines(lines, c, line, mem, &list, &all, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < all; i++) {
		const struct chain_line *l = &c->lines[list[i]];

		any |= is_said(l);
		if (l->type != RECORD_PROGRESS)
			list[kept++] = list[i];
	}
	*out = list;
	*count = any ? kept : 0;
	return STATUS_OK;
}

/* ---- A fork on its way ---------------------------------------------------------------- */

void forking_release(struct forking *f)
{
	lines_release(&f->lines);
	chain_release(&f->chain);
	arena_release(&f->mem);
}

/* What the client would go on from; or a line, which may be one that was told in another's progress. */
static enum status find_line(struct store *s, struct forking *f, int64_t offset, uint32_t *line,
			     struct err *err)
{
	if (chain_load(s, &f->session, &f->chain, err))
		return err_failed(err->status);
	*line = offset == FORK_AT_END ? chain_leaf(&f->chain) : chain_line_at(&f->chain, offset);
	if (*line == CHAIN_NONE && offset != FORK_AT_END) {
		chain_release(&f->chain);
		if (chain_load_told(s, &f->session, offset, &f->chain, err))
			return err_failed(err->status);
		*line = chain_line_at(&f->chain, offset);
	}
	return STATUS_OK;
}

/* Some lines have no place in a conversation. */
static bool has_place(const struct chain *c, uint32_t line)
{
	return line != CHAIN_NONE && c->lines[line].has_key;
}

/* Where lines hang on each other in a circle, a prompt is above itself. */
static void leave_out_prompt(struct forking *f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->count; i++)
		if (f->order[i] != f->point.prompt)
			f->order[kept++] = f->order[i];
	f->count = kept;
}

static struct fork_point point_of(const struct chain *c, uint32_t line, enum fork_from from)
{
	if (from == FORK_FROM_HEAD)
		return (struct fork_point){ line, CHAIN_NONE };
	if (from == FORK_FROM_PROMPT && !(c->lines[line].flags & RECORD_BOUNDARY))
		line = fork_prompt_of(c, line);
	return line != CHAIN_NONE ? fork_point(c, line) : (struct fork_point){ CHAIN_NONE, CHAIN_NONE };
}

enum status forking_load(struct store *s, int64_t session, int64_t offset, enum fork_from from, struct forking *out,
			 struct err *err)
{
	uint32_t line;

	if (session_get(s, session, &out->mem, &out->session, err) || find_line(s, out, offset, &line, err))
		return err_failed(err->status);
	if (offset == FORK_AT_END && line == CHAIN_NONE)
		return err_fail(err, STATUS_NOT_FOUND, "nothing was said in this conversation yet");
	if (!has_place(&out->chain, line))
		return err_fail(err, STATUS_NOT_FOUND,
				"that line is no part of what was said; 'arbor show' prints it");
	if (out->chain.lines[line].shadowed)
		line = chain_find(&out->chain, &out->chain.lines[line].key);
	lines_init(&out->lines, s, &out->session);
	if (offset == FORK_AT_END && from == FORK_FROM_POINT)
		from = FORK_FROM_HEAD;
	out->point = point_of(&out->chain, line, from);
	if (fork_find_lines(&out->lines, &out->chain, out->point.line, &out->mem, &out->order, &out->count,
			    err))
		return err_failed(err->status);
	leave_out_prompt(out);
	return STATUS_OK;
}

enum status forking_each(struct forking *f, struct fork_lines *as, forking_fn *fn, void *ctx, struct err *err)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED),
			valid CLEANUP(buf_release) = BUF_INIT(6 * LIMIT_LINE_PARSED);

	for (uint32_t i = 0; i < f->count; i++) {
		struct record rec;
		bool is_valid;

		if (lines_get(&f->lines, &f->chain.lines[f->order[i]], &rec, err))
			return err_failed(err->status);
		buf_clear(&line);
		fork_line(as, &f->lines.reader, &rec, &line);
		is_valid = utf8_valid(buf_as_str(&line));
		buf_clear(&valid);
		if (!is_valid) /* what the client reads instead of such bytes */
			utf8_repair(&valid, buf_as_str(&line));
		if (line.failed || valid.failed)
			return err_fail(err, STATUS_LIMIT, "a line is too large");
		if (fn(ctx, buf_as_str(is_valid ? &line : &valid), err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status forking_prompt(struct forking *f, struct buf *out, struct err *err)
{
	const struct record_reader *r = &f->lines.reader;
	struct block_cursor at = { 0 };
	struct record_block b;
	struct record rec;

	if (f->point.prompt == CHAIN_NONE)
		return STATUS_OK;
	if (lines_get(&f->lines, &f->chain.lines[f->point.prompt], &rec, err))
		return err_failed(err->status);
	if (rec.type == RECORD_ATTACHMENT)
		record_text(r, &rec, out);
	while (rec.type != RECORD_ATTACHMENT && record_block(r, &rec, &at, &b)) {
		if (b.kind != BLOCK_TEXT)
			continue;
		if (out->n)
			buf_byte(out, '\n');
		block_said(r, &b, out);
	}
	return STATUS_OK;
}

enum status forking_leaf(struct forking *f, struct buf *out, struct err *err)
{
	const struct json *j = &f->lines.reader.json;
	struct record rec;

	if (!f->count)
		return STATUS_OK;
	if (lines_get(&f->lines, &f->chain.lines[f->point.line], &rec, err))
		return err_failed(err->status);
	buf_str(out, json_raw(j, json_get(j, json_root(j), STR("uuid"))));
	return STATUS_OK;
}
