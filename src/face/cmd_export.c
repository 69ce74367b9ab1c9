/*
 * arbor export: a file as it was, byte for byte.
 */
#include "face/face.h"

#include "store/archive.h"
#include "store/find.h"

static enum status run(struct face *f, struct err *err);

static const struct arg_option options[] = {
	{ "format", 0, "raw", "the bytes as they were (the only format so far)" },
	{ "generation", 0, "N", "an older version; 'arbor sources PATH' lists them" },
	{ 0 },
};

const struct command command_export = {
	.name = "export",
	.summary = "Write a kept file to standard output, exactly as it was",
	.usage = "PATH|ID [--format raw] [--generation N]",
	.text = "PATH is as 'arbor sources' shows it, or absolute; ID is a source's id or the\n"
		"unique beginning of one, or a session id. Works long after the file itself is\n"
		"gone. When standard output is a terminal, control characters are made visible;\n"
		"into a pipe or file goes every byte as it was.\n",
	.examples = "  arbor export history.jsonl --format raw > history.jsonl\n"
		    "  arbor export history.jsonl --format raw --generation 1 | tail -n 1\n",
	.options = options,
	.least_words = 1,
	.most_words = 1,
	.run = run,
};

struct exporting {
	bool filter;
	struct term_stream terminal;
	struct buf safe;
};

static void exporting_release(struct exporting *e)
{
	buf_release(&e->safe);
}

static enum status pour(void *ctx, struct str bytes, struct err *err)
{
	struct exporting *e = ctx;

	if (!e->filter)
		return out_bytes(bytes, err);
	buf_clear(&e->safe);
	term_stream_add(&e->terminal, &e->safe, bytes);
	return out_bytes(buf_as_str(&e->safe), err);
}

static enum status pick_generation(struct face *f, struct store *s, const struct source_info *info,
				   struct generation *out, struct err *err)
{
	struct str wanted = args_value(&f->args, "generation");
	uint64_t number = 0;

	if (wanted.p && (!str_to_u64(wanted, &number) || number == 0))
		return err_fail(err, STATUS_USAGE, "--generation wants a number from 1 on, not '%.*s'",
				(int)size_min(wanted.n, 40), wanted.p);
	if (generation_pick(s, info->row, number, out, err))
		return err_pass(err, "%.*s", STR_ARG(info->path));
	return STATUS_OK;
}

static enum status run(struct face *f, struct err *err)
{
	struct exporting e CLEANUP(exporting_release) = {
		.filter = f->out_is_terminal,
		.terminal = { .mode = TERM_TEXT },
		.safe = BUF_INIT(16 * MIB),
	};
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct store *s CLEANUP(store_closep) = NULL;
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct str format = args_value(&f->args, "format");
	struct source_info info;
	struct generation g;

	if (format.p && !str_eq(format, STR("raw")))
		return err_fail(err, STATUS_USAGE, "unknown format '%.*s'; there is 'raw'", (int)size_min(format.n, 40),
				format.p);
	if (face_open_store(f, false, &s, err) || read_begin(s, &snapshot, err) ||
	    source_find(s, face_file_name(f->args.word[0], &mem), &mem, &info, err) ||
	    pick_generation(f, s, &info, &g, err))
		return err_failed(err->status);
	if (info.former && !f->quiet)
		say_foreign(f, "arbor: it was renamed since; this is ", info.path);
	if (archive_read(s, g.row, 0, g.length, pour, &e, err))
		return err_pass(err, "export: %.*s", STR_ARG(info.path));
	if (e.filter) {
		buf_clear(&e.safe);
		term_stream_end(&e.terminal, &e.safe);
		if (out_bytes(buf_as_str(&e.safe), err))
			return err_failed(err->status);
	}
	if (g.row == info.generation && !info.complete)
		return err_fail(err, STATUS_PARTIAL, "export: %.*s: not read to its end yet; 'arbor sync' completes it",
				STR_ARG(info.path));
	return STATUS_OK;
}
