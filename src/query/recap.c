/*
 * Reading a transcript for what is worth remembering of it.
 *
 * Of each text only what claude/gist.h finds in it. A decision that says nothing by itself is told with what
 * it is about (claude/choice.h), or not at all. How it ended is the last answer of a turn that says
 * something, which no call of a tool follows: what is said before one is what somebody is about to do. A
 * commit that was made then is told with it. A turn that has not come to its end is told by its prompt and by
 * what was said and called in it last: an answer to an earlier prompt would look like the end of all.
 *
 * Sub-agents' lines, what no model answered and what the client put in do not count. A very long transcript
 * is read from a line some megabytes before its end on: what somebody goes on with was said last.
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

enum { MOST_OPEN_PROMPT = 140, MOST_OPEN_SAID = 160, MOST_CALL = 100 };

/* What happened last, of what says whether a turn has ended. */
enum last { LAST_NOTHING, LAST_PROMPT, LAST_ANSWER, LAST_CALL, LAST_RESULT };

/* A call of a tool, as a person would want to be told of it. */
enum call_kind { CALL_ANY, CALL_PLAN, CALL_QUESTION };

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
	struct ending brief; /* that came later, and is too short to stand for that */
	enum last last;
	bool stopped;		      /* by who asked */
	struct buf prompt, last_said; /* of the turn in hand, in a few words */
	struct buf call;	      /* the last one, so too */
	enum call_kind call_kind;
	bool refused;	       /* that call */
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
	buf_release(&r->brief.text);
	buf_release(&r->prompt);
	buf_release(&r->last_said);
	buf_release(&r->call);
}

/* An answer ends a turn, unless somebody has stopped it. */
static bool is_open(const struct recap *r)
{
	return r->stopped || (r->last != LAST_NOTHING && r->last != LAST_ANSWER);
}

