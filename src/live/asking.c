/*
 * A list of the client's questions that have no answer yet.
 *
 *     NEW ──► OPEN ──► handed over, and forgotten
 *      └───────┴─────► refused or withdrawn, and forgotten
 *
 * What is safe is decided by one function: grant(), the only one that can tell the client "allow", does so
 * for what the store says is delivered, which nothing becomes that was not decided by somebody
 * (store/approval.c). Everything else that can happen, a store that says no, a question that is void, one
 * that is no question, ends in an error for the client, by which its tool does not run; or in silence while
 * the client waits.
 *
 * The store is asked again only when it has changed or a moment has come. Of a question only its id is kept
 * here: an input may have megabytes.
 */
#include "live/asking.h"

#include "live/client.h"
#include "live/lease.h"

enum step { STEP_STAYS, STEP_OVER };

struct asked {
	struct asked *next;
	struct arena mem;
	struct str request;	 /* the client's id of it, as it stood there */
	struct str request_text; /* and as text */
	struct str line;	 /* all of it, until it is asked */
	bool is_open;		 /* in the store, as `id` */
	bool withdrawn;
	struct uuid id;
	bool has_session;
	struct uuid session;
	int64_t expires_at, looked_at;
};

struct asking {
	struct asking_new what;
	struct asked *first; /* the oldest */
	size_t count;
	bool interrupted;
};

struct asking *asking_new(const struct asking_new *what)
{
	struct asking *a = mem_alloc(sizeof *a);

	a->what = *what;
	return a;
}

static void free_asked(struct asked *q)
{
	arena_release(&q->mem);
	mem_free(q);
}

void asking_free(struct asking *a)
{
	while (a && a->first) {
		struct asked *q = a->first;

		a->first = q->next;
		free_asked(q);
	}
	mem_free(a);
}

bool asking_is_open(const struct asking *a)
{
	for (const struct asked *q = a->first; q; q = q->next)
		if (q->is_open)
			return true;
	return false;
}

bool asking_is_waiting(const struct asking *a)
{
	return a->first != NULL;
}

bool asking_has_interrupted(const struct asking *a)
{
	return a->interrupted;
}

/* ---- To the client ------------------------------------------------------------- */

static enum step refuse(const struct asking *a, const struct asked *q, const char *why)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);

	client_put_refusal(&line, q->request, why);
	a->what.hooks.tell(a->what.hooks.ctx, &line);
	return STEP_OVER;
}

/* What somebody has decided, and the store says that it is handed over. */
static enum step grant(struct asking *a, const struct asked *q, const struct approval *answered)
{
	struct buf answer CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct buf line CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct json_writer w;
	struct err err;

	if (answered->state != APPROVAL_DELIVERED || !answered->is_decided)
		bug("an answer that nobody gave");
	json_write_init(&w, &answer, 0);
	question_write_answer(&w, answered);
	if (json_write_done(&w, &err))
		return refuse(a, q, err.text);
	client_put_answer(&line, q->request, buf_as_str(&answer));
	a->interrupted |= answered->interrupt;
	a->what.hooks.tell(a->what.hooks.ctx, &line);
	return STEP_OVER;
}

/* ---- Asking -------------------------------------------------------------------- */

/* Whether trying again may help. */
static bool is_passing(enum status status)
{
	return status == STATUS_BUSY || status == STATUS_FULL || status == STATUS_IO;
}

static struct str text_of(const struct json *j, uint32_t request, const char *key, struct arena *mem)
{
	return json_string_in(j, json_get(j, request, str_of(key)), mem);
}

static struct str raw_of(const struct json *j, uint32_t request, const char *key)
{
	uint32_t node = json_get(j, request, str_of(key));

	if (node == JSON_NONE || json_is(j, node, JSON_NULL))
		return (struct str){ 0 };
	return json_raw(j, node);
}

/* Why it is no question that anybody could answer; NULL: it is one. */
static const char *flaw(const struct json *j, const struct question_new *n)
{
	if (!n->what.tool_name.n || n->what.tool_name.n > LIMIT_RULE_TOOL)
		return "it has no tool, or one with a name that is too long";
	if (!n->what.input.n || n->what.input.p[0] != '{')
		return "it has no input";
	return j->flags & JSON_BAD_UTF8 ? "it is not valid UTF-8" : NULL;
}

static struct question_new question_of(const struct asking *a, const struct asked *q, const struct json *j,
				       struct arena *mem)
{
	uint32_t request = json_get(j, json_root(j), STR("request"));

	return (struct question_new){
		.what = { .session = a->what.run->session,
			  .run = a->what.run->row,
			  .claude_session = q->has_session ? &q->session : NULL,
			  .cwd = a->what.cwd,
			  .request_id = q->request_text,
			  .tool_use_id = text_of(j, request, "tool_use_id", mem),
			  .tool_name = text_of(j, request, "tool_name", mem),
			  .input = raw_of(j, request, "input"),
			  .agent_id = text_of(j, request, "agent_id", mem),
			  .suggestions = raw_of(j, request, "permission_suggestions"),
			  .expires_at = a->what.expire_ms ? store_now(a->what.store) + a->what.expire_ms
							  : 0 },
		.writer = &a->what.run->writer,
		.home = a->what.home,
	};
}

