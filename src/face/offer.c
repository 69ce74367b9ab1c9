/*
 * Commands that are offered to be typed. They go through Arbor and not to the client itself: the client's file may be
 * gone, or the folder, and whoever types what was offered is not to find that out from an error.
 */
#include "face/offer.h"

#include "base/shell.h"
#include "face/text.h"

#include <string.h>
#include <sys/stat.h>

bool offer_is_folder(struct str path)
{
	char name[LIMIT_PATH];
	struct stat st;

	if (!path.n || path.n >= sizeof name || str_has_byte(path, '\0'))
		return false;
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

void offer_resume(const struct face *f, struct buf *out, const char *words, struct str project)
{
	buf_printf(out, "arbor resume %s", words);
	if (!offer_is_folder(project))
		buf_text(out, " --cwd .");
	if (f->store.p) {
		buf_text(out, " --store ");
		shell_quote(out, f->store);
	}
}
