/*
 * lineage DIR FIRST[-LAST] SCHEDULES [TMP]: whether a store means the same in whatever order it came about.
 *
 * DIR/SEED is a folder made by test/oracle/lineage.mjs: files as they are in the end, and what each was before
 * somebody rewrote it. A schedule lets the files come about in a random order and in random pieces: they grow, are cut
 * and written on, written anew in place, or replaced, while syncs run in between, some of them stopped in the middle.
 * In the end its logical dump, up to the lines that were withdrawn, must be that of a store that saw the last files
 * alone; a rebuilt store's must be the same with these lines, and nothing in the derived tables may contradict
 * the rest. Every other schedule sees every version of every file whole, and so the same withdrawn lines as the
 * others of these.
 *
 * A failure leaves both dumps and the log of the schedule in DIR/SEED, and the number that makes it happen again.
 */
#include "derived.h"
#include "groves.h"

#include "base/file.h"
#include "hub/arbor_derived.h"
#include "hub/call.h"
#include "ingest/rebuild.h"
#include "ingest/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 256, MOST_VERSIONS = 64, MOST_BYTES = 64 * 1024 * 1024, MOST_TEXT = 1024 };

/* What a file was, one after the other; the last one is how it ends. */
struct story {
	char path[512];
	struct buf versions[MOST_VERSIONS];
	size_t count;
	/* In this schedule: */
	size_t version;
	size_t written; /* bytes of that version that are there */
	bool there;
};

struct world {
	const char *dir, *tmp;
	uint64_t seed, schedule, random;
	struct story *files;
	size_t count;
	char root[MOST_TEXT], store_path[MOST_TEXT];
	struct store *store;
	struct buf once, now; /* dumps */
	struct buf seen_all;  /* of a schedule that saw every version, with what was withdrawn */
	uint64_t compared;    /* so many with it, */
	uint64_t withdrawn;   /* which has so many of these */
	struct buf log;
	uint64_t syncs, stopped;
};

/* ---- Failing, choosing ----------------------------------------------------------- */

static ATTR_PRINTF(2, 3) void note(struct world *w, const char *format, ...)
{
	char text[MOST_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	buf_printf(&w->log, "%s\n", text);
}

static void leave(struct world *w, const char *name, const struct buf *b)
{
	char path[MOST_TEXT];
	FILE *f;

	snprintf(path, sizeof path, "%s/%" PRIu64 "/%s", w->dir, w->seed, name);
	f = fopen(path, "w");
	if (!f)
		return;
	fwrite(b->p, 1, b->n, f);
	fclose(f);
}

static ATTR_PRINTF(2, 3) _Noreturn void die(struct world *w, const char *format, ...)
{
	char text[MOST_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	leave(w, "dump-once", &w->once);
	leave(w, "dump-now", &w->now);
	leave(w, "log", &w->log);
	printf("seed %" PRIu64 " schedule %" PRIu64 ": %s\n", w->seed, w->schedule, text);
	fflush(stdout);
	exit(1);
}

static uint64_t rnd(struct world *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return below ? (w->random >> 11) % below : 0;
}

/* ---- What is to come about --------------------------------------------------------- */

static void read_whole(struct world *w, struct buf *out, const char *format, const char *name)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);
	struct err err;

	buf_printf(&path, "%s/%" PRIu64 "/%s/%s", w->dir, w->seed, format, name);
	buf_init(out, MOST_BYTES);
	if (file_read_all(path.p, out, &err))
		die(w, "%s", err.text);
}

static void end_file(struct world *w)
{
	struct story *f = w->count ? &w->files[w->count - 1] : NULL;

	if (f)
		read_whole(w, &f->versions[f->count++], "final", f->path);
}

static void read_plan(struct world *w)
{
	struct buf plan CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str rest, line;

	buf_release(&plan);
	read_whole(w, &plan, ".", "plan");
	for (rest = buf_as_str(&plan); rest.n;) {
		struct str word, name;

		line = str_cut(rest, '\n', &rest);
		word = str_cut(line, ' ', &name);
		if (str_eq(word, STR("file"))) {
			end_file(w);
			if (w->count == MOST_FILES)
				die(w, "too many files");
			w->files[w->count] = (struct story){ 0 };
			snprintf(w->files[w->count++].path, sizeof w->files->path, "%.*s", STR_ARG(name));
		} else if (str_eq(word, STR("version")) && w->count) {
			struct story *f = &w->files[w->count - 1];
			char number[32];

			if (f->count + 2 > MOST_VERSIONS)
				die(w, "%s: too many versions", f->path);
			snprintf(number, sizeof number, "%.*s", STR_ARG(name));
			read_whole(w, &f->versions[f->count++], "versions", number);
		}
	}
	end_file(w);
}

