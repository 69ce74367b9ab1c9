/*
 * memory.stats: what is there, and when it happened.
 *
 * Messages are those of conversations, of either side; calls, answers and tokens also those
 * of sub-agents. Days and hours are of the zone that was asked for.
 */
#include "hub/memory_find.h"

#include "base/clock.h"
#include "hub/memory_session.h"
#include "hub/usage_scope.h"
#include "query/stats.h"

#include <stdio.h>
#include <stdlib.h>

static const struct param stats_params[] = {
	USAGE_SCOPE_PARAMS("only what is"),
	{ 0 },
};

static const struct field day_fields[] = {
	{ .name = "day", .type = VALUE_TEXT, .help = "of the calendar" },
	{ .name = "prompts", .type = VALUE_INT, .help = "typed by a person" },
	{ .name = "messages", .type = VALUE_INT, .help = "of either side" },
	{ 0 },
};

static const struct field model_fields[] = {
	{ .name = "model", .type = VALUE_TEXT, .help = "as lines name it" },
	{ .name = "answers", .type = VALUE_INT, .help = "it gave" },
	{ .name = "tokens", .type = VALUE_INT, .help = "of every kind" },
	USAGE_COST_FIELDS,
	{ 0 },
};

static const struct field stats_fields[] = {
	{ .name = "sessions", .type = VALUE_INT, .help = "conversations in which something was said" },
	{ .name = "agents",
	  .type = VALUE_INT,
	  .help = "sub-agents, also those whose conversation alone tells of them" },
	{ .name = "projects", .type = VALUE_INT, .help = "folders they worked in" },
	{ .name = "prompts", .type = VALUE_INT, .help = "typed by a person" },
	{ .name = "messages", .type = VALUE_INT, .help = "of either side, without those of sub-agents" },
	{ .name = "tools", .type = VALUE_INT, .help = "calls of tools, with those of sub-agents" },
	{ .name = "agent_tools", .type = VALUE_INT, .help = "calls by sub-agents among these" },
	{ .name = "answers", .type = VALUE_INT, .help = "of models" },
	{ .name = "tokens", .type = VALUE_INT, .help = "of every kind" },
	{ .name = "input", .type = VALUE_INT, .help = "tokens that were neither in the cache nor put there" },
	{ .name = "output", .type = VALUE_INT, .help = "tokens of answers" },
	{ .name = "cache_write", .type = VALUE_INT, .help = "tokens put into the cache" },
	{ .name = "cache_read", .type = VALUE_INT, .help = "tokens read from the cache" },
	USAGE_COST_FIELDS,
	{ .name = "first", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "message" },
	{ .name = "last", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "message" },
	{ .name = "days", .type = VALUE_INT, .help = "on which something was said" },
	{ .name = "busiest_day",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "with the most messages" },
	{ .name = "busiest_hour",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "of the day, 0 to 23, with the most messages" },
	{ .name = "by_day",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .fields = day_fields,
	  .help = "days on which something was said" },
	{ .name = "by_hour",
	  .type = VALUE_INT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .help = "messages of each of the 24 hours of all days" },
	{ .name = "by_weekday",
	  .type = VALUE_INT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .help = "messages of each day of the week, from Monday on" },
	{ .name = "undated",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "messages without a time, which no day and no hour has" },
	{ .name = "models",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .fields = model_fields,
	  .help = "that answered, the one with the most tokens first" },
	{ 0 },
};

enum { MS_HOUR = 3600 * 1000, HOURS = 24, WEEKDAYS = 7 };

struct day {
	int64_t number; /* since 1970-01-01 */
	int64_t prompts, messages;
};

struct stats {
	struct usage_scope scope;
	struct usage_sums models;
	struct usage_sum total;
	int64_t prompts, messages, tools, agent_tools, first, last;
	int64_t undated; /* messages */
	int64_t hours[HOURS], weekdays[WEEKDAYS];
	struct day *days;
	size_t day_count, day_cap;
	struct numbers by_day; /* number -> index */
	bool *seen;	       /* of each transcript of the scope: something counts in it */
	struct map agents;     /* ids of sub-agents of which something counts */
};

static void stats_release(struct stats *s)
{
	usage_sums_release(&s->models);
	map_release(&s->agents);
	mem_free(s->days);
}

/* ---- Counting ------------------------------------------------------------------------ */

/* The day of a number, made when it is new. Nobody has had as many as there is room for. */
static struct day *day_of(struct stats *s, int64_t number)
{
	uint32_t at = numbers_get(&s->by_day, (uint64_t)number);

