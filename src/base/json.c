/*
 * The JSON reader.
 *
 * Why our own: the archive promises every byte, and no library keeps all of
 * them. Numbers over 64 bits, 1e400, repeated keys, "\u0000" and half
 * surrogate pairs all occur in transcripts, and each library refuses or
 * changes some of them. So this one does not convert: it checks the grammar
 * and notes where each value stands.
 *
 * How: two steps alternate until the text is used up. read_value() notes a
 * scalar or opens a container; read_after() closes what ends here and moves to
 * the next value, over comma, key and colon. Each step is a function from
 * position to position, NULL for failure, which fail() has then noted.
 *
 * Nesting needs neither recursion nor a stack: while a container is open, its
 * `next` is not known yet, and the field holds the index of its parent. Closing
 * takes the parent out and puts the real value in.
 *
 * Invariants, at the end of a successful read:
 *   - spans nest as the tape does, and siblings are in order, without overlap
 *   - next > index; a child's next is <= its parent's next
 *   - flags are exact: without any, the bytes between the quotes are the value
 *   - tape[0] is the root and tape[0].next == count
 *
 * Memory is at most 16 bytes of tape for each byte of text ("[[[["), and under
 * one for each three bytes of real transcripts.
 */
#include "base/json.h"

#include "base/json_scan.h"
#include "base/utf8.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { TAPE_FIRST = 256 };

struct reader {
	struct json *j;
	const char *begin, *end;
	uint32_t parent; /* innermost open container, JSON_NONE at the top */
	uint32_t depth;	 /* how many are open */
	uint32_t max_depth;
	bool opened;	       /* read_value() went into a container: a value follows */
	enum status failure;   /* set by fail(), with ... */
	const char *failed_at; /* ... its place and ... */
	const char *expected;  /* ... what should have been there */
};

void json_init(struct json *j)
{
	*j = (struct json)JSON_INIT;
}

void json_release(struct json *j)
{
	mem_free(j->tape);
	json_init(j);
}

static const char *fail(struct reader *r, const char *at, const char *expected)
{
	r->failure = STATUS_FORMAT;
	r->failed_at = at;
	r->expected = expected;
	return NULL;
}

/* ---- The tape ---- */

static __attribute__((noinline)) void tape_grow(struct json *j)
{
	size_t cap = j->cap ? (size_t)j->cap * 2 : TAPE_FIRST;

	/* There are fewer entries than bytes, so this always leaves room. */
	cap = size_min(cap, LIMIT_JSON_TEXT);
	j->tape = mem_resize(j->tape, cap * sizeof *j->tape);
	j->cap = (uint32_t)cap;
}

static inline struct json_entry *tape_add(struct reader *r, enum json_kind kind, const char *start)
{
	struct json *j = r->j;
	struct json_entry *e;

	if (j->count == j->cap)
		tape_grow(j);
	e = &j->tape[j->count++];
	e->kind = (uint16_t)kind;
	e->flags = 0;
	e->start = (uint32_t)(start - r->begin);
	return e;
}

static inline const char *tape_scalar(struct reader *r, enum json_kind kind, const char *start,
				      const char *behind)
{
	struct json_entry *e = tape_add(r, kind, start);

	e->length = (uint32_t)(behind - start);
	e->next = r->j->count;
	return behind;
}

/* ---- Scalars ---- */

static inline const char *skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
		p++;
	return p;
}

static inline bool is_digit(const char *p, const char *end)
{
	return p < end && *p >= '0' && *p <= '9';
}

static inline const char *skip_digits(const char *p, const char *end)
{
	while (is_digit(p, end))
		p++;
	return p;
}

static const char *read_number(struct reader *r, const char *start)
{
	const char *p = start, *end = r->end;

	if (*p == '-')
		p++;
	if (!is_digit(p, end))
		return fail(r, p, "a digit");
	p = *p == '0' ? p + 1 : skip_digits(p, end);
	if (p < end && *p == '.') {
		if (!is_digit(++p, end))
			return fail(r, p, "a digit behind the decimal point");
		p = skip_digits(p, end);
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		if (!is_digit(p, end))
			return fail(r, p, "a digit of the exponent");
		p = skip_digits(p, end);
	}
	return tape_scalar(r, JSON_NUMBER, start, p);
}

