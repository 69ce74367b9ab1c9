/*
 * Inside the grove: what is shared by finding its shape and its names.
 */
#ifndef ARBOR_QUERY_GROVE_INSIDE_H
#define ARBOR_QUERY_GROVE_INSIDE_H

#include "query/grove.h"

/* The canonical message a node is a part of, or was replaced in; FOREST_NONE = it is an event. */
uint32_t grove_message_of(const struct forest *f, uint32_t node);

/* The canonical one with its uuid. */
uint32_t grove_head_of(const struct forest *f, uint32_t node);

/* Its event, when it is one; NULL = it is none. */
const struct grove_event *grove_event_at(const struct grove *g, uint32_t source, uint32_t line);

/* From the number of what a span is going to have: it is empty then, and begins behind those before it. */
void grove_set_start(struct grove_span *span, uint32_t *count);

/* grove_names.c: which line each tree is named by, and which could have been. */
void grove_choose_roots(struct grove *g);

#endif
