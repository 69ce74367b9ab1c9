/*
 * schedule SEED[-LAST] STEPS [DIR]: random histories of a folder, mirrored as
 * they happen, against a model that remembers every byte.
 *
 * A step does something to a file (append, tear, rewrite, edit, truncate,
 * rename, swap, delete, replace, copy, touch ...) or mirrors the folder: with
 * one sync, with several at once, with one that is cancelled, or with a process
 * that is killed. Nothing changes while a sync runs, so what the store must
 * hold afterwards is known exactly:
 *
 *   - The newest bytes of each source are those of its file.
 *   - Its generations are the states seen at syncs, in order, no more and no
 *     less: a file that grows (.jsonl) and begins with what is archived stays in
 *     its generation, everything else that differs starts another.
 *   - After an interruption the last generation may be the beginning of a
 *     state; the next sync continues it.
 *   - A source is found again at its path; a file that was only renamed keeps
 *     its source; what is gone is marked, and nothing else is.
 *   - check finds nothing, and no row is newer than the store's counter.
 *
 * Which source a file belongs to is read from the store and then judged, since
 * inodes are the file system's choice. Large files are only appended to between
 * two syncs, or edited: an edit in the middle of one that also grew is not looked for
 * (ingest/compare.c).
 *
 * The system's time can be moved (clock_gettime() below), because a sync trusts
 * a file's times only when the last change is two seconds old.
 */
#include "claude/layout.h"
#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "store/archive.h"
#include "store/find.h"
#include "store/check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 12, MOST_ROWS = 400, MOST_SYNCS = 3, HEAD = LIMIT_HEAD_HASH };

/* Most files stay small; a copy of every version is kept in memory. */
#define MOST_BYTES  (LIMIT_VERIFY_WHOLE + 24 * MIB)
#define LARGE       (LIMIT_VERIFY_WHOLE / 2)

/* A place for a file. */
struct slot {
	const char *path;
	bool there;
	struct buf now;
	bool edited;   /* since the last sync, otherwise than by appending */
	bool appended; /* since the last sync */
};

/* What the model knows of a source. */
struct row {
	int64_t id;
	char path[128];
	struct file_stat st;  /* of the file when it was last seen complete; inode 0 = never */
	bool partial;         /* its newest generation was never read to the end */
	struct buf *versions; /* one for each generation */
	size_t count;
	bool seen;            /* by the observation in progress */
};

struct world {
	uint64_t random;
	uint64_t seed, steps;
	char dir[256], root[300], store_path[300];
	struct slot slots[SLOTS];
	struct row rows[MOST_ROWS];
	size_t row_count;
	struct store *store;
	bool trusting;        /* the clock is ahead: times are trusted at once */
	bool large;           /* one file grows beyond LIMIT_VERIFY_WHOLE */
	struct buf log;       /* what was done, for the report of a failure */
	uint64_t syncs, checks, kills, cuts;
};

static const char *const paths[SLOTS] = {
	"history.jsonl",
	"projects/-a/11111111-1111-4111-8111-111111111111.jsonl",
	"projects/-a/22222222-2222-4222-8222-222222222222.jsonl",
	"projects/-a/11111111-1111-4111-8111-111111111111/subagents/agent-1.jsonl",
	"projects/-a/11111111-1111-4111-8111-111111111111/tool-results/x.txt",
	"projects/-b/33333333-3333-4333-8333-333333333333.jsonl",
	"projects/-b/memory/MEMORY.md",
	"plans/one.md",
	"plans/two.md",
	"tasks/t/1.json",
	"tasks/t/2.json",
	"todos/x.json",
};

/* ---- Time ------------------------------------------------------------------ */

static atomic_int seconds_ahead;

/* Stands in front of the C library's, for everything in this program. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, id, t);

	if (r == 0 && id == CLOCK_REALTIME)
		t->tv_sec += atomic_load(&seconds_ahead);
	return r;
}

static void sleep_us(long us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* ---- Failing, choosing ----------------------------------------------------- */

static void ATTR_PRINTF(2, 3) NORETURN die(struct world *w, const char *format, ...)
{
	va_list args;

	printf("# FAILED: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n# again with: schedule %" PRIu64 " %" PRIu64 " DIR\n# history:%s\n", w->seed, w->steps,
	       w->log.p ? w->log.p : "");
	fflush(stdout);
	_exit(1);
}

static void ATTR_PRINTF(2, 3) note(struct world *w, const char *format, ...)
{
	va_list args;

	buf_text(&w->log, "\n#   ");
	va_start(args, format);
	buf_vprintf(&w->log, format, args);
	va_end(args);
}

