/*
 * What a purge takes, what it leaves, and what tries to come back.
 */
#include "ingest/purge.h"

#include "files.h"
#include "ingest/scrub.h"
#include "store/archive.h"
#include "store/check.h"
#include "store/db.h"
#include "store/find.h"
#include "store/fulltext.h"
#include "store/gap.h"
#include "store/tombstone.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define A "aaaaaaaa-0000-4000-8000-000000000000"
#define B "bbbbbbbb-0000-4000-8000-000000000000"
#define C "cccccccc-0000-4000-8000-000000000000"

/* ---- Files ------------------------------------------------------------------ */

static void path_in(const struct files *f, const char *path, char out[LIMIT_PATH])
{
	snprintf(out, LIMIT_PATH, "%.2000s/%.1000s", f->tree, path);
}

static enum status put(struct files *f, const char *path, struct str bytes, struct err *err)
{
	char full[LIMIT_PATH], *slash;

	path_in(f, path, full);
	slash = strrchr(full, '/');
	*slash = '\0';
	if (file_make_dirs(full, err))
		return err_failed(err->status);
	*slash = '/';
	return file_write_atomic(full, bytes, 0600, err);
}

static enum status add(struct files *f, const char *path, struct str bytes, struct err *err)
{
	char full[LIMIT_PATH];
	FILE *out;

	path_in(f, path, full);
	out = fopen(full, "a");
	if (!out)
		return err_fail(err, STATUS_IO, "%s", full);
	fwrite(bytes.p, 1, bytes.n, out);
	fclose(out);
	return STATUS_OK;
}

static enum status sync_once(struct files *f, bool force, struct err *err)
{
	struct sync_report report;

	return sync_run(f->s, &(struct sync_options){ .dir = f->tree, .force = force }, &report, err);
}

static enum status gather(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	buf_str(ctx, bytes);
	return STATUS_OK;
}

/* A version of a file; number 0 = the newest. Empty when there is none. */
static void version(struct files *f, const char *path, uint64_t number, struct buf *out)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct source_info info;
	struct generation g;
	struct err err;

	buf_clear(out);
	if (source_find(f->s, str_of(path), &mem, &info, &err) == STATUS_OK &&
	    generation_pick(f->s, info.row, number, &g, &err) == STATUS_OK &&
	    archive_read(f->s, g.row, 0, g.length, gather, out, &err) != STATUS_OK)
		buf_text(out, err.text);
}

static int64_t versions(struct files *f, const char *path)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct source_info info;
	struct err err;

	return source_find(f->s, str_of(path), &mem, &info, &err) == STATUS_OK ? info.generations : 0;
}

static bool has(struct files *f, const char *path, uint64_t number, const char *text)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(16 * MIB);

	version(f, path, number, &all);
	return all.n && memmem(all.p, all.n, text, strlen(text));
}

static int64_t problems(struct files *f)
{
	struct check_report report = { 0 };
	struct err err;

	return check_run(f->s, &report, &err) ? -1 : report.problems;
}

/* ---- Lines ------------------------------------------------------------------ */

static struct str user(struct arena *mem, const char *session, const char *uuid, const char *parent,
		       const char *text)
{
	return arena_printf(
		mem,
		"{\"parentUuid\":%s%s%s,\"sessionId\":\"%s\",\"type\":\"user\",\"uuid\":\"%s\",\"timestamp\":"
		"\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/"
		"w\",\"message\":{\"role\":\"user\",\"content\":\"%s\"}}\n",
		parent ? "\"" : "", parent ? parent : "null", parent ? "\"" : "", session, uuid, text);
}

static struct str answer(struct arena *mem, const char *session, const char *uuid, const char *parent,
			 const char *id, const char *text)
{
	return arena_printf(
		mem,
		"{\"parentUuid\":\"%s\",\"sessionId\":\"%s\",\"type\":\"assistant\",\"uuid\":\"%s\","
		"\"timestamp\":"
		"\"2026-01-01T00:00:01.000Z\",\"message\":{\"id\":\"%s\",\"role\":\"assistant\",\"model\":"
		"\"m\",\"content\":"
		"[{\"type\":\"text\",\"text\":\"%s\"},{\"type\":\"text\",\"text\":\"and more\"}]}}\n",
		parent, session, uuid, id, text);
}

