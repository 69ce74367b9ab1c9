/*
 * Links, followed.
 *
 * What is stored is what each transcript names (store/link.h), and enough to find which transcripts share
 * lines (store/sharing.h). Everything else is found when somebody asks: who else names the same, and so which
 * sessions are alike (query/alike.h). A session and its sub-agents are one here.
 *
 * Who names an identifier, or any other word, is not taken from links, which have only what people put
 * between backticks, but from the words of all prompts and answers (query/said.h).
 *
 * Spreading takes the best few of each round further, so it is bounded however large the store.
 */
#include "query/related.h"

#include "base/plural.h"
#include "query/alike.h"
#include "query/issue.h"
#include "query/said.h"
#include "query/transcript.h"
#include "store/db.h"
#include "store/keys.h"
#include "store/link.h"
#include "store/sharing.h"

#include <stdlib.h>
#include <string.h>

enum {
	RELATED_ALL,
	RELATED_BY_NAME,
	RELATED_IS_NAMED,
	RELATED_FILES,
	RELATED_ROWS,
	RELATED_SHARER,
	RELATED_ORIGIN,
	RELATED_AGENTS,
	RELATED_AGENT_OF,
	RELATED_SESSION_OF,
	RELATED_LINK_OF,
	RELATED_FORKED,
	RELATED_STATEMENTS
};

enum {
	MOST_SPREAD = 24,    /* of a round, that are followed */
	MOST_SESSIONS = 200, /* that say the same */
	MOST_FILES = 50,     /* with the same end of their paths */
};

static const char *const sql[RELATED_STATEMENTS] = {
	[RELATED_ALL] = "SELECT count(*) FROM mirror_session WHERE old = 0",
	[RELATED_BY_NAME] = "SELECT name FROM link WHERE key = ?1 LIMIT 1",
	[RELATED_IS_NAMED] = "SELECT 1 FROM mirror_session WHERE session_id = ?1 AND old = 0 LIMIT 1",
	[RELATED_FILES] =
		("SELECT DISTINCT name FROM link WHERE kind = 1 AND substr(name, -length(?1) - 1) = '/' || ?1"
		 " ORDER BY name LIMIT ?2"),
	[RELATED_ROWS] = "SELECT id FROM mirror_session WHERE session_id = ?1 AND old = 0 AND agent IS NULL",
	[RELATED_SHARER] =
		("SELECT session_id FROM mirror_session WHERE id = ?1 AND old = 0 AND agent IS NULL"
		 " AND session_id <> ?2"),
	/* A line that says where it was copied from, or what it goes on from: the session of that. A fork of a fork has
	 * lines of both, those of the latter behind the others. */
	[RELATED_ORIGIN] = ("SELECT e.link, (e.flags & 32) <> 0, max(e.offset) FROM mirror_session s CROSS JOIN entry e"
			    " ON e.session = s.id WHERE s.session_id = ?1 AND s.old = 0 AND s.agent IS NULL"
			    " AND e.link IS NOT NULL AND e.type NOT IN (6, 9) GROUP BY (e.flags & 32) <> 0"),
	/* With files of their own, or told in progress lines of the conversation. */
	[RELATED_AGENTS] =
		("SELECT agent FROM mirror_session WHERE session_id = ?1 AND old = 0 AND agent IS NOT NULL"
		 " UNION SELECT e.agent FROM mirror_session s CROSS JOIN entry e ON e.session = s.id"
		 " WHERE s.session_id = ?1 AND s.old = 0 AND e.agent IS NOT NULL ORDER BY 1"),
	[RELATED_AGENT_OF] = "SELECT session_id FROM mirror_session WHERE agent = ?1 AND old = 0 LIMIT 1",
	[RELATED_SESSION_OF] = ("SELECT id FROM mirror_session WHERE session_id = ?1 AND old = 0"
				" ORDER BY agent IS NOT NULL, updated_at DESC LIMIT 1"),
	[RELATED_LINK_OF] =
		("SELECT k.session, s.session_id FROM node_key k JOIN mirror_session s ON s.id = k.session"
		 " AND s.old = 0 JOIN entry e ON e.session = k.session AND e.offset = k.offset"
		 " WHERE k.key = ?1 AND k.part = -1 ORDER BY s.session_id = ?2, e.link IS NOT NULL, s.session_id"),
	[RELATED_FORKED] = ("SELECT link FROM entry WHERE session = ?1 AND link IS NOT NULL AND type NOT IN (6, 9)"
			    " AND flags & 32 = 0 ORDER BY offset DESC LIMIT 1"),
};

