/*
 * Finding names in texts by their shape.
 *
 * What a shape cannot tell is left out: '#12' may be anything, seven hex digits a number. So an
 * issue needs its repository or the key of its tracker, a commit the word before it or git's own way to tell
 * of it, an identifier the backticks of whoever wrote it. Names are brought into one form, so that two texts
 * that mean the same name the same: the address of an issue is the issue.
 *
 * A text is looked at by itself and only its beginning, so what is found does not depend on
 * what came before, and long texts that were pasted cost little.
 */
#include "claude/mention.h"

#include "base/plural.h"
#include "base/words.h"
#include "claude/change.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_SAID = 16 * 1024,	 /* bytes that are looked at */
	MOST_PRINTED = 4 * 1024, /* what git and gh print is short */
	MOST_TOPIC_TEXT = 600,	 /* people say first what they want */
	MOST_TOPICS = 10,
	SHORTEST_TOPIC = 4,
	MOST_URL = 300,
	MOST_IDENTIFIER = 48,
	COMMIT_DIGITS = 7,
};

static const struct {
	const char *name, *relation;
} kinds[MENTION_KINDS] = {
	[MENTION_FILE] = { "file", "touches_file" },	 [MENTION_URL] = { "url", "mentions" },
	[MENTION_ISSUE] = { "issue", "references" },	 [MENTION_COMMIT] = { "commit", "references" },
	[MENTION_SESSION] = { "session", "references" }, [MENTION_IDENTIFIER] = { "identifier", "mentions" },
	[MENTION_TOPIC] = { "topic", "related_to" },
};

const char *mention_kind_name(enum mention_kind kind)
{
	return kinds[kind].name;
}

const char *mention_relation(enum mention_kind kind)
{
	return kinds[kind].relation;
}

/* ---- Characters ---------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_name(char c)
{
	return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
}

static size_t span(struct str text, bool (*fits)(char))
{
	size_t n = 0;

	while (n < text.n && fits(text.p[n]))
		n++;
	return n;
}

static size_t find(struct str text, struct str what)
{
	const char *at = text.n ? memmem(text.p, text.n, what.p, what.n) : NULL;

	return at ? (size_t)(at - text.p) : SIZE_MAX;
}

/* ---- Pages and issues ------------------------------------------------------------ */

static bool is_url(char c)
{
	return (unsigned char)c > ' ' && (unsigned char)c < 0x7f && !strchr("\"'<>`\\|{}^[]", c);
}

/* OWNER/NAME, and how long that is; 0 = it is none. */
static size_t repository(struct str text)
{
	size_t owner = span(text, is_name), name;

	if (!owner || owner >= text.n || text.p[owner] != '/')
		return 0;
	name = span(str_sub(text, owner + 1, SIZE_MAX), is_name);
	return name ? owner + 1 + name : 0;
}

static void give_issue(struct str repo, struct str number, mention_fn *fn, void *ctx)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(2 * MOST_URL);

	buf_printf(&name, "%.*s#%.*s", STR_ARG(repo), STR_ARG(number));
	fn(ctx, MENTION_ISSUE, buf_as_str(&name));
}

/* https://github.com/OWNER/NAME/pull/N, and what GitLab and others make of it. */
static bool is_issue(struct str url, struct str *repo, struct str *number)
{
	static const char *const ways[] = { "/pull/", "/issues/", "/-/issues/", "/-/merge_requests/" };
	struct str rest = str_sub(url, find(url, STR("://")) + 3, SIZE_MAX), path;
	size_t length;

	if (str_find(rest, '/') == SIZE_MAX)
		return false;
	path = str_sub(rest, str_find(rest, '/') + 1, SIZE_MAX);
	length = repository(path);
	for (size_t i = 0; length && i < COUNT(ways); i++) {
		struct str tail = str_sub(path, length, SIZE_MAX);

		if (!str_has_prefix(tail, str_of(ways[i])))
			continue;
		tail = str_sub(tail, strlen(ways[i]), SIZE_MAX);
		*repo = str_sub(path, 0, length);
		*number = str_sub(tail, 0, span(tail, is_digit));
		return number->n > 0;
	}
	return false;
}