static enum step ask(const struct asking *a, struct asked *q)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct question_new n;
	struct approval out;
	const char *why;
	struct err err;

	if (json_read(&j, q->line, LIMIT_JSON_DEPTH, &err))
		return refuse(a, q, err.text);
	n = question_of(a, q, &j, &mem);
	why = flaw(&j, &n);
	if (why)
		return refuse(a, q, why);
	if (!a->what.hooks.ready(a->what.hooks.ctx))
		return STEP_STAYS;
	if (question_ask(a->what.store, &n, &mem, &out, &err))
		return is_passing(err.status) ? STEP_STAYS : refuse(a, q, err.text);
	q->is_open = true;
	q->id = out.id;
	q->expires_at = out.expires_at;
	return STEP_STAYS;
}

/* ---- Hearing the answer ----------------------------------------------------------- */

static enum step hand_over(struct asking *a, const struct asked *q, struct approval *now, struct arena *mem)
{
	struct err err;

	if (!a->what.hooks.ready(a->what.hooks.ctx))
		return STEP_STAYS;
	if (!question_deliver(a->what.store, now, &a->what.run->writer, mem, &err))
		return grant(a, q, now);
	return is_passing(err.status) ? STEP_STAYS : refuse(a, q, err.text);
}

static enum step hear(struct asking *a, struct asked *q)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval now = { .id = q->id };
	struct err err;

	if (question_look(a->what.store, &now, &mem, &err))
		return is_passing(err.status) ? STEP_STAYS : refuse(a, q, err.text);
	q->looked_at = store_now(a->what.store);
	switch (now.state) {
	case APPROVAL_DECIDED:
		return hand_over(a, q, &now, &mem);
	case APPROVAL_DELIVERED: /* by us, and then the store seemed to fail */
		return grant(a, q, &now);
	case APPROVAL_VOID:
		return refuse(a, q, "nobody is asked this any more");
	case APPROVAL_PENDING:
	case APPROVAL_STATES:
		break;
	}
	return STEP_STAYS;
}

/* The client wants no answer. One that was handed over before has been heard. */
static enum step take_back(const struct asking *a, const struct asked *q)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval now = { .id = q->id };
	struct err err;

	if (!a->what.hooks.ready(a->what.hooks.ctx))
		return STEP_STAYS;
	if (question_withdraw(a->what.store, &now, &a->what.run->writer, &mem, &err) &&
	    is_passing(err.status))
		return STEP_STAYS;
	return STEP_OVER;
}

static bool is_due(const struct asking *a, const struct asked *q)
{
	int64_t now = store_now(a->what.store);

	return now - q->looked_at > LEASE_RENEW_MS || (q->expires_at && q->expires_at <= now);
}

static enum step go_on(struct asking *a, struct asked *q, bool changed)
{
	if (q->withdrawn)
		return q->is_open ? take_back(a, q) : STEP_OVER;
	if (!q->is_open && ask(a, q) == STEP_OVER)
		return STEP_OVER;
	return q->is_open && (changed || is_due(a, q)) ? hear(a, q) : STEP_STAYS;
}

void asking_look(struct asking *a, bool changed)
{
	struct asked **at = &a->first;

	while (*at) {
		struct asked *q = *at;

		if (go_on(a, q, changed) == STEP_STAYS) {
			at = &q->next;
			continue;
		}
		*at = q->next;
		a->count--;
		free_asked(q);
	}
}

/* ---- From the client ------------------------------------------------------------- */

static struct asked *append(struct asking *a)
{
	struct asked **at = &a->first;

	while (*at)
		at = &(*at)->next;
	*at = mem_alloc(sizeof **at);
	a->count++;
	return *at;
}

void asking_add(struct asking *a, const struct json *line, const struct uuid *claude_session)
{
	uint32_t id = json_get(line, json_root(line), STR("request_id"));
	struct asked *q;

	if (!json_is(line, id, JSON_STRING))
		return;
	if (a->count >= LIMIT_OPEN_QUESTIONS) {
		refuse(a, &(struct asked){ .request = json_raw(line, id) },
		       "too many questions wait already");
		return;
	}
	q = append(a);
	q->request = arena_str(&q->mem, json_raw(line, id));
	q->request_text = arena_str(&q->mem, json_string_in(line, id, &q->mem));
	q->line = arena_str(&q->mem, json_raw(line, json_root(line)));
	q->has_session = claude_session != NULL;
	if (claude_session)
		q->session = *claude_session;
	asking_look(a, false);
}

void asking_withdraw(struct asking *a, const struct json *line)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str id = text_of(line, json_root(line), "request_id", &mem);

	for (struct asked *q = a->first; q; q = q->next)
		q->withdrawn |= str_eq(q->request_text, id);
	asking_look(a, false);
}
