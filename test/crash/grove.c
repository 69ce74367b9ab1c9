/*
 * grove STORE PROGRAMS SECONDS SEED: several programs at one store that make, claim, release, delete and read trees and
 * nodes, through the methods that everybody uses, and collect what is due.
 *
 * Every program has an owner's name and a tree of its own, and works on one tree of all together with the others.
 * It counts what it was told: nodes it made, claims it has. In the end the store must have exactly these, children
 * must have positions without gaps or doubles, and nobody may ever have been shown that something is locked or busy, or
 * any other error than those that follow from what it did itself. Half of the programs have the store open during
 * calls only, as commands do; the others all the time, as servers do.
 */
#include "hub/activations.h"
#include "store/db.h"
#include "store/tree_life.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PROGRAMS = 32, KNOWN = 64 };

/* What a program has done, for the one that looks in the end. */
struct deeds {
	uint64_t calls, made, refused, read;
	int64_t claims[KNOWN]; /* on the nodes of all */
	int64_t tree_claims;
};

struct shared {
	char tree[UUID_TEXT + 1];	  /* of all */
	char known[KNOWN][UUID_TEXT + 1]; /* nodes in it that everybody claims and releases */
	struct deeds deeds[MOST_PROGRAMS];
};

struct program {
	const char *path;
	int number;
	struct shared *all;
	struct deeds *deeds;
	struct store *kept; /* open all the time; NULL = only during calls */
	uint64_t random;
	char own[UUID_TEXT + 1];  /* its tree */
	char last[UUID_TEXT + 1]; /* the node it made last */
	char id[UUID_TEXT + 1];	  /* of the last item */
	int64_t count;		  /* the same, what it says of claims */
	struct err err;
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static unsigned pick(struct program *p, unsigned below)
{
	return (unsigned)(next_random(&p->random) % below);
}

static NORETURN void die(struct program *p, const char *what)
{
	printf("program %d: %s: %s\n", p->number, what, p->err.text);
	fflush(stdout);
	_exit(1);
}

/* ---- Calling ------------------------------------------------------------------------ */

static enum status take_item(void *ctx, struct str text, struct err *err)
{
	struct program *p = ctx;
	struct json j CLEANUP(json_release) = JSON_INIT;
	struct str id;

	if (json_read(&j, text, LIMIT_JSON_DEPTH, err))
		return err_failed(err->status);
	if (json_text(&j, json_get(&j, 0, STR("id")), &id) && id.n == UUID_TEXT)
		memcpy(p->id, id.p, UUID_TEXT);
	if (!json_to_i64(&j, json_get(&j, 0, STR("count")), &p->count))
		p->count = -1;
	return STATUS_OK;
}

static enum status take_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)ctx;
	(void)bytes;
	(void)err;
	return STATUS_OK;
}

static enum status open_store(void *ctx, bool make, struct store **out, struct err *err)
{
	struct program *p = ctx;

	return store_open(&(struct store_options){ .path = p->path, .create = make }, out, err);
}

static enum status call(struct program *p, const char *method, const char *json)
{
	struct hub_caller who = { .sink = { .item = take_item, .bytes = take_bytes, .ctx = p },
				  .scopes = ~0u,
				  .open_store = open_store,
				  .ctx = p };

	p->deeds->calls++;
	return hub_call(&arbor_hub, str_of(method), str_of(json), &who, &p->err);
}

/* What nobody may be refused. */
static void must(struct program *p, const char *method, const char *json)
{
	if (call(p, method, json))
		die(p, method);
}

/* ---- A program ---------------------------------------------------------------------- */

static void add_nodes(struct program *p)
{
	char json[400];

	switch (pick(p, 3)) {
	case 0: /* to the tree of all, beside what others add */
		snprintf(json, sizeof json, "{\"tree\":\"%s\",\"content\":\"of %d\"}", p->all->tree,
			 p->number);
		must(p, "arbor.node_create_text", json);
		p->deeds->made++;
		break;
	case 1: /* a chain of its own */
		snprintf(json, sizeof json, "{\"tree\":\"%s\",\"parent\":\"%s\",\"content\":\"next\"}",
			 p->own, p->last);
		must(p, "arbor.node_create_text", json);
		memcpy(p->last, p->id, sizeof p->last);
		break;
	default: /* something that goes, below what everybody claims */
		snprintf(json, sizeof json,
			 "{\"tree\":\"%s\",\"parent\":\"%s\",\"handle\":\"x@1.0.0::y:%u\"}", p->all->tree,
			 p->all->known[pick(p, KNOWN)], pick(p, 1000));
		must(p, "arbor.node_create_external_ephemeral", json);
		p->deeds->made++;
	}
}