/* What ends a sentence is no part of an address in it. */
static struct str trim_url(struct str url)
{
	while (url.n && strchr(".,;:!?)*_", url.p[url.n - 1]) &&
	       !(url.p[url.n - 1] == ')' && str_has_byte(url, '(')))
		url.n--;
	return url;
}

/* Machines of one's own, examples and places where something is fetched say nothing. */
static bool is_place(struct str url)
{
	static const char *const nowhere[] = { "localhost", "127.0.0.1",    "0.0.0.0",
					       "example.",  "www.example.", "$" };
	struct str host = str_sub(url, find(url, STR("://")) + 3, SIZE_MAX);

	for (size_t i = 0; i < COUNT(nowhere); i++)
		if (str_has_prefix(host, str_of(nowhere[i])))
			return false;
	return str_find(str_sub(host, 0, str_find(host, '/')), '.') != SIZE_MAX;
}

static void find_urls(struct str text, bool issues_only, mention_fn *fn, void *ctx)
{
	struct str repo, number;
	size_t at;

	while ((at = find(text, STR("://"))) != SIZE_MAX) {
		size_t scheme = at >= 5 && memcmp(text.p + at - 5, "https", 5) == 0  ? 5
				: at >= 4 && memcmp(text.p + at - 4, "http", 4) == 0 ? 4
										     : 0;
		struct str rest = str_sub(text, at - scheme, SIZE_MAX);
		struct str url = trim_url(str_sub(rest, 0, span(rest, is_url)));

		text = str_sub(text, at + 3, SIZE_MAX);
		if (!scheme || url.n > MOST_URL || url.n < scheme + 6)
			continue;
		if (is_issue(url, &repo, &number))
			give_issue(repo, number, fn, ctx);
		else if (!issues_only && is_place(url))
			fn(ctx, MENTION_URL, url);
	}
}

/* OWNER/NAME#12, and no path before it. */
static void find_issues(struct str text, mention_fn *fn, void *ctx)
{
	size_t from = 0, at;

	while ((at = str_find(str_sub(text, from, SIZE_MAX), '#')) != SIZE_MAX) {
		struct str rest = str_sub(text, from + at + 1, SIZE_MAX);
		size_t begin = from + at, digits = span(rest, is_digit);

		from += at + 1;
		while (begin > 0 && (is_name(text.p[begin - 1]) || text.p[begin - 1] == '/'))
			begin--;
		rest = str_sub(text, begin, from - 1 - begin);
		if (digits && digits < 7 && rest.n && repository(rest) == rest.n && is_letter(rest.p[0]))
			give_issue(rest, str_sub(text, from, digits), fn, ctx);
	}
}

