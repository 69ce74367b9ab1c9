/*
 * The library as a program outside sees it: arbor.h and nothing else. Most stores hold demo/, which
 * is brought in by the library itself.
 */
#include <arbor.h>

#include "t.h"

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void arbor_closep(struct arbor **a)
{
	arbor_close(*a);
}

static void arbor_cancel_freep(struct arbor_cancel **c)
{
	arbor_cancel_free(*c);
}

#define ARBOR  struct arbor CLEANUP(arbor_closep)
#define CANCEL struct arbor_cancel CLEANUP(arbor_cancel_freep)

/* As OK() of the harness. */
#define FINE(call) \
	do { \
		if ((call) != ARBOR_OK) { \
			t_fail(t, __FILE__, __LINE__, "%s: %s", #call, e.message); \
			return; \
		} \
	} while (0)

#define SAYS(text) \
	do { \
		if (!strstr(e.message, (text))) \
			t_fail(t, __FILE__, __LINE__, "'%s' does not say '%s'", e.message, (text)); \
	} while (0)

/* What came out of a call, a line each. */
struct heard {
	struct buf text;
	int count;
	int most; /* then stop; 0 = never */
};

static int hear(void *ctx, const char *data, size_t length)
{
	struct heard *h = ctx;

	buf_add(&h->text, data, length);
	buf_byte(&h->text, '\n');
	return ++h->count == h->most;
}

static void heard_release(struct heard *h)
{
	buf_release(&h->text);
}

#define HEARD struct heard h CLEANUP(heard_release) = { .text = BUF_INIT(16 * MIB) }

static int open_at(const char *dir, uint32_t flags, struct arbor **out, struct arbor_error *e)
{
	char path[512];
	struct arbor_options o = { .size = sizeof o, .store = path, .flags = flags | ARBOR_PLAIN };

	snprintf(path, sizeof path, "%s/arbor.db", dir);
	return arbor_open(&o, out, e);
}

static int call(struct arbor *a, const char *method, const char *params, struct heard *h,
		struct arbor_error *e)
{
	return arbor_call(a, method, params, strlen(params), h ? hear : NULL, h, NULL, e);
}

/* A store that holds the demo. */
static int open_demo(const char *dir, struct arbor **out, struct arbor_error *e)
{
	int status = open_at(dir, ARBOR_CREATE, out, e);

	return status ? status : call(*out, "memory.sync", "{\"source\":\"demo\"}", NULL, e);
}

/* ---- Versions and errors ----------------------------------------------------- */

TEST(the_library_says_which_one_it_is)
{
	EQ(arbor_api_level(), ARBOR_API_LEVEL);
	EQS(str_of(arbor_version()), STR(ARBOR_VERSION));
}

TEST(every_status_has_the_name_it_has_in_json)
{
	int found = 0;

	for (int s = 0; s < STATUS_COUNT; s++) {
		const char *name = status_info((enum status)s)->name;
		int outside = 0;

		while (outside < 100 && strcmp(arbor_status_name(outside), name) != 0)
			outside++;
		if (outside == 100 && s != STATUS_WAIT)
			t_fail(t, __FILE__, __LINE__, "no status outside is called %s", name);
		found += outside < 100;
	}
	EQ(found, STATUS_COUNT - 1);
	EQS(str_of(arbor_status_name(ARBOR_TIMED_OUT)), STR("timed_out"));
	EQS(str_of(arbor_status_name(-1)), STR("internal"));
	EQS(str_of(arbor_status_name(12345)), STR("internal"));
}

TEST(nobody_has_to_want_the_error)
{
	ARBOR *a = NULL;
	int32_t changed;

	EQ(arbor_open(NULL, NULL, NULL), ARBOR_USAGE);
	EQ(open_at(t_tmpdir(t), 0, &a, NULL), ARBOR_NOT_FOUND);
	EQ(arbor_call(NULL, "hub.hash", NULL, 0, NULL, NULL, NULL, NULL), ARBOR_USAGE);
	EQ(arbor_call_text(NULL, "hub.hash", NULL, NULL, NULL, NULL, NULL), ARBOR_USAGE);
	EQ(arbor_search(NULL, "x", 1, NULL, NULL, NULL), ARBOR_USAGE);
	EQ(arbor_wait(NULL, 0, NULL, &changed, NULL), ARBOR_USAGE);
	EQ(arbor_json_get(NULL, 0, NULL, NULL, 0, NULL, NULL), ARBOR_USAGE);
	arbor_close(NULL);
	arbor_cancel_pull(NULL);
	arbor_cancel_reset(NULL);
	arbor_cancel_free(NULL);
	EQS(str_of(arbor_path(NULL)), STR(""));
}

TEST(a_message_is_text_whatever_it_quotes)
{
	struct arbor_error e;
	struct buf name CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	ARBOR *a = NULL;

	FINE(open_at(t_tmpdir(t), ARBOR_CREATE, &a, &e));
	EQ(call(a, "a\033[2J\xff.b", "", NULL, &e), ARBOR_NOT_FOUND);
	SAYS("␛[2J<FF>");
	EQ(e.status, ARBOR_NOT_FOUND);
	for (int i = 0; i < 3000; i++)
		buf_text(&name, "\xc3\xa4");
	buf_text(&name, "/arbor.db");
	EQ(arbor_open(&(struct arbor_options){ .size = sizeof(struct arbor_options), .store = name.p }, &a,
		      &e),
	   ARBOR_LIMIT);
	CHECK(strlen(e.message) < sizeof e.message);
	FINE(call(a, "hub.hash", "", NULL, &e));
	EQ(e.status, ARBOR_OK);
	EQ(e.message[0], '\0');
}

/* ---- Opening ----------------------------------------------------------------- */

TEST(a_store_that_is_not_there_is_made_only_when_asked_for)
{
	struct arbor_error e;
	struct stat st;
	ARBOR *a = NULL;
	char path[256];

	snprintf(path, sizeof path, "%s/arbor.db", t_tmpdir(t));
	path[strlen(path) - strlen("/arbor.db")] = '\0';
	EQ(open_at(path, 0, &a, &e), ARBOR_NOT_FOUND);
	SAYS("no store here yet");
	CHECK(!a);
	FINE(open_at(path, ARBOR_CREATE, &a, &e));
	NEED(stat(arbor_path(a), &st) == 0);
	EQ(st.st_mode & 0777, 0600);
}

TEST(what_is_not_a_store_is_refused_and_left_alone)
{
	struct arbor_error e;
	struct stat st;
	ARBOR *a = NULL;
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s/notes", t_tmpdir(t));
	f = fopen(path, "w");
	NEED(f);
	fputs("My notes.\n", f);
	fclose(f);
	EQ(arbor_open(&(struct arbor_options){ .size = sizeof(struct arbor_options), .store = path }, &a, &e),
	   ARBOR_NOT_A_STORE);
	SAYS("notes");
	NEED(stat(path, &st) == 0);
	EQ(st.st_size, 10);
}

TEST(options_are_taken_from_headers_that_know_less_or_more)
{
	struct {
		struct arbor_options known;
		uint64_t later;
	} more = { .known = { .size = sizeof more, .flags = ARBOR_CREATE } };
	struct arbor_error e;
	ARBOR *a = NULL;
	char path[256];

	snprintf(path, sizeof path, "%s/arbor.db", t_tmpdir(t));
	more.known.store = path;
	more.later = 1;
	EQ(arbor_open(&more.known, &a, &e), ARBOR_USAGE);
	SAYS("newer");
	more.later = 0;
	FINE(arbor_open(&more.known, &a, &e));
	arbor_close(a);
	a = NULL;
	more.known.size = offsetof(struct arbor_options, log); /* flags are not seen, so nothing is made */
	FINE(arbor_open(&more.known, &a, &e));
	arbor_close(a);
	a = NULL;
	more.known.size = 0;
	EQ(arbor_open(&more.known, &a, &e), ARBOR_USAGE);
	SAYS("size");
}

TEST(options_that_make_no_sense_are_refused)
{
	struct arbor_options o = { .size = sizeof o, .store = "" };
	struct arbor_error e;
	ARBOR *a = NULL;

	EQ(arbor_open(&o, &a, &e), ARBOR_USAGE);
	SAYS("store");
	o = (struct arbor_options){ .size = sizeof o, .flags = ARBOR_PLAIN };
	EQ(arbor_open(&o, &a, &e), ARBOR_USAGE);
	SAYS("ARBOR_PLAIN");
	o.flags = 1u << 30;
	EQ(arbor_open(&o, &a, &e), ARBOR_USAGE);
	SAYS("flags");
	CHECK(!a);
}

static void count_warnings(void *ctx, int level, const char *text)
{
	*(int *)ctx += level == ARBOR_LOG_WARN && strstr(text, "serch") != NULL;
}

static bool write_settings(const char *home, const char *text)
{
	char path[512];
	FILE *f;

	for (const char *const *part = (const char *const[]){ "", "/.config", "/.config/arbor", NULL }; *part;
	     part++) {
		snprintf(path, sizeof path, "%s%s", home, *part);
		mkdir(path, 0700);
	}
	snprintf(path, sizeof path, "%s/.config/arbor/settings.json", home);
	f = fopen(path, "w");
	if (!f)
		return false;
	fputs(text, f);
	fclose(f);
	return true;
}

TEST(store_and_settings_are_found_as_the_program_finds_them)
{
	const char *dir = t_tmpdir(t);
	struct arbor_error e;
	ARBOR *a = NULL;
	int warnings = 0;
	struct arbor_options o = {
		.size = sizeof o, .flags = ARBOR_CREATE, .log = count_warnings, .ctx = &warnings
	};
	HEARD;

	setenv("HOME", dir, 1);
	NEED(write_settings(dir, "{\"search.limit\": 2, \"serch.limit\": 3}"));
	FINE(arbor_open(&o, &a, &e));
	CHECK(strstr(arbor_path(a), "/.local/share/arbor/arbor.db"));
	EQ(warnings, 1);
	FINE(call(a, "memory.sync", "{\"source\":\"demo\"}", NULL, &e));
	FINE(arbor_search(a, "cents", 0, hear, &h, &e));
	EQ(h.count, 2);
	arbor_close(a);
	a = NULL;
	NEED(write_settings(dir, "{"));
	EQ(arbor_open(&o, &a, &e), ARBOR_FORMAT);
	SAYS("settings.json");
}

/* ---- Calling ----------------------------------------------------------------- */

/* The environment counts as it was when the store was opened. */
TEST(hubs_that_the_settings_name_are_reached_and_gone_in_the_end)
{
	const char *dir = t_tmpdir(t);
	char settings[1024], cwd[400];
	struct arbor_error e;
	ARBOR *a = NULL;
	struct arbor_options o = { .size = sizeof o, .flags = ARBOR_CREATE };
	HEARD;

	setenv("HOME", dir, 1);
	NEED(getcwd(cwd, sizeof cwd) != NULL);
	snprintf(settings, sizeof settings,
		 "{\"hubs\":{\"notes\":{\"command\":[\"%s/examples/notes/notes.py\"],"
		 "\"env\":{\"NOTES_FILE\":\"%s/notes\"}}}}",
		 cwd, dir);
	NEED(write_settings(dir, settings));
	FINE(arbor_open(&o, &a, &e));
	setenv("HOME", "/nowhere", 1);
	FINE(call(a, "notes.add", "{\"text\":\"of a program\"}", &h, &e));
	CHECK(strstr(h.text.p, "\"handle\": \"notes@1.0.0::note:"));
	FINE(call(a, "notes.list", "{}", &h, &e));
	EQ(h.count, 2);
	EQ(call(a, "hub.resolve", "{\"handle\":\"notes@1.0.0::note:1\"}", &h, &e), ARBOR_NOT_FOUND);
	SAYS("notes: there is no note 1");
	CHECK(waitpid(-1, NULL, WNOHANG) == 0); /* somebody is there */
	arbor_close(a);
	a = NULL;
	CHECK(waitpid(-1, NULL, WNOHANG) == -1);
	setenv("HOME", dir, 1);
	o.flags |= ARBOR_PLAIN;
	snprintf(settings, sizeof settings, "%s/plain.db", dir);
	o.store = settings;
	FINE(arbor_open(&o, &a, &e));
	EQ(call(a, "notes.list", "{}", &h, &e), ARBOR_NOT_FOUND);
}

TEST(results_come_one_by_one)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	HEARD;

	FINE(open_demo(t_tmpdir(t), &a, &e));
	FINE(call(a, "memory.search", "{\"words\":[\"integer cents\"],\"limit\":3}", &h, &e));
	EQ(h.count, 3);
	CHECK(strstr(h.text.p, "Integer cents"));
	EQ(call(a, "memory.search", "{\"words\":[\"nothinglikethis\"]}", &h, &e), ARBOR_NOT_FOUND);
	SAYS("nothinglikethis");
	FINE(call(a, "storage.sql", "{\"query\":\"SELECT 1 WHERE 0\"}", &h, &e));
	EQ(h.count, 3);
	FINE(call(a, "memory.search", "{\"words\":[\"integer cents\"]}", NULL, &e));
}

