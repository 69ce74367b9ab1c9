/*
 * Reading queries.
 *
 * The text is taken apart into items: at white space, at quotes and at brackets that stand
 * around something. The words of an item follow each other in the texts that are meant,
 * so "foo_bar", "foo.bar" and fooBar are phrases of two words. An identifier in one case
 * style may stand in a text in another: where splitting gives wholes beside their parts
 * (my.GitHub: my git hub, github), a second phrase has them in the place of their parts,
 * and either is meant.
 *
 * Items become a small tree, and the tree is written in FTS5's language (expr_match.c).
 * A query may be anything somebody pasted: it is read without failing and in one pass, and
 * brackets nest only so deep; deeper ones are passed over.
 */
#include "query/expr.h"

#include "base/near.h"
#include "base/utf8.h"
#include "base/when.h"
#include "base/words.h"
#include "query/expr_match.h"

#include <string.h>

enum { MOST_WORDS = EXPR_WORDS, MOST_DEPTH = 16, MOST_WIDE = 4, NEAR_WORDS = 10, NEAR_MOST = 1000 };

static const char *const names[EXPR_FIELDS] = {
	[EXPR_ROLE] = "role",	    [EXPR_IN] = "in",		[EXPR_TOOL] = "tool",
	[EXPR_PROJECT] = "project", [EXPR_SESSION] = "session", [EXPR_MODEL] = "model",
	[EXPR_BRANCH] = "branch",   [EXPR_FILE] = "file",	[EXPR_AGENT] = "agent",
	[EXPR_TAG] = "tag",	    [EXPR_IS] = "is",		[EXPR_AFTER] = "after",
	[EXPR_BEFORE] = "before",   [EXPR_DAY] = "day",
};

const char *expr_field_name(enum expr_field field)
{
	return names[field];
}

/* ---- Words of an item ---------------------------------------------------------- */

struct splitting {
	struct arena *mem;
	struct phrase parts, wholes;
	struct expr_word part_room[MOST_WORDS], whole_room[MOST_WORDS];
	size_t starts[MOST_WORDS]; /* of the wholes, in the item */
	bool has_wholes;	   /* that is, they differ */
	bool cut;
	size_t first, last_end; /* of the words so far: where they begin and end */
};

static void take_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct splitting *s = ctx;
	struct expr_word w;

	s->cut |= !(flags & WORD_COLOCATED) && s->parts.count == MOST_WORDS;
	if (s->cut)
		return;
	if (!s->last_end)
		s->first = start;
	s->last_end = end;
	w = (struct expr_word){ arena_str(s->mem, word), words_is_single_cjk(word) };
	if (flags & WORD_COLOCATED) {
		s->has_wholes = true;
		while (s->wholes.count && s->starts[s->wholes.count - 1] >= start)
			s->wholes.count--;
	} else {
		s->part_room[s->parts.count++] = w;
	}
	s->starts[s->wholes.count] = start;
	s->whole_room[s->wholes.count++] = w;
}

static void keep_phrase(struct arena *mem, struct phrase *p, const struct expr_word *words, bool prefix)
{
	p->words = memcpy(arena_alloc(mem, p->count * sizeof *words), words, p->count * sizeof *words);
	p->words[p->count - 1].prefix |= prefix;
}

/* ---- Reading ------------------------------------------------------------------- */

enum lexeme { LEX_END, LEX_OPEN, LEX_CLOSE, LEX_OR, LEX_AND, LEX_NOT, LEX_NEAR, LEX_QUOTED, LEX_WORD };

struct reading {
	struct expr *e;
	struct arena *mem;
	struct str text, rest;
	bool operators, fields;
	int open;	    /* brackets */
	bool begins;	    /* a blank or a bracket stands before the rest */
	size_t words, wide; /* so far */
	enum lexeme lexeme; /* in hand */
	struct str lexed;
	int groups;
	bool choice;	/* what was read last is conditions alone, of which one has to hold */
	bool entangled; /* NOT is in front of brackets whose conditions cannot be excluded one by one */
	struct expr_node *marks; /* what conditions say of the words */
};

/* There is no room for what begins here, nor for what follows. */
static void cut_at(struct reading *r, struct str at)
{
	bool is_typed = at.p >= r->text.p && at.p <= r->text.p + r->text.n;

	if (!r->e->cut)
		r->e->left = is_typed ? str_from(at.p, r->text.n - (size_t)(at.p - r->text.p)) : at;
	r->e->cut = true;
}

