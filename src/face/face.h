/*
 * The command line's parts: commands, what they are given, how they print.
 */
#ifndef ARBOR_FACE_FACE_H
#define ARBOR_FACE_FACE_H

#include "base/arena.h"
#include "base/log.h"
#include "base/term.h"
#include "face/args.h"
#include "store/store.h"

struct command;

/* What a command works with. */
struct face {
	const struct command *command;
	struct args args;
	struct log log;
	const atomic_bool *cancel;  /* set by Ctrl-C */
	char store_path[LIMIT_PATH];
	bool out_is_terminal, err_is_terminal;
	bool quiet;
	bool progress_shown;        /* a progress line stands on the terminal */
};

struct command {
	const char *name;
	const char *summary;        /* one line */
	const char *usage;          /* what follows the name */
	const char *text;           /* paragraphs for --help */
	const char *examples;       /* lines "command   # what it does" */
	const struct arg_option *options;
	size_t least_words, most_words;
	enum status (*run)(struct face *f, struct err *err);
};

extern const struct command command_sync, command_sources, command_export, command_dump, command_check, command_call;

/* Opens the store of this call with its derived tables in order. */
enum status face_open_store(struct face *f, bool create, struct store **out, struct err *err) MUST_USE;

/* What somebody called a file, ready for source_find(): an absolute path may lead
 * through links that the store does not know, so its folder is resolved as far
 * as it still exists. */
struct str face_file_name(struct str name, struct arena *mem);

/* Columns of the terminal on stdout; 0 when it is none. */
int face_columns(const struct face *f);

/* The folder to mirror: --source, $CLAUDE_CONFIG_DIR, ~/.claude. */
enum status face_source_dir(struct face *f, char out[LIMIT_PATH], struct err *err) MUST_USE;

/* ---- Printing (out.c) ------------------------------------------------------- */

/* Data goes to stdout through these; a failed write is found by out_flush(). */
void out_printf(const char *format, ...) ATTR_PRINTF(1, 2);
void out_foreign(struct str text);          /* one line, through the terminal filter */
void out_path(struct str path, int columns); /* the same, its middle left out to fit; 0 = all of it */
enum status out_bytes(struct str bytes, struct err *err) MUST_USE;
enum status out_flush(struct err *err) MUST_USE;

/* Everything else goes to stderr. Ends a progress line first. */
void say(struct face *f, const char *format, ...) ATTR_PRINTF(2, 3);
void say_foreign(struct face *f, const char *front, struct str text);
void say_error(struct face *f, const struct err *err);
void say_progress(struct face *f, const char *format, ...) ATTR_PRINTF(2, 3);

enum { SIZE_TEXT = 16 };
const char *size_text(int64_t bytes, char out[SIZE_TEXT]); /* 12.3 MB */

#endif
