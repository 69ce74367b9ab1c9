/*
 * What somebody means by an id, of all that has one: conversations and their parts, trees and nodes that were
 * made, files beside the conversations, what was typed, notes.
 */
#ifndef ARBOR_HUB_MEANT_H
#define ARBOR_HUB_MEANT_H

#include "hub/resolve.h"
#include "store/annotation.h"
#include "store/find.h"

enum meant_kind {
	MEANT_MIRRORED = 1, /* a session or a part of one */
	MEANT_TREE = 2,	    /* that was made, as the next */
	MEANT_NODE = 4,
	MEANT_FILE = 8,	  /* that has texts (claude/paper.h) */
	MEANT_NOTE = 16,  /* or a bookmark, by its own id */
	MEANT_TYPED = 32, /* a line of typed history */
};
#define MEANT_ALL (MEANT_MIRRORED | MEANT_TREE | MEANT_NODE | MEANT_FILE | MEANT_NOTE | MEANT_TYPED)

struct meant {
	enum meant_kind kind;
	struct resolved mirrored;
	struct uuid
		id; /* of a tree, node, file, note or typed line; of the first two perhaps another id of it */
	struct source_info file; /* texts in the arena, as in the next */
	struct annotation note;
	int64_t typed;	 /* row (store/paper.h) */
	struct str text; /* how a node begins */
};

/*
 * What resolve_id() takes, and for any of these the beginning of its id (four digits or more), a handle of
 * it, or
 * @NAME of a bookmark on it; a file also by its path or name. Only things of these `kinds` (bits) are meant.
 *
 * A conversation, and a tree that was made, win over all else that begins alike: there are few of them and
 * many parts. Otherwise STATUS_AMBIGUOUS lists what could be meant, of whatever kind.
 *
 * What was made may be archived; of what is purged nothing is found. Wants a read transaction.
 */
enum status meant_find(struct store *s, struct str text, unsigned kinds, struct arena *mem, struct meant *out,
		       struct err *err) MUST_USE;

#endif
