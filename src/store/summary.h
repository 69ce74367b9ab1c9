/*
 * Summaries: the titles of old clients. Each stands in one file and names a line, mostly of
 * another.
 */
#ifndef ARBOR_STORE_SUMMARY_H
#define ARBOR_STORE_SUMMARY_H

#include "base/arena.h"
#include "store/store.h"

/* What a transcript is called, in SQL: by its own title, unless that is only a prompt and there are summaries of its
 * lines; then by that of the last line, and of several of that the first by its file. */
#define SUMMARY_OF(row) \
	"SELECT y.title FROM summarised x JOIN summary y ON y.about = x.about JOIN mirror_session z" \
	" ON z.id = y.session JOIN source v ON v.id = z.source WHERE x.session = " row \
	" ORDER BY x.offset DESC, v.source_id LIMIT 1"
#define SUMMARY_TITLE(session) \
	"iif(" session ".title_rank > 1, " session ".title, coalesce((" SUMMARY_OF(session ".id") "), " session \
	".title))"

/* The same for one whose own title is only a prompt: where there are summaries, it becomes that. */
enum status summary_title(struct store *s, int64_t session, struct arena *mem, struct str *title,
			  struct err *err) MUST_USE;

/* Notes one that stands in a session and names a line, by line_key(). Of several about the same
 * line the last counts. Wants a write transaction, as all that follow but the first two. */
enum status summary_add(struct store *s, int64_t session, const struct uuid *line, struct str title,
			struct err *err) MUST_USE;

/* The keys of all lines that summaries name, as node_key has them. */
struct named_lines {
	int64_t *keys; /* sorted */
	size_t count, cap;
};

void named_lines_release(struct named_lines *n);
enum status named_lines_load(struct store *s, struct named_lines *out, struct err *err) MUST_USE;
bool named_lines_has(const struct named_lines *n, int64_t key);

/* A session has a line that is named. */
enum status summary_names(struct store *s, int64_t session, int64_t offset, int64_t key,
			  struct err *err) MUST_USE;

/* The lines, wherever they are, that the summaries in a session name. */
enum status summary_find_lines(struct store *s, int64_t session, struct err *err) MUST_USE;

/* Forgets the summaries in a session, and that lines of it are named. */
enum status summary_forget(struct store *s, int64_t session, struct err *err) MUST_USE;

#endif
