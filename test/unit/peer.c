/*
 * Asking child hubs: answers of all kinds, many askers, and children that die, hang, talk
 * nonsense, flood or do not read.
 */
#include "base/clock.h"
#include "live/peer.h"
#include "procs.h"
#include "t.h"

#include <pthread.h>
#include <sys/resource.h>

/* A hub in a few lines of shell: what it is asked decides what it does. */
static const char hub_script[] =
	"say() { printf '{\"jsonrpc\":\"2.0\",%s}\\n' \"$1\"; }\n"
	"item() { say '\"method\":\"$/item\",\"params\":{\"id\":'$id',\"item\":'\"$1\"'}'; }\n"
	"while read -r l; do\n"
	"  case $l in *'$/cancel'*) echo cancelled >&2; continue;; esac\n"
	"  id=${l#*'\"id\":'}; id=${id%%,*}; m=${l#*'\"method\":\"'}; m=${m%%\\\"*}; result=null\n"
	"  case $m in\n"
	"  hub.info) result='{\"protocol\":1,\"name\":\"test\"}';;\n"
	"  one) result='{\"a\":1}';;\n"
	"  echo) result=${l#*'\"params\":'}; result=${result%\\}};;\n"
	"  three) for i in 1 2 3; do item '{\"n\":'$i'}'; done; result=3;;\n"
	"  miscounted) item '{}'; result=7;;\n"
	"  odd) result='\"odd\"';;\n"
	"  bytes) say '\"method\":\"$/bytes\",\"params\":{\"id\":'$id',\"base64\":\"AP8K\"}'; result=3;;\n"
	"  note) say '\"method\":\"$/note\",\"params\":{\"id\":'$id',\"text\":\"a note\"}'\n"
	"        say "
	"'\"method\":\"$/progress\",\"params\":{\"id\":'$id',\"what\":\"w\",\"done\":1,\"total\":2}'\n"
	"        say '\"method\":\"$/unheard\",\"params\":{\"id\":'$id'}';;\n"
	"  lost) say '\"id\":'$id',\"error\":{\"code\":-32001,\"message\":\"not here\"}'; continue;;\n"
	"  gone) say '\"id\":'$id',\"error\":{\"code\":-1,\"message\":\"was "
	"here\",\"data\":{\"status\":\"gone\"}}'; continue;;\n"
	"  text_id) id='\"'$id'\"';;\n"
	"  text_item) id='\"'$id'\"'; item '{}';;\n"
	"  list) result='[{\"n\":1},{\"n\":2}]';;\n"
	"  miscount) item '{}'; result=5;;\n"
	"  both) item '{}'; result='{}';;\n"
	"  odd_error) say '\"id\":'$id',\"error\":{\"code\":5}'; continue;;\n"
	"  die) echo 'I am dying' >&2; exit 4;;\n"
	"  hang) sleep 1000;;\n"
	"  deaf) echo not listening >&2; exec sleep 1000;;\n"
	"  garbage) echo 'Hello, world'; sleep 1000;;\n"
	"  not_rpc) echo '{\"hello\":1}'; sleep 1000;;\n"
	"  bad_item) item 5; sleep 1000;;\n"
	"  flood) while item "
	"'{\"text\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}'; do :; done;;\n"
	"  yes) yes "
	"'{\"jsonrpc\":\"2.0\",\"method\":\"$/"
	"item\",\"params\":{\"id\":'$id',\"item\":{\"x\":\"0123456789\"}}}';;\n"
	"  line) head -c 80000000 /dev/zero | tr '\\0' x; sleep 1000;;\n"
	"  stay) (setsid sh -c 'sleep 1000; :' \"$0\" >/dev/null 2>&1 </dev/null &) ; result='{}';;\n"
	"  esac\n"
	"  say '\"id\":'$id',\"result\":'\"$result\"\n"
	"done\n";

static enum status run_script(void *ctx, struct arena *mem, struct guard_start *out, struct err *err)
{
	static const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	const char **arguments = arena_alloc(mem, 5 * sizeof *arguments);
	const char *const *script = ctx; /* and a mark */

	(void)err;
	arguments[0] = "sh";
	arguments[1] = "-c";
	arguments[2] = script[0];
	arguments[3] = script[1];
	*out = (struct guard_start){
		.path = "/bin/sh", .arguments = arguments, .environment = environment, .folder = "/"
	};
	return STATUS_OK;
}

