/*
 * Trees as text that can be compared: transcripts that belong together are a forest, each
 * forest comes once, and nothing in it depends on the order in which bytes came.
 *
 * Forests come in the order of their last touched transcript; inside, the order is the
 * forest's own, which follows from the paths of files and the lines in them. Ids are the
 * public ones. Of lines with the same uuid that say different things, all but the canonical
 * one have a number behind their id.
 */
#include "hub/dump_forest.h"

#include "base/numbers.h"
#include "query/grove.h"
#include "query/usage.h"

static const char *const roles[] = { "user", "assistant", "results", "client" };
static const char *const origins[] = { "none", "human", "notification", "compaction" };

struct dumping {
	struct call *call;
	int64_t *rows; /* of transcripts, in the order they are begun with */
	size_t count, cap;
	struct numbers done; /* rows whose forest was printed */
	struct buf line;
	/* The forest in hand. */
	struct grove grove;
	struct uuid *ids; /* of its messages */
};

static void dumping_release(struct dumping *d)
{
	mem_free(d->rows);
	mem_free(d->ids);
	buf_release(&d->line);
	grove_release(&d->grove);
}

void dump_word(struct buf *line, struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c <= ' ' || c >= 0x7f || c == '%')
			buf_printf(line, "%%%02X", c);
		else
			buf_byte(line, (char)c);
	}
}

static void add_uuid(struct buf *line, const struct uuid *id)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	buf_text(line, text);
}

static void add_variant(struct dumping *d, uint32_t node)
{
	if (d->grove.forest.nodes[node].variant)
		buf_printf(&d->line, "#%" PRIu32, d->grove.forest.nodes[node].variant + 1);
}

/* ---- Ids ------------------------------------------------------------------------- */

static enum status add_id(struct dumping *d, uint32_t node, int part, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct node_name name;
	struct uuid id;

	if (forest_name(d->call->store, &d->grove.forest, node, &mem, &name, err))
		return err_failed(err->status);
	id = node_id(&name, part);
	add_uuid(&d->line, &id);
	add_variant(d, node);
	return STATUS_OK;
}

static enum status add_line(struct dumping *d, uint32_t node, struct err *err)
{
	return add_id(d, node, PART_LINE, err);
}

static void add_message(struct dumping *d, uint32_t message)
{
	if (message == FOREST_NONE) {
		buf_byte(&d->line, '-');
		return;
	}
	add_uuid(&d->line, &d->ids[message]);
	add_variant(d, d->grove.forest.messages[message].first);
}

static enum status find_ids(struct dumping *d, struct err *err)
{
	d->ids = mem_resize(d->ids, (d->grove.forest.message_count + 1) * sizeof *d->ids);
	for (uint32_t m = 0; m < d->grove.forest.message_count; m++) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct node_name name;

		if (forest_name(d->call->store, &d->grove.forest, d->grove.forest.messages[m].first, &mem, &name, err))
			return err_failed(err->status);
		d->ids[m] = node_id(&name, PART_MESSAGE);
	}
	return STATUS_OK;
}

/* ---- Messages, turns, branches ----------------------------------------------------- */

static enum status dump_lines(struct dumping *d, const struct forest_message *m, struct err *err)
{
	buf_text(&d->line, " lines=");
	for (uint32_t n = m->first; n != FOREST_NONE; n = d->grove.forest.nodes[n].next) {
		if (add_line(d, n, err))
			return err_failed(err->status);
		buf_byte(&d->line, ',');
	}
	d->line.n--;
	return STATUS_OK;
}

static void dump_copies(struct dumping *d, const struct forest_message *m)
{
	const char *front = " copies=";

	for (uint32_t c = m->next_copy; c != FOREST_NONE; c = d->grove.forest.messages[c].next_copy) {
		buf_text(&d->line, front);
		add_message(d, c);
		front = ",";
	}
}

static enum status dump_turn(struct dumping *d, uint32_t message, struct err *err)
{
	const struct forest_message *m = &d->grove.forest.messages[message];

