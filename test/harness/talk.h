/*
 * Transcripts in shorthand, for tests of what lines make together:
 *
 *     "u A; a B<A m=1 call=x; u C<B res=x; l >B !"
 *
 * A line is its kind, its name with the name of its parent, and what is true of it:
 *
 *     u user   a assistant   s system   b boundary   t attachment   p progress
 *     l last-prompt, without a name   o anything else; these two have no uuid
 *     m=ID       of the API message        @N        seconds; 0 = no time at all
 *     call=X,Y   calls of tools            >NAME     the other line it names
 *     res=X,Y    results of them           says=TEXT its content; its name if it is not given
 *     ! ~        explicit, sidechain       +FLAG -FLAG
 *
 * Without a time a line comes ten seconds after the one before it: nobody's stand-in.
 * A user's line is a prompt unless it holds results or is meta; an answer has a requestId,
 * and speaks unless it calls.
 *
 * And what holds for every forest, whatever its lines: forest_flaw().
 */
#ifndef ARBOR_TEST_TALK_H
#define ARBOR_TEST_TALK_H

#include "base/hash.h"
#include "claude/record.h"
#include "query/forest_build.h"
#include "store/session.h"

#include <stdlib.h>
#include <string.h>

/* ---- Shorthand ------------------------------------------------------------------ */

/* Lines are numbered through all sources, in their offsets, and so have their names back. */
struct talk {
	struct forest f;
	struct str *names;
	uint32_t count, cap;
	int64_t at; /* of the line before */
};

static inline void talk_release(struct talk *k)
{
	forest_release(&k->f);
	mem_free(k->names);
}

#define TALK struct talk CLEANUP(talk_release)

static inline struct str talk_word(struct str *rest, char end)
{
	struct str word = str_cut(*rest, end, rest);

	return str_trim(word);
}

static inline uint64_t talk_hash(struct str s)
{
	return hash64(s.p, s.n);
}

static inline uint32_t talk_flag(struct str name)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} flags[] = {
		{ "prompt", RECORD_PROMPT },   { "queued", RECORD_QUEUED },
		{ "notice", RECORD_NOTICE },   { "meta", RECORD_META },
		{ "compact", RECORD_COMPACT }, { "sent", RECORD_SENT },
		{ "request", RECORD_REQUEST }, { "error", RECORD_ERROR },
		{ "cut", RECORD_CUT },	       { "synthetic", RECORD_SYNTHETIC },
		{ "mute", RECORD_MUTE },       { "speaks", RECORD_SPEAKS },
		{ "task", RECORD_TASK },       { "embedded", RECORD_EMBEDDED },
	};

	for (size_t i = 0; i < COUNT(flags); i++)
		if (str_eq(name, str_of(flags[i].name)))
			return flags[i].flag;
	abort(); /* the test is wrong */
}

static inline void talk_calls(struct chain *c, struct chain_line *l, struct str list)
{
	uint64_t *tools = arena_alloc(&c->mem, (list.n + 1) * sizeof *tools);

	l->tools = tools;
	while (list.n)
		tools[l->tool_count++] = talk_hash(talk_word(&list, ','));
}

static inline int64_t talk_number(struct str s)
{
	int64_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n = 10 * n + (s.p[i] - '0');
	return n;
}

static inline bool talk_begins(struct str *word, const char *with)
{
	struct str s = str_of(with);

	if (word->n < s.n || memcmp(word->p, s.p, s.n) != 0)
		return false;
	*word = str_sub(*word, s.n, SIZE_MAX);
	return true;
}

