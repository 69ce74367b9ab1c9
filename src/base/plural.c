/*
 * An s goes, and the e before it where a hiss stands in front: branches, boxes, classes. Where "-ies" stands for "-y"
 * it is that again: strategies. The list begins with what these rules get wrong.
 */
#include "base/plural.h"

#include "base/limits.h"

/* By what a word ends with: the front of the table counts. */
static const struct {
	const char *end;
	size_t cut;
	const char *add;
} rules[] = {
	/* No plurals, or the same in both. */
	{ "series", 0, "" },
	{ "species", 0, "" },
	{ "ss", 0, "" },
	{ "us", 0, "" },
	{ "is", 0, "" },
	{ "news", 0, "" },
	{ "lens", 0, "" },
	{ "alias", 0, "" },
	{ "canvas", 0, "" },
	{ "atlas", 0, "" },
	{ "chaos", 0, "" },
	{ "macos", 0, "" },
	{ "https", 0, "" },
	{ "always", 0, "" },
	{ "kubernetes", 0, "" },
	{ "postgres", 0, "" },
	/* Of words with an e of their own. */
	{ "movies", 1, "" },
	{ "cookies", 1, "" },
	{ "rookies", 1, "" },
	{ "newbies", 1, "" },
	{ "zombies", 1, "" },
	{ "calories", 1, "" },
	{ "caches", 1, "" },
	{ "niches", 1, "" },
	{ "headaches", 1, "" },
	/* And without. */
	{ "aliases", 2, "" },
	{ "canvases", 2, "" },
	{ "atlases", 2, "" },
	{ "statuses", 2, "" },
	{ "viruses", 2, "" },
	{ "bonuses", 2, "" },
	{ "ies", 3, "y" },
	{ "ches", 2, "" },
	{ "shes", 2, "" },
	{ "sses", 2, "" },
	{ "tzes", 2, "" },
	{ "zzes", 2, "" },
	{ "xes", 2, "" },
	{ "s", 1, "" },
};

enum { SHORTEST = 4, LONGEST = 24 };

/* A short one in "-ies" has an e of its own: ties. */
static bool fits(struct str word, const char *end)
{
	return str_has_suffix(word, str_of(end)) && !(word.n == SHORTEST && str_eq(str_of(end), STR("ies")));
}

struct str plural_singular(struct str word, struct buf *room)
{
	size_t i = 0;

	if (word.n < SHORTEST || word.n > LONGEST || word.p[word.n - 1] != 's')
		return word;
	while (!fits(word, rules[i].end))
		i++;
	buf_clear(room);
	buf_str(room, str_sub(word, 0, word.n - rules[i].cut));
	buf_text(room, rules[i].add);
	return buf_as_str(room);
}

static bool is_vowel(char c)
{
	return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
}

static void add_plural(struct str word, struct buf *out)
{
	static const char *const hisses[] = { "s", "x", "ch", "sh", "zz", "tz" };

	buf_str(out, word);
	if (word.n > 2 && word.p[word.n - 1] == 'y' && !is_vowel(word.p[word.n - 2])) {
		out->n--;
		buf_text(out, "ies");
		return;
	}
	for (size_t i = 0; i < COUNT(hisses); i++)
		if (str_has_suffix(word, str_of(hisses[i]))) {
			buf_byte(out, 'e');
			break;
		}
	buf_byte(out, 's');
}

/* One whose singular is another word is no plural of this. */
struct str plural_other(struct str word, struct buf *room)
{
	struct buf again CLEANUP(buf_release) = BUF_INIT(KIB);
	struct str other = plural_singular(word, room);

	if (word.n < SHORTEST - 1 || word.n > LONGEST)
		return (struct str){ 0 };
	if (!str_eq(other, word))
		return other;
	buf_clear(room);
	add_plural(word, room);
	return str_eq(plural_singular(buf_as_str(room), &again), word) ? buf_as_str(room) : (struct str){ 0 };
}
