/*
 * claudecode.set_head: where the next prompt of a session goes.
 *
 * A session with a name has a head of its own, which is a fact of the store: moving it changes nothing of the
 * client's. The next prompt then goes on in a fork (live/resume.c). In the client's own file another branch
 * is chosen by a line that says so, behind all others; nothing that is there is touched, and nothing is
 * written while a client has it open.
 */
#include "hub/claudecode_methods.h"

#include "base/file.h"
#include "base/utf8.h"
#include "hub/forkable.h"
#include "hub/mirror_now.h"
#include "hub/resolve.h"
#include "query/forest_load.h"
#include "query/head.h"
#include "store/source.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const struct param head_params[] = {
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "SESSION",
	  .names = "claudecode.list",
	  .help = "its name; with --in-place also a mirrored one" },
	{ .name = "node",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "NODE",
	  .help = "message that the next prompt follows; a prompt: what was before it" },
	{ .name = "in_place",
	  .type = VALUE_BOOL,
	  .help = "have the client go on there, too, in its own file of the conversation" },
	{ 0 },
};

static const struct field head_fields[] = {
	{ .name = "name", .type = VALUE_TEXT, .flags = FIELD_KEY | FIELD_OPTIONAL, .help = "of the session" },
	{ .name = "claude_session_id",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .title = "session",
	  .help = "what the client calls the conversation" },
	{ .name = "head",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "message that the next prompt follows; left out: it begins anew" },
	{ .name = "old_head",
	  .type = VALUE_ID,
	  .flags = FIELD_HIDDEN | FIELD_OPTIONAL,
	  .help = "what it was before" },
	{ .name = "in_place",
	  .type = VALUE_BOOL,
	  .flags = FIELD_HIDDEN,
	  .help = "the client's file says so, too" },
	{ .name = "prompt",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "what was said there, to be said again or otherwise" },
	{ 0 },
};

struct moving {
	struct forkable session; /* whose head is moved */
	struct forkable to;
	struct named_head head;
	struct str leaf, prompt; /* JSON; a text. p NULL = none */
	bool is_cut_off;	 /* the client does not know it any more */
};

/* ---- In place ------------------------------------------------------------------- */

/* The client's file, to be appended to. */
static enum status open_transcript(struct call *c, const struct session *s, int *out, struct err *err)
{
	struct buf dir CLEANUP(buf_release) = BUF_INIT(LIMIT_PATH);
	int root CLEANUP(file_close) = -1;

	if (root_dir(c->store, s->root, &dir, err))
		return err_failed(err->status);
	root = dir.n ? open(dir.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (root >= 0 && file_open_beneath(root, s->path, O_RDWR | O_APPEND, out, err) == STATUS_OK)
		return STATUS_OK;
	if (root >= 0 && err->status != STATUS_NOT_FOUND)
		return err_pass(err, "the client's file");
	return err_fail(err, STATUS_NOT_FOUND,
			"the client has not got its file any more; 'arbor fork' makes another");
}

/* A line that was cut off stays one of its own. */
static enum status ends_with_line_feed(int fd, bool *out, struct err *err)
{
	struct file_stat st;
	char last = '\n';
	size_t got;
	int failed = file_stat_at(fd, "", &st);

	if (failed)
		return err_fail_errno(err, failed, "the client's file");
	if (st.size && file_read_at(fd, st.size - 1, &last, 1, &got, err))
		return err_failed(err->status);
	*out = last == '\n';
	return STATUS_OK;
}

/* Nobody else writes to a file that a client has open. */
static enum status check_closed(struct call *c, const struct moving *m, struct err *err)
{
	struct str node = call_text(c, "node");
	bool is_open;

