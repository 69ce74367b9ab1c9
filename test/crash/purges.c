/*
 * purges SEED[-LAST] STEPS [DIR]: random histories of a folder in which things are purged.
 *
 * Files are appended to, torn, completed, rewritten, edited, cut, renamed, copied, swapped; the folder is
 * mirrored, forced, by several at once, by one that is killed; lines, messages and sessions are purged, by
 * one that is killed, beside a sync or a rebuild. After each step:
 *
 *   - Whatever was purged is decided as a whole or not at all: every copy of a line, or none.
 *   - No version of any file has a line that was purged.
 *   - Every version is what it was, but for blanks where lines were purged; the newest is what the file has,
 * but for these. A file that was purged as a whole is not read any more.
 *   - check finds nothing; the derived tables are those that a rebuild makes.
 *   - A word that no archived line has any more is not in the index, and, once a purge is done, not in
 *     the database file or its log either.
 *
 * What was purged is read from the store, by tombstones, and then judged. The beginning of a purged line that
 * was torn or cut off is another line.
 */
#include "claude/layout.h"
#include "claude/record.h"
#include "derived.h"
#include "ingest/purge.h"
#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "store/archive.h"
#include "store/check.h"
#include "store/find.h"
#include "store/tombstone.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 8, CANARY = 16, FRAGMENT_AT = 5, FRAGMENT = 8, SESSIONS = 3 };
#define MOST_BYTES (4 * MIB)

#define S1 "11111111-1111-4111-8111-111111111111"
#define S2 "22222222-2222-4222-8222-222222222222"
#define S3 "33333333-3333-4333-8333-333333333333"
static const char *const sessions[SESSIONS] = { S1, S2, S3 };

static const char *const paths[SLOTS] = {
	"history.jsonl",
	"projects/-a/" S1 ".jsonl",
	"projects/-a/" S2 ".jsonl",
	"projects/-b/" S3 ".jsonl",
	"projects/-a/" S1 "/subagents/agent-1.jsonl",
	"projects/-b/copy.jsonl.bak",
	"projects/-a/" S1 "/tool-results/x.txt",
	"todos/" S2 "-agent-1.json",
};

struct slot {
	bool there;
	struct buf now;
	struct buf rest; /* of a line that was torn; empty = none is */
};

/* What the archive has. */
struct version {
	struct buf bytes;
};

struct kept {
	int64_t row;
	char path[128];
	struct version *versions;
	size_t count;
};

struct picture {
	struct kept *sources;
	size_t count;
};

struct world {
	uint64_t random, seed, steps;
	char dir[256], root[300], store_path[300];
	struct slot slots[SLOTS];
	struct store *store;
	struct line_salt salt;
	bool dead[SESSIONS]; /* purged */
	struct map purged;   /* lines */
	struct arena mem;
	uint64_t lines;	      /* made so far: each has a word of its own */
	struct map words;     /* these */
	struct map fragments; /* of them, by which they are known in the middle of other bytes; -> the word */
	struct buf log;
	uint64_t purges, killed, cut_short, verified, gone;
};

/* ---- Failing, choosing ------------------------------------------------------ */

