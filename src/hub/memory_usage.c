/*
 * memory.usage: tokens and what they cost, added up.
 *
 * Answers come each once (query/usage.h). What is added up has a name, and sums are kept by
 * name; with --by-model by that of the model, too. Of most names it does not matter in which
 * order answers come, and putting them in one costs as much as adding them up.
 *
 * Billing blocks depend on what was before, so they are found over all answers, in the order
 * of their times: leaving some out does not move them.
 */
#include "hub/memory_find.h"

#include "base/clock.h"
#include "base/map.h"
#include "hub/agent_meta.h"
#include "hub/agent_type.h"
#include "hub/memory_session.h"
#include "hub/resolve.h"
#include "hub/subagents.h"
#include "hub/usage_scope.h"
#include "query/forest_load.h"

#include <stdlib.h>

enum group { HOURLY, DAILY, WEEKLY, MONTHLY, SESSION, MODEL, PROJECT, AGENT, BLOCKS, GROUPS };

static const char *const by[] = { "hourly", "daily",   "weekly", "monthly", "session",
				  "model",  "project", "agent",	 "blocks",  NULL };
/* What an item is, in the same order; the last one is all of them. */
static const char *const kinds[] = { "hour",	"day",	 "week",  "month", "session", "model",
				     "project", "agent", "block", "total", NULL };
static const char *const orders[] = { "time", "cost", "tokens", "name", NULL };

static const struct param usage_params[] = {
	{ .name = "by",
	  .type = VALUE_ENUM,
	  .flags = PARAM_WORD,
	  .initial = "daily",
	  .choices = by,
	  .shown = "BY",
	  .help = "hourly, daily, weekly, monthly, session, model, project, agent or blocks" },
	{ .name = "by_model", .type = VALUE_BOOL, .letter = 'b', .help = "each model by itself" },
	{ .name = "order",
	  .type = VALUE_ENUM,
	  .choices = orders,
	  .help = "what comes first: the earliest, the dearest, the most, or by name" },
	{ .name = "reverse", .type = VALUE_BOOL, .letter = 'r', .help = "the other way round" },
	{ .name = "model",
	  .type = VALUE_TEXT,
	  .shown = "TEXT",
	  .help = "only models with this in their name" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .shown = "SESSION",
	  .names = "memory.sessions",
	  .help = "only of this session, with its sub-agents" },
	{ .name = "each", .type = VALUE_BOOL, .help = "agent: each sub-agent by itself, not by its type" },
	USAGE_SCOPE_PARAMS("only"),
	{ 0 },
};

static const struct field usage_fields[] = {
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = kinds,
	  .flags = FIELD_HIDDEN,
	  .help = "what is added up, or in the end all of it" },
	{ .name = "key",
	  .type = VALUE_TEXT,
	  .flags = FIELD_KEY,
	  .title = "of",
	  .help = "a day or another part of the calendar, an id, a model, a folder, a type of sub-agent; "
		  "'main' is "
		  "the conversation itself; 'unknown' where lines do not say it" },
	{ .name = "model", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "with --by-model" },
	{ .name = "answers", .type = VALUE_INT, .help = "of models" },
	{ .name = "input", .type = VALUE_INT, .help = "tokens that were neither in the cache nor put there" },
	{ .name = "output", .type = VALUE_INT, .help = "tokens of answers" },
	{ .name = "cache_write", .type = VALUE_INT, .title = "written", .help = "tokens put into the cache" },
	{ .name = "cache_read", .type = VALUE_INT, .title = "read", .help = "tokens read from the cache" },
	USAGE_COST_FIELDS,
	{ .name = "title",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_STRETCH,
	  .help = "session: what it is about; agent, with --each: its type" },
	{ .name = "tokens", .type = VALUE_INT, .flags = FIELD_HIDDEN, .help = "of every kind" },
	{ .name = "cache_write_1h",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "of those put into the cache: for an hour" },
	{ .name = "provisional",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "answers of which no line says that they ended: their output may have been larger" },
	{ .name = "started",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "first answer; of a block, its beginning" },
	{ .name = "ended",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "last answer; of a block, when it is over" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "session: folder it worked in" },
	{ 0 },
};

