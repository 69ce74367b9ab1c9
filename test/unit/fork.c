/*
 * Forks: which point a line stands for, what a line becomes, and that the client would send the same from the
 * new file as from the old one, of conversations of every shape. That it really does is asked of it in
 * test/real.
 */
#include "claude/fork.h"
#include "files.h"
#include "query/context.h"
#include "query/fork.h"
#include "t.h"
#include "talk.h"

#define SESSION "0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e01"
#define FORKED	"0b7f3c1e-8f5a-4f0c-9d53-0a1b2c3d4e02"

/* ---- Points ------------------------------------------------------------------------ */

/* The line that is called so; `k` keeps the names. */
static uint32_t line_called(struct talk *k, struct chain *c, const char *text, const char *name)
{
	uint32_t i = 0;

	talk_lines(k, c, text);
	chain_build(c);
	while (k->names && i < c->line_count && !str_eq(k->names[c->lines[i].offset], str_of(name)))
		i++;
	return i;
}

static void check_point(struct t *t, int line, const char *text, const char *at, const char *want)
{
	struct buf got CLEANUP(buf_release) = BUF_INIT(KIB);
	struct chain c CLEANUP(chain_release) = CHAIN_INIT;
	struct fork_point p;
	TALK k = { 0 };
	uint32_t i = line_called(&k, &c, text, at);

	NEED(k.names);
	p = fork_point(&c, i);
	if (p.line == CHAIN_NONE)
		buf_text(&got, "none");
	else
		buf_str(&got, k.names[c.lines[p.line].offset]);
	if (p.prompt != CHAIN_NONE)
		buf_printf(&got, " before %.*s", STR_ARG(k.names[c.lines[p.prompt].offset]));
	t_eq_str(t, __FILE__, line, buf_as_str(&got), str_of(want), at);
}

#define POINT(text, at, want) check_point(t, __LINE__, text, at, want)

TEST(an_answer_goes_on_behind_all_its_results)
{
	static const char talk[] =
		"u A; a B<A m=1 call=x; a C<B m=1 call=y; u R<C res=y; u S<B res=x; a D<S m=2; u E<D";

	POINT(talk, "B", "S");
	POINT(talk, "C", "S");
	POINT(talk, "R", "S");
	POINT(talk, "S", "S");
	POINT(talk, "D", "D");
}

TEST(results_that_hang_on_each_other_are_one_group)
{
	POINT("u A; a B<A m=1 call=x,y; u R<B res=x; u S<R res=y; a D<S m=2", "R", "S");
	POINT("u A; a B<A m=1 call=x; u R<B res=x; a C<R m=1 call=y; u S<C res=y; a D<S m=2", "B", "S");
	POINT("u A; a B<A m=1 call=x; p P<B; p Q<P; u R<Q res=x; a D<R m=2", "B", "R");
}

TEST(a_result_is_of_the_answer_above_it_alone)
{
	/* The same call, answered again below another answer. */
	POINT("u A; a B<A m=1 call=x; u R<B res=x; a C<R m=2; u S<C res=x; a D<S m=3", "B", "R");
	POINT("u A; a B<A m=1; u R<B res=none; a C<R m=2", "R", "R");
}

/* Where to fork to go on right before the answer of a line, or its results. */
static void check_step(struct t *t, int line, const char *text, const char *at, const char *want)
{
	struct chain c CLEANUP(chain_release) = CHAIN_INIT;
	TALK k = { 0 };
	uint32_t i = line_called(&k, &c, text, at), step;

	NEED(k.names);
	step = fork_step_before(&c, i);
	t_eq_str(t, __FILE__, line, step == CHAIN_NONE ? STR("none") : k.names[c.lines[step].offset], str_of(want),
		 at);
}

TEST(a_step_back_goes_to_the_results_before)
{
	static const char talk[] = "u A; a B<A m=1 call=x; u R<B res=x; a C<R m=2 call=y; s S<C; a D<S m=2 call=z;"
				   " u T<D res=z; u U<D res=y; p P<U; a E<P m=3; u F<E";
	static const char *const want[][2] = { { "A", "none" }, { "B", "none" }, { "R", "none" }, { "C", "R" },
					       { "D", "R" },	{ "T", "R" },	 { "U", "R" },	  { "E", "U" },
					       { "F", "none" } };

	for (size_t i = 0; i < COUNT(want); i++)
		check_step(t, __LINE__, talk, want[i][0], want[i][1]);
}

