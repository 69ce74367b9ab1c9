/*
 * arbor dump --logical: what the store means, apart from how it came about.
 */
#include "face/face.h"

#include "base/hash.h"
#include "store/archive.h"
#include "store/find.h"

static enum status run(struct face *f, struct err *err);

static const struct arg_option options[] = {
	{ "logical", 0, "[=mirror]", "content only: no row numbers, times or layout" },
	{ 0 },
};

const struct command command_dump = {
	.name = "dump",
	.summary = "Print what the store holds in a form that can be compared",
	.usage = "--logical",
	.text = "One line for every file: host, root, key, path, bytes and lines of its newest\n"
		"version and their SHA-256. Two stores that mirror the same files print the same,\n"
		"in whatever order, pieces and runs the bytes came in. Odd bytes in paths are\n"
		"shown as %XX.\n",
	.examples = "  arbor dump --logical\n"
		    "  diff <(arbor dump --logical) <(arbor dump --logical --store other.db)\n",
	.options = options,
	.run = run,
};

static enum status add_to_digest(void *ctx, struct str bytes, struct err *err)
{
	(void)err;
	sha256_add(ctx, bytes.p, bytes.n);
	return STATUS_OK;
}

static void print_path(struct str path)
{
	for (size_t i = 0; i < path.n; i++) {
		unsigned char c = (unsigned char)path.p[i];

		if (c <= ' ' || c >= 0x7f || c == '%')
			out_printf("%%%02X", c);
		else
			out_printf("%c", c);
	}
}

static enum status dump_source(void *ctx, const struct source_info *i, struct err *err)
{
	char hex[2 * SHA256_BYTES + 1];
	uint8_t digest[SHA256_BYTES];
	struct sha sha;

	sha256_init(&sha);
	if (i->generation && archive_read(ctx, i->generation, 0, i->bytes, add_to_digest, &sha, err))
		return err_pass(err, "dump: %.*s", STR_ARG(i->path));
	sha256_end(&sha, digest);
	hex_encode(digest, sizeof digest, hex);
	out_printf("source ");
	print_path(i->host);
	out_printf(" ");
	print_path(i->root);
	out_printf(" ");
	print_path(i->key);
	out_printf(" ");
	print_path(i->path);
	out_printf(" bytes=%" PRId64 " lines=%" PRId64 " tail=%" PRId64 " longest=%" PRId64 " sha256=%s\n", i->bytes,
		   i->lines.lines, i->lines.tail, i->lines.longest, hex);
	return STATUS_OK;
}

static enum status run(struct face *f, struct err *err)
{
	struct str what = args_value(&f->args, "logical");
	struct store *s CLEANUP(store_closep) = NULL;
	struct read_txn snapshot CLEANUP(read_end) = { 0 };

	if (!args_has(&f->args, "logical"))
		return err_fail(err, STATUS_USAGE, "dump: say what to dump: 'arbor dump --logical'");
	if (what.p && !str_eq(what, STR("mirror")))
		return err_fail(err, STATUS_USAGE, "dump: unknown part '%.*s'; there is 'mirror'",
				(int)size_min(what.n, 40), what.p);
	if (face_open_store(f, false, &s, err) || read_begin(s, &snapshot, err))
		return err_failed(err->status);
	return source_each(s, dump_source, s, err);
}
