/* A file compiled into the program by tools/embed.c. */
#ifndef ARBOR_BASE_EMBED_H
#define ARBOR_BASE_EMBED_H

#include <stddef.h>

struct embedded {
	const char *name; /* without its folder; NULL ends a list */
	const char *bytes; /* a NUL stands behind them */
	size_t size;
};

#endif