	if (at != NUMBERS_NONE)
		return &s->days[at];
	if (s->day_count == s->day_cap)
		s->days = mem_resize(s->days,
				     (s->day_cap = s->day_cap ? 2 * s->day_cap : 256) * sizeof *s->days);
	at = (uint32_t)s->day_count++;
	s->days[at] = (struct day){ .number = number };
	numbers_put(&s->by_day, (uint64_t)number, at);
	return &s->days[at];
}

/* The part of a time before 1970 is as far behind its beginning as one after. */
static int64_t divide(int64_t a, int64_t by, int64_t *rest)
{
	int64_t whole = a / by - (a % by < 0);

	*rest = a - whole * by;
	return whole;
}

static void note_time(struct stats *s, const struct stats_event *e)
{
	int64_t hour, weekday, rest;
	struct day *day;

	/* Times are whatever lines say. */
	if (!e->at || s->day_count >= LIMIT_STATS_DAYS) {
		s->undated += e->kind == STATS_MESSAGE;
		return;
	}
	day = day_of(s, divide(divide(zone_to_clock(&s->scope.zone, e->at), MS_HOUR, &rest), HOURS, &hour));
	day->prompts += e->kind == STATS_PROMPT;
	day->messages += e->kind == STATS_MESSAGE;
	if (e->kind != STATS_MESSAGE)
		return;
	divide(day->number + 3, WEEKDAYS, &weekday); /* 1970-01-01 was a Thursday */
	s->hours[hour]++;
	s->weekdays[weekday]++;
	if (!s->first || e->at < s->first)
		s->first = e->at;
	if (!s->last || e->at > s->last)
		s->last = e->at;
}

static bool count_event(void *ctx, const struct stats_event *e)
{
	struct stats *s = ctx;
	const struct session *session;
	struct str agent;

	if (!usage_scope_has(&s->scope, e->at, e->session))
		return false;
	session = usage_scope_session(&s->scope, e->session);
	s->seen[session - s->scope.sessions] = true;
	/* Old clients wrote them into the conversation, where they have no other name than their first line. */
	agent = e->agent.n || session->agent.n ? e->agent : e->task;
	if (agent.n && !map_get(&s->agents, agent))
		map_put(&s->agents, arena_str(&s->scope.call->mem, agent), s);
	if (e->again)
		return false;
	if (e->kind == STATS_CALL) {
		s->tools++;
		s->agent_tools += e->aside || session->agent.n;
		return true;
	}
	if (e->aside || session->agent.n)
		return false;
	s->prompts += e->kind == STATS_PROMPT;
	s->messages += e->kind == STATS_MESSAGE;
	note_time(s, e);
	return true;
}

static void count_usage(struct stats *s, const struct usage *list, size_t count)
{
	for (const struct usage *u = list; u < list + count; u++) {
		bool is_new;

		if (!usage_scope_has(&s->scope, u->at, u->session))
			continue;
		usage_scope_add(&s->scope,
				usage_sums_get(&s->models, u->model.n ? u->model : STR("unknown"),
					       (struct str){ 0 }, &is_new),
				u);
		usage_scope_add(&s->scope, &s->total, u);
	}
}

/* ---- Results --------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const struct day *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_tokens(const void *a, const void *b)
{
	const struct usage_sum *x = *(struct usage_sum *const *)a, *y = *(struct usage_sum *const *)b;

	if (usage_tokens(x) != usage_tokens(y))
		return usage_tokens(x) > usage_tokens(y) ? -1 : 1;
	return str_cmp(x->key, y->key);
}

static void name_day(int64_t number, char out[TIME_TEXT + 1])
{
	time_print(number * HOURS * MS_HOUR, out);
	out[10] = '\0';
}

/* Transcripts in which something counts: how many conversations, sub-agents, folders. */
static void put_sessions(struct stats *s, struct json_writer *w)
{
	struct map conversations CLEANUP(map_release) = MAP_INIT, projects CLEANUP(map_release) = MAP_INIT;

	for (size_t i = 0; i < s->scope.count; i++) {
		struct session *session = &s->scope.sessions[i];

		if (!s->seen[i])
			continue;
		if (session->agent.n)
			map_put(&s->agents, session->agent, session);
		else
			map_put(&conversations, str_from((const char *)session->id.b, sizeof session->id.b),
				session);
		if (session->project.n)
			map_put(&projects, session->project, session);
	}
	put_int(w, "sessions", (int64_t)conversations.count);
	put_int(w, "agents", (int64_t)s->agents.count);
	put_int(w, "projects", (int64_t)projects.count);
}

static void put_busiest(const struct stats *s, struct json_writer *w)
{
	const struct day *busiest = NULL;
	char text[TIME_TEXT + 1];
	int hour = 0;

	put_int(w, "days", (int64_t)s->day_count);
	for (size_t i = 0; i < s->day_count; i++)
		if (!busiest || s->days[i].messages > busiest->messages)
			busiest = &s->days[i];
	if (!busiest)
		return;
	for (int i = 0; i < HOURS; i++)
		hour = s->hours[i] > s->hours[hour] ? i : hour;
	name_day(busiest->number, text);
	put_text(w, "busiest_day", str_of(text));
	put_int(w, "busiest_hour", hour);
}

