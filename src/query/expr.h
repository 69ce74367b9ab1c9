/*
 * What somebody typed into a search, as words the index knows and conditions beside them.
 */
#ifndef ARBOR_QUERY_EXPR_H
#define ARBOR_QUERY_EXPR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* A word to look for, folded as the index has it. */
struct expr_word {
	struct str word;
	bool prefix; /* also words that begin so */
};

/* Words that follow each other in a text. */
struct expr_phrase {
	const struct expr_word *words;
	size_t count;
	uint8_t item; /* of the query: spellings of one have the same */
	uint8_t group; /* those of a NEAR follow each other and have one; 0 = it is in none */
	int distance; /* within it: how many words may stand between them */
};

/* What name:value says. */
enum expr_field {
	EXPR_ROLE,
	EXPR_IN,
	EXPR_TOOL,
	EXPR_PROJECT,
	EXPR_SESSION,
	EXPR_MODEL,
	EXPR_BRANCH,
	EXPR_FILE,
	EXPR_AGENT,
	EXPR_TAG,
	EXPR_IS,
	EXPR_AFTER,
	EXPR_BEFORE,
	EXPR_DAY,
	EXPR_FIELDS
};

const char *expr_field_name(enum expr_field field);
#define EXPR_FIELD_NAMES \
	"role: in: tool: project: session: model: branch: file: agent: tag: is: after: before: day:"

struct expr_condition {
	enum expr_field field;
	struct str value; /* as typed, without quotes */
	bool excluded;	  /* it must not be so */
	int64_t row;	  /* EXPR_SESSION: which it is, once somebody has found out */
	int group;	  /* conditions of one, with OR between them: one has to hold; 0 = it is in none */
	struct expr_node *node; /* EXPR_MODEL: what stands for it in the tree */
};

enum {
	EXPR_WORDS = 64,
	EXPR_CONDITIONS = 16, /* more than anybody means */
	EXPR_MODELS = 64, /* that conditions mean, all together */
	EXPR_PHRASES = 2 * (EXPR_WORDS + EXPR_CONDITIONS) + EXPR_MODELS,
	EXPR_UNWEIGHED = UINT8_MAX,
};

struct expr {
	struct expr_word *words; /* wanted ones, for finding them in a text again */
	size_t count;
	struct expr_phrase *phrases; /* that they are in */
	size_t wanted_count;
	struct buf unwanted; /* so too, where there is nothing but what is not wanted: that */
	struct buf match; /* for FTS5: quoted words, and operators written here; empty = all there is */
	uint8_t items[EXPR_PHRASES]; /* by phrase of `match`, to which item of the query it belongs, or
				      * EXPR_UNWEIGHED: it only has to be there, or not to be */
	size_t phrase_count;
	struct expr_node *root; /* the same as a tree (expr_match.h); NULL = nothing but conditions */
	struct expr_node *negative; /* so too, where there is nothing but what is not wanted */
	struct expr_condition *conditions;
	size_t condition_count;
	size_t model_count; /* that they mean, as far as somebody has said so */
	struct str signs; /* the first wanted item that has some: C++, #12; p NULL = none has */
	size_t signs_count; /* how many have some, */
	bool signs_quoted;  /* and whether one of these stands in quotes */
	bool cited;	  /* a wanted item has signs that are meant: "1.2.3", "-race" */
	bool excludes; /* a word, with NOT or - */
	bool cut;	  /* there was more than can be looked for at once: */
	bool wide;	  /* of words of which only the first letter is given, */
	struct str left;  /* from here on */
	struct str open;  /* what stands behind a quote that is never closed; p NULL = there is none */
	bool loose_or;	  /* OR with nothing before or behind it, which was passed over */
	bool aside_or;	  /* a condition stands beside OR, where it holds for all as everywhere */
	struct str odd;	  /* it looks like the name of a field, is none, and was taken for text; p NULL =
			     nothing */
	bool bare_near;	  /* NEAR without brackets, taken for text */
	struct str in_near; /* an operator within its brackets, so too; p NULL = there is none */
	struct str bar;	  /* what has a | in it, which is no operator; p NULL = there is none */
	struct str bang;  /* what has a ! in front of it, which is none either; so too */
	const char *apart; /* a field with a blank behind its colon, or nothing, taken for text; NULL = none is */
	const char *near; /* the field that may have been meant; NULL = none */
};

/* Nothing yet, which means everything there is; conditions can be added. */
void expr_begin(struct expr *e, struct arena *mem);

/*
 * Words are ANDed; "several words" in quotes follow each other; word* is the beginning of a
 * word. `a OR b`, `NOT a` and `-a`, brackets, NEAR(a b, 5). Identifiers may be written
 * whole or by their parts. Any text is a query: what is no letter or digit only separates
 * words, and an operator with nothing to work on is passed over, or is a word where there
 * is nothing else.
 *
 * With `fields`, name:value is a condition where it is one of the names; conditions hold
 * for the whole query wherever they stand. What the words of the index can say of them is
 * in `match` already: tool, file, model, agent, is:error, is:subagent.
 *
 * STATUS_USAGE when there is nothing to look for.
 */
enum status expr_read(struct expr *e, struct str text, bool fields, struct arena *mem,
		      struct err *err) MUST_USE;
void expr_release(struct expr *e);

/* The same beside something else that is looked for: so it may say only what is not wanted. A condition that wants
 * something is such, too. */
enum status expr_read_beside(struct expr *e, struct str text, struct arena *mem, struct err *err) MUST_USE;

/* Another one that words of the index do not say; its value is borrowed. False when there are too many. */
bool expr_add_condition(struct expr *e, enum expr_field field, struct str value, bool excluded) MUST_USE;

/* What a condition on a model means, once somebody knows which are called so: any of these. As it was read it means
 * the one with that name. */
void expr_set_models(struct expr *e, struct expr_condition *c, const struct str *models, size_t count,
		     struct arena *mem);

/* The same query without those of its items for which `keeps` says no, so that what is left narrows: *out borrows all
 * else. Where every item has to be there, that is; of other queries nothing is left but conditions. */
typedef enum status expr_keeps_fn(void *ctx, struct str match, bool *keeps, struct err *err);
enum status expr_narrowing(const struct expr *e, expr_keeps_fn *keeps, void *ctx, struct expr *out, struct arena *mem,
			   struct err *err) MUST_USE;

/* The same query with nothing that 'tool:' says of the words, for who asks it of results: *out borrows all else. False
 * when it says nothing. */
bool expr_without_tools(const struct expr *e, struct expr *out, struct arena *mem) MUST_USE;

/* Whether a word of a text is one that is looked for. */
bool expr_has(const struct expr *e, struct str word, size_t *which);

#endif
