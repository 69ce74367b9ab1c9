/*
 * arbor.h: Arbor's store, and everything Arbor can do, for C and whatever can call C.
 *
 *     struct arbor_error e;
 *     struct arbor *a;
 *
 *     if (arbor_open(NULL, &a, &e))
 *             return complain(e.message);
 *     arbor_search(a, "integer cents", 10, print_hit, NULL, &e);
 *     arbor_close(a);
 *
 * Everything is a method: "memory.search", "arbor.tree_create", "storage.export". `arbor call
 * hub.methods` lists them, and the method hub.schema describes what each takes and gives.
 * arbor_call() calls any of them with JSON, arbor_call_text() those of Arbor itself with plain texts;
 * results come one by one to a function of yours. The other functions are short ways to a few of them.
 *
 * These rules hold for all functions:
 *
 * Errors. Each returns an enum arbor_status as an int, 0 when it worked. The last argument, if not
 * NULL, is filled in every time: the status, and a sentence for people, "" when it worked. NULL or an empty text where
 * something is needed is ARBOR_USAGE.
 *
 * Ownership. What you pass stays yours, and need not outlive the call. What you get lies in memory
 * you gave, or is lent to your function until that returns. Only arbor_open() and arbor_cancel_new()
 * give something to be given back.
 *
 * Texts are UTF-8 and end with NUL, but where a length stands beside them.
 *
 * Threads. A struct arbor may be used by several threads at once; only arbor_close() has to be the
 * last. Your functions are called in the thread that made the call; the log's in any.
 *
 * The process it runs in. Nothing is printed. Signals, locale, environment, umask and the working
 * folder are left as they are; the environment is read by arbor_open() alone. Threads of the library's
 * own take no signals, and end with arbor_close() at the latest. So do the child processes that are
 * started when a method or a handle of another hub is asked for, which only the user's settings can
 * name (docs/EXTENDING.md); they end with the process in any case. Two things end the process, with a
 * line on stderr and abort(): no memory is left, or the library finds itself contradicting itself. A
 * store survives both, as it survives a power cut. Where the size of files is limited
 * (RLIMIT_FSIZE), ignore SIGXFSZ, and a write that is too long is an error.
 *
 * What you may not do. Leave a function that the library called by longjmp() or an exception. Use in a
 * child, after fork(), what its parent has opened; a child that calls exec is fine. Open the file of
 * the store, or close a descriptor of it, in the same process by other means than this library
 * loaded once: POSIX takes all locks of a process on a file when it closes any descriptor of that
 * file, and a store without its locks can be destroyed by two who write. Programs of their own, the
 * sqlite3 shell among them, are no danger.
 *
 * Compatibility. Functions, members at the end of an options struct, statuses and flags are added,
 * never changed; ARBOR_API_LEVEL then rises. What must change raises the number in the name of the
 * shared library. What methods take and give has its own versions, see hub.schema.
 */
#ifndef ARBOR_H
#define ARBOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define ARBOR_PUBLIC __attribute__((visibility("default")))
#else
#define ARBOR_PUBLIC
#endif

/* ---- Versions ----------------------------------------------------------------- */

#define ARBOR_API_LEVEL 1

/* The ARBOR_API_LEVEL of the library that is linked: at least that of the header it was built
 * with, and all that this header declares is there. */
ARBOR_PUBLIC int arbor_api_level(void);

/* "0.1.0": the version of Arbor. Never freed. */
ARBOR_PUBLIC const char *arbor_version(void);

/* ---- Errors ------------------------------------------------------------------- */

