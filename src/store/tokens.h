/*
 * What lines tell of an answer's cost, as a row of `usage` has it.
 */
#ifndef ARBOR_STORE_TOKENS_H
#define ARBOR_STORE_TOKENS_H

#include "base/err.h"
#include "store/store.h"

struct tokens {
	uint64_t message; /* hash of its id; of its uuid where it has none */
	int64_t at;	  /* ms, of its first line; 0 = it has no time */
	int64_t input, output, written, written_1h, read;
	bool final; /* a line has a stop reason */
	bool fast;  /* asked for in a hurry */
	bool copied; /* a line says where it was forked from */
};

enum { TOKENS_BYTES = 8 + 8 + 1 + 5 * 10 }; /* at most */

/* Returns how many bytes there are. */
size_t tokens_pack(const struct tokens *t, uint8_t out[TOKENS_BYTES]);

/* False: they are no such bytes. */
bool tokens_unpack(struct str bytes, struct tokens *out) MUST_USE;

/* What to say then. */
enum status tokens_damaged(const struct store *s, struct err *err);

/* Of each number the larger one, of what holds for either that it does. */
void tokens_raise(struct tokens *to, const struct tokens *from);

#endif
