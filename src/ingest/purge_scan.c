/*
 * Where everything stands that a purge takes: every source is looked through, three times.
 *
 * First those that are to go as a whole, and those that have a line that was asked for: this gives hashes of
 * lines. All versions of a file are read, because an older one may have other bytes with the same uuid.
 * Prompts among them are looked for where the client noted them, too (purge_prompt.c). Then, if sessions go,
 * the other sessions: a line that one of them has, byte for byte, is spared. Last all files, for what has one
 * of the hashes: the same bytes may stand where nobody looks for uuids.
 *
 * Reading everything takes a second for a gigabyte; lines are hashed only if one of their length is looked
 * for.
 */
#include "ingest/purge_scan.h"

#include "base/split.h"
#include "claude/layout.h"
#include "claude/record.h"
#include "claude/typed.h"
#include "ingest/purge_prompt.h"
#include "ingest/scrub.h"
#include "store/find.h"
#include "store/gap.h"
#include "store/session.h"

#include <string.h>

struct scanning {
	struct purge_list *l;
	struct store *s;
	const struct purge_wanted *w;
	const struct purge_options *o;
	struct purge_report *report;
	int64_t done, total;
	/* While a source is read: */
	const struct source_info *info;
	struct purge_source *source;
	int64_t generation;
	struct record_reader records;
	struct typed_reader typed;
	bool first; /* look: prompts are still being found */
	struct purge_prompt *prompts; /* that go */
};

static void scanning_release(struct scanning *f)
{
	record_reader_release(&f->records);
	typed_reader_release(&f->typed);
}

/* ---- Hashes ------------------------------------------------------------------- */

static void add_hash(struct scanning *f, const uint8_t hash[SHA256_BYTES], int64_t length, bool everywhere)
{
	struct purge_list *l = f->l;
	struct str key = str_from((const char *)hash, SHA256_BYTES);
	struct purge_line *line = map_get(&l->lines, key);
	unsigned bit = line_length_bit(length);

	if (!line) {
		line = arena_alloc(&l->mem, sizeof *line);
		memcpy(line->hash, hash, SHA256_BYTES);
		line->next = l->first_line;
		l->first_line = line;
		map_put(&l->lines, str_from((const char *)line->hash, SHA256_BYTES), line);
	}
	l->lengths[bit / 64] |= UINT64_C(1) << bit % 64;
	line->everywhere |= everywhere;
}

static enum status check_cancelled(const struct scanning *f, struct err *err)
{
	return store_is_cancelled(f->s) ? err_fail(err, STATUS_CANCELLED, "stopped; nothing was purged")
					: STATUS_OK;
}

/* Bytes of each version of a source that are its own, from the beginning of a line on. */
typedef enum status version_fn(struct scanning *f, const struct generation *g, int64_t from, struct err *err);

