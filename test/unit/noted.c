/*
 * Which documents a tag means, against the plainest way to say it: a document has a tag when its block,
 * line, message, turn or session has it.
 */
#include "query/noted.h"

#include "claude/record.h"
#include "t.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#define STORE struct store CLEANUP(store_closep)

enum { SESSIONS = 3, TURNS = 5, ROUNDS = 150, MOST_IDS = 1000 };

/* A turn: a prompt, an answer in two lines of several blocks each, a result, a note of the client. */
static void put_turn(struct buf *out, int session, int turn, bool shared)
{
	/* What two sessions share has the same uuids in both. */
	int of = shared ? 0 : session;
	struct {
		const char *type, *rest;
	} lines[] = {
		{ "user", "\"message\":{\"content\":\"walrus prompt\"}" },
		{ "assistant",
		  "\"message\":{\"id\":\"m%d%d\",\"content\":[{\"type\":\"text\",\"text\":\"walrus one\"},"
		  "{\"type\":\"thinking\",\"thinking\":\"walrus two\"}]}" },
		{ "assistant",
		  "\"message\":{\"id\":\"m%d%d\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t%d%d\","
		  "\"name\":\"Bash\",\"input\":{\"command\":\"walrus\"}}]}" },
		{ "user",
		  "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t%d%d\",\"content\":"
		  "\"walrus out\"}]}" },
		{ "system", "\"content\":\"walrus note\"" },
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		char rest[400];
		size_t n = 0;

		/* Each %d%d is the session and the turn. */
		for (const char *c = lines[i].rest; *c && n + 8 < sizeof rest;) {
			if (strncmp(c, "%d%d", 4) == 0) {
				n += (size_t)snprintf(rest + n, sizeof rest - n, "%d%d", of, turn);
				c += 4;
			} else {
				rest[n++] = *c++;
			}
		}
		rest[n] = '\0';
		buf_printf(out,
			   "{\"type\":\"%s\",\"uuid\":\"%02d%02d%02zu00-0000-4000-8000-000000000000\","
			   "\"timestamp\":"
			   "\"2026-05-01T00:%02d:%02zu.000Z\",%s}\n",
			   lines[i].type, of, turn, i, turn, i, rest);
	}
}

static enum status make(const char *dir, struct store **s, struct err *err)
{
	for (int i = 0; i < SESSIONS; i++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

		for (int turn = 0; turn < TURNS; turn++)
			put_turn(&text, i, turn, turn < 2 && i < 2);
		if (!tree_write(dir, "tree", 0x12340001 + (uint32_t)i, buf_as_str(&text), O_TRUNC))
			return err_fail(err, STATUS_IO, "writing a transcript");
	}
	return tree_store(dir, "s", NULL, NULL, s, err) ? err_failed(err->status)
							: tree_sync(dir, "tree", *s, NULL, err);
}

/* ---- All there is ------------------------------------------------------------------- */

struct one {
	struct doc doc;
	struct uuid ids[5]; /* block, line, message, turn, session */
};

struct world {
	struct store *s;
	struct one docs[MOST_IDS];
	size_t count;
	struct arena mem;
};

static void world_release(struct world *w)
{
	arena_release(&w->mem);
	store_close(w->s);
}

static enum status keep_turn(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	(void)length;
	(void)err;
	*(int64_t *)ctx = offset;
	return STATUS_OK;
}

/* The turn a line is in begins with it, or with the nearest before it that begins one. */
static enum status turn_at(struct world *w, const struct doc *doc, struct uuid *out, struct err *err)
{
	struct node_name name;
	struct node line;
	int64_t first = -1;

	if (entry_near(w->s, doc->session, doc->offset + 1, true, ENTRY_TURN, 1, keep_turn, &first, err) ||
	    entry_get(w->s, doc->session, first, &w->mem, &line, &name, err))
		return err_failed(err->status);
	*out = node_id(&name, PART_TURN);
	return STATUS_OK;
}

