/*
 * Asking whoever owns a handle.
 *
 * The owner is found by the plugin id alone, so a handle by name, by id and of an older major
 * lead to the same activation. Before its resolver runs, the handle is checked against
 * the table: a resolver sees only handles of its kind, with an id that is one.
 *
 * When this hub does not know, or knows of the plugin and does not have the thing, other hubs are
 * asked.
 */
#include "hub/handle_resolve.h"

#include "base/near.h"
#include "hub/handle_node.h"

#include <stdio.h>
#include <string.h>

void resolution_release(struct resolution *r)
{
	arena_release(&r->mem);
	*r = (struct resolution)RESOLUTION_INIT;
}

/* ---- The owner ------------------------------------------------------------------- */

/* The id of one major of an activation. */
static struct uuid major_id(const struct activation *a, int major)
{
	char text[16];

	snprintf(text, sizeof text, "%d", major);
	return plugin_id_of(str_of(a->name), str_of(text));
}

bool activation_owns(const struct activation *a, const struct uuid *plugin)
{
	struct uuid id = activation_id(a);

	if (!a->handles)
		return false;
	if (uuid_eq(&id, plugin))
		return true;
	for (const int *major = a->majors; major && *major >= 0; major++) {
		id = major_id(a, *major);
		if (uuid_eq(&id, plugin))
			return true;
	}
	return false;
}

const struct activation *hub_owner(const struct hub *h, const struct uuid *plugin)
{
	for (const struct activation *const *a = h->activations; *a; a++)
		if (activation_owns(*a, plugin))
			return *a;
	return NULL;
}

/* Of a plugin by name that is here in other majors: a newer or older program is needed. */
static enum status no_such_plugin(const struct hub *hub, const struct handle *h, struct err *err)
{
	struct buf known CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);

	for (const struct activation *const *a = hub->activations; *a; a++) {
		if (!(*a)->handles)
			continue;
		if (str_eq(h->plugin, str_of((*a)->name)))
			return err_telling(err, STATUS_UNSUPPORTED,
					   "handle: it is of %s %.*s, and %s is what is here; its handles have"
					   " another form",
					   (*a)->name, (int)size_min(h->version.n, 40), h->version.p,
					   (*a)->version);
		buf_printf(&known, "%s%s", known.n ? ", " : "", (*a)->name);
	}
	return err_fail(err, STATUS_UNSUPPORTED, "handle: there is no plugin '%.*s' here; those are: %s",
			(int)size_min(h->plugin.n, 60), h->plugin.p, known.p ? known.p : "none");
}

/* Whether its version is of another major than its plugin id. */
static bool contradicts(const struct activation *a, const struct handle *h)
{
	struct uuid given = handle_plugin_id(h), said = plugin_id_of(str_of(a->name), h->version);

	return !uuid_eq(&given, &said);
}

/* ---- The kind -------------------------------------------------------------------- */

static enum status no_such_kind(const struct activation *a, const struct handle *h, struct err *err)
{
	struct str method = h->method;
	struct near near = near_begin(method);
	struct buf known CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);

	if (h->older.p)
		return err_telling(err, STATUS_UNSUPPORTED, "handle: %s knows no identifiers like '%.*s'", a->name,
				(int)size_min(h->identifier.n, 60), h->identifier.p);
	for (const struct handle_kind *k = a->handles; k->method; k++) {
		near_try(&near, k->method);
		buf_printf(&known, "%s%s", known.n ? ", " : "", k->method);
	}
	if (near.best)
		return err_telling(err, STATUS_UNSUPPORTED, "handle: %s has no '%.*s'; did you mean '%s'?",
				a->name, (int)size_min(method.n, 60), method.p, near.best);
	return err_telling(err, STATUS_UNSUPPORTED, "handle: %s has no '%.*s'; it has %s", a->name,
			(int)size_min(method.n, 60), method.p, known.p);
}

