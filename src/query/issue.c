/*
 * Nobody names the repository in its own folder. Which one a folder is of is told by the issues that are
 * named at length there: that of which most are. Each way to say a number takes a search.
 */
#include "query/issue.h"

#include "claude/mention.h"
#include "store/db.h"

enum { ISSUE_REPOSITORY, ISSUE_STATEMENTS };

enum { MOST_SAYERS = 200 }; /* of each way to say it */

static const char *const sql[ISSUE_STATEMENTS] = {
	/* Up to the mark. */
	[ISSUE_REPOSITORY] =
		("SELECT substr(l.name, 1, instr(l.name, '#')) FROM mirror_session a"
		 " CROSS JOIN mirror_session b ON b.project = a.project AND b.old = 0"
		 " CROSS JOIN link l ON l.session = b.id AND l.kind = 3 AND instr(l.name, '#') > 1"
		 " WHERE a.session_id = ?1 AND a.old = 0 AND a.agent IS NULL"
		 " GROUP BY 1 ORDER BY sum(l.times) DESC, 1 LIMIT 1"),
};

const struct db_set issue_statements = { DB_ISSUE, sql, ISSUE_STATEMENTS };

_Static_assert(MENTION_ISSUE == 3, "a number that stands in the statement");

static const char *const words[] = { "PR", "pull request", "pull", "issue", "review", "MR" };

static enum status is_of_repository(struct store *s, const struct uuid *session, struct str repository,
				    bool *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (stmt_use(s, &issue_statements, ISSUE_REPOSITORY, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, session);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW && str_eq(col_bytes(&st, 0), repository);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

enum status issue_said_by(struct store *s, struct str issue, struct arena *mem, struct said **out,
			  size_t *count, struct err *err)
{
	size_t mark = str_find(issue, '#');

	if (mark == SIZE_MAX)
		return said_by(s, issue, mem, out, count, err);
	*count = 0;
	*out = arena_alloc(mem, COUNT(words) * MOST_SAYERS * sizeof **out);
	for (size_t w = 0; w < COUNT(words); w++) {
		struct str phrase = arena_printf(mem, "%s %.*s", words[w],
						 STR_ARG(str_sub(issue, mark + 1, SIZE_MAX)));
		struct said *list;
		size_t sayers;

		if (said_by(s, phrase, mem, &list, &sayers, err))
			return err_failed(err->status);
		for (size_t i = 0; i < sayers && i < MOST_SAYERS; i++) {
			bool is_here;

			if (is_of_repository(s, &list[i].session, str_sub(issue, 0, mark + 1), &is_here, err))
				return err_failed(err->status);
			if (is_here)
				(*out)[(*count)++] = list[i];
		}
	}
	return STATUS_OK;
}
