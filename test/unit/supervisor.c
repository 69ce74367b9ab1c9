/*
 * The table of the supervisor, walked through completely, and a child that is kept
 * running by it.
 */
#include "live/supervisor.h"
#include "procs.h"
#include "t.h"

static bool has_child(enum supervisor_state s)
{
	return s != SUPERVISOR_IDLE && s != SUPERVISOR_RESTING && s != SUPERVISOR_STOPPED;
}

#define EACH_STEP \
	for (int from = 0; from < SUPERVISOR_STATES; from++) \
		for (int event = 0; event < SUPERVISOR_EVENTS; event++)

TEST(a_child_exists_in_the_states_that_have_one_and_in_no_other)
{
	EACH_STEP
	{
		struct supervisor_step step = supervisor_next((enum supervisor_state)from,
							      (enum supervisor_event)event);
		bool before = has_child((enum supervisor_state)from), after = has_child(step.state);

		EQ(step.deed == SUPERVISOR_START, !before && after);
		EQ(step.deed == SUPERVISOR_LET_GO, before && !after);
		if (step.deed != SUPERVISOR_NOTHING && step.deed != SUPERVISOR_START)
			CHECK(before);
	}
}

TEST(whoever_has_a_child_hears_of_its_end)
{
	for (int s = 0; s < SUPERVISOR_STATES; s++) {
		struct supervisor_step step = supervisor_next((enum supervisor_state)s, SUPERVISOR_ENDED);

		CHECK(!has_child(step.state));
	}
}

/* Also when the child does nothing it is told. */
TEST(stopping_comes_to_an_end_from_every_state)
{
	for (int from = 0; from < SUPERVISOR_STATES; from++) {
		enum supervisor_state s = supervisor_next((enum supervisor_state)from, SUPERVISOR_STOP).state;
		int steps = 0;

		for (; s != SUPERVISOR_STOPPED && steps < 10; steps++) {
			CHECK(supervisor_state_ms(s, 1, 1000) > 0);
			s = supervisor_next(s, SUPERVISOR_TIME).state;
		}
		EQ(s, SUPERVISOR_STOPPED);
		CHECK(steps <= 3);
	}
}

TEST(what_has_stopped_stays_so)
{
	for (int event = 0; event < SUPERVISOR_EVENTS; event++) {
		struct supervisor_step step = supervisor_next(SUPERVISOR_STOPPED,
							      (enum supervisor_event)event);

		EQ(step.state, SUPERVISOR_STOPPED);
		EQ(step.deed, SUPERVISOR_NOTHING);
	}
}

/* A state without a time of its own ends by something that somebody does. */
TEST(time_moves_exactly_the_states_that_have_one)
{
	for (int s = 0; s < SUPERVISOR_STATES; s++)
		EQ(supervisor_next((enum supervisor_state)s, SUPERVISOR_TIME).state !=
			   (enum supervisor_state)s,
		   supervisor_state_ms((enum supervisor_state)s, 1, 1000) > 0);
}

TEST(it_can_be_started_again_whatever_happened_but_a_stop)
{
	for (int from = 0; from < SUPERVISOR_KILLING; from++) {
		enum supervisor_state s = (enum supervisor_state)from;

		if (s == SUPERVISOR_CLOSING || s == SUPERVISOR_TERMINATING)
			continue;
		s = supervisor_next(s, SUPERVISOR_ENDED).state;
		s = supervisor_next(s, SUPERVISOR_TIME).state;
		EQ(s, SUPERVISOR_IDLE);
		EQ(supervisor_next(s, SUPERVISOR_WANTED).state, SUPERVISOR_STARTING);
	}
}

TEST(pauses_double_up_to_half_a_minute)
{
	int64_t before = 0;

	EQ(supervisor_state_ms(SUPERVISOR_RESTING, 1, 0), 100);
	EQ(supervisor_state_ms(SUPERVISOR_RESTING, 2, 0), 200);
	for (int i = 1; i < 100; i++) {
		int64_t ms = supervisor_state_ms(SUPERVISOR_RESTING, i, 0);

		CHECK(ms >= before && ms <= 30000);
		before = ms;
	}
	EQ(before, 30000);
}

/* ---- A child ------------------------------------------------------------------------ */

struct run {
	struct loop *loop;
	struct supervisor *supervisor;
	const char *script;
	int starts, lost, rested;
	bool greets, stopped;
	char why[512];
};

static const char *const bare[] = { "PATH=/usr/bin:/bin", NULL };

static enum status what(void *ctx, struct guard_start *out, struct err *err)
{
	static const char *arguments[4] = { "sh", "-c" };
	struct run *r = ctx;

	if (!r->script)
		return err_fail(err, STATUS_NOT_FOUND, "there is no such program");
	arguments[2] = r->script;
	*out = (struct guard_start){
		.path = "/bin/sh", .arguments = arguments, .environment = bare, .folder = "/"
	};
	return STATUS_OK;
}

static void started(void *ctx)
{
	struct run *r = ctx;

	r->starts++;
}

static void output(void *ctx, struct str bytes)
{
	struct run *r = ctx;

	(void)bytes;
	if (r->greets)
		supervisor_greeted(r->supervisor);
	else
		supervisor_break(r->supervisor, STR("talks nonsense"));
	loop_stop(r->loop);
}

static void written(void *ctx)
{
	(void)ctx;
}

static void lost(void *ctx, struct str why)
{
	struct run *r = ctx;

	r->lost++;
	snprintf(r->why, sizeof r->why, "%.*s", STR_ARG(why));
	loop_stop(r->loop);
}

static void rested(void *ctx)
{
	struct run *r = ctx;

	r->rested++;
	loop_stop(r->loop);
}

