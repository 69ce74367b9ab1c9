/*
 * What Arbor can do, as data.
 *
 * A method says what it is called, what it takes, what it gives, what it needs
 * and what it may; one function does it. Every face prints itself from these
 * tables: command line, help, completion, manual, schemas, and the protocols to
 * come. So adding a capability is one entry and one function.
 *
 * All of it is constant data. Lists end with an entry without a name.
 */
#ifndef ARBOR_HUB_METHOD_H
#define ARBOR_HUB_METHOD_H

#include "base/err.h"
#include "base/uuid.h"
#include "base/str.h"

struct call;
struct resolving;

enum value_type {
	VALUE_TEXT,
	VALUE_INT,    /* 64 bit */
	VALUE_BOOL,   /* as a parameter: a switch, false when left out */
	VALUE_ENUM,   /* one of `choices` */
	VALUE_BYTES,  /* a number of bytes, shown as 12.3 MB; as a parameter also 10M */
	VALUE_TIME,   /* milliseconds inside, RFC 3339 in JSON */
	VALUE_ID,     /* a UUID */
	VALUE_PATH,   /* text that names a file */
	VALUE_HANDLE, /* a handle as text; as a parameter also as an object, or an id of something here */
	VALUE_JSON,   /* any JSON value */
	VALUE_OBJECT, /* fields */
	VALUE_TYPES
};

enum param_flag {
	PARAM_REQUIRED = 1,
	PARAM_WORD = 2,	 /* on the command line a word and not an option */
	PARAM_REST = 4,	 /* a list: with PARAM_WORD all words that are left, else the option repeated;
			    people may part choices by commas, too */
	PARAM_BARE = 8,	 /* VALUE_ENUM: as an option its value may be left out and is then the first choice */
	PARAM_INPUT = 32,    /* on a command line '-' stands for what standard input has */
	PARAM_EMPTY = 128,   /* VALUE_TEXT: required, and may be an empty text all the same */
	PARAM_PRIVATE = 256, /* everybody can see what a program was called with: on a command line it is
				wiped out there once it is read. Not with PARAM_JOIN */
	PARAM_JOIN = 64, /* with PARAM_WORD, VALUE_TEXT: further words belong to it, a blank between them */
};

/* Initial value of what names a conversation, or something in one: the last of the folder the caller is in, or of all
 * where that has none. Who has just left a client means that. */
#define PARAM_LAST_SESSION "@."

struct param {
	const char *name; /* lower case, words joined by '_' */
	enum value_type type;
	unsigned flags;
	const char *initial;	    /* what it is when left out, as text; NULL = nothing */
	const char *const *choices; /* VALUE_ENUM, ended by NULL */
	int64_t least, most;	    /* VALUE_INT, VALUE_BYTES: bounds when least < most */
	char letter;		    /* short option, 0 = none */
	const char *shown;	    /* what the value is called in help; NULL = from the type */
	const char *setting;	    /* setting (settings.h) that gives it when it is left out; NULL = none */
	const char *names;	    /* method whose items' keys can be given, for completion; NULL = none */
	const char *help;	    /* one line, no full stop */
};

/* Of methods that ask. */
#define ASKING_PARAMS \
	{ .name = "dry_run", \
	  .type = VALUE_BOOL, \
	  .letter = 'n', \
	  .help = "say what would go, and do nothing" }, \
	{ \
		.name = "yes", .type = VALUE_BOOL, .letter = 'y', .help = "do it without asking" \
	}

enum field_flag {
	FIELD_OPTIONAL = 1, /* may be absent */
	FIELD_LIST = 2,	    /* an array of such values */
	FIELD_KEY = 4,	    /* names the item: what -0 prints and completion offers */
	FIELD_HIDDEN = 8,   /* in JSON only, not in tables */
	FIELD_SHORT = 32,   /* in tables on a terminal: the end of a path, a time as 'ls' has it */
	FIELD_STRETCH = 16, /* stands last in a table and takes the width that is left */
};

/* A part of a result. */
struct field {
	const char *name;
	enum value_type type;
	unsigned flags;
	const char *const *choices; /* VALUE_ENUM */
	const struct field *fields; /* VALUE_OBJECT */
	const char *title;	    /* above its column; NULL = its name */
	const char *usual;	    /* what says nothing: a table on a terminal has no column of these alone */
	const char *help;
};

enum result_kind {
	RESULT_ONE,    /* one object */
	RESULT_STREAM, /* any number of objects */
	RESULT_RAW,    /* bytes, as they are */
};

/* What a caller must be allowed to do. Each includes nothing of the others. */
enum scope {
	SCOPE_READ,
	SCOPE_WRITE,
	SCOPE_DRIVE,
	SCOPE_APPROVE,
	SCOPE_LOCAL, /* reading what is for whoever owns the store: never given to somebody far away */
	SCOPES
};

