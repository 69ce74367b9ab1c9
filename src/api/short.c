/*
 * Short ways to methods that most programs want: no more than their parameters put together.
 */
#include "api/api.h"

#include <stdio.h>

int arbor_search(struct arbor *a, const char *query, int32_t limit, arbor_result *on_hit, void *ctx,
		 struct arbor_error *e)
{
	char number[16];
	const char *params[] = { "words", query, limit ? "limit" : NULL, number, NULL };

	snprintf(number, sizeof number, "%" PRId32, limit);
	return arbor_call_text(a, "memory.search", params, on_hit, ctx, NULL, e);
}
