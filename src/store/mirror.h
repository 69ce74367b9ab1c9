/*
 * Conversations as rows: what reading the archived lines gives.
 *
 * Written by whoever reads sources (ingest/read.c), a part at a time. A session's
 * rows are those of the first `read_to` bytes of its generation; a part says from
 * where to where it goes, and is refused when somebody else has read further. Older
 * generations have rows of their own, written by one reader at a time.
 */
#ifndef ARBOR_STORE_MIRROR_H
#define ARBOR_STORE_MIRROR_H

#include "base/arena.h"
#include "base/hash.h"
#include "store/branch.h"
#include "store/link.h"
#include "store/source.h"
#include "store/tokens.h"

/* ---- What there is to read -------------------------------------------------- */

struct unread {
	int64_t source;
	struct uuid source_id;
	struct str path;	 /* in the arena given, as all texts here */
	int64_t generation;	 /* newest; 0 = none yet */
	int64_t length;		 /* of it */
	int64_t read_generation; /* of its session; 0 = it has none */
	int64_t read_to;
	struct str read_agent; /* whose it was when it was read; empty = a conversation's */
	int64_t generations; /* how many it has */
	int64_t old_for;     /* as in sql/derived.sql */
	int64_t paper_generation, paper_to; /* of its texts, if it is such a file (store/paper.h); 0 = none is read */
	int paper_kind;
	bool counted; /* its lines are */
	bool purged;  /* it has a tombstone: nothing is read of what is left of it */
};

/* Says that a source has bytes to be read. Wants a write transaction. */
enum status unread_add(struct store *s, int64_t source, struct err *err) MUST_USE;
enum status unread_add_all(struct store *s, struct err *err) MUST_USE;

/* Whether there is any; costs nothing. */
enum status unread_any(struct store *s, bool *out, struct err *err) MUST_USE;

/* All of them, as an array in the arena; largest first. */
enum status unread_list(struct store *s, struct arena *mem, struct unread **out, size_t *count,
			struct err *err) MUST_USE;

/* It has been read as far as it was when listed. Stays unread, and *done is false, when
 * it has grown since, when its older generations are to be read again, or when somebody
 * made the tables anew and its lines are not counted any more. */
enum status unread_done(struct store *s, const struct unread *u, bool *done, struct err *err) MUST_USE;

/* Notes how many lines it had when listed, unless somebody knows better by now. */
enum status unread_counted(struct store *s, const struct unread *u, const struct line_count *c,
			   struct err *err) MUST_USE;

/* ---- A part of a session ---------------------------------------------------- */

enum { MIRROR_NO_MESSAGE = -1, MIRROR_ASK = -2 };

/* What store/queued.h is told. */
enum { MIRROR_SAYS = 3 };
enum mirror_queue { MIRROR_QUEUE_NONE, MIRROR_QUEUE_ADD, MIRROR_QUEUE_TAKE, MIRROR_QUEUE_BACK };

struct mirror_line {
	int64_t offset;
	int64_t length;
	uint8_t type;
	bool has_time, has_message;
	bool goes_on; /* it says which line the client goes on from */
	bool aside; /* not the conversation's own: a sub-agent's, told in its file */
	int64_t at;
	struct str uuid;       /* as text; p NULL = none */
	struct uuid key;       /* line_key() of it */
	bool is_uuid;	       /* which is the uuid itself then */
	const uint8_t *digest; /* SHA-256 of the line, when it has no uuid */
	uint32_t flags;
	int64_t parent_at;	   /* offset of its parent; -1 = not at hand, then: */
	const struct uuid *parent; /* line_key(); NULL = none */
	const struct uuid *link;   /* so too */
	uint64_t content;	   /* 0 = none */
	const uint64_t *tools;	   /* hashes of ids of tool calls */
	uint32_t tool_count;
	struct str agent;		  /* empty = none */
	const struct mirror_usage *usage; /* NULL = it says nothing of it */
	uint64_t message;      /* hash of the API message's id, when has_message */
	/* Offset of the first line of its message. MIRROR_ASK: an earlier reading may have
	 * it; if none has, it is the first of this one. */
	int64_t first, first_here;
	uint32_t blocks; /* of its content, each a node */
	uint32_t docs;	 /* as many of the part's documents */
	enum mirror_queue queue; /* what it says of prompts that wait */
	uint64_t said;		 /* MIRROR_QUEUE_ADD: stands for the text; 0 = no person typed it */
	uint64_t says[MIRROR_SAYS]; /* stand for the first texts that a person typed in it */
	uint32_t say_count;
	struct str summary; /* the title it gives to what ends with the line it links to; empty = none */
};

struct mirror_usage {
	struct str model;
	struct tokens told;
};

/* Something that lines say of the session; said again it changes nothing. */
struct mirror_value {
	int kind; /* enum session_value */
	struct str text;
	int64_t offset; /* of the line */
};

struct mirror_doc {
	uint32_t words;
	uint16_t block;
	uint8_t place;
	size_t packed_at, packed_n; /* in the part's `packed` */
};

struct mirror_part {
	int64_t source, generation;
	struct uuid source_id;
	struct uuid session_id; /* by its path; all zero = of a sub-agent, and that does not say whose: */
	struct uuid owner;	/* by the first of these lines that says so; all zero = none does */
	struct str agent; /* of a sub-agent; empty = a conversation */
	int64_t from, to;
	int64_t began_at; /* where this reading began; what came before was read by another */
	bool old;	/* of an older generation: lines the newest has no more */
	bool first_old; /* the first of these: what is known of others goes */
	int64_t newest, newest_to; /* of such: what it was compared with, and how many bytes of that */
	int64_t reader;		   /* of such: whose it is; over 0, and nobody else's */
	/* The first part of a session, or of one that is read from its beginning again,
	 * and what is then to be forgotten. `from` is then 0. */
	bool anew;
	int64_t known_generation, known_to, known_old_for; /* 0 = there was none */
	const struct mirror_line *lines;
	size_t line_count;
	const struct mirror_doc *docs;
	struct str packed;
	/* What these lines say of the session. */
	struct str cwd;	   /* of the first that has one; empty = none */
	struct str branch; /* of the last that has one */
	struct str permission, mode; /* so too */
	struct str tag; /* of the last tag line; p NULL = there is none */
	const struct mirror_value *values;
	size_t value_count;
	const struct branch_run *branches; /* that these lines begin */
	size_t branch_count;
	const struct link *links; /* that these lines add; each once */
	size_t link_count;
	struct str title;
	int title_rank;			/* 0 = none; as in sql/derived.sql */
	int64_t started_at, updated_at; /* 0 = no line has a time */
	int64_t prompts, tools;
	unsigned queued_flag; /* of lines that are prompts only as long as no other says the same */
};

/* Wants a write transaction. STATUS_CONFLICT when the session has been read
 * differently meanwhile; nothing has been written then. */
enum status mirror_add(struct store *s, const struct mirror_part *p, struct err *err) MUST_USE;

/* The older generations have been read, or there are none that have lines of their own.
 * Wants a write transaction. */
enum status mirror_old_done(struct store *s, int64_t source, bool none, struct err *err) MUST_USE;

/* Forgets the session of a source, if it has one. Wants a write transaction. */
enum status mirror_forget(struct store *s, int64_t source, struct err *err) MUST_USE;

/* Forgets names that no session has any more: folders, models. Wants a write transaction. */
enum status mirror_tidy(struct store *s, struct err *err) MUST_USE;

#endif
