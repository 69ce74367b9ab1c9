/*
 * Mirrored trees: which lines are one tree, what it is called and was called before, where
 * events stand, and what hangs on what. Small conversations are told in shorthand (talk.h); of
 * whole stores it is checked what must hold for any (groves.h).
 */
#include "query/grove.h"
#include "files.h"
#include "groves.h"
#include "talk.h"
#include "t.h"

#include <time.h>

/* ---- In shorthand ------------------------------------------------------------------ */

struct told {
	struct talk k;
	struct grove g;
};

static void told_release(struct told *x)
{
	/* The forest is the grove's by now. */
	grove_release(&x->g);
	mem_free(x->k.names);
}

#define TOLD struct told CLEANUP(told_release)

static void shape(struct told *x)
{
	forest_build(&x->k.f);
	x->g.forest = x->k.f;
	grove_shape(&x->g);
}

static struct str name_of(const struct told *x, uint32_t source, uint32_t line)
{
	return x->k.names[x->g.forest.sources[source].chain.lines[line].offset];
}

static void describe_item(const struct told *x, struct grove_ref r, struct buf *out)
{
	uint32_t source, line;

	grove_line(&x->g, r, &source, &line);
	buf_printf(out, " %s%.*s", r.kind == GROVE_EVENT ? "." : "", STR_ARG(name_of(x, source, line)));
}

static void describe_turn(const struct told *x, uint32_t turn, struct buf *out)
{
	const struct grove *g = &x->g;
	const struct grove_spot *spot = &g->spots[turn];

	buf_printf(out, "  turn %.*s:", STR_ARG(talk_name(&x->k, g->turns.list[turn].line)));
	for (uint32_t i = 0; i < spot->items.count; i++)
		describe_item(x, g->items[spot->items.start + i], out);
	if (spot->hangs_on != FOREST_NONE)
		buf_printf(out, " <%.*s",
			   STR_ARG(talk_name(&x->k, g->forest.messages[spot->hangs_on].first)));
	buf_byte(out, '\n');
}

/* Each tree with its turns, the earliest first: what they are named by, their messages, their events after a
 * dot, what they hang on. */
static void describe(const struct told *x, struct buf *out)
{
	const struct grove *g = &x->g;

	for (uint32_t t = 0; t < g->tree_count; t++) {
		buf_printf(out, "tree %.*s%s:", STR_ARG(talk_name(&x->k, g->trees[t].root)),
			   g->trees[t].aside ? " aside" : "");
		for (uint32_t n = 0; n < g->forest.node_count; n++)
			if (g->names[n] == t)
				buf_printf(out, " %.*s", STR_ARG(talk_name(&x->k, n)));
		buf_byte(out, '\n');
		for (uint32_t i = g->turns.count; i-- > 0;)
			if (g->spots[g->turns.order[i]].tree == t)
				describe_turn(x, g->turns.order[i], out);
		for (uint32_t i = 0; i < g->trees[t].loose.count; i++)
			describe_item(x, g->items[g->trees[t].loose.start + i], out);
		buf_text(out, g->trees[t].loose.count ? "\n" : "");
	}
}

static void check_told(struct t *t, int line, struct told *x, const char *want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(MIB);
	const char *flaw;

	shape(x);
	flaw = forest_flaw(&x->g.forest);
	if (flaw)
		t_fail(t, __FILE__, line, "%s", flaw);
	describe(x, &got);
	t_eq_str(t, __FILE__, line, buf_as_str(&got), str_of(want), "the trees");
}

#define IS(...) check_told(t, __LINE__, &x, __VA_ARGS__)

/* A conversation in one file, and what is then. */
#define TELLS(name, said, is) \
	TEST(name) \
	{ \
		TOLD x = { 0 }; \
\
		talk_file(&x.k, "f", said); \
		IS(is); \
	}

TELLS(a_conversation_is_a_tree_of_turns_that_hang_on_messages,
      "u A; a B<A m=1 call=x; u C<B res=x; a D<C m=2; u E<D; a F<E m=3",
      "tree A: A\n"
      "  turn A: A B C D\n"
      "  turn E: E F <D\n")

TELLS(a_rewind_makes_two_turns_of_one_message,
      "u A; a B<A m=1; u C<B; a D<C m=2; u E<B; a F<E m=3",
      "tree A: A\n"
      "  turn A: A B\n"
      "  turn C: C D <B\n"
      "  turn E: E F <B\n")

