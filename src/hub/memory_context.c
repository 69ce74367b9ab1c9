/*
 * memory.context: what somebody needs to go on with a project.
 *
 * Everything is taken from what was said and done, without a model: the conversations of these days, or the
 * newest few hundred, are read for their last answers, prompts, decisions and errors (query/recap.h); files,
 * issues and topics are what transcripts name (store/link.h); tasks and plans come from the methods that
 * list them. Days are counted back from the last thing that happened in the project, so that a
 * project that rested is told of as well.
 *
 * Items are gathered by section, the most useful first. What does not fit is left out whole, and said to be: one
 * item of each section after the other is taken while there is room, so that a small budget has
 * something of everything. What is measured is the text or JSON that comes out.
 */
#include "hub/memory_find.h"

#include "base/clock.h"
#include "base/map.h"
#include "claude/gist.h"
#include "claude/mention.h"
#include "claude/record.h"
#include "hub/context_text.h"
#include "hub/hub.h"
#include "hub/memory_project.h"
#include "hub/memory_session.h"
#include "query/recap.h"
#include "store/link.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum section {
	PROJECT,
	SESSIONS,
	TODOS,
	PLANS,
	PROMPTS,
	DECISIONS,
	ERRORS,
	FILES,
	ISSUES,
	TOPICS,
	LEFT_OUT,
	SECTIONS
};

static const struct {
	const char *name;
	size_t most;		/* items without a budget */
	const char *one, *many; /* as they are counted when they are left out */
} sections[SECTIONS] = {
	[PROJECT] = { "project", 1, "", "" },
	[SESSIONS] = { "sessions", 10, "session", "sessions" },
	[TODOS] = { "todos", 15, "task", "tasks" },
	[PLANS] = { "plans", 5, "plan", "plans" },
	[PROMPTS] = { "prompts", 8, "prompt", "prompts" },
	[DECISIONS] = { "decisions", 10, "decision", "decisions" },
	[ERRORS] = { "errors", 6, "error", "errors" },
	[FILES] = { "files", 15, "file", "files" },
	[ISSUES] = { "issues", 8, "issue", "issues" },
	[TOPICS] = { "topics", 1, "", "" },
	[LEFT_OUT] = { "left_out", 1, "", "" },
};

static const char *const section_names[] = { "project", "sessions",  "todos",	 "plans",
					     "prompts", "decisions", "errors",	 "files",
					     "issues",	"topics",    "left_out", NULL };

static const char *const formats[] = { "markdown", "plain", "json", NULL };

static const struct param context_params[] = {
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = PARAM_WORD,
	  .initial = ".",
	  .shown = "PROJECT",
	  .names = "memory.projects",
	  .help = "a folder, '.' for this one; its name, or the end of its path, will do" },
	{ .name = "days",
	  .type = VALUE_INT,
	  .letter = 'd',
	  .initial = "30",
	  .least = 1,
	  .most = 36500,
	  .help = "how far to look back from the last thing that happened there" },
	{ .name = "format",
	  .type = VALUE_ENUM,
	  .choices = formats,
	  .initial = "markdown",
	  .help = "how it is printed; json is the same as --json" },
	{ .name = "budget",
	  .type = VALUE_INT,
	  .least = 200,
	  .most = 10000000,
	  .help = "at most so many characters; whole items, some of each kind" },
	{ 0 },
};

