/*
 * What a path costs: its skeleton, which is what all that can be asked of a conversation begins
 * with, and its content.
 *
 *     bench_path write FILE MESSAGES     makes up a conversation: prompts, answers in several
 *                                        lines, calls and their results
 *     bench_path STORE ID                of a conversation in a store, prints
 *
 *     load <us> chain <us> forest <us> path <us> messages <n> lines <n> content <MB/s> sent <MB/s> grove <us>
 *
 * load is all of the skeleton: the conversation with its kin from the store, built. chain and
 * forest are its parts: rows of one transcript read, and the building alone. grove is the same as
 * load with everything as a node of a tree. content is every
 * line of the path read back from the archive and taken apart, sent the same as the model is
 * sent it; both in raw bytes of the file. Each is the best of several.
 */
#include "hub/resolve.h"
#include "query/context.h"
#include "query/grove.h"
#include "store/store.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PASSES = 9 };

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* ---- Writing ---------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void put_words(FILE *f, uint64_t *r, unsigned count)
{
	static const char *const words[] = { "the",	   "tests",  "return", "build/", "line",   "of",
					     "error:",	   "static", "commit", "value",	 "(void)", "changed",
					     "and",	   "42",     "why",    "path",	 "is",	   "release",
					     "src/main.c", "\\n",    "{ }" };

	for (unsigned i = 0; i < count; i++)
		fprintf(f, "%s%s", i ? " " : "", words[next_random(r) % COUNT(words)]);
}

/* A line that hangs on the one before it; *last is the number of that. */
static void begin_line(FILE *f, const char *type, unsigned *last)
{
	static const char uuid[] = "00000000-0000-4000-8000-";

	if (*last)
		fprintf(f, "{\"parentUuid\":\"%s%012x\",", uuid, *last);
	else
		fputs("{\"parentUuid\":null,", f);
	++*last;
	fprintf(f,
		"\"isSidechain\":false,\"type\":\"%s\",\"uuid\":\"%s%012x\","
		"\"timestamp\":\"2026-01-01T%02u:%02u:%02u.000Z\",\"userType\":\"external\",\"cwd\":\"/home/"
		"dev/work\","
		"\"sessionId\":\"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01\",\"version\":\"2.1.197\","
		"\"gitBranch\":\"main\",",
		type, uuid, *last, *last / 3600 % 24, *last / 60 % 60, *last % 60);
}

static void put_answer(FILE *f, uint64_t *r, unsigned *last, unsigned message, const char *block,
		       const char *end, unsigned words)
{
	begin_line(f, "assistant", last);
	fprintf(f,
		"\"requestId\":\"req_%08u\",\"message\":{\"id\":\"msg_%08u\",\"role\":\"assistant\","
		"\"model\":\"m\",\"content\":[%s",
		message, message, block);
	put_words(f, r, words);
	fprintf(f, "%s],\"usage\":{\"input_tokens\":3,\"output_tokens\":%u}}}\n", end, words);
}

static int write_conversation(const char *path, unsigned messages)
{
	FILE *f = fopen(path, "w");
	uint64_t r = 1;
	unsigned last = 0;
	char call[128];

	if (!f) {
		perror(path);
		return 1;
	}
	for (unsigned m = 0; m < messages; m += 2) {
		begin_line(f, "user", &last);
		fputs("\"message\":{\"role\":\"user\",\"content\":", f);
		/* A prompt now and then, and results of a call otherwise. */
		if (m % 20 == 0) {
			fputs("\"", f);
			put_words(f, &r, 40);
			fputs("\"}}\n", f);
		} else {
			fprintf(f, "[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_%08u\",\"content\":\"",
				m - 1);
			put_words(f, &r, 50 + (unsigned)(next_random(&r) % 900));
			fputs("\"}]}}\n", f);
		}
		put_answer(f, &r, &last, m + 1, "{\"type\":\"text\",\"text\":\"", "\"}", 60);
		snprintf(call, sizeof call,
			 "{\"type\":\"tool_use\",\"id\":\"toolu_%08u\",\"name\":\"Bash\",\"input\":{"
			 "\"command\":\"",
			 m + 1);
		if ((m + 2) % 20)
			put_answer(f, &r, &last, m + 1, call, "\"}}", 30);
	}
	return fclose(f) ? 1 : 0;
}

/* ---- Measuring ------------------------------------------------------------------------ */

struct bench {
	struct store *s;
	struct session session;
	struct arena mem;
	struct forest f;
	uint32_t source;
	uint64_t blocks, bytes;
};

static enum status load(struct bench *b, struct err *err)
{
	forest_release(&b->f);
	return forest_load(b->s, b->session.row, &b->f, &b->source, err);
}

static enum status load_grove(struct bench *b, struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;

	return grove_load(b->s, b->session.row, &g, err);
}

static enum status load_chain(struct bench *b, struct err *err)
{
	struct chain c = CHAIN_INIT;
	enum status status = chain_load(b->s, &b->session, &c, err);

