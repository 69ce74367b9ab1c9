/*
 * memory.sessions: which conversations there are.
 */
#include "hub/memory_find.h"

#include "hub/attached.h"
#include "hub/call.h"
#include "hub/memory_project.h"
#include "hub/period.h"
#include "hub/memory_session.h"
#include "hub/resolve.h"
#include "query/forest_load.h"
#include "query/hidden.h"
#include "query/noted.h"

static const struct param session_params[] = {
	{ .name = "project",
	  .type = VALUE_PATH,
	  .letter = 'p',
	  .shown = "DIR",
	  .names = "memory.projects",
	  .help = "only those of this folder and below; its name, or the end of its path, will do" },
	PERIOD_PARAMS("only those last touched"),
	{ .name = "branch",
	  .type = VALUE_TEXT,
	  .letter = 'b',
	  .shown = "NAME",
	  .help = "only those that were last on this branch of git" },
	{ .name = "model",
	  .type = VALUE_TEXT,
	  .shown = "NAME",
	  .help = "only those in which this model answered; a part of its name will do" },
	{ .name = "tag",
	  .type = VALUE_TEXT,
	  .shown = "TAG",
	  .names = "arbor.tag_list",
	  .help = "only those with this tag, on them or on anything in them; area* for all that begin so" },
	{ .name = "branched", .type = VALUE_BOOL, .help = "only those that were rewound, forked or continued twice" },
	{ .name = "alive", .type = VALUE_BOOL, .help = "only those a client has open just now" },
	{ .name = "archived", .type = VALUE_BOOL, .help = "also those that are archived" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "50",
	  .setting = "list.limit",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "at most so many; 0 for all" },
	{ 0 },
};

struct listing {
	struct call *call;
	int64_t left; /* as many are given; 0 = all */
	int64_t count;
	struct session last; /* that was looked at; copies of it follow */
	struct alive alive;
	int64_t alive_count; /* of all that were looked at */
	bool attached;	     /* there are notes and the like */
	struct noted tagged; /* as 'tag' says */
	struct branched branched;
	struct hidden hidden;
	struct period period;
};

static void listing_release(struct listing *l)
{
	noted_release(&l->tagged);
	alive_release(&l->alive);
	hidden_release(&l->hidden);
	branched_release(&l->branched);
}

static bool is_wanted(const struct listing *l, const struct session *session, const struct live *live)
{
	const struct call *c = l->call;
	struct str branch = call_text(c, "branch");

	return period_has(&l->period, session->updated_at) &&
	       (!branch.p || str_eq(branch, session->branch)) && (live || !call_flag(c, "alive"));
}

/* What costs more to know than the row in hand says. */
static enum status is_wanted_still(struct listing *l, const struct session *session, bool *out, struct err *err)
{
	const struct call *c = l->call;
	struct str model = call_text(c, "model");

	*out = !call_text(c, "tag").p || noted_has_session(&l->tagged, session->row);
	if (!*out)
		return STATUS_OK;
	if (model.p && session_has_model(c->store, session->row, model, out, err))
		return err_failed(err->status);
	if (*out && call_flag(c, "branched"))
		return branched_has(&l->branched, c->store, session->row, out, err);
	return STATUS_OK;
}

static enum status emit_session(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct listing *l = ctx;
	const struct live *live = alive_find(&l->alive, &session->id);
	struct json_writer *w;
	int64_t noted = 0;
	bool wanted;

	if (call_is_cancelled(l->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	(void)go_on;
	if (session->agent.n || (l->last.row && session_is_copy(session, &l->last)))
		return STATUS_OK;
	l->last = *session;
	l->alive_count += live != NULL;
	if (!is_wanted(l, session, live) || hidden_has(&l->hidden, session->row))
		return STATUS_OK;
	if (is_wanted_still(l, session, &wanted, err))
		return err_failed(err->status);
	if (!wanted || (l->count++ >= l->left && l->left))
		return STATUS_OK; /* not wanted, or only counted */
	w = call_begin(l->call);
	if (put_session(l->call, &l->call->writer, session, err) ||
	    (l->attached && (put_attached_session(l->call, session, err) ||
			     annotation_count(l->call->store, ANNOTATION_NOTE, &session->id, &noted, err))))
		return err_failed(err->status);
	if (noted)
		put_int(w, "noted", noted);
	put_alive(w, live);
	return call_emit(l->call, err);
}

/* A client may be so new that no sync has seen its session. */
static void note_unknown(const struct listing *l)
{
	int64_t unknown = (int64_t)l->alive.by_session.count - l->alive_count;

	if (unknown > 0 && call_flag(l->call, "alive") && !call_text(l->call, "project").p)
		log_warn(l->call->log, "%" PRId64 " more %s open, but not in the store yet; 'arbor sync' helps",
			 unknown, unknown == 1 ? "is" : "are");
}

static enum status run_sessions(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l CLEANUP(listing_release) = { .call = c, .left = call_int(c, "limit") };
	struct str project;

	/* An empty part is in every name; a script's variable may have been empty. */
	if (call_text(c, "model").p && !call_text(c, "model").n)
		return err_fail(err, STATUS_USAGE, "--model: which one? a part of its name will do");
	l.period = period_read(c, &zone_local);
	if (read_begin(c->store, &snapshot, err) || project_of(c, &project, err) ||
	    alive_load(c->store, &l.alive, err) || annotation_any(c->store, &l.attached, err) ||
	    (call_text(c, "tag").p && noted_by_tag(c->store, call_text(c, "tag"), &l.tagged, err)) ||
	    (!call_flag(c, "archived") && hidden_load(c->store, &l.hidden, err)) ||
	    session_each(c->store, project, emit_session, &l, err))
		return err_failed(err->status);
	warn_unread(c);
	note_unknown(&l);
	if (l.left && l.count > l.left)
		call_note(c, "%" PRId64 " of %" PRId64 " sessions; -n 0 lists all", l.left, l.count);
	if (l.count)
		return STATUS_OK;
	if (call_text(c, "tag").p)
		return err_fail(err, STATUS_NOT_FOUND, "no session with that tag; 'arbor tags' lists those there are");
	if (call_flag(c, "alive") || call_flag(c, "branched") || call_text(c, "branch").p || call_text(c, "model").p ||
	    period_is_given(c))
		return err_fail(err, STATUS_NOT_FOUND, "no session like that");
	return err_fail(err, STATUS_NOT_FOUND, "no session yet; 'arbor sync' brings them in");
}

const struct method memory_sessions = {
	.name = "sessions",
	.verb = "list",
	.also = "ls ll dir sessions conversations",
	.group = "find",
	.summary = "List the conversations, the last touched first",
	.text = "A conversation has the title somebody gave it, else the client's, else its summary of old\n"
		"clients, else its first prompt. Its id, or the first digits of it, is what 'arbor show' wants;\n"
		"@ stands for the last one, @~1 for the one before it, and so on. Where several folders are\n"
		"mirrored, copies that say the same are listed once. What is archived ('arbor.tree_archive')\n"
		"is left out unless --archived is given.\n\n"
		"--alive asks the mirrored folders and the machine's processes, not the store: what is\n"
		"listed is open at this moment.\n",
	.params = session_params,
	.kind = RESULT_STREAM,
	.fields = session_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "list", "what was talked about last" },
					      { "list --project webshop --limit 5",
						"the last five of one project; . for this folder's" },
					      { "list --since 2026-11-01 --branch main", "by time and branch of git" },
					      { "list --json", "the same for programs, an object a line" },
					      { 0 } },
	.run = run_sessions,
};
