/*
 * Transcripts made to hurt: deep, circular, crowded, repeated. What they become is checked,
 * and that ten times as many lines take about ten times as long. Times are only ever
 * compared with each other: what is quadratic takes a hundred times as long.
 */
#include "base/hash.h"
#include "claude/record.h"
#include "query/forest.h"
#include "t.h"

#include <string.h>
#include <time.h>

enum {
	SMALL = 5000,
	TIMES = 10,	 /* as many in the large one */
	MOST_RATIO = 60, /* room for caches that are too small and for other programs */
	TRIES = 5,
};

/* ---- Lines ------------------------------------------------------------------------- */

static struct uuid key_of(uint64_t name)
{
	struct uuid key = { 0 };

	memcpy(key.b, &name, sizeof name);
	return key;
}

/* Names are numbers from 1 on; 0 is no parent. */
static struct chain_line *say(struct forest_source *s, uint8_t type, uint64_t name, uint64_t parent)
{
	struct chain_line *l = chain_add(&s->chain);

	l->type = type;
	l->flags = type == RECORD_USER ? RECORD_PROMPT : type == RECORD_ASSISTANT ? RECORD_SPEAKS : 0;
	l->offset = s->chain.line_count;
	l->at = 1000;
	l->has_key = true;
	l->key = key_of(name);
	l->content = hash64(&name, sizeof name);
	l->has_parent = parent > 0;
	l->parent_key = key_of(parent);
	return l;
}

static struct chain_line *answer(struct forest_source *s, uint64_t name, uint64_t parent, uint64_t api)
{
	struct chain_line *l = say(s, RECORD_ASSISTANT, name, parent);

	l->has_api = true;
	l->api = api;
	return l;
}

static void set_call(struct forest_source *s, struct chain_line *l, uint64_t call)
{
	uint64_t *tools = arena_alloc(&s->chain.mem, sizeof *tools);

	*tools = call;
	l->tools = tools;
	l->tool_count = 1;
	if (l->type == RECORD_USER)
		l->flags = RECORD_RESULT;
}

static struct forest_source *new_file(struct forest *f)
{
	struct forest_source *s = forest_add(f);

	s->session.path = arena_printf(&f->mem, "%010u", f->source_count);
	return s;
}

/* ---- Measuring ----------------------------------------------------------------------- */

typedef void make_fn(struct forest *f, uint32_t n);

static double build(struct forest *f, make_fn *make, uint32_t n)
{
	struct timespec a, b;

	*f = (struct forest)FOREST_INIT;
	make(f, n);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	forest_build(f);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* *out is the large one. */
static void check_growth(struct t *t, int line, make_fn *make, struct forest *out)
{
	double small = 1e9, large = 1e9;

	*out = (struct forest)FOREST_INIT;
	for (int i = 0; i < TRIES; i++) {
		struct forest f;

		small = least(small, build(&f, make, SMALL));
		forest_release(&f);
		forest_release(out);
		large = least(large, build(out, make, TIMES * SMALL));
		if (large < MOST_RATIO * small)
			return;
	}
	t_fail(t, __FILE__, line, "ten times as many lines take %.0f times as long", large / small);
}

#define FOREST		  struct forest CLEANUP(forest_release)
#define GROWTH(make, out) check_growth(t, __LINE__, make, out)

/* ---- One file -------------------------------------------------------------------------- */

static void make_deep(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= n; i++)
		say(s, i % 2 ? RECORD_USER : RECORD_ASSISTANT, i, i - 1);
}

TEST(a_chain_of_fifty_thousand)
{
	struct arena mem = ARENA_INIT;
	uint32_t count, *path;
	FOREST f;

	GROWTH(make_deep, &f);
	EQ(f.message_count, TIMES * SMALL);
	path = forest_path(&f, forest_message_of(&f, 0, f.sources[0].chain.line_count - 1), &mem, &count);
	EQ(count, TIMES * SMALL);
	EQ(path[0], forest_message_of(&f, 0, 0));
	arena_release(&mem);
	EQ(chain_leaf(&f.sources[0].chain), TIMES * SMALL - 1);
}

/* Each before what it hangs on. */
static void make_backwards(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = n; i > 0; i--)
		say(s, i % 2 ? RECORD_USER : RECORD_SYSTEM, i, i - 1);
}

TEST(a_chain_from_its_end_to_its_beginning)
{
	FOREST f;

	GROWTH(make_backwards, &f);
	EQ(f.order_count, TIMES * SMALL / 2);
}

static void make_circle(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= n; i++)
		say(s, RECORD_USER, i, i > 1 ? i - 1 : n);
}

