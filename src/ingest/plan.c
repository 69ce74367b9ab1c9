/*
 * Planning a sync.
 *
 * One thread walks the root while the other loads what the store knows; then
 * both lists are joined by path. A file whose inode, size and times are all
 * as remembered is done: a sync with nothing new costs one look at each
 * file and one query.
 *
 * A path the store does not know may be a renamed file: same inode as a source
 * that was not found, and the same first bytes. Inodes are reused soon
 * after a deletion, so the inode alone proves nothing.
 *
 * A plan for some paths only does the same with these paths and their sources, so
 * that what it costs does not depend on how much else there is.
 *
 * Where folders that were worked in are excluded, files that name theirs are looked at
 * before anything is planned for them; of those that have not changed, the store knows it.
 *
 * Files with a tombstone are not opened. They have not vanished either.
 *
 * What could not be looked at has not vanished. Sources below a folder that
 * failed keep their state.
 */
#include "ingest/plan.h"

#include "base/hash.h"
#include "base/thread.h"
#include "claude/layout.h"
#include "ingest/owner.h"
#include "ingest/sieve.h"
#include "store/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file the walk found. */
struct found {
	struct str path;
	struct file_stat st;
};

enum { MOST_FORBIDDEN = STORE_FILES + 8 };

struct discovery {
	struct walk walk;
	int root_fd;
	const struct filter_rules *filter;
	struct stat forbidden[MOST_FORBIDDEN]; /* files that must not be opened by any name */
	size_t forbidden_count;
	struct arena mem; /* the walking thread's own */
	struct found *list;
	size_t count, cap;
	struct plan_failure *failures;
	enum status status;
	struct err err;
};

static bool wants(void *ctx, struct str path, bool is_folder)
{
	const struct discovery *d = ctx;

	return filter_wants(d->filter, path, is_folder);
}

static void failed(void *ctx, struct str path, enum walk_problem problem, const struct err *why);

/*
 * Files that may not be opened, whatever they are called below the root.
 *
 * Those of the store, when it lies there. Reading it would not only be pointless:
 * closing a file drops every lock this process has on it, SQLite's included, and
 * the next writer destroys the store. And those with secrets, which a hard link
 * would bring in under an innocent name.
 */
static void forbid(struct discovery *d, int folder, const char *path)
{
	struct stat *st = &d->forbidden[d->forbidden_count];

	if (d->forbidden_count < MOST_FORBIDDEN && fstatat(folder, path, st, 0) == 0)
		d->forbidden_count++;
}

static void find_forbidden(struct discovery *d, const struct store *s)
{
	char path[LIMIT_PATH + 16];

	for (const char *const *suffix = store_file_suffixes; *suffix; suffix++) {
		snprintf(path, sizeof path, "%s%s", store_path(s), *suffix);
		forbid(d, AT_FDCWD, path);
	}
	for (const char *const *name = claude_secret_names; *name; name++)
		forbid(d, d->root_fd, *name);
}

static bool is_forbidden(const struct discovery *d, struct str path, const struct file_stat *st)
{
	char name[LIMIT_PATH];
	struct stat now;

	for (size_t i = 0; i < d->forbidden_count; i++) {
		if ((int64_t)d->forbidden[i].st_ino != st->inode)
			continue;
		snprintf(name, sizeof name, "%.*s", STR_ARG(path));
		if (fstatat(d->root_fd, name, &now, AT_SYMLINK_NOFOLLOW) || now.st_dev == d->forbidden[i].st_dev)
			return true;
	}
	return false;
}

static void found(void *ctx, struct str path, const struct file_stat *st)
{
	struct discovery *d = ctx;
	struct err err;

	if (is_forbidden(d, path, st)) {
		err_set(&err, STATUS_DENIED, "%.*s: the store itself, or a file with secrets by another name, not read",
			(int)size_min(path.n, 300), path.p);
		failed(d, path, WALK_REFUSED, &err);
		return;
	}
	if (!filter_fits(d->filter, st->size)) {
		err_set(&err, STATUS_LIMIT, "%.*s: %" PRId64 " bytes are more than wanted, not read",
			(int)size_min(path.n, 300), path.p, st->size);
		failed(d, path, WALK_REFUSED, &err);
		return;
	}
	if (d->count == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 1024;
		d->list = mem_resize(d->list, d->cap * sizeof *d->list);
	}
	d->list[d->count++] = (struct found){ arena_str(&d->mem, path), *st };
}

