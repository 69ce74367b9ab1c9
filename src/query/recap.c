/*
 * Reading a transcript for what is worth remembering of it.
 *
 * Of each text only what claude/gist.h finds in it. A decision that says nothing by itself is told with what it is
 * about (claude/choice.h), or not at all. How it ended is the last answer of a turn that says something, which no call
 * of a tool follows: what is said before one is what somebody is about to do. A commit that was made then is told with
 * it.
 * Sub-agents' lines, what no model answered and
 * what the client put in do not count. A very long transcript is read from a line some megabytes
 * before its end on: what somebody goes on with was said last.
 */
#include "query/recap.h"

#include "claude/choice.h"
#include "claude/gist.h"
#include "claude/mention.h"
#include "query/transcript.h"
#include "store/db.h"

#include <string.h>

enum { RECAP_FROM, RECAP_STATEMENTS };

static const char *const sql[RECAP_STATEMENTS] = {
	[RECAP_FROM] = "SELECT coalesce(min(offset), 0) FROM entry WHERE session = ?1 AND offset >= ?2",
};

const struct db_set recap_statements = { DB_RECAP, sql, RECAP_STATEMENTS };

enum { MOST_PROMPT = 200, MOST_OUTCOME = 280, MOST_ERROR = 160 };

/* What may be how it ended. */
struct ending {
	struct buf text;
	int64_t at, turn;
};

struct recap {
	struct store *store;
	int64_t session; /* row */
	recap_fn *fn;
	void *ctx;
	struct buf text, short_text;
	struct buf answer; /* the one before, whole */
	struct ending said;    /* that nothing has followed yet */
	struct ending interim; /* that a call followed */
	struct ending outcome;
	struct ending commit;  /* without its first letter, which depends on what stands before it */
	int64_t turn; /* prompts so far */
	int64_t at; /* of the line in hand */
	bool typed;
	struct str kind_of;
	bool slip;
};

static void recap_release(struct recap *r)
{
	buf_release(&r->text);
	buf_release(&r->short_text);
	buf_release(&r->answer);
	buf_release(&r->said.text);
	buf_release(&r->interim.text);
	buf_release(&r->outcome.text);
	buf_release(&r->commit.text);
}

static void give(struct recap *r, enum recap_kind kind, struct str text)
{
	if (text.n)
		r->fn(r->ctx,
		      &(struct recap_item){ .kind = kind,
					    .text = text,
					    .at = r->at,
					    .typed = r->typed,
					    .kind_of = r->kind_of,
					    .slip = r->slip });
}

static void give_decision(void *ctx, struct str decision)
{
	give(ctx, RECAP_DECISION, decision);
}

static void take_decision(void *ctx, struct str sentence)
{
	struct recap *r = ctx;
	struct buf told CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	if (!choice_is_vague(sentence)) {
		give(r, RECAP_DECISION, sentence);
		return;
	}
	buf_str(&told, sentence);
	buf_text(&told, " (");
	if (r->typed && choice_about(sentence, buf_as_str(&r->answer), &told)) {
		buf_byte(&told, ')');
		give(r, RECAP_DECISION, buf_as_str(&told));
	} else if (r->typed && choice_stands_alone(sentence)) {
		give(r, RECAP_DECISION, sentence);
	}
}

/* ---- How it ended ------------------------------------------------------------------- */

enum { SUBSTANTIAL = 40 };

/* A short one does not stand for a longer one. */
static void take_ending(struct ending *to, struct ending *from)
{
	if (from->text.n && (from->text.n >= SUBSTANTIAL || !to->text.n)) {
		buf_clear(&to->text);
		buf_str(&to->text, buf_as_str(&from->text));
		to->at = from->at;
		to->turn = from->turn;
	}
	buf_clear(&from->text);
}

static void take_prompt(struct recap *r)
{
	struct str text = buf_as_str(&r->text);

	take_ending(&r->outcome, &r->said);
	if (!record_text_is_typed(text))
		return;
	r->turn++;
	if (!gist_says_something(text))
		return;
	r->typed = true;
	buf_clear(&r->short_text);
	record_short(text, MOST_PROMPT, &r->short_text);
	give(r, RECAP_PROMPT, buf_as_str(&r->short_text));
	gist_decisions(text, true, take_decision, r);
}