static inline void talk_kind(struct chain_line *l, char kind)
{
	static const struct {
		char kind;
		uint8_t type;
		uint32_t flags;
	} kinds[] = {
		{ 'u', RECORD_USER, RECORD_PROMPT },
		{ 'a', RECORD_ASSISTANT, RECORD_REQUEST | RECORD_SPEAKS },
		{ 's', RECORD_SYSTEM, 0 },
		{ 'b', RECORD_SYSTEM, RECORD_BOUNDARY },
		{ 't', RECORD_ATTACHMENT, 0 },
		{ 'p', RECORD_PROGRESS, 0 },
		{ 'l', RECORD_LAST_PROMPT, 0 },
		{ 'o', RECORD_OTHER, 0 },
	};

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].kind == kind) {
			l->type = kinds[i].type;
			l->flags = kinds[i].flags;
			return;
		}
	abort();
}

static inline void talk_detail(struct talk *k, struct chain *c, struct chain_line *l, struct str word)
{
	if (talk_begins(&word, "@"))
		k->at = 1000 * talk_number(word), l->at = k->at;
	else if (talk_begins(&word, ">"))
		l->has_link = true, l->link = line_key(word);
	else if (talk_begins(&word, "m="))
		l->has_api = true, l->api = talk_hash(word);
	else if (talk_begins(&word, "says="))
		l->content = talk_hash(word) + l->type;
	else if (talk_begins(&word, "call="))
		talk_calls(c, l, word), l->flags &= ~(uint32_t)RECORD_SPEAKS;
	else if (talk_begins(&word, "res="))
		talk_calls(c, l, word), l->flags = RECORD_RESULT;
	else if (talk_begins(&word, "!"))
		l->flags |= RECORD_EXPLICIT;
	else if (talk_begins(&word, "~"))
		l->flags = (l->flags | RECORD_SIDECHAIN) & ~(uint32_t)RECORD_PROMPT;
	else if (talk_begins(&word, "-"))
		l->flags &= ~talk_flag(word);
	else if (talk_begins(&word, "+"))
		l->flags = (l->flags | talk_flag(word)) &
			   ~(uint32_t)(str_eq(word, STR("meta")) ? RECORD_PROMPT : 0);
	else
		abort();
}

static inline void talk_line(struct talk *k, struct chain *c, struct str text)
{
	struct chain_line *l = chain_add(c);
	struct str kind = talk_word(&text, ' '), name, parent;

	talk_kind(l, kind.n ? kind.p[0] : '?');
	k->at += 10000;
	l->at = k->at;
	if (k->count == k->cap) {
		k->cap = k->cap ? 2 * k->cap : 64;
		k->names = mem_resize(k->names, k->cap * sizeof *k->names);
	}
	l->offset = k->count;
	l->length = 1;
	if (l->type == RECORD_LAST_PROMPT || l->type == RECORD_OTHER) {
		l->same = talk_hash(text);
		name = l->type == RECORD_OTHER ? talk_word(&text, ' ') : STR("-");
	} else {
		parent = talk_word(&text, ' ');
		name = talk_word(&parent, '<');
		l->has_key = true;
		l->key = line_key(name);
		l->content = talk_hash(name) + l->type;
		l->has_parent = parent.n > 0;
		if (parent.n)
			l->parent_key = line_key(parent);
	}
	k->names[k->count++] = name;
	while (text.n) {
		struct str word = talk_word(&text, ' ');

		if (word.n)
			talk_detail(k, c, l, word);
	}
}

/* The text has to outlive the talk. */
static inline void talk_lines(struct talk *k, struct chain *c, const char *text)
{
	struct str rest = str_of(text);

	while (rest.n) {
		struct str line = talk_word(&rest, ';');

		if (line.n)
			talk_line(k, c, line);
	}
}

/* A file; one whose path begins with "agent-" is a sub-agent's. Times begin anew. */
static inline void talk_file(struct talk *k, const char *path, const char *text)
{
	struct forest_source *s = forest_add(&k->f);
	struct str name = str_of(path);

	s->session.root = STR("claude");
	s->session.path = str_of(path);
	s->agent = talk_begins(&name, "agent-") ? name : (struct str){ 0 };
	s->chain.is_agent = s->agent.n > 0;
	k->at = 0;
	talk_lines(k, &s->chain, text);
}

