/*
 * Lines of a transcript for another one, which the client goes on with as if it had written it. Pure: a
 * record in, a line out.
 *
 * The bytes stay what they are but for what says where the line stands: its session, the line it hangs on,
 * the folder if another is wanted, and that it is of a sub-agent. What the client cannot do without is put in
 * where it is missing.
 */
#ifndef ARBOR_CLAUDE_FORK_H
#define ARBOR_CLAUDE_FORK_H

#include "claude/record.h"

/* The last bytes of a fork's id follow from the others, by which it can be told from what the client began. */
void fork_mark(struct uuid *id);
bool fork_is_marked(const struct uuid *id);

/* The file, line after line; kept from one to the next. */
struct fork_lines {
	struct uuid session;
	struct str cwd;	   /* p NULL = each keeps its own */
	struct buf parent; /* uuid of the line before, raw JSON; empty = there is none */
	struct buf time;   /* its timestamp, so too */
	struct buf model;  /* of the last answer, so too */
};

#define FORK_LINES_INIT \
	{ \
		.parent = BUF_INIT(MIB), .time = BUF_INIT(MIB), .model = BUF_INIT(MIB) \
	}
void fork_lines_release(struct fork_lines *f);

/* Appends the line with its line feed. */
void fork_line(struct fork_lines *f, const struct record_reader *r, const struct record *rec,
	       struct buf *out);

/* Appends a line that gives the file a title. */
void fork_title(const struct fork_lines *f, struct str title, struct buf *out);

/* Appends a line by which the client goes on from this one (raw JSON), in a file of this session. */
void fork_leaf(const struct uuid *session, struct str uuid, struct buf *out);

#endif