const struct db_set related_statements = { DB_RELATED, sql, RELATED_STATEMENTS };

_Static_assert(MENTION_FILE == 1 && RECORD_BOUNDARY == 32 && RECORD_SUMMARY == 6 && RECORD_LAST_PROMPT == 9,
	       "numbers that stand in the statements");

static enum status use(struct related_set *r, int index, struct stmt *st, struct err *err)
{
	return stmt_use(r->store, &related_statements, index, st, err);
}

static struct alike_in looking(const struct related_set *r)
{
	return (struct alike_in){ r->store, r->mem, r->all };
}

const char *related_type_name(int type)
{
	return type == RELATED_MESSAGE ? "message"
	       : type == RELATED_AGENT ? "agent"
				       : mention_kind_name((enum mention_kind)type);
}

/* ---- What was found --------------------------------------------------------------- */

enum status related_begin(struct related_set *r, struct store *s, struct arena *mem, struct err *err)
{
	STMT st = { 0 };

	*r = (struct related_set){ .store = s, .mem = mem };
	if (use(r, RELATED_ALL, &st, err) || stmt_row(&st, "transcripts", err))
		return err_failed(err->status);
	r->all = col_int(&st, 0);
	return STATUS_OK;
}

void related_release(struct related_set *r)
{
	map_release(&r->known);
	mem_free(r->list);
}

static struct related *add(struct related_set *r, const struct related *what)
{
	struct related *out = arena_alloc(r->mem, sizeof *out);
	struct str key = arena_printf(r->mem, "%c%.*s", 'a' + what->type, STR_ARG(what->id));

	*out = *what;
	out->id = str_sub(key, 1, SIZE_MAX);
	map_put(&r->known, key, out);
	if (r->count == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->list = mem_resize(r->list, r->cap * sizeof(*r->list));
	}
	return r->list[r->count++] = out;
}

static struct related *known(const struct related_set *r, int type, struct str id)
{
	struct buf key CLEANUP(buf_release) = BUF_INIT(MIB);

	buf_byte(&key, (char)('a' + type));
	buf_str(&key, id);
	return map_get(&r->known, buf_as_str(&key));
}

/* What says most of how two things are related comes first: what was done or referred to by an address, then
 * what was said, then what is only alike. */
static int vagueness(const struct related *what)
{
	if (strcmp(what->relationship, "related_to") == 0)
		return 2;
	return strcmp(what->relationship, "mentions") == 0;
}

/* There is a link from something that was found. The nearest way counts, then the clearest, then the best. */
static void reach(struct related_set *r, const struct related *from, const struct related *to)
{
	struct related what = *to, *there = known(r, to->type, to->id);

	what.weight *= from->weight;
	what.hops = from->hops + 1;
	if (from->hops > 0 && !to->via.n)
		what.via = from->type == MENTION_SESSION && from->title.n
				   ? from->title
				   : alike_short_name(from->type, from->id);
	if (!there) {
		add(r, &what);
	} else if (what.hops == there->hops &&
		   (vagueness(&what) != vagueness(there) ? vagueness(&what) < vagueness(there)
							 : what.weight > there->weight)) {
		what.id = there->id;
		*there = what;
	}
}

static void reach_session(struct related_set *r, const struct related *from, const struct uuid *id,
			  const char *relationship, double weight, struct str via)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	reach(r, from,
	      &(struct related){ .type = MENTION_SESSION,
				 .id = str_from(text, UUID_TEXT),
				 .relationship = relationship,
				 .weight = weight,
				 .via = via });
}

/* ---- What a session names ------------------------------------------------------------ */

