/*
 * Finding templates.
 *
 * The shipped ones are files PLUGIN.METHOD.NAME.mustache, embedded when the program is built.
 * They are found by the plugin's name, those in the store by its id: so a template of
 * somebody's holds for a plugin that this program has never heard of, too.
 */
#include "hub/templates.h"

#include "base/embed.h"
#include "base/handle.h"
#include "hub/handle_resolve.h"

extern const struct embedded template_files[];

const char *const template_origins[] = { "custom", "shipped", "generic", "given", NULL };

/* ---- Shipped ------------------------------------------------------------------- */

/* A text file ends with a line end; that of a single line is not a part of the template, so that
 * others can call it inside of a line. */
static struct str text_of(const struct embedded *f)
{
	struct str text = str_from(f->bytes, f->size);

	if (str_find(text, '\n') + 1 == text.n)
		text.n--;
	return text;
}

static struct template_shipped shipped_of(const struct embedded *f)
{
	struct str rest = str_of(f->name);
	struct template_shipped t = { .text = text_of(f) };

	t.plugin = str_cut(rest, '.', &rest);
	t.method = str_cut(rest, '.', &rest);
	t.name = str_cut(rest, '.', &rest);
	return t;
}

bool template_shipped(size_t index, struct template_shipped *out)
{
	if (!template_files[index].name)
		return false;
	*out = shipped_of(&template_files[index]);
	return true;
}

static bool find_shipped(const struct template_of *of, struct str name, struct str *text)
{
	struct template_shipped t;

	for (size_t i = 0; template_shipped(i, &t); i++)
		if (str_eq(t.plugin, of->plugin_name) && str_eq(t.method, of->method) &&
		    str_eq(t.name, name)) {
			*text = t.text;
			return true;
		}
	return false;
}

/* ---- Plugins ------------------------------------------------------------------- */

static const struct activation *activation_called(const struct hub *h, struct str name)
{
	for (const struct activation *const *a = h->activations; *a; a++)
		if (str_eq(str_of((*a)->name), name))
			return *a;
	return NULL;
}

enum status template_plugin(const struct hub *h, struct str text, struct template_of *out, struct err *err)
{
	struct str version, name = str_cut(text, '@', &version);
	const struct activation *a = activation_called(h, name);

	if (uuid_parse(text, &out->plugin)) {
		a = hub_owner(h, &out->plugin);
		out->plugin_name = a ? str_of(a->name) : (struct str){ 0 };
		return STATUS_OK;
	}
	if (!name.n || (version.p && !version.n) || (!a && !version.p))
		return err_fail(err, STATUS_NOT_FOUND,
				"plugin: there is no '%.*s' here; another's name needs its version, as in "
				"notes@1, or give its id",
				(int)size_min(text.n, 60), text.p);
	out->plugin = version.p ? plugin_id_of(name, version) : activation_id(a);
	out->plugin_name = name;
	return STATUS_OK;
}

/* ---- Finding ------------------------------------------------------------------- */

enum status template_store(struct call *c, bool *out, struct err *err)
{
	*out = true;
	if (c->store || !c->who->open_store) {
		*out = c->store != NULL;
		return STATUS_OK;
	}
	if (call_need_store(c, err) == STATUS_OK)
		return STATUS_OK;
	*out = false;
	return err->status == STATUS_NOT_FOUND ? STATUS_OK : err_failed(err->status);
}

static enum status find_custom(struct call *c, const struct template_of *of, struct str name,
			       struct arena *mem, struct template_found *out, struct err *err)
{
	struct template_key key = { of->plugin, of->method, name };
	struct template_row row;
	bool any;

	if (template_store(c, &any, err))
		return err_failed(err->status);
	if (!any)
		return err_fail(err, STATUS_NOT_FOUND, "no such template");
	if (template_get(c->store, &key, mem, &row, err))
		return err_failed(err->status);
	*out = (struct template_found){ TEMPLATE_CUSTOM, row.key.name, row.body };
	return STATUS_OK;
}

enum status template_exact(struct call *c, const struct template_of *of, struct str name, struct arena *mem,
			   struct template_found *out, struct err *err)
{
	struct str text;

	if (find_custom(c, of, name, mem, out, err) == STATUS_OK)
		return STATUS_OK;
	if (err->status != STATUS_NOT_FOUND || !find_shipped(of, name, &text))
		return err_failed(err->status);
	*out = (struct template_found){ TEMPLATE_SHIPPED, arena_str(mem, name), text };
	return STATUS_OK;
}

enum status template_find(struct call *c, const struct template_of *of, struct str name, struct arena *mem,
			  struct template_found *out, struct err *err)
{
	if (template_exact(c, of, name, mem, out, err) == STATUS_OK)
		return STATUS_OK;
	if (err->status == STATUS_NOT_FOUND && !str_eq(name, TEMPLATE_DEFAULT) &&
	    template_exact(c, of, TEMPLATE_DEFAULT, mem, out, err) == STATUS_OK)
		return STATUS_OK;
	if (err->status != STATUS_NOT_FOUND)
		return err_failed(err->status);
	*out = (struct template_found){ .origin = TEMPLATE_GENERIC };
	return STATUS_OK;
}
