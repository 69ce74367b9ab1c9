/*
 * Templates that people have set, by what they render. The shipped ones are in the
 * program (hub/templates.h).
 */
#ifndef ARBOR_STORE_TEMPLATE_H
#define ARBOR_STORE_TEMPLATE_H

#include "base/arena.h"
#include "store/store.h"

/* What a template is for: handles of a plugin with this method, and its name among them. */
struct template_key {
	struct uuid plugin;
	struct str method, name;
};

struct template_row {
	struct template_key key;
	struct str body;
	int64_t updated_at;
};

/* STATUS_NOT_FOUND when there is none. Texts of *out are in the arena. */
enum status template_get(struct store *s, const struct template_key *key, struct arena *mem,
			 struct template_row *out, struct err *err) MUST_USE;

/* Sets or replaces one. */
enum status template_put(struct store *s, const struct template_key *key, struct str body,
			 struct err *err) MUST_USE;

/* STATUS_NOT_FOUND when there is none. */
enum status template_delete(struct store *s, const struct template_key *key, struct err *err) MUST_USE;

/* All of them, by plugin, method and name. Texts are valid until the function returns. */
typedef enum status template_fn(void *ctx, const struct template_row *row, struct err *err);
enum status template_each(struct store *s, template_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
