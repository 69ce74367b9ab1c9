/*
 * arbor check: is the store whole?
 */
#include "face/face.h"

#include "store/check.h"

static enum status run(struct face *f, struct err *err);

const struct command command_check = {
	.name = "check",
	.summary = "Verify the store: the database and every archived byte",
	.usage = "",
	.text = "Reads everything and repairs nothing. Prints each problem with the file it\n"
		"concerns. Exit code 0 means that every byte is there and is what it was; 4 means\n"
		"damage, which 'arbor sync --force' mends where the original files still exist.\n",
	.examples = "  arbor check\n",
	.run = run,
};

static void on_problem(void *ctx, struct str text)
{
	say_foreign(ctx, "arbor: damaged: ", text);
}

static enum status run(struct face *f, struct err *err)
{
	struct check_report r = { .problem = on_problem, .ctx = f };
	struct store *s CLEANUP(store_closep) = NULL;
	char raw[SIZE_TEXT], packed[SIZE_TEXT];

	if (face_open_store(f, false, &s, err) || check_run(s, &r, err))
		return err_failed(err->status);
	if (r.problems)
		return err_fail(err, STATUS_CORRUPT,
				"check: %" PRId64 " problem%s in %s; where the original files still exist,"
				" 'arbor sync --force' mends them",
				r.problems, r.problems == 1 ? "" : "s", store_path(s));
	if (!f->quiet)
		out_printf("ok: %" PRId64 " files, %" PRId64 " generations, %" PRId64 " blocks, %s packed in %s\n",
			   r.sources, r.generations, r.blocks, size_text(r.raw_bytes, raw),
			   size_text(r.packed_bytes, packed));
	return STATUS_OK;
}
