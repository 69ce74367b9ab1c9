/*
 * Conditions beside words.
 *
 * Places and times are bits and numbers of a document, and cost nothing. What is asked of a
 * session is found out once for each that has a match (query/rank.c). A branch is asked of both: first whether the
 * session was ever on it, then of each line (query/branches.c). Conditions that
 * the index knows by marks (tool, file, model, agent, is:error, is:subagent) are in the query already
 * (query/expr.c) and only checked here; so are those for what is attached to something (tag, is:noted,
 * is:bookmarked), which query/noted.c asks.
 *
 * Of several conditions of one kind one has to hold, of different kinds all, and none that
 * is negated; after: and before: narrow each other.
 */
#include "query/conditions.h"

#include "base/near.h"
#include "base/utf8.h"
#include "base/when.h"
#include "claude/record.h"
#include "query/forest_load.h"
#include "store/annotation.h"

/* Values with a meaning, ended by one without a name. */
struct choice {
	const char *name;
	unsigned bits;
};

static const struct choice roles[] = {
	{ "user", 1u << PLACE_PROMPT },
	{ "assistant", 1u << PLACE_ANSWER | 1u << PLACE_THINKING | 1u << PLACE_INPUT },
	{ "tool", 1u << PLACE_OUTPUT },
	{ "system", 1u << PLACE_OTHER | 1u << PLACE_CLIENT },
	{ 0 },
};

static const struct choice places[] = {
	{ "prompt", 1u << PLACE_PROMPT },
	{ "answer", 1u << PLACE_ANSWER },
	{ "thinking", 1u << PLACE_THINKING },
	{ "input", 1u << PLACE_INPUT },
	{ "output", 1u << PLACE_OUTPUT },
	{ "other", 1u << PLACE_OTHER | 1u << PLACE_CLIENT },
	{ "note", 1u << ANNOTATION_PLACE },
	{ 0 },
};

enum { IS_ERROR = 1, IS_BRANCH, IS_SUBAGENT, IS_WITHDRAWN, IS_NOTED, IS_BOOKMARKED };

static const struct choice states[] = {
	{ "error", IS_ERROR },
	{ "branch", IS_BRANCH },
	{ "subagent", IS_SUBAGENT },
	{ "withdrawn", IS_WITHDRAWN },
	{ "noted", IS_NOTED },
	{ "bookmarked", IS_BOOKMARKED },
	{ 0 },
};

_Static_assert((int)ANNOTATION_PLACE == (int)PLACES, "notes stand behind what conversations have");
enum { ALL_PLACES = (1u << (ANNOTATION_PLACE + 1)) - 1, NO_PLACE = ALL_PLACES + 1 };

/* ---- Values -------------------------------------------------------------------- */

/* What was typed, cut and made safe for an error. */
static enum status bad_value(const struct expr_condition *c, const char *hint, const char *what,
			     struct err *err)
{
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB);

	utf8_repair(&shown, str_sub(c->value, 0, 40));
	return err_fail(err, STATUS_USAGE, "%s:%s: %s%s; in quotes it is looked for as text",
			expr_field_name(c->field), shown.p ? shown.p : "", hint, what);
}

static enum status read_choice(const struct expr_condition *c, const struct choice *list, unsigned *bits,
			       struct err *err)
{
	struct near near = near_begin(c->value);
	struct buf names CLEANUP(buf_release) = BUF_INIT(KIB);

	for (const struct choice *o = list; o->name; o++) {
		if (str_eq(c->value, str_of(o->name))) {
			*bits = o->bits;
			return STATUS_OK;
		}
		near_try(&near, o->name);
		buf_printf(&names, "%s%s", o == list ? "" : ", ", o->name);
	}
	buf_byte(&names, '\0');
	return near.best ? bad_value(c, "did you mean ", near.best, err)
			 : bad_value(c, "it is one of ", names.p, err);
}

static void narrow(struct conditions *f, int64_t after, int64_t before)
{
	if (after > f->after)
		f->after = after;
	if (before && (!f->before || before < f->before))
		f->before = before;
}

static enum status read_time(struct conditions *f, const struct expr_condition *c, int64_t now,
			     struct err *err)
{
	bool is_after = (c->field == EXPR_AFTER) != c->excluded;
	int64_t from, to;

	if (c->field == EXPR_DAY) {
		if (c->excluded)
			return bad_value(c, "a day cannot be left out",
					 ", but after: and before: say up to when", err);
		if (!when_parse_span(c->value, now, &zone_local, &from, &to))
			return bad_value(c, "give ", WHEN_EXAMPLES, err);
		f->days[f->day_count++] = (struct conditions_day){ from, to };
		return STATUS_OK;
	}
	if (!when_parse(c->value, now, &from))
		return bad_value(c, "give ", WHEN_EXAMPLES, err);
	narrow(f, is_after ? from : 0, is_after ? 0 : from > 0 ? from : 1);
	return STATUS_OK;
}

