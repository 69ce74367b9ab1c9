/*
 * Templates against what they render: names that the data cannot have are mostly typing
 * errors, and would silently print nothing.
 */
#ifndef ARBOR_HUB_TEMPLATE_CHECK_H
#define ARBOR_HUB_TEMPLATE_CHECK_H

#include "hub/render.h"

/* Told of each, mostly with line and column: "3:5: the data never has 'titel'; did you mean 'title'?" */
typedef void template_warn(void *ctx, struct str text);

/* The kind's fields are those its activation declares (hub/method.h); where nobody declares any, only
 * templates that are called are looked for. */
enum status template_check(struct renderer *r, const struct template_of *of, const struct mustache *m,
			   template_warn *warn, void *ctx, struct err *err) MUST_USE;

#endif