static const char *uuid_of(struct arena *mem, int n)
{
	return arena_printf(mem, "%08x-1111-4111-8111-111111111111", (unsigned)n).p;
}

static struct uuid part_of(const char *uuid, int part)
{
	struct node_name name = { .uuid = str_of(uuid) };

	return node_id(&name, part);
}

/* A conversation of a prompt and an answer. */
static enum status put_talk(struct files *f, struct arena *mem, const char *session, int first,
			    const char *prompt, const char *reply, struct err *err)
{
	struct buf all CLEANUP(buf_release) = BUF_INIT(MIB);

	buf_str(&all, user(mem, session, uuid_of(mem, first), NULL, prompt));
	buf_str(&all, answer(mem, session, uuid_of(mem, first + 1), uuid_of(mem, first), "msg_1", reply));
	return put(f, arena_printf(mem, "projects/p/%s.jsonl", session).p, buf_as_str(&all), err);
}

#define FILE_OF(s) "projects/p/" s ".jsonl"

static enum status purge(struct files *f, struct uuid id, struct purge_report *report, struct err *err)
{
	return purge_subject(f->s, &id, false, report, err);
}

/* ---- What goes --------------------------------------------------------------- */

TEST(a_message_goes_in_every_copy_also_those_with_other_ids)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct purge_report report;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "question one", "secret reply", &err));
	OK(put_talk(&f, &mem, B, 1, "question one", "secret reply", &err));  /* a fork: the same ids */
	OK(put_talk(&f, &mem, C, 11, "question one", "secret reply", &err)); /* an old one: fresh ids */
	OK(sync_once(&f, false, &err));
	OK(purge(&f, part_of(uuid_of(&mem, 2), PART_MESSAGE), &report, &err));
	EQ(report.files, 3);
	EQ(report.lines, 3);
	CHECK(!has(&f, FILE_OF(A), 0, "secret") && !has(&f, FILE_OF(B), 0, "secret") &&
	      !has(&f, FILE_OF(C), 0, "secret"));
	CHECK(has(&f, FILE_OF(A), 0, "question") && has(&f, FILE_OF(B), 0, "question") &&
	      has(&f, FILE_OF(C), 0, "question"));
	OK(sync_once(&f, true, &err));
	CHECK(!has(&f, FILE_OF(A), 0, "secret"));
	EQ(versions(&f, FILE_OF(A)), 1);
	EQ(problems(&f), 0);
}

TEST(a_block_takes_its_line_with_it_and_no_other)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct purge_report report;
	struct buf before CLEANUP(buf_release) = BUF_INIT(MIB), after CLEANUP(buf_release) = BUF_INIT(MIB);
	size_t feed;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "question", "secret", &err));
	OK(sync_once(&f, false, &err));
	version(&f, FILE_OF(A), 0, &before);
	OK(purge(&f, part_of(uuid_of(&mem, 2), 1), &report, &err));
	EQ(report.lines, 1);
	version(&f, FILE_OF(A), 0, &after);
	feed = str_find(buf_as_str(&before), '\n');
	EQ(after.n, before.n);
	EQS(str_sub(buf_as_str(&after), 0, feed + 1), str_sub(buf_as_str(&before), 0, feed + 1));
	CHECK(gap_is_filled(str_sub(buf_as_str(&after), feed + 1, SIZE_MAX)));
}

