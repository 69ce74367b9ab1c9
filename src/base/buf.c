/*
 * Growing buffers. Capacity doubles up to the maximum, so a sequence of
 * appends costs amortised constant time a byte.
 *
 * Invariants: n <= max; n < cap whenever p is not NULL; p[n] == 0.
 */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

enum { BUF_FIRST = 64 };

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max };
}

void buf_release(struct buf *b)
{
	size_t max = b->max;

	mem_free(b->p);
	*b = (struct buf){ .max = max };
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = false;
	if (b->p)
		b->p[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t more)
{
	size_t need;

	if (b->failed || more > b->max - b->n) {
		b->failed = true;
		return NULL;
	}
	need = b->n + more + 1;
	if (need > b->cap) {
		size_t cap = b->cap ? b->cap : BUF_FIRST;

		while (cap < need)
			cap *= 2;
		if (cap > b->max + 1)
			cap = size_max(need, b->max + 1);
		b->p = mem_resize(b->p, cap);
		b->cap = cap;
	}
	return b->p + b->n;
}

void buf_grew(struct buf *b, size_t by)
{
	b->n += by;
	b->p[b->n] = '\0';
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
	char *to = buf_reserve(b, n);

	if (!to)
		return;
	if (n)
		memcpy(to, bytes, n);
	buf_grew(b, n);
}

void buf_str(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

void buf_text(struct buf *b, const char *nul_terminated)
{
	buf_add(b, nul_terminated, strlen(nul_terminated));
}

void buf_byte(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
	va_list again;
	char *to;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0) {
		b->failed = true;
		return;
	}
	to = buf_reserve(b, (size_t)n);
	if (!to)
		return;
	vsnprintf(to, (size_t)n + 1, format, args);
	buf_grew(b, (size_t)n);
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vprintf(b, format, args);
	va_end(args);
}

void buf_drop(struct buf *b, size_t n)
{
	n = size_min(n, b->n);
	if (n == 0)
		return;
	memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
	b->p[b->n] = '\0';
}
