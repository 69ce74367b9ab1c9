/*
 * Differences between texts, by Myers' algorithm in linear space: the middle of a shortest
 * edit script is found by walking from both ends at once, and both halves are compared in
 * turn. ("An O(ND) Difference Algorithm and Its Variations", 1986, section 4b.)
 *
 * What both texts begin and end with is found by its bytes; only the lines between become
 * numbers, the same for the same bytes, their end included: a last line without an end
 * differs from one with it. Lines that stand on one side only are changed whatever the
 * others do, and are left out of the comparison: a text that was rewritten costs no more
 * than one that was not.
 *
 * Time is bounded: every step is taken from a budget that grows with the number of lines.
 * When it is used up, what is not compared yet counts as replaced. The result is then
 * longer than it had to be, and still right.
 */
#include "base/diff.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/numbers.h"

#include <string.h>

enum { CONTEXT = 3, BUDGET_LEAST = 1 << 22, BUDGET_LINE = 64 };

/* Lines of one text. */
struct side {
	struct str *lines;
	uint32_t *class; /* number of a line */
	bool *changed;
	uint32_t count;
	uint32_t *kept, *at; /* lines that stand on both sides: their numbers, and where they are */
	int32_t kept_count;
};

/* Lines that were replaced by others. */
struct block {
	size_t a, a_end, b, b_end; /* bytes */
	int64_t a_line, b_line;	   /* how many lines are before it */
};

struct diff {
	struct str before, after;
	struct side a, b; /* between what both begin and end with */
	int64_t budget;
	int32_t *ahead, *back; /* by diagonal: how far the ways from both ends have come */
	struct block *blocks;
	size_t count;
	struct arena mem;
};

static void diff_release(struct diff *d)
{
	arena_release(&d->mem);
}

int64_t diff_lines(struct str text)
{
	int64_t lines = text.n && text.p[text.n - 1] != '\n';

	for (size_t at = 0; at < text.n; lines++) {
		const char *end = memchr(text.p + at, '\n', text.n - at);

		if (!end)
			break;
		at = (size_t)(end - text.p) + 1;
	}
	return lines;
}

/* ---- Lines as numbers --------------------------------------------------------------- */

static void split(struct diff *d, struct side *s, struct str text)
{
	size_t lines = (size_t)diff_lines(text);

	s->lines = arena_alloc(&d->mem, (lines + 1) * sizeof *s->lines);
	s->class = arena_alloc(&d->mem, (lines + 1) * sizeof *s->class);
	s->changed = arena_alloc(&d->mem, (lines + 1) * sizeof *s->changed);
	s->kept = arena_alloc(&d->mem, (lines + 1) * sizeof *s->kept);
	s->at = arena_alloc(&d->mem, (lines + 1) * sizeof *s->at);
	while (text.n) {
		size_t end = str_find(text, '\n');
		size_t n = end == SIZE_MAX ? text.n : end + 1;

		s->lines[s->count++] = str_sub(text, 0, n);
		text = str_sub(text, n, SIZE_MAX);
	}
}

/* Numbers one side's lines; `first` has a line of each number. */
static void classify(struct side *s, struct numbers *known, struct str *first, uint32_t *classes)
{
	for (uint32_t i = 0; i < s->count; i++) {
		uint64_t key = hash64(s->lines[i].p, s->lines[i].n);
		uint32_t class;

		while ((class = numbers_get(known, key)) != NUMBERS_NONE &&
		       !str_eq(first[class], s->lines[i]))
			key++;
		if (class == NUMBERS_NONE) {
			class = (*classes)++;
			first[class] = s->lines[i];
			numbers_put(known, key, class);
		}
		s->class[i] = class;
	}
}

static void keep_common(struct side *s, const bool *in_other)
{
	for (uint32_t i = 0; i < s->count; i++) {
		s->changed[i] = !in_other[s->class[i]];
		if (s->changed[i])
			continue;
		s->kept[s->kept_count] = s->class[i];
		s->at[s->kept_count++] = i;
	}
}

