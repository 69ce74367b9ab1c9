/*
 * What is meant by the ids that somebody wants to be purged.
 *
 *     ids ──► uuids of lines ──► files that have them ──► hashes of these lines ──► every file
 *      └────► sessions ────────► files that are theirs ─► hashes of all lines ──┘
 *                                                       (purge_scan.c)
 *
 * A message is known by the uuids of its lines; copies with other uuids are told by the forest
 * (query/forest.h). A line without a uuid is known by its place. Of a session or tree no line has to be known
 * here: all of its files go.
 */
#include "ingest/purge_list.h"

#include "ingest/purge_scan.h"
#include "ingest/scrub.h"
#include "query/grove.h"
#include "query/variant.h"
#include "store/source.h"
#include "store/tombstone.h"

#include <string.h>

struct finding {
	struct purge_list *l;
	struct store *s;
	struct purge_wanted wanted;
};

static void finding_release(struct finding *f)
{
	map_release(&f->wanted.uuids);
	map_release(&f->wanted.looked);
	map_release(&f->wanted.beside);
}

void purge_list_release(struct purge_list *l)
{
	map_release(&l->lines);
	map_release(&l->sources);
	map_release(&l->sessions);
	arena_release(&l->mem);
}

struct purge_source *purge_list_source(struct purge_list *l, int64_t row)
{
	struct purge_source *p = map_get(&l->sources, purge_row_key(&row));

	if (p)
		return p;
	p = arena_alloc(&l->mem, sizeof *p);
	p->row = row;
	p->next = l->first_source;
	l->first_source = p;
	map_put(&l->sources, purge_row_key(&p->row), p);
	return p;
}

/* Puts a copy of the key; what it leads to does not matter. */
static void note(struct finding *f, struct map *map, struct str key)
{
	if (!map_get(map, key))
		map_put(map, arena_str(&f->l->mem, key), f);
}

/* ---- Lines that were asked for ------------------------------------------------ */

static void add_uuid(struct finding *f, const struct uuid *key)
{
	note(f, &f->wanted.uuids, purge_id_key(key));
}

/* Known by the version that has it as a line of its own, and not shared with an older one. */
static enum status add_nameless(struct finding *f, int64_t generation, int64_t offset, struct err *err)
{
	struct purge_place *n = arena_alloc(&f->l->mem, sizeof *n);
	struct generation g;
	int64_t from;

	for (;; generation = g.base) {
		if (generation_get(f->s, generation, &g, err) ||
		    scrub_line_start(f->s, g.row, g.shared, &from, err))
			return err_failed(err->status);
		if (offset >= from || !g.base)
			break;
	}
	*n = (struct purge_place){ f->wanted.nameless, generation, offset };
	f->wanted.nameless = n;
	return STATUS_OK;
}

static enum status take_source(void *ctx, int64_t source, struct err *err)
{
	struct finding *f = ctx;

	(void)err;
	note(f, &f->wanted.looked, purge_row_key(&source));
	return STATUS_OK;
}

/* Copies of a line with other uuids: of the messages that are joined with its message, the lines that say the
 * same. */
static void add_copies(struct finding *f, const struct forest *fo, int64_t session, int64_t offset)
{
	uint32_t source, line, n;

	if (!forest_find_line(fo, session, offset, &source, &line))
		return;
	n = fo->sources[source].nodes[line];
	if (n == FOREST_NONE || fo->nodes[n].message == FOREST_NONE)
		return;
	for (uint32_t m = fo->messages[fo->nodes[n].message].canonical; m != FOREST_NONE;
	     m = fo->messages[m].next_copy)
		for (uint32_t k = fo->messages[m].first; k != FOREST_NONE; k = fo->nodes[k].next)
			if (forest_line(fo, k)->has_key &&
			    forest_line(fo, k)->content == forest_line(fo, n)->content)
				add_uuid(f, &forest_line(fo, k)->key);
}

/* A line by its place; `fo` has it unless it is of an older version. */
static enum status add_line(struct finding *f, const struct forest *fo, int64_t session, int64_t offset,
			    struct err *err)
{
	struct session of;
	struct node_name name;
	struct node node;
	struct uuid key, id;

	if (entry_get(f->s, session, offset, &f->l->mem, &node, &name, err) ||
	    session_get(f->s, session, &f->l->mem, &of, err) || take_source(f, of.source, err))
		return err_failed(err->status);
	if (!name.uuid.p)
		return add_nameless(f, of.generation, offset, err);
	key = line_key(name.uuid);
	add_uuid(f, &key);
	id = node_id(&name, PART_LINE);
	if (entry_sources(f->s, &id, take_source, f, err))
		return err_failed(err->status);
	add_copies(f, fo, session, offset);
	return STATUS_OK;
}

struct message_of {
	struct finding *f;
	const struct forest *forest;
	int64_t session;
};

static enum status add_message_line(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	const struct message_of *m = ctx;

	(void)length;
	return add_line(m->f, m->forest, m->session, offset, err);
}

