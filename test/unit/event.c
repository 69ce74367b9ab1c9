/*
 * Lines that are no message, in a few words: every type that clients write, and those that
 * nobody knows yet.
 */
#include "claude/event.h"

#include "t.h"

#define READER struct record_reader CLEANUP(record_reader_release)

struct want {
	const char *line, *subtype, *brief;
};

static void check(struct t *t, const struct want *want)
{
	READER r = RECORD_READER_INIT;
	struct buf brief CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct record rec;

	record_begin(&r, str_of(want->line));
	CHECK(record_next(&r, &rec));
	event_brief(&r, &rec, &brief);
	if (!str_eq(event_subtype(&r, &rec), str_of(want->subtype)) ||
	    !str_eq(buf_as_str(&brief), str_of(want->brief)))
		t_fail(t, __FILE__, __LINE__, "%s\n# is '%.*s': '%.*s'\n# and not '%s'", want->line,
		       STR_ARG(event_subtype(&r, &rec)), STR_ARG(buf_as_str(&brief)), want->brief);
}

TEST(what_the_client_notes_is_told_by_what_it_is_about)
{
	static const struct want list[] = {
		{ "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"sessionId\":\"s\",\"content\":"
		  "\"fix\\n it\"}",
		  "", "enqueue: fix it" },
		{ "{\"type\":\"queue-operation\",\"operation\":\"dequeue\",\"sessionId\":\"s\"}", "",
		  "dequeue" },
		{ "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":[{\"type\":\"text\","
		  "\"text\":\"see\"}]}",
		  "", "enqueue: see" },
		{ "{\"type\":\"last-prompt\",\"lastPrompt\":\"go on\",\"leafUuid\":\"u\"}", "", "go on" },
		{ "{\"type\":\"last-prompt\",\"leafUuid\":\"u\",\"explicit\":true}", "",
		  "leafUuid: u, explicit: true" },
		{ "{\"type\":\"summary\",\"summary\":\"A title\",\"leafUuid\":\"u\"}", "", "A title" },
		{ "{\"type\":\"ai-title\",\"aiTitle\":\"A title\"}", "", "A title" },
		{ "{\"type\":\"custom-title\",\"customTitle\":\"A title\"}", "", "A title" },
		{ "{\"type\":\"tag\",\"tag\":\"draft\"}", "", "draft" },
		{ "{\"type\":\"tag\",\"tag\":\"\"}", "", "none any more" },
		{ "{\"type\":\"mode\",\"mode\":\"normal\"}", "", "normal" },
		{ "{\"type\":\"permission-mode\",\"permissionMode\":\"plan\"}", "", "plan" },
		{ "{\"type\":\"agent-name\",\"agentName\":\"fork\"}", "", "fork" },
		{ "{\"type\":\"agent-color\",\"agentColor\":\"red\"}", "", "red" },
		{ "{\"type\":\"agent-setting\",\"agentSetting\":\"reviewer\"}", "", "reviewer" },
		{ "{\"type\":\"file-history-snapshot\",\"snapshot\":{\"trackedFileBackups\":{}}}", "",
		  "no files" },
		{ "{\"type\":\"file-history-snapshot\",\"snapshot\":{\"trackedFileBackups\":{\"a.c\":{},\"b."
		  "c\":{},\"c\":{},"
		  "\"d\":{},\"e\":{},\"f\":{},\"g\":{}}}}",
		  "", "a.c, b.c, c, d, e and 2 more" },
		{ "{\"type\":\"pr-link\",\"prNumber\":7,\"prUrl\":\"https://x/7\",\"prRepository\":\"o/r\"}",
		  "", "o/r#7  https://x/7" },
		{ "{\"type\":\"pr-link\",\"prUrl\":\"https://x/7\"}", "", "https://x/7" },
		{ "{\"type\":\"tools-used\",\"tools\":[\"Bash\",\"Read\"]}", "", "Bash, Read" },
		{ "{\"type\":\"worktree-state\",\"worktreeSession\":{\"path\":\"/w\"},\"sessionId\":\"s\"}",
		  "", "worktreeSession: {path}" },
		{ "{\"type\":\"cost-state\",\"total\":1.50,\"models\":[\"m\",{\"x\":1},[1,2]]}", "",
		  "total: 1.50, models: [m, {…}, [2]]" },
		{ "{\"type\":\"bridge-session\",\"sessionId\":\"s\"}", "", "" },
	};

	for (size_t i = 0; i < COUNT(list); i++)
		check(t, &list[i]);
}

TEST(system_lines_attachments_and_progress_say_which_they_are)
{
	static const struct want list[] = {
		{ "{\"type\":\"system\",\"subtype\":\"local_command\",\"content\":\"done\"}", "local_command",
		  "done" },
		{ "{\"type\":\"system\",\"content\":\"no subtype\"}", "", "no subtype" },
		{ "{\"type\":\"system\",\"subtype\":\"turn_duration\",\"durationMs\":51870,\"messageCount\":"
		  "5}",
		  "turn_duration", "51.8 s, messages: 5" },
		{ "{\"type\":\"system\",\"subtype\":\"turn_duration\",\"durationMs\":180}", "turn_duration",
		  "180 ms" },
		{ "{\"type\":\"system\",\"subtype\":\"stop_hook_summary\",\"hookCount\":1,\"hookInfos\":[{"
		  "\"command\":\"lint\"}],"
		  "\"hookErrors\":[]}",
		  "stop_hook_summary", "hooks: 1, lint" },
		{ "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation "
		  "compacted\","
		  "\"compactMetadata\":{\"trigger\":\"auto\",\"preTokens\":171435,\"postTokens\":685}}",
		  "compact_boundary", "Conversation compacted, auto, from 171435 tokens to 685" },
		{ "{\"type\":\"system\",\"subtype\":\"new\",\"level\":\"info\",\"reason\":\"x\"}", "new",
		  "reason: x" },
		{ "{\"type\":\"attachment\",\"attachment\":{\"type\":\"skill_listing\",\"content\":\"- "
		  "a\",\"names\":[\"a\"]}}",
		  "skill_listing", "a" },
		{ "{\"type\":\"attachment\",\"attachment\":{\"type\":\"max_turns_reached\",\"maxTurns\":2,"
		  "\"turnCount\":3}}",
		  "max_turns_reached", "3 of 2" },
		{ "{\"type\":\"attachment\",\"attachment\":{\"type\":\"prompt_snapshot\",\"text\":\"You "
		  "are\"}}",
		  "prompt_snapshot", "the system prompt" },
		{ "{\"type\":\"attachment\",\"attachment\":{\"type\":\"date\",\"date\":\"2026-01-01\"}}",
		  "date", "date: 2026-01-01" },
		{ "{\"type\":\"attachment\",\"attachment\":null}", "", "" },
		{ "{\"type\":\"progress\",\"data\":{\"type\":\"bash_progress\",\"elapsedTimeSeconds\":2,"
		  "\"totalLines\":0,"
		  "\"output\":\"\"}}",
		  "bash_progress", "2 s, lines: 0" },
		{ "{\"type\":\"progress\",\"data\":{\"type\":\"agent_progress\",\"agentId\":\"a1\","
		  "\"message\":{\"message\":"
		  "{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\"}]}}}}",
		  "agent_progress", "a1: Bash" },
		{ "{\"type\":\"progress\"}", "", "" },
	};

	for (size_t i = 0; i < COUNT(list); i++)
		check(t, &list[i]);
}

TEST(what_nobody_knows_is_told_by_its_members)
{
	static const struct want list[] = {
		{ "{\"type\":\"tomorrow\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\","
		  "\"timestamp\":\"t\",\"cwd\":\"/\","
		  "\"version\":\"9\",\"why\":\"because\",\"n\":1e400,\"ok\":true,\"none\":null,\"empty\":[]}",
		  "", "why: because, n: 1e400, ok: true" },
		{ "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6}", "",
		  "a: 1, b: 2, c: 3, d: 4, e: 5, …" },
		{ "{\"type\":\"x\",\"text\":\"0123456789 0123456789 0123456789 0123456789 0123456789 "
		  "0123456789\"}",
		  "", "text: 0123456789 0123456789 0123456789 0123456789 0123456789 01234…" },
		{ "{\"type\":5,\"x\":1}", "", "x: 1" },
		{ "{}", "", "" },
		{ "not JSON\tat all", "", "not JSON at all" },
	};

	for (size_t i = 0; i < COUNT(list); i++)
		check(t, &list[i]);
}

TESTS(CASE(what_the_client_notes_is_told_by_what_it_is_about),
      CASE(system_lines_attachments_and_progress_say_which_they_are),
      CASE(what_nobody_knows_is_told_by_its_members))
