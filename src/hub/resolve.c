/*
 * Resolving ids people type: short, ambiguous, or standing for "the last one".
 *
 * Session ids are the client's, and files are copied: a backup that is mirrored
 * beside the folder it was made of has the same ids. Where a copy says the same as
 * its original it does not matter which one is meant; where one went on it does.
 */
#include "hub/resolve.h"

#include "base/term.h"
#include "base/utf8.h"
#include "claude/record.h"
#include "hub/activations.h"
#include "hub/handle_resolve.h"
#include "query/grove.h"
#include "query/hidden.h"
#include "query/variant.h"
#include "store/annotation.h"
#include "store/find.h"
#include "store/made.h"
#include "store/named.h"
#include "store/tombstone.h"
#include "store/variant.h"

#include <string.h>
#include <unistd.h>

enum { LISTED = 8, MOST = 64 };

/* What could be meant. */
struct candidate {
	struct id_match match;
	struct session session; /* that it is, or is in */
	struct str agent;	/* a sub-agent that has no file of its own: its id, and the match its first line */
};

struct candidates {
	struct arena mem;
	struct candidate list[MOST];
	size_t count;
};

static void candidates_release(struct candidates *c)
{
	arena_release(&c->mem);
}

/* The session so many before the last. Copies of one follow each other, as in 'list'. */
struct counting {
	struct hidden hidden; /* archived ones, which are not listed either */
	uint64_t back;
	uint64_t seen;
	struct session last; /* of them */
	int64_t row; /* 0 = there are not so many */
};

static enum status count_back(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct counting *c = ctx;

	(void)err;
	if (session->agent.n || (c->seen && session_is_copy(session, &c->last)) || hidden_has(&c->hidden, session->row))
		return STATUS_OK;
	c->last = *session;
	*go_on = c->seen++ < c->back;
	if (!*go_on)
		c->row = session->row;
	return STATUS_OK;
}

static void counting_release(struct counting *c)
{
	hidden_release(&c->hidden);
}

/* Of the folder we are in, when that has any; p NULL = of all. */
static enum status latest_session(struct store *s, struct str folder, uint64_t back, struct arena *mem,
				  struct session *out, struct err *err)
{
	struct counting c CLEANUP(counting_release) = { .back = back };

	if (hidden_load(s, &c.hidden, err) || session_each(s, folder, count_back, &c, err))
		return err_failed(err->status);
	if (!c.seen && folder.p)
		return latest_session(s, (struct str){ 0 }, back, mem, out, err);
	if (!c.seen)
		return err_fail(err, STATUS_NOT_FOUND,
				"there is no session yet; 'arbor sync' brings them in");
	if (!c.row)
		return err_fail(err, STATUS_NOT_FOUND, "so far back there is no session; the oldest is @%s~%" PRIu64,
				folder.p ? "." : "", c.seen - 1);
	return session_get(s, c.row, mem, out, err);
}

/* p NULL when nobody can say. */
static struct str own_folder(char room[LIMIT_PATH])
{
	const char *here = getcwd(room, LIMIT_PATH);

	return here ? str_of(here) : (struct str){ 0 };
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

/* ---- Candidates --------------------------------------------------------------- */

/* Its name, as short as can be told from the others: their ids, or copies' roots, may
 * be the same. */
static void name_candidate(const struct candidates *all, const struct candidate *one, struct buf *out)
{
	bool same_id = false, same_root = false;
	char id[UUID_TEXT + 1];

	for (const struct candidate *c = all->list; c < all->list + all->count; c++) {
		bool same = c != one && uuid_eq(&c->match.id, &one->match.id);

		same_id |= same;
		same_root |= same && str_eq(c->session.root, one->session.root);
	}
	if (one->agent.n || (one->match.is_session && one->session.agent.n)) {
		uuid_print(&one->session.id, id);
		buf_printf(out, "%s@", id);
		term_filter(out, one->agent.n ? one->agent : one->session.agent, TERM_LINE);
		return;
	}
	uuid_print(&one->match.id, id);
	if (same_id)
		buf_printf(out, "%.*s:", STR_ARG(one->session.root));
	if (same_root)
		term_filter(out, one->session.path, TERM_LINE);
	else
		buf_text(out, id);
}

/* On a line: what to type, and what it belongs to, as far as a line goes. */
static void describe(const struct candidates *all, const struct candidate *one, struct buf *out)
{
	enum { WIDTH = 80, LEAST = 20 };
	struct buf title CLEANUP(buf_release) = BUF_INIT(4 * KIB);
	struct str cut;
	size_t used, begin = out->n;

	term_filter(&title, one->session.title, TERM_LINE);
	buf_text(out, "\n  ");
	name_candidate(all, one, out);
	buf_text(out, one->match.is_session ? "  " : "  in ");
	used = out->n - begin;
	cut = str_sub(buf_as_str(&title), 0, used + LEAST < WIDTH ? WIDTH - used : LEAST);
	cut.n = utf8_valid_prefix(cut);
	buf_str(out, cut);
}

static enum status ambiguous(struct str text, const struct candidates *all, struct err *err)
{
	struct buf lines CLEANUP(buf_release) = BUF_INIT(LIMIT_ERR_TEXT);

