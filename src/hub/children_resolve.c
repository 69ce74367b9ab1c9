/*
 * Handles that other hubs know.
 *
 * This hub has been asked already (handle_resolve.c). Then come its children, each for itself
 * (`shallow`), in the order of the settings, if they say that they have the plugin; then those
 * that are hubs, once more, for what is behind them. The first that has it answers. Who was on
 * the way already is passed over, so that a question ends however hubs are nested.
 *
 * They are asked one after the other, but for the waiting: when one is slow to start, all others are started, too,
 * and the silence of several lasts as long as that of one (live/peer.h, rounds). Their order is that of the settings
 * whoever is quicker.
 *
 * A path in front of the handle leads from hub to hub, and the last one answers for itself. A program at its end
 * is asked only for what it says it has, as without a path; one that says nothing of plugins is asked for anything.
 *
 * When nobody has it, the best of what was said is told: that it is gone, that it is not with those who
 * know its plugin, that nobody knows that. Who could not be asked is told in addition: it could
 * have been there.
 *
 * A call that resolves many handles, of a tree, say, waits in vain for a child no longer than its timeout: then
 * it is not asked again, whatever the handle. When it is somebody behind the child who is silent, the child
 * is still asked for what it has itself; of hubs by a path, only that one is left alone. One that answers with
 * an error, or dies quickly, is asked again.
 */
#include "hub/children.h"

#include "base/clock.h"
#include "base/json.h"
#include "live/peer.h"

#include <string.h>

/* How long nobody answered. */
struct waste {
	struct waste *next;
	size_t which;
	bool deep;	 /* who was asked is behind the child */
	struct str path; /* which of those; empty = whoever has it */
	int64_t ns;
};

struct search {
	struct children *children;
	struct call *call;
	const struct resolve_ask *ask;
	struct resolution *out;
	struct peer_round *round;     /* all are asked in turn; NULL = one is, by a path */
	char own[UUID_TEXT + 1];      /* id of this hub */
	bool unreachable[LIMIT_HUBS]; /* who need not be asked again */
	struct err problem;	      /* the first that could not say; STATUS_OK = none */
	bool was_asked;		      /* that one has the plugin and was asked */
	struct err absent;	      /* the best of what was said by those who do not have it */
	int heaviest;		      /* how much that says, see weight() */
};

/* ---- The answer --------------------------------------------------------------------- */

struct answer {
	struct search *search;
	size_t which;
	struct str name, version; /* of the plugin as a program has it; empty = it says nothing of it, or is a hub */
	bool given;
};

static enum content_kind kind_of(const struct json *j, uint32_t node)
{
	for (int k = 0; k < CONTENT_KINDS; k++)
		if (json_string_eq(j, node, str_of(content_kind_name((enum content_kind)k))))
			return (enum content_kind)k;
	return CONTENT_DOCUMENT;
}

static struct str text_or(const struct json *j, const char *name, struct str otherwise, struct arena *mem)
{
	struct str text = json_string_in(j, json_get(j, 0, str_of(name)), mem);

	return arena_str(mem, text.n ? text : otherwise);
}

/* The path of who answered: the child's name, and behind it whom the child asked. */
static struct str path_of(const struct answer *a, const struct json *j, struct arena *mem)
{
	struct str by = json_string_in(j, json_get(j, 0, STR("by")), mem);

	return arena_printf(mem, "%s%s%.*s", children_at(a->search->children, a->which)->name,
			    by.n ? "." : "", (int)size_min(by.n, LIMIT_HANDLE), by.p ? by.p : "");
}

/* Its plugin by name, if the child calls it by one that is right. */
static struct str plugin_name(const struct answer *a, const struct json *j, struct arena *mem)
{
	const struct handle *h = a->search->ask->handle;
	struct str said = json_string_in(j, json_get(j, 0, STR("plugin")), mem);
	struct uuid id = handle_plugin_id(h), theirs = plugin_id_of(said, h->version);

	return arena_str(mem, said.n && uuid_eq(&id, &theirs) ? said : a->name.n ? a->name : h->plugin);
}

/* A program need not say more than `data`. The handle is the one that was asked for. */
static enum status take_answer(void *ctx, struct str json, struct err *err)
{
	struct answer *a = ctx;
	const char *child = children_at(a->search->children, a->which)->name;
	struct resolution *out = a->search->out;
	struct handle shown = *a->search->ask->handle;
	struct json j CLEANUP(json_release) = JSON_INIT;
	uint32_t data;

