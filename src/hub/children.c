/*
 * Asking children on somebody's behalf.
 *
 * Nothing of what a child said is kept here: it may have been started anew, and be another
 * version, since it was asked last. Asking again costs a message on a pipe.
 */
#include "hub/children.h"

#include "base/clock.h"
#include "hub/settings.h"
#include "live/peer.h"

#include <string.h>
#include <time.h>

struct children {
	struct arena mem;
	const char *home, *path; /* HOME and PATH; NULL = not set */
	struct child_setting *list;
	struct peer_setup *setups;
	struct peers *peers;
	size_t count;
	struct hub_elsewhere elsewhere;
};

struct starting {
	const struct children *all;
	const struct child_setting *setting;
	const char *const *environment;
};

static const char *copy_variable(struct children *c, const struct environment *e, const char *name)
{
	const char *value = environment_get(e, name);

	return value ? arena_cstr(&c->mem, str_of(value)) : NULL;
}

static const char *get_copied(void *ctx, const char *name)
{
	const struct starting *s = ctx;

	return strcmp(name, "HOME") == 0 ? s->all->home : strcmp(name, "PATH") == 0 ? s->all->path : NULL;
}

static enum status what_to_start(void *ctx, struct arena *mem, struct guard_start *out, struct err *err)
{
	struct starting *s = ctx;
	struct environment e = { .get = get_copied, .ctx = s };

	*out = (struct guard_start){
		.arguments = s->setting->command,
		.environment = s->environment,
		/* Not where somebody happens to be: what lies there is not the user's. */
		.folder = s->all->home ? s->all->home : "/",
	};
	return command_find(&e, str_of(s->setting->command[0]), mem, &out->path, err);
}

static struct peer_setup set_up(struct children *c, const struct child_setting *setting,
				const struct environment *e)
{
	struct starting *s = arena_alloc(&c->mem, sizeof *s);

	*s = (struct starting){
		.all = c,
		.setting = setting,
		.environment = environment_for_child(e, setting->variables, setting->variable_count, &c->mem),
	};
	return (struct peer_setup){
		.name = setting->name, .timeout_ms = setting->timeout_ms, .what = what_to_start, .ctx = s
	};
}

struct children *children_new(const struct settings *settings, const struct environment *e)
{
	struct str text = settings_text(settings, "hubs");
	struct children *c;
	struct err err;

	if (!text.p)
		return NULL;
	c = mem_alloc(sizeof *c);
	c->home = copy_variable(c, e, "HOME");
	c->path = copy_variable(c, e, "PATH");
	c->elsewhere = (struct hub_elsewhere){ .resolve = children_resolve, .ctx = c };
	if (children_read(text, &c->mem, &c->list, &c->count, &err))
		bug("a setting was taken that is not right");
	c->setups = arena_alloc(&c->mem, (c->count + 1) * sizeof *c->setups);
	for (size_t i = 0; i < c->count; i++)
		c->setups[i] = set_up(c, &c->list[i], e);
	c->peers = peers_new(c->setups, c->count);
	return c;
}

const struct hub_elsewhere *children_elsewhere(const struct children *c)
{
	return c ? &c->elsewhere : NULL;
}

void children_free(struct children *c)
{
	if (!c)
		return;
	peers_free(c->peers);
	arena_release(&c->mem);
	mem_free(c);
}

size_t children_count(const struct children *c)
{
	return c ? c->count : 0;
}

const struct child_setting *children_at(const struct children *c, size_t which)
{
	return &c->list[which];
}

bool children_find(const struct children *c, struct str path, size_t *which, struct str *rest)
{
	struct str after, first = str_cut(path, '.', &after);

	for (size_t i = 0; i < children_count(c); i++)
		if (str_eq(first, str_of(c->list[i].name))) {
			*which = i;
			*rest = after;
			return true;
		}
	return false;
}

int64_t children_deadline(const struct children *c, size_t which, const struct child_about *about,
			  const struct hub_caller *who)
{
	int64_t own = clock_monotonic_ns() + c->list[which].timeout_ms * 1000000;

	if (!about->id.n || (who->deadline_ns && who->deadline_ns < own))
		return who->deadline_ns;
	return own;
}

/* ---- Who it is ------------------------------------------------------------------------- */

