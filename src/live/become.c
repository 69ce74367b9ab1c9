/*
 * Nothing of us stays: a person at a terminal who goes on with a conversation wants the client, and nobody in
 * between. Files are closed by that (all are O_CLOEXEC), and what we did with signals is undone.
 */
#include "live/become.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum status become(const char *path, const char *folder, const char *const *words, struct err *err)
{
	char *const *argv;

	if (chdir(folder))
		return err_fail_errno(err, errno, "%s", folder);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	memcpy(&argv, &words, sizeof argv); /* they are not written to */
	execv(path, argv);
	return err_fail_errno(err, errno, "%s", path);
}
