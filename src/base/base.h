/*
 * What every file may use: attributes, counting, and the allocation functions.
 *
 * Running out of memory is not an error that travels: mem_*() end the process
 * with one line on stderr. Inputs are bounded by limits.h, so this means the
 * machine is out of memory and not that a file was too large. The store
 * survives it as it survives kill -9.
 */
#ifndef ARBOR_BASE_BASE_H
#define ARBOR_BASE_BASE_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATTR_PRINTF(format_index, first_arg) \
	__attribute__((format(printf, format_index, first_arg)))
#define MUST_USE     __attribute__((warn_unused_result))
#define CLEANUP(fn)  __attribute__((cleanup(fn)))
#define NORETURN     __attribute__((noreturn))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Each returns memory or does not return. mem_alloc() is zeroed. */
void *mem_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *mem_resize(void *old, size_t bytes) __attribute__((returns_nonnull));
void  mem_free(void *p);

/* What is going to be written, from the system in one piece: page by page it costs several times as much.
 * Says nothing of what stands there, and does nothing where a system cannot do this. */
void mem_touch(void *p, size_t bytes);

/* Lays what mem_alloc() and malloc() give from now on into a large page, where the system has some: for the beginning
 * of a program that is over in milliseconds and gives little back. */
void mem_begin_large(void);

/* Zeroed, straight from the system and back to it, in large pages where it has some: for megabytes that are
 * all used, of which getting each page alone costs more than most of what is done with it. */
void *mem_map(size_t bytes) __attribute__((returns_nonnull));
void mem_unmap(void *p, size_t bytes);

/* For what cannot happen: says so and ends the program with a core. */
void bug(const char *what) NORETURN;

#endif
