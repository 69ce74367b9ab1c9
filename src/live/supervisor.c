/*
 * The table, and what carries it out.
 *
 *     idle ─► starting ─► ready ─┐            any ─► closing ─► terminating ─► killing
 *      ▲         │ breaking ◄────┤                      └───────────┴────────────┴─► stopped
 *      └─────── resting ◄────────┘
 *
 * A child that is of no use is killed at once: what it does with the input it has got
 * is anybody's guess. One that is merely not needed any more gets the end of its
 * input, then a signal, then no choice; before it has said anything, the signal at once.
 *
 * Invariants: a child exists exactly in the states from starting to breaking and
 * from closing to killing; a state that lasts at most so long has its timer running;
 * `lost` is told once for each child that was not told to stop.
 */
#include "live/supervisor.h"

#include "base/clock.h"

/* ---- The table ---------------------------------------------------------------- */

#define TO(to, what) \
	{ \
		.state = SUPERVISOR_##to, .deed = SUPERVISOR_##what \
	}

/* What is not here changes nothing. No entry leads to idle but the one from resting, and none
 * from stopped. */
static const struct {
	bool given;
	struct supervisor_step step;
} table[SUPERVISOR_STATES][SUPERVISOR_EVENTS] = {
	[SUPERVISOR_IDLE] = {
		[SUPERVISOR_WANTED] = { true, TO(STARTING, START) },
		[SUPERVISOR_STOP] = { true, TO(STOPPED, NOTHING) },
	},
	[SUPERVISOR_STARTING] = {
		[SUPERVISOR_GREETED] = { true, TO(READY, NOTHING) },
		[SUPERVISOR_BROKEN] = { true, TO(BREAKING, KILL) },
		[SUPERVISOR_ENDED] = { true, TO(RESTING, LET_GO) },
		[SUPERVISOR_TIME] = { true, TO(BREAKING, KILL) },
		[SUPERVISOR_STOP] = { true, TO(TERMINATING, TERM) }, /* it does nothing for anybody yet */
	},
	[SUPERVISOR_READY] = {
		[SUPERVISOR_BROKEN] = { true, TO(BREAKING, KILL) },
		[SUPERVISOR_ENDED] = { true, TO(RESTING, LET_GO) },
		[SUPERVISOR_STOP] = { true, TO(CLOSING, CLOSE) },
	},
	[SUPERVISOR_BREAKING] = {
		[SUPERVISOR_ENDED] = { true, TO(RESTING, LET_GO) },
		[SUPERVISOR_TIME] = { true, TO(RESTING, LET_GO) },
		[SUPERVISOR_STOP] = { true, TO(KILLING, NOTHING) },
	},
	[SUPERVISOR_RESTING] = {
		[SUPERVISOR_TIME] = { true, TO(IDLE, NOTHING) },
		[SUPERVISOR_STOP] = { true, TO(STOPPED, NOTHING) },
	},
	[SUPERVISOR_CLOSING] = {
		[SUPERVISOR_BROKEN] = { true, TO(KILLING, KILL) },
		[SUPERVISOR_ENDED] = { true, TO(STOPPED, LET_GO) },
		[SUPERVISOR_TIME] = { true, TO(TERMINATING, TERM) },
	},
	[SUPERVISOR_TERMINATING] = {
		[SUPERVISOR_BROKEN] = { true, TO(KILLING, KILL) },
		[SUPERVISOR_ENDED] = { true, TO(STOPPED, LET_GO) },
		[SUPERVISOR_TIME] = { true, TO(KILLING, KILL) },
	},
	[SUPERVISOR_KILLING] = {
		[SUPERVISOR_ENDED] = { true, TO(STOPPED, LET_GO) },
		[SUPERVISOR_TIME] = { true, TO(STOPPED, LET_GO) },
	},
};

struct supervisor_step supervisor_next(enum supervisor_state state, enum supervisor_event event)
{
	struct supervisor_step stay = { .state = state, .deed = SUPERVISOR_NOTHING };

	return table[state][event].given ? table[state][event].step : stay;
}