static void ATTR_PRINTF(2, 3) NORETURN die(struct world *w, const char *format, ...)
{
	va_list args;

	printf("# FAILED: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n# again with: purges %" PRIu64 " %" PRIu64 " DIR\n# history:%s\n", w->seed, w->steps,
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

static void sleep_us(long us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

/* ---- Lines ------------------------------------------------------------------ */

/* A word that no other line has, and that begins like no other: 'zq', 12 letters, 'qz'. */
static struct str make_word(struct world *w)
{
	char word[CANARY + 1] = "zq............qz";
	struct str *kept;

	for (size_t i = 2; i < CANARY - 2; i++)
		word[i] = (char)('a' + rnd(w, 26));
	kept = arena_alloc(&w->mem, sizeof *kept);
	*kept = arena_str(&w->mem, str_from(word, CANARY));
	map_put(&w->words, *kept, w);
	map_put(&w->fragments, str_sub(*kept, FRAGMENT_AT, FRAGMENT), kept);
	return *kept;
}

static size_t line_size(struct world *w)
{
	switch (rnd(w, 60)) {
	case 0:
		return MIB + rnd(w, MIB / 4);
	case 1:
	case 2:
		return 70 * KIB + rnd(w, 90 * KIB);
	case 3:
	case 4:
	case 5:
	case 6:
		return rnd(w, 9 * KIB);
	default:
		return rnd(w, 300);
	}
}

static void add_filler(struct world *w, struct buf *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_byte(out, (char)(rnd(w, 7) ? 'a' + rnd(w, 20) : ' '));
}

/* One without its line feed. */
static void make_line(struct world *w, const char *path, struct buf *out)
{
	struct str word = make_word(w);
	uint64_t n = w->lines++, kind = rnd(w, 10);
	const char *session = strstr(path, S2) ? S2 : strstr(path, S3) ? S3 : S1;
	char uuid[64], parent[64];

	snprintf(uuid, sizeof uuid, "%08" PRIx64 "-%04" PRIx64 "-4000-8000-000000000000", n,
		 w->seed & 0xffff);
	snprintf(parent, sizeof parent, "%08" PRIx64 "-%04" PRIx64 "-4000-8000-000000000000", n ? n - 1 : 0,
		 w->seed & 0xffff);
	if (strcmp(path, "history.jsonl") == 0) {
		buf_printf(out, "{\"display\":\"%.*s typed ", STR_ARG(word));
		add_filler(w, out, line_size(w) / 8);
		buf_printf(out, "\",\"timestamp\":%" PRIu64 ",\"project\":\"/w\",\"sessionId\":\"%s\"}",
			   1700000000000 + n, sessions[rnd(w, SESSIONS)]);
	} else if (kind == 0) {
		buf_printf(out, "no record at all %.*s ", STR_ARG(word));
		add_filler(w, out, line_size(w) / 8);
	} else if (kind == 1) {
		buf_printf(out,
			   "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"%.*s\","
			   "\"sessionId\":\"%s\"}",
			   STR_ARG(word), session);
	} else if (kind < 5) {
		buf_printf(
			out,
			"{\"parentUuid\":\"%s\",\"sessionId\":\"%s\",\"type\":\"assistant\",\"uuid\":\"%s\","
			"\"timestamp\":\"2026-01-01T00:%02u:%02u.000Z\",\"message\":{\"id\":\"msg_%" PRIu64
			"\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":"
			"\"%.*s ",
			parent, session, uuid, (unsigned)(n / 60 % 60), (unsigned)(n % 60), n / 3,
			STR_ARG(word));
		add_filler(w, out, line_size(w));
		buf_text(out, "\"}]}}");
	} else {
		bool cwd = rnd(w, 4) == 0;

		buf_printf(out,
			   "{\"parentUuid\":\"%s\",\"sessionId\":\"%s\",\"type\":\"user\",\"uuid\":\"%s\","
			   "\"cwd\":\"/w/%.*s\","
			   "\"timestamp\":\"2026-01-01T00:%02u:%02u.000Z\",\"message\":{\"role\":\"user\","
			   "\"content\":\"%.*s ",
			   parent, session, uuid, cwd ? (int)word.n : 0, word.p, (unsigned)(n / 60 % 60),
			   (unsigned)(n % 60), STR_ARG(word));
		add_filler(w, out, line_size(w));
		buf_text(out, "\"}}");
	}
}

/* What may be kept of a file or version. */
static void sift(const struct world *w, const struct buf *from, struct buf *out)
{
	buf_clear(out);
	buf_add(out, from->p, from->n);
	for (size_t at = 0; at < out->n;) {
		const char *feed = memchr(out->p + at, '\n', out->n - at);
		size_t end = feed ? (size_t)(feed - out->p) : out->n;

		if (end > at && map_get(&w->purged, str_from(out->p + at, end - at)))
			memset(out->p + at, ' ', end - at);
		at = end + 1;
	}
}

/* ---- Files ------------------------------------------------------------------ */

static void full_path(const struct world *w, size_t slot, char out[512])
{
	snprintf(out, 512, "%s/%s", w->root, paths[slot]);
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

/* From an offset on, or all of it anew. */
static void put(struct world *w, size_t slot, size_t from, bool anew)
{
	struct slot *f = &w->slots[slot];
	char path[512];
	int fd;
	struct err err;

	full_path(w, slot, path);
	make_folders(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (anew ? O_TRUNC : 0), 0600);
	if (fd < 0 || lseek(fd, (off_t)from, SEEK_SET) < 0 ||
	    file_write_all(fd, str_sub(buf_as_str(&f->now), from, SIZE_MAX), &err))
		die(w, "%s: %s", path, strerror(errno));
	close(fd);
	f->there = true;
}

static size_t pick(struct world *w, bool there)
{
	for (int i = 0; i < 40; i++) {
		size_t n = rnd(w, SLOTS);

		if (w->slots[n].there == there)
			return n;
	}
	return SLOTS;
}

static void end_torn(struct slot *f)
{
	if (f->rest.n) {
		buf_str(&f->now, buf_as_str(&f->rest));
		buf_byte(&f->now, '\n');
		buf_clear(&f->rest);
	} else if (f->now.n && f->now.p[f->now.n - 1] != '\n') {
		buf_byte(&f->now, '\n');
	}
}

static void op_append(struct world *w, size_t slot)
{
	struct slot *f = &w->slots[slot];
	size_t before = f->now.n;

	if (before > MOST_BYTES / 2)
		return;
	end_torn(f);
	for (uint64_t i = 1 + rnd(w, 4); i > 0; i--) {
		make_line(w, paths[slot], &f->now);
		buf_byte(&f->now, '\n');
	}
	put(w, slot, before, false);
	note(w, "append %zu to %s", f->now.n - before, paths[slot]);
}

/* The beginning of a line; the rest comes later, or never. */
static void op_tear(struct world *w, size_t slot)
{
	struct slot *f = &w->slots[slot];
	struct buf line CLEANUP(buf_release) = BUF_INIT(MOST_BYTES);
	size_t before = f->now.n, n;

	if (before > MOST_BYTES / 2)
		return;
	end_torn(f);
	make_line(w, paths[slot], &line);
	n = 1 + rnd(w, line.n);
	buf_add(&f->now, line.p, n);
	buf_add(&f->rest, line.p + n, line.n - n);
	put(w, slot, before, false);
	note(w, "tear %s, %zu of %zu", paths[slot], n, line.n);
}

/* A line that was purged, at the end of a file: all of it, or its beginning. */
static void op_return(struct world *w, size_t slot)
{
	struct slot *f = &w->slots[slot];
	size_t before = f->now.n, skip = rnd(w, w->purged.count + 1), n;
	struct str line = { 0 };

	for (size_t i = 0; i < w->purged.cap; i++)
		if (w->purged.slots[i].value && skip-- == 0)
			line = w->purged.slots[i].key;
	if (!line.n || before > MOST_BYTES / 2)
		return;
	end_torn(f);
	n = rnd(w, 3) ? 1 + rnd(w, line.n) : line.n;
	buf_add(&f->now, line.p, n);
	buf_add(&f->rest, line.p + n, line.n - n);
	put(w, slot, before, false);
	note(w, "return %zu of %zu to %s", n, line.n, paths[slot]);
}

static void op_complete(struct world *w, size_t slot)
{
	struct slot *f = &w->slots[slot];
	size_t before = f->now.n;

	end_torn(f);
	put(w, slot, before, false);
	note(w, "complete %s, %zu", paths[slot], f->now.n - before);
}

/* Some lines, in their order or not, of those it has. */
static void op_rewrite(struct world *w, size_t slot)
{
	struct slot *f = &w->slots[slot];
	struct buf old CLEANUP(buf_release) = BUF_INIT(MOST_BYTES);

	end_torn(f);
	buf_add(&old, f->now.p, f->now.n);
	buf_clear(&f->now);
	for (struct str rest = buf_as_str(&old), line; rest.n;) {
		size_t feed = str_find(rest, '\n');

		line = str_sub(rest, 0, feed == SIZE_MAX ? rest.n : feed + 1);
		rest = str_sub(rest, line.n, SIZE_MAX);
		if (rnd(w, 4))
			buf_str(&f->now, line);
		if (rnd(w, 8) == 0) {
			make_line(w, paths[slot], &f->now);
			buf_byte(&f->now, '\n');
		}
	}
	put(w, slot, 0, true);
	note(w, "rewrite %s, %zu of %zu", paths[slot], f->now.n, old.n);
}

static void op_edit(struct world *w, size_t slot)
{
	struct slot *f = &w->slots[slot];
	size_t at = rnd(w, f->now.n), n = size_min(rnd(w, 30), f->now.n - at);

	for (size_t i = at; i < at + n; i++)
		if (f->now.p[i] != '\n')
			f->now.p[i] = (char)('A' + rnd(w, 26));
	put(w, slot, 0, true);
	note(w, "edit %zu at %zu of %s", n, at, paths[slot]);
}

static void op_cut(struct world *w, size_t slot)
{
	struct slot *f = &w->slots[slot];

	f->now.n = rnd(w, f->now.n + 1);
	buf_clear(&f->rest);
	put(w, slot, 0, true);
	note(w, "cut %s to %zu", paths[slot], f->now.n);
}

static void move(struct slot *to, struct slot *from)
{
	struct slot spare = *to;

	*to = *from;
	*from = spare;
	from->there = false;
	buf_clear(&from->now);
	buf_clear(&from->rest);
}

static void op_rename(struct world *w, size_t slot)
{
	size_t to = rnd(w, 3) ? pick(w, false) : pick(w, true);
	char from_path[512], to_path[512];

	if (to == SLOTS || to == slot)
		return;
	full_path(w, slot, from_path);
	full_path(w, to, to_path);
	make_folders(to_path);
	if (rename(from_path, to_path))
		die(w, "%s: %s", to_path, strerror(errno));
	move(&w->slots[to], &w->slots[slot]);
	note(w, "rename %s to %s", paths[slot], paths[to]);
}

static void op_copy(struct world *w, size_t slot)
{
	size_t to = pick(w, rnd(w, 2) == 0);
	struct slot *f = &w->slots[slot];

	if (to == SLOTS || to == slot)
		return;
	buf_clear(&w->slots[to].now);
	buf_clear(&w->slots[to].rest);
	buf_str(&w->slots[to].now, buf_as_str(&f->now));
	put(w, to, 0, true);
	note(w, "copy %s to %s", paths[slot], paths[to]);
}

/* Some lines of one at the end of another, as a fork has them. */
static void op_fork(struct world *w, size_t slot)
{
	size_t to = pick(w, true), n = 0;
	struct slot *f = &w->slots[slot], *g;

	if (to == SLOTS || to == slot || w->slots[to].now.n > MOST_BYTES / 2)
		return;
	g = &w->slots[to];
	end_torn(g);
	for (struct str rest = buf_as_str(&f->now); rest.n && n++ < 4;) {
		size_t feed = str_find(rest, '\n');

		if (feed == SIZE_MAX)
			break;
		buf_str(&g->now, str_sub(rest, 0, feed + 1));
		rest = str_sub(rest, feed + 1, SIZE_MAX);
	}
	put(w, to, 0, true);
	note(w, "lines of %s behind %s", paths[slot], paths[to]);
}

static void op_delete(struct world *w, size_t slot)
{
	char path[512];

	full_path(w, slot, path);
	unlink(path);
	w->slots[slot].there = false;
	buf_clear(&w->slots[slot].now);
	buf_clear(&w->slots[slot].rest);
	note(w, "delete %s", paths[slot]);
}

static void op_create(struct world *w, size_t slot)
{
	slot = pick(w, false);
	if (slot == SLOTS)
		return;
	note(w, "create %s", paths[slot]);
	w->slots[slot].there = true;
	op_append(w, slot);
}

static void (*const operations[])(struct world *, size_t) = {
	op_append, op_append, op_append, op_tear, op_complete, op_complete, op_return, op_return, op_rewrite,
	op_edit,   op_cut,    op_rename, op_copy, op_fork,     op_delete,   op_create, op_create,
};

/* ---- Looking into the store --------------------------------------------------- */

static void picture_release(struct picture *p)
{
	for (size_t i = 0; i < p->count; i++) {
		for (size_t k = 0; k < p->sources[i].count; k++)
			buf_release(&p->sources[i].versions[k].bytes);
		mem_free(p->sources[i].versions);
	}
	mem_free(p->sources);
	*p = (struct picture){ 0 };
}

static enum status gather(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

struct taking {
	struct world *w;
	struct picture *p;
};

static enum status take_source(void *ctx, const struct source_info *info, struct err *err)
{
	const struct taking *y = ctx;

	(void)err;
	y->p->sources = mem_resize(y->p->sources, (y->p->count + 1) * sizeof *y->p->sources);
	y->p->sources[y->p->count] = (struct kept){ .row = info->row };
	snprintf(y->p->sources[y->p->count++].path, sizeof y->p->sources[0].path, "%.*s",
		 STR_ARG(info->path));
	return STATUS_OK;
}

static void take_versions(struct world *w, struct kept *k)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct generation *list;
	struct err err;

	if (generation_list(w->store, k->row, &mem, &list, &k->count, &err))
		die(w, "%s", err.text);
	k->versions = mem_alloc((k->count + 1) * sizeof *k->versions);
	for (size_t i = 0; i < k->count; i++) {
		buf_init(&k->versions[i].bytes, 2 * MOST_BYTES);
		if (archive_read(w->store, list[i].row, 0, list[i].length, gather, &k->versions[i].bytes,
				 &err))
			die(w, "%s: %s", k->path, err.text);
	}
}

static void take_picture(struct world *w, struct picture *p)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct taking y = { w, p };
	struct err err;

	if (read_begin(w->store, &snapshot, &err) || source_each(w->store, take_source, &y, &err))
		die(w, "%s", err.text);
	for (size_t i = 0; i < p->count; i++)
		take_versions(w, &p->sources[i]);
}

static const struct kept *kept_of(const struct picture *p, int64_t row)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->sources[i].row == row)
			return &p->sources[i];
	return NULL;
}

static const struct kept *kept_at(const struct picture *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->sources[i].path, path) == 0)
			return &p->sources[i];
	return NULL;
}

