/*
 * Reading one file: what is new in it, packed and handed over in pieces.
 */
#ifndef ARBOR_INGEST_FOLLOW_H
#define ARBOR_INGEST_FOLLOW_H

#include "ingest/piece.h"
#include "ingest/plan.h"
#include "ingest/sieve.h"
#include "store/like.h"
#include "store/pack.h"

/* What a reading thread has to itself. */
struct follower {
	struct store *store;       /* a connection of its own, for reading */
	struct packer *packer;
	struct piece_queue *queue;
	int root_fd;
	const atomic_bool *cancel; /* may be NULL */
	struct buf raw;            /* bytes not yet packed */
	struct sieve sieve;
	struct likeness like; /* of a copy's block, with what it is a copy of */
	struct fresh *fresh; /* for copies of what is packed; may be NULL */
	struct span *gaps; /* in these bytes, in order: what may not be kept */
	size_t gap_count, gap_cap;
};

/* `mark` is the store's when the plan was made (store/tombstone.h). */
enum status follower_init(struct follower *f, const struct store *s, int root_fd, int64_t mark,
			  struct piece_queue *queue, struct fresh *fresh, const atomic_bool *cancel,
			  struct err *err) MUST_USE;
void follower_release(struct follower *f);

/* Reads one file and puts its pieces into the queue; a failure becomes a piece
 * too. False when the queue was closed or the work was cancelled. */
bool follow_file(struct follower *f, struct job *job);

#endif
