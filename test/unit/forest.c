/*
 * Transcripts together: the rules one by one in shorthand, each with its files in either
 * order; then what holds for any lines, on random ones.
 */
#include "claude/fork.h"
#include "query/forest.h"
#include "t.h"
#include "talk.h"

#include <stdarg.h>

enum { MOST_FILES = 12 };

/* Builds from files (path, text, ..., NULL), in their order or from the last to the first. */
static void build(struct talk *k, bool backwards, va_list files)
{
	const char *list[MOST_FILES][2];
	int count = 0;

	*k = (struct talk){ 0 };
	while (count < MOST_FILES && (list[count][0] = va_arg(files, const char *)))
		list[count++][1] = va_arg(files, const char *);
	for (int i = 0; i < count; i++)
		talk_file(k, list[backwards ? count - 1 - i : i][0], list[backwards ? count - 1 - i : i][1]);
	forest_build(&k->f);
}

static void check_forest(struct t *t, int line, const char *want, ...)
{
	for (int backwards = 0; backwards < 2; backwards++) {
		struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
		const char *flaw;
		va_list files;
		TALK k;

		va_start(files, want);
		build(&k, backwards, files);
		va_end(files);
		talk_describe(&k, &got);
		if (!t_eq_str(t, __FILE__, line, buf_as_str(&got), str_of(want),
			      backwards ? "backwards" : "forest"))
			return;
		flaw = forest_flaw(&k.f);
		if (flaw)
			t_fail(t, __FILE__, line, "%s", flaw);
	}
}

#define FOREST(want, ...)    check_forest(t, __LINE__, want, __VA_ARGS__, (const char *)NULL)
#define ONE_FILE(text, want) FOREST(want, "a", text)

/* ---- Messages ---------------------------------------------------------------------- */

TEST(lines_of_an_answer_are_one_message_and_its_results_another)
{
	static const char want[] = "user A human\n"
				   "assistant B C <A\n"
				   "results R S <B\n"
				   "assistant D <R\n";

	ONE_FILE("u A; a B<A m=1 call=x; a C<B m=1 call=y; u R<B res=x; u S<C res=y; a D<S m=2", want);
	/* The second call on the first result: half of what newer clients write. */
	ONE_FILE("u A; a B<A m=1 call=x; u R<B res=x; a C<R m=1 call=y; u S<C res=y; a D<S m=2", want);
	/* Both results on the last call, in the order they came. */
	ONE_FILE("u A; a B<A m=1 call=x; a C<B m=1 call=y; u R<C res=y; u S<R res=x; a D<S m=2", want);
	/* What follows hangs on the first result. */
	ONE_FILE("u A; a B<A m=1 call=x; a C<B m=1 call=y; u R<B res=x; u S<C res=y; a D<R m=2", want);
}

TEST(several_results_in_one_line_are_the_answers)
{
	ONE_FILE("u A; a B<A m=1 call=x,y; u R<B res=x,y; a C<R m=2", "user A human\n"
								      "assistant B <A\n"
								      "results R <B\n"
								      "assistant C <R\n");
}

TEST(a_message_follows_what_its_first_line_says)
{
	/* Later lines never move it. */
	ONE_FILE("u A; a B<A m=1; u X<A; a C<X m=1", "user A human x2\n"
						     "assistant B C <A\n"
						     "user X <A human\n");
}

TEST(a_result_follows_its_call_and_not_its_parent)
{
	ONE_FILE("u A; a B<A m=1 call=x; u Q<B; u R<Q res=x", "user A human\n"
							      "assistant B <A x2\n"
							      "user Q <B human\n"
							      "results R <B\n");
}

TEST(a_result_without_its_call_follows_its_parent)
{
	ONE_FILE("u A; a B<A m=1; u R<B res=lost; a C<R m=2", "user A human\n"
							      "assistant B <A\n"
							      "results R <B\n"
							      "assistant C <R\n");
}

