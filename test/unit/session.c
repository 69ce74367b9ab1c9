/*
 * Finding sessions and nodes by the beginnings of their ids.
 */
#include "store/session.h"

#include "t.h"
#include "tree.h"

#include <string.h>

/* A transcript whose lines have the uuids "n<from>", "n<from+1>" ... */
static void add_lines(struct buf *out, unsigned from, unsigned count)
{
	for (unsigned i = from; i < from + count; i++)
		buf_printf(out, "{\"type\":\"user\",\"uuid\":\"n%u\",\"message\":{\"content\":\"word\"}}\n",
			   i);
}

static struct uuid line_id(unsigned n)
{
	struct node_name name = { 0 };

	snprintf(name.room, sizeof name.room, "n%u", n);
	name.uuid = str_of(name.room);
	return node_id(&name, PART_LINE);
}

/* The first number from `from` on whose line has an id with these first two bytes. */
static unsigned number_with(unsigned from, uint8_t a, uint8_t b)
{
	struct uuid id;

	do
		id = line_id(from++);
	while (id.b[0] != a || id.b[1] != b);
	return from - 1;
}

static enum status make_store(const char *dir, struct str bytes, struct store **s, struct err *err)
{
	if (!tree_write(dir, "tree", 0xabcd1234, bytes, O_TRUNC))
		return err_fail(err, STATUS_IO, "writing a transcript");
	if (tree_store(dir, "s", NULL, NULL, s, err))
		return err_failed(err->status);
	return tree_sync(dir, "tree", *s, NULL, err);
}

/* How many are found; the first of them in *first. */
static size_t found_by(struct t *t, struct store *s, const char *prefix, struct id_match *first)
{
	struct id_match list[16];
	size_t count = 0;
	struct err err;

	if (id_search(s, str_of(prefix), 0, list, COUNT(list), &count, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	if (count && first)
		*first = list[0];
	return count;
}

static void check_prefixes(struct t *t, struct store *s, const struct uuid *id)
{
	char text[UUID_TEXT + 1], plain[UUID_TEXT + 1], upper[UUID_TEXT + 1];
	struct id_match match = { 0 };

	uuid_print(id, text);
	for (int n = 8; n <= UUID_TEXT; n++) {
		size_t k = 0;

		for (int i = 0; i < n; i++) {
			upper[i] = text[i] >= 'a' ? (char)(text[i] - 32) : text[i];
			if (text[i] != '-')
				plain[k++] = text[i];
		}
		upper[n] = plain[k] = '\0';
		EQ(found_by(t, s, plain, &match), 1);
		CHECK(uuid_eq(&match.id, id));
		EQ(found_by(t, s, upper, &match), 1);
		CHECK(uuid_eq(&match.id, id));
	}
}

TEST(ids_are_found_at_both_ends_of_the_numbers)
{
	static const uint8_t ends[][2] = { { 0, 0 }, { 0x7f, 0xff }, { 0x80, 0 }, { 0xff, 0xff } };
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct store *s CLEANUP(store_closep) = NULL;
	struct uuid ids[COUNT(ends)];
	char prefix[8];
	struct err err;

	for (size_t i = 0; i < COUNT(ends); i++) {
		unsigned n = number_with(1, ends[i][0], ends[i][1]);

		ids[i] = line_id(n);
		add_lines(&text, n, 1);
	}
	OK(make_store(t_tmpdir(t), buf_as_str(&text), &s, &err));
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct id_match match = { 0 };

		snprintf(prefix, sizeof prefix, "%02x%02x", ends[i][0], ends[i][1]);
		EQ(found_by(t, s, prefix, &match), 1);
		CHECK(uuid_eq(&match.id, &ids[i]));
		CHECK(!match.is_session);
		check_prefixes(t, s, &ids[i]);
	}
}

TEST(every_kind_of_node_is_found)
{
	static const char line[] =
		"{\"type\":\"assistant\","
		"\"uuid\":\"AAAAAAAA-0000-4000-8000-00000000000A\",\"message\":{\"id\":\"m\","
		"\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}}\n"
		"{\"type\":\"x\"}\n";
	struct node_name name = { .uuid = STR("aaaaaaaa-0000-4000-8000-00000000000a") };
	struct store *s CLEANUP(store_closep) = NULL;
	char text[UUID_TEXT + 1];
	struct id_match match = { 0 };
	struct err err;

	OK(make_store(t_tmpdir(t), str_of(line), &s, &err));
	for (int part = PART_MESSAGE; part < 2; part++) {
		struct uuid id = node_id(&name, part);

		match = (struct id_match){ 0 };
		check_prefixes(t, s, &id);
		uuid_print(&id, text);
		EQ(found_by(t, s, text, &match), 1);
		EQ(match.node.part, part);
		EQ(match.node.offset, 0);
		EQ(match.node.type, 2);
	}
	EQ(found_by(t, s, "abcd", &match), 1);
	CHECK(match.is_session);
	EQ(found_by(t, s, "ABCD-1234-0000", &match), 1);
	/* A line without uuid is only a line. */
	EQ(tree_ask(s, "SELECT count(*) FROM node_key WHERE part > -3"), 4 + 1);
}

TEST(what_is_no_beginning_finds_nothing)
{
	static const char *const prefixes[] = {
		"",
		"abc",
		"a-b-c",
		"----",
		"abcx",
		"@@@@",
		"abcd1234000040008000000000000000f",
		"abcd 1234",
		"\xff\xff\xff\xff",
	};
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	OK(make_store(t_tmpdir(t), STR("{}\n"), &s, &err));
	for (size_t i = 0; i < COUNT(prefixes); i++)
		EQ(found_by(t, s, prefixes[i], NULL), 0);
	EQ(found_by(t, s, "abcd12340000-4000-8000-0000-0000-0000-0000", NULL), 0);
	EQ(found_by(t, s, "-a-b-c-d-", NULL), 1);
}

TEST(no_more_are_found_than_wanted)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct store *s CLEANUP(store_closep) = NULL;
	struct id_match list[8];
	unsigned n = 1;
	struct err err;
	size_t count;

	for (int i = 0; i < 5; i++) {
		n = number_with(n, 0x80, 0x01) + 1;
		add_lines(&text, n - 1, 1);
	}
	OK(make_store(t_tmpdir(t), buf_as_str(&text), &s, &err));
	EQ(found_by(t, s, "8001", NULL), 5);
	for (size_t most = 0; most < 8; most++) {
		OK(id_search(s, STR("8001"), 0, list, most, &count, &err));
		EQ(count, size_min(most, 5));
	}
}

