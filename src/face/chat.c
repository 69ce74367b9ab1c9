/*
 * 'arbor chat', 'continue' and 'attach': a method that is followed, and a person who may break in.
 *
 * The agent is another process and goes on without us. So Ctrl-C ends only our following it: the first one
 * has the agent's turn interrupted, and we follow on from where we were, to its end; the second one leaves. A
 * prompt for a session that is not there makes it, in the folder one is in. Without a prompt, at a terminal,
 * lines are prompts until there are no more, or Ctrl-C comes twice. Who is told to end (SIGTERM) only leaves.
 *
 * With --json all of this is left out: events, and Ctrl-C leaves.
 */
#include "face/chat.h"

#include "base/json_write.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

bool chat_is_due(const struct face *f, const char *activation, const struct method *m)
{
	static const char *const names[] = { "chat", "continue", "tail" };

	(void)f;
	for (size_t i = 0; activation && strcmp(activation, "claudecode") == 0 && i < COUNT(names); i++)
		if (strcmp(m->name, names[i]) == 0)
			return true;
	return false;
}

/* ---- Other methods --------------------------------------------------------------- */

struct result {
	struct arena *mem; /* NULL = it is not wanted */
	struct str last;
};

static enum status keep_result(void *ctx, struct str json, struct err *err)
{
	struct result *r = ctx;

	(void)err;
	if (r->mem)
		r->last = arena_str(r->mem, json);
	return STATUS_OK;
}

enum status chat_call(struct face *f, const char *method, struct str params, struct arena *mem,
		      struct str *out, struct err *err)
{
	struct result r = { .mem = mem };
	struct hub_caller who = {
		.sink = { .item = keep_result, .ctx = &r },
		.log = &f->log,
		.scopes = ~0u,
		.person = !getenv("CLAUDECODE"),
		.settings = f->settings,
		.open_store = face_open_store,
		.ctx = f,
		.program = "/proc/self/exe",
	};
	enum status status = hub_call(f->hub, str_of(method), params, &who, err);

	if (out)
		*out = r.last;
	return status;
}

/* An object with texts: name, value, name, value, NULL. */
static struct str object_of(struct face *f, const char *name, struct str value, const char *other,
			    struct str second)
{
	struct buf json CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json_writer w;

	json_write_init(&w, &json, 0);
	json_write_object_begin(&w);
	json_write_key(&w, str_of(name));
	json_write_string(&w, value);
	if (other) {
		json_write_key(&w, str_of(other));
		json_write_string(&w, second);
	}
	json_write_object_end(&w);
	return arena_str(&f->mem, buf_as_str(&json));
}

/* ---- The session ------------------------------------------------------------------ */

static struct str text_param(const struct params *p, const char *name)
{
	const struct param *q = params_find(p, str_of(name));

	return q ? params_value(p, q)->text : (struct str){ 0 };
}

/* Elsewhere the beginning of a name will do. Here it may as well be the whole name of one that is to be made. */
static enum status check_name(struct face *f, struct str given, struct str found, struct err *err)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str name, id;

	if (json_read(&j, found, 0, err))
		return err_failed(err->status);
	name = json_string_in(&j, json_get(&j, 0, STR("name")), &f->mem);
	id = json_string_in(&j, json_get(&j, 0, STR("id")), &f->mem);
	if (str_eq(given, name) || str_has_prefix(id, given))
		return STATUS_OK;
	return err_fail(err, STATUS_NOT_FOUND,
			"no session is called '%.*s': the whole name of '%.*s', or 'arbor new %.*s' first",
			STR_ARG(given), STR_ARG(name), STR_ARG(given));
}

/* One that nobody has made yet is made here and now. */
static enum status find_or_make(struct face *f, const struct params *p, struct err *err)
{
	struct str name = text_param(p, "session"), found;
	char folder[LIMIT_PATH];
	enum status status = chat_call(f, "claudecode.get", object_of(f, "session", name, NULL, name), &f->mem,
				       &found, err);

	if (status == STATUS_OK)
		return check_name(f, name, found, err);
	if (status != STATUS_NOT_FOUND)
		return status;
	if (!getcwd(folder, sizeof folder))
		return err_fail(err, STATUS_NOT_FOUND, "the folder you are in is gone");
	if (chat_call(f, "claudecode.create", object_of(f, "name", name, "working_dir", str_of(folder)), NULL,
		      NULL, err))
		return err_failed(err->status);
	if (!f->out.quiet)
		say_foreign(&f->out, "a new session in this folder: ", name);
	return STATUS_OK;
}

/* Before anything is made for it. */
static enum status check_prompt(const struct chat *c, const struct params *p, struct err *err)
{
	struct str prompt = text_param(p, "prompt");

	return str_trim(prompt).n || (!prompt.p && c->asks) ? STATUS_OK
							    : err_fail(err, STATUS_USAGE, "PROMPT is missing");
}

/* ---- Following --------------------------------------------------------------------- */

static enum status follow(struct face *f, struct chat *c, struct err *err)
{
	const struct activation *a;
	const struct method *m;
	struct params p = { .settings = f->settings };

	if (hub_find(f->hub, STR("claudecode.tail"), &a, &m, err))
		return err_failed(err->status);
	params_begin(&p, m, &f->mem);
	if (params_set_text(&p, params_find(&p, STR("stream")), c->name, err) ||
	    (c->cursor[0] && params_set_text(&p, params_find(&p, STR("after")), str_of(c->cursor), err)) ||
	    params_end(&p, err))
		return err_failed(err->status);
	return face_run(f, a->name, m, &p, err);
}

