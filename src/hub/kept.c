/*
 * Reading kept files whole, and going on where one of many cannot be read.
 */
#include "hub/kept.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "claude/layout.h"
#include "store/archive.h"

struct str kept_name(struct call *c, const struct source_info *file)
{
	if (str_eq(file->root, STR("claude")))
		return file->path;
	return arena_printf(&c->mem, "%.*s:%.*s", STR_ARG(file->root), STR_ARG(file->path));
}

const char *kept_kind(const struct source_info *file)
{
	if (str_eq(file->root, STR(ROOT_OUTPUT)))
		return "output";
	return claude_kind_name(claude_kind_of(file->path));
}

static enum status collect(void *ctx, struct str bytes, struct err *err)
{
	struct buf *out = ctx;

	buf_str(out, bytes);
	return out->failed
		       ? err_fail(err, STATUS_LIMIT, "longer than %zu bytes, and not looked into", out->max)
		       : STATUS_OK;
}

enum status kept_read(struct call *c, const struct source_info *file, uint64_t version, size_t most,
		      struct generation *g, struct buf *out, struct err *err)
{
	if (generation_pick(c->store, file->row, version, g, err) ||
	    archive_read(c->store, g->row, 0, (int64_t)size_min((size_t)g->length, most), collect, out, err))
		return err_pass(err, "%.*s", STR_ARG(kept_name(c, file)));
	return STATUS_OK;
}

enum status kept_window(struct call *c, struct json_writer *w, const struct kept_span *span, struct window *window,
			bool *binary, struct err *err)
{
	struct buf bytes CLEANUP(buf_release) = BUF_INIT(LIMIT_RESOLVED_MOST);
	struct buf coded CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_RESOLVED_MOST);
	size_t all = (size_t)span->length, from = size_min(window->from, all), n = size_min(window->left, all - from);
	struct str text;

	if (archive_read(c->store, span->generation, span->offset + (int64_t)from, (int64_t)n, collect, &bytes, err))
		return err_failed(err->status);
	text = window_trim(buf_as_str(&bytes), from > 0, from + n < all);
	*binary = !utf8_valid(text) || str_has_byte(text, '\0');
	if (*binary) {
		base64_encode(&coded, buf_as_str(&bytes));
		put_text(w, "base64", buf_as_str(&coded));
	} else {
		put_text(w, "text", text);
	}
	put_window_size(w, all, *binary ? n : text.n, window);
	return STATUS_OK;
}

bool kept_excuse(struct call *c, const struct err *why, int64_t *failed)
{
	if (why->status != STATUS_CORRUPT && why->status != STATUS_FORMAT && why->status != STATUS_LIMIT &&
	    why->status != STATUS_NOT_FOUND)
		return false;
	log_warn(c->log, "%s", why->text);
	*failed += why->status == STATUS_CORRUPT;
	return true;
}

enum status kept_end(int64_t failed, struct err *err)
{
	if (!failed)
		return STATUS_OK;
	return err_fail(err, STATUS_PARTIAL, "%" PRId64 " file%s could not be read; 'arbor check' tells more",
			failed, failed == 1 ? "" : "s");
}
