/*
 * In single quotes everything stands for itself but they. What a terminal would act upon, or a line would end at, is
 * written out as bash, zsh and ksh read it: $'a\nb'.
 */
#include "base/shell.h"

#include <string.h>

static bool is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f;
}

static void quote_plainly(struct buf *out, struct str word)
{
	buf_byte(out, '\'');
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == '\'')
			buf_text(out, "'\\''");
		else
			buf_byte(out, word.p[i]);
	buf_byte(out, '\'');
}

static void write_out(struct buf *out, struct str word)
{
	buf_text(out, "$'");
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == '\n')
			buf_text(out, "\\n");
		else if (is_control(word.p[i]))
			buf_printf(out, "\\%03o", (unsigned)(unsigned char)word.p[i]);
		else if (word.p[i] == '\'' || word.p[i] == '\\')
			buf_printf(out, "\\%c", word.p[i]);
		else
			buf_byte(out, word.p[i]);
	buf_byte(out, '\'');
}

void shell_quote(struct buf *out, struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (is_control(word.p[i])) {
			write_out(out, word);
			return;
		}
	quote_plainly(out, word);
}

void shell_word(struct buf *out, struct str word)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=@%+,~";
	bool is_plain = word.n > 0 && word.p[0] != '~';

	for (size_t i = 0; i < word.n; i++)
		is_plain = is_plain && word.p[i] && strchr(plain, word.p[i]);
	if (is_plain)
		buf_str(out, word);
	else
		shell_quote(out, word);
}
