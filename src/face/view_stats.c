/*
 * memory.stats on a terminal: numbers, and pictures of when it happened.
 *
 *     Mon ··░▒█··    a square a day, a column a week, the last week on the right
 *
 * The map is of at most a year and as wide as the screen allows. It ends with the last day
 * on which something was said, not today: what an old archive holds is seen.
 */
#include "face/view.h"

#include "base/clock.h"
#include "face/chart.h"
#include "face/text.h"

enum { WEEKDAYS = 7, HOURS = 24, WEEKS_MOST = 53, INDENT = 4, MODELS_SHOWN = 6, BUSIEST_SHOWN = 3 };

static const char *const weekdays[WEEKDAYS] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };

static const char *counted(const struct json *j, uint32_t object, const char *name, char out[COUNT_TEXT])
{
	return count_text(view_int(j, object, name), out);
}

static void heading(struct view *v, const char *text)
{
	out_text(v->out, "\n");
	out_styled(v->out, STYLE_HEADING, str_of(text));
	out_text(v->out, "\n");
}

/* ---- Numbers ---------------------------------------------------------------------------- */

static void print_count(struct view *v, const struct json *j, const char *field, const char *one,
			bool is_first)
{
	int64_t n = view_int(j, 0, field);

	out_printf(v->out, "%s%" PRId64 " %s%s", is_first ? "" : ", ", n, one, n == 1 ? "" : "s");
}

static void print_overview(struct view *v, const struct json *j)
{
	char total[COUNT_TEXT], in[COUNT_TEXT], out[COUNT_TEXT], written[COUNT_TEXT], read[COUNT_TEXT];

	print_count(v, j, "sessions", "conversation", true);
	print_count(v, j, "agents", "sub-agent", false);
	print_count(v, j, "projects", "project", false);
	out_text(v->out, "\n");
	print_count(v, j, "prompts", "prompt", true);
	print_count(v, j, "messages", "message", false);
	print_count(v, j, "tools", "tool call", false);
	if (view_int(j, 0, "agent_tools"))
		out_printf(v->out, ", of these %" PRId64 " by sub-agents", view_int(j, 0, "agent_tools"));
	out_text(v->out, "\n");
	out_printf(v->out, "%s tokens: %s in, %s out, cache %s written, %s read\n",
		   counted(j, 0, "tokens", total), counted(j, 0, "input", in), counted(j, 0, "output", out),
		   counted(j, 0, "cache_write", written), counted(j, 0, "cache_read", read));
	out_text(v->out, "cost ");
	out_styled(v->out, STYLE_HEADING, view_text(v, j, 0, "cost"));
	out_styled(v->out, STYLE_DIM, STR("  by list prices of the API"));
	out_text(v->out, "\n");
}

/* ---- The map ---------------------------------------------------------------------------- */

struct day_map {
	int64_t last; /* day on the right, a Sunday */
	int weeks;
	int64_t values[WEEKS_MOST * WEEKDAYS]; /* the last one is `last` */
	int64_t most;
};

static bool day_number(struct view *v, const struct json *j, uint32_t day, int64_t *out)
{
	struct str text = view_text(v, j, day, "day");
	int64_t ms;

	if (!time_parse(arena_printf(&v->mem, "%.*sT00:00:00Z", STR_ARG(text)), &ms))
		return false;
	*out = ms / (HOURS * 3600 * INT64_C(1000));
	return true;
}

/* Sundays are three days after the Thursday that 1970 began with. */
static int64_t next_sunday(int64_t day)
{
	return day + 6 - ((day + 3) % WEEKDAYS + WEEKDAYS) % WEEKDAYS;
}

/* A clock that was wrong once must not push all other days out of the map. */
static int64_t last_day(struct view *v, const struct json *j, uint32_t days)
{
	struct clock clock = clock_system();
	int64_t tomorrow = clock_now(&clock) / (HOURS * 3600 * INT64_C(1000)) + 1, number;
	int64_t last = INT64_MIN, any = INT64_MIN;

	for (uint32_t d = json_first(j, days); d != json_end(j, days); d = json_next(j, d)) {
		if (!day_number(v, j, d, &number))
			continue;
		any = number > any ? number : any;
		last = number > last && number <= tomorrow ? number : last;
	}
	last = last > INT64_MIN ? last : any;
	return last > INT64_MIN ? last : 0;
}

static void read_map(struct view *v, const struct json *j, uint32_t days, struct day_map *m)
{
	int64_t number, first;

	m->last = first = next_sunday(last_day(v, j, days));
	for (uint32_t d = json_first(j, days); d != json_end(j, days); d = json_next(j, d)) {
		int64_t back;

		if (!day_number(v, j, d, &number) || (back = m->last - number) >= WEEKS_MOST * WEEKDAYS ||
		    back < 0)
			continue;
		first = number < first ? number : first;
		m->values[WEEKS_MOST * WEEKDAYS - 1 - back] = view_int(j, d, "messages");
	}
	m->weeks = (int)((m->last - first) / WEEKDAYS + 1);
	if (m->weeks > v->out->columns - INDENT)
		m->weeks = v->out->columns - INDENT;
	for (int i = (WEEKS_MOST - m->weeks) * WEEKDAYS; i < WEEKS_MOST * WEEKDAYS; i++)
		m->most = m->values[i] > m->most ? m->values[i] : m->most;
}

/* The month above the week in which it begins; each takes four columns. */
static void print_months(struct view *v, const struct day_map *m)
{
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	int before = 0, column = 0;

	out_pad(v->out, INDENT);
	while (column < m->weeks) {
		struct date d = date_of_days(m->last - (int64_t)(m->weeks - 1 - column) * WEEKDAYS);

		if (d.month != before && column + 3 <= v->out->columns - INDENT) {
			out_styled(v->out, STYLE_DIM, str_of(months[d.month - 1]));
			out_text(v->out, " ");
			column += 4;
		} else {
			out_text(v->out, " ");
			column++;
		}
		before = d.month;
	}
	out_text(v->out, "\n");
}

