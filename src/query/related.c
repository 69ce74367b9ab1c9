/*
 * Links, followed.
 *
 * What is stored is what each transcript names (store/link.h), and enough to find which transcripts share
 * lines (store/sharing.h). Everything else is computed here: who else names the same, how rare that is, and
 * so how close two sessions are. A session and its sub-agents are one here.
 *
 * Who names an identifier, or any other word, is not taken from links, which have only what people put
 * between backticks, but from the words of all prompts and answers (query/said.h).
 *
 * Two sessions are related by what both name. Each name weighs what it says of either
 * (related_weight()); the sum is compared with what the first has in all, so 1 means that the
 * other has all of it. Words are worth half: they say less than a file or an issue. A branch of git that both
 * worked on counts like a name, unless everybody has one of this name.
 *
 * Spreading takes the best few of each round further, so it is bounded however large the store.
 */
#include "query/related.h"

#include "base/utf8.h"
#include "query/said.h"
#include "query/transcript.h"
#include "store/db.h"
#include "store/keys.h"
#include "store/link.h"
#include "store/sharing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	RELATED_ALL,
	RELATED_NAMES,
	RELATED_SHARED,
	RELATED_BRANCHES,
	RELATED_ON_BRANCH,
	RELATED_REPOSITORY,
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
	RELATED_STATEMENTS
};

enum {
	MOST_SPREAD = 24,    /* of a round, that are followed */
	MOST_NAMES = 400,    /* of a session */
	MOST_SHARED = 64,    /* of these, the best, that other sessions are looked for by */
	MOST_SESSIONS = 200, /* that name the same */
	MOST_BRANCHES = 16,  /* of a session */
	MOST_FILES = 50,     /* with the same end of their paths */
	SHOWN_VIA = 3,
};

#define ON_BRANCH \
	" FROM session_value x CROSS JOIN mirror_session o ON o.id = x.session AND o.old = 0 AND o.agent " \
	"IS NULL" \
	" WHERE x.kind = 2 AND x.value = "

#define NAMED_BY "(SELECT count(*) FROM link x WHERE x.key = l.key)"

