/*
 * arbor.rebuild and arbor.dump: making what follows from the archive anew, and
 * printing what a store means, so that two can be compared.
 *
 * A dump has no row numbers, times of sync or layout in it. Words are not listed
 * but summed up: a document's line has the sum of a hash of each of its words with
 * its position, which is the same in whatever order they are met.
 */
#include "hub/arbor_derived.h"

#include "base/hash.h"
#include "claude/layout.h"
#include "claude/mention.h"
#include "claude/record.h"
#include "hub/call.h"
#include "hub/dump_forest.h"
#include "ingest/rebuild.h"
#include "store/annotation.h"
#include "store/copied.h"
#include "store/gap.h"
#include "store/find.h"
#include "store/fulltext.h"
#include "store/link.h"
#include "store/paper.h"
#include "store/session.h"

#include <stdlib.h>
#include <string.h>

/* ---- arbor.rebuild ------------------------------------------------------------ */

static const struct field rebuild_fields[] = {
	{ .name = "sessions", .type = VALUE_INT, .help = "conversations that were read" },
	{ .name = "messages", .type = VALUE_INT, .help = "in them" },
	{ 0 },
};

static void on_progress(void *ctx, int64_t done, int64_t total)
{
	struct call *c = ctx;

	if (c->sink.progress)
		c->sink.progress(c->sink.ctx, "indexing", done, total);
}

struct counts {
	int64_t sessions, messages;
};

static enum status count_session(void *ctx, const struct session *session, bool *go_on, struct err *err)
{
	struct counts *n = ctx;

	(void)go_on;
	(void)err;
	if (session->agent.n)
		return STATUS_OK;
	n->sessions++;
	n->messages += session->messages;
	return STATUS_OK;
}

static enum status run_rebuild(struct call *c, struct err *err)
{
	struct read_report read = { 0 };
	struct read_options o = { .cancel = c->cancel, .progress = on_progress, .report = &read, .ctx = c };
	struct counts n = { 0 };
	struct json_writer *w;

	if (rebuild_all(c->store, &o, err) ||
	    session_each(c->store, (struct str){ 0 }, count_session, &n, err))
		return err_failed(err->status);
	w = call_begin(c);
	put_int(w, "sessions", n.sessions);
	put_int(w, "messages", n.messages);
	return call_emit(c, err) ? err_failed(err->status) : read_tell_damaged(read.damaged, err);
}

const struct method arbor_rebuild = {
	.name = "rebuild",
	.verb = "rebuild",
	.also = "reindex",
	.group = "store",
	.summary = "Make sessions and search index anew from what is kept",
	.text = "Everything that can be computed from the kept files is dropped and read again. Ids stay "
		"what "
		"they were, and what was made by hand is not touched. There is no need for it unless 'arbor "
		"check' or a search says so; after an update of arbor it happens by itself.\n",
	.kind = RESULT_ONE,
	.fields = rebuild_fields,
	.scope = SCOPE_WRITE,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "rebuild", "read everything again" }, { 0 } },
	.run = run_rebuild,
};

/* ---- arbor.dump --------------------------------------------------------------- */

static const char *const parts[] = { "mirror", "facts", "all", NULL };

static const struct param dump_params[] = {
	{ .name = "logical",
	  .type = VALUE_ENUM,
	  .choices = parts,
	  .flags = PARAM_REQUIRED | PARAM_BARE,
	  .help = "what to print: what is mirrored, what was written by hand, or both; content only, no row numbers "
		  "or layout" },
	{ 0 },
};

static void add_word(struct buf *line, struct str name)
{
	dump_word(line, name);
	buf_byte(line, ' ');
}

static enum status add_to_digest(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	sha256_add(ctx, bytes.p, bytes.n);
	return STATUS_OK;
}

static enum status dump_source(void *ctx, const struct source_info *i, struct err *err)
{
	struct call *c = ctx;
	struct buf line CLEANUP(buf_release) = BUF_INIT(16 * LIMIT_PATH);
	char hex[2 * SHA256_BYTES + 1];
	uint8_t digest[SHA256_BYTES];
	int64_t purged = 0;
	struct sha sha;

