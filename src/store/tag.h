/*
 * Tags, whoever gave them: people (store/annotation.h), or the client its sessions.
 */
#ifndef ARBOR_STORE_TAG_H
#define ARBOR_STORE_TAG_H

#include "store/store.h"

/* Each tag once, in alphabetical order; those that the client gave its sessions count, too. */
struct tag_use {
	struct str name;
	int64_t count;
	int64_t last_at; /* 0 = only the client uses it, and does not say when */
};
typedef enum status tag_fn(void *ctx, const struct tag_use *t, struct err *err);
enum status tag_each(struct store *s, tag_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Transcripts of conversations that the client has tagged so: their rows and ids. The name may end with a *. */
typedef enum status tag_session_fn(void *ctx, int64_t session, const struct uuid *id, struct str tag,
				   struct err *err);
enum status tag_sessions(struct store *s, struct str name, tag_session_fn *fn, void *ctx,
			 struct err *err) MUST_USE;

#endif
