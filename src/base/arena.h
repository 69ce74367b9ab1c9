/*
 * Memory that is freed all at once: one arena per request, everything the
 * answer needs inside it.
 */
#ifndef ARBOR_BASE_ARENA_H
#define ARBOR_BASE_ARENA_H

#include "base/str.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *last; /* newest chunk; older ones hang behind it */
	size_t used;              /* bytes of the newest chunk in use */
};

#define ARENA_INIT { 0 }

void arena_release(struct arena *a);

/* Zeroed, aligned for any object. Never NULL. */
void *arena_alloc(struct arena *a, size_t bytes) __attribute__((returns_nonnull));

/* The same for megabytes that will all be used (mem_map()). */
void *arena_alloc_large(struct arena *a, size_t bytes) __attribute__((returns_nonnull));

/* The same for what is written before it is read, small or large: it holds anything. */
void *arena_room(struct arena *a, size_t bytes) __attribute__((returns_nonnull));

/* A copy; a NUL stands behind it, for calls that need one. */
struct str arena_str(struct arena *a, struct str s);
const char *arena_cstr(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...) ATTR_PRINTF(2, 3);

#endif
