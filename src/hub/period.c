/*
 * From when up to when.
 *
 * The parameters were read in the local zone, and checked; here they are read again in the one that is asked for.
 */
#include "hub/period.h"

#include "base/when.h"
#include "store/store.h"

bool period_is_given(const struct call *c)
{
	static const char *const names[] = { "since", "before", "until", "days" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (call_value(c, names[i])->given)
			return true;
	return false;
}

static int64_t moment(const struct call *c, const char *name, const struct zone *zone, bool is_end)
{
	const struct value *v = call_value(c, name);
	int64_t now = store_now(c->store), ms = v->number;

	if (is_end ? !when_parse_end(v->text, now, zone, &ms) : !when_parse_in(v->text, now, zone, &ms))
		ms = v->number;
	return ms;
}

static void end_at(struct period *p, int64_t to)
{
	if (to < p->to)
		p->to = to;
}

struct period period_read(const struct call *c, const struct zone *zone)
{
	const int64_t day = 24 * 3600 * INT64_C(1000);
	/* Lines may say anything, also that it was before 1970. */
	struct period p = { .from = INT64_MIN, .to = INT64_MAX };
	int64_t from;

	if (call_value(c, "since")->given)
		p.from = moment(c, "since", zone, false);
	if (call_value(c, "days")->given) {
		from = store_now(c->store) - call_int(c, "days") * day;
		p.from = from > p.from ? from : p.from;
	}
	if (call_value(c, "before")->given)
		end_at(&p, moment(c, "before", zone, false));
	if (call_value(c, "until")->given)
		end_at(&p, moment(c, "until", zone, true));
	if (p.from >= p.to)
		log_warn(c->log, "nothing lies in that time: it ends before it begins");
	return p;
}

bool period_has(const struct period *p, int64_t at)
{
	return at >= p->from && at < p->to;
}