TEST(an_unknown_method_is_refused_with_the_nearest)
{
	struct arbor_error e;
	ARBOR *a = NULL;

	FINE(open_at(t_tmpdir(t), ARBOR_CREATE, &a, &e));
	EQ(call(a, "memory.serch", "", NULL, &e), ARBOR_NOT_FOUND);
	SAYS("did you mean 'memory.search'?");
	EQ(call(a, "", "", NULL, &e), ARBOR_USAGE);
	EQ(arbor_call(a, NULL, NULL, 0, NULL, NULL, NULL, &e), ARBOR_USAGE);
}

TEST(parameters_that_are_no_json_or_not_the_methods_are_refused)
{
	struct arbor_error e;
	ARBOR *a = NULL;

	FINE(open_at(t_tmpdir(t), ARBOR_CREATE, &a, &e));
	EQ(call(a, "memory.search", "{\"words\":", NULL, &e), ARBOR_FORMAT);
	SAYS("memory.search: parameters: JSON");
	EQ(call(a, "memory.search", "[]", NULL, &e), ARBOR_USAGE);
	EQ(call(a, "memory.search", "{\"word\":[\"x\"]}", NULL, &e), ARBOR_USAGE);
	SAYS("did you mean 'words'?");
	EQ(call(a, "memory.search", "{\"words\":[\"x\"],\"limit\":-3}", NULL, &e), ARBOR_USAGE);
	SAYS("limit");
	/* Only so many bytes are read. */
	FINE(arbor_call(a, "hub.hash", "{}trailing", 2, NULL, NULL, NULL, &e));
}