/* ---- Files ----------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void make_folder_of(struct world *w, const char *path)
{
	char folder[MOST_TEXT + 512];
	struct err err;

	snprintf(folder, sizeof folder, "%s", path);
	*strrchr(folder, '/') = '\0';
	if (file_make_dirs(folder, &err))
		die(w, "%s", err.text);
}

static void write_at(struct world *w, const char *path, const struct buf *from, size_t at, size_t n, bool cut)
{
	int fd;

	make_folder_of(w, path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || (cut && ftruncate(fd, (off_t)at)) || pwrite(fd, from->p + at, n, (off_t)at) != (ssize_t)n ||
	    close(fd))
		die(w, "%s: %s", path, strerror(errno));
}

/* How many bytes come next: some, up to the end of a line, or all. */
static size_t next_piece(struct world *w, const struct story *f)
{
	const struct buf *b = &f->versions[f->version];
	size_t left = b->n - f->written;
	const char *end;

	switch (rnd(w, 5)) {
	case 0:
		return left;
	case 1:
		return size_min(left, 1 + rnd(w, 300));
	case 2:
		return size_min(left, 1 + rnd(w, 20000));
	default:
		end = memchr(b->p + f->written, '\n', left);
		return end ? (size_t)(end - b->p) + 1 - f->written : left;
	}
}

static void grow(struct world *w, struct story *f, const char *path)
{
	size_t n = next_piece(w, f);

	note(w, "%s: version %zu, %zu bytes at %zu", f->path, f->version, n, f->written);
	write_at(w, path, &f->versions[f->version], f->written, n, false);
	f->written += n;
}

static size_t common_beginning(const struct buf *a, const struct buf *b)
{
	size_t n = 0;

	while (n < a->n && n < b->n && a->p[n] == b->p[n])
		n++;
	return n;
}

/* The next version takes the place of this one. */
static void rewrite(struct world *w, struct story *f, const char *path)
{
	const struct buf *before = &f->versions[f->version], *b = &f->versions[++f->version];
	static const char *const ways[] = { "from where it differs", "anew", "instead" };
	char aside[MOST_TEXT + 64];
	uint64_t way = rnd(w, COUNT(ways));

	f->written = way == 0 ? common_beginning(before, b) : 0;
	note(w, "%s: version %zu %s", f->path, f->version, ways[way]);
	if (way < 2) {
		write_at(w, path, b, f->written, 0, true);
		return;
	}
	snprintf(aside, sizeof aside, "%s.aside", w->root);
	write_at(w, aside, b, 0, b->n, true);
	if (rename(aside, path))
		die(w, "%s: %s", path, strerror(errno));
	f->written = b->n;
}

static bool is_done(const struct story *f)
{
	return f->there && f->version + 1 == f->count && f->written == f->versions[f->version].n;
}

static void touch(struct world *w, struct story *f)
{
	char path[MOST_TEXT + 512];

	snprintf(path, sizeof path, "%s/%s", w->root, f->path);
	if (!f->there || f->written < f->versions[f->version].n)
		grow(w, f, path);
	else
		rewrite(w, f, path);
	f->there = true;
}

/* ---- The store --------------------------------------------------------------------------- */

static void open_store(struct world *w)
{
	struct store_options o = { .path = w->store_path, .create = true };
	struct err err;
	bool rebuilt;

	if (store_open(&o, &w->store, &err) || rebuild_if_stale(w->store, NULL, &rebuilt, &err))
		die(w, "opening: %s", err.text);
}

static void remove_store(struct world *w)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-bell" };
	char path[MOST_TEXT + 8];

	store_close(w->store);
	w->store = NULL;
	for (size_t i = 0; i < COUNT(ends); i++) {
		snprintf(path, sizeof path, "%s%s", w->store_path, ends[i]);
		unlink(path);
	}
}

struct stopping {
	int left; /* events; negative = never */
	atomic_bool cancel;
};

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	struct stopping *s = ctx;

	(void)what;
	(void)path;
	(void)why;
	if (s->left >= 0 && s->left-- == 0)
		atomic_store(&s->cancel, true);
}

