/*
 * claudecode.fork, create_from_tree, resume: going on from any message of any conversation, in a file that
 * the client resumes.
 *
 * All three give the command by which that is done. What a face does with it is its own affair: the command
 * line becomes the client for 'resume'.
 */
#include "hub/claudecode_methods.h"

#include "base/shell.h"
#include "base/utf8.h"
#include "hub/decider.h"
#include "hub/forkable.h"
#include "hub/mirror_now.h"
#include "hub/naming.h"
#include "hub/resolve.h"
#include "hub/settings.h"
#include "hub/where.h"
#include "live/client.h"
#include "query/grove.h"
#include "query/head.h"
#include "store/find.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* ---- What is given ------------------------------------------------------------------- */

static const struct field fork_fields[] = {
	{ .name = "session",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY | FIELD_OPTIONAL,
	  .help = "what the client calls it; left out when nothing was said before and it has no name: it "
		  "begins anew" },
	{ .name = "command", .type = VALUE_TEXT, .help = "what goes on with it, for a shell" },
	{ .name = "prompt",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "what was said there, to be said again or otherwise" },
	{ .name = "prompt_id",
	  .type = VALUE_ID,
	  .flags = FIELD_HIDDEN | FIELD_OPTIONAL,
	  .help = "message that says it" },
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "that it was given" },
	{ .name = "head",
	  .type = VALUE_ID,
	  .flags = FIELD_HIDDEN | FIELD_OPTIONAL,
	  .help = "message that the next prompt follows" },
	{ .name = "from",
	  .type = VALUE_ID,
	  .flags = FIELD_HIDDEN | FIELD_OPTIONAL,
	  .help = "session it is made of; left out where nothing was said yet" },
	{ .name = "words",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .help = "the client and what it is told, a word each" },
	{ .name = "cwd", .type = VALUE_PATH, .flags = FIELD_HIDDEN, .help = "folder to be in for that" },
	{ .name = "lines", .type = VALUE_INT, .flags = FIELD_HIDDEN | FIELD_OPTIONAL, .help = "of the file" },
	{ .name = "bytes",
	  .type = VALUE_BYTES,
	  .flags = FIELD_HIDDEN | FIELD_OPTIONAL,
	  .help = "of the file" },
	{ .name = "path",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL,
	  .title = "file",
	  .help = "that was written" },
	{ 0 },
};

/* A fork as it is made. */
struct fork {
	struct forkable what;
	struct str folder;
	struct str prompt; /* p NULL = none */
	struct named_head prompt_at; /* the message that says it; no head = not known */
	bool is_empty;	   /* nothing was said before */
	bool begins;	   /* with the id that is reserved for what will be said */
	bool at_compaction; /* it was forked at one, and goes on before that */
	struct uuid same;   /* a conversation in which nothing was said since, either; a fork that was made
			       before */
	bool has_same;
	struct named_head before; /* where to fork to go on before what it goes on behind; no head = not known */
	struct named_head step;	  /* the same, but not before the prompt */
	struct forked file;
	struct named named; /* its settings and head, with or without a name */
};

/* ---- The command ------------------------------------------------------------------- */

static struct str command_text(struct call *c, const struct fork *f, const char *const *words)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

	buf_text(&out, "cd ");
	shell_word(&out, f->folder);
	buf_text(&out, " &&");
	for (size_t i = 0; words[i]; i++) {
		buf_byte(&out, ' ');
		shell_word(&out, str_of(words[i]));
	}
	return arena_str(&c->mem, buf_as_str(&out));
}

/* What has to be typed behind a command for it to mean the same store. */
static void add_store(const struct call *c, struct buf *out)
{
	if (!store_is_given(c->store))
		return;
	buf_text(out, " --store ");
	shell_word(out, str_of(store_path(c->store)));
}

/* What was typed, with the folder one is in. False = more was given than words and switches: it is not all. */
static bool add_again(const struct call *c, struct buf *out)
{
	const struct param *q = c->method->params;
	bool is_whole = c->method->verb != NULL;
	char typed[PARAM_TYPED];

	buf_printf(out, "arbor %s", is_whole ? c->method->verb : "");
	for (size_t i = 0; q[i].name; i++) {
		const struct value *v = &c->values[i];

		if ((q[i].flags & PARAM_WORD) && v->given) {
			buf_byte(out, ' ');
			shell_word(out, v->text);
		} else if (q[i].type == VALUE_BOOL && v->number) {
			buf_printf(out, " %s", param_typed(&q[i], typed));
		} else if (v->given && q[i].type != VALUE_BOOL) {
			is_whole = false;
		}
	}
	buf_text(out, " --cwd .");
	add_store(c, out);
	return is_whole;
}