	for (size_t i = 0; i < all->count && i < LISTED; i++)
		describe(all, &all->list[i], &lines);
	return err_fail(err, STATUS_AMBIGUOUS, "'%.*s' could be%s%s", STR_ARG(text), lines.p ? lines.p : "",
			all->count > LISTED ? "\n  and others; give more of the id" : "");
}

void resolve_describe(const struct resolved *what, struct buf *out)
{
	struct candidates all CLEANUP(candidates_release) = { .count = 1 };

	all.list[0] = (struct candidate){ .match = { .is_session = what->is_session,
						     .id = what->is_session ? what->session.id : what->node.id },
					  .session = what->session,
					  .agent = what->agent };
	describe(&all, &all.list[0], out);
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

static bool is_copy(const struct candidate *a, const struct candidate *b)
{
	return a->match.is_session && b->match.is_session && session_is_copy(&a->session, &b->session);
}

static bool has_copy(const struct candidates *all, const struct candidate *one)
{
	for (size_t i = 0; i < all->count; i++)
		if (is_copy(&all->list[i], one))
			return true;
	return false;
}

/* The matches with their sessions; without copies, and those of a root only, if one is
 * named. */
static enum status gather(struct store *s, struct str root, const struct id_match *list, size_t count,
			  struct candidates *out, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct candidate *c = &out->list[out->count];

		c->match = list[i];
		if (session_get(s, c->match.session, &out->mem, &c->session, err))
			return err_failed(err->status);
		if (root.p && (!c->match.is_session || !str_eq(root, c->session.root)))
			continue;
		out->count += !has_copy(out, c);
	}
	return STATUS_OK;
}

/* ---- Ids ---------------------------------------------------------------------- */

static bool is_id_text(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f') || c == '-'))
			return false;
	}
	return text.n >= LIMIT_ID_PREFIX;
}

/* Matches of a text, or of the id that a line has whose own uuid it is, or begins so. */
static enum status find_matches(struct store *s, struct str text, int64_t session, struct id_match *list,
				size_t most, size_t *count, struct err *err)
{
	char printed[UUID_TEXT + 1];
	struct uuid uuid;

	if (id_search(s, text, session, list, most, count, err))
		return err_failed(err->status);
	*count = choose(list, *count, session);
	if (*count)
		return STATUS_OK;
	if (!uuid_parse(text, &uuid))
		return line_search(s, text, session, list, most, count, err);
	uuid_print(&uuid, printed);
	uuid = uuid_of_parts(&(struct str){ printed, UUID_TEXT }, 1);
	uuid_print(&uuid, printed);
	return id_search(s, str_from(printed, UUID_TEXT), session, list, most, count, err);
}

/* What else an id may be: of one of several contents of a line, of a sub-agent, which may be told in progress lines, or
 * of what begins with a line where nothing should. */
static enum status find_others(struct store *s, struct str text, int64_t session, struct id_match *list, size_t most,
			       size_t *count, bool *told, struct err *err)
{
	bool variant;

	if (variant_search(s, text, session, list, most, count, err))
		return err_failed(err->status);
	variant = *count > 0;
	if (!*count && agent_search(s, text, session, list, most, count, err))
		return err_failed(err->status);
	if (!*count && told_search(s, text, session, list, most, count, err))
		return err_failed(err->status);
	*told = *count && !list[0].is_session && !variant;
	return *count ? STATUS_OK : name_search(s, text, session, list, most, count, err);
}

static enum status name_told(struct store *s, struct candidates *all, struct err *err)
{
	for (struct candidate *c = all->list; c < all->list + all->count; c++)
		if (entry_agent(s, c->match.node.session, c->match.node.offset, &all->mem, &c->agent, err))
			return err_failed(err->status);
	return STATUS_OK;
}

/* Old clients wrote sub-agents into the conversation itself, and they are called by their first line's own uuid. */
static enum status name_inline(struct store *s, struct str text, struct candidate *c, struct arena *mem,
			       struct err *err)
{
	struct uuid low, high;
	struct node_name name;
	struct node line;
	unsigned flags;

