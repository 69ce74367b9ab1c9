/*
 * A result says by an id which call it answers, and not of which tool; the index knows tools of calls alone. Both
 * lines have a hash of the id in their entries, and stand in one file: so of each transcript that has a text in
 * question the ids of the wanted calls are read, once, and the text's own is looked up among them. That is one row of
 * the store for each call and each text, and no line is read.
 *
 * Only a line that has several calls, or results, does not say which block has which: it is read.
 */
#include "query/answered.h"

#include "base/hash.h"
#include "base/mark.h"

#include <stdlib.h>

void answered_release(struct answered *a)
{
	map_release(&a->wanted.rows);
	map_release(&a->unwanted.rows);
	transcript_release(&a->transcript);
	arena_release(&a->mem);
}

bool answered_asks(const struct conditions *f)
{
	const unsigned output = 1u << PLACE_OUTPUT, input = 1u << PLACE_INPUT;

	for (size_t i = 0; f->expr && i < f->expr->condition_count; i++) {
		const struct expr_condition *c = &f->expr->conditions[i];

		if (c->field == EXPR_IS && !c->excluded && !c->group && str_eq(c->value, STR("error")))
			return true;
	}
	return f->places == (output | input) || (f->places & (output | input)) == output;
}

/* ---- Calls ----------------------------------------------------------------------- */

static enum status find_calls(struct answered *a, const struct expr *e, bool excluded, struct answered_calls *out,
			      struct err *err)
{
	struct buf match CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	char room[WORD_MAX];

	for (size_t i = 0; i < e->condition_count; i++) {
		const struct expr_condition *c = &e->conditions[i];
		bool prefix = str_has_suffix(c->value, STR("*"));

		if (c->field != EXPR_TOOL || c->group || c->excluded != excluded)
			continue;
		buf_printf(&match, "%s\"%.*s\"%s", match.n ? " OR " : "",
			   STR_ARG(mark_word(MARK_TOOL, str_sub(c->value, 0, c->value.n - prefix), room)),
			   prefix ? " *" : "");
	}
	out->asked = match.n > 0;
	if (!out->asked)
		return STATUS_OK;
	return called_match(a->store, buf_as_str(&match), &a->mem, &out->list, &out->count, err);
}

enum status answered_read(struct answered *a, struct store *s, const struct expr *e, struct err *err)
{
	a->store = s;
	transcript_init(&a->transcript);
	a->transcript.peek = true;
	if (find_calls(a, e, false, &a->wanted, err))
		return err_failed(err->status);
	return find_calls(a, e, true, &a->unwanted, err);
}

/* ---- Ids of calls ---------------------------------------------------------------- */

struct seeking {
	uint32_t block;
	uint64_t id; /* 0 = it is no call and no result */
};

static enum status take_block(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct seeking *y = ctx;
	struct block_cursor at = { 0 };
	struct record_block b;

	(void)err;
	*go_on = false;
	while (record_block(line->reader, line->record, &at, &b))
		if (b.index == y->block && b.tool.n)
			y->id = hash64(b.tool.p, b.tool.n);
	return STATUS_OK;
}

/* The call that a block is or answers; 0 = none. */
static enum status id_of(struct answered *a, int64_t row, int64_t offset, uint32_t block, uint64_t *out,
			 struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct seeking y = { .block = block };
	struct session session;
	struct node_name name;
	struct node line;
	uint64_t *ids;
	size_t count;

	if (entry_tools(a->store, row, offset, &mem, &ids, &count, err))
		return err_failed(err->status);
	*out = count ? ids[0] : 0;
	if (count < 2)
		return STATUS_OK;
	if (session_get(a->store, row, &mem, &session, err) ||
	    entry_get(a->store, row, offset, &mem, &line, &name, err) ||
	    transcript_each(&a->transcript, a->store, &session, line.offset, line.offset + line.length, take_block,
			    &y, err))
		return err_failed(err->status);
	*out = y.id;
	return STATUS_OK;
}

/* Of the calls in one transcript, in order. */
struct ids {
	size_t count;
	uint64_t list[];
};

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The first call of a transcript, or of those behind it. */
static size_t first_of(const struct answered_calls *c, int64_t row)
{
	size_t from = 0, to = c->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->list[middle].row < row)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static enum status ids_of(struct answered *a, struct answered_calls *c, int64_t row, const struct ids **out,
			  struct err *err)
{
	size_t first = first_of(c, row), end = first_of(c, row + 1);
	struct ids *ids = map_get(&c->rows, str_from((const char *)&row, sizeof row));

	*out = ids;
	if (ids)
		return STATUS_OK;
	*out = ids = arena_alloc(&a->mem, sizeof *ids + (end - first) * sizeof *ids->list);
	ids->count = 0;
	for (size_t i = first; i < end; i++, ids->count++)
		if (id_of(a, row, c->list[i].offset, c->list[i].block, &ids->list[ids->count], err))
			return err_failed(err->status);
	if (ids->count)
		qsort(ids->list, ids->count, sizeof *ids->list, by_number);
	map_put(&c->rows, arena_str(&a->mem, str_from((const char *)&row, sizeof row)), ids);
	return STATUS_OK;
}

static enum status is_among(struct answered *a, struct answered_calls *c, int64_t row, uint64_t id, bool *out,
			    struct err *err)
{
	const struct ids *ids;

	*out = false;
	if (!c->asked || !id)
		return STATUS_OK;
	if (ids_of(a, c, row, &ids, err))
		return err_failed(err->status);
	*out = ids->count && bsearch(&id, ids->list, ids->count, sizeof id, by_number);
	return STATUS_OK;
}

enum status answered_hold(struct answered *a, const struct doc *doc, bool *out, struct err *err)
{
	uint64_t id = 0;
	bool wanted, unwanted;

	if (doc->session < DOC_NODES && doc->block != DOC_LINE &&
	    id_of(a, doc->session, doc->offset, doc->block, &id, err))
		return err_failed(err->status);
	if (is_among(a, &a->wanted, doc->session, id, &wanted, err) ||
	    is_among(a, &a->unwanted, doc->session, id, &unwanted, err))
		return err_failed(err->status);
	*out = (wanted || !a->wanted.asked) && !unwanted;
	return STATUS_OK;
}