enum arbor_status {
	ARBOR_OK = 0,
	ARBOR_NOT_FOUND = 1,   /* the store, the method, or what was asked for does not exist */
	ARBOR_USAGE = 2,       /* the call itself is wrong */
	ARBOR_AMBIGUOUS = 3,   /* a name or the beginning of an id means several things */
	ARBOR_PARTIAL = 4,     /* done, but for some parts */
	ARBOR_CORRUPT = 5,     /* the store contradicts itself */
	ARBOR_TOO_NEW = 6,     /* the store was written by a newer Arbor */
	ARBOR_NOT_A_STORE = 7, /* the file is something else */
	ARBOR_BUSY = 8,	       /* somebody else holds what is needed */
	ARBOR_DENIED = 9,      /* permissions, or a scope that the caller lacks */
	ARBOR_FULL = 10,       /* no space left */
	ARBOR_IO = 11,	       /* reading or writing failed */
	ARBOR_FORMAT = 12,     /* input that cannot be understood */
	ARBOR_LIMIT = 13,      /* too large, or more than there is room for */
	ARBOR_CONFLICT = 14,   /* somebody changed it first */
	ARBOR_CANCELLED = 15,  /* by arbor_cancel_pull(), or by your function */
	ARBOR_TIMED_OUT = 16,  /* the time that was given is over */
	ARBOR_INTERNAL = 17,   /* a bug in Arbor */
	ARBOR_GONE = 18,       /* it was there and was removed for good */
	ARBOR_UNREACHABLE = 19, /* another hub, which would know, does not answer */
	ARBOR_UNSUPPORTED = 20 /* nobody here knows what kind of thing it is */
};

/* Yours; 2048 bytes, and that stays so. */
struct arbor_error {
	int32_t status;	    /* enum arbor_status */
	char message[2044]; /* for people: UTF-8 without control characters but tabs and line ends */
};

/* "not_found": as in Arbor's JSON. Never NULL and never freed; "internal" for what is no status. */
ARBOR_PUBLIC const char *arbor_status_name(int status);

/* ---- Opening ------------------------------------------------------------------ */

/* A store, and whoever uses it. */
struct arbor;

/* What a caller may do. Each includes nothing of the others. */
enum arbor_scope {
	ARBOR_READ = 1,
	ARBOR_WRITE = 2,
	ARBOR_DRIVE = 4,   /* start and steer agents */
	ARBOR_APPROVE = 8, /* answer for the user what an agent may do */
	ARBOR_LOCAL = 16   /* read what is for the owner of the store alone: SQL, paths */
};

enum arbor_open_flag {
	ARBOR_CREATE = 1, /* make the store, and missing folders, when there is none */
	ARBOR_PLAIN = 2	  /* look at no settings and no environment; `store` has to be given */
};

enum arbor_log_level { ARBOR_LOG_ERROR = 0, ARBOR_LOG_WARN = 1, ARBOR_LOG_INFO = 2, ARBOR_LOG_DEBUG = 3 };

/* Start with zeros and set `size`: struct arbor_options o = { sizeof o };. */
struct arbor_options {
	size_t size;	   /* of this struct */
	const char *store; /* its file; NULL = where the program `arbor` finds it */
	/* Told what is worth knowing and is no result, from any thread; may be NULL. */
	void (*log)(void *ctx, int level, const char *text);
	void *ctx;	 /* for `log` */
	uint32_t flags;	 /* enum arbor_open_flag */
	uint32_t scopes; /* enum arbor_scope, added up; 0 = all: who can open the file owns it */
};

/*
 * Opens a store; `o` may be NULL. *out is set only when it worked, and goes to arbor_close().
 * Settings are read as the program reads them, the project's of the working folder included.
 * Expect ARBOR_NOT_FOUND (there is none, and no ARBOR_CREATE), ARBOR_NOT_A_STORE, ARBOR_TOO_NEW,
 * ARBOR_DENIED, ARBOR_FORMAT (a settings file). A store that cannot be written can be read.
 */
ARBOR_PUBLIC int arbor_open(const struct arbor_options *o, struct arbor **out, struct arbor_error *e);

/* No call may be running, and none may follow. NULL is fine. */
ARBOR_PUBLIC void arbor_close(struct arbor *a);

/* The file of the store, links resolved. Lent until arbor_close(). "" for NULL. */
ARBOR_PUBLIC const char *arbor_path(const struct arbor *a);

/* ---- Cancelling --------------------------------------------------------------- */

/* Something that other threads can pull to end a call. Once pulled it stays so, and every call that is
 * given it ends at once, until arbor_cancel_reset(). One may be given to several calls. */
struct arbor_cancel;

ARBOR_PUBLIC struct arbor_cancel *arbor_cancel_new(void);

/* Ends the calls that have it, which return ARBOR_CANCELLED soon after. From any thread, also from a
 * signal handler. NULL is fine, as for the next two. */
ARBOR_PUBLIC void arbor_cancel_pull(struct arbor_cancel *c);
ARBOR_PUBLIC void arbor_cancel_reset(struct arbor_cancel *c);

