/*
 * A wildcard is first taken for as little as possible; when what follows it does not match, the last one
 * takes more. Earlier ones need not be tried again: a later one can stand for all that they could. In a path
 * this holds for '*' only up to the next '/', so there the last "**" is remembered besides.
 */
#include "base/glob.h"

/* Where to go on when something does not match. */
struct back {
	bool is_set;
	size_t p, t;  /* behind the wildcard; behind what it stands for */
	bool folders; /* it stands for whole ones */
};

struct match {
	struct str pattern, text;
	const struct glob_how *how;
	size_t p, t;
	struct back star, deep;
};

static bool is_deep(const struct match *m)
{
	return m->how->path && m->p + 1 < m->pattern.n && m->pattern.p[m->p + 1] == '*';
}

static void read_star(struct match *m)
{
	bool deep = is_deep(m), begins = !m->p || m->pattern.p[m->p - 1] == '/';

	m->p += deep ? 2 : 1;
	if (deep && begins && m->p < m->pattern.n && m->pattern.p[m->p] == '/') {
		m->p++;
		m->deep = (struct back){ true, m->p, m->t, true };
	} else if (deep) {
		m->deep = (struct back){ true, m->p, m->t, false };
	}
	m->star = (struct back){ !deep, m->p, m->t, false };
}

/* Whether the next of both is the same; goes on behind it. */
static bool read_one(struct match *m)
{
	size_t p = m->p;
	char c;

	if (p == m->pattern.n || m->t == m->text.n)
		return false;
	c = m->pattern.p[p];
	if (c == '\\' && p + 1 < m->pattern.n)
		c = m->pattern.p[++p];
	else if (c == '?' && m->how->path && m->text.p[m->t] != '/')
		c = m->text.p[m->t];
	if (c != m->text.p[m->t])
		return false;
	m->p = p + 1;
	m->t++;
	return true;
}

static bool take_more(struct match *m, struct back *b)
{
	size_t slash;

	if (!b->is_set || b->t == m->text.n)
		return false;
	if (b->folders) {
		slash = str_find(str_sub(m->text, b->t, SIZE_MAX), '/');
		if (slash == SIZE_MAX)
			return false;
		b->t += slash;
	}
	b->t++;
	m->p = b->p;
	m->t = b->t;
	return true;
}

static bool back_up(struct match *m)
{
	unsigned char next = m->star.t < m->text.n ? (unsigned char)m->text.p[m->star.t] : 0;

	if (m->star.is_set && !(m->how->path && next == '/') && (!m->how->may || m->how->may(next)) &&
	    take_more(m, &m->star))
		return true;
	m->star.is_set = false;
	return take_more(m, &m->deep);
}

bool glob_match(struct str pattern, struct str text, const struct glob_how *how)
{
	struct match m = { .pattern = pattern, .text = text, .how = how };

	for (;;) {
		if (--*how->steps < 0)
			return false;
		if (m.p < pattern.n && pattern.p[m.p] == '*')
			read_star(&m);
		else if (m.p == pattern.n && m.t == text.n)
			return true;
		else if (!read_one(&m) && !back_up(&m))
			return false;
	}
}

bool glob_is_wild(struct str pattern)
{
	for (size_t i = 0; i < pattern.n; i++) {
		if (pattern.p[i] == '\\')
			i++;
		else if (pattern.p[i] == '*')
			return true;
	}
	return false;
}

void glob_escape(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (str_has_byte(STR("*?\\"), text.p[i]))
			buf_byte(out, '\\');
		buf_byte(out, text.p[i]);
	}
}
