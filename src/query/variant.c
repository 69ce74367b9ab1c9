/*
 * Their ids are not stored: they follow from the bytes, and there are so few of these lines
 * that all of them are looked at when somebody asks for one.
 */
#include "query/variant.h"

#include "query/forest_load.h"
#include "query/transcript.h"
#include "store/variant.h"

#include <string.h>

struct uuid variant_id(const struct record_reader *r, const struct record *rec)
{
	uint8_t digest[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1], text[UUID_TEXT + 1];
	struct str name = rec->uuid;
	struct uuid uuid;

	record_digest(r, rec, digest);
	hex_encode(digest, sizeof digest, hex);
	if (uuid_parse(rec->uuid, &uuid)) {
		uuid_print(&uuid, text);
		name = str_of(text);
	}
	return uuid_of_parts((struct str[]){ name, str_of(hex) }, 2);
}

enum status variant_id_of(struct store *s, const struct record_reader *r, const struct record *rec,
			  const struct node_name *name, bool *is_one, struct uuid *out, struct err *err)
{
	struct uuid line = node_id(name, PART_LINE);

	*is_one = false;
	if (!name->uuid.p)
		return STATUS_OK;
	if (variant_is(s, &line, is_one, err))
		return err_failed(err->status);
	if (*is_one)
		*out = variant_id(r, rec);
	return STATUS_OK;
}

/* ---- By the beginning of an id ------------------------------------------------- */

struct searching {
	struct store *store;
	struct uuid low, high;
	struct id_match *out;
	size_t most, count;
	struct transcript transcript;
	struct arena mem;
	struct session session;
	struct node node; /* in hand */
};

static void searching_release(struct searching *y)
{
	transcript_release(&y->transcript);
	arena_release(&y->mem);
}

static bool is_listed(const struct searching *y, const struct uuid *id)
{
	for (size_t i = 0; i < y->count; i++)
		if (uuid_eq(&y->out[i].id, id))
			return true;
	return false;
}

static enum status take_record(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct searching *y = ctx;
	struct uuid id = variant_id(line->reader, line->record);

	(void)err;
	*go_on = false;
	if (memcmp(id.b, y->low.b, UUID_BYTES) >= 0 && memcmp(id.b, y->high.b, UUID_BYTES) <= 0 &&
	    !is_listed(y, &id))
		y->out[y->count++] =
			(struct id_match){ .id = id, .session = y->node.session, .node = y->node };
	return STATUS_OK;
}

static enum status look_at(void *ctx, const struct node *line, const struct node_name *name, bool *go_on,
			   struct err *err)
{
	struct searching *y = ctx;

	(void)name;
	y->node = *line;
	if (y->session.row != line->session &&
	    session_get(y->store, line->session, &y->mem, &y->session, err))
		return err_failed(err->status);
	if (transcript_each(&y->transcript, y->store, &y->session, line->offset, line->offset + line->length,
			    take_record, y, err))
		return err_failed(err->status);
	*go_on = y->count < y->most;
	return STATUS_OK;
}

enum status variant_search(struct store *s, struct str prefix, int64_t within, struct id_match *out,
			   size_t most, size_t *count, struct err *err)
{
	struct searching y CLEANUP(searching_release) = { .store = s, .out = out, .most = most };

	*count = 0;
	if (!uuid_range(prefix, &y.low, &y.high))
		return STATUS_OK;
	transcript_init(&y.transcript);
	if (variant_each(s, within, look_at, &y, err))
		return err_failed(err->status);
	*count = y.count;
	return STATUS_OK;
}

/* ---- Which is meant ------------------------------------------------------------ */

static bool is_known(const struct forest *f, const struct forest_copy *c)
{
	return !f->sources[c->source].chain.lines[c->line].shadowed;
}

/* The first content in canonical order that a client still knows from its file, which it does
 * not where a later line has the same uuid. */
