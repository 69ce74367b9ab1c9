/*
 * What a sync has to do: the files below a root, against what the store knows.
 */
#ifndef ARBOR_INGEST_PLAN_H
#define ARBOR_INGEST_PLAN_H

#include "base/map.h"
#include "base/walk.h"
#include "store/source.h"

/* One file to be read. */
struct job {
	struct str path;
	struct file_stat st;         /* as the walk saw it */
	const struct source *known;  /* NULL = a new source */
	bool renamed;                /* `known` had another path */
	bool whole;                  /* compare every byte */
	/* The writer's memory of it. */
	int64_t source;
	int64_t generation;
	int64_t length;
	bool dead;                   /* failed, or somebody else was faster */
};

struct plan {
	struct arena mem;
	struct source *sources;      /* all the store knows of this root */
	size_t source_count;
	bool *seen;                  /* sources found by the walk, by index */
	struct job *jobs;            /* largest first */
	size_t job_count;
	int64_t files;               /* wanted files found */
	struct plan_failure *failures;
};

/* What could not be looked at. Sources below it are neither seen nor vanished. */
struct plan_failure {
	struct plan_failure *next;
	struct str path;
	bool refused;                /* by rule, not by an error */
	struct err why;
};

/* `whole`: read and compare every file, whatever its times say. */
enum status plan_make(struct plan *p, struct store *s, int64_t root, int root_fd, bool whole,
		      const atomic_bool *cancel, struct err *err) MUST_USE;
void plan_release(struct plan *p);

/* Whether the source of this index is gone: known, not seen, and its folder could
 * be looked at. */
bool plan_has_vanished(const struct plan *p, size_t index);

#endif
