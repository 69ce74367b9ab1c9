/*
 * A search: rank the documents that a query means, fetch the text of the best from the
 * archive and cut snippets from it.
 *
 * Places weigh differently: what a person asked says more about a conversation than
 * what a tool printed.
 */
#include "query/search.h"

#include "base/map.h"
#include "query/variant.h"
#include "store/variant.h"

const double search_weights[PLACES] = {
	[PLACE_PROMPT] = 2.0, [PLACE_ANSWER] = 1.5, [PLACE_THINKING] = 0.9,
	[PLACE_INPUT] = 1.0,  [PLACE_OUTPUT] = 0.6, [PLACE_OTHER] = 1.2,
};

enum { SNIPPET_WIDTH = 220, MOST_CHECKED = 5000 };

/* A node, as a session has it. */
struct given {
	struct uuid session, node;
};

struct searching {
	struct store *store;
	const struct search_query *q;
	struct conditions filter;
	struct arena mem;
	struct buf text;
	struct session session; /* of the hit before */
	struct map given;	/* struct given of the hits so far */
	struct transcript transcript;
	bool variants; /* there are lines with one uuid and different contents */
};

static void searching_release(struct searching *y)
{
	buf_release(&y->text);
	transcript_release(&y->transcript);
	map_release(&y->given);
	arena_release(&y->mem);
}

/* ---- Sessions wanted --------------------------------------------------------- */

static enum status is_wanted(void *ctx, int64_t row, bool *wanted, struct err *err)
{
	struct searching *y = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct session session;
	enum status status = session_get(y->store, row, &mem, &session, err);

	*wanted = false;
	/* There is no such session any more, or the slot is damaged: whoever looks for all will meet it. */
	if (status == STATUS_NOT_FOUND)
		return STATUS_OK;
	return status ? err_failed(status) : conditions_hold(&y->filter, y->store, &session, wanted, err);
}

/* ---- A hit ------------------------------------------------------------------- */

/* The text of a document, from its line. */
struct fetching {
	struct searching *y;
	const struct doc *doc;
	const struct node_name *name;
	bool is_block;
	struct record_block block; /* texts in the arena */
	bool is_variant;
	struct uuid variant;
};

static enum status fetch_text(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct fetching *f = ctx;
	struct block_cursor at = { 0 };
	struct record_block b;

	*go_on = false;
	if (f->y->variants && variant_id_of(f->y->store, line->reader, line->record, f->name, &f->is_variant,
					    &f->variant, err))
		return err_failed(err->status);
	if (f->doc->block == DOC_LINE) {
		record_text(line->reader, line->record, &f->y->text);
		return STATUS_OK;
	}
	while (record_block(line->reader, line->record, &at, &b)) {
		if (b.index != f->doc->block)
			continue;
		block_text(line->reader, &b, &f->y->text);
		f->is_block = true;
		f->block = b;
		f->block.name = arena_str(&f->y->mem, b.name);
		f->block.tool = arena_str(&f->y->mem, b.tool);
		break;
	}
	return STATUS_OK;
}

/* Copies of a session, in several mirrored folders, have the same nodes. */
static bool is_given(struct searching *y, const struct uuid *node)
{
	struct given *g = arena_alloc(&y->mem, sizeof *g);

	*g = (struct given){ y->session.id, *node };
	if (map_get(&y->given, str_from((const char *)g, sizeof *g)))
		return true;
	map_put(&y->given, str_from((const char *)g, sizeof *g), g);
	return false;
}

static void make_snippet(const struct searching *y, struct snippet *out)
{
	const struct grep *check = y->q->check;
	struct str text = buf_as_str(&y->text);

	if (check && check->count)
		snippet_make_at(out, text, check->found, check->count, SNIPPET_WIDTH);
	else
		snippet_make(out, text, y->q->expr, SNIPPET_WIDTH);
}

static enum status give_hit(struct searching *y, const struct ranked *r, int64_t total, search_fn *fn, void *ctx,
			    struct err *err)
{
	struct node_name name;
	struct fetching f = { .y = y, .doc = &r->doc, .name = &name };
	struct snippet snippet CLEANUP(snippet_release) = { 0 };
	struct search_hit hit = { .score = r->score, .total = total, .session = &y->session, .snippet = &snippet };
	/* Whether it is one more can be known before its text is. */
	bool is_early = !y->variants && !y->q->check;
	struct node line;