TEST(an_older_version_with_other_words_goes_too)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct purge_report report;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "question", "first secret", &err));
	OK(sync_once(&f, false, &err));
	OK(put_talk(&f, &mem, A, 1, "question", "second secret, longer", &err));
	OK(sync_once(&f, true, &err));
	EQ(versions(&f, FILE_OF(A)), 2);
	OK(purge(&f, part_of(uuid_of(&mem, 2), PART_LINE), &report, &err));
	EQ(report.lines, 2);
	CHECK(!has(&f, FILE_OF(A), 1, "secret") && !has(&f, FILE_OF(A), 2, "secret"));
	CHECK(has(&f, FILE_OF(A), 1, "question") && has(&f, FILE_OF(A), 2, "question"));
	EQ(problems(&f), 0);
}

TEST(a_session_takes_what_is_kept_by_its_id_and_leaves_what_others_have)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct buf copy CLEANUP(buf_release) = BUF_INIT(MIB);
	struct purge_report report;
	struct uuid id;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "shared question", "secret", &err));
	/* B has A's first line byte for byte, and goes on by itself. */
	buf_str(&copy, user(&mem, A, uuid_of(&mem, 1), NULL, "shared question"));
	buf_str(&copy, answer(&mem, B, uuid_of(&mem, 7), uuid_of(&mem, 1), "msg_7", "other"));
	OK(put(&f, FILE_OF(B), buf_as_str(&copy), &err));
	OK(put(&f, "history.jsonl",
	       STR("{\"display\":\"typed secret\",\"timestamp\":1,\"sessionId\":\"" A "\"}\n"
		   "{\"display\":\"typed there\",\"timestamp\":1,\"sessionId\":\"" B "\"}\n"),
	       &err));
	OK(put(&f, "todos/" A "-agent-" A ".json", STR("[{\"content\":\"secret\"}]"), &err));
	OK(put(&f, "tasks/" A "/1.json", STR("{\"subject\":\"secret\"}"), &err));
	OK(put(&f, "file-history/" A "/x@v1", STR("a secret in a line of code\n"), &err));
	OK(put(&f, "file-history/" B "/x@v1", STR("a secret in a line of code\n"), &err));
	OK(put(&f, "projects/p/" A "/tool-results/t.txt", STR("secret output\n"), &err));
	OK(put(&f, "projects/p/" A "/subagents/agent-1.jsonl",
	       user(&mem, A, uuid_of(&mem, 9), NULL, "secret task"), &err));
	OK(put(&f, "projects/p/" A "/subagents/agent-1.meta.json", STR("{\"description\":\"secret\"}"),
	       &err));
	OK(sync_once(&f, false, &err));
	uuid_parse(STR(A), &id);
	OK(purge(&f, id, &report, &err));
	EQ(report.files, 8);
	EQ(report.whole, 7);
	EQ(report.shared, 1);
	CHECK(!has(&f, FILE_OF(A), 0, "question") && !has(&f, "history.jsonl", 0, "typed secret"));
	CHECK(!has(&f, "tasks/" A "/1.json", 0, "secret") &&
	      !has(&f, "file-history/" A "/x@v1", 0, "secret"));
	CHECK(!has(&f, "projects/p/" A "/tool-results/t.txt", 0, "secret"));
	CHECK(has(&f, FILE_OF(B), 0, "shared question") && has(&f, "history.jsonl", 0, "typed there"));
	CHECK(has(&f, "file-history/" B "/x@v1", 0, "secret")); /* lines of code are no records */
	EQ(problems(&f), 0);
	/* It goes on, and nobody looks. */
	OK(add(&f, FILE_OF(A), user(&mem, A, uuid_of(&mem, 20), uuid_of(&mem, 2), "later secret"), &err));
	OK(put(&f, "tasks/" A "/2.json", STR("{\"subject\":\"later\"}"), &err));
	OK(sync_once(&f, false, &err));
	CHECK(!has(&f, FILE_OF(A), 0, "later"));
	EQ(versions(&f, "tasks/" A "/2.json"), 0);
}