struct expr_node *expr_node_new(struct arena *mem, enum expr_node_kind kind)
{
	struct expr_node *n = arena_alloc(mem, sizeof *n);

	*n = (struct expr_node){ .kind = kind };
	return n;
}

static struct expr_node *new_node(struct reading *r, enum expr_node_kind kind)
{
	return expr_node_new(r->mem, kind);
}

void expr_node_add(struct expr_node *to, struct expr_node *child)
{
	if (!child)
		return;
	*(to->last ? &to->last->next : &to->first) = child;
	to->last = child;
}

/* NULL when there is nothing in it; of one only that one is needed. */
static struct expr_node *simplest(struct expr_node *list)
{
	return list->first == list->last ? list->first : list;
}

/* Where a name begins whose words begin at `first`: with the signs in front that belong to it, and do not only stand
 * beside it as a bracket or the dot of a sentence do. */
static size_t name_start(struct str text, size_t first)
{
	struct str before = str_sub(text, 0, first);

	if (str_has_suffix(before, STR("--")) || str_has_suffix(before, STR("[]")))
		return first - 2;
	return first && strchr("#@$.%", text.p[first - 1]) ? first - 1 : first;
}

/* With signs that the index does not know. */
static struct str name_of(struct str text, size_t first, size_t end)
{
	size_t from = name_start(text, first), to = end;

	while (to < text.n && (text.p[to] == '+' || text.p[to] == '#'))
		to++;
	return from < first || to > end ? str_sub(text, from, to - from) : (struct str){ 0 };
}

/* Whether a '*' at its end stands behind a word. */
static bool ends_word(struct str text)
{
	char before = text.n > 1 ? text.p[text.n - 2] : ' ';

	return is_ascii_alnum(before) || (unsigned char)before >= 0x80;
}

static bool is_number(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] < '0' || word.p[i] > '9')
			return false;
	return true;
}

/* Whether signs are meant: in quotes, and between numbers, which nobody writes in another style. */
static bool is_cited(struct str text, const struct splitting *s, bool quoted)
{
	size_t from = quoted ? 0 : s->first, to = quoted ? text.n : s->last_end;
	bool numbers = s->parts.count > 1, signs = false;

	for (size_t i = 0; i < s->parts.count; i++)
		numbers &= is_number(s->part_room[i].word);
	for (size_t i = from; i < to; i++)
		signs |= text.p[i] > ' ' && text.p[i] < 0x7f && !is_ascii_alnum(text.p[i]);
	return signs && (quoted || numbers);
}

/* What was typed as one; NULL when there is no word in it, or no room for more. */
static struct expr_node *read_item(struct reading *r, struct str text, bool quoted)
{
	struct splitting s = { .mem = r->mem };
	bool prefix, fits;
	struct expr_node *n;

	words_split(text, take_word, &s);
	if (!s.parts.count)
		return NULL;
	/* A word in quotes is meant as it is; of several the last may go on. */
	prefix = text.p[text.n - 1] == '*' && (!quoted || (s.parts.count > 1 && ends_word(text)));
	/* The beginning of so many words that each takes as long as all others together. */
	r->wide += prefix && s.parts.count == 1 && s.part_room[0].word.n == 1;
	fits = r->words + s.parts.count <= MOST_WORDS && r->wide <= MOST_WIDE;
	r->e->wide |= r->wide > MOST_WIDE;
	if (s.cut || !fits)
		cut_at(r, s.cut && fits ? str_sub(text, s.last_end, SIZE_MAX) : text);
	if (!fits)
		return NULL;
	r->words += s.parts.count;
	n = new_node(r, EXPR_NODE_WORDS);
	n->typed = prefix ? str_sub(text, 0, text.n - 1) : text;
	n->quoted = quoted;
	n->name = name_of(n->typed, s.first, s.last_end);
	n->cited = is_cited(n->typed, &s, quoted);
	n->parts = s.parts;
	keep_phrase(r->mem, &n->parts, s.part_room, prefix);
	if (s.has_wholes && !s.cut) {
		n->wholes = s.wholes;
		keep_phrase(r->mem, &n->wholes, s.whole_room, prefix);
	}
	return n;
}

/* ---- Lexemes ------------------------------------------------------------------- */

/* How many bytes of blanks, of any script, the text begins with. */
static size_t blanks(struct str text)
{
	size_t at = 0, next = 0;

	while (at < text.n && utf8_is_blank(utf8_next(text, &next)))
		at = next;
	return at;
}

