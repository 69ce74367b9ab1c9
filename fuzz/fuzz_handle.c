/*
 * Fuzzes reading handles: whatever the bytes, what is read can be printed and read again, in
 * both forms, and is the same; what is printed is one line of UTF-8 without control characters, but for what
 * JSON has of them.
 */
#include "base/handle.h"
#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* JSON may hold DEL and what follows it, and the older form is kept as it is. */
static void check_text(struct str text, bool older)
{
	for (size_t at = 0; at < text.n;) {
		int32_t c = utf8_next(text, &at);

		must(c >= 0x20 && (older || c < 0x7f || c >= 0xa0));
	}
}

static void check_json(const struct handle *h, struct arena *mem)
{
	struct buf json = BUF_INIT(MIB);
	struct json_writer w;
	struct handle again;
	struct err err;

	json_write_init(&w, &json, 0);
	handle_write(h, &w);
	must(json_write_done(&w, &err) == STATUS_OK);
	must(handle_parse(buf_as_str(&json), mem, &again, &err) == STATUS_OK && handle_eq(h, &again));
	buf_release(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena mem = ARENA_INIT;
	struct handle h, again;
	struct err err;

	if (handle_parse(str_from((const char *)data, size), &mem, &h, &err) == STATUS_OK) {
		struct str text = handle_text(&h, &mem);

		must(handle_check(&h, &err) == STATUS_OK && handle_is_like(text));
		check_text(text, h.older.p != NULL);
		must(handle_parse(text, &mem, &again, &err) == STATUS_OK && handle_eq(&h, &again));
		must(str_eq(handle_text(&again, &mem), text));
		check_json(&h, &mem);
	} else {
		must(err.status == STATUS_FORMAT || err.status == STATUS_LIMIT);
	}
	arena_release(&mem);
	return 0;
}
