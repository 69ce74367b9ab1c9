/*
 * What a client has going in the background, as two generations of it say so.
 */
#include "claude/background.h"

#include "t.h"

#include <stdio.h>

#define SYSTEM(what, id, more) \
	"{\"type\":\"system\",\"subtype\":\"" what "\",\"task_id\":\"" id "\"" more "}"
#define START(id)   SYSTEM("task_started", id, "")
#define FRONT(id)   SYSTEM("task_started", id, ",\"is_backgrounded\":false")
#define OVER(id, s) SYSTEM("task_updated", id, ",\"patch\":{\"status\":\"" s "\"}")
#define TOLD(id, s, file) \
	"{\"type\":\"system\",\"subtype\":\"task_notification\",\"task_id\":\"" id "\",\"status\":\"" s \
	"\",\"output_file\":\"" file "\"}"
#define ALL(list) "{\"type\":\"system\",\"subtype\":\"background_tasks_changed\",\"tasks\":[" list "]}"
#define ONE(id)	  "{\"task_id\":\"" id "\"}"
#define INIT	  "{\"type\":\"system\",\"subtype\":\"init\"}"
#define NEWS	  "{\"type\":\"user\",\"message\":{\"content\":\"<task-notification>\\n<task-id>a\"}}"
#define RESULT	  "{\"type\":\"result\"}"

static void hear(struct t *t, struct background *b, const char *line)
{
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err err;

	OK(json_read(&j, str_of(line), LIMIT_JSON_DEPTH, &err));
	background_hear(b, &j);
}

TEST(what_goes_on_and_what_is_news_follows_from_the_lines_of_either_client)
{
	static const struct {
		const char *lines[9];
		size_t going, news;
	} cases[] = {
		{ { INIT, RESULT }, 0, 0 },
		{ { INIT, START("a"), RESULT }, 1, 0 },
		{ { INIT, START("a"), START("a"), START("b"), RESULT }, 2, 0 },
		/* It ends behind the turn. */
		{ { START("a"), RESULT, OVER("a", "completed") }, 0, 1 },
		{ { START("a"), RESULT, OVER("a", "completed"), TOLD("a", "completed", "/a"), INIT }, 0, 0 },
		{ { START("a"), RESULT, TOLD("a", "completed", "/a") }, 0, 1 },
		/* Or during it: the older client tells later, the newer one at once, and each makes a turn. */
		{ { START("a"), START("b"), OVER("a", "completed"), OVER("b", "failed"), RESULT,
		    TOLD("a", "completed", "/a"), INIT }, 0, 1 },
		{ { ALL(ONE("a")), START("a"), OVER("a", "completed"), TOLD("a", "completed", "/a"), ALL(""),
		    RESULT }, 0, 1 },
		/* In the turn that is going on the model is told. */
		{ { START("a"), OVER("a", "completed"), NEWS, RESULT }, 0, 0 },
		/* What was in the foreground, or was stopped, is no news. */
		{ { START("a"), TOLD("a", "completed", "") }, 0, 0 },
		{ { START("a"), OVER("a", "completed"), TOLD("a", "completed", "") }, 0, 0 },
		{ { FRONT("a") }, 0, 0 },
		{ { START("a"), TOLD("a", "stopped", "") }, 0, 0 },
		{ { START("a"), OVER("a", "killed"), TOLD("a", "stopped", "/a") }, 0, 0 },
		/* What is still being done is not over. */
		{ { START("a"), OVER("a", "running") }, 1, 0 },
		/* The list is the truth. */
		{ { START("a"), START("b"), ALL(ONE("b") "," ONE("c")) }, 2, 0 },
		{ { START("a"), ALL("") }, 0, 0 },
		{ { "{\"type\":\"system\",\"subtype\":\"background_tasks_changed\"}" }, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct background b = { .count = 0 };

		for (size_t k = 0; k < COUNT(cases[i].lines) && cases[i].lines[k]; k++)
			hear(t, &b, cases[i].lines[k]);
		if (b.count != cases[i].going || b.news != cases[i].news)
			t_fail(t, __FILE__, __LINE__, "case %zu: %zu go on, %zu news", i, b.count, b.news);
	}
}

TEST(more_than_can_be_kept_are_passed_over)
{
	struct background b = { .count = 0 };
	char line[100];

	for (int i = 0; i < LIMIT_BACKGROUND + 10; i++) {
		snprintf(line, sizeof line, START("%d"), i);
		hear(t, &b, line);
	}
	EQ(b.count, LIMIT_BACKGROUND);
}

TESTS(CASE(what_goes_on_and_what_is_news_follows_from_the_lines_of_either_client),
      CASE(more_than_can_be_kept_are_passed_over))
