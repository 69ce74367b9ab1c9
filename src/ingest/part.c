/*
 * From a line to its rows: ids, documents, what it says of its session.
 *
 * Here Claude Code's records (src/claude) meet the store's rows (src/store), which
 * do not know each other. Everything costly happens here, in the reading threads:
 * JSON, splitting text into words.
 *
 * A part never splits a record. Its strings are copies: the bytes it was made from
 * are gone when it is written.
 */
#include "ingest/part.h"

#include "base/hash.h"
#include "base/mark.h"
#include "base/utf8.h"
#include "base/words.h"
#include "claude/change.h"
#include "claude/command.h"
#include "claude/layout.h"
#include "claude/mention.h"
#include "store/fulltext.h"
#include "store/session.h"

#include <string.h>

enum {
	FULL_PACKED = 256 * 1024, /* bytes of words after which a part is handed over */
	FULL_LINES = 2048,
	/* Lines at hand to be somebody's parent, the last with each hash. Most parents are the
	 * line before; who is not at hand is named by uuid, which only takes more room. */
	SEEN_LINES = 4096,
};

static void *grow(void *list, size_t *cap, size_t count, size_t size)
{
	if (count < *cap)
		return list;
	*cap = *cap ? *cap * 2 : 64;
	return mem_resize(list, *cap * size);
}

struct part *part_new(const struct unread *job)
{
	struct part *p = mem_alloc(sizeof *p);

	p->job = job;
	/* One document more than the words of a line, and what was there before it. */
	buf_init(&p->packed, FULL_PACKED + LIMIT_LINE_WORDS + 4 * LIMIT_DOC_TEXT);
	return p;
}

void part_free(struct part *p)
{
	if (!p)
		return;
	mem_free(p->lines);
	mem_free(p->texts);
	mem_free(p->docs);
	mem_free(p->values);
	mem_free(p->branches);
	mem_free(p->links);
	map_release(&p->linked);
	buf_release(&p->packed);
	arena_release(&p->mem);
	mem_free(p);
}

void part_seal(struct part *p)
{
	p->mirror.lines = p->lines;
	p->mirror.queued_flag = RECORD_QUEUED;
	p->mirror.docs = p->docs;
	p->mirror.values = p->values;
	p->mirror.branches = p->branches;
	p->mirror.links = p->links;
	p->mirror.packed = buf_as_str(&p->packed);
	p->papers.texts = p->texts;
	p->papers.docs = p->docs;
	p->papers.packed = p->mirror.packed;
	p->item.weight = sizeof *p + p->line_cap * sizeof *p->lines + p->text_cap * sizeof *p->texts +
			 p->doc_cap * sizeof *p->docs + p->packed.cap;
}

bool part_is_full(const struct part *p)
{
	return p->packed.n >= FULL_PACKED || p->mirror.line_count >= FULL_LINES || p->papers.count >= FULL_LINES;
}

void part_reader_init(struct part_reader *r)
{
	*r = (struct part_reader){ .text = BUF_INIT(2 * LIMIT_LINE_PARSED), .marks = BUF_INIT(KIB) };
	r->seen = mem_alloc(SEEN_LINES * sizeof *r->seen);
}

void part_reader_begin(struct part_reader *r, bool from_start)
{
	map_release(&r->firsts);
	arena_release(&r->mem);
	r->firsts = (struct map)MAP_INIT;
	r->mem = (struct arena)ARENA_INIT;
	r->knows_all = from_start;
	r->branch = 0;
	memset(r->said, 0, sizeof r->said);
	for (size_t i = 0; i < SEEN_LINES; i++)
		r->seen[i].offset = -1;
}

void part_reader_shrink(struct part_reader *r)
{
	record_reader_release(&r->records);
	r->records = (struct record_reader)RECORD_READER_INIT;
	buf_release(&r->text);
}

