/*
 * lives FIRST[-LAST] STEPS [TMP]: whether made trees and nodes live as they are meant to, whatever is done to them.
 *
 * For each seed, random commands are given to a store and to a model: trees and nodes made, claimed, released, let
 * go, rescued, moved by force, collected, while days go by. After each of them both must have answered alike (done, or
 * refused) and must agree on the state of every tree and node, on when each is due, and on every claim. The model is a
 * few arrays; it works out from scratch, after each command, who stays and who does not. `arbor check` must find
 * nothing.
 *
 * A failure prints the commands so far, and the seed that makes it happen again.
 */
#include "store/check_trees.h"
#include "store/db.h"
#include "store/tree_life.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY ((int64_t)86400 * 1000)
enum { TREES = 4, NODES = 48, OWNERS = 2, ROOT = -1 };

static const struct life_windows windows = { 7 * DAY, 30 * DAY };
static const char *const owners[OWNERS] = { "ann", "bob" };

/* ---- The model ---------------------------------------------------------------------- */

enum mode { ACTIVE, SCHEDULED, ARCHIVED, PURGED };

struct thing {
	struct uuid id;
	bool is_there; /* it was made */
	bool let_go;
	bool ephemeral;
	int tree, parent; /* of a node; ROOT = directly below the root */
	int claims[OWNERS];
	int owner; /* of a tree: who made it */
	enum mode mode;
	int64_t due;
};

struct model {
	struct thing trees[TREES], nodes[NODES];
	int tree_count, node_count;
	int64_t now;
};

static int claims_on(const struct thing *x)
{
	int sum = 0;

	for (int i = 0; i < OWNERS; i++)
		sum += x->claims[i];
	return sum;
}

static bool node_stays(const struct model *m, int n)
{
	const struct thing *x = &m->nodes[n];

	if (x->mode == PURGED)
		return false;
	if (!x->let_go || claims_on(x))
		return true;
	for (int c = n + 1; c < m->node_count; c++)
		if (m->nodes[c].parent == n && node_stays(m, c))
			return true;
	return false;
}

static bool tree_stays(const struct model *m, int t)
{
	if (!m->trees[t].let_go || claims_on(&m->trees[t]))
		return true;
	for (int n = 0; n < m->node_count; n++)
		if (m->nodes[n].tree == t && m->nodes[n].mode != PURGED && claims_on(&m->nodes[n]))
			return true;
	return false;
}

static void enter(struct model *m, struct thing *x, enum mode mode)
{
	x->mode = mode;
	x->due = mode == SCHEDULED  ? m->now + windows.scheduled_ms
		 : mode == ARCHIVED ? m->now + windows.archived_ms
				    : 0;
}

static void settle_one(struct model *m, struct thing *x, bool stays)
{
	if (x->mode == PURGED)
		return;
	if (stays && x->mode != ACTIVE)
		enter(m, x, ACTIVE);
	if (!stays && x->mode == ACTIVE)
		enter(m, x, SCHEDULED);
}

/* What follows from all that was said. */
static void settle(struct model *m)
{
	for (int n = 0; n < m->node_count; n++)
		settle_one(m, &m->nodes[n], node_stays(m, n));
	for (int t = 0; t < m->tree_count; t++)
		settle_one(m, &m->trees[t], tree_stays(m, t));
}

static bool is_below(const struct model *m, int n, int top)
{
	while (n != ROOT && n != top)
		n = m->nodes[n].parent;
	return n == top;
}

static enum mode seen(const struct model *m, int n)
{
	enum mode own = m->nodes[n].mode, tree = m->trees[m->nodes[n].tree].mode;

	return own > tree ? own : tree;
}

static void forget(struct thing *x)
{
	memset(x->claims, 0, sizeof x->claims);
}

static void purge_node(struct model *m, struct thing *x)
{
	forget(x);
	enter(m, x, PURGED);
}

