/*
 * The tokenizer: from text to the words under which it is indexed and found.
 *
 * A *run* is as many letters, digits and marks as stand together; everything
 * else separates, also '_' '-' '.' '/' and bytes that are not UTF-8. fold.c says
 * what a character is and becomes: lower case, without accents, typographic
 * forms as what they stand for. A run becomes words in one of three ways.
 *
 *   Letters and digits. A run is cut into parts where an identifier changes case:
 *     in front of a capital after a small letter or a digit (foo|Bar, utf8|Name),
 *     and of the last capital before a small letter (HTTP|Server). Letters and
 *     digits stay together otherwise (sha256). A run of several parts gives the
 *     parts and, at the positions of the first and of the last one, the whole:
 *     "GitHub" is git, github, hub, github, and whoever types any of these finds
 *     it, also as the end of a phrase ("on github") or its beginning ("github
 *     issues"). In the middle of a phrase an identifier is found only as it is
 *     written: positions have no lengths. Runs that are not made of words give one
 *     word: those of more than PARTS_MAX parts, and those over ENCODED bytes that
 *     mix cases and digits (base64, keys).
 *
 *   Scripts without blanks between words (fold_is_paired()). Characters c1 c2 c3
 *     give c1c2, c2c3, c3: any stretch of two or more is found as a phrase, and
 *     one alone as a prefix. A run of these ends at other letters and begins
 *     behind them.
 *
 *   Pictures. Each is a word.
 *
 * What a program writes to colour its output, or to clear a line of it, separates as a whole: ESC, '[', digits and
 * signs between them, and 'm' or 'K'. So a coloured word is found like any other.
 *
 * Words over WORD_MAX bytes are cut behind a code point. Lengths are those of
 * folded text, so that composed and decomposed spellings, which differ in
 * bytes, give the same words.
 *
 * There are two roads with the same result. Runs of ASCII, nearly all there are,
 * are cut out of 64 bytes at a time with bit masks (ascii_words()), and their
 * folded form is written straight to where it is wanted. A run with anything
 * else in or next to it goes character by character (mixed_run()). Both use
 * memory of a fixed size and time in proportion to the text, whatever it holds.
 */
#include "base/words.h"

#include "base/fold.h"
#include "base/utf8.h"
#include "base/words_scan.h"

#include <string.h>

enum {
	ESCAPE = 0x1B,
	PARTS_MAX = 16,
	ENCODED = 48,
	WORD_ROOM = 1 + WORD_MAX + SCAN_STEP, /* a packed word, and what scan_copy() may write more */
	PACK_STEP = 4096,                     /* out grows by at least this */
};

/* ---- Where words go --------------------------------------------------------- */

/*
 * A word is written to sink_room(), its folded bytes from the second byte on,
 * and then announced with sink_word(). With `fn` the room is always the scratch
 * space; without, it is the end of `out`, or the scratch space once out failed.
 */
struct sink {
	char *to;
	char *limit; /* end of the room behind `to` */
	size_t count;
	words_fn *fn;
	void *ctx;
	struct buf *out;
	char scratch[WORD_ROOM];
};

/* Makes room for a word at least. Without fn only, where it has to be called once
 * before anything else. */
static void sink_grow(struct sink *sink)
{
	struct buf *out = sink->out;

	if (!out->failed) {
		size_t more;

		if (sink->to)
			buf_grew(out, (size_t)(sink->to - (out->p + out->n)));
		more = size_min(out->max - out->n, PACK_STEP);
		sink->to = buf_reserve(out, size_max(more, WORD_ROOM));
		sink->limit = sink->to ? out->p + out->cap - 1 : NULL;
	}
	if (out->failed) {
		sink->to = sink->scratch;
		sink->limit = sink->scratch + sizeof sink->scratch;
	}
}

static inline char *sink_room(struct sink *sink)
{
	if ((size_t)(sink->limit - sink->to) < WORD_ROOM)
		sink_grow(sink);
	return sink->to + 1;
}

static inline void sink_word(struct sink *sink, size_t n, size_t start, size_t end, unsigned flags)
{
	sink->count++;
	if (sink->fn) {
		sink->fn(sink->ctx, (struct str){ sink->to + 1, n }, start, end, flags);
		return;
	}
	*sink->to = (char)(n | (flags & WORD_COLOCATED ? 0x80 : 0));
	sink->to += 1 + n;
}

