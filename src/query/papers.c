/*
 * What a text beside the conversations belongs to, and what it says.
 *
 * Which conversation has it, and which folder its project is, depends on what else is mirrored. It is found
 * out when somebody asks, so that nothing depends on what came first.
 */
#include "query/papers.h"

#include "claude/folder.h"
#include "claude/plan.h"
#include "store/archive.h"

/* ---- What it belongs to ------------------------------------------------------- */

struct folder_search {
	struct str name; /* of the client's folder */
	struct str found;
	struct arena *mem;
};

static enum status try_folder(void *ctx, struct str path, bool *go_on, struct err *err)
{
	struct folder_search *f = ctx;
	struct buf name CLEANUP(buf_release) = BUF_INIT(KIB);

	(void)err;
	claude_encode_cwd(path, &name);
	*go_on = !str_eq(buf_as_str(&name), f->name);
	if (!*go_on)
		f->found = arena_str(f->mem, path);
	return STATUS_OK;
}

/* The project whose folder is called so; there is no way back from the name. */
static enum status find_folder(struct store *s, struct str name, struct arena *mem, struct str *out,
			       struct err *err)
{
	struct folder_search f = { .name = name, .mem = mem };

	if (name.n && folder_each(s, try_folder, &f, err))
		return err_failed(err->status);
	*out = f.found;
	return STATUS_OK;
}

/* A plan does not say whose it is; lines of its conversation have its name. */
static enum status find_planner(struct store *s, struct str slug, struct arena *mem, struct session *out,
				struct err *err)
{
	int64_t row;

	if (session_of_plan(s, slug, &row, err))
		return err_failed(err->status);
	return row ? session_get(s, row, mem, out, err) : STATUS_OK;
}

static enum status find_session(struct store *s, const struct paper *p, struct arena *mem,
				struct session *out, struct err *err)
{
	int64_t *rows;
	size_t count = 0;

	*out = (struct session){ 0 };
	if (p->kind == CLAUDE_PLAN)
		return find_planner(s, plan_slug(p->path), mem, out, err);
	if (p->has_session && session_rows(s, &p->session, STR(""), mem, &rows, &count, err))
		return err_failed(err->status);
	return count ? session_get(s, rows[0], mem, out, err) : STATUS_OK;
}

enum status papers_belong(struct store *s, struct paper_found *p, struct arena *mem, struct err *err)
{
	if (find_session(s, &p->paper, mem, &p->session, err) ||
	    find_folder(s, paper_folder(p->paper.path), mem, &p->project, err))
		return err_failed(err->status);
	if (!p->project.n)
		p->project = p->paper.project.n ? p->paper.project : p->session.project;
	return STATUS_OK;
}

enum status papers_find(struct store *s, int64_t row, struct arena *mem, struct paper_found *out,
			struct err *err)
{
	enum status status;

	*out = (struct paper_found){ 0 };
	status = paper_get(s, row, mem, &out->paper, err);
	if (status)
		return status == STATUS_NOT_FOUND ? err_fail(err, STATUS_CORRUPT, "%s", err->text)
						  : err_failed(status);
	return papers_belong(s, out, mem, err);
}

/* ---- What it says ------------------------------------------------------------- */

struct taking {
	struct paper_found *of;
	struct arena *mem;
	struct buf *text;
};

static bool take_text(void *ctx, const struct paper_text *t)
{
	struct taking *y = ctx;
	struct buf title CLEANUP(buf_release) = BUF_INIT(4 * KIB);

	if (t->part != y->of->paper.part)
		return true;
	buf_str(y->text, t->text);
	paper_title(y->of->paper.path, t->text, &title);
	y->of->title = arena_str(y->mem, buf_as_str(&title));
	return false;
}

static enum status add_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

enum status papers_text(struct store *s, struct paper_found *p, struct arena *mem, struct buf *text,
			struct err *err)
{
	struct paper_reader reader CLEANUP(paper_reader_release);
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct taking y = { p, mem, text };

	paper_reader_init(&reader);
	if (archive_read(s, p->paper.generation, p->paper.offset, p->paper.length, add_bytes, &bytes, err))
		return err_pass(err, "%.*s", STR_ARG(p->paper.path));
	paper_texts(&reader, p->paper.path, buf_as_str(&bytes), take_text, &y);
	return STATUS_OK;
}
