/*
 * The methods of hub.* that show what handles stand for, as data or as text.
 */
#ifndef ARBOR_HUB_HUB_RESOLVE_H
#define ARBOR_HUB_HUB_RESOLVE_H

#include "hub/handle_resolve.h"

extern const struct method hub_resolve_method, hub_resolve_many, hub_render_method;

/* What they take in common, and how help says it. */
#define HANDLE_TEXT \
	"HANDLE is PLUGIN@VERSION::METHOD:ID… as results have it in 'handle', the plugin by its name or its id; " \
	"the same as an object {\"plugin_id\", \"version\", \"method\", \"meta\"}, or an older one with " \
	"\"source\" and \"identifier\". The id of something in this store will do, too: of a session, a " \
	"message, a part of one, a tool's call, as 'arbor show' takes it.\n"

#define WINDOW_PARAMS \
	{ .name = "from", .type = VALUE_BYTES, .initial = "0", .least = 0, .most = INT64_MAX, \
	  .help = "of a long text or of bytes: pass over so many of the first" }, \
	{ .name = "limit", .type = VALUE_BYTES, .letter = 'n', .initial = "65536", .least = 0, \
	  .most = (int64_t)LIMIT_RESOLVED_MOST, \
	  .help = "of a long text or of bytes: at most so many; 'truncated' says that there are more" }

/* What a handle or id stands for, as much of it as the call's 'from' and 'limit' say. */
enum status resolve_window(struct call *c, struct str text, struct resolution *out, struct err *err) MUST_USE;

#endif
