/*
 * A program in the place of this one.
 */
#ifndef ARBOR_LIVE_BECOME_H
#define ARBOR_LIVE_BECOME_H

#include "base/err.h"

/* Runs the program at `path` with these words (the first is what it is called, NULL ends them) in a folder,
 * with all of our environment: it is as if whoever called us had called it. Comes back only when that fails.
 */
enum status become(const char *path, const char *folder, const char *const *words, struct err *err) MUST_USE;

#endif
