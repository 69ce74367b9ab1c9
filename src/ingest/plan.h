/*
 * What a sync has to do: the files below a root, against what the store knows.
 */
#ifndef ARBOR_INGEST_PLAN_H
#define ARBOR_INGEST_PLAN_H

#include "base/map.h"
#include "base/walk.h"
#include "ingest/filter.h"
#include "store/source.h"

/* What the writing thread knows of a job. */
struct job_written {
	int64_t source;              /* row; 0 = not there yet */
	int64_t generation;
	int64_t length;
	bool dead;                   /* failed, or somebody else was faster */
};

/* One file to be read. Reading threads see only what stands before `written`, and
 * nobody changes that. */
struct job {
	struct str path;
	struct file_stat st;         /* as the walk saw it */
	const struct source *known;  /* NULL = a new source */
	bool renamed;                /* `known` had another path */
	bool whole;                  /* compare every byte */
	bool copy;                   /* begins as another that is archived (ingest/copies.h) */
	struct job_written written;
};

struct plan {
	struct arena mem;
	struct source *sources;      /* all the store knows of this root, or of the paths asked for */
	size_t source_count;
	bool *seen;                  /* sources found by the walk, by index */
	bool *gone;                  /* sources this sync has marked as vanished, by index */
	struct job *jobs;            /* in the order to be read */
	size_t job_count;
	size_t later_count;          /* behind them: those that repeat one of them (ingest/copies.h) */
	int64_t files;               /* wanted files found */
	struct plan_failure *failures;
	const struct filter_rules *filter;
};

/* What could not be looked at. Sources below it are neither seen nor vanished. */
struct plan_failure {
	struct plan_failure *next;
	struct str path;
	bool refused;                /* by rule, not by an error */
	bool loud;                   /* worth telling even to those who want quiet */
	struct err why;
};

struct plan_options {
	bool whole;                  /* read and compare every file, whatever its times say */
	const struct str *paths;     /* only these, each once; NULL = all there are */
	size_t path_count;
	const struct filter_rules *filter; /* NULL = takes everything */
	int64_t mark;			   /* the store's (store/tombstone.h) */
	const atomic_bool *cancel;   /* may be NULL */
};

/* Without a store (NULL) everything is new; `paths` must then be NULL, too. */
enum status plan_make(struct plan *p, struct store *s, int64_t root, int root_fd, const struct plan_options *o,
		      struct err *err) MUST_USE;
void plan_release(struct plan *p);

/* Whether the source of this index is gone: known, not seen, and its folder could
 * be looked at. */
bool plan_has_vanished(const struct plan *p, size_t index);

#endif
