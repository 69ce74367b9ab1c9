/*
 * What the methods of mustache.* have in common.
 */
#ifndef ARBOR_HUB_MUSTACHE_METHODS_H
#define ARBOR_HUB_MUSTACHE_METHODS_H

#include "hub/templates.h"

#define PLUGIN_PARAM(f) \
	{ .name = "plugin", .type = VALUE_TEXT, .flags = PARAM_WORD | (f), \
	  .help = "whose handles: an activation's name, another's with its major as notes@1, or an id" }

/* What a result says of a template. */
#define TEMPLATE_FIELDS \
	{ .name = "template", .type = VALUE_TEXT, .flags = FIELD_KEY, \
	  .help = "its name, plugin and method in front" }, \
	{ .name = "plugin", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, \
	  .help = "whose handles it renders; an id when nobody knows the name" }, \
	{ .name = "plugin_id", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "the same as its id" }, \
	{ .name = "method", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "which of its handles" }, \
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "its name among those of the method" }

void put_template(struct call *c, struct json_writer *w, const struct template_of *of, struct str name);

extern const struct method mustache_list;

#endif
