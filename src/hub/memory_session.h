/*
 * A session as results show it.
 */
#ifndef ARBOR_HUB_MEMORY_SESSION_H
#define ARBOR_HUB_MEMORY_SESSION_H

#include "hub/alive.h"
#include "store/session.h"

extern const struct field session_fields[];
void put_session(struct json_writer *w, const struct session *s);

/* Whether it is open: by the client that has it so, NULL = none. */
void put_alive(struct json_writer *w, const struct live *live);

/* Tells when a sync has not been completed: then sessions and words are missing. */
void warn_unread(struct call *c);

#endif
