/*
 * The only place that prints.
 *
 * On a terminal output is held back until it is longer than the screen, then a
 * pager is started and the rest streams into it; what fits is written when it is
 * complete. Elsewhere it is written in pieces of HELD bytes.
 *
 * Invariants: `held` never holds unfiltered text when `terminal`; nothing is
 * written after an error or after the pager was left.
 */
#include "face/out.h"

#include "base/file.h"
#include "face/text.h"
#include "hub/where.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HELD = 64 * 1024 };

/* ---- What kind of terminal --------------------------------------------------- */

static bool env_on(const char *name)
{
	const char *v = env_text(name);

	return v && strcmp(v, "0") != 0;
}

bool terminal_is_able(void)
{
	const char *term = env_text("TERM");

	return term && strcmp(term, "dumb") != 0;
}

static bool has_many_colours(void)
{
	const char *term = env_text("TERM");

	return env_text("COLORTERM") || (term && (strstr(term, "256color") || strstr(term, "direct")));
}

static bool wants_colour(enum colour colour, bool terminal)
{
	if (colour != COLOUR_AUTO)
		return colour == COLOUR_ALWAYS;
	if (env_text("NO_COLOR"))
		return false;
	if (env_on("CLICOLOR_FORCE") || env_on("FORCE_COLOR"))
		return true;
	return terminal && terminal_is_able();
}

static enum palette palette_for(enum colour colour, bool terminal)
{
	if (!wants_colour(colour, terminal))
		return PALETTE_NONE;
	return has_many_colours() ? PALETTE_MANY : PALETTE_FEW;
}

static int env_number(const char *name, int otherwise)
{
	const char *v = env_text(name);
	uint64_t n;

	if (v && str_to_u64(str_of(v), &n) && n > 0 && n < 10000)
		return (int)n;
	return otherwise;
}

void terminal_size(int fd, int *columns, int *rows)
{
	struct winsize size = { 0 };

	if (ioctl(fd, TIOCGWINSZ, &size))
		size = (struct winsize){ 0 };
	*columns = size.ws_col ? size.ws_col : env_number("COLUMNS", 80);
	*rows = size.ws_row ? size.ws_row : env_number("LINES", 24);
}

void out_init(struct out *o, enum colour colour, bool may_page, bool quiet)
{
	*o = (struct out){ .held = BUF_INIT(SIZE_MAX / 4), .quiet = quiet };
	o->terminal = isatty(STDOUT_FILENO) == 1;
	o->err_terminal = isatty(STDERR_FILENO) == 1 && terminal_is_able();
	o->colour = palette_for(colour, o->terminal);
	o->tty_colour = palette_for(colour, true);
	o->may_page = may_page && o->terminal && terminal_is_able();
	if (o->terminal)
		terminal_size(STDOUT_FILENO, &o->columns, &o->rows);
}

/* ---- Standard output --------------------------------------------------------- */

static void write_held(struct out *o)
{
	struct err err;

	if (o->held.n && !o->error && !o->closed) {
		int fd = o->pager.pid ? o->pager.fd : STDOUT_FILENO;

		progress_erase(o);
		errno = 0;
		if (file_write_all(fd, buf_as_str(&o->held), &err)) {
			o->closed = o->pager.pid && errno == EPIPE;
			o->error = o->closed ? 0 : errno ? errno : EIO;
		}
	}
	buf_clear(&o->held);
}

/* Counts the rows that what was added since `from` takes. The only escapes are our
 * own, which end with 'm' and take no room; wide characters count as one column,
 * which at worst lets a row more scroll by. */
static void count_rows(struct out *o, size_t from)
{
	for (size_t i = from; i < o->held.n; i++) {
		unsigned char c = (unsigned char)o->held.p[i];

		if (c == '\033' || o->in_escape) {
			o->in_escape = c != 'm';
		} else if (c == '\n') {
			o->held_rows++;
			o->held_column = 0;
		} else if ((c & 0xC0) != 0x80 && ++o->held_column > o->columns) {
			o->held_rows++;
			o->held_column = 1;
		}
	}
}

/* After something was added. */
static void flow(struct out *o, size_t from)
{
	if (o->may_page) {
		count_rows(o, from);
		if (o->held_rows < o->rows)
			return;
		o->may_page = false;
		progress_erase(o);
		o->pager.colour = o->colour;
		if (pager_start(&o->pager)) {
			signal(SIGPIPE, SIG_IGN); /* leaving it early is no accident */
			if (o->on_pager)
				o->on_pager();
		}
	}
	if (o->held.n >= HELD || o->pager.pid)
		write_held(o);
}

