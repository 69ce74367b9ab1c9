/*
 * Names of what is in method.h, as schemas, help and errors print them.
 */
#include "hub/method.h"

#include "base/handle.h"

#include <stdio.h>
#include <string.h>

const char *value_type_name(enum value_type type)
{
	static const char *const names[VALUE_TYPES] = {
		[VALUE_TEXT] = "text",	   [VALUE_INT] = "number",  [VALUE_BOOL] = "switch",
		[VALUE_ENUM] = "choice",   [VALUE_BYTES] = "bytes", [VALUE_TIME] = "time",
		[VALUE_ID] = "id",	   [VALUE_PATH] = "path",   [VALUE_JSON] = "json",
		[VALUE_OBJECT] = "object", [VALUE_HANDLE] = "handle",
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
		[SCOPE_LOCAL] = "local",
	};

	return names[scope];
}

const char *const content_kind_names[CONTENT_KINDS + 1] = {
	[CONTENT_MESSAGE] = "message",
	[CONTENT_OUTPUT] = "output",
	[CONTENT_DOCUMENT] = "document",
	[CONTENT_BINARY] = "binary",
};

const char *content_kind_name(enum content_kind kind)
{
	return content_kind_names[kind];
}

int method_version(const struct method *m)
{
	return m->version ? m->version : 1;
}

/* The name with '_' replaced, in capitals when it stands for a value. */
static void print_name(const char *name, bool capitals, char *out, size_t room)
{
	size_t n = 0;

	for (; name[n] && n + 1 < room; n++) {
		char c = name[n] == '_' ? '-' : name[n];

		out[n] = (char)(capitals && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
	}
	out[n] = '\0';
}

const char *param_typed(const struct param *p, char out[PARAM_TYPED])
{
	if (p->flags & PARAM_WORD)
		return param_shown(p, out);
	memcpy(out, "--", 2);
	print_name(p->name, false, out + 2, PARAM_TYPED - 2);
	return out;
}

static const char *join_choices(const char *const *choices, char out[PARAM_TYPED])
{
	size_t n = 0;

	out[0] = '\0';
	for (; *choices && n < PARAM_TYPED; choices++)
		n += (size_t)snprintf(out + n, PARAM_TYPED - n, "%s%s", n ? "|" : "", *choices);
	return out;
}

const char *param_shown(const struct param *p, char out[PARAM_TYPED])
{
	if (p->shown)
		snprintf(out, PARAM_TYPED, "%s", p->shown);
	else if (p->type == VALUE_ENUM)
		join_choices(p->choices, out);
	else if (p->flags & PARAM_WORD)
		print_name(p->name, true, out, PARAM_TYPED);
	else if (p->type == VALUE_INT || p->type == VALUE_BYTES)
		snprintf(out, PARAM_TYPED, "N");
	else
		print_name(value_type_name(p->type), true, out, PARAM_TYPED);
	return out;
}

const struct field *field_key(const struct field *fields)
{
	for (const struct field *f = fields; f && f->name; f++)
		if (f->flags & FIELD_KEY)
			return f;
	return NULL;
}

struct uuid activation_id(const struct activation *a)
{
	return plugin_id_of(str_of(a->name), str_of(a->version));
}
