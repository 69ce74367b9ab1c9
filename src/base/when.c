/*
 * Moments as people say them: days of their calendar, and how long ago.
 *
 * What has a zone in it is base/clock.c's. Without one, a date means the calendar of the
 * zone that is asked for, mostly the local one.
 * "7d" is seven times 24 hours, whatever clocks did meanwhile; "yesterday"
 * begins at a midnight, however long the day was. A day, a week (from Monday on), a month or a
 * year that is named is a span; as a moment it is the beginning of that.
 */
#include "base/when.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>

enum { MS_DAY = 24 * 3600 * 1000 };

/* The midnight that began the day of this moment, `back` days earlier. */
static int64_t midnight(const struct zone *zone, int64_t ms, int back)
{
	int64_t clock = zone_to_clock(zone, ms);
	int64_t days = clock / MS_DAY - (clock % MS_DAY < 0);

	return zone_from_clock(zone, (days - back) * MS_DAY);
}

/* From the first of a month that comes so many after the beginning of the year, to that of another. */
static bool months_from(int64_t year, int64_t first, int64_t count, const struct zone *zone, int64_t *from,
			int64_t *to)
{
	int64_t *const ends[] = { from, to };

	for (int i = 0; i < 2; i++, first += count) {
		int64_t y = year + (first < 0 ? -1 : first / 12), month = (first + 12) % 12 + 1;
		char text[40];

		snprintf(text, sizeof text, "%04" PRId64 "-%02" PRId64 "-01T00:00:00Z", y, month);
		if (!time_parse(str_of(text), ends[i]))
			return false;
		*ends[i] = zone_from_clock(zone, *ends[i]);
	}
	return true;
}

/* "2026" and "2026-01". */
static bool parse_month(struct str text, const struct zone *zone, int64_t *from, int64_t *to)
{
	const size_t year = 4, month = 7;
	uint64_t y, m = 1;

	if ((text.n != year && text.n != month) || !str_to_u64(str_sub(text, 0, year), &y))
		return false;
	if (text.n == month && (text.p[year] != '-' || !str_to_u64(str_sub(text, year + 1, 2), &m) || m < 1 || m > 12))
		return false;
	return months_from((int64_t)y, (int64_t)m - 1, text.n == year ? 12 : 1, zone, from, to);
}

/* The week, month or year of now, or the one before. */
static bool parse_span_name(struct str text, int64_t now_ms, const struct zone *zone, int64_t *from, int64_t *to)
{
	int64_t clock = zone_to_clock(zone, now_ms), days = clock / MS_DAY - (clock % MS_DAY < 0);
	int back = str_has_prefix(text, STR("last")) ? 1 : str_has_prefix(text, STR("this")) ? 0 : -1;
	struct str unit = str_sub(text, 5, SIZE_MAX);
	int64_t weekday = ((days + 3) % 7 + 7) % 7; /* 1970 began with a Thursday */
	uint64_t year, month;
	char today[TIME_TEXT + 1];

	if (back < 0 || text.n < 5 || (text.p[4] != ' ' && text.p[4] != '-'))
		return false;
	time_print(clock, today);
	str_to_u64(str_from(today, 4), &year);
	str_to_u64(str_from(today + 5, 2), &month);
	if (str_eq(unit, STR("month")))
		return months_from((int64_t)year, (int64_t)month - 1 - back, 1, zone, from, to);
	if (str_eq(unit, STR("year")))
		return months_from((int64_t)year - back, 0, 12, zone, from, to);
	*from = midnight(zone, now_ms, (int)weekday + 7 * back);
	*to = midnight(zone, now_ms, (int)weekday + 7 * back - 7);
	return str_eq(unit, STR("week"));
}