static enum status each_version(struct scanning *f, int64_t source, version_fn *fn, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct generation *list;
	int64_t from = 0;
	size_t count;

	if (generation_list(f->s, source, &mem, &list, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++) {
		enum status status = check_cancelled(f, err);

		if (status == STATUS_OK)
			status = scrub_line_start(f->s, list[i].row, list[i].shared, &from, err);
		f->generation = list[i].row;
		if (status == STATUS_OK && from < list[i].length)
			status = fn(f, &list[i], from, err);
		f->l->damaged |= status == STATUS_CORRUPT;
		if (status == STATUS_CORRUPT)
			log_warn(store_log(f->s), "%.*s: %s; what comes behind it is not looked through",
				 STR_ARG(f->info->path), err->text);
		else if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* Hashes of lines, each given to a function. */
static enum status pour_hashes(void *ctx, struct str bytes, struct err *err)
{
	return line_hasher_add(ctx, bytes, err);
}

static enum status hash_lines(struct scanning *f, const struct generation *g, int64_t from, line_hash_fn *fn,
			      const uint64_t *lengths, struct err *err)
{
	struct line_hasher h;

	line_hasher_begin(&h, &f->l->salt, from, fn, f);
	h.lengths = lengths;
	if (archive_read(f->s, g->row, from, g->length - from, pour_hashes, &h, err))
		return err_failed(err->status);
	return line_hasher_end(&h, err);
}

/* Of a file that goes as a whole. Its lines are known by themselves if they are more than a bracket: other
 * files have those, too. */
static enum status take_own_line(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct scanning *f = ctx;

	(void)err;
	if (line->length >= LIMIT_LINE_TELLING)
		add_hash(f, line->hash, line->length, false);
	return STATUS_OK;
}

static enum status hash_whole(struct scanning *f, const struct generation *g, int64_t from, struct err *err)
{
	return hash_lines(f, g, from, take_own_line, NULL, err);
}

/* ---- Lines by what they say ----------------------------------------------------- */

static bool has_uuid(const struct scanning *f, const struct record *r)
{
	struct uuid key;

	if (!r->uuid.n)
		return false;
	key = line_key(r->uuid);
	return map_get(&f->w->uuids, purge_id_key(&key)) != NULL;
}

static bool is_nameless(const struct scanning *f, int64_t offset, int64_t length)
{
	for (const struct purge_place *n = f->w->nameless; n; n = n->next)
		if (n->generation == f->generation && offset <= n->offset && n->offset < offset + length)
			return true;
	return false;
}

static bool says_typed(struct scanning *f, const struct split_line *line)
{
	struct typed typed;
	struct uuid session;

	return typed_read(&f->typed, line->text, &typed) && uuid_parse(typed.session, &session) &&
	       (map_get(&f->l->sessions, purge_id_key(&session)) || purge_prompt_typed(f->prompts, &session, &typed));
}

static bool says(struct scanning *f, const struct split_line *line)
{
	struct record r, inner;

	if (claude_kind_of(f->info->path) == CLAUDE_HISTORY)
		return says_typed(f, line);
	record_begin(&f->records, record_line(line->text, line->offset));
	while (record_next(&f->records, &r)) {
		if (has_uuid(f, &r)) {
			if (f->first)
				purge_prompt_add(&f->prompts, &f->records, &r, &f->l->mem);
			return true;
		}
		if (record_embedded(&f->records, &r, &inner) && has_uuid(f, &inner))
			return true;
		if (!r.uuid.n && !f->first && purge_prompt_again(f->prompts, &f->records, &r))
			return true;
	}
	return false;
}

/* Lines too long to be read have no uuid, and no text here: their hash is made when they are found
 * by their place. */
static bool take_line(void *ctx, const struct split_line *line)
{
	struct scanning *f = ctx;
	uint8_t hash[SHA256_BYTES];

	if (line->text.p && (is_nameless(f, line->offset, line->length) || says(f, line)) &&
	    line_hash(&f->l->salt, line->text, hash))
		add_hash(f, hash, line->length, true);
	return true;
}

static enum status pour_lines(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	split_add(ctx, bytes);
	return STATUS_OK;
}

static enum status take_long_line(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct scanning *f = ctx;

	(void)err;
	if (line->length > (int64_t)LIMIT_LINE_PARSED && is_nameless(f, line->offset, line->length))
		add_hash(f, line->hash, line->length, true);
	return STATUS_OK;
}

static enum status read_version(struct scanning *f, const struct generation *g, int64_t from, struct err *err)
{
	struct split split CLEANUP(split_release) = { 0 };

	split_begin(&split, LIMIT_LINE_PARSED, from, take_line, f);
	if (archive_read(f->s, g->row, from, g->length - from, pour_lines, &split, err))
		return err_failed(err->status);
	split_end(&split);
	return f->w->nameless ? hash_lines(f, g, from, take_long_line, NULL, err) : STATUS_OK;
}

/* The first look at every source: which files go, which lines. */
static enum status look_first(void *ctx, const struct source_info *i, struct err *err)
{
	struct scanning *f = ctx;
	struct uuid session;

	f->total += i->bytes;
	f->info = i;
	if ((claude_session_of(i->path, &session) && map_get(&f->l->sessions, purge_id_key(&session))) ||
	    map_get(&f->w->beside, i->path))
		purge_list_source(f->l, i->row)->whole = true;
	if (map_get(&f->l->sources, purge_row_key(&i->row)))
		return claude_file_has_lines(i->path) ? each_version(f, i->row, hash_whole, err) : STATUS_OK;
	return map_get(&f->w->looked, purge_row_key(&i->row)) ? each_version(f, i->row, read_version, err)
							      : STATUS_OK;
}

/* When all prompts are known: what else the client has noted of them, and of sessions that go. */
static enum status look_for_prompts(void *ctx, const struct source_info *i, struct err *err)
{
	struct scanning *f = ctx;
	bool is_history = claude_kind_of(i->path) == CLAUDE_HISTORY;

	f->info = i;
	if (map_get(&f->l->sources, purge_row_key(&i->row)))
		return STATUS_OK;
	return is_history || (f->prompts && map_get(&f->w->looked, purge_row_key(&i->row)))
		       ? each_version(f, i->row, read_version, err)
		       : STATUS_OK;
}

/* ---- Every file ----------------------------------------------------------------- */

static enum status meet_line(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct scanning *f = ctx;
	struct purge_line *known = map_get(&f->l->lines, str_from((const char *)line->hash, SHA256_BYTES));

	(void)err;
	if (known && !known->everywhere) {
		f->report->shared += !known->spared;
		known->spared = true;
	}
	return STATUS_OK;
}

static enum status count_line(void *ctx, const struct hashed_line *line, struct err *err)
{
	struct scanning *f = ctx;
	const struct purge_line *known = map_get(&f->l->lines,
						 str_from((const char *)line->hash, SHA256_BYTES));

	(void)err;
	if (!f->source->whole && (!known || known->spared))
		return STATUS_OK;
	f->source->lines++;
	f->source->bytes += line->length;
	return STATUS_OK;
}

static enum status meet_version(struct scanning *f, const struct generation *g, int64_t from, struct err *err)
{
	return hash_lines(f, g, from, meet_line, f->l->lengths, err);
}

static enum status count_version(struct scanning *f, const struct generation *g, int64_t from,
				 struct err *err)
{
	int64_t gone;

	if (!f->source->whole || claude_file_has_lines(f->info->path))
		return hash_lines(f, g, from, count_line, f->source->whole ? NULL : f->l->lengths, err);
	if (gap_bytes(f->s, g->row, g->shared, g->length - g->shared, &gone, err))
		return err_failed(err->status);
	f->source->bytes += g->length - g->shared - gone;
	return STATUS_OK;
}

/* The second: which lines other sessions have. */
static enum status look_for_shared(void *ctx, const struct source_info *i, struct err *err)
{
	struct scanning *f = ctx;
	struct transcript_name name;

	f->info = i;
	if (!record_transcript_of_path(i->path, &name) || map_get(&f->l->sources, purge_row_key(&i->row)))
		return STATUS_OK;
	return each_version(f, i->row, meet_version, err);
}

static enum status tell_file(struct scanning *f, struct err *err)
{
	const struct purge_source *p = f->source;
	struct purge_file file = { p->root, p->path, p->lines, p->bytes, p->whole };

	if (!p->bytes)
		return STATUS_OK;
	f->report->lines += p->lines;
	f->report->bytes += p->bytes;
	f->report->files++;
	f->report->whole += p->whole;
	return f->o->file ? f->o->file(f->o->ctx, &file, err) : STATUS_OK;
}

/* The last: what goes from each. */
static enum status look_last(void *ctx, const struct source_info *i, struct err *err)
{
	struct scanning *f = ctx;
	struct purge_source none = { 0 }, *p = map_get(&f->l->sources, purge_row_key(&i->row));

	f->info = i;
	f->source = p ? p : &none;
	if (each_version(f, i->row, count_version, err))
		return err_failed(err->status);
	f->done += i->bytes;
	if (f->o->progress)
		f->o->progress(f->o->ctx, "looking", f->done, f->total);
	if (!p && !none.lines)
		return STATUS_OK;
	if (!p) {
		p = purge_list_source(f->l, i->row);
		p->lines = none.lines;
		p->bytes = none.bytes;
	}
	p->id = i->id;
	p->host = arena_str(&f->l->mem, i->host);
	p->root = arena_str(&f->l->mem, i->root);
	p->path = arena_str(&f->l->mem, i->path);
	f->source = p;
	return tell_file(f, err);
}

static bool has_own_lines(const struct purge_list *l)
{
	for (const struct purge_line *line = l->first_line; line; line = line->next)
		if (!line->everywhere)
			return true;
	return false;
}

enum status purge_scan(struct purge_list *l, struct store *s, const struct purge_wanted *w,
		       const struct purge_options *o, struct purge_report *report, struct err *err)
{
	struct scanning f CLEANUP(scanning_release) = {
		.l = l, .s = s, .w = w, .o = o, .report = report, .first = true
	};
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	if (read_begin(s, &snapshot, err) || source_each(s, look_first, &f, err))
		return err_failed(err->status);
	f.first = false;
	if ((l->sessions.count || f.prompts) && source_each(s, look_for_prompts, &f, err))
		return err_failed(err->status);
	if (has_own_lines(l) && source_each(s, look_for_shared, &f, err))
		return err_failed(err->status);
	return source_each(s, look_last, &f, err);
}
