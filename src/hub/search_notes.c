/*
 * What a search says beside its hits: what was not taken as it may have been meant, and what to try when nothing is
 * found.
 *
 * No query is an error, so whatever means nothing is looked for as text or passed over, and that is said here. Advice
 * is looked for only when there is nothing to show: it takes searches of its own.
 */
#include "hub/search_notes.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "hub/grown.h"
#include "hub/period.h"
#include "hub/resolve.h"
#include "query/suggest.h"
#include "query/values.h"

#include <inttypes.h>
#include <string.h>

/* ---- What was typed ------------------------------------------------------------------------------ */

/* The beginning of something that was typed, for a message. */
struct str search_shorten(struct call *c, struct str text)
{
	enum { MOST = 40 };
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	record_short(text, MOST, &out);
	return arena_str(&c->mem, buf_as_str(&out));
}

/* Operators of other tools. */
static void note_foreign(struct call *c, const struct expr *e)
{
	if (e->count < 2)
		return;
	if (e->bare_near)
		log_warn(c->log, "NEAR was looked for as a word; NEAR(a b, 5), with no blank before the bracket, finds "
				 "words close to each other");
	if (e->in_near.p)
		log_warn(c->log,
			 "'%.*s' was looked for as a word: in the brackets of NEAR there are words and phrases; "
				 "NEAR(a b, 5) OR NEAR(a c, 5) finds one or the other",
			 STR_ARG(search_shorten(c, e->in_near)));
	if (e->bang.p)
		log_warn(c->log, "'%.*s': ! means nothing here; NOT a, or -a, leaves out what has it",
			 STR_ARG(search_shorten(c, e->bang)));
	if (e->bar.p)
		log_warn(c->log, "'%.*s': | means nothing here; a OR b finds what has one of them",
			 STR_ARG(search_shorten(c, e->bar)));
}

/* What was taken for text and may have been meant otherwise, or was not looked for at all. */
void search_note_odd(struct call *c, const struct expr *e)
{
	if (e->cut && e->wide)
		log_warn(c->log, "too many words are given by their first letter: what follows from '%.*s' on was not "
				 "looked for", STR_ARG(search_shorten(c, e->left)));
	else if (e->cut)
		log_warn(c->log, "the query is long: what follows from '%.*s' on was not looked for",
			 STR_ARG(search_shorten(c, e->left)));
	if (e->open.p)
		log_warn(c->log,
			 "a quote is not closed; all that stands behind it was looked for as a phrase: \"%.*s\"",
			 STR_ARG(search_shorten(c, e->open)));
	if (e->loose_or)
		log_warn(
			c->log,
			"OR stands between two words; one that has none before or behind it was passed over");
	if (e->aside_or)
		log_warn(c->log, "conditions hold for the whole query, also beside OR: '%s:%.*s' is asked of every hit",
			 expr_field_name(e->conditions[0].field), STR_ARG(search_shorten(c, e->conditions[0].value)));
	note_foreign(c, e);
	if (e->apart)
		log_warn(c->log,
			 "'%s:' with no value right behind it was looked for as text; '%s:VALUE' is a condition",
			 e->apart, e->apart);
	if (e->odd.p && e->near)
		log_warn(c->log, "'%.*s:' is no field and was looked for as text; did you mean '%s:'?",
			 STR_ARG(str_sub(e->odd, 0, 40)), e->near);
	else if (e->odd.p)
		log_warn(c->log,
			 "'%.*s:' is no field and was looked for as text; there are " EXPR_FIELD_NAMES,
			 STR_ARG(str_sub(e->odd, 0, 40)));
}

void search_note_time(struct call *c, const struct search_report *report)
{
	if (report->gave_up)
		log_warn(c->log,
			 "%" PRId64
			 " texts were looked at, and there are more: a word or a condition narrows it",
			 report->looked);
	if (report->unread)
		log_warn(c->log, "%" PRId64 " text%s would take too long and %s not looked at to the end",
			 report->unread, report->unread == 1 ? "" : "s",
			 report->unread == 1 ? "was" : "were");
}

/* ---- Nothing was found ---------------------------------------------------------------------------- */

