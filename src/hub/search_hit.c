/*
 * A hit of a search as an item: of a line of a transcript, a note, a text beside the conversations or a node that
 * somebody made. Each has what it knows; the fields are those that memory.search declares.
 */
#include "hub/search_hit.h"

#include "base/utf8.h"
#include "hub/handle_node.h"
#include "hub/memory_message.h"
#include "query/made.h"

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

static void put_around(struct json_writer *w, const char *key, const struct around_line *list, size_t count)
{
	if (!count)
		return;
	json_write_key(w, str_of(key));
	json_write_array_begin(w);
	for (size_t i = 0; i < count; i++) {
		json_write_object_begin(w);
		put_uuid(w, "id", &list[i].id);
		put_text(w, "in", str_of(record_place_name(list[i].place)));
		if (list[i].at)
			put_time(w, "at", list[i].at);
		put_text(w, "text", list[i].text);
		json_write_object_end(w);
	}
	json_write_array_end(w);
}

/* What is gone from a file is no reason to call the conversation otherwise. */
static struct str title_now(struct call *c, const struct session *s)
{
	struct session now;
	struct err ignored;
	int64_t row = 0;

	return s->old && session_of_source(c->store, s->source, &row, &ignored) == STATUS_OK && row &&
			       session_get(c->store, row, &c->mem, &now, &ignored) == STATUS_OK
		       ? now.title
		       : s->title;
}

static void put_hit_session(struct call *c, struct json_writer *w, const struct session *s, struct str branch)
{
	put_uuid(w, "session", &s->id);
	put_text(w, "title", title_now(c, s));
	put_path(w, "project", s->project);
	if (branch.n)
		put_text(w, "branch", branch);
	if (s->old)
		put_bool(w, "withdrawn", true);
	put_path(w, "path", s->path);
}

static void put_hit_paper(struct json_writer *w, const struct paper_found *p)
{
	if (p->session.row)
		put_uuid(w, "session", &p->session.id);
	put_text(w, "kind", str_of(claude_kind_name((enum claude_kind)p->paper.kind)));
	put_text(w, "title", p->title);
	if (p->project.n)
		put_path(w, "project", p->project);
	put_path(w, "path", p->paper.path);
}

/* A tree has no title: what was given with it says most. */
static void put_hit_node(struct call *c, struct json_writer *w, const struct made_found *m)
{
	enum { TITLE = 80 };
	struct str title = str_sub(m->tree.metadata.p ? m->tree.metadata : m->tree.owner, 0, TITLE);

	put_text(w, "kind", STR("node"));
	put_uuid(w, "tree", &m->tree.id);
	if (m->session.row) {
		put_hit_session(c, w, &m->session, m->session.branch);
		return;
	}
	title.n = utf8_valid_prefix(title);
	put_text(w, "title", title);
}

static struct node_handle handle_of_hit(const struct search_hit *hit)
{
	if (hit->note)
		return handle_of_note(&hit->note->id);
	if (hit->made)
		return handle_of_made_node(&hit->id);
	if (hit->paper)
		return hit->paper->paper.has_id ? handle_of_typed(&hit->id) : handle_of_file(&hit->id, 0);
	return hit->block ? handle_of_block(&hit->id, hit->block) : handle_of_event(&hit->id);
}

void search_put_hit(struct call *c, const struct search_hit *hit)
{
	struct node_handle handle = handle_of_hit(hit);
	struct json_writer *w = call_begin(c);

	put_uuid(w, "id", &hit->id);
	if (hit->in_line)
		put_uuid(w, "message", &hit->message);
	if (hit->paper)
		put_hit_paper(w, hit->paper);
	else if (hit->made)
		put_hit_node(c, w, hit->made);
	else if (hit->session)
		put_hit_session(c, w, hit->session, hit->in_line ? hit->branch : hit->session->branch);
	if (hit->agent.n)
		put_text(w, "agent", hit->agent);
	put_handle(w, &handle);
	if (hit->at)
		put_time(w, "at", hit->at);
	if (hit->note && hit->session && hit->session->updated_at)
		put_time(w, "updated", hit->session->updated_at);
	put_text(w, "in",
		 str_of(hit->note ? annotation_kind_name(hit->note->kind) : search_place_name(hit->place)));
	put_queued(w, hit->flags);
	if (hit->others)
		put_int(w, "also_in", hit->others);
	if (hit->note)
		put_uuid(w, "note", &hit->note->id);
	if (hit->block && hit->block->name.n)
		put_text(w, "tool", hit->block->name);
	put_int(w, "number", hit->number);
	if (hit->total && !call_int(c, "each"))
		put_int(w, "total", hit->total);
	put_int(w, "score", (int64_t)(hit->score * 1000));
	put_text(w, "snippet", buf_as_str(&hit->snippet->text));
	put_marks(w, hit->snippet);
	put_around(w, "before", hit->around.before, hit->around.before_count);
	put_around(w, "after", hit->around.after, hit->around.after_count);
	if (hit->line.p)
		put_text(w, "line", hit->line);
	if (hit->in_line || hit->paper)
		put_int(w, "offset", hit->offset);
}
