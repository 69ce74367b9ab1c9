/*
 * One call of a method: its parameters, what it may use, where its results go.
 *
 * A method runs in one thread and owns nothing here. It reads its parameters,
 * works until its deadline or until it is cancelled, and hands results to the
 * sink one by one. Instead of blocking it may return call_wait(): it is then
 * called again when something has happened, with `state` as it left it.
 */
#ifndef ARBOR_HUB_CALL_H
#define ARBOR_HUB_CALL_H

#include "base/arena.h"
#include "base/json_write.h"
#include "base/log.h"
#include "hub/method.h"
#include "store/store.h"

struct hub;
struct settings;
struct hub_caller;

/* A parameter's value. Texts are in the call's arena or outlive it. */
struct value {
	bool given;	  /* by the caller, not by its initial value */
	struct str text;  /* TEXT, ENUM, ID, PATH; JSON: its raw text; TIME: as it was given */
	int64_t number;	  /* INT, BYTES, TIME, BOOL (0, 1) */
	struct str *list; /* PARAM_REST */
	size_t count;
};

/* Where results go. Each function returns STATUS_OK, STATUS_CANCELLED when nobody
 * wants more, or STATUS_WAIT when there is no room now: the method then returns
 * that, and hands the same result over again when it is called again. */
struct sink {
	enum status (*item)(void *ctx, struct str json, struct err *err);
	/* The result of a method that has but one, told apart where only who gives it knows which it is
	 * (another hub); NULL = by item(), as our own methods do. */
	enum status (*one)(void *ctx, struct str json, struct err *err);
	enum status (*bytes)(void *ctx, struct str bytes, struct err *err);
	/* How many bytes are done of "reading", say; may be NULL. `total` 0 = unknown. */
	void (*progress)(void *ctx, const char *what, int64_t done, int64_t total);
	/* What was given so far is to be seen now, because it may take long until there is
	 * more; may be NULL. */
	void (*flush)(void *ctx);
	/* Something a person wants to know that is no result; may be NULL. */
	void (*note)(void *ctx, struct str text);
	void *ctx;
};

/* How long other hubs were waited for in vain (hub/children_resolve.c). */
struct waits {
	struct arena mem;
	struct waste *first;
};

struct call {
	const struct hub *hub;
	const struct hub_caller *who; /* on whose behalf; for methods that call others */
	const struct method *method;
	struct value *values; /* as the method's params */
	struct store *store;  /* as its `need` says */
	struct arena mem;     /* freed with the call */
	struct sink sink;
	/* The caller's; NULL = the defaults, and settings_*() take that. */
	const struct settings *settings;
	const struct log *log;
	const atomic_bool *cancel; /* may be NULL */
	int64_t deadline_ns;	   /* monotonic; 0 = none */
	void *state;		   /* the method's, across waits; in `mem` */
	struct waits *waits;	   /* for other hubs, in vain; shared with calls inside; NULL = not kept */
	/* The method's: what is to be done when the call ends while it waits; NULL = nothing. */
	void (*leave)(struct call *c);
	struct buf item;	   /* the result being written */
	struct json_writer writer;
	int64_t wait_until_ns; /* after STATUS_WAIT: at the latest then */
};

/* Parameters by name. A name the method does not declare is a bug and ends the
 * program. */
struct str call_text(const struct call *c, const char *name); /* p NULL = left out */
int64_t call_int(const struct call *c, const char *name);
bool call_flag(const struct call *c, const char *name);
const struct value *call_value(const struct call *c, const char *name);

/* What may be given several times, as a JSON array in the call's arena; p NULL = left out. */
struct str call_names(struct call *c, const char *name);

/* A path with all links resolved, in the call's arena; p NULL = it does not exist. */
struct str call_real_path(struct call *c, struct str path);

/* A path in which '~' stands for the user's own folder. */
struct str call_from_home(struct call *c, struct str path);

/* The same of its first n bytes, as far as these exist; the rest follows as it is. */
struct str call_real_front(struct call *c, struct str path, size_t n);

bool call_is_cancelled(const struct call *c);

/* The store, opened when it is not yet: for what turns out to need one only while it runs. */
enum status call_need_store(struct call *c, struct err *err) MUST_USE;

/* Tells a person what a program would not care for: that there is more, say. */
void call_note(struct call *c, const char *format, ...) ATTR_PRINTF(2, 3);

/* Writing a result: begin, its fields with the json_write_*() functions or the
 * helpers below, then emit. */
struct json_writer *call_begin(struct call *c);
enum status call_emit(struct call *c, struct err *err) MUST_USE;
enum status call_bytes(struct call *c, struct str bytes, struct err *err) MUST_USE;

/* Lets what was emitted be seen now, before a long silence. */
void call_flush(struct call *c);

void put_text(struct json_writer *w, const char *key, struct str value);
void put_text_if(struct json_writer *w, const char *key, struct str value); /* p NULL = nothing is put */
void put_json_if(struct json_writer *w, const char *key, struct str json);  /* likewise; put as it is */
void put_int(struct json_writer *w, const char *key, int64_t value);
void put_bool(struct json_writer *w, const char *key, bool value);
void put_time(struct json_writer *w, const char *key, int64_t ms);
void put_uuid(struct json_writer *w, const char *key, const struct uuid *id);

/* A path may hold any bytes and JSON may not: beside `key` stands `key`_hex when
 * it is not UTF-8. */
void put_path(struct json_writer *w, const char *key, struct str path);

/* A call inside of another, whose results go to somebody else. It has the other's store, deadline and so on, and
 * memory of its own. */
void call_sub_init(struct call *sub, const struct call *of, struct sink sink);
void call_sub_release(struct call *sub);

/* Come back when the store has changed, at the latest after `timeout_ms`. */
enum status call_wait(struct call *c, int timeout_ms);

#endif
