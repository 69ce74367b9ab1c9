/*
 * A name and a place: which line of which transcript is meant.
 *
 * Named sessions come first, by their whole name, since that is what people gave them to be called by. A node
 * behind a name may stand in another file than the session's own: what it was forked from has it, too.
 */
#include "hub/forkable.h"

#include "base/file.h"
#include "hub/alive.h"
#include "hub/excluded.h"
#include "hub/resolve.h"
#include "hub/settings.h"
#include "hub/where.h"
#include "ingest/sync.h"
#include "live/lease.h"
#include "store/run.h"
#include "store/source.h"

#include <inttypes.h>
#include <sys/stat.h>

static enum status take_resolved(struct forkable *out, const struct resolved *r, struct err *err)
{
	if (r->session.old)
		return err_fail(
			err, STATUS_NOT_FOUND,
			"only an older version of its file had that line, and nothing goes on from there");
	if (r->agent.n)
		return err_fail(err, STATUS_USAGE,
				"sub-agent '%.*s' stands in the file of its conversation: name one of its messages,"
				" which 'arbor show' lists, or the conversation",
				(int)size_min(r->agent.n, 60), r->agent.p);
	out->session = r->session;
	out->is_node = !r->is_session && !r->is_tree;
	out->line = (struct resume_line){ r->session.row, out->is_node ? r->node.offset : FORK_AT_END };
	return STATUS_OK;
}

static enum status take_head(struct call *c, struct forkable *out, struct err *err)
{
	const struct named_head *head = &out->head;
	int64_t *rows;
	size_t count;

	out->at_head = true;
	if (resume_find_line(c->store, head, &out->line, err))
		return err_failed(err->status);
	if (!out->line.session && head->has_session) {
		if (session_rows(c->store, &head->session, STR(""), &c->mem, &rows, &count, err))
			return err_failed(err->status);
		if (count)
			out->line = (struct resume_line){ rows[0], FORK_AT_END };
	}
	return out->line.session ? session_get(c->store, out->line.session, &c->mem, &out->session, err)
				 : STATUS_OK;
}

enum status forkable_find_node(struct call *c, const struct named *in, struct str node, struct forkable *out,
			       struct err *err)
{
	enum status status = STATUS_NOT_FOUND;
	char id[UUID_TEXT + 1];
	struct resolved r;

	if (in && in->head.has_session && !str_has_byte(node, '@')) {
		uuid_print(&in->head.session, id);
		status = resolve_id(c->store, arena_printf(&c->mem, "%s@%.*s", id, STR_ARG(node)), &c->mem,
				    &r, err);
	}
	if (status == STATUS_NOT_FOUND)
		status = resolve_id(c->store, node, &c->mem, &r, err);
	return status ? status : take_resolved(out, &r, err);
}

/* By its whole name; *found false = nobody is called so. */
static enum status find_named(struct call *c, struct str name, struct named *out, bool *found,
			      struct err *err)
{
	enum status status = name.n ? named_find(c->store, name, &c->mem, out, err) : STATUS_NOT_FOUND;

	*found = status == STATUS_OK && str_eq(out->name, name);
	return status == STATUS_NOT_FOUND || status == STATUS_AMBIGUOUS ? STATUS_OK : status;
}

enum status forkable_find(struct call *c, struct str text, struct forkable *out, struct err *err)
{
	struct str node, name = str_cut(text, '@', &node);
	struct resolved r;

	*out = (struct forkable){ 0 };
	if (find_named(c, name, &out->named, &out->is_named, err) ||
	    (out->is_named && resume_head(c->store, &out->named, &out->head, err)))
		return err_failed(err->status);
	if (out->is_named)
		return node.p ? forkable_find_node(c, &out->named, node, out, err) : take_head(c, out, err);
	return resolve_id(c->store, text, &c->mem, &r, err) ? err_failed(err->status)
							    : take_resolved(out, &r, err);
}

enum status forkable_load(struct call *c, const struct forkable *what, struct forking *out, struct err *err)
{
	if (!what->session.row)
		return err_fail(err, STATUS_NOT_FOUND, "nothing was said in '%.*s' yet",
				STR_ARG(what->named.name));
	return forking_load(c->store, what->line.session, what->line.offset, what->at_head, out, err);
}

