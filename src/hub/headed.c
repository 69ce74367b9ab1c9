/*
 * A named session is at the message that its head says (store/named.h), or where somebody went on from there with
 * the client since (live/resume.h). As long as it has none, because nobody knows yet what its client wrote, it is
 * where its file would be gone on from.
 *
 * A message may stand in several files: that of the session itself is meant where it has it, else it goes on
 * from another's. Which of them are in a forest, the forest knows.
 */
#include "hub/headed.h"

#include "live/resume.h"
#include "store/named.h"

#include <string.h>

static enum status named_is_there(struct call *c, struct str text, struct named *out, bool *found,
				  struct err *err)
{
	enum status status;
	bool any;

	*found = false;
	if (store_has(c->store, STORE_LIVE, &any, err))
		return err_failed(err->status);
	if (!any)
		return STATUS_OK;
	status = named_find(c->store, text, &c->mem, out, err);
	*found = status == STATUS_OK;
	return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status nothing_said(const struct named *n, struct err *err)
{
	return err_fail(err, STATUS_NOT_FOUND,
			"%.*s: nothing was said in this session yet that is mirrored; 'arbor sync' brings in what was",
			STR_ARG(n->name));
}

static enum status head_of(struct call *c, const struct named *n, struct resolved *out, struct err *err)
{
	char session[UUID_TEXT + 1], head[UUID_TEXT + 1];
	enum status status = STATUS_NOT_FOUND;

	if (!n->head.has_head && !n->head.has_session)
		return nothing_said(n, err);
	uuid_print(&n->head.session, session);
	uuid_print(&n->head.head, head);
	if (!n->head.has_head) {
		status = resolve_id(c->store, str_of(session), &c->mem, out, err);
		return status == STATUS_NOT_FOUND ? nothing_said(n, err) : status;
	}
	if (n->head.has_session)
		status = resolve_id(c->store, arena_printf(&c->mem, "%s@%s", session, head), &c->mem, out,
				    err);
	return status == STATUS_NOT_FOUND ? resolve_id(c->store, str_of(head), &c->mem, out, err) : status;
}

enum status headed_meant_by(struct call *c, struct str text, unsigned kinds, struct meant *out,
			    struct str *name, struct err *err)
{
	struct named n;
	struct err why;
	enum status status;
	bool found;

	*name = (struct str){ 0 };
	/* What could be several names may be one id. */
	status = named_is_there(c, text, &n, &found, &why);
	if (status && status != STATUS_AMBIGUOUS) {
		*err = why;
		return err_failed(status);
	}
	if (!found || !str_eq(n.name, text)) {
		status = meant_find(c->store, text, kinds, &c->mem, out, err);
		if (!found || (status != STATUS_NOT_FOUND && status != STATUS_USAGE))
			return status;
	}
	*out = (struct meant){ .kind = MEANT_MIRRORED };
	*name = n.name;
	return resume_head(c->store, &n, &n.head, err) ? err_failed(err->status)
						       : head_of(c, &n, &out->mirrored, err);
}

enum status headed_meant(struct call *c, struct str text, unsigned kinds, struct meant *out, struct err *err)
{
	struct str name;

	return headed_meant_by(c, text, kinds, out, &name, err);
}

enum status headed_find(struct call *c, struct str text, struct resolved *out, struct err *err)
{
	struct meant what;

	if (headed_meant(c, text, MEANT_MIRRORED, &what, err))
		return err_failed(err->status);
	*out = what.mirrored;
	return STATUS_OK;
}

/* ---- In a forest ----------------------------------------------------------------------- */

struct heading {
	struct call *call;
	const struct turns *turns;
	struct headed *out;
	uint32_t cap;
	uint32_t message; /* that the head in hand is */
	uint32_t source;  /* the file of its session; FOREST_NONE = it is not here */
};

static enum status find_copy(void *ctx, const struct node *node, struct err *err)
{
	struct heading *h = ctx;
	const struct forest *f = h->turns->forest;
	uint32_t source, line;

