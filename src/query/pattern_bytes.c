/*
 * Characters for a matcher of bytes.
 *
 * To the matcher each byte is a character; one that knows better is many times slower. So a pattern is
 * written in bytes here: what stands for any character, as '.' and [^x] do, becomes a choice between a byte
 * of ASCII and a whole character of several; a letter outside of ASCII a group, with its other cases; and a
 * set of such letters the sequences of bytes that they are.
 *
 * Repeated without end, any characters are any bytes: .* and [^x]* stay as they are. All else here is whole
 * characters, so nothing that follows can begin inside of one. What people write most is as fast as ever that
 * way.
 *
 * What comes in is of pattern_translate(): a backslash within brackets is one.
 */
#include "query/pattern.h"

#include "base/fold.h"
#include "base/limits.h"
#include "base/utf8.h"

#include <string.h>

#define OTHERS	  "[\xc2-\xf4][\x80-\xbf]+" /* a character outside of ASCII */
#define NO_OTHERS "\x80-\xff"		    /* its bytes */

enum { FIRST = 0x80, LAST = 0x10ffff, LAST_CASED = 0x1e943 };

/* Of characters outside of ASCII. */
struct set {
	uint64_t bits[LAST / 64 + 1];
};

struct writing {
	const char *at;
	bool any_case;
	struct set *set; /* of the brackets in hand; made when there is a use for it */
	struct buf *out;
};

/* ---- Sets of characters --------------------------------------------------------- */

static void set_put(struct set *s, uint32_t c)
{
	s->bits[c / 64] |= UINT64_C(1) << c % 64;
}

/* The first from `c` on that is in it, or is not; behind LAST = there is none. */
static uint32_t set_next(const struct set *s, uint32_t c, bool in)
{
	while (c <= LAST) {
		uint64_t rest = (in ? s->bits[c / 64] : ~s->bits[c / 64]) >> c % 64;

		if (rest)
			return c + (uint32_t)__builtin_ctzll(rest);
		c = (c | 63) + 1;
	}
	return LAST + 1;
}

static void set_put_cases(struct set *s)
{
	for (uint32_t c = FIRST; (c = set_next(s, c, true)) <= LAST_CASED; c++) {
		uint32_t cases[FOLD_CASES];
		size_t n = fold_cases(c, cases);

		for (size_t i = 0; i < n; i++)
			set_put(s, cases[i]);
	}
}

/* Another choice of the group that was begun. */
static void write_or(struct buf *out)
{
	if (out->n && out->p[out->n - 1] != '(')
		buf_byte(out, '|');
}

/* Characters that have as many bytes, of which each goes through all from its first to its last. */
static void write_bytes(struct buf *out, uint32_t first, uint32_t last)
{
	char from[4], to[4];
	size_t n = utf8_encode(first, from);

	utf8_encode(last, to);
	write_or(out);
	for (size_t i = 0; i < n; i++)
		if (from[i] == to[i])
			buf_byte(out, from[i]);
		else
			buf_printf(out, "[%c-%c]", from[i], to[i]);
}

/* Divided until that is so of each part. */
static void write_range(struct buf *out, uint32_t first, uint32_t last)
{
	static const uint32_t lengths[] = { 0x7ff, 0xffff };
	uint32_t cut = last;

	for (size_t i = COUNT(lengths); i-- > 0;)
		if (first <= lengths[i] && last > lengths[i])
			cut = lengths[i];
	for (uint32_t low = 0x3f; cut == last && low < LAST; low = low << 6 | 0x3f) {
		if ((first & ~low) == (last & ~low))
			continue;
		if (first & low)
			cut = first | low;
		else if ((last & low) != low)
			cut = (last & ~low) - 1;
	}
	if (cut == last) {
		write_bytes(out, first, last);
		return;
	}
	write_range(out, first, cut);
	write_range(out, cut + 1, last);
}

/* ---- Any character of very many --------------------------------------------------- */

/* What means them is `typed`; `ascii` those of them that are one byte. */
static void write_any(struct writing *w, struct str typed, struct str ascii)
{
	bool more = *w->at == '+';

	if (*w->at == '*') {
		buf_str(w->out, typed);
		return;
	}
	buf_text(w->out, more ? "((" : "(");
	buf_str(w->out, ascii);
	buf_text(w->out, "|" OTHERS ")");
	if (!more)
		return;
	buf_str(w->out, typed);
	buf_text(w->out, "*)");
	w->at++;
}

/* ---- Brackets --------------------------------------------------------------------- */

struct brackets {
	struct buf ascii; /* what stands in them, without the others */
	bool negated;
	bool dash, caret; /* are in it, too; they mean themselves only in some places */
	bool others;	  /* the set has some */
};

static int32_t next_character(struct writing *w)
{
	size_t n = 0;
	int32_t c = utf8_next(str_of(w->at), &n);

	w->at += n;
	return c;
}

static void put_ascii(struct brackets *b, uint32_t first, uint32_t last)
{
	if (first == '-' && last == '-') {
		b->dash = true;
		return;
	}
	if (first == '^' && !b->negated && !b->ascii.n) {
		b->caret = true;
		first++;
	}
	if (first <= last)
		buf_byte(&b->ascii, (char)first);
	if (first < last)
		buf_printf(&b->ascii, "-%c", (char)last);
}

