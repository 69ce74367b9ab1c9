/*
 * Lines of several threads on one descriptor: each whole, in the order in which they were
 * asked for. Who writes waits until the reader has taken it, so that nothing has to be kept.
 */
#ifndef ARBOR_FACE_TURNS_H
#define ARBOR_FACE_TURNS_H

#include "base/str.h"

#include <pthread.h>

struct turns {
	int fd;
	atomic_bool over; /* nobody reads, or nobody is to write any more */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t next, now; /* numbers of the next to come and of who may write */
};

void turns_init(struct turns *t, int fd);
void turns_release(struct turns *t);

/* False when it is over: then some of it may have been written. */
bool turns_write(struct turns *t, struct str line);

/* Ends all waiting; what is being written stays incomplete. */
void turns_end(struct turns *t);

/* Whether somebody could still read; finds out when not. */
bool turns_has_reader(struct turns *t);

#endif
