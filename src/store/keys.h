/*
 * From the beginning of an id to the node that has it.
 */
#ifndef ARBOR_STORE_KEYS_H
#define ARBOR_STORE_KEYS_H

#include "store/store.h"

/* The first 8 bytes of an id, as node_key has them. */
int64_t key_of(const struct uuid *id);

/* The same of the line with this uuid. */
int64_t key_of_line(const struct uuid *uuid);

/* Enters all nodes that are not in node_key yet, in short transactions of its own. */
enum status keys_complete(struct store *s, struct err *err) MUST_USE;

/* Whether there is any at all. */
enum status keys_any(struct store *s, bool *out, struct err *err) MUST_USE;

/* Of the lines of a session between two offsets: their keys as they are stored, without any consequence. For who
 * moves their rows (store/borrowed.c). */
enum status keys_put_between(struct store *s, int64_t session, int64_t from, int64_t until, struct err *err) MUST_USE;
enum status keys_drop_between(struct store *s, int64_t session, int64_t from, int64_t until,
			      struct err *err) MUST_USE;

/* Takes the nodes of a session out. Wants a write transaction, before the entries
 * themselves go. */
enum status keys_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

#endif
