/*
 * mktree DIR SEED FILES BYTES: a folder as Claude Code leaves it, always the
 * same for the same arguments. BYTES are spread over FILES transcripts, a few of
 * which get most of them, as in life; around them lie sub-agents, tool results,
 * tasks, todos, plans, memory and the typed history. Whatever has been trouble
 * for somebody is in it: an empty file, no line feed at the end, CRLF, a line
 * of 2 MB, bytes that do not pack, a name that is not text.
 *
 * mktree -l FILE SEED BYTES [LINE]: one file of so many bytes; LINE 0 means one
 * single line, else lines of about that length.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct making {
	uint64_t random;
	const char *dir;
	struct buf text; /* of the file being made */
	int fd;
};

static uint64_t rnd(struct making *m, uint64_t below)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return below ? (m->random >> 11) % below : 0;
}

static void NORETURN die(const char *what)
{
	fprintf(stderr, "mktree: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- One file -------------------------------------------------------------- */

static void open_path(struct making *m, const char *path)
{
	m->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (m->fd < 0)
		die(path);
	buf_clear(&m->text);
}

static void ATTR_PRINTF(2, 3) open_new(struct making *m, const char *format, ...)
{
	char path[1024];
	int n = snprintf(path, sizeof path, "%s/", m->dir);
	va_list args;

	va_start(args, format);
	vsnprintf(path + n, sizeof path - (size_t)n, format, args);
	va_end(args);
	for (size_t i = 1; path[i]; i++)
		if (path[i] == '/') {
			path[i] = '\0';
			mkdir(path, 0700);
			path[i] = '/';
		}
	open_path(m, path);
}

static void flush(struct making *m)
{
	struct err err;

	if (file_write_all(m->fd, buf_as_str(&m->text), &err)) {
		fprintf(stderr, "mktree: %s\n", err.text);
		exit(1);
	}
	buf_clear(&m->text);
}

static void done(struct making *m)
{
	flush(m);
	close(m->fd);
}

/* ---- Content --------------------------------------------------------------- */

static void uuid(struct making *m)
{
	buf_printf(&m->text, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)rnd(m, 0xffffffff), (unsigned)rnd(m, 0x10000),
		   (unsigned)rnd(m, 0x1000), (unsigned)rnd(m, 0x1000), (unsigned long long)rnd(m, 0xffffffffffff));
}

static void words(struct making *m, size_t bytes)
{
	static const char *const list[] = {
		"the ",	  "file ", "function ", "returns ", "error ",	     "we ",   "should ", "test ",
		"build ", "now ",  "a ",	"line ",    "of ",	     "code ", "which ",	 "is ",
		"\\n",	  "and ",  "then ",	"read ",    "\\\"path\\\" ", "42 ",   "é",	 "→ ",
	};
	size_t end = m->text.n + bytes;

	while (m->text.n < end)
		buf_text(&m->text, list[rnd(m, COUNT(list))]);
}

static void dense(struct making *m, size_t bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes; i++)
		buf_byte(&m->text, digits[rnd(m, 64)]);
}

static size_t line_bytes(struct making *m)
{
	switch (rnd(m, 100)) {
	case 0:
		return 20000 + (size_t)rnd(m, 120000);
	case 1:
	case 2:
	case 3:
	case 4:
		return 2000 + (size_t)rnd(m, 10000);
	default:
		return 60 + (size_t)rnd(m, 900);
	}
}

static void line(struct making *m, int n, size_t bytes)
{
	buf_text(&m->text, "{\"parentUuid\":\"");
	uuid(m);
	buf_printf(&m->text, "\",\"isSidechain\":false,\"type\":\"%s\",\"uuid\":\"", n % 2 ? "assistant" : "user");
	uuid(m);
	buf_printf(&m->text,
		   "\",\"timestamp\":\"2026-11-%02dT10:%02d:%02d.%03dZ\",\"message\":{\"role\":\"%s\","
		   "\"content\":[{",
		   1 + n / 1000 % 28, n / 60 % 60, n % 60, (int)rnd(m, 1000), n % 2 ? "assistant" : "user");
	if (rnd(m, 30) == 0) {
		buf_text(&m->text, "\"type\":\"image\",\"data\":\"");
		dense(m, bytes);
	} else {
		buf_text(&m->text, "\"type\":\"text\",\"text\":\"");
		words(m, bytes);
	}
	buf_text(&m->text, "\"}]}}");
}

static void transcript(struct making *m, int64_t bytes, const char *line_end, bool ended)
{
	int64_t written = 0;

	for (int n = 0; written < bytes; n++) {
		size_t before = m->text.n;

		line(m, n, line_bytes(m));
		written += (int64_t)(m->text.n - before);
		if (written < bytes || ended)
			buf_text(&m->text, line_end);
		if (m->text.n > MIB)
			flush(m);
	}
}

/* ---- The tree -------------------------------------------------------------- */