static const char *const sql[RELATED_STATEMENTS] = {
	[RELATED_ALL] = "SELECT count(*) FROM mirror_session WHERE old = 0",
	[RELATED_NAMES] = ("SELECT l.key, l.kind, l.name, sum(l.times), " NAMED_BY
			   " FROM mirror_session s CROSS JOIN link l ON l.session = s.id"
			   " WHERE s.session_id = ?1 AND s.old = 0 AND (?2 IS NULL OR s.agent = ?2)"
			   " GROUP BY l.key ORDER BY sum(l.times) DESC, l.kind, l.name LIMIT ?3"),
	[RELATED_SHARED] =
		("SELECT s.session_id, sum(l.times), max(s.project = (SELECT o.project FROM mirror_session o"
		 " WHERE o.session_id = ?3 AND o.old = 0 AND o.agent IS NULL))"
		 " FROM link l JOIN mirror_session s ON s.id = l.session"
		 " AND s.old = 0 WHERE l.key = ?1 GROUP BY s.session_id"
		 " ORDER BY max(s.updated_at) DESC, s.session_id LIMIT ?2"),
	[RELATED_BRANCHES] =
		("SELECT DISTINCT v.value, (SELECT count(DISTINCT o.session_id)" ON_BRANCH "v.value)"
		 " FROM mirror_session s CROSS JOIN session_value v ON v.session = s.id AND v.kind = 2"
		 " WHERE s.session_id = ?1 AND s.old = 0 AND s.agent IS NULL AND v.value NOT IN"
		 " ('', 'HEAD', 'main', 'master', 'develop', 'dev', 'trunk') ORDER BY v.value LIMIT ?2"),
	[RELATED_ON_BRANCH] = ("SELECT o.session_id" ON_BRANCH "?1 GROUP BY o.session_id"
			       " ORDER BY max(o.updated_at) DESC, o.session_id LIMIT ?2"),
	/* Whose issues are named in the project of a session, up to the mark: the one that is named most. */
	[RELATED_REPOSITORY] =
		("SELECT substr(l.name, 1, instr(l.name, '#')) FROM mirror_session a"
		 " CROSS JOIN mirror_session b ON b.project = a.project AND b.old = 0"
		 " CROSS JOIN link l ON l.session = b.id AND l.kind = 3 AND instr(l.name, '#') > 1"
		 " WHERE a.session_id = ?1 AND a.old = 0 AND a.agent IS NULL"
		 " GROUP BY 1 ORDER BY sum(l.times) DESC, 1 LIMIT 1"),
	[RELATED_BY_NAME] = "SELECT name FROM link WHERE key = ?1 LIMIT 1",
	[RELATED_IS_NAMED] = "SELECT 1 FROM mirror_session WHERE session_id = ?1 AND old = 0 LIMIT 1",
	[RELATED_FILES] =
		("SELECT DISTINCT name FROM link WHERE kind = 1 AND substr(name, -length(?1) - 1) = '/' || ?1"
		 " ORDER BY name LIMIT ?2"),
	[RELATED_ROWS] = "SELECT id FROM mirror_session WHERE session_id = ?1 AND old = 0 AND agent IS NULL",
	[RELATED_SHARER] =
		("SELECT session_id FROM mirror_session WHERE id = ?1 AND old = 0 AND agent IS NULL"
		 " AND session_id <> ?2"),
	/* A line that says where it was copied from, or what it goes on from: the session of that. */
	[RELATED_ORIGIN] = ("SELECT e.link, (e.flags & 32) <> 0 FROM mirror_session s CROSS JOIN entry e"
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
		 " AND s.old = 0 WHERE k.key = ?1 AND k.part = -1 ORDER BY s.session_id = ?2,"
		 " s.session_id"),
};

const struct db_set related_statements = { DB_RELATED, sql, RELATED_STATEMENTS };

_Static_assert(MENTION_FILE == 1 && MENTION_ISSUE == 3 && RECORD_BOUNDARY == 32 && RECORD_SUMMARY == 6 &&
		       RECORD_LAST_PROMPT == 9,
	       "numbers that stand in the statements");

static enum status use(struct related_set *r, int index, struct stmt *st, struct err *err)
{
	return stmt_use(r->store, &related_statements, index, st, err);
}

const char *related_type_name(int type)
{
	return type == RELATED_MESSAGE ? "message"
	       : type == RELATED_AGENT ? "agent"
				       : mention_kind_name((enum mention_kind)type);
}