TEST(parameters_can_be_texts)
{
	const char *const good[] = { "words", "integer", "words", "cents", "limit", "2", NULL };
	const char *const unknown[] = { "word", "integer", NULL };
	const char *const half[] = { "words", NULL };
	const char *const wrong[] = { "words", "x", "limit", "many", NULL };
	struct arbor_error e;
	ARBOR *a = NULL;
	HEARD;

	FINE(open_demo(t_tmpdir(t), &a, &e));
	FINE(arbor_call_text(a, "memory.search", good, hear, &h, NULL, &e));
	EQ(h.count, 2);
	EQ(arbor_call_text(a, "memory.search", unknown, hear, &h, NULL, &e), ARBOR_USAGE);
	SAYS("did you mean 'words'?");
	EQ(arbor_call_text(a, "memory.search", half, hear, &h, NULL, &e), ARBOR_USAGE);
	EQ(arbor_call_text(a, "memory.search", wrong, hear, &h, NULL, &e), ARBOR_USAGE);
	SAYS("limit: 'many'");
	EQ(arbor_call_text(a, "memory.serch", good, hear, &h, NULL, &e), ARBOR_NOT_FOUND);
	FINE(arbor_call_text(a, "hub.hash", NULL, hear, &h, NULL, &e));
	EQ(h.count, 3);
	EQ(arbor_search(a, NULL, 0, hear, &h, &e), ARBOR_USAGE);
}

