/*
 * Patterns, and letters as they are.
 *
 * The index narrows, this decides. Of a pattern those words go to the index that every
 * match must have: runs of plain characters outside of groups and choices. Where such a run
 * begins or ends, the word in the text may go on, so the first word of a run counts only behind
 * a known boundary, and the last one as a beginning.
 *
 * What somebody types must not hold the program up. The C library's matcher takes time that
 * grows with the square of a line and memory that grows with every state it meets. So lines
 * are looked at in pieces of some KB, the pattern is compiled anew before its states are many,
 * there is a deadline, and what makes it exponential is refused: references back, and counts
 * inside counts. Pieces that lack what every match has are passed over, and no text takes more
 * than a share of the time that is left, so that one of a megabyte hides no others.
 *
 * The matcher knows bytes. Pieces of ASCII are given the pattern as it is; for others it is
 * written anew (query/pattern_bytes.c), and what is broken in them is covered.
 */
#include "query/grep.h"

#include "base/clock.h"
#include "base/fold.h"
#include "base/utf8.h"
#include "base/words.h"
#include "query/expr_match.h"
#include "query/pattern.h"

#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 4096,	     /* of a line */
	OVERLAP = 256,	     /* of pieces: a match across their edge is found up to this length */
	SCANNED = 16 * 1024, /* bytes until it is compiled again */
	LONGEST = 1000,	     /* pattern */
	MOST_COPIES = 1000,  /* that counts make of a part */
	SECONDS = 2,
	SHARES = 10,	 /* of the time that is left: a text has one, */
	LEAST_SHARE = 20 /* and no less, in milliseconds */
};

/* ---- Which patterns ----------------------------------------------------------- */

/* Behind the bracket expression that begins here. */
static const char *skip_brackets(const char *p)
{
	p += p[1] == '^' ? 2 : 1;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		size_t n = pattern_class_length(p); /* it has one of its own */

		p += n ? n : 1;
	}
	return *p ? p + 1 : p;
}

/* The larger number of {2,5}; 1 when it is no count. */
static int64_t count_of(const char *p)
{
	int64_t most = 1, n = 0;

	for (p++; *p && *p != '}'; p++) {
		if (*p == ',') {
			n = 0;
		} else if (*p >= '0' && *p <= '9') {
			n = n > MOST_COPIES ? n : n * 10 + *p - '0';
			most = n > most ? n : most;
		} else {
			return 1;
		}
	}
	return most;
}

static const char *refuse(const char *pattern)
{
	int64_t copies = 1;

	if (strlen(pattern) > LONGEST)
		return "it is too long";
	for (const char *p = pattern; *p; p++) {
		if (*p == '[') {
			p = skip_brackets(p) - 1;
		} else if (*p == '{') {
			copies *= count_of(p);
			if (copies > MOST_COPIES)
				return "it repeats too much";
		} else if (*p == '\\' && p[1]) {
			p++;
			if (*p >= '1' && *p <= '9')
				return "references back are not possible";
		}
	}
	return NULL;
}

bool grep_has_capitals(const char *pattern)
{
	struct str rest = str_of(pattern);

	if (strstr(pattern, "[:upper:]") || strstr(pattern, "[:lower:]"))
		return true;
	for (size_t at = 0; at < rest.n;) {
		int32_t c = utf8_next(rest, &at);

		if (c != UTF8_BAD && fold_is_capital((uint32_t)c))
			return true;
		/* \W is no letter, nor is \x4F. */
		if (c == '\\')
			at += pattern[at] == 'x' ? 3 : 1;
	}
	return false;
}

enum status grep_refuse(const char *pattern, const char *why, struct err *err)
{
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB);

	utf8_repair(&shown, str_sub(str_of(pattern), 0, 60));
	buf_byte(&shown, '\0');
	return err_fail(err, STATUS_USAGE, "--regex: '%s' cannot be looked for: %s", shown.p, why);
}

/* ---- What every match has ------------------------------------------------------ */

/* Plain characters in the making. */
struct run {
	struct buf *words; /* those of it, as far as they are whole; NULL = not wanted */
	struct grep *g;	   /* the longest so far become what it needs; NULL = not wanted */
	bool any_case;	   /* of what is needed: it has letters of ASCII alone then */
	char text[LONGEST + 1];
	size_t n;
	bool bounded; /* no word goes on in front of it */
	bool ends;    /* nor behind it */
};

