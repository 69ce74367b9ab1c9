/*
 * How much a place counts in a ranking.
 */
#ifndef ARBOR_QUERY_WEIGHTS_H
#define ARBOR_QUERY_WEIGHTS_H

#include "base/arena.h"
#include "base/err.h"
#include "claude/record.h"

/* Where a text stands: in a conversation (enum record_place), or in a note of somebody. */
enum { PLACE_NOTE = PLACES, SEARCH_PLACES };

/* Unless somebody says otherwise. */
extern const double search_weights[SEARCH_PLACES];

#define WEIGHTS_EXAMPLE "{\"prompt\": 3, \"output\": 0.2}"

/* The same with those that an object names instead. STATUS_FORMAT when it is none, names something else, or a weight
 * is not from 0.01 to 100. */
enum status weights_read(struct str text, struct arena *mem, double out[SEARCH_PLACES], struct err *err) MUST_USE;

#endif
