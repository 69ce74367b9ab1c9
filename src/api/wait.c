/*
 * Waiting for what others commit. A connection of its own, opened with the store, remembers what was
 * seen: what calls commit meanwhile, through their connections, counts like that of another program.
 */
#include "api/api.h"

#include "base/clock.h"

enum { LOOK_MS = 100 }; /* how often a cancelled wait is noticed */

/* Another file in the place of the store is a change, too. */
static enum status reopen(struct arbor *a, struct err *err)
{
	struct store *s = NULL;

	if (api_open_watched(a, false, &s, err))
		return err_failed(err->status);
	store_close(a->watched);
	a->watched = s;
	return STATUS_OK;
}

static enum status wait_here(struct arbor *a, int64_t timeout_ms, const struct arbor_cancel *c, bool *changed,
			     struct err *err)
{
	int64_t end = clock_monotonic_ns() / 1000000 + timeout_ms;

	for (*changed = false; !*changed;) {
		int64_t left = timeout_ms < 0 ? LOOK_MS : end - clock_monotonic_ns() / 1000000;

		if (c && atomic_load(&c->on))
			return err_fail(err, STATUS_CANCELLED, "cancelled");
		if (store_is_outdated(a->watched)) {
			*changed = true;
			return reopen(a, err);
		}
		if (store_wait(a->watched, left < 0 ? 0 : left < LOOK_MS ? (int)left : LOOK_MS, changed, err))
			return err_failed(err->status);
		if (left <= 0)
			break;
	}
	return STATUS_OK;
}

int arbor_wait(struct arbor *a, int32_t timeout_ms, struct arbor_cancel *c, int32_t *changed,
	       struct arbor_error *e)
{
	enum status status;
	struct err err;
	bool saw = false;

	if (!a || !changed)
		return api_end(err_set(&err, STATUS_USAGE, "%s: may not be NULL", a ? "changed" : "arbor"),
			       &err, e);
	if (pthread_mutex_trylock(&a->waiting))
		return api_end(err_set(&err, STATUS_BUSY, "another thread waits already"), &err, e);
	status = wait_here(a, timeout_ms, c, &saw, &err);
	pthread_mutex_unlock(&a->waiting);
	if (status == STATUS_OK)
		*changed = saw;
	return api_end(status, &err, e);
}
