/*
 * Measuring and cutting. Widths are those of single code points: a terminal that
 * joins several into one glyph shows less than is counted here, never more.
 */
#include "face/text.h"

#include "base/utf8.h"

#include <stdio.h>
#include <time.h>

static int next_width(struct str text, size_t *at)
{
	int32_t c = utf8_next(text, at);

	return c == UTF8_BAD ? 1 : utf8_width((uint32_t)c);
}

int text_width(struct str text)
{
	int width = 0;

	for (size_t at = 0; at < text.n;)
		width += next_width(text, &at);
	return width;
}

struct str text_start(struct str text, int columns)
{
	size_t at = 0, end = 0;
	int width = 0;

	while (at < text.n) {
		width += next_width(text, &at);
		if (width > columns)
			break;
		end = at;
	}
	return str_sub(text, 0, end);
}

struct str text_end(struct str text, int columns)
{
	size_t at = 0;
	int width = text_width(text);

	while (width > columns && at < text.n)
		width -= next_width(text, &at);
	return str_sub(text, at, SIZE_MAX);
}

/* A path that is wider: its last folders, else the name alone, of which both ends are told. */
static void cut_path(struct buf *out, struct str path, int columns)
{
	struct str end = text_end(path, columns - 1), name = str_basename(path);
	size_t slash = str_find(end, '/');
	int front = (columns - 1) / 3;

	if (slash == SIZE_MAX) {
		if (text_width(name) > columns) {
			buf_str(out, text_start(name, front));
			buf_text(out, "…");
			name = text_end(name, columns - 1 - front);
		}
		buf_str(out, name);
		return;
	}
	buf_text(out, "…");
	buf_str(out, str_sub(end, slash, SIZE_MAX));
}

void text_cut(struct buf *out, struct str text, int columns, bool is_path)
{
	if (text_width(text) <= columns) {
		buf_str(out, text);
	} else if (columns > 0 && is_path) {
		cut_path(out, text, columns);
	} else if (columns > 0) {
		buf_str(out, text_start(text, columns - 1));
		buf_text(out, "…");
	}
}

static bool is_telling(struct str name)
{
	bool has_letter = false;

	for (size_t i = 0; i < name.n; i++)
		has_letter |= (name.p[i] | 0x20) >= 'a' && (name.p[i] | 0x20) <= 'z';
	return name.n > 2 && (has_letter || (unsigned char)name.p[0] >= 0x80);
}

struct str text_last_folders(struct str path)
{
	struct str name = str_basename(path), above = path;

	while (!is_telling(name) && name.n + 1 < above.n) {
		above.n -= name.n + 1;
		name = str_basename(above);
	}
	return is_telling(name) ? str_sub(path, (size_t)(name.p - path.p), SIZE_MAX) : path;
}

/* Whether another path ends with these folders, too. */
static bool is_shared(struct str end, struct str path, const struct str *others, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct str o = others[i];

		if (!str_eq(o, path) && str_has_suffix(o, end) && (o.n == end.n || o.p[o.n - end.n - 1] == '/'))
			return true;
	}
	return false;
}

struct str text_distinct_folders(struct str path, const struct str *others, size_t count)
{
	struct str end = text_last_folders(path);

	while (end.n < path.n && is_shared(end, path, others, count)) {
		struct str above = str_sub(path, 0, path.n - end.n - 1);
		size_t more = str_basename(above).n;

		end = more ? str_sub(path, above.n - more, SIZE_MAX) : path;
	}
	return end;
}

