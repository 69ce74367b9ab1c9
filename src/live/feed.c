/*
 * Deltas come one word at a time, a thousand a second when several agents speak; a transaction for each would
 * keep everybody else from writing. So they are gathered, FEED_WAIT_MS long or until LIMIT_FEED bytes are
 * there, and written in one. What somebody waits for (a question, an end) is written at once, and on the disk
 * before anything else is done about it: see `urgent`.
 *
 * The bytes that wait are bounded by whoever reads from the agent: as long as feed_is_full() it reads no
 * more, the agent's pipe fills, and the agent waits. Nothing is dropped.
 */
#include "live/feed.h"

#include "store/session.h"

/* Events that people or programs act upon. */
static const bool urgent[CHAT_TYPES] = {
	[CHAT_START] = true,
	[CHAT_AWAITING_APPROVAL] = true,
	[CHAT_APPROVAL_RESOLVED] = true,
	[CHAT_RESULT] = true,
	[CHAT_ERROR] = true,
	[CHAT_COMPLETE] = true,
	[CHAT_CANCELLED] = true,
	[CHAT_INTERRUPTED] = true,
};

struct feed {
	struct store *store;
	struct stream_writer writer;
	enum stream_state state;
	struct arena mem; /* of what waits */
	struct event_new *events;
	size_t count, room, bytes;
	bool urgent;
};

struct feed *feed_new(struct store *s, const struct stream_writer *w)
{
	struct feed *f = mem_alloc(sizeof *f);

	f->store = s;
	f->writer = *w;
	f->state = STREAM_RUNNING;
	return f;
}

static void forget(struct feed *f)
{
	arena_release(&f->mem);
	f->mem = (struct arena)ARENA_INIT;
	f->events = NULL;
	f->count = f->room = f->bytes = 0;
	f->urgent = false;
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	forget(f);
	mem_free(f);
}

static struct event_new *add_room(struct feed *f)
{
	enum { FIRST = 64 };
	struct event_new *more;

	if (f->count < f->room)
		return &f->events[f->count++];
	more = arena_alloc(&f->mem, (2 * f->room + FIRST) * sizeof *more);
	for (size_t i = 0; i < f->count; i++)
		more[i] = f->events[i];
	f->events = more;
	f->room = 2 * f->room + FIRST;
	return &f->events[f->count++];
}

static struct uuid node_of(struct str uuid, int part)
{
	struct node_name name = { .uuid = uuid };

	return node_id(&name, part == CHAT_PART_MESSAGE ? PART_MESSAGE
			      : part == CHAT_PART_LINE	? PART_LINE
							: part);
}

void feed_add(struct feed *f, enum chat_type type, struct str uuid, int part, struct str data)
{
	struct event_new *e = add_room(f);

	*e = (struct event_new){
		.type = str_of(chat_type_name(type)),
		.has_node = uuid.n > 0 && uuid.n <= LIMIT_LINE_UUID,
		.data = arena_str(&f->mem, data),
		.at = store_now(f->store),
	};
	if (e->has_node)
		e->node = node_of(uuid, part);
	f->bytes += data.n + sizeof *e;
	f->urgent |= urgent[type];
}

enum status feed_chat(void *ctx, const struct chat_event *e, struct err *err)
{
	(void)err;
	feed_add(ctx, e->type, e->uuid, e->part, e->data);
	return STATUS_OK;
}

size_t feed_waiting(const struct feed *f)
{
	return f->count;
}

bool feed_is_full(const struct feed *f)
{
	return f->bytes >= LIMIT_FEED;
}

bool feed_is_urgent(const struct feed *f)
{
	return f->urgent;
}

enum stream_state feed_state(const struct feed *f)
{
	return f->state;
}

void feed_set_state(struct feed *f, enum stream_state state)
{
	f->state = state;
}

enum status feed_write(struct feed *f, enum stream_state state, const struct stream_end *end, struct err *err)
{
	struct stream_change change = {
		.events = f->events, .count = f->count, .state = state, .end = end, .synced = f->urgent || end
	};

	if (!f->count && state == f->state)
		return STATUS_OK;
	if (stream_write(f->store, &f->writer, &change, err))
		return err_failed(err->status);
	f->state = state;
	forget(f);
	return STATUS_OK;
}
