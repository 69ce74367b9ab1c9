/*
 * What drawing made and mirrored trees has in common.
 */
#ifndef ARBOR_HUB_ARBOR_RENDER_H
#define ARBOR_HUB_ARBOR_RENDER_H

#include "hub/arbor_find.h"

/* Whether a sibling follows the node in hand (0), or one so many steps above it. */
typedef enum status draw_next_fn(void *ctx, int64_t above, bool *next, struct err *err);

/* What stands in front of a node so many levels down, appended: the last levels only, and no more than half the
 * width. *used = its columns. */
enum status draw_front(struct buf *line, int width, int64_t level, draw_next_fn *fn, void *ctx, int *used,
			 struct err *err) MUST_USE;

/* What a made node says on a line, appended. */
enum status render_words(struct call *c, const struct made_node *m, struct buf *words, struct err *err) MUST_USE;

/* The beginning of an id, and of what its node says. */
void draw_node(struct buf *line, const struct uuid *id, struct str words, int columns);

/* Gives the line, and empties it. */
enum status draw_end(struct call *c, struct buf *line, struct err *err) MUST_USE;

/* The last line of a page that is not the last. */
enum status draw_more(struct call *c, const struct uuid *last, struct buf *line, struct err *err) MUST_USE;

#endif