	if (d->grove.turns.of[message] != message)
		return STATUS_OK;
	buf_text(&d->line, "turn ");
	if (add_id(d, d->grove.turns.list[message].line, PART_TURN, err))
		return err_failed(err->status);
	buf_printf(&d->line, " origin=%s message=", origins[m->origin]);
	add_message(d, message);
	buf_byte(&d->line, '\n');
	return STATUS_OK;
}

static enum status dump_message(struct dumping *d, uint32_t message, struct err *err)
{
	const struct forest_message *m = &d->grove.forest.messages[message];

	buf_clear(&d->line);
	buf_text(&d->line, "message ");
	add_message(d, message);
	buf_printf(&d->line, " role=%s prev=", roles[m->role]);
	add_message(d, m->prev);
	if (m->sidechain)
		buf_text(&d->line, " aside=yes");
	buf_text(&d->line, " tree=");
	add_uuid(&d->line, &d->grove.trees[d->grove.spots[message].tree].id);
	if (dump_lines(d, m, err))
		return err_failed(err->status);
	dump_copies(d, m);
	buf_byte(&d->line, '\n');
	if (dump_turn(d, message, err))
		return err_failed(err->status);
	if (m->branches > 1) {
		buf_text(&d->line, "branch ");
		add_message(d, message);
		buf_printf(&d->line, " ways=%" PRIu32 "\n", m->branches);
	}
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

static enum status dump_continues(struct dumping *d, const struct forest_continues *c, struct err *err)
{
	buf_clear(&d->line);
	buf_text(&d->line, "continues ");
	if (add_line(d, c->from, err))
		return err_failed(err->status);
	buf_text(&d->line, " to=");
	if (add_line(d, c->to, err))
		return err_failed(err->status);
	buf_printf(&d->line, " inferred=%s\n", c->inferred ? "yes" : "no");
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

/* ---- Trees --------------------------------------------------------------------------- */

static enum status dump_tree(struct dumping *d, const struct grove_tree *t, struct err *err)
{
	buf_clear(&d->line);
	buf_text(&d->line, "tree ");
	add_uuid(&d->line, &t->id);
	buf_printf(&d->line, " aside=%s turns=%" PRIu32 " messages=%" PRIu32 " events=%" PRIu32 "\n",
		   t->aside ? "yes" : "no", t->turn_count, t->message_count, t->event_count);
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

/* What leads to a tree: the name made of a line. */
static enum status dump_name(struct dumping *d, uint32_t node, struct err *err)
{
	buf_clear(&d->line);
	buf_text(&d->line, "name ");
	if (add_id(d, node, PART_TREE, err))
		return err_failed(err->status);
	buf_text(&d->line, " tree=");
	add_uuid(&d->line, &d->grove.trees[d->grove.names[node]].id);
	buf_byte(&d->line, '\n');
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

static enum status dump_trees(struct dumping *d, struct err *err)
{
	const struct grove *g = &d->grove;

