/*
 * The allocator behind every other allocation, and the end of a program that
 * cannot go on. See base.h for why memory is never NULL. The message is put
 * together on the stack and written with write(2): when memory is gone, stdio may
 * need some.
 */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static NORETURN void end_with(const char *text)
{
	char line[128];
	int n = snprintf(line, sizeof line, "arbor: %.100s\n", text);
	ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);

	(void)ignored;
	abort();
}

void bug(const char *what)
{
	end_with(what);
}

void *mem_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p)
		end_with("out of memory");
	return p;
}

void *mem_resize(void *old, size_t bytes)
{
	void *p = realloc(old, bytes ? bytes : 1);

	if (!p)
		end_with("out of memory");
	return p;
}

void mem_free(void *p)
{
	free(p);
}
