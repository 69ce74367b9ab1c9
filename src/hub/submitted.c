/*
 * Nothing here runs an agent: a prompt is written into the store, and a process of its own is started that
 * goes on without us (claudecode.drive). Until that has taken the run it is ours, and nobody else can tell
 * that a driver which ended at once will never come: so whoever submits waits for it.
 *
 * Files that go with a prompt are blocks in front of its text, in the order in which they were given: images
 * and PDFs as base64, as the API wants them, and texts as a text with the file's name above.
 */
#include "hub/submitted.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "hub/hub.h"
#include "hub/where.h"
#include "live/command.h"
#include "live/detach.h"
#include "live/lease.h"
#include "live/prompt.h"
#include "store/session.h"

#include <string.h>
#include <sys/stat.h>

/* ---- What it says ---------------------------------------------------------------- */

/* By what their bytes begin with: a name may lie, and the API looks. */
static const struct {
	const char *type;
	size_t at, length;
	const char *bytes;
} kinds[] = {
	{ "image/png", 0, 8, "\x89PNG\r\n\x1a\n" },
	{ "image/jpeg", 0, 3, "\xff\xd8\xff" },
	{ "image/gif", 0, 6, "GIF87a" },
	{ "image/gif", 0, 6, "GIF89a" },
	{ "image/webp", 8, 4, "WEBP" },
	{ "application/pdf", 0, 5, "%PDF-" },
};

/* NULL: none of these. */
static const char *kind_of(struct str bytes)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (bytes.n >= kinds[i].at + kinds[i].length &&
		    memcmp(bytes.p + kinds[i].at, kinds[i].bytes, kinds[i].length) == 0)
			return kinds[i].type;
	return NULL;
}

static void put_source(struct json_writer *w, const char *type, struct str bytes)
{
	struct buf data CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_ATTACHMENT);

	base64_encode(&data, bytes);
	json_write_object_begin(w);
	put_text(w, "type", str_eq(str_of(type), STR("application/pdf")) ? STR("document") : STR("image"));
	json_write_key(w, STR("source"));
	json_write_object_begin(w);
	put_text(w, "type", STR("base64"));
	put_text(w, "media_type", str_of(type));
	put_text(w, "data", buf_as_str(&data));
	json_write_object_end(w);
	json_write_object_end(w);
}

static void put_text_block(struct json_writer *w, struct str text)
{
	json_write_object_begin(w);
	put_text(w, "type", STR("text"));
	put_text(w, "text", text);
	json_write_object_end(w);
}

static enum status put_file(struct call *c, struct json_writer *w, struct str name, struct err *err)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_ATTACHMENT);
	struct str path = call_real_path(c, name);
	struct stat st;
	const char *type;

	if (!path.p || stat(arena_cstr(&c->mem, path), &st) || !S_ISREG(st.st_mode))
		return err_fail(err, STATUS_NOT_FOUND, "there is no file '%.*s'", (int)size_min(name.n, 200),
				name.p);
	if (file_read_all(arena_cstr(&c->mem, path), &bytes, err))
		return err->status == STATUS_LIMIT
			       ? err_fail(err, STATUS_USAGE,
					  "%.*s: a file that goes with a prompt has at most %d MB",
					  STR_ARG(name), (int)(LIMIT_ATTACHMENT / MIB))
			       : err_failed(err->status);
	type = kind_of(buf_as_str(&bytes));
	if (type) {
		put_source(w, type, buf_as_str(&bytes));
	} else if (utf8_valid(buf_as_str(&bytes)) && !str_has_byte(buf_as_str(&bytes), '\0')) {
		put_text_block(w, arena_printf(&c->mem, "%.*s:\n\n%.*s", STR_ARG(name),
					       STR_ARG(buf_as_str(&bytes))));
	} else {
		return err_fail(err, STATUS_USAGE,
				"%.*s is neither text nor an image (PNG, JPEG, GIF, WebP) nor a PDF",
				(int)size_min(name.n, 200), name.p);
	}
	return STATUS_OK;
}

enum status prompt_content(struct call *c, struct str text, const struct value *files, struct buf *out,
			   struct err *err)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	if (!files->count) {
		json_write_string(&w, text);
		return json_write_done(&w, err);
	}
	if (files->count > LIMIT_ATTACHMENTS)
		return err_fail(err, STATUS_USAGE, "at most %d files go with a prompt", LIMIT_ATTACHMENTS);
	json_write_array_begin(&w);
	for (size_t i = 0; i < files->count; i++)
		if (put_file(c, &w, files->list[i], err))
			return err_failed(err->status);
	put_text_block(&w, text);
	json_write_array_end(&w);
	return json_write_done(&w, err) ? err_pass(err, "all files together") : STATUS_OK;
}

/* ---- Submitting --------------------------------------------------------------- */

static struct uuid node_of(const struct uuid *line, int part)
{
	struct node_name name = { 0 };

	uuid_print(line, name.room);
	name.uuid = str_of(name.room);
	return node_id(&name, part);
}

/* Its first event: whose turn begins. */
static struct str start_data(struct call *c, const struct submitting *what)
{
	struct buf data CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json_writer w;

	json_write_init(&w, &data, 0);
	json_write_object_begin(&w);
	put_uuid(&w, "id", &what->session.id);
	put_text(&w, "name", what->session.name);
	if (what->ephemeral)
		put_bool(&w, "ephemeral", true);
	if (what->continues)
		put_uuid(&w, "continues", what->continues);
	json_write_object_end(&w);
	return arena_str(&c->mem, buf_as_str(&data));
}

