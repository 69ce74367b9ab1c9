/*
 * Writing JSON onto a buffer. Commas, colons and indentation are the writer's
 * affair; the caller says what comes next:
 *
 *     struct json_writer w;
 *
 *     json_write_init(&w, &out, 0);
 *     json_write_object_begin(&w);
 *     json_write_key(&w, STR("n"));
 *     json_write_i64(&w, 1);
 *     json_write_object_end(&w);
 *     return json_write_done(&w, e);
 *
 * Nothing needs to be checked in between: what does not fit and what does not
 * belong (a value without key, an end without begin, a second root) is
 * remembered, nothing more is written, and json_write_done() says so. The
 * writer owns no memory.
 *
 * Strings are escaped as JSON.stringify does it: only what must be. What has
 * to stay exactly as it was goes through json_write_raw() or json_copy().
 */
#ifndef ARBOR_BASE_JSON_WRITE_H
#define ARBOR_BASE_JSON_WRITE_H

#include "base/json.h"

struct json_writer {
	struct buf *out;
	unsigned indent; /* spaces a level; 0: everything on one line */
	uint32_t depth;  /* open containers */
	bool empty;      /* the innermost has nothing in it yet */
	bool keyed;      /* a key was written, its value not */
	bool finished;   /* the root value is complete */
	bool misused;
	uint64_t objects[LIMIT_JSON_DEPTH / 64]; /* a bit a level: object or array */
};

void json_write_init(struct json_writer *w, struct buf *out, unsigned indent);

void json_write_object_begin(struct json_writer *w);
void json_write_object_end(struct json_writer *w);
void json_write_array_begin(struct json_writer *w);
void json_write_array_end(struct json_writer *w);

void json_write_key(struct json_writer *w, struct str key);

/* Bytes that are not UTF-8 become U+FFFD, as in utf8_repair(). */
void json_write_string(struct json_writer *w, struct str value);
void json_write_i64(struct json_writer *w, int64_t value);
/* As many digits as bring the number back, whatever the locale. What JSON has no number for is a text,
 * "Infinity": a number that is too large would make some readers refuse all of it. */
void json_write_real(struct json_writer *w, double value);
void json_write_bool(struct json_writer *w, bool value);
void json_write_null(struct json_writer *w);

/* One complete JSON value, which is believed to be one: numbers of any size,
 * values from a tape. It is written as it is, also where there is indentation. */
void json_write_raw(struct json_writer *w, struct str value);
void json_copy(struct json_writer *w, const struct json *j, uint32_t node);

/* The same for readers who insist on UTF-8: what is broken in strings becomes U+FFFD. */
void json_copy_valid(struct json_writer *w, const struct json *j, uint32_t node);

/* OK when exactly one value was written and is complete; STATUS_LIMIT when the
 * buffer was too small, STATUS_INTERNAL after misuse. */
enum status json_write_done(const struct json_writer *w, struct err *e) MUST_USE;

#endif
