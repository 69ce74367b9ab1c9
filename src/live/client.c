/*
 * Words, variables and lines for Claude Code (reference: what `claude -p` takes with --input-format
 * stream-json).
 *
 * The client gets what every child gets (live/command.c) and what it needs to reach its model: the variables
 * below, by their names. Nothing else of our environment.
 */
#include "live/client.h"

#include "base/json_write.h"

#include <inttypes.h>
#include <sys/stat.h>

static const char *const own_variables[] = {
	"ANTHROPIC_API_KEY",
	"ANTHROPIC_AUTH_TOKEN",
	"ANTHROPIC_BASE_URL",
	"ANTHROPIC_CUSTOM_HEADERS",
	"ANTHROPIC_MODEL",
	"ANTHROPIC_SMALL_FAST_MODEL",
	"CLAUDE_CONFIG_DIR",
	"CLAUDE_CODE_OAUTH_TOKEN",
	"CLAUDE_CODE_USE_BEDROCK",
	"CLAUDE_CODE_USE_VERTEX",
	"CLAUDE_CODE_MAX_OUTPUT_TOKENS",
	"CLAUDE_CODE_MAX_RETRIES",
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
	"AWS_REGION",
	"AWS_PROFILE",
	"CLOUD_ML_REGION",
	"ANTHROPIC_VERTEX_PROJECT_ID",
	"DISABLE_AUTOUPDATER",
	"DISABLE_TELEMETRY",
	"HTTP_PROXY",
	"HTTPS_PROXY",
	"NO_PROXY",
	"http_proxy",
	"https_proxy",
	"no_proxy",
	"NODE_EXTRA_CA_CERTS",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
};

/* Where installers put it without telling PATH. */
static const char *const usual_places[] = {
	"~/.local/bin/claude", "~/.claude/local/claude", "~/.npm-global/bin/claude", "~/.npm/bin/claude",
	"~/.bun/bin/claude",   "/usr/local/bin/claude",	 "/opt/homebrew/bin/claude",
};

enum status client_find(const struct environment *env, struct str program, struct arena *mem, const char **out,
			struct err *err)
{
	struct err ignored;

	if (program.p)
		return command_find(env, program, mem, out, err);
	if (!command_find(env, STR("claude"), mem, out, &ignored))
		return STATUS_OK;
	for (size_t i = 0; i < COUNT(usual_places); i++)
		if (!command_find(env, str_of(usual_places[i]), mem, out, &ignored))
			return STATUS_OK;
	return err_fail(err, STATUS_NOT_FOUND,
			"'claude' is neither in PATH nor where it is usually installed; the setting 'claude' "
			"can say where it is");
}

/* ---- Words ------------------------------------------------------------------- */

enum { MOST_WORDS = 64 };

struct words {
	struct arena *mem;
	const char **list;
	size_t count;
};

static void add(struct words *w, const char *word)
{
	if (w->count == MOST_WORDS)
		bug("too many words for a client");
	w->list[w->count++] = word;
}

static void add_value(struct words *w, const char *option, struct str value)
{
	if (!value.p)
		return;
	add(w, option);
	add(w, arena_cstr(w->mem, value));
}

static void join_names(struct buf *names, struct str list)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err ignored;

	if (!list.p || json_read(&j, list, LIMIT_JSON_DEPTH, &ignored))
		return;
	for (uint32_t i = json_first(&j, 0); i != json_end(&j, 0); i = json_next(&j, i)) {
		if (names->n)
			buf_byte(names, ',');
		json_string(&j, i, names);
	}
}

/* Names in JSON arrays, as one word with commas. */
static void add_tools(struct words *w, const char *option, struct str list, struct str more)
{
	struct buf names CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	join_names(&names, list);
	join_names(&names, more);
	if (names.n)
		add_value(w, option, buf_as_str(&names));
}

static void add_resume(struct words *w, const struct named_head *head, bool begins)
{
	char id[UUID_TEXT + 1];

	uuid_print(&head->session, id);
	if (head->has_session)
		add_value(w, begins ? "--session-id" : "--resume", str_of(id));
}

static const char *const *words_for(const struct client_ask *ask, struct arena *mem)
{
	static const char *const always[] = { "claude",
					      "-p",
					      "--input-format",
					      "stream-json",
					      "--output-format",
					      "stream-json",
					      "--verbose",
					      "--include-partial-messages",
					      "--replay-user-messages",
					      "--session-mirror" };
	const struct named_settings *n = &ask->session->settings;
	struct words w = { mem, arena_alloc(mem, (MOST_WORDS + 1) * sizeof(char *)), 0 };

	for (size_t i = 0; i < COUNT(always); i++)
		add(&w, always[i]);
	add_resume(&w, &ask->session->head, ask->begins);
	add_value(&w, "--model", n->model);
	if (ask->system_file)
		add_value(&w, "--system-prompt-file", str_of(ask->system_file));
	add_value(&w, "--permission-mode", n->permission_mode);
	add_tools(&w, "--allowedTools", n->allowed_tools, ask->prompt.allowed_tools);
	add_tools(&w, "--disallowedTools", n->disallowed_tools, (struct str){ 0 });
	if (ask->prompt.max_turns)
		add_value(&w, "--max-turns", arena_printf(mem, "%" PRId64, ask->prompt.max_turns));
	if (n->loopback)
		add_value(&w, "--permission-prompt-tool", STR("stdio"));
	if (ask->mcp_file)
		add_value(&w, "--mcp-config", str_of(ask->mcp_file));
	if (ask->ephemeral)
		add(&w, "--no-session-persistence");
	return w.list;
}