typedef void line_fn(struct world *w, const char *path, struct str line, void *ctx);

static void each_line_of(struct world *w, const char *path, struct str rest, line_fn *fn, void *ctx)
{
	while (rest.n) {
		struct str line = str_sub(rest, 0, str_find(rest, '\n'));

		rest = str_sub(rest, line.n + 1, SIZE_MAX);
		if (str_trim(line).n)
			fn(w, path, line, ctx);
	}
}

static void each_line(struct world *w, const struct picture *p, line_fn *fn, void *ctx)
{
	for (size_t i = 0; i < p->count; i++)
		for (size_t v = 0; v < p->sources[i].count; v++)
			each_line_of(w, p->sources[i].path, buf_as_str(&p->sources[i].versions[v].bytes), fn,
				     ctx);
}

static bool has_tombstone(struct world *w, struct str line)
{
	uint8_t hash[SHA256_BYTES];
	struct err err;
	bool is;

	if (!line_hash(&w->salt, line, hash))
		return false;
	if (tombstone_of_line(w->store, hash, &is, &err))
		die(w, "%s", err.text);
	return is;
}

static bool session_is_dead(struct world *w, const char *session)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct tombstones t CLEANUP(tombstones_release) = { 0 };
	struct uuid id;
	struct err err;

	uuid_parse(str_of(session), &id);
	if (tombstones_load(w->store, 1, &mem, &t, &err))
		die(w, "%s", err.text);
	return map_get(&t.sessions, str_from((const char *)id.b, UUID_BYTES)) != NULL;
}