	chain_release(&c);
	return status;
}

/* From lines that are there already. */
static enum status build(struct bench *b, struct err *err)
{
	const struct chain *from = &b->f.sources[b->source].chain;
	struct forest f = FOREST_INIT;
	struct forest_source *s = forest_add(&f);

	(void)err;
	for (uint32_t i = 0; i < from->line_count; i++) {
		struct chain_line *l = chain_add(&s->chain);

		*l = from->lines[i];
		l->parent = l->answer = l->next = CHAIN_NONE;
		l->inferred = l->shadowed = false;
	}
	forest_build(&f);
	forest_release(&f);
	return STATUS_OK;
}

static uint32_t leaf(const struct bench *b)
{
	return chain_leaf(&b->f.sources[b->source].chain);
}

static enum status follow(struct bench *b, struct err *err)
{
	struct arena mem = ARENA_INIT;
	uint32_t count;

	(void)err;
	forest_path(&b->f, forest_message_of(&b->f, b->source, leaf(b)), &mem, &count);
	b->blocks = count;
	arena_release(&mem);
	return STATUS_OK;
}

/* Every block of every line on the way. */
static enum status read_path(struct bench *b, struct err *err)
{
	const struct forest *f = &b->f;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct lines lines CLEANUP(lines_release) = { 0 };
	uint32_t count, *path = forest_path(f, forest_message_of(f, b->source, leaf(b)), &mem, &count);

	lines_init(&lines, b->s, &b->session);
	b->bytes = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t n = f->messages[path[i]].first; n != FOREST_NONE; n = f->nodes[n].next) {
			struct block_cursor at = { 0 };
			struct record_block block;
			struct record rec;

			if (lines_get(&lines, forest_line(f, n), &rec, err))
				return err_failed(err->status);
			while (record_block(&lines.reader, &rec, &at, &block))
				b->blocks++;
			b->bytes += rec.bytes.n;
		}
	return STATUS_OK;
}

static enum status take(void *ctx, const struct context_message *m, struct err *err)
{
	struct bench *b = ctx;

	(void)err;
	b->blocks += m->content.n;
	return STATUS_OK;
}

static enum status send(struct bench *b, struct err *err)
{
	struct lines lines CLEANUP(lines_release) = { 0 };

	lines_init(&lines, b->s, &b->session);
	return context_each(&lines, &b->f.sources[b->source].chain, leaf(b), false, take, b, err);
}

static double best(struct bench *b, enum status (*fn)(struct bench *, struct err *), struct err *err)
{
	double least = 1e18;

	for (int i = 0; i < PASSES; i++) {
		double start = now_us();

		if (fn(b, err)) {
			fprintf(stderr, "bench_path: %s\n", err->text);
			exit(1);
		}
		start = now_us() - start;
		least = start < least ? start : least;
	}
	return least;
}

static enum status open_all(struct bench *b, const char *store, const char *id, struct read_txn *txn,
			    struct err *err)
{
	struct resolved what;

	if (store_open(&(struct store_options){ .path = store }, &b->s, err) || read_begin(b->s, txn, err) ||
	    resolve_id(b->s, str_of(id), &b->mem, &what, err))
		return err_failed(err->status);
	b->session = what.session;
	return load(b, err);
}

static int measure(const char *store, const char *id)
{
	struct bench b = { 0 };
	struct read_txn txn = { 0 };
	struct err err;
	double content, sent;

	if (open_all(&b, store, id, &txn, &err)) {
		fprintf(stderr, "bench_path: %s\n", err.text);
		return 1;
	}
	printf("load %.0f", best(&b, load, &err));
	printf(" chain %.0f", best(&b, load_chain, &err));
	printf(" forest %.0f", best(&b, build, &err));
	printf(" path %.0f", best(&b, follow, &err));
	printf(" messages %" PRIu64 " lines %u", b.blocks, b.f.sources[b.source].chain.line_count);
	content = best(&b, read_path, &err);
	sent = best(&b, send, &err);
	printf(" content %.0f sent %.0f", (double)b.bytes / content, (double)b.bytes / sent);
	printf(" grove %.0f\n", best(&b, load_grove, &err));
	read_end(&txn);
	forest_release(&b.f);
	arena_release(&b.mem);
	store_close(b.s);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "write") == 0)
		return write_conversation(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
	if (argc == 3) {
		/* As the program does for a command that reads (face/cli.c). */
		mallopt(M_ARENA_MAX, 1);
		mallopt(M_TOP_PAD, 4 << 20);
		mallopt(M_MMAP_THRESHOLD, 4 << 20);
		mallopt(M_TRIM_THRESHOLD, 64 << 20);
		return measure(argv[1], argv[2]);
	}
	fprintf(stderr, "usage: bench_path write FILE MESSAGES | bench_path STORE ID\n");
	return 2;
}
