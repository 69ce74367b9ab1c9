/*
 * Comparing a pattern with a command, a path, an address.
 *
 * Strictly, what * stands for in a command has nothing that could begin another command, so "git *" does not
 * mean "git log; rm -rf ~". A path has to match as it is written and as the file system resolves it: a link
 * below src/ is not below src/. An address counts only when nobody can read another host out of it.
 *
 * Widely, a command is taken apart at everything that parts commands, quotes are dropped, and behind programs
 * that start others each word may be the one. A path matches with what contains it, and a name alone at any
 * depth. That finds what is written plainly and no more: what a shell computes, nobody can read. Whoever runs
 * out of steps has something to hide.
 */
#include "claude/permission_match.h"

#include <string.h>

/* ---- Commands --------------------------------------------------------------- */

/* Nothing that parts commands, starts or redirects one, or puts in what somebody else says. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && !strchr(";&|`$()<>", c);
}

static bool parts_commands(char c)
{
	return c == '\n' || c == '\r' || (c && strchr(";&|`$()<>{}", c));
}

/* Whatever the last wildcard may stand for, it may be left out with the blank before it: "git *" means "git".
 */
static bool match_command(struct str pattern, struct str command, const struct glob_how *how)
{
	char room[LIMIT_RULE_PATTERN];
	struct str front = str_sub(pattern, 0, pattern.n - 2);

	if (pattern.n < 3 || pattern.n > sizeof room || !str_has_suffix(pattern, STR("*")) ||
	    !strchr(" :", pattern.p[pattern.n - 2]))
		return glob_match(pattern, command, how);
	memcpy(room, pattern.p, pattern.n);
	room[pattern.n - 2] = ' ';
	return glob_match(front, command, how) || glob_match(str_from(room, pattern.n), command, how);
}

/* Programs that start what follows them, and words of the shell before a command. */
static bool starts_others(struct str word)
{
	static const char *const names[] = {
		"sudo",	  "doas",    "su",     "env",	   "nohup",   "time",  "nice", "ionice", "timeout",
		"xargs",  "command", "exec",   "eval",	   "sh",      "bash",  "zsh",  "dash",	 "ksh",
		"fish",	  "busybox", "find",   "parallel", "if",      "then",  "else", "elif",	 "while",
		"do",	  "!",	     "until",  "builtin",  "ssh",     "watch", "ash",  ".",	 "source",
		"setsid", "stdbuf",  "chroot", "script",   "unshare", "flock",
	};

	word = str_basename(word);
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_eq(word, str_of(names[i])))
			return true;
	return false;
}

/* "NAME=value" before a command. */
static bool is_assignment(struct str word)
{
	size_t at = str_find(word, '=');

	for (size_t i = 0; at != SIZE_MAX && i < at; i++)
		if (str_has_byte(STR("/-."), word.p[i]))
			return false;
	return at != SIZE_MAX && at > 0;
}

/* A command that has one blank between its words, from each word that may be its first. */
static bool match_words(struct str pattern, struct str command, const struct glob_how *how)
{
	bool any_word = false;

	while (command.n) {
		size_t end = size_min(str_find(command, ' '), command.n);
		struct str word = str_sub(command, 0, end), name = str_basename(word);

		if (match_command(pattern, command, how) ||
		    (name.n < word.n &&
		     match_command(pattern, str_sub(command, word.n - name.n, SIZE_MAX), how)))
			return true;
		any_word = any_word || starts_others(word);
		if ((!any_word && !is_assignment(word)) || *how->steps < 0)
			return false;
		command = str_sub(command, end + 1, SIZE_MAX);
	}
	return false;
}

/* Without quotes, and with one blank where there are several. */
static void plain_words(struct str command, struct buf *out)
{
	for (size_t i = 0; i < command.n; i++) {
		char c = command.p[i] == '\t' ? ' ' : command.p[i];

		if (!strchr("\"'\\", c) || !c)
			if (c != ' ' || (out->n && out->p[out->n - 1] != ' '))
				buf_byte(out, c);
	}
}