static uint64_t rnd(struct world *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return below ? (w->random >> 11) % below : 0;
}

static size_t rnd_size(struct world *w)
{
	switch (rnd(w, 40)) {
	case 0:
		return MIB + rnd(w, 2 * MIB);
	case 1:
	case 2:
		return rnd(w, 400 * KIB);
	case 3:
	case 4:
	case 5:
	case 6:
		return rnd(w, 20 * KIB);
	default:
		return rnd(w, 400);
	}
}

/* Bytes of lines: easy or impossible to pack, short or very long. */
static void make_bytes(struct world *w, struct buf *out, size_t n, bool whole_lines)
{
	bool dense = rnd(w, 4) == 0;
	uint64_t line = rnd(w, 6) == 0 ? 900 * KIB : 10 + rnd(w, 300);
	char *p = buf_reserve(out, n);

	if (!p)
		die(w, "a file of the test became too large");
	for (size_t i = 0; i < n; i++) {
		uint64_t r = rnd(w, 256 * line);

		p[i] = (char)(r % line == 0 ? '\n' : dense ? r / line : 'a' + r / line % 7);
	}
	if (whole_lines && n)
		p[n - 1] = '\n';
	buf_grew(out, n);
}

/* ---- Files ----------------------------------------------------------------- */

static void full_path(const struct world *w, const struct slot *f, char out[512])
{
	snprintf(out, 512, "%s/%s", w->root, f->path);
}

static void make_folders(const char *path)
{
	char part[512];

	for (size_t i = 1; path[i]; i++)
		if (path[i] == '/') {
			snprintf(part, sizeof part, "%.*s", (int)i, path);
			mkdir(part, 0700);
		}
}

static void put_at(struct world *w, const char *path, int flags, size_t offset, struct str bytes)
{
	int fd;

	make_folders(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
	if (fd < 0 || lseek(fd, (off_t)offset, SEEK_SET) < 0)
		die(w, "%s: %s", path, strerror(errno));
	while (bytes.n) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0)
			die(w, "%s: %s", path, strerror(errno));
		bytes = str_sub(bytes, (size_t)n, SIZE_MAX);
	}
	close(fd);
}

/* Writes all of slot's bytes into the file, in place. */
static void put_whole(struct world *w, struct slot *f)
{
	char path[512];

	full_path(w, f, path);
	put_at(w, path, O_TRUNC, 0, buf_as_str(&f->now));
	f->there = true;
	f->edited = true;
}

static void copy_bytes(struct buf *to, const struct buf *from)
{
	buf_clear(to);
	buf_add(to, from->p, from->n);
}

static void move_bytes(struct slot *to, struct slot *from)
{
	struct buf spare = to->now;

	to->now = from->now;
	from->now = spare;
	buf_clear(&from->now);
	to->there = true;
	from->there = false;
	to->edited = true;
}

static struct slot *pick(struct world *w, bool there)
{
	for (int i = 0; i < 40; i++) {
		struct slot *f = &w->slots[rnd(w, SLOTS)];

		if (f->there == there)
			return f;
	}
	return NULL;
}

/* ---- What can happen to a file --------------------------------------------- */

static void do_append(struct world *w, struct slot *f, size_t n, bool whole_lines)
{
	size_t before = f->now.n;
	char path[512];

	if (before > LARGE && f->edited)
		return;
	make_bytes(w, &f->now, n, whole_lines);
	f->appended = true;
	full_path(w, f, path);
	put_at(w, path, 0, before, str_sub(buf_as_str(&f->now), before, SIZE_MAX));
	note(w, "append %zu to %s", f->now.n - before, f->path);
}

static void op_append_lines(struct world *w, struct slot *f)
{
	do_append(w, f, 1 + rnd_size(w), true);
}

static void op_append_torn(struct world *w, struct slot *f)
{
	do_append(w, f, 1 + rnd_size(w), false);
}

/* Same size, other bytes; sometimes the old time is put back. */
static void op_rewrite_same_size(struct world *w, struct slot *f)
{
	size_t n = f->now.n;
	char path[512];
	struct stat st;

	full_path(w, f, path);
	if (stat(path, &st))
		die(w, "%s: %s", path, strerror(errno));
	buf_clear(&f->now);
	make_bytes(w, &f->now, n, true);
	put_whole(w, f);
	if (rnd(w, 2))
		utimensat(AT_FDCWD, path, (struct timespec[]){ st.st_atim, st.st_mtim }, 0);
	note(w, "rewrite %s, %zu as before", f->path, n);
}

