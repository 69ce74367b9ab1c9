/*
 * Of what is long, how much a result carries.
 */
#ifndef ARBOR_HUB_WINDOW_H
#define ARBOR_HUB_WINDOW_H

#include "hub/call.h"

struct window {
	size_t from; /* bytes that are passed over */
	size_t left; /* that may still be given, of this and of what follows */
	bool cut;    /* something was left out */
};

/* A range of a text without what is left of characters that were cut in two: at its front, if something
 * stands before it, and at its back. */
struct str window_trim(struct str range, bool front, bool back);

/* A text as far as the window lets it, as `key`; with put_window_size() of it. */
void put_window(struct json_writer *w, const char *key, struct str text, struct window *window);

/* Its whole length as "bytes", and "truncated" where less was given. */
void put_window_size(struct json_writer *w, size_t all, size_t given, struct window *window);

#define WINDOW_FIELDS \
	{ .name = "bytes", .type = VALUE_BYTES, .flags = FIELD_OPTIONAL, .help = "how many all of it has" }, \
	{ .name = "truncated", .type = VALUE_BOOL, .flags = FIELD_OPTIONAL, \
	  .help = "there is more: ask for its handle with 'from' and 'limit'" }

#endif
