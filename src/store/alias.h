/*
 * Other ids of trees and nodes, given by hand. Aliases that follow from the archive are derived and not here.
 */
#ifndef ARBOR_STORE_ALIAS_H
#define ARBOR_STORE_ALIAS_H

#include "store/lifecycle.h"

/* `target` may be made or mirrored; whether it exists is for the caller to know. The alias is a random id
 * that nothing has or had (STATUS_CONFLICT), and what it names is no alias itself. */
enum status alias_add(struct store *s, const struct uuid *alias, const struct subject *target,
		      struct err *err) MUST_USE;
enum status alias_remove(struct store *s, const struct uuid *alias, struct err *err) MUST_USE;

/* What it is another name of. */
enum status alias_follow(struct store *s, enum subject_kind kind, const struct uuid *alias, struct uuid *out,
			 bool *found, struct err *err) MUST_USE;

/* Of one subject, oldest first. */
typedef enum status alias_fn(void *ctx, const struct uuid *alias, int64_t created_at, struct err *err);
enum status alias_each(struct store *s, const struct uuid *target, alias_fn *fn, void *ctx,
		       struct err *err) MUST_USE;

#endif
