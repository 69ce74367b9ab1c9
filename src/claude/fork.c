/*
 * What the client needs (found out by trying): in every line a uuid, the parent, a time and a message; in an
 * answer the model, without which it hangs, and blocks instead of a text. Files end with a line feed.
 * Whatever else a line says stays, in its order, signatures of thoughts above all.
 *
 * The members of a line are gone through in their order, and what is to be another is written instead. Where
 * a member stands twice, both are: the last one counts for some readers, the first for others.
 */
#include "claude/fork.h"

#include "base/json_write.h"

#include <string.h>

static const char a_time[] = "\"1970-01-01T00:00:00.000Z\"";
static const char a_model[] = "\"unknown\"";

enum { MARKED = 4 }; /* bytes */

void fork_mark(struct uuid *id)
{
	struct uuid rest = *id;

	memset(rest.b + UUID_BYTES - MARKED, 0, MARKED);
	rest = uuid_v5(&rest, STR("arbor fork"));
	memcpy(id->b + UUID_BYTES - MARKED, rest.b + UUID_BYTES - MARKED, MARKED);
}

bool fork_is_marked(const struct uuid *id)
{
	struct uuid marked = *id;

	fork_mark(&marked);
	return uuid_eq(&marked, id);
}

void fork_lines_release(struct fork_lines *f)
{
	buf_release(&f->parent);
	buf_release(&f->time);
	buf_release(&f->model);
}

static void put_string(struct buf *out, struct str text)
{
	struct json_writer w;

	json_write_init(&w, out, 0);
	json_write_string(&w, text);
}

static void put_session(struct buf *out, const struct uuid *session)
{
	char id[UUID_TEXT + 1];

	uuid_print(session, id);
	buf_printf(out, "\"%s\"", id);
}

static void put_or(struct buf *out, const struct buf *known, const char *otherwise)
{
	if (known->n)
		buf_str(out, buf_as_str(known));
	else
		buf_text(out, otherwise);
}

static void remember(struct buf *what, struct str raw)
{
	buf_clear(what);
	buf_str(what, raw);
}

/* ---- Members -------------------------------------------------------------------- */

/* A line on its way: what stands before `at` is written. */
struct rewriting {
	struct fork_lines *f;
	const struct json *j;
	struct buf *out;
	size_t at;
};

static size_t start_of(const struct rewriting *w, uint32_t node)
{
	return w->j->tape[node].start;
}

static void copy_until(struct rewriting *w, size_t end)
{
	buf_str(w->out, str_sub(w->j->text, w->at, end - w->at));
	w->at = end;
}

/* The value is left out; its place is where to write. */
static void skip_value(struct rewriting *w, uint32_t node)
{
	copy_until(w, start_of(w, node));
	w->at += w->j->tape[node].length;
}

/* Behind the brace of an object whose members, if any, follow. */
static void open_object(struct rewriting *w, uint32_t node)
{
	copy_until(w, start_of(w, node) + 1);
}

static void put_key(struct rewriting *w, const char *key)
{
	buf_printf(w->out, "\"%s\":", key);
}

static void put_comma(struct rewriting *w, uint32_t object)
{
	if (json_count(w->j, object))
		buf_byte(w->out, ',');
}

static void put_parent(struct rewriting *w)
{
	put_or(w->out, &w->f->parent, "null");
}

static bool is_member(const struct json *j, uint32_t key, const char *name)
{
	return json_string_eq(j, key, str_of(name));
}

/* ---- Answers -------------------------------------------------------------------- */

static void wrap_text(struct rewriting *w, uint32_t text)
{
	struct str raw = json_raw(w->j, text);

	skip_value(w, text);
	buf_text(w->out, "[{\"type\":\"text\",\"text\":");
	buf_str(w->out, raw);
	buf_text(w->out, "}]");
}