TEST(notes_are_looked_through)
{
	ONE_FILE("u A; p P<A; p Q<P; a B<Q; s S<B; u C<S; o x", "user A human\n"
								"assistant B <A\n"
								"user C <B human\n");
	/* What hangs on a note in a circle hangs on nothing. */
	ONE_FILE("s S<T; s T<S; u A<S; a B<A", "user A human\nassistant B <A\n");
}

TEST(what_the_client_puts_in_is_a_message_of_its_own)
{
	ONE_FILE("u A; t T<A; u M<T +meta; s S<M +sent; a B<S; t Q<B +queued; a C<Q", "user A human\n"
										      "client T <A\n"
										      "client M <T\n"
										      "client S <M\n"
										      "assistant B <S\n"
										      "user Q <B\n"
										      "assistant C <Q\n");
}

TEST(a_sub_agents_lines_are_a_tree_of_their_own)
{
	ONE_FILE("u A; a B<A call=x; u S<B ~ +task; a T<S ~; u R<B res=x", "user A human\n"
									   "assistant B <A\n"
									   "user S human\n"
									   "assistant T <S\n"
									   "results R <B\n");
	FOREST("user A human\nassistant B <A\nuser S human\nassistant T <S\n", "a", "u A; a B<A call=x",
	       "agent-1", "u S<B ~ +task; a T<S ~");
}

/* ---- Parents ------------------------------------------------------------------------- */

TEST(a_parent_is_looked_for_in_its_own_file_first_then_anywhere)
{
	FOREST("user A human\nassistant B <A\nuser C <B human\n", "a", "u A; a B<A", "b", "u C<B");
	/* In its own, although another variant is canonical. */
	FOREST("user Z human\nuser A <Z human\nassistant B <A\nuser A human\n", "a", "u A says=1 @1", "b",
	       "u Z @2; u A<Z says=2 @3; a B<A");
}

TEST(a_stand_in_gives_way_to_the_parent_in_another_file)
{
	FOREST("user A human\nassistant B <A\nuser X human\nuser C <B human\n", "a", "u A; a B<A", "b",
	       "u X @99; u C<B @100");
	ONE_FILE("u X @99; u C<B @100", "user X human\nuser C <X human\n");
}

TEST(what_follows_nothing_continues_what_stands_before_it)
{
	ONE_FILE("u A; a B<A; u C<gone; a D<C", "user A human\nassistant B <A\nuser C human\nassistant D <C\n"
						"C continues B?\n");
	/* Nothing stands before it; or it itself, where lines are repeated. */
	ONE_FILE("u C<gone; a D<C", "user C human\nassistant D <C\n");
	ONE_FILE("u C<gone; u C<gone; a D<C", "user C human\nassistant D <C\n");
}

TEST(circles_are_cut_and_nothing_is_lost)
{
	ONE_FILE("u A<A; a B<A", "user A human\nassistant B <A\n");
	ONE_FILE("u A<C; a B<A m=1; u C<B", "user A human\nassistant B <A\nuser C <B human\n");
	ONE_FILE("a B<R m=1 call=x; u R<B res=x", "assistant B\nresults R <B\n");
}

/* ---- Copies --------------------------------------------------------------------------- */

TEST(a_line_in_several_files_is_one)
{
	FOREST("user A human\n"
	       "assistant B <A x2\n"
	       "user C <B human\n"
	       "user X <B human\n",
	       "a", "u A; a B<A m=1; u C<B", "b", "u A; a B<A m=1; u X<B", "c", "u A; a B<A m=1");
}

TEST(of_one_uuid_the_last_line_of_a_file_counts)
{
	ONE_FILE("u A; a B<A says=b; a B<A says=b @50", "user A human\nassistant B <A\n");
}

TEST(one_uuid_with_other_content_is_a_variant)
{
	TALK k = { 0 };
	uint32_t n;

	talk_file(&k, "a", "u A says=new @20; a B<A");
	talk_file(&k, "b", "u A says=old @10");
	talk_file(&k, "c", "u A says=late @30");
	forest_build(&k.f);
	CHECK(!forest_flaw(&k.f));
	EQ(k.f.node_count, 4);
	n = k.f.sources[1].nodes[0];
	EQ(k.f.nodes[n].variant, 0);
	EQ(k.f.nodes[n].next_variant, k.f.sources[0].nodes[0]);
	EQ(k.f.nodes[k.f.sources[0].nodes[0]].variant, 1);
	EQ(k.f.nodes[k.f.sources[2].nodes[0]].variant, 2);
}

