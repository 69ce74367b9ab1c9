/*
 * Which answers somebody asks about, and what they cost: what memory.usage and
 * memory.stats have in common.
 */
#ifndef ARBOR_HUB_USAGE_SCOPE_H
#define ARBOR_HUB_USAGE_SCOPE_H

#include "base/numbers.h"
#include "hub/call.h"
#include "hub/period.h"
#include "query/usage_sum.h"
#include "store/session.h"

/* Parameters that both take, for their tables. */
#define USAGE_SCOPE_PARAMS(what) \
	{ .name = "project", \
	  .type = VALUE_PATH, \
	  .letter = 'p', \
	  .shown = "DIR", \
	  .names = "memory.projects", \
	  .help = what " of this folder and below; its name, or the end of its path, will do" }, \
	PERIOD_PARAMS(what), \
	{ .name = "timezone", \
	  .type = VALUE_TEXT, \
	  .letter = 'z', \
	  .shown = "ZONE", \
	  .initial = "local", \
	  .help = "whose days and hours: a name such as Europe/Berlin, UTC or local" }

/* Fields that both give of a sum. */
#define USAGE_COST_FIELDS \
	{ .name = "cost", \
	  .type = VALUE_TEXT, \
	  .flags = FIELD_HIDDEN, \
	  .help = "in dollars, by list prices; 'unknown', or at least so much, where a price is not known" }, \
	{ .name = "nanodollars", \
	  .type = VALUE_INT, \
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN, \
	  .help = "the same as a number, of answers whose price is known; absent where that is none" }, \
	{ .name = "unpriced_tokens", \
	  .type = VALUE_INT, \
	  .flags = FIELD_HIDDEN, \
	  .help = "tokens of answers whose price is not known" }, \
	{ .name = "dollars", \
	  .type = VALUE_JSON, \
	  .flags = FIELD_OPTIONAL, \
	  .help = "the cost as a number, of answers whose price is known; absent where none is" }

struct usage_scope {
	struct call *call;
	struct zone zone;
	struct usage_prices prices;
	struct period period;
	struct str project;   /* p NULL = any */
	/* Filled by usage_scope_load(); the transcripts that are meant, by row. */
	struct session *sessions;
	size_t count, cap;
	struct numbers rows;
	bool loaded;
	/* Models without a price that were met, or with one that lacks something: usage_price_lacks(). */
	struct {
		struct str model;
		unsigned lacks;
	} unknown[8];
	size_t unknown_count;
};

/* From a call whose method has these parameters. Wants a read transaction. */
enum status usage_scope_read(struct call *c, struct usage_scope *out, struct err *err) MUST_USE;

/* Loads transcripts: of the project, or all. */
enum status usage_scope_load(struct usage_scope *s, struct err *err) MUST_USE;

/* The transcript of this row; NULL = it is not meant. Only what was loaded is known. */
const struct session *usage_scope_session(const struct usage_scope *s, int64_t row);

/* Whether an answer is meant: by its time and, if transcripts are loaded, by its own. */
bool usage_scope_has(const struct usage_scope *s, int64_t at, int64_t row);

void usage_scope_add(struct usage_scope *s, struct usage_sum *to, const struct usage *u);

void usage_put_cost(struct json_writer *w, const struct usage_sum *sum);

/* Tells people which prices are missing, and where to name them. */
void usage_note_unknown(const struct usage_scope *s, const struct usage_sum *total);

#endif