static bool parse_name(struct str text, int64_t now_ms, const struct zone *zone, int64_t *from, int64_t *to)
{
	int back = str_eq(text, STR("today")) ? 0 : str_eq(text, STR("yesterday")) ? 1 : -1;

	*from = *to = now_ms;
	if (back >= 0) {
		*from = midnight(zone, now_ms, back);
		*to = midnight(zone, now_ms, back - 1);
	}
	return back >= 0 || str_eq(text, STR("now"));
}

/* The number of a name among some, whole or by its first three letters; -1 = it is none. */
static int name_number(struct str text, const char *const *names, int count)
{
	enum { SHORT = 3 };

	for (int i = 0; i < count; i++)
		if (str_alike(text, str_of(names[i])) || str_alike(text, str_sub(str_of(names[i]), 0, SHORT)))
			return i;
	return -1;
}

static int month_number(struct str text)
{
	static const char *const names[] = { "january", "february", "march",	 "april",   "may",	"june",
					     "july",	"august",   "september", "october", "november", "december" };

	return name_number(text, names, COUNT(names));
}

static int weekday_number(struct str text)
{
	static const char *const names[] = { "monday", "tuesday",  "wednesday", "thursday",
					     "friday", "saturday", "sunday" };

	return name_number(text, names, COUNT(names));
}

/* The last day that was called so, today if it is; with "last" in front a day that is over. */
static bool parse_weekday(struct str text, int64_t now_ms, const struct zone *zone, int64_t *from, int64_t *to)
{
	bool last = str_has_prefix(text, STR("last ")) || str_has_prefix(text, STR("last-"));
	int64_t clock = zone_to_clock(zone, now_ms), days = clock / MS_DAY - (clock % MS_DAY < 0);
	int day = weekday_number(last ? str_sub(text, 5, SIZE_MAX) : text), back;

	if (day < 0)
		return false;
	back = (int)(((days + 3 - day) % 7 + 7) % 7); /* 1970 began with a Thursday */
	if (last && !back)
		back = 7;
	*from = midnight(zone, now_ms, back);
	*to = midnight(zone, now_ms, back - 1);
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Seconds of a unit: its letter, its name, or its name in the plural; 0 = it is none. */
static int64_t unit_seconds(struct str unit)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = { { "s", 1 },	   { "second", 1 },	   { "m", 60 },	       { "minute", 60 },
		      { "h", 3600 },	   { "hour", 3600 },	   { "d", 86400 },     { "day", 86400 },
		      { "w", 7 * 86400 },  { "week", 7 * 86400 },  { "mo", 30 * 86400 },
		      { "month", 30 * 86400 }, { "year", 365 * 86400 },
		      { "y", 365 * 86400 } };

	if (unit.n > 2 && str_has_suffix(unit, STR("s")))
		unit.n--;
	for (size_t i = 0; i < COUNT(units); i++)
		if (str_alike(unit, str_of(units[i].name)))
			return units[i].seconds;
	return 0;
}

/* Words are parted by blanks, as people say it, or by what saves them quotes. */
static size_t split_words(struct str text, struct str *words, size_t most)
{
	size_t count = 0, from = 0;

	for (size_t i = 0; i <= text.n; i++) {
		if (i < text.n && text.p[i] != ' ' && text.p[i] != '.' && text.p[i] != '-' && text.p[i] != '/')
			continue;
		if (count == most)
			return 0;
		words[count++] = str_sub(text, from, i - from);
		from = i + 1;
	}
	return count;
}

