/*
 * memory.search: where something was said.
 *
 * What can be typed as a condition of the query can be given as a parameter, too; the query is
 * read (query/expr.c), names in it are looked up here, where it is known what people mean by
 * them, and the rest is the search's.
 */
#include "hub/memory_find.h"

#include "hub/handle_node.h"
#include "hub/meant.h"
#include "hub/memory_message.h"
#include "hub/memory_project.h"
#include "hub/memory_session.h"
#include "hub/period.h"
#include "hub/search_hit.h"
#include "hub/search_notes.h"
#include "hub/settings.h"
#include "query/forgive.h"
#include "query/made.h"
#include "query/pattern.h"
#include "query/rank.h"
#include "query/search.h"
#include "query/values.h"

#include <stdio.h>
#include <string.h>

static const char *const places[] = { "prompt", "answer", "thinking", "input", "output", "other", "note", NULL };
static const char *const found_in[] = { "prompt", "answer", "thinking", "input",    "output",
					 "other",  "note",   "bookmark", NULL };

static const char *const kinds[] = { "plan", "memory", "task", "todo", "history", "node", NULL };
static const char *const roles[] = { "user", "assistant", "tool", "system", NULL };
static const char *const orders[] = { "relevance", "recent", "old", NULL };
static const char *const groups[] = { "session", "none", NULL };

static const struct param search_params[] = {
	{ .name = "words",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD | PARAM_REST,
	  .shown = "WORDS",
	  .help = "what to look for: all of these words, and conditions such as role:user; may be left out "
		  "where options say enough" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "10",
	  .setting = "search.limit",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "at most so many hits; 0 for all" },
	{ .name = "each",
	  .type = VALUE_INT,
	  .initial = "0",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "of these at most so many of one session, the best; 0 for all" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .letter = 'p',
	  .shown = "DIR",
	  .names = "memory.projects",
	  .help = "only in this folder and below; its name, or the end of its path, will do" },
	{ .name = "archived", .type = VALUE_BOOL, .help = "also in conversations, trees and nodes that are archived" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .letter = 's',
	  .shown = "ID",
	  .names = "memory.sessions",
	  .help = "only in this session; @ for the last, @~1 for the one before it; or in a tree of your own" },
	{ .name = "in",
	  .type = VALUE_ENUM,
	  .flags = PARAM_REST,
	  .choices = places,
	  .help = "only what a person asked, what was answered, thought, given to a tool, or came out of "
		  "one, or what somebody noted; several with commas" },
	{ .name = "role",
	  .type = VALUE_ENUM,
	  .flags = PARAM_REST,
	  .choices = roles,
	  .help = "only what was typed or queued by a person, what a model said and did, what tools gave "
		  "back, or what the client put in" },
	PERIOD_PARAMS("only"),
	{ .name = "sort",
	  .type = VALUE_ENUM,
	  .choices = orders,
	  .initial = "relevance",
	  .help = "which come first: the best, the newest or the oldest" },
	{ .name = "offset",
	  .type = VALUE_INT,
	  .initial = "0",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "pass over so many of the first" },
	{ .name = "budget",
	  .type = VALUE_INT,
	  .shown = "CHARACTERS",
	  .least = 1,
	  .most = INT32_MAX,
	  .help = "as many whole hits as fit into so many characters of JSON; --limit counts if it is given, "
		  "too" },
	{ .name = "context",
	  .type = VALUE_INT,
	  .initial = "0",
	  .least = 0,
	  .most = 20,
	  .help = "with so many prompts and answers before and behind each hit" },
	{ .name = "regex",
	  .type = VALUE_BOOL,
	  .help = "the first of WORDS is an extended regular expression, with \\d, \\w, \\s, \\b and \\x41, looked "
		  "for in each line of a text, in any case of letters unless it has a capital one; the others are as "
		  "ever" },
	{ .name = "inside",
	  .type = VALUE_BOOL,
	  .help = "also where what was typed stands inside of other words; looks at texts one by one, as --regex does. "
		  "Where words find nothing that is done anyway, and said" },
	{ .name = "case_sensitive",
	  .type = VALUE_BOOL,
	  .help = "only where it stands exactly as typed, signs and all" },
	{ .name = "group",
	  .type = VALUE_ENUM,
	  .choices = groups,
	  .initial = "session",
	  .help = "on a terminal: hits below their session, or each by itself in their order" },
	{ 0 },
};