/* From the first of the days that are asked for to the last. */
static void narrow_to_days(struct conditions *f)
{
	struct conditions_day all = f->day_count ? f->days[0] : (struct conditions_day){ 0 };

	for (size_t i = 1; i < f->day_count; i++) {
		all.from = f->days[i].from < all.from ? f->days[i].from : all.from;
		all.to = f->days[i].to > all.to ? f->days[i].to : all.to;
	}
	narrow(f, all.from, all.to);
}

bool conditions_hold_time(const struct conditions *f, int64_t at)
{
	bool in_day = f->day_count < 2;

	for (size_t i = 0; i < f->day_count && !in_day; i++)
		in_day = at >= f->days[i].from && at < f->days[i].to;
	return in_day && (!f->after || at >= f->after) && (!f->before || at < f->before);
}

/* The places that the conditions of a kind leave, and whether one says which are *wanted. */
static enum status read_places(const struct expr *e, enum expr_field field, const struct choice *list,
			       unsigned *bits, bool *wanted, struct err *err)
{
	unsigned only = 0, without = 0, one;

	for (size_t i = 0; i < e->condition_count; i++) {
		const struct expr_condition *c = &e->conditions[i];

		if (c->field != field)
			continue;
		if (read_choice(c, list, &one, err))
			return err_failed(err->status);
		*(c->excluded ? &without : &only) |= one;
	}
	*wanted = only != 0;
	*bits = (only ? only : ALL_PLACES) & ~without;
	return STATUS_OK;
}

/* Plans and the like have no role: whoever asks for one does not mean them, and who leaves one out does. */
static enum status read_roles(struct conditions *f, unsigned *bits, struct err *err)
{
	const unsigned other = 1u << PLACE_OTHER;
	bool wanted;

	if (read_places(f->expr, EXPR_ROLE, roles, bits, &wanted, err))
		return err_failed(err->status);
	if (wanted)
		f->beside = BESIDE_NOT;
	else if (!(*bits & other))
		f->beside = BESIDE_ONLY;
	if (f->beside == BESIDE_ONLY)
		*bits |= other;
	return STATUS_OK;
}

/* Those that are read again when a session is looked at. */
static enum status check_names(const struct expr_condition *c, struct err *err)
{
	unsigned ignored;

	struct str name = str_basename(c->value), behind;

	if (c->field == EXPR_IS)
		return read_choice(c, states, &ignored, err);
	str_cut(name, '*', &behind);
	if (c->field == EXPR_FILE && str_has_byte(behind, '*'))
		return bad_value(c, "a name may have one *, as in *_test.go", "", err);
	/* An empty part is in every name. */
	return c->value.n ? STATUS_OK : bad_value(c, "which one?", "", err);
}

enum status conditions_read(struct conditions *f, int64_t now, struct err *err)
{
	const struct expr *e = f->expr;
	unsigned bits = f->places ? f->places : ALL_PLACES, by_role, by_place;
	bool ignored;

	if (!e || !e->condition_count)
		return STATUS_OK;
	if (read_roles(f, &by_role, err) || read_places(e, EXPR_IN, places, &by_place, &ignored, err))
		return err_failed(err->status);
	bits &= by_role & by_place;
	f->places = bits == ALL_PLACES ? 0 : bits ? bits : NO_PLACE;
	for (size_t i = 0; i < e->condition_count; i++) {
		const struct expr_condition *c = &e->conditions[i];
		bool is_time = c->field == EXPR_AFTER || c->field == EXPR_BEFORE || c->field == EXPR_DAY;

		if (is_time ? read_time(f, c, now, err) : check_names(c, err))
			return err_failed(err->status);
	}
	narrow_to_days(f);
	return STATUS_OK;
}

/* ---- Sessions ------------------------------------------------------------------ */

static bool asks_session(const struct expr_condition *c)
{
	switch (c->field) {
	case EXPR_PROJECT:
	case EXPR_SESSION:
	case EXPR_BRANCH:
		return true;
	case EXPR_IS:
		return str_eq(c->value, STR("branch")) || str_eq(c->value, STR("withdrawn"));
	case EXPR_ROLE:
	case EXPR_IN:
	case EXPR_TOOL:
	case EXPR_FILE:
	case EXPR_MODEL:
	case EXPR_AGENT:
	case EXPR_TAG:
	case EXPR_AFTER:
	case EXPR_BEFORE:
	case EXPR_DAY:
	case EXPR_FIELDS:
		break;
	}
	return false;
}

bool conditions_ask_session(const struct conditions *f)
{
	for (size_t i = 0; f->expr && i < f->expr->condition_count; i++)
		if (asks_session(&f->expr->conditions[i]))
			return true;
	return f->project.p || f->session || (f->hidden && f->hidden->count);
}

