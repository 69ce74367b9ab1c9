/*
 * Marked text. Filtering changes lengths, so a text is filtered piece by piece between the edges
 * of its marks, and the marks are kept for what came out.
 *
 * A snippet has the words of its text in their order, with other blanks between them. It is found
 * again by comparing everything but blanks, from each place where its first byte stands.
 */
#include "face/marked.h"

#include <string.h>

void marks_read(const struct json *j, uint32_t list, struct str raw, struct marks *out)
{
	size_t done = 0;

	out->count = 0;
	for (uint32_t i = json_first(j, list); i != json_end(j, list) && out->count < MARKS_MOST;
	     i = json_next(j, i)) {
		int64_t start = -1, length = 0;

		if (!json_to_i64(j, json_get(j, i, STR("start")), &start) ||
		    !json_to_i64(j, json_get(j, i, STR("length")), &length) || start < (int64_t)done ||
		    length <= 0 || start > (int64_t)raw.n || length > (int64_t)raw.n - start)
			continue; /* nothing that a search gives */
		done = (size_t)(start + length);
		out->list[out->count++] = (struct mark){ (size_t)start, done };
	}
}

/* ---- Finding ---------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static size_t skip_blanks(struct str s, size_t at)
{
	while (at < s.n && is_blank(s.p[at]))
		at++;
	return at;
}

/* Whether the part from..end of the snippet stands at `at`; *marks then are where its marks are. */
static bool stands_at(struct str text, size_t at, struct str snippet, size_t from, size_t end,
		      const struct marks *of, struct marks *out)
{
	size_t next = 0;
	bool inside = false;

	out->count = 0;
	for (; from < end; from++) {
		const struct mark *mark = next < of->count ? &of->list[next] : NULL;

		if (is_blank(snippet.p[from]))
			continue;
		at = skip_blanks(text, at);
		if (at == text.n || text.p[at] != snippet.p[from])
			return false;
		if (mark && from >= mark->start && !inside) {
			out->list[out->count].start = at;
			inside = true;
		}
		at++;
		if (inside && from + 1 >= mark->end) {
			out->list[out->count++].end = at;
			inside = false;
			next++;
		}
	}
	return true;
}

bool marks_find(struct str text, struct str snippet, const struct marks *of, struct marks *out)
{
	struct str dots = STR("…");
	size_t from = str_has_prefix(snippet, dots) ? dots.n : 0;
	size_t end = str_has_suffix(snippet, dots) && snippet.n > dots.n ? snippet.n - dots.n : snippet.n;
	const char *first;

	from = skip_blanks(snippet, from);
	if (from >= end)
		return false;
	for (size_t at = 0; at < text.n; at++) {
		first = memchr(text.p + at, snippet.p[from], text.n - at);
		if (!first)
			return false;
		at = (size_t)(first - text.p);
		if (stands_at(text, at, snippet, from, end, of, out))
			return true;
	}
	return false;
}

/* ---- Filtering -------------------------------------------------------------------- */

static void add_blank(struct buf *out, char blank, enum term_mode mode)
{
	if (mode == TERM_TEXT)
		buf_text(out, blank == '\n' ? "\n" : blank == '\t' ? "    " : blank == ' ' ? " " : "");
	else if (out->n && out->p[out->n - 1] != ' ')
		buf_byte(out, ' ');
}

static void add_piece(struct buf *out, struct str raw, enum term_mode mode)
{
	size_t from = 0;

	for (size_t i = 0; i <= raw.n; i++) {
		if (i < raw.n && !is_blank(raw.p[i]))
			continue;
		term_filter(out, str_sub(raw, from, i - from), TERM_LINE);
		from = i + 1;
		if (i < raw.n)
			add_blank(out, raw.p[i], mode);
	}
}

struct marked marked_filter(struct arena *mem, struct str raw, const struct marks *marks, enum term_mode mode)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	struct marked m = { 0 };
	size_t done = 0;

	for (size_t i = 0; marks && i < marks->count; i++) {
		struct mark raw_mark = marks->list[i];

		add_piece(&text, str_sub(raw, done, raw_mark.start - done), mode);
		m.marks.list[i].start = text.n;
		add_piece(&text, str_sub(raw, raw_mark.start, raw_mark.end - raw_mark.start), mode);
		m.marks.list[i].end = text.n;
		m.marks.count = i + 1;
		done = raw_mark.end;
	}
	add_piece(&text, str_sub(raw, done, SIZE_MAX), mode);
	m.text = arena_str(mem, buf_as_str(&text));
	return m;
}

/* ---- Writing ---------------------------------------------------------------------- */

void marked_write(const struct marked *m, size_t from, size_t end, struct pen *p, enum style style)
{
	for (size_t i = 0; i < m->marks.count && from < end; i++) {
		size_t start = size_max(m->marks.list[i].start, from),
		       stop = size_min(m->marks.list[i].end, end);

		if (start >= stop)
			continue;
		pen_text(p, style, str_sub(m->text, from, start - from));
		pen_text(p, STYLE_MARK, str_sub(m->text, start, stop - start));
		from = stop;
	}
	if (from < end)
		pen_text(p, style, str_sub(m->text, from, end - from));
}
