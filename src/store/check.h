/*
 * Is the store whole? Reads everything, changes nothing.
 */
#ifndef ARBOR_STORE_CHECK_H
#define ARBOR_STORE_CHECK_H

#include "store/store.h"

struct check_report {
	int64_t sources, generations, blocks;
	int64_t raw_bytes;    /* unpacked and verified */
	int64_t packed_bytes;
	int64_t trees, nodes; /* that were made */
	int64_t problems;
	/* Called for each problem, with a sentence that names what is concerned. */
	void (*problem)(void *ctx, struct str text);
	void *ctx;
};

/* Fails only when checking itself was not possible. */
enum status check_run(struct store *s, struct check_report *r, struct err *err) MUST_USE;

#endif
