/*
 * One line of a transcript, read: what it is, who it belongs to, and the texts in
 * it. Pure: bytes in, records out.
 *
 * A line is a JSON object. Now and then the client has written two of them into
 * one line; record_next() takes such a line apart. Whatever cannot be
 * understood is a record too, of type RECORD_BROKEN: nothing disappears.
 */
#ifndef ARBOR_CLAUDE_RECORD_H
#define ARBOR_CLAUDE_RECORD_H

#include "base/json.h"
#include "base/uuid.h"

enum record_type {
	RECORD_BROKEN, /* not JSON, not an object, or too deep */
	RECORD_USER,
	RECORD_ASSISTANT,
	RECORD_SYSTEM,
	RECORD_ATTACHMENT,
	RECORD_PROGRESS,
	RECORD_SUMMARY,
	RECORD_AI_TITLE,
	RECORD_CUSTOM_TITLE,
	RECORD_OTHER, /* any other type, known or not */
	RECORD_TYPES
};

/* Where a text stands in a conversation. */
enum record_place {
	PLACE_PROMPT, /* what a person typed */
	PLACE_ANSWER,
	PLACE_THINKING,
	PLACE_INPUT,  /* of a tool */
	PLACE_OUTPUT, /* of a tool */
	PLACE_OTHER,  /* what the client wrote: summaries, titles, reminders */
	PLACES
};

struct record {
	enum record_type type;
	struct str type_name;  /* as it stands there; empty when there is none */
	struct str uuid;       /* as text; p NULL = none */
	struct str parent;     /* parentUuid; p NULL = none */
	struct str message_id; /* of the API message; p NULL = none */
	struct str model, cwd, branch;
	int64_t at; /* ms */
	bool has_time;
	bool is_prompt;	   /* typed by a person */
	bool is_sidechain; /* of a sub-agent */
	bool is_error;	   /* the client's note of a failed request */
	uint32_t content;  /* of its message, on the reader's tape; JSON_NONE = none */
	struct str bytes;  /* of this record, inside the line */
};

enum block_kind {
	BLOCK_TEXT,
	BLOCK_THINKING,
	BLOCK_TOOL_USE,
	BLOCK_TOOL_RESULT,
	BLOCK_IMAGE,
	BLOCK_OTHER,
	BLOCK_KINDS
};

/* A part of a message's content; a plain string counts as one text. */
struct record_block {
	enum block_kind kind;
	enum record_place place;
	uint32_t index;	 /* in the content */
	uint32_t node;	 /* on the tape */
	struct str name; /* tool_use: of the tool */
	struct str tool; /* tool_use, tool_result: the call's id */
	bool is_error;	 /* tool_result */
};

/* Reads records; keeps its memory from one to the next. Everything a record points
 * to is in the line, or in the reader until the next record_next(). */
struct record_reader {
	struct json json;
	struct arena mem;
	struct str rest; /* of the line, not read yet */
	uint32_t count;	 /* records of the line so far */
};

#define RECORD_READER_INIT \
	{ \
		0 \
	}
void record_reader_release(struct record_reader *r);

/* A line without its line feed; then its records until there are no more. White
 * space alone is no record. */
void record_begin(struct record_reader *r, struct str line);
bool record_next(struct record_reader *r, struct record *out);

/* Whether a line that may go on is a complete object already. */
bool record_is_whole(struct record_reader *r, struct str line);

/* The blocks of a record with a message, one after the other. */
struct block_cursor {
	uint32_t node, index; /* of the next; zero at first */
};
bool record_block(const struct record_reader *r, const struct record *rec, struct block_cursor *at,
		  struct record_block *out);

/* Appends the text of a block that people could look for: decoded, the strings of
 * a tool's input or output one a line. Nothing for images and signatures. */
void block_text(const struct record_reader *r, const struct record_block *b, struct buf *out);

/* The same for what a record says outside of a message: title, summary, system
 * text, attachment. */
void record_text(const struct record_reader *r, const struct record *rec, struct buf *out);

/* The title a title or summary record gives; empty when it gives none. */
struct str record_title(struct record_reader *r, const struct record *rec);

/* Whether a text was typed and is not something the client put beside it. */
bool record_text_is_typed(struct str text);

/* A prompt as a title: its beginning, on one line. Appended to `out`. */
void record_prompt_title(struct str prompt, struct buf *out);

/* The session a transcript belongs to, by its file name; false when that is no
 * session's. */
bool record_session_of_path(struct str path, struct uuid *out);

const char *record_type_name(enum record_type type);
const char *record_place_name(enum record_place place);
const char *block_kind_name(enum block_kind kind);

#endif
