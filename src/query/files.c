/*
 * Following files along the way to a message.
 *
 * Only what the conversation tells is known: what its tools wrote, replaced or read whole,
 * and the copies the client made of files before it changed them. Each of these says what a
 * file was at one moment, and the newest counts; an edit is applied to what was there
 * before. A command that changed a file leaves no trace here until something tells of the
 * file again; then it was "surprised". An edit that fits nothing known makes the file
 * unknown until it is told of whole.
 *
 * A copy belongs to a prompt: the file as it was then. The client notes it again with every
 * later one of the same prompt, so it says nothing of a file that was changed since.
 *
 * Tools tell of lines without their carriage returns. A copy that differs in nothing else
 * is the same text.
 *
 * No path leads out of here: files are named by it, and looked up nowhere. Copies are in
 * the archive.
 */
#include "query/files.h"

#include "base/diff.h"
#include "store/find.h"

#include <stdlib.h>
#include <string.h>

/* What the client noted of a file at a prompt. */
struct note {
	struct note *next;
	struct str path;
	bool absent;
	struct str copy;
	uint32_t prompt; /* step */
};

/* A way through messages: the conversation's, or that of a sub-agent. */
struct way {
	const uint32_t *messages;
	uint32_t count, at;
	struct str agent;
};

struct walk {
	struct store *store;
	const struct forest *forest;
	struct files *out;
	uint32_t from;			  /* step; changes count from it on */
	struct lines *lines;		  /* by source, those that were used */
	uint32_t *steps;		  /* by message: its place on the way from 1 on; 0 = it is not */
	struct note **notes, **note_ends; /* by step */
	struct map agents;		  /* name -> struct forest_source */
	struct map calls;		  /* id of a call that changes files -> its node */
	bool *entered;			  /* by source: of a sub-agent, and done */
	struct way *ways;		  /* the one in hand last */
	size_t way_count, way_cap;
	uint32_t step;
	struct uuid message; /* id of the one in hand */
	bool in_message;     /* it is one, and nothing that the client put in */
	struct arena mem;
};

static void walk_release(struct walk *w)
{
	for (uint32_t i = 0; w->lines && i < w->forest->source_count; i++)
		lines_release(&w->lines[i]);
	mem_free(w->lines);
	mem_free(w->ways);
	map_release(&w->agents);
	map_release(&w->calls);
	arena_release(&w->mem);
}

void files_release(struct files *f)
{
	for (struct file *x = f->all; x; x = x->next) {
		buf_release(&x->now.bytes);
		buf_release(&x->before.bytes);
		mem_free(x->changes);
	}
	mem_free(f->list);
	map_release(&f->by_path);
	arena_release(&f->mem);
	*f = (struct files)FILES_INIT;
}

static struct file *file_at(struct files *f, struct str path)
{
	struct file *x = map_get(&f->by_path, path);

	if (x)
		return x;
	x = arena_alloc(&f->mem, sizeof *x);
	x->path = arena_str(&f->mem, path);
	buf_init(&x->now.bytes, LIMIT_FILE_REBUILT);
	buf_init(&x->before.bytes, LIMIT_FILE_REBUILT);
	x->next = f->all;
	f->all = x;
	map_put(&f->by_path, x->path, x);
	return x;
}

/* ---- Contents ------------------------------------------------------------------------- */

static void content_set(struct file_content *c, enum file_state state, struct str bytes)
{
	buf_clear(&c->bytes);
	if (state == FILE_KNOWN)
		buf_str(&c->bytes, bytes);
	c->state = c->bytes.failed ? FILE_UNKNOWN : state;
	c->copy = (struct str){ 0 };
}