	if (y->session.row != r->doc.session &&
	    session_get(y->store, r->doc.session, &y->mem, &y->session, err))
		return err_failed(err->status);
	if (entry_get(y->store, r->doc.session, r->doc.offset, &y->mem, &line, &name, err) ||
	    entry_message(y->store, &line, &name, &y->mem, &hit.message, err))
		return err_failed(err->status);
	hit.id = node_id(&name, r->doc.block == DOC_LINE ? PART_LINE : r->doc.block);
	if (is_early && (is_given(y, &hit.id) || y->given.count <= y->q->offset))
		return STATUS_OK;
	buf_clear(&y->text);
	if (transcript_each(&y->transcript, y->store, &y->session, line.offset, line.offset + line.length,
			    fetch_text, &f, err))
		return err_failed(err->status);
	/* Its block's id may mean another line's, which says something else. */
	if (f.is_variant)
		hit.id = f.variant;
	if (y->q->check && !grep_text(y->q->check, buf_as_str(&y->text)))
		return STATUS_OK;
	if (!is_early && (is_given(y, &hit.id) || y->given.count <= y->q->offset))
		return STATUS_OK;
	make_snippet(y, &snippet);
	hit.number = (int64_t)y->given.count;
	hit.line = name.uuid;
	hit.place = (enum record_place)doc_rank(r->id).place;
	hit.at = line.at;
	hit.offset = line.offset;
	hit.block = f.is_block ? &f.block : NULL;
	if (y->q->context && around_get(&y->transcript, y->store, &y->session, line.offset, y->q->context, &y->mem,
					&hit.around, err))
		return err_failed(err->status);
	return fn(ctx, &hit, err);
}

/* The best that were not given yet. Whether that is *all there is to give: where there are
 * copies among them, more have to be asked for. */
static enum status give_hits(struct searching *y, const struct rank_query *rank, search_fn *fn, void *ctx,
			     struct search_report *report, bool *all, struct err *err)
{
	struct ranking ranking CLEANUP(ranking_release) = { 0 };
	size_t i = 0, enough = y->q->limit ? y->q->limit + y->q->offset : SIZE_MAX;

	if (rank_run(y->store, rank, &ranking, err))
		return err_failed(err->status);
	for (; i < ranking.count && y->given.count < enough; i++)
		if (give_hit(y, &ranking.list[i], ranking.total - (int64_t)(i - y->given.count), fn, ctx, err))
			return err_failed(err->status);
	*all = i < ranking.count || ranking.count < rank->limit || y->given.count >= enough || !rank->limit;
	report->total = ranking.total - (int64_t)(i - y->given.count);
	return STATUS_OK;
}

/* Those that pass the check, of the first so many. */
static enum status give_checked(struct searching *y, const struct rank_query *rank, search_fn *fn, void *ctx,
				struct search_report *report, struct err *err)
{
	struct ranking ranking CLEANUP(ranking_release) = { 0 };
	size_t i = 0, enough = y->q->limit ? y->q->limit + y->q->offset : SIZE_MAX;

	if (rank_run(y->store, rank, &ranking, err))
		return err_failed(err->status);
	for (; i < ranking.count && y->given.count < enough && !y->q->check->gave_up; i++)
		if (give_hit(y, &ranking.list[i], 0, fn, ctx, err))
			return err_failed(err->status);
	report->total = (int64_t)y->given.count;
	report->more = (int64_t)i < ranking.total || y->q->check->gave_up;
	report->gave_up = report->more && y->given.count < enough;
	return STATUS_OK;
}

enum status search_run(struct store *s, const struct search_query *q, search_fn *fn, void *ctx,
		       struct search_report *report, struct err *err)
{
	struct searching y CLEANUP(searching_release) = {
		.store = s, .q = q, .filter = q->filter, .text = BUF_INIT(2 * LIMIT_LINE_PARSED)
	};
	struct rank_query rank = { .match = buf_as_str(&q->expr->match),
				   .items = q->expr->items,
				   .phrase_count = q->expr->phrase_count,
				   .limit = q->limit ? q->limit + q->offset : 0,
				   .now = store_now(s),
				   .weights = search_weights,
				   .place_count = PLACES,
				   .order = q->order };

	transcript_init(&y.transcript);
	y.transcript.peek = true;
	y.filter.expr = q->expr;
	if (conditions_read(&y.filter, rank.now, err) || variant_any(s, &y.variants, err))
		return err_failed(err->status);
	rank.places = y.filter.places;
	rank.after = y.filter.after;
	rank.before = y.filter.before;
	rank.session = conditions_ask_session(&y.filter) ? is_wanted : NULL;
	rank.session_ctx = &y;
	if (!q->expr->count && rank.order == RANK_BEST)
		rank.order = RANK_RECENT;
	report->more = report->gave_up = false;
	if (q->check) {
		rank.limit = MOST_CHECKED;
		return give_checked(&y, &rank, fn, ctx, report, err);
	}
	for (bool all = false; !all; rank.limit *= 2)
		if (give_hits(&y, &rank, fn, ctx, report, &all, err))
			return err_failed(err->status);
	return STATUS_OK;
}