TEST(a_line_of_an_answer_that_was_written_anew_belongs_to_the_answer)
{
	TALK k = { 0 };
	uint32_t m;

	talk_file(&k, "a", "u A; a B<A m=1 says=half; a B<A m=1 says=whole; u C<B");
	forest_build(&k.f);
	CHECK(!forest_flaw(&k.f));
	m = forest_message_of(&k.f, 0, 2);
	EQ(k.f.messages[m].count, 1);
	EQ(forest_message_of(&k.f, 0, 1), m);
	EQ(k.f.messages[forest_message_of(&k.f, 0, 3)].prev, m);
	CHECK(forest_has_variants(&k.f, k.f.sources[0].nodes[1]));
	CHECK(forest_has_variants(&k.f, k.f.sources[0].nodes[2]));
	CHECK(!forest_has_variants(&k.f, k.f.sources[0].nodes[0]));
}

static void check_canonical(struct t *t, int line, const char *first, const char *second, const char *want)
{
	TALK k = { 0 };

	talk_file(&k, "a", first);
	talk_file(&k, "b", second);
	forest_build(&k.f);
	t_eq_str(t, __FILE__, line, k.f.sources[k.f.nodes[k.f.sources[0].nodes[0]].canon.source].session.path,
		 str_of(want), "the canonical copy's file");
}

#define CANONICAL(first, second, want) check_canonical(t, __LINE__, first, second, want)

TEST(the_canonical_copy_is_the_original)
{
	/* It has a requestId; is older; its file began earlier with something of its own; its path. */
	CANONICAL("a A -request @1", "a A @2", "b");
	CANONICAL("a A @2", "a A @1", "b");
	CANONICAL("a A @0", "a A @9", "b");
	CANONICAL("a A @5; u X @9", "a A @5; u Y @8", "b");
	CANONICAL("a A @5; o x @9", "a A @5; o y @8", "b");
	CANONICAL("a A @5; u X @9", "a A @5", "a");
	CANONICAL("a A @5", "a A @5", "a");
}

TEST(a_fork_is_never_the_original)
{
	TALK k = { 0 };

	talk_file(&k, "a", "a A @5");
	talk_file(&k, "b", "a A @5; u X @6");
	fork_mark(&k.f.sources[1].session.id);
	forest_build(&k.f);
	EQS(k.f.sources[k.f.nodes[k.f.sources[0].nodes[0]].canon.source].session.path, STR("a"));
}

TEST(a_file_that_says_it_was_forked_is_not_the_original)
{
	/* Whichever has lines of its own, and whichever of these is older. */
	CANONICAL("a A >A @5; u X @6", "a A @5; u Y @8", "b");
	CANONICAL("a A >A @5; u X @6", "a A @5", "b");
	/* Of two forks the one that would be it otherwise. */
	CANONICAL("a A >A @5; u X @6", "a A >A @5; u Y @8", "a");
	/* Only what was copied says so, not what it names later. */
	CANONICAL("a A @5; u X @9", "a A @5; u Y >X @8", "b");
}

TEST(parts_of_an_answer_that_stand_in_different_files_are_one_message)
{
	FOREST("user A human\nassistant K T <A\n", "a", "u A @1; a T<A m=1 @3", "b",
	       "u A @1; a K<A m=1 @2; a T<K m=1 @3");
	FOREST("user A human\nassistant K T V <A\n", "a", "u A @1; a K<A m=1 @2", "b",
	       "u A @1; a T<A m=1 @3; a V<T m=1 @4", "c", "u A @1; a K<A m=1 @2; a T<K m=1 @3; a V<T m=1 @4");
}