	if (i->generation && gap_bytes(c->store, i->generation, 0, i->bytes, &purged, err))
		return err_pass(err, "%.*s", STR_ARG(i->path));
	sha256_init(&sha);
	if (i->generation && archive_read(c->store, i->generation, 0, i->bytes, add_to_digest, &sha, err))
		return err_pass(err, "%.*s", STR_ARG(i->path));
	sha256_end(&sha, digest);
	hex_encode(digest, sizeof digest, hex);
	buf_text(&line, "source ");
	add_word(&line, i->host);
	add_word(&line, i->root);
	add_word(&line, i->key);
	add_word(&line, i->path);
	buf_printf(&line,
		   "bytes=%" PRId64 " lines=%" PRId64 " tail=%" PRId64 " longest=%" PRId64 " sha256=%s",
		   i->bytes, i->lines.lines, i->lines.tail, i->lines.longest, hex);
	if (purged)
		buf_printf(&line, " purged=%" PRId64, purged);
	buf_byte(&line, '\n');
	return call_bytes(c, buf_as_str(&line), err);
}

/* What the index holds of each document, by its number. */
struct doc_sum {
	uint64_t sum;
	int64_t words;
};

/* A line that only older versions of its file have. */
struct withdrawn {
	struct uuid source, line;
};

struct dumping {
	struct call *call;
	struct doc_reader docs;
	struct doc_sum *sums;
	size_t count;
	struct buf line;
	struct withdrawn *withdrawn;
	size_t withdrawn_count, withdrawn_cap;
	const struct session *session; /* whose lines they are */
};

static void dumping_release(struct dumping *d)
{
	mem_free(d->withdrawn);
	doc_reader_release(&d->docs);
	mem_free(d->sums);
	buf_release(&d->line);
}

/* Until the next is asked for. NULL when there can be no such document. */
static struct doc_sum *sum_of(struct dumping *d, int64_t doc, struct err *err)
{
	if (doc < 0 || doc > INT32_MAX) {
		err_fail(err, STATUS_CORRUPT, "the index has a document %" PRId64, doc);
		return NULL;
	}
	if ((size_t)doc >= d->count) {
		size_t more = size_max((size_t)doc + 1, 2 * d->count);

		d->sums = mem_resize(d->sums, more * sizeof *d->sums);
		memset(d->sums + d->count, 0, (more - d->count) * sizeof *d->sums);
		d->count = more;
	}
	return &d->sums[doc];
}

static enum status add_word_sum(void *ctx, struct str word, int64_t doc, int64_t position, struct err *err)
{
	struct doc_sum *sum = sum_of(ctx, doc_sequence(doc), err);

	if (!sum)
		return err_failed(err->status);
	sum->sum += hash64(word.p, word.n) * (2 * (uint64_t)position + 1);
	sum->words++;
	return STATUS_OK;
}

