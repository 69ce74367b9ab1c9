/*
 * The allocator behind every other allocation, and the end of a program that
 * cannot go on. See base.h for why memory is never NULL. The message is written with write(2): when memory is gone,
 * stdio may need some.
 */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static NORETURN void end_with(const char *text)
{
	ssize_t ignored = write(STDERR_FILENO, "arbor: ", 7);

	ignored = write(STDERR_FILENO, text, strlen(text));
	ignored = write(STDERR_FILENO, "\n", 1);
	(void)ignored;
	abort();
}

static NORETURN void out_of_memory(void)
{
	end_with("out of memory");
}

void bug(const char *what)
{
	end_with(what);
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