static enum status run_nothing(void *ctx, struct arena *mem, struct guard_start *out, struct err *err)
{
	(void)ctx;
	(void)mem;
	(void)out;
	return err_fail(err, STATUS_NOT_FOUND, "nonesuch: No such file or directory");
}

static char mark[64];
static const char *usual[] = { hub_script, mark };
static const char *dying[] = { "echo broken >&2; exit 1", mark };
static const char *silent[] = { "sleep 1000", mark };
static const char *plain[] = {
	"while read -r l; do id=${l#*'\"id\":'}; id=${id%%,*};"
	" echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"error\":{\"code\":-32601,\"message\":\"no\"}}'; done",
	mark
};

enum { HUB, SLOW_HUB, DYING, SILENT, PLAIN, MISSING };
static const struct peer_setup setups[] = {
	[HUB] = { "hub", 20000, run_script, usual },	 [SLOW_HUB] = { "slow", 400, run_script, usual },
	[DYING] = { "dying", 20000, run_script, dying }, [SILENT] = { "silent", 400, run_script, silent },
	[PLAIN] = { "plain", 20000, run_script, plain }, [MISSING] = { "missing", 20000, run_nothing, NULL },
};

struct heard {
	struct buf text;
	int items;
	int stop_after;
	int sleep_ms;
};

static enum status on_item(void *ctx, struct str json, struct err *err)
{
	struct heard *h = ctx;

	h->items++;
	if (h->sleep_ms)
		usleep((useconds_t)h->sleep_ms * 1000);
	if (h->stop_after && h->items >= h->stop_after)
		return err_fail(err, STATUS_CANCELLED, "enough");
	if (h->text.n < 4096)
		buf_str(&h->text, json);
	return STATUS_OK;
}

static enum status on_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct heard *h = ctx;

	(void)err;
	buf_str(&h->text, bytes);
	return STATUS_OK;
}

static void on_progress(void *ctx, struct str what, int64_t done, int64_t total)
{
	struct heard *h = ctx;

	buf_printf(&h->text, "[%.*s %d/%d]", STR_ARG(what), (int)done, (int)total);
}

static void on_note(void *ctx, struct str text)
{
	struct heard *h = ctx;

	buf_printf(&h->text, "[%.*s]", STR_ARG(text));
}

static enum status ask(struct peers *all, size_t peer, const char *method, const char *params,
		       struct heard *h, struct err *err)
{
	struct peer_question q = { .peer = peer, .method = str_of(method), .params = str_of(params) };
	struct peer_sink sink = {
		.item = on_item, .bytes = on_bytes, .progress = on_progress, .note = on_note, .ctx = h
	};

	buf_clear(&h->text);
	h->items = 0;
	return peer_ask(all, &q, &sink, err);
}

static void peers_freep(struct peers **all)
{
	peers_free(*all);
}

static void heard_release(struct heard *h)
{
	buf_release(&h->text);
}

static struct peers *begin(void)
{
	static int count;

	snprintf(mark, sizeof mark, "arbor-peer-test-%d-%d", (int)getpid(), count++);
	return peers_new(setups, COUNT(setups));
}

#define PEERS \
	struct peers *all CLEANUP(peers_freep) = begin(); \
	struct heard h CLEANUP(heard_release) = { .text = BUF_INIT(MIB) }; \
	struct err err

#define HAS(part) \
	do { \
		if (!strstr(err.text, part)) \
			t_fail(t, __FILE__, __LINE__, "'%s' does not say '%s'", err.text, part); \
	} while (0)

/* ---- Answers ------------------------------------------------------------------------- */

TEST(answers_of_every_kind_arrive)
{
	PEERS;

	EQ(procs_with(mark), 0); /* not before somebody asks */
	OK(ask(all, HUB, "one", "", &h, &err));
	EQS(buf_as_str(&h.text), STR("{\"a\":1}"));
	OK(ask(all, HUB, "three", "", &h, &err));
	EQS(buf_as_str(&h.text), STR("{\"n\":1}{\"n\":2}{\"n\":3}"));
	OK(ask(all, HUB, "bytes", "", &h, &err));
	EQS(buf_as_str(&h.text), STR("\0\xff\n"));
	OK(ask(all, HUB, "note", "", &h, &err));
	EQS(buf_as_str(&h.text), STR("[a note][w 1/2]"));
	OK(ask(all, HUB, "echo", "{\"x\":\n[1,\n2]}", &h, &err)); /* line ends between values */
	EQS(buf_as_str(&h.text), STR("{\"x\": [1, 2]}"));
	EQ(procs_with(mark), 1);
}

