/*
 * Two sessions are alike by what both name. Each name weighs what it says of either (alike_weight()); the sum
 * is compared with what the first has in all, so 1 means that the other has all of it. Words are worth half:
 * they say less than a file or an issue. A branch of git that both worked on counts like a name, unless
 * everybody has one of this name.
 *
 * What each transcript names is stored (store/link.h); a session and its sub-agents are one here.
 */
#include "query/alike.h"

#include "base/map.h"
#include "base/utf8.h"
#include "claude/mention.h"
#include "store/db.h"

#include <math.h>
#include <stdlib.h>

enum { ALIKE_NAMED, ALIKE_NAMERS, ALIKE_BRANCHES, ALIKE_ON_BRANCH, ALIKE_STATEMENTS };

enum {
	MOST_SHARED = 64,    /* names, the best, that other sessions are looked for by */
	MOST_SESSIONS = 200, /* that name the same */
	MOST_BRANCHES = 16,  /* of a session */
	SHOWN_VIA = 3,
};

#define NAMED_BY "(SELECT count(*) FROM link x WHERE x.key = l.key)"

#define ON_BRANCH \
	" FROM session_value x CROSS JOIN mirror_session o ON o.id = x.session AND o.old = 0 AND o.agent " \
	"IS NULL" \
	" WHERE x.kind = 2 AND x.value = "

static const char *const sql[ALIKE_STATEMENTS] = {
	[ALIKE_NAMED] = ("SELECT l.key, l.kind, l.name, sum(l.times), " NAMED_BY
			 " FROM mirror_session s CROSS JOIN link l ON l.session = s.id"
			 " WHERE s.session_id = ?1 AND s.old = 0 AND (?2 IS NULL OR s.agent = ?2)"
			 " GROUP BY l.key ORDER BY sum(l.times) DESC, l.kind, l.name LIMIT ?3"),
	[ALIKE_NAMERS] =
		("SELECT s.session_id, sum(l.times), max(s.project = (SELECT o.project FROM mirror_session o"
		 " WHERE o.session_id = ?3 AND o.old = 0 AND o.agent IS NULL))"
		 " FROM link l JOIN mirror_session s ON s.id = l.session"
		 " AND s.old = 0 WHERE l.key = ?1 GROUP BY s.session_id"
		 " ORDER BY max(s.updated_at) DESC, s.session_id LIMIT ?2"),
	[ALIKE_BRANCHES] =
		("SELECT DISTINCT v.value, (SELECT count(DISTINCT o.session_id)" ON_BRANCH "v.value)"
		 " FROM mirror_session s CROSS JOIN session_value v ON v.session = s.id AND v.kind = 2"
		 " WHERE s.session_id = ?1 AND s.old = 0 AND s.agent IS NULL AND v.value NOT IN"
		 " ('', 'HEAD', 'main', 'master', 'develop', 'dev', 'trunk') ORDER BY v.value LIMIT ?2"),
	[ALIKE_ON_BRANCH] = ("SELECT o.session_id, ?3, 0" ON_BRANCH "?1 GROUP BY o.session_id"
			     " ORDER BY max(o.updated_at) DESC, o.session_id LIMIT ?2"),
};

const struct db_set alike_statements = { DB_ALIKE, sql, ALIKE_STATEMENTS };

static enum status use(const struct alike_in *in, int index, struct stmt *st, struct err *err)
{
	return stmt_use(in->store, &alike_statements, index, st, err);
}

/* ---- Names ------------------------------------------------------------------------------ */

double alike_weight(int kind, int64_t times, int64_t common, int64_t all)
{
	bool is_word = kind == MENTION_TOPIC;
	double often = (double)times / (double)(times + (is_word ? 3 : 1));

	if (is_word && common == 1)
		often /= 4;
	if (all <= 1 || common < 1)
		return often;
	return often * log(1 + (double)all / (double)common) / log(1 + (double)all);
}