static void prepare(struct diff *d, struct str before, struct str after)
{
	size_t all;
	struct numbers known;
	struct str *first;
	uint32_t classes = 0;
	bool *in_a, *in_b;

	split(d, &d->a, before);
	split(d, &d->b, after);
	all = (size_t)d->a.count + d->b.count;
	known = numbers_new(&d->mem, all);
	first = arena_alloc(&d->mem, (all + 1) * sizeof *first);
	classify(&d->a, &known, first, &classes);
	classify(&d->b, &known, first, &classes);
	in_a = arena_alloc(&d->mem, classes + 1);
	in_b = arena_alloc(&d->mem, classes + 1);
	for (uint32_t i = 0; i < d->a.count; i++)
		in_a[d->a.class[i]] = true;
	for (uint32_t i = 0; i < d->b.count; i++)
		in_b[d->b.class[i]] = true;
	keep_common(&d->a, in_b);
	keep_common(&d->b, in_a);
	all = (size_t)d->a.kept_count + (size_t)d->b.kept_count;
	d->budget = BUDGET_LEAST + BUDGET_LINE * (int64_t)all;
	d->ahead = arena_alloc(&d->mem, (2 * all + 5) * sizeof *d->ahead);
	d->back = arena_alloc(&d->mem, (2 * all + 5) * sizeof *d->back);
}

/* ---- Comparing ------------------------------------------------------------------------ */

/* A part of both sides. */
struct box {
	int32_t a, a_end, b, b_end;
};

static bool same(const struct diff *d, int32_t a, int32_t b)
{
	return d->a.kept[a] == d->b.kept[b];
}

/* The ways from both ends of a box. Ways may leave it; they never meet out there, because
 * they would have met inside before. */
struct ways {
	struct diff *d;
	const struct box *box;
	int32_t n, m, delta;
	int32_t *ahead, *back; /* so that 0 is the diagonal through the beginning */
};

/* One more difference from the beginning; true where it meets the way from the end. */
static bool go_ahead(struct ways *w, int32_t steps, int32_t *a, int32_t *b)
{
	for (int32_t k = -steps; k <= steps; k += 2) {
		bool down = k == -steps || (k != steps && w->ahead[k - 1] < w->ahead[k + 1]);
		int32_t from = down ? w->ahead[k + 1] : w->ahead[k - 1] + 1, x = from;

		while (x < w->n && x - k < w->m && same(w->d, w->box->a + x, w->box->b + x - k))
			x++;
		w->d->budget -= 1 + x - from;
		w->ahead[k] = x;
		if ((w->delta & 1) && k > w->delta - steps && k < w->delta + steps && x >= w->back[k]) {
			*a = w->box->a + x;
			*b = w->box->b + x - k;
			return true;
		}
	}
	return false;
}

/* The same from the end. */
static bool go_back(struct ways *w, int32_t steps, int32_t *a, int32_t *b)
{
	for (int32_t i = -steps; i <= steps; i += 2) {
		int32_t k = w->delta + i;
		bool up = i == steps || (i != -steps && w->back[k - 1] < w->back[k + 1]);
		int32_t from = up ? w->back[k - 1] : w->back[k + 1] - 1, x = from;

		while (x > 0 && x - k > 0 && same(w->d, w->box->a + x - 1, w->box->b + x - k - 1))
			x--;
		w->d->budget -= 1 + from - x;
		w->back[k] = x;
		if (!(w->delta & 1) && k >= -steps && k <= steps && x <= w->ahead[k]) {
			*a = w->box->a + x;
			*b = w->box->b + x - k;
			return true;
		}
	}
	return false;
}

/* A point in the middle of a shortest way through the box; false when it is too far. */
static bool find_middle(struct diff *d, const struct box *box, int32_t *a, int32_t *b)
{
	int32_t n = box->a_end - box->a, m = box->b_end - box->b, all = d->a.kept_count + d->b.kept_count;
	struct ways w = { d, box, n, m, n - m, d->ahead + all + 2, d->back + all + 2 };

	w.ahead[1] = 0;
	w.back[w.delta - 1] = n;
	for (int32_t steps = 0; d->budget > 0 && steps <= (n + m + 1) / 2; steps++)
		if (go_ahead(&w, steps, a, b) || go_back(&w, steps, a, b))
			return true;
	return false;
}

/* What is the same at the ends of a box is no difference. */
static void shrink(struct diff *d, struct box *x)
{
	while (x->a < x->a_end && x->b < x->b_end && same(d, x->a, x->b)) {
		x->a++;
		x->b++;
	}
	while (x->a < x->a_end && x->b < x->b_end && same(d, x->a_end - 1, x->b_end - 1)) {
		x->a_end--;
		x->b_end--;
	}
}