TEST(a_circle)
{
	uint32_t roots = 0;
	FOREST f;

	GROWTH(make_circle, &f);
	for (uint32_t m = 0; m < f.message_count; m++)
		roots += f.messages[m].prev == FOREST_NONE;
	EQ(roots, 1);
	EQ(f.order_count, TIMES * SMALL);
}

static void make_note_circle(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= n / 2; i++)
		say(s, RECORD_SYSTEM, i, i > 1 ? i - 1 : n / 2);
	for (uint32_t i = 1; i <= n / 2; i++)
		say(s, RECORD_USER, n + i, i);
}

TEST(prompts_on_a_circle_of_notes)
{
	FOREST f;

	GROWTH(make_note_circle, &f);
	EQ(f.order_count, TIMES * SMALL / 2);
}

static void make_selves(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= n; i++)
		say(s, RECORD_USER, i, i);
}

TEST(lines_that_hang_on_themselves)
{
	FOREST f;

	GROWTH(make_selves, &f);
	EQ(f.order_count, TIMES * SMALL);
}

static void make_children(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= 2 * n; i++)
		say(s, RECORD_USER, i, i > 1);
}

TEST(a_hundred_thousand_children_of_one_line)
{
	FOREST f;

	GROWTH(make_children, &f);
	EQ(f.messages[forest_message_of(&f, 0, 0)].branches, 2 * TIMES * SMALL - 1);
}

static void make_variants(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= n; i++)
		say(s, RECORD_USER, 1, 0)->content = i;
}

TEST(fifty_thousand_variants_of_one_uuid)
{
	FOREST f;

	GROWTH(make_variants, &f);
	EQ(f.node_count, TIMES * SMALL);
	EQ(f.nodes[f.sources[0].nodes[0]].variant, TIMES * SMALL - 1);
}

static void make_repeated(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 0; i < n; i++)
		answer(s, 1 + i % 10, i % 10, 1);
}

TEST(ten_lines_again_and_again)
{
	FOREST f;

	GROWTH(make_repeated, &f);
	EQ(f.message_count, 1);
	EQ(f.messages[0].count, 10);
}

static void make_one_answer(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= 2 * n; i++)
		answer(s, i, i - 1, 7);
}

TEST(a_hundred_thousand_lines_of_one_answer)
{
	FOREST f;

	GROWTH(make_one_answer, &f);
	EQ(f.message_count, 1);
	EQ(f.messages[0].count, 2 * TIMES * SMALL);
	EQ(f.messages[0].first, f.sources[0].nodes[0]);
}

/* Each hangs on the next, which is its own message. */
static void make_winding_answer(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= n; i++)
		answer(s, i, i < n ? i + 1 : 0, 7);
	for (uint32_t i = 1; i <= n; i++)
		say(s, RECORD_USER, n + i, i);
}

TEST(an_answer_that_hangs_on_itself)
{
	FOREST f;

	GROWTH(make_winding_answer, &f);
	EQ(f.message_count, TIMES * SMALL + 1);
	EQ(f.messages[0].prev, FOREST_NONE);
}

static void make_results(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	set_call(s, answer(s, 1, 0, 7), 99);
	for (uint32_t i = 2; i <= 2 * n; i++)
		set_call(s, say(s, RECORD_USER, i, 1), 99);
}

TEST(a_hundred_thousand_results_of_one_call)
{
	FOREST f;

	GROWTH(make_results, &f);
	EQ(f.message_count, 2);
	EQ(f.messages[f.messages[0].results].count, 2 * TIMES * SMALL - 1);
}

static void make_orphans(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= 2 * n; i++)
		say(s, RECORD_USER, i, UINT32_MAX);
}

TEST(a_hundred_thousand_missing_parents_at_one_time)
{
	FOREST f;

	GROWTH(make_orphans, &f);
	EQ(f.order_count, 2 * TIMES * SMALL);
}

/* Between lines that cannot stand in for a parent. */
static void make_hidden_orphans(struct forest *f, uint32_t n)
{
	struct forest_source *s = new_file(f);

	for (uint32_t i = 1; i <= n; i++) {
		say(s, RECORD_USER, 2 * i, UINT32_MAX);
		say(s, RECORD_OTHER, 1, 0)->has_key = false;
	}
}

TEST(missing_parents_between_notes_of_the_same_time)
{
	FOREST f;

	GROWTH(make_hidden_orphans, &f);
	EQ(f.order_count, TIMES * SMALL);
}

/* ---- Several files ------------------------------------------------------------------------ */

