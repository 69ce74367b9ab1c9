/*
 * Files beside the conversations, shown as parts of these are.
 */
#ifndef ARBOR_HUB_MEMORY_PAPER_H
#define ARBOR_HUB_MEMORY_PAPER_H

#include "hub/call.h"
#include "store/find.h"

/* The file that somebody means, if it has texts that can be shown; texts are in the call's arena. Wants a
 * read transaction, as the other does. */
enum status paper_named(struct call *c, struct str name, struct source_info *out, bool *found,
			struct err *err) MUST_USE;

/* Gives its texts, an item each: kind, id, type, title, path, at and text. */
enum status show_paper(struct call *c, const struct source_info *file, struct err *err) MUST_USE;

#endif