static const struct field context_fields[] = {
	{ .name = "section",
	  .type = VALUE_ENUM,
	  .choices = section_names,
	  .help = "what kind of thing it is" },
	{ .name = "text",
	  .type = VALUE_TEXT,
	  .flags = FIELD_STRETCH,
	  .help = "a session's title, a task, a prompt, a sentence, a path, topics, what was left out" },
	{ .name = "detail",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of a session: how its last answer begins, or where it stopped; of a task: how far it "
		  "is; of the project: how many sessions were not in these days" },
	{ .name = "unfinished",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of a session: its last turn has not come to its end" },
	{ .name = "times",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "how often it happened: changes of a file, errors that are alike; of the project: sessions "
		  "in these days" },
	{ .name = "sessions",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of errors: in how many sessions; of the project: how many it has in all, if that is "
		  "more" },
	{ .name = "session",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "where it was said, or happened last" },
	{ .name = "at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when; of a task, when it was changed last" },
	{ 0 },
};

/* ---- Items ---------------------------------------------------------------------------- */

struct item {
	struct str text, detail;
	int64_t times, at;   /* 0 = unsaid */
	struct uuid session; /* all zero = none */
	int64_t weight;	     /* of files, errors …: larger comes first */
	struct uuid last;    /* session that counted it last */
	int64_t sessions;
	bool unfinished;
};

struct items {
	struct item **list;
	size_t count, cap;
	struct map known; /* by text */
};

struct context {
	struct call *call;
	struct str project;
	int64_t since, last;
	struct session *sessions; /* of the project, newest first; also those of sub-agents */
	size_t count, cap;
	struct items sections[SECTIONS];
	struct items plan_files; /* that were written */
	struct map failures;	 /* that were counted, by time and kind: the session of each */
	struct items older;	 /* sessions */
	size_t unread;		 /* sessions of these days */
	const struct session *reading;
	struct item *of_session; /* its own */
	int64_t decisions;	 /* of it */
};

static void context_release(struct context *x)
{
	for (int i = 0; i < SECTIONS; i++) {
		mem_free(x->sections[i].list);
		map_release(&x->sections[i].known);
	}
	mem_free(x->older.list);
	map_release(&x->older.known);
	mem_free(x->plan_files.list);
	map_release(&x->plan_files.known);
	map_release(&x->failures);
	mem_free(x->sessions);
}

static struct item *add_item(struct context *x, struct items *to, struct str text)
{
	struct item *item = arena_alloc(&x->call->mem, sizeof *item);

	item->text = arena_str(&x->call->mem, text);
	if (to->count == to->cap) {
		to->cap = to->cap ? 2 * to->cap : 32;
		to->list = mem_resize(to->list, to->cap * sizeof(*to->list));
	}
	return to->list[to->count++] = item;
}

/* One with this key; *is_new when there was none, and then its text is its own. */
static struct item *get_item(struct context *x, struct items *of, struct str key, struct str text,
			     bool *is_new)
{
	struct item *item = map_get(&of->known, key);

	*is_new = !item;
	if (!item) {
		item = add_item(x, of, text);
		map_put(&of->known, arena_str(&x->call->mem, key), item);
	}
	return item;
}

/* Who has counted it is known by the order: sessions come one after the other. */
static void count_item(struct item *item, const struct session *session, int64_t times, int64_t at)
{
	if (!uuid_eq(&item->last, &session->id))
		item->sessions++;
	item->last = session->id;
	item->times += times;
	if (at >= item->at) {
		item->at = at;
		item->session = session->id;
	}
}

/* ---- Sessions --------------------------------------------------------------------------- */

static enum status take_session(void *ctx, const struct session *s, bool *go_on, struct err *err)
{
	struct context *x = ctx;
	struct session *out;

	(void)go_on;
	(void)err;
	if (s->updated_at > x->last)
		x->last = s->updated_at;
	if (x->count == x->cap) {
		x->cap = x->cap ? 2 * x->cap : 64;
		x->sessions = mem_resize(x->sessions, x->cap * sizeof *x->sessions);
	}
	out = &x->sessions[x->count++];
	*out = *s;
	out->title = arena_str(&x->call->mem, s->title);
	out->agent = arena_str(&x->call->mem, s->agent);
	out->path = out->project = out->branch = (struct str){ 0 };
	return STATUS_OK;
}

static struct str shorter(struct call *c, struct str text)
{
	enum { MOST_TITLE = 140 };
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	record_short(text, MOST_TITLE, &out);
	return arena_str(&c->mem, buf_as_str(&out));
}

static struct str plain_title(struct call *c, struct str title)
{
	return shorter(c, record_headline(title));
}

/* A prompt that was edited begins as it did. */
static void take_prompt(struct context *x, const struct recap_item *i)
{
	struct str key = str_sub(i->text, 0, 48);
	struct item *item;
	bool is_new;

	item = get_item(x, &x->sections[PROMPTS], key, plain_title(x->call, i->text), &is_new);
	if (!is_new && i->at < item->at)
		return;
	item->text = plain_title(x->call, i->text);
	item->weight = item->at = i->at;
	item->session = x->reading->id;
}

/* A model calls much a decision; a few of a session are enough. */
static void take_decision(struct context *x, const struct recap_item *i)
{
	enum { MOST_OF_MODEL = 2 };
	struct item *item;
	bool is_new;

	if (!i->typed && x->decisions++ >= MOST_OF_MODEL)
		return;
	item = get_item(x, &x->sections[DECISIONS], i->text, i->text, &is_new);
	if (!is_new)
		return;
	item->session = x->reading->id;
	item->weight = item->at = i->at;
	item->detail = i->typed ? STR("user") : STR("assistant");
}

/* A fork has the lines of its original: what failed then has failed once. */
static bool is_copied_error(struct context *x, const struct recap_item *i)
{
	struct str key = arena_printf(&x->call->mem, "%" PRId64 " %.*s", i->at, STR_ARG(i->kind_of));
	const struct item *whose = map_get(&x->failures, key);

	if (!whose && i->at)
		map_put(&x->failures, key, x->of_session);
	return whose && whose != x->of_session;
}

/* The last of a kind is told. A slip of the model with its tools says less than what failed in the project. */
static void take_error(struct context *x, const struct recap_item *i)
{
	const int64_t slips = 1000000000;
	struct item *item;
	bool is_new;

	if (is_copied_error(x, i))
		return;
	item = get_item(x, &x->sections[ERRORS], i->kind_of, i->text, &is_new);
	if (i->at > item->at)
		item->text = arena_str(&x->call->mem, i->text);
	count_item(item, x->reading, 1, i->at);
	item->weight = item->sessions * 1000 + item->times - (i->slip ? slips : 0);
}

static void take_recap(void *ctx, const struct recap_item *i)
{
	struct context *x = ctx;

	switch (i->kind) {
	case RECAP_PROMPT:
		take_prompt(x, i);
		break;
	case RECAP_DECISION:
		take_decision(x, i);
		break;
	case RECAP_ERROR:
		take_error(x, i);
		break;
	case RECAP_OUTCOME:
		x->of_session->detail = arena_str(&x->call->mem, i->text);
		x->of_session->unfinished = i->unfinished;
		break;
	}
}

/* Conversations in which somebody said something, each once in however many folders. */
static bool is_told(struct context *x, const struct session *s)
{
	struct str id = str_from((const char *)s->id.b, UUID_BYTES);

	return !s->agent.n && s->prompts > 0 && !gist_is_noise(s->title) &&
	       !map_get(&x->sections[SESSIONS].known, id);
}

static enum status tell_sessions(struct context *x, struct err *err)
{
	enum { MOST_READ = 300 }; /* takes a second or two, and is more than a month has */
	size_t told = 0;

	for (size_t i = 0; i < x->count; i++) {
		const struct session *s = &x->sessions[i];
		bool is_new;

		if (!is_told(x, s))
			continue;
		if (s->updated_at < x->since) {
			get_item(x, &x->older, str_from((const char *)s->id.b, UUID_BYTES), (struct str){ 0 },
				 &is_new);
			continue;
		}
		if (call_is_cancelled(x->call))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		x->reading = s;
		x->decisions = 0;
		x->of_session = get_item(x, &x->sections[SESSIONS],
					 str_from((const char *)s->id.b, UUID_BYTES),
					 plain_title(x->call, s->title), &is_new);
		x->of_session->weight = x->of_session->at = s->updated_at;
		x->of_session->session = s->id;
		if (told++ >= MOST_READ)
			x->unread++;
		else if (recap_read(x->call->store, s, take_recap, x, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- Names -------------------------------------------------------------------------------- */

static void take_file(struct context *x, const struct link *l)
{
	static const struct str plans = { "/.claude/plans/", 15 };
	struct str name = l->name, base = x->project;
	bool is_plan = memmem(name.p, name.n, plans.p, plans.n) != NULL, is_new;
	struct item *item;

	if (is_plan)
		name = str_basename(name);
	else if (name.n > base.n + 1 && str_has_prefix(name, base) && name.p[base.n] == '/')
		name = str_sub(name, base.n + 1, SIZE_MAX);
	item = get_item(x, is_plan ? &x->plan_files : &x->sections[FILES], name, name, &is_new);
	count_item(item, x->reading, l->times, x->reading->updated_at);
	item->weight = item->times;
}

static enum status take_link(void *ctx, const struct link *l, struct err *err)
{
	struct context *x = ctx;
	int section = l->kind == MENTION_ISSUE ? ISSUES : TOPICS;
	struct item *item;
	bool is_new;

	(void)err;
	if (l->kind == MENTION_FILE)
		take_file(x, l);
	if (l->kind != MENTION_ISSUE && l->kind != MENTION_TOPIC)
		return STATUS_OK;
	item = get_item(x, &x->sections[section], l->name, l->name, &is_new);
	count_item(item, x->reading, l->times, x->reading->updated_at);
	item->weight = section == TOPICS ? item->sessions * 1000 + item->times : item->at;
	return STATUS_OK;
}

static enum status tell_names(struct context *x, struct err *err)
{
	for (size_t i = 0; i < x->count; i++) {
		x->reading = &x->sessions[i];
		if (x->reading->updated_at >= x->since &&
		    link_each(x->call->store, x->reading->row, take_link, x, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- Tasks and plans, from the methods that list them ---------------------------------------- */

static struct str text_in(struct context *x, const struct json *j, const char *name)
{
	struct str text = json_string_in(j, json_get(j, 0, str_of(name)), &x->call->mem);

	return arena_str(&x->call->mem, text); /* what was read is gone when the next one comes */
}

static enum status take_todo(void *ctx, struct str text, struct err *err)
{
	struct context *x = ctx;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct item *item;

	if (json_read(&j, text, 0, err))
		return err_failed(err->status);
	item = add_item(x, &x->sections[TODOS], text_in(x, &j, "subject"));
	item->detail = text_in(x, &j, "status");
	uuid_parse(text_in(x, &j, "session"), &item->session);
	time_parse(text_in(x, &j, "updated"), &item->at);
	item->weight = -(int64_t)x->sections[TODOS].count; /* as they come */
	return STATUS_OK;
}

static bool is_in(struct str folder, struct str project)
{
	return str_has_prefix(folder, project) && (folder.n == project.n || folder.p[project.n] == '/');
}

/* Those of sessions of the project; and what these have written as one, which tells of older clients' too. */
static enum status take_plan(void *ctx, struct str text, struct err *err)
{
	struct context *x = ctx;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str name, title, project;
	struct item *item, *written;

	if (json_read(&j, text, 0, err))
		return err_failed(err->status);
	name = text_in(x, &j, "name");
	title = text_in(x, &j, "title");
	written = map_get(&x->plan_files.known, arena_printf(&x->call->mem, "%.*s.md", STR_ARG(name)));
	project = text_in(x, &j, "project");
	if (!written && !is_in(project, x->project))
		return STATUS_OK;
	item = add_item(x, &x->sections[PLANS], title.n ? title : name);
	item->detail = name;
	if (written) {
		item->session = written->session;
		item->at = written->at;
	} else {
		uuid_parse(text_in(x, &j, "session"), &item->session);
		time_parse(text_in(x, &j, "modified"), &item->at);
	}
	item->weight = item->at;
	return STATUS_OK;
}

static enum status ask(struct context *x, const char *method, struct str params,
		       enum status (*item)(void *, struct str, struct err *), struct err *err)
{
	struct hub_caller who = *x->call->who;

	who.sink = (struct sink){ .item = item, .ctx = x };
	return hub_call(x->call->hub, str_of(method), params, &who, err);
}

static enum status tell_plans(struct context *x, struct err *err)
{
	struct buf params CLEANUP(buf_release) = BUF_INIT(16 * LIMIT_PATH);
	struct json_writer w;

	json_write_init(&w, &params, 0);
	json_write_object_begin(&w);
	json_write_key(&w, STR("project"));
	json_write_string(&w, x->project);
	json_write_object_end(&w);
	return ask(x, "storage.todos", buf_as_str(&params), take_todo, err) ||
			       ask(x, "storage.plans", STR("{}"), take_plan, err)
		       ? err_failed(err->status)
		       : STATUS_OK;
}

/* ---- What is worth telling ------------------------------------------------------------------- */

static int best_first(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->at != y->at ? (x->at > y->at ? -1 : 1) : str_cmp(x->text, y->text);
}

static void keep(struct items *of, bool (*is_kept)(const struct item *))
{
	size_t kept = 0;

	for (size_t i = 0; i < of->count; i++)
		if (is_kept(of->list[i]))
			of->list[kept++] = of->list[i];
	of->count = kept;
}

/* A model slips now and then; that it does so again and again, in one session after the other, is worth knowing. */
static bool recurs(const struct item *i)
{
	return i->weight < 0 ? i->sessions > 2 : i->times > 1;
}

static bool is_topic(const struct item *i)
{
	return i->sessions > 1 || i->times > 2;
}

/* All topics are one item. */
static void join_topics(struct context *x)
{
	enum { MOST_TOPICS = 16 };
	struct items *topics = &x->sections[TOPICS];
	struct buf text CLEANUP(buf_release) = BUF_INIT(16 * KIB);

	for (size_t i = 0; i < topics->count && i < MOST_TOPICS; i++)
		buf_printf(&text, "%s%.*s", i ? ", " : "", STR_ARG(topics->list[i]->text));
	topics->count = 0;
	if (text.n)
		add_item(x, topics, buf_as_str(&text));
}

/* Of one session a few prompts are enough; they are in order. */
static void thin_prompts(struct items *prompts)
{
	enum { MOST_OF_SESSION = 4 };
	size_t kept = 0, same = 0;

	for (size_t i = 0; i < prompts->count; i++) {
		same = i && uuid_eq(&prompts->list[i]->session, &prompts->list[i - 1]->session) ? same + 1
												: 0;
		if (same < MOST_OF_SESSION)
			prompts->list[kept++] = prompts->list[i];
	}
	prompts->count = kept;
}

static void tell_project(struct context *x)
{
	struct item *project = add_item(x, &x->sections[PROJECT], x->project);
	int64_t days = call_int(x->call, "days");

	project->at = x->last;
	project->times = (int64_t)x->sections[SESSIONS].count;
	if (!x->older.count)
		return;
	project->sessions = project->times + (int64_t)x->older.count;
	project->detail = arena_printf(&x->call->mem, "in %" PRId64 " day%s, %" PRId64 " in all", days,
				       days == 1 ? "" : "s", project->sessions);
}

static void order_all(struct context *x)
{
	keep(&x->sections[ERRORS], recurs);
	keep(&x->sections[TOPICS], is_topic);
	for (int i = 0; i < SECTIONS; i++)
		if (x->sections[i].count)
			qsort(x->sections[i].list, x->sections[i].count, sizeof(*x->sections[i].list),
			      best_first);
	join_topics(x);
	thin_prompts(&x->sections[PROMPTS]);
}

/* ---- What fits --------------------------------------------------------------------------------- */

static void write_item(struct context *x, int section, const struct item *i)
{
	struct json_writer *w = call_begin(x->call);

	put_text(w, "section", str_of(sections[section].name));
	put_text(w, "text", i->text);
	if (i->detail.n)
		put_text(w, "detail", i->detail);
	if (i->unfinished)
		put_bool(w, "unfinished", true);
	if (i->times)
		put_int(w, "times", i->times);
	if (section == ERRORS || (section == PROJECT && i->sessions))
		put_int(w, "sessions", i->sessions);
	if (!uuid_eq(&i->session, &(struct uuid){ 0 }))
		put_uuid(w, "session", &i->session);
	if (i->at)
		put_time(w, "at", i->at);
}

static enum status emit(struct context *x, int section, const struct item *i, struct err *err)
{
	write_item(x, section, i);
	return call_emit(x->call, err);
}

/* How many characters of the output it is. */
static int64_t size_of(struct context *x, int section, const struct item *i, bool first)
{
	enum { AROUND = 7 }; /* a line end, and the version, which stands in front of all fields */
	struct call *c = x->call;
	struct str format = call_text(c, "format");
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct context_text t;
	struct err err;

	write_item(x, section, i);
	json_write_object_end(&c->writer);
	if (!c->who->shown || str_eq(format, STR("json")) || json_read(&j, buf_as_str(&c->item), 0, &err))
		return (int64_t)context_characters(buf_as_str(&c->item)) + AROUND;
	context_text(&j, str_eq(format, STR("plain")), first, &c->mem, &t);
	return (int64_t)context_text_size(&t);
}

/* How many of each section are told. */
struct share {
	size_t taken[SECTIONS];
	int64_t room;	/* characters that are left */
	bool briefly;	/* there is no room to say what is left out by kind */
};

/* What was not taken; empty when that is nothing. */
static struct str left_out(struct context *x, const struct share *s)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	size_t all = 0;

	for (int i = PROJECT; i < LEFT_OUT; i++) {
		size_t left = x->sections[i].count - s->taken[i];

		all += left;
		if (left && sections[i].one[0])
			buf_printf(&text, "%s%zu %s", text.n ? ", " : "", left,
				   left == 1 ? sections[i].one : sections[i].many);
		else if (left)
			buf_printf(&text, "%s%s", text.n ? ", " : "", sections[i].name);
	}
	if (all && s->briefly)
		return arena_printf(&x->call->mem, "%zu item%s", all, all == 1 ? "" : "s");
	if (x->unread)
		buf_printf(&text, "%sall that %zu older session%s said", text.n ? ", " : "", x->unread,
			   x->unread == 1 ? "" : "s");
	return arena_str(&x->call->mem, buf_as_str(&text));
}

/* Whether there is room for so many characters more and for saying what is left out. */
static bool has_room(struct context *x, const struct share *s, int64_t size)
{
	struct item item = { .text = left_out(x, s) };

	return size + (item.text.n ? size_of(x, LEFT_OUT, &item, true) : 0) <= s->room;
}

/* The next one of a section; false when it does not fit. */
static bool take_next(struct context *x, int section, struct share *s)
{
	size_t n = s->taken[section]++;
	int64_t size = size_of(x, section, x->sections[section].list[n], n == 0);

	if (has_room(x, s, size)) {
		s->room -= size;
		return true;
	}
	s->taken[section]--;
	return false;
}

/* One of each section after the other; at first not more than are told without a budget. */
static void take_in_turn(struct context *x, bool limited, struct share *s)
{
	bool full[SECTIONS] = { 0 }, any = true;

	while (any) {
		any = false;
		for (int i = PROJECT; i < LEFT_OUT; i++) {
			size_t most = limited ? size_min(sections[i].most, x->sections[i].count)
					      : x->sections[i].count;

			full[i] = full[i] || s->taken[i] >= most || !take_next(x, i, s);
			any |= !full[i];
		}
	}
}

static void take_all(struct context *x, bool limited, struct share *s)
{
	for (int i = PROJECT; i < LEFT_OUT; i++)
		s->taken[i] = limited ? size_min(sections[i].most, x->sections[i].count) : x->sections[i].count;
}

static bool all_fits(struct context *x, int64_t room)
{
	for (int i = PROJECT; i < LEFT_OUT; i++)
		for (size_t n = 0; n < x->sections[i].count && room >= 0; n++)
			room -= size_of(x, i, x->sections[i].list[n], n == 0);
	return room >= 0;
}

/* With a budget nothing but that is in the way. That nothing of it is left out is no room: so this comes first. */
static void share_out(struct context *x, struct share *s)
{
	const struct value *budget = call_value(x->call, "budget");

	s->room = budget->number;
	if (!budget->given || (!x->unread && all_fits(x, s->room))) {
		take_all(x, !budget->given, s);
		return;
	}
	s->briefly = !take_next(x, PROJECT, s);
	take_in_turn(x, true, s);
	take_in_turn(x, false, s);
}

static enum status emit_all(struct context *x, struct err *err)
{
	struct share s = { 0 };
	struct str left;

	share_out(x, &s);
	for (int i = PROJECT; i < LEFT_OUT; i++)
		for (size_t n = 0; n < s.taken[i]; n++)
			if (emit(x, i, x->sections[i].list[n], err))
				return err_failed(err->status);
	left = left_out(x, &s);
	return left.n ? emit(x, LEFT_OUT, &(struct item){ .text = left }, err) : STATUS_OK;
}

static enum status gather(struct context *x, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct call *c = x->call;

	if (read_begin(c->store, &snapshot, err) || project_of(c, &x->project, err) ||
	    session_each(c->store, x->project, take_session, x, err))
		return err_failed(err->status);
	x->since = x->last - call_int(c, "days") * 24 * 3600 * 1000;
	return tell_sessions(x, err) || tell_names(x, err) ? err_failed(err->status) : STATUS_OK;
}

static enum status run_context(struct call *c, struct err *err)
{
	struct context x CLEANUP(context_release) = { .call = c };

	warn_unread(c);
	if (gather(&x, err) || tell_plans(&x, err))
		return err_failed(err->status);
	order_all(&x);
	tell_project(&x);
	return emit_all(&x, err);
}

const struct method memory_context = {
	.name = "context",
	.verb = "context",
	.also = "recap brief summary prime",
	.group = "find",
	.summary = "Tell what is needed to go on with a project",
	.text = "The last sessions and how they ended, open tasks and plans, the last prompts, what was "
		"decided, "
		"errors that came up again, files that were changed most, issues and topics. An agent that "
		"is given "
		"this knows where the work stands; no model is asked for it.\n\n"
		"Days are counted back from the last thing that happened in the project. How a session ended "
		"is how the last answer of a turn begins, and the commit that was made then; when its last "
		"turn never "
		"came to its end, that it is unfinished, and what was asked, said and called last. Decisions "
		"are "
		"sentences that say so, with the option or question they are about, and answers to "
		"questions. Errors "
		"are told by the line that says what failed, and counted as one where only paths and numbers "
		"differ; one that "
		"a fork has from its original counts once. Tasks have the day on which they were changed last. "
		"In the end it says what was left out; of a conversation with more than 4 MB, only what was "
		"said last is read. With "
		"--budget it has at most so many characters, in the form that is printed: whole items, some "
		"of each "
		"kind, and all there is if that fits.\n",
	.params = context_params,
	.kind = RESULT_STREAM,
	.fields = context_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "context webshop", "of a project, by its name" },
					      { "context webshop --budget 2000", "the most useful of it" },
					      { "context webshop --days 7 --format json", "for programs" },
					      { 0 } },
	.run = run_context,
};
