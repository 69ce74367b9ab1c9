/*
 * The files a conversation has changed, on the way to a message, and what stood in them.
 */
#ifndef ARBOR_QUERY_FILES_H
#define ARBOR_QUERY_FILES_H

#include "base/map.h"
#include "claude/change.h"
#include "query/forest.h"
#include "query/lines.h"

/* One change that the conversation made. */
struct file_change {
	struct uuid message; /* id of the message that tells of it */
	bool in_message; /* of a user, and nothing that the client put in */
	int64_t at;	     /* 0 = unknown */
	const char *tool;
	struct str agent; /* sub-agent that did it; empty = none */
	enum change_kind kind;
	int64_t added, removed; /* lines */
	bool is_exact;		/* what stood there then is known */
	bool is_surprised;	/* the file was not as it had been left: somebody else had changed it */
};

/* Bytes, or a copy in the archive that was not needed yet. */
struct file_content {
	enum file_state state;
	struct buf bytes;
	struct str copy; /* ROOT:PATH of its source; empty = none */
};

struct file {
	struct file *next;
	struct str path;
	struct file_content now;
	struct file_content before; /* the first change that counts */
	struct file_change *changes;
	size_t count, cap;
	bool is_counted;   /* one of them counts */
	size_t counted_from; /* the first of these */
	bool is_surprised; /* it is not as it was left */
	uint32_t step;	   /* of the way, when it was last changed */
	struct str seen;   /* copy of it that was noted last */
	uint32_t seen_at;  /* step */
};

struct files {
	struct file **list; /* with changes, in the order of their paths */
	size_t count;
	struct map by_path; /* also those without */
	struct file *all;   /* the last one; the others hang behind it */
	struct arena mem;
};

#define FILES_INIT \
	{ \
		0 \
	}
void files_release(struct files *f);

/*
 * Goes the way to a message, over compactions, and into the sub-agents that were called on
 * it. Changes count from message `from` on (FOREST_NONE = all do; nothing counts when it is
 * not on the way): `before` is what a file was before the first that does. Wants a read
 * transaction.
 */
enum status files_load(struct store *s, const struct forest *forest, uint32_t message, uint32_t from,
		       const atomic_bool *cancel, struct files *out, struct err *err) MUST_USE;

/* Brings a copy into memory; its state is then FILE_UNKNOWN when it is not in the archive. */
enum status file_fetch(struct store *s, struct file_content *c, struct err *err) MUST_USE;

#endif