void child_about_release(struct child_about *a)
{
	json_release(&a->json);
}

static struct str member(const struct child_about *a, const char *name, struct arena *mem)
{
	return json_string_in(&a->json, json_get(&a->json, 0, str_of(name)), mem);
}

struct peer_round *children_round(struct children *c)
{
	return peer_round_new(c->peers);
}

/* A start has a time of its own. */
static enum status ask_about(struct children *c, struct peer_round *round, size_t which,
			     const struct hub_caller *who, struct arena *mem, struct str *out,
			     int64_t *took_ns, struct err *err)
{
	int64_t began = clock_monotonic_ns();
	enum status status;

	if (round)
		return peer_round_info(round, which, who->deadline_ns, who->cancel, mem, out, took_ns, err);
	status = peer_info(c->peers, which, who->deadline_ns, who->cancel, mem, out, err);
	*took_ns = clock_monotonic_ns() - began;
	return status;
}

enum status children_about(struct children *c, size_t which, const struct hub_caller *who, struct arena *mem,
			   struct child_about *out, struct err *err)
{
	int64_t took;

	return children_about_in(c, NULL, which, who, mem, out, &took, err);
}

enum status children_about_in(struct children *c, struct peer_round *round, size_t which,
			      const struct hub_caller *who, struct arena *mem, struct child_about *out,
			      int64_t *took_ns, struct err *err)
{
	struct child_about a = { 0 };
	struct str text = { 0 };
	int64_t protocol = PEER_PROTOCOL;

	if (ask_about(c, round, which, who, mem, &text, took_ns, err) ||
	    json_read(&a.json, text, LIMIT_JSON_DEPTH, err)) {
		child_about_release(&a);
		return err_failed(err->status);
	}
	json_to_i64(&a.json, json_get(&a.json, 0, STR("protocol")), &protocol);
	if (protocol != PEER_PROTOCOL) {
		child_about_release(&a);
		return err_fail(err, STATUS_UNREACHABLE,
				"%s: it speaks version %" PRId64
				" of the protocol, and this Arbor version %d",
				c->list[which].name, protocol, PEER_PROTOCOL);
	}
	a.id = member(&a, "id", mem);
	a.name = member(&a, "name", mem);
	a.version = member(&a, "version", mem);
	*out = a;
	return STATUS_OK;
}

/* Whether `plugin` is this entry of the list, in its own or in another major it still resolves. */
static bool is_plugin(const struct json *j, uint32_t entry, const struct uuid *plugin)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str name = json_string_in(j, json_get(j, entry, STR("name")), &mem);
	uint32_t majors = json_get(j, entry, STR("majors"));
	struct uuid id = plugin_id_of(name, json_string_in(j, json_get(j, entry, STR("version")), &mem));

	if (name.n && uuid_eq(&id, plugin))
		return true;
	if (!name.n || !json_is(j, majors, JSON_ARRAY))
		return false;
	for (uint32_t i = json_first(j, majors); i != json_end(j, majors); i = json_next(j, i)) {
		id = plugin_id_of(name, json_raw(j, i));
		if (uuid_eq(&id, plugin))
			return true;
	}
	return false;
}

bool child_lists_plugins(const struct child_about *a)
{
	uint32_t list = json_get(&a->json, 0, STR("plugins"));

	return json_is(&a->json, list, JSON_ARRAY) && json_count(&a->json, list);
}

bool child_plugin(const struct child_about *a, const struct uuid *plugin, struct arena *mem, struct str *name,
		  struct str *version)
{
	const struct json *j = &a->json;
	uint32_t list = json_get(j, 0, STR("plugins"));

	if (!json_is(j, list, JSON_ARRAY))
		return false;
	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i))
		if (is_plugin(j, i, plugin)) {
			*name = arena_str(mem, json_string_in(j, json_get(j, i, STR("name")), mem));
			*version = arena_str(mem, json_string_in(j, json_get(j, i, STR("version")), mem));
			return true;
		}
	return false;
}

bool child_has_plugin(const struct child_about *a, const struct uuid *plugin)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str name, version;

	return child_plugin(a, plugin, &mem, &name, &version);
}

