/*
 * Notes, bookmarks and tags: what people attach to conversations and to parts of them, mirrored or made.
 *
 * They are facts and name what they are on by its public id, which need not be there: a note outlives
 * what it is on. Words of notes and names of bookmarks are in the index beside those of conversations;
 * both are written in one transaction. Nothing of this is ever part of a model's context.
 *
 * Reading wants a read transaction, and finds nothing in a store that has none of the tables yet.
 */
#ifndef ARBOR_STORE_ANNOTATION_H
#define ARBOR_STORE_ANNOTATION_H

#include "base/arena.h"
#include "store/session.h"

enum annotation_kind { ANNOTATION_NOTE, ANNOTATION_BOOKMARK, ANNOTATION_TAG, ANNOTATION_KINDS };

/* The place of their documents (store/fulltext.h), behind those of conversations. */
enum { ANNOTATION_PLACE = 7 };

/* What one is on. */
struct annotation_subject {
	struct str kind;  /* session, agent, turn, message, line, block; node, tree; file, typed */
	struct uuid id;	  /* of a sub-agent: its conversation's */
	struct str agent; /* of a sub-agent: its id; else empty */
	bool in_session;  /* it is, or is in, this conversation: */
	struct uuid session;
};

static inline bool subject_is_transcript(const struct annotation_subject *on)
{
	return str_eq(on->kind, STR("session")) || str_eq(on->kind, STR("agent"));
}

static inline bool subject_is_made(const struct annotation_subject *on)
{
	return str_eq(on->kind, STR("node")) || str_eq(on->kind, STR("tree"));
}

static inline bool subject_is_file(const struct annotation_subject *on)
{
	return str_eq(on->kind, STR("file")) || str_eq(on->kind, STR("typed"));
}

struct annotation {
	int64_t row;
	struct uuid id;
	enum annotation_kind kind;
	struct annotation_subject on;
	struct str name; /* of a bookmark or tag */
	struct str text; /* of a note */
	struct str author;
	int64_t created_at, updated_at;
};

const char *annotation_kind_name(enum annotation_kind kind);

/* ---- Writing ------------------------------------------------------------------ */

/* Whether a bookmark or tag can be called so: what is typed to mean something else cannot be part of it. */
enum status annotation_check_name(struct str name, struct err *err) MUST_USE;

/* Whether this can be a note. */
enum status annotation_check_text(struct str text, struct err *err) MUST_USE;

/* Whether somebody can be called so. */
enum status annotation_check_author(struct str author, struct err *err) MUST_USE;

enum annotation_done { ANNOTATION_THERE, ANNOTATION_ADDED, ANNOTATION_CHANGED };

/*
 * Each is one transaction, on the disk when it returns. Row, id and times are set. A note that says the
 * same of the same by the same author, a tag that is there and a bookmark that is there are left as they
 * are. STATUS_CONFLICT when a bookmark of this name is on something else, unless it may `move`; *a is
 * that one then, in the arena.
 */
enum status annotation_add(struct store *s, struct annotation *a, bool move, struct arena *mem,
			   enum annotation_done *done, struct err *err) MUST_USE;

/* A note says something else now. STATUS_NOT_FOUND when it is gone. */
enum status annotation_reword(struct store *s, struct annotation *a, struct str text,
			      struct err *err) MUST_USE;

/* STATUS_NOT_FOUND when somebody else has removed it. */
enum status annotation_remove(struct store *s, const struct annotation *a, struct err *err) MUST_USE;

/* Its document (store/fulltext.h), by its sequence; 0 = it has none. */
enum status annotation_doc(struct store *s, const struct uuid *id, int64_t *sequence,
			   struct err *err) MUST_USE;

/* Enters all into an index that is empty. Wants a write transaction. */
enum status annotation_index_all(struct store *s, struct err *err) MUST_USE;

/* ---- Reading ------------------------------------------------------------------ */

/* Whether there are any; costs next to nothing. */
enum status annotation_any(struct store *s, bool *out, struct err *err) MUST_USE;

/* By row, by name, of the beginning of its id. Texts are in the arena. STATUS_NOT_FOUND. */
enum status annotation_get(struct store *s, int64_t row, struct arena *mem, struct annotation *out,
			   struct err *err) MUST_USE;
enum status annotation_bookmark(struct store *s, struct str name, struct arena *mem, struct annotation *out,
				struct err *err) MUST_USE;
/* Those of a kind whose ids begin with these digits, at most `most`. */
enum status annotation_search(struct store *s, enum annotation_kind kind, struct str prefix,
			      struct arena *mem, struct annotation *out, size_t most, size_t *count,
			      struct err *err) MUST_USE;

/* A copy with its texts in the arena. */
void annotation_keep(struct annotation *to, const struct annotation *from, struct arena *mem);

/* The transcript that something is, or was in; row 0 = it is not here. Texts are in the arena. */
enum status subject_session(struct store *s, const struct annotation_subject *on, struct arena *mem,
			    struct session *out, struct err *err) MUST_USE;

/* Texts are valid during the call. */
typedef enum status annotation_fn(void *ctx, const struct annotation *a, bool *go_on, struct err *err);

/* All of a kind, the last changed first. */
enum status annotation_each(struct store *s, enum annotation_kind kind, annotation_fn *fn, void *ctx,
			    struct err *err) MUST_USE;

/* All in a stable order, for comparing stores. */
enum status annotation_each_by_id(struct store *s, annotation_fn *fn, void *ctx, struct err *err) MUST_USE;

/* On one thing, and on a conversation with all that was in it; by kind, the oldest first. */
enum status annotation_of(struct store *s, const struct uuid *id, struct str agent, annotation_fn *fn,
			  void *ctx, struct err *err) MUST_USE;
enum status annotation_in(struct store *s, const struct uuid *session, annotation_fn *fn, void *ctx,
			  struct err *err) MUST_USE;

/* How many of a kind are on a conversation and on what was in it. */
enum status annotation_count(struct store *s, enum annotation_kind kind, const struct uuid *session, int64_t *out,
			     struct err *err) MUST_USE;

/* Tags called so, or that begin so where the name ends with a *; by name. */
enum status annotation_tagged(struct store *s, struct str name, annotation_fn *fn, void *ctx,
			      struct err *err) MUST_USE;

#endif
