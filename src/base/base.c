/*
 * The allocator behind every other allocation. See base.h for why it never
 * returns NULL. The message is written with write(2): when memory is gone,
 * stdio may need some.
 */
#include "base/base.h"

#include <stdlib.h>
#include <unistd.h>

static NORETURN void out_of_memory(void)
{
	static const char text[] = "arbor: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);

	(void)ignored;
	abort();
}

void *mem_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *mem_resize(void *old, size_t bytes)
{
	void *p = realloc(old, bytes ? bytes : 1);

	if (!p)
		out_of_memory();
	return p;
}

void mem_free(void *p)
{
	free(p);
}
