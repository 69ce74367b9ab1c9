/*
 * Where the store's events and the client's deltas meet: the one knows how rows are replaced (store/event.c),
 * the other what a delta says (claude/chat_merge.c).
 */
#include "live/compact.h"

#include "claude/chat.h"

static bool merge_begin(void *ctx, const struct event *e)
{
	return chat_merge_begin(ctx, e->type, e->data);
}

static bool merge_add(void *ctx, const struct event *e)
{
	return chat_merge_add(ctx, e->type, e->data);
}

static struct str merge_end(void *ctx)
{
	return chat_merge_end(ctx);
}

static void merge_free(struct chat_merge **m)
{
	chat_merge_free(*m);
}

enum status compact_streams(struct store *s, int64_t before, int64_t most, int64_t *streams, int64_t *events,
			    struct err *err)
{
	struct chat_merge *m CLEANUP(merge_free) = chat_merge_new();
	struct event_merge how = { merge_begin, merge_add, merge_end, m };
	bool found = true;

	*streams = *events = 0;
	while (found && *streams < most && !store_is_cancelled(s)) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct stream stream;
		int64_t gone = 0;

		if (stream_uncompacted(s, before, &mem, &stream, &found, err) ||
		    (found && event_compact(s, &stream, &how, &gone, err)))
			return err_failed(err->status);
		*streams += found;
		*events += gone;
	}
	return STATUS_OK;
}

int64_t compact_before(const struct store *s, int64_t days)
{
	static const int64_t day_ms = 86400000;

	return days ? store_now(s) - days * day_ms : INT64_MIN;
}
