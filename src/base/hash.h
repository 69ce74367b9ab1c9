/*
 * Hashes.
 *
 * SHA-256 names content that leaves the process (ids, digests people compare
 * with sha256sum); SHA-1 exists only because UUID version 5 is defined with it.
 * hash64() is fast and not cryptographic: change detection and tables, never
 * identity.
 */
#ifndef ARBOR_BASE_HASH_H
#define ARBOR_BASE_HASH_H

#include "base/str.h"

enum { SHA1_BYTES = 20, SHA256_BYTES = 32 };

/* Streaming state of either; `length` counts bytes fed so far. */
struct sha {
	uint32_t h[8];
	uint64_t length;
	uint8_t block[64];
};

void sha256_init(struct sha *s);
void sha256_add(struct sha *s, const void *bytes, size_t n);
void sha256_end(struct sha *s, uint8_t out[SHA256_BYTES]);
void sha256(struct str bytes, uint8_t out[SHA256_BYTES]);

void sha1_init(struct sha *s);
void sha1_add(struct sha *s, const void *bytes, size_t n);
void sha1_end(struct sha *s, uint8_t out[SHA1_BYTES]);

/* XXH3, 64 bit, seed 0: the value stored with archive blocks. */
uint64_t hash64(const void *bytes, size_t n);

/* Lower-case hex, NUL-terminated; `out` has room for 2 * n + 1. */
void hex_encode(const uint8_t *bytes, size_t n, char *out);

#endif
