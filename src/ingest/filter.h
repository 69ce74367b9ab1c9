/*
 * Which of Claude Code's files a sync takes: all of them, unless somebody wants less.
 *
 * What is not taken is not touched either: neither opened, nor said to be gone.
 */
#ifndef ARBOR_INGEST_FILTER_H
#define ARBOR_INGEST_FILTER_H

#include "base/arena.h"
#include "base/err.h"

struct filter {
	/* Globs, in which '*' also stands for '/'. One that begins with '/' is compared with
	 * the folder a project is in; any other with the path below the root, where a folder
	 * stands for all that is in it. */
	const struct str *exclude;
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

/* Whether a file is taken, or a folder may hold one that is. What the client's layout does
 * not want (claude/layout.h) never is. */
bool filter_wants(const struct filter_rules *r, struct str path, bool is_folder);

/* Whether it is taken as far as its size goes. */
bool filter_fits(const struct filter_rules *r, int64_t size);

#endif
