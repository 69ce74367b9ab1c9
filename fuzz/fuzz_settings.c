/*
 * Fuzzes the reading of settings: any bytes, as the user's file and as a project's.
 *
 * What has to hold: an error and every warning stand at a place inside the text;
 * the number of warnings is bounded; what was set is right for its key and has its
 * place; a project sets nothing that is the user's alone. Blanking comments keeps
 * the length, so a text without any is read by both JSON readers alike.
 */
#include "base/jsonc.h"
#include "hub/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* A line that exists, and a column in it or just behind it. */
static void check_place(struct str text, size_t line, size_t column)
{
	struct str rest = text, this_line = { 0 };

	must(line >= 1 && column >= 1);
	for (size_t i = 0; i < line; i++) {
		must(i == 0 || rest.p);
		this_line = str_cut(rest, '\n', &rest);
	}
	must(column <= this_line.n + 1);
}

/* "f:3:5: ..." */
static void check_message(struct str text, const char *message)
{
	size_t line = 0, column = 0;

	must(sscanf(message, "f:%zu:%zu", &line, &column) == 2);
	check_place(text, line, column);
}

struct hearing {
	struct str text;
	size_t warnings;
};

static void hear(void *ctx, enum log_level level, struct str message)
{
	struct hearing *h = ctx;

	must(level == LOG_WARN);
	h->warnings++;
	must(h->warnings <= LIMIT_SETTINGS_WARNINGS + 1);
	if (h->warnings <= LIMIT_SETTINGS_WARNINGS)
		check_message(h->text, message.p);
}

static bool is_choice(const struct setting_key *k, struct str text)
{
	for (const char *const *c = k->param.choices; *c; c++)
		if (str_eq(text, str_of(*c)))
			return true;
	return false;
}

static void check_value(const struct settings *s, const struct setting_key *k)
{
	const char *name = k->param.name;

	if (k->param.type == VALUE_INT || k->param.type == VALUE_BYTES) {
		must(settings_int(s, name) >= k->param.least && settings_int(s, name) <= k->param.most);
	} else if (k->param.type == VALUE_ENUM) {
		must(is_choice(k, settings_text(s, name)));
	} else if (k->param.type != VALUE_BOOL) {
		struct str text = settings_text(s, name);

		must(text.n && !str_has_byte(text, '\0'));
		must(k->param.type != VALUE_PATH || text.p[0] == '/');
	}
}

static void check_settings(struct str text, enum setting_source from)
{
	struct arena mem = ARENA_INIT;
	struct hearing hearing = { .text = text };
	struct log log = { .level = LOG_DEBUG, .sink = hear, .ctx = &hearing };
	struct settings s;
	struct err err;

	settings_begin(&s, "/home/me", &mem);
	if (settings_read(&s, from, "f", text, &log, &err)) {
		must(err.status == STATUS_FORMAT || err.status == STATUS_LIMIT);
		check_message(text, err.text);
		arena_release(&mem);
		return;
	}
	for (const struct setting_key *k = setting_keys; k->param.name; k++) {
		struct str origin = settings_origin(&s, k->param.name);

		if (str_eq(origin, STR("default")))
			continue;
		must(from == SETTING_USER || !(k->flags & SETTING_USER_ONLY));
		check_message(text, origin.p);
		check_value(&s, k);
	}
	arena_release(&mem);
}

/* What is JSON already has the same tape. */
static void check_plain(struct str text)
{
	struct arena mem = ARENA_INIT;
	struct json plain = JSON_INIT, relaxed = JSON_INIT;
	struct err err;

	if (json_read(&plain, text, LIMIT_JSON_DEPTH, &err) == STATUS_OK) {
		must(jsonc_read(&relaxed, text, LIMIT_JSON_DEPTH, &mem, &err) == STATUS_OK);
		must(str_eq(relaxed.text, text) && relaxed.count == plain.count);
		must(memcmp(relaxed.tape, plain.tape, plain.count * sizeof *plain.tape) == 0);
	}
	json_release(&plain);
	json_release(&relaxed);
	arena_release(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_from((const char *)data, size);

	check_settings(text, SETTING_USER);
	check_settings(text, SETTING_PROJECT);
	check_plain(text);
	return 0;
}