static void purge_tree(struct model *m, int t)
{
	for (int n = 0; n < m->node_count; n++)
		if (m->nodes[n].tree == t && m->nodes[n].mode != PURGED)
			purge_node(m, &m->nodes[n]);
	forget(&m->trees[t]);
	enter(m, &m->trees[t], PURGED);
}

/* Until when a child is not so far as `n` is to be; 0 = none is in the way. */
static int64_t slowest_child(const struct model *m, int n)
{
	int64_t most = 0;

	for (int c = n + 1; c < m->node_count; c++)
		if (m->nodes[c].parent == n && m->nodes[c].mode <= m->nodes[n].mode && m->nodes[c].due > most)
			most = m->nodes[c].due;
	return most;
}

/* Children have larger numbers than their parents, so they come first. */
static void collect_in(struct model *m, enum mode mode)
{
	for (int n = m->node_count - 1; n >= 0; n--) {
		struct thing *x = &m->nodes[n];
		int64_t until;

		if (x->mode != mode || x->due > m->now)
			continue;
		until = slowest_child(m, n);
		if (until)
			x->due = until > m->now ? until : m->now + 1;
		else if (mode == SCHEDULED)
			enter(m, x, ARCHIVED);
		else
			purge_node(m, x);
	}
	for (int t = 0; t < m->tree_count; t++) {
		if (m->trees[t].mode != mode || m->trees[t].due > m->now)
			continue;
		if (mode == SCHEDULED)
			enter(m, &m->trees[t], ARCHIVED);
		else
			purge_tree(m, t);
	}
}

/* ---- Both --------------------------------------------------------------------------- */

struct run {
	struct model m;
	struct store *s;
	uint64_t seed, random;
	char path[600];
	char log[65536];
	size_t logged;
	uint64_t steps, refused, moved;
};

static int64_t run_now(void *ctx)
{
	return ((struct run *)ctx)->m.now;
}

static void ATTR_PRINTF(2, 3) note(struct run *r, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(r->log + r->logged, sizeof r->log - r->logged, format, args);
	va_end(args);
	if (n > 0)
		r->logged = size_min(r->logged + (size_t)n, sizeof r->log - 1);
}

static NORETURN ATTR_PRINTF(2, 3) void die(struct run *r, const char *format, ...)
{
	va_list args;

	printf("seed %" PRIu64 ":\n%s", r->seed, r->log);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(1);
}

