/*
 * Who is alive: processes by a word on their command line. For tests of what must not
 * be left behind.
 */
#ifndef ARBOR_TEST_PROCS_H
#define ARBOR_TEST_PROCS_H

#include "base/buf.h"
#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many processes have `word` somewhere on their command line; zombies have none. */
static inline int procs_with(const char *word)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int count = 0;

	while (proc && (e = readdir(proc))) {
		char path[300], text[4096];
		FILE *f;
		size_t n;

		snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
		if (e->d_name[0] < '0' || e->d_name[0] > '9' ||
		    atol(e->d_name) == getpid()) // lint: allow, digits
			continue;
		f = fopen(path, "re");
		n = f ? fread(text, 1, sizeof text, f) : 0;
		if (f)
			fclose(f);
		count += n && memmem(text, n, word, strlen(word)) != NULL;
	}
	if (proc)
		closedir(proc);
	return count;
}

/* Waits until there are that many, for at most 20 s. */
static inline bool procs_become(const char *word, int count)
{
	for (int i = 0; i < 2000; i++) {
		if (procs_with(word) == count)
			return true;
		usleep(10000);
	}
	return false;
}

/* Children of this process that have died and were not waited for. */
static inline int procs_zombies(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int count = 0;

	while (proc && (e = readdir(proc))) {
		char path[300], state = 0;
		int parent = 0;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		f = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		if (f && fscanf(f, "%*d (%*[^)]) %c %d", &state, &parent) == 2)
			count += state == 'Z' && parent == getpid();
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
	return count;
}

#endif
