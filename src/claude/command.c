/*
 * Commands out of their wrapping.
 *
 * The client writes a command as
 *
 *     <command-name>/review</command-name>
 *                 <command-message>review</command-message>
 *                 <command-args>the parser</command-args>
 *
 * in this order or another, and what was typed behind a '!' as <bash-input>ls</bash-input>. Nothing in it is
 * escaped, so an element ends with the last mark that can end it.
 */
#include "claude/command.h"

#include <stdio.h>
#include <string.h>

/* What stands in an element; p NULL = there is none. `last`: it may contain its own end. */
static struct str inside(struct str text, const char *name, bool last)
{
	const char *from, *to = NULL, *next;
	char begin[32], end[32];

	snprintf(begin, sizeof begin, "<%s>", name);
	snprintf(end, sizeof end, "</%s>", name);
	from = memmem(text.p, text.n, begin, strlen(begin));
	if (!from)
		return (struct str){ 0 };
	from += strlen(begin);
	for (next = from; next; next = to + 1) {
		next = memmem(next, text.n - (size_t)(next - text.p), end, strlen(end));
		if (!next)
			break;
		to = next;
		if (!last)
			break;
	}
	return to ? str_from(from, (size_t)(to - from)) : (struct str){ 0 };
}

bool command_typed(struct str text, struct buf *out, bool *words)
{
	bool is_shell = str_has_prefix(text, STR("<bash-input>"));
	struct str name, args;

	if (!is_shell && !str_has_prefix(text, STR("<command-")))
		return false;
	name = is_shell ? STR("!") : str_trim(inside(text, "command-name", false));
	args = str_trim(is_shell ? inside(text, "bash-input", true) : inside(text, "command-args", true));
	if (!name.n)
		return false;
	buf_str(out, name);
	if (args.n && !is_shell)
		buf_byte(out, ' ');
	buf_str(out, args);
	if (words)
		*words = args.n > 0;
	return true;
}
