/*
 * What a reading thread hands to the writing one: some packed blocks of one
 * file, in order. And the bounded queue between them.
 */
#ifndef ARBOR_INGEST_PIECE_H
#define ARBOR_INGEST_PIECE_H

#include "ingest/fresh.h"
#include "ingest/queue.h"
#include "store/gap.h"

struct job;

enum { PIECE_BLOCKS = 32 };

struct piece {
	struct queue_item item;      /* also links those of one transaction */
	struct job *job;
	enum status failed;          /* not OK: the file could not be read, err says why */
	struct err err;
	/* The first piece of a file says where its bytes go. */
	bool first;
	bool starts_generation;      /* else they continue `generation` */
	int64_t generation;          /* newest when the file was compared, 0 = none */
	int64_t base, shared;        /* of the generation to start */
	int64_t length;              /* bytes the generation has before this piece */
	struct span blank; /* of `generation`: archived, and may not be kept after all; empty = nothing */
	/* Blocks, their packed bytes one behind the other in `packed`. */
	struct archive_new blocks[PIECE_BLOCKS];
	size_t count;
	struct buf packed;
	struct fresh *fresh;                      /* whose these are; may be NULL */
	struct fresh_block *copies[PIECE_BLOCKS]; /* of the blocks, where there is one */
	/* Damaged blocks with their bytes as the file has them; likewise in `packed`,
	 * behind the blocks. */
	struct archive_repair *repairs;
	size_t repair_count;
	/* What of the blocks may not be kept, and is blank in them. */
	struct span *gaps;
	size_t gap_count, gap_cap;
	struct line_count lines;     /* of the generation, these bytes included */
	int64_t new_bytes;           /* not archived before */
	int64_t new_lines;           /* likewise, ended ones */
	/* The last piece says how the file looked. */
	bool last;
	struct source_seen seen;
};

struct piece *piece_new(struct job *job, struct fresh *fresh);
void piece_free(struct piece *p); /* NULL is fine */

/* Its blocks are archived: who reads may have the copies. */
void piece_give_copies(struct piece *p, int64_t generation);

/* Points blocks and repairs at their packed bytes; before it they have only
 * lengths. Blocks are packed first. */
void piece_seal(struct piece *p);

struct piece_queue {
	struct queue queue;
};

/* `meet` as in ingest/queue.h. */
void piece_queue_init(struct piece_queue *q, int writers, struct queue_meet *meet);
void piece_queue_release(struct piece_queue *q); /* frees what was not taken */

/* Waits for room. False (and the piece is freed) when the queue was closed. */
bool piece_queue_put(struct piece_queue *q, struct piece *p);

/* A putting thread ends. */
void piece_queue_leave(struct piece_queue *q);

/* The next piece; NULL when all putters have left and nothing waits, or, without
 * `wait`, when nothing is there now. */
struct piece *piece_queue_take(struct piece_queue *q, bool wait);

/* No more will be taken: wakes and refuses everybody. */
void piece_queue_close(struct piece_queue *q);

#endif
