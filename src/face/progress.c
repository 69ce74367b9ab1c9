/*
 * How far it is, on one line of a terminal's standard error:
 *
 *     indexing   42%  ██████████░░░░░░░░░░░░░░   118.2 MB/s   0:12 left
 *
 * It appears after half a second, because most things are done by then, and
 * leaves no trace. Whatever else is printed erases it first.
 */
#include "face/out.h"

#include "base/clock.h"
#include "face/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 24 };
static const int64_t wait_ns = 500 * 1000000LL, redraw_ns = 100 * 1000000LL;

void progress_erase(struct out *o)
{
	if (!o->progress.shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	o->progress.shown = false;
}

static int columns_of_stderr(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

static void add_bar(struct buf *line, int64_t done, int64_t total)
{
	int full = (int)((double)done / (double)total * BAR);

	buf_printf(line, " %3d%%  ", (int)((double)done / (double)total * 100));
	for (int i = 0; i < BAR; i++)
		buf_text(line, i < full ? "█" : "░");
}

static void draw(struct out *o, const char *what, int64_t done, int64_t total, double seconds)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(KIB);
	double rate = (double)(done - o->progress.first) / seconds;
	char size[SIZE_TEXT];
	struct str fits;

	if (done > total)
		total = 0; /* it grew meanwhile */
	buf_printf(&line, "%s ", what);
	if (total)
		add_bar(&line, done, total);
	else
		buf_printf(&line, " %s", size_text(done, size));
	buf_printf(&line, "  %10s/s", size_text((int64_t)rate, size));
	if (total && rate > 0) {
		int64_t left = (int64_t)((double)(total - done) / rate);

		buf_printf(&line, "  %3" PRId64 ":%02d left", left / 60, (int)(left % 60));
	}
	fits = text_start(buf_as_str(&line), columns_of_stderr() - 1);
	fprintf(stderr, "\r%.*s\033[K", STR_ARG(fits));
	fflush(stderr);
	o->progress.shown = true;
}

void progress_report(struct out *o, const char *what, int64_t done, int64_t total)
{
	int64_t now = clock_monotonic_ns();

	if (!o->err_terminal || o->quiet || o->pager.pid)
		return;
	/* Everything that is done has a speed of its own. */
	if (!o->progress.what || strcmp(o->progress.what, what) != 0) {
		o->progress.what = what;
		o->progress.first = done;
		if (!o->progress.shown)
			o->progress.appears_ns = now + wait_ns;
		o->progress.begun_ns = now;
	}
	if (now < o->progress.appears_ns || now - o->progress.drawn_ns < redraw_ns)
		return;
	o->progress.drawn_ns = now;
	draw(o, what, done, total, (double)(now - o->progress.begun_ns + 1) / 1e9);
}