static bool path_is_dead(const struct world *w, const char *path)
{
	struct uuid of, id;

	for (size_t i = 0; i < SESSIONS; i++)
		if (w->dead[i] && claude_session_of(str_of(path), &of) &&
		    uuid_parse(str_of(sessions[i]), &id) && uuid_eq(&of, &id))
			return true;
	return false;
}

/* ---- Judging -------------------------------------------------------------------- */

static bool is_blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != ' ' && p[i] != '\n')
			return false;
	return true;
}

static size_t last_line(const struct buf *b)
{
	size_t feed = str_rfind(buf_as_str(b), '\n');

	return feed == SIZE_MAX ? 0 : feed + 1;
}

/* A version after something happened, of which nothing may have gone but lines that were purged; and the last
 * one, if it was not complete and has turned out to be one of them. */
static void judge_version(struct world *w, const struct kept *before, const struct kept *after, size_t v,
			  bool whole)
{
	const struct buf *old = &before->versions[v].bytes, *new = &after->versions[v].bytes;
	struct buf want CLEANUP(buf_release) = BUF_INIT(2 * MOST_BYTES);
	size_t tail = last_line(old);

	if (new->n < old->n)
		die(w, "%s, version %zu: %zu bytes, and had %zu", after->path, v + 1, new->n, old->n);
	if (whole) {
		if (!is_blank(new->p, new->n))
			die(w, "%s, version %zu: not purged as a whole", after->path, v + 1);
		return;
	}
	sift(w, old, &want);
	if (tail && memcmp(want.p, new->p, tail))
		die(w, "%s, version %zu: other bytes than it had", after->path, v + 1);
	if (old->n > tail && memcmp(want.p + tail, new->p + tail, old->n - tail) &&
	    !is_blank(new->p + tail, old->n - tail))
		die(w, "%s, version %zu: its last line is another", after->path, v + 1);
}

