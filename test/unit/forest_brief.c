/*
 * Forks loaded briefly: whatever they look like, the forest is the one that all their lines make.
 * Conversations are made up at random: forks of forks, cut anywhere, with notes and lines of their own
 * between, rewound, repeated, out of order.
 */
#include "files.h"
#include "query/ways.h"
#include "t.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FORKS = 12, MOST_LINES = 120 };

/* A file: its lines are numbers of lines that are known, and how each is written here. */
struct made {
	uint32_t lines[2 * MOST_LINES], count;
	bool odd;
	uint32_t forked; /* so many say where they come from */
};

struct making {
	unsigned seed;
	struct made files[MOST_FORKS];
	uint32_t file_count, line_count;
	uint32_t parents[4096]; /* by line; 0 = none */
};

static uint32_t pick(struct making *m, uint32_t below)
{
	m->seed = m->seed * 1103515245u + 12345u;
	return m->seed / 65536u % below;
}

static void session_name(uint32_t file, char out[UUID_TEXT + 1])
{
	snprintf(out, UUID_TEXT + 1, "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e%02x", file & 0xff);
}

static void line_name(uint32_t line, char out[UUID_TEXT + 1])
{
	snprintf(out, UUID_TEXT + 1, "1c7f3c1e-8f5a-4f0c-9d53-0a1b2c3d%04x", line & 0xffff);
}

static void go_on(struct making *m, struct made *f, uint32_t count)
{
	for (uint32_t i = 0; i < count && f->count < MOST_LINES; i++) {
		uint32_t parent = f->count ? f->lines[f->count - 1] : 0;

		/* A rewind, now and then. */
		if (f->count > 2 && pick(m, 30) == 0)
			parent = f->lines[pick(m, f->count)];
		m->parents[++m->line_count] = parent;
		f->lines[f->count++] = m->line_count;
	}
}

static void make(struct making *m)
{
	go_on(m, &m->files[m->file_count++], 20 + pick(m, MOST_LINES - 30));
	while (m->file_count < 2 + pick(m, MOST_FORKS - 2) || m->file_count < 3) {
		const struct made *from = &m->files[pick(m, m->file_count)];
		struct made *f = &m->files[m->file_count++];
		uint32_t copied;

		*f = *from;
		f->count = pick(m, 4) ? 1 + pick(m, from->count) : from->count;
		copied = f->count;
		go_on(m, f, pick(m, 5) ? pick(m, 12) : pick(m, 80));
		f->odd = pick(m, 8) == 0;
		f->forked = m->seed & 1 << 20 ? copied : 0;
	}
}

static void write_note(struct making *m, const struct made *f, uint32_t upto, uint32_t file, struct buf *out)
{
	char session[UUID_TEXT + 1], leaf[UUID_TEXT + 1];

	session_name(file, session);
	line_name(f->lines[pick(m, upto + 1)], leaf);
	if (pick(m, 2))
		buf_printf(out, "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"%s\"}\n", session);
	else
		buf_printf(out,
			   "{\"type\":\"last-prompt\",\"lastPrompt\":\"x\",\"leafUuid\":\"%s\",\"sessionId\":"
			   "\"%s\"}\n",
			   leaf, session);
}

static void write_line(const struct making *m, uint32_t line, uint32_t file, bool odd, bool forked, struct buf *out)
{
	char session[UUID_TEXT + 1], id[UUID_TEXT + 1], parent[UUID_TEXT + 1];
	bool user = line % 2;

	session_name(file, session);
	line_name(line, id);
	line_name(m->parents[line], parent);
	buf_printf(out, "{\"type\":\"%s\",\"uuid\":\"%s\",\"sessionId\":\"%s\"", user ? "user" : "assistant",
		   id, session);
	if (m->parents[line])
		buf_printf(out, ",\"parentUuid\":\"%s\"", parent);
	if (forked)
		buf_printf(out, ",\"forkedFrom\":{\"messageUuid\":\"%s\"}", id);
	buf_printf(out, ",\"timestamp\":\"2026-01-01T%02u:%02u:%02u.000Z\",\"message\":{\"role\":\"%s\"",
		   line / 3600, line / 60 % 60, line % 60, user ? "user" : "assistant");
	/* Lines of one answer, some of them in one fork and some in another. */
	if (!user)
		buf_printf(out, ",\"id\":\"msg_%u\"", line / 4);
	buf_printf(out, ",\"content\":[{\"type\":\"text\",\"text\":\"line %u%s\"}]}}\n", line,
		   odd ? " differently" : "");
}

static enum status put_file(struct making *m, struct files *files, uint32_t file, struct err *err)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	const struct made *f = &m->files[file];
	char session[UUID_TEXT + 1];
	bool notes = pick(m, 2);

	for (uint32_t i = 0; i < f->count; i++) {
		write_line(m, f->lines[i], file, f->odd && pick(m, 20) == 0, i < f->forked, &text);
		if (notes && pick(m, 10) == 0)
			write_note(m, f, i, file, &text);
		/* Twice, or out of order, where a file is odd. */
		if (f->odd && pick(m, 30) == 0)
			write_line(m, f->lines[pick(m, f->count)], file, false, false, &text);
	}
	session_name(file, session);
	return files_put(files, session, buf_as_str(&text), err);
}