static void take_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	const struct run *r = ctx;
	bool last = end == r->n;

	if ((flags & WORD_COLOCATED) || (start == 0 && !r->bounded) || word.n < 2 || word.n > 32)
		return;
	for (size_t i = 0; i < word.n; i++)
		if ((unsigned char)word.p[i] >= 0x80)
			return;
	buf_printf(r->words, " %.*s%s", STR_ARG(word), last && !r->ends ? "*" : "");
}

static void set_needed(struct buf *needed, struct str text)
{
	buf_clear(needed);
	buf_str(needed, text);
}

static void take_needed(struct run *r)
{
	struct buf *needed = &r->g->needed, *also = &r->g->also;

	for (size_t at = 0, end; at < r->n; at = end + 1) {
		for (end = at; end < r->n && !(r->any_case && r->text[end] & 0x80);)
			end++;
		if (end - at > needed->n) {
			set_needed(also, buf_as_str(needed));
			set_needed(needed, str_from(r->text + at, end - at));
		} else if (end - at > also->n) {
			set_needed(also, str_from(r->text + at, end - at));
		}
	}
}

/* So that no word is divided at a capital. False for the few that have another length in small letters. */
static bool lower_run(struct run *r)
{
	for (size_t at = 0, from = 0; at < r->n; from = at) {
		int32_t c = utf8_next(str_from(r->text, r->n), &at);
		char small[4];

		if (c == UTF8_BAD)
			continue;
		if (utf8_encode(fold_case((uint32_t)c), small) != at - from)
			return false;
		memcpy(r->text + from, small, at - from);
	}
	return true;
}

static void end_run(struct run *r, bool boundary)
{
	r->ends = boundary;
	if (r->g)
		take_needed(r);
	if (r->words && lower_run(r))
		words_split(str_from(r->text, r->n), take_word, r);
	r->n = 0;
	r->bounded = boundary;
}

static void add_char(struct run *r, char c)
{
	if (r->n < LONGEST)
		r->text[r->n++] = c;
}

/* The last character, all its bytes. */
static void drop_char(struct run *r)
{
	while (r->n > 0 && (r->text[r->n - 1] & 0xc0) == 0x80)
		r->n--;
	r->n -= r->n > 0;
}

/* Behind the group that begins here. */
static const char *skip_group(const char *p)
{
	int depth = 0;

	while (*p) {
		if (*p == '[') {
			p = skip_brackets(p);
			continue;
		}
		if (*p == '\\' && p[1])
			p++;
		else
			depth += (*p == '(') - (*p == ')');
		p++;
		if (!depth)
			break;
	}
	return p;
}

static bool has_choice(const char *p)
{
	while (*p) {
		if (*p == '|')
			return true;
		if (*p == '[') {
			p = skip_brackets(p);
			continue;
		}
		p += *p == '\\' && p[1] ? 2 : 1;
	}
	return false;
}

/* What a backslash makes of the next character. */
static void take_escaped(struct run *r, char c)
{
	if (!is_ascii_alnum(c) && c != '<' && c != '>' && c != '`' && c != '\'')
		add_char(r, c);
	else
		end_run(r, c == 'b' || c == 's' || c == 'W' || c == '<' || c == '>' || c == '`' || c == '\'');
}

static bool is_repeat(char c)
{
	return c == '*' || c == '?' || c == '{' || c == '+';
}

/* Behind how often something may stand there. What it is may be missing, but for a + that nothing else
 * follows. */
static const char *take_repeat(struct run *r, const char *p)
{
	if (*p != '+' || is_repeat(p[1]))
		drop_char(r);
	end_run(r, false);
	if (*p == '{')
		p += size_min(str_find(str_of(p), '}'), strlen(p) - 1);
	return p + 1;
}