static void take_answer(struct recap *r)
{
	struct ending e = { .text = BUF_INIT(64 * KIB), .at = r->at, .turn = r->turn };

	gist_outcome(buf_as_str(&r->text), MOST_OUTCOME, &e.text);
	take_ending(&r->said, &e);
	buf_release(&e.text);
	r->typed = false;
	gist_decisions(buf_as_str(&r->text), false, take_decision, r);
	buf_clear(&r->answer);
	buf_str(&r->answer, buf_as_str(&r->text));
}

static void take_commit(struct recap *r)
{
	struct str rest = buf_as_str(&r->text), hash, subject;

	while (rest.p) {
		if (!mention_made(str_cut(rest, '\n', &rest), &hash, &subject) || !str_trim(subject).n)
			continue;
		buf_clear(&r->commit.text);
		buf_printf(&r->commit.text, "ommitted as %.*s: ", STR_ARG(hash));
		record_short(str_trim(subject), MOST_PROMPT, &r->commit.text);
		r->commit.at = r->at;
		r->commit.turn = r->turn;
	}
}

/* The last answer, and the commit of its turn or of a later one. */
static void give_outcome(struct recap *r)
{
	take_ending(&r->outcome, &r->said);
	if (!r->outcome.text.n && !r->commit.text.n)
		take_ending(&r->outcome, &r->interim);
	if (r->commit.text.n && (!r->outcome.text.n || r->commit.turn >= r->outcome.turn)) {
		bool goes_on = r->outcome.text.n && !strchr(".!?", r->outcome.text.p[r->outcome.text.n - 1]);

		buf_text(&r->outcome.text, goes_on ? "; c" : r->outcome.text.n ? " C" : "C");
		buf_str(&r->outcome.text, buf_as_str(&r->commit.text));
		r->outcome.at = r->commit.at;
	}
	r->at = r->outcome.at;
	give(r, RECAP_OUTCOME, buf_as_str(&r->outcome.text));
}

static void take_error(struct recap *r)
{
	struct buf kind CLEANUP(buf_release) = BUF_INIT(KIB);
	struct gist_failure f;

	gist_failure(buf_as_str(&r->text), &f);
	gist_failure_kind(&f, &kind);
	buf_clear(&r->short_text);
	if (f.command.n)
		buf_printf(&r->short_text, "%.*s: ", STR_ARG(str_sub(f.command, 0, MOST_ERROR / 2)));
	record_short(f.line, MOST_ERROR, &r->short_text);
	r->kind_of = buf_as_str(&kind);
	r->slip = f.slip;
	if (f.line.n)
		give(r, RECAP_ERROR, buf_as_str(&r->short_text));
	r->kind_of = (struct str){ 0 };
	r->slip = false;
}

static void take_result(struct recap *r, bool is_error)
{
	r->typed = true;
	choice_answers(buf_as_str(&r->text), give_decision, r);
	if (is_error)
		take_error(r);
	else
		take_commit(r);
}

static void take_block(struct recap *r, const struct record *rec, const struct record_block *b)
{
	if (b->kind == BLOCK_TOOL_RESULT)
		take_result(r, b->is_error);
	else if (b->kind == BLOCK_TOOL_USE)
		take_ending(&r->interim, &r->said);
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
						  .answer = BUF_INIT(2 * LIMIT_LINE_PARSED),
						  .said.text = BUF_INIT(64 * KIB),
						  .interim.text = BUF_INIT(64 * KIB),
						  .outcome.text = BUF_INIT(64 * KIB),
						  .commit.text = BUF_INIT(64 * KIB) };
	struct transcript t CLEANUP(transcript_release);
	int64_t from;

	transcript_init(&t);
	if (find_from(s, session, &from, err) ||
	    transcript_each(&t, s, session, from, session->read_to, take_line, &r, err))
		return err_failed(err->status);
	give_outcome(&r);
	return STATUS_OK;
}