static inline struct str talk_name(const struct talk *k, uint32_t node)
{
	return k->names[forest_line(&k->f, node)->offset];
}

/* Each canonical message: role, lines, what it follows, why a turn begins with it, how many
 * ways lead on from it, its copies. */
static inline void talk_describe(const struct talk *k, struct buf *out)
{
	static const char *const roles[] = { "user", "assistant", "results", "client" };
	static const char *const origins[] = { "", " human", " notice", " compaction" };
	const struct forest *f = &k->f;

	for (uint32_t i = 0; i < f->order_count; i++) {
		const struct forest_message *m = &f->messages[f->order[i]];

		buf_text(out, roles[m->role]);
		for (uint32_t n = m->first; n != FOREST_NONE; n = f->nodes[n].next)
			buf_printf(out, " %.*s", STR_ARG(talk_name(k, n)));
		if (m->prev != FOREST_NONE)
			buf_printf(out, " <%.*s", STR_ARG(talk_name(k, f->messages[m->prev].first)));
		buf_text(out, origins[m->origin]);
		if (m->branches > 1)
			buf_printf(out, " x%u", m->branches);
		for (uint32_t c = m->next_copy; c != FOREST_NONE; c = f->messages[c].next_copy)
			buf_printf(out, " =%.*s", STR_ARG(talk_name(k, f->messages[c].first)));
		buf_byte(out, '\n');
	}
	for (uint32_t i = 0; i < f->continues_count; i++)
		buf_printf(out, "%.*s continues %.*s%s\n", STR_ARG(talk_name(k, f->continues[i].from)),
			   STR_ARG(talk_name(k, f->continues[i].to)), f->continues[i].inferred ? "?" : "");
}

/* ---- What always holds ------------------------------------------------------------- */

static inline const char *flaw_of_nodes(const struct forest *f)
{
	uint32_t in_messages = 0, listed = 0;

	for (uint32_t s = 0; s < f->source_count; s++)
		for (uint32_t i = 0; i < f->sources[s].chain.line_count; i++) {
			const struct chain_line *l = &f->sources[s].chain.lines[i];
			uint32_t n = f->sources[s].nodes[i];

			if ((n != FOREST_NONE) != l->has_key)
				return "a line has no node, or one without a uuid has";
			if (n == FOREST_NONE)
				continue;
			if (n >= f->node_count || !uuid_eq(&forest_line(f, n)->key, &l->key) ||
			    forest_line(f, n)->content != l->content)
				return "a line's node is another's";
			if ((l->type == RECORD_USER || l->type == RECORD_ATTACHMENT) &&
			    forest_line(f, n)->type == l->type && f->nodes[n].message == FOREST_NONE)
				return "what was said is in no message";
		}
	for (uint32_t n = 0; n < f->node_count; n++) {
		in_messages += f->nodes[n].message != FOREST_NONE;
		for (uint32_t c = f->nodes[n].copies; c != FOREST_NONE; c = f->copies[c].next) {
			if (f->sources[f->copies[c].source].nodes[f->copies[c].line] != n)
				return "a copy is of another node";
			if (forest_compare(f, &f->copies[c], &f->nodes[n].canon) < 0)
				return "a copy comes before the canonical one";
		}
	}
	for (uint32_t m = 0; m < f->message_count; m++) {
		uint32_t count = 0;

		for (uint32_t n = f->messages[m].first; n != FOREST_NONE; n = f->nodes[n].next, count++)
			if (f->nodes[n].message != m || count > f->node_count)
				return "a node is in two messages";
		if (count == 0 || count != f->messages[m].count)
			return "a message counts its lines wrong";
		listed += count;
	}
	return listed == in_messages ? NULL : "a node is in no list";
}

/* Where a node stands first in a source. */
static inline uint32_t flaw_place(const struct forest *f, uint32_t node, uint32_t source)
{
	uint32_t place = FOREST_NONE;

	for (uint32_t c = f->nodes[node].copies; c != FOREST_NONE; c = f->copies[c].next)
		if (f->copies[c].source == source && f->copies[c].line < place)
			place = f->copies[c].line;
	return place;
}