TELLS(a_rewind_to_the_very_beginning_stays_in_the_tree,
      "u A; a B<A m=1; u C; a D<C m=2",
      "tree A: A C\n"
      "  turn A: A B\n"
      "  turn C: C D\n")

TELLS(events_stand_where_they_hang,
      "u A; s S<A; p P<S; a B<A m=1; o N; s T<P; u C<B; s U<C",
      "tree A: A\n"
      "  turn A: A .S .P .T B .N\n"
      "  turn C: C .U <B\n")

TELLS(what_comes_before_the_first_message_is_of_its_turn,
      "o N; p P; s S<P; u A<S; a B<A m=1",
      "tree P: P\n"
      "  turn A: .N .P .S A B\n")

TELLS(a_turn_before_the_first_prompt_is_named_by_its_first_line,
      "p P; s S<P; u A<S +meta; u B<A; a C<B m=1; u D<S +meta",
      "tree P: P\n"
      "  turn P: .P .S A\n"
      "  turn B: B C <A\n"
      "  turn D: D\n")

TELLS(an_event_that_hangs_on_nothing_stands_behind_the_line_before_it,
      "u A; a B<A m=1; u C<B; s S; s T<S; a D<C m=2",
      "tree A: A S\n"
      "  turn A: A B\n"
      "  turn C: C .S .T D <B\n")

TEST(a_compaction_goes_on_in_the_same_tree)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f",
		  "u A; a B<A m=1; b X >B; u S<X -prompt +compact; s E<X; a C<S m=2; u D<X -prompt +compact");
	IS("tree A: A X\n"
	   "  turn A: A B\n"
	   "  turn X: .X .E S C <B\n"
	   "  turn D: D <B\n");
}

TEST(a_file_that_begins_in_the_middle_has_its_name_when_it_is_alone)
{
	TOLD x = { 0 };

	talk_file(&x.k, "g", "u C<B; a D<C m=2");
	IS("tree C: C\n"
	   "  turn C: C D\n");
}

TEST(and_the_name_leads_to_the_tree_it_is_a_part_of)
{
	TOLD x = { 0 };

	talk_file(&x.k, "g", "u C<B; a D<C m=2");
	talk_file(&x.k, "f", "u A; a B<A m=1");
	IS("tree A: A C\n"
	   "  turn A: A B\n"
	   "  turn C: C D <B\n");
}

TEST(of_copies_with_fresh_ids_the_earliest_line_names_the_tree)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f", "u A says=hi; a B<A m=1 says=yes; u C<B says=on");
	talk_file(&x.k, "g", "u P @500 says=hi; a Q<P m=1 says=yes -request; u R<Q says=other");
	IS("tree A: A P\n"
	   "  turn A: A B\n"
	   "  turn C: C <B\n"
	   "  turn R: R <B\n");
}

TEST(what_a_copy_alone_follows_is_of_the_tree)
{
	TOLD x = { 0 };

	/* The second file has another beginning before the same answer. */
	talk_file(&x.k, "f", "u A says=hi; a B<A m=1 says=yes");
	talk_file(&x.k, "g", "u P @500 says=ho; a Q<P m=1 says=yes -request");
	IS("tree A: A P\n"
	   "  turn A: A B\n"
	   "  turn P: P\n");
}

TEST(of_lines_of_one_time_the_smallest_uuid_names_the_tree)
{
	struct uuid p = line_key(STR("P")), a = line_key(STR("A"));
	TOLD x = { 0 };

	talk_file(&x.k, "f", "u P @9; u A @9; a B<A");
	if (memcmp(p.b, a.b, sizeof p.b) < 0)
		IS("tree P: P A\n  turn P: P\n  turn A: A B\n");
	else
		IS("tree A: P A\n  turn P: P\n  turn A: A B\n");
}

TELLS(a_line_without_a_time_names_the_tree_last,
      "u P @0; u A @9; a B<A @10",
      "tree A: P A\n"
      "  turn P: P\n"
      "  turn A: A B\n")

