/*
 * What a bookmark or tag may be called, and what a note may say.
 *
 * Names are typed beside other things, in commands and queries, so nothing that means something there can be
 * part of one; and they have to look like what they are. Notes may say anything that is text.
 */
#include "store/annotation.h"

#include "base/term.h"
#include "base/utf8.h"

#include <string.h>

/* The same as it stands there when a terminal shows it: no controls, nothing invisible. */
static bool is_visible(struct str name)
{
	struct buf shown CLEANUP(buf_release) = BUF_INIT(64 * KIB);

	term_filter(&shown, name, TERM_LINE);
	return str_eq(buf_as_str(&shown), name);
}

static bool has_blank(struct str name)
{
	for (size_t at = 0; at < name.n;)
		if (utf8_is_blank(utf8_next(name, &at)))
			return true;
	return false;
}

/* Two dots are a range, @ parts what is in a session, a comma several; * and quotes mean something in a
 * query; in front ~ counts back, - is an option, and the others look like files. */
static const char *name_fault(struct str name)
{
	static const char outer[] = ":./", front[] = "-~", inside[] = "@,*\"'";

	if (!name.n)
		return "is empty";
	if (!utf8_valid(name))
		return "has bytes in it that are no UTF-8";
	if (!is_visible(name) || has_blank(name))
		return "has a blank in it, or something that cannot be seen";
	for (size_t i = 0; i < name.n; i++)
		if (strchr(inside, name.p[i]) || (name.p[i] == '.' && i && name.p[i - 1] == '.'))
			return "has one of @ , * .. or a quote in it";
	if (strchr(outer, name.p[0]) || strchr(front, name.p[0]) || strchr(outer, name.p[name.n - 1]))
		return "begins with one of : . / ~ - or ends with one of : . /";
	return NULL;
}

enum status annotation_check_name(struct str name, struct err *err)
{
	const char *fault = name_fault(name);
	struct buf shown CLEANUP(buf_release) = BUF_INIT(KIB);

	if (name.n > LIMIT_ANNOTATION_NAME)
		return err_fail(err, STATUS_USAGE,
				"that cannot be a name: it has %zu bytes, and at most %d will do", name.n,
				LIMIT_ANNOTATION_NAME);
	if (!fault)
		return STATUS_OK;
	utf8_repair(&shown, str_sub(name, 0, 60));
	return err_fail(err, STATUS_USAGE, "'%s' cannot be a name: it %s", shown.p ? shown.p : "", fault);
}

enum status annotation_check_author(struct str author, struct err *err)
{
	if (author.n <= LIMIT_ANNOTATION_NAME && utf8_valid(author) && is_visible(author))
		return STATUS_OK;
	return err_fail(err, STATUS_USAGE,
			"the author has more than %d bytes, or something that cannot be seen",
			LIMIT_ANNOTATION_NAME);
}

enum status annotation_check_text(struct str text, struct err *err)
{
	if (!str_trim(text).n)
		return err_fail(err, STATUS_USAGE, "the note is empty; to take one away there is --delete");
	if (text.n > LIMIT_NOTE)
		return err_fail(err, STATUS_LIMIT,
				"the note is longer than %zu KiB; keep it in a file, and its name here",
				LIMIT_NOTE / KIB);
	if (!utf8_valid(text) || str_has_byte(text, '\0'))
		return err_fail(err, STATUS_USAGE,
				"the note is no text: it has a NUL in it, or is not UTF-8");
	return STATUS_OK;
}
