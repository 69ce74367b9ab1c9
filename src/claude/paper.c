/*
 * Texts beside conversations.
 *
 * Of tasks and todos what they are about is the text, and not how they stand: that changes, and nobody looks
 * for it by words. A file with a NUL in it is no text, whatever it is called. Other bytes that are no UTF-8
 * become U+FFFD, so that offsets into a text mean the same wherever it goes.
 */
#include "claude/paper.h"

#include "base/utf8.h"
#include "claude/plan.h"
#include "claude/record.h"
#include "claude/task.h"

bool paper_is(enum claude_kind kind)
{
	return kind == CLAUDE_PLAN || kind == CLAUDE_MEMORY || kind == CLAUDE_TASK || kind == CLAUDE_TODO ||
	       kind == CLAUDE_HISTORY;
}

bool paper_has_lines(enum claude_kind kind)
{
	return kind == CLAUDE_HISTORY;
}

void paper_reader_init(struct paper_reader *r)
{
	*r = (struct paper_reader){ .text = BUF_INIT(2 * LIMIT_LINE_PARSED),
				    .valid = BUF_INIT(3 * LIMIT_LINE_PARSED) };
}

void paper_reader_release(struct paper_reader *r)
{
	typed_reader_release(&r->typed);
	arena_release(&r->mem);
	buf_release(&r->text);
	buf_release(&r->valid);
}

static bool give(struct paper_reader *r, struct paper_text *t, struct str text, paper_text_fn *fn, void *ctx)
{
	if (!utf8_valid(text)) {
		buf_clear(&r->valid);
		utf8_repair(&r->valid, text);
		text = buf_as_str(&r->valid);
	}
	t->text = text;
	return fn(ctx, t);
}

static void give_typed(struct paper_reader *r, struct str line, paper_text_fn *fn, void *ctx)
{
	struct paper_text t = { 0 };
	struct typed typed;

	if (!typed_read(&r->typed, line, &typed))
		return;
	buf_clear(&r->text);
	typed_text(&r->typed, &typed, &r->text);
	t.at = typed.has_time && typed.at > 0 ? typed.at : 0;
	t.has_session = t.typed = uuid_parse(typed.session, &t.session);
	t.project = typed.project.n && typed.project.n <= LIMIT_PATH ? typed.project : (struct str){ 0 };
	give(r, &t, buf_as_str(&r->text), fn, ctx);
}

static void give_tasks(struct paper_reader *r, struct str path, struct str bytes, paper_text_fn *fn,
		       void *ctx)
{
	struct paper_text t = { 0 };
	struct str agent;
	struct task *list;
	struct err ignored;
	size_t count;

	t.has_session = task_owner_of_path(path, &t.session, &agent);
	arena_release(&r->mem);
	if (task_read(bytes, &r->mem, &list, &count, &ignored))
		return;
	for (size_t i = 0; i < count && i < LIMIT_LINE_BLOCKS; i++) {
		t.part = (uint16_t)i;
		buf_clear(&r->text);
		buf_str(&r->text, list[i].subject);
		if (list[i].subject.n && list[i].description.n)
			buf_byte(&r->text, '\n');
		buf_str(&r->text, list[i].description);
		if (!give(r, &t, buf_as_str(&r->text), fn, ctx))
			return;
	}
}

void paper_texts(struct paper_reader *r, struct str path, struct str bytes, paper_text_fn *fn, void *ctx)
{
	enum claude_kind kind = claude_kind_of(path);
	struct paper_text t = { 0 };

	if (kind == CLAUDE_HISTORY)
		give_typed(r, bytes, fn, ctx);
	else if (kind == CLAUDE_TASK || kind == CLAUDE_TODO)
		give_tasks(r, path, bytes, fn, ctx);
	else if (paper_is(kind) && !str_has_byte(bytes, '\0'))
		give(r, &t, bytes, fn, ctx);
}

struct str paper_folder(struct str path)
{
	return claude_kind_of(path) == CLAUDE_MEMORY ? claude_project_of(path) : (struct str){ 0 };
}

void paper_title(struct str path, struct str text, struct buf *out)
{
	enum claude_kind kind = claude_kind_of(path);
	struct str rest;

	if (kind == CLAUDE_PLAN)
		plan_title(text, out);
	else if (kind == CLAUDE_MEMORY)
		record_prompt_title(str_basename(path), out);
	else
		record_prompt_title(str_cut(str_trim(text), '\n', &rest), out);
}