void part_reader_release(struct part_reader *r)
{
	part_reader_shrink(r);
	buf_release(&r->marks);
	mem_free(r->seen);
	mem_free(r->tools);
	map_release(&r->firsts);
	arena_release(&r->mem);
}

/* ---- Links ------------------------------------------------------------------ */

/* A name in this part, and the line that named it last. */
struct noted_link {
	size_t at; /* in the part's links */
	int64_t line;
};

/* The line in hand, to whoever finds names in its texts. */
struct naming {
	struct part *part;
	int64_t offset;
};

/* Each name counts once for each line. */
static void note_link(void *ctx, enum mention_kind kind, struct str name)
{
	struct naming *n = ctx;
	struct part *p = n->part;
	struct buf key CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_PATH);
	struct noted_link *known;

	if (name.n > LIMIT_PATH)
		return;
	buf_byte(&key, (char)kind);
	buf_str(&key, name);
	known = map_get(&p->linked, buf_as_str(&key));
	if (!known) {
		struct str kept = arena_str(&p->mem, buf_as_str(&key));

		known = arena_alloc(&p->mem, sizeof *known);
		known->at = p->mirror.link_count++;
		known->line = -1;
		map_put(&p->linked, kept, known);
		p->links = grow(p->links, &p->link_cap, known->at, sizeof *p->links);
		p->links[known->at] = (struct link){
			.kind = (int)kind, .name = str_sub(kept, 1, SIZE_MAX), .offset = n->offset
		};
	}
	if (known->line == n->offset)
		return;
	known->line = n->offset;
	p->links[known->at].times++;
}

/* Of lines that the newest version of the file has. */
static void note_names(struct part *p, const struct record *rec, enum record_place place, struct str text,
		       int64_t offset)
{
	struct naming n = { p, offset };

	if (!p->mirror.old)
		mention_text(rec, place, text, note_link, &n);
}

static void note_changed(struct part *p, struct part_reader *r, const struct record *rec, int64_t offset)
{
	struct naming n = { p, offset };
	struct str path;

	if (!p->mirror.old && (rec->flags & RECORD_RESULT) && change_path(&r->records, rec, &path))
		note_link(&n, MENTION_FILE, path);
}

/* ---- Documents -------------------------------------------------------------- */

/* What the text in hand is, besides what it says. */
static void set_marks(const struct part *p, struct part_reader *r, const struct mirror_line *l,
		      const struct record *rec, const struct record_block *b)
{
	char room[WORD_MAX];
	struct str file, agent = l->agent.n ? l->agent : p->mirror.agent;

	buf_clear(&r->marks);
	if (l->flags & (RECORD_SIDECHAIN | RECORD_EMBEDDED))
		mark_pack(&r->marks, MARK_AGENT, STR(""));
	if (agent.n)
		mark_pack(&r->marks, MARK_WHO, agent);
	if (rec->model.n && !(rec->flags & RECORD_SYNTHETIC))
		mark_pack(&r->marks, MARK_MODEL, rec->model);
	if ((l->flags & RECORD_ERROR) || (b && b->is_error))
		mark_pack(&r->marks, MARK_ERROR, STR(""));
	if (!b || b->kind != BLOCK_TOOL_USE)
		return;
	file = block_file(&r->records, b);
	mark_pack(&r->marks, MARK_TOOL, b->name);
	if (!file.n)
		return;
	mark_pack(&r->marks, MARK_FILE, str_basename(file));
	mark_pack(&r->marks, MARK_END, mark_backwards(str_basename(file), room));
}