static const struct handle_kind *find_kind(const struct activation *a, const struct handle *h)
{
	for (const struct handle_kind *k = a->handles; k->method; k++)
		if (h->older.p ? k->older && str_has_prefix(h->identifier, str_of(k->older))
			       : str_eq(h->method, str_of(k->method)))
			return k;
	return NULL;
}

/* One of the older form as one of today's: its identifier is a prefix, the id, and behind a ':'
 * what is there for people to read. */
static struct handle of_today(const struct handle *h, const struct handle_kind *k, struct arena *mem)
{
	struct str *id = arena_alloc(mem, sizeof *id), rest;
	struct handle out = *h;

	*id = str_cut(str_sub(h->identifier, strlen(k->older), SIZE_MAX), ':', &rest);
	out.method = str_of(k->method);
	out.meta = id;
	out.meta_count = 1;
	return out;
}

/* ---- Its meta -------------------------------------------------------------------- */

/* "id:role[:api_id]" */
static void print_meta(const struct handle_kind *k, struct buf *out)
{
	for (const struct meta_field *f = k->meta; f->name; f++)
		buf_printf(out, f->flags & META_OPTIONAL ? "[:%s]" : f == k->meta ? "%s" : ":%s", f->name);
}

static bool is_of_type(struct str value, enum value_type type)
{
	struct uuid id;
	uint64_t number;

	if (type == VALUE_ID)
		return uuid_parse(value, &id);
	if (type == VALUE_INT)
		return str_to_u64(value, &number);
	if (type == VALUE_BOOL)
		return str_eq(value, STR("true")) || str_eq(value, STR("false"));
	return true;
}

static enum status check_meta(const struct activation *a, const struct handle_kind *k, const struct handle *h,
			      struct err *err)
{
	struct buf form CLEANUP(buf_release) = BUF_INIT(KIB);
	size_t i = 0;

	print_meta(k, &form);
	for (const struct meta_field *f = k->meta; f->name; f++, i++) {
		struct str value = handle_meta(h, i);

		if (!value.n && ((f->flags & META_OPTIONAL) || (h->older.p && i)))
			continue;
		if (!value.n)
			return err_fail(err, STATUS_FORMAT,
					"handle: meta[%zu] '%s' is missing; this kind is %s@%s::%s:%s", i,
					f->name, a->name, a->version, k->method, form.p);
		if (!is_of_type(value, f->type))
			return err_fail(err, STATUS_FORMAT,
					"handle: meta[%zu] '%s' is '%.*s' and has to be %s", i, f->name,
					(int)size_min(value.n, 60), value.p,
					f->type == VALUE_ID    ? "a UUID"
					: f->type == VALUE_INT ? "a number"
							       : "true or false");
	}
	return STATUS_OK;
}

enum status handle_fit(const struct activation *a, const struct handle *h, struct arena *mem,
		       const struct handle_kind **kind, struct handle *out, struct err *err)
{
	const struct handle_kind *k = find_kind(a, h);
	struct handle fit = *h;

	if (contradicts(a, h))
		return err_fail(err, STATUS_FORMAT,
				"handle: the plugin is %s of another major than its version %.*s says",
				a->name, (int)size_min(h->version.n, 40), h->version.p);
	if (!k)
		return err_failed(no_such_kind(a, h, err));
	if (h->older.p)
		fit = of_today(h, k, mem);
	if (check_meta(a, k, &fit, err))
		return err_failed(err->status);
	*kind = k;
	*out = fit;
	return STATUS_OK;
}

/* ---- Resolving ------------------------------------------------------------------- */

/* As it is told: by the plugin's name, and without a route. */
static struct str canonical_text(const struct activation *a, const struct handle *h, struct arena *mem)
{
	struct handle shown = *h;

	shown.hub = (struct str){ 0 };
	shown.plugin = str_of(a->name);
	return handle_text(&shown, mem);
}

