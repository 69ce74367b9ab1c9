/*
 * Fuzzes all that is made of transcripts: up to three of them become chains, a forest, trees, and
 * what the model is sent.
 *
 * A line of the input that begins with "{" is one of a transcript; "=" begins the next. Any
 * other is shorthand, a byte for each, from which a line is written: kind, name, parent, API
 * message, two calls, content, seconds, the line it names. "." is none.
 *
 * Whatever the bytes: what holds for every forest (test/harness/talk.h); the same from files in
 * another order; each tree has a line that names it, and everything its place in one; all that is shown lies on a way
 * that begins somewhere; each message that is sent is JSON; calls and results that are sent are paired.
 */
#include "query/context.h"
#include "query/grove.h"
#include "query/ways.h"
#include "talk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 3, MOST_LINES = 400, MOST_BYTES = 64 * 1024 };

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* ---- Lines ----------------------------------------------------------------------- */

static char at(struct str line, size_t i)
{
	return i < line.n ? line.p[i] : '.';
}

static unsigned small(char c)
{
	return (unsigned char)c & 31;
}

static void put_name(struct buf *out, const char *key, const char *prefix, char c)
{
	if (c != '.')
		buf_printf(out, ",\"%s\":\"%s%u\"", key, prefix, small(c));
}

static void put_blocks(struct buf *out, struct str line, bool calls)
{
	const char *before = "";

	buf_text(out, ",\"content\":[");
	for (size_t i = 4; i < 6; i++)
		if (at(line, i) != '.') {
			if (calls)
				buf_printf(out,
					   "%s{\"type\":\"tool_use\",\"id\":\"c%u\",\"name\":\"n\",\"input\":"
					   "{}}",
					   before, small(at(line, i)));
			else
				buf_printf(out,
					   "%s{\"type\":\"tool_result\",\"tool_use_id\":\"c%u\",\"content\":"
					   "\"r\"}",
					   before, small(at(line, i)));
			before = ",";
		}
	if (at(line, 6) == ' ')
		buf_printf(out, "%s{\"type\":\"thinking\",\"thinking\":\"hm\"}", before);
	else if (at(line, 6) != '.')
		buf_printf(out, "%s{\"type\":\"text\",\"text\":\"t%u\"}", before, small(at(line, 6)));
	buf_text(out, "]");
}

static void put_metadata(struct buf *out, struct str line)
{
	buf_text(out, ",\"subtype\":\"compact_boundary\",\"compactMetadata\":{");
	if (at(line, 3) == 'p')
		buf_printf(out, "\"preservedMessages\":{\"anchorUuid\":\"n%u\",\"uuids\":[\"n%u\",\"n%u\"]}",
			   small(at(line, 4)), small(at(line, 5)), small(at(line, 6)));
	else
		buf_printf(out,
			   "\"preservedSegment\":{\"anchorUuid\":\"n%u\",\"headUuid\":\"n%u\",\"tailUuid\":"
			   "\"n%u\"}",
			   small(at(line, 4)), small(at(line, 5)), small(at(line, 6)));
	buf_text(out, "}");
	put_name(out, "logicalParentUuid", "n", at(line, 8));
}

static void put_line(struct buf *out, struct str line)
{
	static const struct {
		char kind;
		const char *type, *rest;
	} kinds[] = {
		{ 'a', "assistant", "" },
		{ 'e', "assistant", ",\"isApiErrorMessage\":true" },
		{ 'u', "user", "" },
		{ 'm', "user", ",\"isMeta\":true" },
		{ 'c', "user", ",\"isCompactSummary\":true" },
		{ 's', "system", ",\"content\":\"s\"" },
		{ 'b', "system", "" },
		{ 't', "attachment", ",\"attachment\":{\"type\":\"x\"}" },
		{ 'q', "attachment", ",\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"p\"}" },
		{ 'p', "progress", "" },
		{ 'l', "last-prompt", ",\"explicit\":true" },
	};
	size_t k = 0;

	while (k + 1 < COUNT(kinds) && kinds[k].kind != (at(line, 0) | 0x20))
		k++;
	buf_printf(out, "{\"type\":\"%s\"%s", kinds[k].type, kinds[k].rest);
	if (at(line, 0) & 0x20 ? 0 : kinds[k].kind != 'l')
		buf_text(out, ",\"isSidechain\":true");
	put_name(out, "uuid", "n", at(line, 1));
	put_name(out, "parentUuid", "n", at(line, 2));
	if (at(line, 7) != '.')
		buf_printf(out, ",\"timestamp\":\"2026-01-01T00:00:%02u.000Z\"", small(at(line, 7)));
	if (kinds[k].kind == 'b')
		put_metadata(out, line);
	else if (kinds[k].kind == 'l')
		put_name(out, "leafUuid", "n", at(line, 8));
	else if (at(line, 8) != '.')
		buf_printf(out, ",\"forkedFrom\":{\"messageUuid\":\"n%u\"}", small(at(line, 8)));
	if (str_eq(str_of(kinds[k].type), STR("assistant")) || str_eq(str_of(kinds[k].type), STR("user"))) {
		buf_printf(out, ",\"message\":{\"role\":\"%s\"", kinds[k].type);
		put_name(out, "id", "m", at(line, 3));
		put_blocks(out, line, str_eq(str_of(kinds[k].type), STR("assistant")));
		buf_text(out, "}");
	}
	buf_text(out, "}");
}

