/*
 * Which values there are. A name that is typed wrongly finds nothing, and nothing else tells that from a true answer.
 * Of the values that there are a few are enough: those that have in them what was typed, then those a slip away, then
 * those that are used most.
 */
#include "query/values.h"

#include "base/mark.h"
#include "base/near.h"
#include "base/utf8.h"
#include "store/branch.h"
#include "store/fulltext.h"
#include "store/session.h"

#include <string.h>

enum { SHOWN = 5, SLIP = 2 };

struct listing {
	struct arena *mem;
	enum expr_field field;
	struct str typed; /* without a * at its end, */
	bool prefix;	  /* which means names that begin so */
	struct {
		struct str name;
		int far; /* the lower, the more it looks like what was typed */
	} best[SHOWN];
	size_t count, others;
	bool met; /* it is one of them */
};

static bool is_inside(struct str text, struct str part)
{
	for (size_t i = 0; i + part.n <= text.n; i++)
		if (str_alike(str_sub(text, i, part.n), part))
			return true;
	return false;
}

static bool is_met(const struct listing *l, struct str name)
{
	if (l->field == EXPR_MODEL)
		return is_inside(name, l->typed);
	if (l->field == EXPR_TOOL)
		return str_alike(l->prefix ? str_sub(name, 0, l->typed.n) : name, l->typed);
	return l->prefix ? str_has_prefix(name, l->typed) : str_eq(name, l->typed);
}

/* Keeps the order in which they come, where they look like it as much. */
static void take_value(void *ctx, struct str name)
{
	struct listing *l = ctx;
	int far = is_inside(name, l->typed) ? 0 : edit_distance(name, l->typed) <= SLIP ? 1 : 2;
	size_t at;

	l->met |= is_met(l, name);
	l->others += l->count == SHOWN;
	if (l->count == SHOWN && l->best[SHOWN - 1].far <= far)
		return;
	at = l->count < SHOWN ? l->count++ : SHOWN - 1;
	for (; at && l->best[at - 1].far > far; at--)
		l->best[at] = l->best[at - 1];
	l->best[at].name = arena_str(l->mem, name);
	l->best[at].far = far;
}

/* A mark has two bytes before the name. */
static void take_mark(void *ctx, struct str word)
{
	take_value(ctx, str_sub(word, 2, SIZE_MAX));
}

static enum status list_models(struct store *s, struct listing *l, struct err *err)
{
	struct str *names;
	size_t count;

	if (model_names(s, STR(""), l->mem, &names, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		take_value(l, names[i]);
	return STATUS_OK;
}

static enum status list_values(struct store *s, struct listing *l, struct err *err)
{
	char room[WORD_MAX];

	if (l->field == EXPR_MODEL)
		return list_models(s, l, err);
	if (l->field == EXPR_BRANCH)
		return branch_names(s, take_value, l, err);
	return fulltext_beginning(s, mark_word(MARK_TOOL, STR(""), room), take_mark, l, err);
}

static void tell(const struct listing *l, struct buf *out)
{
	struct str typed = str_sub(l->typed, 0, 40);

	typed.n = utf8_valid_prefix(typed);
	buf_printf(out, "; no %s is called '%.*s'", expr_field_name(l->field), STR_ARG(typed));
	for (size_t i = 0; i < l->count; i++)
		buf_printf(out, "%s%.*s", i ? ", " : ": there are ", STR_ARG(l->best[i].name));
	if (l->others)
		buf_printf(out, " and %zu more", l->others);
}

enum status values_advise(struct store *s, const struct expr *e, struct arena *mem, struct buf *out, struct err *err)
{
	for (size_t i = 0; i < e->condition_count; i++) {
		const struct expr_condition *c = &e->conditions[i];
		struct listing l = { .mem = mem, .field = c->field };

		if (c->excluded || (c->field != EXPR_TOOL && c->field != EXPR_MODEL && c->field != EXPR_BRANCH))
			continue;
		l.prefix = c->field != EXPR_MODEL && str_has_suffix(c->value, STR("*"));
		l.typed = str_sub(c->value, 0, c->value.n - l.prefix);
		if (list_values(s, &l, err))
			return err_failed(err->status);
		if (!l.met)
			tell(&l, out);
	}
	return STATUS_OK;
}