/* Behind what stands there. */
static const char *take_part(struct run *r, const char *p)
{
	if (*p == '[' || *p == '(') {
		end_run(r, false);
		return *p == '[' ? skip_brackets(p) : skip_group(p);
	}
	if (*p == '\\' && p[1]) {
		take_escaped(r, p[1]);
		return p + 2;
	}
	if (is_repeat(*p))
		return take_repeat(r, p);
	if (*p == '^' || *p == '$')
		end_run(r, true);
	else if (*p == '.' || *p == ')')
		end_run(r, false);
	else if (*p != '\\')
		add_char(r, *p);
	return p + 1;
}

void grep_words(const char *pattern, struct buf *out)
{
	struct run r = { .words = out };

	if (has_choice(pattern))
		return;
	for (const char *p = pattern; *p;)
		p = take_part(&r, p);
	end_run(&r, false);
}

/* Choices within groups do not matter, as groups are skipped. */
static void find_needed(struct grep *g, const char *pattern)
{
	struct run r = { .g = g, .any_case = g->flags & REG_ICASE };

	for (const char *p = pattern; *p; p = take_part(&r, p))
		if (*p == '|') {
			buf_clear(&g->needed);
			buf_clear(&g->also);
			return;
		}
	end_run(&r, false);
}

/* ---- Begin and end -------------------------------------------------------------- */

/* NULL, or why not; in `text`. */
static const char *compile(struct matcher *m, const char *pattern, int flags, char *text, size_t room)
{
	int code = regcomp(&m->compiled, pattern, flags);

	if (!code) {
		m->pattern = pattern;
		return NULL;
	}
	regerror(code, NULL, text, room);
	return text;
}

static bool is_ascii(const char *p)
{
	while (*p && !(*p & 0x80))
		p++;
	return !*p;
}

enum status grep_pattern(struct grep *g, const char *pattern, bool case_sensitive, struct err *err)
{
	const char *why = refuse(pattern);
	bool ascii = is_ascii(pattern);
	char text[128];

	*g = (struct grep){ .flags = REG_EXTENDED | REG_NEWLINE | (case_sensitive ? 0 : REG_ICASE),
			    .in_bytes = BUF_INIT(MIB),
			    .needed = BUF_INIT(LONGEST),
			    .also = BUF_INIT(LONGEST),
			    .deadline_ns = clock_monotonic_ns() + SECONDS * INT64_C(1000000000) };
	if (!why)
		why = pattern_in_bytes(pattern, !case_sensitive, &g->in_bytes);
	if (!why && ascii)
		why = compile(&g->plain, pattern, g->flags, text, sizeof text);
	if (!why && (!ascii || !str_eq(buf_as_str(&g->in_bytes), str_of(pattern))))
		why = compile(&g->wide, g->in_bytes.p, g->flags, text, sizeof text);
	if (why)
		return grep_refuse(pattern, why, err);
	find_needed(g, pattern);
	return STATUS_OK;
}

void grep_exact(struct grep *g, const struct expr *e)
{
	*g = (struct grep){ .expr = e, .deadline_ns = clock_monotonic_ns() + SECONDS * INT64_C(1000000000) };
}

void grep_inside(struct grep *g, const struct expr *e, int64_t most_ms)
{
	grep_exact(g, e);
	g->any_case = g->inside = true;
	g->deadline_ns = clock_monotonic_ns() + most_ms * 1000000;
}

void grep_signs(struct grep *g, const struct expr *e, bool whole_quotes, int64_t most_ms)
{
	grep_inside(g, e, most_ms);
	g->whole_quotes = whole_quotes;
	g->found_deadline_ns = clock_monotonic_ns() + SECONDS * INT64_C(1000000000);
	g->inside = false;
	g->signs_only = true;
}

void grep_cited(struct grep *g, const struct expr *e)
{
	*g = (struct grep){ .expr = e, .any_case = true, .cited_only = true, .deadline_ns = INT64_MAX };
}

void grep_take_time(struct grep *g)
{
	g->deadline_ns = INT64_MAX;
	g->found_deadline_ns = 0;
}

static void forget(struct matcher *m)
{
	if (m->pattern)
		regfree(&m->compiled);
	m->pattern = NULL;
}

void grep_release(struct grep *g)
{
	forget(&g->plain);
	forget(&g->wide);
	buf_release(&g->in_bytes);
	buf_release(&g->needed);
	buf_release(&g->also);
}

/* ---- Texts --------------------------------------------------------------------- */