static bool is_folder(struct call *c, struct str path)
{
	struct stat st;

	return stat(arena_cstr(&c->mem, path), &st) == 0 && S_ISDIR(st.st_mode);
}

enum status forkable_folder(struct call *c, const struct forkable *what, struct str given, struct str *out,
			    struct err *err)
{
	struct str wanted = given.p	     ? given
			    : what->is_named ? what->named.settings.working_dir
					     : what->session.project;

	*out = wanted.n ? call_real_path(c, wanted) : (struct str){ 0 };
	if (out->p && is_folder(c, *out))
		return STATUS_OK;
	if (given.p)
		return err_fail(err, STATUS_NOT_FOUND, "there is no folder '%.*s'",
				(int)size_min(given.n, 200), given.p);
	return err_fail(err, STATUS_NOT_FOUND,
			"the folder it worked in is not here: %.*s; --cwd names another",
			(int)size_min(wanted.n, 200), wanted.p ? wanted.p : "");
}

enum status forkable_is_open(struct call *c, const struct uuid *session, bool *out, struct err *err)
{
	struct alive alive CLEANUP(alive_release) = { 0 };

	if (alive_load(c->store, &alive, err))
		return err_failed(err->status);
	*out = alive_find(&alive, session) != NULL;
	return STATUS_OK;
}

enum status forkable_check_open(struct call *c, const struct uuid *session, struct err *err)
{
	struct alive alive CLEANUP(alive_release) = { 0 };
	const struct live *client;

	if (alive_load(c->store, &alive, err))
		return err_failed(err->status);
	client = alive_find(&alive, session);
	return client ? err_fail(err, STATUS_BUSY,
				 "a client has it open just now (process %" PRId64
				 "); 'arbor fork' goes on beside it",
				 client->pid)
		      : STATUS_OK;
}

enum status forkable_check_rest(struct call *c, const struct named *n, struct err *err)
{
	struct run run;
	bool at_work;

	if (lease_look_after_all(c->store, err) ||
	    run_of_session(c->store, n->row, &c->mem, &run, &at_work, err))
		return err_failed(err->status);
	return at_work ? err_fail(err, STATUS_BUSY, "'%.*s' is at work; 'arbor fork' goes on beside it",
				  STR_ARG(n->name))
		       : STATUS_OK;
}

/* ---- Mirroring what was written ------------------------------------------------------ */

static enum status sync_one(struct call *c, const char *home, struct str below, struct err *err)
{
	struct filter unwanted = { .max_size = settings_int(c->settings, "sync.max_size") };
	const struct filter_rules *filter CLEANUP(filter_release) = NULL;
	struct sync_options o = { .dir = home, .paths = &below, .path_count = 1, .cancel = c->cancel };
	struct sync_report report = { 0 };
	struct root root;

	excluded_take(c, NULL, &unwanted);
	if (root_find(c->store, home, (struct str){ 0 }, &root, err) ||
	    filter_make(&unwanted, &c->mem, &filter, err))
		return err_failed(err->status);
	o.filter = filter;
	return sync_run(c->store, &o, &report, err);
}

/* A folder that is not mirrored stays so, and what fails is left to the next sync. */
bool mirror_now(struct call *c, struct str path)
{
	struct environment env;
	struct str home, below;
	struct err err;

	where_environment(c->settings, &env);
	home = call_real_path(c, forked_home(&env, &c->mem));
	path = call_real_path(c, path);
	if (!home.p || !path.p || path.n <= home.n + 1 || !path_is_below(path, home))
		return false;
	below = str_sub(path, home.n + 1, SIZE_MAX);
	if (!sync_one(c, arena_cstr(&c->mem, home), below, &err))
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

/* ---- What was said until now ---------------------------------------------------------- */

enum status forkable_find_now(struct call *c, struct str text, struct read_txn *snapshot,
			      struct forkable *out, struct err *err)
{
	if (read_begin(c->store, snapshot, err) || forkable_find(c, text, out, err))
		return err_failed(err->status);
	read_end(snapshot);
	mirror_session(c, &out->session);
	return read_begin(c->store, snapshot, err) || forkable_find(c, text, out, err)
		       ? err_failed(err->status)
		       : STATUS_OK;
}
