/*
 * hub.render: what a handle stands for, as text.
 */
#include "hub/hub_resolve.h"

#include "hub/render.h"

static const struct param render_params[] = {
	{ .name = "handle",
	  .type = VALUE_HANDLE,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .help = "a handle in any form, or an id" },
	{ .name = "template",
	  .type = VALUE_TEXT,
	  .letter = 't',
	  .initial = "default",
	  .shown = "NAME",
	  .help = "name of the template: default, compact, markdown, or one that was set" },
	WINDOW_PARAMS,
	{ 0 },
};

static const struct field render_fields[] = {
	{ .name = "handle", .type = VALUE_HANDLE, .flags = FIELD_KEY, .help = "it, with its plugin by name" },
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = content_kind_names,
	  .help = "what it stands for: something said, what a program did, a text, bytes" },
	{ .name = "by", .type = VALUE_TEXT, .help = "path of the hub that answered; empty = this one" },
	RENDERED_FIELDS,
	{ 0 },
};

static enum status run_render(struct call *c, struct err *err)
{
	struct renderer r CLEANUP(renderer_release) = RENDERER_INIT(c);
	struct resolution x CLEANUP(resolution_release) = RESOLUTION_INIT;
	struct buf text CLEANUP(buf_release) = BUF_INIT(LIMIT_RENDERED);
	struct str name = call_text(c, "template");
	struct json_writer *w;
	struct rendered how;

	if (resolve_window(c, call_text(c, "handle"), &x, err) ||
	    render_resolution(&r, &x, name, &text, &how, err))
		return err_failed(err->status);
	if (!str_eq(how.name, name) && !str_eq(name, TEMPLATE_DEFAULT))
		call_note(c, "%.*s::%.*s has no template '%.*s': this is %s; 'arbor templates' lists all",
			  STR_ARG(x.plugin), STR_ARG(x.method), (int)size_min(name.n, 60), name.p,
			  how.name.n ? "'default'" : "what it is made of");
	w = call_begin(c);
	put_text(w, "handle", x.handle);
	put_text(w, "kind", str_of(content_kind_name(x.kind)));
	put_text(w, "by", x.by);
	put_rendered(w, buf_as_str(&text), &how);
	return call_emit(c, err);
}

const struct method hub_render_method = {
	.name = "render",
	.verb = "render",
	.group = "programs",
	.summary = "Print what a handle stands for, as text",
	.text = "Resolves the handle and renders what it stands for by a template: the one of this name that "
		"somebody set, "
		"else the one that came with the program, else 'default'; what has no template at all is "
		"printed as names and values.\n\n"
		"'arbor templates' lists templates. 'arbor resolve' shows what they are made from.\n\n" HANDLE_TEXT,
	.params = render_params,
	.kind = RESULT_ONE,
	.fields = render_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "render @", "the last session" },
					      { "render @ --template compact", "on one line" },
					      { 0 } },
	.run = run_render,
};
