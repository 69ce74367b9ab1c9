/*
 * What the files behind include/arbor.h share.
 *
 * Inside, everything is done with enum status and struct err as everywhere; each public function ends
 * with api_end(), which turns both into what a caller of the library gets.
 */
#ifndef ARBOR_API_API_H
#define ARBOR_API_API_H

#include <arbor.h>

#include "base/deadline.h"
#include "hub/children.h"
#include "hub/hub.h"
#include "hub/settings.h"
#include "hub/where.h"

#include <pthread.h>

/*
 * A connection belongs to one thread at a time, and opening one costs more than most calls. So a call takes
 * one that is free, or opens another, and leaves it when it is done.
 */
struct arbor {
	struct arena mem;		 /* for what arbor_open() has read */
	const struct settings *settings; /* NULL = the defaults */
	struct children *children;	 /* other hubs; NULL = none */
	struct log log;
	void (*on_log)(void *ctx, int level, const char *text);
	void *log_ctx;
	struct store_place place;
	uint32_t scopes;
	struct deadlines deadlines;
	pthread_mutex_t lock; /* on the next two */
	struct store *free[LIMIT_FREE_STORES];
	size_t free_count;
	pthread_mutex_t waiting; /* whoever is in arbor_wait() */
	struct store *watched;	 /* its connection, which nobody else uses */
};

struct arbor_cancel {
	atomic_bool on;
};

/* ---- Errors (status.c) -------------------------------------------------------- */

/* Fills *e, if there is one, and returns its status. `err` is looked at only when `s` is not OK. */
int api_end(enum status s, const struct err *err, struct arbor_error *e);

/* The same for a call that ran out of time, whatever it says itself. */
int api_end_timed_out(struct arbor_error *e);

/* ---- Arguments (open.c) ------------------------------------------------------- */

/* Copies an options struct, of which the caller's header may know more or less than ours; NULL is all zero.
 * Its first member is its size. */
enum status api_take_options(void *out, size_t known, const void *given, struct err *err) MUST_USE;

/* A text into the caller's room, as arbor.h says. */
enum status api_put_text(struct str text, char *room, size_t size, size_t *length, struct err *err) MUST_USE;

/* ---- Connections (open.c) ----------------------------------------------------- */

enum status api_open_store(struct arbor *a, const struct where_opening *o, struct store **out,
			   struct err *err) MUST_USE;
void api_leave_store(struct arbor *a, struct store *s);

/* One for waiting: it needs no more than the file. */
enum status api_open_watched(struct arbor *a, bool make, struct store **out, struct err *err) MUST_USE;

#endif