static void put_numbers(struct json_writer *w, const char *key, const int64_t *list, size_t count)
{
	json_write_key(w, str_of(key));
	json_write_array_begin(w);
	for (size_t i = 0; i < count; i++)
		json_write_i64(w, list[i]);
	json_write_array_end(w);
}

static void put_days(const struct stats *s, struct json_writer *w)
{
	json_write_key(w, STR("by_day"));
	json_write_array_begin(w);
	for (size_t i = 0; i < s->day_count; i++) {
		char text[TIME_TEXT + 1];

		name_day(s->days[i].number, text);
		json_write_object_begin(w);
		put_text(w, "day", str_of(text));
		put_int(w, "prompts", s->days[i].prompts);
		put_int(w, "messages", s->days[i].messages);
		json_write_object_end(w);
	}
	json_write_array_end(w);
	put_numbers(w, "by_hour", s->hours, HOURS);
	put_numbers(w, "by_weekday", s->weekdays, WEEKDAYS);
	put_int(w, "undated", s->undated);
}

static void put_models(const struct stats *s, struct json_writer *w)
{
	json_write_key(w, STR("models"));
	json_write_array_begin(w);
	for (size_t i = 0; i < s->models.count; i++) {
		const struct usage_sum *sum = s->models.list[i];

		json_write_object_begin(w);
		put_text(w, "model", sum->key);
		put_int(w, "answers", sum->answers);
		put_int(w, "tokens", usage_tokens(sum));
		usage_put_cost(w, sum);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

static enum status emit(struct stats *s, struct err *err)
{
	struct json_writer *w = call_begin(s->scope.call);

	put_sessions(s, w);
	put_int(w, "prompts", s->prompts);
	put_int(w, "messages", s->messages);
	put_int(w, "tools", s->tools);
	put_int(w, "agent_tools", s->agent_tools);
	put_int(w, "answers", s->total.answers);
	put_int(w, "tokens", usage_tokens(&s->total));
	put_int(w, "input", s->total.input);
	put_int(w, "output", s->total.output);
	put_int(w, "cache_write", s->total.written);
	put_int(w, "cache_read", s->total.read);
	usage_put_cost(w, &s->total);
	if (s->first)
		put_time(w, "first", s->first);
	if (s->last)
		put_time(w, "last", s->last);
	put_busiest(s, w);
	put_days(s, w);
	put_models(s, w);
	return call_emit(s->scope.call, err);
}

static enum status run_stats(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct stats s CLEANUP(stats_release) = { 0 };
	struct usage *list;
	size_t count;

	if (read_begin(c->store, &snapshot, err) || usage_scope_read(c, &s.scope, err) ||
	    usage_scope_load(&s.scope, err))
		return err_failed(err->status);
	warn_unread(c);
	s.models = (struct usage_sums){ .mem = &c->mem };
	s.by_day = numbers_new(&c->mem, LIMIT_STATS_DAYS);
	s.seen = arena_alloc(&c->mem, s.scope.count + 1);
	if (stats_each(c->store, &c->mem, count_event, &s, err) ||
	    usage_all(c->store, USAGE_SESSIONS | USAGE_ORDERED, &c->mem, &list, &count, err))
		return err_failed(err->status);
	count_usage(&s, list, count);
	if (!s.messages && !s.total.answers)
		return err_fail(err, STATUS_NOT_FOUND, "nothing was said%s",
				s.scope.count ? " that is meant by this" : "; 'arbor sync' brings it in");
	if (s.day_count)
		qsort(s.days, s.day_count, sizeof *s.days, by_number);
	if (s.models.count)
		qsort(s.models.list, s.models.count, sizeof(*s.models.list), by_tokens);
	usage_note_unknown(&s.scope, &s.total);
	return emit(&s, err);
}

const struct method memory_stats = {
	.name = "stats",
	.verb = "stats",
	.also = "statistics count wc",
	.group = "about",
	.summary = "Show how much was said, when, and what it cost",
	.text = "Conversations, prompts, messages, calls of tools and tokens, each once in however many "
		"files "
		"it stands; a map of the last year, a square a day; hours and days of the week; models. "
		"'arbor usage' has the numbers of single days, sessions and so on.\n",
	.params = stats_params,
	.kind = RESULT_ONE,
	.fields = stats_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "stats", "of everything" },
					      { "stats --project webshop", "of one project" },
					      { "stats --since 2026-11-01 --json",
						"since a day, for programs" },
					      { 0 } },
	.run = run_stats,
};
