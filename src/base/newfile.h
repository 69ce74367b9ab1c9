/*
 * A file that nobody has yet, written piece by piece: it has its name when it is complete and on disk, and
 * until then none.
 */
#ifndef ARBOR_BASE_NEWFILE_H
#define ARBOR_BASE_NEWFILE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"

#include <limits.h>

struct newfile {
	int folder, fd;		 /* -1 = none */
	char name[NAME_MAX + 1]; /* in the folder, in the end */
	char temp[NAME_MAX + 1]; /* until then; "" = the file has no name at all */
	struct buf waiting;
	int64_t size;
};

#define NEWFILE_INIT \
	{ \
		.folder = -1, .fd = -1, .waiting = BUF_INIT(4 * MIB) \
	}
/* What was not finished is gone. */
void newfile_release(struct newfile *f);

/* In a folder that is there; others than its owner cannot read it. */
enum status newfile_begin(struct newfile *f, const char *folder, const char *name, struct err *err) MUST_USE;
enum status newfile_add(struct newfile *f, struct str bytes, struct err *err) MUST_USE;

/* STATUS_CONFLICT when a file has the name by now: it stays as it is. */
enum status newfile_finish(struct newfile *f, struct err *err) MUST_USE;

#endif
