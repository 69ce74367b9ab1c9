/*
 * The index has a mark for the call of each tool (base/mark.h), so whoever wants those of one reads no other lines.
 */
#include "query/called.h"

#include "base/mark.h"
#include "query/rank.h"
#include "query/search.h"

#include <stdlib.h>

struct finding {
	struct called *list;
	size_t count, cap;
};

static void finding_release(struct finding *f)
{
	mem_free(f->list);
}

/* None is wanted: they are noted as they pass. */
static enum status take_doc(void *ctx, int64_t id, const struct doc *doc, bool *wanted, struct err *err)
{
	struct finding *f = ctx;

	(void)id;
	(void)err;
	*wanted = false;
	if (doc->session >= DOC_NODES || doc->block == DOC_LINE)
		return STATUS_OK;
	if (f->count == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		f->list = mem_resize(f->list, f->cap * sizeof *f->list);
	}
	f->list[f->count++] = (struct called){ doc->session, doc->offset, doc->at, doc->block };
	return STATUS_OK;
}

static int by_line(const void *a, const void *b)
{
	const struct called *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

enum status called_match(struct store *s, struct str match, struct arena *mem, struct called **out, size_t *count,
			 struct err *err)
{
	struct finding f CLEANUP(finding_release) = { 0 };
	struct ranking none CLEANUP(ranking_release) = { 0 };
	struct rank_query q = { .match = match,
				.places = 1u << PLACE_INPUT,
				.weights = search_weights,
				.place_count = SEARCH_PLACES,
				.now = store_now(s),
				.doc = take_doc,
				.wanted_ctx = &f };

	if (rank_run(s, &q, &none, err))
		return err_failed(err->status);
	if (f.count)
		qsort(f.list, f.count, sizeof *f.list, by_line);
	*count = f.count;
	*out = arena_alloc(mem, (f.count + 1) * sizeof **out);
	for (size_t i = 0; i < f.count; i++)
		(*out)[i] = f.list[i];
	return STATUS_OK;
}

enum status called_find(struct store *s, const char *const *tools, struct arena *mem, struct called **out,
			size_t *count, struct err *err)
{
	struct buf match CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	char room[WORD_MAX];

	for (; *tools; tools++)
		buf_printf(&match, "%s\"%.*s\"", match.n ? " OR " : "",
			   STR_ARG(mark_word(MARK_TOOL, str_of(*tools), room)));
	return called_match(s, buf_as_str(&match), mem, out, count, err);
}

struct reading {
	const struct called *c;
	const struct node_name *name;
	called_fn *fn;
	void *ctx;
};

static enum status take_line(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	const struct reading *y = ctx;
	struct block_cursor at = { 0 };
	struct record_block b;

	*go_on = false;
	while (record_block(line->reader, line->record, &at, &b)) {
		struct uuid id = node_id(y->name, (int)b.index);

		if (b.index == y->c->block && b.kind == BLOCK_TOOL_USE)
			return y->fn(y->ctx, line, &b, &id, err);
	}
	return STATUS_OK;
}

enum status called_read(struct transcript *t, struct store *s, const struct session *session, const struct called *c,
			struct arena *mem, called_fn *fn, void *ctx, struct err *err)
{
	struct node_name name;
	struct reading y = { c, &name, fn, ctx };
	struct node line;

	if (entry_get(s, session->row, c->offset, mem, &line, &name, err))
		return err_failed(err->status);
	return transcript_each(t, s, session, line.offset, line.offset + line.length, take_line, &y, err);
}
