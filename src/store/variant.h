/*
 * Lines that have their uuid in common with others and say something else.
 */
#ifndef ARBOR_STORE_VARIANT_H
#define ARBOR_STORE_VARIANT_H

#include "store/store.h"

/* Compares a line that is about to be entered, by its key, with one that has been. Wants a
 * write transaction. */
enum status variant_compare(struct store *s, int64_t key, int64_t session, int64_t offset,
			    struct err *err) MUST_USE;

/* Before the lines of a session go, and their keys. Wants a write transaction. */
enum status variant_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

/* Whether there are any; whether the line with this id is one. */
enum status variant_any(struct store *s, bool *out, struct err *err) MUST_USE;
enum status variant_is(struct store *s, const struct uuid *line, bool *out, struct err *err) MUST_USE;

#endif
