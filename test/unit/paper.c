/*
 * Texts beside the conversations: which files have them, and what they are.
 */
#include "claude/paper.h"
#include "t.h"

struct taken {
	struct buf lines; /* part, time, session's beginning, project, text; a line each */
	size_t most;	  /* so many are wanted */
	size_t count;
};

static bool take(void *ctx, const struct paper_text *text)
{
	struct taken *y = ctx;
	char session[UUID_TEXT + 1] = "-";

	if (text->has_session)
		uuid_print(&text->session, session);
	buf_printf(&y->lines, "%u %" PRId64 " %.8s %.*s|%.*s\n", text->part, text->at, session,
		   STR_ARG(text->project), STR_ARG(text->text));
	return ++y->count < y->most;
}

static void check_texts(struct t *t, const char *path, struct str bytes, size_t most, const char *want)
{
	struct paper_reader r CLEANUP(paper_reader_release);
	struct taken y = { .lines = BUF_INIT(MIB), .most = most };

	paper_reader_init(&r);
	paper_texts(&r, str_of(path), bytes, take, &y);
	EQS(buf_as_str(&y.lines), str_of(want));
	buf_release(&y.lines);
}

static void check_title(struct t *t, const char *path, const char *text, const char *want)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);

	paper_title(str_of(path), str_of(text), &title);
	EQS(buf_as_str(&title), str_of(want));
}

#define SESSION "0ea33764-9f05-462f-a1d4-51fb8fdac471"

TEST(plans_memory_tasks_todos_and_history_have_texts_and_nothing_else_has)
{
	for (int kind = 0; kind < CLAUDE_KINDS; kind++) {
		bool is = kind == CLAUDE_PLAN || kind == CLAUDE_MEMORY || kind == CLAUDE_TASK ||
			  kind == CLAUDE_TODO || kind == CLAUDE_HISTORY;

		EQ(paper_is((enum claude_kind)kind), is);
		EQ(paper_has_lines((enum claude_kind)kind), kind == CLAUDE_HISTORY);
	}
	check_texts(t, "projects/p/" SESSION ".jsonl", STR("{\"display\":\"x\"}"), 9, "");
	check_texts(t, "file-history/" SESSION "/a@v1", STR("text"), 9, "");
	check_texts(t, "settings.json", STR("text"), 9, "");
}

TEST(a_plan_and_a_file_of_memory_are_one_text)
{
	check_texts(t, "plans/a.md", STR("# A\n\nb\n"), 9, "0 0 - |# A\n\nb\n\n");
	check_texts(t, "projects/-home-x/memory/sub/b.md", STR("b"), 9, "0 0 - |b\n");
	check_texts(t, "plans/empty.md", STR(""), 9, "0 0 - |\n");
}

TEST(bytes_that_are_no_text_are_none)
{
	check_texts(t, "projects/p/memory/core", str_from("ELF\0\1", 5), 9, "");
	check_texts(t, "plans/latin.md", STR("caf\xe9 \xff!"), 9, "0 0 - |caf\xef\xbf\xbd \xef\xbf\xbd!\n");
}

TEST(each_task_of_a_file_is_a_text)
{
	check_texts(t, "tasks/" SESSION "/1.json",
		    STR("{\"id\":\"1\",\"subject\":\"Do it\",\"description\":\"and "
			"well\",\"status\":\"pending\"}"),
		    9, "0 0 0ea33764 |Do it\nand well\n");
	check_texts(t, "todos/" SESSION "-agent-" SESSION ".json",
		    STR("[{\"content\":\"a\"},7,{\"content\":\"b\"},{\"description\":\"c\"},{}]"), 9,
		    "0 0 0ea33764 |a\n1 0 0ea33764 |b\n2 0 0ea33764 |c\n3 0 0ea33764 |\n");
	/* Of nobody's session, but a list of tasks all the same. */
	check_texts(t, "todos/odd.json", STR("[{\"content\":\"a\"}]"), 9, "0 0 - |a\n");
}

TEST(who_has_enough_is_given_no_more)
{
	check_texts(t, "todos/odd.json", STR("[{\"content\":\"a\"},{\"content\":\"b\"},{\"content\":\"c\"}]"),
		    2, "0 0 - |a\n1 0 - |b\n");
}

TEST(what_cannot_be_understood_has_no_text)
{
	static const char *const bad[] = { "",	    "{",   "7", "null", "\"x\"", "[[[[", "{\"display\":",
					   "[1,2]", "\xff" };

	for (size_t i = 0; i < COUNT(bad); i++) {
		check_texts(t, "todos/odd.json", str_of(bad[i]), 9, "");
		check_texts(t, "history.jsonl", str_of(bad[i]), 9, "");
	}
	check_texts(t, "tasks/" SESSION "/x.json", STR("[]"), 9, "");
}

TEST(a_typed_line_says_when_where_and_in_which_session)
{
	check_texts(t, "history.jsonl",
		    STR("{\"display\":\"why [Pasted]\",\"pastedContents\":{\"1\":{\"content\":\"log\"}},"
			"\"timestamp\":17,\"project\":\"/home/x\",\"sessionId\":\"" SESSION "\"}"),
		    9, "0 17 0ea33764 /home/x|why [Pasted]\nlog\n");
	check_texts(t, "history.jsonl",
		    STR("{\"display\":\"a\",\"timestamp\":-5,\"sessionId\":\"none\",\"project\":7}"), 9,
		    "0 0 - |a\n");
}

TEST(a_text_is_called_after_its_heading_its_file_or_its_beginning)
{
	check_title(t, "plans/a.md", "intro\n\n## The plan ##\n", "The plan");
	check_title(t, "projects/-home-x/memory/sub/money.md", "# Money\n", "money.md");
	check_title(t, "tasks/" SESSION "/1.json", "Do it\nand well", "Do it");
	check_title(t, "history.jsonl", "\n  first\nsecond", "first");
	check_title(t, "history.jsonl", "", "");
}

TEST(memory_is_in_the_folder_of_a_project)
{
	EQS(paper_folder(STR("projects/-home-x/memory/a.md")), STR("-home-x"));
	CHECK(!paper_folder(STR("plans/a.md")).p);
	CHECK(!paper_folder(STR("projects/-home-x/" SESSION ".jsonl")).p);
}

TESTS(CASE(plans_memory_tasks_todos_and_history_have_texts_and_nothing_else_has),
      CASE(a_plan_and_a_file_of_memory_are_one_text), CASE(bytes_that_are_no_text_are_none),
      CASE(each_task_of_a_file_is_a_text), CASE(who_has_enough_is_given_no_more),
      CASE(what_cannot_be_understood_has_no_text), CASE(a_typed_line_says_when_where_and_in_which_session),
      CASE(a_text_is_called_after_its_heading_its_file_or_its_beginning),
      CASE(memory_is_in_the_folder_of_a_project))