static bool match_parts(struct str pattern, struct str command, const struct glob_how *how)
{
	struct buf words CLEANUP(buf_release) = BUF_INIT(LIMIT_LINE_PARSED);
	struct str all;
	size_t from = 0;

	plain_words(command, &words);
	all = buf_as_str(&words);
	for (size_t i = 0; i <= all.n; i++) {
		if (i < all.n && !parts_commands(all.p[i]))
			continue;
		if (match_words(pattern, str_trim(str_sub(all, from, i - from)), how))
			return true;
		from = i + 1;
	}
	return words.failed;
}

static bool means_command(struct str pattern, struct str command, bool strictly, int64_t *steps)
{
	struct glob_how how = { .may = strictly ? is_plain : NULL, .steps = steps };

	pattern = str_trim(pattern);
	command = str_trim(command);
	if (match_command(pattern, command, &how))
		return true;
	return !strictly && match_parts(pattern, command, &how);
}

/* ---- Paths ------------------------------------------------------------------ */

/* Where a relative path begins, and the home folder. */
struct base {
	struct str cwd, home;
	bool escaped; /* what is put in front is part of a pattern */
};

static void add_base(struct buf *out, struct str folder, bool escaped)
{
	if (escaped)
		glob_escape(out, folder);
	else
		buf_str(out, folder);
	buf_byte(out, '/');
}

/* Adds the folders of a path without ".", ".." and empty ones. */
static void add_clean(struct buf *out, struct str path)
{
	size_t i = 0;

	while (i < path.n) {
		size_t end = i + size_min(str_find(str_sub(path, i, SIZE_MAX), '/'), path.n - i);
		struct str part = str_sub(path, i, end - i);

		if (str_eq(part, STR("..")))
			out->n = out->n ? size_min(str_rfind(buf_as_str(out), '/'), out->n) : 0;
		else if (part.n && !str_eq(part, STR(".")))
			buf_byte(out, '/'), buf_str(out, part);
		i = end + 1;
	}
}

/* False when it cannot be told where it begins. */
static bool make_absolute(struct str path, const struct base *b, struct buf *out)
{
	struct buf whole CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_PATH);
	bool at_home = str_eq(path, STR("~")) || str_has_prefix(path, STR("~/"));
	struct str folder = at_home ? b->home : b->cwd;

	if (at_home)
		path = str_sub(path, 1, SIZE_MAX);
	if (at_home || !str_has_prefix(path, STR("/"))) {
		if (!str_has_prefix(folder, STR("/")))
			return false;
		add_base(&whole, folder, b->escaped);
	}
	buf_str(&whole, path);
	add_clean(out, buf_as_str(&whole));
	return !whole.failed && !out->failed;
}

/* A path, or with `inside` also what contains it. */
static bool match_path(struct str pattern, struct str path, bool inside, int64_t *steps)
{
	struct glob_how how = { .path = true, .steps = steps };

	do {
		if (glob_match(pattern, path, &how))
			return true;
		path = str_sub(path, 0, size_min(str_rfind(path, '/'), path.n));
	} while (inside && path.n && *steps >= 0);
	return false;
}

static bool match_any_name(struct str pattern, struct str path, int64_t *steps)
{
	struct glob_how how = { .path = true, .steps = steps };
	struct str rest = path;

	while (rest.n)
		if (glob_match(pattern, str_cut(rest, '/', &rest), &how))
			return true;
	return false;
}

/* 1 = it matches, 0 = it does not, -1 = nobody knows. */
static int compare_paths(struct str pattern, struct str path, const struct base *b, bool strictly,
			 int64_t *steps)
{
	struct buf whole CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_PATH);
	struct buf wanted CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_PATH);
	struct base in_pattern = { b->cwd, b->home, true };

	if (!make_absolute(path, b, &whole) || !make_absolute(pattern, &in_pattern, &wanted))
		return -1;
	if (match_path(buf_as_str(&wanted), buf_as_str(&whole), !strictly, steps))
		return 1;
	return !strictly && !str_has_byte(pattern, '/') && match_any_name(pattern, buf_as_str(&whole), steps);
}