static enum status is_session(struct related_set *r, const struct uuid *id, bool *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_IS_NAMED, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, id);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* A UUID that was named may be anything's. */
static enum status reach_named(struct related_set *r, const struct related *from, int kind, struct str name,
			       double weight, struct err *err)
{
	struct uuid id;
	bool found = true;

	if (kind == MENTION_SESSION) {
		if (!uuid_parse(name, &id) || str_eq(name, from->id))
			return STATUS_OK;
		if (is_session(r, &id, &found, err))
			return err_failed(err->status);
	}
	if (found)
		reach(r, from,
		      &(struct related){ .type = kind,
					 .id = name,
					 .relationship = mention_relation((enum mention_kind)kind),
					 .weight = weight });
	return STATUS_OK;
}

/* ---- Copies, forks, sub-agents ------------------------------------------------------------- */

/* The session of the line that a line names; this one only when no other has it. */
static enum status origin_of(struct related_set *r, const struct uuid *line, const struct uuid *self,
			     struct uuid *out, bool *found, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_LINK_OF, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key_of_line(line));
	stmt_uuid(&st, 2, self);
	step = stmt_step(&st, err);
	*found = step == STEP_ROW;
	if (*found) {
		*out = col_uuid(&st, 1);
		*found = !uuid_eq(out, self);
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status reach_origins(struct related_set *r, const struct related *from, const struct uuid *self,
				 struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_ORIGIN, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, self);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid line = col_uuid(&st, 0), origin;
		bool continues = col_int(&st, 1) != 0, found;

		if (origin_of(r, &line, self, &origin, &found, err))
			return err_failed(err->status);
		if (found)
			reach_session(r, from, &origin, continues ? "continues" : "forked_from", 1,
				      (struct str){ 0 });
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* Whether a transcript of another session says that it was forked from this one. */
static enum status is_forked_from(struct related_set *r, int64_t row, const struct uuid *other, const struct uuid *self,
				  bool *out, struct err *err)
{
	STMT st = { 0 };
	struct uuid line, origin;
	enum step step;

	if (session_first_links(r->store, row, RECORD_ASSISTANT, RECORD_EMBEDDED, out, err))
		return err_failed(err->status);
	if (!*out)
		return STATUS_OK;
	if (use(r, RELATED_FORKED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW;
	if (step != STEP_ROW)
		return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
	line = col_uuid(&st, 0);
	if (origin_of(r, &line, other, &origin, out, err))
		return err_failed(err->status);
	*out = *out && uuid_eq(&origin, self);
	return STATUS_OK;
}

static enum status reach_sharer(struct related_set *r, const struct related *from, const struct uuid *self,
				int64_t row, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_SHARER, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, row);
	stmt_uuid(&st, 2, self);
	step = stmt_step(&st, err);
	if (step == STEP_ROW) {
		struct uuid other = col_uuid(&st, 0);
		bool is_fork;

		if (is_forked_from(r, row, &other, self, &is_fork, err))
			return err_failed(err->status);
		reach_session(r, from, &other, is_fork ? "forked_into" : "shares_lines", is_fork ? 1 : 0.9,
			      (struct str){ 0 });
	}
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

static enum status reach_sharers(struct related_set *r, const struct related *from, const struct uuid *self,
				 struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_ROWS, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, self);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		int64_t *rows;
		size_t count;

		if (sharing_list(r->store, col_int(&st, 0), r->mem, &rows, &count, err))
			return err_failed(err->status);
		for (size_t i = 0; i < count; i++)
			if (reach_sharer(r, from, self, rows[i], err))
				return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static enum status reach_agents(struct related_set *r, const struct related *from, const struct uuid *self,
				struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_AGENTS, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, self);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		reach(r, from,
		      &(struct related){ .type = RELATED_AGENT,
					 .id = col_bytes(&st, 0),
					 .relationship = "spawned",
					 .weight = 0.5 });
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static void reach_all(struct related_set *r, const struct related *from, const struct said *list,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		reach_session(r, from, &list[i].session, mention_relation(MENTION_IDENTIFIER),
			      alike_naming_weight(list[i].times), (struct str){ 0 });
}

/* Who says a word. */
static enum status reach_sayers(struct related_set *r, const struct related *from, struct err *err)
{
	struct said *list;
	size_t count;

	if (said_by(r->store, from->id, r->mem, &list, &count, err))
		return err_failed(err->status);
	reach_all(r, from, list, count < MOST_SESSIONS ? count : MOST_SESSIONS);
	return STATUS_OK;
}

struct reaching {
	struct related_set *r;
	const struct related *from;
	struct str via;
};

static void reach_namer(void *ctx, const struct alike_session *s)
{
	struct reaching *x = ctx;
	bool is_session = x->from->type == MENTION_SESSION;

	reach_session(x->r, x->from, &s->id,
		      is_session ? "referenced_by" : mention_relation((enum mention_kind)x->from->type),
		      alike_naming_weight(s->times), x->via);
}

/* Who names a session, a file, a topic … */
static enum status reach_namers(struct related_set *r, const struct related *from, struct err *err)
{
	struct alike_in in = looking(r);
	struct reaching x = { .r = r, .from = from };
	struct said *list;
	size_t count;

	/* Of several that were meant by one name, which one. */
	if (from->hops == 0 && r->asked.n && !str_eq(from->id, r->asked))
		x.via = from->id;
	if (alike_each_namer(&in, link_key(from->type, from->id), NULL, reach_namer, &x, err))
		return err_failed(err->status);
	/* Only of what was asked for: it takes searches. */
	if (from->type != MENTION_ISSUE || from->hops != 0)
		return STATUS_OK;
	if (issue_said_by(r->store, from->id, r->mem, &list, &count, err))
		return err_failed(err->status);
	reach_all(r, from, list, count);
	return STATUS_OK;
}

/* ---- From one to the next ------------------------------------------------------------------- */

static enum status reach_names(struct related_set *r, const struct related *from,
			       const struct alike_names *names, struct err *err)
{
	for (size_t i = 0; i < names->count; i++)
		if (reach_named(r, from, names->list[i].kind, names->list[i].name, names->list[i].weight,
				err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status reach_alike(struct related_set *r, const struct related *from, const struct uuid *self,
			       const struct alike_names *names, struct err *err)
{
	struct alike_in in = looking(r);
	struct alike *list;
	size_t count;

	if (alike_find(&in, self, names, &list, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		reach_session(r, from, &list[i].session, "related_to", list[i].weight, list[i].via);
	return STATUS_OK;
}

static enum status spread_session(struct related_set *r, const struct related *from, struct err *err)
{
	struct alike_names *names = arena_alloc(r->mem, sizeof *names);
	struct alike_in in = looking(r);
	struct uuid id;

	if (!uuid_parse(from->id, &id))
		return STATUS_OK;
	if (reach_origins(r, from, &id, err) || reach_sharers(r, from, &id, err) ||
	    reach_agents(r, from, &id, err) || alike_names(&in, &id, (struct str){ 0 }, names, err) ||
	    reach_names(r, from, names, err) || reach_namers(r, from, err))
		return err_failed(err->status);
	return reach_alike(r, from, &id, names, err);
}

static enum status spread_agent(struct related_set *r, const struct related *from, struct err *err)
{
	struct alike_names *names = arena_alloc(r->mem, sizeof *names);
	struct alike_in in = looking(r);
	struct uuid session;
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_AGENT_OF, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, from->id);
	step = stmt_step(&st, err);
	if (step != STEP_ROW)
		return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
	session = col_uuid(&st, 0);
	stmt_done(&st);
	reach_session(r, from, &session, "spawned_by", 1, (struct str){ 0 });
	return alike_names(&in, &session, from->id, names, err) ? err_failed(err->status)
								: reach_names(r, from, names, err);
}

static enum status spread(struct related_set *r, struct related *from, struct err *err)
{
	from->done = true;
	if (from->type == MENTION_SESSION)
		return spread_session(r, from, err);
	if (from->type == RELATED_AGENT)
		return spread_agent(r, from, err);
	if (from->type == MENTION_IDENTIFIER)
		return reach_sayers(r, from, err);
	return from->type == RELATED_MESSAGE ? STATUS_OK : reach_namers(r, from, err);
}

static int best_first(const void *a, const void *b)
{
	const struct related *x = *(struct related *const *)a, *y = *(struct related *const *)b;

	if (x->hops != y->hops)
		return x->hops < y->hops ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->type != y->type ? x->type - y->type : str_cmp(x->id, y->id);
}

static int clearest_first(const void *a, const void *b)
{
	const struct related *x = *(struct related *const *)a, *y = *(struct related *const *)b;

	if (x->hops == y->hops && vagueness(x) != vagueness(y))
		return vagueness(x) - vagueness(y);
	return best_first(a, b);
}

static enum status describe(struct related_set *r, struct related *what, struct err *err)
{
	struct session session;
	struct uuid id;
	STMT st = { 0 };
	enum step step;
	int64_t row;

	if (what->type != MENTION_SESSION || what->title.p || !uuid_parse(what->id, &id))
		return STATUS_OK;
	if (use(r, RELATED_SESSION_OF, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &id);
	step = stmt_step(&st, err);
	if (step != STEP_ROW)
		return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
	row = col_int(&st, 0);
	stmt_done(&st);
	if (session_get(r->store, row, r->mem, &session, err))
		return err_failed(err->status);
	what->title = session.title.p ? session.title : STR("");
	what->project = session.project;
	what->updated_at = session.updated_at;
	return STATUS_OK;
}

/* One round; what it finds is for the next. */
static enum status spread_round(struct related_set *r, int hops, const atomic_bool *cancel, struct err *err)
{
	size_t count = r->count, done = 0;

	for (size_t i = 0; i < count && (hops == 0 || done < MOST_SPREAD); i++) {
		if (r->list[i]->hops != hops || r->list[i]->done)
			continue;
		if (cancel && atomic_load(cancel))
			return err_fail(err, STATUS_CANCELLED, "stopped");
		done++;
		if (describe(r, r->list[i], err) || spread(r, r->list[i], err))
			return err_failed(err->status);
	}
	if (r->count)
		qsort(r->list, r->count, sizeof(*r->list), best_first);
	return STATUS_OK;
}

enum status related_spread(struct related_set *r, int hops, const atomic_bool *cancel, struct err *err)
{
	for (int i = 0; i < hops; i++)
		if (spread_round(r, i, cancel, err))
			return err_failed(err->status);
	for (size_t i = 0; i < r->count; i++)
		if (describe(r, r->list[i], err))
			return err_failed(err->status);
	if (r->count)
		qsort(r->list, r->count, sizeof(*r->list), clearest_first);
	return STATUS_OK;
}

/* ---- Where to begin -------------------------------------------------------------------------- */

static struct related *begin_with(struct related_set *r, int type, struct str id)
{
	struct related *there = known(r, type, id);

	return there ? there
		     : add(r, &(struct related){ .type = type, .id = id, .relationship = "", .weight = 1 });
}

void related_add_session(struct related_set *r, const struct uuid *id)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	begin_with(r, MENTION_SESSION, str_from(text, UUID_TEXT));
}

/* Names in a message. */
struct naming {
	struct related_set *r;
	struct related *from;
	struct err *err;
	enum status status;
};

static void take_name(void *ctx, enum mention_kind kind, struct str name)
{
	struct naming *n = ctx;

	if (n->status == STATUS_OK)
		n->status = reach_named(n->r, n->from, (int)kind, name, 1, n->err);
}

static enum status take_record(void *ctx, const struct transcript_line *line, bool *go_on, struct err *err)
{
	struct buf room CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct naming *n = ctx;

	(void)go_on;
	n->err = err;
	mention_record(line->reader, line->record, &room, take_name, n);
	return n->status;
}

struct message {
	struct related_set *r;
	const struct session *session;
	struct related *from;
};

static enum status take_message_line(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	struct message *m = ctx;
	struct naming n = { .r = m->r, .from = m->from };
	struct transcript t CLEANUP(transcript_release);

	transcript_init(&t);
	return transcript_each(&t, m->r->store, m->session, offset, offset + length, take_record, &n, err);
}

enum status related_add_message(struct related_set *r, const struct session *session, const struct node *node,
				struct err *err)
{
	struct node first = *node;
	char text[UUID_TEXT + 1];
	struct message m = { .r = r, .session = session };

	uuid_print(&node->id, text);
	m.from = begin_with(r, RELATED_MESSAGE, str_from(text, UUID_TEXT));
	m.from->done = true;
	reach_session(r, m.from, &session->id, "part_of", 1, (struct str){ 0 });
	if (node->first < 0)
		return take_message_line(&m, node->offset, node->length, err);
	first.offset = node->first;
	return message_lines(r->store, &first, take_message_line, &m, err);
}

static enum status begin_by_key(struct related_set *r, int kind, struct str name, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_BY_NAME, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, link_key(kind, name));
	step = stmt_step(&st, err);
	if (step == STEP_ROW && str_eq(col_bytes(&st, 0), name))
		begin_with(r, kind, name);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

/* Nobody may have said it at length. */
static enum status begin_with_number(struct related_set *r, struct str issue, struct err *err)
{
	struct said *list;
	size_t count;

	if (issue_said_by(r->store, issue, r->mem, &list, &count, err))
		return err_failed(err->status);
	if (count)
		begin_with(r, MENTION_ISSUE, issue);
	return STATUS_OK;
}

static enum status begin_with_files(struct related_set *r, struct str end, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_FILES, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, end);
	stmt_int(&st, 2, MOST_FILES);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		begin_with(r, MENTION_FILE, col_bytes(&st, 0));
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* Addresses have links wherever they are said: their words would find others besides. */
static bool has_address(const struct related_set *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->list[i]->type == MENTION_URL || r->list[i]->type == MENTION_ISSUE ||
		    r->list[i]->type == MENTION_COMMIT)
			return true;
	return false;
}

static enum status begin_with_word(struct related_set *r, struct str word, struct err *err)
{
	struct said *list;
	size_t count;

	if (said_by(r->store, word, r->mem, &list, &count, err))
		return err_failed(err->status);
	if (count)
		begin_with(r, MENTION_IDENTIFIER, word);
	return STATUS_OK;
}

/* A word of a language is said in the singular and in the plural; what has a capital letter inside is a name. */
static bool is_plain(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] < 'a' || word.p[i] > 'z')
			return false;
	return word.n > 0;
}

static enum status begin_with_said(struct related_set *r, struct str name, struct err *err)
{
	struct buf form CLEANUP(buf_release) = BUF_INIT(MIB), low CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str as = mention_form(MENTION_IDENTIFIER, name, &form), other;

	if (begin_with_word(r, as, err))
		return err_failed(err->status);
	buf_str(&low, as);
	if (low.n)
		low.p[0] = (char)(low.p[0] >= 'A' && low.p[0] <= 'Z' ? low.p[0] | 32 : low.p[0]);
	if (!is_plain(buf_as_str(&low)))
		return STATUS_OK;
	other = plural_other(buf_as_str(&low), &form);
	return other.n ? begin_with_word(r, other, err) : STATUS_OK;
}

enum status related_add_named(struct related_set *r, struct str name, struct err *err)
{
	struct buf form CLEANUP(buf_release) = BUF_INIT(MIB);

	r->asked = name;
	for (int kind = MENTION_FILE; kind < MENTION_KINDS; kind++) {
		struct str as = mention_form((enum mention_kind)kind, name, &form);

		if (kind != MENTION_SESSION && kind != MENTION_IDENTIFIER && as.n &&
		    (begin_by_key(r, kind, as, err) ||
		     (kind == MENTION_ISSUE && begin_with_number(r, as, err))))
			return err_failed(err->status);
	}
	while (str_has_prefix(name, STR("./")))
		name = str_sub(name, 2, SIZE_MAX);
	if (!name.n)
		return STATUS_OK;
	if (begin_with_files(r, name, err))
		return err_failed(err->status);
	return has_address(r) ? STATUS_OK : begin_with_said(r, name, err);
}