static enum status find_folder(struct call *c, struct fork *f, struct err *err)
{
	struct buf again CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str advice = STR("--cwd names another; '.' is the one you are in");

	if (add_again(c, &again))
		advice = arena_printf(&c->mem, "to go on in the one you are in: %.*s",
				      STR_ARG(buf_as_str(&again)));
	return forkable_folder(c, &f->what, call_text(c, "cwd"), arena_cstr(&c->mem, advice), &f->folder,
			       err);
}

/* The program is the client that is set, if one is. */
static const char *const *words_of(struct call *c, const struct fork *f)
{
	const char **words, *const *all = client_words_for_person(&f->named, f->begins, &c->mem);
	struct str own = settings_text(c->settings, "claude");
	size_t n = 0;

	while (all[n])
		n++;
	words = arena_alloc(&c->mem, (n + 1) * sizeof *words);
	memcpy(words, all, n * sizeof *words);
	if (own.p)
		words[0] = arena_cstr(&c->mem, own);
	return words;
}

static enum status emit_fork(struct call *c, const struct fork *f, struct err *err)
{
	const char *const *words = words_of(c, f);
	struct json_writer *w = call_begin(c);

	if (f->named.head.has_session)
		put_uuid(w, "session", &f->named.head.session);
	put_text(w, "command", command_text(c, f, words));
	if (f->prompt.p)
		put_text(w, "prompt", f->prompt);
	if (f->prompt_at.has_head)
		put_uuid(w, "prompt_id", &f->prompt_at.head);
	if (f->named.name.p)
		put_text(w, "name", f->named.name);
	if (f->named.head.has_head)
		put_uuid(w, "head", &f->named.head.head);
	if (f->what.session.row)
		put_uuid(w, "from", &f->what.session.id);
	json_write_key(w, STR("words"));
	json_write_array_begin(w);
	for (size_t i = 0; words[i]; i++)
		json_write_string(w, str_of(words[i]));
	json_write_array_end(w);
	put_path(w, "cwd", f->folder);
	if (f->file.path.p) {
		put_int(w, "lines", f->file.lines);
		put_int(w, "bytes", f->file.bytes);
		put_path(w, "path", f->file.path);
	}
	return call_emit(c, err);
}

/* ---- Making it ------------------------------------------------------------------- */

static enum status take_prompt(struct call *c, struct fork *f, struct forking *lines, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);

	if (forking_prompt(lines, &text, err))
		return err_failed(err->status);
	if (lines->point.prompt == CHAIN_NONE)
		return STATUS_OK;
	f->prompt = arena_str(&c->mem, buf_as_str(&text)); /* an empty one, or of images alone, is one */
	return head_of_line(c->store, lines->session.row, lines->chain.lines[lines->point.prompt].offset,
			    &f->prompt_at, err);
}

/* What to say of a node behind which it goes on. */
static enum status look_before(struct call *c, struct fork *f, struct forking *lines, struct err *err)
{
	const struct chain *chain = &lines->chain;
	uint32_t line = f->what.is_node ? chain_line_at(chain, f->what.line.offset) : CHAIN_NONE;
	uint32_t step = line == CHAIN_NONE ? CHAIN_NONE : fork_step_before(chain, line);

	if (step != CHAIN_NONE &&
	    head_of_line(c->store, lines->session.row, chain->lines[step].offset, &f->step, err))
		return err_failed(err->status);
	if (line == CHAIN_NONE || lines->point.prompt != CHAIN_NONE)
		return STATUS_OK;
	f->at_compaction = chain->lines[line].flags & RECORD_BOUNDARY;
	line = f->at_compaction ? CHAIN_NONE : fork_before(chain, line);
	if (line == CHAIN_NONE)
		return STATUS_OK;
	return head_of_line(c->store, lines->session.row, chain->lines[line].offset, &f->before, err);
}

/* What is said in the client comes back under the name only if it is known before by which id. */
static enum status reserve(struct fork *f, struct err *err)
{
	f->begins = f->named.head.has_session = true;
	return uuid_random(&f->named.head.session, err);
}

struct reusing {
	struct call *call;
	const struct fork *fork;
};

/* One that nobody has open, that is no named session's, that was not purged, and not the conversation that somebody
 * wants another of; whose it is that has a message says nothing, for forks have it, too. */