/* The transcripts in an input. */
struct script {
	struct buf texts[FILES];
	size_t count;
};

static void read_script(struct script *s, struct str input)
{
	size_t lines = 0;

	s->count = 1;
	for (size_t i = 0; i < FILES; i++)
		buf_init(&s->texts[i], MIB);
	while (input.n && lines++ < MOST_LINES) {
		struct str line = str_cut(input, '\n', &input);
		struct buf *out = &s->texts[s->count - 1];

		if (str_eq(line, STR("=")) && s->count < FILES) {
			s->count++;
			continue;
		}
		if (at(line, 0) == '{')
			buf_str(out, line);
		else
			put_line(out, line);
		buf_byte(out, '\n');
	}
}

/* ---- From lines to chains, as ingest and store do it --------------------------------------- */

static bool is_name(struct str uuid)
{
	return uuid.n > 0 && uuid.n <= LIMIT_LINE_UUID && !str_has_byte(uuid, '\0');
}

static void add_record(struct chain *c, const struct record_reader *r, const struct record *rec,
		       int64_t offset)
{
	uint64_t tools[64];
	struct entry_line l = {
		.offset = offset,
		.length = (int64_t)rec->bytes.n,
		.at = rec->has_time ? rec->at : 0,
		.type = (int)rec->type,
		.flags = rec->flags,
		.parent_at = -1,
		.has_key = is_name(rec->uuid),
		.has_parent = is_name(rec->parent),
		.has_link = is_name(rec->link),
		.has_message = (rec->type == RECORD_USER || rec->type == RECORD_ASSISTANT) &&
			       rec->message_id.n,
		.message = hash64(rec->message_id.p, rec->message_id.n),
		.content = rec->uuid.n ? record_content(r, rec) : 0,
		.same = hash64(rec->bytes.p, rec->bytes.n),
	};
	struct block_cursor cursor = { 0 };
	struct record_block b;
	size_t count = 0;

	if (l.has_key)
		l.key = line_key(rec->uuid);
	if (l.has_parent)
		l.parent_key = line_key(rec->parent);
	if (l.has_link)
		l.link = line_key(rec->link);
	while (count < COUNT(tools) && record_block(r, rec, &cursor, &b))
		if (b.tool.n)
			tools[count++] = hash64(b.tool.p, b.tool.n);
	l.tools = str_from((const char *)tools, count * sizeof *tools);
	chain_take(c, &l);
}

static void read_file(struct chain *c, struct str text)
{
	struct record_reader r = RECORD_READER_INIT;
	struct str rest = text;

	while (rest.n) {
		struct str line = str_cut(rest, '\n', &rest);
		struct record rec;

		record_begin(&r, line);
		while (record_next(&r, &rec))
			add_record(c, &r, &rec, rec.bytes.p - text.p);
	}
	record_reader_release(&r);
}

static void build(struct forest *f, const struct script *s, bool backwards)
{
	static const char paths[FILES][2] = { "a", "b", "c" };

	for (size_t i = 0; i < s->count; i++) {
		size_t at = backwards ? s->count - 1 - i : i;
		struct forest_source *source = forest_add(f);

		source->session.path = str_of(paths[at]);
		source->agent = at == 2 ? STR("agent") : (struct str){ 0 };
		source->chain.is_agent = at == 2;
		read_file(&source->chain, buf_as_str(&s->texts[at]));
	}
	forest_build(f);
}

/* ---- What has to hold ------------------------------------------------------------------------ */

static void compare(const struct forest *a, const struct forest *b)
{
	must(a->node_count == b->node_count && a->message_count == b->message_count);
	must(a->order_count == b->order_count && a->continues_count == b->continues_count);
	for (uint32_t m = 0; m < a->message_count; m++) {
		const struct forest_message *x = &a->messages[m], *y = &b->messages[m];

		must(x->role == y->role && x->first == y->first && x->count == y->count &&
		     x->prev == y->prev);
		must(x->canonical == y->canonical && x->turn == y->turn && x->branches == y->branches);
		must(x->source == y->source && x->boundary == y->boundary && x->next_copy == y->next_copy);
	}
}

struct sent {
	uint32_t messages;
	struct numbers used, answered; /* calls */
	struct arena mem;
};