static void make_shared(struct forest *f, uint32_t n)
{
	for (uint32_t s = 0; s < n / 5; s++) {
		struct forest_source *x = new_file(f);

		for (uint32_t i = 1; i <= 10; i++)
			say(x, i % 2 ? RECORD_USER : RECORD_ASSISTANT, i, i - 1);
	}
}

TEST(ten_thousand_files_that_share_everything)
{
	FOREST f;

	GROWTH(make_shared, &f);
	EQ(f.source_count, TIMES * SMALL / 5);
	EQ(f.order_count, 10);
}

static void make_copies(struct forest *f, uint32_t n)
{
	for (uint32_t s = 0; s < n / 5; s++) {
		struct forest_source *x = new_file(f);

		for (uint32_t i = 1; i <= 10; i++) {
			uint64_t name = 10 * s + i;
			struct chain_line *l = i % 2 ? say(x, RECORD_USER, name, i > 1 ? name - 1 : 0)
						     : answer(x, name, name - 1, i);

			l->content = i;
		}
	}
}

TEST(ten_thousand_copies_with_fresh_ids)
{
	FOREST f;

	GROWTH(make_copies, &f);
	EQ(f.message_count, 2 * TIMES * SMALL);
	EQ(f.order_count, 10);
}

static void make_large_copies(struct forest *f, uint32_t n)
{
	for (uint64_t s = 0; s < 2; s++) {
		struct forest_source *x = new_file(f);

		for (uint32_t i = 1; i <= n; i++)
			answer(x, (s << 32) + i, 0, 7)->content = s ? i : n + 1 - i;
	}
}

TEST(two_copies_of_an_answer_of_fifty_thousand_lines)
{
	FOREST f;

	GROWTH(make_large_copies, &f);
	EQ(f.message_count, 2);
	EQ(f.order_count, 1);
}

/* Two files of the same prompts over and over below different beginnings; from each prompt an
 * answer that both have, every pair of them in another place: each wants to be walked up from. */
static void make_runs(struct forest *f, uint32_t n)
{
	for (uint64_t s = 0; s < 2; s++) {
		struct forest_source *x = new_file(f);

		for (uint32_t i = 1; i <= n; i++)
			say(x, RECORD_USER, (s << 32) + i, i > 1 ? (s << 32) + i - 1 : 0)->content =
				i > 1 ? 1 : 2 + s;
		for (uint32_t i = 1; i <= n; i++)
			answer(x, (s << 32) + n + i, (s << 32) + (s ? i : (uint64_t)i * 7919 % n + 1), i)
				->content = i;
	}
}

TEST(runs_that_are_walked_from_everywhere)
{
	FOREST f;

	GROWTH(make_runs, &f);
	EQ(f.message_count, 4 * TIMES * SMALL);
}

static void make_forks(struct forest *f, uint32_t n)
{
	for (uint64_t s = 0; s < 2; s++) {
		struct forest_source *x = new_file(f);

		for (uint32_t i = 1; i <= n; i++) {
			struct chain_line *l = say(x, RECORD_USER, (s << 32) + i,
						   i > 1 ? (s << 32) + i - 1 : 0);

			l->has_link = true;
			l->link = key_of(i % 2 ? 1 : (s << 32) + i);
		}
	}
}

TEST(everything_says_it_was_forked_from_one_line)
{
	uint32_t copies = 0;
	FOREST f;

	GROWTH(make_forks, &f);
	for (uint32_t m = 0; m < f.message_count; m++)
		copies += f.messages[m].canonical != m;
	EQ(copies, TIMES * SMALL - 1);
}

TESTS(CASE(a_chain_of_fifty_thousand), CASE(a_chain_from_its_end_to_its_beginning), CASE(a_circle),
      CASE(prompts_on_a_circle_of_notes), CASE(lines_that_hang_on_themselves),
      CASE(a_hundred_thousand_children_of_one_line), CASE(fifty_thousand_variants_of_one_uuid),
      CASE(ten_lines_again_and_again), CASE(a_hundred_thousand_lines_of_one_answer),
      CASE(an_answer_that_hangs_on_itself), CASE(a_hundred_thousand_results_of_one_call),
      CASE(a_hundred_thousand_missing_parents_at_one_time),
      CASE(missing_parents_between_notes_of_the_same_time), CASE(ten_thousand_files_that_share_everything),
      CASE(ten_thousand_copies_with_fresh_ids), CASE(two_copies_of_an_answer_of_fifty_thousand_lines),
      CASE(runs_that_are_walked_from_everywhere), CASE(everything_says_it_was_forked_from_one_line))