double related_weight(int kind, int64_t times, int64_t common, int64_t all)
{
	bool is_word = kind == MENTION_TOPIC;
	double often = (double)times / (double)(times + (is_word ? 3 : 1));

	if (is_word && common == 1)
		often /= 4;
	if (all <= 1 || common < 1)
		return often;
	return often * log(1 + (double)all / (double)common) / log(1 + (double)all);
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

/* A name as people recognise it among others. */
static struct str short_name(int type, struct str name)
{
	struct str cut = str_sub(name, 0, 60);

	if (type == MENTION_FILE)
		return str_basename(name);
	return cut.n < name.n ? str_sub(cut, 0, utf8_valid_prefix(cut)) : name;
}

/* What says most of how two things are related comes first: what was done or referred to by an address, then what
 * was said, then what is only alike. */
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
		what.via = from->type == MENTION_SESSION && from->title.n ? from->title
									  : short_name(from->type, from->id);
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

struct name {
	int64_t key;
	int kind;
	struct str name;
	double weight;
	int64_t common;
};

struct names {
	struct name list[MOST_NAMES];
	size_t count;
};

static double worth(int kind)
{
	return kind == MENTION_TOPIC ? 0.5 : 1;
}

static int by_weight(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	double one = x->weight * worth(x->kind), other = y->weight * worth(y->kind);

	if (one != other)
		return one > other ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Of all of it, or of one of its sub-agents (agent.p NULL = all); best first. */
static enum status names_of(struct related_set *r, const struct uuid *session, struct str agent,
			    struct names *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	out->count = 0;
	if (use(r, RELATED_NAMES, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, session);
	if (agent.p)
		stmt_text(&st, 2, agent);
	stmt_int(&st, 3, MOST_NAMES);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct name *n = &out->list[out->count++];

		*n = (struct name){ .key = col_int(&st, 0),
				    .kind = (int)col_int(&st, 1),
				    .name = arena_str(r->mem, col_bytes(&st, 2)),
				    .common = col_int(&st, 4) };
		n->weight = related_weight(n->kind, col_int(&st, 3), n->common, r->all);
	}
	if (out->count)
		qsort(out->list, out->count, sizeof *out->list, by_weight);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

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

/* ---- Sessions that name the same -------------------------------------------------------- */

struct near_session {
	struct uuid id;
	double score;
	struct str via[SHOWN_VIA];
	size_t via_count;
	bool is_strong;	   /* not only words */
	bool is_neighbour; /* worked in the same folder */
};

struct near {
	struct near_session *list;
	size_t count, cap;
	struct map by_id;
	struct uuid self;
};

static void near_release(struct near *n)
{
	map_release(&n->by_id);
	mem_free(n->list);
}

/* The list moves as it grows, so the table has places in it. */
static struct near_session *near_get(struct related_set *r, struct near *n, const struct uuid *id)
{
	struct str key = str_from((const char *)id->b, UUID_BYTES);
	size_t *at = map_get(&n->by_id, key);

	if (at)
		return &n->list[*at];
	if (n->count == n->cap) {
		n->cap = n->cap ? 2 * n->cap : 64;
		n->list = mem_resize(n->list, n->cap * sizeof *n->list);
	}
	n->list[n->count] = (struct near_session){ .id = *id };
	at = arena_alloc(r->mem, sizeof *at);
	*at = n->count;
	map_put(&n->by_id, arena_str(r->mem, key), at);
	return &n->list[n->count++];
}

/* Files in different folders may be called the same. */
static void add_via(struct near_session *s, struct str name)
{
	for (size_t i = 0; i < s->via_count; i++)
		if (str_eq(s->via[i], name))
			return;
	if (s->via_count < SHOWN_VIA)
		s->via[s->via_count++] = name;
}

/* A word or two in common is chance, and less so in one folder: two words then, or one that is much of
 * what the first is about. */
static bool is_near(const struct near_session *s, double weight)
{
	size_t words = s->is_neighbour ? 2 : SHOWN_VIA;

	return s->is_strong || (s->via_count >= words && weight >= 0.02) || (s->is_neighbour && weight >= 0.1);
}

static enum status share_name(struct related_set *r, struct near *n, const struct name *name, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_SHARED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, name->key);
	stmt_int(&st, 2, MOST_SESSIONS);
	stmt_uuid(&st, 3, &n->self);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid id = col_uuid(&st, 0);
		struct near_session *s;

		if (uuid_eq(&id, &n->self))
			continue;
		s = near_get(r, n, &id);
		s->score += worth(name->kind) * name->weight *
			    related_weight(name->kind, col_int(&st, 1), name->common, r->all);
		s->is_strong |= name->kind != MENTION_TOPIC;
		s->is_neighbour |= col_int(&st, 2) != 0;
		add_via(s, short_name(name->kind, name->name));
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static enum status share_branch(struct related_set *r, struct near *n, struct str branch, double weight,
				struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_ON_BRANCH, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, branch);
	stmt_int(&st, 2, MOST_SESSIONS);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid id = col_uuid(&st, 0);
		struct near_session *s;

		if (uuid_eq(&id, &n->self))
			continue;
		s = near_get(r, n, &id);
		s->score += weight * weight;
		s->is_strong = true;
		add_via(s, branch);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* Branches that others worked on, too; *whole grows by what they weigh. */
static enum status share_branches(struct related_set *r, struct near *n, double *whole, struct err *err)
{
	enum { AS_IF_NAMED = 5 }; /* times: nobody is on one by the way */
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_BRANCHES, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &n->self);
	stmt_int(&st, 2, MOST_BRANCHES);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		int64_t common = col_int(&st, 1);
		double weight = related_weight(MENTION_ISSUE, AS_IF_NAMED, common, r->all);

		if (common < 2)
			continue;
		*whole += weight * weight;
		if (share_branch(r, n, arena_str(r->mem, col_bytes(&st, 0)), weight, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

static enum status reach_near(struct related_set *r, const struct related *from, const struct uuid *self,
			      const struct names *names, struct err *err)
{
	struct near n CLEANUP(near_release) = { .self = *self };
	double whole = 0;

	if (share_branches(r, &n, &whole, err))
		return err_failed(err->status);
	for (size_t i = 0; i < names->count && i < MOST_SHARED; i++) {
		const struct name *name = &names->list[i];

		whole += worth(name->kind) * name->weight * name->weight;
		if (name->common > 1 && share_name(r, &n, name, err))
			return err_failed(err->status);
	}
	for (size_t i = 0; i < n.count; i++) {
		struct buf via CLEANUP(buf_release) = BUF_INIT(KIB);
		double weight = n.list[i].score / whole;

		if (!is_near(&n.list[i], weight))
			continue;
		for (size_t v = 0; v < n.list[i].via_count; v++)
			buf_printf(&via, "%s%.*s", v ? ", " : "", STR_ARG(n.list[i].via[v]));
		reach_session(r, from, &n.list[i].id, "related_to", weight < 1 ? weight : 1,
			      arena_str(r->mem, buf_as_str(&via)));
	}
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

		reach_session(r, from, &other, "shares_lines", 0.9, (struct str){ 0 });
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

/* How much it says of a session that it names something so many times. */
static double naming_weight(int64_t times)
{
	return related_weight(MENTION_FILE, times, 1, 1);
}

/* Who says a word. */
static enum status reach_sayers(struct related_set *r, const struct related *from, struct err *err)
{
	struct said *list;
	size_t count;

	if (said_by(r->store, from->id, r->mem, &list, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count && i < MOST_SESSIONS; i++)
		reach_session(r, from, &list[i].session, mention_relation(MENTION_IDENTIFIER),
			      naming_weight(list[i].times), (struct str){ 0 });
	return STATUS_OK;
}

static enum status is_of_repository(struct related_set *r, const struct uuid *session, struct str repository,
				    bool *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_REPOSITORY, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, session);
	step = stmt_step(&st, err);
	*out = step == STEP_ROW && str_eq(col_bytes(&st, 0), repository);
	return step == STEP_FAILED ? err_failed(err->status) : STATUS_OK;
}

typedef void sayer_fn(void *ctx, const struct said *said);

/* Who says "PR #12" where a project's issues are OWNER/NAME#12: nobody names the repository in its own
 * folder. */
static enum status number_sayers(struct related_set *r, struct str issue, sayer_fn *fn, void *ctx,
				 struct err *err)
{
	static const char *const words[] = { "PR", "pull request", "pull", "issue", "review", "MR" };
	size_t mark = str_find(issue, '#');

	if (mark == SIZE_MAX)
		return STATUS_OK;
	for (size_t w = 0; w < COUNT(words); w++) {
		struct str phrase = arena_printf(r->mem, "%s %.*s", words[w],
						 STR_ARG(str_sub(issue, mark + 1, SIZE_MAX)));
		struct said *list;
		size_t count;

		if (said_by(r->store, phrase, r->mem, &list, &count, err))
			return err_failed(err->status);
		for (size_t i = 0; i < count && i < MOST_SESSIONS; i++) {
			bool is_here;

			if (is_of_repository(r, &list[i].session, str_sub(issue, 0, mark + 1), &is_here, err))
				return err_failed(err->status);
			if (is_here)
				fn(ctx, &list[i]);
		}
	}
	return STATUS_OK;
}

struct reaching {
	struct related_set *r;
	const struct related *from;
};

static void reach_sayer(void *ctx, const struct said *said)
{
	struct reaching *a = ctx;

	reach_session(a->r, a->from, &said->session, mention_relation(MENTION_IDENTIFIER),
		      naming_weight(said->times), (struct str){ 0 });
}

/* Who names a session, a file, a topic … */
static enum status reach_namers(struct related_set *r, const struct related *from, struct err *err)
{
	bool is_session = from->type == MENTION_SESSION;
	/* Of several that were meant by one name, which one. */
	struct str via = from->hops == 0 && r->asked.n && !str_eq(from->id, r->asked) ? from->id : (struct str){ 0 };
	STMT st = { 0 };
	enum step step;

	if (use(r, RELATED_SHARED, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, link_key(from->type, from->id));
	stmt_int(&st, 2, MOST_SESSIONS);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct uuid id = col_uuid(&st, 0);

		reach_session(r, from, &id,
			      is_session ? "referenced_by" : mention_relation((enum mention_kind)from->type),
			      naming_weight(col_int(&st, 1)), via);
	}
	if (step != STEP_DONE)
		return err_failed(err->status);
	/* Only of what was asked for: each takes a search. */
	return from->type == MENTION_ISSUE && from->hops == 0
		       ? number_sayers(r, from->id, reach_sayer, &(struct reaching){ r, from }, err)
		       : STATUS_OK;
}

/* ---- From one to the next ------------------------------------------------------------------- */

static enum status reach_names(struct related_set *r, const struct related *from, const struct names *names,
			       struct err *err)
{
	for (size_t i = 0; i < names->count; i++)
		if (reach_named(r, from, names->list[i].kind, names->list[i].name, names->list[i].weight,
				err))
			return err_failed(err->status);
	return STATUS_OK;
}

static enum status spread_session(struct related_set *r, const struct related *from, struct err *err)
{
	struct names *names = arena_alloc(r->mem, sizeof *names);
	struct uuid id;

	if (!uuid_parse(from->id, &id))
		return STATUS_OK;
	if (reach_origins(r, from, &id, err) || reach_sharers(r, from, &id, err) ||
	    reach_agents(r, from, &id, err) || names_of(r, &id, (struct str){ 0 }, names, err) ||
	    reach_names(r, from, names, err) || reach_namers(r, from, err))
		return err_failed(err->status);
	return reach_near(r, from, &id, names, err);
}

static enum status spread_agent(struct related_set *r, const struct related *from, struct err *err)
{
	struct names *names = arena_alloc(r->mem, sizeof *names);
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
	return names_of(r, &session, from->id, names, err) ? err_failed(err->status)
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

static void note_sayer(void *ctx, const struct said *said)
{
	(void)said;
	*(bool *)ctx = true;
}

/* Nobody may have said it at length. */
static enum status begin_with_number(struct related_set *r, struct str issue, struct err *err)
{
	bool any = false;

	if (number_sayers(r, issue, note_sayer, &any, err))
		return err_failed(err->status);
	if (any)
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

static enum status begin_with_said(struct related_set *r, struct str name, struct err *err)
{
	struct buf form CLEANUP(buf_release) = BUF_INIT(MIB);
	struct str as = mention_form(MENTION_IDENTIFIER, name, &form);
	struct said *list;
	size_t count;

	if (said_by(r->store, as, r->mem, &list, &count, err))
		return err_failed(err->status);
	if (count)
		begin_with(r, MENTION_IDENTIFIER, as);
	return STATUS_OK;
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
