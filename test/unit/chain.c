/*
 * The lines of one transcript: parents, answers, where the client would go on. The cases of
 * the last are those a client was asked in (the capture d05-branches).
 */
#include "query/chain.h"
#include "t.h"
#include "talk.h"

struct one {
	struct talk talk;
	struct chain c;
};

static void one_release(struct one *o)
{
	chain_release(&o->c);
	talk_release(&o->talk);
}

#define ONE struct one CLEANUP(one_release)

static void make(struct one *o, const char *text)
{
	*o = (struct one){ 0 };
	talk_lines(&o->talk, &o->c, text);
	chain_build(&o->c);
}

static struct str name_of(const struct one *o, uint32_t line)
{
	return line == CHAIN_NONE ? STR("none") : o->talk.names[o->c.lines[line].offset];
}

/* NAME<PARENT of each line that has a uuid; "?" where the parent is inferred. */
static void check_parents(struct t *t, int line, const char *text, const char *want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	ONE o;

	make(&o, text);
	for (uint32_t i = 0; i < o.c.line_count; i++) {
		const struct chain_line *l = &o.c.lines[i];

		if (l->has_key)
			buf_printf(&got, "%s%.*s", got.n ? " " : "", STR_ARG(name_of(&o, i)));
		if (l->parent != CHAIN_NONE)
			buf_printf(&got, "<%.*s%s", STR_ARG(name_of(&o, l->parent)), l->inferred ? "?" : "");
	}
	t_eq_str(t, __FILE__, line, buf_as_str(&got), str_of(want), text);
}

#define PARENTS(text, want) check_parents(t, __LINE__, text, want)

/* The lines of each answer. */
static void check_answers(struct t *t, int line, const char *text, const char *want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	ONE o;

	make(&o, text);
	for (uint32_t a = 0; a < o.c.answer_count; a++) {
		buf_text(&got, a ? " | " : "");
		for (uint32_t i = o.c.answers[a].first; i != CHAIN_NONE; i = o.c.lines[i].next) {
			buf_printf(&got, "%s%.*s", i == o.c.answers[a].first ? "" : " ",
				   STR_ARG(name_of(&o, i)));
			CHECK(o.c.lines[i].answer == a);
		}
	}
	t_eq_str(t, __FILE__, line, buf_as_str(&got), str_of(want), text);
}

#define ANSWERS(text, want) check_answers(t, __LINE__, text, want)

static void check_leaf(struct t *t, int line, bool is_agent, const char *text, const char *want)
{
	ONE o;

	make(&o, text);
	o.c.is_agent = is_agent;
	t_eq_str(t, __FILE__, line, name_of(&o, chain_leaf(&o.c)), str_of(want), text);
}

#define LEAF(text, want) check_leaf(t, __LINE__, false, text, want)

/* ---- Parents ---------------------------------------------------------------------- */

TEST(a_line_hangs_on_the_line_it_names_wherever_that_stands)
{
	PARENTS("u A; a B<A; u C<B", "A B<A C<B");
	PARENTS("u C<B; a B<A; u A", "C<B B<A A");
}

TEST(parents_given_by_offset_are_the_same)
{
	ONE o;

	o = (struct one){ 0 };
	talk_lines(&o.talk, &o.c, "u A; a B<X; u A says=again; u C<X");
	o.c.lines[1].parent_at = 0;
	o.c.lines[3].parent_at = 1;
	chain_build(&o.c);
	/* Whoever is meant by an offset is meant by its uuid: the last with it. */
	EQ(o.c.lines[1].parent, 2);
	EQ(o.c.lines[3].parent, 1);
	CHECK(!o.c.lines[1].inferred);
}

TEST(an_offset_where_no_line_begins_leads_nowhere)
{
	ONE o;

	o = (struct one){ 0 };
	talk_lines(&o.talk, &o.c, "u A; a B<A");
	o.c.lines[1].parent_at = 17;
	o.c.lines[1].parent_key = (struct uuid){ { 1 } };
	chain_build(&o.c);
	EQ(o.c.lines[1].parent, CHAIN_NONE);
}

