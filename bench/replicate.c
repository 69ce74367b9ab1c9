/*
 * replicate FROM TO COPIES [FIRST]: copies the transcripts below FROM/projects
 * so many times into TO, each copy with ids of its own, so that a reader sees
 * COPIES times as many different conversations. The copies are numbered from
 * FIRST (default 1); the same number always gives the same bytes, so a folder
 * can grow by later calls.
 *
 * Two conversations with the same ids are one conversation to any reader worth
 * its name (a fork, a copy), so `cp -r` would measure how fast duplicates are
 * recognised. In copy k:
 *
 *     8-4-4-4-12 hex digits          other digits; version and variant stay
 *     msg_ req_ toolu_ + 16 or more  the same, "01" and provider infixes stay
 *     "cwd":"/a/b"                   "cwd":"/a/b-copyk"
 *     projects/NAME/...              projects/NAME-copyk/..., ids as above
 *
 * The same id becomes the same id everywhere in one copy, so links between lines
 * and files hold. An id keeps its length: a line is longer than its original by
 * the suffix for each "cwd" and by nothing else. Everything else, the text that
 * is searched above all, stays.
 *
 * New characters come from SHA-256(k, id), a byte each. What looks like an id
 * inside of text is replaced too; no harm is in that, and a link written down in
 * a message stays a link.
 */
#include "base/hash.h"
#include "base/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	UUID_CHARS = 36,
	UUID_FIRST_DASH = 8,
	UUID_VERSION_AT = 14,
	UUID_VARIANT_AT = 19,
	ID_LEAST = 16, /* msg_count and req_body are words, not ids */
	ID_KEPT = 2,   /* "01", the version of the id */
	ID_MOST = ID_KEPT + SHA256_BYTES,
};

enum edit_kind { EDIT_UUID, EDIT_ID, EDIT_SUFFIX };

/* Where a copy differs from its original. An EDIT_SUFFIX has no length. */
struct edit {
	size_t at;
	size_t n;
	enum edit_kind kind;
};

struct copying {
	int from_fd;
	const char *to;
	unsigned first, copies;
	struct buf text;  /* a file */
	struct buf edits; /* struct edit, ascending */
	struct buf path, out;
};

static void NORETURN die(const char *what, const char *why)
{
	fprintf(stderr, "replicate: %s: %s\n", what, why);
	exit(1);
}

/* ---- What to change --------------------------------------------------------- */

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool uuid_dash(size_t at)
{
	return at == 8 || at == 13 || at == 18 || at == 23;
}

static bool is_uuid(struct str s, size_t at)
{
	if (at > s.n || s.n - at < UUID_CHARS)
		return false;
	for (size_t i = 0; i < UUID_CHARS; i++)
		if (uuid_dash(i) ? s.p[at + i] != '-' : !is_hex(s.p[at + i]))
			return false;
	return true;
}

static size_t alnum_run(struct str s, size_t at)
{
	size_t n = 0;

	while (at + n < s.n && is_alnum(s.p[at + n]))
		n++;
	return n;
}

/* Whether the `_` at `at` begins an API id; if so, sets the part that changes. */
static bool find_id(struct str s, size_t at, struct edit *out)
{
	struct str before = str_sub(s, 0, at);
	size_t start = at + 1, n;

	if (!str_has_suffix(before, STR("msg")) && !str_has_suffix(before, STR("req")) &&
	    !str_has_suffix(before, STR("toolu")))
		return false;
	n = alnum_run(s, start);
	if (n == 4 && start + n < s.n && s.p[start + n] == '_') { /* msg_bdrk_01..., toolu_vrtx_01... */
		start += n + 1;
		n = alnum_run(s, start);
	}
	if (n < ID_LEAST)
		return false;
	*out = (struct edit){ start, n < ID_MOST ? n : ID_MOST, EDIT_ID };
	return true;
}

