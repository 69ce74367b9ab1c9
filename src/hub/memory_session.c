/*
 * The fields of a session, in one place for all methods that give one.
 */
#include "hub/memory_session.h"

#include "store/mirror.h"

const struct field session_fields[] = {
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY,
	  .help = "of the session, as the client knows it" },
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "time of its last line" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = FIELD_SHORT,
	  .help = "folder it worked in; empty when no line says" },
	{ .name = "messages", .type = VALUE_INT, .title = "msgs", .help = "of either side" },
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_STRETCH, .help = "what it is about" },
	{ .name = "started",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "time of its first line" },
	{ .name = "prompts", .type = VALUE_INT, .flags = FIELD_HIDDEN, .help = "typed by a person" },
	{ .name = "tools", .type = VALUE_INT, .flags = FIELD_HIDDEN, .help = "calls of tools" },
	{ .name = "branch",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of git, at its last line" },
	{ .name = "bytes", .type = VALUE_BYTES, .flags = FIELD_HIDDEN, .help = "of its file" },
	{ .name = "root", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "label of the mirrored folder" },
	{ .name = "path",
	  .type = VALUE_PATH,
	  .flags = FIELD_HIDDEN,
	  .help = "its file, below the mirrored folder" },
	{ .name = "alive",
	  .type = VALUE_BOOL,
	  .flags = FIELD_HIDDEN,
	  .help = "whether a client has it open just now" },
	{ .name = "pid",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of that client" },
	{ 0 },
};

void put_session(struct json_writer *w, const struct session *s)
{
	put_uuid(w, "id", &s->id);
	if (s->updated_at)
		put_time(w, "updated", s->updated_at);
	put_path(w, "project", s->project);
	put_int(w, "messages", s->messages);
	put_text(w, "title", s->title);
	if (s->started_at)
		put_time(w, "started", s->started_at);
	put_int(w, "prompts", s->prompts);
	put_int(w, "tools", s->tools);
	if (s->branch.n)
		put_text(w, "branch", s->branch);
	put_int(w, "bytes", s->read_to);
	put_text(w, "root", s->root);
	put_path(w, "path", s->path);
}

void put_alive(struct json_writer *w, const struct live *live)
{
	put_bool(w, "alive", live != NULL);
	if (live)
		put_int(w, "pid", live->pid);
}

void warn_unread(struct call *c)
{
	struct err ignored;
	bool any;

	if (unread_any(c->store, &any, &ignored) == STATUS_OK && any)
		log_warn(c->log, "some files are not in the index yet; 'arbor sync' completes it");
}