/* What must be there before a method runs. */
enum need {
	NEED_NOTHING,
	NEED_STORE,	 /* a store that exists */
	NEED_STORE_MADE, /* the same, made when it does not */
};

struct example {
	const char *line; /* as one would type it, without "arbor" */
	const char *what; /* what it does */
};

struct method {
	const char *name;    /* inside its activation: "sync" */
	const char *verb;    /* on the command line; NULL = by 'arbor call' only */
	const char *under;   /* a verb that may stand before its own: "approvals answer"; NULL = none */
	const char *group;   /* what its verb is listed under in help; NULL = not listed */
	const char *also;    /* what other tools call it, blanks between: who types that is told the verb */
	int first;	     /* its first example is shown to newcomers, as number 1, 2, 3 or 4; 0 = not */
	const char *summary; /* one line, no full stop */
	const char *text;    /* more, for help and manual; an empty line parts paragraphs, other line ends
				are blanks */
	const struct param *params;
	enum result_kind kind;
	const struct field *fields; /* of the result, or of each item */
	bool open;		    /* items have more members than these: those the caller asked for */
	int version;		    /* of these fields, rises when one changes its meaning; 0 = 1 */
	const char *sums;	    /* items of this kind add up the others: where lines are read by programs, which add
				       up for themselves, there are none; NULL = none are */
	const char *empty;	    /* said to a person when a stream has no items; NULL = "nothing found" */
	/* What it does cannot be undone: the question a person is asked before. It takes ASKING_PARAMS;
	 * without one of them it is refused. NULL = it can. */
	const char *asks;
	enum scope scope;
	enum need need;
	const struct example *examples;
	/* Runs before `need` is met, and may refuse the call or need less; may be NULL. */
	enum status (*prepare)(struct call *call, enum need *need, struct err *err);
	enum status (*run)(struct call *call, struct err *err);
};

/* ---- Handles (base/handle.h) -------------------------------------------------- */

/* What something is that a handle stands for, to whoever shows it. */
enum content_kind {
	CONTENT_MESSAGE,  /* said by somebody, or a part of that */
	CONTENT_OUTPUT,	  /* what a program did or printed */
	CONTENT_DOCUMENT, /* a text, or something made of parts */
	CONTENT_BINARY,	  /* bytes that are no text */
	CONTENT_KINDS
};

enum meta_flag {
	META_OPTIONAL = 1, /* may be left out, or empty */
};

/* A part of a handle's meta, which says how to find the thing; the first is its id. */
struct meta_field {
	const char *name;
	enum value_type type; /* TEXT, INT, BOOL ("true", "false"), ID */
	unsigned flags;	      /* enum meta_flag */
	const char *help;
};

/* A kind of handle that an activation hands out. */
struct handle_kind {
	const char *method; /* as in handles: "tool_use" */
	const char *summary;
	enum content_kind kind;	       /* what it mostly is; a resolver may say otherwise */
	const struct meta_field *meta; /* optional ones last */
	const struct field *fields;    /* of what it resolves to */
	/* Identifiers of the older form that begin so are of this kind: then comes the id, and behind a
	 * ':' what is for people. NULL = none are. */
	const char *older;
	enum need need;
	/* Finds it and writes its fields (hub/handle_resolve.h), in one snapshot of the store if it
	 * needs one. STATUS_NOT_FOUND = not here, STATUS_GONE = it was, and will not come back. */
	enum status (*resolve)(struct resolving *r, struct err *err);
};

struct activation {
	const char *name;    /* "memory" */
	const char *version; /* "1.0.0" */
	const char *summary;
	const struct method *const *methods; /* ended by NULL */
	const struct handle_kind *handles;   /* NULL = it hands out none */
	/* Majors whose handles it resolves beside its own, ended by -1: who made a handle long ago
	 * still owns it. NULL = none. */
	const int *majors;
};

/* The same for every version of a major: what handles name it by. */
struct uuid activation_id(const struct activation *a);

extern const char *const content_kind_names[CONTENT_KINDS + 1]; /* ended by NULL */
const char *content_kind_name(enum content_kind kind);

const char *value_type_name(enum value_type type);
const char *scope_name(enum scope scope);
int method_version(const struct method *m);

/* As it is typed: "--dry-run", or the word's placeholder "FILE". */
enum { PARAM_TYPED = 64 };
const char *param_typed(const struct param *p, char out[PARAM_TYPED]);

/* What its value is called: "N", "FILE", "raw|text". */
const char *param_shown(const struct param *p, char out[PARAM_TYPED]);

/* The member that names an item; NULL when none does. */
const struct field *field_key(const struct field *fields);

#endif