	if (forkable_is_open(c, &m->to.session.id, &is_open, err))
		return err_failed(err->status);
	return is_open ? err_fail(err, STATUS_BUSY,
				  "a client has it open just now; 'arbor fork %.*s' goes on from there beside it",
				  (int)size_min(node.n, 100), node.p)
		       : STATUS_OK;
}

static enum status choose_leaf(struct call *c, const struct moving *m, struct err *err)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);
	const struct session *s = &m->to.session;
	int fd CLEANUP(file_close) = -1;
	bool is_whole;

	if (s->agent.n)
		return err_fail(err, STATUS_USAGE,
				"a sub-agent's file is not gone on with; 'arbor fork' makes one that is");
	if (m->session.session.row && !uuid_eq(&m->session.session.id, &s->id))
		return err_fail(err, STATUS_USAGE,
				"that is in another file of the client's than this session");
	if (m->is_cut_off)
		return err_fail(
			err, STATUS_USAGE,
			"the client forgets what it said before a compaction; 'arbor fork' makes a file "
			"that goes on there");
	if (!m->leaf.p)
		return err_fail(err, STATUS_USAGE,
				"nothing was said before that, so the client has nothing to go on from in this file; "
				"'arbor fork' prints what begins anew, and the prompt");
	if (check_closed(c, m, err) || open_transcript(c, s, &fd, err) ||
	    ends_with_line_feed(fd, &is_whole, err))
		return err_failed(err->status);
	if (!is_whole)
		buf_byte(&line, '\n');
	fork_leaf(&s->id, m->leaf, &line);
	if (file_write_all(fd, buf_as_str(&line), err))
		return err_pass(err, "the client's file");
	return fsync(fd) ? err_fail_errno(err, errno, "the client's file") : STATUS_OK;
}

/* ---- Moving ------------------------------------------------------------------- */

static enum status take_texts(struct call *c, struct forking *f, struct moving *m, struct err *err)
{
	struct buf leaf CLEANUP(buf_release) = BUF_INIT(MIB),
			prompt CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);

	if (forking_leaf(f, &leaf, err) || forking_prompt(f, &prompt, err))
		return err_failed(err->status);
	if (leaf.n)
		m->leaf = arena_str(&c->mem, buf_as_str(&leaf));
	if (prompt.n)
		m->prompt = arena_str(&c->mem, buf_as_str(&prompt));
	return STATUS_OK;
}

static enum status find_places(struct call *c, struct moving *m, struct err *err)
{
	struct named *named = &m->session.named;

	if (forkable_find(c, call_text(c, "session"), &m->session, err))
		return err_failed(err->status);
	if (!m->session.is_named) {
		if (!call_flag(c, "in_place"))
			return err_fail(err, STATUS_USAGE,
					"only a session with a name has a head of its own: 'arbor fork "
					"SESSION@NODE NAME' "
					"makes one, and --in-place moves the client's");
		named->head = (struct named_head){ .has_session = true, .session = m->session.session.id };
	}
	return forkable_find_node(c, named, call_text(c, "node"), &m->to, err);
}

static enum status find_once(struct call *c, struct moving *m, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	return read_begin(c->store, &snapshot, err) || find_places(c, m, err) ? err_failed(err->status)
									      : STATUS_OK;
}

/* Has the client's files in the store as far as they are wanted here. */
static enum status mirror_both(struct call *c, struct moving *m, struct err *err)
{
	bool is_last = forkable_is_last(call_text(c, "session")) || forkable_is_last(call_text(c, "node"));
	bool all_is_here = is_last && mirror_all_now(c);
	enum status status = all_is_here ? STATUS_OK : find_once(c, m, err);

	if (!is_last && forkable_may_be_new(status) && mirror_all_now(c))
		return STATUS_OK;
	if (status == STATUS_OK && !all_is_here)
		mirror_session(c, &m->to.session);
	return status;
}

/* Any message will do; but who gives the wrong one goes on with another conversation, in the old folder. */
static enum status note_elsewhere(struct call *c, const struct moving *m, struct err *err)
{
	const struct named *named = &m->session.named;
	struct forest f CLEANUP(forest_release) = FOREST_INIT;
	bool is_here = false;
	uint32_t source;

