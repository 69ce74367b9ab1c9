/*
 * What a handle stands for, found by whoever owns it.
 *
 * The owner is the activation with the handle's plugin id (base/handle.h); it may still own
 * handles of older majors. This hub is asked first, then others, if the caller brought any along; a
 * path in front of the handle asks that hub and no other. Every answer says who gave it.
 *
 * What can go wrong, told apart by the status:
 *     STATUS_FORMAT       it is no handle, or not one of this plugin: meta is missing or contradicts
 *                         what is found
 *     STATUS_NOT_FOUND    there is no such plugin, the plugin knows no such method, or what is meant
 *                         is not here
 *     STATUS_GONE         it was here and was purged
 *     STATUS_AMBIGUOUS    a short form could mean several things; they are listed
 *     STATUS_UNREACHABLE  another hub should know and does not answer
 */
#ifndef ARBOR_HUB_HANDLE_RESOLVE_H
#define ARBOR_HUB_HANDLE_RESOLVE_H

#include "base/handle.h"
#include "hub/hub.h"

/* Where a resolver (struct handle_kind) puts what it finds. */
struct resolving {
	struct call *call;	     /* its store, deadline and so on */
	const struct handle *handle; /* of its kind, its meta checked against the table */
	uint64_t major;		     /* of the handle's version */
	int64_t from, most;	     /* of a long text or of bytes: which are wanted */
	struct arena *mem;	     /* freed with the answer */
	struct json_writer *w;	     /* inside the object that is the answer's data */
	enum content_kind kind;	     /* the table's; may be set to another */
};

/* The answer. Texts are in `mem`; resolution_release() frees all of it. */
struct resolution {
	struct arena mem;
	struct str handle;	/* as text, the plugin by its name; the older form as it was given */
	struct str plugin;	/* its name */
	struct uuid plugin_id;	/* that of the handle */
	struct str version;	/* of the activation that answered */
	struct str method;	/* of the handle */
	enum content_kind kind;
	struct str data;	/* an object with the fields of its kind, as JSON */
	struct str by;		/* dotted path of the hub that answered; empty = this one */
};

#define RESOLUTION_INIT { 0 }
void resolution_release(struct resolution *r);

/* Of its long text or bytes at most `most`, from the byte `from`. */
struct resolve_ask {
	const struct handle *handle;
	int64_t from, most;
};

/*
 * Other hubs, whoever brings them along (struct hub_caller). Asked when this hub has no such
 * plugin, or has it and not what is meant; with a path in the handle at once, and then only for
 * that hub. Fills *out, `by` included, or fails with STATUS_NOT_FOUND when it reached all and none knows.
 */
struct hub_elsewhere {
	enum status (*resolve)(void *ctx, struct call *c, const struct resolve_ask *ask, struct resolution *out,
			       struct err *err);
	void *ctx;
};

/* A handle in any form; or an id of something in this store, as resolve_id() (hub/resolve.h) takes it:
 * that of a node, session or tool's call. */
enum status hub_resolve_handle(struct call *c, struct str text, struct resolution *out, struct err *err) MUST_USE;

/* The same for one that is read already. */
enum status hub_resolve(struct call *c, const struct resolve_ask *ask, struct resolution *out,
			struct err *err) MUST_USE;

/* Only what this hub's own activations know. */
enum status hub_resolve_own(struct call *c, const struct resolve_ask *ask, struct resolution *out,
			    struct err *err) MUST_USE;

/* The kind that a handle of this activation is, and the handle itself with its meta checked against the table; one of
 * the older form as one of today's. What it points to is in the arena, or in `h`. */
enum status handle_fit(const struct activation *a, const struct handle *h, struct arena *mem,
		       const struct handle_kind **kind, struct handle *out, struct err *err) MUST_USE;

/* Whether an activation owns handles of this plugin id, of any major it still resolves. */
bool activation_owns(const struct activation *a, const struct uuid *plugin);

/* The activation that owns handles of this plugin id; NULL = none. */
const struct activation *hub_owner(const struct hub *h, const struct uuid *plugin);

/* An answer as members of the object being written, and how methods declare them; `flags` is
 * FIELD_OPTIONAL where there may be none. */
void put_resolution(struct json_writer *w, const struct resolution *r);

#define RESOLUTION_FIELDS(f) \
	{ .name = "handle", .type = VALUE_HANDLE, .flags = FIELD_KEY | (f), .help = "it, with its plugin by name" }, \
	{ .name = "plugin", .type = VALUE_TEXT, .flags = (f), .help = "whose it is" }, \
	{ .name = "plugin_id", .type = VALUE_ID, .flags = FIELD_HIDDEN | (f), .help = "the same, as its id" }, \
	{ .name = "version", .type = VALUE_TEXT, .flags = (f), .help = "of the plugin that answered" }, \
	{ .name = "method", .type = VALUE_TEXT, .flags = (f), .help = "what kind of handle it is" }, \
	{ .name = "kind", .type = VALUE_ENUM, .choices = content_kind_names, .flags = (f), \
	  .help = "what it stands for: something said, what a program did, a text, bytes" }, \
	{ .name = "by", .type = VALUE_TEXT, .flags = (f), \
	  .help = "path of the hub that answered; empty = this one" }, \
	{ .name = "data", .type = VALUE_JSON, .flags = FIELD_STRETCH | (f), \
	  .help = "what it stands for; 'hub.schema' has the fields of each kind" }

#endif
