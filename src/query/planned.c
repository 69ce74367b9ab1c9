/*
 * Plans, from the calls by which plan mode ends: each has the whole text as it was then.
 *
 * Lines say what the plan of their conversation is called; the client keeps one file of that name, which later
 * conversations may go on with, and rewrites it. So calls with one name are versions of one plan, whichever
 * conversation they stand in.
 */
#include "query/planned.h"

#include "query/called.h"

#include <stdlib.h>

struct giving {
	struct str name;
	struct planned_version v;
};

struct plans {
	struct arena *mem;
	const struct session *session; /* of the call in hand */
	struct giving *list;
	size_t count;
};

static enum status take_call(void *ctx, const struct transcript_line *line, const struct record_block *call,
			     const struct uuid *id, struct err *err)
{
	const struct json *j = &line->reader->json;
	struct plans *p = ctx;
	struct giving *g = &p->list[p->count];
	struct str text = json_string_in(j, json_get(j, json_get(j, call->node, STR("input")), STR("plan")), p->mem);
	char session[UUID_TEXT + 1];

	(void)err;
	if (!str_trim(text).n)
		return STATUS_OK;
	uuid_print(&p->session->id, session);
	*g = (struct giving){ .name = arena_str(p->mem, line->record->plan),
			      .v = { .text = arena_str(p->mem, text),
				     .at = line->record->has_time ? line->record->at : 0,
				     .session = *p->session,
				     .node = *id,
				     .call = *call } };
	if (!g->name.n)
		g->name = arena_str(p->mem, str_from(session, 8));
	g->v.call.name = arena_str(p->mem, call->name);
	g->v.call.tool = arena_str(p->mem, call->tool);
	p->count++;
	return STATUS_OK;
}

static int by_name(const void *a, const void *b)
{
	const struct giving *x = a, *y = b;
	int name = str_cmp(x->name, y->name);

	if (name)
		return name;
	if (x->v.at != y->v.at)
		return x->v.at < y->v.at ? -1 : 1;
	return x->v.session.row != y->v.session.row ? (x->v.session.row < y->v.session.row ? -1 : 1) : 0;
}

/* Those with one name follow each other. */
static void join(struct plans *p, struct planned **out, size_t *count)
{
	*out = arena_alloc(p->mem, (p->count + 1) * sizeof **out);
	*count = 0;
	for (size_t i = 0; i < p->count; i++) {
		struct planned *plan = *count ? &(*out)[*count - 1] : NULL;

		if (!plan || !str_eq(plan->name, p->list[i].name)) {
			plan = &(*out)[(*count)++];
			*plan = (struct planned){ .name = p->list[i].name };
			plan->versions = arena_alloc(p->mem, (p->count - i) * sizeof *plan->versions);
		}
		if (!plan->count || !str_eq(plan->versions[plan->count - 1].text, p->list[i].v.text))
			plan->versions[plan->count++] = p->list[i].v;
	}
}

enum status planned_find(struct store *s, struct arena *mem, struct planned **out, size_t *count, struct err *err)
{
	static const char *const tools[] = { "ExitPlanMode", NULL };
	struct transcript t CLEANUP(transcript_release);
	struct plans p = { .mem = mem };
	struct session session = { 0 };
	struct called *calls;
	size_t found;

	transcript_init(&t);
	p.session = &session;
	if (called_find(s, tools, mem, &calls, &found, err))
		return err_failed(err->status);
	p.list = arena_alloc(mem, (found + 1) * sizeof *p.list);
	for (size_t i = 0; i < found; i++) {
		if (session.row != calls[i].row && session_get(s, calls[i].row, mem, &session, err))
			return err_failed(err->status);
		if (!session.old && called_read(&t, s, &session, &calls[i], mem, take_call, &p, err))
			return err_failed(err->status);
	}
	qsort(p.list, p.count, sizeof *p.list, by_name);
	join(&p, out, count);
	return STATUS_OK;
}