static const struct field mark_fields[] = {
	{ .name = "start",
	  .type = VALUE_INT,
	  .help = "byte of the snippet, as UTF-8, at which it begins: bytes, not characters" },
	{ .name = "length", .type = VALUE_INT, .help = "bytes, so too" },
	{ 0 },
};

static const struct field around_fields[] = {
	{ .name = "id", .type = VALUE_ID, .help = "of the message" },
	{ .name = "in", .type = VALUE_ENUM, .choices = places, .help = "prompt or answer" },
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when it was said" },
	{ .name = "text", .type = VALUE_TEXT, .help = "its beginning, on one line" },
	{ 0 },
};

static const struct field search_fields[] = {
	{ .name = "id",
	  .type = VALUE_ID,
	  .flags = FIELD_KEY,
	  .help = "of the part that was found; of what a note is on; of the file, the line of typed history or the "
		  "node, where it is in no conversation" },
	HANDLE_FIELD(""),
	{ .name = "message",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "it belongs to; absent = a note on something that is no part of one, or a file" },
	{ .name = "session",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL,
	  .help = "it belongs to; absent = a note on what is in none, or is gone: then so are its title, project and "
		  "file; or a file that belongs to none, or to one that is not here" },
	{ .name = "kind",
	  .type = VALUE_ENUM,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .choices = kinds,
	  .help = "of file, where it is in no conversation; 'node' = somebody made it" },
	{ .name = "tree",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "that a node is in" },
	{ .name = "title",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL,
	  .help = "of the session; of a plan its heading, of memory its file's name, of others how they begin; of a "
		  "node what its tree says of itself" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL,
	  .help = "folder the session worked in, or that the file is about" },
	{ .name = "branch",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of git, that its line was written on; of what stands in no line, that the session was last on" },
	{ .name = "agent",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "sub-agent that said it; absent = the conversation itself" },
	{ .name = "withdrawn",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "an older version of the file had it, the newest has not" },
	{ .name = "at", .type = VALUE_TIME, .flags = FIELD_OPTIONAL, .help = "when it was said, or noted" },
	{ .name = "updated",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of a note: the time of the last line of the session it is on" },
	{ .name = "in", .type = VALUE_ENUM, .choices = found_in, .help = "what kind of text it is" },
	QUEUED_FIELD(FIELD_HIDDEN),
	{ .name = "inside",
	  .type = VALUE_BOOL,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "found inside of words, where as words it stands nowhere, or with --inside" },
	{ .name = "asked",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what was looked for instead, where no text has all that was typed: without words that say nothing, "
		  "with other forms of the rest, and at last with one of them missing" },
	{ .name = "also_in",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "so many other sessions have it, too: forks of this one, or what it is a fork of. Each part is "
		  "found once, in the session it was first said in, or in one that was asked for" },
	{ .name = "note",
	  .type = VALUE_ID,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "of the note or bookmark whose words were found" },
	{ .name = "tool",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "name of the tool, in its input" },
	{ .name = "number",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "1 is the first hit of the query" },
	{ .name = "total",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "how many hits there are, given or not; copies with ids of their own count until they are met. "
		  "Absent where that is not known, as with --each" },
	{ .name = "score",
	  .type = VALUE_INT,
	  .flags = FIELD_HIDDEN,
	  .help = "how well it fits, in thousandths" },
	{ .name = "snippet",
	  .type = VALUE_TEXT,
	  .flags = FIELD_STRETCH,
	  .help = "the text around it, on one line" },
	{ .name = "marks",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_HIDDEN,
	  .fields = mark_fields,
	  .help = "where the words stand in the snippet: byte offsets into its UTF-8" },
	{ .name = "before",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .fields = around_fields,
	  .help = "what was said before it, with --context" },
	{ .name = "after",
	  .type = VALUE_OBJECT,
	  .flags = FIELD_LIST | FIELD_OPTIONAL | FIELD_HIDDEN,
	  .fields = around_fields,
	  .help = "and behind it" },
	{ .name = "line",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the uuid its line has in the file" },
	{ .name = "path",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "the file, below its folder" },
	{ .name = "offset",
	  .type = VALUE_INT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "byte of the file at which its line begins; 0 where a file is read whole" },
	{ 0 },
};

struct finding {
	struct call *call;
	int64_t budget;		 /* characters that are left; below 0 = any number */
	int64_t given, left_out; /* hits */
	int64_t first;		 /* characters of the first that was left out */
	bool inside;		 /* looked for inside of words */
	struct str asked;	 /* what was looked for instead of what was typed; p NULL = that */
	int64_t looked;		 /* nobody asked for that, and it does not stand in so many texts: */
	bool looked_all;	 /* which are all that could have it, */
	bool looked_narrowed;	 /* and these only such as have the other words */
	bool waits;		 /* nothing is given where there are few, */
	bool few;		 /* and so it was: */
	int64_t total;		 /* that many there were */
};

enum { FEW_HITS = 10 }; /* a page of them: whoever has one has something to look at */

static enum status emit_hit(void *ctx, const struct search_hit *hit, struct err *err)
{
	enum {
		AROUND = 8
	}; /* bytes that a face writes beside an item: the version of its fields, a line feed */
	struct finding *f = ctx;

	if (f->waits && hit->total < FEW_HITS) {
		f->few = true;
		f->total = hit->total;
		return err_fail(err, STATUS_CANCELLED, "there are few");
	}
	f->waits = false;
	if (f->few && hit->total <= f->total)
		f->asked = (struct str){ 0 };
	search_put_hit(f->call, hit);
	if (f->inside)
		put_bool(&f->call->writer, "inside", true);
	if (f->asked.p)
		put_text(&f->call->writer, "asked", f->asked);
	if (f->budget >= 0) {
		int64_t size = (int64_t)f->call->item.n + AROUND;

		if (f->left_out || size > f->budget) {
			f->first = f->left_out++ ? f->first : size;
			return STATUS_OK;
		}
		f->budget -= size;
	}
	f->given++;
	return call_emit(f->call, err);
}

/* The words from the nth on as one query, however many arguments they came in, and more of them. */
static struct str query_text(struct call *c, size_t first, struct str more)
{
	const struct value *words = call_value(c, "words");
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);

	for (size_t i = first; i < words->count; i++) {
		buf_text(&text, i > first ? " " : "");
		buf_str(&text, words->list[i]);
	}
	buf_str(&text, more);
	return arena_str(&c->mem, buf_as_str(&text));
}

/* A pattern, and with it the words that narrow. */
static enum status read_pattern(struct call *c, struct grep *check, struct expr *e, struct err *err)
{
	struct str pattern = call_value(c, "words")->list[0], text;
	const char *copy = arena_cstr(&c->mem, pattern), *why;
	struct buf words CLEANUP(buf_release) = BUF_INIT(KIB * 16), posix CLEANUP(buf_release) = BUF_INIT(MIB);
	bool any_case, exact;

	if (str_has_byte(pattern, '\0') || !pattern.n)
		return err_fail(err, STATUS_USAGE, "--regex: what is to be looked for?");
	any_case = str_has_prefix(pattern, STR("(?i)"));
	copy += any_case ? STR("(?i)").n : 0;
	why = pattern_translate(copy, &posix);
	if (why)
		return grep_refuse(copy, why, err);
	exact = call_flag(c, "case_sensitive") || (!any_case && grep_has_capitals(copy));
	copy = arena_cstr(&c->mem, buf_as_str(&posix));
	if (grep_pattern(check, copy, exact, err))
		return err_failed(err->status);
	grep_words(copy, &words);
	text = query_text(c, 1, buf_as_str(&words));
	if (str_trim(text).n)
		return expr_read_beside(e, text, &c->mem, err);
	expr_begin(e, &c->mem);
	return STATUS_OK;
}

/* Whether options alone say what is asked for. */
static bool is_narrowed(const struct call *c)
{
	static const char *const names[] = { "role", "in", "project", "session" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (call_value(c, names[i])->given)
			return true;
	return period_is_given(c);
}

/* What is asked for; *check with what the index cannot say, left alone when there is nothing. */
static enum status read_query(struct call *c, struct search_query *q, struct expr *e, struct grep *check,
			      struct err *err)
{
	if (!call_value(c, "words")->count) {
		if (!is_narrowed(c) || call_flag(c, "regex"))
			return err_fail(err, STATUS_USAGE,
					"what is to be looked for? words, or conditions such as role:user");
		expr_begin(e, &c->mem);
		return STATUS_OK;
	}
	if (call_flag(c, "regex")) {
		q->check = check;
		return read_pattern(c, check, e, err);
	}
	if (is_narrowed(c) ? expr_read_beside(e, query_text(c, 0, STR("")), &c->mem, err)
			   : expr_read(e, query_text(c, 0, STR("")), true, &c->mem, err))
		return err_failed(err->status);
	if (call_flag(c, "case_sensitive")) {
		grep_exact(check, e);
		q->check = check;
	}
	return STATUS_OK;
}

static unsigned places_of(const struct call *c)
{
	const struct value *in = call_value(c, "in");
	unsigned bits = 0;

	for (size_t i = 0; i < in->count; i++)
		for (int p = 0; p < SEARCH_PLACES; p++)
			if (str_eq(in->list[i], str_of(search_place_name(p))))
				bits |= 1u << p;
	return bits;
}

/* The models with this in their name. */
static enum status find_models(struct call *c, struct expr *e, struct expr_condition *o, struct err *err)
{
	struct str *names;
	size_t count;

	if (model_names(c->store, o->value, &c->mem, &names, &count, err))
		return err_failed(err->status);
	expr_set_models(e, o, names, count, &c->mem);
	return STATUS_OK;
}

/* The row of a session, or what stands for a tree that was made. */
static enum status session_named(struct call *c, struct str text, int64_t *row, struct err *err)
{
	struct session session;
	struct meant what;
	struct tree t;

	if (meant_find(c->store, text, MEANT_MIRRORED | MEANT_TREE, &c->mem, &what, err))
		return err_failed(err->status);
	if (what.kind == MEANT_TREE) {
		if (tree_get(c->store, &what.id, &c->mem, &t, err))
			return err_failed(err->status);
		*row = conditions_tree(t.row);
		return STATUS_OK;
	}
	if (resolve_session(c->store, text, &c->mem, &session, err))
		return err_failed(err->status);
	*row = session.row;
	return STATUS_OK;
}

/* As a condition a name may mean several: one of them has to hold, and of what is excluded none. */
static enum status find_projects(struct call *c, struct expr *e, struct expr_condition *o, struct err *err)
{
	struct buf list CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);
	struct str typed = o->value, *folders;
	size_t count;

	if (projects_named(c, typed, &folders, &count, err))
		return err_failed(err->status);
	o->value = folders[0];
	for (size_t i = 0; i < count && count > 1; i++) {
		buf_printf(&list, "%s%.*s", i ? ", " : "", STR_ARG(folders[i]));
		if (i && !expr_add_condition(e, EXPR_PROJECT, folders[i], o->excluded))
			return err_fail(err, STATUS_AMBIGUOUS, "project:%.*s means too many; give more of the path",
					STR_ARG(str_sub(typed, 0, 100)));
	}
	if (count > 1)
		log_warn(c->log, "project:%.*s means several: %.*s", STR_ARG(str_sub(typed, 0, 100)),
			 STR_ARG(buf_as_str(&list)));
	return STATUS_OK;
}

/* What people mean by the names in a query. */
static enum status look_up_names(struct call *c, struct expr *e, struct err *err)
{
	/* Those that are added meanwhile are known. */
	for (size_t i = 0, count = e->condition_count; i < count; i++) {
		struct expr_condition *o = &e->conditions[i];

		if (o->field == EXPR_MODEL && find_models(c, e, o, err))
			return err_failed(err->status);
		if (o->field == EXPR_PROJECT && find_projects(c, e, o, err))
			return err_failed(err->status);
		if (o->field != EXPR_SESSION)
			continue;
		if (session_named(c, o->value, &o->row, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

static enum status add_roles(const struct call *c, struct expr *e, struct err *err)
{
	const struct value *role = call_value(c, "role");

	for (size_t i = 0; i < role->count; i++)
		if (!expr_add_condition(e, EXPR_ROLE, role->list[i], false))
			return err_fail(err, STATUS_USAGE, "there are too many conditions");
	return STATUS_OK;
}

static enum rank_order order_of(const struct call *c)
{
	struct str sort = call_text(c, "sort");

	return str_eq(sort, STR("recent")) ? RANK_RECENT : str_eq(sort, STR("old")) ? RANK_OLD : RANK_BEST;
}

/* As many as could fit, if nobody says how many. */
static size_t limit_of(const struct call *c)
{
	enum { SMALLEST = 400, MOST = 10000 };
	const struct value *budget = call_value(c, "budget");
	int64_t fit = budget->number / SMALLEST + 1;

	if (!budget->given || call_value(c, "limit")->given)
		return (size_t)call_int(c, "limit");
	return (size_t)(fit < MOST ? fit : MOST);
}

static enum status set_filter(struct call *c, struct conditions *f, struct hidden *hidden, struct branched *branched,
			      struct err *err)
{
	struct period period = period_read(c, &zone_local);

	if (!call_flag(c, "archived") && hidden_load(c->store, hidden, err))
		return err_failed(err->status);
	f->hidden = hidden;
	f->branched = branched;
	f->places = places_of(c);
	f->after = period.from > 0 ? period.from : 0;
	f->before = period.to < INT64_MAX ? period.to : 0;
	if (call_text(c, "session").p && session_named(c, call_text(c, "session"), &f->session, err))
		return err_failed(err->status);
	return project_of(c, &f->project, err);
}

static void note_count(const struct finding *f, const struct search_query *q,
		       const struct search_report *report)
{
	int64_t total = report->total, rest = total - (int64_t)q->offset - f->given;
	char of[64] = "";

	/* How many each session leaves is known of those that were met. */
	if (!q->each)
		snprintf(of, sizeof of, " of %s%" PRId64, report->about ? "about " : "", total);
	if (f->left_out)
		call_note(f->call, "%" PRId64 "%s hits; the others did not fit; --offset %" PRId64 " goes on",
			  f->given, report->more ? "" : of, (int64_t)q->offset + f->given);
	else if (report->more && f->given)
		call_note(f->call, "%" PRId64 " hit%s, and perhaps more; arbor show ID opens one", f->given,
			  f->given == 1 ? "" : "s");
	else if (q->offset && f->given)
		call_note(f->call, "hits %zu to %" PRId64 "%s; arbor show ID opens one", q->offset + 1,
			  (int64_t)q->offset + f->given, of);
	else if (rest > 0 && q->each)
		call_note(f->call,
			  "%" PRId64 " hit%s, and perhaps more; -n 0 shows all that --each %zu leaves; arbor show ID "
			  "opens one",
			  f->given, f->given == 1 ? "" : "s", q->each);
	else if (rest > 0)
		call_note(f->call, "%" PRId64 "%s hits; -n 0 shows all; arbor show ID opens one", f->given, of);
	else if (total)
		call_note(f->call, "%" PRId64 " hit%s; arbor show ID opens one", total, total == 1 ? "" : "s");
}

/* What of a query are words that texts have. */
struct said {
	struct store *store;
	size_t absent, kept;
};

static enum status is_said(void *ctx, struct str match, bool *keeps, struct err *err)
{
	struct said *y = ctx;
	int64_t found;

	if (rank_count(y->store, match, 1, &found, err))
		return err_failed(err->status);
	*keeps = found > 0;
	y->absent += !*keeps;
	y->kept += *keeps;
	return STATUS_OK;
}

static enum status is_anything(void *ctx, struct str match, bool *keeps, struct err *err)
{
	struct said *y = ctx;

	(void)match;
	(void)err;
	*keeps = false;
	y->absent++;
	return STATUS_OK;
}

enum { UNASKED_MS = 250 }; /* who mistyped a word waits for what was meant */

/* Inside of words: in texts that have the items that are words, and in any if none is. */
static enum status search_inside(struct finding *f, const struct search_query *asked, struct search_report *report,
				 struct err *err)
{
	struct call *c = f->call;
	struct expr narrow CLEANUP(expr_release) = { 0 };
	struct grep check CLEANUP(grep_release) = { 0 };
	struct said said = { .store = c->store };
	struct search_query q = *asked;

	if (expr_narrowing(asked->expr, call_flag(c, "inside") ? is_anything : is_said, &said, &narrow, &c->mem, err))
		return err_failed(err->status);
	if (!said.absent && !call_flag(c, "inside"))
		return STATUS_OK; /* all are words, only not as they are asked for */
	grep_inside(&check, asked->expr, call_flag(c, "inside") ? 2000 : UNASKED_MS);
	check.open_front = !call_flag(c, "inside");
	q.expr = &narrow;
	q.check = &check;
	f->inside = true;
	f->looked_narrowed = said.kept > 0;
	return search_run(c->store, &q, emit_hit, f, report, err);
}

/* Less than was asked for, a step at a time: whoever asks a question does not mean each word of it. */
static enum status search_forgiving(struct finding *f, const struct search_query *asked, struct search_report *report,
				    struct err *err)
{
	static const char *const how[FORGIVE_WAYS] = { [FORGIVE_ONE] = ", of which one may be missing" };
	struct call *c = f->call;

	for (int way = 0; way < FORGIVE_WAYS && !report->total; way++) {
		struct expr loose CLEANUP(expr_release) = { 0 };
		struct buf said CLEANUP(buf_release) = BUF_INIT(64 * KIB);
		struct search_query q = *asked;
		bool asks;

		if (forgive(c->store, asked->expr, (enum forgive_way)way, &loose, &said, &asks, &c->mem, err))
			return err_failed(err->status);
		if (!asks)
			continue;
		q.expr = &loose;
		f->asked = arena_str(&c->mem, buf_as_str(&said));
		if (search_run(c->store, &q, emit_hit, f, report, err))
			return err_failed(err->status);
		if (report->total)
			log_warn(c->log, "no text has all of this; looked for %.*s%s instead", STR_ARG(f->asked),
				 how[way] ? how[way] : "");
	}
	return STATUS_OK;
}

/* Where few texts have all words of a question, those that have what it is about are meant, too. */
static enum status search_words(struct finding *f, const struct search_query *asked, struct search_report *report,
				struct err *err)
{
	struct call *c = f->call;
	struct expr less CLEANUP(expr_release) = { 0 };
	struct buf said CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct search_query q = *asked;
	enum status status;

	f->waits = !asked->check && forgive_few(asked->expr, &less, &said, &c->mem);
	status = search_run(c->store, asked, emit_hit, f, report, err);
	if (status && !f->few)
		return err_failed(status);
	/* On a page behind the last there is nothing to wait for. */
	if (f->waits && report->total && report->total < FEW_HITS) {
		f->few = true;
		f->total = report->total;
	}
	f->waits = false;
	if (!f->few)
		return STATUS_OK;
	q.expr = &less;
	f->asked = arena_str(&c->mem, buf_as_str(&said));
	if (search_run(c->store, &q, emit_hit, f, report, err))
		return err_failed(err->status);
	if (f->asked.p)
		log_warn(c->log, "few texts have all of this; looked for %.*s, too", STR_ARG(f->asked));
	return STATUS_OK;
}

/* What nothing but words was asked for, and no word was found of, may stand inside of words. */
static enum status search_further(struct finding *f, const struct search_query *q, struct search_report *report,
				  struct err *err)
{
	struct call *c = f->call;

	if (report->total || q->check || !q->expr->count || q->expr->excludes)
		return STATUS_OK;
	if (search_inside(f, q, report, err))
		return err_failed(err->status);
	if (report->total)
		log_warn(c->log, "no text has this as words; these have it inside of words%s",
			 report->gave_up ? ", of those that were looked at: --inside looks further" : "");
	f->looked = report->total ? 0 : report->looked;
	f->looked_all = !report->gave_up;
	if (report->total)
		return STATUS_OK;
	report->more = report->gave_up = f->inside = false;
	return search_forgiving(f, q, report, err);
}

/* No text has the names, or none of those that there was time for. */
static void note_no_signs(struct call *c, const struct expr *e, const struct search_report *report)
{
	struct str name = search_shorten(c, e->signs);

	if (report->gave_up)
		log_warn(c->log, "'%.*s' does not stand in the first %" PRId64
			 " texts that have its words; --inside looks for the signs, too",
			 STR_ARG(name), report->looked);
	else if (e->signs_count > 1)
		log_warn(c->log,
			 "no text has '%.*s' and the other names with signs as they were typed; these have "
			 "their words",
			 STR_ARG(name));
	else
		log_warn(c->log, "no text has '%.*s' as it was typed; these have its words", STR_ARG(name));
}

/* Names with signs, as C++, that the index knows without: texts that have them so, in quotes with all that
 * stands there if any does. Where none does, words are all. */
static enum status search_signs(struct finding *f, const struct search_query *asked,
				struct search_report *report, struct err *err)
{
	const struct expr *e = asked->expr;
	struct call *c = f->call;
	struct search_query q = *asked;

	for (int whole = e->signs_quoted; whole >= 0; whole--) {
		struct grep check CLEANUP(grep_release) = { 0 };

		grep_signs(&check, e, whole, UNASKED_MS);
		q.check = &check;
		if (search_run(c->store, &q, emit_hit, f, report, err))
			return err_failed(err->status);
		if (report->total && e->signs_quoted && !whole)
			log_warn(c->log,
				 "no text has what stands in quotes as it was typed; these have '%.*s'",
				 STR_ARG(search_shorten(c, e->signs)));
		if (report->total || !report->looked)
			return STATUS_OK;
	}
	note_no_signs(c, e, report);
	report->gave_up = false;
	return search_run(c->store, asked, emit_hit, f, report, err);
}

/* The search that was asked for, in one of its ways. */
static enum status search_asked(struct finding *f, const struct search_query *q, struct search_report *report,
				struct err *err)
{
	if (call_flag(f->call, "inside") && !q->check && q->expr->count)
		return search_inside(f, q, report, err);
	if (q->expr->signs.p && !q->check && search_signs(f, q, report, err))
		return err_failed(err->status);
	if ((!q->expr->signs.p || q->check) && search_words(f, q, report, err))
		return err_failed(err->status);
	return search_further(f, q, report, err);
}

/* As somebody wants them; else those that are built in. */
static enum status set_weights(struct call *c, struct search_query *q, struct err *err)
{
	struct str text = settings_text(c->settings, "search.weights");
	double *weights = arena_alloc(&c->mem, SEARCH_PLACES * sizeof *weights);

	if (!text.p)
		return STATUS_OK;
	if (weights_read(text, &c->mem, weights, err))
		return err_pass(err, "search.weights");
	q->weights = weights;
	return STATUS_OK;
}

/* Not even one fits. */
static enum status too_small(const struct finding *f, const struct search_query *q,
			     const struct search_report *report, struct err *err)
{
	char of[32] = "";

	if (!report->more)
		snprintf(of, sizeof of, " of %" PRId64, report->total);
	return err_fail(err, STATUS_USAGE,
			"--budget: hit %zu%s takes %" PRId64 " characters, and there is room for %" PRId64,
			q->offset + 1, of, f->first, f->budget);
}

static enum status run_search(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct expr expr CLEANUP(expr_release) = { 0 };
	struct grep check CLEANUP(grep_release) = { 0 };
	struct hidden hidden CLEANUP(hidden_release) = HIDDEN_INIT;
	struct branched branched CLEANUP(branched_release) = BRANCHED_INIT;
	struct search_query q = { .expr = &expr,
				  .limit = limit_of(c),
				  .offset = (size_t)call_int(c, "offset"),
				  .each = (size_t)call_int(c, "each"),
				  .order = order_of(c),
				  .archived = call_flag(c, "archived"),
				  .context = (size_t)call_int(c, "context") };
	struct finding f = { .call = c,
			     .budget = call_value(c, "budget")->given ? call_int(c, "budget") : -1 };
	struct search_report report = { 0 };

	if (read_query(c, &q, &expr, &check, err) || add_roles(c, &expr, err) ||
	    read_begin(c->store, &snapshot, err) || look_up_names(c, &expr, err) ||
	    set_filter(c, &q.filter, &hidden, &branched, err) || set_weights(c, &q, err))
		return err_failed(err->status);
	if (search_asked(&f, &q, &report, err))
		return err_failed(err->status);
	warn_unread(c);
	search_note_odd(c, &expr);
	if (f.left_out && !f.given)
		return too_small(&f, &q, &report, err);
	if (report.total && !f.given && q.offset)
		return err_fail(err, STATUS_NOT_FOUND,
				"there %s %" PRId64 " hit%s%s, and --offset %zu is behind the last",
				report.total == 1 ? "is" : "are", report.total, report.total == 1 ? "" : "s",
				report.more ? " in those texts that were looked at" : "", q.offset);
	note_count(&f, &q, &report);
	search_note_time(c, &report);
	if (report.total)
		return STATUS_OK;
	return search_not_found(c, &q, is_narrowed(c), query_text(c, 0, STR("")),
				&(struct search_looked){ .texts = f.looked,
							 .all = f.looked_all,
							 .narrowed = f.looked_narrowed,
							 .late = report.gave_up || report.unread },
				err);
}

const struct method memory_search = {
	.name = "search",
	.verb = "search",
	.also = "grep rg ag find query ask",
	.group = "find",
	.first = 2,
	.summary = "Find where something was said",
	.text = "All words must occur in the same part of a conversation: a prompt, an answer, a\n"
		"tool's input or output. \"Several words\" in quotes must follow each other; word* is\n"
		"the beginning of a word. Case and accents do not matter, and identifiers are found\n"
		"whole or by their parts: parseHTTPHeader by parse, http or parse_http_header.\n\n"
		"a OR b, NOT a, (a OR b) c, NEAR(a b, 5) with at most five words between; -a is NOT a and\n"
		"has to stand in quotes with the rest, or behind --, since it would be an option. What is\n"
		"excluded needs something that is looked for, be it a condition: in:input -tool:Bash.\n\n"
		"Conditions hold for the whole query, and alone they list the newest: role:user (typed or\n"
		"queued by a person), role:assistant, role:tool, role:system; in:prompt, answer, thinking,\n"
		"input, output, other, note; tool:Bash (calls of it; with is:error or in:output their\n"
		"results, with OR between them calls), file:NAME (calls that name such a file), project:NAME,\n"
		"session:ID, model:NAME (what such a model said and did; prompts and\n"
		"results have none), branch:NAME (written while on it), agent:ID (said by that sub-agent, or to\n"
		"it); tag:NAME (on it, its message, turn or session, 'arbor help tag'), is:noted,\n"
		"is:bookmarked; is:error, is:subagent, is:withdrawn (gone from the newest version of its file),\n"
		"is:branch (its conversation was rewound, forked or continued twice); after:, before: and day: with\n"
		"2026-01-31, 2026-01, jan 20, monday, yesterday, 7d, last-week, 2026-W05; NOT, or - in front,\n"
		"excludes; of several of one kind one has to hold;\n"
		"tool, file, branch and tag may end with *, and a file's name may have it anywhere, as in\n"
		"file:*_test.go. A word with a colon that is none of these is text.\n\n"
		"What words do not find may stand inside of them: then texts are looked through for it as it was\n"
		"typed, which is said; --inside does so at once, for v1.2.3 by 1.2.3. Signs between\n"
		"words in quotes, or between numbers, are no words, but texts that have them so come\n"
		"first. Where no text has all words, less is asked for, and that is said, too: without words\n"
		"as 'where did we', with plurals, -ed and -ing, and with one of them missing.\n\n"
		"--regex, --inside and --case-sensitive look at texts that words and conditions have found, and "
		"without any\n"
		"at the newest ones; for two seconds, and they say so if there were more. A pattern without capitals\n"
		"is found in any case; one that has some as it is, unless (?i) stands in front of it. A\n"
		"dot is one character of any script; \\w, \\d and \\b know those of ASCII.\n\n"
		"Plans, memory, tasks and todos are searched, too, as in:other; they have no role, so that role:\n"
		"leaves them out. So is typed history, as role:user: of it only what was typed into no\n"
		"conversation that is kept. They have no model, branch or agent. Such a file is printed\n"
		"by 'arbor show' with the hit's id.\n\n"
		"Texts and metadata of nodes that you made are found by their role as prompts, answers or other;\n"
		"session: takes their tree, too.\n",
	.params = search_params,
	.kind = RESULT_STREAM,
	.fields = search_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples =
		(const struct example[]){
			{ "search integer cents", "where both words were said" },
			{ "search '\"integer cents\"' --in prompt,answer", "a phrase, in what was said" },
			{ "search 'token*' --project parser --limit 3",
			  "beginnings of words, in one project" },
			{ "search 'cents OR price' --role user --since 2026-01",
			  "in what a person typed, since January" },
			{ "search 'test -parser' tool:Bash", "commands with one word and without another" },
			{ "search --regex 'to[A-Z][a-z]+\\(' tool:Edit", "a pattern, in what was edited" },
			{ "search is:error --limit 5", "the last things that went wrong" },
			{ "search cents --sort recent --budget 4000 --json",
			  "for an agent: the newest, as many as fit" },
			{ 0 } },
	.run = run_search,
};