/* How long the word is that the text begins with: to a blank, a quote, or a bracket that
 * closes one before the word. */
static size_t word_length(const struct reading *r, struct str text)
{
	size_t at = 0, next = 0;
	int inner = 0;

	while (at < text.n && text.p[at] != '"' && !utf8_is_blank(utf8_next(text, &next))) {
		if (text.p[at] == ')' && r->operators && inner-- == 0 && r->open)
			break;
		inner += text.p[at] == '(';
		inner = inner < 0 ? 0 : inner;
		at = next;
	}
	return at;
}

static struct str take(struct reading *r, size_t n)
{
	struct str out = str_sub(r->rest, 0, n);

	r->rest = str_sub(r->rest, n, SIZE_MAX);
	return out;
}

/* What is in quotes; a quote that never ends goes to the end. */
static struct str take_quoted(struct reading *r)
{
	struct str out;

	take(r, 1);
	if (str_find(r->rest, '"') >= r->rest.n)
		r->e->open = r->rest;
	out = take(r, size_min(str_find(r->rest, '"'), r->rest.n));
	take(r, 1);
	return out;
}

/* A '-' that excludes stands in front of something and behind nothing: --flag and a-b have others. */
static bool is_minus(const struct reading *r)
{
	struct str t = r->rest;
	char next = t.n > 1 ? t.p[1] : ' ';

	return t.p[0] == '-' && r->begins &&
	       (is_ascii_alnum(next) || next == '"' || next == '(' || (unsigned char)next >= 0x80);
}

/* Operators of one character; LEX_END when the next is none. Brackets without another are
 * passed over. */
static enum lexeme take_sign(struct reading *r)
{
	if (!r->operators)
		return LEX_END;
	while (r->rest.n) {
		char c = r->rest.p[0];

		if (is_minus(r)) {
			take(r, 1);
			return LEX_NOT;
		}
		if (c != '(' && c != ')')
			return LEX_END;
		take(r, 1);
		r->begins = true;
		if (c == '(' && r->open < MOST_DEPTH) {
			r->open++;
			return LEX_OPEN;
		}
		if (c == ')' && r->open) {
			r->open--;
			return LEX_CLOSE;
		}
		take(r, blanks(r->rest));
	}
	return LEX_END;
}

static enum lexeme word_lexeme(struct str word)
{
	return str_eq(word, STR("OR"))	  ? LEX_OR
	       : str_eq(word, STR("AND")) ? LEX_AND
	       : str_eq(word, STR("NOT")) ? LEX_NOT
					  : LEX_WORD;
}

static void advance(struct reading *r)
{
	r->begins = take(r, blanks(r->rest)).n || r->rest.p == r->text.p || r->lexeme == LEX_OPEN;
	r->lexed = (struct str){ 0 };
	r->lexeme = r->e->cut ? LEX_END : take_sign(r);
	if (r->lexeme != LEX_END || !r->rest.n || r->e->cut)
		return;
	if (r->rest.p[0] == '"') {
		r->lexeme = LEX_QUOTED;
		r->lexed = take_quoted(r);
		return;
	}
	if (r->operators && str_has_prefix(r->rest, STR("NEAR("))) {
		take(r, 5);
		r->lexeme = LEX_NEAR;
		r->lexed = take(r, size_min(str_find(r->rest, ')'), r->rest.n));
		take(r, 1);
		return;
	}
	r->lexed = take(r, word_length(r, r->rest));
	r->lexeme = r->operators ? word_lexeme(r->lexed) : LEX_WORD;
}

/* ---- Conditions ---------------------------------------------------------------- */

static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (ascii_lower(name.p[i]) < 'a' || ascii_lower(name.p[i]) > 'z')
			return false;
	return name.n > 0;
}

static struct str lowered(struct arena *mem, struct str text)
{
	char *out = arena_alloc(mem, text.n + 1);

	for (size_t i = 0; i < text.n; i++)
		out[i] = ascii_lower(text.p[i]);
	return str_from(out, text.n);
}

/* A text with a colon in it may be many things. */
static void note_odd(struct reading *r, struct str name, struct str value)
{
	struct near near = near_begin(lowered(r->mem, name));

	if (r->e->odd.p || !is_name(name) || !value.n || strchr(":/\\=.", value.p[0]))
		return;
	for (int i = 0; i < EXPR_FIELDS; i++)
		near_try(&near, names[i]);
	r->e->odd = name;
	r->e->near = near.best;
}