TEST(a_sub_agent_is_a_tree_of_its_own)
{
	TOLD x = { 0 };

	talk_file(&x.k, "agent-one", "u S ~ +task; a T<S m=9 ~");
	talk_file(&x.k, "f", "u A; a B<A m=1 call=x; u C<B res=x; a D<C m=2");
	IS("tree S aside: S\n"
	   "  turn S: S T\n"
	   "tree A: A\n"
	   "  turn A: A B C D\n");
}

TEST(sub_agents_in_the_file_of_the_conversation_are_trees_of_their_own)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f",
		  "u A; a B<A m=1 call=x,y; u S ~ +task; u P ~ +task; a T<S m=8 ~; a Q<P m=9 ~; s E<T ~; u "
		  "C<B res=x,y; a D<C m=2");
	IS("tree A: A\n"
	   "  turn A: A B C D\n"
	   "tree S aside: S\n"
	   "  turn S: S T .E\n"
	   "tree P aside: P\n"
	   "  turn P: P Q\n");
}

TELLS(a_sub_agent_that_hangs_on_the_conversation_has_a_name_too,
      "u A; a B<A m=1; u S<B ~ +task; a T<S m=8 ~",
      "tree A: A\n"
      "  turn A: A B\n"
      "tree S aside: S\n"
      "  turn S: S T\n")

TELLS(a_file_in_which_nothing_was_said_is_a_tree_of_events,
      "o N; s S; s T<S; o M",
      "tree S: S\n"
      " .N .S .T .M\n")

TEST(a_file_without_any_name_is_no_tree)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f", "o N; o M");
	IS("");
	EQ(x.g.event_count, 2);
	EQ(x.g.events[0].tree, FOREST_NONE);
}

TELLS(lines_that_hang_on_each_other_are_a_tree,
      "u A<C; a B<A m=1; u C<B",
      "tree A: A\n"
      "  turn A: A B\n"
      "  turn C: C <B\n")

TEST(of_two_contents_of_one_uuid_both_are_in_the_tree)
{
	TOLD x = { 0 };

	talk_file(&x.k, "f", "u A; a B<A m=1; u C<B says=1; u C<B says=2; a D<C m=2");
	shape(&x);
	EQ(x.g.tree_count, 1);
	EQ(x.g.trees[0].message_count, 5);
}

TEST(a_way_that_nothing_follows_ends)
{
	static const struct {
		const char *name;
		bool followed;
	} wanted[] = { { "A", true }, { "B", true }, { "C", false }, { "D", true }, { "S", false } };
	TOLD x = { 0 };

	talk_file(&x.k, "f", "u A; a B<A m=1; u C<B; a D<B m=2; b X >D; u S<X -prompt +compact");
	shape(&x);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		struct uuid key = line_key(str_of(wanted[i].name));
		uint32_t n = forest_find(&x.g.forest, &key);

		NEED(n != FOREST_NONE && x.g.forest.nodes[n].message != FOREST_NONE);
		if (x.g.spots[x.g.forest.nodes[n].message].followed != wanted[i].followed)
			t_fail(t, __FILE__, __LINE__, "%s", wanted[i].name);
	}
}

/* ---- Time ---------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef void make_fn(struct buf *out, unsigned i);

static void make_chain_of_notes(struct buf *out, unsigned i)
{
	if (i)
		buf_printf(out, "p N%u<N%u;", i, i - 1);
	else
		buf_text(out, "u N0;");
}

static void make_notes_of_nothing(struct buf *out, unsigned i)
{
	buf_printf(out, "s N%u;", i);
}

static void make_turns_of_one_message(struct buf *out, unsigned i)
{
	buf_printf(out, i ? "u N%u<N0;" : "a N%u;", i);
}

static void make_turns_below_notes(struct buf *out, unsigned i)
{
	if (i % 2)
		buf_printf(out, "u N%u<N%u +meta;", i, i - 1);
	else if (i)
		buf_printf(out, "p N%u<N%u;", i, i - 2);
	else
		buf_text(out, "p N0;");
}

static void make_circles(struct buf *out, unsigned i)
{
	buf_printf(out, "u N%u<N%u;", i, i % 2 ? i - 1 : i + 1);
}

static double measure(make_fn *make, unsigned count)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	double best = 1e9;

	for (unsigned i = 0; i < count; i++)
		make(&text, i);
	for (int i = 0; i < 3; i++) {
		TOLD x = { 0 };
		double start;

		talk_file(&x.k, "f", text.p);
		forest_build(&x.k.f);
		x.g.forest = x.k.f;
		start = seconds();
		grove_shape(&x.g);
		best = seconds() - start < best ? seconds() - start : best;
	}
	return best;
}

TEST(ten_times_as_many_lines_take_about_ten_times_as_long)
{
	enum { SMALL = 5000, TIMES = 10, MOST_RATIO = 40, TRIES = 3 };
	static make_fn *const makers[] = { make_chain_of_notes, make_notes_of_nothing,
					   make_turns_of_one_message, make_turns_below_notes, make_circles };

	for (size_t i = 0; i < COUNT(makers); i++) {
		double small = 0, large = 1;

		for (int tries = 0; tries < TRIES && large >= MOST_RATIO * small; tries++) {
			small = measure(makers[i], SMALL);
			large = measure(makers[i], TIMES * SMALL);
		}
		if (large >= MOST_RATIO * small)
			t_fail(t, __FILE__, __LINE__, "case %zu: %g s, and ten times as many %g s", i, small,
			       large);
	}
}

/* ---- In a store ----------------------------------------------------------------------- */

