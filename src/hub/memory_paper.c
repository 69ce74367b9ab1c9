/*
 * Plans, memory, tasks, todos and typed history as items of memory.show: their texts, as a search knows them
 * (claude/paper.c). 'arbor export' gives the bytes.
 */
#include "hub/memory_paper.h"

#include "base/split.h"
#include "hub/kept.h"
#include "query/papers.h"
#include "store/archive.h"

struct showing {
	struct call *call;
	const struct source_info *file;
	int64_t dated; /* the file; 0 = unknown */
	struct paper_reader reader;
	enum status status;
	struct err *err;
};

static void showing_release(struct showing *y)
{
	paper_reader_release(&y->reader);
}

/* An item of a text that it is known of whose it is. */
static void put_paper(struct call *c, const struct paper_found *p, const struct uuid *id, struct str text)
{
	struct json_writer *w = call_begin(c);
	int64_t at = p->paper.at ? p->paper.at : p->paper.dated;

	put_text(w, "kind", STR("file"));
	put_uuid(w, "id", id);
	put_text(w, "type", str_of(claude_kind_name((enum claude_kind)p->paper.kind)));
	put_text(w, "title", p->title);
	put_path(w, "path", p->paper.path);
	if (p->session.row)
		put_uuid(w, "session", &p->session.id);
	if (p->project.n)
		put_path(w, "project", p->project);
	if (at)
		put_time(w, "at", at);
	put_text(w, "text", text);
}

static bool give_text(void *ctx, const struct paper_text *t)
{
	struct showing *y = ctx;
	struct buf title CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	struct paper_found p = { .paper = { .kind = (int)claude_kind_of(y->file->path),
					    .path = y->file->path,
					    .at = t->at,
					    .dated = y->dated,
					    .has_session = t->has_session,
					    .session = t->session,
					    .project = t->project } };

	y->status = papers_belong(y->call->store, &p, &y->call->mem, y->err);
	if (y->status)
		return false;
	paper_title(y->file->path, t->text, &title);
	p.title = buf_as_str(&title);
	put_paper(y->call, &p, &y->file->id, t->text);
	y->status = call_emit(y->call, y->err);
	return y->status == STATUS_OK;
}

static bool take_line(void *ctx, const struct split_line *line)
{
	struct showing *y = ctx;

	if (line->text.p)
		paper_texts(&y->reader, y->file->path, line->text, give_text, y);
	return y->status == STATUS_OK;
}

static enum status take_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct split *split = ctx;
	const struct showing *y = split->ctx;

	if (call_is_cancelled(y->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	return split_add(split, bytes) ? STATUS_OK : y->status;
}

static enum status show_lines(struct showing *y, const struct generation *g)
{
	struct split split CLEANUP(split_release);

	split_begin(&split, LIMIT_LINE_PARSED, 0, take_line, y);
	if (archive_read(y->call->store, g->row, 0, g->length, take_bytes, &split, y->err))
		return err_pass(y->err, "%.*s", STR_ARG(kept_name(y->call, y->file)));
	split_end(&split);
	return y->status;
}

enum status show_paper(struct call *c, const struct source_info *file, struct err *err)
{
	struct showing y CLEANUP(showing_release) = { .call = c, .file = file, .err = err };
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_SMALL_FILE);
	struct generation g;

	paper_reader_init(&y.reader);
	if (generation_pick(c->store, file->row, 0, &g, err))
		return err_failed(err->status);
	y.dated = g.mtime_ms;
	if (paper_has_lines(claude_kind_of(file->path)))
		return show_lines(&y, &g);
	if (kept_read(c, file, 0, SIZE_MAX, &g, &bytes, err))
		return err_failed(err->status);
	paper_texts(&y.reader, file->path, buf_as_str(&bytes), give_text, &y);
	return y.status;
}

enum status show_typed(struct call *c, int64_t row, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct paper_found p;

	if (papers_find(c->store, row, &c->mem, &p, err) || papers_text(c->store, &p, &c->mem, &text, err))
		return err_failed(err->status);
	put_paper(c, &p, &p.paper.id, buf_as_str(&text));
	return call_emit(c, err);
}