static void failed(void *ctx, struct str path, enum walk_problem problem, const struct err *why)
{
	struct discovery *d = ctx;
	struct plan_failure *f = arena_alloc(&d->mem, sizeof *f);

	f->path = arena_str(&d->mem, path);
	/* A link in the place of all projects is not a detail. */
	f->refused = problem == WALK_REFUSED || (problem == WALK_FOLDER_LINK && !str_eq(path, STR("projects")));
	f->loud = problem == WALK_FOLDER_LINK;
	f->why = *why;
	f->next = d->failures;
	d->failures = f;
}

static void *discover(void *ctx)
{
	struct discovery *d = ctx;

	d->status = walk_run(&d->walk, d->root_fd, &d->err);
	return NULL;
}

static void discovery_release(struct discovery *d)
{
	mem_free(d->list);
	arena_release(&d->mem);
}

/* ---- Joining --------------------------------------------------------------- */

struct joining {
	struct plan *plan;
	int root_fd;
	bool whole;
	struct map by_path;  /* -> struct source */
	struct map by_inode; /* -> struct source; only unseen ones */
	struct source **same_inode; /* by index of a source: another one with its inode */
	struct found **strangers; /* paths the store does not know */
	size_t stranger_count;
	struct sieve sieve;
};

static void joining_release(struct joining *j)
{
	map_release(&j->by_path);
	map_release(&j->by_inode);
	mem_free(j->strangers);
	sieve_release(&j->sieve);
}

static void know_sources(struct joining *j)
{
	struct plan *p = j->plan;

	p->seen = arena_alloc(&p->mem, p->source_count * sizeof *p->seen);
	p->gone = arena_alloc(&p->mem, p->source_count * sizeof *p->gone);
	for (size_t i = 0; i < p->source_count; i++)
		map_put(&j->by_path, p->sources[i].path, &p->sources[i]);
}

static bool is_unchanged(const struct joining *j, const struct source *s, const struct file_stat *st)
{
	return !j->whole && s->generation && s->settled && !s->vanished && file_stat_eq(&s->st, st);
}

static void add_job(struct joining *j, const struct found *f, const struct source *known, bool renamed)
{
	struct plan *p = j->plan;

	p->jobs[p->job_count++] = (struct job){
		.path = arena_str(&p->mem, f->path),
		.st = f->st,
		.known = known,
		.renamed = renamed,
		.whole = j->whole,
		.written = { .source = known ? known->row : 0 },
	};
}

static struct str inode_key(const struct file_stat *st)
{
	return str_from((const char *)&st->inode, sizeof st->inode);
}

/* Inodes are reused soon; the time of birth tells one owner from the next. Where
 * the file system does not know it, only a long equal beginning is evidence. */
static bool is_same_birth(const struct file_stat *st, const struct source *s)
{
	if (st->btime_ns && s->st.btime_ns)
		return st->btime_ns == s->st.btime_ns;
	return s->head_length >= (int64_t)LIMIT_HEAD_HASH / 4;
}

/* Whether the file begins with what the source began with. */
static enum status has_head_of(struct joining *j, const struct found *f, const struct source *s, bool *out,
			       struct err *err)
{
	int fd CLEANUP(file_close) = -1;
	char head[LIMIT_HEAD_HASH];
	size_t got;

	*out = false;
	if (s->head_length <= 0 || s->head_length > (int64_t)sizeof head || f->st.size < s->head_length ||
	    !is_same_birth(&f->st, s))
		return STATUS_OK;
	if (file_open_beneath(j->root_fd, f->path, O_RDONLY, &fd, err) ||
	    file_read_at(fd, 0, head, (size_t)s->head_length, &got, err))
		return err_failed(err->status);
	sieve_begin(&j->sieve, fd, f->st.size);
	if (sieve_bytes(&j->sieve, 0, head, got, NULL, NULL, err))
		return err_failed(err->status);
	*out = got == (size_t)s->head_length && hash64(head, got) == s->head_hash;
	return STATUS_OK;
}

