/*
 * The folders conversations worked in: listing them, and what somebody means by one.
 */
#ifndef ARBOR_HUB_MEMORY_PROJECT_H
#define ARBOR_HUB_MEMORY_PROJECT_H

#include "hub/call.h"

extern const struct method memory_projects;

/*
 * The folder that somebody means, absolute.
 * A path that begins with '/', '~/', './' or '../' is that folder. Anything else is the end of a
 * project's path, or of that of a folder above one, in either case of letters if no
 * other fits; or else a folder below the working one. What is shown of a project, cut or not, is
 * accepted. STATUS_AMBIGUOUS lists several, STATUS_NOT_FOUND names what is near. Wants a read transaction.
 */
enum status project_named(struct call *c, struct str given, struct str *out, struct err *err) MUST_USE;

/* The same for the parameter `project`; p NULL when it was left out. */
enum status project_of(struct call *c, struct str *out, struct err *err) MUST_USE;

/* All that a name can mean, where that is not one: in the arena. STATUS_AMBIGUOUS is not given. */
enum status projects_named(struct call *c, struct str given, struct str **out, size_t *count,
			   struct err *err) MUST_USE;

#endif