static enum status take_doc(void *ctx, int64_t id, const struct doc *doc, struct err *err)
{
	struct world *w = ctx;
	struct one *o = &w->docs[w->count++];
	struct session session;
	struct node_name name;
	struct node line;

	(void)id;
	o->doc = *doc;
	if (entry_get(w->s, doc->session, doc->offset, &w->mem, &line, &name, err) ||
	    entry_message(w->s, &line, &name, &w->mem, &o->ids[2], err) || turn_at(w, doc, &o->ids[3], err) ||
	    session_get(w->s, doc->session, &w->mem, &session, err))
		return err_failed(err->status);
	o->ids[1] = node_id(&name, PART_LINE);
	o->ids[0] = node_id(&name, doc->block == DOC_LINE ? PART_LINE : doc->block);
	o->ids[4] = session.id;
	return STATUS_OK;
}

/* ---- Tags ----------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static enum status tag(struct world *w, const struct uuid *id, int which, const char *name, struct err *err)
{
	static const char *const kinds[] = { "block", "line", "message", "turn", "session" };
	struct annotation a = { .kind = ANNOTATION_TAG,
				.name = str_of(name),
				.on = { .kind = str_of(kinds[which]), .id = *id } };
	enum annotation_done done;

	return annotation_add(w->s, &a, false, &w->mem, &done, err);
}

static bool is_among(const struct uuid *list, size_t count, const struct uuid *id)
{
	for (size_t i = 0; i < count; i++)
		if (uuid_eq(&list[i], id))
			return true;
	return false;
}

/* One random set of things, tagged, and every document asked. */
static void try_round(struct t *t, struct world *w, int round, uint64_t *random)
{
	struct noted noted CLEANUP(noted_release) = NOTED_INIT;
	struct uuid tagged[8];
	size_t count = 1 + next_random(random) % COUNT(tagged), yes = 0;
	char name[32];
	struct err err;

	snprintf(name, sizeof name, "r%d", round);
	for (size_t i = 0; i < count; i++) {
		const struct one *o = &w->docs[next_random(random) % w->count];
		/* Sessions are rare: they cover the rest. */
		int which = (int)(next_random(random) % 17 ? next_random(random) % 4 : 4);

		tagged[i] = o->ids[which];
		OK(tag(w, &o->ids[which], which, name, &err));
	}
	OK(noted_by_tag(w->s, str_of(name), &noted, &err));
	for (size_t i = 0; i < w->count; i++) {
		const struct one *o = &w->docs[i];
		bool want = false;

		for (size_t k = 0; k < COUNT(o->ids); k++)
			want |= is_among(tagged, count, &o->ids[k]);
		yes += want;
		if (noted_has(&noted, &o->doc) != want)
			t_fail(t, __FILE__, __LINE__,
			       "round %d: document %zu, session %lld at %lld.%u, is %s tagged", round, i,
			       (long long)o->doc.session, (long long)o->doc.offset, o->doc.block,
			       want ? "" : "not");
		CHECK(!want || noted_has_session(&noted, o->doc.session));
	}
	CHECK(yes > 0);
}

TEST(a_document_has_the_tags_of_all_it_is_a_part_of)
{
	struct world w CLEANUP(world_release) = { 0 };
	uint64_t random = 42;
	struct err err;

	OK(make(t_tmpdir(t), &w.s, &err));
	OK(doc_each(w.s, take_doc, &w, &err));
	EQ(w.count, SESSIONS * TURNS * 6);
	for (int round = 0; round < ROUNDS && !t->failures; round++)
		try_round(t, &w, round, &random);
	/* Other names are others', also where one begins the other. */
	{
		struct noted none CLEANUP(noted_release) = NOTED_INIT;
		struct noted all CLEANUP(noted_release) = NOTED_INIT;

		OK(noted_by_tag(w.s, STR("r"), &none, &err));
		EQ(none.count, 0);
		OK(noted_by_tag(w.s, STR("R1*"), &all, &err));
		CHECK(all.count > 0);
	}
}

TESTS(CASE(a_document_has_the_tags_of_all_it_is_a_part_of))
