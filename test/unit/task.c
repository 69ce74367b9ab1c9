/*
 * Tasks and todos: as the clients write them, and as nobody should.
 */
#include "base/utf8.h"
#include "claude/task.h"
#include "t.h"

#include <string.h>

#define SESSION "4e4f12db-6fa6-4fb1-9e6e-e6382d34866a"

TEST(a_task_is_read_as_the_client_wrote_it)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf file CLEANUP(buf_release) = BUF_INIT(MIB);
	struct task *tasks;
	struct err err;
	size_t count;

	if (!t_read_file(t, "demo/tasks/" SESSION "/1.json", &file))
		return;
	OK(task_read(buf_as_str(&file), &mem, &tasks, &count, &err));
	NEED(count == 1);
	EQ(tasks[0].state, TASK_COMPLETED);
	EQS(tasks[0].id, STR("1"));
	EQS(tasks[0].subject, STR("Read prices as cents in the importer"));
	EQS(tasks[0].active_form, STR("Changing the importer"));
	NEED(tasks[0].block_count == 1 && tasks[0].blocked_by_count == 0);
	EQS(tasks[0].blocks[0], STR("2"));
	CHECK(!tasks[0].priority.p);
}

TEST(a_list_of_todos_keeps_order_and_priority)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct task *tasks;
	struct err err;
	size_t count;

	OK(task_read(STR("[{\"content\":\"a\",\"status\":\"in_progress\",\"priority\":\"high\",\"id\":\"x\"},"
			 "{\"content\":\"b\",\"status\":\"pending\",\"activeForm\":\"b-ing\"}]"),
		     &mem, &tasks, &count, &err));
	NEED(count == 2);
	EQ(tasks[0].state, TASK_IN_PROGRESS);
	EQS(tasks[0].subject, STR("a"));
	EQS(tasks[0].priority, STR("high"));
	EQS(tasks[1].subject, STR("b"));
	EQS(tasks[1].active_form, STR("b-ing"));
	CHECK(!tasks[1].id.p);
	OK(task_read(STR("[]"), &mem, &tasks, &count, &err));
	EQ(count, 0);
}

TEST(what_has_the_wrong_type_is_left_out_and_numbers_are_texts)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct task *tasks;
	struct err err;
	size_t count;

	OK(task_read(STR("[7,null,\"x\",[],{},{\"id\":12,\"subject\":{},\"content\":\"c\",\"status\":3,"
			 "\"blocks\":[1,\"2\",null,{}],\"blockedBy\":\"1\",\"description\":[],\"priority\":"
			 "null}]"),
		     &mem, &tasks, &count, &err));
	NEED(count == 2);
	EQ(tasks[0].state, TASK_UNKNOWN);
	CHECK(!tasks[0].id.p && !tasks[0].subject.p);
	EQS(tasks[1].id, STR("12"));
	EQS(tasks[1].subject, STR("c"));
	EQ(tasks[1].state, TASK_UNKNOWN);
	CHECK(!tasks[1].description.p && !tasks[1].priority.p);
	NEED(tasks[1].block_count == 2 && tasks[1].blocked_by_count == 0);
	EQS(tasks[1].blocks[0], STR("1"));
	EQS(tasks[1].blocks[1], STR("2"));
}

TEST(escapes_and_broken_characters_become_good_text)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct task *tasks;
	struct err err;
	size_t count;

	OK(task_read(STR("{\"subject\":\"a\\u001b[31m\\ud800\xff\",\"id\":\"\\\"\\n\",\"status\":"
			 "\"pend\\u0069ng\"}"),
		     &mem, &tasks, &count, &err));
	NEED(count == 1);
	CHECK(utf8_valid(tasks[0].subject));
	EQS(tasks[0].subject, STR("a\x1b[31m\xef\xbf\xbd\xef\xbf\xbd"));
	EQS(tasks[0].id, STR("\"\n"));
	EQ(tasks[0].state, TASK_PENDING);
}

TEST(a_megabyte_is_a_text_like_any_other)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * MIB);
	struct task *tasks;
	struct err err;
	size_t count;

	buf_text(&text, "{\"subject\":\"");
	for (size_t i = 0; i < MIB; i++)
		buf_byte(&text, 'x');
	buf_text(&text, "\",\"blocks\":[");
	for (size_t i = 0; i < 100000; i++)
		buf_printf(&text, "%s\"%zu\"", i ? "," : "", i);
	buf_text(&text, "]}");
	OK(task_read(buf_as_str(&text), &mem, &tasks, &count, &err));
	NEED(count == 1);
	EQ(tasks[0].subject.n, MIB);
	EQ(tasks[0].block_count, 100000);
}

TEST(what_is_no_task_is_an_error_not_a_crash)
{
	static const char *const texts[] = { "",  " ",	   "{",	   "[",		"[{]",
					     "7", "\"x\"", "null", "{\"id\":}", "{}{}" };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf deep CLEANUP(buf_release) = BUF_INIT(MIB);
	struct task *tasks;
	struct err err;
	size_t count;

	for (size_t i = 0; i < COUNT(texts); i++) {
		EQ(task_read(str_of(texts[i]), &mem, &tasks, &count, &err), STATUS_FORMAT);
		EQ(count, 0);
	}
	for (int i = 0; i < 10000; i++)
		buf_text(&deep, "[");
	EQ(task_read(buf_as_str(&deep), &mem, &tasks, &count, &err), STATUS_LIMIT);
}