static bool is_late(struct grep *g, int64_t now)
{
	g->gave_up |= now > g->deadline_ns;
	return g->gave_up;
}

/* Whether there is no time for more of the text in hand. */
static bool is_over(struct grep *g)
{
	int64_t now = clock_monotonic_ns();

	g->over |= is_late(g, now) || now > g->share_ns;
	return g->over;
}

static void add_range(struct grep *g, struct str text, size_t start, size_t end)
{
	while (start > 0 && start < text.n && ((unsigned char)text.p[start] & 0xc0) == 0x80)
		start--;
	while (end < text.n && ((unsigned char)text.p[end] & 0xc0) == 0x80)
		end++;
	if (g->count < SNIPPET_MARKS)
		g->found[g->count++] = (struct snippet_range){ start, end };
}

/* Its states are dropped before they are many. */
static bool refresh(struct grep *g, struct matcher *m, size_t more)
{
	m->scanned += more;
	if (m->scanned < SCANNED)
		return true;
	m->scanned = 0;
	regfree(&m->compiled);
	if (!regcomp(&m->compiled, m->pattern, g->flags))
		return true;
	m->pattern = NULL;
	g->gave_up = true;
	return false;
}

/* With another character, of as many bytes, for what the matcher cannot be given: NUL, and each that is
 * broken. Whether all are ASCII. */
static bool copy_piece(char *piece, struct str from)
{
	static const char *const covers[] = { "\x01", "\xc2\x80", "\xef\xbf\xbd" };
	char any = 0;

	for (size_t i = 0; i < from.n; i++) {
		piece[i] = from.p[i] ? from.p[i] : covers[0][0];
		any |= from.p[i];
	}
	piece[from.n] = '\0';
	if (!(any & 0x80))
		return true;
	for (size_t at = 0, start = 0; at < from.n; start = at)
		if (utf8_next(from, &at) == UTF8_BAD)
			memcpy(piece + start, covers[at - start - 1], at - start);
	return false;
}

static bool is_inside(char c)
{
	return (c & 0xc0) == 0x80;
}

/* Matches in [from, to) of the text, which is within a line. */
static bool scan_piece(struct grep *g, struct str text, size_t from, size_t to, bool begins, bool ends)
{
	char piece[PIECE + 1];
	struct matcher *m = copy_piece(piece, str_sub(text, from, to - from)) ? &g->plain : &g->wide;
	regmatch_t at;
	size_t done = 0, n = to - from;
	bool any = false;

	if (!m->pattern)
		m = m == &g->plain ? &g->wide : &g->plain;
	while (done <= n && g->count < SNIPPET_MARKS && refresh(g, m, n - done) &&
	       !regexec(&m->compiled, piece + done, 1, &at,
			(begins && !done ? 0 : REG_NOTBOL) | (ends ? 0 : REG_NOTEOL))) {
		any = true;
		if (at.rm_eo > at.rm_so)
			add_range(g, text, from + done + (size_t)at.rm_so, from + done + (size_t)at.rm_eo);
		done += (size_t)(at.rm_eo > at.rm_so ? at.rm_eo : at.rm_eo + 1);
		while (done < n && is_inside(piece[done]))
			done++;
	}
	return any;
}

/* The larger, the less of what people keep has it. */
static size_t rareness(char c)
{
	static const char common[] = " etaoinsrlcdpumhfg\".,/-_:()0123456789=bywvkxjqz";
	const char *at = c ? strchr(common, ascii_lower(c)) : NULL;

	return at ? (size_t)(at - common) : sizeof common;
}

/* The nearer of two places; NULL = none. */
static const char *nearer(const char *a, const char *b)
{
	return !b || (a && a < b) ? a : b;
}