	if (a->given)
		return err_fail(err, STATUS_FORMAT, "%s: hub.resolve gave more than one result", child);
	if (json_read(&j, json, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	data = json_get(&j, 0, STR("data"));
	if (!json_is(&j, data, JSON_OBJECT))
		return err_fail(err, STATUS_FORMAT, "%s: hub.resolve gave a result without an object 'data'", child);
	out->plugin = plugin_name(a, &j, &out->mem);
	out->version = text_or(&j, "version", a->version.n ? a->version : shown.version, &out->mem);
	out->method = text_or(&j, "method", shown.method, &out->mem);
	out->plugin_id = handle_plugin_id(&shown);
	out->kind = kind_of(&j, json_get(&j, 0, STR("kind")));
	out->data = arena_str(&out->mem, json_raw(&j, data));
	out->by = path_of(a, &j, &out->mem);
	shown.hub = (struct str){ 0 };
	shown.plugin = out->plugin;
	out->handle = handle_text(&shown, &out->mem);
	a->given = true;
	return STATUS_OK;
}

/* ---- Asking ---------------------------------------------------------------------------- */

/* For a program: its plugin by the name it has for itself, and the older form as text, the identifier behind the
 * "::". */
static struct handle as_text(const struct handle *h, struct str name, struct arena *mem)
{
	struct handle out = *h;
	struct str *meta, rest = h->identifier;

	if (name.n)
		out.plugin = name;
	if (!h->older.p)
		return out;
	meta = arena_alloc(mem, LIMIT_HANDLE_META * sizeof *meta);
	out.older = (struct str){ 0 };
	out.method = str_cut(rest, ':', &rest);
	for (out.meta_count = 0; rest.n && out.meta_count < LIMIT_HANDLE_META;)
		meta[out.meta_count++] = str_cut(rest, ':', &rest);
	out.meta = meta;
	return out;
}

/* What is by id and has a version of another major names two things. */
static enum status check_major(const struct handle *h, struct str name, struct err *err)
{
	struct uuid given = handle_plugin_id(h), said = plugin_id_of(name, h->version);

	if (!name.n || uuid_eq(&given, &said))
		return STATUS_OK;
	return err_fail(err, STATUS_FORMAT,
			"handle: the plugin is %.*s of another major than its version %.*s says",
			(int)size_min(name.n, 60), name.p, (int)size_min(h->version.n, 40), h->version.p);
}

/* A program that is no hub has nothing to do with windows of long texts. */
static struct str params_of(const struct handle *h, const struct resolve_ask *window, struct buf *out)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	put_text(&w, "handle", handle_text(h, &mem));
	if (window) {
		put_int(&w, "from", window->from);
		put_int(&w, "limit", window->most);
	}
	json_write_object_end(&w);
	return buf_as_str(out);
}

static enum status ask_child(struct search *s, size_t which, const struct child_about *about,
			     const struct handle *h, bool shallow, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf params CLEANUP(buf_release) = BUF_INIT(LIMIT_RPC_LINE);
	struct uuid plugin = handle_plugin_id(h);
	struct answer a = { .search = s, .which = which };
	struct handle told = *h;
	struct sink sink = { .item = take_answer, .ctx = &a };
	struct child_ask ask = {
		.which = which,
		.method = STR("hub.resolve"),
		.own = str_of(s->own),
		.deadline_ns = children_deadline(s->children, which, about, s->call->who),
		.shallow = shallow,
	};

	if (!about->id.n) {
		child_plugin(about, &plugin, &mem, &a.name, &a.version);
		if (check_major(h, a.name, err))
			return err_failed(err->status);
		told = as_text(h, a.name, &mem);
	}
	ask.params = params_of(&told, about->id.n ? s->ask : NULL, &params);
	if (children_ask(s->children, &ask, s->call->who, &sink, err))
		return err_failed(err->status);
	if (!a.given)
		return err_fail(err, STATUS_FORMAT, "%s: hub.resolve gave no result",
				children_at(s->children, which)->name);
	return STATUS_OK;
}

/* How much it says that somebody does not have it. That he cannot do it says more when he knows the
 * plugin. 0 = that is not what was said. */
enum { HEAVY_NOT, HEAVY_UNKNOWN, HEAVY_CANNOT, HEAVY_NOT_FOUND, HEAVY_GONE };

static int weight(const struct err *e)
{
	return e->status == STATUS_GONE		 ? HEAVY_GONE
	       : e->status == STATUS_NOT_FOUND	 ? HEAVY_NOT_FOUND
	       : e->status != STATUS_UNSUPPORTED ? HEAVY_NOT
	       : e->telling			 ? HEAVY_CANNOT
						 : HEAVY_UNKNOWN;
}

static void note_absent(struct search *s, const struct err *err)
{
	if (weight(err) <= s->heaviest)
		return;
	s->heaviest = weight(err);
	s->absent = *err;
}

/* Whether it is the end of the search: found, or withdrawn. */
static bool note(struct search *s, size_t which, bool has, struct err *err)
{
	err->telling = err->telling || (has && err->status == STATUS_UNSUPPORTED);
	if (err->status == STATUS_OK || err->status == STATUS_CANCELLED)
		return true;
	if (weight(err)) {
		note_absent(s, err);
		return false;
	}
	s->unreachable[which] = err->status == STATUS_UNREACHABLE;
	/* Who has the plugin is the one that counts. */
	if (s->problem.status == STATUS_OK || (has && !s->was_asked)) {
		s->problem = *err;
		s->was_asked = has;
	}
	return false;
}

static enum status other_version(struct search *s, size_t which, struct err *err)
{
	const struct handle *h = s->ask->handle;