/* Ids of sub-agents are hex digits; what else is asked for is the type of one. */
static bool asks_agent_type(const struct expr *e)
{
	for (size_t i = 0; i < e->condition_count; i++)
		for (size_t k = 0; e->conditions[i].field == EXPR_AGENT && k < e->conditions[i].value.n; k++)
			if (!strchr("0123456789abcdefABCDEF*", e->conditions[i].value.p[k]))
				return true;
	return false;
}

/* What is asked of times cannot be. */
static bool is_no_time(struct call *c, const struct search_query *q)
{
	struct conditions all = q->filter;
	struct err ignored;

	all.expr = q->expr;
	return !conditions_read(&all, store_now(c->store), &ignored) && all.before && all.after >= all.before;
}

struct outside {
	int64_t at; /* of the newest */
};

static enum status take_outside(void *ctx, const struct search_hit *hit, struct err *err)
{
	struct outside *o = ctx;

	(void)err;
	o->at = hit->at;
	return STATUS_OK;
}

/* What there is at other times than those that options ask for. */
static enum status advise_on_times(struct call *c, const struct search_query *asked, struct buf *out, struct err *err)
{
	struct search_query q = *asked;
	struct search_report report = { 0 };
	struct outside o = { 0 };
	char day[TIME_TEXT + 1];
	const int date = 10;

	q.filter.after = q.filter.before = 0;
	q.limit = 1;
	q.offset = q.each = q.context = 0;
	q.order = RANK_RECENT;
	if (search_run(c->store, &q, take_outside, &o, &report, err))
		return err_failed(err->status);
	if (!report.total)
		return STATUS_OK;
	buf_printf(out, "; there %s at other times", report.total == 1 ? "is one hit" : "are hits");
	time_print(o.at, day);
	if (o.at)
		buf_printf(out, ", the newest of %.*s", date, day);
	return STATUS_OK;
}

enum status search_not_found(struct call *c, const struct search_query *q, bool narrowed, struct str query,
			     const struct search_looked *looked, struct err *err)
{
	struct str text = str_sub(query, 0, 80);
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf advice CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	struct session last;

	if (!q->filter.hidden->count &&
	    resolve_session(c->store, STR("@"), &c->mem, &last, err) == STATUS_NOT_FOUND)
		buf_text(&advice, "; there is no session yet: 'arbor sync' brings them in");
	else if (values_advise(c->store, q->expr, &c->mem, &advice, err))
		return err_failed(err->status);
	if (!advice.n && !q->check && period_is_given(c) && advise_on_times(c, q, &advice, err))
		return err_failed(err->status);
	/* What a check refused is there, as far as words go. */
	if (!q->check && !advice.n &&
	    suggest(c->store, q->expr, q->expr->condition_count || narrowed, &advice, err))
		return err_failed(err->status);
	if (!advice.n && !q->check && !q->expr->count && q->expr->condition_count + narrowed > 1)
		buf_text(&advice, "; there may be hits with fewer conditions");
	if (text.n < query.n && utf8_valid(query))
		text.n = utf8_valid_prefix(text);
	utf8_repair(&shown, text);
	if (asks_agent_type(q->expr))
		buf_text(&advice, "; agent: takes the id of a sub-agent, and 'arbor usage agent --each' lists "
				  "these with their types");
	if (q->check && call_flag(c, "regex") && !call_flag(c, "case_sensitive") && !(q->check->flags & REG_ICASE))
		buf_text(&advice, "; capitals count in a pattern that has some, unless (?i) stands in front of it");
	if (is_no_time(c, q))
		buf_text(&advice, "; no time is both after and before what it says");
	if (looked->texts && looked->all && looked->narrowed)
		buf_text(&advice, "; nor does it stand inside of words where the others do");
	else if (looked->texts && looked->all)
		buf_text(&advice, "; nor does it stand inside of words");
	else if (looked->texts)
		buf_printf(&advice, "; nor inside of words in the %" PRId64 " newest texts; --inside looks further",
			   looked->texts);
	if (q->filter.hidden->count)
		buf_text(&advice, "; conversations that are archived are searched with --archived");
	if (grown_here(c))
		buf_text(&advice, "; " GROWN_HERE);
	return err_fail(err, STATUS_NOT_FOUND, "%s '%.*s'%.*s",
			looked->late ? "there was no time to look at everything; so far nothing is found for"
				     : "nothing found for",
			STR_ARG(buf_as_str(&shown)), STR_ARG(buf_as_str(&advice)));
}