static void say_how_to_return(struct face *f, const struct chat *c)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

	buf_printf(&text, "'arbor attach %.*s' follows it, 'arbor stop %.*s' ends it", STR_ARG(c->name),
		   STR_ARG(c->name));
	out_flush(&f->out);
	say_foreign(&f->out, c->stopping ? "it goes on until its turn has ended: " : "it goes on: ",
		    buf_as_str(&text));
	f->left = true;
}

/* The turn is to end; what is said until then is still shown. */
static enum status interrupt(struct face *f, struct chat *c, struct err *err)
{
	struct err why;

	face_forget_interrupt();
	c->stopping = true;
	out_flush(&f->out);
	say(&f->out, "stopping this turn; Ctrl-C once more leaves without waiting for it\n");
	if (chat_call(f, "claudecode.interrupt", object_of(f, "stream", c->name, NULL, c->name), NULL, NULL,
		      &why) &&
	    why.status != STATUS_CONFLICT)
		say_error(&f->out, &why);
	return follow(f, c, err);
}

/* What a program hears of how it went. */
static enum status outcome(struct face *f, const struct chat *c, struct err *err)
{
	if (!c->ended.p || str_eq(c->ended, STR("complete")))
		return STATUS_OK;
	f->left = true; /* it was said */
	return err_fail(err, STATUS_PARTIAL, "it is not complete");
}

static enum status run_once(struct face *f, struct chat *c, const char *activation, const struct method *m,
			    struct params *p, struct err *err)
{
	enum status status = face_run(f, activation, m, p, err);

	if (status == STATUS_CANCELLED && c->name.p && !c->ended.p && m->scope == SCOPE_DRIVE &&
	    !face_is_to_end())
		status = interrupt(f, c, err);
	if (status == STATUS_CANCELLED && c->name.p)
		say_how_to_return(f, c);
	return status ? status : outcome(f, c, err);
}

/* ---- Prompts, line by line ----------------------------------------------------------- */

/* Until a line can be read; false: Ctrl-C. */
static bool wait_for_line(const struct face *f)
{
	enum { LOOK_MS = 200 };
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	while (!atomic_load(f->cancel))
		if (poll(&in, 1, LOOK_MS) > 0)
			return true;
	return false;
}

static enum status leave(struct face *f, struct err *err)
{
	fputc('\n', stderr);
	f->left = true;
	return err_fail(err, STATUS_CANCELLED, "left");
}

/* The terminal has thrown away what was typed. */
static void begin_line_anew(struct face *f)
{
	face_forget_interrupt();
	fputc('\n', stderr);
	say(&f->out, "Ctrl-C once more leaves, and so does Ctrl-D\n");
}

static enum status talk(struct face *f, struct chat *c, const char *activation, const struct method *m,
			struct params *p, struct err *err)
{
	const struct param *prompt = params_find(p, STR("prompt"));
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	enum status status = STATUS_OK;
	bool warned = false;

	for (;;) {
		out_flush(&f->out);
		fputs("> ", stderr);
		if (!wait_for_line(f) && (warned || face_is_to_end())) {
			free(line);
			return leave(f, err);
		}
		warned = atomic_load(f->cancel);
		if (warned) {
			begin_line_anew(f);
			continue;
		}
		n = getline(&line, &room, stdin);
		if (n <= 0)
			break;
		if (!str_trim(str_from(line, (size_t)n)).n)
			continue;
		params_unset(p, prompt);
		*c = (struct chat){ .asks = c->asks, .given = true };
		f->left = false;
		status = params_set_text(p, prompt, str_trim(str_from(line, (size_t)n)), err);
		if (!status)
			status = run_once(f, c, activation, m, p, err);
		if (status && status != STATUS_PARTIAL)
			break;
	}
	free(line);
	if (n <= 0)
		fputc('\n', stderr);
	return n <= 0 && status == STATUS_PARTIAL ? STATUS_OK : status;
}

/* Ctrl-C is not to leave a '^C' among what an agent says. */
static void quiet_keys(struct termios *before)
{
	struct termios now;

	if (tcgetattr(STDIN_FILENO, before))
		return;
	now = *before;
	now.c_lflag &= ~(tcflag_t)ECHOCTL;
	tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

static enum status talk_or_run(struct face *f, struct chat *c, const char *activation, const struct method *m,
			       struct params *p, struct err *err)
{
	bool is_chat = strcmp(m->name, "chat") == 0;
	struct termios before = { 0 };
	enum status status;

	if (c->asks)
		quiet_keys(&before);
	status = is_chat && !text_param(p, "prompt").p && c->asks ? talk(f, c, activation, m, p, err)
								  : run_once(f, c, activation, m, p, err);
	if (before.c_lflag)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	return status;
}

enum status chat_run(struct face *f, const char *activation, const struct method *m, struct params *p,
		     struct err *err)
{
	bool is_chat = strcmp(m->name, "chat") == 0;
	struct chat c = { .given = m->scope == SCOPE_DRIVE };
	enum status status;

	c.asks = !f->json && f->out.terminal && isatty(STDIN_FILENO) && !getenv("CLAUDECODE");
	if (is_chat && (check_prompt(&c, p, err) || find_or_make(f, p, err)))
		return err_failed(err->status);
	if (f->json) {
		f->chat = &c;
		status = face_run(f, activation, m, p, err);
		f->chat = NULL;
		return status ? status : outcome(f, &c, err);
	}
	f->out.may_page = false;
	f->chat = &c;
	face_take_interrupts();
	status = talk_or_run(f, &c, activation, m, p, err);
	f->chat = NULL;
	return status;
}