/* Where the JSON string ends whose first character is at `at`. */
static size_t string_end(struct str s, size_t at)
{
	while (at < s.n && s.p[at] != '"' && s.p[at] != '\n')
		at += s.p[at] == '\\' ? 2 : 1;
	return at < s.n ? at : s.n;
}

/* In a string a quote has a backslash in front, so this is always a key. */
static bool is_cwd_key(struct str s, size_t at)
{
	return str_has_prefix(str_sub(s, at, SIZE_MAX), STR("\"cwd\":\""));
}

/* Whether what is recognised by its character at `i` is to be changed. */
static bool find_edit(struct str s, size_t i, struct edit *out)
{
	if (s.p[i] == '_')
		return find_id(s, i, out);
	if (s.p[i] != '-' || i < UUID_FIRST_DASH || !is_uuid(s, i - UUID_FIRST_DASH))
		return false;
	*out = (struct edit){ i - UUID_FIRST_DASH, UUID_CHARS, EDIT_UUID };
	return true;
}

static void find_edits(struct str s, struct buf *edits)
{
	size_t cwd_end = SIZE_MAX;
	struct edit e;

	buf_clear(edits);
	for (size_t i = 0; i < s.n; i++) {
		if (i == cwd_end) {
			e = (struct edit){ i, 0, EDIT_SUFFIX };
			buf_add(edits, &e, sizeof e);
		} else if (s.p[i] == '"' && is_cwd_key(s, i)) {
			cwd_end = string_end(s, i + STR("\"cwd\":\"").n);
		} else if (find_edit(s, i, &e)) {
			buf_add(edits, &e, sizeof e);
			i = e.at + e.n - 1;
		}
	}
}

/* ---- Changing it ------------------------------------------------------------ */

static void digest(unsigned copy, struct str id, uint8_t out[SHA256_BYTES])
{
	struct sha sha;

	sha256_init(&sha);
	sha256_add(&sha, &copy, sizeof copy);
	sha256_add(&sha, id.p, id.n);
	sha256_end(&sha, out);
}

static void add_uuid(struct buf *out, struct str id, const uint8_t noise[SHA256_BYTES])
{
	size_t used = 0;

	for (size_t i = 0; i < id.n; i++) {
		if (uuid_dash(i) || i == UUID_VERSION_AT || i == UUID_VARIANT_AT)
			buf_byte(out, id.p[i]);
		else
			buf_byte(out, "0123456789abcdef"[noise[used++] % 16]);
	}
}

static void add_id(struct buf *out, struct str id, const uint8_t noise[SHA256_BYTES])
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	buf_str(out, str_sub(id, 0, ID_KEPT));
	for (size_t i = ID_KEPT; i < id.n; i++)
		buf_byte(out, digits[noise[i - ID_KEPT] % 62]);
}

/* Appends copy number `copy` of `s`, whose edits have been found, to `out`. */
static void add_copy(struct buf *out, struct str s, const struct buf *edits, unsigned copy)
{
	const char *p = edits->p;
	size_t done = 0;

	for (size_t left = edits->n; left; left -= sizeof(struct edit), p += sizeof(struct edit)) {
		uint8_t noise[SHA256_BYTES];
		struct edit e;
		struct str id;

		memcpy(&e, p, sizeof e);
		id = str_sub(s, e.at, e.n);
		buf_str(out, str_sub(s, done, e.at - done));
		done = e.at + e.n;
		if (e.kind == EDIT_SUFFIX) {
			buf_printf(out, "-copy%u", copy);
			continue;
		}
		digest(copy, id, noise);
		if (e.kind == EDIT_UUID)
			add_uuid(out, id, noise);
		else
			add_id(out, id, noise);
	}
	buf_str(out, str_sub(s, done, SIZE_MAX));
}

/* ---- Files ------------------------------------------------------------------ */

