/*
 * A borrowed run of bytes: pointer and length. Never NUL-terminated by
 * promise, never owned. A zero-initialised struct str is the empty string.
 */
#ifndef ARBOR_BASE_STR_H
#define ARBOR_BASE_STR_H

#include "base/base.h"

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })

/* For printf("%.*s", STR_ARG(s)); only for text already bounded and trusted. */
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

struct str str_of(const char *nul_terminated);
struct str str_from(const char *p, size_t n);

/* The part from `from`, at most `n` bytes; both are cut to what exists. */
struct str str_sub(struct str s, size_t from, size_t n);

/* An ASCII letter or digit, whatever the locale says. */
static inline bool is_ascii_alnum(int32_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_eq(struct str a, struct str b);
bool str_alike(struct str a, struct str b);         /* equal but for the case of ASCII letters */
int  str_cmp(struct str a, struct str b);           /* by bytes, as memcmp */
bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);
bool str_has_byte(struct str s, char c);

/* First and last position of a byte; SIZE_MAX when absent. */
size_t str_find(struct str s, char c);
size_t str_rfind(struct str s, char c);

/* Splits at the first `sep`: *rest is what follows it, empty and with p NULL
 * when there was none. Returns what precedes it. */
struct str str_cut(struct str s, char sep, struct str *rest);

struct str str_trim(struct str s);                  /* ASCII white space */

/* Last component of a path, without its folder. */
struct str str_basename(struct str path);

/* Decimal only, the whole string, no sign for the unsigned one. False when it
 * is not a number or does not fit; *out is then untouched. */
bool str_to_u64(struct str s, uint64_t *out);
bool str_to_i64(struct str s, int64_t *out);

/* A number of bytes, also with a unit: 500K, 10M, 1GiB are in steps of 1024, 10MB of 1000.
 * False as above, and when it is negative. */
#define BYTES_EXAMPLES "a number of bytes such as 500000, 500K, 10M or 1G"
bool str_to_bytes(struct str s, int64_t *out);

#endif
