/*
 * memory.sync and arbor.check for people: what happened, on standard error where
 * it is no data, and one line at the end.
 */
#include "face/view.h"

#include "base/clock.h"
#include "face/text.h"

#include <string.h>

/* ---- memory.sync ------------------------------------------------------------- */

/* Events, what stands in front of a file, and how many are spoken of. */
static const struct {
	const char *event, *front, *counted;
} events[] = {
	{ "added", "new        ", "new" },	     { "grew", "grew       ", "grown" },
	{ "rewritten", "rewritten  ", "rewritten" }, { "renamed", "renamed    ", "renamed" },
	{ "vanished", "vanished   ", "vanished" },   { "repaired", "repaired   ", "repaired" },
	{ "skipped", "arbor: skipped ", "skipped" }, { "hidden", "arbor: skipped ", "skipped" },
	{ "failed", "arbor: failed: ", "failed" },
};

enum { EVENTS = COUNT(events) };

struct syncing {
	int64_t begun_ns;
	int64_t count[EVENTS];
};

static void add_count(struct buf *text, int64_t n, const char *what)
{
	if (n)
		buf_printf(text, ", %" PRId64 " %s", n, what);
}

static void add_sessions(struct buf *text, int64_t fresh, int64_t updated)
{
	if (fresh)
		buf_printf(text, "; %" PRId64 " new session%s", fresh, fresh == 1 ? "" : "s");
	if (fresh && updated)
		buf_printf(text, ", %" PRId64 " updated", updated);
	else if (updated)
		buf_printf(text, "; %" PRId64 " updated session%s", updated, updated == 1 ? "" : "s");
}

static void say_summary(struct view *v, const struct json *j)
{
	struct syncing *s = v->state;
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);
	double seconds = (double)(clock_monotonic_ns() - s->begun_ns) / 1e9;
	int64_t files = view_int(j, 0, "files"), fresh = view_int(j, 0, "new_bytes");
	int64_t stored = view_int(j, 0, "store_bytes");
	char size[SIZE_TEXT];

	buf_str(&text, view_text(v, j, 0, "root"));
	buf_printf(&text, ": %" PRId64 " file%s", files, files == 1 ? "" : "s");
	for (size_t i = 0; i < EVENTS; i++) {
		int64_t n = s->count[i];

		if (i + 1 < EVENTS && strcmp(events[i].counted, events[i + 1].counted) == 0)
			n += s->count[++i];
		if (strcmp(events[i].counted, "skipped") == 0)
			add_count(&text, view_int(j, 0, "unchanged"), "unchanged");
		add_count(&text, n, events[i].counted);
	}
	add_sessions(&text, view_int(j, 0, "new_sessions"), view_int(j, 0, "updated_sessions"));
	if (fresh)
		buf_printf(&text, "; %s in %.1f s", size_text(fresh, size), seconds);
	if (stored)
		buf_printf(&text, "; store %s", size_text(stored, size));
	say_foreign(v->out, "", buf_as_str(&text));
}

static void sync_item(struct view *v, const struct json *j)
{
	struct syncing *s = v->state;
	struct str event = view_text(v, j, 0, "event"), message = view_text(v, j, 0, "message");

	if (str_eq(event, STR("summary"))) {
		if (!v->out->quiet)
			say_summary(v, j);
		return;
	}
	for (size_t i = 0; i < EVENTS; i++) {
		if (!str_eq(event, str_of(events[i].event)))
			continue;
		s->count[i]++;
		if (message.p && (!v->out->quiet || !str_eq(event, STR("skipped"))))
			say_foreign(v->out, events[i].front, message);
		else if (!message.p && v->face->verbose)
			say_foreign(v->out, events[i].front, view_path(v, j, 0, "path"));
	}
}

static void sync_begin(struct view *v)
{
	struct syncing *s = v->state;

	s->begun_ns = clock_monotonic_ns();
}

const struct view_kind view_sync = {
	.method = "memory.sync",
	.state = sizeof(struct syncing),
	.begin = sync_begin,
	.item = sync_item,
};

/* ---- arbor.check -------------------------------------------------------------- */

static void check_item(struct view *v, const struct json *j)
{
	uint32_t problems = json_get(j, 0, STR("problems"));
	char raw[SIZE_TEXT], packed[SIZE_TEXT];

	for (uint32_t i = json_first(j, problems); i != json_end(j, problems); i = json_next(j, i))
		say_foreign(v->out, "arbor: damaged: ", json_string_in(j, i, &v->mem));
	if (!json_bool(j, json_get(j, 0, STR("ok"))) || v->out->quiet)
		return;
	out_printf(v->out,
		   "ok: %" PRId64 " files, %" PRId64 " generations, %" PRId64 " blocks, %s packed in %s\n",
		   view_int(j, 0, "sources"), view_int(j, 0, "generations"), view_int(j, 0, "blocks"),
		   size_text(view_int(j, 0, "raw_bytes"), raw),
		   size_text(view_int(j, 0, "packed_bytes"), packed));
}

const struct view_kind view_check = { .method = "arbor.check", .item = check_item };
