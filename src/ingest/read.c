/*
 * Reading all that is unread: now, and what others leave over.
 */
#include "ingest/read.h"

#include "ingest/reading.h"
#include "store/keys.h"
#include "store/made_text.h"

#include <inttypes.h>
#include <time.h>

enum { MOST_ROUNDS = 8 };

static enum status read_all(struct reading *y, struct err *err)
{
	if (jobs_list(&y->jobs, y->store, err))
		return err_failed(err->status);
	if (y->o.report)
		y->o.report->damaged = 0;
	if (y->jobs.count == 0)
		return STATUS_OK;
	if (reading_start(y, NULL, err) || reading_write_all(y, err))
		return err_failed(err->status);
	if (y->trouble.status) {
		*err = y->trouble;
		return err_failed(err->status);
	}
	return reading_is_cancelled(y) ? err_fail(err, STATUS_CANCELLED, "stopped; what was read so far is kept")
				       : STATUS_OK;
}

/* What is unread now. *again: some of it was read by others meanwhile. */
static enum status read_round(struct store *s, const struct read_options *o, int round, bool *again,
			      struct err *err)
{
	struct reading y CLEANUP(reading_release);
	enum status status = reading_init(&y, s, o, false, err);

	y.round = round;
	if (status == STATUS_OK)
		status = read_all(&y, err);
	reading_stop(&y);
	*again = y.conflict;
	return status;
}

/* Longer each time, so that whoever was faster can finish. */
static void pause_for_others(int round)
{
	struct timespec pause = { .tv_nsec = (2L << round) * 1000 * 1000 };

	nanosleep(&pause, NULL);
}

enum status read_unread(struct store *s, const struct read_options *o, struct err *err)
{
	static const struct read_options nothing = { 0 };
	bool again;

	if (made_text_complete(s, err) || unread_any(s, &again, err))
		return err_failed(err->status);
	for (int round = 0; again && round < MOST_ROUNDS; round++) {
		if (round)
			pause_for_others(round - 1);
		if (read_round(s, o ? o : &nothing, round, &again, err))
			return err_failed(err->status);
	}
	return keys_complete(s, err);
}

enum status read_tell_damaged(int64_t damaged, struct err *err)
{
	if (damaged == 0)
		return STATUS_OK;
	return err_fail(err, STATUS_PARTIAL,
			"what is kept of %" PRId64 " %s could not be read back and cannot be searched;"
			" run 'arbor check'",
			damaged, damaged == 1 ? "file" : "files");
}