/* ---- Runs of anything ------------------------------------------------------- */

/* One character: a letter and the marks on it, in canonical order. */
struct character {
	enum fold_kind kind;
	size_t start, end; /* in the text */
	bool cut;          /* a code point of order 0 did not fit; nothing may follow */
	size_t n;
	struct {
		uint32_t c;
		uint8_t order;
	} points[WORD_MAX]; /* no more can be in a word */
};

/* The first bytes, at most WORD_MAX, of a word in the making. */
struct word {
	size_t start, end; /* in the text */
	size_t n;
	bool cut; /* something did not fit; nothing may follow */
};

enum run_kind {
	RUN_NONE,
	RUN_LETTERS,
	RUN_PAIRS,
};

/* What mixed_run() knows. Characters come one by one; where the last one belongs
 * is known when the next one comes, so it is kept apart in `last`. */
struct run {
	struct sink *sink;
	enum run_kind kind;
	struct character last;

	/* RUN_LETTERS, without `last` */
	enum fold_kind before;    /* of the character before it */
	bool upper, lower, digit; /* there is one */
	size_t bytes;             /* folded */
	size_t parts;             /* may exceed PARTS_MAX, then part[] is useless */
	struct word part[PARTS_MAX];

	/* RUN_LETTERS: the whole run, which is a beginning of all its parts;
	 * RUN_PAIRS: the character before `last`, empty if there is none */
	struct word whole;

	/* The bytes of all parts, one behind the other; the whole's. Encoding
	 * may write a whole code point behind what is used. */
	size_t used;
	char p[PARTS_MAX * WORD_MAX + 4];
};

static void character_begin(struct character *ch, enum fold_kind kind, size_t start)
{
	ch->kind = kind;
	ch->start = start;
	ch->cut = false;
	ch->n = 0;
}

/*
 * Adds a code point where canonical order wants it: a mark goes in front of
 * those of a higher order, back to the last code point of order 0. Of more than
 * fit, the first ones in this order are kept, however they came.
 */
static void character_add(struct character *ch, const struct folded *f, size_t end)
{
	size_t at = ch->n;

	ch->end = end;
	if (ch->cut)
		return;
	while (f->order && at && ch->points[at - 1].order > f->order)
		at--;
	if (ch->n == WORD_MAX) {
		if (at == ch->n) {
			ch->cut = f->order == 0;
			return;
		}
		ch->n--;
	}
	for (size_t i = ch->n; i > at; i--)
		ch->points[i] = ch->points[i - 1];
	ch->points[at].c = f->c;
	ch->points[at].order = f->order;
	ch->n++;
}

static void word_begin(struct word *word, size_t start)
{
	*word = (struct word){ .start = start, .end = start };
}

/* Counts n bytes more, unless they do not fit; returns whether they do. */
static bool word_grow(struct word *word, size_t n)
{
	word->cut |= n > WORD_MAX - word->n;
	if (!word->cut)
		word->n += n;
	return !word->cut;
}

static void run_emit(struct run *run, const struct word *word, const char *p, unsigned flags)
{
	memcpy(sink_room(run->sink), p, word->n);
	sink_word(run->sink, word->n, word->start, word->end, flags);
}

/* Whether a part begins with a character, by its neighbours. ascii_splits() is
 * the same for masks. */
static bool splits(enum fold_kind before, enum fold_kind kind, enum fold_kind next)
{
	if (kind != FOLD_UPPER)
		return false;
	return before == FOLD_LOWER || before == FOLD_DIGIT || (before == FOLD_UPPER && next == FOLD_LOWER);
}

static bool is_encoded(size_t bytes, bool upper, bool lower, bool digit)
{
	return bytes > ENCODED && upper && lower && digit;
}

/* Puts `last` where it belongs; `next` follows it. As the parts lie one behind the
 * other and none is cut before the whole is, the whole is where they begin. */
