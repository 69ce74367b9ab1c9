/*
 * What a client prints, archived: of runs that write no transcript it is all there is.
 */
#ifndef ARBOR_LIVE_OUTPUT_H
#define ARBOR_LIVE_OUTPUT_H

#include "store/run.h"

struct output;

struct output *output_new(struct store *s, const struct run *run);
void output_free(struct output *o); /* NULL is fine */

void output_add(struct output *o, struct str bytes);

/* Archives what was added, in a transaction of its own. What failed can be tried again. */
enum status output_write(struct output *o, struct err *err) MUST_USE;

#endif
