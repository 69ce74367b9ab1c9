/*
 * What is committed is in the log (WAL) first. SQLite moves it to its place in the file after a commit, once there
 * is enough of it, and waits for the disk twice each time. While much is written that is a seventh of the writer's
 * time; and as long as somebody reads what is older it cannot be done completely and is tried again after every
 * commit.
 *
 * Here a thread with a connection of its own does it, while the writer goes on. It never gets to the end, since
 * the writer is faster, and only from the end on the log can be written from its beginning again. So when the log
 * is long the writer does the last bit itself. Only those who read something older can make it longer.
 *
 * Nothing changes in what is safe when: a commit is in the log, and the log is what counts after a crash.
 */
#include "store/backfill.h"

#include "base/thread.h"
#include "store/db.h"

enum {
	STEP_FRAMES = DB_LOG_FRAMES, /* of the log, before it is worth the while */
	MOST_FRAMES = 8 * 1024,	     /* from here on the writer tries to end it, */
	AGAIN_FRAMES = 2 * 1024,     /* again after so many if somebody reads what is older, */
	WAIT_FRAMES = 16 * 1024,     /* and waits for the thread when that cannot keep up */
};

struct backfill {
	struct store *writer;
	struct store *own; /* of the thread */
	pthread_t thread;
	pthread_mutex_t lock; /* on all that follows */
	pthread_cond_t changed;
	int frames;  /* in the log */
	int tried;   /* as many were there when it was last begun */
	int end_at;  /* the writer does it when there are so many, */
	bool busy;   /* once the thread does not */
	bool ending; /* no more comes */
};

static bool is_worth_it(const struct backfill *b)
{
	return b->frames - b->tried >= STEP_FRAMES && b->frames < b->end_at;
}

static void *carry_over(void *ctx)
{
	struct backfill *b = ctx;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		while (!b->ending && !is_worth_it(b))
			pthread_cond_wait(&b->changed, &b->lock);
		if (b->ending)
			break;
		b->tried = b->frames;
		b->busy = true;
		pthread_mutex_unlock(&b->lock);
		/* Whatever keeps it from being done, the next time or the last one to close the store does it. */
		sqlite3_wal_checkpoint_v2(b->own->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
		pthread_mutex_lock(&b->lock);
		b->busy = false;
		pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* The writer has committed: SQLite's hook, called without locks. */
static int on_commit(void *ctx, sqlite3 *db, const char *name, int frames)
{
	struct backfill *b = ctx;
	bool end_it;

	pthread_mutex_lock(&b->lock);
	if (frames < b->frames) { /* it was begun anew */
		b->tried = 0;
		b->end_at = MOST_FRAMES;
	}
	b->frames = frames;
	while (b->busy && frames >= WAIT_FRAMES)
		pthread_cond_wait(&b->changed, &b->lock);
	end_it = frames >= b->end_at && !b->busy;
	if (end_it) {
		b->tried = frames;
		b->end_at = frames + AGAIN_FRAMES;
	} else if (is_worth_it(b)) {
		pthread_cond_broadcast(&b->changed);
	}
	pthread_mutex_unlock(&b->lock);
	if (end_it)
		sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return SQLITE_OK;
}

static void release(struct backfill *b)
{
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	store_close(b->own);
	mem_free(b);
}

struct backfill *backfill_begin(struct store *writer)
{
	struct backfill *b = mem_alloc(sizeof *b);
	struct err ignored;

	b->writer = writer;
	b->end_at = MOST_FRAMES;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->changed, NULL);
	if (store_open_beside(writer, &b->own, &ignored) || db_set_up_writing(writer, &ignored) ||
	    thread_start(&b->thread, carry_over, b)) {
		release(b);
		return NULL;
	}
	sqlite3_wal_hook(writer->db, on_commit, b);
	return b;
}

void backfill_end(struct backfill *b)
{
	if (!b)
		return;
	sqlite3_wal_autocheckpoint(b->writer->db, DB_LOG_FRAMES);
	pthread_mutex_lock(&b->lock);
	b->ending = true;
	pthread_cond_signal(&b->changed);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	release(b);
}
