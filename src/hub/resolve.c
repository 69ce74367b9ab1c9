/*
 * Resolving ids people type: short, ambiguous, or standing for "the last one".
 */
#include "hub/resolve.h"

#include "base/term.h"
#include "base/utf8.h"

enum { CANDIDATES = 8 };

/* The session so many before the last. */
struct counting {
	uint64_t back;
	uint64_t seen;
	int64_t row; /* 0 = there are not so many */
};

static enum status count_back(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct counting *c = ctx;

	(void)err;
	if (session->agent.n)
		return STATUS_OK;
	*go_on = c->seen++ < c->back;
	if (!*go_on)
		c->row = session->row;
	return STATUS_OK;
}

static enum status latest_session(struct store *s, uint64_t back, struct arena *mem, struct session *out,
				  struct err *err)
{
	struct counting c = { .back = back };

	if (session_each(s, (struct str){ 0 }, count_back, &c, err))
		return err_failed(err->status);
	if (!c.seen)
		return err_fail(err, STATUS_NOT_FOUND,
				"there is no session yet; 'arbor sync' brings them in");
	if (!c.row)
		return err_fail(err, STATUS_NOT_FOUND,
				"so far back there is no session; the oldest is @~%" PRIu64, c.seen - 1);
	return session_get(s, c.row, mem, out, err);
}

/* What stands behind the first @: nothing, ~ or ~N. */
static bool read_back(struct str text, uint64_t *back)
{
	*back = 0;
	if (!text.n)
		return true;
	*back = 1;
	return text.p[0] == '~' && (text.n == 1 || str_to_u64(str_sub(text, 1, SIZE_MAX), back));
}

/* A candidate on a line: its id, and what it belongs to. */
static enum status describe(struct store *s, const struct id_match *m, struct buf *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct buf title CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	char id[UUID_TEXT + 1];
	struct session session;
	struct str cut;
	size_t n;

	if (session_get(s, m->session, &mem, &session, err))
		return err_failed(err->status);
	uuid_print(&m->id, id);
	term_filter(&title, session.title, TERM_LINE);
	cut = str_sub(buf_as_str(&title), 0, 60);
	n = utf8_valid_prefix(cut);
	buf_printf(out, "\n  %s  %s%.*s", id, m->is_session ? "" : "in ", (int)n, cut.p ? cut.p : "");
	return STATUS_OK;
}

static enum status ambiguous(struct store *s, struct str text, const struct id_match *list, size_t count,
			     struct err *err)
{
	struct buf lines CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);

	for (size_t i = 0; i < count && i < CANDIDATES; i++)
		if (describe(s, &list[i], &lines, err))
			return err_failed(err->status);
	return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be%s%s", STR_ARG(text), lines.p ? lines.p : "",
			count > CANDIDATES ? "\n  and others; give more of the id" : "");
}

/* How many of the matches are wanted: sessions alone when there are any. */
static size_t choose(struct id_match *list, size_t count, int64_t session)
{
	size_t sessions = 0, kept = 0;

	for (size_t i = 0; i < count; i++)
		sessions += list[i].is_session;
	for (size_t i = 0; i < count; i++) {
		if (session ? list[i].is_session || list[i].session != session
			    : sessions && !list[i].is_session)
			continue;
		list[kept++] = list[i];
	}
	return kept;
}

static bool is_id_text(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f') || c == '-'))
			return false;
	}
	return text.n >= LIMIT_ID_PREFIX;
}

/* Matches of a text, or of the id that a line with this uuid has. */
static enum status find_matches(struct store *s, struct str text, int64_t session, struct id_match *list,
				size_t most, size_t *count, struct err *err)
{
	char printed[UUID_TEXT + 1];
	struct uuid uuid;

	if (id_search(s, text, session, list, most, count, err))
		return err_failed(err->status);
	*count = choose(list, *count, session);
	if (*count || !uuid_parse(text, &uuid))
		return STATUS_OK;
	uuid_print(&uuid, printed);
	uuid = uuid_of_parts(&(struct str){ printed, UUID_TEXT }, 1);
	uuid_print(&uuid, printed);
	return id_search(s, str_from(printed, UUID_TEXT), session, list, most, count, err);
}

static enum status find_one(struct store *s, struct str text, int64_t session, struct id_match *out,
			    struct err *err)
{
	struct id_match list[CANDIDATES + 1];
	size_t count;

	if (!is_id_text(text))
		return err_fail(err, text.n < LIMIT_ID_PREFIX ? STATUS_USAGE : STATUS_NOT_FOUND,
				"'%.*s' is no id; those have digits and the letters a to f: give %d or more "
				"of them, or @ for"
				" the last session",
				(int)size_min(text.n, 60), text.p ? text.p : "", LIMIT_ID_PREFIX);
	if (find_matches(s, text, session, list, COUNT(list), &count, err))
		return err_failed(err->status);
	if (count == 0)
		return err_fail(err, STATUS_NOT_FOUND,
				"no %s begins with '%.*s'; 'arbor list' shows the sessions",
				session ? "node of this session" : "session or node", STR_ARG(text));
	if (count > 1)
		return ambiguous(s, text, list, count, err);
	*out = list[0];
	return STATUS_OK;
}

enum status resolve_id(struct store *s, struct str text, struct arena *mem, struct resolved *out,
		       struct err *err)
{
	bool latest = text.n && text.p[0] == '@';
	struct str rest, first = str_cut(latest ? str_sub(text, 1, SIZE_MAX) : text, '@', &rest);
	struct id_match match = { 0 };
	uint64_t back = 0;

	*out = (struct resolved){ .is_session = true };
	if (latest && !read_back(first, &back))
		return err_fail(err, STATUS_USAGE,
				"'%.*s': write @@%.*s for a node of the last session, @~2 for the third last",
				(int)size_min(text.n, 60), text.p, (int)size_min(first.n, 60), first.p);
	if (latest && latest_session(s, back, mem, &out->session, err))
		return err_failed(err->status);
	if (!latest && find_one(s, first, 0, &match, err))
		return err_failed(err->status);
	if (!latest) {
		out->is_session = match.is_session;
		out->node = match.node;
		if (session_get(s, match.session, mem, &out->session, err))
			return err_failed(err->status);
	}
	if (!rest.p)
		return STATUS_OK;
	if (!out->is_session)
		return err_fail(err, STATUS_USAGE, "'%.*s' is not a session", (int)size_min(first.n, 60),
				first.p);
	if (find_one(s, rest, out->session.row, &match, err))
		return err_failed(err->status);
	out->is_session = false;
	out->node = match.node;
	return STATUS_OK;
}

enum status resolve_session(struct store *s, struct str text, struct arena *mem, struct session *out,
			    struct err *err)
{
	struct resolved r;

	if (resolve_id(s, text, mem, &r, err))
		return err_failed(err->status);
	if (!r.is_session)
		return err_fail(err, STATUS_USAGE, "'%.*s' is a part of a session, not a session",
				(int)size_min(text.n, 60), text.p);
	*out = r.session;
	return STATUS_OK;
}
