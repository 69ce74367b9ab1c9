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

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
	       c == '/';
}

bool base64_is(struct str text, size_t *bytes)
{
	size_t end = text.n;

	while (end && text.n - end < 2 && text.p[end - 1] == '=')
		end--;
	for (size_t i = 0; i < end; i++)
		if (!is_letter(text.p[i]))
			return false;
	*bytes = text.n / 4 * 3 - (text.n - end);
	return text.n % 4 == 0;
}