static void add_doc(struct part *p, struct str marks, struct str text, enum record_place place, uint32_t block,
		    uint32_t *docs)
{
	size_t at = p->packed.n, words;

	buf_str(&p->packed, marks);
	words = words_pack(&p->packed, text);
	if (words == 0) {
		p->packed.n = at;
		return;
	}
	p->docs = grow(p->docs, &p->doc_cap, p->doc_count, sizeof *p->docs);
	p->docs[p->doc_count++] = (struct mirror_doc){
		.words = (uint32_t)size_min(words, UINT32_MAX),
		.block = (uint16_t)block, /* LIMIT_LINE_BLOCKS; the line itself is DOC_LINE */
		.place = (uint8_t)place,
		.packed_at = at,
		.packed_n = p->packed.n - at,
	};
	(*docs)++;
}

/* How much of a text goes into one document: up to white space, if there is any near
 * the end, else to the beginning of a character. */
static size_t cut_text(struct str text)
{
	enum { NEAR = 4096 };
	size_t end = LIMIT_DOC_TEXT;

	if (text.n <= end)
		return text.n;
	for (size_t i = end; i > end - NEAR; i--)
		if (text.p[i] == ' ' || text.p[i] == '\n')
			return i;
	while ((text.p[end] & 0xc0) == 0x80 && end > LIMIT_DOC_TEXT - 4)
		end--;
	return end;
}

/* One document, unless it is very long. The limit counts from the beginning of the record, so it does not depend
 * on what else is in the part. */
static void add_docs_of(struct part *p, struct str marks, struct str text, enum record_place place, uint32_t block,
			uint32_t *docs)
{
	while (text.n && p->packed.n - p->record_at < LIMIT_LINE_WORDS) {
		size_t n = cut_text(text);

		add_doc(p, marks, str_sub(text, 0, n), place, block, docs);
		text = str_sub(text, n, SIZE_MAX);
	}
}

/* The text in hand. */
static void add_docs(struct part *p, struct part_reader *r, struct mirror_line *l, enum record_place place,
		     uint32_t block)
{
	add_docs_of(p, buf_as_str(&r->marks), buf_as_str(&r->text), place, block, &l->docs);
}

static void add_tool(struct part_reader *r, struct str id)
{
	r->tools = grow(r->tools, &r->tool_cap, r->tool_count, sizeof *r->tools);
	r->tools[r->tool_count++] = hash64(id.p, id.n);
}

static uint64_t hash_said(struct str text)
{
	text = str_trim(text);
	return text.n ? hash64(text.p, text.n) : 0;
}

/* What was typed, for who waits for it to be said (store/queued.h): the text in hand. Of commands of the client all
 * count, whether there is anything behind them or not. */
static void note_said(const struct part_reader *r, struct mirror_line *l, const struct record *rec)
{
	struct buf typed CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct str text = buf_as_str(&r->text);
	uint64_t said;

	if (rec->type == RECORD_ASSISTANT || (rec->flags & (RECORD_RESULT | RECORD_EMBEDDED | RECORD_SIDECHAIN)) ||
	    l->say_count == MIRROR_SAYS)
		return;
	if (command_typed(text, &typed, NULL))
		text = buf_as_str(&typed);
	said = hash_said(text);
	if (said)
		l->says[l->say_count++] = said;
}

static void add_block(struct part *p, struct part_reader *r, struct mirror_line *l,
		      const struct record *rec, const struct record_block *b)
{
	l->blocks++;
	p->mirror.tools += b->kind == BLOCK_TOOL_USE && !l->aside;
	if (b->tool.n)
		add_tool(r, b->tool);
	buf_clear(&r->text);
	block_said(&r->records, b, &r->text);
	set_marks(p, r, l, rec, b);
	add_docs(p, r, l, b->place, b->index);
	note_said(r, l, rec);
	note_names(p, rec, b->place, buf_as_str(&r->text), l->offset);
}

/* ---- The session ------------------------------------------------------------ */

enum { RANK_PROMPT = 1, RANK_CLIENT = 2, RANK_PERSON = 3 };

/* What lists of sessions show: nobody reads more, and each is in memory with them. */
static struct str shown(struct str text)
{
	enum { LONGEST = 1000 };

