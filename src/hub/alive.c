/*
 * Who is alive: the notes of running clients, held against /proc.
 *
 * The notes are read from the folders themselves, each opened beneath its root without
 * following links, as a sync does it; nothing else there is looked at.
 */
#include "hub/alive.h"

#include "base/file.h"
#include "base/walk.h"
#include "claude/layout.h"
#include "store/find.h"

#include <fcntl.h>
#include <stdio.h>

/* A note has some 300 bytes, the line of /proc as many. */
#define NOTE_BYTES (64 * KIB)

void alive_release(struct alive *a)
{
	map_release(&a->by_session);
	arena_release(&a->mem);
}

static bool runs(const struct live *l)
{
	struct buf stat CLEANUP(buf_release) = BUF_INIT(NOTE_BYTES);
	struct err ignored;
	char path[64];

	snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", l->pid);
	return file_read_all(path, &stat, &ignored) == STATUS_OK && live_is_process(l, buf_as_str(&stat));
}

static void take_note(struct alive *a, struct str text)
{
	struct live *l = arena_alloc(&a->mem, sizeof *l);
	char id[UUID_TEXT + 1];

	if (!live_read(text, &a->mem, l) || !runs(l))
		return;
	uuid_print(&l->session, id);
	map_put(&a->by_session, arena_str(&a->mem, str_from(id, UUID_TEXT)), l);
}

/* ---- Folders ---------------------------------------------------------------- */

struct looking {
	struct alive *alive;
	int root;
};

static bool wants(void *ctx, struct str path, bool is_folder)
{
	(void)ctx;
	return is_folder ? str_eq(path, STR("sessions")) : claude_kind_of(path) == CLAUDE_LIVE;
}

static void found(void *ctx, struct str path, const struct file_stat *st)
{
	struct looking *l = ctx;
	char bytes[NOTE_BYTES];
	int fd CLEANUP(file_close) = -1;
	struct err ignored;
	size_t got;

	(void)st;
	if (file_open_beneath(l->root, path, O_RDONLY, &fd, &ignored) == STATUS_OK &&
	    file_read_at(fd, 0, bytes, sizeof bytes, &got, &ignored) == STATUS_OK)
		take_note(l->alive, str_from(bytes, got));
}

static void failed(void *ctx, struct str path, enum walk_problem problem, const struct err *why)
{
	(void)ctx;
	(void)path;
	(void)problem;
	(void)why;
}

static enum status look_into(void *ctx, struct str label, struct str dir, struct err *err)
{
	struct alive *a = ctx;
	int root CLEANUP(file_close) = open(arena_cstr(&a->mem, dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct looking l = { a, root };
	struct walk walk = { .wants = wants, .found = found, .failed = failed, .ctx = &l };
	struct err ignored;

	(void)label;
	(void)err;
	(void)(root >= 0 && walk_run(&walk, root, &ignored) == STATUS_OK);
	return STATUS_OK;
}

enum status alive_load(struct store *s, struct alive *out, struct err *err)
{
	return root_each(s, look_into, out, err);
}

/* ---- Sessions --------------------------------------------------------------- */

const struct live *alive_find(const struct alive *a, const struct uuid *session)
{
	char id[UUID_TEXT + 1];

	uuid_print(session, id);
	return map_get(&a->by_session, str_from(id, UUID_TEXT));
}
