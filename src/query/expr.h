/*
 * What somebody typed into a search, as words the index knows.
 */
#ifndef ARBOR_QUERY_EXPR_H
#define ARBOR_QUERY_EXPR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* A word to look for, folded as the index has it. */
struct expr_word {
	struct str word;
	bool prefix; /* also words that begin so */
};

enum { EXPR_WORDS = 64, EXPR_PHRASES = 2 * EXPR_WORDS };

struct expr {
	struct expr_word *words; /* for finding them in a text again */
	size_t count;
	struct buf match; /* the same for FTS5: quoted words and nothing else */
	uint8_t items[EXPR_PHRASES]; /* by phrase of `match`, to which item of the query it belongs */
	size_t phrase_count;
	bool cut; /* there was more than can be looked for at once */
};

/*
 * Words are ANDed; "several words" in quotes follow each other; word* is the
 * beginning of a word. Identifiers may be written whole or by their parts. Any
 * text is a query: what is no letter or digit only separates words.
 * STATUS_USAGE when there is no word in it at all.
 */
enum status expr_read(struct expr *e, struct str text, struct arena *mem, struct err *err) MUST_USE;
void expr_release(struct expr *e);

/* Whether a word of a text is one that is looked for. */
bool expr_has(const struct expr *e, struct str word, size_t *which);

#endif
