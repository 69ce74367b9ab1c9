/*
 * Fuzzes reading transcript lines: whatever the bytes, the records are the line, in
 * order; every text and name in them is valid UTF-8; and the texts of a line's
 * blocks are not longer than the line allows for, which also bounds the time.
 */
#include "base/utf8.h"
#include "claude/event.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void check_names(const struct record *rec)
{
	const struct str names[] = { rec->type_name, rec->uuid, rec->parent, rec->message_id,
				     rec->model,     rec->cwd,	rec->branch };

	for (size_t i = 0; i < COUNT(names); i++)
		must(utf8_valid(names[i]));
	must(rec->type < RECORD_TYPES && record_type_name(rec->type));
	must(!(rec->flags & RECORD_PROMPT) || (rec->type == RECORD_USER && !(rec->flags & RECORD_SIDECHAIN)));
}

static void check_title(struct str text)
{
	struct buf title = BUF_INIT(KIB);

	record_prompt_title(text, &title);
	must(!title.failed && utf8_valid(buf_as_str(&title)));
	for (size_t at = 0; at < title.n;) {
		int32_t c = utf8_next(buf_as_str(&title), &at);

		must(c == ' ' || !utf8_is_blank(c));
	}
	buf_release(&title);
}

static void check_blocks(const struct record_reader *r, const struct record *rec, struct buf *text)
{
	struct block_cursor at = { 0 };
	struct record_block b;
	size_t total = 0;
	uint32_t count = 0;

	while (record_block(r, rec, &at, &b)) {
		must(b.index == count++ && b.kind < BLOCK_KINDS && b.place < PLACES);
		must(utf8_valid(b.name) && utf8_valid(b.tool));
		buf_clear(text);
		block_text(r, &b, text);
		must(!text->failed && utf8_valid(buf_as_str(text)));
		total += text->n;
		check_title(buf_as_str(text));
	}
	must(count <= rec->bytes.n);
	/* A bad byte becomes three; a line feed stands in for the quotes. */
	must(total <= 3 * rec->bytes.n);
	must(!(rec->flags & RECORD_PROMPT) || count);
}

static void check_line(struct record_reader *r, struct str line, struct buf *text)
{
	struct record rec;
	struct str noted;
	size_t at = 0;

	record_begin(r, line);
	while (record_next(r, &rec)) {
		must(rec.bytes.p == line.p + at && rec.bytes.n > 0 && rec.bytes.n <= line.n - at);
		at += rec.bytes.n;
		check_names(&rec);
		check_blocks(r, &rec, text);
		buf_clear(text);
		record_text(r, &rec, text);
		must(!text->failed && utf8_valid(buf_as_str(text)) && text->n <= 3 * rec.bytes.n);
		must(utf8_valid(record_title(r, &rec)));
		must(utf8_valid(event_subtype(r, &rec)));
		record_note(r, &rec, &noted);
		must(utf8_valid(noted) && noted.n <= 64 * KIB + rec.bytes.n);
		buf_clear(text);
		event_brief(r, &rec, text);
		must(utf8_valid(buf_as_str(text)) && text->n <= 16 * KIB && !str_has_byte(buf_as_str(text), '\n'));
	}
	must(str_trim(str_sub(line, at, SIZE_MAX)).n == 0);
	must(!record_is_whole(r, line) || at == line.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record_reader r = RECORD_READER_INIT;
	struct buf text = BUF_INIT(256 * MIB);
	struct str rest = str_from((const char *)data, size);

	while (rest.n)
		check_line(&r, str_cut(rest, '\n', &rest), &text);
	check_title(str_from((const char *)data, size));
	record_reader_release(&r);
	buf_release(&text);
	return 0;
}
