/*
 * The head of a session is where its last agent left the file, unless it was moved. A person may go on from there
 * with the client: what is said in the file that this session alone has is said in this session, and that is
 * where it is from then on, to whoever reads and whoever goes on. Only what was said since its head was put where
 * it is counts, or a head could not be moved back.
 *
 * Where the file has gone on for another name of the same conversation, or on another branch, a prompt would be
 * the answer to what its session never heard. So it goes on in a fork, which is a file of its own: nobody else's
 * place moves by that. It does so, too, while a client has the file open.
 *
 * One exception: an agent whose driver was killed has written, and nobody has moved the head. What was
 * submitted since and never began changes nothing about that.
 *
 * What is not mirrored yet cannot be compared nor forked; the client is then believed to have it.
 */
#include "live/resume.h"

#include "query/head.h"
#include "store/stream.h"

#include <unistd.h>

/* The last one that was over and tells: of it there is a head, or there should have been. */
static enum status look_at(void *ctx, const struct stream *stream, bool *go_on, struct err *err)
{
	bool *is_left = ctx;

	(void)err;
	*is_left = stream->state == STREAM_INTERRUPTED;
	*go_on = !*is_left && !stream->has_head;
	return STATUS_OK;
}

/* ---- The line of a head -------------------------------------------------------------- */

struct looking {
	struct store *store;
	const struct named_head *head;
	struct resume_line found;
	bool in_own; /* in the file of the session itself */
};

static enum status take_line(void *ctx, const struct node *node, struct err *err)
{
	struct looking *l = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct session session;
	bool is_own;

	if (l->in_own)
		return STATUS_OK;
	if (session_get(l->store, node->session, &mem, &session, err))
		return err_failed(err->status);
	is_own = !session.agent.n && l->head->has_session && uuid_eq(&session.id, &l->head->session);
	if (session.old || (l->found.session && !is_own))
		return STATUS_OK;
	l->found = (struct resume_line){ node->session, node->offset };
	l->in_own = is_own;
	return STATUS_OK;
}

enum status resume_find_line(struct store *s, const struct named_head *head, struct resume_line *out,
			     struct err *err)
{
	struct looking l = { .store = s, .head = head };

	*out = (struct resume_line){ 0 };
	if (head->has_line && node_each(s, &head->line, take_line, &l, err))
		return err_failed(err->status);
	*out = l.found;
	return STATUS_OK;
}

/* ---- Whether the file will do --------------------------------------------------------- */

/* Whether the client would go on at the head, as far as the file is mirrored. */
static enum status ends_at_head(struct store *s, const struct named *session, bool *out, struct err *err)
{
	const struct named_head *head = &session->head;
	struct named_head file;
	bool is_left = false;

	if (head_of_session(s, &head->session, &file, err) ||
	    stream_each(s, session->row, look_at, &is_left, err))
		return err_failed(err->status);
	*out = is_left || !file.has_head || uuid_eq(&file.head, &head->head) ||
	       uuid_eq(&file.line, &head->line);
	return STATUS_OK;
}

/* ---- What a person said since ----------------------------------------------------------- */

/* What was said first behind a line, on the way to where the client would go on: it hangs on that, or on what
 * the client noted below it; or is behind a compaction of it. CHAIN_NONE = nothing was. */
static uint32_t said_behind(const struct chain *c, uint32_t line)
{
	uint32_t at = chain_leaf(c), said = CHAIN_NONE;

	for (uint32_t steps = 0; at != CHAIN_NONE && at != line && steps <= c->line_count; steps++) {
		said = at == chain_said(c, at) ? at : said;
		at = c->lines[at].flags & RECORD_BOUNDARY ? chain_before(c, at) : c->lines[at].parent;
	}
	return at == line && line != CHAIN_NONE ? said : CHAIN_NONE;
}

/* The file of the session, where its head is in it and something was said there since, by nobody else; row 0 = not
 * so. Most have been at rest since, which is found out first. */
static enum status find_file(struct store *s, const struct named *session, struct arena *mem,
			     struct session *out, struct resume_line *line, struct err *err)
{
	size_t count = 0;
	int64_t *rows;
	bool shared;

	*out = (struct session){ 0 };
	if (!session->head.has_session || !session->head.has_line)
		return STATUS_OK;
	if (session_rows(s, &session->head.session, STR(""), mem, &rows, &count, err) ||
	    (count && session_get(s, rows[0], mem, out, err)))
		return err_failed(err->status);
	if (!out->row || out->updated_at < session->updated_at) {
		out->row = 0;
		return STATUS_OK;
	}
	if (named_is_shared(s, session, &shared, err) || resume_find_line(s, &session->head, line, err))
		return err_failed(err->status);
	if (shared || line->session != out->row)
		out->row = 0;
	return STATUS_OK;
}

