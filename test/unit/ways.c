/*
 * Ways through a forest: what leads on from what, over compactions; what lies on each way; what two have in
 * common. Conversations are told in shorthand (talk.h).
 */
#include "query/ways.h"
#include "t.h"
#include "talk.h"

struct told {
	struct talk k;
	struct ground g;
	struct arena mem;
};

static void told_release(struct told *x)
{
	ground_release(&x->g);
	arena_release(&x->mem);
	mem_free(x->k.names);
}

#define TOLD struct told CLEANUP(told_release)

static void find(struct told *x)
{
	forest_build(&x->k.f);
	x->g.grove.forest = x->k.f;
	x->g.turns = (struct turns){ .mem = &x->mem, .forest = &x->g.grove.forest };
	turns_find(&x->g.turns);
	x->g.ways = (struct ways){ .turns = &x->g.turns, .mem = &x->mem };
	ways_find(&x->g.ways);
}

static struct str name_of(const struct told *x, uint32_t message)
{
	return talk_name(&x->k, x->g.grove.forest.messages[message].first);
}

static uint32_t message_of(const struct told *x, const char *name)
{
	for (uint32_t m = 0; m < x->g.grove.forest.message_count; m++)
		if (str_eq(name_of(x, m), str_of(name)))
			return m;
	return FOREST_NONE;
}

static void describe_one(const struct told *x, uint32_t message, struct buf *out)
{
	const struct way *w = &x->g.ways.list[message];

	buf_printf(out, "%.*s %" PRIu32 " messages %" PRIu32 " turns %" PRIu32 " heads",
		   STR_ARG(name_of(x, message)), w->messages, w->turns, w->heads);
	if (w->from != FOREST_NONE)
		buf_printf(out, " <%.*s", STR_ARG(name_of(x, w->from)));
	buf_text(out, w->wanted ? " *\n" : "\n");
}

/* The ways on from a message, NULL = those that begin. */
static void check_on(struct t *t, int line, struct told *x, const char *name, const char *want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	uint32_t count, *on = ways_on(&x->g.ways, name ? message_of(x, name) : FOREST_NONE, &x->mem, &count);

	for (uint32_t i = 0; i < count; i++)
		describe_one(x, on[i], &got);
	t_eq_str(t, __FILE__, line, buf_as_str(&got), str_of(want), name ? name : "the roots");
}

#define ON(name, want) check_on(t, __LINE__, &x, name, want)

TEST(a_rewind_and_what_went_on_are_two_ways)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f",
		  "u A; a B<A m=1; u C<B; a D<C m=2; u E<B; a F<E m=3 call=x; u G<F res=x; a H<G m=4");
	find(&x);
	ON(NULL, "A 8 messages 3 turns 1 heads *\n");
	ON("B", "C 2 messages 1 turns 0 heads <B\n"
		"E 4 messages 1 turns 1 heads <B *\n");
	ON("H", "");
}

TEST(forks_in_files_of_their_own_are_ways_with_heads)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f", "u A @10; a B<A m=1 @20; u C<B @30; a D<C m=2 @40");
	talk_file(&x.k, "g", "u A @10; a B<A m=1 @20; u E<B @50; a F<E m=3 @60");
	talk_file(&x.k, "h", "u A @10; a B<A m=1 @20");
	find(&x);
	ON(NULL, "A 6 messages 3 turns 3 heads *\n");
	ON("B", "C 2 messages 1 turns 1 heads <B *\n"
		"E 2 messages 1 turns 1 heads <B\n");
}

TEST(what_the_client_put_in_is_looked_through_and_what_was_left_behind_is_no_way)
{
	TOLD x = { 0 };

	talk_file(
		&x.k, "f",
		"u A; a B<A m=1; t T<B; u C<T; a D<C m=2; t U<B; u E<U; a F<E m=3; a X<B m=9 call=y; u Z<D");
	find(&x);
	ON("B", "C 3 messages 2 turns 1 heads <T *\n"
		"E 2 messages 1 turns 0 heads <U\n");
}

TEST(a_way_goes_over_a_compaction)
{
	TOLD x = { 0 };
	uint32_t count, *path;

	talk_file(&x.k, "f", "u A; a B<A m=1; b X >B; u S<X -prompt +compact; a C<S m=2; u D<C");
	find(&x);
	ON("B", "S 3 messages 2 turns 1 heads <B *\n");
	path = ways_path(&x.g.ways, message_of(&x, "D"), &x.mem, &count);
	EQ(count, 5);
	CHECK(path[0] == message_of(&x, "A") && path[2] == message_of(&x, "S"));
}

