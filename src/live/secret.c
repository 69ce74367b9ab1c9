/*
 * Memory with a descriptor (memfd), and the name that descriptor has in /proc. The kernel lets only processes
 * of the same user open that; it is no descriptor of the child, so the child hands it on to nobody; and it is
 * gone with us, however we go.
 */
#include "live/secret.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum status secret_make(struct secret *s, struct str text, struct err *err)
{
	*s = (struct secret)SECRET_NONE;
	if (!text.p)
		return STATUS_OK;
	s->fd = memfd_create("arbor", MFD_CLOEXEC);
	if (s->fd < 0)
		return err_fail_errno(err, errno, "memory for what an agent is told");
	snprintf(s->path, sizeof s->path, "/proc/%ld/fd/%d", (long)getpid(), s->fd);
	return file_write_all(s->fd, text, err);
}

void secret_release(struct secret *s)
{
	file_close(&s->fd);
	s->fd = -1;
}
