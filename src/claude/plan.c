/*
 * Plans. Of Markdown no more is understood than where a heading stands: a line that begins
 * with one to six '#' and a blank, outside of fenced code, where '#' begins a comment.
 */
#include "claude/plan.h"

#include "claude/record.h"

#include <string.h>

struct str plan_name(struct str path)
{
	const struct str folder = STR("plans/"), end = STR(".md");

	if (str_has_prefix(path, folder))
		path = str_sub(path, folder.n, SIZE_MAX);
	if (path.n > end.n && str_has_suffix(path, end))
		path.n -= end.n;
	return path;
}

struct str plan_slug(struct str path)
{
	static const struct str agent = { "-agent-", 7 };
	struct str name = plan_name(path);
	const char *at = name.n ? memmem(name.p, name.n, agent.p, agent.n) : NULL;

	return at ? str_sub(name, 0, (size_t)(at - name.p)) : name;
}

static bool is_fence(struct str line)
{
	return str_has_prefix(line, STR("```")) || str_has_prefix(line, STR("~~~"));
}

/* The text of a heading; empty when it is none. */
static struct str heading_of(struct str line)
{
	size_t level = 0;

	while (level < line.n && line.p[level] == '#')
		level++;
	if (level == 0 || level > 6 || level == line.n || (line.p[level] != ' ' && line.p[level] != '\t'))
		return (struct str){ 0 };
	line = str_trim(str_sub(line, level, SIZE_MAX));
	/* A heading may be closed by the same signs. */
	for (level = line.n; level && line.p[level - 1] == '#';)
		level--;
	if (level == 0 || line.p[level - 1] == ' ' || line.p[level - 1] == '\t')
		line = str_trim(str_sub(line, 0, level));
	return line;
}

void plan_title(struct str text, struct buf *out)
{
	struct str first = { 0 }, heading = { 0 }, rest = text;
	bool in_code = false;

	if (str_has_prefix(rest, STR("\xef\xbb\xbf")))
		rest = str_sub(rest, 3, SIZE_MAX);
	while (rest.n && !heading.n) {
		struct str line = str_trim(str_cut(rest, '\n', &rest));

		if (!first.n)
			first = line;
		if (is_fence(line))
			in_code = !in_code;
		else if (!in_code)
			heading = heading_of(line);
	}
	record_prompt_title(heading.n ? heading : first, out);
}