static bool may_be(void *ctx, const struct uuid *session)
{
	const struct reusing *r = ctx;
	struct call *c = r->call;
	bool is_open, any, found = false;
	struct named named;
	struct err ignored;

	return (r->fork->what.is_node || !uuid_eq(session, &r->fork->what.session.id)) &&
	       !forkable_is_open(c, session, &is_open, &ignored) && !is_open &&
	       !store_has(c->store, STORE_LIVE, &any, &ignored) &&
	       (!any || !named_of_client(c->store, session, &c->mem, &named, &found, &ignored)) && !found &&
	       !resolve_check_purged(c->store, session, &ignored);
}

/* ---- What is there already ------------------------------------------------------------- */

struct repeating {
	struct store *store;
	const struct session *from;
	int64_t before; /* what it goes back to before: nothing later was said in one that is meant */
	struct uuid line;
	int64_t newest; /* row; 0 = none */
	struct uuid id; /* of the newest */
};

/* The newest file that goes on from a line, which it has from another. */
static enum status look_at_copy(void *ctx, const struct node *node, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct repeating *r = ctx;
	struct named_head head;
	struct session session;

	if (node->session == r->from->row || node->session <= r->newest)
		return STATUS_OK;
	if (session_get(r->store, node->session, &mem, &session, err))
		return err_failed(err->status);
	if (session.old || session.agent.n || uuid_eq(&session.id, &r->from->id) ||
	    (r->before && session.updated_at >= r->before))
		return STATUS_OK;
	if (head_of_session(r->store, &session.id, &head, err))
		return err_failed(err->status);
	if (head.has_line && uuid_eq(&head.line, &r->line)) {
		r->newest = node->session;
		r->id = session.id;
	}
	return STATUS_OK;
}

/* Who goes back again has been there, and may want to be further back: a conversation stays the last one as
 * long as nothing is said in what was forked from it. */
static enum status look_for_same(struct call *c, struct fork *f, struct forking *lines, struct err *err)
{
	struct repeating r = { .store = c->store, .from = &lines->session };
	struct named_head at;

	if (!f->what.before || f->what.is_node || lines->point.prompt == CHAIN_NONE)
		return STATUS_OK;
	r.before = lines->chain.lines[lines->point.prompt].at;
	if (head_of_line(c->store, lines->session.row, lines->chain.lines[lines->point.line].offset, &at,
			 err))
		return err_failed(err->status);
	r.line = at.line;
	if (at.has_line && node_each(c->store, &at.line, look_at_copy, &r, err))
		return err_failed(err->status);
	f->has_same = r.newest != 0;
	f->same = r.id;
	return STATUS_OK;
}

/* Nobody means to begin anew who goes back in a sub-agent. */
static enum status check_empty(struct call *c, const struct fork *f, struct err *err)
{
	char id[UUID_TEXT + 1];

	if (!f->what.before || !f->what.in_agent || f->what.left_agent)
		return STATUS_OK;
	uuid_print(&f->what.session.id, id);
	return err_fail(err, STATUS_NOT_FOUND,
			"that is a sub-agent's, and what started it is not known; 'arbor tree %.*s --agents' "
			"shows it",
			(int)resolve_digits(c->store, str_of(id)), id);
}

/* In one snapshot: which lines, the file, and where it goes on. */
static enum status write_fork(struct call *c, struct fork *f, bool wants_head, struct err *err)
{
	struct forking lines CLEANUP(forking_release) = FORKING_INIT;
	struct environment env;
	struct forked_ask ask = {
		.env = &env, .folder = f->folder, .title = f->named.name, .cancel = c->cancel
	};
	struct str was = call_real_path(c, f->what.session.project);
	struct reusing reusing = { c, f };

	where_environment(c->settings, &env);
	if (!f->named.name.p) {
		ask.may_be = may_be;
		ask.ctx = &reusing;
	}
	ask.moves = !str_eq(was.p ? was : f->what.session.project, f->folder);
	if (forkable_load(c, &f->what, &lines, err) || take_prompt(c, f, &lines, err) ||
	    look_before(c, f, &lines, err))
		return err_failed(err->status);
	f->is_empty = !lines.count;
	if (f->is_empty)
		return check_empty(c, f, err) ? err_failed(err->status) : f->named.name.p ? reserve(f, err) : STATUS_OK;
	if (look_for_same(c, f, &lines, err))
		return err_failed(err->status);
	if (wants_head && head_of_line(c->store, lines.session.row,
				       lines.chain.lines[lines.point.line].offset, &f->named.head, err))
		return err_failed(err->status);
	if (forked_write(&lines, &ask, &c->mem, &f->file, err))
		return err_failed(err->status);
	f->named.head.session = f->file.session;
	f->named.head.has_session = true;
	return STATUS_OK;
}