/* Nothing inside single quotes means anything, but they themselves. */
static struct str without_last_blanks(struct str s)
{
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

bool text_wrap(struct str *text, int columns, struct str *line)
{
	size_t at = 0, blank = 0, fits = 0;
	bool is_indent = true, is_over = false;
	int width = 0;

	if (text->n == 0)
		return false;
	while (at < text->n && text->p[at] != '\n' && !is_over) {
		bool is_blank = text->p[at] == ' ';

		if (is_blank && !is_indent)
			blank = at;
		is_indent = is_indent && is_blank;
		width += next_width(*text, &at);
		/* Blanks may hang over the edge, where nobody sees them. */
		is_over = columns && width > columns && !is_blank;
		fits = is_over ? fits : at;
	}
	if (!is_over) {
		*line = str_sub(*text, 0, at);
		*text = str_sub(*text, at + 1, SIZE_MAX);
	} else {
		/* At the last blank, else inside the word, but always by something. */
		size_t end = blank ? blank : fits ? fits : at;

		*line = str_sub(*text, 0, end);
		*text = str_sub(*text, end + (end == blank), SIZE_MAX);
	}
	if (columns && width > columns)
		*line = without_last_blanks(*line);
	return true;
}

void text_expand(struct buf *out, struct str text)
{
	int column = 0;

	for (size_t at = 0; at < text.n;) {
		size_t from = at;
		int width = next_width(text, &at);

		if (text.p[from] == '\t') {
			do
				buf_byte(out, ' ');
			while (++column % 8);
			continue;
		}
		column = text.p[from] == '\n' ? 0 : column + width;
		buf_str(out, str_sub(text, from, at - from));
	}
}

const char *size_text(int64_t bytes, char out[SIZE_TEXT])
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
	double v = (double)bytes / 1000;
	size_t unit = 0;

	if (bytes < 1000) {
		snprintf(out, SIZE_TEXT, "%" PRId64 " B", bytes);
		return out;
	}
	for (; v >= 999.95 && unit + 1 < COUNT(units); unit++)
		v /= 1000;
	snprintf(out, SIZE_TEXT, "%.1f %s", v, units[unit]);
	return out;
}

/* False when there is no such time. */
static bool local_parts(int64_t ms, struct tm *out)
{
	time_t seconds = (time_t)(ms / 1000 - (ms % 1000 < 0));

	return localtime_r(&seconds, out) != NULL;
}

const char *local_time_text(int64_t ms, char out[LOCAL_TEXT])
{
	struct tm parts;

	if (!local_parts(ms, &parts) || !strftime(out, LOCAL_TEXT, "%Y-%m-%d %H:%M", &parts))
		snprintf(out, LOCAL_TEXT, "?");
	return out;
}

const char *clock_text(int64_t ms, char out[LOCAL_TEXT])
{
	struct tm parts;

	if (!local_parts(ms, &parts) || !strftime(out, LOCAL_TEXT, "%H:%M:%S", &parts))
		snprintf(out, LOCAL_TEXT, "?");
	return out;
}

const char *short_time_text(int64_t ms, int64_t now_ms, char out[LOCAL_TEXT])
{
	const int64_t half_a_year = (int64_t)183 * 24 * 3600 * 1000;
	int64_t age = now_ms - ms;
	bool is_near = age > -half_a_year && age < half_a_year;
	struct tm parts;

	if (!local_parts(ms, &parts) || !(is_near ? strftime(out, LOCAL_TEXT, "%b %e %H:%M", &parts)
						  : strftime(out, LOCAL_TEXT, "%b %e  %Y", &parts)))
		snprintf(out, LOCAL_TEXT, "?");
	return out;
}

const char *age_text(int64_t ms, int64_t now_ms, char out[LOCAL_TEXT])
{
	static const struct {
		int64_t seconds, below; /* of one; so many of these are told by it */
		const char *name;
	} units[] = { { 60, 60, "m" },	       { 3600, 24, "h" },	 { 86400, 14, "d" },
		      { 7 * 86400, 9, "w" },   { 30 * 86400, 12, "mo" }, { 365 * 86400, 1000, "y" } };
	int64_t seconds = (now_ms - ms) / 1000;

	if (seconds < 60)
		return "now";
	for (size_t i = 0; i < COUNT(units); i++)
		if (seconds / units[i].seconds < units[i].below) {
			int64_t n = seconds / units[i].seconds;

			snprintf(out, LOCAL_TEXT, "%" PRId64 "%s", n ? n : 1, units[i].name);
			return out;
		}
	return "old";
}