/* When no call has it any more. */
ARBOR_PUBLIC void arbor_cancel_free(struct arbor_cancel *c);

/* ---- Calling ------------------------------------------------------------------ */

/*
 * Takes one result: a JSON object on one line, or, of methods that give bytes ("storage.export"), the
 * next of them. Not ended by NUL, and gone when it returns. 0 to go on; anything else ends the call
 * with ARBOR_CANCELLED. It may call other functions of the library, and read with the same struct
 * arbor; what it writes may have to wait for the call it is in, and then fails with ARBOR_BUSY.
 */
typedef int arbor_result(void *ctx, const char *data, size_t length);

/* Start with zeros and set `size`. */
struct arbor_call_options {
	size_t size; /* of this struct */
	struct arbor_cancel *cancel;
	/* Of a long call: how much is done of what; `total` 0 = unknown. May be NULL. */
	void (*progress)(void *ctx, const char *what, int64_t done, int64_t total);
	/* Something a person wants to know that is no result; may be NULL. */
	void (*note)(void *ctx, const char *text);
	void *ctx;	    /* for these two */
	int64_t timeout_ms; /* from now on; then ARBOR_TIMED_OUT. 0 = for as long as it takes */
	uint32_t scopes;    /* at most these, of those of the store's; 0 = all of them */
	uint32_t reserved;  /* 0 */
};

/*
 * Calls a method with a JSON object of `length` bytes (0 = no parameters), and hands each result to
 * `on_result` (NULL = nobody wants them) until there are no more. `o` may be NULL.
 * ARBOR_OK means that all results were handed over, and that what was written will be found by
 * others. A list without items is no error, but a search may say why it finds nothing. Expect
 * ARBOR_NOT_FOUND (no such method, with the nearest name; or what is asked for is not there), ARBOR_FORMAT
 * (no JSON), ARBOR_USAGE (parameters it does not take, and which it would), ARBOR_AMBIGUOUS, ARBOR_DENIED,
 * ARBOR_BUSY, ARBOR_CANCELLED, ARBOR_TIMED_OUT, and what becomes of files: ARBOR_IO, ARBOR_FULL,
 * ARBOR_CORRUPT. A method that was ended has done what it had committed, and nothing by halves.
 */
ARBOR_PUBLIC int arbor_call(struct arbor *a, const char *method, const char *params, size_t length,
			    arbor_result *on_result, void *ctx, const struct arbor_call_options *o,
			    struct arbor_error *e);

/*
 * The same with parameters as texts, as one would type them: a name, its value, and so on, ended by
 * NULL. A switch is "true" or "false", a number in digits; a name that is repeated gives a list.
 * `params` may be NULL.
 *
 *     const char *const params[] = { "words", "integer cents", "limit", "3", NULL };
 */
ARBOR_PUBLIC int arbor_call_text(struct arbor *a, const char *method, const char *const *params,
				 arbor_result *on_result, void *ctx, const struct arbor_call_options *o,
				 struct arbor_error *e);

/* ---- Reading results ---------------------------------------------------------- */

/*
 * Where a function writes a text that may be long, it takes `room` for `size` bytes and says in
 * *length (may be NULL) how long the text is, NUL not counted. When it does not fit, that is
 * ARBOR_LIMIT, *length says what was needed, and `room` holds "" (if it holds anything). `room` may be
 * NULL when `size` is 0.
 */

/*
 * One value of a JSON text: the string that it is, decoded, or any other value as it stands there.
 * `path` names members with '.' between them, and items of a list by number: "session.title",
 * "paths.0"; "" is all of it. ARBOR_NOT_FOUND when there is none or it is null, ARBOR_FORMAT when
 * this is no JSON. A string may hold NUL itself; *length tells.
 */
ARBOR_PUBLIC int arbor_json_get(const char *json, size_t json_length, const char *path, char *room,
				size_t size, size_t *length, struct arbor_error *e);

/*
 * A text as it can be shown on a terminal. What agents and tools have written may hold whatever
 * moves the cursor, sets the title or turns the direction of writing around: all that becomes visible
 * instead, bytes that are no UTF-8 too. Line ends and tabs stay.
 */
ARBOR_PUBLIC int arbor_printable(const char *text, size_t text_length, char *room, size_t size,
				 size_t *length, struct arbor_error *e);

