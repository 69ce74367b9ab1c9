/*
 * How the client names the folder of a project.
 *
 * It works in JavaScript, whose texts are UTF-16: every unit that is no ASCII letter or
 * digit becomes '-', so é is one and an emoji two of them. A name of more than 200 is cut
 * there and gets a hash of the whole path: h = 31 h + unit in 32 bits, its absolute value
 * with the digits 0-9a-z. Bytes that are not UTF-8 are U+FFFD to the client.
 */
#include "claude/folder.h"

#include "base/utf8.h"

/* The units of a code point; returns how many. */
static int units_of(int32_t c, uint32_t units[2])
{
	if (c < 0)
		c = 0xFFFD;
	if (c < 0x10000) {
		units[0] = (uint32_t)c;
		return 1;
	}
	units[0] = 0xD800 + (((uint32_t)c - 0x10000) >> 10);
	units[1] = 0xDC00 + (((uint32_t)c - 0x10000) & 0x3FF);
	return 2;
}

static void add_base36(uint32_t n, struct buf *out)
{
	char digits[8];
	size_t at = sizeof digits;

	do
		digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
	while (n /= 36);
	buf_add(out, digits + at, sizeof digits - at);
}

void claude_encode_cwd(struct str cwd, struct buf *out)
{
	uint32_t hash = 0;
	size_t length = 0;

	for (size_t at = 0; at < cwd.n;) {
		int32_t c = utf8_next(cwd, &at);
		uint32_t units[2];
		int count = units_of(c, units);

		for (int i = 0; i < count; i++) {
			hash = hash * 31 + units[i];
			if (length++ < CLAUDE_FOLDER_WHOLE)
				buf_byte(out, is_ascii_alnum(c) ? (char)c : '-');
		}
	}
	if (length <= CLAUDE_FOLDER_WHOLE)
		return;
	buf_byte(out, '-');
	/* The hash is a signed number there. */
	add_base36(hash >> 31 ? -hash : hash, out);
}
