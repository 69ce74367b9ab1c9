/*
 * arbor sources: what is kept.
 */
#include "face/face.h"

#include "claude/layout.h"
#include "store/source.h"

static enum status run(struct face *f, struct err *err);

const struct command command_sources = {
	.name = "sources",
	.summary = "List the files that are kept, or the versions of one",
	.usage = "[PATH|ID]",
	.text = "Without an argument: every file, with the beginning of its id, its kind, its size, its\n"
		"lines and how many versions (generations) of it there are. '-' marks a file that no\n"
		"longer exists outside the store. With one: its generations.\n",
	.examples = "  arbor sources                    # everything\n"
		    "  arbor sources history.jsonl      # the versions of one file\n",
	.most_words = 1,
	.run = run,
};

static enum status print_source(void *ctx, const struct source_info *i, struct err *err)
{
	char id[UUID_TEXT + 1], size[SIZE_TEXT];
	int64_t *count = ctx;

	(void)err;
	if ((*count)++ == 0)
		out_printf("%-8s  %-13s %9s %8s %4s   %s\n", "ID", "KIND", "SIZE", "LINES", "GENS", "PATH");
	uuid_print(&i->id, id);
	out_printf("%.8s  %-13s %9s %8" PRId64 " %4" PRId64 " %s ", id, claude_kind_name(claude_kind_of(i->path)),
		   size_text(i->bytes, size), i->lines.lines + (i->lines.tail > 0), i->generations,
		   i->vanished_at ? "-" : " ");
	if (!str_eq(i->root, STR("claude"))) {
		out_foreign(i->root);
		out_printf(":");
	}
	out_foreign(i->path);
	out_printf("\n");
	return STATUS_OK;
}

static enum status print_generations(struct store *s, struct str name, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct generation *list;
	struct source_info info;
	char id[UUID_TEXT + 1], when[TIME_TEXT + 1], size[SIZE_TEXT], shared[SIZE_TEXT];
	size_t count;

	if (source_find(s, name, &mem, &info, err) || generation_list(s, info.row, &mem, &list, &count, err))
		return err_failed(err->status);
	uuid_print(&info.id, id);
	out_printf("%s  ", id);
	out_foreign(info.root);
	out_printf(":");
	out_foreign(info.path);
	out_printf("\n%-4s %-24s %9s   %s\n", "GEN", "FIRST SEEN", "SIZE", "SHARES");
	for (size_t i = 0; i < count; i++) {
		time_print(list[i].started_at, when);
		out_printf("%-4" PRId64 " %s %9s", list[i].number, when, size_text(list[i].length, size));
		if (list[i].base)
			out_printf("   %s with %" PRId64, size_text(list[i].shared, shared), list[i].base_number);
		out_printf("\n");
	}
	return STATUS_OK;
}

static enum status run(struct face *f, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;
	int64_t count = 0;

	if (face_open_store(f, false, &s, err))
		return err_failed(err->status);
	if (f->args.word_count)
		return print_generations(s, f->args.word[0], err);
	if (source_each(s, print_source, &count, err))
		return err_failed(err->status);
	if (count == 0)
		return err_fail(err, STATUS_NOT_FOUND, "the store is empty; 'arbor sync' fills it");
	return STATUS_OK;
}