TEST(the_last_line_with_a_uuid_is_the_one)
{
	ONE o;

	PARENTS("u A; u A says=more; a B<A", "A A B<A");
	make(&o, "u A; u A says=more; a B<A");
	EQ(o.c.lines[2].parent, 1);
	CHECK(o.c.lines[0].shadowed && !o.c.lines[1].shadowed);
	EQ(chain_find(&o.c, &o.c.lines[0].key), 1);
}

TEST(nothing_is_its_own_parent)
{
	PARENTS("u A<A; a B<A", "A B<A");
}

TEST(a_circle_stays_one_and_does_no_harm)
{
	PARENTS("u A<C; a B<A; u C<B", "A<C B<A C<B");
	LEAF("u A<C; a B<A; u C<B", "C");
	LEAF("s A<C; s B<A; s C<B", "none");
	LEAF("u A; s B<C; s C<B; l >C", "none");
}

TEST(a_missing_parent_is_the_line_before_it_in_time)
{
	PARENTS("u A @10; a B<A @11; u C<gone @12", "A B<A C<B?");
	/* Wherever it stands in the file. */
	PARENTS("u C<gone @12; u A @10; a B<A @11", "C<B? A B<A");
	/* Of equal times the last. */
	PARENTS("u A @11; a B<A @11; u C<gone @12", "A B<A C<B?");
}

TEST(a_stand_in_is_at_most_five_seconds_older)
{
	PARENTS("u A @10; u C<gone @15", "A C<A?");
	PARENTS("u A @10; u C<gone @16", "A C");
	PARENTS("u A @17; u C<gone @16", "A C");
	/* Without a time nobody is older. */
	PARENTS("u A @10; u C<gone @0", "A C");
}

TEST(only_a_line_that_can_be_hung_on_stands_in)
{
	PARENTS("u A @10; o x @11; l >A @11; u C<gone @12", "A C<A?");
	PARENTS("u A @10; u B<A +embedded @11; u C<gone @12", "A B C<A?");
	PARENTS("u A @10; u B @11; u B says=b @9; u C<gone @12", "A B B C<A?");
}

TEST(a_crowd_of_notes_does_not_hide_a_stand_in)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	ONE o;

	buf_text(&text, "u A @10;");
	for (int i = 0; i < 5000; i++)
		buf_text(&text, "o x @11;");
	buf_text(&text, "u C<gone @12");
	buf_byte(&text, '\0');
	make(&o, text.p);
	EQ(o.c.lines[o.c.line_count - 1].parent, 0);
}

/* ---- Answers ---------------------------------------------------------------------- */

TEST(lines_of_one_api_message_are_one_answer)
{
	ANSWERS("u A; a B<A m=1; a C<B m=1 call=x; u R<C res=x; a D<R m=2", "B C | D");
	ANSWERS("a A m=1; a B<A m=2; a C<B m=1", "A C | B");
}

TEST(a_line_without_api_message_is_an_answer_alone)
{
	ANSWERS("u A; a B<A; a C<B", "B | C");
}

TEST(calls_hang_on_one_another_or_on_results_and_are_one_answer)
{
	ANSWERS("u A; a B<A m=1 call=x; a C<B m=1 call=y; u R<B res=x; u S<C res=y", "B C");
	ANSWERS("u A; a B<A m=1 call=x; u R<B res=x; a C<R m=1 call=y; u S<C res=y", "B C");
}

TEST(what_is_repeated_is_in_an_answer_once)
{
	ANSWERS("u A; a B<A m=1; a C<B m=1; a B<A m=1; a C<B m=1", "B C");
	ANSWERS("u A; a B<A m=1; a C<B m=1; a B<A m=1 says=more", "C B");
}

/* ---- Where it goes on ---------------------------------------------------------------- */

#define TWO_WAYS "u A @1; a B<A @2; u C<B @3; a D<C @4; "