	(void)err;
	if (h->message == FOREST_NONE && forest_find_line(f, node->session, node->offset, &source, &line))
		h->message = forest_message_of(f, source, line);
	return STATUS_OK;
}

/* The file of a session, if it is in the forest. */
static uint32_t source_of(const struct turns *t, const struct uuid *session)
{
	for (uint32_t s = 0; s < t->forest->source_count; s++)
		if (!t->forest->sources[s].agent.n && uuid_eq(&t->forest->sources[s].session.id, session))
			return s;
	return FOREST_NONE;
}

/* The head in its session's own file, where it mostly is: of many forks each has every message. */
static enum status find_in_own(struct heading *h, const struct named *n, struct err *err)
{
	const struct named_head *head = &n->head;
	char id[UUID_TEXT + 1];
	struct id_match match;
	bool went_on = false;
	size_t count = 0;

	if (h->source == FOREST_NONE)
		return STATUS_OK;
	if (!head->has_head) {
		h->message = h->turns->leaves[h->source];
		return STATUS_OK;
	}
	uuid_print(&head->head, id);
	if (id_search(h->call->store, str_of(id), h->turns->forest->sources[h->source].session.row, &match, 1,
		      &count, err))
		return err_failed(err->status);
	if (!count || match.is_session)
		return STATUS_OK;
	if (find_copy(h, &match.node, err) ||
	    (h->message != h->turns->leaves[h->source] && resume_went_on(h->call->store, n, &went_on, err)))
		return err_failed(err->status);
	if (went_on)
		h->message = h->turns->leaves[h->source];
	return STATUS_OK;
}

static enum status take_named(void *ctx, const struct named *n, struct err *err)
{
	struct heading *h = ctx;
	struct headed_one *more;

	h->message = FOREST_NONE;
	h->source = n->head.has_session ? source_of(h->turns, &n->head.session) : FOREST_NONE;
	if (find_in_own(h, n, err) ||
	    (n->head.has_head && h->message == FOREST_NONE &&
	     node_each(h->call->store, &n->head.head, find_copy, h, err)))
		return err_failed(err->status);
	if (h->message == FOREST_NONE)
		return STATUS_OK;
	if (h->out->count == h->cap) {
		h->cap = h->cap ? 2 * h->cap : 8;
		more = arena_alloc(&h->call->mem, h->cap * sizeof *more);
		if (h->out->count)
			memcpy(more, h->out->list, h->out->count * sizeof *more);
		h->out->list = more;
	}
	h->out->list[h->out->count++] = (struct headed_one){ arena_str(&h->call->mem, n->name), h->message,
							     h->source, FOREST_NONE };
	return STATUS_OK;
}

enum status headed_load(struct call *c, const struct turns *turns, struct headed *out, struct err *err)
{
	struct heading h = { .call = c, .turns = turns, .out = out };
	size_t room = (turns->forest->message_count + 1) * sizeof *out->at;
	bool any;

	*out = (struct headed){ 0 };
	if (store_has(c->store, STORE_LIVE, &any, err))
		return err_failed(err->status);
	if (!any)
		return STATUS_OK;
	if (named_each(c->store, take_named, &h, err))
		return err_failed(err->status);
	out->at = memset(arena_alloc(&c->mem, room), 0xff, room);
	for (uint32_t i = out->count; i-- > 0;) {
		out->list[i].next = out->at[out->list[i].message];
		out->at[out->list[i].message] = i;
	}
	return STATUS_OK;
}

unsigned headed_range(struct str text, struct str *a, struct str *b)
{
	for (size_t i = 0; i + 1 < text.n; i++) {
		unsigned dots = i + 2 < text.n && text.p[i + 2] == '.' ? 3 : 2;
		size_t behind = i + dots;

		if (text.p[i] != '.' || text.p[i + 1] != '.' || str_has_byte(text, '/'))
			continue;
		*a = i ? str_sub(text, 0, i) : STR(PARAM_LAST_SESSION);
		*b = behind < text.n ? str_sub(text, behind, SIZE_MAX) : STR(PARAM_LAST_SESSION);
		return dots;
	}
	return 0;
}

void headed_put_here(struct json_writer *w, const struct forest *f, struct str name, uint32_t source, bool asked)
{
	put_text_if(w, "name", name);
	if (source != FOREST_NONE)
		put_uuid(w, "session", &f->sources[source].session.id);
	if (asked)
		put_bool(w, "asked", true);
}
