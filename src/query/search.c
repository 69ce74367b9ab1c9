/*
 * A search: rank the documents that a query means, fetch the text of the best from the
 * archive and cut snippets from it.
 *
 * A note is a document like others, only that it stands in no transcript: its text is a fact, and what
 * is asked of sessions is asked of the one it is on or in.
 *
 * So is a text beside the conversations (query/papers.c), of which only its project and its conversation can be
 * asked. A node that somebody made (query/made.c) is in the conversation it hangs on, if it does, and else only its
 * tree can be asked for. What was typed into a conversation that is here stands there with its answers, and does not
 * count.
 */
#include "query/search.h"

#include "base/map.h"
#include "query/answered.h"
#include "query/branches.h"
#include "query/copies.h"
#include "query/exact.h"
#include "query/lines.h"
#include "query/made.h"
#include "query/variant.h"
#include "store/copied.h"
#include "store/made_text.h"
#include "store/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *search_place_name(int place)
{
	if (place == PLACE_CLIENT)
		place = PLACE_OTHER;
	return place == PLACE_NOTE ? "note" : record_place_name((enum record_place)place);
}

enum { SNIPPET_WIDTH = 220, FIRST_CHECKED = 4096, MORE_CHECKED = 8 };

/* A node, as a session has it. */
struct given {
	struct uuid session, node;
};

struct searching {
	struct store *store;
	const struct search_query *q;
	struct conditions filter;
	struct noted_conditions noted;
	bool asks_results; /* of tools that are named: */
	struct answered answered;
	struct expr open; /* the query without these */
	struct arena mem;
	struct buf text;
	struct session session; /* of the hit before; row 0 = of none */
	struct map given;	/* struct given of the hits so far */
	struct map of_each;	/* how many of each conversation, where these are limited */
	struct map full;	/* transcripts of which no more are wanted */
	struct transcript transcript;
	struct lines_set lines; /* with a check: neighbours are looked at, too */
	struct copies copies;
	struct branches branches;
	struct around_reader around;
	bool by_time;  /* the newest come first, or the oldest */
	bool variants; /* there are lines with one uuid and different contents */
	struct doc_range *copied; /* documents that are copies of others; where only words are asked for none counts,
				   * and those that have none of their own are left out */
	size_t copied_count;
	struct doc_reader docs; /* those that count instead of copies */
	struct map wanted;	/* of sessions that copies are in: a bool */
};

static void searching_release(struct searching *y)
{
	buf_release(&y->text);
	transcript_release(&y->transcript);
	lines_set_release(&y->lines);
	map_release(&y->given);
	map_release(&y->of_each);
	map_release(&y->full);
	copies_release(&y->copies);
	doc_reader_release(&y->docs);
	map_release(&y->wanted);
	branches_release(&y->branches);
	around_reader_release(&y->around);
	noted_conditions_release(&y->noted);
	answered_release(&y->answered);
	expr_release(&y->open);
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
	return status ? err_failed(status) : conditions_may_hold(&y->filter, y->store, &session, wanted, err);
}

/* Of a line whose session is wanted. */
static enum status is_line_wanted(struct searching *y, const struct doc *doc, bool *wanted, struct err *err)
{
	struct str branch;

	*wanted = true;
	if (!conditions_ask_branch(&y->filter))
		return STATUS_OK;
	if (branches_at(&y->branches, y->store, doc->session, doc->offset, &branch, err))
		return err_failed(err->status);
	*wanted = conditions_hold_branch(&y->filter, branch);
	return STATUS_OK;
}

/* What is asked of sessions is asked of the one it is on or in. */
static enum status is_note_wanted(struct searching *y, int64_t row, bool *wanted, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct annotation note;
	struct session session;

	if (annotation_get(y->store, row, &mem, &note, err) ||
	    subject_session(y->store, &note.on, &mem, &session, err))
		return err_failed(err->status);
	*wanted = session.row != 0;
	return *wanted ? conditions_hold(&y->filter, y->store, &session, wanted, err) : STATUS_OK;
}