TEST(it_says_who_it_is_and_who_does_not_is_nobody_special)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct peers *all CLEANUP(peers_freep) = begin();
	struct str info = { 0 };
	struct err err;

	OK(peer_info(all, HUB, 0, NULL, &mem, &info, &err));
	EQS(info, STR("{\"protocol\":1,\"name\":\"test\"}"));
	OK(peer_info(all, PLAIN, 0, NULL, &mem, &info, &err));
	EQS(info, STR("{}"));
}

TEST(errors_are_the_childs_own)
{
	PEERS;

	EQ(ask(all, HUB, "lost", "", &h, &err), STATUS_NOT_FOUND);
	EQS(str_of(err.text), STR("not here"));
	EQ(ask(all, HUB, "gone", "", &h, &err), STATUS_GONE);
	EQ(ask(all, HUB, "odd_error", "", &h, &err), STATUS_IO);
	EQ(ask(all, PLAIN, "x", "", &h, &err), STATUS_NOT_FOUND);
	EQ(ask(all, HUB, "miscounted", "", &h, &err), STATUS_FORMAT);
	EQ(ask(all, HUB, "odd", "", &h, &err), STATUS_FORMAT);
	EQ(procs_with(mark), 2);
}

/* ---- Many at once ---------------------------------------------------------------------- */

struct asker {
	struct t *t;
	struct peers *all;
	int number;
};

static void *ask_often(void *ctx)
{
	struct asker *a = ctx;
	struct heard h CLEANUP(heard_release) = { .text = BUF_INIT(MIB) };
	struct err err;
	char params[64];

	for (int i = 0; i < 30; i++) {
		snprintf(params, sizeof params, "{\"who\":%d,\"what\":%d}", a->number, i);
		if (ask(a->all, HUB, "echo", params, &h, &err) ||
		    !str_eq(buf_as_str(&h.text), str_of(params)))
			return a;
	}
	return NULL;
}

TEST(everybody_gets_the_own_answers)
{
	enum { ASKERS = 8 };
	pthread_t threads[ASKERS];
	struct asker askers[ASKERS];
	PEERS;

	for (int i = 0; i < ASKERS; i++) {
		askers[i] = (struct asker){ t, all, i };
		NEED(pthread_create(&threads[i], NULL, ask_often, &askers[i]) == 0);
	}
	for (int i = 0; i < ASKERS; i++) {
		void *failed = NULL;

		pthread_join(threads[i], &failed);
		CHECK(!failed);
	}
	OK(ask(all, HUB, "one", "", &h, &err));
}

/* ---- What goes wrong --------------------------------------------------------------------- */

TEST(one_that_dies_is_told_with_its_last_words_and_started_again)
{
	PEERS;

	EQ(ask(all, HUB, "die", "", &h, &err), STATUS_UNREACHABLE);
	EQS(str_of(err.text), STR("hub: ended with code 4: I am dying"));
	OK(ask(all, HUB, "one", "", &h, &err));
}

TEST(one_that_always_dies_is_left_alone_for_longer_and_longer)
{
	bool tired = false;
	PEERS;

	for (int i = 0; i < 12 && !tired; i++) {
		struct peer_question q = { .peer = DYING,
					   .method = STR("x"),
					   .deadline_ns = clock_monotonic_ns() + 2000000000 };
		struct peer_sink sink = { .item = on_item, .ctx = &h };

		EQ(peer_ask(all, &q, &sink, &err), STATUS_UNREACHABLE);
		HAS("dying: ended with code 1: broken");
		tired = strstr(err.text, "it is not started again for") != NULL;
	}
	CHECK(tired);
}

TEST(one_that_is_not_there_is_told_by_name)
{
	PEERS;

	EQ(ask(all, MISSING, "x", "", &h, &err), STATUS_UNREACHABLE);
	EQS(str_of(err.text), STR("missing: nonesuch: No such file or directory"));
}

