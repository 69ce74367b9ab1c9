/*
 * Time zones, from the files every system has.
 *
 * A TZif file lists the moments at which clocks changed, and ends with a rule for all
 * later ones. Many systems ship files whose list ends in 2007 and leave the rest to the
 * rule, so both are read. Version 1 files, with 32 bit and no rule, are obsolete; what
 * they hold is skipped in newer ones and refused alone.
 *
 * The bytes are a system's, but a variable may name any file: every count is checked
 * against what is there. Leap seconds are no part of our times.
 */
#include "base/zone.h"

#include "base/clock.h"
#include "base/file.h"

#include <string.h>
#include <time.h>

const struct zone zone_local = { .is_local = true };
const struct zone zone_utc = { 0 };

enum { SECONDS_DAY = 86400, SECONDS_HOUR = 3600, ZONE_FILE_MOST = 1024 * 1024 };

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* ---- Rules: each step takes its part from the front of *s ----------------------- */

static bool take(struct str *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	*s = str_sub(*s, 1, SIZE_MAX);
	return true;
}

static bool take_number(struct str *s, int most, int *out)
{
	size_t n = 0;

	*out = 0;
	for (; n < s->n && n < 4 && s->p[n] >= '0' && s->p[n] <= '9'; n++)
		*out = *out * 10 + (s->p[n] - '0');
	*s = str_sub(*s, n, SIZE_MAX);
	return n && *out <= most;
}

