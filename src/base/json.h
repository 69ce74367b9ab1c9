/*
 * Reading JSON (RFC 8259, strictly) into a tape of byte spans.
 *
 * The text stays what it was: an entry says where a value stands in it, not
 * what the value means. Numbers keep every digit, duplicate keys keep their
 * order, strings keep their escapes; a value is handed on unchanged by copying
 * its span. Decoding happens when somebody asks for it.
 *
 * The tape is in the order of the text. An object's children are key, value,
 * key, value; a key is a string that is always one entry long. A node is the
 * index of its entry:
 *
 *     for (uint32_t i = json_first(&j, list); i != json_end(&j, list); i = json_next(&j, i))
 *     for (uint32_t k = json_first(&j, obj); k != json_end(&j, obj); k = json_next(&j, k + 1))
 *             ... key k, value k + 1
 *
 * Scalars have no children, so both loops also hold for them. The functions
 * that look something up take JSON_NONE for "nothing" and give it back, so
 * that json_get(json_get(...)) needs no test in between.
 *
 * Half characters are real (programs cut strings inside an emoji) and must not
 * lose a line: lone surrogate escapes and bytes that are not UTF-8 are
 * accepted inside strings and reported as flags. docs/JSON.md has the details.
 */
#ifndef ARBOR_BASE_JSON_H
#define ARBOR_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* Of a string; of a document, what any of its strings has. */
enum json_flag {
	JSON_ESCAPED        = 1, /* contains a backslash */
	JSON_BAD_UTF8       = 2, /* contains bytes that are not UTF-8 */
	JSON_LONE_SURROGATE = 4, /* contains half of a \u pair */
};

#define JSON_NONE UINT32_MAX

struct json_entry {
	uint16_t kind;   /* enum json_kind */
	uint16_t flags;  /* enum json_flag */
	uint32_t start;  /* where the span begins in the text */
	uint32_t length; /* of the span, quotes and brackets included */
	uint32_t next;   /* one past the last descendant: the next sibling, if any */
};

struct json {
	struct str text;         /* what was read; borrowed */
	struct json_entry *tape; /* owned; reused by the next json_read() */
	uint32_t count;          /* entries; 0 when nothing was read */
	uint32_t cap;
	unsigned flags;          /* enum json_flag over all strings */
	size_t error_at;         /* byte offset where reading failed */
};

#define JSON_INIT { 0 }

void json_init(struct json *j);
void json_release(struct json *j); /* may be used again afterwards */

/*
 * Reads one value with nothing but white space around it. The tape points into
 * `text`, which has to live as long as it is looked at. max_depth counts open
 * containers, 0 means any number: a million nested arrays cost tape, no stack.
 *
 * STATUS_FORMAT when the text is not JSON, STATUS_LIMIT when it is nested too
 * deep or longer than LIMIT_JSON_TEXT; then the tape is empty and error_at set.
 */
enum status json_read(struct json *j, struct str text, uint32_t max_depth, struct err *e) MUST_USE;

/* The same, but the error does not say at which byte: for callers that name the
 * place in their own way, from error_at. */
enum status json_read_unplaced(struct json *j, struct str text, uint32_t max_depth, struct err *e) MUST_USE;

static inline uint32_t json_root(const struct json *j)
{
	return j->count ? 0 : JSON_NONE;
}

static inline enum json_kind json_kind(const struct json *j, uint32_t node)
{
	return (enum json_kind)j->tape[node].kind;
}

static inline bool json_is(const struct json *j, uint32_t node, enum json_kind kind)
{
	return node != JSON_NONE && j->tape[node].kind == kind;
}

static inline uint32_t json_first(const struct json *j, uint32_t node)
{
	(void)j;
	return node == JSON_NONE ? JSON_NONE : node + 1;
}

static inline uint32_t json_end(const struct json *j, uint32_t node)
{
	return node == JSON_NONE ? JSON_NONE : j->tape[node].next;
}

static inline uint32_t json_next(const struct json *j, uint32_t node)
{
	return j->tape[node].next;
}

/* Whether a string is the key of a member: what follows it is a colon. */
bool json_is_key(const struct json *j, uint32_t node);

/* Children of an array, members of an object, 0 for anything else. */
uint32_t json_count(const struct json *j, uint32_t node);

/* The value of a member, the last one when keys repeat (as in JavaScript).
 * JSON_NONE when `object` is none or no object, or has no such key. */
uint32_t json_get(const struct json *j, uint32_t object, struct str key);

/* The span, byte for byte. Empty for JSON_NONE. */
struct str json_raw(const struct json *j, uint32_t node);

/* What stands between the quotes when that already is the string's value: no
 * escapes, good UTF-8. Costs nothing; false when decoding is needed (or when
 * it is not a string) and *out is untouched. */
bool json_text(const struct json *j, uint32_t node, struct str *out);

/* Appends the decoded string: always good UTF-8, each lone surrogate and each
 * broken sequence one U+FFFD. False, and nothing added, when it is no string
 * or does not fit (out->failed). */
bool json_string(const struct json *j, uint32_t node, struct buf *out);

/* The same, borrowed from the text where that is possible, from the arena
 * where not. Empty with p NULL when it is no string. */
struct str json_string_in(const struct json *j, uint32_t node, struct arena *a);

/* Only its first characters, at most `n` bytes. */
struct str json_front(const struct json *j, uint32_t node, char *room, size_t n);

/* Whether it is a string with this value, decoded. */
bool json_string_eq(const struct json *j, uint32_t node, struct str value);

/* Whether there is nothing but white space in it; also when it is no string. Looks no further
 * than it takes. */
bool json_is_blank(const struct json *j, uint32_t node);

/* Only from an integer literal that fits: 1.0 and 1e2 are false. */
bool json_to_i64(const struct json *j, uint32_t node, int64_t *out);
/* What a double makes of a number; false when it is none, or has more digits than anybody writes. */
bool json_to_real(const struct json *j, uint32_t node, double *out);
bool json_to_bool(const struct json *j, uint32_t node, bool *out);

/* True for `true` alone: a flag that is absent or odd counts as false. */
bool json_bool(const struct json *j, uint32_t node);

#endif