static uint32_t turn_of(const struct forest *fo, uint32_t m)
{
	while (fo->messages[m].turn == FOREST_NONE && fo->messages[m].prev != FOREST_NONE)
		m = fo->messages[m].prev;
	return fo->messages[m].turn == FOREST_NONE ? m : fo->messages[m].turn;
}

static void add_message(struct finding *f, const struct forest *fo, uint32_t message)
{
	for (uint32_t m = message; m != FOREST_NONE; m = fo->messages[m].next_copy)
		for (uint32_t n = fo->messages[m].first; n != FOREST_NONE; n = fo->nodes[n].next)
			if (forest_line(fo, n)->has_key)
				add_uuid(f, &forest_line(fo, n)->key);
}

/* All messages of the turn that begins with a line, in every copy. */
static enum status add_turn(struct finding *f, const struct forest *fo, const struct node *node,
			    struct err *err)
{
	uint32_t source, line, message, turn;

	if (add_line(f, fo, node->session, node->offset, err))
		return err_failed(err->status);
	if (!forest_find_line(fo, node->session, node->offset, &source, &line))
		return STATUS_OK;
	message = forest_message_of(fo, source, line);
	for (uint32_t i = 0; message == FOREST_NONE && i < fo->order_count;
	     i++) /* it begins with a compaction */
		if (fo->messages[fo->order[i]].boundary != FOREST_NONE &&
		    fo->messages[fo->order[i]].boundary == fo->sources[source].nodes[line])
			message = fo->order[i];
	if (message == FOREST_NONE)
		return STATUS_OK;
	turn = turn_of(fo, message);
	for (uint32_t i = 0; i < fo->order_count; i++)
		if (turn_of(fo, fo->order[i]) == turn)
			add_message(f, fo, fo->order[i]);
	return STATUS_OK;
}

static enum status add_node(struct finding *f, const struct node *node, struct err *err)
{
	struct forest fo CLEANUP(forest_release) = FOREST_INIT;
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct message_of m = { f, &fo, node->session };
	uint32_t source;

	if (read_begin(f->s, &snapshot, err) || forest_load(f->s, node->session, &fo, &source, err))
		return err_failed(err->status);
	if (node->part == PART_TURN)
		return add_turn(f, &fo, node, err);
	if (node->part == PART_MESSAGE)
		return message_lines(f->s, node, add_message_line, &m, err);
	return add_line(f, &fo, node->session, node->offset, err);
}

/* ---- Files that were asked for ------------------------------------------------- */

static enum status take_whole(void *ctx, int64_t source, struct err *err)
{
	(void)err;
	purge_list_source(((struct finding *)ctx)->l, source)->whole = true;
	return STATUS_OK;
}

/* A sub-agent whose conversation nobody knows is of no session. */
static enum status add_session(struct finding *f, const struct uuid *session, struct err *err)
{
	if (uuid_eq(session, &(struct uuid){ 0 }))
		return STATUS_OK;
	note(f, &f->l->sessions, purge_id_key(session));
	return session_sources(f->s, session, take_whole, f, err);
}

/* How much of a transcript is in a tree: nothing, some lines, or all that are in any. */
enum share { SHARE_NONE, SHARE_SOME, SHARE_ALL };

static enum share share_of(const struct grove *g, uint32_t source, uint32_t tree)
{
	bool here = false, elsewhere = false;

	for (uint32_t i = 0; i < g->forest.sources[source].chain.line_count; i++) {
		uint32_t of = grove_tree_of_line(g, source, i);

		here |= of == tree;
		elsewhere |= of != tree && of != FOREST_NONE;
	}
	return !here ? SHARE_NONE : elsewhere ? SHARE_SOME : SHARE_ALL;
}

/* A transcript that is in the tree, with its session if it is a conversation; of one that is in others, too, the
 * lines. */
static enum status add_share(struct finding *f, const struct grove *g, uint32_t source, uint32_t tree,
			     struct err *err)
{
	const struct forest_source *from = &g->forest.sources[source];
	enum share share = share_of(g, source, tree);

	for (uint32_t i = 0; share == SHARE_SOME && i < from->chain.line_count; i++)
		if (from->chain.lines[i].has_key && grove_tree_of_line(g, source, i) == tree)
			add_uuid(f, &from->chain.lines[i].key);
	if (share != SHARE_ALL || from->embedded)
		return STATUS_OK;
	if (take_whole(f, from->session.source, err))
		return err_failed(err->status);
	return from->agent.n ? STATUS_OK : add_session(f, &from->session.id, err);
}

