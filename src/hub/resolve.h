/*
 * What somebody means by an id, of conversations and what is in them. Of all that has an id: hub/meant.h.
 */
#ifndef ARBOR_HUB_RESOLVE_H
#define ARBOR_HUB_RESOLVE_H

#include "base/handle.h"
#include "store/session.h"

struct activation;
struct named;

struct resolved {
	bool is_session;
	struct session session; /* that it is, or is in; texts in the arena */
	struct node node;	/* when it is none, or is_tree */
	bool is_tree;		/* it was meant by the id of a tree */
	struct str agent; /* of a sub-agent that has no file of its own: its id, and `node` is its first line */
};

/*
 * SESSION is one of
 *     ID          the beginning (four digits or more) of its id
 *     ROOT:ID     the same in one mirrored folder
 *     ROOT:PATH   its file, also as 'arbor export' takes it otherwise, with a '/' in it
 *     NAME        the whole of what it is called, where that is no id, or the beginning of the id that it has
 *                 as a named session, where nothing mirrored begins so: the client's file of it
 *     TITLE       all of it, of more than one word, where no other has it; large letters or small
 *     @           the one last touched; @~ or @~1 the one before it, @~2 and so on
 *     @NAME       what a bookmark of this name is on, which may be a node, too
 * and a node is meant by the beginning of its id or of its line's own uuid, alone or behind
 * its session: SESSION@NODE, so @@NODE is one of the last. The id of a tree means the session
 * it begins in. Ids are asked first, and uuids of lines where none begins so. A session wins over nodes that
 * begin alike, and nodes over sub-agents, which can be meant by the beginning of their id too, be they told in
 * the conversation's own file: in progress lines, or inline, where that is the first line's own uuid. Copies of a
 * session in which the same was said are one. A handle of any of these means it, too.
 * STATUS_AMBIGUOUS lists candidates in the error, a line each, as they can be typed and
 * made safe to show.
 */
enum status resolve_id(struct store *s, struct str text, struct arena *mem, struct resolved *out,
		       struct err *err) MUST_USE;

/* The named session that is meant where one will do, too: by its whole name, which comes before all ids; or by the
 * beginning of its id, which comes behind all others. *found false = none is. */
enum status resolve_named(struct store *s, struct str text, struct arena *mem, struct named *out, bool *found,
			  struct err *err) MUST_USE;

/* STATUS_GONE says when a session, of which nothing is mirrored, was purged. */
enum status resolve_check_purged(struct store *s, const struct uuid *session, struct err *err) MUST_USE;

/* What a handle of claudecode means, of a mirrored tree or node, or of a file that is a transcript; it has been
 * checked against its kind (handle_fit() in hub/handle_resolve.h). */
enum status resolve_handle(struct store *s, const struct handle *h, struct arena *mem, struct resolved *out,
			   struct err *err) MUST_USE;

/* A handle that somebody typed, of a kind that one of this program's own activations has, checked against that. */
enum status resolve_read_handle(struct str text, struct arena *mem, const struct activation **owner,
				struct handle *out, struct err *err) MUST_USE;

/* A line, begun by a line feed, as those that STATUS_AMBIGUOUS lists. */
void resolve_describe(const struct resolved *what, struct buf *out);

/* The same where only a session will do. */
enum status resolve_session(struct store *s, struct str text, struct arena *mem, struct session *out,
			    struct err *err) MUST_USE;

/* How many characters of an id are shown to people: as many as tell it from all others,
 * of files too, and no fewer than RESOLVE_SHOWN. */
enum { RESOLVE_SHOWN = 8 };
size_t resolve_digits(struct store *s, struct str id);

#endif
