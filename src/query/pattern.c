/*
 * From \d to [0-9].
 *
 * To the matcher a backslash in front of a letter it does not know is nothing, so that \d would be the letter d: such a
 * pattern finds something else than what was meant, without a word. What is meant is written in its language here, as
 * far as it can be, and everything else refused. Within brackets it takes a backslash for itself; there it is what
 * other programs make of it, too.
 */
#include "query/pattern.h"

#include "base/str.h"

#include <string.h>

#define UNKNOWN "a backslash may stand before signs and before d D w W s S b B t and xHH"

struct translating {
	const char *at;
	struct buf *out;
};

static int hex_of(char c)
{
	c = ascii_lower(c);
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character of \xHH, and behind it; 0 = it is none that can be looked for. */
static char take_hex(struct translating *t)
{
	int high = hex_of(t->at[1]), low = high < 0 ? -1 : hex_of(t->at[2]);
	int c = low < 0 ? 0 : 16 * high + low;

	t->at += c ? 3 : 0;
	return (char)(c >= ' ' && c < 0x7f ? c : c == '\t' ? c : 0);
}

/* Behind a backslash, within brackets. A '-' stands last there, where it means itself. */
static const char *take_in_brackets(struct translating *t, bool *dash)
{
	static const struct {
		char letter;
		const char *list;
	} classes[] = { { 'd', "0-9" }, { 'w', "A-Za-z0-9_" }, { 's', " \t" }, { 't', "\t" } };
	char c = *t->at;

	for (size_t i = 0; i < COUNT(classes); i++)
		if (classes[i].letter == c) {
			buf_text(t->out, classes[i].list);
			t->at++;
			return NULL;
		}
	if (c == 'x')
		c = take_hex(t);
	else if (is_ascii_alnum(c) || !c)
		return UNKNOWN;
	else
		t->at++;
	if (!c || c == ']' || c == '^')
		return "']' stands first within brackets, and '^' last: []x^]";
	if (c == '-')
		*dash = true;
	else
		buf_byte(t->out, c);
	return NULL;
}

size_t pattern_class_length(const char *p)
{
	const char *end = p[0] == '[' && p[1] == ':' ? strstr(p + 2, ":]") : NULL;

	return end ? (size_t)(end - p) + 2 : 0;
}

static const char *take_brackets(struct translating *t)
{
	const char *why = NULL;
	bool dash = false;
	size_t n;

	buf_byte(t->out, *t->at++);
	if (*t->at == '^')
		buf_byte(t->out, *t->at++);
	if (*t->at == ']')
		buf_byte(t->out, *t->at++);
	while (*t->at && *t->at != ']' && !why) {
		n = pattern_class_length(t->at);
		if (*t->at == '\\') {
			t->at++;
			why = take_in_brackets(t, &dash);
			continue;
		}
		n = n ? n : 1;
		buf_add(t->out, t->at, n);
		t->at += n;
	}
	if (dash)
		buf_byte(t->out, '-');
	if (*t->at)
		buf_byte(t->out, *t->at++);
	return why;
}

/* Behind a backslash, outside of brackets. */
static const char *take_escaped(struct translating *t)
{
	char c = *t->at;

	if (c == 'n' || c == 'r')
		return "each line is looked at by itself";
	if (c == 'd' || c == 'D') {
		buf_text(t->out, c == 'd' ? "[0-9]" : "[^0-9]");
	} else if (c == 't') {
		buf_byte(t->out, '\t');
	} else if (c == 'x') {
		c = take_hex(t);
		if (!c)
			return "behind \\x stand two digits of a character that can be printed: \\x41";
		if (!is_ascii_alnum(c) && c != '\t' && c != ' ')
			buf_byte(t->out, '\\');
		buf_byte(t->out, c);
		return NULL;
	} else if (((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) && !strchr("wWsSbB", c)) {
		return UNKNOWN;
	} else {
		buf_byte(t->out, '\\');
		if (c)
			buf_byte(t->out, c);
	}
	t->at += c != '\0';
	return NULL;
}

const char *pattern_translate(const char *pattern, struct buf *out)
{
	struct translating t = { pattern, out };
	const char *why = NULL;

	while (*t.at && !why) {
		if (*t.at == '[') {
			why = take_brackets(&t);
		} else if (*t.at == '\\') {
			t.at++;
			why = take_escaped(&t);
		} else if (*t.at == '(' && t.at[1] == '?') {
			why = "of what begins with (? only (?i) is known, at the beginning: capitals do not count then";
		} else {
			buf_byte(out, *t.at++);
		}
	}
	return why;
}