/* A name that is taken is found out before anything is written; so is what may not be. */
static enum status check_name(struct call *c, const struct fork *f, struct err *err)
{
	struct named other;
	enum status status;

	if (!f->named.name.p)
		return STATUS_OK;
	if (named_is_like_id(f->named.name))
		return err_fail(err, STATUS_USAGE,
				"'%.*s' cannot be a name, it could be an id; to go on from a message: "
				"SESSION@%.*s, or its id alone",
				STR_ARG(f->named.name), STR_ARG(f->named.name));
	if (naming_loosens(&f->named.settings) && decider_may_loosen(c, 0, &f->what.session.id, err))
		return err_failed(err->status);
	status = named_find(c->store, f->named.name, &c->mem, &other, err);
	if (status == STATUS_OK && str_eq(other.name, f->named.name))
		return err_fail(err, STATUS_CONFLICT,
				"a session is called '%.*s' already; choose another name",
				STR_ARG(other.name));
	return status == STATUS_OK || status == STATUS_NOT_FOUND || status == STATUS_AMBIGUOUS ? STATUS_OK
											       : status;
}

static enum status give_name(struct call *c, struct fork *f, struct err *err)
{
	struct named_new what = { .name = f->named.name,
				  .agent = STR("claude"),
				  .settings = f->named.settings,
				  .head = f->named.head,
				  .origin = f->what.is_named ? &f->what.named.id : &f->what.session.id };
	struct uuid id;

	if (!what.name.p)
		return STATUS_OK;
	if (!named_create(c->store, &what, &id, err))
		return STATUS_OK;
	if (f->file.path.p)
		unlink(arena_cstr(&c->mem, f->file.path)); /* nobody has heard of it */
	return err_failed(err->status);
}

/* Only a session with a name remembers them: the client's command does not say them. */
static enum status check_settings(struct call *c, const struct fork *f, struct err *err)
{
	static const char *const kept[] = { "system_prompt", "mcp_config", "loopback", "metadata" };
	const struct param *q = c->method->params;
	char typed[PARAM_TYPED];

	for (size_t i = 0; !f->named.name.p && q[i].name; i++)
		for (size_t k = 0; k < COUNT(kept); k++)
			if (c->values[i].given && !strcmp(q[i].name, kept[k]))
				return err_fail(err, STATUS_USAGE, "%s needs a NAME",
						param_typed(&q[i], typed));
	return STATUS_OK;
}

/* All that the other session had, and what is given instead. */
static void take_settings(struct call *c, struct fork *f)
{
	struct named_settings *s = &f->named.settings;
	const struct {
		const char *param;
		struct str *to;
	} texts[] = { { "model", &s->model },
		      { "system_prompt", &s->system_prompt },
		      { "permission_mode", &s->permission_mode },
		      { "mcp_config", &s->mcp_config },
		      { "metadata", &s->metadata } };
	const struct {
		const char *param;
		struct str *to;
	} lists[] = { { "allowed_tools", &s->allowed_tools }, { "disallowed_tools", &s->disallowed_tools } };

	*s = f->what.is_named ? f->what.named.settings : (struct named_settings){ .loopback = true };
	for (size_t i = 0; i < COUNT(texts); i++)
		if (call_text(c, texts[i].param).p)
			*texts[i].to = call_text(c, texts[i].param);
	for (size_t i = 0; i < COUNT(lists); i++)
		if (call_value(c, lists[i].param)->given)
			*lists[i].to = call_names(c, lists[i].param);
	if (call_text(c, "loopback").p)
		s->loopback = str_eq(call_text(c, "loopback"), STR("on"));
	s->working_dir = f->folder;
}

/* It goes back elsewhere than in what was named. */
static void say_agent(struct call *c, const struct fork *f)
{
	enum { TITLE = 60 };
	const struct str title = f->what.session.title;
	struct str cut = str_sub(title, 0, TITLE);
	char id[UUID_TEXT + 1];

	cut.n = utf8_valid_prefix(cut);
	uuid_print(&f->what.session.id, id);
	call_note(c, "that is a sub-agent's; before the prompt in %.*s%s%.*s that led to it%s", STR_ARG(cut),
		  cut.n < title.n ? "… "
		  : cut.n	  ? " "
				  : "",
		  (int)resolve_digits(c->store, str_of(id)), id,
		  f->is_empty ? ": nothing was said before that, the client begins anew" : "");
}

