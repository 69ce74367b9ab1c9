/*
 * Sentences, and the words by which the ones that matter are known.
 *
 * Answers are Markdown. A sentence ends with its mark and a blank behind it, or with its line:
 * lists have no marks. Cues are looked for in lower case. A question decides nothing, nor does
 * what is merely possible.
 */
#include "claude/gist.h"

#include "base/limits.h"
#include "base/utf8.h"

#include <string.h>

enum {
	LONGEST_SENTENCE = 4096, /* of which anything is made */
	SHORTEST_DECISION = 16,
	LONGEST_DECISION = 320,
	MOST_LOOKED_AT = 64 * 1024,
};

/* ---- Sentences -------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Without the mark of a list or a quotation. */
static struct str strip_mark(struct str line)
{
	size_t digits = 0;

	line = str_trim(line);
	while (line.n && line.p[0] == '>')
		line = str_trim(str_sub(line, 1, SIZE_MAX));
	while (digits < line.n && is_digit(line.p[digits]))
		digits++;
	if (digits && digits + 1 < line.n && strchr(".)", line.p[digits]) && line.p[digits + 1] == ' ')
		return str_trim(str_sub(line, digits + 1, SIZE_MAX));
	if (line.n > 1 && strchr("-*+", line.p[0]) && line.p[1] == ' ')
		return str_trim(str_sub(line, 1, SIZE_MAX));
	return line;
}

/* What is looked at and not read. */
static bool is_silent(struct str line)
{
	return !line.n || strchr("#|<{}", line.p[0]) || str_has_prefix(line, STR("---")) ||
	       str_has_prefix(line, STR("===")) || str_has_prefix(line, STR("★")) ||
	       str_has_prefix(line, STR("`─"));
}

/* What the client writes behind the report of a sub-agent: how a model goes on with it, and what it took. */
static bool is_for_models(struct str line)
{
	static const char *const fronts[] = { "agentId: ", "subagent_tokens: ", "total_tokens: ", "tool_uses: ",
					      "duration_ms: " };

	for (size_t i = 0; i < COUNT(fronts); i++)
		if (str_has_prefix(line, str_of(fronts[i])))
			return true;
	return false;
}

static bool next_line(struct gist *g)
{
	while (g->rest.p) {
		struct str line = str_cut(g->rest, '\n', &g->rest), bare = str_trim(line);

		if (str_has_prefix(bare, STR("```")) || str_has_prefix(bare, STR("~~~"))) {
			g->in_code = !g->in_code;
			continue;
		}
		g->line = strip_mark(line);
		if (!g->in_code && !is_silent(g->line) && !is_for_models(bare))
			return true;
	}
	return false;
}

/* Where the first sentence of a line ends, its mark included. */
static size_t end_of_sentence(struct str line)
{
	for (size_t i = 0; i + 1 < line.n; i++) {
		if (!strchr(".!?", line.p[i]) || !is_blank(line.p[i + 1]))
			continue;
		/* "e.g. this", "1. that" */
		if (line.p[i] == '.' && i >= 2 && (line.p[i - 2] == '.' || is_blank(line.p[i - 2])))
			continue;
		return i + 1;
	}
	return line.n;
}

/* Without what makes letters bold, blanks as one. */
static void add_plain(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (i + 1 < text.n && text.p[i] == '*' && text.p[i + 1] == '*')
			i++;
		else if (!is_blank(text.p[i]))
			buf_byte(out, text.p[i]);
		else if (out->n && out->p[out->n - 1] != ' ')
			buf_byte(out, ' ');
	}
}

bool gist_sentence(struct gist *g, struct buf *out)
{
	size_t end;

	buf_clear(out);
	while (!g->line.n)
		if (!next_line(g))
			return false;
	end = end_of_sentence(g->line);
	add_plain(out, str_sub(g->line, 0, size_min(end, LONGEST_SENTENCE)));
	g->line = str_trim(str_sub(g->line, end, SIZE_MAX));
	return true;
}