/* The tree with this id, or, without a node, that of a transcript. */
static enum status add_tree(struct finding *f, int64_t row, const struct node *node, struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct grove_ref r;
	uint32_t tree;
	bool is_there = true;

	if (read_begin(f->s, &snapshot, err) || grove_load(f->s, row, &g, err) ||
	    (node && grove_find(&g, node, &r, &is_there, err)))
		return err_failed(err->status);
	tree = !node ? grove_tree_of_source(&g, g.source) : is_there ? grove_tree(&g, r) : FOREST_NONE;
	if (tree == FOREST_NONE)
		return err_fail(err, STATUS_NOT_FOUND, "this is in no tree");
	for (uint32_t i = 0; i < g.forest.source_count; i++)
		if (add_share(f, &g, i, tree, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status add_transcript(struct finding *f, int64_t row, struct err *err)
{
	struct session session;
	struct str path;

	if (session_get(f->s, row, &f->l->mem, &session, err))
		return err_failed(err->status);
	path = str_sub(session.path, 0, session.path.n - STR(".jsonl").n);
	note(f, &f->wanted.beside, arena_printf(&f->l->mem, "%.*s.meta.json", STR_ARG(path)));
	return take_whole(f, session.source, err);
}

static enum status add_subject(struct finding *f, const struct purge_subject *p, struct err *err)
{
	char text[UUID_TEXT + 1];
	struct id_match found;
	size_t count = 0;

	if (p->transcript)
		return p->tree ? add_tree(f, p->transcript, NULL, err) : add_transcript(f, p->transcript, err);
	uuid_print(&p->id, text);
	if (id_search(f->s, str_of(text), 0, &found, 1, &count, err) ||
	    (!count && variant_search(f->s, str_of(text), 0, &found, 1, &count, err)))
		return err_failed(err->status);
	if (!count)
		return err_fail(err, STATUS_NOT_FOUND, "nothing that is mirrored has the id %s", text);
	if (p->tree || (!found.is_session && found.node.part == PART_TREE))
		return add_tree(f, found.session, found.is_session ? NULL : &found.node, err);
	return found.is_session ? add_session(f, &found.id, err) : add_node(f, &found.node, err);
}

/* Which sources have lines that were asked for: copies may be anywhere. What is no UUID was looked for when
 * it was added. */
static enum status find_holders(struct finding *f, struct err *err)
{
	for (size_t i = 0; i < f->wanted.uuids.cap; i++) {
		struct str key = f->wanted.uuids.slots[i].key;
		struct uuid uuid, id;
		char text[UUID_TEXT + 1];

		if (!f->wanted.uuids.slots[i].value)
			continue;
		memcpy(uuid.b, key.p, UUID_BYTES);
		uuid_print(&uuid, text);
		id = uuid_of_parts(&(struct str){ text, UUID_TEXT }, 1);
		if (entry_sources(f->s, &id, take_source, f, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status purge_list_find(struct purge_list *l, struct store *s, const struct purge_subject *subjects,
			    size_t count, const struct purge_options *o, struct purge_report *report,
			    struct err *err)
{
	struct finding f CLEANUP(finding_release) = { .l = l, .s = s };

	*report = (struct purge_report){ 0 };
	if (tombstone_salt(s, &l->salt, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (add_subject(&f, &subjects[i], err))
			return err_failed(err->status);
	if (find_holders(&f, err))
		return err_failed(err->status);
	if (purge_scan(l, s, &f.wanted, o, report, err))
		return err_failed(err->status);
	if (!l->first_line && !l->first_source && l->damaged)
		return err_fail(
			err, STATUS_CORRUPT,
			"what is to be purged cannot be read; if 'arbor sync --force' mends it, try again");
	return STATUS_OK;
}

/* ---- Writing --------------------------------------------------------------------- */

/* What was asked for by its id; sessions have theirs besides. */
static enum status write_subject(const struct purge_list *l, struct store *s, const struct purge_subject *p,
				 int64_t at, struct err *err)
{
	if (p->transcript || (!p->tree && map_get(&l->sessions, purge_id_key(&p->id))))
		return STATUS_OK;
	return tombstone_add(s, p->tree ? TOMBSTONE_TREE : TOMBSTONE_NODE, &p->id, at, err);
}

static enum status write_sessions(const struct purge_list *l, struct store *s, int64_t at, struct err *err)
{
	struct uuid id;

	for (size_t i = 0; i < l->sessions.cap; i++) {
		if (!l->sessions.slots[i].value)
			continue;
		memcpy(id.b, l->sessions.slots[i].key.p, UUID_BYTES);
		if (tombstone_add(s, TOMBSTONE_SESSION, &id, at, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status purge_list_write(const struct purge_list *l, struct store *s,
			     const struct purge_subject *subjects, size_t count, struct err *err)
{
	int64_t at = store_now(s);

	for (const struct purge_line *line = l->first_line; line; line = line->next)
		if (!line->spared && tombstone_add_line(s, line->hash, at, err))
			return err_failed(err->status);
	for (const struct purge_source *p = l->first_source; p; p = p->next)
		if (p->whole && tombstone_add_source(s, p->row, at, err))
			return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (write_subject(l, s, &subjects[i], at, err))
			return err_failed(err->status);
	return write_sessions(l, s, at, err);
}
