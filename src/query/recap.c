/*
 * Reading a transcript for what is worth remembering of it.
 *
 * Of each text only what claude/gist.h finds in it. Sub-agents' lines, what no model answered and
 * what the client put in do not count. A very long transcript is read from a line some megabytes
 * before its end on: what somebody goes on with was said last.
 */
#include "query/recap.h"

#include "claude/gist.h"
#include "query/transcript.h"
#include "store/db.h"

enum { RECAP_FROM, RECAP_STATEMENTS };

static const char *const sql[RECAP_STATEMENTS] = {
	[RECAP_FROM] = "SELECT coalesce(min(offset), 0) FROM entry WHERE session = ?1 AND offset >= ?2",
};

const struct db_set recap_statements = { DB_RECAP, sql, RECAP_STATEMENTS };

enum { MOST_PROMPT = 200, MOST_OUTCOME = 280, MOST_ERROR = 160 };

struct recap {
	struct store *store;
	int64_t session; /* row */
	recap_fn *fn;
	void *ctx;
	struct buf text, short_text;
	struct buf outcome;
	int64_t outcome_at;
	int64_t at; /* of the line in hand */
	bool typed;
};

static void recap_release(struct recap *r)
{
	buf_release(&r->text);
	buf_release(&r->short_text);
	buf_release(&r->outcome);
}

static void give(struct recap *r, enum recap_kind kind, struct str text)
{
	if (text.n)
		r->fn(r->ctx,
		      &(struct recap_item){ .kind = kind, .text = text, .at = r->at, .typed = r->typed });
}

static void take_decision(void *ctx, struct str sentence)
{
	give(ctx, RECAP_DECISION, sentence);
}

static void take_prompt(struct recap *r)
{
	struct str text = buf_as_str(&r->text);

	if (!record_text_is_typed(text) || !gist_says_something(text))
		return;
	r->typed = true;
	buf_clear(&r->short_text);
	record_short(text, MOST_PROMPT, &r->short_text);
	give(r, RECAP_PROMPT, buf_as_str(&r->short_text));
	gist_decisions(text, true, take_decision, r);
}

/* The last one that says something is how it ended. */
static void take_answer(struct recap *r)
{
	buf_clear(&r->short_text);
	gist_outcome(buf_as_str(&r->text), MOST_OUTCOME, &r->short_text);
	if (r->short_text.n >= 40 || !r->outcome.n) {
		buf_clear(&r->outcome);
		buf_str(&r->outcome, buf_as_str(&r->short_text));
		r->outcome_at = r->at;
	}
	r->typed = false;
	gist_decisions(buf_as_str(&r->text), false, take_decision, r);
}

static void take_error(struct recap *r)
{
	struct str line = gist_error(buf_as_str(&r->text));

	buf_clear(&r->short_text);
	record_short(line, MOST_ERROR, &r->short_text);
	give(r, RECAP_ERROR, buf_as_str(&r->short_text));
}

static void take_block(struct recap *r, const struct record *rec, const struct record_block *b)
{
	if (b->kind == BLOCK_TOOL_RESULT && b->is_error)
		take_error(r);
	else if (b->kind == BLOCK_TEXT && rec->type == RECORD_ASSISTANT)
		take_answer(r);
	else if (b->kind == BLOCK_TEXT && record_is_typed(rec->flags))
		take_prompt(r);
}

static enum status take_line(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	const unsigned aside = RECORD_SIDECHAIN | RECORD_EMBEDDED | RECORD_META | RECORD_COMPACT |
			       RECORD_SYNTHETIC | RECORD_ERROR | RECORD_TASK;
	const struct record *rec = line->record;
	struct block_cursor at = { 0 };
	struct recap *r = ctx;
	unsigned flags = rec->flags;
	struct record_block b;

	(void)go_on;
	if (rec->flags & aside)
		return STATUS_OK;
	r->at = rec->has_time ? rec->at : 0;
	while (record_block(line->reader, rec, &at, &b)) {
		buf_clear(&r->text);
		block_said(line->reader, &b, &r->text);
		take_block(r, rec, &b);
	}
	if ((rec->flags & RECORD_ENQUEUED) &&
	    entry_flags(r->store, r->session, line->offset, &flags, err))
		return err_failed(err->status);
	if (flags & RECORD_QUEUED) {
		buf_clear(&r->text);
		record_text(line->reader, rec, &r->text);
		take_prompt(r);
	}
	return STATUS_OK;
}

static enum status find_from(struct store *s, const struct session *session, int64_t *from, struct err *err)
{
	STMT st = { 0 };

	*from = 0;
	if (session->read_to <= LIMIT_RECAP)
		return STATUS_OK;
	if (stmt_use(s, &recap_statements, RECAP_FROM, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, session->row);
	stmt_int(&st, 2, session->read_to - LIMIT_RECAP);
	if (stmt_row(&st, "a line", err))
		return err_failed(err->status);
	*from = col_int(&st, 0);
	return STATUS_OK;
}

enum status recap_read(struct store *s, const struct session *session, recap_fn *fn, void *ctx,
		       struct err *err)
{
	struct recap r CLEANUP(recap_release) = { .store = s,
						  .session = session->row,
						  .fn = fn,
						  .ctx = ctx,
						  .text = BUF_INIT(2 * LIMIT_LINE_PARSED),
						  .short_text = BUF_INIT(64 * KIB),
						  .outcome = BUF_INIT(64 * KIB) };
	struct transcript t CLEANUP(transcript_release);
	int64_t from;

	transcript_init(&t);
	if (find_from(s, session, &from, err) ||
	    transcript_each(&t, s, session, from, session->read_to, take_line, &r, err))
		return err_failed(err->status);
	r.at = r.outcome_at;
	give(&r, RECAP_OUTCOME, buf_as_str(&r.outcome));
	return STATUS_OK;
}
