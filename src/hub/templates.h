/*
 * Which template renders something.
 *
 * A template is for handles of a plugin with one method, and has a name: `default` is whole,
 * `compact` one line, `markdown` what it says. People set their own (store/template.h); the
 * program ships some for every kind of handle it knows, in the folder templates/. The first of
 * these that exists is taken:
 *
 *     the one somebody set, of this name
 *     the shipped one of this name
 *     the one somebody set as `default`
 *     the shipped `default`
 *     any JSON as people read it (base/json_plain.h)
 */
#ifndef ARBOR_HUB_TEMPLATES_H
#define ARBOR_HUB_TEMPLATES_H

#include "hub/call.h"
#include "store/template.h"

enum template_origin { TEMPLATE_CUSTOM, TEMPLATE_SHIPPED, TEMPLATE_GENERIC, TEMPLATE_GIVEN };
extern const char *const template_origins[]; /* their names, ended by NULL */

#define TEMPLATE_DEFAULT STR("default")
#define TEMPLATE_COMPACT STR("compact")

/* What is rendered. */
struct template_of {
	struct uuid plugin;
	struct str plugin_name; /* empty = nobody knows it here */
	struct str method;
};

/* A plugin by its name ("claudecode", "notes@2") or its id. */
enum status template_plugin(const struct hub *h, struct str text, struct template_of *out,
			    struct err *err) MUST_USE;

struct template_found {
	enum template_origin origin;
	struct str name;
	struct str text; /* in the arena, or the program's; empty when generic */
};

/* As above; one that is not there is no error but generic. */
enum status template_find(struct call *c, const struct template_of *of, struct str name, struct arena *mem,
			  struct template_found *out, struct err *err) MUST_USE;

/* Only the first two; STATUS_NOT_FOUND when there is none of this name. */
enum status template_exact(struct call *c, const struct template_of *of, struct str name, struct arena *mem,
			   struct template_found *out, struct err *err) MUST_USE;

/* The shipped ones, in order: by plugin, method, name. False behind the last. */
struct template_shipped {
	struct str plugin, method, name, text;
};
bool template_shipped(size_t index, struct template_shipped *out);

/* Whether there is a store to look into. */
enum status template_store(struct call *c, bool *out, struct err *err) MUST_USE;

#endif