static enum status is_paper_wanted(struct searching *y, int64_t row, bool *wanted, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct paper_found p;

	if (papers_find(y->store, row, &mem, &p, err))
		return err_failed(err->status);
	return conditions_hold_beside(&y->filter, p.project, p.session.row, wanted, err);
}

static enum status is_node_wanted(struct searching *y, int64_t row, bool *wanted, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct made_found m;

	if (made_found(y->store, row, NODE_SKELETON, &mem, &m, err))
		return err_failed(err->status);
	return m.session.row ? conditions_hold(&y->filter, y->store, &m.session, wanted, err)
			     : conditions_hold_beside(&y->filter, STR(""), conditions_tree(m.tree.row), wanted, err);
}

/* Each of hundreds of copies may be asked for the same few. */
static enum status is_wanted_again(struct searching *y, int64_t row, bool *wanted, struct err *err)
{
	struct str key = str_from((const char *)&row, sizeof row);
	bool *known = map_get(&y->wanted, key);

	if (!known) {
		known = arena_alloc(&y->mem, sizeof *known);
		if (is_wanted(y, row, known, err))
			return err_failed(err->status);
		map_put(&y->wanted, arena_str(&y->mem, key), known);
	}
	*wanted = *known;
	return STATUS_OK;
}

/* Of copies the first that is wanted counts. */
static enum status is_before(void *ctx, const struct doc *doc, bool *go_on, struct err *err)
{
	struct searching *y = ctx;
	bool wanted = conditions_hold_time(&y->filter, doc->at) && noted_conditions_hold(&y->noted, doc);

	if (wanted && conditions_ask_session(&y->filter) && is_wanted_again(y, doc->session, &wanted, err))
		return err_failed(err->status);
	if (wanted && is_line_wanted(y, doc, &wanted, err))
		return err_failed(err->status);
	*go_on = !wanted;
	return STATUS_OK;
}

static enum status is_first_copy(struct searching *y, int64_t id, const struct doc *doc, bool *first,
				 struct err *err)
{
	*first = true;
	if (!doc_ranges_have(y->copied, y->copied_count, doc_sequence(id)))
		return STATUS_OK;
	y->docs.store = y->store;
	return copied_before(y->store, &y->docs, doc_sequence(id), doc, is_before, y, first, err);
}

static enum status is_doc_wanted(void *ctx, int64_t id, const struct doc *doc, bool *wanted, struct err *err)
{
	struct searching *y = ctx;
	bool is_other = doc_rank(id).place == PLACE_OTHER;
	enum beside unmeant = doc->session == DOC_PAPERS ? BESIDE_NOT : BESIDE_ONLY;

	*wanted = (!is_other || y->filter.beside != unmeant) && noted_conditions_hold(&y->noted, doc) &&
		  (y->filter.day_count < 2 || conditions_hold_time(&y->filter, doc->at));
	if (*wanted && y->asks_results && answered_hold(&y->answered, doc, wanted, err))
		return err_failed(err->status);
	if (*wanted && doc->session == DOC_NOTES && conditions_ask_session(&y->filter))
		return is_note_wanted(y, doc->offset, wanted, err);
	if (*wanted && doc->session == DOC_PAPERS && conditions_ask_session(&y->filter))
		return is_paper_wanted(y, doc->offset, wanted, err);
	if (*wanted && doc->session == DOC_NODES && conditions_ask_session(&y->filter))
		return is_node_wanted(y, doc->offset, wanted, err);
	if (*wanted && doc->session < DOC_NODES && is_line_wanted(y, doc, wanted, err))
		return err_failed(err->status);
	return *wanted ? is_first_copy(y, id, doc, wanted, err) : STATUS_OK;
}

/* ---- A hit ------------------------------------------------------------------- */

/* The text of a document, from its line. */
struct fetching {
	struct searching *y;
	const struct doc *doc;
	const struct node_name *name;
	bool is_block;
	bool is_inside; /* it may be a message inside of another line */
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
	f->is_inside = !line->record->session.n && record_is_message(line->record);
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
		block_said(line->reader, &b, &f->y->text);
		f->is_block = true;
		f->block = b;
		f->block.name = arena_str(&f->y->mem, b.name);
		f->block.tool = arena_str(&f->y->mem, b.tool);
		break;
	}
	return STATUS_OK;
}

