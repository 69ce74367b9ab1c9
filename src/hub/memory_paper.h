/*
 * Files beside the conversations, shown as parts of these are.
 */
#ifndef ARBOR_HUB_MEMORY_PAPER_H
#define ARBOR_HUB_MEMORY_PAPER_H

#include "hub/call.h"
#include "store/find.h"

/* Gives its texts, an item each: kind, id, type, title, path, session, project, at and text. Wants a read
 * transaction. */
/* A line of typed history, by its row (store/paper.h), so too. */
enum status show_typed(struct call *c, int64_t row, struct err *err) MUST_USE;

enum status show_paper(struct call *c, const struct source_info *file, struct err *err) MUST_USE;

#endif
