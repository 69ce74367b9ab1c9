/*
 * Texts of files beside the conversations, in the index: plans, memory, tasks, todos, typed history.
 *
 * Written by whoever reads sources (ingest/read.c), as conversations are (store/mirror.h): a part says from
 * where to where it goes, and is refused when somebody else has read further. Only the newest version of a
 * file counts.
 */
#ifndef ARBOR_STORE_PAPER_H
#define ARBOR_STORE_PAPER_H

#include "base/arena.h"
#include "base/hash.h"
#include "store/fulltext.h"
#include "store/mirror.h"

/* ---- Writing ------------------------------------------------------------------ */

struct paper_new {
	int64_t offset, length; /* of the bytes it is read from */
	uint16_t part;		/* which text of these */
	int64_t at;		/* its own time, ms; 0 = none */
	bool has_session;
	bool typed; /* into that session, which has it, too */
	struct uuid session;
	struct str project; /* p NULL = none */
	bool has_digest;    /* it is a line with an id of its own, which follows from its bytes: */
	uint8_t digest[SHA256_BYTES];
	uint32_t docs;	    /* as many of the part's documents */
};

struct paper_part {
	int64_t source, generation;
	int kind;      /* the writer's numbers; not 0 */
	int64_t dated; /* when texts were written that do not say it, ms; 0 = unknown */
	int64_t from, to;
	bool anew; /* what is known of the source goes first; `from` is 0 then, and it was so far: */
	int64_t known_generation, known_to;
	const struct paper_new *texts;
	size_t count;
	const struct mirror_doc *docs;
	struct str packed;
};

/* Wants a write transaction. STATUS_CONFLICT when the source has been read differently meanwhile; nothing has
 * been written then. */
enum status paper_add(struct store *s, const struct paper_part *p, struct err *err) MUST_USE;

/* Forgets the texts of a source, if it has any. Wants a write transaction. */
enum status paper_forget(struct store *s, int64_t source, struct err *err) MUST_USE;

/* ---- Reading ------------------------------------------------------------------ */

struct paper {
	int64_t row; /* the sequence of its first document */
	int64_t docs;
	int kind;
	int64_t source, generation; /* rows */
	struct uuid source_id;
	struct str path;	/* below its folder */
	int64_t offset, length; /* of the bytes it is read from */
	uint16_t part;
	int64_t at;    /* its own time; 0 = none */
	int64_t dated; /* of the file, as it is now; 0 = unknown */
	bool has_session;
	struct uuid session;
	struct str project; /* empty = unknown */
	bool has_id;	    /* it is a line that was typed: */
	struct uuid id;
};

/* By its row. Texts are in the arena. STATUS_NOT_FOUND. */
enum status paper_get(struct store *s, int64_t row, struct arena *mem, struct paper *out,
		      struct err *err) MUST_USE;

/* Lines that were typed whose ids begin so, at most `most`: their rows, by id; equal ones once. */
enum status paper_search(struct store *s, struct str prefix, int64_t *rows, size_t most, size_t *count,
			 struct err *err) MUST_USE;

/* All of them, in an order that does not depend on when they came. Texts are valid during the call. */
typedef enum status paper_fn(void *ctx, const struct paper *p, struct err *err);
enum status paper_each(struct store *s, paper_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Rows of a source's texts, by its id; or of a line that was typed, by its own. */
typedef enum status paper_row_fn(void *ctx, int64_t row, struct err *err);
enum status paper_rows(struct store *s, const struct uuid *source, paper_row_fn *fn, void *ctx,
		       struct err *err) MUST_USE;

/* Documents of what was typed into conversations that are here, by sequence, as an array in the arena. */
enum status paper_told(struct store *s, struct arena *mem, struct doc_range **out, size_t *count,
		       struct err *err) MUST_USE;

/* Folders in which people worked, by path. */
typedef enum status folder_fn(void *ctx, struct str path, bool *go_on, struct err *err);
enum status folder_each(struct store *s, folder_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