/* Names of standards look the same. */
static bool is_tracker(struct str key)
{
	static const char *const others[] = { "UTF", "SHA",  "ISO",  "RFC", "CVE", "AES", "RSA",  "TLS",
					      "SSL", "HTTP", "GPT",  "MD",  "UTC", "GMT", "IEEE", "ES",
					      "CP",  "KOI",  "BASE", "CRC", "MP",  "IPV" };

	for (size_t i = 0; i < COUNT(others); i++)
		if (str_eq(key, str_of(others[i])))
			return false;
	return key.n >= 2 && key.n <= 10;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* ENT-12, as Jira, Linear and others call them. */
static void find_tickets(struct str text, mention_fn *fn, void *ctx)
{
	size_t from = 0, at;

	while ((at = str_find(str_sub(text, from, SIZE_MAX), '-')) != SIZE_MAX) {
		size_t begin = from + at, digits = span(str_sub(text, from + at + 1, SIZE_MAX), is_digit);
		size_t end = from + at + 1 + digits;

		from += at + 1;
		while (begin > 0 && is_upper(text.p[begin - 1]))
			begin--;
		if (!digits || digits > 6 || !is_tracker(str_sub(text, begin, from - 1 - begin)) ||
		    (begin && (is_name(text.p[begin - 1]) || text.p[begin - 1] == '$')) ||
		    (end < text.n && (is_letter(text.p[end]) || text.p[end] == '_' || text.p[end] == '-')))
			continue;
		fn(ctx, MENTION_ISSUE, str_sub(text, begin, end - begin));
	}
}

/* ---- Commits and sessions ---------------------------------------------------------- */

/* abc1234 is everybody's example. */
static bool is_hash(struct str text)
{
	bool letter = false, digit = false;

	for (size_t i = 0; i < text.n; i++) {
		letter |= text.p[i] >= 'a';
		digit |= is_digit(text.p[i]);
	}
	return text.n >= COMMIT_DIGITS && text.n <= 40 && letter && digit &&
	       !str_has_prefix(text, STR("abc123"));
}

/* Behind the word, perhaps in backticks or brackets. */
static void find_commits(struct str text, mention_fn *fn, void *ctx)
{
	size_t at;

	while ((at = find(text, STR("ommit"))) != SIZE_MAX) {
		struct str hash;
		size_t skip = at + 5;

		while (skip < text.n && skip < at + 16 && strchr("ted :`*([#as", text.p[skip]) &&
		       !is_hash(str_sub(text, skip, span(str_sub(text, skip, SIZE_MAX), is_hex))))
			skip++;
		text = str_sub(text, skip, SIZE_MAX);
		hash = str_sub(text, 0, span(text, is_hex));
		if (is_hash(hash) && (hash.n == text.n || !is_name(text.p[hash.n]) || text.p[hash.n] == '.'))
			fn(ctx, MENTION_COMMIT, str_sub(hash, 0, COMMIT_DIGITS));
	}
}

bool mention_made(struct str line, struct str *hash, struct str *subject)
{
	size_t end, blank;

	if (!line.n || line.p[0] != '[')
		return false;
	end = str_find(str_sub(line, 0, 201), ']');
	if (end == SIZE_MAX)
		return false;
	*hash = str_sub(line, 1, end - 1);
	*subject = str_sub(line, end + 1, SIZE_MAX);
	blank = str_rfind(*hash, ' ');
	if (blank == SIZE_MAX)
		return false;
	*hash = str_sub(*hash, blank + 1, SIZE_MAX);
	return span(*hash, is_hex) == hash->n && is_hash(*hash);
}

static void find_made(struct str text, mention_fn *fn, void *ctx)
{
	struct str hash, subject;
	size_t at;

	while ((at = str_find(text, '[')) != SIZE_MAX) {
		bool begins = at == 0 || text.p[at - 1] == '\n';

		if (begins && mention_made(str_sub(text, at, SIZE_MAX), &hash, &subject))
			fn(ctx, MENTION_COMMIT, str_sub(hash, 0, COMMIT_DIGITS));
		text = str_sub(text, at + 1, SIZE_MAX);
	}
}

static bool is_id(char c)
{
	return is_hex(c) || c == '-';
}

/* A UUID has its first dash behind eight digits. */
static void find_sessions(struct str text, mention_fn *fn, void *ctx)
{
	size_t from = 0, at;
	struct uuid id;

	while ((at = str_find(str_sub(text, from, SIZE_MAX), '-')) != SIZE_MAX) {
		size_t dash = from + at;
		struct str word = str_sub(text, dash >= 8 ? dash - 8 : dash, UUID_TEXT);

		from = dash + 1;
		if (dash < 8 || word.n < UUID_TEXT || span(word, is_id) < UUID_TEXT ||
		    !uuid_parse(word, &id) || (dash > 8 && is_name(text.p[dash - 9])))
			continue;
		fn(ctx, MENTION_SESSION, word);
		from = dash - 8 + UUID_TEXT;
	}
}

/* ---- What people type ---------------------------------------------------------------- */

static bool is_identifier_char(char c)
{
	return is_name(c) || c == ':' || c == '(' || c == ')' || c == '$' || c == '@' || c == '/';
}

/* A name with something in it that plain words have not. */
static bool is_identifier(struct str word)
{
	bool joined = false;

	if (word.n < 3 || word.n > MOST_IDENTIFIER || span(word, is_identifier_char) < word.n ||
	    word.p[0] == '-')
		return false;
	for (size_t i = 1; i < word.n; i++)
		joined |= strchr("_.:(", word.p[i]) ||
			  (word.p[i] >= 'A' && word.p[i] <= 'Z' && word.p[i - 1] >= 'a');
	return joined && is_letter(word.p[0]);
}

static void find_identifiers(struct str text, mention_fn *fn, void *ctx)
{
	size_t at;

	while ((at = str_find(text, '`')) != SIZE_MAX) {
		struct str rest = str_sub(text, at + 1, SIZE_MAX), word;
		size_t end = str_find(rest, '`');

		if (end == SIZE_MAX)
			return;
		word = str_sub(rest, 0, end);
		text = end <= MOST_IDENTIFIER ? str_sub(rest, end + 1, SIZE_MAX) : rest;
		if (str_has_suffix(word, STR("()")))
			word.n -= 2;
		if (is_identifier(word))
			fn(ctx, MENTION_IDENTIFIER, word);
	}
}

/* In order, for bsearch(). Four letters and more: shorter ones are no topics anyway. */
/* clang-format off */
static const char *const common[] = {
	"able", "about", "above", "across", "actual", "actually", "added", "adding", "addition", "additional",
	"additionally", "addressed", "adds", "after", "again", "against", "agent", "agents", "allow", "allowed",
	"almost", "alone", "along", "already", "also", "although", "always", "among", "another", "anymore",
	"anyone", "anything", "anyway", "anywhere", "apply", "approach", "appropriate", "aren", "around",
	"asked", "assume", "assuming", "available", "avoid", "away", "back", "background", "based", "basically",
	"became", "because", "become", "been", "before", "begin", "behind", "being", "beside", "besides",
	"best", "better", "between", "both", "branch", "bring", "call", "called", "came", "cannot", "case",
	"cases", "cause", "certain", "certainly", "change", "changed", "changes", "check", "checked",
	"checking", "claude", "clear", "clearly", "code", "come", "command", "comment", "comments", "commit",
	"complete", "completely", "consider", "contain", "contained", "content", "context", "continue", "cool",
	"correct", "correctly", "could", "couldn", "create", "created", "creating", "current", "currently",
	"definitely", "despite", "detail", "details", "didn", "difference", "different", "directly",
	"directory", "does", "doesn", "doing", "done", "down", "during", "each", "earlier", "early", "easier",
	"easily", "easy", "either", "else", "ended", "enough", "ensure", "entirely", "especially", "even",
	"ever", "every", "everything", "exactly", "example", "exist", "existing", "expected", "explain",
	"explicitly", "feedback", "feel", "figure", "file", "files", "finally", "find", "finding", "fine",
	"first", "fixed", "folder", "follow", "following", "found", "from", "full", "fully", "further",
	"general", "generally", "gets", "getting", "give", "given", "goal", "goes", "going", "gone", "good",
	"great", "guess", "happen", "happened", "hard", "hasn", "have", "haven", "having", "hello", "help",
	"hence", "here", "home", "hopefully", "however", "http", "https", "idea", "ideally", "implement",
	"important", "include", "including", "indeed", "information", "inside", "instead", "into", "involved",
	"issue", "issues", "itself", "just", "keep", "kept", "kind", "know", "lack", "large", "larger", "last",
	"later", "latest", "lead", "least", "leave", "left", "less", "lets", "like", "likely", "line", "lines",
	"list", "little", "local", "logic", "long", "look", "looked", "looking", "looks", "lots", "made",
	"main", "make", "makes", "making", "many", "matter", "maybe", "mean", "meaning", "meant", "mention",
	"mentioned", "message", "might", "missing", "more", "most", "much", "multiple", "must", "mustn", "name",
	"namely", "near", "nearly", "necessary", "need", "needed", "needs", "never", "next", "nice", "none",
	"note", "notes", "nothing", "noticed", "number", "obviously", "often", "okay", "once", "ones", "only",
	"open", "options", "order", "other", "others", "otherwise", "ourselves", "outcome", "output", "outside",
	"over", "overview", "part", "path", "perform", "perhaps", "place", "plan", "plans", "please", "point",
	"possible", "previous", "previously", "prior", "probably", "problem", "project", "proper", "properly",
	"provide", "provided", "push", "quick", "quickly", "quite", "rather", "read", "ready", "real", "really",
	"reason", "recent", "recently", "regarding", "regardless", "related", "remaining", "remember", "remove",
	"removed", "removing", "repo", "repository", "request", "requested", "rest", "result", "results",
	"return", "review", "right", "running", "said", "same", "says", "scratch", "second", "section",
	"seeing", "seem", "seems", "seen", "self", "sense", "separate", "separately", "several", "shall",
	"should", "shouldn", "show", "showing", "side", "similar", "simple", "simply", "since", "single",
	"small", "smaller", "some", "somehow", "someone", "something", "sometimes", "somewhere", "soon",
	"sorry", "sound", "specific", "specifically", "start", "started", "starting", "state", "step", "steps",
	"still", "stop", "stopped", "such", "sufficient", "suggest", "suggestion", "summary", "suppose",
	"supposed", "sure", "system", "take", "taken", "taking", "task", "tasks", "tell", "test", "testing",
	"tests", "than", "thank", "thanks", "that", "their", "them", "then", "there", "these", "they", "thing",
	"things", "think", "third", "this", "those", "though", "thought", "thoughts", "three", "through",
	"throughout", "time", "times", "together", "tool", "tools", "totally", "toward", "towards", "tricky",
	"tried", "true", "trying", "turn", "under", "understand", "understanding", "unless", "unlike", "until",
	"update", "updated", "upon", "used", "useful", "user", "users", "uses", "using", "usual", "usually",
	"various", "very", "want", "wanted", "wants", "wasn", "well", "went", "were", "weren", "what",
	"whatever", "when", "where", "whether", "which", "while", "whole", "whose", "will", "with", "within",
	"without", "wonder", "wondering", "word", "work", "worked", "working", "works", "worth", "would",
	"wouldn", "write", "writing", "written", "wrong", "wrote", "yeah", "year", "your", "yours", "yourself",
};
/* clang-format on */

static int by_word(const void *word, const void *entry)
{
	return str_cmp(*(const struct str *)word, str_of(*(const char *const *)entry));
}

bool mention_is_common(struct str word)
{
	return bsearch(&word, common, COUNT(common), sizeof *common, by_word) != NULL;
}

struct topics {
	mention_fn *fn;
	void *ctx;
	struct str text;
	int count;
};

/* In the singular, if that is no shorter than topics are. */
static struct str topic_form(struct str word, struct buf *room)
{
	struct str one = plural_singular(word, room);

	return one.n >= SHORTEST_TOPIC ? one : word;
}

/* A word of letters that stands by itself: no part of a path, a name in code, a number. */
static bool is_topic(struct str text, struct str word, size_t start, size_t end)
{
	char before = start ? text.p[start - 1] : ' ', after = end < text.n ? text.p[end] : ' ';

	if (word.n < SHORTEST_TOPIC || word.n > 24 || strchr("/\\_.@$<#=:&", before) || strchr("/\\_@(=", after) ||
	    is_digit(after) || is_digit(before) || is_letter(before) || is_letter(after))
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (is_digit(word.p[i]))
			return false;
	return !mention_is_common(word);
}

static void take_word(void *ctx, struct str word, size_t start, size_t end, unsigned flags)
{
	struct buf room CLEANUP(buf_release) = BUF_INIT(KIB);
	struct topics *t = ctx;
	struct str one;

	if (t->count >= MOST_TOPICS || (flags & WORD_COLOCATED) || !is_topic(t->text, word, start, end))
		return;
	one = topic_form(word, &room);
	if (mention_is_common(one))
		return;
	t->count++;
	t->fn(t->ctx, MENTION_TOPIC, one);
}

void mention_topics(struct str text, mention_fn *fn, void *ctx)
{
	struct topics t = { .fn = fn, .ctx = ctx, .text = str_sub(text, 0, MOST_TOPIC_TEXT) };

	words_split(t.text, take_word, &t);
}

/* ---- All of it -------------------------------------------------------------------------- */

static void said(struct str text, mention_fn *fn, void *ctx)
{
	text = str_sub(text, 0, MOST_SAID);
	find_urls(text, false, fn, ctx);
	find_issues(text, fn, ctx);
	find_tickets(text, fn, ctx);
	find_commits(text, fn, ctx);
	find_sessions(text, fn, ctx);
}

static void printed(struct str text, mention_fn *fn, void *ctx)
{
	if (text.n > MOST_PRINTED)
		return;
	find_made(text, fn, ctx);
	find_urls(text, true, fn, ctx);
}

void mention_text(const struct record *rec, enum record_place place, struct str text, mention_fn *fn,
		  void *ctx)
{
	if (rec->flags & (RECORD_EMBEDDED | RECORD_META | RECORD_COMPACT))
		return;
	if (place == PLACE_OUTPUT) {
		printed(text, fn, ctx);
	} else if (place == PLACE_ANSWER) {
		said(text, fn, ctx);
	} else if (place == PLACE_PROMPT && record_is_typed(rec->flags) && record_text_is_typed(text)) {
		said(text, fn, ctx);
		find_identifiers(str_sub(text, 0, MOST_SAID), fn, ctx);
		mention_topics(text, fn, ctx);
	}
}

void mention_record(struct record_reader *r, const struct record *rec, struct buf *room, mention_fn *fn,
		    void *ctx)
{
	struct block_cursor at = { 0 };
	struct record_block b;
	struct str path;

	while (record_block(r, rec, &at, &b)) {
		buf_clear(room);
		block_said(r, &b, room);
		mention_text(rec, b.place, buf_as_str(room), fn, ctx);
	}
	if ((rec->flags & RECORD_RESULT) && change_path(r, rec, &path))
		fn(ctx, MENTION_FILE, path);
	if (rec->flags & RECORD_QUEUED) {
		buf_clear(room);
		record_text(r, rec, room);
		mention_text(rec, PLACE_PROMPT, buf_as_str(room), fn, ctx);
	}
}

/* ---- What somebody asks for --------------------------------------------------------------- */

/* What words of a language are made of, and what stands between them. */
static bool is_wordy(char c)
{
	return is_letter(c) || (unsigned char)c >= 0x80 || c == ' ' || c == '-';
}

/* The first of a kind that is found in it. */
struct wanted {
	enum mention_kind kind;
	struct buf *room;
};

static void keep_first(void *ctx, enum mention_kind kind, struct str name)
{
	struct wanted *w = ctx;

	if (kind == w->kind && !w->room->n)
		buf_str(w->room, name);
}

/* web-12: in texts that may be anything, but who asks by it means the issue. */
static void keep_ticket(struct str name, struct wanted *w)
{
	struct buf key CLEANUP(buf_release) = BUF_INIT(KIB);
	size_t letters = span(name, is_letter);
	struct str rest = str_sub(name, letters, SIZE_MAX);

	if (name.n > MOST_IDENTIFIER || rest.n < 2 || rest.p[0] != '-' ||
	    span(str_sub(rest, 1, SIZE_MAX), is_digit) != rest.n - 1)
		return;
	for (size_t i = 0; i < letters; i++)
		buf_byte(&key, (char)(name.p[i] & ~32));
	buf_str(&key, rest);
	find_tickets(buf_as_str(&key), keep_first, w);
}

struct str mention_form(enum mention_kind kind, struct str name, struct buf *room)
{
	struct wanted w = { kind, room };

	buf_clear(room);
	if (kind == MENTION_FILE || kind == MENTION_URL)
		return name;
	if (kind == MENTION_COMMIT)
		return is_hash(name) && span(name, is_hex) == name.n ? str_sub(name, 0, COMMIT_DIGITS)
								     : (struct str){ 0 };
	/* hooks.go is no hook. */
	if (kind == MENTION_TOPIC && span(name, is_wordy) == name.n)
		mention_topics(name, keep_first, &w);
	if (kind == MENTION_ISSUE) {
		said(name, keep_first, &w);
		keep_ticket(name, &w);
	}
	if (kind == MENTION_IDENTIFIER)
		return str_has_suffix(name, STR("()")) ? str_sub(name, 0, name.n - 2) : name;
	return buf_as_str(room);
}