static void judge_change(struct world *w, const struct picture *before, const struct picture *after)
{
	for (size_t i = 0; i < before->count; i++) {
		const struct kept *a = kept_of(after, before->sources[i].row);

		if (!a || a->count < before->sources[i].count)
			die(w, "%s: a version is gone", before->sources[i].path);
		for (size_t v = 0; v < before->sources[i].count; v++)
			judge_version(w, &before->sources[i], a, v, path_is_dead(w, before->sources[i].path));
	}
}

static void judge_line(struct world *w, const char *path, struct str line, void *ctx)
{
	(void)ctx;
	if (map_get(&w->purged, line))
		die(w, "%s: a purged line is there: %.*s", path, (int)size_min(line.n, 120), line.p);
}

/* The newest bytes are those of the files. */
static void judge_files(struct world *w, const struct picture *p)
{
	struct buf want CLEANUP(buf_release) = BUF_INIT(2 * MOST_BYTES);

	for (size_t i = 0; i < SLOTS; i++) {
		const struct kept *k = kept_at(p, paths[i]);
		const struct buf *new = k && k->count ? &k->versions[k->count - 1].bytes : NULL;

		if (!w->slots[i].there || path_is_dead(w, paths[i]))
			continue;
		buf_clear(&want);
		sift(w, &w->slots[i].now, &want);
		if (!new || new->n != want.n || (want.n && memcmp(new->p, want.p, want.n))) {
			size_t at = 0;

			while (new &&at < new->n && at < want.n &&new->p[at] == want.p[at])
				at++;
			die(w,
			    "%s: not what the file has: %zu bytes and not %zu, other ones from %zu on: "
			    "'%.60s' and not '%.60s'",
			    paths[i], new ? new->n : 0, want.n, at, new ? new->p + at : "", want.p + at);
		}
	}
}

/* ---- Words that are gone ---------------------------------------------------------- */

struct present {
	struct map words;     /* that archived lines have */
	struct map fragments; /* of those that none has */
	size_t gone;
};

static void present_release(struct present *p)
{
	map_release(&p->words);
	map_release(&p->fragments);
}

static void find_words(struct world *w, const char *path, struct str line, void *ctx)
{
	struct present *p = ctx;

	(void)path;
	for (size_t i = 0; i + FRAGMENT <= line.n; i++) {
		struct str *word = line.p[i] >= 'a' ? map_get(&w->fragments, str_from(line.p + i, FRAGMENT))
						    : NULL;

		if (word)
			map_put(&p->words, *word, w);
	}
}

static enum status judge_word(void *ctx, struct str word, int64_t doc, int64_t position, struct err *err)
{
	struct taking *y = ctx;
	struct present *p = (struct present *)y->p;

	(void)doc;
	(void)position;
	(void)err;
	if (map_get(&y->w->words, word) && !map_get(&p->words, word))
		die(y->w, "the index has the word '%.*s', and no line has it any more", STR_ARG(word));
	return STATUS_OK;
}

/* In a process of its own: closing a database file drops the locks on it. */
static void grep_file(struct world *w, const char *path, const struct present *p)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(GIB);
	struct err err;

	if (access(path, R_OK))
		return;
	if (file_read_all(path, &all, &err))
		die(w, "%s", err.text);
	for (size_t i = 0; i + FRAGMENT <= all.n; i++)
		if (all.p[i] >= 'a' && map_get(&p->fragments, str_from(all.p + i, FRAGMENT)))
			die(w, "%s has '%.*s' at byte %zu, and no line has it any more", path, FRAGMENT,
			    all.p + i, i);
}

static void wait_for(struct world *w, pid_t child, const char *what)
{
	int state;

	waitpid(child, &state, 0);
	if (!WIFEXITED(state) || WEXITSTATUS(state))
		die(w, "%s failed", what);
}

static void grep_store(struct world *w, const struct present *p)
{
	char path[320];
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		grep_file(w, w->store_path, p);
		snprintf(path, sizeof path, "%s-wal", w->store_path);
		grep_file(w, path, p);
		_exit(0);
	}
	wait_for(w, child, "looking for words in the file");
}

static void find_fragments(struct world *w, struct present *p)
{
	for (size_t i = 0; i < w->words.cap; i++) {
		struct str word = w->words.slots[i].key;

		if (!w->words.slots[i].value || map_get(&p->words, word))
			continue;
		map_put(&p->fragments, str_sub(word, FRAGMENT_AT, FRAGMENT), w);
		p->gone++;
	}
}

static void judge_words(struct world *w, const struct picture *p)
{
	struct present present CLEANUP(present_release) = { 0 };
	struct taking y = { w, (struct picture *)&present };
	struct purge_state state;
	struct err err;

	each_line(w, p, find_words, &present);
	if (fulltext_each(w->store, judge_word, &y, &err) || purge_state_get(w->store, &state, &err))
		die(w, "words: %s", err.text);
	find_fragments(w, &present);
	w->gone += present.gone;
	if (state.left != PURGE_NOTHING)
		die(w, "the purge is not done");
	grep_store(w, &present);
}

/* ---- All of it -------------------------------------------------------------------- */

static void on_problem(void *ctx, struct str text)
{
	die(ctx, "check: %.*s", STR_ARG(text));
}

static void describe(struct world *w, struct buf *out)
{
	struct err err;

	if (derived_describe(w->store, out, &err))
		die(w, "the derived tables: %s", err.text);
	for (size_t i = 0; i < out->n; i++)
		if (out->p[i] == '!' && (i == 0 || out->p[i - 1] == '\n'))
			die(w, "the derived tables: %.*s",
			    (int)size_min(str_find(str_sub(buf_as_str(out), i, SIZE_MAX), '\n'), 400),
			    out->p + i);
}