	return err_telling(
		err, STATUS_UNSUPPORTED,
		"handle: it is of %.*s %.*s, and %s has another version of that, whose handles have another "
		"form; its 'majors' in hub.info say which it reads",
		(int)size_min(h->plugin.n, 60), h->plugin.p, (int)size_min(h->version.n, 40), h->version.p,
		children_at(s->children, which)->name);
}

/* A program of the right name in another version: that it cannot do it is worth knowing. */
static void note_version(struct search *s, size_t which, const struct child_about *about)
{
	struct err err;

	if (child_has_name(about, s->ask->handle->plugin) && other_version(s, which, &err))
		note_absent(s, &err);
}

/* NULL = nothing is kept. */
static struct waste *waste_of(struct search *s, size_t which, bool deep, struct str path)
{
	struct waits *all = s->call->waits;
	struct waste *w = all ? all->first : NULL;

	while (w && (w->which != which || w->deep != deep || !str_eq(w->path, path)))
		w = w->next;
	if (w || !all)
		return w;
	w = arena_alloc(&all->mem, sizeof *w);
	*w = (struct waste){ .next = all->first, .which = which, .deep = deep, .path = arena_str(&all->mem, path) };
	all->first = w;
	return w;
}

/* Most of its timeout: a hub that waits for another gives up a little before (hub/route.h). */
static int64_t silence_ns(const struct child_setting *child)
{
	return child->timeout_ms * 1000000 / 5 * 4;
}

static enum status has_time(struct search *s, size_t which, bool deep, struct str path, struct err *err)
{
	const struct child_setting *child = children_at(s->children, which);
	const struct waste *w = waste_of(s, which, deep, path);

	if (!w || w->ns < silence_ns(child))
		return STATUS_OK;
	return err_fail(err, STATUS_UNREACHABLE, "%s: gave no answer before, and is not asked again", child->name);
}

static void note_time(struct search *s, size_t which, bool deep, struct str path, int64_t ns,
		      enum status status)
{
	struct waste *w = waste_of(s, which, deep, path);

	if (w && status == STATUS_UNREACHABLE)
		w->ns += ns;
}

/* Who it is, and how long that took for nothing. */
static enum status learn(struct search *s, size_t which, struct arena *mem, struct child_about *out,
			 struct err *err)
{
	int64_t took = 0;
	enum status status =
		children_about_in(s->children, s->round, which, s->call->who, mem, out, &took, err);

	note_time(s, which, false, (struct str){ 0 }, took, status);
	return status;
}

static bool may_ask(const struct search *s, const struct child_about *about)
{
	const struct route *r = s->call->who->route;

	return !about->id.n || (!route_has(r, about->id) && !str_eq(about->id, str_of(s->own)));
}

/* One child in one of the two rounds. Whether it is the end of the search. */
static bool try_child(struct search *s, size_t which, bool deep, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct child_about about CLEANUP(child_about_release) = { 0 };
	struct uuid plugin = handle_plugin_id(s->ask->handle);
	struct str nowhere = { 0 };
	int64_t began;
	bool has;

	if (s->unreachable[which])
		return false;
	if (has_time(s, which, false, nowhere, err) || (deep && has_time(s, which, true, nowhere, err)))
		return note(s, which, false, err);
	if (learn(s, which, &mem, &about, err))
		return note(s, which, false, err);
	has = child_has_plugin(&about, &plugin);
	if (!has)
		note_version(s, which, &about);
	if (!may_ask(s, &about) || (deep ? !about.id.n : !has))
		return false;
	err->status = STATUS_OK;
	began = clock_monotonic_ns();
	(void)!ask_child(s, which, &about, s->ask->handle, !deep, err);
	note_time(s, which, deep, nowhere, clock_monotonic_ns() - began, err->status);
	return note(s, which, has, err);
}

static enum status ask_all(struct search *s, struct err *err)
{
	int rounds = route_is_full(s->call->who->route) ? 1 : 2;

