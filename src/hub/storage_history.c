/*
 * storage.history: what somebody typed, from history.jsonl.
 *
 * The client appends a line for each prompt and command, of all sessions and projects. The
 * newest version of each such file is read from its beginning to its end; lines that are
 * wanted are kept as they are, sorted by time, and only those that are given are taken
 * apart again. A line without a time stands where the line before it stands.
 *
 * Where several folders are mirrored, one may be a copy of another: a line that stands in an
 * earlier file as well is given once.
 *
 * Words are those of a search, so case and accents do not matter; but a file of prompts is
 * small, so here the beginning of a word is enough.
 */
#include "hub/storage_files.h"

#include "base/map.h"
#include "base/split.h"
#include "base/words.h"
#include "claude/layout.h"
#include "claude/typed.h"
#include "hub/kept.h"
#include "hub/narrow.h"
#include "hub/period.h"
#include "store/archive.h"

#include <stdlib.h>
#include <string.h>

static const struct param history_params[] = {
	{ .name = "words",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD | PARAM_REST,
	  .shown = "WORDS",
	  .help = "only what has all of these words, or words that begin so" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .letter = 'p',
	  .shown = "DIR",
	  .names = "memory.projects",
	  .help = "only in this folder and below; its name, or the end of its path, will do" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .letter = 's',
	  .shown = "ID",
	  .names = "memory.sessions",
	  .help = "only in this session; @ for the last" },
	PERIOD_PARAMS("only"),
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "50",
	  .least = 0,
	  .most = INT32_MAX,
	  .help = "at most so many; 0 for all" },
	{ 0 },
};

static const struct field history_fields[] = {
	{ .name = "at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "when it was typed" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .flags = FIELD_OPTIONAL | FIELD_SHORT,
	  .help = "folder it was typed in" },
	{ .name = "text", .type = VALUE_TEXT, .flags = FIELD_KEY | FIELD_STRETCH, .help = "what was typed" },
	{ .name = "session",
	  .type = VALUE_TEXT,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "id of the session it was typed into" },
	{ .name = "pasted",
	  .type = VALUE_JSON,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "what was pasted into it, as the client has it" },
	{ .name = "root", .type = VALUE_TEXT, .flags = FIELD_HIDDEN, .help = "label of the mirrored folder" },
	{ .name = "vanished_at",
	  .type = VALUE_TIME,
	  .flags = FIELD_OPTIONAL | FIELD_HIDDEN,
	  .help = "when the history was gone outside the store" },
	{ 0 },
};

struct entry {
	int64_t at;
	size_t order; /* in which it was read */
	int64_t vanished_at;
	struct str line; /* in the call's arena */
	const char *root;
};

struct listing {
	struct call *call;
	struct narrow narrow;
	struct period period;
	struct buf words;  /* packed, of all that was asked for */
	struct str *signs; /* asked for and no words: have to stand there as they are */
	size_t sign_count;
	struct typed_reader reader;
	struct buf text, text_words;
	struct entry *list;
	size_t count, room;
	struct map first; /* line -> the first of the files that have it: its `root` */
	/* Of the file being read. */
	char *root; /* label of its folder, in the arena */
	int64_t at, vanished_at;
	/* Of all. */
	int64_t failed, odd;
	bool any_gone;
};

static void listing_release(struct listing *l)
{
	typed_reader_release(&l->reader);
	buf_release(&l->words);
	buf_release(&l->text);
	buf_release(&l->text_words);
	map_release(&l->first);
	mem_free(l->list);
}

/* ---- Which ------------------------------------------------------------------ */

static bool has_word(struct str packed, struct str wanted)
{
	struct str word;
	unsigned flags;

	while (words_next(&packed, &word, &flags))
		if (str_has_prefix(word, wanted))
			return true;
	return false;
}

static bool has_words(struct listing *l, const struct typed *t)
{
	struct str wanted, left = buf_as_str(&l->words);
	unsigned flags;

	if (!left.n && !l->sign_count)
		return true;
	buf_clear(&l->text);
	buf_clear(&l->text_words);
	typed_text(&l->reader, t, &l->text);
	for (size_t i = 0; i < l->sign_count; i++)
		if (!l->text.n || !memmem(l->text.p, l->text.n, l->signs[i].p, l->signs[i].n))
			return false;
	words_pack(&l->text_words, buf_as_str(&l->text));
	while (words_next(&left, &wanted, &flags))
		if (!has_word(buf_as_str(&l->text_words), wanted))
			return false;
	return true;
}

static bool is_wanted(struct listing *l, const struct typed *t)
{
	return period_has(&l->period, l->at) && narrow_has_session(&l->narrow, t->session) &&
	       narrow_has_project(&l->narrow, t->project) && has_words(l, t);
}

/* ---- Reading ---------------------------------------------------------------- */

static void keep(struct listing *l, struct str line)
{
	const char *first = map_get(&l->first, line);

	if (first && first != l->root)
		return;
	line = arena_str(&l->call->mem, line);
	map_put(&l->first, line, l->root);
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 256;
		l->list = mem_resize(l->list, l->room * sizeof *l->list);
	}
	l->list[l->count] = (struct entry){ .at = l->at,
					    .order = l->count,
					    .vanished_at = l->vanished_at,
					    .line = line,
					    .root = l->root };
	l->count++;
}