static void keep_text(struct world *w, const char *name, const struct buf *text)
{
	char path[320];
	struct err err;

	snprintf(path, sizeof path, "%s/%s", w->dir, name);
	if (file_write_atomic(path, buf_as_str(text), 0600, &err))
		die(w, "%s", err.text);
}

static void judge_derived(struct world *w)
{
	struct buf before CLEANUP(buf_release) = BUF_INIT(GIB);
	struct buf after CLEANUP(buf_release) = BUF_INIT(GIB);
	struct err err;

	describe(w, &before);
	if (rebuild_all(w->store, NULL, &err))
		die(w, "rebuild: %s", err.text);
	describe(w, &after);
	note(w, "rebuild");
	if (str_eq(buf_as_str(&before), buf_as_str(&after)))
		return;
	keep_text(w, "before", &before);
	keep_text(w, "after", &after);
	die(w, "a rebuild makes other tables: see %s/before and %s/after", w->dir, w->dir);
}

static void verify(struct world *w, const struct picture *before, bool after_purge)
{
	struct picture now CLEANUP(picture_release) = { 0 };
	struct check_report report = { .problem = on_problem, .ctx = w };
	struct err err;

	take_picture(w, &now);
	judge_change(w, before, &now);
	each_line(w, &now, judge_line, NULL);
	if (!after_purge)
		judge_files(w, &now);
	if (check_run(w->store, &report, &err))
		die(w, "check: %s", err.text);
	if (rnd(w, 4) == 0)
		judge_derived(w);
	if (after_purge)
		judge_words(w, &now);
	w->verified++;
}

/* ---- Mirroring ---------------------------------------------------------------------- */

static struct store *open_store(struct world *w)
{
	struct store_options o = { .path = w->store_path, .create = true };
	struct store *s = NULL;
	struct err err;
	bool rebuilt;

	if (store_open(&o, &s, &err) || rebuild_if_stale(s, NULL, &rebuilt, &err))
		die(w, "opening: %s", err.text);
	return s;
}

static void on_event(void *ctx, enum sync_event what, struct str path, const struct err *why)
{
	if (why && what != SYNC_BROKEN)
		die(ctx, "sync: %d %.*s: %s", (int)what, STR_ARG(path), why->text);
}

static void sync_with(struct world *w, struct store *s, bool force)
{
	struct sync_options o = { .dir = w->root, .force = force, .event = on_event, .ctx = w };
	struct sync_report report;
	struct err err;

	if (sync_run(s, &o, &report, &err))
		die(w, "sync: %s", err.text);
}

static pid_t start_sync(struct world *w)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		w->store = open_store(w);
		sync_with(w, w->store, false);
		_exit(0);
	}
	return child;
}

static void mirror(struct world *w)
{
	struct picture before CLEANUP(picture_release) = { 0 };
	uint64_t way = rnd(w, 8);
	long after = (long)rnd(w, 9000);
	pid_t child;

	take_picture(w, &before);
	if (way == 0) {
		note(w, "sync, killed after %ld us", after);
		store_close(w->store);
		child = start_sync(w);
		sleep_us(after);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		w->store = open_store(w);
	} else if (way == 1) {
		note(w, "two syncs");
		store_close(w->store);
		child = start_sync(w);
		w->store = open_store(w);
		sync_with(w, w->store, false);
		wait_for(w, child, "the other sync");
	}
	note(w, "sync%s", way == 2 ? " --force" : "");
	sync_with(w, w->store, way == 2);
	verify(w, &before, false);
}

/* ---- Purging ------------------------------------------------------------------------- */

/* One of the lines that have an id, each as likely as the others. */
struct choosing {
	struct world *w;
	uint64_t seen;
	struct uuid id;
	struct buf line; /* its bytes */
	struct buf uuid; /* empty = it has none */
	int64_t session, offset, length;
};

static enum status choose_entry(void *ctx, const struct node *node, const struct node_name *name, int64_t doc,
				int64_t docs, struct err *err)
{
	struct choosing *c = ctx;
	uint64_t way = rnd(c->w, 3);

	(void)doc;
	(void)docs;
	(void)err;
	if (rnd(c->w, ++c->seen))
		return STATUS_OK;
	c->session = node->session;
	c->offset = node->offset;
	c->length = node->length;
	buf_clear(&c->uuid);
	buf_str(&c->uuid, name->uuid);
	c->id = node_id(name, !name->uuid.p || way == 0			? PART_LINE
			      : way == 1 && node->first == node->offset ? PART_MESSAGE
									: PART_LINE);
	return STATUS_OK;
}

static enum status choose_in(void *ctx, const struct session *s, bool *go_on, struct err *err)
{
	struct choosing *c = ctx;

	(void)go_on;
	return entry_each(c->w->store, s->row, choose_entry, c, err);
}

static bool choose(struct world *w, struct choosing *c)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf all CLEANUP(buf_release) = BUF_INIT(2 * MOST_BYTES);
	struct generation g;
	struct session s;
	size_t from, to;
	struct err err;

	*c = (struct choosing){ .w = w, .line = BUF_INIT(2 * MOST_BYTES), .uuid = BUF_INIT(KIB) };
	if (session_each(w->store, (struct str){ 0 }, choose_in, c, &err) ||
	    session_each_old(w->store, choose_in, c, &err))
		die(w, "%s", err.text);
	if (!c->seen)
		return false;
	if (session_get(w->store, c->session, &mem, &s, &err) ||
	    generation_get(w->store, s.generation, &g, &err) ||
	    archive_read(w->store, g.row, 0, g.length, gather, &all, &err))
		die(w, "the line to be purged: %s", err.text);
	/* A line may be more than the record. */
	from = str_rfind(str_sub(buf_as_str(&all), 0, (size_t)c->offset), '\n');
	from = from == SIZE_MAX ? 0 : from + 1;
	to = str_find(str_sub(buf_as_str(&all), (size_t)c->offset, SIZE_MAX), '\n');
	buf_str(&c->line,
		str_sub(buf_as_str(&all), from, to == SIZE_MAX ? to : (size_t)c->offset + to - from));
	return true;
}

