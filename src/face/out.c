/*
 * The only place that prints. stdout carries data and nothing else; whatever
 * comes from outside goes through base/term.h first.
 */
#include "face/face.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void out_printf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

static void print_filtered(FILE *to, struct str text, enum term_mode mode)
{
	struct buf safe CLEANUP(buf_release) = BUF_INIT(64 * MIB);

	term_filter(&safe, text, mode);
	fwrite(safe.p, 1, safe.n, to);
}

void out_foreign(struct str text)
{
	print_filtered(stdout, text, TERM_LINE);
}

static int text_width(struct str text)
{
	int width = 0;

	for (size_t at = 0; at < text.n;) {
		int32_t c = utf8_next(text, &at);

		width += c == UTF8_BAD ? 1 : utf8_width((uint32_t)c);
	}
	return width;
}

/* The longest end of the text that is at most so wide. */
static struct str narrow_end(struct str text, int columns)
{
	size_t at = 0;
	int width = text_width(text);

	while (width > columns && at < text.n) {
		int32_t c = utf8_next(text, &at);

		width -= c == UTF8_BAD ? 1 : utf8_width((uint32_t)c);
	}
	return str_sub(text, at, SIZE_MAX);
}

static struct str narrow_start(struct str text, int columns)
{
	size_t at = 0, end = 0;
	int width = 0;

	while (at < text.n) {
		int32_t c = utf8_next(text, &at);

		width += c == UTF8_BAD ? 1 : utf8_width((uint32_t)c);
		if (width > columns)
			break;
		end = at;
	}
	return str_sub(text, 0, end);
}

void out_path(struct str path, int columns)
{
	enum { LEAST = 20 };
	struct buf safe CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct str text;

	term_filter(&safe, path, TERM_LINE);
	text = buf_as_str(&safe);
	if (columns == 0 || text_width(text) <= columns) {
		fwrite(text.p, 1, text.n, stdout);
		return;
	}
	if (columns < LEAST)
		columns = LEAST;
	out_printf("%.*s…%.*s", STR_ARG(narrow_start(text, (columns - 1) / 3)),
		   STR_ARG(narrow_end(text, columns - 1 - (columns - 1) / 3)));
}

enum status out_bytes(struct str bytes, struct err *err)
{
	if (bytes.n && fwrite(bytes.p, 1, bytes.n, stdout) != bytes.n)
		return err_fail_errno(err, errno, "writing to standard output");
	return STATUS_OK;
}

enum status out_flush(struct err *err)
{
	if (fflush(stdout) || ferror(stdout))
		return err_fail_errno(err, errno, "writing to standard output");
	return STATUS_OK;
}

static void end_progress(struct face *f)
{
	if (f->progress_shown)
		fputs("\r\033[K", stderr);
	f->progress_shown = false;
}

void say(struct face *f, const char *format, ...)
{
	va_list args;

	end_progress(f);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void say_foreign(struct face *f, const char *front, struct str text)
{
	end_progress(f);
	fputs(front, stderr);
	print_filtered(stderr, text, TERM_LINE);
	fputc('\n', stderr);
}

/* One line, but for a list of candidates, whose lines are ours. */
void say_error(struct face *f, const struct err *err)
{
	end_progress(f);
	fputs("arbor: ", stderr);
	print_filtered(stderr, str_of(err->text), err->status == STATUS_AMBIGUOUS ? TERM_TEXT : TERM_LINE);
	fputc('\n', stderr);
}

void say_progress(struct face *f, const char *format, ...)
{
	va_list args;

	if (!f->err_is_terminal || f->quiet)
		return;
	end_progress(f);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fflush(stderr);
	f->progress_shown = true;
}

const char *size_text(int64_t bytes, char out[SIZE_TEXT])
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
	double v = (double)bytes / 1000;
	size_t unit = 0;

	if (bytes < 1000) {
		snprintf(out, SIZE_TEXT, "%d B", (int)bytes);
		return out;
	}
	for (; v >= 999.95 && unit + 1 < COUNT(units); unit++)
		v /= 1000;
	snprintf(out, SIZE_TEXT, "%.1f %s", v, units[unit]);
	return out;
}
