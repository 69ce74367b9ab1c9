/*
 * Whether the client, told to go on with a session, would go on where that session is.
 */
#ifndef ARBOR_LIVE_RESUME_H
#define ARBOR_LIVE_RESUME_H

#include "store/named.h"

/* The client goes on at the end of its file, and a session at its head. STATUS_CONFLICT when somebody else has
 * gone on with the conversation since, as far as the file is mirrored. */
enum status resume_check(struct store *s, const struct named *session, struct err *err) MUST_USE;

#endif
