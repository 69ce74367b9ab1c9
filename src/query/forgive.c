/*
 * Questions as people ask them: "where did we decide to disable telemetry by default". No text has all these words;
 * what is meant are those that say something, in whichever form they stand.
 *
 * Forms are made by the rules of English for plurals, -ed and -ing, in both ways and without caring whether there
 * is such a word: of those that come out only the ones that texts have are asked for, which is a look-up of some
 * microseconds each. The index itself has words as they stand, so that what was typed is found first and alone.
 */
#include "query/forgive.h"

#include "query/expr_match.h"
#include "query/rank.h"

#include <string.h>

enum {
	SHORTEST = 3,  /* word that has forms */
	LONGEST = 24,
	MOST_FORMS = 6,	/* of a word, itself among them; fewer where there is no room for as many of each */
	MOST_ITEMS = 5, /* of which one may be missing: each is written once for every other */
	MOST_LOOSE = 4, /* forms then */
};

/* Asked for in pieces, since a query has so much room. */
_Static_assert(MOST_ITEMS *(MOST_ITEMS - 1) * MOST_LOOSE <= 2 * EXPR_WORDS, "there is room for all words");

static bool is_among(struct str word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(word, str_of(words[i])))
			return true;
	return false;
}

/* Words that stand in any text, and say nothing of it. */
static bool is_small(struct str word)
{
	static const char *const words[] = {
		"a", "about", "am", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can",
		"could", "did", "do", "does", "done", "for", "from", "had", "has", "have", "he", "her",
		"here", "him", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me",
		"might", "must", "my", "of", "on", "or", "our", "out", "shall", "she", "should", "so",
		"than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
		"those", "to", "up", "us", "was", "we", "were", "what", "when", "where", "which",
		"who", "why", "will", "with", "would", "you", "your",
	};

	return is_among(word, words, COUNT(words));
}

/* And those for what is done in any conversation: who asks where something was decided finds it where it is talked
 * about. */
static bool is_asking(struct str word)
{
	static const char *const words[] = {
		"decide", "decided", "discuss", "discussed", "mention", "mentioned", "said", "say", "talk", "talked",
	};

	return is_small(word) || is_among(word, words, COUNT(words));
}

/* One word as it stands, which may be changed. */
static bool is_plain(const struct expr_node *n)
{
	return n->kind == EXPR_NODE_WORDS && n->parts.count == 1 && !n->wholes.count && !n->parts.words[0].prefix &&
	       !n->name.p && !n->quoted;
}

/* ---- Forms -------------------------------------------------------------------- */

struct forms {
	char list[32][LONGEST + 4];
	size_t count;
};

static void add_form(struct forms *f, struct str stem, const char *end)
{
	char *out = f->list[f->count];
	size_t n = strlen(end);

	if (f->count == COUNT(f->list) || stem.n < SHORTEST || stem.n > LONGEST)
		return;
	memcpy(out, stem.p, stem.n);
	memcpy(out + stem.n, end, n + 1);
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->list[i], out))
			return;
	f->count++;
}

static bool is_doubled(struct str s)
{
	return s.n > SHORTEST && s.p[s.n - 1] == s.p[s.n - 2] && !strchr("aeiouls", s.p[s.n - 1]);
}

/* What a word may be a form of. */
static void add_stems(struct forms *f, struct str word)
{
	static const char *const ends[] = { "s", "es", "ed", "ing" };

	add_form(f, word, "");
	if (str_has_suffix(word, STR("ies")) || str_has_suffix(word, STR("ied")))
		add_form(f, str_sub(word, 0, word.n - 3), "y");
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct str stem = str_sub(word, 0, word.n - size_min(word.n, strlen(ends[i])));

		if (!str_has_suffix(word, str_of(ends[i])) || str_has_suffix(word, STR("ss")))
			continue;
		add_form(f, stem, "");
		if (i >= 2)
			add_form(f, stem, "e");
		if (i >= 2 && is_doubled(stem))
			add_form(f, str_sub(stem, 0, stem.n - 1), "");
	}
}