TEST(bytes_come_as_they_are)
{
	struct buf want CLEANUP(buf_release) = BUF_INIT(0), got CLEANUP(buf_release) = BUF_INIT(MIB);
	struct arbor_error e;
	ARBOR *a = NULL;
	HEARD;

	NEED(t_read_file(t, "demo/history.jsonl", &want));
	FINE(open_demo(t_tmpdir(t), &a, &e));
	FINE(call(a, "storage.export", "{\"file\":\"history.jsonl\"}", &h, &e));
	CHECK(h.count >= 1);
	/* Each piece is followed by a line end of ours. */
	buf_add(&got, h.text.p, h.text.n - 1);
	EQS(buf_as_str(&got), buf_as_str(&want));
}

TEST(who_takes_the_results_can_stop)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	HEARD;

	FINE(open_demo(t_tmpdir(t), &a, &e));
	h.most = 2;
	EQ(call(a, "memory.search", "{\"words\":[\"cents\"]}", &h, &e), ARBOR_CANCELLED);
	EQ(h.count, 2);
	SAYS("stopped");
	h.most = 3;
	EQ(call(a, "hub.methods", "", &h, &e), ARBOR_CANCELLED);
	EQ(h.count, 3);
	h.most = 0;
	FINE(call(a, "memory.search", "{\"words\":[\"cents\"],\"limit\":2}", &h, &e));
	EQ(h.count, 5);
}

struct nested {
	struct arbor *arbor;
	int status, count;
};

static int call_again(void *ctx, const char *data, size_t length)
{
	struct nested *n = ctx;
	HEARD;

	(void)data;
	(void)length;
	n->status |= call(n->arbor, "memory.search", "{\"words\":[\"cents\"],\"limit\":1}", &h, NULL);
	n->count += h.count;
	return 0;
}

TEST(who_takes_the_results_can_call)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	struct nested n = { 0 };

	FINE(open_demo(t_tmpdir(t), &a, &e));
	n.arbor = a;
	FINE(arbor_search(a, "cents", 3, call_again, &n, &e));
	EQ(n.status, ARBOR_OK);
	EQ(n.count, 3);
}

TEST(a_caller_can_do_what_its_scopes_say)
{
	const char *dir = t_tmpdir(t);
	char path[256];
	struct arbor_options reader = {
		.size = sizeof reader, .store = path, .flags = ARBOR_PLAIN, .scopes = ARBOR_READ
	};
	struct arbor_call_options writing = { .size = sizeof writing, .scopes = ARBOR_READ | ARBOR_WRITE };
	const char *const source[] = { "source", "demo", NULL };
	struct arbor_call_options reading = { .size = sizeof reading, .scopes = ARBOR_READ };
	struct arbor_error e;
	ARBOR *a = NULL, *r = NULL;

	FINE(open_demo(dir, &a, &e));
	snprintf(path, sizeof path, "%s/arbor.db", dir);
	FINE(arbor_open(&reader, &r, &e));
	EQ(call(r, "memory.sync", "{\"source\":\"demo\"}", NULL, &e), ARBOR_DENIED);
	SAYS("'write'");
	EQ(arbor_call_text(r, "memory.sync", source, NULL, NULL, &writing, &e), ARBOR_DENIED);
	EQ(arbor_call_text(a, "memory.sync", source, NULL, NULL, &reading, &e), ARBOR_DENIED);
	FINE(arbor_call_text(a, "memory.sync", source, NULL, NULL, &writing, &e));
	FINE(call(r, "memory.search", "{\"words\":[\"cents\"]}", NULL, &e));
}

TEST(another_file_in_the_place_of_the_store_is_the_store_from_then_on)
{
	const char *dir = t_tmpdir(t);
	char other[256], path[256], name[300];
	struct arbor_error e;
	ARBOR *a = NULL, *b = NULL;
	int32_t changed = 0;
	HEARD;

	FINE(open_demo(dir, &a, &e));
	FINE(arbor_search(a, "cents", 1, hear, &h, &e));
	FINE(arbor_wait(a, 0, NULL, &changed, &e));
	snprintf(path, sizeof path, "%s", arbor_path(a));
	snprintf(other, sizeof other, "%s/other", dir);
	NEED(mkdir(other, 0700) == 0);
	FINE(open_at(other, ARBOR_CREATE, &b, &e));
	snprintf(other, sizeof other, "%s", arbor_path(b));
	arbor_close(b);
	b = NULL;
	for (const char *const *end = (const char *const[]){ "-wal", "-shm", NULL }; *end; end++) {
		snprintf(name, sizeof name, "%s%s", path, *end);
		unlink(name);
	}
	NEED(rename(other, path) == 0);
	EQ(arbor_search(a, "cents", 1, hear, &h, &e), ARBOR_NOT_FOUND);
	FINE(arbor_wait(a, 0, NULL, &changed, &e));
	EQ(changed, 1);
	FINE(arbor_wait(a, 0, NULL, &changed, &e));
	EQ(changed, 0);
}

/* ---- Ending calls -------------------------------------------------------------- */

#define ENDLESS \
	"{\"query\":\"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM " \
	"n\"}"

/* Ends only when it is ended. */
struct endless {
	struct arbor *arbor;
	const char *method, *params;
	struct arbor_call_options o;
	struct arbor_error e;
};

