/*
 * Files beside the conversations, shown as parts of these are.
 */
#ifndef ARBOR_HUB_MEMORY_PAPER_H
#define ARBOR_HUB_MEMORY_PAPER_H

#include "hub/call.h"
#include "store/find.h"

/* Gives its texts, an item each: kind, id, type, title, path, session, project, at and text. Wants a read transaction. */
enum status show_paper(struct call *c, const struct source_info *file, struct err *err) MUST_USE;

#endif
