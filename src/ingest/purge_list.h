/*
 * What a purge takes, found before anything is changed: lines by their hashes, files as a whole, and
 * what is to be said of them.
 */
#ifndef ARBOR_INGEST_PURGE_LIST_H
#define ARBOR_INGEST_PURGE_LIST_H

#include "base/arena.h"
#include "base/line_hash.h"
#include "base/map.h"
#include "ingest/purge.h"

/* A line that is to go. */
struct purge_line {
	struct purge_line *next;
	uint8_t hash[SHA256_BYTES];
	bool everywhere; /* in every copy; else only where no other session has it */
	bool spared;	 /* one has */
};

/* A file that has such lines. */
struct purge_source {
	struct purge_source *next;
	int64_t row;
	struct uuid id;
	struct str host, root, path;
	bool whole; /* nothing of it is to be kept */
	int64_t lines, bytes;
};

struct purge_list {
	struct arena mem;
	struct line_salt salt;
	struct map lines; /* by hash */
	struct purge_line *first_line;
	uint64_t lengths[LINE_LENGTHS / 64];
	struct map sources; /* by row */
	struct purge_source *first_source;
	struct map sessions; /* whose files are to go, by id */
	bool damaged;	     /* not everything could be looked through */
};

void purge_list_release(struct purge_list *l);

/* Fills a list that is all zero. STATUS_NOT_FOUND when nothing has one of the ids, STATUS_CORRUPT when what
 * they mean cannot be read. What is unread must have been read. Wants no transaction. */
enum status purge_list_find(struct purge_list *l, struct store *s, const struct purge_subject *subjects,
			    size_t count, const struct purge_options *o, struct purge_report *report,
			    struct err *err) MUST_USE;

/* Notes what must not come back. Wants a write transaction. */
enum status purge_list_write(const struct purge_list *l, struct store *s,
			     const struct purge_subject *subjects, size_t count, struct err *err) MUST_USE;

#endif
