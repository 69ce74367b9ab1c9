/*
 * What trees know of handles: that there are two forms, PLUGIN@VERSION::METHOD:META... and a JSON object. Taking them
 * apart and resolving them is not here.
 */
#include "hub/arbor_handle.h"

#include <string.h>

handle_resolve_fn *const handle_resolve = NULL;

static bool has_front(struct str handle)
{
	size_t at = str_find(handle, '@');
	struct str rest = at == SIZE_MAX ? (struct str){ 0 } : str_sub(handle, at + 1, SIZE_MAX);
	size_t colon = str_find(rest, ':');

	return at != SIZE_MAX && at > 0 && colon != SIZE_MAX && colon > 0 &&
	       str_has_prefix(str_sub(rest, colon, SIZE_MAX), STR("::")) && rest.n > colon + 2;
}

enum status handle_check(struct str handle, struct uuid *plugin, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;

	*plugin = (struct uuid){ 0 };
	if (str_has_prefix(handle, STR("{"))) {
		if (json_read(&j, handle, LIMIT_METADATA_DEPTH, err))
			return err_pass(err, "handle");
		return STATUS_OK;
	}
	if (has_front(handle))
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE,
			"handle: '%.*s' is none; write PLUGIN@VERSION::METHOD:META... or the same as a JSON object",
			(int)size_min(handle.n, 60), handle.p ? handle.p : "");
}