/* ---- Cues --------------------------------------------------------------------------- */

static void lower(struct buf *out, struct str text)
{
	buf_clear(out);
	for (size_t i = 0; i < text.n; i++)
		buf_byte(out, (char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] | 32 : text.p[i]));
}

static bool has_cue(struct str text, const char *const *cues)
{
	for (; *cues; cues++)
		if (text.n && memmem(text.p, text.n, *cues, strlen(*cues)))
			return true;
	return false;
}

static bool begins_so(struct str text, const char *const *cues)
{
	for (; *cues; cues++)
		if (str_has_prefix(text, str_of(*cues)))
			return true;
	return false;
}

/* ---- How it ended ---------------------------------------------------------------------- */

/* Joy, and what somebody is about to do. */
static bool is_filler(struct str sentence)
{
	static const char *const joy[] = { "perfect",
					   "great",
					   "excellent",
					   "good",
					   "done",
					   "you're right",
					   "you're absolutely",
					   "here's",
					   "here is",
					   "sure",
					   "certainly",
					   "absolutely",
					   "yes",
					   "no response requested",
					   NULL };
	static const char *const intents[] = {
		"let me",    "now let",		  "now i",	 "i'll ",
		"i will ",   "i need to",	  "good, i ",	 "first, let",
		"i have a ", "i understand",	  "good point",	 "i can see",
		"next, i",   "i have everything", "i now have",	 "excellent, i ",
		"good, the", "great, i ",	  "perfect, i ", "wait",
		NULL
	};
	struct buf low CLEANUP(buf_release) = BUF_INIT(KIB);

	lower(&low, str_sub(sentence, 0, 60));
	if (sentence.n < 12 || begins_so(buf_as_str(&low), intents))
		return true;
	return begins_so(buf_as_str(&low), joy) && (sentence.n < 30 || sentence.p[sentence.n - 1] == ':');
}

/* Lines of a list have no marks at their ends. */
static void add_sentence(struct buf *out, size_t begin, struct str sentence, size_t most)
{
	struct str cut = str_sub(sentence, 0, most);

	if (out->n > begin)
		buf_text(out, strchr(".!?:;", out->p[out->n - 1]) ? " " : "; ");
	if (cut.n < sentence.n)
		cut = str_sub(cut, 0, utf8_valid_prefix(cut));
	buf_str(out, cut);
	if (cut.n < sentence.n)
		buf_text(out, "…");
}

void gist_outcome(struct str answer, size_t most, struct buf *out)
{
	struct gist g = { .rest = str_sub(answer, 0, MOST_LOOKED_AT) };
	struct buf sentence CLEANUP(buf_release) = BUF_INIT(2 * LONGEST_SENTENCE);
	size_t begin = out->n;

	while (out->n - begin < most / 2 && gist_sentence(&g, &sentence)) {
		if (is_filler(buf_as_str(&sentence)))
			continue;
		if (out->n > begin && out->n - begin + sentence.n > most)
			break;
		add_sentence(out, begin, buf_as_str(&sentence), most);
	}
	while (out->n > begin && strchr(" :", out->p[out->n - 1]))
		out->n--;
}

/* ---- What was decided -------------------------------------------------------------------- */

static const char *const person_decides[] = {
	"let's go with",
	"lets go with",
	"go with option",
	"let's use",
	"lets use",
	"let's keep",
	"lets keep",
	"let's not",
	"lets not",
	"let's stick",
	"lets stick",
	"i prefer",
	"i'd prefer",
	"i'd rather",
	"i would rather",
	"i rather would",
	"we should always",
	"we should never",
	"i think we should",
	"we decided",
	"i decided",
	"i've decided",
	"we agreed",
	"decision:",
	"we don't want",
	"i don't want",
	"let's remove",
	"let's drop",
	"is the right approach",
	"the right way is",
	"never use ",
	"always use ",
	"we want to keep",
	"let's leave",
	"we will use",
	"we'll use",
	NULL,
};

