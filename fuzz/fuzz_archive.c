/*
 * The archive against a model that is plain memory.
 *
 * The input is a list of operations on one source: append, rewrite, cut, read,
 * undo, and writes that must be refused. After each write and at the end every
 * generation must read as in the model, and its blocks must be those that its
 * bytes alone decide, however they came in.
 *
 * All of an input happens in one transaction. It is rolled back, so that the
 * store stays as it was made; or, for one first byte in sixteen, committed and
 * checked whole. Crashes and other processes are the crash tests' subject.
 */
#include "base/hash.h"
#include "store/archive.h"
#include "store/check.h"
#include "store/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MOST_GENERATIONS = 24,
	MOST_BYTES = 5 << 19, /* of one generation: two blocks of the largest size, and more */
	MOST_WORK = 3 << 20,  /* bytes packed and copied for one input */
	MOST_BLOCKS = 64,
};

/* Made once, used by every input. */
static struct store *the_store;
static struct packer *the_packer;
static char the_folder[256];

struct version {
	int64_t row, shared;
	struct buf bytes;
};

struct model {
	struct store *store;
	struct packer *packer;
	int64_t source;
	struct version list[MOST_GENERATIONS];
	size_t count;
	struct str input; /* what is left of it */
	size_t work;
};

/* Not assert(): it has to hold in builds without assertions too. */
static void must(bool holds)
{
	if (!holds)
		abort();
}

static void succeed(enum status status, const struct err *err)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "%s\n", err->text);
	abort();
}

/* ---- The store ------------------------------------------------------------- */

static void remove_packer(void)
{
	packer_free(the_packer);
}

static void remove_store(void)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal", "-bell" };
	char path[320];

	if (!the_store)
		return;
	store_close(the_store);
	the_store = NULL;
	for (size_t i = 0; i < COUNT(ends); i++) {
		snprintf(path, sizeof path, "%s/store%s", the_folder, ends[i]);
		unlink(path);
	}
	rmdir(the_folder);
}

static void make_store(void)
{
	const char *tmp = getenv("TMPDIR");
	struct txn txn CLEANUP(txn_end) = { 0 };
	char path[300];
	struct err err;

	snprintf(the_folder, sizeof the_folder, "%s/arbor-fuzz-XXXXXX", tmp ? tmp : "/tmp");
	must(mkdtemp(the_folder));
	snprintf(path, sizeof path, "%s/store", the_folder);
	succeed(store_open(&(struct store_options){ .path = path, .create = true }, &the_store, &err), &err);
	succeed(txn_begin(the_store, &txn, &err), &err);
	succeed(store_derived_reset(the_store, &err), &err);
	succeed(txn_commit(&txn, &err), &err);
}

/* ---- Taking the input apart ------------------------------------------------ */

static unsigned next_byte(struct model *m)
{
	unsigned b = m->input.n ? (uint8_t)m->input.p[0] : 0;

	m->input = str_sub(m->input, 1, SIZE_MAX);
	return b;
}

/* Small numbers are as likely as those around the sizes of blocks. */
static size_t next_size(struct model *m, size_t most)
{
	static const size_t base[8] = {
		0, 0, 0, 4 * KIB, LIMIT_BLOCK_TARGET / 2, LIMIT_BLOCK_TARGET, LIMIT_BLOCK_MAX, 2 * LIMIT_BLOCK_MAX,
	};
	unsigned kind = next_byte(m), low = next_byte(m);
	size_t n = base[kind & 7] + (kind & 8 ? (size_t)low << 8 | next_byte(m) : low);

	/* Also a little below the size. */
	if ((kind & 16) && n >= 2 * (size_t)low)
		n -= 2 * (size_t)low;
	return most ? n % (most + 1) : 0;
}

/* Bytes to append: from the input itself, or made up: a pattern whose length
 * has nothing to do with those of blocks, with a line feed every so often. */
static void make_bytes(struct model *m, size_t n, struct buf *out)
{
	enum { PATTERN = 4093 };
	unsigned kind = next_byte(m), state = kind * 2654435761u + (unsigned)n;
	char pattern[PATTERN], *to;

	if (kind & 1) {
		buf_str(out, str_sub(m->input, 0, n));
		m->input = str_sub(m->input, n, SIZE_MAX);
		return;
	}
	to = buf_reserve(out, n);
	must(to || n == 0);
	for (size_t i = 0; i < size_min(n, PATTERN); i++) {
		state = state * 1103515245u + 12345u;
		pattern[i] = (char)('a' + (state >> 16) % 7);
	}
	for (size_t i = 0; i < n; i += PATTERN)
		memcpy(to + i, pattern, size_min(n - i, PATTERN));
	/* No line feed at all, or one in 2 .. 32768 bytes. */
	for (size_t every = (size_t)1 << (kind >> 4), i = every - 1; every > 1 && i < n; i += every)
		to[i] = '\n';
	buf_grew(out, n);
}