/* The text of a document, or as much of it as the line still has. */
static enum status fetch(struct fetching *f, const struct node *line, struct err *err)
{
	struct chain_line at = { .offset = line->offset, .length = line->length };
	struct searching *y = f->y;
	struct record record;
	struct lines *lines;
	bool go_on;

	buf_clear(&y->text);
	if (!y->q->check)
		return transcript_each(&y->transcript, y->store, &y->session, line->offset,
				       line->offset + line->length, fetch_text, f, err);
	lines = lines_set_of(&y->lines, &y->session);
	if (lines_get(lines, &at, &record, err))
		return err_failed(err->status);
	return fetch_text(f, &(struct transcript_line){ &record, &lines->reader, line->offset }, &go_on, err);
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

/* Whether a transcript has given as many as it may. */
static bool is_full(const struct searching *y, int64_t row)
{
	return y->q->each && map_get(&y->full, str_from((const char *)&row, sizeof row));
}

/* One more of the conversation in hand; false when that is one too many. */
static bool count_of_each(struct searching *y)
{
	struct str id = str_from((const char *)y->session.id.b, UUID_BYTES);
	struct str row = str_from((const char *)&y->session.row, sizeof y->session.row);
	size_t *count = map_get(&y->of_each, id);

	if (!count) {
		count = arena_alloc(&y->mem, sizeof *count);
		map_put(&y->of_each, arena_str(&y->mem, id), count);
	}
	if (*count >= y->q->each)
		map_put(&y->full, arena_str(&y->mem, row), y);
	return (*count)++ < y->q->each;
}

/* So too a node of a conversation, of which no more may be wanted. */
static bool is_given_here(struct searching *y, const struct uuid *node)
{
	struct given g = { y->session.id, *node };

	if (y->q->each && !map_get(&y->given, str_from((const char *)&g, sizeof g)) && !count_of_each(y))
		return true;
	return is_given(y, node);
}

/* Whether a hit is none any more: it was given, or belongs to a page before. */
static bool is_passed_over(struct searching *y, const struct uuid *id)
{
	return is_given_here(y, id) || y->given.count <= y->q->offset;
}

/* The second look at the text in hand, before which so many bytes of something else stand. */
static bool passes_check(const struct searching *y, size_t front)
{
	if (!y->q->check)
		return true;
	y->q->check->front = front;
	return grep_text(y->q->check, buf_as_str(&y->text));
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

/* Of a line of the session in hand. */
static enum status find_around(struct searching *y, int64_t offset, struct around *out, struct err *err)
{
	return around_get(&y->around, &y->transcript, y->store, &y->session, offset, y->q->context, &y->mem, out, err);
}

/* The conversation of a note, and the line it is on, if it is on one. */
static enum status find_subject(struct searching *y, struct search_hit *hit, struct err *err)
{
	struct node_name name;
	struct node node, line;

	if (subject_session(y->store, &hit->note->on, &y->mem, &y->session, err) ||
	    node_place(y->store, &hit->id, y->session.row, &node, &hit->in_line, err))
		return err_failed(err->status);
	if (hit->in_line) {
		if ((y->session.row != node.session &&
		     session_get(y->store, node.session, &y->mem, &y->session, err)) ||
		    entry_get(y->store, node.session, node.offset, &y->mem, &line, &name, err) ||
		    entry_message(y->store, &line, &name, &y->mem, &hit->message, err))
			return err_failed(err->status);
		hit->line = name.uuid;
		hit->offset = line.offset;
		if (branches_at(&y->branches, y->store, node.session, line.offset, &hit->branch, err))
			return err_failed(err->status);
	}
	hit->session = y->session.row ? &y->session : NULL;
	hit->agent = y->session.agent;
	return STATUS_OK;
}

static enum status give_note(struct searching *y, const struct ranked *r, int64_t total, search_fn *fn, void *ctx,
			     struct err *err)
{
	struct snippet snippet CLEANUP(snippet_release) = { 0 };
	struct annotation note;
	struct search_hit hit = { .score = r->score, .total = total, .snippet = &snippet, .note = &note };

	if (annotation_get(y->store, r->doc.offset, &y->mem, &note, err))
		return err_fail(err, STATUS_CORRUPT, "%s: the index has words of a note that is not there; 'arbor "
						     "rebuild' makes it anew", store_path(y->store));
	/* Its own conversation follows; whether it was given does not depend on one. */
	y->session = (struct session){ 0 };
	buf_clear(&y->text);
	buf_str(&y->text, note.kind == ANNOTATION_NOTE ? note.text : note.name);
	if (!passes_check(y, 0))
		return STATUS_OK;
	if (is_given(y, &note.id) || y->given.count <= y->q->offset)
		return STATUS_OK;
	hit.id = note.on.id;
	hit.place = PLACE_NOTE;
	hit.at = note.updated_at;
	hit.number = (int64_t)y->given.count;
	if (find_subject(y, &hit, err))
		return err_failed(err->status);
	make_snippet(y, &snippet);
	if (y->q->context && hit.in_line && find_around(y, hit.offset, &hit.around, err))
		return err_failed(err->status);
	return fn(ctx, &hit, err);
}

/* Copies of a file, in several mirrored folders, say the same at the same place. */
static bool is_paper_given(struct searching *y, const struct paper *p)
{
	char at[24];
	struct uuid said;

	snprintf(at, sizeof at, "%" PRId64, p->at);
	said = uuid_of_parts((struct str[]){ p->path, str_of(at), buf_as_str(&y->text) }, 3);
	y->session = (struct session){ 0 };
	return is_given(y, &said);
}

static enum status give_paper(struct searching *y, const struct ranked *r, int64_t total, search_fn *fn, void *ctx,
			      struct err *err)
{
	struct snippet snippet CLEANUP(snippet_release) = { 0 };
	struct paper_found p;
	struct search_hit hit = { .score = r->score, .total = total, .snippet = &snippet, .paper = &p };

	buf_clear(&y->text);
	if (papers_find(y->store, r->doc.offset, &y->mem, &p, err) ||
	    papers_text(y->store, &p, &y->mem, &y->text, err))
		return err_failed(err->status);
	if (!passes_check(y, 0))
		return STATUS_OK;
	if (is_paper_given(y, &p.paper) || y->given.count <= y->q->offset)
		return STATUS_OK;
	hit.id = p.paper.has_id ? p.paper.id : p.paper.source_id;
	hit.session = p.session.row ? &p.session : NULL;
	hit.place = doc_rank(r->id).place;
	hit.at = p.paper.at ? p.paper.at : p.paper.dated;
	hit.offset = p.paper.offset;
	hit.number = (int64_t)y->given.count;
	make_snippet(y, &snippet);
	return fn(ctx, &hit, err);
}

/* Of copies the canonical one is given, if it is one that is asked for. *passed: in the order of time that one has a
 * place of its own, at another time. */
static enum status choose_copy(struct searching *y, struct doc *doc, int64_t *others, bool *passed, struct err *err)
{
	struct copy_found found;
	struct doc canon = *doc;
	bool unwanted = false;

	if (copies_find(&y->copies, y->store, doc->session, doc->offset, &found, err))
		return err_failed(err->status);
	*others = found.others;
	if (found.session == doc->session && found.offset == doc->offset)
		return STATUS_OK;
	canon.session = found.session;
	canon.offset = found.offset;
	canon.at = found.at;
	if (is_before(y, &canon, &unwanted, err))
		return err_failed(err->status);
	if (unwanted)
		return STATUS_OK;
	*passed = y->by_time && found.renamed && found.at != doc->at;
	*doc = canon;
	return STATUS_OK;
}

static enum status give_node(struct searching *y, const struct ranked *r, int64_t total, search_fn *fn, void *ctx,
			     struct err *err)
{
	struct snippet snippet CLEANUP(snippet_release) = { 0 };
	struct made_found m;
	struct search_hit hit = { .score = r->score, .total = total, .snippet = &snippet, .made = &m };

	if (made_found(y->store, r->doc.offset, NODE_WHOLE, &y->mem, &m, err))
		return err_failed(err->status);
	buf_clear(&y->text);
	made_text(&m.node, &y->text);
	if (!passes_check(y, 0))
		return STATUS_OK;
	y->session = (struct session){ 0 };
	if (is_given(y, &m.node.id) || y->given.count <= y->q->offset)
		return STATUS_OK;
	hit.id = m.node.id;
	hit.session = m.session.row ? &m.session : NULL;
	hit.place = doc_rank(r->id).place;
	hit.at = m.node.created_at;
	hit.number = (int64_t)y->given.count;
	make_snippet(y, &snippet);
	return fn(ctx, &hit, err);
}

static enum status give_hit(struct searching *y, const struct ranked *r, int64_t total, search_fn *fn, void *ctx,
			    struct err *err)
{
	struct doc doc = r->doc;
	struct node_name name;
	struct fetching f = { .y = y, .doc = &doc, .name = &name };
	struct snippet snippet CLEANUP(snippet_release) = { 0 };
	struct search_hit hit = { .score = r->score,
				  .total = total,
				  .in_line = true,
				  .session = &y->session,
				  .snippet = &snippet };
	/* Whether it is one more can be known before its text is. */
	bool is_early = !y->variants && !y->q->check, passed = false;
	struct node line;

	if (r->doc.session == DOC_NOTES)
		return give_note(y, r, total, fn, ctx, err);
	if (r->doc.session == DOC_PAPERS)
		return give_paper(y, r, total, fn, ctx, err);
	if (r->doc.session == DOC_NODES)
		return give_node(y, r, total, fn, ctx, err);
	if (is_full(y, doc.session))
		return STATUS_OK;
	if (choose_copy(y, &doc, &hit.others, &passed, err))
		return err_failed(err->status);
	if (passed)
		return STATUS_OK;
	if (y->session.row != doc.session &&
	    session_get(y->store, doc.session, &y->mem, &y->session, err))
		return err_failed(err->status);
	if (is_full(y, doc.session))
		return STATUS_OK;
	if (entry_get(y->store, doc.session, doc.offset, &y->mem, &line, &name, err) ||
	    entry_message(y->store, &line, &name, &y->mem, &hit.message, err))
		return err_failed(err->status);
	hit.id = node_id(&name, doc.block == DOC_LINE ? PART_LINE : doc.block);
	if (is_early && is_passed_over(y, &hit.id))
		return STATUS_OK;
	if (fetch(&f, &line, err))
		return err_failed(err->status);
	/* Its block's id may mean another line's, which says something else. */
	if (f.is_variant)
		hit.id = f.variant;
	if (!passes_check(y, f.is_block && f.block.kind == BLOCK_TOOL_USE ? f.block.name.n : 0))
		return STATUS_OK;
	if (!is_early && is_passed_over(y, &hit.id))
		return STATUS_OK;
	make_snippet(y, &snippet);
	hit.number = (int64_t)y->given.count;
	hit.line = name.uuid;
	hit.place = doc_rank(r->id).place;
	hit.at = line.at;
	hit.offset = line.offset;
	hit.block = f.is_block ? &f.block : NULL;
	hit.agent = y->session.agent;
	if (branches_at(&y->branches, y->store, y->session.row, line.offset, &hit.branch, err))
		return err_failed(err->status);
	if (f.is_inside && !hit.agent.n && entry_agent(y->store, y->session.row, line.offset, &y->mem, &hit.agent, err))
		return err_failed(err->status);
	if (doc.block == DOC_LINE && hit.place == PLACE_PROMPT &&
	    entry_flags(y->store, y->session.row, line.offset, &hit.flags, err))
		return err_failed(err->status);
	if (y->q->context && find_around(y, line.offset, &hit.around, err))
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

	if (rank_run(y->store, rank, &ranking, err) ||
	    (rank->order == RANK_BEST && exact_first(y->store, y->q->expr, &ranking, err)))
		return err_failed(err->status);
	for (; i < ranking.count && y->given.count < enough; i++)
		if (give_hit(y, &ranking.list[i], ranking.total - (int64_t)(i - y->given.count), fn, ctx, err))
			return err_failed(err->status);
	*all = i < ranking.count || ranking.count < rank->limit || y->given.count >= enough || !rank->limit;
	report->total = ranking.total - (int64_t)(i - y->given.count);
	report->about = (int64_t)i < ranking.total && y->copies.renamed;
	return (int64_t)i < ranking.total && !report->about ? copied_renamed(y->store, &report->about, err) : STATUS_OK;
}

/* Those that pass the check, of the next ones of a ranking that has them in the order of any other. */
static enum status give_next(struct searching *y, const struct rank_query *rank, search_fn *fn, void *ctx,
			     struct search_report *report, bool *all, struct err *err)
{
	struct ranking ranking CLEANUP(ranking_release) = { 0 };
	size_t enough = y->q->limit ? y->q->limit + y->q->offset : SIZE_MAX;
	size_t i = (size_t)report->looked;

	if (rank_run(y->store, rank, &ranking, err))
		return err_failed(err->status);
	for (; i < ranking.count && y->given.count < enough && !y->q->check->gave_up; i++)
		if (give_hit(y, &ranking.list[i], 0, fn, ctx, err))
			return err_failed(err->status);
	report->looked = (int64_t)i;
	report->total = (int64_t)y->given.count;
	report->unread = y->q->check->unread;
	report->more = (int64_t)i < ranking.total || y->q->check->gave_up;
	report->gave_up = report->more && y->given.count < enough;
	report->more |= report->unread > 0;
	*all = y->q->check->gave_up || y->given.count >= enough || (int64_t)i >= ranking.total;
	return STATUS_OK;
}

/* Some at first, since mostly these are enough; then as many as there is time for. */
static enum status give_checked(struct searching *y, struct rank_query *rank, search_fn *fn, void *ctx,
				struct search_report *report, struct err *err)
{
	bool all = false;

	for (rank->limit = FIRST_CHECKED; !all; rank->limit *= MORE_CHECKED)
		if (give_next(y, rank, fn, ctx, report, &all, err))
			return err_failed(err->status);
	return STATUS_OK;
}

_Static_assert((int)MADE_PLACE_USER == (int)PLACE_PROMPT && (int)MADE_PLACE_ASSISTANT == (int)PLACE_ANSWER &&
		       (int)MADE_PLACE_OTHER == (int)PLACE_OTHER,
	       "nodes count as what is said in conversations");

static int by_first(const void *a, const void *b)
{
	const struct doc_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Those in order that overlap as one: who looks for a document looks at the last that begins before it. */
static size_t merge_ranges(struct doc_range *list, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t end = list[i].first + list[i].count;
		struct doc_range *last = kept ? &list[kept - 1] : NULL;

		if (!last || last->first + last->count < list[i].first)
			list[kept++] = list[i];
		else if (end > last->first + last->count)
			last->count = end - last->first;
	}
	return kept;
}

static void join_ranges(struct arena *mem, struct doc_range **list, size_t *count, const struct doc_range *more,
			size_t more_count)
{
	struct doc_range *all = arena_alloc(mem, (*count + more_count + 1) * sizeof *all);

	if (*count)
		memcpy(all, *list, *count * sizeof *all);
	memcpy(all + *count, more, more_count * sizeof *all);
	*count += more_count;
	qsort(all, *count, sizeof *all, by_first);
	*count = merge_ranges(all, *count);
	*list = all;
}

/* What is asked of the words. */
static const struct expr *asked_of(const struct searching *y)
{
	return y->asks_results ? &y->open : y->q->expr;
}

/* Documents that a query has nothing but, and does not want. */
static enum status find_unwanted(struct searching *y, struct doc_range **out, size_t *count, struct err *err)
{
	struct rank_query rank = { .match = buf_as_str(&asked_of(y)->unwanted),
				   .now = store_now(y->store),
				   .weights = search_weights,
				   .place_count = SEARCH_PLACES };
	struct ranking ranking CLEANUP(ranking_release) = { 0 };

	*count = 0;
	if (!rank.match.n)
		return STATUS_OK;
	if (rank_run(y->store, &rank, &ranking, err))
		return err_failed(err->status);
	*out = arena_alloc(&y->mem, (ranking.count + 1) * sizeof **out);
	for (size_t i = 0; i < ranking.count; i++)
		(*out)[(*count)++] = (struct doc_range){ doc_sequence(ranking.list[i].id), 1 };
	return STATUS_OK;
}

/* Documents that do not count, by sequence: typed into conversations that are here; made nodes that are archived; and
 * copies, unless each has to be looked at. */
static enum status find_left_out(struct searching *y, struct rank_query *rank, struct err *err)
{
	struct doc_range *all, *archived, *unwanted;
	size_t count, more = 0, unwanted_count;

	if (paper_told(y->store, &y->mem, &all, &count, err) ||
	    (!y->q->archived && made_text_archived(y->store, &y->mem, &archived, &more, err)) ||
	    find_unwanted(y, &unwanted, &unwanted_count, err))
		return err_failed(err->status);
	if (unwanted_count)
		join_ranges(&y->mem, &all, &count, unwanted, unwanted_count);
	if (more)
		join_ranges(&y->mem, &all, &count, archived, more);
	if (!rank->doc && y->copied_count)
		join_ranges(&y->mem, &all, &count, y->copied, y->copied_count);
	rank->without_count = count;
	rank->without = all;
	rank->without_copies = !rank->doc;
	return STATUS_OK;
}

enum status search_run(struct store *s, const struct search_query *q, search_fn *fn, void *ctx,
		       struct search_report *report, struct err *err)
{
	struct searching y CLEANUP(searching_release) = {
		.store = s, .q = q, .filter = q->filter, .text = BUF_INIT(2 * LIMIT_LINE_PARSED)
	};
	struct rank_query rank = { .limit = q->limit ? q->limit + q->offset : 0,
				   .now = store_now(s),
				   .weights = q->weights ? q->weights : search_weights,
				   .place_count = SEARCH_PLACES,
				   .order = q->order };
	bool asks_session, asks_role, asks_copies, asks_days, any_copied;

	transcript_init(&y.transcript);
	y.lines.store = s;
	y.transcript.peek = true;
	y.filter.expr = q->expr;
	if (conditions_read(&y.filter, rank.now, err) || noted_conditions_read(&y.noted, s, q->expr, err) ||
	    variant_any(s, &y.variants, err) || copied_any(s, &any_copied, err))
		return err_failed(err->status);
	y.asks_results = answered_asks(&y.filter) && expr_without_tools(q->expr, &y.open, &y.mem);
	if (y.asks_results && answered_read(&y.answered, s, q->expr, err))
		return err_failed(err->status);
	rank.match = buf_as_str(&asked_of(&y)->match);
	rank.items = asked_of(&y)->items;
	rank.phrase_count = asked_of(&y)->phrase_count;
	rank.places = y.filter.places;
	rank.after = y.filter.after;
	rank.before = y.filter.before;
	asks_session = conditions_ask_session(&y.filter);
	rank.session = asks_session ? is_wanted : NULL;
	if (!q->expr->count && rank.order == RANK_BEST)
		rank.order = RANK_RECENT;
	y.by_time = rank.order != RANK_BEST;
	asks_role = y.filter.beside != BESIDE_TOO && (!rank.places || rank.places & 1u << PLACE_OTHER);
	asks_copies = any_copied && (rank.after || rank.before);
	asks_days = y.filter.day_count > 1;
	rank.doc = asks_session || asks_role || asks_copies || asks_days || y.noted.any || y.asks_results ?
			   is_doc_wanted : NULL;
	if ((any_copied && copied_load(s, rank.doc || !rank.match.n, &y.mem, &y.copied, &y.copied_count, err)) ||
	    find_left_out(&y, &rank, err))
		return err_failed(err->status);
	rank.wanted_ctx = &y;
	report->about = report->more = report->gave_up = false;
	report->looked = report->unread = 0;
	if (q->expr->cited && rank.limit && rank.limit < EXACT_FIRST)
		rank.limit = EXACT_FIRST;
	if (q->check)
		return give_checked(&y, &rank, fn, ctx, report, err);
	for (bool all = false; !all; rank.limit *= 2)
		if (give_hits(&y, &rank, fn, ctx, report, &all, err))
			return err_failed(err->status);
	return STATUS_OK;
}
