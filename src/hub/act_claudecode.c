/*
 * claudecode.*: what Claude Code has written, as handles.
 */
#include "hub/activations.h"

#include "hub/handle_resolve.h"
#include "hub/resolve.h"

static const struct meta_field session_meta[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the session" },
	{ .name = "source",
	  .type = VALUE_ID,
	  .flags = META_OPTIONAL,
	  .help = "of its file, where several have this id" },
	{ 0 },
};

static const struct field session_data[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the session" },
	{ 0 },
};

static enum status resolve_a_session(struct resolving *r, struct err *err)
{
	struct session session;

	if (resolve_session(r->call->store, handle_meta(r->handle, 0), r->mem, &session, err))
		return err_failed(err->status);
	put_uuid(r->w, "id", &session.id);
	return STATUS_OK;
}

static const struct handle_kind kinds[] = {
	{ .method = "session",
	  .summary = "a conversation",
	  .kind = CONTENT_DOCUMENT,
	  .meta = session_meta,
	  .fields = session_data,
	  .need = NEED_STORE,
	  .resolve = resolve_a_session },
	{ 0 },
};

static const struct method *const methods[] = { NULL };

const struct activation activation_claudecode = {
	.name = "claudecode",
	.version = "1.0.0",
	.summary = "Conversations with Claude Code",
	.methods = methods,
	.handles = kinds,
};
