/*
 * A store with documents and nothing else, for tests of queries: what a sync makes
 * of transcripts, without transcripts.
 */
#ifndef ARBOR_TEST_DOCS_H
#define ARBOR_TEST_DOCS_H

#include "base/words.h"
#include "ingest/rebuild.h"
#include "query/rank.h"
#include "store/store.h"
#include "t.h"

#include <stdio.h>

/* A new one in the test's private folder. The caller closes it. */
static inline enum status docs_open(struct t *t, const atomic_bool *cancel, struct store **s, struct err *err)
{
	char path[LIMIT_PATH];
	bool done;

	snprintf(path, sizeof path, "%s/docs.db", t_tmpdir(t));
	if (store_open(&(struct store_options){ .path = path, .create = true, .cancel = cancel }, s, err))
		return err_failed(err->status);
	return rebuild_if_stale(*s, NULL, &done, err);
}

/* One document, in a transaction that is open. Its words are counted here; without a
 * session it gets the first, since session 0 means removed. */
static inline enum status docs_add(struct doc_writer *w, struct doc doc, uint8_t place, struct str text,
				   int64_t *sequence, struct err *err)
{
	struct buf packed CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	size_t words = words_pack(&packed, text);

	if (!doc.session)
		doc.session = 1;
	return doc_writer_add(w, &doc, place, words, buf_as_str(&packed), sequence, err);
}

/* Several texts in place 0, number i in session i + 1. */
static inline enum status docs_add_texts(struct store *s, const struct str *texts, size_t count,
					 struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };
	int64_t sequence;

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (docs_add(&w, (struct doc){ .session = (int64_t)i + 1 }, 0, texts[i], &sequence, err))
			return err_failed(err->status);
	return doc_writer_finish(&w, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

#endif