static enum status submit(struct call *c, const struct submitting *s, struct run *run, bool *again,
			  struct err *err)
{
	struct buf prompt CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct run_new what = { .session = s->session.row,
				.client_id = s->client_id,
				.ephemeral = s->ephemeral,
				.continues = s->continues };
	bool is_command = str_has_prefix(s->content, STR("\"/"));
	struct uuid line, root;

	if (uuid_random(&line, err) || lease_look_after_all(c->store, err) ||
	    lease_own(c->store, &c->mem, &what.lease, err))
		return err_failed(err->status);
	prompt_write(&prompt, &(struct prompt){ s->content, line, s->max_turns, s->allowed_tools });
	root = node_of(&line, PART_MESSAGE);
	what.prompt = buf_as_str(&prompt);
	/* A command of the client's becomes lines that are no prompt. */
	what.root = is_command ? NULL : &root;
	what.first = (struct event_new){ .type = STR("start"),
					 .has_node = !is_command,
					 .node = node_of(&line, PART_TURN),
					 .data = start_data(c, s),
					 .at = store_now(c->store) };
	return run_submit(c->store, &what, &c->mem, run, again, err);
}

/* Says in the stream of a run that nobody will drive it, and why. */
static enum status close_run(struct call *c, struct run *run, const struct err *why, struct err *err)
{
	struct buf data CLEANUP(buf_release) = BUF_INIT(MIB);
	struct stream_end end = { .error = str_of(why->text), .cost_micro = -1 };
	struct event_new last = { .type = STR("error"), .at = store_now(c->store) };
	struct json_writer w;

	json_write_init(&w, &data, 0);
	json_write_object_begin(&w);
	put_text(&w, "message", end.error);
	json_write_object_end(&w);
	last.data = buf_as_str(&data);
	return stream_write(c->store, &run->writer,
			    &(struct stream_change){ &last, 1, STREAM_FAILED, &end, true }, err);
}

static void close_untaken(struct call *c, struct run *run, const struct err *why)
{
	struct err other;

	if (close_run(c, run, why, &other))
		log_warn(c->log, "%s", other.text);
}

static enum status start_driver(struct call *c, struct submitted *m, struct err *err)
{
	struct environment env;
	const char *program = c->who->program;
	char stream[UUID_TEXT + 1];

	uuid_print(&m->run.stream, stream);
	where_environment(c->settings, &env);
	if (!program && command_find(&env, STR("arbor"), &c->mem, &program, err))
		return err_pass(err, "agents are driven by the program");
	return detach_start(program,
			    (const char *[]){ "arbor", "call", "claudecode.drive", stream, "--alone",
					      "--store", store_path(c->store), "--quiet", NULL },
			    &m->driver, err);
}

/* ---- Waiting for the driver ------------------------------------------------------ */

enum { START_S = 10, LOOK_MS = 50 };

static void forget_driver(struct call *c)
{
	struct submitted *m = c->state;

	detached_release(&m->driver);
	c->leave = NULL;
}

enum status submit_and_start(struct call *c, const struct submitting *what, struct submitted **out,
			     struct err *err)
{
	struct submitted *m = arena_alloc(&c->mem, sizeof *m);

	m->driver = (struct detached)DETACHED_INIT;
	if (submit(c, what, &m->run, &m->again, err))
		return err_failed(err->status);
	if (!m->again && start_driver(c, m, err)) {
		close_untaken(c, &m->run, err);
		return err_failed(err->status);
	}
	m->until_ns = clock_monotonic_ns() + (int64_t)START_S * 1000000000;
	c->state = *out = m;
	c->leave = forget_driver;
	return STATUS_OK;
}

static enum status not_taken(struct call *c, struct submitted *m, struct err *err)
{
	const struct str front = STR("arbor: call: claudecode.drive: ");
	struct buf words CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct str said;

	detached_last_words(&m->driver, &words);
	said = buf_as_str(&words);
	if (str_has_prefix(said, front))
		said = str_sub(said, front.n, SIZE_MAX);
	err_set(err, STATUS_UNREACHABLE, "the program that drives agents %s%s%.*s",
		detached_is_gone(&m->driver) ? "ended at once" : "was started, and does not answer",
		said.n ? ": " : "", STR_ARG(said));
	close_untaken(c, &m->run, err);
	return err_failed(err->status);
}

/* The stream is looked at after the driver: one that is gone by now has done before what it had to. */
enum status submit_wait(struct call *c, struct submitted *m, struct err *err)
{
	struct stream *stream = &m->tail.stream;
	bool late = m->again || detached_is_gone(&m->driver) || clock_monotonic_ns() >= m->until_ns;
	enum status status = stream_get(c->store, &m->run.stream, &c->mem, stream, err);

	m->taken = m->again || stream_is_over(stream->state) ||
		   stream->incarnation != m->run.writer.incarnation;
	if (!status && !m->taken && !late)
		return call_wait(c, LOOK_MS);
	if (!status && !m->taken)
		status = not_taken(c, m, err);
	forget_driver(c);
	return status;
}

/* That it was submitted is known before a driver has it: who is cut off then has heard which stream it is. */
enum status submit_follow(struct call *c, struct submitted *m, struct err *err)
{
	enum status status = m->taken ? STATUS_OK : submit_wait(c, m, err), seen;

	if (status && status != STATUS_WAIT)
		return status;
	seen = streamed_follow(c, &m->tail, status == STATUS_OK, err);
	return seen ? seen : status;
}
