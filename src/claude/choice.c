/*
 * A sentence is vague when it has hardly a word that says something, however it is put. What is chosen is a digit, a
 * capital letter or an ordinal that stands alone; the lines of a list are known by the same marks in front of them,
 * bare ("2. …", "A) …") or behind a word ("Option 2: …", "**Approach B** - …").
 */
#include "claude/choice.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "claude/gist.h"
#include "claude/mention.h"

#include <string.h>

enum {
	TELLING_WORDS = 3, /* a sentence with so many can be understood */
	MOST_ABOUT = 200,
	MOST_WORD = 32,
	SHORTEST_ITEM = 8,
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool is_part(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

/* ---- Words -------------------------------------------------------------------- */

/* Takes the next word off the text; false at its end. */
static bool next_word(struct str *text, struct str *word)
{
	size_t at = 0, end;

	while (at < text->n && !is_part(text->p[at]))
		at++;
	for (end = at; end < text->n && is_part(text->p[end]);)
		end++;
	*word = str_sub(*text, at, end - at);
	*text = str_sub(*text, end, SIZE_MAX);
	return word->n > 0;
}

static struct str lower(struct str word, char out[MOST_WORD])
{
	word = str_sub(word, 0, MOST_WORD);
	for (size_t i = 0; i < word.n; i++)
		out[i] = (char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] | 32 : word.p[i]);
	return str_from(out, word.n);
}

static bool is_one_of(struct str word, const char *const *list)
{
	for (; *list; list++)
		if (str_eq(word, str_of(*list)))
			return true;
	return false;
}

/* Words in which people decide, besides those that say nothing anywhere. */
static const char *const deciding[] = { "option",  "approach", "prefer",  "somehow", "happening", "sounds", "decided",
					"choose",  "agreed",   "agree",	  "stick",   "though",	  "guess",  "thing",
					"happens", "ideally",  "approve", "proceed", "continue",  "leave",  "rather",
					"like",	   "would",    "first",	  "second",  "third",	  "would",  NULL };
static const char *const pointing[] = { "this", "that", "these", "those", "them", NULL };

static size_t telling_words(struct str sentence)
{
	struct str word;
	size_t count = 0;
	char room[MOST_WORD];

	while (next_word(&sentence, &word)) {
		word = lower(word, room);
		count += word.n >= 4 && is_letter(word.p[0]) && !mention_is_common(word) &&
			 !is_one_of(word, deciding) && !is_one_of(word, pointing);
	}
	return count;
}

bool choice_is_vague(struct str sentence)
{
	return telling_words(sentence) < TELLING_WORDS;
}

bool choice_stands_alone(struct str sentence)
{
	struct str rest = sentence, word;
	char room[MOST_WORD];

	while (next_word(&rest, &word))
		if (is_one_of(lower(word, room), pointing))
			return false;
	return telling_words(sentence) > 0;
}

/* ---- What is chosen -------------------------------------------------------------- */

/* The mark of an item that a word names; 0 = none. "I" and "a" are words. */
static char mark_of(struct str word)
{
	static const char *const ordinals[] = { "first", "second", "third", "fourth", NULL };
	char room[MOST_WORD];

	if (word.n == 1 && ((word.p[0] >= '1' && word.p[0] <= '9') || (word.p[0] >= 'A' && word.p[0] <= 'H')))
		return word.p[0];
	for (int i = 0; ordinals[i]; i++)
		if (str_eq(lower(word, room), str_of(ordinals[i])))
			return (char)('1' + i);
	return 0;
}

/* Behind signs of Markdown, and the word for what it is one of. */
static struct str bare_line(struct str line)
{
	static const char *const words[] = { "Option ", "option ", "Approach ", "Alternative ", "Choice ", NULL };

