/*
 * memory.related: what has to do with a session, a message, a file, a topic …
 *
 * What is typed is an id if it can be one; else it is the name of something that sessions name.
 * A name may stand for several things, as a file that is in several folders: all of them are
 * where it begins.
 */
#include "hub/memory_find.h"

#include "hub/handle_node.h"
#include "hub/memory_session.h"
#include "hub/resolve.h"
#include "query/related.h"

#include <math.h>

static const char *const types[] = { "session", "message", "agent",	 "file",  "url",
				     "issue",	"commit",  "identifier", "topic", NULL };

static const struct param related_params[] = {
	{ .name = "about",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "ID",
	  .names = "memory.sessions",
	  .help = "a session or message, or a file, topic, address, issue, commit or identifier by its "
		  "name" },
	{ .name = "hops",
	  .type = VALUE_INT,
	  .initial = "1",
	  .least = 1,
	  .most = 3,
	  .help = "how far to go: 2 also finds what has to do with what was found" },
	{ .name = "type",
	  .type = VALUE_ENUM,
	  .flags = PARAM_REST,
	  .choices = types,
	  .letter = 't',
	  .help = "only this kind of thing" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "20",
	  .least = 1,
	  .most = 10000,
	  .help = "at most so many" },
	{ 0 },
};

static const struct field related_fields[] = {
	{ .name = "weight", .type = VALUE_JSON, .help = "how much it has to do with it: above 0, at most 1" },
	{ .name = "relationship",
	  .type = VALUE_TEXT,
	  .title = "how",
	  .help = "forked_from, forked_into, continues, shares_lines, spawned, spawned_by, part_of, references, "
		  "referenced_by, "
		  "mentions, touches_file, related_to" },
	{ .name = "type", .type = VALUE_ENUM, .choices = types, .help = "what it is" },
	{ .name = "id",
	  .type = VALUE_TEXT,
	  .flags = FIELD_KEY | FIELD_HIDDEN,
	  .help = "of a session, message or agent; else its name" },
	HANDLE_FIELD("of a session: "),
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .title = "date",
	  .help = "of a session: when it was last used" },
	{ .name = "session",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "of a session: its id once more, so that it can be typed" },
	{ .name = "via",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what connects them" },
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .flags = FIELD_STRETCH,
	  .help = "what it is called: a session's title, and behind it what connects them" },
	{ .name = "hops", .type = VALUE_INT, .flags = FIELD_HIDDEN, .help = "how many links away" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of a session: the folder it worked in" },
	{ 0 },
};

/* Three digits, and never nothing. */
static struct str weight_text(double weight, struct arena *mem)
{
	long n = weight < 0.001 ? 1 : lround(weight * 1000);

	return arena_printf(mem, "%ld.%03ld", n / 1000, n % 1000);
}

static enum status emit(struct call *c, const struct related *r, struct err *err)
{
	struct json_writer *w = call_begin(c);
	bool is_session = r->type == MENTION_SESSION;
	struct str name = is_session && r->title.n ? r->title : r->id;
	struct uuid id;

	json_write_key(w, STR("weight"));
	json_write_raw(w, weight_text(r->weight, &c->mem));
	put_text(w, "relationship", str_of(r->relationship));
	put_text(w, "type", str_of(related_type_name(r->type)));
	put_text(w, "id", r->id);
	/* One that is only named need not be here. */
	if (is_session && r->title.n && uuid_parse(r->id, &id)) {
		struct node_handle handle = handle_of_session_id(&id);

		put_handle(w, &handle);
	}
	if (r->updated_at)
		put_time(w, "updated", r->updated_at);
	if (is_session)
		put_text(w, "session", r->id);
	if (r->via.n)
		put_text(w, "via", r->via);
	put_text(w, "name",
		 r->via.n ? arena_printf(&c->mem, "%.*s  [%.*s]", STR_ARG(name), STR_ARG(r->via)) : name);
	put_int(w, "hops", r->hops);
	if (r->project.n)
		put_path(w, "project", r->project);
	return call_emit(c, err);
}

static bool is_wanted(const struct call *c, const struct related *r)
{
	const struct value *v = call_value(c, "type");

	if (r->hops == 0)
		return false;
	for (size_t i = 0; i < v->count; i++)
		if (str_eq(v->list[i], str_of(related_type_name(r->type))))
			return true;
	return v->count == 0;
}