static void add_forms_of(struct forms *f, struct str stem)
{
	bool in_e = str_has_suffix(stem, STR("e")), in_y = str_has_suffix(stem, STR("y"));
	struct str shorter = str_sub(stem, 0, stem.n - 1);
	char twice[2] = { stem.p[stem.n - 1], '\0' };

	add_form(f, stem, "s");
	add_form(f, stem, in_e ? "d" : "ed");
	add_form(f, in_e ? shorter : stem, "ing");
	if (in_y) {
		add_form(f, shorter, "ies");
		add_form(f, shorter, "ied");
		return;
	}
	if (in_e || strchr("aeiouwxy", twice[0]))
		return;
	add_form(f, stem, "es");
	if (stem.n + 4 < LONGEST) {
		char room[LONGEST + 4];
		struct str doubled = str_from(room, stem.n + 1);

		memcpy(room, stem.p, stem.n);
		room[stem.n] = twice[0];
		add_form(f, doubled, "ed");
		add_form(f, doubled, "ing");
	}
}

static enum status has_word(struct store *s, const char *word, bool *out, struct err *err)
{
	struct buf match CLEANUP(buf_release) = BUF_INIT(KIB);
	int64_t found;

	buf_printf(&match, "\"%s\"", word);
	if (rank_count(s, buf_as_str(&match), 1, &found, err))
		return err_failed(err->status);
	*out = found > 0;
	return STATUS_OK;
}

static struct expr_node *word_node(struct arena *mem, const char *word)
{
	struct expr_node *n = expr_node_new(mem, EXPR_NODE_WORDS);

	n->typed = arena_str(mem, str_of(word));
	n->parts.words = arena_alloc(mem, sizeof *n->parts.words);
	n->parts.words[0] = (struct expr_word){ n->typed, false };
	n->parts.count = 1;
	return n;
}

static bool has_forms(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] < 'a' || word.p[i] > 'z')
			return false;
	return word.n >= SHORTEST && word.n <= LONGEST;
}

/* The item with those of its forms that texts have; as it is where there are no others. *known: a text may have it. */
static enum status with_forms(struct store *s, struct expr_node *item, size_t most, struct expr_node **out, bool *known,
			      struct arena *mem, struct err *err)
{
	struct expr_node *any = expr_node_new(mem, EXPR_NODE_ANY);
	struct forms f = { .count = 0 };
	size_t stems, found = 0;

	*out = item;
	*known = true;
	if (!is_plain(item) || !has_forms(item->parts.words[0].word))
		return STATUS_OK;
	add_stems(&f, item->parts.words[0].word);
	stems = f.count;
	for (size_t i = 0; i < stems; i++)
		add_forms_of(&f, str_of(f.list[i]));
	for (size_t i = 0; i < f.count && found < most; i++) {
		bool has;

		if (has_word(s, f.list[i], &has, err))
			return err_failed(err->status);
		if (has)
			expr_node_add(any, word_node(mem, f.list[i]));
		found += has;
	}
	if (found > 1 || (found && !str_eq(any->first->typed, item->parts.words[0].word)))
		*out = found > 1 ? any : any->first;
	*known = found > 0;
	return STATUS_OK;
}

/* ---- Queries ------------------------------------------------------------------ */

static struct expr_node *copy_of(const struct expr_node *n, struct arena *mem)
{
	struct expr_node *copy = expr_node_new(mem, n->kind);

	*copy = *n;
	copy->next = NULL;
	return copy;
}

static void say(struct buf *said, const struct expr_node *n)
{
	bool many = n->kind == EXPR_NODE_ANY;

	buf_text(said, said->n ? " " : "");
	buf_text(said, many ? "(" : "");
	for (const struct expr_node *c = many ? n->first : n; c; c = many ? c->next : NULL) {
		bool quoted = c->kind == EXPR_NODE_WORDS && str_has_byte(c->typed, ' ');

		buf_printf(said, "%s%s%.*s%s", many && c != n->first ? " OR " : "", quoted ? "\"" : "",
			   STR_ARG(c->typed), quoted ? "\"" : "");
	}
	buf_text(said, many ? ")" : "");
}

/* Which words may be left out. */
typedef bool passes_fn(struct str word);

/* Items, and conditions beside them. */
struct items {
	passes_fn *passes;
	struct expr_node *all; /* items, and what was left out */
	size_t words; /* of them */
	struct expr_node *list[EXPR_WORDS];
	size_t count;
	struct expr_node *beside; /* a list of what has to hold besides */
};

