/*
 * Having the client go on where a session is.
 */
#ifndef ARBOR_LIVE_RESUME_H
#define ARBOR_LIVE_RESUME_H

#include "live/forked.h"
#include "store/named.h"

/* A line of a mirrored transcript. */
struct resume_line {
	int64_t session; /* row; 0 = none */
	int64_t offset;
};

/* The line that a head names, in its own file where that has it. None when it is not mirrored, or not any
 * more. */
enum status resume_find_line(struct store *s, const struct named_head *head, struct resume_line *out,
			     struct err *err) MUST_USE;

/*
 * After this the client goes on where the session is when it is told to resume `head.session` in the folder
 * of the session. It goes on at the end of a file. So where somebody else has gone on with the conversation
 * since, where the head was moved, or where the client has not got the file any more, the session gets a file
 * of its own, and its head moves there; so too where it has to go `beside` who has the file open. *made is where
 * that is; p NULL = there was no need. In the arena.
 */
enum status resume_prepare(struct store *s, const struct environment *env, struct named *session, bool beside,
			   struct arena *mem, struct str *made, struct err *err) MUST_USE;

/*
 * A session in which nothing was said yet can have the id of its conversation nevertheless, so that what a person
 * says in the client is said in this session: `head.session` alone. The client takes such an id once, to begin
 * with. resume_reserve() gives one to a session that has none.
 */
enum status resume_reserve(struct store *s, struct named *session, struct err *err) MUST_USE;

/* Whether the client has to begin the conversation: nobody has seen its file. */
enum status resume_begins(struct store *s, const struct environment *env, const struct named *session, bool *out,
			  struct err *err) MUST_USE;

/* Whether somebody has gone on from the head of a session since it was put there, in the file that this session
 * alone has: it is then at the end of that. Wants a read transaction. */
enum status resume_went_on(struct store *s, const struct named *session, bool *out, struct err *err) MUST_USE;

/* Where a session is, which is its head or that end. */
enum status resume_head(struct store *s, const struct named *session, struct named_head *out,
			struct err *err) MUST_USE;

/* The same, and its head is moved there. Whoever goes on with it, or changes something of it, which makes it
 * look as if its head had been put there now. */
enum status resume_follow(struct store *s, struct named *session, struct err *err) MUST_USE;

/* The session that alone had this conversation of the client's shares it from now on: it stays where it is. */
enum status resume_share(struct store *s, const struct uuid *client_session, struct err *err) MUST_USE;

#endif
