/* Did you mean: distances and the choice of the nearest name. */
#include "base/near.h"
#include "t.h"

TEST(distances_count_insertions_deletions_and_replacements)
{
	EQ(edit_distance(STR(""), STR("")), 0);
	EQ(edit_distance(STR("sync"), STR("sync")), 0);
	EQ(edit_distance(STR("sycn"), STR("sync")), 2);
	EQ(edit_distance(STR("syn"), STR("sync")), 1);
	EQ(edit_distance(STR("synch"), STR("sync")), 1);
	EQ(edit_distance(STR("abc"), STR("xyz")), 3);
	EQ(edit_distance(STR(""), STR("abc")), 3);
}

TEST(the_nearest_name_is_offered_and_a_far_one_is_not)
{
	struct near n = near_begin(STR("sorce"));

	near_try(&n, "label");
	CHECK(n.best == NULL);
	near_try(&n, "source");
	near_try(&n, "force");
	EQS(str_of(n.best), STR("source"));
	n = near_begin(STR("x"));
	near_try(&n, "q");
	CHECK(n.best == NULL); /* everything is near to one letter */
}

TEST(long_names_are_far_from_everything)
{
	char text[100] = { 0 };

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = 'a';
	CHECK(edit_distance(str_from(text, sizeof text), STR("a")) > 2);
}

TESTS(CASE(distances_count_insertions_deletions_and_replacements),
      CASE(the_nearest_name_is_offered_and_a_far_one_is_not),
      CASE(long_names_are_far_from_everything))