static void letters_commit(struct run *run, enum fold_kind next)
{
	const struct character *last = &run->last;
	struct word *part;

	if (run->parts == 0 || splits(run->before, last->kind, next)) {
		if (run->parts < PARTS_MAX)
			word_begin(&run->part[run->parts], last->start);
		run->parts++;
	}
	part = &run->part[size_min(run->parts, PARTS_MAX) - 1];
	for (size_t i = 0; i < last->n; i++) {
		size_t n = utf8_encode(last->points[i].c, run->p + run->used);

		run->bytes += n;
		word_grow(&run->whole, n);
		if (word_grow(part, n))
			run->used += n;
	}
	part->end = run->whole.end = last->end;
	run->upper |= last->kind == FOLD_UPPER;
	run->lower |= last->kind == FOLD_LOWER;
	run->digit |= last->kind == FOLD_DIGIT;
	run->before = last->kind;
}

static void letters_end(struct run *run)
{
	const char *p = run->p;

	letters_commit(run, FOLD_BREAK);
	if (run->parts == 1 || run->parts > PARTS_MAX ||
	    is_encoded(run->bytes, run->upper, run->lower, run->digit)) {
		run_emit(run, &run->whole, run->p, 0);
		return;
	}
	for (size_t i = 0; i < run->parts; p += run->part[i].n, i++) {
		run_emit(run, &run->part[i], p, 0);
		if (i == 0 || i + 1 == run->parts)
			run_emit(run, &run->whole, run->p, WORD_COLOCATED);
	}
}

static void pairs_add(struct run *run)
{
	const struct character *last = &run->last;

	for (size_t i = 0; i < last->n; i++)
		word_grow(&run->whole, utf8_encode(last->points[i].c, run->p + run->whole.n));
	run->whole.end = last->end;
}

static void pairs_commit(struct run *run)
{
	if (run->whole.n) {
		pairs_add(run);
		run_emit(run, &run->whole, run->p, 0);
	}
	word_begin(&run->whole, run->last.start);
	pairs_add(run);
}

/* Not zeroed: what is not set here is set before it is read, and most runs are
 * far shorter than there is room. */
static void run_init(struct run *run, struct sink *sink)
{
	run->sink = sink;
	run->kind = RUN_NONE;
}

static void run_begin(struct run *run, enum run_kind kind, size_t start)
{
	run->kind = kind;
	run->before = FOLD_BREAK;
	run->upper = run->lower = run->digit = false;
	run->bytes = run->parts = run->used = 0;
	word_begin(&run->whole, start);
}

static void run_end(struct run *run)
{
	if (run->kind == RUN_LETTERS)
		letters_end(run);
	if (run->kind == RUN_PAIRS) {
		pairs_commit(run);
		run_emit(run, &run->whole, run->p, 0);
	}
	run->kind = RUN_NONE;
}

/* Whether `f` only adds to the last character; then it has done so. */
static bool run_extend(struct run *run, const struct folded *f, size_t end)
{
	struct character *last = &run->last;
	uint32_t syllable = 0;

	if (run->kind == RUN_NONE)
		return false;
	if (f->kind == FOLD_MARK || f->joined) {
		character_add(last, f, end);
		return true;
	}
	if (f->kind == FOLD_PAIRED && last->n == 1)
		syllable = fold_hangul(last->points[0].c, f->c);
	if (syllable) {
		last->points[0].c = syllable;
		last->end = end;
	}
	return syllable != 0;
}

static void run_add(struct run *run, const struct folded *f, size_t start, size_t end)
{
	enum run_kind kind = f->kind == FOLD_PAIRED ? RUN_PAIRS : RUN_LETTERS;

	if (f->kind <= FOLD_PICTURE) {
		run_end(run);
		if (f->kind == FOLD_PICTURE)
			sink_word(run->sink, utf8_encode(f->c, sink_room(run->sink)), start, end, 0);
		return;
	}
	if (run_extend(run, f, end))
		return;
	if (run->kind != kind) {
		run_end(run);
		run_begin(run, kind, start);
	} else if (kind == RUN_PAIRS) {
		pairs_commit(run);
	} else {
		letters_commit(run, f->kind);
	}
	character_begin(&run->last, f->kind, start);
	character_add(&run->last, f, end);
}

static bool is_ascii(char c)
{
	return !((unsigned char)c & 0x80);
}

