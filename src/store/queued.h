/*
 * Prompts that were typed while a turn was running.
 *
 * The client notes each when it is typed, and says it again in another line when it goes to the model: its newer
 * versions always do, older ones not when it goes into the running turn. A prompt is a prompt once, so the note
 * counts only as long as no later line of its file says the same.
 */
#ifndef ARBOR_STORE_QUEUED_H
#define ARBOR_STORE_QUEUED_H

#include "store/fulltext.h"

/* Wants a write transaction, as all that follow. `said` stands for the text; 0 = no person typed it. */
enum status queued_add(struct store *s, int64_t session, int64_t offset, uint64_t said, struct err *err) MUST_USE;

/* The first that waits goes to the model; all that wait go back to who typed them. */
enum status queued_take(struct store *s, int64_t session, struct err *err) MUST_USE;
enum status queued_take_back(struct store *s, int64_t session, struct err *err) MUST_USE;

/* A line says what the first of these said: that one counts no more. Its documents are left to the caller; none
 * where *told has no count. */
enum status queued_tell(struct store *s, int64_t session, uint64_t said, unsigned flag, struct doc_range *told,
			struct err *err) MUST_USE;

enum status queued_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

#endif