static void rewrite_answer(struct rewriting *w, uint32_t message)
{
	const struct json *j = w->j;
	uint32_t model = json_get(j, message, STR("model"));

	if (json_is(j, model, JSON_STRING)) {
		remember(&w->f->model, json_raw(j, model));
	} else if (model == JSON_NONE) {
		open_object(w, message);
		put_key(w, "model");
		put_or(w->out, &w->f->model, a_model);
		put_comma(w, message);
	}
	for (uint32_t k = json_first(j, message); k != json_end(j, message); k = json_next(j, k + 1))
		if (is_member(j, k, "content") && json_is(j, k + 1, JSON_STRING)) {
			wrap_text(w, k + 1);
		} else if (is_member(j, k, "model") && !json_is(j, k + 1, JSON_STRING)) {
			skip_value(w, k + 1);
			put_or(w->out, &w->f->model, a_model);
		}
}

/* ---- Lines ---------------------------------------------------------------------- */

/* What is missing comes first. */
static void put_missing(struct rewriting *w)
{
	const struct json *j = w->j;
	struct buf first CLEANUP(buf_release) = BUF_INIT(4 * MIB);
	struct buf *line = w->out;

	open_object(w, 0);
	w->out = &first;
	if (json_get(j, 0, STR("parentUuid")) == JSON_NONE) {
		put_key(w, "parentUuid");
		put_parent(w);
		buf_byte(&first, ',');
	}
	if (json_get(j, 0, STR("sessionId")) == JSON_NONE) {
		put_key(w, "sessionId");
		put_session(&first, &w->f->session);
		buf_byte(&first, ',');
	}
	if (w->f->cwd.p && json_get(j, 0, STR("cwd")) == JSON_NONE) {
		put_key(w, "cwd");
		put_string(&first, w->f->cwd);
		buf_byte(&first, ',');
	}
	if (json_get(j, 0, STR("timestamp")) == JSON_NONE) {
		put_key(w, "timestamp");
		put_or(&first, &w->f->time, a_time);
		buf_byte(&first, ',');
	}
	w->out = line;
	buf_str(line, buf_as_str(&first));
}

static void rewrite_member(struct rewriting *w, const struct record *rec, uint32_t key)
{
	const struct json *j = w->j;
	uint32_t value = key + 1;

	if (is_member(j, key, "parentUuid")) {
		skip_value(w, value);
		put_parent(w);
	} else if (is_member(j, key, "sessionId")) {
		skip_value(w, value);
		put_session(w->out, &w->f->session);
	} else if (w->f->cwd.p && is_member(j, key, "cwd")) {
		skip_value(w, value);
		put_string(w->out, w->f->cwd);
	} else if (is_member(j, key, "isSidechain") && json_is(j, value, JSON_TRUE)) {
		skip_value(w, value);
		buf_text(w->out, "false");
	} else if (rec->type == RECORD_ASSISTANT && is_member(j, key, "message") && json_is(j, value, JSON_OBJECT)) {
		rewrite_answer(w, value);
	}
}

void fork_line(struct fork_lines *f, const struct record_reader *r, const struct record *rec, struct buf *out)
{
	const struct json *j = &r->json;
	struct rewriting w = { .f = f, .j = j, .out = out };
	uint32_t time = json_get(j, 0, STR("timestamp"));

	put_missing(&w);
	for (uint32_t k = json_first(j, 0); k != json_end(j, 0); k = json_next(j, k + 1))
		rewrite_member(&w, rec, k);
	copy_until(&w, start_of(&w, 0) + j->tape[0].length);
	buf_byte(out, '\n');
	remember(&f->parent, json_raw(j, json_get(j, 0, STR("uuid"))));
	if (time != JSON_NONE)
		remember(&f->time, json_raw(j, time));
}

/* ---- Lines of our own ------------------------------------------------------------ */

void fork_title(const struct fork_lines *f, struct str title, struct buf *out)
{
	buf_text(out, "{\"type\":\"custom-title\",\"customTitle\":");
	put_string(out, title);
	buf_text(out, ",\"sessionId\":");
	put_session(out, &f->session);
	buf_text(out, "}\n");
}

void fork_leaf(const struct uuid *session, struct str uuid, struct buf *out)
{
	buf_text(out, "{\"type\":\"last-prompt\",\"leafUuid\":");
	buf_str(out, uuid);
	buf_text(out, ",\"explicit\":true,\"sessionId\":");
	put_session(out, session);
	buf_text(out, "}\n");
}
