/*
 * Opening a store for a program, and the connections of its threads.
 *
 * Everything that depends on the process, its environment and its folder is read once, by
 * arbor_open(); what follows uses the file that was found then, by its real name.
 *
 * A connection that is free is looked at before it is used again: somebody may have put another
 * file in the place of the store, or another version of Arbor may have made what is derived its
 * own. Then it is closed, and opening another one does or says what has to be done or said.
 */
#include "api/api.h"

#include <stdio.h>
#include <string.h>

_Static_assert(ARBOR_READ == 1 << SCOPE_READ && ARBOR_WRITE == 1 << SCOPE_WRITE &&
		       ARBOR_DRIVE == 1 << SCOPE_DRIVE && ARBOR_APPROVE == 1 << SCOPE_APPROVE &&
		       ARBOR_LOCAL == 1 << SCOPE_LOCAL && SCOPES == 5,
	       "scopes are the same outside and inside");
_Static_assert((int)ARBOR_LOG_ERROR == LOG_ERROR && (int)ARBOR_LOG_WARN == LOG_WARN &&
		       (int)ARBOR_LOG_INFO == LOG_INFO && (int)ARBOR_LOG_DEBUG == LOG_DEBUG,
	       "and so are the levels of a log");

/* Where programs, and languages that read no header, have found them. Only their ends may grow. */
_Static_assert(sizeof(void *) != 8 || (offsetof(struct arbor_options, scopes) == 36 &&
				       offsetof(struct arbor_call_options, timeout_ms) == 40 &&
				       offsetof(struct arbor_call_options, reserved) == 52),
	       "options are part of the interface");

int arbor_api_level(void)
{
	return ARBOR_API_LEVEL;
}

const char *arbor_version(void)
{
	return ARBOR_VERSION;
}

/* ---- Arguments ---------------------------------------------------------------- */

enum status api_take_options(void *out, size_t known, const void *given, struct err *err)
{
	enum { LARGEST = 4096 }; /* a size that was never set is mostly larger, or zero */
	const char *bytes = given;
	size_t size;

	memset(out, 0, known);
	if (!given)
		return STATUS_OK;
	memcpy(&size, given, sizeof size);
	if (size < sizeof size || size > LARGEST)
		return err_fail(err, STATUS_USAGE, "options: their size is not set");
	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return err_fail(err, STATUS_USAGE,
					"options: one of them needs a newer libarbor than %s", ARBOR_VERSION);
	memcpy(out, given, size_min(size, known));
	return STATUS_OK;
}

enum status api_put_text(struct str text, char *room, size_t size, size_t *length, struct err *err)
{
	if (length)
		*length = text.n;
	if (text.n >= size) {
		if (size)
			room[0] = '\0';
		return err_fail(err, STATUS_LIMIT, "it takes room for %zu bytes", text.n + 1);
	}
	if (text.n)
		memcpy(room, text.p, text.n);
	room[text.n] = '\0';
	return STATUS_OK;
}

/* ---- Connections -------------------------------------------------------------- */

static bool is_usable(struct store *s)
{
	bool current = false;
	struct err err;

	return !store_is_outdated(s) && store_derived_current(s, &current, &err) == STATUS_OK && current;
}

static struct store *take_free(struct arbor *a)
{
	struct store *s = NULL;

	pthread_mutex_lock(&a->lock);
	if (a->free_count)
		s = a->free[--a->free_count];
	pthread_mutex_unlock(&a->lock);
	return s;
}

enum status api_open_store(struct arbor *a, const struct where_opening *o, struct store **out,
			   struct err *err)
{
	struct store *s;

	while ((s = take_free(a))) {
		store_set_cancel(s, o->cancel);
		if (is_usable(s)) {
			*out = s;
			return STATUS_OK;
		}
		store_close(s);
	}
	return where_open_store(&a->place, o, out, err);
}

void api_leave_store(struct arbor *a, struct store *s)
{
	store_set_cancel(s, NULL);
	pthread_mutex_lock(&a->lock);
	if (a->free_count < COUNT(a->free)) {
		a->free[a->free_count++] = s;
		s = NULL;
	}
	pthread_mutex_unlock(&a->lock);
	store_close(s);
}

enum status api_open_watched(struct arbor *a, bool make, struct store **out, struct err *err)
{
	struct store_options o = {
		.path = a->place.path, .create = make, .own_folder = a->place.own_folder, .log = &a->log
	};

	return store_open(&o, out, err);
}

/* ---- Opening ------------------------------------------------------------------ */

static void hand_to_log(void *ctx, enum log_level level, struct str text)
{
	struct arbor *a = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;

	a->on_log(a->log_ctx, (int)level, arena_cstr(&mem, text));
}

static enum status check_options(const struct arbor_options *o, struct err *err)
{
	if (o->flags & ~(uint32_t)(ARBOR_CREATE | ARBOR_PLAIN))
		return err_fail(err, STATUS_USAGE, "flags: %#x has some that this libarbor does not know",
				(unsigned)o->flags);
	if (o->store && !o->store[0])
		return err_fail(err, STATUS_USAGE, "store: may not be empty");
	if ((o->flags & ARBOR_PLAIN) && !o->store)
		return err_fail(err, STATUS_USAGE, "store: has to be given with ARBOR_PLAIN");
	return STATUS_OK;
}

static enum status find_and_open(struct arbor *a, const struct arbor_options *o, struct err *err)
{
	if (!(o->flags & ARBOR_PLAIN) && where_load_settings(&a->mem, &a->log, &a->settings, err))
		return err_failed(err->status);
	if (where_find_store(str_of(o->store), a->settings, &a->place, err) ||
	    api_open_watched(a, o->flags & ARBOR_CREATE, &a->watched, err))
		return err_failed(err->status);
	snprintf(a->place.path, sizeof a->place.path, "%s", store_path(a->watched));
	a->children = where_find_hubs(a->settings);
	return STATUS_OK;
}

static struct arbor *arbor_new(const struct arbor_options *o)
{
	struct arbor *a = mem_alloc(sizeof *a);

	a->scopes = o->scopes ? o->scopes : ~UINT32_C(0);
	a->on_log = o->log;
	a->log_ctx = o->ctx;
	if (o->log)
		a->log = (struct log){ .level = LOG_DEBUG, .sink = hand_to_log, .ctx = a };
	deadlines_init(&a->deadlines);
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->waiting, NULL);
	return a;
}

int arbor_open(const struct arbor_options *given, struct arbor **out, struct arbor_error *e)
{
	struct arbor_options o;
	struct arbor *a;
	struct err err;

	if (!out)
		return api_end(err_set(&err, STATUS_USAGE, "out: may not be NULL"), &err, e);
	if (api_take_options(&o, sizeof o, given, &err) || check_options(&o, &err))
		return api_end(err.status, &err, e);
	a = arbor_new(&o);
	if (find_and_open(a, &o, &err)) {
		arbor_close(a);
		return api_end(err.status, &err, e);
	}
	*out = a;
	return api_end(STATUS_OK, NULL, e);
}

void arbor_close(struct arbor *a)
{
	if (!a)
		return;
	children_free(a->children);
	for (size_t i = 0; i < a->free_count; i++)
		store_close(a->free[i]);
	store_close(a->watched);
	deadlines_release(&a->deadlines);
	pthread_mutex_destroy(&a->waiting);
	pthread_mutex_destroy(&a->lock);
	arena_release(&a->mem);
	mem_free(a);
}

const char *arbor_path(const struct arbor *a)
{
	return a ? a->place.path : "";
}
