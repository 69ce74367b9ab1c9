/*
 * Marks: words of the index that no text can have, for what a document is rather than what
 * it says. So a query can ask for them like for any other word.
 */
#ifndef ARBOR_BASE_MARK_H
#define ARBOR_BASE_MARK_H

#include "base/buf.h"
#include "base/words.h"

enum mark {
	MARK_TOOL = 't',  /* the call of a tool, by its name */
	MARK_FILE = 'f',  /* a call that names a file, by the last part of its path */
	MARK_END = 'g',	  /* so too, by that name read backwards: names that end alike begin alike so */
	MARK_ERROR = 'e', /* what went wrong: a tool's result, a request's */
	MARK_AGENT = 's', /* said by a sub-agent, or to it */
	MARK_MODEL = 'm', /* what a model said or did, by its name */
	MARK_WHO = 'a',	  /* said by a sub-agent, or to it: by its id */
	MARK_NOTE = 'n',  /* a note or bookmark, by its id in hex */
};

/* The word; a name that is longer than a word may be is cut. */
struct str mark_word(enum mark mark, struct str name, char out[WORD_MAX]);

/* A name from its last character to its first, or as many of these as a word has room for. */
struct str mark_backwards(struct str name, char out[WORD_MAX]);

/* Appends it to packed words (words.h). */
void mark_pack(struct buf *out, enum mark mark, struct str name);

#endif
