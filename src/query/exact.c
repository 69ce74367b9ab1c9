/*
 * The index knows words, and not what stands between them: "1.2.3" is also "1, 2, 3". That stays so, since who looks
 * for "foo.bar" is served by foo_bar. But who cites something with signs means it so. Of the best hits the texts are
 * read, and those that have it as it was typed come first; how many are found does not depend on it.
 */
#include "query/exact.h"

#include "claude/record.h"
#include "query/grep.h"
#include "query/lines.h"
#include "query/made.h"
#include "query/papers.h"
#include "store/annotation.h"
#include "store/made_text.h"

#include <string.h>

struct reading {
	struct store *store;
	struct lines_set lines;
	struct arena mem; /* for one text */
	struct buf text;
};

static void reading_release(struct reading *r)
{
	lines_set_release(&r->lines);
	arena_release(&r->mem);
	buf_release(&r->text);
}

static enum status read_line(struct reading *r, const struct doc *doc, struct err *err)
{
	struct block_cursor at = { 0 };
	struct record_block b;
	struct session session;
	struct node_name name;
	struct record record;
	struct lines *lines;
	struct node line;

	if (session_get(r->store, doc->session, &r->mem, &session, err) ||
	    entry_get(r->store, doc->session, doc->offset, &r->mem, &line, &name, err))
		return err_failed(err->status);
	lines = lines_set_of(&r->lines, &session);
	if (lines_get(lines, &(struct chain_line){ .offset = line.offset, .length = line.length }, &record, err))
		return err_failed(err->status);
	if (doc->block == DOC_LINE)
		record_text(&lines->reader, &record, &r->text);
	while (doc->block != DOC_LINE && record_block(&lines->reader, &record, &at, &b))
		if (b.index == doc->block)
			block_said(&lines->reader, &b, &r->text);
	return STATUS_OK;
}

static enum status read_note(struct reading *r, int64_t row, struct err *err)
{
	struct annotation note;

	if (annotation_get(r->store, row, &r->mem, &note, err))
		return err_failed(err->status);
	buf_str(&r->text, note.kind == ANNOTATION_NOTE ? note.text : note.name);
	return STATUS_OK;
}

static enum status read_paper(struct reading *r, int64_t row, struct err *err)
{
	struct paper_found p;

	return papers_find(r->store, row, &r->mem, &p, err) || papers_text(r->store, &p, &r->mem, &r->text, err) ?
		       err_failed(err->status) : STATUS_OK;
}

static enum status read_node(struct reading *r, int64_t row, struct err *err)
{
	struct made_found m;

	if (made_found(r->store, row, NODE_WHOLE, &r->mem, &m, err))
		return err_failed(err->status);
	made_text(&m.node, &r->text);
	return STATUS_OK;
}

static enum status read_doc(struct reading *r, const struct doc *doc, struct err *err)
{
	buf_clear(&r->text);
	arena_release(&r->mem);
	return doc->session == DOC_NOTES    ? read_note(r, doc->offset, err)
	       : doc->session == DOC_PAPERS ? read_paper(r, doc->offset, err)
	       : doc->session == DOC_NODES  ? read_node(r, doc->offset, err)
					    : read_line(r, doc, err);
}

enum status exact_first(struct store *s, const struct expr *e, struct ranking *r, struct err *err)
{
	struct reading reading CLEANUP(reading_release) = { .store = s,
							    .lines = { .store = s },
							    .text = BUF_INIT(2 * LIMIT_LINE_PARSED) };
	struct grep check CLEANUP(grep_release) = { 0 };
	struct ranked others[EXACT_FIRST];
	size_t count = size_min(r->count, EXACT_FIRST), exact = 0, other = 0;

	if (!e->cited || count < 2)
		return STATUS_OK;
	grep_cited(&check, e);
	for (size_t i = 0; i < count; i++) {
		if (read_doc(&reading, &r->list[i].doc, err))
			return err_failed(err->status);
		if (grep_text(&check, buf_as_str(&reading.text)))
			r->list[exact++] = r->list[i];
		else
			others[other++] = r->list[i];
	}
	memcpy(r->list + exact, others, other * sizeof *others);
	return STATUS_OK;
}

/* Those that have the names; none of them = nothing changes. */
static enum status keep_signs(struct reading *r, struct grep *check, struct ranking *ranking, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct ranked *exact = arena_alloc(&mem, (ranking->count + 1) * sizeof *exact);
	size_t count = 0;

	grep_take_time(check); /* a query of SQL has a limit of its own */
	for (size_t i = 0; i < ranking->count; i++) {
		if (read_doc(r, &ranking->list[i].doc, err))
			return err_failed(err->status);
		if (grep_text(check, buf_as_str(&r->text)))
			exact[count++] = ranking->list[i];
	}
	if (count) {
		memcpy(ranking->list, exact, count * sizeof *exact);
		ranking->count = count;
	}
	return STATUS_OK;
}

enum status exact_signs(struct store *s, const struct expr *e, struct ranking *r, struct err *err)
{
	struct reading reading CLEANUP(reading_release) = { .store = s,
							    .lines = { .store = s },
							    .text = BUF_INIT(2 * LIMIT_LINE_PARSED) };
	size_t before = r->count;

	for (int whole = e->signs_quoted; e->signs.p && whole >= 0 && r->count == before; whole--) {
		struct grep check CLEANUP(grep_release) = { 0 };

		grep_signs(&check, e, whole, 0);
		if (keep_signs(&reading, &check, r, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}
