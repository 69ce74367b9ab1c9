/*
 * Base64. Three bytes are four characters, so a text of it can be cut at every fourth, and
 * whoever wants a part needs not decode the whole.
 */
#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buf *out, struct str bytes)
{
	for (size_t i = 0; i < bytes.n; i += 3) {
		struct str part = str_sub(bytes, i, 3);
		uint32_t v = (uint32_t)(uint8_t)part.p[0] << 16;
		char four[4];

		v |= part.n > 1 ? (uint32_t)(uint8_t)part.p[1] << 8 : 0;
		v |= part.n > 2 ? (uint32_t)(uint8_t)part.p[2] : 0;
		four[0] = letters[v >> 18];
		four[1] = letters[v >> 12 & 63];
		four[2] = '=';
		four[3] = '=';
		if (part.n > 1)
			four[2] = letters[v >> 6 & 63];
		if (part.n > 2)
			four[3] = letters[v & 63];
		buf_add(out, four, sizeof four);
	}
}

/* 64 for what is no letter. */
static uint32_t value_of(char c)
{
	return c >= 'A' && c <= 'Z'   ? (uint32_t)(c - 'A')
	       : c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a') + 26
	       : c >= '0' && c <= '9' ? (uint32_t)(c - '0') + 52
	       : c == '+'	      ? 62
	       : c == '/'	      ? 63
				      : 64;
}

bool base64_is(struct str text, size_t *bytes)
{
	size_t end = text.n;

	while (end && text.n - end < 2 && text.p[end - 1] == '=')
		end--;
	for (size_t i = 0; i < end; i++)
		if (value_of(text.p[i]) == 64)
			return false;
	*bytes = text.n / 4 * 3 - (text.n - end);
	return text.n % 4 == 0;
}

/* Four characters into up to three bytes. How many; 0 when they stand for none. */
static size_t decode_four(const char *at, bool last, char to[3])
{
	size_t pad = !last || at[3] != '=' ? 0 : at[2] == '=' ? 2 : 1;
	uint32_t v = 0;

	for (size_t i = 0; i < 4 - pad; i++) {
		if (value_of(at[i]) == 64)
			return 0;
		v |= value_of(at[i]) << (18 - 6 * i);
	}
	if (v & ((1u << (8 * pad)) - 1))
		return 0;
	to[0] = (char)(v >> 16);
	to[1] = (char)(v >> 8);
	to[2] = (char)v;
	return 3 - pad;
}

bool base64_decode(struct buf *out, struct str text)
{
	char *to;
	size_t n = 0;

	if (text.n % 4)
		return false;
	to = buf_reserve(out, text.n / 4 * 3);
	if (!to)
		return false;
	for (size_t i = 0; i < text.n; i += 4) {
		char three[3];
		size_t got = decode_four(text.p + i, i + 4 == text.n, three);

		if (!got)
			return false;
		for (size_t k = 0; k < got; k++)
			to[n++] = three[k];
	}
	buf_grew(out, n);
	return true;
}
