/*
 * Programs of whoever sits there: the one that shows long output page by page, and the one that changes a
 * text.
 */
#ifndef ARBOR_FACE_PAGER_H
#define ARBOR_FACE_PAGER_H

#include "base/base.h"

#include <sys/types.h>

struct pager {
	const char *command; /* what to start; NULL = as the environment says, "" = nothing */
	bool colour;	     /* what it shows has colours */
	pid_t pid;	     /* 0 = none runs */
	int fd;		     /* what is written here it shows */
};

/* Starts $ARBOR_PAGER, $PAGER or less. False when it is 'cat', empty, or cannot be
 * started: then the output goes where it would have gone. */
bool pager_start(struct pager *p);

/* Says that there is no more, and waits until it is left. */
void pager_end(struct pager *p);

/* Has a file changed with $VISUAL, $EDITOR or vi. False when that failed. */
bool editor_run(const char *path);

#endif