TEST(one_that_never_answers_is_given_up)
{
	PEERS;

	EQ(ask(all, SILENT, "x", "", &h, &err), STATUS_UNREACHABLE);
	HAS("silent: gave no answer after it was started");
}

TEST(one_that_hangs_is_killed_and_started_again)
{
	PEERS;

	OK(ask(all, SLOW_HUB, "one", "", &h, &err));
	EQ(ask(all, SLOW_HUB, "hang", "", &h, &err), STATUS_UNREACHABLE);
	EQS(str_of(err.text), STR("slow: gave no answer for 400 ms"));
	OK(ask(all, SLOW_HUB, "one", "", &h, &err));
	EQ(procs_with(mark), 1);
}

TEST(one_that_does_not_read_is_given_up)
{
	struct buf large CLEANUP(buf_release) = BUF_INIT(MIB);
	PEERS;

	buf_text(&large, "{\"x\":\"");
	for (int i = 0; i < 40000; i++)
		buf_text(&large, "0123456789");
	buf_text(&large, "\"}");
	EQ(ask(all, SLOW_HUB, "deaf", large.p, &h, &err), STATUS_UNREACHABLE);
	EQ(ask(all, SLOW_HUB, "deaf", large.p, &h, &err), STATUS_UNREACHABLE);
	OK(ask(all, SLOW_HUB, "one", "", &h, &err));
}

TEST(one_that_talks_nonsense_is_told_by_what_it_said)
{
	PEERS;

	EQ(ask(all, HUB, "garbage", "", &h, &err), STATUS_UNREACHABLE);
	EQS(str_of(err.text), STR("hub: wrote something that is not JSON: 'Hello, world'"));
	EQ(ask(all, HUB, "not_rpc", "", &h, &err), STATUS_UNREACHABLE);
	HAS("no message of JSON-RPC 2.0 (\"jsonrpc\" is not \"2.0\"): '{\"hello\":1}'");
	EQ(ask(all, HUB, "bad_item", "", &h, &err), STATUS_UNREACHABLE);
	HAS("an item that is no object");
	EQ(ask(all, HUB, "text_id", "", &h, &err), STATUS_UNREACHABLE);
	HAS("an answer whose id is a text and was a number: '{\"jsonrpc\":\"2.0\",\"id\":\"");
	EQ(ask(all, HUB, "text_item", "", &h, &err), STATUS_UNREACHABLE);
	HAS("an answer whose id is a text and was a number: '{\"jsonrpc\":\"2.0\",\"method\":\"$/item\"");
	EQ(ask(all, HUB, "line", "", &h, &err), STATUS_UNREACHABLE);
	HAS("too long for a message");
	OK(ask(all, HUB, "one", "", &h, &err));
}

TEST(a_result_that_is_not_right_is_told_with_what_would_be)
{
	PEERS;

	EQ(ask(all, HUB, "list", "", &h, &err), STATUS_FORMAT);
	EQS(str_of(err.text), STR("hub: the result '[{\"n\":1},{\"n\":2}]' is no object, and nothing came before it; "
				  "several results come as '$/item' each"));
	EQ(ask(all, HUB, "miscount", "", &h, &err), STATUS_FORMAT);
	EQS(str_of(err.text), STR("hub: the result '5' is not how many items it gave, 1, nor null"));
	EQ(ask(all, HUB, "both", "", &h, &err), STATUS_FORMAT);
	EQS(str_of(err.text), STR("hub: the result '{}' is not how many items it gave, 1, nor null"));
}

static long peak_mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss / 1024;
}

TEST(a_flood_waits_until_somebody_takes_it)
{
	long before = peak_mib();
	PEERS;

	h.stop_after = 12;
	h.sleep_ms = 50; /* the child could have sent hundreds of megabytes meanwhile */
	EQ(ask(all, HUB, "yes", "", &h, &err), STATUS_CANCELLED);
	CHECK(peak_mib() - before < 32);
}

TEST(who_is_slow_to_take_does_not_call_others_silent)
{
	PEERS;

	h.stop_after = 3;
	h.sleep_ms = 600; /* longer than the child may be silent */
	EQ(ask(all, SLOW_HUB, "flood", "", &h, &err), STATUS_CANCELLED);
	EQ(h.items, 3);
}