static struct expr_node *mark_in(struct arena *mem, enum mark mark, struct str name, bool prefix)
{
	struct expr_node *n = expr_node_new(mem, EXPR_NODE_MARK);
	char room[WORD_MAX];

	n->mark = (struct expr_word){ arena_str(mem, mark_word(mark, name, room)), prefix };
	return n;
}

static struct expr_node *mark_node(struct reading *r, enum mark mark, struct str name, bool prefix)
{
	return mark_in(r->mem, mark, name, prefix);
}

/* The words of a path, or of a part of it. Its signs are in the mark, as far as they are in a name. */
static struct expr_node *path_words(struct reading *r, struct str path)
{
	struct expr_node *n = path.n ? read_item(r, path, false) : NULL;

	if (n)
		n->name = (struct str){ 0 };
	return n;
}

/* Names with a * in them: how they begin, and how they end. */
static void add_name(struct reading *r, struct expr_node *to, struct str name)
{
	char room[WORD_MAX];
	struct str end = { 0 }, front = str_cut(name, '*', &end);

	if (front.n || !end.n)
		expr_node_add(to, mark_node(r, MARK_FILE, front, front.n < name.n || !name.n));
	if (end.n)
		expr_node_add(to, mark_node(r, MARK_END, mark_backwards(end, room), true));
}

/* The words of its path, in a call that names a file called so. Behind a * words may begin anywhere, so of such a
 * path each folder is asked for that has none. */
static struct expr_node *file_node(struct reading *r, struct str path)
{
	struct expr_node *n = new_node(r, EXPR_NODE_ALL);
	struct str name = str_basename(path), rest = path;

	add_name(r, n, name);
	if (size_min(str_find(path, '*'), path.n) + 1 >= path.n)
		expr_node_add(n, path_words(r, path));
	else
		while (rest.n) {
			struct str part = str_cut(rest, '/', &rest);

			if (!str_has_byte(part, '*'))
				expr_node_add(n, path_words(r, part));
		}
	return simplest(n);
}

static struct expr_node *model_node(struct reading *r, struct expr_condition *c)
{
	c->node = new_node(r, EXPR_NODE_ANY);
	expr_node_add(c->node, mark_node(r, MARK_MODEL, c->value, false));
	return c->node;
}

static struct expr_node *condition_node(struct reading *r, struct expr_condition *c)
{
	struct str value = c->value;
	bool prefix = str_has_suffix(value, STR("*"));

	if (c->field == EXPR_FILE)
		return file_node(r, value);
	if (c->field == EXPR_TOOL) {
		struct expr_node *n = mark_node(r, MARK_TOOL, str_sub(value, 0, value.n - prefix), prefix);

		n->tool = !c->group;
		return n;
	}
	if (c->field == EXPR_MODEL)
		return model_node(r, c);
	if (c->field == EXPR_AGENT)
		return mark_node(r, MARK_WHO, str_sub(value, 0, value.n - prefix), true);
	if (c->field == EXPR_IS && str_eq(value, STR("error")))
		return mark_node(r, MARK_ERROR, STR(""), false);
	if (c->field == EXPR_IS && str_eq(value, STR("subagent")))
		return mark_node(r, MARK_AGENT, STR(""), false);
	return NULL;
}

/* Of several conditions of a kind one has to hold, and of a group; those of 'is:' all. */
static void mark_words(struct reading *r)
{
	struct expr_node *any[EXPR_FIELDS + EXPR_CONDITIONS] = { NULL };

	r->marks = new_node(r, EXPR_NODE_ALL);
	for (size_t i = 0; i < r->e->condition_count; i++) {
		struct expr_condition *c = &r->e->conditions[i];
		struct expr_node *n = condition_node(r, c), *excluded;

		if (!n)
			continue;
		if (c->excluded) {
			excluded = new_node(r, EXPR_NODE_NOT);
			expr_node_add(excluded, n);
			expr_node_add(r->marks, excluded);
		} else if (c->field == EXPR_IS && !c->group) {
			expr_node_add(r->marks, n);
		} else {
			size_t kind = c->group ? (size_t)EXPR_FIELDS + (size_t)c->group - 1 : (size_t)c->field;

			if (!any[kind])
				any[kind] = new_node(r, EXPR_NODE_ANY);
			expr_node_add(any[kind], n);
		}
	}
	for (size_t i = 0; i < COUNT(any); i++)
		if (any[i])
			expr_node_add(r->marks, simplest(any[i]));
}