static void claim_something(struct program *p)
{
	unsigned which = pick(p, KNOWN);
	char json[300];

	if (pick(p, 4) == 0) {
		snprintf(json, sizeof json, "{\"tree\":\"%s\",\"owner\":\"program %d\"}", p->all->tree,
			 p->number);
		must(p, "arbor.tree_claim", json);
		if (p->count != ++p->deeds->tree_claims)
			die(p, "a claim on the tree was lost");
		return;
	}
	snprintf(json, sizeof json, "{\"node\":\"%s\",\"owner\":\"program %d\",\"count\":2}",
		 p->all->known[which], p->number);
	must(p, "arbor.node_claim", json);
	p->deeds->claims[which] += 2;
	if (p->count != p->deeds->claims[which])
		die(p, "a claim on a node was lost");
}

static void release_something(struct program *p)
{
	unsigned which = pick(p, KNOWN);
	bool has = p->deeds->claims[which] > 0;
	char json[300];
	enum status status;

	snprintf(json, sizeof json, "{\"node\":\"%s\",\"owner\":\"program %d\"}", p->all->known[which],
		 p->number);
	status = call(p, "arbor.node_release", json);
	if (has != (status == STATUS_OK) || (!has && status != STATUS_USAGE))
		die(p, "releasing");
	if (has)
		p->deeds->claims[which]--;
	else
		p->deeds->refused++;
	if (p->deeds->tree_claims > 0 && pick(p, 4) == 0) {
		snprintf(json, sizeof json, "{\"tree\":\"%s\",\"owner\":\"program %d\"}", p->all->tree,
			 p->number);
		must(p, "arbor.tree_release", json);
		p->deeds->tree_claims--;
	}
}

static void read_something(struct program *p)
{
	static const char *const of_tree[] = { "arbor.tree_get", "arbor.tree_render",
					       "arbor.tree_get_skeleton", "arbor.context_list_leaves",
					       "arbor.tree_refs" };
	static const char *const of_node[] = { "arbor.node_get", "arbor.node_get_children",
					       "arbor.context_get_path", "arbor.node_refs" };
	char json[200];

	p->deeds->read++;
	if (pick(p, 2)) {
		snprintf(json, sizeof json, "{\"tree\":\"%s\"}", pick(p, 2) ? p->all->tree : p->own);
		must(p, of_tree[pick(p, COUNT(of_tree))], json);
	} else {
		snprintf(json, sizeof json, "{\"node\":\"%s\"}", p->all->known[pick(p, KNOWN)]);
		must(p, of_node[pick(p, COUNT(of_node))], json);
	}
}

/* A tree that comes and goes. */
static void make_and_purge(struct program *p)
{
	char json[200], tree[UUID_TEXT + 1];

	must(p, "arbor.tree_create", "{\"owner\":\"passing\"}");
	memcpy(tree, p->id, sizeof tree);
	snprintf(json, sizeof json, "{\"tree\":\"%s\",\"content\":\"x\"}", tree);
	must(p, "arbor.node_create_text", json);
	snprintf(json, sizeof json, "{\"tree\":\"%s\",\"force\":true}", tree);
	must(p, "arbor.tree_purge", json);
	if (call(p, "arbor.tree_get", json) == STATUS_OK)
		die(p, "a purged tree is there");
}

static void work(struct program *p, int seconds)
{
	int64_t end = clock_monotonic_ns() + seconds * INT64_C(1000000000);
	char json[200];

	p->err = (struct err){ 0 };
	p->deeds = &p->all->deeds[p->number];
	if (p->number % 2 && open_store(p, false, &p->kept, &p->err))
		die(p, "opening");
	snprintf(json, sizeof json, "{\"owner\":\"program %d\"}", p->number);
	must(p, "arbor.tree_create", json);
	memcpy(p->own, p->id, sizeof p->own);
	snprintf(json, sizeof json, "{\"tree\":\"%s\",\"content\":\"first\"}", p->own);
	must(p, "arbor.node_create_text", json);
	memcpy(p->last, p->id, sizeof p->last);
	while (clock_monotonic_ns() < end) {
		unsigned what = pick(p, 16);

		if (what < 5)
			add_nodes(p);
		else if (what < 8)
			claim_something(p);
		else if (what < 11)
			release_something(p);
		else if (what < 15)
			read_something(p);
		else if (pick(p, 2))
			make_and_purge(p);
		else
			must(p, "arbor.gc", "{}");
	}
	store_close(p->kept);
}

