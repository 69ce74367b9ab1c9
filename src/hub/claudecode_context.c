/*
 * claudecode.render_context: what the model would be sent next at a node, as the API takes it; all of it, or
 * as much as is wanted of its end.
 *
 * What is sent is found by query/context.c, as for 'arbor log --as-sent'. A part of it has to be something
 * that the API takes, too: it begins with a message of the user's that answers no call, which is where a turn
 * begins as the model sees it. So whole turns are left out, from the first on.
 *
 * Only a part that is wanted costs a look at all of it first.
 */
#include "hub/claudecode_methods.h"

#include "hub/call.h"
#include "hub/headed.h"
#include "hub/memory_place.h"
#include "hub/memory_session.h"
#include "query/context.h"
#include "query/ways.h"

static const char *const kinds[] = { "context", "message", NULL };
static const char *const roles[] = { "user", "assistant", NULL };

static const struct param context_params[] = {
	HEADED_PARAM("a session, named or not: where it is now; or a node: what was said until then, an answer "
		     "with the results of its calls"),
	{ .name = "turns",
	  .type = VALUE_INT,
	  .least = 1,
	  .most = INT32_MAX,
	  .help = "only the last so many turns" },
	{ .name = "since",
	  .type = VALUE_TEXT,
	  .shown = "NODE|@BOOKMARK",
	  .help = "only from there on: from a prompt, or from the first one behind what is named" },
	{ .name = "budget",
	  .type = VALUE_INT,
	  .least = 1,
	  .most = INT32_MAX,
	  .help = "at most about so many tokens: as many of the last turns as fit" },
	{ .name = "before", .type = VALUE_BOOL, .help = "of an answer only what led to it" },
	{ 0 },
};

static const struct field context_fields[] = {
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = kinds,
	  .help = "what the item is; 'context' comes first" },
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "context: the message it ends with; message: that it begins with" },
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "context: whose" },
	{ .name = "messages",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "context: how many follow" },
	{ .name = "left_out",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "context: that come before these" },
	{ .name = "role",
	  .type = VALUE_ENUM,
	  .choices = roles,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: whose" },
	{ .name = "tokens",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "about so many: four bytes each, a picture 1,600" },
	{ .name = "client",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "message: the client words a part of it, which has \"client\": true and says only what it "
		  "is" },
	{ .name = "content",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL | FIELD_STRETCH,
	  .help = "message: its blocks as the API takes them" },
	{ 0 },
};

/* What is known of a message when all have been looked at. */
struct seen {
	uint32_t tokens;
	bool begins; /* a part may begin with it */
	bool behind; /* what was named as the beginning: with it, or behind it */
	bool client;
};

struct rendering {
	struct call *call;
	struct ground ground;
	struct lines_set lines;
	struct place at;
	uint32_t *place; /* by message: how many are before it on the way; FOREST_NONE = it is not on it */
	uint32_t since;	 /* on the way, from which on messages are wanted; 0 = from the first */
	uint32_t last;	 /* place of the message before */
	struct seen *seen;
	uint32_t count, cap;
	uint32_t start; /* the first that is given */
	uint32_t next;	/* when they are given */
	struct json content;
};

static void rendering_release(struct rendering *r)
{
	json_release(&r->content);
	mem_free(r->seen);
	lines_set_release(&r->lines);
	ground_release(&r->ground);
}

/* ---- Looking at them -------------------------------------------------------------------- */

enum { BYTES_A_TOKEN = 4, TOKENS_A_PICTURE = 1600, TOKENS_A_MESSAGE = 4 };

