/*
 * Two generations of the client say it differently (measured with 2.1.197 and 2.1.325):
 *
 *     task_started               both; in the foreground, too, which the newer one says (is_backgrounded)
 *     background_tasks_changed   the newer one: all that there are
 *     task_updated               it has ended (patch.status)
 *     task_notification          older: the model is told now, in a turn of its own that follows; newer: it has
 *                                ended. Without output_file it was in the foreground, and nobody is told
 *     init                       a turn: for one that has ended, if any has
 *     user, <task-notification>  the model was told in the turn that is going on
 *
 * So one that has ended is news until a turn begins for it or it is told in one. What was stopped is none.
 * Whoever counts too many news waits a moment in vain; whoever counts too few would leave a turn alone.
 */
#include "claude/background.h"

#include "base/hash.h"

static uint64_t key_of(const struct json *j, uint32_t node)
{
	struct str raw = json_raw(j, node);

	return hash64(raw.p, raw.n);
}

static void add(struct background *b, uint64_t key)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->going[i] == key)
			return;
	if (b->count < LIMIT_BACKGROUND)
		b->going[b->count++] = key;
}

/* Whether it was there. */
static bool take_away(struct background *b, uint64_t key)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->going[i] == key) {
			b->going[i] = b->going[--b->count];
			return true;
		}
	return false;
}

static void told(struct background *b)
{
	if (b->news)
		b->news--;
}

static bool is_one_of(const struct json *j, uint32_t node, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (json_string_eq(j, node, str_of(names[i])))
			return true;
	return false;
}

static bool is_news(const struct json *j, uint32_t status)
{
	static const char *const names[] = { "completed", "failed" };

	return is_one_of(j, status, names, COUNT(names));
}

static bool is_end(const struct json *j, uint32_t status)
{
	static const char *const names[] = { "killed", "stopped", "cancelled" };

	return is_news(j, status) || is_one_of(j, status, names, COUNT(names));
}

/* ---- Lines ------------------------------------------------------------------- */

static void on_started(struct background *b, const struct json *j)
{
	uint32_t root = json_root(j), behind = json_get(j, root, STR("is_backgrounded"));

	if (behind == JSON_NONE || json_bool(j, behind))
		add(b, key_of(j, json_get(j, root, STR("task_id"))));
}

static void on_updated(struct background *b, const struct json *j)
{
	uint32_t root = json_root(j), status = json_get(j, json_get(j, root, STR("patch")), STR("status"));

	if (is_end(j, status) && take_away(b, key_of(j, json_get(j, root, STR("task_id")))) &&
	    is_news(j, status))
		b->news++;
}

static void on_notification(struct background *b, const struct json *j)
{
	uint32_t root = json_root(j);
	bool was_going = take_away(b, key_of(j, json_get(j, root, STR("task_id")))),
	     is_new = is_news(j, json_get(j, root, STR("status"))),
	     in_front = json_string_eq(j, json_get(j, root, STR("output_file")), STR(""));

	if (was_going && is_new && !in_front)
		b->news++;
	else if (!was_going && is_new && in_front)
		told(b);
}

static void on_all(struct background *b, const struct json *j)
{
	uint32_t tasks = json_get(j, json_root(j), STR("tasks"));

	if (!json_is(j, tasks, JSON_ARRAY))
		return;
	b->count = 0;
	for (uint32_t i = json_first(j, tasks); i != json_end(j, tasks); i = json_next(j, i))
		add(b, key_of(j, json_get(j, i, STR("task_id"))));
}

static void on_init(struct background *b, const struct json *j)
{
	(void)j;
	told(b);
}

static const struct {
	const char *subtype;
	void (*hear)(struct background *b, const struct json *j);
} lines[] = {
	{ "task_started", on_started },
	{ "task_updated", on_updated },
	{ "task_notification", on_notification },
	{ "background_tasks_changed", on_all },
	{ "init", on_init },
};

bool background_is_news(const struct json *j)
{
	uint32_t root = json_root(j),
		 content = json_get(j, json_get(j, root, STR("message")), STR("content"));

	return json_string_eq(j, json_get(j, root, STR("type")), STR("user")) &&
	       json_is(j, content, JSON_STRING) &&
	       str_has_prefix(json_raw(j, content), STR("\"<task-notification>"));
}

void background_hear(struct background *b, const struct json *j)
{
	uint32_t root = json_root(j), subtype = json_get(j, root, STR("subtype"));

	if (background_is_news(j))
		told(b);
	if (!json_string_eq(j, json_get(j, root, STR("type")), STR("system")))
		return;
	for (size_t i = 0; i < COUNT(lines); i++)
		if (json_string_eq(j, subtype, str_of(lines[i].subtype)))
			lines[i].hear(b, j);
}
