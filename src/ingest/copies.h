/*
 * Which of the files to be brought in repeat what is archived: forks, and conversations gone on with in another file.
 */
#ifndef ARBOR_INGEST_COPIES_H
#define ARBOR_INGEST_COPIES_H

#include "ingest/plan.h"

/*
 * Says it of the jobs. The store gets what it needs to hold them, if there are any. With
 * put_back those that repeat another of the jobs come behind all of them, as the plan's later ones: once that is
 * archived and has its keys, they repeat what is archived.
 */
enum status copies_mark(struct plan *plan, struct store *s, int root_fd, bool put_back,
			struct err *err) MUST_USE;

#endif