/* ---- Giving up ------------------------------------------------------------------------------ */

static void *cancel_soon(void *ctx)
{
	usleep(100000);
	atomic_store((atomic_bool *)ctx, true);
	return NULL;
}

TEST(a_round_starts_the_others_when_one_is_slow_and_keeps_their_order)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct peer_round *round;
	struct str info = { 0 };
	int64_t took = 0;
	PEERS;

	round = peer_round_new(all);
	OK(peer_round_info(round, HUB, 0, NULL, &mem, &info, &took, &err));
	EQS(info, STR("{\"protocol\":1,\"name\":\"test\"}"));
	EQ(procs_with(mark), 1); /* nobody else was needed */
	peer_round_skip(round, DYING);
	EQ(peer_round_info(round, SILENT, 0, NULL, &mem, &info, &took, &err), STATUS_UNREACHABLE);
	HAS("silent: gave no answer");
	CHECK(took >= (int64_t)300 * 1000000);
	CHECK(procs_with(mark) >= 3); /* HUB, SLOW_HUB, PLAIN */
	OK(peer_round_info(round, PLAIN, 0, NULL, &mem, &info, &took, &err));
	EQS(info, STR("{}"));
	EQ(peer_round_info(round, MISSING, 0, NULL, &mem, &info, &took, &err), STATUS_UNREACHABLE);
	HAS("missing: nonesuch: No such file");
	EQ(peer_round_info(round, SILENT, 0, NULL, &mem, &info, &took, &err), STATUS_UNREACHABLE);
	OK(ask(all, HUB, "one", "", &h, &err));
	peer_round_free(round);
	OK(ask(all, SLOW_HUB, "one", "", &h, &err));
	peer_round_free(NULL);
}

TEST(a_question_can_be_withdrawn_and_has_its_time)
{
	atomic_bool cancel = false;
	struct peer_question q = { .peer = HUB, .method = STR("hang"), .cancel = &cancel };
	pthread_t other;
	PEERS;
	struct peer_sink sink = { .item = on_item, .ctx = &h };

	NEED(pthread_create(&other, NULL, cancel_soon, &cancel) == 0);
	EQ(peer_ask(all, &q, &sink, &err), STATUS_CANCELLED);
	pthread_join(other, NULL);
	q.cancel = NULL;
	q.deadline_ns = clock_monotonic_ns() + 100000000;
	EQ(peer_ask(all, &q, &sink, &err), STATUS_UNREACHABLE);
	EQS(str_of(err.text), STR("hub: gave no answer in time"));
}

TEST(nothing_is_left_of_it)
{
	struct heard h CLEANUP(heard_release) = { .text = BUF_INIT(MIB) };
	struct peers *all = begin();
	struct err err;

	OK(ask(all, HUB, "stay", "", &h, &err));
	OK(ask(all, PLAIN, "x", "", &h, &err) == STATUS_NOT_FOUND ? STATUS_OK : STATUS_INTERNAL);
	CHECK(procs_become(mark, 3));
	peers_free(all);
	EQ(procs_with(mark), 0);
	EQ(procs_zombies(), 0);
}

TESTS(CASE(answers_of_every_kind_arrive), CASE(it_says_who_it_is_and_who_does_not_is_nobody_special),
      CASE(errors_are_the_childs_own), CASE(everybody_gets_the_own_answers),
      CASE(one_that_dies_is_told_with_its_last_words_and_started_again),
      CASE(one_that_always_dies_is_left_alone_for_longer_and_longer),
      CASE(one_that_is_not_there_is_told_by_name), CASE(one_that_never_answers_is_given_up),
      CASE(one_that_hangs_is_killed_and_started_again), CASE(one_that_does_not_read_is_given_up),
      CASE(one_that_talks_nonsense_is_told_by_what_it_said),
      CASE(a_result_that_is_not_right_is_told_with_what_would_be), CASE(a_flood_waits_until_somebody_takes_it),
      CASE(who_is_slow_to_take_does_not_call_others_silent),
      CASE(a_round_starts_the_others_when_one_is_slow_and_keeps_their_order),
      CASE(a_question_can_be_withdrawn_and_has_its_time), CASE(nothing_is_left_of_it))
