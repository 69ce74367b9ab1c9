/*
 * Transcripts together: which lines make up a message, which message follows which,
 * where turns begin, what branches.
 *
 * The client writes a line for every part of a message and hangs each on the line before
 * it, or on the one that asked for it; calls that ran side by side are siblings, notes
 * stand in between. Here lines become what the model saw: an answer with all its parts,
 * then all results of its calls as one message.
 *
 * Conversations are copied when they are resumed or forked, with the same ids or with
 * fresh ones. A line that stands in several files is one node. Copies with fresh ids
 * are joined where what they say and what surrounds them is the same; one of them, the
 * canonical one, stands for all. Which it is does not depend on the order of files.
 */
#ifndef ARBOR_QUERY_FOREST_H
#define ARBOR_QUERY_FOREST_H

#include "base/numbers.h"
#include "query/chain.h"
#include "store/session.h"

#define FOREST_NONE UINT32_MAX

enum forest_role {
	FOREST_USER,
	FOREST_ASSISTANT,
	FOREST_RESULTS, /* all results of an answer's calls */
	FOREST_CLIENT,	/* what the client put in for the model: never a branch */
};

/* Why a turn begins. */
enum forest_origin { ORIGIN_NONE, ORIGIN_HUMAN, ORIGIN_NOTICE, ORIGIN_COMPACTION };

struct forest_source {
	struct session session; /* texts in the forest's arena */
	struct str agent;	/* a sub-agent's; of its own file, or told in another's progress lines */
	bool embedded;		/* the latter */
	struct chain chain;
	uint32_t base; /* source that has the beginning of this one, when its chain has not; else FOREST_NONE */
	uint32_t lent; /* so many lines at its beginning are those of others, too, that do not have them */
	uint32_t borrower, next_borrower; /* of a base: these; of one of them: the next */
	uint32_t *standing; /* of a base, by line: the source in which it is the original; NULL = in itself */
	bool is_fork;	   /* written by us, or as it says itself, of lines that others have */
	int64_t first_own; /* time of its earliest record that is in no other source */
	uint32_t *nodes;   /* by line; FOREST_NONE = it has no uuid */
};

/* A line in a source. */
struct forest_copy {
	uint32_t source, line;
	uint32_t next; /* of the same node */
};

/* What lines with one uuid and one content are. */
struct forest_node {
	uint32_t copies; /* first of the list */
	struct forest_copy canon;
	uint32_t next_variant; /* node with the same uuid and other content, canonical first */
	uint32_t variant;      /* how many come before it */
	uint32_t message;      /* FOREST_NONE: an event */
	uint32_t replaced;     /* in no message, because a later line with its uuid is: that message */
	uint32_t next;	       /* node of the same message */
};

struct forest_message {
	enum forest_role role;
	bool sidechain;	 /* of a sub-agent */
	uint32_t first;	 /* node, and the first of the list */
	uint32_t count;	 /* nodes */
	uint32_t source; /* the canonical one of its lines */
	uint32_t owner;	 /* results: of this answer */
	uint32_t results; /* an answer's */
	uint32_t prev;	  /* message it follows; of a canonical message a canonical one */
	uint32_t boundary; /* node of the compaction it begins behind */
	uint32_t canonical; /* of the copies that are joined; itself mostly */
	uint32_t next_copy; /* of the same, in canonical order */
	enum forest_origin origin;
	uint32_t turn;	   /* message that begins its turn */
	uint32_t branches; /* live successors: two or more make a branch */
	bool live;	   /* it says something, or something that follows it does */
	bool through;	   /* looked through: what follows it follows what is before it */
};

/* Where something goes on that follows nothing. */
struct forest_continues {
	uint32_t from, to; /* nodes */
	uint32_t message;  /* at or above `to`; FOREST_NONE = none */
	bool inferred;
};

struct forest {
	struct forest_source *sources;
	uint32_t source_count, source_cap;
	struct forest_copy *copies;
	uint32_t copy_count;
	struct forest_node *nodes;
	uint32_t node_count;
	struct numbers by_key; /* uuid -> its canonical variant */
	struct forest_message *messages;
	uint32_t message_count;
	struct forest_continues *continues;
	uint32_t continues_count;
	bool has_variants;  /* a uuid stands with several contents */
	bool has_joined;    /* copies with fresh ids have been joined */
	struct numbers continued; /* node -> its place among them */
	uint32_t *order; /* canonical messages, each behind its prev */
	uint32_t order_count;
	struct arena mem;
};

#define FOREST_INIT { 0 }
void forest_release(struct forest *f);

/* A source to be filled: its chain with lines, not built. The pointer is good until the
 * next one. */
struct forest_source *forest_add(struct forest *f);

/* When all are there. */
void forest_build(struct forest *f);

/* A line by its transcript (its row) and offset. */
bool forest_find_line(const struct forest *f, int64_t row, int64_t offset, uint32_t *source, uint32_t *line);

/* The line of a node as its canonical source has it. */
const struct chain_line *forest_line(const struct forest *f, uint32_t node);

/* The node with this uuid, of several the canonical one; FOREST_NONE = there is none. */
uint32_t forest_find(const struct forest *f, const struct uuid *key);

/* The node that one hangs on; FOREST_NONE = none. These can lead in circles. */
uint32_t forest_parent(const struct forest *f, uint32_t node);

/* Whether other nodes have its uuid. */
bool forest_has_variants(const struct forest *f, uint32_t node);

/* The canonical message a line of a source is a part of; FOREST_NONE = none. */
uint32_t forest_message_of(const struct forest *f, uint32_t source, uint32_t line);

/* The same for a line or the nearest above it that is a part of one; *line is that one then.
 * CHAIN_NONE is above nothing. */
uint32_t forest_message_above(const struct forest *f, uint32_t source, uint32_t *line);

/* Whether a source, which is loaded whole, is a sub-agent's conversation: in a file of its own, or in one that went on
 * from there as a fork does. */
bool forest_is_agents(const struct forest *f, uint32_t source);

/* The message on which one goes on that follows none: over a compaction, or over what is
 * missing; FOREST_NONE = none. These can lead in circles. */
uint32_t forest_goes_on_from(const struct forest *f, uint32_t message);

/* Where a source would be gone on from: the source that has the line, and the line. False = it is empty. */
bool forest_leaf(const struct forest *f, uint32_t source, uint32_t *at, uint32_t *line);

/* The messages from the first to this one, in the arena. */
uint32_t *forest_path(const struct forest *f, uint32_t message, struct arena *mem, uint32_t *count);

#endif
