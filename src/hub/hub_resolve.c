/*
 * hub.resolve, hub.resolve_many: what handles stand for.
 *
 * Of many, each is answered by itself: one that cannot be resolved says why, and the
 * others go on.
 */
#include "hub/hub_resolve.h"

#include "hub/handle_node.h"
#include "hub/handle_resolve.h"

enum status resolve_window(struct call *c, struct str text, struct resolution *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct handle handle;

	if (handle_from_text(c, text, &mem, &handle, err))
		return err_failed(err->status);
	return hub_resolve(c, &(struct resolve_ask){ &handle, call_int(c, "from"), call_int(c, "limit") }, out, err);
}

/* ---- hub.resolve ------------------------------------------------------------------ */

static const struct param resolve_params[] = {
	{ .name = "handle",
	  .type = VALUE_HANDLE,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .help = "a handle in any form, or an id" },
	WINDOW_PARAMS,
	{ 0 },
};

static const struct field resolve_fields[] = { RESOLUTION_FIELDS(0), { 0 } };

static enum status run_resolve(struct call *c, struct err *err)
{
	struct resolution r CLEANUP(resolution_release) = RESOLUTION_INIT;

	if (resolve_window(c, call_text(c, "handle"), &r, err))
		return err_failed(err->status);
	put_resolution(call_begin(c), &r);
	return call_emit(c, err);
}

const struct method hub_resolve_method = {
	.name = "resolve",
	.verb = "resolve",
	.group = "programs",
	.summary = "Show what a handle stands for",
	.text = HANDLE_TEXT
	"\nThis program is asked first, then the hubs it knows; a path in front of the handle, as in "
	"team.ann.claudecode@1.0.0::…, asks that hub alone. The result says who answered.\n",
	.params = resolve_params,
	.kind = RESULT_ONE,
	.fields = resolve_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "resolve @ --json", "the last session" }, { 0 } },
	.run = run_resolve,
};

/* ---- hub.resolve_many --------------------------------------------------------------- */

static const struct param many_params[] = {
	{ .name = "handles",
	  .type = VALUE_HANDLE,
	  .flags = PARAM_REQUIRED | PARAM_WORD | PARAM_REST,
	  .shown = "HANDLE",
	  .help = "handles in any form, or ids" },
	WINDOW_PARAMS,
	{ 0 },
};

static const struct field error_fields[] = {
	{ .name = "status", .type = VALUE_TEXT, .help = "stable: not_found, gone, format, ambiguous, unreachable …" },
	{ .name = "text", .type = VALUE_TEXT, .help = "what is wrong, and what to do" },
	{ 0 },
};

static const struct field many_fields[] = {
	{ .name = "asked", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "as it was given" },
	RESOLUTION_FIELDS(FIELD_OPTIONAL),
	{ .name = "error",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .fields = error_fields,
	  .help = "why this one could not be resolved; then the rest is missing" },
	{ 0 },
};

static void put_error(struct json_writer *w, const struct err *why)
{
	json_write_key(w, STR("error"));
	json_write_object_begin(w);
	put_text(w, "status", str_of(status_info(why->status)->name));
	put_text(w, "text", str_of(why->text));
	json_write_object_end(w);
}

static enum status emit_one(struct call *c, struct str text, size_t *failed, struct err *err)
{
	struct resolution r CLEANUP(resolution_release) = RESOLUTION_INIT;
	struct json_writer *w;
	struct err why;
	bool found;

	if (call_is_cancelled(c))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	found = resolve_window(c, text, &r, &why) == STATUS_OK;
	if (!found && why.status == STATUS_CANCELLED) {
		*err = why;
		return err_failed(err->status);
	}
	w = call_begin(c);
	put_text(w, "asked", text);
	if (found)
		put_resolution(w, &r);
	else
		put_error(w, &why);
	*failed += !found;
	return call_emit(c, err);
}

static enum status run_many(struct call *c, struct err *err)
{
	const struct value *handles = call_value(c, "handles");
	size_t failed = 0;

	if (handles->count > LIMIT_RESOLVE_MANY)
		return err_fail(err, STATUS_LIMIT, "%zu handles are too many; ask for %d at a time", handles->count,
				LIMIT_RESOLVE_MANY);
	for (size_t i = 0; i < handles->count; i++)
		if (emit_one(c, handles->list[i], &failed, err))
			return err_failed(err->status);
	if (failed)
		return err_fail(err, STATUS_PARTIAL, "%zu of %zu could not be resolved; 'error' of each says why",
				failed, handles->count);
	return STATUS_OK;
}

const struct method hub_resolve_many = {
	.name = "resolve_many",
	.summary = "Show what several handles stand for",
	.text = HANDLE_TEXT "\nOne result for each, in their order. One that cannot be resolved has 'error' in place "
			    "of the rest, and the others go on; the call then ends with the status 'partial'.\n",
	.params = many_params,
	.kind = RESULT_STREAM,
	.fields = many_fields,
	.scope = SCOPE_READ,
	.need = NEED_NOTHING,
	.examples = (const struct example[]){ { "call hub.resolve_many --json @ @~1",
						"the last two sessions" },
					      { 0 } },
	.run = run_many,
};
