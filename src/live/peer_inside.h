/*
 * What the two halves of live/peer.h share: the thread that talks to children (peer.c) and those
 * who ask (peer_ask.c).
 *
 * The lock guards the questions and what of a peer stands below `lock` in its struct. It is
 * never held while the supervisor is called, which calls back.
 *
 * Invariant: a question is in one list of its peer from when it is asked until its end is
 * set or its asker leaves; only its asker takes from its queue.
 */
#ifndef ARBOR_LIVE_PEER_INSIDE_H
#define ARBOR_LIVE_PEER_INSIDE_H

#include "base/split.h"
#include "live/peer.h"
#include "live/rpc.h"
#include "live/supervisor.h"

#include <pthread.h>

enum { PEER_CANCELS_MOST = 16 * 1024 }; /* bytes of notices that wait to be sent */

enum answer_kind { ANSWER_ITEM, ANSWER_BYTES, ANSWER_PROGRESS, ANSWER_NOTE, ANSWER_RESULT };

struct answer {
	struct answer *next;
	enum answer_kind kind;
	int64_t done, total; /* of progress */
	size_t n;
	char text[];
};

static inline size_t answer_size(const struct answer *a)
{
	return sizeof *a + a->n;
}

struct question {
	struct question *next;
	struct peer *peer;
	int64_t id;
	struct buf request;
	pthread_cond_t changed;
	struct answer *first, **last;
	size_t queued;	  /* bytes that its queue takes */
	int64_t since_ns; /* when something last happened to it */
	bool sent, over;
	struct err end; /* once it is over */
};

struct peer {
	struct peers *all;
	const struct peer_setup *setup;
	struct supervisor *supervisor; /* our thread's, as what follows */
	struct split lines;
	struct json json;
	bool paused;
	/* ---- below `lock` ---- */
	struct arena mem; /* of `start` */
	struct guard_start start;
	bool prepared;
	struct question *waiting, *sent;
	struct buf cancels;   /* notices that are to be sent */
	struct buf broken;    /* why somebody found that it hangs; empty = nobody did */
	struct buf info, why; /* what it said of itself; why it was lost last */
	enum supervisor_state state;
	bool held;		/* what it says is left in the pipe for now */
	int64_t heard_ns;	/* when it last said anything */
	int64_t rests_until_ns; /* it will not be started before; 0 = it may */
};

struct peers {
	struct loop *loop;
	pthread_t thread;
	struct peer *list;
	size_t count;
	size_t stopped; /* our thread's */
	/* ---- below `lock` ---- */
	pthread_mutex_t lock;
	bool running, stopping;
	int64_t last_id;
};

/* With the lock. */
void question_append(struct question **list, struct question *q);
void question_unlink(struct question **list, const struct question *q);

/* With the lock: starts the thread, unless it runs. */
enum status peers_run(struct peers *all, struct err *err) MUST_USE;

/* STATUS_UNREACHABLE, with the peer's name in front. */
enum status peer_unreachable(const struct peer *p, struct str why, struct err *out);

#endif