	for (size_t i = 0; i < children_count(s->children); i++)
		if (has_time(s, i, false, (struct str){ 0 }, err))
			peer_round_skip(s->round, i);
	for (int deep = 0; deep < rounds; deep++)
		for (size_t i = 0; i < children_count(s->children); i++)
			if (try_child(s, i, deep != 0, err))
				return err->status;
	*err = s->absent;
	if (s->was_asked && s->heaviest <= HEAVY_UNKNOWN)
		*err = s->problem; /* that others do not know its plugin says nothing */
	else if (s->problem.status != STATUS_OK)
		err_set(err, err->status == STATUS_GONE ? STATUS_GONE : s->problem.status,
			"%s; %s: %.*s", s->absent.text, s->was_asked ? "but" : "not asked", LIMIT_ERR_TEXT / 2,
			s->problem.text);
	return err_failed(err->status);
}

/* ---- A path ------------------------------------------------------------------------------- */

/* Whether the handle is one of those a program says it resolves. A hub looks for itself. */
static enum status check_plugin(struct search *s, size_t which, const struct child_about *about, struct err *err)
{
	struct uuid plugin = handle_plugin_id(s->ask->handle);
	struct str name = s->ask->handle->plugin;

	if (about->id.n || !child_lists_plugins(about) || child_has_plugin(about, &plugin))
		return STATUS_OK;
	if (child_has_name(about, name))
		return other_version(s, which, err);
	return err_fail(err, STATUS_UNSUPPORTED, "handle: %s has no plugin '%.*s'",
			children_at(s->children, which)->name, (int)size_min(name.n, 60), name.p);
}

static enum status follow_path(struct search *s, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct child_about about CLEANUP(child_about_release) = { 0 };
	struct handle next = *s->ask->handle;
	struct str rest = { 0 };
	size_t which = 0;
	int64_t began;
	enum status status;

	if (!children_find(s->children, next.hub, &which, &rest))
		return err_fail(err, STATUS_NOT_FOUND, "handle: there is no hub '%.*s' here",
				(int)size_min(next.hub.n, 60), next.hub.p);
	if (has_time(s, which, false, (struct str){ 0 }, err) || has_time(s, which, rest.n, rest, err))
		return err_failed(err->status);
	if (learn(s, which, &mem, &about, err))
		return err_failed(err->status);
	if (rest.n && !about.id.n)
		return err_fail(err, STATUS_NOT_FOUND, "handle: '%s' is a program and has no hub '%.*s'",
				children_at(s->children, which)->name, (int)size_min(rest.n, 60), rest.p);
	if (check_plugin(s, which, &about, err))
		return err_failed(err->status);
	next.hub = rest;
	began = clock_monotonic_ns();
	status = ask_child(s, which, &about, &next, !rest.n, err);
	note_time(s, which, rest.n, rest, clock_monotonic_ns() - began, status);
	return status;
}

enum status children_resolve(void *children, struct call *c, const struct resolve_ask *ask,
			     struct resolution *out, struct err *err)
{
	struct resolution found CLEANUP(resolution_release) = RESOLUTION_INIT;
	struct search s = { .children = children, .call = c, .ask = ask, .out = &found };
	bool shallow = c->who->route && c->who->route->shallow;
	enum status status;

	if (!ask->handle->hub.n && (shallow || !children_count(children)))
		return err_failed(err->status);
	if (!ask->handle->hub.n)
		note_absent(&s, err);
	if (hub_own_id(c, s.own, err))
		return err_failed(err->status);
	s.round = ask->handle->hub.n ? NULL : children_round(children);
	status = s.round ? ask_all(&s, err) : follow_path(&s, err);
	peer_round_free(s.round);
	if (status != STATUS_OK)
		return status;
	*out = found;
	found = (struct resolution)RESOLUTION_INIT;
	return STATUS_OK;
}
