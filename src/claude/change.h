/*
 * What a transcript tells of files: which was changed, how, and what stood in it.
 * Pure: records in, changes out. A path is a text here and never opened.
 */
#ifndef ARBOR_CLAUDE_CHANGE_H
#define ARBOR_CLAUDE_CHANGE_H

#include "claude/record.h"

enum change_kind {
	CHANGE_CREATE, /* of a file that was not there */
	CHANGE_UPDATE, /* all of it is new */
	CHANGE_EDIT,   /* parts were replaced */
	CHANGE_READ,   /* none; but all of it was seen */
	CHANGE_ALIEN,  /* by somebody else, as the client has noticed */
};

/* What is known of a file at some moment. */
enum file_state { FILE_UNKNOWN, FILE_ABSENT, FILE_KNOWN };

struct change_edit {
	struct str old, new;
	bool all; /* wherever it stands, not only the first time */
};

/* Texts are in the line or in the reader, until its next record. */
struct change {
	enum change_kind kind;
	const char *tool; /* whose doing it is */
	struct str path;
	enum file_state was; /* before it */
	struct str before;
	bool is_whole;		   /* `after` is what stood there then */
	struct str after;	   /* READ: what stands there */
	struct change_edit *edits; /* when it is not; one after the other */
	size_t edit_count;
	bool has_delta;
	int64_t delta; /* lines there are more, as the client has counted */
};

/* What a record tells of a file; false when nothing. A call that failed has changed nothing. */
bool change_read(struct record_reader *r, const struct record *rec, struct change *out);

/* What a result says in words of a file that was written; false when nothing. For where the client keeps nothing
 * beside: of sub-agents. It does not tell an edit from a file that was written anew. */
bool change_said(struct record_reader *r, const struct record_block *result, struct str *path, bool *made);

/* The path alone of a file that a result tells was changed, in words if not otherwise. Costs little. */
bool change_path(struct record_reader *r, const struct record *rec, struct str *path);

/* What a call was to change, from its block. Of one that succeeded; made: its result says that the file is new. */
bool change_of_call(struct record_reader *r, const struct record_block *call, bool made, struct change *out);

/* What a text becomes by the edits of a change, appended to `out`. False when they do not
 * fit: it was another text. */
bool change_apply(const struct change *c, struct str before, struct buf *out);

/* A note of the client what files were at a prompt. */
struct snapshot {
	struct str prompt; /* uuid of the prompt's line */
	struct str at;	   /* of the line before which it was noted: the prompt's, or that of a call */
	uint32_t files;	   /* on the tape */
};

struct snapshot_file {
	struct str path;   /* below the session's folder, or absolute */
	bool absent;	   /* it did not exist */
	struct str backup; /* file name of its copy; empty when it is absent */
	int64_t version;   /* of the copy; 0 = unknown, as in */
	int64_t at;	   /* when it was made */
};

bool snapshot_read(struct record_reader *r, const struct record *rec, struct snapshot *out);

/* Its files one after the other; *at is 0 at first. */
bool snapshot_next(struct record_reader *r, const struct snapshot *s, uint32_t *at,
		   struct snapshot_file *out);

#endif