static void op_rewrite(struct world *w, struct slot *f)
{
	buf_clear(&f->now);
	make_bytes(w, &f->now, rnd_size(w), rnd(w, 3) > 0);
	put_whole(w, f);
	note(w, "rewrite %s, %zu", f->path, f->now.n);
}

static void op_edit(struct world *w, struct slot *f)
{
	size_t at = rnd(w, f->now.n), n = rnd(w, 60);
	char path[512];

	if (f->now.n > LARGE && f->appended)
		return;
	full_path(w, f, path);
	n = size_min(n, f->now.n - at);
	for (size_t i = 0; i < n; i++)
		f->now.p[at + i] = (char)('A' + rnd(w, 26));
	put_at(w, path, 0, at, str_sub(buf_as_str(&f->now), at, n));
	f->edited = true;
	note(w, "edit %zu at %zu of %s", n, at, f->path);
}

static void op_truncate(struct world *w, struct slot *f)
{
	size_t n = rnd(w, 3) == 0 ? 0 : rnd(w, f->now.n + 1);
	char path[512];

	full_path(w, f, path);
	if (truncate(path, (off_t)n))
		die(w, "%s: %s", path, strerror(errno));
	f->now.n = n;
	f->edited = true;
	note(w, "truncate %s to %zu", f->path, n);
	if (rnd(w, 3) == 0 && n < LARGE)
		do_append(w, f, 1 + rnd_size(w), true);
}

static void op_rename(struct world *w, struct slot *f)
{
	struct slot *to = pick(w, false);
	char from_path[512], to_path[512];

	if (!to)
		return;
	full_path(w, f, from_path);
	full_path(w, to, to_path);
	make_folders(to_path);
	if (rename(from_path, to_path))
		die(w, "%s: %s", to_path, strerror(errno));
	move_bytes(to, f);
	note(w, "rename %s to %s", f->path, to->path);
}

static void op_rename_over(struct world *w, struct slot *f)
{
	struct slot *to = pick(w, true);
	char from_path[512], to_path[512];

	if (!to || to == f)
		return;
	full_path(w, f, from_path);
	full_path(w, to, to_path);
	if (rename(from_path, to_path))
		die(w, "%s: %s", to_path, strerror(errno));
	move_bytes(to, f);
	note(w, "rename %s over %s", f->path, to->path);
}

static void op_swap(struct world *w, struct slot *f)
{
	struct slot *to = pick(w, true);
	char from_path[512], to_path[512];
	struct buf spare;

	if (!to || to == f)
		return;
	full_path(w, f, from_path);
	full_path(w, to, to_path);
	if (renameat2(AT_FDCWD, from_path, AT_FDCWD, to_path, RENAME_EXCHANGE))
		return; /* a file system that cannot */
	spare = to->now;
	to->now = f->now;
	f->now = spare;
	to->edited = f->edited = true;
	note(w, "swap %s and %s", f->path, to->path);
}

static void op_delete(struct world *w, struct slot *f)
{
	char path[512];

	full_path(w, f, path);
	if (unlink(path))
		die(w, "%s: %s", path, strerror(errno));
	f->there = false;
	buf_clear(&f->now);
	note(w, "delete %s", f->path);
}

static void op_create(struct world *w, struct slot *ignored)
{
	struct slot *f = pick(w, false);

	(void)ignored;
	if (!f)
		return;
	buf_clear(&f->now);
	make_bytes(w, &f->now, rnd(w, 8) ? rnd_size(w) : 0, rnd(w, 3) > 0);
	put_whole(w, f);
	note(w, "create %s, %zu", f->path, f->now.n);
}

/* As editors do it: a new file beside it, renamed over it. */
static void op_replace(struct world *w, struct slot *f)
{
	char path[512], temp[520];
	bool grows = rnd(w, 3) == 0 && f->now.n < LARGE;

	full_path(w, f, path);
	snprintf(temp, sizeof temp, "%s.lock", path); /* a name no sync reads */
	if (!grows)
		buf_clear(&f->now);
	make_bytes(w, &f->now, rnd_size(w), true);
	put_at(w, temp, O_TRUNC, 0, buf_as_str(&f->now));
	if (rename(temp, path))
		die(w, "%s: %s", path, strerror(errno));
	f->edited = true;
	note(w, "replace %s, %zu%s", f->path, f->now.n, grows ? ", old bytes first" : "");
}

static void op_copy(struct world *w, struct slot *f)
{
	struct slot *to = pick(w, rnd(w, 2) == 0);

	if (!to || to == f || f->now.n > LARGE)
		return;
	copy_bytes(&to->now, &f->now);
	put_whole(w, to);
	note(w, "copy %s to %s", f->path, to->path);
}

