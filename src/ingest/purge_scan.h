/*
 * From what was asked for to the lines and files that go.
 */
#ifndef ARBOR_INGEST_PURGE_SCAN_H
#define ARBOR_INGEST_PURGE_SCAN_H

#include "ingest/purge_list.h"

/* A line without a uuid. */
struct purge_place {
	struct purge_place *next;
	int64_t generation, offset;
};

/* What was asked for, besides sources and sessions that go as a whole: those are in the list. */
struct purge_wanted {
	struct map uuids; /* line_key() of lines */
	struct purge_place *nameless;
	struct map looked; /* sources that have such lines, by row */
	struct map beside; /* paths of files that go with a transcript */
};

/* How maps are asked for a row or an id. */
static inline struct str purge_row_key(const int64_t *row)
{
	return str_from((const char *)row, sizeof *row);
}

static inline struct str purge_id_key(const struct uuid *id)
{
	return str_from((const char *)id->b, UUID_BYTES);
}

/* The source of the list with this row, added when there is none. */
struct purge_source *purge_list_source(struct purge_list *l, int64_t row);

/* Fills in lines, sources and the report. Wants no transaction. */
enum status purge_scan(struct purge_list *l, struct store *s, const struct purge_wanted *w,
		       const struct purge_options *o, struct purge_report *report, struct err *err) MUST_USE;

#endif