/* ---- Short ways ---------------------------------------------------------------
 *
 * Each calls the method it names, without options. Ids are texts of 36 characters; where one is
 * looked up, its beginning will do if nothing else begins so.
 */

#define ARBOR_ID_SIZE 37 /* an id and its NUL */

/* memory.search: at most `limit` hits (0 = as many as usual), the best first. ARBOR_NOT_FOUND when there
 * are none, with what else to try. */
ARBOR_PUBLIC int arbor_search(struct arbor *a, const char *query, int32_t limit, arbor_result *on_hit,
			      void *ctx, struct arbor_error *e);

/* arbor.tree_create. `owner` has a claim on it (NULL = "user"); `metadata` is any JSON value or NULL. The id of
 * the new tree is put into `tree`. */
ARBOR_PUBLIC int arbor_tree_add(struct arbor *a, const char *owner, const char *metadata,
				char tree[ARBOR_ID_SIZE], struct arbor_error *e);

/* arbor.tree_get. */
ARBOR_PUBLIC int arbor_tree_read(struct arbor *a, const char *tree, arbor_result *on_tree, void *ctx,
				 struct arbor_error *e);

/* arbor.node_create_text: a text below `parent` (NULL = the root of the tree). `role` is how it counts in a
 * model's context: "system", "user", "assistant", or "note" (NULL), which does not. `metadata` may be
 * NULL; the id of the new node is put into `node`. */
ARBOR_PUBLIC int arbor_node_add_text(struct arbor *a, const char *tree, const char *parent, const char *role,
				     const char *text, const char *metadata, char node[ARBOR_ID_SIZE],
				     struct arbor_error *e);

/* arbor.node_create_external: the same for something that is elsewhere and has a handle. */
ARBOR_PUBLIC int arbor_node_add_external(struct arbor *a, const char *tree, const char *parent,
					 const char *handle, const char *metadata, char node[ARBOR_ID_SIZE],
					 struct arbor_error *e);

/* arbor.node_get; arbor.node_get_children, all of them in their order; arbor.node_get_path, from the root
 * to the node. */
ARBOR_PUBLIC int arbor_node_read(struct arbor *a, const char *node, arbor_result *on_node, void *ctx,
				 struct arbor_error *e);
ARBOR_PUBLIC int arbor_node_children(struct arbor *a, const char *node, arbor_result *on_node, void *ctx,
				     struct arbor_error *e);
ARBOR_PUBLIC int arbor_node_path(struct arbor *a, const char *node, arbor_result *on_node, void *ctx,
				 struct arbor_error *e);

/* ---- Handles ------------------------------------------------------------------ */

/*
 * A handle names something that this or another hub can show: "claudecode@1.0.0::message:ID:user", or
 * the same as a JSON object. These two read it in any form and write it in one; nothing is looked up.
 * ARBOR_FORMAT with what is wrong, when it is none. The older form, {"source",...}, stays as it was given.
 */
ARBOR_PUBLIC int arbor_handle_text(const char *handle, char *room, size_t size, size_t *length,
				   struct arbor_error *e);
ARBOR_PUBLIC int arbor_handle_json(const char *handle, char *room, size_t size, size_t *length,
				   struct arbor_error *e);

/* hub.resolve: what a handle, or an id, stands for. Expect ARBOR_NOT_FOUND, ARBOR_GONE, ARBOR_UNREACHABLE,
 * ARBOR_FORMAT, ARBOR_AMBIGUOUS. */
ARBOR_PUBLIC int arbor_resolve(struct arbor *a, const char *handle, arbor_result *on_answer, void *ctx,
			       struct arbor_error *e);

/* ---- Waiting ------------------------------------------------------------------ */

/*
 * Waits until something was committed to the store, by whichever program or thread, since the last
 * time this returned with *changed 1 (or since arbor_open()); at most `timeout_ms`, 0 = only looks,
 * less = for ever. *changed is 1 or 0. `c` may be NULL. ARBOR_BUSY when another thread waits with the
 * same struct arbor.
 */
ARBOR_PUBLIC int arbor_wait(struct arbor *a, int32_t timeout_ms, struct arbor_cancel *c, int32_t *changed,
			    struct arbor_error *e);

#ifdef __cplusplus
}
#endif

#endif
