/*
 * Fuzzes the readers of Claude Code's smaller files: whatever the bytes, tasks, history,
 * notes of running clients and plans give texts that are valid UTF-8 and no longer than the
 * bytes allow for; and a name of a folder has no character a path could be made of.
 */
#include "base/utf8.h"
#include "claude/folder.h"
#include "claude/live.h"
#include "claude/plan.h"
#include "claude/task.h"
#include "claude/typed.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void must_be_text(struct str s, size_t size)
{
	/* A bad byte becomes three. */
	must(utf8_valid(s) && s.n <= 3 * size);
}

static void check_tasks(struct str bytes)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct task *tasks;
	struct err err;
	size_t count;

	if (task_read(bytes, &mem, &tasks, &count, &err)) {
		must(err.status == STATUS_FORMAT || err.status == STATUS_LIMIT);
		return;
	}
	must(count <= bytes.n);
	for (size_t i = 0; i < count; i++) {
		const struct task *t = &tasks[i];
		const struct str texts[] = { t->id, t->subject, t->description, t->active_form, t->priority };

		must(t->state < TASK_STATES && task_state_name(t->state));
		for (size_t k = 0; k < COUNT(texts); k++)
			must_be_text(texts[k], bytes.n);
		for (size_t k = 0; k < t->block_count; k++)
			must_be_text(t->blocks[k], bytes.n);
		for (size_t k = 0; k < t->blocked_by_count; k++)
			must_be_text(t->blocked_by[k], bytes.n);
	}
}

static void check_typed(struct str bytes)
{
	struct typed_reader r CLEANUP(typed_reader_release) = { 0 };
	struct buf text CLEANUP(buf_release) = BUF_INIT(256 * MIB);
	struct typed t;

	for (struct str line, rest = bytes; rest.n;) {
		line = str_cut(rest, '\n', &rest);
		if (!typed_read(&r, line, &t))
			continue;
		must_be_text(t.display, line.n);
		must_be_text(t.project, line.n);
		must_be_text(t.session, line.n);
		buf_clear(&text);
		typed_text(&r, &t, &text);
		must(!text.failed);
		must_be_text(buf_as_str(&text), line.n);
	}
}

static void check_live(struct str bytes)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct live l;

	if (live_read(bytes, &mem, &l)) {
		const struct str texts[] = { l.proc_start, l.cwd, l.version, l.kind, l.name, l.status };

		must(l.pid > 0 && l.pid <= INT32_MAX);
		for (size_t i = 0; i < COUNT(texts); i++)
			must_be_text(texts[i], bytes.n);
	}
	l = (struct live){ .pid = 1, .proc_start = STR("287956") };
	live_is_process(&l, bytes);
}

static void check_names(struct str bytes)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(KIB);
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
	struct uuid session;
	struct str agent;

	claude_encode_cwd(bytes, &name);
	must(!name.failed && name.n <= CLAUDE_FOLDER_MAX);
	for (size_t i = 0; i < name.n; i++)
		must(name.p[i] &&
		     strchr("-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", name.p[i]));
	plan_title(bytes, &title);
	must(!title.failed && utf8_valid(buf_as_str(&title)));
	must(plan_name(bytes).n <= bytes.n);
	must(!task_owner_of_path(bytes, &session, &agent) || !agent.p || agent.n < bytes.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = str_from((const char *)data, size);

	check_tasks(bytes);
	check_typed(bytes);
	check_live(bytes);
	check_names(bytes);
	return 0;
}
