/*
 * Transcripts in a store of their own: files are written below a private folder, synced, and
 * found again by name.
 */
#ifndef ARBOR_TEST_FILES_H
#define ARBOR_TEST_FILES_H

#include "base/file.h"
#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "store/session.h"
#include "t.h"

#include <stdio.h>

struct files {
	char tree[LIMIT_PATH];
	struct store *s;
};

static inline void files_release(struct files *f)
{
	store_close(f->s);
}

#define FILES struct files CLEANUP(files_release)

static inline enum status files_init(struct t *t, struct files *f, struct err *err)
{
	char path[LIMIT_PATH];
	const char *dir = t_tmpdir(t);
	bool done;

	*f = (struct files){ 0 };
	snprintf(f->tree, sizeof f->tree, "%s/claude", dir);
	snprintf(path, sizeof path, "%s/claude/projects/p", dir);
	if (file_make_dirs(path, err))
		return err_failed(err->status);
	snprintf(path, sizeof path, "%s/store.db", dir);
	if (store_open(&(struct store_options){ .path = path, .create = true }, &f->s, err))
		return err_failed(err->status);
	return rebuild_if_stale(f->s, NULL, &done, err);
}

/* A conversation's file; its name is a session id. */
static inline enum status files_put(struct files *f, const char *session, struct str bytes, struct err *err)
{
	char path[LIMIT_PATH];

	snprintf(path, sizeof path, "%.2000s/projects/p/%s.jsonl", f->tree, session);
	return file_write_atomic(path, bytes, 0644, err);
}

static inline enum status files_sync(struct files *f, struct err *err)
{
	struct sync_report report;

	return sync_run(f->s, &(struct sync_options){ .dir = f->tree, .force = true }, &report, err);
}

struct files_search {
	struct uuid id;
	int64_t row;
};

static inline enum status files_look(void *ctx, const struct session *s, bool *go_on, struct err *err)
{
	struct files_search *x = ctx;

	(void)err;
	if (uuid_eq(&s->id, &x->id) && !s->agent.n)
		x->row = s->row;
	*go_on = x->row < 0;
	return STATUS_OK;
}

/* The row of a conversation. */
static inline enum status files_find(struct files *f, const char *session, int64_t *row, struct err *err)
{
	struct files_search x = { .row = -1 };

	uuid_parse(str_of(session), &x.id);
	if (session_each(f->s, (struct str){ 0 }, files_look, &x, err))
		return err_failed(err->status);
	*row = x.row;
	return x.row < 0 ? err_fail(err, STATUS_NOT_FOUND, "no such conversation") : STATUS_OK;
}

#endif
