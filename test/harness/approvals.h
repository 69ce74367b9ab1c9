/*
 * Approvals for tests: questions that somebody asks.
 */
#ifndef ARBOR_TEST_APPROVALS_H
#define ARBOR_TEST_APPROVALS_H

#include "store/approval.h"
#include "store/db.h"
#include "store/rule.h"
#include "streams.h"

/* May `touch a` run? Of no session. */
static inline struct approval_new test_question(void)
{
	return (struct approval_new){ .request_id = STR("r"),
				      .tool_name = STR("Bash"),
				      .input = STR("{\"command\":\"touch a\"}"),
				      .cwd = STR("/work"),
				      .asker = test_lease(1) };
}

static inline struct approval_answer test_answer(enum approval_deed by, enum approval_decision decision)
{
	return (struct approval_answer){ .by = by, .decision = decision };
}

/* For examples: a question that waits, of the session fix-tests, and a rule. Who asked is on another machine,
 * and says that it waits until 2100. */
static inline enum status test_plant_approvals(struct store *s, struct err *err)
{
	struct approval_new question = test_question();
	struct rule rule = { .tool = STR("Bash"), .pattern = STR("git status"), .decision = RULE_ALLOW };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval a;
	struct named named;

	if (named_find(s, STR("fix-tests"), &mem, &named, err))
		return err_failed(err->status);
	question.session = named.row;
	question.input = STR(
		"{\"command\":\"npm test -- prices\",\"description\":\"Run the tests of prices\"}");
	question.asker.host = STR("elsewhere");
	if (approval_ask(s, &question, &mem, &a, err) || rule_add(s, &rule, err))
		return err_failed(err->status);
	return db_exec(s,
		       "UPDATE approval SET approval_id = x'a5ced000000040008000000000000001', lease_at = "
		       "4102444800000"
		       " WHERE id = (SELECT max(id) FROM approval);"
		       "UPDATE approval_rule SET rule_id = x'4e1e0000000040008000000000000001'"
		       " WHERE id = (SELECT max(id) FROM approval_rule)",
		       err);
}

#endif