TEST(it_goes_on_where_the_client_went_on)
{
	LEAF(TWO_WAYS "u E<B @5; a F<E @6", "F");
	LEAF(TWO_WAYS "u E<B @5; a F<E @6; l >D", "D");
	LEAF(TWO_WAYS "u E<B @5; a F<E @6; l >D !", "D");
	LEAF(TWO_WAYS "l >D; u E<B @5; a F<E @6", "D");
	LEAF(TWO_WAYS "l >D !; u E<B @5; a F<E @6", "D");
	LEAF("u A; a B<A; l >B; u C<B; a D<C", "D");
	LEAF(TWO_WAYS "l >B !", "B");
	LEAF(TWO_WAYS "l >B", "D");
	LEAF("u A; a B<A; u G<B ~; a H<G ~", "B");
	LEAF("u A @1; a B<A @2; u C<B @50; a D<C @51; u E<B @30; a F<E @31", "F");
	LEAF("u A; a B<A; l !", "none");
	LEAF("u A @1; a B<A @2; u C<Z @3; a D<C @4", "D");
	LEAF(TWO_WAYS "l >Z", "D");
	LEAF("u A; a B<A; o torn; o glued", "B");
	LEAF("u A; o torn; a B<A", "B");
	LEAF("a D<C @1; u C<B @2; a B<A @3; u A @4", "A");
	LEAF("u A; a B<A; a B<A", "B");
	/* Continued in the middle, forked, and forked into a file of its own. */
	LEAF(TWO_WAYS "u X<B; t Y<X; a Z<Y; l >Z", "Z");
	LEAF(TWO_WAYS "u X<C; a Z<X; l >Z; o mode", "Z");
	LEAF(TWO_WAYS "u E<B @5; a F<E @6; u X; a Z<X; l >Z", "Z");
	LEAF("u A; a B<A; u X<B; a Y<X", "Y");
}

TEST(more_is_noted_than_one_leaf_and_the_last_counts)
{
	LEAF(TWO_WAYS "l >B !; l >D", "D");
	LEAF(TWO_WAYS "l >D; l >A !", "A");
	/* One that names nothing and is not explicit says nothing. */
	LEAF(TWO_WAYS "l >B !; l", "B");
}

TEST(an_emptied_conversation_is_empty_until_something_is_said)
{
	LEAF("u A; a B<A; l !; u C", "C");
	LEAF("l !", "none");
	LEAF("", "none");
	LEAF("l >A", "none");
}

TEST(from_a_note_it_goes_up_to_what_was_said)
{
	LEAF("u A; a B<A; s C<B; t D<C", "B");
	LEAF("u A; a B<A; s C<B; l >C", "B");
	LEAF("s A; t B<A", "none");
}

TEST(a_sub_agents_own_file_ends_with_its_last_line)
{
	check_leaf(t, __LINE__, true, "u A ~; a B<A ~", "B");
	LEAF("u A ~; a B<A ~", "none");
}

TESTS(CASE(a_line_hangs_on_the_line_it_names_wherever_that_stands),
      CASE(parents_given_by_offset_are_the_same), CASE(an_offset_where_no_line_begins_leads_nowhere),
      CASE(the_last_line_with_a_uuid_is_the_one), CASE(nothing_is_its_own_parent),
      CASE(a_circle_stays_one_and_does_no_harm), CASE(a_missing_parent_is_the_line_before_it_in_time),
      CASE(a_stand_in_is_at_most_five_seconds_older), CASE(only_a_line_that_can_be_hung_on_stands_in),
      CASE(a_crowd_of_notes_does_not_hide_a_stand_in), CASE(lines_of_one_api_message_are_one_answer),
      CASE(a_line_without_api_message_is_an_answer_alone),
      CASE(calls_hang_on_one_another_or_on_results_and_are_one_answer),
      CASE(what_is_repeated_is_in_an_answer_once), CASE(it_goes_on_where_the_client_went_on),
      CASE(more_is_noted_than_one_leaf_and_the_last_counts),
      CASE(an_emptied_conversation_is_empty_until_something_is_said),
      CASE(from_a_note_it_goes_up_to_what_was_said), CASE(a_sub_agents_own_file_ends_with_its_last_line))