static void stopped(void *ctx)
{
	struct run *r = ctx;

	r->stopped = true;
	loop_stop(r->loop);
}

static void run_release(struct run *r)
{
	supervisor_free(r->supervisor);
	loop_free(r->loop);
}

static bool begin(struct t *t, struct run *r, const char *script, int64_t hello_ms)
{
	struct supervisor_hooks hooks = { .what = what,
					  .started = started,
					  .output = output,
					  .written = written,
					  .lost = lost,
					  .rested = rested,
					  .stopped = stopped,
					  .ctx = r };
	struct err err;

	r->script = script;
	if (loop_new(NULL, &r->loop, &err)) {
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
		return false;
	}
	r->supervisor = supervisor_new(r->loop, hello_ms, &hooks);
	return true;
}

#define RUN struct run r CLEANUP(run_release) = { 0 }

TEST(it_is_started_when_it_is_wanted_and_stopped_politely)
{
	RUN;

	r.greets = true;
	NEED(begin(t, &r, "echo hello; cat >/dev/null; exit 0", 20000));
	EQ(r.starts, 0);
	supervisor_want(r.supervisor);
	supervisor_want(r.supervisor);
	loop_run(r.loop);
	EQ(r.starts, 1);
	EQ(supervisor_state(r.supervisor), SUPERVISOR_READY);
	CHECK(supervisor_child(r.supervisor) != NULL);
	supervisor_stop(r.supervisor);
	loop_run(r.loop);
	CHECK(r.stopped && r.lost == 0);
	EQ(procs_zombies(), 0);
}

TEST(one_that_dies_is_lost_with_its_last_words_and_rests)
{
	RUN;

	NEED(begin(t, &r, "echo 'no notes here' >&2; exit 3", 20000));
	for (int i = 1; i <= 3; i++) {
		supervisor_want(r.supervisor);
		loop_run(r.loop);
		EQ(r.lost, i);
		EQS(str_of(r.why), STR("ended with code 3: no notes here"));
		EQ(supervisor_state(r.supervisor), SUPERVISOR_RESTING);
		CHECK(supervisor_rest_ms(r.supervisor) <= 100 << (i - 1));
		supervisor_want(r.supervisor);
		EQ(r.starts, i);
		loop_run(r.loop);
		EQ(r.rested, i);
	}
	supervisor_stop(r.supervisor);
	CHECK(r.stopped);
}

TEST(one_that_cannot_be_started_is_lost)
{
	RUN;

	NEED(begin(t, &r, NULL, 20000));
	supervisor_want(r.supervisor);
	EQ(r.lost, 1);
	EQS(str_of(r.why), STR("there is no such program"));
	EQ(supervisor_state(r.supervisor), SUPERVISOR_RESTING);
}

TEST(one_that_says_nothing_is_killed)
{
	RUN;

	NEED(begin(t, &r, "trap '' TERM; echo thinking >&2; while :; do sleep 1; done", 300));
	supervisor_want(r.supervisor);
	loop_run(r.loop);
	EQ(r.lost, 1);
	EQS(str_of(r.why), STR("gave no answer after it was started: thinking"));
	/* It is being killed, or is dead already. */
	CHECK(supervisor_state(r.supervisor) == SUPERVISOR_BREAKING ||
	      supervisor_state(r.supervisor) == SUPERVISOR_RESTING);
	loop_run(r.loop); /* it is gone, and has rested */
	EQ(r.rested, 1);
	EQ(r.lost, 1);
	EQ(procs_zombies(), 0);
}

TEST(one_that_talks_nonsense_is_killed_at_once)
{
	RUN;

	NEED(begin(t, &r, "echo nonsense; sleep 1000", 20000));
	supervisor_want(r.supervisor);
	loop_run(r.loop);
	EQ(r.lost, 1);
	EQS(str_of(r.why), STR("talks nonsense"));
	CHECK(supervisor_child(r.supervisor) == NULL);
	supervisor_stop(r.supervisor);
	loop_run(r.loop);
	CHECK(r.stopped);
}

TEST(one_that_does_not_want_to_stop_is_made_to)
{
	RUN;

	r.greets = true;
	NEED(begin(t, &r, "trap '' TERM; echo hello; while :; do sleep 1; done", 20000));
	supervisor_want(r.supervisor);
	loop_run(r.loop);
	supervisor_stop(r.supervisor);
	loop_run(r.loop);
	CHECK(r.stopped && r.lost == 0);
	EQ(procs_zombies(), 0);
}

TEST(praise_makes_the_next_pause_short)
{
	RUN;

	NEED(begin(t, &r, "exit 0", 20000));
	for (int i = 0; i < 4; i++) {
		supervisor_want(r.supervisor);
		loop_run(r.loop);
		if (i == 2)
			supervisor_praise(r.supervisor);
		CHECK(i != 3 || supervisor_rest_ms(r.supervisor) <= 100);
		loop_run(r.loop);
	}
}

TESTS(CASE(a_child_exists_in_the_states_that_have_one_and_in_no_other),
      CASE(whoever_has_a_child_hears_of_its_end), CASE(stopping_comes_to_an_end_from_every_state),
      CASE(what_has_stopped_stays_so), CASE(time_moves_exactly_the_states_that_have_one),
      CASE(it_can_be_started_again_whatever_happened_but_a_stop), CASE(pauses_double_up_to_half_a_minute),
      CASE(it_is_started_when_it_is_wanted_and_stopped_politely),
      CASE(one_that_dies_is_lost_with_its_last_words_and_rests), CASE(one_that_cannot_be_started_is_lost),
      CASE(one_that_says_nothing_is_killed), CASE(one_that_talks_nonsense_is_killed_at_once),
      CASE(one_that_does_not_want_to_stop_is_made_to), CASE(praise_makes_the_next_pause_short))
