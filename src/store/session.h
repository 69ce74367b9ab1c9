/*
 * Conversations as people and programs ask for them: sessions listed, lines and
 * nodes found by their ids.
 */
#ifndef ARBOR_STORE_SESSION_H
#define ARBOR_STORE_SESSION_H

#include "base/arena.h"
#include "store/store.h"

struct session {
	int64_t row;
	struct uuid id;
	int64_t source, generation; /* rows */
	struct uuid source_id;
	int64_t read_to;
	struct str root;		   /* label of the folder its file is in */
	struct str path;		   /* of its file, below that */
	struct str project, branch, title; /* empty = unknown */
	struct str permission, mode, tag;  /* so too */
	struct str agent;		   /* of a sub-agent; empty = a conversation */
	bool old;			   /* lines that an older version of the file had */
	int64_t started_at, updated_at;	   /* 0 = unknown */
	int64_t prompts, messages, tools;
};

typedef enum status session_fn(void *ctx, const struct session *s, bool *go_on, struct err *err);

/* Transcripts, conversations and sub-agents, last touched first. `project` p NULL = all,
 * else those of that folder and of those below it. Slices are valid during the call. */
enum status session_each(struct store *s, struct str project, session_fn *fn, void *ctx,
			 struct err *err) MUST_USE;

/* Whether one is a copy of the other in which the same was said, as far as one can see: a
 * backup that is mirrored beside the folder it was made of has the same sessions. */
bool session_is_copy(const struct session *a, const struct session *b);

/* What older versions of their files had and the newest have not, in the order of sources. */
enum status session_each_old(struct store *s, session_fn *fn, void *ctx, struct err *err) MUST_USE;

/* The folders they worked in, last touched first. */
struct project {
	struct str path;
	int64_t updated_at, started_at; /* 0 = unknown */
	int64_t sessions, prompts, messages; /* without sub-agents */
};

