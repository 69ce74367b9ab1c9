/*
 * memory.sessions and memory.search: which conversations there are, and where
 * something was said.
 */
#include "hub/memory_find.h"

#include "base/utf8.h"
#include "hub/call.h"
#include "hub/memory_project.h"
#include "hub/memory_session.h"
#include "hub/resolve.h"
#include "query/forest_load.h"
#include "query/search.h"

/* ---- memory.sessions ---------------------------------------------------------- */

static const struct param session_params[] = {
	{ .name = "project",
	  .type = VALUE_PATH,
	  .letter = 'p',
	  .shown = "DIR",
	  .names = "memory.projects",
	  .help = "only those of this folder and below; its name, or the end of its path, will do" },
	{ .name = "since", .type = VALUE_TIME, .help = "only those touched since: a date, yesterday, 7d" },
	{ .name = "branch",
	  .type = VALUE_TEXT,
	  .letter = 'b',
	  .shown = "NAME",
	  .help = "only those that were last on this branch of git" },
	{ .name = "model",
	  .type = VALUE_TEXT,
	  .shown = "NAME",
	  .help = "only those in which this model answered; a part of its name will do" },
	{ .name = "branched", .type = VALUE_BOOL, .help = "only those that were rewound, forked or continued twice" },
	{ .name = "alive", .type = VALUE_BOOL, .help = "only those a client has open just now" },
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
};

static void listing_release(struct listing *l)
{
	alive_release(&l->alive);
}

static bool is_wanted(const struct call *c, const struct session *session, const struct live *live)
{
	const struct value *since = call_value(c, "since");
	struct str branch = call_text(c, "branch");

	return (!since->given || session->updated_at >= since->number) &&
	       (!branch.p || str_eq(branch, session->branch)) && (live || !call_flag(c, "alive"));
}

/* Whether its tree has a branch, be it in another file. */
static enum status is_branched(struct store *s, const struct session *session, bool *out, struct err *err)
{
	struct forest f CLEANUP(forest_release) = FOREST_INIT;
	uint32_t source;

	*out = false;
	if (forest_load(s, session->row, &f, &source, err))
		return err_failed(err->status);
	for (uint32_t m = 0; m < f.message_count; m++)
		*out |= f.messages[m].branches > 1 && !f.messages[m].sidechain;
	return STATUS_OK;
}

/* What costs more to know than the row in hand says. */
static enum status is_wanted_still(struct call *c, const struct session *session, bool *out, struct err *err)
{
	struct str model = call_text(c, "model");

	*out = true;
	if (model.p && session_has_model(c->store, session->row, model, out, err))
		return err_failed(err->status);
	return *out && call_flag(c, "branched") ? is_branched(c->store, session, out, err) : STATUS_OK;
}