void out_str(struct out *o, struct str safe)
{
	size_t from = o->held.n;

	buf_str(&o->held, safe);
	flow(o, from);
}

void out_text(struct out *o, const char *ours)
{
	out_str(o, str_of(ours));
}

void out_printf(struct out *o, const char *format, ...)
{
	size_t from = o->held.n;
	va_list args;

	va_start(args, format);
	buf_vprintf(&o->held, format, args);
	va_end(args);
	flow(o, from);
}

void out_foreign(struct out *o, struct str text, enum term_mode mode)
{
	size_t from = o->held.n;

	term_filter(&o->held, text, mode);
	flow(o, from);
}

void out_raw(struct out *o, struct str bytes)
{
	if (o->held.n + bytes.n < HELD) {
		buf_str(&o->held, bytes);
		return;
	}
	/* What is large goes out as it is, without a copy. */
	write_held(o);
	if (!o->error) {
		struct err err;

		errno = 0;
		if (file_write_all(STDOUT_FILENO, bytes, &err))
			o->error = errno ? errno : EIO;
	}
}

void out_pad(struct out *o, int columns)
{
	if (columns > 0)
		out_printf(o, "%*s", columns, "");
}

/* What reads on light and dark backgrounds: of the eight, in the shades that terminals give them, only red and magenta
 * do, and blue where it is bold, which is bright then on a dark one. Of the 256 each has a contrast of about four or
 * more with both black and white. */
static const char *const few[STYLES] = {
	[STYLE_PLAIN] = "0",   [STYLE_ID] = "35",     [STYLE_DIM] = "2",
	[STYLE_HEADING] = "1", [STYLE_USER] = "1;35", [STYLE_ASSISTANT] = "1",
	[STYLE_NAME] = "1",    [STYLE_MARK] = "1;4;31", [STYLE_ERROR] = "31",
};
static const char *const many[STYLES] = {
	[STYLE_PLAIN] = "0",	     [STYLE_ID] = "38;5;98",	 [STYLE_DIM] = "2",
	[STYLE_HEADING] = "1",	     [STYLE_USER] = "1;38;5;28", [STYLE_ASSISTANT] = "1;38;5;63",
	[STYLE_NAME] = "38;5;29",    [STYLE_MARK] = "1;4;38;5;160", [STYLE_ERROR] = "38;5;160",
};

const char *style_code(enum style style, enum palette palette)
{
	return palette == PALETTE_MANY ? many[style] : few[style];
}

void out_style(struct out *o, enum style style)
{
	if (o->colour && style != STYLE_PLAIN)
		out_printf(o, "\033[%sm", style_code(style, o->colour));
}

void out_plain(struct out *o)
{
	if (o->colour)
		out_text(o, "\033[0m");
}

void out_styled(struct out *o, enum style style, struct str safe)
{
	if (style == STYLE_PLAIN) {
		out_str(o, safe);
		return;
	}
	out_style(o, style);
	out_str(o, safe);
	out_plain(o);
}

enum status out_check(const struct out *o, struct err *err)
{
	if (o->closed)
		return err_fail(err, STATUS_CANCELLED, "nobody reads on");
	if (o->error)
		return err_fail_errno(err, o->error, "writing to standard output");
	return STATUS_OK;
}

void out_flush(struct out *o)
{
	write_held(o);
}

enum status out_end(struct out *o, struct err *err)
{
	enum status status;

	write_held(o);
	progress_erase(o);
	pager_end(&o->pager);
	status = out_check(o, err);
	buf_release(&o->held);
	return status;
}

/* ---- Standard error ---------------------------------------------------------- */

static void say_line(struct out *o, const char *front, struct str text, enum term_mode mode)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(64 * MIB);

	progress_erase(o);
	buf_text(&line, front);
	term_filter(&line, text, mode);
	buf_byte(&line, '\n');
	fwrite(line.p, 1, line.n, stderr);
}

void say(struct out *o, const char *format, ...)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(MIB);
	va_list args;

	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	say_line(o, "", buf_as_str(&text), TERM_TEXT);
}

void say_foreign(struct out *o, const char *front, struct str text)
{
	say_line(o, front, text, TERM_LINE);
}

void say_dim(struct out *o, struct str ours)
{
	bool dim = o->err_terminal && o->colour;

	progress_erase(o);
	fprintf(stderr, "%s%.*s%s\n", dim ? "\033[2m" : "", STR_ARG(ours), dim ? "\033[0m" : "");
}

/* One line, but for a list of candidates, whose lines are ours. */
void say_error(struct out *o, const struct err *err)
{
	say_line(o, "arbor: ", str_of(err->text), err->status == STATUS_AMBIGUOUS ? TERM_TEXT : TERM_LINE);
}
