/*
 * arbor sources: what is kept.
 */
#include "face/face.h"

#include "claude/layout.h"
#include "store/find.h"

static enum status run(struct face *f, struct err *err);

const struct command command_sources = {
	.name = "sources",
	.summary = "List the files that are kept, or the versions of one",
	.usage = "[PATH|ID]",
	.text = "Without an argument: every file, with the beginning of its id, its kind, its\n"
		"size, its lines and how many versions (generations) of it there are. '-' marks a\n"
		"file that no longer exists outside the store, '+' one that is not read to its\n"
		"end yet. With an argument: its generations.\n",
	.examples = "  arbor sources                    # everything\n"
		    "  arbor sources history.jsonl      # the versions of one file\n",
	.most_words = 1,
	.run = run,
};

struct listing {
	int columns;      /* of the terminal, 0 = none */
	struct buf group; /* what the rows above stand under, on a terminal */
	int64_t files, bytes, gone;
};

static void listing_release(struct listing *l)
{
	buf_release(&l->group);
}

/* The folder a row stands under on a terminal: projects/NAME, else the first. */
static struct str group_of(struct str path)
{
	struct str rest, first = str_cut(path, '/', &rest);

	if (!rest.p)
		return (struct str){ 0 };
	if (str_eq(first, STR("projects")) && str_has_byte(rest, '/'))
		return str_sub(path, 0, first.n + 1 + str_find(rest, '/'));
	return first;
}

/* On a terminal rows are grouped, so that what tells them apart has room. Returns
 * what is left of the path. */
static struct str print_group(struct listing *l, const struct source_info *i)
{
	struct str group = group_of(i->path);
	struct buf name CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH + LIMIT_LABEL);

	if (!str_eq(i->root, STR("claude")))
		buf_printf(&name, "%.*s:", STR_ARG(i->root));
	buf_str(&name, group);
	if (l->files == 0 || !str_eq(buf_as_str(&name), buf_as_str(&l->group))) {
		if (name.n) {
			out_path(buf_as_str(&name), l->columns - 1);
			out_printf("/\n");
		}
		buf_clear(&l->group);
		buf_str(&l->group, buf_as_str(&name));
	}
	return group.n ? str_sub(i->path, group.n + 1, SIZE_MAX) : i->path;
}

static enum status print_source(void *ctx, const struct source_info *i, struct err *err)
{
	enum { BEFORE_PATH = 52 };
	struct listing *l = ctx;
	char id[UUID_TEXT + 1], size[SIZE_TEXT];
	struct str path = i->path;

	(void)err;
	if (l->files == 0)
		out_printf("%-8s  %-13s %9s %8s %4s   %s\n", "ID", "KIND", "SIZE", "LINES", "GENS", "PATH");
	if (l->columns)
		path = print_group(l, i);
	l->files++;
	l->bytes += i->bytes;
	l->gone += i->vanished_at != 0;
	uuid_print(&i->id, id);
	out_printf("%.8s  %-13s %9s %8" PRId64 " %4" PRId64 " %s ", id, claude_kind_name(claude_kind_of(i->path)),
		   size_text(i->bytes, size), i->lines.lines + (i->lines.tail > 0), i->generations,
		   i->vanished_at ? "-" : i->complete ? " " : "+");
	if (!l->columns && !str_eq(i->root, STR("claude"))) {
		out_foreign(i->root);
		out_printf(":");
	}
	out_path(path, l->columns ? l->columns - BEFORE_PATH : 0);
	out_printf("\n");
	return STATUS_OK;
}

static void print_total(const struct listing *l)
{
	char size[SIZE_TEXT];

	out_printf("%" PRId64 " file%s, %s", l->files, l->files == 1 ? "" : "s", size_text(l->bytes, size));
	if (l->gone)
		out_printf(", %" PRId64 " of them only here", l->gone);
	out_printf("\n");
}

static enum status print_generations(struct store *s, struct str name, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct generation *list;
	struct source_info info;
	char id[UUID_TEXT + 1], when[TIME_TEXT + 1], dated[TIME_TEXT + 1], size[SIZE_TEXT], shared[SIZE_TEXT];
	size_t count;

	if (source_find(s, face_file_name(name, &mem), &mem, &info, err) ||
	    generation_list(s, info.row, &mem, &list, &count, err))
		return err_failed(err->status);
	uuid_print(&info.id, id);
	out_printf("%s  ", id);
	out_foreign(info.root);
	out_printf(":");
	out_foreign(info.path);
	out_printf("\n%-4s %-24s %-24s %9s   %s\n", "GEN", "DATE OF THE FILE", "FIRST SEEN", "SIZE", "SHARES");
	for (size_t i = 0; i < count; i++) {
		time_print(list[i].started_at, when);
		time_print(list[i].mtime_ms, dated);
		out_printf("%-4" PRId64 " %-24s %s %9s", list[i].number, list[i].mtime_ms ? dated : "-", when,
			   size_text(list[i].length, size));
		if (list[i].base)
			out_printf("   %s with %" PRId64, size_text(list[i].shared, shared), list[i].base_number);
		out_printf("\n");
	}
	return STATUS_OK;
}

static enum status run(struct face *f, struct err *err)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct listing l CLEANUP(listing_release) = {
		.columns = face_columns(f),
		.group = BUF_INIT(LIMIT_PATH + LIMIT_LABEL),
	};

	if (face_open_store(f, false, &s, err))
		return err_failed(err->status);
	if (f->args.word_count)
		return print_generations(s, f->args.word[0], err);
	if (source_each(s, print_source, &l, err))
		return err_failed(err->status);
	if (l.files == 0)
		return err_fail(err, STATUS_NOT_FOUND, "the store is empty; 'arbor sync' fills it");
	if (l.columns && !f->quiet)
		print_total(&l);
	return STATUS_OK;
}
