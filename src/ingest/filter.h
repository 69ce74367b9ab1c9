/*
 * Which of Claude Code's files a sync takes: all of them, unless somebody wants less.
 *
 * What is not taken is not touched either: not archived, nor said to be gone. Paths are
 * decided here; whose a file is, in ingest/owner.h.
 */
#ifndef ARBOR_INGEST_FILTER_H
#define ARBOR_INGEST_FILTER_H

#include "base/arena.h"
#include "base/err.h"

/* A glob, in which '*' also stands for '/'; a folder stands for all that is in it. One that
 * begins with '/' is compared with the folders that were worked in, any other with paths
 * below the root. */
struct filter_pattern {
	struct str glob;
	struct str real; /* the same with links resolved, as the client has it; p NULL = no other */
};

struct filter {
	const struct filter_pattern *exclude;
	size_t exclude_count;
	struct str project; /* only of the project in this folder (absolute); p NULL = all */
	struct str session; /* only of sessions whose id begins so; p NULL = all */
	int64_t max_size;   /* of a file; 0 = any */
};

/* A filter in the form in which it is asked. */
struct filter_rules;

/* `f` and what it points to must live as long as the rules, which are in the arena. NULL
 * stands for a filter that takes everything. */
enum status filter_make(const struct filter *f, struct arena *mem, const struct filter_rules **out,
			struct err *err) MUST_USE;
void filter_release(const struct filter_rules *const *r); /* for CLEANUP */

/* Whether a file is taken as far as its path goes, or a folder may hold one that is. What the
 * client's layout does not want (claude/layout.h) never is. */
bool filter_wants(const struct filter_rules *r, struct str path, bool is_folder);

/* Whether it is taken as far as its size goes. */
bool filter_fits(const struct filter_rules *r, int64_t size);

/* Whether it matters in which folder a conversation worked. */
bool filter_has_folders(const struct filter_rules *r);

/* Whether that folder, or one above it, is excluded; whether the name of a project's folder
 * could be that of an excluded one. */
bool filter_excludes_folder(const struct filter_rules *r, struct str folder);
bool filter_excludes_name(const struct filter_rules *r, struct str name);

/* What is known so far of whose files are (ingest/owner.h). */
struct owners *filter_owners(const struct filter_rules *r);

/* Whether the pattern of this index has excluded anything so far. */
bool filter_was_used(const struct filter_rules *r, size_t index);

#endif