static const char *read_word(struct reader *r, const char *start, struct str word, enum json_kind kind)
{
	const char *p = start;

	for (size_t i = 0; i < word.n; i++, p++)
		if (p == r->end || *p != word.p[i])
			return fail(r, p, kind == JSON_NULL ? "null" : kind == JSON_TRUE ? "true" : "false");
	return tape_scalar(r, kind, start, p);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits at p; -1 when there are no four. */
static int32_t hex4(const char *p, const char *end)
{
	int32_t v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(p[i]);

		if (digit < 0)
			return -1;
		v = v * 16 + digit;
	}
	return v;
}

static inline bool is_high_surrogate(int32_t c)
{
	return c >= 0xD800 && c <= 0xDBFF;
}

static inline bool is_low_surrogate(int32_t c)
{
	return c >= 0xDC00 && c <= 0xDFFF;
}

/*
 * A \u escape, p at its backslash: the code point, a lone half as it is, or -1
 * when it is malformed. *behind is then untouched.
 */
static int32_t unicode_escape(const char *p, const char *end, const char **behind)
{
	int32_t c = hex4(p + 2, end), low;

	if (c < 0)
		return -1;
	*behind = p + 6;
	if (!is_high_surrogate(c) || end - p < 12 || p[6] != '\\' || p[7] != 'u')
		return c;
	low = hex4(p + 8, end);
	if (!is_low_surrogate(low))
		return c;
	*behind = p + 12;
	return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

/* What the letter behind a backslash stands for; 0 when it may not be there.
 * 'u' needs more letters. */
static const char escape_table[256] = {
	['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b', ['f'] = '\f',
	['n'] = '\n', ['r'] = '\r',  ['t'] = '\t', ['u'] = 'u',
};

static __attribute__((noinline)) const char *read_unicode(struct reader *r, const char *p, unsigned *flags)
{
	const char *behind = p;
	int32_t c = unicode_escape(p, r->end, &behind);

	if (c < 0)
		return fail(r, p, "\\u with four hexadecimal digits");
	if (is_high_surrogate(c) || is_low_surrogate(c))
		*flags |= JSON_LONE_SURROGATE;
	return behind;
}

static inline const char *read_escape(struct reader *r, const char *p, unsigned *flags)
{
	*flags |= JSON_ESCAPED;
	if (r->end - p < 2)
		return fail(r, r->end, "the rest of an escape");
	if (p[1] == 'u')
		return read_unicode(r, p, flags);
	if (!escape_table[(unsigned char)p[1]])
		return fail(r, p + 1, "one of \"\\/bfnrtu behind a backslash");
	return p + 2;
}

/* Moves over characters outside ASCII, which like to come in company. */
static inline const char *skip_foreign(const char *p, const char *end, unsigned *flags)
{
	do {
		size_t n = json_utf8_length(p, end);

		if (n == 0)
			*flags |= JSON_BAD_UTF8;
		p += n ? n : 1;
	} while (p < end && (signed char)*p < 0);
	return p;
}

static inline const char *read_string(struct reader *r, const char *start)
{
	const char *p = start + 1, *end = r->end;
	unsigned flags = 0;

	for (;;) {
		p = json_scan(p, end);
		if (p == end)
			return fail(r, p, "the closing quote of a string");
		if (*p == '"')
			break;
		if (*p == '\\') {
			p = read_escape(r, p, &flags);
			if (!p)
				return NULL;
		} else if ((signed char)*p < 0) {
			p = skip_foreign(p, end, &flags);
		} else {
			return fail(r, p, "no control character in a string (escape it)");
		}
	}
	p = tape_scalar(r, JSON_STRING, start, p + 1);
	r->j->tape[r->j->count - 1].flags = (uint16_t)flags;
	r->j->flags |= flags;
	return p;
}

/* ---- Structure ---- */

/* "key" : and white space, up to where the value must begin. */
static inline const char *read_key(struct reader *r, const char *p)
{
	const char *end = r->end;

	if (p == end || *p != '"')
		return fail(r, p, "a key in quotes");
	p = read_string(r, p);
	if (!p)
		return NULL;
	p = skip_space(p, end);
	if (p == end || *p != ':')
		return fail(r, p, "':'");
	return skip_space(p + 1, end);
}

static inline const char *close_container(struct reader *r, const char *p)
{
	struct json_entry *e = &r->j->tape[r->parent];

	p++;
	r->parent = e->next;
	r->depth--;
	e->length = (uint32_t)((size_t)(p - r->begin) - e->start);
	e->next = r->j->count;
	return p;
}

static const char *open_container(struct reader *r, const char *p, enum json_kind kind)
{
	char closing = kind == JSON_OBJECT ? '}' : ']';

	if (r->max_depth && r->depth == r->max_depth) {
		fail(r, p, NULL);
		r->failure = STATUS_LIMIT;
		return NULL;
	}
	tape_add(r, kind, p)->next = r->parent;
	r->parent = r->j->count - 1;
	r->depth++;
	p = skip_space(p + 1, r->end);
	if (p < r->end && *p == closing)
		return close_container(r, p);
	r->opened = true;
	return kind == JSON_OBJECT ? read_key(r, p) : p;
}

static inline const char *read_value(struct reader *r, const char *p)
{
	r->opened = false;
	if (p == r->end)
		return fail(r, p, "a value");
	switch (*p) {
	case '"':
		return read_string(r, p);
	case '{':
		return open_container(r, p, JSON_OBJECT);
	case '[':
		return open_container(r, p, JSON_ARRAY);
	case 't':
		return read_word(r, p, STR("true"), JSON_TRUE);
	case 'f':
		return read_word(r, p, STR("false"), JSON_FALSE);
	case 'n':
		return read_word(r, p, STR("null"), JSON_NULL);
	default:
		if (*p == '-' || is_digit(p, r->end))
			return read_number(r, p);
		return fail(r, p, "a value");
	}
}

/* To the next value, or to the end of the text with no container open. */
static inline const char *read_after(struct reader *r, const char *p)
{
	for (;;) {
		bool object;

		p = skip_space(p, r->end);
		if (r->parent == JSON_NONE)
			return p == r->end ? p : fail(r, p, "the end of the text");
		object = r->j->tape[r->parent].kind == JSON_OBJECT;
		if (p == r->end)
			return fail(r, p, object ? "',' or '}'" : "',' or ']'");
		if (*p == ',') {
			p = skip_space(p + 1, r->end);
			return object ? read_key(r, p) : p;
		}
		if (*p != (object ? '}' : ']'))
			return fail(r, p, object ? "',' or '}'" : "',' or ']'");
		p = close_container(r, p);
	}
}

static bool read_document(struct reader *r)
{
	const char *p = skip_space(r->begin, r->end);

	do {
		p = read_value(r, p);
		if (p && !r->opened)
			p = read_after(r, p);
	} while (p && r->parent != JSON_NONE && r->j->count < LIMIT_JSON_VALUES);
	if (p && r->parent != JSON_NONE) {
		fail(r, p, NULL);
		r->failure = STATUS_LIMIT;
		return false;
	}
	return p != NULL;
}

/* Turns what fail() noted into an error, and the tape into an empty one. */
static enum status report(struct reader *r, struct err *e)
{
	bool too_many = r->j->count >= LIMIT_JSON_VALUES;
	unsigned char found;

	r->j->count = 0;
	r->j->error_at = (size_t)(r->failed_at - r->begin);
	if (r->failure == STATUS_LIMIT && too_many)
		return err_fail(e, STATUS_LIMIT, "more than %" PRIu32 " values", LIMIT_JSON_VALUES);
	if (r->failure == STATUS_LIMIT)
		return err_fail(e, STATUS_LIMIT, "nested more than %" PRIu32 " deep", r->max_depth);
	if (r->failed_at == r->end)
		return err_fail(e, STATUS_FORMAT, "expected %s, found the end", r->expected);
	found = (unsigned char)*r->failed_at;
	if (found > ' ' && found < 0x7F)
		return err_fail(e, STATUS_FORMAT, "expected %s, found '%c'", r->expected, found);
	return err_fail(e, STATUS_FORMAT, "expected %s, found byte 0x%02x", r->expected, found);
}

enum status json_read_unplaced(struct json *j, struct str text, uint32_t max_depth, struct err *e)
{
	static const char nothing[1];
	const char *begin = text.p ? text.p : nothing;
	struct reader r = {
		.j = j,
		.begin = begin,
		.end = begin + text.n,
		.parent = JSON_NONE,
		.max_depth = max_depth,
	};

	j->text = text;
	j->count = 0;
	j->flags = 0;
	j->error_at = 0;
	if (text.n > LIMIT_JSON_TEXT)
		return err_fail(e, STATUS_LIMIT, "%zu bytes: at most %zu can be read", text.n, LIMIT_JSON_TEXT);
	if (!read_document(&r))
		return report(&r, e);
	return STATUS_OK;
}

enum status json_read(struct json *j, struct str text, uint32_t max_depth, struct err *e)
{
	if (json_read_unplaced(j, text, max_depth, e))
		return err_pass(e, "JSON, byte %zu", j->error_at);
	return STATUS_OK;
}

/* ---- Decoding ---- */

static struct str string_inner(const struct json *j, const struct json_entry *e)
{
	return str_from(j->text.p + e->start + 1, e->length - 2);
}

/* The escape at *p (a checked one): writes 1..4 bytes, moves *p behind it. */
static size_t decode_escape(const char **p, const char *end, char *to)
{
	int32_t c;

	if ((*p)[1] != 'u') {
		*to = escape_table[(unsigned char)(*p)[1]];
		*p += 2;
		return 1;
	}
	c = unicode_escape(*p, end, p);
	if (is_high_surrogate(c) || is_low_surrogate(c))
		c = 0xFFFD;
	return utf8_encode((uint32_t)c, to);
}

/* One character, escaped or not, good or not: writes 1..4 bytes. */
static size_t decode_step(const char **p, const char *end, char to[4])
{
	size_t at = 0;
	int32_t c;

	if (**p == '\\')
		return decode_escape(p, end, to);
	c = utf8_next(str_from(*p, (size_t)(end - *p)), &at);
	*p += at;
	return utf8_encode(c == UTF8_BAD ? 0xFFFD : (uint32_t)c, to);
}

/* Most bytes decoding gives: escapes shrink, a bad byte becomes three. */
static size_t decoded_bound(struct str inner, unsigned flags)
{
	return flags & JSON_BAD_UTF8 ? inner.n * 3 : inner.n;
}

static size_t decode(struct str inner, unsigned flags, char *out)
{
	const char *p = inner.p, *end = p + inner.n;
	char *to = out;

	if (flags & JSON_BAD_UTF8) {
		while (p < end) {
			char one[4];
			size_t n = decode_step(&p, end, one);

			memcpy(to, one, n);
			to += n;
		}
		return (size_t)(to - out);
	}
	/* What is left to write never exceeds what is left to read, so
	 * json_copy_plain() has the room it asks for. */
	for (;;) {
		const char *run = p;

		p = json_copy_plain(to, p, end);
		to += p - run;
		if (p == end)
			return (size_t)(to - out);
		to += decode_escape(&p, end, to);
	}
}

bool json_string(const struct json *j, uint32_t node, struct buf *out)
{
	struct str inner;
	unsigned flags;
	size_t bound;

	if (!json_is(j, node, JSON_STRING))
		return false;
	inner = string_inner(j, &j->tape[node]);
	flags = j->tape[node].flags;
	bound = decoded_bound(inner, flags);
	if (!flags) {
		buf_str(out, inner);
	} else if (!out->failed && bound <= out->max - out->n) {
		char *to = buf_reserve(out, bound);

		if (to)
			buf_grew(out, decode(inner, flags, to));
	} else {
		/* The bound does not fit; the decoded string still may. */
		char *copy = mem_alloc(bound);

		buf_add(out, copy, decode(inner, flags, copy));
		mem_free(copy);
	}
	return !out->failed;
}

struct str json_string_in(const struct json *j, uint32_t node, struct arena *a)
{
	struct str s = { 0 };
	char *copy;

	if (json_text(j, node, &s) || !json_is(j, node, JSON_STRING))
		return s;
	s = string_inner(j, &j->tape[node]);
	copy = arena_alloc(a, decoded_bound(s, j->tape[node].flags) + 1);
	return str_from(copy, decode(s, j->tape[node].flags, copy));
}

/* ---- Looking ---- */

struct str json_raw(const struct json *j, uint32_t node)
{
	if (node == JSON_NONE)
		return (struct str){ 0 };
	return str_from(j->text.p + j->tape[node].start, j->tape[node].length);
}

bool json_text(const struct json *j, uint32_t node, struct str *out)
{
	if (!json_is(j, node, JSON_STRING) || j->tape[node].flags)
		return false;
	*out = string_inner(j, &j->tape[node]);
	return true;
}

/* Compares while decoding: keys with escapes are too rare to keep memory for. */
static bool decoded_eq(struct str inner, struct str value)
{
	const char *p = inner.p, *end = p + inner.n;
	size_t at = 0;

	while (p < end) {
		char one[4];
		size_t n = decode_step(&p, end, one);

		if (n > value.n - at || memcmp(one, value.p + at, n) != 0)
			return false;
		at += n;
	}
	return at == value.n;
}

bool json_string_eq(const struct json *j, uint32_t node, struct str value)
{
	struct str inner;

	if (!json_is(j, node, JSON_STRING))
		return false;
	inner = string_inner(j, &j->tape[node]);
	return j->tape[node].flags ? decoded_eq(inner, value) : str_eq(inner, value);
}

struct str json_front(const struct json *j, uint32_t node, char *room, size_t n)
{
	struct str inner;
	const char *p, *end;
	size_t at = 0;

	if (!json_is(j, node, JSON_STRING))
		return (struct str){ 0 };
	inner = string_inner(j, &j->tape[node]);
	for (p = inner.p, end = p + inner.n; p < end;) {
		char one[4];
		size_t more = decode_step(&p, end, one);

		if (more > n - at)
			break;
		memcpy(room + at, one, more);
		at += more;
	}
	return str_from(room, at);
}

bool json_is_blank(const struct json *j, uint32_t node)
{
	struct str inner;
	const char *p, *end;

	if (!json_is(j, node, JSON_STRING))
		return true;
	inner = string_inner(j, &j->tape[node]);
	for (p = inner.p, end = p + inner.n; p < end;) {
		char one[4];

		if (str_trim(str_from(one, decode_step(&p, end, one))).n)
			return false;
	}
	return true;
}

bool json_is_key(const struct json *j, uint32_t node)
{
	size_t at = (size_t)j->tape[node].start + j->tape[node].length;

	while (at < j->text.n && (j->text.p[at] == ' ' || j->text.p[at] == '\t' || j->text.p[at] == '\n' ||
				  j->text.p[at] == '\r'))
		at++;
	return at < j->text.n && j->text.p[at] == ':';
}

uint32_t json_get(const struct json *j, uint32_t object, struct str key)
{
	uint32_t found = JSON_NONE;

	if (!json_is(j, object, JSON_OBJECT))
		return JSON_NONE;
	for (uint32_t k = json_first(j, object); k != json_end(j, object); k = json_next(j, k + 1))
		if (json_string_eq(j, k, key))
			found = k + 1;
	return found;
}

uint32_t json_count(const struct json *j, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t i = json_first(j, node); i != json_end(j, node); i = json_next(j, i))
		n++;
	return json_is(j, node, JSON_OBJECT) ? n / 2 : n;
}

bool json_to_i64(const struct json *j, uint32_t node, int64_t *out)
{
	return json_is(j, node, JSON_NUMBER) && str_to_i64(json_raw(j, node), out);
}

bool json_to_real(const struct json *j, uint32_t node, double *out)
{
	enum { LONGEST = 60 };
	struct str text = json_raw(j, node);
	char copy[LONGEST + 1];
	locale_t plain;

	if (!json_is(j, node, JSON_NUMBER) || text.n > LONGEST)
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	/* In some locales, and the process may be in one, 1.5 ends after the 1. The C library has this one
	 * ready and makes nothing. */
	plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	*out = strtod_l(copy, NULL, plain);
	freelocale(plain);
	return true;
}

bool json_to_bool(const struct json *j, uint32_t node, bool *out)
{
	if (!json_is(j, node, JSON_TRUE) && !json_is(j, node, JSON_FALSE))
		return false;
	*out = json_is(j, node, JSON_TRUE);
	return true;
}

bool json_bool(const struct json *j, uint32_t node)
{
	return json_is(j, node, JSON_TRUE);
}