static uint32_t tokens_of(const struct json *j, uint32_t block)
{
	size_t bytes = json_raw(j, block).n;

	if (json_string_eq(j, json_get(j, block, STR("type")), STR("image")))
		return TOKENS_A_PICTURE;
	return (uint32_t)((bytes + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN);
}

static enum status look_at(struct rendering *r, const struct context_message *m, struct seen *out,
			   struct err *err)
{
	struct json *j = &r->content;

	*out = (struct seen){ .tokens = TOKENS_A_MESSAGE, .begins = str_eq(m->role, STR("user")) };
	if (json_read(j, m->content, 0, err))
		return err_failed(err->status);
	for (uint32_t b = json_first(j, 0); b != json_end(j, 0); b = json_next(j, b)) {
		out->tokens += tokens_of(j, b);
		out->begins &= !json_string_eq(j, json_get(j, b, STR("type")), STR("tool_result"));
		out->client |= json_bool(j, json_get(j, b, STR("client")));
	}
	return STATUS_OK;
}

static uint32_t message_of(const struct rendering *r, const struct context_message *m)
{
	return forest_message_of(&r->ground.grove.forest, r->at.source, m->first);
}

static enum status see(void *ctx, const struct context_message *m, struct err *err)
{
	struct rendering *r = ctx;
	uint32_t message = message_of(r, m);
	struct seen seen;

	if (call_is_cancelled(r->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	if (look_at(r, m, &seen, err))
		return err_failed(err->status);
	if (message != FOREST_NONE && r->place[message] != FOREST_NONE)
		r->last = r->place[message];
	seen.behind = r->last >= r->since;
	if (r->count == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->seen = mem_resize(r->seen, r->cap * sizeof *r->seen);
	}
	r->seen[r->count++] = seen;
	return STATUS_OK;
}

/* ---- Which are given --------------------------------------------------------------------- */

/* From the last to the first, as long as all that is asked of them holds. */
static enum status choose_start(struct rendering *r, struct err *err)
{
	int64_t turns = call_int(r->call, "turns"), budget = call_int(r->call, "budget"), begun = 0,
		tokens = 0;
	bool has_turns = call_value(r->call, "turns")->given,
	     has_budget = call_value(r->call, "budget")->given;
	bool fits = true;

	r->start = r->count;
	for (uint32_t i = r->count; i-- > 0 && fits;) {
		tokens += r->seen[i].tokens;
		begun += r->seen[i].begins;
		fits = r->seen[i].behind && !(has_turns && begun > turns) && !(has_budget && tokens > budget);
		/* The first of all may be an answer: what is before it is missing. */
		if (fits && (r->seen[i].begins || i == 0))
			r->start = i;
		else if (!fits && has_budget && tokens > budget && r->start == r->count)
			return err_fail(err, STATUS_LIMIT,
					"the last turn alone has about %" PRId64
					" tokens or more; --budget %" PRId64 " is too small for it",
					tokens, budget);
	}
	return STATUS_OK;
}

static enum status emit_heading(struct rendering *r, struct err *err)
{
	struct grove_ref ref = { .kind = GROVE_MESSAGE, .at = r->at.message };
	struct json_writer *w = call_begin(r->call);
	int64_t tokens = 0;
	struct uuid id;

	if (grove_id(&r->ground.grove, ref, &id, err))
		return err_failed(err->status);
	for (uint32_t i = r->start; i < r->count; i++)
		tokens += r->seen[i].tokens;
	put_text(w, "kind", STR("context"));
	put_uuid(w, "id", &id);
	put_uuid(w, "session", &r->ground.grove.forest.sources[r->at.source].session.id);
	put_int(w, "messages", r->count - r->start);
	put_int(w, "left_out", r->start);
	put_int(w, "tokens", tokens);
	return call_emit(r->call, err);
}

static enum status emit_message(void *ctx, const struct context_message *m, struct err *err)
{
	struct rendering *r = ctx;
	uint32_t at = r->next++, message = message_of(r, m);
	struct json_writer *w;
	struct uuid id;

	if (at < r->start)
		return STATUS_OK;
	w = call_begin(r->call);
	put_text(w, "kind", STR("message"));
	if (message != FOREST_NONE) {
		if (grove_id(&r->ground.grove, (struct grove_ref){ .kind = GROVE_MESSAGE, .at = message },
			     &id, err))
			return err_failed(err->status);
		put_uuid(w, "id", &id);
	}
	put_text(w, "role", m->role);
	put_int(w, "tokens", r->seen[at].tokens);
	if (r->seen[at].client)
		put_bool(w, "client", true);
	json_write_key(w, STR("content"));
	json_write_raw(w, m->content);
	return call_emit(r->call, err);
}

/* ---- All of it --------------------------------------------------------------------------- */

static enum status number_path(struct rendering *r, struct err *err)
{
	const struct forest *f = &r->ground.grove.forest;
	uint32_t count, *path = ways_path(&r->ground.ways, r->at.message, &r->call->mem, &count);
	struct str since = call_text(r->call, "since");
	struct resolved what;
	struct place at;

	r->place = arena_alloc(&r->call->mem, (f->message_count + 1) * sizeof *r->place);
	for (uint32_t m = 0; m < f->message_count; m++)
		r->place[m] = FOREST_NONE;
	for (uint32_t i = 0; i < count; i++)
		r->place[path[i]] = i;
	if (!since.n)
		return STATUS_OK;
	if (headed_find(r->call, since, &what, err))
		return err_failed(err->status);
	if (place_find(f, &what, &at, err) || r->place[at.message] == FOREST_NONE)
		return err_fail(err, STATUS_NOT_FOUND, "--since: '%.*s' is not on the way there",
				(int)size_min(since.n, 60), since.p);
	r->since = r->place[at.message];
	return STATUS_OK;
}

static enum status run_context(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct rendering r CLEANUP(rendering_release) = { .call = c, .lines = { .store = c->store } };
	const struct forest_source *s;
	struct resolved what;
	struct lines *lines;
	bool before;

	if (read_begin(c->store, &snapshot, err) || headed_find(c, call_text(c, "id"), &what, err) ||
	    note_state(c, &what.session, err) || ground_load(c->store, what.session.row, &r.ground, err) ||
	    place_find(&r.ground.grove.forest, &what, &r.at, err) || number_path(&r, err))
		return err_failed(err->status);
	warn_unread(c);
	s = &r.ground.grove.forest.sources[r.at.source];
	lines = lines_set_of(&r.lines, &s->session);
	before = call_flag(c, "before") && s->chain.lines[r.at.line].type == RECORD_ASSISTANT;
	if (context_each(lines, &s->chain, r.at.line, before, see, &r, err) || choose_start(&r, err) ||
	    emit_heading(&r, err))
		return err_failed(err->status);
	if (r.start)
		call_note(c, "%" PRIu32 " of %" PRIu32 " messages left out", r.start, r.count);
	return context_each(lines, &s->chain, r.at.line, before, emit_message, &r, err);
}

const struct method claudecode_render_context = {
	.name = "render_context",
	.summary = "Give what the model is sent at a node, as the API takes it",
	.text = "The messages as the client would send them if somebody typed something more there: after a "
		"compaction "
		"only the summary and what was preserved, calls with their results, nothing of failed "
		"requests. What the "
		"client words itself is marked, and only named. Notes, tags and what you made are never part "
		"of it.\n\n"
		"A part is cut at its beginning and in whole turns, so that the API takes it: the last "
		"turns, what was said "
		"since a bookmark or a node, as much as fits. Several of these together all hold. How many "
		"tokens it has "
		"is an estimate. 'arbor log --as-sent' prints the same for people.\n",
	.params = context_params,
	.kind = RESULT_STREAM,
	.fields = context_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.render_context @ --json",
						"of the last conversation" },
					      { "call claudecode.render_context @ --turns 1 --json",
						"its last turn" },
					      { 0 } },
	.run = run_context,
};