double alike_naming_weight(int64_t times)
{
	return alike_weight(MENTION_FILE, times, 1, 1);
}

struct str alike_short_name(int kind, struct str name)
{
	struct str cut = str_sub(name, 0, 60);

	if (kind == MENTION_FILE)
		return str_basename(name);
	return cut.n < name.n ? str_sub(cut, 0, utf8_valid_prefix(cut)) : name;
}

static double worth(int kind)
{
	return kind == MENTION_TOPIC ? 0.5 : 1;
}

static int by_weight(const void *a, const void *b)
{
	const struct alike_name *x = a, *y = b;
	double one = x->weight * worth(x->kind), other = y->weight * worth(y->kind);

	if (one != other)
		return one > other ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

enum status alike_names(const struct alike_in *in, const struct uuid *session, struct str agent,
			struct alike_names *out, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	out->count = 0;
	if (use(in, ALIKE_NAMED, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, session);
	if (agent.p)
		stmt_text(&st, 2, agent);
	stmt_int(&st, 3, ALIKE_NAMES);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct alike_name *n = &out->list[out->count++];

		*n = (struct alike_name){ .key = col_int(&st, 0),
					  .kind = (int)col_int(&st, 1),
					  .name = arena_str(in->mem, col_bytes(&st, 2)),
					  .common = col_int(&st, 4) };
		n->weight = alike_weight(n->kind, col_int(&st, 3), n->common, in->all);
	}
	if (out->count)
		qsort(out->list, out->count, sizeof *out->list, by_weight);
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* ---- Who has them ----------------------------------------------------------------------- */

/* Of a statement that gives sessions, ready to be used but for how many are wanted. */
static enum status each_session(struct stmt *st, alike_session_fn *fn, void *ctx, struct err *err)
{
	enum step step;

	stmt_int(st, 2, MOST_SESSIONS);
	while ((step = stmt_step(st, err)) == STEP_ROW) {
		struct alike_session s = { .id = col_uuid(st, 0),
					   .times = col_int(st, 1),
					   .is_neighbour = col_int(st, 2) != 0 };

		fn(ctx, &s);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

enum status alike_each_namer(const struct alike_in *in, int64_t key, const struct uuid *beside,
			     alike_session_fn *fn, void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(in, ALIKE_NAMERS, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, key);
	if (beside)
		stmt_uuid(&st, 3, beside);
	return each_session(&st, fn, ctx, err);
}

/* Nobody is on a branch by the way. */
enum { BRANCH_TIMES = 5 };

static enum status each_on_branch(const struct alike_in *in, struct str branch, alike_session_fn *fn,
				  void *ctx, struct err *err)
{
	STMT st = { 0 };

	if (use(in, ALIKE_ON_BRANCH, &st, err))
		return err_failed(err->status);
	stmt_text(&st, 1, branch);
	stmt_int(&st, 3, BRANCH_TIMES);
	return each_session(&st, fn, ctx, err);
}

/* ---- Sessions that are alike -------------------------------------------------------------- */

struct near_session {
	struct uuid id;
	double score;
	struct str via[SHOWN_VIA];
	size_t via_count;
	bool is_strong;	   /* not only words */
	bool is_neighbour; /* worked in the same folder */
};

struct near {
	const struct alike_in *in;
	struct near_session *list;
	size_t count, cap;
	struct map by_id;
	struct uuid self;
	struct alike_name name; /* in hand */
	double whole;		/* what all names weigh */
};

static void near_release(struct near *n)
{
	map_release(&n->by_id);
	mem_free(n->list);
}

/* The list moves as it grows, so the table has places in it. */
static struct near_session *near_get(struct near *n, const struct uuid *id)
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
	at = arena_alloc(n->in->mem, sizeof *at);
	*at = n->count;
	map_put(&n->by_id, arena_str(n->in->mem, key), at);
	return &n->list[n->count++];
}

/* Files in different folders may be called the same; and one may be named with and without its folder. */
static void add_via(struct near_session *s, struct str name)
{
	for (size_t i = 0; i < s->via_count; i++)
		if (str_eq(str_basename(s->via[i]), str_basename(name)))
			return;
	if (s->via_count < SHOWN_VIA)
		s->via[s->via_count++] = name;
}

static void share(void *ctx, const struct alike_session *has)
{
	struct near *n = ctx;
	const struct alike_name *name = &n->name;
	struct near_session *s;

	if (uuid_eq(&has->id, &n->self))
		return;
	s = near_get(n, &has->id);
	s->score += worth(name->kind) * name->weight *
		    alike_weight(name->kind, has->times, name->common, n->in->all);
	s->is_strong |= name->kind != MENTION_TOPIC;
	s->is_neighbour |= has->is_neighbour;
	add_via(s, alike_short_name(name->kind, name->name));
}

static void take_up(struct near *n, const struct alike_name *name)
{
	n->name = *name;
	n->whole += worth(name->kind) * name->weight * name->weight;
}

static enum status share_names(struct near *n, const struct alike_names *names, struct err *err)
{
	for (size_t i = 0; i < names->count && i < MOST_SHARED; i++) {
		take_up(n, &names->list[i]);
		if (n->name.common > 1 && alike_each_namer(n->in, n->name.key, &n->self, share, n, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* What nobody else worked on is no part of the whole: most branches are one's own. */
static enum status share_branches(struct near *n, struct err *err)
{
	STMT st = { 0 };
	enum step step;

	if (use(n->in, ALIKE_BRANCHES, &st, err))
		return err_failed(err->status);
	stmt_uuid(&st, 1, &n->self);
	stmt_int(&st, 2, MOST_BRANCHES);
	while ((step = stmt_step(&st, err)) == STEP_ROW) {
		struct alike_name branch = { .kind = MENTION_ISSUE, .common = col_int(&st, 1) };

		if (branch.common < 2)
			continue;
		branch.name = arena_str(n->in->mem, col_bytes(&st, 0));
		branch.weight = alike_weight(branch.kind, BRANCH_TIMES, branch.common, n->in->all);
		take_up(n, &branch);
		if (each_on_branch(n->in, branch.name, share, n, err))
			return err_failed(err->status);
	}
	return step == STEP_DONE ? STATUS_OK : err_failed(err->status);
}

/* A word or two in common is chance, and less so in one folder: two words then, or one that is much of
 * what the first is about. */
static bool is_alike(const struct near_session *s, double weight)
{
	size_t words = s->is_neighbour ? 2 : SHOWN_VIA;

	return s->is_strong || (s->via_count >= words && weight >= 0.02) ||
	       (s->is_neighbour && weight >= 0.1);
}

static struct alike describe(const struct near *n, const struct near_session *s, double weight)
{
	struct buf via CLEANUP(buf_release) = BUF_INIT(KIB);

	for (size_t v = 0; v < s->via_count; v++)
		buf_printf(&via, "%s%.*s", v ? ", " : "", STR_ARG(s->via[v]));
	return (struct alike){ s->id, weight < 1 ? weight : 1, arena_str(n->in->mem, buf_as_str(&via)) };
}

enum status alike_find(const struct alike_in *in, const struct uuid *session, const struct alike_names *names,
		       struct alike **out, size_t *count, struct err *err)
{
	struct near n CLEANUP(near_release) = { .in = in, .self = *session };

	*count = 0;
	if (share_branches(&n, err) || share_names(&n, names, err))
		return err_failed(err->status);
	*out = arena_alloc(in->mem, (n.count + 1) * sizeof **out);
	for (size_t i = 0; i < n.count; i++) {
		double weight = n.list[i].score / n.whole;

		if (is_alike(&n.list[i], weight))
			(*out)[(*count)++] = describe(&n, &n.list[i], weight);
	}
	return STATUS_OK;
}