TEST(a_tree_takes_all_its_sessions)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct purge_report report;
	struct uuid id;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "question", "secret", &err));
	OK(put_talk(&f, &mem, B, 1, "question", "secret", &err));
	OK(put(&f, FILE_OF(C), user(&mem, C, uuid_of(&mem, 50), NULL, "something else"), &err));
	OK(sync_once(&f, false, &err));
	uuid_parse(STR(B), &id);
	OK(purge_subject(f.s, &id, true, &report, &err));
	EQ(report.whole, 2);
	CHECK(!has(&f, FILE_OF(A), 0, "question") && !has(&f, FILE_OF(B), 0, "question") &&
	      has(&f, FILE_OF(C), 0, "else"));
}

TEST(a_turn_takes_its_messages_and_leaves_the_next)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct buf all CLEANUP(buf_release) = BUF_INIT(MIB);
	struct purge_report report;
	struct err err;

	OK(files_init(t, &f, &err));
	buf_str(&all, user(&mem, A, uuid_of(&mem, 1), NULL, "first question"));
	buf_str(&all, answer(&mem, A, uuid_of(&mem, 2), uuid_of(&mem, 1), "msg_1", "first reply"));
	buf_str(&all, answer(&mem, A, uuid_of(&mem, 3), uuid_of(&mem, 2), "msg_1", "first reply goes on"));
	buf_str(&all, user(&mem, A, uuid_of(&mem, 4), uuid_of(&mem, 3), "second question"));
	OK(put(&f, FILE_OF(A), buf_as_str(&all), &err));
	OK(sync_once(&f, false, &err));
	OK(purge(&f, part_of(uuid_of(&mem, 1), PART_TURN), &report, &err));
	EQ(report.lines, 3);
	CHECK(!has(&f, FILE_OF(A), 0, "first") && has(&f, FILE_OF(A), 0, "second"));
}

TEST(what_nobody_has_is_not_found_and_nothing_is_done)
{
	FILES f = { 0 };
	struct purge_report report;
	int64_t mark;
	struct err err;

	OK(files_init(t, &f, &err));
	EQ(purge(&f, (struct uuid){ .b = { 1 } }, &report, &err), STATUS_NOT_FOUND);
	OK(purge_mark(f.s, &mark, &err));
	EQ(mark, 0);
}

/* ---- What tries to come back --------------------------------------------------- */

/* A line of so many bytes. */
static struct str long_line(struct arena *mem, size_t n)
{
	char *text = arena_alloc(mem, n + 1);

	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i * 7919 % 26);
	return user(mem, A, uuid_of(mem, 1), NULL, text);
}

/* Purges a line of A's, and lets B have its beginning, before it has the rest. */
static void come_back_torn(struct t *t, size_t length, size_t first)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct str line = long_line(&mem, length), other;
	struct buf got CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	struct purge_report report;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put(&f, FILE_OF(A), line, &err));
	OK(sync_once(&f, false, &err));
	OK(purge(&f, part_of(uuid_of(&mem, 1), PART_LINE), &report, &err));
	other = user(&mem, B, uuid_of(&mem, 5), NULL, "stays");
	OK(put(&f, FILE_OF(B), other, &err));
	OK(add(&f, FILE_OF(B), str_sub(line, 0, first), &err));
	OK(sync_once(&f, false, &err));
	CHECK(has(&f, FILE_OF(B), 0, "stays"));
	OK(add(&f, FILE_OF(B), str_sub(line, first, SIZE_MAX), &err));
	OK(add(&f, FILE_OF(B), user(&mem, B, uuid_of(&mem, 6), uuid_of(&mem, 5), "stays, too"), &err));
	OK(sync_once(&f, false, &err));
	EQ(versions(&f, FILE_OF(B)), 1);
	version(&f, FILE_OF(B), 0, &got);
	CHECK(gap_is_filled(str_sub(buf_as_str(&got), other.n, line.n)));
	CHECK(has(&f, FILE_OF(B), 0, "stays, too"));
	EQ(problems(&f), 0);
	OK(sync_once(&f, true, &err));
	EQ(versions(&f, FILE_OF(B)), 1);
}

TEST(a_line_that_was_torn_is_known_when_it_is_complete)
{
	come_back_torn(t, 3000, 200);
}

