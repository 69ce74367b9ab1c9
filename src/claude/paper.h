/*
 * Texts that stand beside conversations: plans, memory, tasks, todos, typed history. Pure.
 *
 * Who makes words of them and who shows them later ask the same function, so what is found is what is shown.
 */
#ifndef ARBOR_CLAUDE_PAPER_H
#define ARBOR_CLAUDE_PAPER_H

#include "base/uuid.h"
#include "claude/layout.h"
#include "claude/typed.h"

/* Whether files of a kind have such texts; whether each of their lines is read by itself, else the whole file
 * is. */
bool paper_is(enum claude_kind kind);
bool paper_has_lines(enum claude_kind kind);

struct paper_text {
	uint16_t part;	 /* which of its file or line */
	struct str text; /* UTF-8 */
	int64_t at;	 /* ms, as it says itself; 0 = it does not */
	bool has_session;
	bool typed; /* into that session, whose transcript has it, too */
	struct uuid session; /* that it belongs to, as far as the file or its name says */
	struct str project;  /* folder it was typed in; p NULL = it does not say */
};

/* Keeps its memory from one call to the next. */
struct paper_reader {
	struct typed_reader typed;
	struct arena mem;
	struct buf text, valid;
};

void paper_reader_init(struct paper_reader *r);
void paper_reader_release(struct paper_reader *r);

/* The texts of a file at this path below its folder, or of one of its lines, without a line feed. What cannot
 * be understood has none. They are valid during the call; false ends it. */
typedef bool paper_text_fn(void *ctx, const struct paper_text *t);
void paper_texts(struct paper_reader *r, struct str path, struct str bytes, paper_text_fn *fn, void *ctx);

/* Appends what such a text is called, on one line: a plan by its heading, memory by its file's name, others
 * by what they begin with. */
void paper_title(struct str path, struct str text, struct buf *out);

/* The name of the project's folder that a file of memory is in; p NULL = it is none. */
struct str paper_folder(struct str path);

#endif
