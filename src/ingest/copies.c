/*
 * Looked at before anything is packed, by the thread that writes: what the store needs for it can be made between
 * transactions only. Of each new transcript the beginning is read, which whoever packs it reads again from memory.
 *
 * Only saves room. What cannot be read is packed as everything else.
 */
#include "ingest/copies.h"

#include "base/file.h"
#include "claude/record.h"
#include "store/keys.h"
#include "store/like.h"

#include <fcntl.h>

enum {
	/* A first prompt comes before its line's uuid, but mostly there are uuids in much less. */
	HEAD = 64 * 1024,
	SHORT_HEAD = 8 * 1024,
};

struct marking {
	struct plan *plan;
	struct store *store;
	int root_fd;
	bool keyed;	   /* lines that are archived can be found */
	bool put_back;	   /* what repeats another */
	struct buf head;   /* of the file in hand */
	struct map begins; /* the first uuids of all jobs that stay, to any of these */
	struct arena mem;  /* holds them */
};

static void marking_release(struct marking *m)
{
	buf_release(&m->head);
	map_release(&m->begins);
	arena_release(&m->mem);
}

static bool is_new_transcript(const struct job *job, bool *is_agent)
{
	struct transcript_name name = { 0 };

	if (job->known || job->st.size <= 0 || !record_transcript_of_path(job->path, &name))
		return false;
	*is_agent = name.agent.n > 0;
	return true;
}

/* The first uuids of a file, which has been read as far as that takes. */
static size_t read_first_uuids(struct marking *m, const struct job *job, struct uuid out[LIKE_FIRST])
{
	int fd CLEANUP(file_close) = -1;
	struct err ignored;
	size_t count = 0;

	buf_clear(&m->head);
	if (file_open_beneath(m->root_fd, job->path, O_RDONLY, &fd, &ignored))
		return 0;
	while (!count && m->head.n < HEAD) {
		size_t wanted = m->head.n ? HEAD - m->head.n : SHORT_HEAD, got = 0;
		char *to = buf_reserve(&m->head, wanted);

		if (!to || file_read_at(fd, (int64_t)m->head.n, to, wanted, &got, &ignored))
			return 0;
		buf_grew(&m->head, got);
		count = like_first_uuids(buf_as_str(&m->head), out);
		if (got < wanted)
			break;
	}
	return count;
}

static struct str as_key(const struct uuid *id)
{
	return str_from((const char *)id->b, sizeof id->b);
}

/* Whether a job begins as another that stays. If none does, it is one of these. */
static bool repeats_another(struct marking *m, const struct uuid *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (map_get(&m->begins, as_key(&ids[i])))
			return true;
	for (size_t i = 0; i < count; i++) {
		struct uuid *id = arena_alloc(&m->mem, sizeof *id);

		*id = ids[i];
		map_put(&m->begins, as_key(id), id);
	}
	return false;
}

/* Files of sub-agents are many, and a fork has none: they are looked at only where that costs one look at the store. */
static enum status look_at(struct marking *m, struct job *job, bool *later, struct err *err)
{
	struct uuid ids[LIKE_FIRST];
	bool is_agent;
	size_t count;

	*later = false;
	if (!is_new_transcript(job, &is_agent) || (!m->keyed && (is_agent || !m->put_back)))
		return STATUS_OK;
	count = read_first_uuids(m, job, ids);
	if (m->keyed && like_is_known(m->store, buf_as_str(&m->head), &job->copy, err))
		return err_failed(err->status);
	*later = m->put_back && !job->copy && !is_agent && repeats_another(m, ids, count);
	return STATUS_OK;
}

/* The order of the others stays. */
static enum status look_at_all(struct marking *m, bool *any, struct err *err)
{
	struct plan *plan = m->plan;
	struct job *later = arena_room(&m->mem, plan->job_count * sizeof *later);
	size_t stay = 0;

	for (size_t i = 0; i < plan->job_count; i++) {
		struct job *job = &plan->jobs[i];
		bool is_later;

		if (look_at(m, job, &is_later, err))
			return err_failed(err->status);
		*any |= job->copy;
		if (is_later)
			later[plan->later_count++] = *job;
		else
			plan->jobs[stay++] = *job;
	}
	plan->job_count = stay;
	for (size_t i = 0; i < plan->later_count; i++)
		plan->jobs[stay + i] = later[i];
	return STATUS_OK;
}

enum status copies_mark(struct plan *plan, struct store *s, int root_fd, bool put_back, struct err *err)
{
	struct marking m CLEANUP(marking_release) = {
		.plan = plan, .store = s, .root_fd = root_fd, .put_back = put_back, .head = BUF_INIT(HEAD)
	};
	bool any = false, current;

	if (store_derived_current(s, &current, err) || (current && keys_any(s, &m.keyed, err)) ||
	    look_at_all(&m, &any, err))
		return err_failed(err->status);
	return any ? store_reach(s, STORE_BASES, err) : STATUS_OK;
}
