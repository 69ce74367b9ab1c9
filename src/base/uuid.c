/*
 * UUIDs as RFC 9562 has them: version 4 from the kernel's random source,
 * version 5 from SHA-1.
 *
 * Arbor's public ids are version 5 and must come out the same in every build
 * for ever: nothing here may depend on time, place or byte order. The version
 * and the variant are set over the hash, whose first 16 bytes are the rest.
 */
#include "base/uuid.h"

#include "base/hash.h"
#include "base/limits.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* 6ba7b812-9dad-11d1-80b4-00c04fd430c8 */
const struct uuid uuid_ns_oid = { {
	0x6b, 0xa7, 0xb8, 0x12, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8,
} };

/* v5(uuid_ns_oid, "arbor"), written out to save a hash for every id; a unit
 * test computes it again. 1e9ff67a-50ce-5d6f-aa29-8f27325a2a50 */
static const struct uuid ns_arbor = { {
	0x1e, 0x9f, 0xf6, 0x7a, 0x50, 0xce, 0x5d, 0x6f, 0xaa, 0x29, 0x8f, 0x27, 0x32, 0x5a, 0x2a, 0x50,
} };

/* Where a dash stands in front of byte `i` of the text form. */
static bool dash_before(size_t i)
{
	return i == 4 || i == 6 || i == 8 || i == 10;
}

void uuid_print(const struct uuid *u, char out[UUID_TEXT + 1])
{
	char *to = out;

	for (size_t i = 0; i < UUID_BYTES; i++) {
		if (dash_before(i))
			*to++ = '-';
		hex_encode(&u->b[i], 1, to);
		to += 2;
	}
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool uuid_parse(struct str text, struct uuid *out)
{
	const char *from = text.p;
	struct uuid u;

	if (text.n != UUID_TEXT)
		return false;
	for (size_t i = 0; i < UUID_BYTES; i++) {
		int high, low;

		if (dash_before(i) && *from++ != '-')
			return false;
		high = hex_value(*from++);
		low = hex_value(*from++);
		if (high < 0 || low < 0)
			return false;
		u.b[i] = (uint8_t)(high << 4 | low);
	}
	*out = u;
	return true;
}

bool uuid_eq(const struct uuid *a, const struct uuid *b)
{
	return memcmp(a->b, b->b, UUID_BYTES) == 0;
}

bool uuid_range(struct str prefix, struct uuid *low, struct uuid *high)
{
	size_t digits = 0;

	memset(low->b, 0, UUID_BYTES);
	memset(high->b, 0xff, UUID_BYTES);
	for (size_t i = 0; i < prefix.n; i++) {
		char c = prefix.p[i];
		int v = c >= '0' && c <= '9'		     ? c - '0'
			: (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
							     : -1;
		uint8_t *l, *h;

		if (c == '-')
			continue;
		if (v < 0 || digits == 2 * (size_t)UUID_BYTES)
			return false;
		l = &low->b[digits / 2];
		h = &high->b[digits / 2];
		*l = (uint8_t)(digits % 2 ? *l | v : v << 4);
		*h = (uint8_t)(digits % 2 ? (*h & 0xf0) | v : v << 4 | 0x0f);
		digits++;
	}
	return digits >= LIMIT_ID_PREFIX;
}

static void set_version(struct uuid *u, unsigned version)
{
	u->b[6] = (uint8_t)((u->b[6] & 0x0F) | version << 4);
	u->b[8] = (uint8_t)((u->b[8] & 0x3F) | 0x80);
}

enum status uuid_random(struct uuid *out, struct err *err)
{
	struct uuid u;
	ssize_t n;

	/* Up to 256 bytes come whole; only the wait for the first seed, early in
	 * the life of a machine, can be interrupted. */
	do
		n = getrandom(u.b, sizeof u.b, 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof u.b)
		return err_fail_errno(err, errno, "getting random bytes for an id");
	set_version(&u, 4);
	*out = u;
	return STATUS_OK;
}

static struct uuid v5_end(struct sha *s)
{
	uint8_t digest[SHA1_BYTES];
	struct uuid u;

	sha1_end(s, digest);
	memcpy(u.b, digest, UUID_BYTES);
	set_version(&u, 5);
	return u;
}

struct uuid uuid_v5(const struct uuid *space, struct str name)
{
	struct sha s;

	sha1_init(&s);
	sha1_add(&s, space->b, UUID_BYTES);
	sha1_add(&s, name.p, name.n);
	return v5_end(&s);
}

struct uuid uuid_of_parts(const struct str *parts, size_t count)
{
	struct sha s;

	sha1_init(&s);
	sha1_add(&s, ns_arbor.b, UUID_BYTES);
	for (size_t i = 0; i < count; i++) {
		if (i)
			sha1_add(&s, "", 1);
		sha1_add(&s, parts[i].p, parts[i].n);
	}
	return v5_end(&s);
}