static void *run_endless(void *ctx)
{
	struct endless *x = ctx;

	arbor_call(x->arbor, x->method, x->params, strlen(x->params), NULL, NULL, &x->o, &x->e);
	return NULL;
}

static const struct {
	const char *method, *params;
} endless_calls[] = {
	{ "storage.sql", ENDLESS },
	{ "memory.sync", "{\"source\":\"demo\",\"watch\":true}" },
	{ "hub.call", "{\"method\":\"storage.sql\",\"params\":" ENDLESS "}" },
};

TEST(a_call_is_cancelled_by_another_thread)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	CANCEL *c = arbor_cancel_new();
	HEARD;

	FINE(open_demo(t_tmpdir(t), &a, &e));
	for (size_t i = 0; i < COUNT(endless_calls); i++) {
		struct endless x = {
			.arbor = a,
			.method = endless_calls[i].method,
			.params = endless_calls[i].params,
			.o = { .size = sizeof x.o, .cancel = c, .timeout_ms = i == 2 ? 3600000 : 0 }
		};
		pthread_t thread;

		arbor_cancel_reset(c);
		NEED(pthread_create(&thread, NULL, run_endless, &x) == 0);
		usleep(50000);
		arbor_cancel_pull(c);
		pthread_join(thread, NULL);
		EQ(x.e.status, ARBOR_CANCELLED);
	}
	/* It stays pulled. */
	EQ(arbor_call(a, "hub.methods", NULL, 0, hear, &h,
		      &(struct arbor_call_options){ .size = sizeof(struct arbor_call_options), .cancel = c },
		      &e),
	   ARBOR_CANCELLED);
	EQ(h.count, 0);
	FINE(arbor_search(a, "cents", 1, hear, &h, &e));
	EQ(h.count, 1);
}

TEST(a_call_ends_when_its_time_is_over)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	CANCEL *c = arbor_cancel_new();
	struct arbor_call_options o = { .size = sizeof o, .timeout_ms = 30 };

	FINE(open_demo(t_tmpdir(t), &a, &e));
	for (size_t i = 0; i < COUNT(endless_calls); i++) {
		o.cancel = i == 1 ? c : NULL;
		EQ(arbor_call(a, endless_calls[i].method, endless_calls[i].params,
			      strlen(endless_calls[i].params), NULL, NULL, &o, &e),
		   ARBOR_TIMED_OUT);
		SAYS("time");
	}
	o.timeout_ms = INT64_MAX;
	FINE(arbor_call(a, "hub.methods", NULL, 0, NULL, NULL, &o, &e));
	o.timeout_ms = 600000;
	FINE(arbor_call(a, "hub.methods", NULL, 0, NULL, NULL, &o, &e));
	o.timeout_ms = -1;
	EQ(arbor_call(a, "hub.methods", NULL, 0, NULL, NULL, &o, &e), ARBOR_USAGE);
}

/* ---- Threads ------------------------------------------------------------------- */

struct worker {
	struct arbor *arbor;
	bool writes;
	int status, hits;
};

static void *work(void *ctx)
{
	enum { ROUNDS = 20 };
	struct worker *w = ctx;
	struct arbor_error e;

	for (int i = 0; i < ROUNDS && !w->status; i++) {
		HEARD;

		w->status = arbor_search(w->arbor, "cents", 3, hear, &h, &e);
		w->hits += h.count;
		if (w->writes && !w->status)
			w->status = call(w->arbor, "memory.sync", "{\"source\":\"demo\",\"force\":true}",
					 NULL, &e);
	}
	return NULL;
}

TEST(threads_share_a_store_or_have_one_each)
{
	enum { THREADS = 4 };
	const char *dir = t_tmpdir(t);
	struct arbor_error e;
	ARBOR *a = NULL, *b = NULL;
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	FINE(open_demo(dir, &a, &e));
	FINE(open_at(dir, 0, &b, &e));
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .arbor = i < 2 ? a : b, .writes = i % 2 };
		NEED(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++) {
		EQ(workers[i].status, ARBOR_OK);
		EQ(workers[i].hits, 60);
	}
	FINE(call(a, "arbor.check", "", NULL, &e));
}

/* ---- Waiting ------------------------------------------------------------------- */

TEST(nothing_new_is_not_waited_for_longer_than_wanted)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	CANCEL *c = arbor_cancel_new();
	int32_t changed = 7;

	FINE(open_at(t_tmpdir(t), ARBOR_CREATE, &a, &e));
	FINE(arbor_wait(a, 0, NULL, &changed, &e));
	EQ(changed, 0);
	FINE(arbor_wait(a, 20, NULL, &changed, &e));
	EQ(changed, 0);
	arbor_cancel_pull(c);
	EQ(arbor_wait(a, -1, c, &changed, &e), ARBOR_CANCELLED);
	EQ(arbor_wait(a, 0, NULL, NULL, &e), ARBOR_USAGE);
}

TEST(what_calls_of_the_same_program_commit_is_noticed_once)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	int32_t changed = 0;

	FINE(open_demo(t_tmpdir(t), &a, &e));
	FINE(arbor_wait(a, 60000, NULL, &changed, &e));
	EQ(changed, 1);
	FINE(arbor_wait(a, 0, NULL, &changed, &e));
	EQ(changed, 0);
}

