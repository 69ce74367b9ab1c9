/*
 * Where a mirrored conversation would be gone on from, by its public ids.
 */
#ifndef ARBOR_QUERY_HEAD_H
#define ARBOR_QUERY_HEAD_H

#include "store/named.h"

/*
 * The head of the conversation with this id of the client's, as its newest file has it: its last message on
 * the branch that --resume takes, the last line that is there of it, and their tree. `has_session` alone when
 * the file says nothing yet; nothing at all when no such file is mirrored.
 */
enum status head_of_session(struct store *s, const struct uuid *session, struct named_head *out,
			    struct err *err) MUST_USE;

/* The message that the line at an offset of a transcript (its row) is in or stands behind, as a head;
 * `has_session` is not set. `has_head` tells whether there is any. Wants a read transaction. */
enum status head_of_line(struct store *s, int64_t session, int64_t offset, struct named_head *out,
			 struct err *err) MUST_USE;

#endif
