/*
 * Purging what was mirrored: lines go from the archive and from everything derived of it,
 * and no way in brings them back.
 *
 * The unit is the line, because a file is kept as lines: whoever purges a block purges the
 * line it stands in, and with it the line's other blocks. A message is all its lines, a turn
 * all its messages. Each goes wherever it stands: in every version of a file, in every copy.
 *
 * A session is its transcript wherever that is mirrored, those of its sub-agents, and what
 * the client keeps by its id (tool results, file history, tasks, todos, typed history). What
 * other sessions have in common with it stays with them. A tree is all sessions that have
 * lines in common, each as a whole.
 */
#ifndef ARBOR_INGEST_PURGE_H
#define ARBOR_INGEST_PURGE_H

#include "store/store.h"

struct purge_subject {
	struct uuid id;	    /* of a session, turn, message, block or line; or, if not 0: */
	int64_t transcript; /* row of one (store/session.h) that is meant alone: a sub-agent's */
	bool tree;	    /* not that alone, but the tree it is in */
};

/* What goes, or has gone; what was purged before does not count again. */
struct purge_report {
	int64_t lines, bytes; /* in all files and their versions */
	int64_t files;	      /* that they stand in */
	int64_t whole;	      /* of these: those of which nothing is kept any more */
	int64_t shared;	      /* lines of a session that stay, because others have them, too */
};

/* One of the files. */
struct purge_file {
	struct str root, path; /* label and path below it */
	int64_t lines, bytes;
	bool whole;
};

struct purge_options {
	bool dry_run; /* only say what would go */
	/* Called for each file once it is known. May be NULL. */
	enum status (*file)(void *ctx, const struct purge_file *f, struct err *err);
	/* Called now and then. May be NULL. */
	void (*progress)(void *ctx, const char *what, int64_t done, int64_t total);
	void *ctx;
};

/*
 * STATUS_NOT_FOUND when nothing mirrored has one of these ids; nothing has been purged then.
 * First it is noted what must not come back, in one transaction; from then on every sync
 * honours it. Whoever is killed after that leaves the rest to the next sync or purge. Done
 * means that the words are out of the index and that nothing of it is left in free pages and
 * in the log, as far as no other program is reading an older state: then it is told, and the
 * next sync sees to it. `o` may be NULL. Wants no open transaction.
 */
enum status purge_subjects(struct store *s, const struct purge_subject *list, size_t count,
			   const struct purge_options *o, struct purge_report *report,
			   struct err *err) MUST_USE;

/* One of them. */
enum status purge_subject(struct store *s, const struct uuid *subject, bool tree, struct purge_report *report,
			  struct err *err) MUST_USE;

/* After made trees or nodes were purged: their words go out of the index and what they said out of the file,
 * whoever else has purged something meanwhile. Takes as long as reading and writing the index. */
enum status purge_traces(struct store *s, struct err *err) MUST_USE;

/* Does what a killed purge has left to do. Costs a look when there is nothing. */
enum status purge_complete(struct store *s, struct err *err) MUST_USE;

#endif