static bool take_list(const struct expr_node *first, struct items *out, bool *dropped, struct arena *mem)
{
	for (const struct expr_node *n = first; n; n = n->next) {
		/* Words beside conditions are a list in the list. */
		if (n->kind == EXPR_NODE_ALL && take_list(n->first, out, dropped, mem))
			continue;
		if (n->kind == EXPR_NODE_MARK || n->kind == EXPR_NODE_NOT) {
			expr_node_add(out->beside, copy_of(n, mem));
			continue;
		}
		if (n->kind != EXPR_NODE_WORDS || out->count == COUNT(out->list))
			return false;
		expr_node_add(out->all, copy_of(n, mem));
		out->words += n->parts.count;
		if (is_plain(n) && out->passes(n->parts.words[0].word))
			*dropped = true;
		else
			out->list[out->count++] = copy_of(n, mem);
	}
	return true;
}

/* False when there is something else in it than items that have to be there. */
static bool take_items(const struct expr *e, passes_fn *passes, struct items *out, bool *dropped, struct arena *mem)
{
	*out = (struct items){ .passes = passes,
			       .all = expr_node_new(mem, EXPR_NODE_ALL),
			       .beside = expr_node_new(mem, EXPR_NODE_ALL) };
	*dropped = false;
	return e->root && take_list(e->root->kind == EXPR_NODE_ALL ? e->root->first : e->root, out, dropped, mem) &&
	       out->count > 0;
}

/* All but one of them, in each way there is. */
static struct expr_node *any_but_one(const struct items *items, struct arena *mem)
{
	struct expr_node *any = expr_node_new(mem, EXPR_NODE_ANY);

	for (size_t without = 0; without < items->count; without++) {
		struct expr_node *all = expr_node_new(mem, EXPR_NODE_ALL);

		for (size_t i = 0; i < items->count; i++)
			if (i != without)
				expr_node_add(all, copy_of(items->list[i], mem));
		expr_node_add(any, all);
	}
	return any;
}

enum status forgive(struct store *s, const struct expr *e, enum forgive_way way, struct expr *out, struct buf *said,
		    bool *asks, struct arena *mem, struct err *err)
{
	struct expr_node *all;
	struct items items;
	bool changed;

	*asks = false;
	if (!take_items(e, is_asking, &items, &changed, mem) || (way == FORGIVE_SMALL && !changed) ||
	    (way == FORGIVE_ONE && (items.count < 3 || items.count > MOST_ITEMS)))
		return STATUS_OK;
	for (size_t i = 0; way != FORGIVE_SMALL && i < items.count; i++) {
		size_t most = way == FORGIVE_ONE ? MOST_LOOSE : size_min(MOST_FORMS, 2 * EXPR_WORDS / items.words);
		struct expr_node *before = items.list[i];
		bool known;

		if (with_forms(s, before, most, &items.list[i], &known, mem, err))
			return err_failed(err->status);
		/* A word that nobody said was mistyped: what may have been meant is told elsewhere. */
		if (!known)
			return STATUS_OK;
		changed |= items.list[i] != before;
	}
	if (!changed && way != FORGIVE_ONE)
		return STATUS_OK;
	all = items.beside;
	if (way == FORGIVE_ONE)
		expr_node_add(all, any_but_one(&items, mem));
	for (size_t i = 0; i < items.count; i++) {
		say(said, items.list[i]);
		if (way != FORGIVE_ONE)
			expr_node_add(all, items.list[i]);
	}
	*asks = expr_with(e, all, out, mem);
	return STATUS_OK;
}

bool forgive_few(const struct expr *e, struct expr *out, struct buf *said, struct arena *mem)
{
	enum { LEAST = 2 };
	struct expr_node *any = expr_node_new(mem, EXPR_NODE_ANY), *less = expr_node_new(mem, EXPR_NODE_ALL);
	struct items items;
	bool changed;

	/* A phrase may be written in two ways, and here each way twice. */
	if (!take_items(e, is_small, &items, &changed, mem) || !changed || items.count < LEAST ||
	    items.words > EXPR_WORDS / 2)
		return false;
	expr_node_add(any, items.all);
	for (size_t i = 0; i < items.count; i++) {
		say(said, items.list[i]);
		expr_node_add(less, items.list[i]);
	}
	expr_node_add(any, less);
	expr_node_add(items.beside, any);
	return expr_with(e, items.beside, out, mem);
}
