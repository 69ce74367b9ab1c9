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
 * inside counts.
 */
#include "query/grep.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "base/words.h"
#include "query/expr_match.h"

#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 4096,	     /* of a line */
	OVERLAP = 256,	     /* of pieces: a match across their edge is found up to this length */
	SCANNED = 16 * 1024, /* bytes until it is compiled again */
	LONGEST = 1000,	     /* pattern */
	MOST_COPIES = 1000,  /* that counts make of a part */
	SECONDS = 2,
};

/* ---- Which patterns ----------------------------------------------------------- */

/* Behind the bracket expression that begins here. */
static const char *skip_brackets(const char *p)
{
	p += p[1] == '^' ? 2 : 1;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		/* [:alpha:] has one of its own. */
		const char *end = p[0] == '[' && p[1] == ':' ? strstr(p + 2, ":]") : NULL;

		p = end ? end + 2 : p + 1;
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
	if (strstr(pattern, "[:upper:]") || strstr(pattern, "[:lower:]"))
		return true;
	for (const char *p = pattern; *p; p++) {
		if (*p >= 'A' && *p <= 'Z')
			return true;
		/* \W is no letter, nor is \x4F. */
		if (*p == '\\' && p[1])
			p += p[1] == 'x' && p[2] && p[3] ? 3 : 1;
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

enum status grep_pattern(struct grep *g, const char *pattern, bool case_sensitive, struct err *err)
{
	const char *why = refuse(pattern);
	char text[128];
	int code;

	*g = (struct grep){ .flags = REG_EXTENDED | REG_NEWLINE | (case_sensitive ? 0 : REG_ICASE),
			    .deadline_ns = clock_monotonic_ns() + SECONDS * INT64_C(1000000000) };
	if (why)
		return grep_refuse(pattern, why, err);
	code = regcomp(&g->compiled, pattern, g->flags);
	if (code) {
		regerror(code, NULL, text, sizeof text);
		return grep_refuse(pattern, text, err);
	}
	g->pattern = pattern;
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

void grep_signs(struct grep *g, const struct expr *e, int64_t most_ms)
{
	grep_inside(g, e, most_ms);
	g->found_deadline_ns = clock_monotonic_ns() + SECONDS * INT64_C(1000000000);
	g->inside = false;
	g->signs_only = true;
}

void grep_cited(struct grep *g, const struct expr *e)
{
	*g = (struct grep){ .expr = e, .any_case = true, .cited_only = true, .deadline_ns = INT64_MAX };
}

void grep_release(struct grep *g)
{
	if (g->pattern)
		regfree(&g->compiled);
	g->pattern = NULL;
}

/* ---- Words of a pattern -------------------------------------------------------- */

/* Plain characters in the making. */
struct run {
	struct buf *out;
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
	buf_printf(r->out, " %.*s%s", STR_ARG(word), last && !r->ends ? "*" : "");
}

static void end_run(struct run *r, bool boundary)
{
	r->ends = boundary;
	words_split(str_from(r->text, r->n), take_word, r);
	r->n = 0;
	r->bounded = boundary;
}

static void add_char(struct run *r, char c)
{
	if (r->n < LONGEST)
		r->text[r->n++] = ascii_lower(c);
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

void grep_words(const char *pattern, struct buf *out)
{
	struct run r = { .out = out };

	if (has_choice(pattern))
		return;
	for (const char *p = pattern; *p;) {
		switch (*p) {
		case '[':
			end_run(&r, false);
			p = skip_brackets(p);
			continue;
		case '(':
			end_run(&r, false);
			p = skip_group(p);
			continue;
		case '\\':
			if (!p[1])
				break;
			take_escaped(&r, p[1]);
			p += 2;
			continue;
		case '*':
		case '?':
		case '{':
			/* What it counts may be missing. */
			r.n -= r.n > 0;
			end_run(&r, false);
			if (*p == '{')
				p += size_min(str_find(str_of(p), '}'), strlen(p) - 1);
			break;
		case '^':
		case '$':
			end_run(&r, true);
			break;
		case '.':
		case '+':
		case ')':
			end_run(&r, false);
			break;
		default:
			add_char(&r, *p);
		}
		p++;
	}
	end_run(&r, false);
}

/* ---- Texts --------------------------------------------------------------------- */

static bool is_late(struct grep *g)
{
	g->gave_up |= clock_monotonic_ns() > g->deadline_ns;
	return g->gave_up;
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
static bool refresh(struct grep *g, size_t more)
{
	g->scanned += more;
	if (g->scanned < SCANNED)
		return true;
	g->scanned = 0;
	regfree(&g->compiled);
	if (!regcomp(&g->compiled, g->pattern, g->flags))
		return true;
	g->pattern = NULL;
	g->gave_up = true;
	return false;
}

/* Matches in [from, from + n) of the text, which is within a line. */
static bool scan_piece(struct grep *g, struct str text, size_t from, size_t n, bool begins, bool ends)
{
	char piece[PIECE + 1];
	regmatch_t at;
	size_t done = 0;
	bool any = false;

	memcpy(piece, text.p + from, n);
	piece[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (!piece[i])
			piece[i] = ' ';
	while (done <= n && g->count < SNIPPET_MARKS && refresh(g, n - done) &&
	       !regexec(&g->compiled, piece + done, 1, &at,
			(begins && !done ? 0 : REG_NOTBOL) | (ends ? 0 : REG_NOTEOL))) {
		any = true;
		if (at.rm_eo > at.rm_so)
			add_range(g, text, from + done + (size_t)at.rm_so, from + done + (size_t)at.rm_eo);
		done += (size_t)(at.rm_eo > at.rm_so ? at.rm_eo : at.rm_eo + 1);
	}
	return any;
}

static bool scan_pattern(struct grep *g, struct str text)
{
	bool any = false;

	for (size_t from = 0; from < text.n && g->count < SNIPPET_MARKS && !is_late(g) && g->pattern;) {
		size_t length = size_min(str_find(str_sub(text, from, SIZE_MAX), '\n'), text.n - from);

		for (size_t at = 0; at <= length && !is_late(g) && g->pattern; at += PIECE - OVERLAP) {
			size_t n = size_min(length - at, PIECE);

			any |= scan_piece(g, text, from + at, n, at == 0 && from >= g->front, at + n == length);
			if (at + n == length)
				break;
		}
		from += length + 1;
	}
	return any;
}

/* Where it stands next in the text; NULL = nowhere. */
static const char *find_literal(const struct grep *g, const char *from, size_t n, struct str what)
{
	if (!g->any_case)
		return memmem(from, n, what.p, what.n);
	for (; n >= what.n; from++, n--)
		if (str_alike(str_from(from, what.n), what))
			return from;
	return NULL;
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
		return n->name;
	return g->open_front && !n->quoted && str_has_prefix(n->typed, STR("*")) ? str_sub(n->typed, 1, SIZE_MAX)
										 : n->typed;
}

/* Wherever it stands. */
static bool scan_literal(struct grep *g, struct str text, const struct expr_node *n)
{
	struct str what = literal_of(g, n);
	bool prefix = n->parts.count && n->parts.words[n->parts.count - 1].prefix, any = false;
	size_t at;

	for (const char *p = text.p; what.n && text.n >= what.n;) {
		p = find_literal(g, p, text.n - (size_t)(p - text.p), what);
		if (!p)
			break;
		at = (size_t)(p - text.p);
		p += what.n;
		if (!g->inside && !is_words(text, at, at + what.n, prefix))
			continue;
		any = true;
		add_range(g, text, at, at + what.n);
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
	g->count = 0;
	if (is_late(g))
		return false;
	if (g->expr ? g->expr->root && !holds(g, g->expr->root, text) : !scan_pattern(g, text))
		return false;
	if (g->found_deadline_ns)
		g->deadline_ns = g->found_deadline_ns;
	qsort(g->found, g->count, sizeof *g->found, by_start);
	return true;
}
