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

#include "base/hash.h"
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
	RECORD_LAST_PROMPT, /* which line the client goes on from */
	RECORD_SNAPSHOT,    /* what files were before they were changed */
	RECORD_OTHER,	    /* any other type, known or not */
	RECORD_TYPES
};

/* Where a text stands in a conversation. */
enum record_place {
	PLACE_PROMPT, /* what a person typed */
	PLACE_ANSWER,
	PLACE_THINKING,
	PLACE_INPUT,  /* of a tool */
	PLACE_OUTPUT, /* of a tool */
	PLACE_OTHER,  /* what the client wrote: summaries, titles, results of its commands */
	PLACE_CLIENT, /* so too, for the model and for nobody else: skills and commands at length, reminders.
		       * People call it other, too */
	PLACES
};

/* What is true of a line, as bits. */
enum record_flag {
	RECORD_PROMPT = 1 << 0,	    /* typed by a person */
	RECORD_QUEUED = 1 << 1,	    /* so too, while a turn was running: an attachment; with RECORD_META, put in by
				     * the client */
	RECORD_NOTICE = 1 << 2,	    /* a notification of the client that starts a turn */
	RECORD_META = 1 << 3,	    /* isMeta: put in by the client */
	RECORD_COMPACT = 1 << 4,    /* the summary a conversation goes on with */
	RECORD_BOUNDARY = 1 << 5,   /* where a compaction has cut */
	RECORD_SENT = 1 << 6,	    /* a system line that the model is sent */
	RECORD_RESULT = 1 << 7,	    /* a user line with results of tools */
	RECORD_SIDECHAIN = 1 << 8,  /* of a sub-agent */
	RECORD_EMBEDDED = 1 << 9,   /* inside a progress line of the conversation that asked for it */
	RECORD_REQUEST = 1 << 10,   /* has a requestId: what copies made by old clients lack */
	RECORD_STOPPED = 1 << 11,   /* has a stop_reason: its usage is final */
	RECORD_CUT = 1 << 12,	    /* the answer was cut off at the limit of tokens */
	RECORD_ERROR = 1 << 13,	    /* the client's note of a failed request */
	RECORD_SYNTHETIC = 1 << 14, /* an answer that no model gave */
	RECORD_MUTE = 1 << 15,	    /* an answer that says nothing: thinking, or blank */
	RECORD_EXPLICIT = 1 << 16,  /* last-prompt: chosen, not merely noted */
	RECORD_SPEAKS = 1 << 17,    /* an answer with a text that is not blank */
	RECORD_TASK = 1 << 18,	    /* a prompt for a sub-agent: no person typed it */
	RECORD_COMMAND = 1 << 19,   /* a command of the client with something behind it, or of the shell: typed, too */
	RECORD_ENQUEUED = 1 << 20,  /* noted when a person typed it; another line may say it, too, later */
};

/* Whether a person typed what a line of these flags says. */
static inline bool record_is_typed(unsigned flags)
{
	return (flags & (RECORD_PROMPT | RECORD_QUEUED | RECORD_COMMAND)) && !(flags & (RECORD_META | RECORD_TASK));
}

