/*
 * Changes of files, from the results that the client keeps beside what the model is sent
 * (toolUseResult), from attachments, and where there is none of that from the calls.
 *
 * A result is an object with a shape of its own for each tool; a list or a text (all errors
 * are texts) tells of no file. Fields may be missing: the older the client, the fewer. What
 * is absent is unknown, never empty.
 *
 * The client's own patch (structuredPatch) has blanks where the file has tabs, so nothing is
 * rebuilt from it. But it counts lines, and that tells whether an edit was understood.
 */
#include "claude/change.h"

#include "base/clock.h"
#include "base/diff.h"

#include <string.h>

static struct str text_in(struct record_reader *r, uint32_t object, const char *key)
{
	return json_string_in(&r->json, json_get(&r->json, object, str_of(key)), &r->mem);
}

/* The first of two names under which there is a text. */
static struct str either(struct record_reader *r, uint32_t object, const char *a, const char *b)
{
	struct str text = text_in(r, object, a);

	return text.p ? text : text_in(r, object, b);
}

/* ---- Edits ---------------------------------------------------------------------------- */

static bool edit_in(struct record_reader *r, uint32_t object, struct change_edit *out)
{
	const struct json *j = &r->json;

	out->old = either(r, object, "oldString", "old_string");
	out->new = either(r, object, "newString", "new_string");
	out->all = json_bool(j, json_get(j, object, STR("replaceAll"))) ||
		   json_bool(j, json_get(j, object, STR("replace_all")));
	return out->old.p && out->new.p;
}

static bool edits_of(struct record_reader *r, uint32_t object, struct change *out)
{
	const struct json *j = &r->json;
	uint32_t list = json_get(j, object, STR("edits"));

	if (!json_is(j, list, JSON_ARRAY)) {
		out->edits = arena_alloc(&r->mem, sizeof *out->edits);
		out->edit_count = 1;
		return edit_in(r, object, out->edits);
	}
	out->edits = arena_alloc(&r->mem, (json_count(j, list) + 1) * sizeof *out->edits);
	for (uint32_t i = json_first(j, list); i != json_end(j, list); i = json_next(j, i))
		if (!edit_in(r, i, &out->edits[out->edit_count++]))
			return false;
	return out->edit_count > 0;
}

/* Where nothing is replaced, a file is made. */
static bool makes_file(const struct change *c)
{
	return c->edit_count && !c->edits[0].old.n && !(c->was == FILE_KNOWN && c->before.n);
}

static void count_delta(struct record_reader *r, uint32_t result, struct change *out)
{
	const struct json *j = &r->json;
	uint32_t patch = json_get(j, result, STR("structuredPatch"));

	if (!json_is(j, patch, JSON_ARRAY))
		return;
	for (uint32_t i = json_first(j, patch); i != json_end(j, patch); i = json_next(j, i)) {
		int64_t old, new;

		if (!json_to_i64(j, json_get(j, i, STR("oldLines")), &old) ||
		    !json_to_i64(j, json_get(j, i, STR("newLines")), &new) || old < 0 || new < 0 ||
		    old > INT32_MAX || new > INT32_MAX) {
			out->has_delta = false;
			return;
		}
		out->has_delta = true;
		out->delta += new - old;
	}
}

static bool read_edit(struct record_reader *r, uint32_t object, struct change *out)
{
	if (!edits_of(r, object, out))
		return false;
	out->tool = json_is(&r->json, json_get(&r->json, object, STR("edits")), JSON_ARRAY) ? "MultiEdit"
											    : "Edit";
	out->kind = makes_file(out) ? CHANGE_CREATE : CHANGE_EDIT;
	if (out->kind == CHANGE_CREATE && out->was == FILE_UNKNOWN)
		out->was = FILE_ABSENT;
	return true;
}

/* ---- Results -------------------------------------------------------------------------- */

static void set_before(struct change *c, struct str before)
{
	c->before = before;
	c->was = before.p ? FILE_KNOWN : FILE_UNKNOWN;
}

static bool result_of_edit(struct record_reader *r, uint32_t result, struct change *out)
{
	set_before(out, either(r, result, "originalFile", "originalFileContents"));
	count_delta(r, result, out);
	return read_edit(r, result, out);
}

