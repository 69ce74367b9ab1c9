/*
 * Looking up the run that a line is in: the last that begins before it, or with it. What progress tells of a sub-agent
 * stands inside of its line, and so in the run of that.
 */
#include "query/branches.h"

struct runs {
	int64_t session;
	struct branch_run *list;
	size_t count;
};

void branches_release(struct branches *b)
{
	map_release(&b->known);
	arena_release(&b->mem);
}

static enum status runs_of(struct branches *b, struct store *s, int64_t session, const struct runs **out,
			   struct err *err)
{
	struct runs *runs = map_get(&b->known, str_from((const char *)&session, sizeof session));

	*out = runs;
	if (runs)
		return STATUS_OK;
	runs = arena_alloc(&b->mem, sizeof *runs);
	runs->session = session;
	if (branch_list(s, session, &b->mem, &runs->list, &runs->count, err))
		return err_failed(err->status);
	map_put(&b->known, str_from((const char *)&runs->session, sizeof runs->session), runs);
	*out = runs;
	return STATUS_OK;
}

enum status branches_at(struct branches *b, struct store *s, int64_t session, int64_t offset, struct str *out,
			struct err *err)
{
	const struct runs *runs;
	size_t low = 0, high;

	*out = (struct str){ 0 };
	if (runs_of(b, s, session, &runs, err))
		return err_failed(err->status);
	for (high = runs->count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (runs->list[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (low)
		*out = runs->list[low - 1].branch;
	return STATUS_OK;
}