/* Another process: waits for a byte, commits, and ends. */
static pid_t start_writer(const char *dir, int *go)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid == 0) {
		struct arbor_error e;
		struct arbor *a = NULL;
		char byte;
		bool fine;

		close(ends[1]);
		fine = read(ends[0], &byte, 1) == 1 && open_demo(dir, &a, &e) == ARBOR_OK;
		arbor_close(a);
		_exit(fine ? 0 : 1);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

struct waiter {
	struct arbor *arbor;
	struct arbor_cancel *cancel;
	int32_t changed;
	struct arbor_error e;
};

static void *wait_for_ever(void *ctx)
{
	struct waiter *w = ctx;

	while (arbor_wait(w->arbor, -1, w->cancel, &w->changed, &w->e) == ARBOR_BUSY)
		;
	return NULL;
}

TEST(what_another_process_commits_ends_the_wait)
{
	const char *dir = t_tmpdir(t);
	struct arbor_error e;
	ARBOR *a = NULL;
	struct waiter w = { 0 };
	pthread_t thread;
	int go = -1, code = -1;
	pid_t pid;

	FINE(open_at(dir, ARBOR_CREATE, &a, &e));
	arbor_close(a);
	a = NULL;
	pid = start_writer(dir, &go); /* before there is anything that a child may not have */
	NEED(pid > 0);
	FINE(open_at(dir, 0, &a, &e));
	w.arbor = a;
	NEED(pthread_create(&thread, NULL, wait_for_ever, &w) == 0);
	EQ(write(go, "!", 1), 1);
	pthread_join(thread, NULL);
	EQ(w.e.status, ARBOR_OK);
	EQ(w.changed, 1);
	waitpid(pid, &code, 0);
	EQ(code, 0);
	close(go);
}

TEST(only_one_thread_waits_with_a_store)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	CANCEL *c = arbor_cancel_new();
	struct waiter w = { .cancel = c };
	pthread_t thread;
	int32_t changed;
	int status = ARBOR_OK;

	FINE(open_at(t_tmpdir(t), ARBOR_CREATE, &a, &e));
	w.arbor = a;
	NEED(pthread_create(&thread, NULL, wait_for_ever, &w) == 0);
	while (status == ARBOR_OK) {
		usleep(1000);
		status = arbor_wait(a, 0, NULL, &changed, &e);
	}
	EQ(status, ARBOR_BUSY);
	arbor_cancel_pull(c);
	pthread_join(thread, NULL);
	EQ(w.e.status, ARBOR_CANCELLED);
}

/* Whoever may not write a store, root included, is somebody else for a moment. */
static bool become(uid_t user)
{
	return getuid() != 0 || seteuid(user) == 0;
}

TEST(a_store_that_only_others_can_write_is_read_as_it_changes)
{
	enum { NOBODY = 65534 };
	char dir[128], path[160];
	struct arbor_error e;
	ARBOR *a = NULL, *writer = NULL;
	bool is_root = getuid() == 0;
	int32_t changed = 0;
	HEARD;

	snprintf(dir, sizeof dir, "%s", t_tmpdir(t));
	snprintf(path, sizeof path, "%s/arbor.db", dir);
	FINE(open_at(dir, ARBOR_CREATE, &a, &e));
	FINE(call(a, "storage.sources", "", NULL, &e)); /* makes what is derived */
	arbor_close(a);
	a = NULL;
	NEED(!is_root || (chown(dir, NOBODY, (gid_t)-1) == 0 && chown(path, NOBODY, (gid_t)-1) == 0));
	NEED(chmod(path, 0400) == 0 && chmod(dir, 0500) == 0);
	snprintf(path, sizeof path, "%s/arbor.db-wal", dir);
	unlink(path);
	NEED(become(NOBODY));
	EQ(open_at(dir, 0, &a, &e), ARBOR_OK);
	EQ(arbor_search(a, "cents", 3, hear, &h, &e), ARBOR_NOT_FOUND);
	EQ(arbor_wait(a, 0, NULL, &changed, &e), ARBOR_OK);
	EQ(changed, 0);
	NEED(become(0));
	NEED(is_root || (chmod(dir, 0700) == 0 && chmod(arbor_path(a), 0600) == 0));
	FINE(open_demo(dir, &writer, &e));
	arbor_close(writer);
	writer = NULL;
	NEED(become(NOBODY));
	EQ(arbor_wait(a, 60000, NULL, &changed, &e), ARBOR_OK);
	EQ(changed, 1);
	EQ(arbor_search(a, "cents", 3, hear, &h, &e), ARBOR_OK);
	EQ(h.count, 3);
	NEED(become(0));
}

/* ---- Trees, nodes, handles ------------------------------------------------------- */