static void choosing_release(struct choosing *c)
{
	buf_release(&c->line);
	buf_release(&c->uuid);
}

/* Lines that have tombstones by now, which they had not before. */
struct learning {
	const struct choosing *c; /* NULL = a session */
	const char *session;
	uint64_t count, missing;
};

static bool line_has(struct str line, struct str part)
{
	return part.n && line.n >= part.n && memmem(line.p, line.n, part.p, part.n);
}

static void learn_line(struct world *w, const char *path, struct str line, void *ctx)
{
	struct learning *l = ctx;
	bool same = l->c && str_eq(line, buf_as_str(&l->c->line));
	bool copy = l->c && line_has(line, buf_as_str(&l->c->uuid));

	if (map_get(&w->purged, line))
		return;
	if (!has_tombstone(w, line)) {
		l->missing += same;
		return;
	}
	/* Another message may name it as its parent; the parts of an answer go together. */
	if (l->c && !same && !copy && !line_has(line, STR("\"assistant\"")))
		die(w, "%s: purged, and not asked for: %.*s", path, (int)size_min(line.n, 160), line.p);
	map_put(&w->purged, arena_str(&w->mem, line), w);
	l->count++;
}

static void learn(struct world *w, const struct picture *before, struct learning *l)
{
	each_line(w, before, learn_line, l);
	if (l->c && l->count && l->missing)
		die(w, "purged in %" PRIu64 " places, and not in %" PRIu64, l->count, l->missing);
}

static enum status purge_with(struct store *s, const struct uuid *id, struct err *err)
{
	struct purge_report report;

	return purge_subject(s, id, false, &report, err);
}

/* Dies when so many files have been overwritten. */
static void die_halfway(void *ctx, const char *what, int64_t done, int64_t total)
{
	int64_t *files = ctx;

	(void)done;
	(void)total;
	if (strcmp(what, "overwriting") == 0 && --*files <= 0)
		raise(SIGKILL);
}

/* `files` 0 = it is not to die by itself. */
static pid_t start_purge(struct world *w, const struct uuid *id, int64_t files)
{
	struct err err;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		struct purge_options o = { .progress = files ? die_halfway : NULL, .ctx = &files };
		struct purge_report report;
		enum status status;

		w->store = open_store(w);
		status = purge_subjects(w->store, &(struct purge_subject){ .id = *id }, 1, &o, &report, &err);
		/* Another may have been faster. */
		if (status != STATUS_OK && status != STATUS_NOT_FOUND)
			die(w, "purging: %s", err.text);
		_exit(0);
	}
	return child;
}

static void purge_killed(struct world *w, const struct uuid *id)
{
	int64_t files = (int64_t)rnd(w, 3);
	long after = (long)rnd(w, 30000);
	struct purge_state left;
	struct err err;
	pid_t child;
	int state;

	note(w, files ? "  killed after %ld files" : "  killed after %ld us", files ? (long)files : after);
	store_close(w->store);
	child = start_purge(w, id, files);
	if (!files) {
		sleep_us(after);
		kill(child, SIGKILL);
	}
	waitpid(child, &state, 0);
	w->killed += WIFSIGNALED(state);
	w->store = open_store(w);
	if (purge_state_get(w->store, &left, &err))
		die(w, "%s", err.text);
	w->cut_short += left.left != PURGE_NOTHING;
}

static void purge_beside_sync(struct world *w, const struct uuid *id)
{
	struct err err;
	pid_t child;

	note(w, "  beside a sync");
	store_close(w->store);
	child = start_sync(w);
	w->store = open_store(w);
	if (purge_with(w->store, id, &err) && err.status != STATUS_NOT_FOUND)
		die(w, "purging beside a sync: %s", err.text);
	wait_for(w, child, "the sync beside it");
}

static pid_t start_rebuild(struct world *w)
{
	struct err err;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		w->store = open_store(w);
		if (rebuild_all(w->store, NULL, &err))
			die(w, "rebuilding beside a purge: %s", err.text);
		_exit(0);
	}
	return child;
}

/* While it is being read, what is purged must not get into the index. */
static void purge_beside_rebuild(struct world *w, const struct uuid *id)
{
	struct err err;
	pid_t child;

	note(w, "  beside a rebuild");
	store_close(w->store);
	child = start_rebuild(w);
	w->store = open_store(w);
	sleep_us((long)rnd(w, 4000));
	if (purge_with(w->store, id, &err) && err.status != STATUS_NOT_FOUND)
		die(w, "purging beside a rebuild: %s", err.text);
	wait_for(w, child, "the rebuild beside it");
}

static void purge_one(struct world *w, const struct uuid *id)
{
	struct err err;

	switch (rnd(w, 6)) {
	case 0:
		purge_killed(w, id);
		break;
	case 1:
		purge_beside_sync(w, id);
		break;
	case 2:
		purge_beside_rebuild(w, id);
		break;
	default:
		if (purge_with(w->store, id, &err))
			die(w, "purging: %s", err.text);
	}
}

