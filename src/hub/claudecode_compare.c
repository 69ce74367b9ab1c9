/*
 * claudecode.compare: two branches, or any two places in conversations. What they have in common, what each
 * has that the other has not, and which files were changed on either side.
 *
 * Both are ways through one forest as long as they share anything; each is a path, and what is common is
 * where these begin. Two conversations that have nothing in common can be compared as well: then everything
 * is different.
 *
 * Files are compared as each side left them (query/files.h). One that a side did not change is, there, as it
 * was before the other did.
 */
#include "hub/claudecode_methods.h"

#include "hub/beginning.h"
#include "hub/call.h"
#include "hub/file_diff.h"
#include "hub/grown.h"
#include "hub/handle_node.h"
#include "hub/headed.h"
#include "hub/memory_place.h"
#include "hub/memory_session.h"
#include "query/ways.h"

static const char *const kinds[] = { "common", "side", "turn", "file", "diff", NULL };
static const char *const sides[] = { "a", "b", NULL };

static const struct param compare_params[] = {
	{ .name = "a",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .shown = "A",
	  .names = "memory.sessions",
	  .help = "a session, or a message or turn of one: the way to it; A..B: both" },
	{ .name = "b",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .shown = "B",
	  .names = "memory.sessions",
	  .help = "what it is compared with; left out: of those that share something with A the one last "
		  "touched, rather one with something of its own, or else the last conversation" },
	{ .name = "patch",
	  .type = VALUE_BOOL,
	  .letter = 'p',
	  .help = "also what is different in files, from A's to B's" },
	{ 0 },
};

static const struct field compare_fields[] = {
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .choices = kinds,
	  .help = "what the item is; 'common' comes first" },
	{ .name = "side",
	  .type = VALUE_ENUM,
	  .choices = sides,
	  .flags = FIELD_OPTIONAL,
	  .help = "side, turn: whose" },
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_KEY,
	  .help = "common: the last message that both have; side: its last; turn: its first that the other "
		  "has not" },
	HANDLE_FIELD("of that: "),
	{ .name = "session", .type = VALUE_ID, .flags = FIELD_OPTIONAL, .help = "side: it is in" },
	{ .name = "title", .type = VALUE_TEXT, .flags = FIELD_OPTIONAL, .help = "side: of that" },
	{ .name = "number",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "common, turn: number of the turn" },
	{ .name = "partial",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "turn: the other has its beginning, too" },
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "common, side, turn: when" },
	{ .name = "messages",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "common: that both have; side, turn: that the other has not; as 'list' counts them" },
	{ .name = "turns",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "common, side: that begin there" },
	{ .name = "calls", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "side, turn: of tools" },
	{ .name = "text",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "common, turn: how it begins; diff: unified" },
	{ .name = "path", .type = VALUE_PATH, .flags = FIELD_OPTIONAL, .help = "file, diff: which" },
	{ .name = "a_changes",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "file: how many on side A" },
	{ .name = "a_added", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "file: lines by these" },
	{ .name = "a_removed", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "file: so too" },
	{ .name = "b_changes",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL,
	  .help = "file: how many on side B" },
	{ .name = "b_added", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "file: lines by these" },
	{ .name = "b_removed", .type = VALUE_INT, .flags = FIELD_OPTIONAL, .help = "file: so too" },
	{ .name = "same",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL,
	  .help = "file: both have left the same in it; absent: not known" },
	{ 0 },
};

struct side {
	struct ground *ground;
	struct session session;
	struct place at;
	uint32_t *path, count;
	struct files files;
};

struct comparing {
	struct call *call;
	struct ground ground, other; /* the second only where the first has nothing of B */
	struct side sides[2];
	uint32_t shared; /* messages at the beginning of both paths */
	struct lines_set lines;
};

static void comparing_release(struct comparing *c)
{
	for (int i = 0; i < 2; i++)
		files_release(&c->sides[i].files);
	lines_set_release(&c->lines);
	ground_release(&c->ground);
	ground_release(&c->other);
}

/* ---- Messages ------------------------------------------------------------------------- */