TEST(a_line_that_was_torn_in_another_block_is_known_when_it_is_complete)
{
	come_back_torn(t, 3 * MIB, 2 * MIB + 100);
}

TEST(a_line_that_is_longer_than_what_is_read_at_once_does_not_come_back)
{
	come_back_torn(t, 5 * MIB / 2, 0);
}

TEST(lines_that_begin_alike_part_when_one_goes)
{
	for (int which = 1; which <= 2; which++) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		FILES f = { 0 };
		struct purge_report report;
		struct err err;

		OK(files_init(t, &f, &err));
		/* The second begins like the first for 1.5 MiB, and has another uuid behind that. */
		struct str start = arena_printf(
			&mem, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"%.*s",
			(int)(3 * MIB / 2), long_line(&mem, 2 * MIB).p + 230);
		for (int i = 1; i <= 2; i++) {
			OK(put(&f, FILE_OF(A),
			       arena_printf(&mem, "%.*s number%d\"},\"uuid\":\"%s\"}\n", STR_ARG(start), i,
					    uuid_of(&mem, i)),
			       &err));
			OK(sync_once(&f, true, &err));
		}
		EQ(versions(&f, FILE_OF(A)), 2);
		OK(purge(&f, part_of(uuid_of(&mem, which), PART_LINE), &report, &err));
		EQ(report.lines, 1);
		CHECK(has(&f, FILE_OF(A), 1, "number1") == (which == 2));
		CHECK(has(&f, FILE_OF(A), 2, "number2") == (which == 1));
		CHECK(has(&f, FILE_OF(A), 1, "content") == (which == 2));
		CHECK(has(&f, FILE_OF(A), 2, "content") == (which == 1));
		EQ(problems(&f), 0);
		/* The file still has the second. */
		OK(sync_once(&f, true, &err));
		EQ(versions(&f, FILE_OF(A)), 2);
		/* And goes back to the first. */
		OK(put(&f, FILE_OF(A),
		       arena_printf(&mem, "%.*s number1\"},\"uuid\":\"%s\"}\n", STR_ARG(start),
				    uuid_of(&mem, 1)),
		       &err));
		OK(sync_once(&f, true, &err));
		EQ(versions(&f, FILE_OF(A)), 3);
		CHECK(has(&f, FILE_OF(A), 3, "number1") == (which == 2));
		CHECK(has(&f, FILE_OF(A), 3, "content") == (which == 2));
		EQ(problems(&f), 0);
	}
}

static void damage_blocks(struct files *f)
{
	sqlite3_exec(f->s->db, "UPDATE block_data SET bytes = zeroblob(9)", NULL, NULL, NULL);
}

TEST(a_damaged_block_with_a_gap_is_mended_from_the_file_and_keeps_it)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct purge_report report;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "question", "secret", &err));
	OK(sync_once(&f, false, &err));
	OK(purge(&f, part_of(uuid_of(&mem, 2), PART_LINE), &report, &err));
	damage_blocks(&f);
	CHECK(problems(&f) > 0);
	OK(sync_once(&f, true, &err));
	EQ(problems(&f), 0);
	CHECK(has(&f, FILE_OF(A), 0, "question") && !has(&f, FILE_OF(A), 0, "secret"));
	EQ(versions(&f, FILE_OF(A)), 1);
}