const char *supervisor_state_name(enum supervisor_state state)
{
	static const char *const names[SUPERVISOR_STATES] = {
		[SUPERVISOR_IDLE] = "idle",
		[SUPERVISOR_STARTING] = "starting",
		[SUPERVISOR_READY] = "ready",
		[SUPERVISOR_BREAKING] = "breaking",
		[SUPERVISOR_RESTING] = "resting",
		[SUPERVISOR_CLOSING] = "closing",
		[SUPERVISOR_TERMINATING] = "terminating",
		[SUPERVISOR_KILLING] = "killing",
		[SUPERVISOR_STOPPED] = "stopped",
	};

	return names[state];
}

int64_t supervisor_state_ms(enum supervisor_state state, int failures, int64_t hello_ms)
{
	enum { FIRST_REST_MS = 100, LAST_REST_MS = 30000, CLOSE_MS = 1500, TERM_MS = 1500, KILL_MS = 3000 };
	int64_t rest = FIRST_REST_MS;

	switch (state) {
	case SUPERVISOR_STARTING:
		return hello_ms;
	case SUPERVISOR_RESTING:
		for (int i = 1; i < failures && rest < LAST_REST_MS; i++)
			rest *= 2;
		return rest < LAST_REST_MS ? rest : LAST_REST_MS;
	case SUPERVISOR_CLOSING:
		return CLOSE_MS;
	case SUPERVISOR_TERMINATING:
		return TERM_MS;
	case SUPERVISOR_BREAKING:
	case SUPERVISOR_KILLING:
		return KILL_MS;
	case SUPERVISOR_IDLE:
	case SUPERVISOR_READY:
	case SUPERVISOR_STOPPED:
	case SUPERVISOR_STATES:
		break;
	}
	return 0;
}

/* ---- Carrying it out ------------------------------------------------------------ */

struct supervisor {
	struct loop *loop;
	struct loop_timer *timer;
	struct supervisor_hooks hooks;
	struct child *child;
	enum supervisor_state state;
	int64_t hello_ms;
	int64_t until_ns; /* when the timer comes */
	int failures;	  /* since it last did something useful */
	struct buf why;
};

enum { WHY = 2 * LIMIT_ERR_TEXT };

static void happen(struct supervisor *s, enum supervisor_event event);

static bool can_be_used(enum supervisor_state state)
{
	return state == SUPERVISOR_STARTING || state == SUPERVISOR_READY;
}

static void on_output(void *ctx, struct str bytes)
{
	struct supervisor *s = ctx;

	if (can_be_used(s->state))
		s->hooks.output(s->hooks.ctx, bytes);
}

static void on_written(void *ctx)
{
	struct supervisor *s = ctx;

	if (can_be_used(s->state))
		s->hooks.written(s->hooks.ctx);
}

/* The reason for which it is lost, with what the child said last. The first one counts: one that was
 * killed because it broke is lost because it broke. */
static void remember(struct supervisor *s, struct str why)
{
	enum { MOST = 300 };
	struct str words = s->child ? child_last_words(s->child) : (struct str){ 0 };

	if (!can_be_used(s->state))
		return;
	buf_clear(&s->why);
	buf_str(&s->why, why);
	if (words.n)
		buf_printf(&s->why, ": %.*s", (int)size_min(words.n, MOST), words.p);
}

static void on_ended(void *ctx, const struct child_end *end)
{
	struct buf how CLEANUP(buf_release) = BUF_INIT(KIB);
	struct supervisor *s = ctx;

	child_end_text(end, &how);
	remember(s, buf_as_str(&how));
	happen(s, SUPERVISOR_ENDED);
}

static void on_time(void *ctx)
{
	struct supervisor *s = ctx;

	if (s->state == SUPERVISOR_STARTING)
		remember(s, STR("gave no answer after it was started"));
	happen(s, SUPERVISOR_TIME);
}