static void say_same(struct call *c, const struct fork *f, struct str rest)
{
	char id[UUID_TEXT + 1];
	int digits;

	uuid_print(&f->same, id);
	digits = (int)resolve_digits(c->store, str_of(id));
	call_note(c, "you have that already as %.*s; one more back: arbor %s %.*s --before%.*s", digits, id,
		  c->method->verb, digits, id, STR_ARG(rest));
}

/* Behind or before what was named. What is typed instead goes to the same folder, from the same store. */
static void say_where(struct call *c, const struct fork *f)
{
	struct buf rest CLEANUP(buf_release) = BUF_INIT(MIB), step CLEANUP(buf_release) = BUF_INIT(MIB);
	char id[UUID_TEXT + 1];

	if (call_text(c, "cwd").p) {
		buf_text(&rest, " --cwd ");
		shell_word(&rest, call_text(c, "cwd"));
	}
	add_store(c, &rest);
	if (f->step.has_head && !f->what.in_agent) {
		uuid_print(&f->step.head, id);
		buf_printf(&step, "arbor %s %.*s%.*s", c->method->verb, (int)resolve_digits(c->store, str_of(id)), id,
			   STR_ARG(buf_as_str(&rest)));
	}
	uuid_print(&f->before.head, id);
	if (f->what.left_agent)
		say_agent(c, f);
	else if (f->has_same)
		say_same(c, f, buf_as_str(&rest));
	else if (f->is_empty && f->what.before && step.n)
		call_note(c,
			  "nothing was said before its prompt: the client begins anew; to go on before that step "
			  "alone: %.*s",
			  STR_ARG(buf_as_str(&step)));
	else if (f->is_empty)
		call_note(c, "nothing was said before that: the client begins anew");
	else if (f->at_compaction)
		call_note(c, "it goes on before the compaction, with all that this summed up; to go on behind "
			     "it, fork at what was said next");
	else if (f->what.is_node && !f->prompt.p && f->before.has_head) /* a sub-agent's prompt is nobody's */
		call_note(c, "it goes on behind that; to go on before %s: %.*s%sarbor %s %.*s%s%.*s",
			  step.n ? "that step" : "it", STR_ARG(buf_as_str(&step)),
			  step.n ? "; before its prompt: " : "", c->method->verb,
			  (int)resolve_digits(c->store, str_of(id)), id, f->what.in_agent ? " --before" : "",
			  STR_ARG(buf_as_str(&rest)));
	else if (f->what.is_node && !f->prompt.p)
		call_note(c, "it goes on behind that");
}

/* Results of tools that the client keeps in files of their own, which the transcript names. */
struct results {
	struct buf dir; /* that they are below */
	struct str first;
	int64_t gone;
	struct arena *mem;
};

static void results_release(struct results *r)
{
	buf_release(&r->dir);
}

static enum status look_for_result(void *ctx, const struct source_info *info, struct err *err)
{
	struct results *r = ctx;

	(void)err;
	if (access(arena_cstr(r->mem, arena_printf(r->mem, "%.*s/%.*s", STR_ARG(buf_as_str(&r->dir)),
						   STR_ARG(info->path))),
		   F_OK) == 0)
		return STATUS_OK;
	if (!r->gone++)
		r->first = arena_str(r->mem, info->path);
	return STATUS_OK;
}

/* The client deletes them with what it was forked from, or before. What is not known is not said. */
static void say_what_is_gone(struct call *c, const struct fork *f)
{
	struct results r CLEANUP(results_release) = { .dir = BUF_INIT(LIMIT_PATH), .mem = &c->mem };
	const struct session *s = &f->what.session;
	struct str end = STR(".jsonl"), below = s->path;
	struct err ignored;

	if (!f->file.path.p || !str_has_suffix(below, end))
		return;
	below = arena_printf(&c->mem, "%.*s/tool-results/", (int)(below.n - end.n), below.p);
	if (root_dir(c->store, s->root, &r.dir, &ignored) || !r.dir.n ||
	    source_each_below(c->store, below, look_for_result, &r, &ignored) || !r.gone)
		return;
	call_note(c,
		  "%" PRId64 " file%s with what tools printed, which it may name, %s gone; 'arbor export' has %s "
		  "still: %.*s%s",
		  r.gone, r.gone == 1 ? "" : "s", r.gone == 1 ? "is" : "are", r.gone == 1 ? "it" : "them",
		  (int)size_min(r.first.n, 300), r.first.p, r.gone == 1 ? "" : " and others");
}