static enum status ask_resolver(struct call *c, const struct activation *a, const struct handle_kind *k,
				const struct resolve_ask *ask, struct resolution *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct buf data CLEANUP(buf_release) = BUF_INIT(8 * LIMIT_RESOLVED_MOST);
	struct json_writer w;
	struct resolving r = { .call = c,
			       .handle = ask->handle,
			       .from = ask->from,
			       .most = ask->most,
			       .mem = &out->mem,
			       .w = &w,
			       .kind = k->kind };

	if (!handle_major(ask->handle->version, &r.major))
		return err_fail(err, STATUS_FORMAT, "handle: the version '%.*s' does not begin with a number",
				(int)size_min(ask->handle->version.n, 40), ask->handle->version.p);
	if (k->need != NEED_NOTHING && (call_need_store(c, err) || read_begin(c->store, &snapshot, err)))
		return err_failed(err->status);
	json_write_init(&w, &data, 0);
	json_write_object_begin(&w);
	if (k->resolve(&r, err))
		return err_failed(err->status);
	json_write_object_end(&w);
	if (json_write_done(&w, err))
		return err_pass(err, "%s", k->method);
	out->kind = r.kind;
	out->data = arena_str(&out->mem, buf_as_str(&data));
	out->handle = canonical_text(a, ask->handle, &out->mem);
	out->plugin = str_of(a->name);
	out->plugin_id = handle_plugin_id(ask->handle);
	out->version = str_of(a->version);
	out->method = str_of(k->method);
	return STATUS_OK;
}

enum status hub_resolve_own(struct call *c, const struct resolve_ask *ask, struct resolution *out,
			    struct err *err)
{
	struct resolution found CLEANUP(resolution_release) = RESOLUTION_INIT;
	struct uuid plugin = handle_plugin_id(ask->handle);
	const struct activation *a = hub_owner(c->hub, &plugin);
	const struct handle_kind *k = NULL;
	struct handle handle;

	if (!a)
		return err_failed(no_such_plugin(c->hub, ask->handle, err));
	if (handle_fit(a, ask->handle, &found.mem, &k, &handle, err) ||
	    ask_resolver(c, a, k, &(struct resolve_ask){ &handle, ask->from, ask->most }, &found, err))
		return err_failed(err->status);
	*out = found;
	found = (struct resolution)RESOLUTION_INIT;
	return STATUS_OK;
}

static bool may_be_elsewhere(enum status s)
{
	return s == STATUS_UNSUPPORTED || s == STATUS_NOT_FOUND || s == STATUS_GONE;
}

enum status hub_resolve(struct call *c, const struct resolve_ask *ask, struct resolution *out,
			struct err *err)
{
	const struct hub_elsewhere *elsewhere = c->who->elsewhere;

	if (ask->handle->hub.n && !elsewhere)
		return err_fail(err, STATUS_NOT_FOUND, "handle: there is no hub '%.*s' here",
				(int)size_min(ask->handle->hub.n, 60), ask->handle->hub.p);
	if (ask->handle->hub.n)
		return elsewhere->resolve(elsewhere->ctx, c, ask, out, err);
	if (hub_resolve_own(c, ask, out, err) == STATUS_OK)
		return STATUS_OK;
	if (!elsewhere || !may_be_elsewhere(err->status))
		return err_failed(err->status);
	return elsewhere->resolve(elsewhere->ctx, c, ask, out, err);
}

enum status hub_resolve_handle(struct call *c, struct str text, struct resolution *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct handle handle;

	if (handle_from_text(c, text, &mem, &handle, err))
		return err_failed(err->status);
	return hub_resolve(c, &(struct resolve_ask){ &handle, 0, (int64_t)LIMIT_RESOLVED }, out, err);
}

/* ---- Answers as results ------------------------------------------------------------ */

void put_resolution(struct json_writer *w, const struct resolution *r)
{
	put_text(w, "handle", r->handle);
	put_text(w, "plugin", r->plugin);
	put_uuid(w, "plugin_id", &r->plugin_id);
	put_text(w, "version", r->version);
	put_text(w, "method", r->method);
	put_text(w, "kind", str_of(content_kind_name(r->kind)));
	put_text(w, "by", r->by);
	json_write_key(w, STR("data"));
	json_write_raw(w, r->data);
}
