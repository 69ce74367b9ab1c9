/*
 * Approvals for tests: questions that somebody asks.
 */
#ifndef ARBOR_TEST_APPROVALS_H
#define ARBOR_TEST_APPROVALS_H

#include "store/approval.h"
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

#endif