struct usage_run {
	struct usage_scope scope;
	enum group group;
	bool by_model, each;
	struct str model; /* empty = all */
	struct uuid session;
	bool one_session;
	struct usage_sums sums;
	struct usage_sum total;
	struct numbers types; /* row of a sub-agent's transcript -> its type, in: */
	struct str *type_names;
	/* Of one told in progress lines, by row and name -> its type, as struct str; of any other with row 0. */
	struct map told;
	struct map searched; /* rows whose conversations were looked through for sub-agents */
	int64_t quarter;  /* of an hour, of the answer before, */
	bool has_quarter; /* if that has a time */
	char period[PERIOD_TEXT];
	struct usage_blocks blocks;
};

static void run_release(struct usage_run *r)
{
	usage_sums_release(&r->sums);
	map_release(&r->told);
	map_release(&r->searched);
}

/* ---- Names -------------------------------------------------------------------------- */

static enum group group_of(struct str name)
{
	enum group g = HOURLY;

	while (!str_eq(name, str_of(by[g])))
		g++;
	return g;
}

/* Answers come in bursts; no clock of our days is put on by less than a quarter of an hour. */
static struct str name_period(struct usage_run *r, enum usage_period period, int64_t at)
{
	const int64_t quarter_ms = 15 * 60 * 1000;
	int64_t quarter = at / quarter_ms - (at % quarter_ms < 0);

	if (!r->has_quarter || quarter != r->quarter || !at) {
		usage_period_name(period, &r->scope.zone, at, r->period);
		r->quarter = quarter;
		r->has_quarter = at != 0; /* else it is that of no time */
	}
	return str_of(r->period);
}

static struct str or_unknown(struct str name)
{
	return name.n ? name : STR("unknown");
}

static struct str name_session(struct usage_run *r, const struct session *s)
{
	char text[UUID_TEXT + 1];

	if (!s)
		return STR("unknown");
	uuid_print(&s->id, text);
	return arena_str(&r->scope.call->mem, str_of(text));
}

static struct str told_key(struct arena *mem, int64_t session, struct str agent)
{
	return arena_printf(mem, "%" PRId64 " %.*s", session, STR_ARG(agent));
}

static struct str type_of(const struct usage_run *r, int64_t session, struct str agent)
{
	uint32_t type = numbers_get(&r->types, (uint64_t)session);
	struct arena *mem = &r->scope.call->mem;
	const struct str *told = agent.n ? map_get(&r->told, told_key(mem, session, agent)) : NULL;

	if (type != NUMBERS_NONE && r->type_names[type].n)
		return r->type_names[type];
	if (!told || !told->n)
		told = agent.n ? map_get(&r->told, told_key(mem, 0, agent)) : NULL;
	return told ? or_unknown(*told) : STR("unknown");
}

/* Sub-agents by type, or each by its id. Old clients wrote them into the conversation. */
static struct str name_agent(const struct usage_run *r, const struct usage *u)
{
	if (!u->aside)
		return STR("main");
	return r->each ? or_unknown(u->agent) : type_of(r, u->session, u->agent);
}

static struct str name_of(struct usage_run *r, const struct usage *u, int64_t block)
{
	const struct session *s = r->scope.loaded ? usage_scope_session(&r->scope, u->session) : NULL;

	switch (r->group) {
	case HOURLY:
		return name_period(r, USAGE_HOUR, u->at);
	case DAILY:
		return name_period(r, USAGE_DAY, u->at);
	case WEEKLY:
		return name_period(r, USAGE_WEEK, u->at);
	case MONTHLY:
		return name_period(r, USAGE_MONTH, u->at);
	case BLOCKS:
		return name_period(r, USAGE_HOUR, block);
	case SESSION:
		return name_session(r, s);
	case MODEL:
		return or_unknown(u->model);
	case PROJECT:
		return s ? or_unknown(s->project) : STR("unknown");
	case AGENT:
		return name_agent(r, u);
	case GROUPS:
		break;
	}
	return STR("unknown");
}