static void read_file(struct copying *c, struct str path, int64_t size)
{
	struct err err;
	int fd CLEANUP(file_close) = -1;
	size_t got = 0;
	char *into;

	buf_clear(&c->text);
	into = buf_reserve(&c->text, (size_t)size);
	if (!into)
		die("a file", "too large");
	if (file_open_beneath(c->from_fd, path, O_RDONLY, &fd, &err) ||
	    file_read_at(fd, 0, into, (size_t)size, &got, &err))
		die("reading", err.text);
	buf_grew(&c->text, got);
}

/* projects/NAME/rest of copy k: projects/NAME-copyk/rest, with the ids of the copy. */
static void set_path(struct copying *c, struct str path, unsigned copy)
{
	struct str below, rest, project;

	str_cut(path, '/', &below);
	project = str_cut(below, '/', &rest);
	find_edits(path, &c->edits);
	buf_clear(&c->out);
	add_copy(&c->out, path, &c->edits, copy);
	/* A project's name may hold ids: of equal length, so the suffix goes where it would have gone. */
	buf_clear(&c->path);
	buf_printf(&c->path, "%s/", c->to);
	below = buf_as_str(&c->out);
	buf_str(&c->path, str_sub(below, 0, STR("projects/").n + project.n));
	buf_printf(&c->path, "-copy%u", copy);
	buf_str(&c->path, str_sub(below, STR("projects/").n + project.n, SIZE_MAX));
}

static void write_file(struct copying *c)
{
	struct err err;
	size_t slash = str_rfind(buf_as_str(&c->path), '/');
	int fd CLEANUP(file_close) = -1;

	c->path.p[slash] = '\0';
	if (file_make_dirs(c->path.p, &err))
		die("making a folder", err.text);
	c->path.p[slash] = '/';
	fd = open(c->path.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		die(c->path.p, strerror(errno));
	if (c->out.failed)
		die(c->path.p, "too large");
	if (file_write_all(fd, buf_as_str(&c->out), &err))
		die(c->path.p, err.text);
}

static void replicate_file(void *ctx, struct str path, const struct file_stat *st)
{
	struct copying *c = ctx;
	struct buf edits CLEANUP(buf_release) = BUF_INIT((size_t)1 << 30);

	read_file(c, path, st->size);
	find_edits(buf_as_str(&c->text), &edits);
	for (unsigned i = 0; i < c->copies; i++) {
		set_path(c, path, c->first + i);
		buf_clear(&c->out);
		add_copy(&c->out, buf_as_str(&c->text), &edits, c->first + i);
		write_file(c);
	}
}

static bool wants(void *ctx, struct str path, bool is_folder)
{
	(void)ctx;
	return str_has_prefix(path, STR("projects/")) || (is_folder && str_eq(path, STR("projects")));
}

static void failed(void *ctx, struct str path, enum walk_problem problem, const struct err *why)
{
	(void)ctx;
	(void)path;
	(void)problem;
	die("looking at a file", why->text);
}

static unsigned number(const char *text)
{
	uint64_t value;

	if (!str_to_u64(str_of(text), &value) || value < 1 || value > 10000)
		die(text, "not a number from 1 to 10000");
	return (unsigned)value;
}

int main(int argc, char **argv)
{
	struct copying c = {
		.text = BUF_INIT((size_t)2 << 30),
		.edits = BUF_INIT(MIB),
		.path = BUF_INIT(64 * KIB),
		.out = BUF_INIT((size_t)3 << 30),
	};
	const struct walk w = { .wants = wants, .found = replicate_file, .failed = failed, .ctx = &c };
	struct err err;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: replicate FROM TO COPIES [FIRST]\n");
		return 2;
	}
	c.to = argv[2];
	c.copies = number(argv[3]);
	c.first = argc > 4 ? number(argv[4]) : 1;
	c.from_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c.from_fd < 0)
		die(argv[1], strerror(errno));
	if (walk_run(&w, c.from_fd, &err))
		die(argv[1], err.text);
	close(c.from_fd);
	buf_release(&c.text);
	buf_release(&c.edits);
	buf_release(&c.path);
	buf_release(&c.out);
	return 0;
}