/* ---- Before and after ----------------------------------------------------------------- */

static void plant(struct program *p)
{
	char json[200];

	p->deeds = &p->all->deeds[MOST_PROGRAMS - 1];
	must(p, "arbor.tree_create", "{\"owner\":\"everybody\"}");
	memcpy(p->all->tree, p->id, UUID_TEXT);
	for (int i = 0; i < KNOWN; i++) {
		bool ephemeral = i % 2;

		snprintf(json, sizeof json, "{\"tree\":\"%s\",\"content\":\"known\"}", p->all->tree);
		must(p, ephemeral ? "arbor.node_create_text_ephemeral" : "arbor.node_create_text", json);
		memcpy(p->all->known[i], p->id, UUID_TEXT);
	}
}

static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

static enum status add_count(void *ctx, const struct claim *c, struct err *err)
{
	(void)err;
	*(int64_t *)ctx += c->count;
	return STATUS_OK;
}

static int compare(struct program *p, struct store *s, int programs)
{
	uint64_t made = KNOWN + 1;
	int64_t on_tree = 1, got;
	int bad = 0;
	struct uuid id;

	for (int i = 0; i < programs; i++) {
		made += p->all->deeds[i].made;
		on_tree += p->all->deeds[i].tree_claims;
	}
	got = ask(s, "SELECT count(*) FROM node WHERE tree = (SELECT min(id) FROM tree)");
	bad |= got != (int64_t)made &&
	       printf("the tree has %" PRId64 " nodes and %" PRIu64 " were made\n", got, made) > 0;
	bad |= ask(s, "SELECT count(*) FROM (SELECT parent FROM node WHERE parent IS NOT NULL GROUP BY parent"
		      " HAVING count(*) <> max(position) OR count(DISTINCT position) <> count(*))") != 0 &&
	       printf("positions have gaps\n") > 0;
	for (int k = -1; k < KNOWN; k++) {
		int64_t want = 0;

		for (int i = 0; k >= 0 && i < programs; i++)
			want += p->all->deeds[i].claims[k];
		got = 0;
		if (!uuid_parse(str_from(k < 0 ? p->all->tree : p->all->known[k], UUID_TEXT), &id) ||
		    claim_each(s, &id, add_count, &got, &p->err))
			die(p, "reading claims");
		want = k < 0 ? on_tree : want;
		bad |= got != want &&
		       printf("%" PRId64 " claims and %" PRId64 " were taken\n", got, want) > 0;
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct program p = { .path = argc > 1 ? argv[1] : "" };
	uint64_t programs, seconds, seed, calls = 0, made = 0, read = 0, refused = 0;
	struct store *s = NULL;
	int bad = 0, status;

	if (argc != 5 || !str_to_u64(str_of(argv[2]), &programs) || !str_to_u64(str_of(argv[3]), &seconds) ||
	    !str_to_u64(str_of(argv[4]), &seed) || programs >= MOST_PROGRAMS) {
		fprintf(stderr, "usage: grove STORE PROGRAMS SECONDS SEED\n");
		return 2;
	}
	p.all = mmap(NULL, sizeof *p.all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p.all == MAP_FAILED)
		return 2;
	plant(&p);
	for (p.number = 0; p.number < (int)programs; p.number++) {
		p.random = seed * 1000 + (uint64_t)p.number;
		fflush(stdout);
		if (fork() == 0) {
			work(&p, (int)seconds);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		bad |= status != 0;
	for (uint64_t i = 0; i < programs; i++) {
		calls += p.all->deeds[i].calls;
		made += p.all->deeds[i].made;
		read += p.all->deeds[i].read;
		refused += p.all->deeds[i].refused;
	}
	if (open_store(&p, false, &s, &p.err))
		die(&p, "opening");
	bad |= compare(&p, s, (int)programs);
	store_close(s);
	printf("calls=%" PRIu64 " made=%" PRIu64 " read=%" PRIu64 " refused=%" PRIu64 "\n", calls, made, read,
	       refused);
	return bad || !made || !read || !refused;
}
