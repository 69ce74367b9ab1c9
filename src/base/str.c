/*
 * Slices. Nothing here allocates or writes; every function accepts the empty
 * slice, whose pointer may be NULL.
 */
#include "base/str.h"

#include <string.h>

struct str str_of(const char *nul_terminated)
{
	return (struct str){ nul_terminated, nul_terminated ? strlen(nul_terminated) : 0 };
}

struct str str_from(const char *p, size_t n)
{
	return (struct str){ p, n };
}

struct str str_sub(struct str s, size_t from, size_t n)
{
	from = size_min(from, s.n);
	if (!s.p)
		return s;
	return (struct str){ s.p + from, size_min(n, s.n - from) };
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_alike(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (ascii_lower(a.p[i]) != ascii_lower(b.p[i]))
			return false;
	return true;
}

int str_cmp(struct str a, struct str b)
{
	size_t common = size_min(a.n, b.n);
	int c = common ? memcmp(a.p, b.p, common) : 0;

	if (c)
		return c;
	return (a.n > b.n) - (a.n < b.n);
}

bool str_has_prefix(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_sub(s, 0, prefix.n), prefix);
}

bool str_has_suffix(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_sub(s, s.n - suffix.n, suffix.n), suffix);
}

size_t str_find(struct str s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_rfind(struct str s, char c)
{
	const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : SIZE_MAX;
}

bool str_has_byte(struct str s, char c)
{
	return str_find(s, c) != SIZE_MAX;
}

struct str str_cut(struct str s, char sep, struct str *rest)
{
	size_t at = str_find(s, sep);

	if (at == SIZE_MAX) {
		*rest = (struct str){ 0 };
		return s;
	}
	*rest = str_sub(s, at + 1, SIZE_MAX);
	return str_sub(s, 0, at);
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.n && is_space(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str str_basename(struct str path)
{
	size_t slash = str_rfind(path, '/');

	return slash == SIZE_MAX ? path : str_sub(path, slash + 1, SIZE_MAX);
}

bool str_to_u64(struct str s, uint64_t *out)
{
	uint64_t v = 0;

	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = (unsigned)(unsigned char)s.p[i] - '0';

		if (digit > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v))
			return false;
	}
	*out = v;
	return true;
}

bool str_to_i64(struct str s, int64_t *out)
{
	bool negative = s.p && s.n && s.p[0] == '-';
	uint64_t v;

	if (!str_to_u64(str_sub(s, negative, SIZE_MAX), &v))
		return false;
	if (v > (uint64_t)INT64_MAX + negative)
		return false;
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

/* How many bytes a unit means; 0 = it is none. */
static int64_t unit_bytes(struct str unit)
{
	char letter = unit.n && unit.p ? (char)(unit.p[0] | 0x20) : 0;
	struct str rest = str_sub(unit, 1, SIZE_MAX);
	bool tens = rest.n == 1 && str_has_byte(rest, 'B');
	size_t power = str_find(STR("kmgt"), letter);
	int64_t bytes = 1;

	if (!letter)
		return 1;
	if (power == SIZE_MAX || (rest.n && !tens && !str_has_prefix(STR("iB"), rest)))
		return 0;
	for (size_t i = 0; i <= power; i++)
		bytes *= tens ? 1000 : 1024;
	return bytes;
}

bool str_to_bytes(struct str s, int64_t *out)
{
	size_t digits = 0;
	int64_t number, unit;

	while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
		digits++;
	unit = unit_bytes(str_sub(s, digits, SIZE_MAX));
	if (!unit || !str_to_i64(str_sub(s, 0, digits), &number) || __builtin_mul_overflow(number, unit, &number))
		return false;
	*out = number;
	return true;
}