	if (c->match.is_session || c->match.node.part != PART_LINE || c->session.agent.n ||
	    !uuid_range(text, &low, &high) || (memcmp(low.b, c->match.id.b, UUID_BYTES) <= 0 &&
					       memcmp(c->match.id.b, high.b, UUID_BYTES) <= 0))
		return STATUS_OK;
	if (entry_flags(s, c->match.node.session, c->match.node.offset, &flags, err))
		return err_failed(err->status);
	if ((flags & (RECORD_TASK | RECORD_EMBEDDED)) != RECORD_TASK)
		return STATUS_OK;
	if (entry_get(s, c->match.node.session, c->match.node.offset, mem, &line, &name, err))
		return err_failed(err->status);
	c->agent = name.uuid;
	return STATUS_OK;
}

/* A tree is the conversation, or sub-agent, whose first line it is called by. A file that had such a line once
 * stands for it. */
static enum status find_tree(struct store *s, struct id_match *match, bool *is_there, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	uint32_t source, line;
	struct session held;
	struct grove_ref tree;

	if (session_get(s, match->session, &mem, &held, err))
		return err_failed(err->status);
	match->is_session = *is_there = true;
	if (held.old)
		return session_of_source(s, held.source, &match->session, err);
	if (grove_load(s, match->session, &g, err) || grove_find(&g, &match->node, &tree, is_there, err))
		return err_failed(err->status);
	if (*is_there) {
		grove_line(&g, tree, &source, &line);
		match->session = g.forest.sources[source].session.row;
	}
	return STATUS_OK;
}

/* What cannot be an id is a mistake of whoever typed it; one that could be is only not here. */
static enum status no_id(struct str text, int64_t session, struct err *err)
{
	uint64_t number;

	if (session && str_to_u64(text, &number))
		return err_fail(err, STATUS_USAGE,
				"'%.*s' is no id; turns and messages of a session are called by theirs, of "
				"which the first %d "
				"digits will do: 'arbor tree' shows them",
				(int)size_min(text.n, 60), text.p, LIMIT_ID_PREFIX);
	return err_fail(err, STATUS_USAGE,
			"'%.*s' is no id, nor what a session is called; ids have digits and the letters a to f:"
			" give %d or more of them, the whole id of a tool's call, or @ for the last session, @. for "
			"the last of this folder; 'arbor search' finds sessions by words",
			(int)size_min(text.n, 60), text.p ? text.p : "", LIMIT_ID_PREFIX);
}

static bool can_be_id(struct str text)
{
	size_t digits = 0;

	for (size_t i = 0; i < text.n; i++)
		digits += text.p[i] != '-';
	return digits >= LIMIT_ID_PREFIX && digits <= 2 * UUID_BYTES;
}

/* STATUS_OK = it was not purged, as far as one can tell. */
static enum status tell_purged(struct store *s, struct str text, struct err *err)
{
	char id[UUID_TEXT + 1], at[TIME_TEXT + 1];
	struct uuid low, high;
	struct purged p;
	bool found;

	if (!uuid_range(text, &low, &high))
		return STATUS_OK;
	if (purged_find(s, &low, &high, &found, &p, err))
		return err_failed(err->status);
	if (!found)
		return STATUS_OK;
	uuid_print(&p.id, id);
	time_print(p.at, at);
	return err_fail(err, STATUS_GONE, "%s%s was purged on %.10s", p.is_session ? "session " : "", id,
			at);
}

enum status resolve_check_purged(struct store *s, const struct uuid *session, struct err *err)
{
	char id[UUID_TEXT + 1];

	uuid_print(session, id);
	return tell_purged(s, str_of(id), err);
}

static enum status not_found(struct store *s, struct str text, struct str root, int64_t session,
			     struct err *err)
{
	struct id_match other;
	size_t count = 0;

	if (!can_be_id(text))
		return no_id(text, session, err);
	/* What was purged with one conversation may still be in another. */
	if ((session || root.p) && find_matches(s, text, 0, &other, 1, &count, err))
		return err_failed(err->status);
	if (!count && tell_purged(s, text, err))
		return err_failed(err->status);
	if (root.p)
		return err_fail(err, STATUS_NOT_FOUND, "no session of '%.*s' begins with '%.*s'",
				(int)size_min(root.n, 60), root.p, STR_ARG(text));
	return err_fail(err, STATUS_NOT_FOUND,
			"no %s begins with '%.*s'; 'arbor sync' brings in new ones, 'arbor %s' shows them",
			session ? "node of this session" : "session or node", STR_ARG(text), session ? "tree" : "list");
}

/* Ids of calls are the model's and have a '_' in them, which others have not. */
static enum status no_call(struct str text, int64_t session, struct err *err)
{
	if (!str_has_byte(text, '_'))
		return no_id(text, session, err);
	return err_fail(err, STATUS_NOT_FOUND,
			"no call of a tool%s has the id '%.*s'; give the whole id, and 'arbor sync' first if it is new",
			session ? " in this session" : "", (int)size_min(text.n, 60), text.p);
}