TEST(a_prompt_goes_on_before_it)
{
	POINT("u A; a B<A m=1; s S<B; u C<S; a D<C m=2", "C", "S before C");
	POINT("u A; a B<A m=1", "A", "none before A");
	POINT("u A; a B<A m=1 call=x; u R<B res=x; t Q<R +queued; a C<Q m=2", "Q", "R before Q");
	POINT("u A ~ -prompt +task; a B<A m=1 ~", "A", "none before A");
}

static void check_prompt_of(struct t *t, int line, const char *text, const char *at, const char *want)
{
	struct chain c CLEANUP(chain_release) = CHAIN_INIT;
	TALK k = { 0 };
	uint32_t i = line_called(&k, &c, text, at);

	NEED(k.names);
	i = fork_prompt_of(&c, i);
	t_eq_str(t, __FILE__, line, i == CHAIN_NONE ? STR("none") : k.names[c.lines[i].offset], str_of(want), at);
}

#define PROMPT_OF(text, at, want) check_prompt_of(t, __LINE__, text, at, want)

TEST(a_prompt_leads_to_all_that_follows_until_the_next)
{
	static const char talk[] = "u A; a B<A m=1 call=x; u R<B res=x; s S<R; a C<S m=2; u D<C; a E<D m=3";

	for (const char *at = "A\0B\0R\0S\0C\0"; *at; at += 2)
		PROMPT_OF(talk, at, "A");
	PROMPT_OF(talk, "D", "D");
	PROMPT_OF(talk, "E", "D");
	PROMPT_OF("a B m=1; u C<B -prompt +meta", "C", "none");
	PROMPT_OF("u A; a B<A m=1; b X; u S<X -prompt +compact; a D<S m=2", "D", "A");
	PROMPT_OF("u A<C res=x; u B<A res=x; u C<B res=x", "B", "none");
}

TEST(what_the_client_said_goes_on_behind_it)
{
	POINT("u A; a B<A m=1; u C<B -prompt +meta; a D<C m=2", "C", "C");
	POINT("u A; t T<A; a B<T m=1", "T", "T");
	POINT("b X; u S<X -prompt +compact; u C<S; a D<C m=1", "S", "S");
}

TEST(circles_end)
{
	POINT("u A<C res=x; u B<A res=x; u C<B res=x", "B", "B");
}

/* ---- Lines ------------------------------------------------------------------------ */

static void rewrite(struct fork_lines *f, const char *line, struct buf *out)
{
	struct record_reader r = RECORD_READER_INIT;
	struct record rec;

	record_begin(&r, str_of(line));
	if (record_next(&r, &rec))
		fork_line(f, &r, &rec, out);
	record_reader_release(&r);
}

static void check_line(struct t *t, int line, const char *before, const char *cwd, const char *given,
		       const char *want)
{
	struct fork_lines f CLEANUP(fork_lines_release) = FORK_LINES_INIT;
	struct buf out CLEANUP(buf_release) = BUF_INIT(MIB);

	(void)uuid_parse(STR(FORKED), &f.session);
	f.cwd = cwd ? str_of(cwd) : (struct str){ 0 };
	if (before)
		rewrite(&f, before, &out);
	buf_clear(&out);
	rewrite(&f, given, &out);
	t_eq_str(t, __FILE__, line, buf_as_str(&out), str_of(want), given);
}

#define BECOMES(given, want)		    check_line(t, __LINE__, NULL, NULL, given, want "\n")
#define BECOMES_BEHIND(before, given, want) check_line(t, __LINE__, before, NULL, given, want "\n")
#define BECOMES_IN(cwd, given, want)	    check_line(t, __LINE__, NULL, cwd, given, want "\n")