static void sync_from(struct world *w, const char *dir, int stop_after)
{
	struct stopping stop = { .left = stop_after };
	struct sync_options o = {
		.dir = dir, .label = STR("claude"), .cancel = &stop.cancel, .event = on_event, .ctx = &stop
	};
	struct sync_report report;
	struct err err;
	enum status status = sync_run(w->store, &o, &report, &err);

	w->syncs++;
	w->stopped += status == STATUS_CANCELLED;
	if (status != STATUS_OK && !(status == STATUS_CANCELLED && stop_after >= 0))
		die(w, "sync: %s", err.text);
}

static void sync_sometime(struct world *w)
{
	int stop_after = rnd(w, 8) == 0 ? (int)rnd(w, 4) : -1;

	note(w, "sync%s", stop_after < 0 ? "" : ", stopped");
	sync_from(w, w->root, stop_after);
	if (rnd(w, 16) == 0) {
		store_close(w->store);
		w->store = NULL;
		open_store(w);
	}
}

static enum status take_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

static void dump(struct world *w, struct buf *out)
{
	struct value mirror = { .given = true, .text = STR("mirror") }; /* its one parameter */
	struct call c = { .method = &arbor_dump,
			  .values = &mirror,
			  .store = w->store,
			  .sink = { .bytes = take_bytes, .ctx = out } };
	struct err err;

	buf_clear(out);
	if (arbor_dump.run(&c, &err))
		die(w, "dump: %s", err.text);
	arena_release(&c.mem);
}

/* ---- Comparing --------------------------------------------------------------------------- */

static struct str line_at(const struct buf *b, size_t at)
{
	struct str rest;

	while (at > 0 && b->p[at - 1] != '\n')
		at--;
	return str_cut(str_sub(buf_as_str(b), at, SIZE_MAX), '\n', &rest);
}

static const char withdrawn[] = "\nwithdrawn ";

/* Leaves off what depends on the versions that were seen. */
static void cut_withdrawn(struct buf *b)
{
	const char *at = b->n ? memmem(b->p, b->n, withdrawn, strlen(withdrawn)) : NULL;

	if (at)
		b->n = (size_t)(at - b->p) + 1;
}

static uint64_t count_withdrawn(struct str rest)
{
	uint64_t count = 0;
	const char *at;

	while (rest.n && (at = memmem(rest.p, rest.n, withdrawn, strlen(withdrawn)))) {
		count++;
		rest = str_sub(rest, (size_t)(at - rest.p) + 1, SIZE_MAX);
	}
	return count;
}

static void must_be(struct world *w, const struct buf *wanted, const char *what)
{
	size_t at = common_beginning(wanted, &w->now);

	if (at == wanted->n && at == w->now.n)
		return;
	leave(w, "dump-wanted", wanted);
	die(w, "%s differs:\n  wanted: %.300s\n  now:    %.300s", what,
	    at < wanted->n ? line_at(wanted, at).p : "(end)", at < w->now.n ? line_at(&w->now, at).p : "(end)");
}

static void compare(struct world *w, bool saw_all)
{
	dump(w, &w->now);
	if (saw_all && w->seen_all.n) {
		must_be(w, &w->seen_all, "the store with what was withdrawn");
		w->compared++;
		w->withdrawn += count_withdrawn(buf_as_str(&w->now));
	} else if (saw_all) {
		buf_str(&w->seen_all, buf_as_str(&w->now));
	}
	cut_withdrawn(&w->now);
	must_be(w, &w->once, "the store");
}

static void must_be_sound(struct world *w)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(GIB);
	struct groves groves;
	struct err err;

	if (derived_describe(w->store, &out, &err))
		die(w, "derived tables: %s", err.text);
	for (size_t i = 0; i < out.n; i++)
		if (out.p[i] == '!' && (i == 0 || out.p[i - 1] == '\n'))
			die(w, "derived tables: %.*s", STR_ARG(line_at(&out, i)));
	if (!groves_are_sound(w->store, &groves))
		die(w, "trees: %.900s", groves.why);
	groves_release(&groves);
}

static void rebuild(struct world *w)
{
	struct buf before CLEANUP(buf_release) = BUF_INIT(GIB);
	struct read_options o = { 0 };
	struct err err;

	dump(w, &before);
	if (rebuild_all(w->store, &o, &err))
		die(w, "rebuild: %s", err.text);
	dump(w, &w->now);
	if (!str_eq(buf_as_str(&before), buf_as_str(&w->now)))
		die(w, "the rebuilt store differs at byte %zu", common_beginning(&before, &w->now));
}