/* ---- What both say --------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_key(struct buf *out, const struct forest *f, uint32_t message)
{
	char text[UUID_TEXT + 1] = "none";

	if (message != FOREST_NONE)
		uuid_print(&forest_line(f, f->messages[message].first)->key, text);
	buf_printf(out, " %s", text);
}

/* A line for every message and every file, sorted. */
static void describe(const struct ground *g, struct arena *mem, struct buf *out)
{
	const struct forest *f = &g->grove.forest;
	char **lines = arena_alloc(mem, (f->order_count + f->source_count + 1) * sizeof *lines),
	     id[UUID_TEXT + 1];
	size_t count = 0;

	for (uint32_t i = 0; i < f->order_count + f->source_count; i++) {
		struct buf one CLEANUP(buf_release) = BUF_INIT(MIB);
		uint32_t m = i < f->order_count ? f->order[i] : g->turns.leaves[i - f->order_count];

		if (i >= f->order_count) {
			uuid_print(&f->sources[i - f->order_count].session.id, id);
			buf_printf(&one, "%s", id);
		}
		add_key(&one, f, m);
		if (m != FOREST_NONE) {
			const struct way *w = &g->ways.list[m];

			add_key(&one, f, f->messages[m].prev);
			add_key(&one, f, w->from);
			add_key(&one, f, f->messages[m].turn);
			uuid_print(&g->grove.trees[g->grove.spots[m].tree].id, id);
			buf_printf(&one,
				   " role %d count %u branches %u live %d turn %d messages %u heads %u "
				   "wanted %d tree %s",
				   f->messages[m].role, f->messages[m].count, f->messages[m].branches,
				   f->messages[m].live, (int)g->turns.list[g->turns.of[m]].number,
				   w->messages, w->heads, w->wanted, id);
		}
		lines[count] = arena_alloc(mem, one.n + 1);
		memcpy(lines[count++], one.p, one.n);
	}
	qsort(lines, count, sizeof *lines, by_text);
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s\n", lines[i]);
}

static uint32_t briefs(const struct forest *f)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->source_count; s++)
		n += f->sources[s].base != FOREST_NONE;
	return n;
}

/* Whichever file is asked for; *brief counts those of which only the end was loaded. */
static enum status compare(struct t *t, struct files *files, uint32_t file, uint32_t *brief, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct ground all CLEANUP(ground_release) = GROUND_INIT, some CLEANUP(ground_release) = GROUND_INIT;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf want CLEANUP(buf_release) = BUF_INIT(64 * MIB),
			got CLEANUP(buf_release) = BUF_INIT(64 * MIB);
	char session[UUID_TEXT + 1];
	int64_t row;

	session_name(file, session);
	if (files_find(files, session, &row, err) || read_begin(files->s, &snapshot, err) ||
	    ground_load(files->s, row, &all, err) || ground_load_brief(files->s, row, &some, err))
		return err_failed(err->status);
	describe(&all, &mem, &want);
	describe(&some, &mem, &got);
	EQS(buf_as_str(&got), buf_as_str(&want));
	CHECK(briefs(&all.grove.forest) == 0);
	*brief += briefs(&some.grove.forest);
	return STATUS_OK;
}

/* Forks of one seed; *brief as above. */
static void try_seed(struct t *t, unsigned seed, uint32_t *brief)
{
	struct making m = { .seed = seed };
	struct err err;
	FILES f;

	make(&m);
	OK(files_init(t, &f, &err));
	for (uint32_t file = 0; file < m.file_count; file++) {
		OK(put_file(&m, &f, file, &err));
		/* All at once, or as they grow. */
		if (pick(&m, 3) == 0)
			OK(files_sync(&f, &err));
	}
	OK(files_sync(&f, &err));
	for (uint32_t file = 0; file < m.file_count; file++)
		OK(compare(t, &f, file, brief, &err));
}

TEST(forks_loaded_briefly_are_the_forest_that_all_their_lines_make)
{
	unsigned rounds = t_is_full() ? 400 : 40;
	uint32_t brief = 0;

	for (unsigned i = 0; i < rounds; i++)
		try_seed(t, t_seed() + i, &brief);
	/* It would be the same, too, if all were loaded every time. */
	CHECK(brief > rounds);
}

/* A file has lines of an answer in another order than those of which only the end is loaded. */
TEST(what_is_not_loaded_counts_when_files_differ_in_order)
{
	uint32_t brief = 0;

	try_seed(t, 14239, &brief);
	CHECK(brief > 0);
}

TESTS(CASE(forks_loaded_briefly_are_the_forest_that_all_their_lines_make),
      CASE(what_is_not_loaded_counts_when_files_differ_in_order))