struct record {
	enum record_type type;
	unsigned flags; /* enum record_flag */
	struct str type_name;  /* as it stands there; empty when there is none */
	struct str uuid;       /* as text; p NULL = none */
	struct str parent;     /* parentUuid; p NULL = none */
	struct str link;       /* another line it names: boundary: logicalParentUuid; last-prompt, summary:
				* leafUuid; else forkedFrom.messageUuid */
	struct str session;    /* sessionId */
	struct str agent;      /* agentId */
	struct str message_id; /* of the API message; p NULL = none */
	struct str model, cwd, branch;
	struct str plan;       /* what the plan of this conversation is called, if it makes one: slug */
	struct str permission; /* what tools may do without being asked for: permissionMode */
	int64_t at; /* ms */
	bool has_time;
	uint32_t message; /* on the reader's tape; JSON_NONE = none */
	uint32_t content; /* of its message */
	struct str bytes; /* of this record, inside the line */
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

/* Whether it is of a prompt, an answer or results of tools. */
static inline bool record_is_message(const struct record *rec)
{
	return rec->type == RECORD_USER || rec->type == RECORD_ASSISTANT;
}

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

/* The line at an offset of a file as the client reads it: a byte order mark at the beginning
 * of the file is no part of its first line. */
struct str record_line(struct str line, int64_t offset);

/* A line without its line feed; then its records until there are no more. White
 * space alone is no record. */
void record_begin(struct record_reader *r, struct str line);
bool record_next(struct record_reader *r, struct record *out);

/* The message of a sub-agent that a progress line carries, as a record of its own inside the
 * line; false when it carries none. */
bool record_embedded(struct record_reader *r, const struct record *rec, struct record *out);

/* A number that is the same for records that say the same: type and content alone count, a
 * string as content is a list of one text. 0 = it is no part of a conversation. */
uint64_t record_content(const struct record_reader *r, const struct record *rec);

/* The same as a SHA-256 that anybody can compute (docs/DATA.md): it tells apart what has one
 * uuid. */
void record_digest(const struct record_reader *r, const struct record *rec, uint8_t out[SHA256_BYTES]);

/* What an answer cost. Cache writes for an hour are among those of `write`. */
struct record_usage {
	int64_t input, output, write, write_1h, read;
	bool fast; /* asked for in a hurry, at a higher price */
};

/* False when it says nothing of it, or no model answered. */
bool record_usage(const struct record_reader *r, const struct record *rec, struct record_usage *out);

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

/* The same as it is searched and told in a few words: of a command what was typed, of a file that was read its lines
 * without their numbers. */
void block_said(const struct record_reader *r, const struct record_block *b, struct buf *out);

/* The file or folder that a call of a tool names; p NULL = none. */
struct str block_file(struct record_reader *r, const struct record_block *b);

/* What a record says outside of a message, so too: title, summary, system
 * text, attachment. */
void record_text(const struct record_reader *r, const struct record *rec, struct buf *out);

/* What a line notes of a prompt that is said in another one: of the queue, of the last prompt, whose
 * end may be missing. Nothing for others. */
void record_prompt_again(const struct record_reader *r, const struct record *rec, struct buf *out);

/* What happens to prompts that wait for a turn to end. */
enum record_queue {
	QUEUE_NONE, /* the line says nothing of them */
	QUEUE_ADD,
	QUEUE_TAKE, /* the first goes to the model */
	QUEUE_BACK, /* all go back to who typed them */
};
enum record_queue record_queue(const struct record_reader *r, const struct record *rec);

/* What the client notes of a whole conversation, beside titles. */
enum record_note {
	NOTE_NONE,
	NOTE_TAG, /* empty: it has none any more */
	NOTE_MODE,
	NOTE_PULL, /* a pull request: an object with number, url and repository, as far as they are known */
};

/* What a record notes, and its value: in the line, or in the reader until the next. */
enum record_note record_note(struct record_reader *r, const struct record *rec, struct str *value);

/* The title a title or summary record gives; empty when it gives none. */
struct str record_title(struct record_reader *r, const struct record *rec);

/* Whether a text was typed and is not something the client put beside it. */
bool record_text_is_typed(struct str text);

/* Appends the beginning of a text on one line, about so many bytes. */
void record_short(struct str text, size_t most, struct buf *out);

/* What a prompt is about: of one with which the client hands over a plan the plan's heading, else all of it. Its lines
 * may have been put on one. */
struct str record_headline(struct str prompt);

/* A prompt as a title: the beginning of that, on one line. Appended to `out`. */
void record_prompt_title(struct str prompt, struct buf *out);

/* Whose a transcript is, by its path. */
struct transcript_name {
	struct uuid session; /* all zero: of a sub-agent, and the path does not say whose */
	struct str agent;    /* of a sub-agent, in the path; empty = a conversation */
};

/* False when it is none. */
bool record_transcript_of_path(struct str path, struct transcript_name *out);

const char *record_type_name(enum record_type type);
const char *record_place_name(enum record_place place);
const char *block_kind_name(enum block_kind kind);

#endif
