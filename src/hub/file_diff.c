/*
 * As git writes it, so that 'git apply' and 'patch -p1' take it.
 */
#include "hub/file_diff.h"

#include "base/diff.h"

/* A path in a diff, as git writes it: in quotes when it could be taken for something else. */
static void add_name(struct buf *out, const char *side, struct str folder, struct str path)
{
	bool quoted = false;

	if (folder.n && path.n > folder.n + 1 && str_has_prefix(path, folder) && path.p[folder.n] == '/')
		path = str_sub(path, folder.n, SIZE_MAX);
	for (size_t i = 0; i < path.n; i++)
		quoted |= (unsigned char)path.p[i] < ' ' || path.p[i] == '"' || path.p[i] == '\\' ||
			  path.p[i] == 0x7f;
	buf_printf(out, "%s%s%s", quoted ? "\"" : "", side, path.n && path.p[0] == '/' ? "" : "/");
	for (size_t i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] < ' ' || path.p[i] == 0x7f)
			buf_printf(out, "\\%03o", (unsigned)path.p[i]);
		else
			buf_printf(out, "%s%c", path.p[i] == '"' || path.p[i] == '\\' ? "\\" : "", path.p[i]);
	buf_text(out, quoted ? "\"\n" : "\n");
}

static void add_side(struct buf *out, const char *front, const char *side, struct str folder, struct str path,
		     const struct file_content *c)
{
	buf_text(out, front);
	if (c->state == FILE_ABSENT)
		buf_text(out, "/dev/null\n");
	else
		add_name(out, side, folder, path);
}

enum status file_diff(struct str folder, struct str path, const struct file_content *before,
		      const struct file_content *now, struct buf *out, struct err *err)
{
	size_t names;

	add_side(out, "--- ", "a", folder, path, before);
	add_side(out, "+++ ", "b", folder, path, now);
	names = out->n;
	diff_unified(buf_as_str(&before->bytes), buf_as_str(&now->bytes), out);
	if (out->failed)
		return err_fail(err, STATUS_LIMIT, "a diff is longer than %zu bytes", out->max);
	if (out->n == names)
		buf_clear(out);
	return STATUS_OK;
}
