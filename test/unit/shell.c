/*
 * Words for a shell: what they are written as, and that a shell reads them back.
 */
#include "base/shell.h"

#include "t.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(a_word_is_quoted_where_it_has_to_be)
{
	static const struct {
		const char *word, *as, *quoted;
	} rows[] = {
		{ "plain", "plain", "'plain'" },
		{ "a/b-c_1.d:e=f@g%h+i,j~", "a/b-c_1.d:e=f@g%h+i,j~", "'a/b-c_1.d:e=f@g%h+i,j~'" },
		{ "", "''", "''" },
		{ "~home", "'~home'", "'~home'" },
		{ "it's $(here)", "'it'\\''s $(here)'", "'it'\\''s $(here)'" },
		{ "\xc3\xa9", "'\xc3\xa9'", "'\xc3\xa9'" },
		{ "a\nb", "$'a\\nb'", "$'a\\nb'" },
		{ "\x1b[2J'\\", "$'\\033[2J\\'\\\\'", "$'\\033[2J\\'\\\\'" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf out CLEANUP(buf_release) = BUF_INIT(KIB), all CLEANUP(buf_release) = BUF_INIT(KIB);

		shell_word(&out, str_of(rows[i].word));
		EQS(buf_as_str(&out), str_of(rows[i].as));
		shell_quote(&all, str_of(rows[i].word));
		EQS(buf_as_str(&all), str_of(rows[i].quoted));
	}
}

TEST(a_shell_reads_every_byte_back)
{
	struct buf command CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	char word[255], back[512];
	size_t n;
	FILE *shell;

	for (size_t i = 0; i < sizeof word; i++)
		word[i] = (char)(i + 1);
	buf_text(&command, "printf %s ");
	shell_word(&command, str_from(word, sizeof word));
	/* The whole is one argument of bash, as the letters of sh may not be. */
	setenv("WORD", (buf_byte(&command, 0), command.p), 1);
	shell = popen("LC_ALL=C bash -c \"$WORD\"", "r");
	NEED(shell);
	n = fread(back, 1, sizeof back, shell);
	EQ(pclose(shell), 0);
	EQ(n, sizeof word);
	CHECK(memcmp(back, word, sizeof word) == 0);
}

TESTS(CASE(a_word_is_quoted_where_it_has_to_be), CASE(a_shell_reads_every_byte_back))
