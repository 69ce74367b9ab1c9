/*
 * Editing one line. The cursor moves by what is seen as one character: marks that combine with a
 * letter stay with it.
 *
 * Invariants: at <= n <= EDIT_MOST; `at` is at the beginning of a character.
 */
#include "face/edit.h"

#include "base/limits.h"
#include "base/term.h"
#include "base/utf8.h"
#include "face/text.h"

#include <string.h>

struct str edit_text(const struct edit *e)
{
	return str_from(e->text, e->n);
}

static bool combines(struct str text, size_t at)
{
	int32_t c = utf8_next(text, &at);

	return c >= 0x80 && utf8_width((uint32_t)c) == 0;
}

static size_t before(const struct edit *e, size_t at)
{
	struct str text = edit_text(e);

	while (at > 0) {
		do
			at--;
		while (at > 0 && (text.p[at] & 0xC0) == 0x80);
		if (!combines(text, at))
			break;
	}
	return at;
}

static size_t behind(const struct edit *e, size_t at)
{
	struct str text = edit_text(e);

	if (at < text.n)
		utf8_next(text, &at);
	while (at < text.n && combines(text, at))
		utf8_next(text, &at);
	return at;
}

static bool drop(struct edit *e, size_t from, size_t end)
{
	memmove(e->text + from, e->text + end, e->n - end);
	e->n -= end - from;
	e->at = from;
	return from < end;
}

bool edit_insert(struct edit *e, struct str text)
{
	if (text.n == 0 || text.n > EDIT_MOST - e->n)
		return false;
	memmove(e->text + e->at + text.n, e->text + e->at, e->n - e->at);
	memcpy(e->text + e->at, text.p, text.n);
	e->n += text.n;
	e->at += text.n;
	return true;
}

bool edit_backspace(struct edit *e)
{
	return drop(e, before(e, e->at), e->at);
}

bool edit_delete(struct edit *e)
{
	return drop(e, e->at, behind(e, e->at));
}

bool edit_kill_line(struct edit *e)
{
	return drop(e, 0, e->at);
}

bool edit_kill_word(struct edit *e)
{
	size_t from = e->at;

	while (from > 0 && e->text[from - 1] == ' ')
		from--;
	while (from > 0 && e->text[from - 1] != ' ')
		from--;
	return drop(e, from, e->at);
}

bool edit_left(struct edit *e)
{
	e->at = before(e, e->at);
	return false;
}

bool edit_right(struct edit *e)
{
	e->at = behind(e, e->at);
	return false;
}

bool edit_start(struct edit *e)
{
	e->at = 0;
	return false;
}

bool edit_end(struct edit *e)
{
	e->at = e->n;
	return false;
}

int edit_show(const struct edit *e, int columns, struct buf *out)
{
	struct buf left CLEANUP(buf_release) = BUF_INIT(MIB), right CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str seen;
	int at;

	if (columns <= 0)
		return 0;
	term_filter(&left, str_from(e->text, e->at), TERM_LINE);
	term_filter(&right, str_from(e->text + e->at, e->n - e->at), TERM_LINE);
	seen = text_end(buf_as_str(&left), columns - 1); /* the cursor needs a column, too */
	at = text_width(seen);
	buf_str(out, seen);
	buf_str(out, text_start(buf_as_str(&right), columns - at));
	return at;
}