static void print_map(struct view *v, const struct json *j)
{
	uint32_t days = json_get(j, 0, STR("by_day"));
	struct day_map m = { 0 };

	if (json_first(j, days) == json_end(j, days) || v->out->columns <= INDENT)
		return;
	read_map(v, j, days, &m);
	heading(v, "Messages a day, week by week");
	print_months(v, &m);
	for (int row = 0; row < WEEKDAYS; row++) {
		out_styled(v->out, STYLE_DIM, str_of(weekdays[row]));
		out_text(v->out, " ");
		out_style(v->out, STYLE_NAME);
		for (int week = WEEKS_MOST - m.weeks; week < WEEKS_MOST; week++)
			out_text(v->out, chart_shade(m.values[week * WEEKDAYS + row], m.most));
		out_plain(v->out);
		out_text(v->out, "\n");
	}
}

/* ---- Hours, days of the week, busiest days ------------------------------------------------ */

static size_t read_numbers(const struct json *j, const char *name, int64_t *out, size_t most)
{
	uint32_t list = json_get(j, 0, str_of(name));
	size_t n = 0;

	for (uint32_t i = json_first(j, list); i != json_end(j, list) && n < most; i = json_next(j, i))
		if (!json_to_i64(j, i, &out[n++]))
			out[n - 1] = 0;
	return n;
}

static void print_hours(struct view *v, const struct json *j)
{
	int64_t hours[HOURS] = { 0 }, days[WEEKDAYS] = { 0 };
	struct buf line CLEANUP(buf_release) = BUF_INIT(KIB);

	read_numbers(j, "by_hour", hours, HOURS);
	read_numbers(j, "by_weekday", days, WEEKDAYS);
	heading(v, "By hour                   By day");
	chart_line(&line, hours, HOURS);
	buf_text(&line, "  ");
	chart_line(&line, days, WEEKDAYS);
	out_styled(v->out, STYLE_NAME, buf_as_str(&line));
	out_styled(v->out, STYLE_DIM, STR("\n0     6     12    18      MTWTFSS\n"));
}

static void print_busiest(struct view *v, const struct json *j)
{
	uint32_t days = json_get(j, 0, STR("by_day")), best[BUSIEST_SHOWN];
	size_t count = 0;

	for (uint32_t d = json_first(j, days); d != json_end(j, days); d = json_next(j, d)) {
		size_t at = count;

		while (at && view_int(j, best[at - 1], "messages") < view_int(j, d, "messages"))
			at--;
		if (at == BUSIEST_SHOWN)
			continue;
		count += count < BUSIEST_SHOWN;
		for (size_t i = count - 1; i > at; i--)
			best[i] = best[i - 1];
		best[at] = d;
	}
	if (!count)
		return;
	out_printf(v->out, "\n%" PRId64 " days; busiest", view_int(j, 0, "days"));
	for (size_t i = 0; i < count; i++) {
		out_text(v->out, i ? ", " : " ");
		out_styled(v->out, STYLE_ID, view_text(v, j, best[i], "day"));
		out_printf(v->out, " (%" PRId64 ")", view_int(j, best[i], "messages"));
	}
	out_text(v->out, "\n");
}

/* ---- Models -------------------------------------------------------------------------------- */

static void print_model(struct view *v, const struct json *j, uint32_t model, int64_t most)
{
	enum { NAME = 30, NUMBERS = 24 };
	struct buf name CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf cut CLEANUP(buf_release) = BUF_INIT(MIB);
	struct buf bar CLEANUP(buf_release) = BUF_INIT(KIB);
	struct str cost = view_text(v, j, model, "cost");
	char tokens[COUNT_TEXT];
	int name_width = v->out->columns < NAME + NUMBERS ? v->out->columns - NUMBERS : NAME;

	term_filter(&name, view_text(v, j, model, "model"), TERM_LINE);
	text_cut(&cut, buf_as_str(&name), name_width > 8 ? name_width : 8, false);
	chart_bar(&bar, view_int(j, model, "tokens"), most, v->out->columns - NAME - NUMBERS);
	out_str(v->out, buf_as_str(&cut));
	out_pad(v->out, name_width - text_width(buf_as_str(&cut)));
	out_printf(v->out, "  %6s  ", counted(j, model, "tokens", tokens));
	out_pad(v->out, 10 - text_width(cost));
	out_str(v->out, cost);
	out_text(v->out, bar.n ? "  " : "");
	out_styled(v->out, STYLE_NAME, buf_as_str(&bar));
	out_text(v->out, "\n");
}

static void print_models(struct view *v, const struct json *j)
{
	uint32_t models = json_get(j, 0, STR("models"));
	int64_t most = 0;
	int shown = 0;

	if (json_first(j, models) == json_end(j, models))
		return;
	heading(v, "Models, by tokens");
	for (uint32_t m = json_first(j, models); m != json_end(j, models) && shown < MODELS_SHOWN;
	     m = json_next(j, m), shown++) {
		most = view_int(j, m, "tokens") > most ? view_int(j, m, "tokens") : most;
		print_model(v, j, m, most);
	}
}

static void stats_item(struct view *v, const struct json *j)
{
	print_overview(v, j);
	print_map(v, j);
	print_hours(v, j);
	print_busiest(v, j);
	print_models(v, j);
}

const struct view_kind view_stats = { .method = "memory.stats", .terminal_only = true, .item = stats_item };