/* "CET", or anything between angle brackets. */
static bool take_name(struct str *s)
{
	size_t n = 0;

	if (take(s, '<')) {
		n = str_find(*s, '>');
		*s = str_sub(*s, n == SIZE_MAX ? s->n : n + 1, SIZE_MAX);
		return n != SIZE_MAX;
	}
	while (n < s->n && ((s->p[n] | 32) >= 'a' && (s->p[n] | 32) <= 'z'))
		n++;
	*s = str_sub(*s, n, SIZE_MAX);
	return n >= 3;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool take_clock(struct str *s, int32_t *out)
{
	int sign = take(s, '-') ? -1 : 1, hours, minutes = 0, seconds = 0;

	if (sign == 1)
		take(s, '+');
	if (!take_number(s, 167, &hours) ||
	    (take(s, ':') &&
	     (!take_number(s, 59, &minutes) || (take(s, ':') && !take_number(s, 59, &seconds)))))
		return false;
	*out = sign * (hours * SECONDS_HOUR + minutes * 60 + seconds);
	return true;
}

static bool take_day(struct str *s, struct zone_day *d)
{
	*d = (struct zone_day){ .kind = 'D', .second = 2 * SECONDS_HOUR };
	if (take(s, 'M')) {
		d->kind = 'M';
		if (!take_number(s, 12, &d->month) || !take(s, '.') || !take_number(s, 5, &d->week) ||
		    !take(s, '.') || !take_number(s, 6, &d->day) || !d->month || !d->week)
			return false;
	} else {
		d->kind = take(s, 'J') ? 'J' : 'D';
		if (!take_number(s, 365, &d->day) || (d->kind == 'J' && !d->day))
			return false;
	}
	return !take(s, '/') || take_clock(s, &d->second);
}

bool zone_read_rule(struct str s, struct zone_rule *out)
{
	*out = (struct zone_rule){ 0 };
	if (!take_name(&s) || !take_clock(&s, &out->offset))
		return false;
	out->offset = -out->offset; /* POSIX counts westwards */
	out->known = true;
	if (!s.n)
		return true;
	out->has_summer = true;
	out->summer_offset = -out->offset - SECONDS_HOUR;
	if (!take_name(&s) || (s.n && s.p[0] != ',' && !take_clock(&s, &out->summer_offset)))
		return false;
	out->summer_offset = -out->summer_offset;
	return take(&s, ',') && take_day(&s, &out->begins) && take(&s, ',') && take_day(&s, &out->ends) &&
	       !s.n;
}

/* The second of the year's change, by the clock as it is then. */
static int64_t change_in(const struct zone_day *d, int year)
{
	int64_t first = days_of_date((struct date){ year, 1, 1 }), day;
	bool leap = days_in_month(year, 2) == 29;

	if (d->kind == 'M') {
		int64_t begin = days_of_date((struct date){ year, d->month, 1 });
		int weekday = (int)((begin % 7 + 7 + 4) % 7); /* 1970-01-01 was a Thursday */

		day = begin + (d->day - weekday + 7) % 7 + 7 * (d->week - 1);
		if (day >= begin + days_in_month(year, d->month))
			day -= 7;
	} else if (d->kind == 'J') {
		day = first + d->day - 1 + (leap && d->day >= 60);
	} else {
		day = first + d->day;
	}
	return day * SECONDS_DAY + d->second;
}

static int32_t rule_offset(const struct zone_rule *r, int64_t second)
{
	int64_t begins, ends;
	int year;

	if (!r->has_summer)
		return r->offset;
	year = date_of_days(floor_div(second + r->offset, SECONDS_DAY)).year;
	begins = change_in(&r->begins, year) - r->offset;
	ends = change_in(&r->ends, year) - r->summer_offset;
	if (begins < ends)
		return second >= begins && second < ends ? r->summer_offset : r->offset;
	return second >= ends && second < begins ? r->offset : r->summer_offset;
}

/* ---- Files ------------------------------------------------------------------------ */

struct header {
	uint32_t is_utc, is_standard, leaps, times, types, chars;
};

static int64_t number_at(struct str bytes, size_t at, size_t size)
{
	uint64_t n = 0;

	for (size_t i = 0; i < size; i++)
		n = n << 8 | (uint8_t)bytes.p[at + i];
	return size == 4 ? (int32_t)n : (int64_t)n;
}

/* Takes a header; `size` is what follows it with times of so many bytes. */
static bool take_header(struct str *s, size_t time_size, struct header *h, size_t *size)
{
	enum { HEADER = 44, COUNTS = 20, MOST = 100000 };
	uint32_t *counts[] = { &h->is_utc, &h->is_standard, &h->leaps, &h->times, &h->types, &h->chars };

	if (s->n < HEADER || memcmp(s->p, "TZif", 4) != 0 || s->p[4] < '2')
		return false;
	for (size_t i = 0; i < COUNT(counts); i++) {
		*counts[i] = (uint32_t)number_at(*s, COUNTS + 4 * i, 4);
		if (*counts[i] > MOST)
			return false;
	}
	*s = str_sub(*s, HEADER, SIZE_MAX);
	*size = h->times * (time_size + 1) + h->types * 6 + h->chars + h->leaps * (time_size + 4) +
		h->is_standard + h->is_utc;
	return s->n >= *size;
}

/* Of a type of time, the `type`-th of those that begin at `types`. No clock is a day off. */
static bool read_offset(struct str s, size_t types, size_t type, int32_t *out)
{
	*out = (int32_t)number_at(s, types + 6 * type, 4);
	return *out > -SECONDS_DAY && *out < SECONDS_DAY;
}

static bool take_changes(struct str s, const struct header *h, struct arena *mem, struct zone *out)
{
	size_t types = h->times * 9;
	struct zone_change *changes = arena_alloc(mem, (h->times + 1) * sizeof *changes);

	if (!h->types || !read_offset(s, types, 0, &out->offset))
		return false;
	for (uint32_t i = 0; i < h->times; i++) {
		uint8_t type = (uint8_t)s.p[h->times * 8 + i];

		changes[i].at = number_at(s, (size_t)i * 8, 8);
		if (type >= h->types || !read_offset(s, types, type, &changes[i].offset) ||
		    (i && changes[i].at <= changes[i - 1].at))
			return false;
	}
	out->changes = changes;
	out->count = h->times;
	return true;
}

bool zone_read(struct str s, struct arena *mem, struct zone *out)
{
	struct header h;
	size_t size, end;

	*out = (struct zone){ 0 };
	if (!take_header(&s, 4, &h, &size))
		return false;
	s = str_sub(s, size, SIZE_MAX);
	if (!take_header(&s, 8, &h, &size) || !take_changes(s, &h, mem, out))
		return false;
	s = str_sub(s, size, SIZE_MAX);
	end = s.n > 1 && s.p[0] == '\n' ? str_find(str_sub(s, 1, SIZE_MAX), '\n') : SIZE_MAX;
	if (end == SIZE_MAX)
		return false;
	return !end || zone_read_rule(str_sub(s, 1, end), &out->rule);
}

/* ---- By name ----------------------------------------------------------------------- */

/* Letters, digits and what stands between them; never out of the folder. */
static bool is_file_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool word = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9');

		if (!word && (!i || (c != '_' && c != '-' && c != '+' && c != '/')))
			return false;
	}
	return name.n && name.n < 100;
}