TEST(a_line_keeps_its_bytes_but_for_its_place)
{
	BECOMES("{\"parentUuid\" : \"p\",  "
		"\"sessionId\":\"s\",\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"t\", \"x\":1.50e2 }",
		"{\"parentUuid\" : null,  \"sessionId\":\"" FORKED
		"\",\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"t\", \"x\":1.50e2 }");
	BECOMES_BEHIND("{\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"user\",\"uuid\":\"\\u0061b\","
		       "\"timestamp\":\"t\"}",
		       "{\"type\":\"user\",\"uuid\":\"v\",\"timestamp\":\"t\",\"parentUuid\":\"x\","
		       "\"sessionId\":\"s\"}",
		       "{\"type\":\"user\",\"uuid\":\"v\",\"timestamp\":\"t\",\"parentUuid\":\"\\u0061b\","
		       "\"sessionId\":\"" FORKED "\"}");
	/* A signature is good only as it is. */
	BECOMES("{\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"assistant\",\"uuid\":\"u\","
		"\"timestamp\":\"t\",\"message\":"
		"{\"model\":\"m\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"\\u00e4\",\"signature\":"
		"\"a\\/b==\"}]}}",
		"{\"parentUuid\":null,\"sessionId\":\"" FORKED
		"\",\"type\":\"assistant\",\"uuid\":\"u\",\"timestamp\":\"t\",\"message\":"
		"{\"model\":\"m\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"\\u00e4\",\"signature\":"
		"\"a\\/b==\"}]}}");
}

TEST(members_of_that_name_elsewhere_stay)
{
	BECOMES("{\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":"
		"\"t\","
		"\"message\":{\"content\":\"c\",\"cwd\":\"/x\",\"sessionId\":\"y\",\"parentUuid\":\"z\"}}",
		"{\"parentUuid\":null,\"sessionId\":\"" FORKED
		"\",\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"t\","
		"\"message\":{\"content\":\"c\",\"cwd\":\"/x\",\"sessionId\":\"y\",\"parentUuid\":\"z\"}}");
}

TEST(a_folder_is_another_only_where_that_is_wanted)
{
	BECOMES("{\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"/a\",\"uuid\":\"u\",\"timestamp\":\"t\"}",
		"{\"parentUuid\":null,\"sessionId\":\"" FORKED
		"\",\"cwd\":\"/a\",\"uuid\":\"u\",\"timestamp\":\"t\"}");
	BECOMES_IN(
		"/b\"",
		"{\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"/a\",\"uuid\":\"u\",\"timestamp\":\"t\"}",
		"{\"parentUuid\":null,\"sessionId\":\"" FORKED
		"\",\"cwd\":\"/b\\\"\",\"uuid\":\"u\",\"timestamp\":\"t\"}");
}

TEST(a_sub_agents_line_becomes_one_of_a_conversation)
{
	BECOMES("{\"parentUuid\":null,\"isSidechain\":true,\"sessionId\":\"s\",\"agentId\":\"a\",\"uuid\":"
		"\"u\",\"timestamp\":\"t\"}",
		"{\"parentUuid\":null,\"isSidechain\":false,\"sessionId\":\"" FORKED
		"\",\"agentId\":\"a\",\"uuid\":\"u\",\"timestamp\":\"t\"}");
}

TEST(what_the_client_cannot_do_without_is_put_in)
{
	BECOMES("{\"type\":\"user\",\"uuid\":\"u\"}",
		"{\"parentUuid\":null,\"sessionId\":\"" FORKED
		"\",\"timestamp\":\"1970-01-01T00:00:00.000Z\",\"type\":\"user\",\"uuid\":\"u\"}");
	BECOMES("{\"parentUuid\":null,\"sessionId\":\"s\",\"timestamp\":\"t\",\"type\":\"assistant\","
		"\"uuid\":\"u\","
		"\"message\":{\"content\":\"said\"}}",
		"{\"parentUuid\":null,\"sessionId\":\"" FORKED
		"\",\"timestamp\":\"t\",\"type\":\"assistant\",\"uuid\":\"u\","
		"\"message\":{\"model\":\"unknown\",\"content\":[{\"type\":\"text\",\"text\":\"said\"}]}}");
	BECOMES_BEHIND(
		"{\"parentUuid\":null,\"sessionId\":\"s\",\"timestamp\":\"then\",\"type\":\"assistant\","
		"\"uuid\":\"u\","
		"\"message\":{\"model\":\"opus\",\"content\":[]}}",
		"{\"parentUuid\":null,\"sessionId\":\"s\",\"type\":\"assistant\",\"uuid\":\"v\",\"message\":{"
		"\"model\":null,"
		"\"content\":[]}}",
		"{\"timestamp\":\"then\",\"parentUuid\":\"u\",\"sessionId\":\"" FORKED
		"\",\"type\":\"assistant\",\"uuid\":\"v\",\"message\":{\"model\":\"opus\",\"content\":[]}}");
}