static void replace(struct diff *d, const struct box *x)
{
	for (int32_t i = x->a; i < x->a_end; i++)
		d->a.changed[d->a.at[i]] = true;
	for (int32_t i = x->b; i < x->b_end; i++)
		d->b.changed[d->b.at[i]] = true;
}

/* Every half has half the differences: the stack is as deep as they have binary digits. */
static void compare(struct diff *d)
{
	enum { DEEPEST = 64 };
	struct box stack[DEEPEST] = { { 0, d->a.kept_count, 0, d->b.kept_count } };
	size_t count = 1;

	while (count) {
		struct box x = stack[--count];
		int32_t a, b;

		shrink(d, &x);
		if (x.a == x.a_end || x.b == x.b_end || count + 2 > DEEPEST || !find_middle(d, &x, &a, &b)) {
			replace(d, &x);
			continue;
		}
		stack[count++] = (struct box){ a, x.a_end, b, x.b_end };
		stack[count++] = (struct box){ x.a, a, x.b, b };
	}
}

/* ---- Blocks --------------------------------------------------------------------------- */

static bool begins_line(struct str text, size_t at)
{
	return at == 0 || text.p[at - 1] == '\n';
}

/* Whole lines that both begin with, in bytes. */
static size_t common_beginning(struct str a, struct str b)
{
	size_t most = size_min(a.n, b.n), n = 0;

	while (n < most && a.p[n] == b.p[n])
		n++;
	/* Both end here, or both begin a line. */
	while (n > 0 && !(n == a.n && n == b.n) && !begins_line(a, n))
		n--;
	return n;
}

/* And end with. */
static size_t common_end(struct str a, struct str b)
{
	size_t most = size_min(a.n, b.n), n = 0;

	while (n < most && a.p[a.n - n - 1] == b.p[b.n - n - 1])
		n++;
	while (n > 0 && !(begins_line(a, a.n - n) && begins_line(b, b.n - n)))
		n--;
	return n;
}

static size_t bytes_of(const struct side *s, uint32_t from, uint32_t to)
{
	size_t n = 0;

	for (uint32_t i = from; i < to; i++)
		n += s->lines[i].n;
	return n;
}

/* Blocks of the lines between; `at` is where they begin, and moves along. */
static void gather(struct diff *d, struct block at)
{
	uint32_t i = 0, k = 0;

	d->blocks = arena_alloc(&d->mem, ((size_t)d->a.count + d->b.count + 1) * sizeof *d->blocks);
	while (i < d->a.count || k < d->b.count) {
		uint32_t i_end = i, k_end = k;

		while (i_end < d->a.count && d->a.changed[i_end])
			i_end++;
		while (k_end < d->b.count && d->b.changed[k_end])
			k_end++;
		if (i_end > i || k_end > k) {
			at.a_end = at.a + bytes_of(&d->a, i, i_end);
			at.b_end = at.b + bytes_of(&d->b, k, k_end);
			d->blocks[d->count++] = at;
		} else {
			i_end++;
			k_end++;
			at.a_end = at.a + d->a.lines[i].n;
			at.b_end = at.b + d->b.lines[k].n;
		}
		at = (struct block){ .a = at.a_end,
				     .b = at.b_end,
				     .a_line = at.a_line + (i_end - i),
				     .b_line = at.b_line + (k_end - k) };
		i = i_end;
		k = k_end;
	}
}

static void diff_run(struct diff *d, struct str before, struct str after)
{
	size_t begin = common_beginning(before, after);
	size_t end = common_end(str_sub(before, begin, SIZE_MAX), str_sub(after, begin, SIZE_MAX));
	struct str a = str_sub(before, begin, before.n - begin - end);
	struct str b = str_sub(after, begin, after.n - begin - end);
	struct block at = { .a = begin, .b = begin };

	d->before = before;
	d->after = after;
	if (!a.n && !b.n)
		return;
	at.a_line = at.b_line = diff_lines(str_sub(before, 0, begin));
	if (diff_lines(a) > LIMIT_DIFF_LINES || diff_lines(b) > LIMIT_DIFF_LINES) {
		at.a_end = begin + a.n;
		at.b_end = begin + b.n;
		d->blocks = arena_alloc(&d->mem, sizeof *d->blocks);
		d->blocks[d->count++] = at;
		return;
	}
	prepare(d, a, b);
	compare(d);
	gather(d, at);
}