typedef enum status project_fn(void *ctx, const struct project *p, struct err *err);
enum status project_each(struct store *s, project_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Models whose name has this in it, as an array in the arena, in the order of names. */
enum status model_names(struct store *s, struct str part, struct arena *mem, struct str **out, size_t *count,
			struct err *err) MUST_USE;

/* Whether a model answered in it whose name has this in it. */
enum status session_has_model(struct store *s, int64_t row, struct str name, bool *out, struct err *err) MUST_USE;

/* What its lines say of it that may be several things. */
enum session_value { SESSION_FOLDER = 1, SESSION_BRANCH, SESSION_PULL, SESSION_PLAN, SESSION_VALUES };

/* Each value once, by kind and in the order they came up; at most LIMIT_SESSION_VALUES of a
 * kind. */
typedef enum status session_value_fn(void *ctx, enum session_value kind, struct str value, struct err *err);
enum status session_values(struct store *s, int64_t row, session_value_fn *fn, void *ctx, struct err *err) MUST_USE;

/* The conversation whose lines say that its plan is called so, of several the last touched; 0 = there is none. */
enum status session_of_plan(struct store *s, struct str name, int64_t *row, struct err *err) MUST_USE;

/* One by its row. */
enum status session_get(struct store *s, int64_t row, struct arena *mem, struct session *out,
			struct err *err) MUST_USE;

/* Whether another conversation has its id: in another mirrored folder, or another project's. */
enum status session_has_twins(struct store *s, const struct session *session, bool *out, struct err *err) MUST_USE;

/* Those with this id, by their rows in the arena: conversations, `agent` of such an id, or with p NULL either;
 * the newest versions of their files first, of these the last touched. */
enum status session_rows(struct store *s, const struct uuid *id, struct str agent, struct arena *mem, int64_t **out,
			 size_t *count, struct err *err) MUST_USE;

/* The one that a file is; 0 = none. */
enum status session_of_source(struct store *s, int64_t source, int64_t *row, struct err *err) MUST_USE;

/* ---- Nodes ------------------------------------------------------------------ */

/* Parts of a line that are nodes; from 0 on, its blocks. PART_API is none, but the API
 * message the line is the first of, PART_PARENT another line, PART_CALL a call of a tool.
 * PART_TURN is the turn that begins with the line, PART_TREE the tree, if one does. */
enum {
	PART_TREE = -7,
	PART_TURN = -6,
	PART_CALL = -5,
	PART_PARENT = -4,
	PART_API = -3,
	PART_MESSAGE = -2,
	PART_LINE = -1
};

/* The flags of an entry that the store asks for: a turn may begin with it; it is a message by
 * itself, though no person's and no model's; a prompt that waited (store/queued.h) went to the
 * model, or back to who typed it. */
enum { ENTRY_TURN = 1 << 24, ENTRY_MESSAGE = 1 << 25, ENTRY_SENT = 1 << 26, ENTRY_BACK = 1 << 27 };

/* What stands for a line's uuid where it is compared: itself, or 16 bytes made of it when
 * it is none but another text. */
struct uuid line_key(struct str uuid);

/* What the ids of a line and its parts are made of. */
struct node_name {
	struct str uuid; /* text; p NULL = none, then only the line has an id: */
	struct uuid line_id;
	char room[UUID_TEXT + 1];
};

struct uuid node_id(const struct node_name *name, int part);

struct stmt;
/* From columns with entry.uuid and entry.line_id. Borrows from the row. */
void node_name_of(const struct stmt *st, int uuid_column, int line_id_column, struct node_name *out);

struct node {
	struct uuid id;
	int64_t session;	/* row */
	int64_t offset, length; /* of its line */
	int64_t first;		/* offset of its message's first line; -1 = it is in none */
	int part;
	int type;   /* of the line */
	int64_t at; /* of the line, ms; 0 = unknown */
};

/*
 * Ids that begin with these hex digits (dashes allowed, at least four digits):
 * sessions first, also those with the same id, the last touched first; then nodes, each
 * once; at most `most`. `within` a session (its row; 0 = everywhere) only nodes.
 */
struct id_match {
	bool is_session;
	struct uuid id;
	int64_t session;  /* row */
	struct node node; /* when it is none */
};

enum status id_search(struct store *s, struct str prefix, int64_t within, struct id_match *out, size_t most,
		      size_t *count, struct err *err) MUST_USE;

/* Every place where a node stands: copies of its line in other files, and in older versions of them last. */
typedef enum status node_fn(void *ctx, const struct node *node, struct err *err);
enum status node_each(struct store *s, const struct uuid *id, node_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Sub-agents whose id begins so, as matches that are sessions. */
enum status agent_search(struct store *s, struct str prefix, int64_t within, struct id_match *out, size_t most,
			 size_t *count, struct err *err) MUST_USE;

/* Sub-agents whose id begins so and whose messages stand in progress lines, as their first lines, each once. Every line
 * of the store, or of the session, is looked at. */
enum status told_search(struct store *s, struct str prefix, int64_t within, struct id_match *out, size_t most,
			size_t *count, struct err *err) MUST_USE;

/* Lines with a call of this id, or with its result, each once. */
enum status call_search(struct store *s, struct str call, int64_t within, struct id_match *out, size_t most,
			size_t *count, struct err *err) MUST_USE;

/* Lines whose own uuid begins so, each once. Every line of the store, or of the session, is
 * looked at: a last resort. */
enum status line_search(struct store *s, struct str prefix, int64_t within, struct id_match *out, size_t most,
			size_t *count, struct err *err) MUST_USE;

/* Lines of which an id is made that no key leads to: of turns, messages and trees that begin with a
 * line where none should. Every line of the store is looked at, so only by a whole id. */
enum status name_search(struct store *s, struct str id, int64_t within, struct id_match *out, size_t most,
			size_t *count, struct err *err) MUST_USE;

/* The line at an offset of a session: ids of its parts by node_id(). The name is in
 * the arena. */
enum status entry_get(struct store *s, int64_t session, int64_t offset, struct arena *mem, struct node *out,
		      struct node_name *name, struct err *err) MUST_USE;

/* The id of the message a line belongs to; its own where it is in none. */
enum status entry_message(struct store *s, const struct node *line, const struct node_name *name, struct arena *mem,
			  struct uuid *out, struct err *err) MUST_USE;

/* Its flags: a record's own, and those above. */
enum status entry_flags(struct store *s, int64_t session, int64_t offset, unsigned *out, struct err *err) MUST_USE;

/* What stands for all it says; 0 = it is no part of a conversation. */
enum status entry_content(struct store *s, int64_t session, int64_t offset, uint64_t *out, struct err *err) MUST_USE;

/* The sub-agent whose message a progress line carries, in the arena; empty = it is none. */
enum status entry_agent(struct store *s, int64_t session, int64_t offset, struct arena *mem, struct str *out,
			struct err *err) MUST_USE;

/* The line that tells the first message of a sub-agent in its progress; *length is 0 when none does. */
enum status entry_telling(struct store *s, int64_t session, struct str agent, int64_t *offset, int64_t *length,
			  struct err *err) MUST_USE;

/* How many blocks its content has. */
enum status entry_blocks(struct store *s, int64_t session, int64_t offset, int64_t *out, struct err *err) MUST_USE;

/* The calls of tools in it, or those it answers: hashes of their ids in the order of blocks, in the arena. */
enum status entry_tools(struct store *s, int64_t session, int64_t offset, struct arena *mem, uint64_t **out,
			size_t *count, struct err *err) MUST_USE;

/* Whether the newest version of any file has the line with this id. */
enum status entry_is_held(struct store *s, const struct uuid *id, bool *out, struct err *err) MUST_USE;

/* The sources that have a line with this id, in their newest version or an older one; those of the
 * transcripts of a session and of its sub-agents. Each once. */
typedef enum status source_row_fn(void *ctx, int64_t source, struct err *err);
enum status entry_sources(struct store *s, const struct uuid *id, source_row_fn *fn, void *ctx,
			  struct err *err) MUST_USE;
enum status session_sources(struct store *s, const struct uuid *session, source_row_fn *fn, void *ctx,
			    struct err *err) MUST_USE;

/* Every line whose uuid stands with different contents, in the newest versions of files;
 * `within` a session (its row; 0 = everywhere). */
typedef enum status variant_fn(void *ctx, const struct node *line, const struct node_name *name, bool *go_on,
			       struct err *err);
enum status variant_each(struct store *s, int64_t within, variant_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Every line of a session in order. */
typedef enum status entry_fn(void *ctx, const struct node *line, const struct node_name *name, int64_t doc,
			     int64_t docs, struct err *err);
enum status entry_each(struct store *s, int64_t session, entry_fn *fn, void *ctx, struct err *err) MUST_USE;

/* What a line says of itself and of others. Slices are valid during the call. */
struct entry_line {
	int64_t offset, length, at; /* at 0 = unknown */
	int type;
	uint32_t flags;
	bool has_key, has_parent, has_link, has_message;
	bool is_text;		/* its uuid is none, but another text */
	struct uuid key;	/* line_key() of its uuid */
	int64_t parent_at;	/* offset of its parent; -1 = by key: */
	struct uuid parent_key;
	struct uuid link;
	uint64_t message;	/* hash of the API message's id */
	uint64_t content;	/* 0 = none */
	uint64_t same;		/* without key: hash of its bytes */
	int64_t tool;		/* hash of the id of a call, when tools.n is 0 and has_tool */
	bool has_tool;
	struct str tools;	/* several, 8 bytes each */
	struct str agent;
};

/* Transcripts that belong to one: they share lines or messages with it, or are its
 * conversation and sub-agents. Their rows, each once; not all of them, but whoever asks those
 * again finds all. */
enum status session_kin(struct store *s, int64_t session, struct arena *mem, int64_t **out, size_t *count,
			struct err *err) MUST_USE;

/* Whether it shares lines or messages with others; 0 = whether any does. */
enum status session_any_kin(struct store *s, int64_t session, bool *out, struct err *err) MUST_USE;

/* Whether its first line that has a uuid, a type up to this one and none of these flags names another. */
enum status session_first_links(struct store *s, int64_t session, int type, unsigned without, bool *out,
				struct err *err) MUST_USE;

typedef enum status entry_line_fn(void *ctx, const struct entry_line *line, struct err *err);
enum status entry_lines(struct store *s, int64_t session, entry_line_fn *fn, void *ctx, struct err *err) MUST_USE;

/* Only those at these offsets and between them. */
enum status entry_lines_in(struct store *s, int64_t session, int64_t from, int64_t to, entry_line_fn *fn, void *ctx,
			   struct err *err) MUST_USE;

/* The lines of the message that begins at this node, in order. */
typedef enum status message_fn(void *ctx, int64_t offset, int64_t length, struct err *err);
enum status message_lines(struct store *s, const struct node *first, message_fn *fn, void *ctx,
			  struct err *err) MUST_USE;

/* Of the copies of a message the one that has most of its lines, and of several such always the same: a copy
 * may have been made when it was not complete. */
enum status message_fullest(struct store *s, struct node *node, struct err *err) MUST_USE;

/* The lines nearest to an offset that have one of these flags, `before` it or behind it, at most
 * so many; the nearest first. */
enum status entry_near(struct store *s, int64_t session, int64_t offset, bool before, unsigned flags, int64_t most,
		       message_fn *fn, void *ctx, struct err *err) MUST_USE;

#endif