TEST(a_message_that_is_none_stays_as_it_is)
{
#define AS_IT_IS(message) \
	BECOMES("{\"parentUuid\":null,\"sessionId\":\"s\",\"timestamp\":\"t\",\"type\":\"assistant\",\"uuid\":\"u\"," \
		"\"message\":" message "}", \
		"{\"parentUuid\":null,\"sessionId\":\"" FORKED \
		"\",\"timestamp\":\"t\",\"type\":\"assistant\",\"uuid\":\"u\",\"message\":" message "}")
	AS_IT_IS("\"said\"");
	AS_IT_IS("null");
	AS_IT_IS("5");
	AS_IT_IS("[]");
	AS_IT_IS("[\"content\",\"model\"]");
#undef AS_IT_IS
}

/* ---- Whole files ------------------------------------------------------------------------ */

struct talked {
	struct files files;
	struct buf text, forked; /* of the file, and of the last fork */
	struct buf was, is;	 /* what is sent, from either */
};

static void talked_release(struct talked *k)
{
	files_release(&k->files);
	buf_release(&k->text);
	buf_release(&k->forked);
	buf_release(&k->was);
	buf_release(&k->is);
}

static enum status take_sent(void *ctx, const struct context_message *m, struct err *err)
{
	struct buf *out = ctx;

	(void)err;
	buf_printf(out, "%.*s %.*s\n", STR_ARG(m->role), STR_ARG(m->content));
	return STATUS_OK;
}

static enum status take_line_of_fork(void *ctx, struct str line, struct err *err)
{
	(void)err;
	buf_str(ctx, line);
	return STATUS_OK;
}

/* What is sent at the point of a fork at a line (by its number), and the fork's file. */
static enum status fork_at(struct talked *k, uint32_t number, bool *any, struct err *err)
{
	struct forking f CLEANUP(forking_release) = FORKING_INIT;
	struct fork_lines as CLEANUP(fork_lines_release) = FORK_LINES_INIT;
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct chain c = CHAIN_INIT;
	struct session session;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	int64_t row, offset;

	buf_clear(&k->was);
	buf_clear(&k->forked);
	(void)uuid_parse(STR(FORKED), &as.session);
	if (files_find(&k->files, SESSION, &row, err) || read_begin(k->files.s, &snapshot, err) ||
	    session_get(k->files.s, row, &mem, &session, err) || chain_load(k->files.s, &session, &c, err))
		return err_failed(err->status);
	*any = number < c.line_count;
	offset = *any ? c.lines[number].offset : 0;
	chain_release(&c);
	if (!*any)
		return STATUS_OK;
	if (forking_load(k->files.s, row, offset, FORK_FROM_POINT, &f, err))
		return err_failed(err->status);
	if (f.count && context_each(&f.lines, &f.chain, f.point.line, false, take_sent, &k->was, err))
		return err_failed(err->status);
	return forking_each(&f, &as, take_line_of_fork, &k->forked, err);
}

static enum status send_forked(struct talked *k, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct lines lines CLEANUP(lines_release) = { 0 };
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct chain c = CHAIN_INIT;
	struct session session;
	enum status status;
	int64_t row;

	buf_clear(&k->is);
	if (!k->forked.n)
		return STATUS_OK;
	if (files_put(&k->files, FORKED, buf_as_str(&k->forked), err) || files_sync(&k->files, err) ||
	    files_find(&k->files, FORKED, &row, err) || read_begin(k->files.s, &snapshot, err) ||
	    session_get(k->files.s, row, &mem, &session, err) || chain_load(k->files.s, &session, &c, err))
		return err_failed(err->status);
	lines_init(&lines, k->files.s, &session);
	/* All its lines hang on each other: its end is that of the file. */
	status = context_each(&lines, &c, c.line_count - 1, false, take_sent, &k->is, err);
	chain_release(&c);
	return status;
}