	text = str_sub(text, 0, LONGEST);
	return str_sub(text, 0, text.n < LONGEST ? text.n : utf8_valid_prefix(text));
}

static void note_topics(struct part *p, struct str title, int64_t offset)
{
	struct naming n = { p, offset };

	if (!p->mirror.old)
		mention_topics(title, note_link, &n);
}

static void note_title(struct part *p, int rank, struct str title)
{
	bool later_wins = rank > RANK_PROMPT && rank == p->mirror.title_rank;

	if (title.n == 0 || (rank <= p->mirror.title_rank && !later_wins))
		return;
	p->mirror.title_rank = rank;
	p->mirror.title = arena_str(&p->mem, shown(title));
}

/* "181", "ok": what is typed next may say more. */
static bool says_nothing(struct str prompt)
{
	enum { SHORT = 4 };
	bool speaks = false, foreign = false;

	for (size_t i = 0; i < prompt.n; i++) {
		foreign |= (unsigned char)prompt.p[i] >= 0x80;
		speaks |= (prompt.p[i] | 32) >= 'a' && (prompt.p[i] | 32) <= 'z';
	}
	return !foreign && (!speaks || prompt.n < SHORT);
}

static void note_prompt(struct part *p, struct part_reader *r, const struct record *rec)
{
	struct buf title CLEANUP(buf_release) = BUF_INIT(KIB);
	struct block_cursor at = { 0 };
	struct record_block b;

	if (p->mirror.title_rank >= RANK_PROMPT)
		return;
	while (title.n == 0 && record_block(&r->records, rec, &at, &b)) {
		buf_clear(&r->text);
		block_text(&r->records, &b, &r->text);
		if (record_text_is_typed(buf_as_str(&r->text)))
			record_prompt_title(buf_as_str(&r->text), &title);
	}
	if (!says_nothing(buf_as_str(&title)))
		note_title(p, RANK_PROMPT, buf_as_str(&title));
	else if (!p->mirror.title_rank && !p->mirror.title.n)
		p->mirror.title = arena_str(&p->mem, shown(buf_as_str(&title)));
}

static struct said *said_of(struct part_reader *r, enum session_value kind, uint64_t hash)
{
	struct said *s = &r->said[kind];

	for (int i = 0; i < PART_SAID; i++)
		if (s->last[i] == hash)
			return NULL;
	return s;
}

/* Most lines say the same as the one before. */
static void note_value(struct part *p, struct part_reader *r, enum session_value kind, struct str text,
		       int64_t offset)
{
	uint64_t hash = hash64(text.p, text.n);
	struct said *s = said_of(r, kind, hash);

	if (!s || p->mirror.old)
		return;
	s->last[s->next++ % PART_SAID] = hash;
	p->values = grow(p->values, &p->value_cap, p->mirror.value_count, sizeof *p->values);
	p->values[p->mirror.value_count++] =
		(struct mirror_value){ .kind = (int)kind, .text = arena_str(&p->mem, text), .offset = offset };
}

/* Where another branch begins, also of what older versions of the file had. */
static void note_branch(struct part *p, struct part_reader *r, struct str branch, int64_t offset)
{
	uint64_t hash = branch.p ? hash64(branch.p, branch.n) : r->branch;

	if (hash == r->branch)
		return;
	r->branch = hash;
	p->branches = grow(p->branches, &p->branch_cap, p->mirror.branch_count, sizeof *p->branches);
	p->branches[p->mirror.branch_count++] =
		(struct branch_run){ .offset = offset, .branch = arena_str(&p->mem, shown(branch)) };
}

/* Into the part's memory, unless it says so already. */
static void note_last(struct part *p, struct str *said, struct str text)
{
	if (text.n && !str_eq(text, *said))
		*said = arena_str(&p->mem, shown(text));
}

