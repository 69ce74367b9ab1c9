/*
 * A sync of the client's own folder, or of some files in it, on behalf of a method that has just written one or is
 * about to go on from one. What fails is left to the next sync: nobody asked for this one.
 */
#include "hub/mirror_now.h"

#include "base/file.h"
#include "hub/excluded.h"
#include "hub/settings.h"
#include "hub/where.h"
#include "ingest/sync.h"
#include "live/forked.h"
#include "store/source.h"

typedef enum status syncing_fn(struct store *s, const struct sync_options *o, struct sync_report *report,
			       struct err *err);

struct str mirror_home(struct call *c)
{
	struct environment env;

	where_environment(c->settings, &env);
	return call_real_path(c, forked_home(&env, &c->mem));
}

/* What is at some paths below it; NULL = all of it. */
static enum status sync_home(struct call *c, struct str home, const struct str *paths, size_t count, syncing_fn *run,
			     struct sync_report *report, struct err *err)
{
	struct filter unwanted = { .max_size = settings_int(c->settings, "sync.max_size") };
	const struct filter_rules *filter CLEANUP(filter_release) = NULL;
	struct sync_options o = { .dir = arena_cstr(&c->mem, home),
				  .paths = paths,
				  .path_count = count,
				  .cancel = c->cancel };
	struct root root;

	excluded_take(c, NULL, &unwanted);
	if (root_find(c->store, o.dir, (struct str){ 0 }, &root, err) ||
	    filter_make(&unwanted, &c->mem, &filter, err))
		return err_failed(err->status);
	o.filter = filter;
	return run(c->store, &o, report, err);
}

bool mirror_now(struct call *c, struct str path)
{
	struct str home = mirror_home(c), below;
	struct sync_report report = { 0 };
	struct err err;

	path = call_real_path(c, path);
	if (!home.p || !path.p || path.n <= home.n + 1 || !path_is_below(path, home))
		return false;
	below = str_sub(path, home.n + 1, SIZE_MAX);
	if (!sync_home(c, home, &below, 1, sync_run, &report, &err))
		return true;
	log_debug(c->log, "the new file is not mirrored yet: %s", err.text);
	return false;
}

void mirror_session(struct call *c, const struct session *session)
{
	struct buf dir CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);
	struct err err;

	if (!session->row)
		return;
	if (root_dir(c->store, session->root, &dir, &err))
		log_debug(c->log, "its file is not mirrored again: %s", err.text);
	else
		(void)mirror_now(c, arena_printf(&c->mem, "%.*s/%.*s", STR_ARG(buf_as_str(&dir)),
						 STR_ARG(session->path)));
}

bool mirror_all_now(struct call *c)
{
	struct str home = mirror_home(c);
	struct sync_report report = { 0 };
	enum status status;
	struct err err;

	if (!home.p)
		return false;
	status = sync_home(c, home, NULL, 0, sync_run, &report, &err);
	if (status == STATUS_OK || status == STATUS_PARTIAL)
		return true;
	log_debug(c->log, "what is new in the client's folder is not mirrored: %s", err.text);
	return false;
}

bool mirror_is_behind(struct call *c, const struct str *paths, size_t count)
{
	struct str home = mirror_home(c);
	struct sync_report report = { 0 };
	enum status status;
	struct err err;

	if (!home.p || !count)
		return false;
	status = sync_home(c, home, paths, count, sync_preview, &report, &err);
	return (status == STATUS_OK || status == STATUS_PARTIAL) &&
	       report.count[SYNC_ADDED] + report.count[SYNC_GREW] > 0;
}
