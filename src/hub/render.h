/*
 * Values as text, by templates (hub/templates.h).
 *
 * A renderer keeps the templates it has compiled: whoever renders a thousand nodes uses one.
 * It belongs to a call. What it prints is foreign text; faces make it harmless.
 */
#ifndef ARBOR_HUB_RENDER_H
#define ARBOR_HUB_RENDER_H

#include "base/map.h"
#include "base/mustache.h"
#include "hub/templates.h"

struct resolution;

struct renderer {
	struct call *call;
	struct arena mem;
	struct map templates;	 /* by what they are for and their name */
	struct compiled *newest; /* all of them, to be freed */
	struct buf key;		 /* room for what is looked up */
};

#define RENDERER_INIT(c) { .call = (c), .key = BUF_INIT(LIMIT_RENDERED) }
void renderer_release(struct renderer *r);

/* Which template it was. Texts live as long as the renderer. */
struct rendered {
	struct str name; /* empty when generic */
	enum template_origin origin;
};

/* Appends a value of a kind as the template of this name, or what stands in for it, prints it. What
 * `compact` prints is on one line, white space as single blanks. */
enum status render_value(struct renderer *r, const struct template_of *of, struct str name, const struct json *j,
			 uint32_t node, struct buf *out, struct rendered *how, struct err *err) MUST_USE;

/* The same by a template that is given, not kept anywhere; `of` says which others it can call. */
enum status render_with(struct renderer *r, const struct template_of *of, struct str template,
			const struct json *j, uint32_t node, struct buf *out, struct err *err) MUST_USE;

/* What a handle resolved to. */
enum status render_resolution(struct renderer *r, const struct resolution *x, struct str name, struct buf *out,
			      struct rendered *how, struct err *err) MUST_USE;

/* The same by `compact`, about so many bytes, with '…' behind them when there is more. */
enum status render_line(struct renderer *r, const struct resolution *x, size_t most, struct buf *out,
			struct err *err) MUST_USE;

/* The same for a handle that is still to be resolved. *found is false, and nothing appended, when that
 * cannot be: it is none, what it stands for is not here, gone or out of reach, its template is broken. */
enum status render_handle(struct renderer *r, struct str handle, size_t most, struct buf *out, bool *found,
			  struct err *err) MUST_USE;

/* Whether there is a template that another can call by this name. */
enum status render_has_partial(struct renderer *r, const struct template_of *of, struct str name, bool *out,
			       struct err *err) MUST_USE;

/* What was rendered, as members of the object being written, and how methods declare them. */
void put_rendered(struct json_writer *w, struct str text, const struct rendered *how);

#define RENDERED_FIELDS \
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what it says, as text" }, \
	{ .name = "template", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, \
	  .help = "name of the template that was used, if it has one" }, \
	{ .name = "origin", .type = VALUE_ENUM, .choices = template_origins, \
	  .help = "custom: somebody set it; shipped with the program; generic: there is none; given with the call" }

#endif
