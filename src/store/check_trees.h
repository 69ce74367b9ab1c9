/*
 * Inside the store: whether made trees hold together. A part of check.h.
 */
#ifndef ARBOR_STORE_CHECK_TREES_H
#define ARBOR_STORE_CHECK_TREES_H

#include "store/check.h"

enum status check_trees(struct store *s, struct check_report *r, struct err *err) MUST_USE;

#endif