static void note_note(struct part *p, struct part_reader *r, const struct record *rec, int64_t offset)
{
	struct str value;

	switch (record_note(&r->records, rec, &value)) {
	case NOTE_TAG:
		p->mirror.tag = value.n ? arena_str(&p->mem, shown(value)) : STR("");
		break;
	case NOTE_MODE:
		note_last(p, &p->mirror.mode, value);
		break;
	case NOTE_PULL:
		note_value(p, r, SESSION_PULL, value, offset);
		break;
	case NOTE_NONE:
		break;
	}
}

/* Whose a sub-agent is that stands beside conversations and not in the folder of one. */
static void note_owner(struct mirror_part *m, const struct record *rec)
{
	if (uuid_eq(&m->owner, &(struct uuid){ 0 }))
		uuid_parse(rec->session, &m->owner);
}

/* Where it was. */
static void note_place(struct part *p, struct part_reader *r, const struct record *rec, int64_t offset)
{
	struct mirror_part *m = &p->mirror;

	if (rec->cwd.n && !m->cwd.n)
		m->cwd = arena_str(&p->mem, str_sub(rec->cwd, 0, LIMIT_PATH));
	if (rec->cwd.n)
		note_value(p, r, SESSION_FOLDER, str_sub(rec->cwd, 0, LIMIT_PATH), offset);
	if (rec->branch.n)
		note_value(p, r, SESSION_BRANCH, shown(rec->branch), offset);
	note_branch(p, r, rec->branch, offset);
	if (rec->plan.n)
		note_value(p, r, SESSION_PLAN, str_sub(rec->plan, 0, LIMIT_PATH), offset);
	note_last(p, &m->branch, rec->branch);
	note_last(p, &m->permission, rec->permission);
}

static void note_session(struct part *p, struct part_reader *r, const struct record *rec, int64_t offset)
{
	struct mirror_part *m = &p->mirror;

	note_place(p, r, rec, offset);
	note_note(p, r, rec, offset);
	/* Nobody talked before 1970; 0 stands for no time at all. */
	if (rec->has_time && rec->at > 0 && (!m->started_at || rec->at < m->started_at))
		m->started_at = rec->at;
	if (rec->has_time && rec->at > m->updated_at)
		m->updated_at = rec->at;
	if (record_is_typed(rec->flags) || (rec->flags & RECORD_ENQUEUED))
		p->mirror.prompts++;
	if ((rec->flags & RECORD_PROMPT) || (m->agent.n && rec->type == RECORD_USER))
		note_prompt(p, r, rec);
	if (m->agent.n)
		note_owner(m, rec);
	if (rec->type == RECORD_AI_TITLE || rec->type == RECORD_CUSTOM_TITLE)
		note_topics(p, record_title(&r->records, rec), offset);
	if (rec->type == RECORD_AI_TITLE)
		note_title(p, RANK_CLIENT, record_title(&r->records, rec));
	if (rec->type == RECORD_CUSTOM_TITLE)
		note_title(p, RANK_PERSON, record_title(&r->records, rec));
}

/* ---- Lines ------------------------------------------------------------------ */

/* Where the message of this line begins. */
static void find_first(struct part_reader *r, struct mirror_line *l, const struct record *rec)
{
	const int64_t *known;
	int64_t *mine;

	if (rec->type != RECORD_USER && rec->type != RECORD_ASSISTANT) {
		l->first = MIRROR_NO_MESSAGE;
		return;
	}
	l->first = l->offset;
	if (!rec->message_id.n)
		return;
	l->has_message = true;
	l->message = hash64(rec->message_id.p, rec->message_id.n);
	known = map_get(&r->firsts, rec->message_id);
	if (!known) {
		mine = arena_alloc(&r->mem, sizeof *mine);
		*mine = l->offset;
		map_put(&r->firsts, arena_str(&r->mem, rec->message_id), mine);
		known = mine;
	}
	l->first_here = *known;
	l->first = r->knows_all ? *known : MIRROR_ASK;
}