static bool choose_canonical(const struct forest *f, const struct uuid *key, struct forest_copy *out)
{
	uint32_t head = 0;

	while (head < f->node_count && (f->nodes[head].variant || !uuid_eq(&forest_line(f, head)->key, key)))
		head++;
	if (head == f->node_count)
		return false;
	*out = f->nodes[head].canon;
	for (uint32_t n = head; n != FOREST_NONE && !is_known(f, out); n = f->nodes[n].next_variant)
		if (is_known(f, &f->nodes[n].canon))
			*out = f->nodes[n].canon;
	return true;
}

/* The copy of a line that is meant by its uuid. */
static bool choose(const struct forest *f, int64_t within, const struct node *node, struct forest_copy *out)
{
	uint32_t source, line;
	const struct chain *c;

	if (!forest_find_line(f, node->session, node->offset, &source, &line))
		return false;
	c = &f->sources[source].chain;
	if (!within)
		return choose_canonical(f, &c->lines[line].key, out);
	*out = (struct forest_copy){ .source = source, .line = chain_find(c, &c->lines[line].key) };
	return out->line != CHAIN_NONE;
}

enum status variant_choose(struct store *s, int64_t within, struct node *node, struct err *err)
{
	struct forest f CLEANUP(forest_release) = FOREST_INIT;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct forest_copy chosen;
	struct node_name name;
	struct uuid id = node->id;
	struct node line;
	uint32_t source;
	bool is_one;

	if (entry_get(s, node->session, node->offset, &mem, &line, &name, err))
		return err_failed(err->status);
	line.id = node_id(&name, PART_LINE);
	if (variant_is(s, &line.id, &is_one, err))
		return err_failed(err->status);
	if (!is_one)
		return STATUS_OK;
	if (forest_load(s, node->session, &f, &source, err))
		return err_failed(err->status);
	if (!choose(&f, within, node, &chosen))
		return STATUS_OK;
	if (entry_get(s, f.sources[chosen.source].session.row,
		      f.sources[chosen.source].chain.lines[chosen.line].offset, &mem, &line, &name, err))
		return err_failed(err->status);
	/* There it may be the second line of its message, which has another id then. */
	if (node->part == PART_MESSAGE && line.first != line.offset)
		return STATUS_OK;
	line.part = node->part;
	line.id = id;
	*node = line;
	return STATUS_OK;
}

/* ---- Places --------------------------------------------------------------------- */

struct placing {
	node_fn *fn;
	void *ctx;
	bool any;
};

static enum status pass_on(void *ctx, const struct node *node, struct err *err)
{
	struct placing *p = ctx;

	p->any = true;
	return p->fn(p->ctx, node, err);
}

enum status node_places(struct store *s, const struct uuid *id, node_fn *fn, void *ctx, struct err *err)
{
	struct placing p = { .fn = fn, .ctx = ctx };
	char text[UUID_TEXT + 1];
	struct id_match match;
	size_t count = 0;
	bool variants;

	if (node_each(s, id, pass_on, &p, err))
		return err_failed(err->status);
	if (p.any)
		return STATUS_OK;
	uuid_print(id, text);
	if (variant_any(s, &variants, err) ||
	    (variants && variant_search(s, str_from(text, UUID_TEXT), 0, &match, 1, &count, err)))
		return err_failed(err->status);
	return count ? fn(ctx, &match.node, err) : STATUS_OK;
}

struct choosing {
	int64_t session;
	struct node *out;
	bool found;
};

static enum status choose_place(void *ctx, const struct node *node, struct err *err)
{
	struct choosing *c = ctx;

	(void)err;
	if (!c->found || (node->session == c->session && c->out->session != c->session))
		*c->out = *node;
	c->found = true;
	return STATUS_OK;
}

enum status node_place(struct store *s, const struct uuid *id, int64_t session, struct node *out, bool *found,
		       struct err *err)
{
	struct choosing c = { .session = session, .out = out };

	if (node_places(s, id, choose_place, &c, err))
		return err_failed(err->status);
	*found = c.found;
	return STATUS_OK;
}