static bool result_of_write(struct record_reader *r, uint32_t result, struct change *out)
{
	bool made = json_string_eq(&r->json, json_get(&r->json, result, STR("type")), STR("create"));

	out->tool = "Write";
	out->after = text_in(r, result, "content");
	out->is_whole = true;
	set_before(out, text_in(r, result, "originalFile"));
	out->kind = made ? CHANGE_CREATE : CHANGE_UPDATE;
	if (made && out->was == FILE_UNKNOWN)
		out->was = FILE_ABSENT;
	return out->after.p != NULL;
}

static bool result_of_notebook(struct record_reader *r, uint32_t result, struct change *out)
{
	struct str problem = text_in(r, result, "error");

	out->tool = "NotebookEdit";
	out->kind = CHANGE_EDIT;
	out->path = text_in(r, result, "notebook_path");
	out->after = text_in(r, result, "updated_file");
	out->is_whole = out->after.p != NULL;
	set_before(out, text_in(r, result, "original_file"));
	return !problem.n;
}

/* A file that was read from its first line to its last. */
static bool result_of_read(struct record_reader *r, uint32_t file, struct change *out)
{
	const struct json *j = &r->json;
	int64_t first, lines, all;

	out->tool = "Read";
	out->kind = CHANGE_READ;
	out->path = text_in(r, file, "filePath");
	out->after = text_in(r, file, "content");
	out->is_whole = true;
	if (!out->after.p || !json_to_i64(j, json_get(j, file, STR("startLine")), &first) ||
	    !json_to_i64(j, json_get(j, file, STR("numLines")), &lines) ||
	    !json_to_i64(j, json_get(j, file, STR("totalLines")), &all))
		return false;
	/* The client counts what stands behind the last line's end, too. */
	return first <= 1 && lines == all &&
	       (lines == diff_lines(out->after) ||
		(lines - 1 == diff_lines(out->after) && str_has_suffix(out->after, STR("\n"))));
}

static bool read_result(struct record_reader *r, uint32_t result, struct change *out)
{
	const struct json *j = &r->json;
	uint32_t file = json_get(j, result, STR("file"));

	out->path = text_in(r, result, "filePath");
	if (json_is(j, json_get(j, result, STR("notebook_path")), JSON_STRING))
		return result_of_notebook(r, result, out);
	if (json_is(j, file, JSON_OBJECT) && json_string_eq(j, json_get(j, result, STR("type")), STR("text")))
		return result_of_read(r, file, out);
	if (json_is(j, json_get(j, result, STR("oldString")), JSON_STRING) ||
	    json_is(j, json_get(j, result, STR("edits")), JSON_ARRAY))
		return result_of_edit(r, result, out);
	if (json_string_eq(j, json_get(j, result, STR("type")), STR("create")) ||
	    json_string_eq(j, json_get(j, result, STR("type")), STR("update")))
		return result_of_write(r, result, out);
	return false;
}

/* What the client has put in: a file somebody named, or that it has changed meanwhile. */
static bool read_attachment(struct record_reader *r, struct change *out)
{
	const struct json *j = &r->json;
	uint32_t attachment = json_get(j, json_root(j), STR("attachment"));
	uint32_t type = json_get(j, attachment, STR("type"));

	if (json_string_eq(j, type, STR("edited_text_file"))) {
		out->tool = "";
		out->kind = CHANGE_ALIEN;
		out->path = text_in(r, attachment, "filename");
		return true;
	}
	return json_string_eq(j, type, STR("file")) &&
	       !json_bool(j, json_get(j, attachment, STR("truncated"))) &&
	       read_result(r, json_get(j, attachment, STR("content")), out) && out->kind == CHANGE_READ;
}

static bool has_failed(const struct record_reader *r, const struct record *rec)
{
	struct block_cursor at = { 0 };
	struct record_block b;

	while (record_block(r, rec, &at, &b))
		if (b.kind == BLOCK_TOOL_RESULT && b.is_error)
			return true;
	return false;
}

bool change_read(struct record_reader *r, const struct record *rec, struct change *out)
{
	const struct json *j = &r->json;
	uint32_t result = json_get(j, json_root(j), STR("toolUseResult"));
	bool found = false;

	*out = (struct change){ 0 };
	if (rec->type == RECORD_ATTACHMENT)
		found = read_attachment(r, out);
	else if (rec->type == RECORD_USER && json_is(j, result, JSON_OBJECT) && !has_failed(r, rec))
		found = read_result(r, result, out);
	return found && out->path.n;
}

/* ---- Results in words ------------------------------------------------------------------- */