/* ---- Schedules ----------------------------------------------------------------------------- */

static void run_once(struct world *w)
{
	char final[MOST_TEXT];

	snprintf(final, sizeof final, "%s/%" PRIu64 "/final", w->dir, w->seed);
	open_store(w);
	sync_from(w, final, -1);
	dump(w, &w->once);
	must_be_sound(w);
	rebuild(w);
	remove_store(w);
}

static struct story *pick(struct world *w, size_t from)
{
	for (size_t i = 0; i < w->count; i++)
		if (!is_done(&w->files[(from + i) % w->count]))
			return &w->files[(from + i) % w->count];
	return NULL;
}

static void run_schedule(struct world *w)
{
	bool all = w->schedule % 2 == 0; /* versions are seen */
	uint64_t steady = rnd(w, 8), often = 2 + rnd(w, 12); /* how long it stays with a file; how rarely it syncs */
	struct story *f = NULL;

	w->random = (w->seed * 1000003 + w->schedule) * 0x9E3779B97F4A7C15u + 0x1234567;
	for (int i = 0; i < 8; i++)
		rnd(w, 1);
	buf_clear(&w->log);
	nftw(w->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	make_folder_of(w, w->root);
	mkdir(w->root, 0700);
	for (size_t i = 0; i < w->count; i++) {
		struct story *s = &w->files[i];

		s->there = false;
		s->written = 0;
		s->version = all || rnd(w, 4) ? 0 : rnd(w, s->count); /* nobody may have seen the older ones */
	}
	open_store(w);
	while ((f = f && !is_done(f) && rnd(w, 8) < steady ? f : pick(w, rnd(w, w->count)))) {
		if (all && f->there && f->written == f->versions[f->version].n)
			sync_from(w, w->root, -1); /* before it is rewritten */
		touch(w, f);
		if (rnd(w, often) == 0)
			sync_sometime(w);
	}
	sync_from(w, w->root, -1);
	compare(w, all);
	if (rnd(w, 4) == 0)
		must_be_sound(w);
	if (rnd(w, 8) == 0)
		rebuild(w);
	remove_store(w);
}

static void world_begin(struct world *w, uint64_t seed)
{
	w->seed = seed;
	w->schedule = 0;
	w->count = 0;
	buf_clear(&w->seen_all);
	remove_store(w); /* what a failure left */
	nftw(w->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	read_plan(w);
	run_once(w);
}

static void world_end(struct world *w)
{
	for (size_t i = 0; i < w->count; i++)
		for (size_t v = 0; v < w->files[i].count; v++)
			buf_release(&w->files[i].versions[v]);
	nftw(w->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv)
{
	static struct story files[MOST_FILES];
	struct world w = { .files = files };
	uint64_t first, last, schedules, done = 0;
	struct str end;

	if (argc < 4 || !str_to_u64(str_cut(str_of(argv[2]), '-', &end), &first) ||
	    !str_to_u64(str_of(argv[3]), &schedules) || (end.p && !str_to_u64(end, &last))) {
		fprintf(stderr, "usage: lineage DIR FIRST[-LAST] SCHEDULES [TMP]\n");
		return 2;
	}
	w.dir = argv[1];
	w.tmp = argc > 4 ? argv[4] : argv[1];
	buf_init(&w.once, GIB);
	buf_init(&w.now, GIB);
	buf_init(&w.seen_all, GIB);
	buf_init(&w.log, GIB);
	snprintf(w.root, sizeof w.root, "%s/lineage-%" PRIu64, w.tmp, first);
	snprintf(w.store_path, sizeof w.store_path, "%s/lineage-%" PRIu64 ".db", w.tmp, first);
	for (uint64_t seed = first; seed <= (end.p ? last : first); seed++) {
		world_begin(&w, seed);
		for (w.schedule = 1; w.schedule <= schedules; w.schedule++, done++)
			run_schedule(&w);
		world_end(&w);
	}
	printf("schedules=%" PRIu64 " syncs=%" PRIu64 " stopped=%" PRIu64 " compared-whole=%" PRIu64, done, w.syncs,
	       w.stopped, w.compared);
	printf(" withdrawn=%" PRIu64 "\n", w.withdrawn);
	buf_release(&w.once);
	buf_release(&w.now);
	buf_release(&w.seen_all);
	buf_release(&w.log);
	return 0;
}
