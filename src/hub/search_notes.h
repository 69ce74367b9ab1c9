/*
 * What a search says beside its hits.
 */
#ifndef ARBOR_HUB_SEARCH_NOTES_H
#define ARBOR_HUB_SEARCH_NOTES_H

#include "hub/call.h"
#include "query/search.h"

/* The beginning of something that was typed, for a message; in the call's arena. */
struct str search_shorten(struct call *c, struct str text);

/* Warns of what was taken for text and may have been meant otherwise, or was not looked for at all. */
void search_note_odd(struct call *c, const struct expr *e);

/* Warns of texts that there was no time for, or not for all of. */
void search_note_time(struct call *c, const struct search_report *report);

/* What nobody asked for was looked for inside of words, too: in so many texts, which may be all that could
 * have it, and be no others than those that have the other words. */
struct search_looked {
	int64_t texts;
	bool all;
	bool narrowed;
	bool late; /* what was asked for there was no time to look for everywhere */
};

/* Fails with STATUS_NOT_FOUND, and what may help. `narrowed`: options ask for something beside the query. */
enum status search_not_found(struct call *c, const struct search_query *q, bool narrowed, struct str query,
			     const struct search_looked *looked, struct err *err) MUST_USE;

#endif