/* How a client tells the model that a file was written: the path stands between these. */
static const struct {
	const char *before, *behind;
	bool made;
	bool to_the_end; /* where nothing follows */
} wordings[] = {
	{ "File created successfully at: ", " (file state is ", true, true },
	{ "The file ", " has been updated", false, false },
};

/* The text of a result; JSON_NONE = it has none. */
static uint32_t words_of(const struct json *j, const struct record_block *result)
{
	uint32_t text = json_get(j, result->node, STR("content"));

	if (json_is(j, text, JSON_ARRAY) && json_count(j, text))
		text = json_get(j, json_first(j, text), STR("text"));
	return json_is(j, text, JSON_STRING) ? text : JSON_NONE;
}

/* The client names files so; commands that print the same words mostly do not. */
static bool is_absolute(struct str path)
{
	return path.n > 1 && (path.p[0] == '/' || path.p[0] == '\\' || path.p[1] == ':');
}

bool change_said(struct record_reader *r, const struct record_block *result, struct str *path, bool *made)
{
	uint32_t node = words_of(&r->json, result);
	struct str raw, text, rest;

	if (result->kind != BLOCK_TOOL_RESULT || result->is_error || node == JSON_NONE)
		return false;
	raw = str_sub(json_raw(&r->json, node), 1, SIZE_MAX);
	for (size_t i = 0; i < COUNT(wordings); i++) {
		struct str behind = str_of(wordings[i].behind);
		const char *end;

		/* Results may be long: what begins otherwise is not decoded. */
		if (!str_has_prefix(raw, str_of(wordings[i].before)))
			continue;
		text = str_sub(json_string_in(&r->json, node, &r->mem), strlen(wordings[i].before), SIZE_MAX);
		text = str_cut(text, '\n', &rest);
		end = text.n ? memmem(text.p, text.n, behind.p, behind.n) : NULL;
		if (end)
			text.n = (size_t)(end - text.p);
		*path = text;
		*made = wordings[i].made;
		return is_absolute(text) && (end || wordings[i].to_the_end);
	}
	return false;
}

static bool path_said(struct record_reader *r, const struct record *rec, struct str *path)
{
	struct block_cursor at = { 0 };
	struct record_block b;
	bool made;

	while (record_block(r, rec, &at, &b))
		if (change_said(r, &b, path, &made))
			return true;
	return false;
}

/* What a record keeps beside its message, which may stand inside of another. */
static uint32_t kept_result(const struct json *j, const struct record *rec)
{
	uint32_t inside = json_get(j, json_get(j, json_root(j), STR("data")), STR("message"));

	if (rec->message != JSON_NONE && rec->message == json_get(j, inside, STR("message")))
		return json_get(j, inside, STR("toolUseResult"));
	return json_get(j, json_root(j), STR("toolUseResult"));
}

bool change_path(struct record_reader *r, const struct record *rec, struct str *path)
{
	const struct json *j = &r->json;
	uint32_t result = kept_result(j, rec);
	uint32_t name = json_get(j, result, STR("filePath")), type = json_get(j, result, STR("type"));

	if (result == JSON_NONE)
		return path_said(r, rec, path);
	if (json_is(j, name, JSON_STRING)) {
		if (!json_is(j, json_get(j, result, STR("oldString")), JSON_STRING) &&
		    !json_is(j, json_get(j, result, STR("edits")), JSON_ARRAY) &&
		    !json_string_eq(j, type, STR("create")) && !json_string_eq(j, type, STR("update")))
			return false;
	} else {
		name = json_get(j, result, STR("notebook_path"));
	}
	*path = json_string_in(j, name, &r->mem);
	return path->n && !text_in(r, result, "error").n && !has_failed(r, rec);
}

/* ---- Calls ------------------------------------------------------------------------------ */

bool change_of_call(struct record_reader *r, const struct record_block *call, bool made, struct change *out)
{
	uint32_t input = json_get(&r->json, call->node, STR("input"));

	*out = (struct change){ .path = text_in(r, input, "file_path"),
				.kind = made ? CHANGE_CREATE : CHANGE_UPDATE,
				.was = made ? FILE_ABSENT : FILE_UNKNOWN,
				.tool = "Write" };
	if (str_eq(call->name, STR("Edit")) || str_eq(call->name, STR("MultiEdit")))
		return read_edit(r, input, out) && out->path.n;
	if (str_eq(call->name, STR("NotebookEdit"))) {
		out->path = text_in(r, input, "notebook_path");
		out->kind = CHANGE_EDIT;
		out->tool = "NotebookEdit";
		return out->path.n > 0;
	}
	out->after = text_in(r, input, "content");
	out->is_whole = true;
	return str_eq(call->name, STR("Write")) && out->after.p && out->path.n;
}

