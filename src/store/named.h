/*
 * Sessions that people name and continue. A mirrored session that nobody named has no row here
 * (store/session.h).
 */
#ifndef ARBOR_STORE_NAMED_H
#define ARBOR_STORE_NAMED_H

#include "base/arena.h"
#include "store/store.h"

/* What an agent is started with. p NULL = the client's own default. */
struct named_settings {
	struct str working_dir;
	struct str model, system_prompt, permission_mode;
	struct str mcp_config;			    /* JSON as given */
	struct str allowed_tools, disallowed_tools; /* JSON arrays */
	bool loopback;				    /* questions about tools come to Arbor */
	struct str metadata;			    /* JSON as given */
};

/* Where the next message goes. */
struct named_head {
	bool has_tree, has_head, has_line, has_session;
	struct uuid tree, head; /* the message that the next one follows */
	struct uuid line;	/* the last line of it that counts */
	struct uuid session;	/* what the client's --resume takes */
};

struct named {
	int64_t row;
	struct uuid id;
	struct str name, agent;
	struct named_settings settings;
	struct named_head head;
	bool has_origin;
	struct uuid origin; /* session or node it was forked from */
	int64_t created_at, updated_at;
};

struct named_new {
	struct str name;
	struct str agent; /* "claude" */
	struct named_settings settings;
	struct named_head head;
	const struct uuid *origin; /* NULL = none */
};

/* A name that could be an id would be meant instead of what has that id: it cannot be given. */
bool named_is_like_id(struct str name);

/* STATUS_CONFLICT when another has the name. */
enum status named_create(struct store *s, const struct named_new *what, struct uuid *id,
			 struct err *err) MUST_USE;

/* By its name, its id, or the beginning of either that no other has; a whole name comes first.
 * STATUS_NOT_FOUND, STATUS_AMBIGUOUS. Texts are in the arena. */
enum status named_find(struct store *s, struct str text, struct arena *mem, struct named *out,
		       struct err *err) MUST_USE;

/* By its row, deleted or not. */
enum status named_get(struct store *s, int64_t row, struct arena *mem, struct named *out, struct err *err) MUST_USE;

/* Whose next message continues this session of the client's. */
enum status named_of_client(struct store *s, const struct uuid *claude_session, struct arena *mem, struct named *out,
			    bool *found, struct err *err) MUST_USE;

/* Whether the next message of another continues the same session of the client's. */
enum status named_is_shared(struct store *s, const struct named *named, bool *out, struct err *err) MUST_USE;

/* By name. Texts are valid during the call. */
typedef enum status named_fn(void *ctx, const struct named *named, struct err *err);
enum status named_each(struct store *s, named_fn *fn, void *ctx, struct err *err) MUST_USE;

/* STATUS_CONFLICT when another has the name. */
enum status named_rename(struct store *s, const struct named *named, struct str name,
			 struct err *err) MUST_USE;

/* Its name is free afterwards; its streams stay. STATUS_BUSY while it is at work. */
enum status named_delete(struct store *s, const struct named *named, struct err *err) MUST_USE;

/* What it is started with from now on: `model`, `permission_mode`; p NULL = as it was. */
enum status named_set(struct store *s, int64_t row, const struct named_settings *what,
		      struct err *err) MUST_USE;

/* Wants a write transaction, or has its own. */
enum status named_set_head(struct store *s, int64_t row, const struct named_head *head,
			   struct err *err) MUST_USE;

#endif