/* Not "intentionally" or "by design": with these a model tells what code does. */
static const char *const model_decides[] = {
	"we decided", "i decided", "decided to",  "decision:",	     "design decision", "we agreed",
	"i chose",    "we chose",  "was chosen",  "chosen because",  "i went with",	"we went with",
	"going with", "we'll use", "we will use", "approach chosen", "kept because",	NULL,
};

static const char *const undecided[] = {
	"should we",
	"would you",
	"do you ",
	"could we",
	"can we",
	"can you",
	"if you",
	"shall we",
	"might ",
	"whether to",
	"not sure",
	"i wonder",
	"what if",
	"maybe",
	"perhaps",
	"alternatively",
	"could also",
	"let me",
	"you could",
	"for example",
	"e.g.",
	"decided to check",
	"haven't decided",
	"not decided",
	"consider ",
	"unless",
	"?",
	NULL,
};

enum quote { NO_QUOTE, QUOTE_OPENS, QUOTE_CLOSES };

/* Straight ones open behind a blank. */
static enum quote quote_at(struct str text, size_t i, bool inside)
{
	struct str rest = str_sub(text, i, SIZE_MAX);
	bool begins = !i || is_blank(text.p[i - 1]) || text.p[i - 1] == '(';

	if (str_has_prefix(rest, STR("“")))
		return QUOTE_OPENS;
	if (str_has_prefix(rest, STR("”")))
		return QUOTE_CLOSES;
	if (text.p[i] != '"')
		return NO_QUOTE;
	return begins && !inside ? QUOTE_OPENS : QUOTE_CLOSES;
}

/* Without what stands in quotes: somebody else has said that. A quote may begin or end in another sentence. */
static void add_own_words(struct buf *out, struct str text)
{
	bool inside = false;

	for (size_t i = 0; i < text.n; i++) {
		enum quote quote = quote_at(text, i, inside);

		if (quote == QUOTE_CLOSES && !inside)
			buf_clear(out);
		inside = quote == QUOTE_OPENS || (inside && quote != QUOTE_CLOSES);
		if (!inside)
			buf_byte(out, text.p[i]);
	}
}

static bool decides(struct str sentence, bool typed)
{
	struct buf low CLEANUP(buf_release) = BUF_INIT(2 * LONGEST_SENTENCE);
	struct buf own CLEANUP(buf_release) = BUF_INIT(2 * LONGEST_SENTENCE);
	struct str text;

	if (sentence.n < SHORTEST_DECISION || sentence.n > LONGEST_DECISION ||
	    strchr("?:", sentence.p[sentence.n - 1]) || strchr("\"'+/`[(", sentence.p[0]))
		return false;
	lower(&low, sentence);
	if (has_cue(buf_as_str(&low), undecided))
		return false;
	add_own_words(&own, buf_as_str(&low));
	text = buf_as_str(&own);
	/* "Then numeric it is." */
	return has_cue(text, typed ? person_decides : model_decides) ||
	       (typed && str_has_suffix(text, STR(" it is.")));
}

/* "let's use 2, though can we keep the tests?": what is asked for besides leaves the choice as it is. */
static struct str without_request(struct str sentence)
{
	static const char *const fronts[] = {
		", though can ", ", though could ", ", but can ",  ", but could ", ", and can ",
		", can we ",	 ", can you ",	    ", could we ", ", could you ", NULL
	};
	struct buf low CLEANUP(buf_release) = BUF_INIT(2 * LONGEST_SENTENCE);
	struct str tail;

	lower(&low, sentence);
	for (size_t i = 0; fronts[i]; i++) {
		const char *at = low.n ? memmem(low.p, low.n, fronts[i], strlen(fronts[i])) : NULL;

		if (!at)
			continue;
		tail = str_sub(buf_as_str(&low), (size_t)(at - low.p) + strlen(fronts[i]), SIZE_MAX);
		if (str_has_suffix(tail, STR("?")))
			tail.n--;
		return has_cue(tail, undecided) ? sentence : str_sub(sentence, 0, (size_t)(at - low.p));
	}
	return sentence;
}