	while (line.n && strchr(" \t#*->(`", line.p[0]))
		line = str_sub(line, 1, SIZE_MAX);
	for (int i = 0; words[i]; i++)
		if (str_has_prefix(line, str_of(words[i])))
			return str_sub(line, strlen(words[i]), SIZE_MAX);
	return line;
}

/* What the item of a list with this mark says; empty = the line is another's. */
static struct str item_of(struct str line, char mark)
{
	line = bare_line(line);
	if (line.n < 2 || line.p[0] != mark || !strchr(".):*-", line.p[1] == ' ' && line.n > 2 ? line.p[2] : line.p[1]))
		return (struct str){ 0 };
	line = str_sub(line, 1, SIZE_MAX);
	while (line.n && strchr(" .):*-`", line.p[0]))
		line = str_sub(line, 1, SIZE_MAX);
	return line.n >= SHORTEST_ITEM ? line : (struct str){ 0 };
}

static void add_short(struct buf *out, struct str text)
{
	struct gist g = { .rest = text };
	struct buf sentence CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct str cut;

	if (!gist_sentence(&g, &sentence))
		return;
	cut = str_sub(buf_as_str(&sentence), 0, MOST_ABOUT);
	if (cut.n < sentence.n)
		cut = str_sub(cut, 0, utf8_valid_prefix(cut));
	buf_str(out, cut);
	if (cut.n < sentence.n)
		buf_text(out, "…");
}

/* The last line of the answer with this mark. */
static bool add_item(struct buf *out, struct str answer, char mark)
{
	struct str found = { 0 }, rest = answer;

	while (rest.p) {
		struct str item = item_of(str_cut(rest, '\n', &rest), mark);

		if (item.n)
			found = item;
	}
	if (!found.n)
		return false;
	buf_printf(out, "%c: ", mark);
	add_short(out, found);
	return true;
}

/* "the second one" of a list with letters is B. */
static bool add_chosen(struct buf *out, struct str sentence, struct str answer)
{
	struct str word;

	while (next_word(&sentence, &word)) {
		char mark = mark_of(word);

		if (mark && (add_item(out, answer, mark) ||
			     (word.n > 1 && add_item(out, answer, (char)(mark - '1' + 'A')))))
			return true;
	}
	return false;
}

/* The last question that tells what it is about. */
static bool add_question(struct buf *out, struct str answer)
{
	struct gist g = { .rest = answer };
	struct buf sentence CLEANUP(buf_release) = BUF_INIT(64 * KIB), last CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	while (gist_sentence(&g, &sentence))
		if (sentence.p[sentence.n - 1] == '?' && !choice_is_vague(buf_as_str(&sentence))) {
			buf_clear(&last);
			buf_str(&last, buf_as_str(&sentence));
		}
	if (!last.n)
		return false;
	buf_text(out, "asked: ");
	add_short(out, buf_as_str(&last));
	return true;
}

bool choice_about(struct str sentence, struct str answer, struct buf *out)
{
	return answer.n && (add_chosen(out, sentence, answer) || add_question(out, answer));
}

/* ---- Questions of a tool ------------------------------------------------------------ */

/* What stands up to a mark, which is taken off, too; p NULL = there is no such mark. */
static struct str take_to(struct str *text, struct str mark)
{
	const char *at = text->n ? memmem(text->p, text->n, mark.p, mark.n) : NULL;
	struct str out;

	if (!at)
		return (struct str){ 0 };
	out = str_sub(*text, 0, (size_t)(at - text->p));
	*text = str_sub(*text, out.n + mark.n, SIZE_MAX);
	return out;
}

/* "QUESTION"="CHOICE", … Quotes inside of either are not told apart from those around it. */
void choice_answers(struct str result, choice_fn *fn, void *ctx)
{
	static const struct str front = { "User has answered your question", 31 };
	struct buf out CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	if (!str_has_prefix(result, front) || !take_to(&result, STR("\"")).p)
		return;
	while (result.n) {
		struct str question = take_to(&result, STR("\"=\"")), rest = result, choice;
		const char *more;

		if (!question.p)
			return;
		choice = take_to(&rest, STR("\", \""));
		more = choice.p ? rest.p : NULL;
		if (!choice.p)
			choice = take_to(&result, STR("\". You can now"));
		if (!choice.p)
			return;
		result = more ? rest : (struct str){ 0 };
		buf_clear(&out);
		add_short(&out, question);
		buf_text(&out, " → ");
		add_short(&out, choice);
		/* A question about nothing, or an answer that is pasted below, decides nothing. */
		if (telling_words(question) && !strchr(" :", out.p[out.n - 1]))
			fn(ctx, buf_as_str(&out));
	}
}