bool expr_add_condition(struct expr *e, enum expr_field field, struct str value, bool excluded)
{
	if (e->condition_count == EXPR_CONDITIONS)
		return false;
	e->conditions[e->condition_count++] =
		(struct expr_condition){ .field = field, .value = value, .excluded = excluded };
	return true;
}

static void add_condition(struct reading *r, int field, struct str value, bool excluded)
{
	if (!expr_add_condition(r->e, (enum expr_field)field, value, excluded))
		cut_at(r, r->lexed);
}

/* "last week" and "jan 20" need not stand in quotes. */
static struct str take_time(struct reading *r, struct str value)
{
	struct str rest = str_sub(r->rest, blanks(r->rest), SIZE_MAX), word;

	word = str_sub(rest, 0, word_length(r, rest));
	if (!word.n || !when_goes_on(value, word))
		return value;
	r->rest = str_sub(rest, word.n, SIZE_MAX);
	return arena_printf(r->mem, "%.*s %.*s", STR_ARG(value), STR_ARG(word));
}

/* Whether the word in hand is a condition; then it is kept. Choices may be parted by commas. */
static bool take_condition(struct reading *r, bool excluded)
{
	struct str value, name = str_cut(r->lexed, ':', &value);
	bool quoted = r->rest.n && r->rest.p[0] == '"' && !value.n;
	int field = 0;

	if (!r->fields || name.n == r->lexed.n)
		return false;
	while (field < EXPR_FIELDS && !str_alike(name, str_of(names[field])))
		field++;
	if (field == EXPR_FIELDS)
		note_odd(r, name, value);
	else if (!quoted && !value.n)
		r->e->apart = names[field];
	if (field == EXPR_FIELDS || (!quoted && !value.n) || str_has_prefix(value, STR(":")) ||
	    str_has_prefix(value, STR("//")))
		return false;
	if (quoted)
		value = take_quoted(r);
	else if (field == EXPR_AFTER || field == EXPR_BEFORE || field == EXPR_DAY)
		value = take_time(r, value);
	if (field != EXPR_ROLE && field != EXPR_IN && field != EXPR_IS && field != EXPR_TOOL && field != EXPR_TAG) {
		add_condition(r, field, value, excluded);
		return true;
	}
	if (field == EXPR_ROLE || field == EXPR_IN || field == EXPR_IS)
		value = lowered(r->mem, value);
	while (value.n)
		add_condition(r, field, str_cut(value, ',', &value), excluded);
	return true;
}

/* ---- The tree ------------------------------------------------------------------ */

static struct expr_node *read_any(struct reading *r);

/* NEAR(a "b c", 5): in any order, with no more words between them. */
static struct expr_node *read_near(struct reading *r, struct str text)
{
	struct expr_node *n = new_node(r, EXPR_NODE_NEAR);
	size_t comma = str_rfind(text, ',');
	struct reading inner = { .e = r->e, .mem = r->mem, .words = r->words, .wide = r->wide };
	uint64_t distance = NEAR_WORDS;

	if (comma != SIZE_MAX && str_to_u64(str_trim(str_sub(text, comma + 1, SIZE_MAX)), &distance))
		text = str_sub(text, 0, comma);
	inner.text = inner.rest = text;
	for (advance(&inner); inner.lexeme != LEX_END; advance(&inner)) {
		if (inner.lexeme == LEX_WORD && word_lexeme(inner.lexed) != LEX_WORD)
			r->e->in_near = inner.lexed;
		expr_node_add(n, read_item(&inner, inner.lexed, inner.lexeme == LEX_QUOTED));
	}
	r->words = inner.words;
	r->wide = inner.wide;
	n->distance = (int)(distance > NEAR_MOST ? NEAR_MOST : distance);
	return simplest(n);
}

/* Operators as other tools have them are words here, or nothing. */
static void note_foreign(struct reading *r)
{
	if (!r->operators)
		return;
	r->e->bare_near |= str_eq(r->lexed, STR("NEAR")) || str_has_prefix(r->lexed, STR("NEAR/"));
	if (!r->e->bar.p && str_has_byte(r->lexed, '|'))
		r->e->bar = r->lexed;
	if (!r->e->bang.p && r->begins && r->lexed.n > 1 && r->lexed.p[0] == '!' && is_ascii_alnum(r->lexed.p[1]))
		r->e->bang = r->lexed;
}

