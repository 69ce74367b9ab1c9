/*
 * Statuses as programs outside know them. Their numbers are part of the interface and stay; those
 * inside (base/err.h) may move.
 */
#include "api/api.h"

#include "base/term.h"
#include "base/utf8.h"

#include <string.h>

static const int outside[STATUS_COUNT] = {
	[STATUS_OK] = ARBOR_OK,
	[STATUS_NOT_FOUND] = ARBOR_NOT_FOUND,
	[STATUS_USAGE] = ARBOR_USAGE,
	[STATUS_AMBIGUOUS] = ARBOR_AMBIGUOUS,
	[STATUS_PARTIAL] = ARBOR_PARTIAL,
	[STATUS_CORRUPT] = ARBOR_CORRUPT,
	[STATUS_TOO_NEW] = ARBOR_TOO_NEW,
	[STATUS_NOT_A_STORE] = ARBOR_NOT_A_STORE,
	[STATUS_BUSY] = ARBOR_BUSY,
	[STATUS_DENIED] = ARBOR_DENIED,
	[STATUS_FULL] = ARBOR_FULL,
	[STATUS_IO] = ARBOR_IO,
	[STATUS_FORMAT] = ARBOR_FORMAT,
	[STATUS_LIMIT] = ARBOR_LIMIT,
	[STATUS_CONFLICT] = ARBOR_CONFLICT,
	[STATUS_CANCELLED] = ARBOR_CANCELLED,
	[STATUS_WAIT] = ARBOR_BUSY, /* the hub waits on behalf of a method, so nobody sees it */
	[STATUS_INTERNAL] = ARBOR_INTERNAL,
	[STATUS_GONE] = ARBOR_GONE,
	[STATUS_UNREACHABLE] = ARBOR_UNREACHABLE,
	[STATUS_UNSUPPORTED] = ARBOR_UNSUPPORTED,
};

_Static_assert(sizeof(struct arbor_error) == 2048, "struct arbor_error is part of the interface");

static int status_outside(enum status s)
{
	int status = outside[(unsigned)s < STATUS_COUNT ? s : STATUS_INTERNAL];

	return status == ARBOR_OK && s != STATUS_OK ? ARBOR_INTERNAL : status;
}

const char *arbor_status_name(int status)
{
	if (status == ARBOR_TIMED_OUT)
		return "timed_out";
	for (int s = 0; s < STATUS_COUNT; s++)
		if (outside[s] == status && s != STATUS_WAIT)
			return status_info((enum status)s)->name;
	return status_info(STATUS_INTERNAL)->name;
}

/* A message may quote whatever somebody gave or wrote; candidates of an ambiguous name have a line each. */
static void put_message(struct arbor_error *e, struct str text)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(16 * LIMIT_ERR_TEXT);
	struct str shown;

	term_filter(&safe, text, TERM_TEXT);
	shown = str_sub(buf_as_str(&safe), 0, sizeof e->message - 1);
	shown.n = utf8_valid_prefix(shown);
	if (shown.n)
		memcpy(e->message, shown.p, shown.n);
	e->message[shown.n] = '\0';
}

int api_end(enum status s, const struct err *err, struct arbor_error *e)
{
	int status = status_outside(s);

	if (e) {
		e->status = status;
		put_message(e, s == STATUS_OK ? STR("") : str_of(err->text));
	}
	return status;
}

int api_end_timed_out(struct arbor_error *e)
{
	if (e) {
		e->status = ARBOR_TIMED_OUT;
		put_message(e, STR("the time that was given is over"));
	}
	return ARBOR_TIMED_OUT;
}