/* Long prompts are pasted; what people decide they say in a few sentences. */
void gist_decisions(struct str text, bool typed, gist_fn *fn, void *ctx)
{
	struct gist g = { .rest = str_sub(text, 0, typed ? 2048 : MOST_LOOKED_AT) };
	struct buf sentence CLEANUP(buf_release) = BUF_INIT(2 * LONGEST_SENTENCE);

	while (gist_sentence(&g, &sentence)) {
		struct str all = buf_as_str(&sentence);

		if (decides(typed ? without_request(all) : all, typed))
			fn(ctx, all);
	}
}

/* ---- What failed ---------------------------------------------------------------------------- */

static const char *const no_errors[] = {
	"The user doesn't want",
	"[Request interrupted",
	"Permission ",
	"File content (",
	"EISDIR:",
	"This command requires approval",
	"Claude requested permissions",
	"Cancelled",
	"Command timed out",
	"Sibling tool call errored",
	"InputValidationError",
	"Streaming fallback",
	"Request timed out",
	NULL,
};

/* What older clients do not put into a tag. */
static const char *const slips[] = { "File has not been read", "String to replace not found", "File has been modified",
				     "File does not exist", NULL };

static const char *const failures[] = { "error",     "fail",	  "fatal",	"panic",
					"not found", "no such",	  "cannot",	"can't",
					"denied",    "undefined", "exception",	"conflict",
					"unknown",   "invalid",	  "unexpected", NULL };

/* Lines that count others, or name what ran. */
static const char *const no_failures[] = { "0 failed",	      "no errors", "0 errors",	  "--- pass",
					   "[no test files]", "\tpass\t",  "task failed", "=== run",
					   " warn ",	      NULL };

/* A line of code that is quoted speaks of errors, too. */
static bool tells_failure(struct str line)
{
	struct buf low CLEANUP(buf_release) = BUF_INIT(KIB);

	if (strchr("{};,", line.p[line.n - 1]))
		return false;
	lower(&low, str_sub(line, 0, 300));
	return has_cue(buf_as_str(&low), failures) && !has_cue(buf_as_str(&low), no_failures) &&
	       low.p[0] != '{';
}

/* Names what ran, or counts; what failed stands in another line. */
static bool is_frame(struct str line)
{
	static const char *const fronts[] = { "# ",
					      "FAIL\t",
					      "FAIL ",
					      "Exit code ",
					      "exit status ",
					      "Error: exit status",
					      "make: *** ",
					      "make[",
					      "error Command failed with",
					      "Error Trace",
					      NULL };
	static const char *const headings[] = { ": # ", NULL }; /* "x.go:1: : # package" */

	return str_eq(line, STR("FAIL")) || begins_so(line, fronts) || has_cue(line, headings);
}

/* Without the name that runners of tasks put in front: "[test] $ go test". */
static struct str strip_runner(struct str line)
{
	size_t end = line.n && line.p[0] == '[' ? str_find(line, ']') : SIZE_MAX;

	return end < 40 ? str_trim(str_sub(line, end + 1, SIZE_MAX)) : line;
}

/* The first sentence says it; what comes behind it is advice. */
static void read_slip(struct str text, struct gist_failure *out)
{
	struct str line = str_trim(str_cut(text, '\n', &text));

	if (str_has_suffix(line, STR("</tool_use_error>")))
		line.n -= STR("</tool_use_error>").n;
	out->line = str_sub(line, 0, end_of_sentence(line));
	out->slip = true;
}