static void op_touch(struct world *w, struct slot *f)
{
	struct timespec t = { .tv_sec = (time_t)rnd(w, 2000000000) };
	char path[512];

	full_path(w, f, path);
	utimensat(AT_FDCWD, path, (struct timespec[]){ t, t }, 0);
	note(w, "touch %s", f->path);
}

static void op_chmod(struct world *w, struct slot *f)
{
	char path[512];

	full_path(w, f, path);
	chmod(path, rnd(w, 2) ? 0400 : 0644);
	note(w, "chmod %s", f->path);
}

static void (*const operations[])(struct world *, struct slot *) = {
	op_append_lines, op_append_lines, op_append_lines, op_append_torn, op_append_torn, op_rewrite_same_size,
	op_rewrite,      op_edit,         op_truncate,     op_rename,      op_rename,      op_rename_over,
	op_swap,         op_delete,       op_create,       op_create,      op_replace,     op_copy,
	op_touch,        op_chmod,
};

/* ---- Looking into the store ------------------------------------------------ */

static struct row *row_of(struct world *w, int64_t id)
{
	for (size_t i = 0; i < w->row_count; i++)
		if (w->rows[i].id == id)
			return &w->rows[i];
	return NULL;
}

static struct row *row_at(struct world *w, const char *path)
{
	for (size_t i = 0; i < w->row_count; i++)
		if (strcmp(w->rows[i].path, path) == 0)
			return &w->rows[i];
	return NULL;
}

static struct slot *slot_at(struct world *w, const char *path)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (strcmp(w->slots[i].path, path) == 0)
			return &w->slots[i];
	return NULL;
}

static struct file_stat look_at(const struct world *w, const struct slot *f)
{
	struct file_stat st, none = { 0 };
	char path[512];

	full_path(w, f, path);
	return file_stat_at(AT_FDCWD, path, &st) ? none : st;
}

static bool begins_with(const struct buf *all, const struct buf *first)
{
	return first->n <= all->n && (first->n == 0 || memcmp(all->p, first->p, first->n) == 0);
}

static bool same_bytes(const struct buf *a, const struct buf *b)
{
	return a && a->n == b->n && begins_with(a, b);
}

static struct buf *newest(const struct row *r)
{
	return r->count ? &r->versions[r->count - 1] : NULL;
}

static struct buf *push_version(struct row *r)
{
	r->versions = mem_resize(r->versions, (r->count + 1) * sizeof *r->versions);
	buf_init(&r->versions[r->count], MOST_BYTES);
	return &r->versions[r->count++];
}