	if (!m->session.is_named || !m->session.head.has_head)
		return STATUS_OK;
	if (forest_load(c->store, m->to.session.row, &f, &source, err))
		return err_failed(err->status);
	for (uint32_t i = 0; i < f.source_count; i++)
		is_here |= uuid_eq(&f.sources[i].session.id, &m->session.head.session);
	if (!is_here)
		log_warn(c->log,
			 "'%.*s' is in another conversation now, which shares nothing with the one before: \"%.*s\"",
			 STR_ARG(named->name), (int)utf8_valid_prefix(str_sub(m->to.session.title, 0, 80)),
			 m->to.session.title.p);
	return STATUS_OK;
}

/* In one snapshot, with what the client has written until now: a session's end is where it ends. */
static enum status find_both(struct call *c, struct moving *m, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct forking f CLEANUP(forking_release) = FORKING_INIT;

	if (mirror_both(c, m, err) || read_begin(c->store, &snapshot, err) || find_places(c, m, err) ||
	    forkable_load(c, &m->to, &f, err) || take_texts(c, &f, m, err) || note_elsewhere(c, m, err))
		return err_failed(err->status);
	m->is_cut_off = f.point.line != CHAIN_NONE && fork_is_cut_off(&f.chain, f.point.line);
	if (!f.count)
		return STATUS_OK; /* it begins anew */
	if (head_of_line(c->store, f.session.row, f.chain.lines[f.point.line].offset, &m->head, err))
		return err_failed(err->status);
	m->head.session = f.session.id;
	m->head.has_session = true;
	return STATUS_OK;
}

static enum status emit_moved(struct call *c, const struct moving *m, struct err *err)
{
	struct json_writer *w = call_begin(c);

	if (m->session.is_named)
		put_text(w, "name", m->session.named.name);
	if (m->head.has_session)
		put_uuid(w, "claude_session_id", &m->head.session);
	if (m->head.has_head)
		put_uuid(w, "head", &m->head.head);
	if (m->session.is_named && m->session.head.has_head)
		put_uuid(w, "old_head", &m->session.head.head);
	put_bool(w, "in_place", call_flag(c, "in_place"));
	if (m->prompt.p)
		put_text(w, "prompt", m->prompt);
	return call_emit(c, err);
}

static enum status run_set_head(struct call *c, struct err *err)
{
	bool in_place = call_flag(c, "in_place");
	struct moving m = { 0 };

	if (find_both(c, &m, err) || (m.session.is_named && forkable_check_rest(c, &m.session.named, err)) ||
	    (in_place && choose_leaf(c, &m, err)) ||
	    (m.session.is_named && m.head.has_session && resume_share(c->store, &m.head.session, err)) ||
	    (m.session.is_named && named_set_head(c->store, m.session.named.row, &m.head, err)))
		return err_failed(err->status);
	if (in_place)
		mirror_session(c, &m.to.session);
	return emit_moved(c, &m, err);
}

const struct method claudecode_set_head = {
	.name = "set_head",
	.verb = "checkout",
	.also = "switch",
	.group = "go back",
	.summary = "Have a session go on from another message",
	.text = "The next prompt of 'arbor chat' follows that message, on whichever branch it is; what was "
		"said behind it stays "
		"where it is. At an answer that is behind the results of its tools, at a prompt before "
		"it.\n\n"
		"The client's own files stay as they are. With --in-place its file of the conversation gets "
		"a line that makes "
		"'claude --resume' go on there, too; not while a client has it open. 'arbor fork' makes a "
		"conversation of its "
		"own instead.\n",
	.params = head_params,
	.kind = RESULT_ONE,
	.fields = head_fields,
	.scope = SCOPE_DRIVE,
	.need = NEED_STORE,
	.examples = (const struct example[]){
		{ "checkout fix-tests 909bcac6", "before that prompt, which is printed" }, { 0 } },
	.run = run_set_head,
};
