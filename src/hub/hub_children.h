/*
 * What hub.* says of child hubs, beside what this hub has itself.
 */
#ifndef ARBOR_HUB_HUB_CHILDREN_H
#define ARBOR_HUB_HUB_CHILDREN_H

#include "hub/children.h"

extern const struct method hub_info, hub_hubs;

/* A method or kind of handle of a child, as the child describes it. Texts live as long as the call
 * that gets it. */
struct far_schema {
	const char *hub; /* the child */
	struct str name; /* with the child's name in front */
	bool is_handle;	 /* no method */
	struct str summary, scope;
	bool streaming;
	const struct json *json; /* all of it */
};

/* Calls `fn` for whatever the children describe; of one method only, if the call has a parameter
 * `method` that is given. Children that cannot be asked are told in a note. */
enum status each_far_schema(struct call *c,
			    enum status (*fn)(struct call *c, const struct far_schema *f, struct err *err),
			    struct err *err) MUST_USE;

/* Its members, with the child's name in front of names. */
void put_far_schema(struct json_writer *w, const struct far_schema *f);

/* For hub.hash: the member `hubs`. */
extern const struct field far_hash_fields[];
enum status put_far_hashes(struct call *c, struct json_writer *w, struct err *err) MUST_USE;

#endif