/* How many of each type: one of each in turn while there are any, so that none hides another. */
static int64_t share_out(const struct call *c, const struct related_set *r, int64_t taken[RELATED_TYPES])
{
	int64_t there[RELATED_TYPES] = { 0 }, left = call_int(c, "limit"), more = 0;
	bool any = true;

	for (size_t i = 0; i < r->count; i++)
		there[r->list[i]->type] += is_wanted(c, r->list[i]);
	while (any) {
		any = false;
		for (int type = 0; type < RELATED_TYPES; type++)
			if (left > 0 && taken[type] < there[type]) {
				taken[type]++;
				left--;
				any = true;
			}
	}
	for (int type = 0; type < RELATED_TYPES; type++)
		more += there[type] - taken[type];
	return more;
}

/* In the order they are in: the clearest first (query/related.c). */
static enum status emit_all(struct call *c, const struct related_set *r, struct err *err)
{
	int64_t taken[RELATED_TYPES] = { 0 }, more = share_out(c, r, taken);

	for (size_t i = 0; i < r->count; i++) {
		if (!is_wanted(c, r->list[i]) || taken[r->list[i]->type] == 0)
			continue;
		taken[r->list[i]->type]--;
		if (emit(c, r->list[i], err))
			return err_failed(err->status);
	}
	if (more)
		call_note(c, "%" PRId64 " more; --limit shows more, --type one kind of them", more);
	return STATUS_OK;
}

/* Names may look like ids, but not the other way: so ids come first. */
static enum status begin(struct call *c, struct related_set *r, struct err *err)
{
	struct str about = call_text(c, "about");
	struct resolved what;
	struct err no_id;
	enum status status = resolve_id(c->store, about, &c->mem, &what, &no_id);

	if (status == STATUS_OK && what.is_session) {
		related_add_session(r, &what.session.id);
		return STATUS_OK;
	}
	if (status == STATUS_OK)
		return related_add_message(r, &what.session, &what.node, err);
	if (related_add_named(r, about, err))
		return err_failed(err->status);
	if (r->count)
		return STATUS_OK;
	if (status == STATUS_AMBIGUOUS) {
		*err = no_id;
		return err_failed(err->status);
	}
	return err_fail(err, STATUS_NOT_FOUND,
			"'%.*s' is neither an id nor something that a prompt, an answer or a change names; "
			"'arbor search' looks into what tools printed, too",
			(int)size_min(about.n, 200), about.p);
}

static enum status run_related(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct related_set r CLEANUP(related_release) = { 0 };

	if (read_begin(c->store, &snapshot, err) || related_begin(&r, c->store, &c->mem, err) ||
	    begin(c, &r, err))
		return err_failed(err->status);
	warn_unread(c);
	if (related_spread(&r, (int)call_int(c, "hops"), c->cancel, err))
		return err_failed(err->status);
	return emit_all(c, &r, err);
}

const struct method memory_related = {
	.name = "related",
	.verb = "related",
	.also = "similar like links",
	.group = "find",
	.summary = "Show what has to do with a session, a file, a topic",
	.text = "Of a session: what it was forked from or continues, what was forked from it, its sub-agents, "
		"the files it changed, "
		"the "
		"issues, commits, addresses and sessions it names, what it is about; and the sessions that "
		"have most "
		"of that in common with it. Of a message what it names. Of a file, which may be the end of "
		"its path, "
		"of a topic, an issue (OWNER/NAME#12, WEB-12) and so on the sessions that have to do with it; of an "
		"identifier or any other word the sessions whose prompts and answers have it, of a plain word in "
		"the singular or the plural. What was done or "
		"referred to comes first, then what was said (mentions), then what is only alike (related_to); the "
		"nearest before all others, and the weightier first.\n\n"
		"The weight is higher the more often something is named, and lower the more sessions name "
		"it; that of "
		"two sessions says how much of what the first names the other names, too. The best of each "
		"kind are "
		"listed. Where only words are in common it takes three of them, or two in one project. "
		"What is more than one hop "
		"away has the product of the weights on the way. Only what was typed, answered or changed "
		"counts, not "
		"what tools have read.\n",
	.params = related_params,
	.kind = RESULT_STREAM,
	.fields = related_fields,
	.empty = "nothing that near has to do with it; --hops looks further",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "related 2396d03e", "of a session" },
					      { "related money.ts --type session", "who changed a file" },
					      { "related 2396d03e --hops 2 --json",
						"and what has to do with that" },
					      { 0 } },
	.run = run_related,
};