bool child_has_name(const struct child_about *a, struct str plugin)
{
	uint32_t list = json_get(&a->json, 0, STR("plugins"));

	if (!json_is(&a->json, list, JSON_ARRAY))
		return false;
	for (uint32_t i = json_first(&a->json, list); i != json_end(&a->json, list);
	     i = json_next(&a->json, i))
		if (json_string_eq(&a->json, json_get(&a->json, i, STR("name")), plugin))
			return true;
	return false;
}

/* ---- Asking ------------------------------------------------------------------------------ */

struct passing {
	const struct sink *sink;
	const struct hub_caller *who;
	bool refused; /* the caller wants no more */
};

static bool is_withdrawn(const struct hub_caller *who)
{
	return (who->cancel && atomic_load(who->cancel)) ||
	       (who->deadline_ns && clock_monotonic_ns() >= who->deadline_ns);
}

/* A sink without room is one to wait for: what a child has said it does not say again. */
static enum status pass(struct passing *p, enum status (*fn)(void *, struct str, struct err *),
			struct str what, struct err *err)
{
	struct timespec moment = { .tv_nsec = 5 * 1000 * 1000 };
	enum status status;

	while ((status = fn(p->sink->ctx, what, err)) == STATUS_WAIT && !is_withdrawn(p->who))
		nanosleep(&moment, NULL);
	if (status == STATUS_WAIT)
		status = err_set(err, STATUS_CANCELLED, "cancelled");
	p->refused = status != STATUS_OK;
	return status;
}

static enum status pass_item(void *ctx, struct str json, struct err *err)
{
	struct passing *p = ctx;

	return pass(p, p->sink->item, json, err);
}

static enum status pass_one(void *ctx, struct str json, struct err *err)
{
	struct passing *p = ctx;

	return pass(p, p->sink->one ? p->sink->one : p->sink->item, json, err);
}

static enum status pass_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct passing *p = ctx;

	if (p->sink->bytes)
		return pass(p, p->sink->bytes, bytes, err);
	p->refused = true;
	return err_fail(err, STATUS_USAGE, "this gives bytes and not JSON; call it directly");
}

static void pass_progress(void *ctx, struct str what, int64_t done, int64_t total)
{
	struct passing *p = ctx;
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

	buf_str(&text, str_sub(what, 0, 100));
	if (p->sink->progress)
		p->sink->progress(p->sink->ctx, text.p ? text.p : "", done, total);
}

static void pass_note(void *ctx, struct str text)
{
	struct passing *p = ctx;

	if (p->sink->note)
		p->sink->note(p->sink->ctx, text);
}

/* A child that gave up by itself had no time left: it was not we who withdrew. */
static enum status explain(const struct children *c, const struct child_ask *ask, const struct passing *p,
			   struct err *err)
{
	const char *name = c->list[ask->which].name;
	struct str rest = { 0 };
	bool named = str_eq(str_cut(str_of(err->text), ':', &rest), str_of(name));

	if (p->refused)
		return err_failed(err->status);
	if (err->status == STATUS_CANCELLED && !(p->who->cancel && atomic_load(p->who->cancel)))
		return err_fail(err, STATUS_UNREACHABLE, "%s: gave no answer in time", name);
	return named ? err_failed(err->status) : err_pass(err, "%s", name);
}

enum status children_ask(struct children *c, const struct child_ask *ask, const struct hub_caller *who,
			 const struct sink *sink, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct child_about about CLEANUP(child_about_release) = { 0 };
	struct buf route CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct passing p = { .sink = sink, .who = who };
	struct peer_sink to = { .item = pass_item,
				.one = pass_one,
				.bytes = pass_bytes,
				.progress = pass_progress,
				.note = pass_note,
				.ctx = &p };
	struct peer_question q = { .peer = ask->which,
				   .method = ask->method,
				   .params = ask->params,
				   .deadline_ns = ask->deadline_ns ? ask->deadline_ns : who->deadline_ns,
				   .cancel = who->cancel };

	if (children_about(c, ask->which, who, &mem, &about, err))
		return err_failed(err->status);
	if (about.id.n)
		route_write(&route, who, ask->own, q.deadline_ns, ask->shallow);
	q.route = buf_as_str(&route);
	if (peer_ask(c->peers, &q, &to, err))
		return explain(c, ask, &p, err);
	return STATUS_OK;
}

/* ---- One method ---------------------------------------------------------------------------- */