static enum status add_bytes(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

enum status file_fetch(struct store *s, struct file_content *c, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct str name = c->copy, path;
	struct source_info info;
	enum status status;

	if (!name.n)
		return STATUS_OK;
	content_set(c, FILE_UNKNOWN, (struct str){ 0 });
	status = source_find(s, name, &mem, &info, err);
	if (status == STATUS_NOT_FOUND || status == STATUS_AMBIGUOUS)
		return STATUS_OK;
	if (status)
		return err_failed(status);
	str_cut(name, ':', &path);
	if (!str_eq(info.path, path) || !info.generation || !info.complete ||
	    info.bytes > (int64_t)c->bytes.max)
		return STATUS_OK;
	if (archive_read(s, info.generation, 0, info.bytes, add_bytes, &c->bytes, err))
		return err_pass(err, "%.*s", STR_ARG(path));
	c->state = FILE_KNOWN;
	return STATUS_OK;
}

/* Whether two texts are the same but for carriage returns at the ends of lines. */
static bool same_text(struct str a, struct str b)
{
	size_t i = 0, k = 0;

	while (i < a.n || k < b.n) {
		if (i < a.n && k < b.n && a.p[i] == b.p[k]) {
			i++;
			k++;
		} else if (i + 1 < a.n && a.p[i] == '\r' && a.p[i + 1] == '\n') {
			i++;
		} else if (k + 1 < b.n && b.p[k] == '\r' && b.p[k + 1] == '\n') {
			k++;
		} else {
			return false;
		}
	}
	return true;
}

/* Something tells what a file is. */
static void see(struct file *f, enum file_state state, struct str bytes)
{
	if (f->count && f->now.state != FILE_UNKNOWN && !f->now.copy.n &&
	    (f->now.state != state || !same_text(buf_as_str(&f->now.bytes), bytes)))
		f->is_surprised = true;
	content_set(&f->now, state, bytes);
}

/* The same of a copy. It is fetched only if it could say something new. */
static enum status see_copy(struct walk *w, struct file *f, struct str copy, struct err *err)
{
	struct file_content told = { .copy = copy, .bytes = BUF_INIT(LIMIT_FILE_REBUILT) };
	enum status status;

	if (f->now.state == FILE_UNKNOWN || f->now.copy.n) {
		f->now.state = FILE_KNOWN;
		f->now.copy = copy;
		return STATUS_OK;
	}
	status = file_fetch(w->store, &told, err);
	if (status == STATUS_OK && told.state == FILE_KNOWN)
		see(f, FILE_KNOWN, buf_as_str(&told.bytes));
	buf_release(&told.bytes);
	return status ? err_failed(status) : STATUS_OK;
}

/* ---- Changes -------------------------------------------------------------------------- */

static struct file_change *add_change(struct file *f)
{
	if (f->count == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 4;
		f->changes = mem_resize(f->changes, f->cap * sizeof *f->changes);
	}
	f->changes[f->count] = (struct file_change){ 0 };
	return &f->changes[f->count++];
}

static struct diff_size size_of(const struct file *f, const struct change *c, bool exact, struct str after)
{
	struct diff_size sum = { 0 };

	if (exact)
		return diff_count(f->now.state == FILE_KNOWN ? buf_as_str(&f->now.bytes) : STR(""), after);
	for (size_t i = 0; i < c->edit_count; i++) {
		struct diff_size one = diff_count(c->edits[i].old, c->edits[i].new);

		sum.added += one.added;
		sum.removed += one.removed;
	}
	return sum;
}

static void keep_before(const struct walk *w, struct file *f)
{
	if (f->is_counted || w->step < w->from)
		return;
	content_set(&f->before, f->now.state, buf_as_str(&f->now.bytes));
	f->is_counted = true;
	f->counted_from = f->count;
}

static bool is_made(const struct file *f, const struct change *c)
{
	return c->kind == CHANGE_CREATE || f->now.state == FILE_ABSENT;
}

/* What was there before is known by now, if it can be. */
static void make_change(struct walk *w, struct file *f, const struct change *c, int64_t at)
{
	struct buf after CLEANUP(buf_release) = BUF_INIT(LIMIT_FILE_REBUILT);
	bool exact = (c->is_whole || f->now.state != FILE_UNKNOWN) &&
		     change_apply(c, buf_as_str(&f->now.bytes), &after);
	struct diff_size size = size_of(f, c, exact, buf_as_str(&after));

	*add_change(f) = (struct file_change){
		.message = w->message,
		.in_message = w->in_message,
		.at = at,
		.tool = c->tool,
		.agent = w->ways[w->way_count - 1].agent,
		.kind = is_made(f, c) ? CHANGE_CREATE : c->kind,
		.added = size.added,
		.removed = size.removed,
		.is_exact = exact,
		.is_surprised = f->is_surprised,
	};
	f->is_surprised = false;
	f->step = w->step;
	content_set(&f->now, exact ? FILE_KNOWN : FILE_UNKNOWN, buf_as_str(&after));
}

static enum status take_change(struct walk *w, const struct change *c, int64_t at, struct err *err)
{
	struct file *f = file_at(w->out, c->path);

	if (c->kind == CHANGE_READ) {
		see(f, FILE_KNOWN, c->after);
		return STATUS_OK;
	}
	if (c->kind == CHANGE_ALIEN) {
		f->is_surprised = f->count > 0;
		content_set(&f->now, FILE_UNKNOWN, (struct str){ 0 });
		return STATUS_OK;
	}
	if (c->was != FILE_UNKNOWN)
		see(f, c->was, c->before);
	else if (file_fetch(w->store, &f->now, err))
		return err_failed(err->status);
	keep_before(w, f);
	make_change(w, f, c, at);
	return STATUS_OK;
}

/* ---- Lines ---------------------------------------------------------------------------- */

static struct lines *lines_of(struct walk *w, uint32_t source)
{
	if (!w->lines[source].store)
		lines_init(&w->lines[source], w->store, &w->forest->sources[source].session);
	return &w->lines[source];
}

static enum status get_node(struct walk *w, uint32_t node, struct lines **lines, struct record *rec,
			    struct err *err)
{
	uint32_t source = w->forest->nodes[node].canon.source;
	struct record outer;

	*lines = lines_of(w, source);
	if (lines_get(*lines, forest_line(w->forest, node), rec, err))
		return err_failed(err->status);
	outer = *rec;
	if (w->forest->sources[source].embedded && !record_embedded(&(*lines)->reader, &outer, rec))
		*rec = outer;
	return STATUS_OK;
}

/* Remembers the calls of an answer that change files. */
static void note_calls(struct walk *w, const struct record_reader *r, const struct record *rec, uint32_t node)
{
	static const char *const tools[] = { "Write", "Edit", "MultiEdit", "NotebookEdit" };
	struct block_cursor at = { 0 };
	struct record_block b;

	while (record_block(r, rec, &at, &b))
		for (size_t i = 0; b.kind == BLOCK_TOOL_USE && b.tool.n && i < COUNT(tools); i++)
			if (str_eq(b.name, str_of(tools[i]))) {
				uint32_t *kept = arena_alloc(&w->mem, sizeof *kept);

				*kept = node;
				map_put(&w->calls, arena_str(&w->mem, b.tool), kept);
			}
}

/* A call whose result says in words alone that it was done. */
struct done_call {
	struct str id;
	bool made; /* the file is new */
};

/* What such a call meant to do. */
static enum status take_call(struct walk *w, const struct done_call *done, int64_t at, struct err *err)
{
	const uint32_t *node = map_get(&w->calls, done->id);
	struct block_cursor cursor = { 0 };
	struct record_block b;
	struct record rec;
	struct lines *lines;
	struct change c;

	if (!node)
		return STATUS_OK;
	if (get_node(w, *node, &lines, &rec, err))
		return err_failed(err->status);
	while (record_block(&lines->reader, &rec, &cursor, &b))
		if (b.kind == BLOCK_TOOL_USE && str_eq(b.tool, done->id))
			return change_of_call(&lines->reader, &b, done->made, &c) ? take_change(w, &c, at, err)
										  : STATUS_OK;
	return STATUS_OK;
}

static enum status take_calls(struct walk *w, struct record_reader *r, const struct record *rec, int64_t at,
			      struct err *err)
{
	struct done_call *done = arena_alloc(&w->mem, (json_count(&r->json, rec->content) + 1) * sizeof *done);
	struct block_cursor cursor = { 0 };
	struct record_block b;
	struct str path;
	size_t count = 0;

	/* Reading the call ends this record. */
	while (record_block(r, rec, &cursor, &b))
		if (b.kind == BLOCK_TOOL_RESULT && !b.is_error && map_get(&w->calls, b.tool)) {
			struct done_call *d = &done[count++];

			d->id = arena_str(&w->mem, b.tool);
			d->made = change_said(r, &b, &path, &d->made) && d->made;
		}
	for (size_t i = 0; i < count; i++)
		if (take_call(w, &done[i], at, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static void push_way(struct walk *w, struct way way)
{
	if (w->way_count == w->way_cap) {
		w->way_cap = w->way_cap ? w->way_cap * 2 : 4;
		w->ways = mem_resize(w->ways, w->way_cap * sizeof *w->ways);
	}
	w->ways[w->way_count++] = way;
}

/* Goes on with what a sub-agent did that was called here. */
static void enter_agent(struct walk *w, struct str name)
{
	const struct forest_source *s = name.n ? map_get(&w->agents, name) : NULL;
	uint32_t source, leaf, message;
	struct way way = { 0 };

	if (!s)
		return;
	source = (uint32_t)(s - w->forest->sources);
	leaf = chain_leaf(&s->chain);
	message = forest_message_above(w->forest, source, &leaf);
	if (w->entered[source] || message == FOREST_NONE)
		return;
	w->entered[source] = true;
	way.agent = s->agent;
	way.messages = forest_path(w->forest, message, &w->mem, &way.count);
	push_way(w, way);
}

static enum status read_result(struct walk *w, struct record_reader *r, const struct record *rec, int64_t at,
			       struct err *err)
{
	const struct json *j = &r->json;
	uint32_t result = json_get(j, json_root(j), STR("toolUseResult"));
	struct change c;

	if (change_read(r, rec, &c))
		return take_change(w, &c, at, err);
	if (result == JSON_NONE && (rec->flags & RECORD_RESULT))
		return take_calls(w, r, rec, at, err);
	enter_agent(w, json_string_in(j, json_get(j, result, STR("agentId")), &r->mem));
	return STATUS_OK;
}

static enum status read_node(struct walk *w, uint32_t node, bool is_first, struct err *err)
{
	int64_t at = forest_line(w->forest, node)->at;
	struct node_name name = { 0 };
	struct lines *lines;
	struct record rec;

	if (get_node(w, node, &lines, &rec, err))
		return err_failed(err->status);
	if (is_first) {
		name.uuid = rec.uuid;
		w->message = node_id(&name, PART_MESSAGE);
		w->in_message = rec.type == RECORD_USER;
	}
	if (rec.type == RECORD_ASSISTANT)
		note_calls(w, &lines->reader, &rec, node);
	else if (rec.type == RECORD_USER || rec.type == RECORD_ATTACHMENT)
		return read_result(w, &lines->reader, &rec, at, err);
	return STATUS_OK;
}

/* ---- Notes of the client ------------------------------------------------------------------ */

static bool is_absolute(struct str path)
{
	return path.p[0] == '/' || path.p[0] == '\\' || (path.n > 1 && path.p[1] == ':');
}

static struct str whole_path(struct walk *w, struct str folder, struct str path)
{
	if (is_absolute(path) || !folder.n)
		return arena_str(&w->mem, path);
	return arena_printf(&w->mem, "%.*s%c%.*s", STR_ARG(folder), str_has_byte(folder, '/') ? '/' : '\\',
			    STR_ARG(path));
}

/* The step of the message a line is in; 0 = it is not on the way. */
static uint32_t step_of(const struct walk *w, uint32_t source, struct str uuid)
{
	struct uuid key = line_key(uuid);
	uint32_t line = chain_find(&w->forest->sources[source].chain, &key);
	uint32_t message = line == CHAIN_NONE ? FOREST_NONE : forest_message_of(w->forest, source, line);

	return message == FOREST_NONE ? 0 : w->steps[message];
}

static void add_note(struct walk *w, uint32_t step, struct note *n)
{
	if (w->note_ends[step])
		w->note_ends[step]->next = n;
	else
		w->notes[step] = n;
	w->note_ends[step] = n;
}

static void take_snapshot(struct walk *w, uint32_t source, struct record_reader *r, const struct snapshot *s)
{
	const struct session *session = &w->forest->sources[source].session;
	uint32_t prompt = step_of(w, source, s->prompt), step = step_of(w, source, s->at);
	struct snapshot_file f;
	char id[UUID_TEXT + 1];

	uuid_print(&session->id, id);
	for (uint32_t at = 0; prompt && step && snapshot_next(r, s, &at, &f);) {
		struct note *n = arena_alloc(&w->mem, sizeof *n);

		*n = (struct note){ .path = whole_path(w, session->project, f.path),
				    .absent = f.absent,
				    .prompt = prompt };
		if (!f.absent)
			n->copy = arena_printf(&w->out->mem, "%.*s:file-history/%s/%.*s",
					       STR_ARG(session->root), id, STR_ARG(f.backup));
		if (f.absent || !str_has_byte(f.backup, '/'))
			add_note(w, step, n);
	}
}

static enum status read_snapshots(struct walk *w, struct err *err)
{
	for (uint32_t s = 0; s < w->forest->source_count; s++) {
		const struct chain *c = &w->forest->sources[s].chain;

		for (uint32_t i = 0; i < c->line_count; i++) {
			struct snapshot snapshot;
			struct record rec;

			if (c->lines[i].type != RECORD_SNAPSHOT)
				continue;
			if (lines_get(lines_of(w, s), &c->lines[i], &rec, err))
				return err_failed(err->status);
			if (snapshot_read(&lines_of(w, s)->reader, &rec, &snapshot))
				take_snapshot(w, s, &lines_of(w, s)->reader, &snapshot);
		}
	}
	return STATUS_OK;
}

static enum status take_notes(struct walk *w, struct err *err)
{
	for (const struct note *n = w->notes[w->step]; n; n = n->next) {
		struct file *f = file_at(w->out, n->path);
		bool is_known = str_eq(f->seen, n->copy) && f->step < f->seen_at;

		if (f->step > n->prompt)
			continue;
		if (n->absent)
			see(f, FILE_ABSENT, (struct str){ 0 });
		else if (!is_known && see_copy(w, f, n->copy, err))
			return err_failed(err->status);
		f->seen = n->copy;
		f->seen_at = w->step;
	}
	return STATUS_OK;
}

/* ---- The way ---------------------------------------------------------------------------- */

/* All messages that led to one, also those before compactions. */
static struct way whole_way(struct walk *w, uint32_t message)
{
	const struct forest *f = w->forest;
	uint32_t *back = arena_alloc(&w->mem, (f->message_count + 1) * sizeof *back), count = 0;
	uint32_t *messages = arena_alloc(&w->mem, (f->message_count + 1) * sizeof *messages);

	for (uint32_t m = message; m != FOREST_NONE && !w->steps[m];) {
		w->steps[m] = 1;
		back[count++] = m;
		m = f->messages[m].prev != FOREST_NONE ? f->messages[m].prev : forest_goes_on_from(f, m);
	}
	for (uint32_t i = 0; i < count; i++) {
		messages[i] = back[count - 1 - i];
		w->steps[messages[i]] = i + 1;
	}
	return (struct way){ .messages = messages, .count = count };
}

static enum status next_message(struct walk *w, struct err *err)
{
	struct way *y = &w->ways[w->way_count - 1];
	const struct forest *f = w->forest;
	uint32_t m, first;

	if (y->at == y->count) {
		w->way_count--;
		return STATUS_OK;
	}
	m = y->messages[y->at++];
	first = f->messages[m].first;
	if (w->way_count == 1) {
		w->step = y->at;
		if (take_notes(w, err))
			return err_failed(err->status);
	}
	for (uint32_t n = first; n != FOREST_NONE; n = f->nodes[n].next)
		if (read_node(w, n, n == first, err))
			return err_failed(err->status);
	return STATUS_OK;
}

static void find_agents(struct walk *w)
{
	for (uint32_t s = w->forest->source_count; s-- > 0;) {
		struct forest_source *x = &w->forest->sources[s];

		/* Files come before what is told in progress lines, and count more. */
		if (x->agent.n)
			map_put(&w->agents, x->agent, x);
	}
}

static int by_path(const void *a, const void *b)
{
	return str_cmp((*(struct file *const *)a)->path, (*(struct file *const *)b)->path);
}

static void list_changed(struct files *f)
{
	size_t all = 0;

	for (const struct file *x = f->all; x; x = x->next)
		all += x->count > 0;
	f->list = mem_alloc((all + 1) * sizeof *f->list);
	for (struct file *x = f->all; x; x = x->next)
		if (x->count)
			f->list[f->count++] = x;
	if (f->count)
		qsort(f->list, f->count, sizeof *f->list, by_path);
}

static void prepare(struct walk *w, uint32_t message, uint32_t from)
{
	const struct forest *f = w->forest;
	struct way way;

	w->lines = mem_alloc((f->source_count + 1) * sizeof *w->lines);
	w->entered = arena_alloc(&w->mem, (f->source_count + 1) * sizeof *w->entered);
	w->steps = arena_alloc(&w->mem, (f->message_count + 1) * sizeof *w->steps);
	way = whole_way(w, message);
	w->from = from == FOREST_NONE ? 0 : w->steps[from] ? w->steps[from] : UINT32_MAX;
	w->notes = arena_alloc(&w->mem, (way.count + 1) * sizeof *w->notes);
	w->note_ends = arena_alloc(&w->mem, (way.count + 1) * sizeof *w->note_ends);
	push_way(w, way);
	find_agents(w);
}

enum status files_load(struct store *s, const struct forest *forest, uint32_t message, uint32_t from,
		       const atomic_bool *cancel, struct files *out, struct err *err)
{
	struct walk w CLEANUP(walk_release) = { .store = s, .forest = forest, .out = out };

	prepare(&w, message, from);
	if (read_snapshots(&w, err))
		return err_failed(err->status);
	while (w.way_count) {
		if (cancel && atomic_load(cancel))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		if (next_message(&w, err))
			return err_failed(err->status);
	}
	list_changed(out);
	return STATUS_OK;
}
