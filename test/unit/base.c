/*
 * Where memory lies. What it costs is for `make bench`; here is whether it goes where it is cheap, and whether it is
 * all there.
 */
#include "base/base.h"
#include "t.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE_PAGE = 2 * 1024 * 1024, PIECE = 1000, PIECES = 8 * LARGE_PAGE / PIECE };

/* Whether the system was asked for a large page there: the flags of the part of memory that an address is in. */
static bool wants_large_page(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool inside = false, wants = false;
	char line[512];

	while (f && fgets(line, sizeof line, f)) {
		unsigned long long from, to;

		if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
			inside = (uintptr_t)p >= from && (uintptr_t)p < to;
		else if (inside && str_has_prefix(str_of(line), STR("VmFlags:")))
			wants = strstr(line, " hg") != NULL;
	}
	if (f)
		fclose(f);
	return wants;
}

/* Of the part of memory that is wanted in large pages, what is there already; -1 = there is no such part.
 * Takes none itself. */
static int there_kb(void)
{
	static char maps[256 * 1024];
	int fd = open("/proc/self/smaps", O_RDONLY);
	uint64_t kb = 0;
	size_t size = 0;
	ssize_t n;

	while (fd >= 0 && size < sizeof maps && (n = read(fd, maps + size, sizeof maps - size)) > 0)
		size += (size_t)n;
	if (fd >= 0)
		close(fd);
	for (struct str rest = str_from(maps, size), line; rest.n;) {
		line = str_cut(rest, '\n', &rest);
		if (str_has_prefix(line, STR("Rss:")) &&
		    !str_to_u64(str_trim(str_sub(line, 4, line.n - 4 - STR("kB").n)), &kb))
			return -1;
		if (str_has_prefix(line, STR("VmFlags:")) && memmem(line.p, line.n, " hg", 3))
			return (int)kb;
	}
	return -1;
}

/* In a process of its own, since the heap does not go back. */
static int there_kb_behind(size_t taken)
{
	pid_t child = fork();
	int state = 0;

	if (!child) {
		int kb;

		/* In pieces, since larger ones are not in the heap. */
		for (size_t n = 0; n < taken; n += PIECE)
			mem_alloc(PIECE);
		mem_begin_large();
		kb = there_kb();
		_exit(kb < 0 || kb > 99 ? 99 : kb);
	}
	return waitpid(child, &state, 0) == child && WIFEXITED(state) ? WEXITSTATUS(state) : 99;
}

TEST(nothing_stands_on_the_large_page_before_wherever_the_heap_begins)
{
	enum { STEP = 56 * 1024 };

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
	SKIP("malloc() is another one here, and has no heap that grows upwards");
#endif
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK))
		SKIP("the system has no large pages");
	for (size_t taken = 0; taken < LARGE_PAGE; taken += STEP)
		EQ(there_kb_behind(taken), 0);
}

/* Once for the program: the heap does not go back. */
TEST(the_heap_goes_on_on_a_large_page)
{
	char *small, *last;

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
	SKIP("malloc() is another one here, and has no heap that grows upwards");
#endif
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK))
		SKIP("the system has no large pages");
	mem_begin_large();
	small = mem_alloc(100 * 1024); /* more than was left before */
	last = mem_alloc(LARGE_PAGE / 2);
	memset(last, 1, LARGE_PAGE / 2);
	EQ((uintptr_t)small % LARGE_PAGE, 0);
	EQ((uintptr_t)small / LARGE_PAGE, (uintptr_t)last / LARGE_PAGE);
	CHECK(wants_large_page(small));
	CHECK(wants_large_page(last));
	for (size_t i = 0; i < 100 * 1024; i++)
		NEED(!small[i]);
	mem_free(small);
	mem_free(last);
}

TEST(behind_a_large_page_there_is_more)
{
	static unsigned char *pieces[PIECES];

	for (size_t i = 0; i < PIECES; i++) {
		pieces[i] = mem_resize(NULL, PIECE);
		memset(pieces[i], (int)(i % 251), PIECE);
	}
	for (size_t i = 0; i < PIECES; i++)
		for (size_t k = 0; k < PIECE; k++)
			NEED(pieces[i][k] == i % 251);
	for (size_t i = 0; i < PIECES; i++)
		mem_free(pieces[i]);
}

TESTS(CASE(nothing_stands_on_the_large_page_before_wherever_the_heap_begins),
      CASE(the_heap_goes_on_on_a_large_page), CASE(behind_a_large_page_there_is_more))
