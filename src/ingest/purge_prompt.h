/*
 * Prompts that are purged, known again where the client noted them elsewhere.
 */
#ifndef ARBOR_INGEST_PURGE_PROMPT_H
#define ARBOR_INGEST_PURGE_PROMPT_H

#include "base/arena.h"
#include "claude/record.h"
#include "claude/typed.h"
#include "base/uuid.h"

struct purge_prompt {
	struct purge_prompt *next;
	struct uuid session;
	struct str text; /* white space is a blank */
	int64_t at;	 /* ms; 0 = unknown */
};

/* A line that goes: adds what it says, if it is a prompt. */
void purge_prompt_add(struct purge_prompt **list, const struct record_reader *reader, const struct record *r,
		      struct arena *mem);

/* Whether what was typed into a session, or what a line without a uuid notes, is one of them. */
bool purge_prompt_typed(const struct purge_prompt *list, const struct uuid *session, const struct typed *t);
bool purge_prompt_again(const struct purge_prompt *list, const struct record_reader *reader,
			const struct record *r);

#endif
