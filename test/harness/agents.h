/*
 * Agents for tests: a driver, and a client that does what its prompt says (test/harness/claude.py).
 */
#ifndef ARBOR_TEST_AGENTS_H
#define ARBOR_TEST_AGENTS_H

#include "base/file.h"
#include "base/json.h"
#include "live/driver.h"
#include "live/prompt.h"
#include "store/event.h"
#include "store/inbox.h"
#include "streams.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
	char folder[1000], client[LIMIT_PATH];
	struct store *s;
	struct arena mem;
	struct run run;
	struct stream stream;
	struct event_page p;
	int64_t expire_ms; /* of questions */
	bool loopback;
};

static inline void world_release(struct world *w)
{
	store_close(w->s);
	arena_release(&w->mem);
}

#define WORLD struct world CLEANUP(world_release) w = { .s = NULL }

static inline const char *get_env(void *ctx, const char *name)
{
	(void)ctx;
	if (strcmp(name, "ANTHROPIC_API_KEY") == 0)
		return "key-of-the-test";
	return getenv(name);
}

static const struct environment env = { .get = get_env };

/* A store, a session in a folder of its own, and a prompt that is submitted. */
static inline enum status submit(struct world *w, const char *session, const char *prompt, bool ephemeral,
				 struct err *err)
{
	struct buf content CLEANUP(buf_release) = BUF_INIT(MIB), text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct run_new what = { .lease = test_lease(1),
				.first = test_event("start", "{}"),
				.ephemeral = ephemeral };
	struct named named;
	struct uuid uuid;
	bool again;

	if (named_find(w->s, str_of(session), &w->mem, &named, err) || uuid_random(&uuid, err))
		return err_failed(err->status);
	buf_printf(&content, "\"%s\"", prompt);
	prompt_write(&text, &(struct prompt){ .content = buf_as_str(&content), .uuid = uuid });
	what.session = named.row;
	what.prompt = buf_as_str(&text);
	return run_submit(w->s, &what, &w->mem, &w->run, &again, err);
}

static inline enum status begin(struct t *t, struct world *w, const char *prompt, struct err *err)
{
	struct named_new session = { .name = STR("one"), .agent = STR("claude") };
	char path[LIMIT_PATH];
	struct uuid id;

	snprintf(w->folder, sizeof w->folder, "%.900s", t_tmpdir(t));
	snprintf(path, sizeof path, "%s/a.db", w->folder);
	if (!realpath("test/harness/claude.py", w->client))
		return err_fail(err, STATUS_NOT_FOUND, "no client");
	session.settings.working_dir = str_of(w->folder);
	session.settings.mcp_config = STR("{\"mcpServers\":{}}");
	session.settings.loopback = w->loopback;
	if (store_open(&(struct store_options){ .path = path, .create = true }, &w->s, err) ||
	    named_create(w->s, &session, &id, err))
		return err_failed(err->status);
	return submit(w, "one", prompt, false, err);
}

static inline enum status drive_it(struct world *w, struct err *err)
{
	struct drive_ask ask = { .env = &env, .program = str_of(w->client), .expire_ms = w->expire_ms };

	return drive(w->s, &w->run.stream, &ask, err);
}

static inline enum status read_all(struct world *w, struct err *err)
{
	struct event_ask ask = { .limit = 100000, .bytes = 256 * MIB };

	w->stream.id = w->run.stream;
	return event_page(w->s, &w->stream, &ask, &w->mem, &w->p, err);
}

static inline enum status run_prompt(struct t *t, struct world *w, const char *prompt, struct err *err)
{
	if (begin(t, w, prompt, err) || drive_it(w, err))
		return err_failed(err->status);
	return read_all(w, err);
}

static inline int count(const struct world *w, const char *type, const char *part)
{
	int n = 0;

	for (size_t i = 0; i < w->p.count; i++)
		n += str_eq(w->p.events[i].type, str_of(type)) &&
		     memmem(w->p.events[i].data.p, w->p.events[i].data.n, part, strlen(part)) != NULL;
	return n;
}

static inline struct str last_type(const struct world *w)
{
	return w->p.events[w->p.count - 1].type;
}

static inline bool seen(struct t *t, const struct world *w, const char *file, const char *text)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	char path[LIMIT_PATH];
	struct err err;

	snprintf(path, sizeof path, "%s/%s", w->folder, file);
	if (file_read_all(path, &all, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return false;
	}
	return memmem(all.p, all.n, text, strlen(text)) != NULL;
}

/* Another process that drives. */
static inline pid_t drive_beside(struct world *w)
{
	pid_t pid = fork();

	if (pid == 0) {
		char path[LIMIT_PATH];
		struct drive_ask ask = { .env = &env,
					 .program = str_of(w->client),
					 .expire_ms = w->expire_ms,
					 .alone = true };
		struct store *s = NULL;
		struct err err;

		snprintf(path, sizeof path, "%s/a.db", w->folder);
		if (store_open(&(struct store_options){ .path = path }, &s, &err) ||
		    drive(s, &w->run.stream, &ask, &err))
			fprintf(stderr, "# driver: %s\n", err.text);
		store_close(s);
		_exit(0);
	}
	return pid;
}

/* Until the stream has an event of a type, or is over. */
static inline bool wait_for(struct world *w, const char *type)
{
	struct err err;
	bool changed;

	for (int i = 0; i < 3000; i++) {
		if (read_all(w, &err))
			return false;
		if (count(w, type, "") || stream_is_over(w->stream.state))
			return count(w, type, "") > 0;
		if (store_wait(w->s, 20, &changed, &err))
			return false;
	}
	return false;
}

static inline enum status command(struct world *w, const char *verb, const char *data, struct err *err)
{
	struct uuid id;

	return inbox_add(w->s, w->run.row, str_of(verb), str_of(data), &id, err);
}

static inline int64_t client_pid(const struct world *w)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json j CLEANUP(json_release) = JSON_INIT;
	char path[LIMIT_PATH];
	int64_t pid = -1;
	struct err err;

	snprintf(path, sizeof path, "%s/seen.json", w->folder);
	if (!file_read_all(path, &all, &err) && !json_read(&j, buf_as_str(&all), 0, &err))
		json_to_i64(&j, json_get(&j, 0, STR("pid")), &pid);
	return pid;
}

#endif