/* Where something stands next, in any case of its letters of ASCII: found by its rarest character. */
static const char *find_any_case(const char *from, size_t n, struct str what)
{
	enum { WINDOW = 4096 }; /* no letter is looked for to the end again and again */
	const char *end = from + n, *stop;
	size_t k = 0;
	char small, capital;

	for (size_t i = 1; i < what.n; i++)
		if (rareness(what.p[i]) > rareness(what.p[k]))
			k = i;
	small = capital = ascii_lower(what.p[k]);
	if (small >= 'a' && small <= 'z')
		capital = (char)(small - 'a' + 'A');
	if (n < what.n)
		return NULL;
	end -= what.n - 1 - k;
	for (const char *p = from + k; p < end; p = stop) {
		const char *a, *b;

		stop = p + size_min((size_t)(end - p), WINDOW);
		a = memchr(p, small, (size_t)(stop - p));
		b = small == capital ? NULL : memchr(p, capital, (size_t)(stop - p));
		for (const char *at; (at = nearer(a, b));) {
			if (str_alike(str_from(at - k, what.n), what))
				return at - k;
			if (at == a)
				a = memchr(at + 1, small, (size_t)(stop - at - 1));
			if (at == b)
				b = memchr(at + 1, capital, (size_t)(stop - at - 1));
		}
	}
	return NULL;
}

/* Where a part that every match has stands next; SIZE_MAX = nowhere. */
static size_t next_needed(const struct grep *g, const struct buf *part, struct str text, size_t from)
{
	struct str rest = str_sub(text, from, SIZE_MAX);
	const char *at;

	if (!part->n)
		return from;
	at = g->flags & REG_ICASE ? find_any_case(rest.p, rest.n, buf_as_str(part))
				  : memmem(rest.p, rest.n, part->p, part->n);
	return at ? (size_t)(at - text.p) : SIZE_MAX;
}

/* Whether a piece has all that is needed; `next`: where what is looked for first stands from there on. */
static bool has_needed(const struct grep *g, struct str text, size_t from, size_t to, size_t next)
{
	return next <= to && to - next >= g->needed.n &&
	       next_needed(g, &g->also, str_sub(text, from, to - from), 0) != SIZE_MAX;
}

/* Where the character begins that is there; of broken ones near it. */
static size_t begin_of(struct str text, size_t at)
{
	for (int i = 0; i < 3 && at > 0 && is_inside(text.p[at]); i++)
		at--;
	return at;
}

/* A line of the text, in pieces; `*next` is where the text has next what is needed, as far as that is known. */
static bool scan_line(struct grep *g, struct str text, size_t from, size_t end, size_t *next)
{
	bool any = false;

	for (size_t at = from, to; g->count < SNIPPET_MARKS; at = begin_of(text, to - OVERLAP)) {
		to = end - at > PIECE ? begin_of(text, at + PIECE) : end;
		if (*next < at)
			*next = next_needed(g, &g->needed, text, at);
		if (has_needed(g, text, at, to, *next)) {
			if (is_over(g))
				break;
			any |= scan_piece(g, text, at, to, at == from && from >= g->front, to == end);
		}
		if (to == end || *next >= end)
			break;
	}
	return any;
}

static bool scan_pattern(struct grep *g, struct str text)
{
	size_t next = next_needed(g, &g->needed, text, 0);
	bool any = false;

	g->over = false;
	for (size_t from = 0, end; from < text.n && next < text.n && !g->over && g->count < SNIPPET_MARKS;
	     from = end + 1) {
		end = from + size_min(str_find(str_sub(text, from, SIZE_MAX), '\n'), text.n - from);
		any |= scan_line(g, text, from, end, &next);
	}
	g->unread += g->over && !g->gave_up && !any;
	return any;
}

/* ---- Where words begin and end -------------------------------------------------- */

struct edges {
	size_t start, end; /* of what was found, in the part of the text in hand */
	bool begins, ends; /* there are words that do so there */
};

static void take_edge(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct edges *e = ctx;

	(void)word;
	(void)flags;
	e->begins |= start == e->start;
	e->ends |= end == e->end;
}

