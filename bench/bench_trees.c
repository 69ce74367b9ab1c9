/*
 * What trees cost when they are large.
 *
 *     bench_trees make STORE NODES DEPTH     makes a tree of so many nodes with random parents, texts of some hundred
 *                                            bytes, and one path of that depth that grows from time to time, ten
 *                                            nodes a time, while others are made; prints its id, that of the
 *                                            path's last node, and that of a node in the middle
 *     bench_trees STORE PATH_END MIDDLE      of that tree, prints
 *
 *     path <us> content <us> page <us> depth <n>
 *
 * path is every id from the root to the node, content the same with all that the nodes hold, page a walk over 100
 * nodes behind the middle with what they hold. Each is the best of several, by connections that have not looked at
 * anything yet, as a command's has not; opening them is not counted.
 */
#include "store/tree_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PASSES = 15, PAGE = 100, BATCH = 5000, WORDS = 40, RUN = 10 };

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static NORETURN void die(const struct err *err)
{
	fprintf(stderr, "bench_trees: %s\n", err->text);
	exit(1);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* ---- Making ------------------------------------------------------------------------- */

struct making {
	struct store *s;
	struct uuid tree, end;
	struct uuid *nodes;
	uint64_t count, nodes_wanted, depth, made_of_path, random;
};

static enum status add_one(struct making *m, struct err *err)
{
	static const struct life_windows none = { 0 };
	char text[WORDS * 8];
	size_t n = 0, words = next_random(&m->random) % WORDS;
	bool on_path = m->made_of_path % RUN || m->count * m->depth / m->nodes_wanted >= m->made_of_path;
	struct tree_node_new what = { .tree = m->tree, .kind = TREE_NODE_TEXT };

	for (size_t i = 0; i <= words; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%04x", i ? " " : "",
				      (unsigned)(next_random(&m->random) & 0xffff));
	what.content = str_from(text, n);
	if (on_path && m->made_of_path)
		what.parent = &m->end;
	else if (!on_path && m->count > 1)
		what.parent = &m->nodes[next_random(&m->random) % m->count];
	if (tree_node_add(m->s, &what, &none, &m->nodes[m->count], err))
		return err_failed(err->status);
	if (on_path) {
		m->end = m->nodes[m->count];
		m->made_of_path++;
	}
	m->count++;
	return STATUS_OK;
}

static enum status make(struct making *m, struct err *err)
{
	if (tree_add(m->s, &(struct tree_new){ .owner = STR("bench") }, &m->tree, err))
		return err_failed(err->status);
	while (m->count < m->nodes_wanted) {
		struct txn txn CLEANUP(txn_end) = { 0 };

		if (txn_begin(m->s, &txn, err))
			return err_failed(err->status);
		for (int i = 0; i < BATCH && m->count < m->nodes_wanted; i++)
			if (add_one(m, err))
				return err_failed(err->status);
		if (txn_commit(&txn, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static int make_tree(const char *path, uint64_t nodes, uint64_t depth)
{
	struct making m = { .nodes_wanted = nodes,
			    .depth = depth,
			    .nodes = mem_alloc(nodes * sizeof *m.nodes) };
	const struct uuid *told[3];
	struct err err;

	if (store_open(&(struct store_options){ .path = path, .create = true }, &m.s, &err) || make(&m, &err))
		die(&err);
	told[0] = &m.tree;
	told[1] = &m.end;
	told[2] = &m.nodes[nodes / 2];
	for (size_t i = 0; i < COUNT(told); i++) {
		char id[UUID_TEXT + 1];

		uuid_print(told[i], id);
		printf("%s%c", id, i + 1 < COUNT(told) ? ' ' : '\n');
	}
	store_close(m.s);
	mem_free(m.nodes);
	return 0;
}

/* ---- Measuring ------------------------------------------------------------------------ */

struct bench {
	struct store *s;
	struct tree_node end, middle;
	struct tree tree;
	int64_t root;
	size_t steps;
};

static enum status follow(struct bench *b, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree_node *steps;

	return tree_path(b->s, 0, b->end.row, &mem, &steps, &b->steps, err);
}

static enum status read_path(struct bench *b, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree_node *steps;
	struct tree_node n;

	if (tree_path(b->s, 0, b->end.row, &mem, &steps, &b->steps, err))
		return err_failed(err->status);
	for (size_t i = 0; i < b->steps; i++)
		if (tree_node_at(b->s, steps[i].row, NODE_WHOLE, &mem, &n, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status read_page(struct bench *b, struct err *err)
{
	struct tree_walk walk CLEANUP(walk_release) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tree_node n;
	int64_t row;

	if (walk_begin(&walk, b->s, b->root, b->middle.row, false, err))
		return err_failed(err->status);
	for (int i = 0; i < PAGE; i++)
		if (walk_next(&walk, &row, err) ||
		    (row && tree_node_at(b->s, row, NODE_WHOLE, &mem, &n, err)))
			return err_failed(err->status);
	return STATUS_OK;
}

static double best(struct bench *b, const char *path, enum status (*fn)(struct bench *, struct err *))
{
	double least = 1e18;
	struct err err;

	for (int i = 0; i < PASSES; i++) {
		struct read_txn txn = { 0 };
		double start;

		if (store_open(&(struct store_options){ .path = path }, &b->s, &err) ||
		    read_begin(b->s, &txn, &err))
			die(&err);
		start = now_us();
		if (fn(b, &err))
			die(&err);
		start = now_us() - start;
		least = start < least ? start : least;
		read_end(&txn);
		store_close(b->s);
	}
	return least;
}

static enum status find(struct bench *b, const char *end, const char *middle, struct arena *mem,
			struct err *err)
{
	struct uuid id;
	struct tree_node root;

	if (tree_node_find(b->s, str_of(end), &id, err) ||
	    tree_node_get(b->s, &id, NODE_SKELETON, mem, &b->end, err) ||
	    tree_node_find(b->s, str_of(middle), &id, err) ||
	    tree_node_get(b->s, &id, NODE_SKELETON, mem, &b->middle, err) ||
	    tree_at(b->s, b->end.tree, mem, &b->tree, err) ||
	    tree_node_get(b->s, &b->tree.root_id, NODE_SKELETON, mem, &root, err))
		return err_failed(err->status);
	b->root = root.row;
	return STATUS_OK;
}

static int measure(const char *path, const char *end, const char *middle)
{
	struct bench b = { 0 };
	struct arena mem = ARENA_INIT;
	struct err err;

	if (store_open(&(struct store_options){ .path = path }, &b.s, &err) ||
	    find(&b, end, middle, &mem, &err))
		die(&err);
	store_close(b.s);
	printf("path %.0f", best(&b, path, follow));
	printf(" content %.0f", best(&b, path, read_path));
	printf(" page %.0f depth %zu\n", best(&b, path, read_page), b.steps - 1);
	arena_release(&mem);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "make") == 0)
		return make_tree(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	if (argc == 4)
		return measure(argv[1], argv[2], argv[3]);
	fprintf(stderr, "usage: bench_trees make STORE NODES DEPTH | bench_trees STORE PATH_END MIDDLE\n");
	return 2;
}
