/*
 * Sources to be read, handed out one by one.
 *
 * While a sync brings in more, threads that have nothing left to read ask for it themselves. They do not
 * come together for that: whoever writes would have nothing to do each time until the first of them has
 * read something again.
 *
 * A source is unread in the store until its last part is written. So what somebody has in hand is listed
 * again, and passed over until then; it may have grown, and goes on from where it was read to. What failed or was
 * left to another program is not taken again: it would be every time.
 */
#include "ingest/jobs.h"

void jobs_init(struct jobs *j, bool open)
{
	*j = (struct jobs){ .mem = ARENA_INIT, .by_source = MAP_INIT, .open = open, .grows = open };
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->changed, NULL);
}

void jobs_release(struct jobs *j)
{
	pthread_cond_destroy(&j->changed);
	pthread_mutex_destroy(&j->lock);
	map_release(&j->by_source);
	mem_free(j->list);
	arena_release(&j->mem);
}

static struct str key_of_source(const struct unread *u)
{
	return (struct str){ (const char *)&u->source, sizeof u->source };
}

static void add_job(struct jobs *j, const struct unread *u)
{
	struct read_job *job = arena_alloc(&j->mem, sizeof *job);

	job->unread = *u;
	job->unread.path = arena_str(&j->mem, u->path);
	job->unread.read_agent = arena_str(&j->mem, u->read_agent);
	j->bytes += u->length - (u->read_generation == u->generation ? u->read_to : 0);
	if (j->count == j->cap) {
		j->cap = j->cap ? j->cap * 2 : 64;
		j->list = mem_resize(j->list, j->cap * sizeof(struct read_job *));
	}
	j->list[j->count++] = job;
	map_put(&j->by_source, key_of_source(&job->unread), job);
}

/* *held: some are unread that somebody has in hand. What is listed is kept only where it is new: the list is
 * asked for as often as something is committed. */
static enum status list_more(struct jobs *j, struct store *s, bool *held, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct unread *found;
	size_t count;

	*held = false;
	if (unread_list(s, &mem, &found, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		const struct read_job *before = map_get(&j->by_source, key_of_source(&found[i]));

		if (before && atomic_load(&before->dead))
			continue;
		if (before && !atomic_load(&before->done)) {
			*held = true;
			continue;
		}
		if (!before || before->unread.generation != found[i].generation ||
		    before->unread.length != found[i].length)
			add_job(j, &found[i]);
	}
	return STATUS_OK;
}

enum status jobs_list(struct jobs *j, struct store *s, struct err *err)
{
	bool held;

	return list_more(j, s, &held, err);
}

/* Nothing is left, and nothing that is in hand can become more. */
static bool is_over(const struct jobs *j, bool held)
{
	return j->ended || (!j->open && !held);
}

struct read_job *jobs_take(struct jobs *j, struct store *s)
{
	struct read_job *job = NULL;
	struct err ignored;
	bool held = true;

	pthread_mutex_lock(&j->lock);
	while (j->grows && j->next == j->count && !j->ended) {
		if (list_more(j, s, &held, &ignored) || (j->next == j->count && is_over(j, held)))
			break;
		if (j->next == j->count)
			pthread_cond_wait(&j->changed, &j->lock);
	}
	if (j->next < j->count && !j->ended)
		job = j->list[j->next++];
	pthread_mutex_unlock(&j->lock);
	return job;
}

void jobs_changed(struct jobs *j)
{
	pthread_mutex_lock(&j->lock);
	pthread_cond_broadcast(&j->changed);
	pthread_mutex_unlock(&j->lock);
}

void jobs_close(struct jobs *j)
{
	pthread_mutex_lock(&j->lock);
	j->open = false;
	pthread_cond_broadcast(&j->changed);
	pthread_mutex_unlock(&j->lock);
}

void jobs_end(struct jobs *j)
{
	pthread_mutex_lock(&j->lock);
	j->ended = true;
	pthread_cond_broadcast(&j->changed);
	pthread_mutex_unlock(&j->lock);
}

int64_t jobs_bytes(struct jobs *j)
{
	int64_t bytes;

	pthread_mutex_lock(&j->lock);
	bytes = j->bytes;
	pthread_mutex_unlock(&j->lock);
	return bytes;
}

struct read_job *read_job_of(const struct unread *unread)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): to take the const away, which jobs do not have */
	return (struct read_job *)(uintptr_t)unread;
}
