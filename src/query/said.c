/*
 * Counting who said something, by the full-text index: so a name need not have been expected when lines were
 * read, and whoever asks by it is told of all that say it.
 *
 * A name that is one run of letters and digits is looked for as a whole: PendingID is not "pending id". One with
 * other characters in it is looked for as its words in a row, as the index has nothing else of it.
 */
#include "query/said.h"

#include "base/map.h"
#include "base/words.h"
#include "query/expr.h"
#include "query/rank.h"
#include "query/search.h"

#include <stdlib.h>

struct counting {
	struct arena *mem;
	struct map rows; /* struct said by row; the session is found out at the end */
	int64_t *order;
	size_t count, cap;
};

static void counting_release(struct counting *c)
{
	map_release(&c->rows);
	mem_free(c->order);
}

static struct str key_of(const void *id, size_t size)
{
	return str_from(id, size);
}

static struct said *said_in(struct counting *c, int64_t row)
{
	struct said *s = map_get(&c->rows, key_of(&row, sizeof row));

	if (s)
		return s;
	s = arena_alloc(c->mem, sizeof *s);
	map_put(&c->rows, arena_str(c->mem, key_of(&row, sizeof row)), s);
	if (c->count == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 64;
		c->order = mem_resize(c->order, c->cap * sizeof *c->order);
	}
	c->order[c->count++] = row;
	return s;
}

/* None is wanted: they are counted as they pass. */
static enum status take_doc(void *ctx, int64_t id, const struct doc *doc, bool *wanted, struct err *err)
{
	struct said *s;

	(void)id;
	(void)err;
	*wanted = false;
	if (doc->session >= DOC_NODES)
		return STATUS_OK;
	s = said_in(ctx, doc->session);
	s->times++;
	if (doc->at > s->at)
		s->at = doc->at;
	return STATUS_OK;
}

/* The word that all of a text is; empty = it is several, or none. */
struct whole {
	struct str text;
	struct buf *word;
};

static void take_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct whole *w = ctx;

	(void)flags;
	if (start != 0 || end != w->text.n)
		return;
	buf_clear(w->word);
	buf_str(w->word, word);
}

/* What FTS5 is asked; empty when there is no word in it. A folded word has no quote. */
static struct str match_of(struct str what, struct arena *mem)
{
	struct buf word CLEANUP(buf_release) = BUF_INIT(KIB);
	struct whole whole = { what, &word };
	struct expr e CLEANUP(expr_release);
	struct err no_word;

	expr_begin(&e, mem);
	words_split(what, take_word, &whole);
	if (word.n && !words_is_single_cjk(buf_as_str(&word)))
		return arena_printf(mem, "\"%.*s\"", STR_ARG(buf_as_str(&word)));
	if (expr_read(&e, arena_printf(mem, "\"%.*s\"", STR_ARG(what)), false, mem, &no_word))
		return (struct str){ 0 };
	return arena_str(mem, buf_as_str(&e.match));
}

/* Transcripts of one conversation are one. */
static enum status join_rows(struct store *s, struct counting *c, struct said **out, size_t *count, struct err *err)
{
	struct map by_id CLEANUP(map_release) = { 0 };

	*out = arena_alloc(c->mem, (c->count + 1) * sizeof **out);
	*count = 0;
	for (size_t i = 0; i < c->count; i++) {
		const struct said *one = map_get(&c->rows, key_of(&c->order[i], sizeof c->order[i]));
		struct session session;
		struct said *all;

		if (session_get(s, c->order[i], c->mem, &session, err))
			return err_failed(err->status);
		if (session.old)
			continue;
		all = map_get(&by_id, key_of(session.id.b, UUID_BYTES));
		if (!all) {
			all = &(*out)[(*count)++];
			*all = (struct said){ .session = session.id };
			map_put(&by_id, key_of(all->session.b, UUID_BYTES), all);
		}
		all->times += one->times;
		all->at = all->at > one->at ? all->at : one->at;
	}
	return STATUS_OK;
}

static int most_first(const void *a, const void *b)
{
	const struct said *x = a, *y = b;

	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	if (x->at != y->at)
		return x->at > y->at ? -1 : 1;
	return str_cmp(key_of(x->session.b, UUID_BYTES), key_of(y->session.b, UUID_BYTES));
}

enum status said_by(struct store *s, struct str what, struct arena *mem, struct said **out, size_t *count,
		    struct err *err)
{
	struct counting c CLEANUP(counting_release) = { .mem = mem };
	struct ranking none CLEANUP(ranking_release) = { 0 };
	struct rank_query q = { .places = 1u << PLACE_PROMPT | 1u << PLACE_ANSWER,
				.weights = search_weights,
				.place_count = SEARCH_PLACES,
				.now = store_now(s),
				.doc = take_doc,
				.wanted_ctx = &c };

	*count = 0;
	q.match = match_of(what, mem);
	if (!q.match.n)
		return STATUS_OK;
	if (rank_run(s, &q, &none, err) || join_rows(s, &c, out, count, err))
		return err_failed(err->status);
	if (*count)
		qsort(*out, *count, sizeof **out, most_first);
	return STATUS_OK;
}
