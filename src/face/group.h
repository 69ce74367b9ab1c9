/*
 * Items below the session they belong to, for views of a terminal.
 */
#ifndef ARBOR_FACE_GROUP_H
#define ARBOR_FACE_GROUP_H

#include "face/view.h"

/* Zeroed at first. */
struct group {
	char session[64]; /* whose heading stands above */
	bool begun;
};

/* Prints a heading when the item's session is not the one of the item before. */
void group_item(struct view *v, struct group *g, const struct json *j);

/* The heading itself: the session's id as it is shown, its title and the end of its project as they are, and of the
 * item where it has one the time called `when`. An empty line stands above it when it has `begun`. */
void group_heading(struct view *v, struct str id, struct str title, struct str project, const struct json *j,
		   const char *when, bool begun);

#endif