/* By the id of a call: the line with the call, or else with its result. */
static enum status find_call(struct store *s, struct str text, int64_t session, struct candidate *out,
			     struct arena *mem, struct err *err)
{
	struct candidates all CLEANUP(candidates_release) = { 0 };
	struct id_match list[MOST];
	size_t count, calls = 0;

	if (call_search(s, text, session, list, MOST, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (list[i].node.type == RECORD_ASSISTANT)
			list[calls++] = list[i];
	if (gather(s, (struct str){ 0 }, list, calls ? calls : count, &all, err))
		return err_failed(err->status);
	if (all.count == 0)
		return no_call(text, session, err);
	if (all.count > 1)
		return ambiguous(text, &all, err);
	out->match = all.list[0].match;
	return session_get(s, out->match.session, mem, &out->session, err);
}

/* Which copy of a message: the whole one. Where copies say different things it has been decided already. */
static enum status choose_copy(struct store *s, struct node *node, struct err *err)
{
	struct node fullest = *node;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct node_name name;
	struct node line;
	bool is_one;

	if (entry_get(s, node->session, node->offset, &mem, &line, &name, err))
		return err_failed(err->status);
	line.id = node_id(&name, PART_LINE);
	if (variant_is(s, &line.id, &is_one, err) || (!is_one && message_fullest(s, &fullest, err)))
		return err_failed(err->status);
	*node = fullest;
	return STATUS_OK;
}

/* Places of a node. */
struct places {
	const struct node *node;
	int64_t wanted; /* session; 0 = how many others there are */
	struct node found;
	bool has_others, has_wanted;
};

static enum status look_at_place(void *ctx, const struct node *place, struct err *err)
{
	struct places *p = ctx;

	(void)err;
	p->has_others |= place->session != p->node->session;
	if (p->wanted && place->session == p->wanted && place->part == p->node->part && !p->has_wanted) {
		p->found = *place;
		p->has_wanted = true;
	}
	return STATUS_OK;
}

static enum status count_line(void *ctx, int64_t offset, int64_t length, struct err *err)
{
	(void)offset;
	(void)length;
	(void)err;
	++*(int64_t *)ctx;
	return STATUS_OK;
}

/* A fork may have been cut in the middle of an answer. */
static enum status is_as_whole(struct store *s, const struct node *a, const struct node *b, bool *out,
			       struct err *err)
{
	int64_t of_a = 0, of_b = 0;

	if (a->part == PART_MESSAGE &&
	    (message_lines(s, a, count_line, &of_a, err) || message_lines(s, b, count_line, &of_b, err)))
		return err_failed(err->status);
	*out = of_a >= of_b;
	return STATUS_OK;
}

/* Which copy of a node where several files have its line, as forks have: the original, by what the lines say
 * and never by which file came first. What stands before it may be another thing in each. */
static enum status choose_original(struct store *s, struct node *node, struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	struct places places = { .node = node };
	uint32_t source, line;
	struct grove_ref ref;
	bool is_there, whole;

	if (node_each(s, &node->id, look_at_place, &places, err))
		return err_failed(err->status);
	if (!places.has_others)
		return STATUS_OK;
	if (grove_load(s, node->session, &g, err) || grove_find(&g, node, &ref, &is_there, err))
		return err_failed(err->status);
	if (!is_there)
		return STATUS_OK;
	grove_line(&g, ref, &source, &line);
	places.wanted = g.forest.sources[source].session.row;
	if (node_each(s, &node->id, look_at_place, &places, err))
		return err_failed(err->status);
	if (!places.has_wanted)
		return STATUS_OK;
	if (is_as_whole(s, &places.found, node, &whole, err))
		return err_failed(err->status);
	if (whole)
		*node = places.found;
	return STATUS_OK;
}

/* By its id: in a root, if one is named, or in a session. */
static enum status find_id(struct store *s, struct str text, struct str root, int64_t session,
			   struct candidate *out, struct arena *mem, struct err *err)
{
	struct candidates all CLEANUP(candidates_release) = { 0 };
	struct id_match list[MOST];
	size_t count;
	bool other, told = false;

	if (!is_id_text(text) && !root.p && text.n >= LIMIT_ID_PREFIX)
		return find_call(s, text, session, out, mem, err);
	if (!is_id_text(text))
		return no_id(text, session, err);
	if (find_matches(s, text, session, list, MOST, &count, err))
		return err_failed(err->status);
	other = count == 0;
	if ((other && !root.p && find_others(s, text, session, list, MOST, &count, &told, err)) ||
	    gather(s, root, list, count, &all, err) || (told && name_told(s, &all, err)))
		return err_failed(err->status);
	if (all.count == 0)
		return not_found(s, text, root, session, err);
	if (all.count > 1)
		return ambiguous(text, &all, err);
	out->match = all.list[0].match;
	out->agent = arena_str(mem, all.list[0].agent);
	if (other)
		out->match.node.id = out->match.id;
	if (!out->match.is_session && !other && variant_choose(s, session, &out->match.node, err))
		return err_failed(err->status);
	if (!out->match.is_session && (!other || told) && !session && out->match.node.part != PART_TREE &&
	    ((out->match.node.part == PART_MESSAGE && choose_copy(s, &out->match.node, err)) ||
	     choose_original(s, &out->match.node, err)))
		return err_failed(err->status);
	if (!out->match.is_session)
		out->match.session = out->match.node.session;
	if (!out->match.is_session && out->match.node.part == PART_TREE) {
		bool is_there = false;

		if (find_tree(s, &out->match, &is_there, err))
			return err_failed(err->status);
		if (!is_there)
			return not_found(s, text, root, session, err);
	}
	return session_get(s, out->match.session, mem, &out->session, err) || name_inline(s, text, out, mem, err)
		       ? err_failed(err->status)
		       : STATUS_OK;
}

/* By its file. */
static enum status find_file(struct store *s, struct str text, struct candidate *out, struct arena *mem,
			     struct err *err)
{
	struct source_info file;

	if (source_find(s, text, mem, &file, err) ||
	    session_of_source(s, file.row, &out->match.session, err))
		return err_failed(err->status);
	if (!out->match.session)
		return err_fail(err, STATUS_NOT_FOUND, "'%.*s' is a file and no session; 'arbor export' writes it",
				(int)size_min(text.n, 200), text.p);
	out->match.is_session = true;
	return session_get(s, out->match.session, mem, &out->session, err);
}

static enum status find_typed(struct store *s, struct str text, struct candidate *out, struct arena *mem,
			      struct err *err)
{
	struct str id, root = str_cut(text, ':', &id);

	if (str_has_byte(text, '/'))
		return find_file(s, text, out, mem, err);
	if (id.p)
		return find_id(s, id, root, 0, out, mem, err);
	return find_id(s, text, (struct str){ 0 }, 0, out, mem, err);
}

static bool id_begins(const struct uuid *id, struct str text)
{
	struct uuid low, high;

	return is_id_text(text) && uuid_range(text, &low, &high) && memcmp(low.b, id->b, UUID_BYTES) <= 0 &&
	       memcmp(id->b, high.b, UUID_BYTES) <= 0;
}

/* By its whole name, or how its id begins. */
static enum status find_name(struct store *s, struct str text, struct arena *mem, struct named *out, bool *found,
			     struct err *err)
{
	enum status status;

	if (store_has(s, STORE_LIVE, found, err))
		return err_failed(err->status);
	status = *found && text.n ? named_find(s, text, mem, out, err) : STATUS_NOT_FOUND;
	*found = status == STATUS_OK && (str_eq(out->name, text) || id_begins(&out->id, text));
	return status == STATUS_NOT_FOUND || status == STATUS_AMBIGUOUS ? STATUS_OK : status;
}

enum status resolve_named(struct store *s, struct str text, struct arena *mem, struct named *out, bool *found,
			  struct err *err)
{
	struct candidate mirrored = { 0 };
	enum status status;

	if (find_name(s, text, mem, out, found, err))
		return err_failed(err->status);
	if (!*found || str_eq(out->name, text))
		return STATUS_OK;
	status = find_typed(s, text, &mirrored, mem, err);
	*found = status == STATUS_NOT_FOUND;
	return *found || status == STATUS_AMBIGUOUS || status == STATUS_GONE ? STATUS_OK : status;
}

/* The file of one with a name; *found false = none is meant. */
static enum status find_called(struct store *s, struct str name, struct candidate *out, struct arena *mem, bool *found,
			       struct err *err)
{
	struct named named;
	int64_t *rows;
	size_t count = 0;

	if (find_name(s, name, mem, &named, found, err))
		return err_failed(err->status);
	if (!*found)
		return STATUS_OK;
	if (named.head.has_session && session_rows(s, &named.head.session, STR(""), mem, &rows, &count, err))
		return err_failed(err->status);
	if (!count)
		return err_fail(err, STATUS_NOT_FOUND,
				"nothing of '%.*s' is mirrored yet; 'arbor sync' brings in what was said",
				STR_ARG(named.name));
	out->match = (struct id_match){ .is_session = true, .session = rows[0] };
	return session_get(s, rows[0], mem, &out->session, err);
}

/* Conversations with a title. */
struct titled {
	struct str title;
	struct id_match list[MOST];
	size_t count;
};

static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same_title(struct str a, struct str b)
{
	for (size_t i = 0; i < a.n && i < b.n; i++)
		if (small(a.p[i]) != small(b.p[i]))
			return false;
	return a.n == b.n;
}

static enum status take_titled(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct titled *t = ctx;

	(void)err;
	if (!session->agent.n && is_same_title(session->title, t->title))
		t->list[t->count++] =
			(struct id_match){ .is_session = true, .id = session->id, .session = session->row };
	*go_on = t->count < MOST;
	return STATUS_OK;
}

/* By its whole title, as 'list' shows it. One word alone is more often meant for something else. */
static enum status find_titled(struct store *s, struct str title, struct candidate *out, struct arena *mem,
			       bool *found, struct err *err)
{
	struct candidates all CLEANUP(candidates_release) = { 0 };
	struct titled t = { .title = title };

	*found = false;
	if (!str_has_byte(title, ' '))
		return STATUS_OK;
	if (session_each(s, (struct str){ 0 }, take_titled, &t, err) ||
	    gather(s, (struct str){ 0 }, t.list, t.count, &all, err))
		return err_failed(err->status);
	if (all.count > 1)
		return ambiguous(title, &all, err);
	*found = all.count == 1;
	if (!*found)
		return STATUS_OK;
	out->match = all.list[0].match;
	return session_get(s, out->match.session, mem, &out->session, err);
}

/* The client keeps the name that a fork was made with as a title, whatever becomes of the name. */
static enum status tell_titled(struct store *s, struct str text, struct err *err)
{
	struct titled t = { .title = text };
	char id[UUID_TEXT + 1];
	struct err ignored;

	if (!text.n || session_each(s, (struct str){ 0 }, take_titled, &t, &ignored) || !t.count)
		return err_failed(err->status);
	uuid_print(&t.list[0].id, id);
	return err_fail(err, err->status, "no session is called '%.*s'; it is a title, that of %s%s",
			(int)size_min(text.n, 60), text.p, id, t.count > 1 ? " and others" : "");
}

/* What stands in front of a node, or alone. What is no id, or of nothing, may be a name or a title. */
static enum status find_first(struct store *s, struct str text, struct candidate *out, struct arena *mem,
			      struct err *err)
{
	enum status status = find_typed(s, text, out, mem, err);
	struct err why;
	bool found;

	if (status != STATUS_NOT_FOUND && status != STATUS_USAGE)
		return status;
	if (find_called(s, text, out, mem, &found, &why) ||
	    (!found && find_titled(s, text, out, mem, &found, &why))) {
		*err = why;
		return err_failed(err->status);
	}
	return found ? STATUS_OK : tell_titled(s, text, err);
}

/* ---- Handles -------------------------------------------------------------------- */

/* The transcript of a sub-agent, of those with this id the conversation's; its row, 0 = it has none. */
static enum status find_agent(struct store *s, struct str agent, struct str session, int64_t *row, struct err *err)
{
	struct id_match list[MOST];
	size_t count;

	*row = 0;
	if (agent_search(s, agent, 0, list, MOST, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count && !*row; i++) {
		char id[UUID_TEXT + 1];

		uuid_print(&list[i].id, id);
		if (str_eq(str_of(id), session))
			*row = list[i].session;
	}
	return STATUS_OK;
}

static enum status take_session(struct store *s, int64_t row, struct arena *mem, struct resolved *out, struct err *err)
{
	*out = (struct resolved){ .is_session = true };
	return session_get(s, row, mem, &out->session, err);
}

/* One that stands in the file of its conversation. */
static enum status take_agent(struct store *s, struct str agent, struct str session, struct arena *mem,
			      struct resolved *out, struct err *err)
{
	struct str both = arena_printf(mem, "%.*s@%.*s", STR_ARG(session), STR_ARG(agent));

	if (resolve_id(s, both, mem, out, err))
		return err_failed(err->status);
	return str_eq(out->agent, agent) ? STATUS_OK
					 : err_fail(err, STATUS_NOT_FOUND, "there is no sub-agent %.*s in session %.*s",
						    (int)size_min(agent.n, 60), agent.p, STR_ARG(session));
}

/* By its file, which has to be that session's. */
static enum status take_file(struct store *s, struct str file, struct str session, struct arena *mem,
			     struct resolved *out, struct err *err)
{
	struct source_info info;
	char id[UUID_TEXT + 1];
	struct uuid source;
	int64_t row;

	if (!uuid_parse(file, &source) || source_get(s, &source, mem, &info, err) ||
	    session_of_source(s, info.row, &row, err))
		return err_failed(err->status);
	if (!row)
		return err_fail(err, STATUS_NOT_FOUND, "this is a file and no session; 'arbor export' writes it");
	if (take_session(s, row, mem, out, err))
		return err_failed(err->status);
	uuid_print(&out->session.id, id);
	if (session.p && !str_eq(str_of(id), session))
		return err_fail(err, STATUS_FORMAT, "handle: its file has the session %s, and no other", id);
	return STATUS_OK;
}

enum status resolve_handle(struct store *s, const struct handle *h, struct arena *mem, struct resolved *out,
			   struct err *err)
{
	struct str id = handle_meta(h, 0), second = handle_meta(h, 1);
	int64_t row = 0;

	if (str_eq(h->method, STR("file")))
		return take_file(s, id, (struct str){ 0 }, mem, out, err);
	if (str_eq(h->method, STR("session")) && second.n)
		return take_file(s, second, id, mem, out, err);
	if (str_eq(h->method, STR("agent"))) {
		if (find_agent(s, id, second, &row, err))
			return err_failed(err->status);
		return row ? take_session(s, row, mem, out, err) : take_agent(s, id, second, mem, out, err);
	}
	return resolve_id(s, id, mem, out, err);
}

enum status resolve_read_handle(struct str text, struct arena *mem, const struct activation **owner,
				struct handle *out, struct err *err)
{
	static const struct activation *const owners[] = { &activation_claudecode, &activation_storage,
							   &activation_arbor };
	const struct handle_kind *kind = NULL;
	struct uuid plugin;
	struct handle h;

	if (handle_parse(text, mem, &h, err))
		return err_failed(err->status);
	plugin = handle_plugin_id(&h);
	*owner = NULL;
	for (size_t i = 0; i < COUNT(owners) && !*owner; i++)
		if (activation_owns(owners[i], &plugin))
			*owner = owners[i];
	if (h.hub.n || !*owner)
		return err_fail(err, STATUS_USAGE,
				"this handle is of something else than what is kept here; 'arbor resolve' shows it");
	return handle_fit(*owner, &h, mem, &kind, out, err);
}

/* A handle where people type ids. */
static enum status read_handle(struct store *s, struct str text, struct arena *mem, struct resolved *out,
			       struct err *err)
{
	const struct activation *a;
	struct handle h;

	if (resolve_read_handle(text, mem, &a, &h, err))
		return err_failed(err->status);
	if ((a == &activation_storage && !str_eq(h.method, STR("file"))) ||
	    (a == &activation_arbor && str_eq(h.method, STR("note"))))
		return err_fail(err, STATUS_USAGE,
				"this handle is of something else than a conversation; 'arbor resolve' shows it");
	return resolve_handle(s, &h, mem, out, err);
}

/* ---- Bookmarks ---------------------------------------------------------------- */

static enum status bookmark_gone(const struct annotation *b, struct err *err)
{
	char id[UUID_TEXT + 1];
	bool made = subject_is_made(&b->on);

	uuid_print(&b->on.id, id);
	return err_fail(err, made ? STATUS_USAGE : STATUS_NOT_FOUND, "the bookmark '%.*s' is on %.*s %s, which is %s",
			STR_ARG(b->name), STR_ARG(b->on.kind), id,
			made ? "no part of a conversation" : "not in this store, or no more");
}

/* What somebody has given a name. Of copies of a node that in the conversation where it got it is meant. */
static enum status find_bookmark(struct store *s, struct str name, struct candidate *out, struct arena *mem,
				 struct err *err)
{
	struct annotation b;
	char id[UUID_TEXT + 1];
	enum status status;

	if (annotation_bookmark(s, name, mem, &b, err) || subject_session(s, &b.on, mem, &out->session, err))
		return err_failed(err->status);
	out->match.is_session = subject_is_transcript(&b.on);
	if (out->match.is_session)
		return out->session.row ? STATUS_OK : bookmark_gone(&b, err);
	uuid_print(&b.on.id, id);
	status = find_id(s, str_from(id, UUID_TEXT), (struct str){ 0 }, out->session.row, out, mem, err);
	if (status == STATUS_NOT_FOUND && out->session.row)
		status = find_id(s, str_from(id, UUID_TEXT), (struct str){ 0 }, 0, out, mem, err);
	return status == STATUS_NOT_FOUND ? bookmark_gone(&b, err) : status;
}

/* What begins with an @: one of the last sessions, of all or of the folder we are in, or a name. */
static enum status find_named(struct store *s, struct str name, struct candidate *out, struct arena *mem,
			      struct err *err)
{
	bool is_here = str_has_prefix(name, STR("."));
	char here[LIMIT_PATH];
	enum status status;
	uint64_t back;

	if (read_back(str_sub(name, is_here, SIZE_MAX), &back))
		return latest_session(s, is_here ? own_folder(here) : (struct str){ 0 }, back, mem, &out->session,
				      err);
	if (str_has_prefix(name, STR("~")))
		return err_fail(err, STATUS_USAGE, "'@%.*s': @~2 is the third last session", (int)size_min(name.n, 60),
				name.p);
	status = find_bookmark(s, name, out, mem, err);
	if (status == STATUS_NOT_FOUND && is_id_text(name))
		return err_fail(err, STATUS_NOT_FOUND,
				"there is no bookmark '%.*s'; a node of the last session is @@%.*s",
				(int)size_min(name.n, 60), name.p, (int)size_min(name.n, 60), name.p);
	return status;
}

/* A node that stands in another file of the same tree, of a fork or a sub-agent: 'tree' of the session shows
 * it, too. Copies of one session in several folders are told apart by whoever names one of them, so that of
 * another copy is not meant. */
static enum status find_beside(struct store *s, struct str text, const struct session *session,
			       struct candidate *out, struct arena *mem, struct err *err)
{
	struct grove g CLEANUP(grove_release) = GROVE_INIT;
	struct candidate found = { 0 };
	struct err ignored;

	if (find_id(s, text, (struct str){ 0 }, 0, &found, mem, &ignored) || found.match.is_session ||
	    (uuid_eq(&found.session.id, &session->id) && str_eq(found.session.agent, session->agent)))
		return STATUS_NOT_FOUND;
	if (grove_load(s, session->row, &g, &ignored))
		return STATUS_NOT_FOUND;
	for (uint32_t i = 0; i < g.forest.source_count; i++) {
		if (g.forest.sources[i].session.row != found.session.row)
			continue;
		*out = found;
		*err = (struct err){ 0 };
		return STATUS_OK;
	}
	return STATUS_NOT_FOUND;
}

/* Behind a session: a node of it, or of what belongs to it. */
static enum status find_inside(struct store *s, struct str text, struct candidate *out, struct arena *mem,
			       struct err *err)
{
	struct session session = out->session;
	enum status status = find_id(s, text, (struct str){ 0 }, session.row, out, mem, err);

	return status == STATUS_NOT_FOUND ? find_beside(s, text, &session, out, mem, err) : status;
}

enum status resolve_id(struct store *s, struct str text, struct arena *mem, struct resolved *out,
		       struct err *err)
{
	bool named = text.n && text.p[0] == '@';
	struct str rest, first = str_cut(named ? str_sub(text, 1, SIZE_MAX) : text, '@', &rest);
	struct candidate found = { .match.is_session = true };

	if (handle_is_like(text))
		return read_handle(s, text, mem, out, err);
	if (named ? find_named(s, first, &found, mem, err) : find_first(s, first, &found, mem, err))
		return err_failed(err->status);
	if (rest.p && !found.match.is_session)
		return err_fail(err, STATUS_USAGE, "'%.*s' is not a session", (int)size_min(first.n, 60),
				first.p);
	if (rest.p && find_inside(s, rest, &found, mem, err))
		return err_failed(err->status);
	/* One of several contents of a line has an id of its own. */
	found.match.node.id = found.match.id;
	*out = (struct resolved){ .is_session = found.match.is_session,
				  .session = found.session,
				  .node = found.match.node,
				  .is_tree = found.match.is_session && found.match.node.part == PART_TREE,
				  .agent = found.agent };
	return STATUS_OK;
}

/* Whether another id than this one could be meant by its first n characters. */
static bool is_shared(struct store *s, const struct uuid *id, struct str first)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct id_match list[MOST];
	struct made made[2];
	size_t count = 0, made_count = 0;
	struct err ignored;
	bool taken = false;

	if (id_search(s, first, 0, list, MOST, &count, &ignored) ||
	    source_begins(s, first, id, &taken, &ignored) ||
	    made_search(s, first, &mem, made, COUNT(made), &made_count, &ignored))
		return false;
	for (size_t i = 0; i < made_count; i++)
		taken |= !uuid_eq(&made[i].id, id);
	count = choose(list, count, 0);
	for (size_t i = 0; i < count; i++)
		taken |= !uuid_eq(&list[i].id, id);
	return taken;
}

size_t resolve_digits(struct store *s, struct str id)
{
	size_t n = RESOLVE_SHOWN;
	struct uuid whole;

	if (!uuid_parse(id, &whole))
		return n;
	while (n < id.n && (id.p[n - 1] == '-' || is_shared(s, &whole, str_sub(id, 0, n))))
		n++;
	return n;
}

enum status resolve_session(struct store *s, struct str text, struct arena *mem, struct session *out,
			    struct err *err)
{
	struct resolved r = { 0 };

	if (resolve_id(s, text, mem, &r, err))
		return err_failed(err->status);
	if (!r.is_session)
		return err_fail(err, STATUS_USAGE, "'%.*s' is a part of a session, not a session",
				(int)size_min(text.n, 60), text.p);
	*out = r.session;
	return STATUS_OK;
}