static enum status take(void *ctx, const struct context_message *m, struct err *err)
{
	struct sent *s = ctx;
	struct json j;

	json_init(&j);
	must(json_read(&j, m->content, LIMIT_JSON_DEPTH, err) == STATUS_OK &&
	     json_is(&j, json_root(&j), JSON_ARRAY));
	for (uint32_t b = json_first(&j, json_root(&j)); b != json_end(&j, json_root(&j));
	     b = json_next(&j, b)) {
		struct str type = json_string_in(&j, json_get(&j, b, STR("type")), &s->mem);
		struct str call = json_string_in(&j, json_get(&j, b, STR("id")), &s->mem);
		struct str result = json_string_in(&j, json_get(&j, b, STR("tool_use_id")), &s->mem);

		if (str_eq(type, STR("tool_use")) && call.n)
			numbers_put(&s->used, hash64(call.p, call.n), 0);
		if (str_eq(type, STR("tool_result")) && result.n)
			numbers_put(&s->answered, hash64(result.p, result.n), 0);
	}
	s->messages++;
	json_release(&j);
	return STATUS_OK;
}

static void check_pairs(const struct numbers *a, const struct numbers *b)
{
	for (size_t i = 0; i <= a->mask; i++)
		must(!a->slots[i].value_plus_1 || numbers_get(b, a->slots[i].key) != NUMBERS_NONE);
}

/* The bytes stand where those of an unpacked block would: no store is asked. */
static void check_context(const struct chain *c, struct str text, uint32_t line, bool before)
{
	struct lines lines = { .bytes = BUF_INIT(MIB), .line = BUF_INIT(MIB), .end = (int64_t)text.n };
	struct sent s = { 0 };
	struct err err;

	buf_str(&lines.bytes, text);
	s.used = numbers_new(&s.mem, text.n);
	s.answered = numbers_new(&s.mem, text.n);
	must(context_each(&lines, c, line, before, take, &s, &err) == STATUS_OK);
	must(s.messages <= c->line_count + 1);
	check_pairs(&s.used, &s.answered);
	check_pairs(&s.answered, &s.used);
	arena_release(&s.mem);
	lines_release(&lines);
}

static void check_file(const struct forest_source *s, struct str text)
{
	const struct chain *c = &s->chain;
	uint32_t leaf = chain_leaf(c), step = c->line_count / 8 + 1;

	if (leaf != CHAIN_NONE)
		check_context(c, text, leaf, false);
	for (uint32_t i = 0; i < c->line_count; i += step)
		check_context(c, text, i, i % 2);
}

/* Everything that is shown lies on a way, and every way begins somewhere. */
static void check_ways(const struct forest *f, uint32_t source)
{
	struct arena mem = ARENA_INIT;
	struct turns t = { .mem = &mem, .forest = f, .source = source };
	struct ways w = { .turns = &t, .mem = &mem };
	uint32_t shown = 0, step = f->order_count / 16 + 1;

	turns_find(&t);
	ways_find(&w);
	for (uint32_t i = 0; i < f->order_count; i++)
		shown += turns_show(&t, f->order[i]);
	must(w.count == shown);
	for (uint32_t i = 0; i < w.count; i += step) {
		uint32_t count, m = w.order[i];

		ways_path(&w, m, &mem, &count);
		must(count && count <= shown && ways_end(&w, m, i % 2) != FOREST_NONE);
	}
	arena_release(&mem);
}

/* A grove has its forest, which is taken back from it. */
static void check_trees(struct forest *f, uint32_t source)
{
	struct grove g = GROVE_INIT;
	uint32_t messages = 0, events = 0;

	g.forest = *f;
	g.source = source;
	grove_shape(&g);
	for (uint32_t t = 0; t < g.tree_count; t++) {
		must(g.trees[t].root < f->node_count);
		messages += g.trees[t].message_count;
		events += g.trees[t].event_count;
	}
	must(messages == f->order_count && events <= g.event_count);
	for (uint32_t i = 0; i < f->order_count; i++)
		must(g.spots[f->order[i]].tree < g.tree_count);
	*f = g.forest;
	g.forest = (struct forest)FOREST_INIT;
	grove_release(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script s = { 0 };
	struct forest f = FOREST_INIT, again = FOREST_INIT;

	if (size > MOST_BYTES)
		return 0;
	read_script(&s, str_from((const char *)data, size));
	build(&f, &s, false);
	build(&again, &s, true);
	must(!forest_flaw(&f));
	compare(&f, &again);
	for (uint32_t i = 0; i < f.source_count; i++) {
		check_trees(&f, i);
		check_ways(&f, i);
	}
	for (size_t i = 0; i < s.count; i++)
		check_file(&f.sources[i], buf_as_str(&s.texts[i]));
	forest_release(&f);
	forest_release(&again);
	for (size_t i = 0; i < FILES; i++)
		buf_release(&s.texts[i]);
	return 0;
}