/* A day of a calendar that people know. */
static bool day_from(int64_t year, int64_t month, int64_t day, const struct zone *zone, int64_t *from, int64_t *to)
{
	char text[40];
	int64_t utc;

	if (year < 0 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	snprintf(text, sizeof text, "%04" PRId64 "-%02" PRId64 "-%02" PRId64 "T00:00:00Z", year, month, day);
	if (!time_parse(str_of(text), &utc))
		return false;
	*from = zone_from_clock(zone, utc);
	*to = midnight(zone, *from, -1);
	return true;
}

/* "2026-1-5", "2026/01/05" and "20260105". */
static bool parse_short_date(struct str text, const struct zone *zone, int64_t *from, int64_t *to)
{
	struct str words[3] = { str_sub(text, 0, 4), str_sub(text, 4, 2), str_sub(text, 6, SIZE_MAX) };
	bool packed = text.n == 8 && is_digit(text.p[4]) && is_digit(text.p[6]);
	uint64_t n[3];

	if (!packed && ((!str_has_byte(text, '-') && !str_has_byte(text, '/')) ||
			split_words(text, words, COUNT(words)) != COUNT(words) || words[0].n != 4))
		return false;
	for (size_t i = 0; i < COUNT(words); i++)
		if (words[i].n > 4 || !str_to_u64(words[i], &n[i]))
			return false;
	return day_from((int64_t)n[0], (int64_t)n[1], (int64_t)n[2], zone, from, to);
}

/* "2026-W05", a week as ISO 8601 counts them: one is of the year that its Thursday is in. */
static bool parse_week(struct str text, const struct zone *zone, int64_t *from, int64_t *to)
{
	const size_t year = 4, week = 8;
	int64_t fourth, end, clock, days;
	char thursday[TIME_TEXT + 1];
	uint64_t y, n;

	if (text.n != week || text.p[year] != '-' || (text.p[year + 1] | 32) != 'w' ||
	    !str_to_u64(str_sub(text, 0, year), &y) || !str_to_u64(str_sub(text, year + 2, 2), &n) || n < 1 || n > 53 ||
	    !day_from((int64_t)y, 1, 4, zone, &fourth, &end))
		return false;
	clock = zone_to_clock(zone, fourth);
	days = clock / MS_DAY - (clock % MS_DAY < 0);
	days += 7 * ((int64_t)n - 1) - ((days + 3) % 7 + 7) % 7; /* 1970 began with a Thursday */
	*from = zone_from_clock(zone, days * MS_DAY);
	*to = zone_from_clock(zone, (days + 7) * MS_DAY);
	time_print((days + 3) * MS_DAY, thursday);
	return str_has_prefix(str_of(thursday), str_sub(text, 0, year));
}

/* "jan", "jan 20", "20 jan", "jan 2026", "jan 20 2026": without a year the last there was. */
static bool parse_month_name(struct str text, int64_t now_ms, const struct zone *zone, int64_t *from, int64_t *to)
{
	const uint64_t first_year = 1000;
	struct str words[3];
	size_t count = split_words(text, words, COUNT(words));
	int64_t year, day = 0, this_year;
	uint64_t number, now_year;
	bool has_year = false, ok;
	char today[TIME_TEXT + 1];
	int month = -1;

	time_print(zone_to_clock(zone, now_ms), today);
	str_to_u64(str_from(today, 4), &now_year);
	this_year = year = (int64_t)now_year;
	for (size_t i = 0; i < count; i++) {
		if (month < 0 && month_number(words[i]) >= 0)
			month = month_number(words[i]);
		else if (!str_to_u64(words[i], &number) || number > 9999 || (number >= first_year ? has_year : day > 0))
			return false;
		else if (number >= first_year) {
			year = (int64_t)number;
			has_year = true;
		} else
			day = (int64_t)number;
	}
	if (month < 0 || (count > 1 && !day && !has_year))
		return false;
	for (int64_t least = has_year ? year : this_year - 1; year >= least; year--) {
		ok = day ? day_from(year, month + 1, day, zone, from, to) : months_from(year, month, 1, zone, from, to);
		if (has_year || (ok && *from <= now_ms))
			return ok;
	}
	return false;
}

bool when_goes_on(struct str word, struct str next)
{
	static const char *const units[] = { "week", "month", "year" };
	uint64_t number;

	if (month_number(word) >= 0)
		return next.n <= 4 && str_to_u64(next, &number);
	for (size_t i = 0; i < COUNT(units); i++)
		if (str_alike(next, str_of(units[i])))
			return str_alike(word, STR("last")) || str_alike(word, STR("this"));
	return str_alike(word, STR("last")) && weekday_number(next) >= 0;
}

/* A number and its unit: 7d, 7 days, 7 days ago. */
static bool parse_age(struct str text, int64_t now_ms, int64_t *ms)
{
	const uint64_t most = 100000; /* weeks: further back than any date */
	struct str words[3], number, unit;
	size_t count = split_words(text, words, COUNT(words)), digits = 0;
	int64_t seconds;
	uint64_t n = 1;

	if (count > 1 && str_eq(words[count - 1], STR("ago")))
		count--;
	if (!count || count > 2)
		return false;
	number = words[0];
	while (digits < number.n && is_digit(number.p[digits]))
		digits++;
	unit = count == 2 ? words[1] : str_sub(number, digits, SIZE_MAX);
	if (count == 1)
		number.n = digits;
	if (!str_eq(number, STR("a")) && !str_eq(number, STR("an")) && !str_to_u64(number, &n))
		return false;
	seconds = unit_seconds(unit);
	if (!seconds || n > most * 7 * 86400 / (uint64_t)seconds)
		return false;
	*ms = now_ms - (int64_t)n * seconds * 1000;
	return true;
}

/* A date, or a date and hh:mm, hh:mm:ss or parts of a second, without a zone: read as UTC first, by the one who
 * knows which dates there are. */
static bool parse_date(struct str text, const struct zone *zone, int64_t *ms)
{
	char whole[] = "0000-00-00T00:00:00Z\0fraction";
	const size_t date = 10, minutes = 16, seconds = 19;
	int64_t utc;

	if (text.n != date && text.n != minutes && (text.n < seconds || text.n > sizeof whole - 2))
		return false;
	for (size_t i = 0; i < text.n; i++)
		whole[i] = text.p[i];
	if (text.n >= seconds) {
		whole[text.n] = 'Z';
		whole[text.n + 1] = '\0';
	}
	if (!time_parse(str_of(whole), &utc))
		return false;
	*ms = zone_from_clock(zone, utc);
	return true;
}

/* The span that is named; a moment is one without length. */
static bool parse_span(struct str text, int64_t now_ms, const struct zone *zone, int64_t *from, int64_t *to)
{
	const size_t date = 10;

	if (parse_month(text, zone, from, to) || parse_name(text, now_ms, zone, from, to) ||
	    parse_span_name(text, now_ms, zone, from, to) || parse_weekday(text, now_ms, zone, from, to) ||
	    parse_month_name(text, now_ms, zone, from, to) || parse_week(text, zone, from, to))
		return true;
	if (!time_parse(text, from) && !parse_age(text, now_ms, from) && !parse_date(text, zone, from))
		return parse_short_date(text, zone, from, to);
	*to = text.n == date && str_has_byte(text, '-') ? midnight(zone, *from, -1) : *from;
	return true;
}

bool when_parse_span(struct str text, int64_t now_ms, const struct zone *zone, int64_t *from, int64_t *to)
{
	int64_t begin, end;

	if (!parse_span(text, now_ms, zone, &begin, &end))
		return false;
	if (begin == end) {
		begin = midnight(zone, begin, 0);
		end = midnight(zone, begin, -1);
	}
	*from = begin;
	*to = end;
	return true;
}

bool when_parse_in(struct str text, int64_t now_ms, const struct zone *zone, int64_t *ms)
{
	int64_t from, to;

	if (!parse_span(text, now_ms, zone, &from, &to))
		return false;
	*ms = from;
	return true;
}

bool when_parse(struct str text, int64_t now_ms, int64_t *ms)
{
	return when_parse_in(text, now_ms, &zone_local, ms);
}

bool when_parse_end(struct str text, int64_t now_ms, const struct zone *zone, int64_t *ms)
{
	int64_t from, to;

	if (!parse_span(text, now_ms, zone, &from, &to))
		return false;
	*ms = to;
	return true;
}
