/*
 * UUIDs: 16 bytes in network order, as RFC 9562 writes them.
 */
#ifndef ARBOR_BASE_UUID_H
#define ARBOR_BASE_UUID_H

#include "base/err.h"

enum { UUID_BYTES = 16, UUID_TEXT = 36 };

struct uuid {
	uint8_t b[UUID_BYTES];
};

/* Canonical lower-case text and a NUL. */
void uuid_print(const struct uuid *u, char out[UUID_TEXT + 1]);

/* Exactly the 8-4-4-4-12 form, either case. False leaves *out untouched. */
bool uuid_parse(struct str text, struct uuid *out);

/* The smallest and the largest that begin with these hex digits, dashes ignored. False
 * when they are none, too few (LIMIT_ID_PREFIX) or too many. */
bool uuid_range(struct str prefix, struct uuid *low, struct uuid *high);

bool uuid_eq(const struct uuid *a, const struct uuid *b);

/* Random (version 4), from the kernel. */
enum status uuid_random(struct uuid *out, struct err *err) MUST_USE;

/* Name-based (version 5): SHA-1 of namespace and name. */
struct uuid uuid_v5(const struct uuid *space, struct str name);

/* RFC 9562's OID namespace, root of every id Arbor makes. */
extern const struct uuid uuid_ns_oid;

/*
 * Arbor's own ids: version 5 in the namespace v5(OID, "arbor"), of the parts
 * joined by one NUL byte. No part may contain a NUL; docs/DATA.md lists every
 * use.
 */
struct uuid uuid_of_parts(const struct str *parts, size_t count);

#endif