TEST(copies_with_fresh_ids_are_joined_by_their_answers)
{
	FOREST("user A human =A2\n"
	       "assistant B <A =B2\n"
	       "results R <B =R2\n"
	       "assistant D <R =D2\n"
	       "user E <D human\n",
	       "a", "u A says=hi; a B<A m=1 call=x says=b; u R<B res=x says=r; a D<R m=2 says=d @400", "b",
	       "u A2 says=hi @1000; a B2<A2 m=1 call=x says=b -request; u R2<B2 res=x says=r; a D2<R2 m=2 "
	       "says=d "
	       "-request; u E<D2");
}

TEST(one_copy_may_hold_fewer_parts_of_an_answer)
{
	FOREST("user A human\nassistant B C <A =C2\n", "a", "u A says=hi; a B<A m=1 says=b; a C<B m=1 says=c",
	       "b", "a C2 m=1 says=c @1000 -request");
	/* Not where each says something else. */
	FOREST("assistant B C\nassistant D E\n", "a", "a B m=1 says=b; a C<B m=1 says=c", "b",
	       "a D m=1 says=c @1000; a E<D m=1 says=e");
}

TEST(prompts_are_joined_between_joined_neighbours_and_not_elsewhere)
{
	/* Up to the beginning, and down to the end; equal ones only. */
	FOREST("user A human =A2\nassistant B <A =B2\nuser C <B human =C2\n", "a",
	       "u A says=hi; a B<A m=1 says=b; u C<B says=go", "b",
	       "u A2 says=hi @1000; a B2<A2 m=1 says=b -request; u C2<B2 says=go");
	FOREST("user A human\nassistant B <A x2 =B2\nuser C <B human\nuser A2 human\nuser C2 <B human\n", "a",
	       "u A says=hi; a B<A m=1 says=b; u C<B says=go", "b",
	       "u A2 says=ho @1000; a B2<A2 m=1 says=b -request; u C2<B2 says=stop");
	/* Equal words alone join nothing. */
	FOREST("user A human\nuser B human\n", "a", "u A says=hi", "b", "u B says=hi @1000");
}

TEST(a_run_of_prompts_and_attachments_is_joined_whole_or_not)
{
	FOREST("user A human =A2\nclient T <A =T2\nclient U <T =U2\nassistant B <U =B2\n", "a",
	       "u A says=a; t T<A says=t; t U<T says=u; a B<U m=1 says=b", "b",
	       "u A2 says=a @1000; t T2<A2 says=t; t U2<T2 says=u; a B2<U2 m=1 says=b -request");
	FOREST("user A human\nclient T <A\nclient U <T\nassistant B <U =B2\nuser A2 human\nclient T2 <A2\n"
	       "client U2 <T2\n",
	       "a", "u A says=a; t T<A says=t; t U<T says=u; a B<U m=1 says=b", "b",
	       "u A2 says=other @1000; t T2<A2 says=t; t U2<T2 says=u; a B2<U2 m=1 says=b -request");
}

TEST(messages_of_one_file_are_never_copies_of_each_other)
{
	ONE_FILE("u A says=hi; a B<A m=1 says=b; u C<B says=hi; a D<C m=2 says=b",
		 "user A human\nassistant B <A\nuser C <B human\nassistant D <C\n");
}

TEST(what_says_it_was_forked_is_joined)
{
	FOREST("user A human =A2\nassistant B <A =B2\n", "a", "u A; a B<A m=1", "b",
	       "u A2 >A says=x @1000; a B2<A2 >B says=y -request m=9");
}

TEST(a_sub_agent_shares_no_message_with_its_conversation)
{
	FOREST("user A human\nassistant B <A\nuser S human\nassistant T <S\n", "a", "u A; a B<A m=1 says=b",
	       "agent-1", "u S ~ +task; a T<S ~ m=1 says=b >B @1000");
}

