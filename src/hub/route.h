/*
 * On which way a question came to this hub, and what it may still do: told by the hub that
 * passed it on, in the member `route` of a request.
 *
 *     {"via":["<hub id>",...],"timeout_ms":4500,"scopes":["read"],"shallow":true}
 *
 * Whoever sends a route can only take away: time, scopes, and children that may be
 * asked. So there is no harm in believing it.
 */
#ifndef ARBOR_HUB_ROUTE_H
#define ARBOR_HUB_ROUTE_H

#include "base/json.h"
#include "hub/hub.h"

struct route {
	struct str via[LIMIT_HUB_HOPS]; /* ids of the hubs it has been at: nobody is asked twice */
	size_t count;
	bool shallow; /* no children are to be asked */
};

/* What a route says, beside itself. */
struct route_told {
	struct route route;
	int64_t timeout_ms; /* 0 = nothing said */
	unsigned scopes;    /* a bit each; all when nothing is said */
};

/* Texts are in `mem`. `node` may be JSON_NONE. */
enum status route_read(const struct json *j, uint32_t node, struct arena *mem, struct route_told *out,
		       struct err *err) MUST_USE;

/* A part of a comma separated list or of a route; false when it is the name of no scope that can be
 * given away. */
bool scope_parse(struct str name, unsigned *scopes);

/* For a child: the caller's way, and `own`, the id of this hub, unless it is empty. What is left of
 * the time until `deadline_ns` (0 = none) is cut by a tenth, so that whoever is further away
 * gives up first and can be named. */
void route_write(struct buf *out, const struct hub_caller *who, struct str own, int64_t deadline_ns,
		 bool shallow);

bool route_has(const struct route *r, struct str id); /* r may be NULL */
bool route_is_full(const struct route *r);	      /* no further hub fits on it */

/* The id of this hub: that of its store. Where there is none yet, one made of the machine and of where
 * the settings are, which say who its children are. */
enum status hub_own_id(struct call *c, char out[UUID_TEXT + 1], struct err *err) MUST_USE;
void hub_own_id_without_store(const struct call *c, char out[UUID_TEXT + 1]);

#endif