static struct mirror_line *new_line(struct part *p, int64_t offset, int64_t length)
{
	struct mirror_line *l;

	p->lines = grow(p->lines, &p->line_cap, p->mirror.line_count, sizeof *p->lines);
	l = &p->lines[p->mirror.line_count++];
	*l = (struct mirror_line){ .offset = offset, .length = length, .first = MIRROR_NO_MESSAGE };
	return l;
}

static const uint8_t *keep_digest(struct part *p, const uint8_t digest[SHA256_BYTES])
{
	return memcpy(arena_alloc(&p->mem, SHA256_BYTES), digest, SHA256_BYTES);
}

/* Parts of ids may not contain a NUL: it stands between them. */
static bool is_name(struct str uuid)
{
	return uuid.n <= LIMIT_LINE_UUID && !str_has_byte(uuid, '\0');
}

static void name_line(struct part *p, struct mirror_line *l, const struct record *rec)
{
	uint8_t digest[SHA256_BYTES];

	if (rec->uuid.n && is_name(rec->uuid)) {
		l->uuid = arena_str(&p->mem, rec->uuid);
		l->is_uuid = uuid_parse(rec->uuid, &l->key);
		if (!l->is_uuid)
			l->key = line_key(rec->uuid);
		return;
	}
	sha256(rec->bytes, digest);
	l->digest = keep_digest(p, digest);
}

/* ---- What it says of other lines ----------------------------------------------- */

static const struct uuid *keep_key(struct part *p, struct str uuid)
{
	struct uuid *out;

	if (!uuid.n || !is_name(uuid))
		return NULL;
	out = arena_alloc(&p->mem, sizeof *out);
	*out = line_key(uuid);
	return out;
}

static struct seen_line *seen_slot(const struct part_reader *r, const struct uuid *key)
{
	return &r->seen[hash64(key->b, UUID_BYTES) % SEEN_LINES];
}

static int64_t find_parent(const struct part_reader *r, const struct uuid *key)
{
	const struct seen_line *s = seen_slot(r, key);

	return s->offset >= 0 && uuid_eq(&s->key, key) ? s->offset : -1;
}

static void note_seen(struct part_reader *r, const struct mirror_line *l)
{
	if (l->uuid.p)
		*seen_slot(r, &l->key) = (struct seen_line){ .key = l->key, .offset = l->offset };
}

/* Whether a turn may begin with it, wherever it hangs: a prompt, a notification, a compaction. */
static bool may_begin_turn(const struct record *rec)
{
	return rec->flags & (RECORD_PROMPT | RECORD_NOTICE | RECORD_TASK | RECORD_COMPACT | RECORD_BOUNDARY);
}

/* Whether it is a message that neither a person nor a model said: what the client tells the model. */
static bool is_own_message(const struct record *rec)
{
	return rec->type == RECORD_ATTACHMENT || (rec->type == RECORD_SYSTEM && (rec->flags & RECORD_SENT));
}

static void note_relations(struct part *p, struct part_reader *r, struct mirror_line *l, const struct record *rec)
{
	_Static_assert((unsigned)ENTRY_TURN > (unsigned)RECORD_ENQUEUED, "of a record's own flags none is the store's");
	l->flags = rec->flags | (may_begin_turn(rec) ? ENTRY_TURN : 0) | (is_own_message(rec) ? ENTRY_MESSAGE : 0) |
		   (rec->flags & RECORD_ENQUEUED ? RECORD_QUEUED : 0);
	l->parent = keep_key(p, rec->parent);
	l->parent_at = l->parent ? find_parent(r, l->parent) : -1;
	l->link = keep_key(p, rec->link);
	l->content = rec->uuid.n ? record_content(&r->records, rec) : 0;
	if (rec->type == RECORD_SUMMARY && l->link)
		l->summary = arena_str(&p->mem, shown(record_title(&r->records, rec)));
	l->agent = rec->flags & RECORD_EMBEDDED ? arena_str(&p->mem, shown(rec->agent)) : (struct str){ 0 };
	/* What is told of a sub-agent is of a conversation of its own: nothing here hangs on it by where it stands. */
	if (!(rec->flags & RECORD_EMBEDDED))
		note_seen(r, l);
}

