/*
 * There is no index by message but the keys, and those come last. Whoever goes on reading a file that has none yet asks
 * for every answer whether it began before. Looking through the lines each time would take the square of their number,
 * so each is looked at once: a table for each of the sessions in hand has what was found, and grows by the lines that
 * have come since.
 *
 * Invariant: a table has the lines of its session from where there were no keys, when it was begun, up to `to`. Lines
 * that were written stay as they are as long as the session's `reading` does.
 */
#include "store/firsts.h"

#include "store/db.h"

enum { FIRSTS_MORE, FIRSTS_STATEMENTS };

static const char *const sql[FIRSTS_STATEMENTS] = {
	[FIRSTS_MORE] = ("SELECT e.message, e.offset FROM mirror_session m JOIN entry e ON e.session = m.id"
			 " AND e.offset >= max(m.keyed_to, ?2) AND e.offset < ?3 AND e.message IS NOT NULL"
			 " WHERE m.id = ?1 AND m.keyed_to < ?3 ORDER BY e.offset"),
};

const struct db_set firsts_statements = { DB_FIRSTS, sql, FIRSTS_STATEMENTS };

/* Two threads read files; now and then a third is begun meanwhile. */
enum { TABLES = 4 };

struct slot {
	uint64_t message;
	int64_t offset_plus_1; /* 0 = free */
};

struct table {
	int64_t session, reading; /* 0 = there is none */
	int64_t to;
	struct slot *slots;
	size_t count, cap; /* a power of two, or 0 */
};

struct firsts {
	struct table tables[TABLES];
	size_t next; /* they are used in turn */
};

void firsts_free(struct firsts *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < TABLES; i++)
		mem_free(f->tables[i].slots);
	mem_free(f);
}

/* The one of this message, or where it belongs. It is a hash. */
static struct slot *slot_of(const struct table *t, uint64_t message)
{
	size_t i = (size_t)message & (t->cap - 1);

	while (t->slots[i].offset_plus_1 && t->slots[i].message != message)
		i = (i + 1) & (t->cap - 1);
	return &t->slots[i];
}

static void grow(struct table *t)
{
	struct table larger = { .cap = t->cap ? 2 * t->cap : 1024 };

	larger.slots = mem_alloc(larger.cap * sizeof *larger.slots);
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].offset_plus_1)
			*slot_of(&larger, t->slots[i].message) = t->slots[i];
	mem_free(t->slots);
	t->slots = larger.slots;
	t->cap = larger.cap;
}

/* Lines come in their order: the first stays. */
static void add(struct table *t, uint64_t message, int64_t offset)
{
	struct slot *slot;

	if (t->count * 2 >= t->cap)
		grow(t);
	slot = slot_of(t, message);
	if (slot->offset_plus_1)
		return;
	*slot = (struct slot){ message, offset + 1 };
	t->count++;
}

static struct table *table_of(struct store *s, const struct firsts_of *of)
{
	struct table *t;

	if (!s->firsts)
		s->firsts = mem_alloc(sizeof *s->firsts);
	for (size_t i = 0; i < TABLES; i++) {
		t = &s->firsts->tables[i];
		if (t->session == of->session && t->reading == of->reading && t->to <= of->before)
			return t;
	}
	t = &s->firsts->tables[s->firsts->next++ % TABLES];
	mem_free(t->slots);
	*t = (struct table){ .session = of->session, .reading = of->reading };
	return t;
}

static enum status read_more(struct store *s, struct table *t, int64_t to, struct err *err)
{
	enum step step;
	STMT st = { 0 };

	if (stmt_use(s, &firsts_statements, FIRSTS_MORE, &st, err))
		return err_failed(err->status);
	stmt_int(&st, 1, t->session);
	stmt_int(&st, 2, t->to);
	stmt_int(&st, 3, to);
	while ((step = stmt_step(&st, err)) == STEP_ROW)
		add(t, (uint64_t)col_int(&st, 0), col_int(&st, 1));
	/* What failed is looked through again: what is there stays. */
	if (step == STEP_FAILED)
		return err_failed(err->status);
	t->to = to;
	return STATUS_OK;
}

enum status firsts_find(struct store *s, const struct firsts_of *of, uint64_t message, int64_t *out, struct err *err)
{
	struct table *t = table_of(s, of);

	*out = -1;
	if (t->to < of->before && read_more(s, t, of->before, err))
		return err_failed(err->status);
	if (t->count)
		*out = slot_of(t, message)->offset_plus_1 - 1;
	return STATUS_OK;
}
