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

/* One document, in a transaction that is open. Its words are counted here. */
static inline enum status docs_add(struct doc_writer *w, struct doc doc, struct str text, struct err *err)
{
	struct buf packed CLEANUP(buf_release) = BUF_INIT(16 * MIB);
	int64_t id;

	doc.words = (uint32_t)words_pack(&packed, text);
	return doc_writer_add(w, &doc, buf_as_str(&packed), &id, err);
}

/* Several texts, number i as document i + 1, in session i + 1. */
static inline enum status docs_add_texts(struct store *s, const struct str *texts, size_t count,
					 struct err *err)
{
	struct txn txn CLEANUP(txn_end) = { 0 };
	struct doc_writer w CLEANUP(doc_writer_release) = { 0 };

	if (txn_begin(s, &txn, err) || doc_writer_begin(&w, s, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (docs_add(&w, (struct doc){ .session = (int64_t)i + 1 }, texts[i], err))
			return err_failed(err->status);
	return doc_writer_finish(&w, err) ? err_failed(err->status) : txn_commit(&txn, err);
}

#endif
