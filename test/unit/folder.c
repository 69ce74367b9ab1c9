/*
 * Names of folders below projects/. The expected ones were made with JavaScript, whose
 * UTF-16 the client counts in, or by the client itself.
 */
#include "claude/folder.h"
#include "t.h"

#include <string.h>

static void check_name(struct t *t, struct str cwd, const char *want)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(KIB);

	claude_encode_cwd(cwd, &name);
	EQS(buf_as_str(&name), str_of(want));
}

/* front + times * unit + back, as a path; its name ends so and is as long as any may be. */
static void check_long(struct t *t, const char *front, const char *unit, int times, const char *back,
		       const char *want_end)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf name CLEANUP(buf_release) = BUF_INIT(KIB);

	buf_text(&path, front);
	for (int i = 0; i < times; i++)
		buf_text(&path, unit);
	buf_text(&path, back);
	claude_encode_cwd(buf_as_str(&path), &name);
	EQ(name.n, CLAUDE_FOLDER_MAX);
	EQS(str_sub(buf_as_str(&name), name.n - size_min(name.n, strlen(want_end)), SIZE_MAX),
	    str_of(want_end));
}

TEST(letters_and_digits_stay_and_all_else_is_a_dash)
{
	check_name(t, STR("/home/dev/webshop"), "-home-dev-webshop");
	check_name(t, STR("/home/Dev/a.b_c d@e+f:g9"), "-home-Dev-a-b-c-d-e-f-g9");
	check_name(t, STR("C:\\git\\x"), "C--git-x");
	check_name(t, STR(""), "");
}

TEST(dashes_are_counted_in_utf_16)
{
	check_name(t, STR("/é/中/x"), "-----x");
	check_name(t, STR("/😀/x"), "----x");
	check_name(t, STR("/e\xcc\x81"), "-e-");	/* not normalised */
	check_name(t, STR("/\xff\xf0\x9f/x"), "----x"); /* two broken characters */
}

TEST(two_hundred_are_not_too_long)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(KIB), want CLEANUP(buf_release) = BUF_INIT(KIB);

	buf_text(&path, "/");
	buf_text(&want, "-");
	for (int i = 0; i < 199; i++) {
		buf_text(&path, "a");
		buf_text(&want, "a");
	}
	check_name(t, buf_as_str(&path), want.p);
}

TEST(a_longer_name_is_cut_and_gets_a_hash_of_the_whole_path)
{
	check_long(t, "/", "a", 200, "", "aaaaaaa-b6ymvl");
	check_long(t, "/", "é", 200, "", "--------s4uqmp");
	check_long(t, "/", "😀", 100, "", "--------5s12ud");
	check_long(t, "/home/dev/", "long-folder-name/", 20, "", "ame-lon-q9afdx");
	check_long(t, "/", "😀", 99, "a😀b", "------a-uz5y6u");
}

/* By client 2.1.197, started in folders with paths of 247 and 338 units. */
TEST(the_client_gave_long_paths_the_same_names)
{
	check_long(t, "/tmp/work/", "a-rather-long-folder-name/", 9, "zzz", "her-byjgbu");
	check_long(t, "/tmp/work/", "Ünï_cödé 😀 folder.x/", 15, "zzzzzzzzzzzzz", "x---ucjuup");
}

TESTS(CASE(letters_and_digits_stay_and_all_else_is_a_dash), CASE(dashes_are_counted_in_utf_16),
      CASE(two_hundred_are_not_too_long), CASE(a_longer_name_is_cut_and_gets_a_hash_of_the_whole_path),
      CASE(the_client_gave_long_paths_the_same_names))
