/*
 * A mark is the byte 1, its letter and a name in lower case. Splitting text never gives a
 * control character (test/unit/expr.c tries all of Unicode), so none can be typed or said;
 * and neither a quote nor a control character comes behind the first byte, so that a mark
 * can stand between quotes like every other word.
 */
#include "base/mark.h"

#include "base/utf8.h"

static char as_marked(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return (unsigned char)c < ' ' || c == '"' || c == 0x7f ? '_' : c;
}

struct str mark_word(enum mark mark, struct str name, char out[WORD_MAX])
{
	size_t n = 0;

	out[n++] = 1;
	out[n++] = (char)mark;
	name = str_sub(name, 0, WORD_MAX - n);
	name.n = utf8_valid_prefix(name);
	for (size_t i = 0; i < name.n; i++)
		out[n++] = as_marked(name.p[i]);
	return str_from(out, n);
}

struct str mark_backwards(struct str name, char out[WORD_MAX])
{
	size_t n = 0, end = name.n;

	while (end) {
		size_t at = end - 1;

		while (at && end - at < 4 && ((unsigned char)name.p[at] & 0xc0) == 0x80)
			at--;
		if (n + end - at > WORD_MAX)
			break;
		for (size_t i = at; i < end; i++)
			out[n++] = name.p[i];
		end = at;
	}
	return str_from(out, n);
}

void mark_pack(struct buf *out, enum mark mark, struct str name)
{
	char room[WORD_MAX];
	struct str word = mark_word(mark, name, room);

	buf_byte(out, (char)word.n);
	buf_str(out, word);
}
