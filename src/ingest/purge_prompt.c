/*
 * The client writes down a prompt several times: as a message; in the queue, when it is typed; as the last
 * prompt of the conversation; in the typed history. Whoever purges the message means all of these.
 *
 * They have no uuid, so they are known by what they say: the same, but for white space; or, of what stands
 * there shortened, its beginning. What was pasted stands in the history as a placeholder, so there the
 * moment counts as well.
 */
#include "ingest/purge_prompt.h"

enum {
	TYPED_MS = 2000, /* between the history and the message */
	TELLING = 32,	 /* bytes of a beginning that are enough */
};

/* White space as one blank. */
static void squeeze(struct str text, struct buf *out)
{
	bool blank = false;

	text = str_trim(text);
	for (size_t i = 0; i < text.n; i++) {
		bool is = text.p[i] == ' ' || (text.p[i] >= '\t' && text.p[i] <= '\r');

		if (!is && blank)
			buf_byte(out, ' ');
		if (!is)
			buf_byte(out, text.p[i]);
		blank = is;
	}
}

void purge_prompt_add(struct purge_prompt **list, const struct record_reader *reader, const struct record *r,
		      struct arena *mem)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct buf plain CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct block_cursor at = { 0 };
	struct purge_prompt *p;
	struct record_block b;

	if (r->type == RECORD_USER)
		while (!text.n && record_block(reader, r, &at, &b))
			if (b.kind == BLOCK_TEXT)
				block_text(reader, &b, &text);
	if (r->flags & RECORD_QUEUED)
		record_text(reader, r, &text);
	squeeze(buf_as_str(&text), &plain);
	if (!plain.n)
		return;
	p = arena_alloc(mem, sizeof *p);
	*p = (struct purge_prompt){ .next = *list,
				    .text = arena_str(mem, buf_as_str(&plain)),
				    .at = r->has_time ? r->at : 0 };
	uuid_parse(r->session, &p->session);
	*list = p;
}

static bool is_text(const struct purge_prompt *p, struct str text)
{
	static const struct str dots = { "\xe2\x80\xa6", 3 };

	if (str_eq(p->text, text))
		return true;
	if (str_has_suffix(text, dots))
		text = str_trim(str_sub(text, 0, text.n - dots.n));
	return text.n >= TELLING && str_has_prefix(p->text, text);
}

bool purge_prompt_typed(const struct purge_prompt *list, const struct uuid *session, const struct typed *t)
{
	struct buf plain CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);

	if (list)
		squeeze(t->display, &plain);
	for (const struct purge_prompt *p = list; p; p = p->next)
		if (uuid_eq(&p->session, session) &&
		    (str_eq(p->text, buf_as_str(&plain)) ||
		     (p->at && t->has_time && t->at >= p->at - TYPED_MS && t->at <= p->at + TYPED_MS)))
			return true;
	return false;
}

bool purge_prompt_again(const struct purge_prompt *list, const struct record_reader *reader,
			const struct record *r)
{
	struct buf text CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);
	struct buf plain CLEANUP(buf_release) = BUF_INIT(2 * LIMIT_LINE_PARSED);

	if (!list)
		return false;
	record_prompt_again(reader, r, &text);
	squeeze(buf_as_str(&text), &plain);
	for (const struct purge_prompt *p = list; plain.n && p; p = p->next)
		if (is_text(p, buf_as_str(&plain)))
			return true;
	return false;
}