struct diff_size diff_count(struct str before, struct str after)
{
	struct diff d CLEANUP(diff_release) = { 0 };
	struct diff_size size = { 0 };

	diff_run(&d, before, after);
	for (size_t i = 0; i < d.count; i++) {
		size.removed += diff_lines(str_sub(before, d.blocks[i].a, d.blocks[i].a_end - d.blocks[i].a));
		size.added += diff_lines(str_sub(after, d.blocks[i].b, d.blocks[i].b_end - d.blocks[i].b));
	}
	return size;
}

/* ---- Printing --------------------------------------------------------------------------- */

static void print_lines(struct buf *out, char mark, struct str text)
{
	while (text.n) {
		size_t end = str_find(text, '\n');
		size_t n = end == SIZE_MAX ? text.n : end + 1;

		buf_byte(out, mark);
		buf_str(out, str_sub(text, 0, n));
		if (end == SIZE_MAX)
			buf_text(out, "\n\\ No newline at end of file\n");
		text = str_sub(text, n, SIZE_MAX);
	}
}

/* Where the lines before `at` begin that are shown around a change. */
static size_t before_context(struct str text, size_t at, size_t least)
{
	for (int lines = 0; lines < CONTEXT && at > least; lines++) {
		at--;
		while (at > least && text.p[at - 1] != '\n')
			at--;
	}
	return at;
}

static size_t after_context(struct str text, size_t at, size_t most)
{
	for (int lines = 0; lines < CONTEXT && at < most; lines++) {
		const char *end = memchr(text.p + at, '\n', most - at);

		at = end ? (size_t)(end - text.p) + 1 : most;
	}
	return at;
}

/* Blocks that are shown together: no more lie between them than would be shown anyway. */
static size_t group_end(const struct diff *d, size_t first)
{
	size_t last = first;

	while (last + 1 < d->count &&
	       d->blocks[last + 1].a_line - d->blocks[last].a_line -
			       diff_lines(str_sub(d->before, d->blocks[last].a,
						  d->blocks[last].a_end - d->blocks[last].a)) <=
		       2 * CONTEXT)
		last++;
	return last;
}

static void print_range(struct buf *out, char mark, int64_t line, int64_t lines)
{
	buf_printf(out, "%c%" PRId64, mark, lines ? line + 1 : line);
	if (lines != 1)
		buf_printf(out, ",%" PRId64, lines);
}

static void print_group(const struct diff *d, size_t first, size_t last, struct buf *out)
{
	const struct block *x = &d->blocks[first], *y = &d->blocks[last];
	size_t from = before_context(d->before, x->a, 0),
	       to = after_context(d->before, y->a_end, d->before.n);
	int64_t lead = diff_lines(str_sub(d->before, from, x->a - from));
	struct str a = str_sub(d->before, from, to - from);
	struct str b = str_sub(d->after, x->b - (x->a - from),
			       y->b_end - x->b + (x->a - from) + (to - y->a_end));

	buf_text(out, "@@ ");
	print_range(out, '-', x->a_line - lead, diff_lines(a));
	buf_byte(out, ' ');
	print_range(out, '+', x->b_line - lead, diff_lines(b));
	buf_text(out, " @@\n");
	for (size_t i = first; i <= last; i++) {
		print_lines(out, ' ', str_sub(d->before, from, d->blocks[i].a - from));
		print_lines(out, '-',
			    str_sub(d->before, d->blocks[i].a, d->blocks[i].a_end - d->blocks[i].a));
		print_lines(out, '+', str_sub(d->after, d->blocks[i].b, d->blocks[i].b_end - d->blocks[i].b));
		from = d->blocks[i].a_end;
	}
	print_lines(out, ' ', str_sub(d->before, from, to - from));
}

void diff_unified(struct str before, struct str after, struct buf *out)
{
	struct diff d CLEANUP(diff_release) = { 0 };

	diff_run(&d, before, after);
	for (size_t i = 0, last; i < d.count; i = last + 1) {
		last = group_end(&d, i);
		print_group(&d, i, last, out);
	}
}
