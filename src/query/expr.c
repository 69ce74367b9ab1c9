/*
 * Reading queries.
 *
 * The text is taken apart at white space into items. The words of an item follow
 * each other in the texts that are meant, so "foo_bar", "foo.bar" and fooBar are
 * phrases of two words. An identifier in one case style may stand in a text in
 * another: where splitting gives wholes beside their parts (my.GitHub: my git hub,
 * github), a second phrase has them in the place of their parts, and either is
 * meant.
 *
 * FTS5 gets only what stands between the quotes here, and a folded word contains
 * no quote: nothing that was typed can be syntax.
 */
#include "query/expr.h"

#include "base/utf8.h"
#include "base/words.h"

#include <string.h>

enum { MOST_WORDS = EXPR_WORDS };

/* Words that follow each other. */
struct phrase {
	struct expr_word words[MOST_WORDS];
	size_t starts[MOST_WORDS]; /* in the item */
	size_t count;
};

struct item {
	struct arena *mem;
	struct phrase parts;
	struct phrase wholes; /* the same with identifiers as one word each */
	bool has_wholes;      /* that is, they differ */
	bool cut;
};

static void add_word(struct phrase *p, struct str word, size_t start)
{
	p->starts[p->count] = start;
	p->words[p->count++] = (struct expr_word){ word, words_is_single_cjk(word) };
}

static void take_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct item *i = ctx;

	(void)end;
	i->cut |= !(flags & WORD_COLOCATED) && i->parts.count == MOST_WORDS;
	if (i->cut)
		return;
	word = arena_str(i->mem, word);
	if (flags & WORD_COLOCATED) {
		i->has_wholes = true;
		while (i->wholes.count && i->wholes.starts[i->wholes.count - 1] >= start)
			i->wholes.count--;
	} else {
		add_word(&i->parts, word, start);
	}
	add_word(&i->wholes, word, start);
}

/* ---- FTS5's language --------------------------------------------------------- */

static void add_phrase(struct expr *e, const struct phrase *p, uint8_t item)
{
	e->items[e->phrase_count++] = item;
	for (size_t i = 0; i < p->count; i++)
		buf_printf(&e->match, "%s\"%.*s\"%s", i ? " + " : "", STR_ARG(p->words[i].word),
			   p->words[i].prefix && i + 1 == p->count ? " *" : "");
}

static void add_item(struct expr *e, const struct item *i)
{
	bool either = i->has_wholes && !i->cut;
	uint8_t number = e->phrase_count ? (uint8_t)(e->items[e->phrase_count - 1] + 1) : 0;

	if (e->match.n)
		buf_text(&e->match, " AND ");
	buf_byte(&e->match, '(');
	add_phrase(e, &i->parts, number);
	if (either) {
		buf_text(&e->match, " OR ");
		add_phrase(e, &i->wholes, number);
	}
	buf_byte(&e->match, ')');
	for (size_t k = 0; k < i->parts.count; k++)
		e->words[e->count++] = i->parts.words[k];
	for (size_t k = 0; either && k < i->wholes.count; k++)
		if (!expr_has(e, i->wholes.words[k].word, &(size_t){ 0 }))
			e->words[e->count++] = i->wholes.words[k];
}

/* ---- Items ------------------------------------------------------------------- */

/* How many bytes of blanks, of any script, the text begins with; or of others. */
static size_t span(struct str text, bool blanks)
{
	size_t at = 0, next = 0;

	while (at < text.n && (blanks || text.p[at] != '"') &&
	       utf8_is_blank(utf8_next(text, &next)) == blanks)
		at = next;
	return at;
}

/* The next item: what is in quotes, or up to white space. A quote that never ends
 * goes to the end. */
static struct str next_item(struct str *text, bool *quoted)
{
	struct str item;
	size_t n;

	*text = str_sub(*text, span(*text, true), SIZE_MAX);
	*quoted = text->n && text->p[0] == '"';
	if (*quoted) {
		*text = str_sub(*text, 1, SIZE_MAX);
		n = size_min(str_find(*text, '"'), text->n);
		item = str_sub(*text, 0, n);
		*text = str_sub(*text, n + 1, SIZE_MAX);
		return item;
	}
	n = span(*text, false);
	item = str_sub(*text, 0, n);
	*text = str_sub(*text, n, SIZE_MAX);
	return item;
}

/* The query begins so; on a line of an error, and cut behind a character. */
static enum status no_word(struct str text, struct err *err)
{
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB);
	size_t n = size_min(text.n, 60);

	while (n && n < text.n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	utf8_repair(&shown, str_sub(text, 0, n));
	return err_fail(err, STATUS_USAGE, "no word to look for in '%s'", shown.p ? shown.p : "");
}

static void set_prefix(struct phrase *p)
{
	p->words[p->count - 1].prefix = true;
}

enum status expr_read(struct expr *e, struct str text, struct arena *mem, struct err *err)
{
	struct str rest = text;
	bool quoted;

	*e = (struct expr){ .match = BUF_INIT(64 * KIB),
			    .words = arena_alloc(mem, 2 * (size_t)MOST_WORDS * sizeof *e->words) };
	while (rest.n && !e->cut) {
		struct str part = next_item(&rest, &quoted);
		struct item item = { .mem = mem };
		bool fits;

		words_split(part, take_word, &item);
		if (item.parts.count == 0)
			continue;
		if (!quoted && part.p[part.n - 1] == '*') {
			set_prefix(&item.parts);
			set_prefix(&item.wholes);
		}
		fits = e->count + item.parts.count <= MOST_WORDS;
		e->cut = item.cut || !fits;
		if (fits)
			add_item(e, &item);
	}
	return e->count ? STATUS_OK : no_word(text, err);
}

void expr_release(struct expr *e)
{
	buf_release(&e->match);
}

bool expr_has(const struct expr *e, struct str word, size_t *which)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->words[i].prefix ? str_has_prefix(word, e->words[i].word)
				       : str_eq(word, e->words[i].word)) {
			*which = i;
			return true;
		}
	return false;
}