TEST(damage_elsewhere_is_no_reason_not_to_purge)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct purge_report report;
	struct purge_state state;
	struct uuid id;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "question", "secret", &err));
	OK(sync_once(&f, false, &err));
	damage_blocks(&f);
	OK(put_talk(&f, &mem, B, 11, "other question", "other secret", &err));
	OK(put_talk(&f, &mem, C, 21, "third question", "third secret", &err));
	OK(sync_once(&f, false, &err));
	OK(purge(&f, part_of(uuid_of(&mem, 12), PART_LINE), &report, &err));
	CHECK(!has(&f, FILE_OF(B), 0, "secret") && has(&f, FILE_OF(B), 0, "question"));
	/* Which bytes a line is in a block that nobody can read is not known. */
	EQ(purge(&f, part_of(uuid_of(&mem, 2), PART_LINE), &report, &err), STATUS_CORRUPT);
	OK(sync_once(&f, true, &err));
	OK(purge(&f, part_of(uuid_of(&mem, 2), PART_LINE), &report, &err));
	CHECK(!has(&f, FILE_OF(A), 0, "secret") && has(&f, FILE_OF(A), 0, "question"));
	/* All of a session goes, damaged or not. */
	damage_blocks(&f);
	uuid_parse(STR(C), &id);
	EQ(purge(&f, id, &report, &err), STATUS_PARTIAL);
	OK(purge_state_get(f.s, &state, &err));
	EQ(state.left, PURGE_NOTHING);
	OK(sync_once(&f, true, &err));
	CHECK(!has(&f, FILE_OF(C), 0, "secret") && !has(&f, FILE_OF(B), 0, "secret"));
}

TEST(a_renamed_file_is_known_though_its_first_line_was_purged)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct purge_report report;
	char from[LIMIT_PATH], to[LIMIT_PATH];
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "secret", "reply", &err));
	OK(sync_once(&f, false, &err));
	OK(purge(&f, part_of(uuid_of(&mem, 1), PART_LINE), &report, &err));
	path_in(&f, FILE_OF(A), from);
	path_in(&f, FILE_OF(B), to);
	EQ(rename(from, to), 0);
	OK(sync_once(&f, false, &err));
	EQ(versions(&f, FILE_OF(B)), 1);
	CHECK(has(&f, FILE_OF(B), 0, "reply") && !has(&f, FILE_OF(B), 0, "secret"));
	CHECK(has(&f, FILE_OF(A), 0, "reply")); /* by its former name */
	EQ(problems(&f), 0);
}

/* ---- Being in the way ------------------------------------------------------------ */

TEST(who_reads_an_older_state_keeps_the_log_and_the_next_sync_wipes_it)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct purge_report report;
	struct purge_state state;
	struct store *other CLEANUP(store_closep) = NULL;
	char log[LIMIT_PATH + 8];
	struct stat st;
	struct err err;

	OK(files_init(t, &f, &err));
	OK(put_talk(&f, &mem, A, 1, "question", "secret", &err));
	OK(sync_once(&f, false, &err));
	OK(store_open_again(f.s, &other, &err));
	{
		struct read_txn snapshot CLEANUP(read_end) = { 0 };
		int64_t size;

		OK(read_begin(other, &snapshot, &err));
		OK(store_size(other, &size, &err));
		OK(purge(&f, part_of(uuid_of(&mem, 2), PART_LINE), &report, &err));
		OK(purge_state_get(f.s, &state, &err));
		EQ(state.left, PURGE_PAGES);
	}
	OK(sync_once(&f, false, &err));
	OK(purge_state_get(f.s, &state, &err));
	EQ(state.left, PURGE_NOTHING);
	snprintf(log, sizeof log, "%s-wal", store_path(f.s));
	EQ(stat(log, &st), 0);
	CHECK(st.st_size < 64 * 1024); /* what was written since it was emptied */
}

/* ---- Reading meanwhile ----------------------------------------------------------- */

enum { TALKS = 8 };

/* Overwrites the first line of every conversation, once: while what was read of them waits to be written. */
struct meanwhile {
	struct files *f;
	struct arena *mem;
	bool done;
	struct err err;
};

static const char *talk_path(struct arena *mem, int i)
{
	return arena_printf(mem, "projects/p/%08d-0000-4000-8000-000000000000.jsonl", i).p;
}

