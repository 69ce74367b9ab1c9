/*
 * Narrowing listings to a session or a project.
 */
#include "hub/narrow.h"
#include "t.h"

static bool has_session(const char *asked, const char *id)
{
	return narrow_has_session(&(struct narrow){ .session = asked ? str_of(asked) : (struct str){ 0 } },
				  str_of(id));
}

static bool has_project(const char *asked, const char *path)
{
	return narrow_has_project(&(struct narrow){ .project = asked ? str_of(asked) : (struct str){ 0 } },
				  str_of(path));
}

TEST(a_session_is_meant_by_the_beginning_of_its_id)
{
	static const char id[] = "0ea33764-9f05-462f-a1d4-51fb8fdac471";

	CHECK(has_session(NULL, id) && has_session(NULL, ""));
	CHECK(has_session("0ea3", id) && has_session("0ea337649f05", id));
	CHECK(has_session("0ea337649f05462fa1d451fb8fdac471", id));
	CHECK(has_session("0ea3", "0EA33764-9F05-462F-A1D4-51FB8FDAC471"));
	CHECK(!has_session("0ea4", id) && !has_session("0ea3", "0ea") && !has_session("0ea3", ""));
	CHECK(!has_session("0ea337649f05462fa1d451fb8fdac4710", id));
}

TEST(a_project_is_meant_by_its_folder_one_above_or_its_name)
{
	CHECK(has_project(NULL, "/home/dev/p") && has_project(NULL, ""));
	CHECK(has_project("/home/dev/p", "/home/dev/p") && has_project("/home/dev/p", "/home/dev/p/src"));
	CHECK(has_project("/home", "/home/dev/p") && has_project("/", "/home/dev/p") &&
	      has_project("/", "/"));
	CHECK(has_project("p", "/home/dev/p") && has_project("dev/p", "/home/dev/p"));
	CHECK(!has_project("/home/dev/p", "/home/dev/pp") && !has_project("/home/dev/p", "/home/dev"));
	CHECK(!has_project("ev/p", "/home/dev/p") && !has_project("p", "/home/dev/pp") &&
	      !has_project("p", ""));
	CHECK(!has_project("/", "") && !has_project("/", "relative"));
}

TESTS(CASE(a_session_is_meant_by_the_beginning_of_its_id),
      CASE(a_project_is_meant_by_its_folder_one_above_or_its_name))