enum status resume_went_on(struct store *s, const struct named *session, bool *out, struct err *err)
{
	struct chain chain CLEANUP(chain_release) = CHAIN_INIT;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct resume_line line;
	struct session file;
	uint32_t next;

	*out = false;
	if (find_file(s, session, &mem, &file, &line, err) || (file.row && chain_load(s, &file, &chain, err)))
		return err_failed(err->status);
	if (!file.row)
		return STATUS_OK;
	next = said_behind(&chain, chain_line_at(&chain, line.offset));
	*out = next != CHAIN_NONE && chain.lines[next].at >= session->updated_at;
	return STATUS_OK;
}

enum status resume_head(struct store *s, const struct named *session, struct named_head *out, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct named_head now;
	bool is_behind;

	*out = session->head;
	if (read_join(s, &snapshot, err) || resume_went_on(s, session, &is_behind, err) ||
	    (is_behind && head_of_session(s, &session->head.session, &now, err)))
		return err_failed(err->status);
	if (is_behind && now.has_head)
		*out = now;
	return STATUS_OK;
}

enum status resume_follow(struct store *s, struct named *session, struct err *err)
{
	struct named_head now;

	if (resume_head(s, session, &now, err))
		return err_failed(err->status);
	if (!now.has_line || uuid_eq(&now.line, &session->head.line))
		return STATUS_OK;
	session->head = now;
	return named_set_head(s, session->row, &now, err);
}

enum status resume_share(struct store *s, const struct uuid *client_session, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct named other;
	bool found, any;

	if (store_has(s, STORE_LIVE, &any, err))
		return err_failed(err->status);
	if (!any)
		return STATUS_OK;
	if (named_of_client(s, client_session, &mem, &other, &found, err))
		return err_failed(err->status);
	return found ? resume_follow(s, &other, err) : STATUS_OK;
}

/* ---- A file of its own ------------------------------------------------------------------ */

static enum status fork_it(struct store *s, const struct environment *env, struct named *session,
			   const struct resume_line *line, struct arena *mem, struct str *made,
			   struct err *err)
{
	struct forking f CLEANUP(forking_release) = FORKING_INIT;
	struct forked_ask ask = { .env = env, .folder = session->settings.working_dir };
	struct forked file;

	if (forking_load(s, line->session, line->offset, FORK_FROM_HEAD, &f, err))
		return err_failed(err->status);
	ask.moves = !str_eq(f.session.project, ask.folder);
	if (!f.count) {
		session->head = (struct named_head){ 0 };
		return STATUS_OK;
	}
	if (forked_write(&f, &ask, mem, &file, err))
		return err_failed(err->status);
	session->head.session = file.session;
	session->head.has_session = true;
	*made = file.path;
	return STATUS_OK;
}

/* One snapshot for all that is read. */
static enum status look_and_fork(struct store *s, const struct environment *env, struct named *session,
				 bool beside, struct arena *mem, struct str *made, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct resume_line line;
	struct str own;
	bool is_there;

	if (read_join(s, &snapshot, err) || resume_find_line(s, &session->head, &line, err))
		return err_failed(err->status);
	own = forked_path(env, session->settings.working_dir, &session->head.session, mem);
	is_there = !beside && access(arena_cstr(mem, own), F_OK) == 0;
	if (!line.session)
		return STATUS_OK;
	if (is_there && ends_at_head(s, session, &is_there, err))
		return err_failed(err->status);
	return is_there ? STATUS_OK : fork_it(s, env, session, &line, mem, made, err);
}

enum status resume_prepare(struct store *s, const struct environment *env, struct named *session, bool beside,
			   struct arena *mem, struct str *made, struct err *err)
{
	*made = (struct str){ 0 };
	if (!session->head.has_session || !session->head.has_head || !session->head.has_line)
		return STATUS_OK;
	if (look_and_fork(s, env, session, beside, mem, made, err))
		return err_failed(err->status);
	return made->p ? named_set_head(s, session->row, &session->head, err) : STATUS_OK;
}

/* ---- One that begins ---------------------------------------------------------------------- */

enum status resume_reserve(struct store *s, struct named *session, struct err *err)
{
	if (session->head.has_session)
		return STATUS_OK;
	if (uuid_random(&session->head.session, err))
		return err_failed(err->status);
	session->head.has_session = true;
	return named_set_head(s, session->row, &session->head, err);
}

enum status resume_begins(struct store *s, const struct environment *env, const struct named *session, bool *out,
			  struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	const struct named_head *head = &session->head;
	struct str path;
	int64_t *rows;
	size_t count;

	*out = false;
	if (!head->has_session || head->has_head)
		return STATUS_OK;
	path = forked_path(env, session->settings.working_dir, &head->session, &mem);
	if (access(arena_cstr(&mem, path), F_OK) == 0)
		return STATUS_OK;
	if (session_rows(s, &head->session, STR(""), &mem, &rows, &count, err))
		return err_failed(err->status);
	*out = !count;
	return STATUS_OK;
}
