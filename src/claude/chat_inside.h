/*
 * Inside of claude/chat: the reader, and what is being said.
 */
#ifndef ARBOR_CLAUDE_CHAT_INSIDE_H
#define ARBOR_CLAUDE_CHAT_INSIDE_H

#include "base/json_write.h"
#include "claude/chat.h"

enum chat_block_kind { CHAT_TEXT, CHAT_THINKING, CHAT_TOOL, CHAT_BLOCK_KINDS };

/* A part of an answer, from its start to its end. */
struct chat_block {
	struct chat_block *next;
	int64_t index; /* in the answer */
	enum chat_block_kind kind;
	struct buf gathered; /* of a tool its input so far, of a thought its signature */
	struct str uuid;     /* of its line; p NULL = not known yet */
	int part;
	struct str input;     /* of a tool, as its line has it; p NULL = not known yet */
	struct str signature; /* so too */
	bool stopped;	      /* all of it was said */
};

/* The answer that is being given. Texts are in `mem`, raw JSON where it is so said. */
struct chat_answer {
	struct arena mem;
	bool open;
	bool pieces;				     /* it is streamed */
	bool stopped;				     /* all of it was said; lines may be missing yet */
	struct str id;				     /* the API's; may be empty */
	struct str first;			     /* uuid of its first line; p NULL = not known yet */
	struct str model, stop_reason, usage, error; /* raw; p NULL = not known */
	struct chat_block *blocks;		     /* that are not ended */
	int64_t count;				     /* of all, ended or not */
	int64_t next;		   /* behind the largest index of any */
};

/* Who speaks: the agent itself, or a sub-agent, by the call that started it. */
struct chat_speaker {
	struct chat_speaker *next;
	struct arena mem;
	struct str call;  /* p NULL = the agent itself */
	struct str agent; /* id of the sub-agent; p NULL = not known */
	struct chat_answer answer;
};

struct chat_reader {
	chat_fn *fn;
	void *ctx;
	struct json j; /* the line in hand */
	struct chat_speaker *speakers;
	size_t speaker_count;
	struct buf data; /* of the event in hand */
	struct json_writer w;
	bool inner; /* it is a sub-agent's */
	bool prompted; /* the turn has its prompt; others are put into it */
};

/* ---- Events (chat.c) ---- */

/* Opens the data of an event: who speaks, if it is not the agent itself. */
struct json_writer *chat_begin(struct chat_reader *r, const struct chat_speaker *who);
/* Closes it and hands it on. `uuid` p NULL = about no node. */
enum status chat_say(struct chat_reader *r, enum chat_type type, struct str uuid, int part,
		     struct err *err) MUST_USE;

/* A value of the line in hand as it is, but always good UTF-8. Nothing when it is not there. */
void chat_copy(struct chat_reader *r, const char *key, uint32_t node);
void chat_put_raw(struct chat_reader *r, const char *key, struct str raw); /* nothing when p NULL */
void chat_put_int(struct chat_reader *r, const char *key, int64_t value);

/* The same in an arena; p NULL when it is not there, or null. */
struct str chat_raw_in(const struct chat_reader *r, uint32_t node, struct arena *mem);
enum status chat_pass(struct chat_reader *r, const struct chat_speaker *who, const char *prefix,
		      uint32_t kind, uint32_t what, struct str uuid, int part, struct err *err) MUST_USE;

/* What a tool gave back: a block of a line. */
enum status chat_tool_result(struct chat_reader *r, const struct chat_speaker *who, uint32_t block,
			     struct str uuid, int part, struct err *err) MUST_USE;

/* ---- Answers (chat_answer.c) ---- */

/* A piece of an answer: a stream_event's event. */
enum status chat_piece(struct chat_reader *r, struct chat_speaker *who, uint32_t event,
		       struct err *err) MUST_USE;

/* A line of an answer. */
enum status chat_answer_line(struct chat_reader *r, struct chat_speaker *who, struct err *err) MUST_USE;

/* Ends the answer, if one is being given: something else has begun. */
enum status chat_answer_end(struct chat_reader *r, struct chat_speaker *who, struct err *err) MUST_USE;
void chat_answer_release(struct chat_answer *a);

#endif
