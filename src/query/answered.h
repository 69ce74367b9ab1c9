/*
 * Of which tool a result is: tool: asked of results.
 */
#ifndef ARBOR_QUERY_ANSWERED_H
#define ARBOR_QUERY_ANSWERED_H

#include "base/map.h"
#include "query/called.h"
#include "query/conditions.h"
#include "store/fulltext.h"

/* Calls of some tools. */
struct answered_calls {
	bool asked;
	struct called *list; /* by transcript and line */
	size_t count;
	struct map rows; /* by transcript: ids of its calls, as far as somebody has asked */
};

struct answered {
	struct store *store;
	struct answered_calls wanted, unwanted;
	struct transcript transcript;
	struct arena mem;
};

#define ANSWERED_INIT { 0 }
void answered_release(struct answered *a);

/* Whether results are asked for: is:error, or places among which they are and calls are not, or both alone. */
bool answered_asks(const struct conditions *f);

/* Calls of the tools that the query names, and that it does not want. Wants a read transaction, as the other does. */
enum status answered_read(struct answered *a, struct store *s, const struct expr *e, struct err *err) MUST_USE;

/* Whether a document is such a call, or the result of one. */
enum status answered_hold(struct answered *a, const struct doc *doc, bool *out, struct err *err) MUST_USE;

#endif