struct looking {
	struct str method;
	struct arena *mem;
	struct str found;
};

static enum status look_at(void *ctx, struct str item, struct err *err)
{
	struct looking *l = ctx;
	struct json j CLEANUP(json_release) = JSON_INIT;

	if (json_read(&j, item, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (json_string_eq(&j, json_get(&j, 0, STR("name")), l->method))
		l->found = arena_str(l->mem, item);
	return STATUS_OK;
}

enum status children_schema(struct children *c, size_t which, struct str method, const struct hub_caller *who,
			    struct arena *mem, struct str *out, struct err *err)
{
	struct looking l = { .method = method, .mem = mem };
	struct sink sink = { .item = look_at, .ctx = &l };
	struct buf params CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct json_writer w;
	struct child_ask ask = { .which = which, .method = STR("hub.schema") };

	json_write_init(&w, &params, 0);
	json_write_object_begin(&w);
	put_text(&w, "method", method);
	json_write_object_end(&w);
	ask.params = buf_as_str(&params);
	if (children_ask(c, &ask, who, &sink, err))
		return err_failed(err->status);
	if (!l.found.p)
		return err_fail(err, STATUS_NOT_FOUND, "no method '%s.%.*s'", c->list[which].name,
				(int)size_min(method.n, 80), method.p ? method.p : "");
	*out = l.found;
	return STATUS_OK;
}

static enum scope scope_of(unsigned bit)
{
	enum scope s = 0;

	while (s < SCOPES - 1 && !(bit & 1u << s))
		s++;
	return s;
}

/* Of a program that is no hub, what a method needs is what its schema says; one that says nothing
 * may change something. */
static enum status check_scope(struct children *c, size_t which, struct str method,
			       const struct hub_caller *who, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str text = { 0 };
	unsigned needed = 0;
	enum status status = children_schema(c, which, method, who, &mem, &text, err);

	if (status != STATUS_OK && status != STATUS_NOT_FOUND)
		return status;
	if (status == STATUS_OK && json_read(&j, text, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (status != STATUS_OK ||
	    !scope_parse(json_string_in(&j, json_get(&j, json_get(&j, 0, STR("schema")), STR("scope")), &mem),
			 &needed))
		needed = 1u << SCOPE_WRITE;
	if (needed & ~who->scopes)
		return err_fail(err, STATUS_DENIED, "%s.%.*s needs the scope '%s'", c->list[which].name,
				(int)size_min(method.n, 80), method.p ? method.p : "", scope_name(scope_of(needed)));
	return STATUS_OK;
}

static bool has_all_scopes(const struct hub_caller *who)
{
	unsigned all = 1u << SCOPE_READ | 1u << SCOPE_WRITE | 1u << SCOPE_DRIVE | 1u << SCOPE_APPROVE;

	return (who->scopes & all) == all;
}

/* A path may lead through the same hub again, as far as it goes: each step of it is a process. A store that cannot be
 * opened keeps nobody from another hub's. */
static enum status note_way(struct call *c, const char *child, char own[UUID_TEXT + 1], struct err *err)
{
	if (route_is_full(c->who->route))
		return err_fail(err, STATUS_LIMIT,
				"%s: the call has been at %d hubs, and no more may be on its way", child,
				LIMIT_HUB_HOPS);
	if (hub_own_id(c, own, err))
		hub_own_id_without_store(c, own);
	return STATUS_OK;
}

enum status children_call(struct call *call, size_t which, struct str method, struct str params, struct err *err)
{
	const struct hub_caller *who = call->who;
	struct children *c = who->children;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct child_about about CLEANUP(child_about_release) = { 0 };
	struct child_ask ask = { .which = which, .method = method, .params = params };
	char own[UUID_TEXT + 1] = "";

	if (!method.n)
		return err_fail(err, STATUS_USAGE, "'%s' is a hub; which of its methods?",
				c->list[which].name);
	if (children_about(c, which, who, &mem, &about, err))
		return err_failed(err->status);
	if (about.id.n ? note_way(call, c->list[which].name, own, err)
		       : !has_all_scopes(who) && check_scope(c, which, method, who, err))
		return err_failed(err->status);
	ask.own = str_of(own);
	return children_ask(c, &ask, who, &who->sink, err);
}