static enum status scrub_talk(struct store *s, struct arena *mem, int i, struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	uint8_t hash[SHA256_BYTES];
	struct line_salt salt;
	struct source_info info;
	bool damaged;
	struct str line = user(mem, A, uuid_of(mem, 100 * i), NULL, arena_printf(mem, "canary%d", i).p);

	if (tombstone_salt(s, &salt, err) || source_find(s, str_of(talk_path(mem, i)), mem, &info, err) ||
	    txn_begin(s, &txn, err))
		return err_failed(err->status);
	line_hash(&salt, str_sub(line, 0, line.n - 1), hash);
	if (tombstone_add_line(s, hash, 1, err) || txn_commit(&txn, err))
		return err_failed(err->status);
	return scrub_source(s, &salt, &(struct scrub_source){ info.row, info.id, info.path, false }, &damaged,
			    err);
}

static void on_progress(void *ctx, int64_t done, int64_t total)
{
	struct store *s CLEANUP(store_closep) = NULL;
	struct meanwhile *m = ctx;

	(void)done;
	(void)total;
	if (m->done)
		return;
	m->done = true;
	nanosleep(&(struct timespec){ .tv_nsec = 300 * 1000 * 1000 },
		  NULL); /* more is read, as much as may wait */
	if (store_open(&(struct store_options){ .path = store_path(m->f->s) }, &s, &m->err))
		return;
	for (int i = 1; i <= TALKS; i++)
		if (scrub_talk(s, m->mem, i, &m->err))
			return;
}

static enum status count_canaries(void *ctx, struct str word, int64_t doc, int64_t position, struct err *err)
{
	(void)doc;
	(void)position;
	(void)err;
	*(int *)ctx += str_has_prefix(word, STR("canary"));
	return STATUS_OK;
}

TEST(what_was_read_before_a_purge_is_not_written_after_it)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	FILES f = { 0 };
	struct meanwhile m = { .f = &f, .mem = &mem };
	int left = 0;
	struct err err;

	OK(files_init(t, &f, &err));
	for (int i = 1; i <= TALKS; i++) {
		struct buf all CLEANUP(buf_release) = BUF_INIT(16 * MIB);

		buf_str(&all,
			user(&mem, A, uuid_of(&mem, 100 * i), NULL, arena_printf(&mem, "canary%d", i).p));
		for (int k = 1; k < 60; k++)
			buf_str(&all,
				user(&mem, A, uuid_of(&mem, 100 * i + k), NULL,
				     arena_printf(&mem, "%.*s", 15000, long_line(&mem, 16000).p + 230).p));
		OK(put(&f, talk_path(&mem, i), buf_as_str(&all), &err));
	}
	OK(sync_once(&f, false, &err));
	OK(rebuild_all(f.s, &(struct read_options){ .progress = on_progress, .ctx = &m }, &err));
	CHECK(m.done);
	EQ(m.err.status, STATUS_OK);
	OK(fulltext_each(f.s, count_canaries, &left, &err));
	EQ(left, 0);
	EQ(problems(&f), 0);
}

TESTS(CASE(a_message_goes_in_every_copy_also_those_with_other_ids),
      CASE(a_block_takes_its_line_with_it_and_no_other), CASE(an_older_version_with_other_words_goes_too),
      CASE(a_session_takes_what_is_kept_by_its_id_and_leaves_what_others_have),
      CASE(a_tree_takes_all_its_sessions), CASE(a_turn_takes_its_messages_and_leaves_the_next),
      CASE(what_nobody_has_is_not_found_and_nothing_is_done),
      CASE(a_line_that_was_torn_is_known_when_it_is_complete),
      CASE(a_line_that_was_torn_in_another_block_is_known_when_it_is_complete),
      CASE(a_line_that_is_longer_than_what_is_read_at_once_does_not_come_back),
      CASE(lines_that_begin_alike_part_when_one_goes),
      CASE(a_damaged_block_with_a_gap_is_mended_from_the_file_and_keeps_it),
      CASE(damage_elsewhere_is_no_reason_not_to_purge),
      CASE(a_renamed_file_is_known_though_its_first_line_was_purged),
      CASE(who_reads_an_older_state_keeps_the_log_and_the_next_sync_wipes_it),
      CASE(what_was_read_before_a_purge_is_not_written_after_it))
