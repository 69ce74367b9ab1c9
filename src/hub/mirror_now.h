/*
 * Bringing in what the client has just written, or what we have, without waiting for a sync.
 *
 * All by the rules of a sync: a folder that is not mirrored stays so, and what the settings leave out is left out.
 * Whoever reads ends that first.
 */
#ifndef ARBOR_HUB_MIRROR_NOW_H
#define ARBOR_HUB_MIRROR_NOW_H

#include "hub/call.h"
#include "store/session.h"

/* The client's own folder, links resolved; p NULL = there is none. */
struct str mirror_home(struct call *c);

/* A file that was written below it; whether it was brought in. */
bool mirror_now(struct call *c, struct str path);

/* The same with the file of a session. */
void mirror_session(struct call *c, const struct session *session);

/* All that is new below it; false also where the store cannot be written, or the folder is gone. What is here is then
 * all there is. */
bool mirror_all_now(struct call *c);

/* Whether a sync would bring in something that was written to these files below it. Changes nothing. */
bool mirror_is_behind(struct call *c, const struct str *paths, size_t count);

#endif