static void say_what_next(struct call *c, const struct fork *f)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(MIB);

	say_where(c, f);
	say_what_is_gone(c, f);
	if (!f->named.name.p || f->what.left_agent)
		return;
	shell_word(&name, f->named.name);
	add_store(c, &name);
	call_note(c, "%s\"arbor chat %.*s\" goes on with it here, too",
		  f->is_empty ? "nothing was said before that: the client begins anew; " : "",
		  STR_ARG(buf_as_str(&name)));
}

/* `what` is found; a snapshot is open and ends here. */
static enum status make_fork(struct call *c, struct fork *f, struct read_txn *snapshot, struct err *err)
{
	f->named.name = call_text(c, "name");
	if (check_settings(c, f, err) || find_folder(c, f, err))
		return err_failed(err->status);
	take_settings(c, f);
	if (check_name(c, f, err) || write_fork(c, f, f->named.name.p != NULL, err))
		return err_failed(err->status);
	read_end(snapshot);
	if (give_name(c, f, err))
		return err_failed(err->status);
	if (f->file.path.p && !mirror_now(c, f->file.path))
		call_note(c, "its folder is not mirrored yet; after 'arbor sync', 'branches', 'diff' and "
			     "'search' have it, too");
	say_what_next(c, f);
	return emit_fork(c, f, err);
}

/* ---- fork ------------------------------------------------------------------- */

#define FORK_SETTING_PARAMS \
	CWD_PARAM, MODEL_PARAM, \
		{ .name = "system_prompt", \
		  .type = VALUE_TEXT, \
		  .flags = PARAM_INPUT | PARAM_PRIVATE, \
		  .help = "with NAME: instead of the client's own; '-' reads standard input" }, \
		{ .name = "mcp_config", \
		  .type = VALUE_JSON, \
		  .flags = PARAM_INPUT | PARAM_PRIVATE, \
		  .help = "with NAME: MCP servers, as the client's --mcp-config takes them; '-' reads " \
			  "standard input" }, \
		{ .name = "allowed_tools", \
		  .type = VALUE_TEXT, \
		  .flags = PARAM_REST, \
		  .shown = "TOOL", \
		  .help = "needs no permission" }, \
		{ .name = "disallowed_tools", \
		  .type = VALUE_TEXT, \
		  .flags = PARAM_REST, \
		  .shown = "TOOL", \
		  .help = "is not there" }, \
		MODE_PARAM, \
		{ .name = "loopback", \
		  .type = VALUE_ENUM, \
		  .choices = naming_switches, \
		  .help = "with NAME: " LOOPBACK_HELP }, \
	{ \
		.name = "metadata", .type = VALUE_JSON, .help = "with NAME: whatever you want to remember" \
	}

static const struct param fork_params[] = {
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "SESSION[@NODE]",
	  .names = "memory.sessions",
	  .help = "a conversation, by its name or id, or a message of one" },
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .shown = "NAME",
	  .help = "what it is called from now on, for 'arbor chat'" },
	BEFORE_PARAM,
	FORK_SETTING_PARAMS,
	{ 0 },
};

static enum status run_fork(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct fork f = { .what.before = call_flag(c, "before") };

	if (forkable_find_now(c, call_text(c, "session"), &snapshot, &f.what, err))
		return err_failed(err->status);
	if (forkable_leave_agent(c, &f.what, err))
		return err_failed(err->status);
	return make_fork(c, &f, &snapshot, err);
}

const struct method claudecode_fork = {
	.name = "fork",
	.verb = "fork",
	.group = "go back",
	.summary = "Go on from any message, in a conversation of its own",
	.text = "Writes a file with which Claude Code goes on from there, and prints the command that does. "
		"The conversation itself stays as it is, also while a client has it open; that its own file was "
		"deleted does not matter.\n\n"
		"At an answer it goes on behind the results of its tools. At a prompt it goes on before it: what "
		"was said there is printed, to be said otherwise. At a compaction it goes on before that, with all "
		"that was summed up. Inside a sub-agent, its conversation becomes one of its own. With --before it "
		"goes on before the prompt that led to what is named, whatever that is; in a sub-agent, in the "
		"conversation that started it. 'arbor tree' and 'arbor log' say which turns and messages there are; "
		"without @NODE it is the end.\n\n"
		"Only the conversation goes back. Files stay as they are: 'arbor files' tells what stood in "
		"them.\n\n"
		"With NAME it is a session for 'arbor chat', too, with all settings of the one it is made of unless "
		"others are given. Without, a fork of the same place that nobody has gone on with is used again. "
		"--cwd takes it to another folder, or a machine to which the store was copied.\n",
	.params = fork_params,
	.kind = RESULT_ONE,
	.fields = fork_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "fork 909bcac6 --cwd /tmp",
						"from before a prompt, by the id that 'arbor tree' shows" },
					      { "fork @ --cwd /tmp",
						"from the end of the last conversation" },
					      { "fork @ other-way --cwd /tmp", "and call it so" },
					      { 0 } },
	.run = run_fork,
};