/*
 * NOT in front of brackets with conditions, which hold for the whole query: each of them is excluded. That is
 * the same where one of them has to hold, be it for OR between them or because they are of one kind; beside
 * words, or where all have to hold, it is not, and there is no way to say it.
 */
static void exclude_conditions(struct reading *r, size_t from, bool words)
{
	struct expr *e = r->e;
	const struct expr_condition *first = &e->conditions[from];
	bool one_kind = true, wanted = true, unwanted = true;

	for (size_t i = from; i < e->condition_count; i++) {
		struct expr_condition *c = &e->conditions[i];

		one_kind &= c->field == first->field && c->field != EXPR_IS;
		wanted &= !c->excluded;
		unwanted &= c->excluded;
		c->excluded = !c->excluded;
		c->group = 0;
	}
	if (words || !(e->condition_count == from + 1 || (wanted && (r->choice || one_kind)) ||
		       (unwanted && one_kind && !r->choice)))
		r->entangled = true;
}

/* What stands in brackets, of which the first is in hand. */
static struct expr_node *read_inner(struct reading *r, bool excluded)
{
	size_t from = r->e->condition_count;
	bool aside = r->e->aside_or;
	struct expr_node *n;

	advance(r);
	n = read_any(r);
	if (excluded && r->e->condition_count > from) {
		exclude_conditions(r, from, n != NULL);
		r->e->aside_or = aside;
	}
	return n;
}

/* One thing, with what excludes it in front. */
static struct expr_node *read_one(struct reading *r)
{
	struct expr_node *n = NULL, *negated;
	bool excluded = false;

	for (; r->lexeme == LEX_NOT; advance(r))
		excluded = !excluded;
	if (r->lexeme == LEX_OPEN) {
		n = read_inner(r, excluded);
	} else if (r->lexeme == LEX_NEAR) {
		n = read_near(r, r->lexed);
	} else if (r->lexeme == LEX_QUOTED) {
		n = read_item(r, r->lexed, true);
	} else if (r->lexeme == LEX_WORD && !take_condition(r, excluded)) {
		note_foreign(r);
		n = read_item(r, r->lexed, false);
	} else if (r->lexeme != LEX_WORD) {
		return NULL; /* what closes or parts is not ours */
	}
	if (r->lexeme != LEX_END)
		advance(r);
	if (!n || !excluded)
		return n;
	r->e->excludes = true;
	negated = new_node(r, EXPR_NODE_NOT);
	expr_node_add(negated, n);
	return negated;
}

/* Whether conditions from there on are one, or of a kind of which one has to hold. */
static bool are_choice(const struct expr *e, size_t from)
{
	return e->condition_count == from + 1 ||
	       (e->condition_count > from && e->conditions[from].field != EXPR_IS);
}

static struct expr_node *read_all(struct reading *r)
{
	struct expr_node *n = new_node(r, EXPR_NODE_ALL);
	size_t parts = 0, from = r->e->condition_count;
	bool choice = false;

	while (r->lexeme != LEX_END && r->lexeme != LEX_CLOSE && r->lexeme != LEX_OR) {
		bool brackets = r->lexeme == LEX_OPEN;

		if (r->lexeme == LEX_AND) {
			advance(r);
			continue;
		}
		expr_node_add(n, read_one(r));
		/* What one word says is of one kind: role:user,tool. */
		choice = brackets ? r->choice : are_choice(r->e, from);
		parts++;
	}
	r->choice = parts == 1 && choice && !n->first;
	return simplest(n);
}

/* Whether the index knows it, so that it can stand beside others with OR. */
static bool is_mark(const struct expr_condition *c)
{
	bool is_state = c->field == EXPR_IS && (str_eq(c->value, STR("error")) || str_eq(c->value, STR("subagent")));

	return !c->excluded && (is_state || c->field == EXPR_TOOL || c->field == EXPR_FILE || c->field == EXPR_MODEL ||
				c->field == EXPR_AGENT);
}