static bool means_path(struct str pattern, struct str path, const struct permission_question *q,
		       bool strictly, int64_t *steps)
{
	struct base written = { .cwd = q->cwd, .home = q->home };
	struct base real = { .cwd = q->real_cwd.n ? q->real_cwd : q->cwd, .home = q->home };
	int first = compare_paths(pattern, path, &written, strictly, steps), second = first;

	if (q->real_path.n)
		second = compare_paths(pattern, q->real_path, &real, strictly, steps);
	return strictly ? first > 0 && second > 0 : first != 0 || second != 0;
}

/* ---- Addresses -------------------------------------------------------------- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static void add_lower(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_byte(out, lower(s.p[i]));
}

#define DOMAIN STR("domain:")

bool permission_is_domain(struct str pattern)
{
	return str_has_prefix(pattern, DOMAIN) && pattern.n > DOMAIN.n;
}

static bool is_host_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/* Adds the host in lower case; false when somebody could read another one. */
static bool add_host(struct buf *out, struct str url)
{
	struct buf low CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct str s, port;

	add_lower(&low, url);
	s = buf_as_str(&low);
	if (!str_has_prefix(s, STR("http://")) && !str_has_prefix(s, STR("https://")))
		return false;
	s = str_sub(s, str_find(s, '/') + 2, SIZE_MAX);
	for (size_t i = 0; i < s.n; i++)
		if (str_has_byte(STR("/\\?#"), s.p[i]))
			s.n = i;
	s = str_cut(s, ':', &port);
	for (size_t i = 0; i < port.n; i++)
		if (port.p[i] < '0' || port.p[i] > '9')
			return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_host_byte(s.p[i]))
			return false;
	if (str_has_suffix(s, STR(".")))
		s.n--;
	buf_str(out, s);
	return s.n && !low.failed && !out->failed;
}

static bool means_address(struct str pattern, struct str url, bool strictly, int64_t *steps)
{
	struct buf host CLEANUP(buf_release) = BUF_INIT(64 * KIB);
	struct buf domain CLEANUP(buf_release) = BUF_INIT(LIMIT_RULE_PATTERN);
	struct glob_how how = { .steps = steps };
	struct str h, d;

	add_lower(&domain, str_sub(pattern, DOMAIN.n, SIZE_MAX));
	if (!add_host(&host, url))
		return !strictly;
	h = buf_as_str(&host);
	d = buf_as_str(&domain);
	if (glob_match(d, h, &how))
		return true;
	return !strictly && h.n > d.n && str_has_suffix(h, d) && h.p[h.n - d.n - 1] == '.';
}

/* ---- All of them ------------------------------------------------------------ */

bool permission_match(enum permission_kind kind, struct str pattern, struct str text,
		      const struct permission_question *q, bool strictly)
{
	int64_t steps = LIMIT_RULE_STEPS;
	struct glob_how how = { .steps = &steps };
	bool means = false;

	switch (kind) {
	case PERMISSION_COMMAND:
		means = means_command(pattern, text, strictly, &steps);
		break;
	case PERMISSION_PATH:
		means = means_path(pattern, text, q, strictly, &steps);
		break;
	case PERMISSION_ADDRESS:
		means = means_address(pattern, text, strictly, &steps);
		break;
	case PERMISSION_TEXT:
		means = glob_match(pattern, text, &how);
		break;
	}
	return steps < 0 ? !strictly : means;
}

bool permission_exact_pattern(enum permission_kind kind, struct str text, const struct permission_question *q,
			      struct buf *out)
{
	struct buf path CLEANUP(buf_release) = BUF_INIT(4 * LIMIT_PATH);
	struct base b = { .cwd = q->cwd, .home = q->home };

	switch (kind) {
	case PERMISSION_COMMAND:
		glob_escape(out, str_trim(text));
		break;
	case PERMISSION_PATH:
		if (!make_absolute(text, &b, &path))
			return false;
		glob_escape(out, buf_as_str(&path));
		break;
	case PERMISSION_ADDRESS:
		buf_str(out, DOMAIN);
		return add_host(out, text) && !out->failed;
	case PERMISSION_TEXT:
		glob_escape(out, text);
		break;
	}
	return !out->failed;
}