static void put_content(struct buf *out, char kind, struct str name, struct str tool)
{
	bool answer = kind == 'a';

	buf_printf(out, "\"message\":{%s\"role\":\"%s\",\"content\":[", answer ? "\"model\":\"m\"," : "",
		   answer ? "assistant" : "user");
	if (tool.n && answer)
		buf_printf(out, "{\"type\":\"tool_use\",\"id\":\"%.*s\",\"name\":\"Bash\",\"input\":{}}",
			   STR_ARG(tool));
	else if (tool.n)
		buf_printf(out, "{\"type\":\"tool_result\",\"tool_use_id\":\"%.*s\",\"content\":\"%.*s\"}",
			   STR_ARG(tool), STR_ARG(name));
	else
		buf_printf(out, "{\"type\":\"text\",\"text\":\"%.*s\"}", STR_ARG(name));
	buf_text(out, "]");
}

/* A line in shorthand: KIND NAME<PARENT [tool] [#answer]; kinds: u user, a answer, s system, t attachment, p
 * progress, b boundary. */
static void put_line(struct buf *out, uint32_t number, char kind, struct str name, struct str parent,
		     struct str tool, struct str answer)
{
	static const struct {
		char kind;
		const char *type;
	} types[] = { { 'u', "user" },	     { 'a', "assistant" }, { 's', "system" },
		      { 't', "attachment" }, { 'p', "progress" },  { 'b', "system" } };
	const char *type = "other";

	for (size_t i = 0; i < COUNT(types); i++)
		if (types[i].kind == kind)
			type = types[i].type;
	buf_printf(out, "{\"type\":\"%s\",\"uuid\":\"%.*s\",\"parentUuid\":", type, STR_ARG(name));
	if (parent.n)
		buf_printf(out, "\"%.*s\"", STR_ARG(parent));
	else
		buf_text(out, "null");
	buf_printf(out, ",\"sessionId\":\"" SESSION "\",\"timestamp\":\"2026-11-15T10:%02u:%02u.000Z\",",
		   number / 60 % 60, number % 60);
	if (kind == 'u' || kind == 'a') {
		put_content(out, kind, name, tool);
		if (answer.n)
			buf_printf(out, ",\"id\":\"%.*s\"", STR_ARG(answer));
		buf_text(out, "}");
	} else if (kind == 't') {
		buf_text(out, "\"attachment\":{\"type\":\"x\"}");
	} else if (kind == 'b') {
		buf_text(out, "\"subtype\":\"compact_boundary\",\"compactMetadata\":{}");
	} else {
		buf_text(out, "\"subtype\":\"turn_duration\"");
	}
	buf_text(out, "}\n");
}

static void put_lines(struct buf *out, const char *text)
{
	struct str rest = str_of(text);
	uint32_t number = 0;

	while (rest.p) {
		struct str line = talk_word(&rest, ';'), kind = talk_word(&line, ' '),
			   name = talk_word(&line, ' '), parent, tool = { 0 }, answer = { 0 };

		while (line.p) {
			struct str more = talk_word(&line, ' ');

			if (str_has_prefix(more, STR("#")))
				answer = str_sub(more, 1, SIZE_MAX);
			else
				tool = more;
		}
		name = str_cut(name, '<', &parent);
		put_line(out, number++, kind.p[0], name, parent, tool, answer);
	}
}

/* Each line of the fork hangs on the one before, and its uuid stands once. */
static void check_linear(struct t *t, int line, struct str text)
{
	struct buf before CLEANUP(buf_release) = BUF_INIT(KIB);
	struct str rest = text;

	while (rest.n) {
		struct json j CLEANUP(json_release) = JSON_INIT;
		struct str one = str_cut(rest, '\n', &rest), parent;
		struct err err;

		if (json_read(&j, one, LIMIT_JSON_DEPTH, &err)) {
			t_fail(t, __FILE__, line, "%s: %.*s", err.text, STR_ARG(one));
			return;
		}
		parent = json_raw(&j, json_get(&j, 0, STR("parentUuid")));
		t_eq_str(t, __FILE__, line, parent, before.n ? buf_as_str(&before) : STR("null"),
			 "the line before");
		buf_clear(&before);
		buf_str(&before, json_raw(&j, json_get(&j, 0, STR("uuid"))));
	}
}