/* Conditions with OR between them, and nothing else: one of them has to hold. Those of one kind mean that anyway. */
static void note_or(struct reading *r, bool words, bool single, size_t from)
{
	struct expr *e = r->e;
	bool differ = false, marks = single && !words && r->groups < EXPR_CONDITIONS;

	for (size_t i = from; i < e->condition_count; i++) {
		const struct expr_condition *c = &e->conditions[i];

		differ |= c->field != e->conditions[from].field || c->excluded || c->field == EXPR_IS;
		marks &= is_mark(c);
	}
	if (from == e->condition_count || (!words && !differ))
		return;
	e->aside_or |= !marks;
	r->groups += marks;
	for (size_t i = from; marks && i < e->condition_count; i++)
		e->conditions[i].group = r->groups;
}

/* Up to what closes it, or the end. */
static struct expr_node *read_any(struct reading *r)
{
	struct expr_node *n = new_node(r, EXPR_NODE_ANY);
	size_t conditions = r->e->condition_count;
	bool is_or = false, single = true, choice = true;

	for (;;) {
		size_t before = r->e->condition_count;
		struct expr_node *all = read_all(r);

		expr_node_add(n, all);
		choice &= r->choice;
		single &= r->e->condition_count - before < 2;
		r->e->loose_or |= !all && r->e->condition_count == before && (is_or || r->lexeme == LEX_OR);
		if (r->lexeme != LEX_OR)
			break;
		is_or = true;
		advance(r);
	}
	if (is_or)
		note_or(r, n->first != NULL, single, conditions);
	r->choice = choice;
	return simplest(n);
}

/* The query begins so; on a line of an error, and cut behind a character. */
static enum status nothing(const char *why, struct str text, struct err *err)
{
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB);
	size_t n = size_min(text.n, 60);

	while (n && n < text.n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	utf8_repair(&shown, str_sub(text, 0, n));
	return err_fail(err, STATUS_USAGE, "'%s' %s", shown.p ? shown.p : "", why);
}

/* The whole query; NULL when there is no word in it. */
static struct expr_node *read_query(struct reading *r, bool operators)
{
	struct expr_node *all = new_node(r, EXPR_NODE_ALL);

	r->operators = operators;
	r->rest = r->text;
	r->e->open = (struct str){ 0 };
	r->e->loose_or = false;
	r->open = 0;
	advance(r);
	while (r->lexeme != LEX_END) {
		expr_node_add(all, read_any(r));
		if (r->lexeme == LEX_CLOSE)
			advance(r);
	}
	return simplest(all);
}

void expr_begin(struct expr *e, struct arena *mem)
{
	*e = (struct expr){ .match = BUF_INIT(64 * KIB),
			    .unwanted = BUF_INIT(64 * KIB),
			    .words = arena_alloc(mem, 2 * (size_t)MOST_WORDS * sizeof *e->words),
			    .phrases = arena_alloc(mem, 2 * (size_t)MOST_WORDS * sizeof *e->phrases),
			    .conditions = arena_alloc(mem, EXPR_CONDITIONS * sizeof *e->conditions) };
}

/* Whether a condition says what is asked for, and not only what is not. */
static bool wants_any(const struct expr *e)
{
	for (size_t i = 0; i < e->condition_count; i++)
		if (!e->conditions[i].excluded)
			return true;
	return false;
}

/* What there is nothing but, and is not wanted. */
static void set_negative(struct expr *e, struct expr_node *root)
{
	expr_match_opposite(e, root);
	e->negative = root;
	e->root = NULL;
}

static enum status read_expr(struct expr *e, struct str text, bool fields, bool beside, struct arena *mem,
			     struct err *err)
{
	struct reading r = { .e = e, .mem = mem, .text = text, .fields = fields };
	struct expr_node *words, *all;

	expr_begin(e, mem);
	words = read_query(&r, true);
	if (!words && !e->condition_count)
		words = read_query(&r, false);
	if (!words && !e->condition_count)
		return nothing("has no word to look for; signs beside words are found by --regex, "
			       "as --regex '\\./'",
			       text, err);
	if (r.entangled)
		return nothing("excludes conditions that hold for the whole query, together with something else; "
			       "put NOT in front of each of them, or leave the words outside of the brackets",
			       text, err);
	mark_words(&r);
	all = new_node(&r, EXPR_NODE_ALL);
	expr_node_add(all, words);
	expr_node_add(all, simplest(r.marks));
	all = simplest(all);
	e->root = all;
	if (!all || expr_match(e, all))
		return STATUS_OK;
	if (!beside && !wants_any(e))
		return nothing("means nearly everything, as it only says what is not wanted, be it behind OR; "
			       "add a word to look for, or a condition as in:answer",
			       text, err);
	set_negative(e, all);
	return STATUS_OK;
}