/* ---- Adding up ------------------------------------------------------------------------ */

/* What the client says of sub-agents, read once for each transcript. */
static enum status load_types(struct usage_run *r, struct err *err)
{
	struct usage_scope *s = &r->scope;

	r->types = numbers_new(&s->call->mem, s->count);
	r->type_names = arena_alloc(&s->call->mem, (s->count + 1) * sizeof *r->type_names);
	for (size_t i = 0; i < s->count; i++) {
		struct agent_meta meta;

		if (!s->sessions[i].agent.n)
			continue;
		if (agent_meta_read(s->call->store, &s->sessions[i], &s->call->mem, &meta, err))
			return err_failed(err->status);
		r->type_names[i] = meta.type;
		numbers_put(&r->types, (uint64_t)s->sessions[i].row, (uint32_t)i);
	}
	return STATUS_OK;
}

/* Those that have no transcript of their own, each once. */
static enum status load_told(struct usage_run *r, const struct usage *list, size_t count, struct err *err)
{
	struct arena *mem = &r->scope.call->mem;

	for (size_t i = 0; i < count; i++) {
		const struct usage *u = &list[i];
		struct str key, *type;

		if (!u->agent.n || numbers_get(&r->types, (uint64_t)u->session) != NUMBERS_NONE)
			continue;
		key = told_key(mem, u->session, u->agent);
		if (map_get(&r->told, key))
			continue;
		type = arena_alloc(mem, sizeof *type);
		if (agent_type_told(r->scope.call->store, u->session, u->agent, mem, type, err))
			return err_failed(err->status);
		map_put(&r->told, key, type);
	}
	return STATUS_OK;
}

static bool has_text(struct str name, struct str part)
{
	for (size_t i = 0; i + part.n <= name.n; i++)
		if (str_eq(str_sub(name, i, part.n), part))
			return true;
	return false;
}

static bool is_wanted(const struct usage_run *r, const struct usage *u)
{
	const struct session *s;

	if (!usage_scope_has(&r->scope, u->at, u->session) || !has_text(u->model, r->model))
		return false;
	if (!r->one_session)
		return true;
	s = usage_scope_session(&r->scope, u->session);
	return s && uuid_eq(&s->id, &r->session);
}

/* Answers of those that old clients wrote into the conversation, by their messages: whose they are. */
static void name_inline(struct usage_run *r, const struct forest *f, const struct subagents *all, struct usage *list,
			size_t count)
{
	struct numbers whose = numbers_new(&r->scope.call->mem, f->node_count);

	for (uint32_t n = 0; n < f->node_count; n++) {
		uint32_t m = f->nodes[n].message;
		uint32_t a = m == FOREST_NONE ? FOREST_NONE : all->of[f->messages[m].canonical];

		if (a != FOREST_NONE && all->list[a].is_inline && forest_line(f, n)->has_api)
			numbers_add(&whose, forest_line(f, n)->api, a);
	}
	for (struct usage *u = list; u < list + count; u++) {
		uint32_t a = u->aside && !u->agent.n ? numbers_get(&whose, u->message) : NUMBERS_NONE;

		if (a != NUMBERS_NONE)
			u->agent = all->list[a].name;
	}
}

/* All sub-agents of a conversation, as 'agents' finds them. */
static enum status search_agents(struct usage_run *r, int64_t session, struct usage *list, size_t count,
				 struct err *err)
{
	struct forest f CLEANUP(forest_release) = FOREST_INIT;
	struct call *c = r->scope.call;
	struct subagents all;
	uint32_t source;

