/*
 * The file of --log: what happens, a line each, for whoever looks later.
 *
 *     2026-11-16T03:35:05.120Z warning projects/p is a link, not followed
 *     2026-11-16T03:35:05.133Z result {"event":"grew","path":"projects/p/a.jsonl"}
 *
 * Results are those of methods that change something, as JSON; what a search finds is
 * nobody's log, nor is what agents are told and say. A line is one write at the end of the file, so several
 * programs can share it. Control characters are made visible, as everywhere.
 */
#include "face/face.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>

enum status logfile_open(struct face *f, struct str path, struct err *err)
{
	const char *name = arena_cstr(&f->mem, path);

	f->log_fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	return f->log_fd < 0 ? err_fail_errno(err, errno, "--log: %s", name) : STATUS_OK;
}

void logfile_add(struct face *f, const char *what, struct str text)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);
	struct clock clock = clock_system();
	char time[TIME_TEXT + 1];
	struct err err;

	if (f->log_fd < 0)
		return;
	time_print(clock_now(&clock), time);
	buf_printf(&line, "%s %s ", time, what);
	term_filter(&line, text, TERM_LINE);
	buf_byte(&line, '\n');
	if (file_write_all(f->log_fd, buf_as_str(&line), &err)) {
		logfile_close(f);
		say_error(&f->out, &err);
	}
}

void logfile_close(struct face *f)
{
	file_close(&f->log_fd);
	f->log_fd = -1;
}
