/*
 * The fields of a session, in one place for all methods that give one.
 */
#include "hub/memory_session.h"

#include "hub/attached.h"
#include "hub/handle_node.h"
#include "query/hidden.h"
#include "store/gap.h"
#include "store/mirror.h"
#include "store/tombstone.h"

const struct field pull_fields[] = {
	{ .name = "number", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "of the pull request" },
	{ .name = "url", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "where it is" },
	{ .name = "repository", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "OWNER/NAME" },
	{ 0 },
};

const struct field session_fields[] = {
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY,
	  .help = "of the session, as the client knows it" },
	HANDLE_FIELD(""),
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
	{ .name = "tags",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "tags on the session itself" },
	{ .name = "bookmarks",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "names it was given, to be typed as @NAME" },
	{ .name = "noted",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "notes on it and on parts of it" },
	{ .name = "notes",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .fields = attached_notes,
	  .help = "those on the session itself" },
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
	{ .name = "git_branches",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "all it was on, in the order they came up" },
	{ .name = "cwds",
	  .type = VALUE_PATH,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "all folders it worked in, so too; 'project' is the first" },
	{ .name = "prs",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .fields = pull_fields,
	  .help = "pull requests it has led to" },
	{ .name = "plans",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what its plans are called, if it made any" },
	{ .name = "tag", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL | FIELD_HIDDEN, .help = "that somebody gave it" },
	{ .name = "mode",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of the client, as it noted last" },
	{ .name = "permission_mode",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what tools may do without being asked for, at its last line that says so" },
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

/* Lists are begun with their first value. */
struct putting {
	struct json_writer *w;
	enum session_value open; /* 0 = none */
};

static enum status put_value(void *ctx, enum session_value kind, struct str value, struct err *err)
{
	static const char *const names[SESSION_VALUES] = {
		[SESSION_FOLDER] = "cwds", [SESSION_BRANCH] = "git_branches", [SESSION_PULL] = "prs",
		[SESSION_PLAN] = "plans"
	};
	struct putting *p = ctx;

	(void)err;
	if (p->open != kind) {
		if (p->open)
			json_write_array_end(p->w);
		json_write_key(p->w, str_of(names[kind]));
		json_write_array_begin(p->w);
		p->open = kind;
	}
	if (kind == SESSION_PULL)
		json_write_raw(p->w, value);
	else
		json_write_string(p->w, value);
	return STATUS_OK;
}

static enum status put_values(struct call *c, struct json_writer *w, const struct session *s, struct err *err)
{
	struct putting p = { .w = w };

	if (session_values(c->store, s->row, put_value, &p, err))
		return err_failed(err->status);
	if (p.open)
		json_write_array_end(p.w);
	return STATUS_OK;
}

static void put_if(struct json_writer *w, const char *name, struct str text)
{
	if (text.n)
		put_text(w, name, text);
}

enum status put_session(struct call *c, struct json_writer *w, const struct session *s, struct err *err)
{
	struct node_handle handle;

	put_uuid(w, "id", &s->id);
	if (s->agent.n)
		handle = handle_of_agent(s->agent, &s->id);
	else if (handle_of_session(c->store, s, &handle, err))
		return err_failed(err->status);
	put_handle(w, &handle);
	put_if(w, "agent", s->agent);
	if (s->updated_at)
		put_time(w, "updated", s->updated_at);
	put_path(w, "project", s->project);
	put_int(w, "messages", s->messages);
	put_text(w, "title", s->title);
	if (s->started_at)
		put_time(w, "started", s->started_at);
	put_int(w, "prompts", s->prompts);
	put_int(w, "tools", s->tools);
	put_if(w, "branch", s->branch);
	put_if(w, "tag", s->tag);
	put_if(w, "mode", s->mode);
	put_if(w, "permission_mode", s->permission);
	put_int(w, "bytes", s->read_to);
	put_text(w, "root", s->root);
	put_path(w, "path", s->path);
	return put_values(c, w, s, err);
}

void put_alive(struct json_writer *w, const struct live *live)
{
	put_bool(w, "alive", live != NULL);
	if (live)
		put_int(w, "pid", live->pid);
}

static enum status count_gap(void *ctx, const struct gap *g, struct err *err)
{
	(void)g;
	(void)err;
	++*(int64_t *)ctx;
	return STATUS_OK;
}

enum status note_state(struct call *c, const struct session *s, struct err *err)
{
	struct hidden hidden CLEANUP(hidden_release) = HIDDEN_INIT;
	int64_t mark, gaps = 0;

	if (hidden_load(c->store, &hidden, err) || purge_mark(c->store, &mark, err) ||
	    (mark && gap_each(c->store, s->generation, 0, s->read_to, count_gap, &gaps, err)))
		return err_failed(err->status);
	if (hidden_has(&hidden, s->row))
		call_note(c, "this conversation is archived; 'arbor.tree_rescue' makes it active again");
	if (gaps)
		call_note(c, "%" PRId64 " gap%s in this conversation: something was purged there", gaps,
			  gaps == 1 ? "" : "s");
	return STATUS_OK;
}

void warn_unread(struct call *c)
{
	struct err ignored;
	bool any;

	if (unread_any(c->store, &any, &ignored) == STATUS_OK && any)
		log_warn(c->log, "some files are not in the index yet; 'arbor sync' completes it");
}