/* ---- create_from_tree ---------------------------------------------------------------- */

static const struct param tree_params[] = {
	{ .name = "node",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "NODE",
	  .help = "a mirrored tree, or a turn or message of one" },
	{ .name = "name",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "NAME",
	  .help = "what the session is called" },
	FORK_SETTING_PARAMS,
	{ 0 },
};

/* Whether a message is below another, or is it; the way up is remembered in `below`: 0 = not known yet. */
enum { BELOW = 1, ELSEWHERE = 2 };

static bool is_below(const struct grove *g, uint32_t message, uint32_t top, uint8_t *below)
{
	const struct forest *f = &g->forest;
	uint32_t at = message, steps = 0;
	uint8_t found;

	while (at != FOREST_NONE && at != top && !below[at] && steps++ <= f->message_count)
		at = f->messages[at].prev != FOREST_NONE ? f->messages[at].prev : forest_goes_on_from(f, at);
	found = at == top ? BELOW : at == FOREST_NONE || !below[at] ? ELSEWHERE : below[at];
	for (at = message, steps = 0;
	     at != FOREST_NONE && at != top && !below[at] && steps++ <= f->message_count;
	     at = f->messages[at].prev != FOREST_NONE ? f->messages[at].prev : forest_goes_on_from(f, at))
		below[at] = found;
	return found == BELOW;
}

/* The last line of a message, in a source that has it. */
static const struct forest_copy *last_line(const struct forest *f, uint32_t message)
{
	uint32_t n = f->messages[message].first;

	while (f->nodes[n].next != FOREST_NONE)
		n = f->nodes[n].next;
	return &f->nodes[n].canon;
}

static int64_t said_at(const struct forest *f, const struct forest_copy *copy)
{
	return f->sources[copy->source].chain.lines[copy->line].at;
}

/* The newest message of a tree, or of what is below a node in it. */
static enum status find_newest(struct call *c, const struct resolved *r, struct forkable *out,
			       struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	const struct forest_copy *newest = NULL;
	struct grove_ref ref = { .kind = GROVE_TREE };
	bool is_there = true;
	uint32_t tree, top;
	uint8_t *below;

	if (grove_load(c->store, r->session.row, &g, err))
		return err_failed(err->status);
	if (r->is_session || r->is_tree)
		ref.at = grove_tree_of_source(&g, g.source);
	else if (grove_find(&g, &r->node, &ref, &is_there, err))
		return err_failed(err->status);
	tree = is_there && ref.at != FOREST_NONE ? grove_tree(&g, ref) : FOREST_NONE;
	top = tree == FOREST_NONE || ref.kind == GROVE_TREE ? FOREST_NONE : grove_message(&g, ref);
	below = arena_alloc(&c->mem, g.forest.message_count + 1);
	for (uint32_t i = 0; tree != FOREST_NONE && i < g.forest.order_count; i++) {
		uint32_t m = g.forest.order[i];
		const struct forest_copy *last = last_line(&g.forest, m);

		if (g.spots[m].tree == tree && (top == FOREST_NONE || is_below(&g, m, top, below)) &&
		    (!newest || said_at(&g.forest, last) >= said_at(&g.forest, newest)))
			newest = last;
	}
	if (!newest)
		return err_fail(err, STATUS_NOT_FOUND, "nothing was said there");
	out->line.session = g.forest.sources[newest->source].session.row;
	out->line.offset = g.forest.sources[newest->source].chain.lines[newest->line].offset;
	out->at_head = true;
	return session_get(c->store, out->line.session, &c->mem, &out->session, err);
}

static enum status run_create_from_tree(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct fork f = { 0 };
	struct resolved r;

	if (read_begin(c->store, &snapshot, err) ||
	    resolve_id(c->store, call_text(c, "node"), &c->mem, &r, err) || find_newest(c, &r, &f.what, err))
		return err_failed(err->status);
	return make_fork(c, &f, &snapshot, err);
}

