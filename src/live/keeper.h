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
#include "query/usage_sum.h"
#include "store/named.h"

struct keeper;

struct keeper_ask {
	const struct filter_rules *filter; /* what it does not take is not kept; NULL = all is; the keeper's
					      as long as it lives */
	const struct prices *prices;	   /* so too; NULL = those that are built in */
	int64_t since;			   /* ms: what was spent before is not asked for */
};

struct keeper *keeper_new(struct store *s, const struct keeper_ask *ask);
void keeper_free(struct keeper *k); /* what is not kept yet is left to the next sync; NULL is fine */

/* A file that was written to, by its whole path. Others than the client's own are passed over. False when it
 * is the transcript of no conversation, but a sub-agent's, say; else *session is which. */
bool keeper_touch(struct keeper *k, struct str path, struct uuid *session);

/* What is known in the end. */
struct kept {
	struct named_head head; /* where the conversation would be gone on from */
	bool has_spent;
	struct usage_sum spent; /* since it was asked for */
};

/*
 * When nothing more is written: keeps the rest, with what lies beside the transcript of the session. Waits
 * for no longer than LIMIT_KEEPER_S, when others have much to read just now: *out then says nothing, and so
 * it does when something is wrong, which is logged.
 */
void keeper_end(struct keeper *k, const struct uuid *session, struct kept *out);

#endif
