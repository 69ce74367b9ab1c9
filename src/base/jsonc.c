/*
 * Comments and trailing commas, blanked.
 *
 * One pass over a copy of the text. Outside of strings, // up to the end of the
 * line and everything from the opening to the closing mark of a comment become
 * blanks; so does a comma that has a value in front of it and a closing bracket
 * behind it. "[,]", "[1,,]" and {"a":,} stay as they are, and the JSON reader
 * refuses them.
 *
 * Invariants: the copy has the length of the text, and bytes inside of strings
 * never change. Strings are not checked here: where one is broken, the reader stops
 * in it and never sees what was made of the rest. The same holds for a comment that
 * is not closed: it stays, and no JSON has a '/' outside of strings. Lines and
 * columns are counted in the text as it was, whose comments still have theirs.
 */
#include "base/jsonc.h"

#include <string.h>

#define NOWHERE SIZE_MAX

static struct str byte_order_mark(void)
{
	return STR("\xEF\xBB\xBF");
}

/* Behind the string that opens at `at`, or the end of the text. */
static size_t behind_string(const char *p, size_t n, size_t at)
{
	for (at++; at < n && p[at] != '"'; at++)
		if (p[at] == '\\')
			at++;
	return size_min(at + 1, n);
}

static bool is_comment(const char *p, size_t n, size_t at)
{
	return n - at >= 2 && p[at] == '/' && (p[at + 1] == '/' || p[at + 1] == '*');
}

/* Behind the comment that opens at `at`; NOWHERE when it is not closed. */
static size_t behind_comment(const char *p, size_t n, size_t at)
{
	const char *from = p + at + 2, *end = p + n, *found;

	if (p[at + 1] == '/') {
		found = memchr(from, '\n', (size_t)(end - from));
		return found ? (size_t)(found - p) : n;
	}
	found = memmem(from, (size_t)(end - from), "*/", 2);
	return found ? (size_t)(found - p) + 2 : NOWHERE;
}

/* Whether a value can end with this character: a comma may follow it. */
static bool ends_value(char c)
{
	return c != '\0' && !strchr("[{,:", c);
}

/* Returns where a comment opens that is not closed, or NOWHERE. */
static size_t blank_extras(char *p, size_t n)
{
	size_t comma = NOWHERE; /* nothing but blanks since then */
	char before = '\0';	/* the last character that was no blank */

	for (size_t at = 0; at < n;) {
		if (is_comment(p, n, at)) {
			size_t behind = behind_comment(p, n, at);

			if (behind == NOWHERE)
				return at;
			memset(p + at, ' ', behind - at);
			at = behind;
		} else if (strchr(" \t\r\n", p[at]) && p[at]) {
			at++;
		} else {
			if ((p[at] == '}' || p[at] == ']') && comma != NOWHERE)
				p[comma] = ' ';
			comma = p[at] == ',' && ends_value(before) ? at : NOWHERE;
			before = p[at];
			at = before == '"' ? behind_string(p, n, at) : at + 1;
		}
	}
	return NOWHERE;
}

enum status jsonc_read(struct json *j, struct str text, uint32_t max_depth, struct arena *mem, struct err *e)
{
	char *copy = arena_alloc(mem, text.n + 1);
	size_t unclosed;

	if (text.n)
		memcpy(copy, text.p, text.n);
	if (str_has_prefix(text, byte_order_mark()))
		memset(copy, ' ', byte_order_mark().n);
	unclosed = blank_extras(copy, text.n);
	if (json_read_unplaced(j, str_from(copy, text.n), max_depth, e) == STATUS_OK)
		return STATUS_OK;
	if (j->error_at == unclosed)
		return err_fail(e, STATUS_FORMAT, "this comment is not closed, */ is missing");
	if (j->error_at == text.n && str_trim(str_from(copy, text.n)).n == 0)
		return STATUS_OK;
	return err_failed(e->status);
}
