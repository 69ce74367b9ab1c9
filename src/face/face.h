/*
 * What the parts of the command line share.
 */
#ifndef ARBOR_FACE_FACE_H
#define ARBOR_FACE_FACE_H

#include "face/out.h"
#include "hub/children.h"
#include "hub/hub.h"
#include "hub/params.h"
#include "hub/settings.h"
#include "hub/where.h"

struct face {
	const struct hub *hub;
	struct out out;
	struct log log;
	enum log_level heard; /* what is more talkative is not said, but may be in the file */
	int log_fd;	      /* of --log; -1 = none */
	const atomic_bool *cancel; /* set by Ctrl-C */
	struct arena mem;	   /* lives as long as the program */
	struct str store;	   /* as --store says; p NULL = where it usually is */
	struct store *open;	   /* while a method runs that uses it; else NULL */
	bool json, print0, verbose;
	bool silent; /* what a method gives was printed before: only what is noted of it is said */
	bool left; /* somebody left a screen, and knows it: nothing has to be said */
	const struct settings *settings; /* NULL until a verb needs them */
	struct children *children;	 /* other hubs; NULL = there are none */
	struct chat *chat;		 /* that is followed (chat.h); NULL = none */
	struct {
		const char *folder, *const *words;
	} then; /* what the program becomes when all is done; NULL = nothing */
};

/* ---- Verbs (verb.c) --------------------------------------------------------- */

/* What one can type after "arbor": a method of the hub that has a verb, or one of
 * the command line's own, which has `run`. */
struct verb {
	const char *activation; /* NULL = one of our own */
	const struct method *method;
	enum status (*run)(struct face *f, int argc, char **argv, const struct params *p, struct err *err);
	bool reads_args; /* `run` reads the rest of the line itself */
};

/* The i-th; false when there are no more. */
bool verb_at(const struct hub *h, size_t i, struct verb *out);
bool verb_find(const struct hub *h, struct str name, struct verb *out);
/* The verb that is meant: what other tools call so, else what is spelled nearly so. */
struct near verb_near(const struct hub *h, struct str name);
enum status verb_unknown(const struct hub *h, struct str name, struct err *err);

/* As `names` of a parameter: what help explains, which no method lists. */
#define NAMES_HELP "help"

extern const struct method common_options; /* its params are those of every verb */

/* ---- Arguments (args.c) ----------------------------------------------------- */

struct args {
	struct params own;    /* of the method */
	struct params common; /* of every verb */
	bool takes_json;      /* a word that begins with '{' holds all parameters */
	bool takes_raw;	      /* such a word is kept as it is, and nothing but it is given */
	struct str raw;
	const char *glued; /* an option with its value in one word, where a word could be meant: "-parser" */
};

enum status args_read(struct face *f, struct args *a, const struct method *m, int argc, char **argv,
		      struct err *err) MUST_USE;

/* Where the first word stands that is no option of every verb; -1 = nowhere. */
int args_first_word(int argc, char **argv);

/* Whether these are options of a method or of every verb, with their values, and nothing else. */
bool args_are_options(const struct method *m, int argc, char **argv);

/* Whether an option stands there, spelled so, whatever is wrong with the rest; and whether --help or -h does. */
bool args_have(int argc, char **argv, const char *option);
bool args_want_help(int argc, char **argv);

/* The option called so, of the method or of every verb; NULL = there is none. */
const struct param *args_option(const struct method *m, struct str name);
const struct param *args_letter(const struct method *m, char letter);

/* Whether the option takes the word behind it. */
bool args_takes_word(const struct param *q);

/* What fills the word of this number; NULL = nothing does. */
const struct param *args_word(const struct method *m, size_t number);

/* ---- Places (where.c) ------------------------------------------------------- */

enum status face_open_store(void *face, bool make, struct store **out, struct err *err) MUST_USE;
enum status face_load_settings(struct face *f, struct err *err) MUST_USE;

/* The same for a thread: `progress` may be NULL. */
enum status face_open_store_for(const struct face *f, const struct where_opening *o, struct store **out,
				struct err *err) MUST_USE;

/* ---- The file of --log (logfile.c) ------------------------------------------ */

enum status logfile_open(struct face *f, struct str path, struct err *err) MUST_USE;

/* A line with the time in front; nothing when there is no file. A failed write is told once. */
void logfile_add(struct face *f, const char *what, struct str text);
void logfile_close(struct face *f);

/* ---- Running (cli.c) -------------------------------------------------------- */

/* Runs a method of the hub and prints what it gives. */
enum status face_run(struct face *f, const char *activation, const struct method *m, struct params *p,
		     struct err *err) MUST_USE;

/* A method by its whole name. The activation is NULL for one of another hub, which is asked what it
 * takes. */
enum status face_find_method(struct face *f, struct str name, const struct activation **a,
			     const struct method **m, struct err *err) MUST_USE;

/* From now on Ctrl-C only sets f->cancel, as often as it comes; and it is as if it had not come. */
void face_take_interrupts(void);
void face_forget_interrupt(void);

/* Whether somebody wants the program to end (SIGTERM), and not only what it does. */
bool face_is_to_end(void);

/* ---- Asking (ask.c) --------------------------------------------------------- */

/* Whether somebody is there who can be asked, and has to be. */
bool ask_is_due(const struct face *f, const struct method *m, const struct params *p);
enum status ask_and_run(struct face *f, const char *activation, const struct method *m, struct params *p,
			struct err *err) MUST_USE;

/* ---- Our own verbs ---------------------------------------------------------- */

enum status run_help(struct face *f, int argc, char **argv, const struct params *p, struct err *err);
enum status run_call(struct face *f, int argc, char **argv, const struct params *p, struct err *err);
enum status run_completion(struct face *f, int argc, char **argv, const struct params *p, struct err *err);
enum status run_complete(struct face *f, int argc, char **argv, const struct params *p, struct err *err);
enum status run_pick(struct face *f, int argc, char **argv, const struct params *p, struct err *err);
enum status run_mcp(struct face *f, int argc, char **argv, const struct params *p, struct err *err);
enum status run_rpc(struct face *f, int argc, char **argv, const struct params *p, struct err *err);
enum status run_version(struct face *f, int argc, char **argv, const struct params *p, struct err *err);

/* ---- Help and manual (help.c, man.c) ---------------------------------------- */

/* Something help explains that is not a verb. */
struct topic {
	const char *name;    /* after "arbor help" */
	const char *heading; /* in the manual; NULL = it is there anyway */
	const char *summary;
	const char *text;	       /* paragraphs, as of a method */
	const struct example *entries; /* names and what they mean */
};
extern const struct topic topics[]; /* ended by one without a name */

void help_verb(struct face *f, const struct verb *v);
enum status help_method(struct face *f, struct str name, struct err *err) MUST_USE;
void help_columns(const struct verb *v, struct buf *out); /* a sentence, or nothing */
void help_usage(struct buf *out, const struct verb *v); /* "export FILE [OPTION]..." */
void help_exit_codes(void (*fn)(void *ctx, int code, struct str meaning), void *ctx);
enum status help_man(struct face *f, struct str name, struct err *err);

#endif