/* The unseen source this file was, or NULL. Several can have had its inode, one
 * after the other; one that was still there at the last sync goes first. */
static enum status find_lost(struct joining *j, const struct found *f, struct source **out, struct err *err)
{
	const struct plan *p = j->plan;
	struct source *s = map_get(&j->by_inode, inode_key(&f->st));
	bool fits;

	for (*out = NULL; s; s = j->same_inode[s - p->sources]) {
		if (p->seen[s - p->sources] || (*out && (s->vanished || !(*out)->vanished)))
			continue;
		if (has_head_of(j, f, s, &fits, err))
			return err_failed(err->status);
		if (fits)
			*out = s;
	}
	return STATUS_OK;
}

/* Could not be looked at. Gone since the walk is as if never seen. */
static void add_failure(struct plan *p, const struct found *f, const struct err *why)
{
	struct plan_failure *failure;

	if (why->status == STATUS_NOT_FOUND)
		return;
	failure = arena_alloc(&p->mem, sizeof *failure);
	failure->path = arena_str(&p->mem, f->path);
	failure->why = *why;
	failure->next = p->failures;
	p->failures = failure;
}

/* Whether it is a source we know cannot be said now. So it is left alone, and
 * those it might be have not vanished. */
static void leave_stranger(struct joining *j, const struct found *f, const struct err *why)
{
	struct plan *p = j->plan;

	p->files--;
	add_failure(p, f, why);
	if (why->status == STATUS_NOT_FOUND)
		return;
	for (struct source *s = map_get(&j->by_inode, inode_key(&f->st)); s; s = j->same_inode[s - p->sources])
		p->seen[s - p->sources] = true;
}

static void map_lost(struct joining *j)
{
	struct plan *p = j->plan;

	j->same_inode = arena_alloc(&p->mem, p->source_count * sizeof(struct source *));
	for (size_t i = 0; i < p->source_count; i++) {
		struct str key = inode_key(&p->sources[i].st);

		if (p->seen[i] || !p->sources[i].st.inode)
			continue;
		j->same_inode[i] = map_get(&j->by_inode, key);
		map_put(&j->by_inode, key, &p->sources[i]);
	}
}

static void join_strangers(struct joining *j)
{
	struct plan *p = j->plan;

	if (j->stranger_count == 0)
		return;
	map_lost(j);
	for (size_t i = 0; i < j->stranger_count; i++) {
		struct found *f = j->strangers[i];
		struct source *s;
		struct err err;

		if (find_lost(j, f, &s, &err)) {
			leave_stranger(j, f, &err);
			continue;
		}
		if (s)
			p->seen[s - p->sources] = true;
		add_job(j, f, s, s != NULL);
	}
}

/* Largest first, so that the threads end together; but giants last and the least
 * of them first, so that one file that never ends cannot keep the others out. */
static int job_order(const void *a, const void *b)
{
	const struct job *x = a, *y = b;
	bool x_giant = x->st.size > (int64_t)LIMIT_GIANT, y_giant = y->st.size > (int64_t)LIMIT_GIANT;

	if (x_giant != y_giant)
		return x_giant ? 1 : -1;
	if (x->st.size != y->st.size)
		return (x->st.size < y->st.size) != x_giant ? 1 : -1;
	return str_cmp(x->path, y->path);
}

static void join(struct joining *j, const struct discovery *d)
{
	struct plan *p = j->plan;

	p->files = (int64_t)d->count;
	p->jobs = arena_alloc(&p->mem, d->count * sizeof *p->jobs);
	j->strangers = mem_alloc(d->count * sizeof *j->strangers);
	for (size_t i = 0; i < d->count; i++) {
		struct source *s = map_get(&j->by_path, d->list[i].path);

		if (s)
			p->seen[s - p->sources] = true;
		if (!s)
			j->strangers[j->stranger_count++] = &d->list[i];
		else if (!is_unchanged(j, s, &d->list[i].st))
			add_job(j, &d->list[i], s, false);
	}
	join_strangers(j);
	qsort(p->jobs, p->job_count, sizeof *p->jobs, job_order);
}