/* What a purge that was killed has left is done by whoever comes next; what a sync has brought in beside it
 * is part of the picture. */
static void settle(struct world *w, const struct picture *before, struct learning *l)
{
	struct picture now CLEANUP(picture_release) = { 0 };
	struct err err;

	learn(w, before, l);
	take_picture(w, &now);
	learn(w, &now, l);
	/* What a sync beside it has brought in, and was purged in the same moment. */
	for (size_t i = 0; i < SLOTS; i++)
		each_line_of(w, paths[i], buf_as_str(&w->slots[i].now), learn_line, l);
	for (size_t i = 0; i < SESSIONS; i++)
		w->dead[i] = session_is_dead(w, sessions[i]);
	if (purge_complete(w->store, &err))
		die(w, "completing a purge: %s", err.text);
	verify(w, before, true);
}

static void purge_line(struct world *w)
{
	struct picture before CLEANUP(picture_release) = { 0 };
	struct choosing c CLEANUP(choosing_release) = { 0 };
	struct learning l = { .c = &c };

	if (!choose(w, &c))
		return;
	w->purges++;
	take_picture(w, &before);
	note(w, "purge %.*s", (int)size_min(c.line.n, 90), c.line.p);
	purge_one(w, &c.id);
	settle(w, &before, &l);
}

/* Whether it has a transcript that can be named. */
static bool session_is_known(struct world *w, const char *session)
{
	struct id_match found;
	struct err err;
	size_t count = 0;

	return id_search(w->store, str_of(session), 0, &found, 1, &count, &err) == STATUS_OK && count &&
	       found.is_session;
}

static void purge_session(struct world *w)
{
	struct picture before CLEANUP(picture_release) = { 0 };
	const char *session = sessions[rnd(w, SESSIONS)];
	struct learning l = { .session = session };
	struct uuid id;

	if (!session_is_known(w, session) || w->dead[0] + w->dead[1] + w->dead[2] == SESSIONS - 1)
		return;
	w->purges++;
	uuid_parse(str_of(session), &id);
	take_picture(w, &before);
	note(w, "purge session %s", session);
	purge_one(w, &id);
	settle(w, &before, &l);
}

/* ---- One schedule ---------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void world_init(struct world *w, uint64_t seed, uint64_t steps, const char *dir)
{
	struct err err;

	*w = (struct world){ .seed = seed, .steps = steps, .random = seed * 0x9E3779B97F4A7C15u + 0x1234567 };
	for (int i = 0; i < 8; i++)
		rnd(w, 1);
	snprintf(w->dir, sizeof w->dir, "%s/purges-%" PRIu64, dir, seed);
	snprintf(w->root, sizeof w->root, "%s/claude", w->dir);
	snprintf(w->store_path, sizeof w->store_path, "%s/store.db", w->dir);
	nftw(w->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	buf_init(&w->log, 4 * MIB);
	if (mkdir(w->dir, 0700) || mkdir(w->root, 0700))
		die(w, "%s: %s", w->dir, strerror(errno));
	for (size_t i = 0; i < SLOTS; i++) {
		buf_init(&w->slots[i].now, 2 * MOST_BYTES);
		buf_init(&w->slots[i].rest, 2 * MOST_BYTES);
	}
	w->store = open_store(w);
	if (tombstone_salt(w->store, &w->salt, &err))
		die(w, "%s", err.text);
}

static void world_release(struct world *w)
{
	store_close(w->store);
	for (size_t i = 0; i < SLOTS; i++) {
		buf_release(&w->slots[i].now);
		buf_release(&w->slots[i].rest);
	}
	map_release(&w->purged);
	map_release(&w->words);
	map_release(&w->fragments);
	arena_release(&w->mem);
	buf_release(&w->log);
	nftw(w->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void step(struct world *w)
{
	size_t slot = pick(w, true);
	uint64_t what = rnd(w, 12);

	if (what < 3)
		mirror(w);
	else if (what < 5)
		purge_line(w);
	else if (what == 5 && rnd(w, 3) == 0)
		purge_session(w);
	else if (slot == SLOTS)
		op_create(w, 0);
	else
		operations[rnd(w, COUNT(operations))](w, slot);
}

static void run(struct world *w)
{
	for (int i = 0; i < 5; i++)
		op_create(w, 0);
	mirror(w);
	for (uint64_t i = 0; i < w->steps; i++)
		step(w);
	mirror(w);
}

int main(int argc, char **argv)
{
	static struct world w;
	uint64_t first, last, steps, purges = 0, killed = 0, halfway = 0, verified = 0, gone = 0;
	const char *dir = argc > 3 ? argv[3] : getenv("TMPDIR");
	struct str end;

	if (argc < 3 || !str_to_u64(str_cut(str_of(argv[1]), '-', &end), &first) ||
	    !str_to_u64(str_of(argv[2]), &steps) || (end.p && !str_to_u64(end, &last))) {
		fprintf(stderr, "usage: purges SEED[-LAST] STEPS [DIR]\n");
		return 2;
	}
	for (uint64_t seed = first; seed <= (end.p ? last : first); seed++) {
		world_init(&w, seed, steps, dir ? dir : "/tmp");
		run(&w);
		world_release(&w);
		purges += w.purges;
		killed += w.killed;
		halfway += w.cut_short;
		verified += w.verified;
		gone += w.gone;
	}
	printf("purges=%" PRIu64 " killed=%" PRIu64 " halfway=%" PRIu64 " verified=%" PRIu64 " words=%" PRIu64
	       "\n",
	       purges, killed, halfway, verified, gone);
	return 0;
}
