/*
 * Clients that run: what they note of themselves, and what /proc says of a process.
 */
#include "base/file.h"
#include "claude/live.h"
#include "t.h"

#include <unistd.h>

#define SESSION "0ea33764-9f05-462f-a1d4-51fb8fdac471"

TEST(a_note_is_read_as_the_client_wrote_it)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct uuid want;
	struct live l;

	NEED(live_read(
		STR("{\"pid\":26474,\"sessionId\":\"" SESSION "\",\"cwd\":\"/home/dev/p\","
		    "\"startedAt\":1794768793163,\"procStart\":\"287956\",\"version\":\"2.1.197\","
		    "\"peerProtocol\":1,\"kind\":\"interactive\",\"entrypoint\":\"cli\",\"name\":\"p-73\","
		    "\"status\":\"idle\"}"),
		&mem, &l));
	CHECK(uuid_parse(STR(SESSION), &want) && uuid_eq(&want, &l.session));
	EQ(l.pid, 26474);
	EQ(l.started_at, INT64_C(1794768793163));
	EQS(l.proc_start, STR("287956"));
	EQS(l.cwd, STR("/home/dev/p"));
	EQS(l.version, STR("2.1.197"));
	EQS(l.kind, STR("interactive"));
	EQS(l.name, STR("p-73"));
	EQS(l.status, STR("idle"));
}

TEST(what_is_odd_is_left_out_but_a_process_and_a_session_are_needed)
{
	static const char *const bad[] = {
		"",
		"{",
		"7",
		"[]",
		"{}",
		"{\"pid\":1}",
		"{\"sessionId\":\"" SESSION "\"}",
		"{\"pid\":\"1\",\"sessionId\":\"" SESSION "\"}",
		"{\"pid\":0,\"sessionId\":\"" SESSION "\"}",
		"{\"pid\":-1,\"sessionId\":\"" SESSION "\"}",
		"{\"pid\":1.5,\"sessionId\":\"" SESSION "\"}",
		"{\"pid\":4294967297,\"sessionId\":\"" SESSION "\"}",
		"{\"pid\":99999999999999999999,\"sessionId\":\"" SESSION "\"}",
		"{\"pid\":1,\"sessionId\":7}",
		"{\"pid\":1,\"sessionId\":\"../../etc\"}",
	};
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct live l;

	for (size_t i = 0; i < COUNT(bad); i++)
		if (live_read(str_of(bad[i]), &mem, &l))
			t_fail(t, __FILE__, __LINE__, "'%s' was taken", bad[i]);
	NEED(live_read(STR("{\"pid\":1,\"sessionId\":\"" SESSION
			   "\",\"procStart\":12,\"cwd\":[],\"name\":null,"
			   "\"startedAt\":\"x\"}"),
		       &mem, &l));
	EQS(l.proc_start, STR("12"));
	CHECK(!l.cwd.p && !l.name.p && !l.started_at);
}

#define STAT(name, state) \
	"77 (" name ") " state \
	" 1 77 77 0 -1 4194560 500 0 0 0 1 2 3 4 20 0 1 0 287956 0 0 18446744073709551615\n"

TEST(a_process_is_the_client_when_it_started_then)
{
	struct live l = { .pid = 77, .proc_start = STR("287956") };

	CHECK(live_is_process(&l, STR(STAT("claude", "S"))));
	CHECK(live_is_process(&l, STR(STAT("a) R 1 2 (b) c", "R"))));
	CHECK(live_is_process(&l, STR(STAT(")", "S"))));
	l.proc_start = STR("287957");
	CHECK(!live_is_process(&l, STR(STAT("claude", "S"))));
	l.proc_start = STR("");
	CHECK(!live_is_process(&l, STR(STAT("claude", "S"))));
	l.proc_start = (struct str){ 0 }; /* it does not say */
	CHECK(live_is_process(&l, STR(STAT("claude", "S"))));
}

TEST(a_process_that_has_ended_is_none)
{
	static const char *const none[] = {
		STAT("claude", "Z"), STAT("claude", "X"), "", " ", "77", "77 (claude", ")"
	};
	struct live l = { .pid = 77 };

	for (size_t i = 0; i < COUNT(none); i++)
		CHECK(!live_is_process(&l, str_of(none[i])));
	l.proc_start = STR("287956");
	CHECK(!live_is_process(&l, STR("77 (claude) S 1 2 3")));
}

TEST(this_process_is_found_by_its_own_start)
{
	struct buf stat CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct buf note CLEANUP(buf_release) = BUF_INIT(KIB);
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct live l;
	struct err err;

	if (access("/proc/self/stat", R_OK) != 0)
		SKIP("there is no /proc");
	OK(file_read_all("/proc/self/stat", &stat, &err));
	buf_printf(&note, "{\"pid\":%d,\"sessionId\":\"" SESSION "\"}", (int)getpid());
	NEED(live_read(buf_as_str(&note), &mem, &l));
	CHECK(live_is_process(&l, buf_as_str(&stat)));
	l.proc_start = STR("1");
	CHECK(!live_is_process(&l, buf_as_str(&stat)));
}

TESTS(CASE(a_note_is_read_as_the_client_wrote_it),
      CASE(what_is_odd_is_left_out_but_a_process_and_a_session_are_needed),
      CASE(a_process_is_the_client_when_it_started_then), CASE(a_process_that_has_ended_is_none),
      CASE(this_process_is_found_by_its_own_start))
