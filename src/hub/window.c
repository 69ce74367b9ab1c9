/*
 * Cutting texts for results. A part never ends inside of a character, so whoever asks for the
 * next one, from where this one ends, gets every character once.
 */
#include "hub/window.h"

#include "base/utf8.h"

enum { LONGEST = 4 }; /* bytes of a character */

struct str window_trim(struct str range, bool front, bool back)
{
	size_t begin = 0, good;

	while (front && begin < LONGEST - 1 && begin < range.n &&
	       ((unsigned char)range.p[begin] & 0xc0) == 0x80)
		begin++;
	range = str_sub(range, begin, SIZE_MAX);
	good = back ? utf8_valid_prefix(range) : range.n;
	if (range.n - good < LONGEST)
		range.n = good;
	return range;
}

void put_window_size(struct json_writer *w, size_t all, size_t given, struct window *window)
{
	put_int(w, "bytes", (int64_t)all);
	window->left -= size_min(given, window->left);
	if (given == all)
		return;
	put_bool(w, "truncated", true);
	window->cut = true;
}

void put_window(struct json_writer *w, const char *key, struct str text, struct window *window)
{
	struct str range = str_sub(text, window->from, window->left);
	struct str part = window_trim(range, window->from > 0, window->from + range.n < text.n);

	put_text(w, key, part);
	put_window_size(w, text.n, part.n, window);
}
