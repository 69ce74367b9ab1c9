/*
 * Checking what a caller gave against what a method takes: in one place for all
 * faces, with errors that name the parameter and say what would be right.
 */
#ifndef ARBOR_HUB_PARAMS_H
#define ARBOR_HUB_PARAMS_H

#include "base/json.h"
#include "hub/call.h"

struct params {
	const struct method *method;
	struct value *values; /* in the arena */
	struct arena *mem;
	const struct settings *settings; /* give what is left out; may be NULL */
	bool typed; /* by a person: errors say "--limit" and not "limit" */
};

/* Starts with everything left out. */
void params_begin(struct params *p, const struct method *m, struct arena *mem);

/* The parameter of this name, '-' taken as '_'; NULL when there is none. */
const struct param *params_find(const struct params *p, struct str name);

/* Sets one from text, as on a command line. A list grows by one. */
enum status params_set_text(struct params *p, const struct param *param, struct str text,
			    struct err *err) MUST_USE;

/* Sets all from a JSON object. Unknown names are refused with the nearest one. */
enum status params_set_json(struct params *p, struct str json, struct err *err) MUST_USE;

/* Fills in initial values and finds what is missing. */
enum status params_end(struct params *p, struct err *err) MUST_USE;

/* One value alone, for whoever keeps values without a call (settings.c): checked,
 * `given` left as it is, texts in `mem`. Errors do not name the parameter. */
enum status param_from_text(const struct param *param, struct str text, struct arena *mem, struct value *v,
			    struct err *err) MUST_USE;
enum status param_from_json(const struct param *param, const struct json *j, uint32_t node, struct arena *mem,
			    struct value *v, struct err *err) MUST_USE;

/* What was given, as an object: what params_set_json() would take. */
enum status params_to_json(const struct params *p, struct buf *out, struct err *err) MUST_USE;

/* Forgets a value, so that it can be set again. */
void params_unset(struct params *p, const struct param *param);

/* Whether a value was given, and which. */
const struct value *params_value(const struct params *p, const struct param *param);

/* STATUS_USAGE for a name the method does not have. */
enum status params_unknown(const struct params *p, struct str name, struct err *err);

#endif