TEST(copies_of_copies_are_one)
{
	FOREST("assistant A =A2 =A3 =A4 =A5 =A6 =A7 =A8 =A9 =B1 =B2 =B3\n", "a", "a A m=1 says=a @1", "b",
	       "a A2 m=1 says=a @2", "c", "a A3 m=1 says=a @3", "d", "a A4 m=1 says=a @4", "e",
	       "a A5 m=1 says=a @5", "f", "a A6 m=1 says=a @6", "g", "a A7 m=1 says=a @7", "h",
	       "a A8 m=1 says=a @8", "i", "a A9 m=1 says=a @9", "j", "a B1 m=1 says=a @10", "k",
	       "a B2 m=1 says=a @11", "l", "a B3 m=1 says=a @12");
}

/* ---- Turns ------------------------------------------------------------------------------ */

static void check_turns(struct t *t, int line, const char *text, const char *want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	TALK k = { 0 };

	talk_file(&k, "a", text);
	forest_build(&k.f);
	for (uint32_t i = 0; i < k.f.order_count; i++) {
		const struct forest_message *m = &k.f.messages[k.f.order[i]];

		buf_printf(&got, "%s%.*s", i ? " " : "", STR_ARG(talk_name(&k, m->first)));
		if (m->turn != FOREST_NONE)
			buf_printf(&got, ":%.*s", STR_ARG(talk_name(&k, k.f.messages[m->turn].first)));
	}
	t_eq_str(t, __FILE__, line, buf_as_str(&got), str_of(want), text);
}

#define TURNS(text, want) check_turns(t, __LINE__, text, want)

TEST(a_turn_is_a_prompt_and_all_that_follows_until_the_next)
{
	TURNS("u A; a B<A call=x; u R<B res=x; a C<R; u D<C; a E<D", "A:A B:A R:A C:A D:D E:D");
	/* What was typed meanwhile is in the turn that ran; what the client says is no prompt. */
	TURNS("u A; a B<A; t Q<B +queued; a C<Q; u M<C +meta; u N<M -prompt; a E<N",
	      "A:A B:A Q:A C:A M:A N:A E:A");
	/* A notification begins one, and a sub-agent's task. */
	TURNS("u A; a B<A; u N<B -prompt +notice; a C<N", "A:A B:A N:N C:N");
	/* Before the first there is none. */
	TURNS("t T; a B<T; u A<B; a C<A", "T B A:A C:A");
}

TEST(a_compaction_begins_a_turn)
{
	TURNS("u A; a B<A; b K >B; u S<K +compact -prompt; a C<S", "A:A B:A S:S C:S");
	ONE_FILE("u A; a B<A; b K >B; u S<K +compact -prompt; a C<S", "user A human\n"
								      "assistant B <A\n"
								      "user S compaction\n"
								      "assistant C <S\n"
								      "K continues B\n");
	/* Where the boundary names nothing it is the line before it. */
	ONE_FILE("u A; a B<A; b K; u S<K +compact -prompt", "user A human\n"
							    "assistant B <A\n"
							    "user S compaction\n"
							    "K continues B?\n");
	/* Even where it has a parent: what it follows is cut off. */
	ONE_FILE("u A; a B<A; b K<B >K; u S<K +compact -prompt", "user A human\n"
								 "assistant B <A\n"
								 "user S compaction\n"
								 "K continues B?\n");
}

/* ---- Branches ---------------------------------------------------------------------------- */

TEST(a_branch_is_where_two_ways_say_something)
{
	ONE_FILE("u A; a B<A; u C<B; a D<C; u E<B; a F<E", "user A human\n"
							   "assistant B <A x2\n"
							   "user C <B human\n"
							   "assistant D <C\n"
							   "user E <B human\n"
							   "assistant F <E\n");
}

TEST(what_was_left_behind_is_no_branch)
{
	/* A call without result, thinking alone, a failed request. */
	ONE_FILE("u A; a B<A call=x; a C<A", "user A human\nassistant B <A\nassistant C <A\n");
	ONE_FILE("u A; a B<A +mute -speaks; a C<A", "user A human\nassistant B <A\nassistant C <A\n");
	ONE_FILE("u A; a B<A +error; a C<A", "user A human\nassistant B <A\nassistant C <A\n");
	/* An attachment that nothing follows. */
	ONE_FILE("u A; t T<A; a C<A", "user A human\nassistant C <A\nclient T <A\n");
}