/* A compaction says that it continues what is said behind it; that is where its times are the earliest. */
TEST(ways_that_lead_around_are_cut)
{
	TOLD x = { 0 };
	uint32_t count;

	talk_file(&x.k, "f",
		  "b X >D @30; u S<X -prompt +compact @31; a B<S m=1 @32; u C<B @10; a D<C m=2 @11; u E<D @12");
	find(&x);
	EQ(x.g.ways.count, x.g.grove.forest.order_count);
	ON(NULL, "S 5 messages 3 turns 1 heads *\n");
	ON("D", "E 1 messages 1 turns 1 heads <D *\n");
	ways_path(&x.g.ways, message_of(&x, "E"), &x.mem, &count);
	EQ(count, 5);
}

#define END(name, of_turn) name_of(&x, ways_end(&x.g.ways, message_of(&x, name), of_turn))

TEST(a_way_ends_where_somebody_is_or_spoke_last_and_a_turn_before_the_next)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f", "u A @10; a B<A m=1 call=x @20; u R<B res=x @25; a C<R m=2 @30; u D<C @40; a E<D m=3 @50;"
			     " u F<C @60; a G<F m=4 @70; u H<G @80; a I<H m=5 @90; u J<G @100; a K<J m=6 @110;"
			     " b X >K @111; u S<X -prompt +compact @112; a L<S m=7 @113");
	find(&x);
	EQS(END("D", false), STR("E"));
	EQS(END("F", false), STR("L"));
	EQS(END("H", false), STR("I"));
	EQS(END("A", true), STR("C"));
	EQS(END("F", true), STR("G"));
	EQS(END("J", true), STR("K"));
	EQS(END("E", true), STR("E"));
}

TEST(two_paths_have_in_common_what_they_begin_with)
{
	TOLD x = { 0 };
	uint32_t a, b, *one, *other;

	talk_file(&x.k, "f", "u A; a B<A m=1; u C<B; a D<C m=2; u E<B; a F<E m=3");
	find(&x);
	one = ways_path(&x.g.ways, message_of(&x, "D"), &x.mem, &a);
	other = ways_path(&x.g.ways, message_of(&x, "F"), &x.mem, &b);
	EQ(ways_shared(one, a, other, b), 2);
	EQ(ways_shared(one, a, one, a), 4);
	EQ(ways_shared(one, a, other, 1), 1);
	EQ(ways_shared(one, 0, other, b), 0);
}

TEST(what_follows_a_message_stands_behind_it_in_one_piece)
{
	TOLD x = { 0 };
	uint32_t place[64] = { 0 }, c;

	talk_file(&x.k, "f",
		  "u A; a B<A m=1; u C<B; a D<C m=2; u E<B; a F<E m=3; u G<D; a H<G m=5; u I<D; a J<I m=6");
	find(&x);
	EQ(x.g.ways.count, 10);
	for (uint32_t i = 0; i < x.g.ways.count; i++)
		place[x.g.ways.order[i]] = i;
	for (uint32_t i = 0; i < x.g.ways.count; i++) {
		uint32_t from = x.g.ways.list[x.g.ways.order[i]].from;

		CHECK(from == FOREST_NONE || place[from] < i);
	}
	/* C and all below it: five messages without a gap. */
	c = message_of(&x, "C");
	NEED(c < COUNT(place));
	for (uint32_t i = 0; i < 6; i++)
		CHECK(x.g.ways.order[place[c] + i] != message_of(&x, "E"));
}

TEST(circles_end)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f",
		  "u A<D; a B<A m=1; b X >D; u S<X -prompt +compact; a D<S m=2; b Y >B; u Z<Y -prompt "
		  "+compact");
	find(&x);
	EQ(x.g.ways.count, x.g.grove.forest.order_count);
}

TESTS(CASE(a_rewind_and_what_went_on_are_two_ways), CASE(forks_in_files_of_their_own_are_ways_with_heads),
      CASE(what_the_client_put_in_is_looked_through_and_what_was_left_behind_is_no_way),
      CASE(a_way_goes_over_a_compaction),
      CASE(a_way_ends_where_somebody_is_or_spoke_last_and_a_turn_before_the_next),
      CASE(two_paths_have_in_common_what_they_begin_with),
      CASE(what_follows_a_message_stands_behind_it_in_one_piece), CASE(circles_end),
      CASE(ways_that_lead_around_are_cut))