static bool find_file(struct str name, struct arena *mem, struct zone *out)
{
	static const char *const folders[] = { "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo" };
	struct err ignored;

	for (size_t i = 0; is_file_name(name) && i < COUNT(folders); i++) {
		struct buf bytes CLEANUP(buf_release) = BUF_INIT(ZONE_FILE_MOST);
		struct str path = arena_printf(mem, "%s/%.*s", folders[i], STR_ARG(name));

		if (file_read_all(path.p, &bytes, &ignored) == STATUS_OK &&
		    zone_read(buf_as_str(&bytes), mem, out))
			return true;
	}
	return false;
}

/* As UTC+2, of which the rules of TZ say that it is in the Atlantic. */
static bool is_counted_from_utc(struct str name)
{
	bool is_named = str_has_prefix(name, STR("UTC")) || str_has_prefix(name, STR("utc")) ||
			str_has_prefix(name, STR("GMT")) || str_has_prefix(name, STR("gmt"));

	return is_named && name.n > 3 && strchr("+-0123456789", name.p[3]);
}

enum status zone_find(struct str name, struct arena *mem, struct zone *out, struct err *err)
{
	if (str_eq(name, STR("local")))
		*out = zone_local;
	else if (str_eq(name, STR("UTC")) || str_eq(name, STR("utc")) || str_eq(name, STR("Z")))
		*out = zone_utc;
	else if (is_counted_from_utc(name))
		return err_fail(err, STATUS_USAGE,
				"'%.*s' means the west in some programs and the east in others; give a name such as "
				"Europe/Berlin, or Etc/GMT-2, which is two hours east",
				(int)size_min(name.n, 60), name.p);
	else if (!find_file(name, mem, out)) {
		*out = (struct zone){ 0 };
		if (!zone_read_rule(name, &out->rule))
			return err_fail(
				err, STATUS_USAGE,
				"'%.*s' is no time zone; give a name such as Europe/Berlin, UTC or local",
				(int)size_min(name.n, 60), name.p ? name.p : "");
	}
	return STATUS_OK;
}

/* ---- Asking -------------------------------------------------------------------------- */

static int32_t local_offset(int64_t second)
{
	time_t seconds = (time_t)second;
	struct tm parts;

	return localtime_r(&seconds, &parts) ? (int32_t)parts.tm_gmtoff : 0;
}

/* The last change that is not after it. */
static int32_t listed_offset(const struct zone *z, int64_t second)
{
	size_t low = 0, high = z->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (z->changes[mid].at <= second)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? z->changes[low - 1].offset : z->offset;
}

int32_t zone_offset(const struct zone *z, int64_t ms)
{
	int64_t second = floor_div(ms, 1000);

	if (z->is_local)
		return local_offset(second);
	if (z->rule.known && (!z->count || second >= z->changes[z->count - 1].at))
		return rule_offset(&z->rule, second);
	return listed_offset(z, second);
}

int64_t zone_to_clock(const struct zone *z, int64_t ms)
{
	return ms + (int64_t)zone_offset(z, ms) * 1000;
}

int64_t zone_from_clock(const struct zone *z, int64_t clock_ms)
{
	/* No zone is further away than a day, and none changes its clocks twice within two. */
	int32_t before = zone_offset(z, clock_ms - SECONDS_DAY * INT64_C(1000));
	int32_t after = zone_offset(z, clock_ms + SECONDS_DAY * INT64_C(1000));
	int64_t early = clock_ms - (int64_t)before * 1000, late = clock_ms - (int64_t)after * 1000;

	if (zone_offset(z, early) == before)
		return early;
	/* Between the two there is nothing: then the clock went on as before for a moment. */
	return zone_offset(z, late) == after ? late : early;
}
