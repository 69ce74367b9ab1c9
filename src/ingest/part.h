/*
 * Lines becoming rows: a reading thread fills parts, the writing one stores them.
 */
#ifndef ARBOR_INGEST_PART_H
#define ARBOR_INGEST_PART_H

#include "base/map.h"
#include "claude/paper.h"
#include "claude/record.h"
#include "ingest/queue.h"
#include "store/mirror.h"
#include "store/paper.h"
#include "store/session.h"

struct part {
	struct queue_item item;
	const struct unread *job;
	enum status failed; /* not OK: the source could not be read, err says why */
	struct err err;
	bool last;	 /* the source has been read to its end */
	bool has_lines;	 /* `mirror` is to be stored */
	bool no_session; /* the source has none; what is known of one is to go */
	bool has_papers; /* `papers` is to be stored */
	bool no_papers;	 /* so too: texts that are known are to go */
	int64_t broken;	     /* lines that could not be understood */
	int64_t broken_all;  /* in what was read of the source; only its last part says it */
	int64_t broken_at;   /* offset of the first of them */
	bool broken_is_long; /* which is too long to be read */
	bool old_done;	 /* the source's older versions have been read, or it has none worth it */
	bool has_count;
	struct line_count count; /* of the whole generation */
	struct mirror_part mirror;
	struct paper_part papers;
	/* What these point to; a source has either. */
	struct paper_new *texts;
	size_t text_cap;
	struct mirror_line *lines;
	size_t line_cap;
	struct mirror_doc *docs;
	size_t doc_count, doc_cap;
	struct mirror_value *values;
	size_t value_cap;
	struct branch_run *branches;
	size_t branch_cap;
	struct map linked; /* kind and name -> noted_link */
	struct link *links;
	size_t link_cap;
	struct buf packed;
	struct mirror_usage *usage; /* of the message before, in this part */
	size_t record_at; /* where the words of the last record begin */
	size_t last_line, last_doc, last_packed; /* before the record added last, and what it carries */
	struct arena mem;
};

struct part *part_new(const struct unread *job);
void part_free(struct part *p); /* NULL is fine */

/* Points them at what was gathered, and weighs it. */
void part_seal(struct part *p);
bool part_is_full(const struct part *p);

/* A line by its uuid: where it is in its source. */
struct seen_line {
	struct uuid key;
	int64_t offset; /* -1 = nothing here */
};

/* Hashes of what was said last of a session, of each kind; whatever is said again. */
enum { PART_SAID = 8 };
struct said {
	uint64_t last[PART_SAID];
	unsigned next;
};

/* What a reading thread keeps from line to line of one source. */
struct part_reader {
	struct record_reader records;
	struct buf text;   /* of one document */
	struct buf marks;  /* packed, of its block (base/mark.h) */
	struct map firsts; /* API message id -> offset of its first line */
	struct seen_line *seen; /* lines before this one, to be named as its parent */
	struct arena mem;  /* of the map */
	struct said said[SESSION_VALUES];
	uint64_t branch;   /* hash of the one that was said last; 0 = none was */
	uint64_t *tools;   /* calls in the record in hand */
	size_t tool_count, tool_cap;
	bool knows_all;	   /* reading began with the first line */
	struct str line;   /* in hand */
	int64_t offset;	   /* of it */
};

void part_reader_init(struct part_reader *r);
void part_reader_begin(struct part_reader *r, bool from_start);
void part_reader_release(struct part_reader *r);

/* Gives back what a long line has made it take. */
void part_reader_shrink(struct part_reader *r);

/* One line, without its line feed; then its records, one a call, until there are no more:
 * a single line may have more of them than go into a part. */
void part_begin_line(struct part_reader *r, struct str line, int64_t offset);
bool part_add_record(struct part *p, struct part_reader *r);

/* Whether the record added last could be understood. */
bool part_last_is_broken(const struct part *p);

/* Of the record added last: its uuid (p NULL = none); and taking it out again. */
struct str part_last_uuid(const struct part *p);
void part_drop_last(struct part *p);

/* The texts of a file beside the conversations, or of a line of one: the bytes at an offset of it. */
void part_add_papers(struct part *p, struct paper_reader *r, struct str bytes, int64_t offset);

/* A line too long to be read. */
void part_add_unread(struct part *p, int64_t offset, int64_t length, const uint8_t digest[SHA256_BYTES]);

#endif