TEST(a_program_makes_trees_and_reads_them)
{
	char tree[ARBOR_ID_SIZE], first[ARBOR_ID_SIZE], second[ARBOR_ID_SIZE], value[256];
	struct arbor_error e;
	ARBOR *a = NULL;
	HEARD;

	FINE(open_at(t_tmpdir(t), ARBOR_CREATE, &a, &e));
	FINE(arbor_tree_add(a, "tests", "{\"topic\":\"a \\\"quote\\\"\"}", tree, &e));
	EQ(strlen(tree), 36);
	FINE(arbor_node_add_text(a, tree, NULL, "user", "Is {\"this\"} kept?\n", NULL, first, &e));
	FINE(arbor_node_add_external(a, tree, first, "notes@1.0.0::note:7", "{\"n\":1}", second, &e));
	FINE(arbor_tree_read(a, tree, hear, &h, &e));
	FINE(arbor_json_get(h.text.p, h.text.n, "metadata.topic", value, sizeof value, NULL, &e));
	EQS(str_of(value), STR("a \"quote\""));
	buf_clear(&h.text);
	FINE(arbor_node_read(a, first, hear, &h, &e));
	FINE(arbor_json_get(h.text.p, h.text.n, "content", value, sizeof value, NULL, &e));
	EQS(str_of(value), STR("Is {\"this\"} kept?\n"));
	buf_clear(&h.text);
	FINE(arbor_node_children(a, first, hear, &h, &e));
	FINE(arbor_json_get(h.text.p, h.text.n, "id", value, sizeof value, NULL, &e));
	EQS(str_of(value), str_of(second));
	h.count = 0;
	FINE(arbor_node_path(a, second, hear, &h, &e));
	EQ(h.count, 3);
}

TEST(trees_and_nodes_that_cannot_be_are_refused)
{
	char tree[ARBOR_ID_SIZE], node[ARBOR_ID_SIZE] = "unchanged";
	struct arbor_error e;
	ARBOR *a = NULL;

	FINE(open_at(t_tmpdir(t), ARBOR_CREATE, &a, &e));
	EQ(arbor_tree_add(a, NULL, "{", tree, &e), ARBOR_FORMAT);
	SAYS("metadata");
	EQ(arbor_tree_add(a, NULL, NULL, NULL, &e), ARBOR_USAGE);
	FINE(arbor_tree_add(a, NULL, NULL, tree, &e));
	EQ(arbor_node_add_text(a, tree, NULL, NULL, NULL, NULL, node, &e), ARBOR_USAGE);
	SAYS("content");
	EQS(str_of(node), STR(""));
	EQ(arbor_node_add_text(a, tree, NULL, "boss", "x", NULL, node, &e), ARBOR_USAGE);
	EQ(arbor_node_add_text(a, "00000000-0000-4000-8000-000000000000", NULL, NULL, "x", NULL, node, &e),
	   ARBOR_NOT_FOUND);
	CHECK(arbor_node_add_external(a, tree, NULL, "no handle", NULL, node, &e) != ARBOR_OK);
	SAYS("handle");
	EQ(arbor_node_read(a, NULL, NULL, NULL, &e), ARBOR_USAGE);
}

TEST(handles_have_two_forms)
{
	static const char text[] = "claudecode@1.0.0::tool_use:a%3Ab::Bash";
	struct arbor_error e;
	char json[512], back[512];
	size_t n;

	FINE(arbor_handle_json(text, json, sizeof json, &n, &e));
	EQ(n, strlen(json));
	FINE(arbor_json_get(json, n, "meta.0", back, sizeof back, NULL, &e));
	EQS(str_of(back), STR("a:b"));
	FINE(arbor_handle_text(text, back, sizeof back, &n, &e));
	EQS(str_of(back), str_of(text));
	FINE(arbor_handle_text(json, back, sizeof back, &n, &e));
	CHECK(strstr(back, "::tool_use:a%3Ab::Bash"));
	EQ(arbor_handle_text("no handle", back, sizeof back, &n, &e), ARBOR_FORMAT);
	EQ(arbor_handle_text(text, back, 8, &n, &e), ARBOR_LIMIT);
	EQ(n, strlen(text));
	EQ(arbor_handle_json(NULL, back, sizeof back, NULL, &e), ARBOR_USAGE);
}

TEST(a_handle_of_a_hit_resolves_to_what_was_found)
{
	struct arbor_error e;
	ARBOR *a = NULL;
	char id[64];
	struct heard answer CLEANUP(heard_release) = { .text = BUF_INIT(MIB) };
	HEARD;

	FINE(open_demo(t_tmpdir(t), &a, &e));
	FINE(arbor_search(a, "integer cents", 1, hear, &h, &e));
	FINE(arbor_json_get(h.text.p, h.text.n, "id", id, sizeof id, NULL, &e));
	FINE(arbor_resolve(a, id, hear, &answer, &e));
	CHECK(strstr(answer.text.p, "Integer cents. Sketch the migration"));
	EQ(arbor_resolve(a, "nobody@1.0.0::thing:1", hear, &answer, &e), ARBOR_UNSUPPORTED);
	EQ(arbor_resolve(a, "claudecode@1.0.0::message", hear, &answer, &e), ARBOR_FORMAT);
}

/* ---- Reading results ----------------------------------------------------------- */

