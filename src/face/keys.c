/*
 * Decoding keys. A key is a character, a control character, or a sequence that begins with ESC; of
 * these, those of xterm and the Linux console are known, and all others are taken off whole, so
 * that an unknown key types no rubbish.
 *
 * Invariants: every byte is taken exactly once, or waits. At most SEQUENCE bytes wait: what is
 * longer is no key. KEY_TEXT is valid UTF-8 and no control character. Between the marks of a
 * bracketed paste there are only KEY_TEXT and KEY_NOTHING: pasted line ends take nothing.
 */
#include "face/keys.h"

#include "base/base.h"
#include "base/utf8.h"

#include <string.h>

enum { ESC = 0x1B, DEL = 0x7F, SEQUENCE = 32 };

char *keys_reserve(struct keys *k, size_t *room)
{
	*room = KEYS_HELD - k->n;
	return k->held + k->n;
}

void keys_grew(struct keys *k, size_t by)
{
	k->n += by;
}

bool keys_wait(const struct keys *k)
{
	return k->n > 0;
}

static bool take(struct keys *k, size_t bytes, enum key_kind kind, struct key *out)
{
	*out = (struct key){ .kind = kind };
	if (kind == KEY_TEXT) {
		memcpy(out->text, k->held, bytes);
		out->n = bytes;
	}
	k->n -= bytes;
	memmove(k->held, k->held + bytes, k->n);
	return true;
}

/* As in fzf and in shells. Enter sends CR, Ctrl-J is a line feed. */
static enum key_kind control_key(unsigned char c)
{
	static const enum key_kind keys[DEL + 1] = {
		['A' & 31] = KEY_LINE_START, ['B' & 31] = KEY_LEFT,	 ['C' & 31] = KEY_LEAVE,
		['D' & 31] = KEY_DELETE,     ['E' & 31] = KEY_LINE_END,	 ['F' & 31] = KEY_RIGHT,
		['G' & 31] = KEY_LEAVE,	     ['H' & 31] = KEY_BACKSPACE, ['I' & 31] = KEY_PREVIEW,
		['J' & 31] = KEY_DOWN,	     ['K' & 31] = KEY_UP,	 ['L' & 31] = KEY_REDRAW,
		['M' & 31] = KEY_TAKE,	     ['N' & 31] = KEY_DOWN,	 ['P' & 31] = KEY_UP,
		['U' & 31] = KEY_KILL_LINE,  ['W' & 31] = KEY_KILL_WORD, ['Z' & 31] = KEY_SUSPEND,
		[DEL] = KEY_BACKSPACE,
	};

	return keys[c];
}

/* ---- Sequences ------------------------------------------------------------------- */

/* What stands between "ESC [" or "ESC O" and the end, that included. */
static enum key_kind sequence_key(struct str s)
{
	static const struct {
		const char *sequence;
		enum key_kind key;
	} known[] = {
		{ "A", KEY_UP },
		{ "B", KEY_DOWN },
		{ "C", KEY_RIGHT },
		{ "D", KEY_LEFT },
		{ "H", KEY_FIRST },
		{ "F", KEY_LAST },
		{ "1~", KEY_FIRST },
		{ "7~", KEY_FIRST },
		{ "4~", KEY_LAST },
		{ "8~", KEY_LAST },
		{ "3~", KEY_DELETE },
		{ "5~", KEY_PAGE_UP },
		{ "6~", KEY_PAGE_DOWN },
		{ "M", KEY_TAKE },
		{ "1;2A", KEY_PREVIEW_UP },
		{ "a", KEY_PREVIEW_UP },
		{ "1;2B", KEY_PREVIEW_DOWN },
		{ "b", KEY_PREVIEW_DOWN },
	};

	for (size_t i = 0; i < COUNT(known); i++)
		if (str_eq(s, str_of(known[i].sequence)))
			return known[i].key;
	return KEY_NOTHING;
}

/* "ESC [", parameters, intermediates, one final byte; anything else in it ends it. */
static bool next_csi(struct keys *k, bool idle, struct key *out)
{
	const unsigned char *held = (const unsigned char *)k->held;
	size_t end = 2;
	struct str inside;

	while (end < k->n && held[end] >= 0x20 && held[end] < 0x40)
		end++;
	if (end == k->n)
		return idle || end > SEQUENCE ? take(k, end, KEY_NOTHING, out) : false;
	if (held[end] < 0x40 || held[end] >= DEL) /* a control character, or beyond ASCII */
		return take(k, end, KEY_NOTHING, out);
	end++;
	inside = str_from(k->held + 2, end - 2);
	if (str_eq(inside, STR("200~")))
		k->pasting = true;
	return take(k, end, sequence_key(inside), out);
}

static bool next_escape(struct keys *k, bool idle, struct key *out)
{
	unsigned char second = k->n > 1 ? (unsigned char)k->held[1] : 0;

	if (k->n == 1)
		return idle ? take(k, 1, KEY_LEAVE, out) : false;
	if (second == '[')
		return next_csi(k, idle, out);
	if (second == 'O' && k->n > 2)
		return take(k, 3, sequence_key(str_from(k->held + 2, 1)), out);
	if (second == 'O')
		return idle ? take(k, 2, KEY_NOTHING, out) : false;
	if (second == ESC)
		return take(k, 1, KEY_LEAVE, out);
	if (second == DEL || second == ('H' & 31))
		return take(k, 2, KEY_KILL_WORD, out);
	return take(k, 2, KEY_NOTHING, out); /* Alt and a key */
}

/* ---- Characters ------------------------------------------------------------------- */

static bool next_character(struct keys *k, bool idle, struct key *out)
{
	struct str held = str_from(k->held, size_min(k->n, 4));
	unsigned char lead = (unsigned char)held.p[0];
	size_t at = 0, length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
	int32_t c = utf8_next(held, &at);

	if (c == UTF8_BAD && at == k->n && k->n < length && !idle)
		return false;
	return take(k, at, c == UTF8_BAD || (c >= 0x80 && c < 0xA0) ? KEY_NOTHING : KEY_TEXT, out);
}

/* Until "ESC [ 201 ~". Blanks stay blanks, other control characters are left out. */
static bool next_pasted(struct keys *k, bool idle, struct key *out)
{
	struct str held = str_from(k->held, k->n), end = STR("\033[201~");
	unsigned char c = (unsigned char)k->held[0];

	if (str_has_prefix(held, end)) {
		k->pasting = false;
		return take(k, end.n, KEY_NOTHING, out);
	}
	if (k->n < end.n && str_has_prefix(end, held) && !idle)
		return false;
	if (c == '\n' || c == '\r' || c == '\t')
		k->held[0] = ' ';
	else if (c < 0x20 || c == DEL)
		return take(k, 1, KEY_NOTHING, out);
	return next_character(k, idle, out);
}

bool keys_next(struct keys *k, bool idle, struct key *out)
{
	unsigned char c = (unsigned char)k->held[0];

	if (k->n == 0)
		return false;
	if (k->pasting)
		return next_pasted(k, idle, out);
	if (c == ESC)
		return next_escape(k, idle, out);
	if (c < 0x20 || c == DEL)
		return take(k, 1, control_key(c), out);
	return next_character(k, idle, out);
}