static enum status emit_session(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct listing *l = ctx;
	const struct live *live = alive_find(&l->alive, &session->id);
	struct json_writer *w;
	bool wanted;

	if (call_is_cancelled(l->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	(void)go_on;
	if (session->agent.n || (l->last.row && session_is_copy(session, &l->last)))
		return STATUS_OK;
	l->last = *session;
	l->alive_count += live != NULL;
	if (!is_wanted(l->call, session, live))
		return STATUS_OK;
	if (is_wanted_still(l->call, session, &wanted, err))
		return err_failed(err->status);
	if (!wanted || (l->count++ >= l->left && l->left))
		return STATUS_OK; /* not wanted, or only counted */
	w = call_begin(l->call);
	if (put_session(l->call, session, err))
		return err_failed(err->status);
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
	if (read_begin(c->store, &snapshot, err) || project_of(c, &project, err) ||
	    alive_load(c->store, &l.alive, err) ||
	    session_each(c->store, project, emit_session, &l, err))
		return err_failed(err->status);
	warn_unread(c);
	note_unknown(&l);
	if (l.left && l.count > l.left)
		call_note(c, "%" PRId64 " of %" PRId64 " sessions; -n 0 lists all", l.left, l.count);
	if (l.count)
		return STATUS_OK;
	if (call_flag(c, "alive") || call_flag(c, "branched") || call_text(c, "branch").p || call_text(c, "model").p ||
	    call_value(c, "since")->given)
		return err_fail(err, STATUS_NOT_FOUND, "no session like that");
	return err_fail(err, STATUS_NOT_FOUND, "no session yet; 'arbor sync' brings them in");
}

const struct method memory_sessions = {
	.name = "sessions",
	.verb = "list",
	.group = "find",
	.summary = "List the conversations, the last touched first",
	.text = "A conversation has the title somebody gave it, else the client's, else its summary of old\n"
		"clients, else its first prompt. Its id, or the first digits of it, is what 'arbor show' wants;\n"
		"@ stands for the last one, @~1 for the one before it, and so on. Where several folders are\n"
		"mirrored, copies that say the same are listed once.\n\n"
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

/* ---- memory.search ------------------------------------------------------------ */

static const char *const places[] = { "prompt", "answer", "thinking", "input", "output", "other", NULL };

static const struct param search_params[] = {
	{ .name = "words",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD | PARAM_REST,
	  .shown = "WORDS",
	  .help = "what to look for: all of these words" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "10",
	  .setting = "search.limit",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "at most so many hits; 0 for all" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .letter = 'p',
	  .shown = "DIR",
	  .names = "memory.projects",
	  .help = "only in this folder and below; its name, or the end of its path, will do" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .letter = 's',
	  .shown = "ID",
	  .names = "memory.sessions",
	  .help = "only in this session; @ for the last, @~1 for the one before it" },
	{ .name = "in",
	  .type = VALUE_ENUM,
	  .flags = PARAM_REST,
	  .choices = places,
	  .help = "only what a person asked, what was answered, thought, given to a tool, or came out of "
		  "one; several with commas" },
	{ 0 },
};

static const struct field mark_fields[] = {
	{ .name = "start", .type = VALUE_INT, .help = "byte in the snippet" },
	{ .name = "length", .type = VALUE_INT, .help = "bytes" },
	{ 0 },
};

static const struct field search_fields[] = {
	{ .name = "id", .type = VALUE_ID, .flags = FIELD_KEY, .help = "of the part that was found" },
	{ .name = "message", .type = VALUE_ID, .flags = FIELD_HIDDEN, .help = "it belongs to" },
	{ .name = "session", .type = VALUE_ID, .help = "it belongs to" },
	{ .name = "title", .type = VALUE_TEXT, .help = "of the session" },
	{ .name = "project", .type = VALUE_PATH, .help = "folder the session worked in" },
	{ .name = "agent",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "sub-agent that said it; absent = the conversation itself" },
	{ .name = "withdrawn",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "an older version of the file had it, the newest has not" },
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when it was said" },
	{ .name = "in", .type = VALUE_ENUM, .choices = places, .help = "what kind of text it is" },
	{ .name = "tool",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "name of the tool, in its input" },
	{ .name = "score",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "how well it fits, in thousandths" },
	{ .name = "snippet",
	  .type = VALUE_TEXT,
	  .flags = FIELD_STRETCH,
	  .help = "the text around it, on one line" },
	{ .name = "marks",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .fields = mark_fields,
	  .help = "where the words stand in the snippet" },
	{ .name = "line",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the uuid its line has in the file" },
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_HIDDEN, .help = "the file, below its folder" },
	{ .name = "offset",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "byte of the file at which its line begins" },
	{ 0 },
};

static void put_marks(struct json_writer *w, const struct snippet *s)
{
	json_write_key(w, STR("marks"));
	json_write_array_begin(w);
	for (size_t i = 0; i < s->mark_count; i++) {
		json_write_object_begin(w);
		put_int(w, "start", (int64_t)s->marks[i].start);
		put_int(w, "length", (int64_t)s->marks[i].length);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

static enum status emit_hit(void *ctx, const struct search_hit *hit, struct err *err)
{
	struct call *c = ctx;
	struct json_writer *w = call_begin(c);

	put_uuid(w, "id", &hit->id);
	put_uuid(w, "message", &hit->message);
	put_uuid(w, "session", &hit->session->id);
	put_text(w, "title", hit->session->title);
	put_path(w, "project", hit->session->project);
	if (hit->at)
		put_time(w, "at", hit->at);
	put_text(w, "in", str_of(record_place_name(hit->place)));
	if (hit->session->agent.n)
		put_text(w, "agent", hit->session->agent);
	if (hit->session->old)
		put_bool(w, "withdrawn", true);
	if (hit->tool.n)
		put_text(w, "tool", hit->tool);
	put_int(w, "score", (int64_t)(hit->score * 1000));
	put_text(w, "snippet", buf_as_str(&hit->snippet->text));
	put_marks(w, hit->snippet);
	if (hit->line.p)
		put_text(w, "line", hit->line);
	put_path(w, "path", hit->session->path);
	put_int(w, "offset", hit->offset);
	return call_emit(c, err);
}

/* The words as one query, however many arguments they came in. */
static struct str query_text(struct call *c)
{
	const struct value *words = call_value(c, "words");
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	for (size_t i = 0; i < words->count; i++) {
		buf_text(&text, i ? " " : "");
		buf_str(&text, words->list[i]);
	}
	return arena_str(&c->mem, buf_as_str(&text));
}

static unsigned places_of(const struct call *c)
{
	const struct value *in = call_value(c, "in");
	unsigned bits = 0;

	for (size_t i = 0; i < in->count; i++)
		for (unsigned p = 0; places[p]; p++)
			if (str_eq(in->list[i], str_of(places[p])))
				bits |= 1u << p;
	return bits;
}

static enum status not_found(struct str query, struct err *err)
{
	struct str text = str_sub(query, 0, 80);

	text.n = utf8_valid_prefix(text);
	return err_fail(err, STATUS_NOT_FOUND, "nothing found for '%.*s'; 'word*' finds words that begin so",
			STR_ARG(text));
}

static enum status run_search(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct search_query q = { .text = query_text(c),
				  .limit = (size_t)call_int(c, "limit"),
				  .places = places_of(c) };
	struct search_report report;
	struct session session;

	if (read_begin(c->store, &snapshot, err))
		return err_failed(err->status);
	if (call_text(c, "session").p) {
		if (resolve_session(c->store, call_text(c, "session"), &c->mem, &session, err))
			return err_failed(err->status);
		q.session = session.row;
	}
	if (project_of(c, &q.project, err) || search_run(c->store, &q, emit_hit, c, &report, err))
		return err_failed(err->status);
	warn_unread(c);
	if (report.cut)
		log_warn(c->log, "the query is long; only its first words were looked for");
	if (q.limit && report.total > (int64_t)q.limit)
		call_note(c, "%zu of %" PRId64 " hits; -n 0 shows all; arbor show ID opens one", q.limit,
			  report.total);
	else if (report.total)
		call_note(c, "%" PRId64 " hit%s; arbor show ID opens one", report.total,
			  report.total == 1 ? "" : "s");
	if (report.total)
		return STATUS_OK;
	return not_found(q.text, err);
}

const struct method memory_search = {
	.name = "search",
	.verb = "search",
	.group = "find",
	.first = 2,
	.summary = "Find where something was said",
	.text = "All words must occur in the same part of a conversation: a prompt, an answer, a\n"
		"tool's input or output. \"Several words\" in quotes must follow each other; word* is\n"
		"the beginning of a word. Case and accents do not matter, and identifiers are found\n"
		"whole or by their parts: parseHTTPHeader by parse, http or parse_http_header.\n\n"
		"What sub-agents said, plans, memory and typed history are kept but not searched yet.\n",
	.params = search_params,
	.kind = RESULT_STREAM,
	.fields = search_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "search integer cents", "where both words were said" },
					      { "search '\"integer cents\"' --in prompt,answer",
						"a phrase, in what was said" },
					      { "search 'token*' --project parser --limit 3",
						"beginnings of words, in one project" },
					      { 0 } },
	.run = run_search,
};
