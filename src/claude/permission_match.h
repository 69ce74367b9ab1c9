/*
 * Inside of permission.c: what patterns mean.
 */
#ifndef ARBOR_CLAUDE_PERMISSION_MATCH_H
#define ARBOR_CLAUDE_PERMISSION_MATCH_H

#include "base/glob.h"
#include "claude/permission.h"

enum permission_kind {
	PERMISSION_COMMAND, /* of a shell */
	PERMISSION_PATH,
	PERMISSION_ADDRESS, /* of a page */
	PERMISSION_TEXT,
};

bool permission_match(enum permission_kind kind, struct str pattern, struct str text,
		      const struct permission_question *q, bool strictly);

/* Adds the pattern that means this text alone. */
bool permission_exact_pattern(enum permission_kind kind, struct str text, const struct permission_question *q,
			      struct buf *out);

/* "domain:" and a name. */
bool permission_is_domain(struct str pattern);

#endif
