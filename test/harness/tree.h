/*
 * A folder of transcripts and stores beside it, in a test's private folder.
 */
#ifndef ARBOR_TEST_TREE_H
#define ARBOR_TEST_TREE_H

#include "ingest/rebuild.h"
#include "ingest/sync.h"
#include "store/db.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The store `name` in a folder; ready for use. `log` and `cancel` may be NULL. */
static inline enum status tree_store(const char *dir, const char *name, const struct log *log,
				     const atomic_bool *cancel, struct store **s, struct err *err)
{
	char path[LIMIT_PATH];
	struct store_options o = { .path = path, .create = true, .log = log, .cancel = cancel };
	bool done;

	snprintf(path, sizeof path, "%s/%s.db", dir, name);
	return store_open(&o, s, err) ? err_failed(err->status) : rebuild_if_stale(*s, NULL, &done, err);
}

/* Where the transcript of a session is that has these first eight digits. */
static inline const char *tree_path(const char *dir, const char *tree, uint32_t session, char out[LIMIT_PATH])
{
	snprintf(out, LIMIT_PATH, "%s/%s/projects/p/%08x-0000-4000-8000-000000000000.jsonl", dir, tree,
		 session);
	return out;
}

/* `flags` O_TRUNC: all of it is this; O_APPEND: this comes behind it. */
static inline bool tree_write(const char *dir, const char *tree, uint32_t session, struct str bytes,
			      int flags)
{
	char path[LIMIT_PATH];
	struct err err;
	bool written;
	int fd;

	snprintf(path, sizeof path, "%s/%s/projects/p", dir, tree);
	if (file_make_dirs(path, &err))
		return false;
	fd = open(tree_path(dir, tree, session, path), O_WRONLY | O_CREAT | flags, 0600);
	if (fd < 0)
		return false;
	written = file_write_all(fd, bytes, &err) == STATUS_OK;
	return close(fd) == 0 && written;
}

static inline enum status tree_sync(const char *dir, const char *tree, struct store *s,
				    const atomic_bool *cancel, struct err *err)
{
	char path[LIMIT_PATH];
	struct sync_options o = { .dir = path, .cancel = cancel, .along_bytes = 1 };
	struct sync_report report;

	snprintf(path, sizeof path, "%s/%s", dir, tree);
	return sync_run(s, &o, &report, err);
}

/* The first number of the first row; -1 when there is none. */
static inline int64_t tree_ask(struct store *s, const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (s && sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

#endif