static inline const char *flaw_of_messages(const struct forest *f)
{
	for (uint32_t m = 0; m < f->message_count; m++) {
		const struct forest_message *x = &f->messages[m];
		uint32_t before = 0;

		for (uint32_t n = x->first; n != FOREST_NONE; n = f->nodes[n].next) {
			uint32_t place = flaw_place(f, n, x->source);

			if (place < before)
				return "the lines of a message are not in order";
			before = place;
		}
		if ((x->role == FOREST_ASSISTANT) != (forest_line(f, x->first)->type == RECORD_ASSISTANT))
			return "an answer is not the model's";
		if (x->owner != FOREST_NONE &&
		    (x->role != FOREST_RESULTS || f->messages[x->owner].results != m))
			return "results and their answer do not know each other";
		if (f->messages[x->canonical].canonical != x->canonical)
			return "a canonical message has a canonical one";
		if (x->prev != FOREST_NONE && f->messages[x->prev].canonical != x->prev)
			return "a message follows one that is not canonical";
	}
	return NULL;
}

static inline const char *flaw_of_copies(const struct forest *f)
{
	uint32_t count = 0;

	for (uint32_t m = 0; m < f->message_count; m++) {
		if (f->messages[m].canonical != m)
			continue;
		for (uint32_t c = m, next; c != FOREST_NONE; c = next) {
			next = f->messages[c].next_copy;
			if (f->messages[c].canonical != m || ++count > f->message_count)
				return "a copy is in two lists";
			if (f->messages[c].sidechain != f->messages[m].sidechain)
				return "a sub-agent's message is a copy of the conversation's";
			if (next != FOREST_NONE &&
			    forest_compare(f, &f->nodes[f->messages[c].first].canon,
					   &f->nodes[f->messages[next].first].canon) > 0)
				return "copies are not in canonical order";
		}
	}
	return count == f->message_count ? NULL : "a message is in no list of copies";
}

/* Also: prev goes in no circle, or there would be no such order. */
static inline const char *flaw_of_order(const struct forest *f)
{
	uint32_t *place = mem_alloc((f->message_count + 1) * sizeof *place), canonical = 0;
	const char *flaw = NULL;

	for (uint32_t m = 0; m < f->message_count; m++)
		canonical += f->messages[m].canonical == m;
	if (canonical != f->order_count)
		flaw = "the order is not of all canonical messages";
	for (uint32_t i = 0; !flaw && i < f->order_count; i++) {
		const struct forest_message *x = &f->messages[f->order[i]];

		if (place[f->order[i]])
			flaw = "a message comes twice";
		place[f->order[i]] = i + 1;
		if (x->prev != FOREST_NONE && !place[x->prev])
			flaw = "a message comes before what it follows";
		else if (x->turn != FOREST_NONE &&
			 (f->messages[x->turn].origin == ORIGIN_NONE || !place[x->turn]))
			flaw = "a turn does not begin where it is said to";
		else if (x->turn == FOREST_NONE && x->origin != ORIGIN_NONE)
			flaw = "what begins a turn is in none";
	}
	mem_free(place);
	return flaw;
}

static inline const char *flaw_of_continues(const struct forest *f)
{
	for (uint32_t i = 0; i < f->continues_count; i++)
		if (f->continues[i].from == f->continues[i].to)
			return "a line continues itself";
	return NULL;
}

/* NULL, or what is wrong. Takes time: for a few thousand lines. */
static inline const char *forest_flaw(const struct forest *f)
{
	static const char *(*const checks[])(const struct forest *) = { flaw_of_nodes, flaw_of_messages,
								 flaw_of_copies, flaw_of_order,
								 flaw_of_continues };
	const char *flaw = NULL;

	for (size_t i = 0; !flaw && i < COUNT(checks); i++)
		flaw = checks[i](f);
	return flaw;
}

#endif