static bool take_line(void *ctx, const struct split_line *line)
{
	struct listing *l = ctx;
	struct typed t;

	if (!line->text.p || !typed_read(&l->reader, line->text, &t)) {
		l->odd += !line->text.p || str_trim(line->text).n;
		return true;
	}
	if (t.has_time)
		l->at = t.at;
	if (is_wanted(l, &t))
		keep(l, line->text);
	return true;
}

static enum status take_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct split *s = ctx;
	const struct listing *l = s->ctx;

	if (call_is_cancelled(l->call))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	split_add(s, bytes);
	return STATUS_OK;
}

static enum status take_file(void *ctx, const struct source_info *file, struct err *err)
{
	struct listing *l = ctx;
	struct split split CLEANUP(split_release);
	int64_t odd;

	split_begin(&split, LIMIT_LINE_PARSED, 0, take_line, l);
	if (!file->generation || claude_kind_of(file->path) != CLAUDE_HISTORY)
		return STATUS_OK;
	l->at = 0;
	l->root = arena_alloc(&l->call->mem, file->root.n + 1);
	memcpy(l->root, file->root.p, file->root.n);
	l->vanished_at = file->vanished_at;
	l->any_gone |= file->vanished_at != 0;
	if (archive_read(l->call->store, file->generation, 0, file->bytes, take_bytes, &split, err)) {
		err_wrap(err, "%.*s", STR_ARG(kept_name(l->call, file)));
		return kept_excuse(l->call, err, &l->failed) ? STATUS_OK : err_failed(err->status);
	}
	/* A last line that is not finished is not odd yet. */
	odd = l->odd;
	split_end(&split);
	l->odd = odd;
	return STATUS_OK;
}

/* ---- Giving ----------------------------------------------------------------- */

static int newest_first(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->at != b->at)
		return a->at > b->at ? -1 : 1;
	return a->order > b->order ? -1 : a->order < b->order;
}

static enum status emit_entry(struct listing *l, const struct entry *e, struct err *err)
{
	struct json_writer *w = call_begin(l->call);
	struct typed t;

	if (!typed_read(&l->reader, e->line, &t))
		return err_fail(err, STATUS_INTERNAL, "a line that was read cannot be read again");
	if (t.has_time)
		put_time(w, "at", t.at);
	if (t.project.p)
		put_path(w, "project", t.project);
	put_text(w, "text", t.display);
	if (t.session.p)
		put_text(w, "session", t.session);
	if (t.pasted != JSON_NONE) {
		json_write_key(w, STR("pasted"));
		json_copy(w, &l->reader.json, t.pasted);
	}
	put_text(w, "root", str_of(e->root));
	if (e->vanished_at)
		put_time(w, "vanished_at", e->vanished_at);
	return call_emit(l->call, err);
}

static enum status emit_all(struct listing *l, struct err *err)
{
	size_t limit = (size_t)call_int(l->call, "limit");
	size_t shown = limit && limit < l->count ? limit : l->count;
	const char *gone = l->any_gone ? "; history.jsonl is gone, this is what was kept of it" : "";

	if (l->count)
		qsort(l->list, l->count, sizeof *l->list, newest_first);
	for (size_t i = 0; i < shown; i++)
		if (emit_entry(l, &l->list[i], err))
			return err_failed(err->status);
	if (l->odd)
		log_warn(l->call->log, "%" PRId64 " line%s of the history cannot be understood", l->odd,
			 l->odd == 1 ? "" : "s");
	if (shown < l->count)
		call_note(l->call, "%zu of %zu; -n 0 lists all%s", shown, l->count, gone);
	else if (l->any_gone && shown)
		call_note(l->call, "%zu%s", shown, gone);
	if (narrow_end(&l->narrow, l->count, err))
		return err_failed(err->status);
	return kept_end(l->failed, err);
}

static void pack_words(struct listing *l)
{
	const struct value *words = call_value(l->call, "words");

	l->signs = arena_alloc(&l->call->mem, (words->count + 1) * sizeof *l->signs);
	for (size_t i = 0; i < words->count; i++)
		if (!words_pack(&l->words, words->list[i]) && words->list[i].n)
			l->signs[l->sign_count++] = words->list[i];
}

static enum status run_history(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct listing l CLEANUP(listing_release) = {
		.call = c,
		.period = period_read(c, &zone_local),
		.words = BUF_INIT(MIB),
		.text = BUF_INIT(2 * LIMIT_LINE_PARSED),
		.text_words = BUF_INIT(LIMIT_LINE_WORDS),
	};

	pack_words(&l);
	if (read_begin(c->store, &snapshot, err) || narrow_read(c, &l.narrow, err) ||
	    source_each_below(c->store, STR("history.jsonl"), take_file, &l, err))
		return err_failed(err->status);
	return emit_all(&l, err);
}

const struct method storage_history = {
	.name = "history",
	.verb = "history",
	.also = "prompts typed",
	.group = "about",
	.summary = "List what was typed, the newest first",
	.text = "Prompts and commands of all sessions, as the client keeps them for its arrow keys;\n"
		"also of sessions whose transcript is long deleted. Without WORDS everything. -0 ends\n"
		"each with a NUL, for fzf and the like. --json has what was pasted, too.\n",
	.params = history_params,
	.kind = RESULT_STREAM,
	.fields = history_fields,
	.empty = "nothing was typed, or nothing like that",
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "history", "what was typed last" },
					      { "history build --project parser",
						"with a word, in one project" },
					      { "history --since 2026-10-01 -n 0 -0 | sort -zu",
						"for other programs" },
					      { 0 } },
	.run = run_history,
};
