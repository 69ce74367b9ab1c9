/*
 * Where something stands in a text that people edit, as editors count.
 */
#ifndef ARBOR_BASE_PLACE_H
#define ARBOR_BASE_PLACE_H

#include "base/str.h"

/* Both from 1; columns count characters, and a byte order mark is none. */
struct place {
	size_t line, column;
};

/* Of the byte at `at` (<= text.n). */
struct place place_of(struct str text, size_t at);

#endif
