/*
 * memory.usage: tokens by day.
 */
#include "hub/memory_find.h"

#include "hub/call.h"
#include "hub/memory_session.h"
#include "query/usage.h"

#include <stdio.h>
#include <time.h>

static const char *const kinds[] = { "day", "total", NULL };
static const char *const by[] = { "daily", NULL };

static const struct param usage_params[] = {
	{ .name = "by",
	  .type = VALUE_ENUM,
	  .flags = PARAM_WORD,
	  .initial = "daily",
	  .choices = by,
	  .help = "what is added up" },
	{ .name = "since", .type = VALUE_TIME, .help = "only from then on" },
	{ 0 },
};

static const struct field usage_fields[] = {
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = kinds,
	  .flags = FIELD_HIDDEN,
	  .help = "a day, or in the end all of them" },
	{ .name = "day",
	  .type = VALUE_TEXT,
	  .flags = FIELD_KEY,
	  .help = "in the local time zone; 'unknown' where a line has no time" },
	{ .name = "answers", .type = VALUE_INT, .help = "of models" },
	{ .name = "input", .type = VALUE_INT, .help = "tokens that were neither in the cache nor put there" },
	{ .name = "output", .type = VALUE_INT, .help = "tokens of answers" },
	{ .name = "cache_write", .type = VALUE_INT, .title = "written", .help = "tokens put into the cache" },
	{ .name = "cache_read", .type = VALUE_INT, .title = "read", .help = "tokens read from the cache" },
	{ .name = "provisional",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "answers of which no line says that they ended: their output may have been larger" },
	{ 0 },
};

struct sum {
	char day[16];
	int64_t answers, input, output, written, read, provisional;
};

static void name_day(int64_t at, char out[16])
{
	time_t seconds = (time_t)(at / 1000);
	struct tm tm;

	snprintf(out, 16, "unknown");
	if (at && localtime_r(&seconds, &tm))
		strftime(out, 16, "%Y-%m-%d", &tm);
}

static void add(struct sum *s, const struct usage *u)
{
	s->answers++;
	s->input += u->input;
	s->output += u->output;
	s->written += u->written;
	s->read += u->read;
	s->provisional += !u->final;
}

static enum status emit(struct call *c, const char *kind, const struct sum *s, struct err *err)
{
	struct json_writer *w = call_begin(c);

	put_text(w, "kind", str_of(kind));
	put_text(w, "day", str_of(s->day));
	put_int(w, "answers", s->answers);
	put_int(w, "input", s->input);
	put_int(w, "output", s->output);
	put_int(w, "cache_write", s->written);
	put_int(w, "cache_read", s->read);
	put_int(w, "provisional", s->provisional);
	return call_emit(c, err);
}

static enum status run_usage(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct sum day = { 0 }, total = { .day = "total" };
	const struct value *since = call_value(c, "since");
	struct usage *list;
	size_t count;

	if (read_begin(c->store, &snapshot, err) || usage_all(c->store, &c->mem, &list, &count, err))
		return err_failed(err->status);
	warn_unread(c);
	for (size_t i = 0; i < count; i++) {
		char name[16];

		if (since->given && list[i].at < since->number)
			continue;
		name_day(list[i].at, name);
		if (day.answers && !str_eq(str_of(day.day), str_of(name))) {
			if (emit(c, "day", &day, err))
				return err_failed(err->status);
			day = (struct sum){ 0 };
		}
		snprintf(day.day, sizeof day.day, "%s", name);
		add(&day, &list[i]);
		add(&total, &list[i]);
	}
	if (!total.answers)
		return err_fail(err, STATUS_NOT_FOUND, "no answer of a model is kept%s",
				since->given ? " since then" : "");
	if (emit(c, "day", &day, err))
		return err_failed(err->status);
	return emit(c, "total", &total, err);
}

const struct method memory_usage = {
	.name = "usage",
	.verb = "usage",
	.group = "about",
	.summary = "Count the tokens of each day",
	.text = "Each answer of a model counts once, in however many files and lines it stands; sub-agents "
		"are in. Of what "
		"its lines say the largest numbers count. Failed requests and answers that no model gave are "
		"out. Old "
		"clients did not always write how long an answer was in the end: then the output is a lower "
		"bound, and "
		"--json says for how many answers ('provisional'). Answers that a rewritten file "
		"no longer has do not count; those of a deleted file do.\n",
	.params = usage_params,
	.kind = RESULT_STREAM,
	.fields = usage_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "usage daily", "by day" },
					      { "usage daily --since 7d --json",
						"of the last week, for programs" },
					      { 0 } },
	.run = run_usage,
};
