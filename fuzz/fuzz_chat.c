/*
 * Fuzzes what a client may print: lines of stream-json, real, broken or made up.
 *
 * What has to hold: every event is an object of good UTF-8; a block has one start, one end and its deltas in
 * between, wherever the lines end; and deltas that are put together say what each of them said.
 */
#include "chats.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* A line as the data of a delta, and what came of two of them. */
static void check_merge(struct str line)
{
	struct chat_merge *m = chat_merge_new();
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct err err;

	if (chat_merge_begin(m, STR("x_delta"), line)) {
		must(chat_merge_add(m, STR("x_delta"), line));
		must(!chat_merge_add(m, STR("y_delta"), line));
		must(json_read(&j, chat_merge_end(m), 0, &err) == STATUS_OK);
	}
	chat_merge_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = str_from((const char *)data, size);
	struct chats c;

	chats_begin(&c, false);
	while (rest.p && rest.n) {
		struct str line = str_cut(rest, '\n', &rest);

		chats_line(&c, line);
		check_merge(line);
	}
	chats_end(&c);
	must(!c.fault[0]);
	chats_release(&c);
	return 0;
}
