/*
 * What is to be read, as reading threads take it: one source at a time, each once.
 */
#ifndef ARBOR_INGEST_JOBS_H
#define ARBOR_INGEST_JOBS_H

#include "base/map.h"
#include "store/mirror.h"

#include <pthread.h>

struct read_job {
	struct unread unread; /* first: parts know it by this */
	atomic_bool dead;     /* failed, or somebody else was faster */
	atomic_bool done;     /* its last part is committed */
	struct read_job *next_written; /* of who writes */
};

struct jobs {
	pthread_mutex_t lock; /* on all that follows */
	pthread_cond_t changed;
	struct arena mem;
	struct read_job **list; /* in the order to be read */
	size_t count, cap, next;
	int64_t bytes;	      /* of all of them */
	struct map by_source; /* the newest of each */
	bool grows;	      /* the store is asked for more */
	bool open;	      /* more may come in */
	bool ended;	      /* nothing of them is written any more */
};

void jobs_init(struct jobs *j, bool open);
void jobs_release(struct jobs *j);

/* Adds what is unread and in nobody's hands. */
enum status jobs_list(struct jobs *j, struct store *s, struct err *err) MUST_USE;

/* The next one. While more may come and there are none, it waits and asks the store, with the connection of who
 * takes. NULL = that was all, or it cannot be known: whoever reads next finds out why. */
struct read_job *jobs_take(struct jobs *j, struct store *s);

/* Something was committed: who waits may look again. */
void jobs_changed(struct jobs *j);

/* No more comes in than there is now. */
void jobs_close(struct jobs *j);

/* No more is written: nobody waits for it any longer. */
void jobs_end(struct jobs *j);

int64_t jobs_bytes(struct jobs *j);

struct read_job *read_job_of(const struct unread *unread);

#endif
