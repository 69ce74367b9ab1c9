/*
 * Names of the enums in method.h, as schemas and help print them.
 */
#include "hub/method.h"

const char *value_type_name(enum value_type type)
{
	static const char *const names[VALUE_TYPES] = {
		[VALUE_TEXT] = "text",	   [VALUE_INT] = "number",  [VALUE_BOOL] = "switch",
		[VALUE_ENUM] = "choice",   [VALUE_BYTES] = "bytes", [VALUE_TIME] = "time",
		[VALUE_ID] = "id",	   [VALUE_PATH] = "path",   [VALUE_JSON] = "json",
		[VALUE_OBJECT] = "object",
	};

	return names[type];
}

const char *scope_name(enum scope scope)
{
	static const char *const names[SCOPES] = {
		[SCOPE_READ] = "read",
		[SCOPE_WRITE] = "write",
		[SCOPE_DRIVE] = "drive",
		[SCOPE_APPROVE] = "approve",
	};

	return names[scope];
}
