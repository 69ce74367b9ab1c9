/*
 * Commands that are offered: what can be typed as it stands, wherever the conversation was.
 */
#include "face/offer.c"
#include "face/text.c"
#include "t.h"

static void check_offer(struct t *t, int line, const char *store, const char *project, const char *want)
{
	struct face f = { .store = store ? str_of(store) : (struct str){ 0 } };
	struct buf out CLEANUP(buf_release) = BUF_INIT(KIB);

	offer_resume(&f, &out, "abc", str_of(project));
	t_eq_str(t, __FILE__, line, buf_as_str(&out), str_of(want), project);
}

TEST(it_goes_on_where_it_was_or_else_where_one_is)
{
	char long_path[LIMIT_PATH + 2];

	check_offer(t, __LINE__, NULL, "/tmp", "arbor resume abc");
	check_offer(t, __LINE__, NULL, "/no/such folder", "arbor resume abc --cwd .");
	check_offer(t, __LINE__, NULL, "/dev/null", "arbor resume abc --cwd .");
	check_offer(t, __LINE__, NULL, "", "arbor resume abc --cwd .");
	memset(long_path, '/', sizeof long_path - 1);
	long_path[sizeof long_path - 1] = '\0';
	check_offer(t, __LINE__, NULL, long_path, "arbor resume abc --cwd .");
}

TEST(it_names_the_store_that_was_asked)
{
	check_offer(t, __LINE__, "it's.db", "/tmp", "arbor resume abc --store 'it'\\''s.db'");
}

TESTS(CASE(it_goes_on_where_it_was_or_else_where_one_is), CASE(it_names_the_store_that_was_asked))