/* Counted over a part of a path. */
struct sum {
	uint32_t messages, turns, calls;
};

static struct sum sum_of(const struct side *s, uint32_t from, uint32_t to)
{
	const struct forest *f = &s->ground->grove.forest;
	struct sum sum = { 0 };

	for (uint32_t i = from; i < to; i++) {
		const struct forest_message *m = &f->messages[s->path[i]];

		sum.messages += turns_messages_in(f, m);
		sum.turns += m->origin != ORIGIN_NONE;
		for (uint32_t n = m->first; n != FOREST_NONE && m->role == FOREST_ASSISTANT;
		     n = f->nodes[n].next)
			sum.calls += forest_line(f, n)->tool_count;
	}
	return sum;
}

/* What it is, and when. */
static enum status put_message_at(struct comparing *c, const struct side *s, uint32_t message,
				  struct err *err)
{
	const struct forest *f = &s->ground->grove.forest;
	int64_t at = forest_line(f, f->messages[message].first)->at;

	if (put_message_name(c->call, &c->lines, &s->ground->grove, message, err))
		return err_failed(err->status);
	if (at)
		put_time(&c->call->writer, "at", at);
	return STATUS_OK;
}

static enum status put_beginning(struct comparing *c, const struct side *s, uint32_t message, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(KIB);

	if (beginning_of(&c->lines, &s->ground->grove.forest, message, &text, err))
		return err_failed(err->status);
	put_text(&c->call->writer, "text", buf_as_str(&text));
	return STATUS_OK;
}

static int64_t number_of(const struct side *s, uint32_t message)
{
	return s->ground->turns.list[s->ground->turns.of[message]].number;
}

/* Of the first so many messages of a path the last that somebody said: what the client noted behind it says
 * little. */
static uint32_t last_said(const struct side *s, uint32_t count)
{
	const struct forest *f = &s->ground->grove.forest;

	for (uint32_t i = count; i-- > 0;)
		if (turns_messages_in(f, &f->messages[s->path[i]]))
			return s->path[i];
	return s->path[count - 1];
}

static enum status emit_common(struct comparing *c, struct err *err)
{
	const struct side *a = &c->sides[0];
	struct sum sum = sum_of(a, 0, c->shared);
	struct json_writer *w = call_begin(c->call);

	put_text(w, "kind", STR("common"));
	put_int(w, "messages", sum.messages);
	put_int(w, "turns", sum.turns);
	if (c->shared) {
		uint32_t last = last_said(a, c->shared);

		put_int(w, "number", number_of(a, last));
		if (put_message_at(c, a, last, err) || put_beginning(c, a, last, err))
			return err_failed(err->status);
	}
	return call_emit(c->call, err);
}

/* The first that says something by itself: a result says little. */
static uint32_t telling(const struct side *s, uint32_t from, uint32_t to)
{
	const struct forest_message *all = s->ground->grove.forest.messages;

	for (uint32_t i = from; i < to; i++)
		if (all[s->path[i]].role != FOREST_RESULTS && !all[s->path[i]].through)
			return s->path[i];
	return s->path[from];
}

/* What the client alone has noted is no turn. */
static enum status emit_turn(struct comparing *c, int which, uint32_t from, uint32_t to, struct err *err)
{
	const struct side *s = &c->sides[which];
	const struct forest_message *m = &s->ground->grove.forest.messages[s->path[from]];
	struct sum sum = sum_of(s, from, to);
	struct json_writer *w;

	if (!sum.messages)
		return STATUS_OK;
	w = call_begin(c->call);
	put_text(w, "kind", STR("turn"));
	put_text(w, "side", str_of(sides[which]));
	put_int(w, "number", number_of(s, s->path[from]));
	if (m->origin == ORIGIN_NONE && from)
		put_bool(w, "partial", true);
	put_int(w, "messages", sum.messages);
	put_int(w, "calls", sum.calls);
	if (put_message_at(c, s, s->path[from], err) || put_beginning(c, s, telling(s, from, to), err))
		return err_failed(err->status);
	return call_emit(c->call, err);
}

