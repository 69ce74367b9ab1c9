/*
 * Errors: the table of statuses, and texts that are built from the back to the
 * front and cut at their end.
 */
#include "t.h"

#include <errno.h>
#include <string.h>

TEST(every_status_has_a_row_of_its_own)
{
	for (int s = 0; s < STATUS_COUNT; s++) {
		const struct status_info *info = status_info((enum status)s);

		NEED(info->name && info->sentence);
		CHECK(info->name[0] && info->sentence[0]);
		CHECK(info->http >= 200 && info->http <= 599);
		for (int other = 0; other < s; other++) {
			CHECK(strcmp(info->name, status_info((enum status)other)->name) != 0);
			CHECK(info->json_rpc != status_info((enum status)other)->json_rpc);
		}
	}
}

TEST(only_success_looks_like_success)
{
	for (int s = 0; s < STATUS_COUNT; s++) {
		const struct status_info *info = status_info((enum status)s);

		EQ(info->exit_code == 0, s == STATUS_OK);
		EQ(info->json_rpc == 0, s == STATUS_OK);
		CHECK(info->exit_code >= 0 && info->exit_code <= 255);
		EQ(info->http == 200, s == STATUS_OK || s == STATUS_PARTIAL);
	}
}

TEST(a_status_out_of_range_is_a_bug)
{
	EQS(str_of(status_info(STATUS_COUNT)->name), STR("internal"));
	EQS(str_of(status_info((enum status)-1)->name), STR("internal"));
}

TEST(setting_keeps_status_and_text)
{
	struct err e;

	EQ(err_set(&e, STATUS_BUSY, "store %s is locked by %d", "x", 7), STATUS_BUSY);
	EQ(e.status, STATUS_BUSY);
	EQS(str_of(e.text), STR("store x is locked by 7"));
}

TEST(context_goes_in_front)
{
	struct err e;

	err_set(&e, STATUS_FORMAT, "no such %s", "thing");
	EQ(err_wrap(&e, "%s:%d", "a.jsonl", 812), STATUS_FORMAT);
	EQ(err_wrap(&e, "sync"), STATUS_FORMAT);
	EQS(str_of(e.text), STR("sync: a.jsonl:812: no such thing"));
}

TEST(a_long_text_is_cut_at_its_end)
{
	char huge[4 * LIMIT_ERR_TEXT];
	struct err e;

	memset(huge, 'h', sizeof huge);
	huge[sizeof huge - 1] = '\0';
	err_set(&e, STATUS_IO, "file: %s", huge);
	EQ(strlen(e.text), LIMIT_ERR_TEXT - 1);
	CHECK(str_has_prefix(str_of(e.text), STR("file: hhh")));

	err_wrap(&e, "sync");
	EQ(strlen(e.text), LIMIT_ERR_TEXT - 1);
	CHECK(str_has_prefix(str_of(e.text), STR("sync: file: hhh")));
}

TEST(a_long_context_leaves_room_for_the_reason)
{
	char huge[4 * LIMIT_ERR_TEXT];
	struct err e;

	memset(huge, 'h', sizeof huge);
	huge[sizeof huge - 1] = '\0';
	err_set(&e, STATUS_IO, "the reason");
	err_wrap(&e, "%s", huge);
	CHECK(str_has_suffix(str_of(e.text), STR("h: the reason")));
	CHECK(strlen(e.text) < LIMIT_ERR_TEXT);
	for (int i = 0; i < 5; i++)
		err_wrap(&e, "%s", huge);
	EQ(strlen(e.text), LIMIT_ERR_TEXT - 1);
}

TEST(every_length_of_context_joins_without_loss)
{
	for (int n = 0; n < LIMIT_ERR_TEXT; n++) {
		struct err e;
		size_t kept;

		err_set(&e, STATUS_IO, "reason");
		err_wrap(&e, "%*s", n, "");
		kept = strlen(e.text);
		CHECK(str_has_suffix(str_of(e.text), STR(": reason")));
		CHECK(kept == (size_t)n + 8 || (n > LIMIT_ERR_TEXT / 4 && kept < (size_t)n + 8));
	}
}

TEST(an_errno_becomes_a_status_and_a_sentence)
{
	static const struct {
		int number;
		enum status status;
	} rows[] = {
		{ ENOENT, STATUS_NOT_FOUND }, { ENOTDIR, STATUS_NOT_FOUND }, { EACCES, STATUS_DENIED },
		{ EPERM, STATUS_DENIED },     { EROFS, STATUS_DENIED },      { ENOSPC, STATUS_FULL },
		{ EDQUOT, STATUS_FULL },      { EFBIG, STATUS_LIMIT },       { EIO, STATUS_IO },
		{ 99999, STATUS_IO },
	};
	struct err e;

	for (size_t i = 0; i < COUNT(rows); i++) {
		EQ(err_errno(&e, rows[i].number, "opening %s", "x"), rows[i].status);
		EQ(e.status, rows[i].status);
		CHECK(str_has_prefix(str_of(e.text), STR("opening x: ")));
	}
	err_errno(&e, ENOENT, "opening %s", "a.jsonl");
	EQS(str_of(e.text), STR("opening a.jsonl: No such file or directory"));
}

TEST(a_failing_return_is_never_success)
{
	struct err e;

	EQ(err_fail(&e, STATUS_OK, "said wrongly"), STATUS_INTERNAL);
	EQ(err_fail(&e, STATUS_DENIED, "no"), STATUS_DENIED);
	EQ(err_pass(&e, "outer"), STATUS_DENIED);
	EQ(err_fail_errno(&e, ENOSPC, "writing"), STATUS_FULL);
}

TESTS(CASE(every_status_has_a_row_of_its_own),
      CASE(only_success_looks_like_success),
      CASE(a_status_out_of_range_is_a_bug),
      CASE(setting_keeps_status_and_text),
      CASE(context_goes_in_front),
      CASE(a_long_text_is_cut_at_its_end),
      CASE(a_long_context_leaves_room_for_the_reason),
      CASE(every_length_of_context_joins_without_loss),
      CASE(an_errno_becomes_a_status_and_a_sentence),
      CASE(a_failing_return_is_never_success))
