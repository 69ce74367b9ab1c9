/*
 * Which sessions a client has open just now.
 */
#ifndef ARBOR_HUB_ALIVE_H
#define ARBOR_HUB_ALIVE_H

#include "base/map.h"
#include "claude/live.h"
#include "hub/call.h"

struct alive {
	struct map by_session; /* of struct live, by the text of the session's id */
	struct arena mem;
};

/* Looks at the mirrored folders of this host themselves, and at its processes: what the
 * store knows of either is old. A folder that cannot be read has nobody in it. */
enum status alive_load(struct store *s, struct alive *out, struct err *err) MUST_USE;
void alive_release(struct alive *a);

/* The client that has a session open; NULL = none. */
const struct live *alive_find(const struct alive *a, const struct uuid *session);

#endif