/* Of several records without the id of a message each is one of its own. Lines of one
 * message mostly stand together; then the first of them says it for all. */
static void note_usage(struct part *p, struct part_reader *r, struct mirror_line *l, const struct record *rec)
{
	struct str name = rec->message_id.n ? rec->message_id : rec->uuid.n ? rec->uuid : rec->bytes;
	struct record_usage u;
	struct mirror_usage *out;
	struct tokens told;

	if (!record_usage(&r->records, rec, &u))
		return;
	told = (struct tokens){
		.message = hash64(name.p, name.n),
		.input = u.input,
		.output = u.output,
		.written = u.write,
		.written_1h = u.write_1h,
		.read = u.read,
		.fast = u.fast,
		.final = (rec->flags & RECORD_STOPPED) != 0,
		.copied = rec->link.n > 0,
	};
	if (p->usage && p->usage->told.message == told.message && rec->message_id.n) {
		tokens_raise(&p->usage->told, &told);
		return;
	}
	p->usage = out = arena_alloc(&p->mem, sizeof *out);
	*out = (struct mirror_usage){ .model = arena_str(&p->mem, shown(rec->model)), .told = told };
	l->usage = out;
}

static void keep_tools(struct part *p, struct part_reader *r, struct mirror_line *l)
{
	if (!r->tool_count)
		return;
	l->tools = memcpy(arena_alloc(&p->mem, r->tool_count * sizeof *r->tools), r->tools,
			  r->tool_count * sizeof *r->tools);
	l->tool_count = (uint32_t)r->tool_count;
}

/* The text in hand is what the line says outside of blocks. */
static void note_queue(const struct part_reader *r, struct mirror_line *l, const struct record *rec)
{
	static const enum mirror_queue queues[] = { [QUEUE_NONE] = MIRROR_QUEUE_NONE,
						    [QUEUE_ADD] = MIRROR_QUEUE_ADD,
						    [QUEUE_TAKE] = MIRROR_QUEUE_TAKE,
						    [QUEUE_BACK] = MIRROR_QUEUE_BACK };

	l->queue = queues[record_queue(&r->records, rec)];
	if (rec->flags & RECORD_ENQUEUED)
		l->said = hash_said(buf_as_str(&r->text));
	else if (rec->flags & RECORD_QUEUED)
		note_said(r, l, rec);
}

/* ---- A record ------------------------------------------------------------------ */

static void add_record(struct part *p, struct part_reader *r, const struct record *rec, int64_t offset)
{
	struct mirror_line *l = new_line(p, offset, (int64_t)rec->bytes.n);
	struct block_cursor at = { 0 };
	enum record_place place;
	struct record_block b;

	l->type = (uint8_t)rec->type;
	l->has_time = rec->has_time;
	l->at = rec->at;
	name_line(p, l, rec);
	find_first(r, l, rec);
	note_relations(p, r, l, rec);
	note_usage(p, r, l, rec);
	l->goes_on = rec->type == RECORD_LAST_PROMPT && (l->link || (rec->flags & RECORD_EXPLICIT));
	l->aside = (rec->flags & RECORD_SIDECHAIN) && !p->mirror.agent.n;
	if (!(rec->flags & RECORD_EMBEDDED))
		note_session(p, r, rec, offset);
	p->record_at = p->packed.n;
	r->tool_count = 0;
	while (l->blocks < LIMIT_LINE_BLOCKS && record_block(&r->records, rec, &at, &b))
		add_block(p, r, l, rec, &b);
	keep_tools(p, r, l);
	note_changed(p, r, rec, offset);
	buf_clear(&r->text);
	record_text(&r->records, rec, &r->text);
	set_marks(p, r, l, rec, NULL);
	place = record_is_typed(l->flags)	 ? PLACE_PROMPT :
		rec->type == RECORD_ATTACHMENT ? PLACE_CLIENT :
						 PLACE_OTHER;
	note_names(p, rec, place, buf_as_str(&r->text), offset);
	add_docs(p, r, l, place, UINT32_MAX);
	note_queue(r, l, rec);
}

