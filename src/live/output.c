/*
 * A source of its own for each run, stdout/RUN.jsonl below a root that is no folder (ROOT_OUTPUT). Its lines
 * are no transcript, so nothing is derived of them: they are kept, listed and exported, and no node of any
 * tree comes of them. What happened is told by the events of the stream.
 *
 * Bytes come in as they are printed, some every few milliseconds. As with a file that grows, the last block
 * stays open and is packed anew with what is added, until it is full: blocks are as if all had come at once.
 *
 * Invariants: `open` has the bytes from `offset` on, `length` of the source are archived, and offset <=
 * length. What is remembered of the store changes only when it is committed there.
 */
#include "live/output.h"

#include "base/hash.h"
#include "store/archive.h"
#include "store/pack.h"

#include <stdio.h>

struct output {
	struct store *store;
	const struct run *run;
	struct packer *packer;
	struct line_count lines; /* of all that was added */
	struct buf open;
	struct archived {
		int64_t source, generation; /* rows; 0 = nothing is archived yet */
		int64_t offset, length;
	} is;
};

struct output *output_new(struct store *s, const struct run *run)
{
	struct output *o = mem_alloc(sizeof *o);

	*o = (struct output){
		.store = s, .run = run, .packer = packer_new(), .open = BUF_INIT(SIZE_MAX / 4)
	};
	return o;
}

void output_free(struct output *o)
{
	if (!o)
		return;
	packer_free(o->packer);
	buf_release(&o->open);
	mem_free(o);
}

void output_add(struct output *o, struct str bytes)
{
	buf_str(&o->open, bytes);
	line_count_add(&o->lines, bytes);
}

static enum status begin(struct output *o, struct archived *is, struct err *err)
{
	char id[UUID_TEXT + 1], path[64];
	struct root root;

	uuid_print(&o->run->id, id);
	snprintf(path, sizeof path, "stdout/%s.jsonl", id);
	if (root_of_output(o->store, &root, err) ||
	    source_add(o->store, root.row, str_of(path), &is->source, err) ||
	    generation_add(o->store, is->source, 0, 0, 0, &is->generation, err))
		return err_failed(err->status);
	return run_note_output(o->store, o->run, is->source, err);
}

static enum status append_block(struct output *o, struct archived *is, struct str raw, struct err *err)
{
	struct buf packed CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct archive_new block = { .offset = is->offset, .length = (int64_t)raw.n, .hash = hash64(raw.p, raw.n) };

	if (packer_pack(o->packer, raw, &packed, err))
		return err_failed(err->status);
	block.packed = buf_as_str(&packed);
	if (archive_append(o->store, is->generation, is->length, &block, 1, err))
		return err_failed(err->status);
	is->length = is->offset + (int64_t)raw.n;
	return STATUS_OK;
}

/* All of it; behind the last full block is->offset stays where the open one begins. */
static enum status append(struct output *o, struct archived *is, struct err *err)
{
	struct str left = buf_as_str(&o->open);

	while (left.n) {
		size_t n = pack_cut(left);

		if (append_block(o, is, str_sub(left, 0, n ? n : left.n), err))
			return err_failed(err->status);
		if (!n)
			break;
		is->offset += (int64_t)n;
		left = str_sub(left, n, SIZE_MAX);
	}
	return generation_set_lines(o->store, is->generation, 0, &o->lines, err);
}

enum status output_write(struct output *o, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct archived is = o->is;
	struct source_seen seen = { .settled = true };

	if (is.offset + (int64_t)o->open.n == is.length)
		return STATUS_OK;
	if (txn_begin(o->store, &txn, err) || (!is.source && begin(o, &is, err)) || append(o, &is, err))
		return err_failed(err->status);
	seen.st.size = is.length;
	if (source_saw(o->store, is.source, is.generation, is.length, &seen, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	buf_drop(&o->open, (size_t)(is.offset - o->is.offset));
	o->is = is;
	return STATUS_OK;
}
