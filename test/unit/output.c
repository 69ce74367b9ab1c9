/*
 * What a client prints, archived as it comes: against the bytes themselves.
 */
#include "live/output.h"

#include "ingest/rebuild.h"
#include "store/archive.h"
#include "store/find.h"
#include "streams.h"
#include "t.h"

#include <string.h>

#define STORE struct store CLEANUP(store_closep)
#define ARENA struct arena mem CLEANUP(arena_release) = ARENA_INIT

static void output_freep(struct output **o)
{
	output_free(*o);
}

#define OUTPUT struct output CLEANUP(output_freep)

static enum status open_store(struct t *t, struct store **out, struct err *err)
{
	char path[LIMIT_PATH];
	bool done;

	snprintf(path, sizeof path, "%.2000s/a.db", t_tmpdir(t));
	if (store_open(&(struct store_options){ .path = path, .create = true }, out, err))
		return err_failed(err->status);
	return rebuild_if_stale(*out, NULL, &done, err);
}

static enum status take(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

/* All of it, by the source that the run's stream names. */
static enum status read_back(struct store *s, const struct run *run, struct arena *mem, struct source_info *info,
			     struct buf *out, struct err *err)
{
	struct stream stream;

	buf_clear(out);
	if (stream_get(s, &run->stream, mem, &stream, err) || source_get(s, &stream.output, mem, info, err))
		return err_failed(err->status);
	return archive_read(s, info->generation, 0, info->bytes, take, out, err);
}

/* Lines of any length, cut anywhere. */
static struct str piece_of(struct buf *room, uint64_t *random)
{
	size_t n;

	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	n = (size_t)(*random >> 33) % 9000;
	buf_clear(room);
	for (size_t i = 0; i < n; i++)
		buf_byte(room, (*random >> 40) % 7 == 0 && i % 211 == 0 ? '\n' : (char)('a' + (i + n) % 26));
	return buf_as_str(room);
}

static enum status count_block(void *ctx, const struct archive_block *b, bool *go_on, struct err *err)
{
	struct buf *sizes = ctx;

	(void)go_on;
	(void)err;
	buf_printf(sizes, "%lld+%lld ", (long long)b->offset, (long long)b->length);
	return STATUS_OK;
}

TEST(what_is_printed_in_pieces_is_kept_byte_by_byte_as_if_it_had_come_at_once)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(64 * MIB), kept CLEANUP(buf_release) = BUF_INIT(64 * MIB),
			room CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf blocks[2] = { BUF_INIT(MIB), BUF_INIT(MIB) };
	STORE *s = NULL;
	uint64_t random = 7;
	struct err err;
	ARENA;

	OK(open_store(t, &s, &err));
	for (int at_once = 0; at_once < 2; at_once++) {
		struct source_info info;
		OUTPUT *o = NULL;
		struct run run;

		OK(test_run(s, at_once ? "two" : "one", &mem, &run, &err));
		o = output_new(s, &run);
		for (int i = 0; i < 200 && !at_once; i++) {
			struct str piece = piece_of(&room, &random);

			buf_str(&all, piece);
			output_add(o, piece);
			OK(output_write(o, &err));
			if (i % 10 != 9)
				continue;
			OK(read_back(s, &run, &mem, &info, &kept, &err));
			EQS(buf_as_str(&kept), buf_as_str(&all));
		}
		if (at_once)
			output_add(o, buf_as_str(&all));
		OK(output_write(o, &err));
		OK(read_back(s, &run, &mem, &info, &kept, &err));
		EQS(buf_as_str(&kept), buf_as_str(&all));
		CHECK(info.complete);
		EQS(info.root, STR(ROOT_OUTPUT));
		OK(archive_blocks(s, info.generation, 0, info.bytes, count_block, &blocks[at_once], &err));
	}
	CHECK(all.n > 4 * LIMIT_BLOCK_TARGET);
	EQS(buf_as_str(&blocks[0]), buf_as_str(&blocks[1]));
	buf_release(&blocks[0]);
	buf_release(&blocks[1]);
}

TEST(nothing_is_written_when_nothing_was_printed)
{
	STORE *s = NULL;
	OUTPUT *o = NULL;
	struct stream stream;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	o = output_new(s, &run);
	OK(output_write(o, &err));
	OK(stream_get(s, &run.stream, &mem, &stream, &err));
	CHECK(!stream.has_output);
}

/* Whoever cannot write now writes later, and nothing is there twice. */
TEST(what_could_not_be_written_is_written_the_next_time)
{
	struct buf kept CLEANUP(buf_release) = BUF_INIT(MIB);
	STORE *s = NULL, *other = NULL;
	OUTPUT *o = NULL;
	struct source_info info;
	struct run run;
	struct err err;
	ARENA;

	OK(open_store(t, &s, &err));
	OK(test_run(s, "one", &mem, &run, &err));
	o = output_new(s, &run);
	output_add(o, STR("{\"a\":1}\n{\"b\""));
	OK(output_write(o, &err));
	{
		struct txn txn CLEANUP(txn_end) = { 0 };
		atomic_bool enough = true;

		OK(store_open_beside(s, &other, &err));
		OK(txn_begin(other, &txn, &err));
		store_set_cancel(s, &enough);
		output_add(o, STR(":2}\n"));
		CHECK(output_write(o, &err) != STATUS_OK);
		store_set_cancel(s, NULL);
	}
	output_add(o, STR("{\"c\":3}\n"));
	OK(output_write(o, &err));
	OK(read_back(s, &run, &mem, &info, &kept, &err));
	EQS(buf_as_str(&kept), STR("{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"));
	EQ(info.lines.lines, 3);
}

TESTS(CASE(what_is_printed_in_pieces_is_kept_byte_by_byte_as_if_it_had_come_at_once),
      CASE(nothing_is_written_when_nothing_was_printed), CASE(what_could_not_be_written_is_written_the_next_time))