static uint64_t next_random(struct run *r)
{
	uint64_t z = r->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static int pick(struct run *r, int below)
{
	return (int)(next_random(r) % (uint64_t)below);
}

static void expect(struct run *r, enum status got, bool want, const struct err *err)
{
	if ((got == STATUS_OK) != want)
		die(r, "it was %s, and the model says otherwise: %s", got == STATUS_OK ? "done" : "refused",
		    got == STATUS_OK ? "" : err->text);
	if (got == STATUS_INTERNAL || got == STATUS_CORRUPT || got == STATUS_BUSY)
		die(r, "it failed: %s", err->text);
	r->refused += !want;
	note(r, " -> %s\n", want ? "done" : "refused");
}

/* ---- Commands ----------------------------------------------------------------------- */

static void make_tree(struct run *r)
{
	struct thing *x = &r->m.trees[r->m.tree_count];
	int owner = pick(r, OWNERS);
	struct err err;

	if (r->m.tree_count == TREES)
		return;
	note(r, "tree %d of %s", r->m.tree_count, owners[owner]);
	expect(r, tree_add(r->s, &(struct tree_new){ .owner = str_of(owners[owner]) }, &x->id, &err), true,
	       &err);
	x->is_there = true;
	x->claims[owner] = 1;
	x->owner = owner;
	r->m.tree_count++;
}

static void make_node(struct run *r)
{
	struct model *m = &r->m;
	struct thing *x = &m->nodes[m->node_count];
	struct tree_node_new what = { .kind = TREE_NODE_TEXT, .content = STR("x") };
	int parent = pick(r, m->node_count + 1) - 1, tree;
	struct err err;
	bool can;

	if (m->node_count == NODES || !m->tree_count)
		return;
	tree = parent == ROOT || pick(r, 20) == 0 ? pick(r, m->tree_count) : m->nodes[parent].tree;
	what.tree = m->trees[tree].id;
	what.parent = parent == ROOT ? NULL : &m->nodes[parent].id;
	what.ephemeral = pick(r, 2);
	can = m->trees[tree].mode == ACTIVE &&
	      (parent == ROOT || (m->nodes[parent].tree == tree && m->nodes[parent].mode < ARCHIVED));
	note(r, "node %d in tree %d below %d%s", m->node_count, tree, parent,
	     what.ephemeral ? ", ephemeral" : "");
	expect(r, tree_node_add(r->s, &what, &windows, &x->id, &err), can, &err);
	if (!can)
		return;
	x->is_there = true;
	x->tree = tree;
	x->parent = parent;
	x->ephemeral = x->let_go = what.ephemeral;
	m->node_count++;
}

static void claim_some(struct run *r, bool node)
{
	struct model *m = &r->m;
	int owner = pick(r, OWNERS), count = 1 + pick(r, 2), i;
	struct thing *x;
	int64_t now;
	struct err err;
	bool can;

	if (!(node ? m->node_count : m->tree_count))
		return;
	i = pick(r, node ? m->node_count : m->tree_count);
	x = node ? &m->nodes[i] : &m->trees[i];
	can = (node ? seen(m, i) : x->mode) < ARCHIVED;
	note(r, "%s claims %s %d, %d times", owners[owner], node ? "node" : "tree", i, count);
	expect(r,
	       node ? tree_node_claim(r->s, &x->id, str_of(owners[owner]), count, &now, &err)
		    : tree_claim(r->s, &x->id, str_of(owners[owner]), count, &now, &err),
	       can, &err);
	if (can)
		x->claims[owner] += count;
	if (can && now != x->claims[owner])
		die(r, "it says %" PRId64 " claims", now);
}

static void release_some(struct run *r, bool node)
{
	struct model *m = &r->m;
	int owner = pick(r, OWNERS), count, i;
	struct thing *x;
	int64_t now;
	struct err err;
	bool can;

	if (!(node ? m->node_count : m->tree_count))
		return;
	i = pick(r, node ? m->node_count : m->tree_count);
	x = node ? &m->nodes[i] : &m->trees[i];
	count = pick(r, 3) && x->claims[owner] ? x->claims[owner] : 1 + pick(r, 2);
	can = x->mode != PURGED && count <= x->claims[owner];
	note(r, "%s releases %s %d, %d times", owners[owner], node ? "node" : "tree", i, count);
	expect(r,
	       node ? tree_node_release(r->s, &x->id, str_of(owners[owner]), count, &windows, &now, &err)
		    : tree_release(r->s, &x->id, str_of(owners[owner]), count, &windows, &now, &err),
	       can, &err);
	if (can)
		x->claims[owner] -= count;
	if (can && !node && !claims_on(x))
		x->let_go = true;
}

static void schedule_one(struct run *r)
{
	struct model *m = &r->m;
	int owner = pick(r, OWNERS), i;
	struct thing *x;
	struct err err;
	bool can;

	if (!m->tree_count)
		return;
	i = pick(r, m->tree_count);
	x = &m->trees[i];
	can = x->mode < ARCHIVED && claims_on(x) == x->claims[owner];
	note(r, "%s schedules tree %d", owners[owner], i);
	expect(r, tree_schedule(r->s, &x->id, str_of(owners[owner]), &windows, &err), can, &err);
	if (!can)
		return;
	forget(x);
	x->let_go = true;
}

static void delete_one(struct run *r)
{
	struct model *m = &r->m;
	struct tree_change change;
	struct err err;
	bool can;
	int i;

	if (!m->node_count)
		return;
	i = pick(r, m->node_count);
	can = seen(m, i) != PURGED;
	note(r, "delete node %d", i);
	expect(r, tree_node_delete(r->s, &m->nodes[i].id, &windows, &change, &err), can, &err);
	for (int n = i; can && n < m->node_count; n++)
		if (is_below(m, n, i) && m->nodes[n].mode < ARCHIVED)
			m->nodes[n].let_go = true;
}

static void rescue_one(struct run *r, bool node)
{
	struct model *m = &r->m;
	struct tree_change change;
	struct thing *tree;
	struct err err;
	bool can;
	int i;

	if (!(node ? m->node_count : m->tree_count))
		return;
	i = pick(r, node ? m->node_count : m->tree_count);
	can = (node ? seen(m, i) : m->trees[i].mode) != PURGED;
	note(r, "rescue %s %d", node ? "node" : "tree", i);
	expect(r,
	       node ? tree_node_rescue(r->s, &m->nodes[i].id, &change, &err)
		    : tree_rescue(r->s, &m->trees[i].id, &err),
	       can, &err);
	if (!can)
		return;
	tree = &m->trees[node ? m->nodes[i].tree : i];
	if (!node || tree->mode >= SCHEDULED) {
		tree->let_go = false;
		if (!claims_on(tree))
			tree->claims[tree->owner] = 1;
	}
	for (int n = i; node && n < m->node_count; n++)
		if (is_below(m, n, i) && (n == i || !m->nodes[n].ephemeral))
			m->nodes[n].let_go = m->nodes[n].ephemeral = false; /* it is meant to stay now */
}

static void force_node(struct run *r, enum mode to)
{
	struct model *m = &r->m;
	bool force = pick(r, 2), can, claimed = false;
	struct tree_change change;
	struct err err;
	int i;

	if (!m->node_count)
		return;
	i = pick(r, m->node_count);
	for (int n = i; n < m->node_count; n++)
		claimed |= is_below(m, n, i) && m->nodes[n].mode != PURGED && claims_on(&m->nodes[n]);
	can = seen(m, i) != PURGED && (force || !claimed);
	note(r, "%s node %d%s", to == ARCHIVED ? "archive" : "purge", i, force ? " by force" : "");
	expect(r,
	       tree_node_move(r->s, &m->nodes[i].id, to == ARCHIVED ? LIFE_ARCHIVED : LIFE_PURGED, force,
			      &windows, &change, &err),
	       can, &err);
	for (int n = m->node_count - 1; can && n >= i; n--) {
		struct thing *x = &m->nodes[n];

		if (!is_below(m, n, i) || x->mode >= to)
			continue;
		x->let_go = true;
		forget(x);
		enter(m, x, to);
	}
}

static void force_tree(struct run *r, enum mode to)
{
	struct model *m = &r->m;
	bool force = pick(r, 2), can, claimed = false;
	struct tree_change change;
	struct err err;
	int i;

	if (!m->tree_count)
		return;
	i = pick(r, m->tree_count);
	for (int n = 0; n < m->node_count; n++)
		claimed |= m->nodes[n].tree == i && m->nodes[n].mode != PURGED && claims_on(&m->nodes[n]);
	can = m->trees[i].mode != PURGED && (force || !(claimed || claims_on(&m->trees[i])));
	note(r, "%s tree %d%s", to == ARCHIVED ? "archive" : "purge", i, force ? " by force" : "");
	expect(r,
	       tree_move(r->s, &m->trees[i].id, to == ARCHIVED ? LIFE_ARCHIVED : LIFE_PURGED, force, &windows,
			 &change, &err),
	       can, &err);
	if (!can)
		return;
	if (to == PURGED) {
		purge_tree(m, i);
		return;
	}
	for (int n = 0; n < m->node_count; n++)
		if (m->nodes[n].tree == i)
			forget(&m->nodes[n]);
	forget(&m->trees[i]);
	m->trees[i].let_go = true;
	if (m->trees[i].mode < ARCHIVED)
		enter(m, &m->trees[i], ARCHIVED);
}

static void collect(struct run *r)
{
	struct gc_options o = { .windows = windows, .dry_run = true };
	struct gc_report dry, part, wet = { 0 };
	struct err err;

	note(r, "collect");
	if (gc_run(r->s, &o, &dry, &err))
		die(r, "dry run: %s", err.text);
	o.dry_run = false;
	o.limit = pick(r, 3) ? 0 : 1 + pick(r, 3);
	do {
		if (gc_run(r->s, &o, &part, &err))
			die(r, "collecting: %s", err.text);
		wet.trees_archived += part.trees_archived;
		wet.trees_purged += part.trees_purged;
		wet.nodes_archived += part.nodes_archived;
		wet.nodes_purged += part.nodes_purged;
	} while (part.more);
	if (dry.trees_archived != wet.trees_archived || dry.trees_purged != wet.trees_purged ||
	    dry.nodes_archived != wet.nodes_archived || dry.nodes_purged != wet.nodes_purged)
		die(r, "the dry run said otherwise");
	r->moved += (uint64_t)(wet.trees_archived + wet.trees_purged + wet.nodes_archived + wet.nodes_purged);
	collect_in(&r->m, ARCHIVED);
	collect_in(&r->m, SCHEDULED);
	note(r, " -> done\n");
}

static void pass_time(struct run *r)
{
	static const int64_t spans[] = { 1,	  3600 * 1000,	DAY,	  3 * DAY, 7 * DAY - 1,
					 7 * DAY, 30 * DAY - 1, 30 * DAY, 37 * DAY };
	int64_t span = spans[pick(r, (int)COUNT(spans))];

	note(r, "%" PRId64 " ms go by\n", span);
	r->m.now += span;
}

/* ---- Comparing ---------------------------------------------------------------------- */

static const enum life_state states[] = { [ACTIVE] = LIFE_ACTIVE,
					  [SCHEDULED] = LIFE_SCHEDULED,
					  [ARCHIVED] = LIFE_ARCHIVED,
					  [PURGED] = LIFE_PURGED };

static void compare_life(struct run *r, const char *what, int i, const struct thing *x, const struct life *l)
{
	if (l->state != states[x->mode])
		die(r, "%s %d is %s, not %s", what, i, life_state_names[l->state],
		    life_state_names[states[x->mode]]);
	if ((x->mode == SCHEDULED || x->mode == ARCHIVED) && l->due_at != x->due)
		die(r, "%s %d is due %" PRId64 " ms off", what, i, l->due_at - x->due);
	/* Of a tree only what follows from it counts. */
	if (x->mode != PURGED && what[0] == 'n' && l->let_go != x->let_go)
		die(r, "%s %d %s let go", what, i, l->let_go ? "was" : "was not");
}

static enum status compare_claim(void *ctx, const struct claim *c, struct err *err)
{
	int *left = ctx;

	(void)err;
	for (int i = 0; i < OWNERS; i++)
		if (str_eq(c->owner, str_of(owners[i])))
			left[i] -= (int)c->count;
	return STATUS_OK;
}

static void compare_claims(struct run *r, const char *what, int i, const struct thing *x)
{
	int left[OWNERS];
	struct err err;

	memcpy(left, x->claims, sizeof left);
	if (claim_each(r->s, &x->id, compare_claim, left, &err))
		die(r, "%s", err.text);
	for (int k = 0; k < OWNERS; k++)
		if (left[k])
			die(r, "%s %d: %d claims of %s are missing", what, i, left[k], owners[k]);
}

static void compare(struct run *r)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct err err;

	for (int t = 0; t < r->m.tree_count; t++) {
		struct tree found;

		if (tree_get(r->s, &r->m.trees[t].id, &mem, &found, &err))
			die(r, "tree %d: %s", t, err.text);
		compare_life(r, "tree", t, &r->m.trees[t], &found.life);
		compare_claims(r, "tree", t, &r->m.trees[t]);
	}
	for (int n = 0; n < r->m.node_count; n++) {
		struct tree_node found;

		if (tree_node_get(r->s, &r->m.nodes[n].id, NODE_SKELETON, &mem, &found, &err))
			die(r, "node %d: %s", n, err.text);
		compare_life(r, "node", n, &r->m.nodes[n], &found.life);
		compare_claims(r, "node", n, &r->m.nodes[n]);
	}
}

