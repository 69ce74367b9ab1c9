/*
 * The second look at a text that the index has found: what words of the index cannot say.
 */
#ifndef ARBOR_QUERY_GREP_H
#define ARBOR_QUERY_GREP_H

#include "query/snippet.h"

#include <regex.h>

/* A pattern as the C library has it. */
struct matcher {
	const char *pattern; /* NULL = none */
	regex_t compiled;
	size_t scanned; /* bytes, since it was compiled */
};

struct grep {
	const struct expr *expr; /* its items, as typed; NULL = the pattern */
	bool any_case;		 /* of letters, in these */
	bool inside;		 /* also inside of other words */
	bool open_front;	 /* a * in front of a word is no part of it, but says that it may go on there */
	bool signs_only;	 /* only those that have signs: of the others the index knows all, */
	bool whole_quotes;	 /* and of those in quotes all that stands there */
	bool cited_only;	 /* so too, those whose signs are meant */
	int flags;		 /* of both matchers */
	struct matcher plain;	 /* for pieces of ASCII; none where the pattern itself is not */
	struct matcher wide;	 /* takes characters of several bytes for one; none where that makes no difference */
	struct buf in_bytes;	 /* its pattern */
	struct buf needed, also; /* the longest that every match has, and another; in any case, as `flags` say */
	size_t front;		 /* bytes of the text in hand that stand before it, as a tool's name does: no line
				  * begins there */
	int64_t deadline_ns; /* monotonic */
	int64_t found_deadline_ns; /* from the first text on in which it is; 0 = the same */
	int64_t share_ns;    /* so too, of the text in hand */
	bool gave_up;	     /* the deadline has passed */
	bool over;	     /* there was no time for all of the text in hand */
	int64_t unread;	     /* texts in which nothing was found, and which were not looked at to their end */
	struct snippet_range found[SNIPPET_MARKS];
	size_t count;
};

/* An extended regular expression of POSIX (query/pattern.h makes one), looked for in each line. STATUS_USAGE when it is
 * none, or more than can be looked for in bounded time and memory. The pattern has to stay. */
enum status grep_pattern(struct grep *g, const char *pattern, bool case_sensitive, struct err *err) MUST_USE;

/* Whether somebody wrote a pattern, as typed, with capitals in it, or a class that means them. */
bool grep_has_capitals(const char *pattern);

/* Fails with why it cannot be looked for. */
enum status grep_refuse(const char *pattern, const char *why, struct err *err) MUST_USE;

/* What is wanted of the query has to stand in the text as it was typed, letter by letter, as words of it. */
void grep_exact(struct grep *g, const struct expr *e);

/* So too, but in any case of its letters, and be it inside of other words. Nobody waits longer for it. */
void grep_inside(struct grep *g, const struct expr *e, int64_t most_ms);

/* So too, of the items that have signs (query/expr.h). Who has found some waits for all as after
 * grep_exact(). */
void grep_signs(struct grep *g, const struct expr *e, bool whole_quotes, int64_t most_ms);

/* So too, of those whose signs are meant. Without a deadline: for few texts. */
void grep_cited(struct grep *g, const struct expr *e);

/* Who asks says otherwise how long it may take. */
void grep_take_time(struct grep *g);
void grep_release(struct grep *g);

/* Appends words, as for expr_read(), that every text has in which the pattern matches; perhaps none. */
void grep_words(const char *pattern, struct buf *out);

/* Whether it is so; where is in `found`. False, too, once it has given up; and when the part of the text that
 * there was time for has nothing, which is counted. */
bool grep_text(struct grep *g, struct str text);

#endif