static enum status gather(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

static void read_generation(struct world *w, const struct generation *g, struct buf *out)
{
	struct err err;

	buf_clear(out);
	if (archive_read(w->store, g->row, 0, g->length, gather, out, &err))
		die(w, "reading generation %" PRId64 ": %s", g->number, err.text);
}

/* Could `r` be what is now at slot `f`, as head, inode and birth say? Inodes are
 * reused; where births are unknown, a long head must do. */
static bool looks_like(const struct world *w, const struct row *r, const struct slot *f)
{
	const struct buf *v = newest(r);
	size_t head = v ? size_min(v->n, HEAD) : 0;
	struct file_stat st = look_at(w, f);
	bool same_birth = st.btime_ns && r->st.btime_ns ? st.btime_ns == r->st.btime_ns : head >= HEAD / 4;

	return head && r->st.inode && r->st.inode == st.inode && same_birth && f->now.n >= head &&
	       memcmp(v->p, f->now.p, head) == 0;
}

/* A path that had no source may only get one that has lost its file, and must
 * get it when there is no doubt which. */
static void judge_identity(struct world *w, const struct row *r, const struct slot *f, bool is_new)
{
	const struct row *candidate = NULL;
	size_t rows = 0, files = 0;

	if (!is_new) {
		const struct slot *before = slot_at(w, r->path);

		if (before && before->there)
			die(w, "%s became a renamed %s, which is still there", f->path, r->path);
	}
	for (size_t i = 0; i < w->row_count; i++) {
		const struct slot *old = slot_at(w, w->rows[i].path);

		if (!(old && old->there) && looks_like(w, &w->rows[i], f)) {
			candidate = &w->rows[i];
			rows++;
		}
	}
	for (size_t i = 0; i < SLOTS; i++)
		files += candidate && w->slots[i].there && looks_like(w, candidate, &w->slots[i]);
	if (rows == 1 && files == 1 && !candidate->partial && (is_new || candidate != r))
		die(w, "%s is the renamed %s, and was not recognised", f->path, candidate->path);
}

/* What a complete sync has to make of a file's state. */
static void expect_state(struct row *r, const struct slot *f)
{
	struct buf *last = newest(r);

	if (last && same_bytes(last, &f->now)) {
		/* nothing new */
	} else if (last && (r->partial || claude_file_grows(str_of(f->path))) && begins_with(&f->now, last)) {
		copy_bytes(last, &f->now);
	} else {
		copy_bytes(push_version(r), &f->now);
	}
	r->partial = false;
}

/* What an interrupted sync has left must be the way to that. */
static void adopt_state(struct world *w, struct row *r, const struct slot *f, const struct source_info *info,
			bool complete)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf got CLEANUP(buf_release) = BUF_INIT(MOST_BYTES);
	const struct buf *last = newest(r);
	struct generation *list;
	struct err err;
	size_t count;

	if (generation_list(w->store, info->row, &mem, &list, &count, &err))
		die(w, "%s", err.text);
	if (count < r->count || count > r->count + 1)
		die(w, "%s: %zu generations, expected %zu or one more", f->path, count, r->count);
	if (count == 0)
		return;
	read_generation(w, &list[count - 1], &got);
	if (count == r->count && same_bytes(last, &got)) {
		r->partial = !complete;
		return;
	}
	if (count == r->count && !begins_with(&got, last))
		die(w, "%s: generation %zu lost bytes in an interrupted sync", f->path, count);
	if (!f->there || !begins_with(&f->now, &got))
		die(w, "%s: an interrupted sync left bytes that never were", f->path);
	/* Complete means: its generation once was. One that grows stays so. */
	if (complete && !same_bytes(&got, &f->now) && !(count == r->count && claude_file_grows(str_of(f->path))))
		die(w, "%s: half read, and called complete", f->path);
	copy_bytes(count == r->count ? &r->versions[r->count - 1] : push_version(r), &got);
	r->partial = !complete;
}

/* ---- Observing ------------------------------------------------------------- */

struct observation {
	struct world *w;
	bool interrupted;
	struct source *sources; /* as a sync loads them */
	size_t count;
};

static bool is_complete(const struct observation *o, int64_t id)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->sources[i].row == id)
			return o->sources[i].complete;
	return false;
}

static void take_path(struct world *w, struct row *r, const char *path, bool is_new)
{
	struct slot *f = slot_at(w, path);
	struct row *owner = row_at(w, path);

	if (!f)
		die(w, "the store has a path that never was: %s", path);
	if (owner && owner != r)
		die(w, "%s has become another source", path);
	if (!owner && f->there)
		judge_identity(w, r, f, is_new);
	snprintf(r->path, sizeof r->path, "%s", path);
}

static enum status observe_source(void *ctx, const struct source_info *info, struct err *err)
{
	struct observation *o = ctx;
	struct world *w = o->w;
	struct row *r = row_of(w, info->row);
	bool is_new = !r, complete = is_complete(o, info->row);
	char path[128];
	struct slot *f;

	(void)err;
	if (is_new) {
		if (w->row_count == MOST_ROWS)
			die(w, "too many sources for this test");
		r = &w->rows[w->row_count];
		r->id = info->row;
	}
	snprintf(path, sizeof path, "%.*s", STR_ARG(info->path));
	if (is_new || strcmp(path, r->path))
		take_path(w, r, path, is_new);
	w->row_count += is_new;
	r->seen = true;
	f = slot_at(w, path);
	if (o->interrupted) {
		adopt_state(w, r, f, info, complete);
	} else if (f->there) {
		expect_state(r, f);
		if (!complete)
			die(w, "%s: not complete after a sync", path);
	}
	if (!o->interrupted && (info->vanished_at != 0) != !f->there)
		die(w, "%s: %s", path, f->there ? "marked as vanished" : "not marked as vanished");
	if (f->there && complete && r->count && same_bytes(newest(r), &f->now))
		r->st = look_at(w, f);
	return STATUS_OK;
}

static void observe(struct world *w, bool interrupted)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct observation o = { .w = w, .interrupted = interrupted };
	struct err err;

	for (size_t i = 0; i < w->row_count; i++)
		w->rows[i].seen = false;
	if (source_load(w->store, 1, &mem, &o.sources, &o.count, &err) ||
	    source_each(w->store, observe_source, &o, &err))
		die(w, "looking into the store: %s", err.text);
	for (size_t i = 0; i < w->row_count; i++)
		if (!w->rows[i].seen)
			die(w, "the source of %s is no longer in the store", w->rows[i].path);
	for (size_t i = 0; i < SLOTS && !interrupted; i++) {
		if (w->slots[i].there && !row_at(w, w->slots[i].path))
			die(w, "%s is not in the store", w->slots[i].path);
		w->slots[i].edited = w->slots[i].appended = false;
	}
}