	for (uint32_t t = 0; t < g->tree_count; t++)
		if (dump_tree(d, &g->trees[t], err))
			return err_failed(err->status);
	for (uint32_t n = 0; n < g->forest.node_count; n++)
		if (g->names[n] != FOREST_NONE && dump_name(d, n, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* ---- Files -------------------------------------------------------------------------- */

/* Where a file would be gone on from. */
static enum status dump_head(struct dumping *d, uint32_t source, struct err *err)
{
	const struct forest_source *s = &d->grove.forest.sources[source];
	uint32_t leaf = s->embedded ? CHAIN_NONE : chain_leaf(&s->chain);

	if (s->embedded)
		return STATUS_OK;
	buf_clear(&d->line);
	buf_text(&d->line, "head ");
	add_uuid(&d->line, &s->session.source_id);
	buf_text(&d->line, " message=");
	add_message(d, leaf == CHAIN_NONE ? FOREST_NONE : forest_message_of(&d->grove.forest, source, leaf));
	buf_text(&d->line, " line=");
	if (leaf == CHAIN_NONE)
		buf_byte(&d->line, '-');
	else if (add_line(d, s->nodes[leaf], err))
		return err_failed(err->status);
	buf_byte(&d->line, '\n');
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

/* A sub-agent, in a file of its own or as progress lines tell of it, and its first message. */
static enum status dump_agent(struct dumping *d, uint32_t source, struct err *err)
{
	const struct forest_source *s = &d->grove.forest.sources[source];
	uint32_t first = FOREST_NONE;

	if (!s->agent.n || s->chain.line_count == 0)
		return STATUS_OK;
	for (uint32_t i = 0; first == FOREST_NONE && i < s->chain.line_count; i++)
		first = forest_message_of(&d->grove.forest, source, i);
	buf_clear(&d->line);
	buf_text(&d->line, "agent ");
	dump_word(&d->line, s->agent);
	buf_text(&d->line, " source=");
	add_uuid(&d->line, &s->session.source_id);
	buf_printf(&d->line, " told=%s first=", s->embedded ? "yes" : "no");
	add_message(d, first);
	buf_byte(&d->line, '\n');
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

/* ---- All forests --------------------------------------------------------------------- */

static enum status dump_forest(struct dumping *d, struct err *err)
{
	const struct forest *f = &d->grove.forest;
	uint32_t files = 0;

	for (uint32_t s = 0; s < f->source_count; s++) {
		files += !f->sources[s].embedded;
		numbers_put(&d->done, (uint64_t)f->sources[s].session.row, 1);
	}
	buf_clear(&d->line);
	buf_printf(&d->line, "forest files=%" PRIu32 " messages=%" PRIu32 "\n", files, f->order_count);
	if (find_ids(d, err) || call_bytes(d->call, buf_as_str(&d->line), err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < f->order_count; i++)
		if (dump_message(d, f->order[i], err))
			return err_failed(err->status);
	if (dump_trees(d, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < f->continues_count; i++)
		if (dump_continues(d, &f->continues[i], err))
			return err_failed(err->status);
	for (uint32_t s = 0; s < f->source_count; s++)
		if (dump_head(d, s, err) || dump_agent(d, s, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status take_row(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct dumping *d = ctx;

	(void)go_on;
	(void)err;
	if (d->count == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 256;
		d->rows = mem_resize(d->rows, d->cap * sizeof *d->rows);
	}
	d->rows[d->count++] = session->row;
	return STATUS_OK;
}

static enum status dump_usage(struct dumping *d, struct err *err)
{
	struct usage *list;
	size_t count;

	if (usage_all(d->call->store, USAGE_ORDERED, &d->call->mem, &list, &count, err))
		return err_failed(err->status);
	for (const struct usage *u = list; u < list + count; u++) {
		buf_clear(&d->line);
		buf_printf(&d->line, "usage %016" PRIx64 " at=%" PRId64 " input=%" PRId64 " output=%" PRId64,
			   u->message, u->at, u->input, u->output);
		buf_printf(&d->line, " written=%" PRId64 " written_1h=%" PRId64 " read=%" PRId64 " final=%s%s model=",
			   u->written, u->written_1h, u->read, u->final ? "yes" : "no", u->fast ? " fast=yes" : "");
		dump_word(&d->line, u->model);
		buf_byte(&d->line, '\n');
		if (call_bytes(d->call, buf_as_str(&d->line), err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status dump_forests(struct call *c, struct err *err)
{
	struct dumping d CLEANUP(dumping_release) = { .call = c, .line = BUF_INIT(GIB) };

	if (session_each(c->store, (struct str){ 0 }, take_row, &d, err))
		return err_failed(err->status);
	d.done = numbers_new(&c->mem, d.count);
	for (size_t i = 0; i < d.count; i++) {
		if (call_is_cancelled(c))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (numbers_get(&d.done, (uint64_t)d.rows[i]) != NUMBERS_NONE)
			continue;
		if (grove_load(c->store, d.rows[i], &d.grove, err) || dump_forest(&d, err))
			return err_failed(err->status);
		grove_release(&d.grove);
	}
	return dump_usage(&d, err);
}
