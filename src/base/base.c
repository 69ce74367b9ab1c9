/*
 * The allocator behind every other allocation, and the end of a program that
 * cannot go on. See base.h for why memory is never NULL. The message is put
 * together on the stack and written with write(2): when memory is gone, stdio may
 * need some.
 */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
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

/*
 * A page of 4 KB takes the system a microsecond to find, clear and note, and again some to take back; a
 * command that reads needs two hundred. A large page of 2 MB takes it as long as seventy. malloc() grows one
 * heap upwards from wherever it began, so what lies between that and the next large page is taken and never
 * used: addresses, not memory. Nothing on the page itself may have been written before, for then it has small
 * ones. So the heap is first made to grow, by something behind which malloc() notes what is left, and the
 * page is the first behind that.
 *
 * Where any of this is otherwise, the heap is as it was.
 */
void mem_begin_large(void)
{
#ifdef __GLIBC__
	enum { GROWS_BY = 256 * 1024, HEAD = 16, NOTED = 64 };
	char *first, *unused, *page;
	size_t before;

	/* More than it has to begin with. */
	if (!mallopt(M_TOP_PAD, 3 * LARGE_PAGE) || !mallopt(M_MMAP_THRESHOLD, 3 * LARGE_PAGE))
		return;
	first = malloc(GROWS_BY);
	before = in_large_pages((uintptr_t)first + GROWS_BY + NOTED) - (uintptr_t)first;
	free(first);
	unused = malloc(before - HEAD);
	page = unused + before;
	if (!unused || (uintptr_t)page % LARGE_PAGE || (uintptr_t)page + LARGE_PAGE > (uintptr_t)sbrk(0))
		free(unused);
	else
		(void)madvise(page, LARGE_PAGE, MADV_HUGEPAGE);
#endif
}

void mem_free(void *p)
{
	free(p);
}