static void verify_row(struct world *w, const struct row *r, bool all)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf got CLEANUP(buf_release) = BUF_INIT(MOST_BYTES);
	struct generation *list;
	struct err err;
	size_t count;

	if (generation_list(w->store, r->id, &mem, &list, &count, &err))
		die(w, "%s", err.text);
	if (count != r->count)
		die(w, "%s: %zu generations, expected %zu", r->path, count, r->count);
	for (size_t i = all || count == 0 ? 0 : count - 1; i < count; i++) {
		read_generation(w, &list[i], &got);
		if (!same_bytes(&got, &r->versions[i]))
			die(w, "%s: generation %zu of %zu differs: %zu bytes, expected %zu", r->path, i + 1,
			    count, got.n, r->versions[i].n);
	}
}

static void on_problem(void *ctx, struct str text)
{
	die(ctx, "check: %.*s", STR_ARG(text));
}

/* No row may be newer than the counter: who asks for what came later than the
 * counter would never be told of it. */
static void check_counter(struct world *w, sqlite3 *db)
{
	static const char sql[] =
		"SELECT s.value, m.rev FROM store_setting s, (SELECT max(rev) AS rev FROM"
		" (SELECT max(rev) AS rev FROM source"
		" UNION ALL SELECT max(rev) FROM generation UNION ALL SELECT max(rev) FROM block"
		" UNION ALL SELECT max(rev) FROM root)) m WHERE s.key = 'rev' AND m.rev > s.value";
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		die(w, "a row has revision %lld, the store is at %lld", sqlite3_column_int64(st, 1),
		    sqlite3_column_int64(st, 0));
	sqlite3_finalize(st);
}

static sqlite3 *look_aside(struct world *w)
{
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(w->store_path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		die(w, "opening beside: %s", sqlite3_errmsg(db));
	sqlite3_busy_timeout(db, 30000);
	return db;
}

static void verify(struct world *w, bool all)
{
	struct check_report report = { .problem = on_problem, .ctx = w };
	struct err err;
	sqlite3 *db;

	for (size_t i = 0; i < w->row_count; i++)
		verify_row(w, &w->rows[i], all);
	if (!all)
		return;
	if (check_run(w->store, &report, &err))
		die(w, "check: %s", err.text);
	db = look_aside(w);
	check_counter(w, db);
	sqlite3_close(db);
	w->checks++;
}

/* ---- Mirroring ------------------------------------------------------------- */

static struct store *open_store(struct world *w, struct err *err)
{
	struct store_options o = { .path = w->store_path, .create = true };
	struct store *s = NULL;
	bool rebuilt;

	if (store_open(&o, &s, err) || rebuild_if_stale(s, NULL, &rebuilt, err))
		die(w, "opening: %s", err->text);
	return s;
}

struct one_sync {
	struct world *w;
	struct store *store;  /* NULL = opens its own */
	int left;             /* events until it is cancelled; negative = never */
	long cancel_after;    /* us, when it is cancelled after some time */
	bool force;
	atomic_bool cancel;
	enum status status;
	struct err err;
	pthread_t thread;
};

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	struct one_sync *y = ctx;

	/* Its bytes are anybody's; that a line of them is none is no failure. */
	if (why && what != SYNC_BROKEN)
		die(y->w, "sync: %d %.*s: %s", (int)what, STR_ARG(path), why->text);
	if (y->left >= 0 && y->left-- == 0)
		atomic_store(&y->cancel, true);
}

static void *run_sync(void *ctx)
{
	struct one_sync *y = ctx;
	struct store *own CLEANUP(store_closep) = NULL;
	struct sync_report report;
	struct sync_options o = {
		.dir = y->w->root, .force = y->force, .cancel = &y->cancel, .event = on_event, .ctx = y,
	};

	if (!y->store)
		own = open_store(y->w, &y->err);
	y->status = sync_run(y->store ? y->store : own, &o, &report, &y->err);
	return NULL;
}

static void must_be_done(struct world *w, const struct one_sync *y)
{
	if (y->status != STATUS_OK)
		die(w, "sync: %s", y->err.text);
}

