/*
 * Lines with one uuid and different contents: which is which, by their ids.
 */
#ifndef ARBOR_QUERY_VARIANT_H
#define ARBOR_QUERY_VARIANT_H

#include "claude/record.h"
#include "store/session.h"

/* The id of what a line says, where others with its uuid say something else. */
struct uuid variant_id(const struct record_reader *r, const struct record *rec);

/* The same for a line by its name, if it is such a one: false, and *out as it was, if not.
 * Costs a look-up. */
enum status variant_id_of(struct store *s, const struct record_reader *r, const struct record *rec,
			  const struct node_name *name, bool *is_one, struct uuid *out,
			  struct err *err) MUST_USE;

/* Lines whose such id begins with these hex digits; each content once. */
enum status variant_search(struct store *s, struct str prefix, int64_t within, struct id_match *out,
			   size_t most, size_t *count, struct err *err) MUST_USE;

/* Of a node found by an id that several contents share, the one that is meant: that of the
 * canonical line, or `within` a session the one that the client knows from its file. Others stay
 * as they are. */
enum status variant_choose(struct store *s, int64_t within, struct node *node, struct err *err) MUST_USE;

/* Every place where a node stands, be it one of several contents of a line. */
enum status node_places(struct store *s, const struct uuid *id, node_fn *fn, void *ctx, struct err *err) MUST_USE;

/* The one of them that is in a transcript (its row), or else the first; *found is false when there is none. */
enum status node_place(struct store *s, const struct uuid *id, int64_t session, struct node *out, bool *found,
		       struct err *err) MUST_USE;

#endif
