/*
 * loopback.*: may this tool run? Agents ask, people, programs and rules answer.
 *
 * Asking and answering are different scopes, and whoever may ask cannot answer: an agent that reaches its
 * permission tool has no way to say yes to itself.
 */
#include "hub/activations.h"

#include "hub/asked.h"
#include "hub/loopback_methods.h"

static const struct meta_field approval_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the question" },
	{ .name = "tool", .type = VALUE_TEXT, .flags = META_OPTIONAL, .help = "which one it is about" },
	{ 0 },
};

static const struct handle_kind kinds[] = {
	{ .method = "approval",
	  .summary = "a question whether a tool may run, and its answer",
	  .kind = CONTENT_DOCUMENT,
	  .meta = approval_meta,
	  .fields = asked_fields,
	  .need = NEED_STORE,
	  .resolve = asked_resolve },
	{ 0 },
};

static const struct method *const methods[] = {
	&loopback_permit,   &loopback_pending,	   &loopback_wait,
	&loopback_respond,  &loopback_configure,   &loopback_rules,
	&loopback_rule_add, &loopback_rule_delete, NULL,
};

const struct activation activation_loopback = {
	.name = "loopback",
	.version = "1.0.0",
	.summary = "Approvals: may this tool run?",
	.methods = methods,
	.handles = kinds,
};
