/*
 * The status table and the three ways to set an error. Text that does not fit
 * is cut at its end: what stands in front (file, line) is what a reader needs.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct status_info status_table[STATUS_COUNT] = {
	[STATUS_OK]          = { "ok", 0, 200, 0, "done" },
	[STATUS_NOT_FOUND]   = { "not_found", 1, 404, -32001, "nothing found" },
	[STATUS_GONE]        = { "gone", 1, 410, -32016, "it was removed" },
	[STATUS_UNSUPPORTED] = { "unsupported", 1, 501, -32018, "nobody here knows how" },
	[STATUS_USAGE]       = { "usage", 2, 400, -32602, "the call is not right" },
	[STATUS_AMBIGUOUS]   = { "ambiguous", 2, 409, -32002, "this could mean several things" },
	[STATUS_PARTIAL]     = { "partial", 3, 200, -32003, "some parts failed" },
	[STATUS_CORRUPT]     = { "corrupt", 4, 500, -32004, "the store is damaged" },
	[STATUS_TOO_NEW]     = { "too_new", 5, 500, -32005, "the store needs a newer arbor" },
	[STATUS_NOT_A_STORE] = { "not_a_store", 11, 500, -32006, "the file is not an arbor store" },
	[STATUS_BUSY]        = { "busy", 6, 503, -32007, "the store is in use" },
	[STATUS_DENIED]      = { "denied", 7, 403, -32008, "permission denied" },
	[STATUS_FULL]        = { "full", 8, 507, -32009, "no space left" },
	[STATUS_IO]          = { "io", 8, 500, -32010, "reading or writing failed" },
	[STATUS_FORMAT]      = { "format", 9, 422, -32011, "the input cannot be understood" },
	[STATUS_LIMIT]       = { "limit", 9, 413, -32012, "the input is too large" },
	[STATUS_CONFLICT]    = { "conflict", 10, 409, -32013, "somebody else changed it first" },
	[STATUS_UNREACHABLE] = { "unreachable", 12, 504, -32017, "another hub does not answer" },
	[STATUS_CANCELLED]   = { "cancelled", 130, 499, -32014, "cancelled" },
	[STATUS_WAIT]        = { "wait", 6, 503, -32015, "not ready yet" },
	[STATUS_INTERNAL]    = { "internal", 70, 500, -32603, "a bug in arbor" },
};

const struct status_info *status_info(enum status s)
{
	unsigned i = (unsigned)s;

	return &status_table[i < STATUS_COUNT ? i : STATUS_INTERNAL];
}

enum status err_set(struct err *e, enum status s, const char *format, ...)
{
	va_list args;

	e->status = s;
	e->telling = false;
	va_start(args, format);
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
	return s;
}

/* Text in front, at most all but what the old text needs to stay readable. */
static void ATTR_PRINTF(2, 0) put_in_front(struct err *e, const char *format, va_list args)
{
	char front[LIMIT_ERR_TEXT / 2];
	size_t keep, n;
	int printed = vsnprintf(front, sizeof front - 2, format, args);

	if (printed < 0)
		return;
	n = size_min((size_t)printed, sizeof front - 3);
	memcpy(front + n, ": ", 2);
	n += 2;
	keep = size_min(strlen(e->text), sizeof e->text - n - 1);
	memmove(e->text + n, e->text, keep);
	memcpy(e->text, front, n);
	e->text[n + keep] = '\0';
}

enum status err_wrap(struct err *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_in_front(e, format, args);
	va_end(args);
	return e->status;
}

static enum status status_of_errno(int number)
{
	switch (number) {
	case ENOENT:
	case ENOTDIR:
		return STATUS_NOT_FOUND;
	case EACCES:
	case EPERM:
	case EROFS:
	case ELOOP:
	case EXDEV: /* openat2: the path leaves its root */
		return STATUS_DENIED;
	case ENOSPC:
	case EDQUOT:
		return STATUS_FULL;
	case ENAMETOOLONG:
	case EFBIG:
		return STATUS_LIMIT;
	default:
		return STATUS_IO;
	}
}

enum status err_errno(struct err *e, int number, const char *format, ...)
{
	enum status s = status_of_errno(number);
	const char *reason = strerrordesc_np(number);
	va_list args;

	e->status = s;
	e->telling = false;
	snprintf(e->text, sizeof e->text, "%s", reason ? reason : "unknown error");
	va_start(args, format);
	put_in_front(e, format, args);
	va_end(args);
	return s;
}
