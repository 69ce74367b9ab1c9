/*
 * What people set once instead of saying it each time.
 *
 * A setting has a key ("search.limit"), a type and bounds like a parameter, and a
 * value from the strongest source that names it:
 *
 *     default < general variable < user file < project file < variable < flag
 *
 * A general variable is another program's (PAGER): it says less about Arbor than
 * the user's own file. docs/SETTINGS.md is this table and these rules for people.
 *
 * A project's file comes with whatever somebody checked out. A key that would let
 * it run, reach or reveal something is SETTING_USER_ONLY: in a project's file it is
 * ignored, and the user is told.
 */
#ifndef ARBOR_HUB_SETTINGS_H
#define ARBOR_HUB_SETTINGS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "hub/method.h"

#include <sys/types.h>

enum setting_flag {
	SETTING_USER_ONLY = 1, /* not from a project's file; `why` says why not */
};

struct setting_key {
	struct param param;	 /* name, type, choices, bounds, initial value, help */
	const char *env;	 /* variable that beats the files; NULL = none */
	const char *general_env; /* variable that the files beat; NULL = none */
	unsigned flags;		 /* enum setting_flag */
	const char *why;
	/* What the type does not check; NULL = nothing. Errors do not name the key. */
	enum status (*check)(struct str text, struct arena *mem, struct err *err);
};

/* Every key there is, ended by one without a name. */
extern const struct setting_key setting_keys[];

/* What a value has to be: "a whole number from 1 to 10000". */
void setting_wants(const struct setting_key *key, struct buf *out);

/* Where a value came from; a later one beats an earlier one. */
enum setting_source {
	SETTING_DEFAULT,
	SETTING_GENERAL,
	SETTING_USER,
	SETTING_PROJECT,
	SETTING_ENVIRONMENT,
	SETTING_FLAG,
};

struct setting;

/* Everything it points to is in the arena it was begun with. */
struct settings {
	struct arena *mem;
	struct setting *list;  /* as setting_keys */
	const char *home;      /* what "~" in a file means; NULL = nothing */
	const char *user_file; /* NULL = there cannot be one */
};

/* Where to look. The face fills it in from the system, tests as they like. */
struct settings_where {
	const char *home;				 /* NULL = none */
	const char *config_dir;				 /* NULL = $XDG_CONFIG_HOME, else ~/.config */
	const char *cwd;				 /* absolute, without links; NULL = no project */
	uid_t uid;					 /* ours */
	const char *(*env)(void *ctx, const char *name); /* NULL = not set */
	void *ctx;
};

/*
 * Reads all sources but flags. A file that is not there is no error; the user's own
 * is one when it cannot be read or understood, with its place (STATUS_FORMAT,
 * STATUS_LIMIT, ...). A project's is ignored then, with a warning: it is not always
 * the user's to mend. Unknown keys, repeated ones and what a project may not set are
 * warnings.
 */
enum status settings_load(const struct settings_where *where, struct arena *mem, const struct log *log,
			  struct settings *out, struct err *err) MUST_USE;

/* From the command line. The name of the flag is the face's affair and not in the
 * error: it wraps. */
enum status settings_set_flag(struct settings *s, const char *key, struct str text, struct err *err) MUST_USE;

/*
 * Values by key. A key that does not exist or has another type is a bug and ends
 * the program. Without settings (s NULL) each has its default; a path has none
 * then, because it depends on where the user is at home.
 */
struct str settings_text(const struct settings *s, const char *key); /* p NULL = not set */
int64_t settings_int(const struct settings *s, const char *key);
bool settings_flag(const struct settings *s, const char *key);

/* The same for a parameter of that type; false when it is not set. */
struct value;
bool settings_value(const struct settings *s, const char *key, enum value_type type, struct value *out);

/* "default", "/path/settings.json:3:5", "environment ARBOR_COLOR", "flag". */
struct str settings_origin(const struct settings *s, const char *key);

/* ---- The steps of settings_load(), for itself and for tests ---- */

/* Every key at its default. */
void settings_begin(struct settings *s, const char *home, struct arena *mem);

/* The text of one file (SETTING_USER or SETTING_PROJECT); `file` is its name in
 * messages and origins. After an error `s` is as it was. */
enum status settings_read(struct settings *s, enum setting_source from, const char *file, struct str text,
			  const struct log *log, struct err *err) MUST_USE;

/* SETTING_GENERAL or SETTING_ENVIRONMENT. */
enum status settings_read_env(struct settings *s, enum setting_source from,
			      const struct settings_where *where, struct err *err) MUST_USE;

#endif
