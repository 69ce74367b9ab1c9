/*
 * Who says an issue by its number alone, or in small letters.
 */
#ifndef ARBOR_QUERY_ISSUE_H
#define ARBOR_QUERY_ISSUE_H

#include "query/said.h"

/* Conversations of the project of an issue, OWNER/NAME#12, that say "PR #12" or the like; and all
 * that say WEB-12 in any letters, as branches of git have it. In the arena; some may be there several times. Wants a
 * read transaction. */
enum status issue_said_by(struct store *s, struct str issue, struct arena *mem, struct said **out,
			  size_t *count, struct err *err) MUST_USE;

#endif
