/*
 * Whether one JSON value is part of another.
 */
#ifndef ARBOR_BASE_JSON_MATCH_H
#define ARBOR_BASE_JSON_MATCH_H

#include "base/json.h"

/*
 * A scalar is part of one that is equal: numbers by value, strings by what they say. An object is part of one that
 * has each of its members, and what stands there has its value as a part. An array is part of one that has, for each
 * of its elements, an element of which that is a part. So {} is part of every object and [] of every array.
 *
 * Both texts are nested no deeper than a caller allowed when it read them; it takes at most as many comparisons as
 * the product of their values.
 */
bool json_contains(const struct json *whole, uint32_t value, const struct json *part, uint32_t wanted);

#endif
