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
	{ "broken", "arbor: ", "with broken lines" },	     { "failed", "arbor: failed: ", "failed" },
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

/* How many of what, each behind a comma. */
static void add_counts(struct buf *text, const int64_t count[EVENTS], int64_t unchanged)
{
	for (size_t i = 0; i < EVENTS; i++) {
		int64_t n = count[i];

		if (i + 1 < EVENTS && strcmp(events[i].counted, events[i + 1].counted) == 0)
			n += count[++i];
		if (strcmp(events[i].counted, "skipped") == 0)
			add_count(text, unchanged, "unchanged");
		add_count(text, n, events[i].counted);
	}
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
	add_counts(&text, s->count, view_int(j, 0, "unchanged"));
	add_sessions(&text, view_int(j, 0, "new_sessions"), view_int(j, 0, "updated_sessions"));
	if (view_switch(v, "dry_run"))
		buf_printf(&text, "; %s to read; nothing was written", size_text(fresh, size));
	else if (fresh)
		buf_printf(&text, "; %s in %.1f s", size_text(fresh, size), seconds);
	if (stored)
		buf_printf(&text, "; store %s", size_text(stored, size));
	say_foreign(v->out, "", buf_as_str(&text));
}

/* What happened to a file; the item, or a change in a batch. */
static void take_change(struct view *v, const struct json *j, uint32_t object, int64_t count[EVENTS])
{
	struct str event = view_text(v, j, object, "event"), message = view_text(v, j, object, "message");

	for (size_t i = 0; i < EVENTS; i++) {
		if (!str_eq(event, str_of(events[i].event)))
			continue;
		count[i]++;
		/* With -q only what could not be brought in. */
		if (message.p && (!v->out->quiet || str_eq(event, STR("failed")) || str_eq(event, STR("hidden"))))
			say_foreign(v->out, events[i].front, message);
		else if (!message.p && (v->face->verbose || (view_switch(v, "dry_run") && !v->out->quiet)))
			say_foreign(v->out, events[i].front, view_path(v, j, object, "path"));
	}
}

/*
 *     14:03:22  1 grown  2.1 kB  projects/-home-u/8f6c0b1e.jsonl
 *     14:03:25  12 new, 1 grown  36.0 kB
 */
static void say_batch(struct view *v, const struct json *j)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_PATH);
	uint32_t changes = json_get(j, 0, STR("changes"));
	int64_t count[EVENTS] = { 0 }, at = 0, fresh = view_int(j, 0, "new_bytes"), all = view_int(j, 0, "changed");
	char local[LOCAL_TEXT], size[SIZE_TEXT];
	struct str counts;

	for (uint32_t i = json_first(j, changes); i != json_end(j, changes); i = json_next(j, i))
		take_change(v, j, i, count);
	if (v->out->quiet)
		return;
	/* A batch lists so many and no more. */
	if (all > json_count(j, changes))
		buf_printf(&text, ", %" PRId64 " changes", all);
	else
		add_counts(&text, count, 0);
	counts = arena_str(&v->mem, str_sub(buf_as_str(&text), 2, SIZE_MAX));
	buf_clear(&text);
	time_parse(view_text(v, j, 0, "at"), &at);
	buf_printf(&text, "%s  %.*s", clock_text(at, local), STR_ARG(counts));
	if (fresh)
		buf_printf(&text, "  %s", size_text(fresh, size));
	if (all == 1) {
		buf_text(&text, "  ");
		buf_str(&text, view_path(v, j, json_first(j, changes), "path"));
	}
	say_foreign(v->out, "", buf_as_str(&text));
}

/* Whoever has just begun. */
static bool is_first(struct view *v, const struct json *j)
{
	const struct syncing *s = v->state;
	int64_t files = view_int(j, 0, "files");

	return files && s->count[0] == files && view_int(j, 0, "new_sessions") && !view_switch(v, "dry_run");
}

static void sync_item(struct view *v, const struct json *j)
{
	struct syncing *s = v->state;
	struct str event = view_text(v, j, 0, "event");

	if (str_eq(event, STR("batch"))) {
		say_batch(v, j);
	} else if (!str_eq(event, STR("summary"))) {
		take_change(v, j, 0, s->count);
	} else if (!v->out->quiet) {
		say_summary(v, j);
		if (is_first(v, j) && v->out->err_terminal)
			say_dim(v->out,
				STR("arbor search WORDS finds what was said; arbor tree draws the last conversation"));
		if (view_switch(v, "watch") && v->out->err_terminal)
			say_dim(v->out, STR("watching; Ctrl-C ends it"));
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
