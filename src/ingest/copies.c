/*
 * Looked at before anything is packed, by the thread that writes: what the store needs for it can be made between
 * transactions only. Of each new transcript the beginning is read, which whoever packs it reads again from memory.
 *
 * Only saves room. What cannot be read or is read too early (a copy that comes in together with the first
 * of its kind) is packed as everything else.
 */
#include "ingest/copies.h"

#include "base/file.h"
#include "claude/record.h"
#include "store/keys.h"
#include "store/like.h"

#include <fcntl.h>

/* A first prompt comes before its line's uuid. */
enum { HEAD = 64 * 1024 };

static bool is_new_transcript(const struct job *job)
{
	struct transcript_name name;

	return !job->known && job->st.size > 0 && record_transcript_of_path(job->path, &name);
}

static bool read_head(int root_fd, struct str path, struct buf *out)
{
	char *to = buf_reserve(out, HEAD);
	int fd CLEANUP(file_close) = -1;
	struct err ignored;
	size_t got = 0;

	if (!to || file_open_beneath(root_fd, path, O_RDONLY, &fd, &ignored) ||
	    file_read_at(fd, 0, to, HEAD, &got, &ignored))
		return false;
	buf_grew(out, got);
	return true;
}

static enum status mark(struct job *job, struct store *s, int root_fd, struct buf *head, struct err *err)
{
	buf_clear(head);
	return read_head(root_fd, job->path, head) ? like_is_known(s, buf_as_str(head), &job->copy, err) : STATUS_OK;
}

enum status copies_mark(struct plan *plan, struct store *s, int root_fd, struct err *err)
{
	struct buf head CLEANUP(buf_release) = BUF_INIT(HEAD);
	bool any = false, current, keyed = false;

	if (store_derived_current(s, &current, err) || (current && keys_any(s, &keyed, err)))
		return err_failed(err->status);
	for (size_t i = 0; keyed && i < plan->job_count; i++) {
		struct job *job = &plan->jobs[i];

		if (is_new_transcript(job) && mark(job, s, root_fd, &head, err))
			return err_failed(err->status);
		any |= job->copy;
	}
	return any ? store_reach(s, STORE_BASES, err) : STATUS_OK;
}