static void take_failures(struct plan *p, const struct discovery *d)
{
	for (const struct plan_failure *f = d->failures; f; f = f->next) {
		struct plan_failure *copy = arena_alloc(&p->mem, sizeof *copy);

		*copy = *f;
		copy->path = arena_str(&p->mem, f->path);
		copy->next = p->failures;
		p->failures = copy;
	}
}

/* ---- Leaving out ----------------------------------------------------------- */

static enum status note_session(void *ctx, const struct session *s, bool *go_on, struct err *err)
{
	const struct joining *j = ctx;
	const struct source *known = map_get(&j->by_path, s->path);

	(void)err;
	*go_on = true;
	if (known && known->row == s->source)
		owner_note(j->plan->filter, s->path, s->project);
	return STATUS_OK;
}

/* What could not be looked at is left out as well: it may be something excluded. */
static void look_at_owners(struct joining *j, struct discovery *d)
{
	struct plan *p = j->plan;
	size_t kept = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct found *f = &d->list[i];
		const struct source *s = map_get(&j->by_path, f->path);
		struct err err;
		bool looked = true;

		if (owner_is_named(f->path) && !(s && is_unchanged(j, s, &f->st)))
			looked = owner_look(p->filter, j->root_fd, f->path, &err) == STATUS_OK;
		if (!looked)
			add_failure(p, f, &err);
		else
			d->list[kept++] = *f;
	}
	d->count = kept;
}

/* Excluded ones have not vanished. */
static void drop_excluded(struct joining *j, struct discovery *d)
{
	struct plan *p = j->plan;
	size_t kept = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct source *s = map_get(&j->by_path, d->list[i].path);

		if (!owner_is_excluded(p->filter, d->list[i].path))
			d->list[kept++] = d->list[i];
		else if (s)
			p->seen[s - p->sources] = true;
	}
	d->count = kept;
}

/* What is planned for some paths only goes by what the plan for all has found out. */
static enum status exclude(struct joining *j, struct discovery *d, struct store *s, bool all, struct err *err)
{
	if (!filter_has_folders(j->plan->filter))
		return STATUS_OK;
	if (s && all && session_each(s, (struct str){ 0 }, note_session, j, err))
		return err_failed(err->status);
	look_at_owners(j, d);
	drop_excluded(j, d);
	return STATUS_OK;
}

static bool has_tombstone(const struct tombstones *t, struct str path)
{
	struct uuid session;

	if (map_get(&t->paths, path))
		return true;
	return t->sessions.count && claude_session_of(path, &session) &&
	       map_get(&t->sessions, str_from((const char *)session.b, UUID_BYTES));
}

static enum status drop_purged(struct joining *j, struct discovery *d, struct store *s, int64_t root,
			       struct err *err)
{
	struct tombstones t CLEANUP(tombstones_release) = { 0 };
	struct plan *p = j->plan;
	size_t kept = 0;

	if (tombstones_load(s, root, &p->mem, &t, err))
		return err_failed(err->status);
	for (size_t i = 0; i < d->count; i++) {
		const struct source *known = map_get(&j->by_path, d->list[i].path);

		if (!has_tombstone(&t, d->list[i].path))
			d->list[kept++] = d->list[i];
		else if (known)
			p->seen[known - p->sources] = true;
	}
	d->count = kept;
	for (size_t i = 0; i < p->source_count; i++)
		if (has_tombstone(&t, p->sources[i].path))
			p->sources[i].st.inode = 0; /* no file is what is left of it by another name */
	return STATUS_OK;
}

/* The walk in a thread of its own, while this one loads what the store knows. */
static enum status find_all(struct plan *p, struct discovery *d, struct store *s, int64_t root, struct err *err)
{
	pthread_t walker;
	bool threaded = thread_start(&walker, discover, d) == 0;
	enum status loaded = STATUS_OK;

