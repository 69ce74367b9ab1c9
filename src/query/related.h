/*
 * What has to do with a session, a message, or something that sessions name: along links, with
 * weights.
 */
#ifndef ARBOR_QUERY_RELATED_H
#define ARBOR_QUERY_RELATED_H

#include "base/map.h"
#include "claude/mention.h"
#include "store/session.h"

/* Besides what can be named; MENTION_SESSION stands for sessions. */
enum { RELATED_MESSAGE = MENTION_KINDS, RELATED_AGENT, RELATED_TYPES };

const char *related_type_name(int type);

struct related {
	int type;      /* enum mention_kind, or above */
	struct str id; /* of a session, message, agent; else its name */
	const char *relationship;
	double weight;	/* product of those on the way; of several ways the best */
	int hops;	/* 0 = where it began */
	struct str via; /* what connects it, for people; empty = nothing in between */
	/* Of a session. */
	struct str title, project;
	int64_t updated_at; /* 0 = unknown */
	bool done;
};

struct related_set {
	struct store *store;
	struct arena *mem;
	struct related **list; /* in the order found */
	size_t count, cap;
	struct map known; /* by type and id */
	int64_t all;	  /* transcripts */
	struct str asked; /* the name that was given; empty = none was */
};

/* Wants a read transaction for as long as it is used. */
enum status related_begin(struct related_set *r, struct store *s, struct arena *mem,
			  struct err *err) MUST_USE;
void related_release(struct related_set *r);

/* Where to begin; may be called for several. */
void related_add_session(struct related_set *r, const struct uuid *id);
enum status related_add_message(struct related_set *r, const struct session *session, const struct node *node,
				struct err *err) MUST_USE;

/* The same for whatever sessions name so: a file by the end of its path, too, and any word that was typed or
 * answered. How many there are is how much the list grew; the name is borrowed. */
enum status related_add_named(struct related_set *r, struct str name, struct err *err) MUST_USE;

/* Goes on from what is there; then what was found is described and sorted, the clearest relation first and of these
 * the best. */
enum status related_spread(struct related_set *r, int hops, const atomic_bool *cancel,
			   struct err *err) MUST_USE;

#endif
