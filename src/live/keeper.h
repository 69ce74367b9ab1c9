/*
 * Keeping what a client writes while it writes it.
 *
 * Nodes of a conversation come from one place only: the lines of its files, brought in by a sync. A client
 * that we run says to which files it has written, so these are synced at once, by a thread beside whoever
 * listens to it. What events of a stream are about is then there a moment later, and it does not matter who
 * was first: we, or a sync that somebody else runs.
 */
#ifndef ARBOR_LIVE_KEEPER_H
#define ARBOR_LIVE_KEEPER_H

#include "ingest/filter.h"
#include "store/named.h"

struct keeper;

/* What the filter does not take is not kept; NULL = all is. It is the keeper's until that is freed. */
struct keeper *keeper_new(struct store *s, const struct filter_rules *filter);
void keeper_free(struct keeper *k); /* what is not kept yet is left to the next sync; NULL is fine */

/* A file that was written to, by its whole path. Others than the client's own are passed over. False when it
 * is the transcript of no conversation, but a sub-agent's, say; else *session is which. */
bool keeper_touch(struct keeper *k, struct str path, struct uuid *session);

/*
 * When nothing more is written: keeps the rest, with what lies beside the transcript of the session, and says
 * where the conversation would be gone on from. Waits for no longer than LIMIT_KEEPER_S, when others have
 * much to read just now: *head then says nothing, and so it does when something is wrong, which is logged.
 */
void keeper_end(struct keeper *k, const struct uuid *session, struct named_head *head);

#endif