/* "file.c:12: …": how many numbers tell the place, behind the name; 0 = the line, or word, tells none. */
static int located(struct str line)
{
	size_t at = str_find(line, ':');
	int numbers = 0;

	for (size_t i = 0; i < at && i < line.n; i++)
		if (is_blank(line.p[i]) || (i == 0 && is_digit(line.p[i]))) /* a time of day */
			return 0;
	while (at < line.n && line.p[at] == ':') {
		size_t end = at + 1;

		while (end < line.n && is_digit(line.p[end]))
			end++;
		if (end == at + 1)
			break;
		numbers++;
		at = end;
	}
	return at < line.n && line.p[at] == ':' ? numbers : 0;
}

/* By a compiler or a linter: a task has run it, or the column is told, too. Tests note lines alone. */
static bool is_reported(struct str line, bool is_task)
{
	return located(line) > (is_task ? 0 : 1);
}

/* The first line that tells of a failure, else the first. */
static void read_failure(struct str text, struct gist_failure *out)
{
	struct str rest = text, first = { 0 };
	bool is_task = false;

	while (rest.p) {
		struct str line = str_trim(str_cut(rest, '\n', &rest)), bare = strip_runner(line);
		bool is_command = str_has_prefix(bare, STR("$ "));

		is_task |= is_command;
		if (!bare.n || is_command || is_frame(bare))
			continue;
		if (is_reported(bare, is_task) || tells_failure(line)) {
			out->line = located(bare) ? bare : line;
			return;
		}
		if (!first.p)
			first = line;
	}
	/* A command that ends with a code and has said something else has not failed loudly. */
	if (!str_has_prefix(text, STR("Exit code ")))
		out->line = first;
}

void gist_failure(struct str text, struct gist_failure *out)
{
	static const struct str tag = { "<tool_use_error>", 16 };

	*out = (struct gist_failure){ 0 };
	text = str_sub(text, 0, MOST_LOOKED_AT);
	if (str_has_prefix(text, tag))
		text = str_sub(text, tag.n, SIZE_MAX);
	else if (!begins_so(text, slips)) {
		if (!begins_so(text, no_errors))
			read_failure(text, out);
		return;
	}
	if (!begins_so(text, no_errors))
		read_slip(text, out);
}

static bool is_end_of_word(char c)
{
	return is_blank(c) || strchr(",;()'\"`", c) != NULL;
}

static void add_kind_of_word(struct buf *out, struct str word)
{
	if (str_has_byte(word, '/') || located(word)) {
		buf_byte(out, '/');
		return;
	}
	for (size_t i = 0; i < word.n; i++)
		if (!is_digit(word.p[i]))
			buf_byte(out, word.p[i]);
}

void gist_failure_kind(const struct gist_failure *f, struct buf *out)
{
	enum { MOST_KIND = 800 };
	struct str text = str_sub(f->line, 0, MOST_KIND);

	for (size_t at = 0, end; at < text.n; at = end + 1) {
		for (end = at; end < text.n && !is_end_of_word(text.p[end]);)
			end++;
		add_kind_of_word(out, str_sub(text, at, end - at));
		if (end < text.n)
			buf_byte(out, is_blank(text.p[end]) ? ' ' : text.p[end]);
	}
}

/* ---- Prompts --------------------------------------------------------------------------------- */

bool gist_is_noise(struct str prompt)
{
	static const char *const fronts[] = { "warmup",
					      "caveat:",
					      "[request interrupted",
					      "this session is being continued",
					      "continue from where",
					      "unknown slash",
					      "(no content)",
					      NULL };
	struct buf low CLEANUP(buf_release) = BUF_INIT(KIB);

	lower(&low, str_sub(str_trim(prompt), 0, 60));
	return !low.n || begins_so(buf_as_str(&low), fronts);
}

bool gist_says_something(struct str prompt)
{
	size_t words = 0;

	prompt = str_trim(prompt);
	for (size_t i = 0; i < prompt.n && words < 4; i++)
		words += !is_blank(prompt.p[i]) && (i == 0 || is_blank(prompt.p[i - 1]));
	return words >= 4 && prompt.n >= 16 && !gist_is_noise(prompt);
}