	if (s)
		loaded = source_load(s, root, &p->mem, &p->sources, &p->source_count, err);
	if (threaded)
		pthread_join(walker, NULL);
	else
		discover(d);
	if (loaded != STATUS_OK)
		return loaded;
	if (d->status != STATUS_OK) {
		*err = d->err;
		return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- Only some paths ------------------------------------------------------- */

struct picking {
	struct plan *plan;
	struct discovery *d;
	struct map known; /* paths of the sources loaded */
	size_t cap;	  /* of the plan's sources */
};

static void picking_release(struct picking *k)
{
	map_release(&k->known);
}

static void take_source(void *ctx, const struct source *s)
{
	struct picking *k = ctx;
	struct plan *p = k->plan;

	if (map_get(&k->known, s->path))
		return;
	if (p->source_count == k->cap) {
		struct source *old = p->sources;

		k->cap = k->cap ? 2 * k->cap : 16;
		p->sources = arena_alloc(&p->mem, k->cap * sizeof *p->sources);
		if (old)
			memcpy(p->sources, old, p->source_count * sizeof *old);
	}
	p->sources[p->source_count++] = *s;
	map_put(&k->known, s->path, k); /* only that it is there */
}

/*
 * These paths and their sources. A path the store does not know may be a renamed
 * file: sources with its inode are then part of it, and so are their paths, to see
 * whether they are still there.
 */
static enum status find_some(struct plan *p, struct discovery *d, struct store *s, int64_t root,
			     const struct plan_options *o, struct err *err)
{
	struct picking k CLEANUP(picking_release) = { .plan = p, .d = d };
	size_t asked;

	for (size_t i = 0; i < o->path_count; i++) {
		walk_path(&d->walk, d->root_fd, o->paths[i]);
		if (source_load_path(s, root, o->paths[i], &p->mem, take_source, &k, err))
			return err_failed(err->status);
	}
	asked = d->count;
	for (size_t i = 0; i < asked; i++) {
		size_t before = p->source_count;

		if (map_get(&k.known, d->list[i].path))
			continue;
		if (source_load_inode(s, root, d->list[i].st.inode, &p->mem, take_source, &k, err))
			return err_failed(err->status);
		for (size_t n = before; n < p->source_count; n++)
			walk_path(&d->walk, d->root_fd, p->sources[n].path);
	}
	return STATUS_OK;
}

enum status plan_make(struct plan *p, struct store *s, int64_t root, int root_fd, const struct plan_options *o,
		      struct err *err)
{
	struct discovery d CLEANUP(discovery_release) = {
		.walk = { .wants = wants, .found = found, .failed = failed, .cancel = o->cancel },
		.root_fd = root_fd,
		.filter = o->filter,
	};
	struct joining j CLEANUP(joining_release) = {
		.plan = p, .root_fd = root_fd, .whole = o->whole, .sieve = { .fd = -1 }
	};

	*p = (struct plan){ .filter = o->filter };
	d.walk.ctx = &d;
	if (s)
		find_forbidden(&d, s);
	if (o->paths ? find_some(p, &d, s, root, o, err) : find_all(p, &d, s, root, err))
		return err_failed(err->status);
	take_failures(p, &d);
	know_sources(&j);
	if (o->mark && (drop_purged(&j, &d, s, root, err) || sieve_init(&j.sieve, s, o->mark, err)))
		return err_failed(err->status);
	if (exclude(&j, &d, s, !o->paths, err))
		return err_failed(err->status);
	join(&j, &d);
	return STATUS_OK;
}

void plan_release(struct plan *p)
{
	arena_release(&p->mem);
}

bool plan_has_vanished(const struct plan *p, size_t index)
{
	const struct source *s = &p->sources[index];

	if (p->seen[index] || s->vanished || !filter_wants(p->filter, s->path, false) ||
	    owner_is_excluded(p->filter, s->path))
		return false;
	for (const struct plan_failure *f = p->failures; f; f = f->next)
		if (path_is_below(s->path, f->path))
			return false;
	return true;
}
