/*
 * The hub: all activations, and calling their methods by name.
 */
#ifndef ARBOR_HUB_HUB_H
#define ARBOR_HUB_HUB_H

#include "hub/call.h"

struct hub {
	const struct activation *const *activations; /* ended by NULL */
};

/* "memory.sync". STATUS_NOT_FOUND with the nearest name. */
enum status hub_find(const struct hub *h, struct str name, const struct activation **a,
		     const struct method **m, struct err *err) MUST_USE;

struct hub_elsewhere;
struct children;
struct route;

/* What a caller brings along. */
struct hub_caller {
	struct sink sink;
	const struct log *log;
	const struct settings *settings; /* NULL = the defaults */
	const atomic_bool *cancel;
	int64_t deadline_ns;
	unsigned scopes; /* a bit for each enum scope it has */
	bool person;	 /* somebody sits there: what is decided, they decide */
	bool shown;	 /* results become text for people; else they go on as the JSON they are */
	/* Opens the store a method needs; called at most once a call. */
	enum status (*open_store)(void *ctx, bool make, struct store **out, struct err *err);
	/* Takes it back when the call is over; NULL = it is closed. */
	void (*close_store)(void *ctx, struct store *s);
	void *ctx;
	const struct hub_elsewhere *elsewhere; /* other hubs (handle_resolve.h); NULL = none */
	struct children *children;	       /* the same by name (children.h); NULL = none */
	const struct route *route;	       /* on which way the call came (route.h); NULL = from here */
	const char *program; /* one that takes 'call METHOD', to drive agents; NULL = 'arbor' in PATH */
};

/*
 * Runs a method with parameters that have been set and checked (params.h), and
 * waits on its behalf when it asks for it. STATUS_DENIED when the caller lacks
 * its scope.
 */
enum status hub_run(const struct hub *h, const struct method *m, struct value *values,
		    const struct hub_caller *who, struct err *err) MUST_USE;

/* The same by name and with parameters as JSON; a name that begins with that of a child hub is
 * passed on to it. */
enum status hub_call(const struct hub *h, struct str name, struct str json, const struct hub_caller *who,
		     struct err *err) MUST_USE;

/* SHA-256 over all schemas, in hex: the same at every start of the same program. */
enum { HUB_HASH_TEXT = 64 };
enum status hub_hash(const struct hub *h, char out[HUB_HASH_TEXT + 1], struct err *err) MUST_USE;

#endif
