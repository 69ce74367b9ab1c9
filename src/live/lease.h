/*
 * Who holds a run, and whether they are still there.
 *
 * Nobody watches over drivers. Whoever looks at a stream and finds its holder dead closes it, and the
 * stream says from then on what is true: it was interrupted.
 */
#ifndef ARBOR_LIVE_LEASE_H
#define ARBOR_LIVE_LEASE_H

#include "store/run.h"

/* How often a holder says that it is alive, and when one that cannot be asked counts as gone: on another
 * machine, or where its processes cannot be seen. Ten times unheard is no accident. */
enum { LEASE_RENEW_MS = 6000, LEASE_LOST_MS = 60000 };

/* This process. Texts are in the arena. */
enum status lease_own(struct store *s, struct arena *mem, struct lease *out, struct err *err) MUST_USE;

/* As `own` sees it at that moment. */
bool lease_is_dead(const struct lease *l, const struct lease *own, int64_t now);

/* Closes a stream whose holder is dead; a store that cannot be written stays as it is. */
enum status lease_look_after(struct store *s, const struct stream *stream, struct err *err) MUST_USE;

/* The same for all of them. */
enum status lease_look_after_all(struct store *s, struct err *err) MUST_USE;

#endif
