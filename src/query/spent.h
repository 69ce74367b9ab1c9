/*
 * What a conversation has cost since some moment, by its lines and the list of prices.
 */
#ifndef ARBOR_QUERY_SPENT_H
#define ARBOR_QUERY_SPENT_H

#include "query/usage_sum.h"

/* Answers in the transcripts with this id of the client's, sub-agents' among them, that were given from
 * `since` (ms) on. */
enum status spent_since(struct store *s, const struct uuid *session, int64_t since,
			const struct prices *prices, struct usage_sum *out, struct err *err) MUST_USE;

#endif
