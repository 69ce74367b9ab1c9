/*
 * Mustache: templates without logic, over JSON.
 *
 *     {{name}} {{a.b}} {{.}}     a value, with & " < > as HTML has them
 *     {{{name}}} {{&name}}       the same as it is
 *     {{#name}} ... {{/name}}    for each item of a list; once when it is something
 *     {{^name}} ... {{/name}}    when it is nothing
 *     {{>name}}                  another template
 *     {{! ... }}  {{=<% %>=}}    a comment; other delimiters
 *
 * This is the core of the specification (github.com/mustache/spec), whole. Its
 * optional modules are not here: lambdas have no place in data, and inheritance
 * and dynamic names are refused by name, so that nobody wonders.
 *
 * Where the specification leaves a choice: null, false, "" and [] are nothing, while 0
 * and {} are something. Numbers are printed as they stand in the JSON, lists and
 * objects as their JSON. Indentation of a partial leaves empty lines empty.
 *
 * A template is compiled once and rendered any number of times. It can look at
 * nothing but the value it is given and the templates it is handed. Neither step uses
 * recursion; size, nesting, time and output are bounded, whatever is in the template
 * and in the data.
 */
#ifndef ARBOR_BASE_MUSTACHE_H
#define ARBOR_BASE_MUSTACHE_H

#include "base/json.h"

enum mustache_kind {
	MUSTACHE_TEXT,
	MUSTACHE_LINE,	       /* a line of the template begins here: where indentation goes */
	MUSTACHE_ESCAPED,      /* {{name}} */
	MUSTACHE_RAW,	       /* {{{name}}} */
	MUSTACHE_SECTION,      /* {{#name}} */
	MUSTACHE_INVERTED,     /* {{^name}} */
	MUSTACHE_END,	       /* {{/name}} */
	MUSTACHE_PARTIAL,      /* {{>name}} in a line */
	MUSTACHE_LONE_PARTIAL, /* the same alone on its line, whose blanks indent all of it */
};

struct mustache_op {
	enum mustache_kind kind;
	uint32_t at;	 /* where in the template: the text, or the tag */
	uint32_t name;	 /* where the tag's name begins */
	uint32_t length; /* of the text or of the name */
	uint32_t other;	 /* section: its end; end: its section; lone partial: blanks in front of it */
};

struct mustache {
	struct str text;	 /* the template; borrowed */
	struct mustache_op *ops; /* owned */
	uint32_t count, cap;
};

#define MUSTACHE_INIT { 0 }

/*
 * The text has to live as long as the result. STATUS_FORMAT when it is no template: the
 * error begins with line and column, "3:5: ...". STATUS_LIMIT likewise when it is too
 * long or nested too deep.
 */
enum status mustache_compile(struct mustache *m, struct str text, struct err *err) MUST_USE;
void mustache_release(struct mustache *m); /* may be used again afterwards */

/* Of a tag. */
struct str mustache_name(const struct mustache *m, const struct mustache_op *op);

/* Finds other templates, by the name that `from` calls them. *out stays NULL when there is
 * none, which is no error: nothing is printed for it. What is found has to live until
 * rendering ends. */
struct mustache_partials {
	enum status (*find)(void *ctx, const struct mustache *from, struct str name, const struct mustache **out,
			    struct err *err);
	void *ctx;
};

/*
 * Appends to `out`, whose maximum bounds the output. `partials` may be NULL.
 * STATUS_LIMIT when the output does not fit, when templates are nested too deep (one
 * that contains itself), or when it takes too long; what was printed so far stays.
 */
enum status mustache_render(const struct mustache *m, const struct json *data, uint32_t node,
			    const struct mustache_partials *partials, struct buf *out, struct err *err) MUST_USE;

#endif