TEST(a_node_in_two_files_is_one)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	struct uuid id = line_id(5);
	char whole[UUID_TEXT + 1];
	struct id_match match = { 0 }, within[4] = { 0 };
	struct err err;
	size_t count;

	uuid_print(&id, whole);
	add_lines(&text, 1, 10);
	add_lines(&text, 5, 1); /* also twice in one file */
	NEED(tree_write(dir, "tree", 1, buf_as_str(&text), O_TRUNC) &&
	     tree_write(dir, "tree", 2, buf_as_str(&text), O_TRUNC));
	NEED(tree_write(dir, "other", 1, buf_as_str(&text), O_TRUNC));
	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	OK(tree_sync(dir, "other", s, NULL, &err));
	EQ(found_by(t, s, whole, &match), 1);
	EQ(match.session, tree_ask(s, "SELECT min(id) FROM mirror_session"));
	EQ(found_by(t, s, "00000001", &match), 2); /* a session of two roots may differ in them */
	CHECK(match.is_session);
	for (int64_t row = 1; row <= 3; row++) {
		OK(id_search(s, str_of(whole), row, within, COUNT(within), &count, &err));
		EQ(count, 1);
		EQ(within[0].session, row);
	}
	OK(id_search(s, str_of(whole), 4, within, COUNT(within), &count, &err));
	EQ(count, 0);
}

struct listing {
	struct buf ids; /* first digits of sessions */
};

static enum status take_session(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct listing *l = ctx;

	(void)go_on;
	(void)err;
	buf_printf(&l->ids, "%x ", session->id.b[3]);
	return STATUS_OK;
}

static void check_listed(struct t *t, struct store *s, const char *project, const char *want)
{
	struct listing l = { BUF_INIT(KIB) };
	struct err err;

	if (session_each(s, project ? str_of(project) : (struct str){ 0 }, take_session, &l, &err))
		t_fail(t, __FILE__, __LINE__, "%s", err.text);
	EQS(buf_as_str(&l.ids), str_of(want));
	buf_release(&l.ids);
}

static enum status take_project(void *ctx, const struct project *p, struct err *err)
{
	(void)err;
	buf_printf(ctx, "%.*s %" PRId64 "; ", STR_ARG(p->path), p->sessions);
	return STATUS_OK;
}