/* Not what is secret: a person's own settings say that. */
const char *const *client_words_for_person(const struct named *session, bool begins, struct arena *mem)
{
	const struct named_settings *n = &session->settings;
	struct words w = { mem, arena_alloc(mem, (MOST_WORDS + 1) * sizeof(char *)), 0 };

	add(&w, "claude");
	add_resume(&w, &session->head, begins);
	add_value(&w, "--model", n->model);
	add_value(&w, "--permission-mode", n->permission_mode);
	add_tools(&w, "--allowedTools", n->allowed_tools, (struct str){ 0 });
	add_tools(&w, "--disallowedTools", n->disallowed_tools, (struct str){ 0 });
	return w.list;
}

static enum status check_folder(const char *folder, struct err *err)
{
	struct stat st;

	if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode))
		return STATUS_OK;
	return err_fail(err, STATUS_NOT_FOUND, "%s: the folder of this session is gone", folder);
}

enum status client_prepare(const struct client_ask *ask, struct arena *mem, struct guard_start *out,
			   struct err *err)
{
	struct variable own[COUNT(own_variables)];
	const char *path;

	*out = (struct guard_start){ .folder = arena_cstr(mem, ask->session->settings.working_dir),
				     .only_there = true };
	if (check_folder(out->folder, err) || client_find(ask->env, ask->program, mem, &path, err))
		return err_failed(err->status);
	for (size_t i = 0; i < COUNT(own_variables); i++)
		own[i] = (struct variable){ .name = str_of(own_variables[i]) };
	out->path = path;
	out->arguments = words_for(ask, mem);
	out->environment = environment_for_child(ask->env, own, COUNT(own), mem);
	return STATUS_OK;
}

/* ---- Lines ------------------------------------------------------------------- */

static void put(struct json_writer *w, const char *key, const char *value)
{
	json_write_key(w, str_of(key));
	json_write_string(w, str_of(value));
}

static void put_raw(struct json_writer *w, const char *key, struct str value)
{
	json_write_key(w, str_of(key));
	json_write_raw(w, value);
}

void client_put_prompt(struct buf *out, struct str content, const struct uuid *uuid)
{
	char id[UUID_TEXT + 1];
	struct json_writer w;

	uuid_print(uuid, id);
	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	put(&w, "type", "user");
	json_write_key(&w, STR("message"));
	json_write_object_begin(&w);
	put(&w, "role", "user");
	put_raw(&w, "content", content);
	json_write_object_end(&w);
	put_raw(&w, "parent_tool_use_id", STR("null"));
	put(&w, "session_id", "");
	put(&w, "uuid", id);
	json_write_object_end(&w);
	buf_byte(out, '\n');
}

void client_put_request(struct buf *out, const char *id, const char *subtype, const char *key,
			struct str value)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_object_begin(&w);
	put(&w, "type", "control_request");
	put(&w, "request_id", id);
	json_write_key(&w, STR("request"));
	json_write_object_begin(&w);
	put(&w, "subtype", subtype);
	if (value.p)
		put_raw(&w, key, value);
	json_write_object_end(&w);
	json_write_object_end(&w);
	buf_byte(out, '\n');
}

static void response_begin(struct json_writer *w, struct buf *out, const char *subtype, struct str id)
{
	json_write_init(w, out, 0);
	json_write_object_begin(w);
	put(w, "type", "control_response");
	json_write_key(w, STR("response"));
	json_write_object_begin(w);
	put(w, "subtype", subtype);
	put_raw(w, "request_id", id);
}

static void response_end(struct json_writer *w, struct buf *out)
{
	json_write_object_end(w);
	json_write_object_end(w);
	buf_byte(out, '\n');
}

void client_put_answer(struct buf *out, struct str id, struct str answer)
{
	struct json_writer w;

	response_begin(&w, out, "success", id);
	put_raw(&w, "response", answer);
	response_end(&w, out);
}

void client_put_refusal(struct buf *out, struct str id, const char *why)
{
	struct json_writer w;

	response_begin(&w, out, "error", id);
	put(&w, "error", why);
	response_end(&w, out);
}
