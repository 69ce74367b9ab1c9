/*
 * The JSON writer.
 *
 * Two facts keep its state small. Whether a comma is due depends only on the
 * innermost container: a new one is empty, and the one around a container that
 * was closed is not. So one flag does for all levels, and only object-or-array
 * has to be remembered for each: a bit, in an array as long as the deepest
 * nesting that is ever read (LIMIT_JSON_DEPTH). Deeper values exist only as raw
 * spans, which count as one value here.
 *
 * Invariants: `keyed` only inside an object; `finished` only at depth 0; after
 * `misused` nothing is written any more.
 */
#include "base/json_write.h"

#include "base/json_scan.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_write_init(struct json_writer *w, struct buf *out, unsigned indent)
{
	*w = (struct json_writer){ .out = out, .indent = indent, .empty = true };
}

static bool in_object(const struct json_writer *w)
{
	uint32_t level = w->depth - 1;

	return w->depth && (w->objects[level / 64] >> (level % 64) & 1);
}

static bool misuse(struct json_writer *w)
{
	w->misused = true;
	return false;
}

static void new_line(struct json_writer *w)
{
	size_t n = (size_t)w->depth * w->indent;
	char *to;

	if (!w->indent)
		return;
	buf_byte(w->out, '\n');
	to = buf_reserve(w->out, n);
	if (!to)
		return;
	memset(to, ' ', n);
	buf_grew(w->out, n);
}

/* Comma and new line in front of a key, or of a value in an array. */
static void separate(struct json_writer *w)
{
	if (!w->empty)
		buf_byte(w->out, ',');
	if (w->depth)
		new_line(w);
	w->empty = false;
}

/* Whether a value may stand here; writes what belongs in front of it. */
static bool value_begins(struct json_writer *w)
{
	if (w->misused || w->finished || (in_object(w) && !w->keyed))
		return misuse(w);
	if (!w->keyed)
		separate(w);
	w->keyed = false;
	return true;
}

static void value_ends(struct json_writer *w)
{
	w->empty = false;
	w->finished = w->depth == 0;
}

static void begin(struct json_writer *w, bool object)
{
	uint64_t bit = (uint64_t)1 << (w->depth % 64);

	if (w->depth == LIMIT_JSON_DEPTH) {
		misuse(w);
		return;
	}
	if (!value_begins(w))
		return;
	buf_byte(w->out, object ? '{' : '[');
	if (object)
		w->objects[w->depth / 64] |= bit;
	else
		w->objects[w->depth / 64] &= ~bit;
	w->depth++;
	w->empty = true;
}

static void end(struct json_writer *w, bool object)
{
	if (w->misused || !w->depth || in_object(w) != object || w->keyed) {
		misuse(w);
		return;
	}
	w->depth--;
	if (!w->empty)
		new_line(w);
	buf_byte(w->out, object ? '}' : ']');
	value_ends(w);
}

void json_write_object_begin(struct json_writer *w)
{
	begin(w, true);
}

void json_write_object_end(struct json_writer *w)
{
	end(w, true);
}

void json_write_array_begin(struct json_writer *w)
{
	begin(w, false);
}

void json_write_array_end(struct json_writer *w)
{
	end(w, false);
}

static void put_escape(struct buf *out, char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[128] = {
		['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
	};
	unsigned u = (unsigned char)c & 0x7F;
	char text[] = { '\\', letters[u], '0', '0', hex[u >> 4], hex[u & 15] };

	if (letters[u]) {
		buf_add(out, text, 2);
	} else {
		text[1] = 'u';
		buf_add(out, text, sizeof text);
	}
}

static void put_string(struct buf *out, struct str s)
{
	const char *p = s.p ? s.p : "", *last = p + s.n;

	buf_byte(out, '"');
	while (p < last) {
		const char *run = p;
		size_t n;

		/* Good characters outside ASCII belong to the run. */
		while ((p = json_scan(p, last)) < last && (signed char)*p < 0 &&
		       (n = json_utf8_length(p, last)))
			p += n;
		buf_add(out, run, (size_t)(p - run));
		if (p == last)
			break;
		if ((signed char)*p >= 0) {
			put_escape(out, *p++);
		} else {
			n = 0;
			utf8_next(str_from(p, (size_t)(last - p)), &n);
			p += n;
			buf_text(out, "\xEF\xBF\xBD");
		}
	}
	buf_byte(out, '"');
}

void json_write_key(struct json_writer *w, struct str key)
{
	if (w->misused || !in_object(w) || w->keyed) {
		misuse(w);
		return;
	}
	separate(w);
	put_string(w->out, key);
	buf_text(w->out, w->indent ? ": " : ":");
	w->keyed = true;
}

void json_write_string(struct json_writer *w, struct str value)
{
	if (!value_begins(w))
		return;
	put_string(w->out, value);
	value_ends(w);
}

void json_write_raw(struct json_writer *w, struct str value)
{
	if (!value.n) {
		misuse(w);
		return;
	}
	if (!value_begins(w))
		return;
	buf_str(w->out, value);
	value_ends(w);
}

void json_copy(struct json_writer *w, const struct json *j, uint32_t node)
{
	json_write_raw(w, json_raw(j, node));
}

void json_copy_valid(struct json_writer *w, const struct json *j, uint32_t node)
{
	if (!(j->flags & JSON_BAD_UTF8) || node == JSON_NONE) {
		json_copy(w, j, node);
		return;
	}
	if (!value_begins(w))
		return;
	utf8_repair(w->out, json_raw(j, node));
	value_ends(w);
}

/* Answers are full of numbers, and a format costs ten times as much. */
void json_write_i64(struct json_writer *w, int64_t value)
{
	char text[20]; /* the smallest has 19 digits and a sign */
	size_t at = sizeof text;
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	if (!value_begins(w))
		return;
	do
		text[--at] = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		text[--at] = '-';
	buf_str(w->out, (struct str){ text + at, sizeof text - at });
	value_ends(w);
}

/* The C library prints and reads numbers as the locale has them, which is the process's own and may
 * have "1,5", or another sign of any number of bytes. */
static void use_point(char *text)
{
	char *sign = text + strspn(text, "-0123456789");
	size_t n = strcspn(sign, "0123456789");

	if (n == 0 || *sign == 'e')
		return;
	*sign = '.';
	memmove(sign + 1, sign + n, strlen(sign + n) + 1);
}

void json_write_real(struct json_writer *w, double value)
{
	char text[40];
	double back;

	if (!isfinite(value)) {
		json_write_string(w, value < 0 ? STR("-Infinity") : STR("Infinity"));
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text - 2, "%.*g", digits, value); /* lint: allow, see use_point() */
		back = strtod(text, NULL); /* lint: allow, the same locale */
		if (!(back < value) && !(back > value))
			break;
	}
	use_point(text);
	if (!strpbrk(text, ".e"))
		memcpy(text + strlen(text), ".0", 3);
	json_write_raw(w, str_of(text));
}

void json_write_bool(struct json_writer *w, bool value)
{
	json_write_raw(w, value ? STR("true") : STR("false"));
}

void json_write_null(struct json_writer *w)
{
	json_write_raw(w, STR("null"));
}

enum status json_write_done(const struct json_writer *w, struct err *e)
{
	if (w->misused || !w->finished)
		return err_fail(e, STATUS_INTERNAL, "JSON writer: %s at depth %" PRIu32,
				w->misused ? "value or end in the wrong place" : "value not finished",
				w->depth);
	if (w->out->failed)
		return err_fail(e, STATUS_LIMIT, "JSON longer than %zu bytes", w->out->max);
	return STATUS_OK;
}