TEST(ways_lead_through_what_the_client_put_in)
{
	ONE_FILE("u A; a B<A; t T<B; u C<T; u D<T", "user A human\n"
						    "assistant B <A x2\n"
						    "client T <B\n"
						    "user C <T human\n"
						    "user D <T human\n");
	ONE_FILE("u A; a B<A +synthetic; u C<B; u D<A", "user A human x2\n"
							"assistant B <A\n"
							"user C <B human\n"
							"user D <A human\n");
}

/* ---- Anything --------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint32_t below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(next_random(state) % n);
}

static void put_calls(uint64_t *r, struct buf *out, const char *what)
{
	buf_printf(out, " %s=%u", what, below(r, 6));
	if (below(r, 3) == 0)
		buf_printf(out, ",%u", below(r, 6));
}

/* A line of so few names, calls and messages that most of them meet. */
static void put_random(uint64_t *r, struct buf *out, uint32_t names)
{
	static const char *const kinds[] = { "u", "u", "a", "a", "a", "t", "p", "s", "b", "o" };
	static const char *const extras[] = { "",	   " ~",	  " +meta",   " +error",
					      " +notice",  " +synthetic", " +queued", " +compact",
					      " -request", " +embedded" };
	const char *kind = kinds[below(r, COUNT(kinds))];

	buf_printf(out, "%s n%u", kind, below(r, names));
	if (kind[0] != 'o' && below(r, 8))
		buf_printf(out, "<n%u", below(r, names + 1));
	if (kind[0] == 'a' && below(r, 4))
		buf_printf(out, " m=%u", below(r, 5));
	if (kind[0] == 'a' && below(r, 2))
		put_calls(r, out, "call");
	if (kind[0] == 'u' && below(r, 2))
		put_calls(r, out, "res");
	if (below(r, 3) == 0)
		buf_printf(out, " says=%u", below(r, 3));
	if (below(r, 6) == 0)
		buf_printf(out, " >n%u", below(r, names));
	buf_printf(out, " @%u", below(r, 12));
	if (below(r, 3) == 0)
		buf_text(out, extras[below(r, COUNT(extras))]);
	buf_byte(out, ';');
}

enum { FILES = 4, MOST_LINES = 24 };

struct script {
	struct buf texts[FILES];
	uint32_t count;
};

static void script_release(struct script *s)
{
	for (int i = 0; i < FILES; i++)
		buf_release(&s->texts[i]);
}

static void write_script(struct script *s, uint64_t *r, uint32_t files)
{
	uint32_t names = 1 + below(r, MOST_LINES);

	s->count = files;
	for (uint32_t f = 0; f < FILES; f++) {
		struct buf *out = &s->texts[f];

		buf_init(out, MIB);
		/* Mostly a copy that goes on differently. */
		if (f && below(r, 3))
			buf_str(out, str_sub(buf_as_str(&s->texts[f - 1]), 0, SIZE_MAX));
		for (uint32_t n = below(r, MOST_LINES); n-- > 0;)
			put_random(r, out, names);
		buf_byte(out, '\0');
		out->n--;
	}
}

/* In an order that `turn` chooses. */
static void play(struct talk *k, const struct script *s, uint32_t turn)
{
	static const char *const paths[FILES] = { "a", "b", "agent-c", "d" };

	*k = (struct talk){ 0 };
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t f = (turn & 1 ? s->count - 1 - i : i);

		f = (f + turn / 2) % s->count;
		talk_file(k, paths[f], s->texts[f].n ? s->texts[f].p : "");
	}
	forest_build(&k->f);
}

static void print_script(struct t *t, const struct script *s, const char *what)
{
	t_fail(t, __FILE__, __LINE__, "%s", what);
	for (uint32_t f = 0; f < s->count; f++)
		t_fail(t, __FILE__, __LINE__, "file %u: %.*s", f, STR_ARG(buf_as_str(&s->texts[f])));
}

