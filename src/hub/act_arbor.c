/*
 * arbor.*: the store itself.
 */
#include "hub/activations.h"

#include "base/hash.h"
#include "hub/call.h"
#include "store/archive.h"
#include "store/check.h"
#include "store/find.h"

/* ---- arbor.check ------------------------------------------------------------ */

static const struct field check_fields[] = {
	{ .name = "ok", .type = VALUE_BOOL, .help = "whether every byte is there and is what it was" },
	{ .name = "sources", .type = VALUE_INT, .help = "files" },
	{ .name = "generations", .type = VALUE_INT, .help = "versions of them" },
	{ .name = "blocks", .type = VALUE_INT, .help = "packed blocks" },
	{ .name = "raw_bytes", .type = VALUE_BYTES, .help = "bytes read and verified" },
	{ .name = "packed_bytes", .type = VALUE_BYTES, .help = "what they take in the store" },
	{ .name = "problems",
	  .type = VALUE_TEXT,
	  .flags = FIELD_LIST,
	  .help = "what is damaged, a sentence each" },
	{ 0 },
};

/* Problems are written into the result as they are found. */
static void on_problem(void *ctx, struct str text)
{
	json_write_string(ctx, text);
}

static enum status run_check(struct call *c, struct err *err)
{
	struct json_writer *w = call_begin(c);
	struct check_report r = { .problem = on_problem, .ctx = w };

	json_write_key(w, STR("problems"));
	json_write_array_begin(w);
	if (check_run(c->store, &r, err))
		return err_failed(err->status);
	json_write_array_end(w);
	put_bool(w, "ok", r.problems == 0);
	put_int(w, "sources", r.sources);
	put_int(w, "generations", r.generations);
	put_int(w, "blocks", r.blocks);
	put_int(w, "raw_bytes", r.raw_bytes);
	put_int(w, "packed_bytes", r.packed_bytes);
	if (call_emit(c, err))
		return err_failed(err->status);
	if (r.problems)
		return err_fail(err, STATUS_CORRUPT,
				"%" PRId64 " problem%s in %s; where the original files still exist,"
				" 'arbor sync --force' mends them",
				r.problems, r.problems == 1 ? "" : "s", store_path(c->store));
	return STATUS_OK;
}

static const struct method check = {
	.name = "check",
	.verb = "check",
	.group = "store",
	.summary = "Verify the store: the database and every archived byte",
	.text = "Reads everything and repairs nothing. Prints each problem with the file it concerns. Exit "
		"code "
		"0 means that every byte is there and is what it was; 4 means damage, which 'arbor sync "
		"--force' "
		"mends where the original files still exist.\n",
	.kind = RESULT_ONE,
	.fields = check_fields,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "check", "what is damaged, if anything" }, { 0 } },
	.run = run_check,
};

/* ---- arbor.dump ------------------------------------------------------------- */

static const char *const parts[] = { "mirror", NULL };

static const struct param dump_params[] = {
	{ .name = "logical",
	  .type = VALUE_ENUM,
	  .choices = parts,
	  .flags = PARAM_REQUIRED | PARAM_BARE,
	  .help = "what to print: content only, no row numbers, times or layout" },
	{ 0 },
};

/* A name as one word: what is odd in it becomes %XX. */
static void add_word(struct buf *line, struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c <= ' ' || c >= 0x7f || c == '%')
			buf_printf(line, "%%%02X", c);
		else
			buf_byte(line, (char)c);
	}
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
	struct sha sha;

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
		   "bytes=%" PRId64 " lines=%" PRId64 " tail=%" PRId64 " longest=%" PRId64 " sha256=%s\n",
		   i->bytes, i->lines.lines, i->lines.tail, i->lines.longest, hex);
	return call_bytes(c, buf_as_str(&line), err);
}

static enum status run_dump(struct call *c, struct err *err)
{
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	if (read_begin(c->store, &snapshot, err))
		return err_failed(err->status);
	return source_each(c->store, dump_source, c, err);
}

static const struct method dump = {
	.name = "dump",
	.verb = "dump",
	.group = "store",
	.summary = "Print what the store holds, so that it can be compared",
	.text = "One line for every file: host, root, key, path, bytes and lines of its newest version and "
		"their "
		"SHA-256. Two stores that mirror the same files print the same, in whatever order, pieces "
		"and "
		"runs the bytes came in. Odd bytes in paths are shown as %XX.\n",
	.params = dump_params,
	.kind = RESULT_RAW,
	.scope = SCOPE_READ,
	.need = NEED_STORE,
	.examples = (const struct example[]){ { "dump --logical", "everything" },
					      { "dump --logical --store other.db | sort | sha256sum",
						"one name for all of it" },
					      { 0 } },
	.run = run_dump,
};

static const struct method *const methods[] = { &check, &dump, NULL };

const struct activation activation_arbor = { "arbor", "1.0.0", "The store itself", methods };
