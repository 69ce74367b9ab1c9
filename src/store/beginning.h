/*
 * How transcripts begin. A fork is a file that begins as another does, so whoever looks at two hundred forks
 * wants to know how much of each was read already.
 *
 * For the first lines of a transcript that have a uuid a number stands for all they say of themselves and of
 * each other: uuid, kind, time, what they hang on, content, calls. Neither their places in the file nor lines
 * without uuid matter, and so not the session id that each copy has its own of. Where two have the same
 * number for as many lines, these are the same.
 */
#ifndef ARBOR_STORE_BEGINNING_H
#define ARBOR_STORE_BEGINNING_H

#include "base/arena.h"
#include "store/store.h"

struct mirror_line;

struct beginning {
	int64_t lines; /* with a uuid, that it stands for */
	uint64_t hash;
	int64_t offset; /* of the line with a uuid behind them */
	int64_t noted;	/* of the last line before that says where to go on; -1 = there is none */
};

/* While lines are written: `now` stands for all so far, and rows are added as it grows. Wants a write
 * transaction. */
struct beginning_writer {
	struct store *s;
	int64_t session;
	const struct uuid *source; /* its id */
	struct beginning now;
};
enum status beginning_start(struct beginning_writer *w, struct err *err) MUST_USE;
enum status beginning_take(struct beginning_writer *w, const struct mirror_line *l, struct err *err) MUST_USE;
enum status beginning_end(struct beginning_writer *w, struct err *err) MUST_USE;

enum status beginning_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

/* Those of a transcript, the shortest first, in the arena; *all = how many lines with a uuid it has. Wants a
 * read transaction. */
enum status beginning_list(struct store *s, int64_t session, struct arena *mem, struct beginning **out,
			   size_t *count, int64_t *all, struct err *err) MUST_USE;

#endif
