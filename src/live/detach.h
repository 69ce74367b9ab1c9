/*
 * A program that goes on when we do not: no child of ours, in a session of its own, with no terminal.
 */
#ifndef ARBOR_LIVE_DETACH_H
#define ARBOR_LIVE_DETACH_H

#include "base/err.h"

/* With our own environment: it is one of us. The first argument is its name; NULL ends them. */
enum status detach_start(const char *path, const char *const *arguments, struct err *err) MUST_USE;

#endif