/* Of copies, too, which have them elsewhere: where depends on what came first. */
static enum status copy_sums(struct dumping *d, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct copied_run *runs;
	size_t count;

	if (copied_runs(d->call->store, &mem, &runs, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		for (int64_t k = 0; k < runs[i].count; k++) {
			struct doc_sum *to = sum_of(d, runs[i].first + k, err), *from = NULL;

			if (to)
				from = sum_of(d, runs[i].original + k, err);
			if (!from)
				return err_failed(err->status);
			d->sums[runs[i].first + k] = *from;
		}
	return STATUS_OK;
}

static void add_id(struct buf *line, const char *front, const struct uuid *id)
{
	char text[UUID_TEXT + 1];

	uuid_print(id, text);
	buf_printf(line, "%s%s", front, text);
}

static enum status dump_doc(struct dumping *d, const struct node_name *name, int64_t sequence,
			    struct err *err)
{
	struct doc_sum none = { 0 }, *sum = (size_t)sequence < d->count ? &d->sums[sequence] : &none;
	struct doc_rank rank;
	struct uuid node;
	struct doc doc;
	int64_t id;

	if (doc_get(&d->docs, sequence, &doc, &id, err))
		return err_failed(err->status);
	rank = doc_rank(id);
	node = node_id(name, doc.block == DOC_LINE ? PART_LINE : doc.block);
	add_id(&d->line, "words ", &node);
	buf_printf(&d->line, " in=%s at=%" PRId64 " words=%" PRId64 " sum=%016" PRIx64 "\n",
		   rank.place < PLACES ? record_place_name((enum record_place)rank.place) : "?", doc.at,
		   sum->words, sum->sum);
	sum->words = 0; /* what is left over in the end belongs to no line */
	return STATUS_OK;
}

static enum status dump_line(void *ctx, const struct node *node, const struct node_name *name, int64_t doc,
			     int64_t docs, struct err *err)
{
	struct dumping *d = ctx;
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct node_name first_name;
	struct node first;
	struct uuid message;

	buf_clear(&d->line);
	add_id(&d->line, "line ", &node->id);
	buf_printf(&d->line, " offset=%" PRId64 " length=%" PRId64 " type=%s", node->offset, node->length,
		   record_type_name((enum record_type)node->type));
	if (node->first >= 0) {
		if (entry_get(d->call->store, node->session, node->first, &mem, &first, &first_name, err))
			return err_failed(err->status);
		message = node_id(&first_name, PART_MESSAGE);
		add_id(&d->line, " message=", &message);
	}
	buf_byte(&d->line, '\n');
	for (int64_t i = 0; i < docs; i++)
		if (dump_doc(d, name, doc + i, err))
			return err_failed(err->status);
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

static enum status add_value(void *ctx, enum session_value kind, struct str value, struct err *err)
{
	static const char *const names[SESSION_VALUES] = {
		[SESSION_FOLDER] = "says folder=", [SESSION_BRANCH] = "says branch=", [SESSION_PULL] = "says pull=",
		[SESSION_PLAN] = "says plan="
	};
	struct dumping *d = ctx;

	(void)err;
	buf_text(&d->line, names[kind]);
	dump_word(&d->line, value);
	buf_byte(&d->line, '\n');
	return STATUS_OK;
}

static enum status add_link(void *ctx, const struct link *l, struct err *err)
{
	struct dumping *d = ctx;

	(void)err;
	buf_printf(&d->line, "names %s=", mention_kind_name((enum mention_kind)l->kind));
	add_word(&d->line, l->name);
	buf_printf(&d->line, "offset=%" PRId64 " times=%" PRId64 "\n", l->offset, l->times);
	return STATUS_OK;
}

static enum status dump_session(void *ctx, const struct session *s, bool *go_on, struct err *err)
{
	struct dumping *d = ctx;

	(void)go_on;
	buf_clear(&d->line);
	add_id(&d->line, "session ", &s->id);
	add_id(&d->line, " source=", &s->source_id);
	if (s->agent.n) {
		buf_text(&d->line, " agent=");
		add_word(&d->line, s->agent);
		d->line.n--;
	}
	buf_printf(&d->line,
		   " read=%" PRId64 " started=%" PRId64 " updated=%" PRId64 " prompts=%" PRId64
		   " messages=%" PRId64 " tools=%" PRId64 " project=",
		   s->read_to, s->started_at, s->updated_at, s->prompts, s->messages, s->tools);
	add_word(&d->line, s->project);
	buf_text(&d->line, "branch=");
	add_word(&d->line, s->branch);
	buf_text(&d->line, "title=");
	add_word(&d->line, s->title);
	buf_text(&d->line, "tag=");
	add_word(&d->line, s->tag);
	buf_text(&d->line, "mode=");
	add_word(&d->line, s->mode);
	buf_text(&d->line, "permission=");
	add_word(&d->line, s->permission);
	d->line.p[d->line.n - 1] = '\n';
	if (session_values(d->call->store, s->row, add_value, d, err) ||
	    link_each(d->call->store, s->row, add_link, d, err) ||
	    call_bytes(d->call, buf_as_str(&d->line), err))
		return err_failed(err->status);
	return entry_each(d->call->store, s->row, dump_line, d, err);
}

/* ---- Texts beside the conversations -------------------------------------------- */

/* Which day a file has that does not say when it was written is not part of what it says. */
static enum status dump_paper(void *ctx, const struct paper *p, struct err *err)
{
	struct dumping *d = ctx;
	uint64_t sum = 0;
	int64_t words = 0;

	buf_clear(&d->line);
	add_id(&d->line, "paper ", &p->source_id);
	buf_printf(&d->line, " kind=%s offset=%" PRId64 " length=%" PRId64 " part=%u at=%" PRId64,
		   claude_kind_name((enum claude_kind)p->kind), p->offset, p->length, p->part, p->at);
	if (p->has_session)
		add_id(&d->line, " session=", &p->session);
	buf_text(&d->line, " project=");
	dump_word(&d->line, p->project);
	for (int64_t i = p->row; i < p->row + p->docs && (size_t)i < d->count; i++) {
		words += d->sums[i].words;
		sum = sum * 31 + d->sums[i].sum;
		d->sums[i].words = 0;
	}
	buf_printf(&d->line, " words=%" PRId64 " sum=%016" PRIx64 "\n", words, sum);
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

/* ---- What is no longer there --------------------------------------------------- */

/* Its words are in the index, and no strays. */
static enum status take_withdrawn(void *ctx, const struct node *node, const struct node_name *name, int64_t doc,
				  int64_t docs, struct err *err)
{
	struct dumping *d = ctx;
	bool held;

	(void)name;
	for (int64_t i = doc; i < doc + docs && (size_t)i < d->count; i++)
		d->sums[i].words = 0;
	if (entry_is_held(d->call->store, &node->id, &held, err))
		return err_failed(err->status);
	if (held)
		return STATUS_OK;
	if (d->withdrawn_count == d->withdrawn_cap) {
		d->withdrawn_cap = d->withdrawn_cap ? d->withdrawn_cap * 2 : 64;
		d->withdrawn = mem_resize(d->withdrawn, d->withdrawn_cap * sizeof *d->withdrawn);
	}
	d->withdrawn[d->withdrawn_count++] = (struct withdrawn){ d->session->source_id, node->id };
	return STATUS_OK;
}

static enum status take_old(void *ctx, const struct session *s, bool *go_on, struct err *err)
{
	struct dumping *d = ctx;

	(void)go_on;
	d->session = s;
	return entry_each(d->call->store, s->row, take_withdrawn, d, err);
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct withdrawn));
}

/* Each once, however many versions had it. */
static enum status dump_withdrawn(struct dumping *d, struct err *err)
{
	if (d->withdrawn_count)
		qsort(d->withdrawn, d->withdrawn_count, sizeof *d->withdrawn, by_bytes);
	for (size_t i = 0; i < d->withdrawn_count; i++) {
		if (i && by_bytes(&d->withdrawn[i], &d->withdrawn[i - 1]) == 0)
			continue;
		buf_clear(&d->line);
		add_id(&d->line, "withdrawn ", &d->withdrawn[i].line);
		add_id(&d->line, " source=", &d->withdrawn[i].source);
		buf_byte(&d->line, '\n');
		if (call_bytes(d->call, buf_as_str(&d->line), err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

/* ---- What was written by hand ----------------------------------------------------- */

static void add_member(struct buf *line, const char *name, struct str value)
{
	buf_printf(line, " %s=", name);
	dump_word(line, value);
}

/* With its words, if it is in the index: that is derived, but of these. */
static enum status dump_annotation(void *ctx, const struct annotation *a, bool *go_on, struct err *err)
{
	struct dumping *d = ctx;
	int64_t doc;

	(void)go_on;
	buf_clear(&d->line);
	add_id(&d->line, "annotation ", &a->id);
	add_member(&d->line, "kind", str_of(annotation_kind_name(a->kind)));
	add_member(&d->line, "on", a->on.kind);
	add_id(&d->line, " subject=", &a->on.id);
	add_member(&d->line, "agent", a->on.agent);
	if (a->on.in_session)
		add_id(&d->line, " session=", &a->on.session);
	add_member(&d->line, "author", a->author);
	buf_printf(&d->line, " created=%" PRId64 " updated=%" PRId64, a->created_at, a->updated_at);
	add_member(&d->line, "name", a->name);
	add_member(&d->line, "text", a->text);
	if (annotation_doc(d->call->store, &a->id, &doc, err))
		return err_failed(err->status);
	if (doc && (size_t)doc < d->count)
		buf_printf(&d->line, " words=%" PRId64 " sum=%016" PRIx64, d->sums[doc].words, d->sums[doc].sum);
	buf_byte(&d->line, '\n');
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

/* ---- All of it ------------------------------------------------------------------ */

/* Words of notes and of what was made belong to no line, and are none of the mirror. */
static enum status count_strays(struct dumping *d, int64_t *out, struct err *err)
{
	*out = 0;
	for (size_t i = 0; i < d->count; i++) {
		enum status status = STATUS_OK;
		struct doc doc = { 0 };
		int64_t id;

		if (d->sums[i].words)
			status = doc_get(&d->docs, (int64_t)i, &doc, &id, err);
		if (status && status != STATUS_NOT_FOUND)
			return err_failed(status);
		*out += d->sums[i].words && doc.session != DOC_NOTES && doc.session != DOC_NODES;
	}
	return STATUS_OK;
}

static enum status dump_sessions(struct dumping *d, struct err *err)
{
	struct store *s = d->call->store;
	int64_t strays;

	if (session_each(s, (struct str){ 0 }, dump_session, d, err) || session_each_old(s, take_old, d, err) ||
	    paper_each(s, dump_paper, d, err) || count_strays(d, &strays, err))
		return err_failed(err->status);
	buf_clear(&d->line);
	buf_printf(&d->line, "strays %" PRId64 "\n", strays);
	return call_bytes(d->call, buf_as_str(&d->line), err);
}

/* What a client printed was never a file: no mirror of files has it. */
static bool is_mirrored(const struct source_info *i)
{
	return !str_eq(i->root, STR(ROOT_OUTPUT));
}

static enum status dump_file(void *ctx, const struct source_info *i, struct err *err)
{
	return is_mirrored(i) ? dump_source(ctx, i, err) : STATUS_OK;
}

static enum status dump_output(void *ctx, const struct source_info *i, struct err *err)
{
	return is_mirrored(i) ? STATUS_OK : dump_source(ctx, i, err);
}

static enum status dump_facts(struct dumping *d, struct err *err)
{
	struct store *s = d->call->store;

	return annotation_each_by_id(s, dump_annotation, d, err) ? err_failed(err->status)
								 : source_each(s, dump_output, d->call, err);
}

static enum status dump_mirror(struct dumping *d, struct err *err)
{
	if (source_each(d->call->store, dump_file, d->call, err) || dump_sessions(d, err) ||
	    dump_forests(d->call, err))
		return err_failed(err->status);
	return dump_withdrawn(d, err);
}

static enum status run_dump(struct call *c, struct err *err)
{
	struct dumping d CLEANUP(
		dumping_release) = { .call = c, .docs = { .store = c->store }, .line = BUF_INIT(GIB) };
	struct read_txn snapshot CLEANUP(read_end) = { 0 };
	struct str what = call_text(c, "logical");

	if (read_begin(c->store, &snapshot, err) || fulltext_each(c->store, add_word_sum, &d, err) ||
	    copy_sums(&d, err))
		return err_failed(err->status);
	/* First, since the mirror's own words are forgotten as they are met. */
	if (!str_eq(what, STR("mirror")) && dump_facts(&d, err))
		return err_failed(err->status);
	return str_eq(what, STR("facts")) ? STATUS_OK : dump_mirror(&d, err);
}

const struct method arbor_dump = {
	.name = "dump",
	.verb = "dump",
	.group = "store",
	.summary = "Print what the store holds, so that it can be compared",
	.text = "One line for every file: host, root, key, path, bytes and lines of its newest version, "
		"their SHA-256, and how many bytes were purged. Then every session with what it names and its "
		"lines, their ids, and the words "
		"of each part summed up; so, too, plans, memory, tasks, todos and typed history. Then, once "
		"for all transcripts that belong together, their messages: what "
		"each follows, its tree, its lines, and its copies with other ids; where turns begin and why; "
		"where ways part; trees and the names that lead to them; what goes on from where; where each "
		"file would be continued; sub-agents. Last what "
		"each answer cost, once for all its copies. Two stores that mirror the same files print the "
		"same, in whatever order, pieces and runs the bytes came in; but in the end there are the "
		"lines that older versions had and no file has any more ('withdrawn'), and those a store knows "
		"only when it saw them. Odd bytes in names are shown as %XX.\n\n"
		"--logical=facts prints what no file has instead: notes, bookmarks and tags, and what agents "
		"printed that wrote no transcript; --logical=all both.\n",
	.params = dump_params,
	.kind = RESULT_RAW,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "dump --logical", "everything" },
					      { "dump --logical | grep ^branch", "where conversations part" },
					      { "dump --logical=facts", "notes, bookmarks and tags" },
					      { "dump --logical --store other.db | sort | sha256sum",
						"one name for all of it" },
					      { 0 } },
	.run = run_dump,
};