#define FILE_1 "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"
#define FILE_2 "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02"
#define LINE_A "1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"
#define LINE_B "1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02"
#define LINE_C "1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e03"

#define USER(id, parent, text) \
	"{\"type\":\"user\",\"uuid\":\"" id "\",\"parentUuid\":" parent ",\"message\":{\"content\":\"" text \
	"\"}}\n"

static struct uuid tree_named(const char *line)
{
	return uuid_of_parts((struct str[]){ STR("tree"), str_of(line) }, 2);
}

/* The tree that an id leads to; zero = none. */
static struct uuid tree_found(struct store *s, const struct uuid *id)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	struct uuid none = { 0 };
	struct id_match match;
	char text[UUID_TEXT + 1];
	struct grove_ref r;
	bool is_there;
	size_t count;
	struct err err;

	uuid_print(id, text);
	if (read_begin(s, &snapshot, &err) || id_search(s, str_of(text), 0, &match, 1, &count, &err) ||
	    count == 0 || grove_load(s, match.session, &g, &err) ||
	    grove_find(&g, &match.node, &r, &is_there, &err) || !is_there || r.kind != GROVE_TREE)
		return none;
	return g.trees[r.at].id;
}

TEST(a_name_still_leads_to_its_tree_when_more_becomes_known)
{
	struct uuid a = tree_named(LINE_A), c = tree_named(LINE_C), b = tree_named(LINE_B), found,
		    none = { 0 };
	struct err err;
	FILES f;

	OK(files_init(t, &f, &err));
	OK(files_put(&f, FILE_1, STR(USER(LINE_C, "\"" LINE_B "\"", "three")), &err));
	OK(files_sync(&f, &err));
	found = tree_found(f.s, &c);
	CHECK(uuid_eq(&found, &c));
	OK(files_put(&f, FILE_2, STR(USER(LINE_A, "null", "one") USER(LINE_B, "\"" LINE_A "\"", "two")),
		     &err));
	OK(files_sync(&f, &err));
	found = tree_found(f.s, &c);
	CHECK(uuid_eq(&found, &a));
	found = tree_found(f.s, &a);
	CHECK(uuid_eq(&found, &a));
	/* In the middle of its file, and so never a name. */
	found = tree_found(f.s, &b);
	CHECK(uuid_eq(&found, &none));
}

static void check_sound(struct t *t, int line, struct store *s, uint64_t least_trees)
{
	struct groves x CLEANUP(groves_release);

	if (!groves_are_sound(s, &x))
		t_fail(t, __FILE__, line, "%s", x.why);
	if (x.trees < least_trees)
		t_fail(t, __FILE__, line, "only %" PRIu64 " trees", x.trees);
}

static enum status sync_folder(struct t *t, const char *dir, struct store **s, struct err *err)
{
	char path[LIMIT_PATH];
	struct sync_report report;
	bool done;

	snprintf(path, sizeof path, "%s/store.db", t_tmpdir(t));
	if (store_open(&(struct store_options){ .path = path, .create = true }, s, err) ||
	    rebuild_if_stale(*s, NULL, &done, err))
		return err_failed(err->status);
	return sync_run(*s, &(struct sync_options){ .dir = dir }, &report, err);
}