static bool is_ascii_word(char c)
{
	unsigned lower = (unsigned char)c | 0x20u;

	return lower - 'a' < 26 || (unsigned char)c - (unsigned)'0' < 10;
}

/* Splits from `at` on, where a run begins or there is no ASCII, until there is
 * ASCII that begins a run or separates; returns where that is. */
static size_t mixed_run(struct sink *sink, struct str text, size_t at)
{
	struct run run;

	run_init(&run, sink);
	do {
		struct folded folded[FOLD_MAX];
		size_t start = at, n = fold_point(utf8_next(text, &at), folded);

		for (size_t i = 0; i < n; i++)
			run_add(&run, &folded[i], start, at);
		if (n == 0 && run.kind != RUN_NONE)
			run.last.end = at;
	} while (at < text.n &&
		 (!is_ascii(text.p[at]) || (run.kind != RUN_NONE && is_ascii_word(text.p[at]))));
	run_end(&run);
	return at;
}

/* ---- Runs of ASCII ---------------------------------------------------------- */

static uint64_t bits_below(size_t n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* Where splits() holds. A run's first byte has a separator before it, so it is
 * never among them. */
static uint64_t ascii_splits(const struct scan *s)
{
	return s->upper & ((s->lower | s->digit) << 1 | (s->upper << 1 & s->lower >> 1));
}

static inline void ascii_emit(struct sink *sink, const char *p, size_t n, size_t start, unsigned flags)
{
	scan_copy(sink_room(sink), p, n);
	sink_word(sink, n, start, start + n, flags);
}

/* A run of n < SCAN_BLOCK bytes at p; a bit in `inner` for each part but the first. */
static void ascii_parts(struct sink *sink, const char *p, size_t n, size_t start, uint64_t inner)
{
	size_t from = 0;

	for (; inner; inner &= inner - 1) {
		size_t next = (size_t)__builtin_ctzll(inner);

		ascii_emit(sink, p + from, next - from, start + from, 0);
		if (from == 0)
			ascii_emit(sink, p, n, start, WORD_COLOCATED);
		from = next;
	}
	ascii_emit(sink, p + from, n - from, start + from, 0);
	ascii_emit(sink, p, n, start, WORD_COLOCATED);
}

/* Whether the run of these bits is one word in spite of its changes of case. */
static bool ascii_is_whole(const struct scan *s, uint64_t run, uint64_t inner)
{
	return __builtin_popcountll(inner) >= PARTS_MAX ||
	       is_encoded((size_t)__builtin_popcountll(run), s->upper & run, s->lower & run, s->digit & run);
}

/*
 * The words in the first `limit` bytes of a block at p, which is `at` in the
 * text. A run that reaches the limit is left alone when it is `open`, that is,
 * when more of it may follow. Returns where such a run begins, else the limit.
 */
static size_t ascii_words(struct sink *sink, const char *p, size_t at, const struct scan *s, size_t limit,
			  bool open)
{
	uint64_t runs = (s->upper | s->lower | s->digit) & bits_below(limit);
	uint64_t cuts = ascii_splits(s);

	while (runs) {
		size_t start = (size_t)__builtin_ctzll(runs), n;
		uint64_t behind = ~(runs >> start), inner, run;

		n = behind ? (size_t)__builtin_ctzll(behind) : SCAN_BLOCK;
		if (start + n == limit && open)
			return start;
		run = bits_below(n) << start;
		inner = cuts & run;
		if (inner && !ascii_is_whole(s, run, inner))
			ascii_parts(sink, p + start, n, at + start, inner >> start);
		else
			ascii_emit(sink, p + start, n, at + start, 0);
		runs &= ~run;
	}
	return limit;
}

/* The block at `at`: in the text, or at its end copied to where zeros follow. */
static inline const char *block_at(struct str text, size_t at, char copy[SCAN_ROOM])
{
	if (text.n - at >= SCAN_ROOM)
		return text.p + at;
	memset(copy, 0, SCAN_ROOM);
	memcpy(copy, text.p + at, text.n - at);
	return copy;
}

/* Whether the run in front of `at` ends there; at `at` there is no ASCII. */
static bool is_break(struct str text, size_t at)
{
	struct folded folded[FOLD_MAX];

	return fold_point(utf8_next(text, &at), folded) > 0 && folded[0].kind <= FOLD_PICTURE;
}

/* A run that begins with a whole block of ASCII. Few are made of words, and
 * these may be slow; but base64 is to be passed quickly. */
static size_t long_run(struct sink *sink, struct str text, size_t at)
{
	bool upper = false, lower = false, digit = false;
	size_t end = at, n;

	do {
		char copy[SCAN_ROOM];
		struct scan s;
		uint64_t behind;

		scan_block(block_at(text, end, copy), &s);
		behind = ~(s.upper | s.lower | s.digit);
		n = behind ? (size_t)__builtin_ctzll(behind) : SCAN_BLOCK;
		upper |= (s.upper & bits_below(n)) != 0;
		lower |= (s.lower & bits_below(n)) != 0;
		digit |= (s.digit & bits_below(n)) != 0;
		end += n;
	} while (n == SCAN_BLOCK && end < text.n);
	if (end < text.n && !is_ascii(text.p[end]) && !is_break(text, end))
		return mixed_run(sink, text, at);
	if (upper && (lower || digit) && !is_encoded(end - at, upper, lower, digit))
		return mixed_run(sink, text, at);
	scan_copy(sink_room(sink), text.p + at, WORD_MAX);
	sink_word(sink, WORD_MAX, at, end, 0);
	return end;
}

/* ---- All of it -------------------------------------------------------------- */

/* From `at` on, where a run may begin. */
static void split_part(struct sink *sink, struct str text, size_t at)
{
	while (at < text.n) {
		char copy[SCAN_ROOM];
		const char *p = block_at(text, at, copy);
		struct scan s;
		size_t limit, done;
		bool open;

		scan_block(p, &s);
		limit = s.high ? (size_t)__builtin_ctzll(s.high) : SCAN_BLOCK;
		open = !s.high || (limit && is_ascii_word(p[limit - 1]) && !is_break(text, at + limit));
		done = ascii_words(sink, p, at, &s, limit, open);
		if (s.high)
			at = mixed_run(sink, text, at + done);
		else if (done)
			at = size_min(at + done, text.n);
		else
			at = long_run(sink, text, at);
	}
}

size_t words_colour(struct str text, size_t at)
{
	size_t i = at + 2;

	if (!str_has_prefix(str_sub(text, at, SIZE_MAX), STR("\x1b[")))
		return 0;
	while (i < text.n && ((text.p[i] >= '0' && text.p[i] <= '9') || text.p[i] == ';' || text.p[i] == ':'))
		i++;
	return i < text.n && (text.p[i] == 'm' || text.p[i] == 'K') ? i + 1 - at : 0;
}

/* An ESC separates anyway, so the text may be taken apart there; few texts have one. */
static void split(struct sink *sink, struct str text)
{
	for (size_t at = 0; at < text.n;) {
		const char *found = memchr(text.p + at, ESCAPE, text.n - at);
		size_t end = found ? (size_t)(found - text.p) : text.n;

		split_part(sink, str_sub(text, 0, end), at);
		at = found ? end + size_max(1, words_colour(text, end)) : end;
	}
}

void words_split(struct str text, words_fn *fn, void *ctx)
{
	struct sink sink = { .fn = fn, .ctx = ctx };

	sink.to = sink.scratch;
	sink.limit = sink.scratch + sizeof sink.scratch;
	split(&sink, text);
}

size_t words_pack(struct buf *out, struct str text)
{
	struct sink sink = { .out = out };

	if (text.n == 0)
		return 0;
	sink_grow(&sink);
	split(&sink, text);
	if (!out->failed)
		buf_grew(out, (size_t)(sink.to - (out->p + out->n)));
	return sink.count;
}

bool words_is_single_cjk(struct str word)
{
	size_t at = 0;
	int32_t c = word.n ? utf8_next(word, &at) : UTF8_BAD;

	if (c == UTF8_BAD || !fold_is_paired((uint32_t)c) || fold_is_mark((uint32_t)c))
		return false;
	while (at < word.n)
		if (!fold_is_mark((uint32_t)utf8_next(word, &at)))
			return false;
	return true;
}

const char *words_unicode(void)
{
	return fold_unicode();
}