static void give(struct recap *r, enum recap_kind kind, struct str text)
{
	if (text.n)
		r->fn(r->ctx, &(struct recap_item){ .kind = kind,
						    .text = text,
						    .at = r->at,
						    .typed = r->typed,
						    .kind_of = r->kind_of,
						    .slip = r->slip,
						    .unfinished = kind == RECAP_OUTCOME && is_open(r) });
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

static void move_ending(struct ending *to, struct ending *from)
{
	buf_clear(&to->text);
	buf_str(&to->text, buf_as_str(&from->text));
	to->at = from->at;
	to->turn = from->turn;
}

/* A short one does not stand for a longer one. */
static void take_ending(struct ending *to, struct ending *from)
{
	if (from->text.n && (from->text.n >= SUBSTANTIAL || !to->text.n))
		move_ending(to, from);
	buf_clear(&from->text);
}

/* What nothing followed. A short one of a later turn stands beside that of an earlier one. */
static void take_outcome(struct recap *r)
{
	bool adds = r->outcome.text.n && r->said.text.n && r->said.turn > r->outcome.turn;

	if (adds && r->said.text.n < SUBSTANTIAL)
		move_ending(&r->brief, &r->said);
	else if (r->said.text.n >= SUBSTANTIAL)
		buf_clear(&r->brief.text);
	take_ending(&r->outcome, &r->said);
}

static void shorten(struct buf *to, struct str text, size_t most)
{
	buf_clear(to);
	record_short(text, most, to);
}

/* A command may be one that no model answers. */
static void begin_turn(struct recap *r, struct str prompt, bool is_command)
{
	r->turn++;
	r->stopped = false;
	if (!is_command)
		r->last = LAST_PROMPT;
	shorten(&r->prompt, record_headline(prompt), MOST_OPEN_PROMPT);
	buf_clear(&r->last_said);
}

static void take_prompt(struct recap *r, bool is_command)
{
	struct str text = buf_as_str(&r->text);

	take_outcome(r);
	if (!record_text_is_typed(text))
		return;
	if (gist_is_noise(text))
		return;
	begin_turn(r, text, is_command);
	if (!gist_says_something(text))
		return;
	r->typed = true;
	shorten(&r->short_text, text, MOST_PROMPT);
	give(r, RECAP_PROMPT, buf_as_str(&r->short_text));
	gist_decisions(text, true, take_decision, r);
}

/* What is about to be done counts here. */
static void note_said(struct recap *r, struct str text)
{
	struct gist g = { .rest = text };
	struct buf sentence CLEANUP(buf_release) = BUF_INIT(64 * KIB),
			    all CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	while (all.n < MOST_OPEN_SAID && gist_sentence(&g, &sentence)) {
		buf_text(&all, all.n ? " " : "");
		buf_str(&all, buf_as_str(&sentence));
	}
	if (all.n)
		shorten(&r->last_said, buf_as_str(&all), MOST_OPEN_SAID);
}

static void take_answer(struct recap *r)
{
	struct ending e = { .text = BUF_INIT(64 * KIB), .at = r->at, .turn = r->turn };
	struct str text = buf_as_str(&r->text);

	if (str_trim(text).n) {
		r->last = LAST_ANSWER;
		r->stopped = false;
		note_said(r, text);
	}
	gist_outcome(text, MOST_OUTCOME, &e.text);
	take_ending(&r->said, &e);
	buf_release(&e.text);
	r->typed = false;
	gist_decisions(text, false, take_decision, r);
	buf_clear(&r->answer);
	buf_str(&r->answer, text);
}

/* A plan by its heading, others by what they say of themselves or by what they begin with. */
static void take_call(struct recap *r, struct record_reader *reader, const struct record_block *b)
{
	const struct json *j = &reader->json;
	uint32_t input = json_get(j, b->node, STR("input"));
	struct str said = buf_as_str(&r->text); /* its name is the first line */
	struct str text = json_string_in(j, json_get(j, input, STR("description")), &reader->mem);

	r->last = LAST_CALL;
	r->stopped = r->refused = false;
	r->call_kind = str_eq(b->name, STR("ExitPlanMode"))	 ? CALL_PLAN
		       : str_eq(b->name, STR("AskUserQuestion")) ? CALL_QUESTION
								 : CALL_ANY;
	if (str_has_prefix(said, b->name))
		str_cut(said, '\n', &said);
	buf_clear(&r->call);
	if (r->call_kind == CALL_PLAN) {
		text = str_trim(json_string_in(j, json_get(j, input, STR("plan")), &reader->mem));
		while (str_has_prefix(text, STR("#")))
			text = str_sub(text, 1, SIZE_MAX);
		text = str_cut(text, '\n', &(struct str){ 0 });
	} else if (r->call_kind == CALL_QUESTION) {
		text = str_cut(said, '\n', &(struct str){ 0 });
	} else {
		record_short(b->name, MOST_CALL, &r->call);
		text = text.n ? text : said;
		buf_text(&r->call, str_trim(text).n ? ": " : "");
	}
	record_short(str_trim(text), MOST_CALL, &r->call);
	take_ending(&r->interim, &r->said);
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

/* With the mark that ends it. */
static void add_part(struct buf *out, const char *front, const struct buf *text)
{
	if (!text->n)
		return;
	buf_printf(out, "%s%s%.*s", out->n ? " " : "", front, STR_ARG(buf_as_str(text)));
	if (!strchr(".!?:;", text->p[text->n - 1]) && !str_has_suffix(buf_as_str(text), STR("…")))
		buf_byte(out, '.');
}

static const char *open_call(const struct recap *r)
{
	bool done = r->last == LAST_RESULT;

	if (r->call_kind == CALL_PLAN)
		return !done	    ? "A plan waits for approval: "
		       : r->refused ? "A plan was not approved: "
				    : NULL;
	if (r->call_kind == CALL_QUESTION)
		return !done	    ? "A question waits for an answer: "
		       : r->refused ? "A question was not answered: "
				    : NULL;
	return !done ? "No result yet of " : "Last called ";
}

/* Where a turn stands that has not come to its end. */
static void tell_open(struct recap *r, struct str title, struct buf *out)
{
	struct str prompt = buf_as_str(&r->prompt);
	bool is_title = prompt.n && str_eq(str_sub(prompt, 0, 48), str_sub(title, 0, 48));

	buf_text(out, r->stopped ? "Unfinished, stopped by the user." : "Unfinished.");
	if (r->last == LAST_PROMPT) {
		add_part(out, "No answer yet to: ", &r->prompt);
		add_part(out, "Before that: ", &r->outcome.text);
		return;
	}
	if (!is_title)
		add_part(out, "Last prompt: ", &r->prompt);
	add_part(out, "Said last: ", &r->last_said);
	if (r->last != LAST_ANSWER && open_call(r))
		add_part(out, open_call(r), &r->call);
}

/* The last answer, and the commit of its turn or of a later one. */
static void give_outcome(struct recap *r, struct str title)
{
	struct buf open CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct buf *out = &r->outcome.text;

	take_outcome(r);
	if (is_open(r)) {
		tell_open(r, title, &open);
		r->outcome.turn = r->turn;
		r->outcome.at = r->at;
		buf_clear(out);
		buf_str(out, buf_as_str(&open));
	} else if (!out->n && !r->commit.text.n) {
		take_ending(&r->outcome, &r->interim);
	} else if (r->brief.text.n) {
		buf_text(out, strchr(".!?", out->p[out->n - 1]) ? " Then: " : "; then: ");
		buf_str(out, buf_as_str(&r->brief.text));
	}
	if (r->commit.text.n && (!out->n || r->commit.turn >= r->outcome.turn)) {
		bool goes_on = out->n && !strchr(".!?", out->p[out->n - 1]) && !is_open(r);

		buf_text(out, goes_on ? "; c" : out->n ? " C" : "C");
		buf_str(out, buf_as_str(&r->commit.text));
		r->outcome.at = r->commit.at;
	}
	r->at = r->outcome.at;
	give(r, RECAP_OUTCOME, buf_as_str(out));
}

static void take_error(struct recap *r)
{
	struct buf kind CLEANUP(buf_release) = BUF_INIT(KIB);
	struct gist_failure f;

	gist_failure(buf_as_str(&r->text), &f);
	gist_failure_kind(&f, &kind);
	buf_clear(&r->short_text);
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
	r->last = LAST_RESULT;
	r->refused = is_error;
	choice_answers(buf_as_str(&r->text), give_decision, r);
	if (is_error)
		take_error(r);
	else
		take_commit(r);
}

static void take_block(struct recap *r, struct record_reader *reader, const struct record *rec,
		       const struct record_block *b)
{
	if (b->kind == BLOCK_TOOL_RESULT)
		take_result(r, b->is_error);
	else if (b->kind == BLOCK_TOOL_USE)
		take_call(r, reader, b);
	else if (b->kind == BLOCK_TEXT && rec->type == RECORD_ASSISTANT)
		take_answer(r);
	else if (b->kind == BLOCK_TEXT && str_has_prefix(buf_as_str(&r->text), STR("[Request interrupted")))
		r->stopped = true;
	else if (b->kind == BLOCK_TEXT && record_is_typed(rec->flags))
		take_prompt(r, rec->flags & RECORD_COMMAND);
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
		take_block(r, line->reader, rec, &b);
	}
	if ((rec->flags & RECORD_ENQUEUED) &&
	    entry_flags(r->store, r->session, line->offset, &flags, err))
		return err_failed(err->status);
	if (flags & RECORD_QUEUED) {
		buf_clear(&r->text);
		record_text(line->reader, rec, &r->text);
		take_prompt(r, false);
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
						  .commit.text = BUF_INIT(64 * KIB),
						  .brief.text = BUF_INIT(64 * KIB),
						  .prompt = BUF_INIT(64 * KIB),
						  .last_said = BUF_INIT(64 * KIB),
						  .call = BUF_INIT(64 * KIB) };
	struct transcript t CLEANUP(transcript_release);
	int64_t from;

	transcript_init(&t);
	if (find_from(s, session, &from, err) ||
	    transcript_each(&t, s, session, from, session->read_to, take_line, &r, err))
		return err_failed(err->status);
	give_outcome(&r, session->title);
	return STATUS_OK;
}
