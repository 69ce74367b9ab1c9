/*
 * How long trees and nodes stay: who claims them, and what becomes of those that nobody does.
 *
 *     active ──► scheduled ──► archived ──► purged
 *        ▲           │             │
 *        └── claim ──┘             │          a window of time in each
 *        └────────── rescue ───────┘
 *
 * A node stays while one of these holds: it has not been let go (whoever made it meant it to stay,
 * which is a standing claim that is not written down); somebody claims it; a node below it stays. An
 * ephemeral node is let go at birth, node_delete lets go of others. A tree stays while somebody claims
 * it or a node in it; when its last claim is released it is let go, and its nodes go with it. The
 * standing claim of a mirrored tree is its owner's, 'mirror', and written down when it is released.
 *
 * From these follow: a node is never further along than any below it; claiming one makes all above it
 * and its tree active again; and who was only kept by something below begins its own window at the
 * moment that goes.
 *
 * Everything here takes ids, of made and of mirrored trees and nodes, unless it says otherwise.
 */
#ifndef ARBOR_STORE_LIFECYCLE_H
#define ARBOR_STORE_LIFECYCLE_H

#include "base/arena.h"
#include "store/store.h"

enum subject_kind { SUBJECT_TREE, SUBJECT_NODE };

struct subject {
	enum subject_kind kind;
	struct uuid id;
};

/* In the order in which they follow each other. */
enum life_state { LIFE_ACTIVE, LIFE_SCHEDULED, LIFE_ARCHIVED, LIFE_PURGED, LIFE_STATES };

extern const char *const life_state_names[]; /* ended by NULL */

struct life {
	enum life_state state;
	bool let_go;	  /* it goes when nobody claims it and nothing below it stays */
	bool ephemeral;	  /* it was let go at birth */
	int64_t since_at; /* when it came into this state; 0 = it was made so */
	int64_t due_at;	  /* when it may move on; 0 = it does not */
};

/* How long a state lasts. */
struct life_windows {
	int64_t scheduled_ms, archived_ms;
};

/* What is written down of a subject itself; active when that is nothing. A node of a tree that is
 * further along is as far as its tree: life_within(). */
enum status life_get(struct store *s, const struct uuid *id, struct life *out, struct err *err) MUST_USE;
struct life life_within(const struct life *own, const struct life *tree);

/* STATUS_OK when it can be read, and be part of something: active or scheduled. Else an error that says
 * what it is and which method reads it still. */
enum status life_alive(const struct subject *what, const struct life *l, struct err *err) MUST_USE;

/* The same for those that only are for what is archived. */
enum status life_archived(const struct subject *what, const struct life *l, struct err *err) MUST_USE;

/* ---- Claims ----------------------------------------------------------------- */

/* The standing claims. Nobody else may be called so. */
#define CLAIM_MIRROR "mirror" /* of a mirrored tree */
#define CLAIM_TREE   "tree"   /* of a node that has not been let go: its tree's */

struct claim {
	struct str owner;
	int64_t count;
	int64_t claimed_at; /* 0 = standing */
};

typedef enum status claim_fn(void *ctx, const struct claim *c, struct err *err);

/* Claims that are written down with a count above 0, by owner. Slices are valid during the call. */
enum status claim_each(struct store *s, const struct uuid *id, claim_fn *fn, void *ctx,
		       struct err *err) MUST_USE;

/* How many one owner has, and how many there are in all. */
enum status claim_of(struct store *s, const struct uuid *id, struct str owner, int64_t *out,
		     struct err *err) MUST_USE;
enum status claim_total(struct store *s, const struct uuid *id, int64_t *out, struct err *err) MUST_USE;

/* Whether an owner may be called so: not empty, not too long, no control characters, no standing claim. */
enum status claim_check_owner(struct str owner, struct err *err) MUST_USE;

/* Whether anything is written down of a subject: a claim, or where it is. */
enum status claim_is_written(struct store *s, const struct uuid *id, bool *out, struct err *err) MUST_USE;

/* The standing claim of a mirrored tree: whether it is held; releasing it, and taking it back. What follows
 * is for who does it. The last wants a write transaction. */
enum status claim_mirror_get(struct store *s, const struct uuid *tree, bool *held, struct err *err) MUST_USE;
enum status claim_mirror_put(struct store *s, const struct uuid *tree, bool held, struct err *err) MUST_USE;

/* Mirrored nodes that somebody claims, of all trees. */
typedef enum status claimed_fn(void *ctx, const struct uuid *node, struct err *err);
enum status claim_each_mirrored(struct store *s, claimed_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Takes all claims on something away, but for what is written down of a standing one. Wants a write
 * transaction. */
enum status claim_drop(struct store *s, const struct uuid *id, struct err *err) MUST_USE;

/*
 * One more or less of them, and nothing but that: whoever does this says afterwards what follows for the
 * subject. Wants a write transaction. Releasing more than there is fails with STATUS_USAGE and names what
 * there is. `tree` is the row of the made tree that a made node is in, 0 = none.
 */
enum status claim_add(struct store *s, const struct subject *what, int64_t tree, struct str owner,
		      int64_t count, int64_t *now, struct err *err) MUST_USE;
enum status claim_remove(struct store *s, const struct subject *what, struct str owner, int64_t count,
			 int64_t *now, struct err *err) MUST_USE;

/* ---- States ----------------------------------------------------------------- */

/*
 * Writes down in which state a mirrored subject is from now on, and until when; LIFE_ACTIVE removes what
 * was. Of made ones tree_*() and tree_node_*() (store/tree_life.h) keep account. Wants a write transaction.
 */
enum status life_put(struct store *s, const struct subject *what, enum life_state state,
		     const struct life_windows *windows, struct err *err) MUST_USE;

/* Writes down that it must not come back. Wants a write transaction. */
enum status life_bury(struct store *s, const struct subject *what, struct err *err) MUST_USE;

/* Mirrored trees and nodes of which something is written down: claims, or where a tree is on its way. */
typedef enum status life_subject_fn(void *ctx, const struct subject *what, struct err *err);
enum status life_each_mirrored(struct store *s, life_subject_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Remembers that a row of a fact table was deleted. Wants a write transaction. */
enum status life_deleted_row(struct store *s, const char *table, struct str key, struct err *err) MUST_USE;

#endif