TEST(values_are_found_in_results_by_their_path)
{
	static const char json[] = "{\"a\":{\"b\":[1,{\"c\":\"\\u00e4\\n\"}],\"n\":null},\"\":3,\"t\":true}";
	static const struct {
		const char *path, *value;
	} cases[] = {
		{ "a.b.1.c", "ä\n" }, { "a.b.0", "1" },	  { "a.b.1", "{\"c\":\"\\u00e4\\n\"}" },
		{ "t", "true" },      { "", json },	  { "a.n", NULL },
		{ "a.x", NULL },      { "a.b.2", NULL },  { "a.b.x", NULL },
		{ "t.x", NULL },      { "a.b.-1", NULL },
	};
	struct arbor_error e;
	char room[256];
	size_t n;

	for (size_t i = 0; i < COUNT(cases); i++) {
		int status = arbor_json_get(json, strlen(json), cases[i].path, room, sizeof room, &n, &e);

		EQ(status, cases[i].value ? ARBOR_OK : ARBOR_NOT_FOUND);
		if (cases[i].value)
			EQS(str_from(room, n), str_of(cases[i].value));
	}
	EQ(arbor_json_get("{", 1, "", room, sizeof room, &n, &e), ARBOR_FORMAT);
	EQ(arbor_json_get(json, strlen(json), "a.b.1.c", room, 3, &n, &e), ARBOR_LIMIT);
	EQ(n, 3);
	EQ(room[0], '\0');
	EQ(arbor_json_get(json, strlen(json), "a.b.1.c", NULL, 0, &n, &e), ARBOR_LIMIT);
	EQ(n, 3);
	EQ(arbor_json_get(json, strlen(json), "t", NULL, 8, NULL, &e), ARBOR_USAGE);
	FINE(arbor_json_get(json, strlen(json), "t", room, 5, NULL, &e));
}

TEST(a_text_of_strangers_is_made_safe_to_print)
{
	static const char text[] = "a\033[2J\n\xff\xe2\x80\xae";
	struct arbor_error e;
	char room[64];
	size_t n;

	FINE(arbor_printable(text, strlen(text), room, sizeof room, &n, &e));
	EQS(str_from(room, n), STR("a␛[2J\n<FF><U+202E>"));
	EQ(arbor_printable(text, strlen(text), room, 5, &n, &e), ARBOR_LIMIT);
	EQ(n, strlen("a␛[2J\n<FF><U+202E>"));
	FINE(arbor_printable(NULL, 0, room, 1, &n, &e));
	EQ(arbor_printable(NULL, 1, room, sizeof room, &n, &e), ARBOR_USAGE);
	EQ(arbor_printable(text, 1, NULL, 3, &n, &e), ARBOR_USAGE);
}

/* ---- A guest in the process ------------------------------------------------------ */

TEST(the_process_is_left_as_it_was)
{
	struct sigaction before[NSIG], after;
	sigset_t mask_before, mask_after;
	struct arbor_error e;
	char cwd_before[512], cwd_after[512];
	mode_t mask = umask(022);
	ARBOR *a = NULL;
	struct arbor_call_options o = { .size = sizeof o, .timeout_ms = 30 };

	for (int i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &before[i]))
			before[i].sa_handler = SIG_ERR; /* the C library's own */
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	NEED(getcwd(cwd_before, sizeof cwd_before));
	FINE(open_demo(t_tmpdir(t), &a, &e));
	EQ(arbor_call_text(a, "memory.sync", (const char *const[]){ "source", "demo", "watch", "true", NULL },
			   NULL, NULL, &o, &e),
	   ARBOR_TIMED_OUT);
	FINE(arbor_search(a, "cents", 3, NULL, NULL, &e));
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	for (int i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &after) == 0 &&
		    (after.sa_handler != before[i].sa_handler ||
		     sigismember(&mask_before, i) != sigismember(&mask_after, i)))
			t_fail(t, __FILE__, __LINE__, "signal %d is handled in another way", i);
	}
	NEED(getcwd(cwd_after, sizeof cwd_after));
	EQS(str_of(cwd_after), str_of(cwd_before));
	EQ(umask(mask), 022);
	EQS(str_of(setlocale(LC_ALL, NULL)), STR("C"));
}

TESTS(CASE(the_library_says_which_one_it_is), CASE(every_status_has_the_name_it_has_in_json),
      CASE(nobody_has_to_want_the_error), CASE(a_message_is_text_whatever_it_quotes),
      CASE(a_store_that_is_not_there_is_made_only_when_asked_for),
      CASE(what_is_not_a_store_is_refused_and_left_alone),
      CASE(options_are_taken_from_headers_that_know_less_or_more),
      CASE(options_that_make_no_sense_are_refused),
      CASE(store_and_settings_are_found_as_the_program_finds_them),
      CASE(hubs_that_the_settings_name_are_reached_and_gone_in_the_end), CASE(results_come_one_by_one),
      CASE(an_unknown_method_is_refused_with_the_nearest),
      CASE(parameters_that_are_no_json_or_not_the_methods_are_refused), CASE(parameters_can_be_texts),
      CASE(bytes_come_as_they_are), CASE(who_takes_the_results_can_stop),
      CASE(who_takes_the_results_can_call), CASE(a_caller_can_do_what_its_scopes_say),
      CASE(another_file_in_the_place_of_the_store_is_the_store_from_then_on),
      CASE(a_call_is_cancelled_by_another_thread), CASE(a_call_ends_when_its_time_is_over),
      CASE(threads_share_a_store_or_have_one_each), CASE(nothing_new_is_not_waited_for_longer_than_wanted),
      CASE(what_calls_of_the_same_program_commit_is_noticed_once),
      CASE(what_another_process_commits_ends_the_wait), CASE(only_one_thread_waits_with_a_store),
      CASE(a_store_that_only_others_can_write_is_read_as_it_changes),
      CASE(a_program_makes_trees_and_reads_them), CASE(trees_and_nodes_that_cannot_be_are_refused),
      CASE(handles_have_two_forms), CASE(a_handle_of_a_hit_resolves_to_what_was_found),
      CASE(values_are_found_in_results_by_their_path), CASE(a_text_of_strangers_is_made_safe_to_print),
      CASE(the_process_is_left_as_it_was))
