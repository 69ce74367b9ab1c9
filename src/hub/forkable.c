/*
 * A name and a place: which line of which transcript is meant.
 *
 * Named sessions come first, by their whole name, since that is what people gave them to be called by; their ids
 * come last. A node
 * behind a name may stand in another file than the session's own: what it was forked from has it, too.
 */
#include "hub/forkable.h"

#include "base/utf8.h"
#include "hub/alive.h"
#include "hub/meant.h"
#include "hub/mirror_now.h"
#include "hub/resolve.h"
#include "hub/where.h"
#include "live/lease.h"
#include "store/run.h"

#include <inttypes.h>
#include <sys/stat.h>

static enum status take_resolved(struct forkable *out, const struct resolved *r, struct err *err)
{
	if (r->session.old)
		return err_fail(
			err, STATUS_NOT_FOUND,
			"only an older version of its file had that line, and nothing goes on from there");
	if (r->agent.n && !out->before)
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

/* A node in the tree of a session. */
static enum status find_behind(struct call *c, const struct uuid *session, struct str node, struct resolved *out,
			       struct err *err)
{
	char id[UUID_TEXT + 1];

	uuid_print(session, id);
	return resolve_id(c->store, arena_printf(&c->mem, "%s@%.*s", id, STR_ARG(node)), &c->mem, out, err);
}

/* A node in the tree of a named session, whose own file may not be mirrored yet: what it was forked from is. */
static enum status find_within(struct call *c, const struct named *in, struct str node, struct resolved *out,
			       struct err *err)
{
	enum status status = STATUS_NOT_FOUND;
	char head[UUID_TEXT + 1];
	struct resolved from;
	struct err ignored;

	if (str_has_byte(node, '@'))
		return err_fail(err, STATUS_USAGE, "'%.*s@%.*s': one '@' is enough", STR_ARG(in->name),
				(int)size_min(node.n, 60), node.p);
	if (in->head.has_session)
		status = find_behind(c, &in->head.session, node, out, err);
	if (status != STATUS_NOT_FOUND)
		return status;
	uuid_print(&in->head.head, head);
	if (in->head.has_head && resolve_id(c->store, str_of(head), &c->mem, &from, &ignored) == STATUS_OK)
		status = find_behind(c, &from.session.id, node, out, err);
	return status == STATUS_NOT_FOUND
		       ? err_fail(err, STATUS_NOT_FOUND,
				  "no node of '%.*s' begins with '%.*s'; 'arbor tree %.*s' shows them",
				  STR_ARG(in->name), (int)size_min(node.n, 60), node.p, STR_ARG(in->name))
		       : status;
}

enum status forkable_find_node(struct call *c, const struct named *in, struct str node, struct forkable *out,
			       struct err *err)
{
	enum status status = STATUS_NOT_FOUND;
	struct resolved r;

	if (in->head.has_session && !str_has_byte(node, '@'))
		status = find_behind(c, &in->head.session, node, &r, err);
	if (forkable_may_be_new(status))
		status = resolve_id(c->store, node, &c->mem, &r, err);
	return status ? status : take_resolved(out, &r, err);
}

enum status forkable_find(struct call *c, struct str text, struct forkable *out, struct err *err)
{
	struct str node, name = str_cut(text, '@', &node);
	struct resolved r;

	*out = (struct forkable){ .before = out->before };
	if (resolve_named(c->store, name, &c->mem, &out->named, &out->is_named, err) ||
	    (out->is_named && resume_head(c->store, &out->named, &out->head, err)))
		return err_failed(err->status);
	if (out->is_named && !node.p)
		return take_head(c, out, err);
	if (out->is_named ? find_within(c, &out->named, node, &r, err) : resolve_id(c->store, text, &c->mem, &r, err))
		return err_failed(err->status);
	return take_resolved(out, &r, err);
}

enum status forkable_load(struct call *c, const struct forkable *what, struct forking *out, struct err *err)
{
	enum fork_from from = what->before ? FORK_FROM_PROMPT : what->at_head ? FORK_FROM_HEAD : FORK_FROM_POINT;

	if (!what->session.row)
		return err_fail(err, STATUS_NOT_FOUND, "nothing was said in '%.*s' yet",
				STR_ARG(what->named.name));
	return forking_load(c->store, what->line.session, what->line.offset, from, out, err);
}

static bool is_folder(struct call *c, struct str path)
{
	struct stat st;

	return stat(arena_cstr(&c->mem, path), &st) == 0 && S_ISDIR(st.st_mode);
}

enum status forkable_folder(struct call *c, const struct forkable *what, struct str given, const char *advice,
			    struct str *out, struct err *err)
{
	struct str wanted = given.p	     ? given
			    : what->is_named ? what->named.settings.working_dir
					     : what->session.project;

