/*
 * The allocator behind every other allocation, and the end of a program that
 * cannot go on. See base.h for why memory is never NULL. The message is put
 * together on the stack and written with write(2): when memory is gone, stdio may
 * need some.
 */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

enum { LARGE_PAGE = 2 * 1024 * 1024 };

static size_t in_large_pages(size_t bytes)
{
	return (bytes + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1);
}

/* The system gives any address: of a page more than is wanted, what is before and behind the right one goes
 * back. */
void *mem_map(size_t bytes)
{
	size_t size = in_large_pages(bytes), before;
	char *p = size < bytes ? MAP_FAILED
			       : mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		end_with("out of memory");
	before = in_large_pages((uintptr_t)p) - (uintptr_t)p;
	if (before)
		munmap(p, before);
	if (before < LARGE_PAGE)
		munmap(p + before + size, LARGE_PAGE - before);
	(void)madvise(p + before, size, MADV_HUGEPAGE);
	return p + before;
}

void mem_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, in_large_pages(bytes));
}

void mem_touch(void *p, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
	const size_t page = 4096;
	size_t before = (page - (uintptr_t)p % page) % page;

	if (bytes >= before + page)
		(void)madvise((char *)p + before, (bytes - before) & ~(page - 1), MADV_POPULATE_WRITE);
#else
	(void)p;
	(void)bytes;
#endif
}

void mem_free(void *p)
{
	free(p);
}
