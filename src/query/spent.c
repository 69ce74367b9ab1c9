/*
 * A client reports totals of its own, and they are of different things: of a process in one version, of the
 * whole conversation in another. Here every answer counts once, with the price of its own model, as in `arbor
 * usage`.
 */
#include "query/spent.h"

#include "store/session.h"

static bool is_among(const int64_t *rows, size_t count, int64_t row)
{
	while (count && rows[count - 1] != row)
		count--;
	return count > 0;
}

enum status spent_since(struct store *s, const struct uuid *session, int64_t since,
			const struct prices *prices, struct usage_sum *out, struct err *err)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct read_txn txn CLEANUP(read_end) = { 0 };
	struct usage_prices known = { .prices = *prices };
	struct usage *all;
	int64_t *rows;
	size_t count, row_count;

	*out = (struct usage_sum){ 0 };
	if (read_join(s, &txn, err) ||
	    session_rows(s, session, (struct str){ 0 }, &mem, &rows, &row_count, err) ||
	    usage_all(s, USAGE_SESSIONS, &mem, &all, &count, err))
		return err_failed(err->status);
	for (size_t i = 0; i < count; i++)
		if (all[i].at >= since && is_among(rows, row_count, all[i].session))
			usage_sum_add(out, &all[i], &known);
	return STATUS_OK;
}