void part_begin_line(struct part_reader *r, struct str line, int64_t offset)
{
	r->line = line;
	r->offset = offset;
	record_begin(&r->records, record_line(line, offset));
}

bool part_add_record(struct part *p, struct part_reader *r)
{
	struct record rec, inner;
	int64_t at;

	if (!record_next(&r->records, &rec))
		return false;
	at = r->offset + (rec.bytes.p - r->line.p);
	p->last_line = p->mirror.line_count;
	p->last_doc = p->doc_count;
	p->last_packed = p->packed.n;
	add_record(p, r, &rec, at);
	p->mirror.to = at + (int64_t)rec.bytes.n;
	if (record_embedded(&r->records, &rec, &inner))
		add_record(p, r, &inner, r->offset + (inner.bytes.p - r->line.p));
	return true;
}

bool part_last_is_broken(const struct part *p)
{
	return p->lines[p->last_line].type == RECORD_BROKEN;
}

struct str part_last_uuid(const struct part *p)
{
	return p->lines[p->last_line].uuid;
}

void part_drop_last(struct part *p)
{
	p->mirror.line_count = p->last_line;
	p->doc_count = p->last_doc;
	p->packed.n = p->last_packed;
}

void part_add_unread(struct part *p, int64_t offset, int64_t length, const uint8_t digest[SHA256_BYTES])
{
	struct mirror_line *l = new_line(p, offset, length);

	l->type = RECORD_BROKEN;
	l->digest = keep_digest(p, digest);
}

/* ---- Papers -------------------------------------------------------------------- */

/* The file or line in hand. */
struct papering {
	struct part *part;
	int64_t offset, length;
	bool is_line;
	uint8_t digest[SHA256_BYTES]; /* of a line */
};

/* A text without words is none that could be found. */
static bool add_paper(void *ctx, const struct paper_text *t)
{
	const struct papering *y = ctx;
	struct part *p = y->part;
	uint32_t docs = 0;
	bool typed = claude_kind_of(p->job->path) == CLAUDE_HISTORY;

	add_docs_of(p, STR(""), t->text, typed ? PLACE_PROMPT : PLACE_OTHER, t->part, &docs);
	if (!docs)
		return true;
	p->texts = grow(p->texts, &p->text_cap, p->papers.count, sizeof *p->texts);
	p->texts[p->papers.count++] = (struct paper_new){
		.offset = y->offset,
		.length = y->length,
		.part = t->part,
		.at = t->at,
		.has_session = t->has_session,
		.typed = t->typed,
		.session = t->session,
		.project = t->project.p ? arena_str(&p->mem, t->project) : (struct str){ 0 },
		.docs = docs,
		.has_digest = y->is_line,
	};
	if (y->is_line)
		memcpy(p->texts[p->papers.count - 1].digest, y->digest, SHA256_BYTES);
	return p->packed.n - p->record_at < LIMIT_LINE_WORDS;
}

void part_add_papers(struct part *p, struct paper_reader *r, struct str bytes, int64_t offset)
{
	struct papering y = { .part = p, .offset = offset, .length = (int64_t)bytes.n };

	y.is_line = paper_has_lines(claude_kind_of(p->job->path));
	if (y.is_line)
		sha256(bytes, y.digest);
	p->record_at = p->packed.n;
	paper_texts(r, p->job->path, bytes, add_paper, &y);
}