static bool is_of_word(char c)
{
	return is_ascii_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Whether what stands there is words of the text, and not a part of one; identifiers have several. */
static bool is_words(struct str text, size_t start, size_t end, bool prefix)
{
	size_t from = start, to = end;
	struct edges e;

	while (from > 0 && start - from < WORD_MAX && is_of_word(text.p[from - 1]))
		from--;
	while (to < text.n && to - end < WORD_MAX && is_of_word(text.p[to]))
		to++;
	e = (struct edges){ .start = start - from,
			    .end = end - from,
			    .begins = !is_of_word(text.p[start]),
			    .ends = prefix || !is_of_word(text.p[end - 1]) };
	if (!e.begins || !e.ends)
		words_split(str_sub(text, from, to - from), take_edge, &e);
	return e.begins && e.ends;
}

/* What of an item has to stand in a text as it was typed; p NULL = nothing. */
static struct str literal_of(const struct grep *g, const struct expr_node *n)
{
	if (g->cited_only && !n->cited)
		return (struct str){ 0 };
	if (g->signs_only)
		return g->whole_quotes && n->quoted && n->name.p ? str_trim(n->typed) : n->name;
	return g->open_front && !n->quoted && str_has_prefix(n->typed, STR("*")) ? str_sub(n->typed, 1, SIZE_MAX)
										 : n->typed;
}

/* How many bytes of the text are the same letters, in any case; 0 = others stand there. */
static size_t alike_at(struct str text, size_t from, struct str what)
{
	size_t at = from, i = 0;

	while (i < what.n)
		if (at >= text.n ||
		    fold_case((uint32_t)utf8_next(text, &at)) != fold_case((uint32_t)utf8_next(what, &i)))
			return 0;
	return at - from;
}

/* Where something with letters outside of ASCII stands next, in any case. */
static const char *find_folded(struct str text, struct str what, size_t *length)
{
	bool ascii = !(what.p[0] & 0x80);
	char first = ascii_lower(what.p[0]);

	for (size_t at = 0; at < text.n; at++) {
		char c = text.p[at];

		if (ascii ? ascii_lower(c) != first : (c & 0xc0) != 0xc0)
			continue;
		*length = alike_at(text, at, what);
		if (*length)
			return text.p + at;
	}
	return NULL;
}

/* Where it stands next in the text, and how long it is there; NULL = nowhere. */
static const char *find_literal(const struct grep *g, struct str text, struct str what, size_t *length)
{
	bool ascii = true;

	*length = what.n;
	if (!g->any_case)
		return memmem(text.p, text.n, what.p, what.n);
	for (size_t i = 0; i < what.n; i++)
		ascii &= !(what.p[i] & 0x80);
	return ascii || !utf8_valid(what) ? find_any_case(text.p, text.n, what)
					  : find_folded(text, what, length);
}

/* Wherever it stands. */
static bool scan_literal(struct grep *g, struct str text, const struct expr_node *n)
{
	struct str what = literal_of(g, n);
	bool prefix = n->parts.count && n->parts.words[n->parts.count - 1].prefix, any = false;
	const char *p;

	for (size_t at = 0, length; what.n && at < text.n; at += length) {
		p = find_literal(g, str_sub(text, at, SIZE_MAX), what, &length);
		if (!p)
			break;
		at = (size_t)(p - text.p);
		if (!g->inside && !is_words(text, at, at + length, prefix))
			continue;
		any = true;
		add_range(g, text, at, at + length);
	}
	return any;
}

/* What is not wanted was left out by the index, in any case of letters. */
static bool holds(struct grep *g, const struct expr_node *n, struct str text)
{
	bool any = false, all = true;

	if (n->kind == EXPR_NODE_WORDS)
		return !literal_of(g, n).p || scan_literal(g, text, n);
	if (n->kind == EXPR_NODE_MARK || n->kind == EXPR_NODE_NOT)
		return true;
	for (const struct expr_node *c = n->first; c; c = c->next) {
		bool one = holds(g, c, text);

		any |= one;
		all &= one;
	}
	return n->kind == EXPR_NODE_ANY ? any : all;
}

static int by_start(const void *a, const void *b)
{
	const struct snippet_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

bool grep_text(struct grep *g, struct str text)
{
	const int64_t least = LEAST_SHARE * INT64_C(1000000);
	int64_t now = clock_monotonic_ns(), share = (g->deadline_ns - now) / SHARES;

	g->count = 0;
	if (is_late(g, now))
		return false;
	g->share_ns = now + (share > least ? share : least);
	if (g->expr ? g->expr->root && !holds(g, g->expr->root, text) : !scan_pattern(g, text))
		return false;
	if (g->found_deadline_ns)
		g->deadline_ns = g->found_deadline_ns;
	qsort(g->found, g->count, sizeof *g->found, by_start);
	return true;
}
