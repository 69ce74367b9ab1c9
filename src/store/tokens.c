/*
 * The numbers of an answer, packed.
 *
 * Whoever adds up what was spent reads every row there is, and of a row with a dozen columns
 * most of the time would go into taking it apart, column by column. So all that is only read
 * together is one value:
 *
 *     message   8 bytes, little-endian
 *     at        8 bytes, the same
 *     flags     1 byte: 1 final, 2 fast, 4 copied
 *     input, output, written, written_1h, read
 *               seven bits a byte, the lowest first, bit 7 = more follow; as unsigned numbers
 */
#include "store/tokens.h"

#include "store/db.h"

enum { FINAL = 1, FAST = 2, COPIED = 4, FIXED = 17 };

static uint8_t *put_fixed(uint8_t *to, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		*to++ = (uint8_t)(v >> 8 * i);
	return to;
}

static uint64_t get_fixed(const uint8_t *from)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v |= (uint64_t)from[i] << 8 * i;
	return v;
}

static uint8_t *put_number(uint8_t *to, int64_t number)
{
	uint64_t v = (uint64_t)number;

	for (; v > 0x7f; v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to++ = (uint8_t)v;
	return to;
}

/* NULL when it does not end before `end`, or has more than 64 bits. */
static const uint8_t *get_number(const uint8_t *from, const uint8_t *end, int64_t *out)
{
	uint64_t v = 0;

	for (unsigned shift = 0; from < end && shift < 64; shift += 7) {
		uint8_t byte = *from++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = (int64_t)v;
			return from;
		}
	}
	return NULL;
}

size_t tokens_pack(const struct tokens *t, uint8_t out[TOKENS_BYTES])
{
	uint8_t *to = put_fixed(put_fixed(out, t->message), (uint64_t)t->at);

	*to++ = (uint8_t)((t->final ? FINAL : 0) | (t->fast ? FAST : 0) | (t->copied ? COPIED : 0));
	to = put_number(put_number(to, t->input), t->output);
	to = put_number(put_number(put_number(to, t->written), t->written_1h), t->read);
	return (size_t)(to - out);
}

bool tokens_unpack(struct str bytes, struct tokens *out)
{
	int64_t *const numbers[] = { &out->input, &out->output, &out->written, &out->written_1h, &out->read };
	const uint8_t *from = (const uint8_t *)bytes.p, *end = from + bytes.n;

	*out = (struct tokens){ 0 };
	if (bytes.n < FIXED)
		return false;
	out->message = get_fixed(from);
	out->at = (int64_t)get_fixed(from + 8);
	out->final = from[16] & FINAL;
	out->fast = from[16] & FAST;
	out->copied = from[16] & COPIED;
	from += FIXED;
	for (size_t i = 0; i < COUNT(numbers); i++)
		if (!(from = get_number(from, end, numbers[i])))
			return false;
	return from == end;
}

enum status tokens_damaged(const struct store *s, struct err *err)
{
	return err_fail(err, STATUS_CORRUPT, "%s: what answers cost is damaged; 'arbor rebuild' makes it anew",
			s->path);
}

static void raise_to(int64_t *to, int64_t from)
{
	if (from > *to)
		*to = from;
}

void tokens_raise(struct tokens *to, const struct tokens *from)
{
	raise_to(&to->input, from->input);
	raise_to(&to->output, from->output);
	raise_to(&to->written, from->written);
	raise_to(&to->written_1h, from->written_1h);
	raise_to(&to->read, from->read);
	to->final |= from->final;
	to->fast |= from->fast;
	to->copied |= from->copied;
}