static enum status emit_side(struct comparing *c, int which, struct err *err)
{
	const struct side *s = &c->sides[which];
	const struct forest *f = &s->ground->grove.forest;
	struct sum sum = sum_of(s, c->shared, s->count);
	struct json_writer *w = call_begin(c->call);

	put_text(w, "kind", STR("side"));
	put_text(w, "side", str_of(sides[which]));
	put_uuid(w, "session", &s->session.id);
	put_text(w, "title", s->session.title);
	put_int(w, "messages", sum.messages);
	put_int(w, "turns", sum.turns);
	put_int(w, "calls", sum.calls);
	if (put_message_at(c, s, s->at.message, err) || call_emit(c->call, err))
		return err_failed(err->status);
	for (uint32_t i = c->shared, to; i < s->count; i = to) {
		for (to = i + 1; to < s->count && f->messages[s->path[to]].origin == ORIGIN_NONE;)
			to++;
		if (call_is_cancelled(c->call))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (emit_turn(c, which, i, to, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- Files ---------------------------------------------------------------------------- */

static enum status load_files(struct comparing *c, struct side *s, struct err *err)
{
	if (c->shared == s->count)
		return STATUS_OK;
	return files_load(c->call->store, &s->ground->grove.forest, s->at.message, s->path[c->shared],
			  c->call->cancel, &s->files, err);
}

/* The next file that the side has changed. */
static struct file *next_file(const struct side *s, size_t *at)
{
	while (*at < s->files.count && !s->files.list[*at]->is_counted)
		++*at;
	return *at < s->files.count ? s->files.list[*at] : NULL;
}

static void put_changes(struct json_writer *w, const struct file *f, const char *count, const char *added,
			const char *removed)
{
	int64_t plus = 0, minus = 0;

	if (!f)
		return;
	for (size_t i = f->counted_from; i < f->count; i++) {
		plus += f->changes[i].added;
		minus += f->changes[i].removed;
	}
	put_int(w, count, (int64_t)(f->count - f->counted_from));
	put_int(w, added, plus);
	put_int(w, removed, minus);
}

static bool is_same(const struct file_content *x, const struct file_content *y)
{
	return x->state == y->state &&
	       (x->state == FILE_ABSENT || str_eq(buf_as_str(&x->bytes), buf_as_str(&y->bytes)));
}

static enum status emit_patch(struct comparing *c, struct str path, const struct file_content *x,
			      const struct file_content *y, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_FILE_REBUILT);
	struct json_writer *w;

	if (file_diff(c->sides[0].session.project, path, x, y, &text, err))
		return err_failed(err->status);
	if (!text.n)
		return STATUS_OK;
	w = call_begin(c->call);
	put_text(w, "kind", STR("diff"));
	put_path(w, "path", path);
	put_text(w, "text", buf_as_str(&text));
	return call_emit(c->call, err);
}

/* A file as the sides have left it; NULL = one has not changed it. */
static enum status emit_file(struct comparing *c, struct file *a, struct file *b, struct file_content *x,
			     struct file_content *y, struct err *err)
{
	struct str path = a ? a->path : b ? b->path : STR("");
	struct json_writer *w;
	bool known;

	if (file_fetch(c->call->store, x, err) || file_fetch(c->call->store, y, err))
		return err_failed(err->status);
	known = x->state != FILE_UNKNOWN && y->state != FILE_UNKNOWN;
	w = call_begin(c->call);
	put_text(w, "kind", STR("file"));
	put_path(w, "path", path);
	put_changes(w, a, "a_changes", "a_added", "a_removed");
	put_changes(w, b, "b_changes", "b_added", "b_removed");
	if (known)
		put_bool(w, "same", is_same(x, y));
	if (call_emit(c->call, err))
		return err_failed(err->status);
	if (!call_flag(c->call, "patch"))
		return STATUS_OK;
	if (known)
		return emit_patch(c, path, x, y, err);
	log_warn(c->call->log, "a file is not compared: what stood in it is not known on both sides");
	return STATUS_OK;
}

/* Both lists are in the order of paths. */
static enum status emit_files(struct comparing *c, struct err *err)
{
	struct side *a = &c->sides[0], *b = &c->sides[1];
	size_t i = 0, k = 0;

	if (load_files(c, a, err) || load_files(c, b, err))
		return err_failed(err->status);
	for (;;) {
		struct file *x = next_file(a, &i), *y = next_file(b, &k);
		int order = !x || !y ? 0 : str_cmp(x->path, y->path);
		enum status status;

		if (!x && !y)
			return STATUS_OK;
		if (!y || order < 0)
			status = emit_file(c, x, NULL, &x->now, &x->before, err);
		else if (!x || order > 0)
			status = emit_file(c, NULL, y, &y->before, &y->now, err);
		else
			status = emit_file(c, x, y, &x->now, &y->now, err);
		if (status)
			return err_failed(status);
		i += x && (!y || order <= 0);
		k += y && (!x || order >= 0);
	}
}

/* ---- Both ----------------------------------------------------------------------------- */

/* Whether it is on a way there. What is in no such file, or a sub-agent's while another conversation was
 * asked for, is not. */
static bool has_place(const struct ground *g, const struct resolved *what)
{
	struct place at;
	struct err ignored;

	return !place_find(&g->grove.forest, what, &at, &ignored) && turns_show(&g->turns, at.message);
}

/* An answer stands for all its calls: the place is behind their results. */
static enum status find_side(struct comparing *c, struct side *s, const struct resolved *what,
			     struct err *err)
{
	const struct forest *f = &s->ground->grove.forest;
	const struct forest_message *m;

	if (place_find_end(s->ground, what, &s->at, err))
		return err_failed(err->status);
	m = &f->messages[s->at.message];
	if (m->role == FOREST_ASSISTANT && m->results != FOREST_NONE)
		s->at.message = f->messages[m->results].canonical;
	s->session = what->session;
	s->path = place_path(s->ground, s->at.message, &c->call->mem, &s->count);
	return STATUS_OK;
}

/* How much there is to compare with a session that ends there: it has something of its own, or stopped before
 * the other end, or is where that is. */
static int tells(const struct comparing *c, uint32_t leaf, const bool *on_path)
{
	const struct turns *t = &c->ground.turns;

	return leaf == t->leaves[t->source] ? 0 : on_path[leaf] ? 1 : 2;
}

/* What somebody means who names one side alone: the other end of a fork. Of several the one that tells most,
 * then the last touched; p NULL = there is none. */
static struct str find_relative(struct comparing *c, const struct session *of)
{
	const struct forest *f = &c->ground.grove.forest;
	const struct turns *t = &c->ground.turns;
	const struct session *best = NULL;
	bool *on_path = arena_alloc(&c->call->mem, f->message_count + 1);
	char id[UUID_TEXT + 1];
	int most = 0;

	for (uint32_t m = t->leaves[t->source]; m != FOREST_NONE; m = c->ground.ways.list[m].from)
		on_path[m] = true;
	for (uint32_t i = 0; i < f->source_count; i++) {
		const struct session *s = &f->sources[i].session;
		int now;

		if (f->sources[i].agent.n || uuid_eq(&s->id, &of->id) || t->leaves[i] == FOREST_NONE)
			continue;
		now = tells(c, t->leaves[i], on_path);
		if (best && (now != most ? now < most : s->updated_at <= best->updated_at))
			continue;
		best = s;
		most = now;
	}
	if (!best)
		return (struct str){ 0 };
	uuid_print(&best->id, id);
	return arena_str(&c->call->mem, str_of(id));
}

/* The way that the session has left and that was touched last, by the id of its end; p NULL = it has left none. */
static enum status find_left(struct comparing *c, struct str *out, struct err *err)
{
	const struct ground *g = &c->ground;
	struct grove_ref ref = { .kind = GROVE_MESSAGE };
	uint32_t best = FOREST_NONE;
	struct uuid id;
	char text[UUID_TEXT + 1];

	*out = (struct str){ 0 };
	for (uint32_t i = 0; i < g->ways.count; i++) {
		uint32_t m = g->ways.order[i], from = g->ways.list[m].from;
		const struct way *w = &g->ways.list[m];

		if (w->wanted || !w->turns || (from != FOREST_NONE && !g->ways.list[from].wanted))
			continue;
		if (best == FOREST_NONE || w->updated > g->ways.list[best].updated)
			best = m;
	}
	if (best == FOREST_NONE)
		return STATUS_OK;
	ref.at = ways_end(&g->ways, best, false);
	if (grove_id(&g->grove, ref, &id, err))
		return err_failed(err->status);
	uuid_print(&id, text);
	*out = arena_str(&c->call->mem, str_of(text));
	return STATUS_OK;
}

/* What A is compared with where nobody says: another session of its tree, or a way of its own that it has left. */
static enum status find_other(struct comparing *c, const struct resolved *a, struct str *out, struct err *err)
{
	*out = find_relative(c, &a->session);
	return out->p || !a->is_session ? STATUS_OK : find_left(c, out, err);
}

static enum status find_sides(struct comparing *c, struct err *err)
{
	struct call *call = c->call;
	struct side *a = &c->sides[0], *b = &c->sides[1];
	struct str one = call_text(call, "a"), other = call_text(call, "b");
	struct resolved x, y;
	bool told;

	if (!other.p)
		(void)headed_range(one, &one, &other);
	if (headed_find(call, one, &x, err) || ground_load(call->store, x.session.row, &c->ground, err))
		return err_failed(err->status);
	if (!other.p && find_other(c, &x, &other, err))
		return err_failed(err->status);
	if (headed_find(call, other.p ? other : STR(PARAM_LAST_SESSION), &y, err))
		return err_failed(err->status);
	if (!other.p && x.is_session && y.is_session && x.session.row == y.session.row)
		return err_fail(err, STATUS_USAGE, "no other conversation shares anything with this one; name B, which"
						   " it is compared with");
	warn_unread(call);
	told = warn_grown(call, &c->ground.grove.forest);
	a->ground = b->ground = &c->ground;
	if (!has_place(&c->ground, &y)) {
		b->ground = &c->other;
		if (ground_load(call->store, y.session.row, &c->other, err))
			return err_failed(err->status);
		told = told || warn_grown(call, &c->other.grove.forest);
	}
	if (!told)
		warn_grown_here(call);
	if (find_side(c, a, &x, err) || find_side(c, b, &y, err))
		return err_failed(err->status);
	c->shared = a->ground == b->ground ? ways_shared(a->path, a->count, b->path, b->count) : 0;
	return STATUS_OK;
}

static enum status run_compare(struct call *call, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct comparing c CLEANUP(comparing_release) = { .call = call, .lines = { .store = call->store } };

	if (read_begin(call->store, &snapshot, err) || find_sides(&c, err) || emit_common(&c, err) ||
	    emit_side(&c, 0, err) || emit_side(&c, 1, err))
		return err_failed(err->status);
	return emit_files(&c, err);
}

const struct method claudecode_compare = {
	.name = "compare",
	.verb = "diff",
	.also = "compare cmp",
	.group = "go back",
	.summary = "Compare two branches: what they share, what each has alone, which files differ",
	.text = "A and B are sessions, named or not, messages, or turns by the ids that 'arbor tree' shows: of each "
		"the way to it, and to the end of a turn. First comes what "
		"both have, up to "
		"the last message in common; then the turns that only A has, and those of B; then every file "
		"that was "
		"changed on either side since, and whether both have left the same in it. With --patch the "
		"differences "
		"of files follow, from A's to B's; 'arbor files' tells how much is known of files.\n\n"
		"'arbor log A..B' reads what B has and A has not, to the last word.\n",
	.params = compare_params,
	.kind = RESULT_STREAM,
	.fields = compare_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "diff b899e3df 24bf71fb", "a conversation and a fork of it" },
					      { "diff b899e3df 24bf71fb --patch --json",
						"what is in files, too, for programs" },
					      { 0 } },
	.run = run_compare,
};
