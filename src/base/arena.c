/*
 * Bump allocation in chunks of at least 16 KiB. A request larger than a chunk
 * gets a chunk of its own. Nothing is freed before arena_release().
 *
 * Invariant: used <= last->size; addresses handed out never move.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ARENA_CHUNK = 16 * 1024, ARENA_LARGE = 1024 * 1024, ARENA_ALIGN = 16 };

struct arena_chunk {
	struct arena_chunk *older;
	size_t size;
	bool is_mapped; /* it is the system's */
	_Alignas(16) char data[];
};

void arena_release(struct arena *a)
{
	while (a->last) {
		struct arena_chunk *older = a->last->older;

		if (a->last->is_mapped)
			mem_unmap(a->last, sizeof *a->last + a->last->size);
		else
			mem_free(a->last);
		a->last = older;
	}
	a->used = 0;
}

static void add_chunk(struct arena *a, struct arena_chunk *chunk, size_t size, bool is_mapped)
{
	chunk->older = a->last;
	chunk->size = size;
	chunk->is_mapped = is_mapped;
	a->last = chunk;
	a->used = 0;
}

/* Not zeroed: most arenas are short, and clearing whole chunks would cost more than what is done with them. */
static char *take(struct arena *a, size_t bytes)
{
	size_t need = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	char *at;

	if (!a->last || need > a->last->size - a->used) {
		size_t size = size_max(need, ARENA_CHUNK);

		add_chunk(a, mem_resize(NULL, sizeof(struct arena_chunk) + size), size, false);
	}
	at = a->last->data + a->used;
	a->used += need;
	return at;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	return memset(take(a, bytes), 0, bytes);
}

/* What is all used, of which many pages are new. */
static char *take_touched(struct arena *a, size_t bytes)
{
	char *p = take(a, bytes);

	if (bytes >= ARENA_CHUNK)
		mem_touch(p, bytes);
	return p;
}

void *arena_room(struct arena *a, size_t bytes)
{
	return bytes < ARENA_LARGE ? take_touched(a, bytes) : arena_alloc_large(a, bytes);
}

/* What is left of the chunk before is lost, which is little beside this. */
void *arena_alloc_large(struct arena *a, size_t bytes)
{
	size_t size = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);

	if (bytes < ARENA_LARGE)
		return memset(take_touched(a, bytes), 0, bytes);
	add_chunk(a, mem_map(sizeof(struct arena_chunk) + size), size, true);
	a->used = size;
	return a->last->data;
}

struct str arena_str(struct arena *a, struct str s)
{
	return (struct str){ arena_cstr(a, s), s.n };
}

const char *arena_cstr(struct arena *a, struct str s)
{
	char *copy = take(a, s.n + 1);

	if (s.n)
		memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	return copy;
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		return (struct str){ 0 };
	text = take(a, (size_t)n + 1);
	va_start(args, format);
	vsnprintf(text, (size_t)n + 1, format, args);
	va_end(args);
	return (struct str){ text, (size_t)n };
}
