/*
 * "Did you mean", from the words that texts have.
 *
 * Going through all words of the index would take as long as reading it. Instead, what one slip
 * makes of a word is undone in every way there is, some hundred for a word of usual length,
 * and each is asked for: a look-up of some microseconds, however large the store is. Of
 * those that are there the one in most texts is meant. So the answer depends on nothing but what
 * was said.
 */
#include "query/suggest.h"

#include "query/rank.h"

#include <string.h>

enum { SHORTEST = 4, LONGEST = 24, MOST_WORDS = 3, MOST_COUNTED = 500 };

struct guessing {
	struct store *store;
	char best[LONGEST + 2];
	int64_t most; /* texts that have it */
};

static enum status count(struct store *s, struct str word, bool prefix, int64_t most, int64_t *out,
			 struct err *err)
{
	struct buf match CLEANUP(buf_release) = BUF_INIT(KIB);

	buf_printf(&match, "\"%.*s\"%s", STR_ARG(word), prefix ? " *" : "");
	return rank_count(s, buf_as_str(&match), most, out, err);
}

static enum status try_word(struct guessing *g, const char *word, size_t n, struct err *err)
{
	int64_t found;

	if (count(g->store, str_from(word, n), false, MOST_COUNTED, &found, err))
		return err_failed(err->status);
	if (found > g->most) {
		g->most = found;
		memcpy(g->best, word, n);
		g->best[n] = '\0';
	}
	return STATUS_OK;
}

static bool is_guessable(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!((word.p[i] >= 'a' && word.p[i] <= 'z') || (word.p[i] >= '0' && word.p[i] <= '9')))
			return false;
	return word.n >= SHORTEST && word.n <= LONGEST;
}

/* Two letters the wrong way round, and one too many. */
static enum status try_without(struct guessing *g, struct str word, struct err *err)
{
	char made[LONGEST + 2];

	for (size_t i = 0; i < word.n; i++) {
		memcpy(made, word.p, word.n);
		if (i + 1 < word.n) {
			made[i] = word.p[i + 1];
			made[i + 1] = word.p[i];
			if (try_word(g, made, word.n, err))
				return err_failed(err->status);
		}
		memcpy(made, word.p, i);
		memcpy(made + i, word.p + i + 1, word.n - i - 1);
		if (try_word(g, made, word.n - 1, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* A wrong letter, and one that is missing: before each, and at the end. */
static enum status try_with(struct guessing *g, struct str word, struct err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char made[LONGEST + 2];

	for (size_t i = 0; i <= word.n; i++)
		for (const char *c = letters; *c; c++) {
			memcpy(made, word.p, word.n);
			made[i] = *c;
			if (i < word.n && *c != word.p[i] && try_word(g, made, word.n, err))
				return err_failed(err->status);
			memcpy(made + i + 1, word.p + i, word.n - i);
			if (try_word(g, made, word.n + 1, err))
				return err_failed(err->status);
		}
	return STATUS_OK;
}

struct advice {
	struct buf guesses; /* for all words */
	struct buf others;  /* for the first without */
};

static void advice_release(struct advice *a)
{
	buf_release(&a->guesses);
	buf_release(&a->others);
}

/* What to do about a word that is in no text. */
static enum status advise(struct store *s, struct str word, struct advice *a, struct err *err)
{
	struct guessing g = { .store = s };
	int64_t longer;

	if (is_guessable(word) && (try_without(&g, word, err) || try_with(&g, word, err)))
		return err_failed(err->status);
	if (g.most)
		buf_printf(&a->guesses, "%s'%s' for '%.*s'", a->guesses.n ? ", " : "; did you mean ", g.best,
			   STR_ARG(word));
	if (a->others.n)
		return STATUS_OK;
	if (count(s, word, true, 1, &longer, err))
		return err_failed(err->status);
	if (longer)
		buf_printf(&a->others, "; '%.*s*' finds words that begin so", STR_ARG(word));
	else
		buf_printf(&a->others, "; no text has the word '%.*s'", STR_ARG(word));
	return STATUS_OK;
}

/* How many of the words are in no text. */
static enum status look_at_words(struct store *s, const struct expr *e, struct advice *a, int *absent,
				 struct err *err)
{
	int64_t found;

	for (size_t i = 0; i < e->count && *absent < MOST_WORDS; i++) {
		const struct expr_word *w = &e->words[i];
		size_t first;

		if (expr_has(e, w->word, &first) && first < i)
			continue; /* the same once more */
		if (count(s, w->word, w->prefix, 1, &found, err))
			return err_failed(err->status);
		*absent += !found;
		if (!found && advise(s, w->word, a, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* Whether there is a text that the query means, and one that has all its words, whatever else is asked of them. */
static enum status look_at_texts(struct store *s, const struct expr *e, bool *meant, bool *together, struct err *err)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	int64_t found;

	if (rank_count(s, buf_as_str(&e->match), 1, &found, err))
		return err_failed(err->status);
	*meant = found > 0;
	for (size_t i = 0; i < e->count; i++)
		buf_printf(&all, "%s\"%.*s\"%s", i ? " AND " : "", STR_ARG(e->words[i].word),
			   e->words[i].prefix ? " *" : "");
	if (rank_count(s, buf_as_str(&all), 1, &found, err))
		return err_failed(err->status);
	*together = found > 0;
	return STATUS_OK;
}

/* Every word is there. */
static enum status advise_on_all(struct store *s, const struct expr *e, bool narrowed, struct buf *out, struct err *err)
{
	bool meant, together;

	if (look_at_texts(s, e, &meant, &together, err))
		return err_failed(err->status);
	if (meant && narrowed)
		buf_text(out, "; there are hits without its conditions and options");
	else if (e->excludes)
		buf_text(out, "; a word with - in front is left out: in quotes it is looked for");
	else if (together && e->count > 1)
		buf_text(out, "; its words stand in one text, but not as they are asked for here: what is typed "
			      "without a blank, in quotes or in NEAR has to stand together, and conditions have to "
			      "hold");
	else if (e->condition_count)
		buf_text(out, "; there may be hits without its conditions");
	else if (e->count > 1)
		buf_text(out, "; each word is there, but not all in one part of a conversation: OR finds any "
			      "of them");
	return STATUS_OK;
}

enum status suggest(struct store *s, const struct expr *e, bool narrowed, struct buf *out, struct err *err)
{
	struct advice a CLEANUP(advice_release) = { BUF_INIT(LIMIT_ERR_TEXT), BUF_INIT(LIMIT_ERR_TEXT) };
	int absent = 0;

	if (look_at_words(s, e, &a, &absent, err))
		return err_failed(err->status);
	if (a.guesses.n)
		buf_printf(out, "%.*s?", STR_ARG(buf_as_str(&a.guesses)));
	if (a.others.n && (!a.guesses.n || str_has_suffix(buf_as_str(&a.others), STR(" so"))))
		buf_str(out, buf_as_str(&a.others));
	if (!absent && e->count)
		return advise_on_all(s, e, narrowed, out, err);
	return STATUS_OK;
}
