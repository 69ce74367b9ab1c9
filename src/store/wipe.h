/*
 * What SQLite leaves of something that is gone: words in the index, bytes in free pages and in
 * the log. For whoever deletes so that nobody finds it again.
 *
 *     wipe_begin(), transactions that delete, wipe_words(), wipe_pages()
 *
 * Not here: what the file system, the disk and backups have kept of it.
 */
#ifndef ARBOR_STORE_WIPE_H
#define ARBOR_STORE_WIPE_H

#include "store/store.h"

/* From now on this connection overwrites whatever it deletes. */
enum status wipe_begin(struct store *s, struct err *err) MUST_USE;

/* Words of documents that were taken out of the index. All of it is merged, in short transactions. */
enum status wipe_words(struct store *s, struct err *err) MUST_USE;

/* Free pages, also those that were freed by others before, and the log. Waits up to `wait_ms` for programs
 * that read an older state; *done false = one still does, and the log is as it was. */
enum status wipe_pages(struct store *s, int wait_ms, bool *done, struct err *err) MUST_USE;

#endif