static void check_same(struct t *t, int line, const char *text)
{
	struct talked k CLEANUP(talked_release) = {
		.text = BUF_INIT(MIB), .forked = BUF_INIT(MIB), .was = BUF_INIT(MIB), .is = BUF_INIT(MIB)
	};
	bool any = true;
	struct err err;

	put_lines(&k.text, text);
	if (files_init(t, &k.files, &err) || files_put(&k.files, SESSION, buf_as_str(&k.text), &err) ||
	    files_sync(&k.files, &err)) {
		t_fail(t, __FILE__, line, "%s", err.text);
		return;
	}
	for (uint32_t i = 0; any; i++) {
		if (fork_at(&k, i, &any, &err) || (any && send_forked(&k, &err))) {
			t_fail(t, __FILE__, line, "line %u: %s", i, err.text);
			return;
		}
		if (any && !t_eq_str(t, __FILE__, line, buf_as_str(&k.is), buf_as_str(&k.was), text))
			t_fail(t, __FILE__, line, "of a fork at line %u", i);
		check_linear(t, line, buf_as_str(&k.forked));
	}
}

#define SAME(text) check_same(t, __LINE__, text)

TEST(a_fork_is_sent_as_the_conversation_was)
{
	SAME("u A;a B<A #1;u C<B;a D<C #2;u E<B;a F<E #3");
	SAME("u A;a B<A x #1;a C<B y #1;u R<C y;u S<B x;a D<S #2");
	SAME("u A;a B<A x #1;u R<B x;a C<R y #1;u S<C y;a D<S #2");
	SAME("u A;a B<A x #1;a C<B y #1;u R<B x;u S<R y;a D<S #2");
	SAME("u A;t T<A;s S<T;a B<S #1;s X<B;u C<X;p P<C;a D<P #2");
	SAME("u A;a B<A x #1;p P<B;u R<P x;t T<R;a D<T #2");
	SAME("u A;a B<A #1;b X;u S<X;u C<S;a D<C #2;u E<D");
	SAME("u A;a B<A x #1;u C<B;a D<C #2"); /* a call that nobody answered */
	SAME("u A;a B<A x #1;u T<B;u R<T x;a D<R #2");
	SAME("u A;a B<A x #1;u R<B x;u S<B x;a D<S #2"); /* answered twice */
	SAME("u A;a B<A;u C<gone;a D<C");
}

/* Whatever hangs on what: answers of several parts, calls side by side, results in any order, notes in
 * between. */
TEST(so_is_one_of_any_shape)
{
	enum { LINES = 14 };
	unsigned seed = t_seed(), rounds = t_is_full() ? 200 : 15;

	for (unsigned n = 0; n < rounds && !t->failures; n++) {
		struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

		for (unsigned i = 0; i < LINES; i++) {
			static const char kinds[] = "uuaaaatsp";
			char kind = i ? kinds[(unsigned)rand_r(&seed) % (sizeof kinds - 1)] : 'u';
			unsigned back = 1 + (unsigned)rand_r(&seed) % 3;

			buf_printf(&text, "%s%c L%u", i ? ";" : "", kind, i);
			if (i)
				buf_printf(&text, "<L%u", i < back ? 0 : i - back);
			if ((kind == 'u' || kind == 'a') && i && (unsigned)rand_r(&seed) % 2)
				buf_printf(&text, " c%u", (unsigned)rand_r(&seed) % 3);
			if (kind == 'a')
				buf_printf(&text, " #%u", i / 4);
		}
		SAME(text.p);
		if (t->failures)
			t_fail(t, __FILE__, __LINE__, "round %u: %s", n, text.p);
	}
}

TESTS(CASE(an_answer_goes_on_behind_all_its_results), CASE(a_prompt_leads_to_all_that_follows_until_the_next),
      CASE(results_that_hang_on_each_other_are_one_group),
      CASE(a_result_is_of_the_answer_above_it_alone), CASE(a_step_back_goes_to_the_results_before),
      CASE(a_prompt_goes_on_before_it),
      CASE(what_the_client_said_goes_on_behind_it), CASE(circles_end),
      CASE(a_line_keeps_its_bytes_but_for_its_place), CASE(members_of_that_name_elsewhere_stay),
      CASE(a_folder_is_another_only_where_that_is_wanted),
      CASE(a_sub_agents_line_becomes_one_of_a_conversation),
      CASE(what_the_client_cannot_do_without_is_put_in),
      CASE(a_message_that_is_none_stays_as_it_is), CASE(a_fork_is_sent_as_the_conversation_was),
      CASE(so_is_one_of_any_shape))