static void make_transcript(struct making *m, int i, int64_t bytes)
{
	const char *end = i % 7 == 3 ? "\r\n" : "\n";
	int project = i % 5;

	open_new(m, "projects/-home-user-p%d/%08d-0000-4000-8000-000000000000.jsonl", project, i);
	transcript(m, bytes, end, i % 6 != 5);
	done(m);
	if (i % 3 == 0) {
		open_new(m,
			 "projects/-home-user-p%d/%08d-0000-4000-8000-000000000000/subagents/agent-%d.jsonl",
			 project, i, i);
		transcript(m, bytes / 8, "\n", true);
		done(m);
	}
	if (i % 4 == 0) {
		open_new(m, "projects/-home-user-p%d/%08d-0000-4000-8000-000000000000/tool-results/r%d.txt",
			 project, i, i);
		words(m, 500 + (size_t)rnd(m, 40000));
		done(m);
	}
}

static void make_oddities(struct making *m)
{
	open_new(m, "projects/-home-user-odd/00000000-0000-4000-8000-00000000aaaa.jsonl"); /* empty */
	done(m);
	open_new(m, "projects/-home-user-odd/00000000-0000-4000-8000-00000000bbbb.jsonl");
	line(m, 1, 300);
	buf_byte(&m->text, '\n');
	line(m, 2, 2 * MIB);
	buf_byte(&m->text, '\n');
	line(m, 3, 300);
	done(m);
	open_new(m, "plans/a name\n with \xff \xc3\xa4 100%% 'odd' bytes.md");
	words(m, 100);
	done(m);
	open_new(m, "projects/-home-user-odd/00000000-0000-4000-8000-00000000cccc.jsonl");
	dense(m, 700 * KIB); /* torn: the beginning of a line and no more */
	done(m);
}

static void make_small(struct making *m, int count)
{
	for (int i = 0; i < count; i++) {
		open_new(m, "tasks/list-%d/%d.json", i % 3, i);
		buf_printf(&m->text, "{\"id\":\"%d\",\"subject\":\"", i);
		words(m, 40);
		buf_text(&m->text, "\",\"status\":\"pending\"}");
		done(m);
		if (i % 4)
			continue;
		open_new(m, "plans/plan-%d.md", i);
		words(m, 200 + (size_t)rnd(m, 3000));
		done(m);
		open_new(m, "todos/todo-%d.json", i);
		done(m);
		open_new(m, "file-history/s-%d/abc@v%d", i % 2, i);
		words(m, (size_t)rnd(m, 9000));
		done(m);
	}
	open_new(m, "projects/-home-user-p0/memory/MEMORY.md");
	words(m, 900);
	done(m);
	open_new(m, "history.jsonl");
	for (int i = 0; i < 4 * count; i++) {
		buf_printf(&m->text, "{\"display\":\"");
		words(m, 10 + (size_t)rnd(m, 80));
		buf_printf(&m->text, "\",\"timestamp\":%d}\n", 1700000000 + i);
	}
	done(m);
}

static void make_tree(struct making *m, int files, int64_t bytes)
{
	int64_t left = bytes;

	for (int i = 0; i < files; i++) {
		int64_t share = i < files - 1 ? left / (i % 4 ? 12 : 4) : left;

		make_transcript(m, i, share);
		left -= share;
	}
	make_oddities(m);
	make_small(m, 4 + files / 2);
}

static void make_one(struct making *m, const char *path, int64_t bytes, int64_t line_length)
{
	int64_t at = 0, in_line = 0;

	open_path(m, path);
	while (at < bytes) {
		size_t n = 16 + (size_t)rnd(m, 48);

		n = size_min(n, (size_t)(bytes - at));
		if (line_length && in_line >= line_length) {
			buf_byte(&m->text, '\n');
			n = 1;
			in_line = 0;
		} else if (rnd(m, 3) == 0) {
			dense(m, n);
		} else {
			for (size_t i = 0; i < n; i++)
				buf_byte(&m->text, (char)('a' + i % 26));
		}
		at += (int64_t)n;
		in_line += (int64_t)n;
		if (m->text.n > MIB)
			flush(m);
	}
	done(m);
}

int main(int argc, char **argv)
{
	bool one = argc > 1 && strcmp(argv[1], "-l") == 0;
	struct making m = { .text = BUF_INIT(64 * MIB) };
	int64_t number[3] = { 0 };

	argv += one;
	argc -= one;
	for (int i = 2; i < argc && i < 5; i++)
		if (!str_to_i64(str_of(argv[i]), &number[i - 2]))
			argc = 0;
	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: mktree DIR SEED FILES BYTES\n       mktree -l FILE SEED BYTES [LINE]\n");
		return 2;
	}
	m.dir = argv[1];
	m.random = (uint64_t)number[0] * 0x9E3779B97F4A7C15u + 99;
	if (one)
		make_one(&m, argv[1], number[1], argc > 4 ? number[2] : 0);
	else
		make_tree(&m, (int)number[1], number[2]);
	buf_release(&m.text);
	return 0;
}
