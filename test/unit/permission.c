/*
 * Rules about tools: test/table/permission.test says what they mean.
 */
#include "base/json_write.h"
#include "claude/permission.h"
#include "t.h"

#include <string.h>

#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT
#define JSON  struct json j CLEANUP(json_release) = JSON_INIT

/* "a | b | c => d" in its parts, without the blanks around them; the third has those behind the first. */
struct row {
	struct str rule, tool, input, want;
};

static bool next_row(struct str *rest, struct row *out)
{
	while (rest->n) {
		struct str line = str_cut(*rest, '\n', rest);
		size_t arrow = str_rfind(line, '>');

		if (!line.n || line.p[0] == '#' || arrow == SIZE_MAX)
			continue;
		out->want = str_trim(str_sub(line, arrow + 1, SIZE_MAX));
		line = str_sub(line, 0, arrow - 2);
		out->rule = str_cut(line, '|', &line);
		out->rule.n -= str_has_suffix(out->rule, STR(" "));
		out->tool = str_trim(str_cut(line, '|', &line));
		out->input = str_sub(line, 1, SIZE_MAX);
		return true;
	}
	return false;
}

/* The member that counts. */
static const char *member_of(struct str tool)
{
	static const char *const members[][2] = {
		{ "Bash", "command" },	     { "WebFetch", "url" },
		{ "Grep", "path" },	     { "Agent", "subagent_type" },
		{ "Task", "subagent_type" }, { "Skill", "skill" },
		{ "WebSearch", "query" },    { "NotebookEdit", "notebook_path" },
	};

	for (size_t i = 0; i < COUNT(members); i++)
		if (str_eq(tool, str_of(members[i][0])))
			return members[i][1];
	return "file_path";
}

static struct str input_of(const struct row *r, struct arena *mem)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);
	struct json_writer w;

	if (str_has_prefix(r->input, STR("{\"")) || str_eq(r->input, STR("{}")))
		return r->input;
	json_write_init(&w, &out, 0);
	json_write_object_begin(&w);
	json_write_key(&w, str_of(member_of(r->tool)));
	json_write_string(&w, r->input);
	json_write_object_end(&w);
	return arena_str(mem, buf_as_str(&out));
}

static struct permission_question question(struct str tool, const struct json *input)
{
	return (struct permission_question){
		.tool = tool, .input = input, .cwd = STR("/work/p"), .home = STR("/home/u")
	};
}

static const char *meaning(const struct row *r, struct arena *mem)
{
	struct permission_question q;
	struct permission p;
	struct err err;
	bool wide, strict;
	JSON;

	if (permission_read(r->rule, &p, &err))
		return "wrong";
	if (json_read(&j, input_of(r, mem), 0, &err))
		return err.text[0] ? "no JSON" : "";
	q = question(r->tool, &j);
	wide = permission_means(&p, &q, false);
	strict = permission_means(&p, &q, true);
	return strict ? wide ? "both" : "strict alone" : wide ? "wide" : "none";
}

TEST(rules_mean_what_the_table_says)
{
	struct buf file = BUF_INIT(MIB);
	struct row r;
	int cases = 0;
	ARENA;

	if (!t_read_file(t, "test/table/permission.test", &file))
		return;
	for (struct str rest = buf_as_str(&file); next_row(&rest, &r); cases++) {
		const char *got = meaning(&r, &mem);

		if (!str_eq(r.want, str_of(got)))
			t_fail(t, __FILE__, __LINE__, "%.*s | %.*s | %.*s: %s, not %.*s", STR_ARG(r.rule),
			       STR_ARG(r.tool), STR_ARG(r.input), got, STR_ARG(r.want));
	}
	CHECK(cases > 150);
	buf_release(&file);
}

/* Each way of the question in the table. */
TEST(the_exact_rule_of_a_question_means_it_and_nothing_that_is_longer)
{
	struct buf file = BUF_INIT(MIB);
	struct row r;
	int made = 0;
	ARENA;

	if (!t_read_file(t, "test/table/permission.test", &file))
		return;
	for (struct str rest = buf_as_str(&file); next_row(&rest, &r);) {
		struct permission_question q;
		struct permission p;
		struct err err;
		JSON;

		OK(json_read(&j, input_of(&r, &mem), 0, &err));
		q = question(r.tool, &j);
		if (permission_exact(&q, &mem, &p, &err)) {
			EQ(err.status, STATUS_USAGE);
			continue;
		}
		made++;
		CHECK(permission_means(&p, &q, true) && permission_means(&p, &q, false));
		OK(permission_check(&p, &err));
	}
	CHECK(made > 100);
	buf_release(&file);
}

