/*
 * From the bytes a terminal sends to the keys that were pressed.
 */
#ifndef ARBOR_FACE_KEYS_H
#define ARBOR_FACE_KEYS_H

#include "base/str.h"

enum key_kind {
	KEY_NOTHING, /* bytes that mean nothing here */
	KEY_TEXT,    /* a character */
	KEY_TAKE,
	KEY_LEAVE,
	KEY_UP,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_FIRST,
	KEY_LAST,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_LINE_START,
	KEY_LINE_END,
	KEY_BACKSPACE,
	KEY_DELETE,
	KEY_KILL_LINE,
	KEY_KILL_WORD,
	KEY_PREVIEW,
	KEY_PREVIEW_UP,
	KEY_PREVIEW_DOWN,
	KEY_REDRAW,
	KEY_SUSPEND,
	KEY_KINDS
};

struct key {
	enum key_kind kind;
	char text[4]; /* KEY_TEXT: one character */
	size_t n;
};

enum { KEYS_HELD = 4096 };

struct keys {
	char held[KEYS_HELD]; /* not decoded yet */
	size_t n;
	bool pasting; /* what comes was pasted and acts on nothing */
};

/* Where up to *room bytes can be put; keys_grew() says how many were. */
char *keys_reserve(struct keys *k, size_t *room);
void keys_grew(struct keys *k, size_t by);

/* Takes the next key; false when there is none, or only the beginning of one. With `idle` nothing
 * has followed for a while, so that a beginning is all there is: ESC alone is the key Esc. */
bool keys_next(struct keys *k, bool idle, struct key *out);

/* Whether the beginning of a key waits for its rest. */
bool keys_wait(const struct keys *k);

#endif