const struct method claudecode_create_from_tree = {
	.name = "create_from_tree",
	.summary = "Make a session of what is below a node of a mirrored tree",
	.text = "It goes on from the newest message there, whichever branch and file that is in, as 'arbor "
		"fork' would: with a "
		"file of its own, which the client resumes and 'arbor chat' goes on with. Of a tree it is "
		"the newest of all.\n",
	.params = tree_params,
	.kind = RESULT_ONE,
	.fields = fork_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "call claudecode.create_from_tree @ newest --cwd /tmp",
						"the tree of the last conversation" },
					      { 0 } },
	.run = run_create_from_tree,
};

/* ---- resume ------------------------------------------------------------------- */

static const struct param resume_params[] = {
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .initial = PARAM_LAST_SESSION,
	  .shown = "SESSION[@NODE]",
	  .names = "memory.sessions",
	  .help = "a conversation, by its name or id, or a message of one" },
	BEFORE_PARAM,
	CWD_PARAM,
	{ 0 },
};

/* Whether the client has its file where it would look, and goes on at the end of it anyway. */
static bool can_go_on(struct call *c, const struct fork *f)
{
	struct environment env;
	struct str path;

	where_environment(c->settings, &env);
	path = forked_path(&env, f->folder, &f->what.session.id, &c->mem);
	return !f->what.is_node && !f->what.before && !f->what.session.agent.n &&
	       access(arena_cstr(&c->mem, path), F_OK) == 0;
}

static enum status resume_named(struct call *c, struct fork *f, struct err *err)
{
	struct environment env;
	struct str made;

	where_environment(c->settings, &env);
	f->named = f->what.named;
	f->named.settings.working_dir = f->folder;
	if (forkable_check_rest(c, &f->named, err) || resume_follow(c->store, &f->named, err) ||
	    resume_prepare(c->store, &env, &f->named, false, &c->mem, &made, err) ||
	    resume_reserve(c->store, &f->named, err) ||
	    resume_begins(c->store, &env, &f->named, &f->begins, err))
		return err_failed(err->status);
	if (!made.p && f->named.head.has_session && forkable_check_open(c, &f->named.head.session, err))
		return err_failed(err->status);
	if (made.p)
		(void)mirror_now(c, made);
	return emit_fork(c, f, err);
}

static enum status resume_found(struct call *c, struct fork *f, struct read_txn *snapshot, struct err *err)
{
	if (can_go_on(c, f)) {
		f->named.head.session = f->what.session.id;
		f->named.head.has_session = true;
		return forkable_check_open(c, &f->what.session.id, err) ? err_failed(err->status)
									: emit_fork(c, f, err);
	}
	if (write_fork(c, f, false, err))
		return err_failed(err->status);
	read_end(snapshot);
	if (f->file.path.p)
		(void)mirror_now(c, f->file.path);
	say_where(c, f);
	return emit_fork(c, f, err);
}

static enum status run_resume(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct fork f = { .what.before = call_flag(c, "before") };

	if (forkable_find_now(c, call_text(c, "session"), &snapshot, &f.what, err))
		return err_failed(err->status);
	if (forkable_leave_agent(c, &f.what, err) || find_folder(c, &f, err))
		return err_failed(err->status);
	if (!f.what.is_named || f.what.is_node || f.what.before)
		return resume_found(c, &f, &snapshot, err);
	read_end(&snapshot);
	return resume_named(c, &f, err);
}

const struct method claudecode_resume = {
	.name = "resume",
	.verb = "resume",
	.also = "rewind undo back goto",
	.group = "go back",
	.first = 4,
	.summary = "Go on with a conversation, or go back in it, in Claude Code itself",
	.text = "Runs the client in the folder of the conversation, with what it takes to go on there. A "
		"session with a name goes on "
		"where its last prompt left it, or where you left it in the client since, with its model and "
		"permissions; other sessions where the client left them.\n\n"
		"With @NODE, or the id of a message alone, it goes on from that in a conversation of its own, as "
		"'arbor fork' makes one: at a prompt before it, at an answer behind it. With --before it is before "
		"the prompt that led there in any case, without a message before the last. A conversation whose "
		"file the client has deleted goes on in one of its own, too.\n\n"
		"With --json, or where nobody is at a "
		"terminal, the command is "
		"printed and not run.\n",
	.params = resume_params,
	.kind = RESULT_ONE,
	.fields = fork_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "resume 7abd08b4 --before",
						"go back to before that, and try another way" },
					      { "resume @ --cwd /tmp", "the last one, in another folder" },
					      { 0 } },
	.run = run_resume,
};
