/*
 * Writing FTS5's language.
 *
 * FTS5 gets only operators written here, and words between quotes; a folded word contains
 * no quote: nothing that was typed can be syntax.
 *
 * It knows NOT only between two: "a NOT b". So each node is written either as itself or as
 * its opposite, whichever can be written without "everything there is":
 *
 *     all of P.., none of N..     (P AND P) NOT (N OR N);  without P the opposite, N OR N
 *     any of P.., or not N..      P OR P;  with N the opposite, (N AND N) NOT (P OR P)
 *
 * If the root comes out as its opposite, it would match nearly everything, and is refused.
 * What is behind an odd number of NOTs is not wanted: neither weighed nor shown.
 */
#include "query/expr_match.h"

struct writing {
	struct expr *e;
	uint8_t item; /* the next */
	uint8_t group; /* the NEAR in hand, or the last */
	int distance; /* of it; -1 = there is none in hand */
};

static bool set_signs(struct expr_node *n)
{
	bool any = false, all = true;

	for (struct expr_node *c = n->first; c; c = c->next) {
		bool negative = n->kind != EXPR_NODE_NEAR && set_signs(c);

		any |= negative;
		all &= negative;
	}
	n->negative = n->kind == EXPR_NODE_NOT	 ? !any
		      : n->kind == EXPR_NODE_ALL ? all
		      : n->kind == EXPR_NODE_ANY ? any
						 : false;
	return n->negative;
}

/* `again`: another spelling of the phrase before. */
static void write_phrase(struct writing *w, const struct phrase *p, bool wanted, bool again)
{
	struct expr *e = w->e;

	e->items[e->phrase_count++] = wanted ? w->item : EXPR_UNWEIGHED;
	if (wanted)
		e->phrases[e->wanted_count++] = (struct expr_phrase){ .words = p->words,
								      .count = p->count,
								      .item = w->item,
								      .group = w->distance < 0 ? 0 : w->group,
								      .distance = w->distance };
	for (size_t i = 0; i < p->count; i++) {
		buf_printf(&e->match, "%s\"%.*s\"%s", i ? " + " : "", STR_ARG(p->words[i].word),
			   p->words[i].prefix && i + 1 == p->count ? " *" : "");
		if (wanted && (!again || !expr_has(e, p->words[i].word, &(size_t){ 0 })))
			e->words[e->count++] = p->words[i];
	}
}

static void write_words(struct writing *w, const struct expr_node *n, bool wanted)
{
	if (wanted && n->name.p) {
		w->e->signs = w->e->signs_count++ ? w->e->signs : n->name;
		w->e->signs_quoted |= n->quoted;
	}
	w->e->cited |= wanted && n->cited;
	buf_byte(&w->e->match, '(');
	write_phrase(w, &n->parts, wanted, false);
	if (n->wholes.count) {
		buf_text(&w->e->match, " OR ");
		write_phrase(w, &n->wholes, wanted, true);
	}
	buf_byte(&w->e->match, ')');
	w->item += wanted;
}

static void write_near(struct writing *w, const struct expr_node *n, bool wanted)
{
	w->group++;
	w->distance = n->distance;
	buf_text(&w->e->match, "(NEAR(");
	for (const struct expr_node *c = n->first; c; c = c->next) {
		write_phrase(w, &c->parts, wanted, false);
		w->item += wanted;
		buf_byte(&w->e->match, ' ');
	}
	buf_printf(&w->e->match, ", %d))", n->distance);
	w->distance = -1;
}

static void write_mark(struct writing *w, const struct expr_node *n)
{
	w->e->items[w->e->phrase_count++] = EXPR_UNWEIGHED;
	buf_printf(&w->e->match, "(\"%.*s\"%s)", STR_ARG(n->mark.word), n->mark.prefix ? " *" : "");
}

static void write_node(struct writing *w, const struct expr_node *n, bool wanted, bool inside);

static int count_sign(const struct expr_node *n, bool negative)
{
	int count = 0;

	for (const struct expr_node *c = n->first; c; c = c->next)
		count += c->negative == negative;
	return count;
}

/* The children that are written as their opposite, or the others. */
static void write_some(struct writing *w, const struct expr_node *n, bool negative, const char *operator,
		       bool wanted)
{
	bool brackets = count_sign(n, negative) > 1 && count_sign(n, !negative);

	if (brackets)
		buf_byte(&w->e->match, '(');
	for (const struct expr_node *c = n->first, *before = NULL; c; c = c->next) {
		if (c->negative != negative)
			continue;
		buf_text(&w->e->match, before ? operator : "");
		write_node(w, c, wanted, true);
		before = c;
	}
	if (brackets)
		buf_byte(&w->e->match, ')');
}

static void write_list(struct writing *w, const struct expr_node *n, bool wanted)
{
	bool is_all = n->kind == EXPR_NODE_ALL;

	write_some(w, n, n->negative, is_all != n->negative ? " AND " : " OR ", wanted);
	if (!count_sign(n, !n->negative))
		return;
	buf_text(&w->e->match, " NOT ");
	write_some(w, n, !n->negative, " OR ", !wanted);
}

static void write_node(struct writing *w, const struct expr_node *n, bool wanted, bool inside)
{
	switch (n->kind) {
	case EXPR_NODE_WORDS:
		write_words(w, n, wanted);
		break;
	case EXPR_NODE_MARK:
		write_mark(w, n);
		break;
	case EXPR_NODE_NEAR:
		write_near(w, n, wanted);
		break;
	case EXPR_NODE_NOT:
		write_node(w, n->first, wanted, inside);
		break;
	case EXPR_NODE_ALL:
	case EXPR_NODE_ANY:
		if (inside)
			buf_byte(&w->e->match, '(');
		write_list(w, n, wanted);
		if (inside)
			buf_byte(&w->e->match, ')');
		break;
	}
}

bool expr_match(struct expr *e, struct expr_node *root)
{
	struct writing w = { .e = e, .distance = -1 };

	if (set_signs(root))
		return false;
	buf_clear(&e->match);
	e->count = e->wanted_count = e->phrase_count = 0;
	e->signs = (struct str){ 0 };
	e->signs_count = 0;
	e->signs_quoted = false;
	e->cited = false;
	write_node(&w, root, true, false);
	return true;
}

void expr_match_opposite(struct expr *e, struct expr_node *root)
{
	struct writing w = { .e = e, .distance = -1 };

	set_signs(root);
	buf_clear(&e->match);
	write_node(&w, root, false, false);
	buf_clear(&e->unwanted);
	buf_str(&e->unwanted, buf_as_str(&e->match));
	buf_clear(&e->match);
	e->count = e->wanted_count = e->phrase_count = 0;
}