static void show_problem(void *ctx, struct str text)
{
	die(ctx, "check: %.*s", STR_ARG(text));
}

static void check(struct run *r)
{
	struct check_report report = { .problem = show_problem, .ctx = r };
	struct err err;

	if (check_trees(r->s, &report, &err))
		die(r, "check: %s", err.text);
}

/* ---- A sequence --------------------------------------------------------------------- */

static void step(struct run *r)
{
	static const int weights[] = { 1, 7, 3, 3, 1, 2, 1, 1, 1, 3, 3 };
	int at = pick(r, 26), kind = 0;

	for (; at >= weights[kind]; kind++)
		at -= weights[kind];
	switch (kind) {
	case 0:
		make_tree(r);
		break;
	case 1:
		make_node(r);
		break;
	case 2:
		claim_some(r, pick(r, 4) != 0);
		break;
	case 3:
		release_some(r, pick(r, 3) != 0);
		break;
	case 4:
		schedule_one(r);
		break;
	case 5:
		delete_one(r);
		break;
	case 6:
		rescue_one(r, pick(r, 3) != 0);
		break;
	case 7:
		force_node(r, pick(r, 2) ? ARCHIVED : PURGED);
		break;
	case 8:
		if (pick(r, 3) == 0)
			force_tree(r, pick(r, 3) ? ARCHIVED : PURGED);
		break;
	case 9:
		collect(r);
		break;
	default:
		pass_time(r);
		break;
	}
	settle(&r->m);
	r->steps++;
}

