/*
 * Reading archived transcripts into sessions, lines and the full-text index, and the texts beside them.
 *
 * One way for everything derived: a sync calls it for what it has brought in, a
 * rebuild for all there is, a sync after a crash for what was left over.
 */
#ifndef ARBOR_INGEST_READ_H
#define ARBOR_INGEST_READ_H

#include "store/store.h"

struct fresh;

struct read_options {
	const atomic_bool *cancel; /* may be NULL */
	/* Called now and then with archived bytes read so far. May be NULL. */
	void (*progress)(void *ctx, int64_t done, int64_t total);
	/* Called for a line that is kept and could not be understood, in the calling thread: the
	 * first of each file, and how many more there are. May be NULL. */
	void (*broken)(void *ctx, struct str path, int64_t line, bool too_long, int64_t more);
	struct fresh *fresh; /* what need not be unpacked; may be NULL */
	struct read_report *report; /* added to; may be NULL */
	void *ctx;
};

/* What was read. */
struct read_report {
	int64_t messages, tools; /* of conversations and sub-agents */
	int64_t broken;		 /* lines that could not be understood */
	int64_t damaged;	 /* files that stay unread, because of what the store has of them */
};

/*
 * Reads whatever is unread. Sources whose bytes are damaged are logged, stay
 * unread, and do not stop the others. STATUS_CANCELLED keeps what is complete.
 */
/* `o` may be NULL. */
enum status read_unread(struct store *s, const struct read_options *o, struct err *err) MUST_USE;

/* Whether anything is read of the bytes of such a file. */
bool read_looks_into(struct str path);

/* STATUS_PARTIAL when any are damaged. */
enum status read_tell_damaged(int64_t damaged, struct err *err) MUST_USE;

#endif