static void check_projects(struct t *t, struct store *s, const char *want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(KIB);
	struct err err;

	OK(project_each(s, take_project, &got, &err));
	EQS(buf_as_str(&got), str_of(want));
}

TEST(sessions_are_listed_by_time_and_folder)
{
	static const struct {
		const char *cwd, *time;
	} made[] = {
		{ "/home/me/app", "2026-01-01T00:00:00Z" },
		{ "/home/me/app/sub", "2026-03-01T00:00:00Z" },
		{ "/home/me/application", "2026-02-01T00:00:00Z" },
		{ "/srv/app", "2026-04-01T00:00:00Z" },
		{ "", "" },
	};
	struct store *s CLEANUP(store_closep) = NULL;
	const char *dir = t_tmpdir(t);
	char line[256];
	struct err err;

	for (uint32_t i = 0; i < COUNT(made); i++) {
		snprintf(line, sizeof line,
			 "{\"type\":\"user\",\"uuid\":\"u%u\",\"cwd\":\"%s\",\"timestamp\":\"%s\"}\n", i,
			 made[i].cwd, made[i].time);
		NEED(tree_write(dir, "tree", i + 1, str_of(line), O_TRUNC));
	}
	OK(tree_store(dir, "s", NULL, NULL, &s, &err));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	check_listed(t, s, NULL, "4 2 3 1 5 "); /* who has no time is last */
	check_listed(t, s, "/home/me/app", "2 1 ");
	check_listed(t, s, "/", "4 2 3 1 ");
	check_listed(t, s, "/home", "2 3 1 ");
	check_listed(t, s, "/home/me/ap", "");
	check_listed(t, s, "app", "");
	check_listed(t, s, "%", "");
	check_projects(t, s, "/srv/app 1; /home/me/app/sub 1; /home/me/application 1; /home/me/app 1; ");
	snprintf(line, sizeof line, "{\"cwd\":\"/home/me/app\",\"timestamp\":\"2026-05-01T00:00:00Z\"}\n");
	NEED(tree_write(dir, "tree", 9, str_of(line), O_TRUNC));
	OK(tree_sync(dir, "tree", s, NULL, &err));
	check_projects(t, s, "/home/me/app 2; /srv/app 1; /home/me/app/sub 1; /home/me/application 1; ");
}

struct lines_seen {
	int count;
	int64_t last;
};

static enum status see_line(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	struct lines_seen *seen = ctx;

	(void)err;
	(void)length;
	seen->count++;
	seen->last = offset;
	return STATUS_OK;
}

TEST(a_message_has_all_its_lines)
{
	static const char text[] =
		"{\"type\":\"assistant\",\"uuid\":\"a1\",\"message\":{\"id\":\"x\",\"content\":\"1\"}}\n"
		"{\"type\":\"user\",\"uuid\":\"b1\",\"message\":{\"content\":\"2\"}}\n"
		"{\"type\":\"assistant\",\"uuid\":\"a2\",\"message\":{\"id\":\"x\",\"content\":\"3\"}}\n"
		"{\"type\":\"assistant\",\"uuid\":\"c1\",\"message\":{\"id\":\"y\",\"content\":\"4\"}}\n";
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct store *s CLEANUP(store_closep) = NULL;
	struct lines_seen seen = { 0 };
	struct node_name name;
	struct node node;
	struct err err;

	OK(make_store(t_tmpdir(t), str_of(text), &s, &err));
	OK(entry_get(s, 1, 0, &mem, &node, &name, &err));
	EQS(name.uuid, STR("a1"));
	EQ(node.first, 0);
	OK(message_lines(s, &node, see_line, &seen, &err));
	EQ(seen.count, 2);
	EQ(seen.last, strstr(text, "{\"type\":\"assistant\",\"uuid\":\"a2\"") - text);
	OK(entry_get(s, 1, strstr(text, "{\"type\":\"user\"") - text, &mem, &node, &name, &err));
	seen = (struct lines_seen){ 0 };
	OK(message_lines(s, &node, see_line, &seen, &err));
	EQ(seen.count, 1);
	CHECK(entry_get(s, 1, 3, &mem, &node, &name, &err) != STATUS_OK);
}

TESTS(CASE(ids_are_found_at_both_ends_of_the_numbers), CASE(every_kind_of_node_is_found),
      CASE(what_is_no_beginning_finds_nothing), CASE(no_more_are_found_than_wanted),
      CASE(a_node_in_two_files_is_one), CASE(sessions_are_listed_by_time_and_folder),
      CASE(a_message_has_all_its_lines))
