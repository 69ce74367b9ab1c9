/*
 * An owned, growing run of bytes with a maximum.
 *
 * Appending past the maximum changes nothing and sets `failed`, which stays
 * set: a long sequence of appends is checked once, at its end. `p` is valid
 * until the next append and always has a NUL behind its `n` bytes.
 */
#ifndef ARBOR_BASE_BUF_H
#define ARBOR_BASE_BUF_H

#include "base/str.h"

#include <stdarg.h>

struct buf {
	char *p;
	size_t n;
	size_t cap;  /* bytes allocated */
	size_t max;  /* most bytes `n` may reach */
	bool failed; /* something did not fit */
};

#define BUF_INIT(maximum) { .max = (maximum) }

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);          /* may be used again afterwards */
void buf_clear(struct buf *b);            /* keeps the memory; resets failed */

/* Makes room for `more` bytes and returns where they go, NULL (and failed) if
 * they do not fit. Set them with buf_grew(). */
char *buf_reserve(struct buf *b, size_t more);
void  buf_grew(struct buf *b, size_t by);

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_str(struct buf *b, struct str s);
void buf_text(struct buf *b, const char *nul_terminated);
void buf_byte(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) ATTR_PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *format, va_list args) ATTR_PRINTF(2, 0);

/* Removes the first `n` bytes, moving the rest to the front. */
void buf_drop(struct buf *b, size_t n);

static inline struct str buf_as_str(const struct buf *b)
{
	return (struct str){ b->p, b->n };
}

#endif