static void sync_once(struct world *w, bool force)
{
	struct one_sync y = { .w = w, .store = w->store, .left = -1, .force = force };

	note(w, "sync%s", force ? " --force" : "");
	run_sync(&y);
	must_be_done(w, &y);
	observe(w, false);
}

static void open_again(struct world *w)
{
	note(w, "close and open");
	store_close(w->store);
	w->store = open_store(w, &(struct err){ 0 });
}

/* As if the derived tables were another version's: who opens next rebuilds. */
static void make_stale(struct world *w, sqlite3 *db)
{
	if (sqlite3_exec(db, "UPDATE store_setting SET value = '' WHERE key = 'derived_hash'", NULL, NULL, NULL))
		die(w, "making the derived tables stale: %s", sqlite3_errmsg(db));
}

/* Several at once: each must succeed, and together they do what one does. */
static void sync_together(struct world *w)
{
	size_t count = 2 + rnd(w, MOST_SYNCS - 1);
	struct one_sync y[MOST_SYNCS] = { 0 };
	sqlite3 *db = look_aside(w);

	int stale = (int)rnd(w, 6); /* 0: before they begin, 1: in the middle */
	long after = (long)rnd(w, 8000);

	note(w, "%zu syncs at once%s", count, stale < 2 ? ", derived tables stale" : "");
	if (stale == 0)
		make_stale(w, db);
	for (size_t i = 0; i < count; i++) {
		y[i].w = w;
		y[i].left = -1;
		if (pthread_create(&y[i].thread, NULL, run_sync, &y[i]))
			die(w, "no threads");
	}
	if (stale == 1) {
		sleep_us(after);
		make_stale(w, db);
		open_again(w);
	}
	for (size_t i = 0; i < count; i++) {
		while (pthread_tryjoin_np(y[i].thread, NULL)) {
			check_counter(w, db);
			sleep_us(200);
		}
		must_be_done(w, &y[i]);
	}
	sqlite3_close(db);
	observe(w, false);
}

static void *cancel_later(void *ctx)
{
	struct one_sync *y = ctx;

	sleep_us(y->cancel_after);
	atomic_store(&y->cancel, true);
	return NULL;
}

/* After some events, or after some time. */
static void sync_cancelled(struct world *w)
{
	struct one_sync y = { .w = w, .store = w->store, .left = (int)rnd(w, 4), .cancel_after = (long)rnd(w, 6000) };
	bool timed = rnd(w, 2) == 0;

	if (timed)
		y.left = -1;
	note(w, "sync, cancelled after %ld %s", timed ? y.cancel_after : y.left, timed ? "us" : "events");
	if (timed && pthread_create(&y.thread, NULL, cancel_later, &y))
		die(w, "no threads");
	run_sync(&y);
	if (timed)
		pthread_join(y.thread, NULL);
	if (y.status != STATUS_OK && y.status != STATUS_CANCELLED)
		die(w, "sync: %s", y.err.text);
	observe(w, true);
	w->cuts += y.status == STATUS_CANCELLED;
}

static pid_t start_sync(struct world *w)
{
	pid_t child = fork();

	if (child < 0)
		die(w, "fork: %s", strerror(errno));
	if (child == 0) {
		struct one_sync y = { .w = w, .left = -1 };

		run_sync(&y);
		if (y.status != STATUS_OK)
			printf("# %s\n", y.err.text);
		fflush(stdout);
		_exit(y.status != STATUS_OK);
	}
	return child;
}

static bool was_killed(struct world *w, pid_t child)
{
	int state;

	waitpid(child, &state, 0);
	if (WIFEXITED(state) && WEXITSTATUS(state))
		die(w, "a sync in a process of its own failed");
	return WIFSIGNALED(state);
}

/* Sometimes another one runs beside it, and must do the work alone. */
static void sync_killed(struct world *w)
{
	long after = (long)rnd(w, 12000);
	bool beside = rnd(w, 2) == 0;
	pid_t child, other = 0;

	note(w, "sync, killed after %ld us%s", after, beside ? ", beside another" : "");
	store_close(w->store);
	w->store = NULL;
	fflush(stdout);
	child = start_sync(w);
	if (beside)
		other = start_sync(w);
	sleep_us(after);
	kill(child, SIGKILL);
	w->kills += was_killed(w, child);
	if (beside && was_killed(w, other))
		die(w, "the other sync has died");
	w->store = open_store(w, &(struct err){ 0 });
	observe(w, !beside);
}