enum status expr_read(struct expr *e, struct str text, bool fields, struct arena *mem, struct err *err)
{
	return read_expr(e, text, fields, false, mem, err);
}

enum status expr_read_beside(struct expr *e, struct str text, struct arena *mem, struct err *err)
{
	return read_expr(e, text, true, true, mem, err);
}

void expr_set_models(struct expr *e, struct expr_condition *c, const struct str *models, size_t count,
		     struct arena *mem)
{
	count = size_min(count, EXPR_MODELS - e->model_count);
	if (!c->node || !count)
		return;
	c->node->first = c->node->last = NULL;
	for (size_t i = 0; i < count; i++)
		expr_node_add(c->node, mark_in(mem, MARK_MODEL, models[i], false));
	e->model_count += count;
	/* It was written before, and so can be written again. */
	if (e->root)
		expr_match(e, e->root);
	else
		set_negative(e, e->negative);
}

static struct expr_node *copy_node(const struct expr_node *n, struct arena *mem)
{
	struct expr_node *copy = expr_node_new(mem, n->kind);

	*copy = *n;
	copy->next = NULL;
	return copy;
}

static enum status keep_node(const struct expr_node *n, expr_keeps_fn *keeps, void *ctx, struct expr_node *to,
			     struct arena *mem, struct err *err)
{
	struct expr alone CLEANUP(expr_release) = { 0 };
	struct expr_node *copy = copy_node(n, mem);
	bool kept = n->kind == EXPR_NODE_MARK || n->kind == EXPR_NODE_NOT;

	if (n->kind == EXPR_NODE_WORDS) {
		expr_begin(&alone, mem);
		if (expr_match(&alone, copy) && keeps(ctx, buf_as_str(&alone.match), &kept, err))
			return err_failed(err->status);
	}
	if (kept)
		expr_node_add(to, copy_node(n, mem));
	return STATUS_OK;
}

/* With room of its own for words, and none yet. */
static void borrow(const struct expr *e, struct expr *out, struct arena *mem)
{
	struct expr fresh;

	expr_begin(&fresh, mem);
	*out = *e;
	out->match = fresh.match;
	out->unwanted = fresh.unwanted;
	out->words = fresh.words;
	out->phrases = fresh.phrases;
	out->count = out->wanted_count = out->phrase_count = 0;
	out->root = out->negative = NULL;
}

bool expr_with(const struct expr *e, struct expr_node *root, struct expr *out, struct arena *mem)
{
	borrow(e, out, mem);
	if (!root->first || !expr_match(out, root))
		return false;
	out->root = root;
	return true;
}

enum status expr_narrowing(const struct expr *e, expr_keeps_fn *keeps, void *ctx, struct expr *out, struct arena *mem,
			   struct err *err)
{
	struct expr_node *all = expr_node_new(mem, EXPR_NODE_ALL);
	const struct expr_node *root = e->root;

	for (const struct expr_node *n = root && root->kind == EXPR_NODE_ALL ? root->first : root; n;
	     n = root->kind == EXPR_NODE_ALL ? n->next : NULL)
		if (keep_node(n, keeps, ctx, all, mem, err))
			return err_failed(err->status);
	if (!expr_with(e, all, out, mem))
		buf_clear(&out->match);
	return STATUS_OK;
}

/* NULL = there is nothing else in it. */
static struct expr_node *without_tools(const struct expr_node *n, bool *any, struct arena *mem)
{
	struct expr_node *copy;

	*any |= n->tool;
	if (n->tool)
		return NULL;
	copy = copy_node(n, mem);
	copy->first = copy->last = NULL;
	for (const struct expr_node *c = n->first; c; c = c->next)
		expr_node_add(copy, without_tools(c, any, mem));
	return n->first && !copy->first ? NULL : copy;
}

bool expr_without_tools(const struct expr *e, struct expr *out, struct arena *mem)
{
	bool any = false;
	const struct expr_node *all = e->root ? e->root : e->negative;
	struct expr_node *root = all ? without_tools(all, &any, mem) : NULL;

	if (!any)
		return false;
	borrow(e, out, mem);
	out->root = root;
	if (root && !expr_match(out, root))
		set_negative(out, root);
	return true;
}

void expr_release(struct expr *e)
{
	buf_release(&e->match);
	buf_release(&e->unwanted);
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
