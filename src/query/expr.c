/*
 * Reading queries.
 *
 * The text is taken apart at white space into items. The words of an item follow
 * each other in the texts that are meant, so "foo_bar", "foo.bar" and fooBar are
 * phrases of two words. An identifier in one case style may stand in a text in
 * another: where splitting gives the whole beside its parts (GitHub: git hub,
 * github), either is meant.
 *
 * FTS5 gets only what stands between the quotes here, and a folded word contains
 * no quote: nothing that was typed can be syntax.
 */
#include "query/expr.h"

#include "base/words.h"

#include <string.h>

enum { MOST_WORDS = 64 };

struct item {
	struct arena *mem;
	struct expr_word words[MOST_WORDS]; /* following each other */
	size_t count;
	struct str whole; /* the identifier as one word; p NULL = there is none */
	size_t wholes;
	bool cut;
};

static void take_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct item *i = ctx;

	(void)start;
	(void)end;
	if (flags & WORD_COLOCATED) {
		i->whole = arena_str(i->mem, word);
		i->wholes++;
	} else if (i->count < MOST_WORDS) {
		i->words[i->count++] = (struct expr_word){ arena_str(i->mem, word), words_is_single_cjk(word) };
	} else {
		i->cut = true;
	}
}

/* ---- FTS5's language --------------------------------------------------------- */

static void add_phrase(struct buf *out, const struct expr_word *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s\"%.*s\"%s", i ? " + " : "", STR_ARG(words[i].word),
			   words[i].prefix && i + 1 == count ? " *" : "");
}

static void add_item(struct expr *e, const struct item *i)
{
	bool either = i->wholes == 1 && i->count > 1;

	if (e->match.n)
		buf_text(&e->match, " AND ");
	buf_byte(&e->match, '(');
	add_phrase(&e->match, i->words, i->count);
	if (either) {
		buf_text(&e->match, " OR ");
		add_phrase(&e->match, &(struct expr_word){ i->whole, i->words[i->count - 1].prefix }, 1);
	}
	buf_byte(&e->match, ')');
	for (size_t k = 0; k < i->count; k++)
		e->words[e->count++] = i->words[k];
	if (either)
		e->words[e->count++] = (struct expr_word){ i->whole, i->words[i->count - 1].prefix };
}

/* ---- Items ------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* The next item: what is in quotes, or up to white space. A quote that never ends
 * goes to the end. */
static struct str next_item(struct str *text, bool *quoted)
{
	size_t n = 0;
	struct str item;

	while (text->n && is_blank(text->p[0]))
		*text = str_sub(*text, 1, SIZE_MAX);
	*quoted = text->n && text->p[0] == '"';
	if (*quoted) {
		*text = str_sub(*text, 1, SIZE_MAX);
		n = str_find(*text, '"');
		item = str_sub(*text, 0, n);
		*text = n == SIZE_MAX ? (struct str){ 0 } : str_sub(*text, n + 1, SIZE_MAX);
		return item;
	}
	while (n < text->n && !is_blank(text->p[n]) && text->p[n] != '"')
		n++;
	item = str_sub(*text, 0, n);
	*text = str_sub(*text, n, SIZE_MAX);
	return item;
}

enum status expr_read(struct expr *e, struct str text, struct arena *mem, struct err *err)
{
	struct str rest = text;
	bool quoted;

	*e = (struct expr){ .match = BUF_INIT(64 * KIB),
			    .words = arena_alloc(mem, (2 * (size_t)MOST_WORDS + 1) * sizeof *e->words) };
	while (rest.n && !e->cut) {
		struct str part = next_item(&rest, &quoted);
		struct item item = { .mem = mem };

		words_split(part, take_word, &item);
		if (item.count == 0)
			continue;
		if (!quoted && part.p[part.n - 1] == '*')
			item.words[item.count - 1].prefix = true;
		e->cut = item.cut || e->count + item.count + 1 > MOST_WORDS;
		if (e->count + item.count <= MOST_WORDS)
			add_item(e, &item);
	}
	if (e->count)
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE, "no word to look for in '%.*s'", (int)size_min(text.n, 60),
			text.p ? text.p : "");
}

void expr_release(struct expr *e)
{
	buf_release(&e->match);
}

bool expr_has(const struct expr *e, struct str word, size_t *which)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->words[i].prefix ? str_has_prefix(word, e->words[i].word) : str_eq(word, e->words[i].word)) {
			*which = i;
			return true;
		}
	return false;
}