static void put_others(struct writing *w, struct brackets *b, uint32_t first, uint32_t last)
{
	if (!w->set)
		w->set = mem_resize(NULL, sizeof *w->set);
	if (!b->others)
		*w->set = (struct set){ 0 };
	b->others = true;
	for (uint32_t c = first; c <= last; c++)
		set_put(w->set, c);
}

/* A class, a character or a range of them. */
static const char *read_item(struct writing *w, struct brackets *b)
{
	size_t n = pattern_class_length(w->at);
	int32_t first, last;

	if (n) {
		buf_add(&b->ascii, w->at, n);
		w->at += n;
		return NULL;
	}
	first = last = next_character(w);
	if (w->at[0] == '-' && w->at[1] && w->at[1] != ']') {
		w->at++;
		last = next_character(w);
	}
	if (first == UTF8_BAD || last == UTF8_BAD)
		return "what stands within brackets has to be UTF-8";
	if (first > last)
		return "a range within brackets ends before it begins";
	if (first < FIRST)
		put_ascii(b, (uint32_t)first, last < FIRST ? (uint32_t)last : FIRST - 1);
	if (last >= FIRST)
		put_others(w, b, first < FIRST ? FIRST : (uint32_t)first, (uint32_t)last);
	return NULL;
}

static void write_ascii(const struct brackets *b, struct buf *out)
{
	if (!b->negated && !b->ascii.n && !b->dash) {
		buf_text(out, b->caret ? "\\^" : "");
		return;
	}
	buf_text(out, b->negated ? "[^" : b->ascii.n ? "[" : "[-");
	buf_str(out, buf_as_str(&b->ascii));
	buf_text(out, b->negated ? NO_OTHERS : "");
	buf_text(out, b->caret ? "^" : "");
	buf_text(out, b->dash && (b->negated || b->ascii.n) ? "-]" : "]");
}

static void write_brackets(struct writing *w, struct brackets *b, struct str typed)
{
	struct buf ascii CLEANUP(buf_release) = BUF_INIT(KIB * 16);

	if (!b->others && !b->negated) {
		buf_str(w->out, typed);
		return;
	}
	write_ascii(b, &ascii);
	if (!b->others || !w->set) { /* no others, no set */
		write_any(w, typed, buf_as_str(&ascii));
		return;
	}
	if (w->any_case)
		set_put_cases(w->set);
	buf_byte(w->out, '(');
	buf_str(w->out, buf_as_str(&ascii));
	for (uint32_t c = FIRST, end; (c = set_next(w->set, c, !b->negated)) <= LAST; c = end) {
		end = set_next(w->set, c, b->negated);
		write_range(w->out, c, end - 1);
	}
	buf_byte(w->out, ')');
}

static const char *take_brackets(struct writing *w)
{
	struct brackets b = { .ascii = BUF_INIT(KIB * 16) };
	const char *from = w->at++, *begin, *why = NULL;

	b.negated = *w->at == '^';
	w->at += b.negated;
	begin = w->at;
	while (*w->at && (*w->at != ']' || w->at == begin) && !why)
		why = read_item(w, &b);
	if (!why && *w->at) {
		w->at++;
		write_brackets(w, &b, str_from(from, (size_t)(w->at - from)));
	} else if (!why) {
		buf_text(w->out, from); /* the matcher says what is wrong with it */
	}
	buf_release(&b.ascii);
	return why;
}

/* ---- All else --------------------------------------------------------------------- */

/* Texts have no broken ones, so that these are found nowhere. */
static void take_letter(struct writing *w)
{
	const char *from = w->at;
	int32_t c = next_character(w);
	uint32_t cases[FOLD_CASES] = { (uint32_t)c };
	size_t n = 1;

	if (c == UTF8_BAD) {
		buf_add(w->out, from, (size_t)(w->at - from));
		return;
	}
	if (w->any_case)
		n = fold_cases((uint32_t)c, cases);
	buf_byte(w->out, '(');
	for (size_t i = 0; i < n; i++)
		write_bytes(w->out, cases[i], cases[i]);
	buf_byte(w->out, ')');
}

static void take_escaped(struct writing *w)
{
	char c = *++w->at;

	w->at += c && !(c & 0x80);
	if (c == 'S')
		write_any(w, STR("\\S"), STR("[^[:space:]" NO_OTHERS "]"));
	else if (c == 'W')
		write_any(w, STR("\\W"), STR("[^[:alnum:]_" NO_OTHERS "]"));
	else if (c & 0x80)
		take_letter(w);
	else
		buf_add(w->out, (const char[]){ '\\', c }, c ? 2 : 1);
}

const char *pattern_in_bytes(const char *posix, bool any_case, struct buf *out)
{
	struct writing w = { .at = posix, .any_case = any_case, .out = out };
	const char *why = NULL;

	while (*w.at && !why) {
		if (*w.at == '[') {
			why = take_brackets(&w);
		} else if (*w.at == '\\') {
			take_escaped(&w);
		} else if (*w.at == '.') {
			w.at++;
			write_any(&w, STR("."), STR("[^" NO_OTHERS "]"));
		} else if (*w.at & 0x80) {
			take_letter(&w);
		} else {
			buf_byte(out, *w.at++);
		}
	}
	mem_free(w.set);
	return why ? why : out->failed ? "it is too long" : NULL;
}