/* ---- Checking -------------------------------------------------------------- */

struct expected {
	struct str left;
};

static enum status compare_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct expected *e = ctx;

	(void)err;
	must(bytes.n > 0 && bytes.n <= e->left.n && memcmp(bytes.p, e->left.p, bytes.n) == 0);
	e->left = str_sub(e->left, bytes.n, SIZE_MAX);
	return STATUS_OK;
}

static void check_range(struct model *m, const struct version *v, size_t from, size_t n)
{
	struct expected e = { str_sub(buf_as_str(&v->bytes), from, n) };
	struct err err;

	succeed(archive_read(m->store, v->row, (int64_t)from, (int64_t)n, compare_bytes, &e, &err), &err);
	must(e.left.n == 0);
}

struct cutting {
	struct str left;
	int64_t at;
};

/* Each block is as long as its bytes say; only the last may be shorter. */
static enum status compare_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct cutting *c = ctx;
	size_t n = pack_cut(c->left);

	(void)err;
	must(*go_on && b->offset == c->at && b->skip == 0 && b->length == b->stored);
	must((size_t)b->length == (n ? n : c->left.n));
	must(b->hash == hash64(c->left.p, (size_t)b->length));
	c->at += b->length;
	c->left = str_sub(c->left, (size_t)b->length, SIZE_MAX);
	return STATUS_OK;
}

static void check_version(struct model *m, const struct version *v)
{
	struct cutting c = { str_sub(buf_as_str(&v->bytes), (size_t)v->shared, SIZE_MAX), v->shared };
	struct generation g;
	struct err err;

	succeed(generation_get(m->store, v->row, &g, &err), &err);
	must(g.length == (int64_t)v->bytes.n && g.shared == v->shared);
	check_range(m, v, 0, v->bytes.n);
	succeed(archive_blocks(m->store, v->row, v->shared, (int64_t)c.left.n, compare_block, &c, &err), &err);
	must(c.left.n == 0);
}

static void fail_on_problem(void *ctx, struct str text)
{
	(void)ctx;
	fprintf(stderr, "check: %.*s\n", STR_ARG(text));
	abort();
}

/* Commits, checks, and makes a new store for the next input. */
static void check_store(const struct model *m, struct txn *txn)
{
	struct check_report r = { .problem = fail_on_problem };
	struct err err;

	succeed(txn_commit(txn, &err), &err);
	succeed(check_run(m->store, &r, &err), &err);
	must(r.generations == (int64_t)m->count && r.problems == 0);
	remove_store();
}

/* ---- Operations ------------------------------------------------------------ */

static struct version *newest(struct model *m)
{
	return &m->list[m->count - 1];
}

/* The last own block and `fresh` behind it, packed into blocks. */
static size_t pack_blocks(struct model *m, const struct version *v, struct str fresh, struct buf *packed,
			  struct archive_new *blocks)
{
	struct buf raw CLEANUP(buf_release) = BUF_INIT(2 * MOST_BYTES);
	struct archive_block last = { .offset = (int64_t)v->bytes.n };
	int64_t at;
	size_t count = 0, from = 0;
	struct err err;
	enum status status = archive_last(m->store, v->row, &last, &err);

	must(status == STATUS_OK || status == STATUS_NOT_FOUND);
	must((status == STATUS_OK) == ((int64_t)v->bytes.n > v->shared));
	if (status == STATUS_OK)
		succeed(archive_unpack(m->store, &last, &raw, &err), &err);
	at = last.offset;
	buf_str(&raw, fresh);
	must(!raw.failed);
	m->work += raw.n;
	for (struct str left = buf_as_str(&raw); left.n; count++) {
		size_t n = pack_cut(left), before = packed->n;

		must(n <= left.n && count < MOST_BLOCKS);
		if (n == 0)
			n = left.n;
		must(n <= LIMIT_BLOCK_MAX);
		succeed(packer_pack(m->packer, str_sub(left, 0, n), packed, &err), &err);
		blocks[count] = (struct archive_new){
			.offset = at, .length = (int64_t)n, .hash = hash64(left.p, n), .packed.n = packed->n - before
		};
		at += (int64_t)n;
		left = str_sub(left, n, SIZE_MAX);
	}
	for (size_t i = 0; i < count; from += blocks[i++].packed.n)
		blocks[i].packed.p = packed->p + from;
	return count;
}

/* How an append is meant to end. */
enum ending { KEPT, UNDONE, REFUSED };