/* ---- Applying ---------------------------------------------------------------------------- */

static const char *find(struct str text, struct str what)
{
	return text.n ? memmem(text.p, text.n, what.p, what.n) : NULL;
}

static bool replace(struct str text, struct str old, const struct change_edit *e, struct buf *out)
{
	const char *at = find(text, old);

	if (!at)
		return false;
	do {
		buf_add(out, text.p, (size_t)(at - text.p));
		buf_str(out, e->new);
		text = str_sub(text, (size_t)(at - text.p) + old.n, SIZE_MAX);
	} while (e->all && !out->failed && (at = find(text, old)));
	buf_str(out, text);
	return !out->failed;
}

/* As the client does it: who takes a line's text away takes its end away, too. */
static bool apply_one(struct str text, const struct change_edit *e, bool with_end, struct buf *out)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(LIMIT_FILE_REBUILT);

	if (!e->old.n) {
		buf_str(out, e->new);
		return !text.n && !out->failed;
	}
	if (with_end && !e->new.n && !str_has_suffix(e->old, STR("\n"))) {
		buf_str(&line, e->old);
		buf_byte(&line, '\n');
		if (!line.failed && find(text, buf_as_str(&line)))
			return replace(text, buf_as_str(&line), e, out);
	}
	return replace(text, e->old, e, out);
}

static bool apply_all(const struct change *c, struct str before, bool with_end, struct buf *out)
{
	struct buf texts[2] = { BUF_INIT(LIMIT_FILE_REBUILT), BUF_INIT(LIMIT_FILE_REBUILT) };
	struct str text = before;
	size_t work = 0;
	bool fits = true;

	for (size_t i = 0; fits && i < c->edit_count; i++) {
		struct buf *to = &texts[i % 2];

		work += text.n;
		if (work > LIMIT_EDIT_WORK)
			fits = false;
		buf_clear(to);
		fits = fits && apply_one(text, &c->edits[i], with_end, to);
		text = buf_as_str(to);
	}
	if (fits && c->has_delta)
		fits = c->delta == diff_lines(text) - diff_lines(before);
	if (fits)
		buf_str(out, text);
	buf_release(&texts[0]);
	buf_release(&texts[1]);
	return fits && !out->failed;
}

bool change_apply(const struct change *c, struct str before, struct buf *out)
{
	if (c->is_whole) {
		buf_str(out, c->after);
		return !out->failed;
	}
	return c->edit_count && (apply_all(c, before, true, out) || apply_all(c, before, false, out));
}

/* ---- Snapshots ---------------------------------------------------------------------------- */

bool snapshot_read(struct record_reader *r, const struct record *rec, struct snapshot *out)
{
	const struct json *j = &r->json;
	uint32_t snapshot = json_get(j, json_root(j), STR("snapshot"));

	if (rec->type != RECORD_SNAPSHOT)
		return false;
	out->files = json_get(j, snapshot, STR("trackedFileBackups"));
	out->prompt = text_in(r, snapshot, "messageId");
	out->at = out->prompt;
	if (json_bool(j, json_get(j, json_root(j), STR("isSnapshotUpdate"))))
		out->at = text_in(r, json_root(j), "messageId");
	return out->prompt.n && out->at.n && json_is(j, out->files, JSON_OBJECT);
}

bool snapshot_next(struct record_reader *r, const struct snapshot *s, uint32_t *at, struct snapshot_file *out)
{
	const struct json *j = &r->json;
	uint32_t key = *at ? *at : json_first(j, s->files);

	for (; key != json_end(j, s->files); key = json_next(j, key + 1)) {
		uint32_t name = json_get(j, key + 1, STR("backupFileName"));

		*out = (struct snapshot_file){ .path = json_string_in(j, key, &r->mem),
					       .absent = json_is(j, name, JSON_NULL),
					       .backup = json_string_in(j, name, &r->mem) };
		json_to_i64(j, json_get(j, key + 1, STR("version")), &out->version);
		(void)time_parse(text_in(r, key + 1, "backupTime"), &out->at);
		if (out->path.n && (out->absent || out->backup.n)) {
			*at = json_next(j, key + 1);
			return true;
		}
	}
	*at = key;
	return false;
}
