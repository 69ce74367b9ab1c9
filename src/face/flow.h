/*
 * Text that comes in pieces, wrapped between words as it comes.
 */
#ifndef ARBOR_FACE_FLOW_H
#define ARBOR_FACE_FLOW_H

#include "face/out.h"

struct flow {
	struct out *out;
	int indent;
	int column;	 /* where the next character goes; 0 = at the beginning of a line */
	struct buf word; /* its end has not come yet */
	int blanks;	 /* before it */
	struct term_stream filter;
};

void flow_begin(struct flow *f, struct out *o, int indent);
void flow_add(struct flow *f, struct str foreign);
void flow_end(struct flow *f); /* what is left, and the end of the line */

#endif
