/*
 * Is a file still what is archived of it?
 */
#ifndef ARBOR_INGEST_COMPARE_H
#define ARBOR_INGEST_COMPARE_H

#include "store/archive.h"

struct comparison {
	int64_t equal;           /* leading bytes of file and generation that are the same */
	struct line_count lines; /* of these bytes */
};

/*
 * Compares the beginning of the file with a generation. `quick` looks only at
 * the first block and at the last ones (at least LIMIT_VERIFY_TAIL bytes), and
 * at everything when these differ. `size` is the file's. Wants a read
 * transaction.
 */
enum status compare_file(struct store *s, int fd, int64_t size, const struct generation *g, bool quick,
			 struct comparison *out, struct err *err) MUST_USE;

#endif
