/*
 * What a text or a record names outside of its conversation: pages, issues, commits, other
 * sessions, identifiers, files that were changed, words it is about. Pure: texts in, names out.
 */
#ifndef ARBOR_CLAUDE_MENTION_H
#define ARBOR_CLAUDE_MENTION_H

#include "base/buf.h"
#include "claude/record.h"

/* Numbers are stored. */
enum mention_kind {
	MENTION_FILE = 1, /* that was changed: its path */
	MENTION_URL,
	MENTION_ISSUE,	    /* or pull request: OWNER/NAME#NUMBER, KEY-NUMBER */
	MENTION_COMMIT,	    /* first seven digits of its hash */
	MENTION_SESSION,    /* a UUID that may be one's */
	MENTION_IDENTIFIER, /* as people write it: between backticks */
	MENTION_TOPIC,	    /* a word that says something, in lower case, in the singular */
	MENTION_KINDS
};

/* "file", "url", … as people call them. */
const char *mention_kind_name(enum mention_kind kind);

/* How a conversation has to do with it: "touches_file", "mentions", "references", "related_to". */
const char *mention_relation(enum mention_kind kind);

/* A name may come several times; it is valid during the call. */
typedef void mention_fn(void *ctx, enum mention_kind kind, struct str name);

/* What a text of a record names, by its place: what was said has pages, issues, commits and
 * sessions; what a person typed identifiers and topics besides; what tools printed only the
 * commits that were made and the pull requests that were opened. */
void mention_text(const struct record *rec, enum record_place place, struct str text, mention_fn *fn,
		  void *ctx);

/* "[main 1a2b3c4] Subject": git tells of a commit. Both are in the line. */
bool mention_made(struct str line, struct str *hash, struct str *subject);

/* Words that a text is about: a prompt, a title. */
void mention_topics(struct str text, mention_fn *fn, void *ctx);

/* All texts of a record, put into `room` one after the other, and the file it tells was changed. */
void mention_record(struct record_reader *r, const struct record *rec, struct buf *room, mention_fn *fn,
		    void *ctx);

/* A name that somebody typed, in the form that names of this kind are given in, in `room` or as it
 * was; empty when there is none of that kind. */
struct str mention_form(enum mention_kind kind, struct str name, struct buf *room);

/* Whether a word says nothing of what a text is about. Lower case. */
bool mention_is_common(struct str word);

#endif