static void append(struct model *m, struct version *v, int64_t expected, enum ending ending)
{
	struct buf fresh CLEANUP(buf_release) = BUF_INIT(MOST_BYTES);
	struct buf packed CLEANUP(buf_release) = BUF_INIT(4 * MOST_BYTES);
	struct save part CLEANUP(save_end) = { 0 };
	struct archive_new blocks[MOST_BLOCKS];
	enum status status;
	struct err err;
	size_t count;

	make_bytes(m, next_size(m, MOST_BYTES - v->bytes.n), &fresh);
	if (fresh.n == 0)
		return;
	count = pack_blocks(m, v, buf_as_str(&fresh), &packed, blocks);
	succeed(save_begin(m->store, &part, &err), &err);
	status = archive_append(m->store, v->row, expected, blocks, count, &err);
	must(status == (ending == REFUSED ? STATUS_CONFLICT : STATUS_OK));
	if (ending != KEPT)
		return;
	succeed(save_keep(&part, &err), &err);
	buf_str(&v->bytes, buf_as_str(&fresh));
	must(!v->bytes.failed);
}

/* A generation cannot be replaced twice. */
static void refuse_rewrite(struct model *m)
{
	struct save part CLEANUP(save_end) = { 0 };
	struct err err;
	int64_t row;

	succeed(save_begin(m->store, &part, &err), &err);
	must(generation_add(m->store, m->source, m->list[m->count - 2].row, 0, 0, &row, &err) == STATUS_CONFLICT);
}

/* A new generation that shares the first bytes of an older one. */
static void rewrite(struct model *m)
{
	const struct version *base;
	struct version *v;
	int64_t row;
	size_t shared;
	struct err err;

	if (m->count == MOST_GENERATIONS)
		return;
	base = &m->list[next_byte(m) % m->count];
	shared = next_size(m, base->bytes.n);
	succeed(generation_add(m->store, m->source, newest(m)->row, shared ? base->row : 0, (int64_t)shared, &row,
			       &err), &err);
	v = &m->list[m->count++];
	*v = (struct version){ row, (int64_t)shared, BUF_INIT(MOST_BYTES) };
	buf_str(&v->bytes, str_sub(buf_as_str(&base->bytes), 0, shared));
	m->work += shared;
	refuse_rewrite(m);
}

static void read_range(struct model *m)
{
	const struct version *v = &m->list[next_byte(m) % m->count];
	size_t from = next_size(m, v->bytes.n), n = next_size(m, v->bytes.n - from);
	struct expected nothing = { { 0 } };
	struct err err;

	check_range(m, v, from, n);
	must(archive_read(m->store, v->row, (int64_t)v->bytes.n, 1, compare_bytes, &nothing, &err) == STATUS_USAGE);
}

static void do_operation(struct model *m)
{
	struct version *v = newest(m), *old = &m->list[next_byte(m) % m->count];

	switch (next_byte(m) % 8) {
	case 0:
	case 1:
	case 2:
		append(m, v, (int64_t)v->bytes.n, KEPT);
		break;
	case 3:
		rewrite(m);
		break;
	case 4:
		read_range(m);
		break;
	case 5:
		append(m, v, (int64_t)v->bytes.n, UNDONE);
		break;
	case 6:
		append(m, v, (int64_t)v->bytes.n + 1, REFUSED);
		break;
	default:
		if (old != v)
			append(m, old, (int64_t)old->bytes.n, REFUSED);
		break;
	}
}

static void begin(struct model *m)
{
	struct root root;
	struct err err;

	succeed(root_use(m->store, "/fuzz", (struct str){ 0 }, &root, &err), &err);
	succeed(source_add(m->store, root.row, STR("projects/a/b.jsonl"), &m->source, &err), &err);
	succeed(generation_add(m->store, m->source, 0, 0, 0, &m->list[0].row, &err), &err);
	buf_init(&m->list[0].bytes, MOST_BYTES);
	m->count = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model m = { .input = str_from((const char *)data, size) };
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct err err;
	bool commit;

	if (!the_packer) {
		the_packer = packer_new();
		atexit(remove_packer);
		atexit(remove_store);
	}
	if (!the_store)
		make_store();
	m.store = the_store;
	commit = next_byte(&m) < 16;
	m.packer = the_packer;
	succeed(txn_begin(m.store, &txn, &err), &err);
	begin(&m);
	while (m.input.n && m.work < MOST_WORK)
		do_operation(&m);
	for (size_t i = 0; i < m.count; i++) {
		check_version(&m, &m.list[i]);
		buf_release(&m.list[i].bytes);
	}
	if (commit)
		check_store(&m, &txn);
	return 0;
}
