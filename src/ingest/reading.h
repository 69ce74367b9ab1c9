/*
 * Threads that read, and the one that writes what they have read: what they share. For ingest/read.c and
 * ingest/along.c, which say what is read and when.
 */
#ifndef ARBOR_INGEST_READING_H
#define ARBOR_INGEST_READING_H

#include "base/split.h"
#include "ingest/jobs.h"
#include "ingest/part.h"
#include "ingest/read.h"

enum { READING_MOST = 4 }; /* threads */

struct reading;

/* An older version of a source, and from where on it differs. */
struct old_version {
	int64_t generation, length;
	int64_t shared; /* bytes it has in common with the newest */
	int64_t from;	/* beginning of the line where that ends */
};

/* A thread, and the source it reads. */
struct reader {
	struct reading *y;
	struct store *store;
	pthread_t thread;
	struct part_reader lines;
	struct paper_reader papers;
	const struct unread *job;
	struct part *part;
	struct buf raw; /* of one block */
	struct split split;
	bool at_end;  /* the line in hand has no line feed */
	/* Of a file with older versions: what the newest has, to know what they had more. */
	bool gathers;
	uint64_t *keys;
	size_t key_count, key_cap;
	struct old_version *old;
	size_t old_count;
	bool large;   /* it has many megabytes */
	bool stopped; /* the queue takes no more */
	int64_t broken, broken_at; /* lines of the source that could not be understood; the first */
	bool broken_is_long;	   /* which is too long to be read */
};

struct reading {
	struct store *store; /* of who writes */
	struct read_options o;
	struct jobs jobs;
	int round;
	int64_t number; /* of this reading, among all that ever were */
	bool conflict;	/* somebody else was faster somewhere */
	int64_t mark;	/* of the store before anything was read (store/tombstone.h) */
	bool outdated;	/* it is another one by now */
	struct queue queue;
	struct reader readers[READING_MOST];
	size_t reader_count;
	pthread_mutex_t large;	  /* who reads a line of many megabytes has it */
	struct read_job *written; /* to their ends, in the open transaction */
	int64_t done;		  /* bytes */
	struct err trouble;	  /* why a source could not be read that is not damaged; status 0 = none */
	int64_t to_merge_ns;	  /* how long what has not been merged took to write */
	int unmerged;		  /* transactions of that */
	int64_t progress_at;
};

/* Those that read. */
enum status reader_init(struct reader *r, struct reading *y, struct err *err) MUST_USE;
void reader_release(struct reader *r);
void *reader_run(void *ctx);

/* `open`: more comes in while it goes on (jobs_close()). Everything that is zero so far may be released. */
enum status reading_init(struct reading *y, struct store *s, const struct read_options *o, bool open,
			 struct err *err) MUST_USE;

/* Starts as many threads as can be had; fails when not even one can. `meet` as in ingest/queue.h. */
enum status reading_start(struct reading *y, struct queue_meet *meet, struct err *err) MUST_USE;

/* Writes a part and what else is ready, in one transaction and those of merging. */
enum status reading_write(struct reading *y, struct part *p, struct err *err) MUST_USE;

/* Writes until all is read. */
enum status reading_write_all(struct reading *y, struct err *err) MUST_USE;

/* Nothing more is written. */
void reading_stop(struct reading *y);
void reading_release(struct reading *y);

bool reading_is_cancelled(const struct reading *y);

#endif