/* A child that cannot be started is one that ended, told from the loop like every other end. */
static void start(struct supervisor *s)
{
	struct child_hooks hooks = {
		.output = on_output, .written = on_written, .ended = on_ended, .ctx = s
	};
	struct guard_start what;
	struct err err;

	if (s->hooks.what(s->hooks.ctx, &what, &err) ||
	    child_start(s->loop, &what, &hooks, &s->child, &err)) {
		remember(s, str_of(err.text));
		happen(s, SUPERVISOR_ENDED);
		return;
	}
	s->hooks.started(s->hooks.ctx);
}

static void act(struct supervisor *s, enum supervisor_deed deed)
{
	switch (deed) {
	case SUPERVISOR_START:
		start(s);
		break;
	case SUPERVISOR_CLOSE:
		child_close_input(s->child);
		child_pause(s->child, false);
		break;
	case SUPERVISOR_TERM:
		child_ask_to_end(s->child);
		break;
	case SUPERVISOR_KILL:
		child_kill(s->child);
		child_pause(s->child, false);
		break;
	case SUPERVISOR_LET_GO:
		child_free(s->child);
		s->child = NULL;
		break;
	case SUPERVISOR_NOTHING:
		break;
	}
}

static void enter(struct supervisor *s, enum supervisor_state state)
{
	int64_t ms = supervisor_state_ms(state, s->failures, s->hello_ms);

	s->state = state;
	s->until_ns = clock_monotonic_ns() + ms * 1000000;
	if (ms)
		loop_timer_set(s->timer, ms);
	else
		loop_timer_stop(s->timer);
}

static void tell(struct supervisor *s, enum supervisor_state before)
{
	if (can_be_used(before) && (s->state == SUPERVISOR_BREAKING || s->state == SUPERVISOR_RESTING))
		s->hooks.lost(s->hooks.ctx, buf_as_str(&s->why));
	else if (before == SUPERVISOR_RESTING && s->state == SUPERVISOR_IDLE)
		s->hooks.rested(s->hooks.ctx);
	else if (s->state == SUPERVISOR_STOPPED)
		s->hooks.stopped(s->hooks.ctx);
}

static void happen(struct supervisor *s, enum supervisor_event event)
{
	enum supervisor_state before = s->state;
	struct supervisor_step step = supervisor_next(before, event);

	if (step.state == before)
		return;
	if (can_be_used(before) && !can_be_used(step.state))
		s->failures++;
	enter(s, step.state);
	act(s, step.deed);
	if (s->state == step.state) /* a start may have failed, and told all that itself */
		tell(s, before);
}

/* ---- For those who need it ------------------------------------------------------ */

struct supervisor *supervisor_new(struct loop *l, int64_t hello_ms, const struct supervisor_hooks *hooks)
{
	struct supervisor *s = mem_alloc(sizeof *s);

	s->loop = l;
	s->hooks = *hooks;
	s->hello_ms = hello_ms;
	s->timer = loop_timer_new(l, on_time, s);
	buf_init(&s->why, WHY);
	return s;
}

void supervisor_free(struct supervisor *s)
{
	if (!s)
		return;
	child_free(s->child);
	loop_timer_free(s->timer);
	buf_release(&s->why);
	mem_free(s);
}

void supervisor_want(struct supervisor *s)
{
	happen(s, SUPERVISOR_WANTED);
}

void supervisor_greeted(struct supervisor *s)
{
	happen(s, SUPERVISOR_GREETED);
}

void supervisor_break(struct supervisor *s, struct str why)
{
	remember(s, why);
	happen(s, SUPERVISOR_BROKEN);
}

void supervisor_stop(struct supervisor *s)
{
	happen(s, SUPERVISOR_STOP);
}

void supervisor_praise(struct supervisor *s)
{
	s->failures = 0;
}

enum supervisor_state supervisor_state(const struct supervisor *s)
{
	return s->state;
}

struct child *supervisor_child(const struct supervisor *s)
{
	return can_be_used(s->state) ? s->child : NULL;
}

int64_t supervisor_rest_ms(const struct supervisor *s)
{
	int64_t left = (s->until_ns - clock_monotonic_ns()) / 1000000;

	return s->state == SUPERVISOR_RESTING && left > 0 ? left : 0;
}

struct str supervisor_why(const struct supervisor *s)
{
	return buf_as_str(&s->why);
}