TEST(whatever_the_lines_say_each_is_in_its_place_once_in_any_order_of_files)
{
	uint64_t r = 4711;

	for (int round = 0; round < 4000 && !t->failures; round++) {
		struct script s CLEANUP(script_release) = { 0 };
		struct buf first CLEANUP(buf_release) = BUF_INIT(MIB);

		write_script(&s, &r, 1 + below(&r, FILES));
		for (uint32_t turn = 0; turn < 2 * s.count && !t->failures; turn++) {
			struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
			const char *flaw;
			TALK k;

			play(&k, &s, turn);
			flaw = forest_flaw(&k.f);
			talk_describe(&k, turn ? &got : &first);
			if (flaw)
				print_script(t, &s, flaw);
			else if (turn && !str_eq(buf_as_str(&got), buf_as_str(&first)))
				print_script(t, &s, "the order of files matters");
		}
	}
}

TEST(of_one_file_messages_are_its_answers_and_the_lines_of_others)
{
	uint64_t r = 42;

	for (int round = 0; round < 4000 && !t->failures; round++) {
		struct script s CLEANUP(script_release) = { 0 };
		uint32_t answers = 0;
		TALK k;

		write_script(&s, &r, 1);
		play(&k, &s, 0);
		for (uint32_t m = 0; m < k.f.message_count; m++) {
			answers += k.f.messages[m].role == FOREST_ASSISTANT;
			if (k.f.messages[m].canonical != m)
				print_script(t, &s, "a file has copies of its own");
			if (k.f.messages[m].role != FOREST_ASSISTANT &&
			    k.f.messages[m].owner == FOREST_NONE && k.f.messages[m].count != 1)
				print_script(t, &s, "lines that belong to nothing are together");
		}
		if (answers > k.f.sources[0].chain.answer_count)
			print_script(t, &s, "there are more answers than the client knows");
	}
}

TESTS(CASE(lines_of_an_answer_are_one_message_and_its_results_another),
      CASE(several_results_in_one_line_are_the_answers), CASE(a_message_follows_what_its_first_line_says),
      CASE(a_result_follows_its_call_and_not_its_parent), CASE(a_result_without_its_call_follows_its_parent),
      CASE(notes_are_looked_through), CASE(what_the_client_puts_in_is_a_message_of_its_own),
      CASE(a_sub_agents_lines_are_a_tree_of_their_own),
      CASE(a_parent_is_looked_for_in_its_own_file_first_then_anywhere),
      CASE(a_stand_in_gives_way_to_the_parent_in_another_file),
      CASE(what_follows_nothing_continues_what_stands_before_it), CASE(circles_are_cut_and_nothing_is_lost),
      CASE(a_line_in_several_files_is_one), CASE(of_one_uuid_the_last_line_of_a_file_counts),
      CASE(one_uuid_with_other_content_is_a_variant),
      CASE(a_line_of_an_answer_that_was_written_anew_belongs_to_the_answer), CASE(the_canonical_copy_is_the_original),
      CASE(a_fork_is_never_the_original), CASE(a_file_that_says_it_was_forked_is_not_the_original),
      CASE(parts_of_an_answer_that_stand_in_different_files_are_one_message),
      CASE(copies_with_fresh_ids_are_joined_by_their_answers),
      CASE(one_copy_may_hold_fewer_parts_of_an_answer),
      CASE(prompts_are_joined_between_joined_neighbours_and_not_elsewhere),
      CASE(a_run_of_prompts_and_attachments_is_joined_whole_or_not),
      CASE(messages_of_one_file_are_never_copies_of_each_other), CASE(what_says_it_was_forked_is_joined),
      CASE(a_sub_agent_shares_no_message_with_its_conversation), CASE(copies_of_copies_are_one),
      CASE(a_turn_is_a_prompt_and_all_that_follows_until_the_next), CASE(a_compaction_begins_a_turn),
      CASE(a_branch_is_where_two_ways_say_something), CASE(what_was_left_behind_is_no_branch),
      CASE(ways_lead_through_what_the_client_put_in),
      CASE(whatever_the_lines_say_each_is_in_its_place_once_in_any_order_of_files),
      CASE(of_one_file_messages_are_its_answers_and_the_lines_of_others))