static bool means(struct t *t, const char *rule, const char *tool, const char *json,
		  struct permission_question q, bool strictly)
{
	struct permission p;
	struct err err;
	JSON;

	if (permission_read(str_of(rule), &p, &err) || json_read(&j, str_of(json), 0, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return false;
	}
	q.tool = str_of(tool);
	q.input = &j;
	return permission_means(&p, &q, strictly);
}

TEST(a_link_is_where_it_leads)
{
	struct permission_question q = { .cwd = STR("/work/p"), .real_cwd = STR("/disk/p") };
	const char *in = "{\"file_path\":\"/work/p/src/link/a\"}";

	q.real_path = STR("/etc/a");
	CHECK(!means(t, "Edit(src/**)", "Edit", in, q, true));
	CHECK(means(t, "Edit(src/**)", "Edit", in, q, false));
	CHECK(means(t, "Edit(/etc/**)", "Edit", in, q, false));
	CHECK(!means(t, "Edit(/etc/**)", "Edit", in, q, true));
	q.real_path = STR("/disk/p/src/x/a"); /* the folder itself is behind one */
	CHECK(means(t, "Edit(src/**)", "Edit", in, q, true));
}

TEST(a_relative_path_in_no_folder_is_never_allowed_and_may_be_denied)
{
	struct permission_question q = { .home = STR("/home/u") };

	CHECK(!means(t, "Edit(src/**)", "Edit", "{\"file_path\":\"src/a\"}", q, true));
	CHECK(means(t, "Edit(src/**)", "Edit", "{\"file_path\":\"src/a\"}", q, false));
	CHECK(means(t, "Edit(/src/**)", "Edit", "{\"file_path\":\"/src/a\"}", q, true));
}

TEST(wildcards_in_the_name_of_a_folder_are_letters)
{
	struct permission_question q = { .cwd = STR("/work/*") };

	CHECK(means(t, "Edit(a)", "Edit", "{\"file_path\":\"a\"}", q, true));
	CHECK(!means(t, "Edit(a)", "Edit", "{\"file_path\":\"/work/q/a\"}", q, true));
}

TEST(what_takes_too_many_steps_is_not_allowed_and_may_be_denied)
{
	struct buf json CLEANUP(buf_release) = BUF_INIT(16 * MIB), rule CLEANUP(buf_release) = BUF_INIT(MIB);
	struct permission_question q = { 0 };

	buf_text(&rule, "Bash(");
	for (int i = 0; i < 1000; i++)
		buf_text(&rule, "*a");
	buf_text(&rule, "b)");
	buf_text(&json, "{\"command\":\"");
	for (int i = 0; i < 1000000; i++)
		buf_text(&json, "a");
	buf_text(&json, "\"}");
	CHECK(!means(t, rule.p, "Bash", json.p, q, true));
	CHECK(means(t, rule.p, "Bash", json.p, q, false));
}

TEST(what_a_person_is_asked_no_rule_answers_with_yes)
{
	struct permission any = { .tool = STR("*") }, ask = { .tool = STR("AskUserQuestion") },
			  plan = { .tool = STR("ExitPlanMode") };

	CHECK(permission_may_allow(&any, STR("Bash")));
	CHECK(!permission_may_allow(&any, STR("AskUserQuestion")) &&
	      !permission_may_allow(&ask, STR("AskUserQuestion")));
	CHECK(!permission_may_allow(&any, STR("ExitPlanMode")) &&
	      permission_may_allow(&plan, STR("ExitPlanMode")));
}

TESTS(CASE(rules_mean_what_the_table_says),
      CASE(the_exact_rule_of_a_question_means_it_and_nothing_that_is_longer), CASE(a_link_is_where_it_leads),
      CASE(a_relative_path_in_no_folder_is_never_allowed_and_may_be_denied),
      CASE(wildcards_in_the_name_of_a_folder_are_letters),
      CASE(what_takes_too_many_steps_is_not_allowed_and_may_be_denied),
      CASE(what_a_person_is_asked_no_rule_answers_with_yes))