static void remove_files(struct run *r)
{
	for (const char *const *suffix = store_file_suffixes; *suffix; suffix++) {
		char path[700];

		snprintf(path, sizeof path, "%s%s", r->path, *suffix);
		unlink(path);
	}
}

static void run_seed(struct run *r, uint64_t seed, uint64_t steps)
{
	struct err err;

	r->m = (struct model){ .now = INT64_C(1800000000000) };
	r->seed = r->random = seed;
	r->logged = 0;
	r->log[0] = '\0';
	remove_files(r);
	if (store_open(&(struct store_options){ .path = r->path, .create = true, .clock = { run_now, r } },
		       &r->s, &err))
		die(r, "%s", err.text);
	/* Nothing here is about power cuts. */
	if (db_exec(r->s, "PRAGMA synchronous=OFF", &err))
		die(r, "%s", err.text);
	make_tree(r);
	for (uint64_t i = 0; i < steps; i++) {
		step(r);
		compare(r);
		if (i % 16 == 15)
			check(r);
	}
	check(r);
	store_close(r->s);
	remove_files(r);
}

int main(int argc, char **argv)
{
	static struct run r;
	uint64_t first, last, steps;
	struct str end;

	if (argc < 3 || !str_to_u64(str_cut(str_of(argv[1]), '-', &end), &first) ||
	    !str_to_u64(str_of(argv[2]), &steps) || (end.p && !str_to_u64(end, &last))) {
		fprintf(stderr, "usage: lives FIRST[-LAST] STEPS [TMP]\n");
		return 2;
	}
	snprintf(r.path, sizeof r.path, "%.500s/lives-%" PRIu64 ".db", argc > 3 ? argv[3] : ".", first);
	for (uint64_t seed = first; seed <= (end.p ? last : first); seed++)
		run_seed(&r, seed, steps);
	printf("sequences=%" PRIu64 " steps=%" PRIu64 " refused=%" PRIu64 " moved=%" PRIu64 "\n",
	       (end.p ? last : first) - first + 1, r.steps, r.refused, r.moved);
	return 0;
}