TEST(parents_children_and_ids_agree_in_the_demo)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(sync_folder(t, "demo", &s, &err));
	check_sound(t, __LINE__, s, 10);
}

TEST(they_agree_where_lines_are_odd)
{
	static const char odd[] =
		/* A uuid that is none; a message of two equal lines; no content; the same line twice; two
		   contents. */
		USER("odd one", "null", "hi") USER(
			"odd two", "\"odd one\"",
			"ho") "{\"type\":\"assistant\",\"uuid\":\"a1\",\"parentUuid\":\"odd "
			      "two\",\"message\":{\"id\":\"m1\",\"content\":[{\"type\":\"text\",\"text\":"
			      "\"x\"}]}}\n"
			      "{\"type\":\"assistant\",\"uuid\":\"a2\",\"parentUuid\":\"a1\",\"message\":{"
			      "\"id\":\"m1\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n"
			      "{\"type\":\"assistant\",\"uuid\":\"a3\",\"parentUuid\":\"a2\",\"message\":{"
			      "\"id\":\"m2\",\"content\":[]}}\n"
			      "{\"type\":\"user\",\"uuid\":\"u4\",\"parentUuid\":\"a3\",\"message\":{}}"
			      "\n" USER("u5", "\"u4\"", "again") USER("u5", "\"u4\"",
								      "again") USER("u6", "\"u5\"", "one")
				      USER("u6", "\"u5\"",
					   "other") "{\"type\":\"attachment\",\"uuid\":\"t1\",\"parentUuid\":"
						    "\"u6\",\"attachment\":{\"type\":\"todo\"}}\n"
						    "{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":"
						    "\"u6\"}\n"
						    "{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":"
						    "\"u6\"}\n"
						    "not JSON\n" USER("self", "\"self\"", "me")
							    USER("lost", "\"nobody\"", "where");
	struct err err;
	FILES f;

	OK(files_init(t, &f, &err));
	OK(files_put(&f, FILE_1, str_of(odd), &err));
	OK(files_put(
		&f, FILE_2,
		STR("{\"type\":\"system\",\"uuid\":\"s1\",\"content\":\"alone\"}\n{\"type\":\"mode\"}\n"),
		&err));
	OK(files_sync(&f, &err));
	check_sound(t, __LINE__, f.s, 2);
}

TESTS(CASE(a_conversation_is_a_tree_of_turns_that_hang_on_messages),
      CASE(a_rewind_makes_two_turns_of_one_message), CASE(a_rewind_to_the_very_beginning_stays_in_the_tree),
      CASE(events_stand_where_they_hang), CASE(what_comes_before_the_first_message_is_of_its_turn),
      CASE(a_turn_before_the_first_prompt_is_named_by_its_first_line),
      CASE(an_event_that_hangs_on_nothing_stands_behind_the_line_before_it),
      CASE(a_compaction_goes_on_in_the_same_tree),
      CASE(a_file_that_begins_in_the_middle_has_its_name_when_it_is_alone),
      CASE(and_the_name_leads_to_the_tree_it_is_a_part_of),
      CASE(of_copies_with_fresh_ids_the_earliest_line_names_the_tree),
      CASE(what_a_copy_alone_follows_is_of_the_tree),
      CASE(of_lines_of_one_time_the_smallest_uuid_names_the_tree),
      CASE(a_line_without_a_time_names_the_tree_last), CASE(a_sub_agent_is_a_tree_of_its_own),
      CASE(sub_agents_in_the_file_of_the_conversation_are_trees_of_their_own),
      CASE(a_sub_agent_that_hangs_on_the_conversation_has_a_name_too),
      CASE(a_file_in_which_nothing_was_said_is_a_tree_of_events), CASE(a_file_without_any_name_is_no_tree),
      CASE(lines_that_hang_on_each_other_are_a_tree), CASE(of_two_contents_of_one_uuid_both_are_in_the_tree),
      CASE(a_way_that_nothing_follows_ends), CASE(ten_times_as_many_lines_take_about_ten_times_as_long),
      CASE(a_name_still_leads_to_its_tree_when_more_becomes_known),
      CASE(parents_children_and_ids_agree_in_the_demo), CASE(they_agree_where_lines_are_odd))
