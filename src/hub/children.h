/*
 * The child hubs of this one: programs that the user's settings name, asked by JSON-RPC
 * (live/peer.h).
 *
 *     "hubs": { "notes": { "command": ["~/notes.py"] },
 *               "far":   { "command": ["ssh", "host", "arbor", "rpc", "--stdio"], "timeout_ms": 20000 } }
 *
 * A child's methods are called by a path: notes.list, far.memory.search, far.notes.list. The
 * first name says which child, the rest is the child's affair. One that says in `hub.info`
 * which hub it is has children of its own, perhaps, and is told on which way a question came
 * (hub/route.h); any other is asked without that.
 *
 * Any thread may use it.
 */
#ifndef ARBOR_HUB_CHILDREN_H
#define ARBOR_HUB_CHILDREN_H

#include "hub/handle_resolve.h"
#include "hub/route.h"
#include "live/command.h"

struct settings;
struct children;
struct peer_round;

/* How a child is set up. */
struct child_setting {
	const char *name;
	const char *const *command; /* ended by NULL */
	struct variable *variables; /* of its environment, beside those every child gets */
	size_t variable_count;
	int64_t timeout_ms;
};

#define CHILDREN_EXAMPLE "{\"notes\": {\"command\": [\"~/notes.py\"]}}"

/* The setting 'hubs' as a list in `mem`. Errors say which hub and what is wrong with it; a name
 * that is an activation's own is one. */
enum status children_read(struct str text, struct arena *mem, struct child_setting **out, size_t *count,
			  struct err *err) MUST_USE;

/* NULL when there are none. The environment is read now, and not again when one is started. */
struct children *children_new(const struct settings *settings, const struct environment *e);
void children_free(struct children *c); /* NULL is fine, as everywhere below */

/* For struct hub_caller: their handles. NULL when there are none. */
const struct hub_elsewhere *children_elsewhere(const struct children *c);

size_t children_count(const struct children *c);
const struct child_setting *children_at(const struct children *c, size_t which);

/* Whether the path begins with a child's name; *rest is what follows. */
bool children_find(const struct children *c, struct str path, size_t *which, struct str *rest);

/* What a child says of itself. Texts are in the arena it was asked with. */
struct child_about {
	struct str id; /* of the hub it is; empty = it is none */
	struct str name, version;
	struct json json; /* all of it; child_about_release() */
};
void child_about_release(struct child_about *a);

/* All are to be asked, one after the other, without waiting for each that is silent (live/peer.h). */
struct peer_round *children_round(struct children *c);

/* The same as children_about() in such a round; `round` NULL is fine. */
enum status children_about_in(struct children *c, struct peer_round *round, size_t which,
			      const struct hub_caller *who, struct arena *mem, struct child_about *out,
			      int64_t *took_ns, struct err *err) MUST_USE;

/* Starts it, if needed. STATUS_UNREACHABLE when it does not answer, or speaks another language. */
enum status children_about(struct children *c, size_t which, const struct hub_caller *who, struct arena *mem,
			   struct child_about *out, struct err *err) MUST_USE;

/* Whether it says whose handles it has at all; whether it has those of this plugin; and of one by name, whether it
 * has it in another major. */
bool child_lists_plugins(const struct child_about *a);

/* The plugin with this id as the child calls it, in the version that it has now; texts are in `mem`. */
bool child_plugin(const struct child_about *a, const struct uuid *plugin, struct arena *mem, struct str *name,
		  struct str *version);
bool child_has_plugin(const struct child_about *a, const struct uuid *plugin);
bool child_has_name(const struct child_about *a, struct str plugin);

/* How a child is to be asked. */
struct child_ask {
	size_t which;
	struct str method, params;
	struct str own;	     /* id of this hub, for questions that a child passes on; empty = it does not */
	int64_t deadline_ns; /* 0 = as long as it says something within its timeout */
	bool shallow;
};

/* Answers go to `sink`, which may take its time. Errors begin with the child's name. */
enum status children_ask(struct children *c, const struct child_ask *ask, const struct hub_caller *who,
			 const struct sink *sink, struct err *err) MUST_USE;

/* Calls a method of a child for whoever `c` is about; his scopes are checked, by the child if it is a hub. Then it is
 * told that the call was here; one that has been at LIMIT_HUB_HOPS hubs goes no further. */
enum status children_call(struct call *c, size_t which, struct str method, struct str params,
			  struct err *err) MUST_USE;

/* What `hub.schema` of a child says of one method, in `mem`. STATUS_NOT_FOUND when it does not describe
 * it: it may have it all the same. */
enum status children_schema(struct children *c, size_t which, struct str method, const struct hub_caller *who,
			    struct arena *mem, struct str *out, struct err *err) MUST_USE;

/* The moment at which a child that is asked now has taken too long, or the caller's, if that is
 * earlier. Only a hub has one of its own: it has to tell those behind it how long they may take. A program may take
 * as long as it is not silent, as in every call. */
int64_t children_deadline(const struct children *c, size_t which, const struct child_about *about,
			  const struct hub_caller *who);

/* What children_elsewhere() does; `children` is its ctx. */
enum status children_resolve(void *children, struct call *c, const struct resolve_ask *ask,
			     struct resolution *out, struct err *err);

#endif
