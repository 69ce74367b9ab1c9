/*
 * Bringing a folder of Claude Code into the store.
 */
#ifndef ARBOR_INGEST_SYNC_H
#define ARBOR_INGEST_SYNC_H

#include "ingest/filter.h"
#include "store/source.h"

enum sync_event {
	SYNC_ADDED,     /* a new file */
	SYNC_GREW,      /* more bytes at the end of a known one */
	SYNC_REWRITTEN, /* a new generation */
	SYNC_RENAMED,
	SYNC_REPAIRED,  /* blocks that were damaged, from a file that still has them */
	SYNC_VANISHED,
	SYNC_SKIPPED,   /* a link, a device: not read by rule */
	SYNC_HIDDEN,    /* the same: a link to a folder, behind which much may lie */
	SYNC_BROKEN,    /* it has a line that is kept and could not be understood */
	SYNC_FAILED,
	SYNC_EVENTS
};

struct sync_report {
	int64_t files;              /* wanted files below the root */
	int64_t count[SYNC_EVENTS]; /* how often each happened */
	int64_t unchanged;
	int64_t new_sessions;       /* of the files added */
	int64_t updated_sessions;   /* of those that grew or were rewritten */
	int64_t new_bytes;          /* brought in by this sync */
	int64_t new_lines;
	int64_t messages, tools;    /* read, of conversations and sub-agents */
	int64_t broken;             /* lines that could not be understood */
	int64_t damaged;            /* files whose kept bytes could not be read back */
	char root[LIMIT_LABEL + 1]; /* the root's label */
};

struct sync_options {
	const char *dir;            /* the folder, e.g. ~/.claude */
	struct str label;           /* of the root; p NULL = choose (store/source.h) */
	bool force;                 /* compare every byte of every file */
	/* Only these paths below the folder, each once; NULL = all there are. */
	const struct str *paths;
	size_t path_count;
	int64_t along_bytes; /* if so many are new, they are read while they come in; 0 = LIMIT_ALONG_BYTES */
	const struct filter_rules *filter; /* what is not taken by it stays as it is; NULL = all is taken */
	const atomic_bool *cancel;  /* may be NULL; set by a signal handler */
	/* Called for what happens to a file, in this thread. May be NULL. */
	void (*event)(void *ctx, enum sync_event what, struct str path, const struct err *why);
	/* Called now and then with the bytes done so far: first "reading" files, then
	 * "indexing" them. May be NULL. */
	void (*progress)(void *ctx, const char *what, int64_t done, int64_t total);
	void *ctx;
};

/* Whether there is such a folder (else it fails), and anything of Claude Code in
 * it. Needs no store, so that a mistake does not make one. */
enum status sync_inspect(const char *dir, bool *has_files, struct err *err) MUST_USE;

/*
 * A folder without anything of Claude Code in it is STATUS_NOT_FOUND, unless it
 * was mirrored before or is given a label. Otherwise
 * returns STATUS_OK, STATUS_PARTIAL when some files failed (each was reported),
 * STATUS_CANCELLED, or what stopped it. In every case what was reported as
 * brought in is in the store, and running it again completes the rest.
 */
enum status sync_run(struct store *s, const struct sync_options *o, struct sync_report *report,
		     struct err *err) MUST_USE;

/*
 * What sync_run() would do, as far as one can see without reading the files: they
 * are told as events and counted, and nothing is written. `s` NULL = there is no
 * store yet. Returns what sync_run() would.
 */
enum status sync_preview(struct store *s, const struct sync_options *o, struct sync_report *report,
			 struct err *err) MUST_USE;

#endif