	if (forest_load(c->store, session, &f, &source, err) || subagents_find(c, &f, &all, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < all.count; i++) {
		struct str key = told_key(&c->mem, 0, all.list[i].name);

		all.list[i].name = arena_str(&c->mem, all.list[i].name);
		if (all.list[i].type.n && !map_get(&r->told, key))
			map_put(&r->told, key, &all.list[i].type);
	}
	name_inline(r, &f, &all, list, count);
	return STATUS_OK;
}

/* Of whom neither a file beside the transcript nor a progress line says it. */
static enum status load_others(struct usage_run *r, struct usage *list, size_t count, struct err *err)
{
	for (struct usage *u = list; u < list + count; u++) {
		struct str key = str_from((const char *)&u->session, sizeof u->session);

		if (!u->aside || !is_wanted(r, u) || map_get(&r->searched, key) ||
		    (u->agent.n && !str_eq(type_of(r, u->session, u->agent), STR("unknown"))))
			continue;
		map_put(&r->searched, key, r);
		if (search_agents(r, u->session, list, count, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* The conversation, also of what its sub-agents said. */
static const struct session *conversation_of(const struct usage_scope *s, int64_t row)
{
	const struct session *own = usage_scope_session(s, row);

	for (size_t i = 0; own && own->agent.n && i < s->count; i++)
		if (!s->sessions[i].agent.n && uuid_eq(&s->sessions[i].id, &own->id))
			return &s->sessions[i];
	return own;
}

static void begin_sum(struct usage_run *r, struct usage_sum *sum, const struct usage *u)
{
	if (r->group == SESSION)
		sum->about = conversation_of(&r->scope, u->session);
	if (r->group == AGENT)
		sum->about = usage_scope_session(&r->scope, u->session);
}

static void add_up(struct usage_run *r, const struct usage *list, size_t count)
{
	int64_t first = 0;

	for (const struct usage *u = list; u < list + count; u++) {
		int64_t block = u->at ? usage_block(&r->blocks, u->at) : 0;
		struct usage_sum *sum;
		bool is_new;

		if (!is_wanted(r, u))
			continue;
		sum = usage_sums_get(&r->sums, name_of(r, u, block),
				     r->by_model ? or_unknown(u->model) : (struct str){ 0 }, &is_new);
		if (is_new)
			begin_sum(r, sum, u);
		usage_scope_add(&r->scope, sum, u);
		if (r->group == BLOCKS && block)
			sum->first = block;
		if (u->at && (!first || u->at < first))
			first = u->at;
	}
	for (size_t i = 0; i < r->sums.count; i++)
		usage_sum_join(&r->total, r->sums.list[i]);
	r->total.first = first; /* not that of a block */
}

/* ---- Order ---------------------------------------------------------------------------- */

static int by_number(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_name(const void *a, const void *b)
{
	const struct usage_sum *x = *(struct usage_sum *const *)a, *y = *(struct usage_sum *const *)b;
	int order = str_cmp(x->key, y->key);

	return order ? order : str_cmp(x->model, y->model);
}

static int compare_time(const void *a, const void *b)
{
	const struct usage_sum *x = *(struct usage_sum *const *)a, *y = *(struct usage_sum *const *)b;
	int order = by_number(x->first, y->first);

	return order ? order : compare_name(a, b);
}

static int compare_tokens(const void *a, const void *b)
{
	const struct usage_sum *x = *(struct usage_sum *const *)a, *y = *(struct usage_sum *const *)b;
	int order = by_number(usage_tokens(y), usage_tokens(x));

	return order ? order : compare_name(a, b);
}

static int compare_cost(const void *a, const void *b)
{
	const struct usage_sum *x = *(struct usage_sum *const *)a, *y = *(struct usage_sum *const *)b;
	int order = by_number(y->nano, x->nano);

	return order ? order : compare_tokens(a, b);
}

/* Parts of the calendar: where clocks are put back their names are not in the order of their times. Each begins with
 * the first answer of any model in it. What has no time stands behind everything. */
static void find_places(struct usage_sums *sums)
{
	if (sums->count)
		qsort(sums->list, sums->count, sizeof *sums->list, compare_name);
	for (size_t i = 0, end; i < sums->count; i = end) {
		int64_t place = INT64_MAX;

		for (end = i; end < sums->count && str_eq(sums->list[end]->key, sums->list[i]->key); end++)
			if (sums->list[end]->first && sums->list[end]->first < place)
				place = sums->list[end]->first;
		for (size_t k = i; k < end; k++)
			sums->list[k]->place = place;
	}
}

static int compare_place(const void *a, const void *b)
{
	const struct usage_sum *x = *(struct usage_sum *const *)a, *y = *(struct usage_sum *const *)b;
	int order = by_number(x->place, y->place);

	return order ? order : compare_name(a, b);
}

static void sort(struct usage_run *r)
{
	static int (*const compare[])(const void *, const void *) = { compare_time, compare_cost,
								      compare_tokens, compare_name };
	struct str order = call_text(r->scope.call, "order");
	bool timed = r->group <= MONTHLY || r->group == BLOCKS;
	size_t which = 0;

	if (!order.p)
		order = timed || r->group == SESSION ? STR("time") : STR("cost");
	while (!str_eq(order, str_of(orders[which])))
		which++;
	if (timed && !which)
		find_places(&r->sums);
	if (r->sums.count)
		qsort(r->sums.list, r->sums.count, sizeof(*r->sums.list),
		      timed && !which ? compare_place : compare[which]);
	for (size_t i = 0; call_flag(r->scope.call, "reverse") && i < r->sums.count / 2; i++) {
		struct usage_sum *other = r->sums.list[i];

		r->sums.list[i] = r->sums.list[r->sums.count - 1 - i];
		r->sums.list[r->sums.count - 1 - i] = other;
	}
}

/* ---- Results ---------------------------------------------------------------------------- */

static void put_about(struct usage_run *r, struct json_writer *w, const struct usage_sum *sum)
{
	const struct session *s = sum->about;
	struct str type = s && r->group == AGENT && r->each ? type_of(r, s->row, sum->key) : STR("unknown");

	if (s && r->group == SESSION && s->title.n)
		put_text(w, "title", s->title);
	if (s && r->group == SESSION && s->project.n)
		put_path(w, "project", s->project);
	if (!str_eq(type, STR("unknown")))
		put_text(w, "title", type);
}

static enum status emit(struct usage_run *r, const char *kind, const struct usage_sum *sum, struct err *err)
{
	struct json_writer *w = call_begin(r->scope.call);
	bool is_block = sum != &r->total && r->group == BLOCKS;

	put_text(w, "kind", str_of(kind));
	put_text(w, "key", sum->key);
	if (sum->model.n)
		put_text(w, "model", sum->model);
	put_int(w, "answers", sum->answers);
	put_int(w, "input", sum->input);
	put_int(w, "output", sum->output);
	put_int(w, "cache_write", sum->written);
	put_int(w, "cache_read", sum->read);
	usage_put_cost(w, sum);
	put_about(r, w, sum);
	put_int(w, "tokens", usage_tokens(sum));
	put_int(w, "cache_write_1h", sum->written_1h);
	put_int(w, "provisional", sum->provisional);
	if (sum->first)
		put_time(w, "started", sum->first);
	if (sum->last)
		put_time(w, "ended", is_block ? sum->first + USAGE_BLOCK_MS : sum->last);
	return call_emit(r->scope.call, err);
}

static enum status begin(struct call *c, struct usage_run *r, struct err *err)
{
	struct str session = call_text(c, "session");
	struct session found;

	if (usage_scope_read(c, &r->scope, err))
		return err_failed(err->status);
	r->group = group_of(call_text(c, "by"));
	r->by_model = call_flag(c, "by_model") && r->group != MODEL;
	r->each = call_flag(c, "each");
	r->model = call_text(c, "model");
	r->sums = (struct usage_sums){ .mem = &c->mem };
	r->types = numbers_new(&c->mem, 0);
	r->total.key = STR("total");
	r->one_session = session.p != NULL;
	if (session.p && resolve_session(c->store, session, &c->mem, &found, err))
		return err_failed(err->status);
	if (session.p)
		r->session = found.id;
	if ((session.p || r->scope.project.p || r->group == SESSION || r->group == PROJECT ||
	     r->group == AGENT) &&
	    usage_scope_load(&r->scope, err))
		return err_failed(err->status);
	return r->group == AGENT ? load_types(r, err) : STATUS_OK;
}

static unsigned wanted(const struct usage_run *r)
{
	/* What a sum is about is asked of the first answer in it. */
	bool ordered = r->group == BLOCKS || r->group == SESSION || r->group == AGENT;

	return (r->group == AGENT ? USAGE_AGENTS : 0) | (r->scope.loaded ? USAGE_SESSIONS : 0) |
	       (ordered ? USAGE_ORDERED : 0);
}

static enum status run_usage(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct usage_run r CLEANUP(run_release) = { 0 };
	struct usage *list;
	size_t count;

	if (read_begin(c->store, &snapshot, err) || begin(c, &r, err) ||
	    usage_all(c->store, wanted(&r), &c->mem, &list, &count, err))
		return err_failed(err->status);
	warn_unread(c);
	if (r.group == AGENT && (load_told(&r, list, count, err) || load_others(&r, list, count, err)))
		return err_failed(err->status);
	add_up(&r, list, count);
	if (!r.total.answers)
		return err_fail(err, STATUS_NOT_FOUND, "no answer of a model is kept%s",
				count ? " that is meant by this" : "");
	sort(&r);
	for (size_t i = 0; i < r.sums.count; i++)
		if (emit(&r, kinds[r.group], r.sums.list[i], err))
			return err_failed(err->status);
	usage_note_unknown(&r.scope, &r.total);
	return emit(&r, "total", &r.total, err);
}

const struct method memory_usage = {
	.name = "usage",
	.verb = "usage",
	.also = "cost costs tokens spend price ccusage bill",
	.group = "about",
	.summary = "Count tokens and what they cost",
	.text = "By hour, day, week (from Monday), month, session, model, project, type of sub-agent or "
		"billing block of five hours. Each answer of a model counts once, in however many files and "
		"lines it stands, where and when it was told first, which is in no file that says it was forked "
		"while another has it; sub-agents are in. Of what its lines say "
		"the largest numbers count. Failed requests and answers that no model gave are out.\n"
		"\n"
		"Costs are those of the API by " PRICE_LIST_OF
		", at the time of each answer; whoever pays for "
		"a subscription pays something else. The setting usage.prices names others. A model without "
		"a "
		"price is not free: its cost is unknown, and sums with it begin with '≥'. Programs that read lines get "
		"costs as plain numbers of dollars, and no line with the total; --json has that in the end, its kind "
		"is 'total'.\n"
		"\n"
		"Old clients did not always write how long an answer was in the end: then the output is a "
		"lower "
		"bound, and --json says for how many answers ('provisional'). Answers that a rewritten file "
		"no "
		"longer has do not count; those of a deleted file do.\n",
	.params = usage_params,
	.kind = RESULT_STREAM,
	.fields = usage_fields,
	.sums = "total",
	.version = 2,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "usage", "by day" },
					      { "usage monthly --by-model",
						"each month, each model by itself" },
					      { "usage session --project webshop --order cost",
						"what conversations of a project cost, the dearest first" },
					      { "usage blocks --timezone UTC", "billing blocks, in another time zone" },
					      { "usage daily --since 2026-11-01 --until 2026-11-07 --json",
						"of some days, for programs" },
					      { 0 } },
	.run = run_usage,
};