static void mirror(struct world *w)
{
	uint64_t way = rnd(w, 12);

	w->syncs++;
	if (way < 2)
		sync_cancelled(w);
	else if (way < 4)
		sync_killed(w);
	else if (way == 4)
		open_again(w);
	else if (way < 8)
		sync_together(w);
	else
		sync_once(w, way == 8);
	verify(w, rnd(w, 6) == 0);
	if (w->trusting) /* the next change has another time */
		sleep_us(12000);
}

/* ---- One schedule ---------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void world_init(struct world *w, uint64_t seed, uint64_t steps, const char *dir)
{
	*w = (struct world){ .seed = seed, .steps = steps, .random = seed * 0x9E3779B97F4A7C15u + 0x1234567 };
	for (int i = 0; i < 8; i++)
		rnd(w, 1);
	snprintf(w->dir, sizeof w->dir, "%s/schedule-%" PRIu64, dir, seed);
	snprintf(w->root, sizeof w->root, "%s/claude", w->dir);
	snprintf(w->store_path, sizeof w->store_path, "%s/store.db", w->dir);
	nftw(w->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	if (mkdir(w->dir, 0700) || mkdir(w->root, 0700))
		die(w, "%s: %s", w->dir, strerror(errno));
	buf_init(&w->log, MIB);
	for (size_t i = 0; i < SLOTS; i++) {
		w->slots[i].path = paths[i];
		buf_init(&w->slots[i].now, MOST_BYTES);
	}
	w->trusting = rnd(w, 4) == 0;
	w->large = seed % 40 == 7;
	atomic_store(&seconds_ahead, w->trusting ? 5 : 0);
	note(w, "%s", w->trusting ? "the clock is ahead" : "the clock is right");
}

static void world_release(struct world *w)
{
	store_close(w->store);
	for (size_t i = 0; i < SLOTS; i++)
		buf_release(&w->slots[i].now);
	for (size_t i = 0; i < w->row_count; i++) {
		for (size_t k = 0; k < w->rows[i].count; k++)
			buf_release(&w->rows[i].versions[k]);
		mem_free(w->rows[i].versions);
	}
	buf_release(&w->log);
	nftw(w->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A transcript beyond the size up to which every byte is compared. */
static void grow_large(struct world *w)
{
	struct slot *f = &w->slots[2];

	if (!f->there || f->edited || f->now.n > LIMIT_VERIFY_WHOLE + 4 * MIB)
		return;
	if (f->now.n < LIMIT_VERIFY_WHOLE)
		do_append(w, f, LIMIT_VERIFY_WHOLE + MIB - f->now.n, true);
	do_append(w, f, 1 + rnd_size(w), rnd(w, 2) == 0);
}

static void step(struct world *w)
{
	struct slot *f = pick(w, true);

	if (rnd(w, 4) == 0)
		mirror(w);
	else if (w->large && rnd(w, 4) == 0)
		grow_large(w);
	else if (!f)
		op_create(w, NULL);
	else
		operations[rnd(w, COUNT(operations))](w, f);
}

static void run(struct world *w)
{
	char projects[512];

	/* One sync of nothing gives the root its row. */
	snprintf(projects, sizeof projects, "%s/projects/", w->root);
	make_folders(projects);
	w->store = open_store(w, &(struct err){ 0 });
	sync_once(w, false);
	for (int i = 0; i < 4; i++)
		op_create(w, NULL);
	for (uint64_t i = 0; i < w->steps; i++)
		step(w);
	sync_once(w, false);
	verify(w, true);
	sync_once(w, true);
	verify(w, true);
}

int main(int argc, char **argv)
{
	static struct world w;
	uint64_t first, last, steps, syncs = 0, checks = 0, kills = 0, cuts = 0;
	const char *dir = argc > 3 ? argv[3] : getenv("TMPDIR");
	struct str end;

	if (argc < 3 || !str_to_u64(str_cut(str_of(argv[1]), '-', &end), &first) ||
	    !str_to_u64(str_of(argv[2]), &steps) || (end.p && !str_to_u64(end, &last))) {
		fprintf(stderr, "usage: schedule SEED[-LAST] STEPS [DIR]\n");
		return 2;
	}
	for (uint64_t seed = first; seed <= (end.p ? last : first); seed++) {
		world_init(&w, seed, steps, dir ? dir : "/tmp");
		run(&w);
		world_release(&w);
		syncs += w.syncs;
		checks += w.checks;
		kills += w.kills;
		cuts += w.cuts;
	}
	printf("syncs=%" PRIu64 " kills=%" PRIu64 " cancelled=%" PRIu64 " checks=%" PRIu64 "\n", syncs, kills, cuts,
	       checks);
	return 0;
}
