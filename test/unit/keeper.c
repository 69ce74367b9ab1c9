/*
 * The keeper: files that are named are mirrored, with what lies beside them, and the conversation's head is
 * known.
 */
#include "live/keeper.h"

#include "files.h"
#include "query/head.h"

#include <string.h>

#define ONE   "11111111-1111-4111-8111-111111111111"
#define TWO   "22222222-2222-4222-8222-222222222222"
#define USER  "aaaaaaaa-0000-4000-8000-000000000001"
#define SAID  "aaaaaaaa-0000-4000-8000-000000000002"
#define MORE  "aaaaaaaa-0000-4000-8000-000000000003"
#define STAMP "\"timestamp\":\"2026-11-16T12:00:00.000Z\",\"sessionId\":\"" ONE "\",\"isSidechain\":false"

static const char prompt[] = "{\"type\":\"user\",\"uuid\":\"" USER "\",\"parentUuid\":null," STAMP
			     ",\"message\":{\"role\":\"user\",\"content\":\"Hello?\"}}\n";
static const char answer[] = "{\"type\":\"assistant\",\"uuid\":\"" SAID "\",\"parentUuid\":\"" USER
			     "\"," STAMP ",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{"
			     "\"type\":\"thinking\",\"thinking\":\"Hm.\"}]}}\n";
static const char second[] = "{\"type\":\"assistant\",\"uuid\":\"" MORE "\",\"parentUuid\":\"" SAID
			     "\"," STAMP ",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{"
			     "\"type\":\"text\",\"text\":\"Hello.\"}]}}\n";

static bool is_id(const struct uuid *id, const char *uuid, int part)
{
	struct node_name name = { .uuid = str_of(uuid) };
	struct uuid wanted = node_id(&name, part);

	return uuid_eq(id, &wanted);
}

static struct str path_of(const struct files *f, const char *name, char out[LIMIT_PATH])
{
	snprintf(out, LIMIT_PATH, "%.2000s/projects/p/%s", f->tree, name);
	return str_of(out);
}

static enum status put(const struct files *f, const char *name, const char *bytes, struct err *err)
{
	char path[LIMIT_PATH], *slash;

	path_of(f, name, path);
	slash = strrchr(path, '/');
	*slash = 0;
	if (file_make_dirs(path, err))
		return err_failed(err->status);
	*slash = '/';
	return file_write_atomic(path, str_of(bytes), 0600, err);
}

/* Files that a sync would still bring in. */
static int64_t count_left(const struct files *f)
{
	struct sync_report r;
	struct err err;

	if (sync_preview(f->s, &(struct sync_options){ .dir = f->tree }, &r, &err))
		return -1;
	return r.count[SYNC_ADDED] + r.count[SYNC_GREW];
}

TEST(what_was_written_is_there_and_the_head_is_its_last_line)
{
	FILES f;
	char path[LIMIT_PATH];
	struct keeper *k;
	struct kept kept;
	struct uuid session, one;
	struct err err;

	uuid_parse(STR(ONE), &one);
	OK(files_init(t, &f, &err));
	OK(put(&f, ONE ".jsonl", prompt, &err));
	OK(put(&f, ONE "/subagents/agent-a1.jsonl", "{}\n", &err));
	OK(put(&f, ONE "/subagents/agent-a1.meta.json", "{}", &err));
	OK(put(&f, ONE "/tool-results/x.txt", "much", &err));
	k = keeper_new(f.s, &(struct keeper_ask){ 0 });
	CHECK(keeper_touch(k, path_of(&f, ONE ".jsonl", path), &session));
	CHECK(uuid_eq(&session, &one));
	CHECK(!keeper_touch(k, path_of(&f, ONE "/subagents/agent-a1.jsonl", path), &session));
	keeper_end(k, &one, &kept);
	keeper_free(k);
	CHECK(kept.head.has_session && kept.head.has_head && kept.head.has_line && kept.head.has_tree);
	CHECK(uuid_eq(&kept.head.session, &one));
	CHECK(is_id(&kept.head.head, USER, PART_MESSAGE));
	CHECK(is_id(&kept.head.line, USER, PART_LINE));
	CHECK(is_id(&kept.head.tree, USER, PART_TREE));
	CHECK(count_left(&f) == 0);
}

TEST(a_head_is_the_message_and_how_much_of_it_is_there)
{
	FILES f;
	struct named_head head;
	struct uuid one, two;
	struct err err;
	char all[sizeof prompt + sizeof answer + sizeof second];

	uuid_parse(STR(ONE), &one);
	uuid_parse(STR(TWO), &two);
	OK(files_init(t, &f, &err));
	snprintf(all, sizeof all, "%s%s", prompt, answer);
	OK(put(&f, ONE ".jsonl", all, &err));
	OK(files_sync(&f, &err));
	OK(head_of_session(f.s, &one, &head, &err));
	CHECK(is_id(&head.head, SAID, PART_MESSAGE));
	CHECK(is_id(&head.line, SAID, PART_LINE));
	snprintf(all, sizeof all, "%s%s%s", prompt, answer, second);
	OK(put(&f, ONE ".jsonl", all, &err));
	OK(put(&f, TWO ".jsonl", "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"" TWO "\"}\n",
	       &err));
	OK(files_sync(&f, &err));
	OK(head_of_session(f.s, &one, &head, &err));
	CHECK(is_id(&head.head, SAID, PART_MESSAGE));
	CHECK(is_id(&head.line, MORE, PART_LINE));
	OK(head_of_session(f.s, &two, &head, &err));
	CHECK(head.has_session && !head.has_head);
	uuid_parse(STR("33333333-3333-4333-8333-333333333333"), &two);
	OK(head_of_session(f.s, &two, &head, &err));
	CHECK(!head.has_session && !head.has_head);
}

TEST(what_is_not_the_clients_is_left_alone)
{
	FILES f;
	char path[LIMIT_PATH];
	struct keeper *k;
	struct kept kept;
	struct uuid session;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put(&f, TWO ".jsonl", prompt, &err));
	k = keeper_new(f.s, &(struct keeper_ask){ 0 });
	CHECK(!keeper_touch(k, STR("/etc/passwd"), &session));
	CHECK(!keeper_touch(k, STR("projects/p/" ONE ".jsonl"), &session));
	CHECK(!keeper_touch(k, STR("/projects/../../etc/passwd"), &session));
	CHECK(!keeper_touch(k, (struct str){ 0 }, &session));
	keeper_end(k, &(struct uuid){ 0 }, &kept);
	CHECK(!kept.head.has_session);
	CHECK(keeper_touch(k, path_of(&f, ONE ".jsonl", path), &session));	       /* not there */
	CHECK(!keeper_touch(k, STR("/elsewhere/projects/p/" ONE ".jsonl"), &session)); /* another client's */
	keeper_end(k, &session, &kept);
	CHECK(!kept.head.has_head);
	keeper_free(k);
	CHECK(count_left(&f) == 1);
	keeper_free(keeper_new(f.s, &(struct keeper_ask){ 0 }));
	keeper_free(NULL);
}

TESTS(CASE(what_was_written_is_there_and_the_head_is_its_last_line),
      CASE(a_head_is_the_message_and_how_much_of_it_is_there), CASE(what_is_not_the_clients_is_left_alone))