	*out = wanted.n ? call_real_path(c, wanted) : (struct str){ 0 };
	if (out->p && !utf8_valid(*out))
		return err_fail(err, STATUS_USAGE,
				"a folder whose path is no UTF-8 cannot be written down in the client's files; %s",
				given.p ? "name another" : advice);
	if (out->p && is_folder(c, *out))
		return STATUS_OK;
	if (given.p)
		return err_fail(err, STATUS_NOT_FOUND, "there is no folder '%.*s'",
				(int)size_min(given.n, 200), given.p);
	if (!wanted.n)
		return err_fail(err, STATUS_NOT_FOUND, "nothing says which folder it worked in; %s", advice);
	return err_fail(err, STATUS_NOT_FOUND, "the folder it worked in is not here: %.*s; %s",
			(int)size_min(wanted.n, 200), wanted.p, advice);
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
	char id[UUID_TEXT + 1];

	if (alive_load(c->store, &alive, err))
		return err_failed(err->status);
	client = alive_find(&alive, session);
	uuid_print(session, id);
	return client ? err_fail(err, STATUS_BUSY,
				 "a client has it open just now (process %" PRId64
				 "); 'arbor fork %.*s' goes on beside it",
				 client->pid, (int)resolve_digits(c->store, str_of(id)), id)
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

/* ---- What was said until now ---------------------------------------------------------- */

/* Of a named session nothing of which is here yet: its client may have begun meanwhile. */
static void mirror_begun(struct call *c, const struct forkable *f)
{
	struct environment env;

	if (!f->head.has_session)
		return;
	where_environment(c->settings, &env);
	(void)mirror_now(c, forked_path(&env, f->named.settings.working_dir, &f->head.session, &c->mem));
}

bool forkable_is_last(struct str text)
{
	return text.n && text.p[0] == '@' && (text.n == 1 || text.p[1] == '~' || text.p[1] == '@' || text.p[1] == '.');
}

static enum status find_in(struct call *c, struct str text, struct read_txn *snapshot, struct forkable *out,
			   struct err *err)
{
	return read_begin(c->store, snapshot, err) || forkable_find(c, text, out, err)
		       ? err_failed(err->status)
		       : STATUS_OK;
}

/* What it was forked from has lines of it still. */
static enum status check_purged(struct call *c, const struct forkable *f, struct err *err)
{
	return f->is_named && !f->is_node && f->head.has_session &&
			       (!f->session.row || !uuid_eq(&f->session.id, &f->head.session))
		       ? resolve_check_purged(c->store, &f->head.session, err)
		       : STATUS_OK;
}

/* What the id is of, where nothing can be gone on from it. */
static enum status explain(struct call *c, struct str text, struct err *err)
{
	static const unsigned others = MEANT_NOTE | MEANT_TYPED | MEANT_FILE;
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	enum status status = err->status;
	struct err ignored;
	struct meant m;

	if (status != STATUS_NOT_FOUND || read_join(c->store, &snapshot, &ignored) ||
	    meant_find(c->store, text, others, &c->mem, &m, &ignored))
		return status;
	return err_fail(err, STATUS_USAGE, "'%.*s' is %s and no conversation; 'arbor show' shows it",
			(int)size_min(text.n, 60), text.p,
			m.kind == MEANT_NOTE	? "a note or bookmark"
			: m.kind == MEANT_TYPED ? "a line of what was typed"
						: "a file");
}

enum status forkable_find_now(struct call *c, struct str text, struct read_txn *snapshot,
			      struct forkable *out, struct err *err)
{
	bool is_last = forkable_is_last(text), all_is_here = is_last && mirror_all_now(c);
	enum status status = find_in(c, text, snapshot, out, err);

	if (!is_last && forkable_may_be_new(status)) {
		read_end(snapshot);
		all_is_here = mirror_all_now(c);
		if (all_is_here)
			status = find_in(c, text, snapshot, out, err);
	}
	if (status)
		return explain(c, text, err);
	if (!all_is_here) {
		read_end(snapshot);
		if (out->is_named && !out->session.row)
			mirror_begun(c, out);
		else
			mirror_session(c, &out->session);
		if (find_in(c, text, snapshot, out, err))
			return err_failed(err->status);
	}
	return check_purged(c, out, err);
}