TEST(a_path_says_whose_tasks_they_are)
{
	static const struct {
		const char *path, *agent;
	} good[] = {
		{ "tasks/" SESSION "/1.json", NULL },
		{ "tasks/" SESSION "/x.json", NULL },
		{ "todos/" SESSION "-agent-" SESSION ".json", NULL },
		{ "todos/" SESSION "-agent-a3ec752e2389a1f20.json", "a3ec752e2389a1f20" },
	};
	static const char *const bad[] = {
		"",
		"tasks",
		"tasks/",
		"tasks/" SESSION,
		"tasks/" SESSION "/",
		"tasks/" SESSION "/1.txt",
		"tasks/" SESSION "/a/1.json",
		"tasks/x/1.json",
		"todos/" SESSION ".json",
		"todos/" SESSION "-agent-.json",
		"todos/" SESSION "xagent-1.json",
		"todos/" SESSION "-agent-1",
		"todos/x/" SESSION "-agent-1.json",
		"todos/" SESSION "-agent-a/b.json",
		"plans/" SESSION "/1.json",
	};
	struct uuid want, got;
	struct str agent;

	CHECK(uuid_parse(STR(SESSION), &want));
	for (size_t i = 0; i < COUNT(good); i++) {
		NEED(task_owner_of_path(str_of(good[i].path), &got, &agent));
		CHECK(uuid_eq(&got, &want));
		CHECK(good[i].agent ? str_eq(agent, str_of(good[i].agent)) : !agent.p);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		if (task_owner_of_path(str_of(bad[i]), &got, &agent))
			t_fail(t, __FILE__, __LINE__, "'%s' has an owner", bad[i]);
}

TEST(calls_say_what_they_do_to_a_list)
{
	static const struct {
		const char *tool, *input;
		enum task_deed deed;
		const char *tasks;
	} calls[] = {
		{ "TodoWrite", "{\"todos\":[{\"content\":\"x\"}]}", TASK_LIST, "[{\"content\":\"x\"}]" },
		{ "TaskCreate", "{\"subject\":\"x\"}", TASK_CREATE, "{\"subject\":\"x\"}" },
		{ "TaskUpdate", "{\"taskId\":\"1\"}", TASK_CHANGE, "{\"taskId\":\"1\"}" },
		{ "Task", "{}", TASK_NOTHING, NULL },
	};

	for (size_t i = 0; i < COUNT(calls); i++) {
		struct json j CLEANUP(json_release) = JSON_INIT;
		uint32_t tasks = JSON_NONE;
		struct err err;

		NEED(json_read(&j, str_of(calls[i].input), 0, &err) == STATUS_OK);
		EQ(task_deed(str_of(calls[i].tool), &j, json_root(&j), &tasks), calls[i].deed);
		if (calls[i].tasks)
			EQS(json_raw(&j, tasks), str_of(calls[i].tasks));
	}
}

TEST(a_change_leaves_what_it_does_not_say)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct task *task, *by;
	struct err err;
	size_t count;

	NEED(task_read(STR("{\"id\":\"1\",\"subject\":\"a\",\"description\":\"b\",\"status\":\"in_progress\","
			   "\"blocks\":[\"2\"]}"),
		       &mem, &task, &count, &err) == STATUS_OK);
	NEED(task_read(STR("{\"taskId\":\"1\",\"subject\":\"c\",\"addBlocks\":[\"3\"],\"addBlockedBy\":[\"4\"]}"), &mem,
		       &by, &count, &err) == STATUS_OK);
	EQS(by->id, STR("1"));
	task_change(task, by, &mem);
	EQS(task->subject, STR("c"));
	EQS(task->description, STR("b"));
	EQ(task->state, TASK_IN_PROGRESS);
	EQ(task->block_count, 2);
	EQS(task->blocks[1], STR("3"));
	EQS(task->blocked_by[0], STR("4"));
	CHECK(!task->deleted);
	NEED(task_read(STR("{\"taskId\":1,\"status\":\"deleted\"}"), &mem, &by, &count, &err) == STATUS_OK);
	task_change(task, by, &mem);
	CHECK(task->deleted);
}

TESTS(CASE(calls_say_what_they_do_to_a_list), CASE(a_change_leaves_what_it_does_not_say),
      CASE(a_task_is_read_as_the_client_wrote_it), CASE(a_list_of_todos_keeps_order_and_priority),
      CASE(what_has_the_wrong_type_is_left_out_and_numbers_are_texts),
      CASE(escapes_and_broken_characters_become_good_text), CASE(a_megabyte_is_a_text_like_any_other),
      CASE(what_is_no_task_is_an_error_not_a_crash), CASE(a_path_says_whose_tasks_they_are))
