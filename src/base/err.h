/*
 * Status codes and errors.
 *
 * A function that can fail returns enum status and takes a caller-owned
 * `struct err *` last. The text names what failed, on which file, line or id,
 * and what to do; callers add context in front as the error goes up:
 *
 *     sync: projects/x/y.jsonl:812: ...
 *
 * Outputs are untouched on failure. `err` is never NULL.
 */
#ifndef ARBOR_BASE_ERR_H
#define ARBOR_BASE_ERR_H

#include "base/limits.h"
#include "base/str.h"

enum status {
	STATUS_OK = 0,
	STATUS_NOT_FOUND,   /* the thing asked for does not exist */
	STATUS_GONE,        /* it was here and was removed for good */
	STATUS_UNSUPPORTED, /* nobody here knows what kind of thing it is */
	STATUS_USAGE,       /* the call itself is wrong */
	STATUS_AMBIGUOUS,   /* a name or prefix means several things */
	STATUS_PARTIAL,     /* done, but for some parts */
	STATUS_CORRUPT,     /* the store contradicts itself */
	STATUS_TOO_NEW,     /* the store was written by a newer Arbor */
	STATUS_NOT_A_STORE, /* the file is something else */
	STATUS_BUSY,        /* somebody else holds what we need */
	STATUS_DENIED,      /* permissions */
	STATUS_FULL,        /* no space left */
	STATUS_IO,          /* reading or writing failed */
	STATUS_FORMAT,      /* input that cannot be understood */
	STATUS_LIMIT,       /* input over a limit */
	STATUS_CONFLICT,    /* somebody changed it first */
	STATUS_UNREACHABLE, /* somebody else who would know does not answer */
	STATUS_CANCELLED,   /* the caller withdrew */
	STATUS_WAIT,        /* not an error: call again later (hub/call.h) */
	STATUS_INTERNAL,    /* a bug */
	STATUS_COUNT
};

struct status_info {
	const char *name;     /* stable, for JSON and logs */
	int exit_code;        /* of the process */
	int http;
	int json_rpc;
	const char *sentence; /* for people, where nothing better is known */
};

/* The one table that maps a status to what each face says. */
const struct status_info *status_info(enum status s);

struct err {
	enum status status;
	/* It says more than others of its status: whoever asked several prefers it. Of a handle that nobody
	 * resolves: its plugin is known, and cannot do it. */
	bool telling;
	char text[LIMIT_ERR_TEXT];
};

/* Sets the error and returns `s`. Use the err_fail*() forms below to return:
 * they promise a value that is not OK, so that analysers (and readers) see
 * that `return err_fail(...)` never means success. */
enum status err_set(struct err *e, enum status s, const char *format, ...) ATTR_PRINTF(3, 4);

/* Puts "context: " in front of the text; keeps and returns the status. */
enum status err_wrap(struct err *e, const char *format, ...) ATTR_PRINTF(2, 3);

/* Sets from errno: "text: No such file or directory". The status follows from
 * the number (EACCES -> DENIED, ENOSPC -> FULL, ...). */
enum status err_errno(struct err *e, int number, const char *format, ...) ATTR_PRINTF(3, 4);

static inline enum status err_failed(enum status s)
{
	return s == STATUS_OK ? STATUS_INTERNAL : s;
}

#define err_fail(...)  err_failed(err_set(__VA_ARGS__))
#define err_fail_errno(...) err_failed(err_errno(__VA_ARGS__))
#define err_pass(...)  err_failed(err_wrap(__VA_ARGS__))

/* Marks what was just set, and returns its status. */
static inline enum status err_tell(struct err *e)
{
	e->telling = true;
	return err_failed(e->status);
}

#define err_telling(e, ...) (err_set(e, __VA_ARGS__), err_tell(e))

#endif