/* Whoever asks for a session by its name has it, hidden or not. */
static bool names_session(const struct conditions *f)
{
	bool named = f->session != 0;

	for (size_t i = 0; f->expr && i < f->expr->condition_count; i++)
		named |= f->expr->conditions[i].field == EXPR_SESSION && !f->expr->conditions[i].excluded;
	return named;
}

static bool is_below(struct str folder, struct str path)
{
	if (!str_has_prefix(path, folder))
		return false;
	return path.n == folder.n || path.p[folder.n] == '/' || str_has_suffix(folder, STR("/"));
}

/* A name as typed; with a * at its end, names that begin so. */
static bool is_named(struct str pattern, struct str name)
{
	if (str_has_suffix(pattern, STR("*")))
		return str_has_prefix(name, str_sub(pattern, 0, pattern.n - 1));
	return str_eq(pattern, name);
}

struct naming {
	struct str pattern;
	bool found;
};

static enum status try_branch(void *ctx, enum session_value kind, struct str value, struct err *err)
{
	struct naming *n = ctx;

	(void)err;
	n->found |= kind == SESSION_BRANCH && is_named(n->pattern, value);
	return STATUS_OK;
}

static enum status has_branch(struct store *s, const struct session *session, struct str pattern, bool *out,
			      struct err *err)
{
	struct naming n = { pattern, is_named(pattern, session->branch) };

	if (!n.found && session_values(s, session->row, try_branch, &n, err))
		return err_failed(err->status);
	*out = n.found;
	return STATUS_OK;
}

bool conditions_ask_branch(const struct conditions *f)
{
	for (size_t i = 0; f->expr && i < f->expr->condition_count; i++)
		if (f->expr->conditions[i].field == EXPR_BRANCH)
			return true;
	return false;
}

bool conditions_hold_branch(const struct conditions *f, struct str branch)
{
	bool asked = false, held = false;

	for (size_t i = 0; f->expr && i < f->expr->condition_count; i++) {
		const struct expr_condition *c = &f->expr->conditions[i];
		bool is = c->field == EXPR_BRANCH && branch.n && is_named(c->value, branch);

		if (is && c->excluded)
			return false;
		asked |= c->field == EXPR_BRANCH && !c->excluded;
		held |= is;
	}
	return !asked || held;
}

/* Without a store only the project and the row of the session count. */
static enum status holds(const struct conditions *f, const struct expr_condition *c, struct store *s,
			 const struct session *session, bool *out, struct err *err)
{
	*out = false;
	if (!s && c->field != EXPR_PROJECT && c->field != EXPR_SESSION)
		return STATUS_OK;
	if (c->field == EXPR_BRANCH)
		return has_branch(s, session, c->value, out, err);
	if (c->field == EXPR_IS && str_eq(c->value, STR("branch")))
		return branched_has(f->branched, s, session->row, out, err);
	*out = c->field == EXPR_PROJECT	  ? is_below(c->value, session->project)
	       : c->field == EXPR_SESSION ? session->row == c->row
					  : session->old;
	return STATUS_OK;
}

/* `whole`: nothing is asked of its lines. */
static enum status all_hold(const struct conditions *f, struct store *s, const struct session *session, bool whole,
			    bool *out, struct err *err)
{
	uint64_t asked = 0, held = 0;

	*out = (!f->project.p || is_below(f->project, session->project)) &&
	       (!f->session || session->row == f->session) &&
	       !(f->hidden && hidden_has(f->hidden, session->row) && !names_session(f));
	for (size_t i = 0; f->expr && *out && i < f->expr->condition_count; i++) {
		const struct expr_condition *c = &f->expr->conditions[i];
		/* Each state is a kind of its own. */
		uint64_t kind = (uint64_t)1 << (c->field == EXPR_IS ? EXPR_FIELDS + i : (size_t)c->field);
		bool yes = false;

		if (!asks_session(c) || (!c->excluded && (held & kind)))
			continue;
		/* Some of its lines may be on others; of older versions of a file only lines know it. */
		if (c->field == EXPR_BRANCH && !whole && (c->excluded || session->old))
			continue;
		if (holds(f, c, s, session, &yes, err))
			return err_failed(err->status);
		if (c->excluded) {
			*out = !yes;
			continue;
		}
		asked |= kind;
		held |= yes ? kind : 0;
	}
	*out = *out && asked == held;
	return STATUS_OK;
}

enum status conditions_hold(const struct conditions *f, struct store *s, const struct session *session,
			    bool *out, struct err *err)
{
	return all_hold(f, s, session, true, out, err);
}

enum status conditions_may_hold(const struct conditions *f, struct store *s, const struct session *session,
				bool *out, struct err *err)
{
	return all_hold(f, s, session, false, out, err);
}

enum status conditions_hold_beside(const struct conditions *f, struct str project, int64_t session, bool *out,
				   struct err *err)
{
	struct session known = { .row = session, .project = project };

	return all_hold(f, NULL, &known, true, out, err);
}
